//! The cells of operations against their datapaths.

use pushmem_graph::OperationDatapath;
use pushmem_kernels::Evaluator;
use pushmem_nest::{Loop, Program, Type};
use pushmem_pe::Numbers;
use pushmem_selection::Cells;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Random operands for which the cells of an operation are compared.
const SAMPLES: usize = 256;

/// The operands for which the cells of an operation in these loops and its datapath give different words; nothing if there are none.
///
/// Operands are often extremes of their types, or near 0.
pub fn difference(
    program: &Program,
    loops: &[&Loop],
    of: &OperationDatapath,
    cells: &Cells,
    word_bits: u32,
    random: &mut ChaCha8Rng,
) -> Option<Vec<i64>> {
    let mut evaluator = Evaluator::new(&of.datapath, &program.tables);
    let mask = u32::MAX >> (u32::BITS - word_bits);
    let entry = |table: usize, index: u32| {
        let values = &program.tables[table].values;
        values.get(index as usize).map_or(0, |entry| *entry as u32 & mask)
    };
    (0..SAMPLES).find_map(|_| {
        let loads: Vec<i64> = of.datapath.loads().iter().map(|of| operand(*of, random)).collect();
        let variables: Vec<i64> = loops.iter().map(|each| random.random_range(each.min..=each.max())).collect();
        let words: Vec<u32> = loads.iter().map(|load| *load as u32 & mask).collect();
        let expected = evaluator.evaluate(&loads, &variables) as u32 & mask;
        let found = cells.evaluate(&Numbers { word_bits }, &words, &variables, entry);
        (found != expected).then_some(loads)
    })
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
