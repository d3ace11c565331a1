//! The copies of an operation that one datapath computes.

use pushmem_nest::{Access, Index, Loop, Operation, Program};

/// The copies of an operation that are executed together, and their loads: copy by copy, then of a reduction the old value
/// of the target.
pub struct Copies<'a> {
    /// The operation.
    pub operation: &'a Operation,
    /// The loops around the operation, outermost first.
    pub loops: Vec<&'a Loop>,
    /// For each copy, the lane of each loop, innermost first.
    lanes: Vec<Vec<i64>>,
}

/// The value of a loop variable in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Always this number: all iterations are executed together.
    Fixed(i64),
    /// So much more than the variable in the first copy.
    Moved(i64),
}

impl<'a> Copies<'a> {
    /// Those of an operation of the program.
    pub fn new(program: &'a Program, operation: &'a Operation) -> Self {
        let found = program.operations().into_iter().find(|(_, other)| other.name == operation.name);
        Self::within(found.map(|(loops, _)| loops).unwrap_or_default(), operation)
    }

    /// Those of an operation with these loops around it, outermost first.
    pub fn within(loops: Vec<&'a Loop>, operation: &'a Operation) -> Self {
        let lanes = operation.copies_together(&loops);
        Self { operation, loops, lanes }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.lanes.len()
    }

    /// The least and the greatest value of each variable in the first copy, outermost first.
    pub fn ranges(&self) -> Vec<(i64, i64)> {
        let range = |(variable, level): (usize, &&Loop)| {
            let lanes = if self.operation.merges(variable) { level.unroll } else { 1 };
            (level.min, level.max() - (lanes - 1))
        };
        self.loops.iter().enumerate().map(range).collect()
    }

    /// The number of the first load of a copy.
    pub fn first_load(&self, copy: usize) -> usize {
        copy * self.operation.loads.len()
    }

    /// The value of a variable in a copy.
    pub fn place(&self, copy: usize, variable: usize) -> Place {
        let level = self.loops[variable];
        let lane = self.lanes[copy][self.loops.len() - 1 - variable];
        match self.operation.merges(variable) && level.unroll == level.extent {
            true => Place::Fixed(level.min + lane),
            false => Place::Moved(lane),
        }
    }

    /// The elements that are read, in terms of the variables of the first copy.
    pub fn reads(&self) -> Vec<Access> {
        let copies = 0..self.count();
        let loads =
            copies.flat_map(|copy| self.operation.loads.iter().map(move |load| self.access(copy, &load.access)));
        loads.chain(self.operation.reduction.map(|_| self.operation.target.clone())).collect()
    }

    fn access(&self, copy: usize, access: &Access) -> Access {
        let index = |index: &Index| {
            (0..self.loops.len()).fold(index.clone(), |index, variable| {
                let by = match self.place(copy, variable) {
                    Place::Fixed(number) => Some(Index::constant(number)),
                    Place::Moved(0) => None,
                    Place::Moved(lane) => Index::variable(variable).plus(&Index::constant(lane), 1),
                };
                by.and_then(|by| index.substituted(variable, &by)).unwrap_or(index)
            })
        };
        Access { indices: access.indices.iter().map(index).collect(), ..access.clone() }
    }
}
