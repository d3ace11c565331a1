//! Loop distribution: groups that share loops without need get loops of their own, so that updates find others to run
//! in between.
//!
//! A sum in a loop over pixels, `for x: { s[x] = 0; for k: s[x] += … }`, has only the loop `k` of its own, and each of its
//! iterations waits for the one before. With the loop `x` of its own as well, the loops are interchanged and none waits.

use super::CoarseOptions;
use super::arrays::{Touch, touches, writes_meeting};
use super::nest::nest;
use super::tree::{Group, Tree};
use pushmem_stages::{Pipeline, StageLoop, Subscript};

/// The pipeline with fewer loops shared; nothing if all stay.
pub(crate) fn distributed(pipeline: &Pipeline, tree: &Tree, options: &CoarseOptions) -> Option<Pipeline> {
    let mut shared: Vec<usize> = tree.groups.iter().map(|group| pipeline.stages[group.stages.start].shared).collect();
    // There is nothing before the first.
    *shared.first_mut()? = 0;
    let mut plan = Plan { pipeline, tree, options, shared: shared.clone() };
    for group in 0..tree.groups.len() {
        if let Some(depth) = plan.wanted(group) {
            plan.split(group, depth);
        }
    }
    if plan.shared == shared {
        return None;
    }
    let mut pipeline = pipeline.clone();
    for (group, &shared) in tree.groups.iter().zip(&plan.shared) {
        pipeline.stages[group.stages.clone()].iter_mut().for_each(|stage| stage.shared = shared);
    }
    Some(pipeline)
}

/// Which loops are shared.
struct Plan<'a> {
    pipeline: &'a Pipeline,
    tree: &'a Tree,
    options: &'a CoarseOptions,
    /// By group, how many of the outermost loops it shares with the group before it. A cut before a group makes that less.
    shared: Vec<usize>,
}

impl Plan<'_> {
    /// How many of its loops a group should share, if fewer than it does.
    fn wanted(&self, group: usize) -> Option<usize> {
        let depth = self.depth(group);
        let now = self.interval(group, depth)?;
        if depth == 0 || now <= 1 {
            return None;
        }
        let legal = |outer: &usize| self.cuts(group, *outer).all(|cut| self.legal(cut, *outer));
        let possible: Vec<(usize, i64)> = (0..depth)
            .rev()
            .take_while(legal)
            .map_while(|outer| self.interval(group, outer).map(|interval| (outer, interval)))
            .collect();
        let least = possible.iter().map(|&(_, interval)| interval).min().filter(|&least| least < now)?;
        let (enough, _) = *possible.iter().find(|&&(_, interval)| interval == least)?;
        // Further out where that takes no more room: all of the array is kept anyway.
        let further = (0..enough).rev().take_while(|&outer| {
            let free = |cut: usize| {
                let within = self.around(cut, outer);
                self.crossing(cut, &within).all(|array| self.kept(array, &within))
            };
            possible.contains(&(outer, least)) && self.cuts(group, outer).all(free)
        });
        Some(further.last().unwrap_or(enough))
    }

    /// Makes a group share only so many loops, and others of the same loop where it costs no room.
    fn split(&mut self, group: usize, outer: usize) {
        let cuts: Vec<usize> = self.cuts(group, outer).collect();
        let Some(&first) = cuts.first() else { return };
        let within = self.around(first, outer);
        cuts.iter().for_each(|&cut| self.shared[cut] = outer);
        for cut in within.start + 1..within.end {
            let across = |array: usize| cuts.iter().any(|&cut| self.crossing(cut, &within).any(|other| other == array));
            let free = |array: usize| self.kept(array, &within) || across(array);
            if self.shared[cut] > outer && self.crossing(cut, &within).all(free) && self.legal(cut, outer) {
                self.shared[cut] = outer;
            }
        }
    }

    /// How many loops a group shares.
    fn depth(&self, group: usize) -> usize {
        self.shared[group].max(self.shared.get(group + 1).copied().unwrap_or(0))
    }

    /// Before which groups there are cuts if one shares only so many loops: itself and the next.
    fn cuts(&self, group: usize, outer: usize) -> impl Iterator<Item = usize> + '_ {
        [group, group + 1].into_iter().filter(move |&cut| self.shared.get(cut).is_some_and(|&shared| shared > outer))
    }

    /// Cycles from one iteration to the next of a group that updates, if it shared so many loops.
    fn interval(&self, group: usize, depth: usize) -> Option<i64> {
        let group = Group { depth, parent: None, ..self.tree.groups[group].clone() };
        if !group.members(self.pipeline).iter().any(|stage| stage.updates()) {
            return None;
        }
        let gap = self.options.update_gap(self.pipeline, &group);
        let nest = nest(self.pipeline, &group, gap, self.options);
        nest.map(|nest| nest.interval)
    }

    /// The groups in the loop within the outermost `outer` that a cut is in.
    fn around(&self, cut: usize, outer: usize) -> std::ops::Range<usize> {
        let first = (0..=cut).rev().find(|&group| self.shared[group] <= outer).unwrap_or(0);
        let end = (cut..self.shared.len()).find(|&group| self.shared[group] <= outer).unwrap_or(self.shared.len());
        first..end
    }

    fn touches(&self, group: usize, array: usize) -> bool {
        let mut kinds = [false, true].into_iter();
        kinds.any(|writes| touches(self.pipeline, self.tree, group, array, writes).next().is_some())
    }

    /// The arrays that groups on both sides of a cut touch.
    fn crossing<'a>(&'a self, cut: usize, within: &std::ops::Range<usize>) -> impl Iterator<Item = usize> + 'a {
        let (before, behind) = (within.start..cut, cut..within.end);
        (0..self.pipeline.arrays.len()).filter(move |&array| {
            before.clone().any(|group| self.touches(group, array))
                && behind.clone().any(|group| self.touches(group, array))
        })
    }

    /// Whether an array has a life outside of these groups.
    fn kept(&self, array: usize, within: &std::ops::Range<usize>) -> bool {
        (0..self.shared.len()).any(|group| !within.contains(&group) && self.touches(group, array))
    }

    /// Whether everything before a cut may come before everything behind it, for all iterations of the loops within the
    /// outermost `outer`: no group behind it conflicts with one before it that runs in a later iteration.
    fn legal(&self, cut: usize, outer: usize) -> bool {
        let within = self.around(cut, outer);
        (within.start..cut).all(|before| {
            (cut..within.end).all(|behind| {
                let common = self.shared[before + 1..=behind].iter().copied().min().unwrap_or(0);
                let ordered = |early: Touch<'_>, late: Touch<'_>| !carried(early, late, outer..common);
                let touches =
                    |group: usize, array: usize, writes: bool| touches(self.pipeline, self.tree, group, array, writes);
                (0..self.pipeline.arrays.len()).all(|array| {
                    let mut early = touches(behind, array, false).chain(touches(behind, array, true));
                    let mut late = touches(before, array, false);
                    early.all(|early| {
                        writes_meeting(self.pipeline, self.tree, before, early).all(|late| ordered(early, late))
                    }) && late.all(|late| {
                        writes_meeting(self.pipeline, self.tree, behind, late).all(|early| ordered(early, late))
                    })
                })
            })
        })
    }
}

