//! Loop alignment: which loops of different stages run along the same dimension of the fused nest, and at which rate.

use num_integer::gcd;
use pushmem_affine::Fraction;

use crate::collapse::collapsed;
use crate::dependence_distance::Dependence;
use crate::error::{ScheduleError, ScheduleFault};
use pushmem_stages::{Pipeline, Subscript};

/// The fused loop nest, and how each stage runs in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Number of dimensions of the fused nest.
    pub dimensions: usize,
    /// For each stage, for each of its loops, innermost first: its dimension in the fused nest, and its rate: iterations
    /// of the fused dimension for one of the loop.
    pub loops: Vec<Vec<(usize, i64)>>,
}

/// A loop of a stage, numbered over all stages.
pub(crate) struct Nodes {
    first: Vec<usize>,
    /// How many there are.
    pub count: usize,
}

impl Nodes {
    fn of(pipeline: &Pipeline) -> Self {
        let mut first = Vec::new();
        let mut count = 0;
        for stage in &pipeline.stages {
            first.push(count);
            count += stage.loops.len();
        }
        Nodes { first, count }
    }

    /// The number of a loop of a stage.
    pub fn node(&self, stage: usize, level: usize) -> usize {
        self.first[stage] + level
    }
}

/// Two loops that are aligned.
pub(crate) struct Edge {
    /// The loop of the stage that writes, or of the first of two in a group.
    pub producer: usize,
    /// The loop of the stage that reads.
    pub consumer: usize,
    /// The rate of the second is the rate of the first times this, a positive number.
    factor: Fraction,
    /// The number of the dependence, and the dimension of its array that both loops follow. Nothing within a group.
    pub access: Option<(usize, usize)>,
}

impl Alignment {
    /// Aligns the loops of a pipeline.
    ///
    /// # Errors
    /// When a loop would need two rates, two loops of a stage fall together, or nests have contradicting orders.
    pub fn of(pipeline: &Pipeline, dependences: &[Dependence]) -> Result<Self, ScheduleError> {
        let nodes = Nodes::of(pipeline);
        let (class, rate) = rates(pipeline, dependences, &nodes)?;
        let dimension = dimensions_of(pipeline, &nodes, &class)?;
        let dimensions = dimension.iter().copied().max().map_or(0, |highest| highest + 1);
        let scale = whole_rates(&class, &rate);
        let loops = pipeline
            .stages
            .iter()
            .enumerate()
            .map(|(stage, content)| {
                let nodes = (0..content.loops.len()).map(|level| nodes.node(stage, level));
                nodes.map(|node| (dimension[class[node]], scale[node])).collect()
            })
            .collect();
        Ok(Alignment { dimensions, loops })
    }
}

/// The loops that are aligned: within groups, and then by accesses, in the order of the stages that read.
fn edges(pipeline: &Pipeline, dependences: &[Dependence], nodes: &Nodes) -> Vec<Edge> {
    let mut edges = Vec::new();
    // The stages of a group run in the same cycles, even those without readers.
    for (stage, pair) in pipeline.stages.windows(2).enumerate() {
        if pair[0].group == pair[1].group {
            for level in 0..pair[0].loops.len().min(pair[1].loops.len()) {
                let (producer, consumer) = (nodes.node(stage, level), nodes.node(stage + 1, level));
                edges.push(Edge { producer, consumer, factor: Fraction::ONE, access: None });
            }
        }
    }
    for (number, dependence) in dependences.iter().enumerate() {
        let writer = &pipeline.stages[dependence.producer].write;
        let reader = &pipeline.stages[dependence.consumer].reads[dependence.read];
        for (dimension, relation) in dependence.dimensions.iter().enumerate() {
            let (Some(producer_loop), Some(consumer_loop)) = (relation.producer_loop, relation.consumer_loop) else {
                continue;
            };
            let written: &Subscript = &writer.subscripts[dimension];
            let read = &reader.subscripts[dimension];
            edges.push(Edge {
                producer: nodes.node(dependence.producer, producer_loop),
                consumer: nodes.node(dependence.consumer, consumer_loop),
                // One iteration of the consumer moves by coefficient/divisor elements, one of the producer by its stride.
                factor: Fraction::new(
                    read.coefficients[consumer_loop].abs(),
                    read.divisor * written.coefficients[producer_loop].abs(),
                ),
                access: Some((number, dimension)),
            });
        }
    }
    edges
}

