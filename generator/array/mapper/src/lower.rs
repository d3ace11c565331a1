//! From an application graph to a netlist.

mod accumulators;
mod elements;
mod holds;
mod merge;
mod passing;
mod repeats;
mod units;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use index_vec::IndexVec;
use itertools::Itertools;
use pushmem_compiler::Compiled;
use pushmem_configuration::{Configuration as MemoryConfiguration, ControllerConfiguration};
use pushmem_fabric::{ArraySpec, Layer, TileKind};
use pushmem_files::Diagnostic;
use pushmem_graph::{
    ApplicationGraph, BitDriver, BitId, Choice, Counter, Edge, KernelId, KernelNode, MemoryTile, Storage, TileId,
    TileInput, TileOutput, UnitNode, Variable, WordDriver, WordId,
};
use pushmem_kernels::{ArrayRanges, Datapath, DatapathGraph};
use pushmem_nest::{Level, Program};
use pushmem_netlist::{BankCells, Cell, CellId, Core, Net, Netlist, Port, Sink};
use pushmem_pe::{Mode, Operation, PeSpec};
use pushmem_placement::check_capacity;
use pushmem_selection::{
    Bit, BitSource, Cell as PeCell, Cells, Fetch, Predicate, Refused, Sequence, Table, TableTiles, Word, select,
};
use pushmem_tile::{Role, timing};

use crate::feedback;
use crate::predicates::{Chosen, Firings};
use elements::{element, passing_words};
use holds::HoldCell;
use repeats::{Repeat, repeats};
use units::{Units, groups};

/// The most cycles by which a bit of loop indices is later than another that is the same: so few registers of a track of bits are less
/// than a controller.
const PREDICATE_DELAY: i64 = 4;

/// A program as a netlist, and the cells of its streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// The cells of each operation of the program.
    pub operations: Vec<Cells>,
    /// The cells and nets.
    pub netlist: Netlist,
    /// For each lane of each input stream its cell.
    pub inputs: Vec<Vec<CellId>>,
    /// For each lane of each output stream its cell.
    pub outputs: Vec<Vec<CellId>>,
    /// The memory tile of the graph that each bank of the netlist is.
    pub banks: Vec<TileId>,
    /// The cells of the kernels of each stage.
    pub stages: Vec<Stage>,
}

/// The cells of a stage: of the kernels that compute an operation of the program, with their tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The name of the operation.
    pub name: String,
    /// Its first cycle in the schedule.
    pub first_cycle: i64,
    /// Its last cycle in the schedule.
    pub last_cycle: i64,
    /// The cells.
    pub cells: Vec<CellId>,
}

/// A word in the time of the schedule: the output of a cell some cycles ago, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Constant(u16),
    Delayed { of: Port, cycles: i64 },
}

impl Signal {
    /// The word of a cell.
    fn word(cell: CellId, port: u32) -> Self {
        Signal::Delayed { of: Port { cell, layer: Layer::Word, port }, cycles: 0 }
    }

    /// The signal so many cycles ago.
    fn ago(self, by: i64) -> Self {
        match self {
            Signal::Constant(_) => self,
            Signal::Delayed { of, cycles } => Signal::Delayed { of, cycles: cycles + by },
        }
    }
}

/// Whether kernels that share a unit in hardware of their own share cells on an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// They do, where that takes fewer elements than cells of their own.
    Shared,
    /// Each has cells of its own: loops go through no choice of operands.
    Apart,
}

/// Makes the netlist of a program that was compiled with the array's memory tile.
///
/// # Errors
/// When the array cannot compute an operation, or has no part that the program needs: the place in the program, and why.
pub fn lower(compiled: &Compiled, spec: &ArraySpec, sharing: Sharing) -> Result<Lowered, Diagnostic> {
    let tables = table_tiles(spec);
    let lowered = lower_with(compiled, spec, sharing, tables)?;
    // Tables of reciprocals save elements. They are none where the tiles that are left cannot be them.
    let has_own = lowered.operations.iter().any(|cells| !cells.tables.is_empty());
    let fits = |lowered: &Lowered| check_capacity(&lowered.netlist, spec).is_ok() && tables_have_levels(lowered, spec);
    if !has_own || fits(&lowered) {
        return Ok(lowered);
    }
    let without = lower_with(compiled, spec, sharing, None)?;
    Ok(if fits(&without) { without } else { lowered })
}

/// The memory tiles of an array as tables. A tile is worth the elements that the array has for each.
fn table_tiles(spec: &ArraySpec) -> Option<TableTiles> {
    let words = spec.memory.as_ref()?.tile.table_words()?;
    let elements = spec.count(TileKind::Pe) / spec.count(TileKind::Memory).max(1);
    Some(TableTiles { words, elements })
}

/// Whether the controllers of tables have as many levels as the loops around the look-ups.
fn tables_have_levels(lowered: &Lowered, spec: &ArraySpec) -> bool {
    let controllers = spec.memory.as_ref().map(|memory| memory.tile.controllers()).unwrap_or_default();
    let levels = |role: Role| controllers.iter().find(|of| of.role == role).map(|of| (of.name.clone(), of.levels));
    let Some((name, levels)) = levels(Role::Rom2Out) else { return true };
    let fits = |cell: &Cell| match &cell.core {
        Core::Memory(memory) => memory.controllers.get(&name).is_none_or(|of| of.extent.len() <= levels as usize),
        _ => true,
    };
    lowered.netlist.cells.iter().all(fits)
}

