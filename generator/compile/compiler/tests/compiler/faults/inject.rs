//! All single faults that an accelerator can have, except faults of its memories.

use std::fmt::Display;

use pushmem_graph::{
    Accelerator, Case, Condition, CounterId, Driver, Kernel, SharedUnit, Source, Stream, Turn, Wire, WireId,
};

use pushmem_nest::Word;

use super::Fault;
use super::inject_memory;

/// Collects faults.
pub struct Faults {
    found: Vec<Fault>,
}

impl Faults {
    pub fn add(&mut self, kind: &'static str, place: impl Display, plant: impl Fn(&mut Accelerator) + 'static) {
        self.found.push(Fault { kind, place: place.to_string(), plant: Box::new(plant) });
    }

    /// One fault for each number beside the right one that exists.
    fn neighbours<I: Number>(
        &mut self,
        kind: &'static str,
        place: impl Display,
        right: I,
        count: usize,
        of: impl Fn(&mut Accelerator) -> &mut I + Copy + 'static,
    ) {
        for wrong in beside(right, count) {
            self.add(kind, format!("{place}, {right} as {wrong}"), move |accelerator| *of(accelerator) = wrong);
        }
    }

    /// One fault for a number that is one less or more.
    pub fn off_by_one(
        &mut self,
        kind: &'static str,
        place: impl Display,
        of: impl Fn(&mut Accelerator) -> &mut i64 + Copy + 'static,
    ) {
        for by in [-1, 1] {
            self.add(kind, format!("{place}, {by:+}"), move |accelerator| *of(accelerator) += by);
        }
    }

    /// As [`Faults::off_by_one`], for numbers that are never negative.
    pub fn count_off_by_one(
        &mut self,
        kind: &'static str,
        place: impl Display,
        of: impl Fn(&mut Accelerator) -> &mut u64 + Copy + 'static,
    ) {
        for by in [-1, 1] {
            self.add(kind, format!("{place}, {by:+}"), move |accelerator| {
                let count = of(accelerator);
                *count = count.wrapping_add_signed(by);
            });
        }
    }
}

/// The numbers below `count` before and after one.
pub fn beside<I: Number>(right: I, count: usize) -> impl Iterator<Item = I> {
    let right: usize = right.into();
    let near = [right.checked_sub(1), Some(right + 1)].into_iter().flatten();
    near.filter(move |&number| number < count).map(I::from)
}

/// The number of a part of an accelerator, of whichever kind.
pub trait Number: Copy + Display + From<usize> + Into<usize> + 'static {}

impl<I: Copy + Display + From<usize> + Into<usize> + 'static> Number for I {}

/// All faults of an accelerator.
pub fn faults(accelerator: &Accelerator) -> Vec<Fault> {
    let mut faults = Faults { found: Vec::new() };
    wires(accelerator, &mut faults);
    kernels(accelerator, &mut faults);
    units(accelerator, &mut faults);
    streams(accelerator, &mut faults);
    counters(accelerator, &mut faults);
    others(accelerator, &mut faults);
    rams(accelerator, &mut faults);
    inject_memory::faults(accelerator, &mut faults);
    faults.found
}

fn shift_register(accelerator: &mut Accelerator, wire: WireId) -> (&mut WireId, &mut u64) {
    match &mut accelerator.wires[wire].driver {
        Driver::ShiftRegister { of, length } => (of, length),
        _ => unreachable!("faults know what drives a wire"),
    }
}

fn selection(accelerator: &mut Accelerator, wire: WireId) -> (&mut CounterId, &mut Vec<Case>) {
    match &mut accelerator.wires[wire].driver {
        Driver::Select { counter, cases } => (counter, cases),
        _ => unreachable!("faults know what drives a wire"),
    }
}

fn hold_register(
    accelerator: &mut Accelerator,
    wire: WireId,
) -> (&mut WireId, &mut CounterId, &mut Vec<(usize, Condition)>) {
    match &mut accelerator.wires[wire].driver {
        Driver::Hold { of, counter, conditions } => (of, counter, conditions),
        _ => unreachable!("faults know what drives a wire"),
    }
}

