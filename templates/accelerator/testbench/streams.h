// The ports of a Verilated accelerator, which ports.h lists: its streams by name, beat by beat, and its reset.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Vtop.h"
#include "ports.h"

namespace {

using Words = std::vector<uint16_t>;

template <typename Port>
void put(Port& port, const uint16_t* beat, size_t lanes) {
    uint64_t bits = 0;
    for (size_t lane = 0; lane < lanes; ++lane) bits |= uint64_t{beat[lane]} << (16 * lane);
    port = static_cast<Port>(bits);
}

template <std::size_t PARTS>
void put(VlWide<PARTS>& port, const uint16_t* beat, size_t lanes) {
    for (size_t part = 0; part < PARTS; ++part) {
        const size_t lane = 2 * part;
        port[part] = beat[lane] | (lane + 1 < lanes ? uint32_t{beat[lane + 1]} << 16 : 0);
    }
}

template <typename Port>
void get(const Port& port, uint16_t* beat, size_t lanes) {
    for (size_t lane = 0; lane < lanes; ++lane) beat[lane] = static_cast<uint16_t>(uint64_t{port} >> (16 * lane));
}

template <std::size_t PARTS>
void get(const VlWide<PARTS>& port, uint16_t* beat, size_t lanes) {
    for (size_t lane = 0; lane < lanes; ++lane) {
        beat[lane] = static_cast<uint16_t>(port[lane / 2] >> (16 * (lane % 2)));
    }
}

struct InputPorts {
    const char* name;
    size_t lanes;
    void (*offer)(Vtop& top, bool valid, const uint16_t* beat);
    bool (*ready)(const Vtop& top);
};

struct OutputPorts {
    const char* name;
    size_t lanes;
    void (*accept)(Vtop& top, bool ready);
    bool (*valid)(const Vtop& top);
    void (*take)(const Vtop& top, uint16_t* beat);
};

#define INPUT_PORTS(stream, lanes)                                                   \
    InputPorts{#stream, lanes,                                                       \
               [](Vtop& top, bool valid, const uint16_t* beat) {                     \
                   top.stream##_valid_i = valid;                                      \
                   put(top.stream##_data_i, beat, lanes);                             \
               },                                                                    \
               [](const Vtop& top) -> bool { return top.stream##_ready_o; }},
#define OUTPUT_PORTS(stream, lanes)                                                  \
    OutputPorts{#stream, lanes,                                                      \
                [](Vtop& top, bool ready) { top.stream##_ready_i = ready; },          \
                [](const Vtop& top) -> bool { return top.stream##_valid_o; },         \
                [](const Vtop& top, uint16_t* beat) { get(top.stream##_data_o, beat, lanes); }},

const std::vector<InputPorts> INPUTS{PUSHMEM_INPUTS(INPUT_PORTS)};
const std::vector<OutputPorts> OUTPUTS{PUSHMEM_OUTPUTS(OUTPUT_PORTS)};

// Words on an input stream without an offer: zeros, as many as the widest one has lanes.
inline const uint16_t* nothing() {
    static const Words zeros = [] {
        size_t lanes = 0;
        for (const InputPorts& port : INPUTS) lanes = std::max(lanes, port.lanes);
        return Words(lanes);
    }();
    return zeros.data();
}

// Resets the accelerator, with all else that drives it at rest; `cycle` is a cycle of its clock.
template <typename Cycle>
void reset(Vtop& top, Cycle cycle) {
    for (const InputPorts& port : INPUTS) port.offer(top, false, nothing());
    for (const OutputPorts& port : OUTPUTS) port.accept(top, false);
    top.start_i = 0;
#ifdef PUSHMEM_CLOCK_GATES
    top.test_enable_i = 0;
#endif
#ifdef PUSHMEM_CONFIGURATION
    top.config_write_i = 0;
    top.config_read_i = 0;
    top.config_address_i = 0;
    top.config_write_data_i = 0;
#endif
#ifdef PUSHMEM_SELF_TEST
    top.bist_start_i = 0;
#endif
#ifdef PUSHMEM_SELF_TEST_SELECT
    top.bist_select_i = 0;
#endif
    // An asynchronous reset acts on its falling edge, so there must be one; a synchronous one in the cycles after it.
    // Its value before is arbitrary, and different in each module that is Verilated on its own: their second falling
    // edge is surely one.
    top.clk_i = 0;
    for (int edge = 0; edge < 2; ++edge) {
        top.rst_ni = 1;
        top.eval();
        top.rst_ni = 0;
        top.eval();
    }
    cycle();
    cycle();
    top.rst_ni = 1;
    cycle();
}

}  // namespace
