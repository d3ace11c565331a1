"""Tests of a tile whose configuration port a bus reaches: APB, AXI4-Lite or TileLink-UL. Run by simulate.py.

What registers there are, and what the tile computes, comes from the folder of the tile: `registers.json`, and in `run`, where there is one,
the writes of a configuration with the words of the model. AXI4-Lite is driven by cocotbext-axi. The other requesters drive and look between
two edges of the clock: all outputs of the buses come from registers.
"""

import json
import random
import re
from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Event, FallingEdge
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from bench import FOLDER, LONGEST_MS, PERIOD_NS, SCALE, pauses, test_of

MAP = json.loads((FOLDER / "registers.json").read_text())
SPEC = (FOLDER / "spec.yaml").read_text()
RUN = FOLDER / "run"
WORD = 2**32 - 1
# Cycles that an access takes at most, without pauses.
MOST_CYCLES = 10

PUT_FULL, PUT_PARTIAL, GET = 0, 1, 4


class Model:
    """Contents of registers after a reset: the value of each, and the bits that a write changes."""

    def __init__(self):
        self.values, self.written = {}, {}
        for register in MAP["registers"]:
            fields = register["fields"]
            self.values[register["offset"]] = sum(field["reset"] << field["low"] for field in fields)
            bits = sum((1 << field["bits"]) - 1 << field["low"] for field in fields)
            self.written[register["offset"]] = 0 if register["access"] == "read_only" else bits
        self.reset = list(self.values)
        # The words of a ROM, unknown until they are written. Those of two registers are written with the upper one.
        contents = MAP["contents"]
        self.halves = 0
        self.lower = None
        if contents and "kind: rom" in SPEC:
            bits, self.halves = int(re.search(r"word_bits: (\d+)", SPEC)[1]), contents["registers_per_word"]
            masks = [WORD, (1 << bits - 32) - 1] if self.halves == 2 else [(1 << bits) - 1]
            for number in range(contents["words"] * self.halves):
                self.written[contents["offset"] + 4 * number] = masks[number % self.halves]

    def write(self, address: int, value: int) -> None:
        is_half = self.halves == 2 and address not in self.reset
        if is_half and address % 8 == 0:
            self.lower = value
            return
        if is_half and self.lower is not None:
            self.values[address - 4] = self.lower
        if not is_half or self.lower is not None:
            self.values[address] = self.values.get(address, 0) & ~self.written[address] | value & self.written[address]

    def nothing(self, bits: int) -> list[int]:
        """Addresses, below so many bits, of words at which there is nothing."""
        contents = MAP["contents"]
        window = range(contents["offset"], 1 << bits) if contents else []
        return [address for address in range(0, 1 << bits, 4) if address not in self.written and address not in window]


class Apb:
    """A requester of APB."""

    # Whether a single byte can be addressed, and accesses are answered in the order in which they were asked for.
    addresses_bytes = True

    def __init__(self, dut, clock, prefix: str):
        self.clock, self.signals = clock, {name: getattr(dut, f"{prefix}_{name}") for name in [
            "psel", "penable", "pwrite", "paddr", "pwdata", "pstrb", "pready", "prdata", "pslverr"]}
        self.address_bits = len(self.signals["paddr"])
        self.queue = deque()
        self.pause(0, 0)
        self.forget()
        cocotb.start_soon(self.run())

    def pause(self, seed: int, share: float) -> None:
        self.pauses, self.noise = pauses(seed, share), random.Random(seed)

    def forget(self) -> None:
        self.queue.clear()
        self.dropped = True
        self.drive(psel=0, penable=0)

    def drive(self, **values) -> None:
        for name, value in values.items():
            self.signals[name].value = value

    def noise_on_the_bus(self) -> None:
        """Values that another subordinate may see."""
        self.drive(psel=0, penable=self.noise.randrange(2), pwrite=self.noise.randrange(2), pstrb=self.noise.randrange(16),
                   paddr=self.noise.randrange(1 << self.address_bits), pwdata=self.noise.randrange(2**32))

    async def run(self) -> None:
        while True:
            if not self.queue or next(self.pauses):
                self.noise_on_the_bus()
                await FallingEdge(self.clock)
                assert self.dropped or self.signals["pready"].value == 0, "PREADY without a transfer"
                continue
            self.dropped = False
            done, answer, address, data, strobes = self.queue.popleft()
            self.drive(psel=1, penable=0, pwrite=int(data is not None), paddr=address, pstrb=strobes if data is not None else 0,
                       pwdata=self.noise.randrange(2**32) if data is None else data)
            await FallingEdge(self.clock)
            for _ in range(MOST_CYCLES):
                if self.dropped:
                    break
                self.drive(penable=1)
                if self.signals["pready"].value == 1:
                    break
                assert self.signals["pslverr"].value == 0, "PSLVERR without PREADY"
                await FallingEdge(self.clock)
            else:
                raise AssertionError(f"the transfer to {address:#x} does not end")
            if not self.dropped:
                answer += [self.signals["pslverr"].value == 1, int(self.signals["prdata"].value) if data is None else 0]
                done.set()
                await FallingEdge(self.clock)

    async def access(self, address: int, data: int | None = None, strobes: int = 15) -> tuple[bool, int]:
        """A read, or a write of data: whether it is an error, and what was read."""
        done, answer = Event(), []
        self.queue.append((done, answer, address, data, strobes))
        await done.wait()
        return tuple(answer)


