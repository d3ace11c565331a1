//! The structure of routing-resource graphs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pushmem_fabric::{ArraySpec, Folder, Layer, Place, Side, TileKind};
use pushmem_files::Document;
use pushmem_resources::{Chosen, CorePort, Graph, Meaning, MultiplexerInput, Node, NodeId, Resource, TileLayout};

fn constraints() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints")
}

fn parse(text: &str) -> ArraySpec {
    let document = Document::parse("array.yaml", text).unwrap();
    ArraySpec::from_document(&document, &Folder(constraints())).unwrap_or_else(|error| panic!("{error}"))
}

/// All arrays that are shipped, and some of odd shapes.
fn specs() -> Vec<ArraySpec> {
    let files = fs::read_dir(constraints().join("arrays")).unwrap();
    let mut specs: Vec<ArraySpec> =
        files.map(|file| parse(&fs::read_to_string(file.unwrap().path()).unwrap())).collect();
    for (columns, rows) in [(1, 1), (2, 2), (7, 5)] {
        for hop_limit in [1, 2, 4, 8] {
            for topology in ["disjoint", "wilton"] {
                for tracks in ["{word: 1, bit: 2}", "{word: 4, bit: 3}"] {
                    specs.push(parse(&format!(
                        "name: a\nkind: array\ncolumns: {columns}\nrows: {rows}\npe: image_pe\nhop_limit: {hop_limit}\n\
                         topology: {topology}\ntracks: {tracks}"
                    )));
                }
            }
        }
    }
    specs
}

/// The nodes whose value can follow that of a node in the same cycle, in any configuration.
fn follow(graph: &Graph, node: NodeId) -> Vec<NodeId> {
    let Resource { place, layer, node: here } = graph.resource(node);
    match here {
        Node::Segment { .. } | Node::Register { .. } | Node::Output { .. } => {
            // A register takes its value at the end of the cycle.
            let is_seen = |sink: &NodeId| !matches!(graph.resource(*sink).node, Node::Register { .. });
            graph.sinks(node).iter().map(|edge| edge.node).filter(is_seen).collect()
        }
        // All outputs of a core may depend on all its inputs, but for register files, which show words that they have.
        Node::Input { port } => {
            let layout = graph.layout(graph.kind(place).expect("a node is at the place of a tile"));
            let is_of_register_file = |port: &CorePort| layout.kind == TileKind::Pe && port.is_of_memory;
            if is_of_register_file(&layout.inputs(layer)[port as usize]) {
                return Vec::new();
            }
            let outputs = Layer::ALL.into_iter().flat_map(|layer| {
                let ports = (0..).zip(layout.outputs(layer)).filter(|(_, port)| !is_of_register_file(port));
                ports.filter_map(move |(port, _)| graph.node(Resource { place, layer, node: Node::Output { port } }))
            });
            outputs.collect()
        }
    }
}

/// No configuration closes a combinational loop: the graph of all that can follow each other in a cycle has an order.
#[test]
fn no_configuration_closes_a_combinational_loop() {
    for spec in specs() {
        let graph = Graph::of(&spec);
        let mut before = vec![0_u32; graph.nodes().count()];
        for node in graph.nodes() {
            follow(&graph, node).iter().for_each(|next| before[next.index()] += 1);
        }
        let mut ready: Vec<NodeId> = graph.nodes().filter(|node| before[node.index()] == 0).collect();
        let mut ordered = 0;
        while let Some(node) = ready.pop() {
            ordered += 1;
            for next in follow(&graph, node) {
                before[next.index()] -= 1;
                if before[next.index()] == 0 {
                    ready.push(next);
                }
            }
        }
        assert_eq!(ordered, before.len(), "{}", spec.name);
    }
}

/// The longest way from a register to the next is `hop_limit` tracks.
#[test]
fn a_path_has_a_register_after_so_many_hops() {
    for spec in specs() {
        let graph = Graph::of(&spec);
        let mut longest = 0;
        for start in graph.nodes() {
            if !matches!(graph.resource(start).node, Node::Register { .. }) {
                continue;
            }
            let (mut node, mut hops) = (start, 0);
            while let Some(next) =
                follow(&graph, node).into_iter().find(|next| matches!(graph.resource(*next).node, Node::Segment { .. }))
            {
                (node, hops) = (next, hops + 1);
            }
            longest = longest.max(hops);
        }
        assert!(longest <= spec.hop_limit);
        if spec.columns.max(spec.rows) > spec.hop_limit {
            assert_eq!(longest, spec.hop_limit, "{}", spec.name);
        }
    }
}

