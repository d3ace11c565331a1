//! Images through driver, bus shell and RTL: what a system with the hardware would do, in Verilator.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use itertools::Itertools;
use pushmem_bus::{Memory, tile_files};
use pushmem_files::{Code, Diagnostic, OutputFolder, write_file};
use pushmem_images::{Element, Image};
use pushmem_nest::Program;
use pushmem_process::Invocation;
use pushmem_realization::Dedicated;
use pushmem_regression::Progress;
use pushmem_simulation::Verilator;
use pushmem_tiling::{TiledImage, Tiling};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::application::{folder, run_model};
use crate::progress::{Bar, Spinner};

/// Bytes of memory around the images, and between them.
const SPARE_BYTES: u64 = 1 << 20;

/// The cycles of a run in Verilator.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Peripheral {
    /// From the first start to the last result, accesses of the driver included.
    pub cycles: u64,
    /// In which the hardware ran.
    pub busy_cycles: u64,
}

/// Runs all tiles: the outputs, and the cycles.
///
/// # Errors
/// When the program has no shell, Verilator or `make` is missing or fails, or the driver reports an error.
pub(super) fn run(
    compiled: &Dedicated,
    tiling: &Tiling,
    whole: &Program,
    inputs: &BTreeMap<String, Image>,
) -> Result<(BTreeMap<String, Image>, Peripheral), Diagnostic> {
    let verilator = Verilator::find()?;
    let work = tempfile::tempdir().map_err(|error| Diagnostic::new(format!("no temporary folder: {error}")))?;
    let (built, driver) = (work.path().join("peripheral"), work.path().join("peripheral/driver"));
    let tiling = tiling.of_images(folder::images(compiled));
    let spinner = Spinner::new();
    spinner.say("generating the peripheral");
    files(compiled, &tiling)?.write(&built)?;
    spinner.say("building driver, shell and RTL in Verilator");
    let bytes = |image: &TiledImage| image.element.bytes() * image.size.iter().product::<i64>().unsigned_abs();
    let bytes: u64 = tiling.images.iter().map(bytes).sum();
    let mut make = Command::new("make");
    make.args(["-s", "CHECK=run.c"]).arg(format!("BYTES={}", bytes + SPARE_BYTES));
    make.arg(format!("VERILATOR={}", verilator.program().display())).arg("../build/driver/simulation_run");
    Invocation::of(make.current_dir(&driver)).named("`make` of the driver").success()?;
    drop(spinner);
    let paths = tiling.images.iter().map(|image| work.path().join(format!("{}.elements", image.name))).collect_vec();
    for (image, path) in tiling.images.iter().zip(&paths).filter(|(image, _)| !image.output) {
        write_file(path, inputs[&image.name].values().bytes())?;
    }
    let bar = Bar::new(tiling.count() as usize);
    let mut simulation = Command::new(built.join("build/driver/simulation_run"));
    let tiles = |line: &str| line.strip_prefix("tile ").into_iter().for_each(|_| bar.end(None));
    let finished =
        Invocation::of(simulation.args(&paths)).named("the simulation of the peripheral").lines(tiles).success()?;
    bar.clear();
    let text = finished.text();
    let figure = |key: &str| {
        let words = text.lines().find_map(|line| line.strip_prefix("result: "))?.split_whitespace();
        words.filter_map(|word| word.split_once('=')).find(|(name, _)| *name == key)?.1.parse().ok()
    };
    let (Some(cycles), Some(busy_cycles)) = (figure("cycles"), figure("busy")) else {
        return Err(
            Diagnostic::new(format!("the simulation of the peripheral gives no result:\n{text}")).or_code(Code::Tool)
        );
    };
    let mut outputs = BTreeMap::new();
    for (image, path) in tiling.images.iter().zip(&paths).filter(|(image, _)| image.output) {
        let array = whole.array(&image.name).expect("it is an array");
        let shape = image.size.iter().map(|size| *size as usize).collect_vec();
        outputs.insert(image.name.clone(), elements(path, image.element, &shape)?.with_min(&array.min));
    }
    Ok((outputs, Peripheral { cycles, busy_cycles }))
}

/// The files of the accelerator, its shell, and its driver with the tiles.
fn files(compiled: &Dedicated, tiling: &Tiling) -> Result<OutputFolder, Diagnostic> {
    // The testbench beside them has random images.
    let inputs: BTreeMap<String, Image> =
        compiled.program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1)).into_iter().collect();
    let outputs = run_model(compiled, &inputs)?;
    let files = folder::files(compiled, None, &inputs, &outputs)?;
    let shell = folder::shell(compiled, &files, Some(Memory::default()))?;
    let in_words = tiling.in_words(&compiled.program);
    let tiles = tile_files(tiling, &in_words, &shell.module, None);
    let mut written = OutputFolder::new();
    written.add_all(files.all().cloned().chain(shell.files).chain(tiles));
    Ok(written)
}

/// Reads the elements of an image as they were in memory.
fn elements(path: &Path, element: Element, shape: &[usize]) -> Result<Image, Diagnostic> {
    let bytes = fs::read(path).map_err(|error| Diagnostic::new(format!("{}: {error}", path.display())))?;
    let values = bytes.chunks_exact(element.bytes() as usize).map(|bytes| element.value(bytes));
    Image::from_values(element, shape, values)
}
