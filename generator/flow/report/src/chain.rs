//! The critical chain of a run: the events that the last word waits for, each as long as it takes.
//!
//! From the last word that is written, the chain goes back to the event that comes last of those its iteration needs: the write
//! of an operand, or the iteration before it on the same hardware. So each cycle of the run is a part of one link, or of the
//! time that a link waits for the next although its word is there: for a memory, or for its turn.

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_compiler::Compiled;
use pushmem_nest::ArrayKind;
use pushmem_schedule::{Boundary, Stage, Subscript};
use serde::Serialize;

use crate::stages::StageRow;

/// Iterations that are looked at, and writers of an operand that are asked for one. So many take some tens of milliseconds.
const STEPS: usize = 1 << 14;
const QUESTIONS: usize = 1 << 20;

/// The part of a stage in the critical chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The stage, an index of [`crate::Contents::stages`].
    pub stage: usize,
    /// How often the chain comes to it from another stage.
    pub visits: u64,
    /// Cycles in it.
    pub cycles: u64,
    /// Cycles from its words to the next link, which needs them and begins later.
    pub waits: u64,
    /// The first cycle in it.
    pub first: i64,
    /// The last; one less, if it has none.
    pub last: i64,
}

/// The critical chain of a run: links in the order of their first cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Chain {
    /// Cycles before the first link.
    pub before: u64,
    /// The links.
    pub links: Vec<Link>,
    /// Whether the chain was followed to its beginning; else the cycles before are many events more.
    pub whole: bool,
}

/// An iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Event {
    stage: usize,
    indices: Vec<i64>,
    /// The cycle in which it reads.
    cycle: i64,
    /// The cycle from which the next event can begin.
    ends: i64,
}

/// The critical chain of a compiled program with these stages; `groups` are the numbers of their rows.
pub(crate) fn chain(compiled: &Compiled, rows: &[StageRow], groups: &[usize]) -> Chain {
    let mut walk = Walk::of(compiled, rows, groups);
    let Some(last) = walk.last_write(compiled) else { return Chain::default() };
    // The cycle of the last write is one of the run.
    let (mut begins, mut at) = (last.ends + 1, Event { ends: last.ends + 1, ..last });
    let mut links: Vec<Link> = Vec::new();
    let mut inside = None;
    for _ in 0..STEPS {
        let row = groups[at.stage];
        let place = links.iter().position(|link| link.stage == row).unwrap_or_else(|| {
            links.push(Link { stage: row, visits: 0, cycles: 0, waits: 0, first: at.cycle, last: at.ends - 1 });
            links.len() - 1
        });
        let link = &mut links[place];
        link.visits += u64::from(inside.replace(row) != Some(row));
        link.cycles += (at.ends - at.cycle) as u64;
        link.waits += (begins - at.ends) as u64;
        link.first = at.cycle;
        begins = at.cycle;
        match walk.before(&at) {
            Some(before) => at = before,
            None => {
                let whole = walk.questions < QUESTIONS;
                return finished(links, begins, whole);
            }
        }
    }
    finished(links, begins, false)
}

fn finished(mut links: Vec<Link>, begins: i64, whole: bool) -> Chain {
    // Found from the last to the first: of those without a cycle, in the order of the words.
    links.reverse();
    links.sort_by_key(|link| link.first);
    Chain { before: begins.max(0) as u64, links, whole }
}

/// The stages with what an iteration of each needs.
struct Walk<'a> {
    stages: &'a [Stage],
    schedules: &'a [Affine],
    /// By array: the stages that write it.
    writers: Vec<Vec<usize>>,
    /// By stage: those on the same hardware, itself among them.
    together: Vec<Vec<usize>>,
    questions: usize,
}

impl<'a> Walk<'a> {
    fn of(compiled: &'a Compiled, rows: &[StageRow], groups: &[usize]) -> Self {
        let stages = &compiled.extraction.pipeline.stages;
        let mut writers = vec![Vec::new(); compiled.program.arrays.len()];
        for (number, stage) in stages.iter().enumerate() {
            writers[stage.write.array].push(number);
        }
        let units = groups.iter().map(|row| rows[*row].unit.as_ref()).collect_vec();
        let shares = |one: usize, other: usize| one == other || units[one].is_some() && units[one] == units[other];
        let together = (0..stages.len()).map(|one| (0..stages.len()).filter(|&other| shares(one, other)).collect());
        Walk { stages, schedules: &compiled.schedule.stages, writers, together: together.collect(), questions: 0 }
    }

    /// The iteration that writes the last word of the run, of an output if there is one.
    fn last_write(&self, compiled: &Compiled) -> Option<Event> {
        let is_output =
            |stage: &usize| compiled.program.arrays[self.stages[*stage].write.array].kind == ArrayKind::Output;
        let ends =
            |stage: usize| self.stages[stage].last_cycle(&self.schedules[stage]) + self.stages[stage].latency as i64;
        let stage = (0..self.stages.len()).max_by_key(|stage| (is_output(stage), ends(*stage)))?;
        let indices = self.stages[stage].loops.iter().map(|level| level.max()).collect();
        Some(Event { stage, indices, cycle: ends(stage) - self.stages[stage].latency as i64, ends: ends(stage) })
    }

    /// The last of the events that an iteration needs: of two at the same time, the write of an operand.
    fn before(&mut self, event: &Event) -> Option<Event> {
        let operand = self.operand(event);
        let turn = self.turn(event);
        let later = |turn: &Event| operand.as_ref().is_none_or(|operand| turn.ends > operand.ends);
        match turn.filter(later) {
            // As long as nothing is between iterations, all of them are one.
            Some(turn) if turn.stage == event.stage && turn.ends == event.cycle => Some(self.begin_of_pass(turn)),
            Some(turn) => Some(turn),
            None => operand,
        }
    }

