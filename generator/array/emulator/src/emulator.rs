//! The array in cycles.

use std::collections::{BTreeMap, BTreeSet};

use pushmem_bitstream::{Configuration, TileConfiguration};
use pushmem_configuration::Configuration as MemoryConfiguration;
use pushmem_fabric::{ArraySpec, Direction, Layer, Place, TileKind};
use pushmem_model::{Inputs as MemoryInputs, Tile};
use pushmem_pe::{Configuration as PeConfiguration, Pe};
use pushmem_resources::{Graph, Node, NodeId, Resource, TileLayout};

use crate::control::ControlTree;
use crate::pe::{self, PeTile};
use crate::route::{Routes, Slot};
use crate::streams::{Beat, Control, StreamIn, StreamOut};

/// The inputs of a column in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamInputs {
    /// The beat that is offered to the stream into the array.
    pub beat: Option<Beat>,
    /// Whether the beat of the stream out of the array is taken.
    pub ready: bool,
}

/// The outputs of a column in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOutputs {
    /// Whether a beat that is offered is taken.
    pub ready: bool,
    /// The beat of the stream out of the array.
    pub beat: Option<Beat>,
}

/// The inputs of an array in a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Starts a run.
    pub flush: bool,
    /// Holds everything.
    pub stall: bool,
    /// The streams, column by column. In further columns nothing is offered and nothing taken.
    pub streams: Vec<StreamInputs>,
}

/// A memory in its tile.
struct MemoryTile {
    tile: Tile,
    place: Place,
    /// Inputs and outputs of words, and the output of a bit.
    inputs: Vec<Slot>,
    outputs: Vec<Slot>,
    bit: Slot,
    /// Whether that is the stencil-valid output. If not, it tells in which cycles the first output has a word.
    has_stencil_valid: bool,
}

/// The cycle-accurate model of an array.
pub struct Emulator {
    spec: ArraySpec,
    graph: Graph,
    /// The values of registers and outputs by node, and behind them 0 and the constants of processing elements.
    values: Vec<u32>,
    /// The registers that take something, each with what it takes.
    hops: Vec<(Slot, Slot)>,
    pes: Vec<(Place, PeTile)>,
    /// The processing elements that were in use before: their registers hold still.
    idle_pes: BTreeMap<Place, Pe>,
    memories: Vec<MemoryTile>,
    /// The streams that have beats.
    streams_in: Vec<StreamIn>,
    streams_out: Vec<StreamOut>,
    control: ControlTree,
    next: Vec<u32>,
}

impl Emulator {
    /// An array after reset: no tile is configured. Registers hold 0; in the hardware they hold anything.
    pub fn new(spec: &ArraySpec, graph: Graph) -> Self {
        let nodes = graph.nodes().count();
        Emulator {
            streams_in: Vec::new(),
            streams_out: Vec::new(),
            control: ControlTree::new(spec),
            values: vec![0; nodes + 1],
            hops: Vec::new(),
            pes: Vec::new(),
            idle_pes: BTreeMap::new(),
            memories: Vec::new(),
            next: Vec::new(),
            spec: spec.clone(),
            graph,
        }
    }

