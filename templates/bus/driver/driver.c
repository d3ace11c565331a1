{%- let shell = description.shell -%}
{%- let prefix = description.upper() -%}
{%- let name = description.lower() -%}
{%- let registers = description.upper() -%}
/* Driver of the {{ shell.of_hardware() }} behind AXI4. */
#include "{{ name }}_driver.h"

#include <stdatomic.h>

{% if shell.rows().is_some() -%}
{% include "driver/buffered.c" %}
{%- else if shell.programmed() -%}
{% include "driver/array.c" %}
{%- else -%}
{% include "driver/accelerator.c" %}
{%- endif %}

{% include "driver/parts/jobs.c" %}
