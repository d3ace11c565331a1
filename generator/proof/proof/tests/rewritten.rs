//! Rewritten programs are proven by their witnesses, and with any change refused.

use std::sync::Arc;

use itertools::Itertools;
use pushmem_files::Document;
use pushmem_nest::{
    AffineIndex, Binary, Expression, ExpressionKind, Node, Operation, Program, StatementOrigin, Witness, Word,
};
use pushmem_proof::prove_rewritten;
use pushmem_rewriting::{with_accumulators, with_halves, with_random_access};

fn read(text: &str) -> Program {
    Program::from_document(&Document::parse("program.yaml", text).unwrap()).unwrap().program
}

fn operations(nodes: &mut [Node]) -> Vec<&mut Operation> {
    let mut found = Vec::new();
    for node in nodes {
        match node {
            Node::Operation(operation) => found.push(operation.as_mut()),
            Node::Loop(inner) => found.extend(operations(&mut inner.body)),
        }
    }
    found
}

/// Each constant, each index and each bound of a loop is one more; each statement is gone, or each loop.
fn each_change_is_refused(program: &Program, rewritten: &Program, witness: &Witness) {
    let is_refused = |change: &dyn Fn(&mut Program)| {
        let mut changed = rewritten.clone();
        change(&mut changed);
        assert_ne!(changed, *rewritten);
        prove_rewritten(program, &changed, witness).is_err()
    };
    let count = rewritten.operations().len();
    for number in 0..count {
        let loads = rewritten.operations()[number].1.loads.len();
        for load in 0..loads {
            assert!(is_refused(&|of| {
                let outside = &mut operations(&mut of.nest)[number].loads[load].outside;
                *outside = Some(outside.unwrap_or(0) + 1);
            }));
            let indices = rewritten.operations()[number].1.loads[load].access.indices.len();
            for index in 0..indices {
                assert!(is_refused(&|of| {
                    operations(&mut of.nest)[number].loads[load].access.indices[index].affine.constant += 1;
                }));
            }
        }
        assert!(is_refused(&|of| operations(&mut of.nest)[number].target.indices[0].affine.constant += 1));
        for reduction in [None, Some(Binary::Add), Some(Binary::Multiply), Some(Binary::Maximum)] {
            if rewritten.operations()[number].1.reduction != reduction {
                assert!(is_refused(&|of| operations(&mut of.nest)[number].reduction = reduction));
            }
        }
        // A number more, and each element once more.
        for more in [ExpressionKind::Constant(1)].into_iter().chain((0..loads).map(ExpressionKind::Load)) {
            assert!(is_refused(&|of| add(&mut operations(&mut of.nest)[number].expression, more.clone())));
        }
        let accesses = rewritten.operations()[number].1.accesses().count();
        for access in 0..accesses {
            let computed = rewritten.operations()[number].1.accesses().nth(access).and_then(|of| of.computed.as_ref());
            for index in 0..computed.map_or(0, Vec::len) {
                assert!(is_refused(&|of| {
                    let operation = &mut operations(&mut of.nest)[number];
                    let target = [&mut operation.target].into_iter();
                    let mut accesses = operation.loads.iter_mut().map(|load| &mut load.access).chain(target);
                    let computed = accesses.nth(access).and_then(|of| of.computed.as_mut()).unwrap();
                    add(&mut computed[index], ExpressionKind::Constant(1));
                }));
            }
        }
    }
    // Arrays with an element less.
    for number in 0..rewritten.arrays.len() {
        assert!(is_refused(&|of| of.arrays[number].shape[0] -= 1), "array {number}");
    }
    // Nodes of each body, by the path of places that leads there.
    for path in paths(&rewritten.nest, &[]) {
        let place = path[path.len() - 1];
        assert!(is_refused(&|of| drop(body(&mut of.nest, &path).remove(place))), "{path:?}");
        if let Node::Loop(_) = body(&mut rewritten.nest.clone(), &path)[place] {
            assert!(is_refused(&|of| {
                let Node::Loop(inner) = &mut body(&mut of.nest, &path)[place] else { unreachable!("it is one") };
                inner.extent += 1;
            }));
        }
    }
}

/// Adds to an expression.
fn add(expression: &mut Expression, more: ExpressionKind) {
    let more = Expression { kind: more, ..expression.clone() };
    let (left, right) = (Arc::new(expression.clone()), Arc::new(more));
    expression.kind = ExpressionKind::Binary { operator: Binary::Add, left, right };
}

