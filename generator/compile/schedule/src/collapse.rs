//! Which access makes two loops of a stage run along one dimension.

use std::collections::VecDeque;

use crate::alignment::{Edge, Nodes};
use crate::dependence_distance::{Dependence, DimensionRelation};
use crate::error::{Along, Collapse, Meets, StageName};
use pushmem_stages::Pipeline;

impl Along {
    /// The access of a dependence, at a dimension that a loop of the consumer follows.
    fn of(pipeline: &Pipeline, dependence: &Dependence, dimension: usize) -> Self {
        let level = dependence.dimensions[dimension].consumer_loop.expect("a loop follows the dimension");
        Along {
            stage: StageName::of(pipeline, dependence.consumer),
            read: Some(dependence.read),
            array: pipeline.arrays[dependence.array].name.clone(),
            dimension,
            variable: pipeline.stages[dependence.consumer].loops[level].name.clone(),
        }
    }
}

/// The error of a pipeline whose edges make two loops of some stage one: at the first access, in the order of the program,
/// with which they do. Where a stage reads one array in both ways, it is the way in which it has fewer accesses.
pub(crate) fn collapsed(pipeline: &Pipeline, dependences: &[Dependence], nodes: &Nodes, edges: &[Edge]) -> Collapse {
    let mut class: Vec<usize> = (0..nodes.count).collect();
    for (number, edge) in edges.iter().enumerate() {
        let (one, other) = (class[edge.producer], class[edge.consumer]);
        let loops_of = |stage: usize, of: usize| {
            let loops = 0..pipeline.stages[stage].loops.len();
            loops.into_iter().find(|&level| class[nodes.node(stage, level)] == of)
        };
        let meeting = (0..pipeline.stages.len()).find_map(|stage| {
            let pair = (loops_of(stage, one)?, loops_of(stage, other)?);
            (one != other).then_some((stage, pair))
        });
        let Some((stage, (first, second))) = meeting else {
            class.iter_mut().filter(|class| **class == other).for_each(|class| *class = one);
            continue;
        };
        let (dependence, dimension) = edge.access.expect("stages of a group have different loops");
        let dependence = &dependences[dependence];
        let here = Along::of(pipeline, dependence, dimension);
        let access_on_way =
            |from: usize, to: usize| path(&edges[..number], from, to).iter().find_map(|edge| edge.access);
        // The same loop of this stage along another dimension of the array, where that is read so.
        let written = loops_of(dependence.producer, other).and_then(|level| {
            let along = |relation: &DimensionRelation| relation.producer_loop == Some(level);
            let meets = Meets::Dimension(dependence.dimensions.iter().position(along)?);
            let access = access_on_way(edge.consumer, nodes.node(dependence.producer, level))?;
            let other = &dependences[access.0];
            let is_same = other.array == dependence.array && other.consumer == dependence.consumer;
            is_same.then_some((meets, Some(access)))
        });
        // Or another loop of the stage along this dimension.
        let read = || {
            let level = loops_of(dependence.consumer, one)?;
            let meets = Meets::Loop(pipeline.stages[dependence.consumer].loops[level].name.clone());
            Some((meets, access_on_way(nodes.node(dependence.consumer, level), edge.producer)))
        };
        let of_others = || {
            let names = [first, second].map(|level| pipeline.stages[stage].loops[level].name.clone());
            (Meets::Loops(StageName::of(pipeline, stage), names), None)
        };
        let (meets, elsewhere) = written.or_else(read).unwrap_or_else(of_others);
        let Some((other, other_dimension)) = elsewhere else {
            return Collapse { here, meets, elsewhere: None };
        };
        let other = &dependences[other];
        let elsewhere = Along::of(pipeline, other, other_dimension);
        // How many accesses of the array by this stage are as this one.
        let alike = |of: &Dependence, dimension: usize| {
            let same = |each: &&Dependence| {
                each.consumer == of.consumer
                    && each.array == of.array
                    && each.dimensions[dimension].consumer_loop == of.dimensions[dimension].consumer_loop
            };
            dependences.iter().filter(same).count()
        };
        let is_same_array = other.consumer == dependence.consumer && other.array == dependence.array;
        if is_same_array && alike(dependence, dimension) > alike(other, other_dimension) {
            let meets = match meets {
                Meets::Loop(_) => Meets::Loop(here.variable.clone()),
                _ => Meets::Dimension(dimension),
            };
            return Collapse { here: elsewhere, meets, elsewhere: Some(here) };
        }
        return Collapse { here, meets, elsewhere: Some(elsewhere) };
    }
    unreachable!("the edges make two loops one")
}

/// The edges of a shortest way from one loop to another.
fn path<'a>(edges: &'a [Edge], from: usize, to: usize) -> Vec<&'a Edge> {
    // For each loop that was reached, the edge and the loop that it was reached from.
    let mut reached: Vec<(usize, Option<(&'a Edge, usize)>)> = vec![(from, None)];
    let mut open = VecDeque::from([0]);
    while let Some(place) = open.pop_front() {
        let (node, _) = reached[place];
        if node == to {
            let back = std::iter::successors(reached[place].1, |(_, before)| reached[*before].1);
            let mut way: Vec<&Edge> = back.map(|(edge, _)| edge).collect();
            way.reverse();
            return way;
        }
        for edge in edges {
            let next = match node {
                node if node == edge.producer => edge.consumer,
                node if node == edge.consumer => edge.producer,
                _ => continue,
            };
            if reached.iter().all(|(other, _)| *other != next) {
                open.push_back(reached.len());
                reached.push((next, Some((edge, place))));
            }
        }
    }
    Vec::new()
}