/// Faults of a source: a neighbouring wire or constant, and a constant for a wire.
fn source(
    accelerator: &Accelerator,
    faults: &mut Faults,
    kind: &'static str,
    place: impl Display,
    right: Source,
    of: impl Fn(&mut Accelerator) -> &mut Source + Copy + 'static,
) {
    let wrong: Vec<Source> = match right {
        Source::Wire(wire) => {
            beside(wire, accelerator.wires.len()).map(Source::Wire).chain([Source::Constant(0)]).collect()
        }
        Source::Constant(word) => {
            vec![Source::Constant(word.wrapping_add(1)), Source::Constant(word ^ 0x8000), Source::Wire(WireId::new(0))]
        }
    };
    for wrong in wrong {
        faults.add(kind, format!("{place}, {right:?} as {wrong:?}"), move |accelerator| *of(accelerator) = wrong);
    }
}

fn wires(accelerator: &Accelerator, faults: &mut Faults) {
    for (number, wire) in accelerator.wires.iter_enumerated() {
        let name = &wire.name;
        match &wire.driver {
            Driver::ShiftRegister { of, .. } => {
                faults.count_off_by_one("length of a shift register", name, move |accelerator| {
                    shift_register(accelerator, number).1
                });
                faults.neighbours(
                    "input of a shift register",
                    name,
                    *of,
                    accelerator.wires.len(),
                    move |accelerator| shift_register(accelerator, number).0,
                );
            }
            Driver::Select { counter, cases } => {
                let counters = accelerator.counters.len();
                faults.neighbours("counter of a selection", name, *counter, counters, move |accelerator| {
                    selection(accelerator, number).0
                });
                select(accelerator, faults, number, cases);
            }
            Driver::Hold { of, counter, conditions } => {
                let (wires, counters) = (accelerator.wires.len(), accelerator.counters.len());
                faults.neighbours("input of a hold register", name, *of, wires, move |accelerator| {
                    hold_register(accelerator, number).0
                });
                faults.neighbours("counter of a hold register", name, *counter, counters, move |accelerator| {
                    hold_register(accelerator, number).1
                });
                hold(accelerator, faults, number, *counter, conditions);
            }
            &Driver::Ram { ram, read } => {
                let other_reads = beside(read, accelerator.rams[ram].reads.len()).map(|read| (ram, read));
                let other_rams = beside(ram, accelerator.rams.len()).map(|ram| (ram, read));
                for (ram, read) in other_reads.chain(other_rams) {
                    faults.add("read of a random-access memory on a wire", name, move |accelerator| {
                        accelerator.wires[number].driver = Driver::Ram { ram, read };
                    });
                }
            }
            // Faults of units have those of their operands.
            Driver::Turns { .. } => {}
            &Driver::Kernel { kernel, word } => {
                let kernels = accelerator.kernels.len();
                for wrong in beside(kernel, kernels) {
                    faults.add("kernel that drives a wire", name, move |accelerator| {
                        accelerator.wires[number].driver = Driver::Kernel { kernel: wrong, word };
                    });
                }
                let other = if word == Word::Low { Word::High } else { Word::Low };
                faults.add("word of a kernel on a wire", name, move |accelerator| {
                    accelerator.wires[number].driver = Driver::Kernel { kernel, word: other };
                });
            }
            &Driver::Tile { tile, output } => {
                let other_outputs =
                    beside(output, accelerator.target.memory().outputs as usize).map(|output| (tile, output));
                let other_tiles = beside(tile, accelerator.tiles.len()).map(|tile| (tile, output));
                for (tile, output) in other_outputs.chain(other_tiles) {
                    faults.add(
                        "tile output that drives a wire",
                        format!("{name}: {tile}, {output}"),
                        move |accelerator| {
                            accelerator.wires[number].driver = Driver::Tile { tile, output };
                        },
                    );
                }
            }
            &Driver::Input { stream, lane } => {
                for lane in beside(lane, accelerator.inputs[stream].lanes.len()) {
                    faults.add("lane that drives a wire", name, move |accelerator| {
                        accelerator.wires[number].driver = Driver::Input { stream, lane };
                    });
                }
                for stream in beside(stream, accelerator.inputs.len()) {
                    faults.add("stream that drives a wire", name, move |accelerator| {
                        accelerator.wires[number].driver = Driver::Input { stream, lane };
                    });
                }
            }
        }
    }
}

