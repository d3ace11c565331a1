//! From sums to integers of 8 bits, in integers, exactly as floating point gives them.
//!
//! Quantized operators of onnxruntime take a sum as `f32`, times the scale of its channel, rounded to the nearest integer, of two to
//! the even one, between two ends. That function of the sum never falls, so that it is known by the sums at which it rises: at most
//! 255. A product with an integer and a shift is the same function where it rises at the same sums, which is tested for each.

use itertools::{Itertools, iproduct};

/// The most bits that a product is shifted.
const LARGEST_SHIFT: u32 = 46;

/// The bits of integers that the language computes with, without the sign.
const BITS: u32 = 31;

/// How near the middle of two integers products go to the even one, as bits behind the point: of exact products only, and of those
/// which are there once they have the 24 bits of `f32`.
pub(crate) const BITS_OF_TIES: [u32; 4] = [u32::MAX, 16, 13, 10];

/// The power of two below the largest results.
const LARGEST_POWER: u32 = 8;

/// The most bits of a part of a factor: parts are entries of tables of 16 bits.
const MOST_PART_BITS: u32 = 15;

/// From the sums of channels to integers.
#[derive(Clone, Debug)]
pub(crate) struct Requantization {
    /// Sums are first moved between these, beyond which the result is that of the end.
    pub ends: (i64, i64),
    /// Factors of channels, one of all or one of each, in parts of so many bits, lowest part first.
    pub parts: Vec<Vec<i64>>,
    /// Bits of a part.
    pub part_bits: u32,
    /// How many bits a product is shifted to the right.
    pub shift: u32,
    /// How products near the middle of two integers go to the even one. Without, those from the middle on go to the greater one.
    pub ties: Option<Ties>,
    /// The ends of the result, without the zero point.
    pub range: (i64, i64),
    pub zero_point: i64,
}

/// How near the middle of two integers a product goes to the even one: by the size of the integers, since `f32` has 24 bits of a number,
/// whatever its size.
#[derive(Clone, Debug)]
pub(crate) struct Ties {
    /// The least size, and the distance from it on, in units of the product's last bit; the greatest size first, and 0 last.
    pub distances: Vec<(i64, i64)>,
}

impl Ties {
    /// The same for integers of all sizes: so many bits behind the point of a product that is shifted so many bits.
    pub fn near(bits: u32, shift: u32) -> Ties {
        Ties { distances: vec![(0, if bits < shift { 1 << (shift - bits) } else { 0 })] }
    }

    /// As numbers of 24 bits have them, for a product that is shifted so many bits, if the sizes below this power of two are one.
    fn of_floats(shift: u32, least: u32) -> Ties {
        let of_power =
            |power: u32| 1_i64.checked_shl((shift + power).saturating_sub(f32::MANTISSA_DIGITS)).unwrap_or(0);
        let exact = |power: u32| if shift + power < f32::MANTISSA_DIGITS { 0 } else { of_power(power) };
        let above = (least + 1..=LARGEST_POWER).rev().map(|power| (1 << power, exact(power)));
        Ties { distances: above.chain([(0, exact(least))]).collect() }
    }

    /// What is added beside [`middle`] to a product that is between this integer and the next one.
    pub fn offset(&self, integer: i64) -> i64 {
        let size = integer.max(-1 - integer);
        let distance = self.distances.iter().find(|(least, _)| size >= *least).map_or(0, |(_, distance)| *distance);
        if integer & 1 == 1 { distance + 1 } else { -distance }
    }
}

/// What onnxruntime computes of sums.
#[derive(Clone, Debug)]
pub(crate) struct Rounding {
    /// Of all channels or of each, above 0.
    pub scales: Vec<f32>,
    /// The ends of the result, with the zero point.
    pub range: (i64, i64),
    pub zero_point: i64,
}

impl Rounding {
    /// The result for a sum, without the zero point.
    fn of(&self, channel: usize, sum: i64) -> i64 {
        let scale = self.scales[channel.min(self.scales.len() - 1)];
        let (least, most) = self.ends();
        (sum as f32 * scale).clamp(least as f32, most as f32).round_ties_even() as i64
    }

    /// The ends of the result, without the zero point.
    fn ends(&self) -> (i64, i64) {
        (self.range.0 - self.zero_point, self.range.1 - self.zero_point)
    }

    /// The least sum of those between ends that gives at least this result; one more than the last if none does.
    fn first(&self, channel: usize, (least, most): (i64, i64), result: i64) -> i64 {
        let (mut least, mut end) = (least, most + 1);
        while least < end {
            let middle = least + (end - least) / 2;
            if self.of(channel, middle) >= result {
                end = middle;
            } else {
                least = middle + 1;
            }
        }
        least
    }

