//! Mappings of streams to a tile, or to a chain of tiles.

use itertools::Itertools;
use pushmem_configuration::{Chain, Configuration};
use pushmem_tile::{Role, TileSpec};

use crate::chaining;
use crate::controllers::{configured, parameters};
use crate::nest::Nest;

/// Streams on one tile, or on the tiles of a chain.
pub(crate) struct Attempt {
    pub configurations: Vec<Configuration>,
    /// Earlier attempts, and why they failed.
    pub tried: Vec<String>,
}

/// A controller and its nest. Its addresses in the main memory are still those of an unlimited memory.
pub(crate) struct Running {
    pub role: Role,
    pub port: usize,
    /// Number of the stream whose words it moves.
    pub stream: usize,
    pub nest: Nest,
    /// Which function is the address in the main memory.
    pub main: Option<usize>,
}

/// The rows of a stream in the main memory.
pub(crate) struct Kept<'a> {
    /// Loops through the rows; the first function is the number of the row.
    pub rows: &'a Nest,
    /// Whether these loops are the only writes of rows, and so follow each other in time.
    pub in_order: bool,
    /// How many must be kept.
    pub needed: i64,
}

/// The configurations of one tile, or of the tiles of a chain, that keep the rows of each stream.
pub(crate) fn configurations(
    spec: &TileSpec,
    running: &[Running],
    kept: &[Kept],
) -> Result<Vec<Configuration>, String> {
    match *kept {
        [Kept { rows, needed, .. }] => alone(spec, running, rows, needed),
        _ => together(spec, running, kept).map(|configuration| vec![configuration]),
    }
}

/// One tile on which each stream has a range of rows of its own.
fn together(spec: &TileSpec, running: &[Running], kept: &[Kept]) -> Result<Configuration, String> {
    let capacity = i64::from(spec.rows);
    let needed: i64 = kept.iter().map(|stream| stream.needed).sum();
    if needed > capacity {
        return Err(format!("{needed} rows must be kept for all of them; a tile has {capacity}"));
    }
    let finish = |running: Vec<Running>| configuration(spec, &running, Chain::default(), u64::from(spec.rows));
    fixed_ranges(running, kept, capacity).and_then(finish).or_else(|reason| match moving_ranges(kept, capacity) {
        Some(bases) => finish(based(running, &bases)),
        None => Err(reason),
    })
}

/// Each stream begins anew after a number of rows, in a range behind those of the streams before.
fn fixed_ranges(running: &[Running], kept: &[Kept], capacity: i64) -> Result<Vec<Running>, String> {
    let mut base = 0;
    let mut placed = Vec::new();
    for (number, stream) in kept.iter().enumerate() {
        let later: i64 = kept[number + 1..].iter().map(|stream| stream.needed).sum();
        let own = || running.iter().filter(|running| running.stream == number);
        let lengths = chaining::lengths(stream.rows, stream.needed, capacity - base - later);
        let fits =
            |length: i64| Some((own().map(|running| running.wrapped(length)).collect::<Result<_, _>>().ok()?, length));
        let Some((wrapped, length)): Option<(Vec<Running>, i64)> = lengths.into_iter().find_map(fits) else {
            let room = capacity - base - later;
            return Err(format!(
                "{} rows must be kept, and no number of rows up to {room} divides its loops",
                stream.needed
            ));
        };
        placed.extend(based(&wrapped, &vec![base; kept.len()]));
        base += length;
    }
    Ok(placed)
}

