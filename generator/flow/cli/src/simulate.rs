//! `pushmem simulate`.

mod arrays;

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use itertools::Itertools;
use pushmem_configuration::Configuration;
use pushmem_files::{Code, Diagnostic, StreamFile, WordLines, read_words, write_all_through};
use pushmem_registers::RegisterMap;
use pushmem_rtl::tile_module;
use pushmem_simulation::{
    BenchError, Event, RtlProcess, StreamOptions, StreamRun, Verilator, WRITES, run_length, run_streams,
};
use pushmem_tile::{Kind, Mode, Role, TileSpec};
use pushmem_waves::tile_view;
use serde::Serialize;

use crate::application::{rtl, tiles};
use crate::kinds::{self, FileKind};
use crate::progress::{Bar, Spinner};
use crate::{output, waves};

/// Violations shown one by one.
const SHOWN_VIOLATIONS: usize = 10;

/// On words for which no row is fetched.
const UNFETCHED_HELP: &str =
    "a word does no harm where nothing uses it, as outside of `stencil_valid`; --strict refuses such words";

/// Bits of the cycle numbers in a stream of `stencil_valid`, in which longer ones have more digits.
const CYCLE_BITS: u32 = 32;

/// The commands that run Verilator, for `doctor`.
pub const WITH_VERILATOR: &str = "simulate --rtl, simulate --wave";

#[derive(Args)]
#[command(after_help = "A program is simulated by `pushmem build PROGRAM --rtl`.")]
pub struct Simulate {
    /// Tile: a specification, or the name of one in `constraints/tiles`; or the specification of an array.
    spec: PathBuf,
    /// Configuration of the tile or array, or bitstream of the array.
    configuration: PathBuf,
    /// Words for an input, one for each firing of its controller. Inputs without a file are random. Those of an array are its
    /// columns.
    #[arg(long = "input", value_name = "PORT=FILE", value_parser = port_file)]
    inputs: Vec<(usize, PathBuf)>,
    /// Where to write the words of an output; of `stencil_valid`, the cycles in which it is high.
    #[arg(short, long = "output", value_name = "PORT=FILE", value_parser = output_file)]
    outputs: Vec<(Output, PathBuf)>,
    /// Run the RTL as well, in Verilator, and compare every output in every cycle. Of an array, it is the RTL of the tiles with the
    /// bitstream as constants.
    #[arg(long)]
    rtl: bool,
    /// With --rtl of an array: run the array as it is, and load the bitstream. It is built once for all bitstreams, and slower.
    #[arg(long, requires = "rtl")]
    configured: bool,
    /// Write the waves of the RTL (FST), and beside them layouts for GTKWave and Surfer. Implies --rtl.
    #[arg(long, value_name = "FILE", value_parser = waves::wave_file)]
    wave: Option<PathBuf>,
    /// Stall at random cycles.
    #[arg(long, value_name = "N")]
    stall_seed: Option<u64>,
    /// Accesses of a tile in the mode `ram`, one a line: the address of a word to read, or an address and a word to write.
    #[arg(long, value_name = "FILE")]
    accesses: Option<PathBuf>,
    /// In the modes `fifo` and `ram`: offer words and accesses, and take words, in random cycles; otherwise in all.
    #[arg(long, value_name = "N")]
    pause_seed: Option<u64>,
    /// Of a tile: refuse words for which no row is fetched, such as those after the last row. Otherwise they are a warning.
    #[arg(long)]
    strict: bool,
    /// Stop after this many unstalled cycles; otherwise when all controllers are done.
    #[arg(long, value_name = "N")]
    cycles: Option<u64>,
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct JsonReport<'a> {
    tile: &'a str,
    cycles: u64,
    words_taken: &'a [u64],
    words_shown: &'a [u64],
    stencil_valid: Option<u64>,
    rtl_compared: bool,
    violations: Vec<String>,
    unread_rows: &'a [String],
    unfetched_words: &'a [String],
}

