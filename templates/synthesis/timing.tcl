{%- for file in job.liberty %}
read_liberty {{ file }}
{%- endfor %}
read_verilog netlist.v
link_design {{ job.top }}
source {{ job.name }}.sdc
set registers_out [all_registers -clock_pins]
set registers_in [all_registers -data_pins]
puts "SECTION registers"
report_checks -path_delay max -from $registers_out -to $registers_in -digits 5 -no_line_splits
puts "SECTION inputs"
report_checks -path_delay max -from [all_inputs] -to $registers_in -digits 5 -no_line_splits
puts "SECTION outputs"
report_checks -path_delay max -from $registers_out -to [all_outputs] -digits 5 -no_line_splits
puts "SECTION through"
report_checks -path_delay max -from [all_inputs] -to [all_outputs] -digits 5 -no_line_splits
puts "SECTION power"
report_power -digits 6
