// Drives a processing element: a record of inputs a cycle from standard input, a record of results to standard output.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "Vbench.h"

static const size_t record_bytes = 36;

static uint32_t word(const uint8_t *bytes) {
    uint32_t value;
    std::memcpy(&value, bytes, 4);
    return value;
}

int main() {
    auto bench = std::make_unique<Vbench>();
    uint8_t in[record_bytes];
    while (std::fread(in, record_bytes, 1, stdin) == 1) {
        bench->clk = 0;
        bench->step = in[0];
        bench->operation = in[1];
        bench->bit_in = in[2];
        bench->bit_constant = in[3];
        bench->lut = in[4];
        bench->lut_selected = in[5];
        bench->data_mode_0 = in[6];
        bench->data_mode_1 = in[7];
        bench->data_mode_2 = in[8];
        bench->bit_mode_0 = in[9];
        bench->bit_mode_1 = in[10];
        bench->bit_mode_2 = in[11];
        bench->data_0 = word(in + 12);
        bench->data_1 = word(in + 16);
        bench->data_2 = word(in + 20);
        bench->constant_0 = word(in + 24);
        bench->constant_1 = word(in + 28);
        bench->constant_2 = word(in + 32);
        bench->eval();
        uint32_t result = bench->result;
        uint8_t out[5];
        std::memcpy(out, &result, 4);
        out[4] = bench->result_bit;
        std::fwrite(out, sizeof out, 1, stdout);
        bench->clk = 1;
        bench->eval();
    }
    return 0;
}
