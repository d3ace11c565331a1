# The supplies of SRAM macros in {{ design.top }}: OpenROAD-flow-scripts read this before the power grid of the platform, which
# has the straps above the macros.
{%- for binding in bindings %}
# {{ binding.name }}
{%- for pin in binding.views.power %}
add_global_connection -net {{ POWER_NET }} -inst_pattern {{ "{" }}{{ MACRO_INSTANCES }}{{ "}" }} -pin_pattern {{ "{" }}^{{ pin }}${{ "}" }} -power
{%- endfor %}
{%- for pin in binding.views.ground %}
add_global_connection -net {{ GROUND_NET }} -inst_pattern {{ "{" }}{{ MACRO_INSTANCES }}{{ "}" }} -pin_pattern {{ "{" }}^{{ pin }}${{ "}" }} -ground
{%- endfor %}
{%- endfor %}
