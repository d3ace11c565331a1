//! `pushmem completions`.

use clap::{Args, Command};
use clap_complete::{Shell, generate};
use pushmem_files::Diagnostic;

use crate::output;

#[derive(Args)]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    /// Prints the completions of a command.
    pub fn run(&self, command: &mut Command) -> Result<(), Diagnostic> {
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        generate(self.shell, command, name, &mut script);
        output::print(&String::from_utf8_lossy(&script))
    }
}
