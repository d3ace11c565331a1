//! Levels of the memory hierarchy: the copies between the streams at the boundary and the level where an array is to be.

use itertools::Itertools;
use pushmem_nest::{
    Access, AffineIndex, Array, ArrayKind, ArrayOrigin, Index, Load, Loop, Node, Operation, Program, Witness,
};

/// Makes the copies between levels part of the nest. An input or output with a [level](Array::level) becomes a stream,
/// and a buffer of that level, which the operations use in its place; a copy fills the buffer before its first use, or
/// empties it after its last.
///
/// The copy is within those outermost loops around all uses, and around other operations, that go through an outermost
/// dimension of the array, one element in each iteration, as a loop over images does. The buffer has the other dimensions
/// and is filled anew in each iteration, so that the next image is loaded while one is computed. It is copied as many
/// elements at a time as the lanes of unrolled loops use. The witness says which elements each buffer holds.
#[must_use]
pub fn with_copies(mut program: Program) -> (Program, Witness) {
    let has_copy = |(_, array): &(usize, &Array)| array.kind != ArrayKind::Buffer && array.level.is_some();
    let numbered = program.arrays.iter().enumerate().filter(has_copy);
    let (inputs, outputs): (Vec<_>, Vec<_>) = numbered.partition(|(_, array)| array.kind == ArrayKind::Input);
    // Copies of inputs each come before all else, so the last comes first.
    let order = inputs.into_iter().rev().chain(outputs).map(|(number, _)| number).collect_vec();
    let copies = order.into_iter().map(|array| insert_copy(&mut program, array)).collect();
    let witness = Witness::with_copies(&program, copies);
    (program, witness)
}

/// Puts a buffer of its level in the place of an input or output, and the nest that copies between the two. Gives the elements that the buffer
/// holds.
pub(crate) fn insert_copy(program: &mut Program, array: usize) -> ArrayOrigin {
    let path = loops_through(program, array);
    let stream = &program.arrays[array];
    let rank = stream.shape.len() - path.len();
    // A random-access memory takes one element a cycle.
    let lanes = |dimension: usize| if stream.random_access { 1 } else { lanes_along(program, array, dimension) };
    let together = (0..rank).map(lanes).collect_vec();
    let level = stream.level.expect("an array without a level is not copied");
    let buffer = Array {
        name: program.unused_name(&format!("{}_{}", stream.name, level.name()), &[]),
        kind: ArrayKind::Buffer,
        shape: stream.shape[..rank].to_vec(),
        min: stream.min[..rank].to_vec(),
        ..stream.clone()
    };
    let is_input = stream.kind == ArrayKind::Input;
    program.arrays[array].level = None;
    program.arrays.push(buffer);
    let buffer = program.arrays.len() - 1;
    redirect(program, array, buffer);
    let around = variables_along(&program.nest, &path);
    let around = around.iter().map(String::as_str).collect_vec();
    let copy = copy(program, array, buffer, &around, &together);
    let body = body_at(&mut program.nest, &path);
    body.insert(if is_input { 0 } else { body.len() }, copy);
    let depth = path.len();
    let elements = (0..rank).map(|dimension| depth + dimension).chain((0..depth).rev());
    ArrayOrigin::held(array, depth, elements.map(AffineIndex::variable).collect())
}

/// The outermost loops around all uses of an array and around several operations, each of which goes through its outermost
/// dimension but those of the loops around it: the place of each in the body of the one before. A dimension is left for
/// the buffer.
fn loops_through(program: &Program, array: usize) -> Vec<usize> {
    let Array { shape, min, .. } = &program.arrays[array];
    let mut path: Vec<usize> = Vec::new();
    let mut body = &program.nest;
    while path.len() + 1 < shape.len() {
        let Ok((place, node)) = body.iter().enumerate().filter(|(_, node)| node.uses(array)).exactly_one() else {
            break;
        };
        let Node::Loop(inner) = node else { break };
        let (variable, dimension) = (path.len(), shape.len() - 1 - path.len());
        let own = Index { affine: AffineIndex::variable(variable), pieces: Vec::new() };
        let mut accesses = Vec::new();
        node.accesses(array, &mut accesses);
        let alone = accesses.iter().all(|access| {
            let mut others = access.indices[..dimension].iter();
            access.indices[dimension] == own && others.all(|index| !index.variables().contains(&variable))
        });
        let whole = (inner.min, inner.extent, inner.unroll) == (min[dimension], shape[dimension], 1);
        if !alone || !whole || node.operations() < 2 {
            break;
        }
        path.push(place);
        body = &inner.body;
    }
    path
}

