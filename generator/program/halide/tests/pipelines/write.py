"""Writes the pipelines of this folder, each with random images and what Halide computes of them.

  PYTHONPATH=scripts/halide build/venv/bin/python generator/program/halide/tests/pipelines/write.py
"""

import sys
from pathlib import Path

import halide as hl
import numpy as np
from pushmem_halide import hw_accelerate, save, to_numbers, to_words

x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
U8, U16, I16, I32 = hl.UInt(8), hl.UInt(16), hl.Int(16), hl.Int(32)
PROGRAMS = {}


def program(build):
    """Adds a program, which gives the output, the inputs and the extents."""
    PROGRAMS[build.__name__] = build
    return build


@program
def line_buffer_unrolled():
    """The producer by rows, and both with two neighbours at once."""
    image, bx, by = hl.ImageParam(U16, 2, "input"), hl.Func("bx"), hl.Func("by")
    bx[x, y] = (image[x, y] + image[x + 1, y] + image[x + 2, y]) / 3
    by[x, y] = (bx[x, y] + bx[x, y + 1] + bx[x, y + 2]) / 3
    by.unroll(x, 2)
    bx.store_root().compute_at(by, y).unroll(x, 2)
    return by, [image], [16, 8]


@program
def same_padding():
    """A convolution with zeros around the image, and constant weights, in loops."""
    image, output, sums = hl.ImageParam(I16, 2, "input"), hl.Func("output"), hl.Func("sums")
    weights = hl.Buffer(np.arange(-4, 5, dtype=np.int16).reshape(3, 3))
    padded = hl.BoundaryConditions.constant_exterior(image, hl.i16(0), [(0, 16), (0, 12)])
    r = hl.RDom([(0, 3), (0, 3)], "r")
    sums[x, y] += padded[x + r.x - 1, y + r.y - 1] * weights[r.x, r.y]
    output[x, y] = sums[x, y]
    sums.compute_root()
    return output, [image], [16, 12]


@program
def unrolled_around():
    """Unrolled loops around and within those of a reduction."""
    image, output, sums = hl.ImageParam(U8, 2, "input"), hl.Func("output"), hl.Func("sums")
    r = hl.RDom([(0, 4), (0, 3)], "r")
    sums[x, y] = hl.u16(0)
    sums[x, y] += hl.u16(image[x + r.x, y + r.y])
    ri, ro = hl.RVar("ri"), hl.RVar("ro")
    sums.update().split(r.x, ro, ri, 2).reorder(x, r.y, ri, ro, y).unroll(ri)
    sums.compute_root()
    output[x, y] = sums[x, y]
    return output, [image], [16, 8]


@program
def nearest():
    """The place of the least element, by `argmin`, of 32 bits."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    r = hl.RDom([(0, 4)], "r")
    output[x, y] = hl.u8(hl.argmin(image[x + r.x, y], "least")[0])
    return output, [image], [16, 8]


@program
def accumulated():
    """The output itself adds up."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    r = hl.RDom([(0, 5)], "r")
    output[x, y] = hl.u16(1)
    output[x, y] += hl.u16(image[x + r.x, y])
    return output, [image], [16, 8]


@program
def greatest():
    """A reduction by `max`, in loops."""
    image, output, most = hl.ImageParam(U8, 2, "input"), hl.Func("output"), hl.Func("most")
    r = hl.RDom([(0, 3), (0, 3)], "r")
    most[x, y] = hl.u8(0)
    most[x, y] = hl.max(most[x, y], image[x + r.x, y + r.y])
    most.compute_root()
    output[x, y] = most[x, y]
    return output, [image], [16, 8]


@program
def interleaved():
    """Even and odd columns of two images."""
    one, other = hl.ImageParam(U8, 2, "one"), hl.ImageParam(U8, 2, "other")
    output = hl.Func("output")
    output[x, y] = hl.select(x % 2 == 0, one[x / 2, y], other[x / 2, y])
    return output, [one, other], [16, 8]


@program
def reordered():
    """Pairs of columns apart."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    output[x, y] = image[x / 2 + 8 * (x % 2), y]
    return output, [image], [16, 8]


@program
def repeated():
    """An image that is repeated, by `repeat_image`."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    border = hl.BoundaryConditions.repeat_image(image, [(0, 16), (0, 8)])
    output[x, y] = border[x - 1, y] + border[x + 1, y]
    return output, [image], [16, 8]