fn paths(nodes: &[Node], before: &[usize]) -> Vec<Vec<usize>> {
    let of_node = |(place, node): (usize, &Node)| {
        let path = before.iter().copied().chain([place]).collect_vec();
        let inner = match node {
            Node::Loop(inner) => paths(&inner.body, &path),
            Node::Operation(_) => Vec::new(),
        };
        std::iter::once(path).chain(inner).collect_vec()
    };
    nodes.iter().enumerate().flat_map(of_node).collect()
}

fn body<'a>(nodes: &'a mut Vec<Node>, path: &[usize]) -> &'a mut Vec<Node> {
    match path {
        [_] => nodes,
        [place, rest @ ..] => match &mut nodes[*place] {
            Node::Loop(inner) => body(&mut inner.body, rest),
            Node::Operation(_) => unreachable!("a path goes through loops"),
        },
        [] => unreachable!("a path has a place"),
    }
}

/// Each claim of a witness that is another one is refused.
fn each_other_claim_is_refused(program: &Program, rewritten: &Program, witness: &Witness) {
    let is_refused = |change: &dyn Fn(&mut Witness)| {
        let mut changed = witness.clone();
        change(&mut changed);
        changed == *witness || prove_rewritten(program, rewritten, &changed).is_err()
    };
    let words = [None, Some(Word::Low), Some(Word::High)];
    for number in 0..witness.statements.len() {
        assert!(is_refused(&|of| _ = of.statements.remove(number)), "statement {number} without an origin");
        for other in 0..witness.statements.len() {
            let is_other = |of: &mut Witness| of.statements[number].iter_mut().for_each(|of| of.statement = other);
            assert!(is_refused(&is_other), "statement {number} as {other}");
        }
        let is_copy = |of: &mut Witness| {
            let origin = &mut of.statements[number];
            *origin = if origin.is_none() { Some(StatementOrigin::same(0, 1)) } else { None };
        };
        assert!(is_refused(&is_copy), "statement {number} as a copy, or none");
        for word in words {
            let has_word = |of: &mut Witness| of.statements[number].iter_mut().for_each(|of| of.word = word);
            assert!(is_refused(&has_word), "statement {number} as {word:?}");
        }
        for lanes in [vec![3], vec![5], vec![-1], vec![0], vec![2, 2, 2]] {
            let has_lanes =
                |of: &mut Witness| of.statements[number].iter_mut().for_each(|of| of.lanes.clone_from(&lanes));
            assert!(is_refused(&has_lanes), "statement {number} with {lanes:?}");
        }
        let variables = witness.statements[number].as_ref().map_or(0, |of| of.variables.len());
        for variable in 0..variables {
            let is_more = |of: &mut Witness| {
                of.statements[number].iter_mut().for_each(|of| of.variables[variable].constant += 1);
            };
            assert!(is_refused(&is_more), "variable {variable} of statement {number}");
        }
    }
    for number in 0..witness.arrays.len() {
        assert!(is_refused(&|of| _ = of.arrays.remove(number)), "array {number} without an origin");
        for other in 0..witness.arrays.len() {
            assert!(is_refused(&|of| of.arrays[number].array = other), "array {number} as {other}");
        }
        for word in words {
            assert!(is_refused(&|of| of.arrays[number].word = word), "array {number} as {word:?}");
        }
        assert!(is_refused(&|of| of.arrays[number].elements[0] = AffineIndex::constant(0)), "elements of {number}");
        assert!(is_refused(&|of| of.arrays[number].outside = Some(0)), "array {number} with elements outside");
    }
}

/// Updates and look-ups of an element that data choose, of an input and an output, and of a place in a picture of its own.
const CHOSEN: &str = "
name: chosen
inputs: {places: {type: u8, shape: [20]}, weights: {type: i32, shape: [5, 4], min: [-1, 0]}}
outputs: {output: {type: i32, shape: [8]}, sums: {type: i32, shape: [20]}}
buffers: {small: {type: i16, shape: [6]}}
nest:
  - for b in 0..8:
    - output[7 - b] = b - 70000
  - for b in 0..6:
    - small[clamp(b - 2, 0, 5)] = b as i16
  - for b in 0..6:
    - small[b] = (3 * b) as i16
  - for x in 0..20:
    - output[places[x] % 8] += weights[places[x] % 4, x/5]
  - for x in 0..20:
    - small[places[x] % 6] = small[places[x] % 6] * 3 + (places[x] as i16)
  - for x in 0..20:
    - sums[x] = (small[x % 6] as i32) + weights[3, x/5]
";

