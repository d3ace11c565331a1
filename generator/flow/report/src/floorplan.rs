//! The picture of a program on an array: its tiles, its nets and the load of the tracks.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_bitstream::{Driver, Netlist as Connections, TileName};
use pushmem_fabric::{Layer, Place, Side};
use pushmem_mapper::{ArrayTarget, Mapped};
use pushmem_netlist::{CellId, Core};
use pushmem_pe::Mode;
use pushmem_resources::{Node, NodeId, Resource};
use serde::Serialize;

/// Units of the picture from a tile to the next, and the side of a tile.
const PITCH: u32 = 60;
const SIDE: u32 = 36;

/// Of the gap between two tiles, the part that tracks share.
const GAP: f64 = 20.0;

/// The part of the array that a program uses, as a picture. It shows what the configuration decodes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Floorplan {
    /// Its columns and rows, in words.
    pub region: String,
    /// Units of the picture across.
    pub width: u32,
    /// Units of the picture from top to bottom.
    pub height: u32,
    /// The side of a tile.
    pub side: u32,
    /// Its tiles.
    pub tiles: Vec<PlacedTile>,
    /// The loads of tracks that are in use.
    pub loads: Vec<Load>,
    /// Its nets.
    pub nets: Vec<NetLines>,
    /// The gap whose tracks are used the most.
    pub busiest: String,
}

/// A tile of the picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlacedTile {
    /// Its corner.
    pub x: u32,
    /// Likewise.
    pub y: u32,
    /// `pe`, `mem` or `io`.
    pub kind: &'static str,
    /// The stage that it computes, an index of [`crate::Contents::stages`].
    pub stage: Option<usize>,
    /// The memory tile of the program that it is, by name.
    pub memory: Option<String>,
    /// The operation; empty if the tile does nothing.
    pub label: String,
    /// All that is known of it.
    pub title: String,
}

/// The load of the tracks from a tile to a neighbour.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Load {
    /// The corner of its rectangle.
    pub x: f64,
    /// Likewise.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// The share of the tracks that are in use.
    pub share: f64,
    /// The tile and the tracks.
    pub title: String,
}

/// A net of the picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NetLines {
    /// `word` or `bit`.
    pub layer: &'static str,
    /// Its lines, as a path of SVG.
    pub path: String,
    /// Its ends.
    pub title: String,
}

impl Floorplan {
    /// The picture of a mapped program; `stages` are the rows of its lowered stages.
    pub(crate) fn of(mapped: &Mapped, target: &ArrayTarget, stages: &[Option<usize>]) -> Self {
        let drawing = Drawing::of(mapped, target, stages);
        let loads = drawing.loads();
        let busiest = loads.iter().max_by(|one, other| one.share.total_cmp(&other.share));
        Floorplan {
            region: drawing.region(),
            width: (drawing.columns.end() + 1 - drawing.columns.start()) * PITCH,
            height: (drawing.rows.end() + 1 - drawing.rows.start()) * PITCH,
            side: SIDE,
            tiles: drawing.tiles(),
            nets: drawing.nets(),
            busiest: busiest.map_or_else(String::new, |load| load.title.clone()),
            loads: loads.into_iter().filter(|load| load.share > 0.0).collect(),
        }
    }
}

/// The drawing: the part of the array that is in use.
struct Drawing<'a> {
    mapped: &'a Mapped,
    target: &'a ArrayTarget,
    /// By lowered stage: its row.
    stages: &'a [Option<usize>],
    columns: std::ops::RangeInclusive<u32>,
    rows: std::ops::RangeInclusive<u32>,
    cells: BTreeMap<Place, Vec<CellId>>,
    /// By output.
    nets: BTreeMap<NodeId, DrawnNet>,
}

/// A net as it is drawn.
#[derive(Default)]
struct DrawnNet {
    /// The inputs that take it, with their registers.
    inputs: Vec<(NodeId, u32)>,
    /// The nodes on the ways to them.
    nodes: BTreeSet<NodeId>,
}

