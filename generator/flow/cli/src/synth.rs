//! `pushmem synth`.

mod activity;
mod array;
mod equivalence;
mod fpga;
mod page;

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use itertools::Itertools;
use pushmem_configuration::encode;
use pushmem_fabric::ArraySpec;
use pushmem_files::{Code, Diagnostic, write_file};
use pushmem_images::Image;
use pushmem_nest::{ArrayKind, Program};
use pushmem_packaging::{Design as Package, Timing};
use pushmem_realization::Dedicated;
use pushmem_registers::RegisterMap;
use pushmem_regression::{FailureKind, run_files};
use pushmem_report::Synthesized;
use pushmem_simulation::{Verilator, rtl_files};
use pushmem_synthesis::{
    Activity, Application, Design, Library, Optimize, Synthesis, SynthesisReport, Tools, Words, measure,
    run as synthesize,
};
use pushmem_technology::Technology;
use pushmem_tile::{Style, TileSpec};
use serde::Serialize;

use crate::application::choices::Choices;
use crate::application::{arrays, folder, images, program, run_model, tiles};
use crate::kinds;
use crate::progress::Spinner;
use crate::{output, package, technology};
use equivalence::{Checked, Proven};

/// The commands that run Yosys and OpenSTA, those that run nextpnr, and those that run Verilator, for `doctor`.
pub const WITH_SYNTHESIS: &str = "synth";
pub const WITH_FPGA: &str = "synth --fpga";
pub const WITH_VERILATOR: &str = "synth --check, synth --fpga --simulate, synth --activity, synth of a program";

/// Where the programs come from that this needs.
const TOOLS: &str = "Yosys is that of the Python that the variable PUSHMEM_PYTHON names. Without it, that of build/venv below the working
directory or in the clone that this program is in, which scripts/setup --synthesis makes, or of python3. OpenSTA is the program sta.";

#[derive(Args)]
#[command(after_help = TOOLS)]
pub struct Synth {
    /// Tile, a specification or the name of one in `constraints/tiles`; the specification of an array, which is synthesized tile by
    /// tile; or a program, whose accelerator it is then.
    target: PathBuf,
    /// Cell library: osu018, gscl45nm, or a file in the Liberty format.
    #[arg(long, value_name = "LIBRARY", default_value = "osu018")]
    library: PathBuf,
    /// SRAM macro for the memory: a binding, or the name of one in `constraints/sram`.
    #[arg(long, value_name = "BINDING")]
    sram: Option<PathBuf>,
    /// Cell for clock gates: a binding, or the name of one in `constraints/clock_gates`. Without, a latch and gates.
    #[arg(long, value_name = "BINDING")]
    clock_gate: Option<PathBuf>,
    /// Controller style instead of the one of the specification.
    #[arg(long, value_name = "STYLE", value_parser = PossibleValuesParser::new(Style::ALL.map(Style::name)))]
    style: Option<String>,
    /// Clock period in picoseconds, for power and the delays of inputs and outputs.
    #[arg(long, value_name = "PS", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    clock: Option<u32>,
    /// Goal of the mapping to cells.
    #[arg(long, value_enum, value_name = "GOAL", default_value = "area")]
    optimize: Goal,
    /// Configuration that a tile runs for its power, on random words. Without, activity is assumed. An accelerator runs its
    /// program.
    #[arg(long, value_name = "CONFIGURATION", conflicts_with = "assumed_activity")]
    activity: Option<PathBuf>,
    /// Assume activity for the power of an accelerator, instead of running its netlist.
    #[arg(long)]
    assumed_activity: bool,
    /// Image for an input of the program: .npy, .pgm, .ppm, .png or .hex. The name may be left out where there is one input. Inputs without an
    /// image are random.
    #[arg(long = "input", value_name = "[NAME=]FILE")]
    inputs: Vec<String>,
    #[command(flatten)]
    choices: Choices,
    /// Run the netlist in Verilator as well, in lockstep with the model, through so many random configurations.
    #[arg(long, value_name = "CONFIGURATIONS", value_parser = clap::value_parser!(u32).range(1..))]
    check: Option<u32>,
    /// Prove that the netlist does what the RTL does: the one that is made, or another of the same blocks.
    #[arg(long, value_name = "NETLIST", num_args = 0..=1, require_equals = true)]
    equivalence: Option<Option<PathBuf>>,
    /// Write the netlist: a Verilog file with the cells of the library by their names.
    #[arg(long, value_name = "FILE")]
    netlist: Option<PathBuf>,
    /// Write the timing model of an array: its longest paths in the library, for `build --clock`.
    #[arg(long, value_name = "FILE")]
    timing_model: Option<PathBuf>,
    #[command(flatten)]
    fpga: fpga::Options,
    /// Folder of a build of the same program, or with the same tile or array: its `report.html` gets the results.
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// Seed of the random configurations that a netlist is checked with.
const SEED: u64 = 1;

#[derive(Clone, Copy, ValueEnum)]
enum Goal {
    /// Small cells only.
    Area,
    /// Buffers and larger cells where they help.
    Speed,
}

/// Images by the names of their arrays.
type Images = BTreeMap<String, Image>;

/// The design that is synthesized.
enum Target {
    Program(Program),
    Tile(Box<TileSpec>),
    Array(Box<ArraySpec>),
}

impl Synth {
    pub fn run(&self) -> Result<(), Diagnostic> {
        let target = self.read()?;
        if let Some(netlist) = &self.netlist {
            let other = self.equivalence.as_ref().and_then(Option::as_ref);
            let inputs = [Some(&self.target), Some(&self.library), self.sram.as_ref(), other];
            output::keep_inputs(netlist, inputs.into_iter().flatten().map(PathBuf::as_path))?;
        }
        if let Some(family) = self.fpga.family() {
            return self.run_fpga(target, family);
        }
        let library = Library::find(&self.library)?;
        let tools = Tools::find()?;
        match target {
            Target::Program(program) => self.run_program(program, &library, &tools),
            Target::Tile(spec) => self.run_tile(&spec, &library, &tools),
            Target::Array(spec) => self.run_array(&spec, &library, &tools),
        }
    }

