//! Quotients by constants, of words and of pairs of words without sign.
//!
//! A quotient of a word is the high word of a product (Granlund and Montgomery, "Division by invariant integers using
//! multiplication", PLDI 1994). A pair `n` of words of `b` bits is multiplied by one word `f`, and the product loses its lowest
//! `k = b + shift` bits. If `f = ceil(2^k / d)` is exact for all `n`, as it is for a word, that is the quotient. Else, with
//! `f = floor((2^k) / d)` and `r = 2^k - f · d`, it is a quotient `q` that may be too small: `n - q · d` is less than `n · r / 2^k + d`,
//! and so small that its own quotient, which is added, takes a few cells.
//!
//! The shift, a division by the powers of two of the divisor before, and a product with the high word alone are choices: the cells
//! of each are made, and the fewest are kept.

use pushmem_pe::Operation;

use crate::builder::Builder;
use crate::pairs::Pair;
use pushmem_cells::{Bit, Cell, Word};

const ZERO: Word = Word::Constant(0);

/// The most multiples of a divisor that a rest is compared with. More are left to another product.
const MOST_MULTIPLES: u64 = 3;

/// A division of a number of at most `greatest`.
#[derive(Clone, Copy)]
struct Division {
    number: Pair,
    greatest: u64,
    divisor: u64,
}

/// How it is computed.
#[derive(Clone, Copy)]
enum Way {
    /// Both by this power of two first.
    Halved(u32),
    /// By a product with a factor.
    Product(Product),
}

/// A product with a factor, without its lowest bits: a word, and `shift`.
#[derive(Clone, Copy)]
struct Product {
    factor: u64,
    shift: u32,
    /// Whether it is the product of the high word alone.
    of_high: bool,
    /// The most by which the product with the divisor is less than the number. Nothing, if this is the quotient.
    rest: Option<u64>,
}