class AxiLite:
    """A manager of AXI4-Lite."""

    addresses_bytes = False

    def __init__(self, dut, clock, prefix: str):
        self.bus = AxiLiteMaster(AxiLiteBus.from_prefix(dut, prefix), clock, dut.rst_ni, reset_active_level=False)
        self.address_bits = len(getattr(dut, f"{prefix}_awaddr"))

    def pause(self, seed: int, share: float) -> None:
        write, read = self.bus.write_if, self.bus.read_if
        for number, channel in enumerate([write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel]):
            channel.set_pause_generator(pauses(seed * 100 + number, share))

    def forget(self) -> None:
        pass

    async def access(self, address: int, data: int | None = None, strobes: int = 15) -> tuple[bool, int]:
        """A read, or a write of bytes beside each other."""
        if data is None:
            answer = await self.bus.read(address, 4)
            word = int.from_bytes(answer.data, "little")
        else:
            first, end = (strobes & -strobes).bit_length() - 1, strobes.bit_length()
            answer = await self.bus.write(address + first, data.to_bytes(4, "little")[first:end])
            word = 0
        assert answer.resp in (AxiResp.OKAY, AxiResp.SLVERR), answer.resp
        return answer.resp == AxiResp.SLVERR, word


@dataclass
class Request:
    """A request of TileLink."""
    opcode: int
    address: int
    size: int = 2
    mask: int = 15
    data: int = 0
    param: int = 0
    corrupt: int = 0


