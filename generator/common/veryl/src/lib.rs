//! Veryl to SystemVerilog, in process and in memory.
//!
//! All Veryl of the project goes through [`compile`]: it parses and analyzes a set of sources together, refuses them if
//! the analyzer has anything at all to say (warnings included), and returns one SystemVerilog text per source. The output depends on nothing
//! but the sources, and is kept in the cache.
//!
//! Clocks are `clock` (rising edge) and resets `reset` (active low, [`Reset`] says of which kind); module and port names come out as
//! written. Every compilation has a thread of its own, because Veryl keeps its tables in thread-local storage: nothing
//! leaks from one compilation to the next, and compilations may run in parallel.

mod columns;
mod kept;
mod ranges;
mod tidy;

use std::fmt;
use std::path::Path;
use std::thread;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use veryl_analyzer::ir::Ir;
use veryl_analyzer::{Analyzer, Context};
use veryl_emitter::Emitter;
use veryl_metadata::{ClockType, Metadata, NewlineStyle, ResetType, SourceMapTarget};
use veryl_parser::Parser;

/// The Veryl project all sources belong to. It shows in no output, but sources may not use it as a name.
const PROJECT: &str = "pushmem";

/// Stack of the compilation thread: Veryl walks syntax trees recursively.
const STACK_BYTES: usize = 256 << 20;

/// Longest line the emitter makes before it breaks lists and expressions.
const MAX_WIDTH: usize = 120;

/// One Veryl source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Name for messages, without folder and extension, as in `iteration_domain`. Different for each source.
    pub name: String,
    /// The Veryl text.
    pub text: String,
}

/// The level and the timing of resets of the type `reset`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reset {
    /// Active low, and at once.
    #[default]
    Asynchronous,
    /// Active low, at the clock's edge.
    Synchronous,
}

/// The SystemVerilog emitted from the source of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// Name of the source.
    pub name: String,
    /// The SystemVerilog text. Ends in one newline; no line ends in white space.
    pub text: String,
}

impl From<Emitted> for (String, String) {
    /// Name and text.
    fn from(Emitted { name, text }: Emitted) -> Self {
        (name, text)
    }
}

/// The errors and warnings of Veryl about the sources: never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CompileError {
    /// The findings, rendered for people: message, source name, line and column, the lines concerned, and help.
    pub findings: Vec<String>,
}

impl fmt::Display for CompileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.findings.len() == 1 { "" } else { "s" };
        writeln!(formatter, "Veryl refused the sources with {} finding{plural}", self.findings.len())?;
        for finding in &self.findings {
            write!(formatter, "\n{}\n", finding.trim_end())?;
        }
        Ok(())
    }
}

/// Compiles all sources together (they may refer to each other in any order) into one SystemVerilog text per source, in
/// the same order.
///
/// The text depends only on the sources and the kind of reset, to the byte. Comments survive, Veryl attributes and generics do not.
///
/// # Errors
///
/// Anything Veryl reports is an error: syntax errors of all sources, or else every analyzer finding, warnings and advice
/// included. A panic inside Veryl is an error, too (in a build that unwinds), and so are two sources of one name.
///
/// Sources that were compiled before are not compiled again: their text comes from the cache.
pub fn compile(sources: Vec<SourceFile>, reset: Reset) -> Result<Vec<Emitted>, CompileError> {
    kept::kept(sources, reset, |sources| compile_anew(sources, reset))
}

/// As [`compile`], without the cache.
pub fn compile_anew(sources: Vec<SourceFile>, reset: Reset) -> Result<Vec<Emitted>, CompileError> {
    on_own_thread(move || compile_here(&sources, reset))
}

