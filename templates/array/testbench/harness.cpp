// Runs the RTL of the array `{{ spec.name }}`. The arguments are the columns whose streams are in use.
//
// Cycles come in batches, numbers with their lowest byte first: of 4 bytes how many there are, then the ports of each. These are a byte of
// commands (flush, stall, write, read, the first lowest), the address and the data of the configuration port, and of each column a byte of
// flags (bit, valid, ready) and a word. The answer to a cycle is a byte (configuration error; whether a stream that is not in use
// shows something), the data that the configuration port reads, and of each column flags and a word.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "{{ class }}.h"
#include "verilated.h"

namespace {

constexpr unsigned COLUMNS = {{ spec.columns }};
constexpr unsigned WORD_BITS = {{ spec.word_bits() }};

uint32_t mask(unsigned bits) { return UINT32_MAX >> (32 - bits); }

// Bits of a port, which is an integer, or an array of words if it has more than 64.
template <typename Port>
uint32_t get(const Port& port, unsigned low, unsigned bits) {
    return static_cast<uint32_t>(static_cast<uint64_t>(port) >> low) & mask(bits);
}

template <std::size_t WORDS>
uint32_t get(const VlWide<WORDS>& port, unsigned low, unsigned bits) {
    uint64_t pair = port[low / 32];
    if (low / 32 + 1 < WORDS) pair |= static_cast<uint64_t>(port[low / 32 + 1]) << 32;
    return static_cast<uint32_t>(pair >> low % 32) & mask(bits);
}

template <typename Port>
void put(Port& port, unsigned low, unsigned bits, uint32_t value) {
    const uint64_t others = static_cast<uint64_t>(port) & ~(static_cast<uint64_t>(mask(bits)) << low);
    port = static_cast<Port>(others | static_cast<uint64_t>(value) << low);
}

template <std::size_t WORDS>
void put(VlWide<WORDS>& port, unsigned low, unsigned bits, uint32_t value) {
    const uint64_t place = static_cast<uint64_t>(mask(bits)) << low % 32;
    const uint64_t moved = static_cast<uint64_t>(value) << low % 32;
    port[low / 32] = static_cast<uint32_t>((port[low / 32] & ~place) | moved);
    if (place >> 32 != 0) {
        port[low / 32 + 1] = static_cast<uint32_t>((port[low / 32 + 1] & ~(place >> 32)) | moved >> 32);
    }
}

uint32_t word_at(const uint8_t* bytes) {
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

void write_word(uint8_t* bytes, uint32_t word) {
    for (int place = 0; place < 4; ++place) bytes[place] = static_cast<uint8_t>(word >> 8 * place);
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<unsigned> columns;
    for (int place = 1; place < count; ++place) columns.push_back(std::strtoul(arguments[place], nullptr, 10));
    std::vector<unsigned> idle;
    for (unsigned column = 0; column < COLUMNS; ++column) {
        bool is_used = false;
        for (const unsigned used : columns) is_used |= used == column;
        if (!is_used) idle.push_back(column);
    }

    // Words that were never written are 0, as in the model.
    Verilated::randReset(0);
    static {{ class }} array;
{%- if spec.global_buffer.is_some() %}
    // There are no banks.
    array.configuring_i = 0;
    array.column_write_i = 0;
{%- endif %}
    array.rst_ni = 0;
    for (int edge = 0; edge < 4; ++edge) {
        array.clk_i = edge % 2;
        array.eval();
    }
    array.rst_ni = 1;

    std::vector<uint8_t> inputs(9 + 5 * columns.size());
    std::vector<uint8_t> outputs(5 + 5 * columns.size());
    uint8_t header[4];
    while (std::fread(header, 1, 4, stdin) == 4) {
        for (uint32_t left = word_at(header); left > 0; --left) {
            if (std::fread(inputs.data(), 1, inputs.size(), stdin) != inputs.size()) return 1;
            array.clk_i = 0;
            array.flush_i = inputs[0] & 1;
            array.stall_i = inputs[0] >> 1 & 1;
            array.config_write_i = inputs[0] >> 2 & 1;
            array.config_read_i = inputs[0] >> 3 & 1;
            array.config_address_i = word_at(&inputs[1]);
            array.config_write_data_i = word_at(&inputs[5]);
            const uint8_t* input = &inputs[9];
            for (const unsigned column : columns) {
                put(array.bit_i, column, 1, input[0] & 1);
                put(array.valid_i, column, 1, input[0] >> 1 & 1);
                put(array.ready_i, column, 1, input[0] >> 2 & 1);
                put(array.data_i, column * WORD_BITS, WORD_BITS, word_at(input + 1));
                input += 5;
            }
            array.eval();
            uint32_t others = 0;
            for (const unsigned column : idle) others |= get(array.ready_o, column, 1) | get(array.valid_o, column, 1);
            outputs[0] = static_cast<uint8_t>(array.config_error_o | others << 1);
            write_word(&outputs[1], array.config_read_data_o);
            uint8_t* output = &outputs[5];
            for (const unsigned column : columns) {
                const uint32_t bit = get(array.bit_o, column, 1);
                const uint32_t valid = get(array.valid_o, column, 1);
                output[0] = static_cast<uint8_t>(bit | valid << 1 | get(array.ready_o, column, 1) << 2);
                write_word(output + 1, get(array.data_o, column * WORD_BITS, WORD_BITS));
                output += 5;
            }
            std::fwrite(outputs.data(), 1, outputs.size(), stdout);
            array.clk_i = 1;
            array.eval();
        }
        std::fflush(stdout);
    }
    return 0;
}
