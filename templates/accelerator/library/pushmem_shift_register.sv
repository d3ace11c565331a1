// Shift register: what was at its input some steps ago.
//
// Parameters: WIDTH of a word; LENGTH, the delay in steps, at least 1.
// Timing: with `step`, the word on `in_data` enters at the end of the cycle; it is on `out_data` LENGTH steps later.
// The contents have no reset: nobody looks at a word before it has come all the way.
module pushmem_shift_register #(
    parameter int unsigned WIDTH  = 16,
    parameter int unsigned LENGTH = 1
) (
    input  logic             clk,
    input  logic             step,
    input  logic [WIDTH-1:0] in_data,
    output logic [WIDTH-1:0] out_data
);
    // The newest word is the lowest.
    logic [(LENGTH * WIDTH)-1:0] words_q;

    if (LENGTH == 1) begin : g_register
        always_ff @(posedge clk) begin
            if (step) begin
                words_q <= in_data;
            end
        end
    end else begin : g_registers
        always_ff @(posedge clk) begin
            if (step) begin
                words_q <= {words_q[((LENGTH - 1) * WIDTH)-1:0], in_data};
            end
        end
    end

    always_comb out_data = words_q[(LENGTH - 1) * WIDTH+:WIDTH];
endmodule
