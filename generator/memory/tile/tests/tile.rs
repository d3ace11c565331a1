//! Specifications: reading, defaults, writing, and refusals.

mod mistyped;
mod specs;

use std::collections::BTreeMap;

use proptest::prelude::*;
use pushmem_files::{Diagnostic, Document};
use pushmem_tile::{ControllerSpec, Kind, Memory, Reset, Role, Style, TileSpec};

use mistyped::mistyped;
use specs::{says, shipped, shipped_files, spec_of, specs};

fn read(text: &str) -> Result<TileSpec, Diagnostic> {
    TileSpec::from_document(&Document::parse("spec.yaml", text)?)
}

fn round_trips(spec: &TileSpec) {
    let again = spec_of(&spec.to_yaml());
    assert_eq!(again, *spec, "{}", spec.to_yaml());
    assert_eq!(again.digest(), spec.digest());
    assert_eq!(format!("{:08x}", spec.digest_word()), spec.digest()[..8]);
}

/// Configurations are the same, however tiles are reset, and whether clocks stop.
#[test]
fn what_the_chip_chooses_is_kept_and_changes_no_digest() {
    let spec = |more: &str| {
        let text = format!("{{name: t, kind: dual_port, rows: 16{more}}}");
        TileSpec::from_document(&Document::parse("t", text).unwrap()).unwrap()
    };
    let plain = spec("");
    assert_eq!(spec(", reset: asynchronous, clock_gating: false"), plain);
    let chosen = spec(", reset: synchronous, clock_gating: true");
    assert_eq!(chosen, TileSpec { reset: Reset::Synchronous, clock_gating: true, ..plain.clone() });
    assert_eq!(TileSpec::from_document(&Document::parse("t", chosen.to_yaml()).unwrap()).unwrap(), chosen);
    assert_eq!(chosen.digest(), plain.digest());
}

/// Configurations are the same, however many tiles there are, with a self-test or without.
#[test]
fn the_digest_does_not_depend_on_the_count_or_the_self_test() {
    let read = |key: &str| {
        let text = format!("name: t\nkind: dual_port\nrows: 64\n{key}");
        TileSpec::from_document(&Document::parse("t.yaml", text).unwrap()).unwrap()
    };
    let (any, some) = (read(""), read("count: 16"));
    assert_eq!((any.count, some.count), (None, Some(16)));
    assert_eq!(any.digest(), some.digest());
    round_trips(&some);
    let tested = read("bist: true");
    assert!(tested.bist && !any.bist);
    assert_eq!(any.digest(), tested.digest());
    round_trips(&tested);
}

/// Writes for a tile with shadow registers have one to `commit`, so they are not those of a tile without.
#[test]
fn shadow_registers_change_the_digest() {
    let read = |key: &str| {
        let text = format!("name: t\nkind: dual_port\nrows: 64\n{key}");
        TileSpec::from_document(&Document::parse("t.yaml", text).unwrap()).unwrap()
    };
    let (plain, shadowed) = (read(""), read("shadow_registers: true"));
    assert_eq!(read("shadow_registers: false"), plain);
    assert_eq!(shadowed, TileSpec { shadow_registers: true, ..plain.clone() });
    assert_ne!(shadowed.digest(), plain.digest());
    round_trips(&shadowed);
}

#[test]
fn shipped_specifications_read_and_round_trip() {
    let mut digests = Vec::new();
    for (file, spec) in shipped_files().iter().zip(shipped()) {
        assert_eq!(file.file_stem().unwrap().to_str(), Some(spec.name.as_str()));
        round_trips(&spec);
        digests.push(spec.digest());
    }
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), shipped_files().len(), "two specifications have one digest");
}

