//! An array with its global buffer in cycles.

use pushmem_bitstream::Configuration;
use pushmem_fabric::{Direction, GlobalBufferSpec};
use pushmem_resources::BankMap;

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
    /// An access to a register of a bank, with the number of the bank.
    pub access: Option<(usize, BankAccess)>,
    /// An access of the host to a row of a bank, likewise.
    pub host: Option<(usize, HostAccess)>,
}

/// The outputs of an array with its global buffer in a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferedOutputs {
    /// Whether each bank has words to move in this run.
    pub busy: Vec<bool>,
    /// The answer to the access of the host three cycles before, if there was one: the row that was read, 0 for a write; or that it was
    /// refused.
    pub host: Option<Result<u64, Refused>>,
}

/// The half of an access of the host is the array's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// The cycle-accurate model of an array with its global buffer.
pub struct Buffered {
    array: Emulator,
    buffer: GlobalBufferSpec,
    map: BankMap,
    banks: Vec<Bank>,
    /// What is on its way to the banks.
    arriving: BufferedInputs,
    /// Whether the host asked for something one and two cycles before.
    asked: [bool; 2],
    outputs: BufferedOutputs,
}

impl Buffered {
    /// An array after reset; nothing if it has no global buffer.
    pub fn new(array: Emulator) -> Option<Self> {
        let spec = array.spec();
        let (buffer, map) = (spec.global_buffer.clone()?, BankMap::of(spec)?);
        let banks = (0..buffer.banks).filter_map(|_| Bank::new(spec)).collect();
        let outputs = BufferedOutputs { busy: vec![false; buffer.banks as usize], host: None };
        Some(Buffered { array, buffer, map, banks, arriving: BufferedInputs::default(), asked: [false; 2], outputs })
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

    /// Loads a configuration as a host does: while time stands still, which it does when this ends, too. Runs of banks end.
    ///
    /// # Panics
    /// If the configuration of a bank does not fit its registers: reading or decoding one has shown that it does.
    pub fn load(&mut self, configuration: &Configuration) {
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
        let mut answer = None;
        let arriving = self.arriving;
        for (number, bank) in self.banks.iter_mut().enumerate() {
            let [first, last] = Direction::ALL.map(|direction| self.buffer.column(number as u32, direction) as usize);
            let of_bank = BankInputs {
                flush: arriving.flush,
                clear: false,
                access: arriving.access.filter(|(bank, _)| *bank == number).map(|(_, access)| access),
                host: arriving.host.filter(|(bank, _)| *bank == number).map(|(_, access)| access),
                load_ready: shown[first].ready,
                store: shown[last].beat.map(|beat| beat.data),
            };
            let outputs = bank.outputs(&of_bank);
            streams[first].beat = outputs.load.map(|data| Beat { data, bit: false });
            streams[last].ready = outputs.store_ready;
            answer = answer.or(outputs.host_done.then_some(outputs.host_read_data));
            bank.clock(&of_bank);
        }
        let array = Inputs { flush: inputs.flush, stall: inputs.stall, streams, ..Inputs::default() };
        self.array.clock(&array);
        self.outputs.host = self.asked[1].then(|| answer.ok_or(Refused));
        self.asked = [inputs.host.is_some(), self.asked[0]];
        self.arriving = *inputs;
        for (busy, bank) in self.outputs.busy.iter_mut().zip(&self.banks) {
            *busy = bank.is_busy();
        }
    }
}
