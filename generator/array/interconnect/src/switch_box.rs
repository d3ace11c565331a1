//! Switch boxes, one module for each layer.

use itertools::Itertools;
use pushmem_fabric::{ArraySpec, Layer, Side, TileKind};
use pushmem_files::template;
use pushmem_resources::{Local, MultiplexerInput, Node, TileLayout, registered_phase};
use pushmem_veryl::SourceFile;

use crate::tile::part;
use crate::{hop_bits, render};

/// The tracks that leave on a side.
struct Outgoing {
    side: Side,
    turns: Vec<Turn>,
}

impl Outgoing {
    /// Whether tracks change their numbers in turns to the side.
    fn has_tables(&self) -> bool {
        !self.turns.iter().all(Turn::keeps_numbers)
    }
}

/// The tracks that turn to a side from another one, by the tracks that leave.
struct Turn {
    from: Side,
    /// The constant with their numbers.
    constant: String,
    tracks: Vec<usize>,
}

impl Turn {
    /// The number of the track that turns to `track`; most tracks of some topologies keep theirs.
    fn number(&self) -> String {
        if self.keeps_numbers() { "track".to_owned() } else { format!("{:?}", self.from) }
    }

    fn keeps_numbers(&self) -> bool {
        self.tracks.iter().enumerate().all(|(to, from)| to == *from)
    }
}

/// The name of the module of the switch boxes of a layer.
pub fn switch_box_module(spec: &ArraySpec, layer: Layer) -> String {
    format!("{}_{}_switch_box", spec.name, layer.name())
}

/// The coordinate of a tile that counts the hops to a side.
pub fn position(side: Side) -> &'static str {
    match side {
        Side::North | Side::South => "row_i",
        Side::East | Side::West => "column_i",
    }
}

pub fn sources(spec: &ArraySpec) -> impl Iterator<Item = SourceFile> {
    Layer::ALL.into_iter().map(|layer| source(spec, layer))
}

fn source(spec: &ArraySpec, layer: Layer) -> SourceFile {
    let (tracks, hop_bits) = (spec.tracks.of(layer), hop_bits(spec));
    let module = switch_box_module(spec, layer);
    // Outputs of cores come last, whatever the kind of tile: tracks alone tell the rest.
    let layout = TileLayout::of(spec, TileKind::Pe);
    let phase = |track| format!("{hop_bits}'d{}", registered_phase(track, spec.hop_limit));
    let template = template!(
        "switch_box.veryl",
        spec: &'a ArraySpec = spec,
        module: &'a str = &module,
        layer: &'static str = layer.name(),
        tracks: u32 = tracks,
        width: u32 = spec.bits(layer),
        hop_bits: u32 = hop_bits,
        /// By track, at which row or column it cannot pass around its register.
        phases: String = (0..tracks).map(phase).join(", "),
        outgoing: [Outgoing; 4] = Side::ALL.map(|side| Outgoing { side, turns: turns(&layout, layer, side) }),
    );
    render(&module, &template)
}

/// The turns to a side, in the order of the choices of its tracks: straight on comes first.
fn turns(layout: &TileLayout, layer: Layer, to: Side) -> Vec<Turn> {
    let leaves =
        |local: &&Local| local.layer == layer && matches!(local.node, Node::Register { side, .. } if side == to);
    let incoming = |choice: &MultiplexerInput| match *choice {
        MultiplexerInput::Incoming { side, track } if side != to.opposite() => Some((side, track as usize)),
        _ => None,
    };
    let choices = layout.locals.iter().filter(leaves).flat_map(|local| local.choices.iter().filter_map(incoming));
    let by_side = choices.into_group_map();
    let sides = Side::ALL.into_iter().filter_map(|from| Some((from, by_side.get(&from)?.clone())));
    sides.map(|(from, tracks)| Turn { from, constant: format!("{to:?}From{from:?}"), tracks }).collect()
}
