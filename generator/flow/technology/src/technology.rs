//! The memories of a design, printed in place of the model of the SRAM wrapper.

use std::borrow::Borrow;

use askama::Template;
use itertools::Itertools;
use pushmem_files::{Diagnostic, render, replace_identifiers, text};

use crate::assembly::Assembly;
use crate::binding::{Active, Binding, ClockEdge, Kit, Output, Pin};
use crate::clock_gate::ClockGate;

/// The most iterations of a loop that Verilator unrolls, unless it is told otherwise.
const UNROLLED: u32 = 64;

/// The beginning of the names of the generator's own modules, and the rest of that of the SRAM wrapper.
const LIBRARY: &str = "pushmem_";
const WRAPPER: &str = "sram";

#[derive(Template)]
#[template(path = "model.sv", escape = "none")]
struct Model<'a> {
    binding: &'a Binding,
}

/// The memories of a design's tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Technology {
    assemblies: Vec<Assembly>,
    clock_gate: Option<ClockGate>,
}

impl Technology {
    /// The memories of a design, one for each tile.
    ///
    /// # Errors
    /// When two bindings describe one macro, or macros are of different kits.
    pub fn new(assemblies: Vec<Assembly>) -> Result<Self, Diagnostic> {
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

    /// Puts the memory of each tile in place of the model of the wrapper among SystemVerilog files, name and text of each, and the cell
    /// in place of that of the clock gate. A tile names its own memory then, so that its files are the same in every design.
    pub fn bind(&self, files: Vec<(String, String)>) -> Vec<(String, String)> {
        let text_of = |assembly: &Assembly| {
            let file = format!("{}_tile.sv", assembly.memory.tile);
            files.iter().find(|(name, _)| *name == file).map(|(_, text)| text.clone())
        };
        let users = self.assemblies.iter().filter_map(|assembly| Some((assembly, text_of(assembly)?))).collect_vec();
        // Modules of the library with the wrapper in them, as the self-test, are a tile's own where the tile has one.
        let around = files.iter().filter(|(name, text)| own_part(name).is_some() && names(text, WRAPPER));
        let around = around.filter_map(|(name, _)| own_part(name)).chain([WRAPPER]).map(str::to_owned).collect_vec();
        let is_own = |part: &str| users.iter().any(|(_, text)| names(text, part));
        let stays = around.iter().any(|part| part != WRAPPER && !is_own(part));
        let bound = |(name, text): (String, String)| {
            let part = own_part(&name)
                .filter(|part| around.iter().any(|other| other == part) && (is_own(part) || *part == WRAPPER));
            let of = |assembly: &Assembly, text: &str| own_memory(assembly, text, &around);
            match part {
                Some(WRAPPER) => {
                    let model = (stays || users.is_empty()).then(|| (name.clone(), text.clone()));
                    self.memories(users.iter().map(|(user, _)| *user)).into_iter().chain(model).collect()
                }
                Some(part) => {
                    let users = users.iter().filter(|(_, text)| names(text, part));
                    users.map(|(user, _)| (format!("{}_{part}.sv", user.memory.tile), of(user, &text))).collect()
                }
                None => match users.iter().find(|(user, _)| name == format!("{}_tile.sv", user.memory.tile)) {
                    Some((user, text)) => vec![(name, of(user, text))],
                    None => self.clock_gate.as_ref().map_or_else(
                        || vec![(name.clone(), text.clone())],
                        |gate| gate.bind((name.clone(), text.clone())),
                    ),
                },
            }
        };
        files.iter().cloned().flat_map(bound).collect()
    }

    /// The models of the macros of these memories, and the memories: name and text of each file.
    fn memories<'a>(&self, users: impl Iterator<Item = &'a Assembly> + Clone) -> Vec<(String, String)> {
        let macros = users.clone().map(|assembly| &assembly.binding).unique_by(|binding| &binding.name);
        let models = macros.map(|binding| (format!("{}.sv", binding.name), render(&Model { binding })));
        let memory = |assembly: &Assembly| {
            text!(
                "memory.sv",
                assembly: &'a Assembly = assembly,
                /// Whether the macro leaves open which row a port reads while another writes it.
                asserts: bool = !assembly.memory.exclusive && !assembly.binding.reads_while_written,
            )
        };
        let memories = users.map(|assembly| (format!("{}.sv", assembly.memory.name), memory(assembly)));
        models.chain(memories).collect()
    }

