"""Tests of a shell with AXI4-Stream and AXI4-Lite, driven by cocotbext-axi. Run by simulate.py.

Expected values come from the folder of the accelerator: the words of its streams, the register writes, the C header of the shell.
"""

import random

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiResp, AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from bench import FOLDER, LONGEST_MS, PERIOD_NS, SCALE, pauses, test_of
from shell import (ARRAY_PROGRAM, DONE, IDLE, KERNEL, READY, RESTART, RUN_CYCLES, START, Registers, constant, element_bytes, held_writes,
                   register, register_writes, words)


def word_bytes(stream: str) -> int:
    """Bytes of a word in TDATA: those of its type, and of a word of the array where programs share its streams."""
    return 2 if ARRAY_PROGRAM else element_bytes(stream)


def late_pauses(seed: int):
    """No pause during most of a run, and long ones at its end."""
    for _ in range(RUN_CYCLES * 99 // 100):
        yield False
    yield from pauses(seed, 0.97)


class Bench(Registers):
    """The shell with a manager of its registers, and a source or a sink for each stream."""

    def __init__(self, dut):
        super().__init__(dut)
        clock, reset = dut.ap_clk, dut.ap_rst_n
        self.sources, self.sinks, self.inputs, self.expected = {}, {}, {}, {}
        for port in KERNEL.findall("ports/port"):
            name = port.get("name")
            stream = name.split("_axis_")[-1]
            # The program of an array need not use all streams.
            if not list((FOLDER / "testbench").glob(f"{stream}.*hex")):
                continue
            if port.get("mode") == "read_only":
                self.sources[name] = AxiStreamSource(AxiStreamBus.from_prefix(dut, name), clock, reset, reset_active_level=False)
                self.inputs[name] = words(FOLDER / "testbench" / f"{stream}.hex", word_bytes(stream))
            elif port.get("mode") == "write_only":
                self.sinks[name] = AxiStreamSink(AxiStreamBus.from_prefix(dut, name), clock, reset, reset_active_level=False)
                self.expected[name] = words(FOLDER / "testbench" / f"{stream}.expected.hex", word_bytes(stream))

    def pause(self, seed: int, share: float) -> None:
        """Random pauses on all channels."""
        for number, channel in enumerate([*self.register_channels(), *self.sources.values(), *self.sinks.values()]):
            channel.set_pause_generator(pauses(seed * 100 + number, share))

    async def send(self) -> None:
        for name, source in self.sources.items():
            await source.send(AxiStreamFrame(self.inputs[name]))

    async def receive(self) -> None:
        """The results of a run, each stream a frame."""
        for name, sink in self.sinks.items():
            frame = await with_timeout(sink.recv(), 100 * PERIOD_NS * (len(self.inputs_and_outputs()) + 1000), "ns")
            assert bytes(frame.tdata) == self.expected[name], f"{name}: {len(frame.tdata)} bytes, or others than expected"

    def inputs_and_outputs(self) -> bytes:
        return b"".join([*self.inputs.values(), *self.expected.values()])


async def bench(dut, seed: int = 0, share: float = 0.0) -> Bench:
    """A bench after its reset."""
    made = Bench(dut)
    made.pause(seed, share)
    await made.reset()
    return made


@test_of(LONGEST_MS)
async def registers(dut):
    """Values after reset, and accesses that are refused."""
    made = await bench(dut, 1, 0.3)
    assert await made.read(register("IDENTITY")) == constant("IDENTITY_EXPECTED")
    assert await made.read(register("CONTROL")) == IDLE
    interrupts = ["GLOBAL_INTERRUPT_ENABLE", "INTERRUPT_ENABLE", "INTERRUPT_STATUS"]
    for name in [*interrupts, "CYCLES", "REFUSED_ACCESSES", "MISPLACED_LAST", "INCOMPLETE_BEATS"]:
        assert await made.read(register(name)) == 0, name
    # Read-only registers stay; there is nothing at other addresses; a write of a part of a register does nothing.
    await made.write(register("IDENTITY"), 0)
    assert await made.read(register("IDENTITY")) == constant("IDENTITY_EXPECTED")
    refused = [0x10, 0x7c, 0xfc, 0x100, 0x800]
    for address in refused:
        assert (await made.bus.read(address, 4)).resp == AxiResp.SLVERR, hex(address)
        assert (await made.bus.write(address, bytes(4))).resp == AxiResp.SLVERR, hex(address)
    assert await made.read(register("REFUSED_ACCESSES")) == 1
    await made.write(register("REFUSED_ACCESSES"), 1)
    assert await made.read(register("REFUSED_ACCESSES")) == 0
    assert (await made.bus.write(register("INTERRUPT_ENABLE"), b"\3")).resp == AxiResp.SLVERR
    assert await made.read(register("INTERRUPT_ENABLE")) == 0
    assert await made.read(register("REFUSED_ACCESSES")) == 1


@test_of(LONGEST_MS)
async def random_accesses(dut):
    """Many reads and writes at once, with pauses: each gets its own answer, and the registers hold what was written."""
    made = await bench(dut, 2, 0.4)
    written = held_writes()
    window = constant("WINDOW_OFFSET") if written else 0
    generator = random.Random(3)

    async def writer():
        for _ in range(60 * SCALE):
            address = generator.choice(list(written)) if written else register("INTERRUPT_ENABLE")
            await made.write(window + address, written.get(address, 3))

    async def reader():
        for _ in range(60 * SCALE):
            assert await made.read(register("IDENTITY")) == constant("IDENTITY_EXPECTED")

    tasks = [cocotb.start_soon(task()) for task in [writer, reader, reader]]
    for task in tasks:
        await task
    await made.configure()
    for address, value in written.items():
        assert await made.read(window + address) == value, hex(address)


@test_of(LONGEST_MS)
async def image(dut):
    """A run at full speed: results, their frames, done, ready, the interrupt, and the cycles that it took."""
    made = await bench(dut)
    await made.configure()
    await made.write(register("INTERRUPT_ENABLE"), 1)
    await made.send()
    await made.write(register("CONTROL"), START)
    await made.receive()
    await ClockCycles(dut.ap_clk, 5)
    assert dut.interrupt_o.value == 0
    await made.write(register("GLOBAL_INTERRUPT_ENABLE"), 1)
    assert dut.interrupt_o.value == 1
    assert await made.read(register("INTERRUPT_STATUS")) == 1
    assert await made.read(register("CONTROL")) == DONE | IDLE | READY
    assert await made.read(register("CONTROL")) == IDLE
    await made.write(register("INTERRUPT_STATUS"), 1)
    assert dut.interrupt_o.value == 0
    cycles = await made.read(register("CYCLES"))
    # Words wait for an array before its run begins.
    assert RUN_CYCLES - (20 if ARRAY_PROGRAM else 0) <= cycles <= RUN_CYCLES + 20, f"{cycles} cycles for {RUN_CYCLES}"
    for name in ["REFUSED_ACCESSES", "MISPLACED_LAST", "INCOMPLETE_BEATS"]:
        assert await made.read(register(name)) == 0, name


@test_of(LONGEST_MS)
async def pauses_everywhere(dut):
    """Runs with pauses on all channels."""
    made = await bench(dut)
    await made.configure()
    for seed in range(SCALE):
        made.pause(10 + seed, [0.4, 0.1, 0.7][seed % 3])
        await made.send()
        await made.write(register("CONTROL"), START)
        await made.receive()
        assert await made.is_over() & IDLE
        assert await made.read(register("MISPLACED_LAST")) == 0


@test_of(LONGEST_MS)
async def done_after_results(dut):
    """A run is over when its last results were taken, however late that is."""
    made = await bench(dut)
    await made.configure()
    await made.send()
    for number, sink in enumerate(made.sinks.values()):
        sink.set_pause_generator(late_pauses(number))
    await made.write(register("CONTROL"), START)
    while not await made.read(register("CONTROL")) & DONE:
        pass
    assert not any(sink.empty() for sink in made.sinks.values()), "done before the last results were taken"
    await made.receive()


@test_of(LONGEST_MS)
async def restarts(dut):
    """Three runs after one write, of which the last is told to be the last."""
    made = await bench(dut, 4, 0.1)
    await made.configure()
    await made.write(register("CONTROL"), START | RESTART)
    for _ in range(3):
        await made.send()
    for _ in range(2):
        await made.receive()
    await made.write(register("CONTROL"), 0)
    await made.receive()
    await ClockCycles(dut.ap_clk, 50)
    assert await made.read(register("CONTROL")) & (START | IDLE) == IDLE


@test_of(LONGEST_MS)
async def start_while_busy(dut):
    """A start within a run changes nothing, and the configuration is closed."""
    made = await bench(dut, 5, 0.0)
    await made.configure()
    await made.write(register("CONTROL"), START)
    await made.send()
    await made.write(register("CONTROL"), START)
    for address, value in register_writes()[:2]:
        assert (await made.bus.write(constant("WINDOW_OFFSET") + address, (value ^ 1).to_bytes(4, "little"))).resp == AxiResp.SLVERR
        assert (await made.bus.read(constant("WINDOW_OFFSET") + address, 4)).resp == AxiResp.SLVERR
    assert await made.read(register("CONTROL")) == START
    await made.receive()
    assert await made.is_over() & (START | IDLE) == IDLE
    await made.send()
    await ClockCycles(dut.ap_clk, 200)
    assert all(sink.empty() for sink in made.sinks.values()), "a second run was started"


@test_of(LONGEST_MS)
async def reset_in_flight(dut):
    """A reset drops a run, wherever it is; after it, the next one is right."""
    generator = random.Random(6)
    made = await bench(dut, 20, 0.2)
    for _ in range(3 * SCALE):
        await made.configure()
        await made.send()
        await made.write(register("CONTROL"), START)
        cocotb.start_soon(made.bus.read(register("CONTROL"), 4))
        await ClockCycles(dut.ap_clk, generator.randrange(1, len(made.inputs_and_outputs()) // 4))
        await made.reset()
        for each in [*made.sources.values(), *made.sinks.values()]:
            each.clear()
        assert await made.read(register("CONTROL")) == IDLE
        await made.configure()
        await made.send()
        await made.write(register("CONTROL"), START)
        await made.receive()


@test_of(LONGEST_MS)
async def wrong_frames(dut):
    """Frames that are cut, and beats without all bytes, are reported for their stream; results are not touched."""
    made = await bench(dut, 7, 0.2)
    await made.configure()
    for number, (name, source) in enumerate(made.sources.items()):
        await made.write(register("CONTROL"), START)
        for other, each in made.sources.items():
            data = made.inputs[other]
            if other != name:
                await each.send(AxiStreamFrame(data))
                continue
            beat = len(source.bus.tkeep)
            await each.send(AxiStreamFrame(data[:beat]))
            await each.send(AxiStreamFrame(data[beat:]))
        await made.receive()
        await made.is_over()
        assert await made.read(register("MISPLACED_LAST")) == 1 << number
        await made.write(register("MISPLACED_LAST"), 1 << number)
        assert await made.read(register("MISPLACED_LAST")) == 0
        assert await made.read(register("INCOMPLETE_BEATS")) == 0
        keep = [1] * len(made.inputs[name])
        keep[0] = 0
        await made.write(register("CONTROL"), START)
        for other, each in made.sources.items():
            await each.send(AxiStreamFrame(made.inputs[other], tkeep=keep if other == name else None))
        await RisingEdge(dut.ap_clk)
        for sink in made.sinks.values():
            await sink.recv()
        await made.is_over()
        assert await made.read(register("INCOMPLETE_BEATS")) == 1 << number
        await made.write(register("INCOMPLETE_BEATS"), 1 << number)
        assert await made.read(register("MISPLACED_LAST")) == 0
