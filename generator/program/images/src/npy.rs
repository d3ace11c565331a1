//! NumPy's format, version 1.

use std::path::Path;

use pushmem_files::Diagnostic;

use crate::bytes::{self, damaged, truncated};
use crate::element::Element;
use crate::image::{Image, count, too_large};
use crate::values::Values;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Magic, version and the length of the header.
const PREFIX: usize = 10;

/// The header is padded so that the data start at a multiple of this.
const ALIGNMENT: usize = 64;

fn code(element: Element) -> &'static str {
    match element {
        Element::U8 => "|u1",
        Element::I8 => "|i1",
        Element::U16 => "<u2",
        Element::I16 => "<i2",
        Element::U32 => "<u4",
        Element::I32 => "<i4",
        Element::I64 => "<i8",
        // As `ml_dtypes` writes it: NumPy itself has no such type.
        Element::Bf16 => "<V2",
        Element::F16 => "<f2",
    }
}

pub(crate) fn format(image: &Image) -> Vec<u8> {
    let axes: String = image.shape().iter().rev().map(|extent| format!("{extent}, ")).collect();
    // A single axis needs its comma.
    let axes = if image.shape().len() == 1 { axes.trim_end() } else { axes.trim_end_matches(", ") };
    let mut header = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({axes}), }}", code(image.element()));
    while !(PREFIX + header.len() + 1).is_multiple_of(ALIGNMENT) {
        header.push(' ');
    }
    header.push('\n');
    let mut file = MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    file.extend(image.values().bytes());
    file
}

pub(crate) fn read(path: &Path) -> Result<Image, Diagnostic> {
    parse(path, &bytes::read(path)?)
}

fn parse(path: &Path, file: &[u8]) -> Result<Image, Diagnostic> {
    let wrong = |reason: &str| damaged(path, ".npy", reason);
    if !file.starts_with(MAGIC) {
        return Err(wrong("it does not start with `\\x93NUMPY`"));
    }
    let (Some(&[major, _]), Some(&[low, high])) =
        (file.get(6..8).and_then(<[u8]>::as_array), file.get(8..PREFIX).and_then(<[u8]>::as_array))
    else {
        return Err(wrong("the header is cut off"));
    };
    if major != 1 {
        return Err(wrong(&format!("version {major} is not supported")).with_help("write it with numpy.save"));
    }
    let length = usize::from(u16::from_le_bytes([low, high]));
    let header = file.get(PREFIX..PREFIX + length).ok_or_else(|| wrong("the header is cut off"))?;
    let header = std::str::from_utf8(header).map_err(|_| wrong("the header is not text"))?;
    let element = element(header).map_err(|reason| {
        wrong(&reason)
            .with_help("save the type that the array has in the program: `array.astype('<u2')` of u16, `'<f2'` of f16")
    })?;
    if value_of(header, "fortran_order").is_none_or(|order| !order.starts_with("False")) {
        return Err(wrong("the elements are in Fortran order").with_help("save `numpy.ascontiguousarray(array)`"));
    }
    let shape = shape(header).ok_or_else(|| wrong("the header gives no shape"))?;
    let needed = count(&shape).ok_or_else(|| too_large(&shape))?;
    let size = element.size();
    let data = &file[PREFIX + length..];
    if data.len() < needed * size {
        return Err(truncated(path, needed, data.len() / size));
    }
    if data.len() > needed * size {
        return Err(wrong(&format!("{} bytes follow after the last element", data.len() - needed * size)));
    }
    Ok(Image::of(&shape, Values::of_bytes(element, data)))
}

/// The text behind a key of the dictionary in the header.
fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let after = header.split_once(&format!("'{key}'"))?.1;
    Some(after.trim_start().strip_prefix(':')?.trim_start())
}

fn element(header: &str) -> Result<Element, String> {
    let description = value_of(header, "descr").and_then(|value| value.strip_prefix('\''));
    let Some((description, _)) = description.and_then(|value| value.split_once('\'')) else {
        return Err("the header gives no simple type".to_owned());
    };
    let known = |candidate: &Element| {
        let code = code(*candidate);
        // One byte has no order: all ways to write it mean the same. To two bytes of no meaning NumPy itself gives none, either.
        let is_same = description.get(1..) == code.get(1..);
        let is_plain = *candidate == Element::Bf16 && description.starts_with('|');
        description == code || is_same && (candidate.bits() == 8 || is_plain)
    };
    Element::ALL.into_iter().find(known).ok_or_else(|| {
        format!(
            "the type `{}` is not supported: expected little-endian integers, float16 or bfloat16",
            description.escape_debug()
        )
    })
}

