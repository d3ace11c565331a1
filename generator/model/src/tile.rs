//! A tile with the ports of its RTL.

use pushmem_configuration::{Chain, Configuration};
use pushmem_tile::{Controller as Parameters, Kind, Role, TileSpec};

use crate::controller::Controller;
use crate::direct::Direct;
use crate::rom::Rom;
use crate::violation::{Violation, ViolationKind};
use crate::wide_fetch::WideFetch;
use crate::word::Word;

/// Most inputs, and most outputs, of a tile.
pub const MAX_PORTS: usize = 4;

/// Recorded violations are cut off here: one broken promise tends to break one in every cycle.
const MAX_VIOLATIONS: usize = 1000;

/// What a tile is given in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// Starts a run in the next cycle.
    pub flush: bool,
    /// Holds everything.
    pub stall: bool,
    /// The word (of a rom: the address) on each input.
    pub data: [u64; MAX_PORTS],
    /// The word on each chain input.
    pub chain: [u64; MAX_PORTS],
}

/// What a tile shows in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// The word on each output; 0 without valid.
    pub data: [Word; MAX_PORTS],
    /// Whether each output's word is part of its stream.
    pub valid: [bool; MAX_PORTS],
    /// Whether each input's word is used.
    pub taken: [bool; MAX_PORTS],
    /// The stencil-valid output.
    pub stencil_valid: bool,
}

/// What the parts of a tile need to know of each other in a cycle.
pub(crate) struct Context {
    pub controllers: Vec<Controller>,
    /// Index of the first controller of each role that exists.
    first: Vec<(Role, usize)>,
    pub chain: Chain,
    pub chaining: bool,
    pub rows: u32,
    cycle: u64,
    violations: Vec<Violation>,
}

impl Context {
    /// The controller of a role at a port.
    pub fn controller(&self, role: Role, port: u32) -> &Controller {
        let first = self.first.iter().find(|(other, _)| *other == role).expect("roles follow from the kind").1;
        &self.controllers[first + port as usize]
    }

    /// Splits an address of the chained memory into whether this tile owns it, and the row within the tile.
    pub fn own_row(&self, address: u64) -> (bool, u64) {
        let rows = u64::from(self.rows);
        if !self.chaining {
            return (true, address);
        }
        (!self.chain.enable || address / rows == u64::from(self.chain.tile_id), address % rows)
    }

    /// Records a broken promise.
    pub fn violation(&mut self, kind: ViolationKind, role: Role, port: u32, place: impl FnOnce() -> String) {
        if self.violations.len() < MAX_VIOLATIONS {
            let controller = self.controller(role, port).name.clone();
            self.violations.push(Violation { kind, cycle: self.cycle, controller, place: place() });
        }
    }
}

enum Datapath {
    WideFetch(WideFetch),
    Direct(Direct),
    Rom(Rom),
}

impl Datapath {
    /// With undefined memories.
    fn new(spec: &TileSpec) -> Self {
        match spec.kind {
            Kind::WideFetch { fetch_width, agg_words, tb_words } => {
                Datapath::WideFetch(WideFetch::new(spec, fetch_width, agg_words, tb_words))
            }
            Kind::DualPort | Kind::QuadPort | Kind::RegisterFile => Datapath::Direct(Direct::new(spec)),
            Kind::Rom => Datapath::Rom(Rom::new(spec)),
        }
    }
}

/// The cycle-accurate model of a tile.
pub struct Tile {
    spec: TileSpec,
    parameters: Vec<Parameters>,
    configuration: Configuration,
    context: Context,
    datapath: Datapath,
}

impl Tile {
    /// A tile after reset: nothing configured, memories undefined.
    pub fn new(spec: &TileSpec) -> Self {
        let parameters = spec.controllers();
        let mut first: Vec<(Role, usize)> = Vec::new();
        for (index, controller) in parameters.iter().enumerate() {
            if first.last().is_none_or(|(role, _)| *role != controller.role) {
                first.push((controller.role, index));
            }
        }
        let context = Context {
            controllers: parameters.iter().map(Controller::idle).collect(),
            first,
            chain: Chain::default(),
            chaining: spec.chaining,
            rows: spec.rows,
            cycle: 0,
            violations: Vec::new(),
        };
        let datapath = Datapath::new(spec);
        Tile { spec: spec.clone(), parameters, configuration: Configuration::default(), context, datapath }
    }

