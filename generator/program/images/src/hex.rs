//! Hexadecimal words, one for each element, negative values in two's complement.

use std::path::Path;

use pushmem_files::{Diagnostic, format_words, read_words};

use crate::element::Element;
use crate::image::{Image, count, too_large};

pub(crate) fn read(path: &Path, element: Element, shape: &[usize]) -> Result<Image, Diagnostic> {
    let words = read_words(path, element.bits())?;
    let needed = count(shape).ok_or_else(|| too_large(shape))?;
    if words.len() != needed {
        let message =
            format!("`{}` holds {} words; an image of shape {shape:?} needs {needed}", path.display(), words.len());
        return Err(Diagnostic::new(message).with_help("give one word for each element, dimension 0 fastest"));
    }
    let unused = 64 - element.bits();
    let values = words.into_iter().map(|word| match element.is_signed() {
        true => (word as i64) << unused >> unused,
        false => word as i64,
    });
    Image::from_values(element, shape, values)
}

pub(crate) fn format(image: &Image) -> Vec<u8> {
    let bits = image.element().bits();
    let words: Vec<u64> = image.values().iter().map(|value| value as u64 & (u64::MAX >> (64 - bits))).collect();
    format_words(&words, bits).into_bytes()
}
