//! The clock of an array in a cell library.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pushmem_files::{Diagnostic, Document, FieldPath, to_yaml};
use serde::{Deserialize, Serialize};

use crate::spec::ArraySpec;

/// The most picoseconds of a path: a microsecond.
const MOST_PS: u32 = 1_000_000;

/// The longest paths of the tiles of an array in a cell library, as synthesis and timing analysis found them. Every hop of a track that
/// passes no register ends at one, so they bound the clock of all programs, as far as tiles do: the tree of flush, stall and
/// configuration, SRAM macros and clock gates are not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingModel {
    /// The name of the array.
    pub timing_of: String,
    /// [`ArraySpec::digest`] of the array.
    pub spec_digest: String,
    /// The cell library.
    pub library: String,
    /// The goal of the mapping to cells: `area` or `speed`.
    pub optimize: String,
    /// The paths.
    pub paths: TilePaths,
    /// The longest paths of tiles without a processing element at work: memories, streams, and words that pass through.
    pub without_operation: Option<OperationPaths>,
    /// The longest paths of a PE tile with each operation, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub operations: BTreeMap<String, OperationPaths>,
}

/// The longest paths of a tile whose processing element does one operation, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationPaths {
    /// From register to register of the tile.
    pub within_a_tile: u32,
    /// From a track to a register of the next tile.
    pub track_to_register: u32,
}

impl OperationPaths {
    /// The longer of the paths of two tiles, each.
    #[must_use]
    pub fn longest(self, other: OperationPaths) -> OperationPaths {
        OperationPaths {
            within_a_tile: self.within_a_tile.max(other.within_a_tile),
            track_to_register: self.track_to_register.max(other.track_to_register),
        }
    }
}

/// The longest path of each kind, of all kinds of tiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TilePaths {
    /// From register to register of a tile.
    pub within_a_tile: TilePath,
    /// From a register to a track that leaves the tile.
    pub register_to_track: TilePath,
    /// From a track to a register of the next tile.
    pub track_to_register: TilePath,
    /// From a track past the register of the next one; only where the array has a `hop_limit` above 1.
    pub track_to_track: Option<TilePath>,
}

/// A path of a tile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TilePath {
    /// Its delay in picoseconds.
    pub ps: u32,
    /// The kind of tile.
    pub tile: String,
    /// Where it begins.
    pub from: String,
    /// Where it ends.
    pub to: String,
}

impl TilePaths {
    /// All with their keys.
    fn all(&self) -> [(&'static str, Option<&TilePath>); 4] {
        let TilePaths { within_a_tile, register_to_track, track_to_register, track_to_track } = self;
        [
            ("within_a_tile", Some(within_a_tile)),
            ("register_to_track", Some(register_to_track)),
            ("track_to_register", Some(track_to_register)),
            ("track_to_track", track_to_track.as_ref()),
        ]
    }
}

impl TimingModel {
    /// The name of the array that a timing model is of.
    ///
    /// # Errors
    /// As [`TimingModel::from_document`].
    pub fn array_of(document: &Document) -> Result<String, Diagnostic> {
        document.deserialize().map(|model: TimingModel| model.timing_of)
    }

    /// Reads a timing model of an array.
    ///
    /// # Errors
    /// A located message when a key is unknown or missing, or it is the model of another array.
    pub fn from_document(document: &Document, spec: &ArraySpec) -> Result<Self, Diagnostic> {
        let model: TimingModel = document.deserialize()?;
        if model.spec_digest != spec.digest() {
            let message = format!("this timing model is of another array than `{}`", spec.name);
            return document.refuse(
                &FieldPath::root().key("spec_digest"),
                message,
                "`pushmem synth ARRAY --timing-model FILE` makes one of this array",
            );
        }
        let root = FieldPath::root().key("paths");
        for (key, path) in model.paths.all() {
            let Some(path) = path else { continue };
            check_delay(document, &root.key(key).key("ps"), key, path.ps)?;
        }
        let operations =
            model.operations.iter().map(|(name, paths)| (FieldPath::root().key("operations").key(name), paths));
        let without = model.without_operation.iter().map(|paths| (FieldPath::root().key("without_operation"), paths));
        for (path, OperationPaths { within_a_tile, track_to_register }) in operations.chain(without) {
            for (key, delay) in [("within_a_tile", *within_a_tile), ("track_to_register", *track_to_register)] {
                check_delay(document, &path.key(key), key, delay)?;
            }
        }
        for name in model.operations.keys() {
            if !spec.pe.operations.iter().any(|operation| operation.name() == *name) {
                let message = format!("`{}` has no operation `{name}`", spec.pe.name);
                return document.refuse_at_key(&FieldPath::root().key("operations").key(name), message, "remove it");
            }
        }
        if spec.hop_limit > 1 && model.paths.track_to_track.is_none() {
            let message = format!("`{}` lets tracks pass registers, and `track_to_track` is missing", spec.name);
            return document.refuse_at_key(&root, message, "add the path past one register");
        }
        Ok(model)
    }

