//! Outputs that appear whole or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::temporary::{NEW, OLD, TemporaryFolder};
use crate::{Code, Diagnostic};

/// The file in a folder written by [`OutputFolder::write`] that lists the other files.
pub const MARKER: &str = ".pushmem";

/// The first line of the marker: no other program's file is mistaken for ours.
const MARKER_HEADER: &str = "# Written by pushmem, which replaces this folder as long as it holds only these files:";

/// Writes a file, replacing an existing one, so that it is never seen half written: in a
/// temporary folder in the same folder first, then renamed. Missing parent folders are created.
///
/// # Errors
///
/// If the path is a folder or anything else than a file, or the operating system refuses. Then
/// nothing has changed.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("reports/area.txt");
/// pushmem_files::write_file(&path, b"42\n").unwrap();
/// assert_eq!(std::fs::read(&path).unwrap(), b"42\n");
/// ```
pub fn write_file(path: &Path, contents: &[u8]) -> Result<(), Diagnostic> {
    write_through(path, |temporary| fs::write(temporary, contents).map_err(|reason| cannot_write(path, &reason)))
}

/// Writes several files, of which either all appear or none, as far as the operating system
/// allows: all are written under temporary names before the first is renamed.
///
/// # Errors
///
/// As [`write_file`]; also if two of the paths lead to the same file.
pub fn write_files(files: &[(&Path, String)]) -> Result<(), Diagnostic> {
    let paths: Vec<&Path> = files.iter().map(|(path, _)| *path).collect();
    write_all_through(&paths, |temporaries| {
        files.iter().zip(temporaries).try_for_each(|((path, contents), temporary)| {
            fs::write(temporary, contents).map_err(|reason| cannot_write(path, &reason))
        })
    })
}

/// Has somebody else write several files, of which either all appear or none, as [`write_files`]: under temporary names, in
/// the order of the paths.
///
/// # Errors
///
/// As [`write_files`], and whatever `produce` returns. Then nothing has changed.
pub fn write_all_through<T>(
    paths: &[&Path],
    produce: impl FnOnce(&[PathBuf]) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let mut produce = Some(produce);
    let mut produced = None;
    write_next_through(paths, &mut Vec::new(), &mut |temporaries| {
        produced = produce.take().map(|produce| produce(temporaries)).transpose()?;
        Ok(())
    })?;
    Ok(produced.expect("it is called once, after the last file"))
}

/// Adds temporary files for these paths, and writes all when there is one for each.
fn write_next_through(
    paths: &[&Path],
    temporaries: &mut Vec<PathBuf>,
    produce: &mut dyn FnMut(&[PathBuf]) -> Result<(), Diagnostic>,
) -> Result<(), Diagnostic> {
    let Some((path, others)) = paths.split_first() else { return produce(temporaries) };
    let place = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        (fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned()), path.file_name().map(ToOwned::to_owned))
    };
    if let Some(same) = others.iter().find(|other| place(other) == place(path)) {
        return Err(Diagnostic::new(format!("`{}` and `{}` are the same file", path.display(), same.display()))
            .with_help("choose another file name for one of them"));
    }
    write_through(path, |temporary| {
        temporaries.push(temporary.to_owned());
        write_next_through(others, temporaries, produce)
    })
}

/// Has somebody else write a file, for example another program, in a temporary folder in the same
/// folder, where it is there and empty, and renames it when that has succeeded. Missing parent folders are created.
///
/// # Errors
///
/// As [`write_file`], and whatever `produce` returns. Then nothing has changed.
pub fn write_through<T>(path: &Path, produce: impl FnOnce(&Path) -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
    let path = follow_links(path);
    if let Ok(metadata) = fs::metadata(&path)
        && !metadata.is_file()
    {
        let what = if metadata.is_dir() { "a folder" } else { "not an ordinary file" };
        return Err(Diagnostic::new(format!("cannot write `{}`: it is {what}", path.display()))
            .or_code(Code::Output)
            .with_help("choose another file name"));
    }
    let (parent, created) = prepare_parent(&path)?;
    let refused = |reason: io::Error| cannot_write(&path, &reason);
    let temporary = TemporaryFolder::new_in(parent).map_err(|reason| takes_nothing(parent, &reason))?;
    let new = temporary.path().join(NEW);
    File::create(&new).map_err(refused)?;
    let produced = produce(&new)?;
    fs::rename(&new, &path).map_err(refused)?;
    created.keep();
    Ok(produced)
}

