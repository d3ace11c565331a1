"""Applications of Halide's repository in small sizes, with integers or numbers of bfloat16, each with several schedules.

`nl_means`, `camera_pipe`, `bilateral_grid`, `hist`, `harris`, `unsharp` and `depthwise_separable_conv` are among the other programs.
"""

from __future__ import annotations

import math

import halide as hl
import numpy as np
from pipeline import U8, U16, Pipeline, c, constants, nothing, program, roots, sliding, square, t, total, unrolled, x, xi, xo, y, yi, yo
from pushmem_halide import BF16, compute_at, stream_to_accelerator, tile, unroll

I16, I32 = hl.Int(16), hl.Int(32)
k = hl.Var("k")


def tiled(output, width, height, *funcs):
    """The schedule that computes these for each tile of the output."""
    def schedule():
        tile(output, x, y, xo, yo, xi, yi, width, height)
        for func in funcs:
            compute_at(func, output, xo)
    return schedule


def unrolled_steps(func, step):
    """The schedule that computes all steps of an update at once."""
    def schedule():
        func.compute_root()
        unroll(func.update(), step)
    return schedule


@program
def stencil_chain() -> Pipeline:
    """Stencils of five by five pixels, one after the other."""
    image = stream_to_accelerator("input", U16, 2)
    stages, before = [], image
    for number in range(3):
        stage = hl.Func(f"stage{number}")
        stage[x, y] = total(before[x + i, y + j] * hl.u16(1 + i * j % 3) for j in range(5) for i in range(5)) / 32
        stages.append(stage)
        before = stage
    output = stages.pop()
    return Pipeline(output, [image], [20, 20], {"input": square(32)},
                    {"root": roots(*stages), "sliding": sliding(output, *stages), "tiled": tiled(output, 10, 10, *stages),
                     "unrolled": unrolled(2, output, *stages)})


@program
def max_filter() -> Pipeline:
    """The greatest pixel of a disc: of columns of 1, 2 and 4 pixels, of which two make each column of the disc."""
    image, columns, output = stream_to_accelerator("input", U8, 2), hl.Func("columns"), hl.Func("output")
    radius, height = 3, 32
    heights = [1, 2, 3, 3, 3, 2, 1]
    r = hl.RDom([(-radius, height + 2 * radius), (1, 2)], "r")
    columns[x, y, k] = image[x, y]
    longer = hl.clamp(hl.i32(1) << (r.y - 1), 0, 2 * radius)
    columns[x, r.x, r.y] = hl.max(columns[x, r.x, r.y - 1], columns[x, r.x + longer, r.y - 1])

    def column(dx: int, half: int) -> hl.Expr:
        level = (2 * half + 1).bit_length() - 1
        return hl.max(columns[x + dx, y - half, level], columns[x + dx, y + half + 1 - (1 << level), level])

    greatest = column(-radius, heights[0])
    for dx, half in enumerate(heights[1:], 1 - radius):
        greatest = hl.max(greatest, column(dx, half))
    output[x, y] = greatest

    def copies():
        compute_at(columns, output, y)
        unroll(output, x, 2)
        unroll(columns, x, 2)
        unroll(columns.update(), x, 2)

    box = [(-radius, height + 2 * radius), (-radius, height + 4 * radius)]
    return Pipeline(output, [image], [32, height], {"input": box},
                    {"root": roots(columns), "rows": lambda: compute_at(columns, output, y), "copies": copies,
                     "tiled": tiled(output, 16, 8, columns)})


@program
def diffusion() -> Pipeline:
    """Steps of diffusion in an image with a fixed border, as the levels of a dimension."""
    image, heat, output = stream_to_accelerator("input", U8, 2), hl.Func("heat"), hl.Func("output")
    size, steps = 32, 6
    r = hl.RDom([(1, size - 2), (1, size - 2), (1, steps)], "r")
    heat[x, y, t] = hl.u16(image[x, y]) << 4
    before = r.z - 1
    beside = heat[r.x - 1, r.y, before] + heat[r.x + 1, r.y, before]
    heat[r.x, r.y, r.z] = (heat[r.x, r.y, before] * 4 + beside + heat[r.x, r.y - 1, before] + heat[r.x, r.y + 1, before]) / 8
    output[x, y] = hl.u8(heat[x, y, steps] >> 4)

    return Pipeline(output, [image], [size, size], {"input": square(size)},
                    {"root": roots(heat), "unrolled": unrolled_steps(heat, r.z), "tiled": tiled(output, 16, 16, heat)})


