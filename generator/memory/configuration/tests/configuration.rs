//! Configurations: encoding by hand and at random, decoding, and refusals.

#[path = "../../tile/tests/specs/mod.rs"]
mod specs;

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use pushmem_affine::Affine;
use pushmem_configuration::{
    Chain, Configuration, ControllerConfiguration, RegisterWrite, WritesFile, decode, encode, format_writes,
};
use pushmem_files::{Diagnostic, Document};
use pushmem_registers::{Field, Meaning, RegisterMap};
use pushmem_tile::{AddressGenerator, Controller, Kind, Mode, Style, TileSpec};

use specs::{root, says, shipped, spec_of, specs, styled, tile};

fn read(text: &str, spec: &TileSpec) -> Result<Configuration, Diagnostic> {
    Configuration::from_document(&Document::parse("c.yaml", text)?, spec)
}

/// The value that the writes give a field.
fn field(spec: &TileSpec, writes: &[RegisterWrite], register: &str, field: &str) -> u32 {
    let map = RegisterMap::of(spec);
    let (register, field) = map
        .fields()
        .find(|(r, f)| {
            f.name == field && r.name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_') == register
        })
        .unwrap_or_else(|| panic!("there is no {register}.{field}"));
    let write = writes.iter().rfind(|write| write.address == register.offset).expect("every register is written");
    (write.data & field.mask()) >> field.low
}

/// Register group, field, value.
type Expected<'a> = &'a [(&'a str, &'a str, u32)];

fn encodes(spec: &TileSpec, configuration: &Configuration, expected: Expected) {
    let writes = encode(configuration, spec, &RegisterMap::of(spec)).unwrap();
    for (register, name, value) in expected {
        assert_eq!(field(spec, &writes, register, name), *value, "{register}.{name} of {} {:?}", spec.name, spec.style);
    }
}

#[test]
fn line_buffer_has_the_values_computed_by_hand() {
    let spec = tile("amber");
    let path = root().join("rtl-tests/configurations/gaussian.yaml");
    let configuration = Configuration::read(&path, &spec).unwrap();
    let deltas: Expected = &[
        ("in2agg_0_extent", "level_0", 63),
        ("in2agg_0_extent", "level_1", 63),
        ("in2agg_0_extent", "level_2", 0),
        ("in2agg_0_cycle", "delta_0", 0),
        ("agg2sram_0_extent", "level_0", 15),
        ("agg2sram_0_cycle", "start", 4),
        ("agg2sram_0_cycle", "delta_0", 3),
        // 64 cycles on, of which 15 · 4 have passed; stored less one.
        ("agg2sram_0_cycle", "delta_1", 3),
        ("agg2sram_0_sram", "delta_1", 1),
        // Back by 15 rows of four: 1 modulo 4.
        ("agg2sram_0_agg", "delta_1", 1),
        // Back by 63 words of eight: 1 modulo 8.
        ("tb2out_1_tb", "delta_1", 1),
        ("tb2out_1_cycle", "start", 128),
        ("sram2tb_1_cycle", "start", 125),
        ("control", "enable_tb2out_1", 1),
        ("control", "enable_in2agg_1", 0),
        ("control", "chain_enable", 0),
    ];
    encodes(&spec, &configuration, deltas);
    for style in [Style::PerLevel, Style::Multiplier] {
        let spec = styled(&spec, style);
        encodes(
            &spec,
            &configuration,
            &[
                ("agg2sram_0_cycle", "stride_1", 64),
                ("agg2sram_0_sram", "stride_1", 16),
                ("agg2sram_0_agg", "stride_1", 0),
                ("in2agg_0_cycle", "stride_0", 1),
            ],
        );
    }
    let writes = encode(&configuration, &spec, &RegisterMap::of(&spec)).unwrap();
    assert_eq!(writes[0], RegisterWrite { address: 0, data: spec.digest_word() });
    let control = writes.last().expect("there are registers");
    assert_eq!((control.address, control.data), (4, 0b0_1111_0101), "the controllers start to run with the last write");
}

