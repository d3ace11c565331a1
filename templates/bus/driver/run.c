{%- let name = plan.driver -%}
{%- let stem = plan.stem -%}
{%- let prefix = self::upper(plan.driver) -%}
/* Runs images from files through the driver and the Verilated shell: `make CHECK=run.c` builds it.
 *
 * Arguments are files of the elements of the images, as they are in memory, in the order of a job: inputs are read, outputs written.
 * Prints a line `tile N of M` as each is over, and at the end the cycles of all, and those in which the hardware ran.
 */
#include <stdio.h>
#include <string.h>

#include "{{ stem }}_tiles.h"
#include "simulation.h"

#define IMAGES {{ plan.tiling.images.len() }}u
/* Where images begin. */
#define ALIGNMENT 4096u
/* Cycles after which a job should be over, by far. */
#define TIMEOUT 1000000000u

/* The images that the hardware writes. */
static const int is_output[IMAGES] = { {%- for image in plan.tiling.images %}{% if !loop.first %}, {% endif %}{% if image.output %}1{% else %}0{% endif %}{% endfor -%} };

/* For each image the first one that is the same array: several streams may read or write one. */
static const unsigned first_of[IMAGES] = { {%- for first in plan.firsts() %}{% if !loop.first %}, {% endif %}{{ first }}{% endfor -%} };

/* Reads or writes the elements of an image: 0 if the file has them. */
static int transfer(const char *path, const struct {{ name }}_image *image, int is_read)
{
    uint8_t *bytes = simulation_memory() + (image->address - SIMULATION_MEMORY);
    FILE *file = fopen(path, is_read ? "rb" : "wb");
    size_t done = 0;
    if (file != NULL) {
        done = is_read ? fread(bytes, 1, (size_t)image->bytes, file) : fwrite(bytes, 1, (size_t)image->bytes, file);
        if (fclose(file) != 0) {
            done = 0;
        }
    }
    if (done != image->bytes) {
        fprintf(stderr, "%s: %lu bytes of %lu\n", path, (unsigned long)done, (unsigned long)image->bytes);
    }
    return done != image->bytes;
}

/* Runs all tiles, two jobs at a time, and adds up the cycles of their runs. */
static int run_tiles(struct {{ name }} *device, const struct {{ name }}_job *whole, uint64_t *busy)
{
    unsigned started = 0;
    unsigned ended = 0;
    int result = {{ prefix }}_OK;
    while (result == {{ prefix }}_OK && ended < {{ self::upper(stem) }}_TILES) {
        if (started < {{ self::upper(stem) }}_TILES && device->jobs < 2) {
            const struct {{ name }}_job job = {{ stem }}_tile(started++, whole);
            result = {{ name }}_submit(device, &job);
        } else {
            result = {{ name }}_wait(device, TIMEOUT);
            *busy += {{ name }}_cycles(device);
            printf("tile %u of %u\n", ++ended, {{ self::upper(stem) }}_TILES);
            fflush(stdout);
        }
    }
    return result;
}

int main(int count, char **arguments)
{
    const struct {{ name }}_port port = SIMULATION_PORT;
    struct {{ name }} device;
    struct {{ name }}_job whole;
    uint64_t place = 0;
    uint64_t busy = 0;
    unsigned image;
    uint32_t begin;
    int result;
    if (count != 1 + (int)IMAGES) {
        fprintf(stderr, "%u files are expected\n", IMAGES);
        return 2;
    }
    memset(&whole, 0, sizeof whole);
    for (image = 0; image < IMAGES; ++image) {
        if (first_of[image] != image) {
            whole.image[image] = whole.image[first_of[image]];
            continue;
        }
        whole.image[image] = {{ stem }}_whole(image, SIMULATION_MEMORY + place);
        place += (whole.image[image].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    if (place > simulation_bytes()) {
        fprintf(stderr, "the images take %lu bytes of memory, and there are %lu\n", (unsigned long)place, (unsigned long)simulation_bytes());
        return 1;
    }
    for (image = 0; image < IMAGES; ++image) {
        if (!is_output[image] && transfer(arguments[1 + image], &whole.image[image], 1) != 0) {
            return 1;
        }
    }
    result = {{ name }}_open(&device, port);
    if (result == {{ prefix }}_OK) {
        result = {{ name }}_configure(&device{% if let Some(program) = plan.program %}, &{{ program }}_program{% endif %});
    }
    begin = simulation_cycles(NULL);
    if (result == {{ prefix }}_OK) {
        {{ name }}_enable_interrupt(&device, true);
        result = run_tiles(&device, &whole, &busy);
    }
    if (result != {{ prefix }}_OK) {
        fprintf(stderr, "%s\n", {{ name }}_text(result));
        return 1;
    }
    for (image = 0; image < IMAGES; ++image) {
        if (is_output[image] && transfer(arguments[1 + image], &whole.image[image], 0) != 0) {
            return 1;
        }
    }
    printf("result: cycles=%lu busy=%lu\n", (unsigned long)(uint32_t)(simulation_cycles(NULL) - begin), (unsigned long)busy);
    return 0;
}
