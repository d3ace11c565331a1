//! Blocked programs compute what the programs do.

use itertools::Itertools;
use pushmem_blocking::{Blocking, Candidate, Capacity, Reduction};
use pushmem_files::Document;
use pushmem_nest::{AffineIndex, ArrayOrigin, Node, Program, StatementOrigin, Witness, Word};
use pushmem_proof::prove_rewritten;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

fn program(text: &str) -> Program {
    Program::from_document(&Document::parse("program.yaml", text).unwrap()).unwrap().program
}

/// A product whose sums begin and end in nests of their own.
const PRODUCT: &str = "
name: product
inputs: {a: {type: i16, shape: [12, 16]}, b: {type: i16, shape: [8, 12]}, bias: {type: i16, shape: [8]}}
outputs: {output: {type: i16, shape: [8, 16]}}
buffers: {sums: {type: i16, shape: [8, 16]}}
nest:
  - for y in 0..16:
    - for x in 0..8:
      - sums[x, y] = bias[x]
  - for y in 0..16:
    - for x in 0..8 unroll 2:
      - for r in 0..12 unroll 3:
        - sums[x, y] += a[r, y] * b[x, r]
  - for y in 0..16:
    - for x in 0..8:
      - output[x, y] = max(sums[x, y], 0) + bias[x]
";

/// A convolution, all in loops around, with an image whose least index is not 0; the sums are the output.
const CONVOLUTION: &str = "
name: convolution
inputs: {image: {type: i16, shape: [4, 10, 18], min: [0, -1, -1]}, weights: {type: i16, shape: [4, 8, 3, 3]}}
outputs: {sums: {type: i16, shape: [8, 8, 16]}}
nest:
  - for y in 0..16:
    - for x in 0..8:
      - for k in 0..8:
        - sums[k, x, y] = 0
        - for ry in -1..2:
          - for rx in -1..2:
            - for c in 0..4:
              - sums[k, x, y] += image[c, x + rx, y + ry] * weights[c, k, rx + 1, ry + 1]
";

/// A maximum over windows that are apart, of sums that are used twice.
const POOLING: &str = "
name: pooling
inputs: {image: {type: u8, shape: [16, 32]}}
outputs: {first: {type: u8, shape: [8, 16]}, second: {type: u8, shape: [8, 16]}}
buffers: {largest: {type: u8, shape: [8, 16]}}
nest:
  - for y in 0..16:
    - for x in 0..8:
      - largest[x, y] = 0
  - for y in 0..16:
    - for ry in 0..2:
      - for x in 0..8:
        - for rx in 0..2:
          - largest[x, y] = max(largest[x, y], max(image[2*x + rx, 2*y + ry], image[2*x, 2*y]))
  - for y in 0..16:
    - for x in 0..8:
      - first[x, y] = largest[x, y] / 2
  - for y in 0..16:
    - for x in 0..8:
      - second[x, y] = largest[7 - x, y]
";

/// Sums of diagonals: blocks of them overlap.
const DIAGONALS: &str = "
name: diagonals
inputs: {image: {type: u16, shape: [16, 16]}}
outputs: {output: {type: u16, shape: [31]}}
buffers: {sums: {type: u16, shape: [31]}}
nest:
  - for d in 0..31:
    - sums[d] = 7
  - for y in 0..16:
    - for x in 0..16:
      - sums[x + y] += image[x, 15 - y]
  - for d in 0..31:
    - output[d] = sums[d]
";

/// Results that take the place of an operand: the nest that uses the sums stays where it is.
const IN_PLACE: &str = "
name: in_place
inputs: {a: {type: i16, shape: [8, 8]}, b: {type: i16, shape: [8, 8]}}
outputs: {output: {type: i16, shape: [8, 8]}}
buffers: {c: {type: i16, shape: [8, 8]}, sums: {type: i16, shape: [8, 8]}}
nest:
  - for y in 0..8:
    - for x in 0..8:
      - c[x, y] = b[x, y]
  - for y in 0..8:
    - for x in 0..8:
      - sums[x, y] = 0
  - for y in 0..8:
    - for x in 0..8:
      - for r in 0..8:
        - sums[x, y] += a[r, y] * c[x, r]
  - for y in 0..8:
    - for x in 0..8:
      - c[x, y] = sums[x, y]
  - for y in 0..8:
    - for x in 0..8:
      - output[x, y] = c[x, y]
