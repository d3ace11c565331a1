//! The dataflow nodes of a program, and the arrays that connect them (HIDA, §5.5.1, step 1).

use itertools::Itertools;
use pushmem_affine::Fraction;
use pushmem_nest::{Access, ArrayKind, Index, Loop, Node, Operation, Policy, Program};

/// The dataflow graph of a program.
#[derive(Clone, Debug)]
pub struct Dataflow {
    /// The nodes in the order of the program.
    pub nodes: Vec<DataflowNode>,
    /// The connections, by array, source and target.
    pub connections: Vec<Connection>,
    /// The names of the arrays of the program.
    pub(crate) arrays: Vec<String>,
}

/// A loop nest that runs at the same time as others: a loop that is not only around several loops.
#[derive(Clone, Debug)]
pub struct DataflowNode {
    /// The name of its operation with the most iterations.
    pub name: String,
    /// All its loops, each before those within it.
    pub loops: Vec<NodeLoop>,
    /// Its operations.
    pub(crate) operations: Vec<NodeOperation>,
    /// The work of an image: iterations of its operation with the most.
    pub intensity: u64,
}

/// A loop of a dataflow node.
#[derive(Clone, Debug)]
pub struct NodeLoop {
    /// The name of its variable.
    pub variable: String,
    /// The number of its iterations.
    pub extent: i64,
    /// The unroll factor that the program has.
    pub written: i64,
    /// Whether it may have another one.
    pub is_free: bool,
    /// Whether copies along it add to one sum.
    pub is_sum: bool,
    /// Its number among all loops of the program, each counted before those within it.
    pub(crate) number: usize,
}

/// An operation of a dataflow node.
#[derive(Clone, Debug)]
pub struct NodeOperation {
    /// The loops around it, outermost first, as places among those of the node. Loops around the node have none.
    pub path: Vec<Option<usize>>,
    /// Iterations in an image.
    pub iterations: u64,
    /// The arrays that it accesses, the target first, and the loops in each dimension with their strides.
    pub accesses: Vec<NodeAccess>,
}

/// An access of an operation.
#[derive(Clone, Debug)]
pub struct NodeAccess {
    /// The array, as in the program.
    pub array: usize,
    /// By dimension, the loops of the node in the index with their strides, all positive.
    pub dimensions: Vec<Vec<(usize, i64)>>,
    /// Whether it writes.
    pub is_write: bool,
}

/// An array through which words of one node go to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The node that writes.
    pub source: usize,
    /// The node that reads.
    pub target: usize,
    /// The array, as in the program.
    pub array: usize,
    /// By loop of the target, that of the source which has the same dimension of the array.
    pub to_target: Vec<Option<Alignment>>,
    /// By loop of the source, that of the target.
    pub to_source: Vec<Option<Alignment>>,
}

/// A loop of one node beside a loop of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// The loop of the other node.
    pub of: usize,
    /// Iterations of this loop for one of the other: the ratio of their strides.
    pub scale: Fraction,
}

impl Dataflow {
    /// The graph of a program.
    pub fn of(program: &Program) -> Self {
        let mut found = Vec::new();
        let mut next = 0;
        roots(&program.nest, &mut Vec::new(), &mut next, &mut found);
        let nodes: Vec<DataflowNode> =
            found.into_iter().map(|root| root.node(program)).filter(|node| !node.operations.is_empty()).collect();
        let mut connections = Vec::new();
        let pairs = (0..nodes.len()).cartesian_product(0..nodes.len()).filter(|(source, target)| source != target);
        for (source, target) in pairs {
            for (array, declared) in program.arrays.iter().enumerate() {
                if declared.kind != ArrayKind::Input {
                    connections.extend(connection(&nodes, source, target, array));
                }
            }
        }
        Dataflow { nodes, connections, arrays: program.arrays.iter().map(|array| array.name.clone()).collect() }
    }

