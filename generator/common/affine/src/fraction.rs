//! Fractions.

use std::fmt::{Display, Formatter};

use num_integer::Integer;
use serde::Serialize;

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fraction {
    /// The numerator, which has the sign.
    pub numerator: i64,
    /// The denominator, positive.
    pub denominator: i64,
}

impl Fraction {
    /// 0.
    pub const ZERO: Fraction = Fraction { numerator: 0, denominator: 1 };
    /// 1.
    pub const ONE: Fraction = Fraction { numerator: 1, denominator: 1 };

    /// `numerator / denominator`.
    ///
    /// # Panics
    /// When the denominator is 0.
    pub fn new(numerator: i64, denominator: i64) -> Self {
        let common = numerator.gcd(&denominator) * denominator.signum();
        Fraction { numerator: numerator / common, denominator: denominator / common }
    }

    /// Whether it is 0.
    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Fraction) -> Fraction {
        let numerator = self.numerator * other.denominator + other.numerator * self.denominator;
        Fraction::new(numerator, self.denominator * other.denominator)
    }

    /// The product with a number.
    #[must_use]
    pub fn times(self, factor: i64) -> Fraction {
        Fraction::new(self.numerator * factor, self.denominator)
    }

    /// The quotient by a number that is not 0.
    #[must_use]
    pub fn divided(self, divisor: i64) -> Fraction {
        Fraction::new(self.numerator, self.denominator * divisor)
    }

    /// The product.
    #[must_use]
    pub fn product(self, other: Fraction) -> Fraction {
        Fraction::new(self.numerator * other.numerator, self.denominator * other.denominator)
    }

    /// The quotient by a fraction that is not 0.
    #[must_use]
    pub fn quotient(self, other: Fraction) -> Fraction {
        Fraction::new(self.numerator * other.denominator, self.denominator * other.numerator)
    }

    /// The product with a number that makes it whole.
    pub fn of(self, whole: i64) -> i64 {
        whole * self.numerator / self.denominator
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_in_lowest_terms() {
        assert_eq!(Fraction::ONE.quotient(Fraction::new(4, 8)).times(3).to_string(), "6");
        assert_eq!(Fraction::new(3, 6).to_string(), "1/2");
    }
}
