//! The regression of banks of a global buffer: random loop nests, random bitstreams, streams that wait, and hosts that come at any time, in the RTL and in
//! the model.

use std::path::{Path, PathBuf};

use pushmem_emulator::{Bank, BankAccess, BankInputs, BankOutputs, HostAccess};
use pushmem_fabric::{ArraySpec, Direction, GlobalBufferSpec};
use pushmem_files::Diagnostic;
use pushmem_interconnect::bank_module;
use pushmem_resources::{BankMap, BankMeaning, BitstreamState};
use pushmem_simulation::{BlockPort, BlockPorts, BlockProcess, Verilator};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::failure::{Failure, FailureKind};
use crate::scenario::ScenarioCounts;

/// Longest run of a bank, in cycles: what it has not moved by then is left.
const LONGEST_RUN: usize = 600;

const ROW_BITS: u32 = GlobalBufferSpec::ROW_BITS;

/// The ports of a bank.
fn ports(spec: &ArraySpec) -> BlockPorts {
    let rows = spec.global_buffer.as_ref().map_or(1, GlobalBufferSpec::rows);
    let (words, word_bits) = (spec.words_per_row(), spec.word_bits());
    let of = |ports: &[(&str, u32)]| ports.iter().map(|(name, bits)| BlockPort::new(*name, *bits)).collect();
    BlockPorts {
        inputs: of(&[
            ("rst_ni", 1),
            ("flush_i", 1),
            ("config_write_i", 1),
            ("config_read_i", 1),
            ("config_clear_i", 1),
            ("config_register_i", 12),
            ("config_write_data_i", 32),
            ("host_write_i", words),
            ("host_read_i", 1),
            ("host_half_i", 1),
            ("host_row_i", rows.ilog2()),
            ("host_write_data_i", ROW_BITS),
            ("load_ready_i", 1),
            ("store_valid_i", 1),
            ("store_word_i", word_bits),
            ("column_i", 8),
            ("column_ready_i", 1),
            ("column_refused_i", 1),
        ]),
        outputs: of(&[
            ("config_done_o", 1),
            ("config_read_data_o", 32),
            ("host_done_o", 1),
            ("host_read_data_o", ROW_BITS),
            ("load_valid_o", 1),
            ("load_word_o", word_bits),
            ("store_ready_o", 1),
            ("busy_o", 1),
            ("column_write_o", 1),
            ("column_address_o", 32),
            ("column_data_o", 32),
            ("configures_o", 1),
        ]),
    }
}

fn drive(inputs: &BankInputs, column: u32, values: &mut Vec<u64>) {
    let BankInputs { flush, clear, access, host, load_ready, store, column_ready, column_refused } = *inputs;
    let bit = |is_high: bool| u64::from(is_high);
    let (written, read) = match access {
        Some(BankAccess { write: Some(data), .. }) => (Some(data), false),
        Some(_) => (None, true),
        None => (None, false),
    };
    let host = host.unwrap_or(HostAccess { half: 0, row: 0, words: 0, data: 0 });
    values.extend([1, bit(flush), bit(written.is_some()), bit(read), bit(clear)]);
    values.extend([access.map_or(0, |access| access.register), written.unwrap_or(0), host.words].map(u64::from));
    values.extend([bit(inputs.host.is_some() && host.words == 0), host.half as u64, host.row.into(), host.data]);
    values.extend([bit(load_ready), bit(store.is_some()), store.unwrap_or(0).into()]);
    values.extend([column.into(), bit(column_ready), bit(column_refused)]);
}

/// The outputs of the model, as the ports have them. A word or a write that is not offered means nothing.
fn shown(outputs: &BankOutputs, rtl: &[u64]) -> [u64; 12] {
    let BankOutputs { config_done, config_read_data, host_done, host_read_data, load, store_ready, busy, .. } =
        *outputs;
    let BankOutputs { column, configures, .. } = *outputs;
    [
        config_done.into(),
        config_read_data.into(),
        host_done.into(),
        host_read_data,
        load.is_some().into(),
        load.map_or(rtl[5], u64::from),
        store_ready.into(),
        busy.into(),
        column.is_some().into(),
        column.map_or(rtl[9], |write| write.address.into()),
        column.map_or(rtl[10], |write| write.data.into()),
        configures.into(),
    ]
}

