{%- let shell = description.shell -%}
// The Verilated shell with a memory, driven by the functions of simulation.h.
#include "simulation.h"

{% if shell.rows().is_some() %}#include <algorithm>
{% endif %}#include <cstdio>
#include <cstdlib>
{% if shell.rows().is_none() %}#include <cstring>
#include <deque>
{% endif %}#include <memory>
{% if shell.rows().is_none() %}#include <random>
{% endif %}#include <vector>

#include "Vtop.h"
#include "verilated.h"

namespace {

{% if shell.rows().is_some() -%}
// Cycles that the processor waits for an interrupt, and beats of the longest burst, of 8 bytes in pages of 4 kB.
constexpr unsigned WAIT = 500;
constexpr uint32_t BURST = 256, ROW = 8, PAGE = 4096;
constexpr unsigned OKAY = 0, INCREMENTING = 1, ALL = 0xff;

{% else -%}
// Cycles from a request to its answer, and those that the processor waits for an interrupt.
constexpr uint64_t LATENCY = 30;
constexpr unsigned WAIT = 500;
// Bytes of a beat.
constexpr unsigned BEAT = {{ shell.memory.bits / 8 }};
constexpr unsigned OKAY = 0, DECERR = 3;

// Bytes of a port, whatever its width.
template <class Port>
void put(Port& port, const uint8_t* bytes) {
    port = 0;
    std::memcpy(&port, bytes, BEAT);
}
template <std::size_t Words>
void put(VlWide<Words>& port, const uint8_t* bytes) {
    std::memcpy(port.data(), bytes, BEAT);
}
template <class Port>
void get(const Port& port, uint8_t* bytes) {
    std::memcpy(bytes, &port, BEAT);
}
template <std::size_t Words>
void get(const VlWide<Words>& port, uint8_t* bytes) {
    std::memcpy(bytes, port.data(), BEAT);
}
template <class Port>
bool bit(const Port& port, unsigned place) {
    return (port >> place) & 1;
}
template <std::size_t Words>
bool bit(const VlWide<Words>& port, unsigned place) {
    return (port[place / 32] >> (place % 32)) & 1;
}

struct Burst {
    uint64_t address;
    unsigned beats;
    uint64_t due;
};

struct Beat {
    uint8_t bytes[BEAT];
    bool kept[BEAT];
};

{% endif -%}
class System {
public:
    System() : memory_(SIMULATION_BYTES) {
        // Registers and memories power up with arbitrary bits, as in silicon.
        context_->randReset(2);
        context_->randSeed(1);
        top_.reset(new Vtop{context_.get(), "top"});
        reset();
    }

    ~System() { top_->final(); }

    uint8_t* memory() { return memory_.data(); }
    uint64_t cycles() const { return cycle_; }
    bool interrupt() const { return top_->interrupt_o; }

    void reset() {
        forget();
        top_->s_axi_control_awvalid = top_->s_axi_control_wvalid = top_->s_axi_control_bready = 0;
        top_->s_axi_control_arvalid = top_->s_axi_control_rready = 0;
{%- if shell.rows().is_some() %}
        top_->s_axi_buffer_awvalid = top_->s_axi_buffer_wvalid = top_->s_axi_buffer_bready = 0;
        top_->s_axi_buffer_arvalid = top_->s_axi_buffer_rready = 0;
{%- endif %}
{%- for image in shell.images %}
{%- if image.output %}
        top_->{{ shell.port(image) }}_bvalid = 0;
{%- else %}
        top_->{{ shell.port(image) }}_rvalid = 0;
{%- endif %}
{%- endfor %}
{%- for port in shell.passed %}
{%- if !port.output %}
        top_->{{ port.name }} = 0;
{%- endif %}
{%- endfor %}
        // An asynchronous reset acts on its falling edge, so there must be one, whatever its value was before.
        top_->ap_clk = 0;
        for (unsigned edge = 0; edge < 2; ++edge) {
            top_->ap_rst_n = 1;
            top_->eval();
            top_->ap_rst_n = 0;
            top_->eval();
        }
        for (unsigned k = 0; k < 4; ++k) step();
        // A synchronous reset acts on an edge: before it, registers of any value may have asked for something.
        forget();
        top_->ap_rst_n = 1;
        cycle_ = 0;
    }

