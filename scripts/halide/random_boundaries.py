"""Random Halide pipelines in which arrays that are kept are read beyond their edges, by a seed: coordinates that are clamped and
mirrored by boundary conditions and by hand, at other rates, too.

Seeds give the same pipelines as long as this file stays as it is.
"""

from __future__ import annotations

import random

import halide as hl
from pipeline import Pipeline, c, total, x, y
from pushmem_halide import stream_to_accelerator
from random_networks import BOUNDARIES
from random_pipelines import STORED

#: Coordinates that are limited by hand, along a dimension of so many elements: of a position, and of a place in a window around it.
LIMITED = {
    "clamp": lambda i, r, extent: hl.clamp(i + r, 0, extent - 1),
    "lower": lambda i, r, extent: hl.max(hl.min(i, extent - 4) + r, 0),
    "centre": lambda i, r, extent: hl.clamp(i, 2, extent - 3) + r,
    "mirror": lambda i, r, extent: hl.cast(hl.Int(32), hl.abs(extent - 1 - hl.cast(hl.Int(32), hl.abs(extent - 1 - i - r)))),
    "stride": lambda i, r, extent: hl.clamp(2 * i + r - 1, 0, extent - 1),
    "half": lambda i, r, extent: hl.clamp(i / 2 + r, 0, extent - 1),
    "backwards": lambda i, r, extent: hl.clamp(extent - 1 - i - r, 0, extent - 1),
    "wrapped": lambda i, r, extent: (i + r) % extent,
    "inside": lambda i, r, extent: hl.clamp(i + r, 3, extent - 3),
}


def random_boundary(seed: int) -> Pipeline:
    """A pipeline of kept arrays that windows reach beyond."""
    return Generator(seed).pipeline()


class Generator:
    """A source of choices, and the sizes of the image."""

    def __init__(self, seed: int):
        self.choose = random.Random(seed)
        self.sizes = [self.choose.choice([8, 12, 16, 24]), self.choose.choice([6, 8, 12])]
        #: The channels of all arrays, if they have any.
        self.channels = self.choose.choice([None, None, 2, 4])
        self.names: list[str] = []

    def pipeline(self) -> Pipeline:
        choose = self.choose
        extents = [*([self.channels] if self.channels else []), *self.sizes]
        image = stream_to_accelerator("input", choose.choice(STORED), len(extents))
        inputs, factor = [image], hl.Expr(3)
        if choose.random() < 0.3:
            factor = hl.Param(choose.choice(STORED), "factor")
            inputs.append(factor)
        at = [*([c] if self.channels else []), x, y]
        kept = hl.Func("kept")
        kept[at] = hl.cast(choose.choice(STORED), hl.cast(hl.Int(32), image[at]) * hl.cast(hl.Int(32), factor) + 1)
        funcs = [kept]
        for number in range(count := choose.randint(1, 3)):
            name = "output" if number == count - 1 else f"stage{number}"
            funcs.append(choose.choice([self.sum, self.sum, self.point])(name, funcs[-1], at))
        output = funcs.pop()
        box = {"input": [(0, extent) for extent in extents]}

        def schedule():
            for func in funcs:
                func.compute_root()

        policy = choose.choice([None, "dnn"])
        return Pipeline(output, inputs, extents, box, {"_".join(self.names): schedule}, schedule=policy)

    def reading(self, source, at, dimensions):
        """How a window reads a source: the element at a place, and places beside it along these dimensions."""
        choose = self.choose
        if choose.random() < 0.5:
            kind = choose.choice(list(BOUNDARIES))
            self.names.append(kind)
            whole = [(hl.Expr(0), hl.Expr(extent)) for extent in self.sizes]
            bounds = [*([(hl.Expr(), hl.Expr())] if self.channels else []), *whole]
            border = BOUNDARIES[kind](source, bounds, source.type())
            if choose.random() < 0.3:
                border.compute_root()
            return lambda *window: border[[*at[:-2], *(i + r for i, r in zip(at[-2:], window, strict=True))]]
        kinds = [choose.choice(list(LIMITED)) for _ in dimensions]
        self.names += kinds
        limits = [LIMITED[kind] for kind in kinds]
        return lambda *window: source[[*at[:-2], *(
            limit(i, r, extent) for limit, i, r, extent in zip(limits, at[-2:], window, self.sizes, strict=True))]]

    def sum(self, name: str, source: hl.Func, at) -> hl.Func:
        """A reduction over a window, in loops of any order; over channels, too."""
        choose, element = self.choose, self.choose.choice(STORED)
        extents = [choose.randint(1, 4), choose.randint(1, 3)]
        through = self.channels is not None and choose.random() < 0.5
        domain = [(-choose.randint(0, min(2, extent)), extent) for extent in extents]
        r = hl.RDom([*domain, *([(0, self.channels)] if through else [])], "r")
        read = self.reading(source, [r[2], *at[1:]] if through else at, self.sizes)
        func = hl.Func(name)
        func[at] = hl.cast(element, choose.randint(0, 5))
        value = hl.cast(element, read(r.x, r.y))
        func[at] += value * hl.cast(element, r.x + 2) if choose.random() < 0.5 else value
        what = choose.choice(["", "", "x", "r.x", "r", "order"])
        if what == "x":
            func.update().unroll(x, 2)
        elif what == "r.x":
            func.update().unroll(r.x)
        elif what == "r":
            func.update().unroll(r.x).unroll(r.y)
        elif what == "order":
            order = [r.x, r.y, *([r[2]] if through else []), *at]
            choose.shuffle(order)
            func.update().reorder(*order)
        self.names.append(what or "loops")
        return func

    def point(self, name: str, source: hl.Func, at) -> hl.Func:
        """A few elements around a place."""
        choose, element = self.choose, self.choose.choice(STORED)
        read, func = self.reading(source, at, self.sizes), hl.Func(name)
        around = [(choose.randint(-2, 2), choose.randint(-2, 2)) for _ in range(choose.randint(1, 3))]
        func[at] = hl.cast(element, total([hl.cast(element, read(i, j)) for i, j in around]) / 2 + 1)
        if choose.random() < 0.3:
            func.unroll(x, 2)
        self.names.append("point")
        return func
