//! The stages of a compile as text, in the terms of the papers.

use std::fmt::Write as _;

use itertools::Itertools;
use pushmem_datapaths::Datapath;
use pushmem_files::counted;
use pushmem_graph::{DelayTiles, DelayedNet};
use pushmem_kernels::DatapathGraph;
use pushmem_nest::{Level, Operation};
use pushmem_schedule::{Access, Stage, StageLoop};

use crate::compile::{CoarsePlan, Compiled};

/// A stage that can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileStage {
    /// The program as the compiler understood it.
    LoopNest,
    /// When each stage runs.
    Schedule,
    /// The unified buffer of each array: its ports with iteration domain, access map and schedule.
    Buffers,
    /// The datapath graph of each operation, before any technology.
    Kernels,
    /// The application graph: operations and nets, each edge with its delay.
    Graph,
    /// Arrays and long delays on memory tiles.
    Mapping,
    /// The configuration of each tile.
    Config,
}

impl CompileStage {
    /// The stage of a compiled program as text.
    pub fn text(self, compiled: &Compiled) -> String {
        match self {
            CompileStage::LoopNest => compiled.program.to_string(),
            CompileStage::Schedule => schedule(compiled),
            CompileStage::Buffers => buffers(compiled),
            CompileStage::Kernels => kernels(compiled),
            CompileStage::Graph => compiled.graph.to_string(),
            CompileStage::Mapping => mapping(compiled),
            CompileStage::Config => config(compiled),
        }
    }
}

fn schedule(compiled: &Compiled) -> String {
    let pipeline = &compiled.extraction.pipeline;
    let mut text = String::new();
    for (stage, schedule) in pipeline.stages.iter().zip(&compiled.schedule.stages) {
        let write = format!("{:<20} {}  {}", stage.name, domain(&stage.loops), stage.display(schedule));
        let latency = if stage.latency > 0 { format!("  latency {}", stage.latency) } else { String::new() };
        text += &format!("{write}{latency}\n");
    }
    writeln!(text, "{} cycles", compiled.graph.length).expect("strings can be written");
    match &compiled.coarse {
        Some(CoarsePlan { coarse: Some(coarse), .. }) => {
            write!(text, "\n{coarse}").expect("strings can be written");
        }
        Some(CoarsePlan { coarse: None, .. }) => text += "\none stage after the other, faster than a pipeline\n",
        None => {}
    }
    text
}

fn domain(loops: &[StageLoop]) -> String {
    let names = loops.iter().map(|level| &level.name).join(", ");
    let bounds = loops.iter().map(|level| format!("{} ≤ {} ≤ {}", level.min, level.name, level.max())).join(", ");
    format!("{{({names}) | {bounds}}}")
}

fn buffers(compiled: &Compiled) -> String {
    let pipeline = &compiled.extraction.pipeline;
    let mut text = String::new();
    for (number, array) in pipeline.arrays.iter().enumerate() {
        writeln!(text, "{}:", array.name).expect("strings can be written");
        for (stage, schedule) in pipeline.stages.iter().zip(&compiled.schedule.stages) {
            if stage.write.array == number {
                let late = schedule.shifted(stage.latency as i64);
                text += &port("write", stage, &stage.write, &stage.display(&late));
            }
        }
        for (stage, schedule) in pipeline.stages.iter().zip(&compiled.schedule.stages) {
            for read in stage.reads.iter().filter(|read| read.array == number) {
                text += &port("read", stage, read, &stage.display(schedule));
            }
        }
    }
    text
}

fn port(direction: &str, stage: &Stage, access: &Access, schedule: &str) -> String {
    let elements = access.display(&stage.loops);
    let names = stage.loops.iter().map(|level| &level.name).join(", ");
    format!(
        "  {direction:<5} by {}\n    domain   {}\n    access   ({names}) → {elements}\n    schedule {schedule}\n",
        stage.name,
        domain(&stage.loops),
    )
}

fn kernels(compiled: &Compiled) -> String {
    let operations = compiled.program.operations().into_iter().zip(&compiled.datapaths);
    let kernel = |((_, operation), datapath): ((_, &Operation), &Datapath)| {
        let graph = DatapathGraph::of(&compiled.program, operation);
        let elements = counted(datapath.processing_elements(), "processing element");
        format!("{}: latency {}, {elements}\n{graph}", operation.name, datapath.latency())
    };
    operations.map(kernel).join("\n")
}

fn mapping(compiled: &Compiled) -> String {
    let Compiled { graph, storage, .. } = compiled;
    let arrays = graph.arrays.iter().zip(&storage.arrays).map(|(node, memory)| {
        let level = match node.level {
            Level::Memory => String::new(),
            level => format!(" of {}", level.name()),
        };
        let begin = match memory.begin {
            0 => String::new(),
            begin => format!(", from cycle {begin}"),
        };
        let tiles = counted(memory.mapped.tiles.len(), "tile");
        let words = counted(memory.mapped.live_words, "word");
        format!("array {} in {tiles}{level}{begin}, {words} live\n", node.buffer.name)
    });
    let delays = storage.delays.iter().map(|memory: &DelayTiles| {
        let stream = |DelayedNet { net, from, delays }: &DelayedNet| {
            format!("{}: delays {}", graph.words[*net].name, delays.iter().map(|delay| from + delay).format(", "))
        };
        let streams = memory.streams.iter().map(stream).join(" and of ");
        let tiles = counted(memory.mapped.tiles.len(), "tile");
        format!("memory of {streams} in {tiles}, {} live\n", counted(memory.mapped.live_words, "word"))
    });
    arrays.chain(delays).collect()
}

fn config(compiled: &Compiled) -> String {
    let tiles = compiled.storage.tiles.iter();
    tiles.map(|tile| format!("# {}\n{}", tile.name, tile.configuration.to_yaml())).join("---\n")
}
