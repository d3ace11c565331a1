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
    /// Whether an option is wanted, which is refused where there is a problem.
    fn option(
        &self,
        key: &str,
        wanted: Option<bool>,
        problem: Option<String>,
        help: impl Into<String>,
    ) -> Result<bool, Diagnostic> {
        match problem {
            Some(problem) if wanted == Some(true) => self.refuse(key, problem, help),
            _ => Ok(wanted == Some(true)),
        }
    }

    /// In these modes words are at any address that an input gives, and loaded a row after the other, a register for each word.
    pub(super) fn addressed_mode(
        &self,
        key: &str,
        wanted: Option<bool>,
        memory: &AddressedMemory,
    ) -> Result<bool, Diagnostic> {
        let AddressedMemory { kind, word_bits, rows, .. } = *memory;
        let words = rows * kind.row_words();
        let problem = wide_row_problem(key, memory).or_else(|| match kind {
            Kind::WideFetch { .. } if !rows.is_power_of_two() => {
                Some(format!("with `{key}`, rows are a power of two, not {rows}: addresses wrap"))
            }
            Kind::WideFetch { .. } if words.ilog2() > word_bits => {
                Some(format!("a word of {word_bits} bits does not address {words} words"))
            }
            Kind::WideFetch { .. } => None,
            _ => Some(format!("a {} tile has no `{key}`", kind.name())),
        });
        self.option(key, wanted, problem, help_of(key))
    }

    /// A rom always has them.
    pub(super) fn contents(&self, wanted: Option<bool>, memory: &AddressedMemory) -> Result<bool, Diagnostic> {
        let problem = match memory.kind {
            Kind::Rom => Some("the contents of a rom are always loaded through the configuration port".to_owned()),
            _ => wide_row_problem("contents", memory),
        };
        self.option("contents", wanted, problem, help_of("contents"))
    }

    pub(super) fn output_chaining(&self, kind: Kind, wanted: Option<bool>) -> Result<bool, Diagnostic> {
        let problem = (kind == Kind::Rom).then(|| "a rom has no `output_chaining`".to_owned());
        let help = "remove `output_chaining`, or let the tile of another kind be the last of the chain";
        self.option("output_chaining", wanted, problem, help)
    }

    /// The word to write is on input 1, beside the address.
    pub(super) fn ram_mode(
        &self,
        wanted: Option<bool>,
        inputs: u32,
        memory: &AddressedMemory,
    ) -> Result<bool, Diagnostic> {
        let wanted = self.addressed_mode("ram_mode", wanted, memory)?;
        let problem = "with `ram_mode`, a tile has at least 2 inputs, not 1: address and word come together";
        let problem = (inputs < 2).then(|| problem.to_owned());
        self.option("ram_mode", Some(wanted), problem, "set `inputs: 2`, or remove `ram_mode`")
    }

    pub(super) fn fifo_mode(&self, kind: Kind, wanted: Option<bool>) -> Result<bool, Diagnostic> {
        let is_wide = matches!(kind, Kind::WideFetch { .. });
        let problem = (!is_wide).then(|| format!("a {} tile has no `fifo_mode`", kind.name()));
        self.option("fifo_mode", wanted, problem, "use a tile of kind `wide_fetch`, or remove `fifo_mode`")
    }

    pub(super) fn bist(&self, kind: Kind, wanted: Option<bool>) -> Result<bool, Diagnostic> {
        let problem = "a register file has no SRAM to test: its words are flip-flops, which a scan chain reaches";
        let problem = (kind == Kind::RegisterFile).then(|| problem.to_owned());
        self.option("bist", wanted, problem, "remove `bist`")
    }
}
