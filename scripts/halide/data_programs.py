"""Programs in which data choose elements: histograms, votes, grids, warps and scatters."""

from __future__ import annotations

import halide as hl
import numpy as np
from pipeline import U8, U16, Pipeline, constants, nothing, program, roots, square, unrolled, x, y
from pushmem_halide import stream_to_accelerator

I8 = hl.Int(8)
z = hl.Var("z")


@program
def histogram() -> Pipeline:
    image, output = stream_to_accelerator("input", U8, 2), hl.Func("output")
    r = hl.RDom([(0, 64), (0, 64)], "r")
    output[x] = hl.u16(0)
    output[image[r.x, r.y]] += hl.u16(1)
    schedules = {"root": nothing, "columns": lambda: output.update().reorder(r.y, r.x),
                 "unrolled": lambda: output.update().unroll(r.x, 2)}
    return Pipeline(output, [image], [256], {"input": square(64)}, schedules)


@program
def equalize() -> Pipeline:
    """The tone curve of an image is the sum of its histogram, of 32 bits."""
    image = stream_to_accelerator("input", U8, 2)
    bins, below, curve, output = (hl.Func(name) for name in ("bins", "below", "curve", "output"))
    r, b = hl.RDom([(0, 64), (0, 64)], "r"), hl.RDom([(1, 255)], "b")
    bins[x] = 0
    bins[image[r.x, r.y]] += 1
    below[x] = 0
    below[0] = bins[0]
    below[b.x] = below[b.x - 1] + bins[b.x]
    curve[x] = hl.u8(hl.min(below[x] * 255 / 4096, 255))
    output[x, y] = curve[image[x, y]]
    stages = [bins, below, curve]
    return Pipeline(output, [image], [64, 64], {"input": square(64)},
                    {"root": roots(*stages), "unrolled": lambda: (roots(*stages)(), output.unroll(x, 2))})


def blurred(func: hl.Func, name: str) -> hl.Func:
    """A quarter, a half and a quarter of neighbouring levels."""
    result = hl.Func(name)
    result[z, x, y] = func[hl.clamp(z - 1, 0, 15), x, y] + 2 * func[z, x, y] + func[hl.clamp(z + 1, 0, 15), x, y]
    return result


@program
def bilateral_grid() -> Pipeline:
    image = stream_to_accelerator("input", U8, 2)
    sums, counts, means, output = (hl.Func(name) for name in ("sums", "counts", "means", "output"))
    r = hl.RDom([(0, 8), (0, 8)], "r")
    pixel = image[8 * x + r.x, 8 * y + r.y]
    sums[z, x, y] = hl.u16(0)
    counts[z, x, y] = hl.u16(0)
    sums[pixel / 16, x, y] += hl.u16(pixel)
    counts[pixel / 16, x, y] += hl.u16(1)
    sums_z, counts_z = blurred(sums, "sums_z"), blurred(counts, "counts_z")
    means[z, x, y] = hl.u8(hl.min(sums_z[z, x, y] / 4 * 4 / hl.max(counts_z[z, x, y], hl.u16(1)), hl.u16(255)))
    output[x, y] = means[image[x, y] / 16, x / 8, y / 8]
    stages = [sums, counts, means]
    return Pipeline(output, [image], [64, 64], {"input": square(64)},
                    {"root": roots(*stages), "all": roots(*stages, sums_z, counts_z), "unrolled": unrolled(2, output, *stages)})


@program
def bilateral_slices() -> Pipeline:
    """A grid of pairs, as a tuple; a pixel is between two levels of the grid."""
    image = stream_to_accelerator("input", U8, 2)
    grid, output = hl.Func("grid"), hl.Func("output")
    r = hl.RDom([(0, 8), (0, 8)], "r")
    pixel = image[8 * x + r.x, 8 * y + r.y]
    level = hl.i32(pixel) / 32
    grid[x, y, z] = (hl.u16(0), hl.u16(0))
    grid[x, y, level] = (grid[x, y, level][0] + hl.u16(pixel), grid[x, y, level][1] + hl.u16(1))
    here = image[x, y]
    low, share = hl.clamp(hl.i32(here) / 32, 0, 6), hl.u16(here) % 32

    def mean(level):
        pair = grid[x / 8, y / 8, level]
        return pair[0] / hl.max(pair[1], hl.u16(1))
    output[x, y] = hl.u8((mean(low) * (32 - share) + mean(low + 1) * share) / 32)
    return Pipeline(output, [image], [64, 64], {"input": square(64)}, {"root": roots(grid)})


@program
def warp() -> Pipeline:
    image = stream_to_accelerator("input", U8, 2)
    across, down = (stream_to_accelerator(name, I8, 2) for name in ("across", "down"))
    output = hl.Func("output")
    output[x, y] = image[hl.clamp(x + hl.i32(across[x, y]) / 8, 0, 63), hl.clamp(y + hl.i32(down[x, y]) / 8, 0, 63)]
    return Pipeline(output, [image, across, down], [64, 64], {name: square(64) for name in ("input", "across", "down")},
                    {"inline": nothing, "unrolled": lambda: output.unroll(x, 2)})


@program
def votes_for_lines() -> Pipeline:
    """The Hough transform: each bright pixel votes for the lines through it, by tables of cosine and sine."""
    image, output = stream_to_accelerator("input", U8, 2), hl.Func("output")
    angles = np.arange(16) * np.pi / 16
    cosine, sine = (constants(np.round(64 * of(angles)).astype(np.int8)) for of in (np.cos, np.sin))
    r = hl.RDom([(0, 16), (0, 32), (0, 32)], "r")
    r.where(image[r.y, r.z] > 200)
    distance = (hl.i32(cosine[r.x]) * r.y + hl.i32(sine[r.x]) * r.z) / 64 + 32
    output[x, y] = hl.u16(0)
    output[hl.clamp(distance, 0, 79), r.x] += hl.u16(1)
    return Pipeline(output, [image], [80, 16], {"input": square(32)}, {"root": nothing})


@program
def scatter() -> Pipeline:
    """Elements that go where data say: of several that go to one place, the last one stays."""
    image, places, output = stream_to_accelerator("input", U16, 1), stream_to_accelerator("places", U16, 1), hl.Func("output")
    r = hl.RDom([(0, 1024)], "r")
    output[x] = hl.u16(0)
    output[hl.i32(places[r.x] % 1024)] = image[r.x]
    return Pipeline(output, [image, places], [1024], {"input": [(0, 1024)], "places": [(0, 1024)]},
                    {"root": nothing, "unrolled": lambda: output.update().unroll(r.x, 4)})
