//! Units that kernels share: one set of cells each, which take the operands of its kernels by turns.
//!
//! Cells choose an operand by the loops of the kernels. Weights are words that each kernel holds, loaded in all lanes at once from
//! words that came one after the other. The unit holds the weights of all its kernels in the same operands, so the choice is made
//! where the words come from: once for all lanes.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_affine::{Affine, Domain};
use pushmem_cells::Cells;
use pushmem_compiler::Compiled;
use pushmem_datapaths::Datapath;
use pushmem_fabric::ArraySpec;
use pushmem_graph::{ApplicationGraph, Choice, CounterId, Edge, KernelId, UnitNode, WordDriver, WordId};
use pushmem_netlist::{CellId, Core, Sink};
use pushmem_pe::Operation;
use pushmem_tile::Role;

use super::elements::{element, passing_words};
use super::{Lowering, Signal, first_of_unit, is_by_turns};
use crate::predicates::Firings;

/// The most loads and iterations of a unit that are compared to see whether its kernels can hold words in the same operands: those of
/// an image of 2048 × 2048. Beyond, they have operands of their own.
const MOST_EVENTS: u64 = 1 << 22;

/// Units that are one set of cells each.
#[derive(Clone, Debug, Default)]
pub(super) struct Units<'a> {
    units: Vec<&'a UnitNode>,
    /// The operands in which the kernels of a unit hold words.
    held: BTreeMap<WordId, HeldOperand>,
    /// The words that they take.
    origins: Vec<ChosenWords>,
}

/// An operand that holds the words of all kernels of a unit.
#[derive(Clone, Copy, Debug)]
struct HeldOperand {
    /// Where its words come from, an index of [`Units::origins`].
    origin: usize,
    /// How many cycles after the choice it is loaded.
    cycles: i64,
}

/// Words that kernels hold, of each kernel from a net of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    /// The loops of the kernels.
    counters: Vec<CounterId>,
    /// For each kernel the net, and how many cycles before the choice.
    nets: Vec<(WordId, i64)>,
    /// For each kernel, the loads.
    loads: Vec<Firings>,
}

/// Words of which a choice is made.
#[derive(Clone, Debug)]
struct ChosenWords {
    origin: Origin,
    /// For each kernel, the cycles in which its words come.
    comes: Vec<Firings>,
}

/// Operands that may hold the words of one origin.
struct Candidate {
    origin: Origin,
    /// Their nets, and how many cycles after the choice each is loaded.
    nets: Vec<(WordId, i64)>,
    /// How many cycles after the begin of an iteration they are taken.
    arrivals: BTreeSet<i64>,
}

/// Units by their datapath, of those that can be one set of cells: cells that look up tables do so in the iterations of one kernel.
pub(super) fn groups<'a>(compiled: &'a Compiled, selected: &[Cells], spec: &ArraySpec) -> Vec<Vec<&'a UnitNode>> {
    if !spec.memory.as_ref().is_some_and(|memory| memory.tile.stencil_valid) {
        return Vec::new();
    }
    let first_of_unit = first_of_unit(&compiled.program);
    let mut groups: Vec<(usize, Vec<&UnitNode>)> = Vec::new();
    for unit in &compiled.graph.units {
        let operation = first_of_unit[compiled.graph.kernels[unit.kernels[0]].operation];
        let cells = &selected[operation];
        if cells.fetches.is_empty() && cells.sequences.is_empty() && cells.predicates.is_empty() {
            match groups.iter_mut().find(|(other, _)| *other == operation) {
                Some((_, units)) => units.push(unit),
                None => groups.push((operation, vec![unit])),
            }
        }
    }
    groups.into_iter().map(|(_, units)| units).collect()
}

