{%- let program = self.program -%}
{%- let name = self.names.driver -%}
/* The program `{{ program.name }}` of the array `{{ self.names.array }}`. */
#include "{{ program.name }}_program.h"

#include "../{{ program.name }}.h"

static const struct {{ name }}_shape images[{{ program.images.len() }}] = {
{%- for image in program.images %}
    {"{{ image.name }}", {% if image.output %}1{% else %}0{% endif %}u, {{ image.element.bytes() }}u, {% if image.element.is_signed() %}1{% else %}0{% endif %}u, {{ image.shape.len() }}u, {{ "{" }}{{ self.list(image.shape) }}}},
{%- endfor %}
};

static const struct {{ name }}_place places[{{ self.places.len() }}] = {
{%- for place in self.places %}
    {.image = {{ place.image }}u, .bank = {{ place.bank }}u, .first_word = {{ place.first_word }}u{% if !place.extents.is_empty() %}, .loops = {{ place.extents.len() }}u, .start = {{ place.start }},
     .extent = {{ "{" }}{{ self.list(place.extents) }}}, .stride = {{ "{" }}{{ self.list(place.strides) }}}{% endif %}},
{%- endfor %}
};

const struct {{ name }}_program {{ program.name }}_program = {
    .name = "{{ program.name }}",
    .tail = {{ program.tail }}u,
    .configuration = {
        {{ program.name }}_bitstream, {{ self::upper(program.name) }}_BITSTREAM_WORDS,
{%- if program.has_rows %}
        {{ self::upper(program.name) }}_FIRST_WORDS, {{ program.name }}_bank_rows, {{ self::upper(program.name) }}_BANK_ROWS,
{%- endif %}
    },
    .images = {{ program.images.len() }}u,
    .image = images,
    .places = {{ self.places.len() }}u,
    .place = places,
};
