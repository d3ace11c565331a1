//! The proof that arrays in random-access memories keep the order of the program.
//!
//! Data choose the elements, so that any two accesses may be of the same one. Hence all of them are in the order of the program: a read
//! shows the writes before it and no other.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_datapaths::{Datapath, READ_LATENCY};
use pushmem_graph::{ApplicationGraph, Counter, Edge, RamId, RamNode, WordDriver};
use pushmem_nest::Word;

use crate::context::Context;
use crate::error::{PartError, require};
use crate::order::each_in_order;

/// Checks the random-access memories of an application graph.
///
/// # Errors
/// The first memory that is wrong.
pub(crate) fn check(context: Context, graph: &ApplicationGraph) -> Result<(), PartError> {
    let arrays = &context.program.arrays;
    let chosen = (0..arrays.len()).filter(|&array| arrays[array].random_access).collect_vec();
    let found = graph.rams.iter().map(|ram| ram.array).sorted().collect_vec();
    let name = || context.program.name.clone();
    require(
        found == chosen,
        name,
        "arrays whose elements data choose have one random-access memory each, and no others",
    )?;
    graph.rams.iter_enumerated().try_for_each(|(number, ram)| {
        let name = || arrays[ram.array].name.clone();
        let is_kept = graph.arrays.iter().any(|array| array.array == ram.array);
        require(!is_kept, name, "tiles keep an array that is in a random-access memory")?;
        check_writes(context, graph, ram)?;
        check_reads(context, graph, number)?;
        check_ports(context, graph, ram)?;
        check_order(context, ram)
    })
}

/// Checks that each stage that writes the array gives its element and its address when it has both, out of a register.
fn check_writes(context: Context, graph: &ApplicationGraph, ram: &RamNode) -> Result<(), PartError> {
    let stages = &context.staged.pipeline.stages;
    let writers = stages.iter().positions(|stage| stage.write.array == ram.array).collect_vec();
    let found = ram.writes.iter().map(|write| write.stage).sorted().collect_vec();
    let array = || context.program.arrays[ram.array].name.clone();
    require(found == writers, array, "a stage that writes it has no write port, or several")?;
    for write in &ram.writes {
        let stage = &stages[write.stage];
        let name = || stage.name.clone();
        let datapath = context.datapath(write.stage);
        let always = datapath.and_then(Datapath::constant);
        let is = |found: Edge, word: Word| match (always, found) {
            (Some(number), _) => found == Edge::Constant(word.of(number)),
            (None, Edge::Net { net, delay: 0 }) => {
                let stage = graph.words[net].result.as_ref().map(|result| result.stage);
                let is_word = matches!(graph.words[net].driver, WordDriver::Kernel { word: of, .. } if of == word);
                is_word && stage == Some(write.stage)
            }
            (None, _) => false,
        };
        let right = is(write.element, Word::Low) && is(write.address, Word::High);
        require(right, name, "its random-access memory takes other words than its element and its address")?;
        let counted = context.counted(&graph.counters[write.counter], write.stage, stage.latency);
        require(counted.is_some(), name, "its random-access memory takes its elements in other cycles")?;
        let registered = always.is_some() || datapath.is_some_and(|datapath| datapath.latency() > 0);
        require(registered, name, "what it writes to a random-access memory comes out of no register")?;
    }
    Ok(())
}

/// Checks that each load of an element of the array has a read port, and takes its word when that shows it.
fn check_reads(context: Context, graph: &ApplicationGraph, number: RamId) -> Result<(), PartError> {
    let (ram, program) = (&graph.rams[number], context.program);
    let stages = &context.staged.pipeline.stages;
    let words = program.arrays[ram.array].size();
    let mut wanted = Vec::new();
    for (stage, content) in stages.iter().enumerate() {
        let Some(datapath) = context.datapath(stage) else { continue };
        for load in content.reads.iter().positions(|read| read.array == ram.array) {
            let name = || content.name.clone();
            let reads = datapath.memory_reads();
            let of_load = reads.iter().filter(|read| read.load == load).collect_vec();
            if of_load.is_empty() {
                require(!datapath.uses(load), name, "it uses an element of a random-access memory without an address")?;
                continue;
            }
            wanted.push((stage, load));
            let in_time = of_load
                .iter()
                .all(|read| datapath.arrival(load) == read.stage + READ_LATENCY && words <= 1 << read.address_bits);
            require(of_load.len() == 1 && in_time, name, "it takes an element in another cycle than it is shown")?;
            let registered = datapath.latency() > datapath.arrival(load);
            require(registered, name, "its result comes out of no register behind a random-access memory")?;
        }
    }
    let found = ram.reads.iter().map(|read| (read.stage, read.load)).sorted().collect_vec();
    let array = || program.arrays[ram.array].name.clone();
    require(found == wanted, array, "a load of its elements has no read port, or several")?;
    let connected = (0..ram.reads.len()).all(|read| is_connected(context, graph, number, read));
    require(connected, array, "a read port shows elements to another load, or has the address of another")
}

