// Feeds a model from standard input and prints its outputs. The input has for each cycle a byte `step`, then
// the words of the operands.
#include <cstdio>
#include <cstring>
#include <vector>
#include "Vbench.h"

template <typename Port> static void put(Port& port, const void* from) { std::memcpy(&port, from, sizeof(Port)); }
template <typename Port> static void print(const Port& port) { std::fwrite(&port, sizeof(Port), 1, stdout); }

int main() {
    VerilatedContext context;
    Vbench bench{&context};
    std::vector<unsigned char> record(1 + sizeof(bench.variables) + sizeof(bench.words));
    while (std::fread(record.data(), record.size(), 1, stdin) == 1) {
        bench.clk = 0;
        bench.step = record[0];
        put(bench.variables, record.data() + 1);
        put(bench.words, record.data() + 1 + sizeof(bench.variables));
        bench.eval();
        print(bench.results);
        bench.clk = 1;
        bench.eval();
    }
    return 0;
}
