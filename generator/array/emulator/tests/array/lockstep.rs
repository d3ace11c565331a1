//! RTL against model: every output and every register of the network in every cycle.

use pushmem_bitstream::{Netlist, decode};
use pushmem_fabric::ArraySpec;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::support::{Bench, Cycle, parse, random};

/// Small arrays with each choice that a specification has.
fn specs() -> Vec<ArraySpec> {
    [
        "columns: 3\nrows: 2\npe: image_pe\nmemory: {tile: small_rom, every: 3}\ntracks: {word: 3, bit: 2}",
        "columns: 4\nrows: 3\npe: smallest_pe\nmemory: {tile: dual_port, every: 2}\nhop_limit: 4\ntopology: disjoint\n\
         block: {columns: 2, rows: 1}\ntracks: {word: 2, bit: 3}\ncontrol_depth: 1",
        "columns: 2\nrows: 2\npe: largest_pe\nhop_limit: 2\ntracks: {word: 4, bit: 1}\ncontrol_depth: 3",
    ]
    .map(|text| parse(&format!("name: a\nkind: array\n{text}")))
    .into()
}

/// Bitstreams without any sense, and random routes, one after the other in the same array.
#[test]
fn random_bitstreams_run_alike_in_rtl_and_model() {
    for (seed, spec) in (1..).zip(specs()) {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let bench = Bench::new(&spec);
        let mut cycles: Vec<Cycle> = Vec::new();
        for number in 0..180 {
            let configuration = match number % 2 {
                0 => random::configuration(&spec, bench.graph(), random),
                _ => random::routed(&spec, bench.graph(), random).0,
            };
            cycles.extend(random::cycles(&bench, &configuration, 60, random));
        }
        bench.check(&cycles);
    }
}

/// The netlist of routes has the connections that were drawn, also from the bitstream.
#[test]
fn netlists_are_those_that_were_routed() {
    for (seed, spec) in (1..).zip(specs()) {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let graph = pushmem_resources::Graph::of(&spec);
        for _ in 0..100 {
            let (configuration, mut nets) = random::routed(&spec, &graph, random);
            let bitstream = configuration.encode(&spec, &graph).unwrap();
            let decoded = decode(&bitstream, &spec, &graph).unwrap();
            let mut found = Netlist::of(&decoded, &graph).nets;
            nets.sort_by_key(|net| net.input);
            found.sort_by_key(|net| net.input);
            assert_eq!(found, nets);
        }
    }
}

/// Until the right digest was written, and after another one was, tiles take no write.
#[test]
fn a_wrong_digest_locks_the_tiles() {
    let spec = parse("name: a\nkind: array\ncolumns: 1\nrows: 1\npe: smallest_pe\ntracks: {word: 1, bit: 1}");
    let bench = Bench::new(&spec);
    let (digest, register) = (0xffff_0000, 0x0100_1000);
    let write =
        |address: u32, data: u32, answer: Option<u32>| Cycle { write: true, address, data, answer, ..Cycle::default() };
    let read = |address: u32, answer: Option<u32>| Cycle { read: true, address, answer, ..Cycle::default() };
    let mut cycles = vec![
        write(register, 1, None),
        read(register, Some(0)),
        write(digest, spec.digest_word(), Some(0)),
        write(register, 1, Some(0)),
        read(register, Some(1)),
        write(digest, 1, None),
        write(register, 2, None),
        write(0xffff_0001, 0, None),
        read(register, Some(1)),
        write(digest, spec.digest_word(), Some(0)),
        write(0xffff_0001, 0, Some(0)),
        read(register, Some(0)),
        read(0xffff_0001, None),
        read(0x0200_0000, None),
    ];
    // Nothing runs.
    cycles.iter_mut().for_each(|cycle| cycle.inputs.stall = true);
    cycles.extend(vec![Cycle::default(); 10]);
    bench.check(&cycles);
}
