//! Terms: integers as polynomials of atoms, with whole coefficients.
//!
//! A polynomial is the exact value, before anything wraps; wrapping is an atom of its own, [`Atom::Modulo`], that goes away
//! wherever the bounds of a value show that nothing wraps. Equal polynomials have one number, so that two values with one number are
//! equal for all values of loads and loop variables. Each rule that makes a term is tested on all small numbers.

mod bits;
mod bounds;
mod compare;
mod divide;
mod wrap;

use std::hash::BuildHasher;
use std::rc::Rc;

use foldhash::{HashMap, HashMapExt};
use itertools::Itertools;
use pushmem_nest::{Binary, Unary};
use smallvec::SmallVec;

pub(crate) use bounds::Bounds;

/// The number of a polynomial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term(u32);

/// The number of an atom.
pub(crate) type AtomId = u32;

/// A product of atoms, ascending.
pub(crate) type Monomial = SmallVec<[AtomId; 4]>;

/// The most monomials of a product that is written out.
const MOST_WRITTEN_OUT: usize = 256;

/// The most monomials of a polynomial: larger sums are not compared.
const MOST_MONOMIALS: usize = 20_000;

/// The most atoms of all polynomials together: those of powers and of sums of sums grow without end.
const MOST_ATOMS: usize = 1 << 21;

/// A sum of multiples of monomials, ascending, none of them 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Polynomial {
    pub terms: Vec<(Monomial, i128)>,
    pub constant: i128,
}

/// A function of integers about which nothing else is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    /// An entry of a table, 0 outside of it.
    Table(usize),
    /// An operator on the integers, without a type.
    Unary(Unary),
    Binary(Binary),
    /// The integer of a type nearest to a number with a fraction.
    ToInteger {
        float: pushmem_nest::Type,
        to: pushmem_nest::Type,
    },
}

/// An integer that is no sum or product of others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Atom {
    Load(usize),
    Variable(usize),
    /// The remainder by 2^bits, from 0 on.
    Modulo(Term, u32),
    /// The quotient by a positive number, rounded down.
    Quotient(Term, i128),
    /// 1 if the term is negative, else 0.
    IsNegative(Term),
    /// 1 if the term is 0, else 0.
    IsZero(Term),
    Least(Vec<Term>),
    Greatest(Vec<Term>),
    /// The bits that all have, or that some have, in two's complement.
    All(Vec<Term>),
    Any(Vec<Term>),
    Select(Term, Term, Term),
    /// A product that is not written out.
    Product(Term, Term),
    Apply(Function, Vec<Term>),
}

/// All terms of a comparison.
pub(crate) struct Terms<'a> {
    polynomials: Vec<Rc<Polynomial>>,
    numbers: HashMap<Rc<Polynomial>, Term>,
    /// Atoms of all polynomials.
    size: usize,
    atoms: Vec<Atom>,
    atom_numbers: HashMap<Atom, AtomId>,
    atom_bounds: Vec<Bounds>,
    term_bounds: HashMap<Term, Bounds>,
    reduced: HashMap<(Term, u32), Term>,
    leaves: &'a dyn Fn(&Atom) -> Bounds,
    tables: &'a dyn Fn(usize) -> (Bounds, Vec<i64>),
    /// Whether a number or a sum was too large, so that terms are no values.
    pub failed: bool,
}

impl<'a> Terms<'a> {
    /// No terms, for loads and variables with these bounds, and tables with these entries, of which the bounds contain 0.
    pub fn new(leaves: &'a dyn Fn(&Atom) -> Bounds, tables: &'a dyn Fn(usize) -> (Bounds, Vec<i64>)) -> Self {
        let mut terms = Self {
            polynomials: Vec::new(),
            numbers: HashMap::new(),
            size: 0,
            atoms: Vec::new(),
            atom_numbers: HashMap::new(),
            atom_bounds: Vec::new(),
            term_bounds: HashMap::new(),
            reduced: HashMap::new(),
            leaves,
            tables,
            failed: false,
        };
        terms.intern(Polynomial::default());
        terms
    }

    fn intern(&mut self, polynomial: Polynomial) -> Term {
        if let Some(&known) = self.numbers.get(&polynomial) {
            return known;
        }
        self.size += polynomial.terms.iter().map(|(monomial, _)| 1 + monomial.len()).sum::<usize>();
        self.failed |= polynomial.terms.len() > MOST_MONOMIALS || self.size > MOST_ATOMS;
        if self.failed {
            // That of 0, so that all that is still computed is short.
            return Term(0);
        }
        let number = Term(self.polynomials.len() as u32);
        let polynomial = Rc::new(polynomial);
        self.polynomials.push(polynomial.clone());
        self.numbers.insert(polynomial, number);
        number
    }

