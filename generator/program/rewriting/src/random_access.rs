//! Arrays in random-access memories: those with accesses whose indices depend on data.
//!
//! To the passes behind this one such an array has one element, which each access reads and writes: the contents of the memory as a
//! whole. So accesses stay in the order of the program, whatever their addresses are.

use std::collections::BTreeSet;
use std::sync::Arc;

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_nest::{
    Access, ArrayKind, Binary, Expression, ExpressionKind, Index, LARGEST_RANDOM_ACCESS, Level, Load, Loop, Operation,
    Piece, Policy, Program, Span, Type, Witness,
};

use crate::levels::insert_copy;

/// Makes the accesses of arrays in random-access memories alike: each computes its indices, and an update reads its element by a
/// load of its own. Inputs and outputs are streams still; a copy fills their memory before its first use, or empties it after its
/// last.
///
/// # Errors
/// An array that a random-access memory cannot hold, and copies of a statement that write one at the same time.
pub fn with_random_access(mut program: Program) -> Result<(Program, Witness), Diagnostic> {
    let arrays = (0..program.arrays.len()).filter(|&array| program.arrays[array].random_access).collect_vec();
    check(&program, &arrays)?;
    let (buffers, streams): (Vec<usize>, Vec<usize>) =
        arrays.into_iter().partition(|&array| program.arrays[array].kind == ArrayKind::Buffer);
    let mut memories: BTreeSet<usize> = buffers.into_iter().collect();
    let mut copies = Vec::new();
    for array in streams {
        // The buffer takes the place of the stream.
        program.arrays[array].level = Some(Level::Memory);
        copies.push(insert_copy(&mut program, array));
        program.arrays[array].random_access = false;
        let buffer = program.arrays.len() - 1;
        program.arrays[buffer].level = None;
        memories.insert(buffer);
    }
    let witness = Witness::with_copies(&program, copies);
    let least = program.arrays.iter().map(|array| array.min.clone()).collect_vec();
    let first = |array: usize| least[array].iter().map(|least| Index::constant(*least)).collect_vec();
    for operation in program.operations_mut() {
        if let Some(operator) = operation.reduction.filter(|_| memories.contains(&operation.target.array)) {
            update(operation, operator);
        }
        let loads = operation.loads.iter_mut().map(|load| &mut load.access);
        for access in loads.chain([&mut operation.target]).filter(|access| memories.contains(&access.array)) {
            let span = access.span;
            access.computed.get_or_insert_with(|| access.indices.iter().map(|index| value(index, span)).collect());
            access.indices = first(access.array);
        }
    }
    Ok((program, witness))
}

/// Refuses arrays that a random-access memory cannot hold, and uses that it cannot serve.
fn check(program: &Program, arrays: &[usize]) -> Result<(), Diagnostic> {
    for array in arrays.iter().map(|&array| &program.arrays[array]) {
        let refuse = |message: String, help: &str| Err(program.diagnostic(array.span, message).with_help(help));
        let name = &array.name;
        if array.size() > LARGEST_RANDOM_ACCESS {
            let message = format!(
                "data decide which of the {} elements of `{name}` are used; a random-access memory has at most {LARGEST_RANDOM_ACCESS}",
                array.size()
            );
            return refuse(message, "divide the work into parts that use fewer elements");
        }
        if let Some(level) = array.level {
            let message = format!("`level: {}` of `{name}`, whose elements are chosen by data", level.name());
            return refuse(message, "remove `level`: the array is in a random-access memory");
        }
    }
    if let (Some(Policy::Stencil), Some(&array)) = (program.schedule, arrays.first()) {
        let message = "an image pipeline keeps no array, and data decide which elements of this one are used";
        let diagnostic = program.diagnostic(program.arrays[array].span, message);
        return Err(diagnostic.with_help("remove `schedule: stencil`"));
    }
    let uses = |access: &Access| arrays.contains(&access.array);
    for (loops, operation) in program.operations() {
        let outside = operation.loads.iter().find(|load| load.outside.is_some() && uses(&load.access));
        if let Some(load) = outside {
            let name = &program.arrays[load.access.array].name;
            let message = format!("`outside` of `{name}`, whose elements are chosen by data");
            let help = format!(
                "copy `{name}` with its edge to a buffer, and read that, or choose by `sel` between the value and a `clamp`ed index"
            );
            return Err(program.diagnostic(load.access.span, message).with_help(help));
        }
        if let Some(share) = operation.share.as_ref().filter(|_| operation.accesses().any(uses)) {
            let message = "a shared unit has no random-access memories";
            return Err(program.diagnostic(share.span, message).with_help("give the statement a unit of its own"));
        }
        let copied = loops.iter().find(|level| level.unroll > 1).filter(|_| uses(&operation.target));
        if let Some(Loop { variable, .. }) = copied {
            let name = &program.arrays[operation.target.array].name;
            let message = format!(
                "copies of this statement write `{name}` at the same time, and its memory takes one element a cycle"
            );
            let help = format!("leave the loop `{variable}` without `unroll`");
            return Err(program.diagnostic(operation.target.span, message).with_help(help));
        }
    }
    Ok(())
}

/// Makes an assignment of a reduction: its element is a load.
fn update(operation: &mut Operation, operator: Binary) {
    let value = operation.expression.value;
    let span = operation.expression.span;
    let old = Expression { kind: ExpressionKind::Load(operation.loads.len()), value, span };
    operation.loads.push(Load { access: operation.target.clone(), outside: None });
    let added = std::mem::replace(&mut operation.expression, old.clone());
    operation.expression = binary(operator, old, added);
    operation.reduction = None;
}

fn value(index: &Index, span: Span) -> Expression {
    let number = |number: i64| Expression { kind: ExpressionKind::Constant(number), value: Type::I32, span };
    let variable = |variable: usize| Expression { kind: ExpressionKind::Variable(variable), value: Type::I32, span };
    let piece = |piece: &Piece| match piece {
        Piece::Quotient { of, by } => binary(Binary::Divide, value(of, span), number(*by)),
        Piece::Remainder { of, by } => binary(Binary::Modulo, value(of, span), number(*by)),
        Piece::Clamp { of, low, high } => {
            binary(Binary::Maximum, binary(Binary::Minimum, value(of, span), number(*high)), number(*low))
        }
        Piece::Mirror { of, low, high } => {
            let period = 2 * (high - low + 1);
            let place = binary(Binary::Subtract, value(of, span), number(*low));
            let place = binary(Binary::Modulo, place, number(period));
            let back = binary(Binary::Subtract, number(period - 1), place.clone());
            binary(Binary::Add, binary(Binary::Minimum, place, back), number(*low))
        }
    };
    let scaled = |of: Expression, factor: i64| match factor {
        1 => of,
        factor => binary(Binary::Multiply, of, number(factor)),
    };
    let terms = index.affine.terms.iter().map(|&(of, factor)| scaled(variable(of), factor));
    let pieces = index.pieces.iter().map(|(factor, of)| scaled(piece(of), *factor));
    let constant = Some(number(index.affine.constant)).filter(|_| index.affine.constant != 0);
    let sum = terms.chain(pieces).chain(constant).reduce(|one, other| binary(Binary::Add, one, other));
    sum.unwrap_or_else(|| number(0))
}

/// An operator on two expressions of one type.
pub(crate) fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
    let (value, span) = (operator.result(left.value), left.span);
    Expression { kind: ExpressionKind::Binary { operator, left: Arc::new(left), right: Arc::new(right) }, value, span }
}
