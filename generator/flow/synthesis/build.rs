//! A number for the sources that results are made by: kept ones are of no use to others.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::PathBuf;

/// The sources that have a netlist made and run, and read waves and logs: files, and folders of them. The makers of RTL,
/// testbenches and register writes are none of them: their outputs are in the key of a result.
const MADE_BY: [&str; 6] = [
    "src",
    "../simulation/src",
    "../cli/src/synth/activity.rs",
    "../cli/src/application/rtl.rs",
    "../../../templates/synthesis",
    "../../../templates/testbench",
];

fn main() {
    let mut files = Vec::new();
    for path in MADE_BY {
        println!("cargo::rerun-if-changed={path}");
        collect(PathBuf::from(path), &mut files);
    }
    files.sort();
    let mut hash = DefaultHasher::new();
    for file in files {
        hash.write(file.to_string_lossy().as_bytes());
        hash.write(&fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())));
    }
    println!("cargo::rustc-env=PUSHMEM_MADE_BY={:016x}", hash.finish());
}

fn collect(path: PathBuf, files: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        return files.push(path);
    }
    let entries = fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    entries.for_each(|entry| collect(entry.expect("a folder can be listed").path(), files));
}
