//! Several programs on one array, each on columns of its own.
//!
//! A program is placed and routed on an array of as few columns as it needs, and then moved east by as many as the programs before it
//! take. Tracks do not cross from one to the other, all have the same flush and the same time, and the bitstream of all is proven to be
//! each of them.

use std::ops::Range;

use pushmem_assembly::Constraints;
use pushmem_bitstream::{Bitstream, Configuration};
use pushmem_compiler::Compiled;
use pushmem_fabric::Place;
use pushmem_files::Diagnostic;
use pushmem_nest::Program;
use pushmem_placement::check_capacity;
use pushmem_resources::NodeId;
use pushmem_routing::{Options, Progress};

use crate::compile::Request;
use crate::edited::Edited;
use crate::lower::{Sharing, lower};
use crate::mapping::{ArrayTarget, Mapped, Routed, route};
use crate::times::timed;
use crate::ways::{Found, Shortage, Unmapped};

/// A program on some columns of an array.
#[derive(Debug)]
pub struct Region {
    /// The program.
    pub compiled: Compiled,
    /// Its places, routes, and configuration, of the whole array. The bitstream loads its columns alone, while the others run.
    pub mapped: Mapped,
    /// Its columns.
    pub columns: Range<u32>,
}

/// Programs on one array.
#[derive(Debug)]
pub struct SideBySide {
    /// The programs, from west to east.
    pub regions: Vec<Region>,
    /// The configuration of all.
    pub configuration: Configuration,
    /// The same as register writes.
    pub bitstream: Bitstream,
}

/// Compiles programs for an array and maps them from west to east, each to as few columns as it needs.
///
/// # Errors
/// When the compiler refuses a program, or too few columns are left for it; when two have one name.
pub fn compile_side_by_side(
    programs: &[Program],
    target: &ArrayTarget,
    beside: &pushmem_graph::Target,
    constraints: &Constraints,
    options: Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SideBySide, Diagnostic> {
    let mut free = 0..target.spec.columns;
    let mut found = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        // Names of macros in C have no small letters, and some file systems know no difference.
        if programs[..number].iter().any(|other| other.name.eq_ignore_ascii_case(&program.name)) {
            let message = format!("two programs are called `{}`, in capital letters or not", program.name);
            return Err(Diagnostic::new(message).with_help("give one of them another `name`"));
        }
        let routed = |compiled: &Compiled, sharing: Sharing| {
            narrowest(compiled, sharing, target, free.clone(), options, progress)
        };
        let request = Request { program, target, beside, constraints };
        let (Found { compiled, made, dedicated_cycles }, times) = request.cheapest(&routed)?;
        let (columns, mut routed) = made;
        routed.times = times.plus(&routed.times);
        free.start = columns.end;
        found.push((compiled, columns, routed, dedicated_cycles));
    }
    let mut configuration = Configuration::default();
    for (_, _, routed, _) in &found {
        configuration.tiles.extend(routed.configuration.tiles.clone());
        configuration.banks.extend(routed.configuration.banks.clone());
    }
    let bitstream = configuration.encode(&target.spec, &target.graph)?;
    let streams: Vec<_> = found.iter().flat_map(|(_, _, routed, _)| routed.site().streams()).collect();
    let region = |(compiled, columns, routed, dedicated_cycles): (Compiled, Range<u32>, Routed, u64)| {
        let own = routed.configuration.encode_columns(&target.spec, &target.graph, &columns.clone().collect())?;
        let mapped = routed
            .proven(&compiled, &bitstream, own, streams.clone(), target)
            .map_err(|wrong| wrong.as_fault("program"))?;
        Ok(Region { compiled, mapped: Mapped { dedicated_cycles, ..mapped }, columns })
    };
    let regions = found.into_iter().map(region).collect::<Result<_, Diagnostic>>()?;
    Ok(SideBySide { regions, configuration, bitstream })
}

/// Places and routes a program on as few of the free columns as it needs, the first of them.
fn narrowest(
    compiled: &Compiled,
    sharing: Sharing,
    target: &ArrayTarget,
    free: Range<u32>,
    options: Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(Range<u32>, Routed), Unmapped> {
    let spec = &target.spec;
    let mut selection = 0.0;
    let lowered = timed(&mut selection, || lower(compiled, spec, sharing))?;
    // Tiles are at the same places of each period.
    let period = spec.column_period() as usize;
    let mut refused = None;
    for columns in (period as u32..=free.end - free.start).step_by(period) {
        let narrow = spec.of_columns(columns);
        if let Err(error) = check_capacity(&lowered.netlist, &narrow) {
            refused = Some(error.to_string());
            continue;
        }
        let narrow = ArrayTarget::new(narrow);
        match route(compiled, lowered.clone(), &narrow, &Edited::default(), options, progress) {
            Ok(mut routed) => {
                routed.times.selection = selection;
                routed.move_east(free.start, &narrow, target);
                return Ok((free.start..free.start + columns, routed));
            }
            Err(Unmapped { refused: error, shortage: Shortage::Resources }) => refused = Some(error.to_string()),
            // A loop is no shorter on more columns.
            Err(unmapped) => return Err(unmapped),
        }
    }
    let (name, array) = (&compiled.program.name, &spec.name);
    let left = free.end - free.start;
    let why = refused.unwrap_or_else(|| format!("programs take {period} columns, or a multiple"));
    let message =
        format!("`{name}` does not fit the {left} of {} columns of `{array}` that are left: {why}", spec.columns);
    let help = "put fewer programs side by side, unroll less, or take an array with more columns";
    Err(Diagnostic::new(message).with_help(help).into())
}

impl Routed {
    /// Moves all tiles and routes so many columns to the east, from the resources of one array to those of another.
    fn move_east(&mut self, by: u32, from: &ArrayTarget, to: &ArrayTarget) {
        let moved = |place: Place| Place { column: place.column + by, ..place };
        self.implementation.placement.places.iter_mut().for_each(|place| *place = moved(*place));
        let tiles = std::mem::take(&mut self.configuration.tiles);
        self.configuration.tiles = tiles.into_iter().map(|(place, tile)| (moved(place), tile)).collect();
        if let Some(buffer) = &to.spec.global_buffer {
            // Programs move by whole banks.
            let banks = std::mem::take(&mut self.configuration.banks);
            let moved = banks.into_iter().map(|(bank, configured)| (bank + by / buffer.columns, configured));
            self.configuration.banks = moved.collect();
        }
        let (from, to) = (&from.graph, &to.graph);
        let node = |node: &mut NodeId| {
            let mut resource = from.resource(*node);
            resource.place = moved(resource.place);
            *node = to.node(resource).expect("the wider array has the columns of the narrower one");
        };
        let routes = self.implementation.routing.nets.iter_mut().flatten();
        routes.flat_map(|route| &mut route.nodes).for_each(node);
    }
}
