//! Whether the controllers of a tile can wait as long as the reads of a buffer do.

use pushmem_affine::deltas;
use pushmem_buffers::UnifiedBuffer;
use pushmem_tile::{Kind, Role, TileSpec, timing};

use crate::error::MappingError;
use crate::nest::Nest;

/// Checks that no read waits longer for its first word, or between two words, than the controllers of outputs can count. No
/// layout and no banks can change that, so that the search for them need not begin. [`map`](crate::map) checks it, too.
///
/// # Errors
/// The reads that wait too long, and the limit.
pub fn check_waits(buffer: &UnifiedBuffer, spec: &TileSpec) -> Result<(), MappingError> {
    let shows = |role| matches!(role, Role::Tb2Out | Role::Sram2Out | Role::RegisterFile2Out);
    let controllers = spec.controllers().into_iter().filter(|controller| shows(controller.role));
    let Some(bits) = controllers.map(|controller| controller.cycle_bits).max() else { return Ok(()) };
    let limit = 1_i64 << bits;
    // Controllers begin before the word is shown, by the latency of the memory, unless it comes from a transpose buffer.
    let early = match spec.kind {
        Kind::WideFetch { .. } => 0,
        _ => timing::sram_to_output(spec.sram_latency) as i64,
    };
    let mut tried = Vec::new();
    for (_, port) in buffer.reads() {
        let nest = Nest::of_schedule(port);
        let gap = deltas(&nest.cycle.stride, &nest.extent).into_iter().max().unwrap_or(0);
        let start = nest.cycle.start;
        if start >= limit + early {
            tried.push(format!(
                "{}: its first word is read in cycle {start}; a schedule of {bits} bits begins before cycle {}",
                port.name,
                limit + early
            ));
        } else if gap > i128::from(limit) {
            tried.push(format!(
                "{}: between two of its words are {gap} cycles; the limit of a {bits}-bit schedule is {limit}",
                port.name
            ));
        }
    }
    match tried.is_empty() {
        true => Ok(()),
        false => Err(MappingError { buffer: buffer.name.clone(), tile: spec.name.clone(), tried }),
    }
}
