//! A run of a program on images as large as they are: in tiles, where they are larger than those of the program.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic};
use pushmem_graph::Stream;
use pushmem_images::Image;
use pushmem_nest::{ArrayKind, Program};
use pushmem_realization::{Dedicated, Report};
use pushmem_regression::Progress;
use pushmem_tiling::{Tiling, compare, resized};
use serde::Serialize;

use super::peripheral::{self, Peripheral};
use crate::application::{choices::Choices, images, program, tiles_of_images};
use crate::output;
use crate::progress::{Bar, Spinner};
use crate::table::fit;

/// A run: a program, and where its images are.
pub(super) struct Whole<'a> {
    /// The file of the program.
    pub file: &'a Path,
    pub choices: &'a Choices,
    pub inputs: Vec<(String, PathBuf)>,
    pub outputs: Vec<(String, PathBuf)>,
    pub rtl: bool,
    pub json: bool,
}

/// The results of a run.
#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    report: Report,
    /// Whether the outputs are what the interpreter computes, which was asked in every run.
    checked_by_model: bool,
    /// Tiles along each axis, and elements of the output of one.
    tiles: Vec<i64>,
    tile: Vec<i64>,
    /// Cycles of all tiles, one after the other, whose streams never wait.
    tile_cycles: u64,
    /// Bytes that the hardware reads and writes in memory: borders between tiles several times.
    bytes_read: u64,
    bytes_written: u64,
    /// The run through driver, shell and RTL, if there was one.
    peripheral: Option<Peripheral>,
    /// The share of cycles in which the busiest stream passes a beat.
    utilization: f64,
}

impl Whole<'_> {
    /// Runs a program.
    ///
    /// # Errors
    /// When an image does not suit the program, or the compile or the run fails.
    pub(super) fn run(&self, program: Program) -> Result<(), Diagnostic> {
        // Wrong files are told before the compile, which may be long.
        let tiling = self.tiling(&program)?;
        let whole = resized(&program, &tiling);
        images::check_outputs(&whole, &self.inputs, &self.outputs)?;
        let inputs = images::inputs(&whole, program::constants(self.file, self.choices.reading)?, &self.inputs)?;
        let spinner = Spinner::new();
        spinner.say(&format!("compiling `{}`", program.name));
        let compiled = self.choices.read()?.compile_file(program, self.file)?;
        spinner.above(|| compiled.warnings().into_iter().for_each(output::report));
        drop(spinner);
        let (found, peripheral) = match self.rtl {
            true => {
                peripheral::run(&compiled, &tiling, &whole, &inputs).map(|(found, cycles)| (found, Some(cycles)))?
            }
            false => (model(&compiled, &tiling, &inputs)?, None),
        };
        compare(&compiled.source, &tiling, &inputs, &found)?;
        images::write(&self.outputs, &found)?;
        let outcome = Outcome::of(&compiled, &tiling, peripheral);
        output::result(self.json, &outcome, || fit(&outcome.to_string()))
    }

    /// The tiles of the images: as many as the first image needs that is larger than that of the program.
    fn tiling(&self, program: &Program) -> Result<Tiling, Diagnostic> {
        for (name, path) in &self.inputs {
            let Some(array) = program.arrays_of(ArrayKind::Input).find(|array| array.name == *name) else { continue };
            // Words alone do not say how large an image is.
            let says_size = path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("hex"));
            if !says_size {
                continue;
            }
            let found = Image::read_any(path).map_err(|problem| problem.or_code(Code::Image))?;
            let mut size = found.shape().iter().map(|extent| *extent as i64).collect_vec();
            // Dimensions of one element may be left out at the end.
            while size.len() > array.shape.len() && size.last() == Some(&1) {
                size.pop();
            }
            size.resize(size.len().max(array.shape.len()), 1);
            if size.len() == array.shape.len() && size != array.shape && is_larger(&size, &array.shape) {
                return Tiling::of_input(program, name, &size).map_err(|problem| problem.or_code(Code::Image));
            }
        }
        let output = program.arrays_of(ArrayKind::Output).next().expect("checked programs have one");
        Tiling::of(program, &output.shape)
    }
}

/// Whether an image is at least as large as another one in each dimension.
fn is_larger(one: &[i64], other: &[i64]) -> bool {
    one.iter().zip(other).all(|(one, other)| one >= other)
}

/// Runs all tiles in the model.
fn model(
    compiled: &Dedicated,
    tiling: &Tiling,
    inputs: &BTreeMap<String, Image>,
) -> Result<BTreeMap<String, Image>, Diagnostic> {
    let bar = Bar::new(tiling.count() as usize);
    bar.begin("tiles");
    let found = tiles_of_images::run(compiled, tiling, inputs, || bar.end(None));
    bar.clear();
    found
}

impl Outcome {
    fn of(compiled: &Dedicated, tiling: &Tiling, peripheral: Option<Peripheral>) -> Self {
        let report = Report::of(compiled);
        let accelerator = &compiled.accelerator;
        let beats = |stream: &Stream| accelerator.counters[stream.counter].iterations();
        let element = |stream: &Stream| compiled.program.arrays[stream.array].element.element();
        let bytes = |streams: &[Stream]| -> u64 {
            let bytes = |stream: &Stream| element(stream).expect("arrays hold elements").bytes();
            streams.iter().map(|stream| beats(stream) * stream.lanes.len() as u64 * bytes(stream)).sum()
        };
        let count = tiling.count().unsigned_abs();
        let streams = accelerator.inputs.iter().chain(&accelerator.outputs);
        let busiest = streams.map(beats).max().unwrap_or(0) * count;
        let tile_cycles = count * report.cycles;
        let cycles = peripheral.map_or(tile_cycles, |found| found.cycles);
        Outcome {
            checked_by_model: true,
            tiles: tiling.axes.iter().map(|axis| axis.count).collect(),
            tile: tiling.images.iter().find(|image| image.output).map_or(Vec::new(), |image| image.tile.clone()),
            tile_cycles,
            bytes_read: count * bytes(accelerator.inputs.as_raw_slice()),
            bytes_written: count * bytes(&accelerator.outputs),
            peripheral,
            utilization: busiest as f64 / cycles.max(1) as f64,
            report,
        }
    }
}

impl Display for Outcome {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}\n{}", self.report.name, self.report.to_string().trim_end())?;
        let mut line = |name: &str, value: String| writeln!(formatter, "  {name:<22} {value}");
        let who = if self.peripheral.is_some() { "driver, shell and RTL" } else { "model" };
        line(
            who,
            (if self.peripheral.is_some() { "compute" } else { "computes" }).to_owned()
                + " what the interpreter computes",
        )?;
        let counts = if self.tiles.is_empty() { "1".to_owned() } else { self.tiles.iter().join(" x ") };
        line("tiles", format!("{counts} of {}", self.tile.iter().join(" x ")))?;
        line("transfers", format!("{} bytes in, {} bytes out", self.bytes_read, self.bytes_written))?;
        if let Some(Peripheral { cycles, busy_cycles }) = self.peripheral {
            line("cycles of the system", format!("{cycles}, {busy_cycles} of them in runs"))?;
        } else {
            line("cycles of all tiles", self.tile_cycles.to_string())?;
        }
        line("utilization", format!("{:.1} % of cycles pass a word of the busiest stream", 100.0 * self.utilization))
    }
}
