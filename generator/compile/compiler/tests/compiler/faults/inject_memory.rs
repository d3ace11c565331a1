//! Faults of memories: in their tiles, in their wires, and in how they are described.

use std::sync::Arc;

use pushmem_affine::Affine;
use pushmem_buffers::Port;
use pushmem_configuration::{Configuration, ControllerConfiguration};
use pushmem_graph::{Accelerator, DelayMemory, StoredArray, TileId};
use pushmem_mapping::MappedBuffer;
use pushmem_nest::Level;
use pushmem_tile::Memory as Storage;

use super::inject::{Faults, beside};

pub fn faults(accelerator: &Accelerator, faults: &mut Faults) {
    for (number, tile) in accelerator.tiles.iter_enumerated() {
        wiring(accelerator, faults, number);
        let changes = configurations(&tile.configuration);
        for (what, wrong) in changes {
            let place = format!("{}, {what}", tile.name);
            let printed = wrong.clone();
            faults.add("configuration of a tile", &place, move |accelerator| {
                accelerator.tiles[number].configuration = printed.clone();
            });
            // The same in the mapping, which is replayed: only the replay can tell.
            faults.add("configuration of a mapped tile", place, move |accelerator| {
                accelerator.tiles[number].configuration = wrong.clone();
                let (mapped, tile) = mapping_of(accelerator, number);
                mapped.tiles[tile].configuration = wrong.clone();
            });
        }
    }
    for (number, memory) in accelerator.memories.iter().enumerate() {
        described(accelerator, faults, number, memory);
    }
    for (number, array) in accelerator.arrays.iter().enumerate() {
        kept(accelerator, faults, number, array);
        for port in 0..array.buffer.ports.len() {
            described_port(faults, number, array, port);
        }
    }
    for (number, rom) in accelerator.roms.iter().enumerate() {
        let mut wrong = configurations(&rom.configuration);
        let words = rom.configuration.contents.len();
        for word in [0, words / 2, words - 1] {
            let mut other = rom.configuration.clone();
            other.contents[word] ^= 1;
            wrong.push((format!("word {word}"), other));
        }
        for (what, wrong) in wrong {
            faults.add("configuration of a ROM", format!("{}, {what}", rom.name), move |accelerator| {
                accelerator.roms[number].configuration = wrong.clone();
            });
        }
        faults.add("missing ROM", &rom.name, move |accelerator| _ = accelerator.roms.remove(number));
    }
}

/// The mapping that a tile is of, and its number there.
fn mapping_of(accelerator: &mut Accelerator, tile: TileId) -> (&mut MappedBuffer, usize) {
    let arrays = accelerator.arrays.iter_mut().map(|array| (array.first_tile, &mut array.mapped));
    let memories = accelerator.memories.iter_mut().map(|memory| (memory.first_tile, &mut memory.mapped));
    let mut mappings = arrays.chain(memories);
    let found = mappings.find(|(first, mapped)| (*first..*first + mapped.tiles.len()).contains(&tile));
    let (first, mapped) = found.expect("each tile is of a mapping");
    (mapped, (tile - first).index())
}

fn wiring(accelerator: &Accelerator, faults: &mut Faults, number: TileId) {
    let tile = &accelerator.tiles[number];
    for level in Level::ALL.into_iter().filter(|level| *level != tile.level) {
        faults.add("level of a tile", format!("{}, {}", tile.name, level.name()), move |accelerator| {
            accelerator.tiles[number].level = level;
        });
    }
    faults.add("begin of a tile", &tile.name, move |accelerator| accelerator.tiles[number].begin += 1);
    for rows in [tile.spec.rows - 1, tile.spec.rows + 1] {
        faults.add("rows of a tile", format!("{}, {rows}", tile.name), move |accelerator| {
            Arc::make_mut(&mut accelerator.tiles[number].spec).rows = rows;
        });
    }
    for (input, wire) in tile.inputs.iter().enumerate() {
        let wrong = wire.iter().flat_map(|&wire| beside(wire, accelerator.wires.len()));
        for wrong in wrong.map(Some).chain(wire.map(|_| None)) {
            faults.add("input of a tile", format!("{}, {wrong:?}", tile.name), move |accelerator| {
                accelerator.tiles[number].inputs[input] = wrong;
            });
        }
    }
    let wrong = tile.chain_from.map(|_| None);
    let others = (0..number.index()).rev().take(2).map(TileId::new).map(Some).filter(|other| *other != tile.chain_from);
    for chain_from in wrong.into_iter().chain(others) {
        faults.add("chain input of a tile", format!("{}, {chain_from:?}", tile.name), move |accelerator| {
            accelerator.tiles[number].chain_from = chain_from;
        });
    }
}