#[test]
fn random_accesses_and_words_are_proven() {
    let program = read(CHOSEN);
    let (alike, witness) = with_random_access(program.clone()).unwrap();
    assert_eq!(alike.arrays.len(), program.arrays.len() + 2);
    assert_eq!(prove_rewritten(&program, &alike, &witness), Ok(()));
    each_change_is_refused(&program, &alike, &witness);
    each_other_claim_is_refused(&program, &alike, &witness);
    let (halved, witness) = with_halves(alike.clone()).unwrap();
    assert_eq!(halved.arrays.len(), alike.arrays.len() + 2);
    assert_eq!(prove_rewritten(&alike, &halved, &witness), Ok(()));
    each_change_is_refused(&alike, &halved, &witness);
    each_other_claim_is_refused(&alike, &halved, &witness);
}

/// The statements of two words in the other order: the second one reads what the first one has written.
#[test]
fn words_in_another_order_are_refused() {
    let (alike, _) = with_random_access(read(CHOSEN)).unwrap();
    let (mut halved, mut witness) = with_halves(alike.clone()).unwrap();
    let number =
        halved.operations().iter().position(|(_, operation)| operation.name.starts_with("output_memory_high_1"));
    let number = number.unwrap_or_else(|| panic!("{halved}"));
    for nodes in &mut halved.nest {
        if let Node::Loop(inner) = nodes
            && let [Node::Operation(first), _] = &inner.body[..]
            && first.name.starts_with("output_memory_high_1")
        {
            inner.body.swap(0, 1);
        }
    }
    witness.statements.swap(number, number + 1);
    let refused = prove_rewritten(&alike, &halved, &witness).unwrap_err();
    assert_eq!(refused.reason, "it comes after a part of the element that it reads");
}

/// A product of matrices that begins with another one, over a loop of two lanes and one inside, and the sum of what it reads.
const PRODUCT: &str = "
name: product
schedule: dnn
inputs:
  a: {type: i16, shape: [8, 3, 5]}
  b: {type: i16, shape: [8, 6]}
  c: {type: i16, shape: [6, 5]}
outputs: {output: {type: i16, shape: [6, 5]}, weight: {type: i16, shape: [6, 5]}}
nest:
  - for i in 0..5:
    - for j in 0..6:
      - weight[j, i] = 7
      - output[j, i] = 2 * c[j, i]
      - for l in 0..3:
        - for k in 0..8 unroll 2:
          - output[j, i] += a[k, l, i] * b[k, j] + (k as i16)
      - for k in 0..8:
        - weight[j, i] += b[k, j]
";

/// The same in 32 bits, where a term is a loop variable as it is, with a factor, and beside another one and a constant.
fn with_bare_variables() -> String {
    let text = PRODUCT.replace("i16", "i32").replace("(k as i32)", "k");
    let text = text.replace("2 * c[j, i]", "j + 3").replace("  c: {type: i32, shape: [6, 5]}\n", "");
    text.replace("weight[j, i] += b[k, j]", "weight[j, i] += 2*k - 1*i + b[k, j] + i + 70000000")
}

/// The same with extremes and products of all in place of sums.
fn with_other_operators() -> String {
    let largest = "output[j, i] = max(output[j, i], a[k, l, i] * b[k, j] + (k as i16))";
    let text = PRODUCT.replace("output[j, i] += a[k, l, i] * b[k, j] + (k as i16)", largest);
    text.replace("weight[j, i] += b[k, j]", "weight[j, i] = b[k, j] * weight[j, i]")
}

/// The same of bfloat16 numbers, which begins with a constant, in two lanes.
const NUMBERS: &str = "
name: product
schedule: dnn
inputs: {a: {type: bf16, shape: [8, 5]}, b: {type: bf16, shape: [8, 6]}}
outputs: {output: {type: bf16, shape: [6, 5]}}
nest:
  - for i in 0..5:
    - for j in 0..6:
      - output[j, i] = 0.5
      - for k in 0..8 unroll 2:
        - output[j, i] += a[k, i] * b[k, j]
";

fn divided(text: &str) -> (Program, Program, Witness) {
    let program = read(text);
    let (divided, witness) = with_accumulators(program.clone(), |_| true);
    assert_eq!(divided.arrays.len(), program.arrays.len() + 3);
    (program, divided, witness)
}

#[test]
fn divided_sums_are_proven() {
    for text in [PRODUCT, &with_bare_variables(), &with_other_operators()] {
        let (program, divided, witness) = divided(text);
        assert_eq!(prove_rewritten(&program, &divided, &witness), Ok(()), "{divided}");
        each_change_is_refused(&program, &divided, &witness);
        each_other_claim_is_refused(&program, &divided, &witness);
    }
}

