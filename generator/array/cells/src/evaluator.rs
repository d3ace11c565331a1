//! Cells that are evaluated again and again.

use pushmem_pe::Semantics;

use crate::cell::{Bit, BitSource, Cells, Fetch, Table, Word};

/// Evaluates cells. All words and bits are in one sequence of values, so that an operand is a place in it.
pub struct CellEvaluator<'a, S: Semantics> {
    cells: &'a Cells,
    semantics: S,
    places: Places,
    values: Vec<S::Value>,
    steps: Vec<Step<S::Element>>,
    results: Vec<usize>,
}

/// A cell or a look-up, with the places of its operands and of its result.
enum Step<Element> {
    Cell { element: Element, words: [usize; 3], bits: [usize; 3], to: usize },
    Fetch { table: Table, index: usize, to: usize },
}

/// The first places of values of each kind. Loads are the first, constants the last.
#[derive(Clone, Copy)]
struct Places {
    /// A word and a bit of each cell.
    cells: usize,
    fetches: usize,
    sequences: usize,
    /// Each and its opposite.
    predicates: usize,
}

impl<'a, S: Semantics> CellEvaluator<'a, S> {
    /// Of these cells.
    pub fn new(cells: &'a Cells, semantics: S) -> Self {
        let of_cells = cells.cells.iter().flat_map(|cell| cell.words);
        let of_fetches = cells.fetches.iter().map(|fetch| fetch.index);
        let words = of_cells.chain(of_fetches).chain(cells.results.iter().copied());
        let after_load = words.map(|word| if let Word::Load(load) = word { load + 1 } else { 0 });
        let of_cells = after_load.max().unwrap_or(0);
        let fetches = of_cells + 2 * cells.cells.len();
        let sequences = fetches + cells.fetches.len();
        let predicates = sequences + cells.sequences.len();
        let places = Places { cells: of_cells, fetches, sequences, predicates };
        let values = vec![0.into(); predicates + 2 * cells.predicates.len()];
        let mut built = CellEvaluator { cells, semantics, places, values, steps: Vec::new(), results: Vec::new() };
        let mut is_fetched = vec![false; cells.fetches.len()];
        for (number, cell) in cells.cells.iter().enumerate() {
            let words = cell.words.map(|word| built.operand(word, &mut is_fetched));
            let bits = cell.bits.map(|bit| built.bit(bit));
            let element = built.semantics.element(&cell.configuration());
            built.steps.push(Step::Cell { element, words, bits, to: places.cells + 2 * number });
        }
        built.results = cells.results.iter().map(|word| built.operand(*word, &mut is_fetched)).collect();
        built
    }

    fn constant(&mut self, constant: u32) -> usize {
        self.values.push(constant.into());
        self.values.len() - 1
    }

    /// The place of a word. Before its first use, an entry is looked up.
    fn operand(&mut self, word: Word, is_fetched: &mut [bool]) -> usize {
        match word {
            Word::Constant(constant) => self.constant(constant),
            Word::Load(load) => load,
            Word::Cell(cell) => self.places.cells + 2 * cell,
            Word::Sequence(sequence) => self.places.sequences + sequence,
            Word::Fetch(fetch) => {
                let to = self.places.fetches + fetch;
                if !is_fetched[fetch] {
                    is_fetched[fetch] = true;
                    let Fetch { table, index } = self.cells.fetches[fetch];
                    let index = self.operand(index, is_fetched);
                    self.steps.push(Step::Fetch { table, index, to });
                }
                to
            }
        }
    }

    /// The place of a bit. None but constants and boxes of loop variables are inverted.
    fn bit(&mut self, bit: Bit) -> usize {
        match bit.source {
            BitSource::False => self.constant(bit.inverted.into()),
            BitSource::Cell(cell) => self.places.cells + 2 * cell + 1,
            BitSource::Predicate(predicate) => self.places.predicates + 2 * predicate + usize::from(bit.inverted),
        }
    }

    /// As [`Cells::evaluate`].
    pub fn evaluate(
        &mut self,
        loads: &[S::Value],
        variables: &[i64],
        entry: impl Fn(Table, S::Value) -> S::Value,
    ) -> impl Iterator<Item = S::Value> {
        let CellEvaluator { cells, semantics, places, values, steps, results } = self;
        let read = loads.len().min(places.cells);
        values[..read].copy_from_slice(&loads[..read]);
        for (number, sequence) in cells.sequences.iter().enumerate() {
            values[places.sequences + number] = sequence.word(variables[sequence.variable]).into();
        }
        for (number, predicate) in cells.predicates.iter().enumerate() {
            let holds = u32::from(predicate.holds(variables));
            let place = places.predicates + 2 * number;
            values[place] = holds.into();
            values[place + 1] = (1 - holds).into();
        }
        for step in steps {
            match step {
                Step::Cell { element, words: [a, b, c], bits: [d, e, f], to } => {
                    let words = [values[*a], values[*b], values[*c]];
                    let bits = [values[*d], values[*e], values[*f]];
                    (values[*to], values[*to + 1]) = semantics.outcome(element, words, bits);
                }
                Step::Fetch { table, index, to } => values[*to] = entry(*table, values[*index]),
            }
        }
        results.iter().map(|place| values[*place])
    }
}
