//! Arrays that are kept in memory tiles.

use pushmem_buffers::Direction;
use pushmem_mapping::{MappedTile, Source};

use super::Realizer;
use super::delays::place_of_read;
use crate::array_mapping::map_in_time;
use crate::error::AssemblyError;
use pushmem_graph::{ArrayId, ArrayNode, Driver, Edge, StoredArray, Tile, WireId, WordDriver, WordId};

impl Realizer<'_> {
    /// Adds the tiles of all arrays, with wires for the words on their read ports. The write ports are connected when all
    /// stages are there.
    ///
    /// # Errors
    /// When the tiles of its level cannot keep an array.
    pub(super) fn add_arrays(&mut self) -> Result<(), AssemblyError> {
        self.graph.arrays.indices().try_for_each(|array| self.add_array(array))
    }

    fn add_array(&mut self, number: ArrayId) -> Result<(), AssemblyError> {
        let ArrayNode { array, word, level, writers, buffer, .. } = &self.graph.arrays[number];
        let (array, word, level) = (*array, *word, *level);
        let spec = self.tiles.target.at(level).unwrap_or_else(|| self.tiles.target.memory());
        let (begin, mapped) = map_in_time(buffer, spec, self.tiles.mappings).map_err(|error| AssemblyError::Array {
            array,
            level,
            error: Box::new(error),
            others: Vec::new(),
            given_up: None,
        })?;
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
                let tile = first_tile + tile;
                let net = self.net_of_port(number, port);
                let wire = self.add_wire(self.graph.words[net].name.clone(), Driver::Tile { tile, output });
                self.accelerator.tiles[tile].outputs[output] = Some(wire);
                self.wires.insert((net, 0), wire);
                wires.push(wire);
            }
        }
        let (writers, buffer) = (writers.clone(), buffer.clone());
        self.accelerator.arrays.push(StoredArray { array, word, writers, wires, buffer, begin, mapped, first_tile });
        Ok(())
    }

    /// The net that a read port drives.
    fn net_of_port(&self, array: ArrayId, port: usize) -> WordId {
        let driver = WordDriver::Port { array, port };
        let net = self.graph.words.position(|net| net.driver == driver);
        net.expect("each read port drives a net")
    }

    /// Connects the inputs of the tiles of arrays.
    ///
    /// # Errors
    /// When an array takes words that no stage has.
    pub(super) fn connect_arrays(&mut self) -> Result<(), AssemblyError> {
        for (number, node) in self.graph.arrays.iter().enumerate() {
            let mut written: Vec<WireId> = Vec::new();
            for (&stage, &edge) in node.writers.iter().zip(&node.writes) {
                written.push(match edge {
                    Edge::Net { net, delay } => self.wire(net, delay)?,
                    Edge::Constant(word) => self.add_constant(stage, word),
                });
            }
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
        Ok(())
    }
}
