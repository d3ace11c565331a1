// The ports of the accelerator `{{ name }}`, as harness.cpp wants to know them.
#pragma once

#include <cstdint>

// Each stream: its name, and the words of a beat.
#define PUSHMEM_INPUTS(stream_){% for stream in inputs %} \
    stream_({{ stream.port }}, {{ stream.lanes }}){% endfor %}
#define PUSHMEM_OUTPUTS(stream_){% for stream in outputs %} \
    stream_({{ stream.port }}, {{ stream.lanes }}){% endfor %}
{%- if register_writes > 0 %}

// There is a configuration bus, with so many writes before the first run; data that was read shows so many cycles later.
#define PUSHMEM_CONFIGURATION
constexpr unsigned REGISTER_WRITES = {{ register_writes }};
constexpr unsigned READ_CYCLES = {{ read_cycles }};
{%- endif %}
{%- if has_shadow_registers %}

// All of it can be written while a run goes on.
#define PUSHMEM_SHADOW_REGISTERS
{%- endif %}
{%- if has_clock_gates %}

// Clocks of some tiles stop; a port lets them run.
#define PUSHMEM_CLOCK_GATES
{%- endif %}
{%- if let Some(cycles) = self_test_cycles %}

// There is a self-test, which takes so many cycles, of so many memories, whose widest row has so many bits.
#define PUSHMEM_SELF_TEST
constexpr uint64_t SELF_TEST_CYCLES = {{ cycles }};
constexpr unsigned SELF_TESTED = {{ self_tested }};
constexpr unsigned ROW_BITS = {{ row_bits }};
{%- if self_tested > 1 %}
#define PUSHMEM_SELF_TEST_SELECT
{%- endif %}
{%- endif %}

constexpr const char* ACCELERATOR = "{{ name }}";
// Cycles of a run in which nothing stalls.
constexpr uint64_t RUN_CYCLES = {{ run_cycles }};