@program
def both_ways() -> Pipeline:
    """A recursive filter along the rows and back, then down the columns and up again."""
    image, filtered, output = stream_to_accelerator("input", U8, 2), hl.Func("filtered"), hl.Func("output")
    size, along = 64, [hl.RDom([(1, 63)], name) for name in ("right", "left", "down", "up")]
    filtered[x, y] = hl.u16(image[x, y]) << 4

    def step(at, before):
        filtered[at] = (3 * filtered[before] + filtered[at]) / 4

    right, left, down, up = (each.x for each in along)
    step((right, y), (right - 1, y))
    step((size - 1 - left, y), (size - left, y))
    step((x, down), (x, down - 1))
    step((x, size - 1 - up), (x, size - up))
    output[x, y] = hl.u8(filtered[x, y] >> 4)

    def rows_outside():
        filtered.compute_root()
        for number, loop in enumerate([down, up], 2):
            filtered.update(number).reorder(x, loop)

    def columns_outside():
        filtered.compute_root()
        for number, loop in enumerate([right, left]):
            filtered.update(number).reorder(y, loop)

    return Pipeline(output, [image], [size, size], {"input": square(size)},
                    {"root": roots(filtered), "rows_outside": rows_outside, "columns_outside": columns_outside})


@program
def resonator() -> Pipeline:
    """A complex recursive filter along the rows: the real and the imaginary part follow from each other."""
    image, state, output = stream_to_accelerator("input", U8, 2), hl.Func("state"), hl.Func("output")
    size = 64
    r = hl.RDom([(1, size - 1)], "r")
    state[x, y] = (hl.i16(image[x, y]) * 16, hl.i16(0))
    before = state[r.x - 1, y]
    real, imaginary = before[0], before[1]
    state[r.x, y] = (state[r.x, y][0] + (real * 6 - imaginary * 2) / 8, (real * 2 + imaginary * 6) / 8)
    output[x, y] = hl.u8(hl.clamp(state[x, y][1] >> 4, 0, 255))

    def columns_outside():
        state.compute_root()
        state.update().reorder(y, r.x)

    return Pipeline(output, [image], [size, size], {"input": square(size)},
                    {"root": roots(state), "columns_outside": columns_outside, "tiled": tiled(output, 64, 16, state)})


@program
def error_diffusion() -> Pipeline:
    """Floyd and Steinberg's halftone: each pixel becomes black or white, and hands its error on to four others."""
    image, wanted, output = stream_to_accelerator("input", U8, 2), hl.Func("wanted"), hl.Func("output")
    size = 64
    r = hl.RDom([(1, size - 2), (1, size - 1)], "r")
    wanted[x, y] = hl.i16(image[x, y])

    def error(at_x, at_y):
        value = wanted[at_x, at_y]
        return hl.select(value > 127, value - 255, value)

    handed = error(r.x - 1, r.y) * 7 + error(r.x + 1, r.y - 1) * 3 + error(r.x, r.y - 1) * 5 + error(r.x - 1, r.y - 1)
    wanted[r.x, r.y] = wanted[r.x, r.y] + handed / 16
    output[x, y] = hl.select(wanted[x, y] > 127, hl.u8(255), hl.u8(0))

    return Pipeline(output, [image], [size, size], {"input": square(size)},
                    {"root": roots(wanted), "tiled": tiled(output, 64, 16, wanted)})