/// For each loop: the class of loops it is aligned with, and its rate relative to the class's first.
fn rates(
    pipeline: &Pipeline,
    dependences: &[Dependence],
    nodes: &Nodes,
) -> Result<(Vec<usize>, Vec<Fraction>), ScheduleError> {
    let aligned = edges(pipeline, dependences, nodes);
    let mut edges: Vec<Vec<(usize, Fraction)>> = vec![Vec::new(); nodes.count];
    for &Edge { producer, consumer, factor, .. } in &aligned {
        edges[producer].push((consumer, factor));
        edges[consumer].push((producer, Fraction::ONE.quotient(factor)));
    }
    let mut class = vec![usize::MAX; nodes.count];
    let mut rate = vec![Fraction::ONE; nodes.count];
    let mut classes = 0;
    for root in 0..nodes.count {
        if class[root] != usize::MAX {
            continue;
        }
        class[root] = classes;
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            for &(other, factor) in &edges[node] {
                // Fractions that are reduced crosswise first keep the products small.
                let expected = Fraction::new(rate[node].numerator, factor.denominator)
                    .product(Fraction::new(factor.numerator, rate[node].denominator));
                if class[other] == usize::MAX {
                    class[other] = classes;
                    rate[other] = expected;
                    open.push(other);
                } else if rate[other] != expected {
                    let stage = (0..pipeline.stages.len()).rev().find(|&stage| nodes.first[stage] <= other);
                    let stage = stage.expect("a node belongs to a stage");
                    let variable = pipeline.stages[stage].loops[other - nodes.first[stage]].name.clone();
                    return Err(ScheduleError::at(pipeline, stage, ScheduleFault::Rates(variable)));
                }
            }
        }
        classes += 1;
    }
    for (stage, content) in pipeline.stages.iter().enumerate() {
        for level in 0..content.loops.len() {
            for other in 0..level {
                if class[nodes.node(stage, level)] == class[nodes.node(stage, other)] {
                    return Err(collapsed(pipeline, dependences, nodes, &aligned).into());
                }
            }
        }
    }
    Ok((class, rate))
}

/// The smallest whole rates in proportion, class by class.
fn whole_rates(class: &[usize], rate: &[Fraction]) -> Vec<i64> {
    let classes = class.iter().copied().max().map_or(0, |highest| highest + 1);
    let mut multiple = vec![1_i64; classes];
    for (&class, rate) in class.iter().zip(rate) {
        multiple[class] *= rate.denominator / gcd(multiple[class], rate.denominator);
    }
    let mut divisor = vec![0_i64; classes];
    let whole = |class: usize, rate: &Fraction| multiple[class] / rate.denominator * rate.numerator;
    for (&class, rate) in class.iter().zip(rate) {
        divisor[class] = gcd(divisor[class], whole(class, rate));
    }
    class.iter().zip(rate).map(|(&class, rate)| whole(class, rate) / divisor[class]).collect()
}

/// The dimension of the fused nest for each class, innermost 0: outside those of all loops that some stage has inside a
/// loop of the class. Classes that no stage orders may share a dimension: they run side by side.
fn dimensions_of(pipeline: &Pipeline, nodes: &Nodes, class: &[usize]) -> Result<Vec<usize>, ScheduleError> {
    let classes = class.iter().copied().max().map_or(0, |highest| highest + 1);
    let mut dimension = vec![0; classes];
    loop {
        let before = dimension.clone();
        for (stage, content) in pipeline.stages.iter().enumerate() {
            // A loop of one iteration runs wherever it stands.
            let repeating = (0..content.loops.len()).filter(|&level| content.loops[level].extent > 1);
            let own: Vec<usize> = repeating.map(|level| class[nodes.node(stage, level)]).collect();
            for (inner, outer) in own.iter().zip(own.iter().skip(1)) {
                dimension[*outer] = dimension[*outer].max(dimension[*inner] + 1);
                if dimension[*outer] >= classes {
                    return Err(ScheduleError::at(pipeline, stage, ScheduleFault::Order));
                }
            }
        }
        if dimension == before {
            return Ok(dimension);
        }
    }
}
