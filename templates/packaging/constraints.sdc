# Timing constraints of {{ design.top }}. Times are in ns; a tool with another unit says so here.
set_units -time ns

create_clock -name clk -period {{ timing.period() }} [get_ports {{ design.clock }}]
set_clock_uncertainty -setup {{ timing.share(timing.clock_uncertainty_percent) }} [get_clocks clk]
set_clock_uncertainty -hold {{ timing.hold_uncertainty() }} [get_clocks clk]

# At most {{ timing.input_delay_percent }} % of the period pass before an input changes, and {{ timing.output_delay_percent }} % after an output; at least, no time.
{%- for name in inputs %}
set_input_delay -max {{ timing.share(timing.input_delay_percent) }} -clock clk [get_ports {{ "{" }}{{ name }}{{ "}" }}]
set_input_delay -min 0 -clock clk [get_ports {{ "{" }}{{ name }}{{ "}" }}]
{%- endfor %}
{%- for name in outputs %}
set_output_delay -max {{ timing.share(timing.output_delay_percent) }} -clock clk [get_ports {{ "{" }}{{ name }}{{ "}" }}]
set_output_delay -min 0 -clock clk [get_ports {{ "{" }}{{ name }}{{ "}" }}]
{%- endfor %}
{%- if design.reset == Reset::Asynchronous && timing.reset_is_false_path %}

# Reset is asynchronous. Something outside lifts it in step with the clock.
set_false_path -from [get_ports {{ design.reset_port }}]
{%- else %}

set_input_delay -max {{ timing.share(timing.input_delay_percent) }} -clock clk [get_ports {{ design.reset_port }}]
set_input_delay -min 0 -clock clk [get_ports {{ design.reset_port }}]
{%- endif %}
{%- if clock_gates %}

# Outside of scan tests clocks stop. They are one clock behind their gates, too.
set_case_analysis 0 [get_ports {{ TEST_ENABLE }}]
{%- endif %}
{%- if let Some(hops) = design.hop_limit %}
{%- if *hops > 1 %}

# A word passes at most {{ hops }} hops from tile to tile between two registers. Where registers are follows from the place of a tile, which is
# constant on ports: that constants reach into tiles bounds these paths, and leaves no loop.
{%- else %}

# Every hop from tile to tile ends in a register.
{%- endif %}
{%- endif %}

# LibreLane leaves to this file what its kit says of the outside: what drives inputs, the load of outputs, in fF, and how much
# the library may be off, in percent.
if {[info exists ::env(TIME_DERATING_CONSTRAINT)]} {
    set inputs [list]
    foreach input [all_inputs] {
        if {[get_property $input full_name] ne "{{ design.clock }}"} {
            lappend inputs $input
        }
    }
    lassign [split $::env(SYNTH_DRIVING_CELL) /] cell output
    set_driving_cell -lib_cell $cell -pin $output $inputs
    set_load [expr {$::env(OUTPUT_CAP_LOAD) / 1000.0}] [all_outputs]
    set_clock_transition $::env(CLOCK_TRANSITION_CONSTRAINT) [get_clocks clk]
    set_max_fanout $::env(MAX_FANOUT_CONSTRAINT) [current_design]
    set_timing_derate -early [expr {1 - $::env(TIME_DERATING_CONSTRAINT) / 100.0}]
    set_timing_derate -late [expr {1 + $::env(TIME_DERATING_CONSTRAINT) / 100.0}]
}
{%- if !register_files.is_empty() %}

# Software lets {{ timing.configuration_cycles }} cycles pass between the last write of a register and the next flush, so that paths through the
# outputs of the register files have as many. Read-back paths have one. Flows keep the hierarchy of the register files.
foreach registers {{ "{" }}{{ register_files.join(" ") }}{{ "}" }} {
    set found 0
    foreach port {{ "{" }}{{ configuration_outputs.join(" ") }}{{ "}" }} {
        foreach pin [get_pins -quiet $registers/$port*] {
            set_multicycle_path {{ timing.configuration_cycles }} -setup -through $pin
            set_multicycle_path {{ timing.configuration_cycles - 1 }} -hold -through $pin
            set found 1
        }
    }
    if {!$found} {
        puts "Warning: there are no pins of $registers; its paths have one cycle. Keep the hierarchy in synthesis."
    }
}
{%- endif %}