#[test]
fn defaults() {
    let controller = |address_bits: &[(Memory, u32)]| ControllerSpec {
        levels: 6,
        extent_bits: 16,
        cycle_bits: 16,
        address_bits: address_bits.iter().copied().collect(),
    };
    let expected = TileSpec {
        count: None,
        name: "t".to_owned(),
        kind: Kind::WideFetch { fetch_width: 4, agg_words: 8, tb_words: 8 },
        word_bits: 16,
        rows: 100,
        inputs: 2,
        outputs: 2,
        sram_latency: 1,
        chaining: false,
        stencil_valid: false,
        output_chaining: false,
        contents: false,
        rom_mode: false,
        fifo_mode: false,
        ram_mode: false,
        reset: Reset::default(),
        clock_gating: false,
        shadow_registers: false,
        bist: false,
        style: Style::Recurrence,
        controllers: BTreeMap::from([
            (Role::In2Agg, controller(&[(Memory::Agg, 3)])),
            (Role::Agg2Sram, controller(&[(Memory::Agg, 1), (Memory::Sram, 7)])),
            (Role::Sram2Tb, controller(&[(Memory::Sram, 7), (Memory::Tb, 1)])),
            (Role::Tb2Out, controller(&[(Memory::Tb, 3)])),
        ]),
    };
    assert_eq!(spec_of("{name: t, kind: wide_fetch, rows: 100}"), expected);

    let pond = spec_of("{name: t, kind: register_file, rows: 32}");
    assert_eq!((pond.sram_latency, pond.inputs, pond.outputs), (0, 2, 2));
    let rom = spec_of("{name: t, kind: rom, rows: 32}");
    assert_eq!((rom.sram_latency, rom.inputs, rom.outputs), (1, 1, 1));
    // A chain has a 16-bit address space, or two tiles where one takes all of it.
    for (rows, tile_id_bits) in [(512, 7), (1 << 15, 1), (1 << 20, 1)] {
        let spec = spec_of(&format!("{{name: t, kind: dual_port, rows: {rows}, chaining: true}}"));
        assert_eq!(spec.tile_id_bits(), tile_id_bits, "{rows} rows");
    }
}

/// Settings of one role win over those of all roles.
#[test]
fn roles_override_all() {
    let spec = spec_of(
        "{name: t, kind: dual_port, rows: 8, controllers: {all: {levels: 3, cycle_bits: 9}, in2sram: {levels: 2}}}",
    );
    let shape = |role| (spec.controllers[&role].levels, spec.controllers[&role].cycle_bits);
    assert_eq!((shape(Role::In2Sram), shape(Role::Sram2Out)), ((2, 9), (3, 9)));
}

