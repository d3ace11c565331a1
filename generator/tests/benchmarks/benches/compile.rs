//! How long it takes to compile applications, with the proof, and how fast the model of an accelerator runs.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pushmem_assembly::Constraints;
use pushmem_files::Document;
use pushmem_graph::Target;
use pushmem_images::Image;
use pushmem_nest::{ArrayKind, Program};
use pushmem_realization::build;
use pushmem_tile::TileSpec;

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(path);
    std::fs::read_to_string(path).expect("a file of the project")
}

fn program(text: &str) -> Program {
    let document = Document::parse("program.yaml", text).expect("a shipped program");
    Program::from_document(&document).expect("a shipped program").program
}

fn spec(name: &str) -> TileSpec {
    let document = Document::parse(name, text(&format!("constraints/tiles/{name}.yaml")));
    TileSpec::from_document(&document.expect("a shipped specification")).expect("a shipped specification")
}

/// A window in so many copies.
fn copies(count: usize) -> String {
    let (pixels, width) = (2 * count, 2 * count + 2);
    format!(
        "name: copies
inputs: {{i: {{type: u16, shape: [{width}, 4]}}}}
outputs: {{o: {{type: u16, shape: [{pixels}, 4]}}}}
nest:
  - for y in 0..4:
    - for x in 0..{pixels} unroll {count}:
      - o[x, y] = i[x, y] + i[x+1, y] + i[x+2, y]
"
    )
}

/// So many operations, each of which reads the one before.
fn chain(count: usize) -> String {
    let name = |number: usize| match number {
        0 => "i".to_owned(),
        number if number == count => "o".to_owned(),
        number => format!("b{number}"),
    };
    let array = |number: usize| format!("  {}: {{type: u16, shape: [8, 4]}}\n", name(number));
    let stage = |number: usize| {
        let (target, source) = (name(number), name(number - 1));
        format!("  - for y in 0..4:\n    - for x in 0..8:\n      - {target}[x, y] = {source}[x, y] + 1\n")
    };
    let buffers: String = (1..count).map(array).collect();
    let nest: String = (1..=count).map(stage).collect();
    format!("name: chain\ninputs:\n{}outputs:\n{}buffers:\n{buffers}nest:\n{nest}", array(0), array(count))
}

fn benchmarks(criterion: &mut Criterion) {
    let [amber, dual_port] = ["amber", "dual_port"].map(|memory| Target::new(spec(memory), spec("rom")));
    let compiled =
        |program: Program| build(program, &amber, &Constraints::default(), &|_| {}).expect("a program that compiles");
    let gaussian = text("apps/gaussian.yaml");
    let mut programs = ["gaussian", "harris", "unsharp", "camera_pipeline", "laplacian_pyramid"]
        .map(|name| (name.to_owned(), program(&text(&format!("apps/{name}.yaml")))))
        .to_vec();
    let large = gaussian.replace("64", "4096").replace("62", "4094");
    programs.push(("gaussian of 4096 x 4096".to_owned(), program(&large)));
    programs.push(("4096 copies".to_owned(), program(&copies(4096))));
    programs.push(("3000 operations in a chain".to_owned(), program(&chain(3000))));
    for (name, program) in programs {
        criterion.bench_function(&format!("compile {name}"), |bench| {
            bench.iter(|| compiled(black_box(program.clone())));
        });
    }

    // Networks, whose arrays stay in memory tiles; one with sixteen times as many tiles, which must not take longer.
    let layer = text("apps/layers/resnet3_1.yaml");
    let larger = layer.replace("in 0..2:", "in 0..8:").replace("57, 57", "225, 225").replace("28, 28]", "112, 112]");
    for (name, text) in [("resnet3_1", &layer), ("resnet3_1 of 16 times as many tiles", &larger)] {
        let program = program(text);
        criterion.bench_function(&format!("compile {name}"), |bench| {
            bench.iter(|| {
                build(black_box(program.clone()), &dual_port, &Constraints::default(), &|_| {}).expect("it fits")
            });
        });
    }

    let gaussian = compiled(program(&gaussian));
    let inputs: BTreeMap<String, Image> = gaussian
        .program
        .arrays_of(ArrayKind::Input)
        .map(|array| {
            let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
            (array.name.clone(), Image::new(array.element.element().expect("arrays hold elements"), &shape))
        })
        .collect();
    let mut group = criterion.benchmark_group("model");
    group.throughput(Throughput::Elements(gaussian.accelerator.length));
    group.bench_function("accelerator of gaussian, cycles", |bench| {
        bench.iter(|| gaussian.accelerator.run(&gaussian.program, black_box(&inputs)).expect("an input of zeros"));
    });
    group.finish();
}

criterion_group!(compilation, benchmarks);
criterion_main!(compilation);
