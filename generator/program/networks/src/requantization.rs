//! From sums to integers of 8 bits, in integers, exactly as other tools give them.
//!
//! Quantized operators of onnxruntime take a sum as `f32`, times the scale of its channel, rounded to the nearest integer, of two to
//! the even one, between two ends. Those of TensorFlow Lite take it times an integer of 31 bits, and round twice. Such a function of
//! the sum never falls, so that it is known by the sums at which it rises: at most 255. A product with an integer and a shift is the
//! same function where it rises at the same sums, which is tested for each.

use itertools::{Itertools, iproduct};

use crate::fault::{Fault, Result as Refusal};
use crate::multiplier::Multiplier;

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
    /// Offsets away from 0: each is added to the products of sums from 0 on, and subtracted from those of negative sums, before the last
    /// part is shifted. One for all channels, or one of each; none where all are 0.
    pub away: Vec<i64>,
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

/// A function of sums that another tool computes.
#[derive(Clone, Debug)]
pub(crate) struct Rounding {
    pub scaling: Scaling,
    /// The ends of the result, with the zero point.
    pub range: (i64, i64),
    pub zero_point: i64,
}

/// How a sum becomes an integer, before the zero point is added.
#[derive(Clone, Debug)]
pub(crate) enum Scaling {
    /// Its product with a scale above 0, of all channels or of each, as `f32`; the zero point may be added before it is rounded.
    Real { scales: Vec<f32>, adds_first: bool },
    /// Its product with a number of fixed point, of all channels or of each.
    Fixed(Vec<Multiplier>),
    /// Its quotient by so many, rounded to the nearest integer, of two to that away from 0.
    Quotient(i64),
}

impl Scaling {
    /// How many channels have a function of their own; 1 where all have one.
    fn channels(&self) -> usize {
        match self {
            Scaling::Real { scales, .. } => scales.len(),
            Scaling::Fixed(multipliers) => multipliers.len(),
            Scaling::Quotient(_) => 1,
        }
    }

    /// By how much a product of a channel is away from 0 before it is shifted so many bits, so that one shift rounds as two do.
    fn away(&self, channel: usize, shift: u32) -> i64 {
        match self {
            Scaling::Fixed(multipliers) => multipliers[channel].first_half(shift),
            _ => 0,
        }
    }

    /// The factor of a channel as an integer that is shifted so many bits; nothing where it is none, or has too many bits.
    fn exact(&self, channel: usize, shift: u32) -> Option<i64> {
        match self {
            Scaling::Real { scales, .. } => exact_factor(scales[channel], shift),
            Scaling::Fixed(multipliers) => multipliers[channel].factor(shift),
            Scaling::Quotient(_) => None,
        }
    }
}

impl Rounding {
    /// The result for a sum, without the zero point.
    fn of(&self, channel: usize, sum: i64) -> i64 {
        let (least, most) = self.ends();
        let result = match &self.scaling {
            Scaling::Real { scales, .. } => {
                let first = self.first_zero_point();
                let real = (sum as f32 * scales[channel.min(scales.len() - 1)] + first as f32).round_ties_even();
                (real as i64).saturating_sub(first)
            }
            Scaling::Fixed(multipliers) => multipliers[channel.min(multipliers.len() - 1)].of(sum),
            Scaling::Quotient(count) => (sum + sum.signum() * count / 2) / count,
        };
        result.clamp(least, most)
    }

