//! Quotients by a value that has few values: a table has the reciprocal of each.
//!
//! For a dividend `n` of at most `N`, `floor(n · c / d)` is `floor(n · r / 2^k)` with `r = ceil(c · 2^k / d)`, if the excess
//! `e = r · d - c · 2^k` is so small that `N · e < 2^k`: the product is too great by `n · e / (d · 2^k) < 1 / d`, and fractions of `d`
//! lie `1 / d` apart. Each entry of a table is checked so. `k` is one number for all divisors, or comes from a second table.
//!
//! Any word `n` of `b` bits has one more plan, with `r = floor((2^b - 1) / d)`: as `2^b / d - 1 <= r <= 2^b / d`, the high word `q` of
//! `n · r` is the quotient or one less, and it is one less where `(q + 1) · d <= n`.

use pushmem_datapaths::NodeKind;
use pushmem_nest::Binary;
use pushmem_pe::Operation;

use crate::legalize::{Legal, Legalizer};
use crate::predicate;
use pushmem_cells::Word;

/// Memory tiles that can be tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableTiles {
    /// The words that a tile holds.
    pub words: u32,
    /// The processing elements that a tile is worth.
    pub elements: u32,
}

/// A value, and what it is multiplied by: the dividend is their product.
#[derive(Clone, Copy, Debug)]
struct Dividend {
    node: usize,
    factor: u64,
    /// The greatest value, without sign.
    greatest: u64,
}

/// Which word of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Low,
    Middle,
    High,
}

/// How a quotient is computed.
#[derive(Clone, Debug)]
enum Method {
    /// A part of the product with a factor, shifted by a constant.
    Shifted { part: Part, factors: Vec<i64>, shift: u32 },
    /// A part of the product with a factor, shifted by the entry of a second table.
    ShiftedByTable { part: Part, factors: Vec<i64>, shifts: Vec<i64> },
    /// The high word of the product with a factor, which may be one less than the quotient.
    Corrected { factors: Vec<i64> },
}

/// A division by tables.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    dividend: Dividend,
    /// The value that numbers the entries, and that of the first entry.
    index: usize,
    first: i64,
    method: Method,
    /// Whether a quotient by 0 must be made 0.
    fixes_zero: bool,
}

impl Plan {
    /// Processing elements and memory tiles.
    fn cost(&self) -> (u32, u32) {
        let (elements, tiles) = match &self.method {
            Method::Shifted { shift, .. } => (1 + u32::from(*shift > 0), 1),
            Method::ShiftedByTable { .. } => (2, 2),
            Method::Corrected { .. } => (5, 1),
        };
        (elements + 2 * u32::from(self.fixes_zero) + u32::from(self.first != 0), tiles)
    }
}

impl Legalizer<'_, '_> {
    /// The cheapest division by tables, if it costs less than bit by bit.
    pub(crate) fn plan_of_tables(&self, is_modulo: bool, left: usize, right: usize) -> Option<Plan> {
        let tiles = self.tables?;
        let (index, first) = self.index_of_table(right, tiles)?;
        // Entries before the least value of the index are those of no divisor, as that of 0.
        let unused = self.range(index).0 - first;
        let numbered = predicate::results(self.values, right, index).into_iter().map(i64::unsigned_abs);
        let divisors: Vec<u64> = (0..unused).map(|_| 0).chain(numbered).collect();
        let word = self.is_narrow(left).then(|| self.dividend(left, 1));
        let dividends = word.into_iter().chain(self.dividend_of_product(left));
        let mut methods: Vec<(Dividend, Method)> = Vec::new();
        for dividend in dividends {
            let of_part = |part| methods_of_part(dividend, part, &divisors, self.builder.spec.word_bits);
            let parts = [Part::Low, Part::Middle, Part::High].into_iter().filter(|part| self.has_part(*part));
            methods.extend(parts.flat_map(of_part).map(|method| (dividend, method)));
        }
        if let Some(word) = word.filter(|_| self.has_part(Part::High) && self.is_narrow(right)) {
            let ones = (1_u64 << self.builder.spec.word_bits) - 1;
            let factors = divisors.iter().map(|divisor| ones.checked_div(*divisor).unwrap_or(0) as i64).collect();
            methods.push((word, Method::Corrected { factors }));
        }
        let plan = |(dividend, method): (Dividend, Method)| {
            let is_inexact = matches!(method, Method::Corrected { .. });
            let fixes_zero = self.may_be_zero(right) && (is_modulo || is_inexact || !self.is_natural(left));
            Plan { dividend, index, first, method, fixes_zero }
        };
        let cost = |(elements, memories): (u32, u32)| elements + memories * tiles.elements;
        let plan = methods.into_iter().map(plan).min_by_key(|plan| (cost(plan.cost()), plan.cost().0))?;
        // Four for each bit, and two at the ends.
        let bits = u64::BITS - self.dividend(left, 1).greatest.leading_zeros();
        (cost(plan.cost()) < 4 * bits + 2).then_some(plan)
    }

