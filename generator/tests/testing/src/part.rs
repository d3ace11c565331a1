//! Parts of long lists of cases, of which a run of the tests takes one.

use std::env;

/// The variable that names the part: `K/N` for every Nth case from the Kth on. Without it, a run takes all.
pub const PART: &str = "PUSHMEM_PART";

/// A part of each long list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    number: usize,
    count: usize,
}

impl Part {
    /// The part that [`PART`] names.
    ///
    /// # Panics
    /// If its value is not `K/N` with a K of 1 to N.
    pub fn chosen() -> Self {
        env::var(PART).map_or(Part { number: 1, count: 1 }, |text| {
            Part::named(&text).unwrap_or_else(|| panic!("{PART} is `{text}`, in place of K/N as in 1/3"))
        })
    }

    fn named(text: &str) -> Option<Self> {
        let (number, count) = text.split_once('/')?;
        let part = Part { number: number.parse().ok()?, count: count.parse().ok()? };
        (1..=part.count).contains(&part.number).then_some(part)
    }

    /// Whether it is all of a list: what a test asks of the sum of its cases holds of all of them.
    pub fn is_all(self) -> bool {
        self.count == 1
    }

    /// The cases that it has of a list.
    pub fn of<Case>(self, cases: impl IntoIterator<Item = Case>) -> impl Iterator<Item = Case> {
        cases.into_iter().skip(self.number - 1).step_by(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_list_are_all_of_it() {
        let mut cases: Vec<usize> = (1..=3).flat_map(|number| Part { number, count: 3 }.of(0..10)).collect();
        assert_eq!(cases[..4], [0, 3, 6, 9]);
        cases.sort_unstable();
        assert!(cases.into_iter().eq(0..10));
    }

    #[test]
    fn a_part_has_a_number_of_its_count() {
        assert_eq!(Part::named("2/3"), Some(Part { number: 2, count: 3 }));
        for text in ["", "2", "0/3", "4/3", "1/0", "1/x"] {
            assert_eq!(Part::named(text), None, "{text}");
        }
    }
}
