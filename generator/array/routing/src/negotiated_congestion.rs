//! Negotiated congestion.

use index_vec::IndexVec;
use pushmem_fabric::{ArraySpec, Layer};
use pushmem_netlist::{Connection, NetId, Netlist};
use pushmem_placement::Placement;
use pushmem_resources::{Graph, NodeId};
use pushmem_starts::{Lags, registers};

use crate::demands::ends;
use crate::distance::Targets;
use crate::routing::{Route, Routing};
use crate::search::{BASE, Goal, Reached, Search};
use crate::wires::{Fabric, Wire, Wires};

/// Rounds of negotiation.
const ROUNDS: u32 = 60;

/// Rounds after which it ends if the congestion became no less.
const STALLED_ROUNDS: u32 = 12;

/// The factor of a wire's cost for each other net on it in the first round, and how it grows from round to round.
const FIRST_FACTOR: f32 = 0.5;
const GROWTH: f32 = 1.35;

/// Why there are no routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteError {
    /// Connections, by number, for which no route of their registers was found even on tracks that others use.
    NoRoute(Vec<usize>),
    /// After all rounds, so many wires still carry more than one net.
    Congestion {
        /// The wires with more than one net.
        wires: usize,
        /// One of them.
        example: NodeId,
        /// The connections on each of them, by number.
        connections: Vec<Vec<usize>>,
    },
}

/// Routes a placed netlist, each connection with exactly the registers that the lags give it. `targets` are those that are known.
///
/// # Errors
/// When a connection has no route of its registers, or tracks do not suffice.
pub(crate) fn route(
    netlist: &Netlist,
    spec: &ArraySpec,
    graph: &Graph,
    fabric: &Fabric,
    placement: &Placement,
    lags: &Lags,
    targets: &mut [Targets; 2],
) -> Result<Routing, RouteError> {
    let mut nets: IndexVec<NetId, Vec<Route>> = netlist.nets.iter().map(|_| Vec::new()).collect();
    for layer in Layer::ALL {
        let targets = &mut targets[layer as usize];
        let wires = fabric.layer(layer);
        let trees = trees(netlist, spec, graph, wires, placement, lags, targets, layer);
        let mut router = Router::new(wires, targets, trees);
        router.negotiate()?;
        for tree in router.trees {
            nets[tree.net] = tree.routes(wires);
        }
    }
    Ok(Routing { lags: lags.clone(), nets })
}

/// A net that is being routed.
struct Tree {
    net: NetId,
    /// The wires that leave its source.
    leaving: Vec<Wire>,
    source: NodeId,
    sinks: Vec<TreeSink>,
    /// The wires in use.
    reached: Vec<Reached>,
    /// The wire before each of them, none at the source.
    before: Vec<Option<Wire>>,
}

/// A sink of a net that is being routed.
struct TreeSink {
    /// The number of its connection.
    connection: usize,
    /// Its place among the sinks of the net.
    place: usize,
    input: NodeId,
    target: usize,
    /// Registers of tracks and operand.
    registers: i64,
    /// The most registers of the operand.
    most_delay: u32,
    /// The last wire and the registers of the operand.
    end: Option<(Wire, u32)>,
}

#[allow(clippy::too_many_arguments)]
fn trees(
    netlist: &Netlist,
    spec: &ArraySpec,
    graph: &Graph,
    wires: &Wires,
    placement: &Placement,
    lags: &Lags,
    targets: &mut Targets,
    layer: Layer,
) -> Vec<Tree> {
    let mut trees: Vec<Tree> = Vec::new();
    let of_layer = |(_, connection): &(usize, Connection)| connection.of.layer == layer;
    for (number, connection) in netlist.connections().enumerate().filter(of_layer) {
        let (output, input) = ends(placement, graph, &connection).expect("cells are on tiles of their kinds");
        if trees.last().is_none_or(|tree| tree.net != connection.net) {
            let leaving = wires.leaving(graph, output).collect();
            let (net, source) = (connection.net, output);
            trees.push(Tree { net, leaving, source, sinks: Vec::new(), reached: Vec::new(), before: Vec::new() });
        }
        let sink = TreeSink {
            connection: number,
            place: connection.place,
            input,
            target: targets.add(wires, graph, input),
            registers: registers(lags, &connection),
            most_delay: netlist.most_delay(spec, &connection),
            end: None,
        };
        trees.last_mut().expect("it was added").sinks.push(sink);
    }
    for tree in &mut trees {
        // Each sink leaves the way to those before it as late as it can.
        tree.sinks.sort_by_key(|sink| sink.registers);
    }
    trees
}

