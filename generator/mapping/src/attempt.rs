//! What a tile, or a chain of tiles, could hold.

use pushmem_configuration::{Chain, Configuration};
use pushmem_tile::{Role, TileSpec};

use crate::chain;
use crate::controllers::{configured, parameters};
use crate::nest::Nest;

/// Streams on one tile, or on the tiles of a chain.
pub(crate) struct Attempt {
    pub configurations: Vec<Configuration>,
    /// What was tried before, and why it did not do.
    pub tried: Vec<String>,
}

/// A controller and its nest. Its addresses in the main memory are still those of an unlimited memory.
pub(crate) struct Running {
    pub role: Role,
    pub port: usize,
    pub nest: Nest,
    /// Which function is the address in the main memory.
    pub main: Option<usize>,
}

/// The configurations of one tile, or of the tiles of a chain, that keep `needed` rows of those that `rows` writes.
pub(crate) fn configurations(
    spec: &TileSpec,
    running: &[Running],
    rows: &Nest,
    needed: i64,
) -> Result<Vec<Configuration>, String> {
    if needed <= i64::from(spec.rows) {
        let chain = Chain::default();
        return configuration(spec, running, chain, u64::from(spec.rows)).map(|configuration| vec![configuration]);
    }
    if !spec.chaining {
        return Err(format!("{needed} rows must be kept; a tile has {} and cannot be chained", spec.rows));
    }
    let tiles = 1_i64 << spec.tile_id_bits();
    let limit = tiles * i64::from(spec.rows);
    let lengths = chain::lengths(rows, needed, limit);
    let mut reason = match lengths.is_empty() {
        true if needed > limit => format!("{needed} rows must be kept; {tiles} tiles of {} have {limit}", spec.rows),
        _ => format!("{needed} rows must be kept, and no number of rows up to {limit} divides the loops of the write"),
    };
    for length in lengths {
        let wrapped: Result<Vec<Running>, String> = running
            .iter()
            .map(|running| {
                let nest = match running.main {
                    Some(function) => chain::wrapped(&running.nest, function, length)?,
                    None => running.nest.clone(),
                };
                Ok(Running { nest, ..*running })
            })
            .collect();
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
        // The digest is added to what is chosen in the end.
        spec_digest: None,
        controllers,
        chain,
        contents: Vec::new(),
    };
    configuration.check(spec).map_err(|finding| finding.message)?;
    Ok(configuration)
}
