//! The shell of an array, and a program for it.

use std::collections::BTreeMap;
use std::fmt::Write;

use itertools::Itertools;
use pushmem_bitstream::{BankedBitstream, Bitstream};
use pushmem_bus::{
    ArrayModule, ArrayPorts, Elements, GlobalBuffer, INTERFACE, IoTiles, Lane, Memory, Place, Program, ProgramError,
    ProgramImage, array_shell,
};
use pushmem_compiler::Compiled;
use pushmem_emulator::HostAccess;
use pushmem_fabric::{ArraySpec, Direction, GlobalBufferSpec};
use pushmem_files::{Diagnostic, OutputFolder, digest_word};
use pushmem_images::Image;
use pushmem_interconnect::{HOST_LATENCY, answer_latency, array_module, with_global_buffer_module};
use pushmem_lockstep::{LaneWords, RunOfBanks, StandaloneRun, buffered_testbench, driver_check, testbench};
use pushmem_mapper::{ArrayTarget, BankImage, ImageRows, Mapped, Occupant, StreamLane, bank_images, split};
use pushmem_nest::ArrayKind;
use pushmem_report::ShellPart;
use pushmem_resources::{BankDriverNames, BankMap, BankMeaning, DIGEST, bank_driver};
use pushmem_systemverilog::File;

use crate::application::arrays;
use crate::application::folder::{refused, shell_part};
use crate::origin::Origin;
use crate::package::{self, Package};

/// The streams of a shell where none are asked for: as many columns as a small array has.
const STREAMS: u32 = 4;

/// Options of the shell of an array.
#[derive(Clone, Copy, Debug)]
pub struct ShellOptions {
    /// The bus to memory; without it streams are AXI4-Stream.
    pub memory: Option<Memory>,
    /// Streams into the array, if they were asked for.
    pub readers: Option<u32>,
    /// Streams out of the array, likewise.
    pub writers: Option<u32>,
    /// An option that says something of managers or streams, if one was given.
    pub of_managers: Option<&'static str>,
}

/// A program on an array, with its images.
pub struct Work<'a> {
    pub compiled: &'a Compiled,
    pub mapped: &'a Mapped,
    pub target: &'a ArrayTarget,
    pub inputs: &'a BTreeMap<String, Image>,
    pub outputs: &'a BTreeMap<String, Image>,
}

