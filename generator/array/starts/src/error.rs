//! Reasons why cells cannot start in time.

use pushmem_netlist::{CellId, Netlist};

/// Why no lags leave each connection a route.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The routes of a loop of cells take more cycles than the schedule gives them.
    #[error("the loop of {} needs {short} more cycles than its schedule has: routes take them", .names.join(", "))]
    Loop {
        /// The cells, each read by the next, and the last by the first.
        cells: Vec<CellId>,
        /// Their names.
        names: Vec<String>,
        /// The cycles that are missing.
        short: i64,
    },
    /// Two ways between the same cells differ by an odd number of cycles, and no operand on them can be late.
    #[error(
        "{connection} cannot match the other ways between its cells: they differ by an odd number of cycles, and no operand \
         on them can be late"
    )]
    Parity {
        /// The connection that closes the circle, by its number.
        number: usize,
        /// The names of its cells.
        connection: String,
    },
}

impl StartError {
    pub(crate) fn of_loop(netlist: &Netlist, cells: Vec<CellId>, short: i64) -> Self {
        let names = cells.iter().map(|cell| netlist.cells[*cell].name.clone()).collect();
        StartError::Loop { cells, names, short }
    }
}
