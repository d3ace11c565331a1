# SPDX-License-Identifier: 0BSD
"""Accelerators of pushmem in a test bench of cocotb: clock, reset, configuration, and runs on arrays of NumPy."""

from __future__ import annotations

import random
from dataclasses import dataclass

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

#: Types of elements, with the type of NumPy that has their words. Numbers of bfloat16 are words.
TYPES = {"u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "u32": np.uint32, "i32": np.int32, "bf16": np.uint16,
         "f16": np.float16, "bool": np.uint8}


@dataclass(frozen=True)
class Stream:
    """A stream of an array: which word is in which beat and lane."""

    type: str
    #: The extents of the array, the innermost last.
    shape: list[int]
    #: The word of each lane in the first beat, in order of memory.
    starts: list[int]
    #: For each loop of beats, the innermost first, its iterations and the stride of each lane.
    loops: list[tuple[int, tuple[int, ...]]]

    def places(self) -> np.ndarray:
        """The word of each beat and lane."""
        places = np.array(self.starts)[None, :]
        for extent, strides in self.loops:
            places = (np.arange(extent)[:, None, None] * np.array(strides) + places[None]).reshape(-1, len(self.starts))
        return places

    def beats(self, array: np.ndarray) -> list[int]:
        """The data of all beats of an array. Raises ValueError for another shape."""
        array = np.asarray(array)
        if list(array.shape) != self.shape:
            raise ValueError(f"the shape is {list(array.shape)}, not {self.shape}")
        words = self.words(array.astype(TYPES[self.type]).ravel())
        return [sum(int(word) << 16 * lane for lane, word in enumerate(beat)) for beat in words[self.places()]]

    def words(self, elements: np.ndarray) -> np.ndarray:
        """The words of 16 bits of elements: narrow ones are extended, wide ones have two."""
        if elements.dtype.itemsize == 1:
            elements = elements.astype(np.int16 if elements.dtype.kind == "i" else np.uint16)
        return np.ascontiguousarray(elements, elements.dtype.newbyteorder("<")).view("<u2")

    def array(self, beats: list[int]) -> np.ndarray:
        """The array of the data of all beats."""
        element = np.dtype(TYPES[self.type])
        words = np.zeros(int(np.prod(self.shape)) * max(1, element.itemsize // 2), "<u2")
        for place, beat in zip(self.places(), beats):
            words[place] = [beat >> 16 * lane & 0xFFFF for lane in range(len(place))]
        elements = words.astype(np.uint8).view(element) if element.itemsize == 1 else words.view(element.newbyteorder("<")).astype(element)
        return elements.reshape(self.shape)


class Accelerator:
    """An accelerator under test; a class of each has its streams and its register writes.

    `pauses` is the share of cycles in which a stream waits for the bench, at random from `seed`.
    """

    CYCLES: int
    INPUTS: dict[str, Stream]
    OUTPUTS: dict[str, Stream]
    WRITES: tuple[tuple[int, int], ...]

    def __init__(self, dut, pauses: float = 0, seed: int = 1, period_ns: int = 10):
        if not 0 <= pauses < 1:
            raise ValueError(f"`pauses` is {pauses}: it is a share of cycles, from 0 to less than 1")
        self.dut, self.pauses, self.period_ns, self.random = dut, pauses, period_ns, random.Random(seed)
        #: The cycles of the last run, from its start to its last word.
        self.cycles = 0

    async def start(self) -> None:
        """Starts the clock, resets the accelerator, and writes its registers."""
        for name in self.INPUTS:
            self.signal(f"{name}_valid_i").value = 0
            self.signal(f"{name}_data_i").value = 0
        for name in self.OUTPUTS:
            self.signal(f"{name}_ready_i").value = 0
        self.dut.start_i.value = 0
        if self.WRITES:
            self.dut.config_write_i.value = 0
            self.dut.config_read_i.value = 0
        self.dut.rst_ni.value = 0
        cocotb.start_soon(Clock(self.dut.clk_i, self.period_ns, unit="ns").start())
        for _ in range(3):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        for address, data in self.WRITES:
            await self.write(address, data)

    async def write(self, address: int, data: int) -> None:
        """Writes a register. Raises RuntimeError where there is none."""
        self.dut.config_address_i.value = address
        self.dut.config_write_data_i.value = data
        self.dut.config_write_i.value = 1
        await FallingEdge(self.dut.clk_i)
        self.dut.config_write_i.value = 0
        if self.dut.config_error_o.value == 1:
            raise RuntimeError(f"there is no register at 0x{address:08x}: the RTL and the class are of different builds")

    def signal(self, name: str):
        """A port of the accelerator."""
        return getattr(self.dut, name)

    async def run(self, images: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Runs the accelerator once on these arrays, and returns the outputs by name. Raises ValueError for arrays that are missing or do
        not fit, and TimeoutError where a stream stops."""
        if set(images) != set(self.INPUTS):
            raise ValueError(f"there are arrays for {sorted(images)}; the inputs are {sorted(self.INPUTS)}")
        beats = {name: stream.beats(images[name]) for name, stream in self.INPUTS.items()}
        # A stream that waits in a share of cycles takes so many times as long; several may wait one after the other.
        streams = len(self.INPUTS) + len(self.OUTPUTS)
        limit = int((self.CYCLES + 100) * (1 + 4 * streams * self.pauses / (1 - self.pauses)))
        self.dut.start_i.value = 1
        await FallingEdge(self.dut.clk_i)
        self.dut.start_i.value = 0
        self.cycles = 0
        senders = [cocotb.start_soon(self.send(name, data)) for name, data in beats.items()]
        takers = {name: cocotb.start_soon(self.take(name, len(stream.places()), limit)) for name, stream in self.OUTPUTS.items()}
        found = {name: self.OUTPUTS[name].array(await taker) for name, taker in takers.items()}
        for sender in senders:
            await sender
        return found

    async def send(self, name: str, beats: list[int]) -> None:
        """Offers the beats of a stream, one after the other, with pauses between."""
        valid, data, ready = (self.signal(f"{name}_{end}") for end in ["valid_i", "data_i", "ready_o"])
        for beat in beats:
            while self.random.random() < self.pauses:
                await FallingEdge(self.dut.clk_i)
            valid.value, data.value = 1, beat
            taken = False
            while not taken:
                await ReadOnly()
                taken = ready.value == 1
                await FallingEdge(self.dut.clk_i)
            valid.value = 0

    async def take(self, name: str, count: int, limit: int) -> list[int]:
        """Takes so many beats of a stream, with pauses between, in so many cycles at most."""
        valid, data, ready = (self.signal(f"{name}_{end}") for end in ["valid_o", "data_o", "ready_i"])
        beats: list[int] = []
        for cycle in range(1, limit + 1):
            ready.value = int(self.random.random() >= self.pauses)
            await ReadOnly()
            if valid.value == 1 and ready.value == 1:
                beats.append(int(data.value))
            await FallingEdge(self.dut.clk_i)
            if len(beats) == count:
                ready.value = 0
                self.cycles = max(self.cycles, cycle)
                return beats
        raise TimeoutError(f"the stream of `{name}` has given {len(beats)} of {count} beats in {limit} cycles")
