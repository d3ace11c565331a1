// Verilator harness of the self-test of `{{ top }}`, whose SRAM is one with faults (faulty_sram.sv).
//
// It reads a record with a fault from standard input, runs the self-test, and writes a record of what it found to standard
// output, until there are no more.
//
// Input record:  u32 for each variable of the fault, in the order of `put`.
// Output record: u32 cycles in which it was busy, u32 flags (done: bit 0, fail: bit 1), u32 failing address, u32 for each 32 failing
//                bits, the lowest first.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "Vtile.h"
#include "Vtile___024root.h"
#include "verilated.h"

namespace {

// A self-test that is twice as long as it should be does not end.
constexpr uint32_t LIMIT = {{ shape.cycles() * 2 }};
constexpr uint32_t VARIABLES = 11;
constexpr uint32_t WORDS = {{ shape.width.div_ceil(32) }};

void clock(Vtile& tile) {
    tile.clk_i = 0;
    tile.eval();
    tile.clk_i = 1;
    tile.eval();
}

void put(Vtile& tile, const uint32_t (&fault)[VARIABLES]) {
    Vtile___024root& root = *tile.rootp;
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_kind = fault[0];
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_row = fault[1];
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_bit = fault[2];
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_by_row = fault[3];
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_by_bit = fault[4];
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_when = fault[5];
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_value = fault[6];
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_other = fault[7];
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_writers = fault[8];
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_readers = fault[9];
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_loads = 2 | fault[10];
    clock(tile);
    root.{{ top }}__DOT__u_sram__DOT__u_sram__DOT__fault_loads = 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::unique_ptr<VerilatedContext> context{new VerilatedContext};
    context->commandArgs(argc, argv);
    // Unwritten registers hold arbitrary bits, as in silicon.
    context->randReset(2);
    context->randSeed(1);
    const std::unique_ptr<Vtile> tile{new Vtile{context.get(), "tile"}};
    std::FILE* const records = fdopen(dup(STDOUT_FILENO), "wb");
    dup2(STDERR_FILENO, STDOUT_FILENO);

    tile->flush_i = 0;
    tile->stall_i = 1;
    tile->config_write_i = 0;
    tile->config_read_i = 0;
    tile->bist_start_i = 0;
{%- if spec.clock_gating %}
    tile->test_enable_i = 0;
{%- endif %}
    // An asynchronous reset acts on its falling edge, so there must be one.
    tile->rst_ni = 1;
    tile->clk_i = 0;
    tile->eval();
    tile->rst_ni = 0;
    clock(*tile);
    tile->rst_ni = 1;

    uint32_t fault[VARIABLES];
    uint32_t found[3 + WORDS];
    while (std::fread(fault, sizeof fault, 1, stdin) == 1) {
        put(*tile, fault);
        tile->bist_start_i = 1;
        clock(*tile);
        tile->bist_start_i = 0;
        uint32_t cycles = 0;
        while (tile->bist_busy_o && cycles < LIMIT) {
            clock(*tile);
            cycles++;
        }
        found[0] = cycles;
        found[1] = uint32_t(tile->bist_done_o) | uint32_t(tile->bist_fail_o) << 1;
        found[2] = tile->bist_fail_address_o;
        for (uint32_t word = 0; word < WORDS; word++) {
{%- if shape.width > 64 %}
            found[3 + word] = tile->bist_fail_bits_o[word];
{%- else %}
            found[3 + word] = uint64_t(tile->bist_fail_bits_o) >> (32 * word);
{%- endif %}
        }
        if (std::fwrite(found, sizeof found, 1, records) != 1) return 1;
    }
    tile->final();
    std::fflush(records);
    return 0;
}
