//! Tiles: a core between connection boxes and switch boxes.

use askama::Template;
use itertools::Itertools;
use pushmem_fabric::{ArraySpec, Direction, Layer, Side, TileKind};
use pushmem_resources::{Choice, Field, Meaning, Node, Port, TileLayout};
use pushmem_tile::{Reset, TileSpec};
use pushmem_veryl::Source;

use crate::configuration::Configuration;
use crate::{hop_bits, render, takes_flush, tile_module};

/// The tracks of a side.
pub struct Tracks {
    /// The name of the ports, without their direction.
    pub port: String,
    pub width: u32,
    pub count: u32,
}

/// The tracks of a layer that come in.
struct Incoming {
    name: &'static str,
    tracks: u32,
    width: u32,
    /// A concatenation of them, a row for each side.
    rows: Vec<String>,
}

/// An input of the core.
struct Input {
    name: String,
    width: u32,
    /// Tracks and outputs of the core to choose from, and these, the first lowest.
    choices: usize,
    sources: String,
    /// The bits of configuration that choose.
    select: String,
}

impl Input {
    /// Whether it chooses among outputs of the core, too.
    fn takes_outputs(&self) -> bool {
        self.sources.starts_with('{')
    }
}

/// The switch box of a layer.
struct SwitchBox {
    name: &'static str,
    outputs: usize,
    /// The outputs of the core, the first lowest.
    core: String,
}

#[derive(Template)]
#[template(path = "pe_tile.veryl", escape = "none")]
struct PeTile<'a> {
    spec: &'a ArraySpec,
    module: &'a str,
    has_flush: bool,
    /// How the rest of the tile gets its clock.
    clock: &'static str,
    tracks: Vec<Tracks>,
    configuration: Configuration,
    connected: Vec<Incoming>,
    inputs: Vec<Input>,
    /// The operands, the first lowest.
    words: String,
    bits: String,
    /// The register file.
    memory: Option<Memory<'a>>,
    switch_boxes: [SwitchBox; 2],
    hop_bits: u32,
}

/// The memory in a tile.
struct Memory<'a> {
    tile: &'a TileSpec,
    /// The name of its instance, and in comments.
    instance: &'static str,
    title: &'static str,
    /// The type of its reset.
    reset: &'static str,
    /// The inputs of the core that its inputs are.
    inputs: Vec<String>,
    /// The signals that tell in which cycles outputs have a word.
    valids: Vec<String>,
}

#[derive(Template)]
#[template(path = "memory_tile.veryl", escape = "none")]
struct MemoryTile<'a> {
    spec: &'a ArraySpec,
    module: &'a str,
    memory: Memory<'a>,
    has_flush: bool,
    /// How the rest of the tile gets its clock.
    clock: &'static str,
    tracks: Vec<Tracks>,
    configuration: Configuration,
    connected: Vec<Incoming>,
    inputs: Vec<Input>,
    switch_boxes: [SwitchBox; 2],
    hop_bits: u32,
}

#[derive(Template)]
#[template(path = "io_tile.veryl", escape = "none")]
struct IoTile<'a> {
    spec: &'a ArraySpec,
    module: &'a str,
    has_flush: bool,
    /// How the rest of the tile gets its clock.
    clock: &'static str,
    tracks: Vec<Tracks>,
    configuration: Configuration,
    connected: Vec<Incoming>,
    inputs: Vec<Input>,
    layers: [Stream; 2],
}

/// The output that a stream into the array drives, of a layer.
struct Stream {
    name: &'static str,
    tracks: u32,
    width: u32,
    stream: &'static str,
}

pub fn source(spec: &ArraySpec, layout: &TileLayout) -> Source {
    let module = tile_module(spec, layout.kind);
    match (layout.kind, memory(spec, layout)) {
        (TileKind::Memory, Some(memory)) => render(&module, &memory_tile(spec, layout, &module, memory)),
        (TileKind::Io, _) => render(&module, &io_tile(spec, layout, &module)),
        (TileKind::Pe | TileKind::Memory, memory) => render(&module, &pe_tile(spec, layout, &module, memory)),
    }
}

