// Clock gate: the cell {{ gate.cell }}, in place of the model of the generator. Ports and timing are those of the
// model.
//
// Timing: `gated_clk_o` has the pulse of `clk_i` that begins at the end of a cycle with `enable_i` or
// `test_enable_i`, and no other.
module pushmem_clock_gate (
    input  logic clk_i,
    input  logic enable_i,
    input  logic test_enable_i,
    output logic gated_clk_o
);
    {{ gate.cell }} u_cell (
        .{{ gate.clock }} (clk_i),
{%- if let Some(pin) = gate.test_enable %}
        .{{ gate.enable }} (enable_i),
        .{{ pin }} (test_enable_i),
{%- else %}
        .{{ gate.enable }} (enable_i | test_enable_i),
{%- endif %}
        .{{ gate.output }} (gated_clk_o)
    );
endmodule
