//! Register writes as text: one write a line, address and data in hexadecimal.

use std::fmt::Write as _;
use std::path::Path;

use pushmem_files::{Code, Diagnostic, FixedWords};
use pushmem_registers::RegisterMap;
use pushmem_tile::TileSpec;
use serde::Serialize;

use crate::decode::{DecodeError, decode};
use crate::file::Configuration;

/// A write of 32 bits to the configuration port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct RegisterWrite {
    /// Byte address within the tile.
    pub address: u32,
    /// Data.
    pub data: u32,
}

/// Formats writes, one `address data` a line, each of 8 digits, after a comment that names the tile.
pub fn format_writes(tile: &str, writes: &[RegisterWrite]) -> String {
    let mut text = format!("// Register writes for the tile `{tile}`: address data\n");
    for write in writes {
        writeln!(text, "{:08x} {:08x}", write.address, write.data).expect("writing to a string cannot fail");
    }
    text
}

/// Register writes of a file, which know their places in it.
#[derive(Debug)]
pub struct WritesFile {
    words: FixedWords,
    writes: Vec<RegisterWrite>,
}

impl WritesFile {
    /// Reads a file of register writes.
    ///
    /// # Errors
    /// A located message when the file cannot be read, a word is not one of 8 hexadecimal digits, or an address has no data.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        Self::of(FixedWords::read(path, u32::BITS)?)
    }

    /// Reads register writes from text; `name` is used in messages.
    ///
    /// # Errors
    /// As [`WritesFile::read`].
    pub fn parse(name: &str, text: &str) -> Result<Self, Diagnostic> {
        Self::of(FixedWords::parse(name, text, u32::BITS)?)
    }

    fn of(words: FixedWords) -> Result<Self, Diagnostic> {
        let (pairs, rest) = words.values().as_chunks::<2>();
        if let [address] = rest {
            let message = format!("the last address, {address:08x}, has no data: the file was cut");
            let help = "each write is an address and its data, both in hexadecimal";
            return Err(words.error(2 * pairs.len(), message).or_code(Code::Writes).with_help(help));
        }
        let write = |&[address, data]: &[u64; 2]| RegisterWrite { address: address as u32, data: data as u32 };
        let writes = pairs.iter().map(write).collect();
        Ok(Self { words, writes })
    }

    /// The writes, in the order of the file.
    pub fn writes(&self) -> &[RegisterWrite] {
        &self.writes
    }

    /// The configuration that the writes load into a tile; see [`crate::decode()`].
    ///
    /// # Errors
    /// A located message when they are not a configuration of the tile, or not all of one.
    pub fn decode(&self, spec: &TileSpec, map: &RegisterMap) -> Result<Configuration, Diagnostic> {
        let located = |error: DecodeError| {
            let problem = self.words.error(2 * error.write, error.message).or_code(Code::Writes);
            problem.with_help("`pushmem encode` writes the file anew from the configuration")
        };
        decode(&self.writes, spec, map).map_err(located)
    }
}
