//! The contents of pages of programs of `apps/`.

use std::path::{Path, PathBuf};

use pushmem_affine::deltas;
use pushmem_assembly::Constraints;
use pushmem_compiler::{Compiled, Report, compile};
use pushmem_files::Document;
use pushmem_graph::Target;
use pushmem_nest::Program;
use pushmem_report::{Build, Contents, Executed, Sequence, Stream};
use pushmem_tile::TileSpec;
use serde_json::Value;

fn shipped(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(path)
}

fn compiled(document: &Document, tile: &str) -> (Compiled, Contents) {
    let program = Program::from_document(document).expect("a program").program;
    let spec = |name: &str| TileSpec::read(&shipped(&format!("constraints/tiles/{name}.yaml"))).expect("a tile");
    let target = Target::new(spec(tile), spec("rom"));
    let compiled = compile(program, &target, &Constraints::default()).expect("it compiles");
    let (command, ports) = ("pushmem build </script>".to_owned(), "module top ();".to_owned());
    let build = Build { command, ports, checked_by_model: false, rtl: None };
    let contents = Contents::of(&compiled, &Report::of(&compiled), build);
    (compiled, contents)
}

fn app(name: &str, tile: &str) -> (Compiled, Contents) {
    compiled(&Document::read(&shipped(&format!("apps/{name}.yaml"))).expect("a program"), tile)
}

/// The JSON in a page.
fn embedded(page: &str) -> &str {
    let (_, rest) = page.split_once("id=\"contents\">").expect("the page has contents");
    rest.split_once("</script>").expect("they end").0
}

#[test]
fn everything_is_told_and_in_the_order_of_time() {
    for (name, tile) in [
        ("gaussian", "amber"),
        ("camera_pipeline", "amber"),
        ("gpyr_shared", "dual_port"),
        ("laplacian_pyramid", "amber"),
        ("harris_sch6", "amber"),
        ("resnet_tiny", "amber"),
        ("three_stage", "dual_port"),
    ] {
        let (compiled, contents) = app(name, tile);
        let pipeline = &compiled.extraction.pipeline;
        assert_eq!(contents.stages.iter().map(|stage| stage.copies).sum::<usize>(), pipeline.stages.len(), "{name}");
        assert_eq!(contents.arrays.len(), compiled.program.arrays.len(), "{name}");
        let tiles = contents.tiles.iter().map(|tile| tile.instances.len()).sum::<usize>();
        assert_eq!(tiles, compiled.accelerator.tiles.len(), "{name}");
        // Of stages that take turns on a unit, one counts.
        let again = contents.units.iter().flat_map(|unit| &unit.stages[1..]);
        let elements = |stage: usize| contents.stages[stage].processing_elements;
        let shared: u64 = again.map(|&stage| elements(stage)).sum();
        let all: u64 = (0..contents.stages.len()).map(elements).sum();
        assert_eq!(all - shared, contents.figures.processing_elements, "{name}");
        let beats = |stream: &Stream| stream.sequence.extent.iter().product::<u64>() * stream.words as u64;
        for (number, array) in contents.arrays.iter().enumerate().filter(|(_, array)| array.kind == "output") {
            let words: u64 = contents.streams.iter().filter(|stream| stream.array == number).map(beats).sum();
            assert_eq!(words, array.shape.iter().product::<i64>() as u64, "{name}");
        }
        for memory in &contents.memories {
            let most = memory.live.as_ref().and_then(|live| live.words.iter().max()).expect("few accesses");
            assert!((1..=memory.live_words).contains(most), "{name}: {most} of {}", memory.live_words);
        }
        let ports = contents.memories.iter().flat_map(|memory| &memory.ports).map(|port| &port.sequence);
        for Sequence { extent, cycle, .. } in contents.stages.iter().map(|stage| &stage.sequence).chain(ports) {
            assert!(deltas(&cycle.stride, extent).into_iter().all(|gap| gap >= 1), "{name}: {cycle:?} {extent:?}");
        }
    }
}

#[test]
fn words_belong_to_the_array_whose_stage_makes_them() {
    let (_, contents) = app("gaussian", "amber");
    let array = |name: &str| contents.arrays.iter().find(|array| array.name == name).expect("an array");
    // The line buffers delay the input; `loaded` only passes its words on.
    assert_eq!((array("input").registers, array("input").memories.as_slice()), (6, &[0][..]));
    assert_eq!(array("loaded").copy_of, contents.arrays.iter().position(|array| array.name == "input"));
    assert_eq!(array("loaded").ports[1].access.len(), 9);
    let executed: Vec<Executed> = contents.stages.iter().map(|stage| stage.executed).collect();
    assert_eq!(executed, [Executed::Stream, Executed::Copy, Executed::Kernel, Executed::Kernel]);
}

#[test]
fn a_page_holds_the_contents_and_nothing_ends_them() {
    let text = "
name: page
inputs: {input: {type: u16, shape: [8]}}
outputs: {output: {type: u16, shape: [8]}}
nest:
  - for x in 0..8:
    - output[x] = sel(input[x] < 3, 0, input[x])
";
    let (_, contents) = compiled(&Document::parse("page.yaml", text).expect("YAML"), "amber");
    let page = contents.to_html();
    assert_eq!(page, contents.to_html());
    let json = embedded(&page);
    assert!(!json.contains('<'), "{json}");
    let value: Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(value, serde_json::to_value(&contents).expect("JSON"));
    assert!(value["stages"][1]["statement"].as_str().expect("a statement").contains('<'));
}
