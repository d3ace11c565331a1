//! Statements that Halide printed, against the nests of `apps`, and texts that no Halide printed.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use pushmem_halide::import;
use pushmem_nest::{Policy, Program};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn statements() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/statements");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 10);
    files
}

fn statement(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/statements/{name}.stmt"))).unwrap()
}

fn nest(name: &str) -> String {
    let text = import(&format!("{name}.stmt"), &statement(name)).unwrap().program.to_string();
    text.split_once("nest:\n").unwrap().1.to_owned()
}

/// The file of a nest is named as the statement, without the schedule.
#[test]
fn statements_compute_what_the_nests_of_apps_compute() {
    for file in statements() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let checked = pushmem_halide::read(&file).unwrap();
        assert!(checked.warnings.is_empty(), "{name}: {:?}", checked.warnings);
        let app = name.rsplit_once('_').unwrap().0;
        let app = Program::read(&root().join(format!("apps/{app}.yaml"))).unwrap().program;
        let inputs = app.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
        let (found, expected) = (checked.program.run(&inputs).unwrap(), app.run(&inputs).unwrap());
        for (output, image) in expected {
            assert_eq!(found[&output].values(), image.values(), "{name}: {output}");
        }
    }
}

/// Statements of random pipelines that were refused, or understood wrongly.
#[test]
fn what_was_found_is_understood() {
    for (name, expected) in [
        // Loops whose iterations change at every step of a loop around.
        ("triangular_loops", "output[x, y] = "),
        // An update in parts, some of which are loops of one iteration.
        ("updated_parts", "output[x, y] = "),
        // An initial value says nothing of the loops around, but the updates do.
        ("reduction_in_rows", "for y in 0..9:"),
        // Each place of a Func has loads of its own.
        ("places_apart", "output[x, y] = sel("),
        // Initial values of folded rows, in two parts of the loop (`random_459`).
        ("reduction_in_turns", "stage1[x, y] = stage0[x, y + 1] as i8 - stage0[x, y] as i8\n"),
        // Rows before the image, in the loop, and behind the image, with constant indices (`random_14`).
        ("rows_before_the_image", "min(1, stage1[x, y]), stage1[x + 1, y]), stage1[x, y + 1])"),
        // Columns in three parts, in folded rows (`random_319`).
        ("rows_in_three_parts", "= 0 + stage0[x, y] as i16 + stage0[x + 1, y] as i16 + stage0[x + 2, y] as i16 + "),
        // Rows that are computed again for each two rows of the consumer (`random_3`).
        ("rows_for_twice_the_rows", "stage1[x, y] = stage0[x, y] as i8 | 9\n"),
        // Tiles of a consumer with twice the rows and columns: a quotient of a few values (`random_306`).
        ("tiles_of_twice_the_rows", "output[x, y] = max(stage0[(x/2) + 2, (y/2)] as i16"),
        // Four copies of a statement that read two elements (`random_84`).
        (
            "copies_of_twice_the_columns",
            "for x in 0..12 unroll 4:\n      - output[x, y] = min((sel(stage1[(x/2), (y/2)]",
        ),
        // Counters of rows without a read (`random_59`).
        ("counted_rows", "stage1[x, y] = absd(stage0_95[x, y], stage0_95[x + 2, y])"),
        // One row, whose index is not in the text, for each two rows of the consumer (`random_400`).
        ("one_row_in_turn", "output[x, y] = min(stage2[(x/2), (y/2)], 255) as u8 % 4\n"),
        // Rows of which each second one is computed (`random_198`).
        ("skipped_rows", "output[x, y] = stage2[2*x, 2*y] as u8 & 60\n"),
        // The first row has no loop, and more columns than each part of the others (`random_369`).
        ("row_of_its_own", "for i1 in 0..10:\n    - for i0 in 0..17:\n"),
        // Folded rows for twice as many rows: their places are arrays of their own (`random_477`).
        ("rows_of_two_places", "stage2[x, y] = stage1_487[x, y] as i8 / 8\n"),
        // The last of each two rows, at a constant address (`random_460`).
        ("rows_without_a_loop", "output[x, y] = 5 + stage1[2*x, 2*y] as u16 + "),
        // Rows that each second iteration computes.
        (
            "rows_of_each_second_iteration",
            "u[x, i] = sel(x % 2 == 0, d[(x/2), (i/2)], (d[(x/2) + 1, (i/2)] + d[(x/2), (i/2)]) / 2)\n",
        ),
        // The values of a tuple, each of which has an array.
        ("tuple_in_rows", "o[x, y] = f_1_1[x + 1, y + 1] + f[x, y] as u16\n"),
        // An update reads both values from before it, though the first is stored before the second is.
        (
            "tuple_in_turns",
            "sel(a[x + 1, y] == 65535 && f_2_0[x, y] == 0, 1, sel(a[x, y] == 65535 && f[x, y] == 0, 0, 99))",
        ),
        // Halide leaves a smallest and a greatest value of numbers: their order is none of data (`random_181`).
        ("constants_alone", "output[x, y] = 0\n"),
        // The row below the image is the last one again, in a place of its own.
        ("rows_below_a_boundary", "- f[x, y] = a[x, clamp(y, 0, 11)] * 2 + "),
        // An unrolled consumer computes a Func with an update three times, one column further on each time.
        ("places_in_one_iteration", "sel(f[x + 2, y] == 65535, 1, 0)"),
        // The last tiles begin further inwards, where elements are computed again.
        ("tiles_that_do_not_divide", "- f[x, y] = a[x, y] * 2\n"),
        // A square root in eight steps, each of which uses the result of the last one four times: 65,536 steps as a tree.
        ("shared_lets", "out[x, y] = sel("),
    ] {
        let file = format!("{}/tests/found/{name}.stmt", env!("CARGO_MANIFEST_DIR"));
        let program = pushmem_halide::read(Path::new(&file)).unwrap().program.to_string();
        assert!(program.contains(expected), "{program}");
    }
}