@program
def mirrored():
    """An image that is reflected without its edge, by `mirror_interior`."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    border = hl.BoundaryConditions.mirror_interior(image, [(0, 16), (0, 8)])
    output[x, y] = border[x - 2, y] / 2 + border[x + 1, y + 1] / 2
    return output, [image], [16, 8]


@program
def enlarged_edge():
    """A kept array at twice its size, with its edge repeated: each index is a limit around a quotient and a loop of a reduction."""
    image, kept, output = hl.ImageParam(U8, 2, "input"), hl.Func("kept"), hl.Func("output")
    kept[x, y] = image[x, y] * 3
    kept.compute_root()
    r = hl.RDom([(-1, 3), (-1, 3)], "r")
    output[x, y] = hl.u16(0)
    output[x, y] += hl.u16(kept[hl.clamp(x / 2 + r.x, 0, 7), hl.clamp(y / 2 + r.y, 0, 5)])
    return output, [image], [16, 12]


@program
def limited_positions():
    """Windows around positions that are limited: an index is the sum of a limit and a loop of a reduction."""
    image, kept, output = hl.ImageParam(U8, 2, "input"), hl.Func("kept"), hl.Func("output")
    kept[x, y] = image[x, y] * 3
    kept.compute_root()
    border = hl.BoundaryConditions.constant_exterior(kept, hl.u8(9), [(0, 12), (0, 8)])
    r = hl.RDom([(-1, 3), (-1, 3)], "r")
    output[x, y] = hl.u16(0)
    output[x, y] += hl.u16(border[hl.clamp(x, 2, 9) + r.x, hl.clamp(y, 0, 5) + r.y])
    return output, [image], [12, 8]


@program
def mirrored_by_hand():
    """Rows that are reflected without the edge by `abs`, of two loops."""
    image, kept, output = hl.ImageParam(U8, 2, "input"), hl.Func("kept"), hl.Func("output")
    kept[x, y] = image[x, y] * 3
    kept.compute_root()
    r = hl.RDom([(-2, 5)], "r")
    row = hl.i32(hl.abs(7 - hl.i32(hl.abs(7 - y - r.x))))
    output[x, y] = hl.u16(0)
    output[x, y] += hl.u16(kept[hl.min(x, 5) + hl.max(r.x, 0), row])
    return output, [image], [8, 8]


@program
def mirrored_often():
    """A kept array that is reflected several times by `mirror_image`."""
    image, kept, output = hl.ImageParam(U8, 2, "input"), hl.Func("kept"), hl.Func("output")
    kept[x, y] = image[x, y] * 3
    kept.compute_root()
    border = hl.BoundaryConditions.mirror_image(kept, [(0, 8), (0, 4)])
    r = hl.RDom([(-20, 41)], "r")
    output[x, y] = hl.u16(0)
    output[x, y] += hl.u16(border[x + r.x, y]) * hl.u16(r.x + 30)
    return output, [image], [8, 4]


@program
def untaken():
    """Elements beyond the image, which are not used."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    output[x, y] = hl.select(x == 0, hl.u8(7), image[hl.max(x, 1) - 1, y])
    return output, [image], [16, 8]


@program
def without_inputs():
    """A Func of its variables only, and a table that data looks up."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    ramp, curve = hl.Func("ramp"), hl.Func("curve")
    ramp[x, y] = hl.u8(3 * x + y)
    curve[x] = hl.u8(x * x / 255)
    ramp.compute_root()
    curve.compute_root()
    output[x, y] = curve[hl.i32(image[x, y])] + ramp[x, y]
    return output, [image], [16, 8]


@program
def gained():
    """A number from outside."""
    image, output, gain = hl.ImageParam(U8, 2, "input"), hl.Func("output"), hl.Param(U8, "gain")
    output[x, y] = image[x, y] * gain
    return output, [image, gain], [16, 8]


@program
def square_root():
    """A square root of integers in eight steps, each of which uses the one before three times."""
    image, output = hl.ImageParam(U16, 2, "input"), hl.Func("output")
    root = hl.Func("root_0")
    root[x, y] = hl.u16(0)
    for step in range(8):
        bit = hl.u16(1 << (7 - step))
        after = hl.Func(f"root_{step + 1}")
        more = root[x, y] + bit
        after[x, y] = hl.select(more * more <= image[x, y], more, root[x, y])
        root = after
    output[x, y] = hl.u8(root[x, y])
    return output, [image], [16, 8]


@program
def wide_sums():
    """Sums of 32 bits that are few enough for 16."""
    image, output, sums = hl.ImageParam(U8, 2, "input"), hl.Func("output"), hl.Func("sums")
    r = hl.RDom([(0, 3), (0, 3)], "r")
    sums[x, y] += hl.i32(image[x + r.x, y + r.y])
    sums.compute_root()
    output[x, y] = hl.u8(sums[x, y] / 9)
    return output, [image], [16, 8]


@program
def histogram():
    """Pixels that have each value, as the output itself."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    r = hl.RDom([(0, 16), (0, 8)], "r")
    output[x] = hl.u16(0)
    output[hl.i32(image[r.x, r.y])] += hl.u16(1)
    return output, [image], [256]


