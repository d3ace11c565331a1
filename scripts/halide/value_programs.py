"""Programs with values that memories do not hold as Halide has them: truth values, and 32 bits."""

from __future__ import annotations

import halide as hl
from pipeline import U8, U16, Pipeline, nothing, program, roots, square, x, xi, xo, y, yi, yo
from pushmem_halide import compute_at, stream_to_accelerator, tile, unroll

U32 = hl.UInt(32)


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
