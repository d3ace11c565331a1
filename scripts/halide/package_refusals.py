"""Mistakes in the calls of the accelerator's scope, the messages of the module, and words in the place of numbers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import halide as hl
import numpy as np
from pushmem_halide import compute_at, hw_accelerate, image_of_number, load, save, stream_to_accelerator, to_numbers, unroll

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


#: Words for an image of a type, what it is narrowed to, and the numbers that the words are.
WORDS: list[tuple[hl.Type, str | None, list[int], list[float]]] = [
    (hl.Float(16), None, [0x3C00, 0x7BFF, 0x0001], [1, 65504, 2.0**-24]),
    (hl.Float(16), "bf16", [0x3C00, 0xC000], [1, -2]),
    (hl.Float(32), "f16", [0x3C00, 0xC000], [1, -2]),
    (hl.Float(32), "bf16", [0x3F80, 0xC000], [1, -2]),
    (hl.BFloat(16), "f16", [0x3F80, 0xC000], [1, -2]),
    (hl.BFloat(16), None, [0x3F80, 0xC000], [1, -2]),
]


def of_words(element: hl.Type, narrow_floats: str | None, words: list[int], numbers: list[float]) -> list[str]:
    """How words are taken as other numbers than these, by Halide and in files for pushmem."""
    image, func = stream_to_accelerator("input", element, 1), hl.Func("func")
    func[x] = image[x]
    given = np.array(words, dtype=np.uint16)
    accelerator = hw_accelerate(func, [len(words)], [image], narrow_floats=narrow_floats)
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder) / "image.npy", given, element, narrow_floats)
        results = {"Halide": accelerator.realize({"input": given}), "the file": load(Path(folder) / "image.npy")}
    found = {of: to_numbers(result) if result.dtype == np.uint16 else result for of, result in results.items()}
    return [f"words of {element}, narrowed to {narrow_floats}, are {result} for {of}, not {numbers}"
            for of, result in found.items() if not np.array_equal(result, numbers)]


def failures() -> list[str]:
    """Which of these are not refused, or otherwise, and which words are taken as other numbers."""
    found = [fault for case in WORDS for fault in of_words(*case)]
    for number, (call, error, text) in enumerate(REFUSALS):
        try:
            call()
            found.append(f"package_refusals.py, {number}: not refused, but `{text}` is expected")
        except Exception as refusal:
            if not isinstance(refusal, error) or text not in str(refusal):
                found.append(f"package_refusals.py, {number}: {refusal!r} instead of `{text}`")
    return found
