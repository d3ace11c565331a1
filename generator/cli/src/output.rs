//! What the program prints.

use std::io::Write;

use pushmem_files::Diagnostic;

/// Prints text on standard output. A reader that has gone away is not an error.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Prints a line on standard error.
pub fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Decides how diagnostics look: never broken in the middle of a path or number; the terminal wraps long lines.
pub fn prepare() {
    let _ = miette::set_hook(Box::new(|_| Box::new(miette::MietteHandlerOpts::new().wrap_lines(false).build())));
}

/// Prints a diagnostic on standard error: with the place in the file, in colours on a terminal.
pub fn report(diagnostic: Diagnostic) {
    warn(format!("{:?}", miette::Report::new(diagnostic)).trim_end());
}
