//! Configurations of some columns alone.

use std::collections::BTreeSet;

use pushmem_files::{Fault, FieldPath};
use pushmem_resources::{Graph, MultiplexerInput};

use crate::configuration::{Configuration, TileName};

impl Configuration {
    /// Checks that the configuration can be loaded into columns alone, whatever others do: all its tiles are in them, and take tracks of
    /// them alone.
    ///
    /// # Errors
    /// The first tile of which that is not so.
    pub fn keeps_to(&self, graph: &Graph, columns: &BTreeSet<u32>) -> Result<(), Fault> {
        for (place, tile) in self.tiles.iter().filter(|(_, tile)| !tile.is_idle()) {
            let kind = graph.kind(*place).expect("a configuration is for places of the array");
            let name = TileName { kind, place: *place };
            let stray = |message: String| {
                let path = FieldPath::root().key("tiles").key(&name.to_string());
                let help = "name its column in `--columns` too, or leave it out of the configuration";
                Fault::at_key(path, format!("`{name}` {message}, which is not to be loaded"), help)
            };
            if !columns.contains(&place.column) {
                return Err(stray(format!("is in column {}", place.column)));
            }
            for local in &graph.layout(kind).locals {
                let chosen = local.choice(local.field.map_or(0, |field| tile.fields[field]));
                if let Some(MultiplexerInput::Incoming { side, track }) = chosen
                    && let Some(neighbour) = place.neighbour(*side).filter(|place| graph.kind(*place).is_some())
                    && !columns.contains(&neighbour.column)
                {
                    let (layer, side, column) = (local.layer.name(), side.name(), neighbour.column);
                    return Err(stray(format!("takes the {layer} `{side}_{track}` of column {column}")));
                }
            }
        }
        Ok(())
    }
}
