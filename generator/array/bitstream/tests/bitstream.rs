//! Configurations, bitstreams and texts of arrays turn into each other.

use std::collections::BTreeSet;
use std::path::Path;

use pushmem_affine::Affine;
use pushmem_bitstream::{BankConfiguration, BankedBitstream, Bitstream, Configuration, Driver, Netlist, decode};
use pushmem_configuration::{ControllerConfiguration, RegisterWrite};
use pushmem_fabric::{ArraySpec, Direction, Folder, Layer, Place, Side, TileKind};
use pushmem_files::{Diagnostic, Document};
use pushmem_resources::{Address, Common, Graph, Meaning, Node, NodeId, Resource};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn array(more: &str) -> (ArraySpec, Graph) {
    array_of("image_pe", more)
}

fn array_of(pe: &str, more: &str) -> (ArraySpec, Graph) {
    let text = format!("name: a\nkind: array\ncolumns: 4\nrows: 3\npe: {pe}\n{more}");
    let folder = Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints"));
    let spec = ArraySpec::from_document(&Document::parse("array.yaml", text).unwrap(), &folder).unwrap();
    let graph = Graph::of(&spec);
    (spec, graph)
}

fn read(text: &str, spec: &ArraySpec, graph: &Graph) -> Result<Configuration, Diagnostic> {
    Configuration::from_document(&Document::parse("configuration.yaml", text).unwrap(), spec, graph)
}

/// A memory that delays a stream by some cycles.
const MEMORY: &str = "
    memory:
      tile: small
      controllers:
        in2agg_0: {extent: [16], cycle: {start: 2, stride: [1]}, agg: {start: 0, stride: [1]}}
        agg2sram_0: {extent: [4], cycle: {start: 6, stride: [4]}, agg: {start: 0, stride: [1]}, sram: {start: 0, stride: [1]}}
        sram2tb_0: {extent: [4], cycle: {start: 9, stride: [4]}, sram: {start: 0, stride: [1]}, tb: {start: 0, stride: [1]}}
        tb2out_0: {extent: [16], cycle: {start: 12, stride: [1]}, tb: {start: 0, stride: [1]}}
";

/// Every value of every field survives both ways, the ones that mean nothing included.
#[test]
fn random_configurations_read_back() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for (pe, more) in [
        ("image_pe", "memory: {tile: small, every: 4}"),
        ("image_pe", "hop_limit: 4\ntracks: {word: 3, bit: 2}"),
        ("network_pe", ""),
    ] {
        let (spec, graph) = array_of(pe, more);
        for _ in 0..50 {
            let mut configuration = Configuration::default();
            for place in spec.places() {
                if random.random_bool(0.3) {
                    continue;
                }
                let layout = graph.layout(graph.kind(place).unwrap());
                let tile = configuration.tile_mut(&graph, place);
                for (value, field) in tile.fields.iter_mut().zip(&layout.fields) {
                    if random.random() {
                        *value = field.value(random.random::<u32>() << field.low);
                    }
                }
            }
            configuration.tiles.retain(|_, tile| !tile.is_idle());
            let bitstream = configuration.encode(&spec, &graph).unwrap();
            assert_eq!(decode(&bitstream, &spec, &graph).unwrap(), configuration);
            let text = configuration.to_yaml(&spec, &graph);
            let again = read(&text, &spec, &graph)
                .unwrap_or_else(|error| panic!("{error}: {}", error.help().unwrap_or_default()));
            assert_eq!(again, configuration, "{text}");
            let bits = bitstream.to_text(&spec.name);
            assert_eq!(Bitstream::decode_text("bits", &bits, &spec, &graph).unwrap(), configuration);
        }
    }
}

