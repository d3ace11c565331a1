//! The array in cycles.

use std::collections::{BTreeMap, BTreeSet};

use pushmem_bitstream::{Configuration, TileConfiguration};
use pushmem_configuration::Configuration as MemoryConfiguration;
use pushmem_fabric::{ArraySpec, Direction, Layer, Place, TileKind};
use pushmem_model::{Inputs as MemoryInputs, TileModel};
use pushmem_pe::Mode;
use pushmem_resources::{Graph, Node, NodeId, Resource};

use crate::control::ControlTree;
use crate::pe::{Core, OPERANDS, PeTile};
use crate::route::{Routes, Slot, slot};
use crate::shift::{Shifts, Step};
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
    tile: TileModel,
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
    /// The values of registers and outputs by node; behind them 0, the registers of operands, constants of processing elements, and
    /// copies of registers.
    values: Vec<u32>,
    /// The first register of the operands of each processing element that was in use: registers keep their values.
    operands: BTreeMap<Place, Slot>,
    /// Values up to those of the last configuration.
    kept: usize,
    /// The registers that take something.
    shifts: Shifts,
    /// The processing elements whose results something takes.
    pes: Vec<PeTile>,
    memories: Vec<MemoryTile>,
    /// The streams that have beats.
    streams_in: Vec<StreamIn>,
    streams_out: Vec<StreamOut>,
    control: ControlTree,
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
            operands: BTreeMap::new(),
            kept: nodes + 1,
            shifts: Shifts::default(),
            pes: Vec::new(),
            memories: Vec::new(),
            spec: spec.clone(),
            graph,
        }
    }

    /// The specification of the array.
    pub fn spec(&self) -> &ArraySpec {
        &self.spec
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
        self.values.truncate(self.kept);
        for stream in self.streams_in.drain(..) {
            self.values[stream.data as usize] = 0;
            self.values[stream.bit as usize] = 0;
        }
        self.streams_out.clear();
        self.pes.clear();
        let (spec, graph) = (&self.spec, &self.graph);
        let of_kind = |wanted: TileKind| {
            let is_wanted = move |place: &Place| graph.kind(*place) == Some(wanted);
            configuration.tiles.iter().filter(move |(place, _)| is_wanted(place))
        };
        // Registers of operands come before constants, and stay.
        let registers = (spec.pe.operand_delay as usize) * 2 * OPERANDS;
        for (place, _) in of_kind(TileKind::Pe) {
            if !self.operands.contains_key(place) {
                self.operands.insert(*place, self.values.len() as Slot);
                self.values.resize(self.values.len() + registers, 0);
            }
        }
        self.kept = self.values.len();
        let routes = Routes { graph, configuration, zero: graph.nodes().count() as Slot };
        let mut taken = hops(&routes);
        for (place, tile) in of_kind(TileKind::Pe) {
            let core = Core { spec: &spec.pe, layout: graph.layout(TileKind::Pe), tile };
            let mut operands = Operands { routes: &routes, place: *place, first: self.operands[place] };
            let mut slots = |layer: Layer| {
                [0, 1, 2].map(|operand| operands.slot(&core, layer, operand, &mut self.values, &mut taken))
            };
            let (words, bits) = (slots(Layer::Word), slots(Layer::Bit));
            let [result, result_bit] = Layer::ALL.map(|layer| output(graph, *place, layer, 0));
            self.pes.push(PeTile { operation: core.operation(), lut: core.lut(), words, bits, result, result_bit });
        }
        for (place, tile) in of_kind(TileKind::Io) {
            let (layout, column) = (graph.layout(TileKind::Io), place.column as usize);
            if let Some(registers) = tile.stream_registers(spec, layout, Direction::In) {
                let slots = Layer::ALL.map(|layer| output(graph, *place, layer, 0));
                self.streams_in.push(StreamIn::new(spec, registers, column, slots));
            }
            if let Some(registers) = tile.stream_registers(spec, layout, Direction::Out) {
                let slots =
                    Layer::ALL.map(|layer| routes.input(node_at(graph, *place, layer, Node::Input { port: 0 })));
                self.streams_out.push(StreamOut::new(spec, registers, column, slots));
            }
        }
        let sources: BTreeSet<Slot> = taken.iter().map(|(_, source)| *source).collect();
        self.pes.retain(|pe| sources.contains(&pe.result) || sources.contains(&pe.result_bit));
        configure_memories(spec, &routes, &mut self.memories);
        self.shifts = Shifts::new(taken, &mut self.values);
    }

    /// Loads a configuration as a host does: while time stands still, which it does when this ends, too.
    pub fn load(&mut self, configuration: &Configuration) {
        let still = Inputs { stall: true, ..Inputs::default() };
        (0..self.spec.control_depth).for_each(|_| self.clock(&still));
        self.configure(configuration);
        // Streams come to rest when the stalls that they asked for have come.
        (0..2 * self.spec.stall_latency()).for_each(|_| self.clock(&still));
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
            self.shifts.step(&mut self.values);
        }
        self.control.clock(inputs.flush, inputs.stall, requests);
    }

    /// Puts what cores show in this cycle into the values.
    fn show(&mut self, control: Control) {
        self.streams_in.iter().for_each(|stream| stream.show(&mut self.values));
        self.memories.iter().for_each(|memory| memory.show(control, &mut self.values));
        let word_bits = self.spec.word_bits();
        self.pes.iter().for_each(|pe| pe.show(word_bits, &mut self.values));
    }
}