/// The memory of a tile, if its kind has one.
fn memory<'a>(spec: &'a ArraySpec, layout: &TileLayout) -> Option<Memory<'a>> {
    let tile = spec.memory_of(layout.kind)?;
    let is_output = |name: &str| layout.outputs(Layer::Bit).iter().any(|port| port.name == name);
    let valid = |output: u32| {
        let name = format!("data_out_{output}_valid");
        if is_output(&name) { name } else { format!("{name}_unused") }
    };
    let (instance, title) = memory_instance(layout.kind);
    Some(Memory {
        tile,
        instance,
        title,
        reset: match tile.reset {
            Reset::Asynchronous => "reset_async_low",
            Reset::Synchronous => "reset_sync_low",
        },
        inputs: TileLayout::of_memory(layout.inputs(Layer::Word))
            .map(|(port, _)| input_name(Layer::Word, port))
            .collect(),
        valids: (0..tile.outputs).map(valid).collect(),
    })
}

/// The instance of the memory in the tiles of a kind, without its `u_`, and its name in comments.
pub fn memory_instance(kind: TileKind) -> (&'static str, &'static str) {
    if kind == TileKind::Pe { ("register_file", "Register file") } else { ("memory", "Memory") }
}

/// The signal of an output of the core. Both layers of a processing element have a result.
fn core_signal(layout: &TileLayout, layer: Layer, port: u32) -> String {
    let Port { name, is_of_memory } = &layout.outputs(layer)[port as usize];
    let is_result_bit = layout.kind == TileKind::Pe && layer == Layer::Bit && !is_of_memory;
    if is_result_bit { format!("{name}_bit") } else { name.clone() }
}

/// The switch box of a layer.
fn switch_box(layout: &TileLayout, layer: Layer) -> SwitchBox {
    let outputs = 0..layout.outputs(layer).len() as u32;
    let core = outputs.rev().map(|port| core_signal(layout, layer, port)).collect();
    SwitchBox { name: layer.name(), outputs: layout.outputs(layer).len(), core: concatenation(core) }
}

/// Signals together, the last lowest.
fn concatenation(signals: Vec<String>) -> String {
    if let [signal] = signals.as_slice() { signal.clone() } else { format!("{{{}}}", signals.join(", ")) }
}

fn pe_tile<'a>(spec: &'a ArraySpec, layout: &TileLayout, module: &'a str, memory: Option<Memory<'a>>) -> PeTile<'a> {
    let inputs = inputs(spec, layout);
    PeTile {
        spec,
        module,
        has_flush: takes_flush(spec, layout.kind),
        clock: clock(spec),
        tracks: tracks(spec, layout),
        configuration: Configuration::of(spec, layout),
        connected: connected(spec, layout),
        words: joined(layout, Layer::Word),
        bits: joined(layout, Layer::Bit),
        inputs,
        memory,
        switch_boxes: Layer::ALL.map(|layer| switch_box(layout, layer)),
        hop_bits: hop_bits(spec),
    }
}

fn memory_tile<'a>(spec: &'a ArraySpec, layout: &TileLayout, module: &'a str, memory: Memory<'a>) -> MemoryTile<'a> {
    MemoryTile {
        spec,
        module,
        memory,
        has_flush: takes_flush(spec, layout.kind),
        clock: clock(spec),
        tracks: tracks(spec, layout),
        configuration: Configuration::of(spec, layout),
        connected: connected(spec, layout),
        inputs: inputs(spec, layout),
        switch_boxes: Layer::ALL.map(|layer| switch_box(layout, layer)),
        hop_bits: hop_bits(spec),
    }
}

fn io_tile<'a>(spec: &'a ArraySpec, layout: &TileLayout, module: &'a str) -> IoTile<'a> {
    let stream = |layer: Layer| Stream {
        name: layer.name(),
        tracks: spec.tracks.of(layer),
        width: spec.bits(layer),
        stream: match layer {
            Layer::Word => "data",
            Layer::Bit => "bit_in",
        },
    };
    IoTile {
        spec,
        module,
        has_flush: takes_flush(spec, layout.kind),
        clock: clock(spec),
        tracks: tracks(spec, layout),
        configuration: Configuration::of(spec, layout),
        connected: connected(spec, layout),
        inputs: inputs(spec, layout),
        layers: Layer::ALL.map(stream),
    }
}

