//! Tiles: a core between connection boxes and switch boxes.

use std::ops::Range;

use itertools::Itertools;
use pushmem_fabric::{ArraySpec, Direction, Layer, Side, TileKind};
use pushmem_files::template;
use pushmem_resources::{CorePort, Meaning, MultiplexerInput, Node, TileLayout};
use pushmem_tile::TileSpec;
use pushmem_veryl::SourceFile;

use crate::configuration::ConfigurationModule;
use crate::{hop_bits, package_module, render, takes_flush, tile_module};

/// The tracks of a side.
pub struct Tracks {
    /// The name of the ports, without their direction.
    pub port: String,
    width: u32,
    count: u32,
}

impl Tracks {
    /// Bits of a port.
    pub fn bits(&self) -> u32 {
        self.width * self.count
    }
}

/// The tracks of a layer that come in, and the connection boxes between them and the inputs of the core.
struct Connected {
    name: &'static str,
    tracks: u32,
    width: u32,
    /// A concatenation of the tracks of all sides.
    incoming: String,
    boxes: Vec<ConnectionBoxes>,
}

/// The connection boxes of inputs next to each other that choose from the same.
struct ConnectionBoxes {
    first: u32,
    end: u32,
    /// Tracks and outputs of the core to choose from, and these, the first lowest.
    choices: usize,
    sources: String,
    /// The bits of configuration by which input `k` chooses.
    select: String,
}

impl ConnectionBoxes {
    /// The end of the label of their loop.
    fn suffix(&self) -> String {
        if self.first == 0 { String::new() } else { format!("_{}", self.first) }
    }
}

impl Connected {
    /// The bits of input `k`.
    fn item(&self) -> String {
        part("k", self.width)
    }

    /// Inputs of the core.
    fn inputs(&self) -> u32 {
        self.boxes.last().map_or(0, |boxes| boxes.end)
    }

    /// Whether some inputs choose among outputs of the core, too.
    fn takes_outputs(&self) -> bool {
        self.boxes.iter().any(|boxes| boxes.sources.starts_with('{'))
    }
}

/// The switch box of a layer.
struct SwitchBox {
    name: &'static str,
    outputs: usize,
    /// The outputs of the core, the first lowest.
    core: String,
}

/// The memory in a tile.
struct Memory<'a> {
    tile: &'a TileSpec,
    /// The name of its instance, and in comments.
    instance: &'static str,
    title: &'static str,
    /// The inputs of the core that its inputs are.
    inputs: Vec<String>,
    /// The signals that tell in which cycles outputs have a word.
    valids: Vec<String>,
}

/// The output that a stream into the array drives, of a layer.
struct Stream {
    name: &'static str,
    tracks: u32,
    width: u32,
    stream: &'static str,
}

impl Stream {
    /// The bits of track `k`.
    fn item(&self) -> String {
        part("k", self.width)
    }
}

pub fn source(spec: &ArraySpec, layout: &TileLayout) -> SourceFile {
    let module = &tile_module(spec, layout.kind);
    let stream = |layer: Layer| Stream {
        name: layer.name(),
        tracks: spec.tracks.of(layer),
        width: spec.bits(layer),
        stream: match layer {
            Layer::Word => "data",
            Layer::Bit => "bit_in",
        },
    };
    let tile = template!(
        "tile.veryl",
        kind: TileKind = layout.kind,
        spec: &'a ArraySpec = spec,
        module: &'a str = module,
        has_flush: bool = takes_flush(spec, layout.kind),
        /// How the rest of the tile gets its clock.
        clock: &'static str = if spec.clock_gating { "clk_i: tile_clk" } else { "clk_i" },
        tracks: Vec<Tracks> = tracks(spec, layout),
        package: String = package_module(spec),
        configuration: ConfigurationModule = ConfigurationModule::of(spec, layout),
        connected: Vec<Connected> = connected(spec, layout),
        /// The memory, or the register file beside a processing element.
        memory: Option<Memory<'a>> = memory(spec, layout),
        /// The operands of a processing element.
        words: String = operands(spec, layout, Layer::Word),
        bits: String = operands(spec, layout, Layer::Bit),
        switch_boxes: [SwitchBox; 2] = Layer::ALL.map(|layer| switch_box(layout, layer)),
        hop_bits: u32 = hop_bits(spec),
        /// The streams of an IO tile.
        layers: [Stream; 2] = Layer::ALL.map(stream),
    );
    render(module, &tile)
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
        inputs: TileLayout::of_memory(layout.inputs(Layer::Word))
            .map(|(port, _)| inputs(spec, layout, Layer::Word, port..port + 1))
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
    let CorePort { name, is_of_memory } = &layout.outputs(layer)[port as usize];
    let is_result_bit = layout.kind == TileKind::Pe && layer == Layer::Bit && !is_of_memory;
    if is_result_bit { format!("{name}_bit") } else { name.clone() }
}

