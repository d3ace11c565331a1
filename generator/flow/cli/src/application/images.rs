//! The images that a program runs on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic, nearest};
use pushmem_images::Image;
use pushmem_nest::{Array, ArrayKind, Program};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::output;

/// The endings of files of images.
const ENDINGS: [&str; 5] = ["npy", "png", "pgm", "ppm", "hex"];

/// Files by the names of arrays: given as `NAME=FILE`, or as the file of the only array of this kind. A folder stands for the files in it
/// that are named like inputs.
///
/// # Errors
/// When a file has no name, and the program not one array of this kind; when a folder has no file of an array.
pub fn named(program: &Program, kind: ArrayKind, files: &[String]) -> Result<Vec<(String, PathBuf)>, Diagnostic> {
    let names = program.arrays_of(kind).map(|array| array.name.as_str()).collect_vec();
    let is_word = |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let of_file = |text: &String| {
        // A path may have the sign, too.
        let is_name = |name: &str| names.contains(&name) || is_word(name) && !Path::new(text).exists();
        let named = text.split_once('=').filter(|(name, _)| is_name(name));
        match (named, names.as_slice()) {
            (Some((name, file)), _) => Ok((name.to_owned(), file.into())),
            (None, [only]) => Ok(((*only).to_owned(), text.into())),
            (None, []) => {
                let message = format!("`{}` has no {}, and `{text}` is given for one", program.name, kind.name());
                Err(Diagnostic::new(message).or_code(Code::Image).with_help("leave it out"))
            }
            (None, _) => {
                let (count, kind) = (names.len(), kind.name());
                let message = format!("`{}` has {count} {kind}s, and `{text}` names none of them", program.name);
                let help = format!("write NAME={text} with one of {}", names.join(", "));
                Err(Diagnostic::new(message).or_code(Code::Image).with_help(help))
            }
        }
    };
    let of_folder = |folder: &String| {
        let file_of = |name: &&str| {
            let files = ENDINGS.iter().map(|ending| Path::new(folder).join(format!("{name}.{ending}")));
            Some(((*name).to_owned(), { files }.find(|file| file.is_file())?))
        };
        let found = names.iter().filter_map(file_of).collect_vec();
        match found.is_empty() {
            true => {
                let message = format!("`{folder}` has no image that is named like an input of `{}`", program.name);
                Err(Diagnostic::new(message)
                    .or_code(Code::Image)
                    .with_help(format!("its inputs are {}", names.join(", "))))
            }
            false => Ok(found),
        }
    };
    let of_each = |given: &String| match kind == ArrayKind::Input && Path::new(given).is_dir() {
        true => of_folder(given),
        false => of_file(given).map(|file| vec![file]),
    };
    files.iter().map(of_each).flatten_ok().try_collect()
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

/// The image of each input: from its file, of these constants, or random but always the same.
///
/// # Errors
/// When the program has no such input, or its file has no image of its shape and type.
pub fn inputs(
    program: &Program,
    constants: BTreeMap<String, Image>,
    files: &[(String, PathBuf)],
) -> Result<BTreeMap<String, Image>, Diagnostic> {
    read(program, constants, files).map_err(|problem| problem.or_code(Code::Image))
}

fn read(
    program: &Program,
    constants: BTreeMap<String, Image>,
    files: &[(String, PathBuf)],
) -> Result<BTreeMap<String, Image>, Diagnostic> {
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
    for (name, image) in constants.into_iter().chain(program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1))) {
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
        || expected.values().iter().zip(found.values().iter()).enumerate().filter(|(_, (one, other))| one != other);
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
