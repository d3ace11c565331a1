//! The proof that the nodes of an application graph are those of the stages that they name.

use std::collections::HashSet;

use itertools::Itertools;
use pushmem_datapaths::{Datapath, NodeKind};
use pushmem_graph::{
    ApplicationGraph, BitDriver, BitId, CounterId, Edge, KernelId, StreamElements, Variable, WordDriver, WordId,
};
use pushmem_nest::{Level, Word};
use pushmem_stages::Origin;

use crate::context::Context;
use crate::counters;
use crate::error::{PartError, require};

/// Checks that each stage has one node, that kernels begin in the cycles of their stages, and that each net has a driver.
///
/// # Errors
/// The first node that is wrong.
pub(crate) fn check(context: Context, graph: &ApplicationGraph) -> Result<(), PartError> {
    counters_and_bits(graph)?;
    stages(context, graph)?;
    graph.kernels.indices().try_for_each(|kernel| check_kernel(context, graph, kernel))?;
    graph.words.indices().try_for_each(|net| check_net(context, graph, net))?;
    streams(context, graph)?;
    for copy in &graph.copies {
        let part = || context.name(copy.stage);
        let latency = context.staged.pipeline.stages[copy.stage].latency;
        let only_load = context.datapath(copy.stage).is_some_and(|datapath| {
            datapath.nodes()[datapath.result()].kind == NodeKind::Load(copy.load) && datapath.latency() == latency
        });
        let is_selection =
            |&net: &WordId| matches!(graph.words[net].driver, WordDriver::Select(_) | WordDriver::Port { .. });
        let each = copy.nets.is_empty() || copy.nets.len() == context.words(copy.stage).len();
        require(each, part, "it has no net for each word of its results")?;
        require(only_load && copy.nets.iter().all(is_selection), part, "it does not only pass on this load")?;
    }
    for constant in &graph.constants {
        let always = context.datapath(constant.stage).and_then(Datapath::constant);
        let mut words = context.words(constant.stage).iter();
        let right = always.is_some_and(|number| words.all(|word| word.of(number) == word.of(i64::from(constant.bits))));
        require(right, || context.name(constant.stage), "its result is not always this word")?;
    }
    arrays(context, graph)?;
    let last = graph.outputs.iter().map(|stream| graph.counters[stream.counter].last() + 1).max();
    let right = i128::from(graph.length) == i128::from(last.unwrap_or(0));
    require(right, || graph.name.clone(), "its run does not end with the last output")
}

/// Checks that hardware can follow each counter, that bits are about its loops, and that something counts by each counter and takes each
/// bit: nothing else says what they are to be.
fn counters_and_bits(graph: &ApplicationGraph) -> Result<(), PartError> {
    let name = || graph.name.clone();
    require(graph.counters.iter().all(counters::is_possible), name, "one of its counters has no such schedule")?;
    let used: HashSet<CounterId> = graph.used_counters().collect();
    require(
        graph.counters.indices().all(|counter| used.contains(&counter)),
        name,
        "nothing counts by one of its counters",
    )?;
    let taken: HashSet<BitId> = graph.taken_bits().collect();
    for (number, bit) in graph.bits.iter_enumerated() {
        let (BitDriver::Indices { counter, .. } | BitDriver::Begins(counter)) = &bit.driver;
        let extents = graph.counters.get(*counter).map(|counter| &counter.extent);
        let is_index = extents.is_some_and(|extents| match &bit.driver {
            BitDriver::Begins(_) => true,
            BitDriver::Indices { conditions, .. } => conditions
                .iter()
                .all(|(level, condition)| extents.get(*level).is_some_and(|extent| condition.is_within(*extent))),
        });
        require(is_index, || bit.name.clone(), "it is about indices that there are not")?;
        require(taken.contains(&number), || bit.name.clone(), "nothing takes this bit")?;
    }
    Ok(())
}

