//! Configurations as text.

use std::fmt::Write as _;

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_configuration::ControllerConfiguration;
use pushmem_fabric::{ArraySpec, Direction, Layer, Side, TileKind};
use pushmem_pe::Mode;
use pushmem_resources::{Graph, Local, Meaning, MultiplexerInput, Node, TileLayout};

use crate::bank::{BankConfiguration, bank_name};
use crate::configuration::{Configuration, TileConfiguration, TileName};

/// The name of nothing, where a track could be chosen.
pub const NOTHING: &str = "nothing";

/// The beginning of the names of choices that a multiplexer does not have.
pub const UNCONNECTED: &str = "unconnected_";

/// The beginning of the names of opcodes of no operation.
pub const OPCODE: &str = "opcode_";

/// The beginning of the names of modes that an operand does not have.
pub const MODE: &str = "mode_";

impl Configuration {
    /// The configuration as YAML, tile by tile: operation, operands, routes by name. Reading it gives the same configuration.
    pub fn to_yaml(&self, spec: &ArraySpec, graph: &Graph) -> String {
        let mut text = format!("array: {}\nspec_digest: {}\ntiles:", spec.name, spec.digest());
        let busy = self.tiles.iter().filter(|(_, tile)| !tile.is_idle()).collect_vec();
        text += if busy.is_empty() { " {}\n" } else { "\n" };
        for (place, tile) in busy {
            let kind = graph.kind(*place).expect("tiles are those of the array");
            writeln!(text, "  {}:", TileName { kind, place: *place }).expect("writing to a string cannot fail");
            text += &tile_lines(spec, graph.layout(kind), tile).map(|line| format!("    {line}\n")).join("");
        }
        let busy = self.banks.iter().filter(|(_, bank)| !bank.is_idle()).collect_vec();
        text += if busy.is_empty() { "" } else { "banks:\n" };
        for (bank, configuration) in busy {
            writeln!(text, "  {}:", bank_name(*bank)).expect("writing to a string cannot fail");
            text += &bank_lines(configuration).map(|line| format!("    {line}\n")).join("");
        }
        text
    }
}

/// The lines of a tile, without the indentation of all.
fn tile_lines(spec: &ArraySpec, layout: &TileLayout, tile: &TileConfiguration) -> impl Iterator<Item = String> {
    let mut lines = Vec::new();
    match layout.kind {
        TileKind::Pe => {
            lines.extend(operation(spec, layout, tile));
            lines.extend(under("inputs", inputs(layout, tile)));
        }
        TileKind::Memory => lines.extend(under("inputs", inputs(layout, tile))),
        TileKind::Io => {
            lines.extend(streams(spec, layout, tile));
            lines.extend(under("inputs", inputs(layout, tile)));
        }
    }
    for layer in Layer::ALL {
        lines.extend(under(&format!("{}s", layer.name()), routes(layout, tile, layer)));
    }
    let passing = layout.fields.iter().zip(&tile.fields).filter_map(|(field, value)| match field.meaning {
        Meaning::Pass { layer, side, track } if *value != 0 => {
            Some(format!("{}_{}", layer.name(), outgoing(side, track)))
        }
        _ => None,
    });
    let passing = passing.collect_vec();
    if !passing.is_empty() {
        lines.push(format!("passing: [{}]", passing.join(", ")));
    }
    if let Some(memory) = &tile.memory {
        lines.extend(under("memory", memory.to_yaml().lines().map(str::to_owned).collect()));
    }
    lines.into_iter()
}

/// The lines of a bank, without the indentation of all.
fn bank_lines(bank: &BankConfiguration) -> impl Iterator<Item = String> {
    let line = |direction: Direction| {
        let ControllerConfiguration { extent, cycle, sram, .. } = bank.transfer(direction)?;
        let affine = |function: &Affine| {
            format!("{{start: {}, stride: [{}]}}", function.start, function.stride.iter().join(", "))
        };
        let sram = sram.as_ref().map_or(String::new(), |sram| format!(", sram: {}", affine(sram)));
        let extents = extent.iter().join(", ");
        Some(format!("{}: {{extent: [{extents}], cycle: {}{sram}}}", direction.transfer(), affine(cycle)))
    };
    let common_time = bank.common_time.then(|| "common_time: true".to_owned());
    common_time.into_iter().chain(Direction::ALL.into_iter().filter_map(line))
}

/// The streams of an IO tile. Registers of one that has no beats, or a schedule that no program would ask for, are shown as they
/// are.
fn streams(spec: &ArraySpec, layout: &TileLayout, tile: &TileConfiguration) -> Vec<String> {
    let mut lines = Vec::new();
    let mut registers = Vec::new();
    for direction in Direction::ALL {
        match tile.stream(spec, layout, direction) {
            Some(ControllerConfiguration { extent, cycle, .. }) => lines.push(format!(
                "{}: {{extent: [{}], cycle: {{start: {}, stride: [{}]}}}}",
                direction.stream(),
                extent.iter().join(", "),
                cycle.start,
                cycle.stride.iter().join(", ")
            )),
            None => registers.extend(layout.fields.iter().zip(&tile.fields).filter_map(|(field, value)| {
                let is_set = *value != 0 && field.meaning.stream() == Some(direction);
                is_set.then(|| format!("{}: {value}", field.meaning.name()))
            })),
        }
    }
    if !registers.is_empty() {
        lines.push(format!("registers: {{{}}}", registers.join(", ")));
    }
    lines
}

