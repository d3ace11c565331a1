//! Stages of small programs, and messages.

use pushmem_extraction::{diagnose, extract, unrolling};
use pushmem_files::{Diagnostic, Document};
use pushmem_nest::{Language, Policy, Program, SourceText};
use pushmem_schedule::{Boundary, Options, Pipeline, Stage, Subscript, stencil};

/// A program that copies its input of 16 x 16 to `loaded` and goes on with this text.
fn program(buffers: &str, nest: &str) -> Program {
    let text = format!(
        "
name: program
inputs: {{input: {{type: u16, shape: [16, 16]}}}}
outputs: {{output: {{type: u16, shape: [8, 8]}}}}
buffers: {{loaded: {{type: u16, shape: [16, 16]}}{buffers}}}
nest:
  - for y in 0..16:
    - for x in 0..16:
      - loaded[x, y] = input[x, y]
{nest}"
    );
    Program::from_document(&Document::parse("program.yaml", text).unwrap()).unwrap_or_else(|e| panic!("{e:?}")).program
}

fn output(body: &str) -> String {
    format!("  - for y in 0..8:\n    - for x in 0..8:\n      - output[x, y] = {body}\n")
}

fn stages(program: &Program) -> Pipeline {
    extract(program, |_| 0).unwrap_or_else(|error| panic!("{error:?}")).pipeline
}

fn stage<'a>(pipeline: &'a Pipeline, name: &str) -> &'a Stage {
    pipeline.stages.iter().find(|stage| stage.name == name).unwrap_or_else(|| panic!("no stage {name}"))
}

/// The first subscript of the first read of the output.
fn subscript(index: &str) -> Subscript {
    let body = if index.starts_with("outside") { index.to_owned() } else { format!("loaded[{index}, y]") };
    stage(&stages(&program("", &output(&body))), "output").reads[0].subscripts[0].clone()
}

fn refused(program: &Program) -> Diagnostic {
    let extraction = match extract(program, |_| 0) {
        Ok(extraction) => extraction,
        Err(refused) => return refused.diagnostic,
    };
    let error = stencil(&extraction.pipeline, &Options::default()).expect_err("it cannot be fused");
    diagnose(program, &extraction, &error)
}

#[test]
fn indices_become_subscripts() {
    let affine = |coefficient: i64, constant: i64| Subscript::affine(vec![coefficient, 0], constant);
    assert_eq!(subscript("2*x + 1"), affine(2, 1));
    assert_eq!(subscript("x/2 + 3"), Subscript { divisor: 2, ..affine(1, 6) });
    let clamped = Boundary::Clamp { low: 0, high: 5 };
    assert_eq!(subscript("clamp(x - 1, 0, 5) + 2"), Subscript { boundary: clamped, offset: 2, ..affine(1, -1) });
    assert_eq!(subscript("clamp(x/2, 1, 3)"), {
        Subscript { divisor: 2, boundary: Boundary::Clamp { low: 1, high: 3 }, ..affine(1, 0) }
    });
    let mirrored = Boundary::Mirror { low: 0, high: 6 };
    assert_eq!(subscript("mirror(x - 2, 0, 6)"), Subscript { boundary: mirrored, ..affine(1, -2) });
    let outside = Boundary::Outside { low: 0, high: 15 };
    assert_eq!(subscript("outside(loaded[3*x - 1, y], 7)"), Subscript { boundary: outside, ..affine(3, -1) });
    // Elements that are never outside need no boundary.
    assert_eq!(subscript("outside(loaded[x + 1, y - 1], 7)"), affine(1, 1));
}

#[test]
fn loops_of_one_iteration_are_no_variables() {
    let nest = "
  - for y in 0..8:
    - for x in 0..8:
      - for j in 1..4 unroll 3:
        - rows[j, x, y] = loaded[clamp(x + j/2, 0, 7), y + j]
"
    .to_owned()
        + &output("rows[1, x, y] + rows[3, x, y]");
    let pipeline = stages(&program(", rows: {type: u16, shape: [3, 8, 8], min: [1, 0, 0]}", &nest));
    let last = stage(&pipeline, "rows_2_0_0");
    let boundary = Boundary::Clamp { low: 0, high: 7 };
    let along_x = Subscript { boundary, ..Subscript::affine(vec![0, 1, 0], 1) };
    assert_eq!(last.reads[0].subscripts, [along_x, Subscript::affine(vec![0, 0, 1], 3)]);
    assert_eq!(last.write.subscripts[0], Subscript::affine(vec![0, 0, 0], 3));
    // The first copy adds nothing to x, which then stays inside.
    assert_eq!(stage(&pipeline, "rows_0_0_0").reads[0].subscripts[0], Subscript::affine(vec![0, 1, 0], 0));
    let groups: Vec<usize> = pipeline.stages.iter().map(|stage| stage.group).collect();
    assert_eq!(groups, [0, 1, 2, 2, 2, 3]);
    stencil(&pipeline, &Options::default()).unwrap();
}

