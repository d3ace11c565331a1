"""The boxes of images that a Func reads."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import halide as hl
import numpy as np

from .words import limits, set_number

#: The least index and the extent of every dimension, innermost first.
Box = Sequence[tuple[int, int]]

#: No image has so many elements along a dimension. Halide computes bounds in 32 bits.
FARTHEST = 1 << 28


def inferred_boxes(output: hl.Func, extents: list[int], images: Sequence[hl.ImageParam],
                   numbers: Sequence[hl.Param]) -> dict[str, Box]:
    """The boxes of images that a Func reads with the least and the greatest numbers."""
    before = [number_of(number) for number in numbers]
    found: dict[str, list[Box]] = {image.name(): [] for image in images}
    for values in itertools.product(*(ends(number.type()) for number in numbers)):
        for number, value in zip(numbers, values, strict=True):
            set_number(number, value)
        for image in images:
            image.reset()
        try:
            output.infer_input_bounds(extents)
        except ValueError:
            # It does not say what Halide finds wrong, such as a schedule. The compiler does.
            output.compile_jit()
            raise
        for image in images:
            buffer = image.get()
            found[image.name()].append([(buffer.dim(each).min(), buffer.dim(each).extent()) for each in range(buffer.dimensions())])
            image.reset()
    for number, value in zip(numbers, before, strict=True):
        set_number(number, 0 if value is None else value)
    return {name: [hull(along) for along in zip(*boxes, strict=True)] for name, boxes in found.items()}


def check_box(name: str, box: Box) -> Box:
    """Refuses a box that was inferred, if an index may be any number of a large type."""
    if extents := [extent for _, extent in box if extent >= FARTHEST]:
        raise ValueError(f"`{name}` would have {extents[0]} elements along a dimension, and the most are {FARTHEST - 1}: an index "
                         f"follows a number that may be any of its type. Say which elements it has by `boxes={{\"{name}\": …}}`")
    return box


def hull(ranges: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The range that has all of these ranges, each a least index and an extent."""
    ranges = list(ranges)
    least = min(first for first, _ in ranges)
    return least, max(first + extent for first, extent in ranges) - least


def ends(element: hl.Type) -> set[float]:
    """The numbers of a type with which the bounds of images are found."""
    if element.is_float():
        return {0.0}
    least, greatest = limits(element)
    return {max(least, -FARTHEST), min(greatest, FARTHEST)}


def number_of(parameter: hl.Param) -> float | None:
    """The number that a parameter has, if it has one."""
    try:
        parameter.parameter().scalar_expr()
    except hl.HalideError:
        return None
    func, x = hl.Func(), hl.Var()
    func[x] = parameter
    return np.array(func.realize([1])).item()
