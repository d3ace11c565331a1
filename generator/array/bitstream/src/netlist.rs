//! The netlist that a configuration stands for.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use pushmem_fabric::Layer;
use pushmem_resources::{Chosen, Graph, Meaning, Node, NodeId, Resource, TileLayout};

use crate::configuration::{Configuration, TileConfiguration};

/// Where the value of an input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Driver {
    /// An output of a core.
    Output(NodeId),
    /// The register of a track that takes nothing, and holds still.
    Idle(NodeId),
    /// A register of a ring of tracks: what is in the ring stays there.
    Ring(NodeId),
    /// The edge of the array, where tracks carry 0.
    Edge,
}

/// A connection from a source to an input of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Net {
    /// The input.
    pub input: NodeId,
    /// Where its value comes from.
    pub source: Driver,
    /// Registers between the two, and so cycles. Of a ring, those before it.
    pub registers: u32,
}

/// The connections of all inputs that take a track.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Netlist {
    /// The connections, in the order of inputs.
    pub nets: Vec<Net>,
}

impl Netlist {
    /// Follows the routes of a configuration, back from the inputs of cores.
    pub fn of(configuration: &Configuration, graph: &Graph) -> Self {
        let inputs = configuration.tiles.iter().flat_map(|(place, tile)| {
            let layout = graph.layout(graph.kind(*place).expect("tiles are those of the array"));
            layout.locals.iter().filter_map(move |local| match local.node {
                Node::Input { port } if takes_track(tile, layout, local.layer, port) => {
                    graph.node(Resource { place: *place, layer: local.layer, node: local.node })
                }
                _ => None,
            })
        });
        Netlist { nets: inputs.map(|input| follow(configuration, graph, input, |_| ())).collect() }
    }

    /// The nodes on the way of each connection, back from its input, both ends included.
    pub fn ways(&self, configuration: &Configuration, graph: &Graph) -> Vec<Vec<NodeId>> {
        let way = |net: &Net| {
            let mut way = Vec::new();
            follow(configuration, graph, net.input, |node| way.push(node));
            way
        };
        self.nets.iter().map(way).collect()
    }

    /// The netlist as text: a line for each input, with its source and the registers between them.
    pub fn to_text(&self, graph: &Graph) -> String {
        let mut text = String::new();
        for Net { input, source, registers } in &self.nets {
            let source = match source {
                Driver::Output(node) => graph.name(*node),
                Driver::Idle(node) => format!("nothing: {} takes nothing", graph.name(*node)),
                Driver::Ring(node) => format!("nothing: {} is on a ring", graph.name(*node)),
                Driver::Edge => "nothing: the edge of the array".to_owned(),
            };
            writeln!(text, "{} <- {registers} <- {source}", graph.name(*input))
                .expect("writing to a string cannot fail");
        }
        text
    }
}

/// Whether an input of a core takes a track. An operand whose mode does not ask for one takes none, whatever its connection box
/// chooses.
fn takes_track(tile: &TileConfiguration, layout: &TileLayout, layer: Layer, port: u32) -> bool {
    let is_operand = layout.is_operand(&layout.inputs(layer)[port as usize]);
    let takes_none = is_operand && !tile.mode(layout, layer, port).takes_track();
    !takes_none && tile.value(layout, Meaning::Connection { layer, port }) != 0
}

/// Follows the route of an input back to its source, and visits each node on the way.
fn follow(configuration: &Configuration, graph: &Graph, input: NodeId, mut visit: impl FnMut(NodeId)) -> Net {
    let mut registers = 0;
    let mut seen = BTreeSet::new();
    let mut node = input;
    let net = |source: Driver, registers: u32| Net { input, source, registers };
    loop {
        visit(node);
        let here = graph.resource(node).node;
        if let Node::Output { .. } = here {
            return net(Driver::Output(node), registers);
        }
        if !seen.insert(node) {
            return net(Driver::Ring(node), registers);
        }
        node = match graph.chosen(node, configuration.choice(graph, node)) {
            Chosen::Node(next) => next,
            Chosen::Edge => return net(Driver::Edge, registers),
            Chosen::Nothing => return net(Driver::Idle(node), registers),
        };
        registers += u32::from(matches!(here, Node::Register { .. }));
    }
}
