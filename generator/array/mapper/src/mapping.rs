//! From a netlist to a bitstream.

use pushmem_bitstream::{Bitstream, Configuration};
use pushmem_compiler::Compiled;
use pushmem_fabric::{ArraySpec, Direction, Place, TileKind, Tracks};
use pushmem_files::{Diagnostic, Fault};
use pushmem_netlist::{BankCells, CellId, Core, Netlist};
use pushmem_placement::Placement;
use pushmem_resources::Graph;
use pushmem_routing::{
    Fabric, FlowError, Implementation, Options, Progress, Routing, configure, enough_tracks, place_and_route,
    route_placed,
};
use pushmem_starts::StartError;
use pushmem_tile::ControllerSpec;
use pushmem_validation::{BankSite, Proof, Reference, Site, validate};

use crate::bank_memory::{BankMemory, bank_memories};
use crate::buffered::plan;
use crate::edited::Edited;
use crate::lower::{Lowered, Sharing, lower};
use crate::streams::StreamLane;
use crate::times::{Times, timed};
use crate::ways::{Shortage, Unmapped};

/// A program on an array.
#[derive(Clone, Debug)]
pub struct Mapped {
    /// Its netlist.
    pub lowered: Lowered,
    /// Places, starts and routes.
    pub implementation: Implementation,
    /// The configuration of the array.
    pub configuration: Configuration,
    /// The same as register writes.
    pub bitstream: Bitstream,
    /// Figures of the proof that the bitstream is the program.
    pub proof: Proof,
    /// Cycles of a run in hardware of its own: those of the schedule without cycles for the routes of loops.
    pub dedicated_cycles: u64,
    /// The time of each step.
    pub times: Times,
}

/// An array, and all that programs on it share.
#[derive(Debug)]
pub struct ArrayTarget {
    /// Its specification.
    pub spec: ArraySpec,
    /// Its routing resources.
    pub graph: Graph,
    fabric: Fabric,
}

impl ArrayTarget {
    /// The target that an array is.
    pub fn new(spec: ArraySpec) -> Self {
        let graph = Graph::of(&spec);
        let fabric = Fabric::of(&spec, &graph);
        ArrayTarget { spec, graph, fabric }
    }
}

/// A program with places and routes on an array, whose bitstream is still to be proven.
#[derive(Clone, Debug)]
pub(crate) struct Routed {
    pub lowered: Lowered,
    pub implementation: Implementation,
    pub configuration: Configuration,
    pub times: Times,
}

/// Maps a program that was compiled with the array's memory tile: selects, places, routes and encodes it, and proves that the
/// bitstream is the program. Stages that are edited take the place of those that it would make.
///
/// # Errors
/// When the array lacks an operation or room, or when no routes are found; what is short, and what to change. When an edited stage
/// is wrong, at the place in its text.
pub(crate) fn map(
    compiled: &Compiled,
    sharing: Sharing,
    target: &ArrayTarget,
    edited: &Edited,
    options: Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Mapped, Unmapped> {
    let spec = &target.spec;
    let mut selection = 0.0;
    let lowered = timed(&mut selection, || match (lower(compiled, spec, sharing)?, &edited.netlist) {
        (lowered, Some(document)) => lowered.edited(document, spec),
        (lowered, None) => Ok(lowered),
    })?;
    let mut routed = route(compiled, lowered, target, edited, options, progress)?;
    routed.times.selection = selection;
    let bitstream = timed(&mut routed.times.encoding, || routed.configuration.encode(spec, &target.graph))?;
    let mapped = routed.proven(compiled, &bitstream, bitstream.clone(), Vec::new(), target);
    mapped.map_err(|refused| match edited.is_empty() {
        true => refused.as_fault("program").into(),
        false => {
            let help =
                "an edit changed what the program computes; `--emit` without edited stages writes them as they were";
            Unmapped { refused: refused.with_help(help), shortage: Shortage::EditedProgram }
        }
    })
}

/// A program as a bitstream is to compute it.
pub fn reference(compiled: &Compiled) -> Reference<'_> {
    Reference { program: &compiled.program, datapaths: &compiled.datapaths, graph: &compiled.graph }
}

