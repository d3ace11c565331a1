//! The bounds of terms.

use itertools::Itertools;
use pushmem_nest::{Binary, Unary};

use super::{Atom, AtomId, Function, Polynomial, Term, Terms};

/// An end that is not known: it stays so in sums, products and quotients.
const FAR: i128 = 1 << 110;

/// How many truth values, and how many quotients, are taken apart for the bounds of a term.
const CASES: u32 = 3;

/// The least and the greatest value. The true ones may be closer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bounds {
    pub low: i128,
    pub high: i128,
}

impl Bounds {
    pub const TRUTH: Bounds = Bounds { low: 0, high: 1 };
    pub const ALL: Bounds = Bounds { low: -FAR, high: FAR };

    pub fn new(low: i64, high: i64) -> Self {
        Bounds { low: low.into(), high: high.into() }
    }

    pub fn is_within(self, low: i128, high: i128) -> bool {
        low <= self.low && self.high <= high
    }

    fn corners(of: impl IntoIterator<Item = Option<i128>>) -> Bounds {
        let of: Option<Vec<i128>> = of.into_iter().collect();
        let ends = of.and_then(|of| Some((*of.iter().min()?, *of.iter().max()?)));
        ends.map_or(Bounds::ALL, |(low, high)| Bounds { low: low.max(-FAR), high: high.min(FAR) })
    }

    /// An end, if it is known.
    fn known(end: i128) -> Option<i128> {
        (end.abs() < FAR).then_some(end)
    }

