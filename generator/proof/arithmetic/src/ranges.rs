//! The values that elements of arrays may have.

use std::collections::HashMap;

use pushmem_nest::{ArrayKind, Load, Loop, Operation, Program, Type};

use crate::code::Code;
use crate::entries;
use crate::equal::with_terms;
use crate::leaves::{leaves, variables};
use crate::terms::Bounds;

/// Bounds of the elements of each array of a program, whatever the inputs.
///
/// An array has those of the results that are written to it, where these depend on arrays with bounds of their own; else those of its
/// type.
pub struct Ranges {
    of_arrays: Vec<Bounds>,
}

impl Ranges {
    /// Those of a program.
    pub fn of(program: &Program) -> Self {
        let of_type = |element: Type| Bounds::new(element.min(), element.max());
        let mut ranges = Ranges { of_arrays: program.arrays.iter().map(|array| of_type(array.element)).collect() };
        let mut written: Vec<Option<Bounds>> = vec![None; program.arrays.len()];
        let nests = program.operations();
        let last_writers: HashMap<usize, usize> =
            nests.iter().enumerate().map(|(number, (_, operation))| (operation.target.array, number)).collect();
        for (number, (loops, operation)) in nests.iter().enumerate() {
            let target = operation.target.array;
            let found = ranges.of_result(program, loops, operation);
            let all = written[target].map_or(found, |others| others.either(found));
            written[target] = Some(all);
            // Until all that is written is known, an element may have any value of its type.
            let is_last = last_writers[&target] == number;
            let array = &program.arrays[target];
            let bounds = &mut ranges.of_arrays[target];
            if is_last && array.kind != ArrayKind::Input && all.is_within(bounds.low, bounds.high) {
                *bounds = all;
            }
        }
        ranges
    }

    /// The least and the greatest value that an element of an array may have, by the number of the array.
    pub fn of_array(&self, array: usize) -> (i64, i64) {
        let Bounds { low, high } = self.of_arrays[array];
        (low as i64, high as i64)
    }

    /// The bounds of the result of an operation.
    fn of_result(&self, program: &Program, loops: &[&Loop], operation: &Operation) -> Bounds {
        let code = Code::of_statement(program, loops, operation);
        let leaves = leaves([&code], &self.of_loads(operation, loops), &variables(loops, operation));
        with_terms(&leaves, &entries(program, &[]), |terms| {
            let known = terms.of_code(&code);
            let bounds = terms.bounds(known[code.result]);
            if terms.failed { Bounds::ALL } else { bounds }
        })
    }

    /// The bounds of each load of an operation, of the iterations that are executed together one after the other.
    pub(crate) fn of_loads(&self, operation: &Operation, loops: &[&Loop]) -> Vec<Bounds> {
        let copies = operation.copies_together(loops).len();
        let load = |load: &Load| {
            let bounds = self.of_arrays[load.access.array];
            load.outside.map_or(bounds, |outside| bounds.either(Bounds::new(outside, outside)))
        };
        (0..copies).flat_map(|_| operation.loads.iter().map(load)).collect()
    }
}
