//! Application graphs: their text, their model, and the proof of edited ones.

use std::collections::HashSet;

use itertools::Itertools;
use pushmem_affine::{Affine, Domain};
use pushmem_compiler::{CompileStage, Compiled};
use pushmem_files::{Diagnostic, Document};
use pushmem_graph::{
    ApplicationGraph, BitDriver, Choice, Condition, Counter, CounterId, Edge, InputId, ProgramNames, Variable,
    WordDriver, WordNet,
};
use pushmem_nest::{Level, Type};
use pushmem_realization::Dedicated;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{app, compiled};

/// Programs with boundaries, several rates, tiles of arrays, loops with variables, tables and shared units.
const APPS: [(&str, &str); 12] = [
    ("gaussian", "amber"),
    ("bc_const", "amber"),
    ("bc_mirror", "dual_port"),
    ("counter", "amber"),
    ("up_sample", "amber"),
    ("down_sample", "amber"),
    ("gpyr_tiled_shared", "dual_port"),
    ("depthwise", "dual_port"),
    ("matmul", "amber"),
    ("fsrcnn_shared", "quad_port"),
    ("residual_block", "quad_port"),
    ("unsharp", "amber"),
];

fn read(compiled: &Dedicated, text: &str) -> Result<ApplicationGraph, Diagnostic> {
    let names = ProgramNames::of(&compiled.program, &compiled.extraction.pipeline);
    ApplicationGraph::from_document(&Document::parse("graph.yaml", text)?, &names)
}

/// Whether a compiled program has this graph as well: the proof of the graph and of its hardware decides.
fn accepts(compiled: &Dedicated, change: impl FnOnce(&mut ApplicationGraph)) -> bool {
    let mut graph = compiled.graph.clone();
    change(&mut graph);
    compiled.clone().with_graph(graph).is_ok()
}

/// Whether the proof of the graph alone, which is all that looks at it on an array, accepts another graph of a compiled program.
fn proves(compiled: &Dedicated, change: impl FnOnce(&mut ApplicationGraph)) -> bool {
    let mut graph = compiled.graph.clone();
    change(&mut graph);
    Compiled { graph, ..compiled.compiled.clone() }.prove().is_ok()
}

#[test]
fn graphs_read_back_as_they_are_written() {
    for (name, tile) in APPS {
        let compiled = compiled(app(name), tile);
        let text = compiled.graph.to_string();
        let graph = read(&compiled, &text).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(graph == compiled.graph, "{name}: {text}");
        assert_eq!(graph.to_string(), text, "{name}");
        let stages = [CompileStage::Mapping, CompileStage::Config];
        let before = stages.map(|stage| compiled.text(stage));
        let again = compiled.with_graph(graph).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(stages.map(|stage| again.text(stage)), before, "{name}");
    }
}

#[test]
fn the_model_of_a_graph_computes_the_program() {
    for (name, tile) in APPS {
        let Compiled { program, datapaths, graph, .. } = compiled(app(name), tile).compiled;
        let inputs = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(7));
        let expected = program.run(&inputs).unwrap_or_else(|error| panic!("{error:?}"));
        let outputs = graph.run(&program, &datapaths, &inputs).unwrap_or_else(|error| panic!("{error:?}"));
        for (output, image) in &expected {
            assert!(outputs[output].values() == image.values(), "{name}: {output}");
        }
    }
}

#[test]
fn copies_and_constants_of_a_graph_are_those_of_its_program() {
    let mut kinds = HashSet::new();
    for (name, tile) in APPS {
        let compiled = compiled(app(name), tile);
        for (number, copy) in compiled.graph.copies.iter().enumerate() {
            assert!(!proves(&compiled, |graph| graph.copies[number].load += 1), "{name}: load of copy {number}");
            kinds.insert("load");
            if !copy.nets.is_empty() {
                assert!(!proves(&compiled, |graph| graph.copies[number].nets.clear()), "{name}: nets of copy {number}");
                kinds.insert("nets");
            }
        }
        for number in 0..compiled.graph.constants.len() {
            assert!(!proves(&compiled, |graph| graph.constants[number].bits ^= 1), "{name}: constant {number}");
            kinds.insert("constant");
        }
    }
    assert_eq!(kinds.len(), 3, "{kinds:?}");
}

