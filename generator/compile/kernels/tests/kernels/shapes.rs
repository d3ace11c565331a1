//! Shapes of datapaths after simplification.

use pushmem_datapaths::{Datapath, DedicatedOperators, Evaluator, NodeKind, TableMemories};
use pushmem_kernels::DatapathGraph;
use pushmem_nest::{Binary, Language, Program, SourceText, Type};

use crate::common::read;
use crate::expressions::{of_numbers, program};

fn datapath(expression: &str) -> Datapath {
    let program = read(&program(expression, Type::U16));
    DatapathGraph::of(&program, program.operations()[0].1).dedicated()
}

fn count(datapath: &Datapath, wanted: Binary) -> usize {
    let is_wanted = |kind: &NodeKind| matches!(kind, NodeKind::Binary { operator, .. } if *operator == wanted);
    datapath.nodes().iter().filter(|node| is_wanted(&node.kind)).count()
}

/// Sums of numbers are not those of integers: each operator is there, in the order of the text.
#[test]
fn operations_of_numbers_stay_as_they_are() {
    for (expression, elements, latency) in [
        ("g[x, y] + g[0, y] - g[x, y]", 2, 4),
        ("g[x, y] + 0.0", 1, 2),
        ("g[x, y] * 1.0 + g[0, y] * 1.0", 3, 4),
        ("g[x, y] + g[0, y] + g[1, y] + g[2, y]", 3, 6),
        ("(g[x, y] + g[0, y]) + (g[1, y] + g[2, y])", 3, 4),
        ("g[x, y] * 2 * 3", 2, 4),
        ("g[x, y] - g[x, y]", 1, 2),
        ("sel(g[x, y] == g[x, y], g[x, y], 1.0)", 2, 1),
        ("-(-g[x, y])", 0, 0),
        ("0.5bf16 * 4 + 1", 0, 0),
        ("max(g[x, y], 0)", 2, 1),
        ("c[x, y] as bf16", 1, 1),
        ("(c[x, y] & 0) as bf16", 0, 0),
    ] {
        for value in [Type::Bf16, Type::F16] {
            let program = read(&program(&of_numbers(expression, value), value));
            let datapath = DatapathGraph::of(&program, program.operations()[0].1).dedicated();
            let found = (datapath.processing_elements(), datapath.latency());
            assert_eq!(found, (elements, latency), "{expression} of {}: {datapath:#?}", value.name());
        }
    }
}

#[test]
fn operations_are_simplified() {
    for (expression, elements, latency) in [
        ("a[x, y] * 0 + 3", 0, 0),
        ("a[x, y] * 1 + 0", 0, 0),
        ("a[x, y] * 8", 0, 0),
        ("a[x, y] * 7", 1, 1),
        ("a[x, y] * 37", 2, 1),
        ("a[x, y] * 85", 1, 1),
        ("0 - a[x, y]", 1, 1),
        ("a[x, y] * 65535", 1, 1),
        ("a[x, y] / 16", 0, 0),
        ("b[x, y] / 16 % 4", 0, 0),
        ("a[x, y] << 20", 0, 0),
        ("a[x, y] >> 3 >> 4", 0, 0),
        ("sel(true, a[x, y], 3)", 0, 0),
        ("min(a[x, y], 65535)", 0, 0),
        ("max(a[x, y], 0)", 0, 0),
        ("c[x, y] as u16 as u8 as i16", 0, 0),
        ("a[x, y] - a[x, y]", 0, 0),
        ("a[x, y] + 5 - 3 - a[x, y]", 0, 0),
        ("3 * a[x, y] + 3 * a[0, y] + 3 * a[1, y]", 3, 1),
        ("7 * a[x, y] + 14 * a[0, y]", 2, 1),
        ("a[x, y] - 77 * a[0, y] - 77 * a[1, y]", 3, 3),
        ("(a[x, y] + a[0, y]) * (a[x, y] + a[0, y])", 2, 2),
        ("(a[x, y] > 3) as u16 + (3 < a[x, y]) as u16", 1, 1),
        ("a[x, y] / 3", 3, 1),
        ("a[x, y] / 3 + a[x, y] % 3", 6, 3),
        ("b[x, y] / 3", 7, 3),
        ("(c[x, y] as i16 / 3) as u16", 3, 1),
        ("a[x, y] / 7", 5, 2),
        ("a[x, y] / a[0, y] + a[x, y] % a[0, y]", 17, 9),
        ("x as u16", 0, 0),
        ("abs(-(c[x, y] as i16))", 0, 0),
        ("abs(0 - a[x, y])", 1, 1),
    ] {
        let datapath = datapath(expression);
        assert_eq!(
            (datapath.processing_elements(), datapath.latency()),
            (elements, latency),
            "{expression}: {datapath:#?}"
        );
    }
}