fn switch_box(layout: &TileLayout, layer: Layer) -> SwitchBox {
    let outputs = 0..layout.outputs(layer).len() as u32;
    let core = outputs.rev().map(|port| core_signal(layout, layer, port)).collect();
    SwitchBox { name: layer.name(), outputs: layout.outputs(layer).len(), core: concatenation(core) }
}

/// Signals together, the last lowest.
fn concatenation(signals: Vec<String>) -> String {
    if let [signal] = signals.as_slice() { signal.clone() } else { format!("{{{}}}", signals.join(", ")) }
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

/// The layers in which the core has inputs.
fn connected(spec: &ArraySpec, layout: &TileLayout) -> Vec<Connected> {
    let of = |layer: Layer| {
        let sides = layout.sides.iter().rev().map(|side| format!("{}_{}_i", layer.name(), side.name()));
        Connected {
            name: layer.name(),
            tracks: layout.sides.len() as u32 * spec.tracks.of(layer),
            width: spec.bits(layer),
            incoming: concatenation(sides.collect()),
            boxes: connection_boxes(layout, layer),
        }
    };
    Layer::ALL.into_iter().filter(|layer| !layout.inputs(*layer).is_empty()).map(of).collect()
}

fn connection_boxes(layout: &TileLayout, layer: Layer) -> Vec<ConnectionBoxes> {
    let ports = (0..layout.inputs(layer).len() as u32).chunk_by(|port| choices(layout, layer, *port));
    let mut low = 0;
    let boxes = ports.into_iter().map(|(choices, ports)| {
        let ports = ports.collect_vec();
        let (first, end) = (ports[0], ports[0] + ports.len() as u32);
        let field = layout.field(Meaning::Connection { layer, port: first }).expect("inputs have fields");
        let bits = layout.fields[field].bits;
        let beside = choices.iter().rev().filter_map(|choice| match choice {
            MultiplexerInput::Core { port } => Some(core_signal(layout, layer, *port)),
            MultiplexerInput::Incoming { .. } | MultiplexerInput::Register => None,
        });
        let before = low;
        low += bits * ports.len() as u32;
        ConnectionBoxes {
            first,
            end,
            choices: choices.len(),
            sources: concatenation(beside.chain([format!("{}_tracks", layer.name())]).collect()),
            select: match before.checked_sub(first * bits) {
                Some(0) => part("k", bits),
                Some(behind) => format!("{behind} + {}", part("k", bits)),
                None => format!("{before} + {}", part(&format!("(k - {first})"), bits)),
            },
        }
    });
    boxes.collect()
}

/// The bits of an item of a vector of items of this width.
pub fn part(item: &str, width: u32) -> String {
    if width == 1 { item.to_owned() } else { format!("{item} * {width} +: {width}") }
}

/// The bits of items of a vector of items of this width, by their numbers.
pub fn slice(vector: &str, items: Range<u32>, width: u32) -> String {
    let (low, high) = (items.start * width, items.end * width - 1);
    if low == high { format!("{vector}[{low}]") } else { format!("{vector}[{high}:{low}]") }
}

/// The choices of an input of the core.
fn choices(layout: &TileLayout, layer: Layer, port: u32) -> &[MultiplexerInput] {
    let node = Node::Input { port };
    let input = layout.locals.iter().find(|local| local.layer == layer && local.node == node);
    input.map_or(&[], |local| &local.choices)
}

/// Inputs of the core.
fn inputs(spec: &ArraySpec, layout: &TileLayout, layer: Layer, ports: Range<u32>) -> String {
    let vector = format!("{}_inputs", layer.name());
    let is_whole = ports == (0..layout.inputs(layer).len() as u32);
    if is_whole { vector } else { slice(&vector, ports, spec.bits(layer)) }
}

fn operands(spec: &ArraySpec, layout: &TileLayout, layer: Layer) -> String {
    inputs(spec, layout, layer, 0..layout.cell_inputs(layer).len() as u32)
}
