//! Elements of 32 bits: two words on two nets, which the proof tells apart.

use pushmem_affine::Affine;
use pushmem_graph::{Accelerator, ApplicationGraph, Driver, Edge, WordDriver};
use pushmem_nest::Word;
use pushmem_programs::{random_network_of_wide_elements, random_program_of_wide_elements};
use pushmem_realization::Dedicated;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{app, compare, compiled, program};
use crate::outcome::check;

const TILES: [&str; 5] = ["amber", "dual_port", "fetch8", "quad_port", "onyx"];

/// Programs of a normal run, and of a long one.
const PROGRAMS: u64 = 100;
const NETWORKS: u64 = 40;
const MANY: u64 = 5_000;

/// Of a hundred, so many may be refused. Most networks that are need another tile, as those of 16 bits.
const MOST_REFUSED: usize = 5;
const MOST_NETWORKS_REFUSED: usize = 25;

/// Inputs, buffers in delays and in memories, constants, boundaries, tables and outputs of 32 bits.
const EVERYTHING: &str = "\
name: everything
inputs:
  a: {type: i32, shape: [20, 12]}
  i: {type: u8, shape: [20, 12]}
outputs:
  o: {type: u32, shape: [16, 10]}
  far: {type: i32, shape: [20, 12]}
  half: {type: u16, shape: [20, 12]}
buffers:
  p: {type: i32, shape: [20, 12]}
tables:
  t: {type: i32, values: [70000, -3, 1000000, 5, 66666, -99999, 12, 2147483647]}
nest:
  - for y in 0..12:
    - for x in 0..20:
      - p[x, y] = a[x, y] * 70001 + t[i[x, y] & 7]
  - for y in 0..10:
    - for x in 0..16:
      - o[x, y] = max(p[x, y] >> 3, p[x+4, y+2]) as u32
  - for y in 0..12:
    - for x in 0..20:
      - far[x, y] = outside(p[x-1, y], 123456789)
  - for y in 0..12:
    - for x in 0..20:
      - half[x, y] = (p[x, y] >> 16) as u16
";

fn subjects() -> Vec<(&'static str, Dedicated)> {
    let application = |name: &'static str, tile: &str| (name, compiled(app(name), tile));
    vec![
        ("everything", compiled(program(EVERYTHING), "amber")),
        application("integral_image_32", "amber"),
        application("quantized_convolution", "amber"),
        application("quantized_convolution", "dual_port"),
    ]
}

#[test]
fn programs_with_elements_of_two_words_compute_what_they_say() {
    for (_, compiled) in subjects() {
        compare(&compiled);
    }
}

#[test]
fn random_programs_of_wide_elements_compute_what_they_say() {
    check(0..PROGRAMS, &TILES, random_program_of_wide_elements, MOST_REFUSED);
}

#[test]
fn random_networks_of_wide_elements_compute_what_they_say() {
    check(0..NETWORKS, &TILES, random_network_of_wide_elements, MOST_NETWORKS_REFUSED);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_of_wide_elements_compute_what_they_say() {
    check(PROGRAMS..PROGRAMS + MANY, &TILES, random_program_of_wide_elements, MOST_REFUSED);
    check(NETWORKS..NETWORKS + MANY, &TILES, random_network_of_wide_elements, MOST_NETWORKS_REFUSED);
}

#[test]
fn graphs_are_read_back_and_compute_the_program() {
    for (name, compiled) in subjects() {
        let text = compiled.graph.to_string();
        let document = pushmem_files::Document::parse("graph.yaml", text.as_str()).unwrap();
        let names = compiled.graph.names.clone();
        let graph =
            ApplicationGraph::from_document(&document, &names).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(graph, compiled.graph, "{name}");
        let (program, datapaths) = (&compiled.program, &compiled.datapaths);
        let inputs = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(3));
        let expected = program.run(&inputs).unwrap();
        let outputs = graph.run(program, datapaths, &inputs).unwrap();
        assert!(expected.iter().all(|(output, image)| outputs[output].values() == image.values()), "{name}");
    }
}

