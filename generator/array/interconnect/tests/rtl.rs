//! RTL of arrays: lint and size.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pushmem_fabric::{ArraySpec, Folder, TileKind};
use pushmem_files::Document;
use pushmem_interconnect::{
    array_module, bank_module, block_module, generate, io_block_module, tile_module, verilator_hierarchy,
    with_global_buffer_module,
};
use pushmem_systemverilog::{files_of, is_header, needed, ports_of};
use pushmem_testing::{Part, verilator};

fn constraints() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints")
}

fn parse(text: &str) -> ArraySpec {
    let document = Document::parse("array.yaml", text).unwrap();
    ArraySpec::from_document(&document, &Folder(constraints())).unwrap_or_else(|error| panic!("{error}"))
}

fn shipped(name: &str) -> ArraySpec {
    parse(&fs::read_to_string(constraints().join(format!("arrays/{name}.yaml"))).unwrap())
}

/// Checks that these modules of an array have no warnings.
fn lint(spec: &ArraySpec, tops: &[String]) {
    let files = files_of(generate(spec).unwrap_or_else(|error| panic!("{error}")));
    let Some(verilator) = verilator() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in &files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    for top in tops {
        let mut lint = Command::new(&verilator);
        let output = lint
            .args(["--lint-only", "-Wall", "--top-module", top])
            // The package of a memory has constants that no other module uses.
            .args(needed(&files, top, &[]))
            .current_dir(&folder)
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !err.contains('%'), "{top}:\n{err}");
    }
}

fn of_two_by_two(more: &str) -> ArraySpec {
    parse(&format!("name: pair\nkind: array\ncolumns: 2\nrows: 2\npe: image_pe\n{more}"))
}

/// Every module as a top, and an array of two columns and rows, with each choice that a specification has.
#[test]
fn arrays_are_lint_clean() {
    for more in Part::chosen().of([
        "memory: {tile: small, every: 2}",
        "memory: {tile: dual_port, every: 2}\nblock: {columns: 2, rows: 1}\nhop_limit: 2",
        "topology: disjoint\ntracks: {word: 3, bit: 1}\nhop_limit: 4\nblock: {columns: 1, rows: 1}\ncontrol_depth: 1",
        "tracks: {word: 1, bit: 2}\ncontrol_depth: 4",
        "memory: {tile: amber_rom, every: 2}\nclock_gating: true",
        "hop_limit: 2\nclock_gating: true",
        "register_file: pond\nclock_gating: true",
        "register_file: pond\nmemory: {tile: small, every: 2}",
    ]) {
        let spec = of_two_by_two(more);
        let mut tops: Vec<String> = spec.kinds().map(|kind| tile_module(&spec, kind)).collect();
        tops.extend([io_block_module(&spec), block_module(&spec), array_module(&spec)]);
        tops.extend(["word", "bit"].map(|layer| format!("{}_{layer}_switch_box", spec.name)));
        tops.extend(spec.kinds().map(|kind| format!("{}_{}_configuration", spec.name, kind.name())));
        lint(&spec, &tops);
    }
}

/// Banks of one column and of several, of several words in a row, in few levels and many, and the array with them.
#[test]
fn global_buffers_are_lint_clean() {
    for more in Part::chosen().of([
        "global_buffer: {banks: 1}\nblock: {columns: 1, rows: 1}",
        "global_buffer: {banks: 2, bank_bytes: 32}",
        "global_buffer: {banks: 1, bank_bytes: 4096, levels: 1, extent_bits: 32, cycle_bits: 1}\ncontrol_depth: 1",
        "global_buffer: {banks: 2}\ncontrol_depth: 4\nmemory: {tile: amber_rom, every: 2}\nclock_gating: true",
    ]) {
        let spec = of_two_by_two(more);
        lint(&spec, &[bank_module(&spec), with_global_buffer_module(&spec)]);
    }
    let spec =
        parse("name: wide\nkind: array\ncolumns: 2\nrows: 1\npe: word32_pe\nglobal_buffer: {banks: 1, bank_bytes: 64}");
    lint(&spec, &[bank_module(&spec), with_global_buffer_module(&spec)]);
    let spec = shipped("small_buffered");
    lint(&spec, &[with_global_buffer_module(&spec)]);
}

