//! Reading text files.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::{Code, Diagnostic, nearest};

/// The largest input file that is read, in bytes: 64 MiB.
///
/// Larger files are refused rather than read into memory: they are not the intended input.
pub const SIZE_LIMIT: u64 = 64 << 20;

/// The text of the file, without the byte order mark that some editors put in front.
///
/// # Errors
///
/// If the file is missing, a folder, larger than [`SIZE_LIMIT`] or not UTF-8 text.
pub fn read_text(path: &Path) -> Result<String, Diagnostic> {
    read_text_up_to(path, SIZE_LIMIT).map_err(|problem| problem.or_code(Code::Unreadable))
}

/// The file of the folder with the same ending that is called most alike.
fn meant(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A link to nowhere is no file.
    let files = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).filter(|file| file.is_file());
    let alike = files.filter(|file| file.extension() == path.extension());
    let mut stems: Vec<String> = alike.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect();
    stems.sort();
    let stem = nearest(path.file_stem()?.to_str()?, stems.iter().map(String::as_str))?;
    let mut file = path.with_file_name(stem).into_os_string();
    if let Some(ending) = path.extension() {
        file.push(".");
        file.push(ending);
    }
    Some(file.into())
}

/// The operating system refused to read a file: with the name of a file that may be meant.
pub fn unreadable(path: &Path, reason: &std::io::Error) -> Diagnostic {
    let problem = Diagnostic::refused("read", path, reason).or_code(Code::Unreadable);
    match reason.kind() {
        ErrorKind::NotFound => problem.with_help(match meant(path) {
            Some(other) => format!("did you mean `{}`?", other.display()),
            None => "check the name of the file".to_owned(),
        }),
        ErrorKind::PermissionDenied => problem.with_help("check the permissions of the file"),
        _ => problem,
    }
}

/// The bytes of the file.
///
/// # Errors
///
/// If the file is missing, a folder or larger than [`SIZE_LIMIT`].
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    read_bytes_up_to(path, SIZE_LIMIT).map_err(|problem| problem.or_code(Code::Unreadable))
}

/// The bytes of a file that has at most so many.
///
/// # Errors
/// As [`read_bytes`].
pub fn read_bytes_up_to(path: &Path, limit: u64) -> Result<Vec<u8>, Diagnostic> {
    let shown = path.display();
    let refused = |reason| unreadable(path, &reason);
    if path.is_dir() {
        return Err(
            Diagnostic::new(format!("`{shown}` is a folder, not a file")).with_help("give the name of a file in it")
        );
    }
    // Devices and pipes do not know their length: read one byte more than allowed.
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(refused)?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > limit {
        return Err(Diagnostic::new(format!("`{shown}` is larger than {limit} bytes"))
            .with_help("check that this is the intended file"));
    }
    Ok(bytes)
}

fn read_text_up_to(path: &Path, limit: u64) -> Result<String, Diagnostic> {
    let shown = path.display();
    let bytes = read_bytes_up_to(path, limit)?;
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[offset];
        let message = format!("`{shown}` is not UTF-8 text: byte {byte:#04x} at offset {offset}");
        Diagnostic::new(message).with_help("save the file as UTF-8")
    })?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{read_text, read_text_up_to};

    #[test]
    fn explains_unreadable_files() {
        let folder = tempfile::tempdir().unwrap();
        let missing = read_text(&folder.path().join("tile.yaml")).unwrap_err();
        assert!(missing.message().contains("tile.yaml"), "{missing:?}");
        assert_eq!(missing.help(), Some("check the name of the file"));

        let there = folder.path().join("gaussian.two.yaml");
        std::fs::write(&there, "").unwrap();
        let misspelt = read_text(&folder.path().join("gausian.two.yaml")).unwrap_err();
        assert_eq!(misspelt.help(), Some(format!("did you mean `{}`?", there.display()).as_str()));
        let other_ending = read_text(&folder.path().join("gaussian.two.hex")).unwrap_err();
        assert_eq!(other_ending.help(), Some("check the name of the file"));
        std::fs::create_dir(folder.path().join("gaussian.two.hex")).unwrap();
        let like_a_folder = read_text(&folder.path().join("gausian.two.hex")).unwrap_err();
        assert_eq!(like_a_folder.help(), Some("check the name of the file"));

        let directory = read_text(folder.path()).unwrap_err();
        assert!(directory.message().ends_with("is a folder, not a file"), "{directory:?}");

        let binary = folder.path().join("binary.yaml");
        std::fs::write(&binary, b"a: \xff").unwrap();
        let binary = read_text(&binary).unwrap_err();
        assert!(binary.message().ends_with("byte 0xff at offset 3"), "{binary:?}");
        assert_eq!(binary.help(), Some("save the file as UTF-8"));
    }

    #[test]
    fn limits_the_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        std::fs::write(&path, "12345678").unwrap();
        assert_eq!(read_text_up_to(&path, 8).unwrap(), "12345678");
        let problem = read_text_up_to(&path, 7).unwrap_err();
        assert!(problem.message().ends_with("is larger than 7 bytes"), "{problem:?}");
    }

    #[test]
    fn drops_the_byte_order_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        std::fs::write(&path, "\u{feff}12").unwrap();
        assert_eq!(read_text(&path).unwrap(), "12");
    }
}