/// The connection of a clock port.
fn clock(spec: &ArraySpec) -> &'static str {
    if spec.clock_gating { "clk_i: tile_clk" } else { "clk_i" }
}

/// The tracks of a tile.
pub fn tracks(spec: &ArraySpec, layout: &TileLayout) -> Vec<Tracks> {
    let of = |layer: Layer| {
        layout.sides.iter().map(move |side| Tracks {
            port: format!("{}_{}", layer.name(), side.name()),
            width: spec.bits(layer),
            count: spec.tracks.of(layer),
        })
    };
    Layer::ALL.into_iter().flat_map(of).collect()
}

/// The tracks of the layers in which the core has inputs.
fn connected(spec: &ArraySpec, layout: &TileLayout) -> Vec<Incoming> {
    let of = |layer: Layer| Incoming {
        name: layer.name(),
        tracks: incoming(layout, layer).count() as u32,
        width: spec.bits(layer),
        rows: rows(layout, layer),
    };
    Layer::ALL.into_iter().filter(|layer| !layout.inputs(*layer).is_empty()).map(of).collect()
}

fn inputs(spec: &ArraySpec, layout: &TileLayout) -> Vec<Input> {
    let of = |layer: Layer| {
        let mut low = 0;
        let input = move |port: u32| {
            let field = layout.field(Meaning::Connection { layer, port }).expect("inputs have fields");
            let Field { bits, meaning, .. } = layout.fields[field];
            let select = format!("{}[{}:{low}]", meaning.signal(), low + bits - 1);
            low += bits;
            let choices = choices(layout, layer, port);
            let beside = choices.iter().rev().filter_map(|choice| match choice {
                Choice::Core { port } => Some(core_signal(layout, layer, *port)),
                Choice::Incoming { .. } | Choice::Register => None,
            });
            let sources = concatenation(beside.chain([format!("{}_tracks", layer.name())]).collect());
            let (name, width) = (input_name(layer, port), spec.bits(layer));
            Input { name, width, choices: choices.len(), sources, select }
        };
        (0..layout.inputs(layer).len() as u32).map(input)
    };
    Layer::ALL.into_iter().flat_map(of).collect()
}

/// The choices of an input of the core.
fn choices(layout: &TileLayout, layer: Layer, port: u32) -> &[Choice] {
    let node = Node::Input { port };
    let input = layout.locals.iter().find(|local| local.layer == layer && local.node == node);
    input.map_or(&[], |local| &local.choices)
}

/// The tracks that come in, which all inputs of the layer can take.
fn incoming(layout: &TileLayout, layer: Layer) -> impl DoubleEndedIterator<Item = (&'static str, u32)> {
    choices(layout, layer, 0).iter().filter_map(|choice| match choice {
        Choice::Incoming { side, track } => Some((side.name(), *track)),
        Choice::Core { .. } | Choice::Register => None,
    })
}

/// The same as rows of a concatenation, a row for each side.
fn rows(layout: &TileLayout, layer: Layer) -> Vec<String> {
    let sides = incoming(layout, layer).rev().chunk_by(|(side, _)| *side);
    let row = |(side, track): (&str, u32)| format!("{}_{side}_i[{track}]", layer.name());
    sides.into_iter().map(|(_, tracks)| tracks.map(row).join(", ")).collect()
}

/// The name of an input of the core.
fn input_name(layer: Layer, port: u32) -> String {
    format!("{}_input_{port}", layer.name())
}

/// The operands of a layer as a concatenation, the first lowest.
fn joined(layout: &TileLayout, layer: Layer) -> String {
    let operands = 0..layout.cell_inputs(layer).len() as u32;
    concatenation(operands.rev().map(|port| input_name(layer, port)).collect())
}
