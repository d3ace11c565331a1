//! `pushmem synth` of an array: each kind of tile, and the sum of all.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use itertools::Itertools;
use pushmem_fabric::{ArraySpec, OperationPaths, TileKind, TilePath, TilePaths, TimingModel};
use pushmem_files::{Diagnostic, write_file};
use pushmem_report::Synthesized;
use pushmem_synthesis::{BlockKind, Design, Library, Path, SynthesisReport, Tools, run as synthesize};
use serde::Serialize;

use super::Synth;
use crate::application::arrays;
use crate::package;
use crate::progress::Spinner;

/// A kind of tile.
#[derive(Serialize)]
struct OfKind {
    kind: &'static str,
    /// Tiles of the kind.
    tiles: u32,
    #[serde(flatten)]
    report: SynthesisReport,
}

/// An array: its tiles, without the registers of the control tree between blocks.
#[derive(Serialize)]
struct OfArray {
    array: String,
    kinds: Vec<OfKind>,
    /// Area of all tiles.
    area: f64,
    /// The least clock period in picoseconds.
    minimum_period_ps: Option<u32>,
    /// The paths that it is of.
    timing: Option<TimingModel>,
}

impl Synth {
    pub(super) fn run_array(&self, spec: &ArraySpec, library: &Library, tools: &Tools) -> Result<(), Diagnostic> {
        self.check_report(&Synthesized::Specification(&spec.digest()))?;
        let memories = spec.memories().collect_vec();
        let technology = self.technology(&memories)?;
        let rtl = technology.bind(arrays::rtl_files(spec)?);
        let rtl = rtl.into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect_vec();
        let timing = self.timing();
        let spinner = Spinner::new();
        let operations = spec.pe.operations.iter().map(|operation| operation.name().to_owned()).collect_vec();
        let of_kind = |kind: TileKind| {
            let package = package::array_tile(spec, kind, rtl.clone(), &technology);
            let operations = if kind == TileKind::Pe { operations.as_slice() } else { &[] };
            let design = Design { package: &package, timing: &timing, library, optimize: self.goal(), operations };
            let synthesis = synthesize(&design, tools, |step| spinner.say(&format!("{}: {step}", package.top)))?;
            Ok(OfKind { kind: kind.name(), tiles: spec.count(kind), report: synthesis.report })
        };
        let kinds: Vec<OfKind> = spec.kinds().map(of_kind).collect::<Result<_, Diagnostic>>()?;
        drop(spinner);
        let area = kinds.iter().map(|kind| kind.report.area() * f64::from(kind.tiles)).sum();
        let timing = timing_model(spec, &kinds);
        if let Some(path) = &self.timing_model {
            let model =
                timing.as_ref().ok_or_else(|| Diagnostic::new("the tiles have no paths from track to track"))?;
            write_file(path, model.to_yaml().as_bytes())?;
        }
        let minimum_period_ps = timing.as_ref().map(|timing| timing.period_ps(spec));
        let found = OfArray { array: spec.name.clone(), kinds, area, minimum_period_ps, timing };
        self.finish(&found)
    }
}

/// The longest paths of all kinds of tiles.
fn timing_model(spec: &ArraySpec, kinds: &[OfKind]) -> Option<TimingModel> {
    let longest = |path: fn(&SynthesisReport) -> Option<&Path>| {
        let paths = kinds.iter().filter_map(|kind| Some((kind.kind, path(&kind.report)?)));
        let (kind, path) = paths.max_by(|(_, one), (_, other)| one.period_ps().total_cmp(&other.period_ps()))?;
        let ps = path.period_ps().ceil() as u32;
        Some(TilePath { ps, tile: kind.to_owned(), from: path.from.clone(), to: path.to.clone() })
    };
    let report = &kinds.first()?.report;
    let (without_operation, operations) = operation_paths(kinds);
    Some(TimingModel {
        without_operation,
        operations,
        timing_of: spec.name.clone(),
        spec_digest: spec.digest(),
        library: report.library.clone(),
        optimize: report.optimize.name().to_owned(),
        paths: TilePaths {
            within_a_tile: longest(|report| report.paths.registers.as_ref())?,
            register_to_track: longest(|report| report.paths.tracks_out.as_ref())?,
            track_to_register: longest(|report| report.paths.tracks_in.as_ref())?,
            track_to_track: match spec.hop_limit {
                1 => None,
                _ => Some(longest(|report| report.paths.tracks_through.as_ref())?),
            },
        },
    })
}

/// The paths of tiles without an operation, and those with each.
fn operation_paths(kinds: &[OfKind]) -> (Option<OperationPaths>, BTreeMap<String, OperationPaths>) {
    let ps = |path: Option<&Path>| path.map_or(0, |path| path.period_ps().ceil() as u32);
    let paths = |registers: Option<&Path>, tracks_in: Option<&Path>| OperationPaths {
        within_a_tile: ps(registers),
        track_to_register: ps(tracks_in),
    };
    let mut operations = BTreeMap::new();
    let mut without = Vec::new();
    for OfKind { report, .. } in kinds {
        let of_tile = &report.paths;
        if of_tile.operations.is_empty() {
            without.push(paths(of_tile.registers.as_ref(), of_tile.tracks_in.as_ref()));
        }
        for found in &of_tile.operations {
            let paths = paths(found.registers.as_ref(), found.tracks_in.as_ref());
            match &found.operation {
                Some(operation) => _ = operations.insert(operation.clone(), paths),
                None => without.push(paths),
            }
        }
    }
    (without.into_iter().reduce(OperationPaths::longest), operations)
}

impl Display for OfArray {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}, tile by tile\n", self.array)?;
        for OfKind { report, .. } in &self.kinds {
            writeln!(formatter, "{report}")?;
        }
        writeln!(formatter, "{:<18} {:>7} {:>12} {:>14} {:>7}", "tiles", "number", "area um2", "all um2", "share")?;
        let share = |area: f64| 100.0 * area / self.area.max(f64::MIN_POSITIVE);
        for OfKind { kind, tiles, report } in &self.kinds {
            let (area, all) = (report.area(), report.area() * f64::from(*tiles));
            writeln!(formatter, "{kind:<18} {tiles:>7} {area:>12.0} {all:>14.0} {:>5.1} %", share(all))?;
        }
        writeln!(formatter, "{:<18} {:>7} {:>12} {:>14.0}", "total", "", "", self.area)?;
        writeln!(formatter, "\n{:<18} {:>35} {:>7}", "block of all tiles", "all um2", "share")?;
        let of_block = |kind: &OfKind, block: BlockKind| -> f64 {
            let blocks = kind.report.blocks.iter().filter(|found| found.block == block);
            blocks.map(|found| found.area).sum::<f64>() * f64::from(kind.tiles)
        };
        let blocks = self.kinds.iter().flat_map(|kind| kind.report.blocks.iter().map(|block| block.block));
        for block in blocks.unique().sorted() {
            let area: f64 = self.kinds.iter().map(|kind| of_block(kind, block)).sum();
            writeln!(formatter, "{:<18} {area:>35.0} {:>5.1} %", block.title(), share(area))?;
        }
        if let Some(period) = self.minimum_period_ps {
            writeln!(
                formatter,
                "minimum period     {period:.0} ps, from a register of a track through a tile to the next, or within a tile"
            )?;
        }
        Ok(())
    }
}
