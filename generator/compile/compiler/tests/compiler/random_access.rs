//! Arrays whose elements data choose.

use pushmem_compiler::{CompileError, Compiled};
use pushmem_files::Document;
use pushmem_graph::{ApplicationGraph, ProgramNames};
use pushmem_nest::{LARGEST_RANDOM_ACCESS, Program};
use pushmem_realization::Report;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{app, compare, compiled, program, try_compile};

const TILES: [&str; 3] = ["amber", "dual_port", "quad_port"];

/// The most cycles that each program takes: one for each update, look-up and element that is set or given out, but for the latencies.
const APPS: [(&str, u64); 4] =
    [("histogram", 256 + 4096 + 256), ("equalize", 2 * 4096 + 2 * 256), ("warp", 2 * 4096), ("bilateral_grid", 14_400)];

const LATENCIES: u64 = 20;

#[test]
fn programs_take_a_cycle_for_each_access() {
    for (name, cycles) in APPS {
        for tile in TILES {
            let compiled = compiled(app(name), tile);
            compare(&compiled);
            let found = Report::of(&compiled).cycles;
            assert!(found <= cycles + LATENCIES, "{name} on {tile}: {found} cycles");
        }
    }
}

/// Statements whose elements no other memory serves: read in an order of their own, or written twice.
#[test]
fn arrays_of_any_order_are_in_such_memories() {
    let shortest = "d[j, i] = min(d[j, i], d[k, i] + d[j, k])";
    for (declared, last) in
        [("buffers: {d: ", "\n  - for i in 0..12:\n    - for j in 0..12:\n      - o[j, i] = d[j, i]"), ("", "")]
    {
        let (outputs, buffers) = match declared {
            "" => ("d", String::new()),
            _ => ("o", format!("{declared}{{type: u16, shape: [12, 12]}}}}\n")),
        };
        let paths = program(&format!(
            "name: paths
inputs: {{a: {{type: u16, shape: [12, 12]}}}}
outputs: {{{outputs}: {{type: u16, shape: [12, 12]}}}}
{buffers}nest:
  - for i in 0..12:
    - for j in 0..12:
      - d[j, i] = a[j, i]
  - for k in 0..12:
    - for i in 0..12:
      - for j in 0..12:
        - {shortest}{last}
"
        ));
        let compiled = compiled(paths, "amber");
        compare(&compiled);
        assert!(Report::of(&compiled).cycles < 12 * 12 * (12 + 2) + LATENCIES, "an update takes a cycle");
    }
    let twice = "
name: twice
inputs: {input: {type: u16, shape: [64]}}
outputs: {output: {type: u16, shape: [64]}}
nest:
  - for x in 0..64:
    - output[x] = input[x]
  - for x in 60..64:
    - output[x] = 0
";
    compare(&compiled(program(twice), "amber"));
}

/// Elements at remainders, which no memory gives in the order of its addresses.
#[test]
fn arrays_at_other_indices_are_in_such_memories() {
    for (schedule, index) in
        [("", "(x + 5) % 8"), ("schedule: dnn", "(3*x + 2) / 2 % 8"), ("", "clamp(x - 2, 0, 7) / 2")]
    {
        let wrapped = program(&format!(
            "name: wrapped
{schedule}
inputs: {{a: {{type: u8, shape: [8, 8]}}}}
outputs: {{o: {{type: u8, shape: [20, 20]}}}}
nest:
  - for y in 0..20:
    - for x in 0..20:
      - o[x, y] = a[{index}, (y + 6) % 8]
"
        ));
        let compiled = compiled(wrapped, "amber");
        compare(&compiled);
        assert!(Report::of(&compiled).cycles < 8 * 8 + 20 * 20 + LATENCIES, "an element a cycle");
    }
}

/// Passes over a line in which each element takes the one before it: another memory shows that only after its round trip.
#[test]
fn recurrences_through_a_memory_are_in_such_memories() {
    let passes = |first: usize, last: &str| {
        program(&format!(
            "name: passes
inputs: {{a: {{type: u16, shape: [64]}}}}
outputs: {{o: {{type: u16, shape: [64]}}}}
buffers: {{line: {{type: u16, shape: [64]}}}}
nest:
  - for i in 0..64:
    - line[i] = a[i]
  - for pass in 0..8:
    - for i in {first}..64:
      - line[i] = line[i] * 3 + {last}
  - for i in 0..64:
    - o[i] = line[i]
"
        ))
    };
    for tile in TILES {
        let compiled = compiled(passes(1, "line[i - 1]"), tile);
        compare(&compiled);
        assert_eq!(compiled.accelerator.rams.len(), 1);
        assert!(Report::of(&compiled).cycles < (2 + 8 * 2) * 64 + LATENCIES, "two cycles for each element");
        assert!(crate::common::compiled(passes(0, "1"), tile).accelerator.rams.is_empty(), "nothing waits");
    }
}

