//! Tiles and their configurations.

use std::collections::{BTreeMap, HashMap};

use itertools::Itertools;
use pushmem_configuration::{Chain, ControllerConfiguration};
use pushmem_graph::{Accelerator, WireId};
use pushmem_realization::Dedicated;
use pushmem_tile::{Kind, Role, TileSpec, timing};
use serde::Serialize;

use crate::memories::MemoryRow;
use crate::stages::groups;

/// The specification of tiles of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spec {
    /// Its name.
    pub name: String,
    /// The digest of the specification, which configurations carry.
    pub digest: String,
    /// The variant.
    pub kind: &'static str,
    /// Bits of a word.
    pub word_bits: u32,
    /// Words in a row of the main memory.
    pub row_words: u32,
    /// Rows of the main memory.
    pub rows: u32,
    /// Rows of the largest memory that tiles can form together, at which addresses wrap.
    pub chain_rows: u64,
    /// Ports of the main memory, each of which serves one controller a cycle.
    pub ports: Vec<MemoryPort>,
    /// Buffers beside it: aggregators and transpose buffers.
    pub buffers: Vec<Buffer>,
    /// The purpose of each role of controllers.
    pub roles: Vec<(&'static str, &'static str)>,
}

/// A port of the main memory of a tile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryPort {
    /// Its name.
    pub name: String,
    /// The controllers that share it.
    pub controllers: Vec<String>,
}

/// A buffer between the main memory of a tile and an input or an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// The memory in which configurations address it: `agg` or `tb`.
    pub memory: &'static str,
    /// Its words.
    pub words: u32,
    /// The controller that fills it, a word or a row at a time.
    pub filled_by: String,
    /// Words that one firing fills in.
    pub filled: u32,
    /// Cycles from such a firing until the words are there.
    pub fill_latency: u64,
    /// The controller that takes words out, in the cycle in which it fires.
    pub emptied_by: String,
    /// Words that one firing takes.
    pub emptied: u32,
}

/// Memory tiles that do the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TileRow {
    /// Their specification, an index of [`crate::Contents::specs`].
    pub spec: usize,
    /// The level of the memory hierarchy.
    pub level: &'static str,
    /// Their memory, an index of [`crate::Contents::memories`].
    pub memory: usize,
    /// The cycle of the run in which their own time begins.
    pub begin: u64,
    /// The controllers that run, by name: indices of [`crate::Contents::controllers`].
    pub controllers: BTreeMap<String, usize>,
    /// Chaining.
    pub chain: Chain,
    /// The tiles.
    pub instances: Vec<Instance>,
}

impl TileRow {
    fn does_as(&self, other: &TileRow) -> bool {
        let what = |tile: &TileRow| (tile.spec, tile.level, tile.memory, tile.begin, tile.chain);
        what(self) == what(other) && self.controllers == other.controllers
    }
}

/// A memory tile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Instance {
    /// Its name.
    pub name: String,
    /// The wire of each input.
    pub inputs: Vec<Option<String>>,
    /// The wire of each output.
    pub outputs: Vec<Option<String>>,
    /// The tile whose outputs go to its chain inputs.
    pub chain_from: Option<String>,
}

/// A ROM tile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RomRow {
    /// Its name.
    pub name: String,
    /// The table.
    pub table: String,
    /// Entries of the table.
    pub words: usize,
    /// The stage that looks up, an index of [`crate::Contents::stages`].
    pub stage: usize,
}

/// The specifications of the tiles of an accelerator.
pub(crate) fn specs(accelerator: &Accelerator) -> Vec<Spec> {
    accelerator.specs_in_use().map(spec).collect()
}