/// Checks, ahead of work that takes long, that [`OutputFolder::write`] can write a folder.
///
/// # Errors
///
/// As [`OutputFolder::write`], as far as it can be known.
pub fn check_output(folder: &Path) -> Result<(), Diagnostic> {
    let folder = follow_links(folder);
    check_replaceable(&folder).map_err(|problem| problem.or_code(Code::Output))?;
    // Folders that are made here are removed at once.
    let (parent, _created) = prepare_parent(&folder)?;
    TemporaryFolder::new_in(parent).map(drop).map_err(|reason| takes_nothing(parent, &reason))
}

/// A set of files that appear together below one folder.
///
/// ```
/// use pushmem_files::OutputFolder;
///
/// let parent = tempfile::tempdir().unwrap();
/// let folder = parent.path().join("tile");
/// let mut output = OutputFolder::new();
/// output.add("rtl/tile.sv", "module tile; endmodule\n");
/// output.write(&folder).unwrap();
/// assert!(folder.join("rtl/tile.sv").is_file());
///
/// // A folder that pushmem wrote is replaced, but not one with a file of somebody else in it.
/// output.write(&folder).unwrap();
/// std::fs::write(folder.join("notes.txt"), "mine").unwrap();
/// let problem = output.write(&folder).unwrap_err();
/// assert!(problem.message().contains("`notes.txt`"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputFolder {
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Folders that the user's tools fill.
    workspaces: BTreeSet<PathBuf>,
}

impl OutputFolder {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces the one of this name. The name is relative to the folder and may
    /// lie in folders below it; [`OutputFolder::write`] checks it.
    pub fn add(&mut self, relative: impl Into<PathBuf>, contents: impl Into<Vec<u8>>) {
        self.files.insert(relative.into(), contents.into());
    }

    /// Adds files: the name and the contents of each.
    pub fn add_all(&mut self, files: impl IntoIterator<Item = (impl Into<PathBuf>, impl Into<Vec<u8>>)>) {
        files.into_iter().for_each(|(relative, contents)| self.add(relative, contents));
    }

    /// Declares a folder, such as `build`, that tools fill when the user runs them in the output folder, for example by
    /// `make`. It is not created, and does not keep the output folder from being replaced, which removes it.
    pub fn add_workspace(&mut self, relative: impl Into<PathBuf>) {
        self.workspaces.insert(relative.into());
    }

    /// Replaces the name and the text of each file by what they become; files that are no text stay as they are.
    pub fn rewrite(&mut self, rewritten: impl Fn(&Path, String) -> (PathBuf, String)) {
        let files = std::mem::take(&mut self.files).into_iter();
        self.files = files
            .map(|(name, contents)| match String::from_utf8(contents) {
                Ok(text) => {
                    let (name, text) = rewritten(&name, text);
                    (name, text.into_bytes())
                }
                Err(bytes) => (name, bytes.into_bytes()),
            })
            .collect();
    }

    /// The files added so far with their contents, ordered by name.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.files.iter().map(|(name, contents)| (name.as_path(), contents.as_slice()))
    }

    /// Writes the folder with exactly these files and the [`MARKER`] that lists them. Missing
    /// parent folders are created.
    ///
    /// Everything is written to a temporary folder next to it first, which is then renamed. An
    /// existing folder is replaced only if it is empty, or if a previous call wrote it and no
    /// files have been added since. While it is replaced there is no folder for an instant.
    ///
    /// # Errors
    ///
    /// If a name is not relative or leaves the folder; if the path is a file, or a folder with
    /// files that pushmem did not write; or if the operating system refuses. Then nothing has
    /// changed. If only the replaced files cannot be removed, the error says so.
    pub fn write(&self, folder: &Path) -> Result<(), Diagnostic> {
        self.write_folder(folder).map_err(|problem| problem.or_code(Code::Output))
    }

    fn write_folder(&self, folder: &Path) -> Result<(), Diagnostic> {
        let marker = self.marker()?;
        let folder = follow_links(folder);
        let exists = check_replaceable(&folder)?;
        let (parent, created) = prepare_parent(&folder)?;
        let refused = |reason: io::Error| cannot_write(&folder, &reason);

        let temporary = TemporaryFolder::new_in(parent).map_err(|reason| takes_nothing(parent, &reason))?;
        let new = temporary.path().join(NEW);
        let files = self.files().chain([(Path::new(MARKER), marker.as_bytes())]);
        write_below(&new, files).map_err(refused)?;
        if exists {
            replace(&folder, &new, temporary)?;
        } else {
            fs::rename(&new, &folder).map_err(refused)?;
        }
        created.keep();
        Ok(())
    }

    /// The contents of the marker, after checking the names that it lists.
    fn marker(&self) -> Result<String, Diagnostic> {
        let mut marker = format!("{MARKER_HEADER}\n");
        for name in self.files.keys() {
            marker.push_str(&checked_name(name)?);
            marker.push('\n');
        }
        for name in &self.workspaces {
            marker.push_str(&checked_name(name)?);
            marker.push_str("/\n");
        }
        Ok(marker)
    }
}

