//! The loops of a graph and of a netlist in time, as far as they decide what a period repeats.

use index_vec::IndexVec;
use num_integer::{gcd, lcm};
use pushmem_affine::{Affine, Domain, MOST_ITERATIONS};
use pushmem_configuration::{Configuration, ControllerConfiguration};
use pushmem_graph::{ApplicationGraph, ArrayAccesses, ArrayId, BitDriver, Condition, PortAccesses};
use pushmem_netlist::{CellId, Core, Lane, Netlist};
use pushmem_tile::TileSpec;

/// A memory whose words may move on from period to period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Memory {
    /// That of an array of the graph, in elements.
    Array(usize),
    /// The main memory of a cell of the netlist, in rows.
    Cell(usize),
}

/// A function of loop indices.
struct Function {
    /// Its step with each level.
    strides: Vec<i64>,
    /// The number at which it wraps.
    modulus: Option<i64>,
    /// The memory whose place it is; nothing for a value that must be the same in each period.
    memory: Option<Memory>,
}

impl Function {
    /// Whether a difference of its values is none.
    fn is_nothing(&self, difference: i128) -> bool {
        self.modulus.map_or(difference, |modulus| difference % i128::from(modulus)) == 0
    }
}

/// Loops whose iterations are at the cycles of a schedule, and what depends on their indices.
pub(crate) struct Walk {
    extent: Domain,
    cycle: Affine,
    functions: Vec<Function>,
    /// Conditions, each on the index of a level.
    conditions: Vec<(usize, Condition)>,
}

impl Walk {
    /// Loops of whose indices nothing depends.
    pub fn of(extent: &Domain, cycle: &Affine) -> Self {
        Walk { extent: extent.clone(), cycle: cycle.clone(), functions: Vec::new(), conditions: Vec::new() }
    }

    /// Whether its numbers are those of a program: loops of an edited configuration may be longer than any run.
    pub fn is_within_limits(&self) -> bool {
        self.extent.iterations() <= MOST_ITERATIONS as u128 && self.cycle.beyond_limits(&self.extent).is_none()
    }

    /// The cycle of the first iteration, and the one after the last.
    pub fn ends(&self) -> [i64; 2] {
        [self.cycle.start, *self.extent.range(&self.cycle).end() as i64 + 1]
    }

    /// The cycles of an iteration of each loop that has several.
    pub fn strides(&self) -> impl Iterator<Item = i64> {
        let levels = self.extent.iter().zip(&self.cycle.stride);
        levels.filter(|(extent, _)| **extent > 1).map(|(_, stride)| *stride)
    }

    /// How many iterations there are before a cycle.
    fn before(&self, cycle: i64) -> u64 {
        self.extent.points_until(&self.cycle, cycle - 1)
    }

    /// How many iterations there are in so many cycles from one on.
    pub fn iterations(&self, begin: i64, cycles: i64) -> u64 {
        self.before(begin + cycles) - self.before(begin)
    }

    /// How many periods of so many cycles follow each other from a cycle on in which it does the same: iterations are in the same cycles of each,
    /// values and conditions are equal, and the place in each memory moves on by the same number.
    pub fn periods(&self, begin: i64, cycles: i64) -> u64 {
        let (before, iterations) = (self.before(begin), self.iterations(begin, cycles));
        if iterations == 0 {
            return if u128::from(before) < self.extent.iterations() {
                ((self.extent.value_at(&self.cycle, before) - begin) / cycles) as u64
            } else {
                u64::MAX
            };
        }
        // A period is some steps of a level. Levels around it that go on where it ends are one loop with it.
        let inside: Vec<u64> = self.extent.numbering().into_iter().map(|points| points as u64).collect();
        let divides = |level: &usize| iterations.is_multiple_of(inside[*level]);
        let Some(level) = (0..inside.len()).rev().find(divides) else { return 0 };
        let steps = (iterations / inside[level]) as i64;
        let moved = |strides: &[i64]| i128::from(strides[level]) * i128::from(steps);
        let stands = |of: &Function| of.memory.is_some() || of.is_nothing(moved(&of.strides));
        if moved(&self.cycle.stride) != i128::from(cycles) || !self.functions.iter().all(stands) {
            return 0;
        }
        let last = (level + 1..inside.len()).take_while(|outer| self.goes_on(level, *outer)).last().unwrap_or(level);
        // A loop around would come back to elements that were moved on.
        let comes_back = self.extent[last + 1..].iter().any(|extent| *extent > 1);
        let leaves = |of: &Function| matches!(of.memory, Some(Memory::Array(_))) && moved(&of.strides) != 0;
        if comes_back && self.functions.iter().any(leaves) {
            return 0;
        }
        let points = inside[last] * self.extent[last];
        let periods = (points - 1 - before % points) / iterations;
        let index = (before / inside[level] % self.extent[level]) as i64;
        let ends = self.conditions.iter().filter(|(of, _)| *of == level).filter_map(|(_, condition)| {
            let changes = |at: &i64| condition.holds(*at) != condition.holds(at + steps);
            let change = (index..self.extent[level] as i64 - steps).find(changes)?;
            Some(((change - index) / steps) as u64)
        });
        ends.fold(periods, u64::min)
    }

