//! The order of the program: which of two executed statements comes first.
//!
//! It is taken from the loop nest alone. Stages are only names for copies of operations: a copy executes one lane of each
//! unrolled loop, or all of a loop along which it adds to the same element.

use std::cmp::Ordering;

use pushmem_nest::{Loop, Operation, Program};
use pushmem_stages::{Origin, Staged};

use crate::places::{Direction, Places};

/// An access of an array, one element in each of its iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// An operation of the program, in all iterations of its loops.
    Operation(usize),
    /// A copy of it.
    Stage(usize),
}

/// An access.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    who: Who,
    /// The operation; nothing for inputs.
    operation: Option<usize>,
    /// Whether it is the write, which comes after the reads.
    is_write: bool,
    /// The lane of each loop, outermost first; nothing where the access stands for all lanes.
    lanes: Vec<Option<i64>>,
    /// The elements that it touches.
    pub places: Places,
}

impl Instance {
    /// The lane of a loop, counted from the outermost; nothing where it stands for all lanes.
    pub fn lane(&self, outer: usize) -> Option<i64> {
        self.lanes.get(outer).copied().flatten()
    }
}

/// When one access may come, seen from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Possible {
    pub before: bool,
    pub after: bool,
}

impl Possible {
    const EITHER: Possible = Possible { before: true, after: true };

    fn only(ordering: Ordering) -> Possible {
        Possible { before: ordering == Ordering::Less, after: ordering == Ordering::Greater }
    }
}

/// A copy of an operation.
#[derive(Clone, Debug)]
struct Place {
    operation: usize,
    /// As in [`Instance`], of its write.
    lanes: Vec<Option<i64>>,
}

/// The statements of a program in their order.
pub(crate) struct Sequence<'a> {
    program: &'a Program,
    staged: Staged<'a>,
    pub operations: Vec<(Vec<&'a Loop>, &'a Operation)>,
    /// Where each stage stands; nothing for inputs, whose words are the same at any time.
    places: Vec<Option<Place>>,
}

impl<'a> Sequence<'a> {
    pub fn of(program: &'a Program, staged: Staged<'a>) -> Self {
        let operations = program.operations();
        let place = |origin: &Origin| match origin {
            Origin::Input { .. } => None,
            Origin::Operation { operation, lanes } => {
                let content = operations.get(*operation)?.1;
                let lane = |(variable, lane): (usize, &i64)| (!content.merges(variable)).then_some(*lane);
                Some(Place { operation: *operation, lanes: lanes.iter().rev().enumerate().map(lane).collect() })
            }
        };
        let places = staged.origins.iter().map(place).collect();
        Sequence { program, staged, operations, places }
    }

    /// The number of a stage's operation; nothing for inputs.
    pub fn number(&self, stage: usize) -> Option<usize> {
        self.places[stage].as_ref().map(|place| place.operation)
    }

    /// The operation of a stage, with its loops; nothing for inputs.
    pub fn operation(&self, stage: usize) -> Option<&(Vec<&'a Loop>, &'a Operation)> {
        self.number(stage).map(|number| &self.operations[number])
    }

    /// The write of a stage.
    pub fn write(&self, stage: usize) -> Instance {
        let content = &self.staged.pipeline.stages[stage];
        Instance {
            who: Who::Stage(stage),
            operation: self.number(stage),
            is_write: true,
            lanes: self.places[stage].as_ref().map_or(Vec::new(), |place| place.lanes.clone()),
            places: Places::of_stage(content, &content.write),
        }
    }

    /// A read of a stage. That of a load is in the lane of its copy; that of the element that a sum is added to is in
    /// all of them.
    pub fn read(&self, stage: usize, load: usize) -> Instance {
        let content = &self.staged.pipeline.stages[stage];
        let write = self.write(stage);
        let mut lanes = write.lanes;
        if let Some((loops, operation)) = self.operation(stage)
            && operation.load_of_read(loops, load).is_some()
        {
            let copy = &operation.copies_together(loops)[load / operation.loads.len()];
            for (lane, of_copy) in lanes.iter_mut().zip(copy.iter().rev()) {
                *lane = lane.or(Some(*of_copy));
            }
        }
        Instance { lanes, is_write: false, places: Places::of_stage(content, &content.reads[load]), ..write }
    }

