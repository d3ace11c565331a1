"""The benchmark programs of `apps` in Halide, each with several schedules.

A program is a function that builds a fresh pipeline and returns it. Names of inputs and outputs are those of the nest in
`apps`, so that both can be run on the same images.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable

import halide as hl
import numpy as np
from pushmem_halide import compute_at, store_at, stream_to_accelerator, tile, unroll

x, y, c, k = hl.Var("x"), hl.Var("y"), hl.Var("c"), hl.Var("k")
xo, yo, xi, yi = hl.Var("xo"), hl.Var("yo"), hl.Var("xi"), hl.Var("yi")
U8, I16, U16, I32 = hl.UInt(8), hl.Int(16), hl.UInt(16), hl.Int(32)


@dataclass
class Pipeline:
    """A pipeline, and what can be done with it."""

    output: hl.Func
    inputs: list[hl.ImageParam]
    #: The extents of the output, innermost first.
    extents: list[int]
    #: For each input, the least index and the extent of every dimension.
    boxes: dict[str, list[tuple[int, int]]]
    #: Schedules by name. Each works on the pipeline it belongs to.
    schedules: dict[str, Callable[[], None]]
    tables: list[hl.Buffer] = field(default_factory=list)


PROGRAMS: dict[str, Callable[[], Pipeline]] = {}


def program(build):
    """Adds a program to the list, by the name of the function."""
    PROGRAMS[build.__name__] = build
    return build


def square(extent: int, least: int = 0, *others) -> list[tuple[int, int]]:
    return [*others, (least, extent), (least, extent)]


def weighted(func, weights, element, at=lambda i: i):
    """The sum of a window, each element times its weight. `at` gives the offset of a column or a row."""
    terms = [func[x + at(i), y + at(j)] * hl.cast(element, weight)
             for j, row in enumerate(weights) for i, weight in enumerate(row)]
    return sum(terms[1:], terms[0])


def centred(i: int) -> int:
    return i - 1


def average(a, b):
    return (a + b + hl.cast(U16, 1)) / 2


def roots(*funcs):
    return lambda: [func.compute_root() for func in funcs]


def stencil(name: str, weights, divisor: int | None) -> Pipeline:
    """One convolution of 3 x 3."""
    image = stream_to_accelerator("input", U16, 2)
    sums, output = hl.Func("sums"), hl.Func("output")
    sums[x, y] = weighted(image, weights, U16)
    output[x, y] = sums[x, y] / divisor if divisor else sums[x, y]
    copy = image.in_()

    def tiled():
        tile(output, x, y, xo, yo, xi, yi, 31, 31)
        compute_at(sums, output, xo)

    def sliding():
        copy.store_root()
        compute_at(copy, output, y)
        compute_at(sums, output, y)

    def unrolled():
        unroll(output, x, 2)
        unroll(sums.compute_root(), x, 2)

    return Pipeline(output, [image], [62, 62], {"input": square(64)},
                    {"root": roots(copy, sums), "inline": lambda: None, "tiled": tiled, "sliding": sliding,
                     "unrolled": unrolled})


@program
def gaussian() -> Pipeline:
    return stencil("gaussian", [[24, 30, 24], [30, 37, 30], [24, 30, 24]], 256)


@program
def conv_3_3() -> Pipeline:
    return stencil("conv_3_3", [[11, 14, 17], [12, 255, 18], [13, 16, 19]], None)


@program
def conv_1_2() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    output = hl.Func("output")
    output[x, y] = image[x, y] + image[x + 1, y] * 3
    return Pipeline(output, [image], [63, 64], {"input": square(64)},
                    {"inline": lambda: None, "unrolled": lambda: unroll(output, x, 3)})


@program
def pointwise() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    output = hl.Func("output")
    output[x, y] = image[x, y] * 2
    return Pipeline(output, [image], [64, 64], {"input": square(64)},
                    {"inline": lambda: None, "unrolled": lambda: unroll(output, x, 4)})


@program
def strided_conv() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    output = hl.Func("output")
    weights = [[11, 14, 17], [12, 0, 18], [13, 16, 19]]
    terms = [image[x * 2 + i, y * 2 + j] * weight for j, row in enumerate(weights) for i, weight in enumerate(row)]
    output[x, y] = sum(terms[1:], terms[0])
    return Pipeline(output, [image], [31, 31], {"input": square(63)},
                    {"inline": lambda: None, "root": roots(image.in_())})


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

    def sliding():
        first.store_root()
        compute_at(first, output, y)

    return Pipeline(output, [image], [60, 60], {"input": square(64)},
                    {"root": roots(first), "tiled": tiled, "sliding": sliding})


def corners(image, streams, limit: int, divisor: int, extent: int, box) -> Pipeline:
    """The corners of an image: Harris."""
    gx, gy, measure, output = hl.Func("gx"), hl.Func("gy"), hl.Func("measure"), hl.Func("output")
    two = hl.cast(I16, 2)
    limited = lambda value: hl.clamp(value, hl.cast(I16, -limit), hl.cast(I16, limit))
    gx[x, y] = limited((image[x + 1, y - 1] + two * image[x + 1, y] + image[x + 1, y + 1])
                       - (image[x - 1, y - 1] + two * image[x - 1, y] + image[x - 1, y + 1]))
    gy[x, y] = limited((image[x - 1, y + 1] + two * image[x, y + 1] + image[x + 1, y + 1])
                       - (image[x - 1, y - 1] + two * image[x, y - 1] + image[x + 1, y - 1]))
    products, sums = [], []
    for name, one, other in [("xx", gx, gx), ("xy", gx, gy), ("yy", gy, gy)]:
        product, total = hl.Func(f"l{name}"), hl.Func(f"s{name}")
        product[x, y] = one[x, y] * other[x, y] / divisor
        total[x, y] = weighted(product, [[1] * 3] * 3, I16, centred)
        products.append(product)
        sums.append(total)
    sxx, sxy, syy = (total[x, y] / 64 for total in sums)
    measure[x, y] = sxx * syy - sxy * sxy - (sxx + syy) * (sxx + syy) / 16
    here = measure[x, y]
    condition = here >= 1
    for i, j in [(i, j) for j in (-1, 0, 1) for i in (-1, 0, 1) if i or j]:
        condition = condition & (here > measure[x + i, y + j])
    output[x, y] = hl.select(condition, hl.cast(I16, 255), hl.cast(I16, 0))
    stages = [gx, gy, *products, *sums, measure]

    def tiled():
        tile(output, x, y, xo, yo, xi, yi, extent // 2, extent // 2)
        for stage in stages:
            compute_at(stage, output, xo)

    def sliding():
        for stage in stages:
            stage.store_root()
            compute_at(stage, output, y)

    def rows():
        for stage in stages:
            compute_at(stage, output, y)

    def unrolled():
        for stage in stages:
            unroll(stage.compute_root(), x, 2)
        unroll(output, x, 2)

    return Pipeline(output, [streams], [extent, extent], {"input": box}, {
        "root": roots(*stages), "few": roots(gx, gy, measure), "tiled": tiled, "sliding": sliding, "rows": rows,
        "unrolled": unrolled})


@program
def harris() -> Pipeline:
    image = stream_to_accelerator("input", I16, 2)
    return corners(image, image, 255, 128, 58, square(64, -3))


@program
def harris_color() -> Pipeline:
    image = stream_to_accelerator("input", I16, 3)
    gray = hl.Func("pixels")
    red, green, blue = (hl.cast(U16, image[channel, x, y]) for channel in range(3))
    gray[x, y] = hl.cast(I16, (red * 77 + green * 150 + blue * 29) / 256)
    gray.compute_root()
    pipeline = corners(gray, image, 180, 64, 66, square(72, -3, (0, 3)))
    pipeline.schedules = {name: pipeline.schedules[name] for name in ("root", "tiled")}
    return pipeline


def grayscale(image):
    gray = hl.Func("gray")
    gray[x, y] = (image[0, x, y] * 77 + image[1, x, y] * 150 + image[2, x, y] * 29) / 256
    return gray


GAUSS = [[3, 7, 8, 7, 3], [7, 14, 17, 14, 7], [8, 17, 21, 17, 8], [7, 14, 17, 14, 7], [3, 7, 8, 7, 3]]


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

    def sliding():
        for stage in stages:
            stage.store_root()
            compute_at(stage, output, y)

    def unrolled():
        for stage in stages:
            unroll(stage.compute_root(), x, 2)
        unroll(output, x, 2)

    return Pipeline(output, [image], [3, 60, 60], {"input": square(64, -2, (0, 3))}, {
        "root": colours(roots(*stages)), "few": colours(roots(gray, ratio)), "rolled": roots(*stages),
        "tiled": colours(tiled), "sliding": colours(sliding), "unrolled": colours(unrolled)})


@program
def up_sample() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    nearest, output = hl.Func("nearest"), hl.Func("output")
    nearest[x, y] = image[x / 2, y / 2]
    output[x, y] = hl.cast(U8, nearest[x, y])

    def rows():
        compute_at(nearest, output, y)
        unroll(output, x, 2)

    return Pipeline(output, [image], [128, 128], {"input": square(64)},
                    {"root": roots(nearest), "rows": rows, "inline": lambda: None})


@program
def down_sample() -> Pipeline:
    image = stream_to_accelerator("input", U16, 3)
    sums, output = hl.Func("sums"), hl.Func("output")
    sums[x, y, c] = (image[2 * x, 2 * y, c] + image[2 * x + 1, 2 * y, c] + image[2 * x, 2 * y + 1, c]
                     + image[2 * x + 1, 2 * y + 1, c])
    output[x, y, c] = hl.cast(U8, sums[x, y, c] / 4)
    return Pipeline(output, [image], [32, 32, 4], {"input": [(0, 64), (0, 64), (0, 4)]},
                    {"root": roots(sums), "rows": lambda: compute_at(sums, output, y), "inline": lambda: None})


def bordered(name: str, wrap) -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    output, border = hl.Func("output"), wrap(image)
    output[x, y] = weighted(border, [[1, 2, 1], [2, 4, 2], [1, 2, 1]], U16, centred) / 16

    def whole():
        output.partition(x, hl.Partition.Never).partition(y, hl.Partition.Never)

    return Pipeline(output, [image], [64, 64], {"input": square(64)},
                    {"inline": lambda: None, "root": roots(border), "whole": whole,
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
def gpyr() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    of, stages = image, []
    for level in range(3):
        func = hl.Func("output" if level == 2 else f"level{level + 1}")
        func[x, y] = (of[2 * x, 2 * y] + of[2 * x + 1, 2 * y] + of[2 * x, 2 * y + 1] + of[2 * x + 1, 2 * y + 1]) / 4
        stages.append(func)
        of = func

    def rows():
        stages[0].compute_root()
        compute_at(stages[1], stages[2], y)

    return Pipeline(of, [image], [8, 8], {"input": square(64)}, {"root": roots(*stages[:2]), "rows": rows})


@program
def rom() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    curve, output = hl.Func("curve"), hl.Func("output")
    curve[k] = hl.cast(U16, hl.select(k == 0, 0, (k - 1) / 4))
    output[x, y] = curve[hl.cast(I32, hl.min(image[x, y], hl.cast(U16, 255)))]
    return Pipeline(output, [image], [64, 64], {"input": square(64)},
                    {"root": roots(curve), "unrolled": lambda: (curve.compute_root(), unroll(output, x, 2))})


@program
def matmul() -> Pipeline:
    return product(64)


def product(size: int) -> Pipeline:
    """A product of matrices, as a reduction."""
    a, b = stream_to_accelerator("a", I16, 2), stream_to_accelerator("b", I16, 2)
    total, output, r = hl.Func("total"), hl.Func("output"), hl.RDom([(0, size)], "r")
    total[x, y] = hl.cast(I16, 0)
    total[x, y] += a[r, y] * b[x, r]
    output[x, y] = total[x, y]
    ro, ri = hl.RVar("ro"), hl.RVar("ri")

    def blocks(width):
        return lambda: (total.compute_root().update().split(r, ro, ri, 8).unroll(ri).reorder(ri, x, ro, y)
                        .unroll(x, width))

    return Pipeline(output, [a, b], [size, size], {"a": square(size), "b": square(size)},
                    {"eight": blocks(8), "four": blocks(4)})


@program
def brighten_blur() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    brighten, blur = hl.Func("brighten"), hl.Func("blur")
    brighten[x, y] = image[x, y] * 2
    blur[x, y] = (brighten[x, y] + brighten[x + 1, y] + brighten[x, y + 1] + brighten[x + 1, y + 1]) / 4

    def sliding():
        brighten.store_root()
        compute_at(brighten, blur, x)

    return Pipeline(blur, [image], [63, 63], {"input": square(64)}, {"root": roots(brighten), "sliding": sliding})


@program
def conv_1_3() -> Pipeline:
    """The taps as a reduction, their weights in a table of constants."""
    image = stream_to_accelerator("input", U16, 2)
    weights = hl.Buffer(np.array([1, 3, 2], dtype=np.uint16), "weights")
    sums, output, r = hl.Func("sums"), hl.Func("output"), hl.RDom([(0, 3)], "r")
    sums[x, y] = hl.cast(U16, 0)
    sums[x, y] += weights[r] * image[x + r, y]
    output[x, y] = sums[x, y]

    def row():
        compute_at(sums, output, y).update().unroll(r)

    return Pipeline(output, [image], [62, 64], {"input": square(64)},
                    {"unrolled": lambda: sums.compute_root().update().unroll(r), "row": row}, [weights])


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
def max_pool() -> Pipeline:
    image = stream_to_accelerator("input", I16, 3)
    output = hl.Func("output")
    best = image[c, x, y]
    for i, j in [(i, j) for j in range(3) for i in range(3) if i or j]:
        best = hl.max(best, image[c, x + i, y + j])
    output[c, x, y] = best
    output.bound(c, 0, 8).unroll(c)

    def tiled():
        tile(output, x, y, xo, yo, xi, yi, 14, 14).reorder(c, xi, yi, xo, yo)

    return Pipeline(output, [image], [8, 28, 28], {"input": square(30, 0, (0, 8))},
                    {"inline": lambda: None, "tiled": tiled})


def convolution(output_channels: int, input_channels: int, size: int, rectified: bool) -> Pipeline:
    """A layer of a network: a reduction over a window and over channels."""
    image, weights = stream_to_accelerator("input", I16, 3), stream_to_accelerator("weights", I16, 4)
    sums, output = hl.Func("sums"), hl.Func("output")
    r = hl.RDom([(0, input_channels), (0, 3), (0, 3)], "r")
    sums[c, x, y] = hl.cast(I16, 0)
    sums[c, x, y] += weights[r.x, c, r.y, r.z] * image[r.x, x + r.y, y + r.z]
    output[c, x, y] = hl.max(sums[c, x, y], hl.cast(I16, 0)) if rectified else sums[c, x, y]
    sums.bound(c, 0, output_channels)

    def schedule(*order):
        return lambda: sums.compute_root().unroll(c).update().reorder(r.x, c, *order).unroll(r.x).unroll(c)

    edge = size - 2
    return Pipeline(output, [image, weights], [output_channels, edge, edge],
                    {"input": square(size, 0, (0, input_channels)),
                     "weights": square(3, 0, (0, input_channels), (0, output_channels))},
                    {"rows": schedule(x, y, r.y, r.z), "columns": schedule(x, y, r.z, r.y)})


@program
def resnet_tiny() -> Pipeline:
    return convolution(1, 1, 16, False)


@program
def resnet_simple() -> Pipeline:
    return convolution(1, 1, 30, True)


@program
def resnet() -> Pipeline:
    return convolution(3, 8, 30, False)


@program
def resnet88() -> Pipeline:
    return convolution(8, 8, 30, False)


@program
def depthwise() -> Pipeline:
    image, weights = stream_to_accelerator("input", I16, 3), stream_to_accelerator("weights", I16, 3)
    sums, output, r = hl.Func("sums"), hl.Func("output"), hl.RDom([(0, 3), (0, 3)], "r")
    sums[c, x, y] = hl.cast(I16, 0)
    sums[c, x, y] += weights[c, r.x, r.y] * image[c, x + r.x, y + r.y]
    output[c, x, y] = sums[c, x, y]

    def rolled():
        sums.compute_root().bound(c, 0, 8).unroll(c).update().reorder(c, x, y, r.x, r.y).unroll(c)

    def windows():
        sums.compute_root().bound(c, 0, 8).unroll(c).update().reorder(c, r.x, r.y, x, y).unroll(c).unroll(r.x).unroll(r.y)

    return Pipeline(output, [image, weights], [8, 28, 28],
                    {"input": square(30, 0, (0, 8)), "weights": square(3, 0, (0, 8))},
                    {"rolled": rolled, "windows": windows})


@program
def mobilenet() -> Pipeline:
    image = stream_to_accelerator("input", I16, 3)
    depth, point = stream_to_accelerator("depthwise", I16, 3), stream_to_accelerator("pointwise", I16, 2)
    dw, output = hl.Func("dw"), hl.Func("output")
    dw[c, x, y] = weighted_by(depth, image)
    terms = [point[each, k] * dw[each, x, y] for each in range(4)]
    output[k, x, y] = sum(terms[1:], terms[0])
    output.bound(k, 0, 3).unroll(k)

    def rolled():
        dw.compute_root().bound(c, 0, 4).unroll(c)

    def rows():
        compute_at(dw, output, y).bound(c, 0, 4).unroll(c)

    return Pipeline(output, [image, depth, point], [3, 30, 30],
                    {"input": square(32, 0, (0, 4)), "depthwise": square(3, 0, (0, 4)), "pointwise": [(0, 4), (0, 3)]},
                    {"root": rolled, "rows": rows})


def weighted_by(weights, image):
    terms = [weights[c, i, j] * image[c, x + i, y + j] for j in range(3) for i in range(3)]
    return sum(terms[1:], terms[0])


@program
def fully_connected() -> Pipeline:
    z = hl.Var("z")
    image, weights, bias = (stream_to_accelerator(name, I16, dimensions)
                            for name, dimensions in [("input", 1), ("weights", 2), ("bias", 1)])
    sums, output, r = hl.Func("sums"), hl.Func("output"), hl.RDom([(0, 64)], "r")
    sums[z] = bias[z]
    sums[z] += weights[r, z] * image[r]
    output[z] = hl.max(sums[z], hl.cast(I16, 0))
    ro, ri = hl.RVar("ro"), hl.RVar("ri")

    def schedule(at_once):
        return lambda: sums.compute_root().update().split(r, ro, ri, at_once).unroll(ri).reorder(ri, z, ro)

    return Pipeline(output, [image, weights, bias], [10],
                    {"input": [(0, 64)], "weights": [(0, 64), (0, 10)], "bias": [(0, 10)]},
                    {"by_8": schedule(8), "by_4": schedule(4)})


@program
def residual_block() -> Pipeline:
    image = stream_to_accelerator("input", I16, 3)
    weights = [stream_to_accelerator(f"weights{number}", I16, 4) for number in (1, 2)]
    r = hl.RDom([(0, 8), (0, 3), (0, 3)], "r")
    sums, middle = [], None
    for number, kernel in enumerate(weights, 1):
        of = image if middle is None else middle
        total = hl.Func(f"sums{number}")
        total[c, x, y] = hl.cast(I16, 0)
        total[c, x, y] += kernel[r.x, c, r.y, r.z] * of[r.x, x + r.y, y + r.z]
        sums.append(total)
        if middle is None:
            middle = hl.Func("middle")
            middle[c, x, y] = hl.max(total[c, x, y], hl.cast(I16, 0))
    output = hl.Func("output")
    output[c, x, y] = hl.max(sums[1][c, x, y] + image[c, x + 2, y + 2], hl.cast(I16, 0))

    def schedule(*order):
        def apply():
            for total in sums:
                update = total.compute_root().bound(c, 0, 8).unroll(c).update()
                update.reorder(r.x, c, *order).unroll(r.x).unroll(c)
            middle.compute_root().bound(c, 0, 8).unroll(c)
        return apply

    kernel = square(3, 0, (0, 8), (0, 8))
    return Pipeline(output, [image, *weights], [8, 26, 26],
                    {"input": square(30, 0, (0, 8)), "weights1": kernel, "weights2": kernel},
                    {"rows": schedule(x, y, r.y, r.z), "columns": schedule(x, y, r.z, r.y)})


@program
def conv_3_3_wide() -> Pipeline:
    image = stream_to_accelerator("input", U16, 2)
    output = hl.Func("output")
    output[x, y] = weighted(image, [[11, 14, 17], [12, 255, 18], [13, 16, 19]], U16)

    def tiled():
        tile(output, x, y, xo, yo, xi, yi, 341, 31)

    return Pipeline(output, [image], [2046, 62], {"input": [(0, 2048), (0, 64)]},
                    {"inline": lambda: None, "tiled": tiled})


@program
def counter() -> Pipeline:
    output = hl.Func("output")
    output[x, y] = hl.cast(U16, x) + hl.cast(U16, 64) * hl.cast(U16, y)
    return Pipeline(output, [], [64, 64], {}, {"inline": lambda: None, "unrolled": lambda: unroll(output, x, 2)})


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
    corrected = [hl.cast(I16, (sum(i * colour for i, colour in zip(row, colours)) + row[3]) >> 8) for row in matrix]
    table = hl.Buffer(np.array(curve_entries(), dtype=np.uint16), "curve")
    output[x, y, c] = hl.mux(c, [table[hl.clamp(hl.cast(I32, value), 0, 1023)] for value in corrected])
    output.bound(c, 0, 3).reorder(c, x, y).unroll(c)

    def tiled():
        for each in stages[:-3]:
            each.compute_root()
        tile(output, x, y, xo, yo, xi, yi, 28, 28).reorder(c, xi, yi, xo, yo)
        for each in stages[-3:]:
            compute_at(each, output, xo)

    return Pipeline(output, [image], [56, 56, 3], {"input": square(64, -4)},
                    {"root": roots(*stages), "tiled": tiled}, [table])


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
            distance = stage(f"distance{tag}", sum((d * d for d in difference[1:]), difference[0] * difference[0]))
            by = stage(f"by{tag}", distance[x, y - 2] + distance[x, y - 1] + distance[x, y] + distance[x, y + 1])
            bd = stage(f"bd{tag}", by[x - 2, y] + by[x - 1, y] + by[x, y] + by[x + 1, y])
            weight = hl.cast(U16, 16) * bd[x, y]
            dens.append(weight)
            nums.append(hl.cast(I16, weight * image[c, x + i, y + j]))
    den = stage("den", sum(dens[1:], dens[0]))
    num = sum(nums[1:], nums[0])
    output[c, x, y] = hl.cast(U16, hl.clamp(num * hl.cast(I16, den[x, y]), hl.cast(I16, 0), hl.cast(I16, 255)))
    output.bound(c, 0, 3).unroll(c)

    def rows():
        for each in stages:
            compute_at(each, output, y)

    return Pipeline(output, [image], [3, 32, 32], {"input": square(40, -4, (0, 3))},
                    {"root": roots(*stages), "rows": rows})