    /// The connections of a node.
    pub fn connections_of(&self, node: usize) -> impl Iterator<Item = &Connection> {
        self.connections.iter().filter(move |connection| connection.source == node || connection.target == node)
    }

    /// The nodes in the order in which they are parallelized: those with the most connections first, of these those with the most work
    /// (HIDA, §5.5.1, step 2).
    pub fn order(&self) -> Vec<usize> {
        let criticality = |node: &usize| (self.connections_of(*node).count(), self.nodes[*node].intensity);
        (0..self.nodes.len()).sorted_by_key(|node| std::cmp::Reverse(criticality(node))).collect()
    }
}

/// A loop nest that becomes a node.
struct Root<'a> {
    /// The loops around it.
    around: Vec<&'a Loop>,
    node: &'a Node,
    /// The number of its first loop.
    first: usize,
}

/// Collects loops that are around something else than several loops. Statements outside of loops are nodes without loops.
fn roots<'a>(nodes: &'a [Node], around: &mut Vec<&'a Loop>, next: &mut usize, found: &mut Vec<Root<'a>>) {
    for node in nodes {
        let first = *next;
        match node {
            Node::Loop(level)
                if level.body.len() > 1 && level.body.iter().all(|node| matches!(node, Node::Loop(_))) =>
            {
                *next += 1;
                around.push(level);
                roots(&level.body, around, next, found);
                around.pop();
            }
            _ => {
                *next += loops_in(node);
                found.push(Root { around: around.clone(), node, first });
            }
        }
    }
}

fn loops_in(node: &Node) -> usize {
    match node {
        Node::Loop(level) => 1 + level.body.iter().map(loops_in).sum::<usize>(),
        Node::Operation(_) => 0,
    }
}

/// An operation of a node, with the loops around it, outermost first, and their places among those of the node.
struct Placed<'a> {
    operation: &'a Operation,
    around: Vec<&'a Loop>,
    path: Vec<Option<usize>>,
}

impl Root<'_> {
    fn node(self, program: &Program) -> DataflowNode {
        let is_stencil = program.policy() == Policy::Stencil;
        let mut loops = Vec::new();
        let mut operations = Vec::new();
        let mut path = self.around.iter().map(|level| (*level, None)).collect_vec();
        visit(self.node, &mut path, self.first, &mut loops, &mut operations);
        for (place, level) in loops.iter_mut().enumerate() {
            let mut within = operations.iter().filter_map(|placed: &Placed| Some((placed.depth(place)?, placed)));
            // A raster scan has lanes along its rows.
            let may = |(depth, placed): (usize, &Placed)| {
                placed.may_unroll(depth) && (!is_stencil || placed.around[depth + 1..].iter().all(is_parallel))
            };
            level.is_free = level.written == 1 && within.clone().all(may);
            level.is_sum = within.any(|(depth, placed)| placed.operation.merges(depth));
        }
        let intensity = operations.iter().map(Placed::iterations).max().unwrap_or(0);
        let heaviest = operations.iter().find(|placed| placed.iterations() == intensity);
        DataflowNode {
            name: heaviest.map_or_else(String::new, |placed| placed.operation.name.clone()),
            loops,
            intensity,
            operations: operations.into_iter().map(Placed::into_operation).collect(),
        }
    }
}

/// Whether all iterations of a loop are executed at once.
fn is_parallel(level: &&Loop) -> bool {
    level.unroll == level.extent
}

/// Collects the loops and the operations of a node; `path` are the loops around this part of it.
fn visit<'a>(
    node: &'a Node,
    path: &mut Vec<(&'a Loop, Option<usize>)>,
    first: usize,
    loops: &mut Vec<NodeLoop>,
    operations: &mut Vec<Placed<'a>>,
) {
    match node {
        Node::Operation(operation) => {
            let (around, path) = path.iter().copied().unzip();
            operations.push(Placed { operation, around, path });
        }
        Node::Loop(level) => {
            let Loop { variable, extent, unroll, .. } = level;
            let number = first + loops.len();
            path.push((level, Some(loops.len())));
            loops.push(NodeLoop {
                variable: variable.clone(),
                extent: *extent,
                written: *unroll,
                is_free: false,
                is_sum: false,
                number,
            });
            level.body.iter().for_each(|node| visit(node, path, first, loops, operations));
            path.pop();
        }
    }
}

