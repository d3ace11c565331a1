//! Pipelines, with what Halide computes of them, and bytes that are no pipelines.
//!
//! `tests/pipelines/write.py` writes the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use pushmem_files::{Diagnostic, Document};
use pushmem_float::Format;
use pushmem_halide::{Floats, Loops, import, import_with_loops};
use pushmem_images::Image;
use pushmem_nest::{ArrayKind, Program};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pipelines")
}

/// The names of the pipelines in a folder of the tests.
fn files(beside: &str) -> Vec<String> {
    let files = fs::read_dir(folder().join("..").join(beside)).unwrap().map(|entry| entry.unwrap().path());
    let pipelines = files.filter(|file| file.extension().is_some_and(|extension| extension == "hlpipe"));
    let mut names: Vec<String> =
        pipelines.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn pipelines() -> Vec<String> {
    let names = files("pipelines");
    assert!(names.len() > 10);
    names
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(folder().join(format!("{name}.hlpipe"))).unwrap()
}

fn image(name: &str, array: &str) -> Image {
    Image::read_any(&folder().join(format!("{name}.{array}.npy"))).unwrap()
}

fn nest(name: &str) -> String {
    import(&format!("{name}.hlpipe"), &bytes(name), Floats::Exact).unwrap().program.to_string()
}

#[test]
fn pipelines_compute_what_halide_computes() {
    for name in pipelines() {
        let checked = import(&format!("{name}.hlpipe"), &bytes(&name), Floats::Exact).unwrap();
        // Four have loops whose copies are not known to be of different elements.
        let is_told = |warning: &Diagnostic| {
            ["backwards", "outer_unrolled", "own_index_unrolled", "scattered"].contains(&&*name)
                && warning.message().ends_with("is not unrolled: copies of it may use elements of each other")
        };
        assert!(checked.warnings.iter().all(is_told), "{name}: {:?}", checked.warnings);
        let program = checked.program;
        let inputs: BTreeMap<String, Image> =
            program.arrays_of(ArrayKind::Input).map(|array| (array.name.clone(), image(&name, &array.name))).collect();
        let found = program.run(&inputs).unwrap();
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(found.values().next().unwrap().values(), image(&name, "output").values(), "{name}");
    }
}

#[test]
fn nests_say_what_the_schedules_say() {
    for (name, expected) in [
        // The producer and its reader have two neighbours at once, and the buffer between them stays a buffer.
        (
            "line_buffer_unrolled",
            "for x in 0..16 unroll 2:\n      - bx[x, y] = (input[x, y] + input[x + 1, y] + input[x + 2, y]) / 3",
        ),
        (
            "line_buffer_unrolled",
            "for x in 0..16 unroll 2:\n      - by[x, y] = (bx[x, y] + bx[x, y + 1] + bx[x, y + 2]) / 3",
        ),
        // A limit around an index that takes turns: the copy has all that is limited.
        ("limited_turns", "output[x_2 + 2*x, y] = input_moved[2*x_2 + x - 1, y]"),
        // Zeros around an image are read once, into an array of their own.
        ("same_padding", "constant_exterior[i0, i1] = input[i0, i1]"),
        // Copies of an update that read nothing of each other.
        ("trellis", "for r_x in 0..4 unroll 4:\n      - metric[r_x, r_y] = "),
        // Even and odd columns are two reads, each of which streams.
        ("reordered", "sel(x % 2 == 0, input[(x/2), y], "),
        ("same_padding", "values: [-4, -3, -2"),
        // Two steps of the reduction are one sum.
        ("unrolled_around", "sums[x, y] += input["),
        // The index of the least element is of 32 bits, and fits 16.
        ("nearest", "least_0: {type: u16, shape: [16, 8]}"),
        ("accumulated", "output[x, y] = output_so_far[x, y]"),
        ("greatest", "most[x, y] = max(most[x, y], input[r_x + x, r_y + y])"),
        ("without_inputs", "  curve:\n    type: u8\n    values: [0, 0, 0,"),
        ("gained", "gain: {type: u8, shape: [1]}"),
        // Numbers are added in the order of the schedule.
        ("number_sums", "for r_x in 0..4 unroll 2:"),
        ("number_sums", "sums[x, y] += input[r_x + x, r_y + y] * 0.30078125"),
        ("number_functions", "reciprocal("),
        ("number_functions", "values: [0.0, 1.0, 1.4140625,"),
        ("number_strict", "min(input[x, y], input[x + 1, y]) + 0.30078125"),
        ("narrowed", "input[x, y] as bf16"),
        // All magnitudes beyond 16 bits are infinite.
        ("narrowed_integers", ", 65535) as u16 as f16"),
        // Data choose the element that is updated, and 128 pixels fit 16 bits.
        ("histogram", "output_so_far[input[r_x, r_y]] += 1"),
        ("equalized", "bins: {type: u16, shape: [256]}"),
        ("grid", "sums_1[x, y, input[r_x + 4*x, r_y + 4*y] as i32 / 32] += 1"),
        (
            "warped",
            "for x in 0..16 unroll 2:\n      - output[x, y] = input[max(min(x + moves[x, y] as i32 / 16, 15), 0), y]",
        ),
        // Copies that store different elements are iterations.
        ("scattered", "for r_x in 0..64:\n    - output_so_far[places[r_x] as i32 % 64] = input[r_x]"),
        ("backwards", "output_so_far[x] = sel(1 <= x && x <= 63 && (63 - x) % 2 == 0, input["),
        // A promise is a limit only where the type says less.
        ("promised", "output[x] = input[(places[x] / 8) as i32 + places[x] as i32 / 8] + x as u8"),
        ("chosen_by_promise", "kept: {type: u8, shape: [16]}"),
        // One of two values that are updated from each other is kept aside.
        ("exchanged", "- pair_0_next[r_x_16 + 16*r_x] = pair_1[r_x_16] + input[r_x_16 + 16*r_x]"),
        ("exchanged_once", "- pair_0_next[0] = pair_1[3]"),
        ("exchanged_by_data", "pair_0[input[r_x] % 16] = pair_0_next[r_x]"),
        // Of a limit around two terms, a copy has what is limited, and of two terms a dimension for each.
        ("enlarged_edge", "+= kept_moved_2[r_x + x, r_y + y] as u16"),
        ("limited_positions", "constant_exterior_spread[i0, i1, i2] = constant_exterior[i0 + i1, i2]"),
        ("mirrored_by_hand", "+= kept_spread_moved_3[x, r_x, r_x + y] as u16"),
        // All whole periods of a reflection are in one copy.
        (
            "mirrored_often",
            "for turn in 0..2:\n      - for i0 in 0..8:\n        - kept_moved[i0 + 16*turn - 8, i1] = kept[-i0 + 7, i1]",
        ),
        ("number_remainders", "tanh(input[x, y])"),
        // Each level of a dimension streams into the next, and a domain that ends before it is a choice.
        ("doubled_columns", "columns_1[x, y] = sel(y <= 15, max("),
        ("doubled_columns", "columns_3[x, y] = max(columns_2[x, y], columns_2[x, y + 4])"),
        ("time_steps", "heat_4[x, y] = sel(1 <= x && x <= 14 && 1 <= y && y <= 14, (outside(heat_3[x - 1, y], 0)"),
        // Iterations read a level as it was before their stage, too.
        ("levels_in_turn", "levels_2[x, y] = sel(x <= 14, outside(levels_1[x + 1, y], 0) / 2 + input[x, y] / 2, "),
        // Updates of other elements are parts of the definition, and so is a filter that follows it.
        ("framed", "sel(5 <= x && x <= 10 && 4 <= y && y <= 7, "),
        ("unrolled_columns", "for x in 0..64:\n      - part[x, y] = sel(x <= 2, input[x, y] / 2, input[x, y])"),
        ("recursive", "= sel(1 <= y, (3 * outside(filtered_before[x, y - 1], 0) + input[x, y] as u16) / 4, "),
        // A filter up the columns goes along them from the last element to the first.
        ("recursive", "[x, -y + 15] = sel(1 <= y, (3 * outside(filtered_before_2[x, -y + 16], 0) + "),
        ("recursive", "filtered[x, y] = sel(1 <= y, (outside(filtered[x, y - 1], 0) + 3 * "),
        // Sweeps stream into each other.
        (
            "swept",
            "- relaxed[x, y] = sel(1 <= x && x <= 6 && 1 <= y && y <= 10, (outside(relaxed[x - 1, y], 0) + outside(relaxed_before_3[x + 1, y], 0)",
        ),
        // Loops along dimensions of the Func go into each sweep, and sweeps for which no scan is made stay a loop.
        (
            "swept_columns",
            "- relaxed[x, y] = sel(1 <= y && y <= 10, (outside(relaxed[x, y - 1], 0) + outside(relaxed_before_3[x, y + 1], 0)) / 2, ",
        ),
        ("swept_back", "for r_y in 0..3:\n    - for r_x in 1..7:\n      - relaxed[-r_x + 7, 5] = "),
        // A scan by rows has computed the element above to the right.
        (
            "diffused",
            "- wanted[x, y] = sel(1 <= x && x <= 6 && 1 <= y, (outside(wanted[x - 1, y], 0) * 7 + outside(wanted[x + 1, y - 1], 0) * 3 + ",
        ),
        ("checksum", "- sums[x, y] = sel(1 <= x, "),
        // Values that are used several times, or nest deeply, have names.
        ("checksum", "where:\n              v1: outside(sums[x - 1, y], 0) ^ outside(input[x, y], 0) as u16 << 8\n"),
        ("exchanged_neighbours", "where:\n              v1: "),
        ("deep_sums", "where:\n              v1: "),
        // Values that follow from each other, in two words each, are computed before one of them is stored.
        ("crossing_sums", "pair_1_next[r_x, y] = pair_0[r_x - 1, y] + pair_1[r_x - 1, y] + "),
        // Values that follow from each other are in one word.
        ("coupled", "* 6 - (outside(state[x - 1, y], 0) >> 16) as i16 * 2) / 8) as u16 as u32 | "),
        // A recursive filter begins at its first element.
        ("cut_from_filter", "for x in 0..28:\n      - filtered[x, y] = "),
        ("to_and_fro", "(outside(heat_0[x - 1, y], 0) + "),
        ("own_sums", "- columns[r_x, 0] += columns[r_x, r_y] * 3"),
        // Nine values of 8 bits fit 16 bits.
        ("wide_sums", "sums: {type: u16, shape: [16, 8]}"),
    ] {
        let nest = nest(name);
        assert!(nest.contains(expected), "{name}: {expected}\n{nest}");
    }
}

#[test]
fn messages_name_what_the_user_wrote() {
    // Without the lines behind it, the sizes of images are not known; here they follow from what is read.
    let whole = bytes("same_padding");
    let at = whole.windows(10).position(|window| window == b"// pushmem").unwrap();
    assert!(import("same_padding.hlpipe", &whole[..at], Floats::Exact).is_ok());
    let problem =
        import("a.hlpipe", &[&whole[..at], b"\n// pushmem\n// input: many\n"].concat(), Floats::Exact).unwrap_err();
    assert_eq!(problem.message(), "`a.hlpipe`: the line `// input: many` behind the pipeline cannot be read");
    let problem = import("a.hlpipe", b"name: program\n", Floats::Exact).unwrap_err();
    assert!(problem.message().starts_with("`a.hlpipe` is no pipeline of Halide: at byte "), "{}", problem.message());
}

#[test]
fn single_precision_is_refused_or_narrowed() {
    let whole = bytes("narrowed");
    let at = whole.windows(10).position(|window| window == b"// pushmem").unwrap();
    let problem = import("narrowed.hlpipe", &whole[..at], Floats::Exact).unwrap_err();
    assert_eq!(problem.message(), "`scaled` is of type float32");
    assert!(problem.help().unwrap().contains("--narrow-floats bf16"));
    let narrowed = import("narrowed.hlpipe", &whole[..at], Floats::Narrowed(Format::Bfloat16)).unwrap();
    assert_eq!(narrowed.program.to_string(), nest("narrowed"));
    let other = [&whole[..at], b"// pushmem\n// narrow floats: f8\n"].concat();
    let problem = import("a.hlpipe", &other, Floats::Exact).unwrap_err();
    assert_eq!(problem.message(), "`a.hlpipe`: the line `// narrow floats: f8` behind the pipeline cannot be read");
}

/// Each with its message, what to do, and the place in the text of the pipeline.
#[test]
fn what_has_no_hardware_is_refused_where_it_is() {
    let book = fs::read_to_string(folder().join("../../../../../docs/src/halide.md")).unwrap();
    let mut refused: Vec<String> = files("refused");
    for (name, message, help, place) in [
        (
            "changing_place",
            "the place of this update is read in `pair_1`, which the update changes: Halide looks for the place of each value anew",
            "in a Func of its own",
            "pair(int32((pair(r.x % 16)[1]",
        ),
        (
            "remainder_by_three",
            "a remainder of bfloat16 by another number than a power of two has a quotient that is rounded",
            "--narrow-floats bf16",
            "input_im(x, y) % 3f",
        ),
        (
            "quotient_of_numbers",
            "a quotient of bfloat16 is rounded twice in hardware, as the product with a reciprocal",
            "divide by a power of two",
            "input_im(x, y) / input_im(x + 1, y)",
        ),
        (
            "mixture_of_numbers",
            "`lerp` of bfloat16 is rounded once in Halide, and after each operation in hardware",
            "write `a * (1 - c) + b * c`",
            "lerp(",
        ),
        (
            "large_numbers",
            "an integer from 0 to 131070 becomes a number of bfloat16",
            "limit the value",
            "output(x, y)",
        ),
        ("bits_of_numbers", "the bits of a number are taken as those of another type", "use `exp`", "uint16("),
        (
            "sums_in_blocks",
            "the loops of the schedule add numbers in another order than one loop for each variable of the reduction",
            "by `rfactor`",
            "sums(x, y) = sums(x, y)",
        ),
        ("wide_integers", "the type `int64`", "8, 16 or 32 bits", "int64(input_im(x, y))"),
        (
            "narrowed_large",
            "the constant 100000 is beyond the numbers of float16",
            "numbers above 0 are from 5.9604645e-8 to 65504: scale the values, or use `--narrow-floats bf16`",
            "100000f",
        ),
        (
            "narrowed_entries",
            "an entry of these constants is no finite number of float16",
            "the greatest number is 65504: scale the values",
            "Buffer weights",
        ),
        (
            "narrowed_small",
            "the constant 1e-8 becomes 0 in float16",
            "numbers above 0 are from 5.9604645e-8 to 65504: scale the values, or use `--narrow-floats bf16`",
            "0.00000001f",
        ),
        (
            "narrowed_divisor",
            "the reciprocal of the divisor 1e-6 is beyond the numbers of float16",
            "which is at most 65504: scale the values, or use `--narrow-floats bf16`",
            "float32(input_im(x, y)) / ",
        ),
        ("domain_of_data", "the size of a reduction domain is not constant", "write a number", "count"),
    ] {
        let bytes = fs::read(folder().join(format!("../refused/{name}.hlpipe"))).unwrap();
        let problem = import("refused.hlpipe", &bytes, Floats::Exact).unwrap_err();
        assert_eq!(problem.message(), message);
        assert!(!problem.is_fault(), "{name}");
        assert!(problem.help().unwrap().contains(help), "{:?}", problem.help());
        let text = problem.offending_text().unwrap();
        assert!(text.starts_with(place), "{name}: {text}");
        // The book says how it begins, up to a name or a number.
        let is_word = |(place, word): &(usize, &str)| {
            *place == 0 || !word.starts_with(|of: char| of == '`' || of.is_ascii_digit())
        };
        let begin = message.split_whitespace().take(4).enumerate().take_while(is_word).map(|(_, word)| word);
        let begin = begin.collect::<Vec<_>>().join(" ");
        assert!(book.contains(&begin), "{name}: the book does not have `{begin}`");
        refused.retain(|other| other != name);
    }
    assert_eq!(refused, Vec::<String>::new());
}

#[test]
fn names_of_the_language_get_a_number_and_a_warning() {
    let bytes = fs::read(folder().join("../warned/renamed.hlpipe")).unwrap();
    let checked = import("renamed.hlpipe", &bytes, Floats::Exact).unwrap();
    let warnings: Vec<&str> = checked.warnings.iter().map(Diagnostic::message).collect();
    assert_eq!(warnings, ["`for` is called `for_2` in the nest", "`in` is called `in_2` in the nest"]);
    assert!(checked.program.to_string().contains("for_2[x, y] = in_2[x, y] + 1"), "{}", checked.program);
}

#[test]
fn copies_that_are_fewer_than_the_schedule_says_are_told() {
    let bytes = fs::read(folder().join("../warned/unrolled_less.hlpipe")).unwrap();
    let checked = import("unrolled_less.hlpipe", &bytes, Floats::Exact).unwrap();
    let [warning] = &checked.warnings[..] else { panic!("{:?}", checked.warnings) };
    let expected = "`x` has 62 iterations, which 4 does not divide: it is unrolled by 2; choose a factor that divides them, or other extents";
    assert_eq!(warning.message(), expected);
    assert!(checked.program.to_string().contains("for x in 0..62 unroll 2"), "{}", checked.program);
}

#[test]
fn what_is_not_compared_is_told() {
    let bytes = fs::read(folder().join("../warned/many_updates.hlpipe")).unwrap();
    let warnings = import("many_updates.hlpipe", &bytes, Floats::Exact).unwrap().warnings;
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    let expected = "`output` was not compared with the pipeline: even one pixel takes too many operations, or Halide leaves all of them open";
    assert_eq!((warning.message(), warning.is_error()), (expected, false));
}

/// The printed nest is a nest that computes the same.
#[test]
fn nests_read_back() {
    for name in pipelines() {
        let text = nest(&name);
        let again = Program::from_document(&Document::parse("again.yaml", text.as_str()).unwrap()).unwrap().program;
        assert_eq!(again.to_string(), text, "{name}");
    }
}

/// Memory tiles have two inputs: the third definition of a Func goes on in a copy.
#[test]
fn no_array_needs_to_be_written_by_three_nests() {
    let checked =
        import_with_loops("added_twice.hlpipe", &bytes("added_twice"), Loops::Kept, Floats::Exact).unwrap().program;
    let nest = checked.to_string();
    assert!(nest.contains("sums_so_far[i0, i1] = sums[i0, i1]"), "{nest}");
    assert!(nest.contains("sums_so_far[x, y] += "), "{nest}");
    let inputs = BTreeMap::from([("input".to_owned(), image("added_twice", "input"))]);
    assert_eq!(checked.run(&inputs).unwrap()["output"].values(), image("added_twice", "output").values());
    assert!(!self::nest("added_twice").contains("so_far"));
}

/// A pipeline whose elements are looked up computes the same.
#[test]
fn elements_that_are_looked_up_are_those_of_halide() {
    let kinds = [Loops::LookedUp, Loops::Gathered];
    let mut looked_up = 0;
    for (name, loops) in pipelines().into_iter().flat_map(|name| kinds.map(|loops| (name.clone(), loops))) {
        let checked = match import_with_loops(&format!("{name}.hlpipe"), &bytes(&name), loops, Floats::Exact) {
            Err(refused) if !refused.is_fault() => continue,
            checked => checked.unwrap(),
        };
        looked_up += 1;
        let arrays = checked.program.arrays_of(ArrayKind::Input).map(|array| &array.name);
        let inputs = arrays.map(|array| (array.clone(), image(&name, array))).collect();
        let found = checked.program.run(&inputs).unwrap();
        assert_eq!(found.values().next().unwrap().values(), image(&name, "output").values(), "{name}, {loops:?}");
    }
    assert!(looked_up > 10, "{looked_up}");
}

/// Where indices are no sums of variables, elements are copied in steps, looked up where they are read, or copied by one nest.
#[test]
fn elements_are_copied_or_looked_up() {
    let nest = |loops| {
        import_with_loops("wrapped.hlpipe", &bytes("wrapped"), loops, Floats::Exact).unwrap().program.to_string()
    };
    let (copied, looked_up, gathered) = (nest(Loops::Scheduled), nest(Loops::LookedUp), nest(Loops::Gathered));
    assert!(copied.matches("for ").count() > 20 && !copied.contains('%'), "{copied}");
    assert_eq!((looked_up.matches("for ").count(), looked_up.matches("input[").count()), (2, 3), "{looked_up}");
    assert_eq!((gathered.matches("for ").count(), gathered.matches("input[").count()), (4, 1), "{gathered}");
}

/// No part of a file can be left out.
#[test]
fn every_part_of_a_file_is_needed() {
    let whole = bytes("line_buffer_unrolled");
    let end = whole.windows(10).position(|window| window == b"// pushmem").unwrap();
    for length in (0..end).step_by(7) {
        _ = import("cut.hlpipe", &whole[..length], Floats::Exact);
    }
    for length in [0, 3, 4, 8, 40, 100] {
        assert!(import("cut.hlpipe", &whole[..length], Floats::Exact).is_err(), "{length} bytes");
    }
}

/// A constant with a bit above those of its type is no constant of it: the reader says so, at its byte.
#[test]
fn constants_are_of_their_types() {
    let mut found = 0;
    for name in pipelines() {
        let whole = bytes(&name);
        for at in (0..whole.len() - 8).step_by(4).filter(|at| whole[*at..][..8] == 3_i64.to_le_bytes()) {
            let mut changed = whole.clone();
            changed[at + 4] = 0xff;
            // Other bytes that look like one are no constant, and may change what is computed.
            let Err(problem) = import("changed.hlpipe", &changed, Floats::Exact) else { continue };
            assert!(!problem.is_fault(), "{name}, byte {at}: {}", problem.message());
            if problem.message().contains("the constant 1095216660483 is beyond its type, ") {
                assert!(problem.message().contains("at byte "), "{}", problem.message());
                found += 1;
            }
        }
    }
    assert!(found > 10, "{found}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Bytes that are changed give a message or another program; they do no harm.
    #[test]
    fn changed_bytes_do_no_harm(
        which in 0_usize..1 << 16,
        changes in prop::collection::vec((0_usize..1 << 20, any::<u8>()), 1..6),
    ) {
        let names = pipelines();
        let mut changed = bytes(&names[which % names.len()]);
        for (at, byte) in changes {
            let length = changed.len();
            changed[at % length] = byte;
        }
        _ = import("changed.hlpipe", &changed, Floats::Exact);
    }

    #[test]
    fn any_bytes_are_refused(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(import("noise.hlpipe", &noise, Floats::Exact).is_err());
    }
}
