// Self-checking testbench of an accelerator, whose ports are described in ports.h.
//
// It resets the accelerator, writes the configuration and reads it back, starts runs, offers the beats of the input
// streams, takes those of the output streams and compares every word. Without arguments it does so three times: at full
// speed, with random stalls on all streams, and with three runs that follow each other without a gap.
//
// Options, any of which but the folders and the waves makes it run once, as the options say:
//   --runs N          runs to start, without resetting or configuring in between (1)
//   --stalls PERCENT  probability that a stream stalls in a cycle, at most 90 (0)
//   --seed N          seed of the stalls and of the bits that registers and memories power up with (1)
//   --wave FILE       writes an FST wave file of what runs first, if built for it
//   --no-compare      expects nothing of the outputs
//   --folder FOLDER   where configuration/ and testbench/ are (the working folder)
//   --output FOLDER   where the found words go (FOLDER/testbench)
//
// Files: configuration/writes.hex, testbench/STREAM.hex for each input and testbench/STREAM.expected.hex for each output:
// one beat a line, its words in hexadecimal, lane 0 first. The found words become STREAM.actual.hex.
// The last line printed is `result: pass` or `result: fail` and key=value pairs. Exit code 0 if all is as expected, 1 if
// something differs, 2 for wrong usage or missing files.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "Vtop.h"
#include "streams.h"
#include "verilated.h"
#ifdef PUSHMEM_WAVE
#include "verilated_fst_c.h"
#endif

namespace {

// --- Files -----------------------------------------------------------------------------------------------------------

[[noreturn]] void stop(const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(2);
}

// The hexadecimal words of a file, all digits of each; `//` begins a comment.
template <typename Word>
std::vector<Word> read_words(const std::string& path) {
    std::ifstream file(path);
    if (!file) stop("cannot read " + path);
    std::vector<Word> words;
    std::string line, digits;
    while (std::getline(file, line)) {
        std::istringstream text(line.substr(0, line.find("//")));
        while (text >> digits) {
            char* end = nullptr;
            const unsigned long long word = std::strtoull(digits.c_str(), &end, 16);
            if (*end != '\0' || digits.size() != 2 * sizeof(Word)) {
                stop(path + ": `" + digits + "` is no word of " + std::to_string(2 * sizeof(Word)) + " hexadecimal digits");
            }
            words.push_back(static_cast<Word>(word));
        }
    }
    return words;
}

Words read_beats(const std::string& path, size_t lanes) {
    Words words = read_words<uint16_t>(path);
    if (words.size() % lanes != 0) stop(path + ": the last beat is not complete");
    return words;
}

void write_beats(const std::string& path, const Words& words, size_t lanes) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) stop("cannot write " + path);
    for (size_t place = 0; place < words.size(); ++place) {
        std::fprintf(file, "%04x%c", unsigned{words[place]}, (place + 1) % lanes == 0 ? '\n' : ' ');
    }
    if (std::fclose(file) != 0) stop("cannot write " + path);
}

// --- Scenarios -------------------------------------------------------------------------------------------------------

struct Options {
    std::string folder = ".";
    std::string output;
    std::string wave;
    bool compare = true;
    uint64_t runs = 1;
    uint64_t stalls = 0;
    uint64_t seed = 1;
};

struct Beats {
    std::vector<uint32_t> writes;
    std::vector<Words> inputs;
    std::vector<Words> expected;
};

Beats read_all(const Options& options) {
    Beats beats;
    const std::string testbench = options.folder + "/testbench/";
#ifdef PUSHMEM_CONFIGURATION
    const std::string writes = options.folder + "/configuration/writes.hex";
    beats.writes = read_words<uint32_t>(writes);
    if (beats.writes.size() != 2 * REGISTER_WRITES) {
        stop(writes + " has " + std::to_string(beats.writes.size()) + " words, not those of " +
             std::to_string(REGISTER_WRITES) + " writes: `pushmem build` writes it anew");
    }
#endif
    for (const InputPorts& port : INPUTS) beats.inputs.push_back(read_beats(testbench + port.name + ".hex", port.lanes));
    for (const OutputPorts& port : OUTPUTS) {
        const std::string path = testbench + port.name + ".expected.hex";
        beats.expected.push_back(options.compare ? read_beats(path, port.lanes) : Words{});
    }
    return beats;
}