    /// The routing resources of the array.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Loads a configuration, in place of the one before. Registers keep their values, memories their words; beats in the buffers of
    /// streams are dropped.
    ///
    /// Load it while no memory runs; memories take theirs with the next flush.
    pub fn configure(&mut self, configuration: &Configuration) {
        let Self { spec, graph, .. } = self;
        // Behind the values of nodes and the 0 are the constants of the configuration.
        let zero = graph.nodes().count();
        self.values.truncate(zero + 1);
        let routes = Routes { graph, configuration, zero };
        self.hops.clear();
        for stream in self.streams_in.drain(..) {
            self.values[stream.data] = 0;
            self.values[stream.bit] = 0;
        }
        self.streams_out.clear();
        let mut pes = Vec::new();
        let mut old: BTreeMap<Place, Pe> =
            std::mem::take(&mut self.pes).into_iter().map(|(place, tile)| (place, tile.pe)).collect();
        old.append(&mut self.idle_pes);
        for (place, tile) in &configuration.tiles {
            let kind = graph.kind(*place).expect("tiles are those of the array");
            let layout = graph.layout(kind);
            for local in &layout.locals {
                if !matches!(local.node, Node::Register { .. }) {
                    continue;
                }
                let node = node_at(graph, *place, local.layer, local.node);
                if let Some(source) = routes.taken(node) {
                    self.hops.push((node.index(), source));
                }
            }
            if kind == TileKind::Pe {
                let (configuration, has_operation) = pe::configuration(&spec.pe, layout, tile);
                let pe = configured(old.remove(place), spec, configuration);
                let inputs = Layer::ALL.map(|layer| inputs(&routes, layout, *place, layer));
                let outputs = Layer::ALL.map(|layer| node_at(graph, *place, layer, Node::Output { port: 0 }).index());
                pes.push((*place, PeTile::new(pe, spec.word_bits(), has_operation, inputs, outputs)));
            }
            if kind == TileKind::Io {
                let registers = |direction: Direction| tile.stream_registers(spec, layout, direction);
                let (column, node) = (place.column as usize, |layer, node| node_at(graph, *place, layer, node));
                if let Some(registers) = registers(Direction::In) {
                    let slots = Layer::ALL.map(|layer| node(layer, Node::Output { port: 0 }).index());
                    self.streams_in.push(StreamIn::new(spec, registers, column, slots));
                }
                if let Some(registers) = registers(Direction::Out) {
                    let slots = Layer::ALL.map(|layer| routes.input(node(layer, Node::Input { port: 0 })));
                    self.streams_out.push(StreamOut::new(spec, registers, column, slots));
                }
            }
        }
        let taken: BTreeSet<Slot> = self.hops.iter().map(|(_, source)| *source).collect();
        for (_, tile) in &mut pes {
            tile.is_seen = taken.contains(&tile.result) || taken.contains(&tile.result_bit);
            tile.place_constants(&mut self.values);
        }
        configure_memories(spec, &routes, &mut self.memories);
        self.next.resize(self.hops.len(), 0);
        (self.pes, self.idle_pes) = (pes, old);
    }

    /// The outputs in this cycle, column by column.
    pub fn outputs(&self) -> Vec<StreamOutputs> {
        let mut outputs = vec![StreamOutputs::default(); self.spec.columns as usize];
        self.streams_in.iter().for_each(|stream| outputs[stream.column].ready = stream.is_ready());
        self.streams_out.iter().for_each(|stream| outputs[stream.column].beat = stream.beat());
        outputs
    }

    /// Whether time stands still in this cycle.
    pub fn is_stalled(&self) -> bool {
        self.control.now().stall
    }

    /// The value of a register in this cycle.
    pub fn register(&self, node: NodeId) -> u32 {
        self.values[node.index()]
    }

    /// Takes the array to the next cycle.
    pub fn clock(&mut self, inputs: &Inputs) {
        let control = self.control.now();
        let requests =
            self.streams_in.iter().any(StreamIn::requests) || self.streams_out.iter().any(StreamOut::requests);
        let of_column = |column: usize| inputs.streams.get(column).copied().unwrap_or_default();
        if !control.stall {
            self.show(control);
        }
        for stream in &mut self.streams_out {
            stream.clock(control, of_column(stream.column).ready, &self.values);
        }
        for stream in &mut self.streams_in {
            stream.clock(control, of_column(stream.column).beat);
        }
        if control.flush || !control.stall {
            self.memories.iter_mut().for_each(|memory| memory.clock(control, &self.values));
        }
        if !control.stall {
            self.step();
        }
        self.control.clock(inputs.flush, inputs.stall, requests);
    }

