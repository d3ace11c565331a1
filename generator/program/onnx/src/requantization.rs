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

/// The most parts of a factor, each of which costs a product.
const MOST_PARTS: u32 = 8;

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
    /// The zero point, where it is added before a result is rounded: sizes, and what is even, are those of the integer with it.
    pub zero_point: i64,
}

impl Ties {
    /// The same for integers of all sizes: so many bits behind the point of a product that is shifted so many bits.
    pub fn near(bits: u32, shift: u32) -> Ties {
        Ties { distances: vec![(0, if bits < shift { 1 << (shift - bits) } else { 0 })], zero_point: 0 }
    }

    /// As numbers of 24 bits have them, for a product that is shifted so many bits, if the sizes below this power of two are one.
    fn of_floats(shift: u32, least: u32) -> Ties {
        let exact = |power: u32| (shift + power).checked_sub(f32::MANTISSA_DIGITS).map_or(0, |bits| 1 << bits);
        let above = (least + 1..=LARGEST_POWER).rev().map(|power| (1 << power, exact(power)));
        Ties { distances: above.chain([(0, exact(least))]).collect(), zero_point: 0 }
    }

    /// The offset beside [`middle`] for a product between this integer and the next one.
    pub fn offset(&self, integer: i64) -> i64 {
        let integer = integer + self.zero_point;
        let size = integer.max(-1 - integer);
        let distance = self.distances.iter().find(|(least, _)| size >= *least).map_or(0, |(_, distance)| *distance);
        if integer & 1 == 1 { distance + 1 } else { -distance }
    }
}

/// The function of sums that onnxruntime computes.
#[derive(Clone, Debug)]
pub(crate) struct Rounding {
    /// Of all channels or of each, above 0.
    pub scales: Vec<f32>,
    /// The ends of the result, with the zero point.
    pub range: (i64, i64),
    pub zero_point: i64,
    /// Whether the zero point is added before a result is rounded to an integer.
    pub adds_first: bool,
}

impl Rounding {
    /// The result for a sum, without the zero point.
    fn of(&self, channel: usize, sum: i64) -> i64 {
        let scale = self.scales[channel.min(self.scales.len() - 1)];
        let (least, most) = self.ends();
        let first = if self.adds_first { self.zero_point } else { 0 };
        let real = (sum as f32 * scale + first as f32).round_ties_even();
        (real as i64).saturating_sub(first).clamp(least, most)
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
        // Channels with one scale have one function.
        let all = sums.iter().copied().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let sums = if self.scales.len() == 1 { all.into_iter().collect() } else { sums.to_vec() };
        // For each channel its sums, and of each result but the least where it begins.
        let channel = |(channel, sums): (usize, &(i64, i64))| Channel {
            sums: *sums,
            steps: (least + 1..=most).map(|result| (result, self.first(channel, *sums, result))).collect(),
        };
        let channels: Vec<Channel> = sums.iter().enumerate().map(channel).collect();
        let around =
            |ends: Vec<(i64, i64)>| ends.into_iter().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        // A channel whose result is always an end of the range needs no ends of its own, if the others have some.
        let narrow = around(channels.iter().filter_map(Channel::inside).collect());
        let wide = around(channels.iter().map(|channel| channel.inside().unwrap_or(channel.sums)).collect());
        let wide = wide.unwrap_or((0, 0));
        // The fewest sizes that are told apart, and the fewest bits.
        let forms = [None].into_iter().chain(BITS_OF_TIES.map(Sizes::One).map(Some));
        let forms = forms.chain((0..=LARGEST_POWER).rev().map(Sizes::Floats).map(Some));
        let widest = channels.iter().enumerate().max_by_key(|(_, channel)| channel.sums.1 - channel.sums.0);
        let mut found = widest.map_or((0, 0), |(number, channel)| (number, channel.sums.1));
        for ((ends, form), shift) in iproduct!(iproduct!(narrow.into_iter().chain([wide]), forms), 1..=LARGEST_SHIFT) {
            let zero_point = if self.adds_first { self.zero_point } else { 0 };
            let ties = form.map(|sizes| Ties { zero_point, ..sizes.ties(shift) });
            let factor = |(number, channel): (usize, &Channel)| {
                channel.factor(shift, ties.as_ref(), ends).or_else(|| exact_factor(self.scales[number], shift))
            };
            let factors: Option<Vec<i64>> = channels.iter().enumerate().map(factor).collect();
            let Some(built) = factors.and_then(|factors| self.built(factors, shift, ends, ties.clone())) else {
                continue;
            };
            let differs =
                |(number, channel): (usize, &Channel)| Some((number, self.difference(&built, number, channel)?));
            match channels.iter().enumerate().find_map(differs) {
                None => return Ok(built),
                Some(sum) => found = sum,
            }
        }
        Err(found)
    }