    pub fn polynomial(&self, term: Term) -> &Polynomial {
        &self.polynomials[term.0 as usize]
    }

    pub fn constant(&mut self, constant: i128) -> Term {
        self.intern(Polynomial { terms: Vec::new(), constant })
    }

    pub fn as_constant(&self, term: Term) -> Option<i128> {
        let of = self.polynomial(term);
        of.terms.is_empty().then_some(of.constant)
    }

    /// The term that is this atom alone.
    pub fn atom(&mut self, atom: Atom) -> Term {
        let number = match self.atom_numbers.get(&atom) {
            Some(&known) => known,
            None => {
                let bounds = self.bounds_of_atom(&atom);
                let number = self.atoms.len() as AtomId;
                self.atoms.push(atom.clone());
                self.atom_numbers.insert(atom, number);
                self.atom_bounds.push(bounds);
                number
            }
        };
        let Bounds { low, high } = self.atom_bounds[number as usize];
        match low == high {
            true => self.constant(low),
            false => self.of_atom(number),
        }
    }

    /// The term that is the atom of a number alone.
    fn of_atom(&mut self, number: AtomId) -> Term {
        self.intern(Polynomial { terms: vec![(Monomial::from_slice(&[number]), 1)], constant: 0 })
    }

    /// The atoms of which a term has a multiple that is no product, each with its number and its factor.
    fn single_atoms(&self, of: Term) -> impl Iterator<Item = (AtomId, &Atom, i128)> {
        self.polynomial(of).terms.iter().filter_map(|(monomial, factor)| match monomial.as_slice() {
            [number] => Some((*number, self.atom_of(*number), *factor)),
            _ => None,
        })
    }

    /// The atom of a number.
    pub fn atom_of(&self, number: AtomId) -> &Atom {
        &self.atoms[number as usize]
    }

    /// The atom, if the term is one alone.
    pub fn as_atom(&self, term: Term) -> Option<&Atom> {
        match (self.polynomial(term).terms.as_slice(), self.polynomial(term).constant) {
            ([(monomial, 1)], 0) if monomial.len() == 1 => Some(&self.atoms[monomial[0] as usize]),
            _ => None,
        }
    }

    /// The polynomial of these multiples in any order.
    fn collected(&mut self, terms: impl IntoIterator<Item = (Monomial, i128)>, constant: i128) -> Term {
        let mut sum: HashMap<Monomial, i128> = HashMap::new();
        for (monomial, factor) in terms {
            let known = sum.entry(monomial).or_insert(0);
            match known.checked_add(factor) {
                Some(of) => *known = of,
                None => self.failed = true,
            }
        }
        let terms = sum.into_iter().filter(|(_, factor)| *factor != 0).sorted_unstable().collect();
        self.intern(Polynomial { terms, constant })
    }

    fn number(&mut self, number: Option<i128>) -> i128 {
        // Products of numbers within this limit are numbers, and sums of these.
        let fits = number.filter(|number| number.unsigned_abs() < 1 << 100);
        self.failed |= fits.is_none();
        fits.unwrap_or(0)
    }

    pub fn add(&mut self, one: Term, other: Term) -> Term {
        self.plus(one, other, 1)
    }

    pub fn subtract(&mut self, one: Term, other: Term) -> Term {
        self.plus(one, other, -1)
    }

    /// `one + factor · other`
    pub fn plus(&mut self, one: Term, other: Term, factor: i128) -> Term {
        let (left, right) = (self.polynomial(one), self.polynomial(other));
        let mut terms = Vec::with_capacity(left.terms.len() + right.terms.len());
        let mut fits = true;
        let (mut before, mut behind) = (left.terms.iter().peekable(), right.terms.iter().peekable());
        loop {
            let order = match (before.peek(), behind.peek()) {
                (Some((left, _)), Some((right, _))) => left.cmp(right),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => break,
            };
            let left = if order.is_le() { before.next() } else { None };
            let right = if order.is_ge() { behind.next() } else { None };
            let scaled = right.map_or(Some(0), |(_, number)| number.checked_mul(factor));
            let sum = scaled.and_then(|scaled| scaled.checked_add(left.map_or(0, |(_, number)| *number)));
            fits &= sum.is_some_and(|sum| sum.unsigned_abs() < 1 << 100);
            let monomial = left.or(right).map(|(monomial, _)| monomial.clone()).unwrap_or_default();
            if sum != Some(0) {
                terms.push((monomial, sum.unwrap_or(0)));
            }
        }
        let constant = right.constant.checked_mul(factor).and_then(|scaled| scaled.checked_add(left.constant));
        self.failed |= !fits;
        let constant = self.number(constant);
        self.intern(Polynomial { terms, constant })
    }

    pub fn scale(&mut self, of: Term, factor: i128) -> Term {
        let zero = self.constant(0);
        self.plus(zero, of, factor)
    }

