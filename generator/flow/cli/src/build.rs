//! `pushmem build`.

mod bus;
mod copies;
mod fit;
mod on_array;
mod side_by_side;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Command, FromArgMatches, ValueEnum};
use pushmem_bus::{Shell, tile_files};
use pushmem_compiler::{CompileStage, Compiled, Trial, with_next_step};
use pushmem_composition::Files;
use pushmem_files::{Diagnostic, Document, check_output};
use pushmem_images::Image;
use pushmem_nest::{ArrayKind, Program};
use pushmem_packaging::Design;
use pushmem_realization::{Dedicated, Report};
use pushmem_report::RtlCheck;
use pushmem_tiling::Tiling;
use serde::Serialize;

use self::bus::{Bus, MemoryBus, ShellOptions, Size, size};
use self::fit::{Fit, Fitted};
use crate::application::choices::Choices;
use crate::application::rtl::{RtlResult, RtlRun};
use crate::application::{folder, images, program, rtl, run_model, tiles_of_images};
use crate::origin;
use crate::output;
use crate::own_command;
use crate::package::{self, FOLDER, Package, RTL};
use crate::progress::Spinner;
use crate::table::fit;
use crate::waves;

/// Seed of the placement on an array.
const FIRST_SEED: u64 = 1;

#[derive(Args)]
#[command(group(ArgGroup::new(RTL).multiple(true)))]
pub struct Build {
    /// Program: a loop nest, a pipeline of Halide, named *.hlpipe, or a network, named *.onnx or *.tflite. With --array several programs, each on columns of its own;
    /// `PROGRAM:COUNT` is so many copies of one.
    #[arg(required = true, value_name = "PROGRAM")]
    programs: Vec<PathBuf>,
    #[command(flatten)]
    choices: Choices,
    #[command(flatten)]
    fit: Fit,
    /// Array to run on, in place of hardware of its own: a specification, or the name of one in `constraints/arrays`. Its memory tile
    /// takes the place of `--tile`.
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["memories", "tile", "wave", "prefix", "stall_latency"])]
    pub array: Option<PathBuf>,
    /// Clock period in picoseconds that the array is to have: refused where its timing model has a longer path.
    #[arg(long, value_name = "PS", requires = "array")]
    clock: Option<u32>,
    /// Timing model of the array for --clock: a file, or the name of one in `constraints/timing_models`. Without, that of the array's name.
    #[arg(long, value_name = "MODEL", requires = "clock")]
    timing_model: Option<PathBuf>,
    /// Seed of the placement on an array.
    #[arg(long, value_name = "NUMBER", default_value_t = FIRST_SEED, requires = "array")]
    seed: u64,
    #[command(flatten)]
    edited: EditedStages,
    /// Folder for RTL, configurations, C header and testbench, replaced if a former run wrote it.
    #[arg(id = FOLDER, short = 'o', long = "folder", value_name = "FOLDER", group = RTL)]
    folder: Option<PathBuf>,
    /// Image for an input: .npy, .pgm, .ppm, .png or .hex. The name may be left out where there is one input. Inputs without an image are
    /// random. Of several programs, NAME is PROGRAM.NAME.
    #[arg(long = "input", value_name = "[NAME=]FILE")]
    pub inputs: Vec<String>,
    /// Where to write an output, in the format of the file's ending. The name may be left out where there is one output.
    #[arg(long = "output", value_name = "[NAME=]FILE")]
    pub outputs: Vec<String>,
    /// Run the RTL as well, in Verilator: at full speed, with random stalls, and in three runs without a gap; compare every word. On an
    /// array, run the RTL of the tiles with the bitstream as constants beside the model; compare every output in every cycle.
    #[arg(long, group = RTL)]
    pub rtl: bool,
    /// With --rtl on an array: run the array as it is, and load the bitstream. It is built once for all programs, and slower. An array with a
    /// global buffer runs as it is anyway: load the bitstream word by word, in place of from the banks.
    #[arg(long, requires_all = ["array", "rtl"])]
    configured: bool,
    /// Write the waves of the RTL at full speed (FST), and beside them layouts for GTKWave and Surfer. Implies --rtl, whose other
    /// runs are compared as well.
    #[arg(long, value_name = "FILE", group = RTL, value_parser = waves::wave_file)]
    wave: Option<PathBuf>,
    /// Print a stage of the compile instead of the report; nothing else is done.
    #[arg(long, value_enum, value_name = "STAGE", conflicts_with_all = ["folder", "inputs", "outputs", "rtl", "wave", "package", "sram", "clock_gate", "json"])]
    emit: Option<Emit>,
    /// Application graph that is realized, as `--emit graph` writes it, perhaps edited. It is proven first.
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// Prefix of the names of all modules: two versions of pushmem have their accelerators in one chip.
    #[arg(long, value_name = "PREFIX", value_parser = origin::prefix, requires = FOLDER)]
    prefix: Option<String>,
    /// Also write a shell that connects the accelerator, or the array, to the buses of a system, and what tools want to know of it:
    /// IP-XACT, a package for FuseSoC, the kernel description of Vitis, its registers in C.
    #[arg(long, value_enum, value_name = "BUS", requires = FOLDER)]
    bus: Option<Bus>,
    #[command(flatten)]
    memory: MemoryBus,
    /// With `--bus axi`: the size of a larger output, in all its dimensions, the innermost first, of which the program computes a tile.
    /// The driver has the places of all tiles.
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "bus")]
    image_size: Option<Size>,
    /// The former name of --image-size.
    #[arg(long = "image", value_name = "SIZE", value_parser = size, requires = "bus", conflicts_with = "image_size", hide = true)]
    former_image_size: Option<Size>,
    #[command(flatten)]
    package: Package,
    /// Report as JSON.
    #[arg(long)]
    pub json: bool,
    /// Whether the model runs though nothing is written.
    #[arg(skip)]
    pub is_run: bool,
}

