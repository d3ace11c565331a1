//! `pushmem synth` of an array: each kind of tile, and the sum of all.

use std::fmt::{self, Display, Formatter};
use std::process::ExitCode;

use itertools::Itertools;
use pushmem_fabric::{ArraySpec, TileKind};
use pushmem_files::Diagnostic;
use pushmem_synthesis::{BlockKind, Design, Library, Path, Report, Tools, run as synthesize};
use serde::Serialize;

use super::Synth;
use crate::application::arrays;
use crate::output;
use crate::package;
use crate::progress::Spinner;

/// A kind of tile.
#[derive(Serialize)]
struct OfKind {
    kind: &'static str,
    /// Tiles of the kind.
    tiles: u32,
    #[serde(flatten)]
    report: Report,
}

/// An array: its tiles, without the registers of the control tree between blocks.
#[derive(Serialize)]
struct OfArray {
    array: String,
    kinds: Vec<OfKind>,
    /// Area of all tiles.
    area: f64,
    /// [`OfArray::minimum_period_ps`].
    minimum_period_ps: Option<f64>,
}

impl Synth {
    pub(super) fn run_array(&self, spec: &ArraySpec, library: &Library, tools: &Tools) -> Result<ExitCode, Diagnostic> {
        let memories = spec.memory.iter().map(|memory| &memory.tile).collect_vec();
        let technology = self.technology(&memories)?;
        let rtl = technology.bind(arrays::rtl_files(spec)?);
        let rtl = rtl.into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect_vec();
        let timing = self.timing();
        let spinner = Spinner::new();
        let of_kind = |kind: TileKind| {
            let package = package::array_tile(spec, kind, rtl.clone(), &technology);
            let design = Design { package: &package, timing: &timing, library, optimize: self.goal() };
            let synthesis = synthesize(&design, tools, |step| spinner.say(&format!("{}: {step}", package.top)))?;
            Ok(OfKind { kind: kind.name(), tiles: spec.count(kind), report: synthesis.report })
        };
        let kinds: Vec<OfKind> = spec.kinds().map(of_kind).collect::<Result<_, Diagnostic>>()?;
        drop(spinner);
        let area = kinds.iter().map(|kind| kind.report.area() * f64::from(kind.tiles)).sum();
        let mut found = OfArray { array: spec.name.clone(), kinds, area, minimum_period_ps: None };
        found.minimum_period_ps = found.minimum_period_ps(spec.hop_limit);
        output::result(self.json, &found, || found.to_string())?;
        Ok(ExitCode::SUCCESS)
    }
}

impl OfArray {
    /// The longest delay of a path of this kind among all tiles, and the kind of tile.
    fn longest(&self, path: fn(&Report) -> Option<&Path>) -> Option<(&'static str, f64)> {
        let delays = self.kinds.iter().filter_map(|kind| Some((kind.kind, path(&kind.report)?.period_ps())));
        delays.max_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    /// The least clock period in picoseconds: within a tile, or from the register of a track through one tile to a register of the
    /// next, past as many registers as the array lets tracks pass.
    fn minimum_period_ps(&self, hop_limit: u32) -> Option<f64> {
        let (_, within) = self.longest(|report| report.paths.registers.as_ref())?;
        let (_, out) = self.longest(|report| report.paths.tracks_out.as_ref())?;
        let (_, into) = self.longest(|report| report.paths.tracks_in.as_ref())?;
        let through = self.longest(|report| report.paths.tracks_through.as_ref()).map_or(0.0, |(_, through)| through);
        Some(within.max(out + through * f64::from(hop_limit - 1) + into))
    }
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
            writeln!(formatter, "{:<18} {area:>35.0} {:>5.1} %", block.name(), share(area))?;
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
