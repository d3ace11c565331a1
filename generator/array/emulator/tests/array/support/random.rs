//! Random configurations and cycles.

use std::collections::{BTreeMap, BTreeSet};

use pushmem_bitstream::{Configuration, Net, Source};
use pushmem_configuration::Configuration as MemoryConfiguration;
use pushmem_emulator::{Beat, Inputs, StreamInputs};
use pushmem_fabric::{ArraySpec, Direction, Place, TileKind};
use pushmem_files::Document;
use pushmem_resources::{Address, CLEAR, DIGEST, Feature, Field, Graph, Meaning, Node, NodeId, Resource};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::{Bench, Cycle};

/// A configuration with any values in all fields, and memories at work.
pub fn configuration(spec: &ArraySpec, graph: &Graph, random: &mut ChaCha8Rng) -> Configuration {
    let mut configuration = Configuration::default();
    let density = random.random_range(0.1..1.0);
    for place in spec.places() {
        let layout = graph.layout(graph.kind(place).unwrap());
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

/// Gives memories a stream each that they delay.
fn add_memories(spec: &ArraySpec, graph: &Graph, configuration: &mut Configuration, random: &mut ChaCha8Rng) {
    let Some(memory) = &spec.memory else { return };
    for place in spec.places().filter(|place| spec.kind(*place) == Some(TileKind::Memory)) {
        if random.random_bool(0.7) {
            let (start, later) = (random.random_range(0..20), random.random_range(0..9));
            let text = delay_line(&memory.tile, start, later);
            let document = Document::parse("memory.yaml", text).unwrap();
            let delay =
                MemoryConfiguration::from_document(&document, &memory.tile).unwrap_or_else(|error| panic!("{error}"));
            configuration.tile_mut(graph, place).memory = Some(delay);
        }
    }
}

/// A configuration that writes 64 words, and reads them some cycles later.
fn delay_line(tile: &pushmem_tile::TileSpec, start: u32, later: u32) -> String {
    let name = &tile.name;
    let head = format!("tile: {name}\ncontrollers:\n");
    match tile.kind {
        pushmem_tile::Kind::WideFetch { .. } => {
            let (write, fetch, read) = (start + 4, start + 7 + later, start + 12 + later);
            // The fetch takes a cycle that the write does not.
            let fetch = if fetch % 4 == write % 4 { fetch + 1 } else { fetch };
            format!(
                "{head}  in2agg_0: {{extent: [64], cycle: {{start: {start}, stride: [1]}}, agg: {{start: 0, stride: [1]}}}}\n  \
                 agg2sram_0: {{extent: [16], cycle: {{start: {write}, stride: [4]}}, agg: {{start: 0, stride: [1]}}, sram: {{start: 0, stride: [1]}}}}\n  \
                 sram2tb_0: {{extent: [16], cycle: {{start: {fetch}, stride: [4]}}, sram: {{start: 0, stride: [1]}}, tb: {{start: 0, stride: [1]}}}}\n  \
                 tb2out_0: {{extent: [64], cycle: {{start: {read}, stride: [1]}}, tb: {{start: 0, stride: [1]}}}}\n  \
                 stencil_valid: {{extent: [5, 7], cycle: {{start: {start}, stride: [2, 13]}}}}\n"
            )
        }
        _ => format!(
            "{head}  in2sram_0: {{extent: [64], cycle: {{start: {start}, stride: [1]}}, sram: {{start: 0, stride: [1]}}}}\n  \
             sram2out_0: {{extent: [64], cycle: {{start: {}, stride: [1]}}, sram: {{start: 0, stride: [1]}}}}\n",
            start + 1 + later
        ),
    }
}

/// Routes from outputs of cores to inputs of others, drawn step by step, with an operation for each processing element; and the
/// connections that they make.
pub fn routed(spec: &ArraySpec, graph: &Graph, random: &mut ChaCha8Rng) -> (Configuration, Vec<Net>) {
    let mut configuration = Configuration::default();
    let outputs: Vec<NodeId> =
        graph.nodes().filter(|node| matches!(graph.resource(*node).node, Node::Output { .. })).collect();
    let mut used = BTreeSet::new();
    let mut nets: BTreeMap<NodeId, Net> = BTreeMap::new();
    for _ in 0..random.random_range(1..2 * outputs.len()) {
        let source = *outputs.choose(random).unwrap();
        if let Some((input, steps)) = walk(graph, source, &used, random) {
            let is_register = |node: &&NodeId| matches!(graph.resource(**node).node, Node::Register { .. });
            let registers = steps.iter().filter(is_register).count() as u32;
            for pair in steps.windows(2) {
                configuration.connect(graph, pair[0], pair[1]).unwrap();
            }
            used.extend(steps.iter().skip(1));
            nets.insert(input, Net { input, source: Source::Output(source), registers });
        }
    }
    let late = nets.keys().copied().collect::<Vec<_>>();
    for input in late {
        let Resource { place, layer, node: Node::Input { port } } = graph.resource(input) else { panic!("an input") };
        if graph.kind(place) == Some(TileKind::Pe) {
            let layout = graph.layout(TileKind::Pe);
            let mode = layout.field(Meaning::Mode { layer, operand: port }).unwrap();
            configuration.tile_mut(graph, place).fields[mode] = random.random_range(1..2 + spec.pe.operand_delay);
        }
    }
    for place in spec.places().filter(|place| spec.kind(*place) == Some(TileKind::Pe)) {
        let operation = graph.layout(TileKind::Pe).field(Meaning::Operation).unwrap();
        let operations = spec.pe.operations.len() as u32;
        configuration.tile_mut(graph, place).fields[operation] = random.random_range(0..operations);
    }
    add_memories(spec, graph, &mut configuration, random);
    if random.random_bool(0.7) {
        add_streams(spec, graph, &mut configuration, random);
    }
    configuration.tiles.retain(|_, tile| !tile.is_idle());
    (configuration, nets.into_values().collect())
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
        let last = *steps.last().unwrap();
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

/// The cycles that load a configuration while time stands still, then start a run, and `count` cycles of the run with random
/// streams, stalls and accesses to registers.
pub fn cycles(bench: &Bench, configuration: &Configuration, count: usize, random: &mut ChaCha8Rng) -> Vec<Cycle> {
    let (spec, depth) = (bench.spec(), bench.spec().control_depth as usize);
    let stalled = Inputs { stall: true, ..Inputs::default() };
    let still = Cycle { inputs: stalled.clone(), ..Cycle::default() };
    // The tiles must stand still before the first write.
    let mut cycles = vec![still.clone(); depth + 1];
    for write in configuration.encode(spec, bench.graph()).unwrap().writes {
        let (address, data) = (write.address, write.data);
        cycles.push(Cycle { write: true, address, data, answer: Some(0), ..still.clone() });
    }
    cycles.push(Cycle { inputs: Inputs { flush: true, ..stalled }, ..Cycle::default() });
    let start = cycles.len() - 1;
    // Sources and sinks of different speed.
    let rates: Vec<[f64; 2]> = (0..spec.columns).map(|_| [rate(random), rate(random)]).collect();
    for _ in 0..count {
        let stream = |random: &mut ChaCha8Rng, [offers, takes]: [f64; 2]| StreamInputs {
            beat: random.random_bool(offers).then(|| beat(spec, random)),
            ready: random.random_bool(takes),
        };
        let streams = rates.iter().map(|rates| stream(random, *rates)).collect();
        let inputs = Inputs { flush: false, stall: random.random_bool(0.15), streams };
        let access = if random.random_bool(0.3) { access(bench, configuration, random) } else { Cycle::default() };
        // Beats that come before the flush are of no run.
        let is_running = cycles.len() >= start + depth;
        let inputs = if is_running { inputs } else { Inputs { streams: Vec::new(), ..inputs } };
        cycles.push(Cycle { inputs, ..access });
    }
    cycles[..start + depth].iter_mut().for_each(|cycle| cycle.is_loading = true);
    // The tiles have it from the cycle on in which the flush reaches them.
    cycles[start + depth].configured = Some(configuration.clone());
    cycles
}

/// How often a source has a beat, or a sink takes one: often always.
fn rate(random: &mut ChaCha8Rng) -> f64 {
    if random.random_bool(0.4) { 1.0 } else { random.random_range(0.2..1.0) }
}

fn beat(spec: &ArraySpec, random: &mut ChaCha8Rng) -> Beat {
    Beat { data: random.random::<u32>() & (u32::MAX >> (32 - spec.word_bits())), bit: random.random() }
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
            let beats = Document::parse("beats.yaml", text).unwrap().deserialize().unwrap();
            tile.set_stream(spec, layout, direction, &beats).unwrap();
        }
    }
}

/// A read of some register, or a write to an address that does not exist.
fn access(bench: &Bench, configuration: &Configuration, random: &mut ChaCha8Rng) -> Cycle {
    let (spec, graph) = (bench.spec(), bench.graph());
    if random.random_bool(0.1) {
        return Cycle { read: true, address: DIGEST.word(), answer: Some(spec.digest_word()), ..Cycle::default() };
    }
    let address = Address {
        row: random.random_range(0..=spec.rows + 1),
        column: random.random_range(0..=spec.columns),
        feature: random.random_range(0..5),
        register: random.random_range(0..5),
    };
    let is_memory_register = |address: Address| {
        let layout = graph.kind(address.place()).map(|kind| graph.layout(kind));
        layout.is_some_and(|layout| {
            address.feature == Feature::Core.number() && address.register < layout.memory_registers()
        })
    };
    // Tests of memory tiles read registers of memories.
    if is_memory_register(address) {
        return Cycle::default();
    }
    let answer = read(graph, configuration, address);
    let write = answer.is_none() && random.random() && address != CLEAR;
    Cycle { write, read: !write, address: address.word(), data: random.random(), answer, ..Cycle::default() }
}

/// The contents of a register, if there is one.
fn read(graph: &Graph, configuration: &Configuration, address: Address) -> Option<u32> {
    let Place { row, column } = address.place();
    let place = Place { row, column };
    let layout = graph.layout(graph.kind(place)?);
    let fields = layout.fields.iter().enumerate();
    let here =
        fields.filter(|(_, field)| (field.feature.number(), field.register) == (address.feature, address.register));
    let tile = configuration.tiles.get(&place);
    let values = here.map(|(index, field)| tile.map_or(0, |tile| tile.fields[index]) << field.low);
    values.reduce(|all, value| all | value)
}
