"""Parts that all tests of buses share: the folder of what is tested, tests that end, and pauses."""

import functools
import os
import random
from pathlib import Path

import cocotb

FOLDER = Path(os.environ["PUSHMEM_FOLDER"])
SCALE = int(os.environ["PUSHMEM_SCALE"])
PERIOD_NS = 10
# Simulated time after which a test that still waits has failed.
LONGEST_MS = 2 * SCALE

# Whether the first failure is enough, and whether there was one.
FIRST_FAILURE = os.environ["PUSHMEM_FIRST_FAILURE"] == "1"
has_failed = False


def test_of(milliseconds: float):
    """A test that ends after so much simulated time; with FIRST_FAILURE it does nothing after one that failed."""
    def decorate(function):
        @functools.wraps(function)
        async def run(dut):
            global has_failed
            if has_failed and FIRST_FAILURE:
                return
            try:
                await function(dut)
            except BaseException:
                has_failed = True
                raise
        return cocotb.test(timeout_time=milliseconds, timeout_unit="ms")(run)
    return decorate


def pauses(seed: int, share: float):
    """Pauses of a channel, at random: in this share of cycles."""
    generator = random.Random(seed)
    while True:
        yield generator.random() < share
