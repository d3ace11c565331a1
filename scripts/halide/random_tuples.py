"""Random Halide pipelines of tuples, by a seed: updates of whose values some read others, at places of loops or of data, and recursive
filters whose values follow from each other."""

from __future__ import annotations

import halide as hl
from pipeline import Pipeline, x, y
from pushmem_halide import stream_to_accelerator
from random_pipelines import STORED, Generator


def random_tuples(seed: int) -> Pipeline:
    """A pipeline that updates a tuple, once or twice, and reads all its values."""
    source = Generator(seed)
    if seed % 4 == 3:
        return coupled(source)
    choose = source.choose
    width, height = choose.choice([8, 16]), choose.choice([4, 6])
    extent = choose.choice([8, width])
    image = stream_to_accelerator("input", choose.choice(STORED), 2)
    pair, output = hl.Func("pair"), hl.Func("output")
    types = [choose.choice(STORED) for _ in range(choose.randint(2, 3))]
    pair[x] = tuple(hl.cast(element, choose.randint(0, 9) + choose.choice([x, hl.Expr(0)])) for element in types)

    def place(read) -> hl.Expr:
        return choose.choice([lambda: hl.clamp(hl.i32(read), 0, extent - 1), lambda: hl.i32(read) % extent])()

    def update(number: int) -> None:
        window = hl.RDom([(0, width), (0, height)], f"r{number}")
        if choose.random() < 0.3:
            window.where(image[window.x, window.y] > hl.cast(image.type(), 20))
        data = image[window.x, window.y]
        # Of one element, no others of the array are read: a loop around several statements has no such recurrences.
        along = window.x % extent
        here, elsewhere = choose.choice([(along, along), (place(data), along), (hl.Expr(3), hl.Expr(3))])

        def value(element: hl.Type, own: int) -> hl.Expr:
            read = [hl.cast(element, pair[choose.choice([here, elsewhere])][choose.choice([own, choose.randrange(len(types))])])
                    for _ in range(2)]
            moved = hl.cast(element, data)
            return choose.choice([lambda: read[0] + moved, lambda: hl.max(read[0], moved), lambda: read[1], lambda: moved,
                                  lambda: hl.select(read[0] < moved, read[1], moved), lambda: read[0] - read[1]])()
        pair[here] = tuple(value(element, own) for own, element in enumerate(types))

    updates = choose.randint(1, 2)
    for number in range(updates):
        update(number)
    element = choose.choice(STORED)
    total = hl.cast(element, pair[x % extent][0])
    for number in range(1, len(types)):
        total = total * hl.cast(element, 3) + hl.cast(element, pair[(x + y) % extent][number])
    output[x, y] = total + hl.cast(element, image[x % width, y])
    unrolled = choose.choice([1, 1, 2, 4])

    def schedule() -> None:
        pair.compute_root()
        for number in range(updates):
            # An update that reads no data has no loops.
            if unrolled > 1 and (loops := pair.rvars(number)):
                pair.update(number).unroll(loops[0], unrolled)

    return Pipeline(output, [image], [16, 4], {"input": [(0, width), (0, height)]},
                    {f"unrolled_by_{unrolled}" if unrolled > 1 else "root": schedule})


def coupled(source: Generator) -> Pipeline:
    """A recursive filter, or two, of a tuple: each value follows from all values of the element before."""
    choose = source.choose
    sizes = [choose.choice([8, 16]), choose.choice([6, 12])]
    image = stream_to_accelerator("input", choose.choice(STORED), 2)
    state, output = hl.Func("state"), hl.Func("output")
    # At most 32 bits.
    narrow = [element for element in STORED if element.bits() == 8]
    types = choose.choice([[choose.choice(STORED) for _ in range(2)], [choose.choice(narrow) for _ in range(choose.randint(3, 4))]])
    state[x, y] = tuple(hl.cast(element, choose.choice([image[x, y], image[x + 1, y] + x, hl.Expr(2)])) for element in types)
    updates = choose.randint(1, 2)
    for number in range(updates):
        dimension = choose.randrange(2)
        extent = sizes[dimension]
        r = hl.RDom([(choose.randint(1, 2), extent - 2)], f"r{number}")
        along, before = choose.choice([(r.x, r.x - 1), (extent - 1 - r.x, extent - r.x)])
        at, earlier = ([along, y], [before, y]) if dimension == 0 else ([x, along], [x, before])

        def value(element: hl.Type, at=at, earlier=earlier) -> hl.Expr:
            terms = [hl.cast(element, state[earlier][place]) for place in choose.sample(range(len(types)), 2)]
            total = choose.choice([lambda: terms[0] * hl.cast(element, 3) - terms[1], lambda: hl.max(terms[0], terms[1]) / 2,
                                   lambda: hl.select(terms[0] < terms[1], terms[1] - terms[0], terms[0] / 2)])()
            return total + hl.cast(element, choose.choice([image[at], state[at][choose.randrange(len(types))]]))

        state[at] = tuple(value(element) for element in types)
        update = state.update(number)
        update.unscheduled()
        if choose.random() < 0.5:
            update.reorder(*choose.choice([(x if dimension else y, r.x), (r.x, x if dimension else y)]))
    element = choose.choice(STORED)
    total = hl.cast(element, image[x, y])
    for place in range(len(types)):
        total = total * hl.cast(element, 3) + hl.cast(element, state[x, y][place])
    output[x, y] = total
    schedule = state.compute_root
    box = [(0, size + 2) for size in sizes]
    return Pipeline(output, [image], sizes, {"input": box}, {"root": schedule})
