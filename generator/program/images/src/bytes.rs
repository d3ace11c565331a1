//! Binary files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use pushmem_files::{Diagnostic, unreadable};

/// Larger files cannot be images within the limit of elements.
const SIZE_LIMIT: u64 = 1 << 30;

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let shown = path.display();
    if path.is_dir() {
        return Err(
            Diagnostic::new(format!("`{shown}` is a folder, not a file")).with_help("give the name of a file in it")
        );
    }
    let refused = |reason: std::io::Error| unreadable(path, &reason);
    let mut bytes = Vec::new();
    File::open(path).map_err(refused)?.take(SIZE_LIMIT + 1).read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(Diagnostic::new(format!("`{shown}` is larger than {SIZE_LIMIT} bytes"))
            .with_help("check that this is the intended file"));
    }
    Ok(bytes)
}

/// The file is not what its ending says.
pub(crate) fn damaged(path: &Path, format: &str, reason: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::new(format!("`{}` is not a readable {format} file: {reason}", path.display()))
}

/// The file ends before its last element.
pub(crate) fn truncated(path: &Path, needed: usize, found: usize) -> Diagnostic {
    Diagnostic::new(format!("`{}` is truncated: {needed} elements are announced, {found} are there", path.display()))
        .with_help("copy or write the file again")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_file_that_may_be_meant_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("photo.png");
        std::fs::write(&there, "").unwrap();
        let missing = super::read(&folder.path().join("phto.png")).unwrap_err();
        assert_eq!(missing.help(), Some(format!("did you mean `{}`?", there.display()).as_str()));
    }
}
