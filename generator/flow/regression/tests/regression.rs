//! Random configurations and specifications keep their promises; lists point at what is wrong in them.

#[path = "../../../memory/tile/tests/specs/mod.rs"]
mod specs;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use itertools::iproduct;
use pushmem_configuration::{Configuration, ControllerConfiguration, decode, encode};
use pushmem_files::Document;
use pushmem_model::{Inputs, TileModel, Violation};
use pushmem_registers::RegisterMap;
use pushmem_regression::{
    LONGEST_RUN, RandomSpecs, RegressionList, Work, arbitrary_configuration, legal_configuration, random_spec,
    random_spec_of_any_size,
};
use pushmem_simulation::run_length;
use pushmem_tile::{MAX_ROWS, Mode, Style, TileSpec};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use specs::{root, says, shipped, spec_of};

/// Random runs are shorter than this, with room to spare.
const LONGEST_RANDOM_RUN: u64 = 200_000;

/// The broken promises of an uninterrupted run, which must end.
fn violations(spec: &TileSpec, configuration: &Configuration) -> Vec<Violation> {
    let mut tile = TileModel::new(spec);
    tile.configure(configuration);
    tile.clock(&Inputs { flush: true, ..Inputs::default() });
    assert!(tile.is_active(), "nothing runs");
    while !tile.is_idle() {
        assert!(tile.cycle() < LONGEST_RANDOM_RUN, "the run does not end");
        tile.clock(&Inputs::default());
    }
    assert_eq!(u128::from(tile.cycle()), run_length(spec, configuration));
    tile.take_violations()
}

