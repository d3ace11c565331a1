//! From scheduled stages to kernels, shift registers, memory tiles and wires.

mod arrays;
mod delays;
mod kernels;
mod plan;
mod streams;
mod units;

use std::collections::BTreeMap;

use pushmem_extraction::{Extraction, Origin};
use pushmem_kernels::Datapath;
use pushmem_mapping::Mappings;
use pushmem_nest::{Operation, Program, Span};
use pushmem_schedule::{Schedule, Writers};
use pushmem_tile::TileSpec;

use self::plan::{Memories, Outcome, Place, delays, outcomes, reads};
use crate::constraints::Constraints;
use crate::error::AssemblyError;
use crate::merge::merge_memories;
use crate::outputs::final_stages;
use crate::roms::add_roms;
use pushmem_graph::{Accelerator, Condition, Counter, CounterId, DatapathId, Driver, Wire, WireId, counted_levels};

/// The program through the passes so far.
#[derive(Clone, Copy)]
struct Scheduled<'a> {
    program: &'a Program,
    operations: &'a [(Vec<&'a pushmem_nest::Loop>, &'a Operation)],
    extraction: &'a Extraction,
    schedule: &'a Schedule,
    /// The stages that write each array.
    writers: &'a Writers,
    /// The datapath of each operation.
    datapaths: &'a [Datapath],
}

/// The tiles of an accelerator.
#[derive(Clone, Copy)]
pub struct Tiles<'a> {
    /// The tile of its memories.
    pub memory: &'a TileSpec,
    /// The tile of its large tables.
    pub rom: &'a TileSpec,
    /// What is known of the mappings of arrays to tiles, from schedules that were tried before.
    pub mappings: &'a Mappings,
}

/// Assembles the accelerator of a scheduled program. `datapaths` are those of its operations.
///
/// # Errors
/// When a read would need more than delays and selections, the memory tiles cannot make a delay, or a ROM tile cannot hold a
/// table.
pub fn assemble(
    program: &Program,
    extraction: &Extraction,
    schedule: &Schedule,
    datapaths: &[Datapath],
    tiles: Tiles,
    constraints: &Constraints,
) -> Result<Accelerator, AssemblyError> {
    let Tiles { memory: spec, rom, mappings } = tiles;
    let operations = program.operations();
    let writers = Writers::of(&extraction.pipeline);
    let scheduled = Scheduled { program, operations: &operations, extraction, schedule, writers: &writers, datapaths };
    let (reads, arrays) = reads(scheduled, Memories { spec, levels: &constraints.levels, mappings })?;
    let outcomes = outcomes(scheduled, &reads);
    let final_stages = final_stages(program, extraction, &writers)?;
    let delays = delays(scheduled, &reads, &outcomes, &arrays, &final_stages);
    let mut builder = Builder {
        scheduled,
        spec,
        constraints,
        outcomes,
        accelerator: Accelerator {
            levels: constraints.levels.clone(),
            ..Accelerator::new(program.name.as_str(), spec.clone(), rom.clone())
        },
        wires: BTreeMap::new(),
        port_wires: BTreeMap::new(),
        datapath_of: BTreeMap::new(),
        selections: Vec::new(),
    };
    for kept in arrays {
        builder.add_array(kept);
    }
    builder.add_inputs();
    for stage in 0..extraction.pipeline.stages.len() {
        if builder.outcomes[stage] != Outcome::At(Place { stage, delay: 0 }) {
            builder.add_wireless(stage);
            continue;
        }
        if matches!(extraction.origins[stage], Origin::Operation { .. }) {
            builder.add_kernel(stage, &reads[stage]);
        }
        builder.add_delays(stage, &delays[stage])?;
    }
    builder.connect_arrays();
    builder.add_units();
    builder.add_outputs(&final_stages);
    let mut accelerator = builder.accelerator;
    merge_memories(&mut accelerator);
    add_roms(&mut accelerator, program, extraction, schedule)
        .map_err(|diagnostic| AssemblyError::Program(Box::new(diagnostic)))?;
    Ok(accelerator)
}

struct Builder<'a> {
    scheduled: Scheduled<'a>,
    spec: &'a TileSpec,
    constraints: &'a Constraints,
    outcomes: Vec<Outcome>,
    accelerator: Accelerator,
    /// The wire of each place.
    wires: BTreeMap<Place, WireId>,
    /// The wire of each read port of each array that is kept.
    port_wires: BTreeMap<(usize, usize), WireId>,
    /// The datapath of each operation that has one.
    datapath_of: BTreeMap<usize, DatapathId>,
    /// The selections that loads of kernels use.
    selections: Vec<(Driver, WireId)>,
}

impl Scheduled<'_> {
    /// Whether the result of a stage depends on one of its reads.
    fn uses(self, stage: usize, read: usize) -> bool {
        match &self.extraction.origins[stage] {
            Origin::Input { .. } => false,
            Origin::Operation { operation, .. } => self.datapaths[*operation].uses(read),
        }
    }

    /// Where the program has a read.
    fn span_of_read(self, stage: usize, read: usize) -> Span {
        let Origin::Operation { operation, .. } = self.extraction.origins[stage] else {
            unreachable!("inputs read nothing");
        };
        let (loops, content) = &self.operations[operation];
        content.load_of_read(loops, read).map_or(content.target.span, |load| load.access.span)
    }
}

impl Builder<'_> {
    fn stage_name(&self, stage: usize) -> &str {
        &self.scheduled.extraction.pipeline.stages[stage].name
    }

    fn add_wire(&mut self, name: String, driver: Driver) -> WireId {
        self.accelerator.wires.push(Wire { name, driver })
    }

    /// The counter of a stage's loops, its steps some cycles late. Loops of one iteration are left out.
    fn counter(&mut self, stage: usize, late: u64) -> CounterId {
        let counter = self.iterations(stage, late);
        let counters = &mut self.accelerator.counters;
        counters.position(|other| *other == counter).unwrap_or_else(|| counters.push(counter))
    }

    /// When a stage begins its iterations, some cycles late.
    fn iterations(&self, stage: usize, late: u64) -> Counter {
        let Scheduled { extraction, schedule, .. } = self.scheduled;
        Counter::of(&extraction.pipeline.stages[stage], &schedule.stages[stage], late)
    }

    /// The level of the counter that a loop of the stage is.
    fn counter_level(&self, stage: usize, level: usize) -> usize {
        let Scheduled { extraction, schedule, .. } = self.scheduled;
        let levels = counted_levels(&extraction.pipeline.stages[stage], &schedule.stages[stage]);
        levels.iter().position(|&other| other == level).expect("loops of several iterations are counted")
    }

    /// A condition on the index of a loop as one on the counter, which counts from 0.
    fn counted(&self, stage: usize, level: usize, condition: Condition) -> Condition {
        let min = self.scheduled.extraction.pipeline.stages[stage].loops[level].min;
        Condition { first: condition.first - min, last: condition.last - min, ..condition }
    }
}
