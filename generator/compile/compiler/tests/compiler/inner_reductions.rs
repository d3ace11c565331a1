//! Layers whose window is outside of their pixels: the order of these loops decides neither whether there is hardware nor how fast it is.

use pushmem_nest::{AffineIndex, Program, StatementOrigin, Witness};
use pushmem_proof::prove_rewritten;
use pushmem_rewriting::with_inner_reductions;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{compare, compiled, program};

/// A layer of sums of 32 bits, with the loops of its sums in this order.
fn layer(loops: &[&str]) -> Program {
    let nest: String =
        loops.iter().enumerate().map(|(depth, of)| format!("{:1$}- for {of}:\n", "", 2 * depth + 2)).collect();
    let statement = " ".repeat(2 * loops.len() + 2);
    program(&format!(
        "
name: layer
schedule: dnn
inputs:
  input: {{type: i8, shape: [3, 12, 12]}}
  weights: {{type: i8, shape: [3, 8, 3, 3]}}
  bias: {{type: i16, shape: [8]}}
outputs: {{output: {{type: i8, shape: [8, 10, 10]}}}}
buffers:
  image: {{type: i8, shape: [3, 12, 12]}}
  sums: {{type: i32, shape: [8, 10, 10]}}
nest:
  - for y in 0..12:
    - for x in 0..12:
      - for c in 0..3:
        - image[c, x, y] = input[c, x, y]
  - for y in 0..10:
    - for x in 0..10:
      - for k in 0..8 unroll 4:
        - sums[k, x, y] = bias[k] as i32
{nest}{statement}- sums[k, x, y] += (weights[c, k, u, v] as i32) * (image[c, x + u, y + v] as i32)
  - for y in 0..10:
    - for x in 0..10:
      - for k in 0..8 unroll 4:
        - output[k, x, y] = clamp((sums[k, x, y] * 93 + 4096) >> 13, 0, 127) as i8
"
    ))
}

const OUTSIDE: [&str; 6] =
    ["v in 0..3", "u in 0..3", "y in 0..10", "x in 0..10", "k in 0..8 unroll 4", "c in 0..3 unroll 3"];
const INSIDE: [&str; 6] =
    ["y in 0..10", "x in 0..10", "k in 0..8 unroll 4", "v in 0..3", "u in 0..3", "c in 0..3 unroll 3"];

#[test]
fn both_orders_are_as_fast() {
    for tile in ["amber", "dual_port"] {
        let [outside, inside] = [OUTSIDE, INSIDE].map(|loops| compiled(layer(&loops), tile));
        compare(&outside);
        let [own, other] = [&outside, &inside].map(|of| of.graph.length);
        assert!(own <= other + other / 50, "{tile}: {own} and {other} cycles");
    }
}

#[test]
fn loops_that_are_turned_by_another_order_are_refused() {
    let source = layer(&OUTSIDE);
    let (turned, witness) = with_inner_reductions(source.clone());
    assert_eq!(turned.to_string(), with_inner_reductions(layer(&INSIDE)).0.to_string());
    prove_rewritten(&source, &turned, &witness).unwrap();
    let refused = |source: &Program, wrong: &Program, witness: &Witness, reason: &str| {
        assert_eq!(prove_rewritten(source, wrong, witness).unwrap_err().reason, reason);
    };
    // The statement with the numbers of two loops exchanged: of channels, and of rows of the window.
    let exchanged = [0, 1, 3, 2, 4, 5].map(AffineIndex::variable);
    let mut wrong = turned.clone();
    for operation in wrong.operations_mut().into_iter().filter(|operation| operation.reduction.is_some()) {
        *operation = operation.in_loops(&exchanged).unwrap();
    }
    refused(&source, &wrong, &witness, "it accesses other elements");
    let of_sums = witness.statements.len() - 2;
    let with_witness = |change: &dyn Fn(&mut Vec<Option<StatementOrigin>>)| {
        let mut wrong = witness.clone();
        change(&mut wrong.statements);
        wrong
    };
    let claims = with_witness(&|statements| statements[of_sums].as_mut().unwrap().variables.swap(0, 2));
    refused(&source, &turned, &claims, "it has not each iteration of the program once");
    let claims = with_witness(&|statements| statements.swap(0, 1));
    refused(&source, &turned, &claims, "it has not each iteration of the program once");
    let claims = with_witness(&|statements| statements[0].as_mut().unwrap().variables.truncate(2));
    refused(&source, &turned, &claims, "its iterations are none of the program");
    let claims = with_witness(&|statements| statements[3].as_mut().unwrap().statement = 0);
    refused(&source, &turned, &claims, "it is no statement of the program");
    let claims = with_witness(&|statements| statements.truncate(3));
    refused(&source, &turned, &claims, "it has other statements than its witness");
    let claims = with_witness(&|statements| statements[0] = None);
    refused(&source, &turned, &claims, "it does not only copy an element");
    // A nest that comes before the one that begins the sums, whose statements are named.
    let mut wrong = turned.clone();
    wrong.nest.swap(1, 2);
    let claims = with_witness(&|statements| statements.swap(1, 2));
    refused(&source, &wrong, &claims, "it may access an element before `sums_0` does");
}

/// A sum of loop variables, of elements that no affine index has, and of tables, around a loop of an iteration.
#[test]
fn sums_of_loop_variables_turn() {
    let source = program(
        "
name: sums
schedule: dnn
inputs: {a: {type: i16, shape: [9, 4]}}
outputs: {s: {type: i32, shape: [5, 4]}}
tables: {t: {type: i16, values: [3, 1, 4]}}
nest:
  - for y in 0..4:
    - for x in 0..5:
      - s[x, y] = 0
    - for z in 0..3:
      - for o in 2..3:
        - for x in 0..5:
          - s[x, y] += (a[clamp(x + z - o, 0, 4), y] as i32) + z * o - 2 * x + (t[z] as i32)
",
    );
    let (turned, witness) = with_inner_reductions(source.clone());
    assert!(
        turned.to_string().contains("    - for x in 0..5:\n      - for z in 0..3:\n        - for o in 2..3:\n"),
        "{turned}"
    );
    prove_rewritten(&source, &turned, &witness).unwrap();
    let inputs = source.random_inputs(&mut ChaCha8Rng::seed_from_u64(0));
    assert_eq!(source.run(&inputs).unwrap(), turned.run(&inputs).unwrap());
    for (term, other, is_same) in [
        ("z * o", "x * o", false),
        ("2 * x", "2 * z", false),
        ("t[z]", "t[o]", false),
        ("-o + z + x", "x + z - 1", false),
        ("-o + z + x", "x + z - 2", true),
    ] {
        let wrong = program(&turned.to_string().replace(term, other));
        assert_ne!(wrong.to_string(), turned.to_string());
        assert_eq!(prove_rewritten(&source, &wrong, &witness).is_ok(), is_same, "{term}");
    }
}
