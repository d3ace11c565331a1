//! The program of a whole image, and a run of it beside its tiles.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_images::{Image, Values};
use pushmem_nest::{Node, Program};

use crate::motion::loops;
use crate::tiling::{Tiling, moved};
use pushmem_affine::Fraction;

/// The program that computes the whole image at once: with as many more iterations, and elements, as tiles move.
pub fn resized(program: &Program, tiling: &Tiling) -> Program {
    let more = |motions: Vec<Fraction>| moved(&tiling.axes, &motions, |axis| axis.last);
    let of_loop = |number: usize| more(tiling.motions.iter().map(|motion| motion.loops[number]).collect());
    let grown = (0..loops(program).len()).map(of_loop).collect_vec();
    let mut resized = program.clone();
    for (number, array) in resized.arrays.iter_mut().enumerate() {
        for (dimension, size) in array.shape.iter_mut().enumerate() {
            *size += more(tiling.motions.iter().map(|motion| motion.arrays[number][dimension]).collect());
        }
    }
    grow(&mut resized.nest, &mut grown.iter());
    resized
}

/// Adds iterations to loops in the order of the text.
fn grow<'a>(nodes: &mut [Node], by: &mut impl Iterator<Item = &'a i64>) {
    for node in nodes {
        if let Node::Loop(each) = node {
            each.extent += by.next().expect("a number for each loop");
            each.unroll = 1;
            grow(&mut each.body, by);
        }
    }
}

/// Computes an image tile by tile with `run`.
///
/// # Errors
/// When tiles differ where they overlap, or leave a gap, which is a fault of the analysis; or those of the runs.
pub fn run_tiles(
    program: &Program,
    tiling: &Tiling,
    inputs: &BTreeMap<String, Image>,
    mut run: impl FnMut(&BTreeMap<String, Image>) -> Result<BTreeMap<String, Image>, Diagnostic>,
) -> Result<BTreeMap<String, Image>, Diagnostic> {
    // The values of each whole image, and which of them are known.
    let mut found: BTreeMap<&str, (Values, Vec<bool>)> = BTreeMap::new();
    for image in tiling.images.iter().filter(|image| image.output) {
        let count = image.size.iter().product::<i64>() as usize;
        found.insert(&image.name, (Values::zeros(image.element, count), vec![false; count]));
    }
    for number in 0..tiling.count() {
        let tile = tiling.tile(number);
        let mut cut = BTreeMap::new();
        for (image, offset) in tiling.images.iter().zip(&tile.offsets).filter(|(image, _)| !image.output) {
            let whole = inputs[&image.name].values();
            let values = places(&image.tile, &image.size, offset).map(|place| whole.at(place));
            let shape = image.tile.iter().map(|size| *size as usize).collect_vec();
            let part = Image::from_values(inputs[&image.name].element(), &shape, values)?;
            cut.insert(image.name.clone(), part.with_min(&program.array(&image.name).expect("it is an array").min));
        }
        let outputs = run(&cut)?;
        for (image, offset) in tiling.images.iter().zip(&tile.offsets).filter(|(image, _)| image.output) {
            let (whole, known) = found.get_mut(image.name.as_str()).expect("it is an output");
            for (place, value) in places(&image.tile, &image.size, offset).zip(outputs[&image.name].values().iter()) {
                if std::mem::replace(&mut known[place], true) && whole.at(place) != value {
                    return Err(wrong(program, &image.name, place));
                }
                whole.set(place, value);
            }
        }
    }
    let mut whole = BTreeMap::new();
    for image in tiling.images.iter().filter(|image| image.output) {
        let (values, known) = found.remove(image.name.as_str()).expect("it is an output");
        if let Some(gap) = known.iter().position(|known| !known) {
            return Err(wrong(program, &image.name, gap));
        }
        let array = program.array(&image.name).expect("it is an array");
        let shape = image.size.iter().map(|size| *size as usize).collect_vec();
        whole.insert(image.name.clone(), Image::of(&shape, values).with_min(&array.min));
    }
    Ok(whole)
}

/// Compares an image that was computed in another way, as tile by tile, with what the program of the whole image computes.
///
/// # Errors
/// When they differ, which is a fault of the analysis; or those of the interpreter.
pub fn compare(
    program: &Program,
    tiling: &Tiling,
    inputs: &BTreeMap<String, Image>,
    found: &BTreeMap<String, Image>,
) -> Result<(), Diagnostic> {
    for (name, image) in &resized(program, tiling).run(inputs)? {
        let differs = image.values().iter().zip(found[name].values().iter()).position(|(one, other)| one != other);
        if let Some(place) = differs {
            return Err(wrong(program, name, place));
        }
    }
    Ok(())
}

fn wrong(program: &Program, name: &str, place: usize) -> Diagnostic {
    let message = format!("element {place} of `{name}` is not the same in tiles and in the whole image");
    Diagnostic::new(message).as_fault(&program.name)
}

/// The places in an image of the elements of a part of it, in the order of the part.
fn places(part: &[i64], whole: &[i64], offset: &[i64]) -> impl Iterator<Item = usize> {
    let count: i64 = part.iter().product();
    (0..count).map(move |number| {
        let (mut left, mut stride, mut place) = (number, 1, 0);
        for ((size, whole), offset) in part.iter().zip(whole).zip(offset) {
            place += (left % size + offset) * stride;
            left /= size;
            stride *= whole;
        }
        place as usize
    })
}
