//! The cells of kernels, tables, sequences and banks, before they are connected.

use pushmem_cells::{Cell as PeCell, Cells, Fetch, Sequence, Table};
use pushmem_files::free_name;
use pushmem_graph::{Counter, KernelNode, MemoryTile, TileId, Variable, WordDriver};
use pushmem_nest::Level;
use pushmem_netlist::{BankCells, Cell, CellId, Core};
use pushmem_tile::timing;

use super::elements::{element, passing_words};
use super::{Lowering, MemoryCells, Signal, is_by_turns, lane_name};
use crate::predicates::Firings;

impl<'a> Lowering<'a> {
    /// Adds the cells of streams, memories and kernels, which are not connected yet.
    pub(super) fn place(&mut self) {
        for stream in &self.graph.inputs {
            let lanes = 0..stream.lanes.len();
            let cells = lanes.map(|lane| self.add_lane(lane_name(&stream.name, lane, stream.lanes.len()), Core::Input));
            let cells = cells.collect();
            self.inputs.push(cells);
        }
        for (number, tile) in self.storage.tiles.iter_enumerated() {
            let cells = match tile.level {
                Level::GlobalBuffer => self.place_bank(number, tile),
                Level::Memory | Level::RegisterFile => {
                    let configuration = tile.configuration.clone().later(tile.begin as i64);
                    let cell = self.add(tile.name.clone(), Core::Memory(configuration));
                    MemoryCells { writes: cell, reads: cell }
                }
            };
            self.tiles.push(cells);
        }
        self.join_chains();
        for (number, kernel) in self.graph.kernels.iter_enumerated() {
            let unit = self.units.of_kernel(number);
            let placed = unit.and_then(|unit| unit.kernels.iter().find_map(|other| self.kernels.get(*other)));
            let name = &self.graph.words[kernel.net()].name;
            let cells = match placed {
                Some(cells) => cells.clone(),
                None => self.place_kernel(kernel, unit.map_or(name, |unit| &unit.name)),
            };
            self.kernels.push(cells);
            let tables = self.place_tables(kernel, name);
            self.tables.push(tables);
            let sequences = self.place_sequences(kernel);
            self.sequences.push(sequences);
        }
    }

    /// Adds the cells of selections and hold registers.
    pub(super) fn place_words(&mut self) {
        for (net, content) in self.graph.words.iter_enumerated() {
            match &content.driver {
                WordDriver::Select(choices) if is_by_turns(self.graph, choices) => {}
                WordDriver::Select(choices) => match self.repeats.get(&net) {
                    Some(repeat) => {
                        let core = Core::Memory(repeat.configuration.clone());
                        let cell = self.add(format!("{}_memory", content.name), core);
                        self.repeating.insert(net, cell);
                    }
                    None => {
                        let cells = self.place_choices(&content.name, choices.len() - 1);
                        self.selections.insert(net, cells);
                    }
                },
                WordDriver::Hold(_) => {
                    let cell = self.add(content.name.clone(), Core::Pe(passing_words(&self.spec.pe)));
                    self.holds.insert(net, cell);
                }
                _ => {}
            }
        }
    }

    /// Adds a cell. Another one of the same name gets a number.
    pub(super) fn add(&mut self, name: String, core: Core) -> CellId {
        let name = free_name(&name, 2, |name| self.names.insert(name.clone()));
        self.netlist.cells.push(Cell { name, core })
    }

    /// Adds the cell of a lane of a stream. It has its name, which hosts use.
    pub(super) fn add_lane(&mut self, name: String, core: Core) -> CellId {
        self.netlist.cells.push(Cell { name, core })
    }

    /// Adds the streams of a memory that is a bank of the global buffer.
    fn place_bank(&mut self, number: TileId, tile: &MemoryTile) -> MemoryCells {
        let load = self.add(format!("{}_load", tile.name), Core::Input);
        let store = self.add(format!("{}_store", tile.name), Core::Output);
        self.netlist.banks.push(BankCells { name: tile.name.clone(), load, store });
        self.banks.push(number);
        MemoryCells { writes: store, reads: load }
    }