/// A key with lines below it; nothing without them.
fn under(key: &str, lines: Vec<String>) -> Vec<String> {
    let head = (!lines.is_empty()).then(|| format!("{key}:"));
    head.into_iter().chain(lines.into_iter().map(|line| format!("  {line}"))).collect()
}

fn operation(spec: &ArraySpec, layout: &TileLayout, tile: &TileConfiguration) -> Vec<String> {
    let opcode = tile.value(layout, Meaning::Operation);
    let name =
        spec.pe.operation(opcode).map_or_else(|| format!("{OPCODE}{opcode}"), |operation| operation.name().to_owned());
    let mut lines = vec![format!("operation: {name}")];
    let (lut, selected) = (tile.value(layout, Meaning::Lut), tile.value(layout, Meaning::LutSelected) != 0);
    if selected {
        lines.push(format!("lut: 0x{lut:02x}"));
    } else if lut != 0 {
        lines.push(format!("unused_lut: 0x{lut:02x}"));
    }
    let operands = Layer::ALL.into_iter().flat_map(|layer| {
        let ports = layout.cell_inputs(layer).iter().zip(0..);
        ports
            .filter_map(move |(port, number)| Some(format!("{}: {}", port.name, operand(layout, tile, layer, number)?)))
    });
    lines.extend(under("operands", operands.collect()));
    lines
}

/// An operand: its constant, or the track that it takes and the cycles by which it is late. Nothing for the constant 0.
fn operand(layout: &TileLayout, tile: &TileConfiguration, layer: Layer, operand: u32) -> Option<String> {
    let value = |meaning: Meaning| tile.value(layout, meaning);
    let mode = tile.mode(layout, layer, operand);
    let constant = value(Meaning::Constant { layer, operand });
    let from = value(Meaning::Connection { layer, port: operand });
    if (mode, constant, from) == (Mode::Constant, 0, 0) {
        return None;
    }
    let mut parts = Vec::new();
    if constant != 0 || matches!(mode, Mode::Constant | Mode::Accumulated) {
        parts.push(format!("constant: {constant}"));
    }
    if mode.takes_track() || from != 0 {
        parts.push(format!("from: {}", connected(layout, layer, operand, from)));
    }
    match mode {
        Mode::Constant if from != 0 => parts.push("mode: constant".to_owned()),
        Mode::Constant | Mode::Direct => {}
        Mode::Delayed(cycles) => parts.push(format!("delay: {cycles}")),
        Mode::Held => parts.push("mode: held".to_owned()),
        Mode::Accumulated => parts.push("mode: accumulated".to_owned()),
        Mode::Undefined(number) => parts.push(format!("mode: {MODE}{number}")),
    }
    Some(format!("{{{}}}", parts.join(", ")))
}

fn inputs(layout: &TileLayout, tile: &TileConfiguration) -> Vec<String> {
    let of = |layer: Layer| {
        let ports = layout.inputs(layer).iter().zip(0..).filter(|(port, _)| !layout.is_operand(port));
        ports.filter_map(move |(port, number)| {
            let from = tile.value(layout, Meaning::Connection { layer, port: number });
            (from != 0).then(|| format!("{}: {}", port.name, connected(layout, layer, number, from)))
        })
    };
    Layer::ALL.into_iter().flat_map(of).collect()
}

fn connected(layout: &TileLayout, layer: Layer, port: u32, value: u32) -> String {
    source_name(layout, local(layout, layer, Node::Input { port }), value)
}

fn routes(layout: &TileLayout, tile: &TileConfiguration, layer: Layer) -> Vec<String> {
    let routes = layout.fields.iter().zip(&tile.fields).filter_map(|(field, value)| match field.meaning {
        Meaning::Select { layer: of, side, track } if of == layer && *value != 0 => {
            let register = local(layout, layer, Node::Register { side, track });
            Some(format!("{}: {}", outgoing(side, track), source_name(layout, register, *value)))
        }
        _ => None,
    });
    routes.collect()
}

/// The name of a track, on its side of the tile.
pub fn outgoing(side: Side, track: u32) -> String {
    format!("{}_{track}", side.name())
}

/// The node of a tile.
pub fn local(layout: &TileLayout, layer: Layer, node: Node) -> &Local {
    let found = layout.locals.binary_search_by_key(&(layer, node), |local| (local.layer, local.node));
    &layout.locals[found.expect("fields have nodes")]
}

/// The name of what a node takes at a value of its field.
pub fn source_name(layout: &TileLayout, local: &Local, value: u32) -> String {
    if value < local.first_value {
        return NOTHING.to_owned();
    }
    match local.choice(value) {
        Some(MultiplexerInput::Incoming { side, track }) => outgoing(*side, *track),
        Some(MultiplexerInput::Core { port }) => layout.outputs(local.layer)[*port as usize].name.clone(),
        Some(MultiplexerInput::Register) => "register".to_owned(),
        None => format!("{UNCONNECTED}{value}"),
    }
}