@program
def equalized():
    """The histogram of an image, summed up, as its tone curve."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    bins, below, curve = hl.Func("bins"), hl.Func("below"), hl.Func("curve")
    r, b = hl.RDom([(0, 16), (0, 8)], "r"), hl.RDom([(1, 255)], "b")
    bins[x] = 0
    bins[hl.i32(image[r.x, r.y])] += 1
    below[x] = 0
    below[0] = bins[0]
    below[b.x] = below[b.x - 1] + bins[b.x]
    curve[x] = hl.u8(below[x] * 255 / 128)
    output[x, y] = curve[hl.i32(image[x, y])]
    for func in (bins, below, curve):
        func.compute_root()
    return output, [image], [16, 8]


@program
def grid():
    """A bilateral grid: sums and counts of blocks by value, as a tuple, and means between two values of the grid."""
    image, output, sums = hl.ImageParam(U8, 2, "input"), hl.Func("output"), hl.Func("sums")
    z, r = hl.Var("z"), hl.RDom([(0, 4), (0, 4)], "r")
    value = image[4 * x + r.x, 4 * y + r.y]
    at = hl.i32(value) / 32
    sums[x, y, z] = (hl.u16(0), hl.u16(0))
    before = sums[x, y, at]
    sums[x, y, at] = (before[0] + hl.u16(value), before[1] + hl.u16(1))
    sums.compute_root()
    here = image[x, y]
    low, share = hl.clamp(hl.i32(here) / 32, 0, 6), hl.u16(here) % 32

    def mean(level):
        element = sums[x / 4, y / 4, level]
        return element[0] / hl.max(element[1], hl.u16(1))
    output[x, y] = hl.u8((mean(low) * (32 - share) + mean(low + 1) * share) / 32)
    return output, [image], [16, 8]


@program
def warped():
    """Pixels that displacements choose, within the image, by rows that are unrolled."""
    image, moves, output = hl.ImageParam(U8, 2, "input"), hl.ImageParam(hl.Int(8), 2, "moves"), hl.Func("output")
    output[x, y] = image[hl.clamp(x + hl.i32(moves[x, y]) / 16, 0, 15), y]
    output.unroll(x, 2)
    return output, [image, moves], [16, 8]


@program
def scattered():
    """Elements that go where data say, the last one where several go to one."""
    image, places, output = hl.ImageParam(U8, 1, "input"), hl.ImageParam(U8, 1, "places"), hl.Func("output")
    r = hl.RDom([(0, 64)], "r")
    output[x] = hl.u8(x)
    output[hl.i32(places[r.x]) % 64] = image[r.x]
    output.update().unroll(r.x, 4)
    return output, [image, places], [64]


@program
def backwards():
    """Copies of a loop of a reduction that store different elements."""
    image, output = hl.ImageParam(U8, 1, "input"), hl.Func("output")
    r = hl.RDom([(0, 32)], "r")
    output[x] = hl.u8(x)
    output[63 - 2 * r.x] = image[r.x]
    output.update().unroll(r.x, 4)
    return output, [image], [64]


@program
def outer_unrolled():
    """Copies of the outer loop of an update whose order matters."""
    image, output, sums = hl.ImageParam(U8, 1, "input"), hl.Func("output"), hl.Func("sums")
    r = hl.RDom([(0, 8), (0, 4)], "r")
    sums[x] = hl.u16(x)
    sums[x] = sums[x] * 3 + hl.u16(r.y) + image[r.x]
    sums.compute_root().update().unroll(r.y, 2)
    output[x] = sums[x]
    return output, [image], [8]


@program
def own_index_unrolled():
    """Copies of a loop that store at a place which the first of them changes."""
    image, output = hl.ImageParam(U8, 1, "input"), hl.Func("output")
    r = hl.RDom([(0, 8)], "r")
    output[x] = hl.u8(x)
    output[hl.i32(output[0]) % 16] = image[r.x]
    output.update().unroll(r.x, 4)
    return output, [image], [16]


@program
def own_first():
    """An update that joins its element with one that data choose."""
    image, places, output = hl.ImageParam(U8, 1, "input"), hl.ImageParam(U8, 1, "places"), hl.Func("output")
    r = hl.RDom([(0, 4)], "r")
    output[x] = hl.u8(x)
    output[x] = output[x] ^ places[x + r.x] ^ image[places[x + r.x]]
    return output, [image, places], [8]


BF16, F16, F32 = hl.BFloat(16), hl.Float(16), hl.Float(32)


def number(value):
    """A constant of bfloat16."""
    return hl.cast(BF16, hl.f32(value))


@program
def number_sums():
    """Sums of numbers in two loops, of which the inner one is unrolled in part, and a choice between them."""
    image, sums, output = hl.ImageParam(BF16, 2, "input"), hl.Func("sums"), hl.Func("output")
    r = hl.RDom([(0, 4), (0, 3)], "r")
    sums[x, y] = number(0)
    sums[x, y] += image[x + r.x, y + r.y] * number(0.3)
    sums.compute_root().update().unroll(r.x, 2)
    output[x, y] = hl.select(sums[x, y] > image[x, y], sums[x, y] / 4, hl.absd(sums[x, y], number(1.5)))
    return output, [image], [8, 6]


@program
def number_functions():
    """Roots and reciprocals, casts from and to integers, and a table of numbers, of bytes."""
    image, curve, output = hl.ImageParam(U8, 2, "input"), hl.Func("curve"), hl.Func("output")
    curve[x] = hl.cast(BF16, hl.sqrt(hl.f32(hl.cast(BF16, x))))
    curve.compute_root()
    value = hl.cast(BF16, image[x, y]) - number(100)
    root = hl.cast(BF16, hl.sqrt(hl.f32(hl.abs(value))))
    nearest = hl.cast(I16, hl.round(hl.f32(value / 8))) + hl.cast(I16, hl.floor(hl.f32(value / 16)))
    output[x, y] = root * (number(1) / (value + number(0.5))) + curve[image[x, y]] + hl.cast(BF16, nearest) + hl.cast(BF16, x)
    return output, [image], [16, 8]


@program
def number_strict():
    """Numbers whose order Halide keeps without being asked to, by `strict_float`."""
    image, output = hl.ImageParam(BF16, 2, "input"), hl.Func("output")
    a, b = image[x, y], image[x + 1, y]
    output[x, y] = hl.strict_float(hl.select(a * b < a, hl.min(a, b) + number(0.3) + number(0.4), hl.max(a - b, b) * number(-2)))
    return output, [image], [8, 6]


@program
def narrowed():
    """Single precision: what the same gives in bfloat16 is expected."""
    def of(element):
        image, output, scaled = hl.ImageParam(U8, 2, "input"), hl.Func("output"), hl.Func("scaled")
        scaled[x, y] = hl.cast(element, image[x, y]) * hl.cast(element, hl.f32(0.7)) + hl.cast(element, hl.f32(3))
        output[x, y] = hl.u8(hl.clamp(scaled[x, y], hl.cast(element, hl.f32(0)), hl.cast(element, hl.f32(100))))
        return output, [image], [8, 6]
    NARROWED["narrowed"] = of(F32), "bf16"
    return of(BF16)


@program
def narrowed_integers():
    """Integers of 32 bits in the place of single precision: what float16 gives is expected, infinite numbers among it."""
    def of(element):
        image, bytes_in, output = hl.ImageParam(I32, 2, "input"), hl.ImageParam(U8, 2, "bytes"), hl.Func("output")
        byte = hl.i32(bytes_in[x, y])
        wide, square = hl.cast(element, image[x, y] >> 15), hl.cast(element, byte * byte * 2)
        unsigned = hl.cast(element, hl.cast(hl.UInt(32), image[x, y]) >> 14)
        quarter = hl.cast(element, hl.f32(0.25))
        output[x, y] = hl.select(byte < 85, wide * quarter, byte < 170, square * quarter, unsigned)
        return output, [image, bytes_in], [16, 8]
    NARROWED["narrowed_integers"] = of(F32), "f16"
    return of(F16)


def narrowed_curve(element, narrow_floats):
    """A table of numbers of one type in a pipeline that is narrowed to another: they are rounded as they were written."""
    image, curve, output, v = hl.ImageParam(U8, 2, "input"), hl.Func("curve"), hl.Func("output"), hl.Var("v")
    scaled = hl.cast(element, hl.f32(v) * hl.f32(0.7))
    curve[v] = hl.u16(hl.cast(element, scaled * scaled * hl.cast(element, hl.f32(0.25))))
    curve.compute_root()
    output[x, y] = curve[image[x, y]]
    program = output, [image], [16, 16]
    NARROWED[f"narrowed_curve_to_{narrow_floats}"] = program, narrow_floats
    return program


@program
def narrowed_curve_to_bf16():
    return narrowed_curve(F16, "bf16")


@program
def narrowed_curve_to_f16():
    return narrowed_curve(BF16, "f16")


@program
def promised():
    """Elements that data choose, within a range that the program promises, and a promise about a coordinate."""
    image, places, output = hl.ImageParam(U8, 1, "input"), hl.ImageParam(U8, 1, "places"), hl.Func("output")
    place = hl.unsafe_promise_clamped(hl.i32(places[x] / 8), 0, 31) + hl.unsafe_promise_clamped(hl.i32(places[x]), 0, 255) / 8
    output[x] = image[place] + hl.u8(hl.unsafe_promise_clamped(x, 0, 31))
    output.unroll(x, 2)
    return output, [image, places], [32]


@program
def chosen_by_promise():
    """An array that is as large as the program promises of the 16 bits that choose its elements."""
    image, kept, output = hl.ImageParam(U16, 1, "input"), hl.Func("kept"), hl.Func("output")
    r = hl.RDom([(0, 64)], "r")
    kept[x] = hl.u8(0)


    def place(word):
        # The four bits that both masks have.
        return hl.unsafe_promise_clamped(hl.i32(word & hl.u16(0x0F0F) & hl.u16(0xF00F)), 0, 15)
    kept[place(image[r.x])] += hl.u8(1)
    output[x] = kept[place(image[x])]
    kept.compute_root()
    return output, [image], [64]


@program
def exchanged():
    """The values of a tuple, each of which is updated from the other one, in a loop."""
    image, pair, output = hl.ImageParam(U8, 1, "input"), hl.Func("pair"), hl.Func("output")
    r = hl.RDom([(0, 64)], "r")
    pair[x] = (hl.u8(x), hl.u8(3 * x))
    pair[r.x % 16] = (pair[r.x % 16][1] + image[r.x], pair[r.x % 16][0])
    pair.compute_root()
    output[x] = pair[x][0] + 7 * pair[x][1]
    return output, [image], [16]


@program
def exchanged_by_data():
    """The same where data choose the element."""
    image, pair, output = hl.ImageParam(U8, 1, "input"), hl.Func("pair"), hl.Func("output")
    r = hl.RDom([(0, 64)], "r")
    pair[x] = (hl.u8(x), hl.u8(3 * x))
    here = hl.i32(image[r.x] % 16)
    pair[here] = (pair[here][1] + image[r.x], pair[here][0] + 1)
    pair.compute_root()
    output[x] = pair[x][0] + 7 * pair[x][1]
    return output, [image], [16]


@program
def exchanged_once():
    """The same of one element, without loops, after an update of elements that data choose."""
    image, pair, output = hl.ImageParam(U8, 1, "input"), hl.Func("pair"), hl.Func("output")
    r = hl.RDom([(0, 15)], "r")
    pair[x] = (image[x], hl.u8(3 * x))
    place = hl.i32(image[r.x]) % 16
    pair[place] = (pair[place][0] + 1, pair[place][1])
    pair[3] = (pair[3][1], pair[3][0])
    pair.compute_root()
    output[x] = pair[x][0] + 7 * pair[x][1]
    return output, [image], [16]


@program
def recursive():
    """A recursive filter down the columns, up again, and down once more."""
    image, filtered, output = hl.ImageParam(U8, 2, "input"), hl.Func("filtered"), hl.Func("output")
    down, up = hl.RDom([(1, 15)], "down"), hl.RDom([(1, 15)], "up")
    filtered[x, y] = hl.u16(image[x, y])
    filtered[x, down.x] = (3 * filtered[x, down.x - 1] + filtered[x, down.x]) / 4
    filtered[x, 15 - up.x] = (3 * filtered[x, 16 - up.x] + filtered[x, 15 - up.x]) / 4
    filtered[x, down.x] = (filtered[x, down.x - 1] + 3 * filtered[x, down.x]) / 4
    filtered.compute_root()
    output[x, y] = hl.u8(filtered[x, y])
    return output, [image], [8, 16]


@program
def swept():
    """Three steps of a relaxation in place, over and over the same elements."""
    image, relaxed, output = hl.ImageParam(U8, 2, "input"), hl.Func("relaxed"), hl.Func("output")
    r = hl.RDom([(1, 6), (1, 10), (0, 3)], "r")
    relaxed[x, y] = hl.u16(image[x, y])
    beside = relaxed[r.x - 1, r.y] + relaxed[r.x + 1, r.y] + relaxed[r.x, r.y - 1] + relaxed[r.x, r.y + 1]
    relaxed[r.x, r.y] = beside / 4
    relaxed.compute_root()
    output[x, y] = hl.u8(relaxed[x, y])
    return output, [image], [8, 12]


@program
def swept_columns():
    """Three steps of a relaxation of each column, with the steps within the columns."""
    image, relaxed, output = hl.ImageParam(U8, 2, "input"), hl.Func("relaxed"), hl.Func("output")
    r = hl.RDom([(1, 10), (0, 3)], "r")
    relaxed[x, y] = hl.u16(image[x, y])
    relaxed[x, r.x] = (relaxed[x, r.x - 1] + relaxed[x, r.x + 1]) / 2
    relaxed.compute_root()
    output[x, y] = hl.u8(relaxed[x, y])
    return output, [image], [8, 12]


@program
def swept_back():
    """Three steps of a filter that goes back along a row of the image, for which the image does not wait: they stay in their loop."""
    image, relaxed, output = hl.ImageParam(U8, 2, "input"), hl.Func("relaxed"), hl.Func("output")
    r = hl.RDom([(1, 6), (0, 3)], "r")
    relaxed[x, y] = hl.u16(image[x, y])
    relaxed[7 - r.x, 5] = (relaxed[8 - r.x, 5] + relaxed[7 - r.x, 5]) / 2
    relaxed.compute_root()
    output[x, y] = hl.u8(relaxed[x, y])
    return output, [image], [8, 12]


@program
def coupled():
    """A complex recursive filter along the rows, whose parts follow from each other."""
    image, state, output = hl.ImageParam(U8, 2, "input"), hl.Func("state"), hl.Func("output")
    r = hl.RDom([(1, 7)], "r")
    state[x, y] = (hl.i16(image[x, y]) - 100, hl.i16(0))
    before = state[r.x - 1, y]
    real, imaginary = before[0], before[1]
    state[r.x, y] = (state[r.x, y][0] + (real * 6 - imaginary * 2) / 8, (real * 2 + imaginary * 6) / 8)
    state.compute_root()
    output[x, y] = hl.u8(state[x, y][0] + state[x, y][1])
    return output, [image], [8, 12]


@program
def cut_from_filter():
    """A part of the result of a recursive filter, which is computed from its first element on."""
    image, filtered, output = hl.ImageParam(U8, 2, "input"), hl.Func("filtered"), hl.Func("output")
    r = hl.RDom([(1, 31)], "r")
    filtered[x, y] = hl.u16(image[x, y])
    filtered[r.x, y] = (filtered[r.x - 1, y] * 3 + filtered[r.x, y]) / 4
    filtered.compute_root()
    output[x, y] = hl.u8(filtered[x + 20, y])
    return output, [image], [8, 4]


@program
def diffused():
    """A recursive filter that reads the element above to the right: a scan by rows has computed it."""
    image, wanted, output = hl.ImageParam(U8, 2, "input"), hl.Func("wanted"), hl.Func("output")
    r = hl.RDom([(1, 6), (1, 11)], "r")
    wanted[x, y] = hl.i16(image[x, y])
    wanted[r.x, r.y] = (wanted[r.x - 1, r.y] * 7 + wanted[r.x + 1, r.y - 1] * 3 + wanted[r.x, r.y] * 6) / 16
    wanted.compute_root()
    output[x, y] = hl.u8(wanted[x, y])
    return output, [image], [8, 12]


@program
def checksum():
    """A recurrence of which each step takes the one before three times."""
    image, sums, output = hl.ImageParam(U8, 2, "input"), hl.Func("sums"), hl.Func("output")
    r = hl.RDom([(1, 7)], "r")
    sums[x, y] = hl.u16(0xFFFF)
    value = sums[r.x - 1, y] ^ (hl.u16(image[r.x, y]) << 8)
    for _ in range(5):
        value = hl.select((value & 0x8000) != 0, (value << 1) ^ 0x1021, value << 1)
    sums[r.x, y] = value
    sums.compute_root()
    output[x, y] = sums[x, y]
    return output, [image], [8, 12]


@program
def exchanged_neighbours():
    """The median of nine pixels by exchanges of neighbours: minima and maxima that are used twice each."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    values = [image[x + dx, y + dy] for dy in range(3) for dx in range(3)]
    for step in range(9):
        for place in range(step % 2, 8, 2):
            one, other = values[place], values[place + 1]
            values[place], values[place + 1] = hl.min(one, other), hl.max(one, other)
    output[x, y] = values[4]
    return output, [image], [8, 6]


