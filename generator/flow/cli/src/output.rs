//! The output of the program.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;

use clap::ValueEnum;
use itertools::Itertools;
use pushmem_files::{Code, Diagnostic, Span};
use serde::Serialize;

use crate::table::fit;

/// When messages have colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless the variable NO_COLOR is set.
    #[default]
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// Who reads standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// People.
    #[default]
    Human,
    /// Programs: a JSON object a line, without progress.
    Json,
}

/// How the program talks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Nothing is said but what was asked for and what is wrong.
    pub quiet: bool,
    /// Steps of the work are printed, too.
    pub verbose: bool,
    pub color: Color,
    pub format: MessageFormat,
}

/// Set once, before anything is said.
static MANNER: OnceLock<Manner> = OnceLock::new();

fn manner() -> Manner {
    MANNER.get().copied().unwrap_or_default()
}

/// Whether reports are left out.
pub fn is_quiet() -> bool {
    manner().quiet
}

/// Whether programs read standard error.
fn is_for_programs() -> bool {
    manner().format == MessageFormat::Json
}

/// Whether progress shows, if standard error is a terminal: where steps are printed, it would be in their way.
pub fn shows_progress() -> bool {
    let Manner { quiet, verbose, format, .. } = manner();
    !quiet && !verbose && format == MessageFormat::Human
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

/// Prints a line on standard error: for programs, a message without a place.
pub fn warn(text: &str) {
    match is_for_programs() {
        true => write_message(&Diagnostic::new(text.trim()).as_warning()),
        false => write_line(text),
    }
}

/// Says that an option has another name now, and works with the former one for a release.
pub fn report_former_name(former: &str, name: &str) {
    let renamed = Diagnostic::new(format!("`{former}` is called `{name}` now"));
    report(renamed.with_help("the former name ends with the next release").as_warning());
}

/// Says what is being done, if somebody wants to know.
pub fn note(text: &str) {
    match (manner().verbose, is_for_programs()) {
        (false, _) => {}
        (true, false) => write_line(text),
        (true, true) => write_message(&Diagnostic::new(text).as_note()),
    }
}

/// Reports a fault of pushmem, after its panic.
pub fn fault() {
    let message = "this is a fault of pushmem; please report it with the command and its inputs";
    match is_for_programs() {
        true => write_message(&Diagnostic::new(message).or_code(Code::Fault)),
        false => write_line(message),
    }
}

fn write_line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// How diagnostics look: never broken in the middle of a path or number; the terminal wraps long lines.
pub fn prepare(manner: Manner) {
    let color = manner.color;
    let _ = MANNER.set(manner);
    let handler = move || {
        let options = miette::MietteHandlerOpts::new().wrap_lines(false);
        match color {
            Color::Auto => options.build(),
            Color::Always => options.color(true).force_graphical(true).build(),
            Color::Never => options.color(false).build(),
        }
    };
    let _ = miette::set_hook(Box::new(move |_| Box::new(handler())));
    if is_for_programs() {
        // Where it was is all that a panic knows; that it was one, `fault` says.
        std::panic::set_hook(Box::new(|panic| {
            write_message(&Diagnostic::new(panic.to_string()).or_code(Code::Fault));
        }));
    }
}

/// Prints a diagnostic on standard error: with the place in the file, in colours on a terminal. Of several problems each has
/// its own place, and the last line counts the errors.
pub fn report(diagnostic: Diagnostic) {
    let problems = diagnostic.into_problems();
    if is_for_programs() {
        return problems.iter().for_each(write_message);
    }
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    let codes = problems.iter().filter(|problem| problem.is_error()).filter_map(Diagnostic::code).dedup().collect_vec();
    let shown = |problem| format!("{:?}", miette::Report::new(problem)).trim_end().to_owned();
    write_line(&problems.into_iter().map(shown).join("\n\n"));
    if errors > 1 {
        write_line(&format!("\n{errors} errors"));
    }
    // In a pipe, messages stay as they are in the book.
    if !codes.is_empty() && (manner().verbose || std::io::stderr().is_terminal() && !manner().quiet) {
        let commands = codes.iter().map(|code| format!("`pushmem explain {code}`")).join(", ");
        write_line(&format!("{commands} says more"));
    }
}

/// A message as programs read it.
#[derive(Serialize)]
struct Message<'a> {
    severity: &'static str,
    code: Option<&'static str>,
    message: &'a str,
    help: Option<&'a str>,
    label: Option<&'a str>,
    #[serde(flatten)]
    place: Option<Span<'a>>,
}

/// Prints a message for programs, on a line of its own.
fn write_message(diagnostic: &Diagnostic) {
    let message = Message {
        severity: diagnostic.severity(),
        code: diagnostic.code().map(Code::name),
        message: diagnostic.message(),
        help: diagnostic.help(),
        label: diagnostic.label(),
        place: diagnostic.span(),
    };
    write_line(&serde_json::to_string(&message).expect("messages are plain data"));
}
