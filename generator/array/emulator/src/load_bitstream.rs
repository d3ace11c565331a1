//! The configuration DMA of a bank in cycles.

use pushmem_configuration::RegisterWrite;
use pushmem_resources::BitstreamState;

/// The use of the row that the SRAM shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No bitstream is read.
    Idle,
    /// The header is read in this cycle.
    Begins,
    /// The SRAM shows the header.
    Header,
    /// The SRAM shows a write; so many are left with it.
    Write(u32),
}

/// The inputs of a configuration DMA in a cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConfigurationDmaInputs {
    /// Ends all.
    pub clear: bool,
    /// The row at which a bitstream begins.
    pub first: Option<u32>,
    /// The row that [`ConfigurationDma::read`] asks for, if a write that is offered is taken.
    pub shown: Option<u64>,
    /// Whether a write was taken.
    pub is_taken: bool,
    /// Whether the write that was taken `answer` cycles before was refused.
    pub refused: bool,
    /// Whether the write that was taken in the cycle before went to a register that the bank does not have.
    pub missing: bool,
}

/// The configuration DMA of a bank.
#[derive(Debug)]
pub(crate) struct ConfigurationDma {
    digest: u32,
    /// Rows of a half.
    rows: u32,
    phase: Phase,
    /// The row that comes next, and the one that the SRAM shows.
    pub row: u32,
    shown: u64,
    /// Whether a write was taken in each of the last cycles, the last one first, as long as its answer may come.
    flying: Vec<bool>,
    started: bool,
    wrong_header: bool,
    refused: bool,
}

impl ConfigurationDma {
    /// A DMA after reset, of a bank whose halves have so many rows; answers to writes come so many cycles later.
    pub fn new(digest: u32, rows: u32, answer: u32) -> Self {
        ConfigurationDma {
            digest,
            rows,
            phase: Phase::Idle,
            row: 0,
            shown: 0,
            flying: vec![false; answer as usize],
            started: false,
            wrong_header: false,
            refused: false,
        }
    }

    /// Whether rows are left to be read.
    pub fn reads(&self) -> bool {
        self.phase != Phase::Idle
    }

    /// Whether a bitstream is loaded.
    pub fn is_busy(&self) -> bool {
        self.reads() || self.flying.contains(&true)
    }

    /// A bit of the status.
    ///
    /// # Panics
    /// For the one that is of the bank.
    pub fn is(&self, state: BitstreamState) -> bool {
        match state {
            BitstreamState::Busy => self.is_busy(),
            BitstreamState::Done => self.started && !self.is_busy() && !self.wrong_header && !self.refused,
            BitstreamState::WrongHeader => self.wrong_header,
            BitstreamState::Refused => self.refused,
            BitstreamState::Unavailable => unreachable!("the bank knows whose its halves are"),
        }
    }

    /// The write that is offered.
    pub fn offers(&self) -> Option<RegisterWrite> {
        let write = RegisterWrite { address: (self.shown >> u32::BITS) as u32, data: self.shown as u32 };
        matches!(self.phase, Phase::Write(_)).then_some(write)
    }

    /// The row that is read in this cycle, if a write that is offered is taken.
    pub fn read(&self) -> Option<u32> {
        let is_read = match self.phase {
            Phase::Idle | Phase::Write(1) => false,
            Phase::Begins | Phase::Write(_) => true,
            Phase::Header => self.writes().is_some_and(|writes| writes > 0),
        };
        is_read.then_some(self.row)
    }

    /// The writes that the header counts, unless it is wrong.
    fn writes(&self) -> Option<u32> {
        let (digest, writes) = ((self.shown >> u32::BITS) as u32, self.shown as u32);
        (digest == self.digest && writes < self.rows).then_some(writes)
    }

    /// Takes the DMA to the next cycle.
    pub fn clock(&mut self, inputs: &ConfigurationDmaInputs) {
        let ConfigurationDmaInputs { clear, first, shown, is_taken, refused, missing } = *inputs;
        let reads = !matches!(self.phase, Phase::Write(_)) || is_taken;
        let next = match self.phase {
            Phase::Idle => Phase::Idle,
            Phase::Begins => Phase::Header,
            Phase::Header => self.writes().filter(|writes| *writes > 0).map_or(Phase::Idle, Phase::Write),
            Phase::Write(1) if is_taken => Phase::Idle,
            Phase::Write(left) => Phase::Write(left - u32::from(is_taken)),
        };
        let is_wrong = self.phase == Phase::Header && self.writes().is_none();
        if let Some(shown) = shown.filter(|_| reads) {
            self.shown = shown;
            self.row = (self.row + 1) % self.rows;
        }
        if let Some(first) = first {
            self.row = first;
        }
        if clear {
            self.phase = Phase::Idle;
            self.flying.fill(false);
            (self.started, self.wrong_header, self.refused) = (false, false, false);
        } else if first.is_some() {
            self.phase = Phase::Begins;
            (self.started, self.wrong_header, self.refused) = (true, false, false);
        } else {
            self.wrong_header |= is_wrong;
            self.refused |=
                refused && self.flying.last() == Some(&true) || missing && self.flying.first() == Some(&true);
            self.phase = next;
            self.flying.rotate_right(1);
            self.flying[0] = is_taken;
        }
    }
}