";

/// Results of which the last one stays: their order matters. A variable has the name that a copy would have.
const LAST_ONE: &str = "
name: last_one
inputs: {i0: {type: i16, shape: [8, 8]}, b: {type: i16, shape: [8, 8]}}
outputs: {output: {type: i16, shape: [15]}}
buffers: {d: {type: i16, shape: [15]}, sums: {type: i16, shape: [8, 8]}}
nest:
  - for y in 0..8:
    - for x in 0..8:
      - sums[x, y] = 0
  - for y in 0..8:
    - for x in 0..8:
      - for r in 0..8:
        - sums[x, y] += i0[r, y] * b[x, r]
  - for y in 0..8:
    - for x in 0..8:
      - d[x + y] = sums[x, y]
  - for i in 0..15:
    - output[i] = d[i]
";

/// Random blockings.
const BLOCKINGS: usize = 500;

/// Faults that are put into blocked programs.
const FAULTS: usize = 3_000;

/// False witnesses of each of these.
const CLAIMS: usize = 4;

/// A product that is added three times, with an operand of which two sums have one element.
const REPEATED: &str = "
name: repeated
inputs: {a: {type: i16, shape: [6, 8]}, b: {type: i16, shape: [8, 6]}, c: {type: i16, shape: [4]}}
outputs: {output: {type: i16, shape: [8, 8]}}
buffers: {sums: {type: i16, shape: [8, 8]}}
nest:
  - for y in 0..8:
    - for x in 0..8:
      - sums[x, y] = 0
  - for k in 0..3:
    - for y in 0..8:
      - for x in 0..8 unroll 2:
        - for r in 0..6:
          - sums[x, y] += a[r, y] * b[x, r] + c[x/2]
  - for y in 0..8:
    - for x in 0..8:
      - output[x, y] = sums[x, y]
";

/// A window whose loops are digits of one index.
const WINDOW: &str = "
name: window
inputs: {a: {type: u16, shape: [16, 6]}}
outputs: {output: {type: u16, shape: [8, 6]}}
buffers: {sums: {type: u16, shape: [8, 6]}}
nest:
  - for y in 0..6:
    - for x in 0..8:
      - sums[x, y] = 3
  - for y in 0..6:
    - for x in 0..8 unroll 2:
      - for r in -1..1:
        - for s in 0..4 unroll 4:
          - sums[x, y] += a[x + 4*r + s + 4, y]
  - for y in 0..6:
    - for x in 0..8:
      - output[x, y] = sums[x, y]
";

const PROGRAMS: [&str; 8] = [PRODUCT, CONVOLUTION, POOLING, DIAGONALS, IN_PLACE, LAST_ONE, REPEATED, WINDOW];

/// A blocking of any blocks and orders.
fn blocking(reduction: &Reduction, random: &mut SmallRng) -> Blocking {
    let mut choose = |count: usize| random.random_range(0..count);
    let tiles = { reduction.loops() }
        .map(|level| {
            let steps = level.extent / level.unroll;
            let sizes = (1..=steps).filter(|tile| steps % tile == 0).map(|tile| tile * level.unroll).collect_vec();
            sizes[choose(sizes.len())]
        })
        .collect_vec();
    let mut shuffled = |mut places: Vec<usize>| {
        (1..places.len()).rev().for_each(|last| places.swap(last, choose(last + 1)));
        places
    };
    let cut = reduction.loops().enumerate().filter(|(place, level)| tiles[*place] < level.extent);
    let outer = shuffled(cut.map(|(place, _)| place).collect());
    let inner = shuffled((0..tiles.len()).collect());
    Blocking { tiles, outer, inner, is_wide: random.random() }
}

#[test]
fn any_blocking_computes_the_same() {
    let mut random = SmallRng::seed_from_u64(0);
    for text in PROGRAMS.iter().cycle().take(BLOCKINGS) {
        let program = program(text);
        let reduction = &Reduction::all(&program)[0];
        let (blocked, witness) = reduction.blocked(&blocking(reduction, &mut random)).unwrap().unwrap();
        let inputs = program.random_inputs(&mut random);
        assert_eq!(program.run(&inputs).unwrap(), blocked.run(&inputs).unwrap(), "{blocked}");
        prove_rewritten(&program, &blocked, &witness).unwrap_or_else(|error| panic!("{error} {blocked}"));
    }
}