/// The delay of each edge from a net.
fn delays(graph: &mut ApplicationGraph) -> Vec<&mut u64> {
    let mut edges: Vec<&mut Edge> = Vec::new();
    for net in &mut graph.words {
        match &mut net.driver {
            WordDriver::Select(choices) => edges.extend(choices.iter_mut().map(|choice| &mut choice.edge)),
            WordDriver::Hold(hold) => edges.push(&mut hold.edge),
            WordDriver::Input { .. } | WordDriver::Kernel { .. } | WordDriver::Port { .. } | WordDriver::Ram { .. } => {
            }
        }
    }
    edges.extend(graph.kernels.iter_mut().flat_map(|kernel| &mut kernel.operands));
    edges.extend(graph.outputs.iter_mut().flat_map(|stream| &mut stream.lanes).map(|lane| &mut lane.edge));
    edges.extend(graph.arrays.iter_mut().flat_map(|array| &mut array.writes));
    let writes = graph.rams.iter_mut().flat_map(|ram| &mut ram.writes);
    edges.extend(writes.flat_map(|write| [&mut write.element, &mut write.address]));
    edges
        .into_iter()
        .filter_map(|edge| match edge {
            Edge::Net { delay, .. } => Some(delay),
            Edge::Constant(_) => None,
        })
        .collect()
}

#[test]
fn a_graph_with_another_delay_is_refused() {
    for (name, tile) in [
        ("gaussian", "amber"),
        ("bc_const", "amber"),
        ("up_sample", "amber"),
        ("matmul", "amber"),
        ("mobilenet", "amber"),
    ] {
        let compiled = compiled(app(name), tile);
        let count = delays(&mut compiled.graph.clone()).len();
        assert!(count > 1, "{name}");
        for number in 0..count {
            for later in [1, 64] {
                let change = |graph: &mut ApplicationGraph| *delays(graph)[number] += later;
                assert!(!accepts(&compiled, change), "{name}: edge {number}, {later} cycles later");
            }
        }
    }
}

#[test]
fn a_graph_with_other_conditions_is_refused() {
    let compiled = compiled(app("bc_const"), "amber");
    assert!(compiled.graph.bits.len() > 3);
    for bit in compiled.graph.bits.indices() {
        let change = |graph: &mut ApplicationGraph| {
            let BitDriver::Indices { conditions, .. } = &mut graph.bits[bit].driver else { panic!("a boundary") };
            let condition = &mut conditions[0].1;
            if condition.first > 0 {
                condition.first -= 1;
            } else {
                condition.last += 1;
            }
        };
        assert!(!accepts(&compiled, change), "{bit}");
    }
    let selections = |graph: &ApplicationGraph| {
        let is_selection = |net: &pushmem_graph::WordNet| matches!(net.driver, WordDriver::Select(_));
        graph.words.iter_enumerated().filter(|(_, net)| is_selection(net)).map(|(number, _)| number).collect_vec()
    };
    for net in selections(&compiled.graph) {
        let change = |graph: &mut ApplicationGraph| {
            let WordDriver::Select(choices) = &mut graph.words[net].driver else { panic!("a selection") };
            let last = choices.len() - 1;
            let edge = choices[0].edge;
            choices[0].edge = choices[last].edge;
            choices[last] = Choice { edge, ..choices[last] };
        };
        assert!(!accepts(&compiled, change), "{net}");
    }
}

#[test]
fn a_graph_with_other_loop_variables_is_refused() {
    let compiled = compiled(app("camera_pipeline"), "amber");
    let changes: [fn(&mut Variable); 3] = [
        |variable| variable.offset += 1,
        |variable| variable.scale += 1,
        |variable| variable.level = variable.level.map(|level| 1 - level),
    ];
    let kernels = compiled.graph.kernels.iter_enumerated();
    let variables = kernels.flat_map(|(kernel, of)| (0..of.variables.len()).map(move |variable| (kernel, variable)));
    let variables = variables.collect_vec();
    assert_eq!(variables.len(), 6);
    for ((kernel, variable), change) in itertools::iproduct!(variables, changes) {
        let changed = |graph: &mut ApplicationGraph| change(&mut graph.kernels[kernel].variables[variable]);
        assert!(!proves(&compiled, changed), "{variable} of {kernel}");
    }
}

#[test]
fn a_graph_with_other_accesses_of_a_memory_is_refused() {
    let compiled = compiled(app("matmul"), "amber");
    let arrays = &compiled.graph.arrays;
    assert!(!arrays.is_empty());
    for (number, array) in arrays.iter_enumerated() {
        for port in 0..array.buffer.ports.len() {
            let later = |graph: &mut ApplicationGraph| graph.arrays[number].buffer.ports[port].schedule.start += 1;
            assert!(!accepts(&compiled, later), "{}: port {port} in another cycle", array.buffer.name);
            let other = |graph: &mut ApplicationGraph| graph.arrays[number].buffer.ports[port].access[0].start += 1;
            assert!(!accepts(&compiled, other), "{}: port {port} of another element", array.buffer.name);
        }
    }
}

