//! Runs of the RTL of an array with its global buffer beside the model.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pushmem_bitstream::Bitstream;
use pushmem_emulator::{BankAccess, BufferedInputs, BufferedOutputs, HostAccess};
use pushmem_fabric::{ArraySpec, GlobalBufferSpec};
use pushmem_files::{Code, Diagnostic};
use pushmem_interconnect::{tile_module, with_global_buffer_module};
use pushmem_resources::{BankMap, START};
use pushmem_simulation::{BlockPort, BlockPorts, BlockProcess, Verilator};
use pushmem_systemverilog::File;

use crate::lockstep::{Agreement, around_writes};

/// Cycles that are given to the RTL at a time.
const BATCH: usize = 1 << 12;

/// The place of `config_error_o` among the outputs.
const CONFIG_ERROR: usize = 2;

/// Most banks whose signals are a port of the harness.
const MOST_BANKS: u32 = 64;

fn ports(spec: &ArraySpec, buffer: &GlobalBufferSpec) -> BlockPorts {
    let of = |ports: &[(&str, u32)]| ports.iter().map(|(name, bits)| BlockPort::new(*name, *bits)).collect();
    let mut inputs: Vec<BlockPort> = of(&[
        ("rst_ni", 1),
        ("flush_i", 1),
        ("stall_i", 1),
        ("config_write_i", 1),
        ("config_read_i", 1),
        ("config_address_i", 32),
        ("config_write_data_i", 32),
        ("host_write_i", spec.words_per_row()),
        ("host_read_i", 1),
        ("host_address_i", 32),
        ("host_write_data_i", GlobalBufferSpec::ROW_BITS),
    ]);
    inputs.extend(spec.clock_gating.then(|| BlockPort::new("test_enable_i", 1)));
    let outputs = of(&[
        ("busy_o", buffer.banks),
        ("configuring_o", 1),
        ("config_error_o", 1),
        ("config_read_data_o", 32),
        ("host_error_o", 1),
        ("host_read_data_o", GlobalBufferSpec::ROW_BITS),
    ]);
    BlockPorts { inputs, outputs }
}

/// Builds the program that runs an array with its global buffer, or finds it in the cache. `files` are those of
/// [`pushmem_interconnect::generate`], named with `.sv`.
///
/// # Errors
/// When the array has no global buffer, or more banks than a port of the program has bits; when Verilator or the compiler fails.
pub fn build_buffered(verilator: &Verilator, spec: &ArraySpec, files: &[File]) -> Result<PathBuf, Diagnostic> {
    let buffer = buffer(spec)?;
    let tiles: Vec<String> = spec.kinds().map(|kind| tile_module(spec, kind)).collect();
    verilator.build_block_sharing(&with_global_buffer_module(spec), &ports(spec, buffer), files, &tiles, false)
}

fn buffer(spec: &ArraySpec) -> Result<&GlobalBufferSpec, Diagnostic> {
    let name = &spec.name;
    let buffer = spec.global_buffer.as_ref();
    let buffer = buffer.ok_or_else(|| Diagnostic::new(format!("`{name}` has no global buffer")))?;
    if buffer.banks > MOST_BANKS {
        let message = format!("the RTL of `{name}` does not run here: it has {} banks", buffer.banks);
        return Err(Diagnostic::new(message).with_help(format!("give it at most {MOST_BANKS}")));
    }
    Ok(buffer)
}

/// The RTL of an array with its global buffer at work. A difference ends it; the model may go on.
pub struct BufferedLockstep {
    process: BlockProcess,
    ports: BlockPorts,
    spec: ArraySpec,
    map: BankMap,
    waiting: Vec<(BufferedInputs, BufferedOutputs)>,
    cycles: u64,
    busy: Duration,
    failure: Option<Diagnostic>,
}

impl BufferedLockstep {
    /// Starts a program of [`build_buffered`], and loads a bitstream while time stands still.
    ///
    /// # Errors
    /// When the program cannot be started or ends, or a write is refused.
    pub fn start(executable: &Path, spec: &ArraySpec, bitstream: &Bitstream) -> Result<Self, Diagnostic> {
        let ports = ports(spec, buffer(spec)?);
        let mut process = BlockProcess::start_cleared(executable, ports.clone())?;
        process.reset()?;
        let (before, after) = around_writes(spec);
        let before = before as usize;
        let drive = |cycle: usize, values: &mut Vec<u64>| {
            let write = cycle.checked_sub(before).and_then(|place| bitstream.writes.get(place));
            let (address, data) = write.map_or((0, 0), |write| (write.address, write.data));
            values.extend([1, 0, 1, write.is_some().into(), 0, address.into(), data.into()]);
            values.resize(ports.inputs.len(), 0);
        };
        let cycles = before + bitstream.writes.len() + after as usize;
        if process.sampled(cycles, drive)?.iter().any(|values| values[CONFIG_ERROR] != 0) {
            let message = "the RTL refuses a write of the bitstream";
            return Err(Diagnostic::new(message).or_code(Code::Difference).as_fault("bitstream"));
        }
        let map = BankMap::of(spec).expect("the array has a global buffer");
        let (spec, waiting) = (spec.clone(), Vec::new());
        Ok(BufferedLockstep { process, ports, spec, map, waiting, cycles: 0, busy: Duration::ZERO, failure: None })
    }

