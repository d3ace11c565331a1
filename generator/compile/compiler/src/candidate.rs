//! The candidates of the search for a schedule, and those that follow where memories are short.

use std::rc::Rc;

use pushmem_assembly::{Shortage, Waits};
use pushmem_schedule::CoarseOptions;
use pushmem_search::Relieved;
use pushmem_tile::Kind;

use crate::stages::Stages;

/// Memories are relieved of so many arrays one after the other; then of all that they do not serve.
const RELIEVED_ALONE: usize = 2;

/// A form of a program with a schedule.
#[derive(Clone)]
pub(crate) struct Candidate<'a> {
    pub stages: Rc<Stages<'a>>,
    pub schedule: Choice,
}

/// A schedule, before it is known.
#[derive(Clone)]
pub(crate) enum Choice {
    /// All stages fused into one raster scan, with rows of a multiple of so many words, in which these words wait.
    Scan { row_multiple: u64, waits: Waits },
    /// One stage after the other.
    Sequence(CoarseOptions),
    /// A coarse pipeline of loop nests, and how memories were relieved for it.
    Pipeline(CoarseOptions, Option<Relief>),
}

/// Changes of a schedule that let a memory serve an array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Accesses that would be at the same time come one after the other.
    Turns,
    /// Reads pause between rows, as the rows of a wide-fetch tile do not begin where theirs do.
    Pauses,
}

/// How memories are relieved.
#[derive(Clone, Copy)]
pub(crate) struct Relief {
    /// The changes for each array, in the order in which they are tried.
    order: [Step; 2],
    /// The steps so far.
    steps: usize,
    /// Whether there is nothing more for some array that was short.
    is_last: bool,
}

impl<'a> Candidate<'a> {
    /// The candidates that may do where memories are short for this one.
    pub fn relieved(&self, short: &Shortage) -> Relieved<Candidate<'a>> {
        match &self.schedule {
            Choice::Scan { row_multiple, waits } => self.other_scans(*row_multiple, waits),
            Choice::Sequence(_) => Relieved::default(),
            Choice::Pipeline(options, relief) => self.other_pipelines(options, relief.as_ref(), short),
        }
    }

    fn with(&self, schedule: Choice) -> Candidate<'a> {
        Candidate { stages: self.stages.clone(), schedule }
    }

    /// Scans with rows of whole fetches; and those in which words are delayed from row to row rather than kept. Words in the opposite
    /// order have no delay.
    fn other_scans(&self, row_multiple: u64, waits: &Waits) -> Relieved<Candidate<'a>> {
        let with_rows = match self.stages.hardware.tiles.target.memory().kind {
            Kind::WideFetch { fetch_width, .. } if row_multiple == 1 => {
                Some(Choice::Scan { row_multiple: u64::from(fetch_width), waits: waits.clone() })
            }
            _ => None,
        };
        let delayed = (row_multiple == 1 && !waits.memories.is_empty())
            .then(|| Choice::Scan { row_multiple: 1, waits: waits.in_registers() });
        let next = with_rows.into_iter().map(|choice| self.with(choice)).collect();
        Relieved { next, last: delayed.into_iter().map(|choice| self.with(choice)).collect() }
    }

    /// Pipelines in which the array that is short is relieved, in each order of changes; then in the same order as before. Where rows
    /// follow the slowest, those of inputs may do so as well: memories keep the fewest rows so.
    fn other_pipelines(
        &self,
        options: &CoarseOptions,
        relief: Option<&Relief>,
        short: &Shortage,
    ) -> Relieved<Candidate<'a>> {
        let Shortage::Array { array, others, .. } = short else { return Relieved::default() };
        match relief {
            Some(relief) if relief.is_last => Relieved::default(),
            Some(relief) => {
                let all = others.iter().filter(|_| relief.steps >= RELIEVED_ALONE);
                let next = relief.next(options, all.chain([array]));
                Relieved { next: next.into_iter().map(|choice| self.with(choice)).collect(), last: Vec::new() }
            }
            None => {
                let orders = self.orders(options.match_rates).into_iter();
                let begin = |order| Relief { order, steps: 0, is_last: false }.next(options, [array]);
                let slow = options.match_rates && !options.loads_follow;
                let slow =
                    slow.then(|| Choice::Pipeline(CoarseOptions { loads_follow: true, ..options.clone() }, None));
                let last = orders.filter_map(begin).chain(slow).map(|choice| self.with(choice)).collect();
                Relieved { next: Vec::new(), last }
            }
        }
    }

    /// The orders in which arrays are relieved.
    fn orders(&self, match_rates: bool) -> Vec<[Step; 2]> {
        match self.stages.hardware.tiles.target.memory().kind {
            // Pauses lengthen rows that follow others a little, turns by all that those do.
            Kind::WideFetch { .. } if match_rates => vec![[Step::Pauses, Step::Turns], [Step::Turns, Step::Pauses]],
            Kind::WideFetch { .. } => vec![[Step::Turns, Step::Pauses], [Step::Pauses, Step::Turns]],
            _ => vec![[Step::Turns; 2]],
        }
    }
}

impl Relief {
    /// A pipeline in which each of these arrays is relieved by its next change, if any of them has one.
    fn next<'b>(self, options: &CoarseOptions, arrays: impl IntoIterator<Item = &'b usize>) -> Option<Choice> {
        let mut options = options.clone();
        let mut relieve = |array: &usize| {
            self.order.iter().any(|step| match step {
                Step::Turns => options.serialized.insert(*array),
                Step::Pauses => options.whole_rows.insert(*array),
            })
        };
        let relieved: Vec<bool> = arrays.into_iter().map(&mut relieve).collect();
        // An array without further relief stays refused, whatever the others get.
        let is_last = relieved.contains(&false);
        let relief = Relief { steps: self.steps + 1, is_last, ..self };
        relieved.contains(&true).then_some(Choice::Pipeline(options, Some(relief)))
    }
}
