// A system around an accelerator: the Verilated accelerator, driven by the functions of platform.h.
#include "platform.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "Vtop.h"
#include "streams.h"
#include "verilated.h"

namespace {

// Words of a stream on their way, by DMA.
struct Transfer {
    const uint16_t* from = nullptr;
    uint16_t* to = nullptr;
    size_t left = 0;
};

[[noreturn]] void stop(const char* message) {
    std::fprintf(stderr, "%s\n", message);
    std::exit(2);
}

class System {
public:
    System() : sends_(INPUTS.size()), receives_(OUTPUTS.size()) {
        // Registers and memories power up with arbitrary bits, as in silicon.
        context_->randReset(2);
        context_->randSeed(1);
        top_.reset(new Vtop{context_.get(), "top"});
        reset(*top_, [this] { cycle(); });
    }

    ~System() { top_->final(); }

    void write(uint32_t address, uint32_t data) {
#ifdef PUSHMEM_CONFIGURATION
        top_->config_write_i = 1;
        top_->config_address_i = address;
        top_->config_write_data_i = data;
        step();
        top_->config_write_i = 0;
        if (top_->config_error_o) stop("pushmem_write: there is nothing at this address");
#else
        static_cast<void>(address);
        static_cast<void>(data);
        stop("this accelerator has no configuration bus");
#endif
    }

    uint32_t read(uint32_t address) {
#ifdef PUSHMEM_CONFIGURATION
        top_->config_read_i = 1;
        top_->config_address_i = address;
        step();
        top_->config_read_i = 0;
        if (top_->config_error_o) stop("pushmem_read: there is nothing at this address");
        for (unsigned waited = 1; waited < READ_CYCLES; ++waited) step();
        settle();
        return top_->config_read_data_o;
#else
        static_cast<void>(address);
        stop("this accelerator has no configuration bus");
#endif
    }

    int self_test() {
#ifdef PUSHMEM_SELF_TEST
        top_->bist_start_i = 1;
        step();
        top_->bist_start_i = 0;
        settle();
        for (uint64_t cycles = 0; top_->bist_busy_o; settle()) {
            if (++cycles > SELF_TEST_CYCLES) return -1;
            step();
        }
        if (!top_->bist_done_o) return -1;
        int faulty = 0;
        for (unsigned memory = 0; memory < SELF_TESTED; ++memory) faulty += fault(memory, nullptr, nullptr);
        if ((faulty != 0) != bool(top_->bist_fail_o)) stop("pushmem_self_test: bist_fail contradicts the faults of the memories");
        return faulty;
#else
        stop("this accelerator has no self-test");
#endif
    }

    int fault(unsigned memory, uint32_t* row, uint32_t* bits) {
#ifdef PUSHMEM_SELF_TEST
        if (memory >= SELF_TESTED) stop("pushmem_fault: no such memory");
#ifdef PUSHMEM_SELF_TEST_SELECT
        top_->bist_select_i = memory;
#endif
        settle();
        uint16_t halves[2 * ((ROW_BITS + 31) / 32)] = {};
        get(top_->bist_fail_bits_o, halves, (ROW_BITS + 15) / 16);
        bool faulty = false;
        for (unsigned half = 0; half < sizeof halves / sizeof *halves; half += 2) {
            const uint32_t word = halves[half] | uint32_t{halves[half + 1]} << 16;
            if (bits != nullptr) bits[half / 2] = word;
            faulty = faulty || word != 0;
        }
        if (row != nullptr) *row = top_->bist_fail_address_o;
        return faulty;
#else
        static_cast<void>(memory);
        static_cast<void>(row);
        static_cast<void>(bits);
        stop("this accelerator has no self-test");
#endif
    }

    void send(unsigned stream, const uint16_t* words, size_t count) {
        if (stream >= sends_.size() || count % INPUTS[stream].lanes != 0) stop("pushmem_send: no such stream, or no whole beats");
        sends_[stream].from = words;
        sends_[stream].left = count;
    }

    void receive(unsigned stream, uint16_t* words, size_t count) {
        if (stream >= receives_.size() || count % OUTPUTS[stream].lanes != 0) {
            stop("pushmem_receive: no such stream, or no whole beats");
        }
        receives_[stream].to = words;
        receives_[stream].left = count;
    }

    void start() {
        top_->start_i = 1;
        step();
        top_->start_i = 0;
    }

    int wait() {
        // Longer than any pause of a run without stalls.
        const uint64_t patience = RUN_CYCLES + 1000;
        for (uint64_t idle = 0; top_->busy_o || pending();) {
            idle = step() ? 0 : idle + 1;
            if (idle > patience) return -1;
        }
        return 0;
    }

private:
    void settle() {
        top_->clk_i = 0;
        top_->eval();
    }

    void cycle() {
        settle();
        top_->clk_i = 1;
        top_->eval();
        if (context_->gotError() || context_->gotFinish()) stop("the simulation stopped");
    }

    bool pending() const {
        for (const Transfer& transfer : sends_) {
            if (transfer.left != 0) return true;
        }
        for (const Transfer& transfer : receives_) {
            if (transfer.left != 0) return true;
        }
        return false;
    }

    void drive_streams() {
        for (size_t i = 0; i < INPUTS.size(); ++i) {
            const Transfer& send = sends_[i];
            INPUTS[i].offer(*top_, send.left != 0, send.left != 0 ? send.from : nothing());
        }
        for (size_t o = 0; o < OUTPUTS.size(); ++o) OUTPUTS[o].accept(*top_, receives_[o].left != 0);
    }

    // A cycle in which words may pass; whether some did.
    bool step() {
        drive_streams();
        settle();
        bool moved = false;
        for (size_t i = 0; i < INPUTS.size(); ++i) {
            Transfer& send = sends_[i];
            if (send.left == 0 || !INPUTS[i].ready(*top_)) continue;
            send.from += INPUTS[i].lanes;
            send.left -= INPUTS[i].lanes;
            moved = true;
        }
        for (size_t o = 0; o < OUTPUTS.size(); ++o) {
            Transfer& receive = receives_[o];
            if (receive.left == 0 || !OUTPUTS[o].valid(*top_)) continue;
            OUTPUTS[o].take(*top_, receive.to);
            receive.to += OUTPUTS[o].lanes;
            receive.left -= OUTPUTS[o].lanes;
            moved = true;
        }
        cycle();
        return moved;
    }

    std::unique_ptr<VerilatedContext> context_{new VerilatedContext};
    std::unique_ptr<Vtop> top_;
    std::vector<Transfer> sends_;
    std::vector<Transfer> receives_;
};

// It is reset when it is first used.
System& the_system() {
    static System system;
    return system;
}

}  // namespace

void pushmem_write(uint32_t address, uint32_t data) { the_system().write(address, data); }
uint32_t pushmem_read(uint32_t address) { return the_system().read(address); }
void pushmem_send(unsigned stream, const uint16_t* words, size_t count) { the_system().send(stream, words, count); }
void pushmem_receive(unsigned stream, uint16_t* words, size_t count) { the_system().receive(stream, words, count); }
void pushmem_start(void) { the_system().start(); }
int pushmem_wait(void) { return the_system().wait(); }
int pushmem_self_test(void) { return the_system().self_test(); }
int pushmem_fault(unsigned memory, uint32_t *row, uint32_t *bits) { return the_system().fault(memory, row, bits); }
