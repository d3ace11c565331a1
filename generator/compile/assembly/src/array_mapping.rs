//! The mapping of an array that is kept, in a time that its tiles can count.

use pushmem_buffers::{MappedBuffer, UnifiedBuffer};
use pushmem_graph::earlier;
use pushmem_mapping::{MappingError, Mappings};
use pushmem_tile::{Kind, TileSpec};

/// Maps an array, in the time of the run if its tiles can count to the first cycles of all ports. Else the time of the tiles
/// begins with the first port, in the cycle that is returned: they are flushed then, and not with the run.
///
/// Schedules that differ in other stages often only move an array in time: it is mapped in a time that begins with its first port.
pub(crate) fn map_in_time(
    buffer: &UnifiedBuffer,
    spec: &TileSpec,
    mappings: &Mappings,
) -> Result<(u64, MappedBuffer), MappingError> {
    let begin = first_start(buffer);
    match mappings.map(&earlier(buffer, begin), spec) {
        Ok(mapped) => Ok(later(&mapped, begin, spec).map_or((begin, mapped), |mapped| (0, mapped))),
        // Rows may be fetched before the first port begins.
        Err(_) if begin > 0 && matches!(spec.kind, Kind::WideFetch { .. }) => {
            mappings.map(buffer, spec).map(|mapped| (0, mapped))
        }
        Err(error) => Err(error),
    }
}

/// The mapping of a buffer that does everything so many cycles later, if its controllers can count so far.
fn later(mapped: &MappedBuffer, cycles: u64, spec: &TileSpec) -> Option<MappedBuffer> {
    let mut mapped = mapped.clone();
    for tile in &mut mapped.tiles {
        tile.configuration = std::mem::take(&mut tile.configuration).later(cycles as i64);
    }
    let fits = mapped.tiles.iter().all(|tile| tile.configuration.check(spec).is_ok());
    fits.then_some(mapped)
}

/// The cycle in which the first of the ports begins.
pub(crate) fn first_start(buffer: &UnifiedBuffer) -> u64 {
    buffer.ports.iter().map(|port| port.schedule.start as u64).min().unwrap_or(0)
}
