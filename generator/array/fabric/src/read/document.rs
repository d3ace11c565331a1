//! The document of an array, with its defaults.

use pushmem_tile::ControllerSpec;
use serde::{Deserialize, Serialize};

use crate::spec::{ArraySpec, BlockShape, GlobalBufferSpec, MemoryColumns, Topology, Tracks};

const DEFAULT_TRACKS: Tracks = Tracks { word: 5, bit: 5 };
const DEFAULT_HOP_LIMIT: u32 = 1;
const DEFAULT_CONTROL_DEPTH: u32 = 2;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArrayFile {
    pub name: String,
    pub kind: KindName,
    pub columns: u32,
    pub rows: u32,
    pub pe: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register_file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryFile>,
    #[serde(default)]
    pub io: IoFile,
    #[serde(default = "default_tracks")]
    pub tracks: Tracks,
    #[serde(default)]
    pub topology: Topology,
    #[serde(default = "default_hop_limit")]
    pub hop_limit: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockShape>,
    #[serde(default = "default_control_depth")]
    pub control_depth: u32,
    #[serde(default, skip_serializing_if = "is_false")]
    pub clock_gating: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_buffer: Option<GlobalBufferFile>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GlobalBufferFile {
    pub banks: Option<u32>,
    pub bank_bytes: Option<u32>,
    pub columns: Option<u32>,
    pub levels: Option<u32>,
    pub extent_bits: Option<u32>,
    pub cycle_bits: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryFile {
    pub tile: String,
    pub every: u32,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IoFile {
    pub buffer: Option<u32>,
    pub levels: Option<u32>,
    pub extent_bits: Option<u32>,
    pub cycle_bits: Option<u32>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindName {
    Array,
}

fn default_tracks() -> Tracks {
    DEFAULT_TRACKS
}

fn default_hop_limit() -> u32 {
    DEFAULT_HOP_LIMIT
}

/// A key that has its default is not printed.
fn is_false(value: &bool) -> bool {
    !value
}

fn default_control_depth() -> u32 {
    DEFAULT_CONTROL_DEPTH
}

impl ArraySpec {
    /// The completed specification as YAML. Reading it gives the same specification, where its blocks have the same names.
    pub fn to_yaml(&self) -> String {
        let Self {
            name,
            columns,
            rows,
            pe,
            register_file,
            memory,
            io,
            tracks,
            topology,
            hop_limit,
            block,
            control_depth,
            clock_gating,
            global_buffer,
        } = self.clone();
        let register_file = register_file.map(|tile| tile.name);
        let memory = memory.map(|MemoryColumns { tile, every }| MemoryFile { tile: tile.name, every });
        let ControllerSpec { levels, extent_bits, cycle_bits, .. } = io.controller;
        let io = IoFile {
            buffer: Some(io.buffer),
            levels: Some(levels),
            extent_bits: Some(extent_bits),
            cycle_bits: Some(cycle_bits),
        };
        let global_buffer = global_buffer.map(|GlobalBufferSpec { banks, bank_bytes, columns, controller }| {
            let ControllerSpec { levels, extent_bits, cycle_bits, .. } = controller;
            GlobalBufferFile {
                banks: Some(banks),
                bank_bytes: Some(bank_bytes),
                columns: Some(columns),
                levels: Some(levels),
                extent_bits: Some(extent_bits),
                cycle_bits: Some(cycle_bits),
            }
        });
        let (kind, pe, block) = (KindName::Array, pe.name, Some(block));
        let file = ArrayFile {
            name,
            kind,
            columns,
            rows,
            pe,
            register_file,
            memory,
            io,
            tracks,
            topology,
            hop_limit,
            block,
            control_depth,
            clock_gating,
            global_buffer,
        };
        serde_yaml::to_string(&file).expect("a specification is plain data")
    }
}
