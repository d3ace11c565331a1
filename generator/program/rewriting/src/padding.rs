//! Windows beyond the edge of an array: the array is copied with its edge, once for all reads.

use itertools::Itertools;
use pushmem_nest::{
    Access, AffineIndex, Array, ArrayOrigin, Index, LARGEST_ARRAY, Load, Loop, MOST_DIMENSIONS, Node, Operation,
    Program, Witness, ranges,
};

use crate::levels::{body_at, lanes_along, variables_along};

/// Copies arrays with the edge that windows read beyond them. Where an index that leaves the array follows several loops, as that of
/// `outside(a[x + u - 1], 0)`, the iterations in which the element is there are no box of the loops, and a memory has no addresses
/// for them. So a nest writes `a_padded[i] = outside(a[i], 0)` for all indices of the window, and the statement reads
/// `a_padded`: of the copy, each index follows one loop.
///
/// The nest comes just before the outermost nest around the statement in which nothing writes the array; within loops that
/// take one slice of the array in each iteration, as a loop over images does.
#[must_use]
pub fn with_padding(program: Program) -> (Program, Witness) {
    let mut pass = Padding { program, copies: Vec::new() };
    while let Some(window) = pass.first_window(&pass.program.nest, &mut Vec::new(), &mut Vec::new()) {
        pass.pad(&window);
    }
    let witness = Witness::with_copies(&pass.program, pass.copies);
    (pass.program, witness)
}

/// The pass.
struct Padding {
    program: Program,
    /// The origins of the arrays that have been added.
    copies: Vec<ArrayOrigin>,
}

impl Padding {
    /// The first window beyond the edge of an array, in nodes within these loops. `path` is the place of each in the body of the one
    /// around it.
    fn first_window<'a>(
        &'a self,
        nodes: &'a [Node],
        around: &mut Vec<&'a Loop>,
        path: &mut Vec<usize>,
    ) -> Option<Window> {
        for (place, node) in nodes.iter().enumerate() {
            path.push(place);
            let mut found = self.window_in(node, around, path);
            if let (None, Node::Loop(inner)) = (&found, node) {
                around.push(inner);
                found = self.first_window(&inner.body, around, path);
                around.pop();
            }
            path.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The window of a load in a node beyond the edge of an array that can be copied just before the node.
    fn window_in<'a>(&'a self, node: &'a Node, around: &[&'a Loop], path: &[usize]) -> Option<Window> {
        let depth = around.len();
        let mut loads = Vec::new();
        node.loads(&mut around.to_vec(), &mut loads);
        loads.retain(|(loops, load)| self.stays_or_leaves_inside(loops, load, depth));
        let (_, first) = loads.iter().find(|(loops, load)| {
            let array = load.access.array;
            self.leaves_by_several(loops, load) && !node.writes(array) && !goes_through(node, array, depth)
        })?;
        let slice = Slice::of(first, depth);
        loads.retain(|(_, load)| Slice::of(load, depth) == slice);
        let bounds = (0..slice.parts.len()).filter(|&dimension| slice.parts[dimension].moves).map(|dimension| {
            let of_loads = loads.iter().map(|(loops, load)| {
                let inside = inside(&load.access.indices[dimension].affine, depth);
                inside.range(&ranges(loops.iter().copied()))
            });
            of_loads.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).expect("one load at least")
        });
        let bounds = bounds.collect_vec();
        let mut sizes = bounds.iter().map(|(low, high)| high - low + 1);
        let fits = sizes.try_fold(1_i64, i64::checked_mul).is_some_and(|size| size <= LARGEST_ARRAY);
        (fits && bounds.len() <= MOST_DIMENSIONS).then(|| Window { path: path.to_vec(), slice, bounds })
    }

    /// The indices of a load with which it leaves its array in some iterations.
    fn leaving<'a>(&self, loops: &[&Loop], load: &'a Load) -> Vec<&'a Index> {
        let array = &self.program.arrays[load.access.array];
        let ranges = ranges(loops.iter().copied());
        let leaves = |(dimension, index): &(usize, &Index)| {
            let (low, high) = index.range(&ranges);
            low < array.min[*dimension] || high > array.max(*dimension)
        };
        load.access.indices.iter().enumerate().filter(leaves).map(|(_, index)| index).collect()
    }

    /// Whether a load has a value outside of its array, and affine indices, and leaves the array along none that follow the
    /// outermost `depth` loops.
    fn stays_or_leaves_inside(&self, loops: &[&Loop], load: &Load, depth: usize) -> bool {
        let is_inside = |index: &&Index| index.affine.terms.iter().all(|(variable, _)| *variable >= depth);
        load.outside.is_some() && load.access.is_affine() && self.leaving(loops, load).iter().all(is_inside)
    }

    /// Whether a load leaves its array along an index that follows several loops.
    fn leaves_by_several(&self, loops: &[&Loop], load: &Load) -> bool {
        let moving =
            |index: &&Index| index.affine.terms.iter().filter(|(variable, _)| loops[*variable].extent > 1).count() > 1;
        self.leaving(loops, load).iter().any(moving)
    }

    /// Puts the copy of an array before the node of a window, and lets its loads read it.
    fn pad(&mut self, Window { path, slice, bounds }: &Window) {
        let from = &self.program.arrays[slice.array];
        let (element, span, rank, depth) = (from.element, from.span, bounds.len(), path.len() - 1);
        let name = self.program.unused_name(&format!("{}_padded", from.name), &[]);
        let (min, shape) = bounds.iter().map(|(low, high)| (*low, high - low + 1)).unzip();
        let padded = self.program.arrays.len();
        self.program.arrays.push(Array::buffer(name.clone(), element, min, shape, span));
        let (around, place) = (&path[..depth], path[depth]);
        slice.redirect(&mut body_at(&mut self.program.nest, around)[place], depth, padded);
        // Loops are numbered from the outermost, dimensions from the innermost.
        let own = (0..rank).map(|dimension| Index::variable(depth + rank - 1 - dimension)).collect_vec();
        let mut dimensions = 0..rank;
        let elements = slice.parts.iter().map(|part| {
            let own = if part.moves { dimensions.next() } else { None };
            own.map_or(part.outer.clone(), |own| {
                let own = AffineIndex::variable(depth + own);
                part.outer.plus(&own, 1).expect("it has no more terms than an index of the program")
            })
        });
        let outside = Some(slice.outside);
        let origin = ArrayOrigin { outside, ..ArrayOrigin::held(slice.array, depth, elements.collect()) };
        let target = Access::new(padded, own, span);
        let load = origin.load(&target).expect("it has no more terms than an index of the program");
        let operation = Operation::copy(name, target, load, element);
        self.copies.push(origin);
        let together = (0..rank).map(|dimension| lanes_along(&self.program, padded, dimension)).collect_vec();
        let variables = variables_along(&self.program.nest, around);
        let variables = variables.iter().map(String::as_str).collect_vec();
        let mut copy = Node::Operation(Box::new(operation));
        for (dimension, ((low, high), unroll)) in bounds.iter().zip(together).enumerate() {
            let variable = self.program.unused_name(&format!("i{dimension}"), &variables);
            copy = Node::Loop(Loop { variable, min: *low, extent: high - low + 1, unroll, body: vec![copy], span });
        }
        body_at(&mut self.program.nest, around).insert(place, copy);
    }
}

