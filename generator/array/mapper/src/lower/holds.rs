//! Hold registers: words that wait for the reads of them are held operands of processing elements.
//!
//! Each hold register is a cell that passes its word on. Where few others read it, the cell is not needed: their own operands hold
//! the word. The enables are bits of loop indices. One that is another one some cycles later comes from the same predicate, or from
//! an element that was enabled before and hands its enable on: so words that come one after the other need one predicate.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::Layer;
use pushmem_graph::WordId;
use pushmem_netlist::{CellId, Core, Port, Sink};
use pushmem_pe::{ENABLE, Mode, Operation, PeConfiguration};

use super::elements::element;
use super::{Lowered, Lowering, PREDICATE_DELAY, Signal, word_port};
use crate::predicates::Firings;

/// The most readers of a word whose operands all hold it. Where there are more, a cell holds it for all: each reader would need
/// the enable.
const MOST_READERS: usize = 4;

/// The table whose entry is the enable.
const ENABLE_TABLE: u8 = 0xf0;

/// The table whose entry is whether any of its bits is 1, and how many it has.
const ANY_TABLE: u8 = 0xfe;
const BITS_OF_TABLE: usize = 3;

/// A cell that holds the word of a net.
#[derive(Clone, Copy, Debug)]
pub(super) struct HoldCell {
    cell: CellId,
    /// Its word, and how long ago.
    of: Port,
    cycles: i64,
}

impl Lowering<'_> {
    /// Connects the cell of a hold register, which takes its word in the cycle after a load, as the register shows it.
    pub(super) fn connect_hold(&mut self, net: WordId, word: Signal, loads: Vec<Firings>) {
        let cell = self.holds[&net];
        let signal = word.ago(1);
        self.connect_word(signal, cell, 0);
        // A constant needs no register.
        let Signal::Delayed { of, cycles } = signal else { return };
        self.element(cell).words[0].mode = Mode::Held;
        let memory = self.spec.memory.as_ref().expect("programs are compiled for arrays with memory tiles");
        let schedule = |loads: Firings| {
            let schedule = loads.predicate(&memory.tile).expect("memory tiles were checked");
            later(&schedule, 1)
        };
        self.enables.insert(cell, loads.into_iter().map(schedule).collect());
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
            let schedules = self.enables.remove(&cell).expect("a hold cell has an enable");
            for reader in readers {
                self.element(reader.cell).words[reader.port as usize].mode = Mode::Held;
                self.enables.insert(reader.cell, all_later(&schedules, reader.cycles));
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
        let order = |(cell, schedules): &(CellId, Vec<ControllerConfiguration>)| {
            let shape =
                |of: &ControllerConfiguration| (of.extent.iter().copied().collect_vec(), of.cycle.stride.clone());
            (schedules.iter().map(shape).collect_vec(), schedules[0].cycle.start, *cell)
        };
        let mut connected: Vec<(CellId, Vec<ControllerConfiguration>)> = Vec::new();
        // The elements that join the bits of several schedules.
        let mut joined: Vec<(CellId, Vec<ControllerConfiguration>)> = Vec::new();
        for (cell, schedules) in enables.sorted_by_key(order) {
            let known = match &schedules[..] {
                [schedule] => self.place_of_predicate(schedule).map(|_| self.scheduled(schedule.clone())),
                _ => known_earlier(&schedules, 0, &joined, |_| true),
            };
            let known = known.or_else(|| self.handed_on(cell, &schedules, &connected));
            let (of, cycles) = known.unwrap_or_else(|| match &schedules[..] {
                [schedule] => self.scheduled(schedule.clone()),
                _ => {
                    let cell = self.any_of(&schedules);
                    joined.push((cell, schedules.clone()));
                    (bit_port(cell), 0)
                }
            });
            self.connect(of, Sink { cell, port: ENABLE as u32, cycles });
            self.set_bit_mode(cell, ENABLE);
            connected.push((cell, schedules));
        }
    }

    /// Adds an element whose bit is 1 in the cycles of any of these schedules.
    fn any_of(&mut self, schedules: &[ControllerConfiguration]) -> CellId {
        let mut bits = schedules.iter().map(|schedule| self.scheduled(schedule.clone())).collect_vec();
        loop {
            let cell =
                self.add("enable".to_owned(), Core::Pe(element(&self.spec.pe, Operation::Pass, Some(ANY_TABLE))));
            let rest = bits.split_off(bits.len().min(BITS_OF_TABLE));
            for (port, (bit, cycles)) in bits.into_iter().enumerate() {
                self.connect(bit, Sink { cell, port: port as u32, cycles });
                self.set_bit_mode(cell, port);
            }
            if rest.is_empty() {
                return cell;
            }
            bits = std::iter::once((bit_port(cell), 0)).chain(rest).collect();
        }
    }

    /// The bit of an element that was enabled a few cycles earlier, if it has no bit of another use and does not depend on the cell
    /// that wants it: such a loop would have no cycles to spare.
    fn handed_on(
        &mut self,
        to: CellId,
        schedules: &[ControllerConfiguration],
        connected: &[(CellId, Vec<ControllerConfiguration>)],
    ) -> Option<(Port, i64)> {
        let dependent = self.dependent_on(to);
        let is_free = |cell: CellId| {
            let Core::Pe(pe) = &self.netlist.cells[cell].core else { return false };
            let hands_on = pe.lut == Some(ENABLE_TABLE);
            (hands_on || (pe.lut.is_none() && !self.nets.contains_key(&bit_port(cell)))) && !dependent.contains(&cell)
        };
        let (of, cycles) = known_earlier(schedules, 1, connected, is_free)?;
        self.element(of.cell).lut = Some(ENABLE_TABLE);
        Some((of, cycles))
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

/// The bit of the last of these cells that has it for the same schedules, at least so many and at most a few cycles earlier.
fn known_earlier(
    schedules: &[ControllerConfiguration],
    least: i64,
    cells: &[(CellId, Vec<ControllerConfiguration>)],
    is_free: impl Fn(CellId) -> bool,
) -> Option<(Port, i64)> {
    cells.iter().rev().find_map(|(cell, earlier)| {
        let cycles = schedules[0].cycle.start - earlier[0].cycle.start;
        let is_same = (least..=PREDICATE_DELAY).contains(&cycles) && all_later(earlier, cycles) == schedules;
        (is_same && is_free(*cell)).then_some((bit_port(*cell), cycles))
    })
}

/// The bit of a cell.
fn bit_port(cell: CellId) -> Port {
    Port { cell, layer: Layer::Bit, port: 0 }
}

/// Schedules some cycles later.
fn all_later(schedules: &[ControllerConfiguration], cycles: i64) -> Vec<ControllerConfiguration> {
    schedules.iter().map(|schedule| later(schedule, cycles)).collect()
}

/// A schedule some cycles later.
pub(super) fn later(schedule: &ControllerConfiguration, cycles: i64) -> ControllerConfiguration {
    ControllerConfiguration { cycle: schedule.cycle.shifted(cycles), ..schedule.clone() }
}

impl Lowered {
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
        let of_banks = self.netlist.banks.iter_mut().flat_map(|bank| [&mut bank.load, &mut bank.store]);
        let of_stages = self.stages.iter_mut().flat_map(|stage| &mut stage.cells);
        streams.chain(of_banks).chain(of_stages).for_each(|cell| *cell = numbers[cell]);
        self
    }
}
