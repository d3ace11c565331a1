//! The view of a tile in a wave viewer.

use itertools::Itertools;
use pushmem_affine::Affine;
use pushmem_configuration::{Configuration, ControllerConfiguration};
use pushmem_tile::{Controller, Kind, Memory, TileSpec, index_bits_for};

use crate::{Format, Group, Signal, View};

/// Names in the group of a controller that no loop may have.
pub const WAVE_NAMES: [&str; 12] =
    ["clk", "rst_n", "flush", "step", "cycle_q", "advance", "indices", "fires", "agg", "sram", "tb", "register_file"];

/// The prefix of the name of a level, before its number.
const LEVEL: &str = "level_";

/// A loop index in terms of the indices of a controller: `place / divisor mod extent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopIndex {
    /// Name of the loop, an identifier that is not one of [`WAVE_NAMES`].
    pub name: String,
    /// Its iterations.
    pub extent: u64,
    /// Where the controller is among several loops that follow each other without a gap; start and strides are positive.
    pub place: Affine,
    /// How often the place steps before the index does.
    pub divisor: u64,
}

/// Which ports of a tile pass words in two's complement; those that are not said do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedPorts {
    /// Of each input.
    pub inputs: Vec<bool>,
    /// Of each output.
    pub outputs: Vec<bool>,
}

/// The view of a tile that is simulated by itself. It does not depend on the configuration, but for what the layouts show:
/// controllers that run, and the levels of their loops that are configured.
pub fn tile_view(spec: &TileSpec, module: &str, configuration: &Configuration) -> View {
    let mut tile = tile_group(spec, "tile", module, &SignedPorts::default(), |controller| Some(levels(controller)));
    tile.open = true;
    let controllers = spec.controllers();
    for group in &mut tile.groups {
        if controllers.iter().any(|controller| controller.name == group.name) {
            show_configured(group, configuration.controllers.get(&group.name));
        }
    }
    View {
        module: module.to_owned(),
        flush: format!("{module}.flush_i"),
        step: format!("~{module}.stall_i"),
        groups: vec![tile],
    }
}

/// Leaves out of the layouts what the configuration does not use of a controller.
fn show_configured(group: &mut Group, configured: Option<&ControllerConfiguration>) {
    let levels = configured.map_or(0, |configured| configured.extent.len());
    let is_used = |name: &str| match name.strip_prefix(LEVEL).map(str::parse::<usize>) {
        Some(Ok(level)) => level < levels,
        _ => configured.is_some(),
    };
    for signal in group.signals.iter_mut().filter(|signal| !is_used(&signal.name)) {
        signal.format = None;
    }
}

/// The levels of a controller as they are.
pub fn levels(controller: &Controller) -> Vec<LoopIndex> {
    let level = |level: usize| {
        let mut stride = vec![0; level + 1];
        stride[level] = 1;
        let (name, extent) = (format!("{LEVEL}{level}"), 1 << controller.extent_bits);
        LoopIndex { name, extent, place: Affine { start: 0, stride }, divisor: 1 }
    };
    (0..controller.levels as usize).map(level).collect()
}

/// The group of a tile: what passes its ports, its controllers, and its memories. `path` is where the instance is,
/// `signed` says which words have a sign, and `loops` gives the indices that a controller is shown with, or nothing to leave
/// it out.
pub fn tile_group(
    spec: &TileSpec,
    name: &str,
    path: &str,
    signed: &SignedPorts,
    loops: impl Fn(&Controller) -> Option<Vec<LoopIndex>>,
) -> Group {
    let mut group = Group::closed(name);
    group.groups.push(streams(spec, path, signed));
    let controllers = spec.controllers();
    let shown =
        controllers.iter().filter_map(|controller| Some(self::controller(controller, path, &loops(controller)?)));
    group.groups.extend(shown);
    match spec.kind {
        Kind::WideFetch { fetch_width, .. } => wide_memories(&mut group, spec, fetch_width, path),
        Kind::DualPort | Kind::QuadPort | Kind::RegisterFile => direct_memories(&mut group, spec, path),
        Kind::Rom => {
            let mut sram = Group::open("sram");
            sram.signal("address", index_bits_for(spec.rows), format!("{path}.address"), Format::Decimal);
            sram.signal("word", spec.word_bits, format!("{path}.rom_word"), Format::Hexadecimal);
            group.groups.push(sram);
        }
    }
    group
}

fn streams(spec: &TileSpec, path: &str, signed: &SignedPorts) -> Group {
    let mut streams = Group::open("ports");
    let curve = |signed: &[bool], port: u32| Format::curve(signed.get(port as usize).is_some_and(|signed| *signed));
    for port in 0..spec.inputs {
        streams.bit(format!("in_{port}_taken"), format!("{path}.data_in_{port}_taken_o"));
        match spec.kind {
            Kind::Rom => {
                let value = format!("{path}.address_in_{port}_i");
                streams.signal(format!("address_{port}"), index_bits_for(spec.rows), value, Format::Decimal);
            }
            _ => {
                let value = format!("{path}.data_in_{port}_i");
                streams.signal(format!("in_{port}"), spec.word_bits, value, curve(&signed.inputs, port));
            }
        }
    }
    for port in 0..spec.outputs {
        streams.bit(format!("out_{port}_valid"), format!("{path}.data_out_{port}_valid_o"));
        let value = format!("{path}.data_out_{port}_o");
        streams.signal(format!("out_{port}"), spec.word_bits, value, curve(&signed.outputs, port));
    }
    streams
}