/// Stages of a build on an array, as `--emit` writes them, perhaps edited. Each is checked, and the bitstream is proven.
#[derive(Args)]
struct EditedStages {
    /// Netlist in place of the one that selection makes, as `--emit netlist` writes it, perhaps edited.
    #[arg(long, value_name = "FILE", requires = "array")]
    netlist: Option<PathBuf>,
    /// Tiles of cells in place of a placement, as `--emit placement` writes them, perhaps edited.
    #[arg(long, value_name = "FILE", requires = "array", conflicts_with = "seed")]
    placement: Option<PathBuf>,
    /// Starts and routes, as `--emit routing` writes them, perhaps edited. It takes their placement.
    #[arg(long, value_name = "FILE", requires = "placement")]
    routing: Option<PathBuf>,
    /// Configuration or bitstream, as `--emit config` and `--emit bitstream` write them, perhaps edited; the content tells which. The
    /// streams are on the tiles of the placement, which it takes.
    #[arg(long, value_name = "FILE", requires = "placement", conflicts_with = "routing")]
    configuration: Option<PathBuf>,
}

/// Stages by the names of the command line.
#[derive(Clone, Copy, ValueEnum)]
enum Emit {
    /// The program as the compiler understood it.
    Loopnest,
    /// When each stage runs.
    Schedule,
    /// The unified buffer of each array.
    Buffers,
    /// The datapath graph of each operation.
    Kernels,
    /// The application graph: operations and nets, each edge with its delay. `--graph` reads it.
    Graph,
    /// Kernels, shift registers, memory tiles and wires.
    Mapping,
    /// The configuration of each tile. On an array, `--configuration` reads it.
    Config,
    /// On an array: the cells that tiles execute, and the nets between them, packed: each cell is one tile, constants and registers
    /// are in it. `--netlist` reads it.
    #[value(alias = "packed")]
    Netlist,
    /// On an array: the tile of each cell. `--placement` reads it.
    Placement,
    /// On an array: when each cell starts, and the tracks of each connection. `--routing` reads it.
    Routing,
    /// On an array: the register writes. `--configuration` reads them.
    Bitstream,
    /// The program with the next step of the report: twice the copies of what is too slow.
    NextStep,
}

impl Emit {
    /// The stage of the compiler as text, by the back end's own text of a stage; nothing, if it is one of the mapper.
    fn text(self, compiled: &Compiled, text: impl Fn(CompileStage) -> String) -> Result<Option<String>, Diagnostic> {
        let stage = match self {
            Emit::Loopnest => CompileStage::LoopNest,
            Emit::Schedule => CompileStage::Schedule,
            Emit::Buffers => CompileStage::Buffers,
            Emit::Kernels => CompileStage::Kernels,
            Emit::Graph => CompileStage::Graph,
            Emit::Mapping => CompileStage::Mapping,
            Emit::Config => CompileStage::Config,
            Emit::NextStep => return with_next_step(compiled).map(|program| Some(program.to_string())),
            Emit::Netlist | Emit::Placement | Emit::Routing | Emit::Bitstream => return Ok(None),
        };
        Ok(Some(text(stage)))
    }
}

