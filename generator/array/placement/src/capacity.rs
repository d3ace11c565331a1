//! Whether there are as many tiles as cells.

use pushmem_fabric::{ArraySpec, Direction, TileKind};
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
    let beats = |direction: Direction| (0..spec.columns).filter(|column| spec.has_stream(*column, direction)).count();
    let [inputs, outputs] = match spec.global_buffer {
        Some(_) => ["banks of the global buffer for inputs", "banks of the global buffer for outputs"],
        None => ["IO tiles for inputs", "IO tiles for outputs"],
    };
    for (what, needed, available) in [
        ("PE tiles", netlist.count(TileKind::Pe), tiles(TileKind::Pe)),
        ("MEM tiles", netlist.count(TileKind::Memory), tiles(TileKind::Memory)),
        (inputs, streams(&Core::Input), beats(Direction::In)),
        (outputs, streams(&Core::Output), beats(Direction::Out)),
    ] {
        if needed > available {
            let (netlist, array) = (netlist.name.clone(), spec.name.clone());
            return Err(CapacityError { netlist, array, needed, available, what });
        }
    }
    Ok(())
}