/// A controller: whether it fires, with which indices, at which addresses. Its extents are read at its own ports.
fn controller(controller: &Controller, path: &str, loops: &[LoopIndex]) -> Group {
    let Controller { name, levels, extent_bits, .. } = controller;
    let instance = format!("{path}.{}", controller.instance());
    let mut group = Group::open(name.as_str());
    group.body = format!(
        "logic fires;
assign fires = {instance}.fire_o;
logic [{}:0] indices;
pushmem_wave_indices #(
    .Levels     ({levels}),
    .ExtentBits ({extent_bits})
) u_indices (
    .clk_i     (clk),
    .flush_i   ({instance}.flush_i),
    .advance_i (fires && !{instance}.stall_i),
    .extents_i ({instance}.extents_i),
    .indices_o (indices)
);
",
        levels * extent_bits - 1
    );
    group.signals.push(Signal { name: "fires".to_owned(), bits: 1, value: None, format: Some(Format::Bit) });
    for index in loops {
        let bits = (u64::BITS - (index.extent - 1).leading_zeros()).max(1);
        group.signal(index.name.as_str(), bits, index_value(index, bits, *extent_bits), Format::Decimal);
    }
    for address in controller.addresses.iter().filter(|address| address.bits > 0) {
        let memory = address.memory.name();
        let value = format!("{path}.{}", controller.signal(&format!("{memory}_address")));
        group.signal(memory, address.bits, value, Format::Decimal);
    }
    group
}

/// A loop index in SystemVerilog.
fn index_value(index: &LoopIndex, bits: u32, extent_bits: u32) -> String {
    let term = |(level, &stride): (usize, &i64)| {
        let digits = format!("64'(indices[{}+:{extent_bits}])", level as u32 * extent_bits);
        match stride {
            0 => None,
            1 => Some(digits),
            _ => Some(format!("64'd{stride} * {digits}")),
        }
    };
    let terms = index.place.stride.iter().enumerate().filter_map(term);
    let start = (index.place.start != 0).then(|| format!("64'd{}", index.place.start));
    let sum = terms.chain(start).join(" + ");
    let sum = if sum.is_empty() { "64'd0".to_owned() } else { sum };
    format!("{bits}'(({sum}) / 64'd{} % 64'd{})", index.divisor, index.extent)
}

fn wide_memories(group: &mut Group, spec: &TileSpec, fetch_width: u32, path: &str) {
    let (row_bits, address_bits) = (fetch_width * spec.word_bits, index_bits_for(spec.rows));
    for input in 0..spec.inputs {
        let mut agg = Group::open(format!("agg_{input}"));
        agg.signal("row", row_bits, format!("{path}.agg_row[{input}]"), Format::Hexadecimal);
        group.groups.push(agg);
    }
    let mut sram = Group::open("sram");
    sram.bit("writes", format!("|{path}.sram_write"));
    sram.signal("write_address", address_bits, format!("{path}.sram_write_address"), Format::Decimal);
    sram.signal("write_row", row_bits, format!("{path}.sram_write_row"), Format::Hexadecimal);
    sram.bit("reads", format!("|{path}.sram_read"));
    sram.signal("read_address", address_bits, format!("{path}.sram_read_address"), Format::Decimal);
    sram.signal("read_row", row_bits, format!("{path}.sram_row"), Format::Hexadecimal);
    group.groups.push(sram);
    for output in 0..spec.outputs {
        let mut tb = Group::open(format!("tb_{output}"));
        tb.bit("written", format!("{path}.tb_write[{output}]"));
        tb.signal("word", spec.word_bits, format!("{path}.tb_word[{output}]"), Format::Hexadecimal);
        group.groups.push(tb);
    }
}

fn direct_memories(group: &mut Group, spec: &TileSpec, path: &str) {
    let (memory, address_bits) = (spec.main_memory(), index_bits_for(spec.rows));
    for port in 0..spec.kind.memory_ports() {
        let at = if spec.kind.memory_ports() > 1 { format!("[{port}]") } else { String::new() };
        let mut ports = Group::open(format!("{}_port_{port}", memory.name()));
        ports.bit("writes", format!("{path}.port_write{at}"));
        ports.signal("write_address", address_bits, format!("{path}.port_write_address{at}"), Format::Decimal);
        ports.signal("write_word", spec.word_bits, format!("{path}.port_write_word{at}"), Format::Hexadecimal);
        if memory == Memory::Sram {
            ports.bit("reads", format!("{path}.port_read{at}"));
        }
        ports.signal("read_address", address_bits, format!("{path}.port_read_address{at}"), Format::Decimal);
        ports.signal("read_word", spec.word_bits, format!("{path}.words_read{at}"), Format::Hexadecimal);
        group.groups.push(ports);
    }
}
