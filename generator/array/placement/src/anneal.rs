//! Simulated annealing.

use index_vec::IndexVec;
use pushmem_fabric::{ArraySpec, Direction, Place};
use pushmem_netlist::{CellId, Connection, Netlist};
use pushmem_starts::{Demand, LoopConnection, prices};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::capacity::{CapacityError, check_capacity};
use crate::cost::{Cost, Lessons};
use crate::distance::demand;
use crate::placement::Placement;
use crate::slots::{Class, SlotOf, Slots, classes};

/// How long to anneal: moves of each cell at each temperature. VPR's number of moves grows with the number of cells to the power
/// of 4/3; here it grows with the number of cells, so that large arrays take no longer per cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort(pub f32);

impl Default for Effort {
    fn default() -> Self {
        Effort(25.0)
    }
}

/// Prices are of use from the temperature on at which so few moves are accepted: before, places are random.
const PRICED_RATE: f32 = 0.6;

/// Prices are new each time that the temperature has fallen so far: more often, most of the time would go there.
const PRICED_STEP: f32 = 0.7;

/// The temperature at which a placement is mended, in the mean cost of a term: enough for cells to leave the neighbours that they
/// have, not their part of the array.
const MENDING: f32 = 1.0;

/// Places the cells of a netlist. `recurrences` are its loops, `lessons` what was wrong with placements before. With the last of
/// these, that is mended; without, cells begin at random places.
///
/// # Errors
/// When there are fewer tiles of a kind than cells.
pub fn place(
    netlist: &Netlist,
    spec: &ArraySpec,
    recurrences: &[LoopConnection],
    lessons: &Lessons,
    seed: u64,
    effort: Effort,
    before: Option<&Placement>,
) -> Result<Placement, CapacityError> {
    check_capacity(netlist, spec)?;
    let mut annealer = Annealer::new(netlist, spec, recurrences, lessons, seed);
    if let Some(before) = before {
        annealer.put(before);
    }
    if netlist.cells.len() > 1 {
        annealer.anneal(effort, before.is_some());
    }
    Ok(Placement { places: annealer.places })
}

struct Annealer<'a> {
    netlist: &'a Netlist,
    spec: &'a ArraySpec,
    cost: Cost<'a>,
    /// The value of each term.
    values: Vec<f32>,
    classes: IndexVec<CellId, Class>,
    slots: [Slots; Class::ALL.len()],
    slot_of: SlotOf,
    places: IndexVec<CellId, Place>,
    /// Whether a cell keeps its place.
    is_fixed: IndexVec<CellId, bool>,
    random: ChaCha8Rng,
    /// The number of the last move that looked at each term.
    looked: Vec<u32>,
    moves: u32,
    /// The terms that a move changes, with their new values.
    changed: Vec<(u32, f32)>,
    /// The largest distance between two places.
    extent: u32,
}