    fn read(&self) -> Result<Target, Diagnostic> {
        let refuse = |option: &str, wanted: &str, found: &str| {
            let message = format!("`{option}` is for {wanted}; {} is {found}", self.target.display());
            Err(Diagnostic::new(message).with_help("leave the option out, or give another target"))
        };
        let given = |options: &[(&'static str, bool)]| {
            options.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
        };
        let of_programs = [("--input", !self.inputs.is_empty()), ("--assumed-activity", self.assumed_activity)];
        let of_programs = self.choices.given().or(given(&of_programs));
        let of_tiles = [
            ("--style", self.style.is_some()),
            ("--check", self.check.is_some()),
            ("--activity", self.activity.is_some()),
        ];
        let of_tiles = given(&of_tiles);
        let of_arrays = given(&[("--timing-model", self.timing_model.is_some())]);
        if let Some(spec) = arrays::read_file(&self.target)? {
            let of_netlists = [("--netlist", self.netlist.is_some()), ("--equivalence", self.equivalence.is_some())];
            return match of_programs.or(of_tiles).or(given(&of_netlists)) {
                Some(option) => refuse(option, "tiles and programs", "an array"),
                None => Ok(Target::Array(Box::new(spec))),
            };
        }
        let program = self.program()?;
        if let Some(option) = of_arrays {
            return refuse(option, "arrays", if program.is_some() { "a program" } else { "a tile" });
        }
        match (program, of_programs, of_tiles) {
            (None, Some(option), _) => refuse(option, "programs", "a tile"),
            (None, None, _) => Ok(Target::Tile(Box::new(self.tile()?))),
            (Some(_), _, Some(option)) => refuse(option, "tiles", "a program"),
            (Some(program), _, None) => Ok(Target::Program(program)),
        }
    }

    /// The target, if it is a program.
    fn program(&self) -> Result<Option<Program>, Diagnostic> {
        if self.target.is_file() {
            program::read_unless_specification(&self.target, self.choices.reading)
        } else {
            Ok(None)
        }
    }

    /// The target as a tile, in the style that is wanted.
    fn tile(&self) -> Result<TileSpec, Diagnostic> {
        let mut spec = tiles::read_named(&self.target)?;
        spec.style = self.style.as_deref().and_then(Style::of_name).unwrap_or(spec.style);
        Ok(spec)
    }

    fn run_tile(&self, spec: &TileSpec, library: &Library, tools: &Tools) -> Result<(), Diagnostic> {
        self.check_report(&Synthesized::Specification(&spec.digest()))?;
        let technology = self.technology(&[spec])?;
        let rtl = technology.bind(rtl_files(spec)?);
        let rtl = rtl.into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect();
        let configuration = match &self.activity {
            Some(file) => Some((kinds::configuration(file, spec)?, file)),
            None => None,
        };
        // Both decide what runs: which register is which may change with the order of registers alone.
        let described = match &configuration {
            Some((configuration, _)) => {
                let writes = encode(configuration, spec, &RegisterMap::of(spec))?;
                Some([configuration.to_yaml(), format!("{writes:?}")])
            }
            None => None,
        };
        let run = configuration.as_ref().zip(described.as_ref()).map(|((configuration, file), described)| Run {
            application: Application {
                name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                texts: described.iter().map(String::as_str).collect(),
                window: activity::OF_TILE,
            },
            simulate: Box::new(|netlist, wave| activity::run_tile(spec, configuration, netlist, wave)),
        });
        self.measure(&package::tile(spec, rtl, &technology), Some(spec), run, library, tools)
    }

    fn run_program(&self, program: Program, library: &Library, tools: &Tools) -> Result<(), Diagnostic> {
        let (compiled, inputs, expected) = self.compiled(program)?;
        let technology = self.technology(&folder::tiles(&compiled))?;
        let files = folder::files(&compiled, Some(&technology), &inputs, &expected)?;
        let taken = inputs.values().map(|image| image.values().len() as u64).sum();
        let run = (!self.assumed_activity).then(|| Run {
            application: Application {
                name: compiled.program.name.clone(),
                texts: files.all().map(|(_, text)| text.as_str()).collect(),
                window: activity::OF_ACCELERATOR,
            },
            simulate: Box::new(|netlist, wave| {
                activity::run_accelerator(&files, netlist, wave).map(|given| Words { taken, given })
            }),
        });
        self.measure(&package::accelerator(&compiled, &files, &technology), None, run, library, tools)
    }

    /// The accelerator of a program, with its inputs and outputs.
    fn compiled(&self, program: Program) -> Result<(Dedicated, Images, Images), Diagnostic> {
        let compiled = self.choices.read()?.compile_file(program, &self.target)?;
        self.check_report(&Synthesized::Program(&compiled.program.to_string()))?;
        let inputs = images::named(&compiled.program, ArrayKind::Input, &self.inputs)?;
        let inputs =
            images::inputs(&compiled.program, program::constants(&self.target, self.choices.reading)?, &inputs)?;
        let expected = run_model(&compiled, &inputs)?;
        Ok((compiled, inputs, expected))
    }

    /// The memories of these tiles; the macro that was named is for the first.
    fn technology(&self, specs: &[&TileSpec]) -> Result<Technology, Diagnostic> {
        let first = specs.first().map(|spec| spec.name.clone()).unwrap_or_default();
        let named = self.sram.iter().map(|file| (first.clone(), file.clone())).collect_vec();
        technology::read(specs, &named, self.clock_gate.as_deref())
    }

    /// The clock: the report has the delays themselves.
    fn timing(&self) -> Timing {
        let default = Timing::default();
        let clock_period_ps = self.clock.unwrap_or(default.clock_period_ps);
        Timing { clock_period_ps, clock_uncertainty_percent: 0, ..default }
    }

    fn goal(&self) -> Optimize {
        match self.optimize {
            Goal::Area => Optimize::Area,
            Goal::Speed => Optimize::Speed,
        }
    }

    /// Synthesizes and reports; checks the netlist of a tile if that is wanted.
    fn measure(
        &self,
        package: &Package,
        spec: Option<&TileSpec>,
        run: Option<Run>,
        library: &Library,
        tools: &Tools,
    ) -> Result<(), Diagnostic> {
        let (timing, optimize) = (self.timing(), self.goal());
        let spinner = Spinner::new();
        let design = Design { package, timing: &timing, library, optimize, operations: &[] };
        let outcome = synthesize(&design, tools, |step| spinner.say(step)).and_then(|synthesis| {
            // The power of a program is a part of its report where it can be known; for a tile, somebody asked.
            let run = run.filter(|_| self.activity.is_some() || synthesis.report.power_unknown.is_none());
            let activity = run.map(|Run { application, simulate }| {
                measure(&design, &synthesis, &application, tools, simulate, |step| spinner.say(step))
            });
            let activity = activity.transpose()?;
            let Some((configurations, spec)) = self.check.zip(spec) else { return Ok((synthesis, activity, None)) };
            spinner.say("running the netlist");
            let checked = run_files(spec, &synthesis.netlist, &Verilator::find()?, SEED, configurations);
            checked.map(|counts| (synthesis, activity, Some(counts))).map_err(|failure| {
                let what = match failure.kind {
                    FailureKind::NotRun => "the netlist cannot be run",
                    FailureKind::Difference { .. } | FailureKind::Wrong => {
                        "the netlist does not do what the model does"
                    }
                };
                let error = Diagnostic::new(format!("{what}: {failure}"));
                let error = match failure.kind {
                    FailureKind::NotRun => error.or_code(Code::Tool),
                    FailureKind::Difference { .. } | FailureKind::Wrong => {
                        error.or_code(Code::Difference).as_fault("command")
                    }
                };
                error.with_help(
                    "this is a fault of pushmem or of a tool; please report it with the command and its inputs",
                )
            })
        });
        drop(spinner);
        let (synthesis, activity, checked) = outcome?;
        let proven = self.prove(&design, &synthesis, tools)?;
        let Synthesis { report, netlist, .. } = synthesis;
        if let (Some(path), Some((_, text))) = (&self.netlist, netlist.last()) {
            write_file(path, text.as_bytes())?;
        }
        let checked = checked.map(|counts| Checked { configurations: counts.configurations, cycles: counts.cycles });
        let found = Found { minimum_period_ps: report.minimum_period_ps(), report, activity, proven, checked };
        self.finish(&found)
    }
}

/// Runs a netlist, name and text of each file, and writes its waves.
type Simulate<'a> = dyn FnOnce(&[(String, String)], &Path) -> Result<Words, Diagnostic> + 'a;

/// The run of a netlist for its power.
struct Run<'a> {
    application: Application<'a>,
    simulate: Box<Simulate<'a>>,
}

/// All that was found.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    report: SynthesisReport,
    /// [`SynthesisReport::minimum_period_ps`].
    minimum_period_ps: Option<f64>,
    activity: Option<Activity>,
    #[serde(rename = "equivalence")]
    proven: Option<Proven>,
    #[serde(rename = "check")]
    checked: Option<Checked>,
}