/// The same with these memory tiles as tables of reciprocals, if there are some.
fn lower_with(
    compiled: &Compiled,
    spec: &ArraySpec,
    sharing: Sharing,
    tables: Option<TableTiles>,
) -> Result<Lowered, Diagnostic> {
    let operations = select_all(compiled, &spec.pe, tables)?;
    check_memories(&compiled.storage, spec)?;
    check_tables(&compiled.program, &operations, spec)?;
    check_predicates(compiled, &operations, spec)?;
    let lowered = |shared: &[&UnitNode], repeats: &[Repeat]| {
        let units = Units::of(compiled, spec, shared.to_vec());
        let parts = lowering(compiled, spec, &operations, units, repeats).run();
        let Parts { netlist, inputs, outputs, banks, stages } = parts;
        Lowered { operations: operations.clone(), netlist, inputs, outputs, banks, stages }
    };
    let elements = table_tiles(spec).map_or(1, |tiles| tiles.elements as usize);
    let cost = |of: &Lowered| of.netlist.count(TileKind::Pe) + elements * of.netlist.count(TileKind::Memory);
    let mut shared = Vec::new();
    let mut best = lowered(&shared, &[]);
    let groups = if sharing == Sharing::Shared { groups(compiled, &operations, spec) } else { Vec::new() };
    for group in groups {
        let with = [&shared[..], &group].concat();
        let found = lowered(&with, &[]);
        if cost(&found) < cost(&best) {
            (shared, best) = (with, found);
        }
    }
    // A memory that takes the place of no other costs more than it saves.
    let repeats = spec.memory.as_ref().map_or_else(Vec::new, |memory| repeats(compiled, &memory.tile));
    if !repeats.is_empty() {
        let repeating = lowered(&shared, &repeats);
        if cost(&repeating) < cost(&best) {
            best = repeating;
        }
    }
    Ok(best)
}

/// The lowering of a program with these cells of its operations, these units, and these memories in place of selections.
fn lowering<'a>(
    compiled: &'a Compiled,
    spec: &'a ArraySpec,
    operations: &'a [Cells],
    units: Units<'a>,
    repeats: &[Repeat],
) -> Lowering<'a> {
    Lowering {
        program: &compiled.program,
        datapaths: &compiled.datapaths,
        graph: &compiled.graph,
        storage: &compiled.storage,
        delayed: compiled.storage.delayed(),
        first_of_unit: first_of_unit(&compiled.program),
        spec,
        selected: operations,
        netlist: Netlist { name: compiled.program.name.clone(), ..Netlist::default() },
        names: lane_names(&compiled.graph).collect(),
        nets: BTreeMap::new(),
        kernels: IndexVec::new(),
        tables: IndexVec::new(),
        selections: BTreeMap::new(),
        units,
        turns: BTreeMap::new(),
        origins: Vec::new(),
        repeats: repeats.iter().map(|repeat| (repeat.selection, repeat.clone())).collect(),
        repeating: BTreeMap::new(),
        holds: BTreeMap::new(),
        hold_cells: Vec::new(),
        enables: BTreeMap::new(),
        inputs: Vec::new(),
        tiles: IndexVec::new(),
        banks: Vec::new(),
        outputs: BTreeMap::new(),
        predicates: Vec::new(),
        sequences: IndexVec::new(),
        memories_of_sequences: Vec::new(),
        constants: BTreeMap::new(),
    }
}

/// The cells of each operation.
fn select_all(compiled: &Compiled, pe: &PeSpec, tables: Option<TableTiles>) -> Result<Vec<Cells>, Diagnostic> {
    let program = &compiled.program;
    let selected = |(graph, arrivals): (DatapathGraph, Vec<u64>)| {
        let refused = |why: Refused| {
            let help = "choose an array whose `pe` has it, or build a dedicated accelerator, without `--array`";
            program.diagnostic(graph.operation().span, why.to_string()).with_help(help)
        };
        select(&graph, pe, tables, arrivals).map_err(refused)
    };
    let graphs = DatapathGraph::all_within(program, ArrayRanges::of_operations(program));
    graphs.zip(feedback::arrivals(compiled)).map(selected).collect()
}

/// Checks that all memories of a program are memory tiles of the array, and that they can be joined.
fn check_memories(storage: &Storage, spec: &ArraySpec) -> Result<(), Diagnostic> {
    let chained = storage.tiles.iter().find(|tile| tile.chain_from.is_some());
    if let Some(tile) = chained.filter(|_| spec.pe.opcode(Operation::Or).is_none()) {
        let message = format!("`{}` is one of several tiles of a memory, which operations `or` join", tile.name);
        return Err(Diagnostic::new(message).with_help("choose an array whose `pe` has it"));
    }
    Ok(())
}

