//! The elements of arrays that the words of streams are, of application graphs and of accelerators alike.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use pushmem_affine::Affine;
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_nest::{ArrayKind, Program, Type};

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
    /// The words of the stream for these values of the array. Those outside of it are 0.
    pub(crate) fn words(&self, counters: &IndexVec<CounterId, Counter>, values: &[i64]) -> Beats {
        let (words, mut beats) = (self.element.words(), Vec::new());
        self.for_each(counters, |number| {
            let value = values.get(number / words.len());
            beats.push(value.map_or(0, |&value| words[number % words.len()].of(value)));
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
    let image = |stream: &StreamElements| &inputs[&program.arrays[stream.array].name];
    Ok(streams.map(|stream| stream.words(counters, image(&stream).values())).collect())
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
    let mut arrays: BTreeMap<usize, Vec<u16>> = BTreeMap::new();
    for (stream, beats) in streams.zip(beats) {
        let size = program.arrays[stream.array].size() * stream.element.words().len();
        let array = arrays.entry(stream.array).or_insert_with(|| vec![0; size]);
        let (mut words, mut beyond) = (beats.iter(), false);
        stream.for_each(counters, |element| {
            let Some(&word) = words.next() else { return };
            match array.get_mut(element) {
                Some(place) => *place = word,
                None => beyond = true,
            }
        });
        if beyond {
            let message = format!("the stream `{}` has elements outside of its array", stream.name);
            return Err(Diagnostic::new(message));
        }
    }
    let image = |(array, words): (usize, Vec<u16>)| {
        let declared = &program.arrays[array];
        let values = words.chunks(declared.element.words().len()).map(|words| declared.element.join(words)).collect();
        let element = declared.element.element().expect("arrays hold elements");
        let shape: Vec<usize> = declared.shape.iter().map(|&extent| extent as usize).collect();
        Ok((declared.name.clone(), Image::from_values(element, &shape, values)?.with_min(&declared.min)))
    };
    arrays.into_iter().map(image).collect()
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