class TileLink:
    """A requester of TileLink-UL, with several requests on their way. Those that are not taken at once may go away for a while."""

    addresses_bytes = True

    def __init__(self, dut, clock, prefix: str):
        self.clock, self.reset = clock, dut.rst_ni
        self.signals = {name.removeprefix(f"{prefix}_"): getattr(dut, name) for name in dir(dut) if name.startswith(f"{prefix}_")}
        self.address_bits, self.sources = len(self.signals["a_address"]), 1 << len(self.signals["a_source"])
        self.queue, self.on_way = deque(), deque()
        self.pause(0, 0)
        self.forget()
        cocotb.start_soon(self.run())

    def pause(self, seed: int, share: float) -> None:
        self.a_pauses, self.d_pauses, self.noise = pauses(seed * 2, share), pauses(seed * 2 + 1, share), random.Random(seed)

    def forget(self) -> None:
        self.queue.clear()
        self.on_way.clear()
        self.signals["a_valid"].value = 0
        self.signals["d_ready"].value = 0
        self.held = None

    def drive(self, request: Request, source: int) -> None:
        values = {"opcode": request.opcode, "param": request.param, "size": request.size, "source": source, "address": request.address,
                  "mask": request.mask, "data": request.data, "corrupt": request.corrupt}
        for name, value in values.items():
            self.signals[f"a_{name}"].value = value

    async def run(self) -> None:
        while True:
            await FallingEdge(self.clock)
            if self.reset.value == 0:
                continue
            offered = bool(self.queue) and not next(self.a_pauses)
            source = self.noise.randrange(self.sources)
            self.signals["a_valid"].value = int(offered)
            if offered:
                self.drive(self.queue[0][0], source)
                if self.signals["a_ready"].value == 1:
                    self.on_way.append((*self.queue.popleft(), source))
            else:
                self.drive(Request(*[self.noise.randrange(most) for most in (8, 1 << self.address_bits, 4, 16, 2**32, 8, 2)]), source)
            ready = not next(self.d_pauses)
            self.signals["d_ready"].value = int(ready)
            if self.signals["d_valid"].value == 1:
                self.answered(ready)
            else:
                assert self.held is None, "an answer went away"

    def answered(self, ready: bool) -> None:
        """An answer is offered; it is taken, if this cycle is ready."""
        found = {name: int(self.signals[f"d_{name}"].value)
                 for name in ["opcode", "param", "size", "source", "sink", "denied", "data", "corrupt"]}
        assert self.held in (None, found), f"an answer changed from {self.held} to {found}"
        self.held = None if ready else found
        if not ready:
            return
        assert self.on_way, "an answer to no request"
        request, done, answer, source = self.on_way.popleft()
        is_get = request.opcode == GET
        assert (found["source"], found["size"]) == (source, request.size), f"{found} answers {request} of {source}"
        assert (found["opcode"], found["param"], found["sink"]) == (int(is_get), 0, 0), f"{found} answers {request}"
        assert found["corrupt"] == int(is_get and found["denied"]), f"{found}"
        answer += [found["denied"] == 1, found["data"]]
        done.set()

    async def request(self, request: Request) -> tuple[bool, int]:
        done, answer = Event(), []
        self.queue.append((request, done, answer))
        await done.wait()
        return tuple(answer)

    async def access(self, address: int, data: int | None = None, strobes: int = 15) -> tuple[bool, int]:
        """A Get; or a Put, in full where all bytes are written."""
        if data is None:
            return await self.request(Request(GET, address))
        opcode = self.noise.choice([PUT_FULL, PUT_PARTIAL]) if strobes == 15 else PUT_PARTIAL
        return (await self.request(Request(opcode, address, data=data, mask=strobes)))[0], 0


BUSES = {"s_apb_config": Apb, "s_axi_config": AxiLite, "s_tl_config": TileLink}


class Bench:
    """The tile with a clock, a reset, and a requester on its bus."""

    def __init__(self, dut):
        self.dut, self.model = dut, Model()
        dut.rst_ni.value = 0
        cocotb.start_soon(Clock(dut.clk_i, PERIOD_NS, unit="ns").start())
        for name in dir(dut):
            if name.endswith("_i") and not name.startswith("_") and name not in ("clk_i", "rst_ni"):
                getattr(dut, name).value = 0
        [(prefix, kind)] = [(prefix, kind) for prefix, kind in BUSES.items() if any(name.startswith(prefix) for name in dir(dut))]
        self.bus = kind(dut, dut.clk_i, prefix)

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await FallingEdge(self.dut.clk_i)

    async def reset(self) -> None:
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 0
        self.bus.forget()
        await self.cycles(3)
        self.bus.forget()
        self.dut.rst_ni.value = 1
        contents = {address: value for address, value in self.model.values.items() if address not in self.model.reset}
        self.model = Model()
        self.model.values |= contents
        await self.cycles(1)

    async def read(self, address: int) -> None:
        found = await self.bus.access(address)
        assert found == (False, self.model.values[address]), f"{address:#x}: {found}, {self.model.values[address]:#x} was written"

    async def write(self, address: int, value: int) -> None:
        assert await self.bus.access(address, value) == (False, 0), f"a write of {address:#x} is an error"
        self.model.write(address, value)

    async def refused(self, address: int) -> None:
        assert await self.bus.access(address) == (True, 0), f"a read of {address:#x}, where there is nothing"
        assert await self.bus.access(address, WORD) == (True, 0), f"a write of {address:#x}, where there is nothing"

    async def partial(self, address: int, strobes: int) -> None:
        assert await self.bus.access(address, WORD, strobes) == (True, 0), f"a write of {address:#x} with strobes {strobes:04b}"