/// Whether two accesses that may touch a common element may do so in an earlier and a later iteration of some common loops.
/// They are numbered from the outermost; both are in the same iteration of those around them.
fn carried(early: Touch<'_>, late: Touch<'_>, loops: std::ops::Range<usize>) -> bool {
    // The outermost loop that differs has a greater index in the later one.
    loops.into_iter().any(|differs| {
        let (early_loops, late_loops) = (&early.stage.loops, &late.stage.loops);
        let ordered = late_loops[late_loops.len() - 1 - differs].extent > 1;
        let mut dimensions = early.access.subscripts.iter().zip(&late.access.subscripts);
        ordered && dimensions.all(|(one, other)| meets((early_loops, one), (late_loops, other), differs))
    })
}

/// Whether two subscripts may be equal, in iterations that agree on the loops around `differs`, of which the second has a
/// greater index.
fn meets(early: (&[StageLoop], &Subscript), late: (&[StageLoop], &Subscript), differs: usize) -> bool {
    if !early.1.is_affine() || !late.1.is_affine() {
        return true;
    }
    let number =
        |(_, subscript): (&[StageLoop], &Subscript)| i128::from(subscript.constant) + i128::from(subscript.offset);
    let mut low = number(late) - number(early);
    let mut high = low;
    let mut add = |ends: &[i128]| {
        low = low.saturating_add(ends.iter().copied().min().unwrap_or(0));
        high = high.saturating_add(ends.iter().copied().max().unwrap_or(0));
    };
    // First and last index and coefficient of a loop, by number from the outermost.
    let term = |(loops, subscript): (&[StageLoop], &Subscript), outer: usize| {
        let level = loops.len() - 1 - outer;
        let first = i128::from(loops[level].min);
        (first, first + i128::from(loops[level].extent) - 1, i128::from(subscript.coefficients[level]))
    };
    for outer in 0..=differs {
        let (first, early_last, early_step) = term(early, outer);
        let (_, late_last, late_step) = term(late, outer);
        let value =
            |early: i128, late: i128| late_step.saturating_mul(late).saturating_sub(early_step.saturating_mul(early));
        if outer < differs {
            let last = early_last.min(late_last);
            add(&[value(first, first), value(last, last)]);
        } else {
            // The corners of all pairs in order.
            let last = early_last.min(late_last - 1);
            let pairs = [(first, first + 1), (first, late_last), (last, last + 1), (last, late_last)];
            add(&pairs.map(|(early, late)| value(early, late)));
        }
    }
    for outer in differs + 1..late.0.len() {
        let (first, last, step) = term(late, outer);
        add(&[step.saturating_mul(first), step.saturating_mul(last)]);
    }
    for outer in differs + 1..early.0.len() {
        let (first, last, step) = term(early, outer);
        add(&[(-step).saturating_mul(first), (-step).saturating_mul(last)]);
    }
    low <= 0 && high >= 0
}
