"""Every function that Halide's integers have, of each type, on the least, the greatest and odd values, and by all amounts.

A program has the functions of one type as its channels, and their operands, each with each, as its images.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import halide as hl
import numpy as np
from pipeline import PROGRAMS, Pipeline, c, nothing, x, y
from pushmem_halide import stream_to_accelerator

I8, U8, I16, U16 = hl.Int(8), hl.UInt(8), hl.Int(16), hl.UInt(16)
I32, U32 = hl.Int(32), hl.UInt(32)

#: Of two operands. The results have at most 32 bits.
BINARY = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "modulo": lambda a, b: a % b,
    "min": hl.min,
    "max": hl.max,
    "absd": hl.absd,
    "less": lambda a, b: hl.select(a < b, a, b + 1),
    "halving_add": hl.halving_add,
    "halving_sub": hl.halving_sub,
    "rounding_halving_add": hl.rounding_halving_add,
    "saturating_add": hl.saturating_add,
    "saturating_sub": hl.saturating_sub,
}
#: Of two operands, with a result of twice their bits.
WIDENING = {
    "widening_add": hl.widening_add,
    "widening_sub": hl.widening_sub,
    "widening_mul": hl.widening_mul,
}
#: Of one operand.
UNARY = {
    "not": lambda a: ~a,
    "popcount": hl.popcount,
    "count_leading_zeros": hl.count_leading_zeros,
    "count_trailing_zeros": hl.count_trailing_zeros,
}
#: Of a value and an amount.
SHIFTS = {
    "left": lambda a, b: a << b,
    "right": lambda a, b: a >> b,
    "rounding_left": hl.rounding_shift_left,
    "rounding_right": hl.rounding_shift_right,
}
WIDENING_SHIFTS = {
    "widening_left": hl.widening_shift_left,
    "widening_right": hl.widening_shift_right,
}


def extremes(element) -> list[int]:
    """Values of a type where overflow, signs and carries show."""
    bits, signed = element.bits(), element.is_int()
    least, greatest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    middle = 1 << bits // 2
    values = [least, least + 1, greatest - 1, greatest, 0, 1, 2, 7, middle - 1, middle, greatest // 3, greatest // 2 + 1]
    return values + ([-1, -2, -7, least // 2, least // 3] if signed else [])


def amounts(element) -> list[int]:
    """All amounts by which a value of this type may be shifted."""
    return list(range(element.bits()))


def words(values: list[int], across: int, transposed: bool) -> dict[str, np.ndarray]:
    """Values of up to 32 bits, each in a row or a column of its own, as images of their halves."""
    low = np.tile(np.array([value & 0xffff for value in values], np.uint16), (across, 1))
    high = np.tile(np.array([value >> 16 & 0xffff for value in values], np.uint16), (across, 1))
    return {"low": low.T if transposed else low, "high": high.T if transposed else high}


def operands(element, others, of_others) -> tuple:
    """Two operands, the values of a type along rows, and others along columns: their images, and expressions of them."""
    values, images, inputs, found = extremes(element), {}, [], []
    for name, of, wanted, across in (("a", element, values, len(others)), ("b", of_others, others, len(values))):
        halves = []
        for half, image in words(wanted, across, name == "b").items():
            if half == "high" and of.bits() <= 16:
                continue
            inputs.append(stream_to_accelerator(f"{name}_{half}", U16, 2))
            images[f"{name}_{half}"] = np.ascontiguousarray(image)
            halves.append(inputs[-1][x, y])
        whole = halves[0] if len(halves) == 1 else hl.cast(U32, halves[0]) | hl.cast(U32, halves[1]) << 16
        found.append(hl.cast(of, whole))
    return found, inputs, images


def pipeline(results: list, inputs: list, images: dict) -> Pipeline:
    """All results, in the halves of words, as the channels of an output."""
    output = hl.Func("output")
    channels = []
    for result in results:
        bits = result.type().bits()
        wide = hl.cast(U32, result)
        channels += [hl.cast(U16, wide)] + ([hl.cast(U16, wide >> 16)] if bits > 16 else [])
    # Channels that are the same would be one definition, with gaps.
    output[c, x, y] = hl.mux(c, [channel + place for place, channel in enumerate(channels)])
    output.bound(c, 0, len(channels)).unroll(c)
    height, width = next(iter(images.values())).shape
    box = [(0, width), (0, height)]
    return Pipeline(output, inputs, [len(channels), width, height], {image: box for image in images}, {"inline": nothing},
                    images=images)


def arithmetic(element) -> Pipeline:
    """Functions of one and of two operands."""
    (a, b), inputs, images = operands(element, extremes(element), element)
    results = [function(a, b) for function in BINARY.values()] + [function(a) for function in UNARY.values()]
    results += [hl.abs(a)] if element.is_int() else []
    if element.bits() <= 16:
        results += [function(a, b) for function in WIDENING.values()]
        results += [hl.saturating_cast(to, a) for to in (I8, U8, I16, U16)]
        results += [hl.lerp(a, b, hl.cast(of, weight)) for of, weight in product((U8, U16), (0, 1, 100, 255))]
    # Halide leaves the quotient by 0, and that of the least value by -1, undefined.
    divisor = hl.select(b == 0, hl.cast(element, 1), b)
    divisor = hl.select(divisor + hl.cast(element, 1) == 0, hl.cast(element, 2), divisor)
    results += [hl.div_round_to_zero(a, divisor), hl.mod_round_to_zero(a, divisor)]
    results.append(hl.mux(hl.cast(I32, b & 3), [a, b, a + b, a - b]))
    return pipeline(results, inputs, images)


def shifts(element, signed: bool) -> Pipeline:
    """Shifts by data: all amounts, in both directions if they have signs."""
    by = amounts(element)
    by = [-amount for amount in reversed(by[1:])] + by if signed else by
    of = hl.Int(element.bits()) if signed else hl.UInt(element.bits())
    (a, b), inputs, images = operands(element, by, of)
    functions = {**SHIFTS, **(WIDENING_SHIFTS if element.bits() <= 16 else {})}
    return pipeline([function(a, b) for function in functions.values()], inputs, images)


def products(element, rounding: bool) -> Pipeline:
    """Products that are shifted by every constant amount."""
    (a, b), inputs, images = operands(element, extremes(element), element)
    function = hl.rounding_mul_shift_right if rounding else hl.mul_shift_right
    results = [function(a, b, hl.cast(hl.UInt(element.bits()), amount)) for amount in range(2 * element.bits())]
    return pipeline(results, inputs, images)


def constant_shifts(element) -> Pipeline:
    """Shifts by every constant amount."""
    (a, _), inputs, images = operands(element, [0], element)
    functions = {**SHIFTS, **(WIDENING_SHIFTS if element.bits() <= 16 else {})}
    results = [function(a, amount) for function in functions.values() for amount in amounts(element)]
    return pipeline(results, inputs, images)


for each in (I8, U8, I16, U16, I32, U32):
    name = f"{'i' if each.is_int() else 'u'}{each.bits()}"
    PROGRAMS[f"intrinsics_{name}"] = partial(arithmetic, each)
    PROGRAMS[f"intrinsics_shifts_{name}"] = partial(shifts, each, True)
    PROGRAMS[f"intrinsics_unsigned_shifts_{name}"] = partial(shifts, each, False)
    PROGRAMS[f"intrinsics_constant_shifts_{name}"] = partial(constant_shifts, each)
    if each.bits() <= 16:
        PROGRAMS[f"intrinsics_products_{name}"] = partial(products, each, False)
        PROGRAMS[f"intrinsics_rounded_products_{name}"] = partial(products, each, True)
