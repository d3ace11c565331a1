//! Whether a bitstream is the netlist that it was made of.

use std::collections::BTreeMap;
use std::mem::discriminant;

use pushmem_bitstream::{Configuration, Driver, Net, Netlist as Decoded, ProcessingElement, TileConfiguration};
use pushmem_configuration::{Configuration as MemoryConfiguration, ControllerConfiguration, encode};
use pushmem_fabric::{ArraySpec, Place, TileKind};
use pushmem_netlist::{CellId, Core, Netlist, only_predicate};
use pushmem_pe::{Mode, Operand, PeConfiguration};
use pushmem_placement::Placement;
use pushmem_registers::RegisterMap;
use pushmem_resources::{Graph, Node, NodeId, Resource};
use pushmem_starts::{Lags, registers};

/// Checks that a decoded configuration is a netlist with these places and lags: each input takes its source with exactly the
/// registers of its connection, operands that are late included; each core does what its cell says; nothing else is connected.
///
/// It uses what the configuration decodes to, not the routes.
///
/// # Errors
/// The first difference.
pub fn check(
    netlist: &Netlist,
    spec: &ArraySpec,
    graph: &Graph,
    placement: &Placement,
    lags: &Lags,
    decoded: &Configuration,
) -> Result<(), String> {
    let mut nets: BTreeMap<NodeId, Net> =
        Decoded::of(decoded, graph).nets.into_iter().map(|net| (net.input, net)).collect();
    for connection in netlist.connections() {
        let name = netlist.connection_name(&connection);
        let layer = connection.of.layer;
        let node = |cell, node| {
            let resource = Resource { place: placement.places[cell], layer, node };
            graph.node(resource).ok_or_else(|| format!("{name}: the tile has no such port"))
        };
        let output = node(connection.of.source, Node::Output { port: connection.of.port })?;
        let input = node(connection.sink.cell, Node::Input { port: connection.sink.port })?;
        let net = nets.remove(&input).ok_or_else(|| format!("{name}: the input takes no track"))?;
        if net.source != Driver::Output(output) {
            return Err(format!("{name}: the input takes {:?}", net.source));
        }
        let late = delay(decoded, graph, input);
        let wanted = registers(lags, &connection);
        if i64::from(net.registers + late) != wanted {
            let found = net.registers + late;
            return Err(format!("{name}: there are {found} registers where {wanted} are needed"));
        }
    }
    if let Some(input) = nets.keys().next() {
        return Err(format!("{} takes a track that no net has", graph.name(*input)));
    }
    cores(netlist, spec, graph, placement, lags, decoded)
}

/// The cycles by which an operand is late.
fn delay(decoded: &Configuration, graph: &Graph, input: NodeId) -> u32 {
    let Resource { place, layer, node } = graph.resource(input);
    let (Some(TileKind::Pe), Node::Input { port }) = (graph.kind(place), node) else { return 0 };
    decoded.tiles[&place].mode(graph.layout(TileKind::Pe), layer, port).delay()
}

/// Whether a PE tile does what its cell says: operation, table, modes of operands but for delays, and constants.
fn is_same_operation(found: &PeConfiguration, wanted: &PeConfiguration) -> bool {
    fn meaning<Value: Copy>(operand: &Operand<Value>) -> (Mode, Option<Value>) {
        match operand.mode {
            Mode::Direct | Mode::Delayed(_) => (Mode::Direct, None),
            Mode::Constant | Mode::Accumulated => (operand.mode, Some(operand.constant)),
            Mode::Held | Mode::Undefined(_) => (operand.mode, None),
        }
    }
    found.operation == wanted.operation
        && found.lut == wanted.lut
        && found.words.iter().map(meaning).eq(wanted.words.iter().map(meaning))
        && found.bits.iter().map(meaning).eq(wanted.bits.iter().map(meaning))
}

/// The configurations that the cells of memories and predicates are to have: their controllers start as late as their lags say.
fn memories(
    netlist: &Netlist,
    spec: &ArraySpec,
    placement: &Placement,
    lags: &Lags,
) -> BTreeMap<Place, MemoryConfiguration> {
    let late = |cell: CellId, controller: ControllerConfiguration| ControllerConfiguration {
        cycle: controller.cycle.shifted(lags[cell]),
        ..controller
    };
    let mut memories: BTreeMap<Place, MemoryConfiguration> = BTreeMap::new();
    for (cell, content) in netlist.cells.iter_enumerated() {
        let wanted = match (&content.core, &spec.memory) {
            (Core::Memory(memory), _) => memory.clone(),
            (Core::Predicate(schedule), Some(memory)) => only_predicate(schedule, &memory.tile),
            _ => continue,
        };
        let controllers = wanted.controllers.into_iter().map(|(name, controller)| (name, late(cell, controller)));
        let controllers = controllers.collect();
        let known = memories.remove(&placement.places[cell]);
        let mut both = MemoryConfiguration { controllers, ..wanted };
        if let Some(other) = known {
            both.contents = if both.contents.is_empty() { other.contents } else { both.contents };
            both.controllers.extend(other.controllers);
        }
        memories.insert(placement.places[cell], both);
    }
    memories
}

/// Whether two configurations of a memory are the same registers. There are several ways to write one.
fn is_same_memory(one: &MemoryConfiguration, other: &MemoryConfiguration, spec: &ArraySpec) -> bool {
    let Some(memory) = &spec.memory else { return false };
    let map = RegisterMap::of(&memory.tile);
    let writes = |configuration| encode(configuration, &memory.tile, &map).ok();
    writes(one).is_some_and(|one| writes(other) == Some(one))
}

/// Whether cores do what their cells say, and all others nothing.
fn cores(
    netlist: &Netlist,
    spec: &ArraySpec,
    graph: &Graph,
    placement: &Placement,
    lags: &Lags,
    decoded: &Configuration,
) -> Result<(), String> {
    let wanted = memories(netlist, spec, placement, lags);
    let mut busy = BTreeMap::new();
    for (cell, place) in placement.places.iter_enumerated() {
        let core = &netlist.cells[cell].core;
        let kind = graph.kind(*place);
        let name = &netlist.cells[cell].name;
        if kind != Some(core.kind()) {
            return Err(format!("`{name}` is on a tile of another kind"));
        }
        let is_shared = |other: &Core| core.kind() != TileKind::Pe && discriminant(core) != discriminant(other);
        if let Some(other) = busy.insert(*place, core)
            && !is_shared(other)
        {
            return Err(format!("`{name}` is on the tile of another cell, at {place}"));
        }
        let tile = decoded.tiles.get(place);
        let layout = graph.layout(core.kind());
        match core {
            Core::Pe(pe) => {
                let idle = TileConfiguration::idle(layout);
                let found = ProcessingElement::of(tile.unwrap_or(&idle), spec, layout).configuration();
                let found = found.map_err(|undefined| format!("`{name}`: {undefined}"))?;
                if !is_same_operation(&found, pe) {
                    return Err(format!("`{name}`: the tile at {place} is {found:?}, not {pe:?}"));
                }
            }
            Core::Memory(_) | Core::Predicate(_) => {
                let found = tile.and_then(|tile| tile.memory.as_ref());
                if found.is_none_or(|found| !is_same_memory(found, &wanted[place], spec)) {
                    return Err(format!("`{name}`: the memory has another configuration"));
                }
            }
            Core::Input | Core::Output => {}
        }
    }
    Ok(())
}
