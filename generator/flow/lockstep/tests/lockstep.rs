//! The RTL of arrays beside their model: bitstreams as constants, bitstreams that are loaded, and RTL with faults.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pushmem_bitstream::Configuration;
use pushmem_emulator::{Beat, Emulator, Inputs, RunStreams, StreamOutputs};
use pushmem_fabric::{ArraySpec, Folder};
use pushmem_files::{Diagnostic, Document};
use pushmem_interconnect::generate;
use pushmem_lockstep::{Agreement, Lockstep, Rtl, build};
use pushmem_resources::Graph;
use pushmem_simulation::Verilator;
use pushmem_systemverilog::{File, files_of};
use pushmem_testing::verilator;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// An array with a program on it.
struct Program {
    spec: ArraySpec,
    files: Vec<File>,
    configuration: Configuration,
}

impl Program {
    /// The filter that was placed and routed by hand.
    fn gaussian() -> Self {
        let text = fs::read_to_string(root().join("constraints/arrays/small.yaml")).unwrap();
        let document = Document::parse("small.yaml", text).unwrap();
        let spec = ArraySpec::from_document(&document, &Folder(root().join("constraints"))).unwrap();
        let document = Document::read(&root().join("rtl-tests/arrays/gaussian.yaml")).unwrap();
        let configuration = Configuration::from_document(&document, &spec, &Graph::of(&spec)).unwrap();
        Program { files: files_of(generate(&spec).unwrap()), spec, configuration }
    }

    /// An element that adds constants from the first cycle on, which is the first beat.
    fn constants() -> Self {
        let spec = "name: pair\nkind: array\ncolumns: 1\nrows: 1\npe: smallest_pe\ntracks: {word: 1, bit: 1}\n";
        let document = Document::parse("pair.yaml", spec).unwrap();
        let spec = ArraySpec::from_document(&document, &Folder(root().join("constraints"))).unwrap();
        let text = "
array: pair
tiles:
  io_0_0:
    stream_out: {extent: [6], cycle: {start: 0, stride: [1]}}
    inputs: {data: south_0}
  pe_0_1:
    operation: add
    operands: {a: {constant: 5}, b: {constant: 6}}
    words: {north_0: result}
";
        let document = Document::parse("constants.yaml", text).unwrap();
        let configuration = Configuration::from_document(&document, &spec, &Graph::of(&spec)).unwrap();
        Program { files: files_of(generate(&spec).unwrap()), spec, configuration }
    }

    /// Runs the program on the model, in which some cycles wait, and on RTL of these files.
    fn run(&self, files: &[File], rtl: Rtl) -> Result<Agreement, Diagnostic> {
        let mut emulator = Emulator::new(&self.spec, Graph::of(&self.spec));
        let executable = build(&Verilator::find()?, &self.spec, files, rtl, &self.configuration)?;
        let bitstream = self.configuration.encode(&self.spec, emulator.graph())?;
        let streams = RunStreams::of(&emulator, &self.configuration);
        let mut lockstep = Lockstep::start(&executable, &self.spec, rtl, &bitstream, &streams)?;
        let beats = |due: u128| (0..due as u32).map(|beat| Beat { data: (beat * 2654) & 0xfff, bit: false }).collect();
        let inputs: BTreeMap<u32, Vec<Beat>> =
            streams.inputs.iter().map(|(column, due)| (*column, beats(*due))).collect();
        let mut asked = 0_u32;
        let waits = || {
            asked = asked.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            asked >> 30 == 0
        };
        let mut observe = |inputs: &Inputs, outputs: &[StreamOutputs]| lockstep.observe(inputs, outputs);
        emulator.run(&self.configuration, &inputs, 10_000, waits, &mut observe).unwrap();
        lockstep.finish()
    }

    /// The files with a fault in a module.
    fn with_fault(&self, module: &str, from: &str, to: &str) -> Vec<File> {
        let mut files = self.files.clone();
        let (_, text) = files.iter_mut().find(|(name, _)| *name == format!("{module}.sv")).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{text}");
        *text = text.replace(from, to);
        files
    }
}

#[test]
fn rtl_with_a_bitstream_as_constants_shows_what_the_model_shows() {
    let Some(_) = verilator() else { return };
    let program = Program::gaussian();
    let agreement = program.run(&program.files, Rtl::Frozen).unwrap_or_else(|error| panic!("{error:?}"));
    assert!(agreement.cycles > 256, "{agreement:?}");
}

/// No register takes a word before the run.
#[test]
fn constants_begin_with_the_run() {
    let Some(_) = verilator() else { return };
    let program = Program::constants();
    let agreement = program.run(&program.files, Rtl::Frozen).unwrap_or_else(|error| panic!("{error:?}"));
    assert!(agreement.cycles >= 6, "{agreement:?}");
}

#[test]
fn rtl_with_a_bitstream_that_is_loaded_shows_what_the_model_shows() {
    let Some(_) = verilator() else { return };
    let program = Program::gaussian();
    let agreement = program.run(&program.files, Rtl::Configured).unwrap_or_else(|error| panic!("{error:?}"));
    assert!(agreement.cycles > 256, "{agreement:?}");
}

/// Faults: the module, its text, and what is there instead.
const FAULTS: [[&str; 3]; 8] = [
    ["pushmem_hop", "if (step_i) begin", "if (1'b1) begin"],
    ["pushmem_operand", "step_i & (load_mode_i >=", "(load_mode_i >="],
    ["pushmem_connection_box", "SelectBits'(k + 1)", "SelectBits'(k + 2)"],
    ["pushmem_stream_out", "fire & ~stall_i", "fire"],
    ["pushmem_stream_in", "(decided_q <= CountBits'(Latency))", "1'b0"],
    ["pushmem_array_buffer", "beats[read_q]", "beats[write_q]"],
    ["pushmem_control_stage", "{flush_i, stall_i,", "{flush_i, 1'b0,"],
    ["small_array", "stall_i | request_q |", "stall_i |"],
];

fn assert_found([module, from, to]: [&str; 3]) {
    let program = Program::gaussian();
    let found = program.run(&program.with_fault(module, from, to), Rtl::Frozen);
    let error = format!("{:?}", found.expect_err(module));
    let is_difference = error.contains("cycles after the flush the RTL shows");
    assert!(is_difference || error.contains("the RTL simulation stopped"), "{module}: {error}");
}

#[test]
fn a_fault_in_the_rtl_is_found() {
    if verilator().is_some() {
        assert_found(FAULTS[0]);
    }
}

#[test]
#[ignore = "a model is built for each"]
fn all_faults_in_the_rtl_are_found() {
    if verilator().is_some() {
        FAULTS.into_iter().for_each(assert_found);
    }
}
