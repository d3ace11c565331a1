//! Words required of each stage: the sources of its reads, and the place of its result.

mod storage;

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_files::{Diagnostic, counted};
use pushmem_graph::Counter;
use pushmem_nest::{Level, Policy};
use pushmem_schedule::{Access, Boundary, Stage, StageLoop, Subscript, is_outside, takes_own_results};

use super::holds::slack;
use super::{Scheduled, Tiles};
use crate::arrays::{self, ArrayPorts, ReadOf};
use crate::pointwise::followed;
use crate::shortage::Unserved;
use crate::taps::{Reader, Tap, TapCase, TapError, taps};
use crate::waiting;
use storage::kept;

/// Where the result of a stage is: that of another stage, some cycles ago, or its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub stage: usize,
    pub delay: u64,
}

/// Place of the result of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The word in this place.
    At(Place),
    /// Always this number: its reads need no wire.
    Constant(i64),
}

pub(super) enum ReadSource {
    /// The words of these taps, in the cycles of the iterations.
    Taps(Vec<TapCase>),
    /// A hold register.
    Held(HeldRead),
    /// A hold register for each word.
    HeldEach(Vec<HeldWord>),
    /// A random-access memory.
    RandomAccess,
}

/// A word that has a hold register of its own.
pub(super) struct HeldWord {
    /// The loops that say which word is read, and their indices for this one.
    pub indices: Vec<(usize, i64)>,
    /// The read of the register.
    pub held: HeldRead,
}

/// A read of a hold register.
pub(super) struct HeldRead {
    /// The loads as the iterations of a stage.
    pub loads: Stage,
    /// When the register is loaded at the latest: the cycle before the first read of each word.
    pub latest: Affine,
    /// Cycles from the first read of each word to the last.
    pub span: i64,
    /// The words, in the cycles of the loads.
    pub cases: Vec<TapCase>,
}

impl HeldRead {
    /// The least number of cycles between two loads.
    pub(super) fn gap(&self) -> i64 {
        least_gap(&Counter::of(&self.loads, &self.latest, 0))
    }

    /// Whether it holds several words, one after the other.
    pub(super) fn has_rounds(&self) -> bool {
        self.loads.loops.iter().any(|level| level.extent > 1)
    }
}

/// The least number of cycles between two steps of a counter.
pub(super) fn least_gap(counter: &Counter) -> i64 {
    counter.gaps().into_iter().min().unwrap_or(i64::MAX)
}

/// The sources of all reads of each stage.
pub(super) type Sources = Vec<Vec<ReadSource>>;

/// An array that is kept in memory tiles.
pub(super) struct KeptArray {
    /// Its number in the program.
    pub array: usize,
    /// Where it is.
    pub level: Level,
    /// Its ports: a mapping of them to its tiles is known.
    pub ports: ArrayPorts,
}

/// The source of each read, and the arrays that are kept for them.
pub(super) fn reads(scheduled: Scheduled, tiles: Tiles) -> Result<(Sources, Vec<KeptArray>), Unserved> {
    let (sources, arrays) = match scheduled.program.policy() {
        Policy::Stencil => streamed(scheduled, tiles),
        Policy::Dnn => stored(scheduled, tiles),
    }?;
    check_times(scheduled, &sources)?;
    Ok((sources, arrays))
}

/// Checks what the passes behind this one rely on: the schedule reads no word before it is there, and none that waits in a register is
/// replaced before its last read.
fn check_times(scheduled: Scheduled, sources: &Sources) -> Result<(), Unserved> {
    for (stage, sources) in sources.iter().enumerate() {
        for (read, source) in sources.iter().enumerate() {
            let early = source.cases().filter_map(|case| match case.tap {
                Tap::Stage { delay, .. } if delay < 0 => {
                    Some(format!("{} before it is there", counted(-delay, "cycle")))
                }
                _ => None,
            });
            let late = source.held().filter(|held| slack(held) < 0);
            let late = late.map(|held| format!("{} after the next one is loaded", counted(-slack(held), "cycle")));
            if let Some(when) = early.chain(late).next() {
                let message = format!("the schedule reads this word {when}");
                let diagnostic = scheduled.program.diagnostic(scheduled.span_of_read(stage, read), message);
                return Err(Unserved::from(diagnostic.as_fault("program")));
            }
        }
    }
    Ok(())
}

