//! The program as people and scripts use it: exit codes, messages, files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Write, pipe};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use itertools::Itertools;
use pushmem_testing::verilator;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

const AMBER: &str = "constraints/tiles/amber.yaml";
const SMALL: &str = "constraints/tiles/small.yaml";
const GAUSSIAN: &str = "rtl-tests/configurations/gaussian.yaml";
const DELAY_9: &str = "rtl-tests/configurations/extent_one_level_0.yaml";
const BROKEN: &str = "rtl-tests/configurations/all_fire_at_once.yaml";

/// The program, started in the root of the project.
fn pushmem(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pushmem"));
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

/// Standard output, and what standard error says without line breaks and frames.
struct Said {
    out: String,
    err: String,
}

/// Runs a command that must end with an exit code.
fn ends(code: i32, command: &mut Command) -> Said {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let out = String::from_utf8(stdout).unwrap();
    let err = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(code), "{command:?}\n{out}{err}");
    let words = err.split_whitespace().filter(|word| !["│", "×", "╰─▶", "├─▶"].contains(word));
    Said { out, err: words.collect::<Vec<_>>().join(" ") }
}

fn succeeds(arguments: &[&str]) -> Said {
    ends(0, &mut pushmem(arguments))
}

fn fails(arguments: &[&str]) -> Said {
    ends(1, &mut pushmem(arguments))
}

/// A folder that tests write to.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// A file in it.
    fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), contents).unwrap();
        self.path(name)
    }

    /// All files in it, and empty folders.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files(self.0.path())
    }
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let below = files(&path);
            if below.is_empty() {
                found.insert(path, Vec::new());
            }
            found.extend(below);
        } else {
            let contents = fs::read(&path).unwrap();
            found.insert(path, contents);
        }
    }
    found
}

/// Words of a stream of 16 bits.
fn stream(words: u32) -> String {
    (0..words).map(|number| format!("{:04x}\n", number.wrapping_mul(40503) >> 4 & 0xffff)).collect()
}

