//! Driving a tile through a scenario.

use std::collections::BTreeMap;
use std::fmt;

use pushmem_bist::MemoryShape;
use pushmem_configuration::{Configuration, Finding, RegisterWrite, encode};
use pushmem_files::Diagnostic;
use pushmem_model::{Handshake, Inputs, MAX_PORTS, Outputs, TileModel, Violation, ViolationKind};
use pushmem_registers::{Register, RegisterMap, SoftwareAccess, WORD_BYTES};
use pushmem_tile::{Kind, Mode, Reset, TileSpec};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::frame::{Bist, Expected, Frame};
use crate::process::RtlProcess;

/// Cycles sent to the RTL at a time.
const BATCH: usize = 1 << 14;

/// Recorded violations are cut off here: one broken promise tends to break one in every cycle.
const MAX_VIOLATIONS: usize = 1000;

/// Where the RTL differs from the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Clock cycles since the bench began, stalled ones included.
    pub clock: u64,
    /// The signal that differs, with both values.
    pub difference: String,
}

/// Why a scenario failed.
#[derive(Debug)]
pub enum BenchError {
    /// The RTL differs from the model.
    Mismatch(Mismatch),
    /// The RTL simulation stopped, for example because an assertion failed.
    Rtl(Diagnostic),
    /// The configuration does not fit the tile.
    Configuration(Finding),
}

impl fmt::Display for BenchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BenchError::Mismatch(Mismatch { clock, difference }) => {
                write!(formatter, "RTL and model differ at clock {clock}: {difference}")
            }
            BenchError::Rtl(diagnostic) => write!(formatter, "{}", diagnostic.message()),
            BenchError::Configuration(finding) => {
                write!(formatter, "{}: {}", finding.path, finding.message)
            }
        }
    }
}