/// Builds the model of a bank of an array with a global buffer whose RTL is these files, or finds it in the cache.
///
/// # Errors
/// When Verilator or the compiler fails.
pub(crate) fn build_bank(
    verilator: &Verilator,
    spec: &ArraySpec,
    files: &[(String, String)],
) -> Result<PathBuf, Diagnostic> {
    verilator.build_block(&bank_module(spec), &ports(spec), files, false)
}

/// A bank at work in RTL and model.
struct Bench {
    process: BlockProcess,
    ports: BlockPorts,
    model: Bank,
    /// The first column of the bank, the last one of the array.
    column: u32,
    clock: u64,
}

impl Bench {
    fn start(spec: &ArraySpec, executable: &Path) -> Result<Self, Failure> {
        let ports = ports(spec);
        let mut process = BlockProcess::start_cleared(executable, ports.clone())?;
        process.reset().map_err(|error| Failure::wrong(error.message()))?;
        let buffer = spec.global_buffer.as_ref().expect("the array has a global buffer");
        let model = Bank::new(spec, buffer.banks - 1).expect("the array has a global buffer");
        Ok(Bench { process, ports, model, column: buffer.first_column(buffer.banks - 1), clock: 0 })
    }

    /// Runs cycles in both, and compares every output of every cycle.
    fn run(&mut self, cycles: &[BankInputs]) -> Result<(), Failure> {
        let column = self.column;
        let samples = self.process.sampled(cycles.len(), |cycle, values| drive(&cycles[cycle], column, values));
        let samples = samples.map_err(|error| Failure::wrong(error.message()))?;
        for (inputs, rtl) in cycles.iter().zip(&samples) {
            let model = shown(&self.model.outputs(inputs), rtl);
            if let Some(port) = (0..model.len()).find(|port| model[*port] != rtl[*port]) {
                let (name, clock) = (&self.ports.outputs[port].name, self.clock);
                let message =
                    format!("cycle {clock}: {name}: the RTL has {:x}, the model {:x}", rtl[port], model[port]);
                return Err(Failure { kind: FailureKind::Difference { clock }, message });
            }
            self.model.clock(inputs);
            self.clock += 1;
        }
        Ok(())
    }
}

/// Runs so many random lives of a bank one after the other on a built model.
///
/// # Errors
/// The first difference.
pub(crate) fn run_banks(spec: &ArraySpec, executable: &Path, seed: u64, lives: u32) -> Result<ScenarioCounts, Failure> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::start(spec, executable)?;
    for number in 0..lives {
        let cycles = life(spec, bench.model.is_busy(), &mut random);
        bench.run(&cycles).map_err(|failure| failure.at(format!("life {number} of a bank of seed {seed}")))?;
    }
    Ok(ScenarioCounts { configurations: lives.into(), cycles: bench.clock })
}

/// The cycles of a configuration and of some runs with it, in which streams wait and the host comes at random. A bank that is busy is cleared
/// before.
fn life(spec: &ArraySpec, is_busy: bool, random: &mut ChaCha8Rng) -> Vec<BankInputs> {
    let map = BankMap::of(spec).expect("the array has a global buffer");
    let mut cycles = Vec::new();
    let access = |register: u32, write: Option<u32>| BankInputs {
        access: Some(BankAccess { register, write }),
        ..BankInputs::default()
    };
    if is_busy || random.random_bool(0.3) {
        cycles.push(BankInputs { clear: true, ..BankInputs::default() });
    }
    let writes = registers(&map, spec, random);
    cycles.extend(writes.iter().map(|&(register, word)| access(register, Some(word))));
    // Now and then a register that is not there, and one that cannot be written.
    let last = map.registers.len() as u32;
    cycles.extend((0..3).map(|_| {
        let register = random.random_range(0..=last);
        access(register, (random.random() && register > 1).then(|| random.random()).filter(|_| register >= last))
    }));
    let hand_over = map.field(BankMeaning::HandOver { half: 0 }).0;
    for run_number in 0..random.random_range(1..=3) {
        if random.random() {
            let mut load = bitstream(spec, &map, run_number == 0, random);
            // The run begins before the bitstream was read.
            if run_number > 0 && random.random_bool(0.4) {
                load.truncate(random.random_range(load.len() / 3..load.len()));
            }
            cycles.extend(load);
        }
        // The half is handed over before the run, or somewhere in it.
        let halves = random.random_range(0..4);
        let early = random.random_bool(0.6);
        if early {
            cycles.push(access(hand_over, Some(halves)));
        }
        let mut run = run(spec, &map, random);
        run[0].flush = true;
        let late = random.random_range(0..run.len().min(40));
        run[late].access = Some(BankAccess { register: hand_over, write: Some(if early { 0 } else { 3 }) });
        cycles.extend(run);
    }
    // A write of a bitstream to a register of the bank arrives in the cycle after it was taken, in which the host has no access.
    for cycle in 0..cycles.len() {
        let is_free = cycles.get(cycle + 1).is_some_and(|next| next.access.is_none() && !next.clear);
        cycles[cycle].column_ready &= is_free;
    }
    cycles
}

