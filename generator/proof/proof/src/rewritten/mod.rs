//! The proof that a program computes what the one does that a pass has rewritten, by the pass's [witness](Witness).
//!
//! A statement that writes an edge joins first with the one that copies [what is within](edges). Then
//! [running sums](running_sums) are taken out: statements join with the elements themselves. An access of an array that [holds elements of
//! another one](arrays) becomes that of the other one, and the statements that only copy between the two are taken out. Then each statement must
//! be [one of the program](iterations), each iteration once, with the same elements. And of two iterations that access one element, and one of
//! which writes it, the [order](orders) must be the same, unless one statement adds in both. Such programs compute the same, whatever made the
//! witness.

mod arrays;
mod edges;
mod indices;
mod iterations;
mod orders;
mod running_sums;
mod values;

use std::borrow::Cow;

use pushmem_nest::{
    Access, AffineIndex, Binary, Expression, Index, Loop, Operation, Program, StatementOrigin, Table, Witness, Word,
};

use crate::error::{PartError, require};

/// Proves that `rewritten`, whose loops are cut, in another order, apart or together, and some of whose arrays hold elements of others, as a
/// witness says, computes the same outputs as `source`.
///
/// # Errors
/// The first statement or array that is wrong.
pub fn prove_rewritten(source: &Program, rewritten: &Program, witness: &Witness) -> Result<(), PartError> {
    require(same_tables(source, rewritten), || "the program".to_owned(), "a table is another")?;
    let operations = rewritten.operations();
    let is_complete = operations.len() == witness.statements.len();
    require(is_complete, || "the program".to_owned(), "it has other statements than its witness")?;
    let lanes = witness.statements.iter().zip(&operations).map(|(origin, (_, operation))| {
        let lane = |&extent: &i64| Loop {
            variable: String::new(),
            min: 0,
            extent,
            unroll: 1,
            body: Vec::new(),
            span: operation.span,
        };
        origin.iter().flat_map(|origin| &origin.lanes).map(lane).collect()
    });
    let lanes: Vec<Vec<Loop>> = lanes.collect();
    let mut statements = Statement::all(rewritten);
    for ((statement, origin), lanes) in statements.iter_mut().zip(&witness.statements).zip(&lanes) {
        (statement.origin, statement.lanes) = (origin.as_ref(), lanes);
    }
    let statements = edges::joined(statements, &rewritten.arrays, &witness.edges)?;
    let statements = running_sums::without(statements, &rewritten.arrays, witness.arrays.len())?;
    let statements = arrays::of_source(source, rewritten, statements, &witness.arrays)?;
    orders::check(&iterations::pairs(&Statement::all(source), statements)?)
}

/// Tables without the places where they are declared.
fn same_tables(source: &Program, rewritten: &Program) -> bool {
    let is_same = |(one, other): (&Table, &Table)| {
        (&one.name, one.element, &one.values, one.function)
            == (&other.name, other.element, &other.values, other.function)
    };
    source.tables.len() == rewritten.tables.len() && source.tables.iter().zip(&rewritten.tables).all(is_same)
}

/// A statement in its loops.
#[derive(Clone)]
struct Statement<'a> {
    /// The loops around it, outermost first.
    loops: Vec<&'a Loop>,
    operation: &'a Operation,
    /// A number in the order of the text, odd: before it there is room for another statement.
    number: usize,
    /// The statement of the program that it is, if the statement is one of a rewritten program, and does more than to copy.
    origin: Option<&'a StatementOrigin>,
    /// The loops of the iterations of the program that one is together.
    lanes: &'a [Loop],
    target: Place<'a>,
    loads: Vec<Place<'a>>,
    /// The operator that joins the value with the element.
    reduction: Option<Binary>,
    expression: Cow<'a, Expression>,
}

/// An element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place<'a> {
    /// The number of the array.
    array: usize,
    indices: Vec<Index>,
    /// The indices where data choose the element.
    computed: Option<Cow<'a, [Expression]>>,
    /// The value beyond the array.
    outside: Option<i64>,
    /// The word of the element, if it is not all of it.
    word: Option<Word>,
}

impl Place<'_> {
    /// An element as a whole of an array without dimensions.
    fn new(array: usize) -> Self {
        Place { array, indices: Vec::new(), computed: None, outside: None, word: None }
    }

    /// The element where the variables of the loops have these values.
    fn in_loops(self, values: &[AffineIndex]) -> Option<Self> {
        let computed = match &self.computed {
            Some(computed) => Some(computed.iter().map(|index| index.in_loops(values)).collect::<Option<_>>()?),
            None => None,
        };
        let indices = self.indices.iter().map(|index| index.composed(values)).collect::<Option<_>>()?;
        Some(Place { indices, computed, ..self })
    }
}

impl<'a> Statement<'a> {
    /// The statements of a program in the order of the text.
    fn all(program: &'a Program) -> Vec<Self> {
        let place = |Access { array, indices, computed, .. }: &'a Access, outside| {
            let sums = computed.as_ref().and_then(|computed| computed.iter().map(indices::as_sum).collect());
            let computed = computed.as_deref().filter(|_| sums.is_none()).map(Cow::Borrowed);
            let indices = sums.unwrap_or_else(|| indices.clone());
            Place { indices, computed, outside, ..Place::new(*array) }
        };
        let statement = |(number, (loops, operation)): (usize, (Vec<&'a Loop>, &'a Operation))| Statement {
            loops,
            operation,
            number: 2 * number + 1,
            origin: None,
            lanes: &[],
            target: place(&operation.target, None),
            loads: operation.loads.iter().map(|load| place(&load.access, load.outside)).collect(),
            reduction: operation.reduction,
            expression: Cow::Borrowed(&operation.expression),
        };
        program.operations().into_iter().enumerate().map(statement).collect()
    }

    /// The statement in other loops, where the variables of its own have these values.
    fn in_loops(self, values: &[AffineIndex]) -> Option<Self> {
        let target = self.target.in_loops(values)?;
        let loads = self.loads.into_iter().map(|place| place.in_loops(values)).collect::<Option<_>>()?;
        let expression = Cow::Owned(self.expression.in_loops(values)?);
        Some(Statement { target, loads, expression, ..self })
    }

    /// The elements that it accesses.
    fn places(&self) -> impl Iterator<Item = &Place<'a>> {
        std::iter::once(&self.target).chain(&self.loads)
    }

    fn uses(&self, array: usize) -> bool {
        self.places().any(|place| place.array == array)
    }

    /// The loops that are around another statement, too.
    fn shared(&self, other: &Statement) -> usize {
        self.loops.iter().zip(&other.loops).take_while(|(one, other)| std::ptr::eq(**one, **other)).count()
    }

    /// Whether iterations of it are between those of two others, in an iteration of so many loops around all: after the first loop, or statement,
    /// in these that has the first one in it, and before that of the last one. Without a first one, they only are before the last one.
    fn is_between(&self, (first, last): (Option<&Statement>, &Statement), depth: usize) -> bool {
        let is_beyond = |of: &Statement, is_far: bool| is_far && self.shared(of) == depth;
        self.shared(last) >= depth
            && !first.is_some_and(|first| is_beyond(first, self.number < first.number))
            && !is_beyond(last, self.number > last.number)
    }

    /// Whether some element depends on data.
    fn chooses(&self) -> bool {
        self.places().any(|place| place.computed.is_some())
    }

    fn error(&self, reason: &str) -> PartError {
        PartError { part: self.operation.name.clone(), reason: reason.to_owned() }
    }
}