impl<'a> Units<'a> {
    /// These units of a program.
    pub fn of(compiled: &'a Compiled, spec: &ArraySpec, units: Vec<&'a UnitNode>) -> Self {
        let graph = &compiled.graph;
        let mut candidates: Vec<Candidate> = Vec::new();
        for (net, arrival) in units.iter().flat_map(|unit| operands(graph, &compiled.datapaths, unit)) {
            let Some((origin, cycles)) = origin(graph, net) else { continue };
            let known = candidates.iter().position(|candidate| candidate.origin == origin);
            let place = known.unwrap_or_else(|| {
                candidates.push(Candidate { origin, nets: Vec::new(), arrivals: BTreeSet::new() });
                candidates.len() - 1
            });
            candidates[place].nets.push((net, cycles));
            candidates[place].arrivals.insert(arrival);
        }
        let mut found = Units { units, ..Units::default() };
        for Candidate { origin, nets, arrivals } in candidates {
            let chosen = origin.chosen(nets.iter().map(|(_, cycles)| *cycles));
            if spec.pe.lut && chosen.can_be_held(graph, &arrivals) && chosen.fits(spec) {
                let number = found.origins.len();
                found.origins.push(chosen);
                let held = nets.iter().map(|&(net, cycles)| (net, HeldOperand { origin: number, cycles }));
                found.held.extend(held);
            }
        }
        found
    }

    /// The unit of a kernel, if it shares one.
    pub fn of_kernel(&self, kernel: KernelId) -> Option<&'a UnitNode> {
        self.units.iter().copied().find(|unit| unit.kernels.contains(&kernel))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}

/// The operands of a unit that it takes by turns, and how many cycles after the begin of an iteration.
fn operands(graph: &ApplicationGraph, datapaths: &[Datapath], unit: &UnitNode) -> Vec<(WordId, i64)> {
    let datapath = &datapaths[graph.kernels[unit.kernels[0]].operation];
    let by_turns = |((load, _), edge): ((usize, _), &Edge)| {
        let Edge::Net { net, delay: 0 } = *edge else { return None };
        turns(graph, net).map(|_| (net, datapath.arrival(load) as i64))
    };
    datapath.operands().into_iter().zip(&unit.operands).filter_map(by_turns).collect()
}

/// A source in the cycles in which a kernel begins an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    /// The loops of the kernel.
    counter: CounterId,
    edge: Edge,
}

/// The words that a net shows by turns, one for each kernel of a unit; nothing if it is no such operand.
fn turns(graph: &ApplicationGraph, net: WordId) -> Option<Vec<Turn>> {
    let WordDriver::Select(choices) = &graph.words[net].driver else { return None };
    let unit = graph.units.iter().find(|unit| unit.operands.contains(&Edge::Net { net, delay: 0 }))?;
    let turn = |(&counter, choice): (&CounterId, &Choice)| Turn { counter, edge: choice.edge };
    is_by_turns(graph, choices).then(|| unit.counters.iter().zip(choices).map(turn).collect())
}

/// Where the words of an operand come from that each kernel holds, and how many cycles after the choice between them it is loaded.
fn origin(graph: &ApplicationGraph, net: WordId) -> Option<(Origin, i64)> {
    let turns = turns(graph, net)?;
    let held = |turn: &Turn| {
        let Edge::Net { net, delay: 0 } = turn.edge else { return None };
        let WordDriver::Hold(hold) = graph.words[net].driver else { return None };
        let Edge::Net { net, delay } = hold.edge else { return None };
        Some(((net, delay as i64), Firings::of_steps(graph, hold.counter, hold.when)))
    };
    let (nets, loads): (Vec<(WordId, i64)>, Vec<Firings>) =
        turns.iter().map(held).collect::<Option<Vec<_>>>()?.into_iter().unzip();
    let cycles = nets.iter().map(|(_, cycles)| *cycles).min()?;
    let nets = nets.into_iter().map(|(net, before)| (net, before - cycles)).collect();
    let counters = turns.iter().map(|turn| turn.counter).collect();
    Some((Origin { counters, nets, loads }, cycles))
}

