"""Random Halide pipelines of updates that write other elements than their loops are of, by a seed: borders, parts, directions and strides,
recursive filters, and levels of a dimension of which each is computed from the ones before.

Seeds give the same pipelines as long as this file stays as it is.
"""

from __future__ import annotations

import random

import halide as hl
from pipeline import Pipeline, nothing, t, x, y
from pushmem_halide import compute_at, stream_to_accelerator
from random_pipelines import STORED

#: The least index of the image, so that updates and reads beside them stay within it.
FIRST = -6

#: Indices of an update along a dimension: by the variable of the Func, the loop of a reduction, and the extent.
KINDS = {
    "pure": lambda variable, r, extent: variable,
    "first": lambda variable, r, extent: hl.Expr(0),
    "last": lambda variable, r, extent: hl.Expr(extent - 1),
    "loop": lambda variable, r, extent: r,
    "moved": lambda variable, r, extent: r + 2,
    "backwards": lambda variable, r, extent: extent - 1 - r,
    "odd": lambda variable, r, extent: 2 * r + 1,
}
#: Those that follow the loop.
MOVING = {"loop", "moved", "backwards", "odd"}


def random_updates(seed: int) -> Pipeline:
    """A Func with several updates, perhaps with levels, and a reader of it."""
    return Generator(seed).pipeline()


class Generator:
    """A source of choices, and the sizes of the image."""

    def __init__(self, seed: int):
        self.choose = random.Random(seed)
        self.sizes = [self.choose.choice([8, 12, 16]), self.choose.choice([6, 8, 12])]
        self.levels = self.choose.choice([0, 0, 2, 3, 4])
        self.image = stream_to_accelerator("input", self.choose.choice(STORED), 2)
        self.is_pair = self.choose.random() < 0.15

    def pipeline(self) -> Pipeline:
        choose = self.choose
        func, output = hl.Func("kept"), hl.Func("output")
        self.types = [choose.choice(STORED) for _ in range(2 if self.is_pair else 1)]
        at = [x, y, *([t] if self.levels else [])]
        func[at] = self.values([lambda element: hl.cast(element, self.pixel(x, y)),
                                lambda element: hl.cast(element, x + 3 * y + (t if self.levels else 0)),
                                lambda element: hl.cast(element, 7)])
        updates = choose.randint(1, 3)
        for number in range(updates):
            self.level(func, number) if self.levels and choose.random() < 0.7 else self.update(func, number)
        element = choose.choice(STORED)
        reads = [self.read(func, [x + choose.randint(0, 2), y + choose.randint(0, 2)], choose.randrange(max(1, self.levels)))
                 for _ in range(choose.randint(1, 3))]
        value = hl.cast(element, reads[0])
        for read in reads[1:]:
            value = value * hl.cast(element, 3) + hl.cast(element, read)
        output[x, y] = value + hl.cast(element, self.image[x, y])

        def root():
            func.compute_root()

        def copies():
            func.compute_root()
            output.unroll(x, 2)

        name, schedule = choose.choice([("root", root), ("copies", copies), ("rows", lambda: compute_at(func, output, y)),
                                        ("inline", nothing)])
        box = [(FIRST, extent - 4 * FIRST) for extent in self.sizes]
        return Pipeline(output, [self.image], self.sizes, {"input": box}, {name: schedule},
                        schedule=choose.choice([None, None, None, "dnn"]))

    def pixel(self, i, j) -> hl.Expr:
        return self.image[i + self.choose.randint(-1, 1), j + self.choose.randint(-1, 1)]

    def values(self, kinds):
        """A value for each type; of a tuple, the values."""
        found = [self.choose.choice(kinds)(element) for element in self.types]
        return tuple(found) if self.is_pair else found[0]

    def read(self, func: hl.Func, at, level) -> hl.Expr:
        """An element of the Func, of any value of it."""
        whole = func[[*at, *([level] if self.levels else [])]]
        return whole[self.choose.randrange(2)] if self.is_pair else whole

    def update(self, func: hl.Func, number: int) -> None:
        """An update of a part of the Func, or of all."""
        choose = self.choose
        kinds = [choose.choice(list(KINDS)) for _ in self.sizes]
        domain = [(choose.randint(0, 2), extent // 2 - 1) for kind, extent in zip(kinds, self.sizes, strict=True) if kind in MOVING]
        r = hl.RDom(domain, f"r{number}") if domain else None
        if r and choose.random() < 0.25:
            r.where(choose.choice([r[0] > r[len(domain) - 1] / 2, r[0] + r[len(domain) - 1] < 6, r[0] % 2 == 0]))
        loops = [r[place] for place in range(len(domain))]
        places = [(KINDS[kind](variable, loops.pop(0) if kind in MOVING else None, extent), kind in MOVING)
                  for kind, variable, extent in zip(kinds, (x, y), self.sizes, strict=True)]
        at = [index for index, _ in places]
        level = choose.choice([t, choose.randrange(self.levels)]) if self.levels else 0
        here = self.read(func, at, level)
        # Halide lets recursive reads move along loops of reductions only.
        beside = [index + choose.choice([-1, -1, 0, 1]) if moves else index for index, moves in places]
        there = self.read(func, beside, level)
        func[[*at, *([level] if self.levels else [])]] = self.values([
            lambda element: hl.cast(element, 5), lambda element: hl.cast(element, self.pixel(*at)),
            lambda element: hl.cast(element, here) + hl.cast(element, self.pixel(*at)),
            lambda element: hl.max(hl.cast(element, there), hl.cast(element, self.pixel(*at))),
            lambda element: hl.cast(element, there) / 2 + hl.cast(element, here) / 2,
            lambda element: hl.select(here > there, hl.cast(element, here), hl.cast(element, there)) + hl.cast(element, 1)])

    def level(self, func: hl.Func, number: int) -> None:
        """An update of levels, each from the ones before; the loops are in any order."""
        choose = self.choose
        is_pure = [choose.random() < 0.3 for _ in self.sizes]
        moving = [extent for pure, extent in zip(is_pure, self.sizes, strict=True) if not pure]
        loops = [(choose.randint(0, 1), extent + choose.randint(-1, 2)) for extent in moving]
        # The levels are the outermost loop, most often.
        place = choose.choice([len(loops), len(loops), len(loops), choose.randint(0, len(loops))])
        r = hl.RDom([*loops[:place], (1, self.levels - 1), *loops[place:]], f"r{number}")
        step, others = r[place], [r[each] for each in range(len(loops) + 1) if each != place]
        at = [variable if pure else others.pop(0) for pure, variable in zip(is_pure, (x, y), strict=True)]
        moves = [not pure for pure in is_pure]
        far = [step, hl.clamp(hl.i32(1) << (step - 1), 0, 4)] if place == len(loops) else []
        distance = choose.choice([hl.Expr(1), *far])

        def before() -> hl.Expr:
            beside = [index + choose.choice([-1, 0, 0, 1, distance]) if moved else index for index, moved in zip(at, moves, strict=True)]
            return self.read(func, beside, step - 1)
        first, second = before(), before()
        own = self.read(func, at, step)
        func[[*at, step]] = self.values([
            lambda element: hl.max(hl.cast(element, first), hl.cast(element, second)),
            lambda element: hl.cast(element, first) / 2 + hl.cast(element, second) / 2 + hl.cast(element, step),
            lambda element: hl.cast(element, first) + hl.cast(element, own)])