impl Builder<'_> {
    /// The quotient of a number of at most `greatest` by a constant, with the fewest cells.
    pub fn quotient_of_pair(&mut self, number: Pair, greatest: u64, divisor: u64) -> Pair {
        let division = Division { number: self.within(number, greatest), greatest, divisor };
        if greatest < divisor {
            return [ZERO; 2];
        }
        if divisor.is_power_of_two() {
            return self.shifted_right(division.number, divisor.trailing_zeros());
        }
        if greatest >> self.spec.word_bits == 0 {
            return [self.quotient_of_word(division.number[0], greatest, divisor), ZERO];
        }
        let mark = self.cells.len();
        let cost = |this: &mut Self, way: &Way| {
            let quotient = this.divided(division, *way);
            let cost = this.cost_since(mark, quotient);
            this.cells.truncate(mark);
            cost
        };
        let ways = division.ways(self.spec.word_bits);
        let way = ways.into_iter().min_by_key(|way| cost(self, way)).expect("a large factor leaves a small rest");
        self.divided(division, way)
    }

    /// The quotient of a word of at most `greatest` by a constant that is no power of two.
    fn quotient_of_word(&mut self, word: Word, greatest: u64, divisor: u64) -> Word {
        let bits = self.spec.word_bits;
        // A divisor of at most the greatest word has fewer bits than two words.
        for shift in 0..=bits {
            let power = 1_u128 << (bits + shift);
            let factor = power.div_ceil(u128::from(divisor));
            let excess = factor * u128::from(divisor) - power;
            if excess * u128::from(greatest) >= power {
                continue;
            }
            if factor < 1 << bits {
                let high = self.multiply_high(word, Word::Constant(factor as u32), false);
                return self.shift(Operation::ShiftRightUnsigned, high, shift);
            }
            if shift > 0 {
                // The factor has one bit more than a word: `(n - t) / 2 + t` is `(n + t) / 2` without overflow.
                let factor = (factor - (1 << bits)) as u32;
                let high = self.multiply_high(word, Word::Constant(factor), false);
                let rest = self.subtract(word, high).0;
                let half = self.shift(Operation::ShiftRightUnsigned, rest, 1);
                let sum = self.add(half, high).0;
                return self.shift(Operation::ShiftRightUnsigned, sum, shift - 1);
            }
        }
        unreachable!("some factor of one bit more than a word is exact for all words")
    }

    /// The quotient in this way.
    fn divided(&mut self, division: Division, way: Way) -> Pair {
        let Division { number, greatest, divisor } = division;
        match way {
            Way::Halved(bits) => {
                let halved = self.shifted_right(number, bits);
                self.quotient_of_pair(halved, greatest >> bits, divisor >> bits)
            }
            Way::Product(product) => {
                let quotient = self.high_bits_of_product(division, product);
                match product.rest {
                    None => quotient,
                    Some(most) => self.with_quotient_of_rest(division, quotient, most),
                }
            }
        }
    }

    /// The product of a number without its lowest bits.
    fn high_bits_of_product(&mut self, division: Division, Product { factor, shift, of_high, .. }: Product) -> Pair {
        let [low, high] = division.number;
        let most = (division.greatest * factor) >> self.spec.word_bits;
        let factor = Word::Constant(factor as u32);
        let product = [self.multiply(high, factor), self.multiply_high(high, factor, false)];
        let product = self.within(product, most);
        let added = if of_high { ZERO } else { self.multiply_high(low, factor, false) };
        let sum = self.sum_of_pairs(product, [added, ZERO], most);
        let shifted = self.shifted_right(sum, shift);
        self.within(shifted, most >> shift)
    }

    /// A quotient with that of the rest, of at most `most`, which its product with the divisor leaves.
    fn with_quotient_of_rest(&mut self, division: Division, quotient: Pair, most: u64) -> Pair {
        let Division { number, greatest, divisor } = division;
        let product = self.product_of_pairs(quotient, self.pair(divisor));
        let rest = self.subtract_pair(number, product, true).0;
        let rest = self.within(rest, most);
        if most >> self.spec.word_bits == 0 || most / divisor > MOST_MULTIPLES {
            let more = self.quotient_of_pair(rest, most, divisor);
            return self.sum_of_pairs(quotient, more, greatest / divisor);
        }
        (1..=most / divisor).fold(quotient, |quotient, multiple| {
            let multiple = self.pair(multiple * divisor);
            let is_in = self.subtract_pair(rest, multiple, true).1;
            self.counted_up(quotient, is_in, greatest / divisor)
        })
    }

    /// A number of at most `most`, without a high word if that is a word.
    fn within(&self, [low, high]: Pair, most: u64) -> Pair {
        [low, if most >> self.spec.word_bits == 0 { ZERO } else { high }]
    }

    /// The sum of two numbers, which is at most `most`.
    fn sum_of_pairs(&mut self, a: Pair, b: Pair, most: u64) -> Pair {
        let (low, carry) = self.add(a[0], b[0]);
        let high = self.add_carry(a[1], b[1], carry).0;
        self.within([low, high], most)
    }

    /// A number that is one more if a bit is set, and then at most `most`.
    fn counted_up(&mut self, number: Pair, bit: Bit, most: u64) -> Pair {
        let (low, carry) = self.add_carry(number[0], ZERO, bit);
        let high = self.add_carry(number[1], ZERO, carry).0;
        self.within([low, high], most)
    }

    /// The cells from a place on that give these words: those that the processing element lacks count first.
    fn cost_since(&self, mark: usize, words: Pair) -> (usize, usize) {
        let mut is_needed = vec![false; self.cells.len() - mark];
        let mut open: Vec<Word> = words.to_vec();
        while let Some(word) = open.pop() {
            let Word::Cell(cell) = word else { continue };
            if cell >= mark && !std::mem::replace(&mut is_needed[cell - mark], true) {
                open.extend(self.cells[cell].used_words());
                open.extend(self.cells[cell].used_bits().iter().filter_map(|bit| bit.cell()).map(Word::Cell));
            }
        }
        let needed = || self.cells[mark..].iter().zip(&is_needed).filter(|(_, is_needed)| **is_needed);
        let is_missing = |cell: &Cell| !self.has(cell.operation);
        (needed().filter(|(cell, _)| is_missing(cell)).count(), needed().count())
    }
}

impl Division {
    /// The ways to a quotient of two words. Among them, at least one does: a factor with all bits of a word leaves a rest of hardly
    /// more than a word, or than the divisor.
    fn ways(&self, bits: u32) -> Vec<Way> {
        // Of shifts that need as many cells, the largest leaves the smallest rest.
        let largest = self.divisor.ilog2();
        let shifts = [0, bits, largest];
        let products = shifts.into_iter().filter(|shift| *shift <= largest);
        let products = products.flat_map(|shift| [false, true].map(|of_high| self.product(bits, shift, of_high)));
        let halved = Some(self.divisor.trailing_zeros()).filter(|zeros| *zeros > 0).map(Way::Halved);
        halved.into_iter().chain(products.flatten().map(Way::Product)).collect()
    }

