//! Ranges of the elements of arrays, from the operations that write them.

use itertools::Itertools;
use pushmem_nest::{Access, ArrayKind, Operation, Program};

use crate::build;
use pushmem_datapaths::Copies;

/// Passes over the operations after which the range of an array that still grows is that of its type: sums grow in each.
const PASSES: usize = 3;

/// The least and the greatest value of the elements of each array of a program. The true range may be smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayRanges(Vec<(i64, i64)>);

impl ArrayRanges {
    /// The ranges of the types of the arrays.
    pub fn of_types(program: &Program) -> Self {
        Self(program.arrays.iter().map(|array| (array.element.min(), array.element.max())).collect())
    }

    /// The ranges of what operations write. An element is written before it is read, so that a range holds if the operations do not
    /// leave it.
    pub fn of_operations(program: &Program) -> Self {
        let ArrayRanges(types) = Self::of_types(program);
        let is_input = |array: usize| program.arrays[array].kind == ArrayKind::Input;
        let mut known: Vec<Option<(i64, i64)>> =
            types.iter().enumerate().map(|(array, range)| is_input(array).then_some(*range)).collect();
        let copies: Vec<Copies> =
            program.operations().into_iter().map(|(loops, operation)| Copies::within(loops, operation)).collect();
        let mut grown = vec![true; known.len()];
        for pass in 0.. {
            let before = std::mem::replace(&mut grown, vec![false; known.len()]);
            for copies in &copies {
                let reads = copies.reads();
                let is_new = reads.iter().any(|read| before[read.array] || grown[read.array]);
                if pass > 0 && !is_new {
                    continue;
                }
                let Some(written) = written(program, copies, &reads, &known) else { continue };
                let array = copies.operation.target.array;
                let (low, high) = known[array].unwrap_or(written);
                let all = (low.min(written.0), high.max(written.1));
                if known[array] != Some(all) {
                    known[array] = Some(if pass < PASSES { all } else { types[array] });
                    grown[array] = true;
                }
            }
            if grown.contains(&true) {
                continue;
            }
            // Elements that come from themselves only, as in a recurrence without a first value, may have any value, and their readers
            // follow.
            grown = known.iter().map(Option::is_none).collect();
            if !grown.contains(&true) {
                break;
            }
            for (known, of_type) in known.iter_mut().zip(&types) {
                known.get_or_insert(*of_type);
            }
        }
        Self(known.into_iter().map(|known| known.expect("ranges are known at the end")).collect())
    }

    /// Widens ranges load by load to those of another operation. One with other loads is refused later.
    pub(crate) fn widen(ranges: &mut [(i64, i64)], others: &[(i64, i64)]) {
        for (range, other) in ranges.iter_mut().zip(others) {
            *range = (range.0.min(other.0), range.1.max(other.1));
        }
    }

    /// The ranges of the loads of copies of an operation that read these elements.
    pub(crate) fn loads(&self, operation: &Operation, reads: &[Access]) -> Vec<(i64, i64)> {
        let range = |(number, read): (usize, &Access)| with_outside(operation, number, Some(self.0[read.array]));
        reads.iter().enumerate().map(|read| range(read).expect("the range of the elements is known")).collect()
    }
}

/// The range of a load: of the elements, as far as it is known, and of the value outside of the array. Nothing if there is neither.
fn with_outside(operation: &Operation, number: usize, elements: Option<(i64, i64)>) -> Option<(i64, i64)> {
    // The last load of a reduction is the old value of its target.
    let of_copy = number.checked_rem(operation.loads.len()).map(|number| &operation.loads[number]);
    let outside = of_copy.and_then(|load| load.outside).map(|outside| (outside, outside));
    [elements, outside].into_iter().flatten().reduce(|(low, high), other| (low.min(other.0), high.max(other.1)))
}

/// The range of what copies of an operation write; nothing while that of an element that they read is unknown.
fn written(program: &Program, copies: &Copies, reads: &[Access], known: &[Option<(i64, i64)>]) -> Option<(i64, i64)> {
    let operation = copies.operation;
    let types = reads.iter().map(|access| program.arrays[access.array].element).collect_vec();
    let range = |(number, read): (usize, &Access)| with_outside(operation, number, known[read.array]);
    let ranges: Vec<(i64, i64)> = reads.iter().enumerate().map(range).collect::<Option<_>>()?;
    let (mut graph, result) = build::build(program, copies, &types, ranges);
    let result = build::written(&mut graph, operation, &types, result);
    let (low, high) = graph.vertices[result].range;
    let element = program.arrays[operation.target.array].element;
    Some((low.max(element.min()), high.min(element.max())))
}
