//! Netlists as text.

use std::fmt::Write as _;

use pushmem_affine::Affine;
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::{ArraySpec, Layer, TileKind};
use pushmem_pe::{Mode, PeConfiguration};
use pushmem_resources::TileLayout;

use crate::netlist::{Cell, CellId, Core, Netlist};

impl Netlist {
    /// The netlist as YAML: cells with their operations and constants, and nets by names of ports. Reading it for the same
    /// array gives the same netlist.
    pub fn to_yaml(&self, spec: &ArraySpec) -> String {
        let layouts = TileKind::ALL.map(|kind| TileLayout::of(spec, kind));
        let layout = |cell: CellId| &layouts[self.cells[cell].core.kind() as usize];
        let mut text = format!("netlist: {}\narray: {}\ncells:", self.name, spec.name);
        text += if self.cells.is_empty() { " []\n" } else { "\n" };
        for (cell, Cell { name, core }) in self.cells.iter_enumerated() {
            let bank = self.banks.iter().find(|bank| [bank.load, bank.store].contains(&cell));
            let bank = bank.map_or(String::new(), |bank| format!(", bank: {}", bank.name));
            match core {
                Core::Input => writeln!(text, "  - {{name: {name}, stream: input{bank}}}"),
                Core::Output => writeln!(text, "  - {{name: {name}, stream: output{bank}}}"),
                Core::Pe(pe) => writeln!(text, "  - {{name: {name}, {}}}", operation(layout(cell), pe)),
                Core::Predicate(ControllerConfiguration { extent, cycle, .. }) => {
                    let Affine { start, stride } = cycle;
                    let (extent, stride) = (list(extent.iter()), list(stride.iter()));
                    let cycle = format!("cycle: {{start: {start}, stride: {stride}}}");
                    writeln!(text, "  - {{name: {name}, predicate: {{extent: {extent}, {cycle}}}}}")
                }
                Core::Memory(memory) => {
                    let lines = memory.to_yaml().lines().map(|line| format!("      {line}\n")).collect::<String>();
                    write!(text, "  - name: {name}\n    memory:\n{lines}")
                }
            }
            .expect("writing to a string cannot fail");
        }
        text += if self.nets.is_empty() { "nets: []\n" } else { "nets:\n" };
        for net in &self.nets {
            let output = &layout(net.source).cell_outputs(net.layer)[net.port as usize].name;
            let source = &self.cells[net.source].name;
            let layer = net.layer.name();
            writeln!(text, "  - layer: {layer}\n    from: {source}.{output}\n    to:").expect("as above");
            for sink in &net.sinks {
                let input = &layout(sink.cell).cell_inputs(net.layer)[sink.port as usize].name;
                let cell = &self.cells[sink.cell].name;
                let cycles = sink.cycles;
                writeln!(text, "      - {{input: {cell}.{input}, cycles: {cycles}}}").expect("as above");
            }
        }
        text
    }
}

/// Numbers as a list.
fn list(numbers: impl Iterator<Item: std::fmt::Display>) -> String {
    format!("[{}]", numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", "))
}

/// The keys of an operation.
fn operation(layout: &TileLayout, pe: &PeConfiguration) -> String {
    let mut text = format!("operation: {}", pe.operation.name());
    let words =
        pe.words.iter().zip(layout.cell_inputs(Layer::Word)).map(|(word, port)| (word.mode, word.constant, port));
    let bits =
        pe.bits.iter().zip(layout.cell_inputs(Layer::Bit)).map(|(bit, port)| (bit.mode, bit.constant.into(), port));
    let constants: Vec<String> = words
        .chain(bits)
        .filter(|(mode, constant, _)| matches!(mode, Mode::Constant | Mode::Accumulated) && *constant != 0)
        .map(|(_, constant, port)| format!("{}: {constant}", port.name))
        .collect();
    if !constants.is_empty() {
        write!(text, ", constants: {{{}}}", constants.join(", ")).expect("writing to a string cannot fail");
    }
    let words = pe.words.iter().zip(layout.inputs(Layer::Word));
    let mode = |mode: Mode| match mode {
        Mode::Held => Some("held"),
        Mode::Accumulated => Some("accumulated"),
        Mode::Constant | Mode::Direct | Mode::Delayed(_) | Mode::Undefined(_) => None,
    };
    let modes: Vec<String> =
        words.filter_map(|(word, port)| Some(format!("{}: {}", port.name, mode(word.mode)?))).collect();
    if !modes.is_empty() {
        write!(text, ", modes: {{{}}}", modes.join(", ")).expect("as above");
    }
    if let Some(lut) = pe.lut {
        write!(text, ", lut: 0x{lut:02x}").expect("writing to a string cannot fail");
    }
    text
}
