//! The proof that every kernel and every output of a graph sees the values of the program.
//!
//! With every net understood as the result of some stage, and every edge as its word some cycles ago, each operand is at each iteration the
//! element that the program reads, and each output beat is the element that its stream says.
//!
//! The time at which an element is produced is a sum with one term for each loop of the reader, because each dimension of
//! an array follows one loop, and so is the reader's own time. So where the same case of a selection applies, and elements
//! are of the same writers, their difference is constant if it does not change along any one loop while the others stay:
//! this is checked for every index of every loop, and all cases, which costs the sum of the extents and not their product.
//! Where nothing is divided, limited or interleaved, the difference is an affine function of each index, and the ends of
//! each loop tell about all of it.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use index_vec::IndexVec;
use itertools::Itertools;
use num_integer::gcd;
use pushmem_buffers::Port;
use pushmem_graph::{Condition, CounterId, Edge, WordId};
use pushmem_nest::{Policy, Program};
use pushmem_stages::Staged;
use pushmem_stages::{Access, Schedule, Stage, Subscript};
use rayon::prelude::*;

use crate::context::Context;
use crate::dependence::Dependences;
use crate::error::{PartError, ProofError, ProvenanceError, require};
use crate::holds::{Content, Loads, Shown};
use crate::nets::{NetArray, NetCase, NetCopy, NetDriver, NetHold, NetLane, NetOperand, View, direct};
use crate::places::{Direction, Places, is_affine_within};
use crate::stages::{ends, ends_of_loops};
use crate::{holds, order, stored};

/// Combinations of indices of a hold register that are checked one after the other.
const LEAST_IN_PARALLEL: usize = 1 << 10;

/// The most elements of an array that is looked at beside others.
const SIDE_BY_SIDE: usize = 1 << 24;

/// A read of a stage, which takes its word some cycles after the begin of each iteration.
#[derive(Clone, Copy, Debug)]
struct Read {
    stage: usize,
    load: usize,
    late: u64,
}

struct Prover<'a> {
    context: Context<'a>,
    program: &'a Program,
    /// Whether arrays are kept in memories.
    stored: bool,
    staged: Staged<'a>,
    dependences: &'a Dependences<'a>,
    /// The producers of reads, as far as they were asked for.
    producers: Mutex<HashMap<(usize, usize), Vec<usize>>>,
    schedule: &'a Schedule,
    view: View<'a>,
    /// The driver of each net, and the loads of each hold register.
    drivers: IndexVec<WordId, NetDriver>,
    loads: HashMap<WordId, Loads>,
    /// The stage whose results each net carries; nothing for selections.
    nets: IndexVec<WordId, Option<usize>>,
    /// The arrays that are kept.
    arrays: Vec<NetArray<'a>>,
    /// Stages that have a result of their own: inputs, kernels, and copies by selection.
    owners: HashSet<usize>,
    /// The word of each stage whose result is always the same.
    constants: HashMap<usize, u16>,
    /// The copies, by their stages.
    copies: HashMap<usize, NetCopy>,
}

/// Proves that all kernels and outputs of a graph see the values of the program, in each of its views. Its nodes are those of the program.
///
/// # Errors
/// The first memory that takes other words than those of its stages, and the first operand or output that is not the value of
/// the program.
pub(crate) fn prove(context: Context, dependences: &Dependences, views: &[View]) -> Result<(), ProofError> {
    let Context { program, staged, schedule, .. } = context;
    let provers = views.iter().map(|view| Prover::new(context, dependences, *view)).collect_vec();
    if program.policy() != Policy::Dnn {
        dependences.check_order()?;
    }
    let arrays = provers.iter().flat_map(|prover| prover.arrays.iter().map(|array| prover.array(array)));
    // The words of an element have one order.
    let kept: Vec<order::Kept> = arrays.collect::<Result<Vec<_>, _>>()?.into_iter().unique().collect();
    let check = |kept: &order::Kept| order::check(staged, schedule, &dependences.sequence, kept);
    let size = |kept: &order::Kept| program.arrays.get(kept.array).map_or(0, |array| array.size());
    // Each has memory for its array.
    let outcomes: Vec<Result<(), PartError>> = match kept.iter().map(size).max().is_some_and(|size| size > SIDE_BY_SIDE)
    {
        true => kept.iter().map(check).collect(),
        false => kept.par_iter().map(check).collect(),
    };
    first_error(outcomes)?;
    first_error(provers.into_par_iter().map(Prover::operands).collect())
}

/// The first error in the order of checks that ran side by side, whichever was found first.
fn first_error<Error>(outcomes: Vec<Result<(), Error>>) -> Result<(), Error> {
    outcomes.into_iter().collect()
}

impl<'a> Prover<'a> {
    fn new(context: Context<'a>, dependences: &'a Dependences<'a>, view: View<'a>) -> Self {
        let Context { program, staged, schedule, .. } = context;
        let drivers = view.drivers();
        let copies = view.copies();
        // The stage whose result it is that selects a load or reads it from a memory: of several the first.
        let selections: HashMap<WordId, usize> =
            copies.iter().rev().filter_map(|copy| Some((copy.selection?, copy.stage))).collect();
        let of_driver = |(net, driver): (WordId, &NetDriver)| match driver {
            NetDriver::Result(stage) => Some(*stage),
            NetDriver::Port | NetDriver::Select { .. } => selections.get(&net).copied(),
            // It is no stage's result: a held word is one at other times.
            NetDriver::Unknown | NetDriver::Hold(_) => None,
        };
        let nets: IndexVec<WordId, Option<usize>> = drivers.iter_enumerated().map(of_driver).collect();
        let results = drivers.iter().filter_map(|driver| match driver {
            NetDriver::Result(stage) => Some(*stage),
            _ => None,
        });
        let selected = copies.iter().filter(|copy| copy.selection.is_some()).map(|copy| copy.stage);
        Prover {
            context,
            program,
            stored: program.policy() == Policy::Dnn,
            staged,
            dependences,
            producers: Mutex::default(),
            schedule,
            view,
            owners: results.chain(selected).collect(),
            constants: view.constants().collect(),
            copies: copies.into_iter().map(|copy| (copy.stage, copy)).collect(),
            arrays: view.arrays(),
            loads: Loads::all(view.graph, &drivers),
            drivers,
            nets,
        }
    }
}

