//! Memories read and written word by word: dual-port and quad-port SRAM, register file.

use pushmem_tile::{Kind, Role, TileSpec};

use crate::context::Context;
use crate::memory::{Delay, Memory, ReadPort};
use crate::ports::Inputs;
use crate::violation::ViolationKind;
use crate::word::Word;

/// The only address generator of each controller.
const ADDRESS: usize = 0;

/// Words are the only word of their row.
const LANE: u64 = 0;

pub(crate) struct Direct {
    write_role: Role,
    read_role: Role,
    memory_name: &'static str,
    kind: Kind,
    inputs: u32,
    latency: u32,
    memory: Memory<1>,
    read_ports: Vec<ReadPort<1>>,
    /// Whether the tile owns the word, and its address, on the way beside the SRAM, by output.
    delays: Vec<Delay<(bool, u64)>>,
}

impl Direct {
    pub fn new(spec: &TileSpec) -> Self {
        let (write_role, read_role) = spec.kind.direct_roles().expect("made for direct tiles only");
        Direct {
            write_role,
            read_role,
            memory_name: spec.main_memory().name(),
            kind: spec.kind,
            inputs: spec.inputs,
            latency: spec.sram_latency,
            memory: Memory::new(spec.rows),
            read_ports: (0..spec.kind.memory_ports()).map(|_| ReadPort::new(spec.sram_latency)).collect(),
            delays: (0..spec.outputs).map(|_| Delay::new(spec.sram_latency)).collect(),
        }
    }

    /// Loads words from the first address on.
    pub fn load(&mut self, contents: &[u64]) {
        for (address, &word) in (0..).zip(contents) {
            self.memory.write_word(address, LANE, Word::new(word));
        }
    }

    pub fn has_pending(&self) -> bool {
        self.delays.iter().any(Delay::is_pending)
    }

    /// Whether it has the words of another one, as far as anybody wrote those, in rows so many later.
    pub fn refines(&self, other: &Self, rows: u64) -> bool {
        let later = |(is_own, row): (bool, u64)| (is_own, if is_own { (row + rows) % self.memory.rows() } else { row });
        self.memory.refines(&other.memory, rows)
            && self.read_ports.iter().zip(&other.read_ports).all(|(one, other)| one.refines(other))
            && self.delays.iter().zip(&other.delays).all(|(one, other)| *one == other.map(later))
    }

    /// Moves its words by so many rows.
    pub fn turn(&mut self, rows: u64) {
        self.memory.turn(rows);
    }

    pub fn output(&self, context: &Context, inputs: &Inputs, port: u32) -> Option<Word> {
        let (owned, _) = self.delays[port as usize].arriving(self.departing(context, port))?;
        Some(if owned {
            self.word_read(context, self.kind.memory_port(port))
        } else {
            Word::new(inputs.chain[port as usize])
        })
    }

    fn departing(&self, context: &Context, port: u32) -> Option<(bool, u64)> {
        context.firing(self.read_role, port).map(|controller| context.own_row(controller.address(ADDRESS)))
    }

    /// The word on a read port: the SRAM's output, or the register file's word at the current address.
    fn word_read(&self, context: &Context, memory_port: u32) -> Word {
        if self.latency > 0 {
            return self.read_ports[memory_port as usize].row().words[0];
        }
        self.memory.word(self.read_address(context, memory_port).unwrap_or(0), LANE)
    }

    /// The addresses that outputs read through a port, ORed as in the RTL.
    fn read_address(&self, context: &Context, memory_port: u32) -> Option<u64> {
        let mut address = None;
        for port in self.kind.sharing(memory_port, self.delays.len() as u32) {
            if let Some(controller) = context.firing(self.read_role, port) {
                let (owned, row) = context.own_row(controller.address(ADDRESS));
                if owned {
                    address = Some(address.unwrap_or(0) | row);
                }
            }
        }
        address
    }

    /// Ends an unstalled cycle. Reads see the state before the writes of the same cycle.
    pub fn clock(&mut self, context: &mut Context, inputs: &Inputs) {
        self.check(context);
        for port in 0..self.delays.len() as u32 {
            let departing = self.departing(context, port);
            if let Some((true, address)) = self.delays[port as usize].arriving(departing) {
                let word = self.word_read(context, self.kind.memory_port(port));
                if !word.defined {
                    let name = self.memory_name;
                    context.violation(ViolationKind::UndefinedRead, self.read_role, port, || {
                        format!("{name} word {address}")
                    });
                }
            }
            self.delays[port as usize].clock(departing);
        }
        if self.latency > 0 {
            for memory_port in 0..self.kind.memory_ports() {
                let address = self.read_address(context, memory_port);
                self.read_ports[memory_port as usize].clock(address.map(|address| self.memory.row(address)));
            }
        }
        for memory_port in 0..self.kind.memory_ports() {
            self.write(context, inputs, memory_port);
        }
    }

    fn write(&mut self, context: &Context, inputs: &Inputs, memory_port: u32) {
        let mut write: Option<(u64, Word)> = None;
        for port in self.kind.sharing(memory_port, self.inputs) {
            let Some(controller) = context.firing(self.write_role, port) else { continue };
            let (owned, row) = context.own_row(controller.address(ADDRESS));
            if owned {
                let word = Word::new(inputs.data[port as usize]);
                write = Some(match write {
                    Some((other, other_word)) => (other | row, other_word.or(word)),
                    None => (row, word),
                });
            }
        }
        if let Some((row, word)) = write {
            self.memory.write_word(row, LANE, word);
        }
    }

    /// Of the controllers that share a port, at most one may access a word of this tile.
    fn check(&self, context: &mut Context) {
        for (role, ports) in [(self.write_role, self.inputs), (self.read_role, self.delays.len() as u32)] {
            for memory_port in 0..self.kind.memory_ports() {
                let mut accessing = self.kind.sharing(memory_port, ports).filter(|&port| {
                    let firing = context.firing(role, port);
                    firing.is_some_and(|controller| context.own_row(controller.address(ADDRESS)).0)
                });
                if let (Some(_), Some(second)) = (accessing.next(), accessing.next()) {
                    let address = context.controller(role, second).address(ADDRESS);
                    let name = self.memory_name;
                    context.violation(ViolationKind::PortConflict, role, second, || format!("{name} word {address}"));
                }
            }
        }
    }

    /// Drops pending accesses.
    pub fn flush(&mut self) {
        for delay in &mut self.delays {
            delay.flush();
        }
    }
}
