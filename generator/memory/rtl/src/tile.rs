//! The top module of a tile, by variant, and its assertions.

use std::fmt::Display;

use askama::Template;
use itertools::{Itertools, iproduct};
use pushmem_files::template;
use pushmem_registers::WORD_BYTES;
use pushmem_tile::{Kind, Memory, Mode, Role, Style, TileSpec, index_bits_for, timing};
use pushmem_veryl::SourceFile;

use crate::library::render;
use crate::names::Names;
use crate::view::{AddressView, Ports, RoleView, TileView, wide_fetch};

/// Row and lane of a word in a buffer of rows.
struct WordPlace {
    row: String,
    lane: String,
}

#[derive(Template)]
#[template(path = "wide_fetch_tile.veryl", escape = "none")]
struct WideFetchTile<'a> {
    spec: &'a TileSpec,
    names: &'a Names,
    roles: &'a [RoleView],
    cycle_bits: Option<u32>,
    fetch_width: u32,
    /// Bits of an address that name the tile.
    id: String,
    agg_write: WordPlace,
    agg_read_row: String,
    tb_write_row: String,
    tb_read: WordPlace,
    /// The value that travels beside the SRAM: the row of the transpose buffer and, above it, whether the tile owns the
    /// data.
    departure: String,
    /// Name and width of the same on arrival.
    arrival: &'static str,
    arrival_bits: u32,
    /// The window of the configuration port, if there is one.
    table: Option<Table>,
    /// Whether inputs address words.
    addressed: bool,
    /// Bits of places in the aggregator, in the transpose buffer and in a row.
    agg_row_bits: u32,
    tb_row_bits: u32,
    lane_bits: u32,
    /// Whether words are taken and shown, and those of modes ready to be taken.
    taken: String,
    valid: String,
    ready: String,
}

impl WideFetchTile<'_> {
    /// A place as controllers give it, or the FIFO in its mode.
    fn or_fifo(&self, place: &str, of_controllers: impl Display) -> String {
        match self.spec.fifo_mode {
            true => format!("if fifo_active ? fifo_{place} : {of_controllers}"),
            false => of_controllers.to_string(),
        }
    }
}

/// The window of the configuration port to the words of a table, and the address of one.
struct Table {
    offset: u32,
    window_bits: u32,
    address_bits: u32,
    lane_bits: u32,
}

/// The window of the configuration port to a memory of single words.
struct Window {
    offset: u32,
    registers_per_word: u32,
    /// Address bits inside the window, and inside a word.
    bits: u32,
    shift: u32,
    /// Bits of the address of a word.
    address_bits: u32,
}

impl Window {
    fn of(view: &TileView) -> Option<Self> {
        view.map.contents.map(|contents| Window {
            offset: contents.offset,
            registers_per_word: contents.registers_per_word,
            bits: contents.bytes().ilog2(),
            shift: (contents.registers_per_word * WORD_BYTES).ilog2(),
            address_bits: view.row_address_bits(),
        })
    }
}

/// Those that write a memory, or read it, without buffers between.
struct Side<'a> {
    access: &'static str,
    role: &'a RoleView,
    /// Whether anything depends on who accesses it: a register file with one output shows its word at all times.
    chosen: bool,
    /// Whether the memory has an enable for its accesses.
    enables: bool,
}

#[derive(Template)]
#[template(path = "direct_tile.veryl", escape = "none")]
struct DirectTile<'a> {
    spec: &'a TileSpec,
    names: &'a Names,
    roles: &'a [RoleView],
    cycle_bits: Option<u32>,
    /// Bits of an address that name the tile.
    id: String,
    writer: &'a RoleView,
    reader: &'a RoleView,
    sides: [Side<'a>; 2],
    /// Write ports of the memory, and as many read ports.
    ports: u32,
    out_owned: &'static str,
    /// Dimension of a vector over the ports of the memory, and the index of one in a loop over them, where there are several.
    over_ports: &'static str,
    port_at: &'static str,
    window: Option<Window>,
    /// The index of the first port of the memory, the word that it reads, and a mask of all ports that is 0 in a stall.
    first_port: &'static str,
    word_read: &'static str,
    unstalled: &'static str,
}

