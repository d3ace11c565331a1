//! The stages of a compile as text, in the terms of the papers.

use std::fmt::Write as _;

use itertools::Itertools;
use pushmem_files::counted;
use pushmem_graph::{Condition, Driver, Source};
use pushmem_kernels::{Datapath, DatapathGraph};
use pushmem_nest::{Level, Operation};
use pushmem_schedule::{Access, Loop, Stage as PipelineStage};

use crate::compile::{CoarsePlan, Compiled};

/// A stage that can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
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
    /// Kernels, shift registers, memory tiles and the wires between them.
    Mapping,
    /// The configuration of each tile.
    Config,
}

impl Stage {
    /// The stage of a compiled program as text.
    pub fn text(self, compiled: &Compiled) -> String {
        match self {
            Stage::LoopNest => compiled.program.to_string(),
            Stage::Schedule => schedule(compiled),
            Stage::Buffers => buffers(compiled),
            Stage::Kernels => kernels(compiled),
            Stage::Graph => compiled.graph.to_string(),
            Stage::Mapping => mapping(compiled),
            Stage::Config => config(compiled),
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
    writeln!(text, "{} cycles", compiled.accelerator.length).expect("strings can be written");
    match &compiled.coarse {
        Some(CoarsePlan { coarse: Some(coarse), .. }) => {
            write!(text, "\n{coarse}").expect("strings can be written");
        }
        Some(CoarsePlan { coarse: None, .. }) => text += "\none stage after the other, faster than a pipeline\n",
        None => {}
    }
    text
}

fn domain(loops: &[Loop]) -> String {
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

fn port(direction: &str, stage: &PipelineStage, access: &Access, schedule: &str) -> String {
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
    let accelerator = &compiled.accelerator;
    let name = |source: Source| match source {
        Source::Wire(wire) => accelerator.wires[wire].name.clone(),
        Source::Constant(word) => word.to_string(),
    };
    let mut text = String::new();
    for wire in &accelerator.wires {
        let driver = match &wire.driver {
            Driver::Input { stream, lane } => format!("input stream {}, lane {lane}", accelerator.inputs[*stream].name),
            Driver::ShiftRegister { of, length } => {
                format!("shift register of {length} on {}", accelerator.wires[*of].name)
            }
            Driver::Tile { tile, output } => format!("output {output} of {}", accelerator.tiles[*tile].name),
            Driver::Kernel { kernel } => {
                let on = accelerator.unit_of(*kernel).map(|unit| format!(" on {}", accelerator.units[unit].name));
                let kernel = &accelerator.kernels[*kernel];
                let datapath = &accelerator.datapaths[kernel.datapath];
                let operands = kernel.operands.iter().map(|&operand| name(operand)).join(", ");
                let latency = datapath.datapath.latency();
                format!("kernel {} ({operands}), latency {latency}{}", datapath.name, on.unwrap_or_default())
            }
            Driver::Turns { turns } => format!("{}, by turns", turns.iter().map(|turn| name(turn.source)).join(" or ")),
            Driver::Select { counter, cases } => {
                let loops = &accelerator.counters[*counter].loops;
                cases
                    .iter()
                    .map(|case| match case.conditions.as_slice() {
                        [] => name(case.source),
                        some => format!(
                            "{} if {}",
                            name(case.source),
                            some.iter()
                                .map(|(level, condition)| self::condition(&loops[*level], condition))
                                .join(" and ")
                        ),
                    })
                    .join("; ")
            }
        };
        writeln!(text, "{:<24} {driver}", wire.name).expect("strings can be written");
    }
    for array in &accelerator.arrays {
        let level = match accelerator.tiles[array.first_tile].level {
            Level::Memory => String::new(),
            level => format!(" of {}", level.name()),
        };
        let begin = match array.begin {
            0 => String::new(),
            begin => format!(", from cycle {begin}"),
        };
        writeln!(
            text,
            "array {} in {}{level}{begin}, {} live",
            array.buffer.name,
            counted(array.mapped.tiles.len(), "tile"),
            counted(array.mapped.live_words, "word")
        )
        .expect("strings can be written");
    }
    for memory in &accelerator.memories {
        writeln!(
            text,
            "memory of {} in {}, {} live",
            memory
                .streams
                .iter()
                .map(|stream| {
                    format!("{}: delays {}", accelerator.wires[stream.of].name, stream.delays.iter().join(", "))
                })
                .join(" and of "),
            counted(memory.mapped.tiles.len(), "tile"),
            counted(memory.mapped.live_words, "word")
        )
        .expect("strings can be written");
    }
    for rom in &accelerator.roms {
        let kernel = &accelerator.kernels[rom.kernel];
        let fetch = accelerator.datapaths[kernel.datapath].datapath.fetches()[rom.fetch];
        let table = &compiled.program.tables[rom.table];
        writeln!(
            text,
            "rom {}: {} with {} words for {}, address in stage {}, latency {}",
            rom.name,
            table.name,
            table.values.len(),
            kernel.name,
            fetch.stage,
            fetch.latency
        )
        .expect("strings can be written");
    }
    for stream in &accelerator.outputs {
        let lanes = stream.lanes.iter().map(|lane| &accelerator.wires[lane.wire].name).join(", ");
        writeln!(text, "output stream {}: {lanes}", stream.name).expect("strings can be written");
    }
    text
}

fn condition(name: &str, condition: &Condition) -> String {
    let range = match (condition.first, condition.last) {
        (first, last) if first == last => return format!("{name} = {first}"),
        (first, last) => format!("{first} ≤ {name} ≤ {last}"),
    };
    match condition.step {
        1 => range,
        step => format!("{range} and {name} mod {step} = {}", condition.first.rem_euclid(step)),
    }
}

fn config(compiled: &Compiled) -> String {
    let tiles = compiled.accelerator.configured();
    tiles.iter().map(|tile| format!("# {}\n{}", tile.name, tile.configuration.to_yaml())).join("---\n")
}
