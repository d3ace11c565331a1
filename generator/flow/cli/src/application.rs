//! Parts that commands on applications share: the program, the tile, the images, the files of an accelerator and the run of its RTL.

pub mod array_rtl;
pub mod array_shell;
pub mod arrays;
pub mod choices;
pub mod folder;
pub mod images;
pub mod pes;
pub mod program;
pub mod rtl;
pub mod shell_model;
pub mod tiles;
pub mod tiles_of_images;

use std::collections::BTreeMap;

use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_realization::Dedicated;

/// Runs the accelerator in the model and compares with the interpreter, whose outputs it returns.
///
/// # Errors
/// The first element that differs.
pub fn run_model(
    compiled: &Dedicated,
    inputs: &BTreeMap<String, Image>,
) -> Result<BTreeMap<String, Image>, Diagnostic> {
    // Not the program with copies: they are the compiler's.
    let expected = compiled.source.run(inputs)?;
    let run = compiled.accelerator.run(&compiled.program, inputs)?;
    if let Some((tile, violation)) = run.violations.first() {
        return Err(Diagnostic::new(format!("the model of {tile}: {violation}")).as_fault("program"));
    }
    for (name, image) in &expected {
        images::compare(name, image, &run.outputs[name], "the model").map_err(|error| error.as_fault("program"))?;
    }
    Ok(expected)
}
