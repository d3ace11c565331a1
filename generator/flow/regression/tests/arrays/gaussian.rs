//! A program that was placed and routed by hand, through a bitstream, on the RTL of an array.

use std::path::{Path, PathBuf};

use pushmem_bitstream::{Bitstream, Configuration, Netlist};
use pushmem_emulator::{Beat, Emulator, Inputs, StreamInputs, StreamOutputs};
use pushmem_fabric::{ArraySpec, Folder};
use pushmem_files::Document;
use pushmem_interconnect::generate;
use pushmem_regression::arrays::{Bench, Cycle, build_probed, loading};
use pushmem_resources::Graph;
use pushmem_simulation::Verilator;
use pushmem_systemverilog::files_of;
use pushmem_testing::verilator;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const SIDE: usize = 16;
/// The column of the image, and that of the result.
const COLUMN_IN: usize = 0;
const COLUMN_OUT: usize = 2;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The filter of the whole image, row by row, without the border.
fn gaussian(image: &[u32]) -> Vec<u32> {
    let weight = [1, 2, 1];
    let at = |row: usize, column: usize| {
        let taps = (0..3).flat_map(|y| (0..3).map(move |x| (y, x)));
        let sum: u32 = taps.map(|(y, x)| weight[y] * weight[x] * image[(row + y) * SIDE + column + x]).sum();
        (sum & 0xffff) >> 4
    };
    (0..SIDE - 2)
        .flat_map(|row| (0..SIDE - 2).map(move |column| (row, column)))
        .map(|(row, column)| at(row, column))
        .collect()
}

/// How often the source has a word, the sink takes one, and the host lets time pass.
#[derive(Clone, Copy)]
struct Rates {
    source: f64,
    sink: f64,
    host: f64,
}

/// An array with a program.
struct Program {
    spec: ArraySpec,
    graph: Graph,
    configuration: Configuration,
    /// Its RTL in Verilator, if that is there.
    executable: Option<PathBuf>,
}

impl Program {
    fn of_hand() -> Self {
        let document = Document::read(&root().join("constraints/arrays/small.yaml")).unwrap();
        let spec = ArraySpec::from_document(&document, &Folder(root().join("constraints"))).unwrap();
        let graph = Graph::of(&spec);
        let document = Document::read(&root().join("rtl-tests/arrays/gaussian.yaml")).unwrap();
        let written = Configuration::from_document(&document, &spec, &graph).unwrap_or_else(|error| panic!("{error}"));
        let text = written.encode(&spec, &graph).unwrap().to_text(&spec.name);
        let configuration = Bitstream::decode_text("gaussian.hex", &text, &spec, &graph).unwrap();
        let build = |_| {
            let files = files_of(generate(&spec).unwrap());
            build_probed(&Verilator::find().unwrap(), &spec, &files).unwrap_or_else(|error| panic!("{error:?}"))
        };
        let executable = verilator().map(build);
        Program { spec, graph, configuration, executable }
    }
}

/// The beats that leave while an image is offered. Words that no handshake takes differ from those of the image.
fn run(program: &Program, image: &[u32], rates: Rates, random: &mut ChaCha8Rng) -> Vec<Beat> {
    let Program { spec, graph, configuration, executable } = program;
    let mut bench = Bench::start(spec, graph, executable.as_deref()).unwrap();
    let mut cycles = loading(spec, graph, configuration);
    let start = cycles.len();
    let count = (image.len() as f64 / (rates.source * rates.sink * rates.host)) as usize + 400;
    let mut words = image.iter().copied();
    let mut offered = words.next();
    // The ready signals do not depend on what is offered in later cycles: each word is offered until it is taken.
    let mut model = Emulator::new(spec, graph.clone());
    for cycle in &cycles {
        cycle.configured.iter().for_each(|configuration| model.configure(configuration));
        model.clock(&cycle.inputs);
    }
    let mut result = Vec::new();
    for _ in 0..count {
        let is_ready = model.outputs()[COLUMN_IN].ready;
        let beat = offered.filter(|_| random.random_bool(rates.source)).map(|data| Beat { data, bit: false });
        let ready = random.random_bool(rates.sink);
        let mut streams = vec![StreamInputs::default(); COLUMN_OUT + 1];
        streams[COLUMN_IN].beat = beat;
        streams[COLUMN_OUT].ready = ready;
        let inputs = Inputs { stall: !random.random_bool(rates.host), streams, ..Inputs::default() };
        result.extend(model.outputs()[COLUMN_OUT].beat.filter(|_| ready));
        if beat.is_some() && is_ready {
            offered = words.next();
        }
        model.clock(&inputs);
        cycles.push(Cycle { inputs, ..Cycle::default() });
    }
    // The RTL shows the same in every cycle.
    let shown: Vec<Vec<StreamOutputs>> = bench.run(&cycles).unwrap_or_else(|failure| panic!("{failure}"));
    let left = shown[start..].iter().zip(&cycles[start..]);
    let of_rtl: Vec<Beat> = left
        .filter_map(|(outputs, cycle)| outputs[COLUMN_OUT].beat.filter(|_| cycle.inputs.streams[COLUMN_OUT].ready))
        .collect();
    assert_eq!(of_rtl, result);
    result
}

#[test]
fn a_gaussian_by_hand_filters_images() {
    let program = Program::of_hand();
    // The delays of the filter.
    let netlist = Netlist::of(&program.configuration, &program.graph).to_text(&program.graph);
    for net in [
        "pe_1_1.word.b.input <- 4 <- io_0_0.word.data.output",
        "mem_3_1.word.data_in_0.input <- 2 <- pe_1_1.word.result.output",
        "io_2_0.bit.bit.input <- 2 <- mem_3_1.bit.stencil_valid.output",
    ] {
        assert!(netlist.contains(net), "{netlist}");
    }
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    let always = Rates { source: 1.0, sink: 1.0, host: 1.0 };
    for rates in [
        always,
        Rates { host: 0.7, ..always },
        Rates { source: 0.6, ..always },
        Rates { sink: 0.4, ..always },
        Rates { source: 0.8, sink: 0.7, host: 0.9 },
    ] {
        let image: Vec<u32> = (0..SIDE * SIDE).map(|_| random.random_range(0..4096)).collect();
        let result = run(&program, &image, rates, random);
        let expected: Vec<Beat> = gaussian(&image).into_iter().map(|data| Beat { data, bit: true }).collect();
        assert_eq!(result, expected);
    }
}