    /// The write of an operation, by all of its copies. Those that are executed together write once.
    pub fn write_of_operation(&self, number: usize) -> Instance {
        self.target(number, true)
    }

    /// The reads of an operation, by all of its copies, with the array of each.
    pub fn reads_of_operation(&self, number: usize) -> impl Iterator<Item = (usize, Instance)> {
        let (loops, operation) = &self.operations[number];
        let of_loads = operation.loads.iter().map(move |load| {
            let clip = load.outside.map(|_| &self.program.arrays[load.access.array]);
            let places = Places::of_operation(loops, &load.access, clip);
            let lanes = vec![Some(0); loops.len()];
            let read =
                Instance { who: Who::Operation(number), operation: Some(number), is_write: false, lanes, places };
            (load.access.array, read)
        });
        of_loads.chain(operation.reduction.map(|_| (operation.target.array, self.target(number, false))))
    }

    fn target(&self, number: usize, is_write: bool) -> Instance {
        let (loops, operation) = &self.operations[number];
        let mut places = Places::of_operation(loops, &operation.target, None);
        let mut lanes = vec![Some(0); loops.len()];
        for variable in (0..loops.len()).filter(|&variable| operation.merges(variable)) {
            lanes[variable] = None;
            if loops[variable].extent == loops[variable].unroll {
                places = places.without_loop(variable);
            }
        }
        Instance { who: Who::Operation(number), operation: Some(number), is_write, lanes, places }
    }

    /// How many of their outermost loops two operations have in common.
    fn shared_by_operations(&self, one: Option<usize>, other: Option<usize>) -> usize {
        let loops = |number: Option<usize>| number.map_or(&[][..], |number| self.operations[number].0.as_slice());
        let pairs = loops(one).iter().zip(loops(other));
        pairs.take_while(|(one, other)| std::ptr::eq(**one, **other)).count()
    }

    /// How many of their outermost loops two stages have in common.
    pub fn shared(&self, one: usize, other: usize) -> usize {
        self.shared_by_operations(self.number(one), self.number(other))
    }

    /// How many of their outermost loops two accesses have in common.
    pub fn shared_by(&self, one: &Instance, other: &Instance) -> usize {
        self.shared_by_operations(one.operation, other.operation)
    }

    /// Whether the write of an iteration of a stage comes before the reads of an iteration of another stage, or of the same one.
    /// Iterations are given innermost loop first. Words of inputs are there before everything.
    pub fn precedes(&self, (writer, written): (usize, &[i64]), (reader, read): (usize, &[i64])) -> bool {
        let (Some(from), Some(to)) = (&self.places[writer], &self.places[reader]) else {
            return self.places[writer].is_none();
        };
        let loops = &self.operations[from.operation].0;
        let step = |place: &Place, index: &[i64], outer: usize| {
            // A sum over all lanes of a loop is written with the last.
            let lane = place.lanes[outer].unwrap_or(loops[outer].unroll - 1);
            index[index.len() - 1 - outer] * loops[outer].unroll + lane
        };
        let shared = self.shared_by_operations(Some(from.operation), Some(to.operation));
        let by_loop = (0..shared).map(|outer| step(from, written, outer).cmp(&step(to, read, outer)));
        // In one iteration a statement reads before it writes, and statements follow one another.
        let by_statement = (from.operation, true).cmp(&(to.operation, false));
        by_loop.fold(Ordering::Equal, Ordering::then).then(by_statement) == Ordering::Less
    }

    /// When an access comes, seen from another one, in iterations that relate so.
    pub fn compare(&self, one: &Instance, other: &Instance, direction: Direction) -> Possible {
        let (Some(number), Some(from)) = (one.operation, other.operation) else { return Possible::EITHER };
        for level in 0..self.shared_by(one, other) {
            if level == direction.equal {
                return direction.then.map_or(Possible::EITHER, Possible::only);
            }
            match (one.lanes[level], other.lanes[level]) {
                (Some(lane), Some(from)) if lane == from => {}
                (Some(lane), Some(from)) => return Possible::only(lane.cmp(&from)),
                // Copies that are executed together are one statement.
                _ if one.who == other.who => {}
                _ => return Possible::EITHER,
            }
        }
        Possible::only((number, one.is_write).cmp(&(from, other.is_write)))
    }
}
