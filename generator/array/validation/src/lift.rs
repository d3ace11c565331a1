//! From a configuration back to a netlist.

use std::collections::BTreeMap;

use pushmem_bitstream::{Configuration, Netlist as Decoded, Source, TileConfiguration, TileName};
use pushmem_fabric::{ArraySpec, Direction, Layer, Place, TileKind};
use pushmem_netlist::{Cell, CellId, Core, Net, Netlist, Sink};
use pushmem_pe::{Configuration as PeConfiguration, Mode, Operand};
use pushmem_resources::{Graph, Meaning, Node, NodeId, TileLayout};
use thiserror::Error;

/// An input that takes a track on which no core gives a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{input} takes a track without a source")]
pub struct Unconnected {
    /// The name of the input.
    pub input: String,
}

/// The cell of each tile that gives values, by [`Direction::In`], and of each that takes them, by [`Direction::Out`].
pub type TileCells = BTreeMap<(Place, Direction), CellId>;

/// The netlist that a configuration is, with the cell of each tile and direction. A connection takes as many cycles as it has
/// registers, those of its operand included.
///
/// # Errors
/// When an input takes a track that holds still, is a ring, or comes from the edge of the array.
pub fn lift(
    configuration: &Configuration,
    spec: &ArraySpec,
    graph: &Graph,
) -> Result<(Netlist, TileCells), Unconnected> {
    let mut netlist = Netlist::default();
    // The cell that gives values, and the one that takes them, of each tile.
    let mut cells = BTreeMap::new();
    for (&place, tile) in &configuration.tiles {
        let Some(kind) = graph.kind(place) else { continue };
        let layout = graph.layout(kind);
        let name = TileName { kind, place }.to_string();
        let mut add = |name: String, core: Core| netlist.cells.push(Cell { name, core });
        match kind {
            TileKind::Pe => {
                let cell = add(name, Core::Pe(processing_element(spec, layout, tile)));
                Direction::ALL.into_iter().for_each(|direction| _ = cells.insert((place, direction), cell));
            }
            TileKind::Memory => {
                if let Some(memory) = &tile.memory {
                    let mut memory = memory.clone();
                    if !memory.contents.is_empty() {
                        let words = spec.memory.as_ref().and_then(|memory| memory.tile.content_words()).unwrap_or(0);
                        let loaded = memory.contents.len() as u32;
                        memory.contents.extend((loaded..words).map(|address| u64::from(not_loaded(address))));
                    }
                    let cell = add(name, Core::Memory(memory));
                    Direction::ALL.into_iter().for_each(|direction| _ = cells.insert((place, direction), cell));
                }
            }
            TileKind::Io => {
                for (direction, core) in [(Direction::In, Core::Input), (Direction::Out, Core::Output)] {
                    if tile.stream_registers(spec, layout, direction).is_some() {
                        cells.insert((place, direction), add(format!("{name}_{}", direction.stream()), core));
                    }
                }
            }
        }
    }
    let mut nets: BTreeMap<NodeId, Vec<Sink>> = BTreeMap::new();
    for net in Decoded::of(configuration, graph).nets {
        let resource = graph.resource(net.input);
        let Some(&cell) = cells.get(&(resource.place, Direction::Out)) else { continue };
        let Node::Input { port } = resource.node else { unreachable!("nets end at inputs") };
        if !is_used(&netlist.cells[cell].core, resource.layer, port) {
            continue;
        }
        let Source::Output(output) = net.source else {
            return Err(Unconnected { input: graph.name(net.input) });
        };
        let late = match &configuration.tiles[&resource.place] {
            tile if graph.kind(resource.place) == Some(TileKind::Pe) => {
                let meaning = Meaning::Mode { layer: resource.layer, operand: port };
                match Mode::of(tile.value(graph.layout(TileKind::Pe), meaning)) {
                    Mode::Delayed(cycles) => cycles,
                    Mode::Constant | Mode::Direct => 0,
                }
            }
            _ => 0,
        };
        nets.entry(output).or_default().push(Sink { cell, port, cycles: i64::from(net.registers + late) });
    }
    for (output, sinks) in nets {
        let resource = graph.resource(output);
        let Node::Output { port } = resource.node else { unreachable!("nets begin at outputs") };
        let source = cells.get(&(resource.place, Direction::In)).copied();
        let source = source.ok_or_else(|| Unconnected { input: netlist.cells[sinks[0].cell].name.clone() })?;
        netlist.nets.push(Net { layer: resource.layer, source, port, sinks });
    }
    Ok((netlist, cells))
}

/// The word of a table at an address where nothing is loaded. Programs have no such indices, but tokens have: each finds another
/// word, so that a table that is looked up in the wrong cycle is found.
pub(crate) fn not_loaded(address: u32) -> u16 {
    (address.wrapping_mul(0x9e37_79b1) >> 16) as u16 | 1
}

/// Whether the results of a core depend on one of its inputs.
fn is_used(core: &Core, layer: Layer, port: u32) -> bool {
    match (core, layer) {
        (Core::Pe(pe), Layer::Word) => (port as usize) < pe.operation.words(),
        (Core::Pe(pe), Layer::Bit) => pe.lut.is_some() || (port == 0 && pe.operation.uses_bit()),
        (Core::Memory(_) | Core::Predicate(_) | Core::Input | Core::Output, _) => layer == Layer::Word,
    }
}

/// The configuration of a processing element. An operand that is late is direct here: its cycles are those of its connection.
fn processing_element(spec: &ArraySpec, layout: &TileLayout, tile: &TileConfiguration) -> PeConfiguration {
    let value = |meaning: Meaning| tile.value(layout, meaning);
    let mode = |layer: Layer, operand: u32| match Mode::of(value(Meaning::Mode { layer, operand })) {
        Mode::Constant => Mode::Constant,
        Mode::Direct | Mode::Delayed(_) => Mode::Direct,
    };
    let constant = |layer: Layer, operand: u32| value(Meaning::Constant { layer, operand });
    let operations = &spec.pe.operations;
    PeConfiguration {
        operation: operations[(value(Meaning::Operation) as usize).min(operations.len() - 1)],
        words: [0, 1, 2]
            .map(|operand| Operand { mode: mode(Layer::Word, operand), constant: constant(Layer::Word, operand) }),
        bits: [0, 1, 2]
            .map(|operand| Operand { mode: mode(Layer::Bit, operand), constant: constant(Layer::Bit, operand) != 0 }),
        lut: (value(Meaning::LutSelected) != 0).then(|| value(Meaning::Lut) as u8),
    }
}
