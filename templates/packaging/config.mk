# {{ design.about }}: a design of OpenROAD-flow-scripts.
#
#   make DESIGN_CONFIG=…/config.mk PLATFORM={{ platform }}
HERE := $(dir $(lastword $(MAKEFILE_LIST)))

export DESIGN_NAME = {{ design.top }}
export DESIGN_NICKNAME = {{ design.name }}
export PLATFORM ?= {{ platform }}
export SYNTH_HDL_FRONTEND = slang
export VERILOG_FILES = $(addprefix $(HERE), \
{%- for path in files %}
    {{ path }}{% if loop.last %}){% else %} \{% endif %}
{%- endfor %}
{%- if !include_folders.is_empty() %}
export VERILOG_INCLUDE_DIRS ={% for folder in include_folders %} $(HERE){{ folder }}{% endfor %}
{%- endif %}
export SDC_FILE = $(HERE){{ design.name }}.sdc
{%- if keeps_hierarchy %}
# The timing constraints name pins of register files.
export SYNTH_HIERARCHICAL = 1
export SYNTH_MINIMUM_KEEP_SIZE = 0
export OPENROAD_HIERARCHICAL = 1
{%- endif %}
export CORE_UTILIZATION ?= 40
{%- if !views.is_empty() %}

# Views of the SRAM macros{% if let Some(kit) = kit %}; those of the kit are in its folder.
MACRO_FOLDER ?= $(PDK_ROOT)/{{ kit.librelane }}{% else %}.{% endif %}
{%- for (variable, files) in views %}
export {{ variable }} ={% for file in files %} {{ file }}{% endfor %}
{%- endfor %}
{%- endif %}
{%- if let Some(file) = supplies %}
export PRE_PDN_TCL = $(HERE){{ file }}
{%- endif %}
