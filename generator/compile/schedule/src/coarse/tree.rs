//! The tree of loops that stages share, with groups of stages as leaves, in program order.

use std::ops::Range;

use super::arrays::{Touch, accesses, may_meet, write_of};
use super::{CoarseOptions, LIMIT};
use crate::error::{ScheduleError, ScheduleFault};
use crate::writers::Writers;
use pushmem_stages::{Pipeline, Stage};

/// Child of a shared loop: part of each of its iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Child {
    /// A group, by number in [`Tree::groups`].
    Group(usize),
    /// A loop, by number in [`Tree::loops`].
    Loop(usize),
}

/// Stages that run in the same cycles.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub stages: Range<usize>,
    /// How many of its outermost loops it shares with another group.
    pub depth: usize,
    /// The innermost loop that it shares.
    pub parent: Option<usize>,
    /// Iterations of each loop, innermost first: the most of any of its stages, for lanes may differ by one.
    pub extents: Vec<i64>,
    /// Least and greatest latency of its stages.
    pub latency: (i64, i64),
}

impl Group {
    /// Number of loops that are only its own.
    pub fn own(&self) -> usize {
        self.extents.len() - self.depth
    }

    /// The stages.
    pub fn members<'a>(&self, pipeline: &'a Pipeline) -> &'a [Stage] {
        &pipeline.stages[self.stages.clone()]
    }
}

/// A loop that groups share.
#[derive(Clone, Debug)]
pub(crate) struct SharedLoop {
    pub name: String,
    pub extent: i64,
    pub parent: Option<usize>,
    pub children: Vec<Child>,
    min: i64,
}

/// All groups and the loops that they share. Loops come before those inside them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub groups: Vec<Group>,
    pub loops: Vec<SharedLoop>,
    pub roots: Vec<Child>,
    /// For each access of each stage, the stages whose writes may touch an element of it, in their order.
    writers: Vec<Vec<Vec<usize>>>,
}

/// Stages of each group, in order.
pub(crate) fn runs(pipeline: &Pipeline) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (number, stage) in pipeline.stages.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if pipeline.stages[run.start].group == stage.group => run.end = number + 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}

impl Tree {
    /// The tree of a pipeline.
    ///
    /// # Errors
    /// When stages do not agree on the loops that they share, or one runs too long.
    pub fn of(pipeline: &Pipeline, options: &CoarseOptions) -> Result<Tree, ScheduleError> {
        let runs = runs(pipeline);
        // The number of loops that the group of a run shares with the group before it; the first has none before it.
        let shared = |run: usize| match run {
            0 => 0,
            _ => runs.get(run).map_or(0, |run| pipeline.stages[run.start].shared),
        };
        let mut tree = Tree::default();
        let mut path: Vec<usize> = Vec::new();
        for (number, run) in runs.iter().enumerate() {
            let members = &pipeline.stages[run.clone()];
            let count = members[0].loops.len();
            let depth = shared(number).max(shared(number + 1));
            for (member, stage) in members.iter().enumerate() {
                if stage.loops.len() != count || depth > count {
                    return Err(ScheduleError::at(pipeline, run.start + member, ScheduleFault::Nesting));
                }
                let travel =
                    options.transport.longest(run.start + member..run.start + member + 1, 0..pipeline.stages.len());
                if stage.latency.max(options.round_trip).max(travel) > LIMIT as u64 {
                    return Err(ScheduleError::at(pipeline, run.start + member, ScheduleFault::TooLong));
                }
            }
            path.truncate(shared(number));
            for outer in path.len()..depth {
                let level = &members[0].loops[count - 1 - outer];
                let parent = path.last().copied();
                let added = tree.loops.len();
                tree.loops.push(SharedLoop {
                    name: level.name.clone(),
                    extent: 1,
                    parent,
                    children: Vec::new(),
                    min: level.min,
                });
                tree.children(parent).push(Child::Loop(added));
                path.push(added);
            }
            for (outer, &level) in path.iter().enumerate() {
                for (member, stage) in members.iter().enumerate() {
                    let (same, shared) = (&stage.loops[count - 1 - outer], &mut tree.loops[level]);
                    if same.min != shared.min {
                        return Err(ScheduleError::at(pipeline, run.start + member, ScheduleFault::Nesting));
                    }
                    shared.extent = shared.extent.max(extent(pipeline, run.start + member, same.extent)?);
                }
            }
            let mut extents = vec![1; count];
            for (member, stage) in members.iter().enumerate() {
                for (most, level) in extents.iter_mut().zip(&stage.loops) {
                    *most = extent(pipeline, run.start + member, level.extent)?.max(*most);
                }
            }
            let latencies = || members.iter().map(|stage| stage.latency as i64);
            let parent = path.last().copied();
            let latency = (latencies().min().unwrap_or(0), latencies().max().unwrap_or(0));
            tree.groups.push(Group { stages: run.clone(), depth, parent, extents, latency });
            tree.children(parent).push(Child::Group(number));
        }
        let writers = Writers::of(pipeline);
        let meeting = |touch: Touch<'_>| {
            let mut found = writers.of_access(touch.stage, touch.access);
            found.retain(|&writer| may_meet(write_of(pipeline, tree.group_of(writer), writer), touch));
            found
        };
        let of_stage = |(number, stage)| accesses(tree.group_of(number), number, stage).map(meeting).collect();
        tree.writers = pipeline.stages.iter().enumerate().map(of_stage).collect();
        Ok(tree)
    }

    /// The stages whose writes may touch an element of an access, in their order.
    pub fn writers_meeting(&self, touch: Touch<'_>) -> &[usize] {
        let (stage, access) = touch.at;
        &self.writers[stage][access]
    }

    /// The group of a stage.
    pub fn group_of(&self, stage: usize) -> usize {
        self.groups.partition_point(|group| group.stages.end <= stage)
    }

    fn children(&mut self, parent: Option<usize>) -> &mut Vec<Child> {
        match parent {
            Some(parent) => &mut self.loops[parent].children,
            None => &mut self.roots,
        }
    }

    /// The loop and all around it, innermost first.
    pub fn upwards(&self, from: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(from, |&level| self.loops[level].parent)
    }

    /// The innermost loop around both.
    pub fn common(&self, one: Option<usize>, other: Option<usize>) -> Option<usize> {
        self.upwards(one).find(|&level| self.upwards(other).any(|also| also == level))
    }

    /// Whether a group lies below a loop; all lie below none.
    pub fn below(&self, group: usize, level: Option<usize>) -> bool {
        level.is_none_or(|level| self.upwards(self.groups[group].parent).any(|around| around == level))
    }
}

fn extent(pipeline: &Pipeline, stage: usize, extent: u64) -> Result<i64, ScheduleError> {
    let too_long = || ScheduleError::at(pipeline, stage, ScheduleFault::TooLong);
    i64::try_from(extent).ok().filter(|extent| *extent <= LIMIT).ok_or_else(too_long)
}
