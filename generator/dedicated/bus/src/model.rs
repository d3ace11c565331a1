//! The managers of images in the model: the bytes of memory that a stream reads or writes, in its order.
//!
//! They follow the same walks as the RTL, whose parameters are printed from them.

use pushmem_images::Element;

use crate::image::{Elements, Walk, WalkError};

/// An image in memory, as the arguments of a run have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Byte address of its first element.
    pub address: usize,
    /// Bytes from an element to the next in each dimension but the first.
    pub strides: Vec<i64>,
}

/// The manager of a stream.
#[derive(Clone, Debug)]
pub struct Manager {
    walk: Walk,
    element: Element,
}

impl Placed {
    /// An image of such elements at an address, with so many bytes after each of its lines.
    pub fn with_gaps(address: usize, element: Element, shape: &[i64], gap: i64) -> Self {
        let mut bytes = element.bytes() as i64;
        let mut strides = Vec::new();
        for size in shape.iter().take(shape.len().saturating_sub(1)) {
            bytes = bytes * size + gap;
            strides.push(bytes);
        }
        Placed { address, strides }
    }

    /// The address after its last element, where strides are positive.
    pub fn end(&self, element: Element, shape: &[i64]) -> usize {
        let last: Vec<i64> = shape.iter().map(|size| size - 1).collect();
        self.at(element, &last) + element.bytes() as usize
    }

    /// The address of an element by its index in each dimension.
    pub fn at(&self, element: Element, index: &[i64]) -> usize {
        let along = std::iter::once(element.bytes() as i64).chain(self.strides.iter().copied());
        let offset: i64 = index.iter().zip(along).map(|(place, stride)| place * stride).sum();
        self.address.wrapping_add_signed(offset as isize)
    }

    /// A part of it that begins at this element.
    pub fn part(&self, element: Element, index: &[i64]) -> Self {
        Placed { address: self.at(element, index), strides: self.strides.clone() }
    }
}

impl Manager {
    /// The manager of a stream with these elements.
    ///
    /// # Errors
    /// When the stream is no walk through an image.
    pub fn of(elements: &Elements, element: Element) -> Result<Self, WalkError> {
        Ok(Manager { walk: elements.walk()?, element })
    }

    /// The words of a run, beat after beat, of an image in memory.
    pub fn read(&self, memory: &[u8], image: &Placed) -> Vec<u16> {
        let mut words = Vec::new();
        self.for_each_word(image, |bytes| {
            let word = memory[bytes].iter().rev().fold(0_u16, |word, byte| word << 8 | u16::from(*byte));
            let above = u16::BITS - self.element.bits();
            words.push(if self.element.is_signed() { ((word << above) as i16 >> above) as u16 } else { word });
        });
        words
    }

    /// Writes the words of a run to an image in memory.
    pub fn write(&self, memory: &mut [u8], image: &Placed, words: &[u16]) {
        let mut words = words.iter();
        self.for_each_word(image, |bytes| {
            let word = words.next().expect("a stream has as many words as its walk").to_le_bytes();
            let count = bytes.len();
            memory[bytes].copy_from_slice(&word[..count]);
        });
    }

    /// Calls for the bytes of each word, in the order of the stream.
    fn for_each_word(&self, image: &Placed, mut visit: impl FnMut(std::ops::Range<usize>)) {
        let Walk { words, start, levels } = &self.walk;
        let bytes = self.element.bytes() as usize;
        let lines: u64 = levels.iter().map(|level| level.extent).product();
        for line in 0..lines {
            let (mut left, mut index) = (line, start.clone());
            for level in levels {
                let iteration = (left % level.extent) as i64;
                left /= level.extent;
                index.iter_mut().zip(&level.steps).for_each(|(place, step)| *place += iteration * step);
            }
            let begin = image.at(self.element, &index);
            (0..*words as usize).for_each(|word| visit(begin + word * bytes..begin + (word + 1) * bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of a stream of channels, of which memory has the signs.
    #[test]
    fn streams_read_what_they_wrote() {
        let pixels = vec![(4, vec![3; 3]), (5, vec![12; 3])];
        let elements = Elements { shape: vec![3, 4, 5], lanes: vec![0, 1, 2], loops: pixels };
        for element in [Element::U8, Element::I8, Element::U16, Element::I16] {
            let manager = Manager::of(&elements, element).unwrap();
            let image = Placed::with_gaps(7 * element.bytes() as usize, element, &elements.shape, 6);
            let mut memory = vec![0xa5; image.end(element, &elements.shape) + 5];
            let values = (0..60).map(|number| number * 1021);
            let words: Vec<u16> = values.map(|value| manager.element_word(value)).collect();
            manager.write(&mut memory, &image, &words);
            assert_eq!(manager.read(&memory, &image), words);
            let written = 60 * element.bytes() as usize;
            assert!(memory.iter().filter(|byte| **byte == 0xa5).count() >= memory.len() - written);
            assert_eq!(memory[image.at(element, &[0, 1, 2])..][..1], words[27].to_le_bytes()[..1]);
            assert!(memory[image.end(element, &elements.shape)..].iter().all(|byte| *byte == 0xa5));
        }
    }

    impl Manager {
        /// A number in the type of the elements, as a word has it.
        fn element_word(&self, value: i32) -> u16 {
            match self.element {
                Element::U8 => u16::from(value as u8),
                Element::I8 => value as i8 as u16,
                _ => value as u16,
            }
        }
    }
}
