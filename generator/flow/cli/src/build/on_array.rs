//! `pushmem build --array`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use itertools::Itertools;
use pushmem_bitstream::{BankedBitstream, Bitstream, Configuration};
use pushmem_bus::tile_files;
use pushmem_compiler::Compiled;
use pushmem_emulator::{BufferedInputs, BufferedOutputs, Emulator, Inputs, StreamOutputs};
use pushmem_fabric::{ArraySpec, TimingModel};
use pushmem_files::{Diagnostic, Document, OutputFolder, check_output};
use pushmem_images::Image;
use pushmem_interconnect::array_module;
use pushmem_lockstep::{Agreement, BufferedLockstep, Lockstep};
use pushmem_mapper::{
    ArrayTarget, Edited, Execution, HeaderProgram, Loading, LoadingCycles, Mapped, Occupant, Report, Sharing, Times,
    execute_buffered, execute_observed, header, lower,
};
use pushmem_nest::{ArrayKind, Program};
use pushmem_netlist::Netlist;
use pushmem_report::{Contents, RtlCheck};
use pushmem_routing::{Options, Progress};
use pushmem_tiling::Tiling;
use serde::Serialize;

use crate::application::choices::Chosen;
use crate::application::folder::{add_report, head};
use crate::application::{array_rtl, array_shell, arrays, images, tiles_of_images};
use crate::build::bus::ShellOptions;
use crate::build::fit::{self, Fitted};
use crate::build::{Build, EditedStages, Emit, line};
use crate::output;
use crate::own_command;
use crate::progress::Spinner;

/// The results of a build on an array.
#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    report: Report,
    /// The unroll factors, if they were chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<Fitted>,
    #[serde(flatten)]
    course: Course,
}

/// The checks and the times of a build on an array.
#[derive(Serialize)]
pub(super) struct Course {
    /// Whether the array's model computed what the interpreter computes.
    pub checked_by_model: bool,
    /// The clock, if one was asked for.
    pub clock: Option<Clock>,
    /// The run of the RTL that showed what the model shows, if it was run.
    pub rtl: Option<Agreement>,
    /// How long the bitstream took, if it was loaded from the banks of a global buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loading: Option<LoadingCycles>,
    /// Seconds to the bitstream, proof included.
    pub seconds: f64,
    /// Seconds of each step.
    pub steps: Times,
    /// Seconds of the run on the array's model, if there was one.
    pub model_seconds: Option<f64>,
}

impl Course {
    /// Of a build with this clock and these times, and of its run if there was one.
    pub(super) fn of(clock: Option<Clock>, seconds: f64, steps: Times, ran: Option<Ran>) -> Self {
        let checked_by_model = ran.is_some();
        let loading = ran.as_ref().and_then(|ran| ran.loading);
        let (rtl, model_seconds) = ran.map_or((None, None), |ran| (ran.rtl, Some(ran.seconds)));
        Course { checked_by_model, clock, rtl, loading, seconds, steps, model_seconds }
    }
}

