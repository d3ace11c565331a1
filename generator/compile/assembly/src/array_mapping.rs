//! The mapping of an array that is kept, in a time that its tiles can count.

use pushmem_buffers::{MappedBuffer, UnifiedBuffer};
use pushmem_graph::earlier;
use pushmem_mapping::{MappingError, Mappings};
use pushmem_tile::TileSpec;

/// Maps an array, in the time of the run if its tiles can count to the first cycles of all ports. Else the time of the tiles
/// begins with the first port, in the cycle that is returned: they are flushed then, and not with the run.
pub(crate) fn map_in_time(
    buffer: &UnifiedBuffer,
    spec: &TileSpec,
    mappings: &Mappings,
) -> Result<(u64, MappedBuffer), MappingError> {
    mappings.map(buffer, spec).map(|mapped| (0, mapped)).or_else(|error| {
        let begin = first_start(buffer);
        let latest = buffer.ports.iter().map(|port| port.schedule.start as u64).max().unwrap_or(0);
        let bits = spec.controllers.values().map(|controller| controller.cycle_bits).min().unwrap_or(0);
        // Controllers within the tile begin some cycles before or after those of the ports.
        if begin == 0 || latest >> (bits - 1) == 0 {
            return Err(error);
        }
        mappings.map(&earlier(buffer, begin), spec).map(|mapped| (begin, mapped)).map_err(|_| error)
    })
}

/// The cycle in which the first of the ports begins.
pub(crate) fn first_start(buffer: &UnifiedBuffer) -> u64 {
    buffer.ports.iter().map(|port| port.schedule.start as u64).min().unwrap_or(0)
}
