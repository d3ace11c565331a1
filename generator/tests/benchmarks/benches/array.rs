//! How long it takes to place and route netlists on an array.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use pushmem_fabric::{ArraySpec, Folder};
use pushmem_files::Document;
use pushmem_netlists::{NetlistSize, copies, harris, random};
use pushmem_resources::Graph;
use pushmem_routing::{Fabric, Options, place_and_route};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn benchmarks(criterion: &mut Criterion) {
    let constraints = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints");
    let document = Document::read(&constraints.join("arrays/amber.yaml")).expect("a shipped specification");
    let spec = ArraySpec::from_document(&document, &Folder(constraints)).expect("a shipped specification");
    let graph = Graph::of(&spec);
    let fabric = Fabric::of(&spec, &graph);
    criterion.bench_function("routing resources of 32 x 16 tiles", |bench| {
        bench.iter(|| Fabric::of(&spec, &Graph::of(black_box(&spec))));
    });
    let full = |share: f64| {
        let tiles = |count: f64| (count * share) as usize;
        let shape = NetlistSize { pes: tiles(384.0), memories: tiles(128.0), inputs: 16, outputs: 16, loops: 4 };
        random(&spec, shape, &mut ChaCha8Rng::seed_from_u64(7))
    };
    let mut group = criterion.benchmark_group("place and route");
    group.sample_size(10);
    for (name, netlist) in [
        ("harris", harris(&spec)),
        ("4 x harris", copies(&spec, 4)),
        ("random, 90 % of the tiles", full(0.9)),
        ("random, all tiles", full(1.0)),
    ] {
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let done = place_and_route(black_box(&netlist), &spec, &graph, &fabric, Options::default(), &|_| {});
                done.expect("it fits")
            });
        });
    }
    group.finish();
}

criterion_group!(array, benchmarks);
criterion_main!(array);