    /// Takes a cycle of the model: the inputs that it had, and its outputs.
    pub fn observe(&mut self, inputs: &BufferedInputs, outputs: &BufferedOutputs) {
        if self.failure.is_none() {
            self.waiting.push((*inputs, outputs.clone()));
            if self.waiting.len() == BATCH {
                self.failure = self.compare().err();
            }
        }
    }

    /// Compares the cycles that were observed, and then reads registers through the configuration port while time stands still: the word of each,
    /// nothing where there is no register.
    ///
    /// # Errors
    /// As [`BufferedLockstep::finish`]; when the program ends.
    pub fn read(&mut self, addresses: &[u32]) -> Result<Vec<Option<u32>>, Diagnostic> {
        match self.failure.take() {
            Some(failure) => return Err(failure),
            None => self.compare()?,
        }
        let inputs = self.ports.inputs.len();
        let drive = |cycle: usize, values: &mut Vec<u64>| {
            let address = addresses.get(cycle).copied();
            values.extend([1, 0, 1, 0, address.is_some().into(), address.unwrap_or(0).into()]);
            values.resize(inputs, 0);
        };
        let answer = self.spec.answer_latency() as usize;
        let samples = self.process.sampled(addresses.len() + answer, drive)?;
        let word = |values: &Vec<u64>| (values[CONFIG_ERROR] == 0).then_some(values[CONFIG_ERROR + 1] as u32);
        Ok(samples[answer..].iter().map(word).collect())
    }

    /// Ends the run.
    ///
    /// # Errors
    /// When the RTL showed something else than the model in some cycle, or ended before.
    pub fn finish(mut self) -> Result<Agreement, Diagnostic> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.compare().map(|()| Agreement { cycles: self.cycles, seconds: self.busy.as_secs_f64() }),
        }
    }

    fn compare(&mut self) -> Result<(), Diagnostic> {
        let started = Instant::now();
        let waiting = std::mem::take(&mut self.waiting);
        let (spec, map) = (&self.spec, &self.map);
        let drive = |cycle: usize, values: &mut Vec<u64>| drive(spec, map, &waiting[cycle].0, values);
        let samples = self.process.sampled(waiting.len(), drive)?;
        self.busy += started.elapsed();
        for ((_, outputs), rtl) in waiting.iter().zip(&samples) {
            let model = shown(outputs);
            if model != rtl[..] {
                let place = (0..model.len()).find(|port| model[*port] != rtl[*port]).unwrap_or(0);
                let (name, cycle) = (&self.ports.outputs[place].name, self.cycles);
                let message = format!(
                    "{cycle} cycles after the bitstream was loaded the RTL shows {:x} on `{name}`; the model: {:x}",
                    rtl[place], model[place]
                );
                return Err(Diagnostic::new(message)
                    .or_code(Code::Difference)
                    .as_fault("specification and the bitstream"));
            }
            self.cycles += 1;
        }
        Ok(())
    }
}

/// The values of the inputs of the RTL.
fn drive(spec: &ArraySpec, map: &BankMap, inputs: &BufferedInputs, values: &mut Vec<u64>) {
    let BufferedInputs { flush, stall, access, start, host } = *inputs;
    let address =
        access.map_or(if start { START.word() } else { 0 }, |(bank, BankAccess { register, .. })| match bank {
            Some(bank) => map.address(bank as u32, register).word(),
            None => map.address_of_all(register).word(),
        });
    let written = access.and_then(|(_, BankAccess { write, .. })| write);
    let is_read = access.is_some() && written.is_none();
    values.extend([1, flush.into(), stall.into(), (start || written.is_some()).into(), is_read.into()]);
    values.extend([address, written.unwrap_or(0)].map(u64::from));
    let (words, is_read, address, data) = host.map_or((0, false, 0, 0), |(bank, access)| {
        let HostAccess { half, row, words, data } = access;
        let buffer = spec.global_buffer.as_ref().expect("the array has a global buffer");
        let address = buffer.half_address(bank as u32, half as u32) + row * GlobalBufferSpec::ROW_BYTES;
        (words, words == 0, address, data)
    });
    values.extend([words.into(), is_read.into(), address.into(), data]);
    values.extend(spec.clock_gating.then_some(0));
}

/// The outputs of the model, as the ports have them.
fn shown(outputs: &BufferedOutputs) -> [u64; 6] {
    let busy = outputs.busy.iter().rev().fold(0, |bits, busy| bits << 1 | u64::from(*busy));
    let has_no_register = matches!(outputs.config, Some(Err(_)));
    let word = outputs.config.and_then(Result::ok).unwrap_or(0);
    let is_refused = matches!(outputs.host, Some(Err(_)));
    let row = outputs.host.and_then(Result::ok).unwrap_or(0);
    [busy, outputs.configuring.into(), has_no_register.into(), word.into(), is_refused.into(), row]
}