/// The cycles in which the host writes a bitstream, begins it, and looks how far it is. Registers of DMAs are written while no run is under way: then the
/// bitstream comes to its end.
fn bitstream(spec: &ArraySpec, map: &BankMap, is_idle: bool, random: &mut ChaCha8Rng) -> Vec<BankInputs> {
    let buffer = spec.global_buffer.as_ref().expect("the array has a global buffer");
    let rows = buffer.rows();
    let (half, first) = (random.random_range(0..2), random.random_range(0..rows));
    let writes = random.random_range(0..rows).min(24);
    let counted = if random.random_bool(0.95) { writes } else { rows + random.random_range(0..2) };
    let digest = if random.random_bool(0.95) { spec.digest_word() } else { random.random() };
    let own = map.address(buffer.banks - 1, 0).word();
    let control = map.field(BankMeaning::Enable { direction: Direction::In }).0;
    let last = map.registers.len() as u32;
    let write = |random: &mut ChaCha8Rng| match random.random_bool(0.3) {
        true if is_idle => own + random.random_range(0..=last),
        true => own + [control, last][random.random_range(0..2)],
        false => random.random(),
    };
    let of_row = |(row, [high, low]): (u32, [u32; 2])| BankInputs {
        host: Some(HostAccess {
            half,
            row: (first + row) % rows,
            words: (1 << spec.words_per_row()) - 1,
            data: u64::from(high) << u32::BITS | u64::from(low),
        }),
        ..BankInputs::default()
    };
    let words = std::iter::once([digest, counted]).chain((0..writes).map(|_| [write(random), random.random()]));
    let mut cycles: Vec<BankInputs> = (0..).zip(words.collect::<Vec<_>>()).map(of_row).collect();
    let number = |meaning: BankMeaning| map.field(meaning).0;
    let begin = number(BankMeaning::BitstreamRow);
    let access = Some(BankAccess { register: begin, write: Some(half as u32 * rows + first) });
    cycles.push(BankInputs { access, ..BankInputs::default() });
    let status = number(BankMeaning::Bitstream { state: BitstreamState::Busy });
    let hand_over = number(BankMeaning::HandOver { half: 0 });
    let (ready, hosts, looks) = (rate(random), rate(random), *[0.0, 0.1, 0.5].choose(random).expect("three rates"));
    let ends = random.random_bool(0.2);
    let cycle = |_| {
        let (register, write) = match random.random_range(0..20) {
            0 => (hand_over, Some(random.random_range(0..4))),
            1 => (begin, Some(random.random_range(0..2 * rows))),
            2..6 => (begin, None),
            _ => (status, None),
        };
        BankInputs {
            access: random.random_bool(looks).then_some(BankAccess { register, write }),
            clear: ends && random.random_bool(0.05),
            host: random.random_bool(hosts).then(|| host(spec, random)),
            column_ready: random.random_bool(ready),
            column_refused: random.random_bool(0.03),
            ..BankInputs::default()
        }
    };
    cycles.extend((0..3 * writes + 16).map(cycle));
    if is_idle {
        let free = BankInputs { column_ready: true, ..BankInputs::default() };
        cycles.extend((0..writes + 4 + spec.answer_latency()).map(|_| free));
    }
    cycles
}

/// An access of the host.
fn host(spec: &ArraySpec, random: &mut ChaCha8Rng) -> HostAccess {
    let buffer = spec.global_buffer.as_ref().expect("the array has a global buffer");
    HostAccess {
        half: random.random_range(0..2),
        row: random.random_range(0..buffer.rows()),
        words: if random.random() { 0 } else { random.random_range(0..1 << spec.words_per_row()) },
        data: random.random(),
    }
}