/// The proof lets no fault pass that changes an output, whatever the witness says, and it does not refuse whatever is changed.
#[test]
fn faults_are_not_proven() {
    let mut random = SmallRng::seed_from_u64(1);
    let (mut refused, mut harmless, mut proven) = (0, 0, 0);
    for case in 0..FAULTS {
        let program = program(PROGRAMS[case % PROGRAMS.len()]);
        let reduction = &Reduction::all(&program)[0];
        let (blocked, witness) = reduction.blocked(&blocking(reduction, &mut random)).unwrap().unwrap();
        let Some(wrong) = with_fault(&blocked, &mut random) else { continue };
        // The witness of the statements that have other places now, and others, of which some may be wrong.
        let witness = Witness { statements: of_statements(&blocked, &witness, &wrong), ..witness };
        let mut others = with_exchanged_variables(&witness);
        others.extend((0..CLAIMS).map(|_| with_false_claim(&witness, &mut random)));
        let inputs = program.random_inputs(&mut random);
        let is_right = wrong.run(&inputs).is_ok_and(|outputs| outputs == program.run(&inputs).unwrap());
        let mut witnesses = std::iter::once(&witness).chain(&others);
        match (witnesses.any(|witness| prove_rewritten(&program, &wrong, witness).is_ok()), is_right) {
            (true, true) => proven += 1,
            (true, false) => panic!("proven, but wrong: {wrong}"),
            (false, true) => harmless += 1,
            (false, false) => refused += 1,
        }
    }
    assert!(refused > FAULTS / 20 && proven > harmless, "{refused} refused, {harmless} without need, {proven} proven");
}

/// A program of which a witness says something else is refused, unless what it says is true as well.
#[test]
fn false_claims_are_not_proven() {
    let mut random = SmallRng::seed_from_u64(2);
    let mut refused = 0;
    for case in 0..FAULTS {
        let program = program(PROGRAMS[case % PROGRAMS.len()]);
        let reduction = &Reduction::all(&program)[0];
        let (blocked, witness) = reduction.blocked(&blocking(reduction, &mut random)).unwrap().unwrap();
        let claim = with_false_claim(&witness, &mut random);
        refused += usize::from(prove_rewritten(&program, &blocked, &claim).is_err());
    }
    assert!(refused > FAULTS * 4 / 5, "{refused} refused");
}

/// The origins of the statements of a program that has those of another one in other places.
fn of_statements(blocked: &Program, witness: &Witness, wrong: &Program) -> Vec<Option<StatementOrigin>> {
    let before = blocked.operations();
    let mut rest = witness.statements.iter().enumerate().collect_vec();
    let origin = |(_, operation): (Vec<_>, &pushmem_nest::Operation)| {
        let is_same = |(place, _): &(usize, _)| {
            let own = before[*place].1;
            own.expression.difference(&operation.expression).is_none()
                && own.accesses().map(|access| access.array).eq(operation.accesses().map(|access| access.array))
        };
        let place = rest.iter().position(is_same).unwrap_or(0);
        rest.remove(place).1.clone()
    };
    wrong.operations().into_iter().map(origin).collect()
}

/// Witnesses in which a statement has two variables of the program exchanged.
fn with_exchanged_variables(witness: &Witness) -> Vec<Witness> {
    let depth = |origin: &Option<StatementOrigin>| origin.as_ref().map_or(0, |origin| origin.variables.len());
    let exchanged = |(number, pair): (usize, Vec<usize>)| {
        let mut other = witness.clone();
        other.statements[number].as_mut().expect("it has variables").variables.swap(pair[0], pair[1]);
        other
    };
    let statements = witness.statements.iter().enumerate();
    let pairs =
        statements.flat_map(|(number, origin)| (0..depth(origin)).combinations(2).map(move |pair| (number, pair)));
    pairs.map(exchanged).collect()
}

