//! Refused statements, as in the table of docs/src/halide.md: for each message a text, and for each text a message.

use std::fs;
use std::path::Path;

use pushmem_halide::import;

const POINTWISE: &str = "// input: u16[8, 4]
// output: u16[8, 4]
module name=pointwise, target=x86-64-linux-no_asserts-no_bounds_query-no_runtime
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

/// The element of the input at the place of the one that is written.
const HERE: &str = "input[output.s0.x + (output.s0.y*8)]";

/// Messages about what the import cannot infer: as it learns, there are fewer texts that it does not understand. Where Halide
/// prints them, `scripts/halide/check` counts them.
const OF_INFERENCE: [&str; 8] = [
    "it is not known which elements of the Func these are",
    "it is not known which of the last … elements is read",
    "elements are written again with other values",
    "the element that is written does not follow a loop step by step",
    "which elements the statement accesses depends on data",
    // The statement of this one is `shared_addresses.stmt`, which another test imports.
    "the next iteration of … writes … further in some iterations of the loops around, and … in others",
    // These are never right.
    "on random images … is … in the statement, but … in the nest",
    "on random images, with data in a random order, …",
];

/// A sum of so many terms in one expression, without names that several of them share.
fn sum_of(terms: usize) -> String {
    match terms {
        1 => "input[0]".to_owned(),
        _ => format!("({} + {})", sum_of(terms / 2), sum_of(terms - terms / 2)),
    }
}

fn value(value: &str) -> String {
    POINTWISE.replace("VALUE", value)
}

/// A pointwise program with one part in the place of another.
fn with(from: &str, to: &str) -> String {
    let text = value(HERE);
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

/// With a Func before the output, in the statements `produce`, and the output of this value.
fn with_local(size: &str, produce: &str, consume: &str) -> String {
    let local = format!("allocate f[{size}]\nproduce f {{\n{produce}\n}}\nconsume f {{\nproduce output {{");
    let text = value(consume).replace("produce output {", &local);
    text.trim_end().trim_end_matches('}').to_owned() + "}\nfree f\n}\n"
}

/// A tuple whose update reads both values, in a loop.
fn with_tuple() -> String {
    let update = " for (f.s1.r, 0, 4) {
  let f.0.value = f.1[0]
  let f.1.value = f.0[0] + input[f.s1.r]
  f.0[0] = f.0.value
  f.1[0] = f.1.value
 }";
    let initial = " f.0[0] = (uint16)0\n f.1[0] = (uint16)0";
    let produce = format!("allocate f.1[uint16 * 1]\nproduce f {{\n{initial}\n{update}");
    with_local("uint16 * 1", "PRODUCE", "f.1[0]")
        .replace("produce f {\nPRODUCE", &produce)
        .replace("allocate f[", "allocate f.0[")
        .replace("free f", "free f.0\nfree f.1")
}

/// The same in an output.
const TUPLE_OUTPUT: &str = "// input: u16[8]
// output.0: u16[8]
// output.1: u16[8]
module name=tuple, target=x86-64-linux-no_asserts-no_bounds_query-no_runtime
external_plus_metadata func tuple (input, output.0, output.1) {
let input = (void *)_halide_buffer_get_host((struct halide_buffer_t *)input.buffer)
let output.0 = (void *)_halide_buffer_get_host((struct halide_buffer_t *)output.0.buffer)
let output.1 = (void *)_halide_buffer_get_host((struct halide_buffer_t *)output.1.buffer)
produce output {
 for (output.s0.x, 0, 8) {
  output.0[output.s0.x] = input[output.s0.x]
  output.1[output.s0.x] = (uint16)3
  let output.0.value = output.1[output.s0.x]
  let output.1.value = output.0[output.s0.x]
  output.0[output.s0.x] = output.0.value
  output.1[output.s0.x] = output.1.value
 }
}
}
";

