//! Small accelerators, made by hand: printed, linted, and simulated against the model.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use index_vec::{IndexVec, index_vec};
use pushmem_affine::{Affine, Domain};
use pushmem_composition::{Files, compose, register_writes};
use pushmem_configuration::Configuration;
use pushmem_datapaths::{DedicatedOperators, TableMemories};
use pushmem_files::Document;
use pushmem_graph::{
    Accelerator, Beats, Case, Condition, Counter, CounterId, DatapathId, Driver, InputId, Kernel, KernelId, Lane,
    OperationDatapath, Rom, Source, Stream, Target, Tile, TileId, TileUse, Variable, Wire, WireId,
};
use pushmem_images::Image;
use pushmem_kernels::DatapathGraph;
use pushmem_nest::{ArrayKind, Level, Program, Type, Word};
use pushmem_registers::RegisterMap;
use pushmem_testing::{tool, verilator};
use pushmem_tile::{Reset, TileSpec};
use tempfile::TempDir;

fn program(text: &str) -> Program {
    Program::from_document(&Document::parse("test.yaml", text).unwrap()).unwrap().program
}

fn spec() -> TileSpec {
    shipped("amber")
}

fn shipped(tile: &str) -> TileSpec {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../constraints/tiles/{tile}.yaml"));
    TileSpec::read(&path).unwrap()
}

fn empty(name: &str) -> Accelerator {
    Accelerator::new(name, Target::new(spec(), shipped("rom")))
}

fn wire(name: &str, driver: Driver) -> Wire {
    Wire { name: name.to_owned(), driver }
}

fn w(number: usize) -> WireId {
    WireId::new(number)
}

fn only(first: i64, last: i64, step: i64) -> Condition {
    Condition { first, last, step }
}

/// A kernel with two operands and a loop variable; the first operand is selected, and repeated at the left edge.
fn smooth() -> (Program, Accelerator) {
    let program = program(
        "
name: smooth
inputs: {input: {type: u16, shape: [8, 5]}}
outputs: {output: {type: u16, shape: [8, 5]}}
nest:
  - for y in 0..5:
    - for x in 0..8:
      - output[x, y] = (input[clamp(x - 1, 0, 7), y] + 3 * input[x, y]) / 4 + x as u16
",
    );
    let operation = program.operations()[0].1;
    let datapath = DatapathGraph::of(&program, operation).dedicated();
    let latency = datapath.latency();
    let variables = datapath.variables().into_iter().map(|number| (number, "x".to_owned())).collect::<Vec<_>>();
    assert_eq!(variables.len(), 1);
    // A row has 8 words in 10 cycles.
    let counter = |start: u64| Counter {
        loops: vec!["x".to_owned(), "y".to_owned()],
        extent: [8, 5].into(),
        cycle: Affine { start: start as i64, stride: vec![1, 10] },
    };
    let element = Affine { start: 0, stride: vec![1, 8] };
    let stream = |name: &str, array, counter, wire| Stream {
        name: name.to_owned(),
        array,
        element: Type::U16,
        counter: CounterId::new(counter),
        lanes: vec![Lane { wire: w(wire), element: element.clone() }],
    };
    let cases = vec![
        Case { conditions: vec![(0, only(0, 0, 1))], source: Source::Wire(w(0)) },
        Case { conditions: Vec::new(), source: Source::Wire(w(1)) },
    ];
    let accelerator = Accelerator {
        length: 3 + latency + 48,
        counters: index_vec![counter(3), counter(3 + latency)],
        wires: index_vec![
            wire("input", Driver::Input { stream: InputId::new(0), lane: 0 }),
            wire("input_1_ago", Driver::ShiftRegister { of: w(0), length: 1 }),
            wire("output_load_0", Driver::Select { counter: CounterId::new(0), cases }),
            wire("output", Driver::Kernel { kernel: KernelId::new(0), word: Word::Low }),
        ],
        inputs: index_vec![stream("input", 0, 0, 0)],
        outputs: vec![stream("output", 1, 1, 3)],
        datapaths: index_vec![OperationDatapath {
            name: "output".to_owned(),
            operation: 0,
            depth: 2,
            variables,
            datapath
        }],
        kernels: index_vec![Kernel {
            name: "output".to_owned(),
            stage: 1,
            datapath: DatapathId::new(0),
            iterations: counter(3),
            counter: Some(CounterId::new(0)),
            operands: vec![Source::Wire(w(2)), Source::Wire(w(0))],
            variables: vec![Variable { level: Some(0), scale: 1, offset: 0 }],
        }],
        ..empty("smooth")
    };
    (program, accelerator)
}

