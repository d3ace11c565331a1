//! Exhaustive banking: which reads share a tile, the best of all groupings (dissertation §5.2).

use foldhash::HashMap;

/// Groups the reads `0..count` so that each group is possible and the groups cost least: the fewest tiles, then the
/// fewest groups. `attempt` gives the cost of a group of at most `limit` reads, or nothing when it is impossible; it is
/// asked once for each group that may matter.
///
/// With a group, all of its parts are taken to be possible: where a few reads cannot share a tile, no group with them is
/// asked for.
pub(crate) fn cheapest(
    count: usize,
    limit: usize,
    attempt: impl FnMut(&[usize]) -> Option<usize>,
) -> Option<Vec<Vec<usize>>> {
    let all = (1_u32 << count) - 1;
    let mut groups = vec![Vec::new(); count];
    for group in (1..=all).rev().filter(|group| group.count_ones() as usize <= limit) {
        groups[group.trailing_zeros() as usize].push(group);
    }
    let mut search =
        Search { limit, attempt, groups, costs: HashMap::default(), impossible: Vec::new(), best: HashMap::default() };
    // A read that no tile serves is in no group.
    for read in 0..count {
        search.cost(1 << read)?;
    }
    search.best(all)?;
    let mut found = Vec::new();
    let mut set = all;
    while set != 0 {
        let (_, group) = search.best[&set]?;
        found.push(members(group));
        set &= !group;
    }
    Some(found)
}

/// Sets of reads are bits.
struct Search<A> {
    limit: usize,
    attempt: A,
    /// The groups of at most `limit` reads, by the lowest of them.
    groups: Vec<Vec<u32>>,
    /// Costs of the groups that were attempted.
    costs: HashMap<u32, Option<usize>>,
    /// Impossible groups all of whose parts are possible.
    impossible: Vec<u32>,
    /// The cost of the cheapest groups of a set, and the group of its lowest read.
    best: HashMap<u32, Option<(usize, u32)>>,
}

impl<A: FnMut(&[usize]) -> Option<usize>> Search<A> {
    fn cost(&mut self, group: u32) -> Option<usize> {
        if let Some(&cost) = self.costs.get(&group) {
            return cost;
        }
        if self.impossible.iter().any(|part| part & !group == 0) {
            return None;
        }
        let cost = (self.attempt)(&members(group));
        self.costs.insert(group, cost);
        if cost.is_none() {
            let mut parts = members(group).into_iter().map(|read| group & !(1 << read)).filter(|&part| part != 0);
            if parts.all(|part| self.cost(part).is_some()) {
                self.impossible.push(group);
            }
        }
        cost
    }

    fn best(&mut self, set: u32) -> Option<usize> {
        if set == 0 {
            return Some(0);
        }
        if let Some(best) = self.best.get(&set) {
            return best.map(|(cost, _)| cost);
        }
        let mut best: Option<(usize, u32)> = None;
        let lowest = set.trailing_zeros() as usize;
        for number in 0..self.groups[lowest].len() {
            let group = self.groups[lowest][number];
            let rest = set & !group;
            if group & !set != 0 || best.is_some_and(|(least, _)| least <= 1 + self.least(rest)) {
                continue;
            }
            if let Some(cost) = self.cost(group)
                && best.is_none_or(|(least, _)| cost + self.least(rest) < least)
                && let Some(cost_of_rest) = self.best(rest)
                && best.is_none_or(|(least, _)| cost + cost_of_rest < least)
            {
                best = Some((cost + cost_of_rest, group));
            }
        }
        self.best.insert(set, best);
        best.map(|(cost, _)| cost)
    }

    /// A lower bound of the cost of a set.
    fn least(&self, set: u32) -> usize {
        (set.count_ones() as usize).div_ceil(self.limit)
    }
}

fn members(set: u32) -> Vec<usize> {
    (0..u32::BITS as usize).filter(|read| set >> read & 1 == 1).collect()
}

#[cfg(test)]
mod tests {
    use itertools::Itertools;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn groups_are_as_few_as_possible() {
        // 0 and 1 cannot share, nor 2 and 3.
        let groups = cheapest(4, 2, |group| (group != [0, 1] && group != [2, 3]).then_some(1)).unwrap();
        assert_eq!(groups.len(), 2);
        // A group may cost more than its members apart.
        assert_eq!(cheapest(2, 2, |group| Some(group.len() * group.len())).unwrap(), [[0], [1]]);
        assert_eq!(cheapest(2, 2, |group| (group != [1] && group.len() < 2).then_some(1)), None);
        assert_eq!(cheapest(0, 2, |_| None), Some(Vec::new()));
    }

    /// Each read takes so much of a tile that sixteen of them are in eight groups: that is found soon.
    #[test]
    fn few_groups_are_asked_for() {
        let mut asked = 0;
        let groups = cheapest(16, 8, |group| {
            asked += 1;
            (group.len() <= 2).then_some(1)
        });
        assert_eq!(groups.unwrap().len(), 8);
        // Of 39,202.
        assert!(asked < 2000, "{asked}");
    }

    /// The cost of the cheapest groups, by trying all.
    fn least(reads: &[usize], limit: usize, cost: &impl Fn(&[usize]) -> Option<usize>) -> Option<usize> {
        let Some((&first, others)) = reads.split_first() else { return Some(0) };
        let of_group = |taken: Vec<usize>| {
            let rest = others.iter().copied().filter(|read| !taken.contains(read)).collect_vec();
            let group = [vec![first], taken].concat();
            Some(cost(&group)? + least(&rest, limit, cost)?)
        };
        others.iter().copied().powerset().filter(|taken| taken.len() < limit).filter_map(of_group).min()
    }

    proptest! {
        /// Reads that take parts of a tile, some of which exclude each other.
        #[test]
        fn groups_cost_least(
            parts in prop::collection::vec(1_usize..8, 0..7),
            apart in prop::collection::vec((0_usize..7, 0_usize..7), 0..4),
            limit in 1_usize..5,
            room in 6_usize..12,
        ) {
            let cost = |group: &[usize]| {
                let sum = group.iter().map(|&read| parts[read]).sum::<usize>();
                let excluded = apart.iter().any(|(one, other)| group.contains(one) && group.contains(other));
                (sum <= room && !excluded).then_some(1 + sum / 5)
            };
            let all = (0..parts.len()).collect_vec();
            let found = cheapest(parts.len(), limit, cost);
            if let Some(groups) = &found {
                prop_assert_eq!(groups.concat().into_iter().sorted().collect_vec(), all.clone());
                prop_assert!(groups.iter().all(|group| group.len() <= limit));
            }
            let found = found.map(|groups| groups.iter().map(|group| cost(group).unwrap()).sum::<usize>());
            prop_assert_eq!(found, least(&all, limit, &cost));
        }
    }
}
