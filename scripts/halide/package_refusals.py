"""Mistakes in the calls of the accelerator's scope, and the messages of the module."""

from __future__ import annotations

from collections.abc import Callable

import halide as hl
from pushmem_halide import compute_at, hw_accelerate, image_of_number, stream_to_accelerator, unroll

x, y = hl.Var("x"), hl.Var("y")


def accelerate(value, extents=(8, 8), inputs=None, element=None, tail: Callable[[hl.Func], None] | None = None):
    """Accelerates a Func of an input, of which `value` is computed."""
    image, func = stream_to_accelerator("input", element or hl.UInt(8), 2), hl.Func("func")
    func[x, y] = value(image)
    if tail:
        tail(func)
    return hw_accelerate(func, extents, [image] if inputs is None else inputs)


def brightened(gain: hl.Param) -> hl.Func:
    """A Func of a parameter alone."""
    func = hl.Func("func")
    func[x] = gain
    return func


def moved(number: hl.Param) -> object:
    """Accelerates a Func that reads an image at any distance."""
    image, func = stream_to_accelerator("input", hl.UInt(8), 2), hl.Func("func")
    func[x, y] = image[x + number, y]
    return hw_accelerate(func, [8, 8], [image, number])


def misplaced(func: hl.Func) -> None:
    """Computes a Func in a loop of one that does not read it."""
    other = hl.Func("other")
    other[x, y] = hl.cast(hl.UInt(8), 1)
    compute_at(func, other, x)


def inner(image):
    before = hl.Func("before")
    before[x, y] = image[x, y] + 1
    misplaced(before)
    return before[x, y]


#: The call, the class of the error, and a part of its text.
REFUSALS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: accelerate(lambda image: image[x, y] * hl.Param(hl.UInt(8), "gain")), ValueError,
     "reads `gain`, which is not in the list"),
    (lambda: hw_accelerate(brightened(hl.Param(hl.BFloat(16), "gain")), [8], [hl.Param(hl.BFloat(16), "gain")]), TypeError,
     "`gain` is a parameter of bfloat16"),
    (lambda: hw_accelerate(brightened(hl.Param(hl.Float(16), "gain")), [8], [hl.Param(hl.Float(16), "gain")]), TypeError,
     "`gain` is a parameter of float16"),
    (lambda: moved(hl.Param(hl.Int(32), "distance")), ValueError, "`input` would have 536870920 elements along a dimension"),
    (lambda: image_of_number(hl.Param(hl.UInt(8), "gain"), 256), ValueError, "is an integer from 0 to 255, not 256"),
    (lambda: image_of_number(hl.Param(hl.Int(8), "gain"), 1.5), ValueError, "is an integer from -128 to 127, not 1.5"),
    (lambda: image_of_number(hl.Param(hl.Int(8), "gain"), [1, 2]), ValueError, "is one number, not 2"),
    (lambda: hw_accelerate(hl.Func("nothing"), [8, 8]), ValueError, "is not defined"),
    (lambda: accelerate(lambda image: (image[x, y], image[x, y] + 1)), TypeError, "2 values for each element"),
    (lambda: hw_accelerate(hl.Pipeline([]), [8, 8]), TypeError, "computes one Func, not a Pipeline"),
    (lambda: accelerate(lambda image: image[x, y], extents=[8]), ValueError, "has 2 dimensions, but extents are [8]"),
    (lambda: accelerate(lambda image: image[x, y], inputs=[]), ValueError, "reads `input`, which is not in the list"),
    (lambda: accelerate(lambda image: hl.cast(hl.UInt(8), image[x, y]), element=hl.Float(32)), TypeError,
     "`input` is of type float32: hardware has bfloat16 and float16"),
    (lambda: accelerate(lambda image: hl.cast(hl.Int(64), image[x, y])), TypeError, "memories hold 8, 16 or 32 bits"),
    (lambda: accelerate(lambda image: image[x, y]).write("func.stmt"), ValueError, "is written to a file `.hlpipe`"),
    (lambda: accelerate(inner), hl.HalideError, "is computed at the following invalid location"),
    (lambda: accelerate(lambda image: image[x, y], tail=lambda func: func.gpu_tile(
        x, y, hl.Var(), hl.Var(), hl.Var(), hl.Var(), 4, 4)), hl.HalideError, "no compatible target feature"),
    (lambda: accelerate(lambda image: image[x, y], tail=lambda func: unroll(func, hl.RDom([(0, 2)], "r").x)), ValueError,
     "no update of"),
]


def failures() -> list[str]:
    """Which of these are not refused, or otherwise."""
    found = []
    for number, (call, error, text) in enumerate(REFUSALS):
        try:
            call()
            found.append(f"package_refusals.py, {number}: not refused, but `{text}` is expected")
        except Exception as refusal:
            if not isinstance(refusal, error) or text not in str(refusal):
                found.append(f"package_refusals.py, {number}: {refusal!r} instead of `{text}`")
    return found
