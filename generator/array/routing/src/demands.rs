//! The demands of placed connections.

use pushmem_fabric::{ArraySpec, Layer, Place};
use pushmem_netlist::{Connection, Netlist};
use pushmem_placement::{Placement, demand};
use pushmem_resources::{Graph, Node, NodeId, Resource};
use pushmem_starts::Demand;

use crate::distance::Targets;
use crate::wires::Fabric;

/// The output and the input of a connection.
pub fn ends(placement: &Placement, graph: &Graph, connection: &Connection) -> Option<(NodeId, NodeId)> {
    let layer = connection.of.layer;
    let at = |place: Place, node: Node| graph.node(Resource { place, layer, node });
    let output = at(placement.places[connection.of.source], Node::Output { port: connection.of.port })?;
    let input = at(placement.places[connection.sink.cell], Node::Input { port: connection.sink.port })?;
    Some((output, input))
}

/// The demand of each connection of a placed netlist, from its shortest route. A connection without a route is given by its
/// number.
pub fn demands(
    netlist: &Netlist,
    spec: &ArraySpec,
    graph: &Graph,
    fabric: &Fabric,
    placement: &Placement,
    targets: &mut [Targets; 2],
) -> Result<Vec<Demand>, usize> {
    let of = |(number, connection): (usize, Connection)| {
        let (output, input) = ends(placement, graph, &connection).ok_or(number)?;
        let wires = fabric.layer(connection.of.layer);
        let least = targets[connection.of.layer as usize].least(wires, graph, output, input).ok_or(number)?;
        let (from, to) = (placement.places[connection.of.source], placement.places[connection.sink.cell]);
        let least = i64::from(least);
        Ok(Demand { least, ..demand(netlist, spec, &connection, from, to) })
    };
    netlist.connections().enumerate().map(of).collect()
}

/// Both layers, without targets.
pub fn no_targets() -> [Targets; 2] {
    Layer::ALL.map(|_| Targets::default())
}
