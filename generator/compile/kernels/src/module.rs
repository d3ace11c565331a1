//! A datapath as a module of SystemVerilog.

use std::collections::BTreeSet;

use askama::Template;
use itertools::Itertools;
use pushmem_float::Format;
use pushmem_nest::{Access, Binary, Operation, Printer, Program, Table, Type, Unary, Word};

use crate::copies::Copies;
use crate::datapath::Datapath;
use crate::names::{Names, identifier, of_access};
use crate::node::{DatapathNode, NodeKind};
use crate::tables::{Fetch, MemoryRead};

/// The width of the port for a load or a result of a type: that of all its words.
fn port_bits(value: Type) -> u32 {
    value.words().len() as u32 * Word::BITS
}

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

#[derive(Template)]
#[template(path = "kernel.sv", escape = "none")]
struct Kernel<'a> {
    description: Vec<String>,
    latency: u64,
    name: &'a str,
    ports: Vec<Port>,
    tables: Vec<Entries>,
    unused: Vec<String>,
    stages: Vec<Stage>,
    result: String,
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
        let kernel = Kernel {
            description: describe(program, operation),
            latency: self.latency,
            name,
            ports: declare_ports(self, program, operation, &ports),
            tables: writer.tables(),
            unused: writer.unused(),
            stages: (0..=self.latency).map(|stage| writer.stage(stage)).collect(),
            result: writer.result(),
        };
        kernel.render().expect("templates write to memory").trim().to_owned() + "\n"
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
        if !line.is_empty() && line.len() + 1 + word.len() > LINE {
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

/// Whether a number of this type is the bits of its port as they are.
fn is_port(value: Type) -> bool {
    !value.is_signed() && value.bits() == port_bits(value)
}

/// The range of a vector: nothing for a single bit.
fn bit_range(bits: u32) -> String {
    if bits == 1 { String::new() } else { format!("[{}:0]", bits - 1) }
}

/// `logic signed [7:0] name`
fn declaration(value: Type, name: &str) -> String {
    let sign = if value.is_signed() { "signed " } else { "" };
    match value.bits() {
        1 => format!("logic {sign}{name}"),
        bits => format!("logic {sign}[{}:0] {name}", bits - 1),
    }
}

fn literal(number: i64, value: Type) -> String {
    let bits = value.bits();
    match number {
        _ if value == Type::Bool => format!("1'b{number}"),
        _ if !value.is_signed() => format!("{bits}'d{number}"),
        // Its magnitude is beyond the type.
        _ if number == value.min() => format!("{bits}'sh{:x}", value.unsigned().wrap(number)),
        ..0 => format!("-{bits}'sd{}", -number),
        _ => format!("{bits}'sd{number}"),
    }
}

/// A literal whose bits matter.
fn mask(number: i64, value: Type) -> String {
    let (bits, digits) = (value.bits(), value.bits() as usize / 4);
    let sign = if value.is_signed() { "s" } else { "" };
    match value {
        Type::Bool => literal(number, value),
        _ => format!("{bits}'{sign}h{:0digits$x}", value.unsigned().wrap(number)),
    }
}

/// The prefix of a value's name.
fn stem(kind: &NodeKind, value: Type, constant: bool) -> &'static str {
    match kind {
        NodeKind::Constant(_) | NodeKind::Load(_) | NodeKind::Variable(_) => "value",
        NodeKind::Lookup { .. } | NodeKind::Fetch { .. } => "entry",
        NodeKind::Read { .. } => "element",
        NodeKind::Select { .. } => "selected",
        NodeKind::Cast(_) => match value {
            Type::U8 => "u8",
            Type::I8 => "i8",
            Type::U16 => "u16",
            Type::I16 => "i16",
            Type::U32 => "u32",
            Type::I32 => "i32",
            Type::Bf16 | Type::F16 => "number",
            Type::Bool => "truth",
        },
        NodeKind::Unary { operator, .. } => match operator {
            Unary::Negate | Unary::FloatNegate(_) => "negative",
            Unary::Not => "inverse",
            Unary::Absolute | Unary::FloatAbsolute(_) => "magnitude",
            Unary::FloatFromInteger(_) | Unary::FloatFunction(..) => "number",
            Unary::FloatToInteger(_) => "integer",
        },
        NodeKind::Binary { operator, .. } => match operator {
            Binary::Add | Binary::FloatAdd(_) => "sum",
            Binary::Subtract | Binary::FloatSubtract(_) => "difference",
            Binary::Multiply | Binary::FloatMultiply(_) => "product",
            Binary::Divide => "quotient",
            Binary::Modulo => "remainder",
            Binary::ShiftLeft | Binary::ShiftRight => "shifted",
            Binary::And if constant => "masked",
            Binary::And => "both",
            Binary::Or => "either",
            Binary::Xor => "exclusive",
            Binary::Equal | Binary::FloatEqual(_) => "equal",
            Binary::NotEqual => "unequal",
            Binary::Less | Binary::FloatLess(_) => "less",
            Binary::LessEqual | Binary::FloatLessEqual(_) => "at_most",
            Binary::Greater => "greater",
            Binary::GreaterEqual => "at_least",
            Binary::Minimum | Binary::FloatMinimum(_) => "minimum",
            Binary::Maximum | Binary::FloatMaximum(_) => "maximum",
            Binary::AbsoluteDifference => "distance",
        },
    }
}

