{%- let name = names.driver -%}
{%- let prefix = names.prefix() -%}
{%- let program = names.program_name() -%}
/* Loads the program `{{ program }}` into the Verilated array by the driver, and runs the images of the testbench, with gaps between lines,
 * two jobs at a time; then what goes wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "{{ program }}_program.h"
#include "simulation.h"

/* Cycles after which a job should be over, by far. */
#define TIMEOUT (40u * {{ self::upper(program) }}_RUN_CYCLES + 10000u)
/* Elements between lines. */
#define GAP 3u

{% include "driver/parts/expect.c" %}

/* Calls `act` for each element of an image, with its place in memory. */
static void for_each(unsigned number, const struct {{ name }}_image *image, void (*act)(uint8_t *place, uint32_t bytes, unsigned word))
{
    const struct {{ name }}_shape *shape = &{{ program }}_program.image[number];
    char path[256];
    char text[64];
    size_t elements = 1;
    size_t element;
    uint32_t dimension;
    FILE *file;
    snprintf(path, sizeof path, "../testbench/%s.%shex", shape->name, shape->output != 0 ? "expected." : "");
    file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    for (dimension = 0; dimension < shape->dimensions; ++dimension) {
        elements *= shape->size[dimension];
    }
    for (element = 0; element < elements; ++element) {
        size_t left = element;
        int64_t offset = 0;
        for (dimension = 0; dimension < shape->dimensions; ++dimension) {
            offset += (int64_t)(left % shape->size[dimension]) * (dimension == 0 ? (int32_t)shape->element_bytes : image->stride[dimension - 1]);
            left /= shape->size[dimension];
        }
        do {
            if (fscanf(file, "%63s", text) != 1) {
                fprintf(stderr, "%s has too few words\n", path);
                exit(2);
            }
        } while (text[0] == '/' || text[0] == '#');
        act(simulation_memory() + (int64_t)(image->address - SIMULATION_MEMORY) + offset,
            shape->element_bytes, (unsigned)strtoul(text, NULL, 16));
    }
    fclose(file);
}

{% include "driver/parts/words.c" %}

/* Places images of a job one after another from an offset on, with gaps, perhaps with the outermost lines inside of the others; returns
 * the end. */
static uint64_t place_job(struct {{ name }}_job *job, uint64_t offset, bool shrinks)
{
    unsigned number;
    for (number = 0; number < {{ self::upper(program) }}_IMAGES; ++number) {
        const struct {{ name }}_shape *shape = &{{ program }}_program.image[number];
        const uint32_t element = shape->element_bytes;
        struct {{ name }}_image image;
        uint64_t bytes = (uint64_t)element * shape->size[0];
        uint32_t step;
        /* An element after the next even address, which is an odd one for bytes. */
        offset += offset % 2 + element;
        image = {{ name }}_dense(&{{ program }}_program, number, SIMULATION_MEMORY + offset);
        for (step = 1; step < shape->dimensions; ++step) {
            const uint32_t dimension = shrinks ? shape->dimensions - step : step;
            image.stride[dimension - 1] = (int32_t)(bytes + GAP * element);
            bytes = (bytes + GAP * element) * shape->size[dimension];
        }
        image.bytes = bytes;
        job->image[number] = image;
        offset += bytes + GAP * element;
    }
    return offset;
}

static void fill(const struct {{ name }}_job *job, bool outputs)
{
    unsigned number;
    for (number = 0; number < {{ self::upper(program) }}_IMAGES; ++number) {
        if (({{ program }}_program.image[number].output != 0) == outputs) {
            for_each(number, &job->image[number], outputs ? compare : store);
        }
    }
}

{% if names.banks.is_some() -%}
/* The end of a job that is taken by its interrupt alone: the level stays until all jobs that are over were taken. */
static void take_job(struct {{ name }} *device, const char *what)
{
    const uint32_t begin = simulation_cycles(NULL);
    while (simulation_interrupt() == 0 && simulation_cycles(NULL) - begin < TIMEOUT) {
        simulation_wait(NULL);
    }
    expect("interrupt", simulation_interrupt(), 1);
    expect(what, {{ name }}_poll(device), {{ prefix }}_OK);
    if (device->jobs == 0) {
        expect("interrupt", simulation_interrupt(), 0);
    }
}
{%- else -%}
{% include "driver/parts/take_job.c" %}
{%- endif %}