    /// Makes all memories undefined, and drops what is on its way.
    pub fn forget(&mut self) {
        self.datapath = Datapath::new(&self.spec);
    }

    /// Stops every controller and clears the configuration; memories keep their words.
    pub fn reset(&mut self) {
        self.configuration = Configuration::default();
        self.context.chain = Chain::default();
        for controller in &mut self.context.controllers {
            controller.stop();
        }
        self.drop_pending();
    }

    /// Loads a checked configuration and its contents. It counts from the next flush on. Without shadow registers, load it
    /// while no controller runs; with them, what the hardware is given while it runs is loaded here ahead of the flush that
    /// takes it, and its contents, which have no shadow, by [`Tile::load`].
    pub fn configure(&mut self, configuration: &Configuration) {
        self.load(&configuration.contents);
        self.configuration = configuration.clone();
    }

    /// Loads the first words of a rom; load them while no controller runs. Other tiles have no contents.
    pub fn load(&mut self, contents: &[u64]) {
        if let Datapath::Rom(rom) = &mut self.datapath {
            rom.load(contents);
        }
    }

    /// Whether some controller's run is not over.
    pub fn is_active(&self) -> bool {
        self.context.controllers.iter().any(Controller::is_active)
    }

    /// Whether a run is over and nothing is on its way to an output.
    pub fn is_idle(&self) -> bool {
        let pending = match &self.datapath {
            Datapath::WideFetch(_) => false,
            Datapath::Direct(direct) => direct.has_pending(),
            Datapath::Rom(rom) => rom.has_pending(),
        };
        !self.is_active() && !pending
    }

    /// Unstalled cycles since the flush.
    pub fn cycle(&self) -> u64 {
        self.context.cycle
    }

    /// What the tile shows in this cycle.
    pub fn outputs(&self, inputs: &Inputs) -> Outputs {
        let mut outputs = Outputs::default();
        for (parameters, controller) in self.parameters.iter().zip(&self.context.controllers) {
            if parameters.role.takes_input() {
                outputs.taken[parameters.port as usize] = controller.fires();
            }
            if parameters.role == Role::StencilValid {
                outputs.stencil_valid = controller.fires();
            }
        }
        for port in 0..self.spec.outputs {
            let shown = match &self.datapath {
                Datapath::WideFetch(wide_fetch) => wide_fetch.output(&self.context, inputs, port),
                Datapath::Direct(direct) => direct.output(&self.context, inputs, port),
                Datapath::Rom(rom) => rom.output(),
            };
            outputs.valid[port as usize] = shown.is_some();
            outputs.data[port as usize] = shown.unwrap_or(Word::new(0));
        }
        outputs
    }

    /// Takes the tile to the next cycle.
    pub fn clock(&mut self, inputs: &Inputs) {
        if !inputs.stall {
            let context = &mut self.context;
            match &mut self.datapath {
                Datapath::WideFetch(wide_fetch) => wide_fetch.clock(context, inputs),
                Datapath::Direct(direct) => direct.clock(context, inputs),
                Datapath::Rom(rom) => rom.clock(context, inputs),
            }
            for controller in &mut context.controllers {
                controller.advance();
            }
            context.cycle += 1;
        }
        if inputs.flush {
            self.flush();
        }
    }

    /// Takes out the violations recorded so far.
    pub fn take_violations(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.context.violations)
    }

    fn flush(&mut self) {
        self.drop_pending();
        for (controller, parameters) in self.context.controllers.iter_mut().zip(&self.parameters) {
            controller.flush(parameters, self.configuration.controllers.get(&parameters.name));
        }
        self.context.chain = self.configuration.chain;
        self.context.cycle = 0;
    }

    fn drop_pending(&mut self) {
        match &mut self.datapath {
            Datapath::WideFetch(wide_fetch) => wide_fetch.flush(),
            Datapath::Direct(direct) => direct.flush(),
            Datapath::Rom(rom) => rom.flush(),
        }
    }
}