    /// The zero point that is added before a result is rounded.
    fn first_zero_point(&self) -> i64 {
        if matches!(self.scaling, Scaling::Real { adds_first: true, .. }) { self.zero_point } else { 0 }
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
        let sums = if self.scaling.channels() == 1 { all.into_iter().collect() } else { sums.to_vec() };
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
        let is_real = matches!(self.scaling, Scaling::Real { .. });
        let even = BITS_OF_TIES.map(Sizes::One).into_iter().chain((0..=LARGEST_POWER).rev().map(Sizes::Floats));
        let forms = [None].into_iter().chain(even.filter(|_| is_real).map(Some));
        let widest = channels.iter().enumerate().max_by_key(|(_, channel)| channel.sums.1 - channel.sums.0);
        let mut found = widest.map_or((0, 0), |(number, channel)| (number, channel.sums.1));
        for ((ends, form), shift) in iproduct!(iproduct!(narrow.into_iter().chain([wide]), forms), 1..=LARGEST_SHIFT) {
            let ties = form.map(|sizes| Ties { zero_point: self.first_zero_point(), ..sizes.ties(shift) });
            let factor = |(number, channel): (usize, &Channel)| {
                let away = self.scaling.away(number, shift);
                let found = channel.factor(shift, (ties.as_ref(), away), ends);
                found.or_else(|| self.scaling.exact(number, shift))
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
        let lower_bits = (count - 1) * part_bits;
        if count > MOST_PARTS || shift <= lower_bits {
            return None;
        }
        let away = (0..factors.len()).map(|channel| self.scaling.away(channel, shift));
        let away = away.map(|away| (away & ((1 << lower_bits) - 1) == 0).then_some(away >> lower_bits));
        let away = one_of_equal(away.collect::<Option<_>>()?);
        let away = if away == [0] { Vec::new() } else { away };
        if away.len() > 1 && away.iter().any(|away| i16::try_from(*away).is_err()) {
            return None;
        }
        let factors = one_of_equal(factors);
        let mask = (1_i64 << part_bits) - 1;
        let part = |number: u32| factors.iter().map(|factor| factor >> (number * part_bits) & mask).collect();
        let parts = (0..count).map(part).collect();
        let built = Requantization {
            ends,
            parts,
            part_bits,
            shift,
            ties,
            away,
            range: self.ends(),
            zero_point: self.zero_point,
        };
        built.fits().then_some(built)
    }
}

/// Numbers of channels, or one where all have the same.
fn one_of_equal(mut numbers: Vec<i64>) -> Vec<i64> {
    if numbers.iter().all_equal() {
        numbers.truncate(1);
    }
    numbers
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
    fn factor(&self, shift: u32, (ties, away): (Option<&Ties>, i64), ends: (i64, i64)) -> Option<i64> {
        let middle = middle(shift, ties.is_some());
        let (mut least, mut most) = (0, i64::MAX);
        for &(result, first) in &self.steps {
            let away = if result > 0 { away } else { -away };
            let bound = (result << shift) - middle - away - ties.map_or(0, |ties| ties.offset(result - 1));
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
        let away = self.away.iter().max().unwrap_or(&0);
        let carried =
            self.parts.iter().zip(self.offsets()).try_fold(ties.unwrap_or(0), |carried, (factors, offset)| {
                let product = largest * factors.iter().max()? + offset + carried;
                (product + away < 1 << BITS).then_some((product >> self.part_bits) + 1)
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
        if let (Some(last), Some(away)) = (offsets.last_mut(), self.away.get(channel.min(self.away.len().max(1) - 1))) {
            *last += if sum < 0 { -away } else { *away };
        }
        shifted(&offsets).clamp(self.range.0, self.range.1)
    }
}

/// A rounding of sums in integers.
///
/// # Errors
/// Names the channel whose sums leave 32 bits, or for which no form in integers is found.
pub(crate) fn requantized(rounding: &Rounding, sums: &[(i64, i64)]) -> Refusal<Requantization> {
    let leaves = |sum: &i64, channel: usize| match &rounding.scaling {
        Scaling::Fixed(multipliers) => !multipliers[channel.min(multipliers.len() - 1)].takes(*sum),
        _ => i32::try_from(*sum).is_err(),
    };
    let mut ends = sums.iter().enumerate();
    if let Some((channel, _)) =
        ends.find(|(channel, (least, most))| [least, most].iter().any(|sum| leaves(sum, *channel)))
    {
        return Err(Fault::new(format!("sums of channel {channel} may leave 32 bits")));
    }
    if let Scaling::Real { scales, .. } = &rounding.scaling
        && let Some(scale) = scales.iter().find(|scale| !scale.is_normal())
    {
        return Err(Fault::new(format!("the scales of operands and result together are {scale}")));
    }
    rounding.in_integers(sums).map_err(|(channel, sum)| {
        let scale = match &rounding.scaling {
            Scaling::Real { scales, .. } => f64::from(scales[channel.min(scales.len() - 1)]),
            Scaling::Fixed(multipliers) => multipliers[channel.min(multipliers.len() - 1)].real(),
            Scaling::Quotient(count) => 1.0 / *count as f64,
        };
        let message = format!(
            "no product of integers rounds as the scale {scale} of channel {channel} does, for sums up to {sum}"
        );
        Fault::new(message)
    })
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

    fn real(scales: Vec<f32>, adds_first: bool) -> Scaling {
        Scaling::Real { scales, adds_first }
    }

    #[test]
    fn powers_of_two_round_to_even() {
        for scale in [0.5, 0.25, 0.125, 0.375, 1.0 / 256.0, 0.08928572, 1.0 / 49.0, 0.1, 1.0 / 6.0] {
            check(
                &Rounding { scaling: real(vec![scale], false), range: (-128, 127), zero_point: 3 },
                &[(-5000, 5000), (-9, 1)],
            );
        }
    }

    #[test]
    fn channels_that_are_always_an_end_of_the_range_cost_nothing() {
        let rounding = |scales: Vec<f32>| Rounding { scaling: real(scales, false), range: (-128, 127), zero_point: 0 };
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
            check(&Rounding { scaling: real(scales, adds_first), range, zero_point }, &sums);
        }

        #[test]
        fn sums_are_those_of_fixed_point(
            channels in prop::collection::vec((0.0003_f64..1.5, -100_000_i64..100_000, 0_i64..100_000), 1..5),
            zero_point in -128_i64..128, is_rectified: bool,
        ) {
            let range = (if is_rectified { zero_point } else { -128 }, 127);
            let sums: Vec<(i64, i64)> = channels.iter().map(|(_, least, extent)| (*least, least + extent)).collect();
            let multipliers = channels.iter().map(|(scale, ..)| Multiplier::of_real(*scale)).collect();
            check(&Rounding { scaling: Scaling::Fixed(multipliers), range, zero_point }, &sums);
        }

        #[test]
        fn sums_are_those_of_quotients(count in 1_i64..400, zero_point in -128_i64..128) {
            let sums = (-count * (128 + zero_point), count * (127 - zero_point));
            check(&Rounding { scaling: Scaling::Quotient(count), range: (-128, 127), zero_point }, &[sums]);
        }
    }
}
