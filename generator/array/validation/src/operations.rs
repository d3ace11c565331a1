//! The cells of operations against their statements.

use itertools::Itertools;
use pushmem_arithmetic::{Ranges, Sample, Statement};
use pushmem_cells::{CellEvaluator, Cells, Table};
use pushmem_datapaths::Datapath;
use pushmem_nest::{Access, ArrayKind, Loop, Operation, Program, Type, Word as Half};
use pushmem_pe::Numbers;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::meaning::{Meaning, meaning};

/// Random operands for which the cells of an operation are compared, and for which they are if some cells look up what selection
/// computed before.
const SAMPLES: usize = 256;
const SAMPLES_OF_TABLES: usize = 4096;

/// The most bits of operands all of whose values are tried.
const MOST_BITS: u32 = 16;

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
    ranges: Ranges,
}

impl<'a> Samples<'a> {
    /// The samples of a program.
    pub fn of(program: &'a Program, random: &mut ChaCha8Rng) -> Self {
        let mut samples =
            Samples { program, values: vec![Vec::new(); program.arrays.len()], ranges: Ranges::of(program) };
        let nests = program.operations();
        let statements = nests.iter().map(|(loops, operation)| Statement::new(program, loops, operation)).collect_vec();
        let accesses = nests.iter().map(|(_, operation)| Datapath::accesses(program, operation)).collect_vec();
        let rounds = |samples: &mut Self, random: &mut ChaCha8Rng| {
            for _ in 0..ROUNDS {
                for (((loops, operation), accesses), statement) in nests.iter().zip(&accesses).zip(&statements) {
                    let drawn = (0..VALUES).filter_map(|_| {
                        let loads = samples.loads(operation, accesses, random)?;
                        Some(Sample { loads, variables: variables(loops, operation, random) })
                    });
                    let computed = statement.results(&drawn.collect_vec()).into_iter().flatten().collect_vec();
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

    /// All operands of an operation, if these are inputs of few bits and no loop variables.
    fn all_operands(&self, operation: &Operation, accesses: &[Access], loops: &[&Loop]) -> Option<Vec<Sample>> {
        let arrays = accesses.iter().map(|access| &self.program.arrays[access.array]).collect_vec();
        let are_inputs = arrays.iter().all(|array| array.kind == ArrayKind::Input);
        let bits: u32 = arrays.iter().map(|array| array.element.bits()).sum();
        if !are_inputs || bits > MOST_BITS || operation.expression.uses_variables() {
            return None;
        }
        let values = arrays.iter().map(|array| array.element.min()..=array.element.max());
        let variables = loops.iter().map(|level| level.min).collect_vec();
        let all: Vec<Vec<i64>> = match arrays.is_empty() {
            true => vec![Vec::new()],
            false => values.multi_cartesian_product().collect(),
        };
        Some(all.into_iter().map(|loads| Sample { loads, variables: variables.clone() }).collect())
    }

    /// Operands of an operation: all of them, or else extremes and drawn ones; whether they are all.
    fn operands(
        &self,
        (loops, operation): &(Vec<&Loop>, &Operation),
        drawn: usize,
        random: &mut ChaCha8Rng,
    ) -> (Vec<Sample>, bool) {
        let accesses = Datapath::accesses(self.program, operation);
        if let Some(all) = self.all_operands(operation, &accesses, loops) {
            return (all, true);
        }
        let drawn = (0..drawn).map(|_| None);
        let samples = self.extremes(&accesses).into_iter().map(Some).chain(drawn).map(|loads| {
            let drawn = || self.loads(operation, &accesses, random).expect("elements of every array have values");
            let loads = loads.unwrap_or_else(drawn);
            Sample { loads, variables: variables(loops, operation, random) }
        });
        (samples.collect(), false)
    }

    /// Whether the cells of an operation in these loops are proven to give the words of its statement: otherwise they were compared for some
    /// operands.
    ///
    /// # Errors
    /// The operands for which they give other words.
    pub fn compare(
        &self,
        nest: &(Vec<&Loop>, &Operation),
        cells: &Cells,
        word_bits: u32,
        random: &mut ChaCha8Rng,
    ) -> Result<bool, Vec<i64>> {
        let (program, (loops, operation)) = (self.program, nest);
        let statement = Statement::within(program, loops, operation, &self.ranges);
        if word_bits == Half::BITS {
            let Meaning { code, results, tables } = meaning(program, operation, cells);
            if statement.is_proven(&code, &results, &tables)? {
                return Ok(true);
            }
        }
        let mut of_cells = CellEvaluator::new(cells, Numbers { word_bits });
        let mask = u32::MAX >> (u32::BITS - word_bits);
        let entry = |table: Table, index: u32| {
            let values = cells.contents(program, table);
            values.get(index as usize).map_or(0, |entry| *entry as u32 & mask)
        };
        let drawn = if cells.tables.is_empty() { SAMPLES } else { SAMPLES_OF_TABLES };
        let (samples, are_all) = self.operands(nest, drawn, random);
        let types =
            Datapath::accesses(program, operation).iter().map(|of| program.arrays[of.array].element).collect_vec();
        let results = program.arrays[operation.target.array].written().words();
        let expected = statement.results(&samples);
        let mut differs = |(sample, expected): &(&Sample, Option<i64>)| {
            let Some(expected) = *expected else { return false };
            let words = types.iter().zip(&sample.loads);
            let words = words.flat_map(|(of, value)| of.words().iter().map(|word| word.of(*value).into()));
            let words: Vec<u32> = words.collect();
            let expected = results.iter().map(|word| u32::from(word.of(expected)));
            !of_cells.evaluate(&words, &sample.variables, entry).eq(expected)
        };
        match samples.iter().zip(expected).find(|sample| differs(sample)) {
            Some((sample, _)) => Err(sample.loads.clone()),
            None => Ok(are_all),
        }
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
