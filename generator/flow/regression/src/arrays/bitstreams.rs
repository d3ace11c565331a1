//! Random bitstreams, as the configurations that they load.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use pushmem_bitstream::{Configuration, Driver, Net};
use pushmem_configuration::Configuration as MemoryConfiguration;
use pushmem_fabric::{ArraySpec, Direction, Place, Side, TileKind};
use pushmem_files::Document;
use pushmem_pe::Mode;
use pushmem_resources::{Field, Graph, Meaning, MultiplexerInput, Node, NodeId, Resource};
use pushmem_tile::{Kind, TileSpec};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::random::legal_configuration;

/// How often a tile has no job, of all tiles with clock gates.
const IDLE_TILES: f64 = 0.3;

/// A configuration with any values in all fields, and memories at work.
pub fn arbitrary_bitstream(spec: &ArraySpec, graph: &Graph, random: &mut ChaCha8Rng) -> Configuration {
    let mut configuration = Configuration::default();
    let density = random.random_range(0.1..1.0);
    for place in spec.places() {
        // The clocks of tiles without a job stand still.
        if spec.clock_gating && random.random_bool(IDLE_TILES) {
            continue;
        }
        let layout = graph.layout(graph.kind(place).expect("a place of the array"));
        let tile = configuration.tile_mut(graph, place);
        for (value, field) in tile.fields.iter_mut().zip(&layout.fields) {
            if random.random_bool(density) {
                *value = field.value(random.random::<u32>() << field.low);
            }
        }
    }
    add_memories(spec, graph, &mut configuration, random);
    if random.random_bool(0.7) {
        add_streams(spec, graph, &mut configuration, random);
    }
    configuration.tiles.retain(|_, tile| !tile.is_idle());
    configuration
}

/// The configuration without what other columns take from these.
pub fn isolated(graph: &Graph, configuration: &Configuration, columns: &BTreeSet<u32>) -> Configuration {
    let mut isolated = configuration.clone();
    for (place, tile) in isolated.tiles.iter_mut().filter(|(place, _)| !columns.contains(&place.column)) {
        let is_theirs = |side: Side| place.neighbour(side).is_some_and(|there| columns.contains(&there.column));
        let layout = graph.layout(graph.kind(*place).expect("tiles are those of the array"));
        for local in &layout.locals {
            let Some(field) = local.field else { continue };
            let index = tile.fields[field].checked_sub(local.first_value);
            if let Some(MultiplexerInput::Incoming { side, .. }) =
                index.and_then(|index| local.choices.get(index as usize))
                && is_theirs(*side)
            {
                tile.fields[field] = 0;
            }
        }
    }
    isolated.tiles.retain(|_, tile| !tile.is_idle());
    isolated
}

/// Routes from outputs of cores to inputs of others, drawn step by step, with an operation for each processing element; and the
/// connections that they make.
pub fn routed_bitstream(spec: &ArraySpec, graph: &Graph, random: &mut ChaCha8Rng) -> (Configuration, Vec<Net>) {
    let mut configuration = Configuration::default();
    let outputs: Vec<NodeId> =
        graph.nodes().filter(|node| matches!(graph.resource(*node).node, Node::Output { .. })).collect();
    let mut used = BTreeSet::new();
    let mut nets: BTreeMap<NodeId, Net> = BTreeMap::new();
    for _ in 0..random.random_range(1..2 * outputs.len()) {
        let source = *outputs.choose(random).expect("cores have outputs");
        if let Some((input, steps)) = walk(graph, source, &used, random) {
            let is_register = |node: &&NodeId| matches!(graph.resource(**node).node, Node::Register { .. });
            let registers = steps.iter().filter(is_register).count() as u32;
            for pair in steps.windows(2) {
                configuration.connect(graph, pair[0], pair[1]).expect("steps follow edges");
            }
            used.extend(steps.iter().skip(1));
            nets.insert(input, Net { input, source: Driver::Output(source), registers });
        }
    }
    for input in nets.keys().copied() {
        let Resource { place, layer, node: Node::Input { port } } = graph.resource(input) else { continue };
        let Some(kind) = graph.kind(place) else { continue };
        let layout = graph.layout(kind);
        // Operands have modes; other inputs have none.
        if let Some(mode) = layout.field(Meaning::Mode { layer, operand: port }) {
            let takes_track = |number: &u32| layout.mode(layer, port, *number).takes_track();
            let numbers: Vec<u32> = (0..spec.pe.modes().count()).filter(takes_track).collect();
            let number = *numbers.choose(random).expect("operands can be direct");
            configuration.tile_mut(graph, place).fields[mode] = number;
        }
    }
    add_operations(spec, graph, &mut configuration, random);
    add_memories(spec, graph, &mut configuration, random);
    if random.random_bool(0.7) {
        add_streams(spec, graph, &mut configuration, random);
    }
    configuration.tiles.retain(|_, tile| !tile.is_idle());
    (configuration, nets.into_values().collect())
}