impl ShellOptions {
    /// The array with its global buffer, or with these streams.
    fn array<'a>(&self, spec: &'a ArraySpec, rtl: &'a [File]) -> ArrayModule<'a> {
        let (module, ports, shell) = match spec.global_buffer.as_ref().zip(BankMap::of(spec)) {
            Some((buffer, map)) => {
                let rows = GlobalBuffer {
                    bytes: buffer.bytes(),
                    bank_bytes: buffer.bank_bytes,
                    word_bits: spec.word_bits(),
                    row_latency: HOST_LATENCY,
                    hand_over_address: map.address_of_all(map.field(BankMeaning::HandOver { half: 0 }).0).word(),
                    functions: BankDriverNames::of(spec).functions,
                };
                (with_global_buffer_module(spec), ArrayPorts::Rows(rows), "axi rows".to_owned())
            }
            None => {
                let ShellOptions { memory, .. } = *self;
                let readers = self.readers.unwrap_or(STREAMS.min(spec.columns));
                let writers = self.writers.unwrap_or(STREAMS.min(spec.columns));
                let levels = spec.io.controller.levels;
                let tiles = IoTiles { columns: spec.columns, levels, readers, writers, memory };
                let bus = if memory.is_some() { "axi" } else { "axis" };
                (array_module(spec), ArrayPorts::Tiles(tiles), format!("{bus} {readers} {writers}"))
            }
        };
        ArrayModule {
            name: &spec.name,
            module,
            rtl,
            ports,
            digest: spec.digest_word(),
            digest_address: DIGEST.word(),
            latency: answer_latency(spec),
            reset: spec.reset(),
            identity: digest_word(&format!("{} {shell} {INTERFACE}", spec.digest())),
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    /// Whether the array has a shell with these streams, which needs no program.
    ///
    /// # Errors
    /// When the array has fewer columns, or the shell no registers for them, or an option is for another kind of array.
    pub fn check(&self, spec: &ArraySpec) -> Result<(), Diagnostic> {
        let (name, columns) = (&spec.name, spec.columns);
        if spec.global_buffer.is_some() && self.memory.is_none() {
            let refused = format!("`{name}` has a global buffer, which no stream of `--bus axis` leads to");
            let help =
                "choose `--bus axi`, whose subordinate has the rows of its banks, or an array without `global_buffer`";
            return Err(Diagnostic::new(refused).with_help(help));
        }
        if let Some(option) = self.of_managers.filter(|_| spec.global_buffer.is_some()) {
            let refused = format!(
                "`{name}` has a global buffer in place of managers and streams, of which `{option}` says something"
            );
            let help = "leave the option out, or choose an array without `global_buffer`";
            return Err(Diagnostic::new(refused).with_help(help));
        }
        for (option, streams) in [("--bus-readers", self.readers), ("--bus-writers", self.writers)] {
            if let Some(streams) = streams.filter(|streams| *streams > columns) {
                let refused = format!(
                    "`{option} {streams}` is more than the {columns} columns of `{name}`, each with an IO tile"
                );
                return Err(Diagnostic::new(refused).with_help(format!("ask for at most `{option} {columns}`")));
            }
        }
        self.array(spec, &[]).check().map_err(|error| no_shell(name, &error))
    }
}

/// The refusal of a shell of an array.
fn no_shell(array: &str, why: &Diagnostic) -> Diagnostic {
    refused(&format!("`{array}` has no shell for a bus"), why, "specification")
}

/// Whether a program runs behind the shell of its array.
///
/// # Errors
/// At the image of which a stream does not.
pub fn check(
    compiled: &Compiled,
    mapped: &Mapped,
    target: &ArrayTarget,
    shape: ShellOptions,
) -> Result<(), Diagnostic> {
    let found = program(compiled, mapped, target, 0).check(&shape.array(&target.spec, &[]));
    found.map_err(|error| not_behind(compiled, &target.spec, &error))
}

/// The refusal of a program.
fn not_behind(compiled: &Compiled, spec: &ArraySpec, error: &ProgramError) -> Diagnostic {
    let program = &compiled.program;
    let message = format!("`{}` does not run behind the shell of `{}`: {}", program.name, spec.name, error.message);
    let refused = match program.arrays.iter().find(|array| array.name == error.image) {
        Some(image) => program.diagnostic(image.span, message),
        None => Diagnostic::new(message),
    };
    refused.with_help(error.help.as_str())
}

/// Adds the RTL of the array and of its shell, its package, and what firmware needs for the program, of so many cycles, and its images.
/// Returns what a report tells of the shell.
///
/// # Errors
/// As [`ShellOptions::check`], [`check`] and those of packages.
pub fn add(
    folder: &mut OutputFolder,
    work: &Work,
    shape: ShellOptions,
    cycles: u64,
    chip: &Package,
) -> Result<ShellPart, Diagnostic> {
    let Work { compiled, mapped, target, .. } = *work;
    let spec = &target.spec;
    let technology = chip.technology_of_array(spec)?;
    let rtl = package::bound(technology.as_ref(), arrays::rtl_files(spec)?);
    let files = rtl.into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect_vec();
    let array = shape.array(spec, &files);
    let shell = array_shell(&array).map_err(|error| no_shell(&spec.name, &error))?;
    let of_program = program(compiled, mapped, target, cycles).files(&array, &shell.module);
    let of_program = of_program.map_err(|error| not_behind(compiled, spec, &error))?;
    let of_banks = bank_driver(spec).into_iter().map(|(file, text)| (format!("global_buffer/{file}"), text));
    if spec.global_buffer.is_some() {
        add_rows(folder, work);
    }
    let mut signed = OutputFolder::new();
    chip.add(&mut signed, &technology, true, |technology| {
        package::shell(&shell, package::array(spec, files.clone(), technology))
    })?;
    let part = shell_part(&shell);
    signed.add_all(shell.files.into_iter().chain(of_program).chain(of_banks));
    sign(folder, spec, signed);
    let is_of_images = shape.memory.is_some() || spec.global_buffer.is_some();
    add_words(folder, if is_of_images { images(work) } else { streams(work)? });
    // Where `make` works.
    folder.add_workspace("build");
    Ok(part)
}

/// Adds the rows of the images of the testbench: those that are written to the banks before a run, and those that it leaves there.
fn add_rows(folder: &mut OutputFolder, work: &Work) -> ImageRows {
    let Work { compiled, mapped, target: ArrayTarget { spec, .. }, inputs, outputs } = *work;
    let rows = ImageRows::of(&Occupant { compiled, mapped, images: inputs }, outputs, spec);
    folder.add("testbench/loaded.hex", in_hexadecimal(spec, &rows.loaded));
    folder.add("testbench/stored.expected.hex", in_hexadecimal(spec, &rows.stored));
    rows
}

/// The words of the images of the testbench, element by element.
fn images(work: &Work) -> Vec<(String, Vec<u16>)> {
    let words = |image: &Image| image.values().iter().map(|value| value as u16).collect_vec();
    let inputs = work.inputs.iter().map(|(name, image)| (format!("testbench/{name}.hex"), words(image)));
    let outputs = work.outputs.iter().map(|(name, image)| (format!("testbench/{name}.expected.hex"), words(image)));
    inputs.chain(outputs).collect()
}

/// Adds the RTL of the array and a testbench that loads the bitstream and compares the words that leave in a run of so many cycles.
///
/// # Errors
/// When the RTL does not compile, which is a fault of the templates.
pub fn add_testbench(folder: &mut OutputFolder, work: &Work, cycles: u64) -> Result<(), Diagnostic> {
    let Work { compiled, mapped, target, .. } = *work;
    let (spec, graph) = (&target.spec, &compiled.graph);
    let lanes = |lanes: Vec<StreamLane>| {
        let words = |lane: StreamLane| graph.counters[lane.counter].iterations() as usize;
        lanes.into_iter().map(|lane| LaneWords { column: mapped.place(lane.cell).column, words: words(lane) }).collect()
    };
    let ImageRows { loaded, stored } =
        if spec.global_buffer.is_some() { add_rows(folder, work) } else { ImageRows::default() };
    let run_of_banks = RunOfBanks {
        program: &mapped.lowered.netlist.name,
        bitstream: &mapped.bitstream,
        loaded: loaded.len(),
        stored: stored.len(),
        banks: mapped.configuration.banks.keys().copied().collect(),
        cycles,
    };
    let buffered = buffered_testbench(spec, &run_of_banks);
    let run = StandaloneRun {
        is_buffered: buffered.is_some(),
        needs_banks: !mapped.lowered.netlist.banks.is_empty(),
        program: &mapped.lowered.netlist.name,
        configuration: &mapped.configuration,
        bitstream: &of_array(mapped, target),
        in_file: mapped.bitstream.writes.len(),
        inputs: lanes(mapped.lowered.input_lanes(graph)),
        outputs: lanes(mapped.lowered.output_lanes(graph)),
        cycles,
    };
    add_signed(folder, spec, testbench(spec, &arrays::rtl_files(spec)?, &run));
    if !run.needs_banks {
        add_words(folder, streams(work)?);
    }
    if let Some(buffered) = buffered {
        add_signed(folder, spec, driver_check(spec, &run_of_banks).into_iter().chain([buffered]));
    }
    folder.add_workspace("build");
    Ok(())
}

/// Rows of banks as a file: of each its address at the port of the host, a bit for each of its words that counts, and the row.
fn in_hexadecimal(spec: &ArraySpec, rows: &[(u32, HostAccess)]) -> String {
    let line = |(bank, HostAccess { half, row, words, data }): &(u32, HostAccess)| {
        let half = spec.global_buffer.as_ref().map_or(0, |buffer| buffer.half_address(*bank, *half as u32));
        format!("{:08x} {words:x} {data:016x}\n", half + row * GlobalBufferSpec::ROW_BYTES)
    };
    rows.iter().map(line).join("")
}

/// Adds files that say which array they are generated from.
fn add_signed(folder: &mut OutputFolder, spec: &ArraySpec, files: impl IntoIterator<Item = File>) {
    let mut signed = OutputFolder::new();
    signed.add_all(files);
    sign(folder, spec, signed);
}

/// The same of a folder.
fn sign(folder: &mut OutputFolder, spec: &ArraySpec, mut signed: OutputFolder) {
    Origin::of_array(spec).sign(&mut signed);
    folder.add_all(signed.files());
}

fn add_words(folder: &mut OutputFolder, files: Vec<(String, Vec<u16>)>) {
    for (path, words) in files {
        let mut text = String::with_capacity(5 * words.len());
        for word in words {
            writeln!(text, "{word:04x}").expect("writing to a string does not fail");
        }
        folder.add(path, text);
    }
}

/// The words of the streams of the testbench, beat by beat.
fn streams(work: &Work) -> Result<Vec<(String, Vec<u16>)>, Diagnostic> {
    let Compiled { program, graph, .. } = work.compiled;
    let inputs = graph.input_beats(program, work.inputs)?;
    let inputs = split(&inputs, graph.inputs.iter().map(|stream| stream.lanes.len()));
    let outputs = graph.output_beats(program, work.outputs);
    let outputs = split(&outputs, graph.outputs.iter().map(|stream| stream.lanes.len()));
    let named = |lanes: Vec<Vec<u16>>, name: &str, end: &str| {
        let file = |(number, words): (usize, Vec<u16>)| (format!("testbench/{name}_{number}.{end}hex"), words);
        lanes.into_iter().enumerate().map(file).collect_vec()
    };
    let mut files = named(inputs, "in", "");
    files.extend(named(outputs, "out", "expected."));
    Ok(files)
}

/// The images of a program, in the order of its inputs and outputs.
fn program_images(compiled: &Compiled) -> Vec<ProgramImage> {
    let program = &compiled.program;
    let arrays = [ArrayKind::Input, ArrayKind::Output].into_iter().flat_map(|kind| program.arrays_of(kind));
    let images = arrays.map(|array| ProgramImage {
        name: array.name.clone(),
        output: array.kind == ArrayKind::Output,
        element: array.element.in_memory().expect("arrays hold elements"),
        whole: array.element.element().expect("arrays hold elements"),
        shape: array.shape_in_words(),
    });
    images.collect()
}

/// The program as firmware knows it, of an array with a global buffer with the cycles of its run.
fn program<'a>(compiled: &Compiled, mapped: &'a Mapped, target: &ArrayTarget, cycles: u64) -> Program<'a> {
    let (graph, spec) = (&compiled.graph, &target.spec);
    let images = program_images(compiled);
    let (is_buffered, banks) = (spec.global_buffer.is_some(), bank_images(compiled, mapped, spec));
    let (inputs, outputs) = (mapped.lowered.input_lanes(graph), mapped.lowered.output_lanes(graph));
    let of = |direction: Direction, lanes: Vec<StreamLane>| lanes.into_iter().map(move |lane| (direction, lane));
    let lanes = of(Direction::In, inputs).chain(of(Direction::Out, outputs)).enumerate();
    let lanes = lanes.map(|(number, (direction, lane))| {
        let name = &compiled.program.arrays[lane.array(graph, direction)].name;
        let image = images.iter().position(|image| image.name == *name).expect("streams are of images");
        let place = match banks.get(number) {
            Some(&BankImage { bank, first_word, .. }) => Place::Bank { bank, first_word },
            None => Place::Column(mapped.place(lane.cell).column),
        };
        Lane { image, place, elements: elements(compiled, &lane, direction, &images[image]) }
    });
    let span = mapped.implementation.routing.lags.iter().copied().max().unwrap_or(0).max(0);
    let without_waits = graph.length + span as u64 + u64::from(3 * spec.stall_latency());
    let bitstream = if is_buffered { mapped.bitstream.clone() } else { of_array(mapped, target) };
    Program {
        name: &mapped.lowered.netlist.name,
        bitstream: bitstream.writes.iter().map(|write| (write.address, write.data)).collect(),
        tail: tail(compiled, mapped, target),
        cycles: if is_buffered { cycles } else { without_waits },
        lanes: lanes.collect(),
        has_rows: BankedBitstream::of(&mapped.bitstream, spec).is_some(),
        images,
    }
}