/// Downsampling by 2 over 8×8 (unified-buffer paper, Figure 6), and the same backwards.
#[test]
fn downsampling_has_the_published_deltas() {
    let text = "{tile: t, controllers: {rf2out_0: {extent: [4, 4], cycle: {start: 7, stride: [1, 9]}, \
                register_file: {start: 0, stride: [2, 16]}}, rf2out_1: {extent: [4, 4], cycle: {stride: [2, 8]}, \
                register_file: {start: -1, stride: [-2, -16]}}}}";
    let forwards_and_backwards: [(Style, Expected); 2] = [
        (
            Style::Recurrence,
            &[
                ("rf2out_0_register_file", "delta_0", 2),
                ("rf2out_0_register_file", "delta_1", 10),
                ("rf2out_0_cycle", "delta_1", 9 - 3 - 1),
                ("rf2out_1_register_file", "start", 63),
                ("rf2out_1_register_file", "delta_0", 62),
                ("rf2out_1_register_file", "delta_1", 54),
                ("rf2out_1_cycle", "delta_0", 1),
                ("rf2out_1_cycle", "delta_1", 1),
            ],
        ),
        (
            Style::Multiplier,
            &[
                ("rf2out_0_register_file", "stride_0", 2),
                ("rf2out_0_register_file", "stride_1", 16),
                ("rf2out_0_cycle", "stride_1", 9),
                ("rf2out_1_register_file", "stride_1", 48),
            ],
        ),
    ];
    for (style, expected) in forwards_and_backwards {
        let spec = styled(&spec_of("{name: t, kind: register_file, rows: 64}"), style);
        encodes(&spec, &read(text, &spec).unwrap(), expected);
    }
}

/// Words of a rom, wider than a register: lower half first, before the control register.
#[test]
fn contents_are_written_in_halves() {
    let spec = spec_of("{name: t, kind: rom, rows: 5, word_bits: 40}");
    let map = RegisterMap::of(&spec);
    let configuration =
        read("{tile: t, controllers: {}, contents: [1, 0xab_1234_5678]}".replace('_', "").as_str(), &spec).unwrap();
    let writes = encode(&configuration, &spec, &map).unwrap();
    let offset = map.contents.expect("a rom has contents").offset;
    let expected = [1, 0, 0x1234_5678, 0xab].iter().zip((offset..).step_by(4));
    let expected: Vec<_> = expected.map(|(&data, address)| RegisterWrite { address, data }).collect();
    assert_eq!(writes[writes.len() - 5..writes.len() - 1], expected);
    assert_eq!(decode(&writes, &spec, &map).unwrap().contents, configuration.contents);
}

