"""Random Halide pipelines in which data choose elements, by a seed: votes and scatters, then what is looked up in them."""

from __future__ import annotations

import halide as hl
from pipeline import Pipeline, x, y
from pushmem_halide import stream_to_accelerator
from random_pipelines import STORED, Generator

#: What an update does with the element that data choose.
UPDATES = {
    "add": lambda before, value: before + value,
    "subtract": lambda before, value: before - value,
    "min": hl.min,
    "max": hl.max,
    "store": lambda _, value: value,
    "mean": lambda before, value: before / 2 + value / 2,
}


def random_choices(seed: int) -> Pipeline:
    """A pipeline that updates an array at places that data choose, and may look up others in it."""
    source = Generator(seed)
    choose = source.choose
    width, height = choose.choice([8, 12, 16]), choose.choice([6, 8])
    image = stream_to_accelerator("input", choose.choice(STORED), 2)
    window = hl.RDom([(0, width), (0, height)], "r")
    extents = [choose.choice([8, 10, 16, 40]) for _ in range(choose.randint(1, 2))]
    arguments = [x, y][:len(extents)]
    element = choose.choice(STORED)

    def value(of: hl.Type, *at) -> hl.Expr:
        return source.value([image], of, choose.randint(0, 2), lambda i, j: (at[0] + i + 1, at[1] + j + 1))

    def place(extent: int, *at) -> hl.Expr:
        index = hl.cast(hl.Int(32), value(choose.choice(STORED), *at))
        moved = index + choose.choice([0, 1, -3, at[0], at[1], 2 * at[0] - at[1]])
        return choose.choice([lambda: moved % extent, lambda: hl.clamp(moved, 0, extent - 1),
                              lambda: hl.clamp(moved / 8, 0, extent - 1)])()

    kept = hl.Func("kept")
    kept[tuple(arguments)] = hl.cast(element, choose.choice([lambda: hl.Expr(7), lambda: 3 * x])())
    updates = choose.randint(1, 2)
    for _ in range(updates):
        at = (window.x, window.y)
        places = tuple(place(extent, *at) if number == 0 or choose.random() < 0.5 else
                       choose.choice([hl.Expr(2), hl.clamp(window.x, 0, extent - 1)]) for number, extent in enumerate(extents))
        updated = UPDATES[choose.choice(list(UPDATES))](kept[places], value(element, *at))
        if choose.random() < 0.3:
            updated = hl.select(value(element, *at) > hl.cast(element, 40), updated, kept[places])
        kept[places] = hl.cast(element, updated)
    output = kept
    size = extents
    if choose.random() < 0.6:
        output, size = hl.Func("output"), [width, height]
        found = [kept[tuple(place(extent, x, y) for extent in extents)] for _ in range(choose.randint(1, 2))]
        output[x, y] = hl.cast(element, found[0] + value(element, x, y)) if len(found) == 1 else hl.max(*found)
        kept.compute_root()
    unroll = choose.choice([1, 1, 2, 4])

    def schedule() -> None:
        for number in range(updates):
            if unroll > 1:
                kept.update(number).unroll(window.x, unroll)
        if output is not kept and unroll > 1:
            output.unroll(x, unroll)

    return Pipeline(output, [image], size, {"input": [(0, width + 2), (0, height + 2)]},
                    {f"unrolled_by_{unroll}" if unroll > 1 else "root": schedule})
