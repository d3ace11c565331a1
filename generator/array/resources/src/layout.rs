//! The multiplexers and the configuration registers of a kind of tile.

mod fields;

use pushmem_csr::{Packing, Position};
use pushmem_fabric::{ArraySpec, Direction, Layer, Side, TileKind};
use pushmem_pe::{Mode, Modes, bits_for};
use pushmem_registers::{Meaning as MemoryMeaning, RegisterMap, WORD_BYTES};
use pushmem_tile::ControllerSpec;

pub use fields::{Feature, Field, Meaning};

/// A port of the core of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorePort {
    /// Its name in configurations.
    pub name: String,
    /// Whether the memory of the tile has it.
    pub is_of_memory: bool,
}

/// A node of the graph, within its tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// The part of a track that leaves the tile on a side.
    Segment {
        /// The side.
        side: Side,
        /// The number of the track.
        track: u32,
    },
    /// The register before it.
    Register {
        /// The side.
        side: Side,
        /// The number of the track.
        track: u32,
    },
    /// An input of the core.
    Input {
        /// Its place among the inputs of the layer.
        port: u32,
    },
    /// An output of the core.
    Output {
        /// Its place among the outputs of the layer.
        port: u32,
    },
}

/// An input of a multiplexer, as seen from its tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MultiplexerInput {
    /// A track that comes in on a side.
    Incoming {
        /// The side.
        side: Side,
        /// The number of the track.
        track: u32,
    },
    /// An output of the core.
    Core {
        /// Its place among the outputs of the layer.
        port: u32,
    },
    /// The register of the same track.
    Register,
}

/// A node of a tile, with what it can choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its network.
    pub layer: Layer,
    /// The node.
    pub node: Node,
    /// Its inputs.
    pub choices: Vec<MultiplexerInput>,
    /// The value of the field that chooses the first of them; the others count on.
    pub first_value: u32,
    /// The place of the field in [`TileLayout::fields`]. Without, there is one choice at most.
    pub field: Option<usize>,
}

impl Local {
    /// The input that a value of the field chooses, if it is one of them.
    pub fn choice(&self, value: u32) -> Option<&MultiplexerInput> {
        self.choices.get(value.checked_sub(self.first_value)? as usize)
    }
}

/// The nodes and the configuration of a kind of tile.
#[derive(Clone, Debug)]
pub struct TileLayout {
    /// The kind.
    pub kind: TileKind,
    /// The sides on which it has neighbours in an array without end.
    pub sides: &'static [Side],
    /// The nodes: of each layer the segments, the registers, the inputs and the outputs.
    pub locals: Vec<Local>,
    /// The fields, by feature and register, lowest bit first.
    pub fields: Vec<Field>,
    inputs: [Vec<CorePort>; 2],
    outputs: [Vec<CorePort>; 2],
    /// The modes of operands.
    modes: Modes,
    /// Registers of the memory, which follow a map of their own.
    pub memory_registers: u32,
    /// Which register stops the memory.
    pub memory_control: Option<u32>,
}

impl TileLayout {
    /// The layout of a kind of tile of an array.
    pub fn of(spec: &ArraySpec, kind: TileKind) -> Self {
        let (inputs, outputs) = ports(spec, kind);
        let map = spec.memory_of(kind).map(RegisterMap::of);
        let control = map.as_ref().and_then(|map| {
            let enables = |meaning: MemoryMeaning| matches!(meaning, MemoryMeaning::Enable { .. });
            let (register, _) = map.fields().find(|(_, field)| enables(field.meaning))?;
            Some(register.offset / WORD_BYTES)
        });
        let mut layout = TileLayout {
            kind,
            sides: if kind == TileKind::Io { &[Side::South] } else { &Side::ALL },
            locals: Vec::new(),
            fields: Vec::new(),
            inputs,
            outputs,
            modes: spec.pe.modes(),
            memory_registers: map.map_or(0, |map| map.bytes() / WORD_BYTES),
            memory_control: control,
        };
        match kind {
            TileKind::Pe => layout.add_operation(spec),
            TileKind::Memory => {}
            TileKind::Io => Direction::ALL.into_iter().for_each(|direction| layout.add_stream(spec, direction)),
        }
        for layer in Layer::ALL {
            layout.add_switch_box(spec, layer);
        }
        for layer in Layer::ALL {
            layout.add_connections(spec, layer);
        }
        layout.locals.sort_by_key(|local| (local.layer, local.node));
        layout
    }

    /// The inputs of the core.
    pub fn inputs(&self, layer: Layer) -> &[CorePort] {
        &self.inputs[layer as usize]
    }

    /// The outputs of the core.
    pub fn outputs(&self, layer: Layer) -> &[CorePort] {
        &self.outputs[layer as usize]
    }