/// Each track reaches three sides of the next tile, and all connection boxes there.
#[test]
fn tracks_reach_what_they_can() {
    let graph =
        Graph::of(&parse("name: a\nkind: array\ncolumns: 4\nrows: 4\npe: image_pe\nmemory: {tile: small, every: 4}"));
    let segment = |column, row, side| {
        let place = Place { row, column };
        graph.node(Resource { place, layer: Layer::Word, node: Node::Segment { side, track: 2 } }).unwrap()
    };
    let reached: BTreeSet<String> =
        graph.sinks(segment(0, 2, Side::East)).iter().map(|edge| graph.name(edge.node)).collect();
    let expected = ["a.input", "b.input", "c.input", "east_2.register", "north_3.register", "south_1.register"];
    assert_eq!(reached, expected.map(|name| format!("pe_1_2.word.{name}")).into());
    // Away from the array, tracks reach nothing.
    assert!(graph.sinks(segment(0, 2, Side::West)).is_empty());
    let io =
        graph.node(Resource { place: Place { row: 0, column: 1 }, layer: Layer::Word, node: Node::Input { port: 0 } });
    assert_eq!(graph.sources(io.unwrap()).len(), 5);
}

/// Fields do not overlap, and have room for all values.
#[test]
fn fields_have_bits_of_their_own() {
    for spec in specs() {
        for kind in spec.kinds() {
            let layout = TileLayout::of(&spec, kind);
            let mut bits = BTreeSet::new();
            for field in &layout.fields {
                assert!(field.low + field.bits <= 32);
                for bit in field.low..field.low + field.bits {
                    assert!(bits.insert((field.feature, field.register, bit)), "{:?}", field.meaning);
                }
            }
            for local in &layout.locals {
                let Some(field) = local.field.map(|field| layout.fields[field]) else { continue };
                assert!(local.first_value + (local.choices.len() as u32) <= 1 << field.bits);
                match (local.node, field.meaning) {
                    (Node::Register { side, track }, Meaning::Select { layer, side: of, track: number })
                    | (Node::Segment { side, track }, Meaning::Pass { layer, side: of, track: number }) => {
                        assert_eq!((local.layer, side, track), (layer, of, number));
                    }
                    (Node::Input { port }, Meaning::Connection { layer, port: of }) => {
                        assert_eq!((local.layer, port), (layer, of));
                    }
                    (node, meaning) => panic!("{node:?} has {meaning:?}"),
                }
            }
        }
    }
}

/// Outputs of cores enter tracks through registers alone. The processing element and the register file of a tile take words of each other, not
/// their own.
#[test]
fn outputs_go_to_registers() {
    for spec in specs() {
        for kind in TileKind::ALL {
            let layout = TileLayout::of(&spec, kind);
            for local in &layout.locals {
                let cores = local.choices.iter().filter_map(|choice| match choice {
                    MultiplexerInput::Core { port } => Some(&layout.outputs(local.layer)[*port as usize]),
                    MultiplexerInput::Incoming { .. } | MultiplexerInput::Register => None,
                });
                for output in cores {
                    match local.node {
                        Node::Register { .. } => {}
                        Node::Input { port } => {
                            assert_eq!(kind, TileKind::Pe);
                            assert_ne!(layout.inputs(local.layer)[port as usize].is_of_memory, output.is_of_memory);
                        }
                        node => panic!("{node:?} takes {}", output.name),
                    }
                }
            }
        }
    }
}

#[test]
fn a_whole_array_takes_no_time() {
    let spec = parse(&fs::read_to_string(constraints().join("arrays/amber.yaml")).unwrap());
    let start = Instant::now();
    let graph = Graph::of(&spec);
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    let names: BTreeSet<String> = graph.nodes().map(|node| graph.name(node)).collect();
    assert_eq!(names.len(), graph.nodes().count());
    for node in graph.nodes() {
        assert_eq!(graph.node(graph.resource(node)), Some(node));
    }
}

/// At the edge of the array, a track that passes around its register has nothing to carry: it is 0, not what the register has.
#[test]
fn a_track_that_passes_at_the_edge_carries_0() {
    let graph =
        Graph::of(&parse("name: a\nkind: array\ncolumns: 4\nrows: 1\npe: image_pe\nhop_limit: 4\ntopology: disjoint"));
    let node = |column: u32, node: Node| {
        graph.node(Resource { place: Place { row: 1, column }, layer: Layer::Word, node }).unwrap()
    };
    let (side, track) = (Side::West, 0);
    let segment = |column| node(column, Node::Segment { side, track });
    assert_eq!(graph.chosen(segment(3), 1), Chosen::Edge);
    assert_eq!(graph.chosen(segment(2), 1), Chosen::Node(segment(3)));
    assert_eq!(graph.chosen(segment(0), 1), Chosen::Node(node(0, Node::Register { side, track })));
    let register = node(3, Node::Register { side, track });
    assert_eq!([0, 1, 7].map(|value| graph.chosen(register, value)), [Chosen::Nothing, Chosen::Edge, Chosen::Nothing]);
}