/// A reduction along i, unrolled or not.
fn reduction(unroll: &str) -> Program {
    let nest = format!(
        "
  - for y in 0..8:
    - for x in 0..8:
      - sums[x, y] = 0
      - for i in 0..4{unroll}:
        - sums[x, y] += loaded[x + i, y]
"
    ) + &output("sums[x, y]");
    program(", sums: {type: u16, shape: [8, 8]}", &nest)
}

#[test]
fn an_unrolled_reduction_is_one_stage() {
    let program = reduction(" unroll 4");
    let extraction = extract(&program, |_| 0).unwrap();
    let number = extraction.pipeline.stages.iter().position(|stage| stage.name == "sums_1").unwrap();
    let stage = &extraction.pipeline.stages[number];
    let first: Vec<i64> = stage.reads.iter().map(|read| read.subscripts[0].constant).collect();
    assert_eq!(first, [0, 1, 2, 3, 0]);
    assert!(stage.updates());
    assert_eq!(extraction.copies(&program, number), [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]]);
    stencil(&extraction.pipeline, &Options::default()).unwrap();
}

#[test]
fn messages_point_at_the_text() {
    let stencil = Program { schedule: Some(Policy::Stencil), ..reduction("") };
    let error = refused(&stencil);
    assert_eq!(error.to_string(), "this statement is a reduction: it updates `sums` in every iteration of loop `i`");
    assert_eq!(error.offending_text(), Some("sums[x, y] += loaded[x + i, y]"));

    let error = refused(&program("", &output("loaded[x % 4, y]")));
    assert_eq!(error.to_string(), "this index cannot be streamed");
    assert_eq!(error.offending_text(), Some("loaded[x % 4, y]"));

    let twice = "
  - for y in 0..8:
    - for x in 0..8:
      - sums[x, y] = loaded[x, y]
  - for y in 0..8:
    - for x in 4..8:
      - sums[x, y] = 1
"
    .to_owned();
    let error = refused(&program(", sums: {type: u16, shape: [8, 8]}", &(twice + &output("sums[x, y]"))));
    assert_eq!(error.offending_text(), Some("sums[x, y] = 1"));
    let shown = format!("{error:?}");
    assert!(shown.contains("this statement overwrites elements of `sums` that the statement in line "), "{shown}");
    assert!(shown.contains("this is the other one"), "{shown}");
}

/// Where reductions are loops, an input with one reader comes in the order in which it is read, tile by tile, and is one more
/// nest in the loops around its reader.
#[test]
fn inputs_follow_their_readers() {
    let text = "
name: tiles
schedule: dnn
inputs: {input: {type: u16, shape: [2, 10]}}
outputs: {output: {type: u16, shape: [2, 4, 4]}}
buffers: {tile: {type: u16, shape: [2, 4]}}
nest:
  - for t in 0..4:
    - for i in 0..4:
      - for c in 0..2 unroll 2:
        - tile[c, i] = input[c, 2*t + i]
    - for i in 0..4:
      - for c in 0..2:
        - output[c, i, t] = tile[c, 3 - i]
";
    let program = Program::from_document(&Document::parse("program.yaml", text).unwrap()).unwrap().program;
    let pipeline = stages(&program);
    let found: Vec<(&str, usize, usize)> =
        pipeline.stages.iter().map(|stage| (stage.name.as_str(), stage.group, stage.shared)).collect();
    assert_eq!(
        found,
        [("input_0", 0, 0), ("input_1", 0, 0), ("tile_0_0_0", 1, 1), ("tile_1_0_0", 1, 1), ("output", 2, 1)]
    );
    // Tiles overlap: elements of both come twice.
    assert_eq!(pipeline.stages[1].write.subscripts[1], Subscript::affine(vec![0, 1, 2], 0));
    assert_eq!(pipeline.stages[1].write, pipeline.stages[3].reads[0]);
    assert_eq!(pipeline.shared_loops(0, 4), 1);
}