impl Origin {
    /// The choice of words for operands that are loaded so many cycles later.
    fn chosen(self, cycles: impl Iterator<Item = i64>) -> ChosenWords {
        let (first, last) = cycles.minmax().into_option().expect("an operand takes its words");
        let comes = |loads: &Firings| {
            let words = (last - first + 1) as u64;
            let stride = std::iter::once(1).chain(loads.cycle.stride.iter().copied());
            Firings {
                extent: std::iter::once(words).chain(loads.extent.iter().copied()).collect::<Domain>(),
                cycle: Affine { start: loads.cycle.start - last, stride: stride.collect() },
            }
        };
        let comes = self.loads.iter().map(comes).collect();
        ChosenWords { origin: self, comes }
    }

    /// The cells that choose between the words: of all kernels but the last, unless they have one net in common.
    fn choices(&self) -> usize {
        if self.nets.iter().all_equal() { 0 } else { self.nets.len() - 1 }
    }
}

impl ChosenWords {
    /// Whether one operand can hold the words of all kernels: each finds its own word, and no two words come at once.
    fn can_be_held(&self, graph: &ApplicationGraph, arrivals: &BTreeSet<i64>) -> bool {
        let ChosenWords { origin, comes } = self;
        let counters = || origin.counters.iter().map(|counter| &graph.counters[*counter]);
        let of_loads = origin.loads.iter().chain(comes).map(Firings::count);
        let events: u64 = of_loads.chain(counters().map(|counter| counter.iterations())).sum();
        if events > MOST_EVENTS {
            return false;
        }
        let loads =
            origin.loads.iter().enumerate().flat_map(|(turn, loads)| loads.cycles().map(move |cycle| (cycle, turn)));
        let loads = loads.sorted_unstable().collect_vec();
        // A word shows from the cycle after its load on.
        let finds_its_word = |turn: usize, cycle: i64| {
            let before = loads.partition_point(|(load, _)| *load < cycle);
            before.checked_sub(1).is_some_and(|last| loads[last].1 == turn)
        };
        let finds_all = |arrival: &i64| {
            counters().enumerate().all(|(turn, counter)| {
                counter.extent.values(&counter.cycle).all(|cycle| finds_its_word(turn, cycle + arrival))
            })
        };
        let is_ascending = |comes: &Firings| comes.cycles().tuple_windows().all(|(cycle, next)| cycle < next);
        arrivals.iter().all(finds_all)
            && loads.iter().map(|(cycle, _)| cycle).all_unique()
            && comes.iter().all(is_ascending)
            && comes.iter().flat_map(Firings::cycles).all_unique()
    }

    /// Whether controllers of memory tiles can count when the words come.
    fn fits(&self, spec: &ArraySpec) -> bool {
        let Some(tile) = spec.memory.as_ref().map(|memory| &memory.tile) else { return false };
        let controllers = tile.controllers();
        let levels = controllers.iter().find(|of| of.role == Role::StencilValid).map(|of| of.levels as usize);
        let has_levels = |firings: &Firings| firings.predicate(tile).is_some_and(|of| Some(of.extent.len()) <= levels);
        self.comes.iter().chain(&self.origin.loads).all(has_levels)
    }
}

/// The turns of a unit whose source is another than that of most others, which is chosen otherwise.
fn decided(turns: &[Turn]) -> (Vec<Turn>, Edge) {
    let count = |edge: Edge| turns.iter().filter(|turn| turn.edge == edge).count();
    let otherwise = turns.iter().map(|turn| turn.edge).max_by_key(|edge| count(*edge)).expect("a unit has turns");
    (turns.iter().filter(|turn| turn.edge != otherwise).copied().collect(), otherwise)
}

