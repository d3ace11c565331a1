//! Figures of kernels and of full arrays: `cargo test --release -p pushmem-routing -- --ignored --nocapture`.

use std::time::Instant;

use pushmem_netlist::Netlist;
use pushmem_netlists::{NetlistSize, copies, random};
use pushmem_routing::Options;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::support::Array;

#[test]
#[ignore = "prints figures"]
fn figures() {
    let amber =
        |tracks: u32, hop_limit: u32| Array::new(32, 16, tracks, hop_limit, "memory: {tile: amber, every: 4}\n");
    let arrays = [amber(5, 1), amber(5, 4), amber(3, 1)];
    let filled = |seed: u64, share: f64| {
        let full = |count: f64| (count * share) as usize;
        let shape = NetlistSize { pes: full(384.0), memories: full(128.0), inputs: 16, outputs: 16, loops: 4 };
        random(&arrays[0].spec, shape, &mut ChaCha8Rng::seed_from_u64(seed))
    };
    let netlists: Vec<(String, Netlist)> = [
        ("harris".to_owned(), copies(&arrays[0].spec, 1)),
        ("4 x harris".to_owned(), copies(&arrays[0].spec, 4)),
        ("random 50 %".to_owned(), filled(7, 0.5)),
        ("random 90 %".to_owned(), filled(7, 0.9)),
        ("random 100 %".to_owned(), filled(7, 1.0)),
    ]
    .into();
    for array in &arrays {
        println!("hop limit {}, {} tracks", array.spec.hop_limit, array.spec.tracks.word);
        for (name, netlist) in &netlists {
            let mut sums = [0.0; 6];
            let mut failures = String::new();
            let mut slowest = 0.0_f64;
            let seeds = 10;
            let mut routed = 0.0;
            for seed in 0..seeds {
                let options = Options { seed: 100 * seed, seeds: 1, ..Options::default() };
                let start = Instant::now();
                let done = array.implement(netlist, options);
                let time = start.elapsed().as_secs_f64();
                slowest = slowest.max(time);
                match done {
                    Ok(done) => {
                        let statistics = done.routing.statistics(netlist, &array.graph);
                        routed += 1.0;
                        for (sum, value) in sums.iter_mut().zip([
                            statistics.word_wires as f64,
                            statistics.bit_wires as f64,
                            statistics.registers as f64,
                            statistics.delays as f64,
                            statistics.span as f64,
                            time,
                        ]) {
                            *sum += value;
                        }
                    }
                    Err(error) => failures = format!("{error}"),
                }
            }
            let mean = sums.map(|sum| sum / routed);
            println!(
                "  {name:12} {routed} of {seeds}: wires {:.0} + {:.0}, registers {:.0}, delays {:.0}, span {:.0}, {:.3} s, slowest {slowest:.3} {failures}",
                mean[0], mean[1], mean[2], mean[3], mean[4], mean[5]
            );
        }
    }
}