impl Build {
    /// Compiles a program for an array.
    pub fn on_array(&self, program: Program, chosen: &Chosen, array: &Path) -> Result<(), Diagnostic> {
        if let Some(folder) = &self.folder {
            check_output(folder)?;
        }
        let shell = self.shell(&program)?;
        let target = ArrayTarget::new(arrays::read_named(array)?);
        self.check_package(&target.spec)?;
        // Before the compile, which may be long.
        let shape = shell.as_ref().map(|shell| self.array_shape(shell));
        shape.iter().try_for_each(|shape| shape.check(&target.spec))?;
        let timing = self.timing(&target.spec)?;
        let inputs = self.images(&program)?;
        let spinner = Spinner::new();
        let (program, fitted) = self.fitted(program, chosen, Some(&target), &spinner)?;
        spinner.say(&format!("compiling `{}` for `{}`", program.name, target.spec.name));
        let started = Instant::now();
        let options = Options { seed: self.seed, ..Options::default() };
        let edited = self.edited.read(self.graph.as_deref(), &target)?;
        let file = &self.file()?;
        let found = chosen.compile_file_for((&program, file), &target, &edited, options, &shown(&spinner));
        let (compiled, mapped) = match found {
            Err(refused) if edited.is_empty() => {
                let unplaced = || unplaced_text(self.emit?, &chosen.compile_unplaced(&program, &target).ok()?, &target);
                let text = unplaced().ok_or(refused)?;
                drop(spinner);
                return output::print(&text);
            }
            found => found?,
        };
        let seconds = started.elapsed().as_secs_f64();
        spinner.above(|| compiled.warnings().into_iter().for_each(output::report));
        let clock = self.clock(&target.spec, timing, [&mapped.lowered.netlist])?;
        if let Some(emit) = self.emit {
            drop(spinner);
            let of_mapper = mapped_text(emit, &mapped, &target).map(|text| Ok(Some(text)));
            let text = of_mapper.unwrap_or_else(|| emit.text(&compiled, |stage| stage.text(&compiled)))?;
            return output::print(&text.expect("all others are stages of the compiler"));
        }
        shape.iter().try_for_each(|shape| array_shell::check(&compiled, &mapped, &target, *shape))?;
        let report = Report::of(&compiled, &mapped, &target);
        self.say(&spinner, || format!("{}\n{report}{}", report.name, fit::lines(fitted.as_ref())))?;
        self.say(&spinner, || line("seconds", &format!("{seconds:.2}")))?;
        if let Some(clock) = &clock {
            self.say(&spinner, || line("clock", &clock.to_string()))?;
        }
        let steps = mapped.times;
        self.say(&spinner, || line("of these", &steps_line(&steps)))?;
        let ran = self.runs().then(|| {
            let occupant = Occupant { compiled: &compiled, mapped: &mapped, images: &inputs };
            self.run_on(&[occupant], &mapped.configuration, &target, &spinner)
        });
        let ran = ran.transpose()?;
        if let Some(ran) = &ran {
            self.say_ran(&spinner, &target, ran)?;
            images::write(&images::named(&compiled.program, ArrayKind::Output, &self.outputs)?, &ran.outputs[0])?;
        }
        let (expected, cycles) = match &ran {
            Some(ran) => (ran.outputs[0].clone(), ran.cycles[0]),
            None => Default::default(),
        };
        let outcome = Outcome { report, fit: fitted, course: Course::of(clock, seconds, steps, ran) };
        if let Some(path) = &self.folder {
            let (compiled, mapped, target) = (&compiled, &mapped, &target);
            let work = array_shell::Work { compiled, mapped, target, inputs: &inputs, outputs: &expected };
            let written = self.written(&work, &outcome, shell.as_ref(), cycles, &spinner)?;
            written.write(path)?;
            self.say(&spinner, || line("written to", &path.display().to_string()))?;
        }
        drop(spinner);
        if self.json {
            output::result(true, &outcome, String::new)?;
        }
        Ok(())
    }

    /// The files of a program on an array, which runs so many cycles, with the RTL and a testbench or a shell.
    fn written(
        &self,
        work: &array_shell::Work,
        outcome: &Outcome,
        shell: Option<&ShellOptions>,
        cycles: u64,
        spinner: &Spinner,
    ) -> Result<OutputFolder, Diagnostic> {
        let array_shell::Work { compiled, mapped, target, .. } = *work;
        let mut written = folder(compiled, mapped, target, &outcome.report);
        spinner.say("generating RTL");
        let mut page = outcome.course.page(array_rtl::in_words(array_rtl::choice(self.configured)), target);
        match shell {
            None => array_shell::add_testbench(&mut written, work, cycles)?,
            Some(shell) => {
                let part = array_shell::add(&mut written, work, self.array_shape(shell), cycles, &self.package)?;
                if let Some(tiling) = &shell.tiling {
                    let in_words = tiling.in_words(&compiled.program);
                    let files = tile_files(tiling, &in_words, &part.module, Some(&mapped.lowered.netlist.name));
                    let run = |tiling: &Tiling, inputs: &BTreeMap<String, Image>| {
                        tiles_of_images::run_in_graph(compiled, tiling, inputs)
                    };
                    self.add_tiles(&mut written, (&compiled.source, &run), tiling, files, spinner)?;
                }
                page.shell = Some(part);
            }
        }
        let top = format!("rtl/{}.sv", array_module(&target.spec));
        let top = written.files().find(|(file, _)| *file == Path::new(&top));
        page.ports = top.map(|(_, text)| head(&String::from_utf8_lossy(text))).unwrap_or_default();
        add_report(&mut written, &Contents::on_array(compiled, mapped, target, outcome.report.clone(), page)?);
        Ok(written)
    }
}

