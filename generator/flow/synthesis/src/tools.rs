//! Yosys, OpenSTA and the cell libraries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use pushmem_files::{Code, Diagnostic};
use pushmem_process::Invocation;

use crate::process::{run_opensta, work_folder};

/// Names the Python that has the packages.
pub const PYTHON_VARIABLE: &str = "PUSHMEM_PYTHON";

/// The Python environment that `scripts/setup` makes, below the folder of the project.
const ENVIRONMENT: &str = "build/venv/bin/python";

const INSTALL_HELP: &str = "install it by `scripts/setup --synthesis`";

/// Cell libraries by name, and where `scripts/setup` puts them: from the root, or below the folder of the project.
const LIBRARIES: [(&str, &str); 2] =
    [("osu018", "/usr/share/qflow/tech/osu018/osu018_stdcells.lib"), ("gscl45nm", "build/libraries/gscl45nm.lib")];

/// The programs that synthesis runs.
#[derive(Clone, Debug)]
pub struct Tools {
    /// Python with pyosys.
    pub(crate) python: PathBuf,
    /// OpenSTA.
    pub(crate) sta: PathBuf,
    /// The versions of both.
    pub(crate) versions: String,
    /// The answer of OpenSTA about the energy of a known cell, once it was asked.
    overcharge: OnceLock<Result<f64, String>>,
}

/// The question to OpenSTA about this energy: files by name.
const ENERGY: [(&str, &str); 3] = [
    ("cell.lib", include_str!("../../../../templates/synthesis/energy/cell.lib")),
    ("two_cells.v", include_str!("../../../../templates/synthesis/energy/two_cells.v")),
    (ENERGY_SCRIPT, include_str!("../../../../templates/synthesis/energy/energy.tcl")),
];

const ENERGY_SCRIPT: &str = "energy.tcl";

/// The mean energy of a change in `cell.lib`, in joules.
const MEAN_ENERGY: f64 = 2e-12;

impl Tools {
    /// Finds them.
    ///
    /// # Errors
    /// A message that says how to install what is missing.
    pub fn find() -> Result<Self, Diagnostic> {
        let (python, yosys) = python_with("pyosys").ok_or_else(|| {
            Diagnostic::new(format!("synthesis needs Yosys, the Python package pyosys: it {}", not_in()))
                .or_code(Code::Tool)
                .with_help(python_help(INSTALL_HELP))
        })?;
        let sta = which::which("sta").map_err(|_| {
            Diagnostic::new("timing needs OpenSTA, which is not here").with_help(INSTALL_HELP).or_code(Code::Tool)
        })?;
        let said = Invocation::of(Command::new(&sta).arg("-version")).finish();
        let opensta = said.map(|said| said.text().trim().to_owned()).unwrap_or_default();
        Ok(Tools { python, sta, versions: format!("Yosys {yosys}, OpenSTA {opensta}"), overcharge: OnceLock::new() })
    }

    /// The version of a package of Python, and the Python that has it, as people read them; else where it was looked for.
    ///
    /// # Errors
    /// When no Python has it.
    pub fn package_version(package: &str) -> Result<String, String> {
        let (python, version) = python_with(package).ok_or_else(|| format!("not found: it {}", not_in()))?;
        Ok(format!("{version} ({})", python.display()))
    }

    /// How many times OpenSTA counts what happens inside cells. Version 2.0 takes the energies of rising and of falling for each change,
    /// which is twice too much, where later ones take their mean.
    ///
    /// # Errors
    /// Why that is not known: OpenSTA has no documented command for the energy of a cell, and a version may lack the one of others.
    pub(crate) fn overcharge(&self) -> Result<f64, &str> {
        self.overcharge.get_or_init(|| overcharge(&self.sta)).as_ref().copied().map_err(String::as_str)
    }
}

/// How many times OpenSTA counts what happens inside cells, or why that is not known, in one line.
fn overcharge(sta: &Path) -> Result<f64, String> {
    let ask = || {
        let work = work_folder(ENERGY)?;
        run_opensta(ENERGY_SCRIPT, work.path(), sta, &mut |_| {})
    };
    let unknown = |why: &str| format!("OpenSTA does not tell the energy of a known cell ({why})");
    let said = ask().map_err(|error| unknown(error.to_string().lines().last().unwrap_or_default()))?;
    let energy = said.lines().find_map(|line| line.strip_prefix("ENERGY ")?.trim().parse::<f64>().ok());
    let positive = energy.filter(|energy| *energy > 0.0 && energy.is_finite());
    let complaint = || said.lines().find_map(|line| line.strip_prefix("Error: "));
    positive
        .map(|energy| energy / MEAN_ENERGY)
        .ok_or_else(|| unknown(complaint().unwrap_or("it is no positive number")))
}

