{%- let spec = driver.spec -%}
{%- let name = driver.names.functions -%}
{%- let prefix = driver.names.results -%}
{%- let registers = driver.names.registers -%}
{%- let program = driver.run.program -%}
{%- let program_prefix = self::upper(program) -%}
/* Runs the program `{{ program }}` on the Verilated array, loaded word by word and from the banks, and each error of the driver. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../{{ program }}.h"
#include "driver.h"
#include "simulation.h"

#define ROWS ({{ registers }}_BANK_BYTES / 2u / {{ GlobalBufferSpec::ROW_BYTES }}u)
/* Cycles after which a run has failed. */
#define LIMIT {{ 2 * driver.run.cycles + 1000 }}L
#define POLLS 10000u

static const struct {{ name }}_program program = {
    {{ program }}_bitstream, {{ program_prefix }}_BITSTREAM_WORDS, {{ program_prefix }}_FIRST_WORDS, {{ program }}_bank_rows, {{ program_prefix }}_BANK_ROWS};

/* Rows of images: the address of each in half 0, which of its words count, and the row. */
struct row {
    uint32_t address;
    unsigned words;
    uint64_t row;
};
static struct row loaded[{{ driver.run.loaded }}u], stored[{{ driver.run.stored }}u];

static void read_rows(const char *path, struct row *rows, size_t count)
{
    FILE *file = fopen(path, "r");
    size_t number;
    for (number = 0; number < count; ++number) {
        struct row *row = &rows[number];
        if (file == NULL || fscanf(file, "%" SCNx32 " %x %" SCNx64, &row->address, &row->words, &row->row) != 3) {
            printf("%s has no row %u\n", path, (unsigned)number);
            exit(1);
        }
    }
    fclose(file);
}

static void expect(const char *what, int found, int expected)
{
    if (found != expected) {
        printf("%s: %s, expected: %s\n", what, {{ name }}_text(found), {{ name }}_text(expected));
        exit(1);
    }
}

/* Images are written, halves handed over, and the images compared that the banks have stored. Halves take turns from run to run. */
static void run(const char *what)
{
    static unsigned runs = 0;
    const unsigned half = runs++ % 2u;
    const uint32_t offset = half * ({{ registers }}_BANK_BYTES / 2u);
    struct {{ name }}_port port = simulation_port();
    unsigned number, word;
    long cycles;
    for (number = 0; number < {{ driver.run.loaded }}u; ++number) {
        if (!port.write_row(port.context, loaded[number].address + offset, loaded[number].row)) {
            printf("%s: a row of an image was refused\n", what);
            exit(1);
        }
    }
    port.write_register(port.context, {{ registers }}_ALL_BANKS_ADDRESS({{ registers }}_BANK_HAND_OVER_NUMBER), 1u << half);
    cycles = simulation_run(LIMIT);
    if (cycles < 0) {
        printf("%s: the run does not end\n", what);
        exit(1);
    }
    for (number = 0; number < {{ driver.run.stored }}u; ++number) {
        uint64_t found = 0, mask = 0;
        for (word = 0; word < {{ spec.words_per_row() }}u; ++word) {
            mask |= (stored[number].words >> word & 1u) != 0 ? {{ driver.word_mask() }} << (word * {{ spec.word_bits() }}u) : 0;
        }
        if (!simulation_read_row(stored[number].address + offset, &found) || ((found ^ stored[number].row) & mask) != 0) {
            printf("%s: row %" PRIx32 " is %" PRIx64 ", expected %" PRIx64 "\n", what, stored[number].address, found, stored[number].row);
            exit(1);
        }
    }
    printf("%s: the images are as expected, %ld cycles\n", what, cycles);
}

static bool read_nothing(void *context, uint32_t address, uint32_t *data)
{
    (void)context;
    (void)address;
    *data = 0;
    return true;
}