@program
def distance_transform() -> Pipeline:
    """Chamfer distances to the nearest bright pixel: a scan from the first pixel to the last, and one back."""
    image, distance, output = stream_to_accelerator("input", U8, 2), hl.Func("distance"), hl.Func("output")
    size = 32
    there, back = hl.RDom([(1, size - 2), (1, size - 2)], "there"), hl.RDom([(1, size - 2), (1, size - 2)], "back")
    distance[x, y] = hl.select(image[x, y] > 240, hl.u16(0), hl.u16(1000))

    def scan(at, step):
        (column, row), least = at, distance[at]
        for dx, dy, cost in [(-1, 0, 3), (-1, -1, 4), (0, -1, 3), (1, -1, 4)]:
            least = hl.min(least, distance[column + dx * step, row + dy * step] + cost)
        distance[at] = least

    scan([there.x, there.y], 1)
    scan([size - 1 - back.x, size - 1 - back.y], -1)
    output[x, y] = distance[x, y]

    return Pipeline(output, [image], [size, size], {"input": square(size)}, {"root": roots(distance)})


@program
def checksums() -> Pipeline:
    """The CRC of 16 bits (CCITT) of each row, pixel by pixel."""
    image, sums, output = stream_to_accelerator("input", U8, 2), hl.Func("sums"), hl.Func("output")
    size = 32
    r = hl.RDom([(1, size - 1)], "r")
    sums[x, y] = hl.u16(0xFFFF)
    value = sums[r.x - 1, y] ^ (hl.u16(image[r.x, y]) << 8)
    for _ in range(8):
        value = hl.select((value & 0x8000) != 0, (value << 1) ^ 0x1021, value << 1)
    sums[r.x, y] = value
    output[x, y] = sums[x, y]

    return Pipeline(output, [image], [size, size], {"input": square(size)}, {"root": roots(sums)})


@program
def frame_checks() -> Pipeline:
    """The CRC of 32 bits (IEEE 802.3) of two bytes, bit by bit: each step uses the one before three times."""
    image, output = stream_to_accelerator("input", U8, 2), hl.Func("output")
    size = 32
    value = hl.u32(image[x, y]) | (hl.u32(image[x + 1, y]) << 8) | hl.u32(0xFFFF0000)
    for _ in range(16):
        value = hl.select((value & 1) != 0, (value >> 1) ^ hl.u32(0xEDB88320), value >> 1)
    output[x, y] = hl.u16(value ^ (value >> 16))

    return Pipeline(output, [image], [size - 1, size], {"input": square(size)}, {"inline": lambda: None})


@program
def rotations() -> Pipeline:
    """Sines of angles by rotations, each half as far as the one before (CORDIC)."""
    image, output = stream_to_accelerator("input", U16, 2), hl.Func("output")
    size = 32
    angle = hl.i16(image[x, y] % 8192) - 4096
    across, along = hl.i16(9949), hl.i16(0)
    for step in range(12):
        turn = hl.i16(round(math.atan(2.0**-step) * 8192 / math.pi))
        is_left = angle >= 0
        across, along, angle = (
            hl.select(is_left, across - (along >> step), across + (along >> step)),
            hl.select(is_left, along + (across >> step), along - (across >> step)),
            hl.select(is_left, angle - turn, angle + turn),
        )
    output[x, y] = along

    return Pipeline(output, [image], [size, size], {"input": square(size)}, {"inline": lambda: None})


@program
def long_divisions() -> Pipeline:
    """Quotients of neighbours, a bit in each step."""
    image, output = stream_to_accelerator("input", U16, 2), hl.Func("output")
    size = 32
    number, divisor = hl.u32(image[x, y]), hl.u32(image[x + 1, y]) | 1
    quotient, rest = hl.u32(0), hl.u32(0)
    for bit in reversed(range(16)):
        rest = (rest << 1) | ((number >> bit) & 1)
        fits = rest >= divisor
        rest = hl.select(fits, rest - divisor, rest)
        quotient = hl.select(fits, quotient | (1 << bit), quotient)
    output[x, y] = hl.u16(quotient)

    return Pipeline(output, [image], [size - 1, size], {"input": square(size)}, {"inline": lambda: None})


