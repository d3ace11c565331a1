//! The contents of pages of programs of `apps/`.

use std::path::{Path, PathBuf};

use pushmem_affine::deltas;
use pushmem_assembly::Constraints;
use pushmem_files::Document;
use pushmem_graph::Target;
use pushmem_nest::Program;
use pushmem_realization::{Dedicated, Report, build};
use pushmem_report::{Build, Contents, Executed, Sequence, Stream, Synthesized, add_synthesis, check_synthesis};
use pushmem_tile::TileSpec;
use serde_json::{Value, json};

fn shipped(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(path)
}

fn compiled(document: &Document, tile: &str) -> (Dedicated, Contents) {
    let program = Program::from_document(document).expect("a program").program;
    let spec = |name: &str| TileSpec::read(&shipped(&format!("constraints/tiles/{name}.yaml"))).expect("a tile");
    let target = Target::new(spec(tile), spec("rom"));
    let compiled = build(program, &target, &Constraints::default(), &|_| {}).expect("it compiles");
    let (command, ports) = ("pushmem build </script>".to_owned(), "module top ();".to_owned());
    let build = Build { command, ports, shell: None, clock: None, checked_by_model: false, rtl: None };
    let contents = Contents::of(&compiled, &Report::of(&compiled), build);
    (compiled, contents)
}

fn app(name: &str, tile: &str) -> (Dedicated, Contents) {
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
        // Each cycle of the run is in one link of the chain, or a wait.
        let links: u64 = contents.chain.links.iter().map(|link| link.cycles + link.waits).sum();
        assert_eq!(contents.chain.before + links, contents.figures.cycles, "{name}: {:?}", contents.chain);
        assert!(contents.chain.whole, "{name}");
        for stage in contents.stages.iter().filter(|stage| stage.statement.is_some()) {
            let line = contents.program.lines().nth(stage.line.expect("operations have lines") - 1).expect("a line");
            assert!(line.contains(stage.statement.as_deref().unwrap_or_default()), "{name}: {line}");
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

#[test]
fn the_chain_of_an_image_goes_back_to_the_words_that_come_last() {
    let names = |contents: &Contents| {
        let links = contents.chain.links.iter();
        links.map(|link| (contents.stages[link.stage].name.clone(), link.cycles + link.waits)).collect::<Vec<_>>()
    };
    // A scan waits for its last pixel alone.
    let (_, gaussian) = app("gaussian", "amber");
    let chain = names(&gaussian);
    assert_eq!(chain[0], ("input".to_owned(), 4095), "{chain:?}");
    assert_eq!(chain.last().expect("links").0, "output", "{chain:?}");
    // Of a stage after the other each has its part, and none is all of the run.
    let (_, resnet) = app("resnet_tiny", "amber");
    let chain = names(&resnet);
    assert!(chain.len() > 2 && chain.iter().all(|(_, cycles)| *cycles < resnet.figures.cycles), "{chain:?}");
}

#[test]
fn a_trace_has_all_tracks_with_slices_of_the_run() {
    for (name, tile) in [("gaussian", "amber"), ("resnet_tiny", "amber")] {
        let (_, contents) = app(name, tile);
        let text = contents.to_trace();
        assert_eq!(text, contents.to_trace());
        let trace: Value = serde_json::from_str(&text).expect("JSON");
        let events = trace["traceEvents"].as_array().expect("events");
        let of_kind = |kind: &str| events.iter().filter(|event| event["ph"] == kind).collect::<Vec<_>>();
        let names = of_kind("M").into_iter().filter(|event| event["name"] == "thread_name").count();
        let controllers: usize = contents.tiles.iter().map(|tile| tile.controllers.len()).sum();
        assert_eq!(names, contents.stages.len() + contents.streams.len() + controllers, "{name}");
        let cycles = contents.figures.cycles as i64;
        let number = |event: &Value, key: &str| event[key].as_i64().expect("a number");
        let slices = of_kind("X");
        assert!(slices.iter().all(|event| {
            let (begin, length) = (number(event, "ts"), number(event, "dur"));
            begin >= 0 && length >= 1 && begin + length <= cycles
        }));
        // Slices of a track are within each other or apart.
        let mut open: Vec<(i64, i64, i64, i64)> = slices
            .iter()
            .map(|event| {
                let (begin, length) = (number(event, "ts"), number(event, "dur"));
                (number(event, "pid"), number(event, "tid"), begin, begin + length)
            })
            .collect();
        open.sort_by_key(|(pid, tid, begin, end)| (*pid, *tid, *begin, -end));
        let mut around: Vec<(i64, i64, i64, i64)> = Vec::new();
        for slice in open {
            around.retain(|other| (other.0, other.1) == (slice.0, slice.1) && other.3 > slice.2);
            assert!(around.iter().all(|other| slice.3 <= other.3), "{name}: {slice:?} in {around:?}");
            around.push(slice);
        }
    }
}

#[test]
fn results_of_synthesis_are_added_to_the_page_of_their_program() {
    let (compiled, contents) = app("gaussian", "amber");
    let page = contents.to_html();
    let program = compiled.program.to_string();
    assert_eq!(check_synthesis(&page, &Synthesized::Program(&program)), Ok(()));
    assert!(check_synthesis(&page, &Synthesized::Program("name: other")).is_err());
    let digest = compiled.accelerator.target.memory().digest();
    assert_eq!(check_synthesis(&page, &Synthesized::Specification(&digest)), Ok(()));
    assert!(check_synthesis(&page, &Synthesized::Specification("0")).is_err());
    assert!(check_synthesis("<html></html>", &Synthesized::Program(&program)).is_err());
    let once = add_synthesis(&page, "pushmem synth </script>", json!({"area": 1})).expect("a page");
    let twice = add_synthesis(&once, "pushmem synth </script>", json!({"area": 2})).expect("a page");
    assert_eq!(embedded(&twice), embedded(&page));
    assert!(!twice.contains("\"area\":1") && twice.contains("\"area\":2") && twice.len() == once.len());
    let both = add_synthesis(&twice, "pushmem synth --fpga ecp5", json!({"luts": 3})).expect("a page");
    assert!(both.contains("\"area\":2") && both.contains("\"luts\":3"));
}
