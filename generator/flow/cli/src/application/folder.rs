//! The files of an accelerator.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_bus::{Elements, INTERFACE, Manager, Memory, Shell, Traffic, WalkError};
use pushmem_compiler::CompileStage;
use pushmem_composition::{Files, compose, read_cycles, tile_bytes};
use pushmem_files::{Diagnostic, OutputFolder, digest, digest_word};
use pushmem_graph::{Configured, Memories, Stream};
use pushmem_images::{Element, Image};
use pushmem_nest::{Level, Program};
use pushmem_packaging::AddressBlock;
use pushmem_realization::{Dedicated, Report};
use pushmem_registers::RegisterMap;
use pushmem_report::{Build, Contents, ShellPart};
use pushmem_simulation::rtl_files;
use pushmem_systemverilog::File;
use pushmem_technology::Technology;
use pushmem_tile::TileSpec;

use crate::origin::Origin;
use crate::package;

/// The specifications of the tiles that there are instances of: none where memories are made for the program.
pub fn tiles(compiled: &Dedicated) -> Vec<&TileSpec> {
    let accelerator = &compiled.accelerator;
    if accelerator.target.memories == Memories::Fixed {
        return Vec::new();
    }
    let rom = (!accelerator.roms.is_empty()).then_some(accelerator.target.rom());
    accelerator.specs_in_use().chain(rom).collect()
}

/// The shell that connects it to buses: AXI4-Lite for its registers, and for its streams AXI4-Stream, or AXI4 with this memory.
///
/// # Errors
/// When its configuration takes all addresses, or a stream is in an order in which no manager reads or writes an image.
pub fn shell(compiled: &Dedicated, files: &Files, memory: Option<Memory>) -> Result<Shell, Diagnostic> {
    let (program, accelerator) = (&compiled.program, &compiled.accelerator);
    let traffic = |stream: &Stream| Traffic {
        beats: accelerator.counters[stream.counter].iterations(),
        element: element(program, stream),
        whole: program.arrays[stream.array].element.element().expect("arrays hold elements"),
    };
    let traffic = |streams: &[Stream]| streams.iter().map(traffic).collect_vec();
    // Firmware of one bus is not that of another.
    let bus = memory.map(|_| "axi".to_owned());
    let texts = tiles(compiled).into_iter().map(TileSpec::to_yaml).chain([program.to_string(), INTERFACE.to_string()]);
    let wrapped = pushmem_bus::Accelerator {
        module: &files.top_module,
        rtl: &files.rtl,
        inputs: traffic(accelerator.inputs.as_raw_slice()),
        outputs: traffic(&accelerator.outputs),
        config_latency: read_cycles(accelerator),
        reset: accelerator.target.memory().reset,
        identity: digest_word(&texts.chain(bus).join("")),
        version: env!("CARGO_PKG_VERSION"),
    };
    let shell = match memory {
        None => pushmem_bus::axis(&wrapped),
        Some(memory) => {
            let streams = accelerator.inputs.iter().chain(&accelerator.outputs);
            let images = streams.map(|stream| elements(compiled, stream)).collect_vec();
            pushmem_bus::axi(&wrapped, &images, memory)
        }
    };
    shell.map_err(|why| refused(&format!("`{}` has no shell for a bus", program.name), &why, "program"))
}

/// The names of the images of its shell, in their order.
pub fn images(compiled: &Dedicated) -> impl Iterator<Item = &str> {
    let streams = compiled.accelerator.inputs.iter().chain(&compiled.accelerator.outputs);
    streams.map(|stream| compiled.program.arrays[stream.array].name.as_str())
}

/// The managers of these images in the model of the shell.
///
/// # Errors
/// When a stream is in an order in which no manager reads or writes an image.
pub fn managers(compiled: &Dedicated) -> Result<Vec<Manager>, WalkError> {
    let streams = compiled.accelerator.inputs.iter().chain(&compiled.accelerator.outputs);
    let manager = |stream| Manager::of(&elements(compiled, stream), element(&compiled.program, stream));
    streams.map(manager).collect()
}

/// The type of the parts of elements that a stream carries.
fn element(program: &Program, stream: &Stream) -> Element {
    program.arrays[stream.array].element.in_memory().expect("arrays hold elements")
}

/// The words of its array that a stream carries.
fn elements(compiled: &Dedicated, stream: &Stream) -> Elements {
    let counter = &compiled.accelerator.counters[stream.counter];
    let strides = |level: usize| stream.lanes.iter().map(|lane| lane.element.stride[level]).collect_vec();
    Elements {
        shape: compiled.program.arrays[stream.array].shape_in_words(),
        lanes: stream.lanes.iter().map(|lane| lane.element.start).collect(),
        loops: counter.extent.iter().enumerate().map(|(level, &extent)| (extent, strides(level))).collect(),
    }
}

/// The origin of its files.
pub fn origin(compiled: &Dedicated) -> Origin<'_> {
    let digest = digest(&compiled.program.to_string());
    let name = &compiled.accelerator.name;
    Origin { name, design: format!("Program `{name}`, digest {digest}"), tiles: tiles(compiled) }
}

