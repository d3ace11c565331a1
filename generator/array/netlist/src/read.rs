//! Netlists from text.

use std::collections::{BTreeMap, HashMap};

use pushmem_configuration::{Configuration as MemoryConfiguration, ControllerConfiguration};
use pushmem_fabric::{ArraySpec, Layer, TileKind};
use pushmem_files::{Code, Diagnostic, Document, Fault, FieldPath, nearest};
use pushmem_pe::{Mode, Operand, Operation, PeConfiguration};
use pushmem_resources::{CorePort, TileLayout};
use serde::Deserialize;

use crate::netlist::{BankCells, Cell, CellId, Core, Net, Netlist, Sink};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NetlistFile {
    netlist: String,
    array: String,
    cells: Vec<CellFile>,
    nets: Vec<NetFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CellFile {
    name: String,
    stream: Option<StreamName>,
    /// The bank of a global buffer that stores or loads the stream.
    bank: Option<String>,
    memory: Option<MemoryConfiguration>,
    predicate: Option<ControllerConfiguration>,
    operation: Option<Operation>,
    #[serde(default)]
    constants: BTreeMap<String, u32>,
    #[serde(default)]
    modes: BTreeMap<String, ModeName>,
    lut: Option<u8>,
}

/// The mode of a word, where it is not the one that a net or its absence asks for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ModeName {
    Held,
    Accumulated,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StreamName {
    Input,
    Output,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NetFile {
    layer: Layer,
    from: String,
    to: Vec<SinkFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SinkFile {
    input: String,
    #[serde(default)]
    cycles: i64,
}

impl Netlist {
    /// Reads a netlist for an array, as [`Netlist::to_yaml`] prints it, and checks it.
    ///
    /// # Errors
    /// A located message when a key or a name is unknown, or [`Netlist::check`] finds a fault.
    pub fn from_document(document: &Document, spec: &ArraySpec) -> Result<Self, Diagnostic> {
        let file: NetlistFile = document.deserialize()?;
        let located = |fault: Fault| fault.located(document, Code::Configuration);
        let reader = Reader { layouts: TileKind::ALL.map(|kind| TileLayout::of(spec, kind)) };
        if file.array != spec.name {
            let message = format!("this netlist is for `{}`, not for `{}`", file.array, spec.name);
            let help = "name the array that it was made for";
            return Err(located(Fault::new(FieldPath::root().key("array"), message, help)));
        }
        let netlist = reader.netlist(file).map_err(located)?;
        netlist.check(spec).map_err(located)?;
        Ok(netlist)
    }
}

struct Reader {
    layouts: [TileLayout; 3],
}

impl Reader {
    fn netlist(&self, file: NetlistFile) -> Result<Netlist, Fault> {
        let mut netlist = Netlist { name: file.netlist, ..Netlist::default() };
        let mut of_banks: BTreeMap<String, Vec<CellId>> = BTreeMap::new();
        for (mut cell, place) in file.cells.into_iter().zip(0..) {
            let path = FieldPath::root().key("cells").index(place);
            if let Some(bank) = cell.bank.take() {
                of_banks.entry(bank).or_default().push(CellId::from(place));
            }
            netlist.cells.push(self.cell(&path, cell)?);
        }
        for (name, cells) in of_banks {
            let find = |core: Core| cells.iter().copied().find(|cell| netlist.cells[*cell].core == core);
            let (Some(load), Some(store), 2) = (find(Core::Input), find(Core::Output), cells.len()) else {
                let path = FieldPath::root().key("cells").index(cells[0].index()).key("bank");
                let message = format!("the bank `{name}` has {} cells", cells.len());
                return Err(Fault::new(
                    path,
                    message,
                    "give it two: one with `stream: input` and one with `stream: output`",
                ));
            };
            netlist.banks.push(BankCells { name, load, store });
        }
        netlist.banks.sort_by_key(|bank| bank.load);
        let cells: HashMap<String, CellId> =
            netlist.cells.iter_enumerated().map(|(id, cell)| (cell.name.clone(), id)).collect();
        let ports = Ports { reader: self, netlist: &netlist, cells };
        let mut nets = Vec::new();
        let mut direct = Vec::new();
        for (net, place) in file.nets.into_iter().zip(0..) {
            let path = FieldPath::root().key("nets").index(place);
            let layer = net.layer;
            let (source, port) = ports.port(&path.key("from"), &net.from, |layout| layout.cell_outputs(layer))?;
            let mut sinks = Vec::new();
            for (sink, place) in net.to.into_iter().zip(0..) {
                let path = path.key("to").index(place).key("input");
                let (cell, port) = ports.port(&path, &sink.input, |layout| layout.cell_inputs(layer))?;
                sinks.push(Sink { cell, port, cycles: sink.cycles });
                direct.push((cell, layer, port, path));
            }
            nets.push(Net { layer, source, port, sinks });
        }
        netlist.nets = nets.into_iter().collect();
        for (cell, layer, port, path) in direct {
            let Core::Pe(pe) = &mut netlist.cells[cell].core else { continue };
            let is_constant = match layer {
                Layer::Word => drive(&mut pe.words[port as usize]),
                Layer::Bit => drive(&mut pe.bits[port as usize]),
            };
            if is_constant {
                let message = format!("this operand of `{}` is a constant", netlist.cells[cell].name);
                return Err(Fault::new(path, message, "remove the constant, or this sink"));
            }
        }
        Ok(netlist)
    }

    fn cell(&self, path: &FieldPath, file: CellFile) -> Result<Cell, Fault> {
        let CellFile { name, stream, memory, predicate, operation, constants, modes, lut, .. } = file;
        let of_operation = [("lut", lut.is_some()), ("constants", !constants.is_empty()), ("modes", !modes.is_empty())];
        if operation.is_none()
            && let Some((key, _)) = of_operation.into_iter().find(|(_, is_given)| *is_given)
        {
            return Err(Fault::new(path.key(key), format!("`{name}` has no operation"), "remove this, or give one"));
        }
        let core = match (stream, memory, predicate, operation) {
            (Some(StreamName::Input), None, None, None) => Core::Input,
            (Some(StreamName::Output), None, None, None) => Core::Output,
            (None, Some(memory), None, None) => Core::Memory(memory),
            (None, None, Some(predicate), None) => Core::Predicate(predicate),
            (None, None, None, Some(operation)) => Core::Pe(self.element(path, operation, constants, modes, lut)?),
            _ => {
                let message = format!("`{name}` needs one of `stream`, `memory`, `predicate` and `operation`");
                return Err(Fault::new(
                    path.clone(),
                    message,
                    "a cell is a stream, a memory, a predicate or an operation",
                ));
            }
        };
        Ok(Cell { name, core })
    }

    fn element(
        &self,
        path: &FieldPath,
        operation: Operation,
        constants: BTreeMap<String, u32>,
        modes: BTreeMap<String, ModeName>,
        lut: Option<u8>,
    ) -> Result<PeConfiguration, Fault> {
        let mut words = [Operand { mode: Mode::Constant, constant: 0 }; 3];
        let mut bits = [Operand { mode: Mode::Constant, constant: false }; 3];
        let layout = &self.layouts[TileKind::Pe as usize];
        let place = |layer: Layer, name: &str| layout.cell_inputs(layer).iter().position(|port| port.name == name);
        for (name, constant) in constants {
            let path = path.key("constants").key(&name);
            match (place(Layer::Word, &name), place(Layer::Bit, &name)) {
                (Some(place), _) => words[place].constant = constant,
                (None, Some(place)) if constant < 2 => bits[place].constant = constant == 1,
                (None, Some(_)) => return Err(Fault::new(path, "a bit is 0 or 1", "give one of the two")),
                (None, None) => {
                    let names = Layer::ALL.into_iter().flat_map(|layer| layout.cell_inputs(layer));
                    return Err(unknown(path, "operand", &name, names));
                }
            }
        }
        for (name, mode) in modes {
            let Some(place) = place(Layer::Word, &name) else {
                return Err(unknown(path.key("modes").key(&name), "word", &name, layout.inputs(Layer::Word).iter()));
            };
            words[place].mode = match mode {
                ModeName::Held => Mode::Held,
                ModeName::Accumulated => Mode::Accumulated,
            };
        }
        Ok(PeConfiguration { operation, words, bits, lut })
    }
}

/// Makes an operand take its net, unless it has another mode; whether it was another constant than 0.
fn drive<Value: Default + PartialEq>(operand: &mut Operand<Value>) -> bool {
    if operand.mode == Mode::Constant {
        operand.mode = Mode::Direct;
    }
    operand.constant != Value::default()
}

/// Names of ports.
struct Ports<'a> {
    reader: &'a Reader,
    netlist: &'a Netlist,
    cells: HashMap<String, CellId>,
}

impl Ports<'_> {
    /// The port of a name, as `add_3.a`.
    fn port<'a>(
        &'a self,
        path: &FieldPath,
        text: &str,
        ports: impl Fn(&'a TileLayout) -> &'a [CorePort],
    ) -> Result<(CellId, u32), Fault> {
        let Some((cell, port)) = text.split_once('.') else {
            return Err(Fault::new(path.clone(), "expected a cell and a port", "write them as `add_3.a`"));
        };
        let Some(id) = self.cells.get(cell) else {
            let near = nearest(cell, self.cells.keys().map(String::as_str));
            let help = near.map_or("name one of `cells`".to_owned(), |near| format!("did you mean `{near}`?"));
            return Err(Fault::new(path.clone(), format!("there is no cell `{cell}`"), help));
        };
        let ports = ports(&self.reader.layouts[self.netlist.cells[*id].core.kind() as usize]);
        match ports.iter().position(|other| other.name == port) {
            Some(port) => Ok((*id, port as u32)),
            None => Err(unknown(path.clone(), "port", port, ports.iter())),
        }
    }
}

fn unknown<'a>(path: FieldPath, what: &str, name: &str, ports: impl Iterator<Item = &'a CorePort>) -> Fault {
    let names: Vec<&str> = ports.map(|port| port.name.as_str()).collect();
    let help = match names.as_slice() {
        [] => "the cell has none of this layer".to_owned(),
        names => format!("there are {}", names.join(", ")),
    };
    Fault::new(path, format!("there is no {what} `{name}` here"), help)
}
