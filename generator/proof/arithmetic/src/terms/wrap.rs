//! Values that wrap in their types.

use itertools::Itertools;
use pushmem_nest::Type;

use super::{Atom, Polynomial, Term, Terms};

/// The most bits of a dividend that are taken for the low bits of a quotient.
const MOST_BITS: u32 = 96;

impl Terms<'_> {
    /// The value of a type with the same low bits.
    pub fn wrap(&mut self, of: Term, value: Type) -> Term {
        let (low, high) = (i128::from(value.min()), i128::from(value.max()));
        if self.bounds(of).is_within(low, high) {
            return of;
        }
        let reduced = self.reduce(of, value.bits());
        for form in [reduced, self.with_natural_factors(reduced, value.bits())] {
            if let Some(shifted) = self.turned_into(form, low, value.bits()) {
                return shifted;
            }
        }
        let natural = self.shift(reduced, -low);
        let natural = self.modulo(natural, value.bits());
        self.shift(natural, low)
    }

    /// The remainder by 2^bits, from 0 on.
    pub fn modulo(&mut self, of: Term, bits: u32) -> Term {
        let of = self.reduce(of, bits);
        let of = self.with_natural_constant(of, bits);
        if let Some(shifted) = self.turned_into(of, 0, bits) {
            return shifted;
        }
        if bits == 0 {
            return self.constant(0);
        }
        let natural = self.with_natural_factors(of, bits);
        if let Some(shifted) = self.turned_into(natural, 0, bits) {
            return shifted;
        }
        if let Some(cases) = self.by_truths(of, &|number| number.rem_euclid(1 << bits)) {
            return cases;
        }
        // Of a multiple of a power of two and a smaller constant, the multiple wraps.
        let zeros = self.polynomial(of).terms.iter().map(|(_, factor)| factor.trailing_zeros()).min().unwrap_or(0);
        if zeros > 0 {
            let zeros = zeros.min(bits);
            let Polynomial { terms, constant } = self.polynomial(of).clone();
            let part = terms.into_iter().map(|(monomial, factor)| (monomial, factor >> zeros));
            let part = self.collected(part, constant >> zeros);
            let part = self.modulo(part, bits - zeros);
            let part = self.scale(part, 1 << zeros);
            return self.shift(part, constant & ((1 << zeros) - 1));
        }
        // The low bits of high bits are high bits of low bits.
        let constant = self.polynomial(of).constant;
        let part = self.shift(of, -constant);
        if let Some(&Atom::Quotient(dividend, divisor)) = self.as_atom(part)
            && divisor.count_ones() == 1
            && bits + divisor.trailing_zeros() <= MOST_BITS
        {
            let dividend = self.shift(dividend, constant * divisor);
            let dividend = self.modulo(dividend, bits + divisor.trailing_zeros());
            return self.quotient(dividend, divisor);
        }
        self.atom(Atom::Modulo(of, bits))
    }

    /// The same less a multiple of 2^bits where that makes all values those from `low` on.
    fn turned_into(&mut self, of: Term, low: i128, bits: u32) -> Option<Term> {
        let bounds = self.bounds(of);
        let turns = (bounds.low - low) >> bits;
        let turn = turns << bits;
        bounds.is_within(low + turn, low + turn + (1 << bits) - 1).then(|| self.shift(of, -turn))
    }

    /// A term that is the same modulo 2^bits, with factors of the least size and without what wraps in more bits.
    pub fn reduce(&mut self, of: Term, bits: u32) -> Term {
        if let Some(known) = self.reduced.get(&(of, bits)) {
            return *known;
        }
        let Polynomial { terms, constant } = self.polynomial(of).clone();
        let mut sum = self.constant(centered(constant, bits));
        let mut plain = Vec::new();
        for (monomial, factor) in terms {
            let factor = centered(factor, bits);
            if factor == 0 {
                continue;
            }
            // A multiple of a power of two has fewer bits that count.
            let counting = bits - factor.trailing_zeros().min(bits);
            let parts = monomial.iter().map(|atom| self.reduced_atom(*atom, counting)).collect_vec();
            if parts.iter().all(Option::is_none) {
                plain.push((monomial, factor));
                continue;
            }
            let mut product = self.constant(1);
            for (atom, part) in monomial.iter().zip(parts) {
                let part = part.unwrap_or_else(|| self.of_atom(*atom));
                product = self.multiply(product, part);
            }
            sum = self.plus(sum, product, factor);
        }
        let plain = self.collected(plain, 0);
        let sum = self.add(sum, plain);
        let Polynomial { terms, constant } = self.polynomial(sum).clone();
        let terms = terms.into_iter().map(|(monomial, factor)| (monomial, centered(factor, bits)));
        let reduced = self.collected(terms.collect_vec(), centered(constant, bits));
        self.reduced.insert((of, bits), reduced);
        reduced
    }

    /// Another term that is the same as an atom modulo 2^bits, if there is one.
    fn reduced_atom(&mut self, atom: u32, bits: u32) -> Option<Term> {
        match self.atoms[atom as usize] {
            Atom::Modulo(of, own) if own >= bits => Some(self.reduce(of, bits)),
            Atom::Select(condition, then, otherwise) => {
                let [new, other] = [then, otherwise].map(|of| self.reduce(of, bits));
                ((new, other) != (then, otherwise)).then(|| self.select(condition, new, other))
            }
            Atom::Product(one, other) => {
                let [new, with] = [one, other].map(|of| self.reduce(of, bits));
                ((new, with) != (one, other)).then(|| self.multiply(new, with))
            }
            _ => None,
        }
    }

    fn with_natural_constant(&mut self, of: Term, bits: u32) -> Term {
        let mut natural = self.polynomial(of).clone();
        natural.constant = natural.constant.rem_euclid(1 << bits);
        self.intern(natural)
    }

    fn with_natural_factors(&mut self, of: Term, bits: u32) -> Term {
        let mut natural = self.polynomial(of).clone();
        natural.constant = natural.constant.rem_euclid(1 << bits);
        natural.terms.iter_mut().for_each(|(_, factor)| *factor = factor.rem_euclid(1 << bits));
        natural.terms.retain(|(_, factor)| *factor != 0);
        self.intern(natural)
    }
}

/// The number of the least size that is the same modulo 2^bits.
fn centered(number: i128, bits: u32) -> i128 {
    let turn = 1_i128 << bits;
    let natural = number.rem_euclid(turn);
    if natural > turn / 2 { natural - turn } else { natural }
}
