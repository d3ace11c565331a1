//! Chains of one associative operator, rebuilt as trees of least delay.
//!
//! A chain goes through values that are used once only: shared values stay shared.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use itertools::Itertools;
use pushmem_nest::{Binary, Unary};

use crate::graph::Graph;
use crate::moments::Moments;
use crate::sums::Sum;
use pushmem_datapaths::NodeKind;
use pushmem_datapaths::TableMemories;

/// Kind of the nodes of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chain {
    /// Additions, subtractions, negations and multiplications by constants.
    Sum,
    /// One of the operators whose operands may be regrouped, and used twice without changing the result.
    Of(Binary),
}

/// The same graph for a technology, with its chains rebuilt and tables in these memories, and its result. The moments
/// become those of the new graph.
pub(crate) fn rebuild<'a>(
    old: &Graph<'a>,
    result: usize,
    memories: TableMemories,
    moments: &mut Moments,
) -> (Graph<'a>, usize) {
    let uses = old.uses(result);
    let absorbed = absorbed(old, &uses);
    let mut new = old.fresh(memories);
    let mut places = vec![0; old.vertices.len()];
    for node in (0..=result).filter(|&node| uses[node] > 0 && !absorbed[node]) {
        let vertex = old.vertices[node];
        places[node] = match chain(old, node) {
            Some(Chain::Sum) => {
                let mut sum = Sum::new(vertex.value);
                collect_terms(old, node, 1, &absorbed, &mut |node, factor| match old.as_constant(node) {
                    Some(number) => sum.add_constant(number, factor),
                    None => sum.add_term(places[node], factor),
                });
                sum.build(&mut new, moments)
            }
            Some(Chain::Of(operator)) => {
                let mut operands = Vec::new();
                collect_operands(old, node, &absorbed, &mut |node| operands.push(places[node]));
                balance(&mut new, moments, operator, operands)
            }
            None => {
                let kind = vertex.kind.map(|operand| places[operand]);
                let by_product = moments.operators.divides_by_products();
                let quotient = by_product.then(|| new.divided_by_constant(moments, kind)).flatten();
                quotient.unwrap_or_else(|| new.node(kind, vertex.value))
            }
        };
    }
    (new, places[result])
}

fn chain(graph: &Graph, node: usize) -> Option<Chain> {
    match graph.vertices[node].kind {
        NodeKind::Unary { operator: Unary::Negate, .. } => Some(Chain::Sum),
        NodeKind::Binary { operator, right, .. } => match operator {
            Binary::Add | Binary::Subtract => Some(Chain::Sum),
            Binary::Multiply | Binary::ShiftLeft if graph.as_constant(right).is_some() => Some(Chain::Sum),
            Binary::And | Binary::Or | Binary::Minimum | Binary::Maximum => Some(Chain::Of(operator)),
            _ => None,
        },
        _ => None,
    }
}

/// For each node, whether it is part of the chain of its only user.
fn absorbed(graph: &Graph, uses: &[usize]) -> Vec<bool> {
    let mut absorbed = vec![false; graph.vertices.len()];
    for user in (0..graph.vertices.len()).filter(|&user| uses[user] > 0) {
        let Some(kind) = chain(graph, user) else {
            continue;
        };
        for operand in graph.vertices[user].kind.operands() {
            absorbed[operand] = uses[operand] == 1 && chain(graph, operand) == Some(kind);
        }
    }
    absorbed
}

/// Calls `found` with the terms of the sum that ends in `node`, each with its factor times this one. Factors wrap.
fn collect_terms(graph: &Graph, node: usize, factor: i64, absorbed: &[bool], found: &mut impl FnMut(usize, i64)) {
    let mut term = |operand: usize, factor: i64| match absorbed[operand] {
        true => collect_terms(graph, operand, factor, absorbed, found),
        false => found(operand, factor),
    };
    match graph.vertices[node].kind {
        NodeKind::Unary { operand, .. } => term(operand, factor.wrapping_neg()),
        NodeKind::Binary { operator, left, right } => match (operator, graph.as_constant(right)) {
            (Binary::Multiply, Some(number)) => term(left, factor.wrapping_mul(number)),
            (Binary::ShiftLeft, Some(amount)) => term(left, factor.wrapping_shl(amount as u32)),
            _ => {
                term(left, factor);
                term(right, if operator == Binary::Subtract { factor.wrapping_neg() } else { factor });
            }
        },
        _ => {}
    }
}

/// Calls `found` with the operands of the chain that ends in `node`.
fn collect_operands(graph: &Graph, node: usize, absorbed: &[bool], found: &mut impl FnMut(usize)) {
    for operand in graph.vertices[node].kind.operands() {
        if absorbed[operand] {
            collect_operands(graph, operand, absorbed, found);
        } else {
            found(operand);
        }
    }
}

/// A tree of an operator that may be regrouped, in which the operands that are there last come in last.
fn balance(graph: &mut Graph, moments: &mut Moments, operator: Binary, operands: Vec<usize>) -> usize {
    let (constants, others): (Vec<_>, Vec<_>) =
        operands.into_iter().sorted().dedup().partition(|&operand| graph.as_constant(operand).is_some());
    let constant = constants.into_iter().reduce(|one, other| graph.binary(operator, one, other));
    tree(
        graph,
        moments,
        others.into_iter().chain(constant),
        |graph, one, other| graph.binary(operator, one, other),
        |item| *item,
    )
    .expect("a chain has operands")
}

/// Joins items two at a time, those first whose values are there first, until one is left.
pub(crate) fn tree<'a, Item: Copy + Ord>(
    graph: &mut Graph<'a>,
    moments: &mut Moments,
    items: impl IntoIterator<Item = Item>,
    mut join: impl FnMut(&mut Graph<'a>, Item, Item) -> Item,
    node: impl Fn(&Item) -> usize,
) -> Option<Item> {
    let mut open = BinaryHeap::new();
    for (number, item) in items.into_iter().enumerate() {
        open.push(Reverse((moments.ready(graph, node(&item)), number, item)));
    }
    let mut next = open.len();
    while let Some(Reverse((_, _, one))) = open.pop() {
        let Some(Reverse((_, _, other))) = open.pop() else {
            return Some(one);
        };
        let joined = join(graph, one, other);
        open.push(Reverse((moments.ready(graph, node(&joined)), next, joined)));
        next += 1;
    }
    None
}