/// A configuration with each of its numbers one more or less.
fn configurations(right: &Configuration) -> Vec<(String, Configuration)> {
    let mut found = Vec::new();
    for name in right.controllers.keys() {
        let mut add = |what: String, change: &dyn Fn(&mut ControllerConfiguration)| {
            let mut wrong = right.clone();
            change(wrong.controllers.get_mut(name).expect("the controller is there"));
            found.push((format!("{name} {what}"), wrong));
        };
        let content = &right.controllers[name];
        for by in [-1, 1] {
            for level in 0..content.extent.len() {
                add(format!("extent[{level}] {by:+}"), &|of| {
                    of.extent[level] = of.extent[level].wrapping_add_signed(by);
                });
                add(format!("cycle.stride[{level}] {by:+}"), &|of| of.cycle.stride[level] += by);
            }
            add(format!("cycle.start {by:+}"), &|of| of.cycle.start += by);
            for (memory, address) in content.addresses() {
                add(format!("{memory:?}.start {by:+}"), &|of| address_of(of, memory).start += by);
                for level in 0..address.stride.len() {
                    add(format!("{memory:?}.stride[{level}] {by:+}"), &|of| address_of(of, memory).stride[level] += by);
                }
            }
        }
        let mut without = right.clone();
        without.controllers.remove(name);
        found.push((format!("no {name}"), without));
    }
    let mut unchained = right.clone();
    unchained.chain.enable = !unchained.chain.enable;
    found.push(("chain.enable".to_owned(), unchained));
    let mut moved = right.clone();
    moved.chain.tile_id += 1;
    found.push(("chain.tile_id".to_owned(), moved));
    found
}

fn address_of(of: &mut ControllerConfiguration, memory: Storage) -> &mut Affine {
    match memory {
        Storage::Agg => of.agg.as_mut(),
        Storage::Sram => of.sram.as_mut(),
        Storage::Tb => of.tb.as_mut(),
        Storage::RegisterFile => of.register_file.as_mut(),
    }
    .expect("the controller addresses it")
}

/// Faults in the description of a memory, which the proof relies on.
fn described(accelerator: &Accelerator, faults: &mut Faults, number: usize, memory: &DelayMemory) {
    // The port that takes each stream.
    let ports: Vec<usize> = memory.buffer.writes().map(|(port, _)| port).collect();
    for (stream, content) in memory.streams.iter().enumerate() {
        let name = &accelerator.wires[content.of].name;
        for of in beside(content.of, accelerator.wires.len()) {
            faults.add("wire of a memory", name, move |accelerator| {
                accelerator.memories[number].streams[stream].of = of;
            });
            // With the tiles connected alike.
            let right = content.of;
            let tiles = memory.first_tile..memory.first_tile + memory.mapped.tiles.len();
            faults.add("wire of a memory and its tiles", name, move |accelerator| {
                accelerator.memories[number].streams[stream].of = of;
                let tiles = accelerator.tiles[tiles.clone()].iter_mut();
                for wire in tiles.flat_map(|tile| tile.inputs.iter_mut().flatten()).filter(|wire| **wire == right) {
                    *wire = of;
                }
            });
        }
        for place in 0..content.delays.len() {
            let read = ports[stream] + 1 + place;
            faults.count_off_by_one("delay of a memory", name, move |accelerator| {
                &mut accelerator.memories[number].streams[stream].delays[place]
            });
            for by in [-1, 1] {
                faults.add("delay of a memory and its read", name, move |accelerator| {
                    let memory = &mut accelerator.memories[number];
                    let delay = &mut memory.streams[stream].delays[place];
                    *delay = delay.wrapping_add_signed(by);
                    memory.buffer.ports[read].schedule.start += by;
                });
            }
            if place + 1 < content.delays.len() {
                faults.add("wires of a memory swapped", name, move |accelerator| {
                    accelerator.memories[number].streams[stream].wires.swap(place, place + 1);
                });
            }
        }
        let ports = ports[stream]..ports[stream] + 1 + content.delays.len();
        for by in [-1, 1] {
            let ports = ports.clone();
            faults.add("cycles of a memory", name, move |accelerator| {
                let ports = accelerator.memories[number].buffer.ports[ports.clone()].iter_mut();
                ports.for_each(|port| port.schedule.start += by);
            });
        }
        for level in 0..memory.buffer.ports[ports.start].domain.len() {
            let ports = ports.clone();
            faults.add("fewer words of a memory", name, move |accelerator| {
                let ports = accelerator.memories[number].buffer.ports[ports.clone()].iter_mut();
                ports.for_each(|port| port.domain[level].extent -= 1);
            });
        }
    }
    if memory.streams.len() > 1 {
        faults.add("streams of a memory swapped", number, move |accelerator| {
            accelerator.memories[number].streams.swap(0, 1);
        });
    }
    for first_tile in beside(memory.first_tile, accelerator.tiles.len()) {
        faults.add("tiles of a memory", number, move |accelerator| {
            accelerator.memories[number].first_tile = first_tile;
        });
    }
    for tile in 0..memory.mapped.tiles.len() {
        let outputs = &memory.mapped.tiles[tile].outputs;
        if outputs.iter().any(Option::is_some) && outputs.len() > 1 {
            faults.add("output that serves a read", number, move |accelerator| {
                accelerator.memories[number].mapped.tiles[tile].outputs.rotate_left(1);
            });
        }
    }
}