@program
def deep_sums():
    """A polynomial of degree 70 by the rule of Horner: as deep as long."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    value = hl.u16(1)
    for step in range(70):
        value = value * image[x, y] + step
    output[x, y] = value
    return output, [image], [8, 6]


@program
def crossing_sums():
    """Two values of 32 bits of a tuple, which follow from each other."""
    image, pair, output = hl.ImageParam(U8, 2, "input"), hl.Func("pair"), hl.Func("output")
    r = hl.RDom([(1, 7)], "r")
    pair[x, y] = (hl.i32(0), hl.i32(1))
    one, other = pair[r.x - 1, y][0], pair[r.x - 1, y][1]
    pair[r.x, y] = (other, one + other + hl.i32(image[r.x, y]))
    pair.compute_root()
    output[x, y] = hl.u16(pair[x, y][1])
    return output, [image], [8, 6]


@program
def own_sums():
    """Columns that are added to their first elements, which is a sum and no sweep."""
    image, columns, output = hl.ImageParam(U8, 2, "input"), hl.Func("columns"), hl.Func("output")
    r = hl.RDom([(0, 8), (1, 11)], "r")
    columns[x, y] = hl.u16(image[x, y])
    columns[r.x, 0] += columns[r.x, r.y] * hl.u16(3)
    columns.compute_root()
    output[x, y] = columns[x, y]
    return output, [image], [8, 12]


@program
def to_and_fro():
    """Three steps of diffusion from one of two levels to the other."""
    image, heat, output = hl.ImageParam(U8, 2, "input"), hl.Func("heat"), hl.Func("output")
    r = hl.RDom([(1, 6), (1, 10), (0, 3)], "r")
    heat[x, y, c] = hl.u16(image[x, y])
    now = r.z % 2
    beside = heat[r.x - 1, r.y, now] + heat[r.x + 1, r.y, now] + heat[r.x, r.y - 1, now] + heat[r.x, r.y + 1, now]
    heat[r.x, r.y, 1 - now] = beside / 4
    heat.compute_root()
    output[x, y] = hl.u8(heat[x, y, 1])
    return output, [image], [8, 12]


@program
def doubled_columns():
    """The greatest pixels of columns of 1, 2, 4 and 8 pixels, each level from the one before; below the image, they end."""
    image, columns, output = hl.ImageParam(U8, 2, "input"), hl.Func("columns"), hl.Func("output")
    r = hl.RDom([(0, 16), (1, 3)], "r")
    columns[x, y, c] = image[x, y]
    below = columns[x, r.x + hl.clamp(hl.i32(1) << (r.y - 1), 0, 8), r.y - 1]
    columns[x, r.x, r.y] = hl.max(columns[x, r.x, r.y - 1], below)
    columns.compute_root()
    output[x, y] = columns[x, y, 3] - columns[x, y, 0]
    return output, [image], [8, 16]


@program
def time_steps():
    """Steps of diffusion with a fixed border, in the levels of a dimension."""
    image, heat, output = hl.ImageParam(U8, 2, "input"), hl.Func("heat"), hl.Func("output")
    r = hl.RDom([(1, 14), (1, 14), (1, 4)], "r")
    heat[x, y, c] = hl.u16(image[x, y]) << 4
    beside = heat[r.x - 1, r.y, r.z - 1] + heat[r.x + 1, r.y, r.z - 1]
    heat[r.x, r.y, r.z] = (beside + heat[r.x, r.y - 1, r.z - 1] + heat[r.x, r.y + 1, r.z - 1]) / 4
    heat.compute_root()
    output[x, y] = hl.u8(heat[x, y, 4] >> 4)
    return output, [image], [16, 16]


@program
def levels_in_turn():
    """Levels innermost in the loops: an iteration reads elements of the level before as they were before all iterations."""
    image, levels, output = hl.ImageParam(U8, 2, "input"), hl.Func("levels"), hl.Func("output")
    r = hl.RDom([(1, 2), (0, 15)], "r")
    levels[x, y, c] = image[x, y]
    levels[r.y, y, r.x] = levels[r.y + 1, y, r.x - 1] / 2 + levels[r.y, y, r.x] / 2
    levels.compute_root()
    output[x, y] = levels[x, y, 2]
    return output, [image], [16, 8]


@program
def framed():
    """Borders that updates write over the definition, and a part of it that one changes."""
    image, frame, output = hl.ImageParam(U8, 2, "input"), hl.Func("frame"), hl.Func("output")
    r = hl.RDom([(2, 6), (3, 4)], "r")
    r.where(r.x > r.y)
    frame[x, y] = image[x, y]
    frame[x, 0] = hl.u8(1)
    frame[15, y] = image[14, y] / 2
    frame[r.x, r.y] += 5
    frame[12 - r.x, r.y + 1] = frame[12 - r.x, r.y + 1] / 4
    frame.compute_root()
    output[x, y] = frame[x, y] + frame[x + 1, y]
    return output, [image], [16, 16]


@program
def added_twice():
    """Sums over two windows, one after the other."""
    image, sums, output = hl.ImageParam(U8, 2, "input"), hl.Func("sums"), hl.Func("output")
    wide, high = hl.RDom([(0, 4)], "wide"), hl.RDom([(0, 3)], "high")
    sums[x, y] = hl.u16(0)
    sums[x, y] += hl.u16(image[x + wide.x, y])
    sums[x, y] += hl.u16(image[x, y + high.x])
    sums.compute_root()
    output[x, y] = sums[x, y]
    return output, [image], [8, 16]


@program
def unrolled_columns():
    """Three columns that are updated at once, of which the whole image has no copies."""
    image, part, output = hl.ImageParam(U8, 2, "input"), hl.Func("part"), hl.Func("output")
    r = hl.RDom([(0, 3)], "r")
    part[x, y] = image[x, y]
    part[r.x, y] = part[r.x, y] / 2
    part.compute_root().update().unroll(r.x)
    output[x, y] = part[x, y] + 1
    return output, [image], [64, 4]


@program
def truth_values():
    """Truth values in a buffer and of an integer, of which the lowest bit counts."""
    image, is_bright, output = hl.ImageParam(U8, 2, "input"), hl.Func("is_bright"), hl.Func("output")
    is_bright[x, y] = (image[x, y] > 100) & hl.cast(hl.Bool(), image[x + 1, y])
    is_bright.compute_root()
    output[x, y] = hl.select(is_bright[x, y] ^ is_bright[x, y + 1], hl.u8(7), image[x, y])
    return output, [image], [16, 8]


@program
def number_remainders():
    """Remainders by powers of two, also of numbers below zero, and hyperbolic tangents."""
    image, output = hl.ImageParam(BF16, 2, "input"), hl.Func("output")
    here = image[x, y] * number(40)
    whole = hl.cast(BF16, hl.tanh(hl.f32(image[x, y])))
    output[x, y] = here % number(4) + here % number(0.25) - (image[x, y] % number(1024)) * whole
    return output, [image], [24, 16]


@program
def limited_turns():
    """A limit around an index that depends on the parity of a column."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    output[x, y] = image[hl.clamp(x / 2 - 1 + 2 * (x % 2), 0, 31), y]
    return output, [image], [64, 6]


