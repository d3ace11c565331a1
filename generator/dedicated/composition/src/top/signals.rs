//! The names of all signals of the top module.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use itertools::Itertools;
use pushmem_graph::{Accelerator, CounterId, Driver, Kernel, KernelId, Source, Stream, TileId, Wire, WireId};
use pushmem_tile::TEST_ENABLE;

use super::StreamPorts;
use super::promises::{Promise, promises};
use crate::loops::{LoopCounter, depends};
use crate::modules::LOOP_COUNTER;
use crate::names::Names;

/// Names of ports and of what every top module has.
const RESERVED: [&str; 33] = [
    "clk_i",
    "rst_ni",
    TEST_ENABLE,
    "start_i",
    "busy_o",
    "done_o",
    "config_write_i",
    "config_read_i",
    "config_address_i",
    "config_write_data_i",
    "config_read_data_o",
    "config_error_o",
    "config_errors",
    "config_misses_q",
    "bist_start_i",
    "bist_busy_o",
    "bist_done_o",
    "bist_fail_o",
    "bist_fail_tiles_o",
    "bist_select_i",
    "bist_fail_address_o",
    "bist_fail_bits_o",
    "bist_tile_busy",
    "bist_tile_done",
    "config_tile",
    "config_tile_q",
    "flush",
    "step",
    "cycle_q",
    "due",
    "ready",
    "u_run_control",
    pushmem_waves::INSTANCE,
];

/// The names of all signals and instances.
pub(crate) struct Signals<'a> {
    pub streams: StreamPorts,
    /// The instance of the buffer of each input and then of each output.
    pub stream_buffers: Vec<String>,
    /// The name of each wire.
    pub wires: IndexVec<WireId, String>,
    /// The instance that drives a wire, where that is a shift register.
    pub shift_registers: BTreeMap<WireId, String>,
    /// The counters that are needed, by their number.
    pub counters: BTreeMap<CounterId, LoopCounter<'a>>,
    /// Each tile's name, the stem of its signals, and with `u_` before it of its instance.
    pub tiles: IndexVec<TileId, String>,
    /// Each ROM's name, likewise.
    pub roms: Vec<String>,
    /// What the outputs of each tile drive.
    pub tile_outputs: IndexVec<TileId, Vec<TileOutput>>,
    /// The instances of kernels that have one of their own; of others, that of their unit.
    pub kernels: IndexVec<KernelId, String>,
    /// The result of each unit that kernels have in turn.
    pub units: Vec<String>,
    /// For each of them the label of the assertion that it is the turn of one kernel at most.
    pub turns: Vec<String>,
    /// The flush of tiles whose time begins later than the run, by the cycle, and the instance that gives it.
    pub late_flushes: BTreeMap<u64, (String, String)>,
    /// What is asserted of wires with delayed words.
    pub promises: BTreeMap<WireId, Promise>,
}

/// What an output of a tile drives.
pub(crate) enum TileOutput {
    /// A wire.
    Wire(WireId),
    /// Only the chain input of another tile: a signal of its own.
    Chain(String),
    /// Nothing.
    Unused(String),
}

