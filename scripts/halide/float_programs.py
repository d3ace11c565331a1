"""Programs of numbers with a fraction. Those of bfloat16 and float16 compute what Halide computes, to the bit; those of single
precision, as applications begin, are narrowed, and the error of each has a bound."""

from __future__ import annotations

import halide as hl
import numpy as np
from pipeline import U8, Bound, Pipeline, nothing, program, roots, sliding, square, total, unrolled, x, y
from pushmem_halide import BF16, F16, stream_to_accelerator, unroll

F32 = hl.Float(32)
I16 = hl.Int(16)


#: Programs of single precision, whose numbers are narrowed, by name.
NARROWED = {}


def narrowed(build):
    """Adds a program of single precision."""
    NARROWED[build.__name__] = program(build)
    return NARROWED[build.__name__]


def number(element: hl.Type, value: float) -> hl.Expr:
    """A constant of this type."""
    return hl.cast(element, hl.f32(value))


def within_byte(value, element: hl.Type) -> hl.Expr:
    """A number as a byte, limited and rounded."""
    return hl.cast(U8, hl.clamp(value + number(element, 0.5), number(element, 0), number(element, 255)))


def weights(element: hl.Type, func, dx: int, dy: int) -> hl.Expr:
    """A quarter, a half and a quarter of neighbours."""
    near = [func[x + place * dx, y + place * dy] for place in range(3)]
    return number(element, 0.25) * (near[0] + near[2]) + number(element, 0.5) * near[1]


def unsharp_of(element: hl.Type, **options) -> Pipeline:
    """Sharpening: what a Gaussian filter takes away is added again, one and a half times."""
    image = stream_to_accelerator("input", U8, 2)
    gray, blur_x, blur, output = (hl.Func(name) for name in ("gray", "blur_x", "blur", "output"))
    gray[x, y] = hl.cast(element, image[x, y])
    blur_x[x, y] = weights(element, gray, 1, 0)
    blur[x, y] = weights(element, blur_x, 0, 1)
    centre = gray[x + 1, y + 1]
    output[x, y] = within_byte(centre + number(element, 1.5) * (centre - blur[x, y]), element)
    stages = [gray, blur_x, blur]
    return Pipeline(output, [image], [62, 62], {"input": square(64)},
                    {"root": roots(*stages), "sliding": sliding(output, blur_x), "unrolled": unrolled(2, output, *stages)}, **options)


@program
def unsharp_bf16() -> Pipeline:
    return unsharp_of(BF16)


@program
def unsharp_f16() -> Pipeline:
    return unsharp_of(F16)


@narrowed
def unsharp_half() -> Pipeline:
    return unsharp_of(F32, twin=unsharp_of(F16), narrow_floats="f16", bound=Bound(most=1, mean=0.05))


@narrowed
def unsharp_float() -> Pipeline:
    # A number of 8 bits before the sum with a half is rounded to 8 significant bits.
    return unsharp_of(F32, twin=unsharp_of(BF16), narrow_floats="bf16", bound=Bound(most=2, mean=0.4))


def sobel_of(element: hl.Type, **options) -> Pipeline:
    """The magnitude of the gradient. Its parts are integers."""
    image = stream_to_accelerator("input", U8, 2)
    along_x, along_y, magnitude, output = (hl.Func(name) for name in ("along_x", "along_y", "magnitude", "output"))

    def at(dx: int, dy: int) -> hl.Expr:
        return hl.cast(I16, image[x + dx, y + dy])

    along_x[x, y] = at(2, 0) - at(0, 0) + 2 * (at(2, 1) - at(0, 1)) + at(2, 2) - at(0, 2)
    along_y[x, y] = at(0, 2) - at(0, 0) + 2 * (at(1, 2) - at(1, 0)) + at(2, 2) - at(2, 0)
    parts = [hl.cast(element, along[x, y]) for along in (along_x, along_y)]
    root = hl.sqrt(parts[0] * parts[0] + parts[1] * parts[1])
    magnitude[x, y] = hl.cast(element, root)
    output[x, y] = within_byte(magnitude[x, y] * number(element, 0.25), element)
    return Pipeline(output, [image], [62, 62], {"input": square(64)},
                    {"root": roots(along_x, along_y, magnitude), "inline": nothing}, **options)


@program
def sobel_bf16() -> Pipeline:
    return sobel_of(BF16)


@narrowed
def sobel_float() -> Pipeline:
    return sobel_of(F32, twin=sobel_of(BF16), narrow_floats="bf16", bound=Bound(most=2, mean=0.5))


def blur_of(element: hl.Type) -> Pipeline:
    """A blur whose image and output are numbers, by a reduction that is wholly unrolled, with constant weights."""
    image, output, sums = stream_to_accelerator("input", element, 2), hl.Func("output"), hl.Func("sums")
    window = hl.RDom([(0, 3), (0, 3)], "window")
    sums[x, y] = number(element, 0)
    sums[x, y] += image[x + window.x, y + window.y] * number(element, 1 / 9)
    output[x, y] = sums[x, y]

    def wholly():
        sums.compute_root()
        unroll(sums, window.x)
        unroll(sums, window.y)

    return Pipeline(output, [image], [30, 30], {"input": square(32)}, {"unrolled": wholly, "rolled": roots(sums)})


