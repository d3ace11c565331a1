{%- for file in job.libraries() %}
read_liberty {{ file }}
{%- endfor %}
read_verilog {{ netlist }}
link_design {{ job.top }}
source {{ job.name }}.sdc
# There is no clock tree yet, neither before clock gates nor behind them: at all registers the clock changes at once. A gate alone would
# drive them with slow edges, which would take a multiple of their energy.
set_assigned_transition 0 [all_registers -clock_pins]
