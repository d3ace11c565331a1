//! What is needed of each stage: which words its reads take, where its result is, and how late it is wanted.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_buffers::UnifiedBuffer;
use pushmem_extraction::Origin;
use pushmem_files::Diagnostic;
use pushmem_kernels::{Datapath, NodeKind};
use pushmem_mapping::{MappedBuffer, MappingError, Mappings, check_waits};
use pushmem_nest::{Level, Schedule as Policy};
use pushmem_schedule::{Boundary, Subscript, is_outside};
use pushmem_tile::TileSpec;

use super::Scheduled;
use crate::arrays::{self, ArrayPorts, Part, ReadOf};
use crate::error::AssemblyError;
use crate::pointwise::followed;
use crate::taps::{Tap, TapCase, TapError, taps};
use pushmem_graph::Levels;
use pushmem_graph::earlier;

/// Where the result of a stage is: that of another stage, some cycles ago, or its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub stage: usize,
    pub delay: u64,
}

/// What the result of a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// What is in this place.
    At(Place),
    /// Always this word: what reads it needs no wire.
    Constant(u16),
}

/// The taps of each read of each stage.
pub(super) type Taps = Vec<Vec<Vec<TapCase>>>;

/// An array that is kept in memory tiles.
pub(super) struct KeptArray {
    /// Its number in the program.
    pub array: usize,
    /// Where it is.
    pub level: Level,
    pub ports: ArrayPorts,
    /// When the time of its tiles begins.
    pub begin: u64,
    pub mapped: MappedBuffer,
}

/// What arrays can be kept in.
#[derive(Clone, Copy)]
pub(super) struct Memories<'a> {
    /// The memory tiles.
    pub spec: &'a TileSpec,
    /// The other levels.
    pub levels: &'a Levels,
    /// What is known of their mappings.
    pub mappings: &'a Mappings,
}

/// What each read takes, and the arrays that are kept for it.
pub(super) fn reads(scheduled: Scheduled, memories: Memories) -> Result<(Taps, Vec<KeptArray>), AssemblyError> {
    match scheduled.program.policy() {
        Policy::Stencil => Ok((streamed(scheduled)?, Vec::new())),
        Policy::Dnn => stored(scheduled, memories),
    }
}

/// What reads take if they follow their writes at constant distances, or at one of a few.
fn streamed(scheduled: Scheduled) -> Result<Taps, AssemblyError> {
    let pipeline = &scheduled.extraction.pipeline;
    let stage_reads = |(stage, content): (usize, &pushmem_schedule::Stage)| {
        let tap = |(number, read)| {
            taps(pipeline, scheduled.writers, scheduled.schedule, stage, read)
                .map_err(|error| AssemblyError::Program(Box::new(explain(scheduled, stage, number, &error))))
        };
        content.reads.iter().enumerate().map(tap).collect::<Result<Vec<_>, _>>()
    };
    pipeline.stages.iter().enumerate().map(stage_reads).collect()
}

/// What reads take if arrays are kept, but for reads that follow the write iteration by iteration.
fn stored(scheduled: Scheduled, memories: Memories) -> Result<(Taps, Vec<KeptArray>), AssemblyError> {
    let pipeline = &scheduled.extraction.pipeline;
    let mut cases = Taps::new();
    let mut of_array: BTreeMap<usize, Vec<ReadOf>> = BTreeMap::new();
    for (stage, content) in pipeline.stages.iter().enumerate() {
        let mut of_stage = Vec::new();
        for (read, access) in content.reads.iter().enumerate() {
            of_stage.push(match followed(scheduled.extraction, scheduled.writers, scheduled.schedule, stage, access) {
                _ if is_outside(content, access) => vec![TapCase { conditions: Vec::new(), tap: Tap::Outside }],
                Some((producer, delay)) => {
                    vec![TapCase { conditions: Vec::new(), tap: Tap::Stage { producer, delay } }]
                }
                None => {
                    if scheduled.uses(stage, read) {
                        check_stored(scheduled, stage, read)?;
                        of_array.entry(access.array).or_default().push(ReadOf { stage, read });
                    }
                    Vec::new()
                }
            });
        }
        cases.push(of_stage);
    }
    let with_ports = |(array, reads)| Keeping::new(scheduled, memories, array, reads);
    let arrays_to_keep = of_array.into_iter().map(with_ports).collect_vec();
    // What no mapping can change comes first: the search for mappings takes its time.
    arrays_to_keep.iter().try_for_each(Keeping::check_time)?;
    let mut arrays = Vec::new();
    for keeping in arrays_to_keep {
        let array = keeping.array;
        let kept = keeping.kept()?;
        for (of, parts) in &kept.ports.reads {
            let case = |part: &Part| TapCase {
                conditions: part.conditions.clone(),
                tap: Tap::Port { array, port: part.port },
            };
            let mut of_read = parts.iter().map(case).collect_vec();
            // One of them always applies.
            of_read.last_mut().expect("a read has iterations").conditions.clear();
            cases[of.stage][of.read] = of_read;
        }
        arrays.push(kept);
    }
    Ok((cases, arrays))
}