/// Beats of five words, names that are taken, a stream without loops, an unused word, and a register whose word is used
/// above it.
fn shuffle() -> (Program, Accelerator) {
    let program = program(
        "
name: module
inputs: {clk: {type: u16, shape: [5, 6]}, stream: {type: i16, shape: [1]}}
outputs: {wire: {type: u16, shape: [5, 6]}, last: {type: i16, shape: [1]}}
nest:
  - for steps in 0..6:
    - for x in 0..5:
      - wire[x, steps] = clk[x, steps]
  - for x in 0..1:
    - last[x] = stream[x]
",
    );
    let rows = |start| Counter {
        loops: vec!["steps".to_owned()],
        extent: [6].into(),
        cycle: Affine { start, stride: vec![2] },
    };
    let once =
        |start| Counter { loops: Vec::new(), extent: Domain::default(), cycle: Affine { start, stride: Vec::new() } };
    let lanes = |wires: [usize; 5]| {
        let lane = |(lane, wire)| Lane { wire: w(wire), element: Affine { start: lane as i64, stride: vec![5] } };
        wires.into_iter().enumerate().map(lane).collect::<Vec<_>>()
    };
    let single = |wire| vec![Lane { wire: w(wire), element: Affine::default() }];
    let stream = |name: &str, array, element, counter, lanes| Stream {
        name: name.to_owned(),
        array,
        element,
        counter: CounterId::new(counter),
        lanes,
    };
    // Lanes 0 and 4 come from the row before on its even rows, lane 1 is constant on every third.
    let even = vec![
        Case { conditions: vec![(0, only(2, 4, 2))], source: Source::Wire(w(8)) },
        Case { conditions: Vec::new(), source: Source::Wire(w(4)) },
    ];
    let third = vec![
        Case { conditions: vec![(0, only(0, 3, 3))], source: Source::Constant(0xabcd) },
        Case { conditions: Vec::new(), source: Source::Wire(w(1)) },
    ];
    let mut wires: IndexVec<WireId, Wire> =
        (0..5).map(|lane| wire("word", Driver::Input { stream: InputId::new(0), lane })).collect();
    wires.extend([
        wire("step", Driver::Input { stream: InputId::new(1), lane: 0 }),
        wire("even", Driver::Select { counter: CounterId::new(0), cases: even }),
        wire("third", Driver::Select { counter: CounterId::new(0), cases: third }),
        wire("word_2_ago", Driver::ShiftRegister { of: w(0), length: 2 }),
        wire("nobody", Driver::ShiftRegister { of: w(1), length: 1 }),
        wire("word_2", Driver::ShiftRegister { of: w(5), length: 12 }),
    ]);
    let accelerator = Accelerator {
        length: 13,
        counters: index_vec![rows(0), once(1), once(13 - 1)],
        wires,
        inputs: index_vec![
            stream("clk", 0, Type::U16, 0, lanes([0, 1, 2, 3, 4])),
            stream("stream", 1, Type::I16, 1, single(5)),
        ],
        outputs: vec![
            stream("wire", 2, Type::U16, 0, lanes([6, 7, 2, 3, 6])),
            stream("last", 3, Type::I16, 2, single(5)),
        ],
        ..empty("module")
    };
    // The single word is shown late: from a register of its own.
    let mut accelerator = accelerator;
    accelerator.wires[w(10)].driver = Driver::ShiftRegister { of: w(5), length: 11 };
    accelerator.outputs[1].lanes[0].wire = w(10);
    (program, accelerator)
}

