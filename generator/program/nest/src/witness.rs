//! Witnesses: how a rewritten program follows from the program.

use crate::index::AffineIndex;

/// How a program follows from one that a pass has rewritten: a claim of the pass, which the proof checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// The origins of the statements of the new program, in the order of its text.
    pub statements: Vec<StatementOrigin>,
}

/// The statement of the old program that a statement of the new one is, and its iteration there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementOrigin {
    /// The number of the statement in the text of the old program, from 0.
    pub statement: usize,
    /// The loop variables there, outermost first, as functions of those of the new loops.
    pub variables: Vec<AffineIndex>,
}

impl StatementOrigin {
    /// That of a statement whose loops are the same, so many.
    pub fn same(statement: usize, depth: usize) -> StatementOrigin {
        StatementOrigin { statement, variables: (0..depth).map(AffineIndex::variable).collect() }
    }
}