/// Texts with the lines that the messages about them point at.
fn examples() -> Vec<(String, usize)> {
    let loops = " for (f.s0.y, 0, 4) {\n  for (f.s0.x, 0, 8) {\n   STORE\n  }\n }";
    let local = |store: &str| with_local("uint16 * 8 * 4", &loops.replace("STORE", store), "f[output.s0.x]");
    vec![
        (value("uint16(float32(input[0]))"), 10),
        (with("// input: u16[8, 4]", "// input: f32[8, 4]"), 1),
        (with("// input: u16[8, 4]", "// input: u1[8, 4]"), 1),
        (with("// input: u16[8, 4]", "// input: bool[8, 4]"), 1),
        (with("// input: u16[8, 4]", "// input: u64[8, 4]"), 1),
        (with("for (output.s0.x", "vectorized (output.s0.x"), 9),
        (
            value("(uint16x8)shift_right(input[ramp(output.s0.x*8, 1, 8) aligned(8, 0)], x8((uint16)1))")
                .replace("output[output.s0.x + (output.s0.y*8)]", "output[ramp(output.s0.x*8, 1, 8) aligned(8, 0)]"),
            10,
        ),
        (value("input[0] + 1.5f"), 10),
        (value("input[0] +"), 11),
        (value("input[0] # 1"), 10),
        (
            with("external_plus", "buffer curve = {...}\n\nexternal_plus").replace("buffer curve = {...}\n\n", "")
                + "external_plus_metadata func other (output) {\n}\n",
            15,
        ),
        (value("(uint16)vector_reduce_add(input[0])"), 10),
        (
            with(
                "external_plus_metadata",
                "internal func output_par_for_output_s0_y (__user_context, output.s0.y, closure_arg) {\n\
                 let input = (void *)load_typed_struct_member((void *)closure_arg, closure_prototype, 0)\n}\n\n\
                 external_plus_metadata",
            ),
            4,
        ),
        (with("produce output {", "fork {"), 7),
        (value("sqrt_f32(input[0])"), 10),
        (value("(uint16)return_second(halide_print((char const *)stringify(input[0], \"\\n\")), input[0])"), 10),
        (
            with("produce output {", "let pipeline.trace_id = halide_trace_helper(\"output\", 3, 0)\nproduce output {"),
            7,
        ),
        (with("produce output {", "assert(0 < 1, halide_error_bad_extent(\"a \\\"name\\\"\"))\nproduce output {"), 7),
        (value("uint16(mul_shift_right(int32(input[0]), int32(input[1]), 3))"), 10),
        (with("external_plus", "buffer curve = {...}\n\nexternal_plus").replace(HERE, "curve[output.s0.x]"), 4),
        (value("uint8(input[0])").replace("// input: u16[8, 4]\n// output: u16[8, 4]\n", ""), 2),
        (value("input[output.s0.x*3] + (uint16)1").replace("// input: u16[8, 4]\n", ""), 9),
        (with("// input: u16[8, 4]", "// input: u16[8, -4]"), 1),
        (with("output.s0.x, 0, 8", "output.s0.x, 0, int32(input[0])"), 9),
        (local("f[f.s0.x + f.s0.y*8] = input[0]").replace("f[uint16 * 8 * 4]", "f[uint16 * int32(input[0])]"), 7),
        (
            with("   output[", "   if (input[0] == (uint16)3) {\n   output[").replace(HERE, &format!("{HERE}\n   }}")),
            10,
        ),
        (with("   output[output.s0.x + (output.s0.y*8)]", "   output[output.s0.x*output.s0.y]"), 10),
        (with(HERE, "input[output.s0.x + 31]"), 10),
        (with_tuple(), 15),
        (TUPLE_OUTPUT.to_owned(), 11),
        // A skewed index, and two loops that were fused.
        (with(HERE, "input[output.s0.x + (output.s0.y*9)]").replace("// input: u16[8, 4]", "// input: u16[11, 4]"), 10),
        (
            with("output.s0.x, 0, 8", "output.s0.x, 0, 32")
                .replace("output.s0.y, 0, 4", "output.s0.y, 0, 1")
                .replace(HERE, "input[output.s0.x]"),
            10,
        ),
        (value("input[int32(input[output.s0.x])]"), 10),
        // As `mirror_interior` lowers.
        (value("input[7 - int32((uint32)abs(((output.s0.x + 13) % 14) + -7))]"), 10),
        (value("input[output.s0.x] + input"), 10),
        (value("input[output.s0.x] + factor"), 10),
        // Strides that are not fixed.
        (with("produce output {", "let stride = (int32)_halide_buffer_get_stride(input, 1)\nproduce output {"), 7),
        // Rows of a Func of the last iteration, and the output of rows that it has not.
        (
            value(HERE)
                .replace(
                    "produce output {\n",
                    "allocate f[uint16 * 8]\nproduce output {\n for (output.s1.y, 0, 4) {\n  produce f {\n   \
                 for (f.s0.x, 0, 8) {\n    f[f.s0.x] = input[f.s0.x + output.s1.y*8]\n   }\n  }\n }\n",
                )
                .replace(&format!("= {HERE}"), "= f[output.s0.x]"),
            18,
        ),
        (
            local("f[f.s0.x + f.s0.y*8] = input[f.s0.x]")
                .replace("f[f.s0.x + f.s0.y*8] =", "f[f.s0.x] = uint16(f.s0.y) +"),
            11,
        ),
        (local("f[f.s0.x + f.s0.y*8] = f[max(f.s0.x - 1, 0) + f.s0.y*8] + input[f.s0.x]"), 11),
        (with("output[output.s0.x + (output.s0.y*8)]", "output[output.s0.x + (output.s0.x/2*8)]"), 10),
        (
            with(HERE, &format!("{HERE} + input[output.s0.x*8 + output.s0.y]"))
                .replace("input: u16[8, 4]", "input: u16[8, 8]"),
            10,
        ),
        (
            with(HERE, "input[output.s0.x]")
                .replace("output.s0.y*8)]", "output.s0.y*16)]")
                .replace("u16[8, 4]", "u16[8, 7]")
                .replace("input: u16[8, 7]", "input: u16[8, 4]"),
            10,
        ),
        (with("// input", "// schedule: raster\n// input"), 1),
        (
            with("for (output.s0.y, 0, 4)", "unrolled (output.s0.y, 0, 2000000000)")
                .replace("output.s0.x, 0, 8", "output.s0.x, 0, 0"),
            8,
        ),
        (
            with("for (output.s0.y, 0, 4)", "unrolled (output.s0.y, 0, 30000)")
                .replace("for (output.s0.x", "unrolled (output.s0.x")
                .replace("(output.s0.y*8)", "0"),
            10,
        ),
        (value(&sum_of(1 << 17)), 10),
        (value(&format!("{}input[0]{}", "(".repeat(300), ")".repeat(300))), 10),
    ]
}