/// A controller of the tile `small`; message, offending text and help of the refusal.
const REFUSED: &[(&str, &str, &str, &str)] = &[
    (
        "CTRL: {extent: [4, 0], cycle: {stride: [1, 4]}, agg: {stride: [1, 4]}}",
        "in2agg_0, level 1: extent 0 is not from 1 to 256, the limit of a 8-bit counter",
        "0",
        "leave out",
    ),
    (
        "CTRL: {extent: [257], cycle: {stride: [1]}, agg: {stride: [1]}}",
        "in2agg_0, level 0: extent 257 is not from 1 to 256",
        "257",
        "split the loop",
    ),
    (
        "CTRL: {extent: [1, 1, 1, 1, 1], cycle: {stride: []}}",
        "in2agg_0 has 4 loop levels, not 5",
        "[1, 1, 1, 1, 1]",
        "merge loops",
    ),
    ("CTRL: {extent: [2, 2], cycle: {stride: [1]}}", "in2agg_0: 1 stride for 2 extents", "[1]", "one stride for each"),
    (
        "CTRL: {extent: [2], cycle: {stride: [1]}, agg: {stride: [1, 2]}}",
        "in2agg_0: 2 strides for 1 extent",
        "[1, 2]",
        "one stride for each",
    ),
    (
        "CTRL: {extent: [2], cycle: {start: 1024, stride: [1]}, agg: {stride: [1]}}",
        "in2agg_0: start 1024 is not from 0 to 1023, the limit of a 10-bit",
        "1024",
        "larger `cycle_bits`",
    ),
    (
        "CTRL: {extent: [2], cycle: {start: -1, stride: [1]}, agg: {stride: [1]}}",
        "in2agg_0: start -1 is not from 0",
        "-1",
        "first after the flush",
    ),
    (
        "CTRL: {extent: [2], cycle: {stride: [0]}, agg: {stride: [1]}}",
        "in2agg_0, level 0: stride 0 makes it fire 0 cycles after",
        "0",
        "at least 1",
    ),
    (
        "CTRL: {extent: [4, 2], cycle: {stride: [2, 5]}, agg: {stride: [1, 1]}}",
        "in2agg_0, level 1: stride 5 makes it fire -1 cycles after",
        "5",
        "at least 7",
    ),
    (
        "CTRL: {extent: [4, 2], cycle: {stride: [1, 1028]}, agg: {stride: [1, 1]}}",
        "in2agg_0, level 1: stride 1028 leaves 1025 cycles between two firings; the limit of a 10-bit schedule is 1024",
        "1028",
        "larger `cycle_bits`",
    ),
    (
        "CTRL: {extent: [2], cycle: {stride: [1]}}",
        "in2agg_0 needs addresses in `agg`",
        "{extent: [2], cycle: {stride: [1]}}",
        "add `agg:",
    ),
    (
        "CTRL: {extent: [2], cycle: {stride: [1]}, agg: {stride: [1]}, sram: {stride: [1]}}",
        "in2agg_0 does not address `sram`",
        "sram",
        "",
    ),
    ("CTRL: {extent: [2], cycle: {strides: [1]}}", "unknown key `strides`", "strides", "did you mean `stride`?"),
    ("CTRL: {extent: [-1], cycle: {stride: [1]}}", "expected an integer", "-1", ""),
    (
        "in2ag_0: {extent: [2], cycle: {stride: [1]}}",
        "the tile `small` has no controller `in2ag_0`",
        "in2ag_0",
        "did you mean `in2agg_0`? its controllers are in2agg_0, in2agg_1",
    ),
    (
        "in2agg_2: {extent: [2], cycle: {stride: [1]}}",
        "has no controller `in2agg_2`",
        "in2agg_2",
        "did you mean `in2agg_0`?",
    ),
];

/// Tile, whole text, message, line and help.
const REFUSED_FILES: &[(&str, &str, &str, usize, &str)] = &[
    ("small", "tile: smal\ncontrollers: {}", "for the tile `smal`, not `small`", 1, "it was made for"),
    ("small", "controllers: {}", "`tile`", 1, ""),
    (
        "small",
        "tile: small\nspec_digest: abc\ncontrollers: {}",
        "another version of `small`",
        2,
        "make it again; the digest",
    ),
    (
        "small",
        "tile: small\ncontrollers: {}\nchain: {enable: true, tile_id: 4}",
        "tile ID 4 is not from 0 to 3, the limit of its 2 bits",
        3,
        "",
    ),
    ("small", "tile: small\nmode: fifo", "the tile `small` has no mode `fifo`", 2, "`fifo_mode: true`"),
    ("small", "tile: small\nmode: stack", "unknown value `stack`", 2, "`unified_buffer`, `fifo`, `ram`"),
    ("small", "tile: small", "`controllers`", 1, ""),
    (
        "amber_modes",
        "tile: amber_modes\nmode: ram\ncontrollers:\n  in2agg_0: {extent: [], cycle: {stride: []}}",
        "in the mode `ram` no controller runs",
        3,
        "remove `controllers`, or `mode`",
    ),
    (
        "amber_modes",
        "tile: amber_modes\nmode: fifo\nchain: {enable: true}",
        "in the mode `fifo` a tile is no part of a chain",
        3,
        "remove `chain`, or `mode`",
    ),
    (
        "amber_modes",
        "tile: amber_modes\nmode: ram\ncontents: [0, 65536]",
        "65536 is more than 65535, the limit of a 16-bit word",
        3,
        "",
    ),
    (
        "small",
        "tile: small\ncontrollers: {}\ncontents: [1]",
        "the contents of `small` cannot be loaded",
        3,
        "`contents: true`",
    ),
    (
        "pond",
        "tile: pond\ncontrollers: {}\nchain: {enable: true}",
        "the tile `pond` cannot be chained",
        3,
        "`chaining: true`",
    ),
    (
        "pond",
        "tile: pond\ncontrollers: {}\nchain: {enable: false, tile_id: 1}",
        "the tile `pond` cannot be chained",
        3,
        "",
    ),
    (
        "rom",
        "tile: rom\ncontrollers: {}\ncontents:\n- 1\n- 65536",
        "65536 is more than 65535, the limit of a 16-bit word",
        5,
        "",
    ),
];