@program
def bits_reversed():
    """The bits of a variable in the opposite order: a known index that is no sum of variables."""
    image, output = hl.ImageParam(I16, 1, "input"), hl.Func("output")
    output[x] = image[x % 2 * 8 + x / 2 % 2 * 4 + x / 4 % 2 * 2 + x / 8 % 2]
    return output, [image], [16]


@program
def rotated():
    """A rotation by an angle: known indices of two variables."""
    image, across, output = hl.ImageParam(U8, 2, "input"), hl.Func("across"), hl.Func("output")
    across[x, y] = hl.u8(hl.clamp(((x - 8) * 222 - (y - 8) * 128) / 256 + 8, 0, 15))
    across.compute_root()
    down = hl.clamp(((x - 8) * 128 + (y - 8) * 222) / 256 + 8, 0, 15)
    output[x, y] = image[hl.clamp(hl.i32(across[x, y]), 0, 15), down]
    return output, [image], [16, 16]


@program
def blocks_of_seven():
    """The greatest of each window, from the greatest so far of blocks: a copy of all places that are read would have 77 times 77 words."""
    block, samples = hl.Var("block"), hl.ImageParam(U8, 1, "input")
    greatest, output = hl.Func("greatest"), hl.Func("output")
    r = hl.RDom([(1, 6), (0, 12)], "r")
    greatest[x, block] = samples[7 * block + x]
    greatest[r.x, r.y] = hl.max(greatest[r.x - 1, r.y], samples[7 * r.y + r.x])
    greatest.compute_root()
    output[x] = hl.max(greatest[x % 7, x / 7], greatest[(x + 6) % 7, (x + 6) / 7])
    return output, [samples], [77]


