//! The elements of arrays that the words of streams are, of application graphs and of accelerators alike.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use pushmem_affine::Affine;
use pushmem_files::Diagnostic;
use pushmem_images::{Image, Values};
use pushmem_nest::{Array, ArrayKind, Program, Type};

use crate::accelerator::{Counter, Stream};
use crate::application::{InputNode, OutputNode};
use crate::ids::CounterId;
use crate::run::Beats;

/// The elements of a stream.
#[derive(Clone, Debug)]
pub struct StreamElements<'a> {
    /// The name of the stream.
    pub name: &'a str,
    /// The array, an index of the program's.
    pub array: usize,
    /// Type of the elements.
    pub element: Type,
    /// When beats are due.
    pub counter: CounterId,
    /// Which element of the array each lane of a beat is, in order of memory, over the loops of the counter; of elements of two
    /// words, which of all words, low word first.
    pub lanes: Vec<&'a Affine>,
}

impl StreamElements<'_> {
    /// The words of the stream for this image of the array. Those outside of it, or without an image, are 0.
    pub(crate) fn words(&self, counters: &IndexVec<CounterId, Counter>, image: Option<&Image>) -> Beats {
        let words = self.element.words();
        let mut beats = Vec::with_capacity(counters[self.counter].iterations() as usize * self.lanes.len());
        self.for_each(counters, |number| {
            let value = image.and_then(|image| image.values().get(number / words.len()));
            beats.push(value.map_or(0, |value| words[number % words.len()].of(value)));
        });
        beats
    }

    /// Calls for each word of the stream with the number of its element.
    fn for_each(&self, counters: &IndexVec<CounterId, Counter>, mut visit: impl FnMut(usize)) {
        counters[self.counter]
            .extent
            .for_each(|index| self.lanes.iter().for_each(|lane| visit(lane.at(index) as usize)));
    }
}

/// The words of each input stream, for these images by the name of the input.
///
/// # Errors
/// When an input is missing or has another shape than declared.
pub(crate) fn input_beats<'a>(
    program: &Program,
    counters: &IndexVec<CounterId, Counter>,
    streams: impl Iterator<Item = StreamElements<'a>>,
    inputs: &BTreeMap<String, Image>,
) -> Result<Vec<Beats>, Diagnostic> {
    for array in program.arrays_of(ArrayKind::Input) {
        let image = inputs.get(&array.name);
        let image = image.ok_or_else(|| Diagnostic::new(format!("no image for the input `{}`", array.name)))?;
        if image.values().len() != array.size() {
            return Err(Diagnostic::new(format!("the image for `{}` has another shape than it", array.name)));
        }
    }
    let image = |stream: &StreamElements| inputs.get(&program.arrays[stream.array].name);
    Ok(streams.map(|stream| stream.words(counters, image(&stream))).collect())
}

/// The arrays that the words of output streams make, by name.
///
/// # Errors
/// When an output has other elements than its array.
pub(crate) fn arrays<'a>(
    program: &Program,
    counters: &IndexVec<CounterId, Counter>,
    streams: impl Iterator<Item = StreamElements<'a>>,
    beats: &[Beats],
) -> Result<BTreeMap<String, Image>, Diagnostic> {
    let mut arrays: BTreeMap<usize, Values> = BTreeMap::new();
    for (stream, beats) in streams.zip(beats) {
        let (array, parts) = (&program.arrays[stream.array], stream.element.words());
        let zeros = || Values::zeros(array.element.element().expect("arrays hold elements"), array.size());
        let values = arrays.entry(stream.array).or_insert_with(zeros);
        let (mut words, mut beyond) = (beats.iter(), false);
        stream.for_each(counters, |number| {
            let Some(&word) = words.next() else { return };
            let (position, part) = (number / parts.len(), parts[number % parts.len()]);
            match values.get(position) {
                Some(before) => values.set(position, before & !part.shifted(u16::MAX) | part.shifted(word)),
                None => beyond = true,
            }
        });
        if beyond {
            let message = format!("the stream `{}` has elements outside of its array", stream.name);
            return Err(Diagnostic::new(message));
        }
    }
    let image = |(array, values): (usize, Values)| {
        let Array { name, shape, min, .. } = &program.arrays[array];
        let shape: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
        (name.clone(), Image::of(&shape, values).with_min(min))
    };
    Ok(arrays.into_iter().map(image).collect())
}

/// The elements of a stream of this kind.
macro_rules! elements_of_stream {
    ($($kind:ty),*) => {
        $(impl<'a> From<&'a $kind> for StreamElements<'a> {
            fn from(stream: &'a $kind) -> Self {
                StreamElements {
                    name: &stream.name,
                    array: stream.array,
                    element: stream.element,
                    counter: stream.counter,
                    lanes: stream.lanes.iter().map(|lane| &lane.element).collect(),
                }
            }
        })*
    };
}
elements_of_stream!(InputNode, OutputNode, Stream);