impl<'a> Annealer<'a> {
    fn new(
        netlist: &'a Netlist,
        spec: &'a ArraySpec,
        recurrences: &[LoopConnection],
        lessons: &Lessons,
        seed: u64,
    ) -> Self {
        let cost = Cost::new(netlist, spec, recurrences, lessons);
        let classes = classes(netlist);
        let mut slots = Class::ALL.map(|class| Slots::of(spec, class));
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut slot_of: SlotOf = netlist.cells.iter().map(|_| 0).collect();
        let mut places: IndexVec<CellId, Place> = netlist.cells.iter().map(|_| Place { row: 0, column: 0 }).collect();
        let mut free = Class::ALL.map(|class| (0..slots[class as usize].len()).collect::<Vec<usize>>());
        // Both cells of a memory in a bank are there.
        let mut is_fixed: IndexVec<CellId, bool> = netlist.cells.iter().map(|_| false).collect();
        for (bank, cells) in bank_numbers(netlist, spec).zip(&netlist.banks) {
            for (cell, class, direction) in
                [(cells.load, Class::Input, Direction::In), (cells.store, Class::Output, Direction::Out)]
            {
                let buffer = spec.global_buffer.as_ref().expect("an array with banks has a global buffer");
                let place = Place { row: 0, column: buffer.column(bank, direction) };
                let slot = slots[class as usize].slot(place);
                slots[class as usize].put(slot, Some(cell));
                (slot_of[cell], places[cell], is_fixed[cell]) = (slot, place, true);
                free[class as usize].retain(|other| *other != slot);
            }
        }
        let mut put = |cell: CellId, class: Class, free: &mut Vec<usize>| {
            let slot = free.swap_remove(random.random_range(0..free.len()));
            slots[class as usize].put(slot, Some(cell));
            (slot_of[cell], places[cell]) = (slot, slots[class as usize].place(slot));
            slot
        };
        let mut beside = Vec::new();
        let is_free = |(cell, class): &(CellId, &Class)| **class != Class::Predicate && !is_fixed[*cell];
        for (cell, class) in classes.iter_enumerated().filter(is_free) {
            let slot = put(cell, *class, &mut free[*class as usize]);
            if *class == Class::Memory && netlist.cells[cell].core.predicate().is_none() {
                beside.push(slot);
            }
        }
        // Predicates are beside memories as long as there are some.
        let empty = &mut free[Class::Memory as usize];
        for (cell, class) in classes.iter_enumerated().filter(|(_, class)| **class == Class::Predicate) {
            put(cell, *class, if beside.is_empty() { empty } else { &mut beside });
        }
        let values: Vec<f32> = (0..cost.terms()).map(|term| cost.term(term, &places)).collect();
        let looked = vec![0; cost.terms()];
        let extent = spec.columns.max(spec.rows);
        Annealer {
            netlist,
            spec,
            cost,
            values,
            classes,
            slots,
            slot_of,
            places,
            is_fixed,
            random,
            looked,
            moves: 0,
            changed: Vec::new(),
            extent,
        }
    }

    /// Puts all cells where a placement has them.
    fn put(&mut self, placement: &Placement) {
        let cells = || placement.places.iter_enumerated();
        for (cell, _) in cells() {
            self.slots[self.classes[cell] as usize].put(self.slot_of[cell], None);
        }
        for (cell, place) in cells() {
            let slots = &mut self.slots[self.classes[cell] as usize];
            let slot = slots.slot(*place);
            slots.put(slot, Some(cell));
            (self.slot_of[cell], self.places[cell]) = (slot, *place);
        }
        for (term, value) in self.values.iter_mut().enumerate() {
            *value = self.cost.term(term, &self.places);
        }
    }

    /// The mean cost of a term.
    fn mean(&self) -> f32 {
        self.values.iter().sum::<f32>() / self.values.len().max(1) as f32
    }

    fn anneal(&mut self, effort: Effort, is_mended: bool) {
        let cells = self.places.len() as f32;
        let moves = ((effort.0 * cells) as usize).max(20);
        let mut range = self.extent as f32;
        let mut temperature = if is_mended { MENDING * self.mean() } else { 20.0 * self.spread() };
        let mut priced_at = f32::INFINITY;
        loop {
            let accepted = (0..moves).filter(|_| self.step(temperature, range.round() as u32)).count();
            let rate = accepted as f32 / moves as f32;
            let mean = self.mean();
            if temperature < 0.005 * mean || mean == 0.0 {
                break;
            }
            // The schedule of VPR: slow where about 44 % of the moves are accepted, in a window that keeps it there.
            temperature *= match rate {
                rate if rate > 0.96 => 0.5,
                rate if rate > 0.8 => 0.9,
                rate if rate > 0.15 && range > 1.0 => 0.95,
                _ => 0.8,
            };
            if rate < PRICED_RATE && temperature < PRICED_STEP * priced_at {
                priced_at = temperature;
                self.price();
            }
            range = (range * (1.0 - 0.44 + rate)).clamp(1.0, self.extent as f32);
        }
        for _ in 0..moves {
            self.step(0.0, range.round() as u32);
        }
    }

    /// Gives each connection the price of its registers between the places of now.
    fn price(&mut self) {
        let places = &self.places;
        let demand = |connection: Connection| {
            let (from, to) = (places[connection.of.source], places[connection.sink.cell]);
            demand(self.netlist, self.spec, &connection, from, to)
        };
        let demands: Vec<Demand> = self.netlist.connections().map(demand).collect();
        // Where a loop is too long, the loop comes first.
        let Ok(prices) = prices(self.netlist, &demands) else { return };
        for term in self.cost.move_prices(&prices) {
            self.values[term] = self.cost.term(term, &self.places);
        }
    }

