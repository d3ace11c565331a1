//! The top module of a tile, by variant, and its assertions.

use askama::Template;
use itertools::Itertools;
use pushmem_registers::Contents;
use pushmem_tile::{Kind, Memory, Role, Style, TileSpec, timing};
use pushmem_veryl::Source;

use crate::library::render;
use crate::names::{Names, bits_for};
use crate::view::{AddressView, ControllerView, Signal, TileView, wide_fetch};

/// Row and lane of a word in a buffer of rows.
struct WordPlace {
    row: String,
    lane: String,
}

struct InputView {
    port: u32,
    agg_write: WordPlace,
    agg_read_row: String,
}

struct OutputView {
    port: u32,
    tb_write_row: String,
    tb_read: WordPlace,
    /// What travels beside the SRAM: the row of the transpose buffer and, above it, whether the tile owns the data.
    departure: String,
    /// Name and width of the same on arrival.
    arrival: &'static str,
    arrival_bits: u32,
}

#[derive(Template)]
#[template(path = "wide_fetch_tile.veryl", escape = "none")]
struct WideFetchTile<'a> {
    spec: &'a TileSpec,
    names: &'a Names,
    controllers: &'a [ControllerView],
    signals: &'a [Signal],
    cycle_bits: Option<u32>,
    fetch_width: u32,
    agg_rows: u32,
    tb_rows: u32,
    row_bits: u32,
    sram_address_bits: u32,
    /// Bits of an address that name the tile.
    id_low: u32,
    id_high: u32,
    inputs: Vec<InputView>,
    outputs: Vec<OutputView>,
}

struct PortView {
    number: u32,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
}

#[derive(Template)]
#[template(path = "direct_tile.veryl", escape = "none")]
struct DirectTile<'a> {
    spec: &'a TileSpec,
    names: &'a Names,
    controllers: &'a [ControllerView],
    signals: &'a [Signal],
    cycle_bits: Option<u32>,
    sram_address_bits: u32,
    id_low: u32,
    id_high: u32,
    write_role: &'static str,
    read_role: &'static str,
    ports: Vec<PortView>,
}

#[derive(Template)]
#[template(path = "rom_tile.veryl", escape = "none")]
struct RomTile<'a> {
    spec: &'a TileSpec,
    names: &'a Names,
    controllers: &'a [ControllerView],
    signals: &'a [Signal],
    cycle_bits: Option<u32>,
    contents: Contents,
    /// Address bits inside the contents window, and inside a word.
    window_bits: u32,
    window_shift: u32,
}

/// Firings of which at most one may happen in a cycle.
struct Exclusive {
    name: String,
    what: String,
    promise: &'static str,
    members: Vec<String>,
    /// Width of all members together.
    bits: u32,
}

#[derive(Template)]
#[template(path = "checker.veryl", escape = "none")]
struct Checker<'a> {
    spec: &'a TileSpec,
    names: &'a Names,
    controllers: &'a [ControllerView],
    signals: &'a [Signal],
    /// Width of all signals together.
    configuration_bits: u32,
    exclusive: Vec<Exclusive>,
    bounded: Vec<Bounded<'a>>,
}

/// An address that could be beyond its memory, whose size is no power of two.
struct Bounded<'a> {
    address: &'a AddressView,
    /// The bit of the controller in `fires`.
    fires: usize,
}

/// The tile's module and its checker.
pub(crate) fn sources(view: &TileView) -> Vec<Source> {
    let tile = match view.spec.kind {
        Kind::WideFetch { .. } => wide_fetch_tile(view),
        Kind::DualPort | Kind::QuadPort | Kind::RegisterFile => direct_tile(view),
        Kind::Rom => rom_tile(view),
    };
    vec![tile, checker(view)]
}