impl DirectTile<'_> {
    /// The signal with those of the controllers that access the memory, write or read, through one of its ports.
    fn chosen(&self, access: &'static str) -> &'static str {
        if self.ports > 1 { "sharing" } else { access }
    }

    /// Read ports of the memory that no output uses.
    fn unread_ports(&self) -> u32 {
        self.ports.saturating_sub(self.spec.outputs)
    }

    /// The vector of all bits of an array over the ports of the memory.
    fn ports(&self, array: &str) -> String {
        if self.ports > 1 { format!("{{{array}}}") } else { array.to_owned() }
    }

    /// What takes [`DirectTile::padded`] values: an array, or its vector where zeros make them a vector.
    fn vector(&self, array: impl Display, side: &Side) -> String {
        if self.ports > side.role.count { format!("{{{array}}}") } else { array.to_string() }
    }

    /// A vector over the controllers of one side, items of `bits` each, with zeros for the ports that none uses.
    fn padded(&self, vector: impl Display, bits: &str, side: &Side) -> String {
        match self.ports - side.role.count {
            0 => vector.to_string(),
            1 if bits == "1" => format!("{{1'b0, {vector}}}"),
            missing => format!("{{{{1'b0 repeat {missing} * {bits}}}, {vector}}}"),
        }
    }
}

/// Firings of which at most one may happen in a cycle.
struct Exclusive {
    name: String,
    what: String,
    promise: &'static str,
    /// The signal of the tile with a bit for each of them.
    members: String,
    /// Its width, in constants of the package.
    bits: String,
}

/// Addresses that could be beyond their memory, whose size is no power of two.
struct Bounded<'a> {
    address: &'a AddressView,
    ports: &'a Ports,
    /// The bit in `fires` of the first controller of the role.
    first: u32,
}

/// The tile's module and its checker.
pub(crate) fn sources(view: &TileView) -> Vec<SourceFile> {
    let tile = match view.spec.kind {
        Kind::WideFetch { .. } => wide_fetch_tile(view),
        Kind::DualPort | Kind::QuadPort | Kind::RegisterFile => direct_tile(view),
        Kind::Rom => rom_tile(view),
    };
    vec![tile, checker(view)]
}

fn wide_fetch_tile(view: &TileView) -> SourceFile {
    let spec = view.spec;
    let (fetch_width, agg_rows, tb_rows) = wide_fetch(spec).expect("called for wide-fetch tiles only");
    let lane_bits = fetch_width.ilog2();
    let part = |role: Role, memory: Memory, high: u32, low: u32| {
        let role = view.role(role);
        match role.address(memory) {
            Some(address) if address.bits > high => match high + 1 - low {
                bits if bits == address.bits => format!("{}{}", address.signal, role.at()),
                1 => format!("{}{}[{low}]", address.signal, role.at()),
                _ => format!("{}{}[{high}:{low}]", address.signal, role.at()),
            },
            _ => "1'b0".to_owned(),
        }
    };
    let word_place = |role: Role, memory: Memory, rows: u32| WordPlace {
        row: match rows {
            1 => "1'b0".to_owned(),
            _ => part(role, memory, lane_bits + index_bits_for(rows) - 1, lane_bits),
        },
        lane: if lane_bits == 0 { "1'b0".to_owned() } else { part(role, memory, lane_bits - 1, 0) },
    };
    let row_place = |role: Role, memory: Memory, rows: u32| match rows {
        1 => "1'b0".to_owned(),
        _ => part(role, memory, index_bits_for(rows) - 1, 0),
    };
    let row_bits = if tb_rows == 1 { 0 } else { index_bits_for(tb_rows) };
    let row = row_place(Role::Sram2Tb, Memory::Tb, tb_rows);
    let (departure, arrival) = beside_sram(spec, row, row_bits);
    let addressed = spec.rom_mode || spec.ram_mode;
    let of_modes =
        |signals: &[(bool, &str)]| signals.iter().filter(|(has_it, _)| *has_it).map(|(_, signal)| *signal).join(" | ");
    let template = WideFetchTile {
        spec,
        names: &view.names,
        roles: &view.roles,
        cycle_bits: view.cycle_bits,
        fetch_width,
        id: tile_id(view),
        agg_write: word_place(Role::In2Agg, Memory::Agg, agg_rows),
        agg_read_row: row_place(Role::Agg2Sram, Memory::Agg, agg_rows),
        tb_write_row: match (spec.chaining, row_bits) {
            (_, 0) => "1'b0".to_owned(),
            (false, _) => "place".to_owned(),
            (true, 1) => "place[0]".to_owned(),
            (true, _) => format!("place[{}:0]", row_bits - 1),
        },
        tb_read: word_place(Role::Tb2Out, Memory::Tb, tb_rows),
        departure,
        arrival,
        arrival_bits: (row_bits + u32::from(spec.chaining)).max(1),
        table: view.map.contents.map(|contents| Table {
            offset: contents.offset,
            window_bits: contents.bytes().ilog2(),
            address_bits: view.row_address_bits() + lane_bits,
            lane_bits,
        }),
        addressed,
        agg_row_bits: index_bits_for(agg_rows),
        tb_row_bits: index_bits_for(tb_rows),
        lane_bits: index_bits_for(fetch_width),
        taken: of_modes(&[
            (true, "in2agg_fire"),
            (spec.rom_mode, "(rom2out_fire as NumInputs)"),
            (spec.fifo_mode, "(fifo_push as NumInputs)"),
            (spec.ram_mode, "({ram_access & data_in_0_write_i, ram_access} as NumInputs)"),
        ]),
        valid: of_modes(&[
            (true, "tb2out_fire"),
            (addressed, "(table_valid as NumOutputs)"),
            (spec.fifo_mode, "(fifo_valid as NumOutputs)"),
        ]),
        ready: of_modes(&[(spec.fifo_mode, "fifo_ready"), (spec.ram_mode, "ram_ready")]),
    };
    render(&view.names.tile, &template)
}

