"""Test of the board: the LEDs show the sum of the edges of each frame. `make test` runs it."""

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from test_edges import expected

FRAMES = 3


def picture(frame: int) -> np.ndarray:
    """The test picture of top.sv."""
    row, column = np.mgrid[0:48, 0:64]
    return np.where(((column - frame) % 64 < 16) & (row >= 16) & (row < 32), 200, 20)


@cocotb.test()
async def shows_the_sum_of_each_frame(dut):
    cocotb.start_soon(Clock(dut.clk_25mhz, 40, unit="ns").start())
    dut.reset_n.value = 0
    for _ in range(5):
        await FallingEdge(dut.clk_25mhz)
    assert dut.led.value == 0
    dut.reset_n.value = 1
    wanted = [int(expected(picture(frame)).sum()) // 256 % 256 for frame in range(FRAMES)]
    assert len(set(wanted)) > 1 and 0 not in wanted
    shown = [0]
    for _ in range((FRAMES + 1) * 64 * 50):
        await FallingEdge(dut.clk_25mhz)
        if dut.led.value != shown[-1]:
            shown.append(int(dut.led.value))
    different = [led for led, before in zip(wanted, [0, *wanted]) if led != before]
    assert shown[1:len(different) + 1] == different, (shown, wanted)
