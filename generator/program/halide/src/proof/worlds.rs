//! The worlds in which a statement and its nest must agree: images, and what is less than what.
//!
//! Random images take few branches: hardly a pixel is 65535 or differs from its neighbour by 60000, and whatever only shows
//! where one does is not seen. So some worlds have images of such values. In the others the *order of data* is a random one:
//! comparisons, minima and maxima of data go by it, whatever the numbers, so that each branch is taken about half of the time.
//!
//! That is exact, as it is the same order for both, and an import keeps to what holds in any order: that minima and maxima
//! are associative, commutative and idempotent, that `a < b` is `b > a`, and that sums stay as they are. Comparisons of loop
//! variables are those of numbers in all worlds. So is the order of the constants of the text among each other: Halide and the import
//! compute with them, so that one of two may have `max(7, data)` where the other one has `max(max(4, data), 7)`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use pushmem_nest::{Array, ArrayKind, Binary, Program, Type};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::machine::width;

/// The pixels and the order in which executions of the same steps differ.
#[derive(Debug)]
pub(crate) struct World {
    pixels: Pixels,
    /// The order of data, if it is not that of numbers.
    pub order: Option<Order>,
}

/// How the pixels of images are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pixels {
    /// All values are as likely.
    Uniform,
    /// Half of the pixels of the whole type, and half of them small, so that comparisons go both ways.
    Small,
    /// The constants of the text, what is beside them, and the least and the greatest values.
    Constants,
    /// The least and the greatest value.
    Extremes,
    /// Just below the greatest value.
    Saturated,
}

/// A random order of numbers, in which many are equal.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    seed: u64,
    /// How many classes of equal numbers there are.
    classes: u64,
    /// The places of constants, in ascending order as these are.
    constants: Rc<BTreeMap<i64, (u64, u64)>>,
}

/// All worlds for texts with these constants. In the first, which is the ordinary one, images are as they were measured.
pub(crate) fn worlds(constants: &BTreeSet<i64>) -> Vec<World> {
    let numbers = [Pixels::Small, Pixels::Constants, Pixels::Extremes, Pixels::Saturated];
    let classes = [2, 3, 2, 4, 2, 3];
    let of_numbers = numbers.into_iter().map(|pixels| World { pixels, order: None });
    let of_classes = classes.into_iter().zip(1..).map(|(classes, seed)| {
        let order = Some(Order::new(seed, classes, constants));
        World { pixels: Pixels::Uniform, order }
    });
    of_numbers.chain(of_classes).collect()
}

/// An image for each input, each of its pixels with the values in all worlds, and that it is data. The constants are those of
/// the text.
pub(crate) fn images<'a>(
    nest: &'a Program,
    worlds: &[World],
    constants: &BTreeSet<i64>,
) -> BTreeMap<&'a str, Vec<i64>> {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let inputs = nest.arrays_of(ArrayKind::Input).map(|array| {
        let near: Vec<i64> = constants.iter().flat_map(|each| [each - 1, *each, each + 1]).collect();
        let near: Vec<i64> = near.into_iter().filter(|each| array.element.holds(*each)).collect();
        let mut image = Vec::with_capacity(array.size() * width(worlds));
        for _ in 0..array.size() {
            image.extend(worlds.iter().map(|world| world.pixels.pixel(array, &near, &mut random)));
            image.push(1);
        }
        (array.name.as_str(), image)
    });
    inputs.collect()
}

impl Pixels {
    fn pixel(self, array: &Array, constants: &[i64], random: &mut ChaCha8Rng) -> i64 {
        let (least, greatest) = (array.element.min(), array.element.max());
        match self {
            Pixels::Uniform => random.random_range(least..=greatest),
            Pixels::Small => {
                let value = random.random_range(least..=greatest);
                if random.random() { value } else { value % 16 }
            }
            Pixels::Constants => match constants.choose(random) {
                Some(constant) if random.random_ratio(2, 3) => *constant,
                _ => [least, least + 1, greatest - 1, greatest][random.random_range(0..4)],
            },
            Pixels::Extremes => [least, greatest][random.random_range(0..2)],
            Pixels::Saturated => greatest - random.random_range(0..3),
        }
    }
}

