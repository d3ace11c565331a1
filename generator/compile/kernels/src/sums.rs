//! Sums of multiples, rebuilt with few additions and little delay.
//!
//! Additions wrap, so that any order gives the same result. Terms whose factors differ by a power of two only are added
//! before they are multiplied; where a shift is an operator as a multiplication is, those of one factor only. A factor
//! becomes shifts and additions if these are cheaper than a multiplier.

use std::collections::HashMap;

use pushmem_nest::{Binary, Type, Unary};

use crate::chains::tree;
use crate::digits::digits;
use crate::graph::Graph;
use crate::moments::Moments;

/// `Σ factor · node + constant`, wrapping.
pub(crate) struct Sum {
    value: Type,
    terms: Vec<(usize, i64)>,
    /// The place in `terms` of each node.
    places: HashMap<usize, usize>,
    constant: i64,
}

/// A node that is added or subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Signed {
    negative: bool,
    node: usize,
}

impl Sum {
    /// An empty sum of this type.
    pub fn new(value: Type) -> Self {
        Self { value, terms: Vec::new(), places: HashMap::new(), constant: 0 }
    }

    pub fn add_constant(&mut self, number: i64, factor: i64) {
        self.constant = self.constant.wrapping_add(number.wrapping_mul(factor));
    }

    pub fn add_term(&mut self, node: usize, factor: i64) {
        let place = *self.places.entry(node).or_insert_with(|| {
            self.terms.push((node, 0));
            self.terms.len() - 1
        });
        self.terms[place].1 = self.terms[place].1.wrapping_add(factor);
    }

    /// Adds the sum to a graph and returns its node.
    pub fn build(mut self, graph: &mut Graph, moments: &mut Moments) -> usize {
        let terms = std::mem::take(&mut self.terms);
        let terms = terms.into_iter().map(|(node, factor)| (node, self.centered(factor)));
        let mut multiples = Vec::new();
        let part = |factor: i64| match moments.operators.shifts_are_wires() {
            true => factor.abs() >> factor.trailing_zeros(),
            false => factor.abs(),
        };
        for (part, members) in by_part(terms.filter(|(_, factor)| *factor != 0), part) {
            match members.as_slice() {
                several @ [_, _, ..] if part > 1 => multiples.push(self.join(graph, moments, several)),
                _ => multiples.extend(members),
            }
        }
        let mut signed = Vec::new();
        let most_digits = moments.operators.adders_per_multiplier() + 1;
        // Without anything to subtract from, multipliers take negative constants.
        let subtracts = multiples.iter().any(|(_, factor)| *factor > 0);
        for (node, factor) in multiples {
            self.multiply(graph, most_digits, node, factor, subtracts, &mut signed);
        }
        let constant = self.centered(self.constant);
        if constant != 0 {
            // Subtracting a small number reads better than adding a large one. Something must be left to subtract from.
            let negative = constant < 0 && signed.iter().any(|term| !term.negative);
            let node = graph.constant(if negative { -constant } else { constant }, self.value);
            signed.push(Signed { negative, node });
        }
        match self.add(graph, moments, signed) {
            None => graph.constant(0, self.value),
            Some(Signed { negative: false, node }) => node,
            Some(Signed { negative: true, node }) => graph.unary(Unary::Negate, node),
        }
    }

    /// The number of least size that is the same in the arithmetic of the type.
    fn centered(&self, number: i64) -> i64 {
        let unused = 64 - self.value.bits();
        number << unused >> unused
    }

    /// One term for terms whose factors have one odd part.
    fn join(&self, graph: &mut Graph, moments: &mut Moments, members: &[(usize, i64)]) -> (usize, i64) {
        let odd = members[0].1.abs() >> members[0].1.trailing_zeros();
        let shared = members.iter().map(|(_, factor)| factor.trailing_zeros()).min().unwrap_or_default();
        let sign = members[0].1.signum();
        let mut signed = Vec::new();
        for &(node, factor) in members {
            let node = self.shift(graph, node, factor.trailing_zeros() - shared);
            signed.push(Signed { negative: factor.signum() != sign, node });
        }
        let sum = self.add(graph, moments, signed).expect("there are members");
        // The first member is positive here, but its node may be joined to a negative one that comes before.
        let sign = if sum.negative { -sign } else { sign };
        (sum.node, self.centered((sign * odd) << shared))
    }

    /// Appends the terms of a multiple of a node: a product, if the factor has more than `most_digits`.
    fn multiply(
        &self,
        graph: &mut Graph,
        most_digits: usize,
        node: usize,
        factor: i64,
        subtracts: bool,
        signed: &mut Vec<Signed>,
    ) {
        let digits = digits(factor);
        if digits.len() > most_digits {
            let negative = subtracts && factor < 0;
            let constant = graph.constant(if negative { -factor } else { factor }, self.value);
            let node = graph.binary(Binary::Multiply, node, constant);
            signed.push(Signed { negative, node });
            return;
        }
        for digit in digits.into_iter().rev() {
            signed.push(Signed { negative: digit.negative, node: self.shift(graph, node, digit.shift) });
        }
    }

    fn shift(&self, graph: &mut Graph, node: usize, amount: u32) -> usize {
        let amount = graph.constant(i64::from(amount), self.value);
        graph.binary(Binary::ShiftLeft, node, amount)
    }

    fn add(&self, graph: &mut Graph, moments: &mut Moments, signed: Vec<Signed>) -> Option<Signed> {
        let join = |graph: &mut Graph, one: Signed, other: Signed| match (one.negative, other.negative) {
            (false, true) => Signed { negative: false, node: graph.binary(Binary::Subtract, one.node, other.node) },
            (true, false) => Signed { negative: false, node: graph.binary(Binary::Subtract, other.node, one.node) },
            (negative, _) => Signed { negative, node: graph.binary(Binary::Add, one.node, other.node) },
        };
        tree(graph, moments, signed, join, |term| term.node)
    }
}

/// The terms grouped by a part of their factors, in the order in which these come first.
fn by_part(terms: impl Iterator<Item = (usize, i64)>, part: impl Fn(i64) -> i64) -> Vec<(i64, Vec<(usize, i64)>)> {
    let mut groups: Vec<(i64, Vec<(usize, i64)>)> = Vec::new();
    let mut places = HashMap::new();
    for (node, factor) in terms {
        let part = part(factor);
        let place = *places.entry(part).or_insert_with(|| {
            groups.push((part, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push((node, factor));
    }
    groups
}