impl Prover<'_> {
    /// Proves that all kernels, copies and outputs see the values of the program.
    fn operands(mut self) -> Result<(), ProofError> {
        let copies = self.view.copies();
        for (copy, net) in copies.iter().filter_map(|copy| Some((copy, copy.selection?))) {
            // Its own net stands for its result; its cases are checked here.
            let content = &self.staged.pipeline.stages[copy.stage];
            let name = || content.name.clone();
            require(content.latency == 0, name, "it is a selection with registers, which has none")?;
            let result = self.nets[net].take();
            self.operand(Read { stage: copy.stage, load: copy.load, late: 0 }, Edge::Net { net, delay: 0 })?;
            self.nets[net] = result;
        }
        // Where arrays are kept, results are passed on iteration by iteration.
        for copy in copies.iter().filter(|copy| copy.selection.is_none() && !self.is_stored()) {
            self.copy(copy)?;
        }
        let operand = |&NetOperand { stage, load, source }: &NetOperand| match self.taken(stage, load) {
            Some(late) => self.operand(Read { stage, load, late }, source),
            None => Ok(()),
        };
        // Few of many take most of the time: none of them comes with others.
        first_error(self.view.operands().par_iter().with_max_len(1).map(operand).collect())?;
        self.view.lanes().iter().try_for_each(|lane| self.lane(lane))
    }

    /// How many cycles after the begin of an iteration the kernel of a stage takes a load; nothing if its result does not depend on it, or it
    /// is an element of a random-access memory, whose accesses are proven to be in order.
    fn taken(&self, stage: usize, load: usize) -> Option<u64> {
        let array = self.staged.pipeline.stages[stage].reads[load].array;
        let datapath = self.context.datapath(stage).filter(|datapath| datapath.uses(load))?;
        (!self.program.arrays[array].random_access).then(|| datapath.arrival(load))
    }

    /// The stages whose result a read takes iteration by iteration, as [`Dependences::producers`].
    fn producers(&self, stage: usize, load: usize) -> Vec<usize> {
        let mut known = self.producers.lock().expect("no thread ends while it has them");
        known.entry((stage, load)).or_insert_with(|| self.dependences.producers(stage, load)).clone()
    }

    /// The result that a read takes in another iteration than its own, as the last one of a running sum: of the only stage that writes
    /// the element, in the one iteration that does. Either nothing writes an element of the array twice, or it is the iteration
    /// in the loops around both: the writer stands above the reader, and ends all its loops within before the reader begins.
    fn last_written(&self, stage: usize, load: usize, index: &[i64], element: &[i64]) -> Vec<Content> {
        let content = &self.staged.pipeline.stages[stage];
        let read = &content.reads[load];
        if !self.is_stored() || !read.is_affine() {
            return Vec::new();
        }
        let places = Places::of_stage(content, read);
        let sequence = &self.dependences.sequence;
        let meets = |writer: &usize| sequence.write(*writer).places.meet(&places, Direction::ANY);
        let writers = self.dependences.writers.of_access(read.array, &places).into_iter();
        let Ok(writer) = writers.filter(meets).exactly_one() else { return Vec::new() };
        let written = &self.staged.pipeline.stages[writer];
        let shared = self.dependences.shared_above(writer, stage, load);
        let index = match self.dependences.is_single(read.array) {
            true => iteration(written, element),
            false => shared
                .filter(|&shared| writes_all_of(written, content, read, shared))
                .and_then(|shared| iteration_within(written, element, &index[index.len() - shared..])),
        };
        index.filter(|_| writer != stage).map_or(Vec::new(), |index| self.results(writer, &index))
    }

    /// The stage and delay of a source's words; nothing for selections and constants.
    fn past(&self, source: Edge) -> Option<(usize, i64)> {
        let Edge::Net { net, delay } = source else { return None };
        self.nets[net].map(|stage| (stage, delay as i64))
    }

    /// Checks that an array takes the words of the stages. Gives its accesses, which are to follow each other as in the program.
    fn array(&self, array: &NetArray) -> Result<order::Kept, PartError> {
        let pipeline = &self.staged.pipeline;
        let node = array.node;
        stored::check_writes(pipeline, self.schedule, node)?;
        require(node.writes.len() == node.writers.len(), || node.buffer.name.clone(), "a write port takes no word")?;
        for (&stage, &source) in node.writers.iter().zip(&node.writes) {
            // A word that a copy passes on comes as late in all iterations if it does so at the ends of each loop.
            let right = ends_of_loops(&pipeline.stages[stage]).all(|index| {
                let written = self.schedule.stages[stage].value(&index) + pipeline.stages[stage].latency as i64;
                let results = match self.is_stored() {
                    true => self.results(stage, &index),
                    false => self.produced_by(stage, &index).into_iter().collect(),
                };
                results.iter().any(|expected| self.carries(source, written, expected))
            });
            require(right, || pipeline.stages[stage].name.clone(), "the memory takes another word than its result")?;
        }
        let reads = self.reads_in_memory(array);
        for (stage, loads) in reads.iter().enumerate() {
            let affine = loads.iter().all(|&load| is_affine_within(&pipeline.stages[stage].reads[load]));
            require(
                affine,
                || pipeline.stages[stage].name.clone(),
                "it reads a memory at addresses that are not affine",
            )?;
        }
        Ok(order::Kept { array: node.array, versions: stored::versions(pipeline, node), reads })
    }

    /// By stage, the loads that take words of an array from its memory.
    fn reads_in_memory(&self, array: &NetArray) -> Vec<Vec<usize>> {
        let stages = &self.staged.pipeline.stages;
        let mut reads = vec![Vec::new(); stages.len()];
        let mut add = |stage: usize, load: usize, source: Edge| {
            let cases = self.cases_of(source);
            let takes = cases.iter().any(|case| direct(case.source).is_some_and(|net| array.reads.contains(&net)));
            if takes && stages[stage].reads[load].array == array.node.array {
                reads[stage].push(load);
            }
        };
        for operand in self.view.operands() {
            add(operand.stage, operand.load, operand.source);
        }
        for copy in self.view.copies() {
            copy.selection.into_iter().for_each(|net| add(copy.stage, copy.load, Edge::Net { net, delay: 0 }));
        }
        reads
    }

    /// Whether a source has a result in a cycle.
    fn carries(&self, source: Edge, now: i64, expected: &Content) -> bool {
        match (expected, self.past(source)) {
            (Content::Result { stage, cycle }, Some((of, ago))) => of == *stage && now - ago == *cycle,
            (Content::Constant(word), None) => self.always_carries(source, *word),
            _ => false,
        }
    }

    /// The cases of a source: those of its selection, or itself.
    fn cases_of(&self, source: Edge) -> Vec<NetCase> {
        match direct(source).map(|net| &self.drivers[net]) {
            Some(NetDriver::Select { cases, .. }) => cases.clone(),
            _ => vec![NetCase { conditions: Vec::new(), source }],
        }
    }

    /// Checks an operand at all iterations: that it is the result of a stage, be it one that selects or reads a memory itself,
    /// or else that each case of its selection is right.
    fn operand(&self, read: Read, operand: Edge) -> Result<(), ProofError> {
        let Read { stage, load, late } = read;
        let point = |index: &[i64], ranks: &[u64], source| self.point(read, index, ranks, source);
        let whole = [NetCase { conditions: Vec::new(), source: operand }];
        let is_result = matches!(operand, Edge::Constant(_)) || self.past(operand).is_some();
        if is_result && self.for_each_point(stage, load, &whole, &[], point).is_ok() {
            return Ok(());
        }
        let cases = self.cases_of(operand);
        let levels = match cases.iter().all(|case| case.conditions.is_empty()) {
            true => Vec::new(),
            false => self.selects_by_loops_of(stage, operand, late)?,
        };
        let is_held = |source: Edge| direct(source).is_some_and(|net| matches!(self.drivers[net], NetDriver::Hold(_)));
        // Where arrays are kept in memories, a constant is the word of an element that is written once, as in a hold register.
        let is_kept_constant = self.is_stored() && matches!(operand, Edge::Constant(_));
        if late == 0 && (is_kept_constant || cases.iter().any(|case| is_held(case.source))) {
            return self.held(stage, load, &cases, &levels);
        }
        self.for_each_point(stage, load, &cases, &levels, point)?;
        Ok(())
    }

    /// Checks a load that hold registers serve: one, or several of which the loops that the element follows choose one. For each
    /// combination of indices of these loops, the first and the last cycle in which the element is read are those of the ends
    /// of all other loops. The register shows the word of its last load before: if that is the same for both, it is so for all
    /// cycles between.
    fn held(&self, stage: usize, load: usize, cases: &[NetCase], counted: &[usize]) -> Result<(), ProofError> {
        let content = &self.staged.pipeline.stages[stage];
        let (read, times) = (&content.reads[load], &self.schedule.stages[stage]);
        let conditions = || cases.iter().flat_map(|case| &case.conditions);
        let by_element = conditions().all(|(level, _)| read.follows(counted[*level]));
        require(
            by_element,
            || content.name.clone(),
            "it chooses a hold register by other loops than those of the element",
        )?;
        if self.is_held_alike(stage, load, cases) {
            return Ok(());
        }
        let ends = content.loops.iter().zip(&times.stride).enumerate().map(|(level, (bounds, stride))| {
            let (first, last) = if *stride < 0 { (bounds.max(), bounds.min) } else { (bounds.min, bounds.max()) };
            match read.follows(level) {
                true => (bounds.min..=bounds.max()).map(|index| (index, index)).collect_vec(),
                false => vec![(first, last)],
            }
        });
        let ends = ends.collect_vec();
        let combinations = ends.iter().map(Vec::len).product::<usize>();
        // The indices of a combination, those of the innermost loop changing first.
        let chosen = |mut number: usize| -> (Vec<i64>, Vec<i64>) {
            let mut of_loop = |of_loop: &Vec<(i64, i64)>| {
                let place = number % of_loop.len();
                number /= of_loop.len();
                of_loop[place]
            };
            let mut indices = ends.iter().rev().map(&mut of_loop).collect_vec();
            indices.reverse();
            indices.into_iter().unzip()
        };
        let wrong = |number: usize| {
            let (first, last) = chosen(number);
            let holds = |case: &&NetCase| {
                case.conditions.iter().all(|(level, condition)| {
                    let level = counted[*level];
                    condition.holds(first[level] - content.loops[level].min)
                })
            };
            let source = cases.iter().find(holds).map(|case| case.source);
            let mut known = None;
            [first, last].into_iter().find_map(|index| {
                let shown = self.shown(source, times.value(&index));
                let right = shown.is_some_and(|shown| {
                    *known.get_or_insert(shown) == shown && self.is_element(stage, load, &index, shown.word)
                });
                (!right).then(|| self.wrong_hold(stage, load, index, source, shown))
            })
        };
        // A word that is held for a while may be one of millions.
        match (0..combinations).into_par_iter().with_min_len(LEAST_IN_PARALLEL).find_map_first(wrong) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Whether a load is served by one hold register whose loads follow the loops of the element, so that the cycle of each is a sum with one term for
    /// each loop, and the word is right at points that tell about all iterations, as in [`Self::for_each_point`].
    fn is_held_alike(&self, stage: usize, load: usize, cases: &[NetCase]) -> bool {
        let content = &self.staged.pipeline.stages[stage];
        let (read, times) = (&content.reads[load], &self.schedule.stages[stage]);
        let [NetCase { conditions, source }] = cases else { return false };
        let Some(net) = direct(*source).filter(|_| conditions.is_empty()) else { return false };
        let NetDriver::Hold(NetHold { source: held, .. }) = self.drivers[net] else { return false };
        let (Some((held, ago)), Some(loads)) = (self.past(held), self.loads.get(&net)) else { return false };
        let runs = |subscript: &Subscript| {
            let along = content.loops.iter().zip(&subscript.coefficients);
            along.filter(|(level, step)| level.extent > 1 && **step != 0).count()
        };
        let is_plain = read.is_affine() && read.subscripts.iter().all(|subscript| runs(subscript) <= 1);
        let first = content.loops.iter().map(|level| level.min).collect_vec();
        let extents = content.loops.iter().map(|level| level.extent as i64).collect_vec();
        let followed = loads.followed_by(times.value(&first), &times.stride, &extents);
        let Some((loaded, apart)) = followed.filter(|_| is_plain) else { return false };
        // Iterations of the loops that the element does not follow all see the same load.
        if (0..apart.len()).any(|level| apart[level] != 0 && !read.follows(level)) {
            return false;
        }
        let shows = |index: &[i64]| {
            let steps = index.iter().zip(&first).zip(&apart).map(|((index, first), apart)| (index - first) * apart);
            let cycle = loaded + steps.sum::<i64>() - ago;
            self.is_element(stage, load, index, Content::Result { stage: held, cycle })
        };
        let affine = self.has_affine_times(read.array);
        let writers = self.dependences.writers.of_access(read.array, &Places::of_stage(content, read));
        let classes = (0..content.loops.len()).map(|level| match read.follows(level) {
            true => self.classes(content, read, level, &[], &writers, affine),
            false => vec![vec![first[level]]],
        });
        let classes = classes.collect_vec();
        classes.iter().map(|of_loop| of_loop.iter()).multi_cartesian_product().all(|chosen| {
            let least = chosen.iter().map(|members| members[0]).collect_vec();
            chosen.iter().enumerate().all(|(level, members)| {
                let mut index = least.clone();
                members.iter().all(|&member| {
                    index[level] = member;
                    shows(&index)
                })
            })
        })
    }

    /// The word that a register holds in a cycle, or a constant.
    fn shown(&self, source: Option<Edge>, cycle: i64) -> Option<Shown> {
        match source? {
            Edge::Constant(word) => Some(Shown { loaded: 0, word: Content::Constant(word) }),
            source => holds::shown(&self.drivers, &self.loads, &self.nets, direct(source)?, cycle),
        }
    }

    /// The results any of which is the element that a load takes at an iteration.
    fn expected(&self, stage: usize, load: usize, index: &[i64]) -> Vec<Content> {
        let read = &self.staged.pipeline.stages[stage].reads[load];
        match element(read, index) {
            Some(element) if self.is_stored() => self.produced_once(read.array, &element),
            Some(element) => self.produced(read.array, &element, (stage, index)).into_iter().collect(),
            None => vec![Content::Constant(self.outside(stage, load))],
        }
    }

    /// Whether a word is the element that a load takes at an iteration.
    fn is_element(&self, stage: usize, load: usize, index: &[i64], word: Content) -> bool {
        self.expected(stage, load, index).contains(&word)
    }

    fn wrong_hold(
        &self,
        stage: usize,
        load: usize,
        index: Vec<i64>,
        source: Option<Edge>,
        shown: Option<Shown>,
    ) -> ProofError {
        let name = source.and_then(direct).map_or("nothing", |net| &self.view.graph.words[net].name);
        let found = match shown {
            Some(Shown { loaded, word: Content::Result { stage, cycle } }) => {
                let stage = &self.staged.pipeline.stages[stage].name;
                format!("{name}, loaded in cycle {loaded} with the result of {stage} in cycle {cycle}")
            }
            Some(Shown { word: Content::Constant(word), .. }) => format!("the constant {word}"),
            None => format!("{name}, which has no result of a stage by then"),
        };
        ProofError::Value(ProvenanceError {
            reader: self.staged.pipeline.stages[stage].name.clone(),
            load,
            cycle: self.schedule.stages[stage].value(&index),
            expected: self.describe_expected(self.expected(stage, load, &index).first()),
            iteration: index,
            found,
        })
    }

    /// Checks that a stage that only passes on the result of another one does so in all its iterations, always as late.
    fn copy(&self, copy: &NetCopy) -> Result<(), ProofError> {
        let content = &self.staged.pipeline.stages[copy.stage];
        let read = &content.reads[copy.load];
        let mut first = None;
        self.for_each_point(copy.stage, copy.load, &[], &[], |index, _, _| {
            let reader = (copy.stage, index);
            let produced = element(read, index).and_then(|element| self.produced(read.array, &element, reader));
            let past = produced.map(|produced| match produced {
                Content::Result { stage, cycle } => {
                    (Some(stage), self.schedule.stages[copy.stage].value(index) - cycle)
                }
                Content::Constant(word) => (None, i64::from(word)),
            });
            let same = past.is_some() && *first.get_or_insert(past) == past;
            require(same, || content.name.clone(), "it passes on results of several stages, or with several delays")
        })?;
        Ok(())
    }

    /// Calls with points that tell about all iterations of a stage, and the case that applies to each: for every combination
    /// of classes of loop indices that behave alike, one point, and those that differ from it in one index. With each, which
    /// member of its class every index is. `counted` are the loops that the conditions of the cases are about.
    fn for_each_point<E>(
        &self,
        stage: usize,
        load: usize,
        cases: &[NetCase],
        counted: &[usize],
        mut visit: impl FnMut(&[i64], &[u64], Option<Edge>) -> Result<(), E>,
    ) -> Result<(), E> {
        let content = &self.staged.pipeline.stages[stage];
        let read = &content.reads[load];
        // A memory keeps the elements of all writers.
        let kept = (self.is_stored() && !is_carried(content, read))
            || (!cases.is_empty() && cases.iter().all(|case| self.port(read.array, case.source).is_some()));
        let affine = read.is_affine() && (kept || self.has_affine_times(read.array));
        let writers = match kept {
            true => Vec::new(),
            false => self.dependences.writers.of_access(read.array, &Places::of_stage(content, read)),
        };
        let classes = (0..content.loops.len()).map(|level| {
            let here = counted.iter().position(|&other| other == level);
            let conditions = cases.iter().flat_map(|case| &case.conditions);
            let conditions = conditions.filter(|(of, _)| Some(*of) == here).map(|(_, one)| *one).collect_vec();
            self.classes(content, read, level, &conditions, &writers, affine)
        });
        // The combinations are of references: a class has as many members as its loop has iterations.
        let classes = classes.collect_vec();
        for chosen in classes.iter().map(|of_loop| of_loop.iter()).multi_cartesian_product() {
            let mut index: Vec<i64> = chosen.iter().map(|members| members[0]).collect();
            let holds = |case: &&NetCase| {
                let holds = |(level, condition): &(usize, Condition)| {
                    let level = counted[*level];
                    condition.holds(index[level] - content.loops[level].min)
                };
                case.conditions.iter().all(holds)
            };
            let source = cases.iter().find(holds).map(|case| case.source);
            // Which of the iterations with this source it is, loop by loop.
            let mut ranks = vec![0; index.len()];
            visit(&index, &ranks, source)?;
            for (level, members) in chosen.iter().enumerate() {
                let dense = members[members.len() - 1] - members[0] == members.len() as i64 - 1;
                let begin = if affine && dense { members.len() - 1 } else { 0 };
                for (rank, &member) in members.iter().enumerate().skip(begin) {
                    (index[level], ranks[level]) = (member, rank as u64);
                    visit(&index, &ranks, source)?;
                }
                (index[level], ranks[level]) = (members[0], 0);
            }
        }
        Ok(())
    }

    /// The indices of a loop in classes: alike in the conditions that hold, and in whose elements they select, and
    /// whether any. Indices alike in each loop are alike in all of them together, because each dimension follows one
    /// loop.
    fn classes(
        &self,
        stage: &Stage,
        read: &Access,
        level: usize,
        conditions: &[Condition],
        writers: &[usize],
        affine: bool,
    ) -> Vec<Vec<i64>> {
        let bounds = &stage.loops[level];
        let mut point: Vec<i64> = stage.loops.iter().map(|level| level.min).collect();
        let mut nature = |index: i64| {
            point[level] = index;
            let following =
                read.subscripts.iter().enumerate().filter(|(_, subscript)| subscript.coefficients[level] != 0);
            let selected = following.flat_map(|(dimension, subscript)| {
                let place = subscript.at(&point);
                let written = writers.iter().map(move |&writer| {
                    let writer = &self.staged.pipeline.stages[writer];
                    place.is_some_and(|place| coordinate(writer, dimension, place).is_some())
                });
                std::iter::once(place.is_some()).chain(written)
            });
            let conditions = conditions.iter().map(|one| one.holds(index - bounds.min));
            conditions.chain(selected).collect_vec()
        };
        // The elements of the only writer are a box: a delay that is the same at both ends is the same between them.
        if conditions.is_empty() && affine && nature(bounds.min) == nature(bounds.max()) {
            return vec![(bounds.min..=bounds.max()).collect()];
        }
        let mut classes: Vec<(Vec<bool>, Vec<i64>)> = Vec::new();
        for index in bounds.min..=bounds.max() {
            let nature = nature(index);
            match classes.iter_mut().rfind(|(other, _)| *other == nature) {
                Some((_, members)) => members.push(index),
                None => classes.push((nature, vec![index])),
            }
        }
        classes.into_iter().map(|(_, members)| members).collect()
    }

    /// The loops of the stage that uses a selection at which it looks.
    fn selects_by_loops_of(&self, stage: usize, operand: Edge, late: u64) -> Result<Vec<usize>, PartError> {
        let net = direct(operand);
        let levels = net.and_then(|net| match &self.drivers[net] {
            NetDriver::Select { counter: Some(counter), .. } => self.counted(*counter, stage, late),
            _ => None,
        });
        let name = || net.map_or(String::new(), |net| self.view.graph.words[net].name.clone());
        levels.ok_or_else(|| PartError { part: name(), reason: "it selects by the loops of another stage".to_owned() })
    }

    /// The loop of a stage that each level of a counter counts, if it counts them.
    fn counted(&self, counter: CounterId, stage: usize, late: u64) -> Option<Vec<usize>> {
        self.context.counted(&self.view.graph.counters[counter], stage, late)
    }

    /// Whether the time at which an element appears is one affine function of its indices, and the elements that appear are
    /// a box.
    fn has_affine_times(&self, array: usize) -> bool {
        let [writer] = self.dependences.writers.all(array) else { return false };
        let stage = &self.staged.pipeline.stages[*writer];
        let dense = |subscript: &Subscript| match subscript.single_loop() {
            Ok(Some(level)) => subscript.coefficients[level].abs() == 1,
            Ok(None) => true,
            Err(_) => false,
        };
        let copied = || {
            self.copies.get(writer).is_some_and(|copy| {
                let read = &stage.reads[copy.load];
                read.is_affine() && self.has_affine_times(read.array)
            })
        };
        // A constant is there at all times.
        let known = self.owners.contains(writer) || self.constants.contains_key(writer);
        stage.write.subscripts.iter().all(dense) && (known || copied())
    }

    /// Checks an operand at one iteration.
    fn point(
        &self,
        Read { stage, load, late }: Read,
        index: &[i64],
        ranks: &[u64],
        source: Option<Edge>,
    ) -> Result<(), ProvenanceError> {
        let content = &self.staged.pipeline.stages[stage];
        let cycle = self.schedule.stages[stage].value(index) + late as i64;
        let error = |expected: String| ProvenanceError {
            reader: content.name.clone(),
            load,
            iteration: index.to_vec(),
            cycle,
            expected,
            found: self.describe(source, cycle),
        };
        let read = &content.reads[load];
        let element = element(read, index);
        // The walk through the program dates reads of a memory with the iteration: a word that comes later would have another date.
        let port = source.filter(|_| late == 0).and_then(|source| self.port(read.array, source));
        if let (Some(element), Some(port)) = (&element, port)
            && self.shows(port, ranks, index, element, cycle, content)
        {
            return Ok(());
        }
        let expected = match element {
            Some(element) if self.is_stored() => {
                let producers = self.producers(stage, load);
                let carried = is_carried(content, read);
                let is_there = |own: &Content| carried || matches!(own, Content::Constant(_));
                let own = self.produced_once(read.array, &element).into_iter().filter(is_there);
                let last = match producers.is_empty() {
                    true => self.last_written(stage, load, index, &element),
                    false => Vec::new(),
                };
                producers
                    .into_iter()
                    .flat_map(|producer| self.results(producer, index))
                    .chain(own)
                    .chain(last)
                    .collect()
            }
            Some(element) => self.produced(read.array, &element, (stage, index)).into_iter().collect_vec(),
            None => vec![Content::Constant(self.outside(stage, load))],
        };
        let right = expected.iter().any(|expected| match (expected, source) {
            (Content::Constant(word), Some(Edge::Constant(constant))) => *word == constant,
            (Content::Result { .. }, Some(source @ Edge::Net { .. })) => self.carries(source, cycle, expected),
            _ => false,
        });
        if right { Ok(()) } else { Err(error(self.describe_expected(expected.first()))) }
    }

    /// Whether arrays are kept: then reads that have no port follow their writes iteration by iteration.
    fn is_stored(&self) -> bool {
        self.stored
    }

    /// The port of the memory of an array that a source is.
    fn port(&self, array: usize, source: Edge) -> Option<&Port> {
        let net = direct(source)?;
        let kept = self.arrays.iter().find(|kept| kept.node.array == array)?;
        let port = kept.reads.iter().position(|&other| other == net)?;
        kept.node.buffer.ports.get(kept.node.writers.len() + port)
    }

    /// Whether a port shows this element, of the version that the loops around all accesses say, in this cycle.
    fn shows(&self, port: &Port, ranks: &[u64], index: &[i64], element: &[i64], cycle: i64, stage: &Stage) -> bool {
        let version = port.access.len().saturating_sub(element.len());
        let versions = (0..version).rev().map(|outer| {
            let level = index.len() - 1 - outer;
            index[level] - stage.loops[level].min
        });
        let inside = ranks.iter().zip(&port.domain).all(|(rank, level)| *rank < level.extent);
        inside
            && ranks.len() == port.domain.len()
            && port.cycle(ranks) == i128::from(cycle)
            && port.element(ranks).into_iter().eq(element.iter().copied().chain(versions).map(i128::from))
    }

    /// The value of a stage in an iteration, followed through plain copies that take it iteration by iteration: of an input
    /// each of the lanes that bring it.
    fn results(&self, stage: usize, index: &[i64]) -> Vec<Content> {
        if self.owners.contains(&stage) {
            let cycle = self.schedule.stages[stage].value(index) + self.staged.pipeline.stages[stage].latency as i64;
            return vec![Content::Result { stage: self.carrier(stage), cycle }];
        }
        if let Some(&word) = self.constants.get(&stage) {
            return vec![Content::Constant(word)];
        }
        let Some(copy) = self.copies.get(&stage) else { return Vec::new() };
        let producers = self.producers(stage, copy.load);
        let element = || element(&self.staged.pipeline.stages[stage].reads[copy.load], index);
        match producers.is_empty() {
            true => element().map_or(Vec::new(), |element| self.last_written(stage, copy.load, index, &element)),
            false => producers.into_iter().flat_map(|producer| self.results(producer, index)).collect(),
        }
    }

    /// The stage that names the wire of a stage: copies that select alike share one.
    fn carrier(&self, stage: usize) -> usize {
        let copy = self.copies.get(&stage);
        copy.and_then(|copy| copy.selection).and_then(|net| self.nets[net]).unwrap_or(stage)
    }

    /// Checks that a lane of a stream is the element it says, at the cycles of the stream.
    fn lane(&self, lane: &NetLane) -> Result<(), ProofError> {
        let content = &self.staged.pipeline.stages[lane.stage];
        let schedule = &self.schedule.stages[lane.stage];
        let first: Vec<i64> = content.loops.iter().map(|level| level.min).collect();
        let levels = self.counted(lane.counter, lane.stage, content.latency);
        require(levels.is_some(), || lane.stream.to_owned(), "its beats come at other cycles than its elements")?;
        let levels = levels.unwrap_or_default();
        let mut points = vec![(first.clone(), vec![0; levels.len()])];
        let affine = self.is_stored() || self.has_affine_times(content.write.array);
        for (number, &level) in levels.iter().enumerate() {
            let last = content.loops[level].extent - 1;
            for step in if affine { last..=last } else { 1..=last } {
                let (mut index, mut counts) = points[0].clone();
                index[level] += step as i64;
                counts[number] = step;
                points.push((index, counts));
            }
        }
        for (index, counts) in points {
            let cycle = schedule.value(&index) + content.latency as i64;
            let element = element(&content.write, &index)
                .filter(|element| i128::from(self.number(content.write.array, element)) == lane.element.at(&counts));
            let expected = match element {
                Some(_) if self.is_stored() => self.results(lane.stage, &index),
                // The last value: that of this stage, as all that goes outside.
                Some(_) => self.produced_by(lane.stage, &index).into_iter().collect_vec(),
                None => Vec::new(),
            };
            if !expected.iter().any(|expected| self.carries(lane.source, cycle, expected)) {
                return Err(ProofError::Value(ProvenanceError {
                    reader: lane.stream.to_owned(),
                    load: 0,
                    iteration: index,
                    cycle,
                    expected: self.describe_expected(expected.first()),
                    found: self.describe(Some(lane.source), cycle),
                }));
            }
        }
        Ok(())
    }

    /// Whether a source is a selection of this word alone.
    fn always_carries(&self, source: Edge, word: u16) -> bool {
        let always = |source: Edge| source == Edge::Constant(word);
        match source {
            Edge::Constant(_) => always(source),
            Edge::Net { net, .. } => match &self.drivers[net] {
                NetDriver::Select { cases, .. } => cases.iter().all(|case| always(case.source)),
                _ => false,
            },
        }
    }

    /// The number of an element in order of memory; where elements have two words, that of this graph's word of it.
    fn number(&self, array: usize, element: &[i64]) -> i64 {
        let declared = &self.program.arrays[array];
        let places = element.iter().zip(&declared.min).zip(&declared.shape).rev();
        let number = places.fold(0, |number, ((index, min), extent)| number * extent + index - min);
        number * declared.element.words().len() as i64 + self.view.word(array).number() as i64
    }

    /// Which stage's result an element is for an iteration of a stage, and from which cycle on, or which constant, followed through
    /// plain copies: that of the last statement before in the order of the program that writes it.
    fn produced(&self, array: usize, element: &[i64], reader: (usize, &[i64])) -> Option<Content> {
        let stages = &self.staged.pipeline.stages;
        let writers = self.dependences.writers.of_element(array, element).into_iter().rev();
        let mut writes = writers.filter_map(|stage| Some((stage, iteration(&stages[stage], element)?)));
        let sequence = &self.dependences.sequence;
        let (stage, index) = writes.find(|(writer, index)| sequence.precedes((*writer, index.as_slice()), reader))?;
        self.produced_by(stage, &index)
    }

    /// Which stage's result, or which constant, the element is that a stage writes in an iteration.
    fn produced_by(&self, stage: usize, index: &[i64]) -> Option<Content> {
        let content = &self.staged.pipeline.stages[stage];
        if self.owners.contains(&stage) {
            let cycle = self.schedule.stages[stage].value(index) + content.latency as i64;
            return Some(Content::Result { stage, cycle });
        }
        if let Some(&word) = self.constants.get(&stage) {
            return Some(Content::Constant(word));
        }
        let read = &content.reads[self.copies.get(&stage)?.load];
        self.produced(read.array, &element(read, index)?, (stage, index))
    }

    /// As [`Prover::produced`], of an element that is written once in the whole program, so that it is there for all readers: of an input
    /// each of the lanes that bring it.
    fn produced_once(&self, array: usize, element: &[i64]) -> Vec<Content> {
        let stages = &self.staged.pipeline.stages;
        let writers = self.dependences.writers.of_element(array, element).into_iter();
        let writes = writers.filter_map(|stage| Some((stage, iteration(&stages[stage], element)?)));
        let Ok((stage, index)) = writes.exactly_one() else { return Vec::new() };
        let content = &stages[stage];
        if content.loops_not_written().any(|level| content.loops[level].extent > 1) {
            return Vec::new();
        }
        // A copy passes on what it takes in the same iteration, or an element that is itself written once.
        let own = self.results(stage, &index);
        let copied = self.copies.get(&stage).filter(|_| own.is_empty()).map(|copy| &content.reads[copy.load]);
        let from = copied.and_then(|read| Some((read.array, self::element(read, &index)?)));
        from.map_or(own, |(array, element)| self.produced_once(array, &element))
    }

    fn outside(&self, stage: usize, load: usize) -> u16 {
        let Some((loops, operation)) = self.dependences.sequence.operation(stage) else { return 0 };
        let array = self.staged.pipeline.stages[stage].reads[load].array;
        let outside = operation.load_of_read(loops, load).and_then(|load| load.outside).unwrap_or(0);
        self.view.word(array).of(outside)
    }

    fn describe_expected(&self, expected: Option<&Content>) -> String {
        match expected {
            Some(Content::Result { stage, cycle }) => {
                format!("the result of {} in cycle {cycle}", self.staged.pipeline.stages[*stage].name)
            }
            Some(Content::Constant(word)) => format!("the constant {word}"),
            None => "an element that no stage produces".to_owned(),
        }
    }

    fn describe(&self, source: Option<Edge>, now: i64) -> String {
        match source {
            Some(Edge::Constant(word)) => format!("the constant {word}"),
            Some(source @ Edge::Net { net, delay }) => {
                let name = &self.view.graph.words[net].name;
                let name = if delay == 0 { name.clone() } else { format!("{name}@{delay}") };
                match self.past(source) {
                    Some((stage, ago)) => format!(
                        "{name}, the result of {} in cycle {}",
                        self.staged.pipeline.stages[stage].name,
                        now - ago
                    ),
                    None => format!("{name}, no result of a stage"),
                }
            }
            None => "nothing".to_owned(),
        }
    }
}

