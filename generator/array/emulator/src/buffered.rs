//! An array with its global buffer in cycles.

use std::collections::VecDeque;

use pushmem_bitstream::{Bitstream, Configuration, decode};
use pushmem_configuration::RegisterWrite;
use pushmem_fabric::{Direction, GlobalBufferSpec, Place, TileKind};
use pushmem_resources::{Address, BankMap, CLEAR, DIGEST, Field};

use crate::bank::{Bank, BankAccess, BankInputs, HostAccess};
use crate::emulator::{Emulator, Inputs, StreamInputs};
use crate::streams::Beat;

/// The inputs of an array with its global buffer in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferedInputs {
    /// Starts a run.
    pub flush: bool,
    /// Holds the time of the array; banks go on.
    pub stall: bool,
    /// An access to a register of a bank, with the number of the bank; without one, of all banks.
    pub access: Option<(Option<usize>, BankAccess)>,
    /// A write that starts the columns that hold still, in a cycle without such an access. It is refused while a bitstream is loaded.
    pub start: bool,
    /// An access of the host to a row of a bank, likewise.
    pub host: Option<(usize, HostAccess)>,
}

/// The outputs of an array with its global buffer in a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferedOutputs {
    /// Whether each bank has words to move in this run.
    pub busy: Vec<bool>,
    /// Whether a bank loads a bitstream.
    pub configuring: bool,
    /// The answer to the access to a register as many cycles before as accesses of the array take, if there was one: the word that was read,
    /// 0 for a write; or that there is no such register.
    pub config: Option<Result<u32, Refused>>,
    /// The answer to the access of the host three cycles before, if there was one: the row that was read, 0 for a write; or that it was
    /// refused.
    pub host: Option<Result<u64, Refused>>,
}

/// The half of an access of the host is the array's or that of a bitstream, or there is no such register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// An access through the configuration port.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// To a register of banks.
    OfBanks,
    /// To the register that starts columns, and whether that was refused.
    Start(bool),
}

/// The cycle-accurate model of an array with its global buffer.
pub struct Buffered {
    array: Emulator,
    buffer: GlobalBufferSpec,
    map: BankMap,
    banks: Vec<Bank>,
    /// The inputs on their way to the banks.
    arriving: BufferedInputs,
    /// Whether the host asked for a row, and for a register, one and two cycles before.
    asked: [(bool, Option<Asked>); 2],
    /// The answers to accesses that are on their way, the next one first.
    answers: VecDeque<Option<Result<u32, Refused>>>,
    /// The writes of bitstreams that tiles took since the array was cleared.
    written: Vec<RegisterWrite>,
    /// By bank, whether each of its writes was refused whose answers are on their way, the next one first.
    refusals: Vec<VecDeque<bool>>,
    outputs: BufferedOutputs,
}

impl Buffered {
    /// An array after reset; nothing if it has no global buffer.
    pub fn new(array: Emulator) -> Option<Self> {
        let spec = array.spec();
        let (buffer, map) = (spec.global_buffer.clone()?, BankMap::of(spec)?);
        let banks = (0..buffer.banks).filter_map(|bank| Bank::new(spec, bank)).collect();
        let outputs = BufferedOutputs { busy: vec![false; buffer.banks as usize], ..BufferedOutputs::default() };
        let answer = spec.answer_latency() as usize;
        Some(Buffered {
            // An access is a cycle on its way to the banks, and its answer has one to come.
            answers: vec![None; answer - 3].into(),
            refusals: vec![vec![false; answer].into(); buffer.banks as usize],
            array,
            buffer,
            map,
            banks,
            arriving: BufferedInputs::default(),
            asked: [(false, None); 2],
            written: Vec::new(),
            outputs,
        })
    }

    /// The array inside.
    pub fn array(&self) -> &Emulator {
        &self.array
    }

    /// A bank.
    pub fn bank(&self, bank: u32) -> &Bank {
        &self.banks[bank as usize]
    }

    /// A bank whose halves are to be filled.
    pub fn bank_mut(&mut self, bank: u32) -> &mut Bank {
        &mut self.banks[bank as usize]
    }

    /// Loads a configuration as a host does through the configuration port: while time stands still, which it does when this ends, too. Runs of banks end.
    ///
    /// # Panics
    /// If the configuration of a bank does not fit its registers: reading or decoding one has shown that it does.
    pub fn load(&mut self, configuration: &Configuration) {
        self.written.clear();
        self.array.load(configuration);
        let spec = self.array.spec().clone();
        for (number, bank) in (0..).zip(&mut self.banks) {
            bank.clock(&BankInputs { clear: true, ..BankInputs::default() });
            let Some(configured) = configuration.banks.get(&number) else { continue };
            let words = configured.registers(&spec, &self.map);
            for (register, word) in words.unwrap_or_else(|finding| panic!("{}", finding.message)) {
                let access = Some(BankAccess { register, write: Some(word) });
                bank.clock(&BankInputs { access, ..BankInputs::default() });
            }
        }
    }

