//! `pushmem synth`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use itertools::Itertools;
use pushmem_accelerator::Constraints;
use pushmem_compiler::compile;
use pushmem_files::{Diagnostic, Document, write_file};
use pushmem_nest::Program;
use pushmem_packaging::{Design as Package, Timing};
use pushmem_regression::run_files;
use pushmem_simulation::{Verilator, rtl_files};
use pushmem_synthesis::{Design, Library, Optimize, Report, Synthesis, Tools, run};
use pushmem_technology::Technology;
use pushmem_tile::{Style, TileSpec};
use serde::Serialize;

use crate::application::{folder, images, run_model, tiles};
use crate::check::has_key;
use crate::progress::Spinner;
use crate::{output, package, technology};

/// Where the programs come from that this needs.
const TOOLS: &str = "Yosys is that of the Python environment build/venv below the working directory, which scripts/setup --synthesis makes, or
of the Python that the variable PUSHMEM_PYTHON names; OpenSTA is the program sta.";

#[derive(Args)]
#[command(after_help = TOOLS)]
pub struct Synth {
    /// Tile, a specification or the name of one in `constraints/tiles`; or a program, whose accelerator it is then.
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

/// The report, and how the netlist was checked, if it was.
#[derive(Serialize)]
struct Outcome<'a> {
    #[serde(flatten)]
    report: &'a Report,
    checked: Option<&'a Checked>,
}

#[derive(Serialize)]
struct Checked {
    configurations: u64,
    cycles: u64,
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

/// What is synthesized.
enum Target {
    Program(Program),
    Tile(Box<TileSpec>),
}

impl Synth {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let target = self.read()?;
        if let Some(netlist) = &self.netlist {
            let inputs = [Some(&self.target), Some(&self.library), self.sram.as_ref()];
            output::keep_inputs(netlist, inputs.into_iter().flatten().map(PathBuf::as_path))?;
        }
        let library = Library::find(&self.library)?;
        let tools = Tools::find()?;
        match target {
            Target::Program(program) => self.run_program(program, &library, &tools),
            Target::Tile(spec) => self.run_tile(&spec, &library, &tools),
        }
    }

    fn read(&self) -> Result<Target, Diagnostic> {
        let Some(program) = self.program()? else { return Ok(Target::Tile(Box::new(self.tile()?))) };
        for (option, given) in [("--style", self.style.is_some()), ("--check", self.check.is_some())] {
            if given {
                return Err(Diagnostic::new(format!(
                    "`{option}` is for tiles; {} is a program",
                    self.target.display()
                ))
                .with_help("give a tile specification, or leave the option out"));
            }
        }
        Ok(Target::Program(program))
    }

    /// The target, if it is a program.
    fn program(&self) -> Result<Option<Program>, Diagnostic> {
        if !self.target.is_file() {
            return Ok(None);
        }
        if pushmem_halide::is_statement(&self.target) {
            return Ok(Some(pushmem_halide::read(&self.target)?.program));
        }
        let document = Document::read(&self.target)?;
        if !has_key(&document, "nest")? {
            return Ok(None);
        }
        Ok(Some(Program::from_document(&document)?.program))
    }

    /// The target as a tile, in the style that is wanted.
    fn tile(&self) -> Result<TileSpec, Diagnostic> {
        let mut spec = tiles::read_named(&self.target)?;
        if let Some(style) = self.style {
            spec.style = match style {
                StyleName::Recurrence => Style::Recurrence,
                StyleName::PerLevel => Style::PerLevel,
                StyleName::Multiplier => Style::Multiplier,
            };
        }
        Ok(spec)
    }

    fn run_tile(&self, spec: &TileSpec, library: &Library, tools: &Tools) -> Result<ExitCode, Diagnostic> {
        let technology = self.technology(&[spec])?;
        let rtl = technology.bind(rtl_files(spec)?);
        let rtl = rtl.into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect();
        self.measure(&package::tile(spec, rtl, &technology), Some(spec), library, tools)
    }

    fn run_program(&self, program: Program, library: &Library, tools: &Tools) -> Result<ExitCode, Diagnostic> {
        let constraints = Constraints { levels: tiles::read_levels(None, None)?, ..Constraints::default() };
        let compiled = compile(program, &tiles::read(None)?, &tiles::read_rom(None)?, &constraints)?;
        let inputs = images::inputs(&compiled.program, &[])?;
        let expected = run_model(&compiled, &inputs)?;
        let technology = self.technology(&folder::tiles(&compiled))?;
        let files = folder::files(&compiled, Some(&technology), &inputs, &expected)?;
        self.measure(&package::accelerator(&compiled, &files, &technology), None, library, tools)
    }

    /// The memories of these tiles; the macro that was named is for the first.
    fn technology(&self, specs: &[&TileSpec]) -> Result<Technology, Diagnostic> {
        let first = specs.first().map(|spec| spec.name.clone()).unwrap_or_default();
        let named = self.sram.iter().map(|file| (first.clone(), file.clone())).collect_vec();
        technology::read(specs, &named)
    }

    /// Synthesizes and reports; checks the netlist of a tile if that is wanted.
    fn measure(
        &self,
        package: &Package,
        spec: Option<&TileSpec>,
        library: &Library,
        tools: &Tools,
    ) -> Result<ExitCode, Diagnostic> {
        let default = Timing::default();
        let clock_period_ps = self.clock.unwrap_or(default.clock_period_ps);
        // The report has the delays themselves.
        let timing = Timing { clock_period_ps, clock_uncertainty_percent: 0, ..default };
        let optimize = match self.optimize {
            Goal::Area => Optimize::Area,
            Goal::Speed => Optimize::Speed,
        };
        let spinner = Spinner::new();
        let design = Design { package, timing: &timing, library, optimize };
        let outcome = run(&design, tools, |step| spinner.say(step)).and_then(|synthesis| {
            let Some((configurations, spec)) = self.check.zip(spec) else { return Ok((synthesis, None)) };
            spinner.say("running the netlist");
            let checked = run_files(spec, &synthesis.netlist, &Verilator::find()?, SEED, configurations);
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
        let checked = checked.map(|counts| Checked { configurations: counts.configurations, cycles: counts.cycles });
        output::result(self.json, &Outcome { report: &report, checked: checked.as_ref() }, || {
            let of_netlist = checked.as_ref().map_or_else(String::new, |Checked { configurations, cycles }| {
                format!(
                    "netlist            does what the model does: {configurations} configurations, {cycles} cycles\n"
                )
            });
            format!("{report}{of_netlist}")
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
