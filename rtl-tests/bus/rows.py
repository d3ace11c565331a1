"""Tests of the shell of an array with its global buffer, driven by cocotbext-axi. Run by simulate.py.

Expected values come from the folder of the program: the rows of its images, the rows of its bitstream in the banks, the C headers. Bursts
are computed here by the formulas of the AXI specification, beat by beat.
"""

import os
import random
import re
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiBurstType, AxiBus, AxiMaster, AxiResp
from cocotbext.axi.axi_channels import AxiARSource, AxiAWSource, AxiBSink, AxiRSink, AxiWSource

from bench import FOLDER, LONGEST_MS, PERIOD_NS, pauses, test_of
from shell import ARRAY_PROGRAM, DONE, IDLE, READY, RUN_CYCLES, START, Registers, constant, register

TRANSACTIONS = int(os.environ["PUSHMEM_TRANSACTIONS"])
KEEPS_UP = os.environ["PUSHMEM_KEEPS_UP"] == "1"
QUEUED = 16
LOADING = 8
ROW = 8
# Bits of an identifier.
IDS = 1 << 8
# Cycles of a run in which there is time for some accesses.
LONG_RUN = 1000

BANKS_HEADER = (FOLDER / "global_buffer" / "registers.h").read_text()
ARRAY = ARRAY_PROGRAM["array"].upper()


def of_banks(name: str) -> int:
    """A number of the header of the banks."""
    return int(re.search(rf"#define {ARRAY}_{name} (\w+?)u?$", BANKS_HEADER, flags=re.MULTILINE)[1], 0)


BANKS, BANK_BYTES = of_banks("BANKS"), of_banks("BANK_BYTES")
HALF = BANK_BYTES // 2
TOTAL = BANKS * BANK_BYTES
ALL_BANKS = int(re.search(r"ALL_BANKS_ADDRESS\(number\) \((\w+?)u", BANKS_HEADER)[1], 0)
BYTES_OF_WORD = 2