/// The value that travels beside the SRAM, and its name on arrival.
fn beside_sram(spec: &TileSpec, row: String, row_bits: u32) -> (String, &'static str) {
    let (departure, arrival) = match (spec.chaining, row_bits) {
        (true, 0) => ("sram2tb_owned[o]".to_owned(), "row_owned"),
        (true, _) => (format!("{{sram2tb_owned[o], {row}}}"), "place"),
        (false, 0) => ("1'b0".to_owned(), "place_unused"),
        (false, _) => (row, "place"),
    };
    let departure = match (spec.fifo_mode, spec.chaining, row_bits) {
        (false, ..) | (true, false, 0) => departure,
        (true, true, 0) => format!("{departure} | fifo_active"),
        (true, true, _) => format!("if fifo_active ? {{1'b1, fifo_tb_row}} : {departure}"),
        (true, false, _) => format!("if fifo_active ? fifo_tb_row : {departure}"),
    };
    (departure, arrival)
}

/// The bits of an address that say which tile of a chain it is in.
fn tile_id(view: &TileView) -> String {
    let low = view.row_address_bits();
    match view.spec.tile_id_bits() {
        0 | 1 => low.to_string(),
        bits => format!("{}:{low}", low + bits - 1),
    }
}

fn direct_tile(view: &TileView) -> SourceFile {
    let spec = view.spec;
    let (write_role, read_role) = spec.kind.direct_roles().expect("called for direct tiles only");
    let (writer, reader) = (view.role(write_role), view.role(read_role));
    let ports = spec.kind.memory_ports();
    let sram = spec.kind != Kind::RegisterFile;
    let template = DirectTile {
        spec,
        names: &view.names,
        roles: &view.roles,
        cycle_bits: view.cycle_bits,
        id: tile_id(view),
        writer,
        reader,
        sides: [
            Side { access: "write", role: writer, chosen: true, enables: true },
            Side { access: "read", role: reader, chosen: sram || spec.outputs > 1, enables: sram },
        ],
        ports,
        over_ports: if ports > 1 { "NumPorts, " } else { "" },
        port_at: if ports > 1 { "[port]" } else { "" },
        window: Window::of(view),
        first_port: if ports > 1 { "[0]" } else { "" },
        word_read: if ports > 1 { "words_read[0]" } else { "words_read" },
        unstalled: if ports > 1 { "{~stall_i repeat NumPorts}" } else { "~stall_i" },
        out_owned: if spec.chaining { "out_owned" } else { "payload_unused" },
    };
    render(&view.names.tile, &template)
}

/// Ports with numbers as one vector, the first of them lowest.
fn ports(before: &str, after: &str, count: &u32) -> String {
    let names = (0..*count).rev().map(|port| format!("{before}{port}{after}")).collect_vec();
    match names.as_slice() {
        [name] => name.clone(),
        names => format!("{{{}}}", names.join(", ")),
    }
}

