//! Random netlists on random arrays.

use pushmem_netlists::{NetlistSize, harris, random};
use pushmem_routing::{FlowError, Options};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::Array;

/// Columns and rows of arrays.
const SIZES: [(u32, u32); 6] = [(2, 2), (4, 2), (4, 4), (6, 5), (8, 8), (16, 12)];

/// A netlist that fills this share of an array.
fn filling(array: &Array, share: f64, random_source: &mut ChaCha8Rng) -> (NetlistSize, pushmem_netlist::Netlist) {
    let full = |count: u32| (f64::from(count) * share).floor() as usize;
    let spec = &array.spec;
    let tiles = spec.columns * spec.rows;
    let pes = full(tiles / 2).max(1);
    let streams = full(spec.columns).max(1);
    let shape = NetlistSize { pes, memories: full(tiles / 2), inputs: streams, outputs: streams, loops: pes / 8 };
    (shape, random(spec, shape, random_source))
}

/// Places, routes, encodes, decodes and emulates. A netlist that fits by count may be refused on tiny arrays only, where a delay has
/// no way around, and then with the reason.
fn computes(columns: u32, rows: u32, hop_limit: u32, share: f64, random_source: &mut ChaCha8Rng) {
    let array = Array::new(columns, rows, 5, hop_limit, "memory: {tile: small, every: 2}\n");
    let (shape, netlist) = filling(&array, share, random_source);
    match array.implement(&netlist, Options::default()) {
        Ok(done) => array.verify(&netlist, &done, 200),
        Err(FlowError::NoRoute { registers, shortest, .. }) if columns * rows < 16 => assert!(registers > shortest),
        Err(error) => panic!("{columns} x {rows}, {shape:?}, at most {hop_limit} hops: {error}"),
    }
}

#[test]
fn random_netlists_compute_on_arrays_what_they_say() {
    let mut random_source = ChaCha8Rng::seed_from_u64(2);
    for (number, (columns, rows)) in SIZES.into_iter().cycle().take(36).enumerate() {
        let share = random_source.random_range(0.3..0.9);
        computes(columns, rows, [1, 2, 4][number / 6 % 3], share, &mut random_source);
    }
}

#[test]
fn full_arrays_are_routed() {
    let mut random_source = ChaCha8Rng::seed_from_u64(3);
    for hop_limit in [1, 2, 4] {
        for (columns, rows) in SIZES {
            computes(columns, rows, hop_limit, 1.0, &mut random_source);
        }
    }
}

#[test]
fn kernels_need_few_tracks() {
    for (tracks, hop_limit) in [(2, 1), (3, 1), (4, 1), (2, 2), (3, 4)] {
        let array = Array::new(16, 8, tracks, hop_limit, "memory: {tile: small, every: 4}\n");
        let netlist = harris(&array.spec);
        for seed in 0..10 {
            let done = array.implement(&netlist, Options { seed, seeds: 1, ..Options::default() });
            let done = done.unwrap_or_else(|error| panic!("{tracks} tracks, {hop_limit} hops, seed {seed}: {error}"));
            array.verify(&netlist, &done, 150);
        }
    }
}

#[test]
fn disjoint_tracks_and_longer_operand_delays_are_routed() {
    let array = Array::new(8, 8, 5, 1, "memory: {tile: small, every: 2}\ntopology: disjoint\n");
    let (_, netlist) = filling(&array, 0.6, &mut ChaCha8Rng::seed_from_u64(5));
    array.verify(&netlist, &array.implement(&netlist, Options::default()).unwrap(), 200);
    let mut late = Array::new(8, 8, 4, 1, "memory: {tile: small, every: 2}\n");
    late.spec.pe.operand_delay = 3;
    let late = Array::of(late.spec);
    let (_, netlist) = filling(&late, 0.8, &mut ChaCha8Rng::seed_from_u64(6));
    let done = late.implement(&netlist, Options::default()).unwrap();
    assert!(done.routing.nets.iter().flatten().any(|route| route.delay > 1));
    late.verify(&netlist, &done, 200);
}

#[test]
fn equal_seeds_give_equal_routes() {
    let array = Array::new(16, 8, 4, 1, "memory: {tile: small, every: 4}\n");
    let netlist = harris(&array.spec);
    let [first, second] = [0, 1].map(|_| array.implement(&netlist, Options::default()).unwrap());
    assert_eq!(first, second);
    array.verify(&netlist, &first, 300);
}