    /// Puts what cores show in this cycle into the values.
    fn show(&mut self, control: Control) {
        self.streams_in.iter().for_each(|stream| stream.show(&mut self.values));
        self.memories.iter().for_each(|memory| memory.show(control, &mut self.values));
        for (_, tile) in self.pes.iter().filter(|(_, tile)| tile.is_seen) {
            tile.show(&mut self.values);
        }
    }

    /// Ends a cycle in which time goes on.
    fn step(&mut self) {
        for (_, tile) in self.pes.iter_mut().filter(|(_, tile)| tile.is_delayed) {
            tile.step(&self.values);
        }
        for (next, (_, source)) in self.next.iter_mut().zip(&self.hops) {
            *next = self.values[*source];
        }
        for (next, (register, _)) in self.next.iter().zip(&self.hops) {
            self.values[*register] = *next;
        }
    }
}

impl MemoryTile {
    fn ports(&self, control: Control, values: &[u32]) -> MemoryInputs {
        let mut ports = MemoryInputs { flush: control.flush, stall: control.stall, ..MemoryInputs::default() };
        for (port, slot) in ports.data.iter_mut().zip(&self.inputs) {
            *port = values[*slot].into();
        }
        ports
    }

    /// Puts what the memory shows into the values.
    fn show(&self, control: Control, values: &mut [u32]) {
        let outputs = self.tile.outputs(&self.ports(control, values));
        for (slot, word) in self.outputs.iter().zip(outputs.data) {
            values[*slot] = word.value as u32;
        }
        let bit = if self.has_stencil_valid { outputs.stencil_valid } else { outputs.valid[0] };
        values[self.bit] = bit.into();
    }

    fn clock(&mut self, control: Control, values: &[u32]) {
        self.tile.clock(&self.ports(control, values));
    }
}

/// The node of a tile.
fn node_at(graph: &Graph, place: Place, layer: Layer, node: Node) -> NodeId {
    graph.node(Resource { place, layer, node }).expect("a node of the tile's layout")
}

/// The sources of the inputs of a processing element; those that it does not have take 0.
fn inputs(routes: &Routes, layout: &TileLayout, place: Place, layer: Layer) -> [Slot; 3] {
    let count = layout.inputs(layer).len() as u32;
    [0, 1, 2].map(|port| match port < count {
        true => routes.input(node_at(routes.graph, place, layer, Node::Input { port })),
        false => routes.zero,
    })
}

/// The processing element that was there, with another configuration, or a new one.
fn configured(old: Option<Pe>, spec: &ArraySpec, configuration: PeConfiguration) -> Pe {
    let mut pe = old.unwrap_or_else(|| Pe::new(&spec.pe, configuration));
    pe.configuration = configuration;
    pe
}

/// Loads the memories that have a configuration, and stops the others.
fn configure_memories(spec: &ArraySpec, routes: &Routes, memories: &mut Vec<MemoryTile>) {
    let Some(columns) = &spec.memory else { return };
    let nothing = MemoryConfiguration::default();
    let layout = routes.graph.layout(TileKind::Memory);
    for (place, tile) in &routes.configuration.tiles {
        if tile.memory.is_some() && !memories.iter().any(|memory| memory.place == *place) {
            let output = |layer: Layer, port: u32| node_at(routes.graph, *place, layer, Node::Output { port }).index();
            memories.push(MemoryTile {
                tile: Tile::new(&columns.tile),
                place: *place,
                inputs: Vec::new(),
                outputs: (0..columns.tile.outputs).map(|port| output(Layer::Word, port)).collect(),
                bit: output(Layer::Bit, 0),
                has_stencil_valid: columns.tile.stencil_valid,
            });
        }
    }
    for memory in memories {
        let tile: Option<&TileConfiguration> = routes.configuration.tiles.get(&memory.place);
        let ports = 0..layout.inputs(Layer::Word).len() as u32;
        let input = |port: u32| routes.input(node_at(routes.graph, memory.place, Layer::Word, Node::Input { port }));
        memory.inputs = ports.map(input).collect();
        memory.tile.configure(tile.and_then(|tile| tile.memory.as_ref()).unwrap_or(&nothing));
    }
}
