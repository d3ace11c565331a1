//! A datapath as a module of SystemVerilog.

mod expressions;
mod instances;

use std::collections::BTreeSet;

use itertools::Itertools;
use pushmem_files::text;
use pushmem_nest::{Access, Binary, Operation, Printer, Program, Table, Type, Word};

use crate::copies::Copies;
use crate::datapath::Datapath;
use crate::names::{Names, identifier, of_access};
use crate::node::{DatapathNode, NodeKind};
use crate::tables::{Fetch, MemoryRead};
use expressions::{bit_range, declaration, is_port, literal, mask, port_bits, stem};
use instances::{Instance, lowest_unused};

/// Entries of a table on one line.
const ENTRIES_PER_ROW: usize = 8;

/// The longest line, where it can be helped.
const LINE: usize = 118;

/// The spaces before lines in a module.
const INDENT: usize = 4;

/// The library module of division: its name and its text. Modules of kernels with [`Datapath::divides`] need it.
pub const DIVIDER: (&str, &str) = ("pushmem_divider", include_str!("../../../../templates/kernels/pushmem_divider.sv"));

/// The names of a kernel's ports, beside `clk_i`, `step_i` and `result_o`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ports {
    /// One for each load, in the order of [`Datapath::loads`], whether it is used or not: `input logic [15:0]`, or `[31:0]` for an
    /// element of 32 bits.
    pub loads: Vec<String>,
    /// The loop variables that are used, outermost first, each with its number and name: `input logic signed [31:0]`.
    pub variables: Vec<(usize, String)>,
    /// One for each of [`Datapath::fetches`], in their order.
    pub fetches: Vec<FetchPorts>,
    /// One for the address of each of [`Datapath::memory_reads`], in their order: an output. The port of the load has the element.
    pub addresses: Vec<String>,
}

/// The names of the ports for a look-up in a table beside the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchPorts {
    /// Which entry: an output, as wide as the numbers of the entries.
    pub address: String,
    /// The entry: an input, as wide as the entries.
    pub word: String,
}

struct Port {
    declaration: String,
    comment: String,
}

struct Stage {
    number: u64,
    lines: Vec<String>,
    registers: Vec<Register>,
}

struct Register {
    declaration: String,
    name: String,
    source: String,
}

/// A table as the template prints it. Bit ranges are in brackets.
struct Entries {
    name: String,
    function: String,
    entry_bits: u32,
    entry_range: String,
    /// The zeros after the number of an entry in its row that make it the number of a bit.
    entry_shift: u32,
    index_bits: u32,
    index_range: String,
    column_bits: u32,
    row_range: String,
    rows: Vec<String>,
}

impl Datapath {
    /// The place of a node among the [`fetches`](Datapath::fetches).
    fn fetch(&self, number: usize) -> usize {
        self.nodes[..number].iter().filter(|node| matches!(node.kind, NodeKind::Fetch { .. })).count()
    }

    /// Whether the module has dividers, so that it needs [`DIVIDER`](crate::DIVIDER).
    pub fn divides(&self) -> bool {
        self.nodes.iter().any(|node| node.kind.is_division())
    }

    /// The modules of [`pushmem_float`] that the module has instances of.
    pub fn float_modules(&self) -> BTreeSet<String> {
        self.nodes.iter().filter_map(|node| Instance::of(&node.kind)).map(|instance| instance.module).collect()
    }

    /// The names of the ports of the [`module`](Datapath::module).
    pub fn ports(&self, program: &Program, operation: &Operation) -> Ports {
        self.name_ports(program, operation, &mut Names::new())
    }

