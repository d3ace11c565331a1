//! The speed of the model.

use std::time::Instant;

use pushmem_emulator::{Emulator, Inputs, StreamInputs};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::support::{parse, random};

/// A netlist of the size of harris: 81 processing elements and 4 memories, of which each has routes.
#[test]
#[ignore = "a measurement"]
fn cycles_a_second() {
    for (name, text) in [
        ("81 PEs", "columns: 9\nrows: 9"),
        ("84 PEs, 12 MEMs", "columns: 8\nrows: 12\nmemory: {tile: amber_rom, every: 8}"),
    ] {
        let spec = parse(&format!("name: a\nkind: array\npe: amber_pe\n{text}"));
        let graph = pushmem_resources::Graph::of(&spec);
        let random = &mut ChaCha8Rng::seed_from_u64(1);
        let (mut configuration, nets) = random::routed(&spec, &graph, random);
        // Streams end soon; without them nothing stands still.
        configuration.tiles.retain(|place, _| place.row > 0);
        let mut model = Emulator::new(&spec, graph);
        model.configure(&configuration);
        model.clock(&Inputs { flush: true, ..Inputs::default() });
        let inputs = Inputs { streams: vec![StreamInputs::default(); spec.columns as usize], ..Inputs::default() };
        let (start, cycles) = (Instant::now(), 200_000);
        (0..cycles).for_each(|_| model.clock(&inputs));
        let rate = f64::from(cycles) / start.elapsed().as_secs_f64() / 1e6;
        println!("{name}: {} nets, {rate:.2} M cycles/s", nets.len());
    }
}
