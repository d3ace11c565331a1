//! The memories of a design, printed in place of the model of the SRAM wrapper.

use std::borrow::Borrow;

use askama::Template;
use itertools::Itertools;
use pushmem_files::Diagnostic;

use crate::assembly::Assembly;
use crate::binding::{Active, Binding, Edge, Kit, Output, Pin};
use crate::clock_gate::ClockGate;

/// The most iterations of a loop that Verilator unrolls, unless it is told otherwise.
const UNROLLED: u32 = 64;

/// The file of the SRAM wrapper.
const WRAPPER: &str = "pushmem_sram.sv";

#[derive(Template)]
#[template(path = "pushmem_sram.sv", escape = "none")]
struct Wrapper<'a> {
    assemblies: &'a [Assembly],
}

#[derive(Template)]
#[template(path = "memory.sv", escape = "none")]
struct MemoryModule<'a> {
    assembly: &'a Assembly,
}

impl MemoryModule<'_> {
    /// Whether the macro leaves open which row a port reads while another writes it.
    fn asserts(&self) -> bool {
        !self.assembly.memory.exclusive && !self.assembly.binding.reads_while_written
    }
}

#[derive(Template)]
#[template(path = "model.sv", escape = "none")]
struct Model<'a> {
    binding: &'a Binding,
}

#[derive(Template)]
#[template(path = "stub.sv", escape = "none")]
struct Stub<'a> {
    binding: &'a Binding,
}

/// The memories of a design's tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Technology {
    assemblies: Vec<Assembly>,
    clock_gate: Option<ClockGate>,
}

impl Technology {
    /// The memories of a design; each wrapper has one.
    ///
    /// # Errors
    /// When two tiles need the same wrapper, but different macros were named for them, or their macros are of different kits.
    pub fn new(memories: Vec<Assembly>) -> Result<Self, Diagnostic> {
        let mut assemblies: Vec<Assembly> = Vec::new();
        for one in memories {
            let Some(other) = assemblies.iter_mut().find(|other| other.memory.same_wrapper(&one.memory)) else {
                assemblies.push(one);
                continue;
            };
            // A macro that was named counts before one in the memory's own shape, and ports that read and write at once
            // can do so one after the other, too.
            let rank = |assembly: &Assembly| (assembly.is_bound(), !assembly.memory.exclusive);
            let compatible = !(one.is_bound() && other.is_bound()) || one.binding == other.binding;
            let serves = |chosen: &Assembly, left: &Assembly| !chosen.memory.exclusive || left.memory.exclusive;
            let (chosen, left) = if rank(&one) > rank(other) { (&one, &*other) } else { (&*other, &one) };
            if !compatible || !serves(chosen, left) {
                let (one, two) = (&other.memory.tile, &one.memory.tile);
                let message = format!("`{one}` and `{two}` have memories of the same shape, but different macros");
                return Err(Diagnostic::new(message).with_help("bind a macro that serves both to both"));
            }
            if rank(&one) > rank(other) {
                *other = one;
            }
        }
        for (number, left) in assemblies.iter().enumerate() {
            let differs = |right: &&Assembly| right.binding.name == left.binding.name && right.binding != left.binding;
            if assemblies[number..].iter().any(|right| differs(&right)) {
                let message = format!("the macro `{}` is described in two ways", left.binding.name);
                return Err(Diagnostic::new(message).with_help("use one binding for it"));
            }
        }
        let kits = assemblies.iter().filter_map(|one| Some((&one.memory.tile, one.binding.views.kit.as_ref()?)));
        if let Some(((one, left), (two, right))) = kits.tuple_windows().find(|((_, left), (_, right))| left != right) {
            let message = format!("the macros of `{one}` and `{two}` are of different kits: {left} and {right}");
            return Err(Diagnostic::new(message).with_help("a design is made in one kit: bind macros of the same"));
        }
        Ok(Technology { assemblies, clock_gate: None })
    }

    /// With a cell for clock gates.
    pub fn with_clock_gate(self, clock_gate: Option<ClockGate>) -> Self {
        Technology { clock_gate, ..self }
    }

    /// Puts the memories in place of the model of the wrapper among SystemVerilog files, name and text of each, and the cell
    /// in place of that of the clock gate.
    pub fn bind(&self, files: Vec<(String, String)>) -> Vec<(String, String)> {
        let bound = |file: (String, String)| match &self.clock_gate {
            _ if file.0 == WRAPPER => self.files(),
            Some(gate) => gate.bind(file),
            None => vec![file],
        };
        files.into_iter().flat_map(bound).collect()
    }

    /// The models of the macros, the memories, and the wrapper that chooses among them: name and text of each file.
    fn files(&self) -> Vec<(String, String)> {
        let models = self.bindings().map(|binding| (binding, render(&Model { binding })));
        let mut files = models.map(|(binding, text)| (format!("{}.sv", binding.name), text)).collect_vec();
        files.extend(
            self.assemblies
                .iter()
                .map(|assembly| (format!("{}.sv", assembly.memory.name), render(&MemoryModule { assembly }))),
        );
        files.push((WRAPPER.to_owned(), render(&Wrapper { assemblies: &self.assemblies })));
        files
    }