/// The registers of its tiles.
///
/// # Errors
/// When 32 bits of address are not enough.
pub fn blocks(compiled: &Dedicated) -> Result<Vec<AddressBlock>, Diagnostic> {
    let bytes = tile_bytes(&compiled.accelerator).map_err(|why| unprintable(&compiled.program, &why))?;
    let tiles = compiled.accelerator.configured().into_iter().zip(0..);
    let block = |(tile, number): (Configured, u64)| {
        AddressBlock::of_tile(tile.name, number * bytes, RegisterMap::of(tile.spec))
    };
    Ok(tiles.map(block).collect())
}

/// Prints the hardware, and a testbench with these images. Memories are those of the technology, if there is one.
pub fn files(
    compiled: &Dedicated,
    technology: Option<&Technology>,
    inputs: &BTreeMap<String, Image>,
    outputs: &BTreeMap<String, Image>,
) -> Result<Files, Diagnostic> {
    let (program, accelerator) = (&compiled.program, &compiled.accelerator);
    let bound = |files| package::bound(technology, files);
    let tiles = tiles(compiled).into_iter().map(|spec| rtl_files(spec).map(bound)).collect::<Result<Vec<_>, _>>()?;
    let inputs = compiled.graph.input_beats(program, inputs)?;
    let outputs = compiled.graph.output_beats(program, outputs);
    compose(accelerator, program, &tiles, &inputs, &outputs).map_err(|why| unprintable(program, &why))
}

/// The refusal of a program that cannot be printed: the tiles are not what it needs, or the compiler is wrong.
fn unprintable(program: &Program, why: &Diagnostic) -> Diagnostic {
    refused(&format!("`{}` has no accelerator of these tiles", program.name), why, "program")
}

/// A refusal for a reason, whose advice it passes on. Without advice, the reason is a fault of pushmem, with which `input` is to be
/// reported.
pub fn refused(what: &str, why: &Diagnostic, input: &str) -> Diagnostic {
    let refused = Diagnostic::new(format!("{what}: {why}"));
    match why.help() {
        Some(help) => refused.with_help(help),
        None => refused.as_fault(input),
    }
}

/// The file with the specification of the ROM tile, where there is one.
pub const ROM_TILE: &str = "rom_tile.yaml";

/// The files with the specifications of the levels beside the memory tiles, where those have tiles.
pub const LEVELS: [(Level, &str); 2] =
    [(Level::GlobalBuffer, "global_buffer.yaml"), (Level::RegisterFile, "register_file.yaml")];

/// The head of a module of these files, with its ports.
pub fn ports(files: &[File], module: &str) -> String {
    let file = format!("/{module}.sv");
    head(files.iter().find(|(path, _)| path.ends_with(&file)).map_or("", |(_, text)| text))
}

/// The head of the module in a text.
pub fn head(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.starts_with("module ")).collect_vec();
    let end = lines.iter().position(|line| line.ends_with(");")).map_or(0, |last| last + 1);
    lines[..end].join("\n")
}

/// The shell as a page tells it.
pub fn shell_part(shell: &Shell) -> ShellPart {
    let Shell { module, files, registers, .. } = shell;
    ShellPart { module: module.clone(), ports: ports(files, module), registers: registers.clone() }
}

/// Adds the report and the trace of a build.
pub fn add_report(folder: &mut OutputFolder, contents: &Contents) {
    folder.add("report.html", contents.to_html());
    folder.add(TRACE, contents.to_trace());
}

/// The file with the schedule, for viewers of traces.
pub const TRACE: &str = "trace.json";

/// The folder with the hardware and what led to it. `told` is what a program reads of its report, as JSON; `build` what the
/// page tells of the build. Files that are neither RTL nor harness move there, as the words of large images take much memory.
pub fn contents(files: &mut Files, compiled: &Dedicated, report: &Report, told: String, build: Build) -> OutputFolder {
    let mut folder = OutputFolder::new();
    folder.add_all(files.rtl.iter().chain(&files.harness).cloned());
    folder.add_all(std::mem::take(&mut files.others));
    folder.add("program.yaml", compiled.program.to_string());
    let accelerator = &compiled.accelerator;
    if accelerator.target.memories == Memories::Tiles {
        folder.add("tile.yaml", accelerator.target.memory().to_yaml());
        if !accelerator.roms.is_empty() {
            folder.add(ROM_TILE, accelerator.target.rom().to_yaml());
        }
        for (level, file) in LEVELS.into_iter().filter(|(level, _)| accelerator.count_at(*level) > 0) {
            folder.add(file, accelerator.spec_at(level).to_yaml());
        }
    }
    folder.add("report.json", told);
    add_report(&mut folder, &Contents::of(compiled, report, build));
    for (name, stage) in
        [("schedule", CompileStage::Schedule), ("buffers", CompileStage::Buffers), ("mapping", CompileStage::Mapping)]
    {
        folder.add(format!("stages/{name}.txt"), compiled.text(stage));
    }
    // Where `make` works.
    folder.add_workspace("build");
    folder
}
