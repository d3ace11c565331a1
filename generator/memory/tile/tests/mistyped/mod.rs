//! Files as people mistype them, for the tests of several crates.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Texts for any place in a YAML file: numbers near limits, and marks with a meaning.
const PIECES: [&str; 26] = [
    "",
    "0",
    "1",
    "-1",
    "64",
    "4294967296",
    "281474976710655",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
    "1.5",
    "null",
    "true",
    ": ",
    ", ",
    "{",
    "}",
    "[",
    "]",
    "\n",
    "  ",
    "#",
    "&a",
    "*a",
    "'",
    "é",
];

/// One of these texts with a few places overwritten by something a person might type: `words` of the format, or marks
/// that mean something in every file.
pub fn mistyped(texts: Vec<String>, words: &[&'static str]) -> impl Strategy<Value = String> + use<> {
    let pieces = [&PIECES, words].concat();
    let edit = (any::<Index>(), 0_usize..5, select(pieces));
    (select(texts), prop::collection::vec(edit, 1..4)).prop_map(|(mut text, edits)| {
        for (place, length, piece) in edits {
            let start = text.floor_char_boundary(place.index(text.len() + 1));
            let end = text.floor_char_boundary((start + length).min(text.len()));
            text.replace_range(start..end, piece);
        }
        text
    })
}