#[test]
fn a_unit_with_the_operands_of_its_kernels_exchanged_is_refused() {
    let compiled = compiled(app("gpyr_tiled_shared"), "dual_port");
    let unit = compiled.graph.units.first().expect("a unit");
    let selected = |edge: &Edge| match edge {
        Edge::Net { net, delay: 0 } => {
            matches!(compiled.graph.words[*net].driver, WordDriver::Select(_)).then_some(*net)
        }
        _ => None,
    };
    let net = unit.operands.iter().find_map(selected).expect("a selected operand");
    let exchange = |graph: &mut ApplicationGraph| {
        let WordDriver::Select(choices) = &mut graph.words[net].driver else { panic!("a selection") };
        let last = choices.len() - 1;
        let edges = [choices[0].edge, choices[last].edge];
        [choices[last].edge, choices[0].edge] = edges;
    };
    assert!(!proves(&compiled, exchange));
}

#[test]
fn a_graph_with_other_parts_is_refused() {
    let compiled = compiled(app("gpyr_tiled_shared"), "dual_port");
    type Change = fn(&mut ApplicationGraph);
    let changes: [(&str, Change); 11] = [
        ("a unit is missing", |graph| _ = graph.units.pop()),
        ("a unit has no last kernel", |graph| _ = graph.units[0].kernels.pop()),
        ("a unit has no last operand", |graph| _ = graph.units[0].operands.pop()),
        ("a unit counts the loops of other kernels", |graph| graph.units[0].counters.reverse()),
        ("a stream has another type", |graph| graph.outputs[0].element = Type::I8),
        ("a stream is of another array", |graph| graph.inputs[0].array = graph.outputs[0].array),
        ("a net is another word of a stream", |graph| {
            let net = graph.inputs[0].lanes[0].net;
            graph.words[net].driver = WordDriver::Input { stream: InputId::new(0), lane: 1 };
        }),
        ("an array is kept at another level", |graph| graph.arrays[0].level = Level::RegisterFile),
        ("a port drives two nets", |graph| {
            let port = graph.words.iter().find(|net| matches!(net.driver, WordDriver::Port { .. }));
            let again = WordNet { name: "again".to_owned(), ..port.expect("arrays are read").clone() };
            graph.words.push(again);
        }),
        ("a bit is about an index that there is not", |graph| {
            let beyond = Condition { first: 0, last: i64::MAX, step: 1 };
            graph.bits[0].driver = BitDriver::Indices { counter: CounterId::new(0), conditions: vec![(0, beyond)] };
        }),
        ("a counter begins before the run", |graph| {
            let counter = Counter {
                loops: Vec::new(),
                extent: Domain::default(),
                cycle: Affine { start: -1, stride: Vec::new() },
            };
            let counter = graph.counters.push(counter);
            graph.bits[0].driver = BitDriver::Begins(counter);
        }),
    ];
    for (fault, change) in changes {
        assert!(!proves(&compiled, change), "{fault}");
    }
}

#[test]
fn faults_of_the_text_are_found_where_they_are() {
    let compiled = compiled(app("bc_const"), "amber");
    let text = compiled.graph.to_string();
    for (right, wrong, found, message) in [
        ("input@65", "inptu@65", "inptu@65", "there is no net `inptu`"),
        ("input@65", "input@x", "input@x", "`input@x` has no delay in cycles after `@`"),
        ("[x = 0]", "[z = 0]", "z = 0", "counter 1 has no loop `z`"),
        ("[x = 0]", "[x = 64]", "x = 64", "`x` is from 0 to 63 there"),
        ("[x = 0]", "[x < 3]", "x < 3", "`x < 3` is no condition on an index"),
        ("if counter_1_x_63,", "if counter_1_x_62,", "0 if counter_1_x_62", "there is no bit `counter_1_x_62`"),
        ("input@130]", "input@130 if counter_1_x_0]", "input@130 if counter_1_x_0", "the last edge has a bit"),
        ("operation: output", "operation: ouput", "ouput", "the program has no operation `ouput`"),
        ("    counter: 2\n", "    counter: 7\n", "7", "there is no counter 7"),
        (
            "  - net: output_load_1\n",
            "  - net: output_load_0\n",
            "output_load_0",
            "another net is named `output_load_0`",
        ),
        ("operands: [output_load_0,", "operands: [output,", "", ""),
        ("type: u16", "type: bool", "bool", "`bool` is no type of elements"),
        ("extents: [64, 64], cycle: {start: 65", "extents: [64], cycle: {start: 65", "[64]", "1 values for 2 loops"),
        ("    latency: 2\n", "    latency: two\n", "two", "expected an integer from 0 to"),
        ("select: [0 if counter_1_y_0, input@129]", "select: []", "[]", "nothing to select"),
    ] {
        let edited = text.replacen(right, wrong, 1);
        assert_ne!(edited, text, "{right}");
        match (read(&compiled, &edited), message) {
            // A kernel with registers may take its own result of the cycle: the proof refuses that.
            (Ok(graph), "") => assert!(compiled.clone().with_graph(graph).is_err(), "{wrong}"),
            (Ok(_), _) => panic!("{wrong} is accepted"),
            (Err(error), _) => {
                assert!(error.message().starts_with(message) && !message.is_empty(), "{wrong}: {}", error.message());
                assert_eq!(error.offending_text(), Some(found), "{wrong}: {}", error.message());
            }
        }
    }
}