    /// The module of this name: ports `clk_i`, `step_i`, the [`ports`](Datapath::ports) and `output logic [15:0] result_o`, or
    /// `[31:0]` for elements of 32 bits. The program and the operation are those that the datapath was made of. Numbers of
    /// 8 bits are in the low bits of the loads, whose other bits do not matter; the result is extended by its type. A table beside
    /// the kernel is a memory that advances with `step_i`, too; its entry shows [`Fetch::latency`] steps after its address.
    pub fn module(&self, program: &Program, operation: &Operation, name: &str) -> String {
        let mut names = Names::new();
        let ports = self.name_ports(program, operation, &mut names);
        let writer = Writer::new(self, program, &ports, names);
        text!(
            "kernel.sv",
            description: Vec<String> = describe(program, operation),
            latency: u64 = self.latency,
            name: &'a str = name,
            ports: Vec<Port> = declare_ports(self, program, operation, &ports),
            tables: Vec<Entries> = writer.tables(),
            unused: Vec<String> = writer.unused(),
            stages: Vec<Stage> = (0..=self.latency).map(|stage| writer.stage(stage)).collect(),
            result: String = writer.result(),
        )
    }

    fn name_ports(&self, program: &Program, operation: &Operation, names: &mut Names) -> Ports {
        let copies = Copies::new(program, operation);
        let loops = &copies.loops;
        let name = |&variable: &usize| (variable, names.unique_port(&identifier(&loops[variable].variable), "_i"));
        let variables = self.variables().iter().map(name).collect();
        let printer = Printer { program, loops, operation };
        let reads = copies.reads();
        let old = operation.reduction.map(|_| reads.len() - 1);
        let name = |(number, access): (usize, &Access)| {
            let array = identifier(&program.arrays[access.array].name);
            let mut name = of_access(&printer.access(access)).unwrap_or_else(|| format!("{array}_{number}"));
            if old == Some(number) {
                name.push_str("_old");
            }
            names.unique_port(&name, "_i")
        };
        let loads = reads.iter().enumerate().map(name).collect_vec();
        let address = |read: &MemoryRead| {
            let load = loads[read.load].trim_end_matches("_i");
            names.unique_port(&format!("{load}_address"), "_o")
        };
        let addresses = self.memory_reads().iter().map(address).collect();
        let fetches = self.fetches();
        let fetch = |(number, fetch): (usize, &Fetch)| {
            let table = identifier(&program.tables[fetch.table].name);
            let before = fetches[..number].iter().filter(|other| other.table == fetch.table).count();
            let mut name = |what: &str, end: &str| names.unique_port(&format!("{table}_{what}_{before}"), end);
            FetchPorts { address: name("address", "_o"), word: name("word", "_i") }
        };
        let fetches = fetches.iter().enumerate().map(fetch).collect();
        Ports { loads, variables, fetches, addresses }
    }
}

