//! The images that a program runs on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pushmem_files::{Code, Diagnostic, nearest};
use pushmem_images::Image;
use pushmem_nest::{Array, ArrayKind, Program};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::output;

/// Parses `NAME=FILE`.
pub fn name_file(text: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = text.split_once('=').ok_or("expected the name of an array, `=` and a file: input=photo.pgm")?;
    Ok((name.to_owned(), file.into()))
}

fn array_of<'a>(program: &'a Program, kind: ArrayKind, name: &str) -> Result<&'a Array, Diagnostic> {
    program.arrays_of(kind).find(|array| array.name == name).ok_or_else(|| {
        let names: Vec<&str> = program.arrays_of(kind).map(|array| array.name.as_str()).collect();
        let message = format!("`{}` has no {} `{name}`", program.name, kind.name());
        let help = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has: {}", names.join(", ")),
        };
        Diagnostic::new(message).with_help(help)
    })
}

/// The image of each input: from its file, or random but always the same.
///
/// # Errors
/// When the program has no such input, or its file has no image of its shape and type.
pub fn inputs(program: &Program, files: &[(String, PathBuf)]) -> Result<BTreeMap<String, Image>, Diagnostic> {
    read(program, files).map_err(|problem| problem.or_code(Code::Image))
}

fn read(program: &Program, files: &[(String, PathBuf)]) -> Result<BTreeMap<String, Image>, Diagnostic> {
    let mut images = BTreeMap::new();
    for (name, path) in files {
        let array = array_of(program, ArrayKind::Input, name)?;
        let element = array.element.element().expect("arrays hold elements");
        let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
        let image = Image::read(path, element, &shape)?.with_min(&array.min);
        if images.insert(name.clone(), image).is_some() {
            return Err(Diagnostic::new(format!("the input `{name}` is given twice")));
        }
    }
    // Drawn for every input, so that a given image does not change the others.
    for (name, image) in program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1)) {
        images.entry(name).or_insert(image);
    }
    Ok(images)
}

/// Compares an output with what it should be.
///
/// # Errors
/// The first element that differs, and how many do.
pub fn compare(name: &str, expected: &Image, found: &Image, who: &str) -> Result<(), Diagnostic> {
    let differing =
        || expected.values().iter().zip(found.values()).enumerate().filter(|(_, (one, other))| one != other);
    match differing().next() {
        None => Ok(()),
        Some((position, (right, wrong))) => Err(Diagnostic::new(format!(
            "{} of {} elements of `{name}` differ between the interpreter and {who}; the first is {:?}: {right} and {wrong}",
            differing().count(),
            expected.values().len(),
            expected.indices(position),
        ))),
    }
}

/// Refuses outputs that could not be written, before anything is run or written.
///
/// # Errors
/// When the program has no such output, its file cannot hold it, or is that of an input or of another output.
pub fn check_outputs(
    program: &Program,
    inputs: &[(String, PathBuf)],
    outputs: &[(String, PathBuf)],
) -> Result<(), Diagnostic> {
    check_each_output(program, inputs, outputs).map_err(|problem| problem.or_code(Code::Image))
}

fn check_each_output(
    program: &Program,
    inputs: &[(String, PathBuf)],
    outputs: &[(String, PathBuf)],
) -> Result<(), Diagnostic> {
    for (number, (name, path)) in outputs.iter().enumerate() {
        let array = array_of(program, ArrayKind::Output, name)?;
        let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
        Image::check_writable(path, array.element.element().expect("arrays hold elements"), &shape)?;
        output::keep_inputs(path, inputs.iter().map(|(_, path)| path.as_path()))?;
        if outputs[..number].iter().any(|(_, other)| other == path) {
            let message = format!("two outputs are written to `{}`", path.display());
            return Err(Diagnostic::new(message).with_help("give each a file of its own"));
        }
    }
    Ok(())
}

/// Writes outputs, which were checked, to their files.
///
/// # Errors
/// When the operating system refuses.
pub fn write(files: &[(String, PathBuf)], outputs: &BTreeMap<String, Image>) -> Result<(), Diagnostic> {
    files.iter().try_for_each(|(name, path)| outputs[name].write(path)).map_err(|problem| problem.or_code(Code::Image))
}
