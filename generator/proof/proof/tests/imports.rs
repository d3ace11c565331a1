//! The proof decides by itself: neither its crates nor what they use is a pass that it checks.

use std::path::Path;

/// Passes, and what runs them.
const PASSES: [&str; 5] = ["extraction", "schedule", "mapping", "assembly", "compiler"];

#[test]
fn the_proof_uses_no_pass() {
    let mut open = vec!["proof/proof".to_owned(), "proof/replay".to_owned()];
    let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace = std::fs::read_to_string(generator.join("../Cargo.toml")).expect("the workspace has a manifest");
    let mut seen = Vec::new();
    while let Some(folder) = open.pop() {
        let manifest = std::fs::read_to_string(generator.join(&folder).join("Cargo.toml"));
        let manifest = manifest.unwrap_or_else(|error| panic!("{folder}: {error}"));
        let used =
            manifest.split("[dependencies]").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or_default();
        for name in used.lines().filter_map(|line| line.strip_prefix("pushmem-")?.split('.').next()) {
            assert!(!PASSES.contains(&name), "{folder} uses `{name}`");
            let entry = format!("pushmem-{name} = {{ path = \"generator/");
            let path = workspace.split(&entry).nth(1).and_then(|rest| rest.split('"').next());
            let path = path.unwrap_or_else(|| panic!("{name} is no crate of the workspace")).to_owned();
            if !seen.contains(&path) {
                seen.push(path.clone());
                open.push(path);
            }
        }
    }
    assert!(seen.iter().any(|path| path.ends_with("/nest")), "the proof looks at the loop nest");
}
