//! Networks: programs whose reductions are loops, of the project and random ones. What the compiled accelerator computes
//! is what the interpreter computes.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use pushmem_files::Document;
use pushmem_nest::Program;
use pushmem_programs::random_network;

use crate::common::{difference, try_compile};

/// Tiles that random networks are built for in turn.
const TILES: [&str; 5] = ["amber", "dual_port", "quad_port", "fetch2", "fetch8"];

/// Random networks of a normal run, and of a long one.
const NETWORKS: u64 = 300;
const MANY_NETWORKS: u64 = 10_000;

/// What became of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Right,
    /// Refused with this message.
    Refused(String),
    Wrong(String),
}

/// Compiles a random network for one of the tiles and runs it.
fn outcome(seed: u64, tile: &str) -> Outcome {
    let text = random_network(seed);
    let document = Document::parse("random.yaml", &text).expect("random networks are YAML");
    let program = match Program::from_document(&document) {
        Ok(checked) => checked.program,
        Err(error) => return Outcome::Wrong(format!("the program is not accepted: {error}")),
    };
    let run = || match try_compile(program, tile) {
        Ok(compiled) => match difference(&compiled, seed) {
            Some(difference) => Outcome::Wrong(difference),
            None => Outcome::Right,
        },
        Err(error) if error.to_string().contains("is wrong") => Outcome::Wrong(error.to_string()),
        Err(error) => Outcome::Refused(error.to_string()),
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Outcome::Wrong("it panics".to_owned()))
}

/// A message without the names and numbers in it: the kind of refusal.
fn kind(message: &str) -> String {
    message.to_owned()
}

fn check(seeds: std::ops::Range<u64>) {
    let count = seeds.end - seeds.start;
    let (mut wrong, mut refused) = (Vec::new(), BTreeMap::<(String, &str), Vec<u64>>::new());
    for seed in seeds {
        let tile = TILES[(seed % TILES.len() as u64) as usize];
        let begin = Instant::now();
        match outcome(seed, tile) {
            Outcome::Right => {}
            Outcome::Wrong(how) => wrong.push(format!("{seed} on {tile}: {how}")),
            Outcome::Refused(why) => refused.entry((kind(&why), tile)).or_default().push(seed),
        }
        if begin.elapsed().as_millis() > 1000 {
            eprintln!("{seed} on {tile}: {:?}", begin.elapsed());
        }
    }
    for ((kind, tile), seeds) in &refused {
        println!("{:>4} {tile}: {kind} {seeds:?}", seeds.len());
    }
    let sum: usize = refused.values().map(Vec::len).sum();
    println!("{sum} of {count} are refused");
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn random_networks_compute_what_they_say() {
    check(0..NETWORKS);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_networks_compute_what_they_say() {
    check(NETWORKS..NETWORKS + MANY_NETWORKS);
}