/// Where the first row of each stream is, if all go through the whole memory one behind the other: they can where they write
/// rows at the same pace, so that none catches up with another.
///
/// By the time that a stream begins, the first one has written some rows. By so many it is later all along, at most; and in
/// the end, when the first one has stopped, it comes up to it. Its range is as much longer.
fn moving_ranges(kept: &[Kept], capacity: i64) -> Option<Vec<i64>> {
    let rows = kept.iter().map(|stream| stream.rows.clone().merged(&[None])).collect_vec();
    let (first, _) = rows.iter().enumerate().min_by_key(|(_, rows)| rows.cycle.start)?;
    let leader = &rows[first];
    let same = |other: &Nest| {
        other.extent == leader.extent
            && other.cycle.stride == leader.cycle.stride
            && other.functions[0].stride == leader.functions[0].stride
    };
    if !kept.iter().all(|stream| stream.in_order) || !rows.iter().all(same) {
        return None;
    }
    let mut bases = vec![0; kept.len()];
    let mut used = 0;
    for (number, stream) in kept.iter().enumerate().filter(|(number, _)| *number != first) {
        used += stream.needed + leader.extent.points_until(&leader.cycle, rows[number].cycle.start) as i64;
        bases[number] = used;
    }
    (used + kept[first].needed <= capacity).then_some(bases)
}

/// With the rows of each stream from its base on.
fn based(running: &[Running], bases: &[i64]) -> Vec<Running> {
    let moved = |running: &Running| {
        let mut nest = running.nest.clone();
        if let Some(function) = running.main {
            nest.functions[function].start += bases[running.stream];
        }
        Running { nest, ..*running }
    };
    running.iter().map(moved).collect()
}

impl Running {
    /// The same, with addresses in the main memory that begin anew after `length` rows.
    fn wrapped(&self, length: i64) -> Result<Running, String> {
        let nest = match self.main {
            Some(function) => chaining::wrapped(&self.nest, function, length)?,
            None => self.nest.clone(),
        };
        Ok(Running { nest, ..*self })
    }
}

/// One tile, or a chain, that keeps `needed` rows of those that `rows` writes.
fn alone(spec: &TileSpec, running: &[Running], rows: &Nest, needed: i64) -> Result<Vec<Configuration>, String> {
    if needed <= i64::from(spec.rows) {
        let chain = Chain::default();
        return configuration(spec, running, chain, u64::from(spec.rows)).map(|configuration| vec![configuration]);
    }
    if !spec.chaining {
        return Err(format!("{needed} rows must be kept; a tile has {} and cannot be chained", spec.rows));
    }
    let tiles = 1_i64 << spec.tile_id_bits();
    let limit = tiles * i64::from(spec.rows);
    let lengths = chaining::lengths(rows, needed, limit);
    let mut reason = match lengths.is_empty() {
        true if needed > limit => format!("{needed} rows must be kept; {tiles} tiles of {} have {limit}", spec.rows),
        _ => format!("{needed} rows must be kept, and no number of rows up to {limit} divides the loops of the write"),
    };
    for length in lengths {
        let wrapped: Result<Vec<Running>, String> = running.iter().map(|running| running.wrapped(length)).collect();
        let made = wrapped.and_then(|wrapped| {
            (0..(length as u64).div_ceil(u64::from(spec.rows)))
                .map(|tile| {
                    let chain = Chain { enable: true, tile_id: tile as u32 };
                    configuration(spec, &wrapped, chain, 1 << (spec.tile_id_bits() + spec.rows.ilog2()))
                })
                .collect()
        });
        match made {
            Ok(configurations) => return Ok(configurations),
            Err(why) => reason = format!("{needed} rows in a chain that begins anew after {length}: {why}"),
        }
    }
    Err(reason)
}

fn configuration(spec: &TileSpec, running: &[Running], chain: Chain, wraps: u64) -> Result<Configuration, String> {
    let controllers = running
        .iter()
        .map(|running| {
            let parameters = parameters(spec, running.role, running.port);
            let configured = configured(&running.nest, &parameters, spec, wraps);
            (parameters.name, configured)
        })
        .collect();
    let configuration = Configuration {
        tile: spec.name.clone(),
        // The digest is added to the final choice.
        spec_digest: None,
        controllers,
        chain,
        ..Configuration::default()
    };
    configuration.check(spec).map_err(|finding| finding.message)?;
    Ok(configuration)
}