impl Placed<'_> {
    /// Which of the loops around it is one of the node.
    fn depth(&self, place: usize) -> Option<usize> {
        self.path.iter().position(|of| *of == Some(place))
    }

    fn iterations(&self) -> u64 {
        self.around.iter().map(|level| (level.extent / level.unroll) as u64).product()
    }

    /// Whether its copies along a loop are independent, or one sum.
    fn may_unroll(&self, depth: usize) -> bool {
        let Operation { target, loads, .. } = self.operation;
        let recurs =
            loads.iter().any(|load| load.access.array == target.array && load.access.indices != target.indices);
        // Where the order of a sum matters, its copies are those of the innermost loop.
        let in_order = self.operation.expression.value.sums_in_order();
        let is_innermost = !(depth + 1..self.around.len()).any(|inner| self.operation.merges(inner));
        let is_sum = self.operation.merges(depth) && (!in_order || is_innermost);
        (target.follows(depth) || is_sum) && !recurs
    }

    fn into_operation(self) -> NodeOperation {
        let access = |access: &Access, is_write: bool| NodeAccess {
            array: access.array,
            dimensions: access.indices.iter().map(|index| strides(index, &self.path)).collect(),
            is_write,
        };
        let target = access(&self.operation.target, true);
        let reads = self.operation.reads().map(|read| access(read, false));
        let accesses = std::iter::once(target).chain(reads).collect();
        NodeOperation { accesses, iterations: self.iterations(), path: self.path }
    }
}

/// The loops of a node in an index. A loop within a division or a boundary has the stride 1.
fn strides(index: &Index, path: &[Option<usize>]) -> Vec<(usize, i64)> {
    let stride = |variable: usize| index.affine.coefficient(variable).abs().max(1);
    index.variables().into_iter().filter_map(|variable| Some((path[variable]?, stride(variable)))).collect()
}

impl DataflowNode {
    /// All accesses of its operations.
    pub(crate) fn accesses(&self) -> impl Iterator<Item = &NodeAccess> {
        self.operations.iter().flat_map(|operation| &operation.accesses)
    }
}

impl NodeAccess {
    /// The loop that goes along a dimension: of several, that with the most iterations, as the others are a window.
    fn along(&self, node: &DataflowNode, dimension: usize) -> Option<(usize, i64)> {
        self.dimensions[dimension].iter().copied().max_by_key(|(place, _)| node.loops[*place].extent)
    }
}

/// The connection of two nodes through an array, if one writes it and the other reads it.
fn connection(nodes: &[DataflowNode], source: usize, target: usize, array: usize) -> Option<Connection> {
    let accesses = |node: usize, is_write: bool| {
        nodes[node].accesses().filter(move |access| access.array == array && access.is_write == is_write)
    };
    let (write, read) = (accesses(source, true).next()?, accesses(target, false).next()?);
    let mut to_target = vec![None; nodes[target].loops.len()];
    let mut to_source = vec![None; nodes[source].loops.len()];
    for dimension in 0..write.dimensions.len() {
        let (Some((of_write, written)), Some((of_read, taken))) =
            (write.along(&nodes[source], dimension), read.along(&nodes[target], dimension))
        else {
            continue;
        };
        let scale = Fraction::new(written, taken);
        to_target[of_read].get_or_insert(Alignment { of: of_write, scale });
        to_source[of_write].get_or_insert(Alignment { of: of_read, scale: Fraction::ONE.quotient(scale) });
    }
    Some(Connection { source, target, array, to_target, to_source })
}