/// Beats of so many words, each of which leaves in the lane after its own, in the cycle in which it came.
fn rotate(lanes: usize) -> (Program, Accelerator) {
    let last = lanes - 1;
    let program = program(&format!(
        "
name: rotate
inputs: {{input: {{type: u16, shape: [{lanes}, 6]}}}}
outputs: {{output: {{type: u16, shape: [{lanes}, 6]}}}}
nest:
  - for y in 0..6:
    - for x in 0..{last}:
      - output[x + 1, y] = input[x, y]
  - for y in 0..6:
    - output[0, y] = input[{last}, y]
"
    ));
    let rows = Counter { loops: vec!["y".to_owned()], extent: [6].into(), cycle: Affine { start: 0, stride: vec![1] } };
    let stream = |name: &str, array, wires: Vec<usize>| Stream {
        name: name.to_owned(),
        array,
        element: Type::U16,
        counter: CounterId::new(0),
        lanes: (0..lanes)
            .zip(wires)
            .map(|(lane, wire)| Lane {
                wire: w(wire),
                element: Affine { start: lane as i64, stride: vec![lanes as i64] },
            })
            .collect(),
    };
    let accelerator = Accelerator {
        length: 6,
        counters: index_vec![rows],
        wires: (0..lanes).map(|lane| wire("word", Driver::Input { stream: InputId::new(0), lane })).collect(),
        inputs: index_vec![stream("input", 0, (0..lanes).collect())],
        outputs: vec![stream("output", 1, std::iter::once(last).chain(0..last).collect())],
        ..empty("rotate")
    };
    (program, accelerator)
}

/// The smooth accelerator with two memory tiles beside it, one chained to the other.
fn with_tiles() -> (Program, Accelerator) {
    let (program, mut accelerator) = smooth();
    let tile = |name: &str, chain_from| Tile {
        name: name.to_owned(),
        level: Level::Memory,
        spec: Arc::new(accelerator.target.memory().clone()),
        begin: 0,
        configuration: Configuration { tile: accelerator.target.memory().name.clone(), ..Configuration::default() },
        inputs: vec![Some(w(0)), None],
        outputs: vec![chain_from, None],
        chain_from: chain_from.map(|_| TileId::new(0)),
    };
    accelerator.tiles = index_vec![tile("input_memory_0", None), tile("input_memory_1", Some(w(4)))];
    accelerator.wires.push(wire("input_64_ago", Driver::Tile { tile: TileId::new(1), output: 0 }));
    (program, accelerator)
}

/// Changes the specification of the memory tiles.
fn change(accelerator: &mut Accelerator, change: impl Fn(&mut TileSpec)) {
    change(accelerator.target.spec_mut(TileUse::Store(Level::Memory)).unwrap());
    accelerator.tiles.iter_mut().for_each(|tile| change(Arc::make_mut(&mut tile.spec)));
}

/// A kernel that looks up two entries in each cycle, in ROMs with this latency.
fn lookup(latency: u32) -> (Program, Accelerator) {
    let program = program(
        "
name: lookup
inputs: {input: {type: u16, shape: [8, 5]}}
outputs: {output: {type: i16, shape: [8, 5]}}
tables:
  curve: {type: i16, values: [0, -1, 300, 4, 5, -32768, 7, 8, 9, 10, 11, 12]}
  steps: {type: u8, values: [9, 200, 255, 0, 1]}
nest:
  - for y in 0..5:
    - for x in 0..8:
      - output[x, y] = curve[input[x, y] / 7000] + steps[min(input[x, y], 4)] as i16
",
    );
    let operation = program.operations()[0].1;
    let memories = TableMemories { logic_words: 4, latency: u64::from(latency) };
    let datapath =
        DatapathGraph::of(&program, operation).pipelined(&DedicatedOperators::LONG_STAGES, memories).unwrap();
    let fetches = datapath.fetches();
    let rom = |name: &str, table: usize, contents: Vec<u64>| Rom {
        name: name.to_owned(),
        table,
        kernel: KernelId::new(0),
        fetch: fetches.iter().position(|fetch| fetch.table == table).unwrap(),
        configuration: Configuration { tile: "rom".to_owned(), contents, ..Configuration::default() },
    };
    let entries = |table: usize| program.tables[table].values.iter().map(|&value| value as u64 & 0xffff).collect();
    let (_, of_smooth) = smooth();
    let stream = |streams: &[Stream], wire, element| Stream {
        lanes: vec![Lane { wire: w(wire), ..streams[0].lanes[0].clone() }],
        element,
        ..streams[0].clone()
    };
    let mut counters = of_smooth.counters;
    counters[CounterId::new(1)].cycle.start = counters[CounterId::new(0)].cycle.start + datapath.latency() as i64;
    let accelerator = Accelerator {
        length: counters[CounterId::new(1)].last() as u64 + 1,
        wires: index_vec![
            wire("input", Driver::Input { stream: InputId::new(0), lane: 0 }),
            wire("output", Driver::Kernel { kernel: KernelId::new(0), word: Word::Low })
        ],
        inputs: index_vec![stream(of_smooth.inputs.as_raw_slice(), 0, Type::U16)],
        outputs: vec![stream(&of_smooth.outputs, 1, Type::I16)],
        roms: vec![rom("output_curve_rom", 0, entries(0)), rom("output_steps_rom", 1, entries(1))],
        target: Target::new(spec(), TileSpec { sram_latency: latency, ..shipped("rom") }),
        kernels: index_vec![Kernel {
            name: "output".to_owned(),
            stage: 1,
            datapath: DatapathId::new(0),
            iterations: counters[CounterId::new(0)].clone(),
            counter: None,
            operands: vec![Source::Wire(w(0)); datapath.loads().len()],
            variables: Vec::new(),
        }],
        datapaths: index_vec![OperationDatapath {
            name: "output".to_owned(),
            operation: 0,
            depth: 2,
            variables: Vec::new(),
            datapath,
        }],
        counters,
        ..empty("lookup")
    };
    (program, accelerator)
}

