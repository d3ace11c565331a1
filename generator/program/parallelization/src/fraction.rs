//! Ratios of strides.

use std::fmt::{Display, Formatter};

use num_integer::Integer;
use serde::{Serialize, Serializer};

/// A positive fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: i64,
    denominator: i64,
}

impl Fraction {
    /// The ratio of two positive numbers.
    pub fn new(numerator: i64, denominator: i64) -> Self {
        let common = numerator.gcd(&denominator).max(1);
        Fraction { numerator: numerator / common, denominator: denominator / common }
    }

    /// The fraction times a positive number.
    pub fn times(self, factor: i64) -> Self {
        Fraction::new(self.numerator * factor, self.denominator)
    }

    /// One over it.
    pub fn inverse(self) -> Self {
        Fraction { numerator: self.denominator, denominator: self.numerator }
    }

    /// Whether it is a multiple or a divisor of a positive number (Algorithm 4, line 15).
    pub fn divides_or_is_divided(self, factor: i64) -> bool {
        let Fraction { numerator, denominator } = self.times(1);
        let quotient = Fraction::new(numerator, denominator * factor);
        quotient.numerator == 1 || quotient.denominator == 1
    }
}

impl Display for Fraction {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self.denominator {
            1 => write!(formatter, "{}", self.numerator),
            by => write!(formatter, "{}/{by}", self.numerator),
        }
    }
}

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_agree_with_multiples_and_divisors() {
        let agrees =
            |numerator, denominator, factor| Fraction::new(numerator, denominator).divides_or_is_divided(factor);
        assert!(agrees(8, 1, 4) && agrees(4, 1, 8) && agrees(1, 2, 1) && agrees(1, 2, 4) && agrees(3, 2, 3));
        assert!(!agrees(8, 1, 3) && !agrees(3, 2, 2));
        assert_eq!(Fraction::new(4, 8).inverse().times(3).to_string(), "6");
        assert_eq!(Fraction::new(3, 6).to_string(), "1/2");
    }
}
