"""Parts that the tests of all shells share: facts from the folder of an accelerator, and accesses to registers through cocotbext-axi."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import cocotb
import yaml
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from bench import FOLDER, PERIOD_NS

KERNEL = ElementTree.parse(FOLDER / "kernel.xml").find("kernel")
TOP = KERNEL.get("name")
HEADER = (FOLDER / f"{TOP}_registers.h").read_text()
# Of an array, the program that it runs.
DESCRIPTION = FOLDER / "program.json"
ARRAY_PROGRAM = json.loads(DESCRIPTION.read_text()) if DESCRIPTION.exists() else None
RUN_CYCLES = ARRAY_PROGRAM["cycles"] if ARRAY_PROGRAM else int(
    re.search(r"RUN_CYCLES (\d+)", (FOLDER / f"{TOP.rsplit('_axi', 1)[0]}.h").read_text())[1])

START, DONE, IDLE, READY, RESTART = 1, 2, 4, 8, 128

# Cycles after which a run is given up. The slowest have bursts of two beats, two on their way, and memory that pauses.
LONGEST_RUN = max(25_000, 20 * RUN_CYCLES)


def constant(name: str) -> int:
    """A constant of the C header."""
    return int(re.search(rf"#define {TOP.upper()}_{name} (\w+?)u?$", HEADER, flags=re.MULTILINE)[1], 0)


def register(name: str) -> int:
    """The address of a register."""
    return constant(f"{name}_OFFSET")


def element_bytes(name: str) -> int:
    """Bytes of an element of an image outside of the hardware, by its type in the program."""
    if ARRAY_PROGRAM:
        kind = next(image["type"] for image in ARRAY_PROGRAM["images"] if image["name"] == name)
    else:
        kind = declared(name)["type"]
    return {"u8": 1, "i8": 1, "u16": 2, "i16": 2}[kind]


def declared(stream: str) -> dict:
    """The array of a stream of an accelerator, as the program declares it: of several streams of one, each has a number in its name."""
    program = yaml.safe_load((FOLDER / "program.yaml").read_text())
    arrays = {**program.get("inputs", {}), **program["outputs"]}
    return arrays.get(stream) or arrays[stream.rsplit("_", 1)[0]]


def words(path: Path, size: int) -> bytes:
    """The bytes of a stream, so many of each word: a beat a line, lane 0 first, the lower byte of a word first."""
    return b"".join(int(word, 16).to_bytes(2, "little")[:size] for word in path.read_text().split())


def register_writes() -> list[tuple[int, int]]:
    """Address and data of the writes that configure the accelerator."""
    path = FOLDER / "configuration" / "writes.hex"
    text = path.read_text() if path.exists() else ""
    lines = [re.sub(r"[#/].*", "", line).split() for line in text.splitlines()]
    return [(int(line[0], 16), int(line[1], 16)) for line in lines if len(line) == 2]


def held_writes() -> dict[int, int]:
    """Those to registers that hold what is written: not the two that lead to the configuration of an array."""
    passed = [register(name) - constant("WINDOW_OFFSET") for name in ["ARRAY_ADDRESS", "ARRAY_DATA"]] if ARRAY_PROGRAM else []
    return {address: value for address, value in register_writes() if address not in passed}


class Registers:
    """The shell with a clock, a reset, and a manager of its registers."""

    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.ap_clk, PERIOD_NS, unit="ns").start())
        bus = AxiLiteBus.from_prefix(dut, "s_axi_control")
        self.bus = AxiLiteMaster(bus, dut.ap_clk, dut.ap_rst_n, reset_active_level=False)

    async def reset(self) -> None:
        self.dut.ap_rst_n.value = 0
        await ClockCycles(self.dut.ap_clk, 5)
        self.forget()
        self.dut.ap_rst_n.value = 1
        await ClockCycles(self.dut.ap_clk, 2)

    def forget(self) -> None:
        """Drops what parts beside the shell still remember under reset."""

    def register_channels(self) -> list:
        write, read = self.bus.write_if, self.bus.read_if
        return [write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel]

    async def read(self, address: int) -> int:
        answer = await self.bus.read(address, 4)
        assert answer.resp == AxiResp.OKAY, f"read of {address:#x}: {answer.resp}"
        return int.from_bytes(answer.data, "little")

    async def write(self, address: int, value: int) -> None:
        answer = await self.bus.write(address, value.to_bytes(4, "little"))
        assert answer.resp == AxiResp.OKAY, f"write of {address:#x}: {answer.resp}"

    async def configure(self) -> None:
        for address, value in register_writes():
            await self.write(constant("WINDOW_OFFSET") + address, value)

    async def is_over(self) -> int:
        """Waits for the end of a run: what the control register said."""
        for _ in range(LONGEST_RUN // 20):
            control = await self.read(register("CONTROL"))
            if control & DONE:
                return control
            await ClockCycles(self.dut.ap_clk, 20)
        raise AssertionError("the run does not end")
