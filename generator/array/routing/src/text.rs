//! Routings as text.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use pushmem_affine::beyond_largest;
use pushmem_bitstream::TileName;
use pushmem_fabric::{ArraySpec, Layer, Side};
use pushmem_files::{Code, Diagnostic, Document, Fault, FieldPath};
use pushmem_netlist::{Connection, Netlist};
use pushmem_placement::Placement;
use pushmem_resources::{Graph, Node, NodeId, Resource};
use pushmem_starts::registers;
use serde::Deserialize;

use crate::demands::ends;
use crate::routing::{Route, Routing};

/// The end of the name of a track that passes around its register.
const PASSING: &str = ".passing";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoutingFile {
    netlist: String,
    array: String,
    lags: BTreeMap<String, i64>,
    routes: Vec<RouteFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RouteFile {
    from: String,
    to: String,
    #[serde(default)]
    delay: u32,
    tracks: Vec<String>,
}

impl Routing {
    /// The routing as YAML: the lag of each cell, and for each connection the tracks that it takes. Reading it for the same
    /// placed netlist gives the same routing.
    pub fn to_yaml(&self, netlist: &Netlist, spec: &ArraySpec, graph: &Graph) -> String {
        let mut text = format!("netlist: {}\narray: {}\nlags:", netlist.name, spec.name);
        text += if netlist.cells.is_empty() { " {}\n" } else { "\n" };
        for (cell, lag) in netlist.cells.iter().zip(&self.lags) {
            writeln!(text, "  {}: {lag}", cell.name).expect("writing to a string cannot fail");
        }
        text += if self.nets.iter().all(Vec::is_empty) { "routes: []\n" } else { "routes:\n" };
        for connection in netlist.connections() {
            let Route { nodes, delay } = &self.nets[connection.net][connection.place];
            let late = if *delay > 0 { format!(", delay: {delay}") } else { String::new() };
            let (from, to) = ports(netlist, graph, &connection);
            let tracks = tracks(graph, nodes).join(", ");
            writeln!(text, "  - {{from: {from}, to: {to}{late}, tracks: [{tracks}]}}").expect("as above");
        }
        text
    }

    /// Reads the routing of a placed netlist, and checks it.
    ///
    /// # Errors
    /// A located message when a name is unknown, or [`Routing::check`] finds a fault.
    pub fn from_document(
        document: &Document,
        netlist: &Netlist,
        spec: &ArraySpec,
        graph: &Graph,
        placement: &Placement,
    ) -> Result<Self, Diagnostic> {
        let file: RoutingFile = document.deserialize()?;
        let located = |fault: Fault| fault.located(document, Code::Configuration);
        let reader = Reader { netlist, spec, graph, placement };
        let routing = reader.routing(&file).map_err(located)?;
        routing.check(netlist, spec, graph, placement).map_err(located)?;
        Ok(routing)
    }

    /// Checks that each route leads from its output to its input over multiplexers that are there, with as many registers as the
    /// lags say, and that no node carries two nets.
    ///
    /// # Errors
    /// The first route for which that is not so.
    pub fn check(
        &self,
        netlist: &Netlist,
        spec: &ArraySpec,
        graph: &Graph,
        placement: &Placement,
    ) -> Result<(), Fault> {
        let mut taken: HashMap<NodeId, NodeId> = HashMap::new();
        for (connection, number) in netlist.connections().zip(0..) {
            let path = FieldPath::root().key("routes").index(number);
            let tracks = path.key("tracks");
            let Route { nodes, delay } = &self.nets[connection.net][connection.place];
            let has_ends = nodes.len() > 1
                && ends(placement, graph, &connection)
                    .is_some_and(|(output, input)| nodes.first() == Some(&output) && nodes.last() == Some(&input));
            if !has_ends {
                let message = format!("the route does not lead from {}", netlist.connection_name(&connection));
                return Err(Fault::new(
                    tracks,
                    message,
                    "start at the tile of the source, and end beside that of the sink",
                ));
            }
            for pair in nodes.windows(2) {
                if !graph.sources(pair[1]).iter().any(|edge| edge.node == pair[0]) {
                    let message = format!("{} cannot take {}", graph.name(pair[1]), graph.name(pair[0]));
                    return Err(Fault::new(tracks, message, "follow the multiplexers of the array, hop by hop"));
                }
                if taken.insert(pair[1], pair[0]).is_some_and(|before| before != pair[0]) {
                    let message = format!("{} takes something else on another route", graph.name(pair[1]));
                    return Err(Fault::new(tracks, message, "give each net tracks of its own"));
                }
            }
            let most = netlist.most_delay(spec, &connection);
            if *delay > most {
                let message = format!("this input can be late by {most} at most");
                return Err(Fault::new(path.key("delay"), message, "take a longer way instead"));
            }
            let is_register = |node: &&NodeId| matches!(graph.resource(**node).node, Node::Register { .. });
            let on_tracks = nodes.iter().filter(is_register).count() as u32;
            let (found, wanted) = (i64::from(on_tracks + delay), registers(&self.lags, &connection));
            if found != wanted {
                let message = format!("the route has {found} registers; its cells' lags ask for {wanted}");
                return Err(Fault::new(tracks, message, "take another way, or change `lags`"));
            }
        }
        Ok(())
    }
}

/// The names of the ports of a connection.
fn ports(netlist: &Netlist, graph: &Graph, connection: &Connection) -> (String, String) {
    let layer = connection.of.layer;
    let [source, sink] = [connection.of.source, connection.sink.cell].map(|cell| &netlist.cells[cell]);
    let output = &graph.layout(source.core.kind()).cell_outputs(layer)[connection.of.port as usize].name;
    let input = &graph.layout(sink.core.kind()).cell_inputs(layer)[connection.sink.port as usize].name;
    (format!("{}.{}.{output}", source.name, layer.name()), format!("{}.{}.{input}", sink.name, layer.name()))
}

/// The names of the tracks of a route.
fn tracks(graph: &Graph, nodes: &[NodeId]) -> Vec<String> {
    let mut names = Vec::new();
    for pair in nodes.windows(2) {
        let Resource { place, node: Node::Segment { side, track }, .. } = graph.resource(pair[1]) else { continue };
        let kind = graph.kind(place).expect("a node is at the place of a tile");
        let is_registered = matches!(graph.resource(pair[0]).node, Node::Register { .. });
        let passing = if is_registered { "" } else { PASSING };
        names.push(format!("{}.{}_{track}{passing}", TileName { kind, place }, side.name()));
    }
    names
}

struct Reader<'a> {
    netlist: &'a Netlist,
    spec: &'a ArraySpec,
    graph: &'a Graph,
    placement: &'a Placement,
}

