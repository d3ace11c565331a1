{%- if model -%}
// Model of the cell {{ gate.cell }}, made from its binding: a latch holds the enable while the clock is high.
{%- else -%}
// The cell {{ gate.cell }} as synthesis sees it: a black box.
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off UNDRIVEN
(* blackbox *)
{%- endif %}
module {{ gate.cell }} (
    input  logic {{ gate.clock }},
    input  logic {{ gate.enable }},
{%- if let Some(pin) = gate.test_enable %}
    input  logic {{ pin }},
{%- endif %}
    output logic {{ gate.output }}
);
{%- if model %}
    logic enabled;
    always_latch begin
        if (!{{ gate.clock }}) begin
            enabled = {{ gate.enable }}{% if let Some(pin) = gate.test_enable %} | {{ pin }}{% endif %};
        end
    end
    assign {{ gate.output }} = {{ gate.clock }} & enabled;
{%- endif %}
endmodule
{%- if !model %}
// verilator lint_on UNDRIVEN
// verilator lint_on UNUSEDSIGNAL
{%- endif %}
