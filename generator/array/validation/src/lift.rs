//! From a configuration back to a netlist.

use std::collections::BTreeMap;

use pushmem_bitstream::{Configuration, Driver, Netlist as Decoded, ProcessingElement, TileName};
use pushmem_fabric::{ArraySpec, Direction, Layer, Place, TileKind};
use pushmem_netlist::{Cell, CellId, Core, Net, Netlist, Sink};
use pushmem_pe::{ENABLE, Mode, PeConfiguration};
use pushmem_resources::{Graph, Node, NodeId};

use crate::validate::Invalid;

/// The cell of each tile that gives values, by [`Direction::In`], and of each that takes them, by [`Direction::Out`].
pub type TileCells = BTreeMap<(Place, Direction), CellId>;

/// The netlist that a configuration is, with the cell of each tile and direction. A connection takes as many cycles as it has
/// registers, those of its operand included.
///
/// # Errors
/// When an input takes a track that holds still, is a ring, or comes from the edge of the array, or when a field of a processing
/// element means nothing.
pub fn lift(configuration: &Configuration, spec: &ArraySpec, graph: &Graph) -> Result<(Netlist, TileCells), Invalid> {
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
                if tile.memory.is_some() {
                    let fault = format!("the register file of {name} is in use: programs on arrays have none");
                    return Err(Invalid::Configuration(fault));
                }
                let core = ProcessingElement::of(tile, spec, layout).configuration();
                let core = core.map_err(|undefined| Invalid::Configuration(format!("{name}: {undefined}")))?;
                let cell = add(name, Core::Pe(core));
                Direction::ALL.into_iter().for_each(|direction| _ = cells.insert((place, direction), cell));
            }
            TileKind::Memory => {
                if let Some(memory) = &tile.memory {
                    let cell = add(name, Core::Memory(memory.clone()));
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
    let unconnected = |input: &str| Invalid::Configuration(format!("{input} takes a track without a source"));
    let mut nets: BTreeMap<NodeId, Vec<Sink>> = BTreeMap::new();
    for net in Decoded::of(configuration, graph).nets {
        let resource = graph.resource(net.input);
        let Some(&cell) = cells.get(&(resource.place, Direction::Out)) else { continue };
        let Node::Input { port } = resource.node else { unreachable!("nets end at inputs") };
        if !is_used(&netlist.cells[cell].core, resource.layer, port) {
            continue;
        }
        let Driver::Output(output) = net.source else {
            return Err(unconnected(&graph.name(net.input)));
        };
        let late = match &netlist.cells[cell].core {
            Core::Pe(pe) => delay(pe, resource.layer, port),
            Core::Memory(_) | Core::Predicate(_) | Core::Input | Core::Output => 0,
        };
        nets.entry(output).or_default().push(Sink { cell, port, cycles: i64::from(net.registers + late) });
    }
    // The cycles by which operands are late are now those of their connections.
    for cell in &mut netlist.cells {
        if let Core::Pe(pe) = &mut cell.core {
            let modes =
                pe.words.iter_mut().map(|word| &mut word.mode).chain(pe.bits.iter_mut().map(|bit| &mut bit.mode));
            modes.filter(|mode| matches!(mode, Mode::Delayed(_))).for_each(|mode| *mode = Mode::Direct);
        }
    }
    for (output, sinks) in nets {
        let resource = graph.resource(output);
        let Node::Output { port } = resource.node else { unreachable!("nets begin at outputs") };
        let input = &netlist.cells[sinks[0].cell].name;
        let source = *cells.get(&(resource.place, Direction::In)).ok_or_else(|| unconnected(input))?;
        let is_of_program = match netlist.cells[source].core {
            Core::Pe(_) | Core::Predicate(_) => true,
            Core::Memory(_) => spec.memory_of(TileKind::Memory).is_some_and(|memory| memory.stencil_valid),
            Core::Input | Core::Output => false,
        };
        if resource.layer == Layer::Bit && !is_of_program {
            // It comes from outside with a word, or tells when a memory shows one.
            let fault = format!("{input} takes the bit {}, which programs do not have", graph.name(output));
            return Err(Invalid::Configuration(fault));
        }
        netlist.nets.push(Net { layer: resource.layer, source, port, sinks });
    }
    Ok((netlist, cells))
}

/// Whether the results of a core depend on one of its inputs.
fn is_used(core: &Core, layer: Layer, port: u32) -> bool {
    match (core, layer) {
        (Core::Pe(pe), Layer::Word) => (port as usize) < pe.operation.words(),
        (Core::Pe(pe), Layer::Bit) => {
            let is_enable = port as usize == ENABLE && pe.words.iter().any(|word| word.mode.is_enabled());
            is_enable || pe.lut.is_some() || (port == 0 && pe.operation.uses_bit())
        }
        (Core::Memory(_) | Core::Predicate(_) | Core::Input | Core::Output, _) => layer == Layer::Word,
    }
}

/// The cycles by which an operand is late.
fn delay(pe: &PeConfiguration, layer: Layer, port: u32) -> u32 {
    let mode = match layer {
        Layer::Word => pe.words[port as usize].mode,
        Layer::Bit => pe.bits[port as usize].mode,
    };
    mode.delay()
}
