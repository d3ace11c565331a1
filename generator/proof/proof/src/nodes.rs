//! The proof that the nodes of an application graph are those of the stages that they name.

use std::collections::HashSet;

use pushmem_datapaths::{Datapath, NodeKind};
use pushmem_nest::{Program, Word};
use pushmem_stages::{Origin, Schedule, Staged};

use crate::context::Context;
use crate::counters;
use crate::error::{PartError, require};
use pushmem_graph::{ApplicationGraph, BitId, CounterId, KernelId, Variable, WordDriver, WordId};

/// Checks that each stage has one node, and that kernels begin in the cycles of their stages.
///
/// # Errors
/// The first node that is wrong.
pub(crate) fn check(context: Context, graph: &ApplicationGraph) -> Result<(), PartError> {
    let Context { program, staged, schedule, .. } = context;
    stages(program, staged, graph)?;
    graph.kernels.indices().try_for_each(|kernel| check_kernel(context, graph, kernel))?;
    for result in graph.words.iter().filter_map(|net| net.result.as_ref()) {
        let content = &staged.pipeline.stages[result.stage];
        let times = &schedule.stages[result.stage];
        let comes = counters::counted(&result.words, content, times, content.latency).is_some();
        require(comes, || name(staged, result.stage), "its net has words in other cycles than its results come")?;
    }
    for copy in &graph.copies {
        let only_load = context
            .datapath(copy.stage)
            .is_some_and(|datapath| datapath.nodes()[datapath.result()].kind == NodeKind::Load(copy.load));
        let selects = copy
            .nets
            .iter()
            .all(|&net| matches!(graph.words[net].driver, WordDriver::Select(_) | WordDriver::Port { .. }));
        let each = copy.nets.is_empty() || copy.nets.len() == words(program, staged, copy.stage).len();
        require(each, || name(staged, copy.stage), "it has no net for each word of its results")?;
        require(only_load && selects, || name(staged, copy.stage), "it does not only pass on this load")?;
    }
    for constant in &graph.constants {
        let always = context.datapath(constant.stage).and_then(Datapath::constant);
        let words = words(program, staged, constant.stage).iter();
        let right =
            always.is_some_and(|number| words.clone().all(|word| word.of(number) == word.of(i64::from(constant.bits))));
        require(right, || name(staged, constant.stage), "its result is not always this word")?;
    }
    each_is_used(graph)?;
    reads_end(staged, schedule, graph)?;
    let last = graph.outputs.iter().map(|stream| graph.counters[stream.counter].last() + 1).max();
    let right = i128::from(graph.length) == i128::from(last.unwrap_or(0));
    require(right, || graph.name.clone(), "its run does not end with the last output")
}

/// Checks that something counts by each counter, and that something takes each bit: nothing else says what they are to be.
fn each_is_used(graph: &ApplicationGraph) -> Result<(), PartError> {
    let counters: HashSet<CounterId> = graph.used_counters().collect();
    let unused = graph.counters.indices().find(|counter| !counters.contains(counter));
    require(unused.is_none(), || graph.name.clone(), "nothing counts by one of its counters")?;
    let bits: HashSet<BitId> = graph.taken_bits().collect();
    let unused = graph.bits.iter_enumerated().find(|(bit, _)| !bits.contains(bit));
    require(unused.is_none(), || unused.map_or(String::new(), |(_, bit)| bit.name.clone()), "nothing takes this bit")
}

/// Checks that no array is read after the last stage: nothing takes such words, so that nothing else looks at their number.
fn reads_end(staged: Staged, schedule: &Schedule, graph: &ApplicationGraph) -> Result<(), PartError> {
    let stages = staged.pipeline.stages.iter().zip(&schedule.stages);
    let end = stages.map(|(stage, cycles)| stage.last_cycle(cycles) + stage.latency as i64).max().unwrap_or(0);
    let mut reads = graph.arrays.iter().flat_map(|array| array.buffer.reads());
    let late = reads.find(|(_, port)| *port.range(&port.schedule).end() > i128::from(end));
    require(late.is_none(), || late.map_or(String::new(), |(_, port)| port.name.clone()), "it reads after all stages")
}

