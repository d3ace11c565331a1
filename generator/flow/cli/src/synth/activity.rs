//! Running an application on a netlist.

use std::path::Path;

use pushmem_composition::Files;
use pushmem_configuration::Configuration;
use pushmem_files::{Code, Diagnostic};
use pushmem_registers::RegisterMap;
use pushmem_simulation::{ModelSources, RtlProcess, StreamOptions, Verilator, run_streams};
use pushmem_synthesis::{Window, Words};
use pushmem_tile::TileSpec;

use crate::application::rtl;

/// The cycles of a tile: those after the flush.
pub const OF_TILE: Window = Window::After("flush_i");

/// The cycles of an accelerator: those of a run.
pub const OF_ACCELERATOR: Window = Window::While("busy_o");

/// Runs random words through the netlist of a configured tile, in lockstep with the model.
///
/// # Errors
/// When Verilator is missing or refuses, an output differs, or the configuration breaks a promise.
pub fn run_tile(
    spec: &TileSpec,
    configuration: &Configuration,
    netlist: &[(String, String)],
    wave: &Path,
) -> Result<Words, Diagnostic> {
    let executable = Verilator::find()?.build_files(spec, netlist, true)?;
    let mut process = RtlProcess::start(&executable, spec, Some(wave))?;
    let options = StreamOptions { quiet: true, ..StreamOptions::default() };
    let run =
        run_streams(spec, &RegisterMap::of(spec), configuration, &[], Some(&mut process), &options, &mut |_, _| ())
            .map_err(|error| rtl::failed(&error, "command"))?;
    if let Some(violation) = run.violations.first() {
        return Err(Diagnostic::new(format!("the configuration breaks a promise: {violation}"))
            .or_code(Code::Promise)
            .with_help("`pushmem simulate` shows more"));
    }
    process.finish()?;
    Ok(Words { taken: run.words_taken.iter().sum(), given: run.words_shown.iter().sum() })
}

/// Runs the testbench of an accelerator once at full speed, with its netlist in place of the RTL. Returns the words that it
/// gives.
///
/// # Errors
/// When Verilator is missing or refuses, or a word differs.
pub fn run_accelerator(files: &Files, netlist: &[(String, String)], wave: &Path) -> Result<u64, Diagnostic> {
    let sources = files.simulation_sources(true);
    let model = ModelSources { libraries: Vec::new(), ..rtl::model_sources(&sources, netlist, true) };
    let executable = Verilator::find()?.build_model(model)?;
    rtl::in_folder(files, |folder| rtl::run_once(&executable, folder, wave)).map(|run| run.result.words)
}
