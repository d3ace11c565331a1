//! Sums and differences of two tensors, in integers, exactly as other tools give them.
//!
//! There are 65,536 pairs of operands: the form in integers is compared with the other tool's arithmetic on all of them. The few pairs
//! at which rounding in between makes a difference are exceptions.

use itertools::iproduct;
use pushmem_nest::Type;

use crate::fault::{Fault, Result};
use crate::requantization::{BITS_OF_TIES, Ties, middle};

/// The most bits of a factor: with 9 bits of an operand, sums of two products have 31.
const FACTOR_BITS: i32 = 21;

/// The most bits that a sum is shifted.
const LARGEST_SHIFT: i32 = 29;

/// The most pairs that a form may get wrong, each of which costs a comparison.
const MOST_EXCEPTIONS: usize = 8;

/// A sum of two tensors in integers.
#[derive(Clone, Debug)]
pub(crate) struct Addition {
    pub zero_points: [i64; 2],
    /// By which operands are multiplied, once their zero point is gone.
    pub factors: [i64; 2],
    /// How many bits the sum is shifted to the right.
    pub shift: u32,
    /// How sums near the middle of two integers go to the even one.
    pub ties: Option<Ties>,
    /// Whether sums in the middle of two integers go to that away from 0.
    pub is_away: bool,
    /// The ends of the result, with the zero point.
    pub range: (i64, i64),
    pub zero_point: i64,
    /// Pairs of operands with another result.
    pub exceptions: Vec<([i64; 2], i64)>,
}

/// A sum of two tensors, of which another tool computes the integers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub elements: [Type; 2],
    pub zero_points: [i64; 2],
    /// The scales of the operands by that of the result; one that is taken from the other is below 0.
    pub ratios: [f64; 2],
    /// Whether both operands are one tensor.
    pub is_double: bool,
    /// The ends of the result, with the zero point.
    pub range: (i64, i64),
    pub zero_point: i64,
    /// The zero point that is added before a result is rounded, if one is.
    pub first_zero_point: i64,
}

impl Sum {
    /// A form in integers of this function of two integers.
    ///
    /// # Errors
    /// How many pairs of operands the nearest form gets wrong: all, where an operand has a scale that is too large for any form.
    pub fn in_integers(&self, of: impl Fn([i64; 2]) -> i64) -> Result<Addition> {
        // Factors have so many bits at most, and a power of two of the language.
        let largest = self.ratios[0].abs().max(self.ratios[1].abs());
        let most = (FACTOR_BITS - 1 - largest.log2().floor() as i32).min(LARGEST_SHIFT);
        let shifts = (1.max(most - 6)..=most).rev();
        let [one, other] = self.elements.map(|element| element.min()..=element.max());
        let pairs = iproduct!(one, other).map(|(one, other)| [one, other]);
        let pairs: Vec<[i64; 2]> = pairs.filter(|[one, other]| !self.is_double || one == other).collect();
        let results: Vec<i64> = pairs.iter().map(|pair| of(*pair)).collect();
        let mut least = pairs.len();
        let even = BITS_OF_TIES.map(|bits| (Some(bits), false));
        let forms = [(None, false), (None, true)].into_iter().chain(even);
        for (shift, (bits, is_away)) in iproduct!(shifts, forms) {
            let ties = bits.map(|bits| Ties { zero_point: self.first_zero_point, ..Ties::near(bits, shift as u32) });
            let mut form = Addition {
                zero_points: self.zero_points,
                factors: self.ratios.map(|ratio| (ratio * f64::from(1 << shift)).round() as i64),
                shift: shift as u32,
                ties,
                is_away,
                range: self.range,
                zero_point: self.zero_point,
                exceptions: Vec::new(),
            };
            let wrong = pairs.iter().zip(&results).filter(|(pair, result)| form.of(**pair) != **result);
            let exceptions: Vec<([i64; 2], i64)> = wrong.map(|(pair, result)| (*pair, *result)).collect();
            least = least.min(exceptions.len());
            if exceptions.len() <= MOST_EXCEPTIONS {
                form.exceptions = exceptions;
                return Ok(form);
            }
        }
        Err(Fault::new(format!(
            "the sum differs from any form in integers for {least} pairs of operands; at most {MOST_EXCEPTIONS} may"
        )))
    }
}

impl Addition {
    /// The result for two integers, without exceptions.
    fn of(&self, integers: [i64; 2]) -> i64 {
        let term = |number: usize| (integers[number] - self.zero_points[number]) * self.factors[number];
        let sum = term(0) + term(1);
        let tie =
            self.ties.as_ref().map_or(0, |ties| ties.offset(sum >> self.shift)) - i64::from(self.is_away && sum < 0);
        (((sum + self.offset() + tie) >> self.shift) + self.zero_point).clamp(self.range.0, self.range.1)
    }

    /// The offset of a sum before its shift.
    pub fn offset(&self) -> i64 {
        middle(self.shift, self.ties.is_some())
    }
}