/// The statement of the operation in lines, as a nest has it: what a program was translated from may call things by names
/// that are nowhere else.
fn describe(program: &Program, operation: &Operation) -> Vec<String> {
    let text = Printer { program, loops: &Copies::new(program, operation).loops, operation }.statement();
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.len() + 1 + word.len() > LINE - "// ".len() {
            lines.push(format!("    {word}"));
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
}

fn declare_ports(datapath: &Datapath, program: &Program, operation: &Operation, ports: &Ports) -> Vec<Port> {
    let fetches = datapath.fetches();
    let copies = Copies::new(program, operation);
    let loops = &copies.loops;
    let printer = Printer { program, loops, operation };
    let word = |value: Type| bit_range(port_bits(value));
    let mut declared = vec![
        ("input ", String::new(), "clk_i", String::new()),
        ("input ", String::new(), "step_i", "everything advances in cycles in which it is high".to_owned()),
    ];
    for (variable, name) in &ports.variables {
        declared.push(("input ", "signed [31:0]".to_owned(), name, format!("loop `{}`", loops[*variable].variable)));
    }
    for (load, (name, access)) in ports.loads.iter().zip(copies.reads()).enumerate() {
        let element = program.arrays[access.array].element;
        let late = match datapath.arrival(load) {
            0 => String::new(),
            stage => format!(", in stage {stage}"),
        };
        let comment = format!("{} {}{late}", element.name(), printer.access(&access));
        declared.push(("input ", word(element), name, comment));
    }
    for (names, fetch) in ports.fetches.iter().zip(&fetches) {
        let table = &program.tables[fetch.table];
        let latency = match fetch.latency {
            1 => "a cycle".to_owned(),
            cycles => format!("{cycles} cycles"),
        };
        let address = format!("entry of `{}`, in stage {}", table.name, fetch.stage);
        let word = format!("{}: that entry, {latency} later", table.element.name());
        declared.push(("output", bit_range(fetch.address_bits), &names.address, address));
        declared.push(("input ", bit_range(fetch.value.bits()), &names.word, word));
    }
    let reads = datapath.memory_reads();
    for (name, read) in ports.addresses.iter().zip(&reads) {
        let address = format!("address of `{}`, in stage {}", ports.loads[read.load], read.stage);
        declared.push(("output", bit_range(read.address_bits), name, address));
    }
    let array = &program.arrays[operation.target.array];
    let target = printer.access(&operation.target);
    let target = match array.random_access {
        true => format!("address and {} {target}", array.element.name()),
        false => format!("{} {target}", array.element.name()),
    };
    declared.push(("output", word(array.written()), "result_o", target));
    let width = declared.iter().map(|(_, range, ..)| range.len()).max().unwrap_or_default();
    let port = |(direction, range, name, comment): (&str, String, &str, String)| Port {
        declaration: format!("{direction} logic {range:width$} {name}"),
        comment,
    };
    declared.into_iter().map(port).collect()
}

/// Writes the body of a module.
struct Writer<'a> {
    datapath: &'a Datapath,
    program: &'a Program,
    ports: &'a Ports,
    /// For each node, the names of its value in the stage in which it is there and in each later one.
    names: Vec<Vec<String>>,
    /// For each table of the program and type of indices, the name of the function.
    functions: Vec<(usize, Type, String)>,
    /// For each node, the last stage in which it is used.
    last_uses: Vec<u64>,
    /// For the other result of each divider that computes one only: its name.
    unused_results: Vec<(usize, String)>,
    /// For each node of which the high bits are not used in its last stage: the lowest of them, and a name for them.
    unused_bits: Vec<(usize, u32, String)>,
    /// For each load: the lowest bit of its port that is not used, if there are any, and a name for these.
    unused_ports: Vec<(usize, u32, String)>,
}

