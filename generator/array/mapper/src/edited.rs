//! Stages that a person edited.

use std::collections::HashMap;

use itertools::Itertools;
use pushmem_bitstream::Configuration;
use pushmem_fabric::ArraySpec;
use pushmem_files::{Diagnostic, Document, FieldPath};
use pushmem_netlist::{CellId, Netlist};

use crate::lower::{Lowered, Stage};

/// Stages as text, perhaps edited, in place of those that the mapper makes. Each belongs to the stages before it: routes to places,
/// places to a netlist.
#[derive(Debug, Default)]
pub struct Edited {
    /// The application graph, which is proven and realized.
    pub graph: Option<Document>,
    /// Cells and nets. The streams of the program are the cells of their names.
    pub netlist: Option<Document>,
    /// The tile of each cell.
    pub placement: Option<Document>,
    /// The start of each cell, and the tracks of each connection. It takes a placement.
    pub routing: Option<Document>,
    /// The configuration that is proven, run and written, in place of that of the routes. Its streams are on the tiles of the
    /// placement.
    pub configuration: Option<Configuration>,
}

impl Edited {
    /// Whether nothing is edited.
    pub fn is_empty(&self) -> bool {
        let Edited { graph, netlist, placement, routing, configuration } = self;
        graph.is_none() && netlist.is_none() && placement.is_none() && routing.is_none() && configuration.is_none()
    }
}

impl Lowered {
    /// The same program with the cells and nets of a text. The proof tells whether they compute the same.
    ///
    /// # Errors
    /// When the text is no netlist for the array, or lacks the cell of a stream.
    pub(crate) fn edited(self, document: &Document, spec: &ArraySpec) -> Result<Lowered, Diagnostic> {
        let netlist = Netlist::from_document(document, spec)?;
        if netlist.name != self.netlist.name {
            let message = format!("this netlist is for `{}`, not for `{}`", netlist.name, self.netlist.name);
            return document.refuse(
                &FieldPath::root().key("netlist"),
                message,
                "name the program that it was made for",
            );
        }
        let cells: HashMap<&str, CellId> =
            netlist.cells.iter_enumerated().map(|(id, cell)| (cell.name.as_str(), id)).collect();
        let streams = |streams: &[Vec<CellId>]| -> Result<Vec<Vec<CellId>>, Diagnostic> {
            let lane = |cell: &CellId| {
                let wanted = &self.netlist.cells[*cell];
                let found = cells.get(wanted.name.as_str()).filter(|found| netlist.cells[**found].core == wanted.core);
                found.copied().ok_or_else(|| {
                    let message = format!("there is no cell for the stream `{}`", wanted.name);
                    document.error(&FieldPath::root().key("cells"), message).with_help("keep the cells of streams")
                })
            };
            streams.iter().map(|lanes| lanes.iter().map(lane).collect()).collect()
        };
        let (inputs, outputs) = (streams(&self.inputs)?, streams(&self.outputs)?);
        let names = |netlist: &Netlist| netlist.banks.iter().map(|bank| bank.name.clone()).collect_vec();
        if names(&netlist) != names(&self.netlist) {
            let error = document
                .error(&FieldPath::root().key("cells"), "the memories in banks are others than those of the program");
            return Err(error.with_help("keep the cells with `bank`, in their order"));
        }
        // Cells keep their stages by their names.
        let named = |cell: &CellId| cells.get(self.netlist.cells[*cell].name.as_str()).copied();
        let stage = |stage: &Stage| Stage { cells: stage.cells.iter().filter_map(named).collect(), ..stage.clone() };
        let stages = self.stages.iter().map(stage).collect();
        Ok(Lowered { operations: self.operations, netlist, inputs, outputs, banks: self.banks, stages })
    }
}