    /// The same function in integers, of the sums that each channel can have.
    ///
    /// # Errors
    /// A channel and a sum for which no factor gives the result.
    pub fn in_integers(&self, sums: &[(i64, i64)]) -> Result<Requantization, (usize, i64)> {
        let (least, most) = self.ends();
        // For each channel its sums, and of each result but the least where it begins.
        let steps = |(channel, sums): (usize, &(i64, i64))| -> Vec<(i64, i64)> {
            (least + 1..=most).map(|result| (result, self.first(channel, *sums, result))).collect()
        };
        let steps: Vec<Vec<(i64, i64)>> = sums.iter().enumerate().map(steps).collect();
        let channels: Vec<Channel> =
            sums.iter().zip(&steps).map(|(sums, steps)| Channel { sums: *sums, steps }).collect();
        let ends = channels.iter().map(Channel::ends).reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let ends = ends.unwrap_or((0, 0));
        // Both functions never fall: they are one if they agree on both sides of each step.
        let differs = |built: &Requantization| {
            let of_channel = |(number, channel): (usize, &Channel)| {
                let sides = channel.steps.iter().flat_map(|(_, first)| [first - 1, *first]);
                let mut reached = sides.filter(|sum| (channel.sums.0..=channel.sums.1).contains(sum));
                reached.find(|sum| built.of(number, *sum) != self.of(number, *sum)).map(|sum| (number, sum))
            };
            channels.iter().enumerate().find_map(of_channel)
        };
        let with_factors = |(ties, shift): (Option<u32>, u32)| {
            let ties = ties.map(|bits| Ties::near(bits, shift));
            let factors: Option<Vec<i64>> =
                channels.iter().map(|channel| channel.factor(shift, ties.as_ref())).collect();
            self.built(factors?, shift, ends, ties)
        };
        let forms = [None].into_iter().chain(BITS_OF_TIES.map(Some));
        let near = iproduct!(forms, 1..=LARGEST_SHIFT).filter_map(with_factors);
        // With the scale as it is, ties are those of floating point: the fewest sizes that are told apart.
        let exact = exact_factors(&self.scales);
        let exact = exact.iter().flat_map(|(factors, shift)| {
            let of_least = |least: u32| self.built(factors.clone(), *shift, ends, Some(Ties::of_floats(*shift, least)));
            (0..=LARGEST_POWER).rev().filter_map(of_least)
        });
        let mut found = (0, ends.1);
        for built in near.take(1).chain(exact) {
            match differs(&built) {
                None => return Ok(built),
                Some(sum) => found = sum,
            }
        }
        Err(found)
    }

    /// With these factors of all channels, or nothing where an integer would have too many bits.
    fn built(&self, factors: Vec<i64>, shift: u32, ends: (i64, i64), ties: Option<Ties>) -> Option<Requantization> {
        let bits = |value: i64| i64::BITS - value.unsigned_abs().leading_zeros();
        let largest = ends.0.abs().max(ends.1.abs());
        let part_bits = (BITS - 1).checked_sub(bits(largest)).filter(|bits| *bits > 0)?.min(MOST_PART_BITS);
        let factor_bits = factors.iter().map(|factor| bits(*factor)).max()?.max(1);
        let count = factor_bits.div_ceil(part_bits);
        // Something is left to shift after the last part.
        if shift <= (count - 1) * part_bits {
            return None;
        }
        let factors = if factors.iter().all_equal() { factors[..1].to_vec() } else { factors };
        let mask = (1_i64 << part_bits) - 1;
        let part = |number: u32| factors.iter().map(|factor| factor >> (number * part_bits) & mask).collect();
        let parts = (0..count).map(part).collect();
        let built =
            Requantization { ends, parts, part_bits, shift, ties, range: self.ends(), zero_point: self.zero_point };
        built.fits().then_some(built)
    }
}

/// What a channel asks for.
struct Channel<'a> {
    sums: (i64, i64),
    /// Results, each with the sum where it begins.
    steps: &'a [(i64, i64)],
}

impl Channel<'_> {
    /// The sums beyond which the result is that of the least and of the greatest.
    fn ends(&self) -> (i64, i64) {
        let (least, most) = self.sums;
        let inside = self.steps.iter().map(|(_, first)| *first).filter(|first| (least + 1..=most).contains(first));
        match inside.minmax().into_option() {
            Some((first, last)) => (first - 1, last),
            None => (least, least),
        }
    }

    /// A factor whose products, shifted so many bits and rounded, begin each result where it should; the middle one of them.
    fn factor(&self, shift: u32, ties: Option<&Ties>) -> Option<i64> {
        let middle = middle(shift, ties.is_some());
        let (mut least, mut most) = (0, i64::MAX);
        for &(result, first) in self.steps {
            let bound = (result << shift) - middle - ties.map_or(0, |ties| ties.offset(result - 1));
            // At the step the product is at least the bound, and before it less.
            if first <= self.sums.1 {
                match first {
                    0 if bound > 0 => return None,
                    0 => {}
                    1.. => least = least.max(-(-bound).div_euclid(first)),
                    _ => most = most.min((-bound).div_euclid(-first)),
                }
            }
            if first > self.sums.0 {
                match first - 1 {
                    0 if bound <= 0 => return None,
                    0 => {}
                    before @ 1.. => most = most.min((bound - 1).div_euclid(before)),
                    before => least = least.max(-(bound - 1).div_euclid(-before)),
                }
            }
        }
        (least <= most).then(|| if most == i64::MAX { least } else { least + (most - least) / 2 })
    }
}

