"""Random Halide pipelines of numbers with a fraction, by a seed: in bfloat16 or float16, or in single precision that is narrowed.

Seeds give the same pipelines as long as this file stays as it is. Those of single precision compute, to the bit, what the same pipeline
of bfloat16 or float16 does in Halide.
"""

from __future__ import annotations

import math
import random

import halide as hl
from pipeline import U8, Bound, Pipeline, x, y
from pushmem_halide import BF16, F16, stream_to_accelerator, unroll

F32, I16 = hl.Float(32), hl.Int(16)
#: Of what is narrowed, only the words are compared: sums of random numbers lose any number of bits.
ANY = Bound(most=math.inf, mean=math.inf)


def random_numbers(seed: int) -> Pipeline:
    """A pipeline of a few stages, of bfloat16 or narrowed to it."""
    return numbers_of(seed, BF16, "bf16")


def random_halves(seed: int) -> Pipeline:
    """The same of float16."""
    return numbers_of(seed, F16, "f16")


def numbers_of(seed: int, element: hl.Type, name: str) -> Pipeline:
    """The pipeline with numbers of a type, or of single precision that becomes this one, which is called `name` in nests."""
    if random.Random(seed).random() < 0.5:
        return Generator(seed, element).pipeline()
    pipeline = Generator(seed, F32).pipeline()
    pipeline.narrow_floats, pipeline.bound, pipeline.twin = name, ANY, Generator(seed, element).pipeline()
    return pipeline


class Generator:
    """A source of choices, and the type of numbers."""

    def __init__(self, seed: int, element: hl.Type):
        self.choose = random.Random(seed)
        self.choose.random()
        self.element = element

    def number(self, value: float) -> hl.Expr:
        return hl.cast(self.element, hl.f32(value))

    def pipeline(self) -> Pipeline:
        choose = self.choose
        # Numbers that come from outside are words in both cases.
        bytes_in, numbers_in = stream_to_accelerator("bytes", U8, 2), stream_to_accelerator("numbers", self.element, 2)
        count = choose.randint(1, 3)
        sources, stages, reduced = [bytes_in, numbers_in], [], []
        for place in range(count):
            func = hl.Func(f"stage{place}")
            of = choose.sample(sources, k=min(len(sources), 2)) if place else sources
            window = hl.RDom([(0, choose.randint(2, 3)), (0, choose.randint(1, 3))], "r")
            if choose.random() < 0.3:
                func[x, y] = self.number(choose.choice([0, 1, -0.5]))
                term = self.read(of[-1], window.x, window.y) * self.number(choose.uniform(-2, 2))
                here = func[x, y]
                combine = choose.choice(["after", "before", "least"])
                func[x, y] = {"after": here + term, "before": term + here, "least": hl.min(here, term)}[combine]
                reduced.append((func, window))
            else:
                func[x, y] = self.value(of, choose.randint(2, 4))
            stages.append(func)
            sources.append(func)
        output = hl.Func("result")
        # All inputs are read, whatever Halide simplifies before.
        result = self.value(stages[-1:], 1) + self.read(bytes_in, 0, 1) - self.read(numbers_in, 1, 0)
        # A value that a type of integers cannot hold has no meaning in Halide.
        kind, least, greatest = choose.choice([(U8, 0, 255), (I16, -20, 300), (self.element, None, None)])
        if least is not None:
            result = hl.cast(kind, hl.clamp(result, self.number(least), self.number(greatest)))
        output[x, y] = result
        held = choose.choice(["root", "inline", "unrolled"])
        rolled = choose.random() < 0.4

        def schedule():
            for func, window in reduced:
                if not rolled:
                    unroll(func, window.x)
                    unroll(func, window.y)
                elif choose.random() < 0.5:
                    func.update().reorder(window.y, window.x, x, y)
            for stage in stages:
                if held != "inline" or any(stage.name() == func.name() for func, _ in reduced):
                    stage.compute_root()
            if held == "unrolled" and not rolled:
                unroll(output, x, 2)

        inputs = [bytes_in, numbers_in]
        # Two more columns and rows for each stage. How many of them Halide reads depends on the terms that it simplifies.
        boxes = {each.name(): [(0, 12 + 2 * (count + 1)), (0, 8 + 2 * (count + 1))] for each in inputs}
        return Pipeline(output, inputs, [12, 8], boxes, {f"{held}{'_rolled' if rolled else ''}": schedule})

    def read(self, source, dx, dy) -> hl.Expr:
        """An element of a source, as a number."""
        return hl.cast(self.element, source[x + dx, y + dy])

    def rounded(self, value: hl.Expr) -> hl.Expr:
        """The result of a function of single precision."""
        return hl.cast(self.element, value)

    def value(self, sources, depth: int) -> hl.Expr:
        """An expression of so many levels."""
        choose = self.choose
        if depth == 0 or choose.random() < 0.15:
            leaf = choose.random()
            if leaf < 0.75:
                return self.read(choose.choice(sources), choose.randint(0, 2), choose.randint(0, 2))
            if leaf < 0.9:
                return self.number(choose.choice([0, 0.5, -1, 3, choose.uniform(-9, 9)]))
            return hl.cast(self.element, choose.choice([x, y]))
        one, other = self.value(sources, depth - 1), self.value(sources, depth - 1)
        return choose.choice([
            lambda: one + other, lambda: one - other, lambda: one * other, lambda: one + other * self.number(choose.uniform(-2, 2)),
            lambda: hl.min(one, other), lambda: hl.max(one, other), lambda: one / self.number(choose.choice([2, 0.25, -8])),
            lambda: hl.select(choose.choice([one < other, one >= other, one != other]), one, self.value(sources, depth - 1)),
            lambda: self.rounded(hl.sqrt(hl.f32(hl.max(one, self.number(0))))),
            lambda: self.number(1) / (hl.max(one, other) + self.number(0.5)),
            lambda: self.rounded(choose.choice([hl.floor, hl.ceil, hl.tanh])(hl.f32(one))),
            lambda: one % self.number(choose.choice([0.5, 2, 64])),
            lambda: hl.cast(self.element, hl.cast(I16, hl.clamp(one, self.number(-99), self.number(99)))),
        ])()
