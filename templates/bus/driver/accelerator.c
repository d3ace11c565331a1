#include "../{{ shell.accelerator }}.h"

const uint32_t {{ name }}_shape[{{ prefix }}_IMAGES][{{ prefix }}_DIMENSIONS] = {
{%- for image in shell.images %}
    { {%- for size in image.shape %}{% if !loop.first %}, {% endif %}{{ size }}{% endfor -%} }, /* {{ image.name }} */
{%- endfor %}
};
const uint32_t {{ name }}_element_bytes[{{ prefix }}_IMAGES] = {
{%- for image in shell.images %}{% if !loop.first %}, {% endif %}{{ registers }}_{{ self::upper(image.name) }}_ELEMENT_BYTES{% endfor -%} };
const uint32_t {{ name }}_dimensions[{{ prefix }}_IMAGES] = {
{%- for image in shell.images %}{% if !loop.first %}, {% endif %}{{ image.shape.len() }}{% endfor -%} };

/* Offsets of the arguments of an image: its address, and each stride. */
struct arguments {
    uint32_t low;
    uint32_t high;
    uint32_t stride[{{ prefix }}_STRIDES];
};

static const struct arguments arguments[{{ prefix }}_IMAGES] = {
{%- for image in shell.images %}
{%- let upper = self::upper(image.name) %}
    {{ "{" }}{{ registers }}_{{ upper }}_ADDRESS_LOW_OFFSET, {{ registers }}_{{ upper }}_ADDRESS_HIGH_OFFSET,
     { {%- if image.strides.is_empty() %}0{% endif %}{% for stride in image.strides %}{% if !loop.first %}, {% endif %}{{ registers }}_{{ upper }}_STRIDE_{{ stride.dimension }}_OFFSET{% endfor -%} }},
{%- endfor %}
};

{% include "driver/parts/access.c" %}

{% let loads_programs = false -%}
{% include "driver/parts/open.c" %}
{%- if description.has_window() %}

static void configure(void *context, uint32_t address, uint32_t data)
{
    set(context, {{ registers }}_WINDOW_OFFSET + address, data);
}
{%- endif %}

int {{ name }}_configure(struct {{ name }} *device)
{
    if (device->jobs != 0) {
        return {{ prefix }}_BUSY;
    }
    set(device, {{ registers }}_REFUSED_ACCESSES_OFFSET, {{ registers }}_REFUSED_ACCESSES_ANY_MASK);
{%- if description.has_window() %}
    {{ description.configure() }}(configure, device);
{%- endif %}
    return get(device, {{ registers }}_REFUSED_ACCESSES_OFFSET) == 0 ? {{ prefix }}_OK : {{ prefix }}_REFUSED;
}

struct {{ name }}_image {{ name }}_dense(unsigned image, uint64_t address)
{
    struct {{ name }}_image dense = {address, {{ name }}_element_bytes[image], {0}};
    uint32_t dimension;
    for (dimension = 0; dimension < {{ name }}_dimensions[image]; ++dimension) {
        if (dimension > 0) {
            dense.stride[dimension - 1] = (int32_t)dense.bytes;
        }
        dense.bytes *= {{ name }}_shape[image][dimension];
    }
    return dense;
}

{% include "driver/parts/check.c" %}

{% include "driver/parts/start.c" %}

int {{ name }}_submit(struct {{ name }} *device, const struct {{ name }}_job *job)
{
    unsigned number;
    if (device->jobs == 2) {
        return {{ prefix }}_BUSY;
    }
    for (number = 0; number < {{ prefix }}_IMAGES; ++number) {
        const int result = check({{ name }}_shape[number], {{ name }}_dimensions[number], {{ name }}_element_bytes[number], &job->image[number]);
        if (result != {{ prefix }}_OK) {
            return result;
        }
    }
    /* A run took its arguments at its start: those of the next one may be written. */
    for (number = 0; number < {{ prefix }}_IMAGES; ++number) {
        const struct {{ name }}_image *image = &job->image[number];
        uint32_t dimension;
        set(device, arguments[number].low, (uint32_t)image->address);
        set(device, arguments[number].high, (uint32_t)(image->address >> 32));
        for (dimension = 1; dimension < {{ name }}_dimensions[number]; ++dimension) {
            set(device, arguments[number].stride[dimension - 1], (uint32_t)image->stride[dimension - 1]);
        }
    }
    ++device->jobs;
    if (device->jobs == 1) {
        start(device);
    }
    return {{ prefix }}_OK;
}

{% include "driver/parts/poll.c" %}
