//! Connections, one for each sink of each net.

use crate::netlist::{CellId, Net, NetId, Netlist, Sink};

/// A connection from the source of a net to one of its sinks.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    /// The net.
    pub net: NetId,
    /// The place of the sink among those of the net.
    pub place: usize,
    /// The net itself.
    pub of: &'a Net,
    /// The sink.
    pub sink: Sink,
}

impl Netlist {
    /// All connections, net by net, in the order of their sinks. Passes number them in this order.
    pub fn connections(&self) -> impl Iterator<Item = Connection<'_>> {
        self.nets.iter_enumerated().flat_map(|(net, of)| {
            of.sinks.iter().enumerate().map(move |(place, sink)| Connection { net, place, of, sink: *sink })
        })
    }

    /// The cells of a connection as people read them: `multiply_3 to add_7`.
    pub fn connection_name(&self, connection: &Connection) -> String {
        let name = |cell: CellId| &self.cells[cell].name;
        format!("{} to {}", name(connection.of.source), name(connection.sink.cell))
    }
}
