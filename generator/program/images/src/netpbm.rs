//! Portable grey maps (`.pgm`) and pixel maps (`.ppm`), as text or binary. A pixel map has shape `[3, width, height]`.

use std::path::Path;

use pushmem_files::Diagnostic;

use crate::bytes::{self, damaged, truncated};
use crate::element::Element;
use crate::image::{Image, count, ending, too_large};
use crate::values::Values;

/// Width, height and channels of an image that a picture format can hold.
pub(crate) struct Picture {
    pub width: usize,
    pub height: usize,
    pub channels: usize,
}

fn refuse(path: &Path, reason: &str) -> Diagnostic {
    Diagnostic::new(format!("`{}` cannot hold this image: {reason}", path.display()))
}

/// How an image of this type and shape is a picture: `[width, height]` in grey, `[3, width, height]` in colour, other
/// dimensions of extent 1.
///
/// # Errors
/// If it is none of the two, or its elements are not u8 or u16.
pub(crate) fn picture(element: Element, shape: &[usize], path: &Path) -> Result<Picture, Diagnostic> {
    let refuse = |reason: String| refuse(path, &reason).with_help("write a `.npy` file, which holds every image");
    if !matches!(element, Element::U8 | Element::U16) {
        return Err(refuse(format!("its elements are {}, not u8 or u16", element.name())));
    }
    let (plane, rest) = shape.split_at(shape.len().min(2));
    match (plane, rest) {
        (&[width, height], []) => Ok(Picture { width, height, channels: 1 }),
        (&[3, width], &[height]) => Ok(Picture { width, height, channels: 3 }),
        (&[width, height], rest) if rest.iter().all(|&extent| extent == 1) => {
            Ok(Picture { width, height, channels: 1 })
        }
        _ => Err(refuse(format!("its shape {shape:?} is neither [width, height] nor [3, width, height]"))),
    }
}

/// As [`picture`], for a portable map of the colours that the ending of its file says.
///
/// # Errors
/// As [`picture`], and if the image has other colours.
pub(crate) fn map_picture(element: Element, shape: &[usize], path: &Path) -> Result<Picture, Diagnostic> {
    let picture = picture(element, shape, path)?;
    // Programs that go by the ending would not read the other one.
    match (ending(path).as_str(), picture.channels) {
        ("pgm", 3) => {
            Err(refuse(path, "it is in colour, and a `.pgm` file is grey").with_help("write a `.ppm` or `.png` file"))
        }
        ("ppm", 1) => {
            Err(refuse(path, "it is grey, and a `.ppm` file is in colour").with_help("write a `.pgm` or `.png` file"))
        }
        _ => Ok(picture),
    }
}

pub(crate) fn format(image: &Image, path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let Picture { width, height, channels } = map_picture(image.element(), image.shape(), path)?;
    let magic = if channels == 3 { "P6" } else { "P5" };
    let head = format!("{magic}\n{width} {height}\n{}\n", image.element().max());
    Ok([head.into_bytes(), bytes::of_picture(image)].concat())
}

pub(crate) fn read(path: &Path) -> Result<Image, Diagnostic> {
    parse(path, &bytes::read(path)?)
}

fn parse(path: &Path, file: &[u8]) -> Result<Image, Diagnostic> {
    let wrong = |reason: &str| damaged(path, "PGM or PPM", reason);
    let (binary, channels) = match file.get(..2) {
        Some(b"P2") => (false, 1),
        Some(b"P3") => (false, 3),
        Some(b"P5") => (true, 1),
        Some(b"P6") => (true, 3),
        _ => return Err(wrong("it does not start with `P2`, `P3`, `P5` or `P6`")),
    };
    let mut words = Words { rest: &file[2..] };
    let mut number = |what: &str| words.next().ok_or_else(|| wrong(&format!("the {what} is missing or not a number")));
    let (width, height, largest) = (number("width")?, number("height")?, number("largest value")?);
    if !(1..=0xffff).contains(&largest) {
        return Err(wrong(&format!("the largest value is {largest}; it must be from 1 to 65535")));
    }
    let shape = if channels == 3 { vec![3, width, height] } else { vec![width, height] };
    let needed = count(&shape).ok_or_else(|| too_large(&shape))?;
    let element = if largest > 0xff { Element::U16 } else { Element::U8 };
    // Exactly one white space ends the header.
    let data = words.rest.get(1..).unwrap_or_default();
    let mut samples = data
        .chunks_exact(element.size())
        .map(|sample| sample.iter().fold(0, |value, &byte| value << 8 | usize::from(byte)));
    let mut values = Values::zeros(element, needed);
    for position in 0..needed {
        let next = if binary { samples.next() } else { words.next() };
        let value = next.ok_or_else(|| truncated(path, needed, position))?;
        if value > largest {
            return Err(wrong(&format!("the value {value} is larger than the announced largest, {largest}")));
        }
        values.set(position, value as i64);
    }
    Ok(Image::of(&shape, values))
}