impl<'a> Signals<'a> {
    pub fn of(accelerator: &'a Accelerator) -> Self {
        let read_data = (0..accelerator.configured().len()).map(|tile| format!("config_read_data_{tile}"));
        let mut names = Names::with(RESERVED.into_iter().map(str::to_owned).chain(read_data));
        let mut ports = |streams: &[Stream], suffixes: &[&str]| {
            streams.iter().map(|stream| names.claim_stem(&stream.name, "stream", suffixes)).collect()
        };
        let streams = StreamPorts {
            inputs: ports(accelerator.inputs.as_raw_slice(), &["_valid_i", "_ready_o", "_data_i"]),
            outputs: ports(&accelerator.outputs, &["_valid_o", "_ready_i", "_data_o"]),
        };
        let ports = streams.inputs.iter().chain(&streams.outputs);
        let stream_buffers = ports.map(|port| names.claim(&format!("u_{port}_buffer"), "stream")).collect();
        let outputs = accelerator.specs_in_use().map(|spec| spec.outputs).max().unwrap_or(0);
        let suffixes = tile_suffixes(outputs);
        let suffixes = suffixes.iter().map(String::as_str).collect_vec();
        let tiles = accelerator.tiles.iter();
        let tiles: IndexVec<TileId, String> =
            tiles.map(|tile| names.claim_stem(&tile.name, "tile", &suffixes)).collect();
        let roms = accelerator.roms.iter();
        let roms: Vec<String> = roms.map(|rom| names.claim_stem(&rom.name, "rom", &ROM_SUFFIXES)).collect();
        for tile in tiles.iter().chain(&roms) {
            names.claim(&format!("u_{tile}"), "tile");
        }
        let used = used_wires(accelerator);
        let wire = |(number, wire): (WireId, &Wire)| {
            let kind = match wire.driver {
                Driver::Input { .. } => "word",
                Driver::ShiftRegister { .. } | Driver::Tile { .. } => "delayed",
                Driver::Kernel { .. } => "result",
                Driver::Select { .. } | Driver::Turns { .. } => "selected",
            };
            let unused = if used.contains(&number) { "" } else { "_unused" };
            names.claim(&format!("{}{unused}", wire.name), kind)
        };
        let wires: IndexVec<WireId, String> = accelerator.wires.iter_enumerated().map(wire).collect();
        let registers = accelerator.wires.iter_enumerated();
        let registers = registers.filter(|(_, wire)| matches!(wire.driver, Driver::ShiftRegister { .. }));
        let instance = |(wire, _)| (wire, names.claim(&format!("u_{}", wires[wire]), "delay"));
        let shift_registers = registers.map(instance).collect();
        let counters = counters(accelerator, &streams, &mut names);
        let mut instance = |name: &str| names.claim(&format!("u_{name}"), "kernel");
        let of_units: Vec<String> = accelerator.units.iter().map(|unit| instance(&unit.name)).collect();
        let of_kernel = |(number, kernel): (KernelId, &Kernel)| match accelerator.unit_of(number) {
            Some(unit) => of_units[unit].clone(),
            None => instance(&kernel.name),
        };
        let kernels = accelerator.kernels.iter_enumerated().map(of_kernel).collect();
        let units =
            accelerator.units.iter().map(|unit| names.claim(&format!("{}_result", unit.name), "result")).collect();
        let turns = accelerator.units.iter().map(|unit| names.claim(&format!("a_{}_turns", unit.name), "assertion"));
        let turns = turns.collect();
        let tile_outputs = tiles.iter_enumerated().map(|(tile, name)| tile_outputs(accelerator, tile, name)).collect();
        let promises = promises(accelerator, &mut names, &wires);
        let begins: BTreeSet<u64> =
            accelerator.tiles.iter().map(|tile| tile.begin).filter(|begin| *begin > 0).collect();
        let mut late_flush = |begin: u64| {
            let name = names.claim(&format!("flush_{begin}"), "flush");
            let instance = names.claim(&format!("u_{name}"), "flush");
            (begin, (name, instance))
        };
        let late_flushes = begins.into_iter().map(&mut late_flush).collect();
        Signals {
            streams,
            stream_buffers,
            wires,
            shift_registers,
            counters,
            tiles,
            roms,
            tile_outputs,
            kernels,
            units,
            turns,
            late_flushes,
            promises,
        }
    }

    /// What says whether an output of a tile has a word; its name says so where nobody looks.
    pub fn valid(&self, tile: TileId, output: usize) -> String {
        let looked_at = match self.tile_outputs[tile][output] {
            TileOutput::Wire(wire) => self.promises.contains_key(&wire),
            TileOutput::Chain(_) | TileOutput::Unused(_) => false,
        };
        format!("{}_out_{output}_valid{}", self.tiles[tile], if looked_at { "" } else { "_unused" })
    }

    /// A wire or a constant as SystemVerilog.
    pub fn source(&self, source: Source) -> String {
        match source {
            Source::Wire(wire) => self.wires[wire].clone(),
            Source::Constant(word) => format!("16'd{word}"),
        }
    }
}

/// The wires that something reads.
fn used_wires(accelerator: &Accelerator) -> BTreeSet<WireId> {
    let drivers = accelerator.wires.iter().flat_map(|wire| wire.driver.wires());
    let operands = accelerator.kernels.iter().flat_map(|kernel| &kernel.operands);
    let operands = operands.chain(accelerator.units.iter().flat_map(|unit| &unit.operands)).filter_map(Source::wire);
    let tiles = accelerator.tiles.iter().flat_map(|tile| tile.inputs.iter().copied().flatten());
    let lanes = accelerator.outputs.iter().flat_map(|stream| stream.lanes.iter().map(|lane| lane.wire));
    drivers.chain(operands).chain(tiles).chain(lanes).collect()
}