#[test]
fn configurations_of_memories_read_back() {
    let (spec, graph) = array("memory: {tile: small, every: 4}");
    let text = format!(
        "array: a\ntiles:\n  mem_3_2:\n    inputs: {{data_in_0: west_1}}\n    words: {{south_0: data_out_0}}{MEMORY}"
    );
    let configuration = read(&text, &spec, &graph).unwrap();
    let bitstream = configuration.encode(&spec, &graph).unwrap();
    let decoded = decode(&bitstream, &spec, &graph).unwrap();
    assert_eq!(decoded.encode(&spec, &graph).unwrap(), bitstream);
    assert_eq!(read(&decoded.to_yaml(&spec, &graph), &spec, &graph).unwrap(), decoded);
    // A bitstream whose end is missing is no configuration of the memory.
    let cut = Bitstream { writes: bitstream.writes[..bitstream.writes.len() - 1].to_vec() };
    let error = decode(&cut, &spec, &graph).unwrap_err();
    assert_eq!(error.write, cut.writes.len());
    assert!(error.message.contains("the file was cut"), "{error}");
}

/// Beats of streams are affine functions, and what does not fit a controller is refused at its place.
#[test]
fn streams_have_schedules() {
    let (spec, graph) = array("io: {levels: 2, extent_bits: 4}");
    let read = |stream: &str| read(&format!("array: a\ntiles:\n  io_1_0:\n    {stream}\n"), &spec, &graph);
    let text = "stream_in: {extent: [4, 3], cycle: {start: 7, stride: [1, 9]}}";
    let configuration = read(text).unwrap();
    assert!(configuration.to_yaml(&spec, &graph).contains(text));
    let (layout, tile) = (graph.layout(TileKind::Io), &configuration.tiles[&Place { row: 0, column: 1 }]);
    let registers = tile.stream_registers(&spec, layout, Direction::In).unwrap();
    assert_eq!((registers.extents, registers.start, registers.gaps), (vec![3, 2], 7, vec![0, 5]));
    assert_eq!(tile.stream(&spec, layout, Direction::Out), None);
    for (stream, message) in [
        ("stream_out: {extent: [17], cycle: {start: 0, stride: [1]}}", "extent 17 is not from 1 to 16"),
        (
            "stream_out: {extent: [2, 2, 2], cycle: {start: 0, stride: [1, 2, 4]}}",
            "stream_out has 2 loop levels, not 3",
        ),
        ("stream_out: {extent: [2], cycle: {start: 0, stride: [0]}}", "must be at least 1"),
        ("registers: {stream_in_gap_2: 1}", "there is no register `stream_in_gap_2` here"),
    ] {
        let error = read(stream).unwrap_err();
        assert!(error.to_string().contains(message) && error.location().is_some(), "{error}");
    }
}

fn node(graph: &Graph, column: u32, row: u32, layer: Layer, node: Node) -> NodeId {
    graph.node(Resource { place: Place { row, column }, layer, node }).unwrap()
}

#[test]
fn netlists_have_registers_and_what_is_not_connected() {
    let (spec, graph) = array("");
    let text = "
array: a
tiles:
  io_0_0:
    inputs: {data: south_1}
    words: {south_0: data}
  pe_0_1:
    operation: add
    operands: {a: {from: north_0}, b: {from: west_0}, c: {from: east_2, mode: constant}}
    words: {east_1: north_0, north_1: result}
  pe_1_1:
    operation: add
    operands: {a: {from: west_1, delay: 1}, b: {from: west_3}, c: {from: east_0}}
    words: {east_4: east_4, west_2: unconnected_7}
  pe_2_1:
    words: {west_0: east_0, east_0: west_0}
  pe_3_1:
    words: {west_0: west_0, west_4: east_4}
";
    let configuration = read(text, &spec, &graph);
    let error = configuration.unwrap_err();
    assert!(error.to_string().contains("there is no source `east_4`"), "{error}");
    let text = text.replace("east_4: east_4, ", "").replace("west_0: west_0, west_4", "west_4");
    let configuration = read(&text, &spec, &graph).unwrap();
    let netlist = Netlist::of(&configuration, &graph);
    let expected = "\
io_0_0.word.data.input <- 1 <- pe_0_1.word.result.output
pe_0_1.word.a.input <- 1 <- io_0_0.word.data.output
pe_0_1.word.b.input <- 0 <- nothing: the edge of the array
pe_1_1.word.a.input <- 2 <- io_0_0.word.data.output
pe_1_1.word.b.input <- 0 <- nothing: pe_0_1.word.east_3.register takes nothing
pe_1_1.word.c.input <- 1 <- nothing: pe_3_1.word.west_0.register takes nothing
";
    assert_eq!(netlist.to_text(&graph), expected);
}