impl Course {
    /// The same for the page of the build.
    pub(super) fn page(&self, of_rtl: &str, target: &ArrayTarget) -> pushmem_report::Build {
        let of_rtl = if target.spec.global_buffer.is_some() { array_rtl::BUFFERED } else { of_rtl };
        let rtl = |Agreement { cycles, .. }: &Agreement| RtlCheck {
            cycles: *cycles,
            words: None,
            scenarios: vec![of_rtl.to_owned()],
        };
        pushmem_report::Build {
            command: own_command::text(),
            ports: String::new(),
            shell: None,
            clock: self.clock.as_ref().map(Clock::to_string),
            checked_by_model: self.checked_by_model,
            rtl: self.rtl.as_ref().map(rtl),
        }
    }
}

/// The clock of an array.
#[derive(Serialize)]
pub(super) struct Clock {
    /// The period that is asked for, in picoseconds.
    period_ps: u32,
    /// The least period, in picoseconds.
    least_ps: u32,
    /// The cell library.
    library: String,
}

impl Display for Clock {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Clock { period_ps, least_ps, library } = self;
        write!(formatter, "{period_ps} ps, {least_ps} ps or more in {library}")
    }
}

/// A run on the model of an array, and in its RTL if that was asked for.
pub(super) struct Ran {
    /// The outputs of each program.
    pub outputs: Vec<BTreeMap<String, Image>>,
    /// Cycles from the flush to the last word of each program.
    pub cycles: Vec<u64>,
    /// The run of the RTL.
    pub rtl: Option<Agreement>,
    /// How long the bitstream took, if it was loaded from the banks of a global buffer.
    pub loading: Option<LoadingCycles>,
    /// Seconds of the run.
    pub seconds: f64,
}

impl Build {
    /// Whether what a chip makes of the array is read, and there is a shell for it.
    ///
    /// # Errors
    /// When there is none, and as [`Package::technology_of_array`](crate::package::Package::technology_of_array).
    fn check_package(&self, spec: &ArraySpec) -> Result<(), Diagnostic> {
        if self.package.is_any() && self.bus.is_none() {
            let message = format!("without `--bus` there is no block of `{}` here that a chip uses", spec.name);
            let help = "`pushmem generate ARRAY --package` has the array for a chip; with `--bus axi` it has its shell";
            return Err(Diagnostic::new(message).with_help(help));
        }
        self.package.technology_of_array(spec).map(drop)
    }

    /// The timing model of the array, if a clock is asked for.
    pub(super) fn timing(&self, spec: &ArraySpec) -> Result<Option<TimingModel>, Diagnostic> {
        self.clock.map(|_| arrays::timing_model(spec, self.timing_model.as_deref())).transpose()
    }