/// Names of the program stay; copies get other names.
#[test]
fn copies_do_not_take_the_names_of_others() {
    let text = "
name: p
inputs: {a: {type: u16, shape: [16]}, a_0: {type: u16, shape: [16]}}
outputs: {b: {type: u16, shape: [16]}, b_0: {type: u16, shape: [16]}, b_copy_1: {type: u16, shape: [16]}}
nest:
  - for x in 0..16 unroll 2:
    - b[x] = a[x] + 1
  - for x in 0..16:
    - b_0[x] = a_0[x] + 2
  - for x in 0..16:
    - b_copy_1[x] = a_0[x] + 3
";
    let program = Program::from_document(&Document::parse("p.yaml", text).unwrap()).unwrap().program;
    let names: Vec<String> = stages(&program).stages.into_iter().map(|stage| stage.name).collect();
    assert_eq!(names, ["a_lane_0", "a_lane_1", "a_0", "b_copy_copy_0", "b_copy_copy_1", "b_0", "b_copy_1"]);
    // Without others they have the shortest names.
    let alone = text.replace("a_0", "c").replace("b_0", "d").replace("b_copy_1", "e");
    let program = Program::from_document(&Document::parse("p.yaml", alone).unwrap()).unwrap().program;
    let names: Vec<String> = stages(&program).stages.into_iter().map(|stage| stage.name).collect();
    assert_eq!(names, ["a_0", "a_1", "c", "b_0", "b_1", "d", "e"]);
}

/// The sum of a window in a loop, of an input or of a copy of it.
fn window(source: &str, unroll: &str) -> Program {
    let text = format!(
        "
name: window
inputs: {{input: {{type: u16, shape: [12, 8]}}}}
outputs: {{output: {{type: u16, shape: [8, 8]}}}}
buffers: {{sums: {{type: u16, shape: [8, 8]}}, loaded: {{type: u16, shape: [12, 8]}}}}
nest:
  - for y in 0..8:
    - for x in 0..12:
      - loaded[x, y] = {}
  - for y in 0..8:
    - for x in 0..8:
      - sums[x, y] = 0
  - for y in 0..8:
    - for x in 0..8:
      - for i in 0..5{unroll}:
        - sums[x, y] += {source}[x + i, y]
  - for y in 0..8:
    - for x in 0..8:
      - output[x, y] = sums[x, y]{}
",
        if source == "input" { "0" } else { "input[x, y]" },
        if source == "input" { " + loaded[x, y]" } else { "" },
    );
    Program::from_document(&Document::parse("window.yaml", text).unwrap()).unwrap_or_else(|e| panic!("{e:?}")).program
}

#[test]
fn words_that_come_again_are_told() {
    let warnings = |program: &Program| extract(program, |_| 0).unwrap().warnings(program);
    let program = window("input", "");
    let [warning] = &warnings(&program)[..] else { panic!("one input comes again") };
    assert!(!warning.is_error());
    assert_eq!(
        warning.to_string(),
        "`input` comes in 320 words for 96 elements: as often as one is read here, it comes again"
    );
    assert_eq!(warning.offending_text(), Some("input[x + i, y]"));
    assert_eq!(
        warning.help(),
        Some(
            "copy it to a buffer, which keeps it, in loops of its own: `loaded[x, y] = input[x, y]`, and read `loaded` here; \
             or unroll `i` fully, so that one iteration adds up a window"
        )
    );
    // The advice is in the language of the program.
    let source = SourceText::new("window.hlpipe", program.source.text(), Language::Halide);
    let halide = warnings(&Program { source, ..program.clone() });
    let help = halide[0].help().unwrap();
    assert!(help.contains("`loaded[x, y] = input[x, y]` and `loaded.compute_root()`"), "{help}");
    // Where the program decides on the schedule, no loop is to be unrolled for another one.
    let network = warnings(&Program { schedule: Some(Policy::Dnn), ..program });
    assert!(network[0].help().unwrap().ends_with("and read `loaded` here"), "{network:?}");
    for program in [window("loaded", ""), window("input", " unroll 5")] {
        assert!(warnings(&program).is_empty());
    }
}

