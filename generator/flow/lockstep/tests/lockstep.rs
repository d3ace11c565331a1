//! The RTL of arrays beside their model: bitstreams as constants, bitstreams that are loaded, and RTL with faults.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pushmem_bitstream::Configuration;
use pushmem_emulator::{
    BankAccess, Beat, Buffered, BufferedInputs, Emulator, HostAccess, Inputs, RunStreams, StreamOutputs,
};
use pushmem_fabric::{ArraySpec, Folder};
use pushmem_files::{Diagnostic, Document};
use pushmem_interconnect::generate;
use pushmem_lockstep::{Agreement, BufferedLockstep, Lockstep, Rtl, build, build_buffered};
use pushmem_resources::{BankMap, BankMeaning, Graph};
use pushmem_simulation::Verilator;
use pushmem_systemverilog::{File, files_of};
use pushmem_testing::verilator;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

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

/// An array whose bank 2 is a memory: each tile of data is stored, and then loaded while the next one is stored.
struct Banked {
    spec: ArraySpec,
    files: Vec<File>,
    configuration: Configuration,
}

/// Runs of it, each with the other half.
const RUNS: usize = 4;

/// Rows of each bank that the host writes before a run and reads after it.
const ROWS: u32 = 72;

/// Longest run, in cycles.
const LONGEST_RUN: usize = 20_000;

impl Banked {
    fn new() -> Self {
        let document = Document::read(&root().join("constraints/arrays/small_buffered.yaml")).unwrap();
        let spec = ArraySpec::from_document(&document, &Folder(root().join("constraints"))).unwrap();
        let document = Document::read(&root().join("rtl-tests/arrays/tiles_in_a_bank.yaml")).unwrap();
        let configuration = Configuration::from_document(&document, &spec, &Graph::of(&spec)).unwrap();
        Banked { files: files_of(generate(&spec).unwrap()), spec, configuration }
    }

    /// Runs it on the model and on RTL of these files. The host hands halves over in any order, late, and stalls the array; it reads all words.
    fn run(&self, files: &[File]) -> Result<Agreement, Diagnostic> {
        let executable = build_buffered(&Verilator::find()?, &self.spec, files)?;
        let graph = Graph::of(&self.spec);
        let bitstream = self.configuration.encode(&self.spec, &graph)?;
        let mut lockstep = BufferedLockstep::start(&executable, &self.spec, &bitstream)?;
        let mut model = Buffered::new(Emulator::new(&self.spec, graph)).unwrap();
        model.load(&self.configuration);
        let mut clock = |inputs: BufferedInputs| {
            lockstep.observe(&inputs, model.outputs());
            model.clock(&inputs);
            model.outputs().busy.contains(&true)
        };
        let map = BankMap::of(&self.spec).unwrap();
        let register = map.field(BankMeaning::HandOver { half: 0 }).0;
        let random = &mut ChaCha8Rng::seed_from_u64(3);
        let banks: Vec<usize> = self.configuration.banks.keys().map(|bank| *bank as usize).collect();
        let rows = |half: usize, words: u32| {
            let rows = banks.iter().flat_map(|bank| (0..ROWS).map(move |row| (*bank, row)));
            rows.map(move |(bank, row)| (bank, HostAccess { half, row, words, data: 0 }))
        };
        for run in 0..RUNS {
            let half = run % 2;
            for (bank, access) in rows(half, 0xf) {
                let host = Some((bank, HostAccess { data: random.random(), ..access }));
                clock(BufferedInputs { host, ..BufferedInputs::default() });
            }
            let mut late: Vec<(usize, usize)> =
                banks.iter().map(|bank| (if run == 0 { 0 } else { random.random_range(0..300) }, *bank)).collect();
            let stalls = [0.0, 0.2, 0.0, 0.8][run];
            clock(BufferedInputs { flush: true, ..BufferedInputs::default() });
            let is_over = (0..LONGEST_RUN).any(|cycle| {
                let due = late.iter().position(|(at, _)| *at <= cycle).map(|place| late.swap_remove(place).1);
                let access = due.map(|bank| (Some(bank), BankAccess { register, write: Some(1 << half) }));
                let is_busy =
                    clock(BufferedInputs { access, stall: random.random_bool(stalls), ..BufferedInputs::default() });
                cycle > 2 && late.is_empty() && !is_busy
            });
            assert!(is_over, "run {run}");
            for (bank, access) in rows(half, 0) {
                clock(BufferedInputs { host: Some((bank, access)), ..BufferedInputs::default() });
            }
            (0..4).for_each(|_| _ = clock(BufferedInputs::default()));
        }
        lockstep.finish()
    }
}

#[test]
fn a_bank_is_a_memory_in_the_rtl_as_in_the_model() {
    let Some(_) = verilator() else { return };
    let banked = Banked::new();
    let agreement = banked.run(&banked.files).unwrap_or_else(|error| panic!("{error:?}"));
    assert!(agreement.cycles > 4 * 370, "{agreement:?}");
}

/// Faults of a bank that is a memory: the interlock that is removed, and the place where it is.
const BANK_FAULTS: [[&str; 2]; 2] = [
    ["loads do not wait for words that are to be stored", "(common_time & store_lacks)"],
    ["each DMA counts its own time", "{control_q[2:2]}"],
];

fn assert_interlocked([fault, place]: [&str; 2]) {
    let banked = Banked::new();
    let mut files = banked.files.clone();
    let (_, text) = files.iter_mut().find(|(name, _)| name == "small_buffered_bank.sv").unwrap();
    assert_eq!(text.matches(place).count(), 1, "{text}");
    *text = text.replace(place, "1'b0");
    let error = format!("{:?}", banked.run(&files).expect_err(fault));
    assert!(error.contains("after the bitstream was loaded the RTL shows"), "{fault}: {error}");
}

#[test]
fn a_bank_without_its_interlock_is_found() {
    if verilator().is_some() {
        assert_interlocked(BANK_FAULTS[0]);
    }
}

#[test]
#[ignore = "long: builds an array for each fault"]
fn banks_without_an_interlock_are_found() {
    if verilator().is_some() {
        BANK_FAULTS.into_iter().for_each(assert_interlocked);
    }
}