/// A Python that has a package, and the version of that.
fn python_with(package: &str) -> Option<(PathBuf, String)> {
    python_that(&format!("import importlib.metadata, {package}; print(importlib.metadata.version('{package}'))"))
}

/// A Python that has a module, the one of a package.
///
/// # Errors
/// When none has it: which command needs it, and how it is installed.
pub fn python_of(command: &str, module: &str, package: &str, install: &str) -> Result<PathBuf, Diagnostic> {
    python_that(&format!("import {module}")).map(|(python, _)| python).ok_or_else(|| {
        Diagnostic::new(format!("`pushmem {command}` needs the Python package {package}: it {}", not_in()))
            .or_code(Code::Tool)
            .with_help(python_help(install))
    })
}

/// A Python that runs this, and what it prints.
pub(crate) fn python_that(runs: &str) -> Option<(PathBuf, String)> {
    pythons().into_iter().find_map(|python| {
        let finished = Invocation::of(Command::new(&python).args(["-c", runs])).finish().ok()?;
        finished.status.success().then(|| (python, finished.text().trim().to_owned()))
    })
}

/// Where packages are looked for: only in the Python that the variable names; without it, in the environment of the project, and then in
/// the Python on the path.
fn pythons() -> Vec<PathBuf> {
    match std::env::var_os(PYTHON_VARIABLE).filter(|name| !name.is_empty()) {
        Some(named) => vec![absolute(PathBuf::from(named))],
        None => in_project(ENVIRONMENT).into_iter().chain([PathBuf::from("python3")]).collect(),
    }
}

/// That something is in no Python, as the end of a sentence.
pub(crate) fn not_in() -> String {
    let pythons = pythons();
    let named = pythons.iter().map(|python| format!("`{}`", python.display())).collect::<Vec<_>>().join(" or ");
    match pythons.as_slice() {
        [_] if std::env::var_os(PYTHON_VARIABLE).is_some_and(|name| !name.is_empty()) => {
            format!("is not in {named}, which the variable {PYTHON_VARIABLE} names")
        }
        _ => format!("is not in {named}"),
    }
}

/// The help about a package of Python that is missing, behind how it is installed.
pub(crate) fn python_help(install: &str) -> String {
    format!("{install}; or name a Python that has it in the variable {PYTHON_VARIABLE}")
}

/// A file of the project: below the working directory, or below a folder around this program, as `target/release` is one in the project.
fn in_project(file: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok().and_then(|program| program.canonicalize().ok());
    let around = program.iter().flat_map(|program| program.ancestors().skip(1).map(Path::to_owned));
    let folders = std::env::current_dir().into_iter().chain(around);
    folders.map(|folder| folder.join(file)).find(|path| is_file(path))
}

/// A program that is named by a path stays where it is when commands run in other folders.
fn absolute(program: PathBuf) -> PathBuf {
    if program.components().count() > 1 { std::path::absolute(&program).unwrap_or(program) } else { program }
}

/// Whether there is a file, which may be behind a link.
fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file())
}

/// A cell library in the Liberty format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// Its name.
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

impl Library {
    /// The libraries that have names, and whether each is there.
    pub fn shipped() -> impl Iterator<Item = (Self, bool)> {
        LIBRARIES.into_iter().map(|(name, path)| {
            let found = in_project(path);
            let there = found.is_some();
            (Library { name: name.to_owned(), path: found.unwrap_or_else(|| PathBuf::from(path)) }, there)
        })
    }

    /// A library by its name, or a file.
    ///
    /// # Errors
    /// When it is not there.
    pub fn find(named: &Path) -> Result<Self, Diagnostic> {
        let shipped = LIBRARIES.iter().find(|(name, _)| named.as_os_str() == *name);
        let found = shipped.map(|(_, path)| in_project(path).unwrap_or_else(|| PathBuf::from(path)));
        let path = found.as_deref().unwrap_or(named);
        if !is_file(path) {
            let names = LIBRARIES.map(|(name, _)| name).join(" or ");
            let help = match shipped {
                Some(_) => format!("{INSTALL_HELP} in a clone of the project, or give the path of its Liberty file"),
                None => format!("give {names}, or a file in the Liberty format"),
            };
            return Err(Diagnostic::new(format!("there is no cell library {}", path.display())).with_help(help));
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Library {
            name: shipped.map_or(stem, |(name, _)| (*name).to_owned()),
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_does_not_know_energies_says_so_in_a_line() {
        // It prints nothing, and ends well.
        let why = overcharge(&which::which("true").unwrap()).unwrap_err();
        assert!(why.starts_with("OpenSTA does not tell the energy of a known cell"), "{why}");
        assert_eq!(why.lines().count(), 1, "{why}");
    }
}
