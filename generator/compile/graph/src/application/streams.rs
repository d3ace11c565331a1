//! The words of the streams of an application graph, and the images that they are.

use std::collections::BTreeMap;

use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_nest::Program;

use super::ApplicationGraph;
use crate::run::Beats;
use crate::stream_elements::{StreamElements, arrays, input_beats};

impl ApplicationGraph {
    /// The words of each input stream, for these images by the name of the input. Elements outside of their array are 0.
    ///
    /// # Errors
    /// When an input is missing or has another shape than declared.
    pub fn input_beats(&self, program: &Program, inputs: &BTreeMap<String, Image>) -> Result<Vec<Beats>, Diagnostic> {
        input_beats(program, &self.counters, self.inputs.iter().map(StreamElements::from), inputs)
    }

    /// The words of each output stream, for these images by the name of the output. Elements without an image are 0.
    pub fn output_beats(&self, program: &Program, outputs: &BTreeMap<String, Image>) -> Vec<Beats> {
        let of_stream =
            |stream: StreamElements| stream.words(&self.counters, outputs.get(&program.arrays[stream.array].name));
        self.outputs.iter().map(StreamElements::from).map(of_stream).collect()
    }

    /// The output arrays that the words of the output streams make, by name.
    ///
    /// # Errors
    /// When an output has other elements than its array.
    pub fn arrays(&self, program: &Program, beats: &[Beats]) -> Result<BTreeMap<String, Image>, Diagnostic> {
        arrays(program, &self.counters, self.outputs.iter().map(StreamElements::from), beats)
    }
}
