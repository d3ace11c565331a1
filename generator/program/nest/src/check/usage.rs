//! Declarations and computations that no output uses.

use std::collections::BTreeSet;

use crate::expression::{Expression, ExpressionKind};
use crate::program::{ArrayKind, Program, Table};
use crate::source::Problem;

const UNUSED: &str = "remove it, or use it in the nest";

pub(super) fn check(program: &Program, warnings: &mut Vec<Problem>) {
    let operations = program.operations();
    // Arrays on which an output depends, found backwards from the outputs.
    let mut live: BTreeSet<usize> =
        (0..program.arrays.len()).filter(|&array| program.arrays[array].kind == ArrayKind::Output).collect();
    loop {
        let before = live.len();
        for (_, operation) in operations.iter().rev() {
            if live.contains(&operation.target.array) {
                live.extend(operation.loads.iter().map(|load| load.access.array));
            }
        }
        if live.len() == before {
            break;
        }
    }
    for (number, array) in program.arrays.iter().enumerate().filter(|(number, _)| !live.contains(number)) {
        let name = &array.name;
        let is_read = |(_, operation): &(_, &crate::program::Operation)| {
            operation.loads.iter().any(|load| load.access.array == number)
        };
        let is_written = operations.iter().any(|(_, operation)| operation.target.array == number);
        let (message, help) = if operations.iter().any(is_read) {
            let message = format!("no output depends on the {} `{name}`", array.kind.name());
            (message, "what is computed from it goes nowhere: remove it and that, or let an output depend on it")
        } else if is_written {
            let message = format!("the buffer `{name}` is written but never read");
            (message, "remove it and the statements that write it, or read it")
        } else {
            (format!("the {} `{name}` is never used", array.kind.name()), UNUSED)
        };
        warnings.push(Problem::new(array.span, message).with_help(help));
    }
    let mut used = BTreeSet::new();
    for (_, operation) in &operations {
        operation.expressions().for_each(|expression| tables(expression, &mut used));
    }
    let unused = |(number, table): &(usize, &Table)| table.function.is_none() && !used.contains(number);
    for (_, table) in program.tables.iter().enumerate().filter(unused) {
        let message = format!("the table `{}` is never used", table.name);
        warnings.push(Problem::new(table.span, message).with_help(UNUSED));
    }
}

fn tables(expression: &Expression, found: &mut BTreeSet<usize>) {
    for part in expression.parts() {
        if let ExpressionKind::Lookup { table, .. } = part.kind {
            found.insert(table);
        }
    }
}
