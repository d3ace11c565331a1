# {{ design.about }}: a design of OpenROAD-flow-scripts.
#
#   make DESIGN_CONFIG=…/config.mk PLATFORM=nangate45
HERE := $(dir $(lastword $(MAKEFILE_LIST)))

export DESIGN_NAME = {{ design.top }}
export DESIGN_NICKNAME = {{ design.name }}
export PLATFORM ?= nangate45
export SYNTH_HDL_FRONTEND = slang
export VERILOG_FILES = $(addprefix $(HERE), \
{%- for path in files %}
    {{ path }}{% if loop.last %}){% else %} \{% endif %}
{%- endfor %}
export SDC_FILE = $(HERE){{ design.name }}.sdc
{%- if keeps_hierarchy %}
# The timing constraints name pins of register files.
export SYNTH_HIERARCHICAL = 1
export SYNTH_MINIMUM_KEEP_SIZE = 0
{%- endif %}
export CORE_UTILIZATION ?= 40
{%- if !views.is_empty() %}

# Views of the SRAM macros, which their library provides.
export MACRO_FOLDER ?= $(HERE)
{%- for (variable, files) in views %}
export {{ variable }} = $(addprefix $(MACRO_FOLDER)/, {{ files.join(" ") }})
{%- endfor %}
{%- endif %}
