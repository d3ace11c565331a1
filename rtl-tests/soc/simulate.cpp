// The clock and the reset of a Verilated SoC, and its serial port, which is printed. Ends with the line PASS or FAIL, or after as many
// cycles as the argument says. Exit code: 0 for PASS.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "Vtop.h"
#include "verilated.h"

int main(int argc, char** argv) {
    const unsigned long most = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0;
    const auto context = std::make_unique<VerilatedContext>();
    // Registers power up with arbitrary bits.
    context->randReset(2);
    context->randSeed(1);
    const auto top = std::make_unique<Vtop>(context.get(), "top");
    std::string line;
    top->serial_source_ready = 1;
    top->serial_sink_valid = 0;
    // An asynchronous reset acts on an edge.
    top->sys_clk = 0;
    for (const int reset : {0, 1, 0, 1}) {
        top->sys_rst = reset;
        top->eval();
    }
    for (unsigned long cycle = 0; cycle < most && !context->gotFinish() && !context->gotError(); ++cycle) {
        if (cycle == 8) top->sys_rst = 0;
        top->sys_clk = 0;
        top->eval();
        const bool valid = top->serial_source_valid;
        const char letter = static_cast<char>(top->serial_source_data);
        top->sys_clk = 1;
        top->eval();
        if (!valid || top->sys_rst) continue;
        std::putchar(letter);
        if (letter != '\n') {
            line.push_back(letter);
            continue;
        }
        if (line == "PASS" || line == "FAIL") {
            std::printf("%lu cycles\n", cycle);
            top->final();
            return line == "PASS" ? 0 : 1;
        }
        line.clear();
    }
    std::printf("the firmware did not end in %lu cycles\n", most);
    top->final();
    return 1;
}