/// What is added to a product before it is shifted so many bits, so that it is rounded; one less where ties go to the even integer.
pub(crate) fn middle(shift: u32, has_ties: bool) -> i64 {
    (1 << (shift - 1)) - i64::from(has_ties)
}

/// Numbers as integers by a power of two: the integers, and the power; nothing where they have too many bits.
fn exact_factors(scales: &[f32]) -> Option<(Vec<i64>, u32)> {
    const FRACTION: u32 = f32::MANTISSA_DIGITS - 1;
    let exact = |scale: &f32| {
        let (exponent, fraction) = (scale.to_bits() >> FRACTION, scale.to_bits() & ((1 << FRACTION) - 1));
        let integer = i64::from(fraction | 1 << FRACTION);
        let zeros = integer.trailing_zeros();
        (integer >> zeros, 127 + i64::from(FRACTION) - i64::from(exponent) - i64::from(zeros))
    };
    let exact: Vec<(i64, i64)> = scales.iter().map(exact).collect();
    let shift = exact.iter().map(|(_, shift)| *shift).max()?.max(1);
    let factor = |(integer, own): &(i64, i64)| (shift - own < 16).then(|| integer << (shift - own));
    let factors = exact.iter().map(factor).collect::<Option<_>>()?;
    Some((factors, u32::try_from(shift).ok().filter(|shift| *shift <= LARGEST_SHIFT)?))
}

impl Requantization {
    /// What is added to a product before it is shifted, lowest part first; [`Self::ties`] add to the lowest.
    pub fn offsets(&self) -> Vec<i64> {
        let offset = middle(self.shift, self.ties.is_some());
        let last = self.parts.len() as u32 - 1;
        let mask = (1_i64 << self.part_bits) - 1;
        let part = |number: u32| {
            let rest = offset >> (number * self.part_bits);
            if number == last { rest } else { rest & mask }
        };
        (0..=last).map(part).collect()
    }

    /// Whether no integer on the way has more bits than the language.
    fn fits(&self) -> bool {
        let largest = self.ends.0.abs().max(self.ends.1.abs());
        let ties = self.ties.as_ref().and_then(|ties| ties.distances.iter().map(|(_, distance)| *distance + 1).max());
        let carried =
            self.parts.iter().zip(self.offsets()).try_fold(ties.unwrap_or(0), |carried, (factors, offset)| {
                let product = largest * factors.iter().max()? + offset + carried;
                (product < 1 << BITS).then_some((product >> self.part_bits) + 1)
            });
        carried.is_some()
    }

    /// How many bits the product of the last part is shifted.
    pub fn last_shift(&self) -> u32 {
        self.shift - (self.parts.len() as u32 - 1) * self.part_bits
    }

    /// The result for a sum, without the zero point.
    fn of(&self, channel: usize, sum: i64) -> i64 {
        let sum = sum.clamp(self.ends.0, self.ends.1);
        let shifted = |offsets: &[i64]| {
            let last = self.parts.len() - 1;
            self.parts.iter().zip(offsets).enumerate().fold(0, |carried, (number, (factors, offset))| {
                let product = sum * factors[channel.min(factors.len() - 1)] + offset + carried;
                product >> if number == last { self.last_shift() } else { self.part_bits }
            })
        };
        let mut offsets = self.offsets();
        if let Some(ties) = &self.ties {
            offsets[0] += ties.offset(shifted(&vec![0; offsets.len()]));
        }
        shifted(&offsets).clamp(self.range.0, self.range.1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All sums between ends give what floating point gives.
    fn check(rounding: &Rounding, sums: (i64, i64)) {
        let channels = vec![sums; rounding.scales.len()];
        let built = rounding.in_integers(&channels).unwrap_or_else(|found| panic!("{rounding:?}: {found:?}"));
        for channel in 0..channels.len() {
            for sum in sums.0..=sums.1 {
                assert_eq!(built.of(channel, sum), rounding.of(channel, sum), "{rounding:?} {built:?} {channel} {sum}");
            }
        }
    }

    #[test]
    fn powers_of_two_round_to_even() {
        for scale in [0.5, 0.25, 0.125, 0.375, 1.0 / 256.0, 0.08928572, 1.0 / 49.0, 0.1, 1.0 / 6.0] {
            check(&Rounding { scales: vec![scale], range: (-128, 127), zero_point: 3 }, (-5000, 5000));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn all_sums_are_those_of_floating_point(
            scales in prop::collection::vec(0.0003_f32..0.9, 1..3), zero_point in -128_i64..128,
            least in -100_000_i64..0, most in 0_i64..100_000, is_rectified: bool,
        ) {
            let range = (if is_rectified { zero_point } else { -128 }, 127);
            check(&Rounding { scales, range, zero_point }, (least, most));
        }
    }
}
