//! The routing-resource graph (Betz, Rose and Marquardt, Architecture and CAD for Deep-Submicron FPGAs, 1999, §4.2).

use pushmem_fabric::{ArraySpec, Layer, Place, Side, TileKind};

use crate::layout::{Local, MultiplexerInput, Node, TileLayout, registered_phase};

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The number of the node, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A connection that configuration can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The node at the other end.
    pub node: NodeId,
    /// The value of the field of the multiplexer that makes it.
    pub value: u32,
}

/// The choice of a node at a value of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Chosen {
    /// Another node.
    Node(NodeId),
    /// A track that would come in from outside of the array: 0.
    Edge,
    /// None of its choices: a register holds still, an input of a core is 0.
    Nothing,
}

/// A node and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    /// The place of the tile.
    pub place: Place,
    /// Its network.
    pub layer: Layer,
    /// The node in its tile.
    pub node: Node,
}

/// The routing-resource graph of an array.
///
/// Nodes are tracks, registers and ports at their places; an edge is an input of a multiplexer that has a source. A value of a
/// register's node is there one cycle after that of the node that it chooses, all others in the same cycle.
#[derive(Clone, Debug)]
pub struct Graph {
    columns: u32,
    rows: u32,
    hop_limit: u32,
    layouts: [TileLayout; 3],
    /// Kind and first node of the tiles, in the order of places, and the number of nodes behind them.
    tiles: Vec<(TileKind, u32)>,
    tile_of: Vec<u16>,
    sources: Adjacency,
    sinks: Adjacency,
}

impl Graph {
    /// The graph of an array.
    pub fn of(spec: &ArraySpec) -> Self {
        let layouts = TileKind::ALL.map(|kind| TileLayout::of(spec, kind));
        let mut tiles = Vec::new();
        let mut tile_of = Vec::new();
        for place in spec.places() {
            let kind = spec.kind(place).expect("places are those of the array");
            let nodes = layouts[kind as usize].locals.len();
            tile_of.resize(tile_of.len() + nodes, tiles.len() as u16);
            tiles.push((kind, (tile_of.len() - nodes) as u32));
        }
        let none = Adjacency::default();
        let ArraySpec { columns, rows, hop_limit, .. } = *spec;
        let mut graph = Graph { columns, rows, hop_limit, layouts, tiles, tile_of, sources: none.clone(), sinks: none };
        let sources: Vec<Vec<Edge>> = graph.nodes().map(|node| graph.sources_of(node)).collect();
        let mut sinks = vec![Vec::new(); sources.len()];
        for (sink, edges) in graph.nodes().zip(&sources) {
            for edge in edges {
                sinks[edge.node.index()].push(Edge { node: sink, value: edge.value });
            }
        }
        graph.sources = Adjacency::of(&sources);
        graph.sinks = Adjacency::of(&sinks);
        graph
    }

