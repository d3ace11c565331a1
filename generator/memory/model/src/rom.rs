//! A table addressed from outside.

use pushmem_tile::{Role, TileSpec};

use crate::context::Context;
use crate::memory::{Delay, Memory, ReadPort, Row};
use crate::ports::Inputs;
use crate::violation::ViolationKind;
use crate::word::Word;

pub(crate) struct Rom {
    rows: u64,
    memory: Memory<1>,
    read_port: ReadPort<1>,
    /// The address on the way beside the SRAM.
    delay: Delay<u64>,
}

impl Rom {
    pub fn new(spec: &TileSpec) -> Self {
        Rom {
            rows: u64::from(spec.rows),
            memory: Memory::new(spec.rows),
            read_port: ReadPort::new(spec.sram_latency),
            delay: Delay::new(spec.sram_latency),
        }
    }

    pub fn load(&mut self, contents: &[u64]) {
        for (address, &word) in contents.iter().enumerate() {
            self.memory.write_word(address as u64, 0, Word::new(word));
        }
    }

    pub fn has_pending(&self) -> bool {
        self.delay.is_pending()
    }

    /// Whether it has the words of another one.
    pub fn refines(&self, other: &Self) -> bool {
        self.memory.refines(&other.memory, 0) && self.read_port.refines(&other.read_port) && self.delay == other.delay
    }

    pub fn output(&self) -> Option<Word> {
        self.delay.arriving(None).map(|_| self.read_port.row().words[0])
    }

    /// Ends an unstalled cycle.
    pub fn clock(&mut self, context: &mut Context, inputs: &Inputs) {
        let fires = context.firing(Role::Rom2Out, 0).is_some();
        let address = inputs.data[0];
        if fires && address >= self.rows {
            context.violation(ViolationKind::OutOfRange, Role::Rom2Out, 0, || format!("word {address}"));
        }
        if let Some(arriving) = self.delay.arriving(None)
            && !self.read_port.row().words[0].defined
        {
            context.violation(ViolationKind::UndefinedRead, Role::Rom2Out, 0, || format!("rom word {arriving}"));
        }
        let read: Option<&Row<1>> = fires.then(|| self.memory.row(address));
        self.read_port.clock(read);
        self.delay.clock(fires.then_some(address));
    }

    /// Drops pending reads.
    pub fn flush(&mut self) {
        self.delay.flush();
    }
}
