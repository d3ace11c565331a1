//! Configurations, taken apart into what works in each cycle.

use std::collections::{BTreeMap, BTreeSet};

use pushmem_bitstream::{Configuration, ProcessingElement, TileConfiguration};
use pushmem_configuration::Configuration as MemoryConfiguration;
use pushmem_fabric::{ArraySpec, Direction, Layer, Place, TileKind};
use pushmem_model::TileModel;
use pushmem_pe::{ENABLE, Mode, Operand};
use pushmem_resources::{Graph, Node, NodeId, Resource, TileLayout};

use crate::emulator::MemoryTile;
use crate::live::Step;
use crate::pe::{Enabled, Late, OPERANDS, PeTile};
use crate::route::{Routes, Slot, slot};
use crate::streams::{StreamIn, StreamOut};

/// The configured tiles of a kind.
pub fn of_kind<'a>(
    graph: &'a Graph,
    configuration: &'a Configuration,
    kind: TileKind,
) -> impl Iterator<Item = (&'a Place, &'a TileConfiguration)> {
    configuration.tiles.iter().filter(move |(place, _)| graph.kind(**place) == Some(kind))
}

/// The registers of a processing element: those of its operands, and one of a late product.
pub fn registers(spec: &ArraySpec) -> usize {
    product_register(spec) as usize + usize::from(spec.pe.multiplier_cycles > 1)
}

/// The place of the register of a late product: behind those of operands.
fn product_register(spec: &ArraySpec) -> Slot {
    spec.pe.operand_delay * 2 * OPERANDS as u32
}

/// The processing elements. Their constants are added to the values, the registers of their operands to those that take something. `operands`
/// has the first register of each of them.
pub fn pes(
    spec: &ArraySpec,
    routes: &Routes,
    operands: &BTreeMap<Place, Slot>,
    values: &mut Vec<u32>,
    taken: &mut Vec<Step>,
) -> Vec<PeTile> {
    let graph = routes.graph;
    let mut pe = |(place, tile): (&Place, &TileConfiguration)| {
        let layout = graph.layout(TileKind::Pe);
        let core = ProcessingElement::of(tile, spec, layout);
        let delay = spec.pe.operand_delay;
        let [shown, result_bit] = Layer::ALL.map(|layer| output(graph, *place, layer, 0));
        let first = operands[place];
        let operation = core.operation.as_ref().ok().copied();
        let is_late = operation.is_some_and(|operation| spec.pe.latency(operation) > 0);
        let late = is_late.then(|| Late { register: first + product_register(spec), shown });
        // A late product is computed into a slot of its own.
        let result = match late {
            Some(Late { register, .. }) => {
                values.push(0);
                let computed = values.len() as Slot - 1;
                taken.push((register, computed));
                computed
            }
            None => shown,
        };
        let (enable, enabled) = (routes.zero, Vec::new());
        let mut operands =
            Operands { routes, layout, place: *place, first, delay, result, enable, enabled, values, taken };
        let bits = [0, 1, 2].map(|operand| {
            let Operand { mode, constant } = core.bits[operand];
            operands.slot(Layer::Bit, operand, Operand { mode, constant: constant.into() })
        });
        operands.enable = bits[ENABLE];
        let words = [0, 1, 2].map(|operand| operands.slot(Layer::Word, operand, core.words[operand]));
        let enabled = operands.enabled;
        PeTile { operation, lut: core.lut, words, bits, enabled, result, result_bit, late }
    };
    of_kind(graph, routes.configuration, TileKind::Pe).map(&mut pe).collect()
}

