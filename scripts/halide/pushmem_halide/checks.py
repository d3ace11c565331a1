"""Refusals before a compile: each message says what was expected."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral

import halide as hl
import numpy as np

from .bounds import Box
from .words import Input, file_name, is_half, limits

#: How pushmem schedules an accelerator, if it is not left to it.
SCHEDULES = ("dnn", "stencil")

#: The types that numbers are narrowed to.
NARROW_FLOATS = ("bf16", "f16")


def suggestion(name: object, names: Iterable[str]) -> str:
    """The nearest of some names to one that is not among them, or all names."""
    names = list(names)
    if not names:
        return "there are none"
    near = difflib.get_close_matches(str(name), names, 1)
    return f"did you mean `{near[0]}`?" if near else f"there are {', '.join(f'`{each}`' for each in names)}"


def check_word(what: str, word: str | None, words: Sequence[str]) -> None:
    """Refuses a word that is none of these."""
    if word is not None and word not in words:
        raise ValueError(f"{what} {' or '.join(f'`{each}`' for each in words)}, not `{word}`: {suggestion(word, words)}")


def check_output(func: hl.Func, narrow_floats: str | None = None) -> None:
    """Refuses what is no Func of one value that memories hold."""
    if not isinstance(func, hl.Func):
        raise TypeError(f"an accelerator computes one Func, not of the type {type(func).__name__}: build one for each output")
    if not func.defined():
        raise ValueError(f"`{func.name()}` is not defined")
    if func.outputs() != 1:
        raise TypeError(f"`{func.name()}` has {func.outputs()} values for each element, and an accelerator one output: "
                        "make each value a Func of its own")
    check_type(func.name(), func.type(), narrow_floats)


def check_extents(output: hl.Func, extents: Iterable[int]) -> list[int]:
    """The extents as integers, if they are one of at least 1 for each dimension."""
    variables = [variable.name() for variable in output.args()]
    expected = f"`{output.name()}` needs a list of one extent for each dimension, {', '.join(f'`{each}`' for each in variables)}"
    if isinstance(extents, (str, Mapping)) or not isinstance(extents, Iterable):
        raise TypeError(f"{expected}, not {extents!r}")
    found = list(extents)
    if not all(isinstance(extent, Integral) for extent in found):
        raise TypeError(f"{expected}, all integers, not {found}")
    found = [operator.index(extent) for extent in found]
    if len(found) != len(variables):
        raise ValueError(f"`{output.name()}` has {len(variables)} dimensions, but extents are {found}")
    for variable, extent in zip(variables, found, strict=True):
        if extent < 1:
            raise ValueError(f"`{output.name()}` has at least one element along `{variable}`, not {extent}")
    return found


def check_inputs(output: hl.Func, inputs: Sequence[Input], narrow_floats: str | None) -> list[Input]:
    """The inputs as a list, if they are all that a Func reads, and each can be streamed to it."""
    # An image has elements that Python would take for those of a list.
    if isinstance(inputs, (str, *INPUTS)) or not isinstance(inputs, Iterable):
        written = f"`[{inputs.name()}]`" if isinstance(inputs, INPUTS) else "`[image]`"
        raise TypeError(f"`inputs` is a list, such as {written}, not of the type {type(inputs).__name__}")
    inputs = list(inputs)
    for parameter in inputs:
        if not isinstance(parameter, INPUTS):
            raise TypeError(f"an input is what `stream_to_accelerator` gives, or an `hl.Param`, not of the type {type(parameter).__name__}")
    given = [file_name(parameter) for parameter in inputs]
    for name in given:
        if given.count(name) > 1:
            raise ValueError(f"two inputs have the name `{name}`: give each a name of its own")
    given = {parameter.name() for parameter in inputs}
    for argument in output.infer_arguments():
        if argument.name not in given:
            raise ValueError(f"`{output.name()}` reads `{argument.name}`, which is not in the list of inputs")
    for parameter in inputs:
        check_type(parameter.name(), parameter.type(), narrow_floats)
        if isinstance(parameter, hl.Param) and (parameter.type().is_bfloat() or is_half(parameter.type())):
            raise TypeError(f"`{parameter.name()}` is a parameter of {parameter.type()}, which Halide cannot set from Python: make it an "
                            "image of one dimension and one element")
    return inputs


#: The classes of inputs.
INPUTS = (hl.ImageParam, hl.Param)


def check_boxes(boxes: Mapping[str, Box] | None, inputs: Sequence[Input]) -> dict[str, list[tuple[int, int]]]:
    """The boxes that are given by hand, by the names of images, if each has a least index and an extent for each dimension of one."""
    if not isinstance(boxes or {}, Mapping):
        raise TypeError(f"`boxes` has a box for each name, such as {{\"input\": [(0, 64), (0, 64)]}}, and is no {type(boxes).__name__}")
    images = {each: parameter for parameter in inputs if isinstance(parameter, hl.ImageParam)
              for each in (file_name(parameter), parameter.name())}
    found = {}
    for name, box in (boxes or {}).items():
        if name not in images:
            raise ValueError(f"`boxes` has a box for `{name}`, which is no image among the inputs: {suggestion(name, images)}")
        dimensions = images[name].dimensions()
        expected = f"the box of `{name}` has a least index and an extent for each of its {dimensions} dimensions, such as "
        expected += f"{[(0, 64)] * dimensions}, not {box!r}"
        try:
            own = [(operator.index(least), operator.index(extent)) for least, extent in box]
        except (TypeError, ValueError):
            raise TypeError(expected) from None
        if len(own) != dimensions or any(extent < 1 for _, extent in own):
            raise ValueError(expected)
        found[images[name].name()] = own
    return found


def check_images(images: Mapping[str, np.ndarray | float], inputs: Sequence[tuple[Input, Box]], read: set[str]) -> dict[str, np.ndarray]:
    """The images as arrays, and numbers as they are, by name, if there is one for each input that is `read`, by its own name, with its
    shape, and with elements of its type."""
    names = [file_name(parameter) for parameter, _ in inputs]
    if not isinstance(images, Mapping):
        example = names[0] if names else "input"
        raise TypeError(f"images are given by name, such as {{\"{example}\": image}}, not as a {type(images).__name__}")
    for name in images:
        if name not in names:
            raise ValueError(f"`{name}` is no input of the accelerator: {suggestion(name, names)}")
    found = {}
    for parameter, box in inputs:
        name = file_name(parameter)
        if name in images:
            found[name] = images[name] if isinstance(parameter, hl.Param) else check_image(parameter, box, images[name])
        elif parameter.name() in read:
            raise ValueError(f"there is no image for the input `{name}`: give one for each of {', '.join(f'`{each}`' for each in names)}")
    return found


def check_image(parameter: hl.ImageParam, box: Box, image: np.ndarray) -> np.ndarray:
    """An image as an array, if it has the shape of its box. Integers become those of the type of its parameter, if it has all of them."""
    image, name, element = np.asarray(image), file_name(parameter), parameter.type()
    shape = tuple(extent for _, extent in reversed(box))
    if image.shape != shape:
        raise ValueError(f"the array for `{name}` has the shape {image.shape}, not {shape}: NumPy has the innermost dimension last")
    if element.is_float():
        return image
    own = np.dtype(f"{'int' if element.is_int() else 'uint'}{max(element.bits(), 8)}")
    if image.dtype.kind not in "biu":
        raise ValueError(f"the array for `{name}` has elements of {image.dtype}, not of {own}: convert it by `.astype(np.{own})`")
    least, greatest = limits(element)
    if wrong := [value for value in (image.min(), image.max()) if not least <= value <= greatest]:
        raise ValueError(f"the array for `{name}` has an element {wrong[0]}, and those of {element} are from {least} to {greatest}")
    return image.astype(own, copy=False)


def check_options(options: Sequence[str]) -> list[str]:
    """The options of a command as a list of words."""
    if isinstance(options, str) or not isinstance(options, Iterable):
        raise TypeError(f"options are a list of words, such as [\"--tile\", \"amber\"], not {options!r}")
    return [str(option) for option in options]


def check_type(name: str, element: hl.Type, narrow_floats: str | None = None) -> None:
    """Refuses a type that no memory holds."""
    if not (element.is_int() or element.is_uint()):
        if narrow_floats is None and not element.is_bfloat() and not is_half(element):
            raise TypeError(f"`{name}` is of type {element}: hardware has bfloat16 and float16. Use `hl.BFloat(16)` or `hl.Float(16)`, "
                            "or let numbers be rounded by `hw_accelerate(…, narrow_floats=\"bf16\")`, or `\"f16\"`")
    elif element.bits() not in (1, 8, 16, 32):
        raise TypeError(f"`{name}` is of type {element}: memories hold 8, 16 or 32 bits")