/// The words of the results of a stage.
fn words(program: &Program, staged: Staged, stage: usize) -> &'static [Word] {
    let array = staged.pipeline.stages.get(stage).and_then(|stage| program.arrays.get(stage.write.array));
    array.map_or(&[Word::Low], |array| array.written().words())
}

/// Checks that each stage is an input, a kernel, a copy or a constant, once; of an input, each word of its elements.
fn stages(program: &Program, staged: Staged, graph: &ApplicationGraph) -> Result<(), PartError> {
    let inputs = graph.inputs.iter().flat_map(|stream| &stream.lanes).map(|lane| {
        let stage = graph.words[lane.net].result.as_ref().map(|result| result.stage);
        let words = stage.map_or(1, |stage| words(program, staged, stage).len() as i64);
        (stage, lane.element.start.rem_euclid(words), true)
    });
    let all =
        |stage: usize| (0..words(program, staged, stage).len() as i64).map(move |word| (Some(stage), word, false));
    let kernels = graph.kernels.indices().map(|kernel| graph.stage_of(kernel));
    let copies = graph.copies.iter().map(|copy| copy.stage);
    let constants = graph.constants.iter().map(|constant| constant.stage);
    let mut known = HashSet::new();
    for (stage, word, is_input) in inputs.chain(kernels.chain(copies).chain(constants).flat_map(all)) {
        let origin = stage.and_then(|stage| staged.origins.get(stage));
        let part = || stage.map_or(graph.name.clone(), |stage| name(staged, stage));
        let right = origin.is_some_and(|origin| matches!(origin, Origin::Input { .. }) == is_input);
        require(right, part, "it is an input here, and none in the program, or the other way round")?;
        require(known.insert((stage, word)), part, "it has two nodes")?;
    }
    let has_all = |&stage: &usize| all(stage).all(|(stage, word, _)| known.contains(&(stage, word)));
    let missing = (0..staged.pipeline.stages.len()).find(|stage| !has_all(stage));
    require(missing.is_none(), || name(staged, missing.unwrap_or(0)), "no node executes it")
}

fn check_kernel(context: Context, graph: &ApplicationGraph, number: KernelId) -> Result<(), PartError> {
    let Context { program, staged, schedule, .. } = context;
    let (kernel, stage) = (&graph.kernels[number], graph.stage_of(number));
    let (content, times) = (&staged.pipeline.stages[stage], &schedule.stages[stage]);
    let part = || name(staged, stage);
    let operands = content.reads.iter().map(|read| program.arrays[read.array].element.words().len());
    let drives =
        |(&net, &word): (&WordId, &Word)| graph.words[net].driver == WordDriver::Kernel { kernel: number, word };
    let results = words(program, staged, stage);
    let each = kernel.nets.len() == results.len() && kernel.nets.iter().zip(results).all(drives);
    let same = kernel.nets.iter().all(|&net| graph.words[net].result.as_ref().is_some_and(|of| of.stage == stage));
    require(each && same, part, "its kernel has no net for each word of its results")?;
    let lanes = match &staged.origins[stage] {
        Origin::Operation { operation, lanes } if *operation == kernel.operation => Some(lanes.as_slice()),
        Origin::Operation { .. } | Origin::Input { .. } => None,
    };
    let variables = context.datapath(stage).map_or_else(Vec::new, Datapath::variables);
    let right = lanes.is_some()
        && kernel.operands.len() == operands.sum::<usize>()
        && kernel.latency == content.latency
        && kernel.variables.len() == variables.len();
    require(right, part, "its kernel is that of another operation")?;
    let begins = counters::counted(&kernel.iterations, content, times, 0).is_some();
    require(begins, part, "its kernel begins in other cycles than the stage")?;
    let counted = kernel.counter.map(|counter| counters::counted(&graph.counters[counter], content, times, 0));
    require(counted != Some(None), part, "its kernel counts the loops of another stage")?;
    let counted = counted.flatten();
    let of_stage = (context.sequence.operations[kernel.operation].0.as_slice(), content, lanes.unwrap_or_default());
    let follows =
        |(&number, variable): (&usize, &Variable)| counters::follows(variable, number, of_stage, counted.as_deref());
    let right = variables.iter().zip(&kernel.variables).all(follows);
    require(right, part, "a loop variable of its kernel has other values")
}

fn name(staged: Staged, stage: usize) -> String {
    staged.pipeline.stages[stage].name.clone()
}