/// An array that is to be kept.
struct Keeping<'a> {
    scheduled: Scheduled<'a>,
    array: usize,
    /// Where it is to be, and the tile that is there.
    level: Level,
    spec: &'a TileSpec,
    mappings: &'a Mappings,
    reads: Vec<ReadOf>,
    /// Its ports, in as few banks as its lanes need.
    ports: ArrayPorts,
}

impl<'a> Keeping<'a> {
    fn new(scheduled: Scheduled<'a>, memories: Memories<'a>, array: usize, reads: Vec<ReadOf>) -> Self {
        let level = scheduled.program.arrays[array].level.unwrap_or(Level::Memory);
        let spec = memories.levels.spec(level, memories.spec).unwrap_or(memories.spec);
        let ports = arrays::ports(&scheduled.extraction.pipeline, scheduled.schedule, array, &reads, &[]);
        Keeping { scheduled, array, level, spec, mappings: memories.mappings, reads, ports }
    }

    fn refused(&self, error: MappingError) -> AssemblyError {
        AssemblyError::Array { array: self.array, level: self.level, error: Box::new(error), given_up: None }
    }

    /// Checks that its tiles can wait as long as its reads do, be it that their time begins with its first access.
    fn check_time(&self) -> Result<(), AssemblyError> {
        let buffer = &self.ports.buffer;
        let late = || check_waits(&earlier(buffer, first_start(buffer)), self.spec);
        let waits = check_waits(buffer, self.spec).or_else(|error| late().map_err(|_| error));
        waits.map_err(|error| self.refused(error))
    }

    /// Its tiles: as few banks of it as its lanes need; where the tile has no time for these, divided further.
    fn kept(self) -> Result<KeptArray, AssemblyError> {
        let (pipeline, schedule) = (&self.scheduled.extraction.pipeline, self.scheduled.schedule);
        let divided = |divisors: Vec<i64>| {
            let ports = arrays::ports(pipeline, schedule, self.array, &self.reads, &divisors);
            let (begin, mapped) = self.map_in_time(&ports.buffer).ok()?;
            Some((ports, begin, mapped))
        };
        let (ports, begin, mapped) = match self.map_in_time(&self.ports.buffer) {
            Ok((begin, mapped)) => (self.ports, begin, mapped),
            Err(error) => {
                let divisions = arrays::divisions(pipeline, schedule, self.array, &self.reads);
                divisions.into_iter().find_map(divided).ok_or_else(|| self.refused(error))?
            }
        };
        Ok(KeptArray { array: self.array, level: self.level, ports, begin, mapped })
    }

    /// Maps an array, in the time of the run if its tiles can count to the first cycles of all ports. Else the time of the tiles
    /// begins with the first port, in the cycle that is returned: they are flushed then, and not with the run.
    fn map_in_time(&self, buffer: &UnifiedBuffer) -> Result<(u64, MappedBuffer), MappingError> {
        let Keeping { spec, mappings, .. } = self;
        mappings.map(buffer, spec).map(|mapped| (0, mapped)).or_else(|error| {
            let begin = first_start(buffer);
            let latest = buffer.ports.iter().map(|port| port.schedule.start as u64).max().unwrap_or(0);
            let bits = spec.controllers.values().map(|controller| controller.cycle_bits).min().unwrap_or(0);
            // Controllers within the tile begin some cycles before or after those of the ports.
            if begin == 0 || latest >> (bits - 1) == 0 {
                return Err(error);
            }
            mappings.map(&earlier(buffer, begin), spec).map(|mapped| (begin, mapped)).map_err(|_| error)
        })
    }
}

/// The cycle in which the first of the ports begins.
fn first_start(buffer: &UnifiedBuffer) -> u64 {
    buffer.ports.iter().map(|port| port.schedule.start as u64).min().unwrap_or(0)
}