@program
def sorted_median() -> Pipeline:
    """The median of 5 by 5 pixels: they are sorted by exchanges of neighbours."""
    image, output = stream_to_accelerator("input", U8, 2), hl.Func("output")
    size = 32
    values = [image[x + dx, y + dy] for dy in range(5) for dx in range(5)]
    for step in range(len(values)):
        for place in range(step % 2, len(values) - 1, 2):
            one, other = values[place], values[place + 1]
            values[place], values[place + 1] = hl.min(one, other), hl.max(one, other)
    output[x, y] = values[len(values) // 2]

    return Pipeline(output, [image], [size - 4, size - 4], {"input": square(size)}, {"inline": lambda: None})


@program
def fibonacci() -> Pipeline:
    """Two values of 32 bits that follow from each other, with a pixel added in each step."""
    image, pair, output = stream_to_accelerator("input", U8, 2), hl.Func("pair"), hl.Func("output")
    size = 16
    r = hl.RDom([(1, size - 1)], "r")
    pair[x, y] = (hl.i32(0), hl.i32(1))
    one, other = pair[r.x - 1, y][0], pair[r.x - 1, y][1]
    pair[r.x, y] = (other, one + other + hl.i32(image[r.x, y]))
    output[x, y] = hl.u16(pair[x, y][1] >> 4)

    return Pipeline(output, [image], [size, size], {"input": square(size)}, {"root": roots(pair)})


@program
def gauss_seidel() -> Pipeline:
    """Steps of the method of Gauss and Seidel, in place: each pixel inside the border becomes the mean of the four beside it."""
    image, relaxed, output = stream_to_accelerator("input", U8, 2), hl.Func("relaxed"), hl.Func("output")
    size, steps = 32, 6
    r = hl.RDom([(1, size - 2), (1, size - 2), (0, steps)], "r")
    relaxed[x, y] = hl.u16(image[x, y]) << 4
    beside = relaxed[r.x - 1, r.y] + relaxed[r.x + 1, r.y]
    relaxed[r.x, r.y] = (beside + relaxed[r.x, r.y - 1] + relaxed[r.x, r.y + 1]) / 4
    output[x, y] = hl.u8(relaxed[x, y] >> 4)

    return Pipeline(output, [image], [size, size], {"input": square(size)},
                    {"root": roots(relaxed), "unrolled": unrolled_steps(relaxed, r.z)})


@program
def line_relaxation() -> Pipeline:
    """Steps of a relaxation of each column by itself; the steps are within the columns, as in Halide's order of loops."""
    image, relaxed, output = stream_to_accelerator("input", U8, 2), hl.Func("relaxed"), hl.Func("output")
    size, steps = 32, 6
    r = hl.RDom([(1, size - 2), (0, steps)], "r")
    relaxed[x, y] = hl.u16(image[x, y]) << 4
    relaxed[x, r.x] = (relaxed[x, r.x - 1] + relaxed[x, r.x] * 2 + relaxed[x, r.x + 1]) / 4
    output[x, y] = hl.u8(relaxed[x, y] >> 4)

    def steps_outside():
        relaxed.compute_root()
        relaxed.update().reorder(r.x, x, r.y)

    return Pipeline(output, [image], [size, size], {"input": square(size)},
                    {"root": roots(relaxed), "steps_outside": steps_outside, "unrolled": unrolled_steps(relaxed, r.y)})


@program
def ping_pong() -> Pipeline:
    """Steps of diffusion to and fro between two levels, so that a processor keeps two images only."""
    image, heat, output = stream_to_accelerator("input", U8, 2), hl.Func("heat"), hl.Func("output")
    size, steps = 32, 5
    r = hl.RDom([(1, size - 2), (1, size - 2), (0, steps)], "r")
    heat[x, y, t] = hl.u16(image[x, y]) << 4
    now, after = r.z % 2, (r.z + 1) % 2
    beside = heat[r.x - 1, r.y, now] + heat[r.x + 1, r.y, now]
    heat[r.x, r.y, after] = (heat[r.x, r.y, now] * 4 + beside + heat[r.x, r.y - 1, now] + heat[r.x, r.y + 1, now]) / 8
    output[x, y] = hl.u8(heat[x, y, steps % 2] >> 4)

    return Pipeline(output, [image], [size, size], {"input": square(size)}, {"root": roots(heat), "unrolled": unrolled_steps(heat, r.z)})


@program
def resize() -> Pipeline:
    """An image with three pixels in the place of two, by linear interpolation, along rows and then along columns."""
    image, along_x, output = stream_to_accelerator("input", U8, 2), hl.Func("along_x"), hl.Func("output")

    def between(read, at) -> hl.Expr:
        share = hl.u16(2 * at % 3)
        return hl.u8((hl.u16(read(2 * at / 3)) * (3 - share) + hl.u16(read(2 * at / 3 + 1)) * share + 1) / 3)

    along_x[x, y] = between(lambda at: image[at, y], x)
    output[x, y] = between(lambda at: along_x[x, at], y)
    return Pipeline(output, [image], [48, 48], {"input": square(33)},
                    {"root": roots(along_x), "inline": nothing, "unrolled": lambda: (roots(along_x)(), unroll(output, x, 3))})


@program
def wavelet() -> Pipeline:
    """The wavelet of Haar along rows, and its inverse with small details left away."""
    image, haar, output = stream_to_accelerator("input", U8, 2), hl.Func("haar"), hl.Func("output")
    one, other = hl.i16(image[2 * x, y]), hl.i16(image[2 * x + 1, y])
    haar[x, y, c] = hl.mux(c, [one + other, one - other])
    haar.bound(c, 0, 2)
    detail = haar[x / 2, y, 1]
    kept = hl.select(hl.abs(detail) < 8, hl.i16(0), detail)
    output[x, y] = hl.u8(hl.clamp(hl.select(x % 2 == 0, haar[x / 2, y, 0] + kept, haar[x / 2, y, 0] - kept) / 2, 0, 255))

    def rows():
        haar.store_root()
        compute_at(haar, output, y)
        haar.unroll(c)

    return Pipeline(output, [image], [32, 32], {"input": square(32)},
                    {"root": lambda: (roots(haar)(), haar.unroll(c)), "rows": rows})


@program
def wavelet_of_daubechies() -> Pipeline:
    """The wavelet of Daubechies with four weights, in numbers."""
    image, output = stream_to_accelerator("input", BF16, 2), hl.Func("output")
    weights = [0.4829629, 0.8365163, 0.22414387, -0.12940952]

    def filtered(of: list[float]) -> hl.Expr:
        return total(image[2 * x + place, y] * hl.cast(BF16, hl.f32(weight)) for place, weight in enumerate(of))

    signs = [weight * (-1) ** place for place, weight in enumerate(weights[::-1])]
    output[x, y, c] = hl.mux(c, [filtered(weights), filtered(signs)])
    return Pipeline(output, [image], [15, 32, 2], {"input": square(32)}, {"inline": nothing, "unrolled": lambda: output.unroll(c)})


@program
def iir_blur() -> Pipeline:
    """A recursive filter down the columns and up again, of an image and of its transposed result."""
    image = stream_to_accelerator("input", U8, 2)

    def filtered(read, name: str) -> hl.Func:
        blur = hl.Func(name)
        down, up = hl.RDom([(1, 31)], f"{name}_down"), hl.RDom([(1, 31)], f"{name}_up")
        blur[x, y] = hl.u16(read(x, y))
        blur[x, down.x] = (3 * blur[x, down.x - 1] + blur[x, down.x]) / 4
        blur[x, 31 - up.x] = (3 * blur[x, 32 - up.x] + blur[x, 31 - up.x]) / 4
        return blur

    first = filtered(lambda i, j: image[i, j], "first")
    second = filtered(lambda i, j: first[j, i], "second")
    output = hl.Func("output")
    output[x, y] = hl.u8(second[y, x])
    stages = [first, second]

    def rows_outside():
        for func in stages:
            func.compute_root()
            for number in range(2):
                func.update(number).reorder(x, func.rvars(number)[0])

    return Pipeline(output, [image], [32, 32], {"input": square(32)}, {"root": roots(*stages), "rows_outside": rows_outside},
                    nests=[])


@program
def interpolate() -> Pipeline:
    """Pixels that are not known are those of a coarser image: the second channel says how much a pixel counts."""
    image = stream_to_accelerator("input", U8, 3)
    weighted, down, up, output = (hl.Func(name) for name in ("weighted", "down", "up", "output"))
    weighted[x, y, c] = hl.select(c == 1, hl.u16(image[x, y, 1]), hl.u16(image[x, y, 0]) * hl.u16(image[x, y, 1]) / 256)
    down[x, y, c] = total(weighted[2 * x + i, 2 * y + j, c] for j in (0, 1) for i in (0, 1)) / 4
    up[x, y, c] = (down[x / 2, y / 2, c] + down[(x + 1) / 2, (y + 1) / 2, c]) / 2
    mixed = weighted[x, y, 0] + (256 - weighted[x, y, 1]) * up[x, y, 0] / hl.max(up[x, y, 1], 1)
    output[x, y] = hl.u8(hl.min(mixed, 255))
    stages = [weighted, down, up]

    def of_each_channel(*funcs):
        def channels():
            for func in funcs:
                func.compute_root().bound(c, 0, 2).unroll(c)
        return channels

    return Pipeline(output, [image], [30, 30], {"input": [(0, 32), (0, 32), (0, 2)]},
                    {"root": of_each_channel(*stages), "two": of_each_channel(weighted, down), "rolled": roots(*stages)})


@program
def local_laplacian() -> Pipeline:
    """Contrast of details: of two levels, each from an image that is remapped for the brightness of the pixel."""
    image = stream_to_accelerator("input", U8, 2)
    remapped, down, details, coarse, level, output = (
        hl.Func(name) for name in ("remapped", "down", "details", "coarse", "level", "output"))
    place = hl.Var("place")
    curve = hl.Func("curve")
    curve[place] = hl.i16(place * 3 / (1 + hl.abs(place) / 16))
    remapped[x, y, k] = 64 * hl.i16(k) + curve[hl.i32(image[x, y]) - 64 * k]
    down[x, y, k] = total(remapped[2 * x + i, 2 * y + j, k] for j in (0, 1) for i in (0, 1)) / 4
    details[x, y, k] = remapped[x, y, k] - down[x / 2, y / 2, k]
    coarse[x, y] = total(hl.i16(image[2 * x + i, 2 * y + j]) for j in (0, 1) for i in (0, 1)) / 4
    level[x, y] = hl.i32(image[x, y]) / 64
    output[x, y] = hl.u8(hl.clamp(coarse[x / 2, y / 2] + details[x, y, hl.clamp(level[x, y], 0, 3)], 0, 255))
    stages = [curve, details, coarse]

    def two_pixels():
        roots(*stages, down)()
        output.unroll(x, 2)

    return Pipeline(output, [image], [32, 32], {"input": square(32)},
                    {"root": roots(*stages, down), "inline": roots(curve), "unrolled": two_pixels})


@program
def lens_blur() -> Pipeline:
    """Depth from two images, by the shift with the least difference; then what is far is blurred more."""
    left, right = (stream_to_accelerator(name, U8, 2) for name in ("left", "right"))
    cost, around, depth, output = (hl.Func(name) for name in ("cost", "around", "depth", "output"))
    cost[x, y, k] = hl.u16(hl.absd(left[x, y], right[x + k, y]))
    around[x, y, k] = total(cost[x + i, y + j, k] for j in range(3) for i in range(3))
    r = hl.RDom([(0, 4)], "r")
    depth[x, y] = (hl.u16(65535), hl.u8(0))
    better = around[x, y, r.x] < depth[x, y][0]
    depth[x, y] = (hl.select(better, around[x, y, r.x], depth[x, y][0]), hl.select(better, hl.u8(r.x), depth[x, y][1]))
    sums = [hl.u16(0), hl.u16(0)]
    for j in range(3):
        for i in range(3):
            radius = abs(i - 1) + abs(j - 1)
            counts = depth[x, y][1] >= radius
            sums[0] = sums[0] + hl.select(counts, hl.u16(left[x + i, y + j]), 0)
            sums[1] = sums[1] + hl.select(counts, hl.u16(1), 0)
    output[x, y] = hl.u8(sums[0] / sums[1])

    def wholly():
        depth.compute_root()
        unroll(depth, r.x)

    return Pipeline(output, [left, right], [24, 24], {"left": square(26), "right": [(0, 29), (0, 26)]},
                    {"root": roots(around, depth), "unrolled": wholly, "depth": roots(depth)})


@program
def conv_layer() -> Pipeline:
    """A layer with a bias and without what is below zero, in numbers of bfloat16."""
    image, filters, bias = (stream_to_accelerator(name, BF16, count) for name, count in (("input", 3), ("filters", 4), ("bias", 1)))
    sums, output = hl.Func("sums"), hl.Func("output")
    r = hl.RDom([(0, 4), (0, 3), (0, 3)], "r")
    sums[c, x, y] = hl.cast(BF16, hl.f32(0))
    sums[c, x, y] += filters[c, r.y, r.z, r.x] * image[r.x, x + r.y, y + r.z]
    output[c, x, y] = hl.max(sums[c, x, y] + bias[c], hl.cast(BF16, hl.f32(0)))

    def channels():
        sums.compute_root()
        unroll(sums, c, 4)

    def window_outside():
        sums.compute_root()
        sums.update().reorder(c, x, y, r.x, r.y, r.z)

    return Pipeline(output, [image, filters, bias], [4, 8, 8],
                    {"input": [(0, 4), (0, 10), (0, 10)], "filters": [(0, 4), (0, 3), (0, 3), (0, 4)], "bias": [(0, 4)]},
                    {"root": roots(sums), "channels": channels, "window_outside": window_outside})


@program
def fft() -> Pipeline:
    """A Fourier transform of 16 points for each row: stages of pairs, whose real and imaginary parts are two Funcs."""
    points = 16
    image, output = stream_to_accelerator("input", I16, 2), hl.Func("output")
    angles = 2 * np.pi * np.arange(points // 2) / points
    cosine, sine = (constants(np.round(64 * of(angles)).astype(np.int16)) for of in (np.cos, lambda angle: -np.sin(angle)))
    real, imaginary, stages, half = (lambda at: image[at, y]), None, [], points // 2
    width = 1
    while width < points:
        parts = [hl.Func(f"{name}{width}") for name in ("real", "imaginary")]
        # The result at `at` is of a pair, half of all points apart; the later one is turned.
        first = x / (2 * width) * width + x % width
        turn = x % width * (half // width)
        a, b = real(first), real(first + half)
        ai, bi = (imaginary(first), imaginary(first + half)) if imaginary else (hl.i16(0), hl.i16(0))
        turned = hl.i16((hl.i32(b) * cosine[turn] - hl.i32(bi) * sine[turn]) / 64)
        turned_i = hl.i16((hl.i32(b) * sine[turn] + hl.i32(bi) * cosine[turn]) / 64)
        is_sum = x / width % 2 == 0
        parts[0][x, y] = hl.select(is_sum, a + turned, a - turned)
        parts[1][x, y] = hl.select(is_sum, ai + turned_i, ai - turned_i)
        real, imaginary = (lambda at, of=parts[0]: of[at, y]), (lambda at, of=parts[1]: of[at, y])
        stages += parts
        width *= 2
    output[x, y] = hl.abs(real(x)) + hl.abs(imaginary(x))
    images = {"input": np.random.default_rng(3).integers(-500, 500, (8, points), dtype=np.int16)}
    return Pipeline(output, [image], [points, 8], {"input": [(0, points), (0, 8)]},
                    {"root": roots(*stages), "unrolled": lambda: (roots(*stages)(), [stage.unroll(x, 4) for stage in stages])},
                    images=images)
