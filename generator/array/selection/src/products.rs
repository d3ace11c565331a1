//! Sums of products, for processing elements that multiply and add at once.
//!
//! A balanced tree of additions leaves half of the products alone. Here a few products follow each other, each added to the sum of
//! those before, and these sums are added. The other addends, of which one may be what a sum was before, come last, so that loops of
//! cells do not become longer.

use itertools::Itertools;
use pushmem_pe::Operation;

use crate::cover::Uses;
use pushmem_cells::{Bit, BitSource, Cell, Cells, Fetch, Word};

/// The most products that follow each other: each waits a cycle longer for its operands than the one before.
const MOST_PRODUCTS: usize = 4;

/// The same cells, with the additions of each sum of products in this order.
pub(crate) fn in_rows(cells: &Cells) -> Cells {
    let uses = Uses::of(cells);
    let is_add = |cell: usize| {
        let Cell { operation, lut, .. } = cells.cells[cell];
        operation == Operation::Add && lut.is_none() && uses.bits[cell] == 0
    };
    let mut is_inner = vec![false; cells.cells.len()];
    for cell in (0..cells.cells.len()).filter(|cell| is_add(*cell)) {
        for operand in addends(cells, cell) {
            if let Word::Cell(inner) = operand {
                is_inner[inner] = is_add(inner) && uses.is_single(inner);
            }
        }
    }
    let mut rows = Rows { cells: Vec::new(), places: vec![0; cells.cells.len()] };
    for cell in (0..cells.cells.len()).filter(|cell| !is_inner[*cell]) {
        let leaves = if is_add(cell) { leaves(cells, cell, &is_inner) } else { Vec::new() };
        let is_product = |word: &Word| match word {
            Word::Cell(of) => cells.cells[*of].operation == Operation::Multiply && uses.is_single(*of),
            _ => false,
        };
        let (products, others): (Vec<Word>, Vec<Word>) = leaves.into_iter().partition(is_product);
        match products.len() + others.len() {
            3.. => rows.add_sum(&products, &others),
            _ => rows.add_cell(&cells.cells[cell]),
        }
        rows.places[cell] = rows.cells.len() - 1;
    }
    let fetches = cells.fetches.iter().map(|fetch| Fetch { index: rows.word(fetch.index), ..*fetch }).collect();
    let results = cells.results.iter().map(|word| rows.word(*word)).collect();
    Cells { fetches, results, cells: rows.cells, ..cells.clone() }
}

/// The words that an addition adds.
fn addends(cells: &Cells, cell: usize) -> [Word; 2] {
    let [a, b, _] = cells.cells[cell].words;
    [a, b]
}

/// All that a sum adds.
fn leaves(cells: &Cells, cell: usize, is_inner: &[bool]) -> Vec<Word> {
    let leaf = |word: Word| match word {
        Word::Cell(inner) if is_inner[inner] => leaves(cells, inner, is_inner),
        _ => vec![word],
    };
    addends(cells, cell).into_iter().flat_map(leaf).collect()
}

/// Cells in their new order.
struct Rows {
    cells: Vec<Cell>,
    /// The place of each cell of the old order.
    places: Vec<usize>,
}

impl Rows {
    fn word(&self, word: Word) -> Word {
        match word {
            Word::Cell(cell) => Word::Cell(self.places[cell]),
            _ => word,
        }
    }

    fn add_cell(&mut self, cell: &Cell) {
        let source = |source: BitSource| match source {
            BitSource::Cell(cell) => BitSource::Cell(self.places[cell]),
            _ => source,
        };
        let words = cell.words.map(|word| self.word(word));
        let bits = cell.bits.map(|bit| Bit { source: source(bit.source), ..bit });
        self.cells.push(Cell { words, bits, ..*cell });
    }

    /// Adds the additions of a sum of these words of the old order.
    fn add_sum(&mut self, products: &[Word], others: &[Word]) {
        let of_row = |row: &[Word]| row.iter().map(|word| self.word(*word)).collect_vec();
        let rows = products.chunks(MOST_PRODUCTS).map(of_row).collect_vec();
        let others = of_row(others);
        // A product is the first operand of its addition, and a sum of sums that of the next one: so they become one.
        let sums = rows.into_iter().map(|row| {
            let sum = row.into_iter().reduce(|sum, product| self.sum(product, sum));
            sum.expect("rows are not empty")
        });
        let sums = sums.collect_vec();
        sums.into_iter().chain(others).reduce(|sum, other| self.sum(sum, other)).expect("there are addends");
    }

    fn sum(&mut self, a: Word, b: Word) -> Word {
        let bits = [Bit::constant(false); 3];
        self.cells.push(Cell { operation: Operation::Add, words: [a, b, Word::Constant(0)], bits, lut: None });
        Word::Cell(self.cells.len() - 1)
    }
}
