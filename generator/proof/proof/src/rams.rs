//! The proof that arrays in random-access memories keep the order of the program.
//!
//! Data choose the elements, so that any two accesses may be of the same one. Hence all of them are in the order of the program: a read
//! shows the writes before it and no other.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_datapaths::{Datapath, READ_LATENCY};
use pushmem_graph::{Accelerator, ApplicationGraph, Counter, Driver, Edge, Source, WordDriver};
use pushmem_nest::Word;

use crate::context::Context;
use crate::counters;
use crate::error::{PartError, require};
use crate::order::each_in_order;

/// A random-access memory of a graph.
struct Ram<'a> {
    array: usize,
    /// The elements that it has room for.
    words: usize,
    writes: Vec<Write<'a>>,
    reads: Vec<Read<'a>>,
}

/// A write, which may have any source.
struct Write<'a> {
    stage: usize,
    counter: Option<&'a Counter>,
    element: Word16,
    address: Word16,
}

/// A word that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word16 {
    /// That of the result of the kernel of a stage, in the same cycle.
    Result(usize, Word),
    Constant(u16),
    Other,
}

/// A read.
struct Read<'a> {
    stage: usize,
    load: usize,
    port: usize,
    counter: Option<&'a Counter>,
    /// Whether what it shows is this load of the kernel of the stage, and this kernel gives the address.
    is_connected: bool,
}

/// Checks the random-access memories of an accelerator.
///
/// # Errors
/// The first memory that is wrong.
pub(crate) fn check_accelerator(context: Context, accelerator: &Accelerator) -> Result<(), PartError> {
    let source = |source: Source| match source {
        Source::Constant(word) => Word16::Constant(word),
        Source::Wire(wire) => match accelerator.wires.get(wire).map(|wire| &wire.driver) {
            Some(Driver::Kernel { kernel, word }) => Word16::Result(accelerator.kernels[*kernel].stage, *word),
            _ => Word16::Other,
        },
    };
    let of_ram = |(number, ram): (pushmem_graph::RamId, &pushmem_graph::Ram)| {
        let writes = ram.writes.iter().map(|write| Write {
            stage: write.stage,
            counter: accelerator.counters.get(write.counter),
            element: source(write.element),
            address: source(write.address),
        });
        let reads = ram.reads.iter().enumerate().map(|(read, of)| {
            let kernel = accelerator.kernels.get(of.kernel);
            let operand = kernel.and_then(|kernel| {
                let operands = accelerator.datapaths.get(kernel.datapath)?.datapath.operands();
                let place = operands.iter().position(|(load, _)| *load == of.load)?;
                kernel.operands.get(place).copied()
            });
            let driver = accelerator.wires.get(of.wire).map(|wire| &wire.driver);
            let is_shown = driver == Some(&Driver::Ram { ram: number, read });
            Read {
                stage: kernel.map_or(usize::MAX, |kernel| kernel.stage),
                load: of.load,
                port: of.port,
                counter: accelerator.counters.get(of.counter),
                is_connected: is_shown
                    && operand == Some(Source::Wire(of.wire))
                    && accelerator.unit_of(of.kernel).is_none(),
            }
        });
        Ram { array: ram.array, words: ram.words as usize, writes: writes.collect(), reads: reads.collect() }
    };
    let rams = accelerator.rams.iter_enumerated().map(of_ram).collect_vec();
    let kept: BTreeSet<usize> = accelerator.arrays.iter().map(|array| array.array).collect();
    check(context, &rams, &kept)
}

/// Checks the random-access memories of an application graph.
///
/// # Errors
/// The first memory that is wrong.
pub(crate) fn check_graph(context: Context, graph: &ApplicationGraph) -> Result<(), PartError> {
    let source = |edge: Edge| match edge {
        Edge::Constant(word) => Word16::Constant(word),
        Edge::Net { net, delay: 0 } => match (&graph.words[net].driver, &graph.words[net].result) {
            (WordDriver::Kernel { word, .. }, Some(result)) => Word16::Result(result.stage, *word),
            _ => Word16::Other,
        },
        Edge::Net { .. } => Word16::Other,
    };
    let of_ram = |(number, ram): (pushmem_graph::RamId, &pushmem_graph::RamNode)| {
        let writes = ram.writes.iter().map(|write| Write {
            stage: write.stage,
            counter: graph.counters.get(write.counter),
            element: source(write.element),
            address: source(write.address),
        });
        let reads = ram.reads.iter().enumerate().map(|(read, of)| {
            let kernel = graph.kernels.indices().find(|&kernel| graph.stage_of(kernel) == of.stage);
            let operand = kernel.and_then(|kernel| {
                let node = &graph.kernels[kernel];
                let operands = context.datapaths.get(node.operation)?.operands();
                let place = operands.iter().position(|(load, _)| *load == of.load)?;
                node.operands.get(place).copied()
            });
            let net = graph.words.position(|net| net.driver == WordDriver::Ram { ram: number, read });
            let is_connected = net.is_some_and(|net| operand == Some(Edge::Net { net, delay: 0 }));
            let in_unit = kernel.is_some_and(|kernel| graph.units.iter().any(|unit| unit.kernels.contains(&kernel)));
            Read {
                stage: of.stage,
                load: of.load,
                port: of.port,
                counter: graph.counters.get(of.counter),
                is_connected: is_connected && !in_unit,
            }
        });
        let words = context.program.arrays.get(ram.array).map_or(0, |array| array.size());
        Ram { array: ram.array, words, writes: writes.collect(), reads: reads.collect() }
    };
    let rams = graph.rams.iter_enumerated().map(of_ram).collect_vec();
    let kept: BTreeSet<usize> = graph.arrays.iter().map(|array| array.array).collect();
    check(context, &rams, &kept)
}

