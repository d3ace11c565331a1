//! The proof of an accelerator.
//!
//! It shares no decision with the passes that made the accelerator: the source of truth is the loop nest, from which it
//! takes the order of statements and the element of each access, and the schedule is data. Stages are checked to be copies of
//! the operations first; then the parts of the accelerator; then each value that is read.

mod counters;
mod dependence;
mod error;
mod memories;
mod order;
mod outputs;
mod parts;
mod places;
mod provenance;
mod roms;
mod sequence;
mod stages;
mod stored;
mod tiles;
mod units;
mod writers;

use pushmem_kernels::Datapath;
use pushmem_nest::Program;
use pushmem_stages::Schedule;
use pushmem_stages::Staged;

pub use error::{PartError, ProofError, ProvenanceError};
pub use roms::{RomError, RomFault, prove_roms};

use crate::dependence::Dependences;
use crate::parts::Compilation;
use crate::sequence::Sequence;
use pushmem_graph::Accelerator;

/// Proves that an accelerator, as it is printed, computes the program, given that `datapaths` are those of the
/// operations, and that the tiles of each memory implement its buffer, which a replay of its mapping shows.
///
/// # Errors
/// The first part or value that is wrong.
pub fn prove(
    program: &Program,
    staged: Staged,
    schedule: &Schedule,
    datapaths: &[Datapath],
    accelerator: &Accelerator,
) -> Result<(), ProofError> {
    let sequence = Sequence::of(program, staged);
    stages::check(program, staged, &sequence)?;
    parts::check(Compilation { program, staged, schedule, datapaths, accelerator }, &sequence)?;
    let dependences = Dependences::new(sequence, staged);
    outputs::check(program, staged, &dependences, accelerator)?;
    provenance::prove(program, staged, &dependences, schedule, accelerator)
}