    void write(uint32_t offset, uint32_t value) {
        top_->s_axi_control_awaddr = offset;
        top_->s_axi_control_wdata = value;
        top_->s_axi_control_wstrb = 0xf;
        top_->s_axi_control_awvalid = top_->s_axi_control_wvalid = 1;
        while (top_->s_axi_control_awvalid || top_->s_axi_control_wvalid) {
            settle();
            const bool address = top_->s_axi_control_awready, data = top_->s_axi_control_wready;
            step();
            if (address) top_->s_axi_control_awvalid = 0;
            if (data) top_->s_axi_control_wvalid = 0;
        }
        top_->s_axi_control_bready = 1;
        for (settle(); !top_->s_axi_control_bvalid; settle()) step();
        check(top_->s_axi_control_bresp, "write", offset);
        step();
        top_->s_axi_control_bready = 0;
    }

    uint32_t read(uint32_t offset) {
        top_->s_axi_control_araddr = offset;
        top_->s_axi_control_arvalid = 1;
        for (settle(); !top_->s_axi_control_arready; settle()) step();
        step();
        top_->s_axi_control_arvalid = 0;
        top_->s_axi_control_rready = 1;
        for (settle(); !top_->s_axi_control_rvalid; settle()) step();
        const uint32_t value = top_->s_axi_control_rdata;
        check(top_->s_axi_control_rresp, "read", offset);
        step();
        top_->s_axi_control_rready = 0;
        return value;
    }

{% if shell.rows().is_some() %}
    bool write_rows(uint32_t address, const uint64_t* rows, uint32_t count) {
        bool is_well = true;
        while (count > 0) {
            const uint32_t beats = burst(address, count);
            top_->s_axi_buffer_awid = 0;
            top_->s_axi_buffer_awaddr = address;
            top_->s_axi_buffer_awlen = beats - 1;
            top_->s_axi_buffer_awsize = 3;
            top_->s_axi_buffer_awburst = INCREMENTING;
            top_->s_axi_buffer_awvalid = 1;
            top_->s_axi_buffer_wstrb = ALL;
            top_->s_axi_buffer_bready = 1;
            for (uint32_t beat = 0;;) {
                top_->s_axi_buffer_wvalid = beat < beats;
                top_->s_axi_buffer_wdata = beat < beats ? rows[beat] : 0;
                top_->s_axi_buffer_wlast = beat == beats - 1;
                settle();
                const bool asked = top_->s_axi_buffer_awready, took = beat < beats && top_->s_axi_buffer_wready;
                const bool answered = top_->s_axi_buffer_bvalid;
                is_well = is_well && (!answered || top_->s_axi_buffer_bresp == OKAY);
                step();
                if (asked) top_->s_axi_buffer_awvalid = 0;
                beat += took;
                if (answered) break;
            }
            top_->s_axi_buffer_bready = 0;
            address += beats * ROW;
            rows += beats;
            count -= beats;
        }
        return is_well;
    }