@program
def blur_bf16() -> Pipeline:
    return blur_of(BF16)


@program
def blur_f16() -> Pipeline:
    return blur_of(F16)


def extremes_of(element: hl.Type, exponent: int) -> Pipeline:
    """Comparisons, choices, extremes, distances, casts and quotients by powers of two, of numbers with subnormal and infinite
    ones. `exponent` has the bits of the exponent in a word."""
    one, other = (stream_to_accelerator(name, element, 2) for name in ("one", "other"))
    a, b = one[x, y], other[x, y]
    output = hl.Func("output")
    chosen = hl.select(a < b, a - b, (a >= number(element, 2)) & (a != b), hl.max(a, b) / 4, hl.min(a, b) * b)
    whole = hl.cast(I16, hl.clamp(a, number(element, -1000), number(element, 1000)))
    output[x, y] = chosen + hl.absd(a, b) - hl.cast(element, whole)
    words = np.random.default_rng(1).integers(0, 1 << 16, (2, 64, 64), dtype=np.uint16)
    # No infinite words, and so no others that are no numbers but of their sums.
    words = np.where((words & exponent) == exponent, words & ~np.uint16(exponent), words)
    images = dict(zip(("one", "other"), words if element.is_bfloat() else words.view(np.float16), strict=True))
    return Pipeline(output, [one, other], [64, 64], {"one": square(64), "other": square(64)}, {"inline": nothing}, images=images)


@program
def extremes_bf16() -> Pipeline:
    return extremes_of(BF16, 0x7F80)


@program
def extremes_f16() -> Pipeline:
    return extremes_of(F16, 0x7C00)


def normalized_of(element: hl.Type, divide, **options) -> Pipeline:
    """Contrast of a pixel by the mean of its neighbourhood."""
    image, mean, output = stream_to_accelerator("input", U8, 2), hl.Func("mean"), hl.Func("output")
    near = total(hl.cast(element, image[x + i, y + j]) for j in range(3) for i in range(3))
    mean[x, y] = divide(near, number(element, 9)) + number(element, 1)
    output[x, y] = within_byte(divide(hl.cast(element, image[x + 1, y + 1]), mean[x, y]) * number(element, 64), element)
    return Pipeline(output, [image], [62, 62], {"input": square(64)}, {"root": roots(mean), "inline": nothing}, **options)


def by_reciprocal(element: hl.Type):
    """A quotient as hardware computes it: the product with the reciprocal, which is rounded as if exact."""
    return lambda dividend, divisor: dividend * (number(element, 1) / divisor)


@program
def normalized_bf16() -> Pipeline:
    return normalized_of(BF16, by_reciprocal(BF16))


@program
def normalized_f16() -> Pipeline:
    return normalized_of(F16, by_reciprocal(F16))


@narrowed
def normalized_float() -> Pipeline:
    return normalized_of(F32, lambda dividend, divisor: dividend / divisor, twin=normalized_of(BF16, by_reciprocal(BF16)),
                         narrow_floats="bf16", bound=Bound(most=4, mean=0.6))


@narrowed
def tone_curve_float() -> Pipeline:
    """Exposure and gamma: the curve `x / (x + 1)` that keeps highlights, and a power."""
    image, exposed, toned, output = (stream_to_accelerator("input", U8, 2), hl.Func("exposed"), hl.Func("toned"), hl.Func("output"))
    exposed[x, y] = hl.cast(F32, image[x, y]) * hl.f32(2.5 / 255)
    toned[x, y] = exposed[x, y] / (exposed[x, y] + 1.0)
    output[x, y] = within_byte(hl.pow(toned[x, y], hl.f32(1 / 2.2)) * 300.0, F32)
    return Pipeline(output, [image], [64, 64], {"input": square(64)}, {"root": roots(exposed, toned), "inline": nothing},
                    narrow_floats="bf16", bound=Bound(most=4, mean=0.8))


@narrowed
def filmic_float() -> Pipeline:
    """A curve of an image of single precision by an exponential and a logarithm, with a result of single precision."""
    image, output = stream_to_accelerator("input", F32, 2), hl.Func("output")
    value = image[x, y]
    output[x, y] = hl.log(1.0 + 4.0 * (1.0 - hl.exp(0.0 - 2.0 * value)))
    images = {"input": np.random.default_rng(2).random((32, 32), dtype=np.float32)}
    return Pipeline(output, [image], [32, 32], {"input": square(32)}, {"inline": nothing}, images=images,
                    narrow_floats="bf16", bound=Bound(most=0.02, mean=0.006))