/// Reads that are never in the same cycle share a port.
#[test]
fn reads_of_nests_one_after_the_other_share_a_port() {
    let ports = |name: &str| -> Vec<usize> {
        compiled(app(name), "amber").accelerator.rams.iter().map(|ram| ram.ports()).collect()
    };
    assert_eq!(ports("histogram"), [1]);
    assert_eq!(ports("bilateral_grid").first(), Some(&3));
}

/// A read shows what was written up to the cycle in which it is shown: equal addresses one after the other, and one apart.
#[test]
fn updates_of_one_element_follow_each_other() {
    for (bins, value) in [(1, "input[x] * 0"), (2, "input[x] % 2"), (3, "(input[x] / 64) % 3")] {
        let text = format!(
            "
name: updates
inputs: {{input: {{type: u8, shape: [300]}}}}
outputs: {{output: {{type: i16, shape: [{bins}]}}}}
buffers: {{bins: {{type: i16, shape: [{bins}]}}}}
nest:
  - for b in 0..{bins}:
    - bins[b] = 3
  - for x in 0..300:
    - bins[{value}] = bins[{value}] * 5 + input[x] as i16
  - for b in 0..{bins}:
    - output[b] = bins[b]
"
        );
        let compiled = compiled(program(&text), "dual_port");
        compare(&compiled);
        // A product and a sum are a stage each: an update every two cycles.
        assert!(Report::of(&compiled).cycles < 2 * 300 + 40, "{}", Report::of(&compiled).cycles);
    }
}

/// Elements of 32 bits are two of 16: sums carry from the low half into the high one, and inputs are put together again.
#[test]
fn elements_of_32_bits_have_halves() {
    for (element, value) in [
        ("u32", "40000"),
        ("i32", "-40000"),
        ("i32", "input[x] as i32 * 30000"),
        ("u32", "sel(input[x] % 2 == 1, bins[input[x] / 64] << 3, 7)"),
    ] {
        let text = format!(
            "
name: halves
inputs: {{input: {{type: u8, shape: [300]}}, curve: {{type: {element}, shape: [256]}}}}
outputs: {{output: {{type: {element}, shape: [4]}}, curved: {{type: {element}, shape: [300]}}}}
buffers: {{bins: {{type: {element}, shape: [4]}}}}
nest:
  - for b in 0..4:
    - bins[b] = 3
  - for x in 0..300:
    - bins[input[x] / 64] = bins[input[x] / 64] * 5 - {value}
  - for x in 0..300:
    - curved[x] = curve[input[x]] / 3
  - for b in 0..4:
    - output[b] = bins[b]
"
        );
        for tile in TILES {
            let compiled = compiled(program(&text), tile);
            compare(&compiled);
            assert_eq!(compiled.accelerator.rams.len(), 4);
        }
    }
}

/// Statements that are joined with the element that they write have loads with other numbers, those of indices, too.
#[test]
fn indices_follow_the_loads_of_reductions() {
    for (statement, read) in [
        ("o[x] = o[x] + (k[x] & 0) + (m[x] & 0) + i[k[x]]", "i[k[x]]"),
        ("o[x] = o[x] + i[(k[x] + m[x]) % 8]", "i[(k[x] + m[x]) % 8"),
        ("o[x] = o[x] + i[o[x]] + k[x] * m[x]", "o[x] + i[o[x]]"),
        ("o[k[x] % 8] = o[k[x] % 8] + i[m[x]]", "i[m[x]]"),
    ] {
        let text = format!(
            "
name: once
inputs: {{i: {{type: u8, shape: [256]}}, k: {{type: u8, shape: [8]}}, m: {{type: u8, shape: [8]}}}}
outputs: {{output: {{type: u8, shape: [8]}}}}
buffers: {{o: {{type: u8, shape: [8]}}}}
nest:
  - for x in 0..8:
    - o[x] = k[x] + m[x]
  - for x in 0..8:
    - {statement}
  - for x in 0..8:
    - output[x] = o[x]
"
        );
        let program = program(&text);
        assert!(program.to_string().contains(read), "{statement}: {program}");
        compare(&compiled(program, "dual_port"));
    }
}

