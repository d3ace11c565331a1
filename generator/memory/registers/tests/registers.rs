//! The register map of shipped and random tiles: layout, names, and printed forms.

#[path = "../../tile/tests/specs/mod.rs"]
mod specs;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use proptest::prelude::*;
use pushmem_registers::{Meaning, RegisterMap, SoftwareAccess};
use pushmem_tile::{Style, TileSpec};
use serde_json::{Value, json};

use specs::{shipped, specs, styled, tile};

fn all_different<T: Ord + Debug>(what: &str, items: impl IntoIterator<Item = T>) {
    let mut seen = BTreeSet::new();
    for item in items {
        assert!(!seen.contains(&item), "{what} {item:?} is there twice");
        seen.insert(item);
    }
}

/// The fields that the layout requires, each with its width.
fn expected_fields(spec: &TileSpec) -> Vec<(Meaning, u32)> {
    let mut fields = vec![(Meaning::SpecDigest, 32)];
    for (controller, parameters) in spec.controllers().iter().enumerate() {
        fields.push((Meaning::Enable { controller }, 1));
        fields.push((Meaning::CycleStart { controller }, parameters.cycle_bits));
        for level in 0..parameters.levels {
            fields.push((Meaning::Extent { controller, level }, parameters.extent_bits));
            fields.push((Meaning::CycleStep { controller, level }, parameters.cycle_bits));
        }
        // A single place needs no address.
        for (address, generator) in parameters.addresses.iter().enumerate().filter(|(_, g)| g.modulus > 1) {
            fields.push((Meaning::AddressStart { controller, address }, generator.bits));
            let steps = (0..parameters.levels).map(|level| Meaning::AddressStep { controller, address, level });
            fields.extend(steps.map(|step| (step, generator.bits)));
        }
    }
    if spec.chaining {
        fields.extend([(Meaning::ChainEnable, 1), (Meaning::TileId, spec.tile_id_bits())]);
    }
    fields.extend(spec.modes().map(|mode| (Meaning::Mode { mode }, 1)));
    if spec.shadow_registers {
        fields.push((Meaning::Commit, 1));
    }
    fields
}

fn layout_holds(spec: &TileSpec, map: &RegisterMap) {
    for (number, register) in map.registers.iter().enumerate() {
        assert_eq!(register.offset as usize, 4 * number);
        let mut next = 0;
        for field in &register.fields {
            assert_eq!(field.low, next, "{}.{}: a gap or an overlap", register.name, field.name);
            next += field.bits;
            let ones = (1_u64 << field.bits) - 1;
            assert_eq!(u64::from(field.mask()), ones << field.low);
            assert_eq!(field.high() + 1, next);
            assert!(u64::from(field.reset) <= ones);
        }
        assert!((1..=32).contains(&next), "{} has {next} bits", register.name);
        assert_eq!(register.used_bits(), next);
        all_different("field", register.fields.iter().map(|field| &field.name));
        let has = |meaning| register.fields.iter().any(|field| field.meaning == meaning);
        assert_eq!(register.access == SoftwareAccess::ReadOnly, has(Meaning::SpecDigest), "{}", register.name);
        assert_eq!(register.access == SoftwareAccess::Request, has(Meaning::Commit), "{}", register.name);
    }
    all_different("register", map.registers.iter().map(|register| &register.name));

    let sorted = |mut fields: Vec<String>| {
        fields.sort();
        fields
    };
    let expected = expected_fields(spec);
    let present = map.fields().map(|(_, field)| format!("{:?} {}", field.meaning, field.bits)).collect();
    assert_eq!(sorted(present), sorted(expected.iter().map(|(meaning, bits)| format!("{meaning:?} {bits}")).collect()));
    let not_configuration = 32 + u32::from(spec.shadow_registers);
    assert_eq!(map.configuration_bits() + not_configuration, expected.iter().map(|(_, bits)| bits).sum::<u32>());

    let end = 4 * map.registers.len() as u32;
    match map.contents {
        None => {
            assert_eq!(spec.content_words(), None);
            assert_eq!(map.bytes(), end);
        }
        Some(contents) => {
            assert!(spec.content_words().is_some());
            assert!(contents.offset >= end);
            assert!(contents.bytes().is_power_of_two() && contents.offset.is_multiple_of(contents.bytes()));
            assert_eq!(contents.words, spec.rows * spec.kind.row_words());
            assert_eq!(contents.registers_per_word * 32, spec.word_bits.next_multiple_of(32));
            let last = contents.offset_of(contents.words - 1, contents.registers_per_word - 1);
            assert!(last + 4 <= map.bytes());
            assert_eq!(last - contents.offset, 4 * (contents.words * contents.registers_per_word - 1));
        }
    }
}