/// Whether a read may take what its own stage wrote in earlier iterations.
fn is_carried(stage: &Stage, read: &Access) -> bool {
    read.array == stage.write.array && *read != stage.write
}

/// The element that an access touches at an iteration.
fn element(access: &Access, index: &[i64]) -> Option<Vec<i64>> {
    access.subscripts.iter().map(|subscript| subscript.at(index)).collect()
}

/// The iteration at which a stage writes an element.
fn iteration(stage: &Stage, element: &[i64]) -> Option<Vec<i64>> {
    let mut index: Vec<i64> = stage.loops.iter().map(|level| level.min).collect();
    for (dimension, &wanted) in element.iter().enumerate() {
        if let Some((level, place)) = coordinate(stage, dimension, wanted)? {
            index[level] = place;
        }
    }
    Some(index)
}

/// Whether a stage writes all elements of a read in each iteration of the outermost loops that both have, whatever the points at which
/// that is looked at: in each dimension both move alike along these loops, and the elements of the read along its other loops are
/// among those of the writer.
fn writes_all_of(writer: &Stage, reader: &Stage, read: &Access, shared: usize) -> bool {
    writer.write.is_affine()
        && writer.write.subscripts.iter().zip(&read.subscripts).all(|(written, read)| {
            let inner = |stage: &Stage, subscript: &Subscript| {
                let levels = stage.loops.iter().zip(&subscript.coefficients).take(stage.loops.len() - shared);
                levels.filter(|(level, _)| level.extent > 1).map(|(_, step)| *step).collect_vec()
            };
            let outer = |subscript: &Subscript| subscript.coefficients.iter().rev().take(shared).copied().collect_vec();
            let ((low, high), (least, greatest)) = (ends(writer, written), ends(reader, read));
            // A writer that leaves out elements has a step that all of the read are apart by.
            let apart = inner(writer, written).into_iter().fold(0, gcd);
            let is_step = |distance: i64| if apart == 0 { distance == 0 } else { distance % apart == 0 };
            outer(written) == outer(read)
                && low <= least
                && greatest <= high
                && is_step(least - low)
                && inner(reader, read).into_iter().all(is_step)
        })
}

