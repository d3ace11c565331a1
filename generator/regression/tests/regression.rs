//! Random configurations and specifications keep their promises; lists point at what is wrong in them.

#[path = "../../tile/tests/specs/mod.rs"]
mod specs;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pushmem_configuration::{Configuration, decode, encode};
use pushmem_files::Document;
use pushmem_model::{Inputs, Tile, Violation};
use pushmem_registers::RegisterMap;
use pushmem_regression::{RegressionList, Work, arbitrary_configuration, legal_configuration, random_spec};
use pushmem_tile::{Style, TileSpec};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use specs::{root, says, shipped, spec_of};

/// Runs of the regression are shorter than this, with room to spare.
const LONGEST_RUN: u64 = 200_000;

/// The broken promises of an uninterrupted run, which must end.
fn violations(spec: &TileSpec, configuration: &Configuration) -> Vec<Violation> {
    let mut tile = Tile::new(spec);
    tile.configure(configuration);
    tile.clock(&Inputs { flush: true, ..Inputs::default() });
    assert!(tile.is_active(), "nothing runs");
    while !tile.is_idle() {
        assert!(tile.cycle() < LONGEST_RUN, "the run does not end");
        tile.clock(&Inputs::default());
    }
    tile.take_violations()
}

fn is_legal(spec: &TileSpec, configuration: &Configuration) {
    assert_eq!(configuration.check(spec).err(), None, "{}", configuration.to_yaml());
    assert_eq!(violations(spec, configuration), [], "{}{}", spec.to_yaml(), configuration.to_yaml());
}

/// Fits the tile, and survives encoding.
fn fits(spec: &TileSpec, configuration: &Configuration) {
    let map = RegisterMap::of(spec);
    let writes =
        encode(configuration, spec, &map).unwrap_or_else(|finding| panic!("{finding:?}\n{}", configuration.to_yaml()));
    let decoded = decode(&writes, spec, &map).unwrap();
    assert_eq!(encode(&decoded, spec, &map).unwrap(), writes);
}

#[test]
fn random_configurations_of_shipped_tiles() {
    for spec in shipped() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for _ in 0..4 {
            is_legal(&spec, &legal_configuration(&spec, &mut rng).expect("there is a legal configuration"));
            fits(&spec, &arbitrary_configuration(&spec, &mut rng));
        }
    }
}

#[test]
fn random_specifications_and_their_configurations() {
    let (mut kinds, mut styles) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let spec = random_spec(&mut rng);
        assert_eq!(spec_of(&spec.to_yaml()), spec);
        assert_eq!(random_spec(&mut ChaCha8Rng::seed_from_u64(seed)), spec, "a seed stands for one specification");
        kinds.insert(spec.kind.name());
        styles.insert(spec.style.name());
        is_legal(&spec, &legal_configuration(&spec, &mut rng).unwrap_or_else(|| panic!("none found for {spec:?}")));
        fits(&spec, &arbitrary_configuration(&spec, &mut rng));
    }
    assert_eq!((kinds.len(), styles.len()), (5, Style::ALL.len()));
}

/// Arbitrary configurations are there to break promises.
#[test]
fn arbitrary_configurations_break_promises() {
    let spec = specs::tile("small");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let broken = (0..10).filter(|_| {
        let configuration = arbitrary_configuration(&spec, &mut rng);
        !configuration.controllers.is_empty() && !violations(&spec, &configuration).is_empty()
    });
    assert!(broken.count() >= 5);
}

#[test]
fn shipped_lists_name_files_that_fit() {
    let list = RegressionList::read_folder(&root().join("rtl-tests")).unwrap();
    let mut tiles = BTreeSet::new();
    for test in &list.tests {
        let Some(tile) = test.work.tile() else { continue };
        let spec = TileSpec::read(tile).unwrap();
        tiles.insert(spec.name.clone());
        if let Work::Configuration { configuration, violations: expected, .. } = &test.work {
            let configuration = Configuration::read(configuration, &spec).unwrap();
            assert_eq!(!violations(&spec, &configuration).is_empty(), *expected, "{}", test.name);
        }
    }
    for spec in shipped() {
        assert!(tiles.contains(&spec.name), "no test runs {}", spec.name);
    }
}

/// A list; message, line and help of the refusal.
const REFUSED: &[(&str, &str, usize, &str)] = &[
    ("tests: 3", "expected a list", 1, ""),
    ("test: []", "unknown key `test`", 1, "did you mean `tests`?"),
    ("tests:\n- {about: x}", "`name`", 2, ""),
    (
        "tests:\n- {name: a}",
        "test `a`: it is not clear what to run",
        2,
        "one of `configuration`, `legal` and `arbitrary`",
    ),
    ("tests:\n- {name: a, tile: t.yaml}", "not clear what to run", 2, "a `tile`"),
    ("tests:\n- {name: a, legal: {seed: 1, configurations: 1}}", "not clear what to run", 2, "a `tile`"),
    (
        "tests:\n- {name: a, tile: t, specs: {seed: 1, specs: 1, configurations: 1}}",
        "not clear what to run",
        2,
        "alone",
    ),
    (
        "tests:\n- {name: a, specs: {seed: 1, specs: 1, configurations: 1}}\n- name: b\n  tile: t\n  violations: true\n  legal: \
         {seed: 1, configurations: 1}",
        "go with `configuration`",
        3,
        "",
    ),
    ("tests:\n- {name: a, tile: t, legal: {seed: x, configurations: 1}}", "expected an integer", 2, ""),
    (
        "tests:\n- {name: a, tile: t, legal: {seed: 1, configuration: 1}}",
        "unknown key `configuration`",
        2,
        "`configurations`",
    ),
];

#[test]
fn refuses_unclear_lists() {
    for &(text, message, line, help) in REFUSED {
        let document = Document::parse("list.yaml", text).unwrap();
        let Err(problem) = RegressionList::from_document(&document, Path::new(".")) else {
            panic!("accepted:\n{text}")
        };
        says(&problem, message, line, help, text);
    }
}

#[test]
fn refuses_folders_without_tests_or_with_two_of_one_name() {
    let folder = tempfile::tempdir().unwrap();
    let refused = || RegressionList::read_folder(folder.path()).unwrap_err();
    assert!(refused().message().ends_with("no tests in this folder"));
    let test = "{name: twin, specs: {seed: 1, specs: 1, configurations: 1}}";
    for file in ["a.yaml", "b.yaml", "c.txt"] {
        fs::write(folder.path().join(file), format!("tests: [{test}]")).unwrap();
    }
    assert!(refused().message().contains("two tests are named `twin`"), "{:?}", refused());
    fs::remove_file(folder.path().join("a.yaml")).unwrap();
    assert_eq!(RegressionList::read_folder(folder.path()).unwrap().tests.len(), 1);
    let missing = RegressionList::read_folder(&folder.path().join("nowhere")).unwrap_err();
    assert!(missing.help().is_some_and(|help| help.contains("--lists")), "{missing:?}");
}
