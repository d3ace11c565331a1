//! Operations of bits, on integers in two's complement, which have no end.

use super::{Atom, Term, Terms};

impl Terms<'_> {
    pub fn and(&mut self, one: Term, other: Term) -> Term {
        match (self.as_constant(one), self.as_constant(other)) {
            (Some(mask), _) => self.masked(other, mask),
            (_, Some(mask)) => self.masked(one, mask),
            _ => {
                let members = self.members(one, other, |atom| match atom {
                    Atom::All(of) => Some(of),
                    _ => None,
                });
                let members = self.without_dominated(members, |terms, one, other| terms.implies(one, other));
                if let [only] = members.as_slice() { *only } else { self.atom(Atom::All(members)) }
            }
        }
    }

    pub fn or(&mut self, one: Term, other: Term) -> Term {
        if self.are_apart(one, other) || self.are_apart(other, one) {
            return self.add(one, other);
        }
        match (self.as_constant(one), self.as_constant(other)) {
            (None, None) => {
                let members = self.members(one, other, |atom| match atom {
                    Atom::Any(of) => Some(of),
                    _ => None,
                });
                if let [only] = members.as_slice() { *only } else { self.atom(Atom::Any(members)) }
            }
            _ => self.sum_less_common(one, other, 1),
        }
    }

    pub fn xor(&mut self, one: Term, other: Term) -> Term {
        self.sum_less_common(one, other, 2)
    }

    /// The sum less so many times the common bits: `a | b` or `a ^ b`.
    fn sum_less_common(&mut self, one: Term, other: Term, times: i128) -> Term {
        let (sum, common) = (self.add(one, other), self.and(one, other));
        self.plus(sum, common, -times)
    }

    /// The bits that a mask has, run by run.
    fn masked(&mut self, of: Term, mask: i128) -> Term {
        if mask < 0 {
            let others = self.masked(of, !mask);
            return self.subtract(of, others);
        }
        let mut sum = self.constant(0);
        let mut rest = mask;
        while rest != 0 {
            let low = rest.trailing_zeros();
            let high = low + (rest >> low).trailing_ones();
            let below = self.modulo(of, high);
            let bits = self.quotient(below, 1 << low);
            sum = self.plus(sum, bits, 1 << low);
            rest = rest >> high << high;
        }
        sum
    }

    /// Whether one is a multiple of a power of two to which the other one does not come.
    fn are_apart(&mut self, one: Term, other: Term) -> bool {
        let of = self.polynomial(one);
        let factors = of.terms.iter().map(|(_, factor)| factor.trailing_zeros());
        let constant = (of.constant != 0).then(|| of.constant.trailing_zeros());
        let zeros = factors.chain(constant).min().unwrap_or(0).min(64);
        self.bounds(other).is_within(0, (1 << zeros) - 1)
    }
}