/// Loads of a node that leave their array.
struct Window {
    /// The place of each loop around the node in the body of the one around it, and that of the node.
    path: Vec<usize>,
    slice: Slice,
    /// The least and the greatest index of all loads, of each dimension along which they move.
    bounds: Vec<(i64, i64)>,
}

/// The common part of the loads that can read one copy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slice {
    array: usize,
    /// The value outside of the array.
    outside: i64,
    /// Of each dimension.
    parts: Vec<Part>,
}

/// The index of a dimension, seen from just before the node.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// Whether it follows loops in the node.
    moves: bool,
    /// The part of it that loops around the node make; if it does not move, all of it.
    outer: AffineIndex,
}

impl Slice {
    /// That of a load in a node within so many loops.
    fn of(load: &Load, depth: usize) -> Slice {
        let part = |index: &Index| {
            let moves = index.affine.terms.iter().any(|(variable, _)| *variable >= depth);
            let terms = index.affine.terms.iter().filter(|(variable, _)| *variable < depth).copied().collect();
            let constant = if moves { 0 } else { index.affine.constant };
            Part { moves, outer: AffineIndex { constant, terms } }
        };
        let parts = load.access.indices.iter().map(part).collect();
        Slice { array: load.access.array, outside: load.outside.unwrap_or(0), parts }
    }

    /// Lets the loads of a node that have it read a copy of it.
    fn redirect(&self, node: &mut Node, depth: usize, copy: usize) {
        match node {
            Node::Loop(inner) => inner.body.iter_mut().for_each(|node| self.redirect(node, depth, copy)),
            Node::Operation(operation) => {
                for load in &mut operation.loads {
                    if load.outside.is_none() || !load.access.is_affine() || Slice::of(load, depth) != *self {
                        continue;
                    }
                    let moving = load.access.indices.iter().zip(&self.parts).filter(|(_, part)| part.moves);
                    let indices =
                        moving.map(|(index, _)| Index { affine: inside(&index.affine, depth), pieces: Vec::new() });
                    let access = Access::new(copy, indices.collect(), load.access.span);
                    *load = Load { access, outside: None };
                }
            }
        }
    }
}

/// The part of an index that loops inside of the outermost `depth` make, and its constant.
fn inside(index: &AffineIndex, depth: usize) -> AffineIndex {
    let terms = index.terms.iter().filter(|(variable, _)| *variable >= depth).copied().collect();
    AffineIndex { constant: index.constant, terms }
}

/// Whether it is a loop, numbered from the outermost, each of whose iterations takes a slice of an array: its variable alone is the
/// index of a dimension.
fn goes_through(node: &Node, array: usize, variable: usize) -> bool {
    let Node::Loop(inner) = node else { return false };
    let mut accesses = Vec::new();
    node.accesses(array, &mut accesses);
    let own = Index::variable(variable);
    let slices = |access: &&Access| {
        let (alone, others): (Vec<&Index>, Vec<&Index>) = access.indices.iter().partition(|index| **index == own);
        alone.len() == 1 && others.iter().all(|index| !index.variables().contains(&variable))
    };
    inner.unroll == 1 && accesses.iter().all(slices)
}
