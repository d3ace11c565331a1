// Reads the inputs of each cycle, and writes its outputs, registers included.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "Vbench.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

int main() {
    Verilated::randReset(0);
    Vbench bench;
    bench.rst_n = 0;
    bench.clk = 0;
    bench.eval();
    bench.clk = 1;
    bench.eval();
    bench.rst_n = 1;
    // Commands, address, data, and for each column a word and its bit, valid and ready.
    std::vector<uint32_t> inputs(3 + 2 * COLUMNS);
    // Error and data of the configuration port, for each column a word and its bit, valid and
    // ready, and the registers.
    std::vector<uint32_t> outputs(2 + 2 * COLUMNS + PROBES);
    while (std::fread(inputs.data(), 4, inputs.size(), stdin) == inputs.size()) {
        bench.commands = inputs[0];
        bench.address = inputs[1];
        bench.write_data = inputs[2];
        for (int column = 0; column < COLUMNS; ++column) {
            bench.stream_in[2 * column] = inputs[3 + 2 * column];
            bench.stream_in[2 * column + 1] = inputs[4 + 2 * column];
        }
        bench.clk = 0;
        bench.eval();
        outputs[0] = bench.error;
        outputs[1] = bench.read_data;
        for (int word = 0; word < 2 * COLUMNS; ++word) outputs[2 + word] = bench.stream_out[word];
        for (int probe = 0; probe < PROBES; ++probe) outputs[2 + 2 * COLUMNS + probe] = bench.probes[probe];
        std::fwrite(outputs.data(), 4, outputs.size(), stdout);
        bench.clk = 1;
        bench.eval();
    }
    return 0;
}