/// The time that this thread has run, in seconds.
fn processor_time() -> f64 {
    let ran = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    ran.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// Tiles in tiles, with Funcs that are stored and computed at several levels: each took minutes, of which most went into
/// addresses that share parts by `let`, and into one reading of the places of Funcs after the other.
#[test]
fn deep_tiles_are_read_or_given_up_in_time() {
    for (name, message) in SLOW {
        let text = fs::read_to_string(format!("{}/tests/slow/{name}.stmt", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let before = processor_time();
        let imported = import(&format!("{name}.stmt"), &text);
        let took = processor_time() - before;
        assert_eq!(imported.err().as_ref().map(|refusal| refusal.message()), message, "{name}");
        assert!(took < 10.0, "{name} took {took:.1} s");
    }
}

/// A statement with a chain of names, each of which uses the one before it twice.
fn chain(length: usize, first: &str, next: impl Fn(String) -> String, stored: impl Fn(String) -> String) -> String {
    let lets = (1..=length).map(|number| format!("   let t{number} = {}\n", next(format!("t{}", number - 1))));
    format!(
        "// input: u16[16, 8]\n// out: u16[16, 8]\nmodule name=out, target=x86-64-linux-no_asserts-no_bounds_query-no_runtime\n\
         external_plus_metadata func out (input, out) {{\nproduce out {{\n for (out.s0.y, 0, 8) {{\n  \
         for (out.s0.x, 0, 16) {{\n   let t0 = {first}\n{}   out[(out.s0.y*16) + out.s0.x] = {}\n  }}\n }}\n}}\n}}\n",
        lets.collect::<String>(),
        stored(format!("t{length}"))
    )
}

/// As a tree, a chain of 80 names that are used twice each has 2^80 operations.
#[test]
fn chains_of_shared_names_take_linear_time() {
    let load = "input[(out.s0.y*16) + out.s0.x]";
    for (of, number) in [("int32", ""), ("uint32", "(uint32)")] {
        let halved = |name: String| format!("({name}*{number}3) + ({name}/{number}2)");
        let stored = |name: String| format!("uint16({name}/{number}65536) + uint16({name})");
        let before = processor_time();
        let [short, long] = [40, 80].map(|length| {
            let text = chain(length, &format!("{of}({load})"), halved, stored);
            import(of, &text).unwrap().program.to_string()
        });
        let took = processor_time() - before;
        assert!(long.len() < 5 * short.len() / 2, "{of}: {} and {} letters", short.len(), long.len());
        assert!(took < 10.0, "{of} took {took:.1} s");
    }
    // In an address.
    let limited = |name: String| format!("max(min({name} + 1, 14), {name})");
    let of_address = |name| format!("input[(out.s0.y*16) + {name}]");
    let before = processor_time();
    import("address", &chain(80, "out.s0.x", limited, of_address)).unwrap();
    assert!(processor_time() - before < 5.0);
}

/// Names of statements, and the messages of those that are refused.
const SLOW: [(&str, Option<&str>); 4] = [
    ("parts_of_deep_tiles", Some("the parts of this Func cannot be put together")),
    ("places_of_three_levels", None),
    (
        "shared_addresses",
        // Where a tile is at the edge, rows have one element, and not four.
        Some(
            "the next iteration of `f0$93.s0.y.rebased` writes 1 element further in some iterations of the loops around, and 4 in \
             others",
        ),
    ),
    ("rows_of_tiles_in_tiles", Some("it is not known which of the last 32 elements is read")),
];

/// Where a Func is used in some iterations only, there it is allocated and computed.
#[test]
fn an_allocation_may_have_a_condition() {
    for (allocated, used) in
        [("if f.used", "2 <= output.s0.y"), ("in Stack if (f.used)", "2 <= output.s0.y"), ("", "1 < output.s0.y")]
    {
        let text = format!(
            "// input: u16[8, 4]
module name=test, target=x86-64
external_plus_metadata func test (input, output) {{
produce output {{
 for (output.s0.y, 0, 4) {{
  let f.used = {used}
  allocate f[uint16 * 8] {allocated}
  if (f.used) {{
   produce f {{
    for (f.s0.x, 0, 8) {{
     f[f.s0.x] = input[f.s0.x + (output.s0.y*8)]*(uint16)3
    }}
   }}
  }}
  for (output.s0.x, 0, 8) {{
   output[output.s0.x + (output.s0.y*8)] = select(f.used, f[output.s0.x], (uint16)7)
  }}
 }}
}}
}}
"
        );
        let program = import("test.stmt", &text).unwrap().program.to_string();
        assert!(program.contains("for y in 2..4:") && program.contains("outside(f[x, y], 7)"), "{program}");
    }
}

/// Where a loop updates the values of a tuple again and again, there is no array for each of them.
#[test]
fn tuples_are_not_updated_in_a_loop() {
    let update = "let f.0.value = f.0[output.s0.x] + f.1[output.s0.x]
   let f.1.value = f.0[output.s0.x]
   f.0[output.s0.x] = f.0.value
   f.1[output.s0.x] = f.1.value";
    let text = |before: &str, after: &str| {
        format!(
            "// output: u16[8]
module name=test, target=x86-64
external_plus_metadata func test (output) {{
allocate f.0[uint16 * 8]
allocate f.1[uint16 * 8]
produce f {{
 for (output.s0.x, 0, 8) {{
  f.0[output.s0.x] = uint16(output.s0.x)
  f.1[output.s0.x] = (uint16)1
 }}
 for (output.s0.x, 0, 8) {{
{before}   {update}
{after} }}
}}
produce output {{
 for (output.s0.x, 0, 8) {{
  output[output.s0.x] = f.0[output.s0.x] - f.1[output.s0.x]
 }}
}}
}}
"
        )
    };
    let program = import("test.stmt", &text("", "")).unwrap().program;
    let output = program.run(&Default::default()).unwrap().remove("output").unwrap();
    assert_eq!(output.values(), [1; 8]);
    let (message, line, help) = refused(&text("  for (f.s1.r4$x, 0, 3) {\n", "  }\n"));
    assert_eq!(message, "the loop `f.s1.r4$x` updates the values of a tuple from each other");
    assert!(line == 15 && help.contains("unroll"), "{line}: {help}");
}

/// A line at the top says how to schedule, as a nest does.
#[test]
fn a_statement_says_its_schedule() {
    let text = POINTWISE.replace("VALUE", "input[output.s0.x + output.s0.y*8]");
    let program = import("test.stmt", &format!("// schedule: dnn\n{text}")).unwrap().program;
    assert_eq!(program.schedule, Some(Policy::Dnn));
    let (message, line, _) = refused(&format!("// schedule: raster\n{text}"));
    assert_eq!((message.as_str(), line), ("unknown schedule `raster`", 1));
}

#[test]
fn texts_read_back() {
    for file in statements() {
        let program = pushmem_halide::read(&file).unwrap().program;
        let document = pushmem_files::Document::parse("printed.yaml", program.to_string()).unwrap();
        assert_eq!(Program::from_document(&document).unwrap().program.to_string(), program.to_string());
    }
}

#[test]
fn a_sliding_window_is_a_whole_array() {
    let nest = nest("gaussian_sliding");
    assert!(nest.starts_with("  - for y in 0..64:\n    - for i0 in 0..64:\n"), "{nest}");
    assert!(!nest.contains('%'), "{nest}");
}

#[test]
fn tiles_and_recomputed_borders_are_one_array() {
    let nest = nest("harris_tiled");
    assert_eq!(nest.matches("for ").count(), 20, "{nest}");
    assert!(nest.contains("for y in 0..58:"), "{nest}");
}

#[test]
fn copies_of_a_statement_are_an_unrolled_loop() {
    let nest = nest("unsharp_unrolled");
    assert!(nest.contains("for x in 0..60 unroll 2:"), "{nest}");
    assert!(nest.contains("for i in 0..3 unroll 3:"), "{nest}");
}

#[test]
fn partitioned_loops_are_one_boundary() {
    assert!(nest("bc_const_inline").contains("outside(input[x - 1, y - 1], 0)"));
    assert!(nest("bc_repeat_rows").contains("input[clamp(i0 - 1, 0, 63), clamp(i1 - 1, 0, 63)]"));
}

#[test]
fn a_reduction_adds_to_its_element() {
    let program = import("matmul.stmt", &statement("matmul_blocked")).unwrap().program;
    assert_eq!(program.policy(), Policy::Dnn);
    let nest = program.to_string();
    assert!(nest.contains("for x in 0..64 unroll 8:") && nest.contains("] += "), "{nest}");
}

#[test]
fn a_func_of_constants_is_a_table() {
    let program = import("camera.stmt", &statement("camera_pipeline_rows")).unwrap().program;
    assert_eq!(program.tables[0].values[..8], [0, 0, 0, 0, 0, 1, 1, 1]);
}

#[test]
fn loops_follow_the_order_in_which_streams_arrive() {
    // Columns that are computed as they are needed, and columns in parts.
    let rows = nest("brighten_blur_columns");
    assert!(rows.starts_with("  - for y in 0..64:\n    - for x in 0..64:\n"), "{rows}");
    assert!(rows.contains("  - for y in 0..63:\n    - for x in 0..63:\n"), "{rows}");
    assert!(nest("bc_mirror_columns").contains("for y in 0..64:\n    - for x in 0..64:\n"));
    let order = |text: &str| {
        let program = import("test.stmt", text).unwrap().program.to_string();
        let loops = program.lines().filter_map(|line| line.trim_start().strip_prefix("- for ")?.split(' ').next());
        loops.collect::<String>()
    };
    let text = POINTWISE.replace("input: u16[8, 4]", "input: u16[8, 8]");
    let value = |value: &str| text.replace("VALUE", value);
    let (straight, transposed) = ("input[output.s0.x + output.s0.y*8]", "input[output.s0.x*8 + output.s0.y]");
    assert_eq!(order(&value(straight)), "yx");
    assert_eq!(order(&value(transposed)), "xy");
    // A Func that reads nothing has its own order, and that of its reader if there is one.
    assert_eq!(order(&value("uint16(output.s0.x + output.s0.y)")), "yx");
    let ramp = "allocate ramp[uint16 * 32]
produce ramp {
 for (ramp.s0.x, 0, 8) {
  for (ramp.s0.y, 0, 4) {
   ramp[ramp.s0.x + (ramp.s0.y*8)] = uint16(ramp.s0.x + ramp.s0.y)
  }
 }
}
consume ramp {
produce output {";
    let after = |value: &str| {
        let text = text.replace("VALUE", value).replace("produce output {", ramp);
        text.trim_end().to_owned() + "\n}\n"
    };
    assert_eq!(order(&after(&format!("{straight} + ramp[output.s0.x + output.s0.y*8]"))), "yxyx");
    assert_eq!(order(&after("ramp[output.s0.x + output.s0.y*8]")), "xyyx");
    // A Func that reads one row only follows its reader, too.
    let row = after(&format!("ramp[output.s0.x + output.s0.y*8] + {straight}"));
    assert_eq!(order(&row.replace("uint16(ramp.s0.x + ramp.s0.y)", "input[ramp.s0.x]")), "yxyx");
    // A network keeps its arrays, and its loops.
    assert_eq!(order(&format!("// schedule: dnn\n{}", value(transposed))), "yx");
    let (message, line, help) = refused(&value(&format!("{straight} + {transposed}")));
    assert_eq!(message, "`output` reads `input` with its loop `y` around `x`, and with `x` around `y`");
    assert!(line == 9 && help.contains("// schedule: dnn"), "{line}: {help}");
}

const POINTWISE: &str = "// input: u16[8, 4]
module name=pointwise, target=x86-64
external_plus_metadata func pointwise (input, output) {
let input = (void *)_halide_buffer_get_host((struct halide_buffer_t *)input.buffer)
let output = (void *)_halide_buffer_get_host((struct halide_buffer_t *)output.buffer)
produce output {
 for (output.s0.y, 0, 4) {
  for (output.s0.x, 0, 8) {
   output[output.s0.x + (output.s0.y*8)] = VALUE
  }
 }
}
}
";

fn refused(text: &str) -> (String, usize, String) {
    let problem = import("test.stmt", text).expect_err(text);
    let (_, line, _) = problem.location().unwrap();
    (problem.message().to_owned(), line, problem.help().unwrap_or_default().to_owned())
}

#[test]
fn what_has_no_hardware_is_refused_where_it_is() {
    let value = |value: &str| refused(&POINTWISE.replace("VALUE", value));
    for (text, message) in [
        ("sqrt_f32(input[0])", "a call of `sqrt_f32`"),
        ("uint16(float32(input[0]))", "the type `float32`"),
        ("(uint16)dynamic_shuffle(input[0], 0, 0, 1)", "a call of `dynamic_shuffle`"),
        (
            "uint16((uint32)mul_shift_right(uint32(input[0]), (uint32)7, (uint32)4))",
            "`mul_shift_right` of 32 bits needs 64",
        ),
        ("(uint16)random_int(input[0])", "a call of `random_int`"),
        ("uint16(int64(input[0]))", "the type `int64`"),
        ("uint16x8(input[0])", "the type `uint16x8`"),
        ("input[0] + 1.5f", "`1.5f` is not an integer"),
        ("input[int32(input[output.s0.x])]", "`input` is looked up by data, but is itself no table of constants"),
        (
            "input[output.s0.x*output.s0.y]",
            "this address is not a sum of loop variables times constants, limited or divided by constants",
        ),
        ("input[output.s0.x + 31]", "this address does not fall into dimensions of 8 × 4"),
        ("input[output.s0.x] + factor", "unknown name `factor`"),
        ("input[output.s0.x] + input", "`input` is a number"),
        ("input[output.s0.x] +", "expected an operand, found `}`"),
        ("input[output.s0.x] + missing[0]", "unknown buffer `missing`"),
    ] {
        let (found, line, _) = value(text);
        assert_eq!(found, message, "{text}");
        assert!((3..=10).contains(&line), "{text}: line {line}");
    }
    let (message, line, help) = refused(&POINTWISE.replace("for (output.s0.x", "vectorized (output.s0.x"));
    assert_eq!((message.as_str(), line), ("a vectorized loop", 8));
    assert!(help.contains("unroll"), "{help}");
    let (message, line, _) = refused(&POINTWISE.replace("output.s0.x, 0, 8", "output.s0.x, 0, n"));
    assert_eq!((message.as_str(), line), ("unknown name `n`", 8));
    let (message, line, _) = refused("name: nest\n");
    assert_eq!((message.as_str(), line), ("expected `module`, found `name`", 1));
}

/// A number beyond those of indices, which changes nothing.
#[test]
fn a_number_of_iterations_is_what_it_comes_to() {
    let read = |extent: &str| {
        let text = POINTWISE.replace("VALUE", "input[output.s0.x + output.s0.y*8]");
        let text = text.replace("output.s0.x, 0, 8", &format!("output.s0.x, 0, {extent}"));
        import("test.stmt", &text).unwrap().program.to_string()
    };
    assert_eq!(read("min(max(output.s0.y, 2000000000), 8)"), read("8"));
}

/// A condition on the smaller of two counters is one on both, as where columns are folded.
#[test]
fn a_condition_may_be_on_two_loops() {
    let nest = |condition: &str| {
        let text = POINTWISE.replace("VALUE", "input[(output.s0.x + output.s0.y*8) + -9]\n   }");
        let text = text.replace("   output[", &format!("   if ({condition}) {{\n   output["));
        let text =
            text.replace("(output.s0.y*8)]", "(output.s0.y*8) + -9]").replace("output.s0.x, 0, 8", "output.s0.x, 0, 9");
        import("test.stmt", &format!("// output: u16[8, 3]\n{text}")).unwrap().program.to_string()
    };
    let expected = nest("(1 <= output.s0.x) && (1 <= output.s0.y)");
    assert!(expected.contains("for y in 0..3:") && expected.contains("for x in 0..8:"), "{expected}");
    assert_eq!(nest("1 <= min(output.s0.x, output.s0.y)"), expected);
    assert_eq!(nest("max(1 - output.s0.x, 1 - output.s0.y) < 1"), expected);
}

/// Loops that are unrolled are bounded though nothing in them is ever stored.
#[test]
fn unrolled_loops_end() {
    let text = POINTWISE.replace("VALUE", "input[0]").replace("for (output", "unrolled (output");
    let text = text.replace("output.s0.y, 0, 4", "output.s0.y, 0, 2000000000");
    let (message, line, help) = refused(&text.replace("output.s0.x, 0, 8", "output.s0.x, 0, max(output.s0.y, 0) * 0"));
    assert_eq!((message.as_str(), line, help.as_str()), ("more than 200000 iterations are unrolled", 7, "unroll less"));
}

/// Errors of the nest language point into the statement, too.
#[test]
fn checks_of_the_nest_point_into_the_statement() {
    let (message, line, _) = refused(
        &POINTWISE
            .replace("0, 4)", "0, 3)")
            .replace("// input", "// output: u16[8, 4]\n// input")
            .replace("VALUE", "input[output.s0.x]"),
    );
    assert_eq!((message.as_str(), line), ("`output[0, 3]` is never written", 4));
}

/// A pointwise program with a Func before the output, in the statements `produce`.
fn with_local(allocate: &str, produce: &str, value: &str) -> String {
    let local = format!("   allocate f[{allocate}]\n   produce f {{\n{produce}\n   }}\n   consume f {{\n   output[");
    let text = POINTWISE.replace("VALUE", &format!("{value}\n   }}\n   free f"));
    text.replace("   output[", &local)
}

fn outputs(text: &str) -> Vec<i64> {
    let program = import("test.stmt", text).unwrap().program;
    let inputs = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
    program.run(&inputs).unwrap()["output"].values().to_vec()
}

/// Halide keeps truth values in bytes. Of a byte that is no truth value, it takes the lowest bit.
#[test]
fn truth_values_are_kept_in_bytes() {
    let here = "input[output.s0.x + (output.s0.y*8)]";
    let mask = with_local(
        "uint8 * 1",
        &format!("f[0] = uint8((uint16)4 < {here})"),
        "select(uint1(f[0]), (uint16)1, (uint16)0)",
    );
    let odd = POINTWISE
        .replace("VALUE", &format!("select(uint1({here}) || !uint1(uint8({here})), uint16(uint1({here})), (uint16)7)"));
    let program = import("test.stmt", &mask).unwrap().program;
    assert!(program.to_string().contains("output[x, y] = sel(f[x, y] & 1 != 0, 1, 0)"), "{program}");
    let image = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1))["input"].values().to_vec();
    assert_eq!(outputs(&mask), image.iter().map(|value| i64::from(*value > 4)).collect::<Vec<_>>());
    assert_eq!(outputs(&odd), image.iter().map(|value| value % 2).collect::<Vec<_>>());
}

/// Where the value of a Func of 32 bits is known, it is a part of what reads it; otherwise an array holds it.
#[test]
fn funcs_of_32_bits_are_parts_of_expressions() {
    let here = "input[output.s0.x + (output.s0.y*8)]";
    let sum = |update: &str| {
        let produce = format!("f[0] = (uint32)1\nf[1] = uint32({here})\n{update}");
        with_local("uint32 * 2", &produce, "uint16(f[0]/(uint32)70000) + uint16(f[1])")
    };
    let unrolled = sum(&format!("f[0] = f[0] + uint32({here})*(uint32)60000\nf[0] = f[0] + f[1]"));
    let nest = import("test.stmt", &unrolled).unwrap().program.to_string();
    assert!(!nest.contains("buffers:"), "{nest}");
    let program = import("test.stmt", &unrolled).unwrap().program;
    let image = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1))["input"].values().to_vec();
    let expected = |value: &i64| ((value * 60001 + 1) / 70000 + value) & 0xffff;
    assert!(image.iter().all(|value| value * 60001 < 1 << 32));
    assert_eq!(outputs(&unrolled), image.iter().map(expected).collect::<Vec<_>>());
    // A loop that adds, and one whose last iteration is read.
    for (update, of) in [
        (format!("for (f.s1.r, 0, 3) {{\nf[0] = f[0] + uint32({here})\n}}"), 3),
        (format!("for (f.s1.r, 0, 3) {{\nf[1] = uint32({here})\n}}"), 0),
    ] {
        let nest = import("test.stmt", &sum(&update)).unwrap().program.to_string();
        assert!(nest.contains("type: u32"), "{nest}");
        let expected = image.iter().map(|value| ((value * of + 1) / 70000 + value) & 0xffff);
        assert_eq!(outputs(&sum(&update)), expected.collect::<Vec<_>>());
    }
    // An element that it is computed of changes before it is read.
    let local = |between: &str| {
        let produce = format!(
            "allocate g[uint16 * 1]\nproduce g {{\ng[0] = {here}\n}}\nf[0] = uint32(g[0])*(uint32)3\n{between}"
        );
        with_local("uint32 * 1", &produce, "uint16(f[0])")
    };
    assert!(import("test.stmt", &local("")).is_ok());
    let changed = local("produce g {\ng[0] = (uint16)5\n}");
    let refusal = import("test.stmt", &changed).unwrap_err();
    assert_eq!(refusal.message(), "it is not known which elements of the Func these are");
}

/// A look-up of one entry of a buffer of constants is a number, and the nest has no table.
#[test]
fn entries_at_constant_addresses_are_numbers() {
    let text = POINTWISE.replace("VALUE", "input[output.s0.x + (output.s0.y*8)]*weights[1] + weights[output.s0.y]");
    let text = text
        .replace("module", "// weights: u16[4] = 5, 6, 7, 8\nmodule")
        .replace("64\n", "64\nbuffer weights = {...}\n\n");
    let both = import("test.stmt", &text).unwrap();
    assert!(both.program.to_string().contains("output[x, y] = input[x, y] * 6 + weights[y]"), "{}", both.program);
    let one = import("test.stmt", &text.replace(" + weights[output.s0.y]", "")).unwrap();
    assert!(one.program.tables.is_empty() && one.warnings.is_empty(), "{}", one.program);
}

/// The names of arguments that are words of nests have numbers there, which a warning says.
#[test]
fn renamed_arguments_are_told() {
    let text = POINTWISE.replace("VALUE", "input[output.s0.x + (output.s0.y*8)]");
    let checked = import("test.stmt", &text.replace("input", "clamp")).unwrap();
    let [warning] = checked.warnings.as_slice() else { panic!("{:?}", checked.warnings) };
    assert_eq!(warning.message(), "`clamp` is called `clamp_2` in the nest: it is a word of the language of nests");
    assert!(!warning.is_error());
    assert!(checked.program.to_string().contains("= clamp_2[x, y]"));
    // Names that are words elsewhere.
    for name in ["schedule", "let", "for", "ramp", "free"] {
        let program = import("test.stmt", &text.replace("input", name)).unwrap().program;
        assert!(program.to_string().contains(name), "{program}");
    }
}

/// The parts of a loop may be dimensions of what is not declared, or not.
#[test]
fn shapes_of_which_several_are_possible_must_be_declared() {
    let text = POINTWISE.replace("VALUE", "input[output.s0.x + (output.s0.y*8)]");
    assert!(import("test.stmt", &text).unwrap().program.to_string().contains("output: {type: u16, shape: [8, 4]}"));
    let split =
        "for (output.s0.x.xo, 0, 2) {\n  for (output.s0.x.xi, 0, 4) {\n   let x = output.s0.x.xo*4 + output.s0.x.xi";
    let text = text
        .replace("for (output.s0.x, 0, 8) {", split)
        .replace("output.s0.x +", "x +")
        .replace(" }\n}\n}", " }\n}\n}\n}");
    assert_eq!(refused(&text).0, "the shape of `output` does not follow from its addresses");
    let declared = import("test.stmt", &format!("// output: u16[8, 4]\n{text}")).unwrap().program.to_string();
    assert!(declared.contains("for x in 0..8:"), "{declared}");
}

#[test]
fn what_is_not_printed_must_be_declared() {
    let text = POINTWISE.replace("// input: u16[8, 4]\n", "");
    let (message, _, help) = refused(&text.replace("VALUE", "uint8(input[output.s0.x])"));
    assert_eq!(message, "the type of `input` does not follow from what it is used with");
    assert!(help.contains("// input: u16[64, 64]"), "{help}");
    let (message, _, _) = refused(&text.replace("VALUE", "input[output.s0.x*3] + (uint16)1"));
    assert_eq!(message, "the shape of `input` does not follow from its addresses");
    let (message, line, _) = refused(&POINTWISE.replace("u16[8, 4]", "u16[8, -4]"));
    assert_eq!((message.as_str(), line), ("this declaration cannot be read", 1));
}

/// A Func that has gaps, and something between that is read: values of another definition, or what an output lacks.
#[test]
fn gaps_that_are_read_are_not_filled() {
    let row = |address: &str, value: &str, rows: usize| {
        format!(" for (f.y, 0, {rows}) {{\n  for (f.x, 0, 8) {{\n   {address} = {value}\n  }}\n }}\n")
    };
    let text = |body: &str| {
        format!(
            "// input: u8[8, 16]\n// output: u8[8, 15]\nmodule name=gaps, target=x86-64\n\
             external_plus_metadata func gaps (input, output) {{\n{body}}}\n"
        )
    };
    let input = "input[f.x + f.y*8]";
    let whole = row("output[f.x + f.y*8]", input, 15);
    let of_output = row("output[f.x + f.y*16]", input, 8);
    let over_output = format!("{whole}{}", row("output[f.x + f.y*16]", "(uint8)7", 8));
    let read = row("output[f.x + f.y*8]", "f[f.x + f.y*8]", 15);
    let over_local = format!(
        "allocate f[uint8 * 8 * 16]\n{}{}{read}free f\n",
        row("f[f.x + f.y*8]", input, 16),
        row("f[f.x + (f.y*2 + 3)*8]", "(uint8)7", 2)
    );
    for body in [of_output, over_output, over_local] {
        let body = format!("produce output {{\n{body}}}\n");
        assert_eq!(refused(&text(&body)).0, "the parts of this Func cannot be put together", "{body}");
    }
}

/// Two folded rows, of `columns`, whose address has this remainder and factor.
fn two_folded_rows(columns: usize, row: &str, value: &str) -> String {
    format!(
        "// input: u8[{columns}, 6]
// output: u8[{columns}, 3]
module name=turns, target=x86-64
external_plus_metadata func turns (input, output) {{
allocate f[uint8 * {columns} * 2]
produce output {{
 for (output.s0.y, 0, 3) {{
  for (f.s0.y, 0, 2) {{
   let t = output.s0.y*2 + f.s0.y
   for (f.s0.x, 0, {columns}) {{
    f[{row} + f.s0.x] = input[t*{columns} + f.s0.x]
   }}
  }}
  for (output.s0.x, 0, {columns}) {{
   output[output.s0.x + output.s0.y*{columns}] = {value}
  }}
 }}
}}
free f
}}
"
    )
}

/// All loads of a row are found to follow a loop at once: one after the other takes more accesses than are executed.
#[test]
fn many_loads_of_a_folded_row_are_understood() {
    let loads = (0..150).map(|by| format!("f[max(output.s0.x - {by}, 0) + 1000]")).collect::<Vec<_>>().join(" + ");
    let text = two_folded_rows(1000, "(t % 2)*1000", &loads);
    let nest = import("turns.stmt", &text).unwrap().program.to_string();
    assert!(nest.contains("f[x, 2*y + 1]"), "{nest}");
}

/// Factors and remainders that are negative, or too large, are no folded rows.
#[test]
fn remainders_of_folded_rows_are_positive() {
    let value = "f[output.s0.x + 16]";
    assert!(import("turns.stmt", &two_folded_rows(16, "(t % 2)*16", value)).is_ok());
    for row in ["((t % -2)*-16 + 16)", "((t % 2)*4000000000000*4000000000000)", "((t % 4000000000000)*4000000000000)"] {
        assert!(import("turns.stmt", &two_folded_rows(16, row, value)).is_err(), "{row}");
    }
}

/// Elements of a tile that depend on more than where they are.
#[test]
fn an_element_with_several_values_is_refused() {
    let text = "
// input: u16[8, 4]
module name=several, target=x86-64
external_plus_metadata func several (input, output) {
produce output {
 for (output.s0.y, 0, 4) {
  for (output.s0.x, 0, 8) {
   output[output.s0.x] = input[output.s0.x + (output.s0.y*8)]
  }
 }
}
}
";
    assert_eq!(refused(text).0, "the value depends on the loop `output.s0.y`, but the element does not");
}

fn mutated() -> impl Strategy<Value = String> {
    let texts: Vec<String> = ["gaussian_sliding", "bc_const_inline", "up_sample_rows"].map(statement).to_vec();
    let words =
        ["(", ")", "{", "}", "[", "]", "-1", "0", "4294967296", "max(", " if ", "let x = ", "x8(", "%", "\u{fc}"];
    let edits =
        prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, prop::sample::select(words.to_vec())), 1..6);
    (prop::sample::select(texts), edits).prop_map(|(mut text, edits)| {
        for (place, removed, inserted) in edits {
            let start = text.floor_char_boundary(place.index(text.len()));
            let end = text.floor_char_boundary((start + removed).min(text.len()));
            text.replace_range(start..end.max(start), inserted);
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the text is: a program or a message, not a panic.
    #[test]
    fn mutated_texts_are_read_or_refused(text in mutated()) {
        let _ = import("mutated.stmt", &text);
    }

    #[test]
    fn arbitrary_texts_are_refused(text in "(module name=a func f \\(|)[a-z0-9 ()\\[\\]{}+*/%<=.$-]{0,80}") {
        prop_assert!(import("arbitrary.stmt", &text).is_err());
    }
}
