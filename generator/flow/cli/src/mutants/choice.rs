//! Which mutants of a list are run.

use std::str::FromStr;

/// One of several parts of equal size that a list is dealt into, as cards are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    number: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<usize>().ok();
        match text.split_once('/').map(|(one, of)| (number(one), number(of))) {
            Some((Some(number), Some(of))) if (1..=of).contains(&number) => Ok(Shard { number: number - 1, of }),
            _ => Err(format!("`{text}` is not one of several parts: expected 1/N to N/N, such as 1/3")),
        }
    }
}

/// Mutants by their names, and of those one part if it is given.
#[derive(Clone, Copy, Debug, Default)]
pub struct MutantFilter<'a> {
    /// A part of their names.
    pub filter: &'a str,
    /// The part of each list.
    pub shard: Option<Shard>,
}

impl MutantFilter<'_> {
    /// Whether the mutant of this name is run, which is at this place of its list, from 0.
    pub fn takes(&self, place: usize, name: &str) -> bool {
        name.contains(self.filter) && self.shard.is_none_or(|Shard { number, of }| place % of == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mutant_is_in_one_shard() {
        let shards: [Shard; 3] = ["1/3", "2/3", "3/3"].map(|text| text.parse().unwrap());
        for place in 0..7 {
            let takes = |shard: &&Shard| MutantFilter { filter: "a", shard: Some(**shard) }.takes(place, "late");
            assert_eq!(shards.iter().filter(takes).count(), 1);
        }
        assert!(!MutantFilter { filter: "b", shard: Some(shards[0]) }.takes(0, "late"));
        assert!(MutantFilter::default().takes(5, "late"));
    }

    #[test]
    fn a_share_that_is_no_shard_is_refused() {
        for text in ["0/3", "4/3", "3", "1/0", "a/b", "1/3/3", ""] {
            let error = text.parse::<Shard>().unwrap_err();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