/// An output with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Output {
    Data(usize),
    StencilValid,
}

impl fmt::Display for Output {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Output::Data(port) => write!(formatter, "output {port}"),
            Output::StencilValid => formatter.write_str(Role::StencilValid.name()),
        }
    }
}

fn output_file(text: &str) -> Result<(Output, PathBuf), String> {
    match text.split_once('=') {
        Some((port, file)) if port == Role::StencilValid.name() => Ok((Output::StencilValid, file.into())),
        _ => port_file(text).map(|(port, file)| (Output::Data(port), file)),
    }
}

fn port_file(text: &str) -> Result<(usize, PathBuf), String> {
    let (port, file) = text.split_once('=').ok_or("expected the number of a port, `=` and a file, such as 0=a.hex")?;
    let port = port.parse().map_err(|_| format!("`{port}` is not the number of a port"))?;
    Ok((port, file.into()))
}

impl Simulate {
    pub fn run(&self) -> Result<(), Diagnostic> {
        if let Some(spec) = crate::application::arrays::read_file(&self.spec)? {
            if self.strict {
                let message = format!("{}: --strict is for tiles", self.spec.display());
                return Err(Diagnostic::new(message)
                    .with_help("which row a word of an array is from is not followed; leave it out"));
            }
            return self.array(&spec);
        }
        if self.configured {
            let message = format!("{}: --configured is for arrays", self.spec.display());
            return Err(Diagnostic::new(message).with_help("a tile always loads its configuration; leave it out"));
        }
        let spec = tiles::read_named(&self.spec)?;
        let configuration = kinds::configuration(&self.configuration, &spec)?;
        let inputs = match configuration.mode {
            Mode::UnifiedBuffer => {
                self.check_unified_buffer()?;
                self.read_inputs(&spec)?
            }
            mode => self.read_inputs_of_mode(&spec, mode)?,
        };
        self.check_outputs(&spec)?;
        let mut run = None;
        let mut simulate = |wave: Option<&Path>| self.write_streams(&spec, &configuration, &inputs, wave, &mut run);
        let outcome = match &self.wave {
            Some(wave) => {
                let view = tile_view(&spec, &tile_module(&spec), &configuration);
                waves::write(wave, &view, |path| simulate(Some(path)))
            }
            None => simulate(None),
        };
        if let Some(run) = &run {
            self.report(&spec, &configuration, run)?;
        }
        outcome
    }

    /// Simulates, and writes the streams that are asked for: all, or none if the configuration breaks promises. The streams
    /// are in `finished` either way.
    fn write_streams(
        &self,
        spec: &TileSpec,
        configuration: &Configuration,
        inputs: &[Option<Vec<u64>>],
        wave: Option<&Path>,
        finished: &mut Option<StreamRun>,
    ) -> Result<(), Diagnostic> {
        let paths: Vec<&Path> = self.outputs.iter().map(|(_, path)| path.as_path()).collect();
        write_all_through(&paths, |temporaries| {
            let create = |((output, path), temporary): (&(Output, PathBuf), &PathBuf)| {
                let bits = if *output == Output::StencilValid { CYCLE_BITS } else { spec.word_bits };
                Ok((*output, StreamFile::create(temporary, path, bits)?))
            };
            let mut files: Vec<(Output, StreamFile)> =
                self.outputs.iter().zip(temporaries).map(create).collect::<Result<_, Diagnostic>>()?;
            let mut record = |cycle: u64, event: Event| {
                let (output, word) = match event {
                    Event::Taken { .. } => return,
                    Event::Shown { output, word } => (Output::Data(output), word),
                    Event::StencilValid => (Output::StencilValid, cycle),
                };
                if let Some((_, file)) = files.iter_mut().find(|(port, _)| *port == output) {
                    file.push(word);
                }
            };
            let run = finished.insert(self.simulate(spec, configuration, inputs, wave, &mut record)?);
            if !run.violations.is_empty() {
                return Err(violations(run));
            }
            if self.strict && !run.unfetched_words.is_empty() {
                return Err(unfetched(run));
            }
            files.into_iter().try_for_each(|(_, file)| file.finish())
        })
    }

