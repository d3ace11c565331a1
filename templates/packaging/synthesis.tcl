# Reads {{ design.top }} into Yosys by the front end slang. The target `synth` of FuseSoC runs it.
set folder [file dirname [info script]]
yosys tee -q -o slang.txt help read_slang
set channel [open slang.txt]
if {[string match "*No such command*" [read $channel]]} {
    # Yosys ends where there is no plug-in, so the way out is said before.
    puts "{{ design.top }} needs a Yosys with the front end slang: that of OSS CAD Suite, or the plug-in yosys-slang."
    yosys plugin -i slang
}
close $channel
set files [list]
foreach file {{ "{" }}
{%- for path in sources.synthesis() %}
    {{ path }}
{%- endfor %}
{{ "}" }} {
    lappend files [file join $folder $file]
}
yosys read_slang --top {{ design.top }}{% for folder in sources.include_folders() %} -I [file join $folder {{ folder }}]{% endfor %} {*}$files