impl Display for Found {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.report)?;
        if let Some(activity) = &self.activity {
            write!(formatter, "{activity}")?;
        }
        if let Some(Proven { blocks, signals }) = &self.proven {
            writeln!(
                formatter,
                "netlist            proven to do what the RTL does: {blocks} blocks, {signals} signals"
            )?;
        }
        if let Some(Checked { configurations, cycles }) = &self.checked {
            writeln!(
                formatter,
                "netlist            does what the model does: {configurations} configurations, {cycles} cycles"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pushmem_synthesis::{
        Accesses, Activity, Block, BlockKind, BlockPower, Optimize, Path, Paths, Power, SynthesisReport, Words,
    };

    use super::{Checked, Found, Proven};
    use crate::table::{COLUMNS, fit};

    /// Wide contents: as many cells as a chip has, in modules deep within it.
    #[test]
    fn the_tables_fit() {
        let deep = |end: &str| {
            format!("{end} in pushmem_iteration_domain_of_a_controller_with_a_long_name of the accelerator")
        };
        let path = Path {
            from: deep("counter"),
            to: deep("delta"),
            gates: usize::MAX,
            delay_ps: 1e9,
            cycles: 1.0,
            slowest: Some(("DFFPOSX1_WITH_A_LONG_NAME".to_owned(), 1e9)),
        };
        let paths = Paths {
            registers: Some(path.clone()),
            inputs: Some(path.clone()),
            outputs: Some(path.clone()),
            tracks_in: Some(path.clone()),
            tracks_out: Some(path.clone()),
            tracks_through: Some(path.clone()),
            through: Some(path),
            // Accelerators have none.
            operations: Vec::new(),
        };
        // With room for the total.
        let most = u32::MAX / 2;
        let block = |block| Block { block, instances: most, cells: most, flip_flops: most, macros: most, area: 1e9 };
        let report = SynthesisReport {
            design: "accelerator".to_owned(),
            library: "library".to_owned(),
            optimize: Optimize::Speed,
            clock_ps: most,
            blocks: vec![block(BlockKind::Registers), block(BlockKind::Rest)],
            macro_area: 0.0,
            timed_macros: false,
            paths,
            power: Some(Power { internal_mw: 1e6, switching_mw: 1e6, leakage_mw: 1e6 }),
            power_unknown: None,
        };
        let power = BlockPower {
            block: BlockKind::Rest,
            clock_mw: 1e3,
            cells_mw: 1e3,
            nets_mw: 1e3,
            leakage_mw: 1e3,
            accesses_mw: Some(1e3),
        };
        let activity = Activity {
            application: "accelerator_of_a_network".to_owned(),
            cycles: u64::MAX,
            words: Words { taken: u64::MAX / 2, given: u64::MAX / 2 },
            clock_ps: most,
            blocks: vec![power],
            clock_net_mw: 1e3,
            accesses: vec![Accesses { name: deep("memory"), reads: u64::MAX, writes: u64::MAX, energy_fj: None }],
        };
        let proven = Proven { blocks: usize::MAX, signals: most };
        let checked = Checked { configurations: u64::MAX, cycles: u64::MAX };
        let found = Found {
            minimum_period_ps: report.minimum_period_ps(),
            report,
            activity: Some(activity),
            proven: Some(proven),
            checked: Some(checked),
        };
        let text = fit(&found.to_string());
        let is_sentence = |line: &str| line.starts_with("power of") || line.starts_with("memory in");
        assert!(text.lines().all(|line| is_sentence(line) || line.chars().count() <= COLUMNS), "{text}");
        assert!(text.contains("counter in") && text.contains("power of") && text.contains("proven"), "{text}");
        let blocks = text.lines().filter(|line| line.starts_with("registers ") || line.starts_with("rest "));
        assert!(blocks.count() >= 2, "{text}");
    }
}
