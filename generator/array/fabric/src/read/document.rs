//! The document of an array, with its defaults.

use serde::Deserialize;

use crate::spec::{ArrayKind, BlockShape, Topology, Tracks};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArrayFile {
    pub name: String,
    pub kind: ArrayKind,
    pub columns: u32,
    pub rows: u32,
    pub pe: String,
    pub register_file: Option<String>,
    pub memory: Option<MemoryFile>,
    #[serde(default)]
    pub io: IoFile,
    #[serde(default = "default_tracks")]
    pub tracks: Tracks,
    #[serde(default)]
    pub topology: Topology,
    #[serde(default = "default_hop_limit")]
    pub hop_limit: u32,
    pub block: Option<BlockShape>,
    #[serde(default = "default_control_depth")]
    pub control_depth: u32,
    #[serde(default)]
    pub clock_gating: bool,
    pub global_buffer: Option<GlobalBufferFile>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GlobalBufferFile {
    pub banks: Option<u32>,
    pub bank_bytes: Option<u32>,
    pub columns: Option<u32>,
    pub levels: Option<u32>,
    pub extent_bits: Option<u32>,
    pub cycle_bits: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryFile {
    pub tile: String,
    pub every: u32,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IoFile {
    pub buffer: Option<u32>,
    pub levels: Option<u32>,
    pub extent_bits: Option<u32>,
    pub cycle_bits: Option<u32>,
}

fn default_tracks() -> Tracks {
    Tracks { word: 5, bit: 5 }
}

fn default_hop_limit() -> u32 {
    1
}

fn default_control_depth() -> u32 {
    2
}