/// Checks that memory tiles can be the tables that operations look up.
fn check_tables(program: &Program, operations: &[Cells], spec: &ArraySpec) -> Result<(), Diagnostic> {
    let memory = spec.memory.as_ref().map(|memory| &memory.tile);
    for fetch in operations.iter().flat_map(|cells| &cells.fetches) {
        // Selection makes tables that tiles can hold.
        let (Table::Program(table) | Table::High(table)) = fetch.table else { continue };
        let table = &program.tables[table];
        let refused = |message: String, help: &str| Err(program.diagnostic(table.span, message).with_help(help));
        match memory.and_then(|tile| tile.table_words().map(|words| (tile, words))) {
            None => {
                let message = format!("memory tiles of `{}` have no contents of their own for this table", spec.name);
                return refused(
                    message,
                    "choose an array whose memory tile has `rom_mode`, or pass the table in as an input",
                );
            }
            Some((tile, words)) if table.values.len() > words as usize => {
                let entries = table.values.len();
                let message = format!("{entries} entries, but `{}` holds {words} words", tile.name);
                return refused(message, "choose a tile with more `rows`, or divide the table");
            }
            Some(_) => {}
        }
    }
    let nests = program.operations();
    for (operation, cells) in operations.iter().enumerate() {
        let (loops, of) = &nests[operation];
        for sequence in &cells.sequences {
            let (name, values) = (&loops[sequence.variable].variable, sequence.words.len());
            let help = "pass the values in as an input";
            match memory.and_then(|tile| tile.table_words()) {
                Some(words) if values <= words as usize => {}
                Some(words) => {
                    let message = format!(
                        "a function of `{name}` has {values} words, and memory tiles of `{}` hold {words}",
                        spec.name
                    );
                    return Err(program.diagnostic(of.span, message).with_help(help));
                }
                None => {
                    let message = format!(
                        "the value of `{name}` is an operand, and memory tiles of `{}` have no contents of their own to give it",
                        spec.name
                    );
                    let help = format!("choose an array whose memory tile has `rom_mode`, or {help}");
                    return Err(program.diagnostic(of.span, message).with_help(help));
                }
            }
        }
    }
    Ok(())
}

/// Checks that memory tiles can give the bits of loop indices.
fn check_predicates(compiled: &Compiled, operations: &[Cells], spec: &ArraySpec) -> Result<(), Diagnostic> {
    let Some(memory) = spec.memory.as_ref().map(|memory| &memory.tile).filter(|tile| !tile.stencil_valid) else {
        return Ok(());
    };
    let graph = &compiled.graph;
    let chooses = |driver: &WordDriver| matches!(driver, WordDriver::Select(choices) if choices.len() > 1 && !is_by_turns(graph, choices));
    let refused = |message: String| {
        let message = format!("{message}, and memory tiles of `{}` have no controller for such bits", spec.name);
        Diagnostic::new(message).with_help(format!("set `stencil_valid: true` in the tile `{}`", memory.name))
    };
    let program = &compiled.program;
    if let Some(number) = operations.iter().position(|cells| !cells.predicates.is_empty()) {
        let name = name_of_operation(program, number);
        return Err(refused(format!("`{name}` of `{}` chooses by loop indices", program.name)));
    }
    if let Some(net) = graph.words.iter().find(|net| chooses(&net.driver)) {
        return Err(refused(format!("`{}` of `{}` chooses by loop indices", net.name, program.name)));
    }
    if let Some(net) = graph.words.iter().find(|net| matches!(net.driver, WordDriver::Hold(_))) {
        return Err(refused(format!("`{}` of `{}` takes words by loop indices", net.name, program.name)));
    }
    Ok(())
}

/// The result of a lowering.
struct Parts {
    netlist: Netlist,
    inputs: Vec<Vec<CellId>>,
    outputs: Vec<Vec<CellId>>,
    banks: Vec<TileId>,
    stages: Vec<Stage>,
}

/// The cells of a memory: a memory tile, or the streams of a bank.
#[derive(Clone, Copy)]
struct MemoryCells {
    /// The cell that reads the words that it stores.
    writes: CellId,
    /// The cell that has its words.
    reads: CellId,
}

struct Lowering<'a> {
    program: &'a Program,
    /// The datapath of each operation.
    datapaths: &'a [Datapath],
    graph: &'a ApplicationGraph,
    storage: &'a Storage,
    /// The output of a memory tile that shows a net some cycles ago.
    delayed: BTreeMap<(WordId, u64), TileOutput>,
    /// For each operation the first of its unit, whose cells all of them have.
    first_of_unit: Vec<usize>,
    spec: &'a ArraySpec,
    /// The cells of each operation.
    selected: &'a [Cells],
    netlist: Netlist,
    /// The names of cells.
    names: HashSet<String>,
    /// The sinks of each output.
    nets: BTreeMap<Port, Vec<Sink>>,
    /// The cells of each kernel.
    kernels: IndexVec<KernelId, Vec<CellId>>,
    /// The tables of each kernel, in the order of its look-ups.
    tables: IndexVec<KernelId, Vec<CellId>>,
    /// The cells of each net that is a selection, of all its cases but the last.
    selections: BTreeMap<WordId, Vec<CellId>>,
    /// The kernels that are one set of cells.
    units: Units<'a>,
    /// The cells that choose an operand of a unit, which it takes so many cycles after the begin of an iteration.
    turns: BTreeMap<(WordId, i64), Vec<CellId>>,
    /// The cells that choose where held operands of units come from, by the number of the origin.
    origins: Vec<Vec<CellId>>,
    /// The memories in place of selections, and their cells.
    repeats: BTreeMap<WordId, Repeat>,
    repeating: BTreeMap<WordId, CellId>,
    /// The cell of each net that is a hold register, and those that hold words.
    holds: BTreeMap<WordId, CellId>,
    hold_cells: Vec<HoldCell>,
    /// When the held operand of a cell takes a word: in the cycles of any of these schedules.
    enables: BTreeMap<CellId, Vec<ControllerConfiguration>>,
    inputs: Vec<Vec<CellId>>,
    tiles: IndexVec<TileId, MemoryCells>,
    /// The memories that are banks of the global buffer.
    banks: Vec<TileId>,
    /// Where each output of a tile that something takes comes from.
    outputs: BTreeMap<TileOutput, Port>,
    predicates: Vec<(ControllerConfiguration, CellId)>,
    /// The functions of loop variables of each kernel.
    sequences: IndexVec<KernelId, Vec<Signal>>,
    /// The memories that have them.
    memories_of_sequences: Vec<(MemoryConfiguration, CellId)>,
    /// The cells that give constants to tiles other than processing elements.
    constants: BTreeMap<u16, CellId>,
}