    /// The outputs in this cycle.
    pub fn outputs(&self) -> &BufferedOutputs {
        &self.outputs
    }

    /// Takes the array and its banks to the next cycle.
    pub fn clock(&mut self, inputs: &BufferedInputs) {
        let shown = self.array.outputs();
        let mut streams = vec![StreamInputs::default(); shown.len()];
        let (mut answer, mut config) = (None, None);
        let column_ready = inputs.access.is_none() && !inputs.start;
        for number in 0..self.banks.len() {
            let [first, last] = Direction::ALL.map(|direction| self.buffer.column(number as u32, direction) as usize);
            let of_bank = BankInputs {
                load_ready: shown[first].ready,
                store: shown[last].beat.map(|beat| beat.data),
                column_ready,
                column_refused: self.refusals[number].pop_front().unwrap_or(false),
                ..self.arriving_at(number)
            };
            let outputs = self.banks[number].outputs(&of_bank);
            streams[first].beat = outputs.load.map(|data| Beat { data, bit: false });
            streams[last].ready = outputs.store_ready;
            answer = answer.or(outputs.host_done.then_some(outputs.host_read_data));
            if outputs.config_done {
                config = Some(config.unwrap_or(0) | outputs.config_read_data);
            }
            let written = outputs.column.filter(|_| column_ready);
            let is_refused = written.is_some_and(|write| !self.takes(number as u32, write));
            self.refusals[number].push_back(is_refused);
            self.written.extend(written.filter(|_| !is_refused));
            self.banks[number].clock(&of_bank);
        }
        // A flush would start columns that are half loaded.
        let flush = inputs.flush && !self.outputs.configuring;
        let array = Inputs { flush, stall: inputs.stall, streams, ..Inputs::default() };
        self.array.clock(&array);
        self.outputs.host = self.asked[1].0.then(|| answer.ok_or(Refused));
        self.answers.push_back(self.asked[1].1.map(|asked| match asked {
            Asked::OfBanks => config.ok_or(Refused),
            Asked::Start(true) => Err(Refused),
            Asked::Start(false) => Ok(0),
        }));
        self.outputs.config = self.answers.pop_front().flatten();
        let start = inputs.start.then_some(Asked::Start(self.outputs.configuring));
        let asked = inputs.access.map_or(start, |_| Some(Asked::OfBanks));
        self.asked = [(inputs.host.is_some(), asked), self.asked[0]];
        self.arriving = BufferedInputs { flush, ..*inputs };
        let configuring =
            (0..self.banks.len()).any(|bank| self.banks[bank].outputs(&self.arriving_at(bank)).configures);
        if self.outputs.configuring && !configuring {
            self.take_written();
        }
        self.outputs.configuring = configuring;
        for (busy, bank) in self.outputs.busy.iter_mut().zip(&self.banks) {
            *busy = bank.is_busy();
        }
    }

    /// The inputs that arrive at a bank in this cycle, without those of its streams and its columns.
    fn arriving_at(&self, number: usize) -> BankInputs {
        let BufferedInputs { flush, access, host, .. } = self.arriving;
        let access = access.filter(|(bank, _)| bank.is_none_or(|bank| bank == number)).map(|(_, access)| access);
        let host = host.filter(|(bank, _)| *bank == number).map(|(_, access)| access);
        BankInputs { flush, access, host, ..BankInputs::default() }
    }

    /// Whether a tile in the columns of a bank has the register of a write.
    fn takes(&self, bank: u32, write: RegisterWrite) -> bool {
        let (address, graph) = (Address::of(write.address), self.array.graph());
        let has = |kind: TileKind, feature: u32, register: u32| {
            let layout = graph.layout(kind);
            let is_there = |field: &Field| (field.feature.number(), field.register) == (feature, register);
            layout.is_of_memory(feature, register) || layout.fields.iter().any(is_there)
        };
        let mut places = self.array.spec().places().filter(|place| self.buffer.has(bank, place.column));
        let takes = |place: Place| {
            let kind = graph.kind(place)?;
            Some(match address.common() {
                Some(common) => common.has(kind, place) && has(kind, common.feature, common.register),
                None => address.place() == place && has(kind, address.feature, address.register),
            })
        };
        places.any(|place| takes(place).unwrap_or(false))
    }

    /// The tiles take the writes of bitstreams since the array was cleared, as soon as these are a configuration.
    fn take_written(&mut self) {
        let (spec, graph) = (self.array.spec(), self.array.graph());
        let begin = [(DIGEST, spec.digest_word()), (CLEAR, 0)];
        let begin = begin.map(|(address, data)| RegisterWrite { address: address.word(), data });
        let bitstream = Bitstream { writes: begin.iter().chain(&self.written).copied().collect() };
        if let Ok(configuration) = decode(&bitstream, spec, graph) {
            self.array.configure(&configuration);
        }
    }
}
