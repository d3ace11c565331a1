//! Which write a read takes its value from, by the order of the program.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Mutex;

use itertools::Itertools;
use pushmem_stages::Staged;
use pushmem_stages::{Access, Stage};

use crate::error::{PartError, require};
use crate::places::Direction;
use crate::sequence::{Instance, Sequence};
use crate::writers::Writers;

/// The dependences of a program.
pub(crate) struct Dependences<'a> {
    pub sequence: Sequence<'a>,
    staged: Staged<'a>,
    pub writers: Writers,
    /// The stages of each write.
    by_write: HashMap<&'a Access, Vec<usize>>,
    /// The operations that write each array.
    operations: Vec<Vec<usize>>,
    /// Whether no element of an array is written twice, as far as that was asked.
    single: Mutex<HashMap<usize, bool>>,
}

impl<'a> Dependences<'a> {
    pub fn new(sequence: Sequence<'a>, staged: Staged<'a>) -> Self {
        let mut by_write: HashMap<&Access, Vec<usize>> = HashMap::new();
        for (number, stage) in staged.pipeline.stages.iter().enumerate() {
            by_write.entry(&stage.write).or_default().push(number);
        }
        let mut operations = vec![Vec::new(); staged.pipeline.arrays.len()];
        for (number, (_, operation)) in sequence.operations.iter().enumerate() {
            operations[operation.target.array].push(number);
        }
        let writers = Writers::of(staged);
        Dependences { sequence, staged, writers, by_write, operations, single: Mutex::default() }
    }

    fn stage(&self, stage: usize) -> &'a Stage {
        &self.staged.pipeline.stages[stage]
    }

    /// Whether each iteration of a write has an element of its own.
    pub fn writes_once(&self, write: &Instance) -> bool {
        let mut apart = Direction::all(write.places.depth()).filter(|direction| direction.then.is_some());
        apart.all(|direction| !write.places.meet(&write.places, direction))
    }

    /// Whether one access touches an element only on one side of another one, by the order of the program.
    pub fn is_ordered(&self, one: &Instance, other: &Instance, wanted: Ordering) -> bool {
        Direction::all(self.sequence.shared_by(one, other)).all(|direction| {
            let possible = self.sequence.compare(one, other, direction);
            let wrong = if wanted == Ordering::Less { possible.after } else { possible.before };
            !wrong || !one.places.meet(&other.places, direction)
        })
    }

    /// Checks that operations write and read elements in the order in which they stand: that an element has the value of the
    /// last one above the reader that writes it, and is written once by each. Of an operation itself, or one below the reader, all
    /// that is read is written before, in earlier iterations of the loops around both, or all of it after.
    ///
    /// # Errors
    /// The first operation that does not.
    pub fn check_order(&self) -> Result<(), PartError> {
        let operations = &self.sequence.operations;
        let require_order = |holds: bool, number: usize| {
            let name = || operations[number].1.name.clone();
            require(holds, name, "it has an element in another order than the program")
        };
        for writers in &self.operations {
            let writes = writers.iter().map(|&writer| self.sequence.write_of_operation(writer)).collect_vec();
            for (place, (&writer, write)) in writers.iter().zip(&writes).enumerate() {
                let after = writes[..place].iter().all(|before| self.is_ordered(before, write, Ordering::Less));
                require_order(self.writes_once(write) && after, writer)?;
            }
        }
        for reader in 0..operations.len() {
            for (array, read) in self.sequence.reads_of_operation(reader) {
                let ordered = self.operations[array].iter().all(|&writer| {
                    let write = self.sequence.write_of_operation(writer);
                    let is = |wanted: Ordering| self.is_ordered(&write, &read, wanted);
                    is(Ordering::Less) || (writer >= reader && is(Ordering::Greater))
                });
                require_order(ordered, reader)?;
            }
        }
        Ok(())
    }

    /// The stages whose result a read takes in the same iteration: of an array that the program writes, the one that writes
    /// the element last before the read; of an input all lanes that bring the element, each the same word.
    pub fn producers(&self, stage: usize, load: usize) -> Vec<usize> {
        let read = &self.stage(stage).reads[load];
        let bounds = |stage: usize| self.stage(stage).loops.iter().map(|level| (level.min, level.extent));
        let alike = self.by_write.get(read).into_iter().flatten().copied();
        let mut alike = alike.filter(|&writer| bounds(writer).eq(bounds(stage)));
        match self.operations[read.array].is_empty() {
            true => alike.collect(),
            false => alike.find(|&writer| self.is_last(writer, stage, load)).into_iter().collect(),
        }
    }

    /// How many outermost loops a stage shares with a reader that stands below it in each iteration of them; nothing if it does not,
    /// or they are in different lanes.
    pub fn shared_above(&self, writer: usize, reader: usize, load: usize) -> Option<usize> {
        let (write, read) = (self.sequence.write(writer), self.sequence.read(reader, load));
        let shared = self.sequence.shared(writer, reader);
        let possible = self.sequence.compare(&write, &read, Direction { equal: shared, then: None });
        let same_lane = |outer: usize| write.lane(outer).is_some_and(|lane| read.lane(outer) == Some(lane));
        (possible.before && !possible.after && (0..shared).all(same_lane)).then_some(shared)
    }

    /// Whether operations write an array, and none of its elements twice.
    pub fn is_single(&self, array: usize) -> bool {
        *self.single.lock().expect("no thread ends while it has it").entry(array).or_insert_with(|| {
            let writes =
                self.operations[array].iter().map(|&writer| self.sequence.write_of_operation(writer)).collect_vec();
            let apart = |[one, other]: [&Instance; 2]| !one.places.meet(&other.places, Direction::ANY);
            !writes.is_empty()
                && writes.iter().all(|write| self.writes_once(write))
                && writes.iter().array_combinations().all(apart)
        })
    }

    /// Whether, in each iteration, a stage writes the element before the read, and nothing writes it in between.
    fn is_last(&self, writer: usize, reader: usize, load: usize) -> bool {
        let (write, read) = (self.sequence.write(writer), self.sequence.read(reader, load));
        let same = Direction { equal: self.stage(reader).loops.len(), then: None };
        let comes_first = self.sequence.compare(&write, &read, same);
        if !comes_first.before || comes_first.after {
            return false;
        }
        let array = self.stage(writer).write.array;
        self.is_single(array)
            || self.writers.of_access(array, &read.places).into_iter().all(|other| {
                let between = self.sequence.write(other);
                let depth = self.sequence.shared(other, writer).max(self.sequence.shared(other, reader));
                Direction::all(depth).all(|direction| {
                    let is_between = self.sequence.compare(&between, &write, direction).after
                        && self.sequence.compare(&between, &read, direction).before;
                    !is_between || !between.places.meet(&read.places, direction)
                })
            })
    }
}