impl<'a> Lowering<'a> {
    fn run(mut self) -> Parts {
        self.place();
        self.place_words();
        self.place_units();
        self.connect_all();
        let outputs = self.connect_outputs();
        let mut removed = self.fold_accumulators();
        removed.extend(self.fold_holds());
        removed.extend(self.merge_equal());
        if !self.repeats.is_empty() || !self.units.is_empty() {
            removed.extend(self.without_readers(&removed));
        }
        self.enables.retain(|cell, _| !removed.contains(cell));
        self.connect_enables();
        removed.extend(self.unread_predicates());
        let stages = self.stages();
        let nets = self.nets.into_iter().map(|(port, sinks)| Net {
            layer: port.layer,
            source: port.cell,
            port: port.port,
            sinks,
        });
        let netlist = Netlist { nets: nets.collect(), ..self.netlist }.without_latency(&self.spec.pe);
        Parts { netlist, inputs: self.inputs, outputs, banks: self.banks, stages }.without(&removed)
    }

    /// Adds the cells of streams, memories and kernels, which are not connected yet.
    fn place(&mut self) {
        for stream in &self.graph.inputs {
            let lanes = 0..stream.lanes.len();
            let cells = lanes.map(|lane| self.add_lane(lane_name(&stream.name, lane, stream.lanes.len()), Core::Input));
            let cells = cells.collect();
            self.inputs.push(cells);
        }
        for (number, tile) in self.storage.tiles.iter_enumerated() {
            let cells = match tile.level {
                Level::GlobalBuffer => self.place_bank(number, tile),
                Level::Memory | Level::RegisterFile => {
                    let configuration = tile.configuration.clone().later(tile.begin as i64);
                    let cell = self.add(tile.name.clone(), Core::Memory(configuration));
                    MemoryCells { writes: cell, reads: cell }
                }
            };
            self.tiles.push(cells);
        }
        self.join_chains();
        for (number, kernel) in self.graph.kernels.iter_enumerated() {
            let unit = self.units.of_kernel(number);
            let placed = unit.and_then(|unit| unit.kernels.iter().find_map(|other| self.kernels.get(*other)));
            let name = &self.graph.words[kernel.net()].name;
            let cells = match placed {
                Some(cells) => cells.clone(),
                None => self.place_kernel(kernel, unit.map_or(name, |unit| &unit.name)),
            };
            self.kernels.push(cells);
            let tables = self.place_tables(kernel, name);
            self.tables.push(tables);
            let sequences = self.place_sequences(kernel);
            self.sequences.push(sequences);
        }
    }

    /// Adds the cells of selections and hold registers.
    fn place_words(&mut self) {
        for (net, content) in self.graph.words.iter_enumerated() {
            match &content.driver {
                WordDriver::Select(choices) if is_by_turns(self.graph, choices) => {}
                WordDriver::Select(choices) => match self.repeats.get(&net) {
                    Some(repeat) => {
                        let core = Core::Memory(repeat.configuration.clone());
                        let cell = self.add(format!("{}_memory", content.name), core);
                        self.repeating.insert(net, cell);
                    }
                    None => {
                        let cells = self.place_choices(&content.name, choices.len() - 1);
                        self.selections.insert(net, cells);
                    }
                },
                WordDriver::Hold(_) => {
                    let cell = self.add(content.name.clone(), Core::Pe(passing_words(&self.spec.pe)));
                    self.holds.insert(net, cell);
                }
                _ => {}
            }
        }
    }

    /// Connects all cells but those that leave.
    fn connect_all(&mut self) {
        let mut connected = HashSet::new();
        for kernel in self.graph.kernels.indices() {
            // The kernels of a unit have the same cells.
            let unit = self.units.of_kernel(kernel);
            if unit.is_none_or(|unit| connected.insert(&unit.name)) {
                self.connect_kernel(kernel);
            }
        }
        self.connect_units();
        for (net, content) in self.graph.words.iter_enumerated() {
            match &content.driver {
                WordDriver::Select(_) if self.repeats.contains_key(&net) => self.connect_repeat(net),
                WordDriver::Select(choices) if self.selections.contains_key(&net) => {
                    self.connect_selection(net, choices);
                }
                WordDriver::Hold(hold) => {
                    let loads = Firings::of_steps(self.graph, hold.counter, hold.when);
                    self.connect_hold(net, self.edge(hold.edge), vec![loads]);
                }
                _ => {}
            }
        }
        for (tile, content) in self.storage.tiles.iter_enumerated() {
            for (port, input) in content.inputs.iter().enumerate() {
                let signal = match input {
                    Some(TileInput::Edge(edge)) => self.edge(*edge),
                    Some(TileInput::Output { tile, output }) => self.output((*tile, *output)),
                    None => continue,
                };
                self.connect_signal(signal, self.tiles[tile].writes, port as u32);
            }
        }
    }