    /// The mode of an operand of a PE tile with a number.
    pub fn mode(&self, layer: Layer, operand: u32, number: u32) -> Mode {
        match layer {
            Layer::Word => self.modes.of_word(operand, number),
            Layer::Bit => self.modes.of_bit(number),
        }
    }

    /// The number of a mode that the operand has.
    pub fn mode_number(&self, mode: Mode) -> u32 {
        self.modes.number(mode)
    }

    /// Whether a register is one of the memory.
    pub fn is_of_memory(&self, feature: u32, register: u32) -> bool {
        feature == Feature::of_memory(self.kind).number() && register < self.memory_registers
    }

    /// The inputs that a cell of a netlist has: all but those of a register file, which come last.
    pub fn cell_inputs(&self, layer: Layer) -> &[CorePort] {
        self.without_register_file(self.inputs(layer))
    }

    /// The outputs that a cell of a netlist has, likewise.
    pub fn cell_outputs(&self, layer: Layer) -> &[CorePort] {
        self.without_register_file(self.outputs(layer))
    }

    /// Whether an input is an operand of a processing element.
    pub fn is_operand(&self, port: &CorePort) -> bool {
        self.kind == TileKind::Pe && !port.is_of_memory
    }

    /// The inputs, or the outputs, of the memory, each with its place among those of the layer.
    pub fn of_memory(ports: &[CorePort]) -> impl Iterator<Item = (u32, &CorePort)> {
        (0..).zip(ports).filter(|(_, port)| port.is_of_memory)
    }

    fn without_register_file<'a>(&self, ports: &'a [CorePort]) -> &'a [CorePort] {
        let others = ports.iter().take_while(|port| self.kind != TileKind::Pe || !port.is_of_memory).count();
        &ports[..others]
    }

    /// The registers that hold fields, as feature and number, in their order.
    pub fn registers(&self) -> impl Iterator<Item = (Feature, u32)> {
        let mut registers: Vec<_> = self.fields.iter().map(|field| (field.feature, field.register)).collect();
        registers.sort_unstable();
        registers.dedup();
        registers.into_iter()
    }

    /// The place of a field in [`TileLayout::fields`].
    pub fn field(&self, meaning: Meaning) -> Option<usize> {
        self.fields.iter().position(|field| field.meaning == meaning)
    }

    fn add_operation(&mut self, spec: &ArraySpec) {
        let pe = &spec.pe;
        let (words, bits, mode_bits) = (pe.word_operands(), pe.bit_operands(), pe.mode_bits());
        let mode = |layer| move |operand| (Meaning::Mode { layer, operand }, mode_bits);
        let constant = |layer: Layer| {
            let bits = spec.bits(layer);
            move |operand| (Meaning::Constant { layer, operand }, bits)
        };
        let mut fields = vec![(Meaning::Operation, pe.opcode_bits())];
        fields.extend((0..words).map(mode(Layer::Word)));
        fields.extend((0..bits).map(mode(Layer::Bit)));
        fields.extend((0..bits).map(constant(Layer::Bit)));
        if pe.lut {
            fields.extend([(Meaning::LutSelected, 1), (Meaning::Lut, 8)]);
        }
        fields.extend((0..words).map(constant(Layer::Word)));
        self.pack(Feature::Core, fields);
    }

    fn add_stream(&mut self, spec: &ArraySpec, direction: Direction) {
        let ControllerSpec { levels, extent_bits, cycle_bits, .. } = spec.io.controller;
        let mut fields = vec![(Meaning::StreamEnable { direction }, 1)];
        fields.extend((0..levels).map(|level| (Meaning::StreamExtent { direction, level }, extent_bits)));
        fields.push((Meaning::StreamStart { direction }, cycle_bits));
        fields.extend((0..levels).map(|level| (Meaning::StreamGap { direction, level }, cycle_bits)));
        self.pack(Feature::Core, fields);
    }

    fn add_switch_box(&mut self, spec: &ArraySpec, layer: Layer) {
        let tracks = spec.tracks.of(layer);
        let cores = self.outputs(layer).len() as u32;
        let is_passing = spec.hop_limit > 1 && self.kind != TileKind::Io;
        let first = self.fields.len();
        let mut fields = Vec::new();
        let outgoing =
            |sides: &'static [Side]| sides.iter().flat_map(move |&side| (0..tracks).map(move |track| (side, track)));
        for (place, (side, track)) in outgoing(self.sides).enumerate() {
            let incoming = |from: Side| MultiplexerInput::Incoming {
                side: from,
                track: spec.topology.source(from, side, track, tracks),
            };
            // Straight on comes first.
            let straight = self.sides.iter().filter(|from| **from == side.opposite());
            let turns = self.sides.iter().filter(|from| **from != side && **from != side.opposite());
            let mut choices: Vec<MultiplexerInput> = straight.chain(turns).map(|from| incoming(*from)).collect();
            choices.extend((0..cores).map(|port| MultiplexerInput::Core { port }));
            let bits = bits_for(choices.len() as u32 + 1);
            fields.push((Meaning::Select { layer, side, track }, bits));
            let node = Node::Register { side, track };
            self.locals.push(Local { layer, node, choices, first_value: 1, field: Some(first + place) });
        }
        let passes = first + fields.len();
        for (place, (side, track)) in outgoing(self.sides).enumerate() {
            let node = Node::Segment { side, track };
            let mut choices = vec![MultiplexerInput::Register];
            if is_passing {
                choices.push(MultiplexerInput::Incoming { side: side.opposite(), track });
                fields.push((Meaning::Pass { layer, side, track }, 1));
            }
            let field = is_passing.then_some(passes + place);
            self.locals.push(Local { layer, node, choices, first_value: 0, field });
        }
        for port in 0..cores {
            let node = Node::Output { port };
            self.locals.push(Local { layer, node, choices: Vec::new(), first_value: 0, field: None });
        }
        self.pack(Feature::switch_box(layer), fields);
    }

    /// Inputs take any track. In a PE tile they take the outputs beside them, too: operands those of the register file, and that the results.
    fn add_connections(&mut self, spec: &ArraySpec, layer: Layer) {
        let tracks = spec.tracks.of(layer);
        let first = self.fields.len();
        let incoming = |side: Side| (0..tracks).map(move |track| MultiplexerInput::Incoming { side, track });
        let tracks: Vec<MultiplexerInput> = self.sides.iter().copied().flat_map(incoming).collect();
        let mut fields = Vec::new();
        for port in 0..self.inputs(layer).len() as u32 {
            let is_of_memory = self.inputs(layer)[port as usize].is_of_memory;
            let outputs = (0..).zip(self.outputs(layer));
            let beside = outputs.filter(|(_, output)| output.is_of_memory != is_of_memory);
            let beside: Vec<MultiplexerInput> = match self.kind {
                TileKind::Pe => beside.map(|(port, _)| MultiplexerInput::Core { port }).collect(),
                TileKind::Memory | TileKind::Io => Vec::new(),
            };
            let choices = [tracks.as_slice(), &beside].concat();
            fields.push((Meaning::Connection { layer, port }, bits_for(choices.len() as u32 + 1)));
            let (node, field) = (Node::Input { port }, Some(first + port as usize));
            self.locals.push(Local { layer, node, choices, first_value: 1, field });
        }
        self.pack(Feature::ConnectionBoxes, fields);
    }

    /// Adds fields behind those that the feature has. A field never straddles two registers.
    fn pack(&mut self, feature: Feature, fields: Vec<(Meaning, u32)>) {
        let last = self.fields.iter().rfind(|field| field.feature == feature);
        let mut packing =
            last.map_or(Packing::default(), |field| Packing::after(field.register, field.low + field.bits));
        for (meaning, bits) in fields {
            let Position { register, low } = packing.place(bits);
            self.fields.push(Field { meaning, feature, register, low, bits });
        }
    }
}

