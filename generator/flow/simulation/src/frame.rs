//! Cycles as the harness reads and writes them.

use pushmem_model::{MAX_PORTS, Word};
use pushmem_tile::TileSpec;

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

/// The sizes of records, which follow from the ports of the tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    inputs: usize,
    outputs: usize,
    chaining: bool,
}

impl Layout {
    pub fn of(spec: &TileSpec) -> Self {
        Layout { inputs: spec.inputs as usize, outputs: spec.outputs as usize, chaining: spec.chaining }
    }

    pub fn response_bytes(self) -> usize {
        8 + 8 * self.outputs
    }

    pub fn encode(self, frame: &Frame, end_of_batch: bool, bytes: &mut Vec<u8>) {
        let control = [
            !frame.reset,
            frame.flush,
            frame.stall,
            frame.config_write,
            frame.config_read,
            !frame.assertions,
            frame.bist_start,
        ];
        let control = control.into_iter().enumerate().fold(0, |bits, (bit, set)| bits | u32::from(set) << bit);
        for word in [control, frame.config_address, frame.config_data, u32::from(end_of_batch)] {
            bytes.extend(word.to_le_bytes());
        }
        let chain = if self.chaining { &frame.chain[..self.outputs] } else { &[] };
        for word in frame.data[..self.inputs].iter().chain(chain) {
            bytes.extend(word.to_le_bytes());
        }
    }

    pub fn decode(self, bytes: &[u8]) -> Response {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let flags = word(0);
        let mut response = Response {
            valid: std::array::from_fn(|port| flags >> port & 1 == 1),
            taken: std::array::from_fn(|port| flags >> (4 + port) & 1 == 1),
            stencil_valid: flags >> 8 & 1 == 1,
            bist: Bist { busy: flags >> 9 & 1 == 1, done: flags >> 10 & 1 == 1, fail: flags >> 11 & 1 == 1 },
            config_data: word(4),
            config_error: flags >> 12 & 1 == 1,
            ..Response::default()
        };
        for (port, data) in response.data[..self.outputs].iter_mut().enumerate() {
            *data = u64::from(word(8 + 8 * port)) | u64::from(word(12 + 8 * port)) << 32;
        }
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
    }
}