/// How a module of the library computes an operator of numbers with a fraction.
struct Instance {
    module: String,
    /// The ports of the operands.
    operands: &'static [&'static str],
    /// Whether the last operand changes its sign.
    negates: bool,
    /// Bits that are always the same.
    constants: &'static [(&'static str, bool)],
    result: &'static str,
}

impl Instance {
    fn of(kind: &NodeKind) -> Option<Instance> {
        const BOTH: &[&str] = &["a_i", "b_i"];
        let plain = |format: Format, operation, operands, result| Instance {
            module: format.module(operation),
            operands,
            negates: false,
            constants: &[],
            result,
        };
        let add = |format| plain(format, "add_pipelined", BOTH, "sum_o");
        let compare = |format, constants| Instance { constants, ..plain(format, "compare", BOTH, "holds_o") };
        match kind {
            NodeKind::Unary { operator, .. } => match *operator {
                Unary::FloatFromInteger(format) => Some(plain(format, "from_integer", &["word_i"], "number_o")),
                Unary::FloatToInteger(format) => Some(plain(format, "to_integer", &["number_i"], "word_o")),
                _ => None,
            },
            NodeKind::Binary { operator, .. } => match *operator {
                Binary::FloatAdd(format) => Some(add(format)),
                Binary::FloatSubtract(format) => Some(Instance { negates: true, ..add(format) }),
                Binary::FloatMultiply(format) => Some(plain(format, "multiply_pipelined", BOTH, "product_o")),
                Binary::FloatEqual(format) => Some(compare(format, &[("equal_i", true), ("less_i", false)])),
                Binary::FloatLess(format) => Some(compare(format, &[("equal_i", false), ("less_i", true)])),
                Binary::FloatLessEqual(format) => Some(compare(format, &[("equal_i", true), ("less_i", true)])),
                _ => None,
            },
            _ => None,
        }
    }
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

    fn expression(&self, kind: &NodeKind, value: Type, stage: u64) -> String {
        let nodes = &self.datapath.nodes;
        let read = |node: usize| self.read(node, stage);
        match *kind {
            NodeKind::Lookup { table, index } => {
                let of = nodes[index].value;
                let function = self.functions.iter().find(|(known, index, _)| (*known, *index) == (table, of));
                let function = function.map(|(.., name)| name.as_str()).unwrap_or_default();
                let index = match of.is_signed() {
                    true => format!("$unsigned({})", read(index)),
                    false => read(index),
                };
                match value.is_signed() {
                    true => format!("$signed({function}({index}))"),
                    false => format!("{function}({index})"),
                }
            }
            NodeKind::Select { condition, then, otherwise } => {
                format!("{} ? {} : {}", read(condition), read(then), read(otherwise))
            }
            NodeKind::Cast(operand) => cast(&read(operand), nodes[operand].value, value),
            NodeKind::Unary { operator, operand } => {
                let (text, operands) = (read(operand), nodes[operand].value);
                match operator {
                    Unary::Negate => format!("-{text}"),
                    Unary::Not => format!("~{text}"),
                    Unary::Absolute => {
                        format!("$unsigned({text} < {} ? -{text} : {text})", literal(0, operands))
                    }
                    _ => unreachable!("operators of numbers with a fraction are instances or operations of bits"),
                }
            }
            NodeKind::Binary { operator, left, right } => {
                let operands = nodes[left].value;
                if let NodeKind::Constant(number) = nodes[right].kind {
                    return binary_with_constant(operator, &read(left), operands, number);
                }
                binary(operator, &read(left), &read(right), operands)
            }
            NodeKind::Constant(number) => literal(number, value),
            NodeKind::Load(_) | NodeKind::Variable(_) | NodeKind::Fetch { .. } | NodeKind::Read { .. } => String::new(),
        }
    }