    /// A sum of a channel with another result in integers. Both functions never fall: they are one if they agree on both sides of each step.
    fn difference(&self, built: &Requantization, number: usize, channel: &Channel) -> Option<i64> {
        let sides = channel.steps.iter().flat_map(|(_, first)| [first - 1, *first]);
        let mut reached = sides.filter(|sum| (channel.sums.0..=channel.sums.1).contains(sum));
        reached.find(|sum| built.of(number, *sum) != self.of(number, *sum))
    }

    /// With these factors of all channels, or nothing where an integer would have too many bits.
    fn built(&self, factors: Vec<i64>, shift: u32, ends: (i64, i64), ties: Option<Ties>) -> Option<Requantization> {
        let bits = |value: i64| i64::BITS - value.unsigned_abs().leading_zeros();
        let largest = ends.0.abs().max(ends.1.abs());
        let part_bits = (BITS - 1).checked_sub(bits(largest)).filter(|bits| *bits > 0)?.min(MOST_PART_BITS);
        let factor_bits = factors.iter().map(|factor| bits(*factor)).max()?.max(1);
        let count = factor_bits.div_ceil(part_bits);
        // Something is left to shift after the last part.
        if count > MOST_PARTS || shift <= (count - 1) * part_bits {
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

/// The sizes of integers whose ties are told apart.
#[derive(Clone, Copy)]
enum Sizes {
    /// None: ties are so many bits behind the point.
    One(u32),
    /// Those of `f32`, from this power of two on.
    Floats(u32),
}

impl Sizes {
    /// The ties of a product that is shifted so many bits.
    fn ties(self, shift: u32) -> Ties {
        match self {
            Sizes::One(bits) => Ties::near(bits, shift),
            Sizes::Floats(least) => Ties::of_floats(shift, least),
        }
    }
}

/// The sums of a channel, and the steps of its results.
struct Channel {
    sums: (i64, i64),
    /// Results, each with the sum where it begins.
    steps: Vec<(i64, i64)>,
}

impl Channel {
    /// The sums beyond which the result is that of the least and of the greatest; nothing where it is one end of the range for all.
    fn inside(&self) -> Option<(i64, i64)> {
        let (least, most) = self.sums;
        let inside = self.steps.iter().map(|(_, first)| *first).filter(|first| (least + 1..=most).contains(first));
        match inside.minmax().into_option() {
            Some((first, last)) => Some((first - 1, last)),
            // A result between the ends.
            None if self.steps.iter().map(|(_, first)| *first > most).all_equal() => None,
            None => Some((least, least)),
        }
    }

    /// A factor whose products with sums between ends, shifted so many bits and rounded, begin each result where it should; the middle one.
    fn factor(&self, shift: u32, ties: Option<&Ties>, ends: (i64, i64)) -> Option<i64> {
        let middle = middle(shift, ties.is_some());
        let (mut least, mut most) = (0, i64::MAX);
        for &(result, first) in &self.steps {
            let bound = (result << shift) - middle - ties.map_or(0, |ties| ties.offset(result - 1));
            // At the step the product is at least the bound, and before it less.
            if first <= self.sums.1 {
                match first.clamp(ends.0, ends.1) {
                    0 if bound > 0 => return None,
                    0 => {}
                    at @ 1.. => least = least.max(-(-bound).div_euclid(at)),
                    at => most = most.min((-bound).div_euclid(-at)),
                }
            }
            if first > self.sums.0 {
                match (first - 1).clamp(ends.0, ends.1) {
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

/// The offset by which a shift of so many bits rounds a product; one less where ties go to the even integer.
pub(crate) fn middle(shift: u32, has_ties: bool) -> i64 {
    (1 << (shift - 1)) - i64::from(has_ties)
}

/// A number as an integer that is shifted so many bits; nothing where it is none, or has too many bits.
fn exact_factor(scale: f32, shift: u32) -> Option<i64> {
    const FRACTION: u32 = f32::MANTISSA_DIGITS - 1;
    let (exponent, fraction) = (scale.to_bits() >> FRACTION, scale.to_bits() & ((1 << FRACTION) - 1));
    let integer = i64::from(fraction | 1 << FRACTION);
    let zeros = integer.trailing_zeros();
    let own = 127 + i64::from(FRACTION) - i64::from(exponent) - i64::from(zeros);
    let more = u32::try_from(i64::from(shift) - own).ok().filter(|more| *more < 16)?;
    Some((integer >> zeros) << more)
}

impl Requantization {
    /// The parts of the offset of a product before its shift, lowest part first; [`Self::ties`] add to the lowest.
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

    /// Sums between ends, which each channel has, give what floating point gives: all of a few, or so many.
    fn check(rounding: &Rounding, sums: &[(i64, i64)]) {
        let built = rounding.in_integers(sums).unwrap_or_else(|found| panic!("{rounding:?}: {found:?}"));
        for (channel, (least, most)) in sums.iter().enumerate() {
            for sum in (*least..=*most).step_by(((most - least) / 100_000).max(1) as usize) {
                assert_eq!(built.of(channel, sum), rounding.of(channel, sum), "{rounding:?} {built:?} {channel} {sum}");
            }
        }
    }

    #[test]
    fn powers_of_two_round_to_even() {
        for scale in [0.5, 0.25, 0.125, 0.375, 1.0 / 256.0, 0.08928572, 1.0 / 49.0, 0.1, 1.0 / 6.0] {
            check(
                &Rounding { scales: vec![scale], range: (-128, 127), zero_point: 3, adds_first: false },
                &[(-5000, 5000), (-9, 1)],
            );
        }
    }

    #[test]
    fn channels_that_are_always_an_end_of_the_range_cost_nothing() {
        let rounding = |scales: Vec<f32>| Rounding { scales, range: (-128, 127), zero_point: 0, adds_first: false };
        let own = rounding(vec![0.003]).in_integers(&[(-80_000, 80_000)]).unwrap();
        // The weights of a channel are nearly 0, and its bias is not.
        for sums in [(-1 << 30, -1 << 29), (1 << 29, 1 << 30)] {
            let both = rounding(vec![0.003, 0.000_003]).in_integers(&[(-80_000, 80_000), sums]).unwrap();
            assert_eq!(both.parts.len(), own.parts.len());
            check(&rounding(vec![0.003, 0.000_003]), &[(-80_000, 80_000), sums]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn sums_are_those_of_floating_point(
            channels in prop::collection::vec((0.0003_f32..2.5, -100_000_i64..100_000, 0_i64..100_000), 1..4),
            zero_point in -128_i64..128, is_rectified: bool, adds_first: bool,
        ) {
            let range = (if is_rectified { zero_point } else { -128 }, 127);
            let sums: Vec<(i64, i64)> = channels.iter().map(|(_, least, extent)| (*least, least + extent)).collect();
            let scales = channels.iter().map(|(scale, ..)| *scale).collect();
            check(&Rounding { scales, range, zero_point, adds_first }, &sums);
        }
    }
}