/// Whether what a read shows is its load of the kernel of its stage, and this kernel, which is in no unit, gives the address.
fn is_connected(context: Context, graph: &ApplicationGraph, ram: RamId, read: usize) -> bool {
    let of = &graph.rams[ram].reads[read];
    let kernel = graph.kernels.indices().find(|&kernel| graph.stage_of(kernel) == of.stage);
    kernel.is_some_and(|kernel| {
        let operands = context.datapath(of.stage).map(Datapath::operands).unwrap_or_default();
        let place = operands.iter().position(|(load, _)| *load == of.load);
        let driver = match place.and_then(|place| graph.kernels[kernel].operands.get(place)) {
            Some(&Edge::Net { net, delay: 0 }) => Some(&graph.words[net].driver),
            _ => None,
        };
        driver == Some(&WordDriver::Ram { ram, read }) && !graph.units.iter().any(|unit| unit.kernels.contains(&kernel))
    })
}

/// Checks that reads give their addresses in the cycles that their counters say, and that those of one port do so in different ones.
fn check_ports(context: Context, graph: &ApplicationGraph, ram: &RamNode) -> Result<(), PartError> {
    let mut taken: BTreeMap<usize, Vec<&Counter>> = BTreeMap::new();
    for read in &ram.reads {
        let name = || context.name(read.stage);
        let datapath = context.datapath(read.stage);
        let address = datapath.and_then(|of| of.memory_reads().into_iter().find(|of| of.load == read.load));
        let counter = &graph.counters[read.counter];
        let counted = address.is_some_and(|address| context.counted(counter, read.stage, address.stage).is_some());
        require(counted, name, "a random-access memory takes its address in other cycles")?;
        let others = taken.entry(read.port).or_default();
        let alone = others.iter().all(|other| are_apart(other, counter));
        require(alone, name, "a read port of a random-access memory has two addresses in one cycle")?;
        others.push(counter);
    }
    Ok(())
}

/// Whether no two iterations of two counters are in the same cycle. The iterations of a counter are in the order of their cycles.
fn are_apart(one: &Counter, other: &Counter) -> bool {
    if one.last() < other.cycle.start || other.last() < one.cycle.start {
        return true;
    }
    let cycles = |counter: &Counter| {
        let mut found = Vec::new();
        counter.extent.for_each(|index| found.push(counter.cycle.at(index)));
        found
    };
    let (one, other) = (cycles(one), cycles(other));
    one.into_iter().merge(other).tuple_windows().all(|(before, after)| before != after)
}

/// Checks that all accesses are in the order of the program.
fn check_order(context: Context, ram: &RamNode) -> Result<(), PartError> {
    let Context { staged, schedule, sequence, .. } = context;
    let stages = &staged.pipeline.stages;
    let touches = ram.reads.iter().map(|read| read.stage).chain(ram.writes.iter().map(|write| write.stage));
    let touches = touches.sorted().dedup().collect_vec();
    // By stage, when its loads take the element, after the begin of an iteration.
    let late = |stage: usize| {
        let loads = ram.reads.iter().filter(move |read| read.stage == stage);
        loads
            .filter_map(move |read| context.datapath(stage).map(|datapath| datapath.arrival(read.load) as i64))
            .collect_vec()
    };
    let late = (0..stages.len()).map(late).collect_vec();
    let (mut written, mut read) = (None, i64::MIN);
    each_in_order(sequence, &touches, &mut |stage, outer| {
        let (content, times) = (&stages[stage], &schedule.stages[stage]);
        let index = outer.iter().rev().zip(&content.loops).map(|(count, level)| level.min + count);
        let begin = times.start + times.stride.iter().zip(index).map(|(stride, index)| stride * index).sum::<i64>();
        let name = || content.name.clone();
        for late in &late[stage] {
            let shown = begin + late;
            require(written.is_some_and(|written| written <= shown), name, "it reads an element before it is written")?;
            read = read.max(shown);
        }
        if content.write.array == ram.array {
            let at = begin + content.latency as i64;
            let in_order = read < at && written.is_none_or(|before| before < at);
            require(in_order, name, "it writes an element before the one that is there has been read")?;
            written = Some(at);
        }
        Ok(())
    })
}
