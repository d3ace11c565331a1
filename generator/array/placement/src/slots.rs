//! Places that cells of a kind can take.

use index_vec::IndexVec;
use pushmem_fabric::{ArraySpec, Direction, Place, TileKind};
use pushmem_netlist::{CellId, Core, Netlist};

/// A kind of slot. An IO tile has one for an input and one for an output, a MEM tile one for a memory and one for a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Pe,
    Memory,
    Predicate,
    Input,
    Output,
}

impl Class {
    pub const ALL: [Class; 5] = [Class::Pe, Class::Memory, Class::Predicate, Class::Input, Class::Output];

    pub fn of(core: &Core) -> Self {
        match core {
            Core::Pe(_) => Class::Pe,
            Core::Memory(_) => Class::Memory,
            Core::Predicate(_) => Class::Predicate,
            Core::Input => Class::Input,
            Core::Output => Class::Output,
        }
    }

    /// The direction of the stream, of an input or an output.
    pub fn direction(self) -> Option<Direction> {
        match self {
            Class::Input => Some(Direction::In),
            Class::Output => Some(Direction::Out),
            Class::Pe | Class::Memory | Class::Predicate => None,
        }
    }

    fn kind(self) -> TileKind {
        match self {
            Class::Pe => TileKind::Pe,
            Class::Memory | Class::Predicate => TileKind::Memory,
            Class::Input | Class::Output => TileKind::Io,
        }
    }
}

/// The slots of a class, column by column, and the cells in them.
#[derive(Clone, Debug)]
pub struct Slots {
    /// The columns that have them.
    columns: Vec<u32>,
    /// The first row, and the number of rows.
    first_row: u32,
    rows: u32,
    /// The cell in each slot.
    cells: Vec<Option<CellId>>,
}

impl Slots {
    pub fn of(spec: &ArraySpec, class: Class) -> Self {
        let kind = class.kind();
        let (first_row, rows) = if kind == TileKind::Io { (0, 1) } else { (1, spec.rows) };
        let has = |column: u32| match class.direction() {
            Some(direction) => spec.has_stream(column, direction),
            None => spec.kind_of_column(column) == kind,
        };
        let columns: Vec<u32> = (0..spec.columns).filter(|column| has(*column)).collect();
        let cells = vec![None; columns.len() * rows as usize];
        Slots { columns, first_row, rows, cells }
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn place(&self, slot: usize) -> Place {
        let (column, row) = (slot / self.rows as usize, slot % self.rows as usize);
        Place { row: self.first_row + row as u32, column: self.columns[column] }
    }

    /// The slot at a place.
    pub fn slot(&self, place: Place) -> usize {
        let column = self.columns.partition_point(|column| *column < place.column);
        self.at(column, (place.row - self.first_row) as usize)
    }

    pub fn cell(&self, slot: usize) -> Option<CellId> {
        self.cells[slot]
    }

    pub fn put(&mut self, slot: usize, cell: Option<CellId>) {
        self.cells[slot] = cell;
    }

    /// The slots that are not further from a place than `range` columns and rows, as ranges of the indices of columns and rows.
    pub fn near(&self, place: Place, range: u32) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let first = self.columns.partition_point(|column| *column + range < place.column);
        let end = self.columns.partition_point(|column| *column <= place.column + range);
        let row = place.row.saturating_sub(self.first_row);
        let rows = row.saturating_sub(range) as usize..(row + range + 1).min(self.rows) as usize;
        // A range between two columns has the nearest of them.
        let first = first.min(self.columns.len().saturating_sub(1));
        (first..end.max(first + 1), rows)
    }

    /// The slot at the index of a column and a row.
    pub fn at(&self, column: usize, row: usize) -> usize {
        column * self.rows as usize + row
    }
}

/// The slot of each cell of a class, by cell.
pub type SlotOf = IndexVec<CellId, usize>;

/// The class of each cell.
pub fn classes(netlist: &Netlist) -> IndexVec<CellId, Class> {
    netlist.cells.iter().map(|cell| Class::of(&cell.core)).collect()
}
