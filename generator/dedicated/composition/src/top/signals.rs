//! The names of all signals of the top module.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use itertools::Itertools;
use pushmem_graph::{
    Accelerator, CounterId, Driver, Kernel, KernelId, Memories, Ram, RamId, Source, Stream, TileId, Wire, WireId,
};
use pushmem_tile::TEST_ENABLE;

use super::StreamPorts;
use super::promises::{Promise, promises};
use crate::loops::{LoopCounter, Time, depends};
use crate::modules::LOOP_COUNTER;
use crate::names::Names;

/// Names of ports, and of signals and instances that every top module has.
const RESERVED: [&str; 34] = [
    super::promises::READER,
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

/// The same of those whose stall has registers.
const RESERVED_AHEAD: [&str; 7] =
    ["flush_ahead", "flush_unused", "step_ahead", "done_ahead", "busy_ahead_unused", "start_ahead", "u_stall_pipeline"];

/// The names of all signals and instances.
pub(crate) struct Signals<'a> {
    pub streams: StreamPorts,
    /// The instance of the buffer of each input and then of each output.
    pub stream_buffers: Vec<String>,
    /// The name of each wire.
    pub wires: IndexVec<WireId, String>,
    /// The instance that drives a wire, where that is a shift register.
    pub shift_registers: BTreeMap<WireId, String>,
    /// The hold registers, by the wires that they drive.
    pub hold_registers: BTreeMap<WireId, HoldSignals>,
    /// The counters that are needed, by their number, in the time of the hardware.
    pub counters: BTreeMap<CounterId, LoopCounter<'a>>,
    /// Where the stall has registers: the counters of the streams, in the time of the streams.
    pub counters_ahead: BTreeMap<CounterId, LoopCounter<'a>>,
    /// Where the stall has registers: the pipeline of each input stream, and the beat between it and the buffer.
    pub pipelines: Vec<(String, String)>,
    /// Each tile's name, the stem of its signals, and with `u_` before it of its instance.
    pub tiles: IndexVec<TileId, String>,
    /// Each ROM's name, likewise.
    pub roms: Vec<String>,
    /// The random-access memories.
    pub rams: IndexVec<RamId, RamSignals>,
    /// The destinations of each tile's outputs.
    pub tile_outputs: IndexVec<TileId, Vec<TileOutput>>,
    /// The instances of kernels that have one of their own; of others, that of their unit.
    pub kernels: IndexVec<KernelId, String>,
    /// The result of each unit that kernels share.
    pub units: Vec<String>,
    /// For each of them the label of the assertion that it is the turn of one kernel at most.
    pub turns: Vec<String>,
    /// The flush of tiles whose time begins later than the run, by the cycle, and the instance that gives it.
    pub late_flushes: BTreeMap<u64, (String, String)>,
    /// Assertions about wires with delayed words.
    pub promises: BTreeMap<WireId, Promise>,
}

/// The signals of a hold register.
pub(crate) struct HoldSignals {
    /// Name of the instance.
    pub instance: String,
    /// High in the cycles in which it is loaded, if time goes on.
    pub load: String,
    /// For assertions: high when it was loaded in this run.
    pub loaded: String,
}

/// The names of a random-access memory.
pub(crate) struct RamSignals {
    /// The stem of its signals, and with `u_` before it of its instance.
    pub name: String,
    /// The label of the assertion that one word is written at a time.
    pub promise: String,
}

/// Destination of a tile's output.
pub(crate) enum TileOutput {
    /// A wire.
    Wire(WireId),
    /// Only the chain input of another tile: a signal of its own.
    Chain(String),
    /// Nothing.
    Unused(String),
}

impl TileOutput {
    /// The wire, if it is one.
    pub fn wire(&self) -> Option<WireId> {
        match self {
            TileOutput::Wire(wire) => Some(*wire),
            TileOutput::Chain(_) | TileOutput::Unused(_) => None,
        }
    }
}

