//! Pipelines before lowering, with what Halide computes of them, and bytes that are no pipelines.
//!
//! `tests/pipelines/write.py` writes the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use pushmem_halide::{Floats, Loops, import_pipeline, import_with_loops};
use pushmem_images::Image;
use pushmem_nest::ArrayKind;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pipelines")
}

fn pipelines() -> Vec<String> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let pipelines = files.filter(|file| file.extension().is_some_and(|extension| extension == "hlpipe"));
    let mut names: Vec<String> =
        pipelines.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
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
    import_pipeline(&format!("{name}.hlpipe"), &bytes(name), Floats::Exact).unwrap().program.to_string()
}

#[test]
fn pipelines_compute_what_halide_computes() {
    for name in pipelines() {
        let checked = import_pipeline(&format!("{name}.hlpipe"), &bytes(&name), Floats::Exact).unwrap();
        assert!(checked.warnings.is_empty(), "{name}: {:?}", checked.warnings);
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
        // Zeros around an image are read once, into an array of their own.
        ("same_padding", "constant_exterior[i0, i1] = input[i0, i1]"),
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
        ("backwards", "for r_x in 0..32:\n    - output_so_far[-2*r_x + 63] = input[r_x]"),
        // A promise is a limit only where the type says less.
        ("promised", "output[x] = input[(places[x] / 8) as i32 + places[x] as i32 / 8] + x as u8"),
        ("chosen_by_promise", "kept: {type: u8, shape: [16]}"),
        // One of two values that are updated from each other is kept aside.
        ("exchanged", "- pair_0_next[r_x_16 + 16*r_x] = pair_1[r_x_16] + input[r_x_16 + 16*r_x]"),
        ("exchanged_once", "- pair_0_next[0] = pair_1[3]"),
        ("exchanged_by_data", "pair_0[input[r_x] % 16] = pair_0_next[r_x]"),
        ("number_remainders", "tanh(input[x, y])"),
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
    assert!(import_pipeline("same_padding.hlpipe", &whole[..at], Floats::Exact).is_ok());
    let problem =
        import_pipeline("a.hlpipe", &[&whole[..at], b"\n// pushmem\n// input: many\n"].concat(), Floats::Exact)
            .unwrap_err();
    assert_eq!(problem.message(), "`a.hlpipe`: the line `// input: many` behind the pipeline cannot be read");
    let problem = import_pipeline("a.hlpipe", b"name: program\n", Floats::Exact).unwrap_err();
    assert!(problem.message().starts_with("`a.hlpipe` is no pipeline of Halide: at byte "), "{}", problem.message());
}

#[test]
fn single_precision_is_refused_or_narrowed() {
    let whole = bytes("narrowed");
    let at = whole.windows(10).position(|window| window == b"// pushmem").unwrap();
    let problem = import_pipeline("narrowed.hlpipe", &whole[..at], Floats::Exact).unwrap_err();
    assert_eq!(problem.message(), "`scaled` is of type float32");
    assert!(problem.help().unwrap().contains("--narrow-floats bf16"));
    let narrowed = import_pipeline("narrowed.hlpipe", &whole[..at], Floats::Narrowed).unwrap();
    assert_eq!(narrowed.program.to_string(), nest("narrowed"));
    let other = [&whole[..at], b"// pushmem\n// narrow floats: f8\n"].concat();
    let problem = import_pipeline("a.hlpipe", &other, Floats::Exact).unwrap_err();
    assert_eq!(problem.message(), "`a.hlpipe`: the line `// narrow floats: f8` behind the pipeline cannot be read");
}

#[test]
fn what_hardware_would_compute_otherwise_is_refused() {
    for (name, message, help) in [
        (
            "changing_place",
            "the place of this update is read in `pair_1`, which the update changes: Halide looks for the place of each value anew",
            "in a Func of its own",
        ),
        (
            "remainder_by_three",
            "a remainder of bfloat16 by another number than a power of two has a quotient that is rounded",
            "--narrow-floats bf16",
        ),
    ] {
        let bytes = fs::read(folder().join(format!("../refused/{name}.hlpipe"))).unwrap();
        let problem = import_pipeline("refused.hlpipe", &bytes, Floats::Exact).unwrap_err();
        assert_eq!(problem.message(), message);
        assert!(problem.help().unwrap().contains(help), "{:?}", problem.help());
    }
}

/// Memory tiles have two inputs: the third definition of a Func goes on in a copy.
#[test]
fn no_array_needs_to_be_written_by_three_nests() {
    let checked =
        import_with_loops("recursive.hlpipe", &bytes("recursive"), Loops::Kept, Floats::Exact).unwrap().program;
    let nest = checked.to_string();
    assert!(nest.contains("filtered_so_far[i0, i1] = filtered[i0, i1]"), "{nest}");
    assert!(nest.contains("3 * filtered_so_far[x, -up_x + 16]"), "{nest}");
    let inputs = BTreeMap::from([("input".to_owned(), image("recursive", "input"))]);
    assert_eq!(checked.run(&inputs).unwrap()["output"].values(), image("recursive", "output").values());
    assert!(!self::nest("recursive").contains("so_far"));
}

/// No part of a file can be left away.
#[test]
fn every_part_of_a_file_is_needed() {
    let whole = bytes("line_buffer_unrolled");
    let end = whole.windows(10).position(|window| window == b"// pushmem").unwrap();
    for length in (0..end).step_by(7) {
        _ = import_pipeline("cut.hlpipe", &whole[..length], Floats::Exact);
    }
    for length in [0, 3, 4, 8, 40, 100] {
        assert!(import_pipeline("cut.hlpipe", &whole[..length], Floats::Exact).is_err(), "{length} bytes");
    }
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
        _ = import_pipeline("changed.hlpipe", &changed, Floats::Exact);
    }

    #[test]
    fn any_bytes_are_refused(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(import_pipeline("noise.hlpipe", &noise, Floats::Exact).is_err());
    }
}
