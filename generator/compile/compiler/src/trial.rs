//! Trials of the search for a schedule, as reports show them.

use std::fmt::{Display, Formatter};

use itertools::Itertools;
use pushmem_files::counted;
use pushmem_nest::{Level, Program};
use pushmem_schedule::CoarseOptions;
use serde::Serialize;

/// A schedule that was tried: whether the memories serve it, and at which cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trial {
    /// The schedule, by its differences from the others.
    pub schedule: String,
    /// Cycles from its first read to its last write.
    pub cycles: u64,
    /// Memory tiles of all levels, if the memories serve it.
    pub tiles: Option<usize>,
    /// The shortage, if they do not.
    pub short: Option<ShortMemory>,
}

/// The shortage of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShortMemory {
    /// The array, or the stage whose result would be delayed.
    pub buffer: String,
    /// The level of the memories.
    pub level: &'static str,
    /// The first reason against it.
    pub reason: String,
}

impl Display for Trial {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "schedule of {}, {}: ", counted(self.cycles, "cycle"), self.schedule)?;
        match (&self.short, self.tiles) {
            (Some(ShortMemory { buffer, level, reason }), _) => {
                write!(formatter, "refused, {level} cannot serve `{buffer}`: {reason}")
            }
            (None, Some(tiles)) => write!(formatter, "feasible with {}", counted(tiles, "tile")),
            (None, None) => write!(formatter, "refused, a fault of the program"),
        }
    }
}

/// The name of the memories of a level in messages.
pub(crate) fn memories(level: Level) -> &'static str {
    match level {
        Level::GlobalBuffer => "the global buffer",
        Level::Memory => "memory tiles",
        Level::RegisterFile => "register files",
    }
}

/// A coarse pipeline, by the options that differ from one to the next in a search.
pub(crate) fn pipeline(program: &Program, options: &CoarseOptions) -> String {
    let names = |arrays: &mut dyn Iterator<Item = &usize>| arrays.map(|&array| &program.arrays[array].name).join(", ");
    let mut parts = vec![if options.overlap { "stages overlap" } else { "stages follow their producers" }.to_owned()];
    let flags = [
        (options.balance_paths, "paths are balanced"),
        (!options.distribute, "loops stay together"),
        (!options.interchange, "loops stay in order"),
        (options.match_rates && !options.loads_follow, "rows follow the slowest"),
        (options.match_rates && options.loads_follow, "rows follow the slowest, those of inputs as well"),
        (options.row_multiple > 1, "rows are padded to whole fetches"),
    ];
    parts.extend(flags.into_iter().filter(|(holds, _)| *holds).map(|(_, part)| part.to_owned()));
    if !options.serialized.is_empty() {
        parts.push(format!("accesses take turns in {}", names(&mut options.serialized.iter())));
    }
    if !options.whole_rows.is_empty() {
        parts.push(format!("reads pause between rows of {}", names(&mut options.whole_rows.iter())));
    }
    parts.join(", ")
}
