//! The RTL of an array with one configuration as constants, for simulation.

mod levels;
mod text;
mod wires;

use std::collections::{BTreeMap, HashMap};

use itertools::Itertools;
use pushmem_bitstream::{Configuration, TileConfiguration};
use pushmem_configuration::{Configuration as MemoryConfiguration, encode};
use pushmem_fabric::{ArraySpec, Direction, Layer, Place, Side, TileKind};
use pushmem_files::text;
use pushmem_registers::{Field as RegisterField, Register, RegisterMap};
use pushmem_resources::{Common, Feature, MultiplexerInput, Node, TileLayout, registered_phase};
use pushmem_rtl::{levels_constant, registers_module, tile_module as memory_module};
use pushmem_systemverilog::{File, ModulePort, header, ports_of};
use pushmem_tile::TileSpec;

use self::text::{Vector, only, renamed, unrolled, with_name, with_parameter, with_signals};
use self::wires::{Wire, Wires};
use crate::configuration::ConfigurationModule;
use crate::switch_box::{position, switch_box_module};
use crate::tile::{memory_instance, slice, tracks};
use crate::{array_module, block_module, hop_bits, io_block_module, tile_module};

/// The outputs for the clock of the rest of the tile, and for the fields of its registers.
const TILE_CLOCK: &str = "tile_clk_o";
const FIELDS: &str = "cfg_o";

/// A tile in use, as an instance.
struct Tile {
    name: String,
    module: String,
    is_io: bool,
    /// Ports and signals.
    connections: Vec<(String, String)>,
}

/// The SystemVerilog of an array for one configuration alone, of `files` as [`crate::generate`] makes them: name and text of each, the
/// names with `.sv`. It has the tiles that do something and no others, and of their tracks those that carry something; there are no blocks.
/// Each tile is a module of its own: the text of its kind, with constants in place of the modules of configuration registers, with the loop
/// levels that its controllers use, and with the items that registers of tracks take. A track that is taken and that nothing drives is 0. The contents of
/// memories are loaded through the configuration port. Accesses to registers change nothing, and have no answer.
///
/// # Panics
/// If `files` are not those of the array.
pub fn freeze(spec: &ArraySpec, files: &[File], configuration: &Configuration) -> Vec<File> {
    let texts = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let layouts = spec.kinds().map(|kind| (kind, TileLayout::of(spec, kind))).collect();
    let mut frozen = Frozen { spec, texts, layouts, wires: BTreeMap::new() };
    let tiles = configuration.tiles.iter().filter(|(_, tile)| !tile.is_idle());
    let tiles: Vec<(Place, &TileConfiguration)> = tiles.map(|(place, tile)| (*place, tile)).collect();
    frozen.wires = tiles.iter().map(|(place, tile)| (*place, Wires::of(frozen.layout(*place), tile))).collect();
    let mut made: Vec<File> = tiles.iter().flat_map(|(place, tile)| frozen.tile(*place, tile)).collect();
    made.extend(spec.memories().map(|memory| frozen.silent(&memory_module(memory))));
    made.extend(frozen.array());
    let blocks = [array_module(spec), block_module(spec), io_block_module(spec)];
    let is_kept = |(name, _): &&File| !blocks.iter().any(|module| *name == file_name(module));
    files.iter().filter(is_kept).cloned().chain(made).collect()
}

/// A track that leaves a switch box.
struct Hop {
    name: String,
    /// The word that its register takes.
    item: Option<String>,
    output: String,
    /// The track straight on, and when it passes around the register, if it ever can.
    straight: String,
    passes: Option<String>,
}

struct Frozen<'a> {
    spec: &'a ArraySpec,
    texts: HashMap<&'a str, &'a str>,
    layouts: BTreeMap<TileKind, TileLayout>,
    /// The tracks of the tiles in use.
    wires: BTreeMap<Place, Wires>,
}

