//! Outcomes of random programs.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use itertools::Itertools;
use pushmem_compiler::CompileError;
use pushmem_files::Document;
use pushmem_nest::Program;
use pushmem_testing::Part;

use crate::common::{difference, try_compile};

/// Outcome of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Right,
    /// Refused with this message.
    Refused(String),
    Wrong(String),
}

/// Compiles the program of a text for a tile and runs it on random images.
pub fn outcome(text: &str, tile: &str, seed: u64) -> Outcome {
    let document = Document::parse("random.yaml", text).expect("random programs are YAML");
    let program = match Program::from_document(&document) {
        Ok(checked) => checked.program,
        Err(error) => return Outcome::Wrong(format!("the program is not accepted: {error}")),
    };
    let run = || match try_compile(program, tile) {
        Ok(compiled) => match difference(&compiled, seed) {
            Some(difference) => Outcome::Wrong(difference),
            None => Outcome::Right,
        },
        Err(CompileError::Fault(error)) => Outcome::Wrong(error.to_string()),
        Err(error) => Outcome::Refused(error.to_string()),
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Outcome::Wrong("it panics".to_owned()))
}

/// The kind of refusal: the message, or for an array that cannot be kept the last reason, without names and numbers.
fn kind(message: &str) -> String {
    let reason = message.lines().last().unwrap_or_default();
    let words = reason.split_whitespace().map(|word| {
        let is_name = word.contains('_') || word.chars().any(|letter| letter.is_ascii_digit());
        if is_name { "…" } else { word }
    });
    let mut words: Vec<&str> = words.collect();
    words.dedup();
    words.join(" ")
}

/// Of a hundred programs of a part, so many more may be refused than of all.
const MORE_IN_A_PART: usize = 5;

/// Runs the random programs of the chosen part of these seeds, on the tiles in rotation. Fails if one is wrong, or more than so many in a
/// hundred are refused.
pub fn check(seeds: impl Iterator<Item = u64>, tiles: &[&str], random: impl Fn(u64) -> String, most_refused: usize) {
    check_part(Part::chosen(), seeds, tiles, random, most_refused);
}

fn check_part(
    part: Part,
    seeds: impl Iterator<Item = u64>,
    tiles: &[&str],
    random: impl Fn(u64) -> String,
    most_refused: usize,
) {
    let mut count = 0;
    let mut wrong = Vec::new();
    let mut refused = BTreeMap::<(String, &str), Vec<u64>>::new();
    // A part has as many programs for one tile as for another.
    for seed in part.of(&seeds.chunks(tiles.len())).flatten() {
        count += 1;
        let tile = tiles[(seed % tiles.len() as u64) as usize];
        let begin = Instant::now();
        match outcome(&random(seed), tile, seed) {
            Outcome::Right => {}
            Outcome::Wrong(how) => wrong.push(format!("{seed} on {tile}: {how}")),
            Outcome::Refused(why) => refused.entry((kind(&why), tile)).or_default().push(seed),
        }
        if begin.elapsed().as_millis() > 1000 {
            eprintln!("{seed} on {tile}: {:?}", begin.elapsed());
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    let kinds = refused.iter().map(|((kind, tile), seeds)| format!("{:>4} {tile}: {kind} {seeds:?}\n", seeds.len()));
    let sum: usize = refused.values().map(Vec::len).sum();
    let summary = format!("{sum} of {count} are refused\n{}", kinds.collect::<String>());
    println!("{summary}");
    let chance = if part.is_all() { 0 } else { MORE_IN_A_PART };
    assert!(sum * 100 <= count * (most_refused + chance), "{summary}");
}

/// A program in order, except that no tile has room for its arrays.
const TOO_LARGE: &str = "
name: large
schedule: dnn
inputs: {input: {type: i16, shape: [4000, 4000]}}
outputs: {output: {type: i16, shape: [4000, 4000]}}
buffers: {kept: {type: i16, shape: [4000, 4000], level: register_file}}
nest:
  - for y in 0..4000:
    - for x in 0..4000:
      - kept[x, y] = input[x, y]
  - for y in 0..4000:
    - for x in 0..4000:
      - output[x, y] = kept[x, 3999 - y]
";

#[test]
#[should_panic(expected = "1 of 19 are refused")]
fn too_many_refusals_fail() {
    let one_is_large = |seed| if seed == 7 { TOO_LARGE.to_owned() } else { pushmem_programs::random_program(0) };
    check_part(Part::ALL, 0..19, &["amber"], one_is_large, 5);
}
