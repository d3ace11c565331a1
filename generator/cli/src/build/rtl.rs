//! Running the RTL of an accelerator.

use std::path::Path;
use std::process::Command;

use pushmem_composition::Files;
use pushmem_files::{Diagnostic, OutputFolder, write_through};
use pushmem_simulation::{ModelSources, Verilator};

/// Runs the testbench; with `wave`, once at full speed into a wave file. Returns what to tell the user.
pub fn run(files: &Files, wave: Option<&Path>) -> Result<Vec<String>, Diagnostic> {
    let verilator = Verilator::find()?;
    let sources = files.simulation_sources(wave.is_some());
    let executable = verilator.build_model(ModelSources {
        top: &sources.top_module,
        class: "Vtop",
        rtl: &sources.rtl,
        harness: &sources.harness,
        wave: wave.is_some(),
    })?;
    let temporary = tempfile::tempdir().map_err(|error| Diagnostic::new(format!("no temporary folder: {error}")))?;
    let folder = temporary.path().join("accelerator");
    let mut contents = OutputFolder::new();
    for (name, text) in files.all() {
        contents.add(name.as_str(), text.as_str());
    }
    contents.write(&folder)?;
    let mut command = Command::new(executable);
    command.arg("--folder").arg(&folder);
    let text = match wave {
        Some(wave) => write_through(wave, |path| simulate(command.arg("--wave").arg(path)))?,
        None => simulate(&mut command)?,
    };
    Ok(text.lines().map(|line| format!("RTL: {line}")).collect())
}

/// Runs the testbench and returns what it prints.
fn simulate(command: &mut Command) -> Result<String, Diagnostic> {
    let output = command.output().map_err(|error| Diagnostic::new(format!("cannot run the testbench: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(Diagnostic::new(format!("the RTL does not do what it should:\n{text}{errors}"))
        .with_help("this is a fault of pushmem; please report it with the program"))
}
