//! Running programs in folders with their inputs, and reading what they leave.

use std::fs;
use std::path::Path;
use std::process::Command;

use pushmem_files::{Diagnostic, write_file};
use pushmem_process::Invocation;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

/// A folder to work in, with these files: the path and the text of each.
pub(crate) fn work_folder<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<TempDir, Diagnostic> {
    let work = tempfile::tempdir().map_err(|error| Diagnostic::new(format!("no temporary folder: {error}")))?;
    let mut files = files.into_iter();
    files.try_for_each(|(path, text)| write_file(&work.path().join(path), text.as_bytes()))?;
    Ok(work)
}

/// Runs a script for OpenSTA in a folder and returns what it printed. Its last line is `SECTION end`: at an error, OpenSTA
/// stops and says that all is well.
pub(crate) fn run_opensta(
    script: &str,
    folder: &Path,
    sta: &Path,
    step: &mut impl FnMut(&str),
) -> Result<String, Diagnostic> {
    let mut sta = Command::new(sta);
    sta.args(["-no_splash", "-exit", script]).current_dir(folder);
    execute_to(&mut sta, "OpenSTA", |text| text.trim_end().ends_with("SECTION end"), step)
}

/// Runs a program and returns what it printed. A line `STEP …` is a step.
pub(crate) fn execute(command: &mut Command, name: &str, step: &mut impl FnMut(&str)) -> Result<String, Diagnostic> {
    execute_to(command, name, |_| true, step)
}

fn execute_to(
    command: &mut Command,
    name: &str,
    is_whole: impl Fn(&str) -> bool,
    step: &mut impl FnMut(&str),
) -> Result<String, Diagnostic> {
    let steps = |line: &str| line.strip_prefix("STEP ").into_iter().for_each(&mut *step);
    let finished = Invocation::of(command).named(name).lines(steps).success()?;
    let text = finished.text();
    if is_whole(&text) { Ok(text) } else { Err(finished.failure()) }
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<String, Diagnostic> {
    let text = fs::read(path).map_err(|error| Diagnostic::new(format!("{}: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Reads the result of a program, which it wrote as JSON.
pub(crate) fn read_json<Found: DeserializeOwned>(path: &Path, program: &str) -> Result<Found, Diagnostic> {
    serde_json::from_str(&read(path)?).map_err(|error| Diagnostic::new(format!("the result of {program}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OpenSTA stops at an error and says that all is well.
    #[test]
    fn a_script_that_stops_before_its_end_is_an_error() {
        let run = |script: &str| {
            execute_to(Command::new("sh").args(["-c", script]), "Shell", |text| text.ends_with("end\n"), &mut |_| {})
        };
        assert_eq!(run("echo end").unwrap(), "end\n");
        assert_eq!(run("echo begin").unwrap_err().message(), "Shell failed before its end:\nbegin");
    }

    #[test]
    fn steps_are_told() {
        let mut steps = Vec::new();
        let script = "echo STEP one; echo; echo STEP two";
        execute(Command::new("sh").args(["-c", script]), "Shell", &mut |step| steps.push(step.to_owned())).unwrap();
        assert_eq!(steps, ["one", "two"]);
    }
}
