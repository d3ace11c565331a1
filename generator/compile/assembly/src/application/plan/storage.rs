//! Arrays that memories keep, as few as their reads need.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_graph::earlier;
use pushmem_mapping::{MappingError, Mappings, check_waits};
use pushmem_nest::Level;
use pushmem_schedule::Boundary;
use pushmem_tile::TileSpec;
use rayon::prelude::*;

use super::super::{Scheduled, Tiles};
use super::KeptArray;
use crate::array_mapping::{first_start, map_in_time};
use crate::arrays::{self, ArrayPorts, Part, ReadOf};
use crate::shortage::{Shortage, Unserved};
use crate::taps::{Tap, TapCase};

/// The ports that serve each read of kept arrays.
type PortsOfReads = BTreeMap<ReadOf, Vec<TapCase>>;

/// Arrays that are kept for these reads, and the ports that serve each read.
pub(super) fn kept(
    scheduled: Scheduled,
    tiles: Tiles,
    of_array: BTreeMap<usize, Vec<ReadOf>>,
) -> Result<(PortsOfReads, Vec<KeptArray>), Unserved> {
    let with_ports = |(array, reads)| Keeping::new(scheduled, tiles, array, reads);
    let arrays_to_keep = of_array.into_iter().map(with_ports).collect_vec();
    // Checks that no mapping can influence come first: the search for mappings takes its time.
    arrays_to_keep.iter().try_for_each(Keeping::check_time)?;
    // So do the arrays that are likely to be refused.
    let (doubtful, others): (Vec<Keeping>, Vec<Keeping>) = arrays_to_keep.into_iter().partition(Keeping::is_doubtful);
    let doubtful = all_kept(doubtful)?;
    let found = doubtful.into_iter().chain(all_kept(others)?);
    let (mut of_ports, mut arrays) = (BTreeMap::new(), Vec::new());
    for kept in found.sorted_by_key(|kept| kept.array) {
        let array = kept.array;
        for (of, parts) in &kept.ports.reads {
            let case = |part: &Part| TapCase {
                conditions: part.conditions.clone(),
                tap: Tap::Port { array, port: part.port },
            };
            let mut of_read = parts.iter().map(case).collect_vec();
            let access = &scheduled.extraction.pipeline.stages[of.stage].reads[of.read];
            // One of them always applies.
            match access.subscripts.iter().all(|subscript| subscript.boundary == Boundary::None) {
                true => of_read.last_mut().expect("a read has iterations").conditions.clear(),
                false => of_read.push(TapCase { conditions: Vec::new(), tap: Tap::Outside }),
            }
            of_ports.insert(*of, of_read);
        }
        arrays.push(kept);
    }
    Ok((of_ports, arrays))
}

/// The ports of all arrays that are to be kept.
///
/// # Errors
/// The first array that is refused, with the others.
fn all_kept(arrays: Vec<Keeping>) -> Result<Vec<KeptArray>, Shortage> {
    let outcomes: Vec<_> = arrays.into_par_iter().map(Keeping::kept).collect();
    let (found, mut refused): (Vec<KeptArray>, Vec<Shortage>) = outcomes.into_iter().partition_result();
    let also_refused = refused.iter().skip(1).filter_map(Shortage::array).collect_vec();
    if let Some(Shortage::Array { others, .. }) = refused.first_mut() {
        *others = also_refused;
    }
    if refused.is_empty() { Ok(found) } else { Err(refused.swap_remove(0)) }
}

/// An array that is to be kept.
struct Keeping<'a> {
    scheduled: Scheduled<'a>,
    array: usize,
    /// Where it is to be, and the tile that is there.
    level: Level,
    spec: &'a TileSpec,
    mappings: &'a Mappings,
    reads: Vec<ReadOf>,
    /// Its ports, in as few banks as its lanes need.
    ports: ArrayPorts,
}

impl<'a> Keeping<'a> {
    pub fn new(scheduled: Scheduled<'a>, tiles: Tiles<'a>, array: usize, reads: Vec<ReadOf>) -> Self {
        let level = scheduled.program.arrays[array].level.unwrap_or(Level::Memory);
        let spec = tiles.target.at(level).unwrap_or_else(|| tiles.target.memory());
        let ports = arrays::ports(&scheduled.extraction.pipeline, scheduled.schedule, array, &reads, &[]);
        Keeping { scheduled, array, level, spec, mappings: tiles.mappings, reads, ports }
    }

    fn refused(&self, error: MappingError) -> Shortage {
        let (array, level, error) = (self.array, self.level, Box::new(error));
        Shortage::Array { array, level, error, others: Vec::new() }
    }

    /// Whether it is likely to be refused: in another schedule it was, or its words fill more than half of a chain of tiles for each of
    /// its lanes.
    fn is_doubtful(&self) -> bool {
        let writes = self.ports.buffer.writes().count();
        let lanes = writes.max(self.ports.buffer.ports.len() - writes) as u64;
        let words = self.scheduled.program.arrays[self.array].size() as u64;
        let is_large = words > self.spec.largest_memory().saturating_mul(lanes) / 2;
        is_large || self.mappings.was_refused(&self.ports.buffer.name)
    }

    /// Checks that its tiles can wait as long as its reads do, from the begin of the run or from the first access.
    fn check_time(&self) -> Result<(), Shortage> {
        let buffer = &self.ports.buffer;
        let late = || check_waits(&earlier(buffer, first_start(buffer)), self.spec);
        let waits = check_waits(buffer, self.spec).or_else(|error| late().map_err(|_| error));
        waits.map_err(|error| self.refused(error))
    }

    /// Its ports: as few banks of it as its lanes need; where the tile has no time for these, divided further.
    fn kept(self) -> Result<KeptArray, Shortage> {
        let (pipeline, schedule) = (&self.scheduled.extraction.pipeline, self.scheduled.schedule);
        let divided = |divisors: Vec<i64>| {
            let ports = arrays::ports(pipeline, schedule, self.array, &self.reads, &divisors);
            map_in_time(&ports.buffer, self.spec, self.mappings).ok()?;
            Some(ports)
        };
        let ports = match map_in_time(&self.ports.buffer, self.spec, self.mappings) {
            Ok(_) => self.ports,
            Err(error) => {
                let divisions = arrays::divisions(pipeline, schedule, self.array, &self.reads);
                divisions.into_iter().find_map(divided).ok_or_else(|| self.refused(error))?
            }
        };
        Ok(KeptArray { array: self.array, level: self.level, ports })
    }
}