/// The sources of reads that follow their writes at constant distances, or at one of a few, and of those whose words wait.
fn streamed(scheduled: Scheduled, tiles: Tiles) -> Result<(Sources, Vec<KeptArray>), Unserved> {
    let Scheduled { waits, schedule, .. } = scheduled;
    let stages = &scheduled.extraction.pipeline.stages;
    let mut of_array: BTreeMap<usize, Vec<ReadOf>> = BTreeMap::new();
    for &(stage, read) in &waits.memories {
        of_array.entry(stages[stage].reads[read].array).or_default().push(ReadOf { stage, read });
    }
    let (of_ports, arrays) = kept(scheduled, tiles, of_array)?;
    let source = |stage: usize, number: usize, read: &Access| {
        let found = match of_ports.get(&ReadOf { stage, read: number }) {
            Some(cases) => Ok(ReadSource::Taps(cases.clone())),
            None if waits.registers.contains(&(stage, number)) => {
                held(scheduled, stage, read, waiting::loads(&stages[stage], read)).map(ReadSource::Held)
            }
            None if waits.each.contains(&(stage, number)) => {
                let of_word = |(indices, loads)| Ok(HeldWord { indices, held: held(scheduled, stage, read, loads)? });
                let words = waiting::loads_of_each(&stages[stage], read).into_iter().map(of_word);
                words.collect::<Result<_, _>>().map(ReadSource::HeldEach)
            }
            None => {
                let taken = schedule.stages[stage].shifted(scheduled.arrival(stage, number));
                let reader = Reader { stage, content: &stages[stage], schedule: &taken };
                tapped(scheduled, reader, read).map(ReadSource::Taps)
            }
        };
        found.map_err(|error| Unserved::from(explain(scheduled, stage, number, &error)))
    };
    let of_stage = |(stage, content): (usize, &Stage)| {
        content.reads.iter().enumerate().map(|(number, read)| source(stage, number, read)).collect()
    };
    Ok((stages.iter().enumerate().map(of_stage).collect::<Result<_, _>>()?, arrays))
}

fn tapped(scheduled: Scheduled, reader: Reader, read: &Access) -> Result<Vec<TapCase>, TapError> {
    taps(&scheduled.extraction.pipeline, scheduled.writers, scheduled.schedule, reader, read)
}

/// The loads of a hold register, in the cycle before the first read of each word.
fn held(scheduled: Scheduled, stage: usize, read: &Access, loads: Stage) -> Result<HeldRead, TapError> {
    let held = still_to_take(scheduled, stage, read, loads);
    let reader = Reader { stage, content: &held.loads, schedule: &held.latest };
    Ok(HeldRead { cases: tapped(scheduled, reader, read)?, ..held })
}

/// The same without its cases: the words that come at the loads.
fn still_to_take(scheduled: Scheduled, stage: usize, read: &Access, loads: Stage) -> HeldRead {
    let reader = &scheduled.extraction.pipeline.stages[stage];
    let times = &scheduled.schedule.stages[stage];
    let repeats = reader.loops.iter().enumerate().filter(|(level, _)| loads.loops[*level].extent == 1);
    let repeats =
        repeats.filter(|(level, _)| read.subscripts.iter().all(|subscript| subscript.coefficients[*level] == 0));
    let span = repeats.map(|(level, bounds)| (bounds.extent as i64 - 1) * times.stride[level]).sum();
    HeldRead { loads, latest: times.shifted(-(waiting::LOAD as i64)), span, cases: Vec::new() }
}

/// The sources of reads if arrays are kept, except for reads that follow the write iteration by iteration.
fn stored(scheduled: Scheduled, tiles: Tiles) -> Result<(Sources, Vec<KeptArray>), Unserved> {
    let pipeline = &scheduled.extraction.pipeline;
    let mut sources = Sources::new();
    let mut of_array: BTreeMap<usize, Vec<ReadOf>> = BTreeMap::new();
    for (stage, content) in pipeline.stages.iter().enumerate() {
        let mut of_stage = Vec::new();
        for (read, access) in content.reads.iter().enumerate() {
            let producer = followed(scheduled.extraction, scheduled.writers, scheduled.schedule, stage, access);
            let always = |tap: Tap| ReadSource::Taps(vec![TapCase { conditions: Vec::new(), tap }]);
            of_stage.push(match producer {
                _ if scheduled.program.arrays[access.array].random_access => ReadSource::RandomAccess,
                _ if is_outside(content, access) => always(Tap::Outside),
                Some((producer, delay)) => always(Tap::Stage { producer, delay }),
                None if !scheduled.uses(stage, read) => ReadSource::Taps(Vec::new()),
                None if takes_own_results(pipeline, scheduled.writers, stage, read) => {
                    ReadSource::Taps(own_results(scheduled, stage, read)?)
                }
                None => match held_once(scheduled, stage, read) {
                    Some(held) => ReadSource::Held(held),
                    None => {
                        check_stored(scheduled, stage, read)?;
                        of_array.entry(access.array).or_default().push(ReadOf { stage, read });
                        ReadSource::Taps(Vec::new())
                    }
                },
            });
        }
        sources.push(of_stage);
    }
    let (of_ports, arrays) = kept(scheduled, tiles, of_array)?;
    for (of, cases) in of_ports {
        sources[of.stage][of.read] = ReadSource::Taps(cases);
    }
    Ok((sources, arrays))
}