fn shape(header: &str) -> Option<Vec<usize>> {
    let (axes, _) = value_of(header, "shape")?.strip_prefix('(')?.split_once(')')?;
    let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
    axes.rev().map(|axis| axis.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::{format, parse};
    use crate::{Element, Image};

    #[test]
    fn is_byte_for_byte_what_numpy_writes() {
        let image = Image::from_values(Element::I16, &[3, 2], vec![1, -2, 3, 4, 5, -6]).unwrap();
        let mut expected =
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }".to_vec();
        expected.resize(127, b' ');
        expected.push(b'\n');
        expected.extend(b"\x01\x00\xfe\xff\x03\x00\x04\x00\x05\x00\xfa\xff");
        assert_eq!(format(&image), expected);
        assert_eq!(parse(Path::new("a.npy"), &expected).unwrap(), image);
    }

    #[test]
    fn reads_numbers_as_numpy_writes_two_bytes() {
        let image = Image::from_values(Element::Bf16, &[2], vec![0x3f80, 0xc000]).unwrap();
        let file = format(&image);
        let place = file.windows(3).position(|window| window == b"<V2").unwrap();
        let with = |code: &[u8; 3]| [&file[..place], code, &file[place + 3..]].concat();
        assert_eq!(parse(Path::new("a.npy"), &with(b"|V2")).unwrap(), image);
        assert!(parse(Path::new("a.npy"), &with(b"|u2")).is_err());
        let halves = Image::from_values(Element::F16, &[2], vec![0x3f80, 0xc000]).unwrap();
        assert_eq!(parse(Path::new("a.npy"), &with(b"<f2")).unwrap(), halves);
        assert_eq!(format(&halves), with(b"<f2"));
        assert!(parse(Path::new("a.npy"), &with(b"<f4")).is_err());
    }

    #[test]
    fn explains_errors() {
        let image = Image::new(Element::U16, &[2, 2]);
        let good = format(&image);
        let problem = |file: &[u8]| parse(Path::new("a.npy"), file).unwrap_err().message().to_owned();
        assert_eq!(problem(&good[..good.len() - 2]), "`a.npy` is truncated: 4 elements are announced, 3 are there");
        assert_eq!(problem(&good[..20]), "`a.npy` is not a readable .npy file: the header is cut off");
        assert_eq!(problem(b"PNG"), "`a.npy` is not a readable .npy file: it does not start with `\\x93NUMPY`");
        let text = String::from_utf8_lossy(&good[10..]).into_owned();
        let with = |header: String| {
            let mut file = good[..10].to_vec();
            file.extend(header.bytes());
            problem(&file)
        };
        assert!(with(text.replace("<u2", ">u2")).contains("the type `>u2` is not supported"));
        for type_of_other in ["<f4", "|b1"] {
            let mut file = good.clone();
            let place = 10 + text.find("<u2").unwrap();
            file[place..place + 3].copy_from_slice(type_of_other.as_bytes());
            let refused = parse(Path::new("a.npy"), &file).unwrap_err();
            assert!(refused.message().contains(type_of_other), "{refused:?}");
            assert!(refused.help().unwrap().contains("array.astype('<u2')"), "{refused:?}");
        }
        assert!(with(text.replace("False", "True ")).contains("Fortran order"));
        assert!(with(text.replace("(2, 2)", "(2, z)")).contains("gives no shape"));
        let mut long = good.clone();
        long.push(0);
        assert!(problem(&long).contains("1 bytes follow"));
    }

    proptest! {
        #[test]
        fn damaged_files_do_not_panic(position in 0_usize..140, byte: u8, end in 0_usize..150) {
            let mut file = format(&Image::new(Element::I32, &[2, 1]));
            if let Some(place) = file.get_mut(position) {
                *place = byte;
            }
            file.truncate(end);
            let _ = parse(Path::new("a.npy"), &file);
        }

        #[test]
        fn every_type_is_read_back(values in prop::collection::vec(any::<i64>(), 6)) {
            for element in Element::ALL {
                let unused = 64 - element.bits();
                let wrapped = values.iter().map(|value| match element.is_signed() {
                    true => value >> unused,
                    false => ((*value as u64) >> unused) as i64,
                });
                let image = Image::from_values(element, &[1, 3, 2], wrapped).unwrap();
                prop_assert_eq!(parse(Path::new("a.npy"), &format(&image)).unwrap(), image);
            }
        }
    }
}