impl<'a> Signals<'a> {
    /// All names. Those of ports come first, so that they are as programs say it wherever that is possible.
    pub fn of(accelerator: &'a Accelerator) -> Self {
        let stalls_late = accelerator.stall_latency > 0;
        let mut names = Names::with(reserved(accelerator));
        let streams = stream_ports(accelerator, &mut names);
        let ports = streams.inputs.iter().chain(&streams.outputs);
        let stream_buffers = ports.map(|port| names.claim(&format!("u_{port}_buffer"), "stream")).collect();
        let mut pipeline = |port: &String| {
            (names.claim(&format!("u_{port}_pipeline"), "stream"), names.claim(&format!("{port}_beat"), "stream"))
        };
        let pipelines = streams.inputs.iter().filter(|_| stalls_late).map(&mut pipeline).collect();
        let (tiles, roms) = tiles_and_roms(accelerator, &mut names);
        let rams = rams(accelerator, &mut names);
        let wires = wires(accelerator, &mut names);
        let registers = accelerator.wires.iter_enumerated();
        let registers = registers.filter(|(_, wire)| matches!(wire.driver, Driver::ShiftRegister { .. }));
        let instance = |(wire, _)| (wire, names.claim(&format!("u_{}", wires[wire]), "delay"));
        let shift_registers = registers.map(instance).collect();
        let holds = accelerator.wires.iter_enumerated().filter(|(_, wire)| matches!(wire.driver, Driver::Hold { .. }));
        let hold_register = |(wire, _): (WireId, &Wire)| {
            let [instance, load, loaded] =
                ["u_{}", "{}_load", "{}_loaded_q"].map(|pattern| pattern.replace("{}", &wires[wire]));
            let mut claim = |name: &str| names.claim(name, "held");
            (wire, HoldSignals { instance: claim(&instance), load: claim(&load), loaded: claim(&loaded) })
        };
        let hold_registers = holds.map(hold_register).collect();
        let (counters, counters_ahead) = match stalls_late {
            false => (counters(accelerator, stream_users(accelerator, &streams), &mut names), BTreeMap::new()),
            true => {
                let ahead = stream_counters(accelerator, &streams, &mut names);
                (counters(accelerator, Vec::new(), &mut names), ahead)
            }
        };
        let kernels = kernels(accelerator, &mut names);
        let units =
            accelerator.units.iter().map(|unit| names.claim(&format!("{}_result", unit.name), "result")).collect();
        let turns = accelerator.units.iter().map(|unit| names.claim(&format!("a_{}_turns", unit.name), "assertion"));
        let turns = turns.collect();
        let tile_outputs = tiles.iter_enumerated().map(|(tile, name)| tile_outputs(accelerator, tile, name)).collect();
        let promises = promises(accelerator, &mut names, &wires);
        let late_flushes = late_flushes(accelerator, &mut names);
        Signals {
            streams,
            stream_buffers,
            wires,
            shift_registers,
            hold_registers,
            counters,
            counters_ahead,
            pipelines,
            tiles,
            roms,
            rams,
            tile_outputs,
            kernels,
            units,
            turns,
            late_flushes,
            promises,
        }
    }

    /// The time of the streams: that of the hardware, or ahead of it.
    pub fn stream_time(&self, accelerator: &Accelerator) -> Time {
        if accelerator.stall_latency > 0 { Time::AHEAD } else { Time::HARDWARE }
    }

    /// The counter of a stream, in the time of the streams.
    pub fn stream_counter(&self, counter: CounterId) -> &LoopCounter<'a> {
        self.counters_ahead.get(&counter).unwrap_or_else(|| &self.counters[&counter])
    }

    /// The valid signal of a tile's output; `unused` is in its name where no assertion reads it.
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

/// The names that are taken in every top module, and those of read data.
fn reserved(accelerator: &Accelerator) -> Vec<String> {
    let read_data = (0..accelerator.configured().len()).map(|tile| format!("config_read_data_{tile}"));
    let ahead: &[&str] = if accelerator.stall_latency > 0 { &RESERVED_AHEAD } else { &[] };
    // No signal hides the module.
    let module = accelerator.name.clone();
    RESERVED.iter().chain(ahead).map(|name| (*name).to_owned()).chain(read_data).chain([module]).collect()
}

fn stream_ports(accelerator: &Accelerator, names: &mut Names) -> StreamPorts {
    let mut ports = |streams: &[Stream], suffixes: &[&str]| {
        streams.iter().map(|stream| names.claim_stem(&stream.name, "stream", suffixes)).collect()
    };
    StreamPorts {
        inputs: ports(accelerator.inputs.as_raw_slice(), &["_valid_i", "_ready_o", "_data_i"]),
        outputs: ports(&accelerator.outputs, &["_valid_o", "_ready_i", "_data_o"]),
    }
}

