//! Streams on one tile whose inputs and outputs reach the memory directly.

use itertools::Itertools;
use pushmem_configuration::Affine;
use pushmem_tile::{TileSpec, timing};

use crate::attempt::{Attempt, Kept, Running, Share, configurations};
use crate::nest::Nest;
use crate::supply::{longest_wait, rows_needed};

/// Maps write streams and their reads to one tile, or one stream to a chain.
pub(crate) fn map(spec: &TileSpec, shares: &[Share]) -> Result<Attempt, Vec<String>> {
    let (write_role, read_role) =
        spec.kind.direct_roles().ok_or_else(|| vec![format!("{} tiles cannot be written", spec.kind.name())])?;
    let latency = timing::sram_to_output(spec.sram_latency) as i64;
    let mut running: Vec<Running> = Vec::new();
    let mut words = Vec::new();
    let mut needed = vec![1; shares.len()];
    let add = |running: &mut Vec<Running>, next: Running| {
        for other in running.iter().filter(|other| other.role == next.role) {
            let shared = spec.kind.memory_port(other.port as u32) == spec.kind.memory_port(next.port as u32);
            if shared && !next.nest.never_meets(0, &other.nest, 0) {
                let ports = if next.role == read_role { "outputs" } else { "inputs" };
                let (one, two) = (other.port, next.port);
                return Err(vec![format!("{ports} {one} and {two} would use their memory port in the same cycle")]);
            }
        }
        running.push(next);
        Ok(())
    };
    let mut outputs = 0..;
    for (share, &Share { write, reads }) in shares.iter().enumerate() {
        // Words lie in the order in which they are written.
        let weights = write.numbering();
        let words_of_share = Nest { functions: vec![Affine { start: 0, stride: weights.clone() }], ..write.clone() };
        let nest = words_of_share.clone();
        add(&mut running, Running { role: write_role, port: share, share, nest, main: Some(0) })?;
        for (read, port) in reads.iter().zip(outputs.by_ref()) {
            let mut nest = read.weighted(&weights);
            nest.cycle.start -= latency;
            if nest.cycle.start < 0 {
                return Err(vec![format!("output {port}: reads before the memory can answer")]);
            }
            let wait =
                longest_wait(&nest, &words_of_share).map_err(|reason| vec![format!("output {port}: {reason}")])?;
            if wait + timing::SRAM_WRITE as i64 > 0 {
                let late = wait + timing::SRAM_WRITE as i64;
                return Err(vec![format!("output {port}: read {late} cycles before its word can be there")]);
            }
            needed[share] = needed[share].max(rows_needed(&nest, 0, &words_of_share, 0));
            add(&mut running, Running { role: read_role, port, share, nest, main: Some(0) })?;
        }
        words.push(words_of_share);
    }
    let kept = words.iter().zip(needed).map(|(rows, needed)| Kept { rows, needed }).collect_vec();
    match configurations(spec, &running, &kept) {
        Ok(configurations) => Ok(Attempt { configurations, tried: Vec::new() }),
        Err(reason) => Err(vec![reason]),
    }
}
