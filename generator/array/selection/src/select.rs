//! From the values of an operation to cells.

use pushmem_kernels::{DatapathGraph, Values};
use pushmem_pe::{Operation, PeSpec};
use thiserror::Error;

use crate::builder::Builder;
use crate::cover::cover;
use crate::legalize::Legalizer;
use crate::operators::PeOperators;
use crate::products::in_rows;
use crate::reciprocal::TableTiles;
use pushmem_cells::{BitSource, Cell, Cells, Word};

/// An operation that the processing element cannot compute.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{pe}` has no {lacking}")]
pub struct Refused {
    /// The name of the processing element.
    pub pe: String,
    /// The operation, or the table of truth values, that it lacks, in words.
    pub lacking: String,
}

/// The cells that compute an operation on processing elements of this specification, and in these memory tiles as tables if there
/// are some. Loads come in the stages of `arrivals`, as for [`DatapathGraph::balanced`].
///
/// # Errors
/// If the processing element lacks an operation, or if the operation needs what no cell computes.
pub fn select(
    graph: &DatapathGraph,
    spec: &PeSpec,
    tables: Option<TableTiles>,
    arrivals: Vec<u64>,
) -> Result<Cells, Refused> {
    select_values(&graph.balanced(&PeOperators(spec), arrivals), spec, tables)
}

fn select_values(values: &Values, spec: &PeSpec, tables: Option<TableTiles>) -> Result<Cells, Refused> {
    let mut builder = Builder::new(spec);
    let results = Legalizer::new(&mut builder, values, tables).run();
    let cells = needed(&builder.finished(results));
    let covered = |mut cells: Cells| {
        cover(&mut cells, spec);
        needed(&cells)
    };
    let multiplies_and_adds = spec.opcode(Operation::MultiplyAdd).is_some();
    let rows = multiplies_and_adds.then(|| covered(in_rows(&cells)));
    let balanced = covered(cells);
    let cells = rows.filter(|rows| rows.cells.len() < balanced.cells.len()).unwrap_or(balanced);
    check(&cells, spec)?;
    Ok(cells)
}

/// Checks that the processing element has the operation of each cell.
fn check(cells: &Cells, spec: &PeSpec) -> Result<(), Refused> {
    for cell in &cells.cells {
        let lacking = match cell.lut {
            Some(_) => (!spec.lut).then(|| "`lut` for truth values".to_owned()),
            None => spec.opcode(cell.operation).is_none().then(|| format!("operation `{}`", cell.operation.name())),
        };
        if let Some(lacking) = lacking {
            return Err(Refused { pe: spec.name.clone(), lacking });
        }
    }
    Ok(())
}

/// The parts that the result depends on, numbered anew.
fn needed(cells: &Cells) -> Cells {
    let mut keep = Keep {
        cells: vec![false; cells.cells.len()],
        fetches: vec![false; cells.fetches.len()],
        sequences: vec![false; cells.sequences.len()],
        predicates: vec![false; cells.predicates.len()],
    };
    let mut open: Vec<Word> = cells.results.clone();
    while let Some(word) = open.pop() {
        open.extend(keep.operands(cells, word));
    }
    let numbers = |keep: &[bool]| -> Vec<usize> {
        keep.iter().scan(0, |next, kept| Some(std::mem::replace(next, *next + usize::from(*kept)))).collect()
    };
    let (cell_numbers, fetches) = (numbers(&keep.cells), numbers(&keep.fetches));
    let (sequences, predicates) = (numbers(&keep.sequences), numbers(&keep.predicates));
    let word = |word: Word| match word {
        Word::Cell(cell) => Word::Cell(cell_numbers[cell]),
        Word::Fetch(fetch) => Word::Fetch(fetches[fetch]),
        Word::Sequence(sequence) => Word::Sequence(sequences[sequence]),
        Word::Constant(_) | Word::Load(_) => word,
    };
    let source = |source: BitSource| match source {
        BitSource::Cell(cell) => BitSource::Cell(cell_numbers[cell]),
        BitSource::Predicate(predicate) => BitSource::Predicate(predicates[predicate]),
        BitSource::False => source,
    };
    let renumbered = |cell: &Cell| {
        let mut cell = *cell;
        cell.words.iter_mut().for_each(|operand| *operand = word(*operand));
        cell.bits.iter_mut().for_each(|bit| bit.source = source(bit.source));
        cell
    };
    fn kept<'a, Part>(parts: &'a [Part], keep: &'a [bool]) -> impl Iterator<Item = &'a Part> {
        parts.iter().zip(keep).filter(|(_, kept)| **kept).map(|(part, _)| part)
    }
    Cells {
        cells: kept(&cells.cells, &keep.cells).map(renumbered).collect(),
        fetches: kept(&cells.fetches, &keep.fetches)
            .map(|fetch| pushmem_cells::Fetch { index: word(fetch.index), ..*fetch })
            .collect(),
        tables: cells.tables.clone(),
        sequences: kept(&cells.sequences, &keep.sequences).cloned().collect(),
        predicates: kept(&cells.predicates, &keep.predicates).cloned().collect(),
        results: cells.results.iter().map(|of| word(*of)).collect(),
    }
}

/// Which parts are needed.
struct Keep {
    cells: Vec<bool>,
    fetches: Vec<bool>,
    sequences: Vec<bool>,
    predicates: Vec<bool>,
}

impl Keep {
    /// Marks the part that gives a word, and returns the words that it takes if it is new.
    fn operands(&mut self, cells: &Cells, word: Word) -> Vec<Word> {
        match word {
            Word::Constant(_) | Word::Load(_) => Vec::new(),
            Word::Sequence(sequence) => {
                self.sequences[sequence] = true;
                Vec::new()
            }
            Word::Fetch(fetch) if std::mem::replace(&mut self.fetches[fetch], true) => Vec::new(),
            Word::Fetch(fetch) => vec![cells.fetches[fetch].index],
            Word::Cell(cell) if std::mem::replace(&mut self.cells[cell], true) => Vec::new(),
            Word::Cell(cell) => {
                let cell = &cells.cells[cell];
                let mut words = cell.used_words().to_vec();
                for bit in cell.used_bits() {
                    match bit.source {
                        BitSource::Cell(of) => words.push(Word::Cell(of)),
                        BitSource::Predicate(predicate) => self.predicates[predicate] = true,
                        BitSource::False => {}
                    }
                }
                words
            }
        }
    }
}
