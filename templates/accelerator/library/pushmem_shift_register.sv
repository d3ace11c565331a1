// Shift register: its output is its input some steps ago.
//
// Parameters: Width of a word; Length, the delay in steps, at least 1.
// Timing: with `step_i`, the word on `in_data_i` enters at the end of the cycle; it is on `out_data_o` Length steps
// later. The contents have no reset: a word is read only when it has come all the way.
module pushmem_shift_register #(
    parameter int unsigned Width  = 16,
    parameter int unsigned Length = 1
) (
    input  logic             clk_i,
    input  logic             step_i,
    input  logic [Width-1:0] in_data_i,
    output logic [Width-1:0] out_data_o
);
    // The newest word is the lowest.
    logic [(Length * Width)-1:0] words_q;

    if (Length == 1) begin : gen_register
        always_ff @(posedge clk_i) begin
            if (step_i) begin
                words_q <= in_data_i;
            end
        end
    end else begin : gen_registers
        always_ff @(posedge clk_i) begin
            if (step_i) begin
                words_q <= {words_q[((Length - 1) * Width)-1:0], in_data_i};
            end
        end
    end

    always_comb out_data_o = words_q[(Length - 1) * Width+:Width];

    // Parameters that make no sense end the elaboration.
    if (Length == 0 || Width == 0) begin : gen_bad_shape
        $error("pushmem_shift_register: Length and Width are at least 1");
    end
endmodule
