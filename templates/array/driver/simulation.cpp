{%- let spec = driver.spec -%}
{%- let name = driver.names.functions -%}
// The Verilated array `{{ spec.name }}` with its global buffer, driven by the functions of simulation.h.
#include "simulation.h"

#include "Vtop.h"
#include "verilated.h"

namespace {

// Cycles from an access to its answer, at the configuration port and at that of the host.
constexpr int ANSWER = {{ self::answer_latency(spec) }};
constexpr int HOST_ANSWER = {{ HOST_LATENCY }};
// All words of a row.
constexpr unsigned WORDS = (1u << {{ spec.words_per_row() }}) - 1;

Vtop* array = nullptr;
long cycles = 0;

// The rest of a cycle, to the beginning of the next one.
void next_cycle() {
    array->clk_i = 0;
    array->eval();
    array->clk_i = 1;
    array->eval();
    ++cycles;
}

bool access(bool writes, uint32_t address, uint32_t data) {
    array->config_write_i = writes;
    array->config_read_i = !writes;
    array->config_address_i = address;
    array->config_write_data_i = data;
    next_cycle();
    array->config_write_i = 0;
    array->config_read_i = 0;
    for (int cycle = 1; cycle < ANSWER; ++cycle) next_cycle();
    return !array->config_error_o;
}

bool access_row(unsigned words, uint32_t address, uint64_t row) {
    array->host_write_i = words;
    array->host_read_i = words == 0;
    array->host_address_i = address;
    array->host_write_data_i = row;
    next_cycle();
    array->host_write_i = 0;
    array->host_read_i = 0;
    for (int cycle = 1; cycle < HOST_ANSWER; ++cycle) next_cycle();
    return !array->host_error_o;
}

bool read_register(void*, uint32_t address, uint32_t* data) {
    const bool is_there = access(false, address, 0);
    *data = array->config_read_data_o;
    return is_there;
}

bool write_register(void*, uint32_t address, uint32_t data) { return access(true, address, data); }

bool write_row(void*, uint32_t address, uint64_t row) { return access_row(WORDS, address, row); }

}  // namespace

struct {{ name }}_port simulation_port(void) {
    if (array == nullptr) {
        static Vtop top;
        array = &top;
        array->clk_i = 1;
        array->flush_i = 0;
        array->stall_i = 1;
{%- if spec.clock_gating %}
        array->test_enable_i = 0;
{%- endif %}
        array->config_write_i = 0;
        array->config_read_i = 0;
        array->host_write_i = 0;
        array->host_read_i = 0;
        array->rst_ni = 0;
        for (int cycle = 0; cycle < 4; ++cycle) next_cycle();
        array->rst_ni = 1;
        cycles = 0;
    }
    return { read_register, write_register, write_row, nullptr, nullptr };
}

bool simulation_read_row(uint32_t address, uint64_t* row) {
    const bool is_hosts = access_row(0, address, 0);
    *row = array->host_read_data_o;
    return is_hosts;
}

long simulation_run(long longest) {
    const long begin = cycles;
    array->stall_i = 0;
    array->flush_i = 1;
    next_cycle();
    array->flush_i = 0;
    next_cycle();
    next_cycle();
    while (array->busy_o != 0 && cycles - begin <= longest) next_cycle();
    array->stall_i = 1;
    // The flush is cycle 0.
    return array->busy_o != 0 ? -1 : cycles - begin - 1;
}

long simulation_cycles(void) { return cycles; }
