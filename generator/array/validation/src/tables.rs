//! Tables as random functions of all their words.
//!
//! Indices are tokens, so that those of a run find a few entries of a table only, and mostly none that is loaded. So each address has
//! a token of all the contents in place of its word: a table with one wrong word differs wherever it is looked up.

use pushmem_cells::{Cells, Table};
use pushmem_nest::Program;
use pushmem_netlist::{Core, Netlist};
use pushmem_pe::Tokens;
use pushmem_tile::{Role, TileSpec};

/// The token at an address of a memory with the contents of this token.
fn entry(tokens: Tokens, contents: u64, address: u32) -> u64 {
    tokens.token(("entry", contents, address))
}

/// The token of the contents of a memory.
fn token(tokens: Tokens, contents: &[u64]) -> u64 {
    tokens.token(("contents", contents))
}

/// A netlist in which memories that are looked up have tokens in place of their contents, at all their addresses. Other contents are
/// sequences of numbers, such as the values of loop variables, which stay as they are; only addresses behind them have tokens.
pub(crate) fn with_tokens(netlist: &Netlist, spec: Option<&TileSpec>, tokens: Tokens) -> Netlist {
    let mut netlist = netlist.clone();
    let Some(spec) = spec else { return netlist };
    let words = spec.table_words().unwrap_or(0);
    let lookups: Vec<String> =
        spec.controllers().into_iter().filter(|of| of.role == Role::Rom2Out).map(|of| of.name).collect();
    for cell in &mut netlist.cells {
        if let Core::Memory(memory) = &mut cell.core
            && !memory.contents.is_empty()
        {
            let contents = token(tokens, &memory.contents);
            if lookups.iter().any(|controller| memory.controllers.contains_key(controller)) {
                memory.contents.clear();
            }
            let first = memory.contents.len() as u32;
            memory.contents.extend((first..words).map(|address| entry(tokens, contents, address)));
        }
    }
    netlist
}

/// The tables of the cells of an operation.
pub(crate) struct Tables {
    tokens: Tokens,
    /// Words of a memory: indices wrap at its end.
    words: u64,
    /// The token of each table of the program, of the high words of each, and of each that selection made.
    of_program: Vec<u64>,
    high: Vec<u64>,
    of_selection: Vec<u64>,
}

impl Tables {
    pub(crate) fn of(program: &Program, cells: &Cells, memory: Option<&TileSpec>, tokens: Tokens) -> Self {
        let row_words = memory.map_or(1, |tile| tile.kind.row_words() as usize);
        // The rest of a table's last row is 0.
        let loaded = |values: &[i64]| {
            let mut words: Vec<u64> = values.iter().map(|value| u64::from(*value as u16)).collect();
            words.resize(words.len().next_multiple_of(row_words), 0);
            token(tokens, &words)
        };
        let of = |table: Table| loaded(&cells.contents(program, table));
        Tables {
            tokens,
            words: memory.and_then(TileSpec::content_words).unwrap_or(1).into(),
            of_program: (0..program.tables.len()).map(|table| of(Table::Program(table))).collect(),
            high: (0..program.tables.len()).map(|table| of(Table::High(table))).collect(),
            of_selection: (0..cells.tables.len()).map(|table| of(Table::Selected(table))).collect(),
        }
    }

    /// The token of an entry.
    pub(crate) fn entry(&self, table: Table, index: u64) -> u64 {
        let contents = match table {
            Table::Program(table) => self.of_program[table],
            Table::High(table) => self.high[table],
            Table::Selected(table) => self.of_selection[table],
        };
        entry(self.tokens, contents, (index % self.words) as u32)
    }
}