/// The bitstream of the array alone, without its global buffer, whose place the shell takes.
fn of_array(mapped: &Mapped, ArrayTarget { spec, graph, .. }: &ArrayTarget) -> Bitstream {
    mapped.configuration.of_array().encode(spec, graph).expect("the configuration was encoded before")
}

/// The elements that a lane of a stream carries.
fn elements(compiled: &Compiled, lane: &StreamLane, direction: Direction, image: &ProgramImage) -> Elements {
    let (extent, element) = lane.elements(&compiled.graph, direction);
    let loops = extent.iter().zip(&element.stride).map(|(&extent, &stride)| (extent, vec![stride]));
    Elements { shape: image.shape.clone(), lanes: vec![element.start], loops: loops.collect() }
}

/// Cycles that a run goes on after its last beat. When the last result leaves, all inputs that were due before it are taken; one that is
/// due later would be the first of the next run.
fn tail(compiled: &Compiled, mapped: &Mapped, target: &ArrayTarget) -> u64 {
    let graph = &compiled.graph;
    let (inputs, outputs) = (mapped.lowered.input_lanes(graph), mapped.lowered.output_lanes(graph));
    let last = |lanes: &[StreamLane]| {
        let last = |lane: &StreamLane| {
            let counter = &graph.counters[lane.counter];
            let lag = mapped.implementation.routing.lags[lane.cell];
            *counter.extent.range(&counter.cycle).end() + i128::from(lag)
        };
        lanes.iter().map(last).max().unwrap_or(0)
    };
    let later = last(&inputs) - last(&outputs);
    // A request to stall may be on its way when the last beat comes, and another one while streams decide ahead.
    let stalls = 4 * i128::from(target.spec.stall_latency() + 2);
    if later > 0 { (later + stalls) as u64 } else { 0 }
}
