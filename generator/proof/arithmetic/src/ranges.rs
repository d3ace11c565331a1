//! The values that elements of arrays may have.

use itertools::Itertools;
use pushmem_nest::{ArrayKind, Load, Loop, Operation, Program};

use crate::code::Code;
use crate::entries;
use crate::equal::with_terms;
use crate::leaves::{leaves, variables};
use crate::terms::Bounds;

/// How often an operation may widen the bounds of its array before they are those of the type.
const MOST_GROWTHS: usize = 3;

/// Bounds of the elements of each array of a program, whatever the inputs.
///
/// Those of an array hold for all results that are written to it, of elements within their bounds: by induction they hold after each
/// write, also where results depend on earlier ones.
pub struct Ranges {
    of_arrays: Vec<Bounds>,
}

impl Ranges {
    /// Those of a program.
    pub fn of(program: &Program) -> Self {
        let nests = program.operations();
        let of_type = program.arrays.iter().map(|array| Bounds::new(array.element.min(), array.element.max()));
        let of_type = of_type.collect_vec();
        let is_input = |array: usize| program.arrays[array].kind == ArrayKind::Input;
        // Bounds of what is known to be written, which grow.
        let mut known = (0..of_type.len()).map(|array| is_input(array).then(|| of_type[array])).collect_vec();
        let mut growths = vec![0; nests.len()];
        let mut is_stale = vec![true; nests.len()];
        loop {
            let (array, bounds) = if let Some(number) = is_stale.iter().position(|is_stale| *is_stale) {
                is_stale[number] = false;
                let (loops, operation) = &nests[number];
                let target = operation.target.array;
                let Some(found) = of_result(program, &known, loops, operation) else { continue };
                let all = known[target].map_or(found, |bounds| bounds.either(found));
                growths[number] += usize::from(known[target] != Some(all));
                let Bounds { low, high } = of_type[target];
                (
                    target,
                    if growths[number] > MOST_GROWTHS || !all.is_within(low, high) { of_type[target] } else { all },
                )
            } else if let Some(array) = known.iter().position(Option::is_none) {
                // Elements that come from themselves only may have any value.
                (array, of_type[array])
            } else {
                return Ranges { of_arrays: known.into_iter().flatten().collect() };
            };
            if known[array] != Some(bounds) {
                known[array] = Some(bounds);
                for (is_stale, (_, operation)) in is_stale.iter_mut().zip(&nests) {
                    *is_stale |= operation.reads().any(|access| access.array == array);
                }
            }
        }
    }

    /// The least and the greatest value that an element of an array may have, by the number of the array.
    pub fn of_array(&self, array: usize) -> (i64, i64) {
        let Bounds { low, high } = self.of_arrays[array];
        (low as i64, high as i64)
    }

    /// The bounds of each load of an operation, of the iterations that are executed together one after the other.
    pub(crate) fn of_loads(&self, operation: &Operation, loops: &[&Loop]) -> Vec<Bounds> {
        of_loads(&|array| Some(self.of_arrays[array]), operation, loops).unwrap_or_default()
    }
}

/// The bounds of the result of an operation; nothing if it reads an array without known ones.
fn of_result(program: &Program, known: &[Option<Bounds>], loops: &[&Loop], operation: &Operation) -> Option<Bounds> {
    let code = Code::of_statement(program, loops, operation);
    let loads = of_loads(&|array| known[array], operation, loops)?;
    let leaves = leaves([&code], &loads, &variables(loops, operation));
    Some(with_terms(&leaves, &entries(program, &[]), |terms| {
        let known = terms.of_code(&code);
        let bounds = terms.bounds(known[code.result]);
        if terms.failed { Bounds::ALL } else { bounds }
    }))
}

/// The bounds of each load of an operation, and of a reduction those of the target before.
fn of_loads(of_array: &dyn Fn(usize) -> Option<Bounds>, operation: &Operation, loops: &[&Loop]) -> Option<Vec<Bounds>> {
    let load = |load: &Load| {
        let bounds = of_array(load.access.array)?;
        Some(load.outside.map_or(bounds, |outside| bounds.either(Bounds::new(outside, outside))))
    };
    let copies = operation.copies_together(loops);
    let loads = copies.iter().flat_map(|_| operation.loads.iter().map(load));
    loads.chain(operation.reduction.map(|_| of_array(operation.target.array))).collect()
}
