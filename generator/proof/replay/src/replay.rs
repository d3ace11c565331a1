//! The replay.

use pushmem_buffers::{Direction, UnifiedBuffer};
use pushmem_buffers::{MappedBuffer, Source};
use pushmem_tile::{Kind, TileSpec};
use rayon::prelude::*;

use crate::chained::folded;
use crate::error::{ErrorKind, ReplayError};
use crate::parts;
use crate::report::ReplayReport;
use crate::simulation::Simulation;

/// Simulates mapped tiles from their configurations and checks that every read port shows, in each of its cycles and in
/// no other, the element it reads as last written before.
///
/// # Errors
/// The first fault in time.
pub fn replay(buffer: &UnifiedBuffer, mapped: &MappedBuffer, spec: &TileSpec) -> Result<ReplayReport, ReplayError> {
    run(buffer, mapped, spec, true)
}

/// The same as [`replay`], cycle by cycle to the end.
///
/// # Errors
/// As [`replay`].
pub fn replay_all(buffer: &UnifiedBuffer, mapped: &MappedBuffer, spec: &TileSpec) -> Result<ReplayReport, ReplayError> {
    run(buffer, mapped, spec, false)
}

fn run(
    buffer: &UnifiedBuffer,
    mapped: &MappedBuffer,
    spec: &TileSpec,
    may_skip: bool,
) -> Result<ReplayReport, ReplayError> {
    check(buffer, mapped, spec).map_err(malformed)?;
    if may_skip && let Some(parts) = parts::distinct(buffer, mapped) {
        let reports = parts.par_iter().map(|part| whole(&part.buffer, &part.mapped, spec, may_skip));
        // All parts together name the first fault in time, by the tiles and ports of the buffer.
        if let Ok(reports) = reports.collect::<Result<Vec<_>, _>>() {
            let words = buffer.reads().map(|(_, port)| port.iterations() as u64).sum();
            return Ok(reports
                .into_iter()
                .fold(ReplayReport { words, ..ReplayReport::default() }, ReplayReport::beside));
        }
    }
    whole(buffer, mapped, spec, may_skip)
}

fn malformed(reason: String) -> ReplayError {
    ReplayError { cycle: 0, tile: None, controller: None, read: None, fault: ErrorKind::Malformed(reason) }
}

/// Runs all tiles together.
fn whole(
    buffer: &UnifiedBuffer,
    mapped: &MappedBuffer,
    spec: &TileSpec,
    may_skip: bool,
) -> Result<ReplayReport, ReplayError> {
    let folded = folded(mapped, spec);
    if may_skip && folded.iter().any(Option::is_some) {
        // A fault of a folded chain may be none of its tiles, and has no tile to name.
        if let Ok(report) = Simulation::new(buffer, mapped, spec, &folded).map_err(malformed)?.run(true) {
            return Ok(report);
        }
    }
    let apart = vec![None; mapped.tiles.len()];
    Simulation::new(buffer, mapped, spec, &apart).map_err(malformed)?.run(may_skip)
}

/// Whether the parts fit each other.
fn check(buffer: &UnifiedBuffer, mapped: &MappedBuffer, spec: &TileSpec) -> Result<(), String> {
    buffer.check().map_err(|fault| fault.message)?;
    if spec.kind == Kind::Rom {
        return Err("a rom holds no buffer".to_owned());
    }
    let digest = spec.digest();
    for (number, tile) in mapped.tiles.iter().enumerate() {
        // The digest takes longer than all other checks: once is enough.
        let mut configuration = tile.configuration.clone();
        configuration.spec_digest.take_if(|made_for| *made_for == digest);
        configuration.check(spec).map_err(|fault| format!("tile {number}: {fault}"))?;
        if tile.inputs.len() != spec.inputs as usize || tile.outputs.len() != spec.outputs as usize {
            return Err(format!("tile {number} has other ports than a {} tile", spec.name));
        }
        if tile.chain_from.is_some_and(|from| from >= number) {
            return Err(format!("tile {number} is chained to a tile that does not come before it"));
        }
        for source in tile.inputs.iter().flatten() {
            let exists = match *source {
                Source::Port(port) => buffer.ports.get(port).is_some_and(|port| port.direction == Direction::Write),
                Source::Output { tile, output } => tile < number && output < spec.outputs as usize,
            };
            if !exists {
                return Err(format!("tile {number} takes words from where there are none: {source:?}"));
            }
        }
    }
    Ok(())
}