impl Build {
    /// A build of the program of a file that writes nothing, with these choices, as the command line without other options has it.
    pub fn of(program: PathBuf, choices: Choices) -> Self {
        let words = ["build".into(), "--".into(), program.into_os_string()];
        let matches = Build::augment_args(Command::new("build")).get_matches_from(words);
        let build = Build::from_arg_matches(&matches).expect("a program is all that it needs");
        Build { choices, ..build }
    }

    pub fn run(&self) -> Result<(), Diagnostic> {
        self.run_programs(copies::read(&self.programs, self.choices.reading)?)
    }

    /// Builds the programs, which are those of the files.
    pub fn run_programs(&self, mut programs: Vec<Program>) -> Result<(), Diagnostic> {
        let chosen = self.choices.read()?;
        match (&self.array, programs.len()) {
            (Some(array), 1) => return self.on_array(programs.remove(0), &chosen, array),
            (Some(array), _) => return self.side_by_side(&programs, &chosen, array),
            (None, 1) => {}
            (None, _) => {
                let refused = Diagnostic::new("several programs need an array on which they are side by side");
                return Err(refused.with_help("name one with `--array`, or build one program at a time"));
            }
        }
        let program = programs.remove(0);
        self.package.check(&chosen.specs())?;
        // Before the compile, which may be long.
        let shell = self.shell(&program)?;
        if let Some(folder) = &self.folder {
            check_output(folder)?;
        }
        let spinner = Spinner::new();
        let (program, fitted) = self.fitted(program, &chosen, None, &spinner)?;
        spinner.say(&format!("compiling `{}`", program.name));
        let mut compiled = chosen.compile_file(program, &self.file()?)?;
        if let Some(path) = &self.graph {
            compiled = compiled.with_graph_of(&Document::read(path)?)?;
        }
        spinner.above(|| compiled.warnings().into_iter().for_each(output::report));
        if let Some(emit) = self.emit {
            drop(spinner);
            let text = emit.text(&compiled, |stage| compiled.text(stage))?.ok_or_else(|| {
                Diagnostic::new("dedicated hardware has no such stage").with_help("choose an array by `--array`")
            })?;
            return output::print(&text);
        }
        // A command that fails for a wrong file says nothing else.
        let inputs = self.images(&compiled.program)?;
        let report = Report::of(&compiled);
        // The report is printed before the next piece of work, which may be long.
        self.say(&spinner, || format!("{}\n{report}{}", report.name, fit::lines(fitted.as_ref())))?;
        let trials = compiled.trials.clone();
        let mut outcome = Outcome { report, fit: fitted, trials, checked_by_model: false, rtl: None };
        if self.runs() || self.simulates() {
            self.run_and_write(&compiled, &inputs, &mut outcome, shell.as_ref(), &spinner)?;
        }
        drop(spinner);
        if self.json {
            output::result(true, &outcome, String::new)?;
        }
        Ok(())
    }

    /// The file of the only program.
    fn file(&self) -> Result<PathBuf, Diagnostic> {
        copies::file(&self.programs[0])
    }

    /// The images of a program, where its outputs can be written. Without a run nothing reads images, which may be large: there are none.
    fn images(&self, program: &Program) -> Result<BTreeMap<String, Image>, Diagnostic> {
        if !self.runs() && !self.simulates() {
            return Ok(BTreeMap::new());
        }
        let inputs = images::named(program, ArrayKind::Input, &self.inputs)?;
        images::check_outputs(program, &inputs, &images::named(program, ArrayKind::Output, &self.outputs)?)?;
        images::inputs(program, program::constants(&self.file()?, self.choices.reading)?, &inputs)
    }

    /// Whether the model runs.
    fn runs(&self) -> bool {
        self.is_run || self.rtl || self.folder.is_some() || !self.inputs.is_empty() || !self.outputs.is_empty()
    }

    fn simulates(&self) -> bool {
        self.rtl || self.wave.is_some()
    }