impl<'a> Writer<'a> {
    fn new(datapath: &'a Datapath, program: &'a Program, ports: &'a Ports, mut names: Names) -> Self {
        let last_uses = datapath.last_uses();
        let mut functions: Vec<(usize, Type, String)> = Vec::new();
        let mut unused_results = Vec::new();
        let mut given = Vec::new();
        for (number, node) in datapath.nodes.iter().enumerate() {
            let constant = node.kind.operands().last().is_some_and(|last| datapath.nodes[last].kind.is_constant());
            let name = match node.kind {
                NodeKind::Constant(_) => {
                    given.push(Vec::new());
                    continue;
                }
                NodeKind::Load(load) | NodeKind::Read { load, .. } if is_port(node.value) => ports.loads[load].clone(),
                NodeKind::Load(load) | NodeKind::Read { load, .. } => {
                    names.unique(&format!("{}_{}", ports.loads[load], node.value.name()))
                }
                NodeKind::Variable(variable) => {
                    let port = ports.variables.iter().find(|(number, _)| *number == variable);
                    port.map(|(_, name)| name.clone()).unwrap_or_default()
                }
                NodeKind::Lookup { table, index } => {
                    let stem = identifier(&program.tables[table].name);
                    let index = datapath.nodes[index].value;
                    if functions.iter().all(|(known, of, _)| (*known, *of) != (table, index)) {
                        functions.push((table, index, names.unique(&format!("{stem}_entry"))));
                    }
                    names.numbered(&stem)
                }
                NodeKind::Fetch { .. } if !node.value.is_signed() => ports.fetches[datapath.fetch(number)].word.clone(),
                NodeKind::Fetch { table, .. } => names.numbered(&identifier(&program.tables[table].name)),
                kind => names.numbered(stem(&kind, node.value, constant)),
            };
            if node.kind.is_division() && datapath.other_division(number).is_none() {
                unused_results.push((number, names.unique(&format!("{name}_unused"))));
            }
            let later = datapath.available(number) + 1..=last_uses[number];
            let registers = later.map(|stage| names.unique(&format!("{name}_q{stage}"))).collect_vec();
            given.push([name].into_iter().chain(registers).collect());
        }
        let mut unused_ports = Vec::new();
        for (load, name) in ports.loads.iter().enumerate() {
            let is_load = |node: &&DatapathNode| match node.kind {
                NodeKind::Load(of) | NodeKind::Read { load: of, .. } => of == load,
                _ => false,
            };
            let node = datapath.nodes.iter().find(is_load);
            let low = node.map_or(0, |node| node.value.bits());
            if low < port_bits(datapath.loads[load]) {
                unused_ports.push((load, low, names.unique(&format!("{name}_unused"))));
            }
        }
        let mut unused_bits = Vec::new();
        for (number, given) in given.iter().enumerate() {
            if let (Some(low), Some(name)) = (lowest_unused(datapath, number, last_uses[number]), given.last()) {
                unused_bits.push((number, low, names.unique(&format!("{name}_unused"))));
            }
        }
        Self { datapath, program, ports, names: given, functions, last_uses, unused_results, unused_bits, unused_ports }
    }

    /// The value of a node in a stage.
    fn read(&self, node: usize, stage: u64) -> String {
        match self.datapath.nodes[node].kind {
            NodeKind::Constant(number) => literal(number, self.datapath.nodes[node].value),
            _ => self.names[node][(stage - self.datapath.available(node)) as usize].clone(),
        }
    }

    fn result(&self) -> String {
        let value = self.datapath.result_type();
        let bits = port_bits(value);
        if let NodeKind::Constant(number) = self.datapath.nodes[self.datapath.result].kind {
            let port = if bits > Word::BITS { Type::U32 } else { Type::U16 };
            return literal(port.wrap(number), port);
        }
        let text = self.read(self.datapath.result, self.datapath.latency);
        match (value.bits() < bits, value.is_signed()) {
            (false, false) => text,
            (false, true) => format!("$unsigned({text})"),
            (true, false) => format!("{bits}'({text})"),
            (true, true) => format!("$unsigned({bits}'({text}))"),
        }
    }

    fn tables(&self) -> Vec<Entries> {
        self.functions.iter().map(|(table, index, function)| self.entries(*table, *index, function)).collect()
    }

    fn entries(&self, table: usize, index: Type, function: &str) -> Entries {
        let Table { name, element, values, .. } = &self.program.tables[table];
        let (bits, index_bits) = (element.bits(), index.bits());
        let column_bits = ENTRIES_PER_ROW.ilog2();
        // Entries beyond the range of the index would be taken for those of negative indices.
        let reachable =
            &values[..values.len().min(usize::try_from(index.max()).unwrap_or(usize::MAX).saturating_add(1))];
        let row = |(number, entries): (usize, &[i64])| {
            let entry = |place: usize| {
                let number = element.unsigned().wrap(entries.get(place).copied().unwrap_or(0));
                format!("{bits}'d{number}")
            };
            let entries = (0..ENTRIES_PER_ROW).map(entry).join(", ");
            format!("{}'d{number}: row = {{{entries}}};", index_bits - column_bits)
        };
        Entries {
            name: name.clone(),
            function: function.to_owned(),
            entry_bits: bits,
            entry_range: format!("[{}:0]", bits - 1),
            entry_shift: bits.ilog2(),
            index_bits,
            index_range: format!("[{}:0]", index_bits - 1),
            column_bits,
            row_range: format!("[{}:0]", bits * ENTRIES_PER_ROW as u32 - 1),
            rows: reachable.chunks(ENTRIES_PER_ROW).enumerate().map(row).collect(),
        }
    }

