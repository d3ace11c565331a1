"""Tests of a shell with managers of AXI4, driven by cocotbext-axi. Run by simulate.py.

Where a word of a stream is in memory comes from the C header of the accelerator and the shape of its array: from the number of its element.
All of memory is compared after a run, so that a byte that is written beside an image shows.
"""

import itertools
import logging
import math
import mmap
import os
import random
import re

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiRamRead, AxiRamWrite, AxiReadBus, AxiResp, AxiWriteBus

from bench import FOLDER, LONGEST_MS, PERIOD_NS, SCALE, pauses, test_of
from shell import (ARRAY_PROGRAM, DONE, HEADER, IDLE, KERNEL, READY, RESTART, RUN_CYCLES, START, Registers, constant, declared,
                   element_bytes, register, register_writes, words)

NAME = KERNEL.get("name").rsplit("_axi", 1)[0]
PAGE = 4096
# Bytes of memory, and where they begin in the space of addresses.
MEMORY_BYTES = 1 << 22
MEMORY = 0x7_4000_0000
# Interrupts, and causes of errors.
IS_DONE, IS_READY, IS_ERROR = 1, 2, 4
MISALIGNED, READ, WRITE, DECODE = 1, 2, 4, 8
# Cycles from a read to its data, and the share of the accelerator's words a cycle that remains where the bus has room for all.
LATENCY, LEAST_SHARE = 30, 0.95
# Elements of the shortest line that is by itself, when speed is measured.
LEAST_LINE = 32
KEEPS_UP = os.environ["PUSHMEM_KEEPS_UP"] == "1"
# Transactions of the random test.
TRANSACTIONS = int(os.environ["PUSHMEM_TRANSACTIONS"])
# Beats of the longest burst, and the most bursts that a manager has on their way, as the shell says.
SHELL = (FOLDER / "rtl" / f"{KERNEL.get('name')}.sv").read_text()
BURST_BEATS = int(re.search(r"\.BurstBeats\s*\((\d+)\s*\)", SHELL)[1])
BURSTS = int(re.search(r"\.(?:Reads|Writes)\s*\((\d+)\s*\)", SHELL)[1])


def first_pauses(seed: int):
    """Long pauses at the beginning of a run, and none later."""
    yield from itertools.islice(pauses(seed, 0.98), 3000)
    while True:
        yield False