    /// Memories of the program that nothing reads, and the elements that join them; what they read is read no more.
    fn without_readers(&mut self, removed: &BTreeSet<CellId>) -> BTreeSet<CellId> {
        let mut unread = BTreeSet::new();
        loop {
            let sources: BTreeSet<CellId> = self.nets.keys().map(|port| port.cell).collect();
            let is_unread = |cell: &CellId| {
                let can_go = matches!(self.netlist.cells[*cell].core, Core::Memory(_) | Core::Pe(_));
                can_go && !sources.contains(cell) && !unread.contains(cell) && !removed.contains(cell)
            };
            let found: Vec<CellId> = self.netlist.cells.indices().filter(is_unread).collect();
            if found.is_empty() {
                return unread;
            }
            unread.extend(found);
            self.nets.values_mut().for_each(|sinks| sinks.retain(|sink| !unread.contains(&sink.cell)));
            self.nets.retain(|_, sinks| !sinks.is_empty());
        }
    }

    /// Bits of loop indices that nothing reads any more.
    fn unread_predicates(&self) -> impl Iterator<Item = CellId> {
        let cells = self.predicates.iter().map(|(_, cell)| *cell);
        cells.filter(|cell| !self.nets.contains_key(&Port { cell: *cell, layer: Layer::Bit, port: 0 }))
    }

    /// The cells of the kernels of each operation, those of a unit together.
    fn stages(&self) -> Vec<Stage> {
        let of_kernel = |kernel: &KernelNode| self.first_of_unit[kernel.operation];
        let of_operation = |operation: usize| {
            let kernels = self.graph.kernels.iter_enumerated().filter(|(_, kernel)| of_kernel(kernel) == operation);
            let kernels: Vec<(KernelId, &KernelNode)> = kernels.collect();
            let cells = |(kernel, _): &(KernelId, &KernelNode)| {
                [&self.kernels[*kernel][..], &self.tables[*kernel][..]].concat()
            };
            let iterations = || kernels.iter().map(|(_, kernel)| &kernel.iterations);
            Stage {
                name: name_of_operation(self.program, operation),
                first_cycle: iterations().map(|counter| counter.cycle.start).min().unwrap_or(0),
                last_cycle: iterations().map(Counter::last).max().unwrap_or(0),
                cells: kernels.iter().flat_map(cells).unique().collect(),
            }
        };
        self.graph.kernels.iter().map(of_kernel).unique().map(of_operation).collect()
    }

    /// Joins the outputs of tiles that are one memory. In each cycle one of them has the word, and the others show 0: the tiles of
    /// an array have no chain inputs.
    fn join_chains(&mut self) {
        let storage = self.storage;
        for (tile, output) in self.taken_outputs() {
            let members = std::iter::successors(Some(tile), |tile| storage.tiles[*tile].chain_from);
            let ports: Vec<Port> = members
                .map(|tile| Port { cell: self.tiles[tile].reads, layer: Layer::Word, port: output as u32 })
                .collect();
            let joined = ports[1..].iter().fold(ports[0], |one, other| {
                let name = format!("{}_{output}_or_{}", storage.tiles[tile].name, self.netlist.cells.len());
                let core = Core::Pe(element(&self.spec.pe, Operation::Or, None));
                let cell = self.add(name, core);
                for (operand, of) in [one, *other].into_iter().enumerate() {
                    self.connect_word(Signal::Delayed { of, cycles: 0 }, cell, operand);
                }
                Port { cell, layer: Layer::Word, port: 0 }
            });
            self.outputs.insert((tile, output), joined);
        }
    }

    /// The outputs of memory tiles that nets, delays and other tiles take, in their order.
    fn taken_outputs(&self) -> BTreeSet<TileOutput> {
        let ports = self.graph.words.iter().filter_map(|net| match net.driver {
            WordDriver::Port { array, port } => Some(self.storage.read(array, port)),
            _ => None,
        });
        let inputs = self.storage.tiles.iter().flat_map(|tile| tile.inputs.iter().flatten());
        let between = inputs.filter_map(|input| match *input {
            TileInput::Output { tile, output } => Some((tile, output)),
            TileInput::Edge(_) => None,
        });
        ports.chain(self.delayed.values().copied()).chain(between).collect()
    }

    /// Adds a cell. Another one of the same name gets a number.
    fn add(&mut self, name: String, core: Core) -> CellId {
        let others = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(others);
        let name = names.find(|name| self.names.insert(name.clone())).expect("numbers do not end");
        self.netlist.cells.push(Cell { name, core })
    }

    /// Adds the cell of a lane of a stream. It has its name, which hosts use.
    fn add_lane(&mut self, name: String, core: Core) -> CellId {
        self.netlist.cells.push(Cell { name, core })
    }

    /// Adds the streams of a memory that is a bank of the global buffer.
    fn place_bank(&mut self, number: TileId, tile: &MemoryTile) -> MemoryCells {
        let load = self.add(format!("{}_load", tile.name), Core::Input);
        let store = self.add(format!("{}_store", tile.name), Core::Output);
        self.netlist.banks.push(BankCells { name: tile.name.clone(), load, store });
        self.banks.push(number);
        MemoryCells { writes: store, reads: load }
    }

