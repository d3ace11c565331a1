//! Memories that are made for a buffer: as large as its words need.

use std::iter;
use std::sync::Arc;

use itertools::Itertools;
use pushmem_buffers::{MappedBuffer, UnifiedBuffer};
use pushmem_graph::reads_apart;
use pushmem_mapping::map;
use pushmem_tile::TileSpec;

/// A mapping to the smallest memories that keep a buffer in as many of them as the largest do, and what they are. Words stay at their
/// addresses until their last reads, and some are never read, so that a memory may need more rows than it has live words: it has the least
/// of some sizes that do, if there is one without words that are read while they are written, which take more hardware.
pub(super) fn least(
    buffer: &UnifiedBuffer,
    mapped: &MappedBuffer,
    largest: &Arc<TileSpec>,
) -> (MappedBuffer, Arc<TileSpec>) {
    let live = mapped.live_words.div_ceil(mapped.tiles.len().max(1) as u64).max(2);
    let near = [live, live + 1, live + live.div_ceil(16), live + live / 4, live.next_power_of_two()];
    let far = iter::successors(Some(2 * live), |rows| Some(2 * rows));
    let far = far.take_while(|rows| *rows < u64::from(largest.rows));
    let sizes = near.into_iter().chain(far).sorted().dedup().filter_map(|rows| u32::try_from(rows).ok());
    let of_rows = |rows: u32| {
        let spec = TileSpec { name: format!("{}_{rows}", largest.name), rows, ..TileSpec::clone(largest) };
        let fitted = map(buffer, &spec).ok().filter(|fitted| fitted.tiles.len() == mapped.tiles.len())?;
        Some((fitted, Arc::new(spec)))
    };
    let mut first = None;
    for (fitted, spec) in sizes.filter(|rows| *rows < largest.rows).filter_map(of_rows) {
        if fitted.tiles.iter().all(|tile| reads_apart(&tile.configuration, &spec)) {
            return (fitted, spec);
        }
        first.get_or_insert((fitted, spec));
    }
    first.unwrap_or_else(|| (mapped.clone(), largest.clone()))
}
