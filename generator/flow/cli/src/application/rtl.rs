//! Running the RTL of an accelerator.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use pushmem_composition::{Files, SimulationSources, TileModule};
use pushmem_files::{Code, Diagnostic, OutputFolder};
use pushmem_process::Invocation;
use pushmem_simulation::{BenchError, LibrarySources, ModelSources, Verilator};
use pushmem_waves::View;
use serde::Serialize;
use tempfile::TempDir;

use crate::progress::Spinner;
use crate::waves;

/// The commands that run it in Verilator, for `doctor`.
pub const WITH_VERILATOR: &str = "build --rtl, build --wave, compare";

/// A run of the RTL without a difference.
#[derive(Debug, Serialize)]
pub struct RtlRun {
    /// The result, which is the same in every run.
    #[serde(flatten)]
    pub result: RtlResult,
    /// Seconds that the simulation took, with the reading and writing of its files.
    pub seconds: f64,
}

/// The result of a run.
#[derive(Debug, Serialize)]
pub struct RtlResult {
    /// Cycles from the first word taken to the last given, at full speed.
    pub cycles: u64,
    /// Words compared.
    pub words: u64,
    /// Each run in words.
    pub scenarios: Vec<String>,
}

/// The scenarios that the testbench runs by itself: full speed, random stalls, runs without a gap.
const SCENARIOS: usize = 3;

/// Runs the testbench; with `wave`, what it does at full speed goes into a wave file, with layouts beside it.
///
/// # Errors
/// When Verilator is missing or refuses, or a word differs.
pub fn run(files: &Files, wave: Option<&Path>, spinner: &Spinner) -> Result<RtlRun, Diagnostic> {
    let wave = wave.map(|wave| (wave, &files.waves));
    in_folder(files, |folder| run_in(folder, &files.simulation_sources(wave.is_some()), wave, spinner))
}

/// Writes the files to a temporary folder, in which `run` works.
///
/// # Errors
/// Those of `run`, or when they cannot be written.
pub fn in_folder<T>(files: &Files, run: impl FnOnce(&Path) -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
    run(&temporary(files)?.path().join(ACCELERATOR))
}

/// The folder of an accelerator in a temporary one.
pub const ACCELERATOR: &str = "accelerator";

/// Writes the files to [`ACCELERATOR`] in a temporary folder.
///
/// # Errors
/// When they cannot be written.
pub fn temporary(files: &Files) -> Result<TempDir, Diagnostic> {
    let temporary = tempfile::tempdir().map_err(|error| Diagnostic::new(format!("no temporary folder: {error}")))?;
    let mut contents = OutputFolder::new();
    contents.add_all(files.all().cloned());
    contents.write(&temporary.path().join(ACCELERATOR))?;
    Ok(temporary)
}

/// The message of a simulation of a tile that failed. That the RTL differs from the model is a fault; `report` (for example
/// "configuration") is to be reported with it.
pub fn failed(error: &BenchError, report: &str) -> Diagnostic {
    let problem = Diagnostic::new(error.to_string());
    match error {
        BenchError::Mismatch(_) => problem.or_code(Code::Difference).as_fault(report),
        BenchError::Configuration(_) => problem.or_code(Code::Configuration),
        BenchError::Rtl(_) | BenchError::NotRun(_) => problem.or_code(Code::Tool),
        BenchError::StreamEnded { .. } | BenchError::TooLong { .. } => problem.or_code(Code::Stream),
    }
}

/// Runs the testbench of a folder, likewise; what is to see in a wave file is beside its name.
///
/// # Errors
/// As [`run`].
pub fn run_in(
    folder: &Path,
    sources: &SimulationSources,
    wave: Option<(&Path, &View)>,
    spinner: &Spinner,
) -> Result<RtlRun, Diagnostic> {
    let verilator = Verilator::find()?.telling(spinner.sayer());
    let executable = verilator.build_model(model_sources(sources, &sources.rtl, wave.is_some()))?;
    let said = |scenarios: usize| {
        if scenarios < SCENARIOS {
            spinner.say(&format!("simulating {} of {SCENARIOS}", scenarios + 1));
        }
    };
    match wave {
        Some((wave, view)) => waves::write(wave, view, |path| run_all(&executable, folder, Some(path), said)),
        None => run_all(&executable, folder, None, said),
    }
}

/// Runs all scenarios of a testbench that was built; `said` is told how many have ended, from 0.
fn run_all(executable: &Path, folder: &Path, wave: Option<&Path>, said: impl Fn(usize)) -> Result<RtlRun, Diagnostic> {
    let mut command = Command::new(executable);
    command.arg("--folder").arg(folder);
    if let Some(wave) = wave {
        command.arg("--wave").arg(wave);
    }
    run_command(command, said)
}

/// Runs a testbench that was built once, at full speed, into a wave file.
///
/// # Errors
/// When a word differs.
pub fn run_once(executable: &Path, folder: &Path, wave: &Path) -> Result<RtlRun, Diagnostic> {
    let mut command = Command::new(executable);
    command.arg("--folder").arg(folder).arg("--wave").arg(wave).args(["--runs", "1"]);
    run_command(command, |_| ())
}

fn run_command(mut command: Command, said: impl Fn(usize)) -> Result<RtlRun, Diagnostic> {
    let started = Instant::now();
    let text = simulate(&mut command, said)?;
    let seconds = started.elapsed().as_secs_f64();
    let figure = |key: &str| {
        let summary = text.lines().find(|line| line.starts_with("result:"))?;
        summary.split_whitespace().find_map(|pair| pair.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
    };
    let scenarios = text.lines().filter(|line| !line.starts_with("result:")).map(str::to_owned).collect();
    match (figure("cycles"), figure("words")) {
        (Some(cycles), Some(words)) => Ok(RtlRun { result: RtlResult { cycles, words, scenarios }, seconds }),
        _ => Err(Diagnostic::new(format!("the testbench gives no result:\n{text}"))),
    }
}

/// The sources of the testbench, with `rtl` as its SystemVerilog.
pub fn model_sources<'a>(sources: &'a SimulationSources, rtl: &'a [(String, String)], wave: bool) -> ModelSources<'a> {
    let library = |tile: &'a TileModule| LibrarySources {
        module: &tile.name,
        files: &tile.files,
        own_files: tile.own_files(),
        uses: &[],
        is_clocked: false,
        shared: &[],
    };
    ModelSources {
        top: &sources.top_module,
        class: "Vtop",
        rtl,
        libraries: sources.tiles.iter().map(library).collect(),
        harness: &sources.harness,
        shared: &[],
        wave,
        flatten: false,
    }
}

/// Runs the testbench and returns what it prints: a line for each scenario, at its end, of which `said` is told the number.
fn simulate(command: &mut Command, said: impl Fn(usize)) -> Result<String, Diagnostic> {
    said(0);
    let mut ended = 0;
    let run = Invocation::of(command).named("the testbench").lines(|_| {
        ended += 1;
        said(ended);
    });
    let finished = run.finish()?;
    if finished.status.success() {
        return Ok(finished.text());
    }
    let (status, log) = (finished.status, finished.log());
    let message = format!("the RTL does not do what it should ({status}):\n{log}");
    Err(Diagnostic::new(message).or_code(Code::Difference).as_fault("program"))
}
