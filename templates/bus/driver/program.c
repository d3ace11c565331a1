{%- let program = self.program -%}
{%- let name = self.driver -%}
{%- let has_banks = self.array.rows().is_some() -%}
/* The program `{{ program.name }}` of the array `{{ self.array.name }}`. */
#include "{{ program.name }}_program.h"
{% if has_banks %}
#include "../{{ program.name }}.h"
{%- else %}
static const uint32_t bitstream[{{ program.bitstream.len() }}][2] = {
{%- for (address, data) in program.bitstream %}
    {0x{{ "{:08x}"|format(address) }}u, 0x{{ "{:08x}"|format(data) }}u},
{%- endfor %}
};
{%- endif %}

static const struct {{ name }}_shape images[{{ program.images.len() }}] = {
{%- for image in program.images %}
    {"{{ image.name }}", {% if image.output %}1{% else %}0{% endif %}u, {{ image.element.bytes() }}u, {% if has_banks %}{% if image.element.is_signed() %}1{% else %}0{% endif %}u, {% endif %}{{ image.shape.len() }}u, {{ "{" }}{{ self::list(image.shape) }}}},
{%- endfor %}
};
{% if has_banks %}
static const struct {{ name }}_place places[{{ self.places.len() }}] = {
{%- for place in self.places %}
    {.image = {{ place.number }}u, .bank = {{ place.bank }}u, .first_word = {{ place.first_word }}u{% if !place.extents.is_empty() %}, .loops = {{ place.extents.len() }}u, .start = {{ place.start }},
     .extent = {{ "{" }}{{ self::list(place.extents) }}}, .stride = {{ "{" }}{{ self::list(place.strides) }}}{% endif %}},
{%- endfor %}
};
{%- else %}
static const struct {{ name }}_walk walks[{{ self.walks.len() }}] = {
{%- for walk in self.walks %}
    {
        .output = {% if walk.output %}1{% else %}0{% endif %}u, .number = {{ walk.number }}u, .image = {{ walk.image }}u, .stream = 0x{{ "{:x}"|format(walk.word) }}u, .beats = {{ walk.beats }}u,
        .start = {{ "{" }}{{ self::list(walk.start) }}},
        .last = {{ "{" }}{{ self::list(walk.lasts) }}},
        .size = {{ "{" }}{{ self::list(walk.sizes) }}},
        .steps = { {%- for step in walk.steps %}{% if !loop.first %}, {% endif %}{{ "{" }}{{ self::list(step) }}}{% endfor -%} },
    },
{%- endfor %}
};
{%- endif %}

const struct {{ name }}_program {{ program.name }}_program = {
    .name = "{{ program.name }}",
{%- if !has_banks %}
    .digest = 0x{{ "{:08x}"|format(self.array.digest) }}u,
{%- endif %}
    .tail = {{ program.tail }}u,
{%- if has_banks %}
    .configuration = {
        {{ program.name }}_bitstream, {{ self::upper(program.name) }}_BITSTREAM_WORDS,
{%- if program.has_rows %}
        {{ self::upper(program.name) }}_FIRST_WORDS, {{ program.name }}_bank_rows, {{ self::upper(program.name) }}_BANK_ROWS,
{%- endif %}
    },
{%- else %}
    .writes = {{ program.bitstream.len() }}u,
    .bitstream = bitstream,
{%- endif %}
    .images = {{ program.images.len() }}u,
    .image = images,
{%- if has_banks %}
    .places = {{ self.places.len() }}u,
    .place = places,
{%- else %}
    .walks = {{ self.walks.len() }}u,
    .walk = walks,
{%- endif %}
};
