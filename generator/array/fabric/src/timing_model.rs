//! The clock of an array in a cell library.

use std::fmt::Write as _;

use pushmem_files::{Diagnostic, Document, FieldPath};
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
            let problem = document.error(&FieldPath::root().key("spec_digest"), message);
            return Err(problem.with_help("`pushmem synth ARRAY --timing-model FILE` makes one of this array"));
        }
        let root = FieldPath::root().key("paths");
        for (key, path) in model.paths.all() {
            let Some(path) = path else { continue };
            if !(1..=MOST_PS).contains(&path.ps) {
                let message = format!("`{key}` takes {} ps", path.ps);
                let problem = document.error(&root.key(key).key("ps"), message);
                return Err(problem.with_help(format!("give a number from 1 to {MOST_PS}")));
            }
        }
        if spec.hop_limit > 1 && model.paths.track_to_track.is_none() {
            let message = format!("`{}` lets tracks pass registers, and `track_to_track` is missing", spec.name);
            return Err(document.error_at_key(&root, message).with_help("add the path past one register"));
        }
        Ok(model)
    }

    /// The least clock period in picoseconds: within a tile, or from the register of a track through one tile to a register of the
    /// next, past as many registers as the array lets tracks pass.
    pub fn period_ps(&self, spec: &ArraySpec) -> u32 {
        self.paths.within_a_tile.ps.max(self.between_tiles_ps(spec))
    }

    /// The longest path between tiles, in picoseconds.
    fn between_tiles_ps(&self, spec: &ArraySpec) -> u32 {
        let TilePaths { register_to_track, track_to_register, track_to_track, .. } = &self.paths;
        let passed = track_to_track.as_ref().map_or(0, |path| path.ps * (spec.hop_limit - 1));
        register_to_track.ps + passed + track_to_register.ps
    }

    /// Checks that an array can have a clock period in picoseconds.
    ///
    /// # Errors
    /// When it cannot: the slowest path.
    pub fn check_period(&self, spec: &ArraySpec, period_ps: u32) -> Result<(), Diagnostic> {
        let least = self.period_ps(spec);
        if period_ps >= least {
            return Ok(());
        }
        let TilePaths { within_a_tile, register_to_track, track_to_register, .. } = &self.paths;
        let path = match within_a_tile.ps == least {
            true => {
                let TilePath { tile, from, to, .. } = within_a_tile;
                format!("from {from} to {to} in a tile `{tile}`")
            }
            false => format!(
                "from {} in a tile `{}` to {} in a tile `{}`",
                register_to_track.from, register_to_track.tile, track_to_register.to, track_to_register.tile
            ),
        };
        let TimingModel { library, optimize, .. } = self;
        let message = format!(
            "`{}` has no clock period of {period_ps} ps in {library}, mapped for {optimize}: the path {path} takes {least} ps",
            spec.name
        );
        let help = format!("ask for {least} ps or more, or give the timing model of a faster library");
        Err(Diagnostic::new(message).with_help(help))
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
        text + &serde_yaml::to_string(self).expect("names and numbers are YAML")
    }
}
