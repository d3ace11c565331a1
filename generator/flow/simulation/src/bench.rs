//! Driving a tile through a scenario.

mod configuration_port;
mod error;

use std::collections::BTreeMap;

use pushmem_bist::MemoryShape;
use pushmem_configuration::Configuration;
use pushmem_model::{Handshake, Inputs, MAX_PORTS, Outputs, TileModel, Violation, ViolationKind};
use pushmem_registers::{RegisterMap, SoftwareAccess, WORD_BYTES};
use pushmem_tile::{Kind, Mode, Reset, TileSpec};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::frame::{Bist, Expected, Frame};
use crate::process::RtlProcess;
use configuration_port::is_in_contents;
pub use error::{BenchError, Mismatch};

/// Cycles sent to the RTL at a time.
const BATCH: usize = 1 << 14;

/// Recorded violations are cut off here: one broken promise tends to break one in every cycle.
const MAX_VIOLATIONS: usize = 1000;

/// How often the pace of random handshakes changes.
const PACE_CHANGES: f64 = 0.02;

/// Shadow registers, and what is active.
struct Shadow {
    /// Byte offset of the commit register.
    commit: u32,
    /// The configuration that the shadow registers hold, if it is one.
    held: Option<Configuration>,
    /// Whether what is active is a configuration, too.
    runs_configuration: bool,
}

/// A tile on the bench: the model, what the registers hold, and the RTL if there is one.
pub struct TileBench<'a> {
    spec: &'a TileSpec,
    map: &'a RegisterMap,
    tile: TileModel,
    rtl: Option<&'a mut RtlProcess>,
    rng: ChaCha8Rng,
    frames: Vec<Frame>,
    expected: Vec<Expected>,
    clock: u64,
    /// The words of configuration reads, by address; registers not listed read their reset value.
    registers: BTreeMap<u32, u32>,
    /// The second set of registers of a tile with shadow registers.
    shadow: Option<Shadow>,
    read_data: Option<u32>,
    /// Whether the last cycle accessed an address at which there is nothing, if that is known.
    config_error: Option<bool>,
    /// Contents of a rom on their way from the SRAM: unstalled or not, they arrive after its latency.
    contents_read: Option<(u32, u32)>,
    /// A configuration was written while controllers were running: their outputs mean nothing until the next flush.
    disturbed: bool,
    /// The outputs of the self-test, if they are known.
    bist: Option<Bist>,
    violations: Vec<Violation>,
    /// Whether controllers may use a port of a memory together. The RTL's assertions stop it in such a cycle, so that
    /// they are off there, and only there.
    pub port_conflicts: bool,
    /// Whether inputs that are not read stay as they are: random words would switch what an application does not.
    pub quiet: bool,
    /// The last words that were given.
    held: [u64; MAX_PORTS],
    /// Whether the tiles before it in a chain of outputs show words, at random.
    pub others_show: bool,
    /// How often random handshakes offer a word, write and take one.
    paces: [f64; 3],
    /// Whether registers are read, written with what they hold, and accessed under reset at random cycles: none of it
    /// matters to the streams.
    pub restless: bool,
}

impl<'a> TileBench<'a> {
    /// A tile that was just reset. Words between firings, and stalls, are random from `seed`.
    ///
    /// # Errors
    /// When the RTL does not come out of reset as the model does.
    pub fn new(
        spec: &'a TileSpec,
        map: &'a RegisterMap,
        rtl: Option<&'a mut RtlProcess>,
        seed: u64,
    ) -> Result<Self, BenchError> {
        // A synchronous reset leaves everything unknown until its first clock edge.
        let unknown = spec.reset == Reset::Synchronous;
        let mut bench = TileBench {
            spec,
            map,
            tile: TileModel::new(spec),
            rtl,
            rng: ChaCha8Rng::seed_from_u64(seed),
            frames: Vec::new(),
            expected: Vec::new(),
            clock: 0,
            registers: BTreeMap::new(),
            shadow: map.commit().map(|commit| Shadow { commit: commit.offset, held: None, runs_configuration: false }),
            read_data: None,
            config_error: None,
            contents_read: None,
            disturbed: unknown,
            bist: (!unknown).then(Bist::default),
            violations: Vec::new(),
            port_conflicts: false,
            quiet: false,
            held: [0; MAX_PORTS],
            others_show: true,
            paces: [0.5; 3],
            restless: false,
        };
        bench.reset()?;
        Ok(bench)
    }