@program
def trellis():
    """The steps of a Viterbi decoder, all states of which are updated at once from those of the step before."""
    symbols, metric, output = hl.ImageParam(U8, 1, "input"), hl.Func("metric"), hl.Func("output")
    r = hl.RDom([(0, 4), (1, 31)], "r")
    metric[x, y] = hl.u16(hl.select(x == 0, 0, 100))
    from_state = lambda state: metric[state, r.y - 1] + hl.u16(hl.absd(symbols[r.y], hl.u8(state * 37)))
    metric[r.x, r.y] = hl.min(from_state((2 * r.x) % 4), from_state((2 * r.x + 1) % 4))
    metric.compute_root().update().unroll(r.x)
    output[x, y] = metric[x, y]
    return output, [symbols], [4, 32]


@program
def wrapped():
    """Sums of three pixels of an image that is repeated."""
    image, repeated, output = hl.ImageParam(U8, 2, "input"), hl.Func("repeated"), hl.Func("output")
    repeated[x, y] = image[(x - 5) % 8, (y - 3) % 8]
    output[x, y] = repeated[x, y] + repeated[x + 1, y] + repeated[x + 2, y]
    return output, [image], [18, 20]


@program
def least_of_all():
    """Funcs without dimensions."""
    image, least, output = hl.ImageParam(U8, 2, "input"), hl.Func("least"), hl.Func("output")
    r = hl.RDom([(0, 16), (0, 8)], "r")
    least[()] = hl.minimum(image[r.x, r.y])
    least.compute_root()
    output[x, y] = image[x, y] - least[()]
    return output, [image], [16, 8]