/// Runs `work` on a fresh thread and turns its panic into an error.
fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CompileError> + Send + 'static,
) -> Result<T, CompileError> {
    let failed = |what: String| CompileError { findings: vec![what] };
    thread::Builder::new()
        .name("veryl".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(work)
        .map_err(|error| failed(format!("could not start the thread that runs Veryl: {error}")))?
        .join()
        .unwrap_or_else(|panic| {
            let message = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            Err(failed(format!("Veryl itself failed (a fault in the Veryl compiler): {message}")))
        })
}

/// The compilation proper. To be called once in the life of a thread.
fn compile_here(sources: &[SourceFile], reset: Reset) -> Result<Vec<Emitted>, CompileError> {
    let metadata = settings(reset);

    let mut findings = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        if sources[..index].iter().any(|earlier| earlier.name == source.name) {
            findings.push(format!("two sources have the name \"{}\"", source.name));
        }
    }
    stop_at(findings)?;

    let mut findings = Vec::new();
    let mut trees = Vec::with_capacity(sources.len());
    for source in sources {
        match Parser::parse(&source.text, &file_name(source)) {
            Ok(parser) => trees.push(parser.veryl),
            Err(error) => findings.push(render(&error)),
        }
    }
    stop_at(findings)?;

    let analyzer = Analyzer::new(&metadata);
    let mut errors = Vec::new();
    for tree in &trees {
        errors.extend(analyzer.analyze_pass1(PROJECT, tree));
    }
    errors.extend(Analyzer::analyze_post_pass1());
    let mut context = Context::default();
    let mut ir = Ir::default();
    for tree in &trees {
        errors.extend(analyzer.analyze_pass2(tree, &mut context, Some(&mut ir)));
    }
    errors.extend(Analyzer::analyze_post_pass2(&ir));

    let mut findings: Vec<String> = Vec::new();
    for finding in errors.iter().map(|error| render(error)) {
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    stop_at(findings)?;

    let emitted = sources.iter().zip(&trees).map(|(source, tree)| {
        // Only the source map uses the paths, which is never written. The emitter panics without them.
        let path = file_name(source);
        let path = Path::new(&path);
        let mut emitter = Emitter::new(&metadata, PROJECT, path, path, path);
        emitter.emit(tree, &source.text);
        Emitted { name: source.name.clone(), text: typeset(emitter.as_str()) }
    });
    Ok(emitted.collect())
}

/// The emitted text as a person would have written it.
fn typeset(emitted: &str) -> String {
    columns::align_assignments(&ranges::fold_ranges(&tidy::tidy(emitted)))
}

/// The project settings, which are otherwise in Veryl.toml.
fn settings(reset: Reset) -> Metadata {
    let mut metadata = Metadata::create_default(PROJECT).expect("the project name is a valid one");
    let build = &mut metadata.build;
    build.clock_type = ClockType::PosEdge;
    build.reset_type = match reset {
        Reset::Asynchronous => ResetType::AsyncLow,
        Reset::Synchronous => ResetType::SyncLow,
    };
    build.omit_project_prefix = true;
    build.sourcemap_target = SourceMapTarget::None;
    build.exclude_std = true;
    build.emit_cond_type = true;
    let format = &mut metadata.format;
    format.max_width = MAX_WIDTH;
    format.vertical_align = true;
    format.newline_style = NewlineStyle::Unix;
    metadata
}

/// The name of a source in messages.
fn file_name(source: &SourceFile) -> String {
    format!("{}.veryl", source.name)
}

/// Ends the compilation if there are findings.
fn stop_at(findings: Vec<String>) -> Result<(), CompileError> {
    if findings.is_empty() { Ok(()) } else { Err(CompileError { findings }) }
}

/// A finding as text, the same on every terminal.
fn render(finding: &dyn Diagnostic) -> String {
    let mut text = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_links(false)
        .with_width(MAX_WIDTH)
        .render_report(&mut text, finding)
        .expect("writing to a string cannot fail");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_does_not_escape() {
        let error = on_own_thread::<()>(|| panic!("planted")).unwrap_err();
        assert_eq!(error.findings, ["Veryl itself failed (a fault in the Veryl compiler): planted"]);
    }
}