#[test]
fn refuses_what_does_not_fit_the_tile() {
    let refused = |spec: &TileSpec, text: &str, message: &str, line: usize, help: &str| {
        let Err(problem) = read(text, spec) else { panic!("accepted:\n{text}") };
        says(&problem, message, line, help, text);
        problem
    };
    let small = tile("small");
    for &(text, message, offending, help) in REFUSED {
        let text = format!("tile: small\ncontrollers:\n  {}\n", text.replace("CTRL", "in2agg_0"));
        let problem = refused(&small, &text, message, 3, help);
        assert_eq!(problem.offending_text(), Some(offending), "{problem:?}, for\n{text}");
    }
    for &(name, text, message, line, help) in REFUSED_FILES {
        refused(&tile(name), text, message, line, help);
    }
    let too_long = format!("tile: rom\ncontrollers: {{}}\ncontents: [{}]", vec!["0"; 2049].join(", "));
    refused(&tile("rom"), &too_long, "2049 words of contents for 2048 rows", 3, "more `rows`");
}

/// `encode` checks, too: a program may make a configuration that no file holds.
#[test]
fn encode_refuses_what_check_refuses() {
    let spec = tile("small");
    let configuration = Configuration { tile: "other".to_owned(), ..Configuration::default() };
    let finding = encode(&configuration, &spec, &RegisterMap::of(&spec)).unwrap_err();
    assert_eq!(Diagnostic::from(finding).message(), "tile: this configuration is for the tile `other`, not `small`");
}

/// A mode is a bit of the register that lets controllers run, so that it comes into force with them.
#[test]
fn modes_are_written_and_found_again() {
    let spec = tile("amber_modes");
    let map = RegisterMap::of(&spec);
    let of_mode = |mode: Mode| Configuration { tile: spec.name.clone(), mode, ..Configuration::default() };
    let last = |mode: Mode| encode(&of_mode(mode), &spec, &map).unwrap().last().copied().expect("there are writes");
    for mode in [Mode::UnifiedBuffer, Mode::Fifo, Mode::Ram] {
        let writes = encode(&of_mode(mode), &spec, &map).unwrap();
        let found = decode(&writes, &spec, &map).unwrap();
        assert_eq!(found.mode, mode);
        assert_eq!(read(&found.to_yaml(), &spec).unwrap(), found);
    }
    let [none, fifo, ram] = [Mode::UnifiedBuffer, Mode::Fifo, Mode::Ram].map(last);
    let mut writes = encode(&of_mode(Mode::Ram), &spec, &map).unwrap();
    let mut refused = |data: u32, message: &str| {
        writes.last_mut().unwrap().data = data;
        let error = decode(&writes, &spec, &map).unwrap_err();
        assert!(error.message.contains(message), "{error}");
    };
    assert_eq!((none.data, fifo.address), (0, ram.address));
    refused(fifo.data | ram.data, "not both `fifo` and `ram`");
    refused(fifo.data | 1, "in the mode `fifo` no controller runs");
}