/// The streams that have beats.
pub fn streams(spec: &ArraySpec, routes: &Routes) -> (Vec<StreamIn>, Vec<StreamOut>) {
    let graph = routes.graph;
    let layout = graph.layout(TileKind::Io);
    let (mut streams_in, mut streams_out) = (Vec::new(), Vec::new());
    for (place, tile) in of_kind(graph, routes.configuration, TileKind::Io) {
        let column = place.column as usize;
        if let Some(registers) = tile.stream_registers(spec, layout, Direction::In) {
            let slots = Layer::ALL.map(|layer| output(graph, *place, layer, 0));
            streams_in.push(StreamIn::new(spec, registers, column, slots));
        }
        if let Some(registers) = tile.stream_registers(spec, layout, Direction::Out) {
            let slots = Layer::ALL.map(|layer| routes.input(node_at(graph, *place, layer, Node::Input { port: 0 })));
            streams_out.push(StreamOut::new(spec, registers, column, slots));
        }
    }
    (streams_in, streams_out)
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
pub fn hops(routes: &Routes) -> Vec<Step> {
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
    layout: &'a TileLayout,
    place: Place,
    /// The first of their registers.
    first: Slot,
    /// Registers of each.
    delay: u32,
    /// The resulting word.
    result: Slot,
    /// The enable of words, and the words that depend on it.
    enable: Slot,
    enabled: Vec<Enabled>,
    /// All values, to which constants are added.
    values: &'a mut Vec<u32>,
    /// The slots that take a value in each cycle, to which registers are added.
    taken: &'a mut Vec<Step>,
}

impl Operands<'_> {
    /// The value of an operand: of its constant, of its track, or of the last of its registers.
    fn slot(&mut self, layer: Layer, operand: usize, of: Operand<u32>) -> Slot {
        let Routes { graph, zero, .. } = *self.routes;
        if operand >= self.layout.cell_inputs(layer).len() {
            return zero;
        }
        let registers = self.first + ((layer as usize * OPERANDS + operand) as u32) * self.delay;
        let track = self.routes.input(node_at(graph, self.place, layer, Node::Input { port: operand as u32 }));
        match of.mode {
            Mode::Constant => self.constant(of.constant),
            Mode::Direct => track,
            Mode::Delayed(cycles) => {
                self.shift(registers, cycles, track);
                registers + cycles - 1
            }
            // The register takes what the operand is, which is the same as holding still while there is no enable.
            Mode::Held => {
                let operand = self.enabled(track, registers);
                self.taken.push((registers, operand));
                operand
            }
            Mode::Accumulated => {
                self.taken.push((registers, self.result));
                let constant = self.constant(of.constant);
                self.enabled(constant, registers)
            }
            // A number of no mode gives 0, and moves all registers.
            Mode::Undefined(_) => {
                self.shift(registers, self.delay, track);
                zero
            }
        }
    }

    /// So many registers from the first on take the track one after the other.
    fn shift(&mut self, first: Slot, registers: u32, track: Slot) {
        for register in 0..registers {
            let source = if register == 0 { track } else { first + register - 1 };
            self.taken.push((first + register, source));
        }
    }

    /// A new slot with a constant.
    fn constant(&mut self, constant: u32) -> Slot {
        self.values.push(constant);
        self.values.len() as Slot - 1
    }

    /// A new slot with what one slot has in cycles with the enable, and another one in cycles without.
    fn enabled(&mut self, with: Slot, without: Slot) -> Slot {
        let operand = self.constant(0);
        self.enabled.push(Enabled { operand, enable: self.enable, with, without });
        operand
    }
}

/// The slots that the inputs of memories take.
pub fn memory_inputs<'a>(routes: &'a Routes) -> impl Iterator<Item = Slot> + 'a {
    let of_tile = move |(place, tile): (&'a Place, &'a TileConfiguration)| {
        let layout = routes.graph.layout(routes.graph.kind(*place).expect("tiles are those of the array"));
        let ports = TileLayout::of_memory(layout.inputs(Layer::Word)).filter(|_| tile.memory.is_some());
        ports.map(move |(port, _)| routes.input(node_at(routes.graph, *place, Layer::Word, Node::Input { port })))
    };
    routes.configuration.tiles.iter().flat_map(of_tile)
}

/// Loads the memories of columns that have a configuration, and stops the others of these columns. Of their outputs, those among `sources` are shown.
pub fn configure_memories(
    spec: &ArraySpec,
    routes: &Routes,
    sources: &BTreeSet<Slot>,
    memories: &mut Vec<MemoryTile>,
    is_loaded: impl Fn(u32) -> bool,
) {
    let nothing = MemoryConfiguration::default();
    let kind_of = |place: Place| routes.graph.kind(place).expect("tiles are those of the array");
    for (place, tile) in &routes.configuration.tiles {
        if tile.memory.is_some() && !memories.iter().any(|memory| memory.place == *place) {
            let memory = spec.memory_of(kind_of(*place)).expect("a memory is configured");
            memories.push(MemoryTile {
                tile: TileModel::new(memory),
                place: *place,
                inputs: Vec::new(),
                outputs: Vec::new(),
                bit: None,
                has_stencil_valid: memory.stencil_valid,
            });
        }
    }
    for memory in memories {
        let tile: Option<&TileConfiguration> = routes.configuration.tiles.get(&memory.place);
        let layout = routes.graph.layout(kind_of(memory.place));
        let input = |port: u32| routes.input(node_at(routes.graph, memory.place, Layer::Word, Node::Input { port }));
        memory.inputs = TileLayout::of_memory(layout.inputs(Layer::Word)).map(|(port, _)| input(port)).collect();
        let place = memory.place;
        let outputs = |layer: Layer| {
            let ports = TileLayout::of_memory(layout.outputs(layer));
            let slots = ports.map(move |(port, _)| output(routes.graph, place, layer, port));
            (0..).zip(slots).filter(|(_, slot)| sources.contains(slot))
        };
        memory.outputs = outputs(Layer::Word).collect();
        memory.bit = outputs(Layer::Bit).map(|(_, slot)| slot).next();
        if is_loaded(memory.place.column) {
            memory.tile.configure(tile.and_then(|tile| tile.memory.as_ref()).unwrap_or(&nothing));
        }
    }
}
