//! Which stages may write the elements of an access: an index, as unrolled operations have many copies.

use std::collections::HashMap;

use itertools::Itertools;
use num_integer::gcd;
use pushmem_stages::Staged;

use crate::places::Places;

/// The stages that write each array, by the elements that they write.
pub(crate) struct Writers {
    arrays: Vec<Vec<Family>>,
    all: Vec<Vec<usize>>,
}

/// Stages whose elements are equally far apart.
struct Family {
    /// By dimension: the common divisor of the distances of elements, 0 for a single one.
    steps: Vec<i64>,
    /// The stages by their remainders, or their only indices.
    stages: HashMap<Vec<i64>, Vec<usize>>,
}

fn remainder(index: i64, step: i64) -> i64 {
    if step == 0 { index } else { index.rem_euclid(step) }
}

impl Writers {
    pub fn of(staged: Staged) -> Self {
        let arrays = staged.pipeline.arrays.len();
        let mut found = Writers { arrays: Vec::new(), all: vec![Vec::new(); arrays] };
        found.arrays.resize_with(arrays, Vec::new);
        for (number, stage) in staged.pipeline.stages.iter().enumerate() {
            let places = Places::of_stage(stage, &stage.write);
            let (lows, steps): (Vec<i64>, Vec<i64>) = (0..places.dimensions())
                .map(|dimension| places.extremes(dimension))
                .map(|(low, _, step)| (low, step))
                .unzip();
            let families = &mut found.arrays[stage.write.array];
            let place = families.iter().position(|family| family.steps == steps).unwrap_or_else(|| {
                families.push(Family { steps: steps.clone(), stages: HashMap::new() });
                families.len() - 1
            });
            let remainders = lows.iter().zip(&steps).map(|(&low, &step)| remainder(low, step)).collect();
            families[place].stages.entry(remainders).or_default().push(number);
            found.all[stage.write.array].push(number);
        }
        found
    }

    /// All that write an array.
    pub fn all(&self, array: usize) -> &[usize] {
        &self.all[array]
    }

    /// The stages that may write the elements of an access to an array, in their order, and perhaps some more.
    pub fn of_access(&self, array: usize, places: &Places) -> Vec<usize> {
        let ranges = (0..places.dimensions()).map(|dimension| places.extremes(dimension)).collect_vec();
        self.within(array, &ranges)
    }

    /// Those that may write an element, in their order. The proof asks that of each element that is read.
    pub fn of_element(&self, array: usize, element: &[i64]) -> Vec<usize> {
        let (mut remainders, mut found) = (Vec::with_capacity(element.len()), Vec::new());
        for family in &self.arrays[array] {
            remainders.clear();
            remainders.extend(family.steps.iter().zip(element).map(|(&step, &index)| remainder(index, step)));
            found.extend(family.stages.get(&remainders).into_iter().flatten());
        }
        found.sort_unstable();
        found
    }

    fn within(&self, array: usize, ranges: &[(i64, i64, i64)]) -> Vec<usize> {
        let of_family = |family: &Family| {
            // The remainders that the indices of each dimension have.
            let turns = family.steps.iter().zip(ranges).map(|(&step, &(low, high, apart))| {
                let count = if apart == 0 { 1 } else { (high - low) / apart + 1 };
                if step == 0 { count } else { count.min(step / gcd(step, apart)) }
            });
            let turns = turns.collect_vec();
            let many = turns.iter().try_fold(1_i64, |many, &turns| many.checked_mul(turns));
            if many.is_none_or(|many| many > family.stages.len() as i64) {
                return family.stages.values().flatten().copied().collect_vec();
            }
            let of_dimension = |((&step, &(low, _, apart)), &turns): ((&i64, &(i64, i64, i64)), &i64)| {
                (0..turns).map(move |turn| remainder(low + turn * apart, step)).collect_vec()
            };
            let remainders = family.steps.iter().zip(ranges).zip(&turns).map(of_dimension);
            let keys = remainders.multi_cartesian_product();
            keys.filter_map(|key| family.stages.get(&key)).flatten().copied().collect_vec()
        };
        self.arrays[array].iter().flat_map(of_family).sorted_unstable().dedup().collect()
    }
}