    /// The product with so large a shift, if the rest that it leaves is easier to divide.
    fn product(&self, bits: u32, shift: u32, of_high: bool) -> Option<Product> {
        let (divisor, power) = (u128::from(self.divisor), 1_u128 << (bits + shift));
        let greatest = u128::from(self.greatest);
        let exact = power.div_ceil(divisor);
        if !of_high && exact >> bits == 0 && greatest * (exact * divisor - power) < power {
            return Some(Product { factor: exact as u64, shift, of_high, rest: None });
        }
        let factor = power / divisor;
        let multiplied = if of_high { greatest >> bits << bits } else { greatest };
        let left_out = if of_high { (1 << bits) - 1 } else { 0 };
        let rest = multiplied * (power - factor * divisor) / power + divisor + left_out;
        let rest = rest.min(greatest);
        let is_easier = rest >> bits == 0 || rest / divisor <= u128::from(MOST_MULTIPLES) || 2 * rest <= greatest;
        is_easier.then_some(Product { factor: factor as u64, shift, of_high, rest: Some(rest as u64) })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pushmem_files::Document;
    use pushmem_pe::{Numbers, PeSpec};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use pushmem_cells::Cells;

    fn pe(name: &str) -> PeSpec {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../constraints/pes"));
        PeSpec::from_document(&Document::read(&root.join(name).with_extension("yaml")).unwrap()).unwrap()
    }

    /// The cells of the quotient of two loads.
    fn divided(spec: &PeSpec, greatest: u64, divisor: u64) -> Cells {
        let mut builder = Builder::new(spec);
        let quotient = builder.quotient_of_pair([Word::Load(0), Word::Load(1)], greatest, divisor);
        builder.finished(quotient.to_vec())
    }

    #[test]
    fn quotients_of_pairs_are_exact() {
        let mut random = ChaCha8Rng::seed_from_u64(20_261_123);
        let named = [
            3,
            5,
            7,
            9,
            10,
            25,
            48,
            119,
            600,
            641,
            1_000,
            40_000,
            65_535,
            65_537,
            98_304,
            1 << 20,
            u32::MAX >> 1,
            u32::MAX - 1,
        ];
        for spec in ["amber_pe", "lean_pe"].map(pe) {
            for number in 0..600 {
                let divisor =
                    named.get(number).copied().unwrap_or_else(|| (random.random::<u32>() >> (number % 31)).max(1));
                let greatest = (random.random::<u32>() >> (number % 15)).max(1 << 16);
                let greatest = u64::from(if number % 3 == 0 { u32::MAX >> (number % 16) } else { greatest });
                let divisor = u64::from(divisor);
                let cells = divided(&spec, greatest, divisor);
                let multiples = (0..40).map(|_| random.random_range(0..=greatest / divisor) * divisor);
                let ends = [0, greatest / divisor * divisor, greatest];
                let numbers = multiples.chain(ends).flat_map(|of| [of.saturating_sub(1), of, of + 1, of + divisor - 1]);
                for dividend in numbers.filter(|number| *number <= greatest) {
                    let loads = [dividend as u32 & 0xffff, (dividend >> 16) as u32];
                    let words = cells.evaluate(&Numbers { word_bits: 16 }, &loads, &[], |_, _| 0);
                    let quotient = u64::from(words[0]) | u64::from(words[1]) << 16;
                    assert_eq!(quotient, dividend / divisor, "{}: {dividend} / {divisor} up to {greatest}", spec.name);
                }
            }
        }
    }

    /// The words that a program uses of a quotient: the low one, or both.
    #[test]
    fn quotients_of_pairs_take_few_cells() {
        let spec = pe("amber_pe");
        let cells = |(greatest, divisor): (u64, u64)| {
            let mut builder = Builder::new(&spec);
            let quotient = builder.quotient_of_pair([Word::Load(0), Word::Load(1)], greatest, divisor);
            builder.cost_since(0, quotient)
        };
        // Means of 3, 5, 9, 25 and 48 words.
        let means = [3, 5, 9, 25, 48].map(|divisor| cells((divisor * 65_535, divisor)));
        assert_eq!(means, [7, 7, 7, 7, 7].map(|cells| (0, cells)));
        // Quotients of products, and of any pair.
        let square = 65_535 * 65_535;
        let products = [(square, 600), (square, 255), (square, 65_535), (u64::from(u32::MAX), 1_000_003)].map(cells);
        assert_eq!(products, [15, 17, 7, 11].map(|cells| (0, cells)));
    }
}