    /// The value of a type at the port of a load.
    fn of_port(&self, load: usize, value: Type) -> String {
        let port = &self.ports.loads[load];
        let whole = value.bits() == port_bits(value);
        let bits = if whole { String::new() } else { format!("[{}:0]", value.bits() - 1) };
        if value.is_signed() { format!("$signed({port}{bits})") } else { format!("{port}{bits}") }
    }

    /// The statements that pass an address of a random-access memory out and, unless the port is the value, its element in.
    fn memory_read(&self, number: usize, load: usize, address: usize, address_bits: u32) -> Vec<String> {
        let node = self.datapath.nodes[number];
        let before = &self.datapath.nodes[..number];
        let place = before.iter().filter(|node| matches!(node.kind, NodeKind::Read { .. })).count();
        let port = &self.ports.addresses[place];
        let mut lines = vec![format!("assign {port} = {};", self.address(address, node.stage, address_bits))];
        if !is_port(node.value) {
            let name = &self.names[number][0];
            lines.push(format!("{};", declaration(node.value, name)));
            lines.push(format!("assign {name} = {};", self.of_port(load, node.value)));
        }
        lines
    }

    /// The low bits of a value, as an address.
    fn address(&self, node: usize, stage: u64, bits: u32) -> String {
        let (text, from) = (self.read(node, stage), self.datapath.nodes[node].value);
        let sized = if from.bits() == bits { text } else { format!("{bits}'({text})") };
        if from.is_signed() { format!("$unsigned({sized})") } else { sized }
    }

    /// The instance of a module of the library for an operator of numbers with a fraction.
    fn instance(&self, number: usize, instance: &Instance) -> Vec<String> {
        let node = self.datapath.nodes[number];
        let name = &self.names[number][0];
        let read = |operand: usize| match self.datapath.nodes[operand].kind {
            NodeKind::Constant(number) => mask(number, self.datapath.nodes[operand].value),
            _ => self.read(operand, node.stage),
        };
        let clocked = [("clk_i", "clk_i".to_owned()), ("step_i", "step_i".to_owned())];
        let clocked = clocked.into_iter().filter(|_| node.latency > 0);
        let operands = instance.operands.iter().zip(node.kind.operands()).map(|(port, operand)| (*port, read(operand)));
        let constants = instance.constants.iter().map(|(port, bit)| (*port, format!("1'b{}", u8::from(*bit))));
        let mut ports = clocked.chain(operands).chain(constants).collect_vec();
        if instance.negates
            && let Some((_, text)) = ports.last_mut()
        {
            *text = format!("{text} ^ {}", mask(pushmem_float::SIGN.into(), Type::U16));
        }
        ports.push((instance.result, name.clone()));
        // Of a word with sign, the module knows the bits.
        let unsigned = |(port, text): (&'static str, String)| match port {
            "word_i" => (port, format!("$unsigned({text})")),
            _ => (port, text),
        };
        let width = ports.iter().map(|(port, _)| port.len()).max().unwrap_or_default();
        let mut lines = vec![format!("{};", declaration(node.value, name)), format!("{} u_{name} (", instance.module)];
        let last = ports.len() - 1;
        lines.extend(ports.into_iter().map(unsigned).enumerate().map(|(place, (port, text))| {
            format!("    .{port:width$} ({text}){}", if place < last { "," } else { "" })
        }));
        lines.push(");".to_owned());
        lines
    }

    /// The statements that pass an address out and, of signed numbers, its entry in.
    fn fetch(&self, number: usize, index: usize, address_bits: u32) -> Vec<String> {
        let node = self.datapath.nodes[number];
        let FetchPorts { address, word } = &self.ports.fetches[self.datapath.fetch(number)];
        let mut lines = vec![format!("assign {address} = {};", self.address(index, node.stage, address_bits))];
        if node.value.is_signed() {
            let name = &self.names[number][0];
            lines.push(format!("{};", declaration(node.value, name)));
            lines.push(format!("assign {name} = $signed({word});"));
        }
        lines
    }

