"""Mistakes in the calls of the accelerator's scope, the messages of the module, and words in the place of numbers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import halide as hl
import numpy as np
from pushmem_halide import compute_at, hw_accelerate, image_of_number, load, save, stream_to_accelerator, to_numbers, unroll

x, y = hl.Var("x"), hl.Var("y")


def accelerate(value, extents=(8, 8), inputs=None, element=None, tail: Callable[[hl.Func], None] | None = None, **options):
    """Accelerates a Func of an input, of which `value` is computed. Inputs may be a function of it."""
    image, func = stream_to_accelerator("input", element or hl.UInt(8), 2), hl.Func("func")
    func[x, y] = value(image)
    if tail:
        tail(func)
    inputs = [image] if inputs is None else inputs(image) if callable(inputs) else inputs
    return hw_accelerate(func, extents, inputs, **options)


def copied(**options):
    """Accelerates a copy of an input."""
    return accelerate(lambda image: image[x, y], **options)


def pixels(*shape: int, element=np.uint8) -> np.ndarray:
    return np.zeros(shape, element)


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
    (lambda: hw_accelerate(hl.Pipeline([]), [8, 8]), TypeError, "computes one Func, not of the type Pipeline"),
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
    (lambda: copied(schedule="dnm"), ValueError, "the schedule is `dnn` or `stencil`, not `dnm`: did you mean `dnn`?"),
    (lambda: copied(narrow_floats="fp16"), ValueError, "numbers are narrowed to `bf16` or `f16`, not `fp16`: did you mean `f16`?"),
    (lambda: copied(boxes={"inptu": [(0, 8), (0, 8)]}), ValueError, "`inptu`, which is no image among the inputs: did you mean `input`?"),
    (lambda: copied(boxes=[(0, 8), (0, 8)]), TypeError, "`boxes` has a box for each name"),
    (lambda: copied(boxes={"input": [(0, 8)]}), ValueError, "for each of its 2 dimensions, such as [(0, 64), (0, 64)], not [(0, 8)]"),
    (lambda: copied(boxes={"input": [8, 8]}), TypeError, "such as [(0, 64), (0, 64)], not [8, 8]"),
    (lambda: copied(boxes={"input": [(0, 8), (0, 0)]}), ValueError, "the box of `input` has a least index and an extent"),
    (lambda: copied(extents=[8, 0]), ValueError, "has at least one element along `y`, not 0"),
    (lambda: copied(extents=8), TypeError, "a list of one extent for each dimension, `x`, `y`, not 8"),
    (lambda: copied(extents=[8, 8.5]), TypeError, "for each dimension, `x`, `y`, all integers, not [8, 8.5]"),
    (lambda: copied(inputs=lambda image: image), TypeError, "`inputs` is a list, such as `[input]`, not of the type ImageParam"),
    (lambda: copied(inputs=lambda image: [image[x, y]]), TypeError, "an input is what `stream_to_accelerator` gives, or an `hl.Param`"),
    (lambda: copied(inputs=lambda image: [image, image]), ValueError, "two inputs have the name `input`"),
    (lambda: stream_to_accelerator("input"), TypeError, "as in stream_to_accelerator(\"input\", hl.UInt(16), 2), not None and None"),
    (lambda: stream_to_accelerator(np.zeros(3)), TypeError, "an input has a name, or is a Func of the CPU, not of the type ndarray"),
    (lambda: copied().write("no_such_folder/func.hlpipe"), FileNotFoundError, "there is no folder `no_such_folder` for `func.hlpipe`"),
    (lambda: copied().run({"inptu": pixels(8, 8)}), ValueError, "`inptu` is no input of the accelerator: did you mean `input`?"),
    (lambda: copied().run({}), ValueError, "there is no image for the input `input`"),
    (lambda: copied().realize({}), ValueError, "there is no image for the input `input`"),
    (lambda: copied().run(pixels(8, 8)), TypeError, "images are given by name, such as {\"input\": image}, not as a ndarray"),
    (lambda: copied(extents=[8, 4]).realize({"input": pixels(8, 4)}), ValueError, "has the shape (8, 4), not (4, 8)"),
    (lambda: copied().run({"input": pixels(8, 8, element=np.float32)}), ValueError, "elements of float32, not of uint8: convert it by"),
    (lambda: copied().run({"input": pixels(8, 8, element=np.int64) + 256}), ValueError, "256, and those of uint8 are from 0 to 255"),
    (lambda: copied().run({"input": pixels(8, 8)}, "no_such_program"), FileNotFoundError, "there is no program `no_such_program`"),
    (lambda: copied().build("out", options="--rtl"), TypeError, "options are a list of words"),
]


def failures_of_builds(pushmem: str) -> list[str]:
    """The faults of a build, and of the refusal of one."""
    with tempfile.TemporaryDirectory() as temporary:
        accelerator, folder = accelerate(lambda image: image[x, y] + image[x + 1, y], extents=[63, 64]), Path(temporary) / "built"
        build = accelerator.build(folder, pushmem)
        found = {
            "cycles": build.cycles >= 64 * 64 and build.cycles == json.loads((folder / "report.json").read_text())["cycles"],
            "the page": build.page.is_file() and str(build.page) in build._repr_html_() and str(build.page) in str(build),
            "the RTL": (build.folder / "rtl" / "func.sv").is_file(),
            "figures": f"{build.cycles:,}" in build._repr_html_() and build.figures()["processing elements"] == "1",
            "the accelerator": "uint8 of 64 × 64" in accelerator._repr_html_() and "63 × 64" in accelerator._repr_html_(),
        }
        wrong = [f"package_refusals.py: {what} of a build" for what, is_right in found.items() if not is_right]
        try:
            accelerator.build(folder, pushmem, ["--tile", "ambre"])
            wrong.append("package_refusals.py: a build for an unknown tile is not refused")
        except RuntimeError as refusal:
            if "did you mean `amber`?" not in str(refusal):
                wrong.append(f"package_refusals.py: {refusal!r} instead of the message of pushmem")
    return wrong


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


def failures(pushmem: str) -> list[str]:
    """Which of these are not refused, or otherwise, which words are taken as other numbers, and what is wrong with builds."""
    found = [fault for case in WORDS for fault in of_words(*case)] + failures_of_builds(pushmem)
    for number, (call, error, text) in enumerate(REFUSALS):
        try:
            call()
            found.append(f"package_refusals.py, {number}: not refused, but `{text}` is expected")
        except Exception as refusal:
            if not isinstance(refusal, error) or text not in str(refusal):
                found.append(f"package_refusals.py, {number}: {refusal!r} instead of `{text}`")
    return found
