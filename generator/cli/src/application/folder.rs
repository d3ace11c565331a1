//! The files of an accelerator.

use std::collections::BTreeMap;
use std::path::Path;

use pushmem_accelerator::{Accelerator, Beats, Stream};
use pushmem_compiler::{Compiled, Report, Stage};
use pushmem_composition::{Files, compose};
use pushmem_files::{Diagnostic, OutputFolder};
use pushmem_images::Image;
use pushmem_nest::{Level, Program};
use pushmem_simulation::rtl_files;

/// Prints the hardware, and a testbench with these images.
pub fn files(
    compiled: &Compiled,
    inputs: &BTreeMap<String, Image>,
    outputs: &BTreeMap<String, Image>,
) -> Result<Files, Diagnostic> {
    let Compiled { program, accelerator, .. } = compiled;
    let rom = (!accelerator.roms.is_empty()).then_some(&accelerator.rom_spec);
    let tiles = accelerator.specs_in_use().chain(rom).map(rtl_files).collect::<Result<Vec<_>, _>>()?;
    let inputs = beats(accelerator, program, &accelerator.inputs, inputs);
    let outputs = beats(accelerator, program, &accelerator.outputs, outputs);
    compose(accelerator, program, &tiles, &inputs, &outputs).map_err(|error| Diagnostic::new(error.to_string()))
}

fn beats(
    accelerator: &Accelerator,
    program: &Program,
    streams: &[Stream],
    images: &BTreeMap<String, Image>,
) -> Vec<Beats> {
    let numbered = program.arrays.iter().enumerate();
    let arrays = numbered.filter_map(|(number, array)| Some((number, images.get(&array.name)?))).collect();
    accelerator.beats(streams, &arrays)
}

/// The file with the specification of the ROM tile, where there is one.
pub const ROM_TILE: &str = "rom_tile.yaml";

/// The files with the specifications of the levels beside the memory tiles, where those have tiles.
pub const LEVELS: [(Level, &str); 2] =
    [(Level::GlobalBuffer, "global_buffer.yaml"), (Level::RegisterFile, "register_file.yaml")];

/// Writes the folder.
pub fn write(path: &Path, files: &Files, compiled: &Compiled, report: &Report) -> Result<(), Diagnostic> {
    let mut folder = OutputFolder::new();
    for (name, text) in files.all() {
        folder.add(name.as_str(), text.as_str());
    }
    folder.add("program.yaml", compiled.program.to_string());
    folder.add("tile.yaml", compiled.accelerator.spec.to_yaml());
    if !compiled.accelerator.roms.is_empty() {
        folder.add(ROM_TILE, compiled.accelerator.rom_spec.to_yaml());
    }
    for (level, file) in LEVELS {
        if compiled.accelerator.count_at(level) > 0 {
            folder.add(file, compiled.accelerator.spec_at(level).to_yaml());
        }
    }
    folder.add("report.json", report.to_json());
    for (name, stage) in [("schedule", Stage::Schedule), ("buffers", Stage::Buffers), ("mapping", Stage::Mapping)] {
        folder.add(format!("stages/{name}.txt"), stage.text(compiled));
    }
    // Where `make` works.
    folder.add_workspace("build");
    folder.write(path)
}