fn check(context: Context, rams: &[Ram], kept: &BTreeSet<usize>) -> Result<(), PartError> {
    let arrays = &context.program.arrays;
    let chosen = (0..arrays.len()).filter(|&array| arrays[array].random_access).collect_vec();
    let found = rams.iter().map(|ram| ram.array).sorted().collect_vec();
    let name = || context.program.name.clone();
    require(
        found == chosen,
        name,
        "arrays whose elements data choose have one random-access memory each, and no others",
    )?;
    rams.iter().try_for_each(|ram| {
        let name = || arrays[ram.array].name.clone();
        require(!kept.contains(&ram.array), name, "tiles keep an array that is in a random-access memory")?;
        require(ram.words == arrays[ram.array].size(), name, "its memory has another size")?;
        check_writes(context, ram)?;
        check_reads(context, ram)?;
        check_order(context, ram)
    })
}

/// Checks that each stage that writes the array gives its element and its address when it has both, out of a register.
fn check_writes(context: Context, ram: &Ram) -> Result<(), PartError> {
    let Context { staged, schedule, .. } = context;
    let stages = &staged.pipeline.stages;
    let writers = stages.iter().positions(|stage| stage.write.array == ram.array).collect_vec();
    let found = ram.writes.iter().map(|write| write.stage).sorted().collect_vec();
    let array = || context.program.arrays[ram.array].name.clone();
    require(found == writers, array, "a stage that writes it has no write port, or several")?;
    for write in &ram.writes {
        let stage = &stages[write.stage];
        let name = || stage.name.clone();
        let datapath = context.datapath(write.stage);
        let always = datapath.and_then(Datapath::constant);
        let is = |found: Word16, word: Word| match always {
            Some(number) => found == Word16::Constant(word.of(number)),
            None => found == Word16::Result(write.stage, word),
        };
        let right = is(write.element, Word::Low) && is(write.address, Word::High);
        require(right, name, "its random-access memory takes other words than its element and its address")?;
        let counted = write.counter.is_some_and(|counter| {
            counters::counted(counter, stage, &schedule.stages[write.stage], stage.latency).is_some()
        });
        require(counted, name, "its random-access memory takes its elements in other cycles")?;
        let registered = always.is_some() || datapath.is_some_and(|datapath| datapath.latency() > 0);
        require(registered, name, "what it writes to a random-access memory comes out of no register")?;
    }
    Ok(())
}

/// Checks that each load of an element of the array has a read port, and takes its word when that shows it.
fn check_reads(context: Context, ram: &Ram) -> Result<(), PartError> {
    let stages = &context.staged.pipeline.stages;
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
                .all(|read| datapath.arrival(load) == read.stage + READ_LATENCY && ram.words <= 1 << read.address_bits);
            require(of_load.len() == 1 && in_time, name, "it takes an element in another cycle than it is shown")?;
            let registered = datapath.latency() > datapath.arrival(load);
            require(registered, name, "its result comes out of no register behind a random-access memory")?;
        }
    }
    let found = ram.reads.iter().map(|read| (read.stage, read.load)).sorted().collect_vec();
    let array = || context.program.arrays[ram.array].name.clone();
    require(found == wanted, array, "a load of its elements has no read port, or several")?;
    let unconnected = ram.reads.iter().find(|read| !read.is_connected);
    require(unconnected.is_none(), array, "a read port shows elements to another load, or has the address of another")?;
    check_ports(context, ram)
}

/// Checks that reads give their addresses in the cycles that their counters say, and that those of one port do so in different ones.
fn check_ports(context: Context, ram: &Ram) -> Result<(), PartError> {
    let Context { staged, schedule, .. } = context;
    let mut taken: BTreeMap<usize, Vec<&Counter>> = BTreeMap::new();
    for read in &ram.reads {
        let stage = &staged.pipeline.stages[read.stage];
        let name = || stage.name.clone();
        let address = context.datapath(read.stage).and_then(|datapath| {
            datapath.memory_reads().into_iter().find(|of| of.load == read.load).map(|of| of.stage)
        });
        let counter = read.counter.filter(|counter| {
            address.is_some_and(|late| counters::counted(counter, stage, &schedule.stages[read.stage], late).is_some())
        });
        let Some(counter) = counter else {
            return require(false, name, "a random-access memory takes its address in other cycles");
        };
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
fn check_order(context: Context, ram: &Ram) -> Result<(), PartError> {
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
