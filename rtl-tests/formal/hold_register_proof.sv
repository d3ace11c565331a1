// Proof of the hold register: in any pattern of steps and loads, its output is the word that was at its input in the last step
// with a load, as soon as there was one.
module hold_register_proof #(
    parameter int unsigned Width = 2
) (
    input logic clk_i,
    input logic step_i,
    input logic load_i,

    input logic [Width-1:0] in_data_i
);
    logic [Width-1:0] out_data;
    pushmem_hold_register #(.Width(Width)) u_register (.clk_i, .step_i, .load_i, .in_data_i, .out_data_o(out_data));

    logic             loaded_q = 1'b0;
    logic [Width-1:0] last_q;
    always_ff @(posedge clk_i) begin
        if (step_i && load_i) begin
            loaded_q <= 1'b1;
            last_q   <= in_data_i;
        end
    end

    always_comb begin
        if (loaded_q) assert (out_data == last_q);
    end
endmodule
