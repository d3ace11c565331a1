//! Which reads share a tile.

use std::collections::HashMap;

/// Groups the reads `0..count` so that each group is possible and the groups cost least: the fewest tiles, then the
/// fewest groups. `attempt` says what a group costs, or nothing when it is impossible; it is asked once for each group of at
/// most `limit` reads that may matter.
pub(crate) fn cheapest(
    count: usize,
    limit: usize,
    mut attempt: impl FnMut(&[usize]) -> Option<usize>,
) -> Option<Vec<Vec<usize>>> {
    let members = |set: u32| -> Vec<usize> { (0..count).filter(|read| set >> read & 1 == 1).collect() };
    let mut costs: HashMap<u32, Option<usize>> = HashMap::new();
    let all = (1_u32 << count) - 1;
    // The cheapest grouping of each set of reads, and the group of its lowest read.
    let mut best: Vec<Option<(usize, u32)>> = vec![None; all as usize + 1];
    best[0] = Some((0, 0));
    // The groups of at most `limit` reads, by the lowest of them.
    let mut possible: Vec<Vec<u32>> = vec![Vec::new(); count];
    for group in (1..=all).rev().filter(|group| group.count_ones() as usize <= limit) {
        possible[group.trailing_zeros() as usize].push(group);
    }
    for set in 1..=all {
        for &group in possible[set.trailing_zeros() as usize].iter().filter(|&group| group & !set == 0) {
            if let Some((cost_of_rest, _)) = best[(set & !group) as usize]
                && best[set as usize].is_none_or(|(cost, _)| cost_of_rest < cost)
            {
                let cost = *costs.entry(group).or_insert_with(|| attempt(&members(group)));
                if let Some(cost) = cost
                    && best[set as usize].is_none_or(|(least, _)| cost + cost_of_rest < least)
                {
                    best[set as usize] = Some((cost + cost_of_rest, group));
                }
            }
        }
    }
    let mut groups = Vec::new();
    let mut set = all;
    while set != 0 {
        let (_, group) = best[set as usize]?;
        groups.push(members(group));
        set &= !group;
    }
    Some(groups)
}

#[cfg(test)]
mod tests {
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
}