/// How many successive elements along a dimension the lanes of an unrolled loop use together, where those of different
/// iterations do not overlap: as many divide the dimension.
pub(crate) fn lanes_along(program: &Program, array: usize, dimension: usize) -> i64 {
    let declared = &program.arrays[array];
    let lanes = program.operations().into_iter().flat_map(|(loops, operation)| {
        let accesses = operation.accesses().filter(|access| access.array == array);
        let indices = accesses.map(|access| &access.indices[dimension].affine).collect_vec();
        let lanes = indices.into_iter().flat_map(|affine| {
            let wide = affine.terms.iter().filter(|(variable, step)| *step == 1 && loops[*variable].unroll > 1);
            wide.map(|&(variable, _)| {
                let unroll = loops[variable].unroll;
                let apart = |&(other, step): &(usize, i64)| other == variable || step % unroll == 0;
                if affine.terms.iter().all(apart) { unroll } else { 1 }
            })
        });
        lanes.collect_vec()
    });
    lanes.filter(|lanes| declared.shape[dimension] % lanes == 0).max().unwrap_or(1)
}

/// Lets all operations use a buffer in the place of an array of at least as many dimensions.
fn redirect(program: &mut Program, array: usize, buffer: usize) {
    let (old, new) = (program.arrays[array].name.clone(), program.arrays[buffer].name.clone());
    let rank = program.arrays[buffer].shape.len();
    for operation in program.operations_mut() {
        if operation.target.array == array
            && let Some(number) = operation.name.strip_prefix(&old)
        {
            operation.name = format!("{new}{number}");
        }
        let loads = operation.loads.iter_mut().map(|load| &mut load.access);
        for access in loads.chain([&mut operation.target]).filter(|access| access.array == array) {
            access.array = buffer;
            access.indices.truncate(rank);
        }
    }
}

/// The nest that copies an input to its buffer, or a buffer to its output, within loops of these variables through the
/// outermost dimensions.
fn copy(program: &Program, array: usize, buffer: usize, around: &[&str], together: &[i64]) -> Node {
    let stream = &program.arrays[array];
    let (span, rank, depth) = (stream.span, together.len(), around.len());
    // Loops are numbered from the outermost, dimensions from the innermost.
    let index = |variable: usize| Index { affine: AffineIndex::variable(variable), pieces: Vec::new() };
    let in_buffer = (0..rank).map(|dimension| index(depth + rank - 1 - dimension));
    let in_stream = in_buffer.clone().chain((0..depth).rev().map(index));
    let of_stream = Access::new(array, in_stream.collect(), span);
    let of_buffer = Access::new(buffer, in_buffer.collect(), span);
    let (from, target) = match stream.kind {
        ArrayKind::Input => (of_stream, of_buffer),
        _ => (of_buffer, of_stream),
    };
    let name = program.arrays[target.array].name.clone();
    let operation = Operation::copy(name, target, Load { access: from, outside: None }, stream.element);
    let innermost = Node::Operation(Box::new(operation));
    (0..rank).fold(innermost, |body, dimension| {
        let variable = program.unused_name(&format!("i{dimension}"), around);
        let (min, extent) = (stream.min[dimension], stream.shape[dimension]);
        Node::Loop(Loop { variable, min, extent, unroll: together[dimension], body: vec![body], span })
    })
}

/// The names of the variables of loops, each at a place in the body of the one before.
pub(crate) fn variables_along(mut body: &[Node], path: &[usize]) -> Vec<String> {
    let mut variables = Vec::new();
    for &place in path {
        let Node::Loop(inner) = &body[place] else { unreachable!("a path goes through loops") };
        variables.push(inner.variable.clone());
        body = &inner.body;
    }
    variables
}

/// The body of the last of loops, each at a place in the body of the one before.
pub(crate) fn body_at<'a>(nest: &'a mut Vec<Node>, path: &[usize]) -> &'a mut Vec<Node> {
    path.iter().fold(nest, |body, &place| match &mut body[place] {
        Node::Loop(inner) => &mut inner.body,
        Node::Operation(_) => unreachable!("a path goes through loops"),
    })
}
