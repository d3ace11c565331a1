//! The cycles of a memory tile: what its ports mean.

use itertools::Itertools;
use pushmem_model::{Handshake, MAX_PORTS, Word};
use pushmem_tile::{Kind, TEST_ENABLE, TileSpec, index_bits_for};

use crate::block::{BlockPort, BlockPorts};

/// The inputs of the RTL in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// Reset is asserted.
    pub reset: bool,
    /// Starts a run in the next cycle.
    pub flush: bool,
    /// Holds everything.
    pub stall: bool,
    /// Configuration write.
    pub config_write: bool,
    /// Configuration read.
    pub config_read: bool,
    /// Byte address of the configuration access.
    pub config_address: u32,
    /// Data of the configuration write.
    pub config_data: u32,
    /// Starts the self-test of the SRAM.
    pub bist_start: bool,
    /// Whether assertions in the RTL are checked.
    pub assertions: bool,
    /// The word on each data input.
    pub data: [u64; MAX_PORTS],
    /// The word on each chain input.
    pub chain: [u64; MAX_PORTS],
    /// Whether the word on each chain input is one of its stream.
    pub chain_valid: [bool; MAX_PORTS],
    /// The handshakes of modes.
    pub handshake: Handshake,
}

/// The outputs of the RTL in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The word on each output.
    pub data: [u64; MAX_PORTS],
    /// Whether each output's word is part of its stream.
    pub valid: [bool; MAX_PORTS],
    /// Whether each input's word is used.
    pub taken: [bool; MAX_PORTS],
    /// The stencil-valid output.
    pub stencil_valid: bool,
    /// Of a mode with handshakes: what is offered on input 0 is used.
    pub ready: bool,
    /// In a chain of outputs with FIFOs: the word that the tile before shows for output 0 is taken.
    pub chain_ready: bool,
    /// The self-test of the SRAM.
    pub bist: Bist,
    /// Configuration read data.
    pub config_data: u32,
    /// Whether the last cycle accessed an address at which there is nothing.
    pub config_error: bool,
}

/// The outputs of the self-test of the SRAM in a cycle; all 0 for a tile without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bist {
    /// It goes on.
    pub busy: bool,
    /// It is over.
    pub done: bool,
    /// It found something.
    pub fail: bool,
}

/// The value of an input in a cycle.
type Drive = fn(&Frame, usize) -> u64;

/// Stores the value of an output in a cycle.
type Sample = fn(&mut Response, usize, u64);

/// The ports of a memory tile as those of a block, with their meaning in a cycle.
pub(crate) struct TilePorts {
    /// Of each input, how its value follows from the cycle; the number tells ports of several apart.
    inputs: Vec<(BlockPort, Drive, usize)>,
    /// Of each output, what it says of the cycle.
    outputs: Vec<(BlockPort, Sample, usize)>,
}

impl TilePorts {
    pub fn of(spec: &TileSpec) -> Self {
        let (inputs, outputs) = (spec.inputs as usize, spec.outputs as usize);
        let mut ports = TilePorts { inputs: Vec::new(), outputs: Vec::new() };
        ports.input("rst_ni", 1, |frame, _| u64::from(!frame.reset), 0);
        ports.input("flush_i", 1, |frame, _| u64::from(frame.flush), 0);
        ports.input("stall_i", 1, |frame, _| u64::from(frame.stall), 0);
        ports.input("config_write_i", 1, |frame, _| u64::from(frame.config_write), 0);
        ports.input("config_read_i", 1, |frame, _| u64::from(frame.config_read), 0);
        ports.input("config_address_i", 32, |frame, _| u64::from(frame.config_address), 0);
        ports.input("config_write_data_i", 32, |frame, _| u64::from(frame.config_data), 0);
        ports.output("config_read_data_o", 32, |response, _, value| response.config_data = value as u32, 0);
        ports.output("config_error_o", 1, |response, _, value| response.config_error = value == 1, 0);
        if spec.clock_gating {
            ports.input(TEST_ENABLE, 1, |_, _| 0, 0);
        }
        let (stem, bits) = match spec.kind {
            Kind::Rom => ("address_in", index_bits_for(spec.rows)),
            _ => ("data_in", spec.word_bits),
        };
        for input in 0..inputs {
            ports.input(format!("{stem}_{input}_i"), bits, |frame, input| frame.data[input], input);
            let taken: Sample = |response, input, value| response.taken[input] = value == 1;
            ports.output(format!("data_in_{input}_taken_o"), 1, taken, input);
        }
        for output in 0..outputs {
            if spec.has_chain_inputs() {
                let chain: Drive = |frame, output| frame.chain[output];
                ports.input(format!("chain_in_{output}_i"), spec.word_bits, chain, output);
            }
            if spec.output_chaining {
                let valid: Drive = |frame, output| u64::from(frame.chain_valid[output]);
                ports.input(format!("chain_in_{output}_valid_i"), 1, valid, output);
            }
            let data: Sample = |response, output, value| response.data[output] = value;
            ports.output(format!("data_out_{output}_o"), spec.word_bits, data, output);
            let valid: Sample = |response, output, value| response.valid[output] = value == 1;
            ports.output(format!("data_out_{output}_valid_o"), 1, valid, output);
        }
        if spec.has_modes() {
            ports.input("data_in_0_valid_i", 1, |frame, _| u64::from(frame.handshake.valid), 0);
            ports.output("data_in_0_ready_o", 1, |response, _, value| response.ready = value == 1, 0);
        }
        if spec.ram_mode {
            ports.input("data_in_0_write_i", 1, |frame, _| u64::from(frame.handshake.write), 0);
        }
        if spec.fifo_mode && spec.output_chaining {
            ports.output("chain_in_0_ready_o", 1, |response, _, value| response.chain_ready = value == 1, 0);
        }
        if spec.fifo_mode {
            ports.input("data_out_0_ready_i", 1, |frame, _| u64::from(frame.handshake.ready), 0);
        }
        if spec.stencil_valid {
            ports.output("stencil_valid_o", 1, |response, _, value| response.stencil_valid = value == 1, 0);
        }
        if spec.bist {
            ports.input("bist_start_i", 1, |frame, _| u64::from(frame.bist_start), 0);
            ports.output("bist_busy_o", 1, |response, _, value| response.bist.busy = value == 1, 0);
            ports.output("bist_done_o", 1, |response, _, value| response.bist.done = value == 1, 0);
            ports.output("bist_fail_o", 1, |response, _, value| response.bist.fail = value == 1, 0);
        }
        ports
    }