#[test]
fn refuses_writes_of_another_tile() {
    let (small, rom) = (tile("small"), spec_of("{name: narrow, kind: rom, rows: 8, word_bits: 12}"));
    let shadowed =
        spec_of("{name: shadowed, kind: rom, rows: 8, shadow_registers: true, controllers: {all: {levels: 1}}}");
    let contents = RegisterMap::of(&rom).contents.expect("a rom has contents");
    let odd_rows = tile("one_in_one_out");
    let map = RegisterMap::of(&odd_rows);
    let sram =
        map.registers.iter().find(|register| register.name == "agg2sram_0_sram_0").expect("it addresses the SRAM");
    let begun = |spec: &TileSpec, rest: &str| format!("0 {:x} 4 0 {rest}", spec.digest_word());
    let padded = |text: &str| text.split_whitespace().map(|word| format!("{word:0>8}\n")).collect::<String>();
    let cases = [
        (&small, begun(&small, "1000 0"), 2, "the tile `small` has no register at 00001000"),
        (&small, begun(&small, "6 0"), 2, "no register at 00000006"),
        (&small, "0 12345678 4 0".to_owned(), 0, "made for another specification: digest 12345678"),
        (&small, "4 0".to_owned(), 0, "do not begin with the digest"),
        (&small, String::new(), 0, "do not begin with the digest"),
        (&small, begun(&small, "8 0"), 3, "end without one to `in2agg_0_cycle_0`"),
        (&small, begun(&small, "4 80000000"), 2, "80000000 sets unused bits of `control`"),
        (
            &odd_rows,
            begun(&odd_rows, &format!("{:x} 64", sram.offset)),
            2,
            "`start` of `agg2sram_0_sram_0` is 100, but addresses wrap at 100",
        ),
        (&shadowed, begun(&shadowed, "8 1 c 0 10 0"), 5, "end without one to `commit`"),
        (&shadowed, begun(&shadowed, "8 1 c 0 10 0 4 0"), 5, "the last write to `commit` is not 1"),
        (&shadowed, begun(&shadowed, "8 1 c 0 4 1 10 0"), 6, "end without one to `commit`"),
        (&rom, begun(&rom, &format!("{:x} 1000", contents.offset)), 2, "sets bits above a 12-bit word"),
        (&rom, begun(&rom, &format!("{:x} 0", contents.offset_of(8, 0))), 2, "no register at"),
    ];
    for (spec, text, write, message) in cases {
        let text = padded(&text);
        let error = WritesFile::parse("w.hex", &text).unwrap().decode(spec, &RegisterMap::of(spec)).unwrap_err();
        // Behind the last write is the end of the last line.
        let (words, lines) = (2 * write, text.lines().count());
        let place = if words < lines { (words + 1, 1) } else { (lines.max(1), if lines == 0 { 1 } else { 9 }) };
        assert_eq!(error.location(), Some(("w.hex".to_owned(), place.0, place.1)), "{error:?}");
        assert!(error.message().contains(message), "{error:?} instead of {message}");
    }
    let odd = WritesFile::parse("w.hex", "00000000 00000001 // two\n00000004").unwrap_err();
    assert_eq!(odd.location(), Some(("w.hex".to_owned(), 2, 1)), "{odd:?}");
    assert!(odd.message().contains("the last address, 00000004, has no data"), "{odd:?}");
    let wide = WritesFile::parse("w.hex", "00000000 00000001\n00000004 100000000").unwrap_err();
    assert_eq!(wide.location(), Some(("w.hex".to_owned(), 2, 10)));
    let narrow = WritesFile::parse("w.hex", "00000000 1").unwrap_err();
    assert_eq!(narrow.message(), "`1` has 1 digits, not 8");
    assert_eq!(narrow.location(), Some(("w.hex".to_owned(), 1, 10)));
}

