//! Numbers as text.

use std::cmp::Ordering;

use crate::arithmetic::{from_f64, to_f64};

/// Digits behind the point that say every number of double precision exactly.
const EXACT_DIGITS: usize = 1074;

/// The number nearest to a decimal such as `0.5`, the even one of two: digits, a point, digits.
///
/// # Panics
/// If the text is something else.
pub fn from_decimal(text: &str) -> u16 {
    let near: f64 = text.parse().expect("a decimal is a number");
    // In double precision it may have been rounded onto the middle between two numbers: the side where it was decides.
    from_f64(match compare(text, &format!("{near:.EXACT_DIGITS$}")) {
        Ordering::Less => near.next_down(),
        Ordering::Equal => near,
        Ordering::Greater => near.next_up(),
    })
}

/// Compares two decimals without sign.
fn compare(one: &str, other: &str) -> Ordering {
    let parts = |text: &str| {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        (whole.trim_start_matches('0').to_owned(), fraction.trim_end_matches('0').to_owned())
    };
    let ((whole, fraction), (other_whole, other_fraction)) = (parts(one), parts(other));
    whole.len().cmp(&other_whole.len()).then(whole.cmp(&other_whole)).then(fraction.cmp(&other_fraction))
}

/// A decimal from which [`from_decimal`] gives the number back, with its sign before it; nothing for what is no finite number.
pub fn to_decimal(number: u16) -> Option<String> {
    let number = to_f64(number);
    // The shortest decimal of single precision, which is exact for a number of fewer bits.
    let text = number.is_finite().then(|| format!("{}", number as f32))?;
    Some(if text.contains('.') { text } else { text + ".0" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::{INFINITY, SIGN};

    #[test]
    fn all_numbers_read_back() {
        for number in 0..INFINITY {
            assert_eq!(from_decimal(&to_decimal(number).unwrap()), number);
            assert_eq!(to_decimal(number | SIGN).unwrap(), format!("-{}", to_decimal(number).unwrap()));
        }
        assert_eq!(to_decimal(INFINITY), None);
        assert_eq!(to_decimal(0x3f80).unwrap(), "1.0");
    }

    #[test]
    fn decimals_are_rounded_once() {
        // Between 1 and its successor, 1 + 2^-7, is 1 + 2^-8, beside which double precision has no room for the last digit.
        for (text, expected) in [
            ("1.00390625", 0x3f80),
            ("1.0039062500000000000000000001", 0x3f81),
            ("1.0117187499999999999999999999", 0x3f81),
            ("1.01171875", 0x3f82),
            ("00.1", 0x3dcd),
            ("340000000000000000000000000000000000000.0", 0x7f80),
        ] {
            assert_eq!(from_decimal(text), expected, "{text}");
        }
    }
}
