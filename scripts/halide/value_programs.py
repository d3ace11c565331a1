"""Programs with values that memories do not hold as Halide has them: truth values, and 32 bits."""

from __future__ import annotations

import halide as hl
import numpy as np
from pipeline import I32, U8, U16, Pipeline, c, nothing, program, roots, sliding, square, x, xi, xo, y, yi, yo
from pushmem_halide import compute_at, stream_to_accelerator, tile, unroll

I8, U32 = hl.Int(8), hl.UInt(32)


@program
def masks() -> Pipeline:
    """A Func of truth values, an input of them, and an output: bytes, of which only the lowest bit counts."""
    image, given = stream_to_accelerator("input", U8, 2), stream_to_accelerator("given", hl.Bool(), 2)
    bright, edges, output = hl.Func("bright"), hl.Func("edges"), hl.Func("output")
    bright[x, y] = image[x, y] > 100
    edges[x, y] = (bright[x, y] != bright[x + 1, y]) | (bright[x, y] & ~bright[x, y + 1])
    output[x, y] = hl.select(given[x, y], edges[x, y], hl.cast(hl.Bool(), image[x, y]))

    def rows():
        for func in (bright, edges):
            func.store_root()
            compute_at(func, output, y)

    def tiled():
        tile(output, x, y, xo, yo, xi, yi, 16, 8)
        for func in (bright, edges):
            compute_at(func, output, xo)

    return Pipeline(output, [image, given], [32, 24], {"input": [(0, 33), (0, 25)], "given": [(0, 32), (0, 24)]},
                    {"inline": nothing, "root": roots(bright, edges), "rows": rows, "tiled": tiled})


@program
def wide_sums() -> Pipeline:
    """A weighted mean whose sums have 32 bits: reductions that are wholly unrolled are parts of an expression."""
    image, output = stream_to_accelerator("input", U16, 2), hl.Func("output")
    window = hl.RDom([(0, 3), (0, 3)], "window")
    near = [hl.Func("sums"), hl.Func("squares")]
    value = hl.cast(U32, image[x + window.x, y + window.y])
    near[0][x, y] = hl.cast(U32, 4)
    near[0][x, y] += value * hl.cast(U32, window.x + 2 * window.y + 1)
    near[1][x, y] = hl.cast(U32, 1)
    near[1][x, y] += (value / 256) * (value / 256)
    output[x, y] = hl.cast(U16, near[0][x, y] / 45 + near[1][x, y] / 37)

    def unrolled():
        for func in near:
            unroll(func, window.x)
            unroll(func, window.y)

    def at_columns():
        unrolled()
        for func in near:
            compute_at(func, output, x)

    return Pipeline(output, [image], [30, 30], {"input": square(32)}, {"inline": unrolled, "columns": at_columns})


@program
def wide_images() -> Pipeline:
    """Images, a Func and an output of 32 bits."""
    image, gain = stream_to_accelerator("input", I32, 2), stream_to_accelerator("gain", U32, 2)
    scaled, output = hl.Func("scaled"), hl.Func("output")
    scaled[x, y] = image[x, y] * 70001 + hl.cast(I32, gain[x, y])
    output[x, y] = hl.max(scaled[x, y] + scaled[x + 1, y + 2], scaled[x + 2, y] >> 5)
    return Pipeline(output, [image, gain], [30, 22], {"input": [(0, 32), (0, 24)], "gain": [(0, 32), (0, 24)]},
                    {"inline": nothing, "root": roots(scaled), "rows": sliding(output, scaled)})