impl Reader<'_> {
    fn routing(&self, file: &RoutingFile) -> Result<Routing, Fault> {
        let Reader { netlist, spec, graph, placement } = self;
        let root = FieldPath::root();
        for (key, found, wanted) in [("netlist", &file.netlist, &netlist.name), ("array", &file.array, &spec.name)] {
            if found != wanted {
                let message = format!("these routes are for `{found}`, not for `{wanted}`");
                return Err(Fault::new(root.key(key), message, "read them together with the files they were made for"));
            }
        }
        let lag = |cell: &pushmem_netlist::Cell| {
            file.lags.get(&cell.name).copied().ok_or_else(|| {
                let message = format!("`{}` has no lag", cell.name);
                Fault::new(root.key("lags"), message, "give each cell its lag")
            })
        };
        let lags = netlist.cells.iter().map(lag).collect::<Result<_, _>>()?;
        if let Some((name, message)) = file.lags.iter().find_map(|(name, lag)| Some((name, beyond_largest(*lag)?))) {
            return Err(Fault::new(root.key("lags").key(name), message, "cells start within the cycles of a run"));
        }
        if let Some(name) = file.lags.keys().find(|name| netlist.cells.iter().all(|cell| cell.name != **name)) {
            let path = root.key("lags").key(name);
            return Err(Fault::new(path, format!("the netlist has no cell `{name}`"), "remove the line"));
        }
        let mut routing = Routing { lags, nets: netlist.nets.iter().map(|_| Vec::new()).collect() };
        let mut routes = file.routes.iter().zip(0..);
        for connection in netlist.connections() {
            let (from, to) = ports(netlist, graph, &connection);
            let Some((route, number)) = routes.next() else {
                let message = format!("there is no route from {from} to {to}");
                return Err(Fault::new(root.key("routes"), message, "routes are in the order of nets and their sinks"));
            };
            let path = root.key("routes").index(number);
            for (key, found, wanted) in [("from", &route.from, from), ("to", &route.to, to)] {
                if *found != wanted {
                    let help = "routes are in the order of nets and their sinks";
                    return Err(Fault::new(path.key(key), format!("expected the route of `{wanted}`"), help));
                }
            }
            let Some((output, input)) = ends(placement, graph, &connection) else {
                return Err(Fault::new(path, "the tiles of the cells do not have these ports", "check the placement"));
            };
            let mut nodes = vec![output];
            for (name, place) in route.tracks.iter().zip(0..) {
                let path = path.key("tracks").index(place);
                nodes.extend(self.track(connection.of.layer, name).ok_or_else(|| {
                    let help = "tracks are named by tile, side and number, as `pe_0_1.east_3`; `.passing` is one without \
                                its register";
                    Fault::new(path, format!("`{}` has no track `{name}`", spec.name), help)
                })?);
            }
            nodes.push(input);
            routing.nets[connection.net].push(Route { nodes, delay: route.delay });
        }
        match routes.next() {
            Some((_, number)) => {
                let path = root.key("routes").index(number);
                Err(Fault::new(path, "the netlist has no connection for this route", "remove it"))
            }
            None => Ok(routing),
        }
    }

    /// The nodes of a track: its register, unless it passes around it, and its segment.
    fn track(&self, layer: Layer, name: &str) -> Option<Vec<NodeId>> {
        let (name, is_passing) = name.strip_suffix(PASSING).map_or((name, false), |name| (name, true));
        let (tile, track) = name.split_once('.')?;
        let TileName { place, kind } = TileName::parse(tile)?;
        let (side, track) = track.split_once('_')?;
        let side = Side::ALL.into_iter().find(|other| other.name() == side)?;
        let track = track.parse().ok()?;
        let node = |node: Node| {
            let is_here = self.graph.kind(place) == Some(kind);
            self.graph.node(Resource { place, layer, node }).filter(|_| is_here)
        };
        let segment = node(Node::Segment { side, track })?;
        match is_passing {
            true => Some(vec![segment]),
            false => Some(vec![node(Node::Register { side, track })?, segment]),
        }
    }
}
