//! Unroll factors of programs.

use pushmem_files::Document;
use pushmem_nest::Program;
use pushmem_parallelization::{Awareness, Dataflow, Parallelization};

fn program(text: &str) -> Program {
    Program::from_document(&Document::parse("program.yaml", text).unwrap()).unwrap().program
}

/// HIDA, Listing 1, as a program: the loads of `a` and `b` come from outside.
const LISTING_1: &str = "
name: listing_1
schedule: dnn
inputs:
  from_a: {type: i16, shape: [16, 32]}
  from_b: {type: i16, shape: [16, 16]}
outputs:
  c: {type: i16, shape: [16, 16]}
buffers:
  a: {type: i16, shape: [16, 32]}
  b: {type: i16, shape: [16, 16]}
nest:
  - for i in 0..32:
    - for k in 0..16:
      - a[k, i] = from_a[k, i]
  - for k in 0..16:
    - for j in 0..16:
      - b[j, k] = from_b[j, k]
  - for i in 0..16:
    - for j in 0..16:
      - for k in 0..16:
        - c[j, i] = a[k, i*2] * b[j, k]
";

fn listing(most: u64, intensity: bool, connection: bool) -> (Dataflow, Parallelization) {
    let dataflow = Dataflow::of(&program(LISTING_1));
    let chosen = dataflow.parallelize(most, Awareness { intensity, connection });
    (dataflow, chosen)
}

fn shown(alignments: &[Option<pushmem_parallelization::Alignment>]) -> Vec<Option<(usize, String)>> {
    alignments.iter().map(|alignment| alignment.map(|alignment| (alignment.of, alignment.scale.to_string()))).collect()
}

/// HIDA, Table 4.
#[test]
fn listing_1_has_the_published_connections() {
    let (dataflow, _) = listing(32, true, true);
    let some = |of: usize, scale: &str| Some((of, scale.to_owned()));
    let [a, b] = &dataflow.connections[..] else { panic!("two connections") };
    assert_eq!((a.source, a.target, shown(&a.to_target)), (0, 2, vec![some(0, "1/2"), None, some(1, "1")]));
    assert_eq!(shown(&a.to_source), [some(0, "2"), some(2, "1")]);
    assert_eq!((b.source, b.target, shown(&b.to_target)), (1, 2, vec![None, some(1, "1"), some(0, "1")]));
    assert_eq!(shown(&b.to_source), [some(2, "1"), some(1, "1")]);
    assert_eq!(dataflow.order(), [2, 0, 1]);
}

/// HIDA, Table 5.
#[test]
fn listing_1_has_the_published_factors() {
    let (dataflow, _) = listing(32, true, true);
    assert_eq!(dataflow.nodes.iter().map(|node| node.intensity).collect::<Vec<_>>(), [512, 256, 4096]);
    for (intensity, connection, parallel, expected) in [
        (true, true, [4, 2, 32], [vec![4, 1], vec![1, 2], vec![4, 8, 1]]),
        (true, false, [4, 2, 32], [vec![2, 2], vec![1, 2], vec![4, 8, 1]]),
        (false, true, [32, 32, 32], [vec![8, 4], vec![4, 8], vec![4, 8, 1]]),
        (false, false, [32, 32, 32], [vec![4, 8], vec![4, 8], vec![4, 8, 1]]),
    ] {
        let (_, chosen) = listing(32, intensity, connection);
        assert_eq!(chosen.nodes.iter().map(|node| node.parallel_factor).collect::<Vec<_>>(), parallel);
        assert_eq!(
            chosen.nodes.iter().map(|node| node.factors()).collect::<Vec<_>>(),
            expected,
            "{intensity} {connection}"
        );
    }
}

/// HIDA, Table 6, dimensions innermost first. Its entries for `b` without connections do not follow from Table 5: [2, 8] and [8, 8] there, [1, 8]
/// and [4, 8] here.
#[test]
fn listing_1_has_the_published_banks() {
    for (intensity, connection, a, b, banks) in [
        (true, true, [1, 8], [8, 1], [8, 8, 32]),
        (true, false, [2, 8], [8, 1], [16, 8, 32]),
        (false, true, [4, 8], [8, 4], [32, 32, 32]),
        (false, false, [8, 8], [8, 4], [64, 32, 32]),
    ] {
        let (dataflow, chosen) = listing(32, intensity, connection);
        let unroll: Vec<Vec<i64>> = chosen.nodes.iter().map(|node| node.factors()).collect();
        let partitions = dataflow.partitions(&unroll);
        let of = |name: &str| partitions.iter().find(|partition| partition.array == name).unwrap();
        assert_eq!((&of("a").factors[..], &of("b").factors[..]), (&a[..], &b[..]));
        assert_eq!(["a", "b", "c"].map(|name| of(name).banks), banks);
        assert_eq!(of("c").factors, [8, 4]);
    }
}

/// Factors that the program has stay, and count for nothing.
#[test]
fn written_factors_stay() {
    let text = LISTING_1.replace("- for j in 0..16:\n      - for k", "- for j in 0..16 unroll 2:\n      - for k");
    let program = program(&text);
    let dataflow = Dataflow::of(&program);
    let chosen = dataflow.parallelize(8, Awareness::default());
    assert_eq!(chosen.nodes[2].factors(), [8, 2, 1]);
    assert!(chosen.applied(&program).to_string().contains("for j in 0..16 unroll 2"));
}

/// Nests in a loop over tiles are nodes of their own; sums may be unrolled, recurrences not; a raster scan has lanes along rows.
#[test]
fn loops_that_are_free() {
    let tiles = program(
        "
name: tiles
inputs: {input: {type: i16, shape: [8, 4]}}
outputs: {output: {type: i16, shape: [4]}}
buffers: {sums: {type: i16, shape: [1]}, copy: {type: i16, shape: [8]}, prefix: {type: i16, shape: [8]}}
nest:
  - for t in 0..4:
    - for x in 0..8:
      - copy[x] = input[x, t]
    - for x in 0..8:
      - prefix[x] = outside(prefix[x-1], 0) + copy[x]
    - for z in 0..1:
      - sums[0] = 0
      - for x in 0..8:
        - sums[0] += prefix[x]
    - for z in 0..1:
      - output[t] = sums[0]
",
    );
    let dataflow = Dataflow::of(&tiles);
    let free = |node: usize| dataflow.nodes[node].loops.iter().map(|level| level.is_free).collect::<Vec<_>>();
    assert_eq!((free(0), free(1), free(2)), (vec![true], vec![false], vec![false, true]));
    assert_eq!(dataflow.nodes[0].intensity, 32);
    let chosen = dataflow.parallelize(4, Awareness::default());
    let unrolled = chosen.applied(&tiles).to_string();
    assert_eq!(unrolled.matches("for x in 0..8 unroll 4").count(), 2, "{unrolled}");

    let raster = program(
        "
name: raster
inputs: {input: {type: i16, shape: [8, 8]}}
outputs: {output: {type: i16, shape: [8, 8]}}
nest:
  - for y in 0..8:
    - for x in 0..8:
      - output[x, y] = input[x, y] + 1
",
    );
    let dataflow = Dataflow::of(&raster);
    assert_eq!(dataflow.nodes[0].loops.iter().map(|level| level.is_free).collect::<Vec<_>>(), [false, true]);
}