#[test]
fn large_tables_are_beside_the_datapath() {
    let program = read(&program("t[a[x, y]] + t[min(a[0, y], 7)] + t[3]", Type::U16));
    let entries = program.tables.iter().find(|table| table.name == "t").unwrap().values.len();
    let of = |logic_words: usize, latency: u64| {
        let memories = TableMemories { logic_words, latency };
        DatapathGraph::of(&program, program.operations()[0].1)
            .pipelined(&DedicatedOperators::LONG_STAGES, memories)
            .unwrap()
    };
    assert_eq!(of(entries, 1), of(usize::MAX, 1));
    assert!(of(entries, 1).fetches().is_empty());
    for latency in [1, 2] {
        // The limit of the second index takes a stage, the constant index nothing.
        let beside = of(entries - 1, latency);
        let stages = beside.fetches().iter().map(|fetch| (fetch.stage, fetch.latency)).collect::<Vec<_>>();
        assert_eq!(stages, [(0, latency), (1, latency)]);
        assert_eq!(beside.latency(), latency + 2);
    }
}

#[test]
fn chains_become_trees() {
    let sum = (0..32).map(|number| format!("a[{}, {}]", number % 8, number / 8)).collect::<Vec<_>>();
    let tree = datapath(&sum.join(" + "));
    assert_eq!((tree.latency(), count(&tree, Binary::Add)), (2, 31));
    let least = sum.iter().skip(1).fold(sum[0].clone(), |least, next| format!("min({least}, {next})"));
    assert_eq!((datapath(&least).latency(), count(&datapath(&least), Binary::Minimum)), (3, 31));
}

#[test]
fn sharing_survives() {
    let shared = "(a[0, y] + a[1, y] + a[2, y])";
    let datapath = datapath(&format!("({shared} + a[3, y]) * ({shared} - a[4, y])"));
    assert_eq!(count(&datapath, Binary::Add) + count(&datapath, Binary::Subtract), 4);
}

#[test]
fn registers_are_counted() {
    // Two additions in one stage, then the result.
    assert_eq!(datapath("a[x, y] + a[0, y] + 1").registers(), 16);
    // The comparison is kept instead of its operands.
    let late = datapath("sel(a[x, y] < a[0, y], a[1, y] * a[2, y] + 1, 3)");
    assert_eq!((late.latency(), late.registers()), (2, 16 + 1 + 16));
    assert_eq!(datapath("a[x, y] / 4").registers(), 0);
}

#[test]
fn copies_that_add_to_one_element_are_one_sum() {
    let text = "
name: sums
inputs: {input: {type: u16, shape: [66]}}
outputs: {output: {type: u16, shape: [64]}}
tables: {weights: {type: u16, values: [3, 5, 7]}}
nest:
  - for x in 0..64 unroll 2:
    - output[x] = 0
    - for k in 0..3 unroll 3:
      - output[x] += weights[k] * input[clamp(x + k, 0, 64)] + (k as u16) + (x as u16)
";
    let program = read(text);
    let operation = program.operations()[1].1;
    let datapath = DatapathGraph::of(&program, operation).dedicated();
    assert_eq!(datapath.loads().len(), 4);
    // Which of the iterations of x a copy executes is not known here, that of k is.
    assert_eq!(datapath.variables(), [0]);
    let expected = 3 * 10 + 5 * 20 + 7 * 30 + (1 + 2) + 3 * 9 + 1000;
    let mut evaluator = Evaluator::new(&datapath, &program.tables);
    assert_eq!(evaluator.evaluate(&[10, 20, 30, 1000], &[9, 0]), expected);
    let ports = datapath.ports(&program, operation);
    assert_eq!(
        ports.loads,
        ["input_clamp_x_0_64_i", "input_clamp_x_plus_1_0_64_i", "input_clamp_x_plus_2_0_64_i", "output_x_old_i"]
    );
    let module = datapath.module(&program, operation, "kernel");
    assert!(module.contains("u16 input[clamp(x + 2, 0, 64)]"), "{module}");
}

/// Text that a program was translated from has names that are in neither the nest nor the module.
#[test]
fn modules_say_what_they_compute_as_the_nest_does() {
    let nest = "
name: translated
inputs: {input: {type: u16, shape: [9]}}
outputs: {output: {type: u16, shape: [8]}}
nest:
  - for x in 0..8:
    - output[x] = input[x+1]*2 + input[x]
";
    let pipeline = "output(x) = (uint16(input(r.x + 1)) * 2) + input(x)";
    let source = SourceText::new("test.hlpipe", pipeline, Language::Halide);
    let program = Program { source, ..read(nest) };
    let operation = program.operations()[0].1;
    let module = DatapathGraph::of(&program, operation).dedicated().module(&program, operation, "kernel");
    assert_eq!(module.lines().next(), Some("// output[x] = input[x + 1] * 2 + input[x]"));
}