#[test]
fn only_windows_are_to_be_unrolled() {
    assert!(unrolling(&window("loaded", "")).is_some());
    assert_eq!(unrolling(&window("loaded", " unroll 5")), None);
    let nest = "
  - for y in 0..8:
    - for x in 0..8:
      - sums[x, y] = 0
      - for i in 0..16:
        - sums[x, y] += loaded[i, y] * loaded[x, i]
";
    let product = program(", sums: {type: u16, shape: [8, 8]}", &(nest.to_owned() + &output("sums[x, y]")));
    assert_eq!(unrolling(&product), None);
}

#[test]
fn the_access_at_odds_with_the_others_is_blamed() {
    let blamed = |body: &str| {
        let error = refused(&program("", &output(body)));
        let places = std::iter::once(&error).chain(error.related());
        places.map(|each| (each.to_string(), each.offending_text().unwrap().to_owned())).collect::<Vec<_>>()
    };
    let told = |variable: &str, (index, other): (usize, usize)| {
        let here =
            format!("`loaded` is read here with `{variable}` along index {index}, elsewhere along index {other}");
        let elsewhere = format!("here `{variable}` runs along index {other} of `loaded`");
        [(here, "loaded[y, x + 1]".to_owned()), (elsewhere, "loaded[x, y]".to_owned())]
    };
    // Wherever it stands.
    assert_eq!(blamed("loaded[x, y] + loaded[y, x + 1] + loaded[x, y + 2]"), told("y", (0, 1)));
    assert_eq!(blamed("loaded[x, y] + loaded[x, y + 2] + loaded[y, x + 1]"), told("y", (0, 1)));
    assert_eq!(blamed("loaded[y, x + 1] + loaded[x, y] + loaded[x, y + 2]"), told("x", (1, 0)));
    let diagonal = "`loaded` is read here with `x` along index 0 and along index 1";
    assert_eq!(blamed("loaded[x, x]"), [(diagonal.to_owned(), "loaded[x, x]".to_owned())]);
    assert_eq!(
        blamed("loaded[x, 0] + loaded[0, x]"),
        [
            (
                "`loaded` is read here with `x` along index 1, elsewhere along index 0".to_owned(),
                "loaded[0, x]".to_owned()
            ),
            ("here `x` runs along index 0 of `loaded`".to_owned(), "loaded[x, 0]".to_owned()),
        ]
    );
    // Two arrays of one source.
    let turned = "
  - for y in 0..8:
    - for x in 0..8:
      - one[x, y] = loaded[x, y]
  - for y in 0..8:
    - for x in 0..8:
      - other[x, y] = loaded[x, y]
"
    .to_owned()
        + &output("one[x, y] + other[y, x]");
    let error = refused(&program(", one: {type: u16, shape: [8, 8]}, other: {type: u16, shape: [8, 8]}", &turned));
    assert_eq!(
        error.to_string(),
        "`other` is read here with `y` along index 0, a dimension of the data that `x` runs along"
    );
    assert_eq!(error.offending_text(), Some("other[y, x]"));
    assert_eq!(error.related()[0].to_string(), "here `x` runs along index 0 of `one`");
    assert_eq!(error.related()[0].offending_text(), Some("one[x, y]"));
}

/// Copies of a sum that add in another order than the program are those of integers.
#[test]
fn copies_of_sums_of_numbers_keep_their_order() {
    let text = |element: &str, nest: &str| {
        let text = format!(
            "
name: sums
schedule: dnn
inputs: {{input: {{type: {element}, shape: [16, 4]}}}}
outputs: {{output: {{type: {element}, shape: [16]}}}}
nest:
  - for x in 0..16:
    - output[x] = 0
{nest}"
        );
        Program::from_document(&Document::parse("sums.yaml", text).unwrap()).unwrap().program
    };
    let mixed = "  - for c in 0..2 unroll 2:
    - for k in 0..2:
      - for x in 0..16:
        - output[x] += input[x, k+2*c]
";
    let beside = "  - for k in 0..4 unroll 2:
    - for x in 0..16:
      - output[x] += input[x, k]
      - output[x] += input[x, 0]
";
    for (nest, message) in [
        (mixed, "copies of `c` would add in another order than the program"),
        (beside, "the copies of this statement are one sum, but the statement in line 12"),
    ] {
        assert!(extract(&text("i16", nest), |_| 0).is_ok());
        let error = extract(&text("bf16", nest), |_| 0).unwrap_err().diagnostic;
        assert!(error.message().starts_with(message), "{error:?}");
    }
    let all = mixed.replace("k in 0..2", "k in 0..2 unroll 2");
    assert!(extract(&text("bf16", &all), |_| 0).is_ok());
}
