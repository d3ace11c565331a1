//! Register writes as text: one write a line, address and data in hexadecimal.

use std::fmt::Write as _;
use std::path::Path;

use pushmem_files::{Diagnostic, parse_words, read_words};

/// A write of 32 bits to the configuration port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterWrite {
    /// Byte address within the tile.
    pub address: u32,
    /// Data.
    pub data: u32,
}

/// Formats writes, one `address data` a line, after a comment that names the tile.
pub fn format_writes(tile: &str, writes: &[RegisterWrite]) -> String {
    let mut text = format!("// Register writes for the tile `{tile}`: address data\n");
    for write in writes {
        writeln!(text, "{:08x} {:08x}", write.address, write.data).expect("writing to a string cannot fail");
    }
    text
}

/// Reads a file of register writes.
///
/// # Errors
/// A located message when the file cannot be read, a word is not hexadecimal or too large, or an address has no data.
pub fn read_writes(path: &Path) -> Result<Vec<RegisterWrite>, Diagnostic> {
    pair(&path.display().to_string(), &read_words(path, u32::BITS)?)
}

/// Reads register writes from text; `name` is used in messages.
///
/// # Errors
/// As [`read_writes`].
pub fn parse_writes(name: &str, text: &str) -> Result<Vec<RegisterWrite>, Diagnostic> {
    pair(name, &parse_words(name, text, u32::BITS)?)
}

fn pair(name: &str, words: &[u64]) -> Result<Vec<RegisterWrite>, Diagnostic> {
    let (pairs, rest) = words.as_chunks::<2>();
    if let [address] = rest {
        return Err(Diagnostic::new(format!("{name}: the last address, {address:08x}, has no data"))
            .with_help("each write is an address and its data, both in hexadecimal"));
    }
    Ok(pairs.iter().map(|&[address, data]| RegisterWrite { address: address as u32, data: data as u32 }).collect())
}