    fn unused(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let has_registers = self.datapath.registers() > 0;
        if !has_registers {
            lines.push("logic [1:0] clock_unused;".to_owned());
            lines.push("assign clock_unused = {clk_i, step_i};".to_owned());
        }
        for (load, low, name) in &self.unused_ports {
            let port = &self.ports.loads[*load];
            let bits = port_bits(self.datapath.loads[*load]);
            lines.push(format!("logic [{}:0] {name};", bits - low - 1));
            lines.push(format!("assign {name} = {port}[{}:{low}];", bits - 1));
        }
        lines
    }

    fn stage(&self, stage: u64) -> Stage {
        let nodes = self.datapath.nodes.iter().enumerate().filter(|(_, node)| node.stage == stage);
        let mut lines = nodes.flat_map(|(number, _)| self.lines(number)).collect_vec();
        for (node, low, name) in self.unused_bits.iter().filter(|(node, ..)| self.last_uses[*node] == stage) {
            let bits = self.datapath.nodes[*node].value.bits();
            lines.push(format!("logic [{}:0] {name};", bits - low - 1));
            lines.push(format!("assign {name} = {}[{}:{low}];", self.read(*node, stage), bits - 1));
        }
        let kept = (0..self.datapath.nodes.len()).filter(|&node| {
            let is_constant = self.datapath.nodes[node].kind.is_constant();
            !is_constant && self.datapath.available(node) <= stage && stage < self.last_uses[node]
        });
        let register = |node: usize| {
            let name = self.read(node, stage + 1);
            Register {
                declaration: declaration(self.datapath.nodes[node].value, &name),
                source: self.read(node, stage),
                name,
            }
        };
        Stage { number: stage, lines, registers: kept.map(register).collect() }
    }

    /// The statements that compute a node.
    fn lines(&self, number: usize) -> Vec<String> {
        let node = self.datapath.nodes[number];
        let text = match node.kind {
            NodeKind::Constant(_) | NodeKind::Variable(_) => return Vec::new(),
            NodeKind::Load(_) if is_port(node.value) => return Vec::new(),
            NodeKind::Load(load) => self.of_port(load, node.value),
            NodeKind::Read { load, address, address_bits } => {
                return self.memory_read(number, load, address, address_bits);
            }
            NodeKind::Binary { operator: Binary::Divide | Binary::Modulo, left, right } => {
                return self.divider(number, left, right);
            }
            NodeKind::Fetch { index, address_bits, .. } => return self.fetch(number, index, address_bits),
            kind => match Instance::of(&kind) {
                Some(instance) => return self.instance(number, &instance),
                None => self.expression(&kind, node.value, node.stage),
            },
        };
        let name = &self.names[number][0];
        let mut lines = vec![format!("{};", declaration(node.value, name))];
        let assignment = format!("assign {name} = {text};");
        if assignment.len() <= LINE - INDENT {
            lines.push(assignment);
        } else {
            lines.extend(broken(&assignment));
        }
        lines
    }

    /// The low bits of a value, as an address.
    fn address(&self, node: usize, stage: u64, bits: u32) -> String {
        let (text, from) = (self.read(node, stage), self.datapath.nodes[node].value);
        let sized = if from.bits() == bits { text } else { format!("{bits}'({text})") };
        if from.is_signed() { format!("$unsigned({sized})") } else { sized }
    }
}

/// A long assignment with a choice in it on several lines.
fn broken(assignment: &str) -> Vec<String> {
    let choices = assignment.replace(" ? ", "\n    ? ").replace(" : ", "\n    : ");
    choices.lines().map(str::to_owned).collect()
}
