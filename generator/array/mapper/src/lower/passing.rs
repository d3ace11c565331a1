//! Elements that pass a word or a bit on.

use pushmem_fabric::Layer;
use pushmem_files::free_name;
use pushmem_netlist::{Cell, Core, Net, Sink};
use pushmem_pe::{Mode, PeSpec};

use super::Lowered;
use super::elements::{passing_bits, passing_words};

impl Lowered {
    /// Puts an element on a connection, given by its number. The operand of the element can be late, where the end of the connection
    /// cannot. False, if the elements of the array cannot pass a bit on: then nothing changes.
    pub(crate) fn pass_on(&mut self, connection: usize, spec: &PeSpec) -> bool {
        let netlist = &mut self.netlist;
        let found = netlist.connections().nth(connection).expect("connections are numbered as passes number them");
        let (net, place, layer, sink) = (found.net, found.place, found.of.layer, found.sink);
        let passing = match layer {
            Layer::Word => Some(passing_words(spec)),
            Layer::Bit => passing_bits(spec),
        };
        let Some(mut element) = passing else { return false };
        match layer {
            Layer::Word => element.words[0].mode = Mode::Direct,
            Layer::Bit => element.bits[0].mode = Mode::Direct,
        }
        let wanted = format!("{}_passed", netlist.cells[netlist.nets[net].source].name);
        let name = free_name(&wanted, 2, |name| netlist.cells.iter().all(|cell| cell.name != *name));
        let cell = netlist.cells.push(Cell { name, core: Core::Pe(element) });
        netlist.nets[net].sinks[place] = Sink { cell, port: 0, cycles: sink.cycles };
        netlist.nets.push(Net { layer, source: cell, port: 0, sinks: vec![Sink { cycles: 0, ..sink }] });
        let stage = self.stages.iter_mut().find(|stage| stage.cells.contains(&sink.cell));
        if let Some(stage) = stage {
            stage.cells.push(cell);
        }
        true
    }
}
