//! All that the page knows.

use pushmem_compiler::Compiled;
use pushmem_configuration::ControllerConfiguration;
use pushmem_nest::ArrayKind;
use pushmem_realization::{Dedicated, Report};
use pushmem_schedule::CoarseLoop;
use serde::Serialize;

use crate::array::OnArray;
use crate::arrays::{ArrayRow, arrays, sources};
use crate::build::{Build, Stream, streams};
use crate::chain::{Chain, chain};
use crate::memories::{MemoryRow, memories};
use crate::published::{Published, published};
use crate::stages::{StageRow, groups, stages};
use crate::tiles::{RomRow, Spec, TileRow, roms, specs, tiles};

/// The contents of the page of a compiled program. Cycles are those of the run, from 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contents {
    /// The version of `pushmem` that built it.
    pub version: &'static str,
    /// The command, its checks and the ports of the hardware.
    pub build: Build,
    /// The text of the program, as the compiler understood it.
    pub program: String,
    /// Its figures, as in `report.json`.
    pub figures: Report,
    /// How it is scheduled: `stencil` or `dnn`.
    pub policy: &'static str,
    /// Its published figures.
    pub published: Option<Published>,
    /// Its stages, in the order of the program.
    pub stages: Vec<StageRow>,
    /// The streams of the hardware.
    pub streams: Vec<Stream>,
    /// Its arrays.
    pub arrays: Vec<ArrayRow>,
    /// The unified buffers that are mapped to tiles.
    pub memories: Vec<MemoryRow>,
    /// The specifications of tiles.
    pub specs: Vec<Spec>,
    /// The memory tiles, those with the same configuration once.
    pub tiles: Vec<TileRow>,
    /// The configurations of controllers, each once, in the time of their tiles.
    pub controllers: Vec<ControllerConfiguration>,
    /// The tables in ROM tiles.
    pub roms: Vec<RomRow>,
    /// Compute units that several stages share.
    pub units: Vec<Unit>,
    /// Loops that stages of a coarse pipeline share.
    pub loops: Vec<CoarseLoop>,
    /// The critical chain of a run, in the time of the schedule.
    pub chain: Chain,
    /// The array that it runs on, if it is no hardware of its own.
    pub array: Option<OnArray>,
}

/// A compute unit that several stages share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// The stages, indices of [`Contents::stages`].
    pub stages: Vec<usize>,
    /// Instances of it: one for each copy of its operations.
    pub instances: usize,
}

impl Contents {
    /// The contents of the page of a compiled program. `figures` are its own, `build` is how they came about.
    pub fn of(compiled: &Dedicated, figures: &Report, build: Build) -> Self {
        let (program, accelerator) = (&compiled.program, &compiled.accelerator);
        let (groups, text) = (groups(compiled), program.to_string());
        let stages = stages(compiled, &groups, &text);
        let sources = sources(compiled);
        let memories = memories(compiled, &sources);
        let (tiles, controllers) = tiles(accelerator, &memories);
        Contents {
            version: env!("CARGO_PKG_VERSION"),
            build,
            program: text,
            streams: streams(compiled),
            figures: figures.clone(),
            policy: program.policy().name(),
            published: published_of(compiled, &accelerator.target.memory().name),
            arrays: arrays(compiled, &memories, &sources),
            specs: specs(accelerator),
            tiles,
            controllers,
            roms: roms(compiled),
            units: units(compiled, &stages),
            loops: compiled.coarse.iter().flat_map(|plan| plan.coarse.iter().flat_map(|of| of.loops.clone())).collect(),
            chain: chain(compiled, &stages, &groups),
            array: None,
            stages,
            memories,
        }
    }
}

/// The published figures of a program on this tile, or on the array of this name.
pub(crate) fn published_of(compiled: &Compiled, on: &str) -> Option<Published> {
    let program = &compiled.program;
    let output = program.arrays_of(ArrayKind::Output).next()?;
    published(&program.name, &output.shape, on)
}

fn units(compiled: &Dedicated, stages: &[StageRow]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for (number, stage) in stages.iter().enumerate() {
        let Some(name) = &stage.unit else { continue };
        match units.iter_mut().find(|unit| unit.name == *name) {
            Some(unit) => unit.stages.push(number),
            None => units.push(Unit { name: name.clone(), stages: vec![number], instances: stage.copies }),
        }
    }
    if compiled.accelerator.units.is_empty() {
        units.clear();
    }
    units
}
