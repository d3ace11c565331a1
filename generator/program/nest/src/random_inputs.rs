//! Random images for the inputs of a program.

use std::collections::BTreeMap;

use pushmem_images::{Image, Values};
use rand::Rng;

use crate::program::{Array, ArrayKind, Program};

/// Patches of an image along each of its first two dimensions.
const PATCHES: usize = 4;

/// The values of a rectangle of an image.
#[derive(Clone, Copy)]
enum Patch {
    /// Values of the whole type at random.
    Random,
    /// The ends of the type by turns, as on a chessboard.
    Alternating,
    /// This value.
    Constant(i64),
}

impl Program {
    /// An image for each input, by name.
    ///
    /// About half of an image has values of its whole type at random. The rest are rectangles of the least value, of the greatest,
    /// of both by turns, or of a value at random: random values alone rarely come near the ends of a type, and their sums hardly ever.
    /// Numbers with a fraction have no such ends.
    ///
    /// Values are drawn for one input after the other, in the order of the file, each in order of memory: a generator of
    /// the same seed gives the same images.
    pub fn random_inputs(&self, random: &mut impl Rng) -> BTreeMap<String, Image> {
        let inputs = self.arrays_of(ArrayKind::Input);
        inputs.map(|array| (array.name.clone(), random_image(array, random))).collect()
    }
}

fn random_image(array: &Array, random: &mut impl Rng) -> Image {
    let element = array.element.element().expect("arrays hold elements");
    let (least, greatest) = (element.min(), element.max());
    let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
    let [width, height] = [0, 1].map(|dimension| shape.get(dimension).copied().unwrap_or(1));
    let (wide, high) = (width.div_ceil(PATCHES), height.div_ceil(PATCHES));
    let has_ends = array.element.format().is_none();
    let (mut values, mut positions) = (Values::zeros(element, array.size()), 0..);
    for _ in 0..shape.iter().skip(2).product() {
        let patches: [Patch; PATCHES * PATCHES] = std::array::from_fn(|_| match random.random_range(0..8) {
            0 if has_ends => Patch::Constant(least),
            1 if has_ends => Patch::Constant(greatest),
            2 if has_ends => Patch::Alternating,
            3 => Patch::Constant(random.random_range(least..=greatest)),
            _ => Patch::Random,
        });
        for ((y, x), position) in itertools::iproduct!(0..height, 0..width).zip(&mut positions) {
            let value = match patches[y / high * PATCHES + x / wide] {
                Patch::Constant(value) => value,
                Patch::Alternating if (x + y) % 2 == 0 => least,
                Patch::Alternating => greatest,
                Patch::Random => random.random_range(least..=greatest),
            };
            values.set(position, value);
        }
    }
    Image::of(&shape, values).with_min(&array.min)
}
