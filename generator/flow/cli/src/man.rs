//! `pushmem man`.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man as Page;
use pushmem_files::{Diagnostic, write_files};

#[derive(Args)]
pub struct Man {
    /// Folder for the pages, for example `~/.local/share/man/man1`; it is made if it is not there.
    #[arg(short = 'o', long = "folder", value_name = "FOLDER")]
    folder: PathBuf,
}

impl Man {
    /// Writes the pages of a program.
    pub fn run(&self, mut program: Command) -> Result<(), Diagnostic> {
        program.build();
        let mut pages = Vec::new();
        pages_of(program, &mut pages)?;
        let paths = pages.iter().map(|(name, _)| self.folder.join(name)).collect::<Vec<_>>();
        let texts = pages.into_iter().map(|(_, text)| text);
        write_files(&paths.iter().map(PathBuf::as_path).zip(texts).collect::<Vec<_>>())
    }
}

/// The pages of a command and of those within it: the name of the file, and its text. `help` needs none, and commands
/// for scripts, which help does not list, have none.
fn pages_of(command: Command, pages: &mut Vec<(String, String)>) -> Result<(), Diagnostic> {
    let has_page = |inner: &&Command| inner.get_name() != "help" && !inner.is_hide_set();
    let inner = command.get_subcommands().filter(has_page).cloned().collect::<Vec<_>>();
    let page = Page::new(command.disable_help_subcommand(true));
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| Diagnostic::new(format!("cannot render a page: {error}")))?;
    pages.push((page.get_filename(), String::from_utf8_lossy(&text).into_owned()));
    inner.into_iter().try_for_each(|inner| pages_of(inner, pages))
}