    /// The operand of an iteration that was written last.
    fn operand(&mut self, event: &Event) -> Option<Event> {
        let reader = &self.stages[event.stage];
        let mut last: Option<Event> = None;
        for read in &reader.reads {
            let element: Option<Vec<i64>> =
                read.subscripts.iter().map(|subscript| subscript.at(&event.indices)).collect();
            let Some(element) = element else { continue };
            for &writer in &self.writers[read.array] {
                self.questions += 1;
                if self.questions >= QUESTIONS {
                    return None;
                }
                let limit = event.cycle - i64::from(writer >= event.stage);
                let found = self.written(writer, &element, limit);
                if let Some(found) = found
                    && last.as_ref().is_none_or(|last| found.ends > last.ends)
                {
                    last = Some(found);
                }
            }
        }
        last
    }

    /// The last iteration of a stage that has written an element by a cycle.
    fn written(&self, writer: usize, element: &[i64], limit: i64) -> Option<Event> {
        let (stage, schedule) = (&self.stages[writer], &self.schedules[writer]);
        let mut indices = vec![None; stage.loops.len()];
        for (subscript, &value) in stage.write.subscripts.iter().zip(element) {
            solve(stage, subscript, value, &mut indices)?;
        }
        let latency = stage.latency as i64;
        let found = latest(stage, schedule, &indices, limit - latency)?;
        let cycle = schedule.value(&found);
        Some(Event { stage: writer, indices: found, cycle, ends: cycle + latency })
    }

    /// The last iteration before on the same hardware.
    fn turn(&self, event: &Event) -> Option<Event> {
        let before = |&other: &usize| {
            let (stage, schedule) = (&self.stages[other], &self.schedules[other]);
            let free = vec![None; stage.loops.len()];
            let indices = latest(stage, schedule, &free, event.cycle - 1)?;
            let cycle = schedule.value(&indices);
            Some(Event { stage: other, indices, cycle, ends: (cycle + self.pace(other)).min(event.cycle) })
        };
        self.together[event.stage].iter().filter_map(before).max_by_key(|event| event.ends)
    }

    /// Cycles from an iteration of a stage to the next, where no loop ends.
    fn pace(&self, stage: usize) -> i64 {
        self.levels(stage).first().map_or(1, |&level| self.schedules[stage].stride[level].max(1))
    }

    /// The loops of several iterations, the fastest first.
    fn levels(&self, stage: usize) -> Vec<usize> {
        let loops = &self.stages[stage].loops;
        let several = (0..loops.len()).filter(|&level| loops[level].extent > 1);
        several.sorted_by_key(|&level| self.schedules[stage].stride[level]).collect()
    }

    /// The first of the iterations that follow each other without a gap up to this one.
    fn begin_of_pass(&self, event: Event) -> Event {
        let (stage, schedule) = (&self.stages[event.stage], &self.schedules[event.stage]);
        let mut indices = event.indices.clone();
        let mut dense = self.pace(event.stage);
        for level in self.levels(event.stage) {
            if schedule.stride[level] != dense {
                break;
            }
            dense *= stage.loops[level].extent as i64;
            indices[level] = stage.loops[level].min;
        }
        let cycle = schedule.value(&indices);
        Event { indices, cycle, ..event }
    }
}

/// The indices with which a subscript has this value; nothing if there are none, or it has several values for an element.
fn solve(stage: &Stage, subscript: &Subscript, value: i64, indices: &mut [Option<i64>]) -> Option<()> {
    if subscript.divisor != 1 || subscript.boundary != Boundary::None {
        return None;
    }
    let factor = |level: usize| subscript.coefficients[level];
    let known: i64 = (0..indices.len()).filter_map(|level| Some(indices[level]? * factor(level))).sum();
    let open = (0..indices.len()).filter(|&level| indices[level].is_none() && factor(level) != 0);
    let open = open.sorted_by_key(|&level| -factor(level).abs()).collect_vec();
    let mut rest = value - subscript.offset - subscript.constant - known;
    for (place, &level) in open.iter().enumerate() {
        let span = |&level: &usize| {
            let ends = [stage.loops[level].min, stage.loops[level].max()].map(|index| factor(level) * index);
            (ends[0].min(ends[1]), ends[0].max(ends[1]))
        };
        let (low, high) = open[place + 1..].iter().map(span).fold((0, 0), |(low, high), of| (low + of.0, high + of.1));
        let inside = |index: &i64| (low..=high).contains(&(rest - factor(level) * index));
        // Of loops within each other, the larger factor leaves the others no choice.
        let near = (rest - low).div_euclid(factor(level));
        let candidates = [near, near + 1, near - 1].into_iter();
        let index = candidates
            .filter(|index| (stage.loops[level].min..=stage.loops[level].max()).contains(index))
            .find(inside)?;
        indices[level] = Some(index);
        rest -= factor(level) * index;
    }
    (rest == 0).then_some(())
}

/// The last iteration with these indices up to a cycle.
fn latest(stage: &Stage, schedule: &Affine, indices: &[Option<i64>], limit: i64) -> Option<Vec<i64>> {
    let mut found = stage.loops.iter().zip(indices).map(|(level, index)| index.unwrap_or(level.min)).collect_vec();
    let mut rest = limit - schedule.value(&found);
    if rest < 0 {
        return None;
    }
    let open = (0..found.len()).filter(|&level| indices[level].is_none() && schedule.stride[level] > 0);
    for level in open.sorted_by_key(|&level| -schedule.stride[level]) {
        let steps = (rest / schedule.stride[level]).min(stage.loops[level].extent as i64 - 1);
        found[level] += steps;
        rest -= steps * schedule.stride[level];
    }
    Some(found)
}