/// The iteration at which a stage writes an element with these indices of its outermost loops, if it is the only one: each of the
/// loops within runs along a dimension of its own.
fn iteration_within(stage: &Stage, element: &[i64], outermost: &[i64]) -> Option<Vec<i64>> {
    let within = stage.loops.len().checked_sub(outermost.len())?;
    let first: Vec<i64> =
        stage.loops[..within].iter().map(|level| level.min).chain(outermost.iter().copied()).collect();
    let runs = |level: &usize| stage.loops[*level].extent > 1;
    let mut index = first.clone();
    let mut found = HashSet::new();
    for (subscript, wanted) in stage.write.subscripts.iter().zip(element) {
        let mut along = (0..within).filter(runs).filter(|&level| subscript.coefficients[level] != 0);
        if let (Some(level), None) = (along.next(), along.next()) {
            index[level] = first[level] + (wanted - subscript.at(&first)?) / subscript.coefficients[level];
            found.insert(level);
        }
    }
    let is_inside = index.iter().zip(&stage.loops).all(|(index, level)| (level.min..=level.max()).contains(index));
    let is_only = (0..within).filter(runs).all(|level| found.contains(&level));
    (is_inside && is_only && self::element(&stage.write, &index)? == element).then_some(index)
}

/// The index of the loop along a dimension, if there is one, with which a stage writes elements with this coordinate; nothing
/// if it writes none.
fn coordinate(stage: &Stage, dimension: usize, wanted: i64) -> Option<Option<(usize, i64)>> {
    let subscript = &stage.write.subscripts[dimension];
    let steps = wanted - subscript.constant;
    let Some(level) = subscript.single_loop().ok()? else {
        return (steps == 0).then_some(None);
    };
    let coefficient = subscript.coefficients[level];
    let place = steps / coefficient;
    let bounds = &stage.loops[level];
    (steps % coefficient == 0 && (bounds.min..=bounds.max()).contains(&place)).then_some(Some((level, place)))
}
