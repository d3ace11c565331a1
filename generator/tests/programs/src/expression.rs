//! Random expressions of values that are at hand.

use rand::Rng;
use rand::seq::IndexedRandom;

/// A value that an expression may use: its text, and its type.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub text: String,
    pub type_name: &'static str,
}

/// Types that arrays may have.
pub(crate) const ELEMENTS: [&str; 4] = ["u16", "i16", "u8", "i8"];

/// Types of arrays in programs with elements of two words: mostly these.
pub(crate) const WIDE_ELEMENTS: [&str; 8] = ["i32", "u32", "i32", "u32", "u16", "i16", "u8", "i8"];

/// Types of arrays in programs with numbers of bfloat16: mostly these.
pub(crate) const NUMBERS: [&str; 8] = ["bf16", "bf16", "bf16", "bf16", "u16", "i16", "u8", "i8"];

/// A program of numbers of bfloat16, with those of float16 in their place.
pub fn in_float16(program: &str) -> String {
    program.replace("bf16", "f16")
}

/// An expression of this type that uses every term once.
pub(crate) fn expression(random: &mut impl Rng, terms: &[Term], wanted: &str, table: Option<&str>) -> String {
    let text = match terms {
        [] => return constant(random, wanted),
        [only] => adapted(random, only, wanted, table),
        several => {
            let (left, right) = several.split_at(random.random_range(1..several.len()));
            let (left, right) = (expression(random, left, wanted, table), expression(random, right, wanted, table));
            combined(random, &left, &right, wanted)
        }
    };
    if random.random_ratio(1, 4) { touched(random, &text, wanted) } else { text }
}

/// A term as a value of the wanted type.
fn adapted(random: &mut impl Rng, term: &Term, wanted: &str, table: Option<&str>) -> String {
    let text = match (term.type_name, wanted) {
        (own, wanted) if own == wanted => term.text.clone(),
        // Only words are converted.
        ("i32" | "u32", "bf16") => format!("({} as i16 as bf16)", term.text),
        ("bf16", "i32" | "u32") => format!("({} as i16 as {wanted})", term.text),
        _ => format!("({} as {wanted})", term.text),
    };
    match table {
        Some(table) if random.random_ratio(1, 6) => {
            let bits = if term.type_name == "bf16" { " as u16" } else { "" };
            format!("({table}[{}{bits} & 15] as {wanted})", term.text)
        }
        _ => text,
    }
}

/// Two values of a type as one.
fn combined(random: &mut impl Rng, left: &str, right: &str, wanted: &str) -> String {
    if wanted == "bf16" {
        return combined_numbers(random, left, right);
    }
    match random.random_range(0..14) {
        0..5 => format!("({left} + {right})"),
        5 | 6 => format!("({left} - {right})"),
        7 => format!("({left} * {right})"),
        8 => format!("min({left}, {right})"),
        9 => format!("max({left}, {right})"),
        10 => format!("(absd({left}, {right}) as {wanted})"),
        11 => {
            let comparison = ["<", "<=", ">", ">=", "==", "!="].choose(random).expect("there are some");
            format!("sel({left} {comparison} {right}, {right}, {left})")
        }
        12 => {
            let operator = ["&", "|", "^"].choose(random).expect("there are some");
            format!("({left} {operator} {right})")
        }
        _ if random.random_ratio(1, 5) => format!("({left} / max({right}, 1))"),
        _ => format!("({left} + {right})"),
    }
}

/// Two numbers of bfloat16 as one.
fn combined_numbers(random: &mut impl Rng, left: &str, right: &str) -> String {
    match random.random_range(0..12) {
        0..4 => format!("({left} + {right})"),
        4 | 5 => format!("({left} - {right})"),
        6 | 7 => format!("({left} * {right})"),
        8 => format!("min({left}, {right})"),
        9 => format!("max({left}, {right})"),
        10 => format!("absd({left}, {right})"),
        _ => {
            let comparison = ["<", "<=", ">", ">=", "==", "!="].choose(random).expect("there are some");
            format!("sel({left} {comparison} {right}, {right}, {left})")
        }
    }
}

/// A number of bfloat16 with a constant.
fn touched_number(random: &mut impl Rng, text: &str) -> String {
    match random.random_range(0..6) {
        0 => format!("({text} + {})", constant(random, "bf16")),
        1 => format!("({text} * {})", constant(random, "bf16")),
        2 => format!("({text} / {})", 1 << random.random_range(1..6)),
        3 => format!("clamp({text}, {}, {})", random.random_range(0..20), random.random_range(20..100)),
        4 => format!("abs({text})"),
        _ => format!("(-{text})"),
    }
}

/// A value with a constant.
fn touched(random: &mut impl Rng, text: &str, wanted: &str) -> String {
    if wanted == "bf16" {
        return touched_number(random, text);
    }
    match random.random_range(0..7) {
        0 => format!("({text} + {})", constant(random, wanted)),
        1 => format!("({text} * {})", random.random_range(2..60)),
        2 => format!("({text} / {})", 1 << random.random_range(1..6)),
        3 => format!("({text} >> {})", random.random_range(1..6)),
        4 => format!("({text} << {})", random.random_range(1..4)),
        5 => format!("clamp({text}, {}, {})", random.random_range(0..20), random.random_range(20..100)),
        _ => format!("({text} % {})", 1 << random.random_range(1..6)),
    }
}

fn constant(random: &mut impl Rng, wanted: &str) -> String {
    if wanted == "bf16" {
        return format!("{}.{}", random.random_range(0..20), random.random_range(0..1000));
    }
    let most = if wanted.ends_with('8') { 100 } else { 1000 };
    random.random_range(0..most).to_string()
}
