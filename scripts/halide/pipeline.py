"""The parts of programs: variables, the list of programs, and stencils."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import halide as hl
import numpy as np
from pushmem_halide import Accelerator, Input, compute_at, file_name, hw_accelerate, to_numbers, to_words, unroll

x, y, c, k, t = (hl.Var(name) for name in ("x", "y", "c", "k", "t"))
xo, yo, xi, yi, co, ci = (hl.Var(name) for name in ("xo", "yo", "xi", "yi", "co", "ci"))
U8, I16, U16, I32 = hl.UInt(8), hl.Int(16), hl.UInt(16), hl.Int(32)


@dataclass(frozen=True)
class Bound:
    """How far an accelerator with narrowed numbers may be from Halide, in units of the output."""

    #: Of any element.
    most: float
    #: In the mean.
    mean: float


@dataclass
class Pipeline:
    """A pipeline, and what can be done with it."""

    output: hl.Func
    inputs: list[Input]
    #: The extents of the output, innermost first.
    extents: list[int]
    #: For each input, the least index and the extent of every dimension.
    boxes: dict[str, list[tuple[int, int]]]
    #: Schedules by name. Each works on the pipeline it belongs to.
    schedules: dict[str, Callable[[], None]]
    #: The nests of `apps` that must give the same pixels, if it is not the one with the name of the program.
    nests: list[str] | None = None
    #: How pushmem schedules the accelerator, if it is not left to it.
    schedule: str | None = None
    #: Images by name, rows from the top, in the place of random ones.
    images: dict[str, np.ndarray] = field(default_factory=dict)
    #: The type that numbers with a fraction are narrowed to, and the error that results at most.
    narrow_floats: str | None = None
    bound: Bound | None = None
    #: The same with numbers of bfloat16 and with the operations of hardware, which Halide computes to the bit.
    twin: Pipeline | None = None

    def accelerator(self) -> Accelerator:
        """The accelerator of the pipeline, with the schedule that it has."""
        return hw_accelerate(self.output, self.extents, self.inputs, self.boxes, self.schedule, self.narrow_floats)

    def images_of(self, accelerator: Accelerator, seed: int = 0) -> dict[str, np.ndarray]:
        """An image for each input, by name: random ones in the place of those that it does not have."""
        random, images = np.random.default_rng(seed), {}
        for parameter, box in accelerator.inputs:
            image = self.images.get(file_name(parameter))
            if image is None:
                image = random_image(random, parameter.type(), [extent for _, extent in reversed(box)])
            images[file_name(parameter)] = image
        return images


def random_image(random: np.random.Generator, element: hl.Type, shape: list[int]) -> np.ndarray:
    """An image of any values of a type; of numbers with a fraction, ones of bfloat16, of magnitudes with which sums do not lose all
    bits."""
    if element.is_float():
        return to_numbers(to_words(random.normal(size=shape) * 2.0 ** random.integers(-8, 8, shape)))
    name = "uint8" if element.is_bool() else f"{'u' if element.is_uint() else ''}int{element.bits()}"
    limits = np.iinfo(name)
    image = random.integers(limits.min, limits.max, shape, dtype=name, endpoint=True)
    return image % 2 if element.is_bool() else image


def constants(entries: np.ndarray, name: str = "") -> hl.Buffer:
    """A buffer of constants that Halide owns. One over an array of NumPy is there as long as its object in Python."""
    borrowed = hl.Buffer(entries)
    owned = hl.Buffer(borrowed.type(), list(reversed(entries.shape)), *([name] if name else []))
    owned.copy_from(borrowed)
    return owned


#: How programs are built, by name: each time anew, as a schedule changes the pipeline it is applied to.
PROGRAMS: dict[str, Callable[[], Pipeline]] = {}

#: Programs that are imported, but are more than one accelerator holds: on the CPU, loops around one call it for each tile.
LARGE: set[str] = set()

#: Programs that are run with all others only: the compiler takes a second or more for their accelerators.
LONG: set[str] = set()


def program(build: Callable[[], Pipeline]) -> Callable[[], Pipeline]:
    """Adds a program to the list, by the name of the function."""
    PROGRAMS[build.__name__] = build
    return build


def square(extent: int, least: int = 0, *others: tuple[int, int]) -> list[tuple[int, int]]:
    """The box of an image, with other dimensions within."""
    return [*others, (least, extent), (least, extent)]


def total(terms):
    """The sum of a list."""
    first, *others = terms
    for term in others:
        first = first + term
    return first


def weighted(func, weights, element, at=lambda i: i):
    """The sum of a window, each element times its weight. `at` gives the offset of a column or a row."""
    return total(func[x + at(i), y + at(j)] * hl.cast(element, weight)
                 for j, row in enumerate(weights) for i, weight in enumerate(row))


def centred(i: int) -> int:
    """The offset of a column or a row of a window of 3 x 3 around its centre."""
    return i - 1


def roots(*funcs):
    """The schedule that computes these wholly."""
    return lambda: [func.compute_root() for func in funcs]


def sliding(output, *funcs):
    """The schedule that computes rows of these as the output needs them, and keeps those that are read again."""
    def schedule():
        for func in funcs:
            func.store_root()
            compute_at(func, output, y)
    return schedule


def columns(output, *funcs):
    """As `sliding`, but all are scanned by columns."""
    def schedule():
        output.reorder(y, x)
        for func in funcs:
            func.store_root().reorder(y, x)
            compute_at(func, output, x)
    return schedule


def unrolled(factor, output, *funcs):
    """The schedule that computes these wholly, and some neighbours of them and of the output at once."""
    def schedule():
        for func in funcs:
            unroll(func.compute_root(), x, factor)
        unroll(output, x, factor)
    return schedule


def nothing() -> None:
    """The schedule that Halide has without one: everything inline."""