/// A witness in which a statement, a variable, an array or an element is another one.
fn with_false_claim(witness: &Witness, random: &mut SmallRng) -> Witness {
    let mut wrong = witness.clone();
    let Witness { statements, arrays, .. } = &mut wrong;
    let (own, array) = (random.random_range(0..statements.len()), random.random_range(0..arrays.len()));
    let other = random.random_range(0..statements.len());
    let change = |of: &mut AffineIndex, random: &mut SmallRng| match of.terms.last_mut() {
        Some((variable, _)) if random.random() => *variable += 1,
        Some((_, step)) if random.random() => *step += 1,
        _ => of.constant += 1,
    };
    let ArrayOrigin { array: held, depth, elements, outside, word } = &mut arrays[array];
    match (random.random_range(0..9), &mut statements[own]) {
        (0, _) => *held = (*held + 1) % 3,
        (1, _) => *depth += 1,
        (2, _) => *outside = Some(0),
        (3, _) => {
            let dimension = random.random_range(0..elements.len());
            change(&mut elements[dimension], random);
        }
        (4, Some(origin)) => {
            let place = random.random_range(0..origin.variables.len());
            change(&mut origin.variables[place], random);
        }
        (5, _) => statements.swap(own, other),
        (6, _) => *word = Some(Word::Low),
        (7, Some(origin)) => origin.word = Some(Word::High),
        (_, origin) => {
            *origin = origin.is_none().then(|| StatementOrigin::same(other, 0));
        }
    }
    wrong
}

/// Calls for each body of loops, from the outermost.
fn each_body(body: &mut Vec<Node>, visit: &mut dyn FnMut(&mut Vec<Node>)) {
    visit(body);
    for node in body {
        if let Node::Loop(level) = node {
            each_body(&mut level.body, visit);
        }
    }
}

/// Beyond a block there is no element, but in the array there is. Blocks of indices that depend on data are not covered.
#[test]
fn blocks_with_other_accesses_are_not_proven() {
    let whole = "
name: whole
inputs: {a: {type: u8, shape: [16]}, k: {type: u8, shape: [8, 2]}}
outputs: {output: {type: u8, shape: [8, 2]}}
nest:
  - for t in 0..2:
    - for x in 0..8:
      - output[x, t] = READ
";
    let in_blocks = "
name: whole
inputs: {a: {type: u8, shape: [16]}, k: {type: u8, shape: [8, 2]}}
outputs: {output: {type: u8, shape: [8, 2]}}
buffers: {block: {type: u8, shape: [8]}}
nest:
  - for t in 0..2:
    - for i in 0..8:
      - block[i] = a[i + 8*t]
    - for x in 0..8:
      - output[x, t] = READ
";
    let proven = |of_whole: &str, of_block: &str| {
        let [source, blocked] =
            [(whole, of_whole), (in_blocks, of_block)].map(|(text, read)| program(&text.replace("READ", read)));
        let [around, element] = [0, 1].map(AffineIndex::variable);
        let elements = vec![element.plus(&around, 8).unwrap()];
        let origin = ArrayOrigin::held(0, 1, elements);
        let witness = Witness::with_copies(&blocked, vec![origin]);
        prove_rewritten(&source, &blocked, &witness).map_err(|error| error.to_string())
    };
    assert_eq!(proven("a[x + 8*t]", "block[x]"), Ok(()));
    assert_eq!(proven("a[x/2 + 8*t]", "block[x/2]"), Ok(()));
    assert_eq!(proven("a[x + 8*t]", "block[7 - x]"), Err("output: it computes another value".to_owned()));
    let not_covered = "block: an access of it may be outside, or depends on data";
    for (of_whole, of_block) in [
        ("outside(a[x + 8*t - 1], 0)", "outside(block[x - 1], 0)"),
        ("a[clamp(k[x, t], 8, 15)]", "block[clamp(k[x, t], 0, 7)]"),
    ] {
        assert_eq!(proven(of_whole, of_block), Err(not_covered.to_owned()), "{of_block}");
    }
}

/// The text of a program in which a loop or a statement has moved out of the loop around it, before or after that.
fn moved_out(text: &str, random: &mut SmallRng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let end = |lines: &[String], first: usize| {
        let inside = lines[first + 1..].iter().take_while(|line| depth(line) > depth(&lines[first]));
        first + 1 + inside.count()
    };
    let nest = lines.iter().position(|line| line == "nest:").expect("a program has a nest") + 1;
    let first = random.random_range(nest..lines.len());
    let around = (nest..first).rev().find(|line| depth(&lines[*line]) < depth(&lines[first]));
    let Some(around) = around else { return text.to_owned() };
    let (inner_end, outer_end) = (end(&lines, first), end(&lines, around));
    let moved = lines.drain(first..inner_end).map(|line| line[2..].to_owned()).collect_vec();
    let place = if random.random() { around } else { outer_end - moved.len() };
    lines.splice(place..place, moved);
    lines.join("\n")
}