@program
def quantized_convolution() -> Pipeline:
    """A layer as networks of 8 bits have it: sums and biases of 32 bits in memory, a scale of m / 2^22 rounded to nearest."""
    image, weights = stream_to_accelerator("pixels", U8, 3), stream_to_accelerator("weights", I8, 4)
    bias = stream_to_accelerator("bias", I32, 1)
    sums, output = hl.Func("sums"), hl.Func("output")
    r = hl.RDom([(0, 4), (0, 3), (0, 3)], "r")
    sums[c, x, y] = bias[c]
    sums[c, x, y] += hl.cast(I32, weights[r.x, c, r.y, r.z]) * hl.cast(I32, image[r.x, x + r.y, y + r.z])
    scale = hl.select(c == 0, 18322, c == 1, 31001, c == 2, 25770, 20911)
    low = ((sums[c, x, y] & 0x7fff) * scale + (1 << 21)) >> 15
    output[c, x, y] = hl.cast(U8, hl.clamp((((sums[c, x, y] >> 15) * scale + low) >> 7) + 3, 0, 255))

    def loops():
        sums.compute_root().bound(c, 0, 4).unroll(c)
        sums.update().reorder(r.x, c, x, y, r.y, r.z).unroll(r.x).unroll(c)

    generator = np.random.default_rng(1)
    biases = generator.integers(-(1 << 20), 1 << 20, 4, dtype=np.int32)
    return Pipeline(output, [image, weights, bias], [4, 16, 16],
                    {"pixels": square(18, 0, (0, 4)), "weights": square(3, 0, (0, 4), (0, 4)), "bias": [(0, 4)]},
                    {"loops": loops}, images={"bias": biases})


@program
def nearest() -> Pipeline:
    """The index of the least of some differences in loops, times 1000: 32 bits in memory, and an output of 32 bits."""
    image, output = stream_to_accelerator("input", U16, 2), hl.Func("output")
    least, index = hl.Func("least"), hl.Func("index")
    r, again = hl.RDom([(0, 16)], "r"), hl.RDom([(0, 16)], "again")
    least[x, y] = hl.cast(U16, 65535)
    least[x, y] = hl.min(least[x, y], hl.absd(image[x, y], image[r.x, y + 1]))
    index[x, y] = hl.cast(I32, -100000)
    is_least = hl.absd(image[x, y], image[again.x, y + 1]) == least[x, y]
    index[x, y] = hl.select(is_least, again.x * 10000, index[x, y])
    output[x, y] = index[x, y] - 7
    return Pipeline(output, [image], [16, 4], {"input": [(0, 16), (0, 5)]}, {"root": roots(least, index)}, schedule="dnn")


@program
def local_sums() -> Pipeline:
    """A sum of 32 bits in a loop of its own, and its mean."""
    image, output, sums = stream_to_accelerator("input", U16, 2), hl.Func("output"), hl.Func("sums")
    r = hl.RDom([(0, 64)], "r")
    sums[y] = hl.cast(U32, 0)
    sums[y] += hl.cast(U32, image[r.x, y]) * hl.cast(U32, image[r.x, y] >> 4)
    output[x, y] = hl.cast(U16, hl.cast(U32, image[x, y]) + (sums[y] >> 12))
    return Pipeline(output, [image], [64, 8], {"input": [(0, 64), (0, 8)]}, {"root": roots(sums)})


@program
def parameters() -> Pipeline:
    """Numbers that come when the accelerator runs: a factor, one of 32 bits, and a choice."""
    image, sums, output = stream_to_accelerator("input", U16, 2), hl.Func("sums"), hl.Func("output")
    gain, offset, flag = hl.Param(U8, "gain"), hl.Param(I32, "offset"), hl.Param(hl.Bool(), "flag")
    r = hl.RDom([(0, 3), (0, 3)], "r")
    sums[x, y] = hl.cast(U16, 0)
    sums[x, y] += image[x + r.x, y + r.y] * gain
    output[x, y] = hl.select(flag, hl.cast(U16, (hl.cast(I32, sums[x, y]) + offset) / 4), image[x, y])

    def loops():
        sums.compute_root()

    def stencil():
        sums.compute_root().update().unroll(r.x).unroll(r.y)

    return Pipeline(output, [image, gain, offset, flag], [16, 8], {"input": [(0, 18), (0, 10)]},
                    {"loops": loops, "stencil": stencil}, nests=[],
                    images={"offset": np.array([-70001], dtype=np.int32), "flag": np.array([1], dtype=np.uint8)})


@program
def placed() -> Pipeline:
    """A part of an image from a place on that comes when the accelerator runs, beyond the edge, too: the image has all that it can read."""
    image, output, place = stream_to_accelerator("input", U16, 2), hl.Func("output"), hl.Param(I32, "place")
    output[x, y] = image[hl.clamp(x + place, 0, 23), y]
    return Pipeline(output, [image, place], [16, 8], {}, {"inline": nothing}, nests=[], images={"place": np.array([11], dtype=np.int32)})
