//! The page of a program on an array: its tiles, its nets and the load of the tracks.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use itertools::Itertools;
use pushmem_bitstream::{Netlist as Connections, Source, TileName};
use pushmem_compiler::Compiled;
use pushmem_fabric::{Layer, Place, Side, TileKind};
use pushmem_mapper::{ArrayTarget, Mapped, Report};
use pushmem_netlist::{CellId, Core};
use pushmem_pe::Mode;
use pushmem_resources::{Node, NodeId, Resource};

/// Units of the picture from a tile to the next, and the side of a tile.
const PITCH: u32 = 60;
const SIDE: u32 = 36;

/// Of the gap between two tiles, the part that tracks share.
const GAP: f64 = 20.0;

/// Degrees from the hue of a stage to that of the next: neighbours differ, and no two are the same.
const HUES: f64 = 137.508;

#[derive(Template)]
#[template(path = "array.html")]
struct Page {
    name: String,
    array: String,
    region: String,
    figures: Vec<(&'static str, String)>,
    width: u32,
    height: u32,
    side: u32,
    tiles: Vec<PlacedTile>,
    loads: Vec<Load>,
    nets: Vec<Net>,
    stages: Vec<StageRow>,
    last_cycle: i64,
    busiest: String,
}

/// A tile of the picture.
struct PlacedTile {
    x: u32,
    y: u32,
    kind: &'static str,
    /// The stage it belongs to: the number of its row, or nothing.
    stage: Option<usize>,
    /// The operation, short.
    label: String,
    /// All that is known of it.
    title: String,
}

/// The load of the tracks from a tile to a neighbour.
struct Load {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    /// The share of the tracks that are in use.
    share: f64,
    title: String,
}

/// A net of the picture.
struct Net {
    layer: &'static str,
    path: String,
    title: String,
}

/// A stage of the pipeline.
struct StageRow {
    name: String,
    hue: f64,
    pes: usize,
    memories: usize,
    first: i64,
    last: i64,
    /// Where its bar begins and how long it is, in percent of the run.
    begin: f64,
    length: f64,
    added: String,
}

/// The page of a program on an array: one HTML file that needs no other. It shows what the configuration decodes to.
pub fn array_page(compiled: &Compiled, mapped: &Mapped, target: &ArrayTarget, report: &Report) -> String {
    let drawing = Drawing::of(mapped, target);
    let stages = drawing.stages(report.cycles as i64);
    let loads = drawing.loads();
    let busiest = loads.iter().max_by(|one, other| one.share.total_cmp(&other.share));
    let busiest = busiest.map_or_else(String::new, |load| load.title.clone());
    let page = Page {
        name: compiled.program.name.clone(),
        array: target.spec.name.clone(),
        region: drawing.region(),
        figures: report.lines(),
        width: (drawing.columns.end() + 1 - drawing.columns.start()) * PITCH,
        height: (drawing.rows.end() + 1 - drawing.rows.start()) * PITCH,
        side: SIDE,
        tiles: drawing.tiles(),
        nets: drawing.nets(),
        loads: loads.into_iter().filter(|load| load.share > 0.0).collect(),
        stages,
        last_cycle: report.cycles as i64,
        busiest,
    };
    format!("{}\n", page.render().expect("templates write to memory").trim())
}

/// The drawing: the part of the array that is in use.
struct Drawing<'a> {
    mapped: &'a Mapped,
    target: &'a ArrayTarget,
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
    fn of(mapped: &'a Mapped, target: &'a ArrayTarget) -> Self {
        let (configuration, graph) = (&mapped.configuration, &target.graph);
        let connections = Connections::of(configuration, graph);
        let mut nets: BTreeMap<NodeId, DrawnNet> = BTreeMap::new();
        for (net, way) in connections.nets.iter().zip(connections.ways(configuration, graph)) {
            if let Source::Output(output) = net.source {
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
        Drawing { mapped, target, columns: range(columns.minmax()), rows: range(rows.minmax()), cells, nets }
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
                stage: cells.iter().find_map(|cell| self.stage_of(*cell)),
                label: cells.iter().map(|cell| self.label(*cell)).next().unwrap_or_default(),
                title: if told.is_empty() { format!("{name}: no cell") } else { format!("{name}: {told}") },
            })
        };
        spec.places().filter(|place| self.has(*place)).filter_map(tile).collect()
    }

    /// The work of a cell in a few letters.
    fn label(&self, cell: CellId) -> String {
        match &self.mapped.lowered.netlist.cells[cell].core {
            // A table beside a held operand hands its enable on.
            Core::Pe(pe) if pe.lut.is_some() && pe.words.iter().all(|word| word.mode != Mode::Held) => "lut".to_owned(),
            Core::Pe(pe) => pe.operation.name().chars().take(8).collect(),
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

    fn nets(&self) -> Vec<Net> {
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
            Net {
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

    fn stages(&self, cycles: i64) -> Vec<StageRow> {
        let netlist = &self.mapped.lowered.netlist;
        let lags = &self.mapped.implementation.routing.lags;
        let row = |(number, stage): (usize, &pushmem_mapper::Stage)| {
            let of_kind =
                |kind: TileKind| stage.cells.iter().filter(|cell| netlist.cells[**cell].core.kind() == kind).count();
            let (least, most) = stage.cells.iter().map(|cell| lags[*cell]).minmax().into_option().unwrap_or((0, 0));
            let (first, last) = (stage.first_cycle + least, stage.last_cycle + most);
            let percent = |cycle: i64| 100.0 * cycle as f64 / cycles.max(1) as f64;
            StageRow {
                name: stage.name.clone(),
                hue: (number as f64 * HUES) % 360.0,
                pes: of_kind(TileKind::Pe),
                memories: of_kind(TileKind::Memory),
                first,
                last,
                begin: percent(first),
                length: percent(last - first + 1).max(0.5),
                added: if least == most { format!("{least}") } else { format!("{least} to {most}") },
            }
        };
        self.mapped.lowered.stages.iter().enumerate().map(row).collect()
    }
}
