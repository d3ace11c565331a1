//! The streams of an accelerator, by its ports.

use itertools::Itertools;
use pushmem_systemverilog::ModulePort;

use crate::{Accelerator, ROWS, Traffic, WORD_BITS, array};

/// A stream of the accelerator.
pub(super) struct Stream {
    pub name: String,
    /// The ports of the shell begin with it.
    pub port: String,
    pub output: bool,
    /// Its number among those of its direction.
    pub number: usize,
    /// Bits of a beat at the accelerator.
    pub bits: u32,
    pub traffic: Traffic,
}

impl Stream {
    pub fn beats(&self) -> u64 {
        self.traffic.beats
    }

    /// Words of a beat.
    pub fn lanes(&self) -> u32 {
        self.bits / WORD_BITS
    }

    /// Whether words have an upper byte that nothing outside of the accelerator has.
    pub fn is_narrow(&self) -> bool {
        self.traffic.element.bits() < WORD_BITS
    }

    pub fn is_signed(&self) -> bool {
        self.traffic.element.is_signed()
    }

    /// Bits of a beat in TDATA.
    pub fn data_bits(&self) -> u32 {
        self.lanes() * self.traffic.element.bits()
    }

    /// The signals of a beat: outside, as words of the accelerator, and the one that the accelerator connects to.
    pub fn data(&self) -> String {
        format!("{}_tdata", self.port)
    }

    pub fn words(&self) -> String {
        format!("stream_{}_words", self.name)
    }

    pub fn connected_to(&self) -> String {
        if self.is_narrow() { self.words() } else { self.data() }
    }
}

/// The streams of an accelerator, by its ports.
pub(super) fn streams(ports: &[ModulePort], accelerator: &Accelerator) -> Vec<Stream> {
    let data = |port: &'_ ModulePort| {
        let name = port.name.strip_suffix(if port.output { "_data_o" } else { "_data_i" })?.to_owned();
        let [valid, ready] = if port.output { ["_valid_o", "_ready_i"] } else { ["_valid_i", "_ready_o"] };
        let has = |end: &str| ports.iter().any(|other| other.name == format!("{name}{end}"));
        (has(valid) && has(ready)).then_some((name, port.output, port.bits))
    };
    let (mut inputs, mut outputs) = (accelerator.inputs.iter().enumerate(), accelerator.outputs.iter().enumerate());
    let found = ports.iter().filter_map(data).filter_map(|(name, output, bits)| {
        let (number, &traffic) = if output { outputs.next()? } else { inputs.next()? };
        let port = format!("{}_axis_{name}", if output { "m" } else { "s" });
        Some(Stream { port, name, output, number, bits, traffic })
    });
    found.collect()
}

/// Whether the shell connects a port to something of its own.
pub(super) fn is_known(port: &str, streams: &[Stream]) -> bool {
    const CONTROL: [&str; 8] = ["clk_i", "rst_ni", "start_i", "busy_o", "done_o", "accepts_i", "half_i", "loads_o"];
    let of_stream = |stream: &Stream| {
        let ends =
            ["_valid_i", "_valid_o", "_ready_i", "_ready_o", "_data_i", "_data_o"].into_iter().chain(array::OF_STREAM);
        port.strip_prefix(stream.name.as_str()).is_some_and(|end| ends.clone().contains(&end))
    };
    CONTROL.contains(&port) || port.starts_with("config_") || port.starts_with(ROWS) || streams.iter().any(of_stream)
}
