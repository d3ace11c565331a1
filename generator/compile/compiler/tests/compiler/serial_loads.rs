//! Lanes that keep a word load it through one port: the accelerator computes the same in fewer tiles, and a wrong copy is refused.

use pushmem_nest::{AffineIndex, ExpressionKind, Index, Loop, Node, Operation, Program, Witness};
use pushmem_proof::prove_rewritten;
use pushmem_realization::Report;
use pushmem_rewriting::with_serial_loads;

use crate::common::{app, compare, compiled, program};

/// A layer of 4 to 6 channels on 24 × 20 pixels, whose weights have another bank in each of 24 lanes. The loops around are those of a
/// window, in this order.
fn layer(window: [&str; 2], weight: &str) -> String {
    let [outer, inner] = window;
    format!(
        "
name: layer
inputs:
  input: {{type: i16, shape: [4, 28, 24]}}
  weights: {{type: i16, shape: [4, 6, 5, 5]}}
outputs: {{output: {{type: i16, shape: [6, 24, 20]}}}}
buffers:
  loaded: {{type: i16, shape: [4, 28, 24]}}
  kept: {{type: i16, shape: [4, 6, 5, 5]}}
  sums: {{type: i16, shape: [6, 24, 20]}}
nest:
  - for y in 0..24:
    - for x in 0..28:
      - for z in 0..4 unroll 4:
        - loaded[z, x, y] = input[z, x, y]
  - for ry in 0..5:
    - for rx in 0..5:
      - for w in 0..6:
        - for z in 0..4:
          - kept[z, w, rx, ry] = weights[z, w, rx, ry]
  - for y in 0..20:
    - for x in 0..24:
      - for w in 0..6 unroll 6:
        - sums[w, x, y] = 0
  - for {outer}:
    - for {inner}:
      - for y in 0..20:
        - for x in 0..24:
          - for w in 0..6 unroll 6:
            - for z in 0..4 unroll 4:
              - sums[w, x, y] += {weight} * loaded[z, x + rx, y + ry]
  - for y in 0..20:
    - for x in 0..24:
      - for w in 0..6 unroll 6:
        - output[w, x, y] = sums[w, x, y]
"
    )
}

const WINDOW: [&str; 2] = ["ry in 0..5", "rx in 0..5"];
const TURNED: [&str; 2] = ["rx in 0..5", "ry in 0..5"];

#[test]
fn weights_wait_in_registers_and_share_a_memory() {
    for (window, weight) in [
        (WINDOW, "kept[z, w, rx, ry]"),
        (TURNED, "kept[z, w, rx, ry]"),
        (WINDOW, "kept[3 - z, 5 - w, 4 - rx, ry]"),
        // Twice the same word, and another one.
        (WINDOW, "kept[z, w, rx, ry] * kept[3 - z, w, ry, rx] * kept[z, w, rx, ry]"),
    ] {
        for tile in ["amber", "dual_port", "quad_port"] {
            let compiled = compiled(program(&layer(window, weight)), tile);
            compare(&compiled);
            let weights = compiled.accelerator.arrays.iter().filter(|array| array.buffer.name == "kept");
            let tiles: usize = weights.map(|array| array.mapped.tiles.len()).sum();
            assert!(tiles <= 2, "{tiles} tiles of {tile} for {weight}\n{}", compiled.program);
        }
    }
}

/// Both words of an element are loaded in the same cycle.
#[test]
fn weights_of_two_words_wait_in_two_registers() {
    let text = layer(WINDOW, "kept[z, w, rx, ry]").replace("i16", "i32");
    for tile in ["amber", "dual_port"] {
        let compiled = compiled(program(&text), tile);
        compare(&compiled);
        assert_eq!(Report::of(&compiled).hold_registers, 48, "{tile}");
    }
}

/// Without a memory between: the words of an input come when the lanes load them.
#[test]
fn weights_of_an_input_need_no_memory() {
    let text = layer(WINDOW, "weights[z, w, rx, ry]");
    let (before, rest) = text.split_once("  - for ry in 0..5:\n    - for rx in 0..5:\n      - for w in 0..6:").unwrap();
    let (_, after) = rest.split_once("weights[z, w, rx, ry]\n").unwrap();
    let text = format!("{before}{after}").replace("  kept: {type: i16, shape: [4, 6, 5, 5]}\n", "");
    for tile in ["amber", "dual_port"] {
        let compiled = compiled(program(&text), tile);
        compare(&compiled);
        let weights = compiled.accelerator.arrays.iter().filter(|array| array.buffer.name == "weights");
        assert_eq!(weights.map(|array| array.mapped.tiles.len()).sum::<usize>(), 0, "{tile}\n{}", compiled.program);
    }
}

/// The loops of a stage may be interchanged in time, so that a lane needs another word in each cycle.
#[test]
fn interchanged_loops_keep_their_words_in_memories() {
    for name in ["resnet", "resnet1_small"] {
        for tile in ["amber", "dual_port"] {
            compare(&compiled(app(name), tile));
        }
    }
}

/// The statements of an iteration of the window.
fn window(program: &mut Program) -> &mut Vec<Node> {
    body(&mut body(&mut program.nest[3])[0])
}