#[test]
fn graphs_read_back_and_run() {
    for (name, _) in APPS {
        let compiled = compiled(app(name), "amber");
        let names = ProgramNames::of(&compiled.program, &compiled.extraction.pipeline);
        let text = compiled.graph.to_string();
        let document = Document::parse("graph.yaml", text).unwrap();
        let graph = ApplicationGraph::from_document(&document, &names).unwrap_or_else(|error| panic!("{error:?}"));
        assert!(graph == compiled.graph, "{name}");
        let Compiled { program, datapaths, source, .. } = &compiled.compiled;
        let inputs = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(7));
        let expected = source.run(&inputs).unwrap();
        let outputs = graph.run(program, datapaths, &inputs).unwrap();
        for (output, image) in &expected {
            assert!(outputs[output].values() == image.values(), "{name}: {output}");
        }
        compiled.with_graph(graph).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    }
}

fn refusal(text: &str) -> (String, Option<usize>) {
    match try_compile(program(text), "amber") {
        Err(error @ CompileError::Refused(_)) => {
            (error.to_string(), error.diagnostic().location().map(|(_, line, _)| line))
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
}

/// A program that updates the elements of `bins` of a type, of which there are so many, in loops with this header.
fn updates(element: &str, bins: usize, header: &str, more: &str) -> String {
    format!(
        "name: updates
inputs: {{input: {{type: u16, shape: [8]}}}}
outputs: {{output: {{type: {element}, shape: [{bins}]}}}}
buffers: {{bins: {{type: {element}, shape: [{bins}]{more}}}}}
nest:
  - for b in 0..{bins}:
    - bins[b] = 0
  - {header}:
    - bins[min(input[x], {})] += 1
  - for b in 0..{bins}:
    - output[b] = bins[b]
",
        bins - 1
    )
}

#[test]
fn memories_that_cannot_be_are_refused_at_their_place() {
    let extreme = updates("u32", 8, "for x in 0..8", "").replace(" += 1", " = max(bins[min(input[x], 7)], 70000)");
    let (message, line) = refusal(&extreme);
    assert_eq!((message.contains("`bins` depends on high halves"), line), (true, Some(9)), "{message}");
    let (message, line) = refusal(&updates("u16", LARGEST_RANDOM_ACCESS + 1, "for x in 0..8", ""));
    assert_eq!((message.contains("at most 65536"), line), (true, Some(4)), "{message}");
    let (message, line) = refusal(&updates("u16", 8, "for x in 0..8", ", level: memory"));
    assert_eq!((message.contains("`level: memory` of `bins`"), line), (true, Some(4)), "{message}");
    let (message, line) = refusal(&updates("u16", 8, "for x in 0..8 unroll 2", ""));
    assert_eq!((message.contains("one element a cycle"), line), (true, Some(9)), "{message}");
    let scan = updates("u16", 8, "for x in 0..8", "").replace("inputs:", "schedule: stencil\ninputs:");
    let (message, line) = refusal(&scan);
    assert_eq!((message.contains("an image pipeline keeps no array"), line), (true, Some(5)), "{message}");
}

/// Elements are read only once all have been written, and indices outside of an array end an execution.
#[test]
fn executions_see_elements_and_indices() {
    let unwritten =
        updates("u16", 8, "for x in 0..8", "").replace("for b in 0..8:\n    - bins", "for b in 1..8:\n    - bins");
    let document = Document::parse("program.yaml", unwritten).unwrap();
    let error = Program::from_document(&document).unwrap_err();
    assert!(error.to_string().contains("read before all are written"), "{error}");
    let outside = updates("u16", 8, "for x in 0..8", "").replace("min(input[x], 7)", "input[x]");
    let checked = Program::from_document(&Document::parse("program.yaml", outside).unwrap()).unwrap();
    let warnings: Vec<String> = checked.warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings.iter().any(|warning| warning.contains("index 0 of `bins` may be from 0 to 65535")),
        "{warnings:?}"
    );
    let inputs = checked.program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
    let error = checked.program.run(&inputs).unwrap_err();
    assert!(error.to_string().contains("lies outside of the array"), "{error}");
}
