{% include "design.tcl" %}
puts "SECTION power"
report_power -digits 6
puts "SECTION end"
