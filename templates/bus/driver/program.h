{%- let name = names.driver -%}
{%- let program = names.program_name() -%}
/* The program `{{ program }}` of {{ names.of }}, for `{{ name }}_configure`. */
#ifndef PUSHMEM_{{ self::upper(program) }}_PROGRAM_H
#define PUSHMEM_{{ self::upper(program) }}_PROGRAM_H

#include "{{ name }}_driver.h"

/* Its images, by their numbers in a job. */
enum {
{%- for image in names.images %}
    {{ self::upper(program) }}_{{ self::upper(image.name) }} = {{ loop.index0 }},
{%- endfor %}
    {{ self::upper(program) }}_IMAGES = {{ names.images.len() }}
};

/* Cycles of a run whose streams never wait. */
#define {{ self::upper(program) }}_RUN_CYCLES {{ names.cycles }}u

extern const struct {{ name }}_program {{ program }}_program;

#endif
