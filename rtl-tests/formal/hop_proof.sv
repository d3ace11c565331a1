// Proof of the register of a track, for all configurations: a step takes item i where 1 + i is selected, and nothing where no
// item is; without a step it holds. Its output depends on no input of the same cycle, so that no configuration closes a
// combinational loop through it.
module hop_proof #(
    parameter int unsigned Width   = 2,
    parameter int unsigned Choices = 5,
    localparam int unsigned SelectBits = $clog2(Choices + 1)
) (
    input logic clk_i,
    input logic step_i,
    input logic [SelectBits-1:0]         select_i,
    input logic [Choices-1:0][Width-1:0] items_i
);
    logic [Width-1:0] track;
    pushmem_hop #(.Width(Width), .Choices(Choices)) u_hop (.clk_i, .step_i, .select_i, .items_i, .track_o(track));

    // The word of the register after a step, from registers alone.
    logic             first_q = 1'b1;
    logic [Width-1:0] want_q;
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        want_q  <= track;
        for (int item = 0; item < Choices; item++) begin
            if (step_i && select_i == SelectBits'(item + 1)) want_q <= items_i[item];
        end
    end
    always_comb if (!first_q) assert (track == want_q);
endmodule
