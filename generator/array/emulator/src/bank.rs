//! A bank of a global buffer in cycles: the load DMA, the store DMA, the two halves, the registers and the host.

mod transfers;

use pushmem_configuration::RegisterWrite;
use pushmem_csr::SoftwareAccess;
use pushmem_fabric::{ArraySpec, Direction, GlobalBufferSpec};
use pushmem_resources::{Address, BANK_FEATURE, BankMap, BankMeaning, BitstreamState, WHOLE_ARRAY};

use crate::load_bitstream::{ConfigurationDma, ConfigurationDmaInputs};
use transfers::Transfer;

/// An access to a register of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankAccess {
    /// Number of the register.
    pub register: u32,
    /// The word that is written; none for a read.
    pub write: Option<u32>,
}

/// An access of the host to a row of a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAccess {
    /// The half.
    pub half: usize,
    /// The row in it.
    pub row: u32,
    /// The words of the row that are written, the first in the lowest bit; 0 for a read.
    pub words: u32,
    /// The row that is written.
    pub data: u64,
}

/// The inputs of a bank in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BankInputs {
    /// Starts a run.
    pub flush: bool,
    /// Ends the run, and gives both halves to the host.
    pub clear: bool,
    /// An access to a register.
    pub access: Option<BankAccess>,
    /// An access of the host.
    pub host: Option<HostAccess>,
    /// Whether a word that is loaded is taken.
    pub load_ready: bool,
    /// The word that is offered to be stored.
    pub store: Option<u32>,
    /// Whether a write of a bitstream is taken. Then the next cycle has no access to a register.
    pub column_ready: bool,
    /// Whether the write that was taken as many cycles before as an access waits for its answer went to no register.
    pub column_refused: bool,
}

/// The outputs of a bank in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BankOutputs {
    /// Whether the access of the cycle before was to a register, and what was read.
    pub config_done: bool,
    /// See `config_done`.
    pub config_read_data: u32,
    /// Whether the access of the host in the cycle before was to a half of the host's, and the row that was read.
    pub host_done: bool,
    /// See `host_done`.
    pub host_read_data: u64,
    /// The word that is offered to the array.
    pub load: Option<u32>,
    /// Whether a word that is offered to be stored is taken.
    pub store_ready: bool,
    /// Whether a run is not over.
    pub busy: bool,
    /// The write of a bitstream that is offered to the columns of the bank.
    pub column: Option<RegisterWrite>,
    /// Whether a bitstream is loaded.
    pub configures: bool,
}

/// The cycle-accurate model of a bank.
#[derive(Debug)]
pub struct Bank {
    map: BankMap,
    levels: u32,
    address_bits: u32,
    words_per_row: u32,
    word_bits: u32,
    /// The words last written to the registers, by their numbers.
    registers: Vec<u32>,
    /// The words of both halves.
    halves: [Vec<u32>; GlobalBufferSpec::HALVES as usize],
    /// The half of the run, and which halves are the array's.
    half: usize,
    grants: [bool; GlobalBufferSpec::HALVES as usize],
    runs: bool,
    load: Transfer,
    /// The word that is offered, and the row that the SRAM shows, with its words.
    offers: Option<u32>,
    shown: Option<(u32, Vec<u32>)>,
    store: Transfer,
    /// The words of a row that were gathered, by their places.
    gathered: Vec<Option<u32>>,
    gathered_row: u32,
    /// The first column of the bank, in addresses of its registers.
    column: u32,
    configuration: ConfigurationDma,
    /// The half that a bitstream is read from, and whether the last one was not begun as its half was the array's.
    bitstream_half: usize,
    unavailable: bool,
    /// A write of a bitstream to a register of the bank.
    own: Option<BankAccess>,
    /// The answers to the accesses of the cycle before.
    config_answer: Option<u32>,
    host_answer: Option<u64>,
}

impl Bank {
    /// A bank after reset, by its number; nothing without a global buffer. Words of the SRAM are 0, in the hardware they are any.
    pub fn new(spec: &ArraySpec, number: u32) -> Option<Self> {
        let (buffer, map) = (spec.global_buffer.as_ref()?, BankMap::of(spec)?);
        let words = vec![0; (buffer.rows() * spec.words_per_row()) as usize];
        Some(Bank {
            registers: vec![0; map.registers.len()],
            levels: buffer.controller.levels,
            address_bits: spec.bank_address_bits(),
            words_per_row: spec.words_per_row(),
            word_bits: spec.word_bits(),
            halves: [words.clone(), words],
            half: 1,
            grants: [false; 2],
            runs: false,
            load: Transfer::default(),
            offers: None,
            shown: None,
            store: Transfer::default(),
            gathered: vec![None; spec.words_per_row() as usize],
            gathered_row: 0,
            column: buffer.first_column(number),
            configuration: ConfigurationDma::new(spec.digest_word(), buffer.rows(), spec.answer_latency()),
            bitstream_half: 0,
            unavailable: false,
            own: None,
            config_answer: None,
            host_answer: None,
            map,
        })
    }

    /// The words of a half.
    pub fn half(&self, half: usize) -> &[u32] {
        &self.halves[half]
    }

