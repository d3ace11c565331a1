//! The self-test in Verilator, on memories with faults.

use std::path::Path;
use std::process::Command;

use itertools::Itertools;
use pushmem_bist::{Fault, MemoryShape, Row, Verdict};
use pushmem_files::Diagnostic;
use pushmem_process::Invocation;

use crate::bench::BenchError;

/// Runs the self-test of a model that [`crate::Verilator::build_self_test`] built, once for each memory: its fault, and the value of all
/// its bits before. Verdicts come in their order.
///
/// # Errors
/// When the executable fails, or a self-test does not end.
pub fn self_test(
    executable: &Path,
    shape: MemoryShape,
    memories: &[(Option<Fault>, bool)],
) -> Result<Vec<Verdict>, BenchError> {
    let stopped = |message: String| BenchError::Rtl(Diagnostic::new(message));
    let records =
        memories.iter().flat_map(|&(fault, loads)| record(fault, loads)).flat_map(u32::to_le_bytes).collect_vec();
    let run = Invocation::of(&mut Command::new(executable)).fed(&records).finish();
    let output = run.map_err(BenchError::NotRun)?;
    let words = 3 + shape.width.div_ceil(u32::BITS) as usize;
    if !output.status.success() || output.stdout.len() != memories.len() * words * 4 {
        let (status, errors) = (output.status, output.errors());
        return Err(stopped(format!("the simulation of the self-test stopped ({status})\n{}", errors.trim_end())));
    }
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let all = output.stdout.chunks_exact(4).map(word).collect_vec();
    let verdict = |found: &[u32]| {
        let [cycles, flags, address, bits @ ..] = found else { unreachable!("records have a head") };
        if flags & 1 == 0 {
            return Err(stopped(format!("the self-test is not done after {cycles} cycles")));
        }
        let first_failure = (flags >> 1 & 1 == 1).then_some(*address);
        Ok(Verdict { cycles: u64::from(*cycles), first_failure, bits: Row::of_words(bits.iter().copied()) })
    };
    all.chunks_exact(words).map(verdict).collect()
}

/// The variables of the SRAM with faults: see `faulty_sram.sv`.
fn record(fault: Option<Fault>, loads: bool) -> [u32; 11] {
    let loads = u32::from(loads);
    match fault {
        None => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, loads],
        Some(Fault::StuckAt { cell, value }) => [1, cell.row, cell.bit, 0, 0, 0, u32::from(value), 0, 0, 0, loads],
        Some(Fault::Transition { cell, to }) => [2, cell.row, cell.bit, 0, 0, u32::from(to), 0, 0, 0, 0, loads],
        Some(Fault::Address { address, own, other, value, writers, readers }) => {
            let (row, reached) = (other.unwrap_or(0), u32::from(other.is_some()));
            [3, row, 0, address, 0, u32::from(own), u32::from(value), reached, writers, readers, loads]
        }
        Some(Fault::Inversion { aggressor, victim, to }) => {
            [4, victim.row, victim.bit, aggressor.row, aggressor.bit, u32::from(to), 0, 0, 0, 0, loads]
        }
        Some(Fault::Idempotent { aggressor, victim, to, value }) => {
            [5, victim.row, victim.bit, aggressor.row, aggressor.bit, u32::from(to), u32::from(value), 0, 0, 0, loads]
        }
        Some(Fault::State { aggressor, victim, state, value }) => [
            6,
            victim.row,
            victim.bit,
            aggressor.row,
            aggressor.bit,
            u32::from(state),
            u32::from(value),
            0,
            0,
            0,
            loads,
        ],
    }
}
