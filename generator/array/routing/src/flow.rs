//! From a netlist to routes.

use pushmem_fabric::{ArraySpec, Layer};
use pushmem_netlist::{CellId, Connection, Netlist};
use pushmem_placement::{CapacityError, Effort, Lessons, Placement, check_capacity, least_demand, place};
use pushmem_resources::Graph;
use pushmem_starts::{Demand, Lags, LoopConnection, StartError, recurrences, registers, starts};
use rayon::prelude::*;

use crate::demands::{demands, no_targets};
use crate::distance::Targets;
use crate::negotiated_congestion::{RouteError, route};
use crate::routing::{Routing, Statistics};
use crate::wires::Fabric;

/// Seeds that are tried at once.
const AT_ONCE: u64 = 2;

/// Placements with heavier loops, after the first one in which a loop is too long.
const LOOP_ROUNDS: usize = 6;

/// How much heavier the connections of a loop become each time that it is too long.
const HEAVIER: f32 = 3.0;

/// Placements with connections further apart.
const APART_ROUNDS: usize = 3;

/// Other starts that are tried for a placement.
const START_ROUNDS: usize = 40;

/// Other starts that are tried because a few wires carry more than one net, and how many are few.
const CONGESTED_ROUNDS: usize = 4;
const FEW: usize = 20;

/// The most by which the registers of a connection may exceed its shortest route for other starts to help: the numbers of
/// registers that no route has are those just above the least.
const GAP: i64 = 12;

/// Options of placement and routing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The first seed.
    pub seed: u64,
    /// How many seeds to try, two at once.
    pub seeds: u64,
    /// How long to anneal.
    pub effort: Effort,
}

impl Default for Options {
    fn default() -> Self {
        Options { seed: 1, seeds: 8, effort: Effort::default() }
    }
}

/// A step that is done, to be shown to people who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The cells have places.
    Placed {
        /// The seed.
        seed: u64,
    },
    /// The routes were tried with other starts, so many times.
    Restarted {
        /// The seed.
        seed: u64,
        /// How often.
        rounds: usize,
    },
}

/// A netlist on an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Implementation {
    /// The places of cells.
    pub placement: Placement,
    /// Starts and routes.
    pub routing: Routing,
    /// The seed that gave it.
    pub seed: u64,
}

/// Why a netlist has no implementation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    /// There are too few tiles.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// Cells cannot start in time.
    #[error(transparent)]
    Starts(#[from] StartError),
    /// A connection has no route of its registers.
    #[error("no route from {connection} has {registers} registers; the shortest has {shortest}")]
    NoRoute {
        /// The cells of the connection.
        connection: String,
        /// The registers that it needs.
        registers: i64,
        /// Those of its shortest route.
        shortest: i64,
    },
    /// A connection has no route at all.
    #[error("there is no route from {connection}")]
    Unreachable {
        /// The cells of the connection.
        connection: String,
    },
    /// The tracks of the array hold fewer words than the netlist delays.
    #[error(
        "delays take {needed} registers of tracks of {}s, the array has {available}; the longest is from {connection}: {registers}",
        .layer.name()
    )]
    Delays {
        /// Registers of all nets.
        needed: i64,
        /// Tracks of the array.
        available: usize,
        /// The layer of the tracks.
        layer: Layer,
        /// The cells of the longest connection.
        connection: String,
        /// Its registers.
        registers: i64,
    },
    /// Tracks do not suffice.
    #[error("{wires} tracks would have to carry more than one net, as {example}")]
    Congestion {
        /// How many.
        wires: usize,
        /// The name of one of them.
        example: String,
        /// The layer of that one.
        layer: Layer,
    },
}

impl FlowError {
    /// The layer of which more tracks may help.
    pub fn lacks_tracks_of(&self) -> Option<Layer> {
        match self {
            FlowError::Delays { layer, .. } | FlowError::Congestion { layer, .. } => Some(*layer),
            FlowError::Capacity(_)
            | FlowError::Starts(_)
            | FlowError::NoRoute { .. }
            | FlowError::Unreachable { .. } => None,
        }
    }

    /// Advice on the change that helps.
    pub fn help(&self) -> String {
        match self {
            FlowError::Capacity(error) => error.help(),
            FlowError::Starts(StartError::Loop { .. }) => {
                "give the loop more cycles: a larger initiation interval, or fewer elements in it".to_owned()
            }
            FlowError::Starts(StartError::Parity { .. }) => {
                "add an element that passes the word on, or take an array with a `hop_limit` above 1".to_owned()
            }
            FlowError::NoRoute { .. } | FlowError::Delays { .. } => {
                "put a memory tile on the connection: long delays belong there".to_owned()
            }
            FlowError::Unreachable { .. } => "take an array with more rows and columns".to_owned(),
            FlowError::Congestion { .. } => "take an array with more tracks, or unroll less".to_owned(),
        }
    }
}

