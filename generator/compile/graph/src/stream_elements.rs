//! The elements of arrays that the words of streams are, of application graphs and of accelerators alike.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use pushmem_affine::Affine;
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_nest::{Program, Type};

use crate::accelerator::{Counter, Stream};
use crate::application::{InputNode, OutputNode};
use crate::ids::CounterId;
use crate::run::{Beats, output_images, word_of};

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
    /// The words of the stream for these values of the array, of which one may be outside.
    pub(crate) fn words(
        &self,
        counters: &IndexVec<CounterId, Counter>,
        values: &[i64],
        word: impl Fn(Option<u16>) -> u16,
    ) -> Beats {
        let mut beats = Vec::new();
        self.for_each(counters, |number| beats.push(word(word_of(self.element, values, number))));
        beats
    }

    /// Calls for each word of the stream with the number of its element.
    fn for_each(&self, counters: &IndexVec<CounterId, Counter>, mut visit: impl FnMut(usize)) {
        counters[self.counter]
            .extent
            .for_each(|index| self.lanes.iter().for_each(|lane| visit(lane.at(index) as usize)));
    }
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
    output_images(program, arrays)
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
