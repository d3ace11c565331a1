//! The configuration registers of a kind of tile, and the package with what they tell it.

use itertools::Itertools;
use pushmem_fabric::{ArraySpec, TileKind};
use pushmem_files::template;
use pushmem_registers::WORD_BYTES;
use pushmem_resources::{Feature, Field, TileLayout, kind_number};
use pushmem_tile::Reset;
use pushmem_veryl::SourceFile;

use crate::{package_module, render, takes_flush};

struct Register {
    feature: Feature,
    number: u32,
    bits: u32,
    /// Its fields as members of the structure, the lowest last.
    fields: String,
}

/// A vector of fields, as the rest of the tile takes it: a member of the structure.
pub struct Signal {
    pub name: String,
    pub bits: u32,
}

/// The configuration of a tile, as the tile sees it.
pub struct ConfigurationModule {
    pub module: String,
    /// The type of the structure, in the package of the array.
    pub cfg_type: String,
    /// The kind of tile in comments.
    description: &'static str,
    /// The members, lowest first.
    pub signals: Vec<Signal>,
    pub memory_registers: u32,
}

impl Signal {
    /// Its type in Veryl. The choices of tracks are a vector however few there are: tiles take them one by one.
    pub fn logic_type(&self) -> String {
        let is_vector = self.name.ends_with("_select") || self.name.ends_with("_connection");
        if self.bits == 1 && !is_vector { "logic".to_owned() } else { format!("logic<{}>", self.bits) }
    }
}

impl ConfigurationModule {
    pub fn of(spec: &ArraySpec, layout: &TileLayout) -> Self {
        ConfigurationModule {
            module: format!("{}_{}_configuration", spec.name, layout.kind.name()),
            cfg_type: format!("{}_cfg_t", layout.kind.name()),
            description: match layout.kind {
                TileKind::Pe => "a PE tile",
                TileKind::Memory => "a MEM tile",
                TileKind::Io => "an IO tile",
            },
            signals: signals(layout),
            memory_registers: layout.memory_registers,
        }
    }
}

/// The package with the types of the configurations of all kinds of tiles.
pub fn package(spec: &ArraySpec) -> SourceFile {
    let module = package_module(spec);
    let tiles = spec.kinds().map(|kind| ConfigurationModule::of(spec, &TileLayout::of(spec, kind)));
    render(
        &module,
        &template!(
            "package.veryl",
            spec: &'a ArraySpec = spec,
            module: &'a str = &module,
            tiles: Vec<ConfigurationModule> = tiles.collect(),
        ),
    )
}

pub fn source(spec: &ArraySpec, layout: &TileLayout) -> SourceFile {
    let ConfigurationModule { module, cfg_type, description, memory_registers, .. } =
        ConfigurationModule::of(spec, layout);
    let registers = layout.registers().map(|(feature, number)| register(layout, feature, number)).collect_vec();
    let widest = registers.iter().map(|register| register.bits).max().unwrap_or(0);
    let last = registers.iter().map(|register| register.number).max().unwrap_or(0);
    let template = template!(
        "tile_configuration.veryl",
        spec: &'a ArraySpec = spec,
        module: &'a str = &module,
        package: String = package_module(spec),
        cfg_type: String = cfg_type,
        description: &'static str = description,
        /// The features that have registers, and the bits of a number of one.
        features: Vec<Feature> = registers.iter().map(|register| register.feature).dedup().collect(),
        number_bits: u32 = (u32::BITS - last.leading_zeros()).max(1),
        registers: Vec<Register> = registers,
        /// Registers of the memory, and the byte address of the one that enables its controllers.
        memory_registers: u32 = memory_registers,
        memory_control: u32 = layout.memory_control.unwrap_or(0) * WORD_BYTES,
        /// The feature of the registers of the memory.
        memory_feature: u32 = Feature::of_memory(layout.kind).number(),
        /// The number of the kind of tile in addresses of all of them.
        kind_number: u32 = kind_number(layout.kind),
        /// Whether the tile takes the flush.
        has_flush: bool = takes_flush(spec, layout.kind),
        synchronous: bool = spec.reset() == Reset::Synchronous,
        /// The clock of the registers.
        clock: &'static str = if spec.clock_gating { " (configuration_clk, rst_ni)" } else { "" },
        /// Lowest bit of the write data that no register has.
        unused_from: Option<u32> = (widest < 32 && memory_registers == 0).then_some(widest),
    );
    render(&module, &template)
}

/// The members of the structure, lowest first, each with its fields.
fn members(layout: &TileLayout) -> impl Iterator<Item = (String, Vec<&Field>)> {
    let members = layout.fields.iter().chunk_by(|field| field.meaning.signal());
    members.into_iter().map(|(name, fields)| (name, fields.collect_vec())).collect_vec().into_iter()
}

fn signals(layout: &TileLayout) -> Vec<Signal> {
    let bits = |fields: Vec<&Field>| fields.iter().map(|field| field.bits).sum();
    members(layout).map(|(name, fields)| Signal { name, bits: bits(fields) }).collect()
}

/// A register, with the parts of members that it holds.
fn register(layout: &TileLayout, feature: Feature, number: u32) -> Register {
    let is_here = |field: &&&Field| (field.feature, field.register) == (feature, number);
    let mut parts = Vec::new();
    let mut bits = 0;
    for (name, fields) in members(layout) {
        let of = |fields: &mut dyn Iterator<Item = &&Field>| fields.map(|field| field.bits).sum::<u32>();
        let (low, width) =
            (of(&mut fields.iter().take_while(|field| !is_here(field))), of(&mut fields.iter().filter(is_here)));
        bits += width;
        let member = format!("cfg_q.{name}");
        parts.extend(match of(&mut fields.iter()) {
            _ if width == 0 => None,
            all if all == width => Some(member),
            _ if width == 1 => Some(format!("{member}[{low}]")),
            _ => Some(format!("{member}[{}:{low}]", low + width - 1)),
        });
    }
    let fields = match parts.as_slice() {
        [part] => part.clone(),
        parts => format!("{{{}}}", parts.iter().rev().join(", ")),
    };
    Register { feature, number, bits, fields }
}