    /// The words of a division by tables.
    pub(crate) fn division_by_tables(
        &mut self,
        node: usize,
        is_modulo: bool,
        left: usize,
        right: usize,
        plan: Plan,
    ) -> Legal {
        let index = self.low(plan.index);
        let first = self.builder.constant(plan.first);
        let index = self.builder.subtract(index, first).0;
        let ([word, _], sign, greatest) = self.without_sign(plan.dividend.node);
        let [size, _] = self.size(right);
        let quotient = match plan.method {
            Method::Shifted { part, factors, shift } => {
                let factor = self.looked_up(factors, index);
                let product = self.part_of_product(part, word, factor);
                self.builder.shift(Operation::ShiftRightUnsigned, product, shift)
            }
            Method::ShiftedByTable { part, factors, shifts } => {
                let (factor, shift) = (self.looked_up(factors, index), self.looked_up(shifts, index));
                let product = self.part_of_product(part, word, factor);
                self.builder.shift_by(Operation::ShiftRightUnsigned, product, shift)
            }
            Method::Corrected { factors } => {
                let factor = self.looked_up(factors, index);
                let (least, most) = self.range(right);
                self.corrected(word, greatest, factor, size, least.unsigned_abs().max(most.unsigned_abs()))
            }
        };
        let quotient = self.builder.bitwise(Operation::Xor, quotient, sign);
        self.finished_by_value(node, is_modulo, (left, right), [quotient, sign], plan.fixes_zero)
    }

    fn looked_up(&mut self, entries: Vec<i64>, index: Word) -> Word {
        let table = self.builder.table(entries);
        self.builder.fetch(table, index)
    }

    /// The quotient of `word`, whose product with a factor has it as its high word, or one less.
    fn corrected(&mut self, word: Word, greatest: u64, factor: Word, divisor: Word, most: u64) -> Word {
        let quotient = self.builder.multiply_high(word, factor, false);
        let product = self.builder.multiply(quotient, divisor);
        let is_less = if greatest + most < 1 << self.builder.spec.word_bits {
            let next = self.builder.add(product, divisor).0;
            self.builder.less_equal(next, word, false)
        } else {
            let rest = self.builder.subtract(word, product).0;
            self.builder.less_equal(divisor, rest, false)
        };
        self.builder.add_carry(quotient, Word::Constant(0), is_less).0
    }

    pub(crate) fn may_be_zero(&self, node: usize) -> bool {
        let (least, most) = self.range(node);
        least <= 0 && most >= 0
    }

    /// A value as dividend without sign, with what it is multiplied by.
    fn dividend(&self, node: usize, factor: u64) -> Dividend {
        let (least, greatest) = self.range(node);
        Dividend { node, factor, greatest: greatest.max(-least - 1) as u64 }
    }

