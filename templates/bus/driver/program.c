{%- let tables = self.0 -%}
{%- let name = tables.lower() -%}
{%- let program = tables.program.name -%}
/* The program `{{ program }}` of the array `{{ tables.array.name }}`. */
#include "{{ program }}_program.h"

static const uint32_t bitstream[{{ tables.program.bitstream.len() }}][2] = {
{%- for (address, data) in tables.program.bitstream %}
    {0x{{ "{:08x}"|format(address) }}u, 0x{{ "{:08x}"|format(data) }}u},
{%- endfor %}
};

static const struct {{ name }}_shape images[{{ tables.program.images.len() }}] = {
{%- for image in tables.program.images %}
    {"{{ image.name }}", {% if image.output %}1{% else %}0{% endif %}u, {{ image.element.bytes() }}u, {{ image.shape.len() }}u, {{ "{" }}{{ tables.list(image.shape) }}}},
{%- endfor %}
};

static const struct {{ name }}_walk walks[{{ tables.walks.len() }}] = {
{%- for walk in tables.walks %}
    {
        .output = {% if walk.output %}1{% else %}0{% endif %}u, .number = {{ walk.number }}u, .image = {{ walk.image }}u, .stream = 0x{{ "{:x}"|format(walk.word) }}u, .beats = {{ walk.beats }}u,
        .start = {{ "{" }}{{ tables.list(walk.start) }}},
        .last = {{ "{" }}{{ tables.list(walk.lasts) }}},
        .size = {{ "{" }}{{ tables.list(walk.sizes) }}},
        .steps = { {%- for step in walk.steps %}{% if !loop.first %}, {% endif %}{{ "{" }}{{ tables.list(step) }}}{% endfor -%} },
    },
{%- endfor %}
};

const struct {{ name }}_program {{ program }}_program = {
    .name = "{{ program }}",
    .digest = 0x{{ "{:08x}"|format(tables.array.digest) }}u,
    .tail = {{ tables.program.tail }}u,
    .writes = {{ tables.program.bitstream.len() }}u,
    .bitstream = bitstream,
    .images = {{ tables.program.images.len() }}u,
    .image = images,
    .walks = {{ tables.walks.len() }}u,
    .walk = walks,
};