    fn simulate(
        &self,
        spec: &TileSpec,
        configuration: &Configuration,
        inputs: &[Option<Vec<u64>>],
        wave: Option<&Path>,
        on_event: &mut dyn FnMut(u64, Event),
    ) -> Result<StreamRun, Diagnostic> {
        let map = RegisterMap::of(spec);
        let mut rtl = self.start_rtl(spec, wave)?;
        let length = u64::try_from(run_length(spec, configuration)).unwrap_or(u64::MAX);
        let bar = Bar::of_cycles(&spec.name, self.cycles.unwrap_or(length));
        let progress = |cycle| bar.reached(cycle);
        let options = StreamOptions {
            stall_seed: self.stall_seed,
            cycles: self.cycles,
            pause_seed: self.pause_seed,
            progress: Some(&progress),
            ..StreamOptions::default()
        };
        let run = run_streams(spec, &map, configuration, inputs, rtl.as_mut(), &options, on_event)
            .map_err(|error| self.explain(error, configuration));
        bar.clear();
        // Only a process that ends by itself completes its wave. The error that stopped the run matters more than how it ends.
        let end = rtl.map_or(Ok(()), RtlProcess::finish);
        let run = run?;
        end?;
        Ok(run)
    }

    fn read_inputs(&self, spec: &TileSpec) -> Result<Vec<Option<Vec<u64>>>, Diagnostic> {
        let mut inputs = vec![None; spec.inputs as usize];
        // An input is a word, or for a ROM an address.
        let limit = if spec.kind == Kind::Rom { u64::from(spec.rows) - 1 } else { u64::MAX };
        for (port, path) in &self.inputs {
            let place = inputs.get_mut(*port).ok_or_else(|| no_port("input", *port, spec.inputs))?;
            if place.is_some() {
                return Err(Diagnostic::new(format!("input {port} has two files")).with_help("give one for each input"));
            }
            kinds::expect(path, &[FileKind::Words])?;
            let words = read_words(path, if spec.kind == Kind::Rom { u64::BITS } else { spec.word_bits })?;
            if let Some(index) = words.iter().position(|&word| word > limit) {
                let message = format!("{}: word {index} is address {:x}", path.display(), words[index]);
                return Err(Diagnostic::new(message).with_help(format!("the last address of the rom is {limit:x}")));
            }
            *place = Some(words);
        }
        if spec.kind == Kind::Rom && inputs[0].is_none() {
            return Err(Diagnostic::new("a rom needs addresses to read").with_help("give them by --input 0=FILE"));
        }
        Ok(inputs)
    }

    /// Refuses options that mean nothing to a schedule.
    fn check_unified_buffer(&self) -> Result<(), Diagnostic> {
        let given = [(self.accesses.is_some(), "--accesses"), (self.pause_seed.is_some(), "--pause-seed")];
        match given.into_iter().find(|(given, _)| *given) {
            Some((_, option)) => {
                let message = format!("{}: {option} is for tiles in a mode", self.configuration.display());
                Err(Diagnostic::new(message)
                    .with_help("the schedule of a unified buffer has neither pauses nor accesses; leave it out"))
            }
            None => Ok(()),
        }
    }

