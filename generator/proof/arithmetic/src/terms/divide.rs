//! Quotients by constants, rounded down.

use num_integer::Integer;

use super::{Atom, Polynomial, Term, Terms};

/// The largest divisor of quotients of quotients that become one.
const LARGEST_DIVISOR: i128 = 1 << 62;

impl Terms<'_> {
    /// The quotient by a positive number, rounded down.
    pub fn quotient(&mut self, of: Term, divisor: i128) -> Term {
        let Polynomial { terms, constant } = self.polynomial(of).clone();
        let (multiples, rest): (Vec<_>, Vec<_>) = terms.into_iter().partition(|(_, factor)| factor % divisor == 0);
        let whole = multiples.into_iter().map(|(monomial, factor)| (monomial, factor / divisor));
        let whole = self.collected(whole, constant.div_euclid(divisor));
        let rest = self.collected(rest, constant.rem_euclid(divisor));
        let rest = self.quotient_of_rest(rest, divisor);
        self.add(whole, rest)
    }

    /// The same without multiples of the divisor.
    fn quotient_of_rest(&mut self, of: Term, divisor: i128) -> Term {
        let Polynomial { terms, constant } = self.polynomial(of).clone();
        let common = terms.iter().fold(divisor, |common, (_, factor)| common.gcd(factor));
        if common > 1 {
            let part = terms.into_iter().map(|(monomial, factor)| (monomial, factor / common));
            let part = self.collected(part, constant.div_euclid(common));
            return self.quotient(part, divisor / common);
        }
        let bounds = self.bounds(of);
        let low = bounds.low.div_euclid(divisor);
        if low == bounds.high.div_euclid(divisor) {
            return self.constant(low);
        }
        if let Some(apart) = self.quotient_of_remainder(of, divisor) {
            return apart;
        }
        if bounds.is_within(-divisor, divisor - 1) {
            let negative = self.is_negative(of);
            return self.scale(negative, -1);
        }
        if let Some(joined) = self.joined_quotient(of, divisor) {
            return joined;
        }
        if let Some(quotient) = self.by_reciprocal(of, divisor) {
            return quotient;
        }
        if let Some(cases) = self.by_truths(of, &|number| number.div_euclid(divisor)) {
            return cases;
        }
        self.atom(Atom::Quotient(of, divisor))
    }

    /// A quotient of a sum with `2^k·(p mod 2^n)`, which is `2^k·p - 2^(k + n)·⌊p/2^n⌋`, where `2^(k + n)` is a multiple of the divisor:
    /// so are the carries of sums of words.
    fn quotient_of_remainder(&mut self, of: Term, divisor: i128) -> Option<Term> {
        let (number, factor, whole, radix) = self.single_atoms(of).find_map(|(number, atom, factor)| match *atom {
            Atom::Modulo(whole, bits)
                if factor.abs().count_ones() == 1 && factor.checked_mul(1 << bits)? % divisor == 0 =>
            {
                Some((number, factor, whole, 1_i128 << bits))
            }
            _ => None,
        })?;
        let remainder = self.of_atom(number);
        let rest = self.plus(of, remainder, -factor);
        let rest = self.plus(rest, whole, factor);
        let all = self.quotient(rest, divisor);
        let multiple = self.quotient(whole, radix);
        Some(self.plus(all, multiple, -(factor * radix / divisor)))
    }

    /// `⌊(p + ⌊q/a⌋)/b⌋` is `⌊(a·p + q)/(a·b)⌋`.
    fn joined_quotient(&mut self, of: Term, divisor: i128) -> Option<Term> {
        let (dividend, inner) = self.as_quotient(of)?;
        let divisor = inner.checked_mul(divisor).filter(|product| *product <= LARGEST_DIVISOR)?;
        Some(self.quotient(dividend, divisor))
    }

    /// A sum with one quotient as a quotient of another term: `p + ⌊q/a⌋` is `⌊(a·p + q)/a⌋`.
    pub(super) fn as_quotient(&mut self, of: Term) -> Option<(Term, i128)> {
        let quotients = self.single_atoms(of).filter_map(|(number, atom, factor)| match *atom {
            Atom::Quotient(dividend, inner) if factor == 1 => Some((number, dividend, inner)),
            _ => None,
        });
        let found: Vec<_> = quotients.collect();
        let &[(number, dividend, inner)] = found.as_slice() else { return None };
        let quotient = self.of_atom(number);
        let rest = self.subtract(of, quotient);
        let rest = self.scale(rest, inner);
        Some((self.add(rest, dividend), inner))
    }

    /// A product with the reciprocal of `d`: `⌊f·x/p⌋` is `⌊x/d⌋` if `f·d` is more than `p` by an error `e` from 0 on, and `e·x` is less
    /// than `p` (Granlund and Montgomery, 1994). For these is `f·x/p = x/d + e·x/(d·p)`, less than 1/d more.
    fn by_reciprocal(&mut self, of: Term, power: i128) -> Option<Term> {
        let polynomial = self.polynomial(of).clone();
        let factor = polynomial.terms.iter().fold(0_i128, |common, (_, factor)| common.gcd(factor));
        if factor < 2 || polynomial.constant % factor != 0 {
            return None;
        }
        let number = polynomial.terms.into_iter().map(|(monomial, of)| (monomial, of / factor));
        let number = self.collected(number, polynomial.constant / factor);
        let bounds = self.bounds(number);
        let divisor = (power + factor - 1) / factor;
        let error = factor * divisor - power;
        let is_exact = bounds.low >= 0 && error.checked_mul(bounds.high).is_some_and(|most| most < power);
        is_exact.then(|| self.quotient(number, divisor))
    }
}