fn is_legal(spec: &TileSpec, configuration: &Configuration) {
    assert_eq!(configuration.check(spec).err(), None, "{}", configuration.to_yaml());
    // The work of other modes has no end, and no schedule.
    if configuration.mode != Mode::UnifiedBuffer {
        return;
    }
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

/// Nothing is too small for a legal configuration.
#[test]
fn legal_configurations_of_tiny_specifications() {
    let kinds = [
        "wide_fetch, fetch_width: 1, agg_words: 1, tb_words: 1, inputs: 1, outputs: 1",
        "wide_fetch, fetch_width: 8, agg_words: 8, tb_words: 8, inputs: 4, outputs: 4",
        "wide_fetch, fetch_width: 4, agg_words: 4, tb_words: 4, sram_latency: 2, chaining: true",
        "dual_port",
        "quad_port, chaining: true",
        "register_file, inputs: 4, outputs: 1",
        "rom, sram_latency: 2",
    ];
    for kind in kinds {
        for (levels, extent_bits, cycle_bits) in iproduct!([1, 2], [1, 2, 3, 32], [1, 2, 3, 4, 32]) {
            let widths = format!("levels: {levels}, extent_bits: {extent_bits}, cycle_bits: {cycle_bits}");
            let spec = spec_of(&format!("{{name: tiny, kind: {kind}, rows: 2, controllers: {{all: {{{widths}}}}}}}"));
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            for _ in 0..2 {
                is_legal(&spec, &legal_configuration(&spec, &mut rng).unwrap_or_else(|| panic!("none for {spec:?}")));
                fits(&spec, &arbitrary_configuration(&spec, &mut rng));
            }
        }
    }
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
    let quick = list.tests.iter().filter(|test| !test.all_only);
    let drawn = quick.filter_map(|test| match test.work {
        Work::Specs(RandomSpecs { seed, specs, .. }) => Some(seed..seed + u64::from(specs)),
        _ => None,
    });
    let drawn: Vec<_> = drawn.flatten().map(|seed| random_spec(&mut ChaCha8Rng::seed_from_u64(seed))).collect();
    let kinds: BTreeSet<_> = drawn.iter().map(|spec| spec.kind.name()).collect();
    let styles: BTreeSet<_> = drawn.iter().map(|spec| spec.style.name()).collect();
    assert_eq!((kinds.len(), styles.len()), (5, Style::ALL.len()), "the default regression draws {kinds:?} {styles:?}");
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
        "one of `configuration`, `chain`, `legal`, `arbitrary` and `faults`",
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
        "`violations` goes with `configuration`",
        5,
        "remove `violations`",
    ),
    (
        "tests:\n- name: a\n  tile: t\n  configuration: c\n  stops_at: x",
        "`stops_at` goes with `violations: true`",
        5,
        "add `violations: true`",
    ),
    (
        "tests:\n- name: a\n  tile: t\n  configuration: c\n  delays:\n    0: 3\n    x: 4",
        "`x` is not the number of an output",
        7,
        "such as `{0: 64}`",
    ),
    (
        "tests:\n- name: a\n  tile: t\n  configuration: c\n  delays:\n    4: 3",
        "there is no output 4: the tile has 4, counted from 0",
        6,
        "",
    ),
    ("tests:\n- name: a\n  tile: t\n  chain: [c]\n  delays: {0: 1}", "at least two tiles", 4, "`delays`"),
    ("tests:\n- name: a\n  tile: t\n  chain: [c, d]", "a chain needs `delays`", 4, ""),
    (
        "tests:\n- name: a\n  tile: t\n  legal: {seed: 1, configurations: 1}\n  delays: {0: 1}",
        "`delays` goes with `configuration` or `chain`",
        5,
        "",
    ),
    (
        "tests:\n- name: a\n  tile: t\n  longest_run: 9\n  legal: {seed: 1, configurations: 1}",
        "`longest_run` goes with `configuration`",
        4,
        "",
    ),
    ("tests:\n- {name: a, tile: t, legal: {seed: x, configurations: 1}}", "expected an integer", 2, ""),
    // Tests that could not fail.
    (
        "tests:\n- {name: a, tile: t, legal: {seed: 1, configurations: 0}}",
        "expected an integer from 1 to 4294967295, found `0`",
        2,
        "",
    ),
    (
        "tests:\n- {name: a, tile: t, arbitrary: {seed: 1, configurations: 0}}",
        "expected an integer from 1 to 4294967295, found `0`",
        2,
        "",
    ),
    ("tests:\n- name: a\n  tile: t\n  faults:\n    seed: 1\n    faults: 0", "from 1 to 4294967295, found `0`", 6, ""),
    ("tests:\n- name: a\n  specs: {seed: 1, specs: 0, configurations: 1}", "from 1 to 4294967295, found `0`", 3, ""),
    ("tests:\n- name: a\n  specs: {seed: 1, specs: 1, configurations: 0}", "from 1 to 4294967295, found `0`", 3, ""),
    (
        "tests:\n- {name: a, specs: {seed: 1, specs: 1, configurations: 1}}\n- {name: a, specs: {seed: 2, specs: 1, configurations: \
         1}}",
        "two tests are named `a`",
        3,
        "",
    ),
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

/// The largest extent, start and gap of a small tile.
#[test]
fn random_configurations_reach_the_limits_of_fields() {
    let spec = specs::tile("small");
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let arbitrary: Vec<_> = (0..40).map(|_| arbitrary_configuration(&spec, &mut rng)).collect();
    let legal: Vec<_> = (0..120).map(|_| legal_configuration(&spec, &mut rng).unwrap()).collect();
    let count = |configurations: &[Configuration], is: &dyn Fn(&ControllerConfiguration) -> bool| {
        let has = |configuration: &&Configuration| configuration.controllers.values().any(is);
        configurations.iter().filter(has).count()
    };
    let largest_extent = |controller: &ControllerConfiguration| controller.extent.contains(&256);
    let largest_gap = |controller: &ControllerConfiguration| {
        let gaps = controller.extent.deltas(&controller.cycle.stride);
        gaps.iter().zip(&controller.extent).any(|(&gap, &extent)| extent > 1 && gap == 1024)
    };
    let counts = [
        count(&arbitrary, &largest_extent),
        count(&legal, &largest_extent),
        count(&arbitrary, &|controller| controller.cycle.start == 1023),
        count(&arbitrary, &largest_gap),
    ];
    assert!(counts.iter().all(|&count| count >= 5), "{counts:?}");
}

/// A run that a test does not allow is refused before it begins.
#[test]
fn a_test_says_how_long_its_runs_may_be() {
    let read = |more: &str| {
        let text = format!("tests: [{{name: a, tile: t, configuration: c{more}}}]");
        let document = Document::parse("lists/list.yaml", text).unwrap();
        let mut list = RegressionList::from_document(&document, Path::new("lists")).unwrap();
        let test = list.tests.pop().unwrap();
        assert_eq!(test.list, Path::new("lists/list.yaml"));
        match test.work {
            Work::Configuration { longest_run, .. } => longest_run,
            _ => panic!("a configuration"),
        }
    };
    assert_eq!((read(""), read(", longest_run: 9")), (LONGEST_RUN, 9));
    const { assert!(LONGEST_RUN >= 2_000_000) };
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

/// Those for lint have few rows and as many as there may be, and are drawn in no time.
#[test]
fn specifications_of_any_size_are_of_all_sizes() {
    let rows =
        (0..200).map(|seed| random_spec_of_any_size(&mut ChaCha8Rng::seed_from_u64(seed)).rows).collect::<Vec<_>>();
    for limit in [2, MAX_ROWS] {
        assert!(rows.contains(&limit), "{limit}");
    }
    assert!(
        rows.iter().filter(|rows| **rows > 1 << 16).count() > 20
            && rows.iter().filter(|rows| **rows < 1 << 6).count() > 20
    );
}
