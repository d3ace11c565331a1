//! The netlist of a design against its RTL and its model.

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic, read_text};
use pushmem_synthesis::{Design, Synthesis, Tools, prove};
use serde::Serialize;

use super::Synth;
use crate::progress::Spinner;

/// How many signals without a proof are named, of a block.
const UNPROVEN_SHOWN: usize = 5;

impl Synth {
    /// Proves the netlist, if that is wanted.
    pub(super) fn prove(
        &self,
        design: &Design,
        synthesis: &Synthesis,
        tools: &Tools,
    ) -> Result<Option<Proven>, Diagnostic> {
        let Some(other) = &self.equivalence else { return Ok(None) };
        let netlist = match other {
            None => synthesis.netlist.last().map(|(_, text)| text.clone()).unwrap_or_default(),
            Some(path) => read_text(path)?,
        };
        let spinner = Spinner::new();
        let proven = prove(design, synthesis, &netlist, tools, |step| spinner.say(step));
        drop(spinner);
        let blocks = proven?;
        let unproven = blocks.iter().filter(|block| !block.unproven.is_empty());
        let mut lines = unproven.map(|block| {
            let shown = block.unproven.iter().take(UNPROVEN_SHOWN).join(", ");
            let more = block.unproven.len().saturating_sub(UNPROVEN_SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{} of {} signals of {}: {shown}{more}", block.unproven.len(), block.signals, block.module)
        });
        let described = lines.join("\n");
        if !described.is_empty() {
            return Err(Diagnostic::new(format!(
                "there is no proof that the netlist does what the RTL does: {described}"
            ))
            .or_code(Code::Difference)
            .with_help("compare these signals of netlist and RTL; a signal behind a wrong one is wrong, too"));
        }
        Ok(Some(Proven { blocks: blocks.len(), signals: blocks.iter().map(|block| block.signals).sum() }))
    }
}

/// The part of a netlist that was proven equivalent to the RTL.
#[derive(Serialize)]
pub(super) struct Proven {
    pub blocks: usize,
    pub signals: u32,
}

/// The extent of a check of the netlist.
#[derive(Serialize)]
pub(super) struct Checked {
    pub configurations: u64,
    pub cycles: u64,
}
