//! A tile with the ports of its RTL.

use pushmem_configuration::{Chain, Configuration};
use pushmem_tile::{Controller as Parameters, Kind, Mode, Role, TileSpec};

use crate::context::Context;
use crate::controller::Controller;
use crate::direct::Direct;
use crate::ports::{Inputs, Outputs};
use crate::rom::Rom;
use crate::violation::Violation;
use crate::wide_fetch::WideFetch;
use crate::word::Word;

enum Datapath {
    WideFetch(WideFetch),
    Direct(Direct),
    Rom(Rom),
}

impl Datapath {
    /// With undefined memories.
    fn new(spec: &TileSpec, follows_fetches: bool) -> Self {
        match spec.kind {
            Kind::WideFetch { fetch_width, agg_words, tb_words } => {
                Datapath::WideFetch(WideFetch::new(spec, [fetch_width, agg_words, tb_words], follows_fetches))
            }
            Kind::DualPort | Kind::QuadPort | Kind::RegisterFile => Datapath::Direct(Direct::new(spec)),
            Kind::Rom => Datapath::Rom(Rom::new(spec)),
        }
    }
}

/// The cycle-accurate model of a tile.
pub struct TileModel {
    spec: TileSpec,
    parameters: Vec<Parameters>,
    /// The controllers that take a word from an input, by index, and the input.
    takers: Vec<(usize, usize)>,
    /// The controller of the stencil-valid output, if there is one.
    stencil_valid: Option<usize>,
    configuration: Configuration,
    /// The mode since the flush.
    mode: Mode,
    context: Context,
    datapath: Datapath,
    /// Unstalled cycles since a controller fired. After so many as the SRAM is late, nothing is under way.
    quiet: u64,
    /// Whether it tells which fetch each read is of.
    follows_fetches: bool,
}

impl TileModel {
    /// A tile after reset: nothing configured, memories undefined.
    pub fn new(spec: &TileSpec) -> Self {
        Self::of(spec, true)
    }

    /// The same without [stale reads](crate::ViolationKind::StaleRead), and without rows and words that are counted: which fetch a read means is
    /// a guess from its loops. Where words are compared with those that they must be, a word of another fetch is found there.
    pub fn without_stale_reads(spec: &TileSpec) -> Self {
        Self::of(spec, false)
    }

    fn of(spec: &TileSpec, follows_fetches: bool) -> Self {
        let parameters = spec.controllers();
        let context = Context::new(spec, &parameters);
        let datapath = Datapath::new(spec, follows_fetches);
        let takers = parameters.iter().enumerate().filter(|(_, controller)| controller.role.takes_input());
        TileModel {
            spec: spec.clone(),
            takers: takers.map(|(index, controller)| (index, controller.port as usize)).collect(),
            stencil_valid: parameters.iter().position(|controller| controller.role == Role::StencilValid),
            parameters,
            configuration: Configuration::default(),
            mode: Mode::default(),
            context,
            datapath,
            quiet: 0,
            follows_fetches,
        }
    }

    /// Makes all memories undefined, and drops pending accesses.
    pub fn forget(&mut self) {
        self.datapath = Datapath::new(&self.spec, self.follows_fetches);
    }

    /// Stops every controller and clears the configuration; memories keep their words.
    pub fn reset(&mut self) {
        self.quiet = 0;
        self.configuration = Configuration::default();
        self.mode = Mode::default();
        self.context.chain = Chain::default();
        self.context.begin(|controllers| controllers.iter_mut().for_each(Controller::stop));
        self.drop_pending();
    }

    /// Loads a checked configuration and its contents. It counts from the next flush on. Without shadow registers, load it
    /// while no controller runs; with them, a configuration for the next run is loaded here ahead of the flush that
    /// takes it, and its contents, which have no shadow, by [`TileModel::load`].
    pub fn configure(&mut self, configuration: &Configuration) {
        self.load(&configuration.contents);
        self.configuration = configuration.clone();
    }

    /// Loads the first words of the main memory, of a tile that has access to them; load them while no controller runs.
    pub fn load(&mut self, contents: &[u64]) {
        match &mut self.datapath {
            Datapath::Rom(rom) => rom.load(contents),
            Datapath::WideFetch(wide_fetch) => wide_fetch.load(contents),
            Datapath::Direct(direct) => direct.load(contents),
        }
    }

    /// The mode since the flush.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether some controller's run is not over, or the tile is in a mode whose work has no end.
    pub fn is_active(&self) -> bool {
        self.mode != Mode::UnifiedBuffer || self.context.controllers().iter().any(Controller::is_active)
    }

    /// Whether it is a FIFO without words.
    pub fn is_empty_fifo(&self) -> bool {
        matches!(&self.datapath, Datapath::WideFetch(wide_fetch) if wide_fetch.is_empty_fifo())
    }

    /// Whether a run is over and nothing is on its way to an output.
    pub fn is_idle(&self) -> bool {
        let pending = match &self.datapath {
            Datapath::WideFetch(wide_fetch) => wide_fetch.has_pending(),
            Datapath::Direct(direct) => direct.has_pending(),
            Datapath::Rom(rom) => rom.has_pending(),
        };
        !self.is_active() && !pending
    }

    /// Unstalled cycles since the flush.
    pub fn cycle(&self) -> u64 {
        self.context.cycle()
    }

