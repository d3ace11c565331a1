//! The messages of the program on standard error, to people and to programs, and when.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use pushmem_testing::verilator;
use serde_json::Value;
use tempfile::tempdir;

/// The program in a folder; nothing is read from a terminal.
fn pushmem(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pushmem"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).env_remove("NO_COLOR");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = pushmem(folder, arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

const TWO_ERRORS: &str = "\
name: two_errors
inputs: {input: {type: u16, shape: [8]}}
outputs: {output: {type: u16, shape: [8]}}
nest:
  - for x in 0..9:
    - output[x] = input[x]
";

const HALF: &str = "\
name: half
inputs: {input: {type: u16, shape: [16]}}
outputs: {output: {type: u16, shape: [16]}}
nest:
  - for x in 0..16:
    - output[x] = input[x] / 2
";

#[test]
fn programs_get_an_object_a_line() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("two_errors.yaml"), TWO_ERRORS).unwrap();
    fs::write(folder.path().join("key.yaml"), "name: größe\nrwos: 5\n").unwrap();
    let messages = |arguments: &[&str], code: i32| -> Vec<Value> {
        let (ended, out, err) = run(folder.path(), &[arguments, &["--message-format", "json"]].concat());
        assert_eq!(ended, Some(code), "{out}{err}");
        err.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
    };
    let found = messages(&["check", "two_errors.yaml"], 1);
    assert_eq!(found.len(), 2, "{found:?}");
    for message in &found {
        assert_eq!((&message["severity"], &message["code"]), (&"error".into(), &"E0400".into()));
        assert_eq!((&message["file"], &message["line"]), (&"two_errors.yaml".into(), &6.into()));
        let (start, end) = (message["start_byte"].as_u64().unwrap(), message["end_byte"].as_u64().unwrap());
        assert_eq!(message["text"], TWO_ERRORS[start as usize..end as usize]);
        assert_eq!(message["end_column"].as_u64().unwrap() - message["column"].as_u64().unwrap(), end - start);
    }
    let found = messages(&["generate", "key.yaml", "-o", "out"], 1);
    assert_eq!((&found[0]["code"], &found[0]["text"]), (&"E0102".into(), &"rwos".into()));
    // Columns are counted in characters, bytes in the file.
    assert_eq!((&found[0]["column"], &found[0]["start_byte"]), (&1.into(), &14.into()));
    let found = messages(&["generate", "missing.yaml", "-o", "out"], 1);
    assert_eq!((&found[0]["code"], found[0].get("file")), (&"E0110".into(), None));
    let found = messages(&["generate", "--no-such-option"], 2);
    assert_eq!((found.len(), &found[0]["code"]), (1, &"E0900".into()), "{found:?}");
    assert!(found[0]["message"].as_str().unwrap().contains("--no-such-option"));
}

#[test]
fn codes_are_explained() {
    let folder = tempdir().unwrap();
    let (code, out, err) = run(folder.path(), &["explain", "e0102"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.starts_with("**E0102. An unknown key.**") && out.contains("did you mean `rows`?"), "{out}");
    let (code, _, err) = run(folder.path(), &["explain", "E9999"]);
    assert!(code == Some(1) && err.contains("there is no error `E9999`") && err.contains("E0102"), "{err}");
}

#[test]
fn colours_are_as_wanted() {
    let folder = tempdir().unwrap();
    let err = |options: &[&str]| run(folder.path(), &[options, &["check", "missing.yaml"]].concat()).2;
    assert!(!err(&[]).contains('\x1b') && !err(&["--color", "never"]).contains('\x1b'));
    assert!(err(&["--color", "always"]).contains('\x1b'));
}

#[test]
fn an_output_that_cannot_be_is_refused_before_the_work() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("half.yaml"), HALF).unwrap();
    let (code, out, err) = run(folder.path(), &["build", "half.yaml", "-o", "/proc/x"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("cannot create a file or folder in `/proc`") && err.contains("no files can be kept"), "{err}");
}

/// The report of the compile is there although the simulation, which comes after it, fails.
#[test]
fn the_report_of_the_compile_comes_at_once() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("half.yaml"), HALF).unwrap();
    let mut command = pushmem(folder.path(), &["build", "half.yaml", "--rtl"]);
    let output = command.env("VERILATOR", "/no/verilator").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.starts_with("half\n  cycles ") && out.contains("  model "), "{out}");
}

/// Each step of the longest work is named; in a pipe only if somebody asks. With waves, all runs are compared.
#[test]
fn steps_of_a_simulation_are_told() {
    if verilator().is_none() {
        return;
    }
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("half.yaml"), HALF).unwrap();
    let build = |options: &[&str]| {
        let mut command =
            pushmem(folder.path(), &[&["build", "half.yaml", "--rtl", "--wave", "half.fst"], options].concat());
        let output = command.env("PUSHMEM_CACHE", folder.path().join("cache")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (out, err) = build(&["--verbose"]);
    let mut steps = err.lines();
    for step in [
        "compiling `half`",
        "running the model",
        "generating RTL",
        "verilating `half`",
        "compiling the model of `half`",
        "simulating 1 of 3",
        "simulating 2 of 3",
        "simulating 3 of 3",
    ] {
        assert!(steps.any(|line| line == step), "{step} is not in its place:\n{err}");
    }
    assert_eq!(out.matches("  RTL ").count(), 3, "{out}");
    let (_, err) = build(&[]);
    assert_eq!(err, "");
}