/// The modules of an array are those of the same array without the key, but for the digest, and for the paths on which banks configure columns.
#[test]
fn a_global_buffer_is_around_the_array() {
    let modules = |spec: &ArraySpec| generate(spec).unwrap_or_else(|error| panic!("{error}"));
    let (with, without) = (shipped("small_buffered"), shipped("small"));
    let spec = without.clone();
    let digests = [with.digest_word(), without.digest_word()].map(|digest| format!("{digest:08x}"));
    let (with, without) = (modules(&with), modules(&without));
    let has_paths = [array_module(&spec), block_module(&spec), io_block_module(&spec)];
    for module in without.iter().filter(|module| !has_paths.contains(&module.name)) {
        let renamed = |text: &str| text.replace("small", "small_buffered").replace("small_buffered_rom", "small_rom");
        let found = with.iter().find(|other| other.name == module.name || other.name == renamed(&module.name));
        let found = found.unwrap_or_else(|| panic!("no {}", module.name));
        let normal = |text: &str| {
            text.replace("_buffered", "").replace(&digests[0], &digests[1]).split_whitespace().collect::<String>()
        };
        assert_eq!(normal(&found.text), normal(&module.text), "{}", module.name);
    }
    assert_eq!(with.len(), without.len() + 7);
}

/// Shells and simulations of the array inside read its ports and those of its blocks.
#[test]
fn ports_of_arrays_with_a_global_buffer_are_read() {
    let of_blocks = of_two_by_two("global_buffer: {banks: 1}\nblock: {columns: 1, rows: 1}");
    for spec in [of_blocks, shipped("small_buffered"), shipped("amber_buffered")] {
        let modules = generate(&spec).unwrap_or_else(|error| panic!("{error}"));
        for name in [array_module(&spec), block_module(&spec), io_block_module(&spec)] {
            let module = modules.iter().find(|module| module.name == name).unwrap();
            assert!(ports_of(&name, &module.text).is_some(), "{name}");
        }
    }
}

/// Tiles of the arrays that are shipped.
#[test]
fn shipped_tiles_are_lint_clean() {
    let names = ["small", "amber", "amber_long", "tracks_3", "hop_limit_4", "onyx", "bfloat", "float16", "word32"];
    for name in Part::chosen().of(names) {
        let spec = shipped(name);
        let tops: Vec<String> = TileKind::ALL.into_iter().map(|kind| tile_module(&spec, kind)).collect();
        lint(&spec, &tops);
    }
    let spec = shipped("small");
    lint(&spec, &[array_module(&spec)]);
}

/// Tiles and blocks are modules, not copies.
#[test]
fn a_whole_array_has_few_lines() {
    let files = generate(&shipped("amber")).unwrap_or_else(|error| panic!("{error}"));
    let lines: usize = files.iter().map(|file| file.text.lines().count()).sum();
    assert!(lines < 15_000, "{lines} lines");
}

/// Verilator reads the control file, and finds the blocks that it names. It takes every output of the wrapper that it puts around a
/// block for combinational: the loops that it then sees are not in the array, which is free of them as a whole. A block without
/// memories leaves the constants of their package unused.
#[test]
fn verilator_compiles_a_block_once() {
    let spec = of_two_by_two("memory: {tile: small, every: 2}\nblock: {columns: 2, rows: 1}");
    let files = generate(&spec).unwrap_or_else(|error| panic!("{error}"));
    let Some(verilator) = verilator() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut names = vec!["hierarchy.vlt".to_owned()];
    fs::write(folder.path().join("hierarchy.vlt"), verilator_hierarchy(&spec)).unwrap();
    for (name, text) in files_of(files) {
        fs::write(folder.path().join(&name), text).unwrap();
        names.extend(Some(name).filter(|name| !is_header(name)));
    }
    let mut build = Command::new(verilator);
    build.args([
        "--cc",
        "--hierarchical",
        "-Wall",
        "-Wno-UNOPTFLAT",
        "-Wno-UNUSEDPARAM",
        "--top-module",
        &array_module(&spec),
    ]);
    let output = build.args(names).current_dir(&folder).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !err.contains('%'), "{err}");
    let hierarchy =
        fs::read_to_string(folder.path().join(format!("obj_dir/V{}_hier.mk", array_module(&spec)))).unwrap();
    for module in [block_module(&spec), io_block_module(&spec)] {
        assert!(hierarchy.contains(&module), "{hierarchy}");
    }
}
