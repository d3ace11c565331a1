"""Test of a class that pushmem_cocotb writes: an accelerator computes what `pushmem run` computed of the same arrays. Run by simulate.py.

PUSHMEM_CLASSES is the folder of the class, with NAME_tb.py and an array NAME.npy for each input and output.
"""

import importlib
import os
from pathlib import Path

import bench
import cocotb
import numpy as np

FOLDER = Path(os.environ["PUSHMEM_CLASSES"])


def accelerator():
    """The class of the accelerator."""
    module = importlib.import_module(next(FOLDER.glob("*_tb.py")).stem)
    return next(value for value in vars(module).values() if isinstance(value, type) and hasattr(value, "CYCLES"))


async def compare(dut, pauses: float) -> None:
    """Two runs, one behind the other, each with all words as expected."""
    own = accelerator()(dut, pauses)
    await own.start()
    images = {name: np.load(FOLDER / f"{name}.npy") for name in own.INPUTS}
    for _ in range(2):
        outputs = await own.run(images)
        assert set(outputs) == set(own.OUTPUTS)
        for name, found in outputs.items():
            expected = np.load(FOLDER / f"{name}.npy")
            assert found.dtype == expected.dtype, (found.dtype, expected.dtype)
            np.testing.assert_array_equal(found, expected)
        assert own.cycles > own.CYCLES if pauses else own.CYCLES - 4 <= own.cycles <= own.CYCLES + 4, own.cycles


@bench.test_of(20)
async def full_speed(dut):
    await compare(dut, 0)


@bench.test_of(20)
async def with_pauses(dut):
    await compare(dut, 0.3)


@bench.test_of(20)
async def refusals(dut):
    """Arrays of another shape, and arrays that are missing, are errors."""
    own = accelerator()(dut)
    await own.start()
    images = {name: np.load(FOLDER / f"{name}.npy") for name in own.INPUTS}
    name, image = next(iter(images.items()))
    for wrong, text in [({**images, name: image[1:]}, "the shape is"), ({}, "there are arrays for []")]:
        try:
            await own.run(wrong)
        except ValueError as error:
            assert text in str(error), error
        else:
            raise AssertionError("what does not fit is taken")
    if own.WRITES:
        try:
            await own.write(0xFFFF_FFFC & (1 << len(dut.config_address_i)) - 1, 0)
        except RuntimeError as error:
            assert "no register" in str(error), error
        else:
            raise AssertionError("a register that is not there is written")
    await cocotb.triggers.FallingEdge(dut.clk_i)
