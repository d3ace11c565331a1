//! Reductions of a program: the nests whose loops can be cut into blocks in any order.

use itertools::Itertools;
use pushmem_nest::{Access, AffineIndex, ArrayKind, Index, Loop, Node, Operation, Program};

use crate::nests::{PerfectNest, distributed};

/// A nest that adds to the elements of an array, or joins with them otherwise, in any order, with the nests beside it that begin and use its
/// sums.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// The program, in which the three are nests of their own.
    pub(crate) program: Program,
    /// The place of the nest in the program.
    pub(crate) place: usize,
    /// The nest itself.
    pub(crate) update: PerfectNest,
    /// The nest that gives each sum its first value, with its place, if one goes through all of them.
    pub(crate) start: Option<(usize, Elementwise)>,
    /// The nest that alone uses each sum, once, with its place, if there is one.
    pub(crate) result: Option<(usize, Elementwise)>,
    /// Arrays that it reads and that can be copied in blocks.
    pub(crate) operands: Vec<Operand>,
}

/// A nest of an iteration for each element of an array.
#[derive(Clone, Debug)]
pub(crate) struct Elementwise {
    pub nest: PerfectNest,
    /// For each dimension of the array, the loop that goes through it.
    pub loop_of: Vec<usize>,
}

/// An array of which the nest reads blocks.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    /// The array.
    pub array: usize,
    /// The indices of each of its loads.
    pub loads: Vec<Vec<AffineIndex>>,
}

impl Reduction {
    /// The reductions of a program, those with the most iterations first.
    pub fn all(program: &Program) -> Vec<Self> {
        let found = (0..program.nest.len()).flat_map(|place| Self::at(program, place)).collect_vec();
        found.into_iter().sorted_by_key(|reduction| std::cmp::Reverse(reduction.iterations())).collect()
    }

    /// Those of a node of the program.
    fn at(program: &Program, place: usize) -> Vec<Self> {
        let nodes = distributed(program.nest[place].clone(), 0);
        let last = place + nodes.len();
        let mut program = program.clone();
        program.nest.splice(place..=place, nodes);
        (place..last).filter_map(|place| Self::of(&program, place)).collect()
    }

    fn of(program: &Program, place: usize) -> Option<Self> {
        let update = PerfectNest::of(&program.nest[place])?;
        let Operation { target, reduction, expression, share, loads, .. } = &update.operation;
        let sums = target.array;
        let declared = &program.arrays[sums];
        let is_free = reduction.is_some() && !update.operation.sums_in_order() && share.is_none();
        let reads_others = loads.iter().all(|load| load.access.array != sums && load.access.computed.is_none());
        let is_plain = is_affine(target) && reads_others && !declared.random_access;
        if !is_free || !is_plain || expression.uses_variables() {
            return None;
        }
        let others = (program.nest.iter().enumerate()).filter(|(other, node)| *other != place && node.uses(sums));
        let others = others.map(|(other, _)| other).collect_vec();
        let start = others.iter().filter(|other| **other < place).exactly_one().ok();
        let start = start.and_then(|start| Some((*start, Elementwise::writing(program, *start, sums)?)));
        let start = start.filter(|(start, each)| may_move(program, &each.nest, *start, place));
        let result = others.iter().filter(|other| **other > place).exactly_one().ok();
        let result = result.and_then(|result| Some((*result, Elementwise::reading(program, *result, sums)?)));
        let result = result.filter(|(result, each)| {
            let written = each.nest.operation.target.array;
            // The results of a block are there before the next one begins.
            let stays_unread = start.iter().all(|(_, start)| !start.nest.uses(written)) && !update.uses(written);
            let is_buffer = declared.kind == ArrayKind::Buffer && start.is_some();
            is_buffer && stays_unread && may_move(program, &each.nest, place, *result)
        });
        let arrays = loads.iter().map(|load| load.access.array).unique();
        let operand = |array: usize| {
            let own = loads.iter().filter(|load| load.access.array == array).collect_vec();
            let is_plain = own.iter().all(|load| load.outside.is_none() && is_affine(&load.access));
            let of_load = |access: &Access| access.indices.iter().map(|index| index.affine.clone()).collect();
            let loads = own.iter().map(|load| of_load(&load.access)).collect();
            (is_plain && !program.arrays[array].random_access).then_some(Operand { array, loads })
        };
        let operands = arrays.filter_map(operand).collect();
        Some(Reduction { program: program.clone(), place, update, start, result, operands })
    }

