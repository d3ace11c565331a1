//! Tiles of large images through the model of the shell: memory, the jobs of the driver, the managers of images, and the accelerator.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_bus::{Manager, Placed};
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_realization::Dedicated;
use pushmem_tiling::{TiledImage, Tiling};

use crate::application::folder;

/// Bytes after each line, which no manager may touch, and their contents.
const GAP: i64 = 6;
const FILLER: u8 = 0xa5;

/// The shell of an accelerator in the model, with its memory.
pub struct ShellModel<'a> {
    compiled: &'a Dedicated,
    /// The large images in the order of the streams, and the manager of each.
    tiling: Tiling,
    managers: Vec<Manager>,
    places: Vec<Placed>,
    memory: Vec<u8>,
}

impl<'a> ShellModel<'a> {
    /// The shell with these images in memory; nothing where a stream is in an order in which no manager reads or writes an image.
    pub fn of(compiled: &'a Dedicated, tiling: &Tiling, inputs: &BTreeMap<String, Image>) -> Option<Self> {
        let managers = folder::managers(compiled).ok()?;
        let tiling = tiling.of_images(folder::images(compiled));
        let mut end = 0;
        let mut known: BTreeMap<String, Placed> = BTreeMap::new();
        // Several streams may read or write one image.
        let mut place = |image: &TiledImage| {
            let place = || {
                let placed = Placed::with_gaps(end, image.element, &image.size, GAP);
                // Words of two bytes are at even addresses.
                end = (placed.end(image.element, &image.size) + GAP as usize).next_multiple_of(2);
                placed
            };
            known.entry(image.name.clone()).or_insert_with(place).clone()
        };
        let places = tiling.images.iter().map(&mut place).collect_vec();
        let memory = vec![FILLER; end];
        let mut shell = ShellModel { compiled, tiling, managers, places, memory };
        shell.fill(inputs);
        Some(shell)
    }

    /// Runs the jobs of all tiles, one after the other, and calls at the end of each: the outputs.
    ///
    /// # Errors
    /// When a tile of the accelerator breaks a promise.
    pub fn run(mut self, mut ended: impl FnMut()) -> Result<BTreeMap<String, Image>, Diagnostic> {
        let inputs = self.tiling.images.iter().filter(|image| !image.output).count();
        for number in 0..self.tiling.count() {
            let tile = self.tiling.tile(number);
            let images = self.tiling.images.iter().zip(&self.places);
            let job = images.zip(&tile.offsets).map(|((image, place), offset)| place.part(image.element, offset));
            let job = job.collect_vec();
            let readers = self.managers.iter().zip(&job).take(inputs);
            let beats = readers.map(|(manager, image)| manager.read(&self.memory, image)).collect();
            let (found, violations) = self.compiled.accelerator.run_beats(&self.compiled.program, beats);
            if let Some((tile, violation)) = violations.first() {
                return Err(Diagnostic::new(format!("the model of {tile}: {violation}")).as_fault("program"));
            }
            for ((manager, image), words) in self.managers.iter().zip(&job).skip(inputs).zip(&found) {
                manager.write(&mut self.memory, image, words);
            }
            ended();
        }
        self.outputs()
    }

    fn fill(&mut self, inputs: &BTreeMap<String, Image>) {
        for (image, place) in self.tiling.images.iter().zip(&self.places).filter(|(image, _)| !image.output) {
            for (index, value) in indices(&image.size).zip(inputs[&image.name].values().iter()) {
                let (at, bytes) = (place.at(image.element, &index), image.element.bytes() as usize);
                self.memory[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
            }
        }
    }

    /// The outputs in memory, around which nothing has changed.
    fn outputs(&self) -> Result<BTreeMap<String, Image>, Diagnostic> {
        let mut around = self.memory.clone();
        let mut found = BTreeMap::new();
        for (image, place) in self.tiling.images.iter().zip(&self.places) {
            let bytes = image.element.bytes() as usize;
            let mut values = Vec::new();
            for index in indices(&image.size) {
                let at = place.at(image.element, &index);
                values.push(image.element.value(&self.memory[at..at + bytes]));
                around[at..at + bytes].fill(FILLER);
            }
            if image.output {
                let array = self.compiled.source.array(&image.name).expect("it is an array");
                let shape = image.size.iter().map(|size| *size as usize).collect_vec();
                let values = Image::from_values(image.element, &shape, values)?;
                found.insert(image.name.clone(), values.with_min(&array.min));
            }
        }
        if around.iter().any(|byte| *byte != FILLER) {
            return Err(Diagnostic::new("bytes around the images have changed").as_fault("program"));
        }
        Ok(found)
    }
}

/// The indices of all elements, dimension 0 fastest.
fn indices(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> {
    (0..shape.iter().product::<i64>()).map(|number| {
        let mut left = number;
        let index = shape.iter().map(|size| {
            let place = left % size;
            left /= size;
            place
        });
        index.collect()
    })
}
