//! The places of cells.

use index_vec::IndexVec;
use pushmem_fabric::Place;
use pushmem_netlist::CellId;

/// The tile of each cell. An input and an output may be on the same IO tile, a memory and a predicate on the same MEM tile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The places, by cell.
    pub places: IndexVec<CellId, Place>,
}