/// The counters that something looks at. Names of those that only selections use come from what the selections are for.
fn counters<'a>(
    accelerator: &'a Accelerator,
    streams: &StreamPorts,
    names: &mut Names,
) -> BTreeMap<CounterId, LoopCounter<'a>> {
    // In order of preference for names.
    let mut users: Vec<(CounterId, &str)> = Vec::new();
    let ports = streams.inputs.iter().chain(&streams.outputs);
    users.extend(
        accelerator
            .inputs
            .iter()
            .chain(&accelerator.outputs)
            .map(|stream| stream.counter)
            .zip(ports.map(|port| port.as_str())),
    );
    users.extend(accelerator.kernels.iter().filter_map(|kernel| Some((kernel.counter?, kernel.name.as_str()))));
    let mut levels: BTreeSet<(CounterId, usize)> = BTreeSet::new();
    for kernel in &accelerator.kernels {
        let used = kernel.variables.iter().filter_map(|variable| Some((kernel.counter?, variable.level?)));
        levels.extend(used);
    }
    let turns = accelerator.units.iter().flat_map(|unit| unit.counters.iter().zip(&unit.kernels));
    users.extend(turns.clone().map(|(&counter, &kernel)| (counter, accelerator.kernels[kernel].name.as_str())));
    for (number, wire) in accelerator.wires.iter_enumerated() {
        let Driver::Select { counter, cases } = &wire.driver else { continue };
        let reads = |kernel: &&Kernel| kernel.operands.contains(&Source::Wire(number));
        let reader = accelerator.kernels.iter().find(reads).map_or(wire.name.as_str(), |kernel| kernel.name.as_str());
        users.push((*counter, reader));
        let extent = &accelerator.counters[*counter].extent;
        let conditions = cases.iter().flat_map(|case| &case.conditions);
        let used = conditions.filter(|(level, condition)| depends(condition, extent[*level]));
        levels.extend(used.map(|(level, _)| (*counter, *level)));
    }
    let streams = accelerator.inputs.iter().chain(&accelerator.outputs).map(|stream| stream.counter);
    let stepped: BTreeSet<CounterId> = streams.chain(turns.map(|(&counter, _)| counter)).collect();
    let needed = users.iter().map(|(counter, _)| *counter).unique();
    let module = accelerator.spec.reset.module_name(LOOP_COUNTER);
    let named = |number: CounterId| {
        let counter = &accelerator.counters[number];
        let user = users.iter().find(|(counter, _)| *counter == number).map_or("loops", |(_, user)| user);
        let name_unused = |name: &str, used: bool| format!("_{name}{}", if used { "" } else { "_unused" });
        let steps = name_unused("steps", stepped.contains(&number));
        let mut own = Names::with(["steps", "steps_unused"]);
        let loops = counter.loops.iter().map(|name| own.claim(name, "index")).collect_vec();
        let indices = match loops.as_slice() {
            [] => vec![name_unused("index", false)],
            loops => {
                let index = |(level, name): (usize, &String)| name_unused(name, levels.contains(&(number, level)));
                loops.iter().enumerate().map(index).collect_vec()
            }
        };
        // Two counters never differ only in what is unused.
        let of_both = |name: &str| [true, false].map(|used| name_unused(name, used));
        let suffixes = loops.iter().map(String::as_str).chain(["steps", "index"]).flat_map(of_both);
        let suffixes = suffixes.collect_vec();
        let suffixes = suffixes.iter().map(String::as_str).collect_vec();
        let name = names.claim_stem(user, "kernel", &suffixes);
        let instance = names.claim(&format!("u_{name}_loops"), "counter");
        let signal = |suffix: &String| format!("{name}{suffix}");
        let (steps, indices) = (signal(&steps), indices.iter().map(signal).collect());
        (number, LoopCounter { counter, name, instance, module: module.clone(), steps, indices })
    };
    needed.map(named).collect()
}

/// What is behind the name of a ROM in names of its signals.
const ROM_SUFFIXES: [&str; 8] = [
    "_address",
    "_word",
    "_taken_unused",
    "_valid_unused",
    "_upper_unused",
    "_stencil_valid_unused",
    "_bist_address",
    "_bist_bits",
];

/// What is behind the name of a tile in names of its signals.
fn tile_suffixes(outputs: u32) -> Vec<String> {
    let of_output = |output: u32| {
        ["", "_unused", "_upper_unused", "_valid", "_valid_unused"].map(|end| format!("_out_{output}{end}"))
    };
    let of_tile = ["_taken_unused", "_stencil_valid_unused", "_bist_address", "_bist_bits"];
    let of_tile = of_tile.map(str::to_owned);
    (0..outputs).flat_map(of_output).chain(of_tile).collect()
}

fn tile_outputs(accelerator: &Accelerator, tile: TileId, name: &str) -> Vec<TileOutput> {
    let chained = accelerator.tiles.iter().any(|other| other.chain_from == Some(tile));
    let output = |output: usize| {
        let driver = Driver::Tile { tile, output };
        match accelerator.wires.position(|wire| wire.driver == driver) {
            Some(wire) => TileOutput::Wire(wire),
            None if chained => TileOutput::Chain(format!("{name}_out_{output}")),
            None => TileOutput::Unused(format!("{name}_out_{output}_unused")),
        }
    };
    let spec = accelerator.spec_at(accelerator.tiles[tile].level);
    (0..spec.outputs as usize).map(output).collect()
}
