//! The operations of a nest that a few elements depend on.
//!
//! Operations are walked from the last to the first, with the elements that are needed where the walk is. Loops are halved as long as a
//! half may write a needed element, which the ranges of indices tell: what is not needed is not visited.

use std::collections::BTreeSet;

use pushmem_nest::{Access, Node, Operation, Program};

use super::machine::{Execution, Exhausted, Steps};

/// The operations that elements of an array depend on, in the order of execution. Their steps are subtracted from `allowed`.
pub(crate) fn needed_for<'a>(
    program: &'a Program,
    steps: &Steps,
    array: usize,
    places: &[usize],
    allowed: &mut u64,
) -> Result<Vec<Execution<'a>>, Exhausted> {
    let mut slicer = Slicer {
        program,
        steps,
        needed: vec![BTreeSet::new(); program.arrays.len()],
        whole: vec![false; program.arrays.len()],
        ranges: Vec::new(),
        found: Vec::new(),
        allowed,
    };
    slicer.needed[array].extend(places.iter().map(|place| *place as i64));
    slicer.nodes(&program.nest)?;
    slicer.found.reverse();
    Ok(slicer.found)
}

struct Slicer<'a, 'b> {
    program: &'a Program,
    steps: &'b Steps<'b>,
    /// Of each array, the flat places of the elements that are needed.
    needed: Vec<BTreeSet<i64>>,
    /// The arrays of which any element may be needed, as data choose it.
    whole: Vec<bool>,
    /// The values of the variables of the loops around.
    ranges: Vec<(i64, i64)>,
    found: Vec<Execution<'a>>,
    allowed: &'b mut u64,
}

impl<'a> Slicer<'a, '_> {
    fn charge(&mut self, steps: u64) -> Result<(), Exhausted> {
        *self.allowed = self.allowed.checked_sub(steps).ok_or(Exhausted)?;
        Ok(())
    }

    /// From the last to the first.
    fn nodes(&mut self, nodes: &'a [Node]) -> Result<(), Exhausted> {
        for node in nodes.iter().rev() {
            match node {
                Node::Operation(operation) => self.operation(operation)?,
                Node::Loop(each) => {
                    self.ranges.push((each.min, each.max()));
                    self.iterations(&each.body)?;
                    self.ranges.pop();
                }
            }
        }
        Ok(())
    }

    /// The iterations of the innermost loop around.
    fn iterations(&mut self, body: &'a [Node]) -> Result<(), Exhausted> {
        let depth = self.ranges.len() - 1;
        let (first, last) = self.ranges[depth];
        if !self.writes(body)? {
            return Ok(());
        }
        if first == last {
            return self.nodes(body);
        }
        let middle = first + (last - first) / 2;
        for half in [(middle + 1, last), (first, middle)] {
            self.ranges[depth] = half;
            self.iterations(body)?;
        }
        self.ranges[depth] = (first, last);
        Ok(())
    }

    /// Whether operations may write what is needed.
    fn writes(&mut self, nodes: &'a [Node]) -> Result<bool, Exhausted> {
        for node in nodes {
            self.charge(1)?;
            let found = match node {
                Node::Operation(operation) => self.is_needed(&operation.target),
                Node::Loop(each) => {
                    self.ranges.push((each.min, each.max()));
                    let found = self.writes(&each.body)?;
                    self.ranges.pop();
                    found
                }
            };
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_needed(&self, target: &Access) -> bool {
        let needed = &self.needed[target.array];
        let (low, high) = self.places(target);
        self.whole[target.array] || low <= high && needed.range(low..=high).next().is_some()
    }

    /// The least and the greatest place of an element in these ranges. Data may choose any.
    fn places(&self, access: &Access) -> (i64, i64) {
        let array = &self.program.arrays[access.array];
        if access.computed.is_some() {
            return (0, array.size() as i64 - 1);
        }
        let (mut low, mut high, mut stride) = (0, 0, 1);
        for (index, (min, extent)) in access.indices.iter().zip(array.min.iter().zip(&array.shape)) {
            let (first, last) = index.range(&self.ranges);
            low += (first - min) * stride;
            high += (last - min) * stride;
            stride *= extent;
        }
        (low, high)
    }

    fn operation(&mut self, operation: &'a Operation) -> Result<(), Exhausted> {
        if !self.is_needed(&operation.target) {
            return Ok(());
        }
        self.charge(self.steps.cost(operation))?;
        let variables: Vec<i64> = self.ranges.iter().map(|range| range.0).collect();
        if operation.target.computed.is_none() {
            let place = self.places(&operation.target).0;
            self.needed[operation.target.array].remove(&place);
        }
        for access in operation.reads() {
            let array = &self.program.arrays[access.array];
            if access.computed.is_some() {
                self.whole[access.array] = true;
                continue;
            }
            let indices: Vec<i64> = access.indices.iter().map(|index| index.evaluate(&variables)).collect();
            self.needed[access.array].extend(array.place(&indices).map(|place| place as i64));
        }
        self.found.push((operation, variables));
        Ok(())
    }
}
