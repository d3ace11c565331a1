//! Which stages write an array, and which of them can write the elements of an access.

use std::collections::HashMap;

use itertools::Itertools;

use crate::written::{Elements, touched};
use pushmem_stages::{Access, Pipeline, Stage};

/// The stages that write each array, by the elements that they write. Copies of an unrolled operation write each so many-th
/// element: a search for the writers of some of these need not visit all copies.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    arrays: Vec<OfArray>,
}

#[derive(Clone, Debug, Default)]
struct OfArray {
    /// In the order of the pipeline.
    stages: Vec<usize>,
    families: Vec<Family>,
}

/// Stages whose elements have the same strides.
#[derive(Clone, Debug)]
struct Family {
    /// By dimension; nothing for a single element.
    strides: Vec<Option<i64>>,
    /// The stages by the remainders of their elements: in each dimension by its stride, or the index of a single element.
    members: HashMap<Vec<i64>, Vec<usize>>,
}

impl Writers {
    /// The writers of all arrays of a pipeline.
    pub fn of(pipeline: &Pipeline) -> Self {
        let mut arrays = vec![OfArray::default(); pipeline.arrays.len()];
        for (number, stage) in pipeline.stages.iter().enumerate() {
            let array = &mut arrays[stage.write.array];
            array.stages.push(number);
            let Some(elements) = all_touched(stage, &stage.write) else { continue };
            let strides = elements.iter().map(Elements::stride).collect_vec();
            let place = array.families.iter().position(|family| family.strides == strides).unwrap_or_else(|| {
                array.families.push(Family { strides, members: HashMap::new() });
                array.families.len() - 1
            });
            let remainders = elements.iter().map(Elements::remainder).collect_vec();
            array.families[place].members.entry(remainders).or_default().push(number);
        }
        Writers { arrays }
    }

    /// All stages that write an array, in their order.
    pub fn all(&self, array: usize) -> &[usize] {
        &self.arrays[array].stages
    }

    /// The stages that write elements which an access of a stage touches, in their order, and perhaps some that write none
    /// of them.
    pub fn of_access(&self, stage: &Stage, access: &Access) -> Vec<usize> {
        all_touched(stage, access).map_or_else(Vec::new, |elements| self.of_elements(access.array, &elements))
    }

    /// The stages that write an element, in their order, and perhaps some that do not.
    pub fn of_element(&self, array: usize, element: &[i64]) -> Vec<usize> {
        self.of_elements(array, &element.iter().map(|&index| Elements::one(index)).collect_vec())
    }

    fn of_elements(&self, array: usize, elements: &[Elements]) -> Vec<usize> {
        self.arrays[array].families.iter().flat_map(|family| family.find(elements)).sorted_unstable().collect()
    }
}

impl Family {
    /// The members whose remainders are those of such elements.
    fn find(&self, elements: &[Elements]) -> Vec<usize> {
        let remainders = self.strides.iter().zip(elements);
        let remainders = remainders.map(|(stride, touched)| touched.remainders(*stride, self.members.len()));
        let remainders: Option<Vec<Vec<i64>>> = remainders.collect();
        let few = |places: &Vec<Vec<i64>>| {
            let combinations = places.iter().try_fold(1_usize, |product, places| product.checked_mul(places.len()));
            combinations.is_some_and(|combinations| combinations <= self.members.len())
        };
        match remainders.filter(few) {
            Some(places) => {
                let members = places.into_iter().multi_cartesian_product().filter_map(|key| self.members.get(&key));
                members.flatten().copied().collect()
            }
            None => self.members.values().flatten().copied().collect(),
        }
    }
}

/// The indices that an access touches along each dimension; none if it touches no element.
fn all_touched(stage: &Stage, access: &Access) -> Option<Vec<Elements>> {
    access.subscripts.iter().map(|subscript| touched(stage, subscript)).collect()
}

