//! Covering: pairs of operations that the processing element does in one.

use pushmem_pe::{Operation, PeSpec};

use crate::cell::{Bit, BitSource, Cell, Cells, Word};

/// How often the word and the bit of each cell are used.
pub(crate) struct Uses {
    pub words: Vec<usize>,
    pub bits: Vec<usize>,
}

impl Uses {
    pub fn of(cells: &Cells) -> Self {
        let mut uses = Uses { words: vec![0; cells.cells.len()], bits: vec![0; cells.cells.len()] };
        let mut word = |word: Word| {
            if let Word::Cell(cell) = word {
                uses.words[cell] += 1;
            }
        };
        cells.results.iter().copied().for_each(&mut word);
        cells.fetches.iter().for_each(|fetch| word(fetch.index));
        cells.cells.iter().flat_map(|cell| cell.used_words()).for_each(|each| word(*each));
        for bit in cells.cells.iter().flat_map(Cell::used_bits) {
            if let BitSource::Cell(cell) = bit.source {
                uses.bits[cell] += 1;
            }
        }
        uses
    }

    /// Whether a cell has one user, of its word.
    pub fn is_single(&self, cell: usize) -> bool {
        self.words[cell] == 1 && self.bits[cell] == 0
    }
}

/// Joins cells with their only user where the processing element has an operation for both. Cells that are joined stay, unused.
pub(crate) fn cover(cells: &mut Cells, spec: &PeSpec) {
    let mut uses = Uses::of(cells);
    // From the results on, so that of a chain the last two are joined first.
    for user in (0..cells.cells.len()).rev() {
        if uses.words[user] == 0 || uses.bits[user] > 0 {
            continue;
        }
        if let Some((joined, absorbed)) = join(&cells.cells, user, spec, &uses) {
            cells.cells[user] = joined;
            uses.words[absorbed] = 0;
        }
    }
}

/// The operation of a cell together with that of one of its operands, and which operand that is.
fn join(cells: &[Cell], user: usize, spec: &PeSpec, uses: &Uses) -> Option<(Cell, usize)> {
    let Cell { operation, words: [a, b, _], .. } = cells[user];
    let operands = [(a, b), (b, a)];
    operands.into_iter().find_map(|(inner, other)| {
        let Word::Cell(inner) = inner else { return None };
        let absorbed = &cells[inner];
        let joined = joined(operation, absorbed.operation)?;
        let fits = spec.opcode(joined).is_some() && uses.is_single(inner) && absorbed.lut.is_none();
        let words = [absorbed.words[0], absorbed.words[1], other];
        fits.then_some((Cell { operation: joined, words, bits: [Bit::constant(false); 3], lut: None }, inner))
    })
}

/// The operation `outer(inner(a, b), c)`.
fn joined(outer: Operation, inner: Operation) -> Option<Operation> {
    use Operation::*;
    match (outer, inner) {
        (Add, Multiply) => Some(MultiplyAdd),
        (Add, Add) => Some(AddThree),
        (MaximumUnsigned, MinimumUnsigned) => Some(ClampUnsigned),
        (MaximumSigned, MinimumSigned) => Some(ClampSigned),
        _ => None,
    }
}