/// A sum after a value that its loop adds, which is read there, and after one that is added to in all iterations of the loop around both.
#[test]
fn sums_of_elements_of_their_loop_are_proven() {
    let program = read(
        "
name: sums
schedule: dnn
inputs: {a: {type: i16, shape: [8, 5]}}
outputs: {output: {type: i16, shape: [5]}, all: {type: i16, shape: [8]}}
buffers: {scaled: {type: i16, shape: [8]}}
nest:
  - for k in 0..8:
    - all[k] = 0
  - for i in 0..5:
    - output[i] = a[0, i]
    - for k in 0..8:
      - scaled[k] = 3 * a[k, i]
      - all[k] += a[k, i]
      - output[i] += scaled[k]
",
    );
    let (divided, witness) = with_accumulators(program.clone(), |_| true);
    assert_eq!(divided.arrays.len(), program.arrays.len() + 1);
    assert_eq!(prove_rewritten(&program, &divided, &witness), Ok(()), "{divided}");
    each_change_is_refused(&program, &divided, &witness);
    each_other_claim_is_refused(&program, &divided, &witness);
}

/// A sum of values that are each used twice by the next one, which a text of all of them would not end with.
#[test]
fn values_are_told_apart_however_often_they_are_used() {
    let program = |steps: usize, step: &str| {
        let values = (1..=steps)
            .map(|number| format!("            v{number}: {}\n", step.replace('v', &format!("v{}", number - 1))));
        read(&format!(
            "
name: named
schedule: dnn
inputs: {{a: {{type: u16, shape: [8, 3]}}}}
outputs: {{output: {{type: u16, shape: [3]}}}}
nest:
  - for j in 0..3:
    - output[j] = 3
    - for k in 0..8 unroll 2:
      - output[j] += v{steps} + v{steps}:
          where:
            v0: a[k, j] + (k as u16)
{}",
            values.collect::<String>()
        ))
    };
    let (divided, witness) = with_accumulators(program(40, "v ^ v << 1"), |_| true);
    assert_eq!(prove_rewritten(&program(40, "v ^ v << 1"), &divided, &witness), Ok(()));
    for other in [program(39, "v ^ v << 1"), program(40, "v << 1 ^ v"), program(40, "v + v")] {
        let refused = prove_rewritten(&other, &divided, &witness).unwrap_err();
        assert_eq!(refused.reason, "it computes another value");
    }
    let often = program(100, "v + v");
    let (divided, witness) = with_accumulators(often.clone(), |_| true);
    assert_eq!(prove_rewritten(&often, &divided, &witness), Ok(()));
}

#[test]
fn sums_of_numbers_keep_their_order() {
    let program = read(NUMBERS);
    let (divided, witness) = with_accumulators(program.clone(), |_| true);
    assert_eq!(divided.arrays.len(), program.arrays.len() + 1);
    assert_eq!(prove_rewritten(&program, &divided, &witness), Ok(()));
    each_change_is_refused(&program, &divided, &witness);
    each_other_claim_is_refused(&program, &divided, &witness);
    let mut changed = divided.clone();
    let expression = &mut operations(&mut changed.nest)[0].expression;
    let ExpressionKind::Binary { left, right, .. } = &mut expression.kind else { unreachable!("it adds") };
    let ExpressionKind::Binary { right: first, .. } = &mut Arc::make_mut(left).kind else {
        unreachable!("it adds twice")
    };
    std::mem::swap(first, right);
    assert_eq!(prove_rewritten(&program, &changed, &witness).unwrap_err().reason, "it computes another value");
    let other = read(&NUMBERS.replace("bf16", "i16").replace("0.5", "3"));
    assert!(prove_rewritten(&other, &divided, &witness).is_err());
}

#[test]
fn sums_of_numbers_that_begin_otherwise_stay_as_they_are() {
    for (from, to) in [
        ("= 0.5", "= a[0, i]"),
        (
            "      - output[j, i] = 0.5\n      - for k",
            "      - output[j, i] = 0.5\n    - for j in 0..6:\n      - for k",
        ),
        ("for k in 0..8 unroll 2:", "for k in 0..8:\n        - for l in 0..3:"),
    ] {
        let text = NUMBERS.replace(from, to);
        let text = if to.contains("for l") { text.replace("        - output", "          - output") } else { text };
        let program = read(&text);
        assert_eq!(with_accumulators(program.clone(), |_| true).0.arrays.len(), program.arrays.len(), "{text}");
    }
}
