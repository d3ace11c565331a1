"""The image pipelines of `apps` in Halide, each with several schedules.

Names of programs, inputs and outputs are those of the nests in `apps`, so that both can be run on the same images.
"""

from __future__ import annotations

from functools import partial

import halide as hl
import numpy as np
from pipeline import (I16, I32, LARGE, LONG, PROGRAMS, U8, U16, Pipeline, c, centred, columns, constants, k, nothing, program, roots,
                      sliding, square, t, total, unrolled, weighted, x, xi, xo, y, yi, yo)
from pushmem_halide import compute_at, store_at, stream_to_accelerator, tile, unroll


def average(a, b):
    return (a + b + hl.cast(U16, 1)) / 2


def stencil(weights, divisor: int | None = None, size=(64, 64), step: int = 1, schedules=("root", "tiled"),
            nests: list[str] | None = None, extents: list[int] | None = None) -> Pipeline:
    """One weighted sum of a window, of an image of this size, wherever it fits or for as many pixels as `extents` says."""
    image = stream_to_accelerator("input", U16, 2)
    sums, output, copy = hl.Func("sums"), hl.Func("output"), image.in_()
    sums[x, y] = total(image[step * x + i, step * y + j] * weight
                       for j, row in enumerate(weights) for i, weight in enumerate(row))
    output[x, y] = sums[x, y] / divisor if divisor else sums[x, y]
    extents = extents or [(extent - window) // step + 1 for extent, window in zip(size, (len(weights[0]), len(weights)))]

    def tiled():
        tile(output, x, y, xo, yo, xi, yi, extents[0] // 2, extents[1] // 2)
        compute_at(sums, output, xo)

    def windowed():
        store_at(copy, output, hl.Var.outermost())
        compute_at(copy, output, y)
        compute_at(sums, output, y)

    all_schedules = {"root": roots(copy, sums), "columns": columns(output, sums), "inline": nothing, "tiled": tiled,
                     "sliding": windowed, **{f"unrolled{name}": unrolled(factor, output, sums)
                        for name, factor in (("", 2), ("_by_4", 4), ("_by_8", 8), ("_by_16", 16))}}
    return Pipeline(output, [image], extents, {"input": [(0, extent) for extent in size]},
                    {name: all_schedules[name] for name in schedules}, nests=nests)


GAUSSIAN = [[24, 30, 24], [30, 37, 30], [24, 30, 24]]
WEIGHTS = [[11, 14, 17], [12, 255, 18], [13, 16, 19]]
#: Programs of one stencil.
PROGRAMS |= {
    "pointwise": partial(stencil, [[2]], schedules=("inline", "unrolled_by_4")),
    "gaussian": partial(stencil, GAUSSIAN, 256, schedules=("root", "inline", "tiled", "sliding", "columns", "unrolled",
                                                              "unrolled_by_4"), nests=["gaussian"]),
    "gaussian_unroll2": partial(stencil, GAUSSIAN, 256, (66, 64), extents=[64, 62], schedules=("root", "unrolled")),
    "gaussian_unroll4": partial(stencil, GAUSSIAN, 256, (68, 64), extents=[64, 62], schedules=("root", "unrolled_by_4")),
    "gaussian_unroll8": partial(stencil, GAUSSIAN, 256, (72, 66), extents=[64, 64], schedules=("root", "unrolled_by_8")),
    "gaussian_unroll16": partial(stencil, GAUSSIAN, 256, (80, 66), extents=[64, 64], schedules=("root", "unrolled_by_16")),
    "gaussian_isscc": partial(stencil, [[50, 63], [63, 78]], 256, (57, 63), schedules=("root", "unrolled")),
    "conv_1_2": partial(stencil, [[1, 3]], schedules=("inline", "unrolled")),
    "conv_3_3": partial(stencil, WEIGHTS, schedules=("inline", "tiled", "sliding")),
    "conv_3_3_wide": partial(stencil, WEIGHTS, None, (2048, 64), schedules=("inline", "tiled")),
    "strided_conv": partial(stencil, [[11, 14, 17], [12, 0, 18], [13, 16, 19]], None, (63, 63), 2, ("inline", "root")),
}


def corners(image, streams, limit: int, divisor: int, extents, box, nests: list[str], maxima: bool = True,
            schedules: list[str] | None = None) -> Pipeline:
    """The corners of an image: Harris. Without `maxima`, the last stage is left to the CPU."""
    gx, gy, measure, output = hl.Func("gx"), hl.Func("gy"), hl.Func("measure"), hl.Func("output")
    two = hl.cast(I16, 2)
    limited = lambda value: hl.clamp(value, hl.cast(I16, -limit), hl.cast(I16, limit))
    gx[x, y] = limited((image[x + 1, y - 1] + two * image[x + 1, y] + image[x + 1, y + 1])
                       - (image[x - 1, y - 1] + two * image[x - 1, y] + image[x - 1, y + 1]))
    gy[x, y] = limited((image[x - 1, y + 1] + two * image[x, y + 1] + image[x + 1, y + 1])
                       - (image[x - 1, y - 1] + two * image[x, y - 1] + image[x + 1, y - 1]))
    products, sums = [], []
    for name, one, other in [("xx", gx, gx), ("xy", gx, gy), ("yy", gy, gy)]:
        product, window = hl.Func(f"l{name}"), hl.Func(f"s{name}")
        product[x, y] = one[x, y] * other[x, y] / divisor
        window[x, y] = weighted(product, [[1] * 3] * 3, I16, centred)
        products.append(product)
        sums.append(window)
    sxx, sxy, syy = (window[x, y] / 64 for window in sums)
    measure[x, y] = sxx * syy - sxy * sxy - (sxx + syy) * (sxx + syy) / 16
    if maxima:
        here = measure[x, y]
        condition = here >= 1
        for i, j in [(i, j) for j in (-1, 0, 1) for i in (-1, 0, 1) if i or j]:
            condition = condition & (here > measure[x + i, y + j])
        output[x, y] = hl.select(condition, hl.cast(I16, 255), hl.cast(I16, 0))
    else:
        output[x, y] = measure[x - 1, y - 1]
    stages = [gx, gy, *products, *sums, measure]

    def tiled():
        tile(output, x, y, xo, yo, xi, yi, extents[0] // 2, extents[1] // 2)
        for stage in stages:
            compute_at(stage, output, xo)

    def rows():
        for stage in stages:
            compute_at(stage, output, y)

    all_schedules = {
        "recomputed": roots(image.in_()), "products": roots(*products, measure), "few": roots(gx, gy, measure),
        "root": roots(*stages), "tiled": tiled, "sliding": sliding(output, *stages),
        "columns": columns(output, *stages), "rows": rows,
        "unrolled": unrolled(2, output, *stages), "unrolled_by_3": unrolled(3, output, *stages),
        "unrolled_by_4": unrolled(4, output, *stages)}
    return Pipeline(output, [streams], list(extents), {"input": box},
                    {name: all_schedules[name] for name in schedules or all_schedules}, nests=nests)


@program
def harris() -> Pipeline:
    image = stream_to_accelerator("input", I16, 2)
    return corners(image, image, 255, 128, (58, 58), square(64, -3), ["harris", "harris_unroll2"],
                   schedules=["root", "few", "tiled", "sliding", "columns", "rows", "unrolled"])


@program
def harris_unroll3() -> Pipeline:
    image = stream_to_accelerator("input", I16, 2)
    return corners(image, image, 255, 128, (60, 58), [(-3, 69), (-3, 64)], ["harris_unroll3"],
                   schedules=["root", "unrolled_by_3"])


@program
def harris_unroll4() -> Pipeline:
    image = stream_to_accelerator("input", I16, 2)
    return corners(image, image, 255, 128, (60, 58), [(-3, 72), (-3, 64)], ["harris_unroll4"],
                   schedules=["root", "unrolled_by_4"])


@program
def harris_sch() -> Pipeline:
    """As clockwork's `harris_sch1` (all recomputed), `2` (the products kept), `5` (all kept) and `6` (two at once)."""
    image = stream_to_accelerator("input", I16, 2)
    return corners(image, image, 180, 64, (58, 58), square(64, -3), [f"harris_sch{number}" for number in (1, 2, 3, 4, 5, 6)],
                   schedules=["recomputed", "products", "root", "unrolled"])


@program
def harris_sch7() -> Pipeline:
    """A larger tile."""
    image = stream_to_accelerator("input", I16, 2)
    return corners(image, image, 180, 64, (122, 122), square(128, -3), ["harris_sch7"], schedules=["root", "tiled"])


@program
def harris_sch8() -> Pipeline:
    """The maxima are left to the CPU."""
    image = stream_to_accelerator("input", I16, 2)
    return corners(image, image, 180, 64, (60, 60), square(64, -3), ["harris_sch8"], False, ["root", "sliding"])


@program
def harris_color() -> Pipeline:
    image = stream_to_accelerator("input", I16, 3)
    gray = hl.Func("pixels")
    red, green, blue = (hl.cast(U16, image[channel, x, y]) for channel in range(3))
    gray[x, y] = hl.cast(I16, (red * 77 + green * 150 + blue * 29) / 256)
    gray.compute_root()
    return corners(gray, image, 180, 64, (66, 66), square(72, -3, (0, 3)), ["harris_color"], schedules=["root", "tiled"])


@program
def unsharp() -> Pipeline:
    image = stream_to_accelerator("input", U16, 3)
    gray, blur = grayscale(image), hl.Func("blur")
    sharp, ratio, output = hl.Func("sharp"), hl.Func("ratio"), hl.Func("output")
    blur[x, y] = hl.cast(I16, weighted(gray, GAUSS, U16, lambda i: i - 2))
    low = hl.cast(I16, hl.cast(U8, blur[x, y] / 256))
    sharp[x, y] = hl.cast(U16, hl.clamp(hl.cast(I16, gray[x, y]) * 2 - low, hl.cast(I16, 0), hl.cast(I16, 255)))
    ratio[x, y] = hl.min(sharp[x, y] * 32 / hl.max(gray[x, y], hl.cast(U16, 1)), hl.cast(U16, 255))
    output[c, x, y] = hl.min(ratio[x, y] * image[c, x, y] / 32, hl.cast(U16, 255))
    output.bound(c, 0, 3)
    stages = [gray, blur, sharp, ratio]

    def colours(then):
        def schedule():
            unroll(output, c)
            then()
        return schedule

    def tiled():
        tile(output, x, y, xo, yo, xi, yi, 30, 30).reorder(c, xi, yi, xo, yo)
        for stage in stages:
            compute_at(stage, output, xo)

    return Pipeline(output, [image], [3, 60, 60], {"input": square(64, -2, (0, 3))}, {
        "root": colours(roots(*stages)), "recomputed": colours(roots(ratio)), "few": colours(roots(gray, ratio)),
        "rolled": roots(*stages), "columns": colours(columns(output, *stages)),
        "tiled": colours(tiled), "sliding": colours(sliding(output, *stages)),
        "unrolled": colours(unrolled(2, output, *stages)), "unrolled_by_4": colours(unrolled(4, output, *stages))},
        nests=["unsharp", "unsharp_unroll2", "unsharp_unroll4"])


@program
def up_sample() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    nearest, output = hl.Func("nearest"), hl.Func("output")
    nearest[x, y] = image[x / 2, y / 2]
    output[x, y] = hl.cast(U8, nearest[x, y])

    def rows(factor):
        def schedule():
            compute_at(nearest, output, y)
            unroll(output, x, factor)
        return schedule

    return Pipeline(output, [image], [128, 128], {"input": square(64)},
                    {"root": roots(nearest), "columns": columns(output, nearest), "rows": rows(2),
                     "unrolled_by_4": rows(4), "inline": nothing},
                    nests=["up_sample", "up_sample_unroll4"])


def brightened(tiles: int | None) -> Pipeline:
    """Brighten, then blur: of one image, or of several."""
    image = stream_to_accelerator("input", U16, 2 if tiles is None else 3)
    others = [] if tiles is None else [t]
    brighten, blur = hl.Func("brighten"), hl.Func("blur")
    brighten[x, y, *others] = image[x, y, *others] * 2
    blur[x, y, *others] = total(brighten[x + i, y + j, *others] for j in (0, 1) for i in (0, 1)) / 4

    def pixels():
        brighten.store_root()
        compute_at(brighten, blur, x)

    def tiled():
        compute_at(brighten, blur, t)

    counts = [] if tiles is None else [tiles]
    return Pipeline(blur, [image], [63, 63, *counts], {"input": [*square(64), *((0, count) for count in counts)]},
                    {"root": roots(brighten), "columns": columns(blur, brighten),
                     **({"sliding": pixels} if tiles is None else {"tiled": tiled})})


def halved(tiles: int | None) -> Pipeline:
    """Three levels, each half as large: of one image, or of several."""
    image = stream_to_accelerator("input", U16, 2 if tiles is None else 3)
    others = [] if tiles is None else [t]
    of, stages = image, []
    for level in range(3):
        func = hl.Func("output" if level == 2 else f"level{level + 1}")
        func[x, y, *others] = total(of[2 * x + i, 2 * y + j, *others] for j in (0, 1) for i in (0, 1)) / 4
        stages.append(func)
        of = func

    def rows():
        stages[0].compute_root()
        compute_at(stages[1], stages[2], y)

    def tiled():
        for stage in stages[:2]:
            compute_at(stage, stages[2], t)

    counts = [] if tiles is None else [tiles]
    name = "gpyr" if tiles is None else "gpyr_tiled"
    return Pipeline(of, [image], [8, 8, *counts], {"input": [*square(64), *((0, count) for count in counts)]},
                    {"root": roots(*stages[:2]), **({"rows": rows} if tiles is None else {"tiled": tiled})},
                    nests=[name, f"{name}_shared"])


#: Programs of one image, and of several, one after the other.
PROGRAMS |= {
    "brighten_blur": partial(brightened, None), "brighten_blur_tiled": partial(brightened, 16),
    "gpyr": partial(halved, None), "gpyr_tiled": partial(halved, 16),
}


@program
def three_stage() -> Pipeline:
    image = stream_to_accelerator("input", U16, 3)
    tenths, output = hl.Func("tenths"), hl.Func("output")
    tenths[x, y, t] = hl.absd(image[x, 10 * y, t], image[x, 10 * y + 9, t])
    output[x, t] = hl.max(tenths[x, 0, t], tenths[x, 9, t])
    return Pipeline(output, [image], [40, 6], {"input": [(0, 40), (0, 100), (0, 6)]},
                    {"root": roots(tenths), "tiled": lambda: compute_at(tenths, output, t), "inline": nothing})


@program
def transpose() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    output = hl.Func("output")
    output[x, y] = image[y, x]
    return Pipeline(output, [image], [64, 64], {"input": square(64)},
                    {"root": roots(image.in_()), "tiled": lambda: tile(output, x, y, xo, yo, xi, yi, 16, 16)},
                    schedule="dnn")


def matched(extent: int, nests: list[str]) -> Pipeline:
    """Disparity by block matching: the shift with the least sum of absolute differences."""
    left, right = stream_to_accelerator("left", U16, 2), stream_to_accelerator("right", U16, 2)
    sad, best, shift, output = hl.Func("sad"), hl.Func("best"), hl.Func("shift"), hl.Func("output")
    window, shifts = hl.RDom([(-8, 16), (-8, 16)], "window"), hl.RDom([(0, 10)], "shifts")
    sad[x, y, c] = hl.cast(U16, 0)
    sad[x, y, c] += hl.absd(right[x + window.x, y + window.y], left[x + window.x + 5 + c, y + window.y])
    best[x, y] = hl.cast(U16, 65535)
    best[x, y] = hl.min(best[x, y], sad[x, y, shifts])
    shift[x, y] = hl.cast(U16, 0)
    shift[x, y] = hl.select(sad[x, y, shifts] == best[x, y], hl.cast(U16, shifts), shift[x, y])
    output[x, y] = hl.cast(U8, shift[x, y] * 255 / 10)
    wo, wi = hl.RVar("wo"), hl.RVar("wi")

    def at_once(factor):
        def schedule():
            sad.compute_root().update().split(window.x, wo, wi, factor).unroll(wi).reorder(wi, x, y, wo, window.y, c)
            best.compute_root().update().reorder(x, y, shifts)
            shift.compute_root().update().reorder(x, y, shifts)
        return schedule

    rows = (-8, extent + 15)
    return Pipeline(output, [left, right], [extent, extent], {"left": [(-3, extent + 24), rows], "right": [rows, rows]},
                    {"four": at_once(4), "eight": at_once(8)}, nests=nests)


@program
def stereo_small() -> Pipeline:
    return matched(8, ["stereo_small"])


@program
def cascade() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    first, output = hl.Func("first"), hl.Func("output")
    weights = [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
    first[x, y] = weighted(image, weights, U16)
    output[x, y] = weighted(first, weights, U16)

    def tiled():
        tile(output, x, y, xo, yo, xi, yi, 20, 30)
        compute_at(first, output, xo)

    return Pipeline(output, [image], [60, 60], {"input": square(64)},
                    {"root": roots(first), "tiled": tiled, "sliding": sliding(output, first)})


def grayscale(image):
    gray = hl.Func("gray")
    gray[x, y] = (image[0, x, y] * 77 + image[1, x, y] * 150 + image[2, x, y] * 29) / 256
    return gray


GAUSS = [[3, 7, 8, 7, 3], [7, 14, 17, 14, 7], [8, 17, 21, 17, 8], [7, 14, 17, 14, 7], [3, 7, 8, 7, 3]]


@program
def down_sample() -> Pipeline:
    image = stream_to_accelerator("input", U16, 3)
    sums, output = hl.Func("sums"), hl.Func("output")
    sums[x, y, c] = (image[2 * x, 2 * y, c] + image[2 * x + 1, 2 * y, c] + image[2 * x, 2 * y + 1, c]
                     + image[2 * x + 1, 2 * y + 1, c])
    output[x, y, c] = hl.cast(U8, sums[x, y, c] / 4)
    return Pipeline(output, [image], [32, 32, 4], {"input": [(0, 64), (0, 64), (0, 4)]},
                    {"root": roots(sums), "rows": lambda: compute_at(sums, output, y), "inline": nothing})


def bordered(name: str, wrap) -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    output, border = hl.Func("output"), wrap(image)
    output[x, y] = weighted(border, [[1, 2, 1], [2, 4, 2], [1, 2, 1]], U16, centred) / 16

    def whole():
        output.partition(x, hl.Partition.Never).partition(y, hl.Partition.Never)

    return Pipeline(output, [image], [64, 64], {"input": square(64)},
                    {"inline": nothing, "root": roots(border), "columns": columns(output), "whole": whole,
                     "rows": lambda: compute_at(border, output, y)})


@program
def bc_repeat() -> Pipeline:
    return bordered("bc_repeat", lambda image: hl.BoundaryConditions.repeat_edge(image, [(0, 64), (0, 64)]))


@program
def bc_mirror() -> Pipeline:
    return bordered("bc_mirror", lambda image: hl.BoundaryConditions.mirror_image(image, [(0, 64), (0, 64)]))


@program
def bc_const() -> Pipeline:
    edge = hl.cast(U16, 0)
    return bordered("bc_const", lambda image: hl.BoundaryConditions.constant_exterior(image, edge, [(0, 64), (0, 64)]))


def greens(image):
    """The green channel at red and at blue pixels of a Bayer mosaic."""
    at_red, at_blue = hl.Func("green_r"), hl.Func("green_b")
    here, left, right = image[x, y], image[x - 1, y], image[x + 1, y]
    above, below = image[x, y - 1], image[x, y + 1]
    at_red[x, y] = hl.select(hl.absd(here, left) < hl.absd(here, below), average(left, here), average(here, below))
    at_blue[x, y] = hl.select(hl.absd(here, right) < hl.absd(here, above), average(right, here), average(here, above))
    return at_red, at_blue


def colours(image, green_r, green_b):
    """Red, green and blue by the parity of the coordinates."""
    here = image[x, y]
    even_row, even_column = (y % 2) == 0, (x % 2) == 0

    def corrected(one, other, green, at_one, at_other):
        return one + other - average(green[at_one], green[at_other])

    def diagonal(image, i, j, own, other):
        one = average(here, image[x + i, y + j]) + own[x, y] - average(other[x + i, y + j], other[x, y])
        two = (average(image[x + i, y], image[x, y + j]) + own[x, y] - average(other[x + i, y], other[x, y + j]))
        closer = hl.absd(image[x + i, y + j], here) < hl.absd(image[x, y + j], image[x + i, y])
        return hl.select(closer, one, two)

    def beside(i, j, green):
        return here + average(here, image[x + i, y + j]) - average(green[x + i, y + j], green[x, y])

    red = hl.select(even_row, hl.select(even_column, beside(1, 0, green_r), here),
                    hl.select(even_column, diagonal(image, 1, -1, green_b, green_r), beside(0, -1, green_r)))
    green = hl.select(even_row, hl.select(even_column, here, green_r[x, y]),
                      hl.select(even_column, green_b[x, y], here))
    blue = hl.select(even_row, hl.select(even_column, beside(0, 1, green_b), diagonal(image, -1, 1, green_r, green_b)),
                     hl.select(even_column, here, beside(-1, 0, green_b)))
    return red, green, blue


@program
def demosaic() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    green_r, green_b = greens(image)
    output = hl.Func("output")
    output[x, y, c] = hl.mux(c, list(colours(image, green_r, green_b)))
    output.bound(c, 0, 3).reorder(c, x, y).unroll(c)

    def rows():
        compute_at(green_r, output, y)
        compute_at(green_b, output, y)

    return Pipeline(output, [image], [62, 62, 3], {"input": square(64, -1)},
                    {"root": roots(green_r, green_b), "rows": rows})


@program
def camera_pipeline() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    denoised, curve, output = hl.Func("denoised"), hl.Func("curve"), hl.Func("output")
    around = [image[x - 2, y], image[x + 2, y], image[x, y - 2], image[x, y + 2]]
    least = hl.min(hl.min(around[0], around[1]), hl.min(around[2], around[3]))
    most = hl.max(hl.max(around[0], around[1]), hl.max(around[2], around[3]))
    denoised[x, y] = hl.clamp(image[x, y], least, most)
    green_r, green_b = greens(denoised)
    planes = []
    for name, value in zip(["red", "green", "blue"], colours(denoised, green_r, green_b)):
        plane = hl.Func(name)
        plane[x, y] = value
        planes.append(plane)
    red, green, blue = (hl.cast(I16, plane[x, y]) for plane in planes)
    matrix = [(200, -44, 17, -3900), (-38, 159, -21, -2541), (-8, -73, 228, -2008)]
    corrected = [hl.cast(U16, (red * i + green * j + blue * m + n) / 256) for i, j, m, n in matrix]
    curve[k] = hl.cast(U16, hl.select(k == 0, 0, (k - 1) / 4))
    looked_up = [curve[hl.cast(I32, hl.min(value, hl.cast(U16, 255)))] for value in corrected]
    output[x, y, c] = hl.mux(c, looked_up)
    output.bound(c, 0, 3).reorder(c, x, y).unroll(c)
    stages = [denoised, green_r, green_b, *planes]

    def root():
        roots(curve, *stages)()

    def rows():
        curve.compute_root()
        for stage in stages:
            compute_at(stage, output, y)

    def tiled():
        curve.compute_root()
        tile(output, x, y, xo, yo, xi, yi, 29, 29).reorder(c, xi, yi, xo, yo)
        for stage in stages:
            compute_at(stage, output, xo)

    return Pipeline(output, [image], [58, 58, 3], {"input": square(64, -3)},
                    {"root": root, "rows": rows, "tiled": tiled})


@program
def laplacian_pyramid() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    stages = []

    def stage(name, value):
        func = hl.Func(name)
        func[x, y] = value
        stages.append(func)
        return func

    def blur(name, of):
        return stage(name, weighted(of, [[3, 21, 3], [21, 158, 21], [3, 21, 3]], U16, centred) / 256)

    low0 = blur("low0", image)
    high0 = stage("high0", image[x, y] - low0[x, y])
    half1 = stage("half1", low0[2 * x, 2 * y])
    low1 = blur("low1", half1)
    high1 = stage("high1", half1[x, y] - low1[x, y])
    half2 = stage("half2", low1[2 * x, 2 * y])
    twice2 = stage("twice2", half2[x / 2, y / 2])
    sum1 = stage("sum1", blur("up1", twice2)[x, y] + high1[x, y])
    twice1 = stage("twice1", sum1[x / 2, y / 2])
    up0 = blur("up0", twice1)
    output = hl.Func("output")
    output[x, y] = up0[x, y] + high0[x, y]

    def tiled():
        for each in stages[:-4]:
            each.compute_root()
        tile(output, x, y, xo, yo, xi, yi, 32, 32)
        for each in stages[-2:]:
            compute_at(each, output, xo)
        for each in stages[-4:-2]:
            each.compute_root()

    return Pipeline(output, [image], [64, 64], {"input": square(75, -7)}, {"root": roots(*stages), "tiled": tiled})


@program
def exposure_fusion() -> Pipeline:
    bright, dark = stream_to_accelerator("bright", U16, 3), stream_to_accelerator("dark", U16, 3)
    stages = []

    def stage(name, value):
        func = hl.Func(name)
        func[x, y, c] = value
        stages.append(func)
        return func

    def half(name, of):
        return stage(name, of[2 * x, 2 * y, c])

    total = stage("sum", (dark[x, y, c] + bright[x, y, c]) * 2 + 1)
    merged = {}
    parts = {}
    for name, image in [("bright", bright), ("dark", dark)]:
        weights = [stage(f"{name}_weight0", image[x, y, c] * 256 / total[x, y, c])]
        levels = [image]
        for level in (1, 2):
            weights.append(half(f"{name}_weight{level}", weights[-1]))
            levels.append(half(f"{name}{level}", levels[-1]))
        details = [stage(f"{name}_detail{level}", levels[level][x, y, c] - levels[level + 1][x / 2, y / 2, c])
                   for level in (0, 1)] + [levels[2]]
        parts[name] = (weights, details)
    for level in (2, 1, 0):
        one, other = ([part[level][x, y, c] for part in parts[name]] for name in ("dark", "bright"))
        merged[level] = stage(f"merged{level}", (one[0] * one[1] + other[0] * other[1]) / 128)
    fused1 = stage("fused1", merged[1][x, y, c] + merged[2][x / 2, y / 2, c])
    output = hl.Func("output")
    output[x, y, c] = merged[0][x, y, c] + fused1[x / 2, y / 2, c]
    box = [(0, 42), (0, 42), (0, 3)]

    def few():
        for each in stages:
            if each.name().split("$")[0] not in ("merged0", "sum"):
                each.compute_root()

    return Pipeline(output, [bright, dark], [42, 42, 3], {"bright": box, "dark": box},
                    {"root": roots(*stages), "few": few})


@program
def rom() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    curve, output = hl.Func("curve"), hl.Func("output")
    curve[k] = hl.cast(U16, hl.select(k == 0, 0, (k - 1) / 4))
    output[x, y] = curve[hl.cast(I32, hl.min(image[x, y], hl.cast(U16, 255)))]
    return Pipeline(output, [image], [64, 64], {"input": square(64)},
                    {"root": roots(curve), "unrolled": lambda: (curve.compute_root(), unroll(output, x, 2))})


@program
def conv_1_3() -> Pipeline:
    """The taps as a reduction, their weights in a table of constants."""
    image = stream_to_accelerator("input", U16, 2)
    weights = constants(np.array([1, 3, 2], dtype=np.uint16), "weights")
    sums, output, r = hl.Func("sums"), hl.Func("output"), hl.RDom([(0, 3)], "r")
    sums[x, y] = hl.cast(U16, 0)
    sums[x, y] += weights[r] * image[x + r, y]
    output[x, y] = sums[x, y]

    def row():
        compute_at(sums, output, y).update().unroll(r)

    return Pipeline(output, [image], [62, 64], {"input": square(64)},
                    {"unrolled": lambda: sums.compute_root().update().unroll(r), "row": row})


@program
def unsharp_new() -> Pipeline:
    """Sharpening with a table of reciprocals."""
    image = stream_to_accelerator("input", U16, 3)
    gray, blur, sharp, ratio = grayscale(image), hl.Func("blur"), hl.Func("sharp"), hl.Func("ratio")
    reciprocal, output = hl.Func("reciprocal"), hl.Func("output")
    reciprocal[k] = hl.cast(U16, 256 / (k + 1))
    blur[x, y] = hl.cast(I16, weighted(gray, GAUSS, U16))
    low = hl.cast(I16, hl.cast(U8, blur[x, y] / 256))
    sharp[x, y] = hl.cast(U16, hl.clamp(hl.cast(I16, gray[x + 2, y + 2]) * 2 - low, hl.cast(I16, 0), hl.cast(I16, 255)))
    clamped = hl.clamp(hl.cast(I32, gray[x + 2, y + 2]), 1, 255)
    ratio[x, y] = sharp[x, y] * reciprocal[clamped - 1]
    product = hl.cast(I32, ratio[x, y]) * hl.cast(I32, image[c, x + 2, y + 2])
    output[c, x, y] = hl.cast(I16, product / 256)
    output.bound(c, 0, 3).unroll(c)
    stages = [gray, blur, sharp, ratio]

    def rows():
        reciprocal.compute_root()
        for stage in stages:
            compute_at(stage, output, y)

    return Pipeline(output, [image], [3, 60, 60], {"input": square(64, 0, (0, 3))},
                    {"root": roots(reciprocal, *stages), "rows": rows})


@program
def counter() -> Pipeline:
    output = hl.Func("output")
    output[x, y] = hl.cast(U16, x) + hl.cast(U16, 64) * hl.cast(U16, y)
    return Pipeline(output, [], [64, 64], {}, {"inline": nothing, "unrolled": lambda: unroll(output, x, 2)})


@program
def camera_pipeline_new() -> Pipeline:
    """The colours of a mosaic by four planes of half the size."""
    image = stream_to_accelerator("input", U16, 2)
    denoised, output = hl.Func("denoised"), hl.Func("output")
    stages = [denoised]

    def stage(name, value):
        func = hl.Func(name)
        func[x, y] = value
        stages.append(func)
        return func

    around = [image[x - 2, y], image[x + 2, y], image[x, y - 2], image[x, y + 2]]
    denoised[x, y] = hl.min(image[x, y], hl.max(hl.max(around[0], around[1]), hl.max(around[2], around[3])))
    gr, r = stage("gr", denoised[2 * x, 2 * y]), stage("r", denoised[2 * x + 1, 2 * y])
    b, gb = stage("b", denoised[2 * x, 2 * y + 1]), stage("gb", denoised[2 * x + 1, 2 * y + 1])
    near_red = hl.select(hl.absd(gr[x + 1, y], gr[x, y]) < hl.absd(gb[x, y - 1], gb[x, y]),
                         average(gr[x + 1, y], gr[x, y]), average(gb[x, y - 1], gb[x, y]))
    near_blue = hl.select(hl.absd(gb[x - 1, y], gb[x, y]) < hl.absd(gr[x, y + 1], gr[x, y]),
                          average(gb[x - 1, y], gb[x, y]), average(gr[x, y + 1], gr[x, y]))
    g_r, g_b = stage("g_r", near_red), stage("g_b", near_blue)

    def beside(at, of, green, one, other):
        return at[x, y] + average(of[one], of[other]) - average(green[one], green[other])

    r_gr = stage("r_gr", beside(gr, r, g_r, (x - 1, y), (x, y)))
    b_gr = stage("b_gr", beside(gr, b, g_b, (x, y), (x, y - 1)))
    r_gb = stage("r_gb", beside(gb, r, g_r, (x, y), (x, y + 1)))
    b_gb = stage("b_gb", beside(gb, b, g_b, (x, y), (x + 1, y)))
    r_b = stage("r_b", hl.select(hl.absd(r[x, y], r[x - 1, y + 1]) < hl.absd(r[x - 1, y], r[x, y + 1]),
                                 beside(g_b, r, g_r, (x, y), (x - 1, y + 1)),
                                 beside(g_b, r, g_r, (x - 1, y), (x, y + 1))))
    b_r = stage("b_r", hl.select(hl.absd(b[x, y], b[x + 1, y - 1]) < hl.absd(b[x + 1, y], b[x, y - 1]),
                                 beside(g_r, b, g_b, (x, y), (x + 1, y - 1)),
                                 beside(g_r, b, g_b, (x + 1, y), (x, y - 1))))

    def mosaic(name, *planes):
        even, odd, below, beyond = (plane[x / 2, y / 2] for plane in planes)
        return stage(name, hl.select((y % 2) == 0, hl.select((x % 2) == 0, even, odd),
                                     hl.select((x % 2) == 0, below, beyond)))

    planes = [mosaic("red", r_gr, r, r_b, r_gb), mosaic("green", gr, g_r, g_b, gb), mosaic("blue", b_gr, b_r, b, b_gb)]
    colours = [hl.cast(I32, plane[x, y]) for plane in planes]
    matrix = [(549, -103, 7, -10221), (-96, 373, 62, -7254), (-31, -261, 883, -5563)]
    corrected = [hl.cast(I16, (total(i * colour for i, colour in zip(row, colours)) + row[3]) >> 8) for row in matrix]
    table = constants(np.array(curve_entries(), dtype=np.uint16), "curve")
    output[x, y, c] = hl.mux(c, [table[hl.clamp(hl.cast(I32, value), 0, 1023)] for value in corrected])
    output.bound(c, 0, 3).reorder(c, x, y).unroll(c)

    def tiled():
        for each in stages[:-3]:
            each.compute_root()
        tile(output, x, y, xo, yo, xi, yi, 28, 28).reorder(c, xi, yi, xo, yo)
        for each in stages[-3:]:
            compute_at(each, output, xo)

    return Pipeline(output, [image], [56, 56, 3], {"input": square(64, -4)},
                    {"root": roots(*stages), "tiled": tiled})


def curve_entries() -> list[int]:
    """A gamma of 1/2 with contrast, rounded down to 0..255."""
    beta = 2 - 2 ** 0.5
    alpha = 2 - 2 * beta
    entries = []
    for number in range(1024):
        gamma = (number / 1024) ** 0.5
        inverse = 1 - gamma
        above = 1 - (alpha * inverse * inverse + beta * inverse)
        value = above if gamma > 0.5 else alpha * gamma * gamma + beta * gamma
        entries.append(int(min(max(256 * value, 0), 255)))
    return entries


@program
def nlmeans() -> Pipeline:
    """Averages of pixels, weighted by how alike the windows around them are: the shifts are unrolled."""
    image = stream_to_accelerator("input", U16, 3)
    output = hl.Func("output")
    stages, dens, nums = [], [], []

    def stage(name, value):
        func = hl.Func(name)
        func[x, y] = value
        stages.append(func)
        return func

    for j in range(-2, 2):
        for i in range(-2, 2):
            tag = f"{i + 2}{j + 2}"
            difference = [image[channel, x, y] - image[channel, x + i, y + j] for channel in range(3)]
            distance = stage(f"distance{tag}", total(d * d for d in difference))
            by = stage(f"by{tag}", distance[x, y - 2] + distance[x, y - 1] + distance[x, y] + distance[x, y + 1])
            bd = stage(f"bd{tag}", by[x - 2, y] + by[x - 1, y] + by[x, y] + by[x + 1, y])
            weight = hl.cast(U16, 16) * bd[x, y]
            dens.append(weight)
            nums.append(hl.cast(I16, weight * image[c, x + i, y + j]))
    den = stage("den", total(dens))
    num = total(nums)
    output[c, x, y] = hl.cast(U16, hl.clamp(num * hl.cast(I16, den[x, y]), hl.cast(I16, 0), hl.cast(I16, 255)))
    output.bound(c, 0, 3).unroll(c)

    def rows():
        for each in stages:
            compute_at(each, output, y)

    return Pipeline(output, [image], [3, 32, 32], {"input": square(40, -4, (0, 3))},
                    {"root": roots(*stages), "rows": rows})


@program
def first_greatest():
    """Where the greatest of five pixels in a row is first: a tuple, whose values are updated from each other."""
    image = stream_to_accelerator("input", U16, 2)
    greatest, output = hl.Func("greatest"), hl.Func("output")
    window = hl.RDom([(1, 4)])
    greatest[x, y] = hl.Tuple([image[x, y], hl.cast(U16, 0)])
    pixel, (value, place) = image[x + window.x, y], (greatest[x, y][0], greatest[x, y][1])
    greatest[x, y] = hl.Tuple([hl.select(value < pixel, pixel, value),
                               hl.select(value < pixel, hl.cast(U16, window.x), place)])
    greatest.update().unroll(window.x)
    output[x, y] = greatest[x, y][1] + 5 * greatest[x, y + 1][1]
    return Pipeline(output, [image], [32, 16], {"input": [(0, 36), (0, 17)]}, {"root": roots(greatest)})


@program
def swapped():
    """The values of a tuple, swapped where they are not in order."""
    image = stream_to_accelerator("input", U8, 2)
    pair, output = hl.Func("pair"), hl.Func("output")
    pair[x, y] = hl.Tuple([image[x, y], image[x + 1, y]])
    in_order = pair[x, y][0] <= pair[x, y][1]
    pair[x, y] = hl.Tuple([hl.select(in_order, pair[x, y][0], pair[x, y][1]),
                          hl.select(in_order, pair[x, y][1], pair[x, y][0])])
    output[x, y] = pair[x, y][0] - pair[x, y + 1][1] / 2

    def tiled():
        tile(output, x, y, xo, yo, xi, yi, 8, 4)
        compute_at(pair, output, xo)

    return Pipeline(output, [image], [32, 16], {"input": [(0, 33), (0, 17)]},
                    {"root": roots(pair), "rows": lambda: compute_at(pair, output, y), "tiled": tiled})


#: The block matching of a whole image.
PROGRAMS |= {"stereo": partial(matched, 128, [])}
LARGE.add("stereo")
LONG.update(["harris_sch7", "brighten_blur_tiled", "gpyr_tiled", "stereo_small", "gaussian_unroll4", "gaussian_unroll8",
             "gaussian_unroll16"])