    /// Runs the accelerator in the model, and in RTL if that is wanted; writes what is to be written.
    fn run_and_write(
        &self,
        compiled: &Dedicated,
        inputs: &BTreeMap<String, Image>,
        outcome: &mut Outcome,
        shell: Option<&ShellOptions>,
        spinner: &Spinner,
    ) -> Result<(), Diagnostic> {
        spinner.say("running the model");
        let expected = run_model(compiled, inputs)?;
        outcome.checked_by_model = true;
        self.say(spinner, || line("model", "computes what the interpreter computes"))?;
        if self.folder.is_some() || self.simulates() {
            spinner.say("generating RTL");
            let technology = self.package.technology(&folder::tiles(compiled))?;
            let mut files = folder::files(compiled, technology.as_ref(), inputs, &expected)?;
            if self.simulates() {
                let rtl = rtl::run(&files, self.wave.as_deref(), spinner)?;
                self.say(spinner, || rtl_lines(&outcome.report.name, &rtl.result))?;
                outcome.rtl = Some(rtl);
            }
            if let Some(path) = &self.folder {
                let around = shell.map(|options| folder::shell(compiled, &files, options.memory)).transpose()?;
                let page = outcome.page(&files, around.as_ref());
                let mut written = folder::contents(&mut files, compiled, &outcome.report, outcome.to_json(), page);
                let blocks = folder::blocks(compiled)?;
                let design = |technology| {
                    let testbench = files.harness.iter().map(|(path, _)| path.clone()).collect();
                    let within = Design { testbench, blocks, ..package::accelerator(compiled, &files, technology) };
                    match &around {
                        Some(around) => package::shell(around, within),
                        None => within,
                    }
                };
                self.package.add(&mut written, &technology, around.is_some(), design)?;
                if let Some(Shell { module, files, .. }) = around {
                    written.add_all(files);
                    if let Some(tiling) = shell.and_then(|options| options.tiling.as_ref()) {
                        let tiling_of_shell = tiling.of_images(folder::images(compiled));
                        let in_words = tiling_of_shell.in_words(&compiled.program);
                        let files = tile_files(&tiling_of_shell, &in_words, &module, None);
                        let run = |tiling: &Tiling, inputs: &BTreeMap<String, Image>| {
                            tiles_of_images::run(compiled, tiling, inputs, || ())
                        };
                        self.add_tiles(&mut written, (&compiled.source, &run), tiling, files, spinner)?;
                    }
                }
                folder::origin(compiled).sign(&mut written);
                if let Some(prefix) = &self.prefix {
                    origin::rename_modules(&mut written, prefix);
                }
                written.write(path)?;
            }
        }
        images::write(&images::named(&compiled.program, ArrayKind::Output, &self.outputs)?, &expected)?;
        if let Some(folder) = &self.folder {
            let written = format!("{}: `make` there simulates the RTL", folder.display());
            self.say(spinner, || line("written to", &written))?;
        }
        Ok(())
    }

    /// Prints a part of the report for people.
    fn say(&self, spinner: &Spinner, text: impl FnOnce() -> String) -> Result<(), Diagnostic> {
        if self.json { Ok(()) } else { spinner.above(|| output::say(&fit(&text()))) }
    }
}

/// A line of the report.
fn line(name: &str, value: &str) -> String {
    format!("  {name:<22} {value}\n")
}

/// The results of the RTL, a line for each run.
fn rtl_lines(name: &str, result: &RtlResult) -> String {
    let prefix = format!("{name}: ");
    result.scenarios.iter().map(|scenario| line("RTL", scenario.strip_prefix(&prefix).unwrap_or(scenario))).collect()
}

/// The results of a build.
#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    report: Report,
    /// The unroll factors, if they were chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<Fitted>,
    /// The schedules that were tried.
    trials: Vec<Trial>,
    /// Whether the model computed what the interpreter computes.
    checked_by_model: bool,
    /// The result of the RTL, if it was run.
    rtl: Option<RtlRun>,
}

/// The same as the folder keeps it: without what another run would change.
#[derive(Serialize)]
struct Kept<'a> {
    #[serde(flatten)]
    report: &'a Report,
    checked_by_model: bool,
    rtl: Option<&'a RtlResult>,
}

impl Outcome {
    fn to_json(&self) -> String {
        let Outcome { report, checked_by_model, rtl, .. } = self;
        let kept = Kept { report, checked_by_model: *checked_by_model, rtl: rtl.as_ref().map(|rtl| &rtl.result) };
        serde_json::to_string_pretty(&kept).expect("figures are numbers and names") + "\n"
    }

    /// The same for the page of the build.
    fn page(&self, files: &Files, shell: Option<&Shell>) -> pushmem_report::Build {
        let rtl = self.rtl.as_ref().map(|RtlRun { result, .. }| RtlCheck {
            cycles: result.cycles,
            words: Some(result.words),
            scenarios: result.scenarios.clone(),
        });
        pushmem_report::Build {
            command: own_command::text(),
            ports: folder::ports(&files.rtl, &files.top_module),
            shell: shell.map(folder::shell_part),
            clock: None,
            checked_by_model: self.checked_by_model,
            rtl,
        }
    }
}