/// Places and routes a program, and makes its configuration.
pub(crate) fn route(
    compiled: &Compiled,
    mut lowered: Lowered,
    target: &ArrayTarget,
    edited: &Edited,
    options: Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Routed, Unmapped> {
    let mut times = Times::default();
    let implementation =
        timed(&mut times.place_and_route, || implement(&mut lowered, target, edited, options, progress))?;
    let configuration = match &edited.configuration {
        Some(configuration) => configuration.clone(),
        None => timed(&mut times.encoding, || configured(compiled, &lowered, &implementation, target))?,
    };
    Ok(Routed { lowered, implementation, configuration, times })
}

impl Routed {
    /// The tiles of its streams.
    pub fn site(&self) -> Site {
        site(&self.lowered, &self.implementation)
    }

    /// Proves that a bitstream `loaded` into the array, which may have other programs beside it, is the program. `own` has its
    /// writes only; `others` are the streams of the programs beside it.
    ///
    /// # Errors
    /// When it is not.
    pub fn proven(
        mut self,
        compiled: &Compiled,
        loaded: &Bitstream,
        own: Bitstream,
        others: Vec<(Place, Direction)>,
        ArrayTarget { spec, graph, .. }: &ArrayTarget,
    ) -> Result<Mapped, Diagnostic> {
        let site = Site { others, ..site(&self.lowered, &self.implementation) };
        let program = &compiled.program;
        let proof = timed(&mut self.times.proof, || {
            validate(reference(compiled), &self.lowered.operations, spec, graph, loaded, &site)
        });
        let wrong = |error| Diagnostic::new(format!("the bitstream of `{}` is wrong: {error}", program.name));
        let proof = proof.map_err(wrong)?;
        let Routed { lowered, implementation, configuration, times } = self;
        let dedicated_cycles = compiled.graph.length;
        Ok(Mapped { lowered, implementation, configuration, bitstream: own, proof, dedicated_cycles, times })
    }
}

/// Places and routes a program, or reads that from edited stages. Where ways differ by an odd number of cycles that no operand takes,
/// an element that passes the word on is added.
fn implement(
    lowered: &mut Lowered,
    target: &ArrayTarget,
    edited: &Edited,
    options: Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Implementation, Unmapped> {
    let ArrayTarget { spec, graph, fabric } = target;
    let placement = {
        let netlist = &lowered.netlist;
        edited.placement.as_ref().map(|document| Placement::from_document(document, netlist, spec))
    };
    let is_of_schedule = edited.placement.as_ref().is_some_and(|document| Placement::is_of(document, &lowered.netlist));
    let shortage = if is_of_schedule { Shortage::EditedStages } else { Shortage::EditedSchedule };
    let edited_wrong = |refused| Unmapped { refused, shortage };
    let routed = match (placement.transpose().map_err(edited_wrong)?, &edited.routing) {
        (Some(placement), Some(document)) => {
            let routing =
                Routing::from_document(document, &lowered.netlist, spec, graph, &placement).map_err(edited_wrong)?;
            return Ok(Implementation { placement, routing, seed: options.seed });
        }
        (Some(placement), None) => route_placed(&lowered.netlist, spec, graph, fabric, placement, options, progress),
        (None, None) => loop {
            match place_and_route(&lowered.netlist, spec, graph, fabric, options, progress) {
                Err(FlowError::Starts(StartError::Parity { number, .. })) if lowered.pass_on(number, &spec.pe) => {}
                routed => break routed,
            }
        },
        (None, Some(_)) => {
            let refused = Diagnostic::new("routes belong to places, which are not given");
            return Err(refused.with_help("give the placement that they were made for").into());
        }
    };
    let netlist = &lowered.netlist;
    let mut implementation = routed.map_err(|error| {
        let message = format!("`{}` does not fit `{}`: {error}", netlist.name, spec.name);
        let refused = Diagnostic::new(message).with_help(help(netlist, spec, edited, options, &error));
        match error {
            FlowError::Starts(StartError::Loop { cells, short, .. }) => {
                // A way from stage to stage ends in a memory.
                let is_memory = |cell: &&CellId| matches!(netlist.cells[**cell].core, Core::Memory(_));
                let ways = cells.iter().filter(is_memory).count().max(1) as u64;
                let short = (short.max(0) as u64).div_ceil(ways);
                Unmapped { refused, shortage: Shortage::Cycles(short) }
            }
            _ => refused.into(),
        }
    })?;
    start_at_zero(&mut implementation);
    Ok(implementation)
}

/// Advice on the change that helps where there are no routes: how many tracks are enough, if places are free.
fn help(netlist: &Netlist, spec: &ArraySpec, edited: &Edited, options: Options, error: &FlowError) -> String {
    let are_places_free = edited.placement.is_none();
    match are_places_free.then(|| enough_tracks(netlist, spec, options, error)).flatten() {
        Some(Tracks { word, bit }) => {
            format!("it has routes with `tracks: {{word: {word}, bit: {bit}}}` in the specification; or unroll less")
        }
        None => error.help(),
    }
}

/// The configuration of an implementation, with the beats of streams.
fn configured(
    compiled: &Compiled,
    lowered: &Lowered,
    implementation: &Implementation,
    ArrayTarget { spec, graph, .. }: &ArrayTarget,
) -> Result<Configuration, Diagnostic> {
    let program = &compiled.program.name;
    let Implementation { placement, routing, .. } = implementation;
    let mut configuration = configure(&lowered.netlist, spec, graph, placement, routing)
        .map_err(|error| Diagnostic::new(format!("`{program}` does not fit `{}`: {error}", spec.name)))?;
    let program_graph = &compiled.graph;
    let lanes = |lanes: Vec<StreamLane>, direction: Direction| lanes.into_iter().map(move |lane| (lane, direction));
    let inputs = lanes(lowered.input_lanes(program_graph), Direction::In);
    for (lane, direction) in inputs.chain(lanes(lowered.output_lanes(program_graph), Direction::Out)) {
        let limit = 1 << spec.io.controller.extent_bits;
        let schedule = lane.schedule(program_graph, routing.lags[lane.cell], limit);
        let tile = configuration.tile_mut(graph, placement.places[lane.cell]);
        tile.set_stream(spec, graph.layout(TileKind::Io), direction, &schedule)
            .map_err(|finding| unfit_stream(compiled, &lane, direction, spec, &finding))?;
    }
    configuration.banks = plan(compiled, lowered, |cell| placement.places[cell], spec)?;
    let limit = 1 << spec.io.controller.extent_bits;
    for (cells, memory) in lowered.netlist.banks.iter().zip(bank_memories(compiled, lowered)) {
        let lag = routing.lags[cells.load];
        for (direction, cell) in [(Direction::In, cells.load), (Direction::Out, cells.store)] {
            let tile = configuration.tile_mut(graph, placement.places[cell]);
            let beats = memory.beats(direction, lag, limit);
            tile.set_stream(spec, graph.layout(TileKind::Io), direction, &beats)
                .map_err(|finding| unfit_memory(compiled, &memory, spec, &finding))?;
        }
        let buffer = spec.global_buffer.as_ref().expect("memories are in banks of a global buffer");
        let column = placement.places[cells.load].column;
        let bank = buffer.bank(column, Direction::In).expect("memories are placed where banks are");
        configuration.banks.insert(bank, memory.bank());
    }
    Ok(configuration)
}

/// The refusal of a stream whose beats the controller of an IO tile cannot count.
fn unfit_stream(
    compiled: &Compiled,
    lane: &StreamLane,
    direction: Direction,
    spec: &ArraySpec,
    finding: &Fault,
) -> Diagnostic {
    let (program, graph) = (&compiled.program, &compiled.graph);
    let array = &program.arrays[lane.array(graph, direction)];
    let message =
        format!("the stream of `{}` does not fit an IO tile of `{}`: {}", array.name, spec.name, finding.message);
    let ControllerSpec { levels, extent_bits, cycle_bits, .. } = &spec.io.controller;
    let help = format!(
        "controllers of its streams have {levels} loops, extents of {extent_bits} bits and starts of {cycle_bits} bits, a run of the \
         program {} cycles: choose a smaller image or fewer cycles, or an array whose memory tiles have wider controllers",
        graph.length
    );
    program.diagnostic(array.span, message).with_help(help)
}

/// The refusal of a memory in a bank, the beats of whose streams the controller of an IO tile cannot count.
fn unfit_memory(compiled: &Compiled, memory: &BankMemory, spec: &ArraySpec, finding: &Fault) -> Diagnostic {
    let program = &compiled.program;
    let array = &program.arrays[memory.array];
    let message = format!("`{}` does not fit a bank of `{}`: {}", array.name, spec.name, finding.message);
    program.diagnostic(array.span, message).with_help("say `level: memory` in the program")
}

/// The tiles of the streams.
fn site(lowered: &Lowered, implementation: &Implementation) -> Site {
    let places = |cells: &Vec<CellId>| cells.iter().map(|cell| implementation.placement.places[*cell]).collect();
    let place = |cell: CellId| implementation.placement.places[cell];
    let bank =
        |bank: &BankCells| BankSite { name: bank.name.clone(), load: place(bank.load), store: place(bank.store) };
    Site {
        inputs: lowered.inputs.iter().map(places).collect(),
        outputs: lowered.outputs.iter().map(places).collect(),
        banks: lowered.netlist.banks.iter().map(bank).collect(),
        others: Vec::new(),
    }
}

/// Moves all lags by the same, so that the first is 0: streams and memories cannot start before the run.
fn start_at_zero(implementation: &mut Implementation) {
    let lags = &mut implementation.routing.lags;
    let first = lags.iter().copied().min().unwrap_or(0);
    lags.iter_mut().for_each(|lag| *lag -= first);
}

impl Mapped {
    /// The tiles of the streams.
    pub fn site(&self) -> Site {
        site(&self.lowered, &self.implementation)
    }

    /// The tile of a cell.
    pub fn place(&self, cell: CellId) -> Place {
        self.implementation.placement.places[cell]
    }
}
