//! Programs that run to their end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use itertools::Itertools;
use pushmem_cache::{folder, key};
use pushmem_files::{Code, Diagnostic, write_file};

/// So many of the last lines are shown of a program that failed.
const SHOWN_LINES: usize = 10;

/// A program to run, with what is known of it.
pub struct Invocation<'a> {
    command: &'a mut Command,
    name: String,
    input: Option<&'a [u8]>,
    line: Box<dyn FnMut(&str) + 'a>,
}

/// A program that ended, well or not.
#[derive(Clone, Debug)]
pub struct Finished {
    name: String,
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

impl<'a> Invocation<'a> {
    /// A run of a command, which messages call by its program.
    pub fn of(command: &'a mut Command) -> Self {
        let name = format!("`{}`", command.get_program().display());
        Invocation { command, name, input: None, line: Box::new(|_| ()) }
    }

    /// The same, with another name in messages.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Invocation { name: name.into(), ..self }
    }

    /// The same, with these bytes on standard input.
    #[must_use]
    pub fn fed(self, input: &'a [u8]) -> Self {
        Invocation { input: Some(input), ..self }
    }

    /// The same, with each line of standard output given to `line` as it comes, without its end.
    #[must_use]
    pub fn lines(self, line: impl FnMut(&str) + 'a) -> Self {
        Invocation { line: Box::new(line), ..self }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// When it cannot be started, or what it prints cannot be read. A program that fails is no error here.
    pub fn finish(mut self) -> Result<Finished, Diagnostic> {
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        let (status, stdout, stderr) = self.capture(stdin).map_err(|error| cannot_run(&self.name, &error))?;
        Ok(Finished { name: self.name, status, stdout, stderr })
    }

    fn capture(&mut self, stdin: Stdio) -> io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
        let mut child = self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (to, from, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = self.input.unwrap_or_default();
        // It prints while it is being fed, to both of its outputs: all at once, or a pipe fills up and all wait.
        thread::scope(|scope| {
            // A program that ends before it has read all has its reasons, which its status tells.
            scope.spawn(move || to.is_some_and(|mut to| to.write_all(input).is_ok()));
            let errors = scope.spawn(move || {
                let mut text = Vec::new();
                errors.map_or(Ok(0), |mut errors| errors.read_to_end(&mut text)).map(|_| text)
            });
            let mut lines = BufReader::new(from.expect("standard output is piped"));
            let (mut stdout, mut begin) = (Vec::new(), 0);
            while lines.read_until(b'\n', &mut stdout)? > 0 {
                (self.line)(String::from_utf8_lossy(&stdout[begin..]).trim_end_matches(['\n', '\r']));
                begin = stdout.len();
            }
            let stderr = errors.join().expect("reading does not panic")?;
            Ok((child.wait()?, stdout, stderr))
        })
    }

    /// Runs it to its end, which must be a good one.
    ///
    /// # Errors
    /// As [`Invocation::finish`] and [`Finished::success`].
    pub fn success(self) -> Result<Finished, Diagnostic> {
        self.finish()?.success()
    }
}

pub(crate) fn cannot_run(name: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::new(format!("{name} cannot be run: {error}")).or_code(Code::Tool)
}

impl Finished {
    pub(crate) fn new(name: String, status: ExitStatus, stdout: Vec<u8>, stderr: Vec<u8>) -> Self {
        Finished { name, status, stdout, stderr }
    }

    /// Its standard output, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Its standard error, as text.
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// All that it printed: to standard output, and then to standard error.
    pub fn log(&self) -> String {
        let text = self.text();
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        format!("{text}{end}{}", self.errors())
    }

    /// Itself, if it ended well.
    ///
    /// # Errors
    /// The error of [`Finished::failure`] with its last lines, if it did not.
    pub fn success(self) -> Result<Self, Diagnostic> {
        if self.status.success() { Ok(self) } else { Err(self.failure()) }
    }

    /// The error that it failed: its status or signal, and the last lines that it printed.
    pub fn failure(&self) -> Diagnostic {
        let log = self.log();
        let lines = log.lines().filter(|line| !line.trim().is_empty()).collect_vec();
        let shown = lines[lines.len().saturating_sub(SHOWN_LINES)..].iter().join("\n");
        self.failure_with(&shown)
    }

    /// The error that it failed: its status or signal, and this part of what it printed. The whole is kept in a file, which
    /// the help names, if there is more of it.
    pub fn failure_with(&self, shown: &str) -> Diagnostic {
        let log = self.log();
        let shown = shown.trim_end();
        let said = if shown.is_empty() { "; it printed nothing".to_owned() } else { format!(":\n{shown}") };
        // A program may say that all is well, and have stopped before its end.
        let ended = if self.status.success() { "before its end".to_owned() } else { format!("({})", self.status) };
        let failure = Diagnostic::new(format!("{} failed {ended}{said}", self.name)).or_code(Code::Tool);
        if log.trim() == shown.trim() {
            return failure;
        }
        let file = folder().join("logs").join(key(&[&self.name, &log])).with_extension("log");
        match write_file(&file, log.as_bytes()) {
            Ok(()) => failure.with_help(format!("all that it printed is in {}", file.display())),
            // The log only helps.
            Err(_) => failure,
        }
    }
}