/// Wherever the end is cut off, even behind whole writes.
#[test]
fn refuses_a_file_that_was_cut() {
    let spec = tile("amber");
    let configuration = Configuration::read(&root().join("rtl-tests/configurations/gaussian.yaml"), &spec).unwrap();
    refuses_all_cuts(&configuration, &spec);
    let shadowed = spec_of("{name: shadowed, kind: rom, rows: 8, shadow_registers: true, word_bits: 40}");
    let contents = vec![1 << 39, 2, 3];
    let tile = shadowed.name.clone();
    refuses_all_cuts(&Configuration { tile, contents: contents.clone(), ..Configuration::default() }, &shadowed);
    let rom = spec_of("{name: rom, kind: rom, rows: 8}");
    refuses_all_cuts(&Configuration { tile: "rom".to_owned(), contents: vec![7; 8], ..Configuration::default() }, &rom);
}

fn refuses_all_cuts(configuration: &Configuration, spec: &TileSpec) {
    let map = RegisterMap::of(spec);
    let text = format_writes(&spec.name, &encode(configuration, spec, &map).unwrap());
    let decoded = |text: &str| WritesFile::parse("w.hex", text).and_then(|file| file.decode(spec, &map));
    // Without the end of the last line, nothing is missing.
    assert_eq!(decoded(text.trim_end()).unwrap(), decoded(&text).unwrap());
    for length in 0..text.len() - 1 {
        let refused = decoded(&text[..length]).expect_err("the file was cut");
        assert!(refused.location().is_some(), "{refused:?}");
    }
}

/// Also when it must be quoted in YAML.
#[test]
fn every_name_of_a_tile_is_read_back() {
    for name in ["t", "null", "true", "e1"] {
        let spec = spec_of(&format!("{{name: '{name}', kind: rom, rows: 4}}"));
        let configuration = Configuration { tile: name.to_owned(), ..Configuration::default() };
        assert_eq!(read(&configuration.to_yaml(), &spec).unwrap(), configuration);
    }
}

/// One loop level: extent, gap to the firing before, stride of a level that never increments, address strides.
fn level(controller: &Controller) -> impl Strategy<Value = (u64, i128, i64, Vec<i64>)> + use<> {
    let (extents, gaps) = (1_u64 << controller.extent_bits, 1_i128 << controller.cycle_bits);
    let extent = prop_oneof![3 => Just(1), 8 => 1..=extents.min(9), 1 => Just(extents)];
    let gap = prop_oneof![4 => 1..=gaps.min(9), 1 => 1..=gaps, 1 => Just(gaps)];
    (extent, gap, -99_i64..99, prop::collection::vec(anywhere(), controller.addresses.len()))
}

/// Addresses and strides, most of them beyond the memory.
fn anywhere() -> impl Strategy<Value = i64> {
    prop_oneof![-9_i64..9, -5000_i64..5000, -(1_i64 << 40)..1 << 40]
}

fn controller(parameters: &Controller) -> impl Strategy<Value = ControllerConfiguration> + use<> {
    let levels = prop::collection::vec(level(parameters), 0..=parameters.levels as usize);
    let cycle_start = prop_oneof![0_i64..9, Just((1 << parameters.cycle_bits) - 1)].prop_map({
        let limit = 1_i64 << parameters.cycle_bits;
        move |start| start.min(limit - 1)
    });
    let starts = prop::collection::vec(anywhere(), parameters.addresses.len());
    let parameters = parameters.clone();
    (levels, cycle_start, starts).prop_map(move |(levels, cycle_start, starts)| {
        let mut configured = ControllerConfiguration::default();
        configured.cycle.start = cycle_start;
        let mut functions: Vec<Affine> = starts.into_iter().map(|start| Affine { start, stride: Vec::new() }).collect();
        let mut inside = 0_i128;
        for (extent, gap, free, strides) in levels {
            let stride = if extent == 1 { i128::from(free) } else { inside + gap };
            // Runs of more than 2^62 cycles are not of this world.
            let Some(stride) = i64::try_from(stride).ok().filter(|stride| *stride < 1 << 62) else { break };
            inside += i128::from(stride) * (i128::from(extent) - 1);
            configured.extent.push(extent);
            configured.cycle.stride.push(stride);
            functions.iter_mut().zip(strides).for_each(|(function, stride)| function.stride.push(stride));
        }
        for (generator, function) in parameters.addresses.iter().zip(functions) {
            configured.set_address(generator.memory, function);
        }
        configured
    })
}

