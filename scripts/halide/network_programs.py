"""The layers of networks and the products of matrices of `apps` in Halide, each with several schedules."""

from __future__ import annotations

from functools import partial

import halide as hl
from pipeline import (I16, LARGE, LONG, PROGRAMS, Pipeline, c, ci, co, k, nothing, program, square, t, total, x, xi, xo,
                      y, yi, yo)
from pushmem_halide import compute_at, stream_to_accelerator, tile

#: How many channels, or elements of a sum, are computed at once.
LANES = 8


def lanes(func: hl.Func, variable: hl.Var, extent: int) -> hl.Func:
    """Computes as many channels at once as there are lanes."""
    func.bound(variable, 0, extent)
    if extent <= LANES:
        return func.unroll(variable)
    return func.split(variable, co, ci, LANES).unroll(ci).reorder(ci, x, y, co)


def multiply(update, sums: tuple[hl.RVar, int], outputs: tuple[hl.Var, int], *order):
    """Schedules an update: `LANES` elements of the sum, for `LANES` outputs at once, then the loops of `order`, the innermost
    first, then the blocks of both."""
    at_once, blocks = [], []
    for (variable, extent), outer, inner in [(sums, hl.RVar("zo"), hl.RVar("zi")), (outputs, co, ci)]:
        if extent > LANES:
            update.split(variable, outer, inner, LANES)
            blocks.append(outer)
        at_once.append(inner if extent > LANES else variable)
    update.reorder(*at_once, *order, *blocks)
    for variable in at_once:
        update.unroll(variable)


def convolution(outputs: int, inputs: int, edge: int, window: int = 3, stride: int = 1, rectified: bool = False,
                nests: list[str] | None = None) -> Pipeline:
    """A layer of a network, of `edge` x `edge` pixels: a reduction over a window and over channels."""
    image, weights = stream_to_accelerator("input", I16, 3), stream_to_accelerator("weights", I16, 4)
    sums, output = hl.Func("sums"), hl.Func("output")
    r = hl.RDom([(0, inputs), (0, window), (0, window)], "r")
    sums[c, x, y] = hl.cast(I16, 0)
    sums[c, x, y] += weights[r.x, c, r.y, r.z] * image[r.x, stride * x + r.y, stride * y + r.z]
    output[c, x, y] = hl.max(sums[c, x, y], hl.cast(I16, 0)) if rectified else sums[c, x, y]

    def schedule(*order):
        def apply():
            lanes(sums.compute_root(), c, outputs)
            multiply(sums.update(), (r.x, inputs), (c, outputs), *order)
        return apply

    return Pipeline(output, [image, weights], [outputs, edge, edge],
                    {"input": square(stride * (edge - 1) + window, 0, (0, inputs)),
                     "weights": square(window, 0, (0, inputs), (0, outputs))},
                    {"rows": schedule(x, y, r.y, r.z), "columns": schedule(x, y, r.z, r.y)}, nests=nests)


#: Layers: channels of the output and of the input, pixels of an edge, window, stride.
LAYERS = {
    "resnet_tiny": (1, 1, 14), "resnet_simple": (1, 1, 28, 3, 1, True), "resnet": (3, 8, 28), "resnet88": (8, 8, 28),
    "resnet16": (16, 16, 28), "resnet_tiled_small": (16, 16, 16), "resnet1_small": (16, 3, 28, 7, 2),
    "resnet2_x_small": (16, 16, 28), "resnet3_1_small": (16, 8, 28, 3, 2), "resnet3_x_small": (8, 16, 28),
    "resnet4_1_small": (8, 16, 14, 3, 2), "resnet4_x_small": (16, 16, 14), "resnet5_1_small": (16, 16, 7, 3, 2),
    "resnet5_x_small": (16, 16, 7),
}
LARGE_LAYERS = {
    "resnet_tiled": (16, 16, 56), "resnet1": (64, 3, 112, 7, 2), "resnet2_x": (64, 64, 56), "resnet3_1": (128, 64, 28, 3, 2),
    "resnet3_x": (128, 128, 28), "resnet4_1": (256, 128, 14, 3, 2), "resnet4_x": (256, 256, 14),
    "resnet5_1": (512, 256, 7, 3, 2), "resnet5_x": (512, 512, 7),
}
PROGRAMS |= {name: partial(convolution, *layer) for name, layer in LAYERS.items()}
PROGRAMS |= {name: partial(convolution, *layer, nests=[f"layers/{name}"]) for name, layer in LARGE_LAYERS.items()}
LARGE.update([*LARGE_LAYERS, "resnet1_small", "fsrcnn"])
#: A tile of those.
PROGRAMS |= {"resnet1_tile": partial(convolution, 8, 3, 14, 7, 2, nests=[])}


