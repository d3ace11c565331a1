//! Files of `constraints` that are part of the program, so that they are there wherever it is run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use itertools::Itertools;
use pushmem_files::{Diagnostic, Document, nearest};
use rust_embed::{Embed, EmbeddedFile};

use crate::kinds::{self, FileKind};

/// The folder `constraints` of the project.
#[derive(Embed)]
#[folder = "../../../constraints"]
#[prefix = "constraints/"]
struct Constraints;

/// Files of one kind.
pub struct Shipped {
    /// The block that one of them describes.
    pub what: &'static str,
    /// Their kind of file.
    pub kind: FileKind,
    /// Their folder in a project.
    pub folder: &'static str,
}

impl Shipped {
    /// Reads a file, or one of these by its name on the command line, as [`Shipped::by_name`].
    ///
    /// # Errors
    /// When there is no such file or name, or the file is clearly something else.
    pub fn document(&self, named: &Path) -> Result<Document, Diagnostic> {
        match name(named) {
            Some(name) => self.by_name(name),
            None => kinds::read(named, &[self.kind]),
        }
    }

    /// The file of a name: where there is a project, what is in its folder now; the one that is part of the program elsewhere.
    ///
    /// # Errors
    /// As [`Shipped::document`].
    pub fn by_name(&self, name: &str) -> Result<Document, Diagnostic> {
        let in_project = self.in_project(name);
        if in_project.is_file() {
            return kinds::read(&in_project, &[self.kind]);
        }
        if let Some(shipped) = self.file(name) {
            return Document::parse(format!("{name}.yaml"), String::from_utf8_lossy(&shipped.data));
        }
        let names = self.names();
        let suggestion = nearest(name, names.iter().map(String::as_str));
        let suggestion = suggestion.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        Err(Diagnostic::new(format!("there is no file and no {} `{name}`", self.what))
            .with_help(format!("{suggestion}give a file, or one of {}", names.join(", "))))
    }

    /// The file of a name, where there is a project that has it.
    pub fn in_project(&self, name: &str) -> PathBuf {
        Path::new(self.folder).join(format!("{name}.yaml"))
    }

    /// All names, of the project's files and of those that are part of the program.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder).into_iter().flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let yaml = paths.filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
        let in_project = yaml.filter_map(|path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned()));
        in_project.chain(self.shipped()).sorted().dedup().collect()
    }

    /// Whether the project has a file of this name, or the program.
    pub fn has(&self, name: &str) -> bool {
        self.in_project(name).is_file() || self.file(name).is_some()
    }

    /// The names of those that are part of the program.
    pub fn shipped(&self) -> impl Iterator<Item = String> {
        let name =
            |file: &str| file.strip_prefix(self.folder)?.strip_prefix('/')?.strip_suffix(".yaml").map(str::to_owned);
        Constraints::iter().filter_map(move |file| name(&file))
    }

    /// The one that is part of the program, by its name.
    fn file(&self, name: &str) -> Option<EmbeddedFile> {
        Constraints::get(&format!("{}/{name}.yaml", self.folder))
    }
}

/// All files, by their paths in a project.
pub fn texts() -> BTreeMap<String, String> {
    let text = |file: &str| Constraints::get(file).map(|file| String::from_utf8_lossy(&file.data).into_owned());
    Constraints::iter().filter_map(|file| Some((file.to_string(), text(&file)?))).collect()
}

/// The name on the command line, if it is no file.
pub fn name(named: &Path) -> Option<&str> {
    let is_name = named.components().count() == 1 && named.extension().is_none() && !named.exists();
    named.to_str().filter(|_| is_name)
}
