//! Affine functions as digits in a mixed radix.

use pushmem_affine::Affine;

use crate::nest::Nest;

/// Splits of loops tried before giving up.
const SPLIT_LIMIT: usize = 16;

/// One digit: how much a unit of it counts, and how many values it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digit {
    pub weight: i64,
    pub count: i64,
}

/// Replaces function `target` of a nest by its digits, appended to the functions: each digit is affine and stays within
/// its count over the whole nest. Loops are split where that avoids carries.
///
/// Digits are given with growing weights.
pub(crate) fn decompose(mut nest: Nest, target: usize, system: &[Digit]) -> Result<Nest, String> {
    for _ in 0..SPLIT_LIMIT {
        let digits = divide(&nest.functions[target], system)?;
        let overflow = digits.iter().zip(system).position(|(digit, place)| {
            let (low, high) = nest.range(digit);
            low < 0 || high >= place.count
        });
        let Some(place) = overflow else {
            nest.functions.remove(target);
            nest.functions.extend(digits);
            return Ok(nest);
        };
        let count = system[place].count;
        let (low, high) = nest.range(&digits[place]);
        let carry =
            || format!("a digit of weight {} runs from {low} to {high}, not below {count}", system[place].weight);
        let (level, inner) = (0..nest.depth())
            .filter(|_| place + 1 < system.len())
            .find_map(|level| {
                let step = digits[place].stride[level];
                let inner = if step > 0 && count % step == 0 { (count / step) as u64 } else { return None };
                let splits = inner > 1 && inner < nest.extent[level] && nest.extent[level].is_multiple_of(inner);
                splits.then_some((level, inner))
            })
            .ok_or_else(carry)?;
        nest = nest.split(level, inner);
    }
    Err("its loops do not follow the loops of the write".to_owned())
}

/// The digits of the start and of each stride.
fn divide(function: &Affine, system: &[Digit]) -> Result<Vec<Affine>, String> {
    let mut rest = function.clone();
    let mut digits = Vec::new();
    for digit in system.iter().rev() {
        let take = |value: &mut i64| {
            let quotient = *value / digit.weight;
            *value -= quotient * digit.weight;
            quotient
        };
        let start = take(&mut rest.start);
        let stride = rest.stride.iter_mut().map(take).collect();
        digits.push(Affine { start, stride });
    }
    if rest.start != 0 || rest.stride.iter().any(|&stride| stride != 0) {
        return Err("it reads between the elements that are written".to_owned());
    }
    digits.reverse();
    Ok(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nest::tests::nest;
    use proptest::prelude::*;

    proptest! {
        /// Weighted digits are the number, and each stays below its count.
        #[test]
        fn digits_make_the_number(
            levels in prop::collection::vec((1_u64..7, 0_i64..3, -2_i64..30), 0..4),
            counts in prop::collection::vec(1_i64..7, 1..4),
        ) {
            let nest = nest(0, &levels);
            let mut weight = 1;
            let system: Vec<Digit> = counts
                .iter()
                .map(|&count| {
                    let digit = Digit { weight, count };
                    weight *= count;
                    digit
                })
                .collect();
            let mut numbers = Vec::new();
            nest.extent.for_each(|index| numbers.push(nest.functions[0].value(index)));
            if let Ok(digits) = decompose(nest, 0, &system) {
                let mut made = Vec::new();
                digits.extent.for_each(|index| {
                    let values = digits.functions.iter().map(|digit| digit.value(index));
                    made.push(values.zip(&system).map(|(value, digit)| value * digit.weight).sum::<i64>());
                });
                prop_assert_eq!(made, numbers);
                for (digit, place) in digits.functions.iter().zip(&system) {
                    let (low, high) = digits.range(digit);
                    prop_assert!(0 <= low && high < place.count);
                }
            }
        }
    }

    /// A stream through rows of 64 follows rows that are written with pauses: its loop is split.
    #[test]
    fn loops_are_split_where_digits_carry() {
        let stream = nest(0, &[(4096, 0, 1)]);
        let mut stream = stream;
        stream.functions[0].start = 0;
        let digits = decompose(stream, 0, &[Digit { weight: 1, count: 64 }, Digit { weight: 64, count: 64 }]).unwrap();
        assert_eq!(digits.extent, [64, 64]);
        assert_eq!(digits.functions[0].stride, [1, 0]);
        assert_eq!(digits.functions[1].stride, [0, 1]);
    }
}