/// Checks that an array can be kept for a read: that addresses are affine.
fn check_stored(scheduled: Scheduled, stage: usize, read: usize) -> Result<(), AssemblyError> {
    let access = &scheduled.extraction.pipeline.stages[stage].reads[read];
    let plain = |subscript: &Subscript| subscript.divisor == 1 && subscript.boundary == Boundary::None;
    if access.subscripts.iter().all(plain) {
        return Ok(());
    }
    let diagnostic = scheduled
        .program
        .diagnostic(scheduled.span_of_read(stage, read), "this read of a kept array has an index that is not affine")
        .with_help(
            "where some reductions are loops, arrays are kept in memories with affine addresses: write the elements at \
             the boundary, or the enlarged ones, to a buffer in a nest of its own",
        );
    Err(AssemblyError::Program(Box::new(diagnostic)))
}

fn explain(scheduled: Scheduled, stage: usize, read: usize, error: &TapError) -> Diagnostic {
    let span = scheduled.span_of_read(stage, read);
    let loops = &scheduled.extraction.pipeline.stages[stage].loops;
    match error {
        TapError::Held { level } => scheduled
            .program
            .diagnostic(span, format!("each iteration of `{}` needs another delay here", loops[*level].name))
            .with_help(
                "a stencil reads at a constant distance from the writes, apart from boundaries and small factors of \
                 enlargement; let the loop index the array, or unroll the loop",
            ),
        TapError::NoProducer { index } => {
            let at = loops.iter().zip(index).map(|(level, index)| format!("{} = {index}", level.name)).join(", ");
            scheduled.program.diagnostic(span, format!("no stage writes what is read here at {at}"))
        }
    }
}

/// What the result of each stage is. A plain copy has none of its own.
pub(super) fn outcomes(scheduled: Scheduled, reads: &[Vec<Vec<TapCase>>]) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (stage, origin) in scheduled.extraction.origins.iter().enumerate() {
        let own = Outcome::At(Place { stage, delay: 0 });
        let outcome = match origin {
            Origin::Input { .. } => own,
            Origin::Operation { operation, .. } => {
                let datapath = &scheduled.datapaths[*operation];
                let copied = copied_load(datapath).map(|load| reads[stage][load].as_slice());
                match (datapath.constant(), copied) {
                    (Some(number), _) => Outcome::Constant(number as u16),
                    (_, Some([TapCase { tap: Tap::Stage { producer, delay }, .. }])) => {
                        at(&outcomes, *producer, *delay)
                    }
                    _ => own,
                }
            }
        };
        outcomes.push(outcome);
    }
    outcomes
}

/// What the result of a stage some cycles ago is.
pub(super) fn at(outcomes: &[Outcome], stage: usize, delay: i64) -> Outcome {
    let delay = u64::try_from(delay).expect("the schedule reads after the write");
    match outcomes[stage] {
        Outcome::At(place) => Outcome::At(Place { delay: place.delay + delay, ..place }),
        constant @ Outcome::Constant(_) => constant,
    }
}

/// The delays at which the result of each stage is wanted.
pub(super) fn delays(
    scheduled: Scheduled,
    reads: &Taps,
    outcomes: &[Outcome],
    arrays: &[KeptArray],
    final_stages: &BTreeMap<usize, Vec<usize>>,
) -> Vec<BTreeSet<u64>> {
    let mut delays = vec![BTreeSet::new(); outcomes.len()];
    let mut want = |outcome: Outcome| {
        if let Outcome::At(place) = outcome {
            delays[place.stage].insert(place.delay);
        }
    };
    for (stage, reads) in reads.iter().enumerate() {
        if let Origin::Operation { operation, .. } = scheduled.extraction.origins[stage]
            && outcomes[stage] == Outcome::At(Place { stage, delay: 0 })
        {
            let used = reads.iter().enumerate().filter(|(read, _)| scheduled.datapaths[operation].uses(*read));
            for case in used.flat_map(|(_, cases)| cases) {
                if let Tap::Stage { producer, delay } = case.tap {
                    want(at(outcomes, producer, delay));
                }
            }
        }
    }
    let kept = arrays.iter().flat_map(|kept| &kept.ports.writers);
    for &stage in final_stages.values().flatten().chain(kept) {
        want(outcomes[stage]);
    }
    delays
}

/// The load that a datapath only passes on.
pub(super) fn copied_load(datapath: &Datapath) -> Option<usize> {
    match datapath.nodes()[datapath.result()].kind {
        NodeKind::Load(load) => Some(load),
        _ => None,
    }
}