@program
def triangle():
    """A domain within a triangle: what lies beyond it is not read."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    r = hl.RDom([(0, 8), (0, 8)], "r")
    r.where(r.x < r.y)
    output[x] = hl.u16(0)
    output[r.x] += hl.u16(image[r.x, r.y])
    return output, [image], [8]


@program
def dot_products():
    """Sums of 32 bits of many terms, which are stored: they are added one after the other."""
    image, weights = hl.ImageParam(hl.Int(8), 1, "input"), hl.ImageParam(hl.Int(8), 2, "weights")
    sums, output = hl.Func("sums"), hl.Func("output")
    r = hl.RDom([(0, 40)], "r")
    sums[x] = hl.i32(0)
    sums[x] += hl.i32(image[r]) * hl.i32(weights[r, x])
    sums.compute_root()
    output[x] = hl.i16(sums[x] >> 6)
    return output, [image, weights], [6]


#: Programs that are refused, in a folder beside this one, some of which end with the type that numbers are narrowed to.
REFUSED = {}


def refused(build):
    REFUSED[build.__name__] = build
    return build


@refused
def changing_place():
    """A tuple is stored where its last value says: Halide may have stored that before."""
    image, pair, output = hl.ImageParam(U8, 1, "input"), hl.Func("pair"), hl.Func("output")
    r = hl.RDom([(0, 64)], "r")
    pair[x] = (hl.u8(x), hl.u8(3 * x))
    pair[hl.i32((pair[r.x % 16][1] + image[r.x]) % 16)] = (image[r.x], image[r.x] + 1)
    pair.compute_root()
    output[x] = pair[x][0] + 7 * pair[x][1]
    return output, [image], [16]


@refused
def remainder_by_three():
    """The quotient of the remainder is rounded."""
    image, output = hl.ImageParam(BF16, 2, "input"), hl.Func("output")
    output[x, y] = image[x, y] % number(3)
    return output, [image], [8, 6]


@refused
def quotient_of_numbers():
    """The reciprocal is rounded before the product."""
    image, output = hl.ImageParam(BF16, 2, "input"), hl.Func("output")
    output[x, y] = image[x, y] / image[x + 1, y]
    return output, [image], [8, 6]


@refused
def mixture_of_numbers():
    """The results within `lerp` are wider in Halide."""
    image, output = hl.ImageParam(BF16, 2, "input"), hl.Func("output")
    output[x, y] = hl.lerp(image[x, y], image[x + 1, y], number(0.25))
    return output, [image], [8, 6]


@refused
def large_numbers():
    """An integer that may have 17 bits becomes a number."""
    image, output = hl.ImageParam(U16, 2, "input"), hl.Func("output")
    output[x, y] = hl.cast(BF16, hl.i32(image[x, y]) * 2)
    return output, [image], [8, 6]


@refused
def bits_of_numbers():
    """The bits of a number are those of an integer."""
    image, output = hl.ImageParam(BF16, 2, "input"), hl.Func("output")
    output[x, y] = hl.reinterpret(U16, image[x, y])
    return output, [image], [8, 6]


@refused
def sums_in_blocks():
    """Half of each row is added before the second half of any."""
    image, sums, output = hl.ImageParam(BF16, 2, "input"), hl.Func("sums"), hl.Func("output")
    r = hl.RDom([(0, 4), (0, 3)], "r")
    sums[x, y] = number(0)
    sums[x, y] += image[x + r.x, y + r.y]
    outer, inner = hl.RVar("outer"), hl.RVar("inner")
    sums.compute_root().update().split(r.x, outer, inner, 2).reorder(inner, r.y, outer)
    output[x, y] = sums[x, y]
    return output, [image], [8, 6]


@refused
def wide_integers():
    """A product of 64 bits."""
    image, output = hl.ImageParam(I32, 2, "input"), hl.Func("output")
    output[x, y] = hl.cast(I32, hl.cast(hl.Int(64), image[x, y]) * 3 / 5)
    return output, [image], [8, 6]


@refused
def domain_of_data():
    """As many iterations as a parameter says."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    r = hl.RDom([(0, hl.Param(hl.Int(32), "count", 4))], "r")
    output[x, y] = hl.u8(0)
    output[x, y] += image[x + r.x, y]
    return output, [image], [8, 6]