#[test]
fn help_explains_itself() {
    let help = succeeds(&["--help"]).out;
    for command in ["map", "generate", "encode", "decode", "simulate", "regress", "mutants", "check", "doctor"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is not in\n{help}");
        let own = succeeds(&[command, "--help"]).out;
        assert!(own.contains(&format!("Usage: pushmem {command}")), "{own}");
        assert_eq!(succeeds(&["help", command]).out, own);
    }
    assert!(help.contains("Exit codes: 0 all is well; 1 something is wrong"));
    for arguments in [&["--help"][..], &["build", "--help"], &["synth", "--help"], &["import", "halide", "--help"]] {
        let help = succeeds(arguments).out;
        let widest = help.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{help}");
        // Options of all commands come after the own options of a command.
        let options = help.lines().filter(|line| line.starts_with("  -") || line.starts_with("      --"));
        let names = options.map(|line| line.trim_start().split([',', ' ']).next().unwrap()).collect::<Vec<_>>();
        assert!(names.ends_with(&["-q", "-v", "--color", "--message-format", "-h", "-V"]), "{help}");
    }
    assert_eq!(succeeds(&["--version"]).out, format!("pushmem {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn exit_codes() {
    let cases: &[(i32, &[&str], &str)] = &[
        (2, &[], "Usage: pushmem"),
        (2, &["genrate"], "unrecognized subcommand 'genrate'"),
        (2, &["generate", AMBER], "--output"),
        (2, &["generate", AMBER, "-o", "x", "--fast"], "unexpected argument '--fast'"),
        (2, &["build", BLUR, "--rlt"], "a similar argument exists: '--rtl'"),
        (2, &["tune", BLUR], "`pushmem build PROGRAM --fit multipliers=16` chooses unroll factors"),
        (2, &["pareto", BLUR], "`pushmem explore PROGRAM --over SPACE -o FOLDER` builds all points of a space"),
        (2, &["import", "pytorch", "net.pt"], "those of PyTorch are not read: export them to ONNX"),
        (1, &["import", "tflite", BLUR, "-o", "x"], "this is a program, not a network of TensorFlow Lite"),
        (1, &["import", "onnx", BLUR, "-o", "x"], "this is a program, not a network of ONNX"),
        (2, &["build", BLUR, "--fpga"], "`pushmem synth` has area, longest paths and power"),
        (2, &["check"], "FILES"),
        (2, &["simulate", AMBER, GAUSSIAN, "--input", "in.hex"], "such as 0=a.hex"),
        (2, &["simulate", AMBER, GAUSSIAN, "--output", "x=out.hex"], "`x` is not the number of a port"),
        (2, &["simulate", AMBER, GAUSSIAN, "--cycles", "x"], "invalid value 'x' for '--cycles"),
        (1, &["generate", "nowhere.yaml", "-o", "x"], "nowhere.yaml"),
        (1, &["encode", AMBER, "nowhere.yaml"], "check the name of the file"),
        (1, &["encode", SMALL, GAUSSIAN], "this configuration is for the tile `amber`, not `small`"),
        (1, &["encode", GAUSSIAN, GAUSSIAN], "this is a tile configuration, not a tile specification"),
        (1, &["decode", AMBER, AMBER], "this is a tile specification, not a file of words"),
        (1, &["simulate", AMBER, GAUSSIAN, "--input", "2=x"], "there is no input 2: the tile has 2, counted from 0"),
        (1, &["simulate", AMBER, GAUSSIAN, "--output", "9=x"], "there is no output 9"),
        (1, &["simulate", AMBER, GAUSSIAN, "--input", "0=nowhere.hex"], "nowhere.hex"),
        (1, &["regress", "no_such_test"], "`no_such_test` in its name"),
        (1, &["regress", "--lists", "nowhere"], "--lists"),
    ];
    for (code, arguments, message) in cases {
        let said = ends(*code, &mut pushmem(arguments));
        assert!(said.err.contains(message), "{message:?} is not in {:?}, of {arguments:?}", said.err);
        assert_eq!(said.out, "", "{arguments:?}");
    }
}

#[test]
fn generate_is_deterministic_and_replaces_its_folder() {
    let folder = Folder::new();
    let (first, second) = (folder.path("first"), folder.path("below/second"));
    // Each with a cache of its own, so that the second run does not read what the first one made.
    let generate = |arguments: &[&str], cache: &str| {
        ends(0, pushmem(&["generate"]).args(arguments).env("PUSHMEM_CACHE", folder.path(cache)))
    };
    let said = generate(&[SMALL, "-o", &first, "--veryl"], "cache");
    assert!(said.out.starts_with(&format!("{first}: ")), "{}", said.out);
    assert_eq!(said.err, "");
    let names = |folder: &str| -> BTreeMap<PathBuf, Vec<u8>> {
        let named = files(Path::new(folder)).into_iter();
        named.map(|(path, contents)| (path.strip_prefix(folder).unwrap().to_owned(), contents)).collect()
    };
    let written = names(&first);
    generate(&[SMALL, "-o", &second, "--veryl"], "other-cache");
    assert!(names(&second) == written, "two runs differ");

    for name in ["filelist.f", "registers.h", "registers.json", "registers.md", "registers.rdl", "spec.yaml"] {
        assert!(!written[Path::new(name)].is_empty(), "{name}");
    }
    let listed = String::from_utf8(written[Path::new("filelist.f")].clone()).unwrap();
    let modules = written.keys().filter(|path| path.extension().is_some_and(|extension| extension == "sv"));
    assert!(written.contains_key(Path::new("rtl/pushmem_assert.svh")));
    let (headers, mut listed): (Vec<&str>, Vec<&str>) = listed.lines().partition(|line| line.starts_with('+'));
    listed.sort_unstable();
    assert_eq!(headers, ["+incdir+rtl"]);
    assert_eq!(listed, modules.map(|path| path.to_str().unwrap()).collect::<Vec<_>>());

    // The specification beside the RTL makes the same tile, now from the cache, and the folder may be written again with
    // fewer files.
    generate(&[&folder.path("first/spec.yaml"), "-o", &second], "cache");
    let again = names(&second);
    assert!(!again.keys().any(|path| path.starts_with("veryl")));
    assert!(again.iter().all(|(path, text)| path.ends_with(".pushmem") || written[path] == *text));
}

/// A tile that is hardened by itself has a list of its own, with nothing that it does not use.
#[test]
fn each_kind_of_tile_of_an_array_has_a_file_list() {
    let folder = Folder::new();
    let array = folder.path("array");
    succeeds(&["generate", "constraints/arrays/small.yaml", "-o", &array]);
    let lists = [
        ("pe", "image_pe", "small_rom"),
        ("mem", "small_rom_tile", "image_pe"),
        ("io", "pushmem_stream_in", "small_rom"),
    ];
    for (kind, own, other) in lists {
        let (list, top) = (format!("filelist_{kind}_tile.f"), format!("small_{kind}_tile"));
        let text = fs::read_to_string(Path::new(&array).join(&list)).unwrap();
        let has = |part: &str| text.lines().any(|line| line.starts_with(&format!("rtl/{part}")));
        assert!(has(own) && has(&top) && !has(other), "{text}");
        let Some(verilator) = verilator() else { continue };
        let mut lint = Command::new(verilator);
        let lint = lint.args(["--lint-only", "-Wall", "--top-module", &top, "-f", &list]).current_dir(&array);
        let output = lint.output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !err.contains('%'), "{top}:\n{err}");
    }
}

#[test]
fn generate_leaves_nothing_behind_when_it_cannot_write() {
    let folder = Folder::new();
    let file = folder.file("file", "mine");
    fs::create_dir(folder.path("foreign")).unwrap();
    folder.file("foreign/notes.txt", "mine");
    let bad = folder.file("bad.yaml", "name: t\nkind: wide_fetch\nrows: 1\n");
    let before = folder.files();
    for (spec, output, message) in [
        (SMALL, folder.path("foreign"), "was not written by pushmem: it holds `notes.txt`"),
        (SMALL, file.clone(), "is not a folder"),
        (SMALL, format!("{file}/out/tile"), "/file` is not a folder"),
        (&bad, folder.path("new/out"), "`rows` is 1"),
    ] {
        let said = fails(&["generate", spec, "-o", &output]);
        assert!(said.err.contains(message), "{}", said.err);
        assert!(folder.files() == before, "{output}: {:?}", folder.files().keys());
    }
}

#[test]
fn encode_and_decode_are_inverse() {
    let folder = Folder::new();
    let (writes, configuration) = (folder.path("regs.hex"), folder.path("again.yaml"));
    for (spec, original) in
        [(AMBER, GAUSSIAN), (SMALL, BROKEN), (SMALL, "rtl-tests/configurations/negative_strides.yaml")]
    {
        assert_eq!(succeeds(&["encode", spec, original, "-o", &writes]).out, "");
        succeeds(&["decode", spec, &writes, "-o", &configuration]);
        let text = fs::read_to_string(&writes).unwrap();
        assert_eq!(succeeds(&["encode", spec, &configuration]).out, text, "{original}");
        succeeds(&["check", "--tile", spec, &configuration, &writes]);

        // The same through a pipe.
        let mut decode = pushmem(&["decode", spec, "/dev/stdin"]);
        let mut child = decode.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert_eq!(output.stdout, fs::read(&configuration).unwrap());
    }
    let other = fails(&["decode", AMBER, &writes]);
    assert!(other.err.contains("these writes were made for another specification"), "{}", other.err);
}

#[test]
fn simulate_delays_a_stream() {
    let folder = Folder::new();
    let input = folder.file("in.hex", stream(4096));
    let outputs = ["0", "1"].map(|port| folder.path(port));
    let ports = [format!("0={input}"), format!("0={}", outputs[0]), format!("1={}", outputs[1])];
    let arguments = ["simulate", AMBER, GAUSSIAN, "--input", &ports[0], "--output", &ports[1], "--output", &ports[2]];
    for stalls in [&[] as &[&str], &["--stall-seed", "3"]] {
        let said = succeeds(&[&arguments, stalls].concat());
        assert_eq!(said.out, "amber: 4224 cycles, words taken [4096, 0], words shown [4096, 4096]\n");
        for output in &outputs {
            assert!(fs::read(output).unwrap() == stream(4096).as_bytes(), "{output} {stalls:?}");
            fs::remove_file(output).unwrap();
        }
    }
    let cut = succeeds(&[&arguments[..], &["--cycles", "100"]].concat());
    assert_eq!(cut.out, "amber: 100 cycles, words taken [100, 0], words shown [36, 0]\n");
    assert_eq!(fs::read_to_string(&outputs[0]).unwrap(), stream(36));
    assert_eq!(fs::read_to_string(&outputs[1]).unwrap(), "");
}

/// Configuration of `small`, words on input 0, what is wrong.
#[test]
fn simulate_writes_nothing_when_something_is_wrong() {
    let folder = Folder::new();
    for (configuration, words, messages) in [
        (DELAY_9, 20, ["in.hex: input 0 has 20 words, but cycle 20 takes one more", "in2agg_0 fires 32 times"]),
        (BROKEN, 64, ["the configuration breaks promises: cycle 0: ", "no output was written"]),
    ] {
        let input = format!("0={}", folder.file("in.hex", stream(words)));
        let output = folder.path("out.hex");
        let said = fails(&["simulate", SMALL, configuration, "--input", &input, "--output", &format!("0={output}")]);
        for message in messages {
            assert!(said.err.contains(message), "{message:?} is not in {:?}", said.err);
        }
        assert!(!Path::new(&output).exists());
    }
    let wide = format!("0={}", folder.file("wide.hex", "1\n12345\n"));
    let said = fails(&["simulate", SMALL, DELAY_9, "--input", &wide]);
    assert!(
        said.err.contains("`12345` does not fit a word of 16 bits") && said.err.contains("wide.hex:2:1"),
        "{}",
        said.err
    );
}

/// A row of a regular fetch that is not needed is worth a warning; a row that replaces words still to be read is not.
#[test]
fn simulate_tells_rows_fetched_for_nothing_from_stale_words() {
    let folder = Folder::new();
    let out = folder.path("out");
    succeeds(&["map", "apps/buffers/sliding_window_b.yaml", "-o", &out]);
    let (tile, configuration) = (folder.path("out/tile.yaml"), folder.path("out/configuration/tile_0.yaml"));
    let said = succeeds(&["simulate", &tile, &configuration]);
    assert_eq!(said.out, "amber: 1480 cycles, words taken [288, 0], words shown [1280, 0]\n");
    assert!(said.err.contains("sram2tb_0 fetches 16 rows of which no word is read"), "{}", said.err);
    let report = parsed(&succeeds(&["simulate", &tile, &configuration, "--json"]).out);
    assert_eq!(report["unread_rows"].as_array().unwrap().len(), 1, "{report}");
    let text = fs::read_to_string(&configuration).unwrap();
    assert!(text.contains("start: 38"), "{text}");
    let early = folder.file("early.yaml", text.replace("start: 38", "start: 34"));
    let said = fails(&["simulate", &tile, &early]);
    assert!(said.err.contains("tb2out_0 reads tb word 0 of fetch 10 in place of fetch 12"), "{}", said.err);
}

/// A row of four words that is fetched twice while it is read twice: the words of both fetches are the same. The second output
/// reads a word after its last row, when `stencil_valid` is low.
#[test]
fn simulate_refuses_no_word_that_is_right() {
    let folder = Folder::new();
    let text = "tile: amber\ncontrollers:\n\
        \x20 in2agg_0: {extent: [4], cycle: {stride: [1]}, agg: {stride: [1]}}\n\
        \x20 agg2sram_0: {extent: [], cycle: {start: 4, stride: []}, agg: {stride: []}, sram: {stride: []}}\n\
        \x20 sram2tb_0: {extent: [2], cycle: {start: 5, stride: [4]}, sram: {stride: [0]}, tb: {stride: [0]}}\n\
        \x20 tb2out_0: {extent: [4, 2], cycle: {start: 9, stride: [1, 4]}, tb: {stride: [1, 0]}}\n\
        \x20 stencil_valid: {extent: [8], cycle: {start: 9, stride: [1]}}\n";
    let (input, shown) = (folder.file("words.hex", "0001\n0002\n0003\n0004\n"), folder.path("shown.hex"));
    let (input, output) = (format!("0={input}"), format!("0={shown}"));
    let twice = folder.file("twice.yaml", text);
    let said = succeeds(&["simulate", "amber", &twice, "--input", &input, "-o", &output, "--strict"]);
    assert_eq!(said.err, "");
    assert_eq!(fs::read_to_string(&shown).unwrap(), "0001\n0002\n0003\n0004\n".repeat(2));

    let alternate = text.replace("tb: {stride: [0]}", "tb: {stride: [1]}");
    let longer = alternate.replace(
        "extent: [4, 2], cycle: {start: 9, stride: [1, 4]}, tb: {stride: [1, 0]}",
        "extent: [9], cycle: {start: 9, stride: [1]}, tb: {stride: [1]}",
    );
    let longer = folder.file("longer.yaml", longer);
    let arguments = ["simulate", "amber", &longer, "--input", &input, "-o", &output];
    let said = succeeds(&arguments);
    let warning = "tb2out_0 shows a word for which no row is fetched, in cycle 17";
    assert!(said.err.contains(warning) && said.err.contains("--strict refuses such words"), "{}", said.err);
    assert_eq!(fs::read_to_string(&shown).unwrap().lines().count(), 9);
    let report = parsed(&succeeds(&[&arguments[..], &["--json"]].concat()).out);
    assert_eq!(report["unfetched_words"][0], warning, "{report}");
    fs::remove_file(&shown).unwrap();
    let said = fails(&[&arguments[..], &["--strict"]].concat());
    assert!(said.err.contains(warning) && said.err.contains("no output was written"), "{}", said.err);
    assert!(!Path::new(&shown).exists());
}

#[test]
fn simulate_writes_when_stencil_valid_is_high() {
    let folder = Folder::new();
    let marks = "{tile: small, controllers: {stencil_valid: {extent: [2, 3], cycle: {start: 5, stride: [2, 10]}}}}";
    let (configuration, file) = (folder.file("marks.yaml", marks), folder.path("marks.hex"));
    let said = succeeds(&["simulate", SMALL, &configuration, "-o", &format!("stencil_valid={file}")]);
    assert_eq!(said.out, "small: 28 cycles, words taken [0, 0], words shown [0, 0], stencil_valid in 6 cycles\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), "00000005\n00000007\n0000000f\n00000011\n00000019\n0000001b\n");
    let without = folder.file("pond.yaml", "{tile: pond, controllers: {}}");
    let marks = format!("stencil_valid={file}");
    let said = fails(&["simulate", "constraints/tiles/pond.yaml", &without, "-o", &marks]);
    assert!(said.err.contains("`pond` has no output `stencil_valid`"), "{}", said.err);
}

/// Longer than the memory that it is given would hold words for.
#[test]
fn simulate_keeps_no_words() {
    let folder = Folder::new();
    let nest = |name: &str, start: u32| {
        format!(
            "{name}: {{extent: [60000, 100], cycle: {{start: {start}, stride: [1, 60000]}}, sram: {{stride: [1, 0]}}}}"
        )
    };
    let controllers = [("in2sram_0", 0), ("in2sram_1", 0), ("sram2out_0", 1), ("sram2out_1", 1)];
    let controllers = controllers.map(|(name, start)| nest(name, start)).join(", ");
    let configuration = folder.file("long.yaml", format!("{{tile: quad_port, controllers: {{{controllers}}}}}"));
    let mut limited = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_pushmem");
    limited.args([
        "-c",
        "ulimit -v 250000; exec \"$@\"",
        "sh",
        program,
        "simulate",
        "constraints/tiles/quad_port.yaml",
    ]);
    let said = ends(0, limited.arg(&configuration).current_dir(root()).stdin(Stdio::null()));
    assert!(said.out.starts_with("quad_port: 6000002 cycles"), "{}", said.out);
}

/// Without any tool on the search path, what needs one says how to get it, and the rest works.
#[test]
fn without_tools() {
    let bare = |arguments: &[&str]| {
        let mut command = pushmem(arguments);
        command.env("PATH", "").env_remove("VERILATOR");
        command
    };
    for arguments in [&["simulate", SMALL, DELAY_9, "--rtl"] as &[&str], &["regress", "small_legal"], &["mutants"]] {
        let said = ends(1, &mut bare(arguments));
        assert!(said.err.contains("Verilator is needed here") && said.err.contains("install it by"), "{}", said.err);
        assert_eq!(said.out, "");
    }
    ends(0, &mut bare(&["simulate", SMALL, DELAY_9]));
    let doctor = ends(0, &mut bare(&["doctor"])).out;
    assert!(doctor.contains("verilator") && doctor.contains("not found"), "{doctor}");
    // Nor a Python with packages, which is otherwise found in the clone of the program.
    let outside = Folder::new();
    let mut doctor = bare(&["doctor", "--json"]);
    doctor.current_dir(outside.path("")).env("PUSHMEM_PYTHON", outside.path("none"));
    let tools = parsed(&ends(0, &mut doctor).out);
    for tool in tools["tools"].as_array().unwrap() {
        assert_eq!(tool["version"], Value::Null, "{tool}");
        assert!(tool["install"].as_str().is_some_and(|how| !how.is_empty()), "{tool}");
    }
}

/// A program that is there but fails is no tool.
#[test]
fn doctor_finds_broken_tools() {
    let folder = Folder::new();
    let broken = folder.file("sta", "#!/bin/sh\necho 3.0\nexit 7\n");
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).unwrap();
    let doctor = |arguments: &[&str]| ends(0, pushmem(arguments).env("PATH", folder.path(""))).out;
    let report = parsed(&doctor(&["doctor", "--json"]));
    let sta = report["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "sta").unwrap();
    assert_eq!(sta["version"], Value::Null);
    assert!(sta["problem"].as_str().is_some_and(|problem| problem.contains("does not run (exit status: 7)")), "{sta}");
    assert!(doctor(&["doctor"]).contains("✗ sta"));
}

#[test]
fn check_accepts_shipped_files() {
    let yaml = |folder: &str| -> Vec<String> {
        let paths = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
            // Faults in the source of passes, which `scripts/faults` plants: no file of the program.
            .filter(|path| !path.ends_with("rtl-tests/mutants/passes.yaml"))
            .map(|path| path.display().to_string())
            .collect()
    };
    for (folder, what) in [
        ("constraints/arrays", "specification of the array "),
        ("rtl-tests/arrays", "configuration for the array "),
        ("constraints/tiles", "specification of the "),
        ("rtl-tests/specs", "specification of the "),
        ("rtl-tests/specs/arrays", "specification of the array "),
        ("rtl-tests/configurations", "configuration for `"),
        ("apps/buffers", "buffer `"),
        ("rtl-tests", "regression list of "),
        ("rtl-tests/mutants", "list of "),
        ("constraints/sram", "binding of "),
        ("rtl-tests/sram", "binding of the macro `"),
        ("constraints/clock_gates", "clock gate: the cell `"),
        ("constraints/timing", "timing constraints with a clock period of 5000 ps"),
    ] {
        let files = yaml(folder);
        assert!(!files.is_empty(), "{folder}");
        // Tiles that only tests know are named beside their configurations.
        let own_tile = |file: &String| {
            let text = fs::read_to_string(file).unwrap();
            let tile = text.lines().find_map(|line| line.strip_prefix("tile: ")).map(str::trim);
            let spec = format!("rtl-tests/specs/{}.yaml", tile?);
            root().join(&spec).is_file().then_some(spec)
        };
        for (tile, files) in files.iter().into_group_map_by(|file| own_tile(file)) {
            let named = tile.iter().flat_map(|tile| ["--tile", tile]);
            let files = files.into_iter().map(String::as_str);
            let arguments = ["check"].into_iter().chain(named).chain(files.clone()).collect::<Vec<_>>();
            let said = succeeds(&arguments);
            assert_eq!(said.out.lines().count(), files.count());
            assert!(said.out.lines().all(|line| line.contains(&format!(": {what}"))), "{}", said.out);
        }
    }
}

#[test]
fn check_names_each_error_and_goes_on() {
    let folder = Folder::new();
    let bad: &[(&str, &[u8], &str)] = &[
        ("key.yaml", b"name: t\nkind: rom\nrwos: 4\n", "key.yaml:3:1"),
        ("value.yaml", b"name: t\nkind: rom\nrows: 1\n", "`rows` is 1; it must be from 2 to"),
        ("lost.yaml", b"tile: stranger\ncontrollers: {}\n", "the specification of the tile `stranger` is neither"),
        ("unknown.yaml", b"a: 1\n", "it is not clear what this file is"),
        ("empty.yaml", b"", "empty.yaml"),
        ("pe.yaml", b"name: p\nkind: processing_element\n", "the key `operations` is missing"),
        ("faults.yaml", b"pass_mutants: []\n", "faults.yaml:1:1"),
        ("buffer.yaml", b"name: b\nports: [{name: a, dir: read}]\n", "unknown key `dir`"),
        ("macro.yaml", b"macro: wire\nwidth: 8\ndepth: 8\nports: []\n", "a macro has ports"),
        (
            "timing.yaml",
            b"output_delay_percent: 99\n",
            "`output_delay_percent` is 99 and the uncertainty of the clock 5",
        ),
        ("list.yaml", b"tests:\n- {name: a}\n", "test `a`: it is not clear what to run"),
        ("broken.yaml", b"name: [1\n", "broken.yaml"),
        ("alias.yaml", b"a: &a [*a, *a]\n", "alias.yaml"),
        ("binary.yaml", b"\xff\xfe\0", "is not UTF-8 text"),
        ("words.hex", b"12 xyz", "words.hex:1:4"),
        ("folder.yaml", b"", "is a folder, not a file"),
    ];
    let files: Vec<String> = bad
        .iter()
        .map(|(name, contents, _)| {
            if *name == "folder.yaml" {
                fs::create_dir(folder.path(name)).unwrap();
                return folder.path(name);
            }
            folder.file(name, contents)
        })
        .collect();
    for ((name, _, message), file) in bad.iter().zip(&files) {
        let said = fails(&["check", file]);
        assert!(said.err.contains(message), "{name}: {message:?} is not in {:?}", said.err);
    }
    let arguments: Vec<&str> = ["check"].into_iter().chain(files.iter().map(String::as_str)).chain([AMBER]).collect();
    let said = fails(&arguments);
    assert_eq!(said.out, format!("{AMBER}: specification of the wide_fetch tile `amber`\n"));
    assert!(bad.iter().all(|(_, _, message)| said.err.contains(message)), "{}", said.err);
}

const BRIGHTEN_BLUR: &str = "apps/buffers/brighten_blur.yaml";

#[test]
fn map_proves_shipped_buffers() {
    for entry in fs::read_dir(root().join("apps/buffers")).unwrap() {
        let path = entry.unwrap().path();
        let report = parsed(&succeeds(&["map", path.to_str().unwrap(), "--json"]).out);
        assert_eq!(report["tiles"].as_array().map(Vec::len), Some(1), "{report}");
        assert!(report["words"].as_u64() > Some(0) && report["simulated_cycles"].as_u64() > Some(0), "{report}");
        // All kinds of tiles that streams can be written to; two ports that write in a cycle need as many of the memory.
        let one_at_a_time = !path.ends_with("layers.yaml");
        for tile in one_at_a_time.then_some("dual_port").into_iter().chain(["quad_port"]) {
            succeeds(&["map", path.to_str().unwrap(), "--tile", tile]);
        }
    }
    let report = parsed(&succeeds(&["map", BRIGHTEN_BLUR, "--json"]).out);
    assert_eq!((&report["live_words"], &report["words"]), (&Value::from(64), &Value::from(4096)));
    assert_eq!(report["ports"][1]["schedule"], "(x, y) → 64y + x + 64");
    let tile = &report["tiles"][0];
    assert_eq!(tile["inputs"], serde_json::json!([{"input": 0, "port": "in"}]));
    assert_eq!(tile["outputs"], serde_json::json!([{"output": 0, "port": "out"}]));
    let fetches = &tile["controllers"][2];
    assert_eq!((&fetches["name"], &fetches["extent"]), (&Value::from("sram2tb_0"), &serde_json::json!([1024])));
    assert_eq!(fetches["cycle"], serde_json::json!({"start": 62, "stride": [4]}));
    assert_eq!(fetches["addresses"][0], serde_json::json!({"memory": "sram", "start": 0, "stride": [1]}));
    // The report has the mappings that did not fit.
    let text = succeeds(&["map", "apps/buffers/convolution.yaml"]).out;
    assert!(text.contains("tried before\n  out: rows without gaps: "), "{text}");
}

#[test]
fn map_writes_what_the_other_commands_read() {
    let folder = Folder::new();
    let out = folder.path("out");
    // The second time replaces the first.
    for _ in 0..2 {
        let said = succeeds(&["map", BRIGHTEN_BLUR, "-o", &out]);
        assert!(said.out.contains(&format!("  written to             {out}\n")), "{}", said.out);
    }
    let path = |name: &str| folder.path(&format!("out/{name}"));
    let (tile, configuration, writes) =
        (path("tile.yaml"), path("configuration/tile_0.yaml"), path("configuration/writes.hex"));
    assert_eq!(fs::read(path("buffer.yaml")).unwrap(), fs::read(root().join(BRIGHTEN_BLUR)).unwrap());
    assert_eq!(parsed(&fs::read_to_string(path("report.json")).unwrap())["name"], "brighten_blur");
    succeeds(&["check", "--tile", &tile, &configuration, &writes, &path("buffer.yaml")]);
    assert_eq!(succeeds(&["decode", &tile, &writes]).out, fs::read_to_string(&configuration).unwrap());
    assert_eq!(folder.files().len(), 6, "{:?}", folder.files().keys());

    let input = format!("0={}", folder.file("in.hex", stream(4096)));
    let shown = folder.path("out.hex");
    let said = succeeds(&["simulate", &tile, &configuration, "--input", &input, "--output", &format!("0={shown}")]);
    assert_eq!(said.out, "amber: 4160 cycles, words taken [4096, 0], words shown [4096, 0]\n");
    assert!(fs::read(&shown).unwrap() == stream(4096).as_bytes());

    // Several tiles: each has its window of addresses.
    let two = folder.path("two");
    let said = succeeds(&["map", "apps/buffers/gaussian.yaml", "--tile", "one_in_one_out", "-o", &two, "--json"]);
    let tiles = parsed(&said.out)["tiles"].as_array().unwrap().len();
    assert_eq!(tiles, 2);
    let text = fs::read_to_string(folder.path("two/configuration/writes.hex")).unwrap();
    let sections: Vec<&str> = text.split("// Register writes for the tile ").collect();
    assert_eq!(sections.len(), 1 + tiles);
    let first = |section: &str| section.lines().nth(1).unwrap()[..8].to_owned();
    assert!(first(sections[1]) == "00000000" && first(sections[2]) != "00000000", "{text}");
}

#[test]
fn map_tells_of_banks_and_copies() {
    let folder = Folder::new();
    let buffer = |reads: &str| {
        let head = "name: both\nports:\n  - {name: in, direction: write, domain: [{name: x, extent: 64}], \
                    access: [{stride: [1]}], schedule: {stride: [1]}}\n";
        folder.file("both.yaml", format!("{head}{reads}"))
    };
    let read = |name: &str, extent: u32, start: u32, stride: i32| {
        format!(
            "  - {{name: {name}, direction: read, domain: [{{name: x, extent: {extent}}}], \
             access: [{{start: {start}, stride: [{stride}]}}], schedule: {{start: 80, stride: [1]}}}}\n"
        )
    };
    let reported = |file: &str| {
        let arguments = ["map", file, "--tile", "one_in_one_out"];
        (succeeds(&arguments).out, parsed(&succeeds(&[&arguments[..], &["--json"]].concat()).out))
    };
    // Even and odd columns in a bank each.
    let (text, report) = reported(&buffer(&(read("even", 32, 0, 2) + &read("odd", 32, 1, 2))));
    assert!(text.contains("  cyclic banks           factors [2]\n  memories               2 of in\n"), "{text}");
    assert_eq!((&report["factors"], &report["copied"]), (&serde_json::json!([2]), &Value::Bool(false)));
    assert_eq!((&report["ports"][0]["memories"], &report["ports"][1]["memories"]), (&Value::from(2), &Value::Null));
    // All columns in two orders.
    let (text, report) = reported(&buffer(&(read("there", 64, 0, 1) + &read("back", 64, 63, -1))));
    let expected = "  memories               2 of in; some words are in several, for different reads\n";
    assert!(text.contains(expected) && !text.contains("cyclic banks           "), "{text}");
    assert_eq!((&report["factors"], &report["copied"]), (&Value::Null, &Value::Bool(true)));
    assert_eq!(report["ports"][0]["memories"], 2);
    // Neither is worth a line.
    let text = succeeds(&["map", BRIGHTEN_BLUR]).out;
    assert!(!text.contains("  memories "), "{text}");
}

#[test]
fn shipped_tiles_are_known_everywhere() {
    let folder = Folder::new();
    let buffer = root().join(BRIGHTEN_BLUR).canonicalize().unwrap();
    for entry in fs::read_dir(root().join("constraints/tiles")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        let mut command = pushmem(&["map", buffer.to_str().unwrap(), "--tile", &name]);
        let output = command.current_dir(folder.path("")).output().unwrap();
        assert!(!String::from_utf8_lossy(&output.stderr).contains("no tile"), "{name}");
    }
}

#[test]
fn shipped_arrays_are_known_everywhere() {
    let folder = Folder::new();
    for entry in fs::read_dir(root().join("constraints/arrays")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        let file = folder.file("configuration.yaml", format!("array: {name}\n"));
        let output = pushmem(&["check", &file]).current_dir(folder.path("")).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let file = folder.file("configuration.yaml", "array: nothing\n");
    let said = fails(&["check", &file]);
    assert!(said.err.contains("the specification of the array `nothing` is neither in"), "{}", said.err);
}

/// A configuration, its bitstream, and back; a package; and what is refused.
#[test]
fn the_configuration_port_of_a_tile_has_a_bus() {
    let folder = Folder::new();
    let out = folder.path("out");
    succeeds(&["generate", SMALL, "-o", &out, "--bus", "apb", "--package", "--prefix", "v1_"]);
    let read = |path: &str| fs::read_to_string(folder.path(&format!("out/{path}"))).unwrap();
    let list = read("filelist.f");
    let modules: Vec<&str> = list.lines().filter(|line| !line.starts_with('+')).collect();
    assert_eq!(modules.last(), Some(&"rtl/v1_small_tile_apb.sv"));
    assert!(modules.contains(&"rtl/v1_small_tile.sv") && modules.contains(&"rtl/v1_pushmem_apb.sv"), "{list}");
    assert!(modules.iter().all(|path| read(path).contains(&format!(" v1_{}", &path[7..path.len() - 3]))), "{list}");
    assert!(read("small.core").contains("toplevel: v1_small_tile_apb"));
    assert!(read("small.xml").contains("<ipxact:name>s_apb_config</ipxact:name>"));
    for (spec, message, help) in [
        ("amber_pe", "`amber_pe` has no configuration port", "leave out `--bus`"),
        ("constraints/arrays/small.yaml", "array `small` has addresses of words", "--array ARRAY --bus axi"),
    ] {
        let refused = fails(&["generate", spec, "-o", &folder.path("other"), "--bus", "axi-lite"]);
        assert!(refused.err.contains(message) && refused.err.contains(help), "{}", refused.err);
    }
}

#[test]
fn arrays_have_bitstreams() {
    let folder = Folder::new();
    let (array, gaussian) = ("constraints/arrays/small.yaml", "rtl-tests/arrays/gaussian.yaml");
    let (bits, text) = (folder.path("gaussian.hex"), folder.path("gaussian.yaml"));
    succeeds(&["encode", array, gaussian, "-o", &bits]);
    succeeds(&["decode", array, &bits, "-o", &text]);
    let again = succeeds(&["encode", array, &text]).out;
    assert_eq!(again, fs::read_to_string(&bits).unwrap());
    let netlist = succeeds(&["decode", array, &bits, "--netlist"]).out;
    assert!(netlist.contains("pe_1_1.word.b.input <- 4 <- io_0_0.word.data.output\n"), "{netlist}");
    let other = fails(&["decode", "constraints/arrays/amber.yaml", &bits]);
    assert!(other.err.contains("this bitstream was made for another array"), "{}", other.err);
    succeeds(&["generate", array, "--package", "-o", &folder.path("out")]);
    fs::metadata(folder.path("out/small.sdc")).unwrap();
    let columns = succeeds(&["encode", array, gaussian, "--columns", "0,1-3"]).out;
    let cleared: Vec<&str> = columns.lines().filter(|line| line.starts_with("ff")).collect();
    assert_eq!(cleared[1..], ["ff000001 00000000", "ff010001 00000000", "ff020001 00000000", "ff030001 00000000"]);
    for (code, columns, message) in [
        (1, "0,2-3", "`pe_1_1` is in column 1, which is not to be loaded"),
        (1, "0-4", "`small` has no column 4"),
        (2, "2-1", "`2-1` is neither the number of a column nor a range of them"),
        (2, "x", "`x` is neither the number of a column nor a range of them"),
    ] {
        let refused = ends(code, &mut pushmem(&["encode", array, gaussian, "--columns", columns]));
        assert!(refused.err.contains(message), "{}", refused.err);
    }
    let tile = fails(&["encode", SMALL, GAUSSIAN, "--columns", "0"]);
    assert!(tile.err.contains("--columns needs the specification of an array"), "{}", tile.err);
    let tile = fails(&["decode", SMALL, &bits, "--netlist"]);
    assert!(tile.err.contains("--netlist needs the specification of an array"), "{}", tile.err);
    let configuration = fails(&["encode", array, "rtl-tests/configurations/gaussian.yaml"]);
    assert!(
        configuration.err.contains("this is a tile configuration, not a configuration of an array"),
        "{}",
        configuration.err
    );
}

/// Buffer file, options, what is wrong.
#[test]
fn map_says_why_not() {
    let folder = Folder::new();
    let buffer = fs::read_to_string(root().join(BRIGHTEN_BLUR)).unwrap();
    let refused = |from: &str, to: &str, options: &[&str], messages: &[&str]| {
        assert!(buffer.contains(from), "{from}");
        let file = folder.file("b.yaml", buffer.replace(from, to));
        let out = folder.path("out");
        let said = fails(&[&["map", &file, "-o", &out], options].concat());
        for message in messages {
            assert!(said.err.contains(message), "{message:?} is not in {:?}", said.err);
        }
        assert_eq!(said.out, "");
        assert!(!Path::new(&out).exists());
    };
    refused("extent: 64", "extend: 64", &[], &["unknown key `extend`", "b.yaml:7:"]);
    refused(
        "[1, 64]",
        "[1, 63]",
        &[],
        &[
            "63y + x starts the next iteration of `y` after 63 cycles, and the loops inside take 64",
            "b.yaml:9:15",
            "one word a cycle",
        ],
    );
    refused(
        "direction: read",
        "direction: write",
        &[],
        &["no port of the buffer has the direction `read`", "b.yaml:4:1"],
    );
    let early = [
        "port out has no mapping to amber tiles",
        "cycles before its row can be there",
        "b.yaml:10:11",
        "let the port read later",
    ];
    refused("start: 64", "start: 5", &[], &early);
    refused("start: 64", "start: 5", &["--json"], &early);
    refused(
        "stride: [0, 1]}]\n    schedule: {start: 64",
        "stride: [0, 1], start: 1}]\n    schedule: {start: 128",
        &[],
        &["it reads elements 1 to 64 of dimension 1, and only 0 to 63 are written"],
    );
    refused("64", "64", &["--tile", "rom"], &["rom tiles hold constants", "--tile"]);
    refused(
        "64",
        "64",
        &["--tile", "nosuch"],
        &[
            "there is no file and no tile `nosuch`",
            "one of amber, amber_long, amber_long_rom, amber_modes, amber_rom, dual_port",
        ],
    );
    let second = "  - {name: b, direction: write, domain: [{name: x, extent: 64}], access: [{stride: [1]}, {stride: [0]}], \
                  schedule: {start: 20, stride: [1]}}\n  - name: out\n";
    let inputs = ["2 ports write the same words (in, b), and a fetch2 tile has 1 input", "an input of the tile each"];
    refused("  - name: out\n", second, &["--tile", "fetch2"], &inputs);
}

/// A reader that goes away early, as `head` does, is no error.
#[test]
fn closed_pipes_are_no_faults() {
    let closed = || {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        writer
    };
    for arguments in [&["encode", AMBER, GAUSSIAN] as &[&str], &["doctor"], &["check", AMBER], &["--help"]] {
        let said = ends(0, pushmem(arguments).stdout(closed()));
        assert_eq!(said.err, "", "{arguments:?}");
    }
    ends(1, pushmem(&["check", "nowhere.yaml"]).stderr(closed()));
    ends(2, pushmem(&["genrate"]).stderr(closed()));
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

#[test]
fn json_can_be_parsed() {
    let report = parsed(&succeeds(&["simulate", SMALL, DELAY_9, "--json"]).out);
    assert_eq!(report["cycles"], 41);
    assert_eq!(report["words_taken"], serde_json::json!([32, 0]));
    assert_eq!(report["words_shown"], serde_json::json!([32, 0]));
    assert_eq!((&report["rtl_compared"], &report["violations"]), (&Value::Bool(false), &serde_json::json!([])));
    let report = parsed(&fails(&["simulate", SMALL, BROKEN, "--json"]).out);
    assert!(report["violations"][0].as_str().is_some_and(|first| first.starts_with("cycle 0: ")), "{report}");
    let names = parsed(&succeeds(&["doctor", "--json"]).out);
    let names: Vec<_> = names["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    let [simulation, others] = [
        ["verilator", "g++", "python3", "yosys", "sta"],
        ["vcd2fst", "nextpnr-ecp5", "nextpnr-gowin", "halide", "chromium"],
    ];
    assert_eq!(names, [simulation, others].concat());
}

#[test]
fn simulate_compares_with_the_rtl() {
    if verilator().is_none() {
        return;
    }
    let said = succeeds(&["simulate", SMALL, DELAY_9, "--rtl", "--json", "--stall-seed", "1"]);
    let report = parsed(&said.out);
    assert_eq!((&report["rtl_compared"], &report["cycles"]), (&Value::Bool(true), &Value::from(41)));

    // The configurations of `map` run on the RTL, too.
    let folder = Folder::new();
    let out = folder.path("out");
    succeeds(&["map", "apps/buffers/downsample.yaml", "--tile", SMALL, "-o", &out]);
    let file = |name: &str| folder.path(&format!("out/{name}"));
    let (input, shown) = (format!("0={}", folder.file("in.hex", stream(64))), folder.path("out.hex"));
    let (tile, configuration, output) = (file("tile.yaml"), file("configuration/tile_0.yaml"), format!("0={shown}"));
    let said = succeeds(&["simulate", &tile, &configuration, "--rtl", "--input", &input, "--output", &output]);
    assert_eq!(
        said.out,
        "small: 71 cycles, words taken [64, 0], words shown [16, 0], RTL and model agree in every cycle\n"
    );
    let image = stream(64);
    let image: Vec<&str> = image.lines().collect();
    let every_second = (0..64).filter(|place| place % 2 == 0 && place / 8 % 2 == 0);
    let expected: String = every_second.map(|place| format!("{}\n", image[place])).collect();
    assert_eq!(fs::read_to_string(&shown).unwrap(), expected);
}

const BLUR: &str = "apps/brighten_blur.yaml";

#[test]
fn build_writes_an_accelerator() {
    let folder = Folder::new();
    let out = folder.path("blur");
    let said = succeeds(&["build", BLUR, "-o", &out]);
    assert!(said.out.contains("cycles") && said.out.contains("computes what the interpreter computes"), "{}", said.out);
    let written = files(Path::new(&out));
    for name in [
        "rtl/brighten_blur.sv",
        "configuration/writes.hex",
        "brighten_blur.h",
        "Makefile",
        "report.json",
        "report.html",
    ] {
        assert!(written.contains_key(&Path::new(&out).join(name)), "{name}");
    }
    // The same to the byte, also over what `make` leaves behind.
    fs::create_dir_all(Path::new(&out).join("build")).unwrap();
    fs::write(Path::new(&out).join("build/model.o"), "made").unwrap();
    succeeds(&["build", BLUR, "-o", &out]);
    assert_eq!(files(Path::new(&out)), written);
    // The written files are a program and a specification.
    succeeds(&["build", &format!("{out}/program.yaml"), "--tile", &format!("{out}/tile.yaml")]);
    succeeds(&["compare", &out, "--no-rtl"]);
}

/// A constant, and a word of an input as it is, go to a random-access memory without a kernel.
#[test]
fn memories_take_words_without_kernels() {
    let folder = Folder::new();
    let program = folder.file(
        "plain.yaml",
        "name: plain
inputs: {k: {type: u8, shape: [8]}, m: {type: u16, shape: [8]}}
outputs: {output: {type: u16, shape: [8]}}
buffers: {o: {type: u16, shape: [8]}}
nest:
  - for x in 0..8:
    - o[x] = 7
  - for x in 0..8:
    - o[k[x] % 8] += 1
  - for x in 0..8:
    - o[3] = m[x]
  - for x in 0..8:
    - output[x] = o[x]
",
    );
    succeeds(&["build", &program, "-o", &folder.path("plain")]);
}

/// RTL that differs from the interpreter is no wrong input: the exit code says so, and the message tells what may be wrong.
#[test]
fn rtl_that_differs_is_a_fault() {
    if parsed(&succeeds(&["doctor", "--json"]).out)["tools"][0]["version"].is_null() {
        assert!(std::env::var_os("PUSHMEM_ALL_TOOLS").is_none(), "there is no Verilator");
        return;
    }
    let folder = Folder::new();
    let out = folder.path("blur");
    succeeds(&["build", BLUR, "-o", &out]);
    let kernel = folder.path("blur/rtl/brighten_blur_brighten.sv");
    let right = fs::read_to_string(&kernel).unwrap();
    let wrong = right.replace("input_x_y_i << 1", "input_x_y_i << 2");
    assert_ne!(right, wrong);
    fs::write(&kernel, wrong).unwrap();
    let said = ends(3, &mut pushmem(&["compare", &out]));
    assert!(said.err.contains("unless files of the folder were changed, this is a fault of pushmem"), "{}", said.err);
    fs::write(&kernel, right).unwrap();
    succeeds(&["compare", &out]);
}

#[test]
fn build_writes_a_shell_for_a_bus() {
    let folder = Folder::new();
    let out = folder.path("blur");
    succeeds(&["build", BLUR, "-o", &out, "--bus", "axis", "--prefix", "v1_"]);
    let written = files(Path::new(&out));
    let text = |name: &str| written.get(&Path::new(&out).join(name)).unwrap_or_else(|| panic!("no {name}")).clone();
    let list = fs::read_to_string(Path::new(&out).join("filelist.f")).unwrap();
    assert!(
        list.lines().filter(|line| !line.starts_with('+')).all(|line| Path::new(&out).join(line).is_file()),
        "{list}"
    );
    assert!(list.ends_with("rtl/v1_brighten_blur_axis.sv\n"), "{list}");
    for name in ["kernel.xml", "brighten_blur_axis.core", "brighten_blur_axis.xml", "brighten_blur_axis_registers.h"] {
        assert!(!text(name).is_empty());
    }
    succeeds(&["build", BLUR, "-o", &out, "--bus", "axis", "--prefix", "v1_"]);
    assert_eq!(files(Path::new(&out)), written);
    // A shell is a part of the folder.
    ends(2, &mut pushmem(&["build", BLUR, "--bus", "axis"]));
}

/// An element of 32 bits is two words for the driver in C, and one element for the host in Python and the plan of tiles.
#[test]
fn a_host_has_elements_of_the_type_of_the_program() {
    let folder = Folder::new();
    let program = "name: wide\ninputs: {c: {type: u32, shape: [8, 4]}, one: {type: i32, shape: [1]}, half: {type: f16, shape: [8]}}\n\
        outputs: {o: {type: i32, shape: [8, 4]}, h: {type: f16, shape: [8]}}\nnest:\n\
        - for y in 0..4:\n  - for x in 0..8:\n    - o[x, y] = (c[x, y] as i32) + one[0]\n\
        - for x in 0..8:\n  - h[x] = half[x]\n";
    let (program, out) = (folder.file("wide.yaml", program), folder.path("wide"));
    succeeds(&["build", &program, "-o", &out, "--bus", "axi"]);
    let host = fs::read_to_string(Path::new(&out).join("driver/wide_axi_host.py")).unwrap();
    for image in [
        "\"c\": (False, \"u32\", [8, 4])",
        "\"one\": (False, \"i32\", [1])",
        "\"half\": (False, \"f16\", [8])",
        "\"o\": (True, \"i32\", [8, 4])",
        "\"h\": (True, \"f16\", [8])",
    ] {
        assert!(host.contains(image), "{image}: {host}");
    }
    let types = host.lines().find(|line| line.starts_with("TYPES = ")).unwrap();
    assert!(["u8", "i8", "u16", "i16", "u32", "i32", "bf16", "f16"].iter().all(|name| types.contains(name)), "{types}");
    let pointwise = "name: sums\ninputs: {c: {type: u32, shape: [8, 4]}}\noutputs: {o: {type: u32, shape: [8, 4]}}\nnest:\n\
        - for y in 0..4:\n  - for x in 0..8:\n    - o[x, y] = c[x, y] + 1\n";
    let (program, out) = (folder.file("sums.yaml", pointwise), folder.path("sums"));
    succeeds(&["build", &program, "-o", &out, "--bus", "axi", "--image-size", "16x8"]);
    let plan = parsed(&fs::read_to_string(Path::new(&out).join("tiles.json")).unwrap());
    assert_eq!(plan["images"][0]["type"], "u32", "{plan}");
    assert_eq!(plan["images"][0]["size"], serde_json::json!([16, 8]), "{plan}");
}

#[test]
fn build_writes_a_shell_with_images_and_its_driver() {
    let folder = Folder::new();
    let out = folder.path("blur");
    succeeds(&["build", BLUR, "-o", &out, "--bus", "axi", "--bus-width", "128", "--prefix", "v1_"]);
    let text = |name: &str| fs::read_to_string(Path::new(&out).join(name)).unwrap_or_else(|_| panic!("no {name}"));
    assert!(text("filelist.f").ends_with("rtl/v1_brighten_blur_axi.sv\n"));
    assert!(text("kernel.xml").contains("name=\"m_axi_input\" mode=\"master\""));
    // The driver's files have the names that they include.
    assert!(text("driver/brighten_blur_axi_driver.c").contains("#include \"../brighten_blur.h\""));
    assert!(!text("brighten_blur.h").is_empty());
    // Options that no bus has.
    let wide = fails(&["build", BLUR, "-o", &out, "--bus", "axi", "--bus-width", "1024", "--bus-burst", "64"]);
    assert!(wide.err.contains("8192 bytes: AXI4 allows 4096") && wide.err.contains("--bus-burst 32"), "{}", wide.err);
    let streams = fails(&["build", BLUR, "-o", &out, "--bus", "axis", "--bus-width", "128"]);
    assert!(streams.err.contains("choose `--bus axi`"), "{}", streams.err);
    ends(2, &mut pushmem(&["build", BLUR, "-o", &out, "--bus", "axi", "--bus-width", "48"]));
}

/// The shell of an array is the same for each program that fits it.
#[test]
fn build_writes_a_shell_for_an_array() {
    let folder = Folder::new();
    let (blur, point) = (folder.path("blur"), folder.path("point"));
    let streams = ["--array", "small", "--bus", "axi", "--bus-readers", "1", "--bus-writers", "2"];
    succeeds(&[&["build", BLUR, "-o", &blur], &streams[..]].concat());
    succeeds(&[&["build", "apps/pointwise.yaml", "-o", &point], &streams[..]].concat());
    let text =
        |out: &str, name: &str| fs::read_to_string(Path::new(out).join(name)).unwrap_or_else(|_| panic!("no {name}"));
    let list = text(&blur, "filelist.f");
    assert!(list.ends_with("rtl/small_axi.sv\n"), "{list}");
    for name in list.lines().filter(|line| !line.starts_with('+')).chain(["driver/small_axi_driver.c", "kernel.xml"]) {
        assert_eq!(text(&blur, name), text(&point, name), "{name}");
    }
    assert_ne!(text(&blur, "configuration/writes.hex"), text(&point, "configuration/writes.hex"));
    assert!(text(&blur, "driver/brighten_blur_program.c").contains("brighten_blur_program = {"));
    // Streams that the shell lacks, or the array.
    let two = folder.file("two.yaml", TWO_INPUTS);
    let few = fails(&[&["build", &two, "-o", &folder.path("two")], &streams[..]].concat());
    assert!(few.err.contains("2 streams into the array") && few.err.contains("`--bus-readers 2`"), "{}", few.err);
    // At the image that has none, before anything is said of the build.
    assert!(few.err.contains("two.yaml:3:43") && few.out.is_empty(), "{}{}", few.out, few.err);
    let many = fails(&["build", BLUR, "-o", &blur, "--array", "small", "--bus", "axi", "--bus-readers", "5"]);
    assert!(many.err.contains("`--bus-readers 5` is more than the 4 columns") && many.out.is_empty(), "{}", many.err);
    // A global buffer has a subordinate in place of managers, and no streams.
    let buffered = |options: &[&str]| {
        let build = ["build", BLUR, "-o", &blur, "--array", "small_buffered"];
        fails(&[&build, options].concat()).err
    };
    let streams = buffered(&["--bus", "axis"]);
    assert!(
        streams.contains("`small_buffered` has a global buffer") && streams.contains("choose `--bus axi`"),
        "{streams}"
    );
    let width = buffered(&["--bus", "axi", "--bus-width", "32"]);
    assert!(width.contains("`--bus-width`") && width.contains("leave the option out"), "{width}");
    let both = ["--array", "amber", "--bus", "axis", "--bus-readers", "20", "--bus-writers", "20"];
    let both = fails(&[&["build", BLUR, "-o", &blur], &both[..]].concat());
    assert!(both.err.contains("32 of both together") && both.out.is_empty(), "{}", both.err);
    ends(2, &mut pushmem(&["build", BLUR, "-o", &blur, "--bus", "axi", "--bus-readers", "1"]));
    let programs = ["build", BLUR, "apps/pointwise.yaml", "-o", &blur, "--array", "amber", "--bus", "axi"];
    assert!(fails(&programs).err.contains("a shell for a bus belongs to one program"));
}

/// The block that a chip uses is the top of every file of the package, with its registers and those of tiles in its window.
#[test]
fn packages_are_of_the_shell() {
    let folder = Folder::new();
    let out = folder.path("blur");
    let timing = folder.file("timing.yaml", "configuration_cycles: 2\n");
    let text = |name: &str| fs::read_to_string(Path::new(&out).join(name)).unwrap_or_else(|_| panic!("no {name}"));
    succeeds(&["build", BLUR, "-o", &out, "--bus", "axi", "--package", "--timing", &timing]);
    let shell = "brighten_blur_axi";
    assert!(
        text("config.json").contains("\"DESIGN_NAME\": \"brighten_blur_axi\"")
            && text("config.json").contains("ap_clk")
    );
    for file in
        ["Bender.yml", "filelist.f", "filelist_synthesis.f", "config.mk", "synthesis.tcl", &format!("{shell}.core")]
    {
        assert!(text(file).contains(&format!("rtl/{shell}.sv")), "{file}");
    }
    let constraints = text(&format!("{shell}.sdc"));
    assert!(constraints.contains("create_clock -name clk -period 5.0 [get_ports ap_clk]"), "{constraints}");
    assert!(constraints.contains("_memory/u_registers}") && constraints.contains("{u_accelerator/u_"), "{constraints}");
    let core = text(&format!("{shell}.core"));
    assert!(["\n  lint:", "\n  sim:", "\n  synth:"].iter().all(|target| core.contains(target)), "{core}");
    let registers = text("registers.rdl");
    assert!(
        registers.contains("addrmap brighten_blur_axi_map {") && registers.contains("_memory @ 0x1000;"),
        "{registers}"
    );
    // The same of an array, whose shell is in the folder of a program; without a shell there is no block for a chip.
    let array = ["build", BLUR, "-o", &out, "--array", "small", "--package"];
    succeeds(&[&array[..], &["--bus", "axis"]].concat());
    assert!(
        text("small_axis.sdc").contains("[get_ports ap_clk]")
            && text("rtl/small_rom_tile.sv").contains("small_rom_sram #(")
    );
    let refused = fails(&array);
    assert!(
        refused.err.contains("no block of `small`") && refused.err.contains("generate ARRAY --package"),
        "{}",
        refused.err
    );
}

/// Modules of one name have one text in all folders, those around memories in macros, too; where they differ, nothing is written.
#[test]
fn blocks_of_a_chip_share_their_modules() {
    let folder = Folder::new();
    let [blur, curve, plain, chip] = ["blur", "curve", "plain", "chip"].map(|name| folder.path(name));
    succeeds(&["build", BLUR, "-o", &blur, "--bus", "axi", "--package"]);
    // A tile of another kind.
    succeeds(&["build", "apps/camera_pipeline.yaml", "-o", &curve, "--bus", "axis", "--package"]);
    let said = succeeds(&["join", &blur, &curve, "-o", &chip, "--json"]).out;
    assert!(said.contains("\"shared\""), "{said}");
    for list in ["filelist.f", "filelist_synthesis.f"] {
        let text = fs::read_to_string(Path::new(&chip).join(list)).unwrap();
        let paths: Vec<&str> = text.lines().filter(|line| !line.starts_with('+')).collect();
        let modules = paths.iter().map(|path| Path::new(path).file_stem().unwrap().to_str().unwrap());
        let modules: std::collections::BTreeSet<&str> = modules.collect();
        assert_eq!(modules.len(), paths.len(), "{text}");
        for module in ["amber_sram", "rom_sram", "amber_tile", "brighten_blur_axi", "camera_pipeline_axis"] {
            assert!(modules.contains(module), "{module} in {text}");
        }
        assert!(paths.iter().all(|path| Path::new(&chip).join(path).is_file()), "{text}");
    }
    succeeds(&["build", BLUR, "-o", &plain, "--bus", "axi"]);
    let other = folder.path("other");
    let bare = fails(&["join", &blur, &plain, "-o", &other]);
    assert!(
        bare.err.contains("`rtl/amber_tile.sv` of") && bare.err.contains("two modules of one name"),
        "{}",
        bare.err
    );
    assert!(!Path::new(&other).exists());
    ends(2, &mut pushmem(&["join", &blur, "-o", &other]));

    // A tile with other names has a header of its own.
    let named = folder.path("named");
    succeeds(&["generate", "constraints/tiles/small.yaml", "-o", &named, "--prefix", "v1_"]);
    succeeds(&["join", &named, &plain, "-o", &other]);
    for file in ["v1_pushmem_assert.svh", "v1_small_tile.sv", "pushmem_assert.svh", "amber_tile.sv"] {
        assert!(Path::new(&other).join("rtl").join(file).is_file(), "{file}");
    }
}

/// The targets of a core are of the block that a chip uses.
#[test]
fn targets_of_a_shell_have_the_shell() {
    let folder = Folder::new();
    let out = folder.path("out");
    succeeds(&["build", BLUR, "-o", &out, "--bus", "axi", "--package"]);
    let core = fs::read_to_string(Path::new(&out).join("brighten_blur_axi.core")).unwrap();
    let tops: Vec<&str> = core.lines().filter_map(|line| line.trim().strip_prefix("toplevel: ")).collect();
    assert_eq!(tops, ["brighten_blur_axi"], "{core}");
}

const TWO_INPUTS: &str = "
name: two
inputs: {one: {type: u16, shape: [8, 8]}, other: {type: u16, shape: [8, 8]}}
outputs: {output: {type: u16, shape: [8, 8]}}
nest:
  - for y in 0..8:
    - for x in 0..8:
      - output[x, y] = one[x, y] + other[x, y]
";

#[test]
fn build_plans_the_tiles_of_an_image() {
    let folder = Folder::new();
    let out = folder.path("blur");
    let build = |image: &str, bus: &str| pushmem(&["build", BLUR, "-o", &out, "--bus", bus, "--image-size", image]);
    let said = ends(0, &mut build("100x63", "axi"));
    assert!(said.out.contains("2 of 63 x 63; 2 of them in the model"), "{}", said.out);
    let plan = fs::read_to_string(Path::new(&out).join("tiles.json")).unwrap();
    assert!(plan.contains("\"tiles\":[{\"offsets\":[[0,0],[0,0]]},{\"offsets\":[[37,0],[37,0]]}]"), "{plan}");
    assert!(Path::new(&out).join("driver/brighten_blur_axi_tiles.c").is_file());
    assert!(ends(1, &mut build("100x63", "axis")).err.contains("choose `--bus axi`"));
    assert!(ends(1, &mut build("100", "axi")).err.contains("has 1 dimensions"));
    assert!(ends(2, &mut build("100by63", "axi")).err.contains("`100by63` is no size"));
    ends(2, &mut pushmem(&["build", BLUR, "--image-size", "100x63"]));
    // The former name.
    let said = ends(0, &mut pushmem(&["build", BLUR, "-o", &out, "--bus", "axi", "--image", "100x63"]));
    assert!(
        said.out.contains("2 of 63 x 63") && said.err.contains("`build --image` is called `--image-size` now"),
        "{}",
        said.err
    );
}

#[test]
fn build_runs_images() {
    let folder = Folder::new();
    let input: String = (0..64 * 64).map(|word| format!("{word:04x}\n")).collect();
    let input = folder.file("input.hex", input);
    let (hex, npy) = (folder.path("blur.hex"), folder.path("blur.npy"));
    let (from, to) = (format!("input={input}"), format!("blur={hex}"));
    succeeds(&["build", BLUR, "--input", &from, "--output", &to]);
    let words: Vec<u32> =
        fs::read_to_string(&hex).unwrap().lines().map(|line| u32::from_str_radix(line, 16).unwrap()).collect();
    assert_eq!(words.len(), 63 * 63);
    // Four neighbours twice as bright, divided by 4: twice their mean.
    assert_eq!(&words[..2], [65, 67]);
    succeeds(&["build", BLUR, "--input", &from, "--output", &format!("blur={npy}")]);
    assert!(Path::new(&npy).is_file());

    // Where there is one array, it needs no name; and `run` takes images by the same option.
    let same = folder.path("same.hex");
    succeeds(&["build", BLUR, "--input", &input, "--output", &same]);
    assert_eq!(fs::read(&same).unwrap(), fs::read(&hex).unwrap());
    for (option, renamed) in [("--input", ""), ("--image", "`run --image` is called `--input` now")] {
        fs::remove_file(&same).unwrap();
        let said = succeeds(&["run", BLUR, option, &input, "-o", &same]);
        assert!(said.err.contains(renamed) && said.err.is_empty() == renamed.is_empty(), "{}", said.err);
        assert_eq!(fs::read(&same).unwrap(), fs::read(&hex).unwrap());
    }
    let two = folder.file("two.yaml", TWO_INPUTS);
    let said = fails(&["build", &two, "--input", &input]);
    assert!(
        said.err.contains("`two` has 2 inputs, and") && said.err.contains("with one of one, other"),
        "{}",
        said.err
    );

    let misspelt = fails(&["build", BLUR, "--input", &format!("inptu={input}")]);
    assert!(misspelt.err.contains("has no input `inptu`") && misspelt.err.contains("`input`"), "{}", misspelt.err);
    let short = folder.file("short.hex", "0001\n");
    let said = fails(&["build", BLUR, "--input", &format!("input={short}"), "--output", &format!("blur={npy}x.npy")]);
    assert!(said.err.contains("short.hex"), "{}", said.err);
    assert!(!Path::new(&format!("{npy}x.npy")).exists());
}

/// A pipeline of Halide has other loops to try, on an array as well as without one, and a nest has none.
#[test]
fn run_computes_images_on_an_array() {
    let folder = Folder::new();
    let output = folder.path("output.npy");
    for program in [BLUR, "generator/program/halide/tests/pipelines/same_padding.hlpipe"] {
        let said = succeeds(&["run", program, "--array", "amber", "-o", &output]);
        assert!(said.out.contains("computes what the interpreter computes"), "{}", said.out);
        assert!(Path::new(&output).exists());
        fs::remove_file(&output).unwrap();
    }
}

/// An output that cannot be written is refused before anything is.
#[test]
fn build_writes_nothing_when_an_output_cannot_be() {
    let folder = Folder::new();
    let out = folder.path("out");
    let good = format!("blur={}", folder.path("good.npy"));
    let input = folder.file("input.hex", "0001\n".repeat(64 * 64));
    for (bad, message) in [
        (format!("blur={}", folder.path("bad.ppm")), "it is grey, and a `.ppm` file is in colour"),
        (format!("blur={}", folder.path("bad.bmp")), "does not end in the name of a known format"),
        (format!("blrr={}", folder.path("bad.npy")), "has no output `blrr`"),
        (good.clone(), "two outputs are written to"),
        (format!("blur={input}"), "is also an input"),
    ] {
        let from = format!("input={input}");
        let said = fails(&["build", BLUR, "-o", &out, "--input", &from, "--output", &good, "--output", &bad]);
        assert!(said.err.contains(message), "{}", said.err);
        assert_eq!(folder.files().len(), 1, "{:?}", folder.files().keys());
    }
}

/// Files given to the wrong command, and options without an effect.
#[test]
fn the_right_command_is_named() {
    let folder = Folder::new();
    let statement = folder.file("blur.txt", "// input: u16[4]\nmodule name=blur, target=x86-64\n{\n");
    let named = folder.file("blur.stmt", "// input: u16[4]\nmodule name=blur, target=x86-64\n{\n");
    let python = folder.file("blur.py", "import halide as hl\nx = hl.Var(\"x\")\n");
    let image = folder.file("photo.pgm", "P2 1 1 255 7\n");
    let binary = folder.file("program", b"\x7fELF\0\0\xff");
    let configuration = GAUSSIAN;
    let out = folder.path("out");
    let compiles = "`pushmem build` compiles it, and simulates it with --rtl";
    let runs = "`pushmem simulate SPEC CONFIGURATION` runs it";
    for (arguments, is, help) in [
        (&["build", BRIGHTEN_BLUR][..], "a buffer, not a program", "`pushmem map` maps it to tiles"),
        (&["build", AMBER], "a tile specification, not a program", "`pushmem generate` writes its RTL"),
        (&["build", configuration], "a tile configuration, not a program", runs),
        (&["build", &statement], "a lowered statement of Halide, not a program", "halide.serialize_pipeline"),
        (
            &["import", "halide", &named],
            "a lowered statement of Halide, not a pipeline of Halide",
            "write the pipeline before",
        ),
        (&["build", &python], "a Python script, not a program", "`pushmem build` takes the *.hlpipe that it writes"),
        (&["build", &image], "an image, not a program", "`pushmem run PROGRAM --input FILE` runs"),
        (&["build", &binary], "a binary file, not a program", "check the name"),
        (&["build", BLUR, "--tile", BLUR], "a program, not a tile specification", compiles),
        (&["build", BLUR, "--tile", configuration], "a tile configuration, not a tile specification", runs),
        (&["map", BLUR], "a program, not a buffer", compiles),
        (&["generate", BLUR, "-o", &out], "a program, not a tile specification", compiles),
        (&["generate", &named, "-o", &out], "a lowered statement of Halide, not a tile", "halide.serialize_pipeline"),
        (
            &["generate", AMBER, "-o", &out, "--package", "--timing", AMBER],
            "not a file of timing constraints",
            "generate",
        ),
        (
            &["generate", AMBER, "-o", &out, "--sram", &format!("amber={AMBER}")],
            "not a binding of an SRAM macro",
            "generate",
        ),
        (&["simulate", BLUR, BLUR], "a program, not a tile specification", compiles),
        (&["simulate", AMBER, BLUR], "a program, not a tile configuration", compiles),
        (&["simulate", AMBER, AMBER], "a tile specification, not a tile configuration", "`pushmem generate`"),
        (
            &["simulate", AMBER, configuration, "--input", &format!("0={image}")],
            "an image, not a file of words",
            "`pushmem run PROGRAM",
        ),
        (&["encode", AMBER, BLUR], "a program, not a tile configuration", compiles),
        (&["decode", AMBER, configuration], "a tile configuration, not a file of words", runs),
        (&["import", "halide", BLUR], "a program, not a pipeline of Halide", compiles),
        (&["synth", configuration], "a tile configuration, not a program or a tile specification", runs),
        (&["check", &image], "is an image", "`pushmem run PROGRAM --input FILE` runs"),
    ] {
        let said = fails(arguments);
        assert!(said.err.contains(is), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(help), "{arguments:?}: {}", said.err);
    }
    assert!(!Path::new(&out).exists());
    // A key of another kind does not hide what a file is.
    let both = folder.file("both.yaml", "name: both\nkind: image\nnest: []\n");
    let said = fails(&["build", &both]);
    assert!(said.err.contains("unknown key `kind`"), "{}", said.err);
    // Nor is a file read twice that can be read only once.
    let piped = Command::new("bash")
        .args(["-c", &format!("{} check <(cat {BLUR})", env!("CARGO_BIN_EXE_pushmem"))])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(piped.status.success(), "{piped:?}");
    let said = ends(2, &mut pushmem(&["simulate", BLUR]));
    assert!(said.err.contains("CONFIGURATION"), "{}", said.err);
    assert!(succeeds(&["simulate", "--help"]).out.contains("A program is simulated by `pushmem build PROGRAM --rtl`"));
    let said = fails(&["build", BLUR, "--tile", "rom"]);
    assert!(said.err.contains("rom tiles hold constants"), "{}", said.err);
    let said = fails(&["compare", &folder.path("nosuch")]);
    assert!(said.err.contains("is not the folder of an accelerator") && said.err.contains("-o FOLDER"), "{}", said.err);
    let said = ends(2, &mut pushmem(&["build", BLUR, "--emit", "schedule", "-o", &folder.path("out")]));
    assert!(said.err.contains("cannot be used with"), "{}", said.err);
}

/// An array that is named as a part of another would be keeps its name.
#[test]
fn streams_have_the_names_of_their_arrays() {
    let folder = Folder::new();
    let program = folder.file(
        "parts.yaml",
        "name: parts\ninputs: {a: {type: u16, shape: [16]}}\n\
         outputs: {o: {type: u16, shape: [16]}, o_0: {type: u16, shape: [16]}}\n\
         nest:\n  - for x in 0..8:\n    - o[x] = a[x] + 1\n  - for x in 0..8:\n    - o[x + 8] = a[x + 8] + 2\n\
         \x20 - for x in 0..16:\n    - o_0[x] = a[x] + 3\n",
    );
    let mapping = succeeds(&["build", &program, "--emit", "mapping"]).out;
    let streams: Vec<&str> = mapping.lines().filter(|line| line.starts_with("output stream")).collect();
    assert_eq!(streams, ["output stream o_1: o_1", "output stream o_2: o_2", "output stream o_0: o_0"]);
    let out = folder.path("out");
    succeeds(&["build", &program, "-o", &out]);
    for name in ["o_0", "o_1", "o_2"] {
        assert!(Path::new(&format!("{out}/testbench/{name}.expected.hex")).is_file(), "{name}");
    }
}

#[test]
fn build_says_what_cannot_be_built() {
    let folder = Folder::new();
    let far = folder.file(
        "far.yaml",
        "name: far\ninputs: {input: {type: u16, shape: [64, 64]}}\noutputs: {output: {type: u16, shape: [64, 64]}}\n\
         nest:\n  - for y in 0..64:\n    - for x in 0..64:\n      - output[x, y] = input[x, y + 1]\n",
    );
    let said = fails(&["build", &far, "-o", &folder.path("out")]);
    assert!(said.err.contains("far.yaml:7") && said.err.contains("outside"), "{}", said.err);
    assert!(!Path::new(&folder.path("out")).exists());

    let narrow = folder.file("narrow.yaml", "{name: narrow, kind: dual_port, word_bits: 8, rows: 64}\n");
    let said = fails(&["build", BLUR, "--tile", &narrow]);
    assert!(said.err.contains("words of 8 bits") && said.err.contains("16"), "{}", said.err);

    let transposed = folder.file("transposed.yaml", format!("schedule: stencil\n{TRANSPOSED}"));
    let said = fails(&["build", &transposed]);
    assert!(said.err.contains("transposed.yaml:"), "{}", said.err);
}

/// An image, and beside it the same image transposed.
const TRANSPOSED: &str = "name: transposed
inputs: {input: {type: u16, shape: [8, 8]}}
outputs: {output: {type: u16, shape: [8, 8]}}
buffers: {other: {type: u16, shape: [8, 8]}}
nest:
  - for y in 0..8:
    - for x in 0..8:
      - other[x, y] = input[x, y]
  - for y in 0..8:
    - for x in 0..8:
      - output[x, y] = other[y, x] + other[x, y]
";

#[test]
fn build_runs_nest_by_nest_what_no_scan_serves() {
    let folder = Folder::new();
    let transposed = folder.file("transposed.yaml", TRANSPOSED);
    for array in [&[][..], &["--array", "amber"]] {
        let said = succeeds(&[&["build", &transposed][..], array].concat());
        assert!(said.err.contains("runs nest by nest") && said.err.contains("transposed.yaml:11"), "{}", said.err);
    }
    let asked = folder.file("asked.yaml", format!("schedule: dnn\n{TRANSPOSED}"));
    assert_eq!(succeeds(&["build", &asked]).err, "");
}

/// Copies by a count, and because a file is named again; each has images of its own.
#[test]
fn build_has_copies_of_a_program_side_by_side() {
    let folder = Folder::new();
    let text = |name: &str, factor: u32| {
        format!(
            "name: {name}\ninputs: {{a: {{type: u16, shape: [8]}}}}\noutputs: {{o: {{type: u16, shape: [8]}}}}\nnest:\n  \
             - for x in 0..8:\n    - o[x] = a[x] * {factor}\n"
        )
    };
    let [twice, thrice] = [("twice", 2), ("thrice", 3)].map(|(name, factor)| {
        let file = folder.file(&format!("{name}.yaml"), text(name, factor));
        folder.file(&format!("{name}:7"), text("seven", 7));
        file
    });
    let image = folder.file("a.hex", "1\n2\n3\n4\n5\n6\n7\n8\n");
    let (out, written) = (folder.path("out"), folder.path("o.hex"));
    let (of_input, of_output) = (format!("twice_2.a={image}"), format!("twice_2.o={written}"));
    let images = ["--input", &of_input, "--output", &of_output];
    let built = ["build", &format!("{twice}:2"), &thrice, "--array", "amber", "-o", &out, "--json"];
    let report = parsed(&succeeds(&[&built[..], &images].concat()).out);
    let names = report["programs"].as_array().unwrap().iter().map(|program| program["name"].as_str().unwrap());
    assert_eq!(names.collect_vec(), ["twice_1", "twice_2", "thrice"]);
    assert_eq!(report["checked_by_model"].as_bool(), Some(true));
    assert_eq!(fs::read_to_string(written).unwrap().split_whitespace().collect_vec()[..3], ["0002", "0004", "0006"]);
    let is_there = |name: &str| Path::new(&folder.path(name)).exists();
    assert!(is_there("out/twice_x2_thrice.hex") && is_there("out/twice_1/report.json"));
    // A file that is named twice is two copies, and one with a colon in its name is one program.
    let again = parsed(&succeeds(&["build", &twice, &thrice, &twice, "--array", "amber", "--json"]).out);
    let names = again["programs"].as_array().unwrap().iter().map(|program| program["name"].as_str().unwrap());
    assert_eq!(names.collect_vec(), ["twice_1", "thrice", "twice_2"]);
    let seven = parsed(&succeeds(&["build", &folder.path("twice:7"), "--array", "amber", "--json"]).out);
    assert_eq!(seven["name"].as_str(), Some("seven"));
    for (named, array, message) in [
        (":0", &["--array", "amber"][..], "write a number of copies from 1 to 255"),
        (":256", &["--array", "amber"], "write a number of copies from 1 to 255"),
        (":2", &[], "several programs need an array"),
        (":9", &["--array", "amber"], "`twice_9` does not fit the 0 of 32 columns"),
    ] {
        let said = fails(&[&["build", &format!("{twice}{named}")][..], array].concat());
        assert!(said.err.contains(message), "{named}: {}", said.err);
    }
    let said = fails(&["build", &format!("{twice}:2"), "--array", "amber", "--input", &format!("twice.a={image}")]);
    assert!(said.err.contains("write twice_1.NAME or twice_2.NAME"), "{}", said.err);
}

/// A schedule that is too long for the streams of an array names one that has longer ones.
#[test]
fn build_names_the_array_of_a_long_schedule() {
    let said = fails(&["build", "apps/polybench_seidel_2d.yaml", "--array", "amber"]);
    assert!(said.err.contains("help: `--array amber_long` counts so many cycles; else"), "{}", said.err);
    // No array has both so many elements and longer schedules.
    let said = fails(&["build", "apps/fsrcnn.yaml", "--array", "amber"]);
    assert!(!said.err.contains("amber_long"), "{}", said.err);
}

#[test]
fn build_prints_every_stage() {
    for stage in ["loopnest", "schedule", "buffers", "mapping", "config"] {
        assert!(!succeeds(&["build", BLUR, "--emit", stage]).out.is_empty());
    }
    let loop_nest = succeeds(&["build", BLUR, "--emit", "loopnest"]).out;
    let folder = Folder::new();
    let again = folder.file("again.yaml", &loop_nest);
    assert_eq!(succeeds(&["build", &again, "--emit", "loopnest"]).out, loop_nest);
    let report = parsed(&succeeds(&["build", BLUR, "--json"]).out);
    assert_eq!((report["memory_tiles"].as_u64(), report["checked_by_model"].as_bool()), (Some(1), Some(false)));
}

/// One thing is not told as several, a proof without tiles not as one of nothing; and the folder keeps all that is told.
#[test]
fn figures_of_a_small_build() {
    let folder = Folder::new();
    let text = "name: small\ninputs: {input: {type: u16, shape: [8]}}\noutputs: {output: {type: u16, shape: [8]}}\n\
                nest:\n  - for x in 0..8:\n    - output[x] = input[x] + 1\n";
    let (program, out) = (folder.file("small.yaml", text), folder.path("out"));
    let said = succeeds(&["build", &program]).out;
    let line = |name: &str| said.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap().trim().to_owned();
    assert_eq!(line("kernels"), "1 with 1 processing element");
    assert_eq!(line("proof"), "all that operations read; no tile to simulate");
    let doctor = parsed(&succeeds(&["doctor", "--json"]).out);
    let verilator = &doctor["tools"][0];
    assert!(
        ["build", "compare"].iter().all(|name| verilator["purpose"].as_str().unwrap().contains(name)),
        "{verilator}"
    );
    let rtl: &[&str] = if verilator["version"].is_null() { &[] } else { &["--rtl"] };
    let mut told = parsed(&succeeds(&[&["build", &program, "-o", &out, "--json"], rtl].concat()).out);
    if let Some(rtl) = told["rtl"].as_object_mut() {
        assert!(rtl.remove("seconds").is_some() && rtl["words"].as_u64() > Some(0), "{rtl:?}");
    }
    // The folder keeps no schedules that were tried.
    let trials = told.as_object_mut().unwrap().remove("trials").unwrap();
    assert_eq!(trials[0]["cycles"], told["cycles"]);
    assert_eq!(parsed(&fs::read_to_string(folder.path("out/report.json")).unwrap()), told);
}

/// Kernels bear the names of arrays; what is a tile's own among the modules does not depend on them.
#[test]
fn packages_have_every_kernel() {
    let folder = Folder::new();
    let nest = |to: &str, from: &str| {
        format!("  - for y in 0..32:\n    - for x in 0..32:\n      - {to}[x, y] = {from}[x, y] * 3 + 1\n")
    };
    let arrays = ["input", "checker", "registers", "tile", "sram"];
    let nests: String = arrays.windows(2).map(|pair| nest(pair[1], pair[0])).collect();
    let buffers: String =
        arrays[1..].iter().map(|name| format!("  {name}: {{type: u16, shape: [32, 32]}}\n")).collect();
    let program = folder.file(
        "evil.yaml",
        format!(
            "name: evil\ninputs: {{input: {{type: u16, shape: [32, 32]}}}}\noutputs: {{output: {{type: u16, shape: [30, 30]}}}}\n\
             buffers:\n{buffers}nest:\n{nests}  - for y in 0..30:\n    - for x in 0..30:\n      \
             - output[x, y] = sram[x, y] + sram[x + 2, y + 2]\n"
        ),
    );
    let timing = folder.file("timing.yaml", "configuration_cycles: 2\n");
    let out = folder.path("evil");
    succeeds(&["build", &program, "--package", "--timing", &timing, "-o", &out]);
    let read = |name: &str| fs::read_to_string(format!("{out}/{name}")).unwrap();
    for list in ["filelist_synthesis.f", "Bender.yml", "config.mk", "config.json", "evil.core"] {
        let text = read(list);
        for name in &arrays[1..] {
            assert!(text.contains(&format!("rtl/evil_{name}.sv")), "{list}: {name}\n{text}");
        }
    }
    assert!(!read("filelist_synthesis.f").contains("amber_checker"), "{}", read("filelist_synthesis.f"));
    let constraints = read("evil.sdc");
    let instances = constraints.split_once("foreach registers {").unwrap().1.split_once('}').unwrap().0;
    assert!(!instances.is_empty());
    for line in ["set_clock_uncertainty -setup 0.25 ", "set_input_delay -max 1.5 ", "set_output_delay -min 0 "] {
        assert!(constraints.contains(line), "{line}\n{constraints}");
    }
    // Its pins are there as long as the modules are.
    assert!(read("config.mk").contains("export SYNTH_HIERARCHICAL = 1\n"), "{}", read("config.mk"));
    assert_eq!(parsed(&read("config.json"))["SYNTH_HIERARCHY_MODE"], "keep");
    succeeds(&["build", &program, "--package", "-o", &out]);
    assert!(!read("config.mk").contains("HIERARCH") && !read("config.json").contains("HIERARCH"));
    assert!(instances.split(' ').all(|name| name.ends_with("/u_registers")), "{instances}");
}

/// Options without an effect are refused, and named files are read before a program is compiled.
#[test]
fn packages_need_a_folder_and_files_that_are_there() {
    let folder = Folder::new();
    let out = folder.path("out");
    let usage = |arguments: &[&str], message: &str| {
        let said = ends(2, &mut pushmem(arguments));
        assert!(said.err.contains(message), "{}", said.err);
    };
    usage(&["build", BLUR, "--package"], "--folder <FOLDER>");
    usage(&["build", BLUR, "--sram", "amber=generic"], "<--folder <FOLDER>|--rtl|--wave <FILE>>");
    usage(&["build", BLUR, "--timing", "t.yaml", "-o", &out], "--package");
    usage(&["build", BLUR, "--emit", "config", "--package"], "cannot be used with");
    for [option, value] in [["--timing", "nosuch.yaml"], ["--sram", "amber=nosuch.yaml"]] {
        let said = fails(&["build", BLUR, "--package", option, value, "-o", &out]);
        assert!(said.err.contains("cannot read `nosuch.yaml`"), "{}", said.err);
    }
    let pins = "width: 64\ndepth: 512\nports:\n  - {kind: read_write, clock: c, select: {port: s}, write: {port: w}, \
                address: rows, data_in: part, data_out: q}\n";
    let taken = folder.file("taken.yaml", format!("macro: amber_tile\n{pins}"));
    let said = fails(&["generate", AMBER, "--sram", &format!("amber={taken}"), "-o", &out]);
    assert!(said.err.contains("the design has a module `amber_tile` of its own"), "{}", said.err);
    assert!(said.err.contains("taken.yaml:1:8"), "{}", said.err);
    let gated = folder.file("gated.yaml", fs::read_to_string(root().join(AMBER)).unwrap() + "clock_gating: true\n");
    let cells = [
        ("amber_tile", "the design has a module `amber_tile` of its own"),
        ("amber_sram", "the design has a module `amber_sram` of its own"),
        ("amber_sram_512x64", "the macro of a memory is named `amber_sram_512x64`, too"),
    ];
    for (cell, message) in cells {
        let gate = folder.file("cell.yaml", format!("cell: {cell}\nclock: c\nenable: e\noutput: q\n"));
        let said = fails(&["generate", &gated, "--clock-gate", &gate, "-o", &out]);
        assert!(said.err.contains(message) && said.err.contains("cell.yaml:1:7"), "{}", said.err);
    }
    assert!(!Path::new(&out).exists());
}

/// The files are looked at before the tools.
#[test]
fn synth_reads_its_files_first() {
    let folder = Folder::new();
    let bare = |arguments: &[&str]| {
        let mut command = pushmem(&["synth"]);
        ends(1, command.args(arguments).env("PATH", "").env("PUSHMEM_PYTHON", "/no/python")).err
    };
    let said = bare(&["nosuch"]);
    assert!(said.contains("no file and no tile `nosuch`"), "{said}");
    let said = bare(&[BLUR, "--style", "multiplier"]);
    assert!(said.contains("`--style` is for tiles"), "{said}");
    let nothing = ends(2, pushmem(&["synth", SMALL, "--check", "0"]).env("PATH", "")).err;
    assert!(nothing.contains("invalid value '0' for '--check <CONFIGURATIONS>'"), "{nothing}");
    let (library, tile) = (folder.file("cells.lib", "library (none) {}"), folder.path("tile.yaml"));
    fs::copy(root().join(SMALL), &tile).unwrap();
    for input in [&tile, &library] {
        let said = bare(&[&tile, "--library", &library, "--netlist", input]);
        assert!(said.contains(&format!("the output `{input}` is also an input")), "{said}");
    }
}

/// A program that divides by 0, which gives 0 and is probably not meant.
const DIVIDES: &str = "
name: divides
inputs: {i: {type: u8, shape: [8]}}
outputs: {o: {type: u8, shape: [8]}}
nest:
  - for x in 0..8:
    - o[x] = i[x] / 0
";

#[test]
fn all_commands_on_programs_report_their_warnings() {
    let folder = Folder::new();
    let (program, out) = (folder.file("divides.yaml", DIVIDES), folder.path("out"));
    let warns = |said: Said| assert!(said.err.contains("division by 0"), "{}", said.err);
    warns(succeeds(&["build", &program, "-o", &out]));
    warns(succeeds(&["compare", &out, "--no-rtl"]));
    // It looks for its tools after that.
    warns(ends(1, pushmem(&["synth", &program]).env("PATH", "").env("PUSHMEM_PYTHON", "/no/python")));
}

/// In a project, a name stands for what is in its folder now; what is shipped is for the names that it lacks.
#[test]
fn names_stand_for_the_files_of_the_project_first() {
    let folder = Folder::new();
    let project = folder.path("");
    let write = |path: &str, text: &str| {
        let path = Path::new(&project).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let run = |code: i32, arguments: &[&str]| ends(code, pushmem(arguments).current_dir(&project));
    let small = fs::read_to_string(root().join(SMALL)).unwrap() + "clock_gating: true\n";
    write("small.yaml", &small);
    let gates = |name: &str| format!("cell: {name}\nclock: c\nenable: e\noutput: q\n");
    write("constraints/sram/mine.yaml", "any_shape: true\n");
    write("constraints/clock_gates/mine.yaml", &gates("MINE"));
    write("constraints/clock_gates/ihp_sg13g2.yaml", &gates("EDITED"));
    for (clock_gate, cell) in
        [("mine", "MINE"), ("ihp_sg13g2", "EDITED"), ("sky130_fd_sc_hd", "sky130_fd_sc_hd__sdlclkp_1")]
    {
        run(0, &["generate", "small.yaml", "--sram", "small=mine", "--clock-gate", clock_gate, "-o", "out"]);
        assert!(Path::new(&project).join(format!("out/stubs/{cell}.sv")).is_file(), "{cell}");
    }
    let said = run(1, &["generate", "small.yaml", "--sram", "small=min", "-o", "out"]);
    assert!(said.err.contains("no binding `min`") && said.err.contains("did you mean `mine`?"), "{}", said.err);
    write("constraints/sram/generic.yaml", "any_shape: maybe\n");
    let said = run(1, &["generate", "small.yaml", "--sram", "small=generic", "-o", "out"]);
    assert!(said.err.contains("constraints/sram/generic.yaml:1:12"), "{}", said.err);
    // So do the names that are not given.
    write("divides.yaml", DIVIDES);
    run(0, &["build", "divides.yaml"]);
    write("constraints/tiles/amber.yaml", "name: amber\nkind: rom\nrows: 64\n");
    let said = run(1, &["build", "divides.yaml"]);
    assert!(said.err.contains("amber tiles hold constants"), "{}", said.err);
}