impl Frozen<'_> {
    fn text(&self, module: &str) -> &str {
        self.texts.get(file_name(module).as_str()).unwrap_or_else(|| panic!("an array has a module {module}"))
    }

    fn layout(&self, place: Place) -> &TileLayout {
        &self.layouts[&self.spec.kind(place).expect("tiles are those of the array")]
    }

    /// The header of a module, under another name.
    fn header(&self, module: &str, name: &str) -> String {
        let header = header(module, self.text(module)).expect("a module has a header");
        renamed(header, &format!("module {module}"), &format!("module {name}"))
    }

    /// A module that shows 0 on all outputs of another one.
    fn silent(&self, module: &str) -> File {
        let name = silent_name(module);
        let header = self.header(module, &name);
        let zeros: String = outputs(&header).map(|output| format!("    assign {output} = '0;\n")).collect();
        (file_name(&name), format!("{header}\n{zeros}endmodule\n"))
    }

    /// The modules of a tile in use: the tile, its configuration, and its switch boxes.
    fn tile(&self, place: Place, tile: &TileConfiguration) -> Vec<File> {
        let layout = self.layout(place);
        let wires = &self.wires[&place];
        let module = tile_module(self.spec, layout.kind);
        let configuration = ConfigurationModule::of(self.spec, layout).module;
        let (name, constants) = (name_at(&module, place), name_at(&configuration, place));
        let mut text = with_name(self.text(&module), &module, &name);
        text = renamed(&text, &format!("{configuration} u_configuration ("), &format!("{constants} u_configuration ("));
        let mut files = vec![(file_name(&constants), self.constants(layout, tile, &configuration, &constants))];
        if let Some(memory) = self.spec.memory_of(layout.kind) {
            let (module, (instance, _)) = (memory_module(memory), memory_instance(layout.kind));
            let copy = match &tile.memory {
                Some(configuration) => {
                    files.extend(self.memory(memory, configuration, place));
                    name_at(&module, place)
                }
                None => silent_name(&module),
            };
            text = renamed(&text, &format!("{module} u_{instance} ("), &format!("{copy} u_{instance} ("));
        }
        for direction in Direction::ALL.into_iter().filter(|_| layout.kind == TileKind::Io) {
            let module = format!("pushmem_{}", direction.stream());
            let levels = levels::of_stream(layout, tile, direction);
            text = with_parameter(&text, &module, "Levels", levels);
        }
        for layer in Layer::ALL {
            if layout.kind == TileKind::Io {
                let width = self.spec.bits(layer);
                text = unrolled(&text, &format!("gen_{}", layer.name()), &wires.driven_to(layer, Side::South), width);
                continue;
            }
            let module = switch_box_module(self.spec, layer);
            text = renamed(&text, &format!("    {module} "), &format!("    {} ", name_at(&module, place)));
            files.push(self.switch_box(place, tile, layer));
        }
        let vector = |layer: Layer| {
            move |side: Side, end: &str, kept: Vec<u32>| {
                let name = format!("{}_{}_{end}", layer.name(), side.name());
                Vector { name, width: self.spec.bits(layer), kept, count: self.spec.tracks.of(layer) }
            }
        };
        let vectors = Layer::ALL.into_iter().flat_map(|layer| wires.vectors(layer, layout.sides, vector(layer)));
        files.push((file_name(&name), with_signals(&text, &vectors.collect_vec())));
        files
    }

    /// The module of constants in place of a tile's configuration registers.
    fn constants(&self, layout: &TileLayout, tile: &TileConfiguration, module: &str, name: &str) -> String {
        let header = self.header(module, name);
        let is_other = |output: &&str| *output != TILE_CLOCK && *output != FIELDS;
        text!(
            "testbench/frozen_configuration.sv",
            /// The outputs that are not constants of the configuration.
            others: Vec<&'a str> = outputs(&header).filter(is_other).collect(),
            header: String = header.clone(),
            /// The values of the fields, the highest first.
            fields: String = fields(layout, tile),
            /// Whether the clock of the tile is one of its outputs: it always runs.
            has_clock: bool = self.spec.clock_gating,
            /// Whether it has a memory with contents, which are loaded.
            has_contents: bool = tile.memory.as_ref().is_some_and(|memory| !memory.contents.is_empty()),
            /// The feature of the registers of the memory.
            memory_feature: u32 = Feature::of_memory(layout.kind).number(),
            /// Its number in addresses of all tiles of a kind, if they can name it.
            common_feature: Option<u32> = Common::feature_number(layout.kind, Feature::of_memory(layout.kind).number()),
        )
    }

    /// The modules of a memory with a configuration: the memory, and constants in place of its registers.
    fn memory(&self, spec: &TileSpec, memory: &MemoryConfiguration, place: Place) -> [File; 2] {
        let (module, registers) = (memory_module(spec), registers_module(spec));
        let (name, constants) = (name_at(&module, place), name_at(&registers, place));
        let text = with_name(self.text(&module), &module, &name);
        let text = renamed(&text, &format!("{registers} u_registers ("), &format!("{constants} u_registers ("));
        let map = RegisterMap::of(spec);
        let writes = encode(memory, spec, &map).expect("a configuration suits its tile");
        let words: HashMap<u32, u32> = writes.iter().map(|write| (write.address, write.data)).collect();
        let field_value = |offset: u32, field: &RegisterField| {
            words.get(&offset).copied().unwrap_or(0) >> field.low & (u32::MAX >> (u32::BITS - field.bits))
        };
        // Names of its own come before those of the package.
        let head = pushmem_systemverilog::header(&name, &text).expect("a module has a header");
        let levels = levels::of_memory(spec, &map, field_value)
            .into_iter()
            .map(|(role, levels)| format!("\n    localparam int unsigned {} = {levels};", levels_constant(role)));
        let text = text.replace(head, &levels.fold(head.to_owned(), |head, line| head + &line));
        let header = self.header(&registers, &constants);
        let value = |output: &str| {
            let fields = fields_of(&map, output.trim_end_matches("_o"));
            let value = |(register, field): &(&Register, &RegisterField)| {
                format!("{}'d{}", field.bits, field_value(register.offset, field))
            };
            // The first field is the lowest.
            if fields.is_empty() {
                "'0".to_owned()
            } else {
                format!("{{{}}}", fields.iter().rev().map(value).join(", "))
            }
        };
        let assignments: String =
            outputs(&header).map(|output| format!("    assign {output} = {};\n", value(output))).collect();
        let frozen = format!("{header}\n    // Constants in place of the registers.\n{assignments}endmodule\n");
        [(file_name(&constants), frozen), (file_name(&name), text)]
    }

    /// A switch box with the tracks of a tile alone, each with the item that was chosen for it.
    fn switch_box(&self, place: Place, tile: &TileConfiguration, layer: Layer) -> File {
        let (layout, wires, width) = (self.layout(place), &self.wires[&place], self.spec.bits(layer));
        let module = switch_box_module(self.spec, layer);
        let name = name_at(&module, place);
        let of_side =
            |side: Side, end: &str, track: u32| slice(&format!("{}_{end}", side.name()), track..track + 1, width);
        let item = |choice: &MultiplexerInput| match *choice {
            MultiplexerInput::Incoming { side, track } => of_side(side, "i", track),
            MultiplexerInput::Core { port } => format!("core_i[{}+:{width}]", port * width),
            MultiplexerInput::Register => unreachable!("registers take tracks and outputs"),
        };
        let registers = layout.locals.iter().filter_map(|local| match local.node {
            Node::Register { side, track } if local.layer == layer => Some((local, side, track)),
            _ => None,
        });
        let phase = |track: u32| registered_phase(track, self.spec.hop_limit);
        let passes = |number: usize, side: Side, track: u32| {
            format!("pass_i[{number}] & ({} != {}'d{})", position(side), hop_bits(self.spec), phase(track))
        };
        let hops = registers.enumerate().filter(|(_, (_, side, track))| wires.driven.contains(&(layer, *side, *track)));
        let hops = hops.map(|(number, (local, side, track))| Hop {
            name: format!("{}_{track}", side.name()),
            item: wires::chosen(local, tile).map(item),
            output: of_side(side, "o", track),
            straight: of_side(side.opposite(), "i", track),
            passes: (self.spec.hop_limit > 1).then(|| passes(number, side, track)),
        });
        let text = text!(
            "testbench/frozen_switch_box.sv",
            header: String = self.header(&module, &name),
            width: u32 = width,
            hops: Vec<Hop> = hops.collect(),
        );
        let vector = |side: Side, end: &str, kept: Vec<u32>| {
            let name = format!("{}_{end}", side.name());
            Vector { name, width, kept, count: self.spec.tracks.of(layer) }
        };
        (file_name(&name), with_signals(&text, &wires.vectors(layer, layout.sides, vector).collect_vec()))
    }

    /// The tiles, and the array.
    fn array(&self) -> [File; 2] {
        let spec = self.spec;
        let module = format!("{}_tiles", spec.name);
        let nets = self.wires.iter().flat_map(|(place, wires)| {
            wires.driven.iter().map(|(layer, side, track)| (net(*place, *layer, *side, *track), spec.bits(*layer)))
        });
        let is_idle = |column: &u32| !self.wires.contains_key(&Place { row: 0, column: *column });
        let tiles = text!(
            "testbench/frozen_tiles.sv",
            spec: &'a ArraySpec = spec,
            module: String = module.clone(),
            tiles: Vec<Tile> = self.wires.keys().map(|place| self.instance(*place)).collect(),
            /// The columns whose IO tiles are idle.
            idle_columns: Vec<u32> = (0..spec.columns).filter(is_idle).collect(),
            /// The tracks that tiles drive, and their widths.
            nets: Vec<(String, u32)> = nets.collect(),
        );
        let (columns, rows) = (spec.columns / spec.block.columns, spec.rows / spec.block.rows);
        let end = text!(
            "testbench/frozen_array_end.sv",
            spec: &'a ArraySpec = spec,
            /// The module of the tiles.
            module: String = module.clone(),
            blocks: u32 = columns * (rows + 1),
            blocks_of_io: u32 = columns,
            /// The last stage of commands.
            last: u32 = spec.control_depth - 1,
        );
        let text = self.text(&array_module(spec));
        let begin = &text[..only(text, "// Tracks between blocks")];
        [(file_name(&module), tiles), (file_name(&array_module(spec)), format!("{begin}{end}"))]
    }

    fn instance(&self, place: Place) -> Tile {
        let spec = self.spec;
        let layout = self.layout(place);
        let module = tile_module(spec, layout.kind);
        let name = format!("{}_{}_{}", layout.kind.name(), place.column, place.row);
        let word = spec.word_bits();
        let tracks = tracks(spec, layout);
        let is_track = |port: &ModulePort| {
            let name = port.name.strip_suffix("_i").or(port.name.strip_suffix("_o"));
            tracks.iter().any(|tracks| name == Some(tracks.port.as_str()))
        };
        let signal = |port: &ModulePort| {
            Some(match port.name.as_str() {
                _ if is_track(port) => return None,
                "clk_i" | "rst_ni" | "test_enable_i" => port.name.clone(),
                "column_i" => format!("8'd{}", place.column),
                "row_i" => format!("8'd{}", place.row),
                "config_done_o" | "config_read_data_o" | "request_o" => {
                    let answer = port.name.trim_start_matches("config_").trim_end_matches("_o");
                    format!("{answer}_{name}")
                }
                "data_i" | "data_o" => format!("{}[{}+:{word}]", port.name, place.column * word),
                "bit_i" | "bit_o" | "valid_i" | "valid_o" | "ready_i" | "ready_o" => {
                    format!("{}[{}]", port.name, place.column)
                }
                command => command.trim_start_matches("config_").trim_end_matches("_i").to_owned(),
            })
        };
        let ports = ports_of(&module, self.text(&module)).expect("a tile has ports");
        let ports = ports.iter().filter_map(|port| Some((port.name.clone(), signal(port)?)));
        let wires = &self.wires[&place];
        let port = |(layer, side, track): Wire, end: &str| {
            text::signal(&format!("{}_{}_{end}", layer.name(), side.name()), track)
        };
        let taken = wires.taken.iter().map(|wire| (port(*wire, "i"), self.incoming(place, *wire)));
        let driven = wires.driven.iter().map(|wire| (port(*wire, "o"), net(place, wire.0, wire.1, wire.2)));
        Tile {
            module: name_at(&module, place),
            is_io: layout.kind == TileKind::Io,
            connections: ports.chain(taken).chain(driven).collect(),
            name,
        }
    }

    /// The track that comes into a tile: 0 if nothing drives it.
    fn incoming(&self, place: Place, (layer, side, track): Wire) -> String {
        let from = side.opposite();
        let neighbour = place.neighbour(side).filter(|neighbour| {
            self.wires.get(neighbour).is_some_and(|wires| wires.driven.contains(&(layer, from, track)))
        });
        neighbour
            .map_or_else(|| format!("{}'d0", self.spec.bits(layer)), |neighbour| net(neighbour, layer, from, track))
    }
}

