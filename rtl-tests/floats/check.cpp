// Compares the operations of a processing element on numbers of one format, FORMAT, with the arithmetic of this machine.
//
// Arguments: the first of the left operands, the number of them, and the distance between right operands; 1 takes all pairs. The right
// operands of a left one begin at its own place modulo the distance, so that all words are right operands of some. Where the distance is
// not 1, each left operand meets extremes, too: zero, infinity, what is no number, the least and the greatest numbers and subnormal numbers.
//
// The reference computes in double precision and rounds once more, to 8 or 11 bits of significand:
// - a product has 16 or 22 bits of significand and an exponent that a double has, so that it is exact before it is rounded;
// - a sum of numbers far apart is not exact. Where it is normal, it is rounded as if once all the same, as 53 bits are more than twice 11
//   and two (Figueroa, When is double rounding innocuous?, 1995); where it is subnormal, it is a small multiple of the least number, which a
//   double holds exactly.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "Vpairs.h"
#include "verilated.h"

namespace {

// Words and numbers are turned into each other by integer operations on bits, and subnormal results by the host's own rounding to an
// integer.
struct Bfloat16 {
    static constexpr const char* PREFIX = "bfloat";
    static constexpr uint16_t INFINITE = 0x7f80, NONE = 0x7fc0, SMALLEST_NORMAL = 0x0080;

    static double number(uint16_t bits) {
        const uint32_t wide = static_cast<uint32_t>(bits) << 16;
        float single;
        std::memcpy(&single, &wide, sizeof single);
        return single;
    }

    static uint16_t nearest(double exact) {
        if (exact != exact) return NONE;
        uint64_t bits;
        std::memcpy(&bits, &exact, sizeof bits);
        const uint16_t sign = static_cast<uint16_t>(bits >> 63 << 15);
        const double magnitude = std::fabs(exact);
        // In units of the least number, words of subnormal numbers are integers, and the next is the least normal number.
        if (magnitude < 0x1p-126) return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p133)));
        std::memcpy(&bits, &magnitude, sizeof bits);
        // 45 bits of the fraction go: half of the last that stays, less one if it is even, is added before. A carry is one of the exponent.
        bits += (uint64_t{1} << 44) - 1 + (bits >> 45 & 1);
        const uint64_t word = (bits >> 45) - (uint64_t{1023 - 127} << 7);
        return static_cast<uint16_t>(sign | (word < INFINITE ? word : INFINITE));
    }
};

// The type of the compiler, with its conversions.
struct Float16 {
    static constexpr const char* PREFIX = "float16";
    static constexpr uint16_t INFINITE = 0x7c00, NONE = 0x7e00, SMALLEST_NORMAL = 0x0400;

    static double number(uint16_t bits) {
        _Float16 half;
        std::memcpy(&half, &bits, sizeof half);
        return static_cast<double>(half);
    }

    static uint16_t nearest(double exact) {
        if (exact != exact) return NONE;
        const _Float16 half = static_cast<_Float16>(exact);
        uint16_t bits;
        std::memcpy(&bits, &half, sizeof bits);
        return bits;
    }
};

using Format = FORMAT;

uint16_t to_integer(uint16_t bits) {
    const double value = std::trunc(Format::number(bits));
    if (value != value) return 0;
    if (value >= 32768.0) return 0x7fff;
    if (value <= -32768.0) return 0x8000;
    return static_cast<uint16_t>(static_cast<int16_t>(value));
}

void expect(const char* operation, uint16_t a, uint16_t b, unsigned rtl, unsigned reference) {
    if (rtl == reference) return;
    std::printf("%s_%s of %04x and %04x: the RTL gives %x, the machine %x\n", Format::PREFIX, operation, a, b, rtl, reference);
    std::exit(1);
}

void compare(Vpairs& pairs, uint16_t a, uint16_t b) {
    const double x = Format::number(a), y = Format::number(b);
    pairs.a_i = a;
    pairs.b_i = b;
    pairs.eval();
    expect("add", a, b, pairs.sum_o, Format::nearest(x + y));
    expect("subtract", a, b, pairs.difference_o, Format::nearest(x - y));
    expect("multiply", a, b, pairs.product_o, Format::nearest(x * y));
    expect("equal", a, b, pairs.equal_o, x == y);
    expect("less", a, b, pairs.less_o, x < y);
    expect("less_equal", a, b, pairs.less_equal_o, x <= y);
}

}  // namespace

int main(int, char** arguments) {
    const uint32_t first = std::strtoul(arguments[1], nullptr, 0);
    const uint32_t count = std::strtoul(arguments[2], nullptr, 0);
    const uint32_t distance = std::strtoul(arguments[3], nullptr, 0);
    const uint16_t extremes[] = {0, 1, Format::SMALLEST_NORMAL - 1, Format::SMALLEST_NORMAL, Format::nearest(1.0), Format::INFINITE - 1,
                                 Format::INFINITE, Format::INFINITE + 1, Format::NONE};
    Vpairs pairs;
    for (uint32_t left = 0; left < count; ++left) {
        const uint16_t a = static_cast<uint16_t>(first + left);
        pairs.a_i = a;
        pairs.b_i = 0;
        pairs.eval();
        expect("from_integer", a, 0, pairs.from_integer_o, Format::nearest(static_cast<int16_t>(a)));
        expect("to_integer", a, 0, pairs.to_integer_o, to_integer(a));
        // Odd factors: all words where the distance is 1, and otherwise words whose fractions and exponents differ in any way.
        for (uint32_t step = 0; step < 0x10000 / distance; ++step) compare(pairs, a, static_cast<uint16_t>(a * 40503u + step * 25717u));
        if (distance > 1) {
            for (const uint16_t extreme : extremes) {
                compare(pairs, a, extreme);
                compare(pairs, a, static_cast<uint16_t>(extreme | 0x8000));
            }
        }
        if (left % 1024 == 1023) {
            std::printf("%u\n", left + 1);
            std::fflush(stdout);
        }
    }
    return 0;
}