impl<'a> Drawing<'a> {
    fn of(mapped: &'a Mapped, target: &'a ArrayTarget, stages: &'a [Option<usize>]) -> Self {
        let (configuration, graph) = (&mapped.configuration, &target.graph);
        let connections = Connections::of(configuration, graph);
        let mut nets: BTreeMap<NodeId, DrawnNet> = BTreeMap::new();
        for (net, way) in connections.nets.iter().zip(connections.ways(configuration, graph)) {
            if let Driver::Output(output) = net.source {
                let DrawnNet { inputs, nodes } = nets.entry(output).or_default();
                inputs.push((net.input, net.registers));
                nodes.extend(way);
            }
        }
        let mut cells: BTreeMap<Place, Vec<CellId>> = BTreeMap::new();
        for (cell, place) in mapped.implementation.placement.places.iter_enumerated() {
            cells.entry(*place).or_default().push(cell);
        }
        let places = || configuration.tiles.keys().chain(cells.keys());
        let (columns, rows) = (places().map(|place| place.column), places().map(|place| place.row));
        let range = |range: itertools::MinMaxResult<u32>| range.into_option().map_or(0..=0, |(low, high)| low..=high);
        let (columns, rows) = (range(columns.minmax()), range(rows.minmax()));
        Drawing { mapped, target, stages, columns, rows, cells, nets }
    }

    fn region(&self) -> String {
        let (columns, rows) = (&self.columns, &self.rows);
        let spec = &self.target.spec;
        format!(
            "columns {} to {} of {}, rows {} to {} of {}",
            columns.start(),
            columns.end(),
            spec.columns,
            rows.start(),
            rows.end(),
            spec.rows
        )
    }

    /// The corner of a tile.
    fn corner(&self, place: Place) -> (u32, u32) {
        let gap = (PITCH - SIDE) / 2;
        ((place.column - self.columns.start()) * PITCH + gap, (place.row - self.rows.start()) * PITCH + gap)
    }

    fn has(&self, place: Place) -> bool {
        self.columns.contains(&place.column) && self.rows.contains(&place.row)
    }

    fn stage_of(&self, cell: CellId) -> Option<usize> {
        self.mapped.lowered.stages.iter().position(|stage| stage.cells.contains(&cell))
    }

    fn tiles(&self) -> Vec<PlacedTile> {
        let spec = &self.target.spec;
        let tile = |place: Place| {
            let (x, y) = self.corner(place);
            let kind = spec.kind(place)?;
            let cells = self.cells.get(&place).map_or(&[][..], Vec::as_slice);
            let name = TileName { kind, place };
            let told = cells.iter().map(|cell| self.told(*cell)).join("; ");
            Some(PlacedTile {
                x,
                y,
                kind: kind.name(),
                stage: cells.iter().find_map(|cell| self.stages[self.stage_of(*cell)?]),
                memory: cells.iter().find_map(|cell| self.memory(*cell)),
                label: cells.iter().map(|cell| self.label(*cell)).next().unwrap_or_default(),
                title: if told.is_empty() { format!("{name}: no cell") } else { format!("{name}: {told}") },
            })
        };
        spec.places().filter(|place| self.has(*place)).filter_map(tile).collect()
    }

    /// The name of a cell that is a memory.
    fn memory(&self, cell: CellId) -> Option<String> {
        let cell = &self.mapped.lowered.netlist.cells[cell];
        matches!(&cell.core, Core::Memory(memory) if memory.contents.is_empty()).then(|| cell.name.clone())
    }

    /// The work of a cell in a word.
    fn label(&self, cell: CellId) -> String {
        match &self.mapped.lowered.netlist.cells[cell].core {
            // A table beside a held operand hands its enable on.
            Core::Pe(pe) if pe.lut.is_some() && pe.words.iter().all(|word| word.mode != Mode::Held) => "lut".to_owned(),
            Core::Pe(pe) => pe.operation.name().to_owned(),
            Core::Memory(memory) if !memory.contents.is_empty() => "table".to_owned(),
            Core::Memory(_) => "memory".to_owned(),
            Core::Predicate(_) => "bit".to_owned(),
            Core::Input => "in".to_owned(),
            Core::Output => "out".to_owned(),
        }
    }