static void run_jobs(struct {{ name }} *device)
{
    struct {{ name }}_job jobs[2];
    uint32_t begin;
    uint32_t both;
    place_job(&jobs[1], place_job(&jobs[0], 0, false), true);
    fill(&jobs[0], false);
    fill(&jobs[1], false);
    begin = simulation_cycles(NULL);
    expect("first job", {{ name }}_submit(device, &jobs[0]), {{ prefix }}_OK);
    expect("next job", {{ name }}_submit(device, &jobs[1]), {{ prefix }}_OK);
    expect("a third job", {{ name }}_submit(device, &jobs[0]), {{ prefix }}_BUSY);
    expect("no time", {{ name }}_wait(device, 1), {{ prefix }}_TIMEOUT);
    expect("configuration in a run", {{ name }}_configure(device, &{{ program }}_program), {{ prefix }}_BUSY);
    take_job(device, "first job");
    fill(&jobs[0], true);
    take_job(device, "next job");
    both = simulation_cycles(NULL) - begin;
    fill(&jobs[1], true);
    expect("no job", {{ name }}_poll(device), {{ prefix }}_NO_JOB);
    printf("two jobs: %zu words compared, %zu wrong; %u cycles, the last run %u\n", compared, wrong, both, {{ name }}_cycles(device));
    failures += wrong != 0;
}

{% if let Some(banks) = names.banks -%}
/* Loads the program from the banks, from the beginning of a half and across the end of the other one. */
static void load_from_banks(struct {{ name }} *device)
{
    const uint32_t rows = {{ banks }}_BANK_BYTES / 2u / 8u;
    unsigned half;
    for (half = 0; half < 2u; ++half) {
        const uint32_t row = half == 0 ? 0 : rows - 1u;
        uint32_t begin;
        expect("store", {{ name }}_store(device, &{{ program }}_program, half, row), {{ prefix }}_OK);
        begin = simulation_cycles(NULL);
        expect("load", {{ name }}_load(device, &{{ program }}_program, half, row, TIMEOUT), {{ prefix }}_OK);
        printf("loaded from the banks in %u cycles\n", simulation_cycles(NULL) - begin);
        run_jobs(device);
    }
    expect("store in a half that is not there", {{ name }}_store(device, &{{ program }}_program, 2u, 0), {{ prefix }}_WRONG_PROGRAM);
    expect("load from a row that is not there", {{ name }}_load(device, &{{ program }}_program, 0, rows, TIMEOUT), {{ prefix }}_WRONG_PROGRAM);
}

/* Bitstreams that are not there, or write to nothing. */
static void load_nothing(struct {{ name }} *device)
{
    static uint32_t rows[{{ banks }}_BANKS + 1u][4];
    struct {{ name }}_program other = {{ program }}_program;
    uint32_t bank;
    for (bank = 0; bank < {{ banks }}_BANKS; ++bank) {
        rows[bank][0] = bank;
        rows[bank][2] = bank == 0 ? 1u : 0u;
        rows[bank][3] = {{ program }}_program.configuration.bitstream[0][1];
    }
    rows[{{ banks }}_BANKS][1] = 1u;
    rows[{{ banks }}_BANKS][3] = 0xfe000000u;
    other.configuration.rows = (const uint32_t (*)[4])rows;
    other.configuration.bank_rows = {{ banks }}_BANKS + 1u;
    expect("store", {{ name }}_store(device, &other, 0, 0), {{ prefix }}_OK);
    expect("a row without tiles", {{ name }}_load(device, &other, 0, 0, TIMEOUT), {{ prefix }}_REFUSED);
    rows[0][3] ^= 1u;
    expect("store", {{ name }}_store(device, &other, 0, 0), {{ prefix }}_OK);
    expect("another header", {{ name }}_load(device, &other, 0, 0, TIMEOUT), {{ prefix }}_WRONG_HEADER);
}

/* Gives a half of the banks that work to the array, beside the driver. */
static void hand_over(uint32_t half)
{
    while ((simulation_read(NULL, {{ prefix }}_CONTROL_OFFSET) & {{ prefix }}_CONTROL_IDLE_MASK) == 0) {
    }
    simulation_write(NULL, {{ prefix }}_ARRAY_ADDRESS_OFFSET, {{ banks }}_ALL_BANKS_ADDRESS({{ banks }}_BANK_HAND_OVER_NUMBER));
    simulation_write(NULL, {{ prefix }}_ARRAY_DATA_OFFSET, 1u << half);
}

/* Halves that are the array's when they should not be, and jobs after it. */
static void refused_halves(struct {{ name }} *device)
{
    struct {{ name }}_program other = {{ program }}_program;
    struct {{ name }}_job job;
    unsigned half;
    place_job(&job, 0, false);
    fill(&job, false);
    expect("configure", {{ name }}_configure(device, &{{ program }}_program), {{ prefix }}_OK);
    hand_over(device->half);
    expect("inputs of a half of the array", {{ name }}_submit(device, &job), {{ prefix }}_WRITE_ERROR);
    expect("a bitstream in a half of the array", {{ name }}_store(device, &{{ program }}_program, device->half, 0), {{ prefix }}_UNAVAILABLE);
    /* Without the write that clears the array. */
    other.configuration.first_words = 1;
    expect("a load from a half of the array", {{ name }}_load(device, &other, device->half, 0, TIMEOUT), {{ prefix }}_UNAVAILABLE);
    expect("configure", {{ name }}_configure(device, &{{ program }}_program), {{ prefix }}_OK);
    half = device->half;
    expect("submit", {{ name }}_submit(device, &job), {{ prefix }}_OK);
    hand_over(half);
    expect("outputs of a half of the array", {{ name }}_wait(device, TIMEOUT), {{ prefix }}_READ_ERROR);
}

