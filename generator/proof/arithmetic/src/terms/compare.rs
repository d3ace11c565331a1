//! Comparisons, extremes and selections.

use itertools::Itertools;
use num_integer::Integer;

use super::{Atom, Bounds, Polynomial, Term, Terms};

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
    fn without_dominated(&mut self, members: Vec<Term>, stands: fn(&mut Self, Term, Term) -> bool) -> Vec<Term> {
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
                .map(|(branch, is_negative)| self.where_sign(branch, of, is_negative));
            if new != [then, otherwise] {
                return self.select(condition, new[0], new[1]);
            }
            let distance = self.subtract(then, otherwise);
            let distance = self.primitive(distance);
            let opposite = self.scale(distance, -1);
            let [below, above] = [distance, opposite].map(|of| [of, self.shift(of, -1)]);
            if below.contains(&of) {
                return self.least(then, otherwise);
            }
            if above.contains(&of) {
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

    /// A term divided by the greatest number that leaves whole factors, which does not change its sign.
    fn primitive(&mut self, of: Term) -> Term {
        let Polynomial { terms, constant } = self.polynomial(of).clone();
        let common = terms.iter().fold(constant.abs(), |common, (_, factor)| common.gcd(factor));
        if common < 2 {
            return of;
        }
        let terms = terms.into_iter().map(|(monomial, factor)| (monomial, factor / common));
        self.collected(terms, constant / common)
    }

    /// A term where it is known whether another one is negative: the remainder of that one, or of its opposite, may be itself.
    fn where_sign(&mut self, term: Term, of: Term, is_negative: bool) -> Term {
        let Some(&Atom::Modulo(whole, bits)) = self.as_atom(term) else { return term };
        let Bounds { low, high } = self.bounds(of);
        let (low, high) = if is_negative { (low, -1) } else { (0, high) };
        for (factor, low, high) in [(1, low, high), (-1, -high, -low)] {
            let rest = self.plus(whole, of, -factor);
            let Some(constant) = self.as_constant(rest) else { continue };
            let turn = (low + constant).div_euclid(1 << bits) << bits;
            if high + constant < turn + (1 << bits) {
                return self.shift(whole, -turn);
            }
        }
        term
    }
}
