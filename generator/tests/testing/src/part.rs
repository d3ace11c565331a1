//! Parts of long lists of cases, of which a run of the tests takes one.

use std::env;

use pushmem_files::Shard;

/// The variable that names the part: `K/N` for every Nth case from the Kth on. Without it, a run takes all.
pub const PART: &str = "PUSHMEM_PART";

/// A part of each long list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part(Shard);

impl Part {
    /// All of a list.
    pub const ALL: Part = Part(Shard::ALL);

    /// The part that [`PART`] names.
    ///
    /// # Panics
    /// If its value is no part.
    pub fn chosen() -> Self {
        let named = |text: String| text.parse().unwrap_or_else(|error| panic!("{PART}: {error}"));
        Part(env::var(PART).map_or(Shard::ALL, named))
    }

    /// Whether it is all of a list: what a test asks of the sum of its cases holds of all of them.
    pub fn is_all(self) -> bool {
        self == Self::ALL
    }

    /// The cases that it has of a list.
    pub fn of<Case>(self, cases: impl IntoIterator<Item = Case>) -> impl Iterator<Item = Case> {
        cases.into_iter().enumerate().filter(move |(place, _)| self.0.takes(*place)).map(|(_, case)| case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_list_are_all_of_it() {
        let parts = ["1/3", "2/3", "3/3"].map(|text| Part(text.parse().unwrap()));
        let mut cases: Vec<usize> = parts.into_iter().flat_map(|part| part.of(0..10)).collect();
        assert_eq!(cases[..4], [0, 3, 6, 9]);
        cases.sort_unstable();
        assert!(cases.into_iter().eq(0..10));
        assert!(parts.into_iter().all(|part| !part.is_all()));
    }
}