/// Whether a stage finds no element in any iteration of an access: all lie outside of the array.
pub fn is_outside(stage: &Stage, access: &Access) -> bool {
    all_touched(stage, access).is_none()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use pushmem_stages::{Array, Boundary, StageLoop, Subscript};

    fn boundary() -> impl Strategy<Value = Boundary> {
        let limits = || (-3..6_i64, 0..8_i64).prop_map(|(low, more)| (low, low + more));
        prop_oneof![
            3 => Just(Boundary::None),
            1 => limits().prop_map(|(low, high)| Boundary::Clamp { low, high }),
            1 => limits().prop_map(|(low, high)| Boundary::Mirror { low, high }),
            1 => limits().prop_map(|(low, high)| Boundary::Outside { low, high }),
        ]
    }

    fn subscript(divides: bool) -> impl Strategy<Value = Subscript> {
        let divisor = if divides { (1..4_i64).boxed() } else { Just(1).boxed() };
        let boundary = if divides { boundary().boxed() } else { Just(Boundary::None).boxed() };
        (proptest::collection::vec(-4..5_i64, 2), -6..9_i64, divisor, boundary, -2..3_i64).prop_map(
            |(coefficients, constant, divisor, boundary, offset)| Subscript {
                coefficients,
                constant,
                divisor,
                boundary,
                offset,
            },
        )
    }

    fn access(divides: bool) -> impl Strategy<Value = Access> {
        proptest::collection::vec(subscript(divides), 2).prop_map(|subscripts| Access { array: 0, subscripts })
    }

    fn stage(write: Access, extents: Vec<u64>, min: i64) -> Stage {
        let level = |extent: u64| StageLoop { name: "i".to_owned(), min, extent };
        let loops = extents.into_iter().map(level).collect();
        Stage { name: "stage".to_owned(), group: 0, shared: 0, loops, reads: Vec::new(), write, latency: 0 }
    }

    fn stages() -> impl Strategy<Value = Stage> {
        (access(false), proptest::collection::vec(1..5_u64, 2), -2..3_i64)
            .prop_map(|(write, extents, min)| stage(write, extents, min))
    }

    /// All elements that an access touches, by going through the iterations.
    fn elements(stage: &Stage, access: &Access) -> Vec<Vec<i64>> {
        let indices = stage.loops.iter().map(|level| level.min..=level.max()).multi_cartesian_product();
        indices
            .filter_map(|index| {
                access.subscripts.iter().map(|subscript| subscript.at(&index)).collect::<Option<Vec<_>>>()
            })
            .collect()
    }

    proptest! {
        #[test]
        fn all_writers_of_what_is_touched_are_found(
            stages in proptest::collection::vec(stages(), 1..12),
            (read, extents, min) in (access(true), proptest::collection::vec(1..5_u64, 2), -2..3_i64),
        ) {
            let pipeline = Pipeline { arrays: vec![Array { name: "a".to_owned(), weight: 1 }], stages };
            let writers = Writers::of(&pipeline);
            let reader = stage(read.clone(), extents, min);
            let touched = elements(&reader, &read);
            let found = writers.of_access(&reader, &read);
            prop_assert!(found.is_sorted());
            for (number, writer) in pipeline.stages.iter().enumerate() {
                let written = elements(writer, &writer.write);
                prop_assert!(found.contains(&number) || !touched.iter().any(|element| written.contains(element)));
            }
            for element in &touched {
                let found = writers.of_element(0, element);
                let writes = |number: &usize| elements(&pipeline.stages[*number], &pipeline.stages[*number].write).contains(element);
                prop_assert!((0..pipeline.stages.len()).filter(writes).all(|number| found.contains(&number)));
            }
            if is_outside(&reader, &read) {
                prop_assert!(touched.is_empty());
            }
        }
    }

    /// Of copies that write every so many-th element, an access of one of them finds only that one.
    #[test]
    fn copies_are_found_by_their_elements() {
        let copies = 64;
        let copy = |lane: i64| {
            let along = |coefficient: i64, constant| Subscript::affine(vec![coefficient, 0], constant);
            let rows = Subscript::affine(vec![0, 1], 0);
            stage(Access { array: 0, subscripts: vec![along(copies, lane), rows] }, vec![4, 8], 0)
        };
        let stages = (0..copies).map(copy).collect_vec();
        let arrays = vec![Array { name: "a".to_owned(), weight: 1 }];
        let writers = Writers::of(&Pipeline { arrays, stages: stages.clone() });
        for (number, stage) in stages.iter().enumerate() {
            assert_eq!(writers.of_access(stage, &stage.write), [number]);
            assert_eq!(writers.of_element(0, &[number as i64 + copies, 3]), [number]);
        }
    }
}
