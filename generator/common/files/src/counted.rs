//! Numbers of things.

use std::fmt::Display;

/// So many things of this name in the singular: `1 cycle`, `2 cycles`.
///
/// ```
/// use pushmem_files::counted;
///
/// assert_eq!(counted(1, "cycle"), "1 cycle");
/// assert_eq!(counted(0, "cycle"), "0 cycles");
/// ```
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
