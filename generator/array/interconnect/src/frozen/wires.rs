//! The tracks that a tile with a configuration drives and takes.

use std::collections::BTreeSet;

use pushmem_bitstream::TileConfiguration;
use pushmem_fabric::{Layer, Side};
use pushmem_resources::{Local, MultiplexerInput, Node, TileLayout};

use super::text::Vector;

/// A track on a side of a tile.
pub type Wire = (Layer, Side, u32);

/// The tracks of a tile that mean something.
#[derive(Debug, Default)]
pub struct Wires {
    /// Those that leave it, whose registers take something or which pass around them.
    pub driven: BTreeSet<Wire>,
    /// Those that come in to one of them, or to an input of the core.
    pub taken: BTreeSet<Wire>,
}

impl Wires {
    pub fn of(layout: &TileLayout, tile: &TileConfiguration) -> Self {
        let mut wires = Wires::default();
        for local in &layout.locals {
            let Some(choice) = chosen(local, tile) else { continue };
            match (*choice, local.node) {
                // The register says whether it takes anything.
                (MultiplexerInput::Register, _) => continue,
                (MultiplexerInput::Incoming { side, track }, _) => {
                    wires.taken.insert((local.layer, side, track));
                }
                (MultiplexerInput::Core { .. }, _) => {}
            }
            if let Node::Register { side, track } | Node::Segment { side, track } = local.node {
                wires.driven.insert((local.layer, side, track));
            }
        }
        wires
    }

    /// The numbers of the tracks of a layer that leave on a side.
    pub fn driven_to(&self, layer: Layer, side: Side) -> Vec<u32> {
        numbers(&self.driven, layer, side)
    }

    /// The vectors of the tracks of a layer: `vector` makes one of a side, the end of its name, and the tracks in it.
    pub fn vectors(
        &self,
        layer: Layer,
        sides: &'static [Side],
        vector: impl Fn(Side, &str, Vec<u32>) -> Vector,
    ) -> impl Iterator<Item = Vector> {
        sides.iter().flat_map(move |&side| {
            let ends = [("i", &self.taken), ("o", &self.driven)];
            ends.map(|(end, wires)| vector(side, end, numbers(wires, layer, side)))
        })
    }
}

fn numbers(wires: &BTreeSet<Wire>, layer: Layer, side: Side) -> Vec<u32> {
    wires.iter().filter(|wire| (wire.0, wire.1) == (layer, side)).map(|wire| wire.2).collect()
}

/// The choice that the configuration makes.
pub fn chosen<'a>(local: &'a Local, tile: &TileConfiguration) -> Option<&'a MultiplexerInput> {
    local.choice(tile.fields[local.field?])
}