    /// All nodes, tile by tile.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.tile_of.len() as u32).map(NodeId)
    }

    /// The nodes that a node can choose, each with the value that chooses it.
    pub fn sources(&self, node: NodeId) -> &[Edge] {
        self.sources.of_node(node)
    }

    /// The nodes that can choose a node, each with the value that does.
    pub fn sinks(&self, node: NodeId) -> &[Edge] {
        self.sinks.of_node(node)
    }

    /// The layout of a kind of tile.
    pub fn layout(&self, kind: TileKind) -> &TileLayout {
        &self.layouts[kind as usize]
    }

    /// The kind of the tile at a place, if there is one.
    pub fn kind(&self, place: Place) -> Option<TileKind> {
        self.tile(place).map(|tile| self.tiles[tile].0)
    }

    /// The node of a resource, if there is one.
    pub fn node(&self, resource: Resource) -> Option<NodeId> {
        let Resource { place, layer, node } = resource;
        let (kind, first) = self.tiles[self.tile(place)?];
        let locals = &self.layout(kind).locals;
        let local = locals.binary_search_by_key(&(layer, node), |local| (local.layer, local.node)).ok()?;
        Some(NodeId(first + local as u32))
    }

    /// The resource that a node is.
    pub fn resource(&self, node: NodeId) -> Resource {
        let Local { layer, node: kind, .. } = *self.local(node);
        Resource { place: self.place(node), layer, node: kind }
    }

    /// The place of a node.
    pub fn place(&self, node: NodeId) -> Place {
        let tile = u32::from(self.tile_of[node.index()]);
        Place { row: tile / self.columns, column: tile % self.columns }
    }

    /// The node within its tile.
    pub fn local(&self, node: NodeId) -> &Local {
        let (kind, first) = self.tiles[usize::from(self.tile_of[node.index()])];
        &self.layout(kind).locals[(node.0 - first) as usize]
    }

    /// The name of a node, as `pe_1_2.word.north_3`: tile, layer and what it is there.
    pub fn name(&self, node: NodeId) -> String {
        let Resource { place, layer, node } = self.resource(node);
        let kind = self.kind(place).expect("a node is at the place of a tile");
        let layout = self.layout(kind);
        let here = match node {
            Node::Segment { side, track } => format!("{}_{track}", side.name()),
            Node::Register { side, track } => format!("{}_{track}.register", side.name()),
            Node::Input { port } => format!("{}.input", layout.inputs(layer)[port as usize].name),
            Node::Output { port } => format!("{}.output", layout.outputs(layer)[port as usize].name),
        };
        format!("{}_{}_{}.{}.{here}", kind.name(), place.column, place.row, layer.name())
    }

    /// The choice of a node at a value of its field. Nothing else gives the value a meaning.
    pub fn chosen(&self, node: NodeId, value: u32) -> Chosen {
        let sources = self.sources(node);
        if let Some(edge) = sources.iter().find(|edge| edge.value == value) {
            return Chosen::Node(edge.node);
        }
        let Resource { place, node: here, .. } = self.resource(node);
        let Local { choices, first_value, .. } = self.local(node);
        match here {
            // A track that cannot pass around its register does not.
            Node::Segment { side, track } if self.is_registered(place, side, track) => Chosen::Node(sources[0].node),
            _ if (*first_value..first_value + choices.len() as u32).contains(&value) => Chosen::Edge,
            _ => Chosen::Nothing,
        }
    }

    /// Whether a track cannot pass around its register at this hop.
    fn is_registered(&self, place: Place, side: Side, track: u32) -> bool {
        let position = match side {
            Side::North | Side::South => place.row,
            Side::East | Side::West => place.column,
        };
        position % self.hop_limit == registered_phase(track, self.hop_limit)
    }

    fn tile(&self, place: Place) -> Option<usize> {
        let Place { row, column } = place;
        (column < self.columns && row <= self.rows).then(|| (row * self.columns + column) as usize)
    }

    /// The sources of a node, from the choices of its kind.
    fn sources_of(&self, node: NodeId) -> Vec<Edge> {
        let Resource { place, layer, node: here } = self.resource(node);
        let Local { choices, first_value, .. } = self.local(node);
        let choices = choices.iter().zip(*first_value..);
        let source = |choice: MultiplexerInput| match (choice, here) {
            (MultiplexerInput::Register, Node::Segment { side, track }) => {
                self.node(Resource { place, layer, node: Node::Register { side, track } })
            }
            (MultiplexerInput::Incoming { track, .. }, Node::Segment { side, .. })
                if self.is_registered(place, side, track) =>
            {
                None
            }
            (MultiplexerInput::Incoming { side, track }, _) => {
                let node = Node::Segment { side: side.opposite(), track };
                self.node(Resource { place: place.neighbour(side)?, layer, node })
            }
            (MultiplexerInput::Core { port }, _) => self.node(Resource { place, layer, node: Node::Output { port } }),
            (MultiplexerInput::Register, _) => None,
        };
        choices.filter_map(|(choice, value)| Some(Edge { node: source(*choice)?, value })).collect()
    }
}

/// Edges by node, without a list of its own for each.
#[derive(Clone, Debug, Default)]
struct Adjacency {
    /// The first edge of each node, and the number of edges.
    first: Vec<u32>,
    edges: Vec<Edge>,
}

impl Adjacency {
    fn of(lists: &[Vec<Edge>]) -> Self {
        let mut adjacency = Adjacency { first: vec![0], edges: Vec::new() };
        for list in lists {
            adjacency.edges.extend_from_slice(list);
            adjacency.first.push(adjacency.edges.len() as u32);
        }
        adjacency
    }

    fn of_node(&self, node: NodeId) -> &[Edge] {
        &self.edges[self.first[node.index()] as usize..self.first[node.index() + 1] as usize]
    }
}