/// Gives each processing element an operation, and often constants and a table.
fn add_operations(spec: &ArraySpec, graph: &Graph, configuration: &mut Configuration, random: &mut ChaCha8Rng) {
    let layout = graph.layout(TileKind::Pe);
    let opcodes = spec.pe.operations.iter().filter_map(|operation| spec.pe.opcode(*operation)).collect_vec();
    for place in of_kind(spec, TileKind::Pe) {
        let has_table = random.random_bool(0.3);
        let tile = configuration.tile_mut(graph, place);
        for (value, field) in tile.fields.iter_mut().zip(&layout.fields) {
            match field.meaning {
                Meaning::Operation => *value = opcodes[random.random_range(0..opcodes.len())] as u32,
                Meaning::Constant { .. } if random.random_bool(0.6) => {
                    *value = field.value(random.random::<u32>() << field.low);
                }
                // An operand without a route accumulates.
                Meaning::Mode { layer, operand } if *value == 0 && random.random_bool(0.3) => {
                    let accumulated = layout.mode_number(Mode::Accumulated);
                    if layout.mode(layer, operand, accumulated) == Mode::Accumulated {
                        *value = accumulated;
                    }
                }
                Meaning::Lut | Meaning::LutSelected if has_table => {
                    *value = field.value(random.random::<u32>() << field.low);
                }
                _ => {}
            }
        }
    }
}

/// A way from an output to an input over nodes that are free, if the steps drawn lead to one.
fn walk(
    graph: &Graph,
    source: NodeId,
    used: &BTreeSet<NodeId>,
    random: &mut ChaCha8Rng,
) -> Option<(NodeId, Vec<NodeId>)> {
    let mut steps = vec![source];
    for _ in 0..40 {
        let last = *steps.last().expect("the source is the first");
        let free: Vec<NodeId> = graph
            .sinks(last)
            .iter()
            .map(|edge| edge.node)
            .filter(|node| !used.contains(node) && !steps.contains(node))
            .collect();
        let next = *free.choose(random)?;
        steps.push(next);
        if matches!(graph.resource(next).node, Node::Input { .. }) {
            return Some((next, steps));
        }
    }
    None
}

fn of_kind(spec: &ArraySpec, kind: TileKind) -> impl Iterator<Item = Place> {
    spec.places().filter(move |place| spec.kind(*place) == Some(kind))
}

/// Puts memories to work: as a table, as a delay line, or in any way that keeps all promises.
fn add_memories(spec: &ArraySpec, graph: &Graph, configuration: &mut Configuration, random: &mut ChaCha8Rng) {
    let places =
        spec.memories_by_kind().flat_map(|(kind, memory)| of_kind(spec, kind).map(move |place| (place, memory)));
    for (place, memory) in places {
        if random.random_bool(0.3) {
            continue;
        }
        let legal = if random.random_bool(0.3) { legal_configuration(memory, random) } else { None };
        let chosen = legal.unwrap_or_else(|| {
            let start = random.random_range(0..20);
            let text = match memory.rom_mode && random.random_bool(0.4) {
                true => table(memory, start, random),
                false => delay_line(memory, start, random.random_range(0..9)),
            };
            let document = Document::parse("memory.yaml", text).expect("it is YAML");
            MemoryConfiguration::from_document(&document, memory).unwrap_or_else(|error| panic!("{error:?}"))
        });
        configuration.tile_mut(graph, place).memory = Some(chosen);
    }
}

/// A predicate beside what a memory does, if the tile has the bit for it.
fn predicate(tile: &TileSpec, start: u32) -> String {
    match tile.stencil_valid {
        true => format!("  stencil_valid: {{extent: [5, 7], cycle: {{start: {start}, stride: [2, 13]}}}}\n"),
        false => String::new(),
    }
}