/// The fields of a structure of registers, lowest bits first: the structure of the controllers of a role has those of all their registers.
fn fields_of<'a>(map: &'a RegisterMap, structure: &str) -> Vec<(&'a Register, &'a RegisterField)> {
    let is_part = |register: &&Register| {
        register.name.strip_prefix(structure).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let registers = map.registers.iter().filter(is_part);
    registers.flat_map(|register| register.fields.iter().map(move |field| (register, field))).collect()
}

/// A track, named by the tile that it leaves.
fn net(Place { row, column }: Place, layer: Layer, side: Side, track: u32) -> String {
    format!("{}_{}_{column}_{row}_{track}", layer.name(), side.name())
}

fn file_name(module: &str) -> String {
    format!("{module}.sv")
}

/// The name of the module of a tile in use.
fn name_at(module: &str, Place { row, column }: Place) -> String {
    format!("{module}_{column}_{row}")
}

fn silent_name(module: &str) -> String {
    format!("{module}_idle")
}

/// The outputs in a header.
fn outputs(header: &str) -> impl Iterator<Item = &str> {
    header.lines().filter_map(|line| line.trim().strip_prefix("output ")?.trim_end_matches(',').rsplit(' ').next())
}

/// The values of the fields of a tile together, the first lowest.
fn fields(layout: &TileLayout, tile: &TileConfiguration) -> String {
    let values = layout.fields.iter().zip(&tile.fields).rev();
    format!("{{{}}}", values.map(|(field, value)| format!("{}'d{value}", field.bits)).join(", "))
}
