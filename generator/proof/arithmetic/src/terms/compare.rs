//! Comparisons, extremes and selections.

use itertools::Itertools;
use num_integer::Integer;

use super::{Atom, AtomId, Bounds, Polynomial, Term, Terms};

/// How many selections within selections are looked through.
const MOST_SIGNS: usize = 3;

impl Terms<'_> {
    /// 1 if the first is less than the second, else 0.
    pub fn less(&mut self, one: Term, other: Term) -> Term {
        let distance = self.subtract(one, other);
        self.is_negative(distance)
    }

    /// 1 if a term is negative, else 0.
    pub(super) fn is_negative(&mut self, of: Term) -> Term {
        let bounds = self.bounds(of);
        if bounds.high < 0 || bounds.low >= 0 {
            return self.constant((bounds.high < 0).into());
        }
        if let Some(cases) = self.by_truths(of, &|number| (number < 0).into()) {
            return cases;
        }
        if let Some((dividend, _)) = self.as_quotient(of) {
            return self.is_negative(dividend);
        }
        if let Some(joined) = self.is_choice_negative(of) {
            return joined;
        }
        let Polynomial { terms, constant } = self.polynomial(of).clone();
        // The first factor is positive: otherwise it is not so that -p - 1 is negative.
        if terms.first().is_some_and(|(_, factor)| *factor < 0) {
            let opposite = self.scale(of, -1);
            let opposite = self.shift(opposite, -1);
            let opposite = self.is_negative(opposite);
            return self.not(opposite);
        }
        let common = terms.iter().fold(0_i128, |common, (_, factor)| common.gcd(factor));
        let part = terms.into_iter().map(|(monomial, factor)| (monomial, factor / common));
        let part = self.collected(part, constant.div_euclid(common));
        self.atom(Atom::IsNegative(part))
    }

    /// Whether a sum with a choice is negative, by the same of its branches: with the least or the greatest of terms, or with a selection
    /// where that is known for a branch.
    fn is_choice_negative(&mut self, of: Term) -> Option<Term> {
        let choice = |(number, atom, factor): (AtomId, &Atom, i128)| match atom {
            Atom::Select(..) | Atom::Least(_) | Atom::Greatest(_) if factor == 1 => Some((number, atom.clone())),
            _ => None,
        };
        let (number, atom) = self.single_atoms(of).find_map(choice)?;
        let chosen = self.of_atom(number);
        let rest = self.subtract(of, chosen);
        let is_negative = |terms: &mut Self, branch: Term| {
            let sum = terms.add(rest, branch);
            terms.is_negative(sum)
        };
        let (branches, join): (_, fn(&mut Self, Term, Term) -> Term) = match atom {
            Atom::Least(branches) => (branches, Self::any),
            Atom::Greatest(branches) => (branches, Self::and),
            Atom::Select(condition, then, otherwise) => {
                let [then, otherwise] = [then, otherwise].map(|branch| is_negative(self, branch));
                let is_known = self.as_constant(then).or(self.as_constant(otherwise)).is_some();
                return is_known.then(|| self.select(condition, then, otherwise));
            }
            _ => return None,
        };
        let signs = branches.into_iter().map(|branch| is_negative(self, branch)).collect_vec();
        signs.into_iter().reduce(|one, other| join(self, one, other))
    }

    /// 1 if two terms are equal, else 0.
    pub fn equal(&mut self, one: Term, other: Term) -> Term {
        let distance = self.subtract(one, other);
        let bounds = self.bounds(distance);
        if bounds.low > 0 || bounds.high < 0 {
            return self.constant(0);
        }
        if let Some(cases) = self.by_truths(distance, &|number| (number == 0).into()) {
            return cases;
        }
        let Polynomial { terms, constant } = self.polynomial(distance).clone();
        let common = terms.iter().fold(0_i128, |common, (_, factor)| common.gcd(factor));
        if constant % common != 0 {
            return self.constant(0);
        }
        let sign = terms.first().map_or(1, |(_, factor)| factor.signum());
        let part = terms.into_iter().map(|(monomial, factor)| (monomial, factor / common * sign));
        let part = self.collected(part, constant / common * sign);
        self.atom(Atom::IsZero(part))
    }

    /// The other truth value.
    pub fn not(&mut self, of: Term) -> Term {
        let one = self.constant(1);
        self.subtract(one, of)
    }

    pub fn least(&mut self, one: Term, other: Term) -> Term {
        let members = self.members(one, other, |atom| match atom {
            Atom::Least(of) => Some(of),
            _ => None,
        });
        let kept = self.without_dominated(members, |terms, one, other| terms.is_at_most(one, other));
        if let [only] = kept.as_slice() { *only } else { self.atom(Atom::Least(kept)) }
    }

    pub fn greatest(&mut self, one: Term, other: Term) -> Term {
        let members = self.members(one, other, |atom| match atom {
            Atom::Greatest(of) => Some(of),
            _ => None,
        });
        let kept = self.without_dominated(members, |terms, one, other| terms.is_at_most(other, one));
        if let [only] = kept.as_slice() { *only } else { self.atom(Atom::Greatest(kept)) }
    }

    /// The members of two sets, each once and ascending; of a term that is no set, itself.
    pub(super) fn members(&self, one: Term, other: Term, set: fn(&Atom) -> Option<&Vec<Term>>) -> Vec<Term> {
        let of = |term: Term| self.as_atom(term).and_then(set).cloned().unwrap_or_else(|| vec![term]);
        of(one).into_iter().chain(of(other)).sorted_unstable().dedup().collect()
    }

    /// The members without those for which another one stands.
    pub(super) fn without_dominated(
        &mut self,
        members: Vec<Term>,
        stands: fn(&mut Self, Term, Term) -> bool,
    ) -> Vec<Term> {
        let mut kept: Vec<Term> = Vec::new();
        for member in members {
            if kept.iter().copied().any(|other| stands(self, other, member)) {
                continue;
            }
            kept.retain(|&other| !stands(self, member, other));
            kept.push(member);
        }
        kept
    }

    fn is_at_most(&mut self, one: Term, other: Term) -> bool {
        let (low, high) = (self.bounds(one), self.bounds(other));
        low.high <= high.low || {
            let distance = self.subtract(one, other);
            self.bounds(distance).high <= 0
        }
    }

    /// The distance of two terms.
    pub fn distance(&mut self, one: Term, other: Term) -> Term {
        let (there, back) = (self.subtract(one, other), self.subtract(other, one));
        self.greatest(there, back)
    }

    /// One of two terms, by a truth value.
    pub fn select(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        if let Some(truth) = self.as_constant(condition) {
            return if truth != 0 { then } else { otherwise };
        }
        if then == otherwise {
            return then;
        }
        // The first factor of a condition is positive.
        if self.polynomial(condition).terms.first().is_some_and(|(_, factor)| *factor < 0) {
            let opposite = self.not(condition);
            return self.select(opposite, otherwise, then);
        }
        if self.bounds(condition).is_within(0, 1)
            && let Some(&Atom::Quotient(dividend, divisor)) = self.as_atom(condition)
        {
            let less = self.shift(dividend, -divisor);
            let less = self.is_negative(less);
            return self.select(less, otherwise, then);
        }
        let are_numbers = [then, otherwise].iter().all(|of| self.as_constant(*of).is_some());
        let are_truths = [then, otherwise].iter().all(|of| self.bounds(*of).is_within(0, 1));
        if are_truths && let Some(joined) = self.joined_truths(condition, then, otherwise) {
            return joined;
        }
        if are_numbers || are_truths {
            let step = self.subtract(then, otherwise);
            let step = self.multiply(condition, step);
            return self.add(otherwise, step);
        }
        if let Some(&Atom::IsNegative(of)) = self.as_atom(condition) {
            let new = [(then, true), (otherwise, false)]
                .map(|(branch, is_negative)| self.where_signs(branch, &[(of, is_negative)]));
            if new != [then, otherwise] {
                return self.select(condition, new[0], new[1]);
            }
            let [distance, opposite] = [self.subtract(then, otherwise), self.subtract(otherwise, then)];
            let is_less = |terms: &mut Self, distance: Term| {
                [0, -1].map(|by| terms.shift(distance, by)).map(|of| terms.is_negative(of))
            };
            if is_less(self, distance).contains(&condition) {
                return self.least(then, otherwise);
            }
            if is_less(self, opposite).contains(&condition) {
                return self.greatest(then, otherwise);
            }
        }
        self.atom(Atom::Select(condition, then, otherwise))
    }

    /// A selection of truth values of which one is a number, as a conjunction.
    fn joined_truths(&mut self, condition: Term, then: Term, otherwise: Term) -> Option<Term> {
        let opposite = self.not(condition);
        Some(match (self.as_constant(then), self.as_constant(otherwise)) {
            (Some(_), Some(_)) | (None, None) => return None,
            (_, Some(0)) => self.and(condition, then),
            (Some(0), _) => self.and(opposite, otherwise),
            (Some(_), _) => self.any(condition, otherwise),
            _ => self.any(opposite, then),
        })
    }

    /// 1 if one of two truth values is, else 0.
    pub fn any(&mut self, one: Term, other: Term) -> Term {
        let (one, other) = (self.not(one), self.not(other));
        let neither = self.and(one, other);
        self.not(neither)
    }

    /// A term where it is known whether others are negative: quotients and remainders that are the same for all such values are other terms.
    fn where_signs(&mut self, term: Term, signs: &[(Term, bool)]) -> Term {
        let atoms = self.single_atoms(term).map(|(number, atom, factor)| (number, atom.clone(), factor)).collect_vec();
        let mut sum = term;
        for (number, atom, factor) in atoms {
            let new = match atom {
                Atom::Select(condition, then, otherwise) if signs.len() < MOST_SIGNS => {
                    let Some(&Atom::IsNegative(of)) = self.as_atom(condition) else { continue };
                    let new = [(then, true), (otherwise, false)]
                        .map(|(branch, is_negative)| self.where_signs(branch, &[signs, &[(of, is_negative)]].concat()));
                    if new == [then, otherwise] {
                        continue;
                    }
                    self.select(condition, new[0], new[1])
                }
                Atom::Quotient(dividend, divisor) => {
                    let Bounds { low, high } = self.bounds_where(dividend, signs);
                    if low.div_euclid(divisor) != high.div_euclid(divisor) {
                        continue;
                    }
                    self.constant(low.div_euclid(divisor))
                }
                Atom::Modulo(whole, bits) => {
                    let Bounds { low, high } = self.bounds_where(whole, signs);
                    if low >> bits != high >> bits {
                        continue;
                    }
                    self.shift(whole, -(low >> bits << bits))
                }
                _ => continue,
            };
            let old = self.of_atom(number);
            sum = self.plus(sum, old, -factor);
            sum = self.plus(sum, new, factor);
        }
        sum
    }

    /// The bounds of a term where it is known whether others are negative.
    fn bounds_where(&mut self, term: Term, signs: &[(Term, bool)]) -> Bounds {
        let Bounds { mut low, mut high } = self.bounds(term);
        for &(of, is_negative) in signs {
            let limits = self.bounds(of);
            let (least, most) = if is_negative { (limits.low, -1) } else { (0, limits.high) };
            // As a multiple of the other one and a number.
            let Some((_, factor)) = self.polynomial(of).terms.first().cloned() else { continue };
            let first = self.polynomial(of).terms[0].0.clone();
            let Some(multiple) = self.polynomial(term).terms.iter().find(|(monomial, _)| *monomial == first) else {
                continue;
            };
            let times = multiple.1 / factor;
            let rest = self.plus(term, of, -times);
            let Some(constant) = self.as_constant(rest) else { continue };
            let ends = [least, most].map(|end| end * times + constant);
            low = low.max(ends[0].min(ends[1]));
            high = high.min(ends[0].max(ends[1]));
        }
        Bounds { low, high }
    }

    /// Whether one truth value implies another: both are signs of terms of which one is that much more than the other.
    pub(super) fn implies(&mut self, one: Term, other: Term) -> bool {
        let [not_one, not_other] = [one, other].map(|of| self.not(of));
        [(one, other), (not_other, not_one)].into_iter().any(|(one, other)| {
            let (Some(&Atom::IsNegative(one)), Some(&Atom::IsNegative(other))) =
                (self.as_atom(one), self.as_atom(other))
            else {
                return false;
            };
            let more = self.subtract(one, other);
            self.as_constant(more).is_some_and(|more| more >= 0)
        })
    }
}
