//! Configurations of some columns alone.

use std::collections::BTreeSet;
use std::fmt;

use pushmem_fabric::{Layer, Place, Side};
use pushmem_resources::{Graph, MultiplexerInput};

use crate::configuration::{Configuration, TileName};

/// A tile that does not keep to the columns of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stray {
    /// The tile is in another column.
    Outside(TileName),
    /// The tile takes a track that comes from another column.
    Takes {
        /// The tile.
        tile: TileName,
        /// Network of the track.
        layer: Layer,
        /// The side on which it comes in.
        side: Side,
        /// Its number.
        track: u32,
    },
}

impl Stray {
    /// The tile.
    pub fn tile(&self) -> TileName {
        match self {
            Stray::Outside(tile) | Stray::Takes { tile, .. } => *tile,
        }
    }
}

impl fmt::Display for Stray {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { column, .. } = self.tile().place;
        match self {
            Stray::Outside(tile) => write!(formatter, "`{tile}` is in column {column}, which is not to be loaded"),
            Stray::Takes { tile, layer, side, track } => {
                let neighbour = tile.place.neighbour(*side).map_or(column, |place| place.column);
                let (layer, side) = (layer.name(), side.name());
                write!(
                    formatter,
                    "`{tile}` takes the {layer} `{side}_{track}` of column {neighbour}, which is not to be loaded"
                )
            }
        }
    }
}

impl std::error::Error for Stray {}

impl Configuration {
    /// Checks that the configuration can be loaded into columns alone, whatever others do: all its tiles are in them, and take tracks of
    /// them alone.
    ///
    /// # Errors
    /// The first tile of which that is not so.
    pub fn keeps_to(&self, graph: &Graph, columns: &BTreeSet<u32>) -> Result<(), Stray> {
        for (place, tile) in self.tiles.iter().filter(|(_, tile)| !tile.is_idle()) {
            let kind = graph.kind(*place).expect("a configuration is for places of the array");
            let name = TileName { kind, place: *place };
            if !columns.contains(&place.column) {
                return Err(Stray::Outside(name));
            }
            for local in &graph.layout(kind).locals {
                let chosen = local.choice(local.field.map_or(0, |field| tile.fields[field]));
                if let Some(MultiplexerInput::Incoming { side, track }) = chosen
                    && let Some(neighbour) = place.neighbour(*side).filter(|place| graph.kind(*place).is_some())
                    && !columns.contains(&neighbour.column)
                {
                    return Err(Stray::Takes { tile: name, layer: local.layer, side: *side, track: *track });
                }
            }
        }
        Ok(())
    }
}