    /// The same, to be filled as a host does.
    pub fn half_mut(&mut self, half: usize) -> &mut [u32] {
        &mut self.halves[half]
    }

    /// Whether a half is the array's.
    pub fn is_granted(&self, half: usize) -> bool {
        self.grants[half]
    }

    /// Whether a run is not over.
    pub fn is_busy(&self) -> bool {
        self.runs
    }

    /// The outputs in this cycle.
    pub fn outputs(&self, inputs: &BankInputs) -> BankOutputs {
        BankOutputs {
            config_done: self.config_answer.is_some(),
            config_read_data: self.config_answer.unwrap_or(0),
            host_done: self.host_answer.is_some(),
            host_read_data: self.host_answer.unwrap_or(0),
            load: self.offers,
            store_ready: self.can_store(inputs),
            busy: self.runs,
            column: self.offered(inputs).filter(|write| self.own(*write).is_none()),
            configures: self.configuration.is_busy()
                || self.begun(inputs.access).is_some_and(|row| !self.is_taken(row)),
        }
    }

    /// The write of a bitstream that is offered to the columns or to the registers of the bank.
    fn offered(&self, inputs: &BankInputs) -> Option<RegisterWrite> {
        self.configuration.offers().filter(|_| !inputs.clear)
    }

    /// The access to a register of the bank that a write of a bitstream is, if it is one.
    fn own(&self, write: RegisterWrite) -> Option<BankAccess> {
        let Address { register, .. } = Address::of(write.address);
        let of_bank = Address { row: WHOLE_ARRAY, column: self.column, feature: BANK_FEATURE, register };
        (of_bank.word() == write.address).then_some(BankAccess { register, write: Some(write.data) })
    }

    /// The row at which an access begins a bitstream.
    fn begun(&self, access: Option<BankAccess>) -> Option<u32> {
        let (register, field) = self.map.field(BankMeaning::BitstreamRow);
        let data = access.filter(|access| access.register == register)?.write?;
        Some(data & field.mask())
    }

    /// The half of a row of the bank.
    fn half_of(&self, row: u32) -> usize {
        (row * self.words_per_row) as usize / self.halves[0].len()
    }

    /// Whether a row of the bank is in a half of the array.
    fn is_taken(&self, row: u32) -> bool {
        self.grants[self.half_of(row)]
    }

    /// Whether a half is the one that a bitstream is read from.
    fn is_read(&self, half: usize) -> bool {
        self.configuration.reads() && self.bitstream_half == half
    }

    /// Whether the DMAs of images have the half of the run.
    fn grant(&self) -> bool {
        self.grants[self.half] && !self.is_read(self.half)
    }

    /// A row of a half.
    fn row(&self, half: usize, row: u32) -> u64 {
        let first = (row * self.words_per_row) as usize;
        let words = &self.halves[half][first..first + self.words_per_row as usize];
        words.iter().rev().fold(0, |row, word| row << self.word_bits | u64::from(*word))
    }

    /// Takes the configuration DMA to the next cycle. `begun` is the row at which an access begins a bitstream, and whether its half was the array's.
    fn configure(&mut self, inputs: &BankInputs, begun: Option<(u32, bool)>) {
        let offered = self.offered(inputs).filter(|_| inputs.column_ready);
        let missing = self.own.is_some_and(|access| {
            let register = self.map.registers.get(access.register as usize);
            register.is_none_or(|register| register.access != SoftwareAccess::ReadWrite)
        });
        let begun = begun.filter(|_| !self.configuration.is_busy());
        let first = begun.filter(|(_, is_taken)| !is_taken).map(|(row, _)| row);
        self.unavailable = !inputs.clear && begun.map_or(self.unavailable, |(_, is_taken)| is_taken);
        let rows = self.halves[0].len() as u32 / self.words_per_row;
        let shown = self.configuration.read().map(|row| self.row(self.bitstream_half, row));
        self.configuration.clock(&ConfigurationDmaInputs {
            clear: inputs.clear,
            first: first.map(|row| row % rows),
            shown,
            is_taken: offered.is_some(),
            refused: inputs.column_refused,
            missing,
        });
        if let Some((row, _)) = begun {
            self.bitstream_half = self.half_of(row);
        }
        self.own = offered.and_then(|write| self.own(write));
    }