    /// The words of a FIFO, or the accesses of a RAM and the words that they write, as [`run_streams`] takes them.
    fn read_inputs_of_mode(&self, spec: &TileSpec, mode: Mode) -> Result<Vec<Option<Vec<u64>>>, Diagnostic> {
        let refuse = |message: &str, help: &str| {
            let place = self.configuration.display();
            Err(Diagnostic::new(format!("{place}: in the mode `{}` {message}", mode.name())).with_help(help))
        };
        let is_given = if mode == Mode::Ram { self.accesses.is_some() } else { !self.inputs.is_empty() };
        match mode {
            Mode::Ram if !self.inputs.is_empty() => {
                return refuse("addresses and words come together", "give them by --accesses FILE, without --input");
            }
            _ if self.outputs.iter().any(|(output, _)| *output != Output::Data(0)) => {
                return refuse("words leave on output 0 alone", "give a file by --output 0=FILE");
            }
            Mode::Fifo if self.accesses.is_some() => {
                return refuse("nothing is addressed", "give the words by --input 0=FILE, without --accesses");
            }
            Mode::Fifo if self.inputs.iter().any(|(port, _)| *port != 0) => {
                return refuse("words come on input 0 alone", "give them by --input 0=FILE");
            }
            _ if !is_given && self.cycles.is_none() => {
                let option = if mode == Mode::Ram { "--accesses FILE" } else { "--input 0=FILE" };
                let help = format!("give {option}, or the number of cycles by --cycles: then all is random");
                return refuse("a tile works as long as there is something to do", &help);
            }
            Mode::Fifo | Mode::UnifiedBuffer => return self.read_inputs(spec),
            Mode::Ram => {}
        }
        let mut inputs = vec![None; spec.inputs as usize];
        let Some(path) = &self.accesses else { return Ok(inputs) };
        kinds::expect(path, &[FileKind::Words])?;
        let file = WordLines::read(path, spec.word_bits, 2)?;
        let (accesses, words) = (file.lines(), spec.words());
        if let Some(index) = accesses.iter().position(|access| access[0] >= words) {
            let message = format!("address {:x} is beyond the memory of `{}`", accesses[index][0], spec.name);
            let help = format!("the last address is {:x}", words - 1);
            return Err(file.error(index, message).or_code(Code::Stream).with_help(help));
        }
        let address = |access: &Vec<u64>| access[0] | if access.len() > 1 { WRITES } else { 0 };
        inputs[0] = Some(accesses.iter().map(address).collect());
        inputs[1] = Some(accesses.iter().filter_map(|access| access.get(1).copied()).collect());
        Ok(inputs)
    }

    fn check_outputs(&self, spec: &TileSpec) -> Result<(), Diagnostic> {
        for (output, _) in &self.outputs {
            match output {
                Output::Data(port) if *port >= spec.outputs as usize => {
                    return Err(no_port("output", *port, spec.outputs));
                }
                Output::StencilValid if !spec.stencil_valid => {
                    return Err(Diagnostic::new(format!("`{}` has no output `{output}`", spec.name))
                        .with_help("a tile has one with `stencil_valid: true` in its specification"));
                }
                _ => {}
            }
        }
        let inputs = || {
            [&self.spec, &self.configuration]
                .into_iter()
                .chain(self.inputs.iter().map(|(_, path)| path))
                .chain(&self.accesses)
        };
        let waves = self.wave.iter().flat_map(|wave| waves::files(wave));
        for path in self.outputs.iter().map(|(_, path)| path.clone()).chain(waves) {
            output::keep_inputs(&path, inputs().map(PathBuf::as_path))?;
        }
        let twice = |what: String| Err(Diagnostic::new(what).with_help("give one file for each output"));
        if let Some(port) = self.outputs.iter().map(|(port, _)| port).duplicates().next() {
            return twice(format!("{port} has two files"));
        }
        match self.outputs.iter().map(|(_, path)| path).duplicates().next() {
            Some(path) => twice(format!("two outputs go to {}", path.display())),
            None => Ok(()),
        }
    }

