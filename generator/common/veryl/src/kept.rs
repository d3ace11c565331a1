//! Emitted text, kept between runs: Veryl takes most of the time of a build, and most modules are those of the last one.

use pushmem_cache::Kept;

use crate::{CompileError, Emitted, Reset, SourceFile};

/// The text of this crate, and the manifest that pins the versions of Veryl: another of either may emit other text for the same sources.
const COMPILER: [&str; 6] = [
    include_str!("columns.rs"),
    include_str!("kept.rs"),
    include_str!("lib.rs"),
    include_str!("ranges.rs"),
    include_str!("tidy.rs"),
    include_str!("../../../../Cargo.toml"),
];

/// The texts that these sources emit: those that are kept, or else those of `compile`, which are kept then. Errors are not kept.
pub fn kept(
    sources: Vec<SourceFile>,
    reset: Reset,
    compile: impl FnOnce(Vec<SourceFile>) -> Result<Vec<Emitted>, CompileError>,
) -> Result<Vec<Emitted>, CompileError> {
    let kept = Kept::of("veryl", &key(&sources, reset));
    let names: Vec<String> = sources.iter().map(|source| source.name.clone()).collect();
    if let Some(texts) = kept.result::<Vec<String>>()
        && texts.len() == names.len()
    {
        return Ok(names.into_iter().zip(texts).map(|(name, text)| Emitted { name, text }).collect());
    }
    let emitted = compile(sources)?;
    kept.keep(&emitted.iter().map(|emitted| emitted.text.as_str()).collect::<Vec<_>>());
    Ok(emitted)
}

/// All that the emitted texts depend on.
fn key(sources: &[SourceFile], reset: Reset) -> Vec<&str> {
    let reset = match reset {
        Reset::Asynchronous => "asynchronous",
        Reset::Synchronous => "synchronous",
    };
    let texts = sources.iter().flat_map(|source| [source.name.as_str(), source.text.as_str()]);
    COMPILER.into_iter().chain([reset]).chain(texts).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn all_files_of_the_crate_are_in_the_key() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = fs::read_dir(folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        let texts: BTreeSet<String> = COMPILER[..5].iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(files.collect::<BTreeSet<_>>(), texts);
    }

    #[test]
    fn other_sources_and_resets_have_other_keys() {
        let source = |name: &str, text: &str| SourceFile { name: name.to_owned(), text: text.to_owned() };
        let (one, other) = ([source("a", "module a {}\n")], [source("a", "module b {}\n")]);
        let keys = [key(&one, Reset::Asynchronous), key(&other, Reset::Asynchronous), key(&one, Reset::Synchronous)];
        assert_eq!(BTreeSet::from(keys).len(), 3);
    }
}
