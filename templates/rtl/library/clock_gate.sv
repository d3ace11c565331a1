// Clock gate. A technology replaces this module by one of the same name and ports; the body is the behavioural model.
//
// Timing: `gated_clk_o` has the pulse of `clk_i` that begins at the end of a cycle with `enable_i` or
// `test_enable_i`, and no other. Both may change until then; the latch is transparent only while the clock is low, so
// that no pulse is cut.
module pushmem_clock_gate (
    input  logic clk_i,
    input  logic enable_i,
    input  logic test_enable_i,
    output logic gated_clk_o
);
    logic enabled;
    always_latch begin
        if (!clk_i) begin
            enabled = enable_i | test_enable_i;
        end
    end
    assign gated_clk_o = clk_i & enabled;
endmodule
