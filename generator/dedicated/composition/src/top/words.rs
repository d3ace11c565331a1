//! Hardware on the way of the words from the inputs to the outputs.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_datapaths::Datapath;
use pushmem_files::counted;
use pushmem_graph::{
    Case, DatapathId, DelayLine, Driver, Kernel, KernelId, RamId, Source, TileId, Turn, WORD_BITS, WireId,
};
use pushmem_nest::{Printer, Word};

use super::signals::{HoldSignals, TileOutput};
use super::{Context, Section};
use crate::instance::Instance;
use crate::loops::{condition, depends, index_bits, variable};
use crate::modules::{HOLD_REGISTER, SHIFT_REGISTER};
use crate::text::{concatenation, listing};

/// Driver of some wires.
enum Part {
    ShiftRegister(WireId),
    Selection(WireId),
    HoldRegister(WireId),
    /// A kernel on an instance of its own.
    Kernel(KernelId),
    /// An operand of a unit that kernels share.
    Turns(WireId),
    /// This unit, which kernels share.
    Unit(usize),
    /// These tiles.
    Memory(Vec<TileId>),
    /// These shift registers of one length, as a memory.
    DelayLine(usize),
    /// A random-access memory.
    Ram(RamId),
}

impl Context<'_> {
    /// The hardware between inputs and outputs.
    pub(super) fn words(&self) -> Vec<Section> {
        let early = self.early_wires();
        let mut sections: Vec<Section> = Vec::new();
        for part in self.parts() {
            let section = match &part {
                Part::ShiftRegister(wire) => self.shift_register(*wire, &early),
                Part::Selection(wire) => self.selection(*wire, &early),
                Part::HoldRegister(wire) => self.hold_register(*wire, &early),
                Part::Kernel(kernel) => self.kernel(*kernel, &early),
                Part::Turns(wire) => self.turns(*wire, &early),
                Part::Unit(unit) => self.unit(*unit, &early),
                Part::Memory(tiles) => self.memory(tiles, &early),
                Part::DelayLine(line) => self.delay_line(*line, &early),
                Part::Ram(ram) => self.ram(*ram, &early),
            };
            match sections.last_mut() {
                Some(before) if before.comment == section.comment => {
                    before.body.push('\n');
                    before.body.push_str(&section.body);
                }
                _ => sections.push(section),
            }
        }
        sections
    }

    pub(super) fn ahead_of_time(&self) -> Option<Section> {
        let early = self.early_wires();
        let declare = |wire: &WireId| format!("    logic [15:0] {};", self.signals.wires[*wire]);
        let body = early.iter().map(declare).chain(self.declared_addresses()).join("\n");
        (!body.is_empty()).then(|| Section::new("Words that are used above the part that they come from.", body))
    }

    /// Everything between inputs and outputs, in the order of the wires; a memory where its first wire is, and units that
    /// kernels share behind the last.
    fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut memories = BTreeSet::new();
        // By wire, its delay line and its place there.
        let lines = self.accelerator.delay_lines.iter().enumerate();
        let places = |(line, of): (usize, &DelayLine)| {
            of.wires.iter().enumerate().map(move |(place, wire)| (*wire, (line, place))).collect_vec()
        };
        let lines: BTreeMap<WireId, (usize, usize)> = lines.flat_map(places).collect();
        for (number, wire) in self.accelerator.wires.iter_enumerated() {
            match wire.driver {
                Driver::Input { .. } => {}
                Driver::ShiftRegister { .. } => match lines.get(&number) {
                    None => parts.push(Part::ShiftRegister(number)),
                    Some((line, 0)) => parts.push(Part::DelayLine(*line)),
                    Some(_) => {}
                },
                Driver::Select { .. } => parts.push(Part::Selection(number)),
                Driver::Hold { .. } => parts.push(Part::HoldRegister(number)),
                Driver::Kernel { kernel, .. } if self.accelerator.unit_of(kernel).is_some() => {}
                Driver::Kernel { kernel, word: Word::Low } => parts.push(Part::Kernel(kernel)),
                // The part is where the first of its wires is.
                Driver::Kernel { word: Word::High, .. } => {}
                Driver::Turns { .. } => parts.push(Part::Turns(number)),
                Driver::Ram { ram, read: 0 } => parts.push(Part::Ram(ram)),
                Driver::Ram { .. } => {}
                Driver::Tile { tile, .. } => {
                    let tiles = self.tiles_beside(tile);
                    if memories.insert(tiles[0]) {
                        parts.push(Part::Memory(tiles));
                    }
                }
            }
        }
        parts.extend((0..self.accelerator.units.len()).map(Part::Unit));
        parts
    }

    /// The wires of the results of kernels, and the word on each.
    pub(super) fn results(&self, kernels: &[KernelId]) -> Vec<(WireId, Word)> {
        let wires = self.accelerator.wires.iter_enumerated();
        let of_kernels = wires.filter_map(|(number, wire)| match wire.driver {
            Driver::Kernel { kernel, word } if kernels.contains(&kernel) => Some((number, word)),
            _ => None,
        });
        of_kernels.collect()
    }

    /// The values at the ports of the loads of a kernel: of an element of two words both.
    pub(super) fn loads(&self, datapath: DatapathId, operands: &[Source]) -> Vec<String> {
        let words = self.accelerator.datapaths[datapath].datapath.operands().into_iter().map(|(load, _)| load);
        let of_loads = words.zip(operands).chunk_by(|(load, _)| *load);
        let signal = |(_, source): (usize, &Source)| self.signals.source(*source);
        of_loads.into_iter().map(|(_, words)| concatenation(words.map(signal))).collect()
    }

    /// The tiles of the memory that a tile belongs to; without memories, all.
    fn tiles_beside(&self, tile: TileId) -> Vec<TileId> {
        let arrays = self.accelerator.arrays.iter().map(|array| array.first_tile);
        let firsts = arrays.chain(self.accelerator.memories.iter().map(|memory| memory.first_tile));
        let first = firsts.clone().filter(|first| *first <= tile).max();
        let next = firsts.filter(|first| *first > tile).min();
        let tiles = first.unwrap_or(TileId::new(0))..next.unwrap_or(self.accelerator.tiles.next_idx());
        self.accelerator.tiles.indices().filter(|tile| tiles.contains(tile)).collect()
    }

    /// The wires that a part reads.
    fn reads(&self, part: &Part) -> Vec<WireId> {
        let of_operands = |operands: &[Source]| operands.iter().filter_map(Source::wire).collect();
        match part {
            Part::Memory(tiles) => {
                let tiles = tiles.iter().map(|&tile| &self.accelerator.tiles[tile]);
                tiles.flat_map(|tile| tile.inputs.iter().copied().flatten()).collect()
            }
            Part::DelayLine(line) => {
                let wires = self.accelerator.delay_lines[*line].wires.iter();
                wires.flat_map(|&wire| self.accelerator.wires[wire].driver.wires()).collect()
            }
            Part::Ram(ram) => {
                let writes = self.accelerator.rams[*ram].writes.iter();
                writes.flat_map(|write| [write.element, write.address]).filter_map(|source| source.wire()).collect()
            }
            Part::Unit(unit) => of_operands(&self.accelerator.units[*unit].operands),
            Part::Kernel(kernel) => of_operands(&self.accelerator.kernels[*kernel].operands),
            Part::ShiftRegister(wire) | Part::Selection(wire) | Part::HoldRegister(wire) | Part::Turns(wire) => {
                self.accelerator.wires[*wire].driver.wires()
            }
        }
    }

    /// The wires that a part drives.
    fn drives(&self, part: &Part) -> Vec<WireId> {
        match part {
            Part::Memory(tiles) => {
                let outputs = tiles.iter().flat_map(|&tile| &self.signals.tile_outputs[tile]);
                outputs.filter_map(TileOutput::wire).collect()
            }
            Part::DelayLine(line) => self.accelerator.delay_lines[*line].wires.clone(),
            Part::Ram(ram) => self.accelerator.rams[*ram].reads.iter().map(|read| read.wire).collect(),
            Part::Unit(unit) => {
                self.results(&self.accelerator.units[*unit].kernels).into_iter().map(|(wire, _)| wire).collect()
            }
            Part::Kernel(kernel) => self.results(&[*kernel]).into_iter().map(|(wire, _)| wire).collect(),
            Part::ShiftRegister(wire) | Part::Selection(wire) | Part::HoldRegister(wire) | Part::Turns(wire) => {
                vec![*wire]
            }
        }
    }

    /// Wires that are read before the part that drives them: they are declared ahead.
    fn early_wires(&self) -> BTreeSet<WireId> {
        let parts = self.parts();
        let driven =
            |(place, part): (usize, &Part)| self.drives(part).into_iter().map(move |wire| (wire, place)).collect_vec();
        let places: BTreeMap<WireId, usize> = parts.iter().enumerate().flat_map(driven).collect();
        let reads = parts
            .iter()
            .enumerate()
            .flat_map(|(place, part)| self.reads(part).into_iter().map(move |wire| (wire, place)).collect_vec());
        let early = reads.filter(|(wire, place)| places.get(wire).is_some_and(|driven| driven > place));
        early.map(|(wire, _)| wire).collect()
    }

    /// The declaration of a wire as a line, unless there is one.
    pub(super) fn declared(&self, wire: WireId, early: &BTreeSet<WireId>) -> String {
        if early.contains(&wire) { String::new() } else { format!("    logic [15:0] {};\n", self.signals.wires[wire]) }
    }

    fn shift_register(&self, wire: WireId, early: &BTreeSet<WireId>) -> Section {
        let Driver::ShiftRegister { of, length } = self.accelerator.wires[wire].driver else {
            unreachable!("the part is a shift register")
        };
        let register = Instance::new(SHIFT_REGISTER, self.signals.shift_registers[&wire].as_str())
            .parameter("Width", WORD_BITS)
            .parameter("Length", length)
            .same(&["clk_i"])
            .port("step_i", "step")
            .port("in_data_i", &self.signals.wires[of])
            .port("out_data_o", &self.signals.wires[wire]);
        Section::new("Short delays: shift registers.", self.declared(wire, early) + &register.print())
    }

    fn hold_register(&self, wire: WireId, early: &BTreeSet<WireId>) -> Section {
        let Driver::Hold { of, counter, conditions } = &self.accelerator.wires[wire].driver else {
            unreachable!("the part is a hold register")
        };
        let loops = &self.accelerator.counters[*counter];
        let signals = &self.signals.counters[counter];
        let bits = index_bits(loops);
        let index = |level: usize| signals.indices[level].as_str();
        let conditions = conditions.iter();
        let conditions =
            conditions.filter_map(|(level, one)| condition(one, loops.extent[*level], index(*level), bits));
        let load = std::iter::once(signals.steps.clone()).chain(conditions).join(" && ");
        let HoldSignals { instance, load: name, .. } = &self.signals.hold_registers[&wire];
        let register = Instance::new(HOLD_REGISTER, instance.as_str())
            .parameter("Width", WORD_BITS)
            .same(&["clk_i"])
            .port("step_i", "step")
            .port("load_i", name)
            .port("in_data_i", &self.signals.wires[*of])
            .port("out_data_o", &self.signals.wires[wire]);
        let declared = format!("{}    logic {name};\n    assign {name} = {load};", self.declared(wire, early));
        let body =
            [declared, register.print(), self.loaded(wire)].into_iter().filter(|part| !part.is_empty()).join("\n");
        let comment = format!("`{}` waits in a hold register.", self.accelerator.wires[wire].name);
        Section::new(comment, body + &self.promises(std::iter::once(wire)))
    }

    fn selection(&self, wire: WireId, early: &BTreeSet<WireId>) -> Section {
        let Driver::Select { counter, cases } = &self.accelerator.wires[wire].driver else {
            unreachable!("the part is a selection")
        };
        let loops = &self.accelerator.counters[*counter];
        let bits = index_bits(loops);
        let line = |case: &Case| {
            let source = self.signals.source(case.source);
            let index = |level: usize| self.signals.counters[counter].indices[level].as_str();
            let conditions = case.conditions.iter().filter(|(level, one)| depends(one, loops.extent[*level]));
            let parts = conditions.filter_map(|(level, one)| condition(one, loops.extent[*level], index(*level), bits));
            let condition = parts.collect_vec().join(" && ");
            if condition.is_empty() {
                (true, format!("        {source};"))
            } else {
                (false, format!("        ({condition}) ? {source} :"))
            }
        };
        // Cases after one that always applies are never selected.
        let mut lines = Vec::new();
        for (always, line) in cases.iter().map(line) {
            lines.push(line);
            if always {
                break;
            }
        }
        let name = &self.signals.wires[wire];
        let body = format!("{}    assign {name} =\n{}", self.declared(wire, early), lines.join("\n"));
        let loops = self.signals.counters.get(counter).map(|counter| counter.name.as_str());
        Section::new(self.selection_comment(wire, loops), body)
    }

    fn turns(&self, wire: WireId, early: &BTreeSet<WireId>) -> Section {
        let Driver::Turns { turns } = &self.accelerator.wires[wire].driver else {
            unreachable!("the part is an operand in turns")
        };
        let source = |turn: &Turn| self.signals.source(turn.source);
        let (last, others) = turns.split_last().expect("kernels take turns");
        let line = |turn: &Turn| format!("        {} ? {} :", self.signals.counters[&turn.counter].steps, source(turn));
        let lines = others.iter().map(line).chain([format!("        {};", source(last))]).join("\n");
        let name = &self.signals.wires[wire];
        let body = format!("{}    assign {name} =\n{lines}", self.declared(wire, early));
        Section::new("Operands of shared units: the words of the kernel that begins an iteration.", body)
    }

    fn unit(&self, number: usize, early: &BTreeSet<WireId>) -> Section {
        let unit = &self.accelerator.units[number];
        let first = &self.accelerator.kernels[unit.kernels[0]];
        let module = &self.kernels[first.datapath];
        let instance = Instance::new(module.name.as_str(), self.signals.kernels[unit.kernels[0]].as_str());
        let mut instance = instance.same(&["clk_i"]).port("step_i", "step");
        for (port, load) in module.loads.iter().zip(self.loads(first.datapath, &unit.operands)) {
            instance = instance.port(port, load);
        }
        let result = &self.signals.units[number];
        let words = self.accelerator.datapaths[first.datapath].datapath.result_type().words();
        let bits = words.len() as u32 * WORD_BITS;
        let mut body = format!("    logic [{}:0] {result};\n{}", bits - 1, instance.port("result_o", result).print());
        for (wire, word) in self.results(&unit.kernels) {
            let declared = self.declared(wire, early);
            let low = word.number() as u32 * WORD_BITS;
            let part = if words.len() == 1 { String::new() } else { format!("[{}:{low}]", low + WORD_BITS - 1) };
            body.push_str(&format!("\n{declared}    assign {} = {result}{part};", self.signals.wires[wire]));
        }
        body.push_str(&self.one_at_a_time(number));
        let names = unit.kernels.iter().map(|&kernel| format!("`{}`", self.accelerator.kernels[kernel].name));
        let latency = self.accelerator.datapaths[first.datapath].datapath.latency();
        let comment = format!(
            "`{}` computes {} by turns, {} from operands to result.",
            unit.name,
            listing(&names.collect_vec()),
            counted(latency, "cycle")
        );
        Section::new(comment, body)
    }

    /// The assertion that a unit is for one kernel at a time; once where several have the same turns.
    fn one_at_a_time(&self, number: usize) -> String {
        let units = &self.accelerator.units;
        if units[..number].iter().any(|other| other.counters == units[number].counters) {
            return String::new();
        }
        let steps = units[number].counters.iter().map(|counter| self.signals.counters[counter].steps.clone());
        format!(
            "\n\n    `PUSHMEM_ASSERT({},\n        step !== 1'b1 || $onehot0({}),\n        (\"{}: two kernels begin an iteration on \
             `{}`\"))",
            self.signals.turns[number],
            concatenation(steps),
            self.accelerator.name,
            units[number].name
        )
    }

    /// The comment above a selection. A selection without `loops` has one word in all iterations.
    fn selection_comment(&self, wire: WireId, loops: Option<&str>) -> String {
        let operations = self.program.operations();
        let read = |kernel: &Kernel| {
            let operand = kernel.operands.iter().position(|operand| *operand == Source::Wire(wire))?;
            let (load, _) = self.accelerator.datapaths[kernel.datapath].datapath.operands()[operand];
            let (loops, operation) = &operations[self.accelerator.datapaths[kernel.datapath].operation];
            let printer = Printer { program: self.program, loops, operation };
            let accesses = Datapath::accesses(self.program, operation);
            Some(format!("Operand of `{}`, read as {}.", kernel.name, printer.access(accesses.get(load)?)))
        };
        let of_kernel = self.accelerator.kernels.iter().find_map(read);
        of_kernel.unwrap_or_else(|| match loops {
            Some(loops) => format!("One of several words, by the loops of `{loops}`."),
            None => format!("`{}` is the same in all iterations.", self.accelerator.wires[wire].name),
        })
    }

    fn kernel(&self, number: KernelId, early: &BTreeSet<WireId>) -> Section {
        let kernel = &self.accelerator.kernels[number];
        let module = &self.kernels[kernel.datapath];
        let mut instance = Instance::new(module.name.as_str(), self.signals.kernels[number].as_str());
        instance = instance.same(&["clk_i"]).port("step_i", "step");
        for (port, of) in module.variables.iter().zip(&kernel.variables) {
            let index = kernel.counter.zip(of.level).map(|(counter, level)| {
                let bits = index_bits(&self.accelerator.counters[counter]);
                (self.signals.counters[&counter].indices[level].as_str(), bits)
            });
            instance = instance.port(port, variable(of, index));
        }
        for (port, load) in module.loads.iter().zip(self.loads(kernel.datapath, &kernel.operands)) {
            instance = instance.port(port, load);
        }
        for (ports, rom) in module.fetches.iter().zip(self.accelerator.roms_of(number)) {
            instance = instance.port(&ports.address, self.rom_address(rom)).port(&ports.word, self.rom_word(rom));
        }
        for (port, address) in module.addresses.iter().zip(self.ram_addresses(number)) {
            instance = instance.port(port, address);
        }
        let results = self.results(&[number]).into_iter().map(|(wire, _)| wire).collect_vec();
        let names = results.iter().map(|&wire| self.signals.wires[wire].clone());
        instance = instance.port("result_o", concatenation(names));
        let declared = results.iter().map(|&wire| self.declared(wire, early)).join("");
        let latency = self.accelerator.datapaths[kernel.datapath].datapath.latency();
        let comment = match latency {
            0 => format!("`{}`, in the same cycle.", kernel.name),
            _ => format!("`{}`, {} from operands to result.", kernel.name, counted(latency, "cycle")),
        };
        let body = self.roms(number) + &declared + &instance.print();
        Section::new(comment + &self.rom_comment(number), body)
    }
}
