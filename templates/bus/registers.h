{%- let shell = description.shell -%}
{%- let prefix = self::upper(shell.module) -%}
/* Registers of the shell `{{ shell.module }}`.
 * Byte offsets from the base of the AXI4-Lite interface; positions and masks of fields within a 32-bit register. Accesses to other addresses are
 * answered with an error, and so are accesses in the window during a run.
 */
#ifndef PUSHMEM_{{ prefix }}_REGISTERS_H
#define PUSHMEM_{{ prefix }}_REGISTERS_H

/* What the register IDENTITY reads: hardware with another one is of another {% if shell.programmed() %}array, or has other streams{% else %}program, or of other tiles{% endif %}. */
#define {{ prefix }}_IDENTITY_EXPECTED 0x{{ "{:08x}"|format(shell.identity) }}u
#define {{ prefix }}_BYTES 0x{{ "{:x}"|format(description.bytes()) }}u
{%- for register in description.registers %}
{%- let name = self::upper(register.name) %}

{% if !register.description.is_empty() %}/* {{ register.description }} */
{% endif -%}
#define {{ prefix }}_{{ name }}_OFFSET 0x{{ "{:03x}"|format(register.offset) }}u
{{ register.c_fields(prefix ~ "_" ~ name)|trim }}
{%- endfor %}
{%- if !shell.programmed() %}
{%- for image in shell.images %}
{%- let name = self::upper(image.name) %}

/* The image `{{ image.name }}`, {% for size in image.shape %}{% if !loop.first %} x {% endif %}{{ size }}{% endfor %} elements of type {{ image.type_name() }}, the innermost dimension first: bytes of an element, and of the image where it has no gaps. */
#define {{ prefix }}_{{ name }}_ELEMENT_BYTES {{ image.element_bytes() }}u
#define {{ prefix }}_{{ name }}_BYTES 0x{{ "{:x}"|format(image.bytes()) }}u
{%- for stride in image.strides %}
#define {{ prefix }}_{{ name }}_STRIDE_{{ stride.dimension }}_DENSE 0x{{ "{:x}"|format(stride.dense) }}u
{%- endfor %}
{%- endfor %}
{%- endif %}
{%- if let Some(rows) = shell.rows() %}

/* Bytes of the banks, at the AXI4 interface `{{ GlobalBuffer::PORT }}`. */
#define {{ prefix }}_BUFFER_BYTES 0x{{ "{:x}"|format(rows.bytes) }}u
{%- endif %}
{%- if let Some(window) = description.window() %}

/* The window to the {% if shell.programmed() %}registers above that are of the program{% else %}configuration port of the accelerator{% endif %}: 0x{{ "{:x}"|format(description.window_bytes()) }} bytes. */
#define {{ prefix }}_WINDOW_OFFSET 0x{{ "{:x}"|format(window) }}u
{%- endif %}

#endif