    /// The least clock period for all programs in picoseconds: within a tile, or from the register of a track through one tile to a register of
    /// the next, past as many registers as the array lets tracks pass.
    pub fn period_ps(&self, spec: &ArraySpec) -> u32 {
        self.paths.within_a_tile.ps.max(self.between_tiles_ps(spec, self.paths.track_to_register.ps))
    }

    /// The path from the register of a track to a register of the next tile but those that are passed, which has so much of it.
    fn between_tiles_ps(&self, spec: &ArraySpec, track_to_register: u32) -> u32 {
        let TilePaths { register_to_track, track_to_track, .. } = &self.paths;
        let passed = track_to_track.as_ref().map_or(0, |path| path.ps * (spec.hop_limit - 1));
        register_to_track.ps + passed + track_to_register
    }

    /// The slowest of some operations with its period in picoseconds, if those of all of them are known; without one where the tiles without an
    /// operation are the slowest.
    fn slowest<'a>(
        &self,
        spec: &ArraySpec,
        operations: impl IntoIterator<Item = &'a str>,
    ) -> Option<(Option<&'a str>, u32)> {
        let period =
            |paths: OperationPaths| paths.within_a_tile.max(self.between_tiles_ps(spec, paths.track_to_register));
        let mut slowest = (None, period(self.without_operation?));
        for operation in operations {
            let found = period(*self.operations.get(operation)?);
            if found > slowest.1 {
                slowest = (Some(operation), found);
            }
        }
        Some(slowest)
    }

    /// Checks that an array can have a clock period in picoseconds for a program with these operations, and gives the least one.
    ///
    /// # Errors
    /// When it cannot: the slowest path, or the slowest operation.
    pub fn check_period<'a>(
        &self,
        spec: &ArraySpec,
        period_ps: u32,
        operations: impl IntoIterator<Item = &'a str>,
    ) -> Result<u32, Diagnostic> {
        let slowest = self.slowest(spec, operations);
        let least = slowest.map_or_else(|| self.period_ps(spec), |(_, period)| period);
        if period_ps >= least {
            return Ok(least);
        }
        let TimingModel { library, optimize, .. } = self;
        let refused = |path: String| {
            let message = format!(
                "`{}` has no clock period of {period_ps} ps in {library}, mapped for {optimize}: {path} takes {least} ps",
                spec.name
            );
            let help = format!("ask for {least} ps or more, or give the timing model of a faster library");
            Err(Diagnostic::new(message).with_help(help))
        };
        match slowest {
            Some((Some(operation), _)) => return refused(format!("the operation `{operation}`")),
            Some((None, _)) => return refused("the longest path of tiles without an operation".to_owned()),
            None => {}
        }
        let TilePaths { within_a_tile, register_to_track, track_to_register, .. } = &self.paths;
        let path = match within_a_tile.ps == least {
            true => {
                let TilePath { tile, from, to, .. } = within_a_tile;
                format!("the path from {from} to {to} in a tile `{tile}`")
            }
            false => format!(
                "the path from {} in a tile `{}` to {} in a tile `{}`",
                register_to_track.from, register_to_track.tile, track_to_register.to, track_to_register.tile
            ),
        };
        refused(path)
    }

    /// The model as a file.
    pub fn to_yaml(&self) -> String {
        let TimingModel { timing_of, library, optimize, .. } = self;
        let mut text = String::new();
        writeln!(
            text,
            "# The clock of the array `{timing_of}` in {library}, mapped for {optimize}. `pushmem synth` wrote it."
        )
        .expect("writing to a string cannot fail");
        text + &to_yaml(self)
    }
}

/// Refuses a delay that no path has.
fn check_delay(document: &Document, path: &FieldPath, key: &str, ps: u32) -> Result<(), Diagnostic> {
    if (1..=MOST_PS).contains(&ps) {
        return Ok(());
    }
    document.refuse(path, format!("`{key}` takes {ps} ps"), format!("give a number from 1 to {MOST_PS}"))
}
