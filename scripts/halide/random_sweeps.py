"""Random Halide pipelines of sweeps, by a seed: relaxations in place, steps to and fro between levels, and recursive filters in all
directions.

Seeds give the same pipelines as long as this file stays as it is.
"""

from __future__ import annotations

import random

import halide as hl
from pipeline import Pipeline, t, x, y
from pushmem_halide import stream_to_accelerator
from random_pipelines import STORED

#: The least index of the image, and how much larger it is.
FIRST, MORE = -2, 6


def random_sweeps(seed: int) -> Pipeline:
    """A Func with sweeps, and a reader of it."""
    return Generator(seed).pipeline()


class Generator:
    """A source of choices, and the sizes of the image."""

    def __init__(self, seed: int):
        self.choose = random.Random(seed)
        self.sizes = [self.choose.choice([8, 12, 16]), self.choose.choice([6, 8, 12])]
        self.image = stream_to_accelerator("input", self.choose.choice(STORED), 2)
        self.element = self.choose.choice(STORED)
        #: Levels that change places, or none.
        self.levels = self.choose.choice([0, 0, 0, 2, 2, 3])

    def pipeline(self) -> Pipeline:
        choose = self.choose
        func, output = hl.Func("swept"), hl.Func("output")
        at = [x, y, *([t] if self.levels else [])]
        func[at] = hl.cast(self.element, choose.choice([self.image[x, y], self.image[x + 1, y] + self.image[x, y - 1]]))
        for number in range(choose.randint(1, 2)):
            choose.choice([self.relax, self.relax, self.filter])(func, number)
        element = choose.choice(STORED)
        level = [choose.randrange(self.levels)] if self.levels else []
        value = hl.cast(element, func[[x, y, *level]])
        if choose.random() < 0.5:
            value += hl.cast(element, func[[x + choose.randint(0, 1), y, *level]]) * hl.cast(element, 3)
        output[x, y] = value + hl.cast(element, self.image[x, y])

        def root():
            func.compute_root()

        def copies():
            func.compute_root()
            output.unroll(x, 2)

        name, schedule = choose.choice([("root", root), ("root", root), ("copies", copies)])
        box = [(FIRST, extent + MORE) for extent in self.sizes]
        return Pipeline(output, [self.image], self.sizes, {"input": box}, {name: schedule})

    def joined(self, terms) -> hl.Expr:
        """A value of some elements."""
        terms = [hl.cast(self.element, term) for term in terms]
        if self.choose.random() < 0.3:
            whole = terms[0]
            for term in terms[1:]:
                whole = self.choose.choice([hl.max, hl.min])(whole, term)
            return whole
        whole = terms[0]
        for term in terms[1:]:
            whole = whole + term * hl.cast(self.element, self.choose.randint(1, 3))
        return whole / hl.cast(self.element, self.choose.choice([2, 3, 4]))

    def relax(self, func: hl.Func, number: int) -> None:
        """Steps in which elements follow from those beside them."""
        choose = self.choose
        # A dimension whose elements take the steps apart from each other, or none.
        free = choose.choice([None, None, None, 0, 1])
        steps = (choose.randint(0, 2), choose.randint(1, 4))
        loops = [(choose.randint(1, 2), extent - 3) for dimension, extent in enumerate(self.sizes) if dimension != free]
        r = hl.RDom([*loops, steps], f"r{number}")
        step = r[len(loops)]
        places, spans = [x, y], [0, 0]
        for loop, dimension in enumerate(dimension for dimension in (0, 1) if dimension != free):
            is_reversed = choose.random() < 0.2
            places[dimension] = self.sizes[dimension] - 1 - r[loop] if is_reversed else r[loop]
            spans[dimension] = 1
        if choose.random() < 0.25:
            r.where(choose.choice([(r.x + r.y + step) % 2 == 0, r.x > step, r.y + step < 7]))
        beside = {(0, 0)}
        for _ in range(choose.randint(1, 3)):
            beside.add(tuple(choose.randint(-span, span) for span in spans))
        now, after = [], []
        if self.levels:
            now, after = [step % self.levels], [(step + 1) % self.levels]
        terms = []
        for distances in sorted(beside):
            # A variable that stays is to be seen as one.
            at = [place + distance if distance else place for place, distance in zip(places, distances)]
            terms.append(func[[*at, *now]])
        if choose.random() < 0.4:
            terms.append(choose.choice([step, self.image[places[0], places[1]]]))
        func[[*places, *after]] = self.joined(terms)
        update = func.update(number)
        update.unscheduled()
        if free is not None and choose.random() < 0.5:
            order = [[x, y][free], *(r[loop] for loop in range(len(loops) + 1))]
            update.reorder(*choose.choice([order, order[1:] + order[:1]]))
            if choose.random() < 0.3:
                update.unroll(order[0], 2)

    def filter(self, func: hl.Func, number: int) -> None:
        """A recursive filter along a dimension, from either end."""
        choose = self.choose
        dimension = choose.randrange(2)
        extent = self.sizes[dimension]
        r = hl.RDom([(choose.randint(1, 2), extent - 2)], f"f{number}")
        forward = choose.random() < 0.5
        along, before = (r.x, r.x - 1) if forward else (extent - 1 - r.x, extent - r.x)
        level = [choose.randrange(self.levels)] if self.levels else []

        def element(place) -> hl.Expr:
            return func[[place, y, *level]] if dimension == 0 else func[[x, place, *level]]

        place = [along, y, *level] if dimension == 0 else [x, along, *level]
        func[place] = self.joined([element(before), element(along)])
        update = func.update(number)
        update.unscheduled()
        if choose.random() < 0.4:
            free = x if dimension else y
            update.reorder(*choose.choice([(free, r.x), (r.x, free)]))
