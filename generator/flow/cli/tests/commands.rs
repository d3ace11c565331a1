//! Rules of every command: reports as one JSON object, quiet, no colours in pipes, tables that fit, completions.

use std::fs;
use std::process::{Command, Output, Stdio};

use pushmem_testing::tool;
use serde_json::{Map, Value};
use tempfile::tempdir;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
const AMBER: &str = "constraints/tiles/amber.yaml";
const SMALL: &str = "constraints/tiles/small.yaml";
const DELAY: &str = "rtl-tests/configurations/extent_one_level_0.yaml";
const GAUSSIAN: &str = "rtl-tests/configurations/gaussian.yaml";

/// The widest line of a table.
const COLUMNS: usize = 100;

fn pushmem(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pushmem"));
    command.args(arguments).current_dir(ROOT).stdin(Stdio::null()).env_remove("NO_COLOR").output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The commands that help lists.
fn commands() -> Vec<String> {
    let help = pushmem(&["--help"]);
    let lines = text(&help.stdout).lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = lines.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    listed.map(|line| line.split_whitespace().next().unwrap().to_owned()).filter(|name| name != "help").collect()
}

/// How a command is tried here.
enum Trial {
    /// It reports this run.
    Reports(Vec<String>),
    /// It prints what it was asked for, unless it is asked for a report.
    Prints(Vec<String>),
    /// A run takes long or needs tools; only its options are looked at.
    Long,
    /// It has nothing to report.
    NoReport,
}

/// How to try a command. One that is new must be given here, and so gets looked at.
fn trial(command: &str, folder: &str) -> Trial {
    let arguments = |list: &[&str]| list.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>();
    let in_folder = |name: &str| format!("{folder}/{name}");
    match command {
        "build" => Trial::Reports(arguments(&["build", "apps/gaussian.yaml", "-o", &in_folder("accelerator")])),
        "run" => Trial::Reports(arguments(&["run", "apps/gaussian.yaml", "-o", &in_folder("out.png")])),
        // After `build`.
        "compare" => Trial::Reports(arguments(&["compare", &in_folder("accelerator"), "--no-rtl"])),
        "import" => {
            let pipeline = "generator/program/halide/tests/pipelines/mirrored.hlpipe";
            Trial::Prints(arguments(&["import", "halide", pipeline]))
        }
        "map" => Trial::Reports(arguments(&["map", "apps/buffers/brighten_blur.yaml"])),
        "generate" => Trial::Reports(arguments(&["generate", SMALL, "-o", &in_folder("tile")])),
        "join" => {
            let [one, other] = [in_folder("one"), in_folder("other")];
            for (tile, written) in [(SMALL, &one), (AMBER, &other)] {
                assert!(pushmem(&["generate", tile, "-o", written]).status.success());
            }
            Trial::Reports(arguments(&["join", &one, &other, "-o", &in_folder("joined")]))
        }
        "encode" => Trial::Prints(arguments(&["encode", AMBER, GAUSSIAN])),
        "decode" => {
            let writes = in_folder("writes.hex");
            assert!(pushmem(&["encode", AMBER, GAUSSIAN, "-o", &writes]).status.success());
            Trial::Prints(arguments(&["decode", AMBER, &writes]))
        }
        "simulate" => Trial::Reports(arguments(&["simulate", SMALL, DELAY])),
        "check" => Trial::Reports(arguments(&["check", AMBER, GAUSSIAN, "apps/gaussian.yaml"])),
        "doctor" => Trial::Reports(arguments(&["doctor"])),
        // It needs a Python with PyYAML.
        "regress" | "mutants" | "synth" | "explore" => Trial::Long,
        "completions" | "explain" | "man" => Trial::NoReport,
        _ => panic!("`{command}` is new: say here how it is tried"),
    }
}

#[test]
fn every_command_reports_as_one_json_object() {
    let folder = tempdir().unwrap();
    for command in commands() {
        let (arguments, prints) = match trial(&command, folder.path().to_str().unwrap()) {
            Trial::Reports(arguments) => (arguments, false),
            Trial::Prints(arguments) => (arguments, true),
            Trial::NoReport => continue,
            Trial::Long => {
                let help = pushmem(&[&command, "--help"]);
                assert!(text(&help.stdout).contains("--json"), "{command}");
                continue;
            }
        };
        let run = |more: &str| {
            let mut all: Vec<&str> = arguments.iter().map(String::as_str).collect();
            all.extend((!more.is_empty()).then_some(more));
            let output = pushmem(&all);
            assert!(output.status.success(), "{all:?}: {}", text(&output.stderr));
            assert!(!output.stdout.contains(&b'\x1b') && !output.stderr.contains(&b'\x1b'), "{all:?} in colours");
            assert!(output.stderr.is_empty(), "{all:?}: {}", text(&output.stderr));
            text(&output.stdout).to_owned()
        };
        let (said, json, quiet) = (run(""), run("--json"), run("--quiet"));
        let object: Map<String, Value> =
            serde_json::from_str(&json).unwrap_or_else(|error| panic!("{command}: {error}\n{json}"));
        assert!(!object.is_empty() && json.ends_with("}\n"), "{command}: {json}");
        assert!(!said.is_empty(), "{command} says nothing");
        assert_eq!(quiet, if prints { said.as_str() } else { "" }, "{command} --quiet");
        let documented = fs::read_to_string(format!("{ROOT}/docs/src/command-line.md")).unwrap();
        let row_of = |command: &str| {
            let (_, section) = documented
                .split_once(&format!("\n| `{command}` |"))
                .unwrap_or_else(|| panic!("docs/src/command-line.md does not say what `{command} --json` prints"));
            section.lines().next().unwrap()
        };
        // A command may print what another one does.
        let own = row_of(&command);
        let row = own.strip_prefix(" as `").map_or(own, |other| row_of(other.split('`').next().unwrap()));
        let of_build = if row.contains("what `build` reports") { row_of("build") } else { "" };
        for key in object.keys() {
            let is_told = [row, of_build].iter().any(|row| row.contains(&format!("`{key}`")));
            assert!(is_told, "docs/src/command-line.md: `{key}` of `{command} --json`");
        }
        // Long names and folders are the user's.
        let named = |line: &&str| !line.contains(folder.path().to_str().unwrap()) && !line.contains('/');
        for line in said.lines().filter(named) {
            assert!(prints || line.chars().count() <= COLUMNS, "{command}: {line}");
        }
    }
}

/// Mappings of loops as deep as a convolution has, in banks and copies.
#[test]
fn tables_of_mappings_fit() {
    for buffer in ["accumulator", "convolution", "double_buffer", "layers", "upsample"] {
        let output = pushmem(&["map", &format!("apps/buffers/{buffer}.yaml")]);
        assert!(output.status.success(), "{buffer}: {}", text(&output.stderr));
        for line in text(&output.stdout).lines() {
            assert!(line.chars().count() <= COLUMNS, "{buffer}: {line}");
        }
    }
}

#[test]
fn errors_are_reported_even_if_quiet() {
    let output = pushmem(&["check", "--quiet", "no_such_file.yaml"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(text(&output.stderr).contains("no_such_file.yaml"));
    let output = pushmem(&["check", "--json", AMBER, "no_such_file.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["files"][0]["error"], Value::Null);
    assert!(report["files"][1]["error"].as_str().unwrap().contains("no_such_file.yaml"));
}

/// Every command has a page that shows its options, and groff finds nothing to complain about in any.
#[test]
fn manual_pages_know_every_command() {
    let folder = tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert!(pushmem(&["man", "-o", pages.to_str().unwrap()]).status.success());
    let mut found: Vec<_> =
        fs::read_dir(&pages).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    let mut expected: Vec<_> = commands().iter().map(|command| format!("pushmem-{command}.1")).collect();
    expected.extend(
        ["pushmem.1", "pushmem-import-halide.1", "pushmem-import-onnx.1", "pushmem-import-tflite.1"].map(str::to_owned),
    );
    expected.sort();
    assert_eq!(found, expected);
    let page = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    assert!(page("pushmem-simulate.1").contains(r"\-\-stall\-seed") && page("pushmem.1").contains("Exit codes"));
    assert!(commands().iter().all(|command| page("pushmem.1").contains(&format!(r"pushmem\-{command}(1)"))));
    let Some(groff) = tool("groff") else { return };
    for name in found {
        let output =
            Command::new(&groff).args(["-man", "-Tutf8", "-ww", "-z"]).arg(pages.join(&name)).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{name}: {}", text(&output.stderr));
    }
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = pushmem(&["completions", shell]);
        assert!(output.status.success(), "{shell}");
        let script = text(&output.stdout);
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        assert!(script.contains("stall-seed") && script.contains("quiet"), "{shell}");
    }
    assert_eq!(pushmem(&["completions", "tcsh"]).status.code(), Some(2));
}

/// An exploration has what `build` says of each point; without a Python that has its package, it says how that is installed.
#[test]
fn explorations_build_points() {
    let folder = tempdir().unwrap();
    let space = folder.path().join("space.yaml");
    fs::write(&space, "options: {shift-register-threshold: [5, 100]}\nprogram: {unroll: {x: [1, 3]}}\n").unwrap();
    let study = folder.path().join("study");
    let explore = |python: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pushmem"));
        command.args(["explore", "apps/gaussian.yaml", "--over"]).arg(&space).arg("-o").arg(&study);
        command.args(["--reports", "1", "--json"]).current_dir(ROOT).stdin(Stdio::null());
        command.envs(python.map(|python| ("PUSHMEM_PYTHON", python))).output().unwrap()
    };
    let missing = explore(Some("/no/python"));
    assert_eq!(missing.status.code(), Some(1));
    let said = text(&missing.stderr);
    assert!(said.contains("needs the Python package PyYAML") && said.contains("scripts/setup --explore"), "{said}");
    let there = explore(None);
    if text(&there.stderr).contains("needs the Python package PyYAML") {
        assert!(std::env::var_os("PUSHMEM_ALL_TOOLS").is_none(), "{}", text(&there.stderr));
        return;
    }
    assert!(there.status.success(), "{}", text(&there.stderr));
    let report: Value = serde_json::from_slice(&there.stdout).unwrap();
    let documented = fs::read_to_string(format!("{ROOT}/docs/src/command-line.md")).unwrap();
    let row = documented.lines().find(|line| line.starts_with("| `explore` |")).unwrap();
    assert!(report.as_object().unwrap().keys().all(|key| row.contains(&format!("`{key}`"))), "{report}");
    let counts = ["points", "done", "refused", "failed"].map(|name| report[name].as_u64().unwrap());
    assert_eq!(counts, [4, 2, 2, 0], "{report}");
    assert!(report["reasons"][0]["reason"].as_str().unwrap().contains("`unroll 3` does not divide"), "{report}");
    let best = &report["fronts"][0]["points"][0];
    let built: Value = serde_json::from_slice(&pushmem(&["build", "apps/gaussian.yaml", "--json"]).stdout).unwrap();
    assert_eq!(best["figures"]["cycles"], built["cycles"], "{report}");
    assert!(study.join(best["report"].as_str().unwrap()).is_file() && study.join("index.html").is_file());
}