/// A tile and a configuration that fits it.
fn configured_tiles() -> impl Strategy<Value = (TileSpec, Configuration)> {
    specs().prop_flat_map(|spec| {
        let names: Vec<String> = spec.controllers().into_iter().map(|controller| controller.name).collect();
        let controllers: Vec<_> =
            spec.controllers().iter().map(|c| prop::option::weighted(0.8, controller(c))).collect();
        let ids = if spec.chaining { 1_u64 << spec.tile_id_bits() } else { 1 };
        let chain = (any::<bool>(), 0..ids).prop_map({
            let chaining = spec.chaining;
            move |(enable, tile_id)| Chain { enable: enable && chaining, tile_id: tile_id as u32 }
        });
        let words = if spec.kind == Kind::Rom { spec.rows as usize } else { 0 };
        let shift = 64 - spec.word_bits;
        let contents = prop::collection::vec(any::<u64>().prop_map(move |word| word >> shift), 0..=words);
        (Just(spec), controllers, chain, contents).prop_map(move |(spec, controllers, chain, contents)| {
            let controllers = names.iter().cloned().zip(controllers);
            let controllers = controllers.filter_map(|(name, configured)| Some((name, configured?))).collect();
            let configuration = Configuration {
                tile: spec.name.clone(),
                spec_digest: Some(spec.digest()),
                controllers,
                chain,
                contents,
                ..Configuration::default()
            };
            (spec, configuration)
        })
    })
}

/// `decoded` is the canonical form of `original`: the same points at the same cycles and, modulo the memory, addresses.
fn is_canonical(parameters: &Controller, original: &ControllerConfiguration, decoded: &ControllerConfiguration) {
    let levels = original.extent.len().max(decoded.extent.len());
    let at = |values: &[i64], level: usize| values.get(level).copied().unwrap_or(0);
    let extent =
        |configured: &ControllerConfiguration, level: usize| configured.extent.get(level).copied().unwrap_or(1);
    assert_eq!(original.cycle.start, decoded.cycle.start);
    for level in 0..levels {
        assert_eq!(extent(original, level), extent(decoded, level), "level {level}");
        if extent(original, level) > 1 {
            assert_eq!(original.cycle.stride[level], decoded.cycle.stride[level], "level {level}");
        }
    }
    for &AddressGenerator { memory, bits, modulus } in &parameters.addresses {
        let Some(after) = decoded.address(memory) else {
            assert_eq!(bits, 0, "addresses in {} are lost", memory.name());
            continue;
        };
        let (before, modulus) = (original.address(memory).expect("it is configured"), modulus as i64);
        assert_eq!(after.start, before.start.rem_euclid(modulus));
        for level in (0..levels).filter(|&level| extent(original, level) > 1) {
            assert_eq!(at(&after.stride, level).rem_euclid(modulus), at(&before.stride, level).rem_euclid(modulus));
            assert!(at(&after.stride, level).abs() <= modulus / 2, "{after:?} is not balanced around 0");
        }
    }
}

/// The contents of registers after some writes.
fn state(writes: &[RegisterWrite]) -> BTreeMap<u32, u32> {
    writes.iter().map(|write| (write.address, write.data)).collect()
}