    fn input(&mut self, name: impl Into<String>, bits: u32, drive: Drive, number: usize) {
        self.inputs.push((BlockPort::new(name, bits), drive, number));
    }

    fn output(&mut self, name: impl Into<String>, bits: u32, sample: Sample, number: usize) {
        self.outputs.push((BlockPort::new(name, bits), sample, number));
    }

    /// The ports alone.
    pub fn block(&self) -> BlockPorts {
        BlockPorts {
            inputs: self.inputs.iter().map(|(port, ..)| port.clone()).collect(),
            outputs: self.outputs.iter().map(|(port, ..)| port.clone()).collect(),
        }
    }

    /// Adds the values of the inputs in a cycle.
    pub fn drive(&self, frame: &Frame, values: &mut Vec<u64>) {
        values.extend(self.inputs.iter().map(|(_, drive, number)| drive(frame, *number)));
    }

    /// The cycle of these values of the outputs.
    pub fn sample(&self, values: &[u64]) -> Response {
        let mut response = Response::default();
        self.outputs
            .iter()
            .zip_eq(values)
            .for_each(|((_, sample, number), &value)| sample(&mut response, *number, value));
        response
    }
}

/// The outputs of a cycle as the model has them; what is `None` is not compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    pub outputs: Option<pushmem_model::Outputs>,
    pub config_data: Option<u32>,
    pub config_error: Option<bool>,
    pub bist: Option<Bist>,
}

impl Expected {
    /// The first difference, as text.
    pub fn difference(&self, response: &Response) -> Option<String> {
        if let Some(expected) = self.config_data
            && expected != response.config_data
        {
            return Some(format!("config_read_data is {:08x}; the model has {expected:08x}", response.config_data));
        }
        if let Some(expected) = self.config_error
            && expected != response.config_error
        {
            let (found, expected) = (u8::from(response.config_error), u8::from(expected));
            return Some(format!("config_error is {found}; the model has {expected}"));
        }
        if let Some(expected) = self.bist
            && expected != response.bist
        {
            return Some(format!("the self-test is {:?}; the model has {expected:?}", response.bist));
        }
        let outputs = self.outputs?;
        let flag = |name: &str, expected: bool, actual: bool| {
            (expected != actual)
                .then(|| format!("{name} is {}; the model has {}", u8::from(actual), u8::from(expected)))
        };
        for port in 0..MAX_PORTS {
            let difference = flag(&format!("data_in_{port}_taken"), outputs.taken[port], response.taken[port])
                .or_else(|| flag(&format!("data_out_{port}_valid"), outputs.valid[port], response.valid[port]));
            if difference.is_some() {
                return difference;
            }
            let Word { value, defined } = outputs.data[port];
            if defined && value != response.data[port] {
                return Some(format!("data_out_{port} is {:x}; the model has {value:x}", response.data[port]));
            }
        }
        flag("stencil_valid", outputs.stencil_valid, response.stencil_valid)
            .or_else(|| flag("data_in_0_ready", outputs.ready, response.ready))
            .or_else(|| flag("chain_in_0_ready", outputs.chain_ready, response.chain_ready))
    }
}
