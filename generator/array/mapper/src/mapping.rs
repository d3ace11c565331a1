//! From a netlist to a bitstream.

use pushmem_bitstream::{Bitstream, Configuration};
use pushmem_compiler::Compiled;
use pushmem_fabric::{ArraySpec, Direction, TileKind};
use pushmem_files::Diagnostic;
use pushmem_netlist::CellId;
use pushmem_resources::Graph;
use pushmem_routing::{Fabric, FlowError, Implementation, Options, Progress, configure, place_and_route};
use pushmem_starts::StartError;
use pushmem_validation::{Proof, Site, validate};

use crate::lower::{Lowered, lower};
use crate::streams::StreamLane;

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

/// Why a program is not on an array.
#[derive(Debug)]
pub enum MapError {
    /// A loop of cells, such as a sum in a memory, has fewer cycles than its routes take. A schedule with more of them may fit.
    Loop(Diagnostic),
    /// Anything else.
    Refused(Diagnostic),
}

impl From<Diagnostic> for MapError {
    fn from(refused: Diagnostic) -> Self {
        MapError::Refused(refused)
    }
}

impl From<MapError> for Diagnostic {
    fn from(error: MapError) -> Self {
        match error {
            MapError::Loop(diagnostic) | MapError::Refused(diagnostic) => diagnostic,
        }
    }
}

/// Maps a program that was compiled with the array's memory tile: selects, places, routes and encodes it, and proves that the
/// bitstream is the program.
///
/// # Errors
/// When the array lacks an operation or room, or when no routes are found; what is short, and what to change.
pub fn map(
    compiled: &Compiled,
    target: &ArrayTarget,
    options: Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Mapped, MapError> {
    let ArrayTarget { spec, graph, fabric } = target;
    let lowered = lower(compiled, spec)?;
    let program = &compiled.program.name;
    let mut implementation =
        place_and_route(&lowered.netlist, spec, graph, fabric, options, progress).map_err(|error| {
            let message = format!("`{program}` does not fit `{}`: {error}", spec.name);
            let refused = Diagnostic::new(message).with_help(error.help());
            match error {
                FlowError::Starts(StartError::Loop { .. }) => MapError::Loop(refused),
                _ => MapError::Refused(refused),
            }
        })?;
    start_at_zero(&mut implementation);
    let wrong =
        |error: String| Diagnostic::new(format!("the bitstream of `{program}` is wrong: {error}")).as_fault("program");
    let Implementation { placement, routing, .. } = &implementation;
    let mut configuration = configure(&lowered.netlist, spec, graph, placement, routing)
        .map_err(|error| Diagnostic::new(format!("`{program}` does not fit `{}`: {error}", spec.name)))?;
    let accelerator = &compiled.accelerator;
    let lanes = |lanes: Vec<StreamLane>, direction: Direction| lanes.into_iter().map(move |lane| (lane, direction));
    let inputs = lanes(lowered.input_lanes(accelerator), Direction::In);
    for (lane, direction) in inputs.chain(lanes(lowered.output_lanes(accelerator), Direction::Out)) {
        let limit = 1 << spec.io.controller.extent_bits;
        let schedule = lane.schedule(accelerator, routing.lags[lane.cell], limit);
        let tile = configuration.tile_mut(graph, placement.places[lane.cell]);
        tile.set_stream(spec, graph.layout(TileKind::Io), direction, &schedule).map_err(|finding| {
            let name = &lowered.netlist.cells[lane.cell].name;
            Diagnostic::new(format!(
                "the stream `{name}` does not fit an IO tile of `{}`: {}",
                spec.name, finding.message
            ))
        })?;
    }
    let bitstream = configuration.encode(spec, graph)?;
    let site = site(&lowered, &implementation);
    let proof = validate(&compiled.program, accelerator, &lowered.operations, spec, graph, &bitstream, &site)
        .map_err(|error| wrong(error.to_string()))?;
    Ok(Mapped { lowered, implementation, configuration, bitstream, proof })
}

/// The tiles of the streams.
fn site(lowered: &Lowered, implementation: &Implementation) -> Site {
    let places = |cells: &Vec<CellId>| cells.iter().map(|cell| implementation.placement.places[*cell]).collect();
    Site { inputs: lowered.inputs.iter().map(places).collect(), outputs: lowered.outputs.iter().map(places).collect() }
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
    pub fn place(&self, cell: CellId) -> pushmem_fabric::Place {
        self.implementation.placement.places[cell]
    }
}