    /// The clock of the array with these netlists, if one is asked for.
    pub(super) fn clock<'a>(
        &self,
        spec: &ArraySpec,
        model: Option<TimingModel>,
        netlists: impl IntoIterator<Item = &'a Netlist>,
    ) -> Result<Option<Clock>, Diagnostic> {
        let Some((period_ps, model)) = self.clock.zip(model) else { return Ok(None) };
        let operations: BTreeSet<&str> = netlists.into_iter().flat_map(Netlist::operations).collect();
        let least_ps = model.check_period(spec, period_ps, operations)?;
        Ok(Some(Clock { period_ps, least_ps, library: model.library }))
    }

    /// The way of a configuration into an array with a global buffer: from the banks, unless the other one was asked for, or a bank does not hold its part.
    fn loading(
        &self,
        configuration: &Configuration,
        ArrayTarget { spec, graph, .. }: &ArrayTarget,
    ) -> Result<Loading, Diagnostic> {
        let bitstream = configuration.encode(spec, graph)?;
        let is_held = BankedBitstream::of(&bitstream, spec).is_some_and(|banked| banked.check_room(spec).is_ok());
        Ok(if is_held && !self.configured { Loading::Banks } else { Loading::Port })
    }

    /// Says how a bitstream was loaded into an array with a global buffer, and what ran.
    pub(super) fn say_ran(&self, spinner: &Spinner, target: &ArrayTarget, ran: &Ran) -> Result<(), Diagnostic> {
        if let Some(LoadingCycles { cycles, cycles_word_by_word, rows, .. }) = ran.loading {
            let text = format!("{cycles} cycles from the banks after {rows} rows, {cycles_word_by_word} word by word");
            self.say(spinner, || line("configuration", &text))?;
        }
        let cycles = ran.cycles.iter().join(" and ");
        let result = format!("computes what the interpreter computes, {cycles} cycles from the flush");
        self.say(spinner, || line("model", &result))?;
        let result = match target.spec.global_buffer {
            Some(_) => array_rtl::BUFFERED,
            None => array_rtl::in_words(array_rtl::choice(self.configured)),
        };
        ran.rtl.iter().try_for_each(|_| self.say(spinner, || line("RTL", result)))
    }

    /// Runs a configuration with its programs, and compares their outputs with those of the interpreter.
    pub(super) fn run_on(
        &self,
        occupants: &[Occupant],
        configuration: &Configuration,
        target: &ArrayTarget,
        spinner: &Spinner,
    ) -> Result<Ran, Diagnostic> {
        let of_program = |occupant: &Occupant| occupant.compiled.source.run(occupant.images);
        let expected: Vec<BTreeMap<String, Image>> = occupants.iter().map(of_program).try_collect()?;
        if target.spec.global_buffer.is_some() {
            let loading = self.loading(configuration, target)?;
            let lockstep = self.rtl.then(|| array_rtl::start_buffered(target, configuration, loading, spinner));
            let mut lockstep = lockstep.transpose()?;
            spinner.say("running the model of the array");
            let mut observe = |inputs: &BufferedInputs, outputs: &BufferedOutputs| {
                lockstep.iter_mut().for_each(|lockstep| lockstep.observe(inputs, outputs));
            };
            let started = Instant::now();
            let run = execute_buffered(occupants, configuration, target, loading, &mut observe)?;
            let time = started.elapsed();
            let rtl = lockstep.map(BufferedLockstep::finish).transpose()?;
            let ran = ran(expected, &run.executions, rtl, time)?;
            return Ok(Ran { loading: run.loading, ..ran });
        }
        let lockstep = self.rtl.then(|| {
            let emulator = Emulator::new(&target.spec, target.graph.clone());
            array_rtl::start(&emulator, configuration, array_rtl::choice(self.configured), spinner)
        });
        let mut lockstep = lockstep.transpose()?;
        spinner.say("running the model of the array");
        let mut observe = |inputs: &Inputs, outputs: &[StreamOutputs]| {
            lockstep.iter_mut().for_each(|lockstep| lockstep.observe(inputs, outputs));
        };
        let started = Instant::now();
        let executions = execute_observed(occupants, configuration, target, &mut observe)?;
        let time = started.elapsed();
        let rtl = lockstep.map(Lockstep::finish).transpose()?;
        ran(expected, &executions, rtl, time)
    }
}

/// The run of programs whose outputs are those of the interpreter.
fn ran(
    expected: Vec<BTreeMap<String, Image>>,
    executions: &[Execution],
    rtl: Option<Agreement>,
    time: Duration,
) -> Result<Ran, Diagnostic> {
    for (expected, execution) in expected.iter().zip(executions) {
        for (name, image) in expected {
            let compared = images::compare(name, image, &execution.outputs[name], "the model of the array");
            compared.map_err(|error| error.as_fault("program"))?;
        }
    }
    let cycles = executions.iter().map(|execution| execution.cycles).collect();
    Ok(Ran { outputs: expected, cycles, rtl, loading: None, seconds: time.as_secs_f64() })
}

