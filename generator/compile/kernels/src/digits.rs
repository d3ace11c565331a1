//! Constants as sums and differences of powers of two.

/// A power of two that is added or subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digit {
    /// The exponent.
    pub shift: u32,
    /// Whether it is subtracted.
    pub negative: bool,
}

/// The number in canonical signed digits, the least first: no other sum and difference of powers of two has fewer terms.
pub(crate) fn digits(number: i64) -> Vec<Digit> {
    let mut rest = number;
    let mut shift = 0;
    let mut found = Vec::new();
    while rest != 0 {
        if rest & 1 != 0 {
            let negative = rest & 3 == 3;
            found.push(Digit { shift, negative });
            rest += if negative { 1 } else { -1 };
        }
        rest >>= 1;
        shift += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn digits_are_the_number_and_never_neighbours() {
        for number in (-70000..70000).chain([i64::from(i32::MIN), i64::from(i32::MAX)]) {
            let found = digits(number);
            let sum: i64 = found.iter().map(|d| if d.negative { -(1 << d.shift) } else { 1 << d.shift }).sum();
            assert_eq!(sum, number);
            assert!(found.windows(2).all(|pair| pair[1].shift > pair[0].shift + 1), "{number}");
        }
    }
}
