//! Portable network graphics, grey or colour, 8 or 16 bits. A colour image has shape `[3, width, height]`.

use std::io::Cursor;
use std::path::Path;

use png::{BitDepth, ColorType, Decoder, Encoder, Transformations};
use pushmem_files::Diagnostic;

use crate::bytes::{self, damaged};
use crate::element::Element;
use crate::image::{Image, count, too_large};
use crate::netpbm::{Picture, picture};

pub(crate) fn read(path: &Path) -> Result<Image, Diagnostic> {
    parse(path, &bytes::read(path)?)
}

fn parse(path: &Path, file: &[u8]) -> Result<Image, Diagnostic> {
    let wrong = |reason: png::DecodingError| damaged(path, "PNG", reason);
    let mut decoder = Decoder::new(Cursor::new(file));
    // Palettes and fewer than 8 bits become 8 bits.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(wrong)?;
    let (color, depth) = reader.output_color_type();
    let samples = color.samples();
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    let shape = match color {
        ColorType::Grayscale | ColorType::GrayscaleAlpha => vec![width, height],
        _ => vec![3, width, height],
    };
    let all = [samples, width, height];
    count(&all).ok_or_else(|| too_large(&all))?;
    let size = reader.output_buffer_size().ok_or_else(|| too_large(&all))?;
    let mut data = vec![0; size];
    reader.next_frame(&mut data).map_err(wrong)?;
    let (element, bytes) = match depth {
        BitDepth::Sixteen => (Element::U16, 2),
        _ => (Element::U8, 1),
    };
    // An opacity beside the colours is dropped.
    let kept = if shape.len() == 3 { 3 } else { 1 };
    let pixels = data.chunks_exact(samples * bytes);
    let values = pixels
        .flat_map(|pixel| pixel.chunks_exact(bytes).take(kept))
        .map(|sample| sample.iter().fold(0, |value, &byte| value << 8 | i64::from(byte)));
    Image::from_values(element, &shape, values)
}

pub(crate) fn format(image: &Image, path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let Picture { width, height, channels } = picture(image.element(), image.shape(), path)?;
    let refused = |reason: png::EncodingError| Diagnostic::new(format!("cannot write `{}`: {reason}", path.display()));
    let (Ok(width), Ok(height)) = (u32::try_from(width), u32::try_from(height)) else {
        return Err(too_large(image.shape()));
    };
    let wide = image.element() == Element::U16;
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(if channels == 3 { ColorType::Rgb } else { ColorType::Grayscale });
    encoder.set_depth(if wide { BitDepth::Sixteen } else { BitDepth::Eight });
    let mut writer = encoder.write_header().map_err(refused)?;
    writer.write_image_data(&bytes::of_picture(image)).map_err(refused)?;
    writer.finish().map_err(refused)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{format, parse};
    use crate::{Element, Image};

    #[test]
    fn files_are_read_back() {
        for (element, shape) in [(Element::U8, vec![3, 2]), (Element::U16, vec![2, 3]), (Element::U16, vec![3, 1, 2])] {
            let values = (0..6).map(|value| value * element.max() / 5);
            let image = Image::from_values(element, &shape, values).unwrap();
            let path = Path::new("a.png");
            assert_eq!(parse(path, &format(&image, path).unwrap()).unwrap(), image);
        }
    }

    #[test]
    fn explains_truncated_files() {
        let path = Path::new("a.png");
        let file = format(&Image::new(Element::U8, &[4, 4]), path).unwrap();
        for end in 0..file.len() - 12 {
            let problem = parse(path, &file[..end]).unwrap_err();
            assert!(problem.message().starts_with("`a.png` is not a readable PNG file"), "{problem:?}");
        }
    }
}
