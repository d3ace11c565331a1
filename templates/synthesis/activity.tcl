{% include "design.tcl" %}
set_cmd_units -capacitance fF -power W
set corner [sta::find_corner default]
# An activity that was set for one pin is lost where OpenSTA propagates its own from inputs, one that is global is not. So each
# cell is asked for at the activity of its output: that of the inputs of a flip-flop is the same, a cycle before, and other
# cells have their energies at outputs. Without any activity there is only what the clock does inside a flip-flop, and inside and behind
# a cell of its own; OpenSTA lets it run in all cycles, where it really runs in a share of them.
proc power {instance activity} {
    global corner
    sta::set_power_global_activity $activity 0.5
    return [sta::instance_power $instance $corner]
}
proc find {block cell} {
    return [sta::find_instance [expr {$block eq "" ? $cell : "$block/$cell"}]]
}
proc block {block cells} {
    set clock 0
    set cell_power 0
    set net_power 0
    set leakage 0
    foreach {cell activity running} $cells {
        set instance [find $block $cell]
        lassign [power $instance 0] still clock_nets
        lassign [power $instance $activity] inside nets rest
        set clock [expr {$clock + $running * $still}]
        set cell_power [expr {$cell_power + $inside - $still}]
        set net_power [expr {$net_power + $nets - (1 - $running) * $clock_nets}]
        set leakage [expr {$leakage + $rest}]
    }
    puts "BLOCK {$block} $clock $cell_power $net_power $leakage"
}
proc passes {block cell} {
    global passing
    set passing($block/$cell) [power [find $block $cell] 0]
}
proc gate {block cell taken given} {
    global passing
    lassign $passing($block/$cell) inside nets rest
    lassign [power [find $block $cell] 0] own
    puts "BLOCK {$block} [expr {$taken * $own + $given * ($inside - $own)}] 0 [expr {$given * $nets}] $rest"
}
proc at_rest {block cell} {
    lassign [power [find $block $cell] 0] inside nets rest
    puts "BLOCK {$block} 0 0 0 $rest"
}
{%- for (block, cells) in blocks %}
block {{ "{" }}{{ block }}{{ "}" }} {{ "{" }}{{ cells }}{{ "}" }}
{%- endfor %}
{%- for (block, cell) in macros %}
at_rest {{ "{" }}{{ block }}{{ "}" }} {{ cell }}
{%- endfor %}
{%- if let Some(gate) = job.gate %}
# A clock-gate cell: what it takes itself in each pulse, and what more in those that it passes on, with the net behind. With outputs
# that are constant there is the first alone.
{%- for (block, cell, taken, given) in gates %}
passes {{ "{" }}{{ block }}{{ "}" }} {{ cell }}
{%- endfor %}
{%- for (block, cell, taken, given) in gates %}
set_case_analysis 0 [get_pins {{ "{" }}{% if !block.is_empty() %}{{ block }}/{% endif %}{{ cell }}/{{ gate.output }}{{ "}" }}]
{%- endfor %}
{%- for (block, cell, taken, given) in gates %}
gate {{ "{" }}{{ block }}{{ "}" }} {{ cell }} {{ taken }} {{ given }}
{%- endfor %}
{%- endif %}
puts "SECTION clock"
report_net -connections -verbose -digits 6 clk_i
puts "SECTION end"
