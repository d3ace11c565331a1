"""Tests of a shell with managers of AXI4, driven by cocotbext-axi. Run by simulate.py.

Where a word of a stream is in memory comes from the C header of the accelerator and the shape of its array: from the number of its element.
All of memory is compared after a run, so that a byte that is written beside an image shows.
"""

import logging
import math
import mmap
import random
import re

import cocotb
import yaml
from cocotb.queue import Queue
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiRamRead, AxiRamWrite, AxiReadBus, AxiResp, AxiWriteBus

from shell import (ARRAY_PROGRAM, DONE, FOLDER, HEADER, IDLE, KERNEL, LONGEST_MS, PERIOD_NS, READY, RESTART, RUN_CYCLES, SCALE, START,
                   Registers, constant, pauses, register, register_writes, words)

NAME = KERNEL.get("name").rsplit("_axi", 1)[0]
PAGE = 4096
# Bytes of memory, and where they begin in the space of addresses.
MEMORY_BYTES = 1 << 20
MEMORY = 0x7_4000_0000
# Interrupts, and causes of errors.
IS_DONE, IS_READY, IS_ERROR = 1, 2, 4
MISALIGNED, READ, WRITE, DECODE = 1, 2, 4, 8
# Cycles from a read to its data, and the share of the accelerator's words a cycle that remains.
LATENCY, LEAST_SHARE = 30, 0.95


class Image:
    """An image: the words of its stream, and the index of each in the array."""

    def __init__(self, number: int, name: str, output: bool, shape: list[int], data: bytes, elements: list[int]):
        self.number, self.name, self.output, self.shape = number, name, output, shape
        self.argument = name.upper()
        self.words = [data[place:place + 2] for place in range(0, len(data), 2)]
        self.indices = [self.index(element) for element in elements]
        # Where it is: set for each run.
        self.address, self.strides = 0, []

    def index(self, number: int) -> list[int]:
        index = []
        for size in self.shape:
            index.append(number % size)
            number //= size
        return index

    def arguments(self) -> dict[str, int]:
        """The arguments of a run by their names, without the address."""
        return {f"STRIDE_{dimension}": stride for dimension, stride in enumerate(self.strides, 1)}

    def first_address(self) -> int:
        """The address that is an argument."""
        return self.address

    def place(self, generator: random.Random, base: int, gaps: int, flips: bool = False) -> int:
        """Places the image at or after an address, with at most so many words between lines; perhaps lines run backwards. Returns its
        end."""
        self.strides, size = [], 2 * self.shape[0]
        for length in self.shape[1:]:
            self.strides.append(size + 2 * generator.randrange(gaps + 1))
            size = self.strides[-1] * length
        self.address = base + 2 * generator.randrange(gaps + 1)
        end = self.address + size
        if flips and self.strides:
            self.address += self.strides[-1] * (self.shape[-1] - 1)
            self.strides[-1] = -self.strides[-1]
        return end

    def addresses(self):
        """The byte address of each word of the stream."""
        for index in self.indices:
            yield self.address + 2 * index[0] + sum(place * stride for place, stride in zip(index[1:], self.strides))


class Lane(Image):
    """A stream at an IO tile of an array: a word of each beat of an image, whose walk the program says."""

    def __init__(self, stream: dict, whole: Image):
        self.stream, self.whole = stream, whole
        elements = [stream_element(stream, whole.shape, beat) for beat in range(stream["beats"])]
        data = b"".join(whole.words[element] for element in elements)
        super().__init__(stream["manager"], stream["name"], whole.output, whole.shape, data, elements)

    def place(self, generator: random.Random, base: int, gaps: int, flips: bool = False) -> int:
        """Places the image where its first lane is to be, and the other ones there, too."""
        is_first = self.whole.lanes[0] is self
        end = self.whole.place(generator, base, gaps, flips) if is_first else base
        self.address, self.strides = self.whole.address, self.whole.strides
        return end

    def bytes_of(self, steps: list[int]) -> int:
        return 2 * steps[0] + sum(step * stride for step, stride in zip(steps[1:], self.strides))

    def arguments(self) -> dict[str, int]:
        return {f"STRIDE_{level}": self.bytes_of(steps) for level, steps in enumerate(self.stream["steps"], 1)}

    def first_address(self) -> int:
        return self.address + self.bytes_of(self.stream["start"])


