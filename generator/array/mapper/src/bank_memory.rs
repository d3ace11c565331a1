//! Arrays of a program in banks of the global buffer: a bank whose DMAs count one time is a memory of the array.

use pushmem_affine::Affine;
use pushmem_bitstream::BankConfiguration;
use pushmem_compiler::Compiled;
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::Direction;
use pushmem_tile::{Role, timing};

use crate::lower::Lowered;

/// An array, or a part of one, in a bank: when its words leave the array, when they are read, and where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BankMemory {
    /// The array of the program.
    pub array: usize,
    write: ControllerConfiguration,
    read: ControllerConfiguration,
    /// Cycles from the read to the word.
    latency: i64,
}

/// The memories that are the banks of a netlist, in their order.
pub(crate) fn bank_memories(compiled: &Compiled, lowered: &Lowered) -> Vec<BankMemory> {
    let Compiled { graph, storage, target, .. } = compiled;
    let memory = |tile: &pushmem_graph::TileId| {
        let keeps = |memory: &pushmem_graph::ArrayMemory| {
            (memory.first_tile..memory.first_tile + memory.mapped.tiles.len()).contains(tile)
        };
        let stored = storage.arrays.position(keeps).expect("memories in banks are arrays");
        let tile = &storage.tiles[*tile];
        let spec = target.at(tile.level).unwrap_or_else(|| target.memory());
        let configuration = tile.configuration.clone().later(tile.begin as i64);
        let port = |role: Role| {
            let name = spec.controllers().into_iter().find(|of| of.role == role).map(|of| of.name).unwrap_or_default();
            configuration.controllers.get(&name).cloned().unwrap_or_default()
        };
        BankMemory {
            array: graph.arrays[stored].array,
            write: port(Role::In2Sram),
            read: port(Role::Sram2Out),
            latency: timing::sram_to_output(spec.sram_latency) as i64,
        }
    };
    lowered.banks.iter().map(memory).collect()
}

impl BankMemory {
    fn port(&self, direction: Direction) -> &ControllerConfiguration {
        match direction {
            Direction::In => &self.read,
            Direction::Out => &self.write,
        }
    }

    /// The beats of the stream that it loads or stores, so many cycles later than in the schedule, over loops of `limit` iterations at most.
    pub fn beats(&self, direction: Direction, lag: i64, limit: u64) -> ControllerConfiguration {
        let ControllerConfiguration { extent, cycle, .. } = self.port(direction);
        let later = match direction {
            Direction::In => lag + self.latency,
            Direction::Out => lag,
        };
        let (extent, cycle) = cycle.shifted(later).coalesced(extent, limit);
        ControllerConfiguration { extent, cycle, ..ControllerConfiguration::default() }
    }

    /// The bank: its time begins with its first access.
    pub fn bank(&self) -> BankConfiguration {
        let first = self.read.cycle.start.min(self.write.cycle.start);
        let port = |direction: Direction| {
            let port = self.port(direction);
            let cycle = Affine { start: port.cycle.start - first, ..port.cycle.clone() };
            Some(ControllerConfiguration { cycle, ..port.clone() })
        };
        BankConfiguration { load: port(Direction::In), store: port(Direction::Out), common_time: true }
    }
}