fn rams(accelerator: &Accelerator, faults: &mut Faults) {
    for (number, ram) in accelerator.rams.iter_enumerated() {
        let name = &ram.name;
        faults.count_off_by_one("words of a random-access memory", name, move |accelerator| {
            &mut accelerator.rams[number].words
        });
        for array in beside(ram.array, ram.array + 2) {
            faults.add("array of a random-access memory", name, move |accelerator| {
                accelerator.rams[number].array = array;
            });
        }
        for (place, write) in ram.writes.iter().enumerate() {
            let name = format!("write {place} of {name}");
            for stage in beside(write.stage, write.stage + 2) {
                faults.add("stage of a write of a random-access memory", &name, move |accelerator| {
                    accelerator.rams[number].writes[place].stage = stage;
                });
            }
            let counters = accelerator.counters.len();
            faults.neighbours("counter of a write", &name, write.counter, counters, move |accelerator| {
                &mut accelerator.rams[number].writes[place].counter
            });
            source(accelerator, faults, "element that is written", &name, write.element, move |accelerator| {
                &mut accelerator.rams[number].writes[place].element
            });
            source(accelerator, faults, "address that is written", &name, write.address, move |accelerator| {
                &mut accelerator.rams[number].writes[place].address
            });
            faults.add("random-access memory without a write", &name, move |accelerator| {
                accelerator.rams[number].writes.remove(place);
            });
        }
        for (place, read) in ram.reads.iter().enumerate() {
            let name = format!("read {place} of {name}");
            let (kernels, wires) = (accelerator.kernels.len(), accelerator.wires.len());
            faults.neighbours("kernel of a read", &name, read.kernel, kernels, move |accelerator| {
                &mut accelerator.rams[number].reads[place].kernel
            });
            faults.neighbours("wire of a read", &name, read.wire, wires, move |accelerator| {
                &mut accelerator.rams[number].reads[place].wire
            });
            let counters = accelerator.counters.len();
            faults.neighbours("counter of a read", &name, read.counter, counters, move |accelerator| {
                &mut accelerator.rams[number].reads[place].counter
            });
            for port in beside(read.port, ram.ports()) {
                faults.add("port of a read", &name, move |accelerator| {
                    accelerator.rams[number].reads[place].port = port;
                });
            }
            for load in beside(read.load, read.load + 2) {
                faults.add("load of a read", &name, move |accelerator| {
                    accelerator.rams[number].reads[place].load = load;
                });
            }
        }
    }
}

fn hold(
    accelerator: &Accelerator,
    faults: &mut Faults,
    wire: WireId,
    counter: CounterId,
    conditions: &[(usize, Condition)],
) {
    let name = &accelerator.wires[wire].name;
    for (place, &(level, _)) in conditions.iter().enumerate() {
        let levels = accelerator.counters[counter].extent.len();
        faults.neighbours("loop of a condition on loads", name, level, levels, move |accelerator| {
            &mut hold_register(accelerator, wire).2[place].0
        });
        faults.off_by_one("first index of loads", name, move |accelerator| {
            &mut hold_register(accelerator, wire).2[place].1.first
        });
        faults.off_by_one("last index of loads", name, move |accelerator| {
            &mut hold_register(accelerator, wire).2[place].1.last
        });
        faults.off_by_one("step of loads", name, move |accelerator| {
            &mut hold_register(accelerator, wire).2[place].1.step
        });
        faults.add("loads without a condition", name, move |accelerator| {
            hold_register(accelerator, wire).2.remove(place);
        });
    }
}

fn select(accelerator: &Accelerator, faults: &mut Faults, wire: WireId, cases: &[Case]) {
    let name = &accelerator.wires[wire].name;
    for (number, case) in cases.iter().enumerate() {
        let place = format!("case {number} of {name}");
        faults.add("selection without a case", &place, move |accelerator| {
            selection(accelerator, wire).1.remove(number);
        });
        if number + 1 < cases.len() {
            faults.add("cases of a selection swapped", &place, move |accelerator| {
                selection(accelerator, wire).1.swap(number, number + 1);
            });
        }
        source(accelerator, faults, "source of a case", &place, case.source, move |accelerator| {
            &mut selection(accelerator, wire).1[number].source
        });
        for (condition, &(level, _)) in case.conditions.iter().enumerate() {
            let Driver::Select { counter, .. } = accelerator.wires[wire].driver else { continue };
            let levels = accelerator.counters[counter].extent.len();
            faults.neighbours("loop of a condition", &place, level, levels, move |accelerator| {
                &mut selection(accelerator, wire).1[number].conditions[condition].0
            });
            faults.off_by_one("first index of a condition", &place, move |accelerator| {
                &mut selection(accelerator, wire).1[number].conditions[condition].1.first
            });
            faults.off_by_one("last index of a condition", &place, move |accelerator| {
                &mut selection(accelerator, wire).1[number].conditions[condition].1.last
            });
            faults.off_by_one("step of a condition", &place, move |accelerator| {
                &mut selection(accelerator, wire).1[number].conditions[condition].1.step
            });
            faults.add("case without a condition", &place, move |accelerator| {
                selection(accelerator, wire).1[number].conditions.remove(condition);
            });
        }
    }
}

