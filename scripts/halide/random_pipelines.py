"""Random Halide pipelines: stencils, arithmetic, choices, casts and schedules, by a seed."""

from __future__ import annotations

import random

import halide as hl
from programs import Pipeline, x, xi, xo, y, yi, yo
from pushmem_halide import compute_at, stream_to_accelerator, tile, unroll

TYPES = [hl.UInt(8), hl.Int(8), hl.UInt(16), hl.Int(16)]


def random_pipeline(seed: int) -> Pipeline:
    """A pipeline of a few stages."""
    choose = random.Random(seed)
    element = choose.choice(TYPES)
    image = stream_to_accelerator("input", element, 2)
    width, height = choose.choice([12, 16, 24]), choose.choice([8, 12])
    extent = [(0, width + 16), (0, height + 16)]
    boundary = choose.choice([None, None, "repeat", "mirror", "constant"])
    source = image
    least = -8
    if boundary:
        least = 0
        extent = [(0, width), (0, height)]
        source = {
            "repeat": lambda: hl.BoundaryConditions.repeat_edge(image, extent),
            "mirror": lambda: hl.BoundaryConditions.mirror_image(image, extent),
            "constant": lambda: hl.BoundaryConditions.constant_exterior(image, hl.cast(element, 7), extent),
        }[boundary]()
    stages: list[hl.Func] = []
    sources = [source]
    count = choose.randint(1, 4)
    for number in range(count):
        func = hl.Func("output" if number == count - 1 else f"stage{number}")
        of = sources[-1:] + choose.sample(sources, k=choose.randint(0, 1))
        func[x, y] = value(choose, of, choose.choice(TYPES), choose.randint(1, 3))
        sources.append(func)
        stages.append(func)
    output = stages.pop()
    compute = choose.choice(["root", "inline", "rows", "tiled", "sliding", "unrolled", "mixed"])

    def schedule():
        if boundary and choose.random() < 0.5:
            source.compute_root()
        if compute == "tiled":
            tile(output, x, y, xo, yo, xi, yi, width // 2, height // 2)
        if compute == "unrolled":
            unroll(output, x, 2)
        for stage in stages:
            if compute in ("root", "unrolled"):
                stage.compute_root()
            elif compute == "rows":
                compute_at(stage, output, y)
            elif compute == "tiled":
                compute_at(stage, output, xo)
            elif compute == "sliding":
                stage.store_root()
                compute_at(stage, output, y)
            elif compute == "mixed" and choose.random() < 0.6:
                stage.compute_root()

    return Pipeline(output, [image], [width, height],
                    {"input": [(least, size) for _, size in extent]},
                    {f"{boundary or 'none'}_{compute}": schedule})


def value(choose: random.Random, sources, element, depth: int):
    """A random expression of this type."""
    if depth == 0:
        func = choose.choice(sources)
        i, j = choose.randint(-1, 1), choose.randint(-1, 1)
        return hl.cast(element, func[x + i, y + j])
    inner = lambda: value(choose, sources, element, depth - 1)
    number = lambda low, high: hl.cast(element, choose.randint(low, high))
    kind = choose.randrange(14)
    if kind == 0:
        return inner() + inner()
    if kind == 1:
        return inner() - inner()
    if kind == 2:
        return inner() * number(1, 9)
    if kind == 3:
        return hl.min(inner(), inner())
    if kind == 4:
        return hl.max(inner(), number(0, 99))
    if kind == 5:
        return hl.select(inner() < inner(), inner(), inner())
    if kind == 6:
        return hl.cast(element, hl.absd(inner(), inner()))
    if kind == 7:
        return inner() / number(1, 9)
    if kind == 8:
        return inner() >> number(0, 3)
    if kind == 9:
        other = choose.choice(TYPES)
        return hl.cast(element, value(choose, sources, other, depth - 1))
    if kind == 10:
        return choose.choice([hl.saturating_add, hl.saturating_sub, hl.halving_add, hl.rounding_halving_add])(
            inner(), inner())
    if kind == 11:
        return hl.saturating_cast(element, hl.widening_mul(inner(), inner()) >> 4)
    if kind == 12:
        return choose.choice([lambda a: ~a, lambda a: a ^ 5, lambda a: a & 60, lambda a: a | 9])(inner())
    window = [inner() for _ in range(choose.randint(2, 4))]
    return sum(window[1:], window[0]) / number(2, 5)
