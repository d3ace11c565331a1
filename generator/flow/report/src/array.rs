//! The part of a page that is of an array: the figures of the mapping, the tiles of each stage, the picture.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_compiler::Compiled;
use pushmem_configuration::Configuration;
use pushmem_fabric::TileKind;
use pushmem_files::Diagnostic;
use pushmem_graph::{Accelerator, Tile};
use pushmem_mapper::{ArrayTarget, Lowered, Mapped, Report as Mapping};
use pushmem_netlist::{CellId, Core};
use pushmem_realization::{Dedicated, Proof, Report, realize};
use serde::Serialize;

use crate::build::{Build, Stream};
use crate::contents::{Contents, published_of};
use crate::floorplan::Floorplan;
use crate::stages::{Executed, StageRow};

/// The array that a program runs on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OnArray {
    /// Its name.
    pub name: String,
    /// The digest of its specification.
    pub digest: String,
    /// Rows and columns of tiles.
    pub size: [u32; 2],
    /// The figures of the mapping, as in `report.json`.
    pub figures: Mapping,
    /// The same as people read them.
    pub lines: Vec<(&'static str, String)>,
    /// By stage, an index of [`Contents::stages`], the tiles of those that have some.
    pub stages: BTreeMap<usize, StageTiles>,
    /// The picture.
    pub floorplan: Floorplan,
}

/// The tiles of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageTiles {
    /// Tiles of processing elements.
    pub processing_elements: usize,
    /// Memory tiles that are tables.
    pub tables: usize,
    /// Cycles that its cells start later than scheduled, for their routes: the least and the most.
    pub added: [i64; 2],
}

impl Contents {
    /// The contents of the page of a program on an array. Cycles are those on the array, routes included: stages in the time of the
    /// first of their cells, memory tiles as they are configured. The unified buffers are in the time of the schedule.
    ///
    /// # Errors
    /// Programs that [`realize`] refuses.
    pub fn on_array(
        compiled: &Compiled,
        mapped: &Mapped,
        target: &ArrayTarget,
        mapping: Mapping,
        build: Build,
    ) -> Result<Self, Diagnostic> {
        let accelerator = realize(compiled)?;
        let realized = Dedicated { compiled: compiled.clone(), accelerator, proof: Proof::default() };
        let figures = Report { cycles: mapping.cycles, ..Report::of(&realized) };
        let placed = Dedicated { accelerator: configured(&realized.accelerator, mapped), ..realized };
        let mut contents = Contents::of(&placed, &figures, build);
        let rows = rows(&mapped.lowered, &contents.stages);
        let stages = stage_tiles(mapped, &rows);
        for (row, tiles) in &stages {
            contents.stages[*row].sequence.delay(tiles.added[0]);
        }
        delay_streams(&mut contents, mapped);
        contents.published = published_of(compiled, &target.spec.name);
        contents.array = Some(OnArray {
            name: target.spec.name.clone(),
            digest: target.spec.digest(),
            size: [target.spec.rows, target.spec.columns],
            lines: mapping.lines(),
            figures: mapping,
            floorplan: Floorplan::of(mapped, target, &rows),
            stages,
        });
        Ok(contents)
    }
}

/// The cell of a memory tile; nothing if it is no cell, or a bank of the global buffer.
fn cell_of(mapped: &Mapped, tile: &Tile) -> Option<CellId> {
    let cells = mapped.lowered.netlist.cells.iter_enumerated();
    let is_memory = |core: &Core| matches!(core, Core::Memory(_));
    cells.into_iter().find(|(_, cell)| cell.name == tile.name && is_memory(&cell.core)).map(|(cell, _)| cell)
}

/// The accelerator with the memory tiles as they are configured in the array, all of which begin with the run.
fn configured(accelerator: &Accelerator, mapped: &Mapped) -> Accelerator {
    let mut placed = accelerator.clone();
    for tile in &mut placed.tiles {
        let place = cell_of(mapped, tile).map(|cell| mapped.implementation.placement.places[cell]);
        let found = place.and_then(|place| mapped.configuration.tiles.get(&place)?.memory.as_ref());
        let Some(memory) = found else { continue };
        let own = tile.configuration.controllers.keys();
        // A tile may give bits of loop indices beside its words.
        let own = own.filter_map(|name| Some((name.clone(), memory.controllers.get(name)?.clone()))).collect();
        tile.configuration = Configuration { controllers: own, ..memory.clone() };
        tile.begin = 0;
    }
    placed
}

/// By lowered stage: the row of its operation.
fn rows(lowered: &Lowered, stages: &[StageRow]) -> Vec<Option<usize>> {
    lowered.stages.iter().map(|stage| stages.iter().position(|row| row.name == stage.name)).collect()
}

fn stage_tiles(mapped: &Mapped, rows: &[Option<usize>]) -> BTreeMap<usize, StageTiles> {
    let (netlist, lags) = (&mapped.lowered.netlist, &mapped.implementation.routing.lags);
    let mut found: BTreeMap<usize, StageTiles> = BTreeMap::new();
    for (stage, row) in mapped.lowered.stages.iter().zip(rows) {
        let of_kind =
            |kind: TileKind| stage.cells.iter().filter(|cell| netlist.cells[**cell].core.kind() == kind).count();
        let added = stage.cells.iter().map(|cell| lags[*cell]).minmax().into_option();
        let (Some(row), Some((least, most))) = (row, added) else { continue };
        let own = found.entry(*row).or_insert(StageTiles { processing_elements: 0, tables: 0, added: [least, most] });
        own.processing_elements += of_kind(TileKind::Pe);
        own.tables += of_kind(TileKind::Memory);
        own.added = [own.added[0].min(least), own.added[1].max(most)];
    }
    found
}

/// Streams, and the stages of inputs, as late as the first of their IO tiles.
fn delay_streams(contents: &mut Contents, mapped: &Mapped) {
    let lags = &mapped.implementation.routing.lags;
    let Lowered { inputs, outputs, .. } = &mapped.lowered;
    let mut of_inputs: BTreeMap<usize, i64> = BTreeMap::new();
    for (stream, cells) in contents.streams.iter_mut().zip(inputs.iter().chain(outputs)) {
        let Some(added) = cells.iter().map(|cell| lags[*cell]).min() else { continue };
        stream.sequence.delay(added);
        stream.columns = cells.iter().map(|cell| mapped.place(*cell).column).collect();
        if stream.direction == Stream::INPUT {
            of_inputs.entry(stream.array).and_modify(|least| *least = added.min(*least)).or_insert(added);
        }
    }
    for row in contents.stages.iter_mut().filter(|row| row.executed == Executed::Stream) {
        row.sequence.delay(of_inputs.get(&row.writes).copied().unwrap_or(0));
    }
}
