{%- let banks = self::upper(description.array().name) -%}
{%- let buffer = description.rows().functions -%}
{%- let buffer_prefix = description.configuration_results() -%}
/* Words and bytes of a row, bytes and bits of a word, and the rows that are moved at once. */
#define WORDS {{ description.rows().words() }}u
#define ROW_BYTES {{ GlobalBuffer::ROW_BYTES }}u
#define WORD_BYTES (ROW_BYTES / WORDS)
#define WORD_BITS (8u * WORD_BYTES)
#define ROWS_AT_ONCE 64u

{% include "driver/parts/access.c" %}

{% let loads_programs = true -%}
{% include "driver/parts/open.c" %}

{% include "driver/parts/dense.c" %}

{% include "driver/parts/check.c" %}

{% include "driver/parts/start.c" %}

/* The configuration port of the array, for the driver of the configuration. Their outcomes are read at the end. */
static bool read_register(void *context, uint32_t address, uint32_t *data)
{
    set(context, {{ registers }}_ARRAY_ADDRESS_OFFSET, address);
    *data = get(context, {{ registers }}_ARRAY_DATA_OFFSET);
    return true;
}

static bool write_register(void *context, uint32_t address, uint32_t data)
{
    set(context, {{ registers }}_ARRAY_ADDRESS_OFFSET, address);
    set(context, {{ registers }}_ARRAY_DATA_OFFSET, data);
    return true;
}

static bool write_row(void *context, uint32_t address, uint64_t row)
{
    const struct {{ name }} *device = context;
    return device->port.write_rows(device->port.context, address, &row, 1u);
}

/* The result of the driver of the configuration as one of this driver. */
static int result_of(int result)
{
    switch (result) {
    case {{ buffer_prefix }}_OK: return {{ prefix }}_OK;
    case {{ buffer_prefix }}_LOADING: return {{ prefix }}_RUNNING;
    case {{ buffer_prefix }}_BUSY: return {{ prefix }}_BUSY;
    case {{ buffer_prefix }}_WRONG_HARDWARE: return {{ prefix }}_WRONG_HARDWARE;
    case {{ buffer_prefix }}_WRONG_PROGRAM: return {{ prefix }}_WRONG_PROGRAM;
    case {{ buffer_prefix }}_WRONG_HEADER: return {{ prefix }}_WRONG_HEADER;
    case {{ buffer_prefix }}_UNAVAILABLE: return {{ prefix }}_UNAVAILABLE;
    default: return {{ prefix }}_REFUSED;
    }
}

/* Begins a configuration: no job may be there, and what was refused before is forgotten. */
static int begin_configuration(struct {{ name }} *device, const struct {{ name }}_program *program)
{
    const struct {{ buffer }}_port port = {read_register, write_register, write_row, NULL, device};
    int result;
    if (device->jobs != 0) {
        return {{ prefix }}_BUSY;
    }
    device->program = NULL;
    if (program->images > {{ prefix }}_IMAGES) {
        return {{ prefix }}_WRONG_PROGRAM;
    }
    result = result_of({{ buffer }}_open(&device->configuration, port));
    set(device, {{ registers }}_CONFIGURATION_STATUS_OFFSET,
        {{ registers }}_CONFIGURATION_STATUS_WRONG_DIGEST_MASK | {{ registers }}_CONFIGURATION_STATUS_REFUSED_MASK);
    return result;
}

/* Ends it: the program is there if all went well. */
static int end_configuration(struct {{ name }} *device, const struct {{ name }}_program *program, int result)
{
    if (result == {{ prefix }}_OK && get(device, {{ registers }}_CONFIGURATION_STATUS_OFFSET) != {{ registers }}_CONFIGURATION_STATUS_LOADED_MASK) {
        result = {{ prefix }}_REFUSED;
    }
    if (result == {{ prefix }}_OK) {
        set(device, {{ registers }}_TAIL_OFFSET, program->tail);
        device->program = program;
    }
    return result;
}

int {{ name }}_configure(struct {{ name }} *device, const struct {{ name }}_program *program)
{
    int result = begin_configuration(device, program);
    if (result == {{ prefix }}_OK) {
        result = result_of({{ buffer }}_configure(&device->configuration, &program->configuration));
        result = end_configuration(device, program, result);
    }
    return result;
}

int {{ name }}_store(struct {{ name }} *device, const struct {{ name }}_program *program, unsigned half, uint32_t row)
{
    struct {{ buffer }} rows = {.port = {NULL, NULL, write_row, NULL, device}};
    return result_of({{ buffer }}_store(&rows, &program->configuration, half, row));
}