/// Checks that a net is the one of its driver, that it has words when the results come that it carries, and that it comes after those on
/// which it depends within a cycle.
fn check_net(context: Context, graph: &ApplicationGraph, number: WordId) -> Result<(), PartError> {
    let net = &graph.words[number];
    let before = |edge: &Edge| !matches!(*edge, Edge::Net { net, delay: 0 } if net >= number);
    let right = match &net.driver {
        WordDriver::Input { stream, lane } => {
            let lane = graph.inputs.get(*stream).and_then(|stream| stream.lanes.get(*lane));
            lane.is_some_and(|lane| lane.net == number)
        }
        WordDriver::Kernel { kernel, word } => {
            let kernel = &graph.kernels[*kernel];
            let datapath = &context.datapaths[kernel.operation];
            // Behind a register, words may come back.
            let late = |load: usize| datapath.latency() > datapath.arrival(load);
            let operands = datapath.operands().into_iter().zip(&kernel.operands);
            kernel.nets.get(word.number()) == Some(&number)
                && operands.into_iter().all(|((load, _), edge)| late(load) || before(edge))
        }
        WordDriver::Select(choices) => {
            let last = choices.iter().position(|choice| choice.when.is_none());
            last.is_some_and(|last| last + 1 == choices.len()) && choices.iter().all(|choice| before(&choice.edge))
        }
        WordDriver::Hold(hold) => before(&hold.edge),
        // Arrays are asked for the nets of their ports.
        WordDriver::Port { .. } => true,
        WordDriver::Ram { ram, read } => graph.rams.get(*ram).is_some_and(|ram| {
            *read < ram.reads.len() && ram.writes.iter().all(|write| before(&write.element) && before(&write.address))
        }),
    };
    require(right, || net.name.clone(), "nothing drives it")?;
    let Some(result) = &net.result else { return Ok(()) };
    let comes = context.counted(&result.words, result.stage, context.staged.pipeline.stages[result.stage].latency);
    let name = || context.name(result.stage);
    require(comes.is_some(), name, "its net has words in other cycles than its results come")
}

/// Checks that streams are of their arrays, and that words from outside go to their nets.
fn streams(context: Context, graph: &ApplicationGraph) -> Result<(), PartError> {
    let check = |stream: StreamElements, stages: Vec<Option<usize>>| {
        let declared = context.program.arrays.get(stream.array);
        let is_of_array = |stage: &Option<usize>| {
            stage.is_some_and(|stage| context.staged.pipeline.stages[stage].write.array == stream.array)
        };
        let levels = graph.counters.get(stream.counter).map(|counter| counter.extent.len());
        let right = declared.is_some_and(|array| array.element == stream.element)
            && stages.iter().all(is_of_array)
            && stream.lanes.iter().all(|element| Some(element.stride.len()) == levels);
        require(right, || stream.name.to_owned(), "its beats are not the results of its stages")
    };
    for (number, stream) in graph.inputs.iter_enumerated() {
        let nets = stream.lanes.iter().map(|lane| &graph.words[lane.net]);
        let drives = |lane: usize| WordDriver::Input { stream: number, lane };
        let right = nets.clone().enumerate().all(|(lane, net)| net.driver == drives(lane));
        require(right, || stream.name.clone(), "its words do not go to their nets")?;
        check(stream.into(), nets.map(|net| net.result.as_ref().map(|result| result.stage)).collect())?;
    }
    graph
        .outputs
        .iter()
        .try_for_each(|stream| check(stream.into(), stream.lanes.iter().map(|lane| Some(lane.stage)).collect()))
}

/// Checks that arrays are kept at their levels, that each read port drives a net, and that none is read after the last stage: nothing takes
/// such words, so that nothing else looks at their number.
fn arrays(context: Context, graph: &ApplicationGraph) -> Result<(), PartError> {
    let stages = context.staged.pipeline.stages.iter().zip(&context.schedule.stages);
    let end = stages.map(|(stage, cycles)| stage.last_cycle(cycles) + stage.latency as i64).max().unwrap_or(0);
    let driving = graph.words.iter().filter_map(|net| match net.driver {
        WordDriver::Port { array, port } => Some((array, port)),
        _ => None,
    });
    let arrays = graph.arrays.iter_enumerated();
    let reads = arrays.flat_map(|(number, array)| array.buffer.reads().map(move |(port, _)| (number, port)));
    require(reads.eq(driving.sorted()), || graph.name.clone(), "a read port of an array drives no net, or several")?;
    for array in &graph.arrays {
        let level = context.program.arrays.get(array.array).map(|array| array.level.unwrap_or(Level::Memory));
        require(level == Some(array.level), || array.buffer.name.clone(), "it is kept at another level")?;
        let in_time = array.buffer.reads().all(|(_, port)| *port.range(&port.schedule).end() <= i128::from(end));
        require(in_time, || array.buffer.name.clone(), "it is read after all stages")?;
    }
    Ok(())
}

