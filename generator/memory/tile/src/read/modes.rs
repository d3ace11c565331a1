//! Modes of a tile beside the unified buffer, and the contents of its memory.

use pushmem_files::Diagnostic;

use super::{REGISTER_BITS, Reader};
use crate::spec::Kind;

/// The memory of a tile that may have modes in which inputs address it.
pub(super) struct AddressedMemory {
    pub kind: Kind,
    pub word_bits: u32,
    pub rows: u32,
    pub sram_latency: u32,
}

/// Why a row of several words cannot be read and written a word at a time through the configuration port.
fn wide_row_problem(key: &str, memory: &AddressedMemory) -> Option<String> {
    let AddressedMemory { kind, word_bits, sram_latency, .. } = *memory;
    match kind {
        Kind::WideFetch { .. } if word_bits > REGISTER_BITS => {
            Some(format!("with `{key}`, a word has at most {REGISTER_BITS} bits, not {word_bits}"))
        }
        Kind::WideFetch { .. } if sram_latency > 1 => {
            Some(format!("with `{key}`, the latency of the SRAM is 1, not {sram_latency}"))
        }
        _ => None,
    }
}

fn help_of(key: &str) -> String {
    match key {
        "rom_mode" => "remove `rom_mode`, or use a tile of kind `rom` beside it".to_owned(),
        _ => format!("remove `{key}`"),
    }
}

impl Reader<'_> {
    /// In these modes words are at any address that an input gives, and loaded a row after the other, a register for each word.
    pub(super) fn addressed_mode(
        &self,
        key: &str,
        wanted: Option<bool>,
        memory: &AddressedMemory,
    ) -> Result<bool, Diagnostic> {
        if wanted != Some(true) {
            return Ok(false);
        }
        let AddressedMemory { kind, word_bits, rows, .. } = *memory;
        let words = rows * kind.row_words();
        if let Some(problem) = wide_row_problem(key, memory) {
            return self.refuse(key, problem, help_of(key));
        }
        let problem = match kind {
            Kind::WideFetch { .. } if !rows.is_power_of_two() => {
                format!("with `{key}`, rows are a power of two, not {rows}: addresses wrap")
            }
            Kind::WideFetch { .. } if words.ilog2() > word_bits => {
                format!("a word of {word_bits} bits does not address {words} words")
            }
            Kind::WideFetch { .. } => return Ok(true),
            _ => format!("a {} tile has no `{key}`", kind.name()),
        };
        self.refuse(key, problem, help_of(key))
    }

    /// A rom always has them.
    pub(super) fn contents(&self, wanted: Option<bool>, memory: &AddressedMemory) -> Result<bool, Diagnostic> {
        let problem = match memory.kind {
            _ if wanted != Some(true) => return Ok(false),
            Kind::Rom => Some("the contents of a rom are always loaded through the configuration port".to_owned()),
            _ => wide_row_problem("contents", memory),
        };
        match problem {
            Some(problem) => self.refuse("contents", problem, help_of("contents")),
            None => Ok(true),
        }
    }

    pub(super) fn output_chaining(&self, kind: Kind, wanted: Option<bool>) -> Result<bool, Diagnostic> {
        match kind {
            Kind::Rom if wanted == Some(true) => self.refuse(
                "output_chaining",
                "a rom has no `output_chaining`",
                "remove `output_chaining`, or let the tile of another kind be the last of the chain",
            ),
            _ => Ok(wanted == Some(true)),
        }
    }

    /// The word to write is on input 1, beside the address.
    pub(super) fn ram_mode(
        &self,
        wanted: Option<bool>,
        inputs: u32,
        memory: &AddressedMemory,
    ) -> Result<bool, Diagnostic> {
        let has_it = self.addressed_mode("ram_mode", wanted, memory)?;
        if has_it && inputs < 2 {
            return self.refuse(
                "ram_mode",
                "with `ram_mode`, a tile has at least 2 inputs, not 1: address and word come together",
                "set `inputs: 2`, or remove `ram_mode`",
            );
        }
        Ok(has_it)
    }

    pub(super) fn fifo_mode(&self, kind: Kind, wanted: Option<bool>) -> Result<bool, Diagnostic> {
        match kind {
            _ if wanted != Some(true) => Ok(false),
            Kind::WideFetch { .. } => Ok(true),
            _ => self.refuse(
                "fifo_mode",
                format!("a {} tile has no `fifo_mode`", kind.name()),
                "use a tile of kind `wide_fetch`, or remove `fifo_mode`",
            ),
        }
    }

    pub(super) fn bist(&self, kind: Kind, wanted: Option<bool>) -> Result<bool, Diagnostic> {
        if kind == Kind::RegisterFile && wanted == Some(true) {
            return self.refuse(
                "bist",
                "a register file has no SRAM to test: its words are flip-flops, which a scan chain reaches",
                "remove `bist`",
            );
        }
        Ok(wanted.unwrap_or(false))
    }
}