/// Four turns make a ring, whose words go round.
#[test]
fn rings_are_found() {
    let (_, graph) = array("topology: disjoint");
    let mut configuration = Configuration::default();
    let register = |column, row, side| node(&graph, column, row, Layer::Word, Node::Register { side, track: 0 });
    let segment = |column, row, side| node(&graph, column, row, Layer::Word, Node::Segment { side, track: 0 });
    let corners = [(0, 1, Side::East), (1, 1, Side::South), (1, 2, Side::West), (0, 2, Side::North)];
    for (at, before) in corners.into_iter().zip([corners[3], corners[0], corners[1], corners[2]]) {
        configuration.connect(&graph, segment(before.0, before.1, before.2), register(at.0, at.1, at.2)).unwrap();
    }
    let input = node(&graph, 1, 1, Layer::Word, Node::Input { port: 0 });
    configuration.connect(&graph, segment(0, 1, Side::East), input).unwrap();
    let layout = graph.layout(pushmem_fabric::TileKind::Pe);
    let mode = layout.field(Meaning::Mode { layer: Layer::Word, operand: 0 }).unwrap();
    configuration.tile_mut(&graph, Place { row: 1, column: 1 }).fields[mode] = 1;
    let [net] = Netlist::of(&configuration, &graph).nets[..] else { panic!("one input") };
    assert_eq!((net.source, net.registers), (Driver::Ring(segment(0, 1, Side::East)), 4));
}

#[test]
fn faults_of_bitstreams_are_located() {
    let (spec, graph) = array("");
    let digest = spec.digest_word();
    for (text, message, line) in [
        ("00000000 00000000\n".to_owned(), "do not begin with the digest", 1),
        ("ffff0000 00000000\n".to_owned(), "was made for another array: digest 00000000", 1),
        (format!("ffff0000 {digest:08x}\n00010000 00000000\n"), "does not clear the array", 2),
        (format!("ffff0000 {digest:08x}\nffff0001 00000000\n09010000 00000000\n"), "it has no column 1, row 9", 3),
        (format!("ffff0000 {digest:08x}\nffff0001 00000000\n01010009 00000000\n"), "pe_1_1: there is no register 9", 3),
        (format!("ffff0000 {digest:08x}\nffff0001 00000000\n01011000 ffffffff\n"), "sets unused bits", 3),
        (format!("ffff0000 {digest:08x}\nffff0001\n"), "has no data", 2),
    ] {
        let error = Bitstream::decode_text("bits.hex", &text, &spec, &graph).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(error.location().unwrap().1, line, "{message}");
    }
}

#[test]
fn faults_of_configurations_are_located() {
    let (spec, graph) = array("memory: {tile: small, every: 4}");
    for (tiles, message, line) in [
        ("pe_3_1: {}", "has no tile `pe_3_1`", 3),
        ("pe_00_1: {}", "has no tile `pe_00_1`", 3),
        ("pe_0_1: {operation: ad}", "there is no operation `ad`", 3),
        ("pe_0_1: {operands: {g: {constant: 1}}}", "no operand `g`", 3),
        ("pe_0_1: {operands: {a: {constant: 65536}}}", "65536 does not fit the 16 bits", 3),
        ("pe_0_1: {operands: {a: {from: west_0, delay: 7}}}", "an operand cannot be 7 cycles late", 3),
        ("pe_0_1: {operands: {a: {constant: 1, delay: 1}}}", "a constant cannot be late", 3),
        ("pe_0_1: {operands: {a: {from: west_0, mode: held}}}", "there is no mode `held` here", 3),
        ("pe_0_1: {operands: {a: {from: west_5}}}", "there is no source `west_5`", 3),
        ("pe_0_1: {words: {east_5: west_0}}", "no track `east_5` leaves", 3),
        ("pe_0_1: {passing: [word_east_0]}", "can pass around", 3),
        ("pe_0_1: {inputs: {a: west_0}}", "this tile has no `inputs`", 3),
        ("mem_3_1: {operation: add}", "this tile has no `operation`", 3),
        (
            "mem_3_1: {memory: {tile: small, controllers: {nothing: {extent: [1], cycle: {start: 0, stride: [0]}}}}}",
            "nothing",
            3,
        ),
    ] {
        let error = read(&format!("array: a\ntiles:\n  {tiles}\n"), &spec, &graph).unwrap_err();
        assert!(error.to_string().contains(message), "{tiles}: {error}");
        assert_eq!(error.location().unwrap().1, line, "{tiles}");
    }
    let error = read("array: b\n", &spec, &graph).unwrap_err();
    assert!(error.to_string().contains("is for `b`, not for `a`"), "{error}");
    let error = read("array: a\nspec_digest: '0'\n", &spec, &graph).unwrap_err();
    assert!(error.to_string().contains("made for another `a`"), "{error}");
}