    /// The cells of the operation of a kernel.
    pub(super) fn cells_of(&self, kernel: &KernelNode) -> &'a Cells {
        &self.selected[self.first_of_unit[kernel.operation]]
    }

    /// Adds the cells of a kernel, which are not connected yet.
    fn place_kernel(&mut self, kernel: &KernelNode, name: &str) -> Vec<CellId> {
        let cells = &self.cells_of(kernel).cells;
        let place = |(number, cell): (usize, &PeCell)| {
            let is_last = number + 1 == cells.len();
            let name = if is_last { name.to_owned() } else { format!("{name}_{number}") };
            let core = Core::Pe(element(&self.spec.pe, cell.operation, cell.lut));
            self.add(name, core)
        };
        cells.iter().enumerate().map(place).collect()
    }

    /// Adds the tables of a kernel: a memory for each look-up, because a memory looks up one word a cycle.
    fn place_tables(&mut self, kernel: &KernelNode, kernel_name: &str) -> Vec<CellId> {
        let Some(memory) = &self.spec.memory else { return Vec::new() };
        let mask = u64::from(u32::MAX) >> (u32::BITS - self.spec.word_bits());
        let firings = Firings::of_conditions(&kernel.iterations, &[]);
        let cells = self.cells_of(kernel);
        let place = |(number, fetch): (usize, &Fetch)| {
            let entries = cells.contents(self.program, fetch.table);
            let contents = entries.iter().map(|value| *value as u64 & mask).collect();
            let core = Core::Memory(firings.table(&memory.tile, contents));
            let name = match fetch.table {
                Table::Program(table) => self.program.tables[table].name.as_str(),
                Table::High(table) => &format!("{}_high", self.program.tables[table].name),
                Table::Selected(_) => "reciprocal",
            };
            self.add(format!("{kernel_name}_{name}_{number}"), core)
        };
        cells.fetches.iter().enumerate().map(place).collect()
    }

    /// Adds the memories of the functions of loop variables of a kernel. Kernels that take the same words at the same time share one.
    fn place_sequences(&mut self, kernel: &'a KernelNode) -> Vec<Signal> {
        self.cells_of(kernel).sequences.iter().map(|sequence| self.place_sequence(kernel, sequence)).collect()
    }

    fn place_sequence(&mut self, kernel: &'a KernelNode, sequence: &Sequence) -> Signal {
        let Variable { level, scale, offset } = self.variable(kernel, sequence.variable);
        let Some(level) = level else { return Signal::Constant(sequence.word(offset) as u16) };
        let counter = self.counter(kernel);
        let word = |index: i64| u64::from(sequence.word(offset + scale * index));
        let words: Vec<u64> = (0..counter.extent[level] as i64).map(word).collect();
        let tile = &self.spec.memory.as_ref().expect("memory tiles were checked").tile;
        // The first fetch is no earlier than the flush: the words come later, and their cell starts earlier than their users.
        let later = (timing::sram_to_transpose_buffer(tile.sram_latency) as i64 - counter.cycle.start).max(0);
        let firings = Firings { extent: counter.extent.clone(), cycle: counter.cycle.shifted(later) };
        let configuration = firings.sequence(tile, level, &words);
        let known = self.memories_of_sequences.iter().find(|(other, _)| *other == configuration).map(|(_, cell)| *cell);
        let cell = known.unwrap_or_else(|| {
            let name = format!("sequence_{}", self.memories_of_sequences.len());
            let cell = self.add(name, Core::Memory(configuration.clone()));
            self.memories_of_sequences.push((configuration, cell));
            cell
        });
        Signal::word(cell, 0).ago(-later)
    }

    /// The counter of the loop variables of a kernel.
    pub(super) fn counter(&self, kernel: &'a KernelNode) -> &'a Counter {
        kernel.counter.map_or(&kernel.iterations, |counter| &self.graph.counters[counter])
    }

    /// A loop variable of the operation of a kernel.
    pub(super) fn variable(&self, kernel: &KernelNode, number: usize) -> Variable {
        let variables = self.datapaths[self.first_of_unit[kernel.operation]].variables();
        let place = variables.iter().position(|other| *other == number);
        kernel.variables[place.expect("the kernel has its variables")]
    }

    /// Cycles from an index to the word of a table.
    pub(super) fn table_latency(&self) -> i64 {
        let memory = self.spec.memory.as_ref().expect("an array with tables has memory tiles");
        timing::sram_to_output(memory.tile.sram_latency) as i64
    }
}
