//! Registers between places, by their distance.

use pushmem_fabric::{ArraySpec, Place, TileKind};
use pushmem_netlist::{CellId, Connection, Netlist};
use pushmem_starts::Demand;

/// The fewest registers of tracks on a route between two tiles. Congestion and the edges of the array may make it
/// longer.
pub fn least_registers(spec: &ArraySpec, from: Place, to: Place) -> i64 {
    let hops = |one: u32, other: u32| i64::from(one.abs_diff(other));
    match (from.row, to.row, hops(from.column, to.column), hops(from.row, to.row)) {
        // Tracks do not turn back: a route around a tile's corner, or two rows below an IO tile.
        (0, 0, 0, 0) => 5 + i64::from(spec.hop_limit == 1),
        (_, _, 0, 0) => 4,
        // Along the first row of tiles.
        (0, 0, columns, _) => 2 + run(spec, columns),
        (_, _, columns, rows) => run(spec, columns) + run(spec, rows),
    }
}

/// The fewest registers on so many hops straight on.
fn run(spec: &ArraySpec, hops: i64) -> i64 {
    if hops == 0 { 0 } else { 1 + (hops - 1) / i64::from(spec.hop_limit) }
}

/// The demand of a connection between two places.
pub fn demand(netlist: &Netlist, spec: &ArraySpec, connection: &Connection, from: Place, to: Place) -> Demand {
    with_least(netlist, spec, connection, least_registers(spec, from, to))
}

/// The demand of a connection wherever its cells are.
pub fn least_demand(netlist: &Netlist, spec: &ArraySpec, connection: &Connection) -> Demand {
    let kind = |cell: CellId| netlist.cells[cell].core.kind();
    let (source, sink) = (connection.of.source, connection.sink.cell);
    let least = match (kind(source), kind(sink)) {
        (TileKind::Io, TileKind::Io) => 3,
        _ if source == sink => 4,
        _ => 1,
    };
    with_least(netlist, spec, connection, least)
}

/// The demand of a connection whose shortest route has so many registers.
fn with_least(netlist: &Netlist, spec: &ArraySpec, connection: &Connection, least: i64) -> Demand {
    let delay = i64::from(netlist.most_delay(spec, connection));
    Demand { least, delay, is_even: delay == 0 && spec.hop_limit == 1 }
}
