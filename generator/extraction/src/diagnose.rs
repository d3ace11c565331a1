//! Errors of the scheduler, at the text of the program.

use pushmem_files::Diagnostic;
use pushmem_nest::Program;
use pushmem_schedule::ScheduleError;

use crate::extract::Extraction;

/// The message for an error of the scheduler, at the operation or the array that the stage was made from; a second one
/// points at the other stage, if two are involved.
pub fn diagnose(program: &Program, extraction: &Extraction, error: &ScheduleError) -> Diagnostic {
    let span = |stage: usize| extraction.span(program, stage);
    let found = program.diagnostic(span(error.stage().number), error.to_string()).with_help(error.help());
    match error.other().filter(|other| span(other.number) != span(error.stage().number)) {
        Some(other) => {
            let label = format!("this is {other}");
            found.with_related(vec![program.diagnostic(span(other.number), label).as_note()])
        }
        None => found,
    }
}