fn kernels(accelerator: &Accelerator, faults: &mut Faults) {
    for (number, Kernel { name, operands, variables, .. }) in accelerator.kernels.iter_enumerated() {
        for (place, operand) in operands.iter().enumerate() {
            source(accelerator, faults, "operand of a kernel", name, *operand, move |accelerator| {
                &mut accelerator.kernels[number].operands[place]
            });
            if place + 1 < operands.len() && operands[place] != operands[place + 1] {
                faults.add("operands of a kernel swapped", name, move |accelerator| {
                    accelerator.kernels[number].operands.swap(place, place + 1);
                });
            }
        }
        faults.add("kernel without its last operand", name, move |accelerator| {
            accelerator.kernels[number].operands.pop();
        });
        for (place, variable) in variables.iter().enumerate() {
            faults.off_by_one("offset of a variable", name, move |accelerator| {
                &mut accelerator.kernels[number].variables[place].offset
            });
            faults.off_by_one("scale of a variable", name, move |accelerator| {
                &mut accelerator.kernels[number].variables[place].scale
            });
            for level in (0..3).map(Some).chain([None]).filter(|level| *level != variable.level) {
                faults.add("loop of a variable", format!("{name}, {level:?}"), move |accelerator| {
                    accelerator.kernels[number].variables[place].level = level;
                });
            }
        }
        let kernel = &accelerator.kernels[number];
        let wrong = kernel.counter.iter().flat_map(|&counter| beside(counter, accelerator.counters.len()));
        for counter in wrong.map(Some).chain(kernel.counter.map(|_| None)) {
            faults.add("counter of a kernel", format!("{name}, {counter:?}"), move |accelerator| {
                accelerator.kernels[number].counter = counter;
            });
        }
        faults.neighbours(
            "datapath of a kernel",
            name,
            kernel.datapath,
            accelerator.datapaths.len(),
            move |accelerator| &mut accelerator.kernels[number].datapath,
        );
        faults.neighbours("stage of a kernel", name, kernel.stage, kernel.stage + 2, move |accelerator| {
            &mut accelerator.kernels[number].stage
        });
    }
    for (number, datapath) in accelerator.datapaths.iter_enumerated() {
        for other in beside(number, accelerator.datapaths.len()) {
            let wrong = accelerator.datapaths[other].datapath.clone();
            if wrong != datapath.datapath {
                faults.add("datapath of another operation", &datapath.name, move |accelerator| {
                    accelerator.datapaths[number].datapath = wrong.clone();
                });
            }
        }
        faults.neighbours("operation of a datapath", &datapath.name, datapath.operation, 1000, move |accelerator| {
            &mut accelerator.datapaths[number].operation
        });
    }
}

fn units(accelerator: &Accelerator, faults: &mut Faults) {
    for (number, SharedUnit { name, kernels, counters, operands }) in accelerator.units.iter().enumerate() {
        faults.add("missing unit", name, move |accelerator| {
            accelerator.units.remove(number);
        });
        faults.add("unit without its last kernel", name, move |accelerator| {
            accelerator.units[number].kernels.pop();
        });
        faults.add("unit without its last operand", name, move |accelerator| {
            accelerator.units[number].operands.pop();
        });
        for (place, &kernel) in kernels.iter().enumerate() {
            faults.neighbours("kernel of a unit", name, kernel, accelerator.kernels.len(), move |accelerator| {
                &mut accelerator.units[number].kernels[place]
            });
            let counter = counters[place];
            faults.neighbours("counter of a unit", name, counter, accelerator.counters.len(), move |accelerator| {
                &mut accelerator.units[number].counters[place]
            });
        }
        for (place, operand) in operands.iter().enumerate() {
            source(accelerator, faults, "operand of a unit", name, *operand, move |accelerator| {
                &mut accelerator.units[number].operands[place]
            });
        }
    }
    for (wire, Wire { name, driver }) in accelerator.wires.iter_enumerated() {
        let Driver::Turns { turns } = driver else { continue };
        for (place, turn) in turns.iter().enumerate() {
            source(accelerator, faults, "source in turn", name, turn.source, move |accelerator| {
                &mut turns_of(accelerator, wire)[place].source
            });
            faults.neighbours(
                "counter of a turn",
                name,
                turn.counter,
                accelerator.counters.len(),
                move |accelerator| &mut turns_of(accelerator, wire)[place].counter,
            );
        }
        faults.add("missing turn", name, move |accelerator| {
            turns_of(accelerator, wire).remove(0);
        });
    }
}

