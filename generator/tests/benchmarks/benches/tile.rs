//! How long it takes to generate a tile, to encode a configuration, and to run the model.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pushmem_configuration::{Configuration, encode};
use pushmem_model::{Inputs, TileModel};
use pushmem_registers::RegisterMap;
use pushmem_tile::TileSpec;

fn project(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(path)
}

fn benchmarks(criterion: &mut Criterion) {
    let spec = TileSpec::read(&project("constraints/tiles/amber.yaml")).expect("a shipped specification");
    let configuration = Configuration::read(&project("rtl-tests/configurations/gaussian.yaml"), &spec)
        .expect("a shipped configuration");
    let map = RegisterMap::of(&spec);

    criterion.bench_function("generate amber", |bench| {
        bench.iter(|| pushmem_rtl::generate(black_box(&spec), &map).expect("the templates compile"));
    });
    criterion.bench_function("encode gaussian", |bench| {
        bench.iter(|| encode(black_box(&configuration), &spec, &map).expect("a checked configuration"));
    });

    let mut group = criterion.benchmark_group("model");
    let cycles = 4224;
    group.throughput(Throughput::Elements(cycles));
    let mut tile = TileModel::new(&spec);
    tile.configure(&configuration);
    group.bench_function("gaussian on amber, cycles", |bench| {
        bench.iter(|| {
            tile.clock(&Inputs { flush: true, ..Inputs::default() });
            for cycle in 0..cycles {
                let inputs = Inputs { data: [cycle; 4], ..Inputs::default() };
                black_box(tile.outputs(&inputs));
                tile.clock(&inputs);
            }
        });
    });
    group.finish();
}

criterion_group!(tile, benchmarks);
criterion_main!(tile);
