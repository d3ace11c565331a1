//! Memories that share tiles: the accelerator computes the same as the interpreter, and the proof covers it.

use pushmem_graph::Driver;
use pushmem_replay::{ErrorKind, replay};

use crate::common::{app, compare, compiled};

/// Tiles of the programs, and how many of them several memories share.
#[test]
fn memories_share_tiles_where_there_is_room() {
    for (name, tile, tiles, shared) in [
        ("unsharp", "amber", 4, 1),
        ("unsharp", "quad_port", 4, 1),
        ("unsharp_unroll4", "amber", 6, 6),
        ("camera_pipeline", "amber", 3, 1),
        ("harris", "amber", 5, 0),
        ("unsharp", "fetch2", 7, 0),
    ] {
        let compiled = compiled(app(name), tile);
        let accelerator = &compiled.accelerator;
        assert_eq!(accelerator.tiles.len(), tiles, "{name} on {tile}");
        let several = accelerator.memories.iter().filter(|memory| memory.streams.len() > 1).count();
        assert_eq!(several, shared, "{name} on {tile}");
        compare(&compiled);
    }
}

/// Each tile is connected as in its mapping, and each wire of a tile names its source.
#[test]
fn shared_tiles_are_connected_as_they_are_mapped() {
    let compiled = compiled(app("unsharp_unroll4"), "amber");
    let accelerator = &compiled.accelerator;
    for memory in &accelerator.memories {
        for (number, mapped) in memory.mapped.tiles.iter().enumerate() {
            let tile = memory.first_tile + number;
            let content = &accelerator.tiles[tile];
            assert_eq!(content.configuration, mapped.configuration);
            for (output, port) in mapped.outputs.iter().enumerate() {
                let wire = port.map(|port| memory.wire(port));
                assert_eq!(content.outputs[output], wire);
                assert!(wire.is_none_or(|wire| accelerator.wires[wire].driver == Driver::Tile { tile, output }));
            }
        }
    }
}

/// A word of one stream where another stream has its own.
#[test]
fn streams_that_meet_in_a_tile_are_found() {
    let compiled = compiled(app("unsharp"), "amber");
    let memory = compiled.accelerator.memories.iter().find(|memory| memory.streams.len() > 1).unwrap();
    let mut mapped = memory.mapped.clone();
    let controllers = &mut mapped.tiles[0].configuration.controllers;
    let (first, second) = (controllers["agg2sram_0"].sram.clone(), controllers["agg2sram_1"].sram.clone());
    assert_ne!(first.as_ref().unwrap().start, second.unwrap().start);
    controllers.get_mut("agg2sram_1").unwrap().sram.as_mut().unwrap().start = first.unwrap().start;
    let error = replay(&memory.buffer, &mapped, compiled.accelerator.target.memory()).unwrap_err();
    assert!(matches!(error.fault, ErrorKind::WrongWord { .. }), "{error}");
    let mut mapped = memory.mapped.clone();
    let controllers = &mut mapped.tiles[0].configuration.controllers;
    controllers.get_mut("agg2sram_1").unwrap().cycle.start += 1;
    let error = replay(&memory.buffer, &mapped, compiled.accelerator.target.memory()).unwrap_err();
    assert!(matches!(error.fault, ErrorKind::PortConflict { .. } | ErrorKind::WrongWord { .. }), "{error}");
}