/// The name with `/` between its parts, if it is a sensible name for a file in the folder.
fn checked_name(name: &Path) -> Result<String, Diagnostic> {
    let parts: Option<Vec<&str>> = name
        .components()
        .map(|component| match component {
            Component::Normal(part) => part.to_str().filter(|part| !part.contains(['\n', '\r'])),
            _ => None,
        })
        .collect();
    let joined = parts.unwrap_or_default().join("/");
    if joined.is_empty() || joined == MARKER {
        let message = format!("{name:?} cannot be the name of a file in an output folder");
        return Err(Diagnostic::new(message).with_help(format!(
            "expected a relative name without `.` and `..`, on one line and other than `{MARKER}`"
        )));
    }
    Ok(joined)
}

/// The file or folder that the path leads to if it exists, so that a link is not replaced but
/// what it points to.
fn follow_links(path: &Path) -> PathBuf {
    // Other paths stay as the user typed them, which messages show.
    if path.is_symlink() { fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() }
}

/// Whether the folder exists; an error if it exists and must not be replaced.
fn check_replaceable(folder: &Path) -> Result<bool, Diagnostic> {
    let shown = folder.display();
    let cannot_read = |reason| Diagnostic::refused("read", folder, &reason).with_help("choose another output folder");
    match fs::symlink_metadata(folder) {
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(reason) if reason.kind() == io::ErrorKind::NotADirectory => return Err(not_a_folder(present(folder))),
        Err(reason) => return Err(cannot_read(reason)),
        Ok(metadata) if !metadata.is_dir() => {
            return Err(Diagnostic::new(format!("`{shown}` is not a folder"))
                .with_help("choose another output folder, or remove the file"));
        }
        Ok(_) => {}
    }
    let mut present = BTreeSet::new();
    list_entries(folder, Path::new(""), &mut present).map_err(cannot_read)?;
    if present.is_empty() {
        return Ok(true);
    }
    let Some(written) = written_entries(folder) else {
        return Err(Diagnostic::new(format!(
            "the folder `{shown}` was not written by pushmem: it holds {}",
            enumerate(present.iter())
        ))
        .with_help("choose another output folder, or remove this one"));
    };
    let mut foreign = present.iter().filter(|path| !written.contains(path)).peekable();
    if foreign.peek().is_some() {
        return Err(Diagnostic::new(format!(
            "the folder `{shown}` holds what pushmem did not write: {}",
            enumerate(foreign)
        ))
        .with_help("choose another output folder, or move these files elsewhere"));
    }
    Ok(true)
}

/// Files and folders below the folder, relative to it; links are not followed.
fn list_entries(folder: &Path, relative: &Path, entries: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(relative))? {
        let entry = entry?;
        let name = relative.join(entry.file_name());
        entries.insert(name.clone());
        if entry.file_type()?.is_dir() {
            list_entries(folder, &name, entries)?;
        }
    }
    Ok(())
}

/// The files and folders of an output folder that pushmem wrote.
struct Written {
    /// Files, and the folders they lie in.
    entries: BTreeSet<PathBuf>,
    /// Folders with all that is in them.
    workspaces: Vec<PathBuf>,
}

impl Written {
    fn contains(&self, path: &Path) -> bool {
        self.entries.contains(path) || self.workspaces.iter().any(|workspace| path.starts_with(workspace))
    }
}

/// The files and folders that the marker names, if there is one; names of workspaces have a `/` at the end.
fn written_entries(folder: &Path) -> Option<Written> {
    let marker = fs::read_to_string(folder.join(MARKER)).ok()?;
    let names = marker.strip_prefix(MARKER_HEADER)?.lines().skip(1);
    let (workspaces, files): (Vec<&str>, Vec<&str>) = names.partition(|name| name.ends_with('/'));
    let files = files.into_iter().chain([MARKER]).flat_map(|name| Path::new(name).ancestors());
    let entries = files.filter(|path| !path.as_os_str().is_empty()).map(Path::to_owned).collect();
    Some(Written { entries, workspaces: workspaces.into_iter().map(PathBuf::from).collect() })
}

