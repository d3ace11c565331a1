//! Verilator and a C++ compiler: finding and calling them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic};
use pushmem_process::{Finished, Invocation};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// Names the Verilator to use, instead of the one on the search path.
const VERILATOR_VARIABLE: &str = "VERILATOR";

/// Compiler flags: -O1 builds nearly as fast as -O0 and simulates six to nine times faster.
const COMPILER_FLAGS: [&str; 4] = ["-std=c++17", "-O1", "-fno-plt", "-pipe"];

/// Verilator's flags: assertions, and arbitrary bits in memories that were never written. Before Verilator 5.022, its optimization of
/// trees of bits loses an inversion now and then (verilator#4059, #4832, #4857), in netlists of gates above all.
const VERILATOR_FLAGS: [&str; 12] = [
    "--cc",
    "--assert",
    "-Wall",
    "-Wno-fatal",
    "--x-assign",
    "fast",
    "--x-initial",
    "unique",
    "--Mdir",
    "verilated",
    "-O3",
    "-fno-const-bit-op-tree",
];

const INSTALL_HELP: &str = "install it by `scripts/setup`, or by `apt-get install verilator g++`, or name one in the \
                            variable VERILATOR; everything that runs no RTL works without it";

/// Whoever is told what is being done.
type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// A Verilator installation.
#[derive(Clone)]
pub struct Verilator {
    listener: Option<Listener>,
    program: PathBuf,
    pub(crate) compiler: PathBuf,
    pub(crate) root: PathBuf,
    version: String,
    compiler_version: String,
}

impl Verilator {
    /// Finds Verilator and a C++ compiler.
    ///
    /// # Errors
    /// A message that says how to install what is missing.
    pub fn find() -> Result<Self, Diagnostic> {
        let named = std::env::var_os(VERILATOR_VARIABLE).filter(|name| !name.is_empty());
        let name = named.unwrap_or_else(|| "verilator".into());
        let program = which::which(&name).map_err(|error| {
            Diagnostic::new(format!("Verilator is needed here, but `{}`: {error}", name.display()))
                .or_code(Code::Tool)
                .with_help(INSTALL_HELP)
        })?;
        let compiler = ["g++", "clang++"].iter().find_map(|name| which::which(name).ok()).ok_or_else(|| {
            Diagnostic::new("Verilator needs a C++ compiler, but there is neither g++ nor clang++")
                .or_code(Code::Tool)
                .with_help(INSTALL_HELP)
        })?;
        let ask = |program: &Path, arguments: &[&str]| -> Result<String, Diagnostic> {
            Ok(run(Command::new(program).args(arguments))?.text().trim().to_owned())
        };
        let version = ask(&program, &["--version"])?;
        let root = PathBuf::from(ask(&program, &["--getenv", "VERILATOR_ROOT"])?);
        let compiler_version = ask(&compiler, &["-dumpversion"])?;
        Ok(Verilator { listener: None, program, compiler, root, version, compiler_version })
    }

    /// The same, which tells what it is doing where that takes long: in some words, such as "compiling `Vtop`".
    #[must_use]
    pub fn telling(self, listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Verilator { listener: Some(Arc::new(listener)), ..self }
    }

    /// Tells what it is doing.
    pub(crate) fn tell(&self, step: impl FnOnce() -> String) {
        if let Some(listener) = &self.listener {
            listener(&step());
        }
    }

    /// Its version, as it prints it.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Where it is.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A call of Verilator in a folder, which makes a class of a module on top; files and further options are to be added.
    pub(crate) fn verilate(&self, folder: &Path, class: &str, top: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(folder).args(VERILATOR_FLAGS).args(["--prefix", class, "--top-module", top]);
        command
    }

    /// A call of the compiler for what Verilator writes.
    pub(crate) fn compiler_command(&self) -> Command {
        let mut command = Command::new(&self.compiler);
        let include = self.root.join("include");
        command.args(COMPILER_FLAGS).arg("-I").arg(&include).arg("-I").arg(include.join("vltstd"));
        command.args(["-DVM_SC=0", "-DVM_COVERAGE=0", "-DVM_TRACE=1", "-DVM_TRACE_FST=1", "-DVM_TRACE_VCD=0"]);
        command
    }

    /// A name for what these tools make from texts.
    pub(crate) fn key<'a>(&self, texts: impl Iterator<Item = &'a str>) -> String {
        let program = self.program.to_string_lossy();
        let compiler = self.compiler.to_string_lossy();
        let tools = [&*self.version, &*program, &*compiler, &*self.compiler_version];
        let texts: Vec<&str> = texts.collect();
        let all = [&tools[..], &VERILATOR_FLAGS, &COMPILER_FLAGS, &texts].concat();
        pushmem_cache::key(&all)
    }
}

/// Runs commands, some at a time: as many as the machine has cores, or as many as the caller works on things.
pub(crate) fn run_all(commands: Vec<Command>) -> Result<(), Diagnostic> {
    commands.into_par_iter().try_for_each(|mut command| run(&mut command).map(drop))
}

pub(crate) fn run(command: &mut Command) -> Result<Finished, Diagnostic> {
    let finished = Invocation::of(command).finish()?;
    if finished.status.success() {
        return Ok(finished);
    }
    let text = finished.errors();
    // Errors explain why it failed, and may come after many warnings.
    let is_error =
        |line: &str| line.starts_with("%Error") || line.contains("error:") || line.contains("undefined reference");
    let first = text.lines().position(is_error).unwrap_or(0);
    Err(finished.failure_with(&text.lines().skip(first).take(30).join("\n")))
}
