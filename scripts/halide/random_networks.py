"""Random Halide pipelines whose reductions are loops: boundaries of all kinds, other rates, tuples, unrolled copies, schedules.

Seeds give the same pipelines as long as this file stays as it is.
"""

from __future__ import annotations

import random

import halide as hl
import numpy as np
from pipeline import Pipeline, constants, x, xi, xo, y, yi, yo
from pushmem_halide import stream_to_accelerator

#: Types of images and Funcs.
STORED = [hl.UInt(8), hl.Int(8), hl.UInt(16), hl.Int(16)]
BOUNDARIES = {
    "exterior": lambda func, extent, element: hl.BoundaryConditions.constant_exterior(func, hl.cast(element, 3), extent),
    "edge": lambda func, extent, element: hl.BoundaryConditions.repeat_edge(func, extent),
    "image": lambda func, extent, element: hl.BoundaryConditions.repeat_image(func, extent),
    "mirror": lambda func, extent, element: hl.BoundaryConditions.mirror_image(func, extent),
    "interior": lambda func, extent, element: hl.BoundaryConditions.mirror_interior(func, extent),
}
#: Reads at other rates, along a dimension of so many elements.
RATES = {
    "half": lambda i, extent: hl.min(2 * i, extent - 1),
    "twice": lambda i, extent: i / 2,
    "bilinear": lambda i, extent: hl.clamp(i / 2 - 1 + 2 * (i % 2), 0, extent - 1),
    "even and odd": lambda i, extent: i / 2 + extent // 2 * (i % 2),
    "2 to 3": lambda i, extent: 2 * i / 3,
    "3 to 2": lambda i, extent: hl.min(3 * i / 2, extent - 1),
    "blocks": lambda i, extent: 4 * (i / 4) + 3 - i % 4,
    "from the end": lambda i, extent: extent - 1 - i,
}


def random_network(seed: int) -> Pipeline:
    """A pipeline of a few stages, one at least with loops of a reduction."""
    return Generator(seed).pipeline()


class Generator:
    """A source of choices, and the sizes of the image."""

    def __init__(self, seed: int):
        self.choose = random.Random(seed)
        self.width, self.height = self.choose.choice([8, 12, 16]), self.choose.choice([8, 12])
        self.extent = [(0, self.width), (0, self.height)]
        self.roots: list[hl.Func] = []
        self.names: list[str] = []

    def pipeline(self) -> Pipeline:
        choose = self.choose
        element = choose.choice(STORED)
        image = stream_to_accelerator("input", element, 2)
        source: hl.Func | hl.ImageParam = image
        count = choose.randint(1, 3)
        kinds = [choose.choice(["sum", "sum", "extreme", "point", "rate", "tuple"]) for _ in range(count)]
        if not {"sum", "extreme", "tuple"} & set(kinds):
            kinds[0] = "sum"
        for number, kind in enumerate(kinds):
            name = "output" if number == count - 1 else f"stage{number}"
            source = getattr(self, kind)(name, source)
        box = {"input": list(self.extent)}
        roots = self.roots

        def schedule():
            for func in roots:
                if func.name() != source.name():
                    func.compute_root()

        return Pipeline(source, [image], [self.width, self.height], box, {"_".join(self.names): schedule})

    def bordered(self, source):
        """The source beyond its edges, and how far reads may reach."""
        name = self.choose.choice(list(BOUNDARIES))
        self.names.append(name)
        border = BOUNDARIES[name](source, self.extent, source.type())
        if self.choose.random() < 0.3:
            self.roots.append(border)
        return border

    def window(self) -> hl.RDom:
        return hl.RDom([(0, self.choose.randint(2, 4)), (0, self.choose.randint(1, 3))], "r")

    def scheduled(self, func: hl.Func, r: hl.RDom) -> None:
        """Loops of an update in some order, some of them unrolled."""
        choose = self.choose
        order = [r.x, r.y, x, y]
        if choose.random() < 0.3:
            choose.shuffle(order)
            func.update().reorder(*order)
        what = choose.choice(["", "", "x", "r.x", "r.y", "tiles"])
        if what == "x":
            func.update().unroll(x, 2)
        elif what == "r.x":
            func.update().unroll(r.x)
        elif what == "r.y":
            func.update().unroll(r.y)
        elif what == "tiles":
            func.update().tile(x, y, xo, yo, xi, yi, 4, 4)
        self.names.append(what or "loops")

    def sum(self, name: str, source) -> hl.Func:
        choose, element = self.choose, self.choose.choice(STORED)
        border, r = self.bordered(source), self.window()
        func = hl.Func(name)
        weight = hl.cast(element, 1)
        if choose.random() < 0.5:
            entries = np.array([[choose.randint(-5, 5) for _ in range(4)] for _ in range(3)], dtype=np.int8)
            weight = hl.cast(element, constants(entries, f"weights_{name}")[r.x, r.y])
        func[x, y] = hl.cast(element, choose.randint(0, 5))
        func[x, y] += hl.cast(element, border[x + r.x - 1, y + r.y - 1]) * weight
        self.scheduled(func, r)
        self.roots.append(func)
        return func

    def extreme(self, name: str, source) -> hl.Func:
        border, r = self.bordered(source), self.window()
        func = hl.Func(name)
        element = source.type()
        func[x, y] = hl.cast(element, 7)
        combine = self.choose.choice([hl.min, hl.max])
        func[x, y] = combine(func[x, y], border[x + r.x - 1, y + r.y - 1])
        self.scheduled(func, r)
        self.roots.append(func)
        return func

    def tuple(self, name: str, source) -> hl.Func:
        """The place of the least element."""
        border, r = self.bordered(source), self.window()
        least, func = hl.Func(f"least_{name}"), hl.Func(name)
        here = border[x + r.x - 1, y + r.y - 1]
        least[x, y] = (hl.u8(0), source.type().max())
        smaller = here < least[x, y][1]
        least[x, y] = (hl.select(smaller, hl.u8(r.x + 4 * r.y), least[x, y][0]), hl.select(smaller, here, least[x, y][1]))
        least.compute_root()
        func[x, y] = hl.u8(least[x, y][0] + hl.u8(least[x, y][1]))
        self.names.append("tuple")
        self.roots.append(func)
        return func

    def point(self, name: str, source) -> hl.Func:
        choose, element = self.choose, self.choose.choice(STORED)
        border, func = self.bordered(source), hl.Func(name)
        i, j = choose.randint(-2, 2), choose.randint(-2, 2)
        func[x, y] = hl.cast(element, border[x + i, y + j] + border[x - j, y] / 2)
        if choose.random() < 0.7:
            self.roots.append(func)
            if choose.random() < 0.3:
                func.unroll(x, 2)
        return func

    def rate(self, name: str, source) -> hl.Func:
        choose, func = self.choose, hl.Func(name)
        along, across = choose.choice(list(RATES)), choose.choice(["", "", *RATES])
        self.names.append(along + " " + across if across else along)
        self.names[-1] = self.names[-1].replace(" ", "_")
        column = RATES[along](x, self.width)
        row = RATES[across](y, self.height) if across else y
        func[x, y] = source[column, row] + source[x, row] / 3
        if choose.random() < 0.7:
            self.roots.append(func)
        return func