fn rom_tile(view: &TileView) -> SourceFile {
    let template = template!(
        "rom_tile.veryl",
        spec: &'a TileSpec = view.spec,
        names: &'a Names = &view.names,
        roles: &'a [RoleView] = &view.roles,
        cycle_bits: Option<u32> = view.cycle_bits,
        window: Window = Window::of(view).expect("a rom has contents"),
        /// The word that the memory reads.
        word_read: &'static str = "rom_word",
    );
    render(&view.names.tile, &template)
}

fn checker(view: &TileView) -> SourceFile {
    let spec = view.spec;
    let exclusive = exclusive(view);
    let mut bounded = Vec::new();
    let mut first = 0;
    for role in &view.roles {
        let addresses = role.addresses.iter().filter(|address| address.modulus > 0);
        bounded.extend(addresses.filter_map(|address| Some(Bounded { address, ports: role.ports.as_ref()?, first })));
        first += role.count;
    }
    let template = template!(
        "checker.veryl",
        spec: &'a TileSpec = spec,
        names: &'a Names = &view.names,
        roles: &'a [RoleView] = &view.roles,
        controllers: u32 = first,
        /// Width of the controllers' configurations together.
        configuration_bits: u32 = view.map.configuration_bits(),
        exclusive: Vec<Exclusive> = exclusive,
        bounded: Vec<Bounded<'a>> = bounded,
        /// Bits that an address of RAM mode has above those that address the memory.
        beyond_bits: Option<u32> = spec
            .content_words()
            .filter(|_| spec.ram_mode)
            .map(|words| spec.word_bits - words.ilog2())
            .filter(|&bits| bits > 0),
    );
    let SourceFile { name, text } = render(&view.names.checker, &template);
    // Veryl leaves the SystemVerilog in it as it is.
    SourceFile { name, text: spec.reset.of_system_verilog(&text) }
}

/// Accesses to a port of a memory by several controllers.
fn exclusive(view: &TileView) -> Vec<Exclusive> {
    let spec = view.spec;
    match spec.kind {
        Kind::WideFetch { .. } => wide_fetch_exclusive(view),
        Kind::DualPort | Kind::QuadPort | Kind::RegisterFile => {
            let ports = spec.kind.memory_ports();
            let each = iproduct!(0..ports, [("write", spec.inputs, "NumInputs"), ("read", spec.outputs, "NumOutputs")]);
            let shared = each.filter(|(_, (_, count, _))| *count > ports);
            let group = |(port, (access, _, bits)): (u32, (&str, _, &str))| Exclusive {
                name: format!("{access}s_{port}"),
                what: format!("{access}s through port {port}"),
                promise: "Controllers share a port of the memory by schedule.",
                members: if ports > 1 { format!("gen_{access}_port[{port}].sharing") } else { access.to_owned() },
                bits: bits.to_owned(),
            };
            shared.map(group).collect()
        }
        Kind::Rom => Vec::new(),
    }
}

/// Accesses to the one port of a wide-fetch SRAM, and all that may be at work in a tile with modes.
fn wide_fetch_exclusive(view: &TileView) -> Vec<Exclusive> {
    let spec = view.spec;
    let single = [
        (spec.content_words().is_some(), "contents_write"),
        (spec.content_words().is_some(), "contents_read"),
        (spec.ram_mode, "ram_store"),
        (spec.ram_mode, "ram_access"),
        (spec.rom_mode, "rom2out_fire"),
    ];
    let single = single.iter().filter(|(has_it, _)| *has_it).map(|(_, signal)| *signal).collect_vec();
    let bits = match single.len() {
        0 => "NumInputs + NumOutputs".to_owned(),
        more => format!("NumInputs + NumOutputs + {more}"),
    };
    let accesses = Exclusive {
        name: "sram_accesses".to_owned(),
        what: "accesses to the SRAM".to_owned(),
        promise: "The SRAM has one port.",
        members: format!("{{{}}}", single.into_iter().chain(["sram_read", "sram_write"]).join(", ")),
        bits,
    };
    let modes = spec.modes().map(Mode::name).collect_vec();
    let at_work = Exclusive {
        name: "modes".to_owned(),
        what: "modes".to_owned(),
        promise: "A mode takes the place of the controllers, and of another mode.",
        members: format!(
            "{{{}, |{{{}}}}}",
            modes.iter().map(|mode| format!("u_{mode}_control.active_q")).join(", "),
            view.roles.iter().map(|role| format!("{}_fire", role.name)).join(", ")
        ),
        bits: (modes.len() + 1).to_string(),
    };
    if modes.is_empty() { vec![accesses] } else { vec![accesses, at_work] }
}
