//! The dependences of the stages of an iteration, and of those of one iteration on another.

use std::collections::BTreeMap;

use super::super::arrays::{lead, pointwise, touches, update_spacing, writes_meeting};
use super::super::modulo_scheduling::Edge;
use super::super::tree::Child;
use super::double_buffering::{FURTHEST, Room, Versions};
use super::{Context, Wait, Window};

impl Context<'_> {
    /// All dependences between the children of a loop.
    pub(super) fn waits(
        &self,
        level: Option<usize>,
        children: &[Child],
        windows: &[Vec<Window>],
        versions: &Versions,
    ) -> Vec<Wait> {
        let mut by_array: BTreeMap<usize, Vec<(usize, Window)>> = BTreeMap::new();
        for (child, windows) in windows.iter().enumerate() {
            for window in windows {
                by_array.entry(window.array).or_default().push((child, *window));
            }
        }
        let mut waits = Vec::new();
        for (array, windows) in by_array {
            if windows.iter().all(|(_, window)| window.write.is_none()) {
                continue;
            }
            let room = self.room(level, array, versions);
            for (place, &(child, window)) in windows.iter().enumerate() {
                if let (Child::Group(group), Some(level)) = (children[child], level) {
                    waits.extend(self.recurrence(level, child, group, array, room.versions));
                }
                for &(after, later) in windows[place + 1..].iter().filter(|(after, _)| *after != child) {
                    self.within((child, window), (after, later), children, room, &mut waits);
                    self.across((child, window), (after, later), room, &mut waits);
                }
            }
        }
        waits
    }

    /// The wait of a group that updates elements, in the next iteration of its innermost shared loop.
    fn recurrence(&self, level: usize, child: usize, group: usize, array: usize, versions: i64) -> Option<Wait> {
        let content = &self.tree.groups[group];
        let updates = content.members(self.pipeline).iter().any(|stage| stage.updates() && stage.write.array == array);
        // With two versions every iteration begins with new values.
        if !updates || versions > 1 || content.parent != Some(level) {
            return None;
        }
        let (distance, travel) = update_spacing(self.pipeline, self.tree, group, &self.nests[group])?;
        let weight = travel + self.options.update_gap(self.pipeline, content);
        let edge = Edge { from: child, to: child, weight, distance: distance.min(FURTHEST), array };
        Some(Wait { edge, fused: None })
    }

    /// The most cycles that words travel from stages of a group to stages of another.
    pub(super) fn transport(&self, producer: usize, consumer: usize) -> u64 {
        let stages = |group: usize| self.tree.groups[group].stages.clone();
        self.options.transport.longest(stages(producer), stages(consumer))
    }

    /// Cycles that a word needs through the memory of an array. Where reads begin anywhere in a row, its fetch is earlier by as many
    /// cycles as a row has words. A random-access memory shows it in the cycle in which it is written, before the next one.
    pub(super) fn round_trip(&self, array: usize) -> i64 {
        if self.options.random_access.contains(&array) {
            return -1;
        }
        let earlier = if self.options.whole_rows.contains(&array) { self.options.row_multiple } else { 0 };
        (self.options.round_trip + earlier) as i64
    }

    /// Whether two groups, one of which writes, may touch the same element of an array.
    fn meet(&self, (one, writes): (usize, bool), (other, other_writes): (usize, bool), array: usize) -> bool {
        let (writer, other, writes) = if other_writes { (other, one, writes) } else { (one, other, false) };
        touches(self.pipeline, self.tree, other, array, writes)
            .any(|touch| writes_meeting(self.pipeline, self.tree, writer, touch).next().is_some())
    }

    /// Flow, output and anti dependences within an iteration.
    fn within(
        &self,
        (from, first): (usize, Window),
        (to, second): (usize, Window),
        children: &[Child],
        room: Room,
        waits: &mut Vec<Wait>,
    ) {
        let (array, round_trip) = (first.array, self.round_trip(first.array));
        let edge = |weight: i64| Edge { from, to, weight, distance: 0, array };
        let meet = |writes: bool, later: bool| self.meet((first.group, writes), (second.group, later), array);
        let groups = matches!((children[from], children[to]), (Child::Group(_), Child::Group(_)));
        let nests = (&self.nests[first.group], &self.nests[second.group]);
        // With values of an iteration before, an element may not be the producer's of this one.
        let may_overlap = self.options.overlap && (room.versions > 1 || room.spacing.is_none());
        let timings = (&self.timings[first.group], &self.timings[second.group]);
        let timed = ((first.group, timings.0), (second.group, timings.1));
        if let (Some((_, end)), Some((start, _)), true) = (first.write, second.read, meet(true, false)) {
            let pair = ((first.group, nests.0), (second.group, nests.1));
            let fused = groups && pointwise(self.pipeline, self.tree, pair.0, pair.1, array);
            let travel = self.transport(first.group, second.group) as i64;
            let whole = end + round_trip + travel - start;
            let early = may_overlap.then(|| lead(self.pipeline, self.tree, timed.0, timed.1, array, false)).flatten();
            let early = early.map(|lead| {
                let between = lead.max(self.tree.groups[first.group].latency.0) + travel + 1 + round_trip;
                timings.0.start + between - timings.1.start
            });
            let weight = early.map_or(whole, |early| early.min(whole));
            let latency = self.tree.groups[first.group].latency.1 + travel;
            waits.push(Wait { edge: edge(weight), fused: fused.then_some(latency) });
        }
        if let (Some((_, end)), Some((start, _)), true) = (first.read, second.write, meet(false, true)) {
            waits.push(Wait { edge: edge(end - start), fused: None });
        }
        if let (Some((_, end)), Some((start, _)), true) = (first.write, second.write, meet(true, true)) {
            // An update writes the element that it has read, so it waits already.
            let members = self.tree.groups[second.group].members(self.pipeline);
            if !members.iter().all(|stage| stage.updates()) {
                let early = self.options.match_rates && may_overlap;
                let early = early.then(|| lead(self.pipeline, self.tree, timed.0, timed.1, array, true)).flatten();
                let early = early.map(|distance| timings.0.start + distance - timings.1.start);
                let whole = end - start;
                waits.push(Wait { edge: edge(early.map_or(whole, |early| early.min(whole))), fused: None });
            }
        }
    }

    /// Waits of the first group for the second, some iterations before.
    fn across(&self, (to, first): (usize, Window), (from, second): (usize, Window), room: Room, waits: &mut Vec<Wait>) {
        let Some(spacing) = room.spacing else { return };
        let array = first.array;
        let distance = spacing.max(room.versions);
        let meet = |writes: bool, later: bool| self.meet((second.group, writes), (first.group, later), array);
        let mut add = |weight: i64| {
            let edge = Edge { from, to, weight, distance, array };
            waits.push(Wait { edge, fused: None });
        };
        if let (Some((_, end)), Some((start, _)), 1, true) =
            (second.write, first.read, room.versions, meet(true, false))
        {
            let random = self.options.random_access.contains(&array);
            let round_trip = if random { self.round_trip(array) } else { self.options.round_trip as i64 };
            add(end + round_trip + self.transport(second.group, first.group) as i64 - start);
        }
        if let (Some((_, end)), Some((start, _)), true) = (second.read, first.write, meet(false, true)) {
            add(end - start);
        }
        if let (Some((_, end)), Some((start, _)), true) = (second.write, first.write, meet(true, true)) {
            add(end - start);
        }
    }
}
