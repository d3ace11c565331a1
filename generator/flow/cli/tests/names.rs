//! Names outside of the project: of tiles, in every command that takes a tile, and of the tools that the project has installed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::tempdir;

/// Runs the program in a folder; what it prints, and whether it succeeds.
fn run(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pushmem"));
    let output = command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let (success, said) = run(folder, arguments);
    assert!(success, "{arguments:?}\n{said}");
    said
}

const DELAY: &str = "\
tile: pond
controllers:
  in2rf_0: {extent: [8], cycle: {stride: [1]}, register_file: {stride: [1]}}
  rf2out_0: {extent: [8], cycle: {start: 1, stride: [1]}, register_file: {stride: [1]}}
";

#[test]
fn every_command_takes_the_name_of_a_tile() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("delay.yaml"), DELAY).unwrap();
    succeeds(folder, &["encode", "pond", "delay.yaml", "-o", "writes.hex"]);
    assert!(succeeds(folder, &["decode", "pond", "writes.hex"]).contains("tile: pond"));
    assert!(succeeds(folder, &["simulate", "pond", "delay.yaml"]).starts_with("pond: 9 cycles"));
    assert!(succeeds(folder, &["generate", "pond", "-o", "out"]).starts_with("out: "));
    for arguments in [&["check", "delay.yaml"][..], &["check", "--tile", "pond", "delay.yaml"]] {
        assert_eq!(succeeds(folder, arguments), "delay.yaml: configuration for `pond`: in2rf_0, rf2out_0\n");
    }
    for arguments in [
        &["encode", "pnod", "delay.yaml"][..],
        &["decode", "pnod", "writes.hex"],
        &["simulate", "pnod", "delay.yaml"],
        &["generate", "pnod", "-o", "out"],
        &["check", "--tile", "pnod", "delay.yaml"],
    ] {
        let (success, said) = run(folder, arguments);
        assert!(!success && said.contains("no tile `pnod`") && said.contains("did you mean `pond`?"), "{said}");
    }
}

/// Words of Veryl and of SystemVerilog.
const RESERVED: [&str; 6] = ["p8", "inst", "clock", "block", "logic", "input"];

/// Names of modules, and the beginnings of such names.
#[test]
fn reserved_words_are_names_or_are_refused_where_they_stand() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    for word in RESERVED {
        let pe = format!("kind: processing_element\noperations: [add, pass]\nname: {word}\n");
        fs::write(folder.join("pe.yaml"), pe).unwrap();
        for command in [&["check", "pe.yaml"][..], &["generate", "pe.yaml", "-o", "pe"]] {
            let (success, said) = run(folder, command);
            let refused = format!("`{word}` cannot be the name of a module");
            assert!(!success && said.contains(&refused) && said.contains("pe.yaml:3:7"), "{said}");
        }
        let tile = format!("name: {word}\nkind: register_file\nrows: 8\ninputs: 1\noutputs: 1\n");
        fs::write(folder.join("tile.yaml"), tile).unwrap();
        succeeds(folder, &["generate", "tile.yaml", "-o", "tile"]);
        let array = format!("name: {word}\nkind: array\ncolumns: 2\nrows: 1\npe: image_pe\n");
        fs::write(folder.join("array.yaml"), array).unwrap();
        succeeds(folder, &["generate", "array.yaml", "-o", "array"]);
        let sram = format!(
            "macro: {word}\nwidth: 64\ndepth: 512\nports:\n\
            - {{kind: read_write, clock: clk, select: {{port: p8}}, write: {{port: inst}}, address: block, data_in: pub, data_out: gen}}\n"
        );
        fs::write(folder.join("sram.yaml"), sram).unwrap();
        let (success, said) = run(folder, &["generate", "amber", "-o", "sram", "--sram", "amber=sram.yaml"]);
        let is_keyword = ["logic", "input"].contains(&word);
        assert!(success != is_keyword, "{said}");
        assert!(success || said.contains(&format!("`{word}` is a keyword of SystemVerilog")), "{said}");
    }
    // The name of a program, of its arrays, its loops and its tables.
    let program = "name: inst\ninputs: {p8: {type: u16, shape: [8]}, logic: {type: u16, shape: [8]}}\n\
        outputs: {gen: {type: u16, shape: [8]}}\ntables: {pub: {type: u16, values: [1, 2, 3, 4]}}\nnest:\n\
        - for block in 0..8:\n  - gen[block] = p8[block] + logic[block] + pub[p8[block] % 4]\n";
    fs::write(folder.join("program.yaml"), program).unwrap();
    for bus in ["axi", "axis"] {
        succeeds(folder, &["build", "program.yaml", "-o", bus, "--bus", bus]);
    }
}

/// A project's own file comes first, then one beside the configuration, then the one that is part of the program.
#[test]
fn the_nearest_tile_of_a_name_is_checked() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("delay.yaml"), DELAY).unwrap();
    let spec = |words: u32| format!("name: pond\nkind: register_file\nrows: {words}\ninputs: 1\noutputs: 1\n");
    let long = "extent: [9]";
    fs::write(folder.join("long.yaml"), DELAY.replace("extent: [8]", long)).unwrap();
    succeeds(folder, &["check", "long.yaml"]);
    // Extents of two iterations at most.
    fs::write(folder.join("pond.yaml"), spec(4) + "controllers: {all: {extent_bits: 1}}\n").unwrap();
    let (success, said) = run(folder, &["check", "long.yaml"]);
    assert!(!success && said.contains("the limit of a 1-bit counter"), "{said}");
    fs::create_dir_all(folder.join("constraints/tiles")).unwrap();
    fs::write(folder.join("constraints/tiles/pond.yaml"), spec(16)).unwrap();
    succeeds(folder, &["check", "long.yaml"]);
    fs::write(folder.join("lost.yaml"), "tile: pnod\ncontrollers: {}\n").unwrap();
    let (success, said) = run(folder, &["check", "lost.yaml"]);
    assert!(!success && said.contains("lost.yaml:1:7") && said.contains("did you mean `pond`?"), "{said}");
}

/// In another folder, the program of a clone finds the Python that the clone has; of what is missing it says where it looked.
#[test]
fn tools_of_the_clone_are_found_outside_of_it() {
    let (clone, elsewhere) = (tempdir().unwrap(), tempdir().unwrap());
    let clone = clone.path().canonicalize().unwrap();
    let (program, python) = (clone.join("target/release/pushmem"), clone.join("build/venv/bin/python"));
    for file in [&program, &python] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    // By another process: a file that this one has written may still be open in the children of other tests.
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_pushmem")).arg(&program).status().unwrap().success());
    // A Python that has whatever it is asked for.
    symlink("/bin/echo", &python).unwrap();
    let yosys = |named: Option<&str>| {
        let mut doctor = Command::new(&program);
        doctor.args(["doctor", "--json"]).current_dir(elsewhere.path()).env("PATH", "").env_remove("PUSHMEM_PYTHON");
        let report = doctor.envs(named.map(|named| ("PUSHMEM_PYTHON", named))).output().unwrap().stdout;
        let report: Value = serde_json::from_slice(&report).unwrap();
        report["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "yosys").unwrap().clone()
    };
    let version = yosys(None)["version"].as_str().unwrap().to_owned();
    assert!(version.ends_with(&format!(" ({})", python.display())), "{version}");
    let missing = yosys(Some("/no/python"));
    assert_eq!(missing["problem"], "not found: it is not in `/no/python`, which the variable PUSHMEM_PYTHON names");
    assert!(missing["install"].as_str().unwrap().contains("in the variable PUSHMEM_PYTHON"), "{missing}");
}
