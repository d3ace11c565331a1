//! The document of a specification, with its defaults.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::spec::{Reset, Style};

/// Defaults of every optional key. `spec.yaml` beside the generated RTL shows the values in force.
pub(super) mod default {
    pub const WORD_BITS: u32 = 16;
    pub const FETCH_WIDTH: u32 = 4;
    pub const INPUTS: u32 = 2;
    pub const OUTPUTS: u32 = 2;
    /// Aggregator and transpose buffer hold two SRAM rows: one being filled or emptied, one being moved.
    pub const BUFFER_ROWS: u32 = 2;
    pub const SRAM_LATENCY: u32 = 1;
    pub const LEVELS: u32 = 6;
    pub const EXTENT_BITS: u32 = 16;
    pub const CYCLE_BITS: u32 = 16;
    /// With chaining, SRAM addresses are this wide or one bit wider than a tile needs, whichever is more.
    pub const CHAINED_ADDRESS_BITS: u32 = 16;
}

pushmem_files::named! {
    pub(crate) enum KindName {
        WideFetch = "wide_fetch",
        DualPort = "dual_port",
        QuadPort = "quad_port",
        RegisterFile = "register_file",
        Rom = "rom",
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecFile {
    pub name: String,
    pub kind: KindName,
    pub register_layout: Option<u32>,
    pub word_bits: Option<u32>,
    pub fetch_width: Option<u32>,
    pub rows: u32,
    pub count: Option<u32>,
    pub inputs: Option<u32>,
    pub outputs: Option<u32>,
    pub agg_words: Option<u32>,
    pub tb_words: Option<u32>,
    pub sram_latency: Option<u32>,
    pub chaining: Option<bool>,
    pub output_chaining: Option<bool>,
    pub stencil_valid: Option<bool>,
    pub rom_mode: Option<bool>,
    pub fifo_mode: Option<bool>,
    pub ram_mode: Option<bool>,
    pub contents: Option<bool>,
    pub style: Option<Style>,
    pub bist: Option<bool>,
    pub reset: Option<Reset>,
    pub clock_gating: Option<bool>,
    pub shadow_registers: Option<bool>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub controllers: BTreeMap<String, ControllerFile>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ControllerFile {
    pub levels: Option<u32>,
    pub extent_bits: Option<u32>,
    pub cycle_bits: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub address_bits: BTreeMap<String, u32>,
}

/// The key of [`SpecFile::controllers`] that stands for every role.
pub(super) const ALL_ROLES: &str = "all";
