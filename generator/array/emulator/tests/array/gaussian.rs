//! A program that was placed and routed by hand, through a bitstream, on the RTL of an array.

use std::fs;
use std::path::{Path, PathBuf};

use pushmem_bitstream::{Bitstream, Configuration, Netlist};
use pushmem_emulator::{Inputs, Stream};
use pushmem_files::Document;
use pushmem_resources::Graph;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::support::{Bench, Cycle, parse};

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

/// The cycles that load a bitstream, and then run an image through the array. With `stalls`, time stands still now and then.
fn cycles(bench: &Bench, configuration: &Configuration, image: &[u32], stalls: Option<&mut ChaCha8Rng>) -> Vec<Cycle> {
    let depth = bench.spec().control_depth as usize;
    let stalled = Inputs { stall: true, ..Inputs::default() };
    let bitstream = configuration.encode(bench.spec(), bench.graph()).unwrap();
    let mut cycles: Vec<Cycle> = bitstream
        .writes
        .iter()
        .map(|write| Cycle {
            write: true,
            address: write.address,
            data: write.data,
            answer: Some(0),
            inputs: stalled.clone(),
            ..Cycle::default()
        })
        .collect();
    let flush = cycles.len();
    cycles.push(Cycle { inputs: Inputs { flush: true, ..stalled }, ..Cycle::default() });
    let mut stall =
        stalls.map_or_else(|| vec![false; 400], |random| (0..600).map(|_| random.random_bool(0.3)).collect());
    stall.extend([false; 400]);
    let mut words = image.iter().copied();
    let first = flush + 1 + depth;
    for number in flush + 1..first + stall.len() {
        // A stall takes as long to the tiles as the flush did: until then, the stream goes on.
        let is_stalled = number >= first && stall[number - first];
        let asked = number + depth;
        let stall = asked - first < stall.len() && stall[asked - first];
        let mut streams = vec![Stream::default(); COLUMN_IN + 1];
        streams[COLUMN_IN].data = match number >= first && !is_stalled {
            true => words.next().unwrap_or(0),
            false => 0xdead,
        };
        cycles.push(Cycle { inputs: Inputs { flush: false, stall, streams }, ..Cycle::default() });
    }
    cycles[flush + depth].configured = Some(configuration.clone());
    cycles
}

/// The words with a valid bit, of the cycles in which time goes on.
fn result(bench: &Bench, cycles: &[Cycle], streams: &[Vec<Stream>]) -> Vec<u32> {
    let depth = bench.spec().control_depth as usize;
    let moves = |number: usize| number >= depth && !cycles[number - depth].inputs.stall;
    let valid = streams.iter().enumerate().filter(|(number, streams)| moves(*number) && streams[COLUMN_OUT].valid);
    valid.map(|(_, streams)| streams[COLUMN_OUT].data).collect()
}

#[test]
fn a_gaussian_by_hand_filters_images() {
    let spec = parse(&fs::read_to_string(root().join("constraints/arrays/small.yaml")).unwrap());
    let graph = Graph::of(&spec);
    let document = Document::read(&root().join("rtl-tests/arrays/gaussian.yaml")).unwrap();
    let written = Configuration::from_document(&document, &spec, &graph).unwrap_or_else(|error| panic!("{error}"));
    let text = written.encode(&spec, &graph).unwrap().to_text(&spec.name);
    let configuration = Bitstream::decode_text("gaussian.hex", &text, &spec, &graph).unwrap();
    // The delays of the filter.
    let netlist = Netlist::of(&configuration, &graph).to_text(&graph);
    for net in [
        "pe_1_1.word.b.input <- 4 <- io_0_0.word.data.output",
        "mem_3_1.word.data_in_0.input <- 2 <- pe_1_1.word.result.output",
        "io_2_0.bit.valid.input <- 3 <- mem_3_1.bit.stencil_valid.output",
    ] {
        assert!(netlist.contains(net), "{netlist}");
    }
    let bench = Bench::new(&spec);
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    for with_stalls in [false, true] {
        let image: Vec<u32> = (0..SIDE * SIDE).map(|_| random.random_range(0..4096)).collect();
        let cycles = cycles(&bench, &configuration, &image, with_stalls.then_some(&mut *random));
        let streams = bench.check(&cycles);
        assert_eq!(result(&bench, &cycles, &streams), gaussian(&image));
    }
}
