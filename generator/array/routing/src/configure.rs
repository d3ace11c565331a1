//! The configuration of a routed netlist.

use std::collections::BTreeMap;

use pushmem_bitstream::Configuration;
use pushmem_configuration::{Configuration as MemoryConfiguration, ControllerConfiguration};
use pushmem_fabric::{ArraySpec, Layer, Place};
use pushmem_netlist::{CellId, Core, Netlist, only_predicate};
use pushmem_pe::{Mode, PeConfiguration};
use pushmem_placement::Placement;
use pushmem_resources::{Graph, Meaning, TileLayout};
use pushmem_starts::Lags;

use crate::routing::Routing;

/// Why an array cannot take a cell or a route, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigureError(String);

impl ConfigureError {
    /// The processing element lacks what a cell needs.
    fn unsupported(spec: &ArraySpec, what: &str, cell: &str) -> Self {
        let array = &spec.name;
        ConfigureError(format!("the processing element of `{array}` has no {what}, which `{cell}` needs"))
    }
}

/// The configuration of an array that executes a netlist: routes, operations with the delays of their operands, and memories
/// that start as late as their lags say. All other tiles are idle.
///
/// # Errors
/// When a route is none of the array, or a processing element lacks the operation of a cell.
pub fn configure(
    netlist: &Netlist,
    spec: &ArraySpec,
    graph: &Graph,
    placement: &Placement,
    routing: &Routing,
) -> Result<Configuration, ConfigureError> {
    let mut configuration = Configuration::default();
    for route in routing.nets.iter().flatten() {
        for pair in route.nodes.windows(2) {
            let connected = configuration.connect(graph, pair[0], pair[1]);
            connected.map_err(|error| ConfigureError(error.to_string()))?;
        }
    }
    for (cell, place) in placement.places.iter_enumerated() {
        match &netlist.cells[cell].core {
            Core::Pe(pe) => operate(&mut configuration, spec, graph, *place, pe, &netlist.cells[cell].name)?,
            Core::Memory(_) | Core::Predicate(_) | Core::Input | Core::Output => {}
        }
    }
    for (place, memory) in memories(netlist, spec, placement, &routing.lags) {
        configuration.tile_mut(graph, place).memory = Some(memory);
    }
    for connection in netlist.connections() {
        let Core::Pe(_) = netlist.cells[connection.sink.cell].core else { continue };
        let delay = routing.nets[connection.net][connection.place].delay;
        let is_held = netlist.is_held(&connection);
        let mode = match delay {
            _ if is_held => Mode::Held,
            0 => Mode::Direct,
            delay => Mode::Delayed(delay),
        };
        let meaning = Meaning::Mode { layer: connection.of.layer, operand: connection.sink.port };
        let place = placement.places[connection.sink.cell];
        let name = &netlist.cells[connection.sink.cell].name;
        set(&mut configuration, spec, graph, place, name, meaning, spec.pe.modes().number(mode))?;
    }
    Ok(configuration)
}

/// The configurations of memory tiles: those of memories and predicates, whose controllers start as late as their lags say.
fn memories(
    netlist: &Netlist,
    spec: &ArraySpec,
    placement: &Placement,
    lags: &Lags,
) -> BTreeMap<Place, MemoryConfiguration> {
    let mut tiles: BTreeMap<Place, MemoryConfiguration> = BTreeMap::new();
    let Some(columns) = &spec.memory else { return tiles };
    let late = |controller: &ControllerConfiguration, cell: CellId| {
        let cycle = controller.cycle.shifted(lags[cell]);
        ControllerConfiguration { cycle, ..controller.clone() }
    };
    for (cell, place) in placement.places.iter_enumerated() {
        if let Core::Memory(memory) = &netlist.cells[cell].core {
            let controllers = memory.controllers.iter();
            let controllers = controllers.map(|(name, controller)| (name.clone(), late(controller, cell))).collect();
            tiles.insert(*place, MemoryConfiguration { controllers, ..memory.clone() });
        }
    }
    for (cell, place) in placement.places.iter_enumerated() {
        if let Core::Predicate(schedule) = &netlist.cells[cell].core {
            let predicate = only_predicate(&late(schedule, cell), &columns.tile);
            let tile = tiles
                .entry(*place)
                .or_insert_with(|| MemoryConfiguration { controllers: BTreeMap::new(), ..predicate.clone() });
            tile.controllers.extend(predicate.controllers);
        }
    }
    tiles
}

/// The fields of an operation, with its constants.
fn operate(
    configuration: &mut Configuration,
    spec: &ArraySpec,
    graph: &Graph,
    place: Place,
    pe: &PeConfiguration,
    cell: &str,
) -> Result<(), ConfigureError> {
    for (meaning, value) in operation(spec, pe, cell)? {
        set(configuration, spec, graph, place, cell, meaning, value)?;
    }
    Ok(())
}

/// The values of the fields of an operation, without the modes of operands that a net drives. Those that are 0 may be left out.
fn operation(spec: &ArraySpec, pe: &PeConfiguration, cell: &str) -> Result<Vec<(Meaning, u32)>, ConfigureError> {
    let unsupported = || ConfigureError::unsupported(spec, &format!("operation `{}`", pe.operation.name()), cell);
    let opcode = spec.pe.opcode(pe.operation).ok_or_else(unsupported)?;
    let mut fields = vec![(Meaning::Operation, opcode as u32)];
    let constant = |layer: Layer, operand: usize| Meaning::Constant { layer, operand: operand as u32 };
    for (operand, word) in pe.words.iter().enumerate() {
        if matches!(word.mode, Mode::Constant | Mode::Accumulated) {
            fields.push((constant(Layer::Word, operand), word.constant));
        }
        if word.mode == Mode::Accumulated {
            let meaning = Meaning::Mode { layer: Layer::Word, operand: operand as u32 };
            fields.push((meaning, spec.pe.modes().number(word.mode)));
        }
    }
    for (operand, bit) in pe.bits.iter().enumerate().filter(|(_, bit)| bit.mode == Mode::Constant) {
        fields.push((constant(Layer::Bit, operand), bit.constant.into()));
    }
    if let Some(lut) = pe.lut {
        fields.extend([(Meaning::Lut, lut.into()), (Meaning::LutSelected, 1)]);
    }
    Ok(fields)
}

fn set(
    configuration: &mut Configuration,
    spec: &ArraySpec,
    graph: &Graph,
    place: Place,
    cell: &str,
    meaning: Meaning,
    value: u32,
) -> Result<(), ConfigureError> {
    let layout: &TileLayout = graph.layout(graph.kind(place).expect("a place of the array"));
    let field = layout.field(meaning);
    match field.filter(|field| u64::from(value) >> layout.fields[*field].bits == 0) {
        Some(field) => configuration.tile_mut(graph, place).fields[field] = value,
        // A field that is not there means 0.
        None if value == 0 => {}
        None => {
            let what = format!("`{}` for {value}", meaning.name());
            return Err(ConfigureError::unsupported(spec, &what, cell));
        }
    }
    Ok(())
}