/// Decimal numbers between white space and comments.
struct Words<'a> {
    rest: &'a [u8],
}

impl Iterator for Words<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            match self.rest {
                [b'#', ..] => {
                    let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                [byte, rest @ ..] if byte.is_ascii_whitespace() => self.rest = rest,
                _ => break,
            }
        }
        let end = self.rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::{format, parse};
    use crate::{Element, Image};

    #[test]
    fn reads_text_with_comments() {
        let image = parse(Path::new("a.pgm"), b"P2 # grey\n2 1\n#\n300\n7 300\n").unwrap();
        assert_eq!(image, Image::from_values(Element::U16, &[2, 1], vec![7, 300]).unwrap());
        let image = parse(Path::new("a.ppm"), b"P3 1 2 255 1 2 3 4 5 6").unwrap();
        assert_eq!(image, Image::from_values(Element::U8, &[3, 1, 2], vec![1, 2, 3, 4, 5, 6]).unwrap());
    }

    #[test]
    fn binary_files_are_read_back() {
        for (element, shape) in [(Element::U8, vec![3, 2]), (Element::U16, vec![2, 3]), (Element::U16, vec![3, 1, 2])] {
            let values = (0..6).map(|value| value * element.max() / 5);
            let image = Image::from_values(element, &shape, values).unwrap();
            let path = Path::new(if shape.len() == 3 { "a.ppm" } else { "a.pgm" });
            assert_eq!(parse(path, &format(&image, path).unwrap()).unwrap(), image);
        }
    }

    #[test]
    fn the_ending_says_grey_or_colour() {
        let refused = |shape: &[usize], name: &str| {
            let problem = format(&Image::new(Element::U8, shape), Path::new(name)).unwrap_err();
            (problem.message().to_owned(), problem.help().unwrap().to_owned())
        };
        let (message, help) = refused(&[3, 4, 5], "a.pgm");
        assert!(message.ends_with("it is in colour, and a `.pgm` file is grey"), "{message}");
        assert_eq!(help, "write a `.ppm` or `.png` file");
        let (message, help) = refused(&[4, 5], "a.PPM");
        assert!(message.ends_with("it is grey, and a `.ppm` file is in colour"), "{message}");
        assert_eq!(help, "write a `.pgm` or `.png` file");
    }

    #[test]
    fn explains_errors() {
        let problem = |file: &[u8]| parse(Path::new("a.pgm"), file).unwrap_err().message().to_owned();
        assert!(problem(b"P7 1 1 255 ").contains("does not start with"));
        assert!(problem(b"P5 1 x").contains("the height is missing"));
        assert!(problem(b"P5 1 1 70000 ").contains("from 1 to 65535"));
        assert!(problem(b"P5 2 2 255 abc").contains("4 elements are announced, 3 are there"));
        assert!(problem(b"P2 2 2 255 1 2").contains("4 elements are announced, 2 are there"));
        assert!(problem(b"P2 1 1 100 101").contains("larger than the announced"));
        assert!(problem(b"P5 99999999 99999999 255 ").contains("too large"));
        let negative = Image::new(Element::I16, &[2, 2]);
        let refused = format(&negative, Path::new("a.pgm")).unwrap_err();
        assert!(refused.message().ends_with("its elements are i16, not u8 or u16"));
    }

    proptest! {
        #[test]
        fn any_bytes_do_not_panic(kind in prop::sample::select(vec![b'2', b'3', b'5', b'6']), rest: Vec<u8>) {
            let file: Vec<u8> = [b'P', kind].into_iter().chain(rest).collect();
            let _ = parse(Path::new("a.pgm"), &file);
        }
    }
}