fn wide_fetch_tile(view: &TileView) -> Source {
    let spec = view.spec;
    let (fetch_width, agg_rows, tb_rows) = wide_fetch(spec).expect("called for wide-fetch tiles only");
    let lane_bits = fetch_width.ilog2();
    let word_place = |controller: &ControllerView, memory: Memory, rows: u32| WordPlace {
        row: if rows == 1 {
            "1'b0".to_owned()
        } else {
            controller.address(memory, lane_bits + bits_for(rows) - 1, lane_bits)
        },
        lane: if lane_bits == 0 { "1'b0".to_owned() } else { controller.address(memory, lane_bits - 1, 0) },
    };
    let row_place = |controller: &ControllerView, memory: Memory, rows: u32| {
        if rows == 1 { "1'b0".to_owned() } else { controller.address(memory, bits_for(rows) - 1, 0) }
    };
    let inputs = view
        .role(Role::In2Agg)
        .zip(view.role(Role::Agg2Sram))
        .map(|(in2agg, agg2sram)| InputView {
            port: in2agg.port,
            agg_write: word_place(in2agg, Memory::Agg, agg_rows),
            agg_read_row: row_place(agg2sram, Memory::Agg, agg_rows),
        })
        .collect();
    let outputs = view
        .role(Role::Sram2Tb)
        .zip(view.role(Role::Tb2Out))
        .map(|(sram2tb, tb2out)| {
            let port = sram2tb.port;
            let row_bits = if tb_rows == 1 { 0 } else { bits_for(tb_rows) };
            let owned = format!("sram2tb_{port}_owned");
            let row = row_place(sram2tb, Memory::Tb, tb_rows);
            let (departure, arrival) = match (spec.chaining, row_bits) {
                (true, 0) => (owned, "owned"),
                (true, _) => (format!("{{{owned}, {row}}}"), "place"),
                (false, 0) => ("1'b0".to_owned(), "unused"),
                (false, _) => (row, "place"),
            };
            OutputView {
                port,
                tb_write_row: if row_bits == 0 {
                    "1'b0".to_owned()
                } else {
                    format!("tb_write_{port}_{arrival}[{}:0]", row_bits - 1)
                },
                tb_read: word_place(tb2out, Memory::Tb, tb_rows),
                departure,
                arrival,
                arrival_bits: (row_bits + u32::from(spec.chaining)).max(1),
            }
        })
        .collect();
    let sram_address_bits = view.row_address_bits();
    let template = WideFetchTile {
        spec,
        names: &view.names,
        controllers: &view.controllers,
        signals: &view.signals,
        cycle_bits: view.cycle_bits,
        fetch_width,
        agg_rows,
        tb_rows,
        row_bits: fetch_width * spec.word_bits,
        sram_address_bits,
        id_low: sram_address_bits,
        id_high: sram_address_bits + spec.tile_id_bits().max(1) - 1,
        inputs,
        outputs,
    };
    render(&view.names.tile, &template)
}

fn direct_tile(view: &TileView) -> Source {
    let spec = view.spec;
    let (write_role, read_role) = spec.kind.direct_roles().expect("called for direct tiles only");
    let sharing = |count: u32, port: u32| spec.kind.sharing(port, count).collect_vec();
    let ports = (0..spec.kind.memory_ports())
        .map(|number| PortView { number, inputs: sharing(spec.inputs, number), outputs: sharing(spec.outputs, number) })
        .collect();
    let sram_address_bits = view.row_address_bits();
    let template = DirectTile {
        spec,
        names: &view.names,
        controllers: &view.controllers,
        signals: &view.signals,
        cycle_bits: view.cycle_bits,
        sram_address_bits,
        id_low: sram_address_bits,
        id_high: sram_address_bits + spec.tile_id_bits().max(1) - 1,
        write_role: write_role.name(),
        read_role: read_role.name(),
        ports,
    };
    render(&view.names.tile, &template)
}

fn rom_tile(view: &TileView) -> Source {
    let contents = view.map.contents.expect("a rom has contents");
    let template = RomTile {
        spec: view.spec,
        names: &view.names,
        controllers: &view.controllers,
        signals: &view.signals,
        cycle_bits: view.cycle_bits,
        contents,
        window_bits: contents.bytes().ilog2(),
        window_shift: (contents.registers_per_word * pushmem_registers::WORD_BYTES).ilog2(),
    };
    render(&view.names.tile, &template)
}

fn checker(view: &TileView) -> Source {
    let spec = view.spec;
    let mut exclusive = Vec::new();
    match spec.kind {
        Kind::WideFetch { .. } => exclusive.push(Exclusive {
            name: "sram_accesses".to_owned(),
            what: "Accesses to the SRAM".to_owned(),
            promise: "The SRAM has one port.",
            members: vec!["sram_write".to_owned(), "sram_read".to_owned()],
            bits: spec.inputs + spec.outputs,
        }),
        Kind::DualPort | Kind::QuadPort | Kind::RegisterFile => {
            let (write_role, read_role) = spec.kind.direct_roles().expect("these tiles are direct");
            for port in 0..spec.kind.memory_ports() {
                for (role, verb, accessing) in [(write_role, "Write", "writers"), (read_role, "Read", "readers")] {
                    let sharing = view.role(role).filter(|c| spec.kind.memory_port(c.port) == port).count();
                    if sharing > 1 {
                        exclusive.push(Exclusive {
                            name: format!("{}s_{port}", verb.to_lowercase()),
                            what: format!("{verb}s through port {port}"),
                            promise: "Controllers share a port of the memory by schedule.",
                            members: vec![format!("{accessing}_{port}")],
                            bits: sharing as u32,
                        });
                    }
                }
            }
        }
        Kind::Rom => {}
    }
    let bits = (0..view.controllers.len()).rev();
    let bounded = view.controllers.iter().zip(bits).flat_map(|(controller, fires)| {
        let addresses = controller.addresses.iter().filter(|address| address.modulus > 0);
        addresses.map(move |address| Bounded { address, fires })
    });
    let bounded = bounded.collect();
    let template = Checker {
        spec,
        names: &view.names,
        controllers: &view.controllers,
        signals: &view.signals,
        configuration_bits: view.map.configuration_bits(),
        exclusive,
        bounded,
    };
    let Source { name, text } = render(&view.names.checker, &template);
    // Veryl leaves the SystemVerilog in it as it is.
    Source { name, text: spec.reset.of_system_verilog(&text) }
}

/// The bits of a word in a vector of words.
fn word_slice(index: u32, word_bits: u32) -> String {
    format!("{}:{}", (index + 1) * word_bits - 1, index * word_bits)
}