impl Tree {
    fn routes(&self, wires: &Wires) -> Vec<Route> {
        let mut routes: Vec<Option<Route>> = vec![None; self.sinks.len()];
        for sink in &self.sinks {
            let (end, delay) = sink.end.expect("all sinks are routed");
            let mut way = Vec::new();
            let mut at = Some(end);
            while let Some(wire) = at {
                way.push(wire);
                at = self.before(wire);
            }
            let mut nodes = vec![self.source];
            for (place, wire) in way.iter().rev().enumerate() {
                let registers = |wire: Wire| self.registers(wire);
                let before = place.checked_sub(1).map_or(0, |_| registers(way[way.len() - place]));
                if registers(*wire) > before {
                    nodes.push(wires.register(*wire));
                }
                nodes.push(wires.segment(*wire));
            }
            nodes.push(sink.input);
            routes[sink.place] = Some(Route { nodes, delay });
        }
        routes.into_iter().map(|route| route.expect("places of sinks count up")).collect()
    }

    fn find(&self, wire: Wire) -> usize {
        self.reached.iter().position(|reached| reached.wire == wire).expect("a wire of the tree")
    }

    fn before(&self, wire: Wire) -> Option<Wire> {
        self.before[self.find(wire)]
    }

    fn registers(&self, wire: Wire) -> u32 {
        self.reached[self.find(wire)].registers
    }
}

/// The negotiation over the wires of a layer.
struct Router<'a> {
    wires: &'a Wires,
    targets: &'a Targets,
    trees: Vec<Tree>,
    /// Nets on each wire.
    users: Vec<u16>,
    /// The history cost of each wire, from congestion of earlier rounds.
    history: Vec<u32>,
    search: Search,
}

impl<'a> Router<'a> {
    fn new(wires: &'a Wires, targets: &'a Targets, trees: Vec<Tree>) -> Self {
        let registers = trees.iter().flat_map(|tree| &tree.sinks).map(|sink| sink.registers).max().unwrap_or(0);
        let most = u32::try_from(registers.max(0)).unwrap_or(u32::MAX);
        let search = Search::new(wires, most);
        Router { wires, targets, trees, users: vec![0; wires.len()], history: vec![0; wires.len()], search }
    }

    fn negotiate(&mut self) -> Result<(), RouteError> {
        let mut factor = FIRST_FACTOR;
        let (mut least, mut since) = (usize::MAX, 0);
        for round in 0..ROUNDS {
            let mut lost = Vec::new();
            for number in 0..self.trees.len() {
                let is_congested = |reached: &Reached| self.users[reached.wire as usize] > 1;
                if round == 0 || self.trees[number].reached.iter().any(is_congested) {
                    self.route_tree(number, factor, &mut lost);
                }
            }
            if !lost.is_empty() {
                lost.sort_unstable();
                return Err(RouteError::NoRoute(lost));
            }
            let mut congested = 0;
            for (users, history) in self.users.iter().zip(&mut self.history) {
                if *users > 1 {
                    congested += 1;
                    *history += BASE / 2 * u32::from(*users - 1);
                }
            }
            if congested == 0 {
                return Ok(());
            }
            if congested < least {
                (least, since) = (congested, round);
            } else if round - since >= STALLED_ROUNDS {
                break;
            }
            factor = (factor * GROWTH).min(1e4);
        }
        Err(self.congestion())
    }

    /// The error after the last round.
    fn congestion(&self) -> RouteError {
        let congested: Vec<Wire> =
            (0..self.users.len() as Wire).filter(|wire| self.users[*wire as usize] > 1).collect();
        let on = |wire: Wire| {
            let sinks = self.trees.iter().flat_map(|tree| tree.sinks.iter().map(move |sink| (tree, sink)));
            let through = sinks.filter(|(tree, sink)| {
                let end = sink.end.map(|(end, _)| end);
                std::iter::successors(end, |wire| tree.before(*wire)).any(|other| other == wire)
            });
            through.map(|(_, sink)| sink.connection).collect()
        };
        let connections = congested.iter().map(|wire| on(*wire)).collect();
        let example = self.wires.segment(congested[0]);
        RouteError::Congestion { wires: congested.len(), example, connections }
    }

    /// Takes a net off its wires and routes it again. The numbers of connections without a route go to `lost`.
    fn route_tree(&mut self, number: usize, factor: f32, lost: &mut Vec<usize>) {
        let Router { wires, targets, trees, users, history, search } = self;
        let tree = &mut trees[number];
        for reached in tree.reached.drain(..) {
            users[reached.wire as usize] -= 1;
        }
        tree.before.clear();
        for place in 0..tree.sinks.len() {
            let sink = &tree.sinks[place];
            let branch = u32::try_from(sink.registers).ok().and_then(|registers| {
                let goal = Goal { target: targets.get(sink.target), registers, delay: sink.most_delay };
                let cost = |wire: Wire| {
                    let congestion = 1.0 + factor * f32::from(users[wire as usize]);
                    ((BASE + history[wire as usize]) as f32 * congestion).min(1e6) as u32
                };
                search.branch(wires, &tree.leaving, &tree.reached, goal, cost)
            });
            let Some(branch) = branch else {
                lost.push(sink.connection);
                continue;
            };
            let mut before = branch.from;
            for reached in branch.wires {
                users[reached.wire as usize] += 1;
                tree.reached.push(reached);
                tree.before.push(before);
                before = Some(reached.wire);
            }
            let end = before.expect("a route has a wire");
            tree.sinks[place].end = Some((end, branch.delay));
        }
    }
}