def largest(channels: int, edge: int, tiles: int, nests: list[str] | None = None) -> Pipeline:
    """The largest of 3 x 3 pixels."""
    image, output = stream_to_accelerator("input", I16, 3), hl.Func("output")
    best = image[c, x, y]
    for i, j in [(i, j) for j in range(3) for i in range(3) if i or j]:
        best = hl.max(best, image[c, x + i, y + j])
    output[c, x, y] = best
    lanes(output, c, channels)

    def tiled():
        tile(output, x, y, xo, yo, xi, yi, edge // tiles, edge // tiles)
        output.reorder(c if channels <= LANES else ci, xi, yi, xo, yo)

    return Pipeline(output, [image], [channels, edge, edge], {"input": square(edge + 2, 0, (0, channels))},
                    {"inline": nothing, "tiled": tiled}, nests=nests)


PROGRAMS |= {"max_pool": partial(largest, 8, 28, 2), "max_pool_layer": partial(largest, 16, 56, 4, ["layers/max_pool"])}


def product(size: int, tiles: int | None, nests: list[str]) -> Pipeline:
    """A product of matrices, or several, as a reduction."""
    others = [] if tiles is None else [t]
    a, b = (stream_to_accelerator(name, I16, 2 + len(others)) for name in "ab")
    sums, output, r = hl.Func("total"), hl.Func("output"), hl.RDom([(0, size)], "r")
    sums[x, y, *others] = hl.cast(I16, 0)
    sums[x, y, *others] += a[r, y, *others] * b[x, r, *others]
    output[x, y, *others] = sums[x, y, *others]
    ro, ri = hl.RVar("ro"), hl.RVar("ri")

    def blocks(width):
        return lambda: (sums.compute_root().update().split(r, ro, ri, LANES).unroll(ri).reorder(ri, x, ro, y, *others)
                        .unroll(x, width))

    box = square(size) + [(0, tiles) for _ in others]
    return Pipeline(output, [a, b], [size, size] + [tiles for _ in others], {"a": box, "b": box},
                    {"eight": blocks(8), "four": blocks(4)}, nests=nests)


PROGRAMS |= {
    "matmul": partial(product, 64, None, ["matmul"]), "matmul_tiled": partial(product, 128, None, ["matmul_tiled"]),
    "gemm_tiled": partial(product, 64, 4, ["gemm_tiled"]),
}


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
def depthwise() -> Pipeline:
    image, weights = stream_to_accelerator("input", I16, 3), stream_to_accelerator("weights", I16, 3)
    sums, output, r = hl.Func("sums"), hl.Func("output"), hl.RDom([(0, 3), (0, 3)], "r")
    sums[c, x, y] = hl.cast(I16, 0)
    sums[c, x, y] += weights[c, r.x, r.y] * image[c, x + r.x, y + r.y]
    output[c, x, y] = sums[c, x, y]

    def rolled():
        lanes(sums.compute_root(), c, 8).update().reorder(c, x, y, r.x, r.y).unroll(c)

    def windows():
        lanes(sums.compute_root(), c, 8).update().reorder(c, r.x, r.y, x, y).unroll(c).unroll(r.x).unroll(r.y)

    return Pipeline(output, [image, weights], [8, 28, 28],
                    {"input": square(30, 0, (0, 8)), "weights": square(3, 0, (0, 8))},
                    {"rolled": rolled, "windows": windows})


@program
def mobilenet() -> Pipeline:
    image = stream_to_accelerator("input", I16, 3)
    depth, point = stream_to_accelerator("depthwise", I16, 3), stream_to_accelerator("pointwise", I16, 2)
    dw, output = hl.Func("dw"), hl.Func("output")
    dw[c, x, y] = total(depth[c, i, j] * image[c, x + i, y + j] for j in range(3) for i in range(3))
    output[k, x, y] = total(point[each, k] * dw[each, x, y] for each in range(4))
    lanes(output, k, 3)
    return Pipeline(output, [image, depth, point], [3, 30, 30],
                    {"input": square(32, 0, (0, 4)), "depthwise": square(3, 0, (0, 4)), "pointwise": [(0, 4), (0, 3)]},
                    {"root": lambda: lanes(dw.compute_root(), c, 4), "rows": lambda: lanes(compute_at(dw, output, y), c, 4)})


def separable(channels: int, edge: int, at_once: bool) -> Pipeline:
    """A depthwise convolution, and a pointwise one whose products go through a buffer."""
    image = stream_to_accelerator("input", I16, 3)
    depth, point = stream_to_accelerator("depthwise", I16, 3), stream_to_accelerator("pointwise", I16, 2)
    dw, pw, sums, output = (hl.Func(name) for name in ("dw", "pw", "sums", "output"))
    r, channel = hl.RDom([(0, 3), (0, 3)], "r"), hl.RDom([(0, channels)], "channel")
    dw[c, x, y] = hl.cast(I16, 0)
    dw[c, x, y] += depth[c, r.x, r.y] * image[c, x + r.x, y + r.y]
    pw[k, c, x, y] = point[c, k] * dw[c, x, y]
    sums[k, x, y] = hl.cast(I16, 0)
    sums[k, x, y] += pw[k, channel, x, y]
    output[k, x, y] = sums[k, x, y]

    def schedule(*order):
        def apply():
            for func, variable in [(dw, c), (pw, k), (sums, k)]:
                func.compute_root().bound(variable, 0, channels)
            pw.reorder(k, x, y, c)
            dw.update().reorder(c, *order)
            sums.update().reorder(k, x, y, channel)
            if at_once:
                for func, variable in [(dw, c), (dw.update(), c), (pw, k), (sums, k), (sums.update(), k)]:
                    func.unroll(variable)
        return apply

    return Pipeline(output, [image, depth, point], [channels, edge, edge],
                    {"input": square(edge + 2, 0, (0, channels)), "depthwise": square(3, 0, (0, channels)),
                     "pointwise": [(0, channels), (0, channels)]},
                    {"rows": schedule(x, y, r.x, r.y), "columns": schedule(x, y, r.y, r.x)})


PROGRAMS |= {"mobilenet_rolled": partial(separable, 8, 28, True), "mobilenet_small": partial(separable, 2, 9, False)}


def residual(edge: int, tiles: int | None) -> Pipeline:
    """Two layers, to which their input is added: of one image, or of several."""
    others = [] if tiles is None else [t]
    image = stream_to_accelerator("input", I16, 3 + len(others))
    weights = [stream_to_accelerator(f"weights{number}", I16, 4) for number in (1, 2)]
    r = hl.RDom([(0, 8), (0, 3), (0, 3)], "r")
    sums, middle, output = [], hl.Func("middle"), hl.Func("output")
    zero = hl.cast(I16, 0)
    for number, (kernel, of) in enumerate(zip(weights, (image, middle)), 1):
        layer = hl.Func(f"sums{number}")
        layer[c, x, y, *others] = zero
        layer[c, x, y, *others] += kernel[r.x, c, r.y, r.z] * of[r.x, x + r.y, y + r.z, *others]
        sums.append(layer)
        if number == 1:
            middle[c, x, y, *others] = hl.max(layer[c, x, y, *others], zero)
    output[c, x, y, *others] = hl.max(sums[1][c, x, y, *others] + image[c, x + 2, y + 2, *others], zero)

    def schedule(tiled, *order):
        def apply():
            for func in (*sums, middle):
                lanes(compute_at(func, output, t) if tiled else func.compute_root(), c, 8)
            for layer in sums:
                multiply(layer.update(), (r.x, 8), (c, 8), *order)
        return apply

    kernel, counts = square(3, 0, (0, 8), (0, 8)), [tiles for _ in others]
    return Pipeline(output, [image, *weights], [8, edge - 4, edge - 4, *counts],
                    {"input": square(edge, 0, (0, 8)) + [(0, count) for count in counts], "weights1": kernel,
                     "weights2": kernel},
                    {"rows": schedule(tiles is not None, x, y, r.y, r.z),
                     "columns": schedule(False, x, y, r.z, r.y)})


PROGRAMS |= {"residual_block": partial(residual, 30, None), "residual_block_tiled": partial(residual, 14, 6)}


@program
def cnn() -> Pipeline:
    """Two layers, each with the largest of 2 x 2 pixels."""
    image = stream_to_accelerator("input", I16, 2)
    weights = stream_to_accelerator("weights1", I16, 3), stream_to_accelerator("weights2", I16, 4)
    window, r = hl.RDom([(0, 3), (0, 3)], "window"), hl.RDom([(0, 8), (0, 3), (0, 3)], "r")
    sums1, pool1, sums2, output = (hl.Func(name) for name in ("sums1", "pool1", "sums2", "output"))
    zero = hl.cast(I16, 0)

    def pooled(of):
        best = zero
        for i, j in [(i, j) for j in (0, 1) for i in (0, 1)]:
            best = hl.max(best, of[c, 2 * x + i, 2 * y + j])
        return best

    sums1[c, x, y] = zero
    sums1[c, x, y] += weights[0][c, window.x, window.y] * image[x + window.x, y + window.y]
    pool1[c, x, y] = pooled(sums1)
    sums2[c, x, y] = zero
    sums2[c, x, y] += weights[1][r.x, c, r.y, r.z] * pool1[r.x, x + r.y, y + r.z]
    output[c, x, y] = pooled(sums2)

    def schedule(columns):
        def apply():
            for func in (sums1, pool1, sums2):
                lanes(func.compute_root(), c, 8)
            sums1.update().reorder(c, x, y, *([window.y, window.x] if columns else [window.x, window.y])).unroll(c)
            multiply(sums2.update(), (r.x, 8), (c, 8), x, y, *([r.z, r.y] if columns else [r.y, r.z]))
        return apply

    return Pipeline(output, [image, *weights], [8, 6, 6],
                    {"input": square(30), "weights1": square(3, 0, (0, 8)), "weights2": square(3, 0, (0, 8), (0, 8))},
                    {"rows": schedule(False), "columns": schedule(True)})


def super_resolution(width: int, height: int, nests: list[str]) -> Pipeline:
    """A pointwise layer to 8 channels, one of 3 x 3 pixels, and a pointwise one back to 64."""
    image, weights = stream_to_accelerator("input", I16, 3), [
        stream_to_accelerator(name, I16, dimensions) for name, dimensions in [("k0", 2), ("k1", 4), ("k2", 2)]]
    channels = [hl.RDom([(0, extent)], name) for name, extent in [("z0", 64), ("z2", 8)]]
    r = hl.RDom([(0, 8), (0, 3), (0, 3)], "r")
    layers = [hl.Func(f"f{number}") for number in (1, 2, 3)]
    output = hl.Func("output")
    for layer in layers:
        layer[c, x, y] = hl.cast(I16, 0)
    layers[0][c, x, y] += weights[0][channels[0], c] * image[channels[0], x, y]
    layers[1][c, x, y] += weights[1][r.x, c, r.y, r.z] * layers[0][r.x, x + r.y, y + r.z]
    layers[2][c, x, y] += weights[2][channels[1], c] * layers[1][channels[1], x, y]
    output[c, x, y] = layers[2][c, x, y]

    def schedule(*order):
        def apply():
            for layer, extent in zip(layers, (8, 8, 64)):
                lanes(layer.compute_root(), c, extent)
            multiply(layers[0].update(), (channels[0].x, 64), (c, 8), x, y)
            multiply(layers[1].update(), (r.x, 8), (c, 8), *order)
            multiply(layers[2].update(), (channels[1].x, 8), (c, 64), x, y)
        return apply

    return Pipeline(output, [image, *weights], [64, width, height],
                    {"input": [(0, 64), (0, width + 2), (0, height + 2)], "k0": [(0, 64), (0, 8)], "k1": square(3, 0, (0, 8), (0, 8)),
                     "k2": [(0, 8), (0, 64)]},
                    {"rows": schedule(x, y, r.y, r.z), "columns": schedule(x, y, r.z, r.y)},
                    nests=nests)


PROGRAMS |= {
    "fsrcnn": partial(super_resolution, 28, 28, ["fsrcnn", "fsrcnn_shared", "fsrcnn_unroll16"]),
    "fsrcnn_tile": partial(super_resolution, 14, 7, []),
}


LONG.update(name for name in LAYERS if name.endswith("_small"))
LONG.update(["resnet16", "resnet1_tile", "matmul_tiled", "gemm_tiled", "residual_block_tiled", "mobilenet_rolled", "fsrcnn_tile"])
