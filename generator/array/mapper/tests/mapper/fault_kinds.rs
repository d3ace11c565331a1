//! Kinds of faults in the stages of a build, planted as a person edits them: none that changes a word that leaves is written.

pub mod edits;
mod kinds;

use std::collections::{BTreeMap, BTreeSet};

use pushmem_bitstream::{Bitstream, Configuration, decode};
use pushmem_compiler::Compiled;
use pushmem_files::{Diagnostic, Document};
use pushmem_mapper::{ArrayTarget, Edited, Mapped, execute};
use pushmem_nest::Program;
use pushmem_testing::Part;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_yaml::Value;

use crate::common::{array, built};
use crate::fault_kinds::edits::{add, below};
use crate::fault_kinds::kinds::{Plant, Stage, kinds};

/// Weights that wait for a window, a delay of a line in a memory, edges, a table, comparisons and their bits.
const FEATURES: &str = "
name: features
inputs: {input: {type: i16, shape: [32, 8]}, weights: {type: i16, shape: [2]}}
outputs: {output: {type: i16, shape: [32, 8]}}
buffers:
  loaded: {type: i16, shape: [32, 8]}
  kept: {type: i16, shape: [2]}
  blurred: {type: i16, shape: [32, 8]}
tables: {curve: {type: i16, values: [9, 3, 4, 7, 1, 12, 30, 2, 5, 6, 8, 11, 14, 13, 21, 19]}}
nest:
  - for i in 0..2 unroll 2:
    - kept[i] = weights[i]
  - for y in 0..8:
    - for x in 0..32:
      - loaded[x, y] = input[x, y]
  - for y in 0..8:
    - for x in 0..32:
      - blurred[x, y] = kept[0] * loaded[mirror(x-1, 0, 31), y] + kept[1] * loaded[x, mirror(y-1, 0, 7)] - loaded[x, y] / 4
  - for y in 0..8:
    - for x in 0..32:
      - output[x, y] = sel(blurred[x, y] > 300 && blurred[x, y] <= 20000, curve[min(max(loaded[x, y], 0), 15)], blurred[x, y] + 7)
";

/// A sum in a memory, whose loop takes cycles for its routes.
const SUM: &str = "
name: sum
inputs: {input: {type: u16, shape: [10, 5]}}
outputs: {output: {type: u16, shape: [8, 3]}}
buffers: {sums: {type: u16, shape: [8, 3]}}
nest:
  - for y in 0..3:
    - for x in 0..8:
      - sums[x, y] = 0
  - for k in 0..3:
    - for y in 0..3:
      - for x in 0..8:
        - sums[x, y] += input[x+k, y+k] * 3
  - for y in 0..3:
    - for x in 0..8:
      - output[x, y] = sums[x, y]
";

/// How often each kind is tried in each program.
const TRIES: usize = 3;

/// How many places are drawn for a fault: where some are drawn, it changes nothing.
const DRAWS: usize = 20;

pub type Random = ChaCha8Rng;

/// A build without faults, and its stages as text.
struct Right {
    program: Program,
    target: ArrayTarget,
    compiled: Compiled,
    mapped: Mapped,
    netlist: String,
    placement: String,
    routing: String,
    configuration: String,
}

fn document(text: &str) -> Result<Document, Diagnostic> {
    Document::parse("edited.yaml", text)
}

/// The text with a fault; nothing if the fault changes nothing.
fn planted(text: &str, plant: &Plant, random: &mut Random) -> Option<String> {
    let mut value: Value = serde_yaml::from_str(text).unwrap();
    let before = value.clone();
    plant(&mut value, random)?;
    (value != before).then(|| serde_yaml::to_string(&value).unwrap())
}

impl Right {
    fn of(text: &str) -> Self {
        let target = ArrayTarget::new(array("amber"));
        let program = Program::from_document(&document(text).unwrap()).unwrap().program;
        let (compiled, mapped) = built(&program, &target, &Edited::default()).unwrap();
        let (spec, netlist, implementation) = (&target.spec, &mapped.lowered.netlist, &mapped.implementation);
        Right {
            netlist: netlist.to_yaml(spec),
            placement: implementation.placement.to_yaml(netlist, spec),
            routing: implementation.routing.to_yaml(netlist, spec, &target.graph),
            configuration: mapped.configuration.to_yaml(spec, &target.graph),
            program,
            compiled,
            mapped,
            target,
        }
    }

    /// The build with a fault of a kind; nothing where the program has no place for one. Faults that a reader refuses are an error.
    fn with(&self, stage: &Stage, random: &mut Random) -> Option<Result<(Compiled, Mapped), Diagnostic>> {
        let ArrayTarget { spec, graph, .. } = &self.target;
        let read = |text: &str| document(text).map(Some);
        let edited = match stage {
            Stage::Netlist(plant) => {
                let text = planted(&self.netlist, plant, random)?;
                read(&text).map(|netlist| Edited { netlist, ..Edited::default() })
            }
            Stage::Placement(plant) => {
                let text = planted(&self.placement, plant, random)?;
                let routing = read(&self.routing).unwrap();
                read(&text).map(|placement| Edited { placement, routing, ..Edited::default() })
            }
            Stage::Site(plant) => {
                let text = planted(&self.placement, plant, random)?;
                let configuration = Some(self.mapped.configuration.clone());
                read(&text).map(|placement| Edited { placement, configuration, ..Edited::default() })
            }
            Stage::Routing(plant) => {
                let text = planted(&self.routing, plant, random)?;
                let placement = read(&self.placement).unwrap();
                read(&text).map(|routing| Edited { placement, routing, ..Edited::default() })
            }
            Stage::Configuration(plant) => {
                let text = planted(&self.configuration, plant, random)?;
                self.configured(self.read(&text))
            }
            Stage::Bitstream(plant) => {
                let mut writes = self.mapped.bitstream.writes.clone();
                plant(&mut writes, random)?;
                if writes == self.mapped.bitstream.writes {
                    return None;
                }
                let found = decode(&Bitstream { writes }, spec, graph);
                self.configured(found.map_err(|error| Diagnostic::new(error.message)))
            }
        };
        Some(edited.and_then(|edited| built(&self.program, &self.target, &edited)))
    }