/// The words of a read of what its own stage wrote in earlier iterations, as its kernels gave them.
fn own_results(scheduled: Scheduled, stage: usize, read: usize) -> Result<Vec<TapCase>, Unserved> {
    let content = &scheduled.extraction.pipeline.stages[stage];
    let taken = scheduled.schedule.stages[stage].shifted(scheduled.arrival(stage, read));
    let cases = tapped(scheduled, Reader { stage, content, schedule: &taken }, &content.reads[read]);
    cases.map_err(|error| Unserved::from(explain(scheduled, stage, read, &error)))
}

/// Cycles that a word is delayed for its way, apart from those in which the other words of its round come.
const WAY: i64 = 32;

/// The read of a hold register, if its word waits in one, and comes before it is read for the first time.
fn held_once(scheduled: Scheduled, stage: usize, read: usize) -> Option<HeldRead> {
    if !scheduled.waits.registers.contains(&(stage, read)) {
        return None;
    }
    let content = &scheduled.extraction.pipeline.stages[stage];
    let access = &content.reads[read];
    let held = still_to_take(scheduled, stage, access, waiting::loads(content, access));
    // Loops of a coarse pipeline may be in another order in time than in the nest.
    if held.has_rounds() && held.gap() <= held.span {
        return None;
    }
    let pipeline = &scheduled.extraction.pipeline;
    // Registers delay the words of several rounds while those of their round come; beyond that, a memory keeps them.
    let is_short = |producer: usize, delay: i64| {
        let loops = &pipeline.stages[producer].loops;
        let own = loops.len() - pipeline.shared_loops(producer, stage).min(loops.len());
        let words = loops[..own].iter().map(|level| level.extent as i64).fold(1, i64::saturating_mul);
        delay <= words.saturating_add(WAY)
    };
    let in_time = |case: &TapCase| match case.tap {
        Tap::Stage { producer, delay } => delay >= 0 && (!held.has_rounds() || is_short(producer, delay)),
        Tap::Outside | Tap::Port { .. } => false,
    };
    let taps_of = |content: &Stage| tapped(scheduled, Reader { stage, content, schedule: &held.latest }, access).ok();
    // The ends of the loops tell of most reads that there is no register for them.
    let is_in_time = |content: &Stage| taps_of(content).is_some_and(|cases| cases.iter().all(in_time));
    if !waiting::ends(&held.loads).all(|end| is_in_time(&end)) {
        return None;
    }
    let cases = taps_of(&held.loads)?;
    let all_in_time = cases.iter().all(in_time);
    all_in_time.then_some(HeldRead { cases, ..held })
}

/// Checks that an array can be kept for a read: that its addresses are affine.
fn check_stored(scheduled: Scheduled, stage: usize, read: usize) -> Result<(), Unserved> {
    let access = &scheduled.extraction.pipeline.stages[stage].reads[read];
    if arrays::is_stored(access) {
        return Ok(());
    }
    let stage_loops = &scheduled.extraction.pipeline.stages[stage].loops;
    let divided = access.subscripts.iter().find_map(|subscript| divided_loop(subscript, stage_loops));
    let help = match divided {
        Some((StageLoop { name, extent, .. }, by)) => format!(
            "divide the loop `{name}` in place of its index: `for {name} in 0..{}:`, and in it `for {name}_{by} in 0..{by}:`, with `{by}*{name} + \
             {name}_{by}` for what `{name}` was, and `{name}` for `{name}/{by}`",
            extent / by.unsigned_abs()
        ),
        None => "an index of an array in a memory is a sum of loops times constants, or, in `outside`, one loop times a constant: give each \
                 part of the array that has such indices a nest of its own"
            .to_owned(),
    };
    let message = "this read of a kept array has no affine addresses";
    let diagnostic = scheduled.program.diagnostic(scheduled.span_of_read(stage, read), message).with_help(help);
    let array = scheduled.program.arrays[access.array].name.clone();
    Err(Unserved::Order { array, refused: Box::new(diagnostic) })
}