/// A bitstream for columns has their tiles alone, and one that goes to others is refused.
#[test]
fn columns_have_bitstreams_of_their_own() {
    let (spec, graph) = array("");
    let mut configuration = Configuration::default();
    for place in spec.places() {
        configuration.tile_mut(&graph, place).fields[0] = 1;
    }
    let columns: BTreeSet<u32> = [1, 2].into();
    let mut bitstream = configuration.encode_columns(&spec, &graph, &columns).unwrap();
    configuration.tiles.retain(|place, _| columns.contains(&place.column));
    assert_eq!(decode(&bitstream, &spec, &graph).unwrap(), configuration);
    let outside = Address { row: 1, column: 3, feature: 0, register: 0 };
    bitstream.writes.push(RegisterWrite { address: outside.word(), data: 1 });
    let error = decode(&bitstream, &spec, &graph).unwrap_err();
    assert!(error.message.contains("is in a column that no write before it clears"), "{}", error.message);
}

/// A configuration keeps to columns if its tiles are in them and take no tracks of others; those that it gives to others, and those from
/// outside of the array, do no harm.
#[test]
fn columns_are_loaded_alone() {
    let (spec, graph) = array("hop_limit: 2");
    let columns: BTreeSet<u32> = [0, 1].into();
    for (tiles, stray) in [
        ("pe_0_1: {words: {east_0: west_0}}\n  pe_1_2: {operands: {a: {from: west_0}}, words: {east_1: result}}", None),
        ("pe_2_1: {operation: add}", Some("`pe_2_1` is in column 2, which is not to be loaded")),
        ("pe_1_1: {operands: {b: {from: east_3}}}", Some("`pe_1_1` takes the word `east_3` of column 2")),
        ("pe_1_3: {bits: {north_0: east_1}}", Some("`pe_1_3` takes the bit `east_1` of column 2")),
        ("pe_1_1: {passing: [word_west_2]}", Some("`pe_1_1` takes the word `east_2` of column 2")),
    ] {
        let configuration = read(&format!("array: a\ntiles:\n  {tiles}\n"), &spec, &graph).unwrap();
        match (configuration.keeps_to(&graph, &columns), stray) {
            (Ok(()), None) => {}
            (Err(found), Some(stray)) => assert!(found.message.starts_with(stray), "{found}"),
            (found, _) => panic!("{tiles}: {found:?}"),
        }
    }
}

/// A write to all tiles of a kind reaches these and no others.
#[test]
fn tiles_of_a_kind_are_written_together() {
    let (spec, graph) = array("memory: {tile: small, every: 2}");
    for (kind, column) in
        [(TileKind::Pe, None), (TileKind::Pe, Some(2)), (TileKind::Memory, None), (TileKind::Io, Some(1))]
    {
        let mut bitstream = Configuration::default().encode(&spec, &graph).unwrap();
        let common = Common { kind, column, feature: 3, register: 0 };
        bitstream.writes.push(RegisterWrite { address: common.address().word(), data: 1 });
        let found: Vec<Place> = decode(&bitstream, &spec, &graph).unwrap().tiles.keys().copied().collect();
        let is_meant = |place: &Place| common.has(spec.kind(*place).unwrap(), *place);
        assert_eq!(found, spec.places().filter(is_meant).collect::<Vec<_>>());
        assert!(!found.is_empty());
    }
    let mut bitstream = Configuration::default().encode(&spec, &graph).unwrap();
    let common = Common { kind: TileKind::Pe, column: Some(1), feature: 0, register: 0 };
    bitstream.writes.push(RegisterWrite { address: common.address().word(), data: 1 });
    assert!(decode(&bitstream, &spec, &graph).unwrap_err().message.contains("is no address of"));
}

