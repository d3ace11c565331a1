//! Accesses to the configuration port: registers, whole configurations, and changes of them while the tile runs.

use pushmem_configuration::{Configuration, RegisterWrite, encode};
use pushmem_registers::{Register, RegisterMap, WORD_BYTES};
use rand::Rng;
use rand::seq::IndexedRandom;

use super::{BenchError, TileBench};
use crate::frame::Frame;

impl<'a> TileBench<'a> {
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

    pub(super) fn random_register(&mut self) -> u32 {
        self.map.registers[self.rng.random_range(0..self.map.registers.len())].offset
    }

    pub(super) fn register(&self, address: u32) -> Option<&'a Register> {
        self.map.registers.iter().find(|register| register.offset == address)
    }

    pub(super) fn register_value(&self, address: u32) -> u32 {
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
    pub(super) fn take(&mut self) {
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
}

/// Whether a configuration access is to a word of contents, not to a register.
pub(super) fn is_in_contents(map: &RegisterMap, address: u32) -> bool {
    map.contents.is_some_and(|contents| {
        (contents.offset..contents.end()).contains(&address) && address.is_multiple_of(WORD_BYTES)
    })
}
