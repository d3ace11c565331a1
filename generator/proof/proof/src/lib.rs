//! The proof of an application graph, and of an accelerator that realizes one.
//!
//! It shares no decision with the passes that made them: the source of truth is the loop nest, from which it takes the order of statements
//! and the element of each access, and the schedule is data. Each rule is asked of the graph: stages are checked to be copies of the
//! operations first; then the nodes of the graph; then each value that is read. An accelerator is compared with its graph, part by part,
//! so that what is proven of one holds for the other.

mod context;
mod counters;
mod dependence;
mod digits;
mod error;
mod hardware;
mod holds;
mod memories;
mod nets;
mod nodes;
mod order;
mod outputs;
mod places;
mod provenance;
mod rams;
mod rewritten;
mod roms;
mod sequence;
mod stages;
mod stored;
mod tiles;
mod units;
mod writers;

use pushmem_arithmetic::{Arithmetic, prove_arithmetic};
use pushmem_datapaths::Datapath;
use pushmem_graph::{Accelerator, ApplicationGraph};
use pushmem_nest::Program;
use pushmem_stages::Schedule;
use pushmem_stages::Staged;

pub use error::{PartError, ProofError, ProvenanceError};
pub use rewritten::prove_rewritten;
pub use roms::prove_roms;

use crate::context::Context;
use crate::dependence::Dependences;
use crate::nets::View;
use crate::sequence::Sequence;

/// Proves that an accelerator, as it is printed, is a graph that computes the program with the datapaths of its operations, given that the
/// tiles of each memory implement its buffer, which a replay of its mapping shows. The result says how the arithmetic of the datapaths is
/// known.
///
/// # Errors
/// The first part or value that is wrong.
pub fn prove(
    program: &Program,
    staged: Staged,
    schedule: &Schedule,
    datapaths: &[Datapath],
    graph: &ApplicationGraph,
    accelerator: &Accelerator,
) -> Result<Arithmetic, ProofError> {
    let arithmetic = prove_graph(program, staged, schedule, datapaths, graph)?;
    let sequence = Sequence::of(program, staged);
    hardware::check(Context { program, staged, schedule, sequence: &sequence, datapaths }, graph, accelerator)?;
    Ok(arithmetic)
}

/// Proves that an application graph computes the program with the datapaths of its operations, before any hardware realizes it. The
/// result says how the arithmetic of the datapaths is known.
///
/// # Errors
/// The first node or value that is wrong.
pub fn prove_graph(
    program: &Program,
    staged: Staged,
    schedule: &Schedule,
    datapaths: &[Datapath],
    graph: &ApplicationGraph,
) -> Result<Arithmetic, ProofError> {
    let arithmetic = prove_arithmetic(program, datapaths)?;
    let sequence = Sequence::of(program, staged);
    stages::check(program, staged, &sequence)?;
    let dependences = Dependences::new(sequence, staged);
    let context = Context { program, staged, schedule, sequence: &dependences.sequence, datapaths };
    nodes::check(context, graph)?;
    units::check(context, graph)?;
    rams::check(context, graph)?;
    let views = View::all(context, graph);
    views.iter().try_for_each(|view| outputs::check(program, staged, &dependences, view))?;
    provenance::prove(context, &dependences, &views)?;
    Ok(arithmetic)
}
