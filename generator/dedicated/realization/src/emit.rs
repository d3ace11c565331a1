//! The hardware of a program as text, in the terms of the papers.

use itertools::Itertools;
use pushmem_compiler::CompileStage;
use pushmem_files::counted;
use pushmem_graph::{
    Accelerator, Case, Condition, Counter, DelayMemory, Delayed, Driver, Memories, Ram, RamWrite, Rom, Source,
    StoredArray,
};
use pushmem_nest::{Level, Word};

use crate::dedicated::Dedicated;

impl Dedicated {
    /// A stage as text. Mapping and configuration are those of the hardware, wires and ROM tiles included.
    pub fn text(&self, stage: CompileStage) -> String {
        match stage {
            CompileStage::Mapping => mapping(self),
            CompileStage::Config => config(self),
            other => other.text(self),
        }
    }
}

fn mapping(compiled: &Dedicated) -> String {
    let accelerator = &compiled.accelerator;
    let wires =
        accelerator.wires.iter().map(|wire| format!("{:<24} {}\n", wire.name, driver(accelerator, &wire.driver)));
    let arrays = accelerator.arrays.iter().map(|array| stored_array(accelerator, array));
    let memories = accelerator.memories.iter().map(|memory| delays(accelerator, memory));
    let roms = accelerator.roms.iter().map(|of| rom(compiled, of));
    let rams = accelerator.rams.iter().map(|of| ram(accelerator, of));
    let outputs = accelerator.outputs.iter().map(|stream| {
        let lanes = stream.lanes.iter().map(|lane| &accelerator.wires[lane.wire].name).join(", ");
        format!("output stream {}: {lanes}\n", stream.name)
    });
    wires.chain(arrays).chain(memories).chain(roms).chain(rams).chain(outputs).collect()
}

/// The name of a wire, or a constant.
fn source(accelerator: &Accelerator, source: Source) -> String {
    match source {
        Source::Wire(wire) => accelerator.wires[wire].name.clone(),
        Source::Constant(word) => word.to_string(),
    }
}

fn driver(accelerator: &Accelerator, driver: &Driver) -> String {
    let name = |of: Source| source(accelerator, of);
    match driver {
        Driver::Input { stream, lane } => format!("input stream {}, lane {lane}", accelerator.inputs[*stream].name),
        Driver::ShiftRegister { of, length } => {
            let is_line = accelerator.delay_lines.iter().any(|line| line.length == *length);
            let kind = if is_line { "delay line" } else { "shift register" };
            format!("{kind} of {length} on {}", accelerator.wires[*of].name)
        }
        Driver::Tile { tile, output } => format!("output {output} of {}", accelerator.tiles[*tile].name),
        Driver::Kernel { kernel, word: Word::High } => {
            format!("high word of kernel {}", accelerator.kernels[*kernel].name)
        }
        Driver::Kernel { kernel, word: Word::Low } => {
            let on = accelerator.unit_of(*kernel).map(|unit| format!(" on {}", accelerator.units[unit].name));
            let kernel = &accelerator.kernels[*kernel];
            let datapath = &accelerator.datapaths[kernel.datapath];
            let operands = kernel.operands.iter().map(|&operand| name(operand)).join(", ");
            let latency = datapath.datapath.latency();
            format!("kernel {} ({operands}), latency {latency}{}", datapath.name, on.unwrap_or_default())
        }
        Driver::Hold { of, counter, conditions } => {
            let Counter { loops, cycle, .. } = &accelerator.counters[*counter];
            let when = conditions.iter().map(|(level, one)| condition(&loops[*level], one)).join(" and ");
            let when = if when.is_empty() { when } else { format!(" if {when}") };
            format!("hold register on {}, loaded in cycle {}{when}", accelerator.wires[*of].name, cycle.text(loops))
        }
        Driver::Ram { ram, read } => format!("read {read} of {}", accelerator.rams[*ram].name),
        Driver::Turns { turns } => format!("{}, by turns", turns.iter().map(|turn| name(turn.source)).join(" or ")),
        Driver::Select { counter, cases } => {
            let loops = &accelerator.counters[*counter].loops;
            let case = |case: &Case| {
                let conditions = case.conditions.iter().map(|(level, one)| condition(&loops[*level], one));
                match case.conditions.as_slice() {
                    [] => name(case.source),
                    _ => format!("{} if {}", name(case.source), conditions.format(" and ")),
                }
            };
            cases.iter().map(case).join("; ")
        }
    }
}

/// The name of a part of a memory: a tile, or a bank.
fn memory_of(accelerator: &Accelerator) -> &'static str {
    match accelerator.target.memories {
        Memories::Tiles => "tile",
        Memories::Fixed => "bank",
    }
}

fn stored_array(accelerator: &Accelerator, array: &StoredArray) -> String {
    let level = match accelerator.tiles[array.first_tile].level {
        Level::Memory => String::new(),
        level => format!(" of {}", level.name()),
    };
    let begin = match array.begin {
        0 => String::new(),
        begin => format!(", from cycle {begin}"),
    };
    let (tiles, words) =
        (counted(array.mapped.tiles.len(), memory_of(accelerator)), counted(array.mapped.live_words, "word"));
    format!("array {} in {tiles}{level}{begin}, {words} live\n", array.buffer.name)
}

fn delays(accelerator: &Accelerator, memory: &DelayMemory) -> String {
    let stream = |stream: &Delayed| {
        format!("{}: delays {}", accelerator.wires[stream.of].name, stream.delays.iter().format(", "))
    };
    let streams = memory.streams.iter().map(stream).join(" and of ");
    let (tiles, words) =
        (counted(memory.mapped.tiles.len(), memory_of(accelerator)), counted(memory.mapped.live_words, "word"));
    format!("memory of {streams} in {tiles}, {words} live\n")
}

fn ram(accelerator: &Accelerator, ram: &Ram) -> String {
    let write = |write: &RamWrite| {
        let [element, address] = [write.element, write.address].map(|of| source(accelerator, of));
        let Counter { loops, cycle, .. } = &accelerator.counters[write.counter];
        format!("{element} at {address} in cycle {}", cycle.text(loops))
    };
    let writes = ram.writes.iter().map(write).join("; ");
    let (words, reads, ports) =
        (counted(ram.words as usize, "word"), counted(ram.reads.len(), "read"), counted(ram.ports(), "port"));
    format!("random-access memory {}: {}, {} at {}; writes {writes}\n", ram.name, words, reads, ports)
}

fn rom(compiled: &Dedicated, rom: &Rom) -> String {
    let accelerator = &compiled.accelerator;
    let kernel = &accelerator.kernels[rom.kernel];
    let fetch = accelerator.datapaths[kernel.datapath].datapath.fetches()[rom.fetch];
    let table = &compiled.program.tables[rom.table];
    format!(
        "rom {}: {} with {} words for {}, address in stage {}, latency {}\n",
        rom.name,
        table.name,
        table.values.len(),
        kernel.name,
        fetch.stage,
        fetch.latency
    )
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

fn config(compiled: &Dedicated) -> String {
    let tiles = compiled.accelerator.configured();
    tiles.iter().map(|tile| format!("# {}\n{}", tile.name, tile.configuration.to_yaml())).join("---\n")
}
