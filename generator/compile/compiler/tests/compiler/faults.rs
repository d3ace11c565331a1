//! Faults in compiled accelerators: the proof at the end of every compile catches each, or it changes nothing.

mod inject;
mod inject_memory;
mod networks;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::thread;

use pushmem_compiler::CompileError;
use pushmem_graph::Accelerator;
use pushmem_images::Image;
use pushmem_model::ViolationKind;
use pushmem_nest::Program;
use pushmem_programs::{random_program, random_program_of_random_accesses, random_program_with_parameters};
use pushmem_realization::Dedicated;
use pushmem_testing::Part;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{FIXED, app, program, try_compile};

/// Programs that together have all kinds of parts.
const APPLICATIONS: [&str; 13] = [
    "gaussian",
    "harris",
    "up_sample",
    "bc_mirror",
    "bc_const",
    "unsharp_new",
    "gpyr",
    "gpyr_shared",
    "conv_3_3_wide",
    "laplacian_pyramid",
    "gaussian_unroll2",
    "camera_pipeline",
    "rom",
];

/// Tiles that random programs are built for, in rotation.
const TILES: [&str; 6] = ["amber", "dual_port", "fetch8", "quad_port", "small", FIXED];

const RANDOM_PROGRAMS: u64 = 20;

const PARAMETRIC_PROGRAMS: usize = 16;

/// Faults of one kind in a program of a normal run, evenly spread over all of them.
const FAULTS: usize = 6;

/// One in so many faults that are caught is run on the model, to see whether it was harmless.
const HARMLESS_SAMPLE: usize = 50;

/// A single fault.
pub struct Fault {
    /// Kind of the fault.
    pub kind: &'static str,
    /// Where it is.
    pub place: String,
    /// Plants it.
    pub plant: Box<dyn Fn(&mut Accelerator)>,
}

/// Counts of the faults of one kind, by outcome.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    caught: usize,
    /// Caught, run on the model, and found to change nothing.
    strict: usize,
    sampled: usize,
    /// Not caught, but nothing differs.
    harmless: usize,
}

/// A compiled program, with inputs and the expected outputs.
struct Subject {
    name: String,
    compiled: Dedicated,
    runs: Vec<(BTreeMap<String, Image>, BTreeMap<String, Image>)>,
}

impl Subject {
    /// Nothing if the program is refused.
    fn new(name: String, program: Program, tile: &str) -> Option<Subject> {
        let compiled = match try_compile(program, tile) {
            Ok(compiled) => compiled,
            Err(CompileError::Fault(error)) => panic!("{name}: {error:?}"),
            Err(_) => return None,
        };
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let run = |_| {
            let inputs = compiled.program.random_inputs(&mut random);
            let expected = compiled.program.run(&inputs).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            (inputs, expected)
        };
        let runs = (0..2).map(run).collect();
        Some(Subject { name, compiled, runs })
    }

    fn application(name: &str) -> Subject {
        Subject::new(name.to_owned(), app(name), "amber").unwrap_or_else(|| panic!("{name} is refused"))
    }

    fn network((name, tile, text): (&str, &str, &str)) -> Subject {
        Subject::new(format!("{name} on {tile}"), program(text), tile).unwrap_or_else(|| panic!("{name} is refused"))
    }

    fn with_parameters(seed: u64) -> Option<Subject> {
        let tile = TILES[(seed % TILES.len() as u64) as usize];
        let text = random_program_with_parameters(seed);
        Subject::new(format!("random program {seed} with parameters on {tile}"), program(&text), tile)
    }

    fn of_random_accesses(seed: u64) -> Option<Subject> {
        let tile = TILES[(seed % TILES.len() as u64) as usize];
        let text = random_program_of_random_accesses(seed);
        Subject::new(format!("random program {seed} of random accesses on {tile}"), program(&text), tile)
    }

    fn random(seed: u64) -> Option<Subject> {
        let tile = TILES[(seed % TILES.len() as u64) as usize];
        Subject::new(format!("random program {seed} on {tile}"), program(&random_program(seed)), tile)
    }

    /// Whether the model of an accelerator differs from the program, breaks a promise, or cannot run.
    fn differs(&self, accelerator: &Accelerator) -> bool {
        let one = |(inputs, expected): &(BTreeMap<String, Image>, BTreeMap<String, Image>)| {
            // Loose ends stop the model.
            let run = quietly(|| accelerator.run(&self.compiled.program, inputs));
            let Ok(Ok(run)) = run else { return true };
            // A stale read that shows the right words, as where a row is fetched that no port reads, changes nothing.
            run.violations.iter().any(|(_, violation)| violation.kind != ViolationKind::StaleRead)
                || expected
                    .iter()
                    .any(|(name, image)| run.outputs.get(name).is_none_or(|found| found.values() != image.values()))
        };
        self.runs.iter().any(one)
    }

