// The macro {{ binding.name }} as synthesis sees it: a black box.
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off UNDRIVEN
(* blackbox *)
module {{ binding.name }} (
{%- for declaration in crate::technology::declarations(binding) %}
    {{ declaration }}{% if !loop.last %},{% endif %}
{%- endfor %}
);
endmodule
// verilator lint_on UNDRIVEN
// verilator lint_on UNUSEDSIGNAL
