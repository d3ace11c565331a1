//! Streams on one tile whose inputs and outputs reach the memory directly.

use pushmem_configuration::Affine;
use pushmem_tile::{TileSpec, timing};

use crate::attempt::{Attempt, Running, configurations};
use crate::nest::Nest;
use crate::supply::{longest_wait, rows_needed};

/// Maps one write stream and its reads, given as iterations of the write, to one tile or chain. Output `i` serves the
/// `i`-th read.
pub(crate) fn map(spec: &TileSpec, write: &Nest, reads: &[&Nest]) -> Result<Attempt, Vec<String>> {
    let (write_role, read_role) =
        spec.kind.direct_roles().ok_or_else(|| vec![format!("{} tiles cannot be written", spec.kind.name())])?;
    // Words lie in the order in which they are written.
    let weights = write.numbering();
    let words = Nest { functions: vec![Affine { start: 0, stride: weights.clone() }], ..write.clone() };
    let latency = timing::sram_to_output(spec.sram_latency) as i64;
    let mut running = vec![Running { role: write_role, port: 0, nest: words.clone(), main: Some(0) }];
    let mut needed = 1;
    for (port, read) in reads.iter().enumerate() {
        let mut nest = read.weighted(&weights);
        nest.cycle.start -= latency;
        if nest.cycle.start < 0 {
            return Err(vec![format!("output {port}: reads before the memory can answer")]);
        }
        let wait = longest_wait(&nest, &words).map_err(|reason| vec![format!("output {port}: {reason}")])?;
        if wait + timing::SRAM_WRITE as i64 > 0 {
            let late = wait + timing::SRAM_WRITE as i64;
            return Err(vec![format!("output {port}: read {late} cycles before its word can be there")]);
        }
        for other in running.iter().filter(|other| other.role == read_role) {
            let shared = spec.kind.memory_port(other.port as u32) == spec.kind.memory_port(port as u32);
            if shared && !nest.never_meets(0, &other.nest, 0) {
                let message =
                    format!("outputs {} and {port} would use their memory port in the same cycle", other.port);
                return Err(vec![message]);
            }
        }
        needed = needed.max(rows_needed(&nest, 0, &words, 0));
        running.push(Running { role: read_role, port, nest, main: Some(0) });
    }
    match configurations(spec, &running, &words, needed) {
        Ok(configurations) => Ok(Attempt { configurations, tried: Vec::new() }),
        Err(reason) => Err(vec![reason]),
    }
}
