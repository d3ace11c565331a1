//! The loop levels that controllers use. A level of one iteration outside of all others changes nothing, and neither does any level of a
//! controller that never runs.

use std::collections::BTreeMap;

use pushmem_bitstream::TileConfiguration;
use pushmem_fabric::Direction;
use pushmem_registers::{Field, Meaning as MemoryMeaning, RegisterMap};
use pushmem_resources::{Meaning, TileLayout};
use pushmem_tile::{Role, TileSpec};

/// The levels of the controllers of each role of a memory whose fields have these values, at least one.
pub fn of_memory(spec: &TileSpec, map: &RegisterMap, value: impl Fn(u32, &Field) -> u32) -> BTreeMap<Role, u32> {
    let controllers = spec.controllers();
    let set = |meaning: MemoryMeaning| {
        map.fields().any(|(register, field)| field.meaning == meaning && value(register.offset, field) != 0)
    };
    let mut levels = BTreeMap::new();
    for (number, controller) in controllers.iter().enumerate() {
        let most = levels.entry(controller.role).or_insert(1);
        if set(MemoryMeaning::Enable { controller: number }) {
            let loops = |level: &u32| set(MemoryMeaning::Extent { controller: number, level: *level });
            *most = (*most).max((0..controller.levels).rev().find(loops).map_or(1, |level| level + 1));
        }
    }
    levels
}

/// The levels of a stream of an IO tile, at least one.
pub fn of_stream(layout: &TileLayout, tile: &TileConfiguration, direction: Direction) -> u32 {
    let loops = |(field, value): &(&pushmem_resources::Field, &u32)| match field.meaning {
        Meaning::StreamExtent { direction: other, level } if other == direction && **value != 0 => Some(level + 1),
        _ => None,
    };
    if tile.value(layout, Meaning::StreamEnable { direction }) == 0 {
        return 1;
    }
    layout.fields.iter().zip(&tile.fields).filter_map(|pair| loops(&pair)).max().unwrap_or(1)
}
