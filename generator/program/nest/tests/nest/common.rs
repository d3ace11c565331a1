//! Helpers that the tests of programs share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pushmem_images::Image;
use pushmem_nest::{ArrayKind, Checked, Program};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The folder of the programs.
pub fn apps() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../apps")
}

/// A program of that folder, which is read without warnings.
pub fn app(name: &str) -> Program {
    let Checked { program, warnings } = Program::read(&apps().join(format!("{name}.yaml"))).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    program
}

/// Random inputs with values from 0 to `largest`, or to the largest of their type.
pub fn random_inputs(program: &Program, seed: u64, largest: i64) -> BTreeMap<String, Image> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let inputs = program.arrays_of(ArrayKind::Input).map(|array| {
        let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
        let highest = largest.min(array.element.max());
        let values = (0..array.size()).map(|_| random.random_range(0..=highest));
        let image = Image::from_values(array.element.element().unwrap(), &shape, values).unwrap();
        (array.name.clone(), image.with_min(&array.min))
    });
    inputs.collect()
}