/// Any loop nests of banks survive both ways.
#[test]
fn configurations_of_banks_read_back() {
    let (spec, graph) = array("global_buffer: {banks: 2, bank_bytes: 256, levels: 3, extent_bits: 5, cycle_bits: 8}\n");
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    for _ in 0..200 {
        let mut configuration = Configuration::default();
        for bank in 0..2 {
            let mut transfers = [None, None];
            for transfer in &mut transfers {
                let levels = random.random_range(0..=3);
                let extent: Vec<u64> = (0..levels).map(|_| random.random_range(2..=4)).collect();
                let mut stride =
                    |least: i64, most: i64| (0..levels).map(|_| random.random_range(least..=most)).collect();
                let sram = Some(Affine { start: 5, stride: stride(-8, 8) });
                let cycle = Affine { start: 7, stride: [1, 9, 60][..levels].to_vec() };
                let beats = ControllerConfiguration { extent: extent.into(), cycle, sram, ..Default::default() };
                *transfer = random.random::<bool>().then_some(beats);
            }
            let [load, store] = transfers;
            configuration.banks.insert(bank, BankConfiguration { load, store, common_time: random.random() });
        }
        let bitstream = configuration.encode(&spec, &graph).unwrap();
        configuration.banks.retain(|_, bank| !bank.is_idle());
        assert_eq!(read(&configuration.to_yaml(&spec, &graph), &spec, &graph).unwrap(), configuration);
        assert_eq!(decode(&bitstream, &spec, &graph).unwrap(), configuration);
        let text = bitstream.to_text(&spec.name);
        assert_eq!(Bitstream::decode_text("bits.hex", &text, &spec, &graph).unwrap(), configuration);
        assert!(configuration.of_array().banks.is_empty());
    }
}

#[test]
fn faults_of_banks_are_located() {
    let (spec, graph) = array("global_buffer: {banks: 2, bank_bytes: 256}\n");
    let digest = spec.digest_word();
    for (write, message) in [
        ("ff001000 00000008", "sets unused bits of `control` of a bank"),
        ("ff001001 00000001", "`hand_over` of a bank, which is no part of a configuration"),
        ("ff011000 00000001", "ff011000 is no address of `a`"),
        ("ff00103f 00000001", "ff00103f is no address of `a`"),
        ("ff021003 00000001", "bank 1: a DMA that does not work has registers that are not 0"),
    ] {
        let text = format!("ffff0000 {digest:08x}\nffff0001 00000000\n{write}\n");
        let error = Bitstream::decode_text("bits.hex", &text, &spec, &graph).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(error.location().unwrap().1, 3, "{message}");
    }
    let transfer = "{extent: [4], cycle: {start: 0, stride: [1]}";
    for (bank, message) in [
        ("bank_2: {}".to_owned(), "`a` has no bank `bank_2`"),
        (format!("bank_0: {{load: {transfer}}}}}"), "load needs addresses in `sram`"),
        ("bank_0: {store: {extent: [0], cycle: {stride: [1]}, sram: {stride: [1]}}}".to_owned(), "extent 0"),
        ("bank_0: {both: 1}".to_owned(), "unknown"),
    ] {
        let error = read(&format!("array: a\nbanks:\n  {bank}\n"), &spec, &graph).unwrap_err();
        assert!(error.to_string().contains(message), "{bank}: {error}");
        assert_eq!(error.location().unwrap().1, 3, "{message}");
    }
    let (spec, graph) = array("");
    let error = read("array: a\nbanks: {bank_0: {}}\n", &spec, &graph).unwrap_err();
    assert!(error.to_string().contains("no bank `bank_0`"), "{error}");
}