/* Images that the caller moves: the driver leaves them. */
static void run_in_place(struct {{ name }} *device)
{
    struct {{ name }}_job job;
    unsigned number;
    unsigned half;
    expect("configure", {{ name }}_configure(device, &{{ program }}_program), {{ prefix }}_OK);
    half = device->half;
    /* A run of the same inputs in each half, then one on what is still there. */
    run_jobs(device);
    memset(&job, 0, sizeof job);
    expect("half", (int)device->half, (int)half);
    expect("submit", {{ name }}_submit(device, &job), {{ prefix }}_OK);
    expect("wait", {{ name }}_wait(device, TIMEOUT), {{ prefix }}_OK);
    for (number = 0; number < {{ program }}_program.places; ++number) {
        uint64_t row;
        expect("rows", simulation_read_rows(NULL, {{ name }}_address(&{{ program }}_program.place[number], half), &row, 1u), true);
    }
}
{%- else -%}
/* An error of memory at an image, after which the next job is right. */
static void run_into_error(struct {{ name }} *device, unsigned number)
{
    const bool output = {{ program }}_program.image[number].output != 0;
    struct {{ name }}_job job;
    place_job(&job, 0, false);
    fill(&job, false);
    job.image[number].address = SIMULATION_MEMORY + SIMULATION_BYTES;
    expect("a job without memory", {{ name }}_submit(device, &job), {{ prefix }}_OK);
    expect("a job without memory", {{ name }}_wait(device, TIMEOUT), output ? {{ prefix }}_WRITE_ERROR : {{ prefix }}_READ_ERROR);
    expect("the image without memory", (int){{ name }}_failed(device), 1 << number);
    place_job(&job, 0, false);
    expect("the job after it", {{ name }}_submit(device, &job), {{ prefix }}_OK);
    expect("the job after it", {{ name }}_wait(device, TIMEOUT), {{ prefix }}_OK);
    fill(&job, true);
    failures += wrong != 0;
}
{%- endif %}

/* Jobs and programs that are refused. */
static void refused(struct {{ name }} *device)
{
    struct {{ name }}_program other = {{ program }}_program;
    struct {{ name }}_job job;
    unsigned number;
    for (number = 0; number < {{ self::upper(program) }}_IMAGES; ++number) {
        if ({{ program }}_program.image[number].element_bytes > 1) {
            place_job(&job, 0, false);
            ++job.image[number].address;
            expect("an odd address", {{ name }}_submit(device, &job), {{ prefix }}_MISALIGNED);
        }
    }
    place_job(&job, 0, false);
    job.image[0].bytes = 0;
    expect("too little memory", {{ name }}_submit(device, &job), {{ prefix }}_WRONG_SIZE);
{%- if names.banks.is_some() %}
    other.configuration.words = 0;
{%- else %}
    other.digest ^= 1u;
{%- endif %}
    expect("a program of another array", {{ name }}_configure(device, &other), {{ prefix }}_WRONG_PROGRAM);
    expect("a job without a program", {{ name }}_submit(device, &job), {{ prefix }}_NO_PROGRAM);
}

{% include "driver/parts/other_hardware.c" %}

int main(void)
{
    const struct {{ name }}_port port = SIMULATION_PORT;
    struct {{ name }}_port other = port;
    struct {{ name }} device;
{%- if names.banks.is_none() %}
    unsigned number;
{%- endif %}
    other.read = other_hardware;
    expect("other hardware", {{ name }}_open(&device, other), {{ prefix }}_WRONG_HARDWARE);
    expect("open", {{ name }}_open(&device, port), {{ prefix }}_OK);
    expect("configure", {{ name }}_configure(&device, &{{ program }}_program), {{ prefix }}_OK);
    {{ name }}_enable_interrupt(&device, true);
    memset(simulation_memory(), 0xa5, SIMULATION_BYTES);
    run_jobs(&device);
{%- if names.banks.is_some() %}
    load_from_banks(&device);
    load_nothing(&device);
    refused_halves(&device);
    run_in_place(&device);
{%- else %}
    for (number = 0; number < {{ self::upper(program) }}_IMAGES; ++number) {
        run_into_error(&device, number);
    }
{%- endif %}
    refused(&device);
    /* A program that is loaded again, over itself. */
    expect("configure again", {{ name }}_configure(&device, &{{ program }}_program), {{ prefix }}_OK);
    run_jobs(&device);
    printf("%s\n", failures == 0 ? "PASS" : "FAIL");
    return failures == 0 ? 0 : 1;
}