class Image:
    """An image: the bytes of an element, the elements of its stream, the index of each in the array, and the extents of the loops that
    go through them, the innermost first."""

    def __init__(self, number: int, name: str, output: bool, size: int, shape: list[int], data: bytes, elements: list[int],
                 extents: list[int]):
        self.number, self.name, self.output, self.size, self.shape = number, name, output, size, shape
        self.argument = name.upper()
        self.words = [data[place:place + size] for place in range(0, len(data), size)]
        self.indices = [self.index(element) for element in elements]
        self.extents = extents
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

    def place(self, generator: random.Random, base: int, gaps: int, flips: bool = False, least: int = 0) -> int:
        """Places the image at or after an address, with at most so many elements between lines, which have at least so many; perhaps
        lines run backwards. Returns its end."""
        self.strides, size = [], self.size * self.shape[0]
        for length in self.shape[1:]:
            gap = generator.randrange(gaps + 1) if size >= self.size * least else 0
            self.strides.append(size + self.size * gap)
            size = self.strides[-1] * length
        self.address = base + base % self.size + self.size * generator.randrange(gaps + 1)
        end = self.address + size
        if flips and self.strides:
            self.address += self.strides[-1] * (self.shape[-1] - 1)
            self.strides[-1] = -self.strides[-1]
        return end

    def bursts(self, beat: int) -> list[tuple[int, int]]:
        """The bursts of a run, address and beats of so many bytes: lines of words, cut at multiples of the longest burst."""
        found, runs = [], []
        line = self.line_words()
        for number, address in enumerate(self.addresses()):
            if number % line:
                runs[-1][1] += self.size
            else:
                runs.append([address, address + self.size])
        for begin, end in runs:
            begin -= begin % beat
            while begin < end:
                stop = min(begin - begin % (beat * BURST_BEATS) + beat * BURST_BEATS, end)
                found.append((begin, -(-(stop - begin) // beat)))
                begin = stop
        return found

    def line_words(self) -> int:
        """The words of a line: of the loops up to the first with a gap. Lines that are adjacent by chance are two."""
        addresses, words = list(self.addresses()), 1
        for extent in self.extents:
            if extent > 1 and addresses[words] - addresses[0] != words * self.size:
                break
            words *= extent
        return words

    def addresses(self):
        """The byte address of each word of the stream."""
        for index in self.indices:
            yield self.address + self.size * index[0] + sum(place * stride for place, stride in zip(index[1:], self.strides))


class Lane(Image):
    """A stream at an IO tile of an array: a word of each beat of an image, whose walk the program says."""

    def __init__(self, stream: dict, whole: Image):
        self.stream, self.whole = stream, whole
        elements = [stream_element(stream, whole, beat) for beat in range(stream["beats"])]
        data = b"".join(whole.words[element] for element in elements)
        extents = [stream["sizes"][0] // whole.size, *(last + 1 for last in stream["lasts"])]
        super().__init__(stream["manager"], stream["name"], whole.output, whole.size, whole.shape, data, elements, extents)

    def place(self, generator: random.Random, base: int, gaps: int, flips: bool = False, least: int = 0) -> int:
        """Places the image where its first lane is to be, and the other ones there, too."""
        is_first = self.whole.lanes[0] is self
        end = self.whole.place(generator, base, gaps, flips, least) if is_first else base
        self.address, self.strides = self.whole.address, self.whole.strides
        return end

    def bytes_of(self, steps: list[int]) -> int:
        return self.size * steps[0] + sum(step * stride for step, stride in zip(steps[1:], self.strides))

    def arguments(self) -> dict[str, int]:
        return {f"STRIDE_{level}": self.bytes_of(steps) for level, steps in enumerate(self.stream["steps"], 1)}

    def first_address(self) -> int:
        return self.address + self.bytes_of(self.stream["start"])


def stream_element(stream: dict, whole: Image, beat: int) -> int:
    """The element of an image that a beat of a stream carries: lines of words, and the loops outside of them."""
    words_of_line = stream["sizes"][0] // whole.size
    index = list(stream["start"])
    index[0] += beat % words_of_line
    beat //= words_of_line
    for last, steps in zip(stream["lasts"], stream["steps"]):
        index = [place + beat % (last + 1) * step for place, step in zip(index, steps)]
        beat //= last + 1
    # A line may go through dimensions that have no gaps.
    return sum(place * math.prod(whole.shape[:dimension]) for dimension, place in enumerate(index))


def elements_of_header(name: str) -> tuple[list[int], list[int]]:
    """The number of the element of each word, in the order of a stream, by the header of an accelerator; and the extents of its loops."""
    header = (FOLDER / f"{NAME}.h").read_text()
    text = re.search(rf"{NAME}_{name}_element\(.*?^}}", header, flags=re.MULTILINE | re.DOTALL)[0]
    rows = [[int(value) for value in row.split(",")] for row in re.findall(r"= \{(.*?)\};", text)]
    extents = [int(extent) for extent in re.findall(r"beat % (\d+)u", text)]
    beats = [rows[0]]
    for stride, extent in zip(rows[1:], extents):
        steps = [[step * index for step in stride] for index in range(extent)]
        beats = [[number + step for number, step in zip(lanes, moved)] for moved in steps for lanes in beats]
    return [number for lanes in beats for number in lanes], [len(rows[0]), *extents]


def testbench(name: str, output: bool) -> bytes:
    """The elements of an image in the testbench."""
    return words(FOLDER / "testbench" / f"{name}.{'expected.hex' if output else 'hex'}", element_bytes(name))


def images(dut) -> list[Image]:
    """The images of the managers, in the order of these."""
    if ARRAY_PROGRAM:
        return lanes()
    ports = [port.get("name") for port in KERNEL.findall("ports/port") if port.get("mode") == "master"]
    found = []
    for number, port in enumerate(ports):
        name, output = port.removeprefix("m_axi_"), hasattr(dut, f"{port}_awvalid")
        size, shape = element_bytes(name), declared(name)["shape"]
        found.append(Image(number, name, output, size, shape, testbench(name, output), *elements_of_header(name)))
    return found


def lanes() -> list[Image]:
    """The streams of the program of an array."""
    wholes = []
    for image in ARRAY_PROGRAM["images"]:
        elements = list(range(math.prod(image["shape"])))
        data = testbench(image["name"], image["output"])
        wholes.append(Image(0, image["name"], image["output"], element_bytes(image["name"]), image["shape"], data, elements, []))
    found = []
    for stream in ARRAY_PROGRAM["streams"]:
        whole = wholes[stream["image"]]
        found.append(Lane(stream, whole))
        whole.lanes = [*getattr(whole, "lanes", []), found[-1]]
    return found


class Late:
    """A channel of addresses whose transactions come later, what they were, and what became of them: beats that were moved, bursts that
    were answered, and the most that were on their way."""

    def __init__(self, channel, prefix: str, cycles: int):
        self.channel, self.prefix, self.delay_ns = channel, prefix, cycles * PERIOD_NS
        self.queue, self.bursts = Queue(), []
        self.beats = self.answers = self.most = 0
        self.receive, channel.recv = channel.recv, self.recv
        # The channel takes all that is offered, so that only the shell limits what is on its way.
        channel.queue_occupancy_limit = 256
        cocotb.start_soon(self.pump())

    async def pump(self) -> None:
        while True:
            transaction = await self.receive()
            address, beats = (int(getattr(transaction, f"{self.prefix}{name}")) for name in ["addr", "len"])
            self.bursts.append((address, beats + 1))
            self.most = max(self.most, len(self.bursts) - self.answers)
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
        self.beats = self.answers = self.most = 0


class Bench(Registers):
    """The shell with a manager of its registers and a memory of all images."""

    def __init__(self, dut, latency: int = 0):
        super().__init__(dut)
        logging.getLogger("cocotb").setLevel(logging.WARNING)
        self.images = images(dut)
        self.memory = mmap.mmap(-1, MEMORY_BYTES)
        self.rams, self.late, self.fails, self.lasts = {}, {}, {}, {}
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
        late, send = self.late[image.name], answers.send

        async def answer(transaction):
            error = self.fails.get(image.name, lambda: None)()
            if error is not None:
                setattr(transaction, signal, error)
            late.answers += 1 if image.output else int(transaction.rlast)
            late.beats += 0 if image.output else 1
            if not image.output and self.lasts.get(image.name, lambda: False)():
                transaction.rlast = not transaction.rlast
            await send(transaction)

        answers.send = answer
        if image.output:
            receive = ram.w_channel.recv

            async def take():
                beat = await receive()
                late.beats += 1
                return beat

            ram.w_channel.recv = take

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

    def place(self, seed: int = 0, gaps: int = 0, flips: bool = False, least: int = 0) -> bytes:
        """Places all images, fills memory with random bytes and the inputs: what it contains after a run."""
        generator = random.Random(seed)
        end = MEMORY
        self.memory[:] = generator.randbytes(MEMORY_BYTES)
        for image in self.images:
            end = image.place(generator, end + 8 * generator.randrange(64), gaps, flips, least)
            assert end - MEMORY <= MEMORY_BYTES
            if not image.output:
                for address, word in zip(image.addresses(), image.words):
                    self.memory[address - MEMORY:address - MEMORY + image.size] = word
        expected = bytearray(self.memory)
        for image in self.images:
            if image.output:
                for address, word in zip(image.addresses(), image.words):
                    expected[address - MEMORY:address - MEMORY + image.size] = word
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

    def check_bursts(self, whole: bool = True) -> None:
        """The bursts of a run are those of its images, or after an error the first of them; none crosses a page; each has all its beats
        and one answer, by the end of the run; and no more of them were on their way than the shell has places for."""
        for image in self.images:
            beat, late = self.rams[image.name].byte_lanes, self.late[image.name]
            expected = image.bursts(beat)
            assert late.bursts == (expected if whole else expected[:len(late.bursts)]), f"{image.name}: {late.bursts[:4]} {expected[:4]}"
            for address, beats in late.bursts:
                last = address + beats * beat - 1
                assert address % beat == 0 and address // PAGE == last // PAGE, f"{image.name}: {address:#x} {beats}"
            assert late.beats == sum(beats for _, beats in late.bursts), f"{image.name}: {late.beats} beats"
            assert late.answers == len(late.bursts), f"{image.name}: {late.answers} answers to {len(late.bursts)} bursts"
            ram = self.rams[image.name]
            assert (ram.b_channel if image.output else ram.r_channel).empty(), f"{image.name}: the run was over before its last answer"
            # One more may be at the pins, which the memory takes at once.
            assert late.most <= BURSTS + 1, f"{image.name}: {late.most} bursts were on their way"

    def count_again(self) -> None:
        """Forgets the bursts of the runs before."""
        for image in self.images:
            late = self.late[image.name]
            late.bursts.clear()
            late.beats = late.answers = late.most = 0

    def compare_part(self, before: bytes, expected: bytes) -> None:
        """Memory after a run that was not whole: each byte of an output is as it was before or as it should be, others are as before."""
        for place, (got, old, new) in enumerate(zip(self.memory[:], before, expected)):
            assert got in (old, new), f"memory differs at {MEMORY + place:#x}"

    async def check_speed(self, how: str) -> None:
        """Prints the cycles of a run, and says whether they are enough where the bus has room for all."""
        cycles = await self.read(register("CYCLES"))
        share = RUN_CYCLES / cycles
        print(f"speed, {how}: {RUN_CYCLES} cycles of the accelerator, {cycles} with memory: {100 * share:.1f} %")
        assert share >= LEAST_SHARE or not KEEPS_UP, f"{cycles} cycles for {RUN_CYCLES}"

    def bursts(self) -> int:
        return sum(len(late.bursts) for late in self.late.values())


async def bench(dut, seed: int = 0, share: float = 0.0, latency: int = 0) -> Bench:
    """A bench after its reset, with the configuration."""
    made = Bench(dut, latency)
    made.pause(seed, share)
    await made.reset()
    await made.configure()
    return made


# Simulated time after which a test has failed that still waits; many transactions take longer.
test = test_of(4 * LONGEST_MS)
long_test = test_of(4 * LONGEST_MS + TRANSACTIONS * 2000 * PERIOD_NS * 1e-6)


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
    for _ in range(3 * RUN_CYCLES + 1000):
        if dut.interrupt_o.value:
            break
        await ClockCycles(dut.ap_clk, 10)
    made.compare(expected)
    assert await made.read(register("INTERRUPT_STATUS")) == IS_DONE
    assert await made.read(register("CONTROL")) == DONE | IDLE | READY
    assert await made.read(register("CONTROL")) == IDLE
    await made.write(register("INTERRUPT_STATUS"), IS_DONE)
    assert dut.interrupt_o.value == 0
    assert await made.read(register("ERROR")) == 0
    made.check_bursts()
    await made.check_speed("lines without gaps")
    # Each line by itself, at any place.
    for seed in range(2):
        made.count_again()
        expected = made.place(seed, 7, least=LEAST_LINE)
        await made.arguments()
        assert await made.run() == 0
        made.compare(expected)
        made.check_bursts()
        await made.check_speed("lines with gaps")


@test
async def gaps(dut):
    """Images at any element, gaps between lines, lines that run backwards, pauses on all channels: only words of outputs change."""
    made = await bench(dut)
    for seed in range(SCALE):
        made.pause(10 + seed, [0.3, 0.0, 0.6, 0.1][seed % 4])
        expected = made.place(seed, [7, 200, 1, 0, 3][seed % 5], flips=seed % 3 == 0)
        await made.arguments()
        made.count_again()
        assert await made.run() == 0
        made.compare(expected)
        made.check_bursts()


@long_test
async def transactions(dut):
    """Many bursts, with pauses on all channels, late answers, errors at random answers and resets in the midst of runs: each burst has its
    beats and its answer, and no byte is lost or written where there is none of an output. A whole run follows each that is not."""
    generator = random.Random(7)
    made = await bench(dut, latency=3)
    done, runs, kinds = 0, 0, {"whole": 0, "error": 0, "reset": 0}
    # Each kind comes soon: an error of a reader whose answers are late, a reset, an error of a writer.
    first = ["whole", "error", "reset", "error"]
    while done < TRANSACTIONS or runs < len(first):
        made.pause(200 + runs, generator.choice([0.0, 0.1, 0.4, 0.7]))
        expected = made.place(runs, generator.choice([0, 1, 7, 40]), flips=generator.randrange(4) == 0)
        before = made.memory[:]
        await made.arguments()
        made.count_again()
        kind = first[runs] if runs < len(first) else generator.choice(["whole", "whole", "error", "reset"])
        kinds[kind] += 1
        runs += 1
        if kind == "whole":
            # Answers to writes that wait for long, while no more bursts are on their way than the shell has places for.
            for image in [image for image in made.images if image.output and generator.randrange(3) == 0 or runs == 1]:
                if image.output:
                    made.rams[image.name].b_channel.set_pause_generator(first_pauses(runs))
            assert await made.run() == 0
            made.compare(expected)
            made.check_bursts()
        elif kind == "error":
            image = {2: made.images[0], 4: made.images[-1]}.get(runs) or generator.choice(made.images)
            ram = made.rams[image.name]
            countdown = [generator.randrange(max(len(image.bursts(ram.byte_lanes)) // 2, 1))]
            # Beats on their way when an answer is an error may come after the accelerator is done: the run waits for them.
            is_late = runs == 2 or generator.randrange(2) == 0

            def fail(countdown=countdown, is_late=is_late, channel=ram.b_channel if image.output else ram.r_channel):
                countdown[0] -= 1
                if countdown[0] == -1 and is_late:
                    channel.set_pause_generator(pauses(runs, 0.99))
                return AxiResp.SLVERR if countdown[0] == -1 else None

            made.fails[image.name] = fail
            error = await made.run()
            assert error == (WRITE if image.output else READ), f"{image.name} {error}"
            assert await made.read(register("FAILED_IMAGES")) == 1 << image.number
            made.fails.clear()
            made.check_bursts(whole=False)
            made.compare_part(before, expected)
        else:
            await made.write(register("CONTROL"), START)
            await ClockCycles(dut.ap_clk, generator.randrange(1, RUN_CYCLES))
            done += made.bursts()
            await made.reset()
            made.compare_part(before, expected)
            await made.configure()
        done += made.bursts()
    print(f"{done} transactions in {runs} runs: {kinds}")
    assert all(kinds.values())


@test
async def wrong_ends(dut):
    """A burst that memory ends too early or too late is an error of a read."""
    made = await bench(dut)
    for image in [image for image in made.images if not image.output]:
        for place in [0, 1]:
            made.place(place)
            await made.arguments()
            countdown = [place]

            def flips(countdown=countdown):
                countdown[0] -= 1
                return countdown[0] == -1

            made.lasts[image.name] = flips
            assert await made.run() == READ
            assert await made.read(register("FAILED_IMAGES")) == 1 << image.number
            made.lasts.clear()


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
            beats = -(-image.size * len(image.words) // made.rams[image.name].byte_lanes)
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
    """Odd addresses and strides of words are refused: there is no run, and memory is not touched."""
    made = await bench(dut)
    wide = [image for image in made.images if image.size > 1]
    if not wide:
        return
    await made.write(register("INTERRUPT_ENABLE"), IS_DONE | IS_READY | IS_ERROR)
    for image in wide:
        made.place(image.number, 3)
        for name in ["ADDRESS_LOW", *image.arguments()]:
            await made.arguments()
            address = register(f"{image.argument}_{name}")
            await made.write(address, await made.read(address) | 1)
            assert await made.run() == MISALIGNED
            assert await made.read(register("FAILED_IMAGES")) == 1 << image.number
            assert await made.read(register("INTERRUPT_STATUS")) == IS_DONE | IS_READY | IS_ERROR
            await made.write(register("INTERRUPT_STATUS"), IS_DONE | IS_READY | IS_ERROR)
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
