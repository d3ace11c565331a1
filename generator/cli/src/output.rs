//! What the program prints.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use itertools::Itertools;
use pushmem_files::Diagnostic;
use serde::Serialize;

use crate::table::fit;

/// Whether nothing is said but what was asked for and what is wrong.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether reports and progress are left out.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints what a command reports, as one JSON object or as text for people. Only the text is left out when all is to be
/// quiet.
///
/// # Errors
/// As [`print()`].
pub fn result(json: bool, report: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Diagnostic> {
    match json {
        true => print(&(serde_json::to_string_pretty(report).expect("reports are plain data") + "\n")),
        false => say(&fit(&text())),
    }
}

/// Prints what a command reports as text, unless all is to be quiet.
///
/// # Errors
/// As [`print()`].
pub fn say(text: &str) -> Result<(), Diagnostic> {
    if is_quiet() { Ok(()) } else { print(text) }
}

/// Prints text on standard output. A reader that has gone away is not an error.
///
/// # Errors
/// When standard output cannot be written, for example to a full disk.
pub fn print(text: &str) -> Result<(), Diagnostic> {
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Diagnostic::new(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Refuses an output that would replace one of the inputs.
///
/// # Errors
/// When they are the same file.
pub fn keep_inputs<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Diagnostic> {
    let same =
        |input: &&Path| matches!((input.canonicalize(), output.canonicalize()), (Ok(one), Ok(other)) if one == other);
    match inputs.into_iter().find(same) {
        Some(input) => Err(Diagnostic::new(format!("the output `{}` is also an input", input.display()))
            .with_help("choose another file name")),
        None => Ok(()),
    }
}

/// Prints a line on standard error.
pub fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Decides how much is said, and how diagnostics look: never broken in the middle of a path or number; the terminal wraps
/// long lines.
pub fn prepare(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
    let _ = miette::set_hook(Box::new(|_| Box::new(miette::MietteHandlerOpts::new().wrap_lines(false).build())));
}

/// Prints a diagnostic on standard error: with the place in the file, in colours on a terminal. Of several problems each has
/// its own place, and the last line counts the errors.
pub fn report(diagnostic: Diagnostic) {
    let problems = diagnostic.into_problems();
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    let shown = |problem| format!("{:?}", miette::Report::new(problem)).trim_end().to_owned();
    warn(&problems.into_iter().map(shown).join("\n\n"));
    if errors > 1 {
        warn(&format!("\n{errors} errors"));
    }
}
