//! Hold registers: words that wait for the reads of them are held operands of processing elements.
//!
//! Each hold register is a cell that passes its word on. Where few others read it, the cell is not needed: their own operands hold
//! the word. The enables are bits of loop indices. One that is another one some cycles later comes from the same predicate, or from
//! an element that was enabled before and hands its enable on: so words that come one after the other need one predicate.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::Layer;
use pushmem_graph::{Condition, CounterId, WireId};
use pushmem_netlist::{CellId, Core, Port, Sink};
use pushmem_pe::{Configuration as PeConfiguration, ENABLE, Mode};

use super::{Lowering, PREDICATE_DELAY, Parts, Signal, word_port};
use crate::predicates::Firings;

/// The most readers of a word whose operands all hold it. Where there are more, a cell holds it for all: each reader would need
/// the enable.
const MOST_READERS: usize = 4;

/// The table whose entry is the enable.
const ENABLE_TABLE: u8 = 0xf0;

/// A cell that holds the word of a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct HoldCell {
    cell: CellId,
    /// Its word, and how long ago.
    of: Port,
    cycles: i64,
}

impl Lowering<'_> {
    /// Connects the cell of a hold register, which takes its word in the cycle after a load, as the register shows it.
    pub(super) fn connect_hold(
        &mut self,
        wire: WireId,
        of: WireId,
        counter: CounterId,
        conditions: &[(usize, Condition)],
    ) {
        let cell = self.holds[&wire];
        let signal = self.wire(of).ago(1);
        self.connect_word(signal, cell, 0);
        // A constant needs no register.
        let Signal::Delayed { of, cycles } = signal else { return };
        self.element(cell).words[0].mode = Mode::Held;
        let mut loads = Firings::of_conditions(&self.accelerator.counters[counter], conditions);
        loads.cycle.start += 1;
        let memory = self.spec.memory.as_ref().expect("programs are compiled for arrays with memory tiles");
        let schedule = loads.predicate(&memory.tile).expect("memory tiles were checked");
        self.enables.insert(cell, schedule);
        self.hold_cells.push(HoldCell { cell, of, cycles });
    }

    fn element(&mut self, cell: CellId) -> &mut PeConfiguration {
        match &mut self.netlist.cells[cell].core {
            Core::Pe(configuration) => configuration,
            _ => unreachable!("operands are those of processing elements"),
        }
    }

    /// Lets the readers of held words hold them, where all readers of a word can. Gives the cells that are not needed any more.
    pub(super) fn fold_holds(&mut self) -> BTreeSet<CellId> {
        let mut folded = BTreeSet::new();
        for hold in std::mem::take(&mut self.hold_cells) {
            let HoldCell { cell, of, cycles } = hold;
            let port = word_port(cell);
            let readers = self.nets.get(&port).cloned().unwrap_or_default();
            let are_apart = readers.iter().map(|reader| reader.cell).all_unique();
            if readers.len() > MOST_READERS || !are_apart || !readers.iter().all(|reader| self.can_hold(reader)) {
                continue;
            }
            let schedule = self.enables.remove(&cell).expect("a hold cell has an enable");
            for reader in readers {
                self.element(reader.cell).words[reader.port as usize].mode = Mode::Held;
                self.enables.insert(reader.cell, later(&schedule, reader.cycles));
                self.connect(of, Sink { cycles: cycles + reader.cycles, ..reader });
            }
            self.nets.remove(&port);
            let sinks = self.nets.get_mut(&of).expect("the cell takes its word from there");
            sinks.retain(|sink| sink.cell != cell);
            if sinks.is_empty() {
                self.nets.remove(&of);
            }
            folded.insert(cell);
        }
        folded
    }

    /// Whether the operand of a reader can hold its word. An element has one enable; it holds one word, so that the other ones can
    /// come late.
    fn can_hold(&self, reader: &Sink) -> bool {
        let Core::Pe(pe) = &self.netlist.cells[reader.cell].core else { return false };
        let is_direct = pe.words[reader.port as usize].mode == Mode::Direct;
        is_direct && pe.lut.is_none() && !self.enables.contains_key(&reader.cell)
    }

    /// Connects the enables of all held operands, those of one shape from the first to the last.
    pub(super) fn connect_enables(&mut self) {
        let enables = std::mem::take(&mut self.enables).into_iter();
        let order = |(cell, schedule): &(CellId, ControllerConfiguration)| {
            let shape = (schedule.extent.iter().copied().collect_vec(), schedule.cycle.stride.clone());
            (shape, schedule.cycle.start, *cell)
        };
        let mut connected: Vec<(CellId, ControllerConfiguration)> = Vec::new();
        for (cell, schedule) in enables.sorted_by_key(order) {
            let (of, cycles) = match self.place_of_predicate(&schedule).is_some() {
                true => self.scheduled(schedule.clone()),
                false => {
                    let handed_on = self.handed_on(cell, &schedule, &connected);
                    handed_on.unwrap_or_else(|| self.scheduled(schedule.clone()))
                }
            };
            self.connect(of, Sink { cell, port: ENABLE as u32, cycles });
            self.set_bit_mode(cell, ENABLE);
            connected.push((cell, schedule));
        }
    }

    /// The bit of an element that was enabled a few cycles earlier, if it has no bit of another use and does not depend on the cell
    /// that wants it: such a loop would have no cycles to spare.
    fn handed_on(
        &mut self,
        to: CellId,
        schedule: &ControllerConfiguration,
        connected: &[(CellId, ControllerConfiguration)],
    ) -> Option<(Port, i64)> {
        let bit = |cell: CellId| Port { cell, layer: Layer::Bit, port: 0 };
        let dependent = self.dependent_on(to);
        let (cell, cycles) = connected.iter().rev().find_map(|(cell, earlier)| {
            let cycles = schedule.cycle.start - earlier.cycle.start;
            let Core::Pe(pe) = &self.netlist.cells[*cell].core else { return None };
            let is_free = pe.lut == Some(ENABLE_TABLE) || (pe.lut.is_none() && !self.nets.contains_key(&bit(*cell)));
            let is_same = later(earlier, cycles) == *schedule && (1..=PREDICATE_DELAY).contains(&cycles);
            (is_same && is_free && !dependent.contains(cell)).then_some((*cell, cycles))
        })?;
        self.element(cell).lut = Some(ENABLE_TABLE);
        Some((bit(cell), cycles))
    }

    /// A cell and all that depend on what it gives.
    fn dependent_on(&self, cell: CellId) -> BTreeSet<CellId> {
        let mut dependent = BTreeSet::from([cell]);
        let mut open = vec![cell];
        while let Some(cell) = open.pop() {
            let first = Port { cell, layer: Layer::Word, port: 0 };
            let of_cell = self.nets.range(first..).take_while(|(port, _)| port.cell == cell);
            let readers = of_cell.flat_map(|(_, sinks)| sinks).map(|sink| sink.cell);
            open.extend(readers.filter(|reader| dependent.insert(*reader)));
        }
        dependent
    }
}