def stream_element(stream: dict, shape: list[int], beat: int) -> int:
    """The element of an image that a beat of a stream carries: lines of words, and the loops outside of them."""
    words_of_line = stream["sizes"][0] // 2
    index = list(stream["start"])
    index[0] += beat % words_of_line
    beat //= words_of_line
    for last, steps in zip(stream["lasts"], stream["steps"]):
        index = [place + beat % (last + 1) * step for place, step in zip(index, steps)]
        beat //= last + 1
    # A line may go through dimensions that have no gaps.
    return sum(place * math.prod(shape[:dimension]) for dimension, place in enumerate(index))


def elements_of_header(name: str) -> list[int]:
    """The number of the element of each word, in the order of a stream, by the header of an accelerator."""
    header = (FOLDER / f"{NAME}.h").read_text()
    text = re.search(rf"{NAME}_{name}_element\(.*?^}}", header, flags=re.MULTILINE | re.DOTALL)[0]
    rows = [[int(value) for value in row.split(",")] for row in re.findall(r"= \{(.*?)\};", text)]
    extents = [int(extent) for extent in re.findall(r"beat % (\d+)u", text)]
    beats = [rows[0]]
    for stride, extent in zip(rows[1:], extents):
        steps = [[step * index for step in stride] for index in range(extent)]
        beats = [[number + step for number, step in zip(lanes, moved)] for moved in steps for lanes in beats]
    return [number for lanes in beats for number in lanes]


def testbench(name: str, output: bool) -> bytes:
    """The words of an image in the testbench."""
    return words(FOLDER / "testbench" / f"{name}.{'expected.hex' if output else 'hex'}")


def images(dut) -> list[Image]:
    """The images of the managers, in the order of these."""
    if ARRAY_PROGRAM:
        return lanes()
    program = yaml.safe_load((FOLDER / "program.yaml").read_text())
    shapes = {name: array["shape"] for name, array in {**program.get("inputs", {}), **program["outputs"]}.items()}
    ports = [port.get("name") for port in KERNEL.findall("ports/port") if port.get("mode") == "master"]
    found = []
    for number, port in enumerate(ports):
        name, output = port.removeprefix("m_axi_"), hasattr(dut, f"{port}_awvalid")
        found.append(Image(number, name, output, shapes[name], testbench(name, output), elements_of_header(name)))
    return found


def lanes() -> list[Image]:
    """The streams of the program of an array."""
    wholes = []
    for image in ARRAY_PROGRAM["images"]:
        elements = list(range(math.prod(image["shape"])))
        data = testbench(image["name"], image["output"])
        wholes.append(Image(0, image["name"], image["output"], image["shape"], data, elements))
    found = []
    for stream in ARRAY_PROGRAM["streams"]:
        whole = wholes[stream["image"]]
        found.append(Lane(stream, whole))
        whole.lanes = [*getattr(whole, "lanes", []), found[-1]]
    return found


