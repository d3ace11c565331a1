//! Random arrays can be built and differ; random routes are those that they say; and how fast the model runs them.

use std::collections::BTreeSet;
use std::time::Instant;

use pushmem_bitstream::{Configuration, Netlist, decode};
use pushmem_emulator::{Emulator, Inputs, StreamInputs};
use pushmem_fabric::{ArraySpec, TileKind};
use pushmem_regression::arrays::{arbitrary_bitstream, random_array, routed_bitstream};
use pushmem_resources::Graph;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn array(seed: u64) -> ArraySpec {
    random_array(8, &mut ChaCha8Rng::seed_from_u64(seed)).0
}

/// Each choice of a specification is there, and each shape from 2 x 2 to 8 x 8 tiles.
#[test]
fn random_arrays_are_of_all_kinds() {
    let specs: Vec<ArraySpec> = (0..1000).map(array).collect();
    let count = |choice: fn(&ArraySpec) -> u32| specs.iter().map(choice).collect::<BTreeSet<u32>>();
    let shapes: BTreeSet<(u32, u32)> = specs.iter().map(|spec| (spec.columns, spec.rows)).collect();
    assert_eq!(shapes.len(), 49);
    assert_eq!(count(|spec| spec.hop_limit), [1, 2, 4].into());
    assert_eq!(count(ArraySpec::word_bits), [8, 16, 32].into());
    assert_eq!(count(|spec| spec.tracks.word), (1..=5).collect());
    assert_eq!(count(|spec| spec.control_depth), (1..=4).collect());
    assert_eq!(count(|spec| u32::from(spec.memory.is_some())), [0, 1].into());
    assert_eq!(count(|spec| u32::from(spec.register_file.is_some())), [0, 1].into());
    assert_eq!(count(|spec| spec.columns / spec.block.columns), (1..=8).collect());
}

/// The netlist of routes has the connections that were drawn, also from the bitstream.
#[test]
fn netlists_are_those_that_were_routed() {
    for seed in 0..30 {
        let (spec, random) = (array(seed), &mut ChaCha8Rng::seed_from_u64(seed));
        let graph = Graph::of(&spec);
        for _ in 0..10 {
            let (configuration, mut nets) = routed_bitstream(&spec, &graph, random);
            let bitstream = configuration.encode(&spec, &graph).unwrap();
            let decoded = decode(&bitstream, &spec, &graph).unwrap();
            let mut found = Netlist::of(&decoded, &graph).nets;
            nets.sort_by_key(|net| net.input);
            found.sort_by_key(|net| net.input);
            assert_eq!(found, nets);
        }
    }
}

/// Bitstreams without any sense use all kinds of tiles, and are read back as they are.
#[test]
fn arbitrary_bitstreams_are_read_back() {
    let mut kinds = BTreeSet::new();
    for seed in 0..60 {
        let (spec, random) = (array(seed), &mut ChaCha8Rng::seed_from_u64(seed));
        let graph = Graph::of(&spec);
        let configuration = arbitrary_bitstream(&spec, &graph, random);
        kinds.extend(configuration.tiles.keys().filter_map(|place| graph.kind(*place)));
        let bitstream = configuration.encode(&spec, &graph).unwrap();
        let decoded = decode(&bitstream, &spec, &graph).unwrap();
        // Addresses of memories are read back modulo their sizes.
        assert_eq!(decoded.encode(&spec, &graph).unwrap().writes, bitstream.writes);
    }
    assert_eq!(kinds, TileKind::ALL.into());
}

/// Random routes on arrays of the size of harris, of which each processing element has some.
#[test]
#[ignore = "a measurement"]
fn cycles_a_second() {
    for seed in (0..).filter(|seed| array(*seed).count(TileKind::Pe) > 40).take(4) {
        let (spec, random) = (array(seed), &mut ChaCha8Rng::seed_from_u64(seed));
        let graph = Graph::of(&spec);
        let (mut configuration, nets): (Configuration, _) = routed_bitstream(&spec, &graph, random);
        // Streams end soon; without them nothing stands still.
        configuration.tiles.retain(|place, _| place.row > 0);
        let mut model = Emulator::new(&spec, graph);
        model.configure(&configuration);
        model.clock(&Inputs { flush: true, ..Inputs::default() });
        let inputs = Inputs { streams: vec![StreamInputs::default(); spec.columns as usize], ..Inputs::default() };
        let (start, cycles) = (Instant::now(), 200_000);
        (0..cycles).for_each(|_| model.clock(&inputs));
        let rate = f64::from(cycles) / start.elapsed().as_secs_f64() / 1e6;
        let (pes, memories) = (spec.count(TileKind::Pe), spec.count(TileKind::Memory));
        println!("{pes} PEs, {memories} MEMs, {} nets: {rate:.2} M cycles/s", nets.len());
    }
}
