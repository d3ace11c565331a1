//! The proof that memories, as they are printed, are those that are replayed, and that those of delays delay the words that their
//! descriptions name.

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_buffers::{Direction, Port};
use pushmem_nest::Level;
use pushmem_stages::Stage;

use crate::error::{PartError, require};
use crate::tiles::Mapped;
use pushmem_graph::{Accelerator, DelayMemory, Delayed, StoredArray};

/// Checks that the tiles of an array are those of its mapping and at its level, that their inputs take the wires of
/// the write ports, and that the wires of the read ports are their outputs.
///
/// # Errors
/// When the tiles differ in any part.
pub(crate) fn check_array(accelerator: &Accelerator, array: &StoredArray, level: Level) -> Result<(), PartError> {
    let name = || format!("the memory of {}", array.buffer.name);
    let mapped =
        Mapped { accelerator, tiles: &array.mapped.tiles, first_tile: array.first_tile, level, begin: array.begin };
    let writers = array.writers.len();
    let same = array.wires.len() == array.buffer.ports.len()
        && array.wires.iter().all(|&wire| wire < accelerator.wires.len())
        && mapped.are_printed(|port| array.wires.get(port).copied().filter(|_| port < writers));
    require(same, name, "its tiles are not those of the mapping")?;
    let shown = array.wires.iter().enumerate().skip(writers).all(|(port, &wire)| mapped.shows(wire, port));
    require(shown, name, "its outputs do not go to the wires of its ports")
}

/// Checks that the tiles of a memory of delays are those of its mapping, and that their outputs go to its destinations. The
/// replay shows that the mapping implements the buffer.
///
/// # Errors
/// When the tiles differ in any part.
pub(crate) fn check_delays(accelerator: &Accelerator, memory: &DelayMemory) -> Result<(), PartError> {
    let name = || name(accelerator, memory);
    let mapped = Mapped {
        accelerator,
        tiles: &memory.mapped.tiles,
        first_tile: memory.first_tile,
        level: Level::Memory,
        begin: 0,
    };
    let ports = ports_of_streams(memory);
    require(ports.len() == memory.streams.len(), name, "its buffer has other ports")?;
    let written = |port: usize| {
        let stream = ports.iter().position(|&other| other == port)?;
        Some(memory.streams[stream].of)
    };
    require(mapped.are_printed(written), name, "its tiles are not those of the mapping")?;
    // The reads of a stream follow the port that takes it.
    let shows_delays = |(stream, &port): (&Delayed, &usize)| {
        stream.wires.len() == stream.delays.len()
            && stream.wires.iter().enumerate().all(|(read, &wire)| mapped.shows(wire, port + 1 + read))
    };
    let shown = memory.streams.iter().zip(&ports).all(shows_delays);
    require(shown, name, "its outputs do not go to the wires of their delays")
}

/// Checks one of the wires that a memory delays, a stage's result so many cycles ago: its ports take all words of the stage
/// and show them after the delays.
///
/// # Errors
/// When the buffer does not say so.
pub(crate) fn check_words(
    accelerator: &Accelerator,
    memory: &DelayMemory,
    number: usize,
    stage: &Stage,
    schedule: &Affine,
    ago: i64,
) -> Result<(), PartError> {
    let name = || name(accelerator, memory);
    let first_ports = ports_of_streams(memory);
    let ports = &memory.buffer.ports[first_ports[number]..];
    require(is_delay(&memory.streams[number], ports), name, "its buffer is no delay")?;
    let apart = first_ports.iter().all(|&other| {
        other == first_ports[number] || memory.buffer.ports[other].access.get(1..) != ports[0].access.get(1..)
    });
    require(apart, name, "its streams share words")?;
    let first = stage.first_cycle(schedule) + stage.latency as i64 + ago;
    let loops = stage.loops.iter().map(|level| level.extent).zip(schedule.stride.iter().copied());
    require(covers(&ports[0], first, loops), name, "its buffer does not take all words")
}

fn name(accelerator: &Accelerator, memory: &DelayMemory) -> String {
    let wires = memory.streams.iter().filter_map(|stream| accelerator.wires.get(stream.of));
    format!("the memory of {}", wires.map(|wire| &wire.name).join(", "))
}

/// The number of the port that takes each stream; its reads follow.
fn ports_of_streams(memory: &DelayMemory) -> Vec<usize> {
    memory.buffer.writes().map(|(number, _)| number).collect()
}

/// Whether each read shows the word written so many cycles before: the same elements, each written once, at the same
/// times but for the delay. The ports begin with those of the stream.
fn is_delay(stream: &Delayed, ports: &[Port]) -> bool {
    let (write, rest) = (&ports[0], &ports[1..]);
    let reads = &rest[..rest.iter().take_while(|port| port.direction == Direction::Read).count()];
    let numbered = Affine { start: 0, stride: write.extents().numbering() };
    let right = match write.access.as_slice() {
        // The other indices are constant: they tell streams from each other.
        [number, others @ ..] => {
            *number == numbered && others.iter().all(|other| other.stride.iter().all(|&stride| stride == 0))
        }
        [] => false,
    };
    let is_late = |(read, &delay): (&Port, &u64)| {
        read.access == write.access
            && read.extents() == write.extents()
            && read.schedule.stride == write.schedule.stride
            && read.schedule.start == write.schedule.start + delay as i64
    };
    right && reads.len() == stream.delays.len() && reads.iter().zip(&stream.delays).all(is_late)
}

/// Whether a port has an iteration in each cycle of these loops, which are given by extent and stride: each of them is a
/// loop of the port, or steps within the range of the port's first loop.
fn covers(port: &Port, first: i64, loops: impl Iterator<Item = (u64, i64)>) -> bool {
    let mut levels: Vec<(u64, i64)> = port.extents().into_iter().zip(port.schedule.stride.iter().copied()).collect();
    let mut rest = 0;
    let mut rates = Vec::new();
    for (extent, stride) in loops.filter(|(extent, _)| *extent > 1) {
        match levels.iter().position(|level| *level == (extent, stride)) {
            Some(level) => _ = levels.remove(level),
            None => {
                rest += stride * (extent as i64 - 1);
                rates.push(stride);
            }
        }
    }
    let offset = first - port.schedule.start;
    if rates.is_empty() && offset == 0 {
        return true;
    }
    let fits = |&(extent, rate): &(u64, i64)| {
        rate > 0
            && rates.iter().all(|stride| stride % rate == 0 && *stride > 0)
            && offset >= 0
            && offset % rate == 0
            && offset + rest <= rate * (extent as i64 - 1)
    };
    levels.iter().any(fits)
}
