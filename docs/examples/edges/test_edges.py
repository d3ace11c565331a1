"""Tests of the accelerator alone, by the class that `python -m pushmem_cocotb` writes. `make test` runs them."""

import cocotb
import numpy as np
from edges_tb import Edges


def expected(image: np.ndarray) -> np.ndarray:
    """What edges.yaml says, once more in NumPy."""
    pixels = image.astype(int)
    across = pixels[:-2] + 2 * pixels[1:-1] + pixels[2:]
    down = pixels[:, :-2] + 2 * pixels[:, 1:-1] + pixels[:, 2:]
    return np.minimum(abs(across[:, 2:] - across[:, :-2]) + abs(down[2:] - down[:-2]), 255).astype(np.uint8)


def random_image(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (48, 64), dtype=np.uint8)


@cocotb.test()
async def finds_edges_at_full_speed(dut):
    """Each run gives all words, in as many cycles as the compiler says, but for the start."""
    edges = Edges(dut)
    await edges.start()
    for seed in range(2):
        image = random_image(seed)
        outputs = await edges.run({"camera": image})
        np.testing.assert_array_equal(outputs["edges"], expected(image))
        assert edges.cycles <= Edges.CYCLES + 4, edges.cycles


@cocotb.test()
async def waits_for_both_sides(dut):
    """A camera that pauses, and a reader that is slow, change no word."""
    edges = Edges(dut, pauses=0.4, seed=7)
    await edges.start()
    image = random_image(3)
    outputs = await edges.run({"camera": image})
    np.testing.assert_array_equal(outputs["edges"], expected(image))
    assert edges.cycles > Edges.CYCLES


@cocotb.test()
async def refuses_what_does_not_fit(dut):
    """An array of another shape is an error, not a test that never ends."""
    edges = Edges(dut)
    await edges.start()
    try:
        await edges.run({"camera": np.zeros((48, 63))})
    except ValueError as error:
        assert "not [48, 64]" in str(error)
    else:
        raise AssertionError("an image of 63 columns is taken")
