//! The stages of a pipeline, copies of one operation told once.

use itertools::Itertools;
use pushmem_compiler::Compiled;
use pushmem_extraction::Origin;
use pushmem_nest::{Loop, Operation, Printer};
use pushmem_realization::Dedicated;
use serde::Serialize;

use crate::sequence::Sequence;

/// The hardware that executes a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Executed {
    /// Words come from outside.
    Stream,
    /// A kernel computes.
    Kernel,
    /// Nothing: words are passed on.
    Copy,
    /// Nothing: the result is always the same.
    Constant,
}

/// An operation or an input: stages that run in the same cycles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageRow {
    /// The operation, or the input.
    pub name: String,
    /// The statement, if it is an operation.
    pub statement: Option<String>,
    /// The line of the statement in the text of the program, from 1.
    pub line: Option<usize>,
    /// The hardware that executes it.
    pub executed: Executed,
    /// Stages that run in the same cycles: copies of an unrolled operation, lanes of an input.
    pub copies: usize,
    /// Its iterations, each in the cycle in which it reads.
    pub sequence: Sequence,
    /// Cycles from reading to writing.
    pub latency: u64,
    /// The arrays that it reads, indices of [`crate::Contents::arrays`].
    pub reads: Vec<usize>,
    /// The array that it writes, likewise.
    pub writes: usize,
    /// The operations of all copies, in processing elements.
    pub processing_elements: u64,
    /// The multipliers of all copies.
    pub multipliers: u64,
    /// The compute unit that it shares with others.
    pub unit: Option<String>,
}

/// The number of each stage's group, in order.
pub(crate) fn groups(compiled: &Compiled) -> Vec<usize> {
    let stages = &compiled.extraction.pipeline.stages;
    let mut number = 0;
    let of_stage = |(place, stage): (usize, &pushmem_schedule::Stage)| {
        number += usize::from(place > 0 && stages[place - 1].group != stage.group);
        number
    };
    stages.iter().enumerate().map(of_stage).collect()
}

/// The stages of a compiled program, in its order, with this text; `groups` are the numbers of their rows.
pub(crate) fn stages(compiled: &Dedicated, groups: &[usize], text: &str) -> Vec<StageRow> {
    let lines = lines(compiled, text);
    let numbered = groups.iter().enumerate().chunk_by(|(_, group)| **group);
    let rows = numbered.into_iter().map(|(_, members)| members.map(|(stage, _)| stage).collect_vec());
    rows.map(|members| stage(compiled, &members, &lines)).collect()
}

/// The line of each operation in the text of the program, from 1. Operations stand there in their order.
fn lines(compiled: &Compiled, text: &str) -> Vec<Option<usize>> {
    let program = &compiled.program;
    let mut numbered = text.lines().zip(1..);
    let mut line_of = |statement: &str| {
        let rest = numbered.clone();
        let (found, number) = rest.into_iter().find(|(line, _)| line.contains(statement))?;
        numbered.by_ref().find(|(line, _)| *line == found)?;
        Some(number)
    };
    let operations = program.operations();
    let statement = |(loops, operation): &(Vec<&Loop>, &Operation)| Printer { program, loops, operation }.statement();
    operations.iter().map(|operation| line_of(&statement(operation))).collect()
}

fn stage(compiled: &Dedicated, members: &[usize], lines: &[Option<usize>]) -> StageRow {
    let Dedicated { compiled: Compiled { program, extraction, schedule, .. }, accelerator, .. } = compiled;
    let pipeline = &extraction.pipeline;
    // Copies at the edge of an image may have fewer iterations.
    let longest = members.iter().copied().max_by_key(|&stage| {
        let extents = pipeline.stages[stage].loops.iter().map(|level| level.extent);
        extents.product::<u64>()
    });
    let longest = longest.expect("a group has a stage");
    let content = &pipeline.stages[longest];
    let (name, statement, unit, line) = match &extraction.origins[longest] {
        Origin::Input { array, .. } => (program.arrays[*array].name.clone(), None, None, None),
        Origin::Operation { operation, .. } => {
            let line = lines[*operation];
            let (loops, operation) = &program.operations()[*operation];
            let statement = Printer { program, loops, operation }.statement();
            (operation.name.clone(), Some(statement), operation.unit().map(str::to_owned), line)
        }
    };
    let kernels = accelerator.kernels.iter().filter(|kernel| members.contains(&kernel.stage)).collect_vec();
    let datapaths = || kernels.iter().map(|kernel| &accelerator.datapaths[kernel.datapath].datapath);
    StageRow {
        name,
        line,
        executed: match &extraction.origins[longest] {
            Origin::Input { .. } => Executed::Stream,
            Origin::Operation { .. } => executed(compiled, longest),
        },
        statement,
        copies: members.len(),
        sequence: Sequence::of_stage(content, &schedule.stages[longest]),
        latency: content.latency,
        reads: members
            .iter()
            .flat_map(|&stage| &pipeline.stages[stage].reads)
            .map(|read| read.array)
            .unique()
            .sorted()
            .collect(),
        writes: content.write.array,
        processing_elements: datapaths().map(|datapath| datapath.processing_elements()).sum(),
        multipliers: datapaths().map(|datapath| datapath.multipliers()).sum(),
        unit,
    }
}

fn executed(compiled: &Dedicated, stage: usize) -> Executed {
    if compiled.graph.constants.iter().any(|constant| constant.stage == stage) {
        Executed::Constant
    } else if compiled.accelerator.kernels.iter().any(|kernel| kernel.stage == stage) {
        Executed::Kernel
    } else {
        Executed::Copy
    }
}
