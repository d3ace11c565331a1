//! Compiles programs and prints the result of each proof: `prove [--run] TARGET PROGRAM …`, where TARGET is a tile, `fixed` for memories
//! that are made for the program, or `array:NAME` for an array.
//!
//! A line for each program: `proven` or `compared` and a digest of the hardware, `caught` and the fault, or `refused` and why. With `--run`, a
//! proven program is also run on the model: `wrong` tells that it differs from the interpreter. Faults that are planted in the
//! passes are looked for with it, by `scripts/faults`; the folder where it runs is the project's.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::ExitCode;

use pushmem_assembly::Constraints;
use pushmem_compiler::CompileError;
use pushmem_fabric::{ArraySpec, Folder};
use pushmem_files::{Code, Diagnostic, Document};
use pushmem_graph::Target;
use pushmem_mapper::{ArrayTarget, Edited, compile_for, execute};
use pushmem_nest::{Level, Program};
use pushmem_realization::{Dedicated, build};
use pushmem_routing::Options;
use pushmem_tile::TileSpec;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn spec(tile: &str) -> Result<TileSpec, Diagnostic> {
    TileSpec::read(&Path::new("constraints/tiles").join(tile).with_extension("yaml"))
}

fn target(tile: &str) -> Result<Target, Diagnostic> {
    if tile == "fixed" {
        let made = |name: &str| TileSpec::read(&Path::new("constraints/memories").join(name).with_extension("yaml"));
        return Ok(Target::fixed(made("memory")?, made("table")?));
    }
    let target = Target::new(spec(tile)?, spec("rom")?).with_level(Level::GlobalBuffer, Some(spec("global_buffer")?));
    Ok(target.with_level(Level::RegisterFile, Some(spec("pond")?)))
}

/// Whether the model agrees with the interpreter.
fn computes(compiled: &Dedicated) -> Result<bool, Diagnostic> {
    let (program, accelerator) = (&compiled.program, &compiled.accelerator);
    let inputs = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
    let expected = compiled.source.run(&inputs)?;
    let run = accelerator.run(program, &inputs)?;
    Ok(expected.iter().all(|(name, image)| run.outputs[name].values() == image.values()))
}

fn array(name: &str) -> Result<ArrayTarget, Diagnostic> {
    let file = Path::new("constraints/arrays").join(name).with_extension("yaml");
    let spec = ArraySpec::from_document(&Document::read(&file)?, &Folder("constraints".into()))?;
    Ok(ArrayTarget::new(spec))
}

/// The outcome of a program whose operations are all proven, or not: a word, and the digest of what was made.
fn outcome_of(is_proven: bool, made: &impl Debug) -> String {
    let mut hasher = DefaultHasher::new();
    format!("{made:?}").hash(&mut hasher);
    format!("{} {:016x}", if is_proven { "proven" } else { "compared" }, hasher.finish())
}

/// The outcome on an array.
fn outcome_on_array(array: &ArrayTarget, program: &Program, run: bool) -> Result<String, Diagnostic> {
    let (beside, edited) = (target("amber")?, Edited::default());
    let built = compile_for(program, array, &beside, &Constraints::default(), &edited, Options::default(), &|_| {});
    let (compiled, mapped) = match built.map_err(Diagnostic::from) {
        Ok(built) => built,
        Err(error) if error.code() == Some(Code::Fault) => return Ok(format!("caught: {error}")),
        Err(error) => return Ok(format!("refused: {error}")),
    };
    let inputs = compiled.program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
    let is_wrong = || -> Result<bool, Diagnostic> {
        let found = execute(&mapped, &mapped.configuration, &compiled, array, &inputs)?;
        Ok(found.outputs != compiled.source.run(&inputs)?)
    };
    if run && is_wrong()? {
        return Ok("wrong".to_owned());
    }
    Ok(outcome_of(mapped.proof.proven == mapped.proof.operations, &mapped.configuration))
}

fn outcome(tile: &str, path: &Path, run: bool) -> Result<String, Diagnostic> {
    let program = Program::read(path)?.program;
    if let Some(name) = tile.strip_prefix("array:") {
        return outcome_on_array(&array(name)?, &program, run);
    }
    Ok(match build(program, &target(tile)?, &Constraints::default(), &|_| {}) {
        Ok(compiled) if run && !computes(&compiled)? => "wrong".to_owned(),
        Ok(compiled) => outcome_of(compiled.proof.arithmetic.compared == 0, &compiled.accelerator),
        Err(CompileError::Fault(fault)) => format!("caught: {fault}"),
        Err(reason) => format!("refused: {reason}"),
    })
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let run = arguments.iter().any(|argument| argument == "--run");
    let mut words = arguments.iter().filter(|argument| *argument != "--run");
    let Some(tile) = words.next() else {
        eprintln!("prove [--run] TARGET PROGRAM …");
        return ExitCode::from(2);
    };
    for path in words {
        let outcome = outcome(tile, Path::new(path), run).unwrap_or_else(|error| format!("refused: {error}"));
        println!("{path}: {}", outcome.replace('\n', " "));
    }
    ExitCode::SUCCESS
}
