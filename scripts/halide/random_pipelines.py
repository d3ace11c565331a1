"""Random Halide pipelines by a seed: stencils, arithmetic of all types, tables, reductions, other rates, boundaries, schedules.

Seeds give the same pipelines as long as this file stays as it is.
"""

from __future__ import annotations

import random

import halide as hl
import numpy as np
from pipeline import Pipeline, constants, total, x, xi, xo, y, yi, yo
from pushmem_halide import compute_at, stream_to_accelerator, tile, unroll

#: Types of arrays, and those of intermediate values alone.
STORED = [hl.UInt(8), hl.Int(8), hl.UInt(16), hl.Int(16)]
WIDE = [hl.UInt(32), hl.Int(32)]
SCHEDULES = ["root", "inline", "rows", "tiled", "sliding", "unrolled", "reordered", "folded", "mixed"]


def random_pipeline(seed: int) -> Pipeline:
    """A pipeline of a few stages."""
    return Generator(seed).pipeline()


class Generator:
    """A source of choices, and what has been made of them."""

    def __init__(self, seed: int):
        self.choose = random.Random(seed)
        self.tables = 0
        self.stages: list[hl.Func] = []
        #: Reductions, and the variables of their domains.
        self.updates: list[tuple[hl.Func, hl.RDom]] = []

    def pipeline(self) -> Pipeline:
        choose = self.choose
        element = choose.choice(STORED)
        image = stream_to_accelerator("input", element, 2)
        width, height = choose.choice([12, 16, 24]), choose.choice([8, 12])
        extent = [(0, width + 16), (0, height + 16)]
        boundary = choose.choice([None, None, "repeat", "mirror", "constant"])
        source, least = image, -8
        if boundary:
            extent, least = [(0, width), (0, height)], 0
            source = {
                "repeat": lambda: hl.BoundaryConditions.repeat_edge(image, extent),
                "mirror": lambda: hl.BoundaryConditions.mirror_image(image, extent),
                "constant": lambda: hl.BoundaryConditions.constant_exterior(image, hl.cast(element, 7), extent),
            }[boundary]()
        sources = [source]
        rate = choose.choice([None, None, None, "half", "twice"])
        count = choose.randint(1, 4)
        for number in range(count):
            func = hl.Func("output" if number == count - 1 else f"stage{number}")
            of = sources[-1:] + choose.sample(sources, k=choose.randint(0, 1))
            at = (lambda i, j: (x + i, y + j))
            if rate and number == count - 1:
                # The last stage reads at another rate, so that coordinates stay in the image.
                at = {"half": lambda i, j: (2 * x + i, 2 * y + j), "twice": lambda i, j: (x / 2 + i, y / 2 + j)}[rate]
                of = sources[-1:]
            self.define(func, of, at)
            sources.append(func)
            self.stages.append(func)
        output = self.stages.pop()
        if rate == "half":
            width, height = width // 2, height // 2
        compute = choose.choice(SCHEDULES)
        # Arrays that a network keeps have affine addresses.
        kept = compute == "reordered" and not boundary and rate != "twice" and choose.random() < 0.5
        inlined = boundary and choose.random() < 0.5

        def schedule():
            if inlined:
                source.compute_root()
            self.schedule(output, compute, kept, width, height)

        return Pipeline(output, [image], [width, height], {"input": [(least, size) for _, size in extent]},
                        {f"{boundary or 'none'}_{compute}": schedule},
                        schedule="dnn" if kept else None)

    def define(self, func: hl.Func, sources, at) -> None:
        """A pure definition, or a reduction over a small window."""
        choose, element = self.choose, self.choose.choice(STORED)
        if choose.random() < 0.8:
            func[x, y] = self.value(sources, element, choose.randint(1, 3), at)
            return
        window = hl.RDom([(0, choose.randint(2, 3)), (0, choose.randint(1, 3))], "r")
        of = choose.choice(sources)
        i, j = at(window.x - 1, window.y - 1)
        term = hl.cast(element, of[i, j])
        combine = choose.choice(["add", "min", "max", "weighted"])
        func[x, y] = hl.cast(element, choose.randint(0, 9))
        here = func[x, y]
        func[x, y] = {
            "add": lambda: here + term, "min": lambda: hl.min(here, term), "max": lambda: hl.max(here, term),
            "weighted": lambda: here + term * hl.cast(element, window.x + 2 * window.y + 1),
        }[combine]()
        self.updates.append((func, window))

    def schedule(self, output: hl.Func, compute: str, kept: bool, width: int, height: int) -> None:
        choose, stages = self.choose, self.stages
        for func, window in self.updates:
            # Rolled in its array, a window is a network's reduction: those are in the list of programs.
            for variable in (window.x, window.y):
                func.update().unroll(variable)
        if compute == "tiled":
            tile(output, x, y, xo, yo, xi, yi, width // 2, height // 2)
            if any(func.name() == output.name() for func, _ in self.updates):
                tile(output.update(), x, y, xo, yo, xi, yi, width // 2, height // 2)
        if compute == "unrolled":
            unroll(output, x, choose.choice([2, 4]))
        if compute == "reordered":
            output.reorder(y, x)
            is_sliding = not kept and choose.random() < 0.5
        for stage in stages:
            if compute in ("root", "unrolled"):
                stage.compute_root()
            elif compute == "reordered" and is_sliding:
                compute_at(stage.store_root().reorder(y, x), output, x)
            elif compute == "reordered":
                stage.compute_root().reorder(y, x)
            elif compute == "rows":
                compute_at(stage, output, y)
            elif compute == "tiled":
                compute_at(stage, output, xo)
            elif compute == "sliding":
                stage.store_root()
                compute_at(stage, output, y)
            elif compute == "folded":
                # As many rows are kept as a power of two says, not as few as could be.
                stage.store_root().fold_storage(y, 8)
                compute_at(stage, output, y)
            elif compute == "mixed" and choose.random() < 0.6:
                stage.compute_root()
        for func, _ in self.updates:
            if compute in ("inline", "mixed") and func.name() != output.name():
                func.compute_root()

    def table(self, index):
        """An entry of a table of constants."""
        choose, element = self.choose, self.choose.choice(STORED)
        limits = np.iinfo(f"{'u' if element.is_uint() else ''}int{element.bits()}")
        count = choose.choice([5, 16, 256])
        entries = np.array([choose.randint(int(limits.min), int(limits.max)) for _ in range(count)], dtype=limits.dtype)
        buffer = constants(entries, f"table{self.tables}")
        self.tables += 1
        return buffer[hl.clamp(hl.cast(hl.Int(32), index), 0, count - 1)]

    def value(self, sources, element, depth: int, at):
        """A random expression of this type."""
        choose = self.choose
        if depth == 0:
            i, j = at(choose.randint(-1, 1), choose.randint(-1, 1))
            return hl.cast(element, choose.choice(sources)[i, j])
        inner = lambda of=element: self.value(sources, of, depth - 1, at)
        number = lambda low, high: hl.cast(element, choose.randint(low, high))
        small = element.bits() < 32
        kinds = {
            "add": lambda: inner() + inner(),
            "subtract": lambda: inner() - inner(),
            "scale": lambda: inner() * number(1, 9),
            "multiply": lambda: inner() * inner(),
            "minimum": lambda: hl.min(inner(), inner()),
            "maximum": lambda: hl.max(inner(), number(0, 99)),
            "clamp": lambda: hl.clamp(inner(), number(0, 20), number(30, 120)),
            "select": lambda: hl.select(inner() < inner(), inner(), inner()),
            "chain": lambda: hl.select(inner() < number(0, 40), inner(),
                                       hl.select((inner() == number(0, 9)) | (inner() >= inner()), number(0, 99), inner())),
            "distance": lambda: hl.cast(element, hl.absd(inner(), inner())),
            "divide": lambda: inner() / number(1, 9),
            "divide_by_data": lambda: inner() / hl.max(inner(), number(1, 3)),
            "remainder": lambda: inner() % number(2, 9),
            "shift": lambda: choose.choice([lambda a, b: a >> b, lambda a, b: a << b])(inner(), number(0, 3)),
            "shift_by_data": lambda: choose.choice([lambda a, b: a >> b, lambda a, b: a << b])(
                inner(), inner() & number(3, 3)),
            "cast": lambda: hl.cast(element, inner(choose.choice(STORED + WIDE))),
            "bits": lambda: choose.choice([lambda a: ~a, lambda a: a ^ 5, lambda a: a & 60, lambda a: a | 9])(inner()),
            "window": lambda: total([inner() for _ in range(choose.randint(2, 4))]) / number(2, 5),
            "table": lambda: hl.cast(element, self.table(inner(choose.choice(STORED)))),
        }
        if small:
            kinds |= {
                "saturating": lambda: choose.choice([
                    hl.saturating_add, hl.saturating_sub, hl.halving_add, hl.rounding_halving_add])(inner(), inner()),
                "narrowed": lambda: hl.saturating_cast(element, hl.widening_mul(inner(), inner()) >> 4),
                "saturating_cast": lambda: hl.saturating_cast(element, inner(choose.choice(STORED))),
            }
        return kinds[choose.choice(list(kinds))]()
