//! The cells of operations against their datapaths.

use itertools::Itertools;
use pushmem_datapaths::{Datapath, Evaluator};
use pushmem_kernels::DatapathGraph;
use pushmem_nest::{Access, ArrayKind, Loop, Operation, Program, Type};
use pushmem_pe::Numbers;
use pushmem_selection::{CellEvaluator, Cells, Table};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

/// Random operands for which the cells of an operation are compared, and for which they are if some cells look up what selection
/// computed before.
const SAMPLES: usize = 256;
const SAMPLES_OF_TABLES: usize = 4096;

/// The most ways in which extremes of operands are combined: those of four operands.
const MOST_EXTREMES: usize = 625;

/// An end of what an element may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Corner {
    Least,
    Greatest,
}

/// Values of each array that are made of those of each operation, and how often all operations make some: values that depend on
/// themselves, as sums do, are then sums of a few.
const VALUES: usize = 256;
const ROUNDS: usize = 3;

/// Values that elements of each array may have: of inputs any, of others what operations compute of such values. Cells need not
/// compute anything from other ones.
pub(crate) struct Samples<'a> {
    program: &'a Program,
    /// Of arrays that are no inputs, ascending.
    values: Vec<Vec<i64>>,
}

impl<'a> Samples<'a> {
    /// The samples of a program.
    pub fn of(program: &'a Program, random: &mut ChaCha8Rng) -> Self {
        let mut samples = Samples { program, values: vec![Vec::new(); program.arrays.len()] };
        let nests = program.operations();
        let mut evaluators = nests
            .iter()
            .map(|(_, operation)| Evaluator::new(&DatapathGraph::of(program, operation).dedicated(), &program.tables))
            .collect_vec();
        let accesses = nests.iter().map(|(_, operation)| Datapath::accesses(program, operation)).collect_vec();
        let mut rounds = |samples: &mut Self, random: &mut ChaCha8Rng| {
            for _ in 0..ROUNDS {
                for (((loops, operation), accesses), evaluator) in nests.iter().zip(&accesses).zip(&mut evaluators) {
                    let computed = (0..VALUES).filter_map(|_| {
                        let loads = samples.loads(operation, accesses, random)?;
                        Some(evaluator.evaluate(&loads, &variables(loops, operation, random)))
                    });
                    let computed = computed.collect_vec();
                    samples.add(operation.target.array, computed);
                }
            }
        };
        rounds(&mut samples, random);
        // Elements that come from themselves only, as in a recurrence without a first value, may have any value: without one, what
        // reads them would not be compared.
        let without = (0..program.arrays.len()).filter(|array| samples.values[*array].is_empty()).collect_vec();
        for &array in &without {
            let any = (0..VALUES).map(|_| operand(program.arrays[array].element, random)).collect_vec();
            samples.add(array, any);
        }
        if !without.is_empty() {
            rounds(&mut samples, random);
        }
        samples
    }

    /// Adds values of the elements of an array.
    fn add(&mut self, array: usize, values: Vec<i64>) {
        let known = &mut self.values[array];
        known.extend(values);
        known.sort_unstable();
        known.dedup();
    }

    /// Values of the loads of an operation; nothing if none are known yet.
    fn loads(&self, operation: &Operation, accesses: &[Access], random: &mut ChaCha8Rng) -> Option<Vec<i64>> {
        // Sums are extreme where all that is added is.
        let corner = match random.random_range(0..8) {
            0 => Some(Corner::Least),
            1 => Some(Corner::Greatest),
            _ => None,
        };
        let load = |(number, access): (usize, &Access)| {
            let load = number.checked_rem(operation.loads.len()).map(|number| &operation.loads[number]);
            match load.and_then(|load| load.outside) {
                Some(outside) if random.random_range(0..8) == 0 => Some(outside),
                outside => self.element(access.array, corner, random).or(outside),
            }
        };
        accesses.iter().enumerate().map(load).collect()
    }