/// The first few of the paths, for a message.
fn enumerate<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<String> = paths.map(|path| format!("`{}`", path.display())).collect();
    if names.len() > SHOWN {
        let others = names.len() - SHOWN;
        names.truncate(SHOWN);
        names.push(format!("{others} more"));
    }
    names.join(", ")
}

fn write_below<'a>(folder: &Path, files: impl Iterator<Item = (&'a Path, &'a [u8])>) -> io::Result<()> {
    for (name, contents) in files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, contents)?;
    }
    Ok(())
}

/// Puts the folder `new` in the place of `folder`, or leaves `folder` as it was.
fn replace(folder: &Path, new: &Path, temporary: TemporaryFolder) -> Result<(), Diagnostic> {
    let old = temporary.path().join(OLD);
    fs::rename(folder, &old).map_err(|reason| cannot_write(folder, &reason))?;
    if let Err(reason) = fs::rename(new, folder) {
        let problem = cannot_write(folder, &reason);
        return Err(match fs::rename(&old, folder) {
            Ok(()) => problem,
            Err(_) => {
                // Dropped, the temporary folder would take the only copy with it.
                let kept = temporary.keep().join(OLD);
                problem.with_help(format!("the previous files are in `{}`", kept.display()))
            }
        });
    }
    let leftover = temporary.path().to_owned();
    temporary.close().map_err(|reason| {
        let problem = Diagnostic::refused("remove", &leftover, &reason);
        let shown = folder.display();
        problem.with_help(format!("`{shown}` is written; remove the previous files by hand"))
    })
}

pub(crate) fn cannot_write(path: &Path, reason: &io::Error) -> Diagnostic {
    Diagnostic::refused("write", path, reason)
        .or_code(Code::Output)
        .with_help("check the permissions and the free space, or choose another place")
}

/// No file or folder can be made in the folder `parent`, although it is there.
fn takes_nothing(parent: &Path, reason: &io::Error) -> Diagnostic {
    if !parent.is_dir() {
        return not_a_folder(parent);
    }
    let problem = Diagnostic::refused("create a file or folder in", parent, reason).or_code(Code::Output);
    match reason.kind() {
        // The answers of file systems that show the state of the system, such as /proc.
        io::ErrorKind::NotFound | io::ErrorKind::Unsupported => {
            problem.with_help("no files can be kept there; choose another place")
        }
        _ => problem.with_help("check the permissions and the free space, or choose another place"),
    }
}

/// The folder in which `path` lies, created if missing.
fn prepare_parent(path: &Path) -> Result<(&Path, CreatedFolders), Diagnostic> {
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) if path.file_name().is_some() => parent,
        _ => {
            let message = format!("`{}` cannot be an output", path.display());
            return Err(Diagnostic::new(message).or_code(Code::Output).with_help("give a path that ends in a name"));
        }
    };
    let created = CreatedFolders::create(parent).map_err(|reason| takes_nothing(present(parent), &reason))?;
    Ok((parent, created))
}

/// The innermost of the folders of a path that is there.
fn present(path: &Path) -> &Path {
    let named = path.ancestors().filter(|ancestor| !ancestor.as_os_str().is_empty());
    named.into_iter().find(|ancestor| ancestor.exists()).unwrap_or(Path::new("."))
}

/// The path, in which there should be files, leads to a file.
fn not_a_folder(path: &Path) -> Diagnostic {
    Diagnostic::new(format!("`{}` is not a folder", path.display()))
        .or_code(Code::Output)
        .with_help("choose another place")
}

/// Folders created for an output; removed again when dropped, unless kept.
struct CreatedFolders {
    /// Outer folders first.
    folders: Vec<PathBuf>,
}

impl CreatedFolders {
    /// Creates the folder and those it lies in, as far as they are missing.
    fn create(folder: &Path) -> io::Result<Self> {
        let missing: Vec<&Path> =
            folder.ancestors().take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists()).collect();
        let mut created = Self { folders: Vec::new() };
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => created.folders.push(folder.to_owned()),
                // Another process was faster, or the path has the form `new/..`.
                Err(_) if folder.is_dir() => {}
                Err(reason) => return Err(reason),
            }
        }
        Ok(created)
    }

    fn keep(mut self) {
        self.folders.clear();
    }
}

impl Drop for CreatedFolders {
    fn drop(&mut self) {
        for folder in self.folders.iter().rev() {
            // A folder that somebody else has put something into stays.
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests;