/// A schedule some cycles later.
pub(super) fn later(schedule: &ControllerConfiguration, cycles: i64) -> ControllerConfiguration {
    ControllerConfiguration { cycle: schedule.cycle.shifted(cycles), ..schedule.clone() }
}

impl Parts {
    /// The same without cells that drive nothing and read nothing.
    pub(super) fn without(mut self, removed: &BTreeSet<CellId>) -> Self {
        let kept = self.netlist.cells.indices().filter(|cell| !removed.contains(cell));
        let numbers: BTreeMap<CellId, CellId> = kept.enumerate().map(|(new, old)| (old, CellId::from(new))).collect();
        let cells = std::mem::take(&mut self.netlist.cells).into_iter_enumerated();
        self.netlist.cells = cells.filter(|(cell, _)| !removed.contains(cell)).map(|(_, content)| content).collect();
        for net in &mut self.netlist.nets {
            net.source = numbers[&net.source];
            net.sinks.iter_mut().for_each(|sink| sink.cell = numbers[&sink.cell]);
        }
        self.stages.iter_mut().for_each(|stage| stage.cells.retain(|cell| numbers.contains_key(cell)));
        let streams = self.inputs.iter_mut().chain(&mut self.outputs).flatten();
        let of_stages = self.stages.iter_mut().flat_map(|stage| &mut stage.cells);
        streams.chain(of_stages).for_each(|cell| *cell = numbers[cell]);
        self
    }
}
