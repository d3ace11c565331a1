//! The size of the cache: what was not used for the longest time goes when it grows too large.
//!
//! An entry is a file or a folder in a folder of its kind (`models/KEY`, `rtl/KEY.json`). Its time of modification is that of
//! its last use. It is removed at once, by giving it another name first, so that no process finds a part of it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// Names the most megabytes that are kept, instead of [`DEFAULT_MEGABYTES`]; 0 for no limit.
pub const LIMIT_VARIABLE: &str = "PUSHMEM_CACHE_MB";

/// The most megabytes that are kept. The models of all tests of the project are a third of it.
pub const DEFAULT_MEGABYTES: u64 = 5000;

const MEGABYTE: u64 = 1_000_000;

/// Entries that were used so recently stay, whatever the size: a process may be running one.
const IN_USE: Duration = Duration::from_secs(3600);

/// When an entry is made, the size of the cache is known to this fraction of the limit.
const SLACK: u64 = 32;

/// Names of what is being removed start with this. Temporary files of others start with a dot, too.
const REMOVED: &str = ".removed-";

/// Bytes that this process added since it last looked at all entries; nothing before it looked.
static ADDED: Mutex<Option<u64>> = Mutex::new(None);

/// Tells that an entry is used now. Without effect if there is none.
pub fn used(entry: &Path) {
    // Whoever may not change the time reads a cache that another user keeps small.
    let _ = File::open(entry).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Tells that an entry was added, and removes others if there is too much.
pub fn added(entry: &Path) {
    used(entry);
    let Some(limit) = limit() else { return };
    let mut added = ADDED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let grown = added.map(|added| added + size(entry));
    if grown.is_none_or(|grown| grown > limit / SLACK) {
        // The next process tries again to remove this one.
        let _ = trim(&crate::folder(), limit - limit / SLACK, SystemTime::now());
        *added = Some(0);
    } else {
        *added = grown;
    }
}

/// The most bytes, if there is a limit.
fn limit() -> Option<u64> {
    let named = std::env::var(LIMIT_VARIABLE).ok().and_then(|text| text.trim().parse().ok());
    let megabytes: u64 = named.unwrap_or(DEFAULT_MEGABYTES);
    (megabytes > 0).then(|| megabytes.saturating_mul(MEGABYTE))
}

struct Entry {
    path: PathBuf,
    used: SystemTime,
    size: u64,
}

/// Removes entries, the one that was not used for the longest time first, until they have so many bytes together.
fn trim(cache: &Path, most: u64, now: SystemTime) -> io::Result<()> {
    let mut entries = entries(cache)?;
    let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
    entries.sort_by(|one, other| (one.used, &one.path).cmp(&(other.used, &other.path)));
    for entry in entries {
        let recent = now.duration_since(entry.used).is_ok_and(|age| age < IN_USE) || entry.used > now;
        if total <= most || recent {
            break;
        }
        // Another process may have removed it.
        if remove(&entry.path).is_ok() {
            total -= entry.size;
        }
    }
    Ok(())
}

/// All entries. Entries that an earlier process began to remove are removed.
fn entries(cache: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for kind in fs::read_dir(cache)?.flatten().filter(|kind| kind.path().is_dir()) {
        for entry in fs::read_dir(kind.path())?.flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(REMOVED) {
                let _ = destroy(&path);
            } else if !name.to_string_lossy().starts_with('.')
                && let Ok(used) = entry.metadata().and_then(|metadata| metadata.modified())
            {
                entries.push(Entry { size: size(&path), path, used });
            }
        }
    }
    Ok(entries)
}

/// The bytes of a file, or of all files in a folder.
fn size(path: &Path) -> u64 {
    let Ok(metadata) = fs::symlink_metadata(path) else { return 0 };
    if !metadata.is_dir() {
        return metadata.len();
    }
    fs::read_dir(path).map_or(0, |inside| inside.flatten().map(|entry| size(&entry.path())).sum())
}

fn remove(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let removed = path.with_file_name(format!("{REMOVED}{}-{name}", std::process::id()));
    fs::rename(path, &removed)?;
    destroy(&removed)
}

fn destroy(path: &Path) -> io::Result<()> {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of so many bytes that was used so many hours ago: a file, or a folder of two files.
    fn entry(cache: &Path, name: &str, bytes: usize, hours: u64, now: SystemTime) {
        let path = cache.join(name);
        if name.ends_with(".json") {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, vec![0; bytes]).unwrap();
        } else {
            fs::create_dir_all(path.join("inside")).unwrap();
            fs::write(path.join("model"), vec![0; bytes - 10]).unwrap();
            fs::write(path.join("inside/object"), [0; 10]).unwrap();
        }
        let used = now - Duration::from_secs(3600 * hours);
        File::open(&path).unwrap().set_modified(used).unwrap();
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let cache = tempfile::tempdir().unwrap();
        let (cache, now) = (cache.path(), SystemTime::now());
        for (name, bytes, hours) in
            [("models/old", 100, 50), ("models/new", 100, 3), ("rtl/older.json", 40, 70), ("rtl/newer.json", 40, 2)]
        {
            entry(cache, name, bytes, hours, now);
        }
        entry(cache, "models/.building-1", 1000, 90, now);
        entry(cache, "models/.removed-1-x", 1000, 90, now);
        let there = |name: &str| cache.join(name).exists();
        let all = ["models/old", "models/new", "rtl/older.json", "rtl/newer.json", "models/.building-1"];

        trim(cache, 280, now).unwrap();
        assert_eq!(all.map(there), [true; 5]);
        assert!(!there("models/.removed-1-x"), "what another process began to remove");

        trim(cache, 200, now).unwrap();
        assert_eq!(all.map(there), [false, true, false, true, true]);

        // A use makes an entry the last to go.
        used(&cache.join("models/new"));
        trim(cache, 100, now).unwrap();
        assert_eq!(all.map(there), [false, true, false, false, true]);

        // The entry that was used just now stays.
        trim(cache, 0, SystemTime::now()).unwrap();
        assert!(there("models/new"));
        assert_eq!(fs::read_dir(cache.join("models")).unwrap().count(), 2, "nothing is left of what was removed");
    }
}
