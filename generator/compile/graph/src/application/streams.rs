//! The words of the streams of an application graph, and the images that they are.

use std::collections::BTreeMap;

use pushmem_affine::Affine;
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_nest::Program;

use super::{ApplicationGraph, InputNode, OutputNode};
use crate::run::{Beats, for_each_beat, input_arrays, output_images, word_of};

impl ApplicationGraph {
    /// The words of each input stream, for these images by the name of the input. Elements outside of their array are 0.
    ///
    /// # Errors
    /// When an input is missing or has another shape than declared.
    pub fn input_beats(&self, program: &Program, inputs: &BTreeMap<String, Image>) -> Result<Vec<Beats>, Diagnostic> {
        let images = input_arrays(program, inputs)?;
        let of_stream = |stream: &InputNode| {
            let lanes: Vec<&Affine> = stream.lanes.iter().map(|lane| &lane.element).collect();
            let values = images[&stream.array].values();
            let mut beats = Vec::new();
            for_each_beat(&self.counters[stream.counter], &lanes, |elements| {
                beats.extend(elements.iter().map(|&number| word_of(stream.element, values, number).unwrap_or(0)));
            });
            beats
        };
        Ok(self.inputs.iter().map(of_stream).collect())
    }

    /// The words of each output stream, for these images by the name of the output.
    pub fn output_beats(&self, program: &Program, outputs: &BTreeMap<String, Image>) -> Vec<Beats> {
        let of_stream = |stream: &OutputNode| {
            let lanes: Vec<&Affine> = stream.lanes.iter().map(|lane| &lane.element).collect();
            let image = outputs.get(&program.arrays[stream.array].name);
            let values = image.map_or(&[] as &[i64], |image| image.values());
            let mut beats = Vec::new();
            for_each_beat(&self.counters[stream.counter], &lanes, |elements| {
                beats.extend(elements.iter().map(|&number| word_of(stream.element, values, number).unwrap_or(0)));
            });
            beats
        };
        self.outputs.iter().map(of_stream).collect()
    }

    /// The output arrays that the words of the output streams make, by name.
    ///
    /// # Errors
    /// When an output has other elements than its array.
    pub fn arrays(&self, program: &Program, beats: &[Beats]) -> Result<BTreeMap<String, Image>, Diagnostic> {
        let mut values: BTreeMap<usize, Vec<u16>> = BTreeMap::new();
        for (stream, beats) in self.outputs.iter().zip(beats) {
            let size = program.arrays[stream.array].size() * stream.element.words().len();
            let array = values.entry(stream.array).or_insert_with(|| vec![0; size]);
            self.take(stream, beats, array)?;
        }
        output_images(program, values)
    }

    /// Puts the words of an output stream where they belong in its array.
    fn take(&self, stream: &OutputNode, beats: &[u16], array: &mut [u16]) -> Result<(), Diagnostic> {
        let lanes: Vec<&Affine> = stream.lanes.iter().map(|lane| &lane.element).collect();
        let (mut words, mut beyond) = (beats.iter(), false);
        for_each_beat(&self.counters[stream.counter], &lanes, |elements| {
            for (&element, &word) in elements.iter().zip(words.by_ref()) {
                match array.get_mut(element) {
                    Some(place) => *place = word,
                    None => beyond = true,
                }
            }
        });
        match beyond {
            true => Err(Diagnostic::new(format!("the stream `{}` has elements outside of its array", stream.name))),
            false => Ok(()),
        }
    }
}
