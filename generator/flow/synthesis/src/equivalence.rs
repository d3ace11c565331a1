//! The proof that a netlist does what the RTL does.

use std::process::Command;

use pushmem_cache::Kept;
use pushmem_files::Diagnostic;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::job::{CELLS, Design, made_by};
use crate::process::{execute, read, read_json, work_folder};
use crate::run::Synthesis;
use crate::tools::Tools;

/// Yosys runs in Python.
const PROVE: &str = include_str!("../../../../templates/synthesis/equivalence.py");

/// The proof of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenBlock {
    /// Its module in the RTL.
    pub module: String,
    /// Signals of both that were compared, bit by bit: outputs, registers with their clocks, sets and resets, and what else has
    /// one name in both.
    pub signals: u32,
    /// Those of which there is no proof.
    pub unproven: Vec<String>,
}

/// Proves block by block that a netlist of a design does what its RTL does from any state on that both have, or finds the
/// result in the cache. `step` is told what is being done.
///
/// # Errors
/// When Yosys fails, with what it said: for example when the netlist has other blocks than the design.
pub fn prove(
    design: &Design,
    synthesis: &Synthesis,
    netlist: &str,
    tools: &Tools,
    mut step: impl FnMut(&str),
) -> Result<Vec<ProvenBlock>, Diagnostic> {
    let black_boxes = design.package.technology.black_boxes().collect::<Vec<_>>();
    let job = json!({"liberty": [CELLS], "black_boxes": black_boxes}).to_string();
    let (library, made_by) = (read(&design.library.path)?, made_by(design, tools));
    let mut texts = vec![PROVE, &job, &library, &synthesis.reference, netlist];
    texts.extend(made_by.iter().map(String::as_str));
    let kept = Kept::of("equivalence", &texts);
    if let Some(blocks) = kept.result() {
        return Ok(blocks);
    }
    let work = work_folder([
        ("job.json", job.as_str()),
        ("equivalence.py", PROVE),
        (CELLS, &library),
        ("reference.il", &synthesis.reference),
        ("netlist.v", netlist),
    ])?;
    let mut yosys = Command::new(&tools.python);
    let yosys = yosys.args(["equivalence.py", "job.json", "netlist.v"]).current_dir(work.path());
    execute(yosys, "Yosys", &mut step)?;
    let blocks: Vec<ProvenBlock> = read_json(&work.path().join("equivalence.json"), "Yosys")?;
    kept.keep(&blocks);
    Ok(blocks)
}
