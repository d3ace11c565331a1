"""Random Halide pipelines of stages at several rates, by a seed: taps at x + a, 2 x + a and x / 2 + a along each dimension, stages that
read two others, and any schedule that Halide takes.

Seeds give the same pipelines as long as this file stays as it is.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import halide as hl
from pipeline import Pipeline, total, x, y
from pushmem_halide import stream_to_accelerator
from random_pipelines import STORED

#: The place of a tap along a dimension, for the variable or for an integer, by its rate.
PLACES: dict[str, Callable] = {
    "same": lambda i, offset: i + offset,
    "twice": lambda i, offset: 2 * i + offset,
    "half": lambda i, offset: i // 2 + offset if isinstance(i, int) else i / 2 + offset,
}
#: The stages of a pipeline, and the most elements along a dimension that one of them has.
STAGES, MOST = 5, 100


def random_rates(seed: int) -> Pipeline:
    """A pipeline of five stages."""
    return Generator(seed).pipeline()


@dataclass(frozen=True)
class Tap:
    """An element that a stage reads: the number of the stage that it is of, 0 for the image, and its place along each dimension."""

    source: int
    rates: tuple[str, str]
    offsets: tuple[int, int]

    def place(self, at: tuple) -> list:
        """The place, of an element here."""
        return [PLACES[rate](i, offset) for rate, i, offset in zip(self.rates, at, self.offsets, strict=True)]


class Generator:
    """A source of choices."""

    def __init__(self, seed: int):
        self.choose = random.Random(seed)

    def pipeline(self) -> Pipeline:
        choose = self.choose
        sizes = [choose.choice([8, 12, 16, 24]), choose.choice([6, 8, 12])]
        # Taps that make a stage too large are drawn anew.
        boxes = None
        while boxes is None:
            taps = [self.taps(number) for number in range(1, STAGES + 1)]
            boxes = boxes_of(taps, sizes)
        image = stream_to_accelerator("input", choose.choice(STORED), 2)
        funcs = [image]
        for number, of in enumerate(taps, 1):
            func = hl.Func("output" if number == STAGES else f"stage{number}")
            element = choose.choice(STORED)
            terms = [hl.cast(element, funcs[tap.source][tap.place((x, y))]) for tap in of]
            weights = [hl.cast(element, choose.randint(1, 3)) for _ in terms]
            func[x, y] = total([term * weight for term, weight in zip(terms, weights, strict=True)]) / hl.cast(element, 2)
            funcs.append(func)
        choices = self.schedules(taps)
        return Pipeline(funcs[-1], [image], sizes, {"input": boxes[0]},
                        {"_".join(choices.values()): lambda: self.schedule(funcs, choices)})

    def taps(self, number: int) -> list[Tap]:
        """The taps of a stage: of the one before it, and perhaps of another."""
        choose, found = self.choose, []
        sources = [number - 1, *([choose.randrange(number)] if choose.random() < 0.3 else [])]
        for source in sources:
            rates = tuple(choose.choice(["same", "same", "twice", "half"]) for _ in range(2))
            for _ in range(choose.randint(1, 3)):
                if choose.random() < 0.1:
                    rates = tuple(choose.choice(list(PLACES)) for _ in range(2))
                found.append(Tap(source, rates, (choose.randint(-2, 2), choose.randint(-2, 2))))
        return found

    def schedules(self, taps: list[list[Tap]]) -> dict[int, str]:
        """How stages that are read are computed, by their numbers: within a loop of the output only where all that read them are."""
        choose, chosen = self.choose, {}
        kinds = ["root", "inline", "rows", "columns", "sliding", "copies", "transposed"]
        if choose.random() < 0.5:
            kinds = [choose.choice(kinds)]
        #: The loops of the output that are around each stage.
        loops = {STAGES: 2}
        for number in range(STAGES - 1, 0, -1):
            readers = [reader for reader in loops if any(tap.source == number for tap in taps[reader - 1])]
            if not readers:
                continue
            around = min(loops[reader] for reader in readers)
            kind = choose.choice(kinds)
            depth = {"inline": around, "rows": 1, "sliding": 1, "columns": 2}.get(kind, 0)
            chosen[number], loops[number] = (kind, depth) if depth <= around else ("root", 0)
        return chosen

    def schedule(self, funcs: list[hl.Func], choices: dict[int, str]) -> None:
        output = funcs[STAGES]
        for number, choice in choices.items():
            stage = funcs[number]
            if choice != "inline":
                stage.compute_root()
            if choice == "rows":
                stage.compute_at(output, y)
            elif choice == "columns":
                stage.compute_at(output, x)
            elif choice == "sliding":
                stage.store_root().compute_at(output, y)
            elif choice == "copies":
                stage.unroll(x, 2)
            elif choice == "transposed":
                stage.reorder(y, x)


def boxes_of(taps: list[list[Tap]], sizes: list[int]) -> list[list[tuple[int, int]]] | None:
    """The least index and the extent of the image and of each stage, along each dimension; none where one is too large."""
    ends: list[list[tuple[int, int]] | None] = [None] * STAGES + [[(0, size - 1) for size in sizes]]
    for number in range(STAGES, 0, -1):
        if (here := ends[number]) is None:
            continue
        for tap in taps[number - 1]:
            corners = [tap.place(corner) for corner in zip(*here, strict=True)]
            reached = list(zip(*corners, strict=True))
            before = ends[tap.source] or reached
            ends[tap.source] = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(before, reached, strict=True)]
    boxes = [[(least, most - least + 1) for least, most in of] if of else [] for of in ends]
    return None if any(extent > MOST for of in boxes for _, extent in of) else boxes
