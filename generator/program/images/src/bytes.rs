//! Binary files.

use std::path::Path;

use pushmem_files::{Diagnostic, read_bytes_up_to};

use crate::{Element, Image};

/// Larger files cannot be images within the limit of elements.
const SIZE_LIMIT: u64 = 1 << 30;

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    read_bytes_up_to(path, SIZE_LIMIT)
}

/// The values of a picture, of a byte each, or of two with the high one first.
pub(crate) fn of_picture(image: &Image) -> Vec<u8> {
    let mut bytes = image.values().bytes().to_vec();
    if image.element() == Element::U16 {
        bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|bytes| bytes.reverse());
    }
    bytes
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
