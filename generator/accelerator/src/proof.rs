//! The proof of an accelerator.

use pushmem_extraction::Extraction;
use pushmem_kernels::Datapath;
use pushmem_nest::Program;
use pushmem_schedule::Schedule;

use crate::accelerator::Accelerator;
use crate::error::ProofError;
use crate::parts::{self, Compilation};
use crate::provenance;

/// Proves that an accelerator, as it is printed, computes what the program says, given that `datapaths` are those of the
/// operations, and that the tiles of each memory do what its buffer says, which a replay of its mapping shows.
///
/// # Errors
/// The first part or value that is wrong.
pub fn prove(
    program: &Program,
    extraction: &Extraction,
    schedule: &Schedule,
    datapaths: &[Datapath],
    accelerator: &Accelerator,
) -> Result<(), ProofError> {
    parts::check(Compilation { program, extraction, schedule, datapaths, accelerator })?;
    provenance::prove(program, extraction, schedule, accelerator)
}
