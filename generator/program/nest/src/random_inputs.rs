//! Random images for the inputs of a program.

use std::collections::BTreeMap;

use pushmem_images::Image;
use rand::Rng;

use crate::program::{Array, ArrayKind, Program};

impl Program {
    /// An image for each input, by name, of random values of its whole type.
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
    let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
    let values = (0..array.size()).map(|_| random.random_range(element.min()..=element.max())).collect();
    let image = Image::from_values(element, &shape, values);
    image.expect("arrays are no larger than images, and values are of the type").with_min(&array.min)
}