def hexadecimal(path) -> list[list[int]]:
    """The numbers of each line of a file."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("//")]
    return [[int(word, 16) for word in line.split()] for line in lines]


def rows_of(name: str) -> dict[int, tuple[bytes, bytes]]:
    """Rows of images in half 0 by their addresses: the bytes, and which of them count."""
    found = {}
    for address, words, row in hexadecimal(FOLDER / "testbench" / name):
        mask = b"".join((b"\xff" if words >> word & 1 else b"\0") * BYTES_OF_WORD for word in range(ROW // BYTES_OF_WORD))
        found[address] = (row.to_bytes(ROW, "little"), mask)
    return found


LOADED, STORED = rows_of("loaded.hex"), rows_of("stored.expected.hex")
BITSTREAM_ROWS = dict(hexadecimal(next(FOLDER.glob("*_banks.hex"))))
BITSTREAM = hexadecimal(FOLDER / f"{ARRAY_PROGRAM['program']}.hex")
# The writes that clear the array, before those of tiles.
FIRST = 2


def blocks(rows) -> list[tuple[int, int]]:
    """Addresses that follow each other: the first one and the bytes of each block."""
    found = []
    for address in sorted(rows):
        if found and sum(found[-1]) == address:
            found[-1] = (found[-1][0], found[-1][1] + ROW)
        else:
            found.append((address, ROW))
    return found


class Bench(Registers):
    """The shell with a manager of its registers and one of its rows."""

    def __init__(self, dut):
        super().__init__(dut)
        self.rows = AxiMaster(AxiBus.from_prefix(dut, "s_axi_buffer"), dut.ap_clk, dut.ap_rst_n, reset_active_level=False)
        self.next_half = 0

    def forget(self) -> None:
        self.next_half = 0

    def pause(self, seed: int, share: float) -> None:
        """Random pauses on all channels."""
        write, read = self.rows.write_if, self.rows.read_if
        channels = [*self.register_channels(), write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel]
        for number, channel in enumerate(channels):
            channel.set_pause_generator(pauses(seed * 100 + number, share))

    async def store(self, address: int, data: bytes, answer: AxiResp = AxiResp.OKAY) -> None:
        assert (await self.rows.write(address, data)).resp == answer, hex(address)

    async def load(self, address: int, size: int, answer: AxiResp = AxiResp.OKAY) -> bytes:
        found = await self.rows.read(address, size)
        assert found.resp == answer, hex(address)
        return found.data

    async def bitstream_access(self, address: int, value: int | None = None) -> int:
        """An access to the configuration of the array."""
        await self.write(register("ARRAY_ADDRESS"), address)
        if value is None:
            return await self.read(register("ARRAY_DATA"))
        await self.write(register("ARRAY_DATA"), value)
        return value

    async def store_bitstream(self, half: int = 1) -> None:
        for address, row in BITSTREAM_ROWS.items():
            await self.store(address % BANK_BYTES % HALF + address // BANK_BYTES * BANK_BYTES + half * HALF, row.to_bytes(ROW, "little"))

    async def begin_load(self, half: int = 1) -> None:
        """Clears the array and has the banks load the bitstream from row 0 of a half."""
        for address, value in BITSTREAM[:FIRST]:
            await self.bitstream_access(address, value)
        await self.write(register("TAIL"), ARRAY_PROGRAM["tail"])
        await self.bitstream_access(ALL_BANKS + of_banks("BANK_CONFIGURATION_NUMBER"), half * HALF // ROW)

    async def loaded(self) -> int:
        """Waits for the banks: the status of the bitstream."""
        while await self.read(register("CONFIGURATION_STATUS")) & LOADING:
            pass
        return await self.bitstream_access(ALL_BANKS + of_banks("BANK_CONFIGURATION_STATUS_NUMBER"))

    async def write_image(self, half: int, image: dict[int, bytes]) -> None:
        for first, size in blocks(image):
            await self.store(first + half * HALF, b"".join(image[first + place] for place in range(0, size, ROW)))

    async def read_results(self, half: int) -> dict[int, bytes]:
        """The rows that banks have stored; bytes that no bank stored are 0."""
        found = {}
        for first, size in blocks(STORED):
            data = await self.load(first + half * HALF, size)
            for place in range(0, size, ROW):
                mask = STORED[first + place][1]
                found[first + place] = bytes(byte & kept for byte, kept in zip(data[place:place + ROW], mask))
        return found

    async def start(self) -> int:
        """Starts a run: the half that it has."""
        half, self.next_half = self.next_half, 1 - self.next_half
        await self.write(register("CONTROL"), START)
        return half

    async def runs(self, count: int) -> None:
        """Waits until so many runs are over since the reset."""
        while await self.read(register("RUNS")) != count:
            pass


IMAGE = {address: row for address, (row, _) in LOADED.items()}
EXPECTED = {address: bytes(byte & kept for byte, kept in zip(row, mask)) for address, (row, mask) in STORED.items()}


def other_image(seed: int) -> dict[int, bytes]:
    """An image of random words below 256."""
    generator = random.Random(seed)
    return {address: b"".join(bytes([generator.randrange(256), 0]) for _ in range(ROW // BYTES_OF_WORD)) for address in LOADED}


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
    for name in [*interrupts, "CYCLES", "LAST_CYCLES", "REFUSED_ACCESSES", "RUNS", "NEXT_HALF"]:
        assert await made.read(register(name)) == 0, name
    last, window = register("LAST_CYCLES"), constant("WINDOW_OFFSET")
    for address in [0x10, last + 4, window - 4, register("TAIL") + 4, constant("BYTES") - 4]:
        assert (await made.bus.read(address, 4)).resp == AxiResp.SLVERR, hex(address)
        assert (await made.bus.write(address, bytes(4))).resp == AxiResp.SLVERR, hex(address)
    assert await made.read(register("REFUSED_ACCESSES")) == 1
    # There is no restart without a start.
    await made.write(register("CONTROL"), 0x80)
    assert await made.read(register("CONTROL")) == IDLE


@dataclass
class Burst:
    """A transaction: its beats, and for a write their data and strobes."""
    write: bool
    id: int
    address: int
    size: int
    kind: AxiBurstType
    beats: int
    data: list[tuple[int, int]] = field(default_factory=list)
    last_at: int = -1
    answer: AxiResp = AxiResp.OKAY

    def addresses(self) -> list[int]:
        """The address of each beat, as chapter A3.4.1 of the AXI specification has it."""
        number_bytes = 1 << self.size
        aligned = self.address // number_bytes * number_bytes
        boundary = self.address // (number_bytes * self.beats) * number_bytes * self.beats
        found = [self.address]
        for beat in range(1, self.beats):
            address = aligned + beat * number_bytes
            if self.kind == AxiBurstType.FIXED:
                address = self.address
            elif self.kind == AxiBurstType.WRAP and address >= boundary + number_bytes * self.beats:
                address -= number_bytes * self.beats
            found.append(address)
        return found

    def lanes(self, address: int) -> tuple[int, int]:
        """The first and the last byte lane of the beat at this address."""
        number_bytes = 1 << self.size
        first = address % ROW
        return first, address // number_bytes * number_bytes % ROW + number_bytes - 1


def random_burst(generator: random.Random, write: bool, region: tuple[int, int], tears: bool) -> Burst:
    """A burst that stays in a region, and in 4 kB."""
    kind = generator.choice([AxiBurstType.INCR] * 4 + [AxiBurstType.WRAP, AxiBurstType.FIXED])
    size = generator.choice([3] * 5 + [2, 1] + ([] if write else [0]))
    beats = generator.choice([1, 2, 3, 8, 16, generator.randrange(1, 257)])
    if kind == AxiBurstType.WRAP:
        beats = generator.choice([2, 4, 8, 16])
    elif kind == AxiBurstType.FIXED:
        beats = min(beats, 16)
    number_bytes = 1 << size
    base = generator.randrange(region[0], region[1], 0x1000) & ~0xfff if region[1] - region[0] >= 0x1000 else region[0]
    room = min(0x1000, region[1] - base)
    beats = min(beats, room // number_bytes) if kind == AxiBurstType.INCR else beats
    extent = number_bytes * (1 if kind == AxiBurstType.FIXED else beats)
    address = base + generator.randrange(room - extent + 1) // (extent if kind == AxiBurstType.WRAP else number_bytes) * (
        extent if kind == AxiBurstType.WRAP else number_bytes)
    if kind == AxiBurstType.WRAP:
        address += number_bytes * generator.randrange(beats)
    elif write is False or size > 1:
        # Unaligned: the first beat has fewer lanes. Words of writes are whole.
        address += generator.randrange(number_bytes) if not write else generator.randrange(number_bytes) & ~1
    burst = Burst(write, generator.randrange(IDS), address, size, kind, beats, last_at=beats - 1)
    for place in burst.addresses() if write else []:
        first, last = burst.lanes(place)
        strobes = sum(3 << lane for lane in range(first & ~1, last + 1, 2) if lane >= first and generator.random() < 0.9)
        if tears and generator.random() < 0.02:
            strobes = 1 << generator.randrange(first, last + 1)
        burst.data.append((generator.getrandbits(64), strobes))
    return burst


def stops(seed: int, share: float):
    """Pauses of a channel at random, and now and then one in which queues fill."""
    generator = random.Random(seed)
    for pause in pauses(seed, share):
        yield pause
        if share and generator.random() < 0.005:
            yield from [True] * generator.randrange(20, 80)


class Raw:
    """A manager that sends bursts as they are, many at a time, and takes the answers."""

    def __init__(self, dut, seed: int, share: float):
        bus = AxiBus.from_prefix(dut, "s_axi_buffer")
        ports = (dut.ap_clk, dut.ap_rst_n)
        self.aw, self.w, self.b = (kind(channel, *ports, reset_active_level=False) for kind, channel in [
            (AxiAWSource, bus.write.aw), (AxiWSource, bus.write.w), (AxiBSink, bus.write.b)])
        self.ar, self.r = (kind(channel, *ports, reset_active_level=False) for kind, channel in [
            (AxiARSource, bus.read.ar), (AxiRSink, bus.read.r)])
        for number, channel in enumerate([self.aw, self.w, self.b, self.ar, self.r]):
            channel.set_pause_generator(stops(seed * 100 + number, share))

    async def send(self, burst: Burst) -> None:
        channel, prefix = (self.aw, "aw") if burst.write else (self.ar, "ar")
        asks = channel._transaction_obj()
        values = {"id": burst.id, "addr": burst.address, "len": burst.beats - 1, "size": burst.size, "burst": burst.kind}
        for name, value in values.items():
            setattr(asks, prefix + name, value)
        channel.send_nowait(asks)
        for number, (data, strobes) in enumerate(burst.data):
            beat = self.w._transaction_obj()
            beat.wdata, beat.wstrb, beat.wlast = data, strobes, int(number == burst.last_at)
            self.w.send_nowait(beat)

    async def answer(self, burst: Burst) -> list[tuple[int, AxiResp]]:
        """The answers of the next burst of a direction: of a read, the data of each beat."""
        if burst.write:
            found = await self.b.recv()
            assert int(found.bid) == burst.id
            return [(0, AxiResp(int(found.bresp)))]
        beats = [await self.r.recv() for _ in range(burst.beats)]
        assert all(int(beat.rid) == burst.id for beat in beats)
        assert [int(beat.rlast) for beat in beats] == [0] * (burst.beats - 1) + [1]
        return [(int(beat.rdata), AxiResp(int(beat.rresp))) for beat in beats]


class Memory:
    """The banks as they should be."""

    def __init__(self):
        self.bytes = bytearray(TOTAL)

    def write(self, burst: Burst) -> AxiResp:
        """The outcome of a write."""
        torn = False
        for place, (data, strobes) in zip(burst.addresses(), burst.data):
            row, lanes = place // ROW * ROW, [lane for lane in range(ROW) if strobes >> lane & 1]
            if any(strobes >> lane & 3 in (1, 2) for lane in range(0, ROW, BYTES_OF_WORD)):
                torn = True
                continue
            for lane in lanes:
                self.bytes[row + lane] = data >> 8 * lane & 0xff
        return AxiResp.SLVERR if torn or burst.last_at != burst.beats - 1 else AxiResp.OKAY

    def compare(self, burst: Burst, answers: list[tuple[int, AxiResp]]) -> None:
        for place, (data, answer) in zip(burst.addresses(), answers):
            first, last = burst.lanes(place)
            row, found = place // ROW * ROW, data.to_bytes(ROW, "little")
            assert answer == AxiResp.OKAY, f"{burst}: {answer}"
            assert found[first:last + 1] == self.bytes[row + first:row + last + 1], f"{burst} at {place:#x}: {found.hex()}"


@test_of(20 * LONGEST_MS)
async def random_bursts(dut):
    """Random bursts of every kind, in both directions at a time, with pauses: the banks have what was written, and each burst its own
    answer."""
    made = Registers(dut)
    generator, memory = random.Random(5), Memory()
    raw = Raw(dut, 1, 0.3)
    await made.reset()
    # All rows are known.
    for base in range(0, TOTAL, 256 * ROW):
        burst = Burst(True, 1, base, 3, AxiBurstType.INCR, 256, [(generator.getrandbits(64), 0xff) for _ in range(256)], 255)
        memory.write(burst)
        await raw.send(burst)
        assert (await raw.answer(burst))[0][1] == AxiResp.OKAY
    left, torn = TRANSACTIONS, 0
    while left > 0:
        count = min(left, generator.randrange(1, 40))
        left -= count
        # Writes and reads at the same time are apart, in two halves of the banks.
        middle = TOTAL // 2
        regions = [(0, middle), (middle, TOTAL)]
        generator.shuffle(regions)
        writes = [random_burst(generator, True, regions[0], True) for _ in range((count + 1) // 2)]
        reads = [random_burst(generator, False, regions[1], False) for _ in range(count // 2)]
        for burst in writes:
            if generator.random() < 0.03 and burst.beats > 1:
                burst.last_at = generator.randrange(burst.beats - 1)
            burst.answer = memory.write(burst)
            torn += burst.answer != AxiResp.OKAY

        async def run(bursts: list[Burst]) -> None:
            for burst in bursts:
                await raw.send(burst)
            for burst in bursts:
                answers = await raw.answer(burst)
                if burst.write:
                    assert answers[0][1] == burst.answer, f"{burst}: {answers[0][1]}"
                else:
                    memory.compare(burst, answers)

        tasks = [cocotb.start_soon(run(bursts)) for bursts in (writes, reads)]
        for task in tasks:
            await task
        # A read after the answer of a write sees it.
        for burst in writes[-2:]:
            reread = Burst(False, burst.id, burst.address, burst.size, burst.kind, burst.beats)
            await run([reread])
    for base in range(0, TOTAL, 256 * ROW):
        burst = Burst(False, 2, base, 3, AxiBurstType.INCR, 256)
        await raw.send(burst)
        memory.compare(burst, await raw.answer(burst))
    assert torn or TRANSACTIONS < 100
    print(f"{TRANSACTIONS} transactions at random, {torn} of them with an error")


@test_of(LONGEST_MS)
async def pace(dut):
    """Bursts without pauses move a row in each cycle, in either direction, with no cycle between one and the next."""
    made = Registers(dut)
    raw = Raw(dut, 1, 0.0)
    await made.reset()
    for write, count, beats in [(True, 4, 256), (False, 4, 256), (True, 64, 4), (False, 64, 4)]:
        bursts = [Burst(write, number, number * beats * ROW % HALF, 3, AxiBurstType.INCR, beats,
                        [(number, 0xff)] * beats if write else [], beats - 1) for number in range(count)]
        begin = get_sim_time("ns")
        for burst in bursts:
            await raw.send(burst)
        for burst in bursts:
            await raw.answer(burst)
        cycles = (get_sim_time("ns") - begin) / PERIOD_NS
        assert cycles <= count * beats + 16, f"{cycles} cycles for {count * beats} {'writes' if write else 'reads'}"


@test_of(LONGEST_MS)
async def refused(dut):
    """A half of the array is not the host's; parts of words are not written; a program that is not there has no runs to wait for."""
    made = await bench(dut, 3, 0.2)
    await made.configure()
    places = sorted({address // BANK_BYTES * BANK_BYTES for address in [*LOADED, *STORED]})
    for place in places:
        await made.store(place, bytes(range(16)))
        await made.store(place + HALF, bytes(range(16)))
    await made.store(0, bytes(range(8, 16)))
    # A byte is no word: nothing of its row is written.
    await made.store(1, b"\x7f", AxiResp.SLVERR)
    await made.store(0, b"\x7f\x7f\x7f", AxiResp.SLVERR)
    assert await made.load(0, 8) == bytes(range(8, 16))
    await made.store(2, b"\x7f\x7e")
    assert await made.load(0, 8) == bytes([8, 9, 0x7f, 0x7e, 12, 13, 14, 15])
    assert await made.load(3, 1) == b"\x7e"
    # While a run goes on, its half is refused, and the other one is not.
    if RUN_CYCLES < LONG_RUN:
        return
    half = await made.start()
    for place in places:
        await made.store(place + half * HALF, bytes(16), AxiResp.SLVERR)
        await made.load(place + half * HALF, 16, AxiResp.SLVERR)
        await made.store(place + (1 - half) * HALF, bytes(range(16)))
        assert await made.load(place + (1 - half) * HALF, 16) == bytes(range(16))
    # The second one takes the other half at once, and a third start changes nothing.
    other = await made.start()
    assert other == 1 - half and await made.read(register("CONTROL")) == START | QUEUED
    await made.store(places[0] + other * HALF, bytes(16), AxiResp.SLVERR)
    await made.write(register("CONTROL"), START)
    assert await made.read(register("CONTROL")) == START | QUEUED
    # The configuration does not change within a run.
    for name in ["ARRAY_ADDRESS", "ARRAY_DATA", "CONFIGURATION_STATUS"]:
        assert (await made.bus.read(register(name), 4)).resp == AxiResp.SLVERR
        assert (await made.bus.write(register(name), bytes(4))).resp == AxiResp.SLVERR
    await made.runs(2)
    assert await made.read(register("CONTROL")) == DONE | IDLE | READY
    assert await made.read(register("CONTROL")) == IDLE
    assert await made.read(register("NEXT_HALF")) == 0
    # Banks without work keep their halves, and those that worked have theirs back.
    for bank in range(BANKS):
        for half in range(2):
            await made.store(bank * BANK_BYTES + half * HALF, bytes(range(8, 16)))
            assert await made.load(bank * BANK_BYTES + half * HALF, 8) == bytes(range(8, 16))


async def run_images(made: Bench, images: list[dict[int, bytes]]) -> list[dict[int, bytes]]:
    """Runs images, each written and the results of the one before read while another is computed."""
    results, before = [], await made.read(register("RUNS"))
    halves = []
    for number in range(len(images) + 1):
        if number < len(images):
            await made.write_image(made.next_half, images[number])
            halves.append(await made.start())
        if number > 0:
            await made.runs(before + number)
            results.append(await made.read_results(halves[number - 1]))
    return results


async def check_images(made: Bench) -> None:
    """Both halves have images of both kinds: that of the testbench, and a random one whose results are the same wherever it is."""
    other = other_image(1)
    results = await run_images(made, [IMAGE, other, other, IMAGE])
    assert results[0] == EXPECTED and results[3] == EXPECTED
    assert results[1] == results[2] != EXPECTED


@test_of(4 * LONGEST_MS)
async def images(dut):
    """Images through both halves, with the bitstream word by word and from the banks, in either half, with pauses on all channels."""
    made = await bench(dut, 4, 0.2)
    await made.configure()
    assert await made.read(register("CONFIGURATION_STATUS")) == 1
    await check_images(made)
    for half in [1, 0]:
        await made.store_bitstream(half)
        await made.begin_load(half)
        assert await made.loaded() == of_banks_mask("DONE")
        await check_images(made)


def of_banks_mask(name: str) -> int:
    return of_banks(f"BANK_CONFIGURATION_STATUS_{name}_MASK")


@test_of(2 * LONGEST_MS)
async def loads(dut):
    """The end of a load from the banks is an interrupt; a start waits for it; a bitstream that is not there is not loaded."""
    made = await bench(dut)
    await made.store_bitstream()
    await made.write_image(0, IMAGE)
    await made.write(register("GLOBAL_INTERRUPT_ENABLE"), 1)
    await made.write(register("INTERRUPT_ENABLE"), 4)
    await made.begin_load()
    # It goes on for longer than the accesses take: the half is refused, and the start is kept.
    bank = next(iter(BITSTREAM_ROWS)) // BANK_BYTES
    assert await made.read(register("CONFIGURATION_STATUS")) & LOADING
    if max(len([row for row in BITSTREAM_ROWS if row // BANK_BYTES == bank]) for bank in range(BANKS)) > 60:
        half = await made.start()
        assert await made.read(register("CONTROL")) == START
        assert made.dut.interrupt_o.value == 0
        await RisingEdge(made.dut.interrupt_o)
        assert await made.read(register("INTERRUPT_STATUS")) == 4
        await made.write(register("INTERRUPT_STATUS"), 4)
        await made.runs(1)
        assert await made.read_results(half) == EXPECTED
    else:
        await made.loaded()
        assert await made.read(register("INTERRUPT_STATUS")) == 4
    # Another header.
    await made.store(bank * BANK_BYTES + HALF, bytes(8))
    await made.begin_load()
    assert await made.loaded() & of_banks_mask("WRONG_HEADER")


@test_of(2 * LONGEST_MS)
async def reset_in_flight(dut):
    """A reset in the midst of a run, of bursts and of a load drops all; then everything works."""
    made = await bench(dut, 5, 0.2)
    for cycles in [3, 40, 333]:
        await made.store_bitstream()
        await made.begin_load()
        if cycles > 3:
            await made.loaded()
            await made.write_image(0, IMAGE)
            await made.start()
        reads = cocotb.start_soon(made.rows.read(BANK_BYTES + HALF, 2048))
        writes = cocotb.start_soon(made.rows.write(HALF + 1024, bytes(2048)))
        await ClockCycles(made.dut.ap_clk, cycles)
        reads.cancel()
        writes.cancel()
        await made.reset()
        assert await made.read(register("CONTROL")) == IDLE and await made.read(register("RUNS")) == 0
        assert await made.read(register("CONFIGURATION_STATUS")) == 0
        await made.store_bitstream(0)
        await made.begin_load(0)
        assert await made.loaded() == of_banks_mask("DONE")
        await check_images(made)


@test_of(4 * LONGEST_MS)
async def speed(dut):
    """Images with a manager that moves a beat in each cycle, one after the other: nearly as fast as the array alone."""
    made = await bench(dut)
    begin = get_sim_time("ns")
    await made.configure()
    words = (get_sim_time("ns") - begin) / PERIOD_NS
    await made.store_bitstream()
    begin = get_sim_time("ns")
    await made.begin_load()
    await made.loaded()
    from_banks = (get_sim_time("ns") - begin) / PERIOD_NS
    print(f"speed, configuration: {words:.0f} cycles word by word, {from_banks:.0f} from the banks")
    images, ends = 6, []

    async def note_ends():
        before = 0
        while len(ends) < images:
            await RisingEdge(made.dut.ap_clk)
            if (runs := int(made.dut.u_control.runs_q.value)) != before:
                before = runs
                ends.append(get_sim_time("ns") / PERIOD_NS)

    noting = cocotb.start_soon(note_ends())
    results = await run_images(made, [IMAGE] * images)
    await noting
    assert all(result == EXPECTED for result in results)
    cycles = (ends[-1] - ends[0]) / (images - 1)
    share = RUN_CYCLES / cycles
    print(f"speed, images: {cycles:.0f} cycles each, {RUN_CYCLES} of them a run: {100 * share:.1f} %")
    assert share >= 0.95 or not KEEPS_UP