fn spec(spec: &TileSpec) -> Spec {
    let controllers = spec.controllers();
    let of = |role: Role, ports: &[u32]| {
        let named = controllers.iter().filter(|other| other.role == role && ports.contains(&other.port));
        named.map(|controller| controller.name.clone()).collect_vec()
    };
    let all = |role: Role| of(role, &(0..role.count(spec)).collect_vec());
    let (ports, buffers) = match spec.kind {
        Kind::WideFetch { fetch_width, agg_words, tb_words } => {
            let name = |role: Role, port: u32| format!("{}_{port}", role.name());
            let aggregators = (0..spec.inputs).map(|port| Buffer {
                name: format!("AGG {port}"),
                memory: "agg",
                words: agg_words,
                filled_by: name(Role::In2Agg, port),
                filled: 1,
                fill_latency: timing::AGGREGATOR_WRITE,
                emptied_by: name(Role::Agg2Sram, port),
                emptied: fetch_width,
            });
            let transpose_buffers = (0..spec.outputs).map(|port| Buffer {
                name: format!("TB {port}"),
                memory: "tb",
                words: tb_words,
                filled_by: name(Role::Sram2Tb, port),
                filled: fetch_width,
                fill_latency: timing::sram_to_transpose_buffer(spec.sram_latency),
                emptied_by: name(Role::Tb2Out, port),
                emptied: 1,
            });
            let controllers = [all(Role::Agg2Sram), all(Role::Sram2Tb)].concat();
            let port = MemoryPort { name: "SRAM port".to_owned(), controllers };
            (vec![port], aggregators.chain(transpose_buffers).collect())
        }
        kind => {
            let ports = (0..kind.memory_ports()).flat_map(|number| {
                let suffix = if kind.memory_ports() > 1 { format!(" {number}") } else { String::new() };
                let directions = kind.direct_roles().map(|(write, read)| [("write", write), ("read", read)]);
                let port = |(direction, role): (&str, Role)| MemoryPort {
                    name: format!("{direction} port{suffix}"),
                    controllers: of(role, &kind.sharing(number, role.count(spec)).collect_vec()),
                };
                directions.into_iter().flatten().map(port).collect_vec()
            });
            (ports.collect(), Vec::new())
        }
    };
    Spec {
        name: spec.name.clone(),
        digest: spec.digest(),
        kind: spec.kind.name(),
        word_bits: spec.word_bits,
        row_words: spec.kind.row_words(),
        rows: spec.rows,
        chain_rows: u64::from(spec.rows) << spec.tile_id_bits(),
        ports,
        buffers,
        roles: spec.roles().into_iter().map(|role| (role.name(), role.purpose())).collect(),
    }
}

/// The memory tiles of an accelerator, which keep what is in these memories, and what their controllers do.
pub(crate) fn tiles(accelerator: &Accelerator, memories: &[MemoryRow]) -> (Vec<TileRow>, Vec<ControllerConfiguration>) {
    let specs = accelerator.specs_in_use().collect_vec();
    let mut numbers: HashMap<&ControllerConfiguration, usize> = HashMap::new();
    let mut controllers: Vec<ControllerConfiguration> = Vec::new();
    let mut tiles: Vec<TileRow> = Vec::new();
    for (number, tile) in accelerator.tiles.iter().enumerate() {
        let wires = |wires: &[Option<WireId>]| {
            wires.iter().map(|wire| wire.map(|wire| accelerator.wires[wire].name.clone())).collect()
        };
        let instance = Instance {
            name: tile.name.clone(),
            inputs: wires(&tile.inputs),
            outputs: wires(&tile.outputs),
            chain_from: tile.chain_from.map(|other| accelerator.tiles[other].name.clone()),
        };
        let own = &tile.spec;
        let keeps = |memory: &MemoryRow| (memory.tiles.0..memory.tiles.0 + memory.tiles.1).contains(&number);
        let configured = tile.configuration.controllers.iter().map(|(name, controller)| {
            let number = *numbers.entry(controller).or_insert_with(|| {
                controllers.push(controller.clone());
                controllers.len() - 1
            });
            (name.clone(), number)
        });
        let mut told = TileRow {
            spec: specs.iter().position(|spec| spec.name == own.name).expect("it is in use"),
            level: tile.level.name(),
            memory: memories.iter().position(keeps).expect("a tile keeps something"),
            begin: tile.begin,
            controllers: configured.collect(),
            chain: tile.configuration.chain,
            instances: Vec::new(),
        };
        match tiles.iter_mut().find(|other| other.does_as(&told)) {
            Some(other) => other.instances.push(instance),
            None => {
                told.instances.push(instance);
                tiles.push(told);
            }
        }
    }
    (tiles, controllers)
}

/// The ROM tiles of a compiled program.
pub(crate) fn roms(compiled: &Dedicated) -> Vec<RomRow> {
    let groups = groups(compiled);
    let rom = |rom: &pushmem_graph::Rom| RomRow {
        name: rom.name.clone(),
        table: compiled.program.tables[rom.table].name.clone(),
        words: compiled.program.tables[rom.table].values.len(),
        stage: groups[compiled.accelerator.kernels[rom.kernel].stage],
    };
    compiled.accelerator.roms.iter().map(rom).collect()
}