    /// The files that synthesis reads instead of the models: name and text of each. Names are those of the models.
    pub fn stubs(&self) -> Vec<(String, String)> {
        let macros = self.bindings().map(|binding| (&binding.name, text!("stub.sv", binding: &'a Binding = binding)));
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

/// The name of a module of the library, or of its file, without its beginning.
fn own_part(name: &str) -> Option<&str> {
    name.strip_suffix(".sv").unwrap_or(name).strip_prefix(LIBRARY)
}

/// Whether a text names this module of the library.
fn names(text: &str, part: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.any(|word| own_part(word) == Some(part))
}

/// A text with the modules that a tile has of its own in place of those of the library.
fn own_memory(assembly: &Assembly, text: &str, own: &[String]) -> String {
    let named = |part: &str| format!("{}_{part}", assembly.memory.tile);
    replace_identifiers(text, |word| own_part(word).filter(|part| own.iter().any(|other| other == part)).map(named))
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
        let edge = |edge| if edge == ClockEdge::Rising { "posedge" } else { "negedge" };
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

#[cfg(test)]
mod tests {
    use pushmem_files::Document;
    use pushmem_tile::TileSpec;

    use super::*;
    use crate::TileSram;

    fn assembly(name: &str, rows: u32) -> Assembly {
        let text = format!("name: {name}\nkind: rom\nrows: {rows}\n");
        let spec = TileSpec::from_document(&Document::parse("tile.yaml", text).unwrap()).unwrap();
        let memory = TileSram::of(&spec).unwrap();
        Assembly::new(memory.clone(), Binding::in_shape_of(&memory), None).unwrap()
    }

    fn module(name: &str, uses: &str) -> (String, String) {
        (format!("{name}.sv"), format!("module {name};\n    {uses} u_memory ();\nendmodule\n"))
    }

    /// The files of a tile do not depend on the tiles beside it. Others keep the model.
    #[test]
    fn each_tile_names_its_own_memory() {
        let library = [module("pushmem_sram", ""), module("pushmem_bist", "pushmem_sram")];
        let one = module("one_tile", "pushmem_bist");
        let both = Technology::new(vec![assembly("one", 64), assembly("two", 64)]).unwrap();
        let alone = Technology::new(vec![assembly("one", 64)]).unwrap();
        let names = |files: &[(String, String)]| files.iter().map(|(name, _)| name.clone()).collect_vec();
        let of_one = alone.bind([&library[..], std::slice::from_ref(&one)].concat());
        assert_eq!(names(&of_one), ["one_sram_64x16.sv", "one_sram.sv", "one_bist.sv", "one_tile.sv"]);
        assert_eq!(both.bind([&library[..], std::slice::from_ref(&one)].concat()), of_one);
        assert!(
            of_one[2].1.contains("module one_bist;\n    one_sram u_memory")
                && of_one[3].1.contains("one_bist u_memory")
        );
        let two = module("two_tile", "pushmem_sram");
        let of_both = both.bind([&library[..], &[one, two, module("pushmem_bank", "pushmem_sram")]].concat());
        assert!(of_one.iter().all(|file| of_both.contains(file)), "{of_both:?}");
        assert!(of_both.contains(&library[0]) && of_both.contains(&module("two_tile", "two_sram")), "{of_both:?}");
        assert!(of_both.contains(&module("pushmem_bank", "pushmem_sram")), "{of_both:?}");
    }
}
