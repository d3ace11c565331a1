//! Placements as text.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use index_vec::IndexVec;
use pushmem_bitstream::TileName;
use pushmem_fabric::{ArraySpec, Direction, Place};
use pushmem_files::{Code, Diagnostic, Document, Fault, FieldPath, nearest};
use pushmem_netlist::{CellId, Core, Netlist};
use serde::Deserialize;

use crate::placement::Placement;
use crate::slots::Class;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlacementFile {
    netlist: String,
    array: String,
    places: BTreeMap<String, String>,
}

impl Placement {
    /// The placement as YAML, cell by cell. Reading it for the same netlist gives the same placement.
    pub fn to_yaml(&self, netlist: &Netlist, spec: &ArraySpec) -> String {
        let mut text = format!("netlist: {}\narray: {}\nplaces:", netlist.name, spec.name);
        text += if self.places.is_empty() { " {}\n" } else { "\n" };
        for (cell, place) in self.places.iter_enumerated() {
            let kind = netlist.cells[cell].core.kind();
            let name = &netlist.cells[cell].name;
            writeln!(text, "  {name}: {}", TileName { kind, place: *place }).expect("writing to a string cannot fail");
        }
        text
    }

    /// Whether a placement has the cells of a netlist, no others, and a tile for each.
    pub fn is_of(document: &Document, netlist: &Netlist) -> bool {
        let names: BTreeSet<&String> = netlist.cells.iter().map(|cell| &cell.name).collect();
        document.deserialize().is_ok_and(|file: PlacementFile| file.places.keys().eq(names))
    }

    /// Reads the placement of a netlist on an array, and checks it.
    ///
    /// # Errors
    /// A located message when a name is unknown, a cell has no place, or [`Placement::check`] finds a fault.
    pub fn from_document(document: &Document, netlist: &Netlist, spec: &ArraySpec) -> Result<Self, Diagnostic> {
        let file: PlacementFile = document.deserialize()?;
        let placement =
            placement(&file, netlist, spec).map_err(|fault| fault.located(document, Code::Configuration))?;
        placement.check(netlist, spec).map_err(|fault| fault.located(document, Code::Configuration))?;
        Ok(placement)
    }

    /// Checks that each cell is on a tile of its kind, and alone there but for an input and an output on an IO tile, or a memory and a
    /// predicate on a MEM tile.
    ///
    /// # Errors
    /// The first cell for which that is not so.
    pub fn check(&self, netlist: &Netlist, spec: &ArraySpec) -> Result<(), Fault> {
        let mut taken: HashMap<(Place, u32), CellId> = HashMap::new();
        for (cell, place) in self.places.iter_enumerated() {
            let name = &netlist.cells[cell].name;
            let path = FieldPath::root().key("places").key(name);
            let core = &netlist.cells[cell].core;
            if spec.kind(*place) != Some(core.kind()) {
                let message = format!("`{name}` needs a tile of another kind");
                let help = format!("choose one whose name begins with `{}`", core.kind().name());
                return Err(Fault::new(path, message, help));
            }
            let direction = Class::of(core).direction();
            if let Some(direction) = direction.filter(|direction| !spec.has_stream(place.column, *direction)) {
                let transfer = direction.transfer();
                let message = format!("no bank of `{}` can {transfer} the stream of `{name}` there", spec.name);
                let columns = (0..spec.columns).filter(|column| spec.has_stream(*column, direction));
                let tiles = columns.map(|column| format!("io_{column}_0")).collect::<Vec<_>>().join(", ");
                return Err(Fault::new(path, message, format!("banks {transfer} the streams of {tiles}")));
            }
            let gives_bit = core.predicate().is_some().then_some(Class::Predicate);
            let classes = [Some(Class::of(core)), gives_bit.filter(|_| matches!(core, Core::Memory(_)))];
            for class in classes.into_iter().flatten() {
                if let Some(other) = taken.insert((*place, class as u32), cell) {
                    let message = format!("this tile is that of `{}`", netlist.cells[other].name);
                    let help =
                        "a tile takes one cell; an IO tile an input and an output, a MEM tile a memory and a predicate";
                    return Err(Fault::new(path, message, help));
                }
            }
        }
        for bank in &netlist.banks {
            let number = |cell: CellId, direction: Direction| {
                spec.global_buffer.as_ref().and_then(|buffer| buffer.bank(self.places[cell].column, direction))
            };
            let (load, store) = (number(bank.load, Direction::In), number(bank.store, Direction::Out));
            if load != store {
                let path = FieldPath::root().key("places").key(&netlist.cells[bank.load].name);
                let message = format!("`{}` is stored in another bank than it is loaded from", bank.name);
                return Err(Fault::new(path, message, "place both streams at the columns of one bank"));
            }
        }
        Ok(())
    }
}

fn placement(file: &PlacementFile, netlist: &Netlist, spec: &ArraySpec) -> Result<Placement, Fault> {
    let root = FieldPath::root();
    for (key, found, wanted) in [("netlist", &file.netlist, &netlist.name), ("array", &file.array, &spec.name)] {
        if found != wanted {
            let message = format!("this placement is for `{found}`, not for `{wanted}`");
            return Err(Fault::new(root.key(key), message, "read it together with the files that it was made for"));
        }
    }
    let cells: HashMap<&str, CellId> =
        netlist.cells.iter_enumerated().map(|(id, cell)| (cell.name.as_str(), id)).collect();
    let mut places: IndexVec<CellId, Option<Place>> = netlist.cells.iter().map(|_| None).collect();
    for (name, tile) in &file.places {
        let path = root.key("places").key(name);
        let Some(cell) = cells.get(name.as_str()) else {
            let near = nearest(name, cells.keys().copied());
            let help = near.map_or("name a cell of the netlist".to_owned(), |near| format!("did you mean `{near}`?"));
            return Err(Fault::new(path, format!("the netlist has no cell `{name}`"), help));
        };
        let found = TileName::parse(tile).filter(|found| spec.kind(found.place) == Some(found.kind));
        let Some(found) = found else {
            let help = "tiles are named by kind, column and row, as `pe_0_1`; row 0 is that of IO tiles";
            return Err(Fault::new(path, format!("`{}` has no tile `{tile}`", spec.name), help));
        };
        places[*cell] = Some(found.place);
    }
    let placed = places.into_iter_enumerated().map(|(cell, place)| {
        place.ok_or_else(|| {
            let message = format!("`{}` has no place", netlist.cells[cell].name);
            Fault::new(root.key("places"), message, "add a line with its tile")
        })
    });
    Ok(Placement { places: placed.collect::<Result<_, _>>()? })
}
