//! The routing-resource graph of a layer, without the nodes that routes pass in one way only.

use pushmem_fabric::{ArraySpec, Layer};
use pushmem_resources::{Graph, Node, NodeId};

/// No wire.
const NONE: u32 = u32::MAX;

/// A wire: a track from a tile to its neighbour.
pub type Wire = u32;

/// A step to a wire.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub wire: Wire,
    /// 1, unless it passes around the register.
    pub registers: u8,
}

/// The wires of a layer and the steps between them.
#[derive(Clone, Debug)]
pub struct Wires {
    /// The node of each wire.
    segments: Vec<NodeId>,
    /// The register of each wire.
    registers: Vec<NodeId>,
    /// The wire of each node that is a segment.
    of_node: Vec<Wire>,
    next: Steps,
    previous: Steps,
    /// Whether there is a way from wire to wire without a register.
    pub has_passes: bool,
}

/// The wires of both layers of an array, for routers. Making it takes as long as routing a small netlist: make it once.
#[derive(Clone, Debug)]
pub struct Fabric {
    layers: [Wires; 2],
}

impl Fabric {
    /// The wires of an array.
    pub fn of(spec: &ArraySpec, graph: &Graph) -> Self {
        Fabric { layers: Layer::ALL.map(|layer| Wires::of(spec, graph, layer)) }
    }

    pub(crate) fn layer(&self, layer: Layer) -> &Wires {
        &self.layers[layer as usize]
    }
}

#[derive(Clone, Debug, Default)]
struct Steps {
    first: Vec<u32>,
    steps: Vec<Step>,
}

impl Steps {
    fn of(lists: &[Vec<Step>]) -> Self {
        let mut steps = Steps { first: vec![0], steps: Vec::new() };
        for list in lists {
            steps.steps.extend_from_slice(list);
            steps.first.push(steps.steps.len() as u32);
        }
        steps
    }

    fn of_wire(&self, wire: Wire) -> &[Step] {
        &self.steps[self.first[wire as usize] as usize..self.first[wire as usize + 1] as usize]
    }
}

impl Wires {
    fn of(spec: &ArraySpec, graph: &Graph, layer: Layer) -> Self {
        let mut of_node = vec![NONE; graph.nodes().count()];
        let (mut segments, mut registers) = (Vec::new(), Vec::new());
        for node in graph.nodes() {
            let resource = graph.resource(node);
            // A track that leaves the array leads nowhere.
            if let Node::Segment { .. } = resource.node
                && resource.layer == layer
                && !graph.sinks(node).is_empty()
            {
                let register = graph.sources(node).iter().find(|edge| is_register(graph, edge.node));
                let Some(register) = register else { continue };
                of_node[node.index()] = segments.len() as Wire;
                segments.push(node);
                registers.push(register.node);
            }
        }
        let mut next = vec![Vec::new(); segments.len()];
        let mut previous = vec![Vec::new(); segments.len()];
        let mut has_passes = false;
        for (wire, (segment, register)) in segments.iter().zip(&registers).enumerate() {
            let passes =
                graph.sources(*segment).iter().filter(|edge| edge.node != *register).map(|edge| (edge.node, 0));
            let registered = graph.sources(*register).iter().map(|edge| (edge.node, 1));
            for (from, registers) in passes.chain(registered) {
                let from = of_node[from.index()];
                if from != NONE {
                    next[from as usize].push(Step { wire: wire as Wire, registers });
                    previous[wire].push(Step { wire: from, registers });
                    has_passes |= registers == 0;
                }
            }
        }
        debug_assert!(has_passes <= (spec.hop_limit > 1));
        Wires { segments, registers, of_node, next: Steps::of(&next), previous: Steps::of(&previous), has_passes }
    }

    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// The segment of a wire.
    pub fn segment(&self, wire: Wire) -> NodeId {
        self.segments[wire as usize]
    }

    /// The register of a wire.
    pub fn register(&self, wire: Wire) -> NodeId {
        self.registers[wire as usize]
    }

    /// The wires that can take a wire.
    pub fn next(&self, wire: Wire) -> &[Step] {
        self.next.of_wire(wire)
    }

    /// The wires that a wire can take.
    pub fn previous(&self, wire: Wire) -> &[Step] {
        self.previous.of_wire(wire)
    }

    /// The wires that can take an output of a core. Each has a register.
    pub fn leaving<'a>(&'a self, graph: &'a Graph, output: NodeId) -> impl Iterator<Item = Wire> + 'a {
        graph.sinks(output).iter().flat_map(move |edge| {
            let segments = graph.sinks(edge.node).iter().map(|edge| self.of_node[edge.node.index()]);
            segments.filter(|wire| *wire != NONE)
        })
    }

    /// The wires that an input of a core can take.
    pub fn arriving<'a>(&'a self, graph: &'a Graph, input: NodeId) -> impl Iterator<Item = Wire> + 'a {
        graph.sources(input).iter().map(|edge| self.of_node[edge.node.index()]).filter(|wire| *wire != NONE)
    }
}

fn is_register(graph: &Graph, node: NodeId) -> bool {
    matches!(graph.resource(node).node, Node::Register { .. })
}
