//! Random programs: what the compiled accelerator computes is what the interpreter computes.

use pushmem_files::Document;
use pushmem_nest::Program;
use pushmem_programs::random_program;

use crate::common::{difference, try_compile};

/// Tiles that programs are built for in turn.
const TILES: [&str; 8] = ["amber", "dual_port", "fetch2", "fetch8", "onyx", "quad_port", "small", "one_in_three_out"];

/// Programs of a normal run, and of a long one.
const PROGRAMS: u64 = 300;
const MANY_PROGRAMS: u64 = 10_000;

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Right,
    /// Refused with this message.
    Refused(String),
    Wrong(String),
}

/// Compiles a random program for one of the tiles and runs it.
fn outcome(seed: u64) -> Outcome {
    let text = random_program(seed);
    let document = Document::parse("random.yaml", &text).expect("random programs are YAML");
    let program = match Program::from_document(&document) {
        Ok(checked) => checked.program,
        Err(error) => return Outcome::Wrong(format!("the program is not accepted: {error}")),
    };
    let tile = TILES[(seed % TILES.len() as u64) as usize];
    let compiled = match try_compile(program, tile) {
        Ok(compiled) => compiled,
        Err(error) if error.to_string().contains("is wrong") => return Outcome::Wrong(format!("{tile}: {error}")),
        Err(error) => return Outcome::Refused(format!("{tile}: {error}")),
    };
    match difference(&compiled, seed) {
        Some(difference) => Outcome::Wrong(format!("{tile}: {difference}")),
        None => Outcome::Right,
    }
}

/// Runs programs; fails if one is wrong or too many are refused.
fn check(seeds: std::ops::Range<u64>) {
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    let count = seeds.end - seeds.start;
    for (seed, outcome) in seeds.map(|seed| (seed, outcome(seed))) {
        match outcome {
            Outcome::Right => {}
            Outcome::Wrong(how) => wrong.push(format!("{seed}: {how}")),
            Outcome::Refused(why) => refused.push(format!("{seed}: {why}")),
        }
    }
    if std::env::var_os("SHOW_REFUSED").is_some() {
        eprintln!("{} of {count} refused\n{}", refused.len(), refused.join("\n"));
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused.len() as u64 * 20 <= count, "{} of {count} are refused:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn random_programs_compute_what_they_say() {
    check(0..PROGRAMS);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_compute_what_they_say() {
    check(PROGRAMS..PROGRAMS + MANY_PROGRAMS);
}
