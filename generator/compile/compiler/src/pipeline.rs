//! One raster scan, or one nest after the other: a choice of what the program becomes, whatever the hardware.

use pushmem_nest::{Policy, Program};
use pushmem_rewriting::{with_halves, with_random_access};

use crate::compile::Compiled;
use crate::error::CompileError;

/// The pipeline that a program becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipeline {
    /// The one that the program names, or that the rule of the papers chooses.
    Chosen,
    /// A coarse one: whole nests run one after the other.
    Nests,
}

impl Pipeline {
    /// The program as this pipeline.
    pub(crate) fn of(self, program: Program) -> Program {
        match self {
            Pipeline::Chosen => program,
            Pipeline::Nests => Program { schedule: Some(Policy::Dnn), ..program },
        }
    }
}

/// Builds hardware of a program as the pipeline that it names or that the rule chooses. The rule looks at reductions alone: where it
/// chooses a scan that the hardware does not serve, or where all stages of the scan wait for a recurrence, whole nests may run one
/// after the other. `compiled` gives what the compiler made for the hardware.
///
/// # Errors
/// Those of `build`. The first refusal is the one of the pipeline that the rule chooses; who follows its advice needs the other one, too.
pub fn scan_or_nests<Found>(
    program: &Program,
    build: &mut dyn FnMut(Pipeline) -> Result<Found, CompileError>,
    compiled: impl Fn(&mut Found) -> &mut Compiled,
) -> Result<Found, CompileError> {
    let mut chosen = build(Pipeline::Chosen);
    let is_final = match &mut chosen {
        Ok(found) => !compiled(found).waits_for_recurrence(),
        Err(error) => matches!(error, CompileError::Fault(_)),
    };
    if is_final || !may_be_scan(program)? {
        return chosen;
    }
    match (chosen, build(Pipeline::Nests)) {
        (_, Err(fault @ CompileError::Fault(_))) => Err(fault),
        (Ok(mut scan), Ok(mut nests)) => {
            let is_shorter = compiled(&mut nests).graph.length < compiled(&mut scan).graph.length;
            Ok(if is_shorter { nests } else { scan })
        }
        (Err(refused), Ok(mut nests)) => {
            compiled(&mut nests).no_scan = Some(refused.into());
            Ok(nests)
        }
        (Err(scan), Err(nests)) => Err(scan.beside(nests)),
        (scan, _) => scan,
    }
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
