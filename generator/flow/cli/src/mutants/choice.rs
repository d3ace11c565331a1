//! Which mutants of a list are run.

use pushmem_files::Shard;

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
        name.contains(self.filter) && self.shard.is_none_or(|shard| shard.takes(place))
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
}