@narrowed
def gamma_table_float() -> Pipeline:
    """A gamma curve in single precision that bytes look up: its entries are computed before there is hardware, so that none differs."""
    image, curve, output, value = stream_to_accelerator("input", U8, 2), hl.Func("curve"), hl.Func("output"), hl.Var("value")
    curve[value] = within_byte(hl.pow(hl.f32(value) / 255.0, hl.f32(1 / 2.2)) * 255.0, F32)
    curve.compute_root()
    output[x, y] = curve[image[x, y]]
    return Pipeline(output, [image], [64, 64], {"input": square(64)}, {"root": nothing}, narrow_floats="bf16", bound=Bound(most=0, mean=0))


@narrowed
def angle_table_float() -> Pipeline:
    """The angle of a gradient, by a table of functions that only tables have."""
    image, curve, output, value = stream_to_accelerator("input", U8, 2), hl.Func("curve"), hl.Func("output"), hl.Var("value")
    share = hl.f32(value) / 255.0
    curve[value] = within_byte(hl.atan2(share, 1.0 - share) * 60.0 + hl.asin(share) * 40.0 + hl.sinh(share) * 20.0, F32)
    curve.compute_root()
    output[x, y] = curve[hl.absd(image[x, y], image[x + 1, y])]
    return Pipeline(output, [image], [63, 64], {"input": square(64)}, {"root": nothing}, narrow_floats="bf16", bound=Bound(most=0, mean=0))


@narrowed
def gaussian_float() -> Pipeline:
    """A Gaussian filter of five rows and columns, whose weights are exponentials of the distance: constants of the hardware."""
    image, kernel, output, place = stream_to_accelerator("input", U8, 2), hl.Func("kernel"), hl.Func("output"), hl.Var("place")
    window = hl.RDom([(-2, 5)], "window")
    kernel[place] = hl.exp(hl.f32(place * place) / hl.f32(-8)) / hl.f32(3.8)
    columns, rows = hl.Func("columns"), hl.Func("rows")
    columns[x, y] = hl.f32(0)
    columns[x, y] += kernel[window.x] * hl.f32(image[x + window.x, y])
    rows[x, y] = hl.f32(0)
    rows[x, y] += kernel[window.x] * columns[x, y + window.x]
    output[x, y] = within_byte(rows[x, y], F32)

    def unrolled_sums():
        kernel.compute_root()
        for func in (columns, rows):
            func.compute_root()
            unroll(func, window.x)

    return Pipeline(output, [image], [60, 60], {"input": square(64, -2)}, {"unrolled": unrolled_sums},
                    narrow_floats="bf16", bound=Bound(most=3, mean=0.6))


@program
def words_bf16() -> Pipeline:
    """Hyperbolic tangents and remainders of all numbers."""
    image, output = stream_to_accelerator("input", BF16, 2), hl.Func("output")
    here = image[x, y]
    tangent = hl.cast(BF16, hl.tanh(hl.f32(here)))
    output[x, y] = hl.select(y % 2 == 0, tangent, hl.select(x % 2 == 0, here % number(BF16, 1), here % number(BF16, 16)))
    words = np.repeat(np.arange(1 << 16, dtype=np.uint16).reshape(1, -1), 2, axis=0)
    return Pipeline(output, [image], [1 << 16, 2], {"input": [(0, 1 << 16), (0, 2)]}, {"inline": nothing}, images={"input": words})


@program
def words_f16() -> Pipeline:
    """Hyperbolic tangents, square roots and remainders of all numbers. Halide has functions of float16, too, whose results are
    infinite where there is no number: they are of finite numbers."""
    image, output = stream_to_accelerator("input", F16, 2), hl.Func("output")
    here = image[x, y]
    tangent, root = (hl.cast(F16, function(hl.f32(here))) for function in (hl.tanh, hl.sqrt))
    rest = hl.select(x % 4 == 0, here % number(F16, 1), x % 4 == 1, here % number(F16, 0.25), here % number(F16, 256))
    output[x, y] = hl.select(y == 0, tangent, y == 1, root, y == 2, rest, hl.sqrt(hl.abs(here)) - hl.tanh(here))
    words = np.repeat(np.arange(1 << 16, dtype=np.uint16).reshape(1, -1), 4, axis=0)
    words[3] = np.where((words[3] & 0x7C00) == 0x7C00, words[3] & 0x83FF, words[3])
    return Pipeline(output, [image], [1 << 16, 4], {"input": [(0, 1 << 16), (0, 4)]}, {"inline": nothing},
                    images={"input": words.view(np.float16)})


@narrowed
def waves_float() -> Pipeline:
    """A wave whose angle is computed from data, turned by another one."""
    image, output = stream_to_accelerator("input", U8, 2), hl.Func("output")
    angle = hl.cast(F32, image[x, y]) * hl.f32(1 / 16)
    output[x, y] = within_byte(hl.sin(angle) * 60.0 + hl.cos(angle * 4.0) * 60.0 + 127.0, F32)
    return Pipeline(output, [image], [64, 64], {"input": square(64)}, {"inline": nothing},
                    narrow_floats="bf16", bound=Bound(most=2, mean=0.5))