/// A ROM with the ports of the tile: written words are read back, and the upper half of it are the contents. Addresses
/// that are not those of words are errors.
fn rom(spec: &TileSpec) -> (String, String) {
    let latency = spec.sram_latency;
    let text = format!(
        "module rom_tile (
    input logic clk_i, rst_ni, flush_i, stall_i, config_write_i, config_read_i,
    input logic [31:0] config_address_i, config_write_data_i, output logic [31:0] config_read_data_o, output logic config_error_o,
    input logic [10:0] address_in_0_i, output logic data_in_0_taken_o,
    output logic [15:0] data_out_0_o, output logic data_out_0_valid_o
);
    logic [31:0] words [4096];
    logic [31:0] read_data [{latency}];
    logic [31:0] rows [{latency}];
    logic config_error_q;
    always_ff @(posedge clk_i) begin
        if (config_write_i) words[config_address_i[13:2]] <= config_write_data_i;
        if (config_read_i) read_data[0] <= words[config_address_i[13:2]];
        config_error_q <= (config_write_i || config_read_i) && config_address_i[1:0] != 2'd0;
        if (!stall_i) rows[0] <= words[{{1'b1, address_in_0_i}}];
        for (int i = 1; i < {latency}; i++) begin
            read_data[i] <= read_data[i - 1];
            if (!stall_i) rows[i] <= rows[i - 1];
        end
    end
    assign config_error_o = config_error_q;
    assign config_read_data_o = read_data[{latency} - 1];
    assign data_out_0_o = rows[{latency} - 1][15:0];
    assign {{data_in_0_taken_o, data_out_0_valid_o}} = {{2{{rst_ni && !flush_i}}}};
    logic unused;
    assign unused = ^{{config_address_i, rows[{latency} - 1]}};
endmodule
"
    );
    ("rom_tile.sv".to_owned(), text)
}

/// A module with the ports of the tile, and a register.
fn stub(spec: &TileSpec) -> (String, String) {
    let name = format!("{}_tile", spec.name);
    let text = format!(
        "module {name} (
    input logic clk_i, rst_ni, flush_i, stall_i, config_write_i, config_read_i,
    input logic [31:0] config_address_i, config_write_data_i, output logic [31:0] config_read_data_o, output logic config_error_o,
    input logic [15:0] data_in_0_i, data_in_1_i, chain_in_0_i, chain_in_1_i,
    output logic [15:0] data_out_0_o, data_out_1_o,
    output logic data_in_0_taken_o, data_in_1_taken_o, data_out_0_valid_o, data_out_1_valid_o, stencil_valid_o
);
    logic [31:0] register_q;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) register_q <= '0;
        else if (config_write_i) register_q <= config_write_data_i;
    end
    assign config_error_o = 1'b0;
    assign config_read_data_o = register_q;
    assign data_out_0_o = data_in_0_i ^ chain_in_0_i;
    assign data_out_1_o = data_in_1_i ^ chain_in_1_i;
    assign {{data_in_0_taken_o, data_in_1_taken_o, data_out_0_valid_o, data_out_1_valid_o}} = {{4{{flush_i && !stall_i}}}};
    assign stencil_valid_o = config_read_i && config_address_i == '0;
endmodule
"
    );
    (format!("{name}.sv"), text)
}

