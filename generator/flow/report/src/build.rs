//! The build that a page is of: the command, the checks that it ran, the streams and the ports of its hardware.

use pushmem_csr::Register;
use pushmem_graph as hardware;
use pushmem_realization::Dedicated;
use serde::Serialize;

use crate::sequence::Sequence;

/// A build, apart from what the compiler found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Build {
    /// The command, without the folder of its output: the same page wherever it is written to.
    pub command: String,
    /// The head of the top module in SystemVerilog: its ports. Empty, if there is none of the program.
    pub ports: String,
    /// The shell that connects it to buses, if there is one.
    pub shell: Option<ShellPart>,
    /// The clock that was asked for, and the least one, in words.
    pub clock: Option<String>,
    /// Whether the model was run and computed what the interpreter computes.
    pub checked_by_model: bool,
    /// The run of the RTL, if there was one.
    pub rtl: Option<RtlCheck>,
}

/// A shell: the registers and the ports that software and a system see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShellPart {
    /// Its module.
    pub module: String,
    /// The head of its module in SystemVerilog: its ports.
    pub ports: String,
    /// Its registers.
    pub registers: Vec<Register<()>>,
}

/// A run of the RTL in which every word was the interpreter's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RtlCheck {
    /// Cycles from the first word taken to the last given, at full speed. On an array, those in which all outputs were the model's.
    pub cycles: u64,
    /// Words compared; on an array, all outputs were compared in each cycle.
    pub words: Option<u64>,
    /// Each run in words.
    pub scenarios: Vec<String>,
}

/// A stream of beats with a ready-valid handshake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stream {
    /// `input` or `output`.
    pub direction: &'static str,
    /// Its name, with which the names of its ports begin.
    pub name: String,
    /// The array, an index of [`crate::Contents::arrays`].
    pub array: usize,
    /// Words of a beat.
    pub words: usize,
    /// On an array, the column of the IO tile of each word.
    pub columns: Vec<u32>,
    /// Its beats, each in the cycle in which it is due.
    pub sequence: Sequence,
}

impl Stream {
    /// The directions.
    pub(crate) const INPUT: &'static str = "input";
    const OUTPUT: &'static str = "output";
}

/// The streams of a compiled program, inputs first.
pub(crate) fn streams(compiled: &Dedicated) -> Vec<Stream> {
    let accelerator = &compiled.accelerator;
    let told = |direction: &'static str, streams: &[hardware::Stream]| {
        let stream = |stream: &hardware::Stream| Stream {
            direction,
            name: stream.name.clone(),
            array: stream.array,
            words: stream.lanes.len(),
            columns: Vec::new(),
            sequence: Sequence::of_counter(&accelerator.counters[stream.counter]),
        };
        streams.iter().map(stream).collect::<Vec<_>>()
    };
    [told(Stream::INPUT, accelerator.inputs.as_raw_slice()), told(Stream::OUTPUT, &accelerator.outputs)].concat()
}
