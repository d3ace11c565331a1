//! Temporary folders, of which a process that was killed leaves none for long.
//!
//! Each is locked, with all that is in it, as long as its process lives: the operating system ends the lock with the process, however that ends. Whoever
//! makes the next one in the same folder removes those that no process holds.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir};

/// Names of temporary folders start with this, and of files that earlier versions made.
const PREFIX: &str = ".pushmem-unfinished-";

/// In a temporary folder that takes the place of another: the folder that comes, and the one that goes.
pub(crate) const NEW: &str = "new";
pub(crate) const OLD: &str = "old";

/// A folder for work in progress, removed when it is dropped. Of a process that was killed, the next one removes it.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: TempDir,
    _lock: File,
}

impl TemporaryFolder {
    /// Makes one in `parent`, after removing those of dead processes there.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn new_in(parent: &Path) -> io::Result<Self> {
        remove_abandoned(parent);
        let (folder, lock) = locked(|| Builder::new().prefix(PREFIX).tempdir_in(parent))?;
        Ok(Self { folder, _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Removes the folder.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn close(self) -> io::Result<()> {
        self.folder.close()
    }

    /// Gives the folder another path on the same file system, where it stays.
    ///
    /// # Errors
    ///
    /// Those of the operating system; then the folder is removed.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        // Locked until it has its new name. The folder that is dropped afterwards no longer exists.
        fs::rename(self.path(), path)
    }

    /// Keeps the folder, as long as it holds [`NEW`] and [`OLD`]; returns its path.
    pub(crate) fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

/// Makes a folder and locks it. Until it is locked, another process may take it for abandoned and remove it: then once more.
fn locked(make: impl Fn() -> io::Result<TempDir>) -> io::Result<(TempDir, File)> {
    loop {
        let made = make()?;
        match File::open(made.path()) {
            Ok(lock) => {
                // A file system without locks has nothing that could be taken for abandoned.
                let _ = lock.lock();
                if made.path().exists() {
                    return Ok((made, lock));
                }
            }
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => {}
            Err(reason) => return Err(reason),
        }
    }
}

/// Removes what processes that are dead left in the folder, as far as possible: others run on.
fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_temporary = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if !is_temporary || !(kind.is_dir() || kind.is_file()) {
            continue;
        }
        // The lock is held while the rest goes, so that who has just made it waits, and sees that it is gone.
        let Some(_lock) = File::open(&path).ok().filter(|file| file.try_lock().is_ok()) else { continue };
        // Killed in the instant between: the only copy of what was there before.
        let holds_only_copy = path.join(OLD).exists() && path.join(NEW).exists();
        let _ = match (kind.is_dir(), holds_only_copy) {
            (true, true) => Ok(()),
            (true, false) => fs::remove_dir_all(&path),
            (false, _) => fs::remove_file(&path),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::{NEW, OLD, PREFIX, TemporaryFolder};
    use crate::{OutputFolder, write_file};

    #[test]
    fn what_dead_processes_left_goes() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(format!("{PREFIX}{name}"));
        let leave = |name: &str| {
            fs::create_dir_all(path(name).join(NEW)).unwrap();
            fs::write(path(name).join(NEW).join("tile.sv"), "module").unwrap();
        };
        let running = TemporaryFolder::new_in(parent.path()).unwrap();
        leave("folder");
        fs::write(path("file"), "").unwrap();
        fs::write(parent.path().join("mine"), "").unwrap();
        OutputFolder::new().write(&parent.path().join("out")).unwrap();
        assert!(!path("folder").exists() && !path("file").exists());
        leave("folder");
        write_file(&parent.path().join("report"), b"").unwrap();
        assert!(!path("folder").exists());
        // Those of running processes, and of others, stay.
        assert!(running.path().exists() && parent.path().join("mine").exists());
    }

    #[test]
    fn the_only_copy_stays() {
        let parent = tempfile::tempdir().unwrap();
        let abandoned = parent.path().join(format!("{PREFIX}swap"));
        fs::create_dir_all(abandoned.join(OLD)).unwrap();
        fs::create_dir_all(abandoned.join(NEW)).unwrap();
        drop(TemporaryFolder::new_in(parent.path()).unwrap());
        assert!(abandoned.exists());
        fs::remove_dir(abandoned.join(NEW)).unwrap();
        drop(TemporaryFolder::new_in(parent.path()).unwrap());
        assert!(!abandoned.exists());
    }

    /// Whoever writes a file may replace it, as writers of waves do.
    #[test]
    fn a_file_in_progress_stays() {
        let parent = tempfile::tempdir().unwrap();
        let produced = crate::write_through(&parent.path().join("waves"), |temporary| {
            fs::remove_file(temporary).unwrap();
            fs::write(temporary, "waves").unwrap();
            write_file(&parent.path().join("other"), b"")
        });
        produced.unwrap();
        assert_eq!(fs::read(parent.path().join("waves")).unwrap(), b"waves");
    }

    /// Makers that are fast do not lose what they made to each other.
    #[test]
    fn many_at_a_time() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let folder = TemporaryFolder::new_in(parent.path()).unwrap();
                        File::create(folder.path().join("a")).unwrap();
                        write_file(&parent.path().join("b"), b"").unwrap();
                        assert!(folder.path().join("a").exists());
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}