struct Outcome {
    uint64_t cycles = 0;
    uint64_t words = 0;
    uint64_t differences = 0;
    bool complete = false;
};

class Simulation {
public:
    Simulation(const Options& options, const Beats& beats)
        : options_{options}, beats_{beats}, random_{options.seed}, found_(OUTPUTS.size()) {
        // Registers and memories power up with arbitrary bits, as in silicon.
        context_->randReset(2);
        context_->randSeed(static_cast<int>(options.seed % 0x7fffffff + 1));
        context_->fatalOnError(false);
#ifdef PUSHMEM_WAVE
        context_->traceEverOn(!options.wave.empty());
#endif
        top_.reset(new Vtop{context_.get(), "top"});
#ifdef PUSHMEM_WAVE
        if (!options.wave.empty()) {
            wave_.reset(new VerilatedFstC);
            top_->trace(wave_.get(), 99);
            wave_->open(options.wave.c_str());
            if (!wave_->isOpen()) stop("cannot write " + options.wave);
        }
#else
        if (!options.wave.empty()) stop("this testbench was built without waves; `make wave` builds one that has them");
#endif
    }

    ~Simulation() {
        top_->final();
#ifdef PUSHMEM_WAVE
        if (wave_) wave_->close();
#endif
    }

    Outcome run() {
        reset(*top_, [this] { cycle(); });
        Outcome outcome;
        if (self_test() && configure()) {
            outcome.complete = stream(outcome);
            compare(outcome);
        }
        return outcome;
    }

    const std::vector<Words>& found() const { return found_; }

private:
    bool failed() const { return context_->gotError() || context_->gotFinish(); }

    // A clock cycle in two halves: what is driven before `settle` counts at the rising edge in `clock`.
    void settle() {
        top_->clk_i = 0;
        top_->eval();
        dump();
    }

    void clock() {
        top_->clk_i = 1;
        top_->eval();
        dump();
    }

    void dump() {
#ifdef PUSHMEM_WAVE
        if (wave_) wave_->dump(context_->time());
#endif
        context_->timeInc(5);
    }

    void cycle() {
        settle();
        clock();
    }

    // Lets the memories test themselves: they have no fault, and it takes as long as it should.
    bool self_test() {
#ifdef PUSHMEM_SELF_TEST
        top_->bist_start_i = 1;
        cycle();
        top_->bist_start_i = 0;
        uint64_t cycles = 0;
        for (settle(); top_->bist_busy_o && cycles <= SELF_TEST_CYCLES; settle()) {
            clock();
            ++cycles;
        }
        if (!top_->bist_done_o || top_->bist_fail_o || cycles != SELF_TEST_CYCLES) {
            std::printf("self-test: done %d, fail %d after %" PRIu64 " cycles instead of %" PRIu64 "\n", int(top_->bist_done_o),
                        int(top_->bist_fail_o), cycles, SELF_TEST_CYCLES);
            return false;
        }
#endif
        return !failed();
    }