impl Lowering<'_> {
    /// Adds the cells that choose the operands of units, which are not connected yet.
    pub(super) fn place_units(&mut self) {
        for unit in self.units.units.clone() {
            for (net, arrival) in operands(self.graph, self.datapaths, unit) {
                let name = &self.graph.words[net].name;
                if self.units.held.contains_key(&net) {
                    if !self.holds.contains_key(&net) {
                        let cell = self.add(name.clone(), Core::Pe(passing_words(&self.spec.pe)));
                        self.holds.insert(net, cell);
                    }
                } else if !self.turns.contains_key(&(net, arrival)) {
                    let cells = self.place_choices(name, self.decided(net).0.len());
                    self.turns.insert((net, arrival), cells);
                }
            }
        }
        for number in 0..self.units.origins.len() {
            let origin = &self.units.origins[number].origin;
            let name = format!("{}_turns", self.graph.words[origin.nets[0].0].name);
            let cells = self.place_choices(&name, origin.choices());
            self.origins.push(cells);
        }
    }

    /// Adds so many cells, each of which chooses one of two words.
    pub(super) fn place_choices(&mut self, name: &str, count: usize) -> Vec<CellId> {
        let choice = |number| {
            let select = Core::Pe(element(&self.spec.pe, Operation::Select, None));
            self.add(format!("{name}_{number}"), select)
        };
        (1..=count).map(choice).collect()
    }

    /// The decided turns of an operand of a unit, and the edge that is chosen otherwise.
    fn decided(&self, net: WordId) -> (Vec<Turn>, Edge) {
        decided(&turns(self.graph, net).expect("units take such operands by turns"))
    }

    /// An operand of a kernel, in the cycle in which the kernel begins an iteration.
    pub(super) fn operand(&self, kernel: KernelId, operand: usize) -> Signal {
        let own = &self.graph.kernels[kernel];
        let datapath = &self.datapaths[own.operation];
        let (load, _) = datapath.operands()[operand];
        let arrival = datapath.arrival(load) as i64;
        let edge = self.units.of_kernel(kernel).map_or(own.operands[operand], |unit| unit.operands[operand]);
        let choices = match edge {
            Edge::Net { net, delay: 0 } => self.turns.get(&(net, arrival)).map(|cells| (net, cells)),
            _ => None,
        };
        match choices {
            None => self.edge(edge).ago(-arrival),
            Some((_, cells)) if !cells.is_empty() => Signal::word(cells[0], 0),
            Some((net, _)) => self.edge(self.decided(net).1).ago(-arrival),
        }
    }

    /// Connects the cells that choose the operands of units.
    pub(super) fn connect_units(&mut self) {
        for ((net, arrival), cells) in self.turns.clone() {
            let (turns, otherwise) = self.decided(net);
            let case = |turn: &Turn| {
                let begins = Firings::of_steps(self.graph, turn.counter, None);
                (begins, self.edge(turn.edge).ago(-arrival))
            };
            let cases = turns.iter().map(case).collect();
            let otherwise = self.edge(otherwise).ago(-arrival);
            self.connect_choices(&cells, cases, otherwise);
        }
        for number in 0..self.units.origins.len() {
            let ChosenWords { origin: Origin { nets, .. }, comes } = self.units.origins[number].clone();
            let cells = self.origins[number].clone();
            let mut words = nets.into_iter().map(|(net, cycles)| self.net(net).ago(cycles)).collect_vec();
            let otherwise = words.pop().expect("a unit has kernels");
            self.connect_choices(&cells, comes.into_iter().zip(words).collect(), otherwise);
        }
        for (net, HeldOperand { origin, cycles }) in self.units.held.clone() {
            let Origin { nets, loads, .. } = self.units.origins[origin].origin.clone();
            let chosen = match self.origins[origin].first() {
                Some(cell) => Signal::word(*cell, 0),
                None => self.net(nets[0].0).ago(nets[0].1),
            };
            self.connect_hold(net, chosen.ago(cycles), loads);
        }
    }

    /// Connects cells that choose: each the word of its case in these cycles, or the result of the next cell.
    pub(super) fn connect_choices(&mut self, cells: &[CellId], cases: Vec<(Firings, Signal)>, otherwise: Signal) {
        for (number, (&cell, (firings, word))) in cells.iter().zip(cases).enumerate() {
            let (bit, cycles) = self.predicate(firings);
            self.connect(bit, Sink { cell, port: 0, cycles });
            self.set_bit_mode(cell, 0);
            self.connect_word(word, cell, 0);
            let next = cells.get(number + 1).map_or(otherwise, |next| Signal::word(*next, 0));
            self.connect_word(next, cell, 1);
        }
    }
}