/// The names of tiles and of ROMs, whose instances have them with `u_` before.
fn tiles_and_roms(accelerator: &Accelerator, names: &mut Names) -> (IndexVec<TileId, String>, Vec<String>) {
    let outputs = accelerator.specs_in_use().map(|spec| spec.outputs).max().unwrap_or(0);
    let mut suffixes = tile_suffixes(outputs);
    if accelerator.target.memories == Memories::Fixed {
        let inputs = accelerator.specs_in_use().map(|spec| spec.inputs).max().unwrap_or(0);
        suffixes.extend(fixed_suffixes(inputs, outputs));
    }
    let suffixes = suffixes.iter().map(String::as_str).collect_vec();
    let tiles: IndexVec<TileId, String> =
        accelerator.tiles.iter().map(|tile| names.claim_stem(&tile.name, "tile", &suffixes)).collect();
    let roms: Vec<String> =
        accelerator.roms.iter().map(|rom| names.claim_stem(&rom.name, "rom", &ROM_SUFFIXES)).collect();
    for tile in tiles.iter().chain(&roms) {
        names.claim(&format!("u_{tile}"), "tile");
    }
    if accelerator.target.memories == Memories::Fixed {
        let ports = ["write", "read"].into_iter().cartesian_product(0..outputs);
        for (tile, (kind, port)) in tiles.iter().cartesian_product(ports) {
            names.claim(&format!("u_{tile}_{kind}_{port}"), "port");
        }
    }
    (tiles, roms)
}

/// The names of random-access memories.
fn rams(accelerator: &Accelerator, names: &mut Names) -> IndexVec<RamId, RamSignals> {
    let ram = |ram: &Ram| {
        let addresses = (0..ram.reads.len()).map(|read| format!("_address_{read}"));
        let addresses = addresses.chain((0..ram.ports()).map(|port| format!("_port_{port}"))).collect_vec();
        let suffixes = ["_write", "_write_address", "_write_element"].into_iter();
        let suffixes = suffixes.chain(addresses.iter().map(String::as_str)).collect_vec();
        let name = names.claim_stem(&ram.name, "memory", &suffixes);
        names.claim(&format!("u_{name}"), "memory");
        let promise = names.claim(&format!("a_{name}_one_write"), "assertion");
        RamSignals { name, promise }
    };
    accelerator.rams.iter().map(ram).collect()
}

/// The names of wires; `unused` is in those without a reader.
fn wires(accelerator: &Accelerator, names: &mut Names) -> IndexVec<WireId, String> {
    let used = used_wires(accelerator);
    let name = |(number, wire): (WireId, &Wire)| {
        let kind = match wire.driver {
            Driver::Input { .. } => "word",
            Driver::ShiftRegister { .. } | Driver::Tile { .. } => "delayed",
            Driver::Kernel { .. } => "result",
            Driver::Select { .. } | Driver::Turns { .. } => "selected",
            Driver::Hold { .. } => "held",
            Driver::Ram { .. } => "element",
        };
        let unused = if used.contains(&number) { "" } else { "_unused" };
        names.claim(&format!("{}{unused}", wire.name), kind)
    };
    accelerator.wires.iter_enumerated().map(name).collect()
}

/// The instance of each kernel: its own, or that of its unit.
fn kernels(accelerator: &Accelerator, names: &mut Names) -> IndexVec<KernelId, String> {
    let mut instance = |name: &str| names.claim(&format!("u_{name}"), "kernel");
    let of_units: Vec<String> = accelerator.units.iter().map(|unit| instance(&unit.name)).collect();
    let of_kernel = |(number, kernel): (KernelId, &Kernel)| match accelerator.unit_of(number) {
        Some(unit) => of_units[unit].clone(),
        None => instance(&kernel.name),
    };
    accelerator.kernels.iter_enumerated().map(of_kernel).collect()
}

/// The flush of tiles whose time begins later than the run, by the cycle, and the instance that gives it.
fn late_flushes(accelerator: &Accelerator, names: &mut Names) -> BTreeMap<u64, (String, String)> {
    let begins = accelerator.tiles.iter().map(|tile| tile.begin).filter(|begin| *begin > 0);
    let late_flush = |begin: u64| {
        let name = names.claim(&format!("flush_{begin}"), "flush");
        let instance = names.claim(&format!("u_{name}"), "flush");
        (begin, (name, instance))
    };
    begins.collect::<BTreeSet<u64>>().into_iter().map(late_flush).collect()
}