    /// The cells of the operation of a kernel.
    fn cells_of(&self, kernel: &KernelNode) -> &'a Cells {
        &self.selected[self.first_of_unit[kernel.operation]]
    }

    /// Adds the cells of a kernel, which are not connected yet.
    fn place_kernel(&mut self, kernel: &KernelNode, name: &str) -> Vec<CellId> {
        let cells = &self.cells_of(kernel).cells;
        let place = |(number, cell): (usize, &PeCell)| {
            let is_last = number + 1 == cells.len();
            let name = if is_last { name.to_owned() } else { format!("{name}_{number}") };
            let core = Core::Pe(element(&self.spec.pe, cell.operation, cell.lut));
            self.add(name, core)
        };
        cells.iter().enumerate().map(place).collect()
    }

    /// Adds the tables of a kernel: a memory for each look-up, because a memory looks up one word a cycle.
    fn place_tables(&mut self, kernel: &KernelNode, kernel_name: &str) -> Vec<CellId> {
        let Some(memory) = &self.spec.memory else { return Vec::new() };
        let mask = u64::from(u32::MAX) >> (u32::BITS - self.spec.word_bits());
        let firings = Firings::of_conditions(&kernel.iterations, &[]);
        let cells = self.cells_of(kernel);
        let place = |(number, fetch): (usize, &Fetch)| {
            let entries = cells.contents(self.program, fetch.table);
            let contents = entries.iter().map(|value| *value as u64 & mask).collect();
            let core = Core::Memory(firings.table(&memory.tile, contents));
            let name = match fetch.table {
                Table::Program(table) => self.program.tables[table].name.as_str(),
                Table::High(table) => &format!("{}_high", self.program.tables[table].name),
                Table::Selected(_) => "reciprocal",
            };
            self.add(format!("{kernel_name}_{name}_{number}"), core)
        };
        cells.fetches.iter().enumerate().map(place).collect()
    }

    /// Adds the memories of the functions of loop variables of a kernel. Kernels that take the same words at the same time share one.
    fn place_sequences(&mut self, kernel: &'a KernelNode) -> Vec<Signal> {
        self.cells_of(kernel).sequences.iter().map(|sequence| self.place_sequence(kernel, sequence)).collect()
    }

    fn place_sequence(&mut self, kernel: &'a KernelNode, sequence: &Sequence) -> Signal {
        let Variable { level, scale, offset } = self.variable(kernel, sequence.variable);
        let Some(level) = level else { return Signal::Constant(sequence.word(offset) as u16) };
        let counter = self.counter(kernel);
        let word = |index: i64| u64::from(sequence.word(offset + scale * index));
        let words: Vec<u64> = (0..counter.extent[level] as i64).map(word).collect();
        let tile = &self.spec.memory.as_ref().expect("memory tiles were checked").tile;
        // The first fetch is no earlier than the flush: the words come later, and their cell starts earlier than their users.
        let later = (timing::sram_to_transpose_buffer(tile.sram_latency) as i64 - counter.cycle.start).max(0);
        let firings = Firings { extent: counter.extent.clone(), cycle: counter.cycle.shifted(later) };
        let configuration = firings.sequence(tile, level, &words);
        let known = self.memories_of_sequences.iter().find(|(other, _)| *other == configuration).map(|(_, cell)| *cell);
        let cell = known.unwrap_or_else(|| {
            let name = format!("sequence_{}", self.memories_of_sequences.len());
            let cell = self.add(name, Core::Memory(configuration.clone()));
            self.memories_of_sequences.push((configuration, cell));
            cell
        });
        Signal::word(cell, 0).ago(-later)
    }

    /// The counter of the loop variables of a kernel.
    fn counter(&self, kernel: &'a KernelNode) -> &'a Counter {
        kernel.counter.map_or(&kernel.iterations, |counter| &self.graph.counters[counter])
    }

    /// A loop variable of the operation of a kernel.
    fn variable(&self, kernel: &KernelNode, number: usize) -> Variable {
        let variables = self.datapaths[self.first_of_unit[kernel.operation]].variables();
        let place = variables.iter().position(|other| *other == number);
        kernel.variables[place.expect("the kernel has its variables")]
    }

    /// Cycles from an index to the word of a table.
    fn table_latency(&self) -> i64 {
        let memory = self.spec.memory.as_ref().expect("an array with tables has memory tiles");
        timing::sram_to_output(memory.tile.sram_latency) as i64
    }

    fn connect_kernel(&mut self, number: KernelId) {
        for (place, fetch) in self.cells_of(&self.graph.kernels[number]).fetches.iter().enumerate() {
            let index = self.word(number, fetch.index);
            self.connect_signal(index, self.tables[number][place], 0);
        }
        let kernel = &self.graph.kernels[number];
        for (place, cell) in self.cells_of(kernel).cells.iter().enumerate() {
            let sink = self.kernels[number][place];
            for (port, word) in cell.used_words().iter().enumerate() {
                let signal = self.word(number, *word);
                self.connect_word(signal, sink, port);
            }
            for (port, bit) in cell.used_bits().iter().enumerate() {
                self.connect_bit(number, *bit, sink, port);
            }
        }
    }

    /// A word within a kernel, in the cycle in which the kernel begins an iteration.
    fn word(&self, kernel: KernelId, word: Word) -> Signal {
        match word {
            Word::Constant(constant) => Signal::Constant(constant as u16),
            Word::Load(operand) => self.operand(kernel, operand),
            Word::Cell(cell) => Signal::word(self.kernels[kernel][cell], 0),
            // A table has the word some cycles after its index.
            Word::Fetch(fetch) => Signal::word(self.tables[kernel][fetch], 0).ago(-self.table_latency()),
            Word::Sequence(sequence) => self.sequences[kernel][sequence],
        }
    }

    /// The word of an edge.
    fn edge(&self, edge: Edge) -> Signal {
        match edge {
            Edge::Constant(word) => Signal::Constant(word),
            Edge::Net { net, delay } => {
                let in_memories = self.delayed.range((net, 0)..=(net, delay)).next_back();
                match in_memories {
                    Some(((_, from), output)) => self.output(*output).ago((delay - from) as i64),
                    None => self.net(net).ago(delay as i64),
                }
            }
        }
    }

    /// The word on an output of a memory tile.
    fn output(&self, output: TileOutput) -> Signal {
        Signal::Delayed { of: self.outputs[&output], cycles: 0 }
    }

    /// The word of a net. Nets that only pass on others are those.
    fn net(&self, net: WordId) -> Signal {
        match &self.graph.words[net].driver {
            WordDriver::Input { stream, lane } => Signal::word(self.inputs[stream.index()][*lane], 0),
            WordDriver::Port { array, port } => self.output(self.storage.read(*array, *port)),
            WordDriver::Kernel { kernel, word } => {
                let node = &self.graph.kernels[*kernel];
                let result = match self.cells_of(node).results[word.number()] {
                    Word::Load(operand) => self.edge(node.operands[operand]),
                    word => self.word(*kernel, word),
                };
                result.ago(node.latency as i64)
            }
            WordDriver::Select(choices) => match (self.repeats.get(&net), self.selections.get(&net)) {
                (Some(Repeat { output, late, .. }), _) => Signal::word(self.repeating[&net], *output).ago(-late),
                (None, Some(cells)) => match cells.first() {
                    Some(cell) => Signal::word(*cell, 0),
                    None => self.edge(choices[0].edge),
                },
                // An operand of a unit that its kernels hold.
                (None, None) => Signal::word(self.holds[&net], 0),
            },
            WordDriver::Hold(_) => Signal::word(self.holds[&net], 0),
            WordDriver::Ram { .. } => unreachable!("programs with random-access memories are refused before"),
        }
    }

    /// Connects the memory in place of a selection.
    fn connect_repeat(&mut self, net: WordId) {
        let Repeat { of, input, .. } = self.repeats[&net];
        self.connect_signal(self.edge(of), self.repeating[&net], input);
    }

    /// Connects the cells of a selection.
    fn connect_selection(&mut self, net: WordId, choices: &[Choice]) {
        let (otherwise, decided) = choices.split_last().expect("a selection has cases");
        let case = |choice: &Choice| {
            let bit = choice.when.expect("only the last case is chosen otherwise");
            (self.firings(bit), self.edge(choice.edge))
        };
        let cases = decided.iter().map(case).collect();
        let cells = self.selections[&net].clone();
        self.connect_choices(&cells, cases, self.edge(otherwise.edge));
    }

    /// The cycles in which a bit is 1.
    fn firings(&self, bit: BitId) -> Firings {
        let (counter, conditions) = match &self.graph.bits[bit].driver {
            BitDriver::Indices { counter, conditions } => (*counter, conditions.as_slice()),
            BitDriver::Begins(counter) => (*counter, &[] as &[_]),
        };
        Firings::of_conditions(&self.graph.counters[counter], conditions)
    }

    /// The output whose bit is 1 at these cycles, and how long after it. A bit that is the same some cycles later is the same output.
    fn predicate(&mut self, firings: Firings) -> (Port, i64) {
        let memory = self.spec.memory.as_ref().expect("programs are compiled for arrays with memory tiles");
        self.scheduled(firings.predicate(&memory.tile).expect("memory tiles were checked"))
    }

    /// The place of a predicate that gives the bit of a schedule, some cycles later or earlier.
    fn place_of_predicate(&self, schedule: &ControllerConfiguration) -> Option<usize> {
        let is_same = |other: &ControllerConfiguration| {
            (&other.extent, &other.cycle.stride) == (&schedule.extent, &schedule.cycle.stride)
                && (schedule.cycle.start - other.cycle.start).abs() <= PREDICATE_DELAY
        };
        self.predicates.iter().position(|(other, _)| is_same(other))
    }

    /// The same of the schedule of a controller.
    fn scheduled(&mut self, schedule: ControllerConfiguration) -> (Port, i64) {
        let later = |other: &ControllerConfiguration| schedule.cycle.start - other.cycle.start;
        let bit = |cell: CellId| Port { cell, layer: Layer::Bit, port: 0 };
        let Some(place) = self.place_of_predicate(&schedule) else {
            let cell = self.add(format!("predicate_{}", self.predicates.len()), Core::Predicate(schedule.clone()));
            self.predicates.push((schedule, cell));
            return (bit(cell), 0);
        };
        let (known, cell) = &mut self.predicates[place];
        let cycles = later(known);
        if cycles < 0 {
            // The earliest of them is the output, and the others come later.
            self.nets.entry(bit(*cell)).or_default().iter_mut().for_each(|sink| sink.cycles -= cycles);
            self.netlist.cells[*cell].core = Core::Predicate(schedule.clone());
            *known = schedule;
        }
        (bit(*cell), cycles.max(0))
    }

    /// Connects a word to an operand of a processing element.
    fn connect_word(&mut self, signal: Signal, cell: CellId, port: usize) {
        let Core::Pe(configuration) = &mut self.netlist.cells[cell].core else {
            unreachable!("operands are those of processing elements")
        };
        match signal {
            Signal::Constant(constant) => configuration.words[port].constant = constant.into(),
            Signal::Delayed { of, cycles } => {
                configuration.words[port].mode = Mode::Direct;
                self.connect(of, Sink { cell, port: port as u32, cycles });
            }
        }
    }

    fn connect_bit(&mut self, kernel: KernelId, bit: Bit, cell: CellId, port: usize) {
        let port_of = match bit.source {
            BitSource::False => None,
            BitSource::Cell(source) => {
                Some((Port { cell: self.kernels[kernel][source], layer: Layer::Bit, port: 0 }, 0))
            }
            BitSource::Predicate(number) => self.kernel_predicate(kernel, number),
        };
        match port_of {
            Some((of, cycles)) => {
                self.set_bit_mode(cell, port);
                self.connect(of, Sink { cell, port: port as u32, cycles });
            }
            None => {
                let Core::Pe(configuration) = &mut self.netlist.cells[cell].core else {
                    unreachable!("operands are those of processing elements")
                };
                configuration.bits[port].constant = bit.inverted;
            }
        }
    }

    fn set_bit_mode(&mut self, cell: CellId, port: usize) {
        if let Core::Pe(configuration) = &mut self.netlist.cells[cell].core {
            configuration.bits[port].mode = Mode::Direct;
        }
    }

    /// The bit of a box of loop variables of a kernel; nothing if they are never in it.
    fn kernel_predicate(&mut self, kernel: KernelId, number: usize) -> Option<(Port, i64)> {
        let kernel = &self.graph.kernels[kernel];
        let predicate = &self.cells_of(kernel).predicates[number];
        let firings = self.chosen_by_predicate(kernel, predicate)?.inside()?;
        Some(self.predicate(firings))
    }

    /// The steps of a kernel whose loop variables are in a box; nothing if they never are.
    fn chosen_by_predicate(&self, kernel: &'a KernelNode, predicate: &Predicate) -> Option<Chosen<'a>> {
        Chosen::by_predicate(self.counter(kernel), predicate, |variable| {
            let Variable { level, scale, offset } = self.variable(kernel, variable);
            (level, scale, offset)
        })
    }

    /// Connects a word to an input of a tile other than a processing element.
    fn connect_signal(&mut self, signal: Signal, cell: CellId, port: u32) {
        let (of, cycles) = match signal {
            Signal::Delayed { of, cycles } => (of, cycles),
            // An input that takes no track is 0.
            Signal::Constant(0) => return,
            Signal::Constant(constant) => (self.constant(constant), 0),
        };
        self.connect(of, Sink { cell, port, cycles });
    }

    /// The output of a cell that gives a constant.
    fn constant(&mut self, constant: u16) -> Port {
        let known = self.constants.get(&constant).copied();
        let cell = known.unwrap_or_else(|| {
            let mut configuration = passing_words(&self.spec.pe);
            configuration.words[0].constant = constant.into();
            let cell = self.add(format!("constant_{constant}"), Core::Pe(configuration));
            self.constants.insert(constant, cell);
            cell
        });
        Port { cell, layer: Layer::Word, port: 0 }
    }

    fn connect_outputs(&mut self) -> Vec<Vec<CellId>> {
        let mut outputs = Vec::new();
        for stream in &self.graph.outputs {
            let mut cells = Vec::new();
            for (lane, content) in stream.lanes.iter().enumerate() {
                let cell = self.add_lane(lane_name(&stream.name, lane, stream.lanes.len()), Core::Output);
                self.connect_signal(self.edge(content.edge), cell, 0);
                cells.push(cell);
            }
            outputs.push(cells);
        }
        outputs
    }

    fn connect(&mut self, of: Port, sink: Sink) {
        self.nets.entry(of).or_default().push(sink);
    }
}

/// Whether a selection is of the operands of a unit, by the kernel that begins an iteration.
pub(crate) fn is_by_turns(graph: &ApplicationGraph, choices: &[Choice]) -> bool {
    let bits = || choices.iter().filter_map(|choice| choice.when);
    bits().any(|bit| matches!(graph.bits[bit].driver, BitDriver::Begins(_)))
}

/// For each operation the first with which it shares a unit, or itself.
pub(crate) fn first_of_unit(program: &Program) -> Vec<usize> {
    let nests = program.operations();
    let first = |(number, (_, operation)): (usize, &(_, &pushmem_nest::Operation))| {
        nests.iter().position(|(_, other)| other.shares_unit(operation)).unwrap_or(number)
    };
    nests.iter().enumerate().map(first).collect()
}

/// The name of the unit of an operation, or its own.
fn name_of_operation(program: &Program, number: usize) -> String {
    let (_, operation) = program.operations()[number];
    operation.unit().unwrap_or(&operation.name).to_owned()
}

/// The word of a processing element.
fn word_port(cell: CellId) -> Port {
    Port { cell, layer: Layer::Word, port: 0 }
}

/// The names of the lanes of all streams.
fn lane_names(graph: &ApplicationGraph) -> impl Iterator<Item = String> {
    let inputs = graph.inputs.iter().map(|stream| (&stream.name, stream.lanes.len()));
    let outputs = graph.outputs.iter().map(|stream| (&stream.name, stream.lanes.len()));
    inputs.chain(outputs).flat_map(|(name, lanes)| (0..lanes).map(move |lane| lane_name(name, lane, lanes)))
}

/// The name of a lane of a stream.
fn lane_name(stream: &str, lane: usize, lanes: usize) -> String {
    if lanes == 1 { stream.to_owned() } else { format!("{stream}_{lane}") }
}
