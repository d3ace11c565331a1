//! Results of `pushmem synth` in the report of a build.

use std::fmt::Display;

use pushmem_files::{Code, Diagnostic, read_text, write_file};
use pushmem_report::{Synthesized, add_synthesis, check_synthesis};
use serde::Serialize;

use super::Synth;
use crate::{output, own_command};

const FILE: &str = "report.html";

impl Synth {
    /// Checks that the report that gets the results is of what is synthesized.
    ///
    /// # Errors
    /// When it is not, or the folder has none.
    pub(super) fn check_report(&self, of: &Synthesized) -> Result<(), Diagnostic> {
        let Some(folder) = &self.report else { return Ok(()) };
        let file = folder.join(FILE);
        let help = format!("`pushmem build PROGRAM -o {}` writes it, with the same choices", folder.display());
        let page = read_text(&file).map_err(|error| error.with_help(help.clone()))?;
        check_synthesis(&page, of).map_err(|why| {
            let refused =
                Diagnostic::new(format!("{} is not the report of {}: {why}", file.display(), self.target.display()));
            refused.or_code(Code::Request).with_help(help)
        })
    }

    /// Reports, and adds the results to the report of a build if that is wanted.
    pub(super) fn finish<Found: Serialize + Display>(&self, found: &Found) -> Result<(), Diagnostic> {
        if let Some(folder) = &self.report {
            let file = folder.join(FILE);
            let found = serde_json::to_value(found).expect("results are numbers and names");
            let page = add_synthesis(&read_text(&file)?, &own_command::text(), found);
            let page = page.ok_or_else(|| Diagnostic::new(format!("{} is no report any more", file.display())))?;
            write_file(&file, page.as_bytes())?;
        }
        output::result(self.json, found, || found.to_string())
    }
}
