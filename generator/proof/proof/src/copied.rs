//! The proof that a program with arrays that copy others computes what the program says.
//!
//! Each such array has one writer, a nest that copies elements of another array to it. A load of it is, in each iteration, a load of the
//! element that was copied: the loads of the program are found again by putting the source of the copy in their place. Without the
//! nests that copy, the program must be the one that is given; and the array that is copied must not change between the
//! copy and the loads.

use pushmem_nest::{Access, ArrayKind, ExpressionKind, Index, Load, Loop, Node, Operation, Program, ranges};

use crate::error::{PartError, require};

/// Proves that `copied`, which has copies after the arrays of `source`, computes the same outputs.
///
/// # Errors
/// The first operation that does not compute its part.
pub fn prove_copies(source: &Program, copied: &Program) -> Result<(), PartError> {
    let whole = || "the program".to_owned();
    let count = source.arrays.len();
    let (arrays, added) = copied.arrays.split_at(count.min(copied.arrays.len()));
    require(arrays == source.arrays && copied.tables == source.tables, whole, "an array or a table is another")?;
    require(added.iter().all(|array| array.kind == ArrayKind::Buffer), whole, "a copy is no buffer")?;
    let copies: Vec<_> =
        copied.operations().into_iter().filter(|(_, operation)| operation.target.array >= count).collect();
    for array in count..copied.arrays.len() {
        let writers = copies.iter().filter(|(_, operation)| operation.target.array == array).count();
        require(writers == 1, || copied.arrays[array].name.clone(), "it has not one writer")?;
    }
    let nest = Restoring { copied, count }.body(&copied.nest, &mut Vec::new(), &[])?;
    require(nest == source.nest, whole, "a statement is another, or stands elsewhere")
}

/// A nest that copies elements, seen from what comes after it.
#[derive(Clone)]
struct Copy<'a> {
    operation: &'a Operation,
    /// How many loops are around it and around all that may load what it copied.
    depth: usize,
    /// The loops around the operation, outermost first.
    loops: Vec<&'a Loop>,
}

/// The search for the loads of the program.
struct Restoring<'a> {
    copied: &'a Program,
    /// How many arrays the program has without copies.
    count: usize,
}

impl<'a> Restoring<'a> {
    /// The nodes of the program in these loops, where the elements of these copies can be loaded.
    fn body(&self, nodes: &'a [Node], around: &mut Vec<&'a Loop>, known: &[Copy<'a>]) -> Result<Vec<Node>, PartError> {
        // Elements that are copied in these loops are others in their next iteration.
        let mut known = known.to_vec();
        let mut restored = Vec::new();
        for node in nodes {
            if let Some((operation, inside)) = self.copy_nest(node) {
                let copy = Copy { operation, depth: around.len(), loops: [around.as_slice(), &inside].concat() };
                self.check(&copy)?;
                known.push(copy);
                continue;
            }
            // A copy is void from the node on that writes the array it was made of.
            known.retain(|copy| !writes(node, copy.operation.loads[0].access.array));
            restored.push(match node {
                Node::Operation(operation) => Node::Operation(Box::new(self.operation(operation, around, &known)?)),
                Node::Loop(inner) => {
                    around.push(inner);
                    let body = self.body(&inner.body, around, &known)?;
                    around.pop();
                    Node::Loop(Loop { body, ..inner.clone() })
                }
            });
        }
        Ok(restored)
    }

    /// The operation of a nest that copies, and its loops within the nest.
    fn copy_nest(&self, node: &'a Node) -> Option<(&'a Operation, Vec<&'a Loop>)> {
        let (mut node, mut loops) = (node, Vec::new());
        loop {
            match node {
                Node::Operation(operation) => {
                    return (operation.target.array >= self.count).then_some((operation, loops));
                }
                Node::Loop(inner) => {
                    loops.push(inner);
                    let [only] = inner.body.as_slice() else { return None };
                    node = only;
                }
            }
        }
    }

    /// Checks that a nest only copies, each element of the array that it writes in an iteration of its own.
    fn check(&self, Copy { operation, depth, loops }: &Copy) -> Result<(), PartError> {
        let name = || operation.name.clone();
        let only_copies = operation.reduction.is_none()
            && operation.share.is_none()
            && operation.loads.len() == 1
            && operation.expression.kind == ExpressionKind::Load(0);
        require(only_copies, name, "it does not only copy")?;
        let (from, to) = (operation.loads[0].access.array, operation.target.array);
        let same_type = self.copied.arrays[from].element == self.copied.arrays[to].element;
        require(from < self.count && same_type, name, "it copies elements of another type, or of a copy")?;
        let written: Option<Vec<usize>> = operation.target.indices.iter().map(variable).collect();
        let written = written.unwrap_or_default();
        let along = |level: usize| written.contains(&level);
        let once = written.iter().enumerate().all(|(place, level)| !written[..place].contains(level))
            && written.len() == operation.target.indices.len()
            && (*depth..loops.len()).all(along);
        require(once, name, "it writes an element in several iterations")
    }

    /// An operation as it is in the program.
    fn operation(&self, operation: &Operation, around: &[&Loop], known: &[Copy]) -> Result<Operation, PartError> {
        let name = || operation.name.clone();
        let load = |load: &Load| {
            if load.access.array < self.count {
                return Some(load.clone());
            }
            let mut copies = known.iter().filter(|copy| copy.operation.target.array == load.access.array);
            copies.next().filter(|_| load.outside.is_none()).and_then(|copy| source_of(copy, &load.access, around))
        };
        let loads: Option<Vec<Load>> = operation.loads.iter().map(load).collect();
        require(loads.is_some(), name, "it loads what is not copied by then")?;
        Ok(Operation { loads: loads.unwrap_or_default(), ..operation.clone() })
    }
}

/// The load whose element was copied to the element that an access touches.
fn source_of(copy: &Copy, access: &Access, around: &[&Loop]) -> Option<Load> {
    let Copy { operation, depth, loops } = copy;
    // The value of each variable of the copy in the iteration that copied the element: those of the loops around both are the same.
    let mut values: Vec<Index> = (0..loops.len()).map(Index::variable).collect();
    for (target, index) in operation.target.indices.iter().zip(&access.indices) {
        let level = variable(target)?;
        if level < *depth {
            (*index == values[level]).then_some(())?;
            continue;
        }
        let (low, high) = index.range(&ranges(around.iter().copied()));
        (loops[level].min <= low && high <= loops[level].max()).then_some(())?;
        values[level] = index.clone();
    }
    let from = &operation.loads[0];
    let moved = |index: &Index| {
        let affine = index.as_affine()?;
        affine
            .terms
            .iter()
            .try_fold(Index::constant(affine.constant), |sum, &(level, step)| sum.plus(values.get(level)?, step))
    };
    let indices = from.access.indices.iter().map(moved).collect::<Option<_>>()?;
    let access = Access::new(from.access.array, indices, access.span);
    Some(Load { access, outside: from.outside })
}

/// The variable that an index is.
fn variable(index: &Index) -> Option<usize> {
    let affine = index.as_affine().filter(|affine| affine.constant == 0)?;
    match affine.terms[..] {
        [(variable, 1)] => Some(variable),
        _ => None,
    }
}

/// Whether a node writes an array.
fn writes(node: &Node, array: usize) -> bool {
    match node {
        Node::Operation(operation) => operation.target.array == array,
        Node::Loop(inner) => inner.body.iter().any(|node| writes(node, array)),
    }
}