    // Writes all registers, then reads back what was written last to each.
    bool configure() {
#ifdef PUSHMEM_CONFIGURATION
        // No register is at an odd address.
        top_->config_read_i = 1;
        top_->config_address_i = 1;
        cycle();
        top_->config_read_i = 0;
        if (!top_->config_error_o) {
            std::printf("an address with nothing at it was read without an error\n");
            return false;
        }
        const std::vector<uint32_t>& writes = beats_.writes;
        top_->config_write_i = 1;
        for (size_t at = 0; at + 1 < writes.size(); at += 2) {
            top_->config_address_i = writes[at];
            top_->config_write_data_i = writes[at + 1];
            cycle();
            if (top_->config_error_o) {
                std::printf("register %08" PRIx32 ": there is none\n", writes[at]);
                return false;
            }
        }
        top_->config_write_i = 0;
        // Only one register of a tile is written twice, behind the digest and at the end of its sequence: what brings all into
        // force.
        std::unordered_map<uint32_t, size_t> last;
        for (size_t at = 0; at + 1 < writes.size(); at += 2) last[writes[at]] = at;
        for (size_t at = 0; at + 1 < writes.size(); at += 2) {
            if (last[writes[at]] != at) {
#ifdef PUSHMEM_SHADOW_REGISTERS
                tiles_.push_back(at / 2 - 1);
#endif
                continue;
            }
            top_->config_read_i = 1;
            top_->config_address_i = writes[at];
            cycle();
            top_->config_read_i = 0;
            for (unsigned waited = 1; waited < READ_CYCLES; ++waited) cycle();
            settle();
            if (top_->config_read_data_o != writes[at + 1]) {
                std::printf("register %08" PRIx32 ": wrote %08" PRIx32 ", read %08" PRIx32 "\n", writes[at],
                            writes[at + 1], static_cast<uint32_t>(top_->config_read_data_o));
                return false;
            }
        }
#ifdef PUSHMEM_SHADOW_REGISTERS
        // Those behind the digest and the first write to `commit`, up to the last.
        for (size_t tile = 0; tile < tiles_.size(); ++tile) {
            const size_t end = tile + 1 < tiles_.size() ? tiles_[tile + 1] : writes.size() / 2;
            for (size_t place = tiles_[tile] + 2; place + 1 < end; ++place) shadows_.push_back(place);
        }
#endif
#endif
        return !failed();
    }

#ifdef PUSHMEM_SHADOW_REGISTERS
    // Loads shadow registers while runs go on, an access a cycle: when all tiles have taken what was committed, random words to
    // all until the next run has begun, then all configurations, again and again. The streams must not show it.
    void reload(uint64_t finished) {
        const auto write = [this](size_t place, uint32_t data) {
            top_->config_write_i = 1;
            top_->config_address_i = beats_.writes[2 * place];
            top_->config_write_data_i = data;
        };
        const bool taken = top_->config_read_i == 1 && top_->config_read_data_o == 0;
        top_->config_read_i = 0;
        top_->config_write_i = 0;
        switch (load_) {
            case Load::commits:
                if (taken && ++place_ == tiles_.size()) {
                    load_ = Load::random_words;
                    place_ = 0;
                    finished_ = finished;
                    break;
                }
                top_->config_read_i = 1;
                top_->config_address_i = beats_.writes[2 * (tiles_[place_] + 1)];
                break;
            case Load::random_words:
                write(shadows_[place_], static_cast<uint32_t>(random_()));
                if (++place_ != shadows_.size()) break;
                place_ = 0;
                if (finished != finished_) load_ = Load::configurations;
                break;
            case Load::configurations:
                write(place_, beats_.writes[2 * place_ + 1]);
                if (++place_ != beats_.writes.size() / 2) break;
                place_ = 0;
                load_ = Load::commits;
                break;
        }
    }
#endif

    bool stalls() { return options_.stalls != 0 && random_() % 100 < options_.stalls; }