class Late:
    """A channel of addresses whose transactions come later, and what they were."""

    def __init__(self, channel, prefix: str, cycles: int):
        self.channel, self.prefix, self.delay_ns = channel, prefix, cycles * PERIOD_NS
        self.queue, self.bursts = Queue(), []
        self.receive, channel.recv = channel.recv, self.recv
        # The channel takes all that is offered, so that only the shell limits what is on its way.
        channel.queue_occupancy_limit = 256
        cocotb.start_soon(self.pump())

    async def pump(self) -> None:
        while True:
            transaction = await self.receive()
            address, beats = (int(getattr(transaction, f"{self.prefix}{name}")) for name in ["addr", "len"])
            self.bursts.append((address, beats + 1))
            self.queue.put_nowait((get_sim_time("ns"), transaction))

    async def recv(self):
        time, transaction = await self.queue.get()
        left = time + self.delay_ns - get_sim_time("ns")
        if left > 0:
            await ClockCycles(self.channel.clock, int(left // PERIOD_NS))
        return transaction

    def clear(self) -> None:
        while not self.queue.empty():
            self.queue.get_nowait()
        self.bursts.clear()


class Bench(Registers):
    """The shell with a manager of its registers and a memory of all images."""

    def __init__(self, dut, latency: int = 0):
        super().__init__(dut)
        logging.getLogger("cocotb").setLevel(logging.WARNING)
        self.images = images(dut)
        self.memory = mmap.mmap(-1, MEMORY_BYTES)
        self.rams, self.late, self.fails = {}, {}, {}
        for image in self.images:
            self.connect(image, latency)

    def connect(self, image: Image, latency: int) -> None:
        """A memory for the manager of an image, which all managers share."""
        kind, bus = (AxiRamWrite, AxiWriteBus) if image.output else (AxiRamRead, AxiReadBus)
        prefix = f"m_axi_{image.name}"
        ram = kind(bus.from_prefix(self.dut, prefix), self.dut.ap_clk, self.dut.ap_rst_n, reset_active_level=False, size=MEMORY_BYTES,
                   mem=self.memory)
        self.rams[image.name] = ram
        self.late[image.name] = Late(ram.aw_channel if image.output else ram.ar_channel, "aw" if image.output else "ar", latency)
        answers, signal = (ram.b_channel, "bresp") if image.output else (ram.r_channel, "rresp")
        send = answers.send

        async def answer(transaction):
            error = self.fails.get(image.name, lambda: None)()
            if error is not None:
                setattr(transaction, signal, error)
            await send(transaction)

        answers.send = answer

    def pause(self, seed: int, share: float) -> None:
        """Random pauses on all channels."""
        channels = self.register_channels()
        for ram in self.rams.values():
            names = ["aw_channel", "w_channel", "b_channel"] if isinstance(ram, AxiRamWrite) else ["ar_channel", "r_channel"]
            channels += [getattr(ram, name) for name in names]
        for number, channel in enumerate(channels):
            channel.set_pause_generator(pauses(seed * 100 + number, share))

    def forget(self) -> None:
        for late in self.late.values():
            late.clear()

    def place(self, seed: int = 0, gaps: int = 0, flips: bool = False) -> bytes:
        """Places all images, fills memory with random bytes and the inputs: what it contains after a run."""
        generator = random.Random(seed)
        end = MEMORY
        self.memory[:] = generator.randbytes(MEMORY_BYTES)
        for image in self.images:
            end = image.place(generator, end + 8 * generator.randrange(64), gaps, flips)
            assert end - MEMORY <= MEMORY_BYTES
            if not image.output:
                for address, word in zip(image.addresses(), image.words):
                    self.memory[address - MEMORY:address - MEMORY + 2] = word
        expected = bytearray(self.memory)
        for image in self.images:
            if image.output:
                for address, word in zip(image.addresses(), image.words):
                    expected[address - MEMORY:address - MEMORY + 2] = word
        return bytes(expected)

    async def arguments(self) -> None:
        """Writes the arguments of all images."""
        for image in self.images:
            await self.write(register(f"{image.argument}_ADDRESS_LOW"), image.first_address() & 0xffff_ffff)
            await self.write(register(f"{image.argument}_ADDRESS_HIGH"), image.first_address() >> 32)
            for name, value in image.arguments().items():
                await self.write(register(f"{image.argument}_{name}"), value & 0xffff_ffff)

    async def run(self) -> int:
        """A run: what ERROR says."""
        await self.write(register("CONTROL"), START)
        assert await self.is_over() & IDLE
        return await self.read(register("ERROR"))

    def compare(self, expected: bytes) -> None:
        """Memory after a run without errors."""
        if self.memory[:] != expected:
            place = next(place for place, (got, wanted) in enumerate(zip(self.memory[:], expected)) if got != wanted)
            raise AssertionError(f"memory differs at {MEMORY + place:#x}: " + ", ".join(f"{i.name} {i.address:#x}" for i in self.images))

    def check_bursts(self) -> None:
        """No burst crosses a page, and each is of whole beats."""
        for image in self.images:
            beat = self.rams[image.name].byte_lanes
            for address, beats in self.late[image.name].bursts:
                last = address + beats * beat - 1
                assert address % beat == 0 and address // PAGE == last // PAGE, f"{image.name}: {address:#x} {beats}"

    def keeps_up(self, image: Image) -> bool:
        """Whether memory has the beats of an image in time: two bursts cover its latency, and one is a small part of the image."""
        beat = self.rams[image.name].byte_lanes
        longest = max(beats for _, beats in self.late[image.name].bursts)
        beats = -(-2 * len(image.words) // beat)
        return 2 * longest >= LATENCY and 32 * longest <= beats and 10 * beats <= 9 * RUN_CYCLES

    def bursts(self) -> int:
        return sum(len(late.bursts) for late in self.late.values())


async def bench(dut, seed: int = 0, share: float = 0.0, latency: int = 0) -> Bench:
    """A bench after its reset, with the configuration."""
    made = Bench(dut, latency)
    made.pause(seed, share)
    await made.reset()
    await made.configure()
    return made


def test(function):
    return cocotb.test(timeout_time=4 * LONGEST_MS, timeout_unit="ms")(function)


@test
async def registers(dut):
    """Values after reset, arguments that hold what is written, and accesses that are refused."""
    made = await bench(dut, 1, 0.3)
    assert await made.read(register("IDENTITY")) == constant("IDENTITY_EXPECTED")
    assert await made.read(register("CONTROL")) == IDLE
    for name in ["GLOBAL_INTERRUPT_ENABLE", "INTERRUPT_ENABLE", "INTERRUPT_STATUS", "CYCLES", "REFUSED_ACCESSES", "ERROR", "FAILED_IMAGES"]:
        assert await made.read(register(name)) == 0, name
    made.place(2, 5)
    offsets = [int(offset, 16) for offset in re.findall(r"_OFFSET 0x(\w+)u", HEADER)]
    last = max(offset for offset in offsets if offset < register("IDENTITY"))
    held = {}
    for address in range(0x10, last + 4, 4):
        assert await made.read(address) == 0
        held[address] = 0x0101_0101 * (address & 0xff) ^ 0x8000_0003
        await made.write(address, held[address])
    for address, value in held.items():
        assert await made.read(address) == value
    for address in [last + 4, register("IDENTITY") - 4, register("FAILED_IMAGES") + 4]:
        assert (await made.bus.read(address, 4)).resp == AxiResp.SLVERR, hex(address)
        assert (await made.bus.write(address, bytes(4))).resp == AxiResp.SLVERR, hex(address)
    await made.write(register("ERROR"), 0xf)
    assert await made.read(register("ERROR")) == 0


@test
async def image(dut):
    """A run without gaps and pauses: memory, done, ready, the interrupt, and the cycles with the latency of a memory."""
    made = await bench(dut, latency=LATENCY)
    expected = made.place()
    await made.arguments()
    await made.write(register("INTERRUPT_ENABLE"), IS_DONE | IS_ERROR)
    await made.write(register("GLOBAL_INTERRUPT_ENABLE"), 1)
    await made.write(register("CONTROL"), START)
    while not dut.interrupt_o.value:
        await ClockCycles(dut.ap_clk, 10)
    made.compare(expected)
    assert await made.read(register("INTERRUPT_STATUS")) == IS_DONE
    assert await made.read(register("CONTROL")) == DONE | IDLE | READY
    assert await made.read(register("CONTROL")) == IDLE
    await made.write(register("INTERRUPT_STATUS"), IS_DONE)
    assert dut.interrupt_o.value == 0
    assert await made.read(register("ERROR")) == 0
    made.check_bursts()
    cycles = await made.read(register("CYCLES"))
    share = RUN_CYCLES / cycles
    dut._log.warning(f"{RUN_CYCLES} cycles of the accelerator, {cycles} with memory: {100 * share:.1f} %")
    if all(made.keeps_up(image) for image in made.images):
        assert share >= LEAST_SHARE, f"{cycles} cycles for {RUN_CYCLES}"


@test
async def gaps(dut):
    """Images at any word, gaps between lines, lines that run backwards, pauses on all channels: only words of outputs change."""
    made = await bench(dut)
    for seed in range(SCALE):
        made.pause(10 + seed, [0.3, 0.0, 0.6, 0.1][seed % 4])
        expected = made.place(seed, [7, 200, 1, 0, 3][seed % 5], flips=seed % 3 == 0)
        await made.arguments()
        assert await made.run() == 0
        made.compare(expected)
        made.check_bursts()


@test
async def errors(dut):
    """An answer with an error ends the run with a cause; nothing is written after it; the next run is right."""
    made = await bench(dut)
    generator = random.Random(5)
    await made.write(register("INTERRUPT_ENABLE"), IS_DONE | IS_ERROR)
    for seed in range(SCALE):
        for image in made.images:
            made.pause(30 + seed, 0.2)
            error = AxiResp.DECERR if (seed + image.number) % 2 else AxiResp.SLVERR
            expected = made.place(seed, 3)
            await made.arguments()
            beats = -(-2 * len(image.words) // made.rams[image.name].byte_lanes)
            answers = max(beats // (64 if image.output else 2), 1)
            countdown = [generator.randrange(answers)]

            def fail(countdown=countdown, error=error):
                countdown[0] -= 1
                return error if countdown[0] == -1 else None

            made.fails[image.name] = fail
            cause = (WRITE if image.output else READ) | (DECODE if error == AxiResp.DECERR else 0)
            assert await made.run() == cause, f"{image.name} {answers}"
            assert await made.read(register("FAILED_IMAGES")) == 1 << image.number
            assert await made.read(register("INTERRUPT_STATUS")) == IS_DONE | IS_ERROR
            await made.write(register("INTERRUPT_STATUS"), IS_DONE | IS_ERROR)
            made.fails.clear()
            asked = made.bursts()
            await ClockCycles(dut.ap_clk, 50)
            assert made.bursts() == asked
            assert await made.run() == 0
            made.compare(expected)
            assert await made.read(register("FAILED_IMAGES")) == 0
            assert await made.read(register("INTERRUPT_STATUS")) == IS_DONE
            await made.write(register("INTERRUPT_STATUS"), IS_DONE)


@test
async def misaligned(dut):
    """Odd addresses and strides are refused: there is no run, and memory is not touched."""
    made = await bench(dut)
    await made.write(register("INTERRUPT_ENABLE"), IS_DONE | IS_ERROR)
    for image in made.images:
        made.place(image.number, 3)
        for name in ["ADDRESS_LOW", *image.arguments()]:
            await made.arguments()
            address = register(f"{image.argument}_{name}")
            await made.write(address, await made.read(address) | 1)
            assert await made.run() == MISALIGNED
            assert await made.read(register("FAILED_IMAGES")) == 1 << image.number
            assert await made.read(register("INTERRUPT_STATUS")) == IS_DONE | IS_ERROR
            await made.write(register("INTERRUPT_STATUS"), IS_DONE | IS_ERROR)
    # A restart does not insist.
    await made.write(register("CONTROL"), START | RESTART)
    await made.is_over()
    await ClockCycles(dut.ap_clk, 50)
    assert await made.read(register("CONTROL")) & (START | IDLE) == IDLE and made.bursts() == 0


@test
async def next_arguments(dut):
    """Arguments of the next run may be written while one goes on, which a start then does not disturb."""
    made = await bench(dut, 6, 0.1)
    expected = made.place(1, 5)
    await made.arguments()
    await made.write(register("CONTROL"), START)
    places = [(image.address, image.strides) for image in made.images]
    for image in made.images:
        image.address += 2 * 5000
    await made.arguments()
    await made.write(register("CONTROL"), START)
    for address, value in register_writes()[:2]:
        assert (await made.bus.write(constant("WINDOW_OFFSET") + address, (value ^ 1).to_bytes(4, "little"))).resp == AxiResp.SLVERR
    assert await made.read(register("CONTROL")) == START
    assert await made.is_over() & (START | IDLE) == IDLE
    made.compare(expected)
    await ClockCycles(dut.ap_clk, 200)
    asked = made.bursts()
    assert await made.run() == 0 and made.bursts() > asked
    for image, (address, _) in zip(made.images, places):
        assert any(burst >= address + 5000 for burst, _ in made.late[image.name].bursts)


@test
async def restarts(dut):
    """Runs that follow one another until they are told not to, or one fails."""
    made = await bench(dut)
    expected = made.place(3)
    await made.arguments()
    await made.write(register("CONTROL"), START | RESTART)
    await made.is_over()
    assert not await made.read(register("CONTROL")) & IDLE
    first = made.images[0].name
    made.fails[first] = lambda: AxiResp.SLVERR
    for _ in range(4 * RUN_CYCLES // 100):
        if await made.read(register("CONTROL")) & IDLE:
            break
        await ClockCycles(dut.ap_clk, 100)
    await ClockCycles(dut.ap_clk, 50)
    assert await made.read(register("CONTROL")) & (START | IDLE) == IDLE
    assert await made.read(register("ERROR")) != 0
    made.compare(expected)


@test
async def reset_in_flight(dut):
    """A reset of shell and memory drops a run, wherever it is; after it, the next one is right."""
    generator = random.Random(6)
    made = await bench(dut, 20, 0.2)
    for seed in range(SCALE):
        expected = made.place(seed, 4)
        await made.arguments()
        await made.write(register("CONTROL"), START)
        cocotb.start_soon(made.bus.read(register("CONTROL"), 4))
        await ClockCycles(dut.ap_clk, generator.randrange(1, RUN_CYCLES))
        await made.reset()
        assert await made.read(register("CONTROL")) == IDLE
        assert await made.read(register("ERROR")) == 0
        await made.configure()
        await made.arguments()
        assert await made.run() == 0
        made.compare(expected)
