//! Faults in compiled accelerators: the proof at the end of every compile catches each, or it changes nothing.

mod inject;
mod inject_memory;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use pushmem_accelerator::{Accelerator, Constraints};
use pushmem_compiler::{Compiled, compile};
use pushmem_files::Document;
use pushmem_images::Image;
use pushmem_model::ViolationKind;
use pushmem_nest::{ArrayKind, Program};
use pushmem_programs::random_program;
use pushmem_tile::TileSpec;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Programs that together have all kinds of parts.
const APPLICATIONS: [&str; 12] = [
    "gaussian",
    "harris",
    "up_sample",
    "bc_mirror",
    "bc_const",
    "unsharp_new",
    "gpyr",
    "conv_3_3_wide",
    "laplacian_pyramid",
    "gaussian_unroll2",
    "camera_pipeline",
    "rom",
];

/// Tiles that random programs are built for in turn.
const TILES: [&str; 5] = ["amber", "dual_port", "fetch8", "quad_port", "small"];

const RANDOM_PROGRAMS: u64 = 20;

/// Faults of one kind in a program of a normal run, evenly spread over all of them.
const FAULTS: usize = 6;

/// One in so many faults that are caught is run on the model, to see whether it was harmless.
const HARMLESS_SAMPLE: usize = 50;

/// A single fault.
pub struct Fault {
    /// What sort of fault it is.
    pub kind: &'static str,
    /// Where it is.
    pub place: String,
    /// Plants it.
    pub plant: Box<dyn Fn(&mut Accelerator)>,
}

/// What became of faults of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    caught: usize,
    /// Caught, run on the model, and found to change nothing.
    strict: usize,
    sampled: usize,
    /// Not caught, but nothing differs.
    harmless: usize,
}

/// A compiled program, with inputs and what must come of them.
struct Subject {
    name: String,
    compiled: Compiled,
    runs: Vec<(BTreeMap<String, Image>, BTreeMap<String, Image>)>,
}

fn spec(tile: &str) -> TileSpec {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../constraints/tiles/{tile}.yaml"));
    TileSpec::read(&path).unwrap_or_else(|error| panic!("{error:?}"))
}

fn random_inputs(program: &Program, random: &mut ChaCha8Rng) -> BTreeMap<String, Image> {
    let image = |array: &pushmem_nest::Array| {
        let element = array.element.element().expect("arrays hold elements");
        let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
        let values = (0..array.size()).map(|_| random.random_range(element.min()..=element.max())).collect();
        let image = Image::from_values(element, &shape, values).expect("values are of the type").with_min(&array.min);
        (array.name.clone(), image)
    };
    program.arrays_of(ArrayKind::Input).map(image).collect()
}

impl Subject {
    /// Nothing if the program is refused.
    fn new(name: String, document: &Document, tile: &str) -> Option<Subject> {
        let program = Program::from_document(document).unwrap_or_else(|error| panic!("{name}: {error:?}")).program;
        let compiled = compile(program, &spec(tile), &spec("rom"), &Constraints::default()).ok()?;
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let run = |_| {
            let inputs = random_inputs(&compiled.program, &mut random);
            let expected = compiled.program.run(&inputs).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            (inputs, expected)
        };
        let runs = (0..2).map(run).collect();
        Some(Subject { name, compiled, runs })
    }

    fn application(name: &str) -> Subject {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../apps/{name}.yaml"));
        let document = Document::read(&path).unwrap_or_else(|error| panic!("{error:?}"));
        Subject::new(name.to_owned(), &document, "amber").unwrap_or_else(|| panic!("{name} is refused"))
    }

    fn random(seed: u64) -> Option<Subject> {
        let document = Document::parse("random.yaml", random_program(seed)).expect("random programs are YAML");
        let tile = TILES[(seed % TILES.len() as u64) as usize];
        Subject::new(format!("random program {seed} on {tile}"), &document, tile)
    }

    /// Whether the model of an accelerator computes something else than the program, breaks a promise, or cannot run.
    fn differs(&self, accelerator: &Accelerator) -> bool {
        let one = |(inputs, expected): &(BTreeMap<String, Image>, BTreeMap<String, Image>)| {
            // Loose ends stop the model.
            let run = catch_unwind(AssertUnwindSafe(|| accelerator.run(&self.compiled.program, inputs)));
            let Ok(Ok(run)) = run else { return true };
            // A word that is overwritten unread was needless: what is read is right.
            run.violations.iter().any(|(_, violation)| violation.kind != ViolationKind::Overrun)
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
                match catch_unwind(AssertUnwindSafe(|| faulty.prove().is_err())) {
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

fn check(subjects: impl Iterator<Item = Subject>, most: usize) {
    // Models of accelerators with loose ends panic, and say so.
    std::panic::set_hook(Box::new(|_| {}));
    let mut counts = BTreeMap::new();
    let holes: Vec<String> = subjects.flat_map(|subject| subject.check(most, &mut counts)).collect();
    _ = std::panic::take_hook();
    let total = |of: fn(&Counts) -> usize| counts.values().map(of).sum::<usize>();
    for (kind, Counts { caught, strict, sampled, harmless }) in &counts {
        println!("{kind:<40} {caught:>6} caught, {strict} of {sampled} needlessly, {harmless:>4} harmless");
    }
    println!("{} caught, {} harmless", total(|counts| counts.caught), total(|counts| counts.harmless));
    assert!(holes.is_empty(), "{} holes:\n{}", holes.len(), holes.join("\n"));
    for (kind, Counts { caught, .. }) in counts {
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