    fn times(self, other: Bounds) -> Bounds {
        let are_known =
            [self.low, self.high, other.low, other.high].into_iter().all(|end| Bounds::known(end).is_some());
        if !are_known {
            return Bounds::ALL;
        }
        let ends = [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)];
        Bounds::corners(ends.map(|(one, other)| one.checked_mul(other)))
    }

    fn plus(self, other: Bounds) -> Bounds {
        let sum = |one: i128, other: i128| Bounds::known(Bounds::known(one)? + Bounds::known(other)?);
        Bounds { low: sum(self.low, other.low).unwrap_or(-FAR), high: sum(self.high, other.high).unwrap_or(FAR) }
    }

    /// Those of the quotient by a positive number, rounded down.
    fn quotient(self, divisor: i128) -> Bounds {
        let of = |end: i128| Bounds::known(end).map(|end| end.div_euclid(divisor));
        Bounds { low: of(self.low).unwrap_or(-FAR), high: of(self.high).unwrap_or(FAR) }
    }

    /// Those of a number of which these are bounds of a positive multiple.
    fn part(self, factor: i128) -> Bounds {
        let low = Bounds::known(self.low).map_or(-FAR, |low| -(-low).div_euclid(factor));
        Bounds { low, ..self.quotient(factor) }
    }

    fn scaled(self, factor: i128) -> Bounds {
        self.times(Bounds { low: factor, high: factor })
    }

    fn both(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    pub fn either(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

impl Terms<'_> {
    pub fn bounds(&mut self, of: Term) -> Bounds {
        if let Some(known) = self.term_bounds.get(&of) {
            return *known;
        }
        let bounds = self.bounds_within(of, CASES);
        self.term_bounds.insert(of, bounds);
        bounds
    }

    fn bounds_within(&mut self, of: Term, cases: u32) -> Bounds {
        let mut bounds = self.bounds_of_sum(self.polynomial(of));
        if cases == 0 {
            return bounds;
        }
        if let Some(truth) = self.truth_of_several(of) {
            let [without, with] = [false, true].map(|value| self.with_truth(of, truth, value));
            return bounds.both(self.bounds_within(without, cases - 1).either(self.bounds_within(with, cases - 1)));
        }
        for (rest, remainder) in self.without_quotients(of) {
            bounds = bounds.both(self.bounds_within(rest, cases - 1).plus(remainder));
        }
        if let Some(divisor) = self.divisor_of_several(of) {
            let multiple = self.scale(of, divisor);
            bounds = bounds.both(self.bounds_within(multiple, cases).part(divisor));
        }
        bounds
    }

    fn bounds_of_sum(&self, of: &Polynomial) -> Bounds {
        let constant = Bounds { low: of.constant, high: of.constant };
        of.terms.iter().fold(constant, |sum, (monomial, factor)| sum.plus(self.bounds_of(monomial).scaled(*factor)))
    }

    fn bounds_of(&self, monomial: &[AtomId]) -> Bounds {
        let groups = monomial.iter().chunk_by(|atom| **atom);
        groups.into_iter().fold(Bounds { low: 1, high: 1 }, |product, (atom, times)| {
            let of = self.atom_bounds[atom as usize];
            let times = times.count();
            let power = (1..times).fold(of, |power, _| power.times(of));
            let is_even = times % 2 == 0;
            product.times(if is_even { power.both(Bounds { low: 0, high: FAR }) } else { power })
        })
    }

    /// A truth value that several monomials of a term have, or one with others.
    fn truth_of_several(&self, of: Term) -> Option<AtomId> {
        let terms = &self.polynomial(of).terms;
        let is_truth = |atom: &AtomId| self.atom_bounds[*atom as usize].is_within(0, 1);
        let has_products = terms.iter().any(|(monomial, _)| monomial.len() > 1 && monomial.iter().any(is_truth));
        if !has_products {
            return None;
        }
        let truths = terms.iter().flat_map(|(monomial, _)| monomial.iter().copied()).filter(is_truth);
        let counts = truths.counts();
        counts
            .into_iter()
            .filter(|(_, count)| *count > 1)
            .max_by_key(|(atom, count)| (*count, *atom))
            .map(|(atom, _)| atom)
    }

    /// The least divisor of several quotients in a term, as of a carry, which is the quotient of a sum less those of its parts.
    fn divisor_of_several(&self, of: Term) -> Option<i128> {
        let divisor = |(_, atom, factor): (AtomId, &Atom, i128)| match *atom {
            Atom::Quotient(_, divisor) if factor % divisor != 0 => Some(divisor),
            _ => None,
        };
        let Polynomial { terms, constant } = self.polynomial(of);
        let divisors = self.single_atoms(of).filter_map(divisor).collect_vec();
        let least = *divisors.iter().min()?;
        let fits = |factor: i128| factor.checked_mul(least).is_some_and(|product| product.unsigned_abs() < 1 << 99);
        let all_fit = terms.iter().map(|(_, factor)| *factor).chain([*constant]).all(fits);
        (divisors.len() > 1 && all_fit).then_some(least)
    }

    /// A term with a multiple of a quotient `q` of `p` by `d`, as one without it: `d·q` is `p` less a remainder from 0 to `d - 1`.
    fn without_quotients(&mut self, of: Term) -> Vec<(Term, Bounds)> {
        let quotient = |(number, atom, factor): (AtomId, &Atom, i128)| match *atom {
            Atom::Quotient(dividend, divisor) if factor % divisor == 0 => Some((number, factor, dividend, divisor)),
            _ => None,
        };
        let found = self.single_atoms(of).filter_map(quotient).take(2).collect_vec();
        found
            .into_iter()
            .map(|(number, factor, dividend, divisor)| {
                let multiple = self.of_atom(number);
                let rest = self.plus(of, multiple, -factor);
                let rest = self.plus(rest, dividend, factor / divisor);
                (rest, Bounds { low: 0, high: divisor - 1 }.scaled(-(factor / divisor)))
            })
            .collect()
    }

    pub(super) fn bounds_of_atom(&mut self, atom: &Atom) -> Bounds {
        match atom {
            Atom::Load(_) | Atom::Variable(_) => (self.leaves)(atom),
            Atom::Modulo(_, bits) => Bounds { low: 0, high: (1 << bits) - 1 },
            Atom::Quotient(of, divisor) => self.bounds(*of).quotient(*divisor),
            Atom::IsNegative(_) | Atom::IsZero(_) => Bounds::TRUTH,
            Atom::Least(of) => {
                let middle = self.middle(of);
                let all = of.iter().map(|of| self.bounds(*of)).chain(middle).collect_vec();
                let low = all[..of.len()].iter().map(|of| of.low).min();
                let high = all.iter().map(|of| of.high).min();
                low.zip(high).map_or(Bounds::ALL, |(low, high)| Bounds { low, high })
            }
            Atom::Greatest(of) => {
                let middle = self.middle(of);
                let all = of.iter().map(|of| self.bounds(*of)).chain(middle).collect_vec();
                let low = all.iter().map(|of| of.low).max();
                let high = all[..of.len()].iter().map(|of| of.high).max();
                low.zip(high).map_or(Bounds::ALL, |(low, high)| Bounds { low, high })
            }
            Atom::All(of) => {
                let natural =
                    of.iter().map(|of| self.bounds(*of)).filter(|bounds| bounds.low >= 0).map(|of| of.high).min();
                natural.map_or(Bounds { low: -(1 << 32), high: 1 << 32 }, |high| Bounds { low: 0, high })
            }
            Atom::Any(of) => {
                let all = of.iter().map(|of| self.bounds(*of)).collect_vec();
                let high = all.iter().map(|of| of.high).max().unwrap_or(0);
                match all.iter().all(|of| of.low >= 0) {
                    true => Bounds { low: 0, high: (1 << (128 - high.leading_zeros())) - 1 },
                    false => Bounds { low: -(1 << 32), high: 1 << 32 },
                }
            }
            Atom::Select(_, then, otherwise) => self.bounds(*then).either(self.bounds(*otherwise)),
            Atom::Product(one, other) => self.bounds(*one).times(self.bounds(*other)),
            Atom::Apply(function, operands) => self.bounds_of_function(*function, operands),
        }
    }

    /// The middle of two terms: the least is no greater, and the greatest no less.
    fn middle(&mut self, of: &[Term]) -> Option<Bounds> {
        let [one, other] = *of else { return None };
        let sum = self.add(one, other);
        Some(self.bounds(sum).part(2))
    }

    fn bounds_of_function(&mut self, function: Function, operands: &[Term]) -> Bounds {
        match function {
            Function::Table(table) => (self.tables)(table).0,
            Function::ToInteger { to, .. } => Bounds::new(to.min(), to.max()),
            Function::Unary(Unary::FloatToInteger(_)) => Bounds { low: -(1 << 15), high: (1 << 15) - 1 },
            Function::Unary(_) => Bounds { low: 0, high: u16::MAX.into() },
            Function::Binary(operator) if operator.is_comparison() => Bounds::TRUTH,
            Function::Binary(operator) if operator.is_of_numbers() => Bounds { low: 0, high: u16::MAX.into() },
            Function::Binary(Binary::Divide) => {
                // No quotient is further from 0 than the dividend.
                let (of, by) = (self.bounds(operands[0]), self.bounds(operands[1]));
                let most = of.low.abs().max(of.high.abs());
                match of.low >= 0 && by.low >= 0 {
                    true => Bounds { low: 0, high: of.high },
                    false if by.low >= 0 => Bounds { low: of.low.min(0), high: of.high.max(0) },
                    false => Bounds { low: -most, high: most },
                }
            }
            Function::Binary(Binary::Modulo) => {
                let by = self.bounds(operands[1]);
                let below = Bounds { low: 0, high: (by.low.abs().max(by.high.abs()) - 1).max(0) };
                let of = self.bounds(operands[0]);
                // A remainder is no greater than a dividend without sign.
                if of.low >= 0 { below.both(Bounds { low: 0, high: of.high }) } else { below }
            }
            Function::Binary(_) => Bounds { low: -(1 << 64), high: 1 << 64 },
        }
    }
}
