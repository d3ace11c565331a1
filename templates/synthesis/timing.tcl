{%- for file in job.liberty %}
read_liberty {{ file }}
{%- endfor %}
read_verilog netlist.v
link_design {{ job.top }}
source {{ job.name }}.sdc
# The latches of clock gates may borrow time from what is behind them, which would hide longer paths: they are asked for apart.
set registers_out [all_registers -clock_pins -edge_triggered]
set registers_in [all_registers -data_pins -edge_triggered]
set gates_in [all_registers -data_pins -level_sensitive]
puts "SECTION registers"
report_checks -path_delay max -from $registers_out -to $registers_in -digits 5 -no_line_splits
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
puts "SECTION power"
report_power -digits 6