    /// The instance for a division or modulo; both of the same operands have one.
    fn divider(&self, number: usize, left: usize, right: usize) -> Vec<String> {
        let node = self.datapath.nodes[number];
        let is_quotient = matches!(node.kind, NodeKind::Binary { operator: Binary::Divide, .. });
        let other = self.datapath.other_division(number);
        let name = &self.names[number][0];
        let declared = format!("{};", declaration(node.value, name));
        if other.is_some() && !is_quotient {
            return vec![declared];
        }
        let mut lines = vec![declared];
        let other = match other {
            Some(other) => self.names[other][0].clone(),
            None => {
                let found = self.unused_results.iter().find(|(known, _)| *known == number);
                let unused = found.map(|(_, name)| name.clone()).unwrap_or_default();
                lines.push(format!("{};", declaration(node.value.unsigned(), &unused)));
                unused
            }
        };
        let (quotient, remainder) = if is_quotient { (name, &other) } else { (&other, name) };
        let operand = |node: usize| self.read(node, self.datapath.nodes[number].stage);
        lines.extend([
            "pushmem_divider #(".to_owned(),
            format!("    .Width  ({}),", node.value.bits()),
            format!("    .Signed (1'b{})", u8::from(node.value.is_signed())),
            format!(") u_{name} ("),
            "    .clk_i       (clk_i),".to_owned(),
            "    .step_i      (step_i),".to_owned(),
            format!("    .dividend_i  ({}),", operand(left)),
            format!("    .divisor_i   ({}),", operand(right)),
            format!("    .quotient_o  ({quotient}),"),
            format!("    .remainder_o ({remainder})"),
            ");".to_owned(),
        ]);
        lines
    }
}

/// A long assignment with a choice in it on several lines.
fn broken(assignment: &str) -> Vec<String> {
    let choices = assignment.replace(" ? ", "\n    ? ").replace(" : ", "\n    : ");
    choices.lines().map(str::to_owned).collect()
}

/// The lowest bit of a node that nothing uses in its last stage, if all that uses it there takes its low bits only.
fn lowest_unused(datapath: &Datapath, number: usize, last: u64) -> Option<u32> {
    if number == datapath.result && last == datapath.latency {
        return None;
    }
    let users = datapath.nodes.iter().filter(|node| node.stage == last && node.kind.operands().contains(&number));
    let used = users.map(|user| match user.kind {
        NodeKind::Cast(_) => user.value.bits(),
        NodeKind::Fetch { address_bits, .. } | NodeKind::Read { address_bits, .. } => address_bits,
        _ => u32::MAX,
    });
    used.max().filter(|used| *used < datapath.nodes[number].value.bits())
}

fn cast(text: &str, from: Type, to: Type) -> String {
    let (from_bits, to_bits) = (from.bits(), to.bits());
    let sized = if to_bits == from_bits { text.to_owned() } else { format!("{to_bits}'({text})") };
    match (from.is_signed(), to.is_signed()) {
        (false, true) => format!("$signed({sized})"),
        (true, false) => format!("$unsigned({sized})"),
        _ => sized,
    }
}

fn binary_with_constant(operator: Binary, left: &str, operands: Type, number: i64) -> String {
    match operator {
        Binary::ShiftLeft => format!("{left} << {number}"),
        Binary::ShiftRight if operands.is_signed() => format!("{left} >>> {number}"),
        Binary::ShiftRight => format!("{left} >> {number}"),
        Binary::And | Binary::Or | Binary::Xor => format!("{left} {} {}", operator.symbol(), mask(number, operands)),
        _ => binary(operator, left, &literal(number, operands), operands),
    }
}

fn binary(operator: Binary, left: &str, right: &str, operands: Type) -> String {
    let zero = literal(0, operands);
    match operator {
        Binary::Minimum => format!("{left} < {right} ? {left} : {right}"),
        Binary::Maximum => format!("{left} < {right} ? {right} : {left}"),
        Binary::AbsoluteDifference => {
            let distance = format!("{left} < {right} ? {right} - {left} : {left} - {right}");
            if operands.is_signed() { format!("$unsigned({distance})") } else { distance }
        }
        // A negative amount shifts the other way: by ~amount, which is one less than -amount, and by one.
        Binary::ShiftLeft if operands.is_signed() => {
            format!("{right} < {zero} ? ({left} >>> $unsigned(~{right})) >>> 1 : {left} << $unsigned({right})")
        }
        Binary::ShiftRight if operands.is_signed() => {
            format!("{right} < {zero} ? ({left} << $unsigned(~{right})) << 1 : {left} >>> $unsigned({right})")
        }
        _ => format!("{left} {} {right}", operator.symbol()),
    }
}