/// Faults in the record of a kept array.
fn kept(accelerator: &Accelerator, faults: &mut Faults, number: usize, array: &StoredArray) {
    let name = &array.buffer.name;
    for other in beside(array.array, 1000) {
        faults.add("array that is kept", name, move |accelerator| accelerator.arrays[number].array = other);
    }
    faults.add("missing array", name, move |accelerator| _ = accelerator.arrays.remove(number));
    if number + 1 < accelerator.arrays.len() {
        faults.add("kept arrays swapped", name, move |accelerator| {
            let other = accelerator.arrays[number + 1].array;
            accelerator.arrays[number + 1].array = std::mem::replace(&mut accelerator.arrays[number].array, other);
        });
    }
    for first_tile in beside(array.first_tile, accelerator.tiles.len()) {
        faults.add("tiles of a kept array", name, move |accelerator| {
            accelerator.arrays[number].first_tile = first_tile;
        });
    }
    for (writer, &stage) in array.writers.iter().enumerate() {
        for other in beside(stage, 1000) {
            faults.add("writer of a kept array", format!("{name}, {stage} as {other}"), move |accelerator| {
                accelerator.arrays[number].writers[writer] = other;
            });
        }
        if writer + 1 < array.writers.len() {
            faults.add("writers of a kept array swapped", name, move |accelerator| {
                accelerator.arrays[number].writers.swap(writer, writer + 1);
            });
        }
    }
    faults.add("missing writer of a kept array", name, move |accelerator| {
        accelerator.arrays[number].writers.pop();
    });
    let tiles = array.first_tile..array.first_tile + array.mapped.tiles.len();
    for (port, &right) in array.wires.iter().enumerate() {
        for wrong in beside(right, accelerator.wires.len()) {
            let place = format!("{name}, {right} as {wrong}");
            faults.add("wire of a kept array", &place, move |accelerator| {
                accelerator.arrays[number].wires[port] = wrong;
            });
            // With the tiles connected alike.
            let tiles = tiles.clone();
            faults.add("wire of a kept array and its tiles", place, move |accelerator| {
                accelerator.arrays[number].wires[port] = wrong;
                let tiles = accelerator.tiles[tiles.clone()].iter_mut();
                for wire in tiles.flat_map(|tile| tile.inputs.iter_mut().flatten()).filter(|wire| **wire == right) {
                    *wire = wrong;
                }
            });
        }
        if port + 1 < array.wires.len() {
            faults.add("wires of a kept array swapped", name, move |accelerator| {
                accelerator.arrays[number].wires.swap(port, port + 1);
            });
            // The ports change with them: the sources of two reads are exchanged.
            faults.add("ports of a kept array swapped", name, move |accelerator| {
                accelerator.arrays[number].wires.swap(port, port + 1);
                accelerator.arrays[number].buffer.ports.swap(port, port + 1);
            });
        }
    }
    for tile in 0..array.mapped.tiles.len() {
        let outputs = &array.mapped.tiles[tile].outputs;
        if outputs.iter().any(Option::is_some) && outputs.len() > 1 {
            faults.add("output that serves a read of a kept array", name, move |accelerator| {
                accelerator.arrays[number].mapped.tiles[tile].outputs.rotate_left(1);
            });
        }
        let inputs = &array.mapped.tiles[tile].inputs;
        if inputs.iter().any(Option::is_some) && inputs.len() > 1 {
            faults.add("input that takes a write of a kept array", name, move |accelerator| {
                accelerator.arrays[number].mapped.tiles[tile].inputs.rotate_left(1);
                accelerator.tiles[accelerator.arrays[number].first_tile + tile].inputs.rotate_left(1);
            });
        }
    }
}

/// Faults in a port of a kept array.
fn described_port(faults: &mut Faults, number: usize, array: &StoredArray, port: usize) {
    let content = &array.buffer.ports[port];
    let place = format!("{}, {}", array.buffer.name, content.name);
    let is_write = port < array.writers.len();
    let mut add = |what: (&'static str, &'static str), change: &dyn Fn(&mut Port)| {
        let mut wrong = content.clone();
        change(&mut wrong);
        let kind = if is_write { what.0 } else { what.1 };
        faults.add(kind, &place, move |accelerator| accelerator.arrays[number].buffer.ports[port] = wrong.clone());
    };
    for by in [-1, 1] {
        add(("cycle of a write port", "cycle of a read port"), &|port| port.schedule.start += by);
        for level in 0..content.domain.len() {
            add(("period of a write port", "period of a read port"), &|port| port.schedule.stride[level] += by);
            add(("iterations of a write port", "iterations of a read port"), &|port| {
                let extent = &mut port.domain[level].extent;
                *extent = extent.wrapping_add_signed(by);
            });
        }
        for dimension in 0..content.access.len() {
            add(("element of a write port", "element of a read port"), &|port| port.access[dimension].start += by);
            for level in 0..content.domain.len() {
                add(("elements of a write port", "elements of a read port"), &|port| {
                    port.access[dimension].stride[level] += by;
                });
            }
        }
    }
}