    /// Takes the bank to the next cycle.
    pub fn clock(&mut self, inputs: &BankInputs) {
        let (grant, reads) = (self.grant(), self.reads(inputs));
        let begun = self.begun(inputs.access).map(|row| (row, self.is_taken(row)));
        let (fetches, writes) = (self.fetches(inputs), self.writes() && !reads);
        let takes = inputs.store.filter(|_| self.can_store(inputs));
        let over = self.runs && !self.load_is_busy() && !self.store_is_busy();
        let answers =
            (inputs.access.and_then(|access| self.config(access)), inputs.host.and_then(|host| self.host(host)));
        (self.config_answer, self.host_answer) = answers;
        let stores = self.store.schedule.fires();

        let (could_fetch, holds_store) = (self.can_fetch(inputs), self.holds_store(inputs));
        if fetches {
            let address = self.wrapped(&self.load);
            let (row, place) = (address / self.words_per_row, address % self.words_per_row);
            if reads {
                let first = (row * self.words_per_row) as usize;
                let words = &self.halves[self.half][first..first + self.words_per_row as usize];
                self.shown = Some((row, words.to_vec()));
            }
            self.offers = self.shown.as_ref().map(|(_, words)| words[place as usize]);
            self.load.step();
        } else if inputs.load_ready {
            self.offers = None;
        }
        if could_fetch {
            self.load.schedule.advance();
        }

        if writes {
            self.shown.take_if(|(row, _)| !fetches && *row == self.gathered_row);
            let first = (self.gathered_row * self.words_per_row) as usize;
            for (place, word) in self.gathered.iter_mut().enumerate() {
                if let Some(word) = word.take() {
                    self.halves[self.half][first + place] = word;
                }
            }
        }
        if let Some(word) = takes {
            let address = self.wrapped(&self.store);
            self.gathered_row = address / self.words_per_row;
            self.gathered[(address % self.words_per_row) as usize] = Some(word);
            self.store.step();
        }
        if grant && !holds_store && (takes.is_some() || !stores) {
            self.store.schedule.advance();
        }

        let run = self.half;
        if inputs.flush {
            self.flush();
        }
        if inputs.clear {
            self.clear();
        } else {
            self.runs = if inputs.flush { self.control() != 0 } else { self.runs && !over };
            for half in 0..self.grants.len() {
                let hands_over = self.handed_over(inputs.access) >> half & 1 != 0;
                self.grants[half] = !(over && half == run) && (self.grants[half] || hands_over);
            }
        }
        for access in [self.own, inputs.access].into_iter().flatten() {
            if let BankAccess { register, write: Some(data) } = access {
                self.write(register, data, inputs.clear);
            }
        }
        self.configure(inputs, begun);
    }

    fn flush(&mut self) {
        self.half = 1 - self.half;
        self.offers = None;
        self.shown = None;
        self.gathered.fill(None);
        self.load = self.transfer(Direction::In);
        self.store = self.transfer(Direction::Out);
    }

    fn clear(&mut self) {
        self.runs = false;
        self.grants = [false; 2];
        self.offers = None;
        self.shown = None;
        self.gathered.fill(None);
        self.load.is_active = false;
        self.store.is_active = false;
        self.registers.fill(0);
    }

    fn control(&self) -> u32 {
        self.registers[self.map.field(BankMeaning::Enable { direction: Direction::In }).0 as usize]
    }

    /// The halves that a write hands over, the first in the lowest bit: none while no DMA works, for which there are no runs.
    fn handed_over(&self, access: Option<BankAccess>) -> u32 {
        let register = self.map.field(BankMeaning::HandOver { half: 0 }).0;
        match access {
            Some(BankAccess { register: found, write: Some(data) }) if found == register && self.control() != 0 => {
                data & 0b11
            }
            _ => 0,
        }
    }

    fn write(&mut self, number: u32, data: u32, clears: bool) {
        let Some(register) = self.map.registers.get(number as usize) else { return };
        if register.access == SoftwareAccess::ReadWrite && !clears {
            let mask = u32::MAX >> (u32::BITS - register.used_bits());
            self.registers[number as usize] = data & mask;
        }
    }

    /// The answer to an access: the word that is read, 0 for a write.
    fn config(&self, access: BankAccess) -> Option<u32> {
        let register = self.map.registers.get(access.register as usize)?;
        if access.write.is_some() {
            return Some(0);
        }
        let of = |meaning: BankMeaning| match meaning {
            BankMeaning::HandOver { half } => u32::from(self.grants[half as usize]),
            BankMeaning::Half => self.half as u32,
            BankMeaning::Busy { direction: Direction::In } => self.load_is_busy().into(),
            BankMeaning::Busy { direction: Direction::Out } => self.store_is_busy().into(),
            BankMeaning::BitstreamRow => {
                let rows = self.halves[0].len() as u32 / self.words_per_row;
                self.bitstream_half as u32 * rows + self.configuration.row
            }
            BankMeaning::Bitstream { state } => match state {
                BitstreamState::Unavailable => self.unavailable,
                state => self.configuration.is(state),
            }
            .into(),
            meaning => self.value(meaning),
        };
        Some(register.fields.iter().map(|field| of(field.meaning) << field.low).sum())
    }

    /// The answer to the host: the row that is read, 0 for a write; nothing where the half is the array's.
    fn host(&mut self, access: HostAccess) -> Option<u64> {
        let HostAccess { half, row, words, data } = access;
        if self.grants[half] || self.is_read(half) {
            return None;
        }
        if words == 0 {
            return Some(self.row(half, row));
        }
        let first = (row * self.words_per_row) as usize;
        let mask = u64::MAX >> (u64::BITS - self.word_bits);
        let places =
            (0..self.words_per_row as usize).map(|place| (place, first + place, place as u32 * self.word_bits));
        for (_, word, low) in places.filter(|(place, ..)| words >> place & 1 != 0) {
            self.halves[half][word] = (data >> low & mask) as u32;
        }
        Some(0)
    }
}
