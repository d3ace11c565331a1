//! The proof that a program whose nests go block by block computes what the program says.
//!
//! [Copies of blocks](copies) are taken out first: an access of a block becomes that of the whole array where its elements come from or go
//! to. Then each statement must be [one of the program](pairs), each iteration once, with the same elements. And of two iterations that access
//! one element, and one of which writes it, the [order](orders) must be the same, unless one statement adds in both. Such programs
//! compute the same.

mod copies;
mod iterations;
mod orders;
mod pairs;

use pushmem_nest::{Access, AffineIndex, Array, ArrayKind, Index, Loop, Operation, Program, Table, Witness};

use crate::error::{PartError, require};

/// Proves that `blocked`, whose loops may be cut, in another order, apart or together, and which may copy blocks of arrays, computes the same
/// outputs as `source`.
///
/// # Errors
/// The first statement or array that is wrong, or that the proof does not cover.
pub fn prove_blocks(source: &Program, blocked: &Program) -> Result<(), PartError> {
    let whole = || "the program".to_owned();
    require(same_tables(source, blocked), whole, "a table is another")?;
    for array in source.arrays.iter().filter(|array| array.kind != ArrayKind::Buffer) {
        let is_same = |other: &Array| {
            (other.kind, other.element, &other.shape, &other.min)
                == (array.kind, array.element, &array.shape, &array.min)
        };
        require(blocked.array(&array.name).is_some_and(is_same), || array.name.clone(), "it is another array")?;
    }
    let (statements, blocks) = copies::without(source, blocked)?;
    orders::check(&pairs::of(Statement::all(source), statements, &blocks)?)
}

/// Proves that `rewritten`, whose loops are cut, in another order, apart or together as a witness says, computes the same outputs as `source`.
///
/// # Errors
/// The first statement that is wrong.
pub fn prove_rewritten(source: &Program, rewritten: &Program, witness: &Witness) -> Result<(), PartError> {
    let is_same = source.arrays == rewritten.arrays && same_tables(source, rewritten);
    require(is_same, || "the program".to_owned(), "an array or a table is another")?;
    let (own, others) = (Statement::all(source), Statement::all(rewritten));
    orders::check(&iterations::pairs(&own, others, &witness.statements)?)
}

/// Tables without the places where they are declared.
fn same_tables(source: &Program, blocked: &Program) -> bool {
    let is_same = |(one, other): (&Table, &Table)| {
        (&one.name, one.element, &one.values, one.function)
            == (&other.name, other.element, &other.values, other.function)
    };
    source.tables.len() == blocked.tables.len() && source.tables.iter().zip(&blocked.tables).all(is_same)
}

/// A statement in its loops.
#[derive(Clone)]
struct Statement<'a> {
    /// The loops around it, outermost first.
    loops: Vec<&'a Loop>,
    operation: &'a Operation,
    /// Its number in the text.
    number: usize,
    target: Place<'a>,
    loads: Vec<Place<'a>>,
}

/// An element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place<'a> {
    array: &'a str,
    indices: Vec<Index>,
}

impl Place<'_> {
    /// The element of a whole array that this element of its block is. The elements of the block are functions of the loops around it, of
    /// which there are `depth`, and of the indices of the block, numbered after these.
    fn of_block<'a>(&self, array: &'a str, depth: usize, elements: &[AffineIndex]) -> Option<Place<'a>> {
        let around = (0..depth).map(AffineIndex::variable);
        let own = self.indices.iter().map(|index| index.as_affine().cloned()).collect::<Option<Vec<_>>>()?;
        let values: Vec<AffineIndex> = around.chain(own).collect();
        let index = |index: &AffineIndex| Some(Index { affine: index.composed(&values)?, pieces: Vec::new() });
        Some(Place { array, indices: elements.iter().map(index).collect::<Option<_>>()? })
    }
}

impl<'a> Statement<'a> {
    /// The statements of a program in the order of the text.
    fn all(program: &'a Program) -> Vec<Self> {
        let place = |access: &Access| Place {
            array: program.arrays[access.array].name.as_str(),
            indices: access.indices.clone(),
        };
        let statement = |(number, (loops, operation)): (usize, (Vec<&'a Loop>, &'a Operation))| Statement {
            loops,
            operation,
            number,
            target: place(&operation.target),
            loads: operation.loads.iter().map(|load| place(&load.access)).collect(),
        };
        program.operations().into_iter().enumerate().map(statement).collect()
    }

    /// The elements that it accesses.
    fn places(&self) -> impl Iterator<Item = &Place<'a>> {
        std::iter::once(&self.target).chain(&self.loads)
    }

    fn places_mut(&mut self) -> impl Iterator<Item = &mut Place<'a>> {
        std::iter::once(&mut self.target).chain(&mut self.loads)
    }

    fn uses(&self, array: &str) -> bool {
        self.places().any(|place| place.array == array)
    }

    /// Whether all elements of an array that it accesses are there, and affine functions of its loops.
    fn is_plain_in(&self, array: &str) -> bool {
        let loads = self.operation.loads.iter().zip(&self.loads);
        let loads = loads.map(|(load, place)| (place, load.outside.is_none() && load.access.computed.is_none()));
        let target = (&self.target, self.operation.target.computed.is_none());
        let own = loads.chain([target]).filter(|(place, _)| place.array == array);
        { own }.all(|(place, is_plain)| is_plain && place.indices.iter().all(|index| index.as_affine().is_some()))
    }

    /// The loops that are around another statement, too.
    fn shared(&self, other: &Statement) -> usize {
        self.loops.iter().zip(&other.loops).take_while(|(one, other)| std::ptr::eq(**one, **other)).count()
    }

    /// Whether some element depends on data.
    fn chooses(&self) -> bool {
        self.operation.accesses().any(|access| access.computed.is_some())
    }

    fn error(&self, reason: &str) -> PartError {
        PartError { part: self.operation.name.clone(), reason: reason.to_owned() }
    }
}
