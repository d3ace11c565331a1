//! Switch boxes, one module for each layer.

use itertools::Itertools;
use pushmem_fabric::{ArraySpec, Layer, Side, TileKind};
use pushmem_files::template;
use pushmem_resources::{MultiplexerInput, Node, TileLayout, registered_phase};
use pushmem_veryl::SourceFile;

use crate::tile::slice;
use crate::{hop_bits, render};

/// An outgoing track.
struct Hop {
    name: String,
    /// The words that its multiplexer chooses from, the first lowest.
    items: String,
    output: String,
    /// Straight on.
    straight: String,
    /// Which coordinate of the tile counts the hops, and where there is a register.
    position: &'static str,
    phase: u32,
}

/// The name of the module of the switch boxes of a layer.
pub fn switch_box_module(spec: &ArraySpec, layer: Layer) -> String {
    format!("{}_{}_switch_box", spec.name, layer.name())
}

pub fn sources(spec: &ArraySpec) -> impl Iterator<Item = SourceFile> {
    Layer::ALL.into_iter().map(|layer| source(spec, layer))
}

fn source(spec: &ArraySpec, layer: Layer) -> SourceFile {
    // Outputs of cores come last, whatever the kind of tile: tracks alone tell the rest.
    let layout = TileLayout::of(spec, TileKind::Pe);
    let registers = layout.locals.iter().filter(|local| local.layer == layer);
    let hops = registers.filter_map(|local| match local.node {
        Node::Register { side, track } => Some(hop(spec, layer, side, track, &local.choices)),
        _ => None,
    });
    let module = switch_box_module(spec, layer);
    let template = template!(
        "switch_box.veryl",
        spec: &'a ArraySpec = spec,
        module: &'a str = &module,
        layer: &'static str = layer.name(),
        tracks: u32 = spec.tracks.of(layer),
        width: u32 = spec.bits(layer),
        hop_bits: u32 = hop_bits(spec),
        hops: Vec<Hop> = hops.collect(),
    );
    render(&module, &template)
}

fn hop(spec: &ArraySpec, layer: Layer, side: Side, track: u32, choices: &[MultiplexerInput]) -> Hop {
    let of_side = |side: Side, end: &str, track: u32| {
        slice(&format!("{}_{end}", side.name()), track..track + 1, spec.bits(layer))
    };
    let item = |choice: &MultiplexerInput| match choice {
        MultiplexerInput::Incoming { side, track } => Some(of_side(*side, "i", *track)),
        MultiplexerInput::Core { .. } | MultiplexerInput::Register => None,
    };
    let items = choices.iter().filter_map(item).collect_vec();
    Hop {
        name: format!("{}_{track}", side.name()),
        output: of_side(side, "o", track),
        straight: items[0].clone(),
        items: items.iter().rev().join(", "),
        position: match side {
            Side::North | Side::South => "row",
            Side::East | Side::West => "column",
        },
        phase: registered_phase(track, spec.hop_limit),
    }
}