fn turns_of(accelerator: &mut Accelerator, wire: WireId) -> &mut Vec<Turn> {
    match &mut accelerator.wires[wire].driver {
        Driver::Turns { turns } => turns,
        _ => unreachable!("the wire is an operand in turns"),
    }
}

fn streams(accelerator: &Accelerator, faults: &mut Faults) {
    for is_output in [false, true] {
        let streams = if is_output { &accelerator.outputs } else { &accelerator.inputs.raw };
        for (number, stream) in streams.iter().enumerate() {
            let name = &stream.name;
            faults.neighbours(
                "counter of a stream",
                name,
                stream.counter,
                accelerator.counters.len(),
                move |accelerator| &mut stream_of(accelerator, is_output, number).counter,
            );
            faults.neighbours("array of a stream", name, stream.array, 1000, move |accelerator| {
                &mut stream_of(accelerator, is_output, number).array
            });
            faults.add("missing stream", name, move |accelerator| {
                let streams = if is_output { &mut accelerator.outputs } else { &mut accelerator.inputs.raw };
                streams.remove(number);
            });
            faults.add("missing lane", name, move |accelerator| {
                stream_of(accelerator, is_output, number).lanes.pop();
            });
            if stream.lanes.len() > 1 {
                faults.add("lanes swapped", name, move |accelerator| {
                    let lanes = &mut stream_of(accelerator, is_output, number).lanes;
                    let wire = lanes[0].wire;
                    lanes[0].wire = std::mem::replace(&mut lanes[1].wire, wire);
                });
            }
            for (lane, content) in stream.lanes.iter().enumerate() {
                let wires = accelerator.wires.len();
                faults.neighbours("wire of a lane", name, content.wire, wires, move |accelerator| {
                    &mut stream_of(accelerator, is_output, number).lanes[lane].wire
                });
                faults.off_by_one("first element of a lane", name, move |accelerator| {
                    &mut stream_of(accelerator, is_output, number).lanes[lane].element.start
                });
                for level in 0..content.element.stride.len() {
                    faults.off_by_one("stride of the elements of a lane", name, move |accelerator| {
                        &mut stream_of(accelerator, is_output, number).lanes[lane].element.stride[level]
                    });
                }
            }
        }
    }
}

fn stream_of(accelerator: &mut Accelerator, is_output: bool, number: usize) -> &mut Stream {
    if is_output { &mut accelerator.outputs[number] } else { &mut accelerator.inputs.raw[number] }
}

fn counters(accelerator: &Accelerator, faults: &mut Faults) {
    for (number, counter) in accelerator.counters.iter_enumerated() {
        let name = format!("counter {number}");
        faults
            .off_by_one("start of a counter", &name, move |accelerator| &mut accelerator.counters[number].cycle.start);
        for level in 0..counter.extent.len() {
            faults.count_off_by_one("extent of a counter", &name, move |accelerator| {
                &mut accelerator.counters[number].extent[level]
            });
            faults.off_by_one("stride of a counter", &name, move |accelerator| {
                &mut accelerator.counters[number].cycle.stride[level]
            });
        }
        faults.add("one more loop of a counter", &name, move |accelerator| {
            let counter = &mut accelerator.counters[number];
            let stride = counter.last() - counter.cycle.start + 1;
            counter.loops.push("more".to_owned());
            counter.extent.push(2);
            counter.cycle.stride.push(stride);
        });
    }
}

fn others(accelerator: &Accelerator, faults: &mut Faults) {
    for (number, line) in accelerator.delay_lines.iter().enumerate() {
        let place = format!("the delay line of {} cycles", line.length);
        faults.count_off_by_one("length of a delay line", &place, move |accelerator| {
            &mut accelerator.delay_lines[number].length
        });
        faults.add("wire in two delay lines", &place, move |accelerator| {
            let again = accelerator.delay_lines[number].clone();
            accelerator.delay_lines.push(again);
        });
    }
    faults.count_off_by_one("length of the run", &accelerator.name, |accelerator| &mut accelerator.length);
}
