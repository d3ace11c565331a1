//! Covering: pairs of operations that the processing element does in one.

use pushmem_pe::{Operation, PeSpec};

use pushmem_cells::{Bit, BitSource, Cell, Cells, Word};

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
///
/// A cell is joined with its user or with an operand, not with both: the pairs are edges of a forest, in which those that come first,
/// from the leaves on, are as many as there can be.
pub(crate) fn cover(cells: &mut Cells, spec: &PeSpec) {
    let uses = Uses::of(cells);
    let users = single_users(cells, &uses);
    let mut is_joined = vec![false; cells.cells.len()];
    let mut absorbed = vec![None; cells.cells.len()];
    for inner in 0..cells.cells.len() {
        let Some(user) = users[inner] else { continue };
        let is_free = !is_joined[inner] && !is_joined[user] && uses.words[user] > 0 && uses.bits[user] == 0;
        if is_free && let Some(joined) = join(&cells.cells, user, inner, spec) {
            (is_joined[inner], is_joined[user]) = (true, true);
            absorbed[user] = Some(joined);
        }
    }
    for (cell, joined) in cells.cells.iter_mut().zip(absorbed) {
        *cell = joined.unwrap_or(*cell);
    }
}

/// For each cell whose word has one user and whose bit has none that user, if it is a cell.
fn single_users(cells: &Cells, uses: &Uses) -> Vec<Option<usize>> {
    let mut users = vec![None; cells.cells.len()];
    for (user, cell) in cells.cells.iter().enumerate() {
        for word in cell.used_words() {
            if let Word::Cell(inner) = *word
                && uses.is_single(inner)
            {
                users[inner] = Some(user);
            }
        }
    }
    users
}

/// The operation of a cell together with that of one of its operands, if there is one.
fn join(cells: &[Cell], user: usize, inner: usize, spec: &PeSpec) -> Option<Cell> {
    let Cell { operation, words: [a, b, _], .. } = cells[user];
    let other = if a == Word::Cell(inner) { b } else { a };
    let absorbed = &cells[inner];
    let joined = joined(operation, absorbed.operation)?;
    let fits = spec.opcode(joined).is_some() && absorbed.lut.is_none() && cells[user].lut.is_none();
    let words = [absorbed.words[0], absorbed.words[1], other];
    fits.then_some(Cell { operation: joined, words, bits: [Bit::constant(false); 3], lut: None })
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pushmem_files::Document;
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Cells of random operations; the last is the result.
    fn random_cells(random: &mut ChaCha8Rng) -> Cells {
        let operations = [Operation::Add, Operation::Multiply, Operation::MinimumSigned, Operation::MaximumSigned];
        let count = random.random_range(2..=11);
        let cells = (0..count).map(|number| {
            // Mostly chains and trees: an operand is often one of the last cells.
            let mut word = || match random.random_range(0..3) {
                0 => Word::Load(random.random_range(0..3)),
                _ if number > 0 => Word::Cell(random.random_range(number.max(4_usize) - 4..number)),
                _ => Word::Load(0),
            };
            let words = [word(), word(), Word::Constant(0)];
            let operation = *operations.choose(random).expect("there are some");
            Cell { operation, words, bits: [Bit::constant(false); 3], lut: None }
        });
        let cells: Vec<Cell> = cells.collect();
        Cells { results: vec![Word::Cell(cells.len() - 1)], cells, ..Cells::default() }
    }

    /// The most pairs that can be joined, of these candidates: all subsets are tried.
    fn most(pairs: &[(usize, usize)], taken: &mut Vec<usize>) -> usize {
        let Some((&(user, inner), rest)) = pairs.split_first() else { return 0 };
        let without = most(rest, taken);
        if taken.contains(&user) || taken.contains(&inner) {
            return without;
        }
        taken.extend([user, inner]);
        let with = 1 + most(rest, taken);
        taken.truncate(taken.len() - 2);
        with.max(without)
    }

    #[test]
    fn as_many_pairs_are_joined_as_there_can_be() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../constraints/pes"));
        let mut joined = 0;
        for name in ["lean_pe", "onyx_pe", "image_pe"] {
            let spec =
                PeSpec::from_document(&Document::read(&root.join(name).with_extension("yaml")).unwrap()).unwrap();
            for seed in 0..2_000 {
                let cells = random_cells(&mut ChaCha8Rng::seed_from_u64(seed));
                let uses = Uses::of(&cells);
                let users = single_users(&cells, &uses);
                let pairs = (0..cells.cells.len()).filter_map(|inner| Some((users[inner]?, inner)));
                let pairs: Vec<(usize, usize)> = pairs
                    .filter(|&(user, inner)| uses.words[user] > 0 && join(&cells.cells, user, inner, &spec).is_some())
                    .collect();
                let mut covered = cells.clone();
                cover(&mut covered, &spec);
                let changed = cells.cells.iter().zip(&covered.cells).filter(|(before, after)| before != after).count();
                assert_eq!(changed, most(&pairs, &mut Vec::new()), "{name}, seed {seed}: {cells:?}");
                joined += changed;
            }
        }
        assert!(joined > 1_000, "{joined} pairs are too few to tell");
    }
}