    bool read_rows(uint32_t address, uint64_t* rows, uint32_t count) {
        bool is_well = true;
        while (count > 0) {
            const uint32_t beats = burst(address, count);
            top_->s_axi_buffer_arid = 0;
            top_->s_axi_buffer_araddr = address;
            top_->s_axi_buffer_arlen = beats - 1;
            top_->s_axi_buffer_arsize = 3;
            top_->s_axi_buffer_arburst = INCREMENTING;
            top_->s_axi_buffer_arvalid = 1;
            top_->s_axi_buffer_rready = 1;
            for (uint32_t beat = 0; beat < beats;) {
                settle();
                const bool asked = top_->s_axi_buffer_arready, answered = top_->s_axi_buffer_rvalid;
                if (answered) {
                    rows[beat++] = top_->s_axi_buffer_rdata;
                    is_well = is_well && top_->s_axi_buffer_rresp == OKAY;
                }
                step();
                if (asked) top_->s_axi_buffer_arvalid = 0;
            }
            top_->s_axi_buffer_rready = 0;
            address += beats * ROW;
            rows += beats;
            count -= beats;
        }
        return is_well;
    }
{% endif %}
    void wait() {
        for (unsigned waited = 0; waited < WAIT && !top_->interrupt_o; ++waited) step();
    }

private:
    static void check(unsigned response, const char* access, uint32_t offset) {
        if (response == OKAY) return;
        std::fprintf(stderr, "a %s of the register at 0x%x was answered with an error\n", access, offset);
        std::exit(2);
    }

{% if shell.rows().is_some() -%}
    // The beats of the next burst: it does not leave its page.
    static uint32_t burst(uint32_t address, uint32_t count) {
        const uint32_t most = std::min(BURST, (PAGE - address % PAGE) / ROW);
        return std::min(most, count);
    }

{% else -%}
    // The place of a beat, if there is memory.
    uint8_t* place(uint64_t address) {
        const uint64_t offset = address - SIMULATION_MEMORY;
        return offset <= SIMULATION_BYTES - BEAT ? &memory_[offset] : nullptr;
    }

{% endif -%}
    // Drops what memory was asked for.
    void forget() {
{%- for image in shell.images %}
        {{ image.name }}_asked_.clear();
{%- if image.output %}
        {{ image.name }}_beats_.clear();
        {{ image.name }}_answers_.clear();
{%- endif %}
{%- endfor %}
    }

{%- if shell.rows().is_none() %}
    bool luck() { return random_() % 4 != 0; }
{%- endif %}

    void settle() {
        top_->ap_clk = 0;
        top_->eval();
    }