int {{ name }}_load(struct {{ name }} *device, const struct {{ name }}_program *program, unsigned half, uint32_t row, uint32_t timeout)
{
    const struct {{ name }}_port *port = &device->port;
    uint32_t begin;
    uint32_t polls = 0;
    int result = begin_configuration(device, program);
    if (result != {{ prefix }}_OK) {
        return result;
    }
    begin = port->ticks != NULL ? port->ticks(port->context) : 0;
    result = result_of({{ buffer }}_submit(&device->configuration, &program->configuration, half, row));
    while (result == {{ prefix }}_OK && (get(device, {{ registers }}_CONFIGURATION_STATUS_OFFSET) & {{ registers }}_CONFIGURATION_STATUS_LOADING_MASK) != 0) {
        ++polls;
        if ((port->ticks != NULL ? port->ticks(port->context) - begin : polls) >= timeout) {
            return {{ prefix }}_TIMEOUT;
        }
    }
    if (result == {{ prefix }}_OK) {
        result = result_of({{ buffer }}_poll(&device->configuration));
    }
    return end_configuration(device, program, result);
}

uint32_t {{ name }}_address(const struct {{ name }}_place *place, unsigned half)
{
    return {{ banks }}_BANK_HALF(place->bank, half) + place->first_word * WORD_BYTES;
}

/* Elements of an image in memory, one after the other. */
struct cursor {
    const struct {{ name }}_shape *shape;
    const struct {{ name }}_image *image;
    uint8_t *place;
    uint32_t index[{{ prefix }}_DIMENSIONS];
};

static struct cursor first_element(const struct {{ name }}_shape *shape, const struct {{ name }}_image *image)
{
    struct cursor cursor = {shape, image, (uint8_t *)(uintptr_t)image->address, {0}};
    return cursor;
}

static int32_t stride_of(const struct {{ name }}_shape *shape, const struct {{ name }}_image *image, uint32_t dimension)
{
    return dimension == 0 ? (int32_t)shape->element_bytes : image->stride[dimension - 1];
}

static void go_on(struct cursor *cursor)
{
    uint32_t dimension;
    for (dimension = 0; dimension < cursor->shape->dimensions; ++dimension) {
        const int32_t stride = stride_of(cursor->shape, cursor->image, dimension);
        cursor->place += stride;
        if (++cursor->index[dimension] < cursor->shape->size[dimension]) {
            return;
        }
        cursor->place -= (int64_t)stride * cursor->shape->size[dimension];
        cursor->index[dimension] = 0;
    }
}

static uint32_t elements_of(const struct {{ name }}_shape *shape)
{
    uint32_t elements = 1;
    uint32_t dimension;
    for (dimension = 0; dimension < shape->dimensions; ++dimension) {
        elements *= shape->size[dimension];
    }
    return elements;
}

/* An element as a word of the array. */
static uint64_t word_at(const uint8_t *place, const struct {{ name }}_shape *shape)
{
    uint64_t word = 0;
    uint32_t byte;
    for (byte = 0; byte < shape->element_bytes; ++byte) {
        word |= (uint64_t)place[byte] << 8u * byte;
    }
    if (shape->is_signed != 0 && (word >> (8u * shape->element_bytes - 1u)) != 0) {
        word |= UINT64_MAX << 8u * shape->element_bytes;
    }
    return word & (UINT64_MAX >> (64u - WORD_BITS));
}

static void put_word(uint8_t *place, const struct {{ name }}_shape *shape, uint64_t word)
{
    uint32_t byte;
    for (byte = 0; byte < shape->element_bytes; ++byte) {
        place[byte] = (uint8_t)(word >> 8u * byte);
    }
}

/* Writes an image to its bank. */
static bool write_image(struct {{ name }} *device, const struct {{ name }}_place *place, const struct {{ name }}_image *image)
{
    const struct {{ name }}_shape *shape = &device->program->image[place->image];
    const uint32_t elements = elements_of(shape);
    uint32_t address = {{ name }}_address(place, device->half);
    struct cursor cursor = first_element(shape, image);
    uint64_t rows[ROWS_AT_ONCE];
    uint32_t done = 0;
    while (done < elements) {
        uint32_t word;
        for (word = 0; word < ROWS_AT_ONCE * WORDS && done < elements; ++word, ++done) {
            const uint64_t value = word_at(cursor.place, shape) << word % WORDS * WORD_BITS;
            rows[word / WORDS] = word % WORDS == 0 ? value : rows[word / WORDS] | value;
            go_on(&cursor);
        }
        word = (word + WORDS - 1u) / WORDS;
        if (!device->port.write_rows(device->port.context, address, rows, word)) {
            return false;
        }
        address += word * ROW_BYTES;
    }
    return true;
}

