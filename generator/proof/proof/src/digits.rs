//! Sums of digits: `Σ step · digit`, each digit from 0 to its greatest value.

use num_integer::gcd;

/// The steps and the greatest values of the digits, greatest step first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Digits(Vec<(i128, i128)>);

impl Digits {
    /// Choices of a digit are tried until there were so many; then a sum counts as possible.
    const MOST_TRIALS: u32 = 64;

    /// Adds a digit. Two of one step are as one that goes further.
    pub fn add(&mut self, step: i128, greatest: i128) {
        if step == 0 || greatest == 0 {
            return;
        }
        match self.0.binary_search_by(|(other, _)| step.cmp(other)) {
            Ok(place) => self.0[place].1 += greatest,
            Err(place) => self.0.insert(place, (step, greatest)),
        }
    }

    /// Whether digits have this sum; perhaps true of one that none have, never the reverse.
    pub fn may_make(&self, sum: i128) -> bool {
        Self::may_be(&self.0, sum, &mut Self::MOST_TRIALS.clone())
    }

    fn may_be(digits: &[(i128, i128)], sum: i128, trials: &mut u32) -> bool {
        let Some((&(step, greatest), rest)) = digits.split_first() else { return sum == 0 };
        let divisor = digits.iter().fold(0, |divisor, (step, _)| gcd(divisor, *step));
        if sum % divisor != 0 {
            return false;
        }
        Self::choices(step, greatest, rest, sum).any(|digit| {
            *trials = trials.saturating_sub(1);
            *trials == 0 || Self::may_be(rest, sum - step * digit, trials)
        })
    }

    /// The values of the first digit that leave a sum between the bounds of the others.
    fn choices(step: i128, greatest: i128, rest: &[(i128, i128)], sum: i128) -> impl Iterator<Item = i128> {
        let most: i128 = rest.iter().map(|(step, greatest)| step * greatest).sum();
        let least = -(most - sum).div_euclid(step);
        least.max(0)..=sum.div_euclid(step).min(greatest)
    }
}

#[cfg(test)]
mod tests {
    use itertools::Itertools;
    use proptest::prelude::*;

    use super::Digits;

    proptest! {
        #[test]
        fn sums_are_those_of_all_digits(digits in prop::collection::vec((0..9_i128, 0..5_i128), 0..4), sum in -3..99_i128) {
            let mut of = Digits::default();
            digits.iter().for_each(|&(step, greatest)| of.add(step, greatest));
            let values = digits.iter().map(|&(step, greatest)| (0..=greatest).map(move |digit| step * digit));
            let is_one = values.multi_cartesian_product().any(|values| values.iter().sum::<i128>() == sum);
            prop_assert_eq!(of.may_make(sum), is_one);
        }
    }
}
