//! RTL in Verilator, driven by a harness that reads records from standard input and writes others to standard output.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use pushmem_systemverilog::is_header;
use tempfile::TempDir;

use crate::verilator;

/// A model of RTL around which a harness is compiled.
pub struct Bench {
    folder: TempDir,
}

/// The files of a model.
pub struct Sources<'a> {
    /// SystemVerilog files, headers (`.svh`) among them, by name and text, used modules before their users. The top is the module `bench`.
    pub rtl: Vec<(String, String)>,
    /// The harness in C++.
    pub harness: &'a str,
    /// Flags for the compiler.
    pub flags: &'a str,
}

impl Bench {
    /// Builds a model. Without Verilator, nothing.
    ///
    /// # Panics
    /// If Verilator or the compiler has anything to say.
    pub fn build(sources: &Sources) -> Option<Self> {
        let verilator = verilator()?;
        let folder = tempfile::tempdir().expect("a folder for the model");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file of the model");
        sources.rtl.iter().for_each(|(name, text)| write(name, text));
        write("harness.cpp", sources.harness);
        let mut build = Command::new(verilator);
        build.args(["--cc", "--exe", "--build", "--assert", "-Wall", "--top-module", "bench"]);
        build.args(["-CFLAGS", sources.flags, "harness.cpp"]);
        quiet(
            build.args(sources.rtl.iter().map(|(name, _)| name).filter(|name| !is_header(name))).current_dir(&folder),
        );
        Some(Bench { folder })
    }

    /// The answers to stimuli.
    ///
    /// # Panics
    /// If the model fails.
    pub fn run(&self, stimuli: Vec<u8>) -> Vec<u8> {
        let program: PathBuf = self.folder.path().join("obj_dir/Vbench");
        let mut model = Command::new(program);
        let mut model = model.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the model starts");
        let mut input = model.stdin.take().expect("a pipe");
        // An assertion of the RTL ends the model before it has read everything.
        let feeder = std::thread::spawn(move || drop(input.write_all(&stimuli)));
        let mut answers = Vec::new();
        model.stdout.take().expect("a pipe").read_to_end(&mut answers).expect("answers of the model");
        feeder.join().expect("it does not panic");
        let status = model.wait().expect("the model ends");
        assert!(
            status.success(),
            "{status}: {}",
            String::from_utf8_lossy(&answers[answers.len().saturating_sub(400)..])
        );
        answers
    }
}

/// Runs a command that must succeed without a warning.
///
/// # Panics
/// If it does not.
pub fn quiet(command: &mut Command) {
    let output = command.output().expect("the command starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let complains = err.contains("%Warning") || err.contains("%Error");
    assert!(output.status.success() && !complains, "{command:?}:\n{out}\n{err}");
}
