//! Accumulators: an element whose result comes back to it a cycle later, or a constant in its place, needs no route for that.
//!
//! A running sum is such a loop: an addition, and a selection that gives the first value in place of the sum before. Over tracks it
//! takes a cycle for each of its two elements; the accumulated operand of the addition is both, and takes one.

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_cells::BitSource;
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::Layer;
use pushmem_graph::{BitDriver, WordDriver};
use pushmem_netlist::{CellId, Core, Port, Sink};
use pushmem_pe::{Mode, Operand, Operation, PeConfiguration};

use super::holds::later;
use super::{Lowering, word_port};
use crate::predicates::Chosen;

/// A selection between the result of an element in the cycle before and a constant, which the element takes.
struct Loop {
    element: CellId,
    /// The operand of the element that takes the selection.
    port: usize,
    constant: u32,
    /// The cycles in which the element takes the constant.
    schedule: ControllerConfiguration,
}

impl<'a> Lowering<'a> {
    /// Lets the elements of such loops accumulate, where the processing element can. Gives the selections that are not needed any more.
    pub(super) fn fold_accumulators(&mut self) -> BTreeSet<CellId> {
        let mut folded = BTreeSet::new();
        let Some(operand) = self.spec.pe.modes().accumulator else { return folded };
        for (select, chosen) in self.selecting_cells() {
            let Some(found) = self.accumulation(select, &chosen) else { continue };
            let Some(element) = self.accumulating(&found, operand as usize) else { continue };
            let Loop { element: cell, port, schedule, .. } = found;
            let of_select = self.nets.get_mut(&word_port(select)).expect("the element takes its word");
            of_select.retain(|sink| sink.cell != cell);
            self.exchange_inputs(cell, &element, port);
            self.netlist.cells[cell].core = Core::Pe(element);
            self.enables.insert(cell, vec![schedule]);
            if self.nets[&word_port(select)].is_empty() {
                self.nets.values_mut().for_each(|sinks| sinks.retain(|sink| sink.cell != select));
                folded.insert(select);
            }
        }
        self.nets.retain(|_, sinks| !sinks.is_empty());
        folded
    }

    /// The cells that choose by loop indices, with the steps in which they choose their first word.
    fn selecting_cells(&self) -> Vec<(CellId, Chosen<'a>)> {
        let mut found = Vec::new();
        for (number, kernel) in self.graph.kernels.iter_enumerated() {
            let cells = self.cells_of(kernel);
            for (cell, &of_netlist) in cells.cells.iter().zip(&self.kernels[number]) {
                if let (Operation::Select, None, BitSource::Predicate(predicate)) =
                    (cell.operation, cell.lut, cell.bits[0].source)
                    && let Some(chosen) = self.chosen_by_predicate(kernel, &cells.predicates[predicate])
                {
                    found.push((of_netlist, chosen));
                }
            }
        }
        for (net, of_netlist) in &self.selections {
            let WordDriver::Select(choices) = &self.graph.words[*net].driver else { continue };
            for (cell, choice) in of_netlist.iter().zip(choices) {
                let driver = choice.when.map(|bit| &self.graph.bits[bit].driver);
                if let Some(BitDriver::Indices { counter, conditions }) = driver {
                    found.push((*cell, Chosen::by_conditions(&self.graph.counters[*counter], conditions)));
                }
            }
        }
        found
    }

    /// The loop through a cell that chooses, if there is one.
    fn accumulation(&self, select: CellId, chosen: &Chosen) -> Option<Loop> {
        let Core::Pe(pe) = &self.netlist.cells[select].core else { return None };
        let is_constant = |port: usize| pe.words[port].mode == Mode::Constant;
        let (constant, firings) = match (is_constant(0), is_constant(1)) {
            (true, false) => (pe.words[0].constant, chosen.inside()?),
            (false, true) => (pe.words[1].constant, chosen.outside()?),
            _ => return None,
        };
        let only_sink = |of: Port, cell: CellId| {
            let sinks = self.nets.get(&of)?.iter().filter(|sink| sink.cell == cell);
            sinks.exactly_one().ok()
        };
        let takes_it_next = |sink: &&Sink| {
            let back = only_sink(word_port(sink.cell), select);
            only_sink(word_port(select), sink.cell).is_some() && back.is_some_and(|back| back.cycles + sink.cycles == 1)
        };
        let sink = self.nets.get(&word_port(select))?.iter().find(takes_it_next)?;
        let memory = self.spec.memory.as_ref().expect("programs are compiled for arrays with memory tiles");
        let schedule = later(&firings.predicate(&memory.tile)?, sink.cycles);
        Some(Loop { element: sink.cell, port: sink.port as usize, constant, schedule })
    }

    /// The element of a loop with the accumulated operand, if its operation can take the word there.
    fn accumulating(&self, found: &Loop, operand: usize) -> Option<PeConfiguration> {
        let Core::Pe(element) = &self.netlist.cells[found.element].core else { return None };
        // One bit enables, and tables read it, too.
        if element.lut.is_some() || self.enables.contains_key(&found.element) {
            return None;
        }
        let mut element = *element;
        if found.port != operand {
            match element.operation {
                operation if operation.commutes() && operand < 2 && found.port < 2 => {
                    element.words.swap(found.port, operand);
                }
                Operation::Add if operand == 2 && self.spec.pe.opcode(Operation::AddThree).is_some() => {
                    element.operation = Operation::AddThree;
                    element.words[found.port] = Operand { mode: Mode::Constant, constant: 0 };
                }
                _ => return None,
            }
        }
        element.words[operand] = Operand { mode: Mode::Accumulated, constant: found.constant };
        Some(element)
    }

    /// Connects what the accumulated operand took before to the operand in whose place the loop was.
    fn exchange_inputs(&mut self, cell: CellId, element: &PeConfiguration, port: usize) {
        if element.words[port].mode != Mode::Direct {
            return;
        }
        let of_words = self.nets.iter_mut().filter(|(of, _)| of.layer == Layer::Word).flat_map(|(_, sinks)| sinks);
        for sink in of_words.filter(|sink| sink.cell == cell && element.words[sink.port as usize].mode != Mode::Direct)
        {
            sink.port = port as u32;
        }
    }
}
