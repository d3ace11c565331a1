//! Random netlists on random arrays.

use pushmem_netlists::{Shape, harris, random};
use pushmem_routing::Options;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::Array;

/// Columns and rows of arrays.
const SIZES: [(u32, u32); 6] = [(2, 2), (4, 2), (4, 4), (6, 5), (8, 8), (12, 8)];

#[test]
fn random_netlists_compute_on_arrays_what_they_say() {
    let mut random_source = ChaCha8Rng::seed_from_u64(2);
    for (number, (columns, rows)) in SIZES.into_iter().cycle().take(30).enumerate() {
        let hop_limit = [1, 2, 4][number % 3];
        let array = Array::new(columns, rows, 5, hop_limit, "memory: {tile: small, every: 2}\n");
        let fullness: f64 = random_source.random_range(0.3..0.9);
        let full = |count: u32| (f64::from(count) * fullness).floor() as usize;
        let (pes, memories) = (full(columns * rows / 2).max(1), full(columns * rows / 2));
        let streams = full(columns).max(1);
        let shape = Shape { pes, memories, inputs: streams, outputs: streams, loops: pes / 8 };
        let netlist = random(&array.spec, shape, &mut random_source);
        match array.implement(&netlist, Options::default()) {
            Ok(done) => array.verify(&netlist, &done, 200),
            Err(error) => panic!("{number}: {columns} x {rows}, {shape:?}, at most {hop_limit} hops: {error}"),
        }
    }
}

#[test]
fn equal_seeds_give_equal_routes() {
    let array = Array::new(16, 8, 4, 1, "memory: {tile: small, every: 4}\n");
    let netlist = harris(&array.spec);
    let [first, second] = [0, 1].map(|_| array.implement(&netlist, Options::default()).unwrap());
    assert_eq!(first, second);
    array.verify(&netlist, &first, 300);
}
