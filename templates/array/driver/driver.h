{%- let name = names.functions -%}
{%- let prefix = names.results -%}
/* Driver of the configuration of array `{{ spec.name }}` from its global buffer: C11 without a library, for firmware and for Linux.
 *
 * The rows of a program are stored in the banks, in any half that is the host's, while another program runs or long before. Then its bitstream is
 * submitted, which all banks load at a time, and waited for. One thread calls these functions, and none is called from an interrupt. Where they say that time
 * stands still, the caller holds `stall_i` high.
 */
#ifndef PUSHMEM_{{ prefix }}_DRIVER_H
#define PUSHMEM_{{ prefix }}_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "registers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Results of functions: 0 when all is well, a positive number when there is more to wait for, a negative one when something is wrong. */
enum {{ name }}_result {
    {{ prefix }}_OK = 0,
    {{ prefix }}_LOADING = 1,
    {{ prefix }}_TIMEOUT = -1,        /* the bitstream was not loaded in time; it is still loaded */
    {{ prefix }}_BUSY = -2,           /* a bitstream is loaded already */
    {{ prefix }}_NO_BITSTREAM = -3,   /* there is none to wait for */
    {{ prefix }}_WRONG_HARDWARE = -4, /* the digest is that of another array */
    {{ prefix }}_WRONG_PROGRAM = -5,  /* the program is of another array, or a half has no room for its rows */
    {{ prefix }}_REFUSED = -6,        /* the array has no such register: of an access, or of a write of the bitstream */
    {{ prefix }}_WRONG_HEADER = -7,   /* there is no bitstream of the array at this row */
    {{ prefix }}_UNAVAILABLE = -8     /* the half is the array's, or a bitstream is read from it */
};

/* A result in a few words. */
const char *{{ name }}_text(int result);

/* How the driver reaches the array. Accesses tell whether they had an answer without an error. */
struct {{ name }}_port {
    bool (*read_register)(void *context, uint32_t address, uint32_t *data);
    bool (*write_register)(void *context, uint32_t address, uint32_t data);
    /* All words of a row of the banks, by its byte address. */
    bool (*write_row)(void *context, uint32_t address, uint64_t row);
    /* Waits for some time; NULL: registers are polled without a pause. */
    void (*wait)(void *context);
    void *context;
};

/* A program: tables and numbers of the header that `pushmem build` writes for it. */
struct {{ name }}_program {
    const uint32_t (*bitstream)[2];
    uint32_t words;
    /* Words that come first through the configuration port. */
    uint32_t first_words;
    const uint32_t (*rows)[4];
    uint32_t bank_rows;
};

struct {{ name }} {
    struct {{ name }}_port port;
    bool loading;
};

/* Connects to the array: whether it is that of this driver. */
int {{ name }}_open(struct {{ name }} *device, struct {{ name }}_port port);

/* Loads a program word by word, while time stands still. */
int {{ name }}_configure(struct {{ name }} *device, const struct {{ name }}_program *program);

/* Writes the rows of a program to a half of the banks, from a row on; row 0 follows the last one. Time need not stand still. */
int {{ name }}_store(struct {{ name }} *device, const struct {{ name }}_program *program, unsigned half, uint32_t row);

/* Begins to load a program that was stored there, while time stands still: {{ prefix }}_BUSY if one is loaded already. All columns are cleared before. */
int {{ name }}_submit(struct {{ name }} *device, const struct {{ name }}_program *program, unsigned half, uint32_t row);

/* Whether the program that was submitted is loaded, and how that ended. */
int {{ name }}_poll(struct {{ name }} *device);

/* Waits for that, for so many polls at most. */
int {{ name }}_wait(struct {{ name }} *device, uint32_t polls);

#ifdef __cplusplus
}
#endif

#endif
