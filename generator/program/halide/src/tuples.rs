//! Updates of tuples, which compute all values before they store any.
//!
//! Halide prints `let f.0.value = …`, `let f.1.value = …`, and then the stores: what the second reads of `f.0` is what was
//! there before the first store.

use std::collections::{BTreeMap, BTreeSet};

use crate::syntax::{Expression, ExpressionKind, Statement, StatementKind};

/// The arrays that are stored in these statements and read for the stores of others, if a `let` that is used later than a store
/// means what was there before.
pub(crate) fn overtaken<'a>(statements: &[Statement<'a>]) -> BTreeSet<&'a str> {
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let (mut stored, mut read): (BTreeSet<&str>, BTreeSet<&str>) = (BTreeSet::new(), BTreeSet::new());
    let mut is_overtaken = false;
    for (place, statement) in statements.iter().enumerate() {
        match &statement.kind {
            StatementKind::Let { name, value } => _ = names.insert(name, loaded(value, &names)),
            StatementKind::Store { array, value, .. } => {
                stored.insert(array);
                read.extend(loaded(value, &names).into_iter().filter(|other| other != array));
                let before = names.iter().filter(|(_, arrays)| arrays.contains(array)).map(|(name, _)| *name);
                is_overtaken |= { before }.any(|name| is_used(name, &statements[place + 1..]));
            }
            _ => {}
        }
    }
    if is_overtaken { &stored & &read } else { BTreeSet::new() }
}

/// The arrays that a value depends on, those of names included.
fn loaded<'a>(value: &Expression<'a>, names: &BTreeMap<&str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut arrays = BTreeSet::new();
    visit(value, &mut |kind| match kind {
        ExpressionKind::Element(array, _) => _ = arrays.insert(*array),
        ExpressionKind::Name(name) => arrays.extend(names.get(name).into_iter().flatten()),
        _ => {}
    });
    arrays
}

/// Whether a name is used before it means something else.
fn is_used(name: &str, statements: &[Statement]) -> bool {
    let uses = |expression: &Expression| {
        let mut found = false;
        visit(expression, &mut |kind| found |= matches!(kind, ExpressionKind::Name(other) if *other == name));
        found
    };
    for statement in statements {
        let found = match &statement.kind {
            StatementKind::Produce { body, .. } | StatementKind::Consume { body } => is_used(name, body),
            StatementKind::For { first, extent, body, .. } => uses(first) || uses(extent) || is_used(name, body),
            StatementKind::Let { value, .. } => uses(value),
            StatementKind::Allocate { extents, .. } => extents.iter().any(uses),
            StatementKind::Store { index, value, .. } => uses(index) || uses(value),
            StatementKind::If { condition, then, otherwise } => {
                uses(condition) || is_used(name, then) || is_used(name, otherwise)
            }
        };
        if found {
            return true;
        }
        if matches!(&statement.kind, StatementKind::Let { name: other, .. } if *other == name) {
            return false;
        }
    }
    false
}

/// Shows an expression and all of its parts.
fn visit<'a, 'b>(expression: &'b Expression<'a>, show: &mut impl FnMut(&'b ExpressionKind<'a>)) {
    show(&expression.kind);
    match &expression.kind {
        ExpressionKind::Number(..) | ExpressionKind::Name(_) => {}
        ExpressionKind::Element(_, operand)
        | ExpressionKind::Not(operand)
        | ExpressionKind::Negate(operand)
        | ExpressionKind::Cast(_, operand) => visit(operand, show),
        ExpressionKind::Binary(_, left, right) => {
            visit(left, show);
            visit(right, show);
        }
        ExpressionKind::Call { arguments, .. } => arguments.iter().for_each(|argument| visit(argument, show)),
        ExpressionKind::Let { value, body, .. } => {
            visit(value, show);
            visit(body, show);
        }
    }
}