/// The wires that have readers.
fn used_wires(accelerator: &Accelerator) -> BTreeSet<WireId> {
    let drivers = accelerator.wires.iter().flat_map(|wire| wire.driver.wires());
    let operands = accelerator.kernels.iter().flat_map(|kernel| &kernel.operands);
    let operands = operands.chain(accelerator.units.iter().flat_map(|unit| &unit.operands)).filter_map(Source::wire);
    let tiles = accelerator.tiles.iter().flat_map(|tile| tile.inputs.iter().copied().flatten());
    let written = accelerator.rams.iter().flat_map(|ram| &ram.writes).flat_map(|write| [write.element, write.address]);
    let written = written.filter_map(|source| source.wire());
    let lanes = accelerator.outputs.iter().flat_map(|stream| stream.lanes.iter().map(|lane| lane.wire));
    drivers.chain(operands).chain(tiles).chain(written).chain(lanes).collect()
}

/// The counter of each stream with the name of its port.
fn stream_users<'a>(accelerator: &Accelerator, streams: &'a StreamPorts) -> Vec<(CounterId, &'a str)> {
    let counters = accelerator.inputs.iter().chain(&accelerator.outputs).map(|stream| stream.counter);
    counters.zip(streams.inputs.iter().chain(&streams.outputs).map(String::as_str)).collect()
}

/// The counters of the streams alone, in the time of the streams.
fn stream_counters<'a>(
    accelerator: &'a Accelerator,
    streams: &StreamPorts,
    names: &mut Names,
) -> BTreeMap<CounterId, LoopCounter<'a>> {
    let users = stream_users(accelerator, streams);
    let named = |&(number, user): &(CounterId, &str)| {
        (number, loop_counter(accelerator, number, Time::AHEAD, user, true, &|_| false, names))
    };
    users.iter().unique_by(|(number, _)| *number).map(named).collect()
}

/// The counters that have a reader: the streams, which step them, and others. Names of those that only selections use come from
/// the users of the selections.
fn counters<'a>(
    accelerator: &'a Accelerator,
    streams: Vec<(CounterId, &str)>,
    names: &mut Names,
) -> BTreeMap<CounterId, LoopCounter<'a>> {
    let mut stepped: BTreeSet<CounterId> = streams.iter().map(|(counter, _)| *counter).collect();
    // In order of preference for names.
    let mut users = streams;
    users.extend(accelerator.kernels.iter().filter_map(|kernel| Some((kernel.counter?, kernel.name.as_str()))));
    let mut levels: BTreeSet<(CounterId, usize)> = BTreeSet::new();
    for kernel in &accelerator.kernels {
        let used = kernel.variables.iter().filter_map(|variable| Some((kernel.counter?, variable.level?)));
        levels.extend(used);
    }
    let turns = accelerator.units.iter().flat_map(|unit| unit.counters.iter().zip(&unit.kernels));
    users.extend(turns.clone().map(|(&counter, &kernel)| (counter, accelerator.kernels[kernel].name.as_str())));
    stepped.extend(turns.map(|(&counter, _)| counter));
    let writes = accelerator.rams.iter().flat_map(|ram| ram.writes.iter().map(move |write| (ram, write)));
    for (ram, write) in writes {
        // A constant and a word of a stream have no kernel.
        let kernel = accelerator.kernels.iter().find(|kernel| kernel.stage == write.stage);
        users.push((write.counter, kernel.map_or(ram.name.as_str(), |kernel| kernel.name.as_str())));
        stepped.insert(write.counter);
    }
    for ram in &accelerator.rams {
        // The last read of a port has it in all cycles in which the others do not.
        let shared = ram.reads.iter().enumerate().filter(|(read, of)| ram.reads_of(of.port).last() != Some(*read));
        for (_, read) in shared {
            users.push((read.counter, accelerator.kernels[read.kernel].name.as_str()));
            stepped.insert(read.counter);
        }
    }
    for (number, wire) in accelerator.wires.iter_enumerated() {
        if let Driver::Hold { counter, conditions, .. } = &wire.driver {
            users.push((*counter, wire.name.as_str()));
            stepped.insert(*counter);
            let extent = &accelerator.counters[*counter].extent;
            let used = conditions.iter().filter(|(level, condition)| depends(condition, extent[*level]));
            levels.extend(used.map(|(level, _)| (*counter, *level)));
        }
        let Driver::Select { counter, cases } = &wire.driver else { continue };
        let reads = |kernel: &&Kernel| kernel.operands.contains(&Source::Wire(number));
        let reader = accelerator.kernels.iter().find(reads).map_or(wire.name.as_str(), |kernel| kernel.name.as_str());
        users.push((*counter, reader));
        let extent = &accelerator.counters[*counter].extent;
        let conditions = cases.iter().flat_map(|case| &case.conditions);
        let used = conditions.filter(|(level, condition)| depends(condition, extent[*level]));
        levels.extend(used.map(|(level, _)| (*counter, *level)));
    }
    let named = |&(number, user): &(CounterId, &str)| {
        let used = |level: usize| levels.contains(&(number, level));
        (number, loop_counter(accelerator, number, Time::HARDWARE, user, stepped.contains(&number), &used, names))
    };
    let is_read = |number: CounterId| stepped.contains(&number) || levels.iter().any(|(of, _)| *of == number);
    users.iter().filter(|(number, _)| is_read(*number)).unique_by(|(number, _)| *number).map(named).collect()
}

