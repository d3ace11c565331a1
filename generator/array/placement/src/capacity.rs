//! Whether there are as many tiles as cells.

use pushmem_fabric::{ArraySpec, TileKind};
use pushmem_netlist::{Core, Netlist};

/// Why a netlist does not fit an array by count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{netlist}` needs {needed} {what}, the array `{array}` has {available}")]
pub struct CapacityError {
    netlist: String,
    array: String,
    needed: usize,
    available: usize,
    what: &'static str,
}

impl CapacityError {
    /// Advice on the change that helps.
    pub fn help(&self) -> String {
        let CapacityError { needed, available, what, .. } = self;
        let missing = needed - available;
        format!("unroll less, or take an array with {missing} more {what}: give its specification more columns or rows")
    }
}

/// Checks that there is a tile for each cell.
///
/// # Errors
/// The kind of tile of which there are too few, and how many are needed.
pub fn check_capacity(netlist: &Netlist, spec: &ArraySpec) -> Result<(), CapacityError> {
    let streams = |core: &Core| netlist.cells.iter().filter(|cell| cell.core == *core).count();
    let tiles = |kind: TileKind| spec.count(kind) as usize;
    for (what, needed, available) in [
        ("PE tiles", netlist.count(TileKind::Pe), tiles(TileKind::Pe)),
        ("MEM tiles", netlist.count(TileKind::Memory), tiles(TileKind::Memory)),
        ("IO tiles for inputs", streams(&Core::Input), tiles(TileKind::Io)),
        ("IO tiles for outputs", streams(&Core::Output), tiles(TileKind::Io)),
    ] {
        if needed > available {
            let (netlist, array) = (netlist.name.clone(), spec.name.clone());
            return Err(CapacityError { netlist, array, needed, available, what });
        }
    }
    Ok(())
}
