{%- let shell = self.0.shell -%}
{%- let prefix = self.0.upper() -%}
{%- let name = self.0.lower() -%}
/* Driver of the array `{{ self.0.array().name }}` behind AXI4: C11 without a library, for firmware and for Linux.
 *
 * It loads a program, a table that `pushmem build --array` writes, and runs jobs of it. A job is one run: an address and strides for each
 * image. Two jobs may be there at a time: while one runs, the arguments of the next are written already, and it starts when the first is
 * over. One thread calls these functions, and none is called from an interrupt. Memory that the processor caches is to be written back
 * before a job is submitted, and invalidated after it, by the caller.
 */
#ifndef PUSHMEM_{{ prefix }}_DRIVER_H
#define PUSHMEM_{{ prefix }}_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../{{ shell.module }}_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Streams into the array and out of it, each a word wide, with a manager each. */
#define {{ prefix }}_READERS {{ self.0.array().tiles().readers }}u
#define {{ prefix }}_WRITERS {{ self.0.array().tiles().writers }}u

/* The most images of a program, their dimensions, and the strides of these: all but the first have one. */
#define {{ prefix }}_IMAGES ({{ prefix }}_READERS + {{ prefix }}_WRITERS)
#define {{ prefix }}_DIMENSIONS {{ ARRAY_DIMENSIONS }}u
#define {{ prefix }}_STRIDES ({{ prefix }}_DIMENSIONS - 1u)

/* Loops of a walk outside of a line. */
#define {{ prefix }}_LEVELS {{ self.0.array().tiles().levels }}u

{% include "driver/parts/results.h" %}

{% include "driver/parts/images.h" %}
/* A stream, by its number in its direction: the value of its register STREAM, which has its IO tile, its beats, and its walk through an image. Starts and steps are
 * elements in each dimension. */
struct {{ name }}_walk {
    uint32_t output;
    uint32_t number;
    uint32_t image;
    uint32_t stream;
    uint32_t beats;
    int32_t start[{{ prefix }}_DIMENSIONS];
    uint32_t last[{{ prefix }}_LEVELS];
    uint32_t size[{{ prefix }}_LEVELS + 1u];
    int32_t steps[{{ prefix }}_LEVELS][{{ prefix }}_DIMENSIONS];
};

/* A program: its bitstream, addresses and data, and its streams. */
struct {{ name }}_program {
    const char *name;
    uint32_t digest;
    uint32_t tail;
    uint32_t writes;
    const uint32_t (*bitstream)[2];
    uint32_t images;
    const struct {{ name }}_shape *image;
    uint32_t walks;
    const struct {{ name }}_walk *walk;
};

struct {{ name }} {
    struct {{ name }}_port port;
    const struct {{ name }}_program *program;
    unsigned jobs;   /* 0, 1 that runs, or 2 with the next one */
    uint32_t failed; /* of the last job that ended: the images that failed, and its cycles */
    uint32_t cycles;
};

/* Connects to the hardware, after a reset of it: whether it is that of this driver. */
int {{ name }}_open(struct {{ name }} *device, struct {{ name }}_port port);

/* Loads a program: after each reset, before its first job. The program must stay where it is. */
int {{ name }}_configure(struct {{ name }} *device, const struct {{ name }}_program *program);

/* An image of a program without gaps, at an address. */
struct {{ name }}_image {{ name }}_dense(const struct {{ name }}_program *program, unsigned image, uint64_t address);

{% include "driver/parts/jobs.h" %}