    /// The files that synthesis reads instead of the models: name and text of each. Names are those of the models.
    pub fn stubs(&self) -> Vec<(String, String)> {
        let macros = self.bindings().map(|binding| (&binding.name, render(&Stub { binding })));
        let gates = self.clock_gate.iter().map(|gate| (&gate.cell, gate.module(false)));
        macros.chain(gates).map(|(name, text)| (format!("{name}.sv"), text)).collect()
    }

    /// The modules that are the chip's own, and black boxes for synthesis: the macros, and the cell of clock gates.
    pub fn black_boxes(&self) -> impl Iterator<Item = &str> {
        let gates = self.clock_gate.iter().map(|gate| gate.cell.as_str());
        self.bindings().map(|binding| binding.name.as_str()).chain(gates)
    }

    /// The cell of clock gates, where one is named.
    pub fn clock_gate(&self) -> Option<&ClockGate> {
        self.clock_gate.as_ref()
    }

    /// The memories.
    pub fn assemblies(&self) -> &[Assembly] {
        &self.assemblies
    }

    /// The kit of the macros, if one of them is of a kit.
    pub fn kit(&self) -> Option<&Kit> {
        self.bindings().find_map(|binding| binding.views.kit.as_ref())
    }

    /// The macros, each once.
    pub fn bindings(&self) -> impl Iterator<Item = &Binding> {
        self.assemblies.iter().map(|assembly| &assembly.binding).unique_by(|binding| &binding.name)
    }
}

fn render(template: &impl Template) -> String {
    template.render().expect("templates write to memory").trim().to_owned() + "\n"
}

/// A range of SystemVerilog before a name; nothing for a single bit.
fn range(bits: impl Borrow<u32>) -> String {
    let bits = *bits.borrow();
    if bits == 1 { String::new() } else { format!("[{}:0] ", bits - 1) }
}

/// Ports of a module that read like a table: direction, range and name of each pin.
fn declarations(binding: &Binding) -> Vec<String> {
    let pins = binding.pins();
    let widest = pins.iter().map(|(_, bits, _)| range(bits).len()).max().unwrap_or(0);
    let declared = pins.iter().map(|(name, bits, output)| {
        let direction = if *output { "output" } else { "input " };
        format!("{direction} logic {:<widest$}{name}", range(bits))
    });
    declared.collect()
}

/// The condition that a control signal is active.
fn is_active(pin: &Pin) -> String {
    match pin.active {
        Active::High => pin.port.clone(),
        Active::Low => format!("!{}", pin.port),
    }
}

impl Model<'_> {
    /// The clocks with their edges, each with its ports: they change in one process.
    fn clocks(&self) -> Vec<(&str, &'static str, Vec<ModelPort<'_>>)> {
        let ports = self.binding.ports.iter();
        let clocks = ports.clone().map(|port| (port.clock.as_str(), port.edge)).unique_by(|clock| clock.0);
        let of = |name: &str| ports.clone().filter(|port| port.clock == name).map(|port| ModelPort { port }).collect();
        let edge = |edge| if edge == Edge::Rising { "posedge" } else { "negedge" };
        clocks.map(|(name, which)| (name, edge(which), of(name))).collect()
    }

    /// Whether one process writes all rows, as `always_ff` asks.
    fn one_writer(&self) -> bool {
        self.clocks().iter().filter(|(.., ports)| ports.iter().any(|entry| entry.port.writes())).count() <= 1
    }

    fn one_cycle(&self) -> bool {
        self.binding.output == Output::OneCycle
    }
}

struct ModelPort<'a> {
    port: &'a crate::binding::MacroPort,
}

impl ModelPort<'_> {
    /// The condition of a write.
    fn write(&self) -> Option<String> {
        self.port.writes().then(|| self.condition(self.port.write.as_ref(), None))
    }

    /// The condition of a read.
    fn read(&self) -> Option<String> {
        let not_write = if self.port.read.is_none() { self.port.write.as_ref() } else { None };
        self.port.reads().then(|| self.condition(self.port.read.as_ref(), not_write))
    }

    fn condition(&self, enable: Option<&Pin>, other: Option<&Pin>) -> String {
        let opposite = |pin: &Pin| match pin.active {
            Active::High => format!("!{}", pin.port),
            Active::Low => pin.port.clone(),
        };
        let pins = self.port.select.iter().chain(enable).map(is_active);
        pins.chain(other.map(opposite)).join(" && ")
    }

    /// The condition that a bit of the mask lets write.
    fn masked(&self) -> Option<(String, u32)> {
        let mask = self.port.mask.as_ref()?;
        let invert = if mask.active == Active::High { "" } else { "!" };
        Some((format!("{invert}{}[pushmem_part]", mask.port), mask.bits))
    }

    /// The parts of a row in each loop: the first, and the one after the last. Verilator has no delayed assignments to memories in
    /// loops that it does not unroll.
    fn loops(&self, parts: u32) -> Vec<(u32, u32)> {
        (0..parts).step_by(UNROLLED as usize).map(|first| (first, (first + UNROLLED).min(parts))).collect()
    }
}