    /// Whether a step of an outer level is one of this level, where the levels inside begin again.
    fn goes_on(&self, level: usize, outer: usize) -> bool {
        let difference = |strides: &[i64]| {
            let deltas = self.extent.deltas(strides);
            deltas[outer] - deltas[level]
        };
        difference(&self.cycle.stride) == 0
            && self.functions.iter().all(|of| of.is_nothing(difference(&of.strides)))
            && !self.conditions.iter().any(|(of, _)| [level, outer].contains(of))
    }

    /// The memories that it accesses in a period, and by how much its place there moves on.
    pub fn moved(&self, begin: i64, cycles: i64) -> impl Iterator<Item = (Memory, i64)> {
        let [first, next] = [begin, begin + cycles].map(|cycle| self.before(cycle));
        let functions = self.functions.iter().filter(move |_| first < next);
        functions.filter_map(move |Function { strides, modulus, memory }| {
            let place = Affine { start: 0, stride: strides.clone() };
            let moved = self.extent.value_at(&place, next) - self.extent.value_at(&place, first);
            Some(((*memory)?, modulus.map_or(moved, |modulus| moved.rem_euclid(modulus))))
        })
    }

    /// The memories that it does not access in a period, but later.
    pub fn waits(&self, begin: i64, cycles: i64) -> impl Iterator<Item = Memory> {
        let before = self.before(begin + cycles);
        let waits = before == self.before(begin) && u128::from(before) < self.extent.iterations();
        self.functions.iter().filter(move |_| waits).filter_map(|of| of.memory)
    }

    /// After how many periods of so many cycles values that wrap are the same again.
    pub fn turns(&self, cycles: i64) -> i64 {
        let strides = &self.cycle.stride;
        let divides = |level: &usize| self.extent[*level] > 1 && strides[*level] > 0 && cycles % strides[*level] == 0;
        let Some(level) = (0..strides.len()).rev().find(divides) else { return 1 };
        let values = self.functions.iter().filter(|of| of.memory.is_none());
        let turns = values.filter_map(|of| {
            let moved = i128::from(of.strides[level]) * i128::from(cycles / strides[level]);
            let modulus = of.modulus?;
            Some(modulus / gcd(modulus, (moved % i128::from(modulus)) as i64))
        });
        turns.fold(1, lcm)
    }
}

/// The loops of a graph, those of its counters first, and of the ports of its arrays.
pub(crate) fn walks_of_graph(graph: &ApplicationGraph, accesses: &IndexVec<ArrayId, ArrayAccesses>) -> Vec<Walk> {
    let mut walks: Vec<Walk> = graph.counters.iter().map(|of| Walk::of(&of.extent, &of.cycle)).collect();
    for bit in &graph.bits {
        if let BitDriver::Indices { counter, conditions } = &bit.driver {
            walks[counter.index()].conditions.extend(conditions.iter().copied());
        }
    }
    for kernel in &graph.kernels {
        let Some(counter) = kernel.counter else { continue };
        let walk = &mut walks[counter.index()];
        let levels = kernel.variables.iter().filter_map(|variable| Some((variable.level?, variable.scale)));
        for (level, scale) in levels {
            let mut strides = vec![0; walk.extent.depth()];
            strides[level] = scale;
            walk.functions.push(Function { strides, modulus: None, memory: None });
        }
    }
    for (array, accesses) in accesses.iter_enumerated() {
        let memory = Some(Memory::Array(array.index()));
        walks.extend(accesses.ports.iter().map(|PortAccesses { counter, element, .. }| {
            let place = Function { strides: element.stride.clone(), modulus: None, memory };
            Walk { functions: vec![place], ..Walk::of(&counter.extent, &counter.cycle) }
        }));
    }
    walks
}

