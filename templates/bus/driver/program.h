{%- let tables = self.0 -%}
{%- let name = tables.lower() -%}
{%- let program = tables.program.name -%}
/* The program `{{ program }}` of the array `{{ tables.array.name }}`, for `{{ name }}_configure`. */
#ifndef PUSHMEM_{{ self::upper(program) }}_PROGRAM_H
#define PUSHMEM_{{ self::upper(program) }}_PROGRAM_H

#include "{{ name }}_driver.h"

/* Its images, by their numbers in a job. */
enum {
{%- for image in tables.program.images %}
    {{ self::upper(program) }}_{{ self::upper(image.name) }} = {{ loop.index0 }},
{%- endfor %}
    {{ self::upper(program) }}_IMAGES = {{ tables.program.images.len() }}
};

/* Cycles of a run whose streams never wait. */
#define {{ self::upper(program) }}_RUN_CYCLES {{ tables.program.cycles }}u

extern const struct {{ name }}_program {{ program }}_program;

#endif
