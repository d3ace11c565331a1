//! Bitstreams as text: a write a line, address and data in hexadecimal.

use std::fmt::Write as _;
use std::path::Path;

use pushmem_configuration::RegisterWrite;
use pushmem_fabric::ArraySpec;
use pushmem_files::{Code, Diagnostic, FixedWords};
use pushmem_resources::Graph;

use crate::configuration::Configuration;
use crate::decode::decode;

/// A bitstream: writes to the configuration port, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitstream {
    /// Addresses as [`pushmem_resources::Address`] has them, and data.
    pub writes: Vec<RegisterWrite>,
}

impl Bitstream {
    /// The bitstream as text: after a comment that names the array, a line for each write, both words of 8 digits.
    pub fn to_text(&self, array: &str) -> String {
        let mut text = format!("// Bitstream for the array `{array}`: address data\n");
        for RegisterWrite { address, data } in &self.writes {
            writeln!(text, "{address:08x} {data:08x}").expect("writing to a string cannot fail");
        }
        text
    }

    /// Reads the bitstream of an array from a file.
    ///
    /// # Errors
    /// A located message when the file cannot be read, a word is not one of 8 hexadecimal digits, an address has no data, or the
    /// writes are not a bitstream of the array.
    pub fn decode_file(path: &Path, spec: &ArraySpec, graph: &Graph) -> Result<Configuration, Diagnostic> {
        Self::decode_words(&FixedWords::read(path, u32::BITS)?, spec, graph)
    }

    /// Reads the bitstream of an array from text; `name` is used in messages.
    ///
    /// # Errors
    /// As [`Bitstream::decode_file`].
    pub fn decode_text(name: &str, text: &str, spec: &ArraySpec, graph: &Graph) -> Result<Configuration, Diagnostic> {
        Self::decode_words(&FixedWords::parse(name, text, u32::BITS)?, spec, graph)
    }

    fn decode_words(words: &FixedWords, spec: &ArraySpec, graph: &Graph) -> Result<Configuration, Diagnostic> {
        let (pairs, rest) = words.values().as_chunks::<2>();
        let located = |place: usize, message: String| {
            let help = "`pushmem encode` writes the file anew from the configuration";
            words.error(2 * place, message).or_code(Code::Writes).with_help(help)
        };
        if let [address] = rest {
            return Err(located(
                pairs.len(),
                format!("the last address, {address:08x}, has no data: the file was cut"),
            ));
        }
        let write = |&[address, data]: &[u64; 2]| RegisterWrite { address: address as u32, data: data as u32 };
        let bitstream = Bitstream { writes: pairs.iter().map(write).collect() };
        decode(&bitstream, spec, graph).map_err(|error| located(error.write, error.message))
    }
}