    /// The outputs of the tile in this cycle.
    pub fn outputs(&self, inputs: &Inputs) -> Outputs {
        let mut outputs = Outputs::default();
        if self.is_asleep() && !self.spec.output_chaining {
            outputs.data[..self.spec.outputs as usize].fill(Word::new(0));
            return outputs;
        }
        for &(controller, port) in &self.takers {
            outputs.taken[port] |= self.context.fires(controller);
        }
        outputs.stencil_valid = self.stencil_valid();
        if let Datapath::WideFetch(wide_fetch) = &self.datapath {
            wide_fetch.handshake(inputs, &mut outputs);
        }
        let has_chain_ready = self.spec.output_chaining && self.spec.fifo_mode;
        outputs.chain_ready = has_chain_ready && inputs.handshake.ready && self.own_output(inputs, 0).is_none();
        for port in 0..self.spec.outputs {
            let shown = self.output(inputs, port);
            outputs.valid[port as usize] = shown.is_some();
            outputs.data[port as usize] = shown.unwrap_or(Word::new(0));
        }
        outputs
    }

    /// The word on an output in this cycle, if it is part of its stream. Of [`TileModel::outputs`], where no more is needed.
    pub fn output(&self, inputs: &Inputs, port: u32) -> Option<Word> {
        let place = port as usize;
        let is_chained = self.spec.output_chaining && inputs.chain_valid[place];
        self.own_output(inputs, port).or_else(|| is_chained.then(|| Word::new(inputs.chain[place])))
    }

    /// The same without the words of a tile before it in a chain of outputs.
    fn own_output(&self, inputs: &Inputs, port: u32) -> Option<Word> {
        match &self.datapath {
            _ if self.is_asleep() => None,
            Datapath::WideFetch(wide_fetch) => wide_fetch.output(&self.context, inputs, port),
            Datapath::Direct(direct) => direct.output(&self.context, inputs, port),
            Datapath::Rom(rom) => rom.output(),
        }
    }

    /// Whether the stencil-valid output is high in this cycle.
    pub fn stencil_valid(&self) -> bool {
        self.stencil_valid.is_some_and(|controller| self.context.fires(controller))
    }

    /// Takes the tile to the next cycle.
    pub fn clock(&mut self, inputs: &Inputs) {
        if !inputs.stall {
            if !self.is_asleep() {
                self.quiet = if self.context.any_fires() { 0 } else { self.quiet + 1 };
                let context = &mut self.context;
                match &mut self.datapath {
                    Datapath::WideFetch(wide_fetch) => wide_fetch.clock(context, inputs),
                    Datapath::Direct(direct) => direct.clock(context, inputs),
                    Datapath::Rom(rom) => rom.clock(context, inputs),
                }
            }
            self.context.advance();
        }
        if inputs.flush {
            self.flush();
        }
    }

    /// Lets so many unstalled cycles pass, in which all accesses of the main memory move on by so many rows, less than it has: controllers and
    /// these words move on, and all others are as they are now.
    pub fn skip(&mut self, cycles: u64, rows: u64) {
        self.context.skip(cycles);
        match &mut self.datapath {
            Datapath::WideFetch(wide_fetch) => wide_fetch.turn(rows),
            Datapath::Direct(direct) => direct.turn(rows),
            Datapath::Rom(_) => {}
        }
    }

    /// Whether its memories, and what is under way, have the words of another tile of this kind, as far as anybody wrote those, in the main memory
    /// so many rows later, wherever the controllers of both are.
    pub fn refines(&self, other: &TileModel, rows: u64) -> bool {
        let quiet = |tile: &TileModel| tile.quiet.min(u64::from(tile.spec.sram_latency) + 1);
        let are_same = match (&self.datapath, &other.datapath) {
            (Datapath::WideFetch(one), Datapath::WideFetch(other)) => one.refines(other, rows),
            (Datapath::Direct(one), Datapath::Direct(other)) => one.refines(other, rows),
            (Datapath::Rom(one), Datapath::Rom(other)) => one.refines(other),
            _ => false,
        };
        are_same && quiet(self) == quiet(other)
    }

    /// Whether nothing happens in this cycle: no controller fires, and nothing is under way.
    #[inline]
    fn is_asleep(&self) -> bool {
        !self.context.any_fires() && self.quiet > u64::from(self.spec.sram_latency) && self.mode == Mode::UnifiedBuffer
    }

    /// Takes out the violations recorded so far.
    pub fn take_violations(&mut self) -> Vec<Violation> {
        self.context.take_violations()
    }

    /// The rows fetched for nothing since the flush, by controller: they were replaced in the transpose buffer before any word of them was
    /// read. They do no harm; mapping fetches such rows where some of a regular fetch are not needed.
    pub fn unread_rows(&self) -> Vec<String> {
        match &self.datapath {
            Datapath::WideFetch(wide_fetch) => wide_fetch.unread_rows(&self.context),
            Datapath::Direct(_) | Datapath::Rom(_) => Vec::new(),
        }
    }

    /// The words shown since the flush for which no row is fetched, by controller: its loops mean a fetch that the controller before it does
    /// not make, such as a word after the last row. Whether they matter is not told by a configuration.
    pub fn unfetched_words(&self) -> Vec<String> {
        match &self.datapath {
            Datapath::WideFetch(wide_fetch) => wide_fetch.unfetched_words(&self.context),
            Datapath::Direct(_) | Datapath::Rom(_) => Vec::new(),
        }
    }

    fn flush(&mut self) {
        self.quiet = 0;
        self.mode = self.configuration.mode;
        self.drop_pending();
        self.context.begin(|controllers| {
            for (controller, parameters) in controllers.iter_mut().zip(&self.parameters) {
                controller.flush(parameters, self.configuration.controllers.get(&parameters.name));
            }
        });
        self.context.chain = self.configuration.chain;
    }

    fn drop_pending(&mut self) {
        match &mut self.datapath {
            Datapath::WideFetch(wide_fetch) => wide_fetch.flush(self.mode),
            Datapath::Direct(direct) => direct.flush(),
            Datapath::Rom(rom) => rom.flush(),
        }
    }
}
