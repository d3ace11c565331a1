//! Delays: chains of shift registers and memories.

use std::collections::BTreeMap;

use index_vec::IndexSlice;
use pushmem_files::Diagnostic;
use pushmem_graph::{
    DelayLine, DelayMemory, DelayTiles, Delayed, Driver, Edge, TileId, TileInput, TileOutput, Wire, WireId, WordId,
};

use super::Realizer;

/// The shortest delay that a memory with registers around it makes, in cycles.
const SHORTEST_LINE: u64 = 3;

/// The shift registers of this length or more as memories: those of one length are one, with one counter of addresses.
pub(super) fn lines(wires: &IndexSlice<WireId, [Wire]>, threshold: u64) -> Vec<DelayLine> {
    let mut lines: BTreeMap<u64, Vec<WireId>> = BTreeMap::new();
    for (number, wire) in wires.iter_enumerated() {
        match wire.driver {
            Driver::ShiftRegister { length, .. } if length >= threshold.max(SHORTEST_LINE) => {
                lines.entry(length).or_default().push(number);
            }
            _ => {}
        }
    }
    lines.into_iter().map(|(length, wires)| DelayLine { length, wires }).collect()
}

impl Realizer<'_> {
    /// Adds the memories of delays, whose wires come with the nets.
    pub(super) fn add_delay_memories(&mut self) {
        // Replaced when the nets have their wires.
        let unconnected = WireId::new(0);
        for memory in &self.storage.delays {
            let streams = memory.streams.iter().map(|stream| Delayed {
                of: unconnected,
                delays: stream.delays.clone(),
                wires: Vec::new(),
            });
            self.accelerator.memories.push(DelayMemory {
                streams: streams.collect(),
                buffer: memory.buffer.clone(),
                mapped: memory.mapped.clone(),
                first_tile: memory.first_tile,
            });
        }
    }

    /// Adds the delays of a stage's result that are wanted: a chain of shift registers and memories, each beginning where
    /// the one before ends.
    pub(super) fn add_delays(&mut self, net: WordId) {
        if self.graph.words[net].result.is_none() {
            return;
        }
        let base = self.wires[&(net, 0)];
        let name = self.accelerator.wires[base].name.clone();
        let mut last = (0, base);
        self.add_memory_wires(net, last.0);
        for delay in self.delays[net].clone().into_iter().filter(|&delay| delay > 0) {
            let wire = match self.delayed.get(&(net, delay)) {
                Some(&output) => self.delayed_output(output, &format!("{name}_{delay}_ago")),
                None => {
                    let driver = Driver::ShiftRegister { of: last.1, length: delay - last.0 };
                    self.add_wire(format!("{name}_{delay}_ago"), driver)
                }
            };
            self.wires.insert((net, delay), wire);
            last = (delay, wire);
            self.add_memory_wires(net, last.0);
        }
        self.note_wires(net);
    }

    /// Adds the wires between the tiles of a memory that delays a net from so many cycles on.
    fn add_memory_wires(&mut self, net: WordId, from: u64) {
        let storage = self.storage;
        let begins =
            |memory: &&DelayTiles| memory.streams.iter().any(|stream| (stream.net, stream.from) == (net, from));
        for memory in storage.delays.iter().filter(begins) {
            for number in 0..memory.mapped.tiles.len() {
                for input in storage.tiles[memory.first_tile + number].inputs.iter().flatten() {
                    if let TileInput::Output { tile, output } = *input {
                        self.tile_output(tile, output);
                    }
                }
            }
        }
    }

    /// The wire that an output with delayed words drives.
    fn delayed_output(&mut self, (tile, output): TileOutput, name: &str) -> WireId {
        let known = self.accelerator.tiles[tile].outputs[output];
        let wire = known.unwrap_or_else(|| self.add_wire(name.to_owned(), Driver::Tile { tile, output }));
        self.accelerator.tiles[tile].outputs[output] = Some(wire);
        wire
    }

    /// Notes the wires of a net in the memories that delay it.
    fn note_wires(&mut self, net: WordId) {
        let wires = &self.wires;
        for (memory, of) in self.accelerator.memories.iter_mut().zip(&self.storage.delays) {
            for (stream, of) in memory.streams.iter_mut().zip(&of.streams).filter(|(_, of)| of.net == net) {
                stream.of = wires[&(net, of.from)];
                stream.wires = of.delays.iter().map(|delay| wires[&(net, of.from + delay)]).collect();
            }
        }
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

    /// Connects the inputs of the tiles that delay words.
    ///
    /// # Errors
    /// When one takes words that no stage has.
    pub(super) fn connect_delays(&mut self) -> Result<(), Diagnostic> {
        let storage = self.storage;
        for memory in &storage.delays {
            for number in 0..memory.mapped.tiles.len() {
                let tile = memory.first_tile + number;
                let mut inputs = Vec::new();
                for input in &storage.tiles[tile].inputs {
                    inputs.push(match input {
                        None => None,
                        Some(TileInput::Edge(Edge::Net { net, delay })) => Some(self.wire(*net, *delay)?),
                        Some(TileInput::Edge(Edge::Constant(_))) => unreachable!("nets are delayed"),
                        Some(TileInput::Output { tile, output }) => Some(self.tile_output(*tile, *output)),
                    });
                }
                self.accelerator.tiles[tile].inputs = inputs;
            }
        }
        Ok(())
    }
}