/// A netlist with places and starts.
struct Placed {
    placement: Placement,
    demands: Vec<Demand>,
    lags: Lags,
}

/// Why a placement was not routed.
enum Failure {
    /// These connections have no routes, each with the registers of its shortest.
    NoRoute { lost: Vec<(usize, i64)>, error: FlowError },
    /// Another placement of the same seed would not help.
    Other(FlowError),
}

impl Failure {
    fn into_error(self) -> FlowError {
        match self {
            Failure::NoRoute { error, .. } | Failure::Other(error) => error,
        }
    }
}

impl From<FlowError> for Failure {
    fn from(error: FlowError) -> Self {
        Failure::Other(error)
    }
}

/// Everything about an array and a netlist that attempts share.
struct Flow<'a> {
    netlist: &'a Netlist,
    spec: &'a ArraySpec,
    graph: &'a Graph,
    fabric: &'a Fabric,
    connections: Vec<Connection<'a>>,
    recurrences: Vec<LoopConnection>,
    effort: Effort,
}

/// Places and routes a netlist: the implementation with the fewest wires of two seeds, or of the next two if neither routes.
///
/// # Errors
/// When there are too few tiles, a loop has too few cycles wherever it is, or no seed gives routes.
pub fn place_and_route(
    netlist: &Netlist,
    spec: &ArraySpec,
    graph: &Graph,
    fabric: &Fabric,
    options: Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Implementation, FlowError> {
    check_capacity(netlist, spec)?;
    let connections: Vec<Connection> = netlist.connections().collect();
    let least: Vec<Demand> = connections.iter().map(|connection| least_demand(netlist, spec, connection)).collect();
    let recurrences = recurrences(netlist, &least)?;
    let effort = options.effort;
    let flow = Flow { netlist, spec, graph, fabric, connections, recurrences, effort };
    let mut first_error = None;
    let mut tried = 0;
    while tried < options.seeds.max(1) {
        let seeds: Vec<u64> =
            (tried..options.seeds.max(1).min(tried + AT_ONCE)).map(|seed| options.seed.wrapping_add(seed)).collect();
        tried += seeds.len() as u64;
        let attempts: Vec<Result<Implementation, FlowError>> =
            seeds.into_par_iter().map(|seed| flow.attempt(seed, progress)).collect();
        let wires = |implementation: &Implementation| {
            let Statistics { word_wires, bit_wires, .. } = implementation.routing.statistics(netlist, graph);
            word_wires + bit_wires
        };
        // Loops come first in each of their placements: what several could not shorten, others hardly can.
        let is_loop =
            |attempt: &Result<_, FlowError>| matches!(attempt, Err(FlowError::Starts(StartError::Loop { .. })));
        let hopeless = attempts.iter().all(is_loop);
        let mut routed = Vec::new();
        for attempt in attempts {
            match attempt {
                Ok(implementation) => routed.push((wires(&implementation), implementation)),
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
        }
        if let Some((_, implementation)) = routed.into_iter().min_by_key(|(wires, _)| *wires) {
            return Ok(implementation);
        }
        if hopeless {
            break;
        }
    }
    Err(first_error.expect("one seed was tried at least"))
}

/// Routes a netlist whose cells have places already.
///
/// # Errors
/// When a loop has too few cycles between these places, or there are no routes.
pub fn route_placed(
    netlist: &Netlist,
    spec: &ArraySpec,
    graph: &Graph,
    fabric: &Fabric,
    placement: Placement,
    options: Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Implementation, FlowError> {
    let connections = netlist.connections().collect();
    let flow = Flow { netlist, spec, graph, fabric, connections, recurrences: Vec::new(), effort: options.effort };
    let mut targets = no_targets();
    let demands = flow.demands(&placement, &mut targets)?;
    let lags = starts(netlist, &demands)?;
    let placed = Placed { placement, demands, lags };
    flow.routed(options.seed, placed, &mut targets, progress).map_err(Failure::into_error)
}

impl Flow<'_> {
    /// Places with a seed and routes. Connections that find no routes are further apart in the next placement.
    fn attempt(&self, seed: u64, progress: &(dyn Fn(Progress) + Sync)) -> Result<Implementation, FlowError> {
        let mut targets = no_targets();
        let mut lessons = Lessons::default();
        let mut round = 0;
        loop {
            let placed = self.placed(seed, &mut lessons, &mut targets)?;
            progress(Progress::Placed { seed });
            let failure = match self.routed(seed, placed, &mut targets, progress) {
                Ok(implementation) => return Ok(implementation),
                Err(failure) => failure,
            };
            match failure {
                Failure::NoRoute { lost, .. } if round < APART_ROUNDS => {
                    for (number, shortest) in lost {
                        let least = lessons.least.entry(number).or_insert(0);
                        *least = (shortest + 1).max(*least);
                    }
                }
                failure => return Err(failure.into_error()),
            }
            round += 1;
        }
    }

    /// Routes. Connections without a route get other starts.
    fn routed(
        &self,
        seed: u64,
        Placed { placement, mut demands, mut lags }: Placed,
        targets: &mut [Targets; 2],
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Implementation, Failure> {
        let Flow { netlist, spec, graph, fabric, connections, .. } = self;
        let shortest: Vec<i64> = demands.iter().map(|demand| demand.least).collect();
        let mut congested_rounds = 0;
        for round in 1.. {
            self.check_delays(&lags)?;
            let failure = match route(netlist, spec, graph, fabric, &placement, &lags, targets) {
                Ok(routing) => return Ok(Implementation { placement, routing, seed }),
                Err(failure) => failure,
            };
            progress(Progress::Restarted { seed, rounds: round });
            match failure {
                RouteError::NoRoute(lost) => {
                    for &number in &lost {
                        let registers = registers(&lags, &connections[number]);
                        if registers > shortest[number] + GAP || round > START_ROUNDS {
                            let connection = netlist.connection_name(&connections[number]);
                            let error = FlowError::NoRoute { connection, registers, shortest: shortest[number] };
                            let lost = lost.iter().map(|number| (*number, shortest[*number])).collect();
                            return Err(Failure::NoRoute { lost, error });
                        }
                        demands[number].least = registers + if demands[number].is_even { 2 } else { 1 };
                    }
                }
                RouteError::Congestion { wires, example, connections: congested } => {
                    if congested_rounds == CONGESTED_ROUNDS || wires > FEW {
                        return Err({
                            let layer = graph.resource(example).layer;
                            FlowError::Congestion { wires, example: graph.name(example), layer }.into()
                        });
                    }
                    congested_rounds += 1;
                    // Of the connections on a wire, the one whose way has the least choice gets more.
                    for on_wire in congested {
                        let rest = |number: &usize| registers(&lags, &connections[*number]) - shortest[*number];
                        let tightest = on_wire.into_iter().min_by_key(rest).expect("a wire carries connections");
                        let demand = &mut demands[tightest];
                        let step = if demand.is_even { 2 } else { 1 + demand.delay };
                        demand.least = registers(&lags, &connections[tightest]) + step;
                    }
                }
            }
            lags = starts(netlist, &demands).map_err(FlowError::from)?;
        }
        unreachable!("rounds are counted")
    }

    /// Places, and starts. Where a loop is too long, its connections become heavier.
    fn placed(&self, seed: u64, lessons: &mut Lessons, targets: &mut [Targets; 2]) -> Result<Placed, FlowError> {
        let Flow { netlist, spec, connections, recurrences, effort, .. } = self;
        let mut round = 0;
        let mut before: Option<Placement> = None;
        loop {
            let placement = place(netlist, spec, recurrences, lessons, seed, *effort, before.as_ref())?;
            let demands = self.demands(&placement, targets)?;
            match starts(netlist, &demands) {
                Ok(lags) => return Ok(Placed { placement, demands, lags }),
                Err(StartError::Loop { cells, .. }) if round < LOOP_ROUNDS => {
                    let is_on_loop = |cell: CellId| cells.contains(&cell);
                    for (number, connection) in connections.iter().enumerate() {
                        if is_on_loop(connection.of.source) && is_on_loop(connection.sink.cell) {
                            *lessons.weights.entry(number).or_insert(1.0) *= HEAVIER;
                        }
                    }
                    round += 1;
                    before = Some(placement);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The demands of all connections.
    fn demands(&self, placement: &Placement, targets: &mut [Targets; 2]) -> Result<Vec<Demand>, FlowError> {
        let Flow { netlist, spec, graph, fabric, connections, .. } = self;
        demands(netlist, spec, graph, fabric, placement, targets)
            .map_err(|number| FlowError::Unreachable { connection: netlist.connection_name(&connections[number]) })
    }

    /// Refuses delays for which there are not as many tracks in the whole array.
    fn check_delays(&self, lags: &Lags) -> Result<(), FlowError> {
        for layer in Layer::ALL {
            // An operand may hold some of them.
            let elsewhere = i64::from(self.spec.pe.operand_delay);
            let of_layer = self.connections.iter().filter(|connection| connection.of.layer == layer);
            let lengths: Vec<(i64, &Connection)> =
                of_layer.map(|connection| (registers(lags, connection), connection)).collect();
            let nets = lengths.chunk_by(|(_, one), (_, other)| one.net == other.net);
            let longest_of = |net: &[(i64, &Connection)]| net.iter().map(|(registers, _)| registers - elsewhere).max();
            let needed: i64 = nets.filter_map(longest_of).map(|registers| registers.max(1)).sum();
            let longest = lengths.iter().max_by_key(|(registers, _)| *registers).copied();
            let available = self.fabric.layer(layer).len();
            if let Some((registers, connection)) = longest
                && needed > available as i64
            {
                let connection = self.netlist.connection_name(connection);
                return Err(FlowError::Delays { needed, available, layer, connection, registers });
            }
        }
        Ok(())
    }
}