fn body(node: &mut Node) -> &mut Vec<Node> {
    match node {
        Node::Loop(inner) => &mut inner.body,
        Node::Operation(_) => panic!("it is no loop"),
    }
}

fn innermost(node: &mut Node) -> &mut Operation {
    match node {
        Node::Loop(inner) => innermost(&mut inner.body[0]),
        Node::Operation(operation) => operation,
    }
}

/// A statement that writes another number to a weight.
fn overwriting(program: &Program) -> Node {
    let mut operation = innermost(&mut program.nest[1].clone()).clone();
    operation.target.indices = vec![Index::constant(0); 4];
    operation.loads.clear();
    operation.expression.kind = ExpressionKind::Constant(5);
    Node::Operation(Box::new(operation))
}

type Change = fn(&mut Program);

#[test]
fn copies_that_are_none_are_refused() {
    let source = program(&layer(WINDOW, "kept[z, w, rx, ry]"));
    let (copied, witness) = with_serial_loads(source.clone());
    prove_rewritten(&source, &copied, &witness).unwrap();
    let changes: [(&str, Change); 12] = [
        ("missing", |program| _ = window(program).remove(0)),
        ("after its loads", |program| window(program).swap(0, 1)),
        ("of other elements", |program| {
            innermost(&mut window(program)[0]).loads[0].access.indices[2] = Index::constant(0);
        }),
        ("of too few elements", |program| {
            let Node::Loop(Loop { extent, .. }) = &mut window(program)[0] else { panic!("it is no loop") };
            *extent -= 1;
        }),
        ("loaded at another lane", |program| {
            innermost(&mut window(program)[1]).loads[0].access.indices[0] = Index::constant(0);
        }),
        ("loaded at another iteration", |program| {
            innermost(&mut window(program)[1]).loads[0].access.indices[2] = Index::variable(0);
        }),
        ("written twice", |program| {
            let again = window(program)[0].clone();
            window(program).insert(0, again);
        }),
        ("written in several iterations", |program| {
            innermost(&mut window(program)[0]).target.indices[0] = Index::constant(0);
        }),
        ("of a number", |program| {
            innermost(&mut window(program)[0]).expression.kind = ExpressionKind::Constant(1);
        }),
        ("a sum", |program| {
            innermost(&mut window(program)[0]).reduction = Some(pushmem_nest::Binary::Add);
        }),
        ("beside another program", |program| {
            innermost(&mut program.nest[2]).expression.kind = ExpressionKind::Constant(1);
        }),
        ("of another type", |program| {
            program.arrays.last_mut().unwrap().element = pushmem_nest::Type::U16;
        }),
    ];
    for (what, change) in changes {
        let mut wrong = copied.clone();
        change(&mut wrong);
        let count = source.arrays.len();
        for claim in [witness.clone(), Witness::with_copies(&wrong, witness.arrays[count..].to_vec())] {
            assert!(prove_rewritten(&source, &wrong, &claim).is_err(), "a copy {what} is accepted");
        }
    }
}

type Claim = fn(&mut Witness);

#[test]
fn claims_about_copies_that_are_wrong_are_refused() {
    let source = program(&layer(WINDOW, "kept[z, w, rx, ry]"));
    let (copied, witness) = with_serial_loads(source.clone());
    let claims: [(&str, Claim); 9] = [
        ("another array", |witness| witness.arrays[6].array = 0),
        ("another element", |witness| witness.arrays[6].elements[2] = AffineIndex::constant(0)),
        ("other loops", |witness| witness.arrays[6].depth = 1),
        ("fewer dimensions", |witness| _ = witness.arrays[6].elements.pop()),
        ("a value beyond the array", |witness| witness.arrays[6].outside = Some(0)),
        ("no copy", |witness| _ = witness.arrays.pop()),
        ("another array for one of the program", |witness| witness.arrays.swap(2, 3)),
        ("a copy for a statement", |witness| witness.statements[2] = None),
        ("a statement for a copy", |witness| witness.statements.swap(3, 4)),
    ];
    for (what, claim) in claims {
        let mut wrong = witness.clone();
        claim(&mut wrong);
        assert_ne!(wrong, witness);
        assert!(prove_rewritten(&source, &copied, &wrong).is_err(), "a witness of {what} is accepted");
    }
}

/// A write between the copy and its loads makes the copy wrong; a write before the copy does not.
#[test]
fn copies_of_elements_that_change_are_refused() {
    let source = program(&layer(WINDOW, "kept[z, w, rx, ry]"));
    let (copied, witness) = with_serial_loads(source.clone());
    for (place, is_right) in [(0, true), (1, false)] {
        let (mut source, mut copied) = (source.clone(), copied.clone());
        let change = overwriting(&source);
        window(&mut source).insert(0, change.clone());
        window(&mut copied).insert(place, change);
        let count = source.arrays.len();
        let witness = Witness::with_copies(&copied, witness.arrays[count..].to_vec());
        assert_eq!(prove_rewritten(&source, &copied, &witness).is_ok(), is_right, "at place {place}");
    }
}