    fn read(&self, configuration: &str) -> Result<Configuration, Diagnostic> {
        Configuration::from_document(&document(configuration)?, &self.target.spec, &self.target.graph)
    }

    /// The message that refuses a configuration.
    fn refusal(&self, configuration: &Value) -> String {
        let edited = self.configured(self.read(&serde_yaml::to_string(configuration).unwrap())).unwrap();
        built(&self.program, &self.target, &edited).map(|_| ()).unwrap_err().to_string()
    }

    fn configured(&self, found: Result<Configuration, Diagnostic>) -> Result<Edited, Diagnostic> {
        let placement = Some(document(&self.placement).unwrap());
        found.map(|configuration| Edited { placement, configuration: Some(configuration), ..Edited::default() })
    }
}

/// Kinds that change a word that leaves, at the least: a schedule that goes on for a cycle longer mostly does not.
const LEAST_REFUSED: usize = 150;

/// Plants faults of each kind in each program: each that changes a word that leaves is refused before anything is written. A kind is
/// tried until a fault of it is refused, or always so often.
fn check(always: bool) {
    let part = Part::chosen();
    let kinds: Vec<(u64, (String, Stage))> = part.of((0..).zip(kinds())).collect();
    let mut planted: BTreeMap<&str, usize> = kinds.iter().map(|(_, (name, _))| (name.as_str(), 0)).collect();
    assert_eq!(planted.len(), kinds.len(), "each name is that of one kind");
    let mut refused: BTreeSet<&str> = BTreeSet::new();
    for text in [FEATURES, SUM] {
        let right = Right::of(text);
        let images = right.program.random_inputs(&mut Random::seed_from_u64(11));
        let expected = right.compiled.source.run(&images).unwrap();
        for (seed, (name, stage)) in &kinds {
            // The draws of a kind are the same in any part.
            let random = &mut Random::seed_from_u64(*seed);
            for _ in 0..TRIES {
                let Some(verdict) = (0..DRAWS).find_map(|_| right.with(stage, random)) else { continue };
                *planted.get_mut(name.as_str()).unwrap() += 1;
                let Ok((compiled, mapped)) = verdict else {
                    refused.insert(name);
                    if always {
                        continue;
                    }
                    break;
                };
                let run = execute(&mapped, &mapped.configuration, &compiled, &right.target, &images);
                let run = run.unwrap_or_else(|error| panic!("{name}: not refused, and does not run: {error:?}"));
                assert!(run.outputs == expected, "{name}: not refused, and changes {}", right.program.name);
            }
        }
    }
    let missed: Vec<_> = planted.iter().filter(|(_, count)| **count == 0).map(|(name, _)| name).collect();
    assert!(missed.is_empty(), "no program has a place for {missed:?}");
    let harmless: Vec<_> = planted.keys().filter(|name| !refused.contains(*name)).collect();
    let is_enough = !part.is_all() || refused.len() >= LEAST_REFUSED;
    assert!(is_enough, "{} of {} kinds refused, not {harmless:?}", refused.len(), planted.len());
}

#[test]
fn faults_of_all_kinds_are_refused() {
    check(false);
}

#[test]
#[ignore = "takes minutes"]
fn several_faults_of_all_kinds_are_refused() {
    check(true);
}

/// Found by the kind `bitstream: a tile in the next column`: a weight that comes some cycles before the operand that holds it takes
/// a word. Between its beats, a stream has no word.
#[test]
fn a_word_that_waits_on_a_stream_is_refused() {
    let right = Right::of(FEATURES);
    let mut value: Value = serde_yaml::from_str(&right.configuration).unwrap();
    let mut weights: Vec<&mut Value> = below(&mut value, "stream_in")
        .into_iter()
        .filter(|beats| beats["extent"].as_sequence().unwrap().is_empty())
        .collect();
    assert_eq!(weights.len(), 2);
    let start = weights[1].get_mut("cycle").unwrap().get_mut("start").unwrap();
    add(start, -1).unwrap();
    let message = right.refusal(&value);
    assert!(message.contains("is not computed from the elements"), "{message}");
}

/// Found by the kind `configuration: a word of a table`: random indices find few of the entries of a table. Every entry is compared.
#[test]
fn a_wrong_word_of_a_table_is_refused() {
    let right = Right::of(FEATURES);
    let mut wrong: Value = serde_yaml::from_str(&right.configuration).unwrap();
    for entry in 0..16 {
        let word = below(&mut wrong, "contents").remove(0).get_mut(entry).unwrap();
        add(word, 1).unwrap();
        let message = right.refusal(&wrong);
        assert!(message.contains("is not computed from the elements"), "{entry}: {message}");
        add(below(&mut wrong, "contents").remove(0).get_mut(entry).unwrap(), -1).unwrap();
    }
}