/// Checks that each stage is an input, a kernel, a copy or a constant, once; of an input, each word of its elements.
fn stages(context: Context, graph: &ApplicationGraph) -> Result<(), PartError> {
    let Context { staged, .. } = context;
    let inputs = graph.inputs.iter().flat_map(|stream| &stream.lanes).map(|lane| {
        let stage = graph.words[lane.net].result.as_ref().map(|result| result.stage);
        let words = stage.map_or(1, |stage| context.words(stage).len() as i64);
        (stage, lane.element.start.rem_euclid(words), true)
    });
    let all = |stage: usize| (0..context.words(stage).len() as i64).map(move |word| (Some(stage), word, false));
    let kernels = graph.kernels.indices().map(|kernel| graph.stage_of(kernel));
    let copies = graph.copies.iter().map(|copy| copy.stage);
    let constants = graph.constants.iter().map(|constant| constant.stage);
    let mut known = HashSet::new();
    for (stage, word, is_input) in inputs.chain(kernels.chain(copies).chain(constants).flat_map(all)) {
        let origin = stage.and_then(|stage| staged.origins.get(stage));
        let part = || stage.map_or(graph.name.clone(), |stage| context.name(stage));
        let right = origin.is_some_and(|origin| matches!(origin, Origin::Input { .. }) == is_input);
        require(right, part, "it is an input here, and none in the program, or the other way round")?;
        require(known.insert((stage, word)), part, "it has two nodes")?;
    }
    let has_all = |&stage: &usize| all(stage).all(|(stage, word, _)| known.contains(&(stage, word)));
    let missing = (0..staged.pipeline.stages.len()).find(|stage| !has_all(stage));
    require(missing.is_none(), || context.name(missing.unwrap_or(0)), "no node executes it")
}

fn check_kernel(context: Context, graph: &ApplicationGraph, number: KernelId) -> Result<(), PartError> {
    let Context { program, staged, .. } = context;
    let (kernel, stage) = (&graph.kernels[number], graph.stage_of(number));
    let content = &staged.pipeline.stages[stage];
    let part = || context.name(stage);
    let drives =
        |(&net, &word): (&WordId, &Word)| graph.words[net].driver == WordDriver::Kernel { kernel: number, word };
    let results = context.words(stage);
    let each = kernel.nets.len() == results.len() && kernel.nets.iter().zip(results).all(drives);
    let same = kernel.nets.iter().all(|&net| graph.words[net].result.as_ref().is_some_and(|of| of.stage == stage));
    require(each && same, part, "its kernel has no net for each word of its results")?;
    let of_operation = match &staged.origins[stage] {
        Origin::Operation { operation, lanes } if *operation == kernel.operation => {
            context.datapath(stage).zip(Some(lanes))
        }
        Origin::Operation { .. } | Origin::Input { .. } => None,
    };
    let wrong = "its kernel is that of another operation";
    let Some((datapath, lanes)) = of_operation else { return require(false, part, wrong) };
    let loads = content.reads.iter().map(|read| program.arrays[read.array].element);
    let variables = datapath.variables();
    let right = datapath.result_type() == program.arrays[content.write.array].written()
        && loads.eq(datapath.loads().iter().copied())
        && kernel.operands.len() == datapath.operands().len()
        && [kernel.latency, datapath.latency()] == [content.latency; 2]
        && kernel.variables.len() == variables.len();
    require(right, part, wrong)?;
    let begins = context.counted(&kernel.iterations, stage, 0).is_some();
    require(begins, part, "its kernel begins in other cycles than the stage")?;
    let counted = kernel.counter.map(|counter| context.counted(&graph.counters[counter], stage, 0));
    require(counted != Some(None), part, "its kernel counts the loops of another stage")?;
    let counted = counted.flatten();
    let of_stage = (context.sequence.operations[kernel.operation].0.as_slice(), content, lanes.as_slice());
    let follows =
        |(&number, variable): (&usize, &Variable)| counters::follows(variable, number, of_stage, counted.as_deref());
    let right = variables.iter().zip(&kernel.variables).all(follows);
    require(right, part, "a loop variable of its kernel has other values")
}