/// A counter with names after its first user. `stepped` tells whether its steps have a reader, `used` which of its indices.
fn loop_counter<'a>(
    accelerator: &'a Accelerator,
    number: CounterId,
    time: Time,
    user: &str,
    stepped: bool,
    used: &dyn Fn(usize) -> bool,
    names: &mut Names,
) -> LoopCounter<'a> {
    let counter = &accelerator.counters[number];
    let name_unused = |name: &str, used: bool| format!("_{name}{}", if used { "" } else { "_unused" });
    let steps = name_unused("steps", stepped);
    let mut own = Names::with(["steps", "steps_unused"]);
    let loops = counter.loops.iter().map(|name| own.claim(name, "index")).collect_vec();
    let indices = match loops.as_slice() {
        [] => vec![name_unused("index", false)],
        loops => loops.iter().enumerate().map(|(level, name)| name_unused(name, used(level))).collect_vec(),
    };
    // Two counters never differ in unused signals alone.
    let of_both = |name: &str| [true, false].map(|used| name_unused(name, used));
    let suffixes = loops.iter().map(String::as_str).chain(["steps", "index"]).flat_map(of_both);
    let suffixes = suffixes.collect_vec();
    let suffixes = suffixes.iter().map(String::as_str).collect_vec();
    let name = names.claim_stem(user, "kernel", &suffixes);
    let instance = names.claim(&format!("u_{name}_loops"), "counter");
    let signal = |suffix: &String| format!("{name}{suffix}");
    let (steps, indices) = (signal(&steps), indices.iter().map(signal).collect());
    let module = accelerator.target.memory().reset.module_name(LOOP_COUNTER);
    LoopCounter { counter, time, name, instance, module, steps, indices }
}

/// Suffixes of a ROM's name in the names of its signals.
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

/// Suffixes of a tile's name in the names of its signals.
fn tile_suffixes(outputs: u32) -> Vec<String> {
    let of_output = |output: u32| {
        ["", "_unused", "_upper_unused", "_valid", "_valid_unused"].map(|end| format!("_out_{output}{end}"))
    };
    let of_tile = [
        "_taken_unused",
        "_stencil_valid_unused",
        "_ready_unused",
        "_chain_ready_unused",
        "_bist_address",
        "_bist_bits",
    ];
    let of_tile = of_tile.map(str::to_owned);
    (0..outputs).flat_map(of_output).chain(of_tile).collect()
}

/// The same of those that only memories made for the program have.
fn fixed_suffixes(inputs: u32, outputs: u32) -> Vec<String> {
    let of_port = |(kind, port): (&str, u32)| {
        ["access", "address", "accessed_unused"].map(|signal| format!("_{kind}_{port}_{signal}"))
    };
    let writes = (0..inputs).map(|port| ("write", port));
    let ports = writes.chain((0..outputs).map(|port| ("read", port)));
    ports.flat_map(of_port).chain(["_word".to_owned()]).collect()
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
    (0..accelerator.tiles[tile].spec.outputs as usize).map(output).collect()
}
