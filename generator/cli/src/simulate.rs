//! `pushmem simulate`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use itertools::Itertools;
use pushmem_configuration::Configuration;
use pushmem_files::{Diagnostic, format_words, read_words, write_files};
use pushmem_registers::RegisterMap;
use pushmem_rtl::tile_module;
use pushmem_simulation::{RtlProcess, SimulationError, StreamOptions, StreamRun, Verilator, run_streams};
use pushmem_tile::{Kind, TileSpec};
use pushmem_waves::tile_view;
use serde::Serialize;

use crate::progress::Spinner;
use crate::{output, waves};

/// Violations shown one by one.
const SHOWN_VIOLATIONS: usize = 10;

/// What of it runs Verilator, for `doctor`.
pub const WITH_VERILATOR: &str = "simulate --rtl, simulate --wave";

#[derive(Args)]
pub struct Simulate {
    /// Tile specification.
    spec: PathBuf,
    /// Tile configuration.
    configuration: PathBuf,
    /// Words for an input, one for each firing of its controller. Inputs without a file are random.
    #[arg(long = "input", value_name = "PORT=FILE", value_parser = port_file)]
    inputs: Vec<(usize, PathBuf)>,
    /// Where to write the words of an output.
    #[arg(long = "output", value_name = "PORT=FILE", value_parser = port_file)]
    outputs: Vec<(usize, PathBuf)>,
    /// Run the RTL as well, in Verilator, and compare every output in every cycle.
    #[arg(long)]
    rtl: bool,
    /// Write the waves of the RTL (FST), and beside them layouts for GTKWave and Surfer. Implies --rtl.
    #[arg(long, value_name = "FILE", value_parser = waves::wave_file)]
    wave: Option<PathBuf>,
    /// Stall at random cycles.
    #[arg(long, value_name = "N")]
    stall_seed: Option<u64>,
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
    words_taken: &'a [usize],
    words_shown: &'a [usize],
    rtl_compared: bool,
    violations: Vec<String>,
}

fn port_file(text: &str) -> Result<(usize, PathBuf), String> {
    let (port, file) = text.split_once('=').ok_or("expected the number of a port, `=` and a file, such as 0=a.hex")?;
    let port = port.parse().map_err(|_| format!("`{port}` is not the number of a port"))?;
    Ok((port, file.into()))
}