    pub fn shift(&mut self, of: Term, by: i128) -> Term {
        let mut moved = self.polynomial(of).clone();
        moved.constant = self.number(moved.constant.checked_add(by));
        self.intern(moved)
    }

    pub fn multiply(&mut self, one: Term, other: Term) -> Term {
        if let Some(factor) = self.as_constant(one) {
            return self.scale(other, factor);
        }
        if let Some(factor) = self.as_constant(other) {
            return self.scale(one, factor);
        }
        let all = |of: &Polynomial| of.terms.iter().cloned().chain([(Monomial::new(), of.constant)]).collect_vec();
        let (left, right) = (all(self.polynomial(one)), all(self.polynomial(other)));
        if left.len() * right.len() > MOST_WRITTEN_OUT {
            return self.atom(Atom::Product(one.min(other), one.max(other)));
        }
        let mut terms = Vec::new();
        let mut constant = 0;
        for ((left, factor), (right, other)) in left.iter().cartesian_product(&right) {
            let factor = self.number(factor.checked_mul(*other));
            let monomial = self.monomial(left, right);
            if monomial.is_empty() {
                constant = factor;
            } else {
                terms.push((monomial, factor));
            }
        }
        self.collected(terms, constant)
    }

    /// The product of two monomials: a truth value is its own square.
    fn monomial(&self, one: &Monomial, other: &Monomial) -> Monomial {
        let mut all: Monomial = one.iter().chain(other).copied().collect();
        all.sort_unstable();
        let mut kept = Monomial::new();
        for atom in all {
            let is_truth = self.atom_bounds[atom as usize].is_within(0, 1);
            if !(is_truth && kept.last() == Some(&atom)) {
                kept.push(atom);
            }
        }
        kept
    }

    /// The value of a term where some of its truth values have these.
    fn with_truth(&mut self, of: Term, atom: AtomId, truth: bool) -> Term {
        let polynomial = self.polynomial(of).clone();
        let mut constant = polynomial.constant;
        let mut terms = Vec::new();
        for (monomial, factor) in polynomial.terms {
            match monomial.contains(&atom) {
                false => terms.push((monomial, factor)),
                true if truth => {
                    let rest: Monomial = monomial.into_iter().filter(|other| *other != atom).collect();
                    match rest.is_empty() {
                        true => constant = self.number(constant.checked_add(factor)),
                        false => terms.push((rest, factor)),
                    }
                }
                true => {}
            }
        }
        self.collected(terms, constant)
    }

    /// The truth values that a term is a sum of products of, if it is one and they are few.
    fn truths(&self, of: Term) -> Option<Vec<AtomId>> {
        let atoms = self.polynomial(of).terms.iter().flat_map(|(monomial, _)| monomial.iter().copied());
        let atoms = atoms.sorted_unstable().dedup().take(4).collect_vec();
        let is_truth = |atom: &AtomId| self.atom_bounds[*atom as usize].is_within(0, 1);
        (atoms.len() < 4 && atoms.iter().all(is_truth)).then_some(atoms)
    }

    /// A function of a term of few truth values, as the sum of its values for each of them.
    fn by_truths(&mut self, of: Term, function: &dyn Fn(i128) -> i128) -> Option<Term> {
        let atoms = self.truths(of)?;
        Some(self.by_cases(of, &atoms, function))
    }

    fn by_cases(&mut self, of: Term, atoms: &[AtomId], function: &dyn Fn(i128) -> i128) -> Term {
        let Some((&atom, rest)) = atoms.split_first() else {
            let number = self.as_constant(of).unwrap_or(0);
            return self.constant(function(number));
        };
        let [without, with] = [false, true].map(|truth| {
            let case = self.with_truth(of, atom, truth);
            self.by_cases(case, rest, function)
        });
        let step = self.subtract(with, without);
        let truth = self.of_atom(atom);
        let step = self.multiply(truth, step);
        self.add(without, step)
    }

    /// A function without rules of its own, of operands in their order.
    pub fn apply(&mut self, function: Function, operands: Vec<Term>) -> Term {
        self.atom(Atom::Apply(function, operands))
    }

    /// The entry of a table.
    pub fn lookup(&mut self, table: usize, index: Term) -> Term {
        if let Some(index) = self.as_constant(index) {
            let (_, entries) = (self.tables)(table);
            let entry = usize::try_from(index).ok().and_then(|index| entries.get(index).copied());
            return self.constant(entry.unwrap_or(0).into());
        }
        self.apply(Function::Table(table), vec![index])
    }
}

/// A hash that is the same in each run.
pub(crate) fn digest(values: &[i64]) -> u64 {
    foldhash::quality::FixedState::with_seed(0).hash_one(values)
}
