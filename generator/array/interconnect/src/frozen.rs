//! The RTL of an array with one configuration as constants, for simulation.

use std::collections::HashMap;

use askama::Template;
use itertools::Itertools;
use pushmem_bitstream::{Configuration, TileConfiguration};
use pushmem_fabric::{ArraySpec, Place};
use pushmem_registers::WORD_BYTES;
use pushmem_resources::{Common, Feature, Field, TileLayout};
use pushmem_rtl::tile_module as memory_module;
use pushmem_systemverilog::{File, header};

use crate::configuration::Configuration as ConfigurationModule;
use crate::tile::memory_instance;
use crate::{array_module, block_module, io_block_module, tile_module};

/// The output for the clock of the rest of the tile.
const TILE_CLOCK: &str = "tile_clk_o";

#[derive(Template)]
#[template(path = "testbench/frozen_configuration.sv", escape = "none")]
struct FrozenConfiguration<'a> {
    header: String,
    constants: Vec<(String, String)>,
    has_memory: bool,
    /// Whether the clock of the tile is one of its outputs: it always runs.
    has_clock: bool,
    /// The outputs that are not constants of the configuration.
    others: Vec<&'a str>,
    /// The feature of the registers of the memory.
    memory_feature: u32,
    /// Its number in addresses of all tiles of a kind, if they can name it.
    common_feature: Option<u32>,
    /// Byte address of the register that enables the controllers of the memory.
    memory_control: u32,
}

/// The SystemVerilog of an array for one configuration alone, of `files` as [`crate::generate`] makes them: name and text of each, the
/// names with `.sv`. Each tile in use is a module of its own: the text of its kind, but with constants in place of the module of its
/// configuration registers. Tiles that are idle show 0 on all tracks, and so do memories without a configuration; those with one are
/// loaded through the configuration port. Accesses to all other registers change nothing, and have no answer.
///
/// # Panics
/// If `files` are not those of the array.
pub fn freeze(spec: &ArraySpec, files: &[File], configuration: &Configuration) -> Vec<File> {
    let frozen = Frozen { spec, texts: files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect() };
    let tiles: Vec<(&Place, &TileConfiguration)> =
        configuration.tiles.iter().filter(|(_, tile)| !tile.is_idle()).collect();
    let mut replaced: Vec<String> = vec![array_module(spec), block_module(spec), io_block_module(spec)];
    let mut made = Vec::new();
    for kind in spec.kinds() {
        let tile = tile_module(spec, kind);
        made.push(frozen.silent(&tile));
        replaced.extend([ConfigurationModule::of(spec, &TileLayout::of(spec, kind)).module, tile]);
    }
    made.extend(spec.memories().map(|memory| frozen.silent(&memory_module(memory))));
    for (place, tile) in &tiles {
        made.extend(frozen.tile(**place, tile));
    }
    let is_used = |place: Place| tiles.binary_search_by_key(&&place, |(place, _)| place).is_ok();
    made.extend(frozen.blocks(is_used));
    let is_kept = |(name, _): &&File| !replaced.iter().any(|module| *name == file_name(module));
    files.iter().filter(is_kept).cloned().chain(made).collect()
}

struct Frozen<'a> {
    spec: &'a ArraySpec,
    texts: HashMap<&'a str, &'a str>,
}