    fn start_rtl(&self, spec: &TileSpec, wave: Option<&Path>) -> Result<Option<RtlProcess>, Diagnostic> {
        if !self.rtl && wave.is_none() {
            return Ok(None);
        }
        let spinner = Spinner::new();
        let executable = Verilator::find()?.telling(spinner.sayer()).build(spec, wave.is_some())?;
        Ok(Some(RtlProcess::start(&executable, spec, wave)?))
    }

    fn explain(&self, error: BenchError, configuration: &Configuration) -> Diagnostic {
        let BenchError::StreamEnded { input, .. } = error else {
            return rtl::failed(&error, "specification and the configuration");
        };
        let file = self.inputs.iter().find(|(port, _)| *port == input);
        let file = file.map_or_else(String::new, |(_, path)| format!("{}: ", path.display()));
        let diagnostic = Diagnostic::new(format!("{file}{error}")).or_code(Code::Stream);
        let takers = configuration.controllers.iter().filter(|(name, _)| {
            name.starts_with("in2") && name.ends_with(&format!("_{input}")) || name.starts_with("rom2out")
        });
        let firings: Vec<_> =
            takers.map(|(name, controller)| format!("{name} fires {} times", controller.firings())).collect();
        diagnostic.with_help(format!("{}; give as many words, or stop earlier by --cycles", firings.join(", ")))
    }

    fn report(&self, spec: &TileSpec, configuration: &Configuration, run: &StreamRun) -> Result<(), Diagnostic> {
        let compared = self.rtl || self.wave.is_some();
        let marks = configuration.controllers.contains_key(Role::StencilValid.name());
        let report = JsonReport {
            tile: &spec.name,
            cycles: run.length,
            words_taken: &run.words_taken,
            words_shown: &run.words_shown,
            stencil_valid: marks.then_some(run.stencil_valid),
            rtl_compared: compared,
            violations: run.violations.iter().map(ToString::to_string).collect(),
            unread_rows: &run.unread_rows,
            unfetched_words: &run.unfetched_words,
        };
        let StreamRun { length, words_taken, words_shown, stencil_valid, .. } = run;
        let marked = if marks { format!(", stencil_valid in {stencil_valid} cycles") } else { String::new() };
        let agreed = if compared && run.violations.is_empty() { ", RTL and model agree in every cycle" } else { "" };
        output::result(self.json, &report, || {
            format!(
                "{}: {length} cycles, words taken {words_taken:?}, words shown {words_shown:?}{marked}{agreed}\n",
                spec.name
            )
        })?;
        // Of a run that was refused, the reads tell more.
        if !run.violations.is_empty() {
            return Ok(());
        }
        let warn = |what: &String, help: &str| output::report(Diagnostic::new(what).as_warning().with_help(help));
        for unread in &run.unread_rows {
            warn(unread, "the words shown are right; each row costs an access of the SRAM");
        }
        for unfetched in run.unfetched_words.iter().filter(|_| !self.strict) {
            warn(unfetched, UNFETCHED_HELP);
        }
        Ok(())
    }
}

fn no_port(what: &str, port: usize, count: u32) -> Diagnostic {
    Diagnostic::new(format!("there is no {what} {port}: the tile has {count}, counted from 0"))
}

/// Refuses words of which nothing can be told.
fn unfetched(run: &StreamRun) -> Diagnostic {
    Diagnostic::new(run.unfetched_words.join("\n"))
        .or_code(Code::Promise)
        .with_help("no output was written; correct the extents of the controllers named, or leave out --strict")
}

fn violations(run: &StreamRun) -> Diagnostic {
    let lines: Vec<String> = run.violations.iter().take(SHOWN_VIOLATIONS).map(ToString::to_string).collect();
    let more = run.violations.len().saturating_sub(lines.len());
    let more = if more > 0 { format!("\n… and {more} more") } else { String::new() };
    Diagnostic::new(format!("the configuration breaks promises:\n{}{more}", lines.join("\n")))
        .or_code(Code::Promise)
        .with_help("no output was written; correct starts, strides and extents of the controllers named")
}
