//! Errors of the scheduler, at the text of the program.

use pushmem_files::Diagnostic;
use pushmem_nest::Program;
use pushmem_schedule::{Along, Collapse, ScheduleError, ScheduleFault, StageName};

use crate::extract::Extraction;

/// The message for an error of the scheduler, at the access, the operation or the array that it is about; a second one points
/// at the other access or stage, if two are involved.
pub fn diagnose(program: &Program, extraction: &Extraction, error: &ScheduleError) -> Diagnostic {
    let span = |stage: usize| extraction.span(program, stage);
    let (place, other) = match &error.fault {
        ScheduleFault::Collapsed(collapse) => {
            let Collapse { here, elsewhere, .. } = &**collapse;
            let access = |along: &Along| extraction.access_span(program, along.stage.number, along.read);
            let other = elsewhere.as_ref().map(|along| {
                let Along { array, dimension, variable, .. } = along;
                (access(along), format!("here `{variable}` runs along index {dimension} of `{array}`"))
            });
            (access(here), other)
        }
        _ => {
            let label = |other: &StageName| (span(other.number), "this is the other one".to_owned());
            (span(error.stage.number), error.other.as_ref().map(label))
        }
    };
    let named = |stage: &StageName| match span(stage.number) == span(error.stage.number) {
        true => extraction.this(program, stage.number),
        false => extraction.statement(program, stage.number),
    };
    let found = program.diagnostic(place, error.text(named)).with_help(error.help());
    match other.filter(|(other, _)| *other != place) {
        Some((other, label)) => found.with_related(vec![program.diagnostic(other, label).as_note()]),
        None => found,
    }
}