    /// The name of its statement.
    pub fn name(&self) -> &str {
        &self.update.operation.name
    }

    /// Its loops, outermost first, without their bodies.
    pub fn loops(&self) -> impl Iterator<Item = &Loop> {
        self.update.loops.iter()
    }

    /// The iterations of an image.
    pub fn iterations(&self) -> i64 {
        self.update.loops.iter().map(|level| level.extent).product()
    }

    /// The array of its sums.
    pub(crate) fn sums(&self) -> usize {
        self.update.operation.target.array
    }

    /// The indices of its sums.
    pub(crate) fn sum_indices(&self) -> Vec<AffineIndex> {
        self.update.operation.target.indices.iter().map(|index| index.affine.clone()).collect()
    }
}

impl Elementwise {
    /// The nest at a place if it writes each element of an array once, of nothing that it reads of it.
    fn writing(program: &Program, place: usize, array: usize) -> Option<Self> {
        let nest = PerfectNest::of(&program.nest[place])?;
        let Operation { target, reduction, loads, .. } = &nest.operation;
        let is_plain = reduction.is_none() && loads.iter().all(|load| load.access.array != array);
        if !is_plain || target.array != array {
            return None;
        }
        let target = target.clone();
        Self::new(program, nest, &target)
    }

    /// The nest at a place if it reads each element of an array once.
    fn reading(program: &Program, place: usize, array: usize) -> Option<Self> {
        let nest = PerfectNest::of(&program.nest[place])?;
        let load = nest.operation.loads.iter().filter(|load| load.access.array == array).exactly_one().ok()?;
        let target = &nest.operation.target;
        let reads_own = nest.operation.loads.iter().any(|load| load.access.array == target.array);
        if nest.operation.reduction.is_some() || reads_own || load.outside.is_some() || !nest.writes_apart() {
            return None;
        }
        let access = load.access.clone();
        Self::new(program, nest, &access)
    }

    fn new(program: &Program, nest: PerfectNest, access: &Access) -> Option<Self> {
        let Operation { loads, expression, share, .. } = &nest.operation;
        if share.is_some() || expression.uses_variables() || access.computed.is_some() {
            return None;
        }
        if loads.iter().any(|load| load.access.computed.is_some()) {
            return None;
        }
        let declared = &program.arrays[access.array];
        let through = |(dimension, index): (usize, &Index)| {
            let place = nest.loops.iter().enumerate().position(|(variable, _)| *index == Index::variable(variable))?;
            let Loop { min, extent, .. } = nest.loops[place];
            ((min, extent) == (declared.min[dimension], declared.shape[dimension])).then_some(place)
        };
        let loop_of = access.indices.iter().enumerate().map(through).collect::<Option<Vec<_>>>()?;
        (loop_of.len() == nest.loops.len() && loop_of.iter().all_unique()).then_some(Elementwise { nest, loop_of })
    }
}

/// Whether a nest may go from one of two places of the program to the other: nothing between writes what it reads, or uses what it writes.
fn may_move(program: &Program, nest: &PerfectNest, from: usize, to: usize) -> bool {
    let between = &program.nest[from + 1..to];
    let reads = |node: &Node| nest.operation.loads.iter().any(|load| node.writes(load.access.array));
    !between.iter().any(|node| reads(node) || node.uses(nest.operation.target.array))
}

fn is_affine(access: &Access) -> bool {
    access.computed.is_none() && access.indices.iter().all(|index| index.as_affine().is_some())
}
