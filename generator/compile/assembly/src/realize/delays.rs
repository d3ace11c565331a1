//! Delays: chains of shift registers and memories.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_buffers::{Direction, Port, UnifiedBuffer};
use pushmem_nest::Level;

use super::Realizer;
use super::stream::stream_of;
use crate::error::AssemblyError;
use pushmem_graph::{DelayMemory, Delayed, Driver, StageResult, Tile, TileId, WireId, WordId};

/// The longest delay, in cycles, that becomes registers where the memory tile cannot make it.
const LONGEST_RESCUE: u64 = 128;

impl Realizer<'_> {
    /// Adds the delays of a stage's result that are wanted: a chain of shift registers and memories, each beginning where
    /// the one before ends.
    ///
    /// # Errors
    /// When the memory tiles cannot make a delay.
    pub(super) fn add_delays(&mut self, net: WordId) -> Result<(), AssemblyError> {
        let Some(result) = &self.graph.words[net].result else { return Ok(()) };
        let base = self.wires[&(net, 0)];
        let name = self.accelerator.wires[base].name.clone();
        let delays = self.delays[net].iter().copied().filter(|&delay| delay > 0).collect_vec();
        // The end of the chain, and outputs of memories that begin before it and come later.
        let mut last = (0, base);
        let mut outputs: BTreeMap<u64, Driver> = BTreeMap::new();
        for (number, &delay) in delays.iter().enumerate() {
            let is_long = |from: u64, to: u64| to - from >= self.constraints.shift_register_threshold;
            if !outputs.contains_key(&delay) && is_long(last.0, delay) {
                let steps = std::iter::once(last.0).chain(delays[number..].iter().copied()).tuple_windows();
                let long = steps.filter(|(from, to)| is_long(*from, *to)).map(|(_, to)| to - last.0).collect_vec();
                match self.best_memory(result, last, &long) {
                    Ok(memory) => outputs.extend(self.add_memory(last, memory)),
                    // The tile collects and spreads whole rows: delays too short for that become registers after all.
                    Err(_) if delay - last.0 <= LONGEST_RESCUE => {}
                    Err(error) => return Err(error),
                }
            }
            let driver = outputs.remove(&delay).unwrap_or(Driver::ShiftRegister { of: last.1, length: delay - last.0 });
            let known = match driver {
                Driver::Tile { tile, output } => self.accelerator.tiles[tile].outputs[output],
                _ => None,
            };
            let wire = known.unwrap_or_else(|| self.add_wire(format!("{name}_{delay}_ago"), driver.clone()));
            if let Driver::Tile { tile, output } = driver {
                self.connect(tile, output, wire);
            }
            self.wires.insert((net, delay), wire);
            last = (delay, wire);
        }
        Ok(())
    }

    /// Maps the first of these delays of a wire, as many as take the fewest tiles each: the rest goes to another memory
    /// behind it, which is smaller than one that begins at the same wire.
    fn best_memory(
        &self,
        result: &StageResult,
        from: (u64, WireId),
        delays: &[u64],
    ) -> Result<DelayMemory, AssemblyError> {
        let mut best: Option<DelayMemory> = None;
        let mut refused = None;
        for count in (1..=delays.len().min(self.tiles.target.memory().outputs as usize)).rev() {
            let delays = &delays[..count];
            let buffer = self.delay_buffer(result, from.0, delays);
            match pushmem_mapping::map(&buffer, self.tiles.target.memory()) {
                Ok(mapped) => {
                    let each = |memory: &DelayMemory| (memory.mapped.tiles.len(), memory.streams[0].delays.len());
                    let (tiles, delayed) = (mapped.tiles.len(), delays.len());
                    let fewer = |other: &DelayMemory| tiles * each(other).1 < each(other).0 * delayed;
                    if best.as_ref().is_none_or(fewer) {
                        let stream = Delayed { of: from.1, delays: delays.to_vec(), wires: Vec::new() };
                        best = Some(DelayMemory { streams: vec![stream], buffer, mapped, first_tile: TileId::new(0) });
                    }
                }
                Err(error) => refused = Some(error),
            }
        }
        best.ok_or_else(|| AssemblyError::Memory {
            stage: result.stage,
            delays: delays.to_vec(),
            error: Box::new(refused.expect("there is a delay")),
        })
    }

    /// The buffer that delays a stage's result, itself some cycles late.
    fn delay_buffer(&self, result: &StageResult, late: u64, delays: &[u64]) -> UnifiedBuffer {
        let stream = stream_of(&result.words);
        let port = |name: String, direction: Direction, delay: u64| Port {
            name,
            direction,
            domain: stream.domain.clone(),
            access: vec![stream.number.clone()],
            schedule: Affine { start: stream.cycle.start + (late + delay) as i64, ..stream.cycle.clone() },
        };
        let reads = delays.iter().map(|&delay| port(format!("{delay}_ago"), Direction::Read, delay));
        let ports = std::iter::once(port("write".to_owned(), Direction::Write, 0)).chain(reads).collect();
        UnifiedBuffer { name: self.graph.names.stages[result.stage].clone(), ports }
    }

    /// Adds a memory with its tiles, and returns the driver of each of its delays, counted from the stage's result.
    fn add_memory(&mut self, from: (u64, WireId), memory: DelayMemory) -> Vec<(u64, Driver)> {
        let first_tile = self.accelerator.tiles.next_idx();
        let name = self.accelerator.wires[from.1].name.clone();
        for (number, tile) in memory.mapped.tiles.iter().enumerate() {
            let name = match memory.mapped.tiles.len() {
                1 => format!("{name}_memory"),
                _ => format!("{name}_memory_{number}"),
            };
            let inputs = tile.inputs.iter().map(|input| {
                input.map(|source| match source {
                    pushmem_mapping::Source::Port(_) => from.1,
                    pushmem_mapping::Source::Output { tile, output } => self.tile_output(first_tile + tile, output),
                })
            });
            let inputs = inputs.collect();
            self.accelerator.tiles.push(Tile {
                name,
                level: Level::Memory,
                begin: 0,
                configuration: tile.configuration.clone(),
                inputs,
                outputs: vec![None; tile.outputs.len()],
                chain_from: tile.chain_from.map(|other| first_tile + other),
            });
        }
        let place = |(read, delay): (usize, &u64)| {
            let (tile, output) = place_of_read(&memory.mapped, read + 1);
            (from.0 + delay, Driver::Tile { tile: first_tile + tile, output })
        };
        let places = memory.streams[0].delays.iter().enumerate().map(place).collect();
        self.accelerator.memories.push(DelayMemory { first_tile, ..memory });
        places
    }

    /// The wire that the output of a tile drives.
    pub(super) fn tile_output(&mut self, tile: TileId, output: usize) -> WireId {
        if let Some(wire) = self.accelerator.tiles[tile].outputs[output] {
            return wire;
        }
        let name = format!("{}_output_{output}", self.accelerator.tiles[tile].name);
        let wire = self.add_wire(name, Driver::Tile { tile, output });
        self.accelerator.tiles[tile].outputs[output] = Some(wire);
        wire
    }

    /// Connects a wire to the output of a tile that drives it.
    fn connect(&mut self, tile: TileId, output: usize, wire: WireId) {
        self.accelerator.tiles[tile].outputs[output] = Some(wire);
        let within = |memory: &&mut DelayMemory| {
            (memory.first_tile..memory.first_tile + memory.mapped.tiles.len()).contains(&tile)
        };
        let memory = self.accelerator.memories.iter_mut().find(within).expect("a tile belongs to a memory");
        // The wires of a memory come in the order of their delays.
        memory.streams[0].wires.push(wire);
    }
}

/// The tile and the output where a read port is. In a chain several tiles have the read: the last of them shows it.
pub(super) fn place_of_read(mapped: &pushmem_mapping::MappedBuffer, port: usize) -> (usize, usize) {
    let feeds = |tile: usize| mapped.tiles.iter().any(|other| other.chain_from == Some(tile));
    let places = mapped.tiles.iter().enumerate().flat_map(|(tile, content)| {
        let outputs = content.outputs.iter().enumerate();
        outputs.filter(move |(_, of)| **of == Some(port)).map(move |(output, _)| (tile, output))
    });
    let ends = places.filter(|(tile, _)| !feeds(*tile)).collect_vec();
    ends.first().copied().expect("every read port is mapped")
}