/// Shows the steps of placement and routing.
pub(super) fn shown(spinner: &Spinner) -> impl Fn(Progress) + Sync {
    |step: Progress| match step {
        Progress::Placed { seed } => spinner.say(&format!("routing with seed {seed}")),
        Progress::Restarted { seed, rounds } => {
            spinner.say(&format!("routing with seed {seed}, start cycles changed {rounds} times"));
        }
    }
}

impl EditedStages {
    /// Reads the stages.
    fn read(&self, graph: Option<&Path>, target: &ArrayTarget) -> Result<Edited, Diagnostic> {
        let document = |path: &Option<PathBuf>| path.as_deref().map(Document::read).transpose();
        let configuration =
            self.configuration.as_deref().map(|path| arrays::configuration(path, &target.spec, &target.graph));
        Ok(Edited {
            graph: graph.map(Document::read).transpose()?,
            netlist: document(&self.netlist)?,
            placement: document(&self.placement)?,
            routing: document(&self.routing)?,
            configuration: configuration.transpose()?,
        })
    }
}

/// The seconds of the steps that take some as people read them.
pub(super) fn steps_line(steps: &Times) -> String {
    let Times { compile, place_and_route, proof, .. } = steps;
    format!("{compile:.2} compile, {place_and_route:.2} place and route, {proof:.2} proof")
}

/// A stage of the mapper as text; nothing, if it is one of the compiler.
fn mapped_text(emit: Emit, mapped: &Mapped, ArrayTarget { spec, graph, .. }: &ArrayTarget) -> Option<String> {
    let netlist = &mapped.lowered.netlist;
    let implementation = &mapped.implementation;
    Some(match emit {
        Emit::Netlist => netlist.to_yaml(spec),
        Emit::Placement => implementation.placement.to_yaml(netlist, spec),
        Emit::Routing => implementation.routing.to_yaml(netlist, spec, graph),
        Emit::Bitstream => mapped.bitstream.to_text(&spec.name),
        Emit::Config => mapped.configuration.to_yaml(spec, graph),
        _ => return None,
    })
}

/// A stage before placement as text, of a program that may have no place on the array; nothing if the stage is a later one, or if
/// the array cannot compute the program.
fn unplaced_text(emit: Emit, compiled: &Compiled, ArrayTarget { spec, .. }: &ArrayTarget) -> Option<String> {
    match emit {
        Emit::Netlist => Some(lower(compiled, spec, Sharing::Shared).ok()?.netlist.to_yaml(spec)),
        other => other.text(compiled, |stage| stage.text(compiled)).ok()?,
    }
}

/// Adds the bitstream as it is in the banks of a global buffer, if there is one.
pub(super) fn add_banks(folder: &mut OutputFolder, name: &str, bitstream: &Bitstream, spec: &ArraySpec) {
    if let Some(banked) = BankedBitstream::of(bitstream, spec) {
        folder.add(format!("{name}_banks.hex"), banked.to_text(spec));
    }
}

/// The files of a program on an array, without the page.
pub(super) fn folder(compiled: &Compiled, mapped: &Mapped, target: &ArrayTarget, report: &Report) -> OutputFolder {
    let name = &mapped.lowered.netlist.name;
    let mut folder = OutputFolder::new();
    let stage = |emit: Emit| mapped_text(emit, mapped, target).expect("these are stages of the mapper");
    folder.add(format!("{name}.hex"), stage(Emit::Bitstream));
    add_banks(&mut folder, name, &mapped.bitstream, &target.spec);
    folder.add(
        format!("{name}.h"),
        header(name, &[HeaderProgram { compiled, mapped, columns: None }], &mapped.bitstream, target),
    );
    folder.add("configuration.yaml", stage(Emit::Config));
    folder.add("netlist.yaml", stage(Emit::Netlist));
    folder.add("placement.yaml", stage(Emit::Placement));
    folder.add("routing.yaml", stage(Emit::Routing));
    folder.add(format!("{}.yaml", target.spec.name), target.spec.to_yaml());
    folder.add("report.txt", format!("{name}\n{report}"));
    let json = serde_json::to_string_pretty(report).expect("figures are numbers and names");
    folder.add("report.json", json + "\n");
    folder
}
