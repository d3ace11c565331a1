// Instances of `{{ module }}`, each evaluated once a cycle: all its outputs are registers.
{%- if is_whole %}
//
// An instance whose inputs are those of the cycle before, which did not change its state, would show the same again: it is not
// evaluated until its inputs change.
{%- endif %}
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "{{ class }}.h"
{%- if is_whole %}
#include "{{ class }}___024root.h"
{%- endif %}
#include "svdpi.h"

namespace {

{%- if is_whole %}
// All registers and memories of an instance, as its modules are one.
using State = {{ class }}___024root;
{% endif %}
// Words of all inputs, and of all outputs.
constexpr std::size_t INPUTS = {{ inputs.words }};
constexpr std::size_t OUTPUTS = {{ outputs.words }};
{%- if is_whole %}

// Most cycles with the same inputs between two comparisons of states.
constexpr unsigned LONGEST_WAIT = 256;
{%- endif %}

// Ports begin at a word each.
template <typename Port>
void put(Port& port, const svBitVecVal* words) {
    uint64_t value = words[0];
    if (sizeof(Port) > 4) value |= static_cast<uint64_t>(words[1]) << 32;
    port = static_cast<Port>(value);
}

template <std::size_t WORDS>
void put(VlWide<WORDS>& port, const svBitVecVal* words) {
    for (std::size_t word = 0; word < WORDS; ++word) port[word] = words[word];
}

template <typename Port>
void get(const Port& port, svBitVecVal* words) {
    words[0] = static_cast<uint32_t>(port);
    if (sizeof(Port) > 4) words[1] = static_cast<uint32_t>(static_cast<uint64_t>(port) >> 32);
}

template <std::size_t WORDS>
void get(const VlWide<WORDS>& port, svBitVecVal* words) {
    for (std::size_t word = 0; word < WORDS; ++word) words[word] = port[word];
}

class Instance {
    {{ class }} model;
{%- if is_whole %}
    svBitVecVal inputs[INPUTS] = {};
    svBitVecVal outputs[OUTPUTS] = {};
    bool has_run = false;
    bool is_still = false;
    // Cycles with the same inputs until states are compared, and how many there are then until the next time.
    unsigned left = 1;
    unsigned wait = 1;
{%- endif %}

    void evaluate(const svBitVecVal* inputs, svBitVecVal* outputs) {
{%- for port in inputs.ports %}
        put(model.{{ port.name }}, inputs + {{ port.word }});
{%- endfor %}
        // While the clock is low, clock gates take their enables.
        model.{{ clock }} = 0;
        model.eval();
        model.{{ clock }} = 1;
        model.eval();
{%- for port in outputs.ports %}
        get(model.{{ port.name }}, outputs + {{ port.word }});
{%- endfor %}
    }
{%- if is_whole %}

    void compare() {
        static unsigned char before[sizeof(State)];
        std::memcpy(before, static_cast<const void*>(model.rootp), sizeof before);
        evaluate(inputs, outputs);
        is_still = std::memcmp(before, static_cast<const void*>(model.rootp), sizeof before) == 0;
        wait = wait < LONGEST_WAIT ? 2 * wait : wait;
        left = wait;
    }
{%- endif %}

public:
    void step(const svBitVecVal* given, svBitVecVal* shown) {
{%- if is_whole %}
        const bool is_same = has_run && std::memcmp(inputs, given, sizeof inputs) == 0;
        if (!is_same) {
            std::memcpy(inputs, given, sizeof inputs);
            has_run = true;
            is_still = false;
            left = wait = 1;
            evaluate(inputs, outputs);
        } else if (!is_still) {
            if (--left == 0) {
                compare();
            } else {
                evaluate(inputs, outputs);
            }
        }
        std::memcpy(shown, outputs, sizeof outputs);
{%- else %}
        evaluate(given, shown);
{%- endif %}
    }
};

}  // namespace

extern "C" void* {{ module }}_new() { return new Instance; }

extern "C" void {{ module }}_step(void* instance, const svBitVecVal* inputs, svBitVecVal* outputs) {
    static_cast<Instance*>(instance)->step(inputs, outputs);
}
