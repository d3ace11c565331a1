//! A number for the sources that results are made by: kept ones are of no use to others.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// What runs a netlist, and what reads that and what the tools say, by its folders. What makes RTL, testbenches and register writes
/// is none of them: all that it makes is in the key of a result itself.
const MADE_BY: [&str; 4] = ["src", "../simulation/src", "../../templates/synthesis", "../../templates/testbench"];

fn main() {
    let mut files = Vec::new();
    for folder in MADE_BY {
        println!("cargo::rerun-if-changed={folder}");
        collect(Path::new(folder), &mut files);
    }
    files.sort();
    let mut hash = DefaultHasher::new();
    for file in files {
        hash.write(file.to_string_lossy().as_bytes());
        hash.write(&fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())));
    }
    println!("cargo::rustc-env=PUSHMEM_MADE_BY={:016x}", hash.finish());
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("a folder can be listed").path()) {
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
