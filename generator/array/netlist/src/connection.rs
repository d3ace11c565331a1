//! Connections, one for each sink of each net.

use pushmem_fabric::{ArraySpec, Layer};
use pushmem_pe::Mode;

use crate::netlist::{CellId, Core, Net, NetId, Netlist, Sink};

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

    /// The most cycles by which the input of a connection can be late: `operand_delay` of an operand of a processing element. The
    /// register of a held operand has another job.
    pub fn most_delay(&self, spec: &ArraySpec, connection: &Connection) -> u32 {
        let is_pe = matches!(self.cells[connection.sink.cell].core, Core::Pe(_));
        if is_pe && !self.is_held(connection) { spec.pe.operand_delay } else { 0 }
    }

    /// Whether the input of a connection is a held operand.
    pub fn is_held(&self, connection: &Connection) -> bool {
        let Core::Pe(pe) = &self.cells[connection.sink.cell].core else { return false };
        connection.of.layer == Layer::Word && pe.words[connection.sink.port as usize].mode == Mode::Held
    }

    /// The cells of a connection as people read them: `multiply_3 to add_7`.
    pub fn connection_name(&self, connection: &Connection) -> String {
        let name = |cell: CellId| &self.cells[cell].name;
        format!("{} to {}", name(connection.of.source), name(connection.sink.cell))
    }
}