/// Words of both sides of a run, from the model.
fn beats(program: &Program, accelerator: &Accelerator) -> (Vec<Beats>, Vec<Beats>) {
    let image = |array: &pushmem_nest::Array| {
        let values = (0..array.size() as i64).map(|place| array.element.wrap(place * 40503 + 977));
        let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
        Image::from_values(array.element.element().unwrap(), &shape, values).unwrap()
    };
    let inputs: BTreeMap<String, Image> =
        program.arrays_of(ArrayKind::Input).map(|array| (array.name.clone(), image(array))).collect();
    let inputs = accelerator.input_beats(program, &inputs).unwrap();
    let (outputs, _) = accelerator.run_beats(program, inputs.clone());
    (inputs, outputs)
}

fn composed(program: &Program, accelerator: &Accelerator) -> Files {
    let (inputs, expected) = match accelerator.tiles.as_raw_slice() {
        [] => beats(program, accelerator),
        _ => (vec![vec![0; 40]], vec![vec![0; 40]]),
    };
    let tiles = match accelerator.roms.as_slice() {
        [] => vec![vec![stub(accelerator.target.memory())]],
        _ => vec![vec![rom(accelerator.target.rom())]],
    };
    compose(accelerator, program, &tiles, &inputs, &expected).unwrap()
}