int main(void)
{
    struct {{ name }} device;
    struct {{ name }}_port other = simulation_port();
    struct {{ name }}_program wrong = program;
    static uint32_t digest[1][2], rows[{{ registers }}_BANKS + 1u][4];
    uint32_t bank;
    unsigned half;
    long begin;
    read_rows("../testbench/loaded.hex", loaded, {{ driver.run.loaded }}u);
    read_rows("../testbench/stored.expected.hex", stored, {{ driver.run.stored }}u);

    other.read_register = read_nothing;
    expect("another array", {{ name }}_open(&device, other), {{ prefix }}_WRONG_HARDWARE);
    expect("open", {{ name }}_open(&device, simulation_port()), {{ prefix }}_OK);
    expect("wait for nothing", {{ name }}_wait(&device, POLLS), {{ prefix }}_NO_BITSTREAM);
    begin = simulation_cycles();
    expect("configure", {{ name }}_configure(&device, &program), {{ prefix }}_OK);
    printf("word by word: %ld cycles, each word with its answer\n", simulation_cycles() - begin);
    run("word by word");

    for (half = 0; half < 2; ++half) {
        /* The first time at the beginning of a half, the second time across its end. */
        const uint32_t row = half == 0 ? 0 : ROWS - 1u;
        expect("store", {{ name }}_store(&device, &program, half, row), {{ prefix }}_OK);
        begin = simulation_cycles();
        expect("submit", {{ name }}_submit(&device, &program, half, row), {{ prefix }}_OK);
        if (half == 0) {
            expect("submit twice", {{ name }}_submit(&device, &program, half, row), {{ prefix }}_BUSY);
            expect("configure meanwhile", {{ name }}_configure(&device, &program), {{ prefix }}_BUSY);
            expect("store meanwhile", {{ name }}_store(&device, &program, half, row), {{ prefix }}_UNAVAILABLE);
            expect("poll at once", {{ name }}_wait(&device, 0), {{ prefix }}_TIMEOUT);
        }
        expect("wait", {{ name }}_wait(&device, POLLS), {{ prefix }}_OK);
        printf("from the banks: %ld cycles with all polls\n", simulation_cycles() - begin);
        run("from the banks");
    }

    /* Bitstreams with nothing but a header, but for one write to a row without tiles. */
    for (bank = 0; bank < {{ registers }}_BANKS; ++bank) {
        rows[bank][0] = bank;
        rows[bank][2] = bank == 0 ? 1u : 0u;
        rows[bank][3] = program.bitstream[0][1];
    }
    rows[{{ registers }}_BANKS][1] = 1u;
    rows[{{ registers }}_BANKS][3] = 0xfe000000u;
    wrong.rows = (const uint32_t (*)[4])rows;
    wrong.bank_rows = {{ registers }}_BANKS + 1u;
    expect("store", {{ name }}_store(&device, &wrong, 0, 0), {{ prefix }}_OK);
    expect("submit", {{ name }}_submit(&device, &wrong, 0, 0), {{ prefix }}_OK);
    expect("a row without tiles", {{ name }}_wait(&device, POLLS), {{ prefix }}_REFUSED);
    rows[0][3] ^= 1u;
    expect("store", {{ name }}_store(&device, &wrong, 0, 0), {{ prefix }}_OK);
    expect("submit", {{ name }}_submit(&device, &wrong, 0, 0), {{ prefix }}_OK);
    expect("another digest in a header", {{ name }}_wait(&device, POLLS), {{ prefix }}_WRONG_HEADER);
    rows[0][1] = ROWS;
    expect("too many rows", {{ name }}_store(&device, &wrong, 0, 0), {{ prefix }}_WRONG_PROGRAM);

    /* Without a clear, a half that was handed over stays with the array. */
    wrong.first_words = 1;
    other = simulation_port();
    other.write_register(other.context, {{ registers }}_ALL_BANKS_ADDRESS({{ registers }}_BANK_CONTROL_NUMBER), {{ registers }}_BANK_CONTROL_ENABLE_LOAD_MASK);
    other.write_register(other.context, {{ registers }}_ALL_BANKS_ADDRESS({{ registers }}_BANK_HAND_OVER_NUMBER), 2u);
    expect("store in a half of the array", {{ name }}_store(&device, &program, 1, 0), {{ prefix }}_UNAVAILABLE);
    expect("submit", {{ name }}_submit(&device, &wrong, 1, 0), {{ prefix }}_OK);
    expect("a half of the array", {{ name }}_wait(&device, POLLS), {{ prefix }}_UNAVAILABLE);
    digest[0][0] = program.bitstream[0][0];
    digest[0][1] = program.bitstream[0][1] ^ 1u;
    wrong.bitstream = (const uint32_t (*)[2])digest;
    wrong.words = 1;
    expect("a program of another array", {{ name }}_submit(&device, &wrong, 0, 0), {{ prefix }}_WRONG_PROGRAM);

    /* All is well after each of them. */
    expect("submit", {{ name }}_store(&device, &program, 0, 0), {{ prefix }}_OK);
    expect("submit", {{ name }}_submit(&device, &program, 0, 0), {{ prefix }}_OK);
    expect("wait", {{ name }}_wait(&device, POLLS), {{ prefix }}_OK);
    run("after errors");
    printf("%s\n", {{ name }}_text({{ prefix }}_OK));
    return 0;
}