    /// The standard deviation of the cost over as many random moves as there are cells.
    fn spread(&mut self) -> f32 {
        let moves = self.places.len();
        let costs: Vec<f32> = (0..moves)
            .map(|_| {
                self.step(f32::INFINITY, self.extent);
                self.values.iter().sum()
            })
            .collect();
        let mean = costs.iter().sum::<f32>() / moves as f32;
        (costs.iter().map(|cost| (cost - mean).powi(2)).sum::<f32>() / moves as f32).sqrt()
    }

    /// Tries to move a cell to another slot within a range, in exchange for the cell there; whether it was moved.
    fn step(&mut self, temperature: f32, range: u32) -> bool {
        let cell = CellId::from(self.random.random_range(0..self.places.len()));
        let class = self.classes[cell] as usize;
        let from = self.slot_of[cell];
        let (columns, rows) = self.slots[class].near(self.places[cell], range.max(1));
        let to = self.slots[class].at(self.random.random_range(columns), self.random.random_range(rows));
        let keeps = |cell: CellId| self.is_fixed[cell];
        if to == from || keeps(cell) || self.slots[class].cell(to).is_some_and(keeps) {
            return false;
        }
        let class = self.classes[cell];
        if class == Class::Predicate && !self.is_room(from, to) {
            return false;
        }
        self.exchange(class, from, to);
        let change = self.change(class, from, to);
        let is_taken =
            change <= 0.0 || (temperature > 0.0 && self.random.random::<f32>() < (-change / temperature).exp());
        if is_taken {
            for (term, value) in self.changed.drain(..) {
                self.values[term as usize] = value;
            }
        } else {
            self.exchange(class, from, to);
        }
        is_taken
    }

    /// Whether a predicate may move: beside a memory that leaves its bit to others, in exchange for another predicate, or from a
    /// tile of its own to another. So no more tiles are taken than at first.
    fn is_room(&self, from: usize, to: usize) -> bool {
        let memory = |slot: usize| self.slots[Class::Memory as usize].cell(slot);
        match memory(to) {
            Some(memory) => self.netlist.cells[memory].core.predicate().is_none(),
            None => memory(from).is_none() || self.slots[Class::Predicate as usize].cell(to).is_some(),
        }
    }

    /// Exchanges the cells of two slots. A memory takes the predicate of its tile along.
    fn exchange(&mut self, class: Class, from: usize, to: usize) {
        for &class in moving(class) {
            let slots = &mut self.slots[class as usize];
            let cells = [(to, slots.cell(from)), (from, slots.cell(to))];
            for (slot, cell) in cells {
                slots.put(slot, cell);
                if let Some(cell) = cell {
                    (self.slot_of[cell], self.places[cell]) = (slot, slots.place(slot));
                }
            }
        }
    }

    /// The change of the cost by the new places of the cells of two slots, term by term.
    fn change(&mut self, class: Class, from: usize, to: usize) -> f32 {
        self.moves = self.moves.wrapping_add(1);
        self.changed.clear();
        let mut change = 0.0;
        let cells = |class: &Class| [to, from].map(|slot| self.slots[*class as usize].cell(slot));
        for cell in moving(class).iter().flat_map(cells).flatten() {
            for &term in self.cost.of_cell(cell) {
                if std::mem::replace(&mut self.looked[term as usize], self.moves) == self.moves {
                    continue;
                }
                let value = self.cost.term(term as usize, &self.places);
                change += value - self.values[term as usize];
                self.changed.push((term, value));
            }
        }
        change
    }
}

/// The banks of the memories of a netlist, spread over the columns of the array, which may be fewer than those of all banks.
fn bank_numbers(netlist: &Netlist, spec: &ArraySpec) -> impl Iterator<Item = u32> {
    let banks = spec.global_buffer.as_ref().map_or(0, |buffer| spec.columns / buffer.columns);
    let memories = netlist.banks.len() as u32;
    (0..memories).map(move |memory| (2 * memory + 1) * banks / (2 * memories))
}

/// The classes of the cells that move with one of this class.
fn moving(class: Class) -> &'static [Class] {
    match class {
        Class::Pe => &[Class::Pe],
        Class::Memory => &[Class::Memory, Class::Predicate],
        Class::Predicate => &[Class::Predicate],
        Class::Input => &[Class::Input],
        Class::Output => &[Class::Output],
    }
}
