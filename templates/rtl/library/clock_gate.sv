// Clock gate. A technology replaces this module by one of the same name and ports; what is below is the behavioural model.
//
// Timing: `gated_clk` has the pulse of `clk` that begins at the end of a cycle with `enable` or `test_enable`, and no other.
// Both may change until then; the latch is transparent only while the clock is low, so that no pulse is cut.
module pushmem_clock_gate (
    input  logic clk,
    input  logic enable,
    input  logic test_enable,
    output logic gated_clk
);
    logic enabled;
    always_latch begin
        if (!clk) begin
            enabled = enable | test_enable;
        end
    end
    assign gated_clk = clk & enabled;
endmodule