/// Writes the files to a folder whose path has spaces, as those of users may.
fn written(files: &Files) -> TempDir {
    let folder = tempfile::Builder::new().prefix("a folder with spaces ").tempdir().unwrap();
    for (path, text) in files.all() {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn run(command: &mut Command) -> (bool, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.success(), String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
}

/// Builds and runs the testbench; returns its folder.
fn simulate(program: &Program, accelerator: &Accelerator, verilator: &Path) -> TempDir {
    let folder = written(&composed(program, accelerator));
    let variable = format!("VERILATOR={}", verilator.display());
    let (ok, log) = run(Command::new("make").args(["lint", &variable]).current_dir(&folder));
    assert!(ok && !log.contains('%'), "{log}");
    let (ok, log) = run(Command::new("make").args(["--silent", &variable]).current_dir(&folder));
    assert!(ok && log.contains("result: pass scenarios=3 runs=5"), "{log}");
    for seed in ["2", "3"] {
        let arguments = ["--runs", "5", "--stalls", "60", "--seed", seed];
        let (ok, log) = run(Command::new("build/plain/simulation").args(arguments).current_dir(&folder));
        assert!(ok && log.contains("result: pass scenarios=1 runs=5"), "{log}");
    }
    folder
}

#[test]
fn a_kernel_with_a_selection_agrees_with_the_model() {
    let Some(verilator) = verilator() else { return };
    let (program, accelerator) = smooth();
    let folder = simulate(&program, &accelerator, &verilator);
    let wave = ["--silent", "wave", &format!("VERILATOR={}", verilator.display())];
    let (ok, log) = run(Command::new("make").args(wave).current_dir(&folder));
    assert!(ok && log.contains("result: pass scenarios=3 runs=5"), "{log}");
    assert!(folder.path().join("build/smooth.fst").is_file(), "{log}");

    // The model and the testbench do not just agree on anything.
    let testbench = folder.path().join("testbench");
    let expected = std::fs::read_to_string(testbench.join("output.expected.hex")).unwrap();
    let actual = std::fs::read_to_string(testbench.join("output.actual.hex")).unwrap();
    assert_eq!(actual.lines().take(40).collect::<Vec<_>>(), expected.lines().collect::<Vec<_>>());
    let mut lines: Vec<&str> = expected.lines().collect();
    lines[7] = "1234";
    std::fs::write(testbench.join("output.expected.hex"), lines.join("\n")).unwrap();
    let (ok, log) = run(Command::new("build/plain/simulation").args(["--stalls", "0"]).current_dir(&folder));
    assert!(!ok && log.contains("output: beat 7, lane 0: expected 1234, found "), "{log}");
    assert!(log.contains("result: fail") && log.contains("differences=1"), "{log}");
    std::fs::write(testbench.join("output.expected.hex"), lines[..39].join("\n")).unwrap();
    let (ok, log) = run(Command::new("build/plain/simulation").args(["--stalls", "0"]).current_dir(&folder));
    assert!(!ok && log.contains("output: expected 39 beats, found 40"), "{log}");
}

#[test]
fn wide_beats_and_awkward_names_agree_with_the_model() {
    let Some(verilator) = verilator() else { return };
    let (program, accelerator) = shuffle();
    simulate(&program, &accelerator, &verilator);
}

#[test]
fn beats_of_two_thousand_bits_agree_with_the_model() {
    let Some(verilator) = verilator() else { return };
    let (program, accelerator) = rotate(128);
    simulate(&program, &accelerator, &verilator);
}

#[test]
fn the_firmware_that_is_named_is_the_one_that_runs() {
    let Some(verilator) = verilator() else { return };
    let (program, accelerator) = rotate(128);
    let folder = written(&composed(&program, &accelerator));
    let firmware = |program: Option<&str>| {
        let mut make = Command::new("make");
        make.args(["--silent", "firmware", &format!("VERILATOR={}", verilator.display())]).current_dir(&folder);
        run(make.args(program.map(|program| format!("PROGRAM={program}.c"))))
    };
    // Each is older than the one before.
    for (age, name) in ["first", "the second"].into_iter().enumerate() {
        let text = format!(
            "#include <stdio.h>\n#include \"platform.h\"\n#include \"rotate.h\"\n\
             int main(void) {{ pushmem_start(); puts(\"this is the {name}\"); return 0; }}\n"
        );
        let path = folder.path().join(format!("{name}.c"));
        std::fs::write(&path, text).unwrap();
        let written = std::time::SystemTime::now() - std::time::Duration::from_secs(3600 * (1 + age as u64));
        std::fs::File::options().append(true).open(&path).unwrap().set_modified(written).unwrap();
    }
    for name in ["first", "the second", "first"] {
        let (ok, log) = firmware(Some(name));
        assert!(ok && log.trim_end().ends_with(&format!("this is the {name}")), "{log}");
    }
    let (ok, log) = firmware(Some("third"));
    assert!(!ok && log.contains("there is no third.c; its path is from the folder of this Makefile"), "{log}");
    let (ok, log) = firmware(None);
    assert!(!ok && log.contains("name the C program") && !log.contains("this is"), "{log}");
}

#[test]
fn an_input_stream_that_ends_early_is_noticed() {
    let Some(verilator) = verilator() else { return };
    let (program, accelerator) = shuffle();
    let folder = written(&composed(&program, &accelerator));
    let input = folder.path().join("testbench/clk.hex");
    let words = std::fs::read_to_string(&input).unwrap();
    std::fs::write(&input, words.lines().take(5).collect::<Vec<_>>().join("\n")).unwrap();
    let variable = format!("VERILATOR={}", verilator.display());
    let (ok, log) = run(Command::new("make").args(["--silent", &variable]).current_dir(&folder));
    assert!(!ok && log.contains("nothing happens any more") && log.contains("result: fail"), "{log}");
}

#[test]
fn tables_in_roms_agree_with_the_model() {
    let Some(verilator) = verilator() else { return };
    for latency in [1, 2] {
        let (program, accelerator) = lookup(latency);
        let folder = simulate(&program, &accelerator, &verilator);
        refuses_writes_that_were_cut(folder.path());
    }
}

/// Within a word, between the words of a write, and between writes.
fn refuses_writes_that_were_cut(accelerator: &Path) {
    let file = accelerator.join("configuration/writes.hex");
    let writes = std::fs::read_to_string(&file).unwrap();
    for (missing, said) in
        [(2, "is no word of 8 hexadecimal digits"), (9, " words, not those of"), (18, " words, not those of")]
    {
        std::fs::write(&file, &writes[..writes.len() - missing]).unwrap();
        let (ok, log) = run(Command::new("build/plain/simulation").current_dir(accelerator));
        assert!(!ok && log.contains(said), "{log}");
    }
}

#[test]
fn roms_are_behind_the_memory_tiles_on_the_configuration_bus() {
    let (_, mut accelerator) = lookup(1);
    let (_, with_tiles) = with_tiles();
    accelerator.tiles = with_tiles.tiles;
    let writes = register_writes(&accelerator).unwrap();
    let first = writes.iter().map(|writes| writes[0].address).collect::<Vec<_>>();
    // Contents of 8 KiB are aligned to their size: a ROM has 16 KiB.
    assert_eq!(first, [0, 0x4000, 0x8000, 0xc000]);
    assert!(writes[2].iter().any(|write| (write.address, write.data) == (0x8000 + 0x2000 + 4, 0xffff)));
}

#[test]
fn different_files_of_one_name_are_an_error() {
    let (program, accelerator) = lookup(1);
    let (inputs, expected) = beats(&program, &accelerator);
    let (name, text) = rom(accelerator.target.rom());
    let same = [vec![(name.clone(), text.clone())], vec![(name.clone(), text.clone())]];
    let files = compose(&accelerator, &program, &same, &inputs, &expected).unwrap();
    assert_eq!(files.rtl.iter().filter(|(path, _)| path.ends_with("/rom_tile.sv")).count(), 1);
    let other = [vec![(name.clone(), text)], vec![(name, String::new())]];
    let error = compose(&accelerator, &program, &other, &inputs, &expected).unwrap_err();
    assert!(error.to_string().contains("different files `rom_tile.sv`"), "{error}");
}

#[test]
fn the_memory_tile_decides_on_resets() {
    let (program, mut accelerator) = with_tiles();
    let asynchronous = composed(&program, &accelerator);
    assert!(asynchronous.rtl.iter().any(|(_, text)| text.contains("negedge rst_ni")));
    change(&mut accelerator, |memory| memory.reset = Reset::Synchronous);
    change(&mut accelerator, |memory| memory.clock_gating = true);
    let synchronous = composed(&program, &accelerator);
    let own = synchronous.rtl.iter().filter(|(path, _)| !path.contains("tile"));
    assert!(own.clone().all(|(_, text)| !text.contains("negedge")));
    let top = &synchronous.rtl.last().unwrap().1;
    assert!(top.contains(" test_enable_i,"), "{top}");
    assert!(top.contains(".test_enable_i "), "{top}");

    let (program, mut accelerator) = lookup(1);
    change(&mut accelerator, |memory| memory.reset = Reset::Synchronous);
    let (inputs, expected) = beats(&program, &accelerator);
    let error = compose(&accelerator, &program, &[], &inputs, &expected).unwrap_err();
    assert!(error.to_string().contains("`rom` is asynchronous, that of the accelerator synchronous"), "{error}");
}

/// The contents of ROMs have no shadow.
#[test]
fn the_testbench_writes_registers_during_runs_if_all_have_a_shadow() {
    let ports = |program: &Program, accelerator: &Accelerator| {
        let files = composed(program, accelerator);
        files.harness.iter().find(|(path, _)| path.ends_with("ports.h")).unwrap().1.clone()
    };
    for (with_rom, (program, mut accelerator)) in [(false, with_tiles()), (true, lookup(1))] {
        assert!(!ports(&program, &accelerator).contains("PUSHMEM_SHADOW_REGISTERS"));
        change(&mut accelerator, |memory| memory.shadow_registers = true);
        accelerator.target.spec_mut(TileUse::Table).unwrap().shadow_registers = true;
        assert_eq!(ports(&program, &accelerator).contains("PUSHMEM_SHADOW_REGISTERS"), !with_rom);
    }
}

#[test]
fn memory_tiles_share_the_configuration_bus() {
    let (program, accelerator) = with_tiles();
    let files = composed(&program, &accelerator);
    let top = &files.rtl.last().unwrap().1;
    assert!(top.contains("input  logic [9:0]  config_address_i,"), "{top}");
    assert!(top.contains("config_write_i && config_tile == 1'd1"), "{top}");
    assert!(top.contains(".chain_in_0_i        (input_memory_0_out_0),"), "{top}");
    let map = RegisterMap::of(accelerator.target.memory());
    let writes = register_writes(&accelerator).unwrap();
    assert_eq!(writes[1][0].address - writes[0][0].address, map.bytes().next_power_of_two());
    let Some(verilator) = verilator() else { return };
    let folder = written(&files);
    let (ok, log) =
        run(Command::new("make").args(["lint", &format!("VERILATOR={}", verilator.display())]).current_dir(&folder));
    assert!(ok && !log.contains('%'), "{log}");
}

#[test]
fn c_and_cpp_accept_the_header() {
    if tool("gcc").is_none() || tool("g++").is_none() {
        return;
    }
    let (program, accelerator) = with_tiles();
    let folder = written(&composed(&program, &accelerator));
    let beats = 40;
    let source = format!(
        "#include <stdio.h>\n#include \"smooth.h\"\n#include \"smooth.h\"\n
        static void show(void *context, uint32_t address, uint32_t data) {{
            (void)context;
            printf(\"%08lx %08lx\\n\", (unsigned long)address, (unsigned long)data);
        }}
        int main(void) {{
            size_t beat;
            smooth_configure(show, NULL);
            for (beat = 0; beat < SMOOTH_OUTPUT_BEATS; ++beat) printf(\"%lu\\n\",
                (unsigned long)smooth_output_element(beat, 0));
            return SMOOTH_INPUT_WORDS == {beats} ? 0 : 1;
        }}\n"
    );
    std::fs::write(folder.path().join("use.c"), source).unwrap();
    let flags = ["-Wall", "-Wextra", "-pedantic", "-Werror"];
    let (ok, log) =
        run(Command::new("g++").args(flags).args(["-fsyntax-only", "-x", "c++", "use.c"]).current_dir(&folder));
    assert!(ok, "{log}");
    let (ok, log) = run(Command::new("gcc").args(flags).args(["-std=c99", "use.c", "-o", "use"]).current_dir(&folder));
    assert!(ok, "{log}");
    let (ok, log) = run(&mut Command::new(folder.path().join("use")));
    let hex = std::fs::read_to_string(folder.path().join("configuration/writes.hex")).unwrap();
    let elements = (0..beats).map(|element| format!("{element}\n"));
    let expected = hex.lines().filter(|line| !line.starts_with("//")).map(|line| format!("{line}\n")).chain(elements);
    assert!(ok && log == expected.collect::<String>(), "{log}");
}

#[test]
fn the_same_accelerator_gives_the_same_files() {
    let (program, accelerator) = smooth();
    assert_eq!(composed(&program, &accelerator), composed(&program, &accelerator));
    let files = composed(&program, &accelerator);
    for (path, text) in files.all() {
        assert!(text.ends_with('\n'), "{path}");
        assert!(text.lines().all(|line| line.len() <= 200 && line == line.trim_end()), "{path}");
    }
}

#[test]
fn the_sources_for_a_simulator_have_no_folders() {
    let (program, accelerator) = smooth();
    let sources = composed(&program, &accelerator).simulation_sources(true);
    assert_eq!(sources.top_module, "smooth");
    let [.., (top, _), (waves, _)] = &sources.rtl[..] else { unreachable!() };
    assert_eq!([top, waves], ["smooth.sv", "waves.sv"]);
    assert_eq!(sources.harness[0].0, "harness.cpp");
    assert!(sources.harness[0].1.starts_with("#define PUSHMEM_WAVE\n"));
    assert_eq!([&sources.harness[1].0, &sources.harness[2].0], ["ports.h", "streams.h"]);
}

#[test]
fn what_hardware_cannot_do_is_an_error() {
    let (program, accelerator) = smooth();
    let (inputs, expected) = beats(&program, &accelerator);
    let error = |accelerator: &Accelerator, expected: &[Beats]| {
        compose(accelerator, &program, &[], &inputs, expected).unwrap_err()
    };
    let mut early = accelerator.clone();
    early.counters[0].cycle.start = -1;
    let refused = error(&early, &expected);
    assert!(refused.message().ends_with("have iterations in one cycle, or before cycle 0"), "{refused}");
    let mut double = accelerator.clone();
    double.counters[0].cycle.stride = vec![1, 7];
    assert_eq!(error(&double, &expected).message(), refused.message());
    assert!(refused.help().is_none(), "a fault of the caller");
    let short = [expected[0][1..].to_vec()];
    let message = error(&accelerator, &short).to_string();
    assert_eq!(message, "the beats of the stream output have 40 words, but 39 are given");
    let (_, mut narrow) = with_tiles();
    change(&mut narrow, |memory| memory.word_bits = 8);
    let refused = error(&narrow, &expected);
    assert!(refused.message().contains("have 8 bits; an accelerator needs 16 or more"), "{refused}");
    assert_eq!(refused.help(), Some("choose a tile with words of at least 16 bits"));
}
