/* Bytes of the arguments of a manager, and of the registers of a stream. */
#define MANAGER_BYTES (4u * (2u + {{ prefix }}_LEVELS))
#define STREAM_BYTES {{ description.stream_bytes() }}u

{% include "driver/parts/access.c" %}

{% let loads_programs = true -%}
{% include "driver/parts/open.c" %}

/* The manager of a stream: those into the array come first. */
static uint32_t manager_of(const struct {{ name }}_walk *walk)
{
    return walk->number + (walk->output != 0 ? {{ prefix }}_READERS : 0u);
}

static bool fits(struct {{ name }} *device, const struct {{ name }}_program *program)
{
    uint32_t number;
    bool fits = program->digest == get(device, {{ registers }}_ARRAY_DIGEST_OFFSET) && program->images <= {{ prefix }}_IMAGES;
    for (number = 0; number < program->walks; ++number) {
        const struct {{ name }}_walk *walk = &program->walk[number];
        fits = fits && walk->number < (walk->output != 0 ? {{ prefix }}_WRITERS : {{ prefix }}_READERS);
    }
    return fits;
}

/* Writes the registers of a stream: its IO tile, its beats, and its walk. */
static void configure_stream(struct {{ name }} *device, const struct {{ name }}_walk *walk)
{
    const uint32_t base = STREAM_BYTES * manager_of(walk);
    uint32_t level;
    set(device, {{ registers }}_IN_0_STREAM_OFFSET + base, walk->stream);
    set(device, {{ registers }}_IN_0_BEATS_OFFSET + base, walk->beats);
    for (level = 0; level < {{ prefix }}_LEVELS; ++level) {
        set(device, {{ registers }}_IN_0_LAST_0_OFFSET + base + 4u * level, walk->last[level]);
    }
    for (level = 0; level <= {{ prefix }}_LEVELS; ++level) {
        set(device, {{ registers }}_IN_0_SIZE_0_OFFSET + base + 4u * level, walk->size[level]);
    }
}

int {{ name }}_configure(struct {{ name }} *device, const struct {{ name }}_program *program)
{
    uint32_t number;
    if (device->jobs != 0) {
        return {{ prefix }}_BUSY;
    }
    device->program = NULL;
    if (!fits(device, program)) {
        return {{ prefix }}_WRONG_PROGRAM;
    }
    set(device, {{ registers }}_REFUSED_ACCESSES_OFFSET, {{ registers }}_REFUSED_ACCESSES_ANY_MASK);
    set(device, {{ registers }}_CONFIGURATION_STATUS_OFFSET,
        {{ registers }}_CONFIGURATION_STATUS_WRONG_DIGEST_MASK | {{ registers }}_CONFIGURATION_STATUS_REFUSED_MASK);
    for (number = 0; number < program->writes; ++number) {
        set(device, {{ registers }}_ARRAY_ADDRESS_OFFSET, program->bitstream[number][0]);
        set(device, {{ registers }}_ARRAY_DATA_OFFSET, program->bitstream[number][1]);
    }
    set(device, {{ registers }}_TAIL_OFFSET, program->tail);
    for (number = 0; number < {{ prefix }}_IMAGES; ++number) {
        set(device, {{ registers }}_IN_0_STREAM_OFFSET + STREAM_BYTES * number, 0u);
    }
    for (number = 0; number < program->walks; ++number) {
        configure_stream(device, &program->walk[number]);
    }
    if (get(device, {{ registers }}_REFUSED_ACCESSES_OFFSET) != 0
        || get(device, {{ registers }}_CONFIGURATION_STATUS_OFFSET) != {{ registers }}_CONFIGURATION_STATUS_LOADED_MASK) {
        return {{ prefix }}_REFUSED;
    }
    device->program = program;
    return {{ prefix }}_OK;
}

{% include "driver/parts/dense.c" %}
{% include "driver/parts/check.c" %}

{% include "driver/parts/start.c" %}

/* Bytes of so many elements in each dimension of an image. */
static int64_t bytes_of(const struct {{ name }}_image *image, uint32_t element_bytes, const int32_t *elements)
{
    int64_t bytes = (int64_t)element_bytes * elements[0];
    uint32_t dimension;
    for (dimension = 1; dimension < {{ prefix }}_DIMENSIONS; ++dimension) {
        bytes += (int64_t)image->stride[dimension - 1] * elements[dimension];
    }
    return bytes;
}

/* Writes the arguments of a manager. */
static void argue(struct {{ name }} *device, const struct {{ name }}_walk *walk, const struct {{ name }}_image *image)
{
    const uint32_t element_bytes = device->program->image[walk->image].element_bytes;
    const uint32_t base = MANAGER_BYTES * manager_of(walk);
    const uint64_t address = image->address + (uint64_t)bytes_of(image, element_bytes, walk->start);
    uint32_t level;
    set(device, {{ registers }}_IN_0_ADDRESS_LOW_OFFSET + base, (uint32_t)address);
    set(device, {{ registers }}_IN_0_ADDRESS_HIGH_OFFSET + base, (uint32_t)(address >> 32));
    for (level = 0; level < {{ prefix }}_LEVELS; ++level) {
        set(device, {{ registers }}_IN_0_STRIDE_1_OFFSET + base + 4u * level, (uint32_t)bytes_of(image, element_bytes, walk->steps[level]));
    }
}

/* Whether the steps of all loops are numbers of 32 bits. */
static bool is_near(const struct {{ name }}_walk *walk, uint32_t element_bytes, const struct {{ name }}_image *image)
{
    uint32_t level;
    for (level = 0; level < {{ prefix }}_LEVELS; ++level) {
        const int64_t bytes = bytes_of(image, element_bytes, walk->steps[level]);
        if (bytes < INT32_MIN || bytes > INT32_MAX) {
            return false;
        }
    }
    return true;
}

int {{ name }}_submit(struct {{ name }} *device, const struct {{ name }}_job *job)
{
    const struct {{ name }}_program *program = device->program;
    uint32_t number;
    if (program == NULL) {
        return {{ prefix }}_NO_PROGRAM;
    }
    if (device->jobs == 2) {
        return {{ prefix }}_BUSY;
    }
    for (number = 0; number < program->images; ++number) {
        const struct {{ name }}_shape *shape = &program->image[number];
        const int result = check(shape->size, shape->dimensions, shape->element_bytes, &job->image[number]);
        if (result != {{ prefix }}_OK) {
            return result;
        }
    }
    for (number = 0; number < program->walks; ++number) {
        const struct {{ name }}_walk *walk = &program->walk[number];
        if (!is_near(walk, program->image[walk->image].element_bytes, &job->image[walk->image])) {
            return {{ prefix }}_WRONG_SIZE;
        }
    }
    /* A run took its arguments at its start: those of the next one may be written. */
    for (number = 0; number < program->walks; ++number) {
        argue(device, &program->walk[number], &job->image[program->walk[number].image]);
    }
    ++device->jobs;
    if (device->jobs == 1) {
        start(device);
    }
    return {{ prefix }}_OK;
}

/* The images of managers, a bit each. */
static uint32_t images_of(const struct {{ name }} *device, uint32_t managers)
{
    uint32_t images = 0;
    uint32_t number;
    for (number = 0; number < device->program->walks; ++number) {
        const struct {{ name }}_walk *walk = &device->program->walk[number];
        images |= (managers >> manager_of(walk) & 1u) << walk->image;
    }
    return images;
}

{% include "driver/parts/poll.c" %}
