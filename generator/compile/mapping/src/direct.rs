//! Streams on one tile whose inputs and outputs reach the memory directly.

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_tile::{TileSpec, timing};

use crate::attempt::{Attempt, Kept, Running, configurations};
use crate::group::{Space, Stream};
use crate::nest::Nest;
use crate::storage_folding::rows_needed;
use crate::supply::after_writes;
use crate::vectorization::Storage;

/// Maps streams to one tile, or one stream to a chain.
pub(crate) fn map(spec: &TileSpec, streams: &[&Stream]) -> Result<Attempt, Vec<String>> {
    let (write_role, read_role) =
        spec.kind.direct_roles().ok_or_else(|| vec![format!("{} tiles cannot be written", spec.kind.name())])?;
    let latency = timing::sram_to_output(spec.sram_latency) as i64;
    let mut running: Vec<Running> = Vec::new();
    let mut kept = Vec::new();
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
    let (mut inputs, mut outputs) = (0.., 0..);
    for (number, &stream) in streams.iter().enumerate() {
        let (storages, mut failed) = Storage::candidates(stream, 1);
        // All layouts are as dense as each other, and each word is a row.
        let Some(storage) = storages.into_iter().next() else {
            failed.push("its words have no place".to_owned());
            return Err(failed);
        };
        for (write, port) in stream.writes.iter().zip(inputs.by_ref()) {
            let nest = write.nest.weighted(&storage.strides);
            add(&mut running, Running { role: write_role, port, stream: number, nest, main: Some(0) })?;
        }
        let mut needed = 1;
        for (read, port) in stream.reads.iter().zip(outputs.by_ref()) {
            let mut nest = read.nest.weighted(&storage.strides);
            nest.cycle.start -= latency;
            if nest.cycle.start < 0 {
                return Err(vec![format!("output {port}: reads before the memory can answer")]);
            }
            // Each word is fetched by itself.
            let count = Affine { start: 0, stride: nest.extent.numbering() };
            let counted = Nest { functions: vec![count], ..nest.clone() };
            let after = after_writes(stream, &storage, read, &nest, &counted)
                .map_err(|reason| vec![format!("output {port}: {reason}")])?;
            if let Some(late) = after.into_iter().flatten().max().filter(|&late| late > 0) {
                return Err(vec![format!("output {port}: read {late} cycles before its word can be there")]);
            }
            if let Space::Iterations = stream.space {
                needed = needed.max(rows_needed(&nest, 0, &storage.space, 0));
            }
            add(&mut running, Running { role: read_role, port, stream: number, nest, main: Some(0) })?;
        }
        let in_order = matches!(stream.space, Space::Iterations);
        if !in_order {
            needed = storage.span(stream);
        }
        kept.push((storage.space, in_order, needed));
    }
    let kept = kept.iter().map(|(rows, in_order, needed)| Kept { rows, in_order: *in_order, needed: *needed });
    match configurations(spec, &running, &kept.collect_vec()) {
        Ok(configurations) => Ok(Attempt { configurations, tried: Vec::new() }),
        Err(reason) => Err(vec![reason]),
    }
}