/// Whether a message is one of these, where `…` stands for any text.
fn matches(pattern: &str, message: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = message.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    for part in parts {
        match rest.find(part) {
            _ if part.is_empty() => rest = "",
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

/// The messages in the table of the page about statements: the texts between as many backticks on both sides in its first column.
fn documented() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/src/halide.md");
    let page = fs::read_to_string(page).unwrap();
    let section = page.lines().skip_while(|line| *line != "## What is refused");
    let rows = section.skip_while(|line| !line.starts_with("| Message |")).skip(2);
    let mut found = Vec::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let mut cell = row[1..].split(" | ").next().unwrap();
        while let Some(start) = cell.find('`') {
            let inner = cell[start..].trim_start_matches('`');
            let fence = &cell[start..cell.len() - inner.len()];
            let end = inner.find(fence).expect(row);
            let text = &inner[..end];
            let is_padded = text.starts_with(' ') || text.ends_with(' ');
            found.push(if is_padded { text.trim().to_owned() } else { text.to_owned() });
            cell = inner[end..].trim_start_matches('`');
        }
    }
    assert!(found.len() > 20);
    found
}

#[test]
fn every_message_of_the_table_has_a_text() {
    let patterns = documented();
    let mut seen = vec![false; patterns.len()];
    let mut problems = Vec::new();
    for (text, expected) in examples() {
        let Err(refusal) = import("test.stmt", &text) else {
            problems.push(format!("this is no longer refused:\n{text}"));
            continue;
        };
        let (message, line) = (refusal.message(), refusal.location().unwrap().1);
        let is_of_syntax = ["expected", "unexpected"].iter().any(|first| message.starts_with(first));
        if line != expected || refusal.help().is_some() == is_of_syntax {
            problems.push(format!(
                "`{message}` is in line {line}, not {expected}; the help is {:?}:\n{text}",
                refusal.help()
            ));
        }
        let pattern = patterns.iter().position(|pattern| matches(pattern, message));
        match pattern {
            Some(pattern) => seen[pattern] = true,
            None => problems.push(format!("the page does not have `{message}`, of\n{text}")),
        }
    }
    for (pattern, seen) in patterns.iter().zip(seen) {
        let is_of_inference = OF_INFERENCE.contains(&pattern.as_str());
        if !seen && !is_of_inference {
            problems.push(format!("no text has the message `{pattern}`"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
