//! Running programs, and reading what they leave.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use itertools::Itertools;
use pushmem_files::Diagnostic;

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
    let failed = |error: std::io::Error| Diagnostic::new(format!("{name} cannot be run: {error}"));
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let errors = child
        .stderr
        .take()
        .map(|errors| std::thread::spawn(move || std::io::read_to_string(errors).unwrap_or_default()));
    let mut text = String::new();
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        let line = line.map_err(failed)?;
        if let Some(what) = line.strip_prefix("STEP ") {
            step(what);
        }
        text.push_str(&line);
        text.push('\n');
    }
    let status = child.wait().map_err(failed)?;
    let errors = errors.and_then(|reader| reader.join().ok()).unwrap_or_default();
    if status.success() && is_whole(&text) {
        return Ok(text);
    }
    let said = text.lines().chain(errors.lines()).filter(|line| !line.trim().is_empty()).collect_vec();
    let last = said[said.len().saturating_sub(10)..].join("\n");
    Err(Diagnostic::new(format!("{name} failed; it said last:\n{last}")))
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<String, Diagnostic> {
    let text = fs::read(path).map_err(|error| Diagnostic::new(format!("{}: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