proptest! {
    #[test]
    fn decode_is_the_inverse_of_encode((spec, configuration) in configured_tiles()) {
        let map = RegisterMap::of(&spec);
        let writes = encode(&configuration, &spec, &map).unwrap();
        let text = format_writes(&spec.name, &writes);
        let file = WritesFile::parse("w.hex", &text).unwrap();
        prop_assert_eq!(file.writes(), &writes);
        let decoded = file.decode(&spec, &map).unwrap();
        prop_assert_eq!(&encode(&decoded, &spec, &map).unwrap(), &writes, "{}", decoded.to_yaml());

        prop_assert!(decoded.controllers.keys().eq(configuration.controllers.keys()));
        for parameters in spec.controllers() {
            if let Some(original) = configuration.controllers.get(&parameters.name) {
                is_canonical(&parameters, original, &decoded.controllers[&parameters.name]);
            }
        }
        prop_assert_eq!(decoded.chain, configuration.chain);
        prop_assert_eq!(&decoded.contents, &configuration.contents);
        for configuration in [&configuration, &decoded] {
            prop_assert_eq!(&read(&configuration.to_yaml(), &spec).unwrap(), configuration);
        }
    }

    /// All registers are written, so that nothing of an earlier configuration survives. The control register, or with shadow
    /// registers `commit`, is cleared first and set last.
    #[test]
    fn every_register_is_written((spec, configuration) in configured_tiles()) {
        let map = RegisterMap::of(&spec);
        let writes = encode(&configuration, &spec, &map).unwrap();
        let state = state(&writes);
        prop_assert_eq!(state.len(), writes.len() - 1);
        let name = if spec.shadow_registers { "commit" } else { "control" };
        let last = map.registers.iter().find(|register| register.name.starts_with(name)).unwrap().offset;
        prop_assert_eq!((writes[1].address, writes[1].data), (last, 0));
        prop_assert_eq!(writes.last().unwrap().address, last);
        if spec.shadow_registers {
            prop_assert_eq!(writes.last().unwrap().data, 1);
        }
        prop_assert!(map.registers.iter().all(|register| state.contains_key(&register.offset)));
    }

    #[test]
    fn nothing_that_is_read_panics(
        spec in select(shipped()),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        writes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>(), any::<bool>()), 0..60),
    ) {
        let text = String::from_utf8_lossy(&bytes);
        let map = RegisterMap::of(&spec);
        if let Ok(configuration) = read(&text, &spec) {
            prop_assert!(encode(&configuration, &spec, &map).is_ok());
        }
        if let Ok(file) = WritesFile::parse("w.hex", &text) {
            let _ = file.decode(&spec, &map);
        }
        // Random bits in registers that exist, with all controllers running.
        let random = writes.iter().map(|(place, data, ones)| {
            let register = &map.registers[place.index(map.registers.len() - 1) + 1];
            let data = if *ones { u32::MAX } else { *data };
            RegisterWrite { address: register.offset, data: data & register.fields.iter().map(|f| f.mask()).sum::<u32>() }
        });
        let enables = map.registers.iter().filter(|register| register.name.starts_with("control"));
        // Of controllers: a mode takes their place.
        let of_mode = |field: &&Field| matches!(field.meaning, Meaning::Mode { .. });
        let enables = enables.map(|register| RegisterWrite {
            address: register.offset,
            data: register.fields.iter().filter(|field| !of_mode(field)).map(Field::mask).sum(),
        });
        let digest = RegisterWrite { address: 0, data: spec.digest_word() };
        let writes: Vec<RegisterWrite> = std::iter::once(digest)
            .chain(map.registers[1..].iter().map(|register| RegisterWrite { address: register.offset, data: 0 }))
            .chain(random)
            .chain(enables)
            .collect();
        let decoded = match decode(&writes, &spec, &map) {
            Ok(decoded) => decoded,
            Err(error) => {
                let known = ["addresses wrap at", "beyond 2^63 cycles"];
                prop_assert!(known.iter().any(|message| error.message.contains(message)), "{error}");
                return Ok(());
            }
        };
        prop_assert_eq!(decoded.controllers.len(), spec.controllers().len());
        // Runs too long for a configuration are refused; all others give the same registers.
        if let Ok(again) = encode(&decoded, &spec, &map) {
            let again = state(&again);
            for (address, data) in state(&writes) {
                prop_assert_eq!(again[&address], data, "at {:x}, for\n{}", address, decoded.to_yaml());
            }
        }
    }
}