impl Order {
    fn new(seed: u64, classes: u64, constants: &BTreeSet<i64>) -> Self {
        let mut order = Self { seed, classes, constants: Rc::default() };
        let mut places: Vec<(u64, u64)> = constants.iter().map(|constant| order.place(*constant)).collect();
        places.sort_unstable();
        order.constants = Rc::new(constants.iter().copied().zip(places).collect());
        order
    }

    /// Where a number is in the order: in which class, and where in it.
    fn place(&self, number: i64) -> (u64, u64) {
        if let Some(place) = self.constants.get(&number) {
            return *place;
        }
        // The finalizer of MurmurHash3 (fmix64), which is a permutation.
        let mut mixed = (number as u64).wrapping_add(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
            mixed = (mixed ^ (mixed >> 33)).wrapping_mul(factor);
        }
        mixed ^= mixed >> 33;
        (mixed % self.classes, mixed)
    }

    /// The result of a comparison, or the smaller or the larger number; of other operators, that of numbers.
    pub fn apply(&self, operator: Binary, of: Type, left: i64, right: i64) -> i64 {
        let (one, other) = (self.place(left), self.place(right));
        match operator {
            Binary::Minimum if one <= other => left,
            Binary::Maximum if one >= other => left,
            Binary::Minimum | Binary::Maximum => right,
            _ => operator.apply(of, one.0 as i64, other.0 as i64),
        }
    }

    /// The entry at an address of a table that is never reached where numbers have their own order.
    pub fn entry(&self, element: Type, address: i64) -> i64 {
        element.wrap(self.place(address).1 as i64)
    }
}

#[cfg(test)]
mod tests {
    use itertools::{Itertools, iproduct};

    use super::*;

    /// The properties of orders that an import relies on.
    #[test]
    fn orders_are_orders() {
        let constants = BTreeSet::from([3, 200, 1000]);
        for order in worlds(&constants).iter().filter_map(|world| world.order.as_ref()) {
            for (one, other) in constants.iter().tuple_windows() {
                assert_eq!(order.apply(Binary::Maximum, Type::I32, *one, *other), *other);
            }
            let apply = |operator, left, right| order.apply(operator, Type::I32, left, right);
            for (one, two, three) in iproduct!([-7, 0, 200], [-7, 65535, 3], [3, 200, 1000]) {
                for operator in [Binary::Minimum, Binary::Maximum] {
                    assert_eq!(apply(operator, one, two), apply(operator, two, one));
                    let first = apply(operator, apply(operator, one, two), three);
                    assert_eq!(first, apply(operator, one, apply(operator, two, three)));
                    assert_eq!(apply(operator, one, one), one);
                }
                assert_eq!(apply(Binary::Less, one, two), apply(Binary::Greater, two, one));
                assert_eq!(apply(Binary::Less, one, two), 1 - apply(Binary::GreaterEqual, one, two));
                assert_eq!(apply(Binary::Equal, one, two), 1 - apply(Binary::NotEqual, one, two));
                assert_eq!(apply(Binary::LessEqual, one, one), 1);
            }
        }
    }

    /// Each comparison with a constant goes both ways, in the one world or the other.
    #[test]
    fn no_threshold_is_rare() {
        let orders: Vec<Order> = worlds(&BTreeSet::new()).into_iter().filter_map(|world| world.order).collect();
        for (operator, constant) in
            iproduct!([Binary::Equal, Binary::Less, Binary::GreaterEqual], [0, 255, 60000, 65535])
        {
            let holds = |value: i64| move |order: &&Order| order.apply(operator, Type::U16, value, constant) != 0;
            let often: usize = (0..100).map(|value| orders.iter().filter(holds(value)).count()).sum();
            assert!((100..=500).contains(&often), "{operator:?} {constant}: {often} of 600");
        }
    }
}
