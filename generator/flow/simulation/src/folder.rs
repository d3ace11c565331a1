//! Folders in which models are built, and which then are kept.

use std::fs;
use std::path::Path;

use pushmem_files::{Diagnostic, TemporaryFolder};

/// An empty folder in one of the cache, which is made if it is not there.
pub(crate) fn working_folder(place: &Path) -> Result<TemporaryFolder, Diagnostic> {
    fs::create_dir_all(place).map_err(io(place))?;
    TemporaryFolder::new_in(place).map_err(io(place))
}

/// Moves a folder to its place. Whoever comes first wins; the others have built the same.
pub(crate) fn keep(work: TemporaryFolder, place: &Path) {
    let _ = work.persist(place);
    pushmem_cache::added(place);
}

/// Writes a file.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Diagnostic> {
    fs::write(path, text).map_err(io(path))
}

/// The error of an access to a path.
pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Diagnostic {
    let path = path.display().to_string();
    move |error| {
        Diagnostic::new(format!("{path}: {error}")).with_help(format!(
            "models are built in {}; the variable \
            {} names another folder",
            pushmem_cache::folder().display(),
            pushmem_cache::VARIABLE
        ))
    }
}
