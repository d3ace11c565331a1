//! One raster scan, or one nest after the other: the pipeline that a program becomes.

use pushmem_files::Diagnostic;
use pushmem_nest::{Policy, Program};
use pushmem_rewriting::{with_halves, with_random_access};
use pushmem_schedule::{CoarseOptions, Recurrence, sequential};

use crate::error::CompileError;

/// The pipeline that a program becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pipeline {
    /// The chosen one, or a coarse one where the rule of the papers chose a scan that the memories do not serve, or whose stages all
    /// wait for a recurrence: the rule looks at reductions alone.
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

/// Whether a schedule of so many cycles is slower than one stage after the other, because the stages of a scan wait for a recurrence.
pub(crate) fn waits_for_recurrence(
    recurrence: Option<&Recurrence>,
    cycles: u64,
    stages: &pushmem_schedule::Pipeline,
) -> bool {
    let in_sequence = || sequential(stages, &CoarseOptions::default()).length(stages) as u64;
    recurrence.is_some_and(|of| of.interval > 1) && cycles > in_sequence()
}

/// The refusal of the pipeline that the rule chooses, with that of nests: who follows the advice of one needs the other one, too.
pub fn beside(chosen: Diagnostic, nests: Diagnostic) -> Diagnostic {
    if chosen.message() == nests.message() {
        return chosen;
    }
    chosen.with_related(vec![nests.as_note()])
}