    /// All ways to give each load one of the extremes of its array, if there are few: operations fail where two meet, as the
    /// least number and -1 in a division.
    fn extremes(&self, accesses: &[Access]) -> Vec<Vec<i64>> {
        let of_array = |access: &Access| {
            let array = &self.program.arrays[access.array];
            let known = &self.values[access.array];
            let ends = match array.kind {
                ArrayKind::Input => [Some(array.element.min()), Some(array.element.max())],
                _ => [known.first().copied(), known.last().copied()],
            };
            let is_possible = |value: &i64| match array.kind {
                ArrayKind::Input => array.element.holds(*value),
                _ => known.binary_search(value).is_ok(),
            };
            ends.into_iter().flatten().chain([-1, 0, 1].into_iter().filter(is_possible)).unique().collect_vec()
        };
        let of_loads = accesses.iter().map(of_array).collect_vec();
        let ways = of_loads.iter().try_fold(1_usize, |ways, values| ways.checked_mul(values.len()));
        match ways {
            Some(ways) if ways <= MOST_EXTREMES => of_loads.into_iter().multi_cartesian_product().collect(),
            _ => Vec::new(),
        }
    }

    /// A value of an element, often an extreme one.
    fn element(&self, array: usize, corner: Option<Corner>, random: &mut ChaCha8Rng) -> Option<i64> {
        let of = &self.program.arrays[array];
        let values = &self.values[array];
        match (of.kind, corner) {
            (ArrayKind::Input, Some(Corner::Least)) => Some(of.element.min()),
            (ArrayKind::Input, Some(Corner::Greatest)) => Some(of.element.max()),
            (ArrayKind::Input, None) => Some(operand(of.element, random)),
            (_, Some(Corner::Least)) => values.first().copied(),
            (_, Some(Corner::Greatest)) => values.last().copied(),
            (_, None) => match random.random_range(0..4) {
                0 => values.first().copied(),
                1 => values.last().copied(),
                _ => values.choose(random).copied(),
            },
        }
    }

    /// The operands for which the cells of an operation in these loops and its datapath give different words; nothing if there are
    /// none.
    pub fn difference(
        &self,
        (loops, operation): &(Vec<&Loop>, &Operation),
        datapath: &Datapath,
        cells: &Cells,
        word_bits: u32,
        random: &mut ChaCha8Rng,
    ) -> Option<Vec<i64>> {
        let program = self.program;
        let mut evaluator = Evaluator::new(datapath, &program.tables);
        let mut of_cells = CellEvaluator::new(cells, Numbers { word_bits });
        let accesses = Datapath::accesses(program, operation);
        let mask = u32::MAX >> (u32::BITS - word_bits);
        let entry = |table: Table, index: u32| {
            let values = cells.contents(program, table);
            values.get(index as usize).map_or(0, |entry| *entry as u32 & mask)
        };
        let samples = if cells.tables.is_empty() { SAMPLES } else { SAMPLES_OF_TABLES };
        let extremes = self.extremes(&accesses);
        let drawn = (0..samples).map(|_| None);
        extremes.into_iter().map(Some).chain(drawn).find_map(|loads| {
            let drawn = || self.loads(operation, &accesses, random).expect("elements of every array have values");
            let loads = loads.unwrap_or_else(drawn);
            let variables = variables(loops, operation, random);
            let words: Vec<u32> = datapath.operands().iter().map(|(load, word)| word.of(loads[*load]).into()).collect();
            let expected = evaluator.evaluate(&loads, &variables);
            let results = datapath.result_type().words().iter();
            let expected: Vec<u32> = results.map(|word| word.of(expected).into()).collect();
            let found = of_cells.evaluate(&words, &variables, entry);
            (!found.eq(expected)).then_some(loads)
        })
    }
}

/// Values of the loops around an operation, in the first of the copies that are executed together.
fn variables(loops: &[&Loop], operation: &Operation, random: &mut ChaCha8Rng) -> Vec<i64> {
    let value = |(variable, level): (usize, &&Loop)| {
        let step = if operation.merges(variable) { level.unroll } else { 1 };
        level.min + step * random.random_range(0..level.extent / step)
    };
    loops.iter().enumerate().map(value).collect()
}

/// A number of a type, often an extreme or a small one.
fn operand(of: Type, random: &mut ChaCha8Rng) -> i64 {
    let near = random.random_range(-3..=3);
    match random.random_range(0..6) {
        0 => of.wrap(of.min() + near),
        1 => of.wrap(near),
        2 => of.wrap(1 << random.random_range(0..of.bits())),
        _ => of.wrap(random.random()),
    }
}
