//! The images that a pipeline and its nest are computed of. A pixel is a function of its place, so that images have no edges: what is
//! read beyond the image that the nest has is another number than any that the nest can read.

use itertools::Itertools;

use pushmem_float::{Format, SIGN};
use pushmem_nest::Type;

use crate::floats::greatest;

/// How the pixels of images are distributed. Random images take few branches: hardly a pixel is 65535 or differs from its neighbour by
/// 60000, and whatever only shows where one does is not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pixels {
    /// Half of the pixels of the whole type, and half of them small, so that comparisons go both ways.
    Small,
    /// The constants of the pipeline, quotients of numbers, what is beside them, and the least and the greatest values.
    Constants,
    /// The least and the greatest value; of numbers, subnormal and infinite ones, too.
    Extremes,
    /// Just below the greatest value; numbers are between -1 and 1.
    Saturated,
}

/// Images for all inputs.
#[derive(Debug)]
pub(crate) struct World {
    pixels: Pixels,
    round: u64,
    /// Integers that the pipeline computes with, and words of its numbers.
    integers: Vec<i64>,
    numbers: Vec<u16>,
}

/// The most numbers with a fraction that pixels are taken of.
const MOST_NUMBERS: usize = 1 << 12;

/// How many kinds of worlds there are.
pub(crate) const KINDS: usize = 4;

/// Worlds for pipelines with these constants: so many rounds of all kinds.
pub(crate) fn worlds(integers: &[i64], numbers: &[f64], format: Format, rounds: u64) -> Vec<World> {
    let near: Vec<i64> =
        integers.iter().flat_map(|each| [each.saturating_sub(1), *each, each.saturating_add(1)]).collect();
    // A scaled pixel is a constant where the pixel is a quotient.
    let quotients =
        numbers.iter().cartesian_product(numbers).map(|(one, other)| one / other).filter(|number| number.is_finite());
    let words = numbers.iter().copied().chain(quotients).map(|number| format.from_f64(number)).unique();
    let beside = words.flat_map(|word| [word.saturating_sub(1), word, word.saturating_add(1)]);
    let words: Vec<u16> = beside.filter(|word| format.is_finite(*word)).take(MOST_NUMBERS).collect();
    let all: [Pixels; KINDS] = [Pixels::Small, Pixels::Constants, Pixels::Extremes, Pixels::Saturated];
    let all = (0..rounds).flat_map(|round| all.map(|pixels| (round, pixels)));
    all.map(|(round, pixels)| World { pixels, round, integers: near.clone(), numbers: words.clone() }).collect()
}

/// A random number that follows from another one: the finalizer of MurmurHash3 (fmix64), which is a permutation.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        mixed = (mixed ^ (mixed >> 33)).wrapping_mul(factor);
    }
    mixed ^ (mixed >> 33)
}

impl World {
    /// The pixel at these indices of the image with this number.
    pub fn pixel(&self, image: usize, of: Type, indices: &[i64]) -> i64 {
        let start = mixed(image as u64 ^ (self.pixels as u64) << 32 ^ self.round << 40);
        let random = indices.iter().fold(start, |random, index| mixed(random ^ *index as u64));
        match of.format() {
            Some(format) => self.number(format, random).into(),
            None => self.integer(of, random),
        }
    }

    fn integer(&self, of: Type, random: u64) -> i64 {
        let (least, greatest) = (of.min(), of.max());
        let (choice, rest) = (random >> 56, random & ((1 << 56) - 1));
        let any = least + (rest % (greatest - least + 1) as u64) as i64;
        match self.pixels {
            Pixels::Small if choice < 128 => any,
            Pixels::Small => any % 16,
            Pixels::Constants => {
                let near =
                    self.integers.get((rest as usize) % self.integers.len().max(1)).filter(|each| of.holds(**each));
                match near {
                    Some(near) if choice < 170 => *near,
                    _ => [least, least + 1, greatest - 1, greatest][choice as usize % 4],
                }
            }
            Pixels::Extremes if choice < 128 => least,
            Pixels::Extremes => greatest,
            Pixels::Saturated => greatest - (choice % 3) as i64,
        }
    }

    /// A word of a number, which only the extremes have infinite. No image has zeros below zero, whose sign some functions of hardware leave
    /// away.
    fn number(&self, format: Format, random: u64) -> u16 {
        let (choice, rest) = (random >> 56, (random & 0xffff_ffff) as f64 / f64::from(1_u32 << 31) - 1.0);
        let number = match self.pixels {
            Pixels::Small if choice < 128 => (rest * 16.0).round(),
            Pixels::Small => rest * 256.0,
            Pixels::Constants => match self.numbers.get((random as usize & 0xffff) % self.numbers.len().max(1)) {
                Some(near) if choice < 170 => format.to_f64(*near),
                _ => [0.0, 1.0, -1.0, 0.5][choice as usize % 4],
            },
            Pixels::Extremes => return extreme(format, choice),
            Pixels::Saturated => rest / f64::from(1 << (choice % 8)),
        };
        let greatest = greatest(format);
        format.from_f64(if number == 0.0 { 0.0 } else { number.clamp(-greatest, greatest) })
    }
}

/// A word of an extreme number: a zero without a sign, or with any sign a small integer, the least and the greatest subnormal number, the
/// least normal one, the greatest, or an infinite one.
fn extreme(format: Format, choice: u64) -> u16 {
    let (infinity, fractions) = (format.infinity(), format.fractions());
    let magnitudes = [0, format.one(), format.from_f64(255.0), 1, fractions - 1, fractions, infinity - 1, infinity];
    match magnitudes[choice as usize % magnitudes.len()] {
        0 => 0,
        magnitude if choice as usize / magnitudes.len() % 2 == 1 => magnitude | SIGN,
        magnitude => magnitude,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn extremes_have_numbers_of_all_kinds() {
        for format in Format::ALL {
            let words: BTreeSet<u16> = (0..256).map(|choice| extreme(format, choice)).collect();
            assert!(!words.contains(&SIGN));
            for sign in [0, SIGN] {
                for magnitude in [1, format.fractions() - 1, format.largest(), format.infinity()] {
                    assert!(words.contains(&(magnitude | sign)), "{format} {magnitude:#x}");
                }
            }
        }
    }
}