/// The loops of the memories of a netlist, which have this specification, and of its lanes.
pub(crate) fn walks_of_netlist<'a>(
    netlist: &Netlist,
    spec: Option<&TileSpec>,
    lanes: impl IntoIterator<Item = &'a Lane>,
) -> Vec<Walk> {
    let controllers = spec.map(TileSpec::controllers).unwrap_or_default();
    let of_controller = |cell: CellId, chain: bool, name: &str, configured: &ControllerConfiguration| {
        let parameters = controllers.iter().find(|parameters| parameters.name == name);
        let generators = parameters.iter().flat_map(|parameters| &parameters.addresses);
        let functions = generators.filter_map(|generator| {
            let strides = configured.address(generator.memory)?.stride.clone();
            // Addresses of a chain are those of several tiles; those of one wrap at its rows.
            let main = spec.filter(|spec| !chain && spec.main_memory() == generator.memory);
            let modulus = main.map_or(generator.modulus, |spec| spec.rows.into());
            let memory = main.map(|_| Memory::Cell(cell.index()));
            Some(Function { strides, modulus: Some(modulus as i64), memory })
        });
        Walk { functions: functions.collect(), ..Walk::of(&configured.extent, &configured.cycle) }
    };
    let mut walks: Vec<Walk> = lanes.into_iter().map(|lane| Walk::of(&lane.extent, &lane.cycle)).collect();
    for (cell, of) in netlist.cells.iter_enumerated() {
        match &of.core {
            Core::Memory(Configuration { controllers, chain, .. }) => {
                let of_cell = controllers.iter();
                walks.extend(of_cell.map(|(name, configured)| of_controller(cell, chain.enable, name, configured)));
            }
            Core::Predicate(schedule) => walks.push(Walk::of(&schedule.extent, &schedule.cycle)),
            Core::Pe(_) | Core::Input | Core::Output => {}
        }
    }
    walks
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Loops with random pauses, often such that outer ones go on where inner ones end.
    fn random_walk(random: &mut ChaCha8Rng) -> Walk {
        let depth: usize = random.random_range(1..=3);
        let extent: Domain = (0..depth).map(|_| random.random_range(1..=4)).collect();
        let strides = |least: i64, random: &mut ChaCha8Rng| {
            let mut strides = Vec::new();
            for level in 0..depth {
                let ends = level.checked_sub(1).map_or(0, |inner| strides[inner] * extent[inner] as i64);
                let rest = if random.random_bool(0.7) { 0 } else { random.random_range(0..=2) };
                strides.push(ends.max(least) + rest);
            }
            strides
        };
        let cycle = Affine { start: random.random_range(0..6), stride: strides(1, random) };
        let place = |modulus: Option<i64>, memory: Option<Memory>, random: &mut ChaCha8Rng| Function {
            strides: strides(0, random),
            modulus,
            memory,
        };
        let mut functions = vec![place(Some(8), Some(Memory::Cell(0)), random)];
        if random.random_bool(0.5) {
            functions.push(place(Some(random.random_range(1..4)), None, random));
        }
        let level = random.random_range(0..depth);
        let first = random.random_range(0..extent[level] as i64);
        let last = random.random_range(first..extent[level] as i64);
        let condition = Condition { first, last, step: random.random_range(1..=2) };
        let conditions = if random.random_bool(0.4) { vec![(level, condition)] } else { Vec::new() };
        Walk { extent, cycle, functions, conditions }
    }

    /// The state of the loops in a cycle: whether an iteration begins, the conditions, the values, and the places in memories.
    fn shown(walk: &Walk, cycle: i64) -> (bool, Vec<bool>, Vec<i64>, Vec<i64>) {
        let number = walk.before(cycle);
        let index = walk.extent.point(number);
        let holds = walk.conditions.iter().map(|(level, condition)| condition.holds(index[*level] as i64)).collect();
        let value = |of: &Function| {
            let function = Affine { start: 0, stride: of.strides.clone() };
            walk.extent.value_at(&function, number).rem_euclid(of.modulus.unwrap())
        };
        let (places, values): (Vec<_>, Vec<_>) = walk.functions.iter().partition(|of| of.memory.is_some());
        let of = |functions: Vec<&Function>| functions.into_iter().map(value).collect();
        (walk.iterations(cycle, 1) > 0, holds, of(values), of(places))
    }

    #[test]
    fn periods_repeat() {
        let random = &mut ChaCha8Rng::seed_from_u64(1);
        let mut found = 0;
        for _ in 0..20_000 {
            let walk = random_walk(random);
            let (begin, cycles) = (random.random_range(0..8), random.random_range(1..24));
            let count = walk.periods(begin, cycles);
            if count == u64::MAX || walk.iterations(begin, cycles) == 0 {
                continue;
            }
            found += u64::from(count > 1);
            let moved: i64 = walk.moved(begin, cycles).map(|(_, moved)| moved).sum();
            for period in 1..count as i64 {
                for cycle in begin..begin + cycles {
                    let (steps, holds, values, places) = shown(&walk, cycle);
                    let later = shown(&walk, cycle + period * cycles);
                    let places: Vec<i64> = places.iter().map(|place| (place + period * moved).rem_euclid(8)).collect();
                    assert_eq!(later, (steps, holds, values, places), "{:?} {:?}", walk.extent, walk.cycle);
                }
            }
        }
        assert!(found > 500, "{found} walks repeat");
    }
}