    /// The value without sign whose product with a constant, which does not wrap, is a dividend.
    fn dividend_of_product(&self, node: usize) -> Option<Dividend> {
        let NodeKind::Binary { operator, left, right } = self.values.values[node].kind else { return None };
        let (of, constant) = match (self.as_constant(left), self.as_constant(right)) {
            (None, Some(constant)) => (left, constant),
            (Some(constant), None) if operator == Binary::Multiply => (right, constant),
            _ => return None,
        };
        let word = 1_i64 << self.builder.spec.word_bits;
        let factor = match operator {
            Binary::Multiply => constant,
            Binary::ShiftLeft if (0..i64::from(self.builder.spec.word_bits)).contains(&constant) => 1 << constant,
            _ => return None,
        };
        let is_positive = self.is_natural(of) && self.is_narrow(of) && (1..word).contains(&factor);
        let is_exact = is_positive && self.values.values[node].value.holds(self.range(of).1 * factor);
        is_exact.then(|| self.dividend(of, factor as u64))
    }

    /// The value that a divisor depends on and that numbers the entries of a table, and its least value, from which they are numbered.
    /// One that is a number as it is needs no subtraction.
    fn index_of_table(&self, divisor: usize, tiles: TableTiles) -> Option<(usize, i64)> {
        let words = i64::from(tiles.words);
        let mut indices = Vec::new();
        let mut next = Some(divisor);
        while let Some(node) = next {
            let (low, high) = self.range(node);
            if self.is_narrow(node) && high - low < words {
                indices.push((node, if low >= 0 && high < words { 0 } else { low }));
            }
            let value = &self.values.values[node];
            let is_leaf = matches!(value.kind, NodeKind::Lookup { .. } | NodeKind::Fetch { .. });
            let mut operands = value.kind.operands().filter(|operand| !self.values.values[*operand].kind.is_constant());
            let one = operands.next().filter(|one| !is_leaf && operands.all(|other| other == *one));
            next = one;
        }
        indices.into_iter().rev().min_by_key(|(_, first)| *first != 0)
    }

    fn has_part(&self, part: Part) -> bool {
        self.builder.has(match part {
            Part::Low => Operation::Multiply,
            Part::Middle => Operation::MultiplyMiddleUnsigned,
            Part::High => Operation::MultiplyHighUnsigned,
        })
    }

    fn part_of_product(&mut self, part: Part, a: Word, b: Word) -> Word {
        match part {
            Part::Low => self.builder.multiply(a, b),
            Part::Middle => self.builder.multiply_middle(a, b, false).expect("parts are those that there are"),
            Part::High => self.builder.multiply_high(a, b, false),
        }
    }
}

/// The methods without correction whose product begins with this part: with one shift for all, and with one for each.
fn methods_of_part(dividend: Dividend, part: Part, divisors: &[u64], word_bits: u32) -> Vec<Method> {
    let base = match part {
        Part::Low => 0,
        Part::Middle => word_bits / 2,
        Part::High => word_bits,
    };
    let factor = |divisor: u64, shift: u32| factor(dividend, divisor, base, shift, word_bits);
    let uniform = (0..word_bits).find_map(|shift| {
        let factors = divisors.iter().map(|divisor| factor(*divisor, shift)).collect::<Option<Vec<i64>>>()?;
        Some(Method::Shifted { part, factors, shift })
    });
    let each = |divisor: &u64| (0..word_bits).find_map(|shift| Some((factor(*divisor, shift)?, i64::from(shift))));
    let each: Option<(Vec<i64>, Vec<i64>)> = divisors.iter().map(each).collect();
    let each = each.map(|(factors, shifts)| Method::ShiftedByTable { part, factors, shifts });
    uniform.into_iter().chain(each).collect()
}

/// The word whose product with any value of the dividend, without its lowest `base + shift` bits, is the quotient, if there is one.
/// The product has at most `base` bits more than a word.
fn factor(dividend: Dividend, divisor: u64, base: u32, shift: u32, word_bits: u32) -> Option<i64> {
    let Some(divisor) = Some(u128::from(divisor)).filter(|divisor| *divisor > 0) else { return Some(0) };
    let greatest = u128::from(dividend.greatest);
    let one = 1_u128 << (base + shift);
    let power = u128::from(dividend.factor) * one;
    let factor = power.div_ceil(divisor);
    let excess = factor * divisor - power;
    let is_exact = greatest * excess < one;
    let fits = factor >> word_bits == 0 && (greatest * factor) >> (word_bits + base) == 0;
    (is_exact && fits).then_some(factor as i64)
}
