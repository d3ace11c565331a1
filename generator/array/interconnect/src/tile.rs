//! Tiles: a core between connection boxes and switch boxes.

use askama::Template;
use itertools::Itertools;
use pushmem_fabric::{ArraySpec, Direction, Layer, Side, TileKind};
use pushmem_resources::{Choice, Meaning, Node, TileLayout};
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
    layer: Layer,
    name: String,
    width: u32,
    /// Tracks to choose from.
    tracks: u32,
    /// The bits of configuration that choose.
    select: String,
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
    switch_boxes: [SwitchBox; 2],
    hop_bits: u32,
}

#[derive(Template)]
#[template(path = "memory_tile.veryl", escape = "none")]
struct MemoryTile<'a> {
    spec: &'a ArraySpec,
    module: &'a str,
    memory: &'a TileSpec,
    /// The type of its reset.
    reset: &'static str,
    has_flush: bool,
    /// How the rest of the tile gets its clock.
    clock: &'static str,
    tracks: Vec<Tracks>,
    configuration: Configuration,
    connected: Vec<Incoming>,
    inputs: Vec<Input>,
    /// The signals that tell in which cycles outputs have a word.
    valids: Vec<String>,
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
    match (layout.kind, &spec.memory) {
        (TileKind::Memory, Some(memory)) => render(&module, &memory_tile(spec, layout, &module, &memory.tile)),
        (TileKind::Io, _) => render(&module, &io_tile(spec, layout, &module)),
        (TileKind::Pe | TileKind::Memory, _) => render(&module, &pe_tile(spec, layout, &module)),
    }
}

fn pe_tile<'a>(spec: &'a ArraySpec, layout: &TileLayout, module: &'a str) -> PeTile<'a> {
    let inputs = inputs(spec, layout);
    let switch_box = |layer: Layer, core: &str| SwitchBox { name: layer.name(), outputs: 1, core: core.to_owned() };
    PeTile {
        spec,
        module,
        has_flush: takes_flush(layout.kind),
        clock: clock(spec),
        tracks: tracks(spec, layout),
        configuration: Configuration::of(spec, layout),
        connected: connected(spec, layout),
        words: joined(&inputs, Layer::Word),
        bits: joined(&inputs, Layer::Bit),
        inputs,
        switch_boxes: [switch_box(Layer::Word, "result"), switch_box(Layer::Bit, "result_bit")],
        hop_bits: hop_bits(spec),
    }
}

fn memory_tile<'a>(spec: &'a ArraySpec, layout: &TileLayout, module: &'a str, memory: &'a TileSpec) -> MemoryTile<'a> {
    let names = |layer: Layer| layout.outputs(layer).iter().map(|port| port.name.as_str()).collect_vec();
    let switch_box = |layer: Layer| {
        let names = names(layer);
        let core =
            if names.len() == 1 { names[0].to_owned() } else { format!("{{{}}}", names.iter().rev().join(", ")) };
        SwitchBox { name: layer.name(), outputs: names.len(), core }
    };
    let valid = |output: u32| {
        let name = format!("data_out_{output}_valid");
        if names(Layer::Bit).contains(&name.as_str()) { name } else { format!("{name}_unused") }
    };
    MemoryTile {
        spec,
        module,
        memory,
        reset: match memory.reset {
            Reset::Asynchronous => "reset_async_low",
            Reset::Synchronous => "reset_sync_low",
        },
        has_flush: takes_flush(layout.kind),
        clock: clock(spec),
        tracks: tracks(spec, layout),
        configuration: Configuration::of(spec, layout),
        connected: connected(spec, layout),
        inputs: inputs(spec, layout),
        valids: (0..memory.outputs).map(valid).collect(),
        switch_boxes: Layer::ALL.map(switch_box),
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
        has_flush: takes_flush(layout.kind),
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
        tracks: choices(layout, layer).len() as u32,
        width: spec.bits(layer),
        rows: rows(layout, layer),
    };
    Layer::ALL.into_iter().filter(|layer| !layout.inputs(*layer).is_empty()).map(of).collect()
}

fn inputs(spec: &ArraySpec, layout: &TileLayout) -> Vec<Input> {
    let of = |layer: Layer| {
        let input = move |port: usize| {
            let field = layout.field(Meaning::Connection { layer, port: port as u32 }).expect("inputs have fields");
            let bits = layout.fields[field].bits;
            let (low, signal) = (port as u32 * bits, layout.fields[field].meaning.signal());
            Input {
                layer,
                name: format!("{}_input_{port}", layer.name()),
                width: spec.bits(layer),
                tracks: choices(layout, layer).len() as u32,
                select: format!("{signal}[{}:{low}]", low + bits - 1),
            }
        };
        (0..layout.inputs(layer).len()).map(input)
    };
    Layer::ALL.into_iter().flat_map(of).collect()
}

/// The choices of the inputs of the core: all inputs of a layer have the same.
fn choices(layout: &TileLayout, layer: Layer) -> &[Choice] {
    let node = Node::Input { port: 0 };
    let input = layout.locals.iter().find(|local| local.layer == layer && local.node == node);
    input.map_or(&[], |local| &local.choices)
}

/// The same as rows of a concatenation, a row for each side.
fn rows(layout: &TileLayout, layer: Layer) -> Vec<String> {
    let tracks = choices(layout, layer).iter().rev().filter_map(|choice| match choice {
        Choice::Incoming { side, track } => Some((side.name(), track)),
        Choice::Core { .. } | Choice::Register => None,
    });
    let sides = tracks.chunk_by(|(side, _)| *side);
    let row = |(side, track): (&str, &u32)| format!("{}_{side}_i[{track}]", layer.name());
    sides.into_iter().map(|(_, tracks)| tracks.map(row).join(", ")).collect()
}

/// The inputs of a layer as a concatenation, the first lowest.
fn joined(inputs: &[Input], layer: Layer) -> String {
    let names = inputs.iter().filter(|input| input.layer == layer).map(|input| input.name.as_str()).collect_vec();
    if names.len() == 1 { names[0].to_owned() } else { format!("{{{}}}", names.iter().rev().join(", ")) }
}
