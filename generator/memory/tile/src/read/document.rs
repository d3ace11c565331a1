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

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindName {
    WideFetch,
    DualPort,
    QuadPort,
    RegisterFile,
    Rom,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecFile {
    pub name: String,
    pub kind: KindName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register_layout: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word_bits: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_width: Option<u32>,
    pub rows: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agg_words: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tb_words: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sram_latency: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chaining: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_chaining: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stencil_valid: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rom_mode: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fifo_mode: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ram_mode: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bist: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_gating: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow_registers: Option<bool>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub controllers: BTreeMap<String, ControllerFile>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ControllerFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent_bits: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_bits: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub address_bits: BTreeMap<String, u32>,
}

/// The key of [`SpecFile::controllers`] that stands for every role.
pub(super) const ALL_ROLES: &str = "all";
