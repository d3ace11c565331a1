"""Tests of the registers that the shell of an array has more than that of an accelerator: those that load a program. Run by simulate.py.

An array with a global buffer has none for streams.
"""

from cocotbext.axi import AxiResp

from bench import LONGEST_MS, test_of
from shell import ARRAY_PROGRAM, IDLE, START, TOP, Registers, constant, held_writes, register

LOADED, WRONG_DIGEST, REFUSED = 1, 2, 4
USED = 1 << 8
HAS_STREAMS = "streams" in ARRAY_PROGRAM
# The address of the digest, and one at which there is nothing.
DIGEST, NOTHING = 0xffff_0000, 0xfe00_0000


async def bench(dut) -> Registers:
    made = Registers(dut)
    await made.reset()
    return made


async def of_array(made: Registers, address: int, value: int) -> AxiResp:
    """Writes to the configuration of the array: the answer."""
    await made.write(register("ARRAY_ADDRESS"), address)
    return (await made.bus.write(register("ARRAY_DATA"), value.to_bytes(4, "little"))).resp


@test_of(LONGEST_MS)
async def digests(dut):
    """A bitstream of another array is refused, and says so; nothing is written before the right digest came, or after a wrong one."""
    made = await bench(dut)
    status = register("CONFIGURATION_STATUS")
    digest = await made.read(register("ARRAY_DIGEST"))
    assert digest == ARRAY_PROGRAM["digest"]
    assert await made.read(status) == 0
    column = ARRAY_PROGRAM["streams"][0]["column"] << 16 if HAS_STREAMS else 0
    assert await of_array(made, column, 0x7f) == AxiResp.SLVERR
    assert await made.read(status) == REFUSED
    assert await made.read(register("REFUSED_ADDRESS")) == column
    assert await made.read(register("REFUSED_ACCESSES")) == 1
    await made.write(status, REFUSED)
    assert await made.read(status) == 0
    assert await of_array(made, DIGEST, digest ^ 1) == AxiResp.SLVERR
    assert await made.read(status) == WRONG_DIGEST | REFUSED
    await made.write(status, WRONG_DIGEST | REFUSED)
    assert await of_array(made, DIGEST, digest) == AxiResp.OKAY
    assert await made.read(status) == LOADED
    assert await made.read(register("ARRAY_DATA")) == digest
    assert await of_array(made, column, 0x7f) == AxiResp.OKAY
    assert await made.read(register("ARRAY_DATA")) == 0x7f
    # The first address of several is kept.
    assert await of_array(made, NOTHING, 1) == AxiResp.SLVERR
    assert await of_array(made, NOTHING | 4, 1) == AxiResp.SLVERR
    assert await made.read(status) == LOADED | REFUSED
    assert await made.read(register("REFUSED_ADDRESS")) == NOTHING
    assert await of_array(made, DIGEST, digest ^ 1) == AxiResp.SLVERR
    assert await made.read(status) == WRONG_DIGEST | REFUSED
    assert await of_array(made, column, 1) == AxiResp.SLVERR


@test_of(LONGEST_MS)
async def windows(dut):
    """Registers of streams hold what is written; columns that are not there, and addresses with nothing, are refused."""
    made = await bench(dut)
    if not HAS_STREAMS:
        return
    await made.configure()
    for offset, value in held_writes().items():
        assert await made.read(constant("WINDOW_OFFSET") + offset) == value, hex(offset)
    stream = register("IN_0_STREAM")
    before = await made.read(stream)
    # The lowest bit that no field has.
    for wrong in [USED | 0xff, 1 << (9 if TOP.endswith("_axis") else 11)]:
        assert (await made.bus.write(stream, wrong.to_bytes(4, "little"))).resp == AxiResp.SLVERR
        assert await made.read(stream) == before
    for offset in [register("TAIL") + 4, constant("BYTES") - 4]:
        assert (await made.bus.read(offset, 4)).resp == AxiResp.SLVERR, hex(offset)
    assert await made.read(register("CONTROL")) == IDLE


@test_of(LONGEST_MS)
async def without_program(dut):
    """A run without a program has no words, and ends."""
    made = await bench(dut)
    await made.write(register("CONTROL"), START)
    assert await made.is_over() & IDLE
    assert await made.read(register("CYCLES")) < 10