impl Simulate {
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let spec = TileSpec::read(&self.spec)?;
        let configuration = Configuration::read(&self.configuration, &spec)?;
        let inputs = self.read_inputs(&spec)?;
        self.check_outputs(&spec)?;
        let simulate = |path: &Path| self.simulate(&spec, &configuration, &inputs, Some(path));
        let run = match &self.wave {
            Some(wave) => waves::write(wave, &tile_view(&spec, &tile_module(&spec), &configuration), simulate)?,
            None => self.simulate(&spec, &configuration, &inputs, None)?,
        };
        if run.violations.is_empty() {
            let texts = self.outputs.iter().map(|(port, _)| format_words(&run.outputs[*port], spec.word_bits));
            let files: Vec<_> = self.outputs.iter().map(|(_, path)| path.as_path()).zip(texts).collect();
            write_files(&files)?;
        }
        self.report(&spec, &run)?;
        if !run.violations.is_empty() {
            return Err(violations(&run));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn simulate(
        &self,
        spec: &TileSpec,
        configuration: &Configuration,
        inputs: &[Option<Vec<u64>>],
        wave: Option<&Path>,
    ) -> Result<StreamRun, Diagnostic> {
        let map = RegisterMap::of(spec);
        let mut rtl = self.start_rtl(spec, wave)?;
        // A long run shows on a terminal how far it is; in a pipe the spinner is silent.
        let spinner = Spinner::new();
        let progress = |cycle| spinner.say(&format!("cycle {cycle}"));
        let options = StreamOptions {
            stall_seed: self.stall_seed,
            cycles: self.cycles,
            progress: Some(&progress),
            ..StreamOptions::default()
        };
        let run = run_streams(spec, &map, configuration, inputs, rtl.as_mut(), &options)
            .map_err(|error| self.explain(error, configuration));
        spinner.clear();
        // Only a process that ends by itself completes its wave. What stopped the run matters more than how it ends.
        let end = rtl.map_or(Ok(()), RtlProcess::finish);
        let run = run?;
        end?;
        Ok(run)
    }

    fn read_inputs(&self, spec: &TileSpec) -> Result<Vec<Option<Vec<u64>>>, Diagnostic> {
        let mut inputs = vec![None; spec.inputs as usize];
        // What comes in is a word, or for a rom an address.
        let limit = if spec.kind == Kind::Rom { u64::from(spec.rows) - 1 } else { u64::MAX };
        for (port, path) in &self.inputs {
            let place = inputs.get_mut(*port).ok_or_else(|| no_port("input", *port, spec.inputs))?;
            if place.is_some() {
                return Err(Diagnostic::new(format!("input {port} has two files")).with_help("give one for each input"));
            }
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

    fn check_outputs(&self, spec: &TileSpec) -> Result<(), Diagnostic> {
        if let Some((port, _)) = self.outputs.iter().find(|(port, _)| *port >= spec.outputs as usize) {
            return Err(no_port("output", *port, spec.outputs));
        }
        let inputs = || [&self.spec, &self.configuration].into_iter().chain(self.inputs.iter().map(|(_, path)| path));
        let waves = self.wave.iter().flat_map(|wave| waves::files(wave));
        for path in self.outputs.iter().map(|(_, path)| path.clone()).chain(waves) {
            output::keep_inputs(&path, inputs().map(PathBuf::as_path))?;
        }
        let twice = |what: String| Err(Diagnostic::new(what).with_help("give one file for each output"));
        if let Some(port) = self.outputs.iter().map(|(port, _)| port).duplicates().next() {
            return twice(format!("output {port} has two files"));
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
        let executable = Verilator::find()?.build(spec, wave.is_some())?;
        Ok(Some(RtlProcess::start(&executable, spec, wave)?))
    }

    fn explain(&self, error: SimulationError, configuration: &Configuration) -> Diagnostic {
        let diagnostic = Diagnostic::new(error.to_string());
        let SimulationError::StreamEnded { input, .. } = error else {
            return diagnostic;
        };
        let takers = configuration.controllers.iter().filter(|(name, _)| {
            name.starts_with("in2") && name.ends_with(&format!("_{input}")) || name.starts_with("rom2out")
        });
        let firings: Vec<_> =
            takers.map(|(name, controller)| format!("{name} fires {} times", controller.firings())).collect();
        diagnostic.with_help(format!("{}; give as many words, or stop earlier by --cycles", firings.join(", ")))
    }

    fn report(&self, spec: &TileSpec, run: &StreamRun) -> Result<(), Diagnostic> {
        let shown: Vec<usize> = run.outputs.iter().map(Vec::len).collect();
        let compared = self.rtl || self.wave.is_some();
        let report = JsonReport {
            tile: &spec.name,
            cycles: run.length,
            words_taken: &run.words_taken,
            words_shown: &shown,
            rtl_compared: compared,
            violations: run.violations.iter().map(ToString::to_string).collect(),
        };
        let agreed = if compared && run.violations.is_empty() { ", RTL and model agree in every cycle" } else { "" };
        output::result(self.json, &report, || {
            format!(
                "{}: {} cycles, words taken {:?}, words shown {shown:?}{agreed}\n",
                spec.name, run.length, run.words_taken
            )
        })
    }
}

fn no_port(what: &str, port: usize, count: u32) -> Diagnostic {
    Diagnostic::new(format!("there is no {what} {port}: the tile has {count}, counted from 0"))
}

fn violations(run: &StreamRun) -> Diagnostic {
    let lines: Vec<String> = run.violations.iter().take(SHOWN_VIOLATIONS).map(ToString::to_string).collect();
    let more = run.violations.len().saturating_sub(lines.len());
    let more = if more > 0 { format!("\n… and {more} more") } else { String::new() };
    Diagnostic::new(format!("the configuration breaks promises:\n{}{more}", lines.join("\n")))
        .with_help("no output was written; correct starts, strides and extents of the controllers named")
}