impl std::error::Error for BenchError {}

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

    /// Writes a register or a word of contents.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn write(&mut self, write: RegisterWrite, stall: bool) -> Result<(), BenchError> {
        let mut frame = Frame {
            config_write: true,
            config_address: write.address,
            config_data: write.data,
            stall: stall || self.disturbed,
            ..self.random_frame()
        };
        // A memory with one port cannot do both.
        frame.config_read &= !is_in_contents(self.map, write.address);
        self.step(frame)?;
        Ok(())
    }

    /// Reads a register or a word of contents, and compares.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn read(&mut self, address: u32) -> Result<(), BenchError> {
        let stall = self.disturbed || self.rng.random_bool(0.5);
        let frame =
            Frame { config_read: true, config_write: false, config_address: address, stall, ..self.random_frame() };
        self.step(frame)?;
        if !is_in_contents(self.map, address) {
            return self.idle(1);
        }
        self.idle(u64::from(self.spec.configuration_read_latency()))?;
        self.contents_read = None;
        Ok(())
    }

    /// Flushes, stalls, writes and reads a few registers, all at random and together. The state of the tile
    /// is then undefined until a configuration and a flush; words that it reads are defined.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn coincide(&mut self, cycles: u32) -> Result<(), BenchError> {
        let flushes = self.rng.random_bool(0.5);
        let mut registers: [u32; 3] = std::array::from_fn(|_| self.random_register());
        if let Some(shadow) = &self.shadow
            && self.rng.random_bool(0.5)
        {
            registers[0] = shadow.commit;
        }
        for _ in 0..cycles {
            let flush = flushes && self.rng.random_bool(0.3);
            let frame = Frame {
                flush,
                stall: self.disturbed || self.shadow.is_none() && self.tile.is_active() || self.rng.random(),
                config_write: self.rng.random(),
                config_read: self.rng.random(),
                config_address: registers[self.rng.random_range(0..registers.len())],
                config_data: self.rng.random(),
                ..self.random_frame()
            };
            self.step(frame)?;
            // The flushed registers may be half a configuration; the contents of a shadow are known.
            self.disturbed |= flush && self.shadow.is_none();
        }
        registers.iter().try_for_each(|&register| self.read(register))
    }

    /// Writes random data to every register, stalled or not; also to those that can only be read. Bits in `ones` are 1.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn write_all_registers(&mut self, ones: u32) -> Result<(), BenchError> {
        for register in &self.map.registers {
            let write = RegisterWrite { address: register.offset, data: self.rng.random::<u32>() | ones };
            let stall = self.rng.random_bool(0.5);
            self.write(write, stall)?;
        }
        Ok(())
    }

    /// Reads every register.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn read_all_registers(&mut self) -> Result<(), BenchError> {
        self.map.registers.iter().try_for_each(|register| self.read(register.offset))
    }

    /// Writes and reads addresses at which there is nothing: near a register or a word of contents, and far from all.
    /// Writes change nothing, reads give 0, and the tile says so after each.
    ///
    /// # Errors
    /// When the RTL differs.
    pub fn access_nothing(&mut self) -> Result<(), BenchError> {
        let highest_bit = self.map.bytes().next_power_of_two().ilog2();
        let behind = self.map.registers.len() as u32 * WORD_BYTES;
        for base in [self.random_register(), self.map.bytes() - WORD_BYTES] {
            let unaligned = base + self.rng.random_range(1..WORD_BYTES);
            let far = base | 1 << self.rng.random_range(highest_bit..u32::BITS);
            let behind = Some(behind).filter(|&address| !is_in_contents(self.map, address));
            for address in [unaligned, far].into_iter().chain(behind) {
                let write = RegisterWrite { address, data: self.rng.random() };
                let stall = self.rng.random_bool(0.5);
                self.write(write, stall)?;
                self.read(base)?;
                self.read(address)?;
            }
        }
        Ok(())
    }

    fn random_register(&mut self) -> u32 {
        self.map.registers[self.rng.random_range(0..self.map.registers.len())].offset
    }

    fn register(&self, address: u32) -> Option<&'a Register> {
        self.map.registers.iter().find(|register| register.offset == address)
    }

    fn register_value(&self, address: u32) -> u32 {
        let reset = self
            .register(address)
            .map_or(0, |register| register.fields.iter().fold(0, |value, field| value | field.reset << field.low));
        self.registers.get(&address).copied().unwrap_or(reset)
    }

    /// Loads a configuration through the configuration port, stalled or not, and reads some of it back.
    ///
    /// # Errors
    /// When it does not fit the tile, or the RTL differs.
    pub fn configure(&mut self, configuration: &Configuration) -> Result<(), BenchError> {
        let writes = encode(configuration, self.spec, self.map).map_err(BenchError::Configuration)?;
        // A word on its way from a rom would meet the contents.
        while self.spec.content_words().is_some() && !self.disturbed && !self.tile.is_active() && !self.tile.is_idle() {
            self.idle(1)?;
        }
        // A tile is undefined while its controllers run and their registers change; a stall holds them.
        let disturbs = self.shadow.is_none() || !configuration.contents.is_empty();
        let stall = disturbs && self.tile.is_active() || self.rng.random_bool(0.5);
        for &write in &writes {
            self.write(write, stall)?;
        }
        self.loaded(configuration);
        for write in &writes {
            if self.spec.content_words().is_none() || !self.tile.is_active() {
                self.read(write.address)?;
            }
        }
        Ok(())
    }

    /// Loads a configuration without reading it back.
    ///
    /// # Errors
    /// As [`TileBench::configure`].
    pub fn configure_quickly(&mut self, configuration: &Configuration) -> Result<(), BenchError> {
        let writes = encode(configuration, self.spec, self.map).map_err(BenchError::Configuration)?;
        for &write in &writes {
            self.write(write, true)?;
        }
        self.loaded(configuration);
        Ok(())
    }

    /// Loads a configuration into shadow registers while the tile runs, with stalls, flushes and reads at random between the
    /// writes, which the run before it must not notice; ends with the flush that takes it. The contents of a rom stay as they
    /// are.
    ///
    /// # Errors
    /// When it does not fit the tile, or the RTL differs.
    pub fn reconfigure(&mut self, configuration: &Configuration) -> Result<(), BenchError> {
        let configuration = Configuration { contents: Vec::new(), ..configuration.clone() };
        let writes = encode(&configuration, self.spec, self.map).map_err(BenchError::Configuration)?;
        let flushes = *[0.0, 0.0, 0.02, 0.2].choose(&mut self.rng).expect("there are some");
        let [others @ .., commit] = writes.as_slice() else { return Ok(()) };
        for &write in others {
            self.pass(flushes, None)?;
            self.pass(flushes, Some(write))?;
        }
        self.loaded(&configuration);
        // A commit that is withdrawn, or written again, also in the cycle of a flush.
        for _ in 0..self.rng.random_range(0..4) {
            let data = self.rng.random_range(0..=1);
            self.pass(0.3, Some(RegisterWrite { data, ..*commit }))?;
            self.pass(0.1, None)?;
        }
        self.pass(flushes, Some(*commit))?;
        self.pass(0.0, None)?;
        // The next configuration may begin in the cycle that takes this one.
        let address = self.random_register();
        let frame = Frame {
            flush: true,
            stall: self.rng.random(),
            config_write: self.rng.random(),
            config_address: address,
            config_data: self.rng.random(),
            ..self.random_frame()
        };
        self.step(frame)?;
        Ok(())
    }

    /// Some cycles, or the one of a write; any of them may flush.
    fn pass(&mut self, flushes: f64, write: Option<RegisterWrite>) -> Result<(), BenchError> {
        let cycles = if write.is_some() { 1 } else { self.rng.random_range(0..4) };
        for _ in 0..cycles {
            let mut frame =
                Frame { flush: self.rng.random_bool(flushes), stall: self.rng.random_bool(0.2), ..self.random_frame() };
            if let Some(RegisterWrite { address, data }) = write {
                frame = Frame { config_write: true, config_address: address, config_data: data, ..frame };
            }
            self.step(frame)?;
        }
        Ok(())
    }

    /// All registers hold a configuration, and a rom its contents.
    fn loaded(&mut self, configuration: &Configuration) {
        match &mut self.shadow {
            None => self.tile.configure(configuration),
            Some(shadow) => {
                self.tile.load(&configuration.contents);
                shadow.held = Some(configuration.clone());
            }
        }
    }

    /// Applies a flush to shadow registers, ahead of a write on the bus in its cycle.
    fn take(&mut self) {
        let Some(shadow) = &mut self.shadow else { return };
        if self.registers.get(&shadow.commit) == Some(&1) {
            shadow.runs_configuration = shadow.held.is_some();
            if let Some(held) = &shadow.held {
                self.tile.configure(&Configuration { contents: Vec::new(), ..held.clone() });
            }
            self.registers.remove(&shadow.commit);
        }
        self.disturbed |= !shadow.runs_configuration;
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

/// Whether a configuration access is to a word of contents, not to a register.
fn is_in_contents(map: &RegisterMap, address: u32) -> bool {
    map.contents.is_some_and(|contents| {
        (contents.offset..contents.end()).contains(&address) && address.is_multiple_of(WORD_BYTES)
    })
}