    // A cycle, in which memory offers and takes what it can.
    void step() {
{%- for image in shell.images %}
{%- let port = shell.port(image) %}
{%- if image.output %}
        top_->{{ port }}_awready = luck();
        top_->{{ port }}_wready = luck();
        const bool {{ image.name }}_answers = !{{ image.name }}_answers_.empty() && {{ image.name }}_answers_.front().due <= cycle_;
        top_->{{ port }}_bvalid = {{ image.name }}_answers;
        top_->{{ port }}_bid = 0;
        if ({{ image.name }}_answers) top_->{{ port }}_bresp = {{ image.name }}_answers_.front().beats;
{%- else %}
        top_->{{ port }}_arready = luck();
        const bool {{ image.name }}_answers = !{{ image.name }}_asked_.empty() && {{ image.name }}_asked_.front().due <= cycle_;
        top_->{{ port }}_rvalid = {{ image.name }}_answers;
        top_->{{ port }}_rid = 0;
        if ({{ image.name }}_answers) {
            const uint8_t* bytes = place({{ image.name }}_asked_.front().address);
            static const uint8_t nothing[BEAT] = {};
            put(top_->{{ port }}_rdata, bytes != nullptr ? bytes : nothing);
            top_->{{ port }}_rresp = bytes != nullptr ? OKAY : DECERR;
            top_->{{ port }}_rlast = {{ image.name }}_asked_.front().beats == 1;
        }
{%- endif %}
{%- endfor %}
        settle();
{%- for image in shell.images %}
{%- let port = shell.port(image) %}
{%- if image.output %}
        if ({{ image.name }}_answers && top_->{{ port }}_bready) {{ image.name }}_answers_.pop_front();
        if (top_->{{ port }}_awvalid && top_->{{ port }}_awready) {
            {{ image.name }}_asked_.push_back({top_->{{ port }}_awaddr, top_->{{ port }}_awlen + 1u, 0});
        }
        if (top_->{{ port }}_wvalid && top_->{{ port }}_wready) {
            Beat beat;
            get(top_->{{ port }}_wdata, beat.bytes);
            for (unsigned byte = 0; byte < BEAT; ++byte) beat.kept[byte] = bit(top_->{{ port }}_wstrb, byte);
            {{ image.name }}_beats_.push_back(beat);
        }
        store({{ image.name }}_asked_, {{ image.name }}_beats_, {{ image.name }}_answers_);
{%- else %}
        if ({{ image.name }}_answers && top_->{{ port }}_rready) {
            Burst& burst = {{ image.name }}_asked_.front();
            burst.address += BEAT;
            if (--burst.beats == 0) {{ image.name }}_asked_.pop_front();
        }
        if (top_->{{ port }}_arvalid && top_->{{ port }}_arready) {
            {{ image.name }}_asked_.push_back({top_->{{ port }}_araddr, top_->{{ port }}_arlen + 1u, cycle_ + LATENCY});
        }
{%- endif %}
{%- endfor %}
        top_->ap_clk = 1;
        top_->eval();
        ++cycle_;
        if (context_->gotError() || context_->gotFinish()) {
            std::fprintf(stderr, "the simulation stopped\n");
            std::exit(2);
        }
    }

{% if shell.rows().is_none() -%}
    // Writes the bursts that are whole to memory; each has one answer, whose response takes the place of its beats.
    void store(std::deque<Burst>& asked, std::deque<Beat>& beats, std::deque<Burst>& answers) {
        while (!asked.empty() && beats.size() >= asked.front().beats) {
            Burst burst = asked.front();
            asked.pop_front();
            unsigned response = OKAY;
            for (unsigned beat = 0; beat < burst.beats; ++beat) {
                uint8_t* bytes = place(burst.address + uint64_t{beat} * BEAT);
                if (bytes == nullptr) response = DECERR;
                for (unsigned byte = 0; bytes != nullptr && byte < BEAT; ++byte) {
                    if (beats.front().kept[byte]) bytes[byte] = beats.front().bytes[byte];
                }
                beats.pop_front();
            }
            answers.push_back({burst.address, response, cycle_ + LATENCY});
        }
    }

{% endif -%}
    std::unique_ptr<VerilatedContext> context_{new VerilatedContext};
    std::unique_ptr<Vtop> top_;
    std::vector<uint8_t> memory_;
{%- if shell.rows().is_none() %}
    std::minstd_rand random_{1};
{%- endif %}
    uint64_t cycle_ = 0;
{%- for image in shell.images %}
    std::deque<Burst> {{ image.name }}_asked_;
{%- if image.output %}
    std::deque<Beat> {{ image.name }}_beats_;
    std::deque<Burst> {{ image.name }}_answers_;
{%- endif %}
{%- endfor %}
};

// It is reset when it is first used.
System& the_system() {
    static System system;
    return system;
}

}  // namespace

{% if shell.rows().is_some() -%}
uint64_t simulation_address(void) { return reinterpret_cast<uintptr_t>(the_system().memory()); }
bool simulation_write_rows(void*, uint32_t address, const uint64_t* rows, uint32_t count) {
    return the_system().write_rows(address, rows, count);
}
bool simulation_read_rows(void*, uint32_t address, uint64_t* rows, uint32_t count) {
    return the_system().read_rows(address, rows, count);
}
{%- else -%}
uint64_t simulation_address(void) { return SIMULATION_MEMORY; }
{%- endif %}
uint64_t simulation_bytes(void) { return SIMULATION_BYTES; }
uint8_t* simulation_memory(void) { return the_system().memory(); }
void simulation_reset(void) { the_system().reset(); }
uint32_t simulation_read(void*, uint32_t offset) { return the_system().read(offset); }
void simulation_write(void*, uint32_t offset, uint32_t value) { the_system().write(offset, value); }
void simulation_wait(void*) { the_system().wait(); }
uint32_t simulation_cycles(void*) { return static_cast<uint32_t>(the_system().cycles()); }
int simulation_interrupt(void) { return the_system().interrupt(); }
