//! Large images in tiles.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_compiler::Compiled;
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_nest::Program;
use pushmem_realization::Dedicated;
use pushmem_tiling::{Axis, Tiling, compare, resized, run_tiles};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::application::shell_model::ShellModel;

/// Runs the tiles of an image.
pub type Runner<'a> = dyn Fn(&Tiling, &BTreeMap<String, Image>) -> Result<BTreeMap<String, Image>, Diagnostic> + 'a;

/// Runs the tiles of a random image of two tiles along each axis of a program in a model, and compares it with the interpreter's: says
/// what tiles there are.
///
/// # Errors
/// When the images differ.
pub fn check(program: &Program, tiling: &Tiling, run: &Runner) -> Result<String, Diagnostic> {
    let small = Tiling::of(program, &two_by_two(program, tiling))?;
    let inputs: BTreeMap<String, Image> =
        resized(program, &small).random_inputs(&mut ChaCha8Rng::seed_from_u64(1)).into_iter().collect();
    compare(program, &small, &inputs, &run(&small, &inputs)?)?;
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

/// Runs the tiles of an image in the model of the application graph.
///
/// # Errors
/// When tiles differ where they overlap.
pub fn run_in_graph(
    compiled: &Compiled,
    tiling: &Tiling,
    inputs: &BTreeMap<String, Image>,
) -> Result<BTreeMap<String, Image>, Diagnostic> {
    let Compiled { program, datapaths, graph, .. } = compiled;
    run_tiles(&compiled.source, tiling, inputs, |inputs| graph.run(program, datapaths, inputs))
}

/// Runs the tiles of an image in the model, through that of the shell if the accelerator has one, and calls at the end of each.
///
/// # Errors
/// When a tile of the accelerator breaks a promise, or tiles differ where they overlap.
pub fn run(
    compiled: &Dedicated,
    tiling: &Tiling,
    inputs: &BTreeMap<String, Image>,
    mut ended: impl FnMut(),
) -> Result<BTreeMap<String, Image>, Diagnostic> {
    if let Some(shell) = ShellModel::of(compiled, tiling, inputs) {
        return shell.run(ended);
    }
    run_tiles(&compiled.source, tiling, inputs, |inputs| {
        let run = compiled.accelerator.run(&compiled.program, inputs)?;
        if let Some((tile, violation)) = run.violations.first() {
            return Err(Diagnostic::new(format!("the model of {tile}: {violation}")).as_fault("program"));
        }
        ended();
        Ok(run.outputs)
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