/// A kind of fault, and ways to plant it.
type Faults = Vec<(&'static str, Box<dyn Fn(&mut Accelerator)>)>;

/// Faults of the words of elements: one of two, where the other one is due.
fn faults(accelerator: &Accelerator) -> Faults {
    let mut faults: Faults = Vec::new();
    for (number, kernel) in accelerator.kernels.iter_enumerated() {
        let operands = accelerator.datapaths[kernel.datapath].datapath.operands();
        for (place, (load, word)) in operands.iter().enumerate().filter(|(_, (_, word))| *word == Word::High) {
            let used = accelerator.datapaths[kernel.datapath].datapath.uses(*load);
            if used && kernel.operands[place] != kernel.operands[place - 1] {
                assert_eq!(*word, Word::High);
                faults.push((
                    "words of an operand that changed places",
                    Box::new(move |accelerator| accelerator.kernels[number].operands.swap(place - 1, place)),
                ));
            }
        }
    }
    for (number, wire) in accelerator.wires.iter_enumerated() {
        if let Driver::Kernel { kernel, word: Word::High } = wire.driver {
            faults.push((
                "the low word of a kernel as its high one",
                Box::new(move |accelerator| {
                    accelerator.wires[number].driver = Driver::Kernel { kernel, word: Word::Low }
                }),
            ));
        }
    }
    for number in 0..accelerator.arrays.len() {
        if accelerator.arrays[number].word == Word::High {
            faults.push((
                "the memory of high words as that of low ones",
                Box::new(move |accelerator| accelerator.arrays[number].word = Word::Low),
            ));
            let writers = accelerator.arrays[number].writers.len();
            let low = accelerator.arrays.iter().position(|other| other.array == accelerator.arrays[number].array);
            let low = low.expect("there is one of low words");
            for write in 0..writers {
                faults.push((
                    "a low word in the memory of high ones",
                    Box::new(move |accelerator| {
                        accelerator.arrays[number].wires[write] = accelerator.arrays[low].wires[write];
                    }),
                ));
            }
        }
    }
    for number in 0..accelerator.outputs.len() {
        if accelerator.outputs[number].element.words().len() > 1 {
            faults.push((
                "words of a beat that changed places",
                Box::new(move |accelerator| {
                    let lanes = &mut accelerator.outputs[number].lanes;
                    let wire = lanes[0].wire;
                    lanes[0].wire = lanes[1].wire;
                    lanes[1].wire = wire;
                }),
            ));
            faults.push((
                "the address of a low word for a high one",
                Box::new(move |accelerator| {
                    let lanes = &mut accelerator.outputs[number].lanes;
                    let element: Affine = lanes[0].element.clone();
                    lanes[1].element = element;
                }),
            ));
            faults.push((
                "a beat without its high word",
                Box::new(move |accelerator| _ = accelerator.outputs[number].lanes.pop()),
            ));
        }
    }
    faults
}

#[test]
fn the_proof_tells_the_words_of_elements_apart() {
    let mut kinds = std::collections::BTreeSet::new();
    for (name, compiled) in subjects() {
        assert!(compiled.prove().is_ok(), "{name}");
        for (kind, plant) in faults(&compiled.accelerator) {
            let mut wrong = compiled.clone();
            plant(&mut wrong.accelerator);
            assert!(wrong.prove().is_err(), "{name}: {kind}");
            kinds.insert(kind);
        }
    }
    assert!(kinds.len() >= 6, "{kinds:?}");
}

/// The same in the application graph, before any hardware realizes it.
#[test]
fn the_proof_of_the_graph_tells_the_words_of_elements_apart() {
    for (name, compiled) in subjects() {
        for (number, constant) in compiled.graph.constants.iter().enumerate() {
            if constant.bits != 0 || compiled.graph.arrays.iter().any(|array| array.word == Word::High) {
                let mut graph = compiled.graph.clone();
                graph.constants[number].bits ^= 1 << 16;
                assert!(compiled.clone().with_graph(graph).is_err(), "{name}: high word of constant {number}");
            }
        }
        let high = compiled.graph.words.iter_enumerated().filter_map(|(net, of)| match of.driver {
            WordDriver::Kernel { kernel, word: Word::High } => Some((net, compiled.graph.kernels[kernel].net())),
            _ => None,
        });
        let high = high.collect::<Vec<_>>();
        assert!(!high.is_empty(), "{name}");
        for (net, low) in high {
            let mut graph = compiled.graph.clone();
            let other = |edge: &mut Edge| match edge {
                Edge::Net { net: of, .. } if *of == net => *of = low,
                _ => {}
            };
            graph.kernels.iter_mut().flat_map(|kernel| &mut kernel.operands).for_each(other);
            graph.outputs.iter_mut().flat_map(|stream| &mut stream.lanes).for_each(|lane| other(&mut lane.edge));
            graph.arrays.iter_mut().flat_map(|array| &mut array.writes).for_each(other);
            for net in &mut graph.words {
                if let WordDriver::Select(choices) = &mut net.driver {
                    choices.iter_mut().for_each(|choice| other(&mut choice.edge));
                }
            }
            if graph != compiled.graph {
                assert!(compiled.clone().with_graph(graph).is_err(), "{name}");
            }
        }
    }
}