/// The macros of the header, each with its number.
fn macros(header: &str) -> BTreeMap<&str, u64> {
    let lines = header.lines().filter_map(|line| line.strip_prefix("#define ")).filter(|line| line.contains(' '));
    let pairs: Vec<(&str, u64)> = lines
        .map(|line| {
            let (name, value) = line.split_once(' ').unwrap();
            assert!(name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'), "{name}");
            let digits = value.trim_end_matches('u');
            let number = match digits.strip_prefix("0x") {
                Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
                None => digits.parse(),
            };
            (name, number.unwrap_or_else(|error| panic!("{line}: {error}")))
        })
        .collect();
    all_different("macro", pairs.iter().map(|(name, _)| name));
    pairs.into_iter().collect()
}

/// The C header, JSON, SystemRDL and Markdown agree with the map.
fn prints_hold(map: &RegisterMap) {
    let (header, rdl, markdown) = (map.to_c_header(), map.to_system_rdl(), map.to_markdown());
    let macros = macros(&header);
    let json: Value = serde_json::from_str(&map.to_json()).unwrap();
    let prefix = map.tile.to_uppercase();
    let mut count = 2; // the digest and the size
    assert_eq!(macros[format!("{prefix}_BYTES").as_str()], u64::from(map.bytes()));
    assert_eq!(format!("{:08x}", macros[format!("{prefix}_SPEC_DIGEST_VALUE").as_str()]), map.spec_digest[..8]);
    assert_eq!(json["spec_digest"], json!(map.spec_digest));
    assert_eq!(json["registers"].as_array().unwrap().len(), map.registers.len());
    for (number, register) in map.registers.iter().enumerate() {
        let name = format!("{prefix}_{}", register.name.to_uppercase());
        assert_eq!(macros[format!("{name}_OFFSET").as_str()], u64::from(register.offset));
        let object = &json["registers"][number];
        assert_eq!(object["name"], json!(register.name));
        assert_eq!(object["offset"], json!(register.offset));
        assert_eq!(object["fields"].as_array().unwrap().len(), register.fields.len());
        assert!(rdl.contains(&format!("}} {} @ 0x{:x};", register.name, register.offset)), "{rdl}");
        count += 1 + 2 * register.fields.len();
        for (place, field) in register.fields.iter().enumerate() {
            let name = format!("{name}_{}", field.name.to_uppercase());
            assert_eq!(macros[format!("{name}_SHIFT").as_str()], u64::from(field.low));
            assert_eq!(macros[format!("{name}_MASK").as_str()], u64::from(field.mask()));
            let object = &object["fields"][place];
            let numbers = ["low", "bits", "reset"].map(|key| object[key].as_u64().unwrap());
            assert_eq!(numbers, [field.low, field.bits, field.reset].map(u64::from));
            assert!(rdl.contains(&format!("}} {}[{}:{}];", field.name, field.high(), field.low)), "{rdl}");
            let row = format!("| {} | {}:{} | {} |", register.name, field.high(), field.low, field.name);
            assert_eq!(markdown.matches(&row).count(), 1, "{row} in\n{markdown}");
        }
    }
    if let Some(contents) = map.contents {
        count += 3;
        let number = |name: &str| macros[format!("{prefix}_CONTENTS_{name}").as_str()];
        let bytes_per_word = 4 * contents.registers_per_word;
        assert_eq!(
            [number("OFFSET"), number("WORDS"), number("BYTES_PER_WORD")],
            [contents.offset, contents.words, bytes_per_word].map(u64::from)
        );
        assert_eq!(json["contents"]["offset"], json!(contents.offset));
        assert_eq!(json["contents"]["words"], json!(contents.words));
    } else {
        assert_eq!(json["contents"], Value::Null);
    }
    assert_eq!(macros.len(), count);
}

fn holds(spec: &TileSpec) {
    let map = RegisterMap::of(spec);
    assert_eq!((&map.tile, &map.spec_digest), (&spec.name, &spec.digest()));
    layout_holds(spec, &map);
    prints_hold(&map);
}

#[test]
fn maps_of_shipped_tiles() {
    for spec in shipped() {
        for style in Style::ALL {
            holds(&styled(&spec, style));
        }
    }
}

/// Offsets and places that hardware and software in the field rely on, of the tile of the manual.
#[test]
fn layout_of_amber() {
    let map = RegisterMap::of(&tile("amber"));
    let place = |register: &str, field: &str| {
        let (register, field) =
            map.fields().find(|(r, f)| r.name == register && f.name == field).expect("the field exists");
        (register.offset, field.low, field.bits)
    };
    assert_eq!(place("spec_digest", "digest"), (0, 0, 32));
    assert_eq!(place("control", "enable_in2agg_1"), (4, 1, 1));
    assert_eq!(place("control", "enable_stencil_valid"), (4, 8, 1));
    assert_eq!(place("control", "tile_id"), (4, 10, 7));
    // Two 16-bit extents a word, then start and six deltas, then start and six deltas of four bits.
    assert_eq!(place("in2agg_0_extent_2", "level_5"), (16, 16, 16));
    assert_eq!(place("in2agg_0_cycle_3", "delta_5"), (32, 0, 16));
    assert_eq!(place("in2agg_0_agg", "delta_5"), (36, 24, 4));
    assert_eq!(place("in2agg_1_extent_0", "level_0"), (40, 0, 16));
}

proptest! {
    #[test]
    fn maps_of_random_tiles(spec in specs()) {
        holds(&spec);
    }
}