/* Reads an image that is whole in its bank. */
static bool read_image(struct {{ name }} *device, const struct {{ name }}_place *place, unsigned half, const struct {{ name }}_image *image)
{
    const struct {{ name }}_shape *shape = &device->program->image[place->image];
    const uint32_t elements = elements_of(shape);
    uint32_t address = {{ name }}_address(place, half);
    struct cursor cursor = first_element(shape, image);
    uint64_t rows[ROWS_AT_ONCE];
    uint32_t done = 0;
    while (done < elements) {
        const uint32_t left = (elements - done + WORDS - 1u) / WORDS;
        const uint32_t count = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        uint32_t word;
        if (!device->port.read_rows(device->port.context, address, rows, count)) {
            return false;
        }
        for (word = 0; word < count * WORDS && done < elements; ++word, ++done) {
            put_word(cursor.place, shape, rows[word / WORDS] >> word % WORDS * WORD_BITS);
            go_on(&cursor);
        }
        address += count * ROW_BYTES;
    }
    return true;
}

/* Reads the elements of an image that a bank has stored. */
static bool read_part(struct {{ name }} *device, const struct {{ name }}_place *place, unsigned half, const struct {{ name }}_image *image)
{
    const struct {{ name }}_shape *shape = &device->program->image[place->image];
    const uint32_t base = {{ name }}_address(place, half);
    uint32_t index[{{ prefix }}_LEVELS] = {0};
    uint32_t shown = UINT32_MAX;
    uint64_t row = 0;
    int64_t element = place->start;
    uint32_t level;
    do {
        uint32_t left = (uint32_t)element;
        uint8_t *to = (uint8_t *)(uintptr_t)image->address;
        const uint32_t of_row = (uint32_t)element / WORDS;
        uint32_t dimension;
        if (of_row != shown && !device->port.read_rows(device->port.context, base + of_row * ROW_BYTES, &row, 1u)) {
            return false;
        }
        shown = of_row;
        for (dimension = 0; dimension < shape->dimensions; ++dimension) {
            to += (int64_t)stride_of(shape, image, dimension) * (left % shape->size[dimension]);
            left /= shape->size[dimension];
        }
        put_word(to, shape, row >> (uint32_t)element % WORDS * WORD_BITS);
        for (level = 0; level < place->loops; ++level) {
            element += place->stride[level];
            if (++index[level] < place->extent[level]) {
                break;
            }
            element -= (int64_t)place->stride[level] * place->extent[level];
            index[level] = 0;
        }
    } while (level < place->loops);
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
        const int result = job->image[number].address == 0 ? {{ prefix }}_OK : check(shape->size, shape->dimensions, shape->element_bytes, &job->image[number]);
        if (result != {{ prefix }}_OK) {
            return result;
        }
    }
    for (number = 0; number < program->places; ++number) {
        const struct {{ name }}_place *place = &program->place[number];
        const struct {{ name }}_image *image = &job->image[place->image];
        if (program->image[place->image].output == 0 && image->address != 0 && !write_image(device, place, image)) {
            return {{ prefix }}_WRITE_ERROR;
        }
    }
    device->job[device->half] = *job;
    device->half ^= 1u;
    ++device->jobs;
    start(device);
    return {{ prefix }}_OK;
}

int {{ name }}_poll(struct {{ name }} *device)
{
    const struct {{ name }}_program *program = device->program;
    const unsigned half = (device->half + device->jobs) % 2u;
    uint32_t pending;
    uint32_t ended;
    uint32_t number;
    if (device->jobs == 0) {
        return {{ prefix }}_NO_JOB;
    }
    /* Before its end is looked at: the interrupt of the job after it might be what is taken back. */
    pending = get(device, {{ registers }}_INTERRUPT_STATUS_OFFSET);
    if (pending != 0) {
        set(device, {{ registers }}_INTERRUPT_STATUS_OFFSET, pending);
    }
    ended = get(device, {{ registers }}_RUNS_OFFSET) - device->runs;
    if (ended == 0) {
        return {{ prefix }}_RUNNING;
    }
    /* While a job that is over is left, the level stays: ones that are written toggle. */
    if (ended > 1u && pending != 0) {
        set(device, {{ registers }}_INTERRUPT_STATUS_OFFSET, pending);
    }
    ++device->runs;
    --device->jobs;
    device->cycles = get(device, {{ registers }}_LAST_CYCLES_OFFSET);
    for (number = 0; number < program->places; ++number) {
        const struct {{ name }}_place *place = &program->place[number];
        const struct {{ name }}_image *image = &device->job[half].image[place->image];
        if (program->image[place->image].output != 0 && image->address != 0
            && !(place->loops == 0 ? read_image(device, place, half, image) : read_part(device, place, half, image))) {
            return {{ prefix }}_READ_ERROR;
        }
    }
    return {{ prefix }}_OK;
}