    /// The model.
    pub fn tile(&self) -> &TileModel {
        &self.tile
    }

    /// The source of random words and stalls.
    pub fn rng(&mut self) -> &mut ChaCha8Rng {
        &mut self.rng
    }

    /// Clock cycles so far, stalled ones included.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// Takes out the violations that the model recorded.
    pub fn take_violations(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.violations)
    }

    /// Resets the tile for a few cycles. Whatever else it is told then, it does not do.
    ///
    /// # Errors
    /// When the RTL differs, as all methods that run cycles.
    pub fn reset(&mut self) -> Result<(), BenchError> {
        let cycles = if self.restless { self.rng.random_range(1..=3) } else { 2 };
        for _ in 0..cycles {
            if self.spec.reset == Reset::Asynchronous {
                self.clear();
            }
            // Stalled, as nothing but the reset may bring registers to their values then.
            let mut frame = Frame { reset: true, stall: true, ..self.random_frame() };
            if self.restless {
                frame.flush = self.rng.random();
                frame.stall = self.rng.random();
                frame.config_write = self.rng.random();
                frame.config_read = self.rng.random();
                // A memory has no reset, so that contents would be written.
                frame.config_address = self.random_register();
            }
            match self.spec.reset {
                // The words of another tile go through.
                Reset::Asynchronous => {
                    let Frame { chain, chain_valid, handshake, .. } = frame;
                    let outputs = self.tile.outputs(&Inputs { chain, chain_valid, handshake, ..Inputs::default() });
                    self.push(frame, outputs)?;
                }
                // The cycle takes place, but for what it does to registers.
                Reset::Synchronous => {
                    self.step(Frame { stall: frame.stall || self.disturbed, ..frame })?;
                    self.clear();
                }
            }
        }
        Ok(())
    }

    /// Resets the model.
    fn clear(&mut self) {
        self.tile.reset();
        // The contents of a memory stay.
        let map = self.map;
        self.registers.retain(|&address, _| is_in_contents(map, address));
        if let Some(shadow) = &mut self.shadow {
            shadow.held = Some(Configuration { tile: self.spec.name.clone(), ..Configuration::default() });
            shadow.runs_configuration = true;
        }
        self.read_data = Some(0);
        self.config_error = Some(false);
        self.contents_read = None;
        self.disturbed = false;
        self.bist = Some(Bist::default());
    }

    /// Starts a run, while stalled or not.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn flush(&mut self, stall: bool) -> Result<(), BenchError> {
        let frame = Frame { flush: true, stall: stall || self.disturbed, ..self.random_frame() };
        self.step(frame)?;
        self.disturbed = self.shadow.as_ref().is_some_and(|shadow| !shadow.runs_configuration);
        Ok(())
    }

    /// Runs the self-test of the SRAM, if the tile has one, whatever the tile does meanwhile: it finds nothing. Then all memories
    /// are undefined, and so is what the tile shows until the next flush.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn self_test(&mut self) -> Result<(), BenchError> {
        let Some(shape) = MemoryShape::of(self.spec) else { return Ok(()) };
        self.disturbed = true;
        for cycle in 0..=shape.cycles() {
            // A further start is not heard.
            let bist_start = cycle == 0 || self.rng.random_bool(0.1);
            let frame = Frame { bist_start, stall: self.rng.random_bool(0.3), ..self.random_frame() };
            self.step(frame)?;
            self.bist = Some(Bist { busy: true, ..Bist::default() });
        }
        self.bist = Some(Bist { done: true, ..Bist::default() });
        self.tile.forget();
        let map = self.map;
        self.registers.retain(|&address, _| !is_in_contents(map, address));
        Ok(())
    }

    /// Runs cycles without streams: inputs are random.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn idle(&mut self, cycles: u64) -> Result<(), BenchError> {
        for _ in 0..cycles {
            let frame = Frame { stall: self.disturbed, ..self.random_frame() };
            self.step(frame)?;
        }
        Ok(())
    }

    /// Runs cycles on inputs that stay as they are.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn rest(&mut self, cycles: u64) -> Result<(), BenchError> {
        let quiet = std::mem::replace(&mut self.quiet, true);
        let outcome = self.idle(cycles);
        self.quiet = quiet;
        outcome
    }

    /// Runs one cycle on random inputs.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn cycle(&mut self, stall: bool) -> Result<(), BenchError> {
        let frame = Frame { stall, ..self.random_frame() };
        self.step(frame)?;
        Ok(())
    }

    /// Runs one cycle on the given words, `None` standing for random ones. Returns what the model shows.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn cycle_with(
        &mut self,
        data: &[Option<u64>; MAX_PORTS],
        chain: Option<[u64; MAX_PORTS]>,
        stall: bool,
    ) -> Result<Outputs, BenchError> {
        let mut frame = Frame { stall, ..self.random_frame() };
        frame.chain = chain.unwrap_or(frame.chain);
        for (place, word) in frame.data.iter_mut().zip(data) {
            if let Some(word) = word {
                *place = *word;
            }
        }
        self.held = frame.data;
        self.step(frame)
    }

    /// Runs one cycle of a mode with these handshakes and words. Returns what the model shows.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn cycle_of_mode(&mut self, handshake: Handshake, data: [u64; 2], stall: bool) -> Result<Outputs, BenchError> {
        let mut frame = Frame { stall, ..self.random_frame() };
        frame.handshake = handshake;
        if handshake.valid {
            frame.data[..2].copy_from_slice(&data);
        }
        self.step(frame)
    }

    /// Sends what is left to the RTL and compares.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn finish(&mut self) -> Result<(), BenchError> {
        self.compare()
    }

    fn word_mask(&self) -> u64 {
        u64::MAX >> (64 - self.spec.word_bits)
    }

    /// A word for an input.
    pub(crate) fn random_word(&mut self) -> u64 {
        // A rom's address must be in range, or its words mean nothing.
        let limit = if self.spec.kind == Kind::Rom { u64::from(self.spec.rows) - 1 } else { self.word_mask() };
        self.rng.random_range(0..=limit)
    }

    /// Handshakes of which now one side is faster, now the other, for some cycles each.
    fn random_handshake(&mut self) -> Handshake {
        if self.rng.random_bool(PACE_CHANGES) {
            self.paces = std::array::from_fn(|_| *[0.1, 0.5, 0.9, 1.0].choose(&mut self.rng).expect("there are some"));
        }
        let [valid, write, ready] = self.paces.map(|pace| self.rng.random_bool(pace));
        Handshake { valid, write, ready }
    }

    fn random_frame(&mut self) -> Frame {
        if self.quiet {
            return Frame { assertions: true, data: self.held, ..Frame::default() };
        }
        let mut frame = Frame {
            assertions: true,
            config_address: self.rng.random_range(0..64) * WORD_BYTES,
            config_data: self.rng.random(),
            ..Frame::default()
        };
        for word in &mut frame.data[..self.spec.inputs as usize] {
            *word = self.random_word();
        }
        if self.spec.has_modes() {
            frame.handshake = self.random_handshake();
        }
        if self.tile.mode() == Mode::Ram {
            // As that of a rom, the address of an access must be in range.
            frame.data[0] %= self.spec.words();
        }
        if self.spec.output_chaining && self.others_show {
            frame.chain_valid = self.rng.random();
        }
        if self.spec.has_chain_inputs() {
            let word_mask = self.word_mask();
            for word in &mut frame.chain[..self.spec.outputs as usize] {
                *word = self.rng.random::<u64>() & word_mask;
            }
        }
        if self.restless {
            let dice: u32 = self.rng.random();
            frame.config_read = dice.is_multiple_of(16);
            frame.config_write = (dice >> 8).is_multiple_of(32);
            if frame.config_read || frame.config_write {
                frame.config_address = self.random_register();
                // Bits that the register does not have may be anything.
                let bits = self.register(frame.config_address).map_or(0, |register| register.used_bits());
                let unused = u32::MAX.checked_shl(bits).unwrap_or(0);
                frame.config_data = self.register_value(frame.config_address) | frame.config_data & unused;
            }
        }
        frame
    }

    fn step(&mut self, frame: Frame) -> Result<Outputs, BenchError> {
        let Frame { flush, stall, data, chain, chain_valid, handshake, .. } = frame;
        let inputs = Inputs { flush, stall, data, chain, chain_valid, handshake };
        let outputs = self.tile.outputs(&inputs);
        self.push(frame, outputs)?;
        self.access(&frame);
        self.tile.clock(&inputs);
        let violations = self.tile.take_violations();
        if self.port_conflicts
            && violations.iter().any(|violation| violation.kind == ViolationKind::PortConflict)
            && let Some(frame) = self.frames.last_mut()
        {
            frame.assertions = false;
        }
        let room = MAX_VIOLATIONS - self.violations.len();
        self.violations.extend(violations.into_iter().take(room));
        Ok(outputs)
    }

    /// Applies a cycle to the registers. A read in the cycle of a write, or of a flush, gives the old value.
    fn access(&mut self, frame: &Frame) {
        let address = frame.config_address;
        let in_contents = is_in_contents(self.map, address);
        let is_access = frame.config_read || frame.config_write;
        self.config_error = Some(is_access && !in_contents && self.register(address).is_none());
        if frame.config_read && in_contents {
            // Contents that were never written are unknown.
            self.read_data = None;
            self.contents_read =
                self.registers.get(&address).map(|&value| (self.spec.configuration_read_latency(), value));
        } else if frame.config_read {
            self.read_data = Some(self.register_value(address));
            self.contents_read = None;
        }
        if frame.flush {
            self.take();
        }
        let register = self.register(address);
        let writable = register.is_some_and(|register| register.access != SoftwareAccess::ReadOnly);
        if frame.config_write && (in_contents || writable) {
            let bits = register.map_or(32, |register| register.used_bits());
            let data = frame.config_data & (u32::MAX >> (32 - bits));
            // Writing what is there does not disturb a run.
            let changes = in_contents || data != self.register_value(address);
            match &mut self.shadow {
                Some(shadow) if !in_contents => {
                    if changes && address != shadow.commit {
                        shadow.held = None;
                    }
                }
                _ => self.disturbed |= changes && self.tile.is_active(),
            }
            self.registers.insert(address, data);
        }
    }

    /// Queues a cycle; what was queued before is sent when it is enough. So the last cycle is there for a change.
    fn push(&mut self, frame: Frame, outputs: Outputs) -> Result<(), BenchError> {
        if self.frames.len() >= BATCH {
            self.compare()?;
        }
        self.clock += 1;
        if self.rtl.is_none() {
            return Ok(());
        }
        let config_data = match &mut self.contents_read {
            None => self.read_data,
            Some((left, value)) => {
                *left -= 1;
                (*left == 0).then_some(*value)
            }
        };
        self.frames.push(frame);
        self.expected.push(Expected {
            outputs: (!self.disturbed).then_some(outputs),
            config_data,
            config_error: self.config_error,
            bist: self.bist,
        });
        Ok(())
    }

    fn compare(&mut self) -> Result<(), BenchError> {
        let Some(rtl) = &mut self.rtl else {
            return Ok(());
        };
        let responses = rtl.run(&self.frames).map_err(BenchError::Rtl)?;
        let first = self.clock - self.frames.len() as u64;
        let difference = self
            .expected
            .iter()
            .zip(&responses)
            .enumerate()
            .find_map(|(number, (expected, response))| Some((number, expected.difference(response)?)));
        self.frames.clear();
        self.expected.clear();
        match difference {
            Some((number, difference)) => {
                Err(BenchError::Mismatch(Mismatch { clock: first + number as u64, difference }))
            }
            None => Ok(()),
        }
    }
}
