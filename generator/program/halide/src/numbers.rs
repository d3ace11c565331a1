//! Numbers with a fraction: all are of one format.

use pushmem_float::Format;

/// The format.
pub(crate) const FORMAT: Format = Format::Bfloat16;

/// The number that a word stands for.
pub(crate) fn to_f64(word: u16) -> f64 {
    FORMAT.to_f64(word)
}

/// The word of the number nearest to a number, the even one of two.
pub(crate) fn from_f64(number: f64) -> u16 {
    FORMAT.from_f64(number)
}
