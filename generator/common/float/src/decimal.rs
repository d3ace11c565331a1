//! Numbers as text.

use std::cmp::Ordering;

use crate::format::Format;

/// Digits behind the point that say every number of double precision exactly.
const EXACT_DIGITS: usize = 1074;

/// A decimal such as `0.5` (digits, a point, digits) in double precision, rounded so that each [format](Format) has the number
/// nearest to the decimal as the [one nearest](Format::from_f64) to this, the even one of two.
///
/// # Panics
/// If the text is something else.
pub fn parse_decimal(text: &str) -> f64 {
    let near: f64 = text.parse().expect("a decimal is a number");
    // It may have been rounded onto the middle between two numbers: the side where it was decides.
    match compare(text, &format!("{near:.EXACT_DIGITS$}")) {
        Ordering::Less => near.next_down(),
        Ordering::Equal => near,
        Ordering::Greater => near.next_up(),
    }
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

impl Format {
    /// A decimal whose nearest number this is, with its sign before it; nothing for what is no finite number.
    pub fn to_decimal(self, word: u16) -> Option<String> {
        let number = self.to_f64(word);
        // The shortest decimal of single precision, which is exact for a number of fewer bits.
        let text = number.is_finite().then(|| format!("{}", number as f32))?;
        Some(if text.contains('.') { text } else { text + ".0" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::SIGN;

    #[test]
    fn all_numbers_read_back() {
        for format in Format::ALL {
            for number in 0..format.infinity() {
                let text = format.to_decimal(number).unwrap();
                assert_eq!(format.from_f64(parse_decimal(&text)), number);
                assert_eq!(format.to_decimal(number | SIGN).unwrap(), format!("-{text}"));
            }
            assert_eq!(format.to_decimal(format.infinity()), None);
            assert_eq!(format.to_decimal(format.one()).unwrap(), "1.0");
        }
    }

    #[test]
    fn decimals_are_rounded_once() {
        // Between 1 and its successor, 1 + 2^-7, is 1 + 2^-8, beside which double precision has no room for the last digit.
        for (text, bfloat16, float16) in [
            ("1.00390625", 0x3f80, 0x3c04),
            ("1.0039062500000000000000000001", 0x3f81, 0x3c04),
            ("1.0117187499999999999999999999", 0x3f81, 0x3c0c),
            ("1.01171875", 0x3f82, 0x3c0c),
            ("1.00048828125", 0x3f80, 0x3c00),
            ("1.0004882812500000000000000001", 0x3f80, 0x3c01),
            ("00.1", 0x3dcd, 0x2e66),
            ("65519.999999999999999999999999", 0x4780, 0x7bff),
            ("340000000000000000000000000000000000000.0", 0x7f80, 0x7c00),
        ] {
            let number = parse_decimal(text);
            let found = (Format::Bfloat16.from_f64(number), Format::Float16.from_f64(number));
            assert_eq!(found, (bfloat16, float16), "{text}");
        }
    }
}
