//! One raster scan, or one nest after the other: the pipeline that a program becomes.

use pushmem_files::Diagnostic;
use pushmem_nest::{Policy, Program};
use pushmem_rewriting::{with_halves, with_random_access};

use crate::error::CompileError;

/// The pipeline that a program becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pipeline {
    /// The one that the program names; else the cheaper of a coarse one and the one that the rule of the papers chooses, which looks at
    /// reductions alone.
    Cheapest,
    /// The one that the program names, or that the rule chooses.
    Chosen,
    /// A coarse one: whole nests run one after the other.
    Nests,
}

/// Whether the rule chooses a scan.
///
/// # Errors
/// When the program has random accesses or elements of 32 bits that no hardware serves.
pub fn may_be_scan(program: &Program) -> Result<bool, CompileError> {
    if program.schedule.is_some() {
        return Ok(false);
    }
    let (program, _) = with_random_access(program.clone())?;
    let (program, _) = with_halves(program)?;
    Ok(program.policy() == Policy::Stencil)
}

/// The refusal of the pipeline that the rule chooses, with that of nests: who follows the advice of one needs the other one, too.
pub fn beside(chosen: Diagnostic, nests: Diagnostic) -> Diagnostic {
    if chosen.message() == nests.message() {
        return chosen;
    }
    chosen.with_related(vec![nests.as_note()])
}
