// Proof of the connection box, for all configurations: 1 + i chooses track i, and anything else gives 0. The provers need a
// register: what was chosen is compared a cycle later.
module connection_box_proof #(
    parameter int unsigned Width   = 2,
    parameter int unsigned Choices = 5,
    localparam int unsigned SelectBits = $clog2(Choices + 1)
) (
    input logic clk_i,
    input logic [SelectBits-1:0]         select_i,
    input logic [Choices-1:0][Width-1:0] tracks_i
);
    logic [Width-1:0] chosen;
    pushmem_connection_box #(.Width(Width), .Choices(Choices)) u_box (.select_i, .tracks_i, .input_o(chosen));

    logic                          first_q = 1'b1;
    logic [Width-1:0]              chosen_q;
    logic [SelectBits-1:0]         select_q;
    logic [Choices-1:0][Width-1:0] tracks_q;
    always_ff @(posedge clk_i) begin
        first_q  <= 1'b0;
        chosen_q <= chosen;
        select_q <= select_i;
        tracks_q <= tracks_i;
    end
    for (genvar track = 0; track < Choices; track++) begin : gen_track
        always_comb if (!first_q && select_q == SelectBits'(track + 1)) assert (chosen_q == tracks_q[track]);
    end
    always_comb if (!first_q && (select_q == '0 || 32'(select_q) > Choices)) assert (chosen_q == '0);
endmodule
