//! Arrays in random-access memories.

use super::Realizer;
use pushmem_files::Diagnostic;
use pushmem_graph::{Driver, Ram, RamRead, RamWrite, WordDriver};

impl Realizer<'_> {
    /// Adds the random-access memories, with wires for the elements that they show. Kernels that write are there; their results come
    /// out of registers.
    pub(super) fn add_rams(&mut self) {
        for (number, node) in self.graph.rams.iter_enumerated() {
            let array = self.graph.names.arrays[node.array].as_str();
            let words = self.program.arrays[node.array].size() as u64;
            let ram =
                Ram { name: format!("{array}_ram"), array: node.array, words, writes: Vec::new(), reads: Vec::new() };
            self.accelerator.rams.push(ram);
            for read in 0..node.reads.len() {
                let driver = WordDriver::Ram { ram: number, read };
                let net = self.graph.words.position(|net| net.driver == driver).expect("each read drives a net");
                let wire = self.add_wire(self.graph.words[net].name.clone(), Driver::Ram { ram: number, read });
                self.wires.insert((net, 0), wire);
            }
        }
    }

    /// Connects the random-access memories, when all kernels are there.
    ///
    /// # Errors
    /// When one takes words that no stage has.
    pub(super) fn connect_rams(&mut self) -> Result<(), Diagnostic> {
        let graph = self.graph;
        for (number, node) in graph.rams.iter_enumerated() {
            for write in &node.writes {
                let [element, address] = [self.source(write.element)?, self.source(write.address)?];
                let write = RamWrite { stage: write.stage, counter: write.counter, element, address };
                self.accelerator.rams[number].writes.push(write);
            }
            for (read, node) in node.reads.iter().enumerate() {
                let kernel = self.accelerator.kernels.position(|kernel| kernel.stage == node.stage);
                let wire = self.accelerator.wires.position(|wire| wire.driver == Driver::Ram { ram: number, read });
                if let (Some(kernel), Some(wire)) = (kernel, wire) {
                    self.accelerator.rams[number].reads.push(RamRead {
                        kernel,
                        load: node.load,
                        port: node.port,
                        counter: node.counter,
                        wire,
                    });
                }
            }
        }
        Ok(())
    }
}
