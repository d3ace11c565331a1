//! Arrays that are kept in memory tiles.

use pushmem_buffers::Direction;
use pushmem_mapping::{MappedTile, Source};

use super::Builder;
use super::delays::place_of_read;
use super::plan::{KeptArray, Outcome};
use crate::arrays::ArrayPorts;
use pushmem_graph::{Driver, StoredArray, Tile, WireId};

impl Builder<'_> {
    /// Adds the tiles of an array, with wires for what its read ports show. What the write ports take is connected when all
    /// stages are there.
    pub(super) fn add_array(&mut self, kept: KeptArray) {
        let KeptArray { array, level, ports: ArrayPorts { buffer, writers, .. }, begin, mapped } = kept;
        let first_tile = self.accelerator.tiles.next_idx();
        let several = mapped.tiles.len() > 1;
        for (number, tile) in mapped.tiles.iter().enumerate() {
            let name = match several {
                true => format!("{}_memory_{number}", buffer.name),
                false => format!("{}_memory", buffer.name),
            };
            self.accelerator.tiles.push(Tile {
                name,
                level,
                begin,
                configuration: tile.configuration.clone(),
                inputs: vec![None; tile.inputs.len()],
                outputs: vec![None; tile.outputs.len()],
                chain_from: tile.chain_from.map(|other| first_tile + other),
            });
        }
        // Those of the write ports come before them when all stages are there.
        let mut wires: Vec<WireId> = Vec::new();
        for (port, content) in buffer.ports.iter().enumerate() {
            if content.direction == Direction::Read {
                let (tile, output) = place_of_read(&mapped, port);
                let (tile, name) = (first_tile + tile, content.name.clone());
                let wire = self.add_wire(name, Driver::Tile { tile, output });
                self.accelerator.tiles[tile].outputs[output] = Some(wire);
                self.port_wires.insert((array, port), wire);
                wires.push(wire);
            }
        }
        self.accelerator.arrays.push(StoredArray { array, writers, wires, buffer, begin, mapped, first_tile });
    }

    /// Connects the inputs of the tiles of arrays.
    pub(super) fn connect_arrays(&mut self) {
        for number in 0..self.accelerator.arrays.len() {
            let writers = self.accelerator.arrays[number].writers.clone();
            let written = writers.into_iter().map(|stage| match self.outcomes[stage] {
                Outcome::At(place) => self.wires[&place],
                Outcome::Constant(word) => self.add_constant_wire(stage, word),
            });
            let written: Vec<WireId> = written.collect();
            self.accelerator.arrays[number].wires.splice(0..0, written);
            let first_tile = self.accelerator.arrays[number].first_tile;
            for tile in 0..self.accelerator.arrays[number].mapped.tiles.len() {
                let MappedTile { inputs, .. } = self.accelerator.arrays[number].mapped.tiles[tile].clone();
                let wires = inputs.into_iter().map(|source| {
                    source.map(|source| match source {
                        Source::Port(port) => self.accelerator.arrays[number].wires[port],
                        Source::Output { tile, output } => self.tile_output(first_tile + tile, output),
                    })
                });
                let wires = wires.collect();
                self.accelerator.tiles[first_tile + tile].inputs = wires;
            }
        }
    }
}