/// Lines appended to a wide-fetch tile of 64 rows, or in place of it; then message, line and help.
const REFUSED: &[(&str, &str, usize, &str)] = &[
    ("rwos: 3", "unknown key `rwos`", 4, "did you mean `rows`?"),
    ("controllers:\n  in2ag: {levels: 2}", "no controller role `in2ag`", 5, "did you mean `in2agg`?"),
    ("controllers:\n  stencil_valid: {levels: 2}", "no controller role `stencil_valid`", 5, "the roles are in2agg"),
    ("controllers:\n  all: {level: 2}", "unknown key `level`", 5, "did you mean `levels`?"),
    (
        "stencil_valid: false\ncontrollers:\n  all: {levels: 9}\n  in2agg: {levels: 1}\n  agg2sram: {levels: 1}\n  sram2tb: \
         {levels: 1}\n  tb2out: {levels: 1}",
        "`levels` is 9; it must be from 1 to 8",
        6,
        "",
    ),
    ("controllers:\n  all: {levels: 0}", "`levels` is 0; it must be from 1 to 8", 5, ""),
    ("controllers:\n  tb2out:\n    levels: 9", "`levels` is 9; it must be from 1 to 8", 6, ""),
    ("controllers:\n  all: {extent_bits: 33}", "`extent_bits` is 33; it must be from 1 to 32", 5, ""),
    ("controllers:\n  all: {cycle_bits: 0}", "`cycle_bits` is 0; it must be from 1 to 32", 5, ""),
    ("controllers:\n  all: {address_bits: {sram: 6}}", "roles address different memories", 5, "for each role"),
    ("controllers:\n  in2agg: {address_bits: {sram: 6}}", "`in2agg` does not address `sram`", 5, "it addresses agg"),
    (
        "controllers:\n  agg2sram:\n    address_bits: {sram: 5}",
        "5 bits do not address `sram`: its 64 places need 6 to 32",
        6,
        "",
    ),
    (
        "controllers:\n  sram2tb: {address_bits: {tb: 33}}",
        "33 bits do not address `tb`: its 2 places need 1 to 32",
        5,
        "",
    ),
    (
        "chaining: true\ncontrollers:\n  sram2tb: {address_bits: {sram: 6}}",
        "its 64 places and a tile ID need 7 to 32",
        6,
        "",
    ),
    (
        "chaining: true\ncontrollers:\n  sram2tb: {address_bits: {sram: 9}}",
        "one address space, but `agg2sram` has 16 address bits and `sram2tb` has 9",
        6,
        "the same",
    ),
    (
        "chaining: true\ncontrollers:\n  agg2sram: {address_bits: {sram: 9}}\n  sram2tb: {address_bits: {tb: 2}}",
        "one address space, but `agg2sram` has 9 address bits and `sram2tb` has 16",
        6,
        "the same",
    ),
    ("fetch_width: 3", "`fetch_width` is 3; it must be 1, 2, 4 or 8", 4, ""),
    ("inputs: 3", "3 inputs and 2 outputs: the single SRAM port of fetch width 4 serves at most 4", 4, "fewer ports"),
    ("outputs: 4", "2 inputs and 4 outputs", 4, "fewer ports"),
    ("fetch_width: 1\ninputs: 1\noutputs: 2", "serves at most 2 ports together", 6, "fewer ports"),
    ("count: 0", "`count` is 0; it must be from 1 to 1048576", 4, ""),
    ("inputs: 0", "`inputs` is 0; it must be from 1 to 4", 4, ""),
    ("outputs: 5", "`outputs` is 5; it must be from 1 to 4", 4, ""),
    ("word_bits: 0", "`word_bits` is 0; it must be from 1 to 64", 4, ""),
    ("word_bits: 65", "`word_bits` is 65; it must be from 1 to 64", 4, ""),
    ("word_bits: 7\nram_mode: true", "a word of 7 bits does not address 256 words", 5, "remove `ram_mode`"),
    ("sram_latency: 2\nram_mode: true", "with `ram_mode`, the latency of the SRAM is 1, not 2", 5, "remove `ram_mode`"),
    ("inputs: 1\nram_mode: true", "with `ram_mode`, a tile has at least 2 inputs, not 1", 5, "`inputs: 2`"),
    ("word_bits: 33\ncontents: true", "with `contents`, a word has at most 32 bits, not 33", 5, "remove `contents`"),
    ("name: t\nkind: dual_port\nrows: 8\nfifo_mode: true", "a dual_port tile has no `fifo_mode`", 4, "`wide_fetch`"),
    ("name: t\nkind: quad_port\nrows: 8\nram_mode: true", "a quad_port tile has no `ram_mode`", 4, "remove `ram_mode`"),
    ("name: t\nkind: rom\nrows: 8\ncontents: true", "the contents of a rom are always loaded", 4, "remove `contents`"),
    ("name: t\nkind: rom\nrows: 8\noutput_chaining: true", "a rom has no `output_chaining`", 4, "of another kind"),
    ("sram_latency: 3", "`sram_latency` is 3; it must be from 1 to 2", 4, ""),
    ("agg_words: 6", "`agg_words` is 6; it must be a multiple of the fetch width, 4", 4, ""),
    ("tb_words: 2", "`tb_words` is 2; it must be from 4 to 64", 4, ""),
    ("tb_words: 68", "`tb_words` is 68; it must be from 4 to 64", 4, ""),
    ("style: recurence", "unknown value `recurence`", 4, "did you mean `recurrence`?"),
    ("chaining: 1", "expected `true` or `false`", 4, ""),
    ("inputs: two", "expected an integer", 4, ""),
    ("inputs: -1", "expected an integer", 4, ""),
    ("inputs: [1]", "expected an integer", 4, ""),
    ("controllers: 6", "expected a mapping", 4, ""),
    ("rows: 8", "`rows`", 4, ""),
    ("name: t\nkind: wide_fetch", "`rows`", 1, ""),
    ("name: t\nkind: wide_fetch\nrows: 1", "`rows` is 1; it must be from 2 to 1048576", 3, ""),
    ("name: t\nkind: wide_fetch\nrows: 1048577", "`rows` is 1048577", 3, ""),
    ("name: t\nkind: wide_fetch\nrows: 99999999999", "expected an integer", 3, ""),
    ("name: t\nkind: widefetch\nrows: 8", "unknown value `widefetch`", 2, "did you mean `wide_fetch`?"),
    (
        "name: t\nkind: dual_port\nrows: 8\nfetch_width: 4",
        "`fetch_width` means nothing in a dual_port tile",
        4,
        "remove",
    ),
    ("name: t\nkind: quad_port\nrows: 8\nagg_words: 4", "there is no aggregator", 4, "use `kind: wide_fetch`"),
    ("name: t\nkind: rom\nrows: 8\ntb_words: 4", "there is no transpose buffer", 4, "use `kind: wide_fetch`"),
    (
        "name: t\nkind: register_file\nrows: 8\nsram_latency: 1",
        "a register file has no SRAM",
        4,
        "remove `sram_latency`",
    ),
    ("name: t\nkind: register_file\nrows: 8\nbist: true", "no SRAM to test", 4, "remove `bist`"),
    ("name: t\nkind: rom\nrows: 8\nchaining: true", "a rom cannot be chained", 4, "`chaining: false`"),
    ("name: t\nkind: rom\nrows: 8\noutputs: 2", "one address input and one output, not 1 and 2", 4, "one rom tile"),
    ("name: t\nkind: rom\nrows: 8\ninputs: 2", "one address input and one output, not 2 and 1", 4, "one rom tile"),
    ("name: t\nkind: dual_port\nrows: 100\nchaining: true", "100 rows cannot be chained", 3, "use 64 or 128 rows"),
    ("kind: dual_port\nrows: 8\nname: 8x", "`8x` cannot be the name of a module", 3, "starting with a letter"),
    ("kind: dual_port\nrows: 8\nname: Tile", "`Tile` cannot be", 3, "lower-case"),
    ("kind: dual_port\nrows: 8\nname: my-tile", "`my-tile` cannot be", 3, "lower-case"),
    ("kind: dual_port\nrows: 8\nname: a__b", "`a__b` cannot be", 3, "single underscores"),
    ("kind: dual_port\nrows: 8\nname: a_", "`a_` cannot be", 3, "lower-case"),
    ("kind: dual_port\nrows: 8\nname: ''", "`` cannot be", 3, "lower-case"),
    ("kind: dual_port\nrows: 8\nname: übung", "`übung` cannot be", 3, "lower-case"),
    (
        "kind: dual_port\nrows: 8\nname: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "cannot be the name of a module",
        3,
        "at most 40",
    ),
];

