//! The proof of an application graph, and of an accelerator that realizes one.
//!
//! It sees both as nets with drivers and delays, a [`NetGraph`].
//!
//! It shares no decision with the passes that made the accelerator: the source of truth is the loop nest, from which it
//! takes the order of statements and the element of each access, and the schedule is data. Stages are checked to be copies of
//! the operations first; then the parts of the accelerator; then each value that is read.

mod context;
mod counters;
mod dependence;
mod digits;
mod error;
mod holds;
mod memories;
mod nets;
mod nodes;
mod order;
mod outputs;
mod parts;
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

use pushmem_datapaths::Datapath;
use pushmem_nest::Program;
use pushmem_stages::Schedule;
use pushmem_stages::Staged;

pub use error::{PartError, ProofError, ProvenanceError};
pub use nets::{NetArray, NetCase, NetCopy, NetDriver, NetGraph, NetHold, NetLane, NetOperand, NetSource, View};
pub use rewritten::prove_rewritten;
pub use roms::{RomError, RomFault, prove_roms};

use crate::context::Context;
use crate::dependence::Dependences;
use crate::parts::Compilation;
use crate::sequence::Sequence;
use pushmem_arithmetic::{Arithmetic, prove_arithmetic};
use pushmem_graph::{Accelerator, ApplicationGraph};

/// Proves that an accelerator, as it is printed, computes the program with the datapaths of its operations, given that the tiles of each
/// memory implement its buffer, which a replay of its mapping shows. The result says how the arithmetic of the datapaths is known.
///
/// # Errors
/// The first part or value that is wrong.
pub fn prove(
    program: &Program,
    staged: Staged,
    schedule: &Schedule,
    datapaths: &[Datapath],
    accelerator: &Accelerator,
) -> Result<Arithmetic, ProofError> {
    let arithmetic = prove_arithmetic(program, datapaths)?;
    let sequence = Sequence::of(program, staged);
    stages::check(program, staged, &sequence)?;
    parts::check(Compilation { program, staged, schedule, datapaths, accelerator }, &sequence)?;
    let dependences = Dependences::new(sequence, staged);
    let views = View::all(accelerator, program, staged);
    views.iter().try_for_each(|view| outputs::check(program, staged, &dependences, view))?;
    provenance::check_memories(program, staged, &dependences, schedule, &views)?;
    let sequence = &dependences.sequence;
    rams::check_accelerator(Context { program, staged, schedule, sequence, datapaths }, accelerator)?;
    let datapath = |kernel: usize| &accelerator.datapaths[accelerator.kernels[kernel].datapath].datapath;
    let taken = |kernel: usize, load: usize| {
        let is_used =
            datapath(kernel).uses(load) && !is_random_access(program, staged, accelerator.kernels[kernel].stage, load);
        is_used.then(|| datapath(kernel).arrival(load))
    };
    provenance::prove(program, staged, &dependences, schedule, &views, taken)?;
    Ok(arithmetic)
}

/// Whether a load of a stage is an element of a random-access memory, whose accesses are proven to be in order.
fn is_random_access(program: &Program, staged: Staged, stage: usize, load: usize) -> bool {
    program.arrays[staged.pipeline.stages[stage].reads[load].array].random_access
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
    nodes::check(Context { program, staged, schedule, sequence: &sequence, datapaths }, graph)?;
    let dependences = Dependences::new(sequence, staged);
    let views = View::all(graph, program, staged);
    views.iter().try_for_each(|view| outputs::check(program, staged, &dependences, view))?;
    let sequence = &dependences.sequence;
    rams::check_graph(Context { program, staged, schedule, sequence, datapaths }, graph)?;
    let datapath = |kernel: usize| &datapaths[graph.kernels[kernel].operation];
    let taken = |kernel: usize, load: usize| {
        let stage = graph.stage_of(pushmem_graph::KernelId::new(kernel));
        let is_used = datapath(kernel).uses(load) && !is_random_access(program, staged, stage, load);
        is_used.then(|| datapath(kernel).arrival(load))
    };
    provenance::prove(program, staged, &dependences, schedule, &views, taken)?;
    Ok(arithmetic)
}
