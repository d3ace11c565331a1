{%- let name = plan.driver -%}
{%- let stem = plan.stem -%}
{%- let prefix = self::upper(plan.driver) -%}
/* A large image in tiles. */
#include "{{ stem }}_tiles.h"

#define IMAGES {{ plan.tiling.images.len() }}u
#define AXES {{ plan.axes() }}u

/* Tiles along an axis: how many, elements of the output from one to the next, and where the last one begins. */
struct axis {
    uint32_t count;
    uint32_t step;
    uint32_t last;
};

static const struct axis axes[AXES] = {
{%- for axis in plan.tiling.axes %}
    {{ "{" }}{{ axis.count }}u, {{ axis.step }}u, {{ axis.last }}u},
{%- endfor %}
{%- if plan.tiling.axes.is_empty() %}
    {1u, 0u, 0u},
{%- endif %}
};

/* Elements of an image for one of the output, as a fraction. */
struct motion {
    int32_t numerator;
    int32_t denominator;
};

/* By image, dimension and axis. */
static const struct motion motions[IMAGES][{{ prefix }}_DIMENSIONS][AXES] = {
{%- for image in plan.tiling.images %}
    { {%- if image.motion.is_empty() %}{{ "{{" }}0, 1}}{% endif %}{% for motion in image.motion %}{% if !loop.first %}, {% endif %}{ {%- for fraction in motion %}{% if !loop.first %}, {% endif %}{{ "{" }}{{ fraction.numerator }}, {{ fraction.denominator }}}{% endfor %}{% if motion.is_empty() %}{0, 1}{% endif -%} }{% endfor -%} }, /* {{ image.name }} */
{%- endfor %}
};

const uint32_t {{ stem }}_whole_shape[IMAGES][{{ prefix }}_DIMENSIONS] = {
{%- for image in plan.tiling.images %}
    { {%- if image.size.is_empty() %}1{% endif %}{% for size in image.size %}{% if !loop.first %}, {% endif %}{{ size }}{% endfor -%} },
{%- endfor %}
};

static const uint32_t element_bytes[IMAGES] = {
{%- for image in plan.tiling.images %}{% if !loop.first %}, {% endif %}{{ image.element.bytes() }}{% endfor -%} };

struct {{ name }}_image {{ stem }}_whole(unsigned image, uint64_t address)
{
    struct {{ name }}_image whole = {address, element_bytes[image], {0}};
    uint32_t dimension;
    for (dimension = 0; dimension < {{ prefix }}_DIMENSIONS && {{ stem }}_whole_shape[image][dimension] != 0; ++dimension) {
        if (dimension > 0) {
            whole.stride[dimension - 1] = (int32_t)whole.bytes;
        }
        whole.bytes *= {{ stem }}_whole_shape[image][dimension];
    }
    return whole;
}

struct {{ name }}_job {{ stem }}_tile(unsigned tile, const struct {{ name }}_job *whole)
{
    struct {{ name }}_job job = *whole;
    int64_t places[AXES];
    uint32_t axis;
    uint32_t image;
    uint32_t dimension;
    for (axis = 0; axis < AXES; ++axis) {
        const uint32_t place = tile % axes[axis].count * axes[axis].step;
        places[axis] = place < axes[axis].last ? place : axes[axis].last;
        tile /= axes[axis].count;
    }
    for (image = 0; image < IMAGES; ++image) {
        int64_t bytes = 0;
        for (dimension = 0; dimension < {{ prefix }}_DIMENSIONS && {{ stem }}_whole_shape[image][dimension] != 0; ++dimension) {
            const int64_t stride = dimension == 0 ? (int64_t)element_bytes[image] : whole->image[image].stride[dimension - 1];
            for (axis = 0; axis < AXES; ++axis) {
                const struct motion *motion = &motions[image][dimension][axis];
                bytes += stride * (places[axis] * motion->numerator / motion->denominator);
            }
        }
        job.image[image].address += (uint64_t)bytes;
        job.image[image].bytes -= (uint64_t)bytes;
    }
    return job;
}

int {{ stem }}_run_tiles(struct {{ name }} *device, const struct {{ name }}_job *whole, uint32_t timeout)
{
    unsigned started = 0;
    unsigned ended = 0;
    int first = {{ prefix }}_OK;
    while (ended < started || (first == {{ prefix }}_OK && started < {{ self::upper(stem) }}_TILES)) {
        int result;
        if (first == {{ prefix }}_OK && started < {{ self::upper(stem) }}_TILES && device->jobs < 2) {
            const struct {{ name }}_job job = {{ stem }}_tile(started, whole);
            result = {{ name }}_submit(device, &job);
            started += result == {{ prefix }}_OK ? 1u : 0u;
        } else {
            result = {{ name }}_wait(device, timeout);
            ++ended;
        }
        first = first == {{ prefix }}_OK ? result : first;
        if (result == {{ prefix }}_TIMEOUT) {
            break;
        }
    }
    return first;
}
