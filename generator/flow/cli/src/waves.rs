//! Wave files, and layouts for viewers beside them.

use std::path::{Path, PathBuf};

use pushmem_files::{Diagnostic, write_files, write_through};
use pushmem_waves::View;

/// The endings of layouts: for GTKWave and for Surfer.
const LAYOUTS: [&str; 2] = ["gtkw", "sucl"];

/// The ending of waves: their format.
const WAVES: &str = "fst";

/// Parses the name of a wave file.
pub fn wave_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|ending| ending.to_str()) {
        Some(WAVES) => Ok(path),
        Some(ending) if LAYOUTS.contains(&ending) => {
            Err(format!("files *.{ending} are layouts, which are written beside the waves; name the waves *.{WAVES}"))
        }
        _ => Err(format!("waves are written in the format FST, which viewers tell by the ending; name them *.{WAVES}")),
    }
}

/// All files that belong to a wave file: itself, and the layouts.
pub fn files(wave: &Path) -> impl Iterator<Item = PathBuf> {
    std::iter::once(wave.to_owned()).chain(LAYOUTS.map(|ending| wave.with_extension(ending)))
}

/// Has a simulation write its waves, and writes the layouts of what is to see in them. When the simulation finds that
/// something is wrong, the waves are wanted most, so they are kept either way.
///
/// # Errors
/// When a file cannot be written, or what the simulation says.
pub fn write<T>(
    wave: &Path,
    view: &View,
    simulate: impl FnOnce(&Path) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let texts = [view.gtkwave(), view.surfer()];
    write_through(wave, |path| {
        let outcome = simulate(path);
        let layouts: Vec<PathBuf> = files(wave).skip(1).collect();
        write_files(&layouts.iter().map(PathBuf::as_path).zip(texts).collect::<Vec<_>>())?;
        Ok(outcome)
    })?
}