/// A configuration whose memory is a table, read in most cycles.
fn table(tile: &TileSpec, start: u32, random: &mut ChaCha8Rng) -> String {
    let mask = u32::MAX >> (u32::BITS - tile.word_bits);
    let words: Vec<u32> =
        (0..tile.table_words().expect("tables have contents")).map(|_| random.random::<u32>() & mask).collect();
    let predicate = predicate(tile, start);
    format!(
        "tile: {}\ncontrollers:\n  rom2out_0: {{extent: [3, 40], cycle: {{start: {start}, stride: [1, 4]}}}}\n{predicate}contents: \
         {words:?}\n",
        tile.name
    )
}

/// A configuration that writes 64 words, or as many as a register file has rows, and reads them some cycles later.
fn delay_line(tile: &TileSpec, start: u32, later: u32) -> String {
    let (name, predicate) = (&tile.name, predicate(tile, start));
    let head = format!("tile: {name}\ncontrollers:\n");
    match tile.kind {
        Kind::WideFetch { .. } => {
            let (write, fetch, read) = (start + 4, start + 7 + later, start + 12 + later);
            // The fetch takes a cycle that the write does not.
            let fetch = if fetch % 4 == write % 4 { fetch + 1 } else { fetch };
            format!(
                "{head}  in2agg_0: {{extent: [64], cycle: {{start: {start}, stride: [1]}}, agg: {{start: 0, stride: [1]}}}}\n  \
                 agg2sram_0: {{extent: [16], cycle: {{start: {write}, stride: [4]}}, agg: {{start: 0, stride: [1]}}, sram: {{start: 0, stride: [1]}}}}\n  \
                 sram2tb_0: {{extent: [16], cycle: {{start: {fetch}, stride: [4]}}, sram: {{start: 0, stride: [1]}}, tb: {{start: 0, stride: [1]}}}}\n  \
                 tb2out_0: {{extent: [64], cycle: {{start: {read}, stride: [1]}}, tb: {{start: 0, stride: [1]}}}}\n{predicate}"
            )
        }
        Kind::RegisterFile => format!(
            "{head}  in2rf_0: {{extent: [{rows}], cycle: {{start: {start}, stride: [1]}}, register_file: {{start: 0, stride: [1]}}}}\n  \
             rf2out_0: {{extent: [{rows}], cycle: {{start: {}, stride: [1]}}, register_file: {{start: 0, stride: [1]}}}}\n{predicate}",
            start + 1 + later,
            rows = tile.rows
        ),
        _ => format!(
            "{head}  in2sram_0: {{extent: [64], cycle: {{start: {start}, stride: [1]}}, sram: {{start: 0, stride: [1]}}}}\n  \
             sram2out_0: {{extent: [64], cycle: {{start: {}, stride: [1]}}, sram: {{start: 0, stride: [1]}}}}\n{predicate}",
            start + 1 + later
        ),
    }
}

/// Gives IO tiles streams that have beats within some cycles; some have none.
fn add_streams(spec: &ArraySpec, graph: &Graph, configuration: &mut Configuration, random: &mut ChaCha8Rng) {
    for column in 0..spec.columns {
        let place = Place { row: 0, column };
        for direction in Direction::ALL {
            let layout = graph.layout(TileKind::Io);
            let tile = configuration.tile_mut(graph, place);
            let stream = |field: &Field| field.meaning.stream() == Some(direction);
            let fields = layout.fields.iter().zip(&mut tile.fields).filter(|(field, _)| stream(field));
            fields.for_each(|(_, value)| *value = 0);
            if random.random_bool(0.2) {
                continue;
            }
            let step = random.random_range(1..4);
            let (inner, outer) = (random.random_range(1..12), random.random_range(1..5));
            let text = format!(
                "{{extent: [{inner}, {outer}], cycle: {{start: {}, stride: [{step}, {}]}}}}",
                random.random_range(0..12),
                step * (inner - 1) + random.random_range(1..9)
            );
            let beats =
                Document::parse("beats.yaml", text).and_then(|document| document.deserialize()).expect("a schedule");
            tile.set_stream(spec, layout, direction, &beats).expect("controllers of streams take short schedules");
        }
    }
}