    // Runs until all outputs have come, and a little longer, in case that there are more. False if it does not end well.
    bool stream(Outcome& outcome) {
        struct Offer {
            size_t place = 0;
            uint64_t rest;
            bool valid = false;
        };
        std::vector<Offer> offers(INPUTS.size());
        uint64_t inputs_left = 0;
        for (size_t i = 0; i < INPUTS.size(); ++i) {
            offers[i].rest = options_.runs * (beats_.inputs[i].size() / INPUTS[i].lanes);
            inputs_left += offers[i].rest;
        }
        uint64_t started = 0;
        uint64_t finished = 0;
        uint64_t last_finish = 0;
        bool any_input = false;
        uint64_t first_input = 0;
        uint64_t last_output = 0;
        const uint64_t patience = 4 * (RUN_CYCLES + 1000) * 100 / (100 - options_.stalls);
        uint64_t last_progress = 0;
        uint64_t calm = 0;
        for (uint64_t now = 0; calm < 16; ++now) {
            // A run is wanted at once; the next while one goes on.
            const uint64_t wanted = started - finished;
            bool start = started < options_.runs && wanted < 2 && (started == 0 || !stalls());
            top_->start_i = start;
            started += start;
            for (size_t i = 0; i < INPUTS.size(); ++i) {
                Offer& offer = offers[i];
                // An offer stays until it is taken.
                if (!offer.valid && offer.rest != 0) offer.valid = !stalls();
                const Words& words = beats_.inputs[i];
                if (!words.empty()) INPUTS[i].offer(*top_, offer.valid, &words[offer.place]);
            }
            ready_.clear();
            for (const OutputPorts& port : OUTPUTS) {
                ready_.push_back(!stalls());
                port.accept(*top_, ready_.back());
            }
#ifdef PUSHMEM_SHADOW_REGISTERS
            if (options_.runs > 1) reload(finished);
#endif
            settle();
            if (top_->busy_o != (wanted != 0) || (top_->done_o && wanted == 0)) {
                std::printf("busy is %d and done is %d in cycle %" PRIu64 ", with %" PRIu64 " runs to do\n", int{top_->busy_o},
                            int{top_->done_o}, now, wanted);
                return false;
            }
            if (options_.runs > 2 && wanted == 2) {
                // While one run goes on and one waits, a third request counts only in the last cycle of the first. None
                // comes in vain later, or it could make up for one that was lost.
                start = top_->done_o && started < options_.runs;
                top_->start_i = start || (!top_->done_o && finished == 0 && !stalls());
                started += start;
                settle();
            }
            bool progress = start;
            for (size_t i = 0; i < INPUTS.size(); ++i) {
                Offer& offer = offers[i];
                if (!offer.valid || !INPUTS[i].ready(*top_)) continue;
                if (!any_input) first_input = now;
                any_input = true;
                progress = true;
                offer.valid = false;
                offer.place = (offer.place + INPUTS[i].lanes) % beats_.inputs[i].size();
                --offer.rest;
                --inputs_left;
            }
            for (size_t o = 0; o < OUTPUTS.size(); ++o) {
                if (!ready_[o] || !OUTPUTS[o].valid(*top_)) continue;
                Words& words = found_[o];
                words.resize(words.size() + OUTPUTS[o].lanes);
                OUTPUTS[o].take(*top_, &words[words.size() - OUTPUTS[o].lanes]);
                // A stream that never ends would fill all memory.
                if (options_.compare && words.size() > options_.runs * beats_.expected[o].size()) return false;
                last_output = now;
                progress = true;
            }
            if (top_->done_o) {
                progress = true;
                // Without stalls nothing ever waits: runs follow each other without a gap.
                if (finished != 0 && options_.stalls == 0 && now - last_finish != RUN_CYCLES) {
                    std::printf("run %" PRIu64 " ended %" PRIu64 " cycles after the one before; expected %" PRIu64 "\n",
                                finished, now - last_finish, RUN_CYCLES);
                    return false;
                }
                last_finish = now;
                ++finished;
            }
            clock();
            if (failed()) {
                std::printf("the simulation stopped in cycle %" PRIu64 "\n", now);
                return false;
            }
            if (progress) last_progress = now;
            if (now - last_progress > patience) {
                std::printf("nothing happens any more: %" PRIu64 " of %" PRIu64 " runs done, %" PRIu64
                            " input beats left\n",
                            finished, options_.runs, inputs_left);
                return false;
            }
            calm = finished == options_.runs && !progress ? calm + 1 : 0;
        }
        outcome.cycles = last_output - first_input + 1;
        if (inputs_left != 0) std::printf("%" PRIu64 " input beats were not taken\n", inputs_left);
        return inputs_left == 0;
    }

    void compare(Outcome& outcome) const {
        constexpr uint64_t SHOWN = 10;
        for (size_t o = 0; o < OUTPUTS.size(); ++o) {
            const OutputPorts& port = OUTPUTS[o];
            const Words& found = found_[o];
            const Words& expected = beats_.expected[o];
            outcome.words += found.size();
            if (!options_.compare) continue;
            const size_t count = options_.runs * expected.size();
            for (size_t place = 0; place < count && place < found.size(); ++place) {
                const uint16_t wanted = expected[place % expected.size()];
                if (found[place] == wanted) continue;
                if (outcome.differences++ < SHOWN) {
                    std::printf("%s: beat %zu, lane %zu: expected %04x, found %04x\n", port.name, place / port.lanes,
                                place % port.lanes, unsigned{wanted}, unsigned{found[place]});
                }
            }
            if (found.size() != count) {
                std::printf("%s: expected %zu beats, found %zu\n", port.name, count / port.lanes,
                            found.size() / port.lanes);
                outcome.differences += found.size() < count ? count - found.size() : found.size() - count;
            }
        }
        if (outcome.differences > SHOWN) std::printf("... %" PRIu64 " differences\n", outcome.differences);
    }

