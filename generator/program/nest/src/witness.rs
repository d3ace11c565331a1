//! Witnesses: how a rewritten program follows from the program.

use crate::expression::ExpressionKind;
use crate::index::{AffineIndex, Index};
use crate::program::{Access, Array, Load, Operation, Program};
use crate::types::Word;

/// How a program follows from one that a pass has rewritten: a claim of the pass, which the proof checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The origins of the statements of the new program, in the order of its text. Nothing for those that only copy an element from one array
    /// that holds it to another one.
    pub statements: Vec<Option<StatementOrigin>>,
    /// The origins of the arrays of the new program, apart from the last ones: those are of running sums, of which each element is that of the
    /// iteration before and what the loop adds.
    pub arrays: Vec<ArrayOrigin>,
    /// The numbers of the statements of the new program that write the value beyond an array to all elements of a copy with an edge. The next
    /// statement copies the elements within, and is the copy of the old program together with it. Its origin has the variables of the loops of
    /// the edge, from which its own may differ by constants.
    pub edges: Vec<usize>,
}

/// The statement of the old program that a statement of the new one is, and its iteration there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementOrigin {
    /// The number of the statement in the text of the old program, from 0.
    pub statement: usize,
    /// The loop variables there, outermost first, as functions of those of the new loops.
    pub variables: Vec<AffineIndex>,
    /// The word of the element that it writes, if another statement writes the other one.
    pub word: Option<Word>,
    /// How many iterations of the program one is together, as extents of loops from 0 whose variables are numbered after those of the new loops.
    pub lanes: Vec<i64>,
}

/// The array of the old program of which an array of the new one holds elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayOrigin {
    /// The number of the array in the old program.
    pub array: usize,
    /// How many loops are around all statements that use the new array, in each iteration of which it holds other elements.
    pub depth: usize,
    /// The indices of an element in the old array, innermost first: functions of the variables of these loops, outermost first, and of the
    /// indices in the new array, innermost first, which are numbered after these.
    pub elements: Vec<AffineIndex>,
    /// The value of elements beyond the old array, if there are any.
    pub outside: Option<i64>,
    /// The word of these elements, if it is not all of them.
    pub word: Option<Word>,
}

impl Witness {
    /// That of the program itself.
    pub fn same(program: &Program) -> Witness {
        Witness::with_copies(program, Vec::new())
    }

    /// That of a program whose last arrays hold elements of the others, so many as there are origins, with the statements that copy between both.
    pub fn with_copies(program: &Program, copies: Vec<ArrayOrigin>) -> Witness {
        let declared = &program.arrays[..program.arrays.len() - copies.len()];
        let own = declared.iter().enumerate().map(|(number, array)| ArrayOrigin::same(number, array));
        let arrays: Vec<ArrayOrigin> = own.chain(copies).collect();
        let is_copy = |operation: &Operation| match &operation.loads[..] {
            [load] => {
                let [from, to] = [load.access.array, operation.target.array];
                let takes_all = operation.expression.kind == ExpressionKind::Load(0) && operation.reduction.is_none();
                takes_all && from != to && arrays[from].array == arrays[to].array
            }
            _ => false,
        };
        let mut number = 0;
        let statements = program.operations().into_iter().map(|(loops, operation)| {
            let is_own = !is_copy(operation);
            number += usize::from(is_own);
            is_own.then(|| StatementOrigin::same(number - 1, loops.len()))
        });
        Witness { statements: statements.collect(), arrays, edges: Vec::new() }
    }
}

impl StatementOrigin {
    /// That of a statement each of whose iterations is one of the old program.
    pub fn of(statement: usize, variables: Vec<AffineIndex>) -> StatementOrigin {
        StatementOrigin { statement, variables, word: None, lanes: Vec::new() }
    }

    /// That of a statement whose loops are the same, so many.
    pub fn same(statement: usize, depth: usize) -> StatementOrigin {
        StatementOrigin::of(statement, (0..depth).map(AffineIndex::variable).collect())
    }
}

impl ArrayOrigin {
    /// That of an array that holds elements as a whole, none of them beyond the old array.
    pub fn held(array: usize, depth: usize, elements: Vec<AffineIndex>) -> ArrayOrigin {
        ArrayOrigin { array, depth, elements, outside: None, word: None }
    }

    /// That of an array that is the same.
    pub fn same(number: usize, array: &Array) -> ArrayOrigin {
        ArrayOrigin::held(number, 0, (0..array.shape.len()).map(AffineIndex::variable).collect())
    }

    /// The indices in the old array of the element with these ones; nothing beyond [`INDEX_LIMIT`](crate::INDEX_LIMIT).
    pub fn element(&self, indices: &[Index]) -> Option<Vec<Index>> {
        let values: Vec<Index> = (0..self.depth).map(Index::variable).chain(indices.iter().cloned()).collect();
        let index = |AffineIndex { constant, terms }: &AffineIndex| {
            terms.iter().try_fold(Index::constant(*constant), |sum, (of, step)| sum.plus(values.get(*of)?, *step))
        };
        self.elements.iter().map(index).collect()
    }

    /// The load of the old array that gives an element of the new one; nothing as [`ArrayOrigin::element`].
    pub fn load(&self, held: &Access) -> Option<Load> {
        let access = Access::new(self.array, self.element(&held.indices)?, held.span);
        Some(Load { access, outside: self.outside })
    }
}
