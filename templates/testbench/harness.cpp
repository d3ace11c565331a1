// Verilator harness of the block `{{ block }}`.
//
// It knows nothing about the block: it reads one record of input values a cycle from standard input, and writes one record
// of output values a cycle to standard output. Who runs it decides what to send and knows what to expect, so one build
// serves every configuration.
//
// A record is a list of words of 64 bits. Ports of one bit are packed, the first lowest; each wider port is a word after them.
// Input record:  a control word (bits below), then the inputs: {{ inputs.count }} words.
// Output record: the outputs: {{ outputs.count }} words.
// Outputs are sampled before the rising clock edge that ends the cycle.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "Vblock.h"
#include "verilated.h"
{%- if wave %}
#include "verilated_fst_c.h"
{%- endif %}

namespace {

constexpr uint64_t NO_ASSERTIONS = 1u << 0;
constexpr uint64_t END_OF_BATCH = 1u << 1;

struct Input {
    uint64_t control;
    uint64_t words[{{ inputs.count }}];
};

struct Output {
    uint64_t words[{{ outputs.count }}];
};

void drive(Vblock& block, const Input& input) {
{%- for placed in inputs.ports %}
{%- match placed.bit %}
{%- when Some with (bit) %}
    block.{{ placed.port }} = input.words[{{ placed.word }}] >> {{ bit }} & 1;
{%- when None %}
    block.{{ placed.port }} = input.words[{{ placed.word }}];
{%- endmatch %}
{%- endfor %}
}

void sample(const Vblock& block, Output& output) {
    std::memset(&output, 0, sizeof output);
{%- for placed in outputs.ports %}
{%- match placed.bit %}
{%- when Some with (bit) %}
    output.words[{{ placed.word }}] |= uint64_t(block.{{ placed.port }}) << {{ bit }};
{%- when None %}
    output.words[{{ placed.word }}] = block.{{ placed.port }};
{%- endmatch %}
{%- endfor %}
}

}  // namespace

int main(int argc, char** argv) {
    const std::unique_ptr<VerilatedContext> context{new VerilatedContext};
    // Unwritten memories hold arbitrary bits, as in silicon, unless an argument says otherwise.
    context->randReset(2);
    context->randSeed(1);
    context->commandArgs(argc, argv);
{%- if wave %}
    context->traceEverOn(true);
{%- endif %}
    const std::unique_ptr<Vblock> block{new Vblock{context.get(), "top"}};
{%- if wave %}
    VerilatedFstC wave;
    block->trace(&wave, 99);
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
    Input input;
    std::memset(&input, 0, sizeof input);
    drive(*block, input);
    block->rst_ni = 1;
    block->clk_i = 0;
    block->eval();

    Output output;
    while (std::fread(&input, sizeof input, 1, stdin) == 1) {
        context->assertOn((input.control & NO_ASSERTIONS) == 0);
        block->clk_i = 0;
        drive(*block, input);
        block->eval();
        sample(*block, output);
{%- if wave %}
        wave.dump(context->time());
{%- endif %}
        context->timeInc(5);
        block->clk_i = 1;
        block->eval();
{%- if wave %}
        wave.dump(context->time());
{%- endif %}
        context->timeInc(5);
        if (std::fwrite(&output, sizeof output, 1, records) != 1) return 1;
        // Whoever sends a batch waits for all its answers.
        if ((input.control & END_OF_BATCH) != 0) std::fflush(records);
    }
{%- if wave %}
    wave.close();
{%- endif %}
    block->final();
    std::fflush(records);
    return 0;
}