/// The registers of random loop nests, small enough to end in most runs: register and word of each.
fn registers(map: &BankMap, spec: &ArraySpec, random: &mut ChaCha8Rng) -> Vec<(u32, u32)> {
    let buffer = spec.global_buffer.as_ref().expect("the array has a global buffer");
    let words = 1_u64 << spec.bank_address_bits();
    let mut registers = vec![0; map.registers.len()];
    let mut set = |meaning: BankMeaning, value: u64| {
        let (register, field) = map.field(meaning);
        registers[register as usize] |= (value as u32) << field.low & field.mask();
    };
    // A bank as a memory: words that are stored are loaded some cycles later in a time of both.
    let is_memory = random.random_bool(0.4);
    set(BankMeaning::CommonTime, random.random_bool(if is_memory { 0.95 } else { 0.1 }).into());
    let nests = Direction::ALL.map(|_| nest(buffer, words, random));
    let first = random.random_range(0..words);
    for (direction, own) in Direction::ALL.into_iter().zip(&nests) {
        let is_loaded = is_memory && direction == Direction::In;
        let Nest { extents, deltas, gaps } = if is_memory { &nests[0] } else { own };
        set(BankMeaning::Enable { direction }, random.random_bool(if is_memory { 0.98 } else { 0.85 }).into());
        let start = if is_memory { first } else { random.random_range(0..words) };
        set(BankMeaning::AddressStart { direction }, start);
        let late = if is_loaded { random.random_range(0..12) } else { 0 };
        set(BankMeaning::CycleStart { direction }, random.random_range(0..4) + late);
        for (level, ((extent, delta), gap)) in (0..).zip(extents.iter().zip(deltas).zip(gaps)) {
            set(BankMeaning::Extent { direction, level }, extent - 1);
            set(BankMeaning::AddressDelta { direction, level }, *delta);
            set(BankMeaning::CycleGap { direction, level }, *gap);
        }
    }
    let writable = |(number, _): &(u32, u32)| {
        *number == map.field(BankMeaning::Enable { direction: Direction::In }).0
            || map.registers[*number as usize].fields.iter().all(|field| field.meaning.signal().is_some())
    };
    (0..).zip(registers).filter(writable).collect()
}

/// The loop nest of a DMA, by level: iterations, words and cycles from one to the next.
struct Nest {
    extents: Vec<u64>,
    deltas: Vec<u64>,
    gaps: Vec<u64>,
}

/// A random loop nest through a half of so many words: words that follow each other, backwards too, or anywhere.
fn nest(buffer: &GlobalBufferSpec, words: u64, random: &mut ChaCha8Rng) -> Nest {
    let mut nest = Nest { extents: Vec::new(), deltas: Vec::new(), gaps: Vec::new() };
    let (mut iterations, mut distance) = (1, 0_i64);
    let step = *[1, 1, 1, -1, 2, 4, -4, 0].get(random.random_range(0..8)).expect("eight steps");
    for level in 0..buffer.controller.levels {
        let extent = if iterations < 100 { random.random_range(1..=9) } else { 1 };
        let extent = extent.min(1 << buffer.controller.extent_bits.min(8));
        let delta = match level {
            0 => step,
            _ if random.random() => step - distance * i64::from(random.random::<bool>()),
            _ => random.random_range(0..words) as i64,
        };
        nest.extents.push(extent);
        nest.deltas.push(delta.rem_euclid(words as i64) as u64);
        nest.gaps.push(if random.random_bool(0.8) { 0 } else { random.random_range(0..4) });
        iterations *= extent;
        distance += step * (extent as i64 - 1);
    }
    nest
}

/// The cycles of a run without its beginning.
fn run(spec: &ArraySpec, map: &BankMap, random: &mut ChaCha8Rng) -> Vec<BankInputs> {
    let mask = u32::MAX >> (u32::BITS - spec.word_bits());
    let status = map.field(BankMeaning::Half).0;
    let (ready, valid, hosts) = (rate(random), rate(random), rate(random));
    let cycle = |_| BankInputs {
        load_ready: random.random_bool(ready),
        store: random.random_bool(valid).then(|| random.random::<u32>() & mask),
        access: random.random_bool(0.05).then_some(BankAccess { register: status, write: None }),
        host: random.random_bool(hosts).then(|| host(spec, random)),
        column_ready: random.random_bool(ready),
        column_refused: random.random_bool(0.03),
        ..BankInputs::default()
    };
    (0..LONGEST_RUN).map(cycle).collect()
}

/// How often something happens: always, never, or some of the time.
fn rate(random: &mut ChaCha8Rng) -> f64 {
    *[1.0, 1.0, 0.9, 0.5, 0.2].get(random.random_range(0..5)).expect("five rates")
}