/// A program with a random change: nodes or loops in another order, a statement outside of its loop, an access of another element, fewer
/// iterations. Nothing if that is no program, or the same.
fn with_fault(program: &Program, random: &mut SmallRng) -> Option<Program> {
    let mut wrong = program.clone();
    let mut bodies = 0;
    each_body(&mut wrong.nest, &mut |_| bodies += 1);
    let (chosen, kind) = (random.random_range(0..bodies), random.random_range(0..5));
    let mut number = 0;
    each_body(&mut wrong.nest, &mut |body| {
        number += 1;
        if number - 1 != chosen {
            return;
        }
        let place = random.random_range(0..body.len());
        match (kind, &mut body[place]) {
            (0, _) if place > 0 => body.swap(place - 1, place),
            (2, Node::Loop(level)) => match &mut level.body[..] {
                [Node::Loop(inner)] => {
                    std::mem::swap(&mut level.extent, &mut inner.extent);
                    std::mem::swap(&mut level.min, &mut inner.min);
                }
                _ => level.extent -= 1,
            },
            (3, Node::Loop(level)) if level.extent % 2 == 0 && level.unroll == 1 => level.extent /= 2,
            (_, Node::Operation(operation)) => {
                let target = [&mut operation.target].into_iter();
                let mut accesses = operation.loads.iter_mut().map(|load| &mut load.access).chain(target).collect_vec();
                let access = random.random_range(0..accesses.len());
                let indices = &mut accesses[access].indices;
                let dimension = random.random_range(0..indices.len());
                match random.random() {
                    true => indices[dimension].affine.constant += if random.random() { 1 } else { -1 },
                    false => indices.swap(0, dimension),
                }
            }
            _ => {}
        }
    });
    let text = if kind == 1 { moved_out(&program.to_string(), random) } else { wrong.to_string() };
    let document = Document::parse("wrong.yaml", text).ok()?;
    let read = Program::from_document(&document).ok()?.program;
    (read.to_string() != program.to_string()).then_some(read)
}

#[test]
fn each_program_has_its_reduction() {
    let names = PROGRAMS.map(|text| Reduction::all(&program(text)).iter().map(|each| each.name().to_owned()).join(" "));
    assert_eq!(names, ["sums_1", "sums_1", "largest_1", "sums_1", "sums_1", "sums_1", "sums_1", "sums_1"]);
}

/// Sums of bfloat16 are joined in the order of the program.
#[test]
fn sums_in_order_are_left_alone() {
    let text = PRODUCT.replace("i16", "bf16").replace("max(sums[x, y], 0)", "sums[x, y]").replace("= 0", "= 0.0");
    assert!(Reduction::all(&program(&text)).is_empty());
}

/// The sums of a product stay, and so does one operand, if blocks of the other are as small as they may be.
#[test]
fn the_estimate_counts_what_the_copies_move() {
    let program = program(PRODUCT);
    let product = &Reduction::all(&program)[0];
    let candidates = product.candidates(Capacity { tiles: 4, words: 64 }, usize::MAX);
    assert!(candidates.len() > 100, "{}", candidates.len());
    for Candidate { blocking, estimate } in candidates {
        let (blocked, _) = product.blocked(&blocking).unwrap().unwrap();
        let copies = blocked.operations().into_iter().filter(|(_, operation)| {
            let is_block = |array: usize| blocked.arrays[array].name.ends_with("_block");
            let load = operation.loads.first().map(|load| load.access.array);
            operation.reduction.is_none() && load.is_some_and(|load| is_block(load) != is_block(operation.target.array))
        });
        let words = |(loops, _): (Vec<&pushmem_nest::Loop>, _)| loops.iter().map(|level| level.extent).product::<i64>();
        assert_eq!(copies.map(words).sum::<i64>(), estimate.moved, "{blocked}");
    }
}
