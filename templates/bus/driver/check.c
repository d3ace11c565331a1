{%- let shell = description.shell -%}
{%- let prefix = description.upper() -%}
{%- let name = description.lower() -%}
/* Runs the images of the testbench through the driver and the Verilated shell, with gaps between lines, two jobs at a time; then what
 * goes wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../{{ shell.accelerator }}.h"
#include "{{ name }}_driver.h"
#include "simulation.h"

/* Cycles after which a job should be over, by far. */
#define TIMEOUT (20u * {{ description.accelerator_upper() }}_RUN_CYCLES + 10000u)
/* Elements between lines. */
#define GAP 3u

{% include "driver/parts/expect.c" %}

/* A stream of the testbench, and the place of its words. */
struct stream {
    unsigned image;
    const char *file;
    size_t beats;
    size_t lanes;
    size_t (*element)(size_t beat, size_t lane);
};

static const struct stream streams[{{ prefix }}_IMAGES] = {
{%- for image in shell.images %}
{%- let stream = description.stream_upper(image) %}
    {{ "{" }}{{ prefix }}_{{ self::upper(image.name) }}, "../testbench/{{ image.name }}.{% if image.output %}expected.{% endif %}hex",
     {{ stream }}_BEATS, {{ stream }}_LANES, {{ description.stream_lower(image) }}_element},
{%- endfor %}
};

/* The offset of an element from the address of its image. */
static int64_t offset_of(unsigned number, const struct {{ name }}_image *image, size_t element)
{
    int64_t offset = 0;
    uint32_t dimension;
    for (dimension = 0; dimension < {{ name }}_dimensions[number]; ++dimension) {
        const uint32_t size = {{ name }}_shape[number][dimension];
        offset += (int64_t)(element % size) * (dimension == 0 ? (int32_t){{ name }}_element_bytes[number] : image->stride[dimension - 1]);
        element /= size;
    }
    return offset;
}

/* Calls `act` for each word of a stream, with its place in memory. */
static void for_each(const struct stream *stream, const struct {{ name }}_image *image, void (*act)(uint8_t *place, uint32_t bytes, unsigned word))
{
    FILE *file = fopen(stream->file, "r");
    size_t beat;
    size_t lane;
    char text[64];
    if (file == NULL) {
        perror(stream->file);
        exit(2);
    }
    for (beat = 0; beat < stream->beats; ++beat) {
        for (lane = 0; lane < stream->lanes; ++lane) {
            const int64_t offset = offset_of(stream->image, image, stream->element(beat, lane));
            do {
                if (fscanf(file, "%63s", text) != 1) {
                    fprintf(stderr, "%s has too few words\n", stream->file);
                    exit(2);
                }
            } while (text[0] == '/' || text[0] == '#');
            act(simulation_memory() + (int64_t)(image->address - SIMULATION_MEMORY) + offset,
                {{ name }}_element_bytes[stream->image], (unsigned)strtoul(text, NULL, 16));
        }
    }
    fclose(file);
}

{% include "driver/parts/words.c" %}

