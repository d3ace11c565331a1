//! `pushmem explore`.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use pushmem_files::{Diagnostic, write_file};
use pushmem_synthesis::python_of;
use rust_embed::Embed;
use serde::{Deserialize, Serialize};

use crate::{output, shipped};

/// The Python package that explores.
#[derive(Embed)]
#[folder = "../../../scripts/explore/pushmem_explore"]
#[prefix = "pushmem_explore/"]
struct Package;

/// Runs the package from the folder that is the argument.
const START: &str =
    "import sys; sys.path.insert(0, sys.argv[1]); from pushmem_explore.__main__ import main; sys.exit(main())";

#[derive(Args, Serialize)]
pub struct Explore {
    /// Programs, as `build` takes them.
    #[arg(required = true, value_name = "PROGRAM")]
    programs: Vec<PathBuf>,
    /// Space of the design points (YAML).
    #[arg(long, value_name = "SPACE")]
    over: PathBuf,
    /// Folder of the study. One that is there goes on: what is known is not run again.
    #[arg(short = 'o', long = "folder", value_name = "FOLDER")]
    folder: PathBuf,
    /// Points that are built: all in their order, all at random, or those that a sampler of Optuna asks for.
    #[arg(long, value_parser = ["full", "random", "tpe", "nsga2"], default_value = "full")]
    sampler: String,
    /// The most points; with `tpe` and `nsga2`, of each program.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    points: Option<u64>,
    /// Seed of `random` and of the samplers.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u32,
    /// Runs at once. Without, as many as the machine has processors, or the cluster has.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    /// Memory of all runs together, in GB. Without, four fifths of what is free. On a cluster, that of each run.
    #[arg(long, value_name = "GB")]
    memory: Option<f64>,
    /// Seconds after which a run is given up.
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0)]
    timeout: f64,
    /// Folder of another study, whose results are used; may be given several times.
    #[arg(long, value_name = "FOLDER")]
    reuse: Vec<PathBuf>,
    /// Cluster that does the runs: the address of a Dask scheduler, or a file with the settings of a batch system (YAML).
    #[arg(long, value_name = "CLUSTER")]
    cluster: Option<String>,
    /// Points of the fronts that are built with their reports.
    #[arg(long, value_name = "N", default_value_t = 20)]
    reports: u32,
    /// Report as JSON.
    #[arg(long)]
    #[serde(skip)]
    json: bool,
}

/// What the package is asked for.
#[derive(Serialize)]
struct Request<'a> {
    #[serde(flatten)]
    explore: &'a Explore,
    pushmem: PathBuf,
    /// The constraints that are part of the program, by their paths in a project.
    shipped: BTreeMap<String, String>,
    progress: bool,
}

/// The answer of the package: a report as JSON and for people, or a problem.
#[derive(Deserialize)]
enum Answer {
    #[serde(rename = "report")]
    Report { json: serde_json::Value, text: String },
    #[serde(rename = "problem")]
    Problem { message: String, help: String, place: Option<(String, String, usize, usize)> },
}

impl Explore {
    pub fn run(&self) -> Result<(), Diagnostic> {
        let python = python_of("explore", "yaml", "PyYAML", "install it by `scripts/setup --explore`")?;
        let cannot = |error: &dyn std::fmt::Display| Diagnostic::new(format!("the exploration cannot be run: {error}"));
        let folder = tempfile::tempdir().map_err(|error| cannot(&error))?;
        for name in Package::iter().filter(|name| !name.ends_with(".pyc")) {
            write_file(&folder.path().join(&*name), &Package::get(&name).expect("it is listed").data)?;
        }
        let pushmem = std::env::current_exe().map_err(|error| cannot(&error))?;
        let progress = output::shows_progress() && std::io::stderr().is_terminal();
        let request = Request { explore: self, pushmem, shipped: shipped::texts(), progress };
        let mut command = Command::new(python);
        command.args(["-c", START]).arg(folder.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| cannot(&error))?;
        let stdin = child.stdin.take().expect("it is piped");
        // A package that ends before it has read all tells why.
        serde_json::to_writer(stdin, &request).ok();
        let answered = child.wait_with_output().map_err(|error| cannot(&error))?;
        match serde_json::from_slice(&answered.stdout) {
            Ok(Answer::Report { json, text }) => output::result(self.json, &json, || text),
            Ok(Answer::Problem { message, help, place }) => {
                let problem = Diagnostic::new(message).with_help(help);
                Err(match place {
                    Some((file, text, start, end)) => problem.at(file, text, start..end),
                    None => problem,
                })
            }
            Err(_) => Err(cannot(&answered.status).as_fault("space and the programs")),
        }
    }
}