/// The hops at which a track cannot pass around its register: those whose row (to north and south) or column (to east and west),
/// modulo `hop_limit`, is this. Of `hop_limit` hops straight on it is one, and another for each track.
pub fn registered_phase(track: u32, hop_limit: u32) -> u32 {
    (hop_limit - track % hop_limit) % hop_limit
}

/// The inputs and the outputs of the core, of words and of bits.
fn ports(spec: &ArraySpec, kind: TileKind) -> ([Vec<CorePort>; 2], [Vec<CorePort>; 2]) {
    let port = |name: String| CorePort { name, is_of_memory: false };
    let named = |name: &str| vec![port(name.to_owned())];
    let letters =
        |first: char, count: u32| (first..).take(count as usize).map(|letter| port(letter.to_string())).collect();
    let (mut inputs, mut outputs) = match kind {
        TileKind::Pe => {
            let operands = [letters('a', spec.pe.word_operands()), letters('d', spec.pe.bit_operands())];
            (operands, [named("result"), named("result")])
        }
        TileKind::Memory => Default::default(),
        TileKind::Io => ([named("data"), named("bit")], [named("data"), named("bit")]),
    };
    if let Some(memory) = spec.memory_of(kind) {
        let of_memory = |name: String| CorePort { name, is_of_memory: true };
        inputs[0].extend((0..memory.inputs).map(|port| of_memory(format!("data_in_{port}"))));
        outputs[0].extend((0..memory.outputs).map(|port| of_memory(format!("data_out_{port}"))));
        if memory.stencil_valid {
            outputs[1].push(of_memory("stencil_valid".to_owned()));
        } else if outputs[1].is_empty() {
            // A core without a bit would leave the tracks of bits without a source.
            outputs[1].push(of_memory("data_out_0_valid".to_owned()));
        }
    }
    (inputs, outputs)
}