impl MemoryTile {
    fn ports(&self, control: Control, values: &[u32]) -> MemoryInputs {
        let mut ports = MemoryInputs { flush: control.flush, stall: control.stall, ..MemoryInputs::default() };
        for (port, slot) in ports.data.iter_mut().zip(&self.inputs) {
            *port = values[*slot as usize].into();
        }
        ports
    }

    /// Puts what the memory shows into the values.
    fn show(&self, control: Control, values: &mut [u32]) {
        let outputs = self.tile.outputs(&self.ports(control, values));
        for (slot, word) in self.outputs.iter().zip(outputs.data) {
            values[*slot as usize] = word.value as u32;
        }
        let bit = if self.has_stencil_valid { outputs.stencil_valid } else { outputs.valid[0] };
        values[self.bit as usize] = bit.into();
    }

    fn clock(&mut self, control: Control, values: &[u32]) {
        self.tile.clock(&self.ports(control, values));
    }
}

/// The node of a tile.
fn node_at(graph: &Graph, place: Place, layer: Layer, node: Node) -> NodeId {
    graph.node(Resource { place, layer, node }).expect("a node of the tile's layout")
}

/// The output of a core.
fn output(graph: &Graph, place: Place, layer: Layer, port: u32) -> Slot {
    slot(node_at(graph, place, layer, Node::Output { port }))
}

/// The registers of tracks, each with what it takes.
fn hops(routes: &Routes) -> Vec<Step> {
    let of_tile = |place: &Place| {
        let (place, graph) = (*place, routes.graph);
        let layout = graph.layout(graph.kind(place).expect("tiles are those of the array"));
        let registers = layout.locals.iter().filter(|local| matches!(local.node, Node::Register { .. }));
        registers.filter_map(move |local| {
            let register = node_at(graph, place, local.layer, local.node);
            Some((slot(register), routes.taken(register)?))
        })
    };
    routes.configuration.tiles.keys().flat_map(of_tile).collect()
}

/// The operands of a processing element.
struct Operands<'a> {
    routes: &'a Routes<'a>,
    place: Place,
    /// The first of their registers.
    first: Slot,
}

impl Operands<'_> {
    /// The value of an operand: of a constant, which is added to the values, of its track, or of the last of the registers that are added
    /// to those that take something.
    fn slot(&mut self, core: &Core, layer: Layer, operand: u32, values: &mut Vec<u32>, taken: &mut Vec<Step>) -> Slot {
        let Routes { graph, zero, .. } = *self.routes;
        if operand as usize >= core.layout.inputs(layer).len() {
            return zero;
        }
        let delay = core.spec.operand_delay;
        let registers = self.first + (layer as u32 * OPERANDS as u32 + operand) * delay;
        let track = self.routes.input(node_at(graph, self.place, layer, Node::Input { port: operand }));
        match core.mode(layer, operand) {
            Mode::Constant => {
                values.push(core.constant(layer, operand));
                values.len() as Slot - 1
            }
            Mode::Direct => track,
            Mode::Delayed(cycles) => {
                for register in 0..cycles.min(delay) {
                    let source = if register == 0 { track } else { registers + register - 1 };
                    taken.push((registers + register, source));
                }
                // A mode beyond the last register is none.
                if cycles > delay { zero } else { registers + cycles - 1 }
            }
        }
    }
}

/// Loads the memories that have a configuration, and stops the others.
fn configure_memories(spec: &ArraySpec, routes: &Routes, memories: &mut Vec<MemoryTile>) {
    let Some(columns) = &spec.memory else { return };
    let nothing = MemoryConfiguration::default();
    let layout = routes.graph.layout(TileKind::Memory);
    for (place, tile) in &routes.configuration.tiles {
        if tile.memory.is_some() && !memories.iter().any(|memory| memory.place == *place) {
            let output = |layer: Layer, port: u32| output(routes.graph, *place, layer, port);
            memories.push(MemoryTile {
                tile: TileModel::new(&columns.tile),
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