    /// All that is known of a cell.
    fn told(&self, cell: CellId) -> String {
        let content = &self.mapped.lowered.netlist.cells[cell];
        let work = match &content.core {
            Core::Pe(pe) => {
                let constants = pe.words[..pe.operation.words()].iter().filter(|word| word.mode == Mode::Constant);
                let constants = constants.map(|word| format!(" {}", word.constant)).join(",");
                let lut = pe.lut.map(|lut| format!(", table 0x{lut:02x}")).unwrap_or_default();
                let held = ('a'..).zip(&pe.words).filter(|(_, word)| word.mode == Mode::Held);
                let held = held.map(|(name, _)| format!(", holds {name}")).join("");
                format!("{}{constants}{held}{lut}", pe.operation.name())
            }
            Core::Memory(memory) if !memory.contents.is_empty() => format!("table of {} words", memory.contents.len()),
            Core::Memory(memory) => memory.controllers.keys().join(", "),
            Core::Predicate(_) => "bit of loop indices".to_owned(),
            Core::Input => "words that enter".to_owned(),
            Core::Output => "words that leave".to_owned(),
        };
        let lag = self.mapped.implementation.routing.lags[cell];
        let stage = self.stage_of(cell).map(|stage| format!(" of {}", self.mapped.lowered.stages[stage].name));
        format!("{}{}, {work}, {lag} cycles later than scheduled", content.name, stage.unwrap_or_default())
    }

    /// The middle of a track between a tile and its neighbour, and the direction from one to the other.
    fn lane(&self, Resource { place, layer, node }: Resource) -> Option<(f64, f64, Side)> {
        let Node::Segment { side, track } = node else { return None };
        let tracks = self.target.spec.tracks;
        let count = f64::from(tracks.word + tracks.bit);
        let number = f64::from(track) + if layer == Layer::Bit { f64::from(tracks.word) } else { 0.0 };
        // Each direction has a half of the gap.
        let offset = (number + 0.5) / count * GAP / 2.0 + 1.0;
        let (x, y) = self.corner(place);
        let (middle, half) = (f64::from(SIDE) / 2.0, f64::from(PITCH) / 2.0);
        let (x, y) = (f64::from(x) + middle, f64::from(y) + middle);
        Some(match side {
            Side::North => (x - offset, y - half, side),
            Side::South => (x + offset, y + half, side),
            Side::East => (x + half, y - offset, side),
            Side::West => (x - half, y + offset, side),
        })
    }

    fn nets(&self) -> Vec<NetLines> {
        let graph = &self.target.graph;
        let net = |(output, DrawnNet { inputs, nodes }): (&NodeId, &DrawnNet)| {
            let mut path = String::new();
            let reach = f64::from(PITCH - SIDE) / 2.0 + 5.0;
            for resource in nodes.iter().map(|node| graph.resource(*node)) {
                let Some((x, y, side)) = self.lane(resource) else { continue };
                let (from, to) = match side {
                    Side::North | Side::South => ((x, y - reach), (x, y + reach)),
                    Side::East | Side::West => ((x - reach, y), (x + reach, y)),
                };
                path += &format!("M{:.1} {:.1}L{:.1} {:.1}", from.0, from.1, to.0, to.1);
            }
            // Within a tile a net goes from where it comes in to where it goes on.
            for place in nodes.iter().map(|node| graph.place(*node)).collect::<BTreeSet<Place>>() {
                path += &self.inside(place, nodes);
            }
            let inputs = inputs.iter().map(|(input, registers)| format!("{} after {registers}", self.port(*input)));
            NetLines {
                layer: graph.resource(*output).layer.name(),
                path,
                title: format!("{} to {}", self.port(*output), inputs.collect_vec().join(", ")),
            }
        };
        self.nets.iter().map(net).collect()
    }

