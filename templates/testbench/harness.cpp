// Verilator harness of the memory tile `{{ spec.name }}`.
//
// It knows nothing about tiles: it reads one record of input values a cycle from standard input, and writes one record
// of output values a cycle to standard output. Who runs it decides what to send and knows what to expect, so one build
// serves every configuration.
//
// Input record:  u32 control (bits below), u32 configuration address, u32 configuration data, u32 end of batch,
//                u64 for each data input{% if spec.chaining %}, u64 for each chain input{% endif %}.
// Output record: u32 flags (valid of output N: bit N, taken of input N: bit 4+N, stencil valid: bit 8,
//                self-test busy, done, fail: bits 9, 10, 11, configuration error: bit 12),
//                u32 configuration data, u64 for each data output.
// Outputs are sampled before the rising clock edge that ends the cycle.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "Vtile.h"
#include "verilated.h"
{%- if wave %}
#include "verilated_fst_c.h"
{%- endif %}

namespace {

constexpr uint32_t RESET_N = 1u << 0;
constexpr uint32_t FLUSH = 1u << 1;
constexpr uint32_t STALL = 1u << 2;
constexpr uint32_t CONFIG_WRITE = 1u << 3;
constexpr uint32_t CONFIG_READ = 1u << 4;
constexpr uint32_t NO_ASSERTIONS = 1u << 5;
{%- if spec.bist %}
constexpr uint32_t BIST_START = 1u << 6;
{%- endif %}

struct Input {
    uint32_t control;
    uint32_t config_address;
    uint32_t config_data;
    uint32_t end_of_batch;
    uint64_t data[{{ spec.inputs }}];
{%- if spec.chaining %}
    uint64_t chain[{{ spec.outputs }}];
{%- endif %}
};

struct Output {
    uint32_t flags;
    uint32_t config_data;
    uint64_t data[{{ spec.outputs }}];
};

void drive(Vtile& tile, const Input& input) {
    tile.rst_ni = (input.control & RESET_N) != 0;
    tile.flush_i = (input.control & FLUSH) != 0;
    tile.stall_i = (input.control & STALL) != 0;
    tile.config_write_i = (input.control & CONFIG_WRITE) != 0;
    tile.config_read_i = (input.control & CONFIG_READ) != 0;
{%- if spec.bist %}
    tile.bist_start_i = (input.control & BIST_START) != 0;
{%- endif %}
    tile.config_address_i = input.config_address;
    tile.config_write_data_i = input.config_data;
{%- for i in 0..spec.inputs %}
    tile.{{ input_stem }}_{{ i }}_i = input.data[{{ i }}];
{%- endfor %}
{%- if spec.chaining %}
{%- for o in 0..spec.outputs %}
    tile.chain_in_{{ o }}_i = input.chain[{{ o }}];
{%- endfor %}
{%- endif %}
}

void sample(const Vtile& tile, Output& output) {
    output.flags = 0;
{%- for o in 0..spec.outputs %}
    output.flags |= uint32_t(tile.data_out_{{ o }}_valid_o) << {{ o }};
    output.data[{{ o }}] = tile.data_out_{{ o }}_o;
{%- endfor %}
{%- for i in 0..spec.inputs %}
    output.flags |= uint32_t(tile.data_in_{{ i }}_taken_o) << {{ i + 4 }};
{%- endfor %}
{%- if spec.stencil_valid %}
    output.flags |= uint32_t(tile.stencil_valid_o) << 8;
{%- endif %}
{%- if spec.bist %}
    output.flags |= uint32_t(tile.bist_busy_o) << 9 | uint32_t(tile.bist_done_o) << 10 | uint32_t(tile.bist_fail_o) << 11;
{%- endif %}
    output.flags |= uint32_t(tile.config_error_o) << 12;
    output.config_data = tile.config_read_data_o;
}

}  // namespace

int main(int argc, char** argv) {
    const std::unique_ptr<VerilatedContext> context{new VerilatedContext};
    context->commandArgs(argc, argv);
    // Unwritten memories hold arbitrary bits, as in silicon.
    context->randReset(2);
    context->randSeed(1);
{%- if wave %}
    context->traceEverOn(true);
{%- endif %}
    const std::unique_ptr<Vtile> tile{new Vtile{context.get(), "top"}};
{%- if wave %}
    VerilatedFstC wave;
    tile->trace(&wave, 99);
    wave.open(argv[1]);
    if (!wave.isOpen()) {
        std::fprintf(stderr, "cannot write %s\n", argv[1]);
        return 1;
    }
{%- endif %}
    // Verilator prints messages on standard output; records have it for themselves.
    std::FILE* const records = fdopen(dup(STDOUT_FILENO), "wb");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    std::vector<char> in_buffer(1 << 16), out_buffer(1 << 16);
    std::setvbuf(stdin, in_buffer.data(), _IOFBF, in_buffer.size());
    std::setvbuf(records, out_buffer.data(), _IOFBF, out_buffer.size());

    // An asynchronous reset acts on its falling edge, so there must be one.
    tile->rst_ni = 1;
{%- if spec.clock_gating %}
    tile->test_enable_i = 0;
{%- endif %}
    tile->clk_i = 0;
    tile->eval();

    Input input;
    Output output;
    std::memset(&output, 0, sizeof output);
    while (std::fread(&input, sizeof input, 1, stdin) == 1) {
        context->assertOn((input.control & NO_ASSERTIONS) == 0);
        tile->clk_i = 0;
        drive(*tile, input);
        tile->eval();
        sample(*tile, output);
{%- if wave %}
        wave.dump(context->time());
{%- endif %}
        context->timeInc(5);
        tile->clk_i = 1;
        tile->eval();
{%- if wave %}
        wave.dump(context->time());
{%- endif %}
        context->timeInc(5);
        if (std::fwrite(&output, sizeof output, 1, records) != 1) return 1;
        // Whoever sends a batch waits for all its answers.
        if (input.end_of_batch != 0) std::fflush(records);
    }
{%- if wave %}
    wave.close();
{%- endif %}
    tile->final();
    std::fflush(records);
    return 0;
}
