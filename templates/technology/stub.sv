// The macro {{ binding.name }} as synthesis sees it: a black box.
(* blackbox *)
module {{ binding.name }} (
{%- for declaration in crate::technology::declarations(binding) %}
    {{ declaration }}{% if !loop.last %},{% endif %}
{%- endfor %}
);
endmodule