@refused
def narrowed_large():
    """A constant that float16 has not."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    output[x, y] = hl.u8(hl.f32(image[x, y]) * hl.f32(100) / hl.f32(100000))
    return output, [image], [8, 6], "f16"


@refused
def narrowed_entries():
    """An entry of a buffer that float16 has not."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    weights = hl.Buffer(F32, [2], "weights")
    weights[0], weights[1] = 1.0, 70000.0
    output[x, y] = hl.u8(hl.f32(image[x, y]) * weights[x % 2])
    return output, [image], [8, 6], "f16"


@refused
def narrowed_small():
    """A constant that would be 0 in float16."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    output[x, y] = hl.u8(hl.f32(image[x, y]) / (hl.f32(image[x, y]) + hl.f32(1e-8)))
    return output, [image], [8, 6], "f16"


@refused
def narrowed_divisor():
    """A constant whose reciprocal float16 has not."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    output[x, y] = hl.u8(hl.f32(image[x, y]) / hl.f32(1e-6))
    return output, [image], [8, 6], "f16"


#: Programs that are imported with a warning, in a folder beside this one.
WARNED = {}


def warned(build):
    WARNED[build.__name__] = build
    return build


@warned
def renamed():
    """Names that are words of the language of nests."""
    image, output = hl.ImageParam(U8, 2, "in"), hl.Func("for")
    output[x, y] = image[x, y] + 1
    return output, [image], [8, 6]


@warned
def many_updates():
    """A pixel takes many operations: a prefix sum of sums."""
    image, first, output = hl.ImageParam(U8, 2, "input"), hl.Func("first"), hl.Func("output")
    r = hl.RDom([(0, 64), (0, 64)], "r")
    first[x, y] = hl.u16(0)
    first[x, y] += hl.u16(image[x + r.x, y + r.y])
    output[x, y] = hl.u16(0)
    output[x, y] += first[x + r.x, y + r.y]
    first.compute_root()
    return output, [image], [64, 64]


@warned
def unrolled_less():
    """A factor that does not divide the columns."""
    image, output = hl.ImageParam(U8, 2, "input"), hl.Func("output")
    output[x, y] = image[x, y] + image[x + 1, y]
    output.unroll(x, 4)
    return output, [image], [62, 6]


#: Programs in the place of which those of single precision are written, with the type that they are narrowed to.
NARROWED = {}


def write(name: str, folder: Path) -> None:
    output, inputs, extents = PROGRAMS[name]()
    accelerator = hw_accelerate(output, extents, inputs)
    random = np.random.default_rng(sum(name.encode()))
    images = {}
    for parameter, box in accelerator.inputs:
        shape = [extent for _, extent in reversed(box)]
        if parameter.type().is_float():
            image = to_numbers(to_words(random.normal(size=shape)))
        else:
            element = ("uint" if parameter.type().is_uint() else "int") + str(parameter.type().bits())
            limits = np.iinfo(element)
            image = random.integers(limits.min, limits.max, shape, dtype=element, endpoint=True)
        images[parameter.name()] = image
        save(folder / f"{name}.{parameter.name()}.npy", image, parameter.type())
    save(folder / f"{name}.output.npy", accelerator.realize(images), output.type())
    if narrowed := NARROWED.get(name):
        (output, inputs, extents), narrow_floats = narrowed
        accelerator = hw_accelerate(output, extents, inputs, narrow_floats=narrow_floats)
    accelerator.write(folder / f"{name}.hlpipe")


def main() -> None:
    folder = Path(__file__).parent
    names = sys.argv[1:] or [*PROGRAMS, *REFUSED, *WARNED]
    for name in names:
        if name in PROGRAMS:
            write(name, folder)
            continue
        beside, builds = ("refused", REFUSED) if name in REFUSED else ("warned", WARNED)
        output, _, extents, *narrow_floats = builds[name]()
        for dimension, extent in enumerate(extents):
            output.output_buffer().dim(dimension).set_bounds(0, extent)
        (folder.parent / beside).mkdir(exist_ok=True)
        file = folder.parent / beside / f"{name}.hlpipe"
        hl.serialize_pipeline(hl.Pipeline(output), str(file))
        for element in narrow_floats:
            with file.open("a") as pipeline:
                pipeline.write(f"\n// pushmem\n// narrow floats: {element}\n")


if __name__ == "__main__":
    main()
