//! Arrays that are kept in memory tiles.

use pushmem_buffers::Direction;
use pushmem_files::Diagnostic;
use pushmem_graph::{
    ArrayId, ArrayMemory, ArrayNode, Driver, Edge, MemoryTile, StoredArray, TileInput, WireId, WordDriver, WordId,
};

use super::Realizer;

impl Realizer<'_> {
    /// Adds all memory tiles, not yet connected.
    pub(super) fn add_tiles(&mut self) {
        let tile = |tile: &MemoryTile| tile.with_ports(vec![None; tile.inputs.len()], vec![None; tile.outputs]);
        self.accelerator.tiles = self.storage.tiles.iter().map(tile).collect();
    }

    /// Adds all arrays, with wires for the words on their read ports. The write ports are connected when all stages are there.
    pub(super) fn add_arrays(&mut self) {
        self.graph.arrays.indices().for_each(|array| self.add_array(array));
    }

    fn add_array(&mut self, number: ArrayId) {
        let ArrayNode { array, word, writers, buffer, .. } = &self.graph.arrays[number];
        let ArrayMemory { begin, mapped, first_tile } = &self.storage.arrays[number];
        // Those of the write ports come before them when all stages are there.
        let mut wires: Vec<WireId> = Vec::new();
        for (port, content) in buffer.ports.iter().enumerate() {
            if content.direction == Direction::Read {
                let (tile, output) = self.storage.read(number, port);
                let net = self.net_of_port(number, port);
                let wire = self.add_wire(self.graph.words[net].name.clone(), Driver::Tile { tile, output });
                self.accelerator.tiles[tile].outputs[output] = Some(wire);
                self.wires.insert((net, 0), wire);
                wires.push(wire);
            }
        }
        self.accelerator.arrays.push(StoredArray {
            array: *array,
            word: *word,
            writers: writers.clone(),
            wires,
            buffer: buffer.clone(),
            begin: *begin,
            mapped: mapped.clone(),
            first_tile: *first_tile,
        });
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
    pub(super) fn connect_arrays(&mut self) -> Result<(), Diagnostic> {
        let storage = self.storage;
        for (number, node) in self.graph.arrays.iter().enumerate() {
            let mut written: Vec<WireId> = Vec::new();
            for (&stage, &edge) in node.writers.iter().zip(&node.writes) {
                written.push(match edge {
                    Edge::Net { net, delay } => self.wire(net, delay)?,
                    Edge::Constant(word) => self.add_constant(stage, word),
                });
            }
            let ArrayMemory { mapped, first_tile, .. } = &storage.arrays[number];
            for (tile, content) in mapped.tiles.iter().enumerate() {
                let wires = storage.tiles[*first_tile + tile].inputs.iter().zip(&content.inputs).map(|(input, of)| {
                    match (input, of) {
                        (Some(TileInput::Output { tile, output }), _) => Some(self.tile_output(*tile, *output)),
                        (_, Some(pushmem_mapping::Source::Port(port))) => Some(written[*port]),
                        _ => None,
                    }
                });
                let wires = wires.collect();
                self.accelerator.tiles[*first_tile + tile].inputs = wires;
            }
            self.accelerator.arrays[number].wires.splice(0..0, written);
        }
        Ok(())
    }
}
