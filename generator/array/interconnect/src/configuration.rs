//! The configuration registers of a kind of tile.

use askama::Template;
use itertools::Itertools;
use pushmem_fabric::{ArraySpec, TileKind};
use pushmem_registers::WORD_BYTES;
use pushmem_resources::{Feature, Field, TileLayout, kind_number};
use pushmem_tile::Reset;
use pushmem_veryl::Source;

use crate::{render, takes_flush};

#[derive(Template)]
#[template(path = "tile_configuration.veryl", escape = "none")]
struct TileConfiguration<'a> {
    spec: &'a ArraySpec,
    module: &'a str,
    description: &'static str,
    registers: Vec<Register>,
    signals: &'a [Signal],
    /// Registers of the memory, and the byte address of the one that enables its controllers.
    memory_registers: u32,
    memory_control: u32,
    /// The feature of the registers of the memory.
    memory_feature: u32,
    /// The number of the kind of tile in addresses of all of them.
    kind_number: u32,
    /// Whether the tile takes the flush.
    has_flush: bool,
    synchronous: bool,
    /// The clock of the registers.
    clock: &'static str,
    /// Lowest bit of the write data that no register has.
    unused_from: Option<u32>,
}

/// A register.
struct Register {
    name: String,
    /// Feature and number, as a literal.
    place: String,
    bits: u32,
}

/// A vector of fields, as the rest of the tile takes it.
pub struct Signal {
    pub name: String,
    pub bits: u32,
    /// Concatenation of slices of registers.
    value: String,
}

/// The configuration of a tile, as the tile sees it.
pub struct Configuration {
    pub module: String,
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

impl Configuration {
    pub fn of(spec: &ArraySpec, layout: &TileLayout) -> Self {
        Configuration {
            module: format!("{}_{}_configuration", spec.name, layout.kind.name()),
            signals: signals(layout),
            memory_registers: layout.memory_registers(),
        }
    }
}

pub fn source(spec: &ArraySpec, layout: &TileLayout) -> Source {
    let Configuration { module, signals, memory_registers } = Configuration::of(spec, layout);
    let registers = layout.registers().map(|(feature, number)| Register {
        name: register_name(feature, number),
        place: format!("16'h{:x}{number:03x}", feature.number()),
        bits: fields_of(layout, feature, number).map(|field| field.low + field.bits).max().unwrap_or(0),
    });
    let registers = registers.collect_vec();
    let widest = registers.iter().map(|register| register.bits).max().unwrap_or(0);
    let template = TileConfiguration {
        spec,
        module: &module,
        description: match layout.kind {
            TileKind::Pe => "a PE tile",
            TileKind::Memory => "a MEM tile",
            TileKind::Io => "an IO tile",
        },
        registers,
        signals: &signals,
        memory_registers,
        memory_control: layout.memory_control().unwrap_or(0) * WORD_BYTES,
        memory_feature: Feature::of_memory(layout.kind).number(),
        kind_number: kind_number(layout.kind),
        has_flush: takes_flush(spec, layout.kind),
        synchronous: spec.reset() == Reset::Synchronous,
        clock: if spec.clock_gating { " (configuration_clk, rst_ni)" } else { "" },
        unused_from: (widest < 32 && memory_registers == 0).then_some(widest),
    };
    render(&module, &template)
}

fn register_name(feature: Feature, number: u32) -> String {
    format!("{}_{number}", feature.name())
}

fn fields_of(layout: &TileLayout, feature: Feature, number: u32) -> impl Iterator<Item = &Field> {
    layout.fields.iter().filter(move |field| (field.feature, field.register) == (feature, number))
}

fn signals(layout: &TileLayout) -> Vec<Signal> {
    let chunks = layout.fields.iter().chunk_by(|field| field.meaning.signal());
    let signal = |(name, fields): (String, Vec<&Field>)| Signal {
        name,
        bits: fields.iter().map(|field| field.bits).sum(),
        value: slices(&fields),
    };
    chunks.into_iter().map(|(name, fields)| signal((name, fields.collect()))).collect()
}

/// The bits of fields, the first lowest. Fields that follow each other in a register are one slice.
fn slices(fields: &[&Field]) -> String {
    let slices = fields.chunk_by(|one, next| (one.feature, one.register) == (next.feature, next.register)).rev();
    let slices = slices.map(|fields| {
        let (first, last) = (fields[0], fields[fields.len() - 1]);
        let high = last.low + last.bits - 1;
        let register = register_name(first.feature, first.register);
        if high == first.low { format!("{register}_q[{high}]") } else { format!("{register}_q[{high}:{}]", first.low) }
    });
    let slices = slices.collect_vec();
    if slices.len() == 1 { slices[0].clone() } else { format!("{{{}}}", slices.join(", ")) }
}