impl Frozen<'_> {
    fn text(&self, module: &str) -> &str {
        self.texts.get(file_name(module).as_str()).unwrap_or_else(|| panic!("an array has a module {module}"))
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
        let zero = |(output, is_array): (&str, bool)| {
            format!("    assign {output} = {};\n", if is_array { "'{default: '0}" } else { "'0" })
        };
        let zeros: String = outputs(&header).map(zero).collect();
        (file_name(&name), format!("{header}\n{zeros}endmodule\n"))
    }

    /// The modules of a tile in use: the tile, and its configuration.
    fn tile(&self, place: Place, tile: &TileConfiguration) -> Vec<File> {
        let kind = self.spec.kind(place).expect("tiles are those of the array");
        let layout = TileLayout::of(self.spec, kind);
        let module = tile_module(self.spec, kind);
        let configuration = ConfigurationModule::of(self.spec, &layout).module;
        let (name, constants) = (name_at(&module, place), name_at(&configuration, place));
        let mut text = renamed(self.text(&module), &format!("module {module} ("), &format!("module {name} ("));
        text = renamed(&text, &format!("{configuration} u_configuration ("), &format!("{constants} u_configuration ("));
        if tile.memory.is_none()
            && let Some(memory) = self.spec.memory_of(kind)
        {
            let (module, (instance, _)) = (memory_module(memory), memory_instance(kind));
            let silent = format!("{} u_{instance} (", silent_name(&module));
            text = renamed(&text, &format!("{module} u_{instance} ("), &silent);
        }
        let header = self.header(&configuration, &constants);
        let signals = signals(&layout, tile);
        let is_other = |output: &&str| {
            *output != TILE_CLOCK && !signals.iter().any(|(signal, _)| *output == format!("{signal}_o"))
        };
        let template = FrozenConfiguration {
            others: outputs(&header).map(|(output, _)| output).filter(is_other).collect(),
            header: header.clone(),
            constants: signals.clone(),
            has_clock: self.spec.clock_gating,
            has_memory: tile.memory.is_some(),
            memory_feature: Feature::of_memory(kind).number(),
            common_feature: Common::feature_number(kind, Feature::of_memory(kind).number()),
            memory_control: layout.memory_control().unwrap_or(0) * WORD_BYTES,
        };
        let frozen = template.render().expect("templates write to memory");
        vec![(file_name(&constants), frozen), (file_name(&name), text)]
    }

    /// The blocks, each a module of its own, and the array.
    fn blocks(&self, is_used: impl Fn(Place) -> bool) -> Vec<File> {
        let spec = self.spec;
        let mut files = Vec::new();
        let mut array = self.text(&array_module(spec)).to_owned();
        let (columns, rows) = (spec.columns / spec.block.columns, spec.rows / spec.block.rows);
        for (row, column) in (0..=rows).cartesian_product(0..columns) {
            let (module, instance, first, height) = match row.checked_sub(1) {
                None => (io_block_module(spec), format!("u_io_{column}"), 0, 1),
                Some(row) => {
                    let instance = format!("u_block_{column}_{row}");
                    (block_module(spec), instance, 1 + row * spec.block.rows, spec.block.rows)
                }
            };
            let name = format!("{module}_{column}_{row}");
            let mut text = renamed(self.text(&module), &format!("module {module} ("), &format!("module {name} ("));
            for (inner_row, inner_column) in (0..height).cartesian_product(0..spec.block.columns) {
                let place = Place { row: first + inner_row, column: column * spec.block.columns + inner_column };
                let kind = spec.kind(place).expect("blocks are those of the array");
                let tile = tile_module(spec, kind);
                let instance = format!("u_{}_{inner_column}_{inner_row} (", kind.name());
                let copy = if is_used(place) { name_at(&tile, place) } else { silent_name(&tile) };
                text = renamed(&text, &format!("{tile} {instance}"), &format!("{copy} {instance}"));
            }
            array = renamed(&array, &format!("{module} {instance} ("), &format!("{name} {instance} ("));
            files.push((file_name(&name), text));
        }
        files.push((file_name(&array_module(spec)), array));
        files
    }
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

/// The text with the one place of `from` replaced.
fn renamed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "a module has one `{from}`");
    text.replace(from, to)
}

/// The outputs in a header, and whether they are unpacked arrays.
fn outputs(header: &str) -> impl Iterator<Item = (&str, bool)> {
    header.lines().filter_map(|line| {
        let port = line.trim().strip_prefix("output ")?.trim_end_matches(',');
        let (before, last) = port.trim_end().rsplit_once(' ')?;
        // The bounds of an unpacked array come last.
        Some(match last.starts_with('[') {
            true => (before.trim_end().rsplit_once(' ')?.1, true),
            false => (last, false),
        })
    })
}

/// The signals of a configuration, each as a concatenation of the values of its fields.
fn signals(layout: &TileLayout, tile: &TileConfiguration) -> Vec<(String, String)> {
    let fields = layout.fields.iter().zip(&tile.fields);
    let chunks = fields.chunk_by(|(field, _)| field.meaning.signal());
    let value = |(field, value): (&Field, &u32)| format!("{}'d{value}", field.bits);
    let signal = |(name, fields): (String, Vec<(&Field, &u32)>)| {
        let values = fields.into_iter().rev().map(value).join(", ");
        (name, format!("{{{values}}}"))
    };
    chunks.into_iter().map(|(name, fields)| signal((name, fields.collect()))).collect()
}