/* Places images of a job one after another from an offset on, with gaps; returns the end. */
static uint64_t place_job(struct {{ name }}_job *job, uint64_t offset)
{
    unsigned number;
    for (number = 0; number < {{ prefix }}_IMAGES; ++number) {
        const uint32_t element = {{ name }}_element_bytes[number];
        struct {{ name }}_image image;
        uint64_t bytes = (uint64_t)element * {{ name }}_shape[number][0];
        uint32_t dimension;
        /* An element after the next even address, which is an odd one for bytes. */
        offset += offset % 2 + element;
        image = {{ name }}_dense(number, SIMULATION_MEMORY + offset);
        for (dimension = 1; dimension < {{ name }}_dimensions[number]; ++dimension) {
            image.stride[dimension - 1] = (int32_t)(bytes + GAP * element);
            bytes = (bytes + GAP * element) * {{ name }}_shape[number][dimension];
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
    for (number = 0; number < {{ prefix }}_IMAGES; ++number) {
        if ((strstr(streams[number].file, ".expected.") != NULL) == outputs) {
            for_each(&streams[number], &job->image[number], outputs ? compare : store);
        }
    }
}

{% include "driver/parts/take_job.c" %}

static void run_jobs(struct {{ name }} *device)
{
    struct {{ name }}_job jobs[2];
    uint32_t begin;
    uint32_t both;
    place_job(&jobs[1], place_job(&jobs[0], 0));
    fill(&jobs[0], false);
    fill(&jobs[1], false);
    begin = simulation_cycles(NULL);
    expect("first job", {{ name }}_submit(device, &jobs[0]), {{ prefix }}_OK);
    expect("next job", {{ name }}_submit(device, &jobs[1]), {{ prefix }}_OK);
    expect("a third job", {{ name }}_submit(device, &jobs[0]), {{ prefix }}_BUSY);
    expect("configuration in a run", {{ name }}_configure(device), {{ prefix }}_BUSY);
    expect("no time", {{ name }}_wait(device, 1), {{ prefix }}_TIMEOUT);
    take_job(device, "first job");
    fill(&jobs[0], true);
    take_job(device, "next job");
    both = simulation_cycles(NULL) - begin;
    fill(&jobs[1], true);
    expect("no job", {{ name }}_poll(device), {{ prefix }}_NO_JOB);
    printf("two jobs: %zu words compared, %zu wrong; %u cycles, the last run %u\n", compared, wrong, both, {{ name }}_cycles(device));
    failures += wrong != 0;
}

/* An error of memory at an image, after which the next job is right. */
static void run_into_error(struct {{ name }} *device, unsigned number, int expected)
{
    struct {{ name }}_job job;
    place_job(&job, 0);
    fill(&job, false);
    job.image[number].address = SIMULATION_MEMORY + SIMULATION_BYTES;
    expect("a job without memory", {{ name }}_submit(device, &job), {{ prefix }}_OK);
    expect("a job without memory", {{ name }}_wait(device, TIMEOUT), expected);
    expect("the image without memory", (int){{ name }}_failed(device), 1 << number);
    printf("image %u without memory: %s\n", number, {{ name }}_text(expected));
    place_job(&job, 0);
    expect("the job after it", {{ name }}_submit(device, &job), {{ prefix }}_OK);
    expect("the job after it", {{ name }}_wait(device, TIMEOUT), {{ prefix }}_OK);
    fill(&job, true);
    failures += wrong != 0;
}

static void refused_jobs(struct {{ name }} *device)
{
    struct {{ name }}_job job;
    unsigned number;
    for (number = 0; number < {{ prefix }}_IMAGES; ++number) {
        if ({{ name }}_element_bytes[number] > 1) {
            place_job(&job, 0);
            ++job.image[number].address;
            expect("an odd address", {{ name }}_submit(device, &job), {{ prefix }}_MISALIGNED);
        }
    }
    place_job(&job, 0);
    job.image[0].bytes -= GAP * {{ name }}_element_bytes[0];
    expect("too little memory", {{ name }}_submit(device, &job), {{ name }}_dimensions[0] == 1 ? {{ prefix }}_WRONG_SIZE : {{ prefix }}_OK);
    if ({{ name }}_dimensions[0] > 1) {
        expect("gaps need no memory after the last line", {{ name }}_wait(device, TIMEOUT), {{ prefix }}_OK);
        job.image[0].bytes = {{ name }}_element_bytes[0];
        expect("too little memory", {{ name }}_submit(device, &job), {{ prefix }}_WRONG_SIZE);
        place_job(&job, 0);
        job.image[0].stride[0] = (int32_t){{ name }}_element_bytes[0];
        expect("lines that overlap", {{ name }}_submit(device, &job), {{ name }}_shape[0][0] > 1 ? {{ prefix }}_WRONG_SIZE : {{ prefix }}_OK);
    }
}

{% include "driver/parts/other_hardware.c" %}

int main(void)
{
    const struct {{ name }}_port port = SIMULATION_PORT;
    struct {{ name }}_port other = port;
    struct {{ name }} device;
    unsigned number;
    other.read = other_hardware;
    expect("other hardware", {{ name }}_open(&device, other), {{ prefix }}_WRONG_HARDWARE);
    expect("open", {{ name }}_open(&device, port), {{ prefix }}_OK);
    expect("configure", {{ name }}_configure(&device), {{ prefix }}_OK);
    {{ name }}_enable_interrupt(&device, true);
    memset(simulation_memory(), 0xa5, SIMULATION_BYTES);
    run_jobs(&device);
    for (number = 0; number < {{ prefix }}_IMAGES; ++number) {
        const bool output = strstr(streams[number].file, ".expected.") != NULL;
        run_into_error(&device, number, output ? {{ prefix }}_WRITE_ERROR : {{ prefix }}_READ_ERROR);
    }
    refused_jobs(&device);
    printf("%s\n", failures == 0 ? "PASS" : "FAIL");
    return failures == 0 ? 0 : 1;
}
