//! `pushmem synth` of a program for an FPGA.

use clap::{Args, ValueEnum};
use itertools::Itertools;
use pushmem_composition::{Files, register_writes};
use pushmem_files::{Code, Diagnostic};
use pushmem_nest::{Array, ArrayKind};
use pushmem_realization::{Dedicated, Report};
use pushmem_synthesis::{Family, FpgaDesign, FpgaReport, FpgaTools, Throughput, place_and_route};
use pushmem_technology::Technology;
use serde::Serialize;

use super::{Synth, Target, activity};
use crate::application::folder;
use crate::package;
use crate::progress::Spinner;

/// The most elements of a dimension that are the channels of a pixel, where there are three.
const MOST_CHANNELS: i64 = 4;

/// An FPGA in place of a cell library.
#[derive(Args)]
pub(super) struct Options {
    /// Place and route the accelerator of a program on an FPGA, in place of a cell library. Its configuration is constants. Memories must be
    /// in block RAM, and products in multipliers.
    #[arg(long, value_enum, value_name = "FAMILY", conflicts_with_all = [
        "library", "sram", "clock_gate", "style", "optimize", "activity", "assumed_activity", "check", "equivalence", "netlist", "timing_model",
    ])]
    fpga: Option<FamilyName>,
    /// With --fpga: keep the configuration in registers, with the port that writes them.
    #[arg(long, requires = "fpga")]
    keep_registers: bool,
    /// With --fpga: run the accelerator with the constants in Verilator as well, and compare every word.
    #[arg(long, requires = "fpga")]
    simulate: bool,
}

/// Families by the names of the command line.
#[derive(Clone, Copy, ValueEnum)]
enum FamilyName {
    /// Lattice ECP5, LFE5U-85F.
    Ecp5,
    /// Gowin Arora, GW2A-18.
    Gowin,
}

impl Options {
    /// The family, if an FPGA is meant.
    pub(super) fn family(&self) -> Option<Family> {
        self.fpga.map(|family| match family {
            FamilyName::Ecp5 => Family::Ecp5,
            FamilyName::Gowin => Family::Gowin,
        })
    }
}

/// All that was found.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    report: FpgaReport,
    /// Words of the run that was compared, if there was one.
    simulated_words: Option<u64>,
}

impl Synth {
    pub(super) fn run_fpga(&self, target: Target, family: Family) -> Result<(), Diagnostic> {
        let Target::Program(program) = target else {
            let message = format!("`--fpga` is for programs; {} is none", self.target.display());
            return Err(Diagnostic::new(message)
                .or_code(Code::Request)
                .with_help("give a program: its accelerator has the tiles that it needs"));
        };
        let tools = FpgaTools::find(family)?;
        let (compiled, inputs, expected) = self.compiled(program)?;
        let files = folder::files(&compiled, None, &inputs, &expected)?;
        let writes = if self.fpga.keep_registers { Vec::new() } else { constants(&compiled)? };
        let technology = Technology::default();
        let design = FpgaDesign {
            package: &package::accelerator(&compiled, &files, &technology),
            family,
            writes: &writes,
            clock_ps: self.timing().clock_period_ps,
            throughput: Throughput { cycles: Report::of(&compiled).cycles, pixels: pixels(&compiled) },
        };
        let spinner = Spinner::new();
        let made = place_and_route(&design, &tools, |step| spinner.say(step))?;
        let simulated = self.fpga.simulate.then(|| simulate(&files, &made.configured, &spinner)).transpose()?;
        drop(spinner);
        let found = Found { report: made.report, simulated_words: simulated };
        self.finish(&found)
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.report)?;
        match self.simulated_words {
            Some(words) => writeln!(formatter, "{:<18} {words} words as the model has them", "simulation"),
            None => Ok(()),
        }
    }
}

/// Runs the testbench on the accelerator with constants. It writes the configuration, too, which changes nothing.
fn simulate(files: &Files, configured: &str, spinner: &Spinner) -> Result<u64, Diagnostic> {
    spinner.say("running the configured accelerator");
    let netlist = [(format!("{}.v", files.top_module), configured.to_owned())];
    let work = tempfile::tempdir().map_err(|error| Diagnostic::new(format!("no temporary folder: {error}")))?;
    activity::run_accelerator(files, &netlist, &work.path().join("waves.fst"))
}

/// The writes that become constants.
///
/// # Errors
/// When a flush makes the configuration active, so that writes alone do not.
fn constants(compiled: &Dedicated) -> Result<Vec<(u32, u32)>, Diagnostic> {
    if let Some(spec) = folder::tiles(compiled).into_iter().find(|spec| spec.shadow_registers) {
        let message =
            format!("the configuration of `{}` is active from a flush on, so that it is no constants", spec.name);
        return Err(Diagnostic::new(message)
            .or_code(Code::Request)
            .with_help("keep it in registers by `--keep-registers`, or choose a tile without `shadow_registers`"));
    }
    let writes = register_writes(&compiled.accelerator).map_err(|error| Diagnostic::new(error.to_string()))?;
    Ok(writes.into_iter().flatten().map(|write| (write.address, write.data)).collect_vec())
}

/// The pixels of the first output: its elements, less the channels of a pixel.
fn pixels(compiled: &Dedicated) -> u64 {
    let of = |array: &Array| {
        let is_pixels = |extent: &&i64| array.shape.len() < 3 || **extent > MOST_CHANNELS;
        array.shape.iter().filter(is_pixels).product::<i64>()
    };
    compiled.program.arrays_of(ArrayKind::Output).next().map_or(0, of).unsigned_abs()
}
