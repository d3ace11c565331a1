# The energy of a change of an output in joules: half of them rise, half fall.
read_liberty cell.lib
read_verilog two_cells.v
link_design two_cells
create_clock -name clk -period 1
set_input_delay 0 -clock clk [get_ports a]
sta::set_power_global_activity 1 0.5
puts "ENERGY [expr {[lindex [sta::instance_power [sta::find_instance first] [sta::find_corner default]] 0] * 1e-9}]"
puts "SECTION end"
