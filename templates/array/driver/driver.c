{%- let name = names.functions -%}
{%- let prefix = names.results -%}
{%- let registers = names.registers -%}
/* Driver of the configuration of array `{{ spec.name }}` from its global buffer. */
#include "driver.h"

#include <stddef.h>

/* The digest of the array, and the address of the register that has it. */
#define DIGEST 0x{{ "{:08x}"|format(spec.digest_word()) }}u
#define DIGEST_ADDRESS 0x{{ "{:08x}"|format(DIGEST.word()) }}u

/* Rows of a half, of so many bytes. */
#define ROW_BYTES {{ GlobalBufferSpec::ROW_BYTES }}u
#define ROWS ({{ registers }}_BANK_BYTES / 2u / ROW_BYTES)

/* A program begins with the digest of its array. */
static bool is_of_array(const struct {{ name }}_program *program)
{
    return program->words > 0 && program->bitstream[0][0] == DIGEST_ADDRESS && program->bitstream[0][1] == DIGEST;
}

/* Writes the first words of a bitstream. */
static int write_words(struct {{ name }} *device, const struct {{ name }}_program *program, uint32_t words)
{
    uint32_t word;
    if (device->loading) {
        return {{ prefix }}_BUSY;
    }
    if (!is_of_array(program) || words > program->words) {
        return {{ prefix }}_WRONG_PROGRAM;
    }
    for (word = 0; word < words; ++word) {
        if (!device->port.write_register(device->port.context, program->bitstream[word][0], program->bitstream[word][1])) {
            return {{ prefix }}_REFUSED;
        }
    }
    return {{ prefix }}_OK;
}

const char *{{ name }}_text(int result)
{
    switch (result) {
    case {{ prefix }}_OK: return "all is well";
    case {{ prefix }}_LOADING: return "the bitstream is being loaded";
    case {{ prefix }}_TIMEOUT: return "the bitstream was not loaded in time";
    case {{ prefix }}_BUSY: return "a bitstream is loaded already";
    case {{ prefix }}_NO_BITSTREAM: return "there is no bitstream to wait for";
    case {{ prefix }}_WRONG_HARDWARE: return "the hardware is another array";
    case {{ prefix }}_WRONG_PROGRAM: return "the program is of another array, or a half has no room for its rows";
    case {{ prefix }}_REFUSED: return "the array has no such register";
    case {{ prefix }}_WRONG_HEADER: return "there is no bitstream of the array at this row";
    case {{ prefix }}_UNAVAILABLE: return "the half is the array's, or a bitstream is read from it";
    default: return "unknown result";
    }
}

int {{ name }}_open(struct {{ name }} *device, struct {{ name }}_port port)
{
    uint32_t digest = 0;
    device->port = port;
    device->loading = false;
    if (!port.read_register(port.context, DIGEST_ADDRESS, &digest) || digest != DIGEST) {
        return {{ prefix }}_WRONG_HARDWARE;
    }
    return {{ prefix }}_OK;
}

int {{ name }}_configure(struct {{ name }} *device, const struct {{ name }}_program *program)
{
    return write_words(device, program, program->words);
}

int {{ name }}_store(struct {{ name }} *device, const struct {{ name }}_program *program, unsigned half, uint32_t row)
{
    uint32_t number;
    if (!is_of_array(program) || half > 1u || row >= ROWS) {
        return {{ prefix }}_WRONG_PROGRAM;
    }
    for (number = 0; number < program->bank_rows; ++number) {
        if (program->rows[number][0] >= {{ registers }}_BANKS || program->rows[number][1] >= ROWS) {
            return {{ prefix }}_WRONG_PROGRAM;
        }
    }
    for (number = 0; number < program->bank_rows; ++number) {
        const uint32_t *of = program->rows[number];
        const uint32_t address = {{ registers }}_BANK_HALF(of[0], half) + (row + of[1]) % ROWS * ROW_BYTES;
        if (!device->port.write_row(device->port.context, address, (uint64_t)of[3] << 32 | of[2])) {
            return {{ prefix }}_UNAVAILABLE;
        }
    }
    return {{ prefix }}_OK;
}

int {{ name }}_submit(struct {{ name }} *device, const struct {{ name }}_program *program, unsigned half, uint32_t row)
{
    int result;
    if (half > 1u || row >= ROWS) {
        return {{ prefix }}_WRONG_PROGRAM;
    }
    result = write_words(device, program, program->first_words);
    if (result != {{ prefix }}_OK) {
        return result;
    }
    if (!device->port.write_register(device->port.context, {{ registers }}_ALL_BANKS_ADDRESS({{ registers }}_BANK_CONFIGURATION_NUMBER), half * ROWS + row)) {
        return {{ prefix }}_REFUSED;
    }
    device->loading = true;
    return {{ prefix }}_OK;
}

int {{ name }}_poll(struct {{ name }} *device)
{
    uint32_t status = 0;
    if (!device->loading) {
        return {{ prefix }}_NO_BITSTREAM;
    }
    if (!device->port.read_register(device->port.context, {{ registers }}_ALL_BANKS_ADDRESS({{ registers }}_BANK_CONFIGURATION_STATUS_NUMBER), &status)) {
        return {{ prefix }}_REFUSED;
    }
    if ((status & {{ registers }}_BANK_CONFIGURATION_STATUS_BUSY_MASK) != 0) {
        return {{ prefix }}_LOADING;
    }
    device->loading = false;
    if ((status & {{ registers }}_BANK_CONFIGURATION_STATUS_UNAVAILABLE_MASK) != 0) {
        return {{ prefix }}_UNAVAILABLE;
    }
    if ((status & {{ registers }}_BANK_CONFIGURATION_STATUS_WRONG_HEADER_MASK) != 0) {
        return {{ prefix }}_WRONG_HEADER;
    }
    if ((status & {{ registers }}_BANK_CONFIGURATION_STATUS_REFUSED_MASK) != 0) {
        return {{ prefix }}_REFUSED;
    }
    return {{ prefix }}_OK;
}

int {{ name }}_wait(struct {{ name }} *device, uint32_t polls)
{
    int result = {{ name }}_poll(device);
    while (result == {{ prefix }}_LOADING) {
        if (polls == 0) {
            return {{ prefix }}_TIMEOUT;
        }
        --polls;
        if (device->port.wait != NULL) {
            device->port.wait(device->port.context);
        }
        result = {{ name }}_poll(device);
    }
    return result;
}
