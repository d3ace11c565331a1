/* What the firmware of the test is made of: the hardware by the names of its driver, and words to compare with. The files `hardware.h` and
 * `words.c` are written for each test by soc.py. */
#ifndef PUSHMEM_TEST_FIRMWARE_H
#define PUSHMEM_TEST_FIRMWARE_H

#include <stddef.h>
#include <stdint.h>

#include "hardware.h"

/* The words of a stream of the testbench, and the element of the image that each is. */
struct words {
    unsigned image;
    int output;
    const uint16_t *words;
    size_t beats;
    size_t lanes;
    size_t (*element)(size_t beat, size_t lane);
};

/* A program with its images: bytes of an element, and elements in each dimension, the innermost first. `program` is what an array loads. */
struct test {
    const char *name;
    const void *program;
    uint32_t cycles;
    unsigned images;
    const uint32_t *element_bytes;
    const uint32_t *dimensions;
    const uint32_t (*shape)[MOST_DIMENSIONS];
    const struct words *words;
};

extern const struct test tests[];
extern const unsigned test_count;

/* Runs them; returns the number of failures. */
int run_tests(void);
/* The handler of its interrupt. */
void take_interrupt(void);
void say(const char *text);

#endif
