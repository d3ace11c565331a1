// Hold register: keeps a word from one load to the next.
//
// Parameters: Width of a word.
// Timing: with `step_i` and `load_i`, the word on `in_data_i` enters at the end of the cycle; it is on `out_data_o`
// from the next cycle on, until another word enters. The content has no reset: it is read only after a load.
module pushmem_hold_register #(
    parameter int unsigned Width = 16
) (
    input  logic             clk_i,
    input  logic             step_i,
    input  logic             load_i,
    input  logic [Width-1:0] in_data_i,
    output logic [Width-1:0] out_data_o
);
    logic [Width-1:0] word_q;

    always_ff @(posedge clk_i) begin
        if (step_i && load_i) begin
            word_q <= in_data_i;
        end
    end

    always_comb out_data_o = word_q;

    // Parameters that make no sense end the elaboration.
    if (Width == 0) begin : gen_bad_shape
        $error("pushmem_hold_register: Width is at least 1");
    end
endmodule