/// Each write is in the bank above its column, in its order, behind a header; the digest and the clear are left to the host.
#[test]
fn bitstreams_are_divided_among_banks() {
    let (spec, graph) = array("memory: {tile: small, every: 4}\nglobal_buffer: {banks: 2, bank_bytes: 4096}\n");
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut configuration = read(&format!("array: a\ntiles:\n  mem_3_1:{MEMORY}"), &spec, &graph).unwrap();
    for place in spec.places().filter(|place| graph.kind(*place) == Some(TileKind::Pe)) {
        let layout = graph.layout(TileKind::Pe);
        let tile = configuration.tile_mut(&graph, place);
        for (value, field) in tile.fields.iter_mut().zip(&layout.fields) {
            *value = field.value(random.random::<u32>() << field.low);
        }
    }
    let transfer = ControllerConfiguration {
        extent: vec![4].into(),
        cycle: Affine { start: 0, stride: vec![1] },
        sram: Some(Affine { start: 0, stride: vec![1] }),
        ..ControllerConfiguration::default()
    };
    configuration.banks.insert(1, BankConfiguration { load: Some(transfer), ..BankConfiguration::default() });
    let mut bitstream = configuration.encode(&spec, &graph).unwrap();
    // One for all memories, of which bank 1 alone has some, and one for all processing elements.
    let common = |kind: TileKind| Common { kind, column: None, feature: 0, register: 0 }.address().word();
    bitstream
        .writes
        .extend([TileKind::Memory, TileKind::Pe].map(|kind| RegisterWrite { address: common(kind), data: 1 }));
    let banked = BankedBitstream::of(&bitstream, &spec).unwrap();
    assert_eq!(banked.first, bitstream.writes[..2]);
    for (bank, part) in banked.banks.iter().enumerate() {
        let is_here = |write: &&RegisterWrite| {
            let address = Address::of(write.address);
            match write.address {
                word if word == common(TileKind::Memory) => bank == 1,
                word if word == common(TileKind::Pe) => true,
                _ => address.column / 2 == bank as u32,
            }
        };
        let expected: Vec<RegisterWrite> = bitstream.writes[2..].iter().filter(is_here).copied().collect();
        assert_eq!(*part, expected);
        let rows: Vec<_> = banked.rows().filter(|row| row.bank == bank as u32).collect();
        assert_eq!(rows[0].data, u64::from(spec.digest_word()) << 32 | part.len() as u64);
        assert_eq!(rows.len(), part.len() + 1);
        for (number, (row, write)) in (1..).zip(rows[1..].iter().zip(part)) {
            assert_eq!((row.row, row.data), (number, u64::from(write.address) << 32 | u64::from(write.data)));
        }
    }
    assert!(banked.banks.iter().all(|part| part.len() > 20) && banked.check_room(&spec).is_ok());
    let addressed: Vec<_> = banked.addressed(&spec).collect();
    // Half 1 of bank 0, and of bank 1.
    assert_eq!(addressed[0].0, 2048);
    assert_eq!(addressed[banked.banks[0].len() + 1].0, 4096 + 2048);
    assert_eq!(banked.to_text(&spec).lines().count(), 1 + banked.rows().count());
    let (narrow, graph) = array("memory: {tile: small, every: 4}\nglobal_buffer: {banks: 2, bank_bytes: 256}\n");
    let banked = BankedBitstream::of(&configuration.encode(&narrow, &graph).unwrap(), &narrow).unwrap();
    let error = banked.check_room(&narrow).unwrap_err();
    let needed = banked.longest() + 1;
    let bank = banked.banks.iter().rposition(|part| part.len() + 1 == needed).unwrap();
    let message =
        format!("the bitstream of bank {bank} of `a` has {needed} rows with its header; a half of the bank has 16");
    assert_eq!(error.to_string(), message);
    let bytes = format!("bank_bytes: {}", needed.next_power_of_two() * 16);
    assert!(error.help().is_some_and(|help| help.contains(&bytes)), "{error:?}");
    let (without, graph) = array("");
    let empty = Configuration::default().encode(&without, &graph).unwrap();
    assert_eq!(BankedBitstream::of(&empty, &without), None);
}
