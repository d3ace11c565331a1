//! What templates see of a tile.

use itertools::Itertools;
use pushmem_registers::{Access, Field, Meaning, Register, RegisterMap};
use pushmem_tile::{Kind, Memory, Role, Style, TileSpec};

use crate::names::{Names, bits_for};

/// A tile as templates see it.
pub(crate) struct TileView<'a> {
    pub spec: &'a TileSpec,
    pub map: &'a RegisterMap,
    pub names: Names,
    pub controllers: Vec<ControllerView>,
    /// Signals from the registers to the controllers.
    pub signals: Vec<Signal>,
    /// Width of the cycle counter that styles other than the recurrence need.
    pub cycle_bits: Option<u32>,
}

/// A controller as templates see it.
pub(crate) struct ControllerView {
    pub name: String,
    pub role: Role,
    pub port: u32,
    pub levels: u32,
    pub extent_bits: u32,
    pub cycle_bits: u32,
    pub addresses: Vec<AddressView>,
    /// Name and width of what its address generators follow: the increments, or the raw indices. `unused` is part of
    /// the name where nobody follows, which linters understand.
    pub point: String,
    pub point_bits: u32,
}

/// An address generator that exists in hardware.
pub(crate) struct AddressView {
    /// Controller and memory, for example `in2agg_0_agg`.
    pub name: String,
    pub memory: Memory,
    pub bits: u32,
    /// 0 where the width of the address or of the memory's own index does the wrapping.
    pub modulus: u64,
    /// First bit that no one looks at.
    pub unused_from: Option<u32>,
}

/// A flat vector assembled from fields, level 0 lowest.
pub(crate) struct Signal {
    pub name: String,
    pub bits: u32,
    /// Concatenation of register slices.
    pub value: String,
}

impl Signal {
    /// Its type in Veryl: no vector of a single bit.
    pub fn logic_type(&self) -> String {
        if self.bits == 1 { "logic".to_owned() } else { format!("logic<{}>", self.bits) }
    }
}

impl<'a> TileView<'a> {
    pub fn of(spec: &'a TileSpec, map: &'a RegisterMap) -> Self {
        let names = Names::of(spec);
        let controllers = controllers(spec);
        let signals = signals(spec, map, &names);
        let widest = controllers.iter().map(|c| c.cycle_bits).max();
        let cycle_bits = widest.filter(|_| spec.style != Style::Recurrence);
        TileView { spec, map, names, controllers, signals, cycle_bits }
    }

    /// The controllers of a role, by port.
    pub fn role(&self, role: Role) -> impl Iterator<Item = &ControllerView> {
        self.controllers.iter().filter(move |controller| controller.role == role)
    }

    /// Bits of a row address within the tile.
    pub fn row_address_bits(&self) -> u32 {
        bits_for(self.spec.rows)
    }
}

impl ControllerView {
    /// The address signal for `memory`; a constant where there is a single place.
    pub fn address(&self, memory: Memory, high: u32, low: u32) -> String {
        match self.addresses.iter().find(|address| address.memory == memory) {
            Some(address) if high >= low && address.bits > high => {
                format!("{}_address{}", address.name, bits(high, low))
            }
            _ => "1'b0".to_owned(),
        }
    }
}

fn controllers(spec: &TileSpec) -> Vec<ControllerView> {
    spec.controllers()
        .into_iter()
        .map(|controller| {
            let addresses = controller
                .addresses
                .iter()
                .filter(|generator| generator.bits > 0)
                .map(|generator| {
                    let places = controller.role.places(generator.memory, spec.kind, spec.rows);
                    let chained = spec.chaining && generator.memory == spec.main_memory();
                    let used = if chained { generator.bits } else { bits_for(places) };
                    AddressView {
                        name: format!("{}_{}", controller.name, generator.memory.name()),
                        memory: generator.memory,
                        bits: generator.bits,
                        modulus: if generator.modulus.is_power_of_two() { 0 } else { generator.modulus },
                        unused_from: (used < generator.bits).then_some(used),
                    }
                })
                .collect_vec();
            let (point, point_bits) = match spec.style {
                Style::Multiplier => ("indices", controller.levels * controller.extent_bits),
                Style::Recurrence | Style::PerLevel => ("increments", controller.levels),
            };
            ControllerView {
                point: if addresses.is_empty() { format!("{point}_unused") } else { point.to_owned() },
                point_bits,
                name: controller.name,
                role: controller.role,
                port: controller.port,
                levels: controller.levels,
                extent_bits: controller.extent_bits,
                cycle_bits: controller.cycle_bits,
                addresses,
            }
        })
        .collect()
}