/// The places of the numbers of a text that are no parts of names.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let is_name = |at: usize| bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_';
    let begins = |&at: &usize| bytes[at].is_ascii_digit() && (at == 0 || !is_name(at - 1));
    let end = |at: usize| (at..bytes.len()).find(|&at| !is_name(at)).unwrap_or(bytes.len());
    let sign = |at: usize| at - usize::from(at > 0 && bytes[at - 1] == b'-');
    (0..bytes.len()).filter(begins).map(|at| sign(at)..end(at)).collect()
}

/// The line of a place without its digits, and how many bytes of that are before the place: graphs have many lines that are alike.
fn kind(text: &str, place: &std::ops::Range<usize>) -> (String, usize) {
    let without_digits = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "");
    let begin = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.start..].find('\n').map_or(text.len(), |at| place.start + at);
    (without_digits(&text[begin..end]), without_digits(&text[begin..place.start]).len())
}

/// The graph with ports that have no loops of one iteration: nothing depends on the strides of these.
fn without_idle_loops(mut graph: ApplicationGraph) -> ApplicationGraph {
    for port in graph.arrays.iter_mut().flat_map(|array| &mut array.buffer.ports) {
        let turns = port.domain.iter().map(|level| level.extent > 1).collect_vec();
        for function in port.access.iter_mut().chain([&mut port.schedule]) {
            let mut turns = turns.iter();
            function.stride.retain(|_| *turns.next().unwrap());
        }
        port.domain.retain(|level| level.extent > 1);
    }
    graph
}

/// A graph with an extreme number is refused by the reader or by the proof, unless nothing depends on the number. Each kind of line is tried.
#[test]
fn graphs_with_extreme_numbers_are_refused() {
    let extremes =
        [(1 << 25) + 1, 1 << 40, (1 << 48) - 1, i128::from(i64::MAX), i128::from(i64::MIN), i128::from(u64::MAX)];
    let mut seen = HashSet::new();
    for (name, tile) in [("gaussian", "amber"), ("bc_const", "amber"), ("up_sample", "amber"), ("matmul", "amber")] {
        let compiled = compiled(app(name), tile);
        let text = compiled.graph.to_string();
        let same = without_idle_loops(compiled.graph.clone());
        let places = numbers(&text).into_iter().filter(|place| seen.insert(kind(&text, place))).collect_vec();
        for (place, extreme) in places.into_iter().cartesian_product(extremes) {
            let mut edited = text.clone();
            edited.replace_range(place.clone(), &extreme.to_string());
            let Some(graph) = read(&compiled, &edited).ok().filter(|graph| without_idle_loops(graph.clone()) != same)
            else {
                continue;
            };
            let line = edited[..place.start].lines().count();
            let refused = compiled.clone().with_graph(graph).is_err();
            assert!(refused, "{name}: {extreme} in line {line} of\n{edited}");
        }
    }
}

/// The first number beyond the limits of the language is named where it is.
#[test]
fn numbers_beyond_the_limits_are_found_where_they_are() {
    let compiled = compiled(app("gaussian"), "amber");
    let text = compiled.graph.to_string();
    for (right, wrong, found, message) in [
        (
            "extents: [64, 64]",
            "extents: [64, 9223372036854775807]",
            "9223372036854775807",
            "a loop of 9223372036854775807 iterations",
        ),
        ("extents: [64, 64]", "extents: [1099511627776, 64]", "1099511627776", "a loop of 1099511627776 iterations"),
        (
            "extents: [64, 64]",
            "extents: [33554432, 33554432]",
            "[33554432, 33554432]",
            "1125899906842624 iterations of all loops",
        ),
        (
            "stride: [1, 64]",
            "stride: [1, -9223372036854775808]",
            "{",
            "a stride is -9223372036854775808; it must stay below 2^48",
        ),
    ] {
        let edited = text.replacen(right, wrong, 1);
        assert_ne!(edited, text, "{right}");
        let error = read(&compiled, &edited).expect_err(wrong);
        assert_eq!(error.message(), message, "{wrong}");
        assert!(error.offending_text().is_some_and(|text| text.starts_with(found)), "{:?}", error.offending_text());
    }
}
