//! Operands for a comparison: where bounds end, beside constants, where values wrap, and random ones.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_nest::Type;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::code::{Code, Kind};
use crate::leaves::Leaf;
use crate::terms::{Atom, Bounds, Term, Terms};

/// Samples of which each operand is random, or near an end or a constant.
const DRAWN: usize = 2048;

/// The most constants whose neighbours are operands, and the most sums that are led to limits.
const MOST_CONSTANTS: usize = 64;
const MOST_SUMS: usize = 96;

/// The operands of each leaf, one for each sample.
pub(crate) type Operands = BTreeMap<Leaf, Vec<i64>>;

/// Draws operands for the leaves of two codes.
pub(crate) struct Sampler<'a> {
    leaves: &'a BTreeMap<Leaf, Bounds>,
    /// Those that are near an end of a leaf, or near a constant.
    special: BTreeMap<Leaf, Vec<i64>>,
    random: ChaCha8Rng,
}

impl<'a> Sampler<'a> {
    pub fn new(codes: [&Code; 2], leaves: &'a BTreeMap<Leaf, Bounds>) -> Self {
        let constants = codes.into_iter().flat_map(|code| &code.steps).filter_map(|step| match step.kind {
            Kind::Constant(number) => Some(number),
            _ => None,
        });
        let constants: BTreeSet<i64> = constants.take(MOST_CONSTANTS).collect();
        let near = |number: i64| [number - 1, number, number + 1];
        let special = leaves.iter().map(|(leaf, bounds)| {
            let ends = [bounds.low as i64, bounds.high as i64, 0].into_iter().chain(constants.iter().copied());
            let within = ends.flat_map(near).filter(|of| bounds.low <= (*of).into() && i128::from(*of) <= bounds.high);
            (*leaf, within.sorted_unstable().dedup().collect())
        });
        Self { leaves, special: special.collect(), random: ChaCha8Rng::seed_from_u64(0) }
    }

    /// A value of a leaf.
    fn drawn(&mut self, leaf: Leaf) -> i64 {
        let Bounds { low, high } = self.leaves[&leaf];
        let special = self.special[&leaf].choose(&mut self.random).copied();
        match special {
            Some(special) if self.random.random_bool(0.5) => special,
            _ => self.random.random_range(low as i64..=high as i64),
        }
    }

    fn sample(&mut self) -> Vec<(Leaf, i64)> {
        let leaves = self.leaves.keys().copied().collect_vec();
        leaves.into_iter().map(|leaf| (leaf, self.drawn(leaf))).collect()
    }

    /// So many samples without a system.
    pub fn random(&mut self, samples: usize) -> Operands {
        let mut operands: Operands = self.leaves.keys().map(|leaf| (*leaf, Vec::new())).collect();
        for _ in 0..samples {
            for (leaf, value) in self.sample() {
                operands.entry(leaf).or_default().push(value);
            }
        }
        operands
    }

    /// Samples that find faults at limits: of single operands, and of the sums that the terms of a code are.
    pub fn systematic(&mut self, code: &Code, terms: &Terms, of_steps: &[Term]) -> Operands {
        let mut operands = self.random(DRAWN);
        let mut add = |sample: Vec<(Leaf, i64)>| {
            sample.into_iter().for_each(|(leaf, value)| operands.entry(leaf).or_default().push(value));
        };
        for choice in 0..self.special.values().map(Vec::len).max().unwrap_or(0) {
            let value = |(leaf, values): (&Leaf, &Vec<i64>)| (*leaf, values[choice % values.len()]);
            add(self.special.iter().map(value).collect());
        }
        let sums = code.steps.iter().zip(of_steps).flat_map(|(step, _)| limits(code, step.kind, of_steps));
        for (sum, less, limit) in sums.unique().take(MOST_SUMS).collect_vec() {
            for _ in 0..4 {
                let mut sample = self.sample();
                if self.lead(terms, &mut sample, (sum, less), limit) {
                    add(sample);
                }
            }
        }
        operands
    }

    /// Changes one operand of a sample so that the difference of two sums is this number, where that is possible.
    fn lead(
        &mut self,
        terms: &Terms,
        sample: &mut [(Leaf, i64)],
        (sum, less): (Term, Option<Term>),
        limit: i128,
    ) -> bool {
        let mut factors: BTreeMap<Leaf, i128> = BTreeMap::new();
        let mut constant = 0;
        for (of, sign) in [Some((sum, 1)), less.map(|less| (less, -1))].into_iter().flatten() {
            let Some((linear, number)) = terms.linear(of) else { return false };
            constant += sign * number;
            linear.into_iter().for_each(|(leaf, factor)| *factors.entry(leaf).or_default() += sign * factor);
        }
        factors.retain(|_, factor| *factor != 0);
        let order = factors.iter().map(|(leaf, factor)| (*leaf, *factor)).collect_vec();
        let Some(&(leaf, factor)) = order.choose(&mut self.random) else { return false };
        let of =
            |leaf: &Leaf| sample.iter().find(|(other, _)| other == leaf).map_or(0, |(_, value)| i128::from(*value));
        let rest: i128 =
            constant + order.iter().filter(|(other, _)| *other != leaf).map(|(of_, by)| of(of_) * by).sum::<i128>();
        let wanted = (limit - rest).div_euclid(factor);
        let bounds = self.leaves[&leaf];
        if !(bounds.low..=bounds.high).contains(&wanted) {
            return false;
        }
        sample.iter_mut().filter(|(other, _)| *other == leaf).for_each(|(_, value)| *value = wanted as i64);
        true
    }
}

/// Sums, or differences of two, and numbers at which an operator changes what it does with them.
fn limits(code: &Code, kind: Kind, terms: &[Term]) -> Vec<(Term, Option<Term>, i128)> {
    let ends = |of: Type| [of.min() - 1, of.min(), of.max(), of.max() + 1].map(i128::from);
    match kind {
        Kind::Binary { left, right, .. } => {
            let both = [-1, 0, 1].map(|limit| (terms[left], Some(terms[right]), limit));
            let of = code.operand_type(left);
            let each = ends(of).into_iter().chain([-1, 0, 1]);
            both.into_iter().chain(each.map(|limit| (terms[left], None, limit))).collect()
        }
        Kind::Cast(operand) => {
            let (from, to) = (code.operand_type(operand), Type::ALL.into_iter().filter(|of| of.is_integer()));
            let ends = to.filter(|to| to.bits() <= from.bits()).flat_map(ends).collect_vec();
            ends.into_iter().map(|limit| (terms[operand], None, limit)).collect()
        }
        _ => Vec::new(),
    }
}

impl Terms<'_> {
    /// The factors of the leaves of a term and its constant, where it is a sum of multiples of leaves.
    fn linear(&self, of: Term) -> Option<(Vec<(Leaf, i128)>, i128)> {
        let polynomial = self.polynomial(of);
        let leaf = |(monomial, factor): &(crate::terms::Monomial, i128)| match monomial.as_slice() {
            [atom] => match self.atom_of(*atom) {
                Atom::Load(load) => Some((Leaf::Load(*load), *factor)),
                Atom::Variable(variable) => Some((Leaf::Variable(*variable), *factor)),
                _ => None,
            },
            _ => None,
        };
        Some((polynomial.terms.iter().map(leaf).collect::<Option<_>>()?, polynomial.constant))
    }
}