#[test]
fn refuses_what_cannot_be_built() {
    for &(text, message, line, help) in REFUSED {
        let whole = if text.contains("kind:") {
            text.to_owned()
        } else {
            format!("name: t\nkind: wide_fetch\nrows: 64\n{text}")
        };
        let Err(problem) = read(&whole) else { panic!("accepted:\n{whole}") };
        says(&problem, message, line, help, &whole);
    }
}

/// Whatever is accepted can be used.
fn use_it(text: &str) {
    if let Ok(spec) = read(text) {
        round_trips(&spec);
        assert_eq!(spec.controllers().len() as u32, spec.roles().iter().map(|role| role.count(&spec)).sum::<u32>());
    }
}

/// Shipped specifications, mistyped.
fn mutated() -> impl Strategy<Value = String> {
    let texts = shipped_files().iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    mistyped(texts, &["3", "rom", "register_file", "rows", "in2agg", "address_bits: {sram: 40}"])
}

proptest! {
    #[test]
    fn random_specifications_round_trip(spec in specs()) {
        round_trips(&spec);
    }

    #[test]
    fn nothing_that_is_read_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,200}", mutated in mutated()) {
        use_it(&String::from_utf8_lossy(&bytes));
        use_it(&text);
        use_it(&mutated);
    }
}