    const Options& options_;
    const Beats& beats_;
    std::mt19937_64 random_;
    std::unique_ptr<VerilatedContext> context_{new VerilatedContext};
    std::unique_ptr<Vtop> top_;
#ifdef PUSHMEM_WAVE
    std::unique_ptr<VerilatedFstC> wave_;
#endif
    std::vector<Words> found_;
    std::vector<bool> ready_;
#ifdef PUSHMEM_SHADOW_REGISTERS
    // The place of the first write of each tile, and of all writes to registers with a shadow; what is done to all tiles, how far,
    // and how many runs were over when random words began.
    std::vector<size_t> tiles_;
    std::vector<size_t> shadows_;
    enum class Load { commits, random_words, configurations };
    Load load_ = Load::commits;
    size_t place_ = 0;
    uint64_t finished_ = 0;
#endif
};

// --- Command line ----------------------------------------------------------------------------------------------------

uint64_t number(const std::string& option, const std::string& text, uint64_t least, uint64_t most) {
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
    if (text.empty() || text[0] < '0' || text[0] > '9' || *end != '\0' || value < least || value > most) {
        stop(option + " " + text + ": expected a number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    bool once = false;
    for (int place = 1; place < argc; ++place) {
        const std::string option = argv[place];
        if (option == "--no-compare") {
            options.compare = false;
            once = true;
            continue;
        }
        if (place + 1 == argc) stop("unknown option, or one without its value: " + option);
        const std::string value = argv[++place];
        if (option == "--folder") {
            options.folder = value;
            continue;
        }
        if (option == "--output") {
            options.output = value;
            continue;
        }
        if (option == "--wave") {
            options.wave = value;
            continue;
        }
        once = true;
        if (option == "--runs") {
            options.runs = number(option, value, 1, 1000000);
        } else if (option == "--stalls") {
            options.stalls = number(option, value, 0, 90);
        } else if (option == "--seed") {
            options.seed = number(option, value, 0, UINT64_MAX);
        } else {
            stop("unknown option: " + option);
        }
    }
    if (options.output.empty()) options.output = options.folder + "/testbench";

    std::vector<Options> scenarios{options};
    if (!once) {
        // Waves are those of the first.
        Options stalls = options;
        stalls.stalls = 30;
        stalls.wave.clear();
        Options thrice = options;
        thrice.runs = 3;
        thrice.wave.clear();
        scenarios.insert(scenarios.end(), {stalls, thrice});
    }
    // Whoever reads a pipe sees the end of each scenario at once.
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    const Beats beats = read_all(options);
    Outcome total;
    total.complete = true;
    uint64_t runs = 0;
    for (size_t place = 0; place < scenarios.size(); ++place) {
        const Options& scenario = scenarios[place];
        Simulation simulation{scenario, beats};
        const Outcome outcome = simulation.run();
        std::printf("%s: %" PRIu64 " %s, %" PRIu64 "%% stalls, seed %" PRIu64 ": %" PRIu64
                    " cycles, %" PRIu64 " words, %s\n",
                    ACCELERATOR, scenario.runs, scenario.runs == 1 ? "run" : "runs", scenario.stalls, scenario.seed,
                    outcome.cycles, outcome.words,
                    outcome.complete && outcome.differences == 0 ? "as expected" : "NOT AS EXPECTED");
        // The words of the first scenario are those of one run, unless asked for otherwise.
        if (place == 0) {
            total.cycles = outcome.cycles;
            for (size_t o = 0; o < OUTPUTS.size(); ++o) {
                const std::string path = options.output + "/" + OUTPUTS[o].name + ".actual.hex";
                write_beats(path, simulation.found()[o], OUTPUTS[o].lanes);
            }
        }
        runs += scenario.runs;
        total.words += outcome.words;
        total.differences += outcome.differences;
        total.complete = total.complete && outcome.complete;
    }
    const bool pass = total.complete && total.differences == 0;
    std::printf("result: %s scenarios=%zu runs=%" PRIu64 " cycles=%" PRIu64 " words=%" PRIu64 " differences=%" PRIu64
                " seed=%" PRIu64 "\n",
                pass ? "pass" : "fail", scenarios.size(), runs, total.cycles, total.words, total.differences, options.seed);
    return pass ? 0 : 1;
}
