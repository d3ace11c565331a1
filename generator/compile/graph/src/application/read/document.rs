//! The document of an application graph, before its names are known.

use pushmem_affine::Affine;
use pushmem_buffers::Port;
use pushmem_nest::{Level, Word};
use serde::Deserialize;

use crate::accelerator::{Counter, Variable};

/// The document, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphText {
    pub graph: String,
    pub cycles: u64,
    #[serde(default)]
    pub counters: Vec<Counter>,
    #[serde(default)]
    pub inputs: Vec<StreamText<InputLaneText>>,
    #[serde(default)]
    pub arrays: Vec<ArrayText>,
    #[serde(default)]
    pub rams: Vec<RamText>,
    #[serde(default)]
    pub bits: Vec<BitText>,
    #[serde(default)]
    pub nets: Vec<NetText>,
    #[serde(default)]
    pub units: Vec<UnitText>,
    #[serde(default)]
    pub copies: Vec<CopyText>,
    #[serde(default)]
    pub constants: Vec<ConstantText>,
    #[serde(default)]
    pub outputs: Vec<StreamText<OutputLaneText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamText<Lane> {
    pub name: String,
    pub array: String,
    pub r#type: String,
    pub counter: u32,
    pub lanes: Vec<Lane>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputLaneText {
    pub net: String,
    pub element: Affine,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputLaneText {
    pub edge: String,
    pub stage: String,
    pub element: Affine,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArrayText {
    pub array: String,
    pub word: Option<Word>,
    pub level: Level,
    pub writes: Vec<WriteText>,
    pub ports: Vec<Port>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RamText {
    pub array: String,
    pub writes: Vec<RamWriteText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RamWriteText {
    pub stage: String,
    pub counter: u32,
    pub element: String,
    pub address: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RamReadText {
    pub ram: String,
    pub stage: String,
    pub load: usize,
    pub port: usize,
    pub counter: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteText {
    pub stage: String,
    pub edge: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BitText {
    pub name: String,
    pub begins: Option<u32>,
    pub counter: Option<u32>,
    pub r#where: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetText {
    pub net: String,
    pub stage: Option<String>,
    pub words: Option<Counter>,
    pub kernel: Option<KernelText>,
    pub high: Option<String>,
    pub select: Option<Vec<String>>,
    pub port: Option<[String; 2]>,
    pub hold: Option<HoldText>,
    pub read: Option<RamReadText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HoldText {
    pub edge: String,
    pub counter: u32,
    pub when: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KernelText {
    pub operation: String,
    pub latency: u64,
    pub iterations: Counter,
    pub counter: Option<u32>,
    pub operands: Vec<String>,
    #[serde(default)]
    pub variables: Vec<Variable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnitText {
    pub name: String,
    pub kernels: Vec<String>,
    pub counters: Vec<u32>,
    pub operands: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CopyText {
    pub stage: String,
    pub load: usize,
    pub net: Option<String>,
    pub high: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstantText {
    pub stage: String,
    pub word: u32,
}