fn signals(spec: &TileSpec, map: &RegisterMap, names: &Names) -> Vec<Signal> {
    let controllers = spec.controllers();
    let name_of = |meaning: Meaning| -> Option<String> {
        let controller = |index: usize| controllers[index].name.as_str();
        let address = |index: usize, address: usize| {
            let generator = &controllers[index].addresses[address];
            format!("{}_{}", controllers[index].name, generator.memory.name())
        };
        Some(match meaning {
            Meaning::SpecDigest | Meaning::Commit => return None,
            Meaning::Enable { controller: index } => format!("{}_enable", controller(index)),
            Meaning::ChainEnable => "chain_enable".to_owned(),
            Meaning::TileId => "tile_id".to_owned(),
            Meaning::Extent { controller: index, .. } => format!("{}_extents", controller(index)),
            Meaning::CycleStart { controller: index } => {
                format!("{}_cycle_start", controller(index))
            }
            Meaning::CycleStep { controller: index, .. } => format!("{}_cycle_{}", controller(index), names.steps),
            Meaning::AddressStart { controller: index, address: a } => format!("{}_start", address(index, a)),
            Meaning::AddressStep { controller: index, address: a, .. } => {
                format!("{}_{}", address(index, a), names.steps)
            }
        })
    };
    let fields = map.fields().filter_map(|(register, field)| Some((name_of(field.meaning)?, register, field)));
    // Fields of one signal are consecutive in the map, in order of levels.
    fields
        .chunk_by(|(name, _, _)| name.clone())
        .into_iter()
        .map(|(name, fields)| {
            let fields = fields.map(|(_, register, field)| (register, field)).collect_vec();
            let value = match fields[0].1.meaning {
                _ if !spec.shadow_registers => slices(&fields, "_q"),
                meaning if is_loaded_at_flush(meaning, spec.style) => {
                    format!("if take ? {} : {}", slices(&fields, "_q"), slices(&fields, "_active_q"))
                }
                _ => slices(&fields, "_active_q"),
            };
            Signal { name, bits: fields.iter().map(|(_, field)| field.bits).sum(), value }
        })
        .collect()
}

/// The bits of fields, level 0 lowest, in flip-flops named as their registers with an ending.
fn slices(fields: &[(&Register, &Field)], ending: &str) -> String {
    let slices = fields.iter().rev();
    let slices = slices
        .map(|(register, field)| format!("{}{ending}{}", register.name, bits(field.high(), field.low)))
        .join(", ");
    if fields.len() == 1 { slices } else { format!("{{{slices}}}") }
}

/// A part of a vector.
fn bits(high: u32, low: u32) -> String {
    if high == low { format!("[{low}]") } else { format!("[{high}:{low}]") }
}

/// Whether controllers take the field in the cycle of the flush. They look at all others in the cycles of a run alone, and
/// then at what is active: in the cycle of a flush, the run before it may still fire.
fn is_loaded_at_flush(meaning: Meaning, style: Style) -> bool {
    match meaning {
        Meaning::Enable { .. } => true,
        // Loop indices count up from 0.
        Meaning::Extent { .. } => style != Style::Multiplier,
        // The other styles add the start to a sum.
        Meaning::CycleStart { .. } | Meaning::AddressStart { .. } => style == Style::Recurrence,
        Meaning::CycleStep { .. } | Meaning::AddressStep { .. } | Meaning::ChainEnable | Meaning::TileId => false,
        Meaning::SpecDigest | Meaning::Commit => false,
    }
}

/// The registers that hold configuration.
pub(crate) fn writable(map: &RegisterMap) -> Vec<&Register> {
    map.registers.iter().filter(|register| register.access == Access::ReadWrite).collect()
}

/// Words of an SRAM row and rows of the buffers, for the wide-fetch tile.
pub(crate) fn wide_fetch(spec: &TileSpec) -> Option<(u32, u32, u32)> {
    match spec.kind {
        Kind::WideFetch { fetch_width, agg_words, tb_words } => {
            Some((fetch_width, agg_words / fetch_width, tb_words / fetch_width))
        }
        _ => None,
    }
}
