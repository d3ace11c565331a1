{% include "design.tcl" %}
# The latches of clock gates may borrow time from the paths behind them, which would hide longer paths: they are asked
# for apart, and so are registers and macros by their edges, as half a cycle is less than one.
set registers_out [all_registers -clock_pins -edge_triggered]
set registers_in [all_registers -data_pins -edge_triggered]
set gates_in [all_registers -data_pins -level_sensitive]
{%- if let Some(gate) = job.gate %}
foreach cell [get_cells -hierarchical *] {
    if {[get_property $cell ref_name] eq "{{ gate.cell }}"} {
        foreach pin [get_pins -of_objects $cell] {
            if {[string match "*/{{ gate.enable }}" [get_full_name $pin]]} { lappend gates_in $pin }
        }
    }
}
{%- endif %}
foreach out {rise fall} {
    foreach in {rise fall} {
        set from [all_registers -clock_pins -edge_triggered -${out}_clock clk]
        set to [all_registers -data_pins -edge_triggered -${in}_clock clk]
        if {[llength $from] > 0 && [llength $to] > 0} {
            puts "SECTION registers, $out to $in"
            report_checks -path_delay max -from $from -to $to -digits 5 -no_line_splits
        }
    }
}
puts "SECTION inputs"
report_checks -path_delay max -from [all_inputs] -to $registers_in -digits 5 -no_line_splits
if {[llength $gates_in] > 0} {
    puts "SECTION gates"
    report_checks -path_delay max -from $registers_out -to $gates_in -digits 5 -no_line_splits
    puts "SECTION inputs of gates"
    report_checks -path_delay max -from [all_inputs] -to $gates_in -digits 5 -no_line_splits
}
puts "SECTION outputs"
report_checks -path_delay max -from $registers_out -to [all_outputs] -digits 5 -no_line_splits
puts "SECTION through"
report_checks -path_delay max -from [all_inputs] -to [all_outputs] -digits 5 -no_line_splits
{%- if job.has_tracks %}
# Ports of tracks, and none of streams.
set tracks_in [get_ports {word_*_i* bit_*_i*}]
set tracks_out [get_ports {word_*_o* bit_*_o*}]
puts "SECTION tracks in"
report_checks -path_delay max -from $tracks_in -to $registers_in -digits 5 -no_line_splits
puts "SECTION tracks out"
report_checks -path_delay max -from $registers_out -to $tracks_out -digits 5 -no_line_splits
puts "SECTION tracks through"
report_checks -path_delay max -from $tracks_in -to $tracks_out -digits 5 -no_line_splits
{%- endif %}
{%- if !job.operations.is_empty() %}
# The paths that are left with the opcode of each operation as a constant: bounds, as cells that no constant shuts let other paths through. With
# all operands constant, those of a tile that words only pass through.
proc constant {pins value} {
    for {set bit 0} {$bit < [llength $pins]} {incr bit} {
        set_case_analysis [expr {$value >> $bit & 1}] [lindex $pins $bit]
    }
}
# The pins of a port of the processing element, the lowest bit first.
proc pins {port} {
    set single [get_pins -quiet u_pe/$port]
    if {[llength $single] == 1} { return $single }
    set found {}
    for {set bit 0} {[llength [set pin [get_pins -quiet "u_pe/$port\[$bit\]"]]] > 0} {incr bit} { lappend found $pin }
    return $found
}
proc operation {name} {
    global tracks_in registers_out registers_in
    puts "SECTION $name: registers"
    report_checks -path_delay max -from $registers_out -to $registers_in -digits 5 -no_line_splits
    puts "SECTION $name: tracks in"
    report_checks -path_delay max -from $tracks_in -to $registers_in -digits 5 -no_line_splits
}
set opcode [pins operation_i]
{%- for operation in job.operations %}
constant $opcode {{ loop.index0 }}
operation {{ operation }}
unset_case_analysis $opcode
{%- endfor %}
foreach mode {data_mode_i bit_mode_i} { constant [pins $mode] 0 }
operation none
{%- endif %}
puts "SECTION end"
