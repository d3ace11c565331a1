//! Whether there are as many tiles of each kind as the memories of a graph need.

use itertools::Itertools;
use pushmem_assembly::Shortage;
use pushmem_extraction::Extraction;
use pushmem_files::{Diagnostic, counted};
use pushmem_graph::{ApplicationGraph, ArrayId, ArrayMemory, Storage, Target};
use pushmem_nest::{Level, Program};
use pushmem_schedule::Stage;

/// The memories of a program on tiles.
#[derive(Clone, Copy)]
pub(crate) struct Kept<'a> {
    pub program: &'a Program,
    pub extraction: &'a Extraction,
    pub graph: &'a ApplicationGraph,
    pub storage: &'a Storage,
    pub target: &'a Target,
}

impl Kept<'_> {
    /// Checks that there are as many tiles of each kind as it needs. Where memory tiles are too few, that one of the
    /// arrays in them may be in the global buffer that has the most words and no level of its own in the `source`.
    ///
    /// # Errors
    /// The first kind of which there are too few.
    pub fn check_counts(self, source: &Program) -> Result<(), Shortage> {
        let Kept { program, graph, storage, target, .. } = self;
        let spec_at = |level: Level| target.at(level).unwrap_or_else(|| target.memory());
        let levels = [Level::Memory, Level::GlobalBuffer, Level::RegisterFile];
        for spec in levels.into_iter().filter(|level| storage.count_at(*level) > 0).map(spec_at).dedup() {
            let tiles = storage.tiles.iter().filter(|tile| spec_at(tile.level) == spec).count();
            let Some(count) = spec.count else { continue };
            let Some(missing) = tiles.checked_sub(count as usize).filter(|missing| *missing > 0) else { continue };
            let arrays = || {
                let of_kind = |(array, _): &(ArrayId, &ArrayMemory)| spec_at(graph.arrays[*array].level) == spec;
                storage.arrays.iter_enumerated().filter(of_kind)
            };
            let is_free = |array: ArrayId| {
                let node = &graph.arrays[array];
                node.level == Level::Memory && source.arrays.get(node.array).is_some_and(|of| of.level.is_none())
            };
            let free = arrays().filter(|(array, _)| is_free(*array));
            let largest = free.max_by_key(|(_, memory)| memory.mapped.live_words);
            let has_other = target.at(Level::GlobalBuffer).is_some_and(|buffer| buffer != spec);
            let movable = largest.filter(|_| has_other).map(|(array, _)| graph.arrays[array].array);
            let needed = counted(tiles, &format!("`{}` tile", spec.name));
            let message = format!("`{}` needs {needed}, and the specification has `count: {count}`", program.name);
            let error = match arrays().max_by_key(|(_, memory)| memory.mapped.tiles.len()) {
                Some((array, memory)) => {
                    let (most, span) = (memory.mapped.tiles.len(), program.arrays[graph.arrays[array].array].span);
                    program.diagnostic(span, format!("{message}; this array has the most, {most}"))
                }
                None => self.with_most_delays(&message),
            };
            let refused = error.with_help(
                "choose a tile with more rows or ports, divide the work into smaller tiles of arrays, or unroll less",
            );
            let (tile, refused) = (spec.name.clone(), Box::new(refused));
            return Err(Shortage::Tiles { tile, missing, movable, refused });
        }
        Ok(())
    }

    /// A message at the statement whose result is delayed in the most tiles.
    fn with_most_delays(self, message: &str) -> Diagnostic {
        let Kept { program, extraction, storage, .. } = self;
        let largest = storage.delays.iter().max_by_key(|memory| memory.mapped.tiles.len());
        let found = largest.and_then(|memory| {
            let is_delayed = |stage: &Stage| stage.name == memory.buffer.name;
            let stage = extraction.pipeline.stages.iter().position(is_delayed)?;
            let most = memory.mapped.tiles.len();
            let message = format!("{message}; delays of this result take the most, {most}");
            Some(program.diagnostic(extraction.span(program, stage), message))
        });
        found.unwrap_or_else(|| Diagnostic::new(message))
    }
}
