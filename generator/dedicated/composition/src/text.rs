//! Small pieces of SystemVerilog and prose.

use itertools::Itertools;

/// The longest line of comments, without the indentation and `// `.
const LINE: usize = 113;

/// Bits that hold numbers up to `most`, at least 1.
pub(crate) fn bits_for(most: u64) -> u32 {
    (u64::BITS - most.leading_zeros()).max(1)
}

/// A number of so many bits.
pub(crate) fn literal(bits: u32, value: u64) -> String {
    format!("{bits}'d{value}")
}

/// The range of a vector with a space before it; nothing for a single bit.
pub(crate) fn range(bits: u32) -> String {
    if bits == 1 { String::new() } else { format!(" [{}:0]", bits - 1) }
}

/// The range of a vector, even of a single bit, with a space before it.
pub(crate) fn vector(bits: u32) -> String {
    format!(" [{}:0]", bits - 1)
}

/// A concatenation of parts, of which the lowest comes first. One part needs no braces.
pub(crate) fn concatenation(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().collect_vec();
    match parts.as_slice() {
        [only] => only.clone(),
        _ => format!("{{{}}}", parts.iter().rev().join(", ")),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listing(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The words of a comment, in lines.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= LINE => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The text with the names below each other where several declarations follow one another.
pub(crate) fn aligned(text: &str) -> String {
    const DECLARATION: &str = "    logic";
    let all = text.lines().collect_vec();
    let mut lines: Vec<String> = Vec::new();
    for group in all.chunk_by(|one, other| one.starts_with(DECLARATION) && other.starts_with(DECLARATION)) {
        let split = |line: &'_ str| line.rfind(' ').filter(|_| line.starts_with(DECLARATION)).unwrap_or(line.len());
        let width = group.iter().map(|line| split(line)).max().unwrap_or(0);
        lines.extend(group.iter().map(|line| {
            let (before, name) = line.split_at(split(line));
            if name.is_empty() { before.to_owned() } else { format!("{before:width$}{name}") }
        }));
    }
    lines.join("\n")
}
