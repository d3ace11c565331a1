//! The stores of an update of a tuple, which computes all values before it stores any.

use std::collections::BTreeSet;

use pushmem_nest::Span;

use super::text::Statement;
use crate::fault::{Fault, Result};

/// The statements in an order in which none reads what another has stored before.
pub(crate) fn in_turns(mut statements: Vec<Statement>, span: Span) -> Result<Vec<Statement>> {
    let reads = |statement: &Statement| -> BTreeSet<usize> {
        statement.array_loads().map(|(array, _)| array).filter(|array| *array != statement.array()).collect()
    };
    let mut ordered = Vec::new();
    while !statements.is_empty() {
        // One that no other reads the old value of.
        let next = statements.iter().position(|statement| {
            let is_read =
                |other: &Statement| other.array() != statement.array() && reads(other).contains(&statement.array());
            !statements.iter().any(is_read)
        });
        let next = next.ok_or_else(|| {
            Fault::new(span, "the values of a tuple are updated from each other")
                .with_help("update one value by the others only, or compute them by Funcs of their own")
        })?;
        ordered.push(statements.remove(next));
    }
    Ok(ordered)
}
