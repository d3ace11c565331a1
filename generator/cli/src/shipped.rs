//! Files of `constraints` that are part of the program, so that they are there wherever it is run.

use std::path::Path;

use pushmem_files::{Diagnostic, Document, nearest};

/// The names and texts of files in a folder of `constraints`.
macro_rules! shipped {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../constraints/", $folder, "/", $name, ".yaml")),
        )),*]
    };
}
pub(crate) use shipped;

/// Files of one kind.
pub struct Shipped {
    /// What one of them describes.
    pub what: &'static str,
    /// Their names and texts.
    pub files: &'static [(&'static str, &'static str)],
}

impl Shipped {
    /// The file of a name.
    ///
    /// # Errors
    /// When none has the name.
    pub fn document(&self, name: &str) -> Result<Document, Diagnostic> {
        if let Some((_, text)) = self.files.iter().find(|(shipped, _)| *shipped == name) {
            return Document::parse(format!("{name}.yaml"), *text);
        }
        let names = || self.files.iter().map(|(shipped, _)| *shipped);
        let suggestion = nearest(name, names()).map_or(String::new(), |near| format!("did you mean `{near}`? "));
        Err(Diagnostic::new(format!("there is no file and no {} `{name}`", self.what))
            .with_help(format!("{suggestion}give a file, or one of {}", names().collect::<Vec<_>>().join(", "))))
    }
}

/// What is named on the command line, if it is no file: the name of one that is shipped.
pub fn name(named: &Path) -> Option<&str> {
    let is_name = named.components().count() == 1 && named.extension().is_none() && !named.exists();
    named.to_str().filter(|_| is_name)
}