    /// Plants faults one at a time, `most` of each kind. Returns the holes: faults that are not caught, but change
    /// something.
    fn check(&self, most: usize, counts: &mut BTreeMap<&'static str, Counts>) -> Vec<String> {
        let faults = inject::faults(&self.compiled.accelerator);
        let mut by_kind: BTreeMap<&'static str, Vec<Fault>> = BTreeMap::new();
        for fault in faults {
            by_kind.entry(fault.kind).or_default().push(fault);
        }
        let mut holes = Vec::new();
        let mut faulty = self.compiled.clone();
        for (kind, faults) in by_kind {
            let counts = counts.entry(kind).or_default();
            let chosen = (0..faults.len().min(most)).map(|number| number * faults.len() / faults.len().min(most));
            for fault in chosen.map(|number| &faults[number]) {
                faulty.accelerator = self.compiled.accelerator.clone();
                (fault.plant)(&mut faulty.accelerator);
                let describe = |what: &str| format!("{}: {kind}, {}: {what}", self.name, fault.place);
                match quietly(|| matches!(faulty.prove(), Err(CompileError::Fault(_)))) {
                    Ok(true) => {
                        if counts.caught % HARMLESS_SAMPLE == HARMLESS_SAMPLE / 2 {
                            counts.sampled += 1;
                            counts.strict += usize::from(!self.differs(&faulty.accelerator));
                        }
                        counts.caught += 1;
                    }
                    Ok(false) if self.differs(&faulty.accelerator) => holes.push(describe("is not caught")),
                    Ok(false) => {
                        if std::env::var_os("SHOW_HARMLESS").is_some() {
                            eprintln!("{}", describe("is harmless"));
                        }
                        counts.harmless += 1;
                    }
                    Err(_) => holes.push(describe("stops the proof")),
                }
            }
        }
        holes
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs what may panic, as models of accelerators with loose ends do, without the message. Those of other tests are shown.
fn quietly<Result>(run: impl FnOnce() -> Result) -> thread::Result<Result> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                usual(panic);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(false);
    result
}

fn check(subjects: impl Iterator<Item = Subject>, most: usize) {
    let (mut counts, part) = (BTreeMap::new(), Part::chosen());
    let holes: Vec<String> = part.of(subjects).flat_map(|subject| subject.check(most, &mut counts)).collect();
    let total = |of: fn(&Counts) -> usize| counts.values().map(of).sum::<usize>();
    for (kind, Counts { caught, strict, sampled, harmless }) in &counts {
        println!("{kind:<40} {caught:>6} caught, {strict} of {sampled} needlessly, {harmless:>4} harmless");
    }
    println!("{} caught, {} harmless", total(|counts| counts.caught), total(|counts| counts.harmless));
    assert!(holes.is_empty(), "{} holes:\n{}", holes.len(), holes.join("\n"));
    for (kind, Counts { caught, .. }) in counts.into_iter().filter(|_| part.is_all()) {
        assert!(caught > 0, "no fault is caught: {kind}");
    }
}

#[test]
fn faults_are_caught() {
    let random = (0..).filter_map(Subject::random).take(RANDOM_PROGRAMS as usize);
    check(APPLICATIONS.into_iter().map(Subject::application).chain(random), FAULTS);
}

#[test]
#[ignore = "takes minutes"]
fn all_faults_are_caught() {
    let random = (0..).filter_map(Subject::random).take(10 * RANDOM_PROGRAMS as usize);
    check(APPLICATIONS.into_iter().map(Subject::application).chain(random), usize::MAX);
}

#[test]
fn faults_of_parameters_are_caught() {
    check((0..).filter_map(Subject::with_parameters).take(PARAMETRIC_PROGRAMS), FAULTS);
}

#[test]
#[ignore = "takes minutes"]
fn all_faults_of_parameters_are_caught() {
    check((0..).filter_map(Subject::with_parameters).take(10 * PARAMETRIC_PROGRAMS), usize::MAX);
}

#[test]
fn faults_of_random_accesses_are_caught() {
    check((0..).filter_map(Subject::of_random_accesses).take(PARAMETRIC_PROGRAMS), FAULTS);
}

#[test]
#[ignore = "takes minutes"]
fn all_faults_of_random_accesses_are_caught() {
    check((0..).filter_map(Subject::of_random_accesses).take(10 * PARAMETRIC_PROGRAMS), usize::MAX);
}

#[test]
fn faults_of_kept_arrays_are_caught() {
    check(networks::NETWORKS.into_iter().map(Subject::network), FAULTS);
}

#[test]
#[ignore = "takes a minute"]
fn all_faults_of_kept_arrays_are_caught() {
    check(networks::NETWORKS.into_iter().map(Subject::network), usize::MAX);
}

/// Where a read lies outside of its array along two loops at the corner of its iterations, it does so all along both: the
/// proof has to look between them, too.
#[test]
fn constants_in_place_of_selections_are_caught() {
    let subject = Subject::application("bc_const");
    let faults = inject::faults(&subject.compiled.accelerator).into_iter();
    let mut planted = 0;
    for fault in faults.filter(|fault| fault.kind == "operand of a kernel") {
        let mut faulty = subject.compiled.clone();
        (fault.plant)(&mut faulty.accelerator);
        assert!(faulty.prove().is_err() || !subject.differs(&faulty.accelerator), "{}", fault.place);
        planted += 1;
    }
    assert!(planted > 0);
}
