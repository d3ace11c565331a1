//! `pushmem synth`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use itertools::Itertools;
use pushmem_files::{Diagnostic, write_file};
use pushmem_packaging::{Design as Package, Timing};
use pushmem_regression::run_files;
use pushmem_rtl::tile_module;
use pushmem_simulation::{Verilator, rtl_files};
use pushmem_synthesis::{Design, Library, Optimize, Synthesis, Tools, run};
use pushmem_tile::Style;

use crate::application::tiles;
use crate::progress::Spinner;
use crate::{output, technology};

#[derive(Args)]
pub struct Synth {
    /// Tile: a specification, or the name of one in `constraints/tiles`.
    target: PathBuf,
    /// Cell library: osu018, gscl45nm, or a file in the Liberty format.
    #[arg(long, value_name = "LIBRARY", default_value = "osu018")]
    library: PathBuf,
    /// SRAM macro for the memory: a binding, or the name of one in `constraints/sram`.
    #[arg(long, value_name = "BINDING")]
    sram: Option<PathBuf>,
    /// Controller style instead of the one of the specification.
    #[arg(long, value_enum, value_name = "STYLE")]
    style: Option<StyleName>,
    /// Clock period in picoseconds, for power and the delays of inputs and outputs.
    #[arg(long, value_name = "PS", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    clock: Option<u32>,
    /// What the mapping to cells goes for.
    #[arg(long, value_enum, value_name = "GOAL", default_value = "area")]
    optimize: Goal,
    /// Run the netlist in Verilator as well, in lockstep with the model, through so many random configurations.
    #[arg(long, value_name = "CONFIGURATIONS")]
    check: Option<u32>,
    /// Write the netlist: a Verilog file with the cells of the library by their names.
    #[arg(long, value_name = "FILE")]
    netlist: Option<PathBuf>,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// Seed of the random configurations that a netlist is checked with.
const SEED: u64 = 1;

/// Styles by the names of the command line.
#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum StyleName {
    Recurrence,
    PerLevel,
    Multiplier,
}

#[derive(Clone, Copy, ValueEnum)]
enum Goal {
    /// Small cells only.
    Area,
    /// Buffers and larger cells where they help.
    Speed,
}

impl Synth {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let mut spec = tiles::read_named(&self.target)?;
        if let Some(style) = self.style {
            spec.style = match style {
                StyleName::Recurrence => Style::Recurrence,
                StyleName::PerLevel => Style::PerLevel,
                StyleName::Multiplier => Style::Multiplier,
            };
        }
        let library = Library::find(&self.library)?;
        let tools = Tools::find()?;
        let named = self.sram.iter().map(|file| (spec.name.clone(), file.clone())).collect_vec();
        let technology = technology::read(&[&spec], &named)?;
        let rtl = technology.bind(rtl_files(&spec)?);
        let package = Package {
            name: spec.name.clone(),
            top: tile_module(&spec),
            about: format!("Memory tile `{}`", spec.name),
            rtl: rtl.into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect(),
            testbench: Vec::new(),
            technology: &technology,
            blocks: Vec::new(),
        };
        let default = Timing::default();
        let clock_period_ps = self.clock.unwrap_or(default.clock_period_ps);
        // The report has the delays themselves.
        let timing = Timing { clock_period_ps, clock_uncertainty_percent: 0, ..default };
        let optimize = match self.optimize {
            Goal::Area => Optimize::Area,
            Goal::Speed => Optimize::Speed,
        };
        let spinner = Spinner::new();
        let design = Design { package: &package, timing: &timing, library: &library, optimize };
        let outcome = run(&design, &tools, |step| spinner.say(step)).and_then(|synthesis| {
            let Some(configurations) = self.check else { return Ok((synthesis, None)) };
            spinner.say("running the netlist");
            let checked = run_files(&spec, &synthesis.netlist, &Verilator::find()?, SEED, configurations);
            checked.map(|counts| (synthesis, Some(counts))).map_err(|message| {
                Diagnostic::new(format!("the netlist does not do what the model does: {message}")).with_help(
                    "this is a fault of pushmem or of a tool; please report it with the command and its inputs",
                )
            })
        });
        spinner.clear();
        let (Synthesis { report, netlist }, checked) = outcome?;
        if let (Some(path), Some((_, text))) = (&self.netlist, netlist.last()) {
            write_file(path, text.as_bytes())?;
        }
        if self.json {
            output::print(&(serde_json::to_string_pretty(&report).expect("figures are numbers and names") + "\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        output::print(&report.to_string())?;
        if let Some(counts) = checked {
            output::print(&format!(
                "netlist            does what the model does: {} configurations, {} cycles\n",
                counts.configurations, counts.cycles
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