    /// The part of a net within a tile: from the middle to each side where it leaves or comes in.
    fn inside(&self, place: Place, nodes: &BTreeSet<NodeId>) -> String {
        let graph = &self.target.graph;
        let (x, y) = self.corner(place);
        let (x, y) = (f64::from(x) + f64::from(SIDE) / 2.0, f64::from(y) + f64::from(SIDE) / 2.0);
        let is_end = nodes
            .iter()
            .map(|node| graph.resource(*node))
            .any(|of| of.place == place && matches!(of.node, Node::Input { .. } | Node::Output { .. }));
        let ends = nodes.iter().map(|node| graph.resource(*node)).filter_map(|of| {
            let Node::Segment { side, .. } = of.node else { return None };
            let (lane_x, lane_y, _) = self.lane(of)?;
            let leaves = of.place == place;
            if !leaves && of.place.neighbour(side) != Some(place) {
                return None;
            }
            let reach = f64::from(SIDE) / 2.0 - 5.0;
            // The side of this tile where the track is.
            let side = if leaves { side } else { side.opposite() };
            Some(match side {
                Side::North => (lane_x, y - reach),
                Side::South => (lane_x, y + reach),
                Side::East => (x + reach, lane_y),
                Side::West => (x - reach, lane_y),
            })
        });
        let ends = ends.collect_vec();
        let (first, rest) = match (is_end, ends.split_first()) {
            (true, _) => ((x, y), &ends[..]),
            (false, Some((first, rest))) => (*first, rest),
            (false, None) => return String::new(),
        };
        rest.iter().map(|end| format!("M{:.1} {:.1}L{:.1} {:.1}", first.0, first.1, end.0, end.1)).collect()
    }

    /// The name of a port with that of its cell.
    fn port(&self, node: NodeId) -> String {
        let graph = &self.target.graph;
        let Resource { place, layer, node: here } = graph.resource(node);
        let kind = graph.kind(place).expect("a node is at the place of a tile");
        let layout = graph.layout(kind);
        let name = match here {
            Node::Input { port } => &layout.inputs(layer)[port as usize].name,
            Node::Output { port } => &layout.outputs(layer)[port as usize].name,
            Node::Segment { .. } | Node::Register { .. } => unreachable!("nets end at ports"),
        };
        let gives = matches!(here, Node::Output { .. });
        let is_of = |cell: &&CellId| match &self.mapped.lowered.netlist.cells[**cell].core {
            Core::Input => gives,
            Core::Output => !gives,
            Core::Predicate(_) => layer == Layer::Bit,
            Core::Memory(_) => layer == Layer::Word,
            Core::Pe(_) => true,
        };
        let cell = self.cells.get(&place).and_then(|cells| cells.iter().find(is_of));
        match cell {
            Some(cell) => format!("{}.{name}", self.mapped.lowered.netlist.cells[*cell].name),
            None => format!("{}.{name}", TileName { kind, place }),
        }
    }

    fn loads(&self) -> Vec<Load> {
        let (graph, tracks) = (&self.target.graph, self.target.spec.tracks);
        let mut used: BTreeMap<(Place, Side), [u32; 2]> = BTreeMap::new();
        for DrawnNet { nodes, .. } in self.nets.values() {
            for Resource { place, layer, node } in nodes.iter().map(|node| graph.resource(*node)) {
                if let Node::Segment { side, .. } = node {
                    used.entry((place, side)).or_default()[layer as usize] += 1;
                }
            }
        }
        let load = |((place, side), [words, bits]): ((Place, Side), [u32; 2])| {
            let (x, y) = self.corner(place);
            let (x, y, size, gap) = (f64::from(x), f64::from(y), f64::from(SIDE), f64::from(PITCH - SIDE));
            let half = size / 2.0;
            let (x, y, width, height) = match side {
                Side::North => (x + half - GAP / 2.0, y - gap, GAP / 2.0, gap),
                Side::South => (x + half, y + size, GAP / 2.0, gap),
                Side::East => (x + size, y + half - GAP / 2.0, gap, GAP / 2.0),
                Side::West => (x - gap, y + half, gap, GAP / 2.0),
            };
            let kind = graph.kind(place).expect("tracks are those of tiles");
            let share = (f64::from(words) / f64::from(tracks.word)).max(f64::from(bits) / f64::from(tracks.bit));
            let title = format!(
                "{} to the {}: {words} of {} tracks of words, {bits} of {} of bits",
                TileName { kind, place },
                side.name(),
                tracks.word,
                tracks.bit
            );
            Load { x, y, width, height, share, title }
        };
        used.into_iter().map(load).collect()
    }
}