async def bench(dut, seed: int = 0, share: float = 0.0) -> Bench:
    """A bench after its reset."""
    made = Bench(dut)
    made.bus.pause(seed, share)
    await made.reset()
    return made


# Strobes of a part of a word: bytes beside each other.
PARTS = [1, 2, 4, 8, 3, 6, 12, 7, 14]


@test_of(LONGEST_MS)
async def registers(dut):
    """Every register: after reset, with ones, with zeros; read-only ones stay. Where there is nothing, both accesses are errors."""
    made = await bench(dut, 1, 0.3)
    for address in made.model.reset:
        await made.read(address)
    for value in [WORD, 0x5a5a5a5a, 0]:
        for address in made.model.reset:
            await made.write(address, value)
        for address in made.model.reset:
            await made.read(address)
    nothing = made.model.nothing(made.bus.address_bits)
    for address in random.Random(1).sample(nothing, min(len(nothing), 20)):
        await made.refused(address)
    for address in made.model.reset:
        await made.read(address)


@test_of(LONGEST_MS)
async def random_accesses(dut):
    """Reads and writes at random, one after the other, with gaps and pauses: registers hold what was written. Writes of a part, and
    addresses at which there is nothing, are errors that change nothing."""
    made = await bench(dut)
    generator = random.Random(2)
    nothing = made.model.nothing(made.bus.address_bits)
    for number in range(400 * SCALE):
        if number % 50 == 0:
            made.bus.pause(number, [0.0, 0.2, 0.5, 0.8][number // 50 % 4])
        address = generator.choice(list(made.model.written))
        kind = generator.randrange(8)
        if kind == 0:
            await made.partial(address, generator.choice(PARTS))
        elif kind == 1 and nothing:
            await made.refused(generator.choice(nothing))
        elif kind < 5 or address not in made.model.values:
            await made.write(address, generator.randrange(2**32))
        else:
            await made.read(address)
    made.bus.pause(3, 0.0)
    for address in made.model.values:
        await made.read(address)


@test_of(LONGEST_MS)
async def accesses_at_once(dut):
    """Accesses that are all asked for at once: each has its own answer."""
    made = await bench(dut)
    for seed, share in enumerate([0.0, 0.3, 0.7] * SCALE):
        made.bus.pause(seed, share)
        generator = random.Random(seed)
        addresses = list(made.model.reset)
        generator.shuffle(addresses)
        half = len(addresses) // 2
        tasks = [cocotb.start_soon(made.write(address, generator.randrange(2**32))) for address in addresses[:half]]
        tasks += [cocotb.start_soon(made.read(address)) for address in addresses[half:]]
        tasks += [cocotb.start_soon(made.refused(address)) for address in made.model.nothing(made.bus.address_bits)[:3]]
        tasks += [cocotb.start_soon(made.partial(addresses[half], part)) for part in PARTS[:3]]
        for task in tasks:
            await task
        for address in addresses:
            await made.read(address)


@test_of(LONGEST_MS)
async def pace(dut):
    """Without pauses, an access takes as many cycles as the configuration port needs for its data, and two."""
    made = await bench(dut)
    latency = int(re.search(r"sram_latency: (\d+)", SPEC)[1]) if MAP["contents"] else 1
    begin = get_sim_time("ns")
    tasks = [cocotb.start_soon(made.read(address)) for address in made.model.reset]
    for task in tasks:
        await task
    cycles, expected = (get_sim_time("ns") - begin) / PERIOD_NS, (latency + 2) * len(tasks)
    assert expected <= cycles <= expected + 5, f"{len(tasks)} reads take {cycles} cycles, {expected} are expected"


@test_of(LONGEST_MS)
async def what_the_port_cannot_do(dut):
    """Parts of a register by all strobes, addresses between registers, and what is no request of TileLink-UL are errors."""
    made = await bench(dut, 4, 0.3)
    address = max(made.model.reset)
    await made.write(address, 0x12345678)
    strobes = PARTS if isinstance(made.bus, AxiLite) else range(15)
    for part in strobes:
        await made.partial(address, part)
    if made.bus.addresses_bytes:
        for low in [1, 2, 3]:
            await made.refused(address + low)
    if isinstance(made.bus, TileLink):
        value = made.model.values[address]
        for size, low in [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 2)]:
            mask = (1 << (1 << size)) - 1 << low
            assert await made.bus.request(Request(GET, address + low, size, mask)) == (False, value), f"Get of size {size} at {low}"
            for opcode in [PUT_FULL, PUT_PARTIAL]:
                assert (await made.bus.request(Request(opcode, address + low, size, mask, WORD)))[0], f"Put of size {size} at {low}"
                # A mask of more than its bytes.
                assert (await made.bus.request(Request(opcode, address + low, size, 15, WORD)))[0], f"Put of size {size} at {low}"
        wrong = [Request(opcode, address, data=WORD) for opcode in [2, 3, 5, 6, 7]]
        wrong += [Request(opcode, address, param=param, data=WORD) for opcode in [PUT_FULL, PUT_PARTIAL, GET] for param in [1, 4]]
        wrong += [Request(opcode, address, size=3, data=WORD) for opcode in [PUT_FULL, PUT_PARTIAL, GET]]
        wrong += [Request(opcode, address, corrupt=1, data=WORD) for opcode in [PUT_FULL, PUT_PARTIAL]]
        wrong += [Request(GET, address + 1, size=1, mask=6)]
        for request in wrong:
            assert (await made.bus.request(request))[0], f"{request} is answered"
    await made.read(address)


@test_of(LONGEST_MS)
async def reset_in_flight(dut):
    """A reset drops the access, wherever it is; then registers have their values after reset, and accesses are right."""
    made = await bench(dut)
    generator = random.Random(5)
    for number in range(20 * SCALE):
        made.bus.pause(number, generator.choice([0.0, 0.4]))
        addresses = generator.sample(list(made.model.reset), 3)
        for address in addresses:
            await made.write(address, generator.randrange(2**32))
        tasks = [cocotb.start_soon(made.bus.access(address, generator.choice([None, WORD]))) for address in addresses]
        await made.cycles(generator.randrange(12))
        for task in tasks:
            task.cancel()
        await made.reset()
        for address in addresses:
            await made.read(address)


def words(name: str) -> list[int]:
    """The words of a file of the model."""
    path = RUN / name
    return [int(word, 16) for word in path.read_text().split()] if path.exists() else []


@test_of(4 * LONGEST_MS)
async def run(dut):
    """A configuration that is loaded through the bus computes what the model does."""
    if not RUN.exists():
        return
    made = await bench(dut, 6, 0.2)
    # The first write is that of the digest, which is read.
    for line in (RUN / "writes.hex").read_text().splitlines():
        if line and not line.startswith("//"):
            address, value = (int(word, 16) for word in line.split())
            await made.write(address, value)
    for address in made.model.reset:
        await made.read(address)
    # Accesses may end at the other edge.
    await made.cycles(1)
    inputs, expected, found = {}, {}, {}
    for port in range(4):
        inputs[port], expected[port], found[port] = deque(words(f"in_{port}.hex")), words(f"out_{port}.hex"), []
    dut.flush_i.value = 1
    await made.cycles(1)
    dut.flush_i.value = 0
    used = [port for port in inputs if inputs[port]]
    shown = [port for port in expected if expected[port]]
    assert used and shown
    while any(len(found[port]) < len(expected[port]) for port in shown):
        for port in used:
            getattr(dut, f"data_in_{port}_i").value = inputs[port][0] if inputs[port] else 0
            if getattr(dut, f"data_in_{port}_taken_o").value == 1:
                inputs[port].popleft()
        for port in shown:
            if getattr(dut, f"data_out_{port}_valid_o").value == 1:
                found[port].append(int(getattr(dut, f"data_out_{port}_o").value))
        await made.cycles(1)
    assert all(found[port] == expected[port] for port in shown), "other words than those of the model"