/// The loop whose index a subscript divides, and by how much, if two loops in its place have no quotient.
fn divided_loop<'a>(subscript: &Subscript, loops: &'a [StageLoop]) -> Option<(&'a StageLoop, i64)> {
    let level = subscript.single_loop().ok()??;
    let (of, by) = (&loops[level], subscript.divisor);
    let is_plain = subscript.coefficients[level] == 1 && subscript.boundary == Boundary::None && of.min == 0;
    (is_plain && by > 1 && subscript.constant % by == 0 && of.extent % by.unsigned_abs() == 0).then_some((of, by))
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

/// The place of the result of each stage. A plain copy has no result of its own.
pub(super) fn outcomes(scheduled: Scheduled, reads: &Sources) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (stage, loads) in reads.iter().enumerate() {
        let own = Outcome::At(Place { stage, delay: 0 });
        let outcome = match scheduled.datapath(stage) {
            None => own,
            Some(datapath) => {
                let copied = datapath.copied().and_then(|load| match &loads[load] {
                    ReadSource::Taps(cases) => Some(cases.as_slice()),
                    ReadSource::Held(_) | ReadSource::HeldEach(_) | ReadSource::RandomAccess => None,
                });
                match (datapath.constant(), copied) {
                    (Some(number), _) => Outcome::Constant(number),
                    (_, Some([TapCase { tap: Tap::Stage { producer, delay }, .. }])) if *producer < stage => {
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

/// The stages whose results come back: they or stages above them take some, perhaps out of a random-access memory, which shows what is
/// written in the same cycle. They have kernels with registers.
///
/// # Errors
/// When such a stage has no register.
pub(super) fn carried(
    scheduled: Scheduled,
    reads: &Sources,
    outcomes: &[Outcome],
) -> Result<BTreeSet<usize>, Unserved> {
    let writes_ram = |stage: &usize| {
        let content = &scheduled.extraction.pipeline.stages[*stage];
        scheduled.program.arrays[content.write.array].random_access && matches!(outcomes[*stage], Outcome::At(_))
    };
    let mut carried: BTreeSet<usize> = (0..outcomes.len()).filter(writes_ram).collect();
    for (stage, sources) in reads.iter().enumerate() {
        for (read, source) in sources.iter().enumerate().filter(|(read, _)| scheduled.uses(stage, *read)) {
            let taps = source.cases().filter_map(|case| match case.tap {
                Tap::Stage { producer, .. } => Some(producer),
                Tap::Outside | Tap::Port { .. } => None,
            });
            let places = taps.filter_map(|producer| match outcomes[producer] {
                Outcome::At(place) => Some(place.stage),
                Outcome::Constant(_) => None,
            });
            for producer in places.filter(|&producer| producer >= stage) {
                if scheduled.datapath(producer).is_some_and(|datapath| datapath.copied().is_some()) {
                    let message = "this word comes back through a statement without a register";
                    let diagnostic = scheduled.program.diagnostic(scheduled.span_of_read(stage, read), message);
                    return Err(Unserved::from(diagnostic.as_fault("program")));
                }
                carried.insert(producer);
            }
        }
    }
    Ok(carried)
}

impl ReadSource {
    /// The words that it takes at any time.
    fn cases(&self) -> Box<dyn Iterator<Item = &TapCase> + '_> {
        match self {
            ReadSource::Taps(cases) => Box::new(cases.iter()),
            ReadSource::Held(held) => Box::new(held.cases.iter()),
            ReadSource::HeldEach(words) => Box::new(words.iter().flat_map(|word| &word.held.cases)),
            ReadSource::RandomAccess => Box::new(std::iter::empty()),
        }
    }

    /// The registers in which its words wait.
    fn held(&self) -> Box<dyn Iterator<Item = &HeldRead> + '_> {
        match self {
            ReadSource::Held(held) => Box::new(std::iter::once(held)),
            ReadSource::HeldEach(words) => Box::new(words.iter().map(|word| &word.held)),
            ReadSource::Taps(_) | ReadSource::RandomAccess => Box::new(std::iter::empty()),
        }
    }
}

/// The place of the result of a stage some cycles ago.
pub(super) fn at(outcomes: &[Outcome], stage: usize, delay: i64) -> Outcome {
    let delay = u64::try_from(delay).expect("delays are checked, and words that wait are loaded when they are there");
    match outcomes[stage] {
        Outcome::At(place) => Outcome::At(Place { delay: place.delay + delay, ..place }),
        constant @ Outcome::Constant(_) => constant,
    }
}
