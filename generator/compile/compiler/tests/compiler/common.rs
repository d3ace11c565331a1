//! Helpers that the tests of the compiler share.

use std::path::{Path, PathBuf};

use itertools::Itertools;
use pushmem_assembly::Constraints;
use pushmem_compiler::CompileError;
use pushmem_files::Document;
use pushmem_graph::Target;
use pushmem_nest::{Level, Program};
use pushmem_realization::{Dedicated, build};
use pushmem_tile::TileSpec;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn file(folder: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(folder).join(name).with_extension("yaml")
}

/// A tile of the project.
pub fn spec(tile: &str) -> TileSpec {
    TileSpec::read(&file("constraints/tiles", tile)).unwrap_or_else(|error| panic!("{error:?}"))
}

/// A program of the project.
pub fn app(name: &str) -> Program {
    Program::read(&file("apps", name)).unwrap_or_else(|error| panic!("{error:?}")).program
}

/// The names of all programs of the project.
pub fn apps() -> Vec<String> {
    let folder = file("apps", "").with_extension("");
    let files = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = files.map(|file| file.expect("the folder can be read").path());
    let programs = paths.filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    let names = programs.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The program of a text.
pub fn program(text: &str) -> Program {
    let document = Document::parse("program.yaml", text).expect("the text is YAML");
    Program::from_document(&document).unwrap_or_else(|error| panic!("{text}\n{error:?}")).program
}

/// Memory tiles of a specification, with all shipped tiles beside them.
pub fn target(memory: TileSpec) -> Target {
    let target = Target::new(memory, spec("rom")).with_level(Level::GlobalBuffer, Some(spec("global_buffer")));
    target.with_level(Level::RegisterFile, Some(spec("pond")))
}

/// The name of memories that are made for the program, in place of that of a tile.
pub const FIXED: &str = "fixed";

/// Memories that are made for the program.
pub fn fixed() -> Target {
    let [memory, table] = ["memory", "table"].map(|name| TileSpec::read(&file("constraints/memories", name)).unwrap());
    Target::fixed(memory, table)
}

/// Compiles a program for a tile, with large tables in `rom` tiles, or for memories that are made for it.
pub fn try_compile(program: Program, tile: &str) -> Result<Dedicated, CompileError> {
    let target = if tile == FIXED { fixed() } else { target(spec(tile)) };
    build(program, &target, &Constraints::default(), &|_| {})
}

/// As [`try_compile`], of a program that must be accepted.
pub fn compiled(program: Program, tile: &str) -> Dedicated {
    try_compile(program, tile).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Runs a compiled program on random images: the first difference of the model from the interpreter. Files have the names of tiles,
/// so no two may have one.
pub fn difference(compiled: &Dedicated, seed: u64) -> Option<String> {
    let (program, accelerator) = (&compiled.program, &compiled.accelerator);
    if let Some(name) = accelerator.tiles.iter().map(|tile| &tile.name).duplicates().next() {
        return Some(format!("two tiles are named {name}"));
    }
    let inputs = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(seed));
    let expected = compiled.source.run(&inputs).unwrap_or_else(|error| panic!("{error:?}"));
    let run = accelerator.run(program, &inputs).unwrap_or_else(|error| panic!("{error:?}"));
    if let Some((name, violation)) = run.violations.first() {
        return Some(format!("{name}: {violation}"));
    }
    let wrong = expected.iter().find(|(name, image)| run.outputs[*name].values() != image.values());
    wrong.map(|(name, _)| format!("{name} differs"))
}

/// Runs a compiled program on random images and compares every element.
pub fn compare(compiled: &Dedicated) {
    assert_eq!(difference(compiled, 1), None, "{}", compiled.program);
}
