//! Large images in tiles.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_compiler::Compiled;
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_nest::Program;
use pushmem_tiling::{Axis, Tiling, check as check_tiles, resized};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Runs the tiles of a random image of two tiles along each axis in the model, and compares it with the interpreter's: says what
/// tiles there are.
///
/// # Errors
/// When the images differ.
pub fn check(compiled: &Compiled, tiling: &Tiling) -> Result<String, Diagnostic> {
    let program: &Program = &compiled.source;
    let small = Tiling::of(program, &two_by_two(program, tiling))?;
    let inputs: BTreeMap<String, Image> =
        resized(program, &small).random_inputs(&mut ChaCha8Rng::seed_from_u64(1)).into_iter().collect();
    check_tiles(program, &small, &inputs, |inputs| Ok(compiled.accelerator.run(&compiled.program, inputs)?.outputs))?;
    let counts = tiling.axes.iter().map(|axis| axis.count).join(" x ");
    let tile =
        tiling.images.iter().find(|image| image.output).map_or(String::new(), |image| image.tile.iter().join(" x "));
    Ok(match tiling.axes.is_empty() {
        true => format!("one of {tile}"),
        false => {
            format!("{counts} of {tile}; {} of them in the model are what the interpreter computes", small.count())
        }
    })
}

/// The size of an image of two tiles along each axis, the second of which overlaps the first, where the image is as large.
fn two_by_two(program: &Program, tiling: &Tiling) -> Vec<i64> {
    let output = tiling.images.iter().find(|image| image.output).expect("programs have outputs");
    let mut size = program.array(&output.name).expect("it is one of the program").shape.clone();
    for (Axis { dimension, tile, last, .. }, motion) in tiling.axes.iter().zip(&tiling.motions) {
        let half = (tile / 2 / motion.unit).max(1) * motion.unit;
        size[*dimension] = tile + half.min(*last);
    }
    size
}
