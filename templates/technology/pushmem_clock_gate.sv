// Clock gate: the cell {{ gate.cell }}, in place of the model of the generator. Ports and timing are those of the model.
//
// Timing: `gated_clk` has the pulse of `clk` that begins at the end of a cycle with `enable` or `test_enable`, and no other.
module pushmem_clock_gate (
    input  logic clk,
    input  logic enable,
    input  logic test_enable,
    output logic gated_clk
);
    {{ gate.cell }} u_cell (
        .{{ gate.clock }} (clk),
{%- if let Some(pin) = gate.test_enable %}
        .{{ gate.enable }} (enable),
        .{{ pin }} (test_enable),
{%- else %}
        .{{ gate.enable }} (enable | test_enable),
{%- endif %}
        .{{ gate.output }} (gated_clk)
    );
endmodule
