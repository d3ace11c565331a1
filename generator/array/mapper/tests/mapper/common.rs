//! Helpers that the tests share.

use std::path::{Path, PathBuf};

use pushmem_assembly::{Constraints, Delivery};
use pushmem_bitstream::Configuration;
use pushmem_compiler::{Compiled, plan};
use pushmem_fabric::{ArraySpec, Folder};
use pushmem_files::{Diagnostic, Document};
use pushmem_graph::Target;
use pushmem_mapper::{
    ArrayTarget, Edited, Loading, Mapped, Occupant, SideBySide, compile_for, execute, execute_buffered,
};
use pushmem_nest::{Level, Program};
use pushmem_routing::Options;
use pushmem_tile::TileSpec;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A program in `apps`.
pub fn app(name: &str) -> Program {
    let file = root().join("apps").join(name).with_extension("yaml");
    Program::from_document(&Document::read(&file).unwrap()).unwrap().program
}

/// A shipped array.
pub fn array(name: &str) -> ArraySpec {
    let file = root().join("constraints/arrays").join(name).with_extension("yaml");
    ArraySpec::from_document(&Document::read(&file).unwrap(), &Folder(root().join("constraints"))).unwrap()
}

/// A program, compiled for the memories of an array.
pub fn compiled(program: Program, array: &ArraySpec) -> Compiled {
    let memory = array.memory.as_ref().unwrap().tile.clone();
    let (target, delivery) =
        (beside().with_memory(memory), Delivery { holds: array.pe.held_operands, ..Delivery::default() });
    let compiled = plan(program, &target, &Constraints::default(), delivery, &|_| {});
    compiled.unwrap_or_else(|error| panic!("{error:?}"))
}

/// A program on an array, with the first seed.
pub fn mapped(program: &Program, target: &ArrayTarget) -> Result<(Compiled, Mapped), Diagnostic> {
    built(program, target, &Edited::default())
}

/// The same with stages that are edited.
pub fn built(program: &Program, target: &ArrayTarget, edited: &Edited) -> Result<(Compiled, Mapped), Diagnostic> {
    Ok(compile_for(program, target, &beside(), &Constraints::default(), edited, Options::default(), &|_| ())?)
}

/// A shipped tile.
pub fn tile(name: &str) -> TileSpec {
    let file = root().join("constraints/tiles").join(name).with_extension("yaml");
    TileSpec::from_document(&Document::read(&file).unwrap()).unwrap()
}

/// The kinds of tiles beside the memory tiles of an array.
pub fn beside() -> Target {
    let target = Target::new(tile("amber"), tile("rom"));
    let target = target.with_level(Level::GlobalBuffer, Some(tile("global_buffer")));
    target.with_level(Level::RegisterFile, Some(tile("pond")))
}

/// Runs a configuration of a program in the model of the array; whether its images are those of the interpreter.
pub fn is_right(compiled: &Compiled, mapped: &Mapped, configuration: &Configuration, target: &ArrayTarget) -> bool {
    let images = compiled.program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
    let found = execute(mapped, configuration, compiled, target, &images).unwrap();
    found.outputs == compiled.source.run(&images).unwrap()
}

/// Checks that programs side by side, whose images are in banks, compute what the interpreter does of random ones.
pub fn assert_compute_through_banks(together: &SideBySide, target: &ArrayTarget) {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    let images: Vec<_> = together.regions.iter().map(|region| region.compiled.program.random_inputs(random)).collect();
    let occupants: Vec<Occupant> = together
        .regions
        .iter()
        .zip(&images)
        .map(|(region, images)| Occupant { compiled: &region.compiled, mapped: &region.mapped, images })
        .collect();
    let found = execute_buffered(&occupants, &together.configuration, target, Loading::Banks, &mut |_, _| ()).unwrap();
    for (occupant, found) in occupants.iter().zip(&found.executions) {
        assert_eq!(found.outputs, occupant.compiled.source.run(occupant.images).unwrap());
    }
}
