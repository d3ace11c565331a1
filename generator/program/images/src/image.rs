//! Images in memory.

use std::path::Path;

use pushmem_files::{Diagnostic, write_file};

use crate::element::Element;
use crate::values::Values;
use crate::{hex, netpbm, npy, png_file};

/// The most elements an image may have: 2^26.
pub const LARGEST_IMAGE: u64 = 1 << 26;

/// An array of integers. Dimension 0 is the innermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    shape: Vec<usize>,
    min: Vec<i64>,
    values: Values,
}

impl Image {
    /// An image full of zeros whose least index is 0 in every dimension.
    ///
    /// # Panics
    /// If it would have more than [`LARGEST_IMAGE`] elements.
    pub fn new(element: Element, shape: &[usize]) -> Self {
        let count = count(shape).expect("an image has at most LARGEST_IMAGE elements");
        Self::of(shape, Values::zeros(element, count))
    }

    /// An image of these values, in order of memory.
    ///
    /// # Errors
    /// If there are more or fewer values than the shape says, more than [`LARGEST_IMAGE`], or one that the type does not
    /// hold.
    pub fn from_values(
        element: Element,
        shape: &[usize],
        values: impl IntoIterator<Item = i64>,
    ) -> Result<Self, Diagnostic> {
        let count = count(shape).ok_or_else(|| too_large(shape))?;
        let (mut held, mut found) = (Values::zeros(element, count), 0);
        for value in values {
            if !element.holds(value) {
                return Err(Diagnostic::new(format!(
                    "element {found} is {value}: {} holds {} to {}",
                    element.name(),
                    element.min(),
                    element.max()
                )));
            }
            if found < count {
                held.set(found, value);
            }
            found += 1;
        }
        if found != count {
            return Err(Diagnostic::new(format!(
                "{found} values do not make an image of shape {shape:?}: {count} are needed"
            )));
        }
        Ok(Self::of(shape, held))
    }

    /// An image of these values, in order of memory.
    ///
    /// # Panics
    /// If there are more or fewer values than the shape says.
    pub fn of(shape: &[usize], values: Values) -> Self {
        assert_eq!(Some(values.len()), count(shape), "a value for each element");
        Self { shape: shape.to_vec(), min: vec![0; shape.len()], values }
    }

    /// The same image with other least indices, one for each dimension.
    ///
    /// # Panics
    /// If there is not one least index for each dimension.
    pub fn with_min(mut self, min: &[i64]) -> Self {
        assert_eq!(min.len(), self.shape.len(), "one least index for each dimension");
        self.min = min.to_vec();
        self
    }

    /// The type of the elements.
    pub fn element(&self) -> Element {
        self.values.element()
    }

    /// The number of elements in each dimension, innermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The least index in each dimension.
    pub fn min(&self) -> &[i64] {
        &self.min
    }

    /// The elements in order of memory: dimension 0 fastest.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The element at these indices; nothing outside.
    pub fn get(&self, indices: &[i64]) -> Option<i64> {
        self.values.get(self.position(indices)?)
    }

    /// Changes the element at these indices.
    ///
    /// # Panics
    /// If the indices lie outside, or the type does not hold the value.
    pub fn set(&mut self, indices: &[i64], value: i64) {
        assert!(self.element().holds(value), "{value} is not of type {}", self.element().name());
        self.values.set(self.position(indices).expect("indices lie inside"), value);
    }

    /// Where in [`Image::values`] the element at these indices is.
    pub fn position(&self, indices: &[i64]) -> Option<usize> {
        if indices.len() != self.shape.len() {
            return None;
        }
        let mut position = 0;
        for dimension in (0..indices.len()).rev() {
            let index = usize::try_from(indices[dimension].checked_sub(self.min[dimension])?).ok()?;
            if index >= self.shape[dimension] {
                return None;
            }
            position = position * self.shape[dimension] + index;
        }
        Some(position)
    }

    /// The indices of the element at this position of [`Image::values`].
    pub fn indices(&self, mut position: usize) -> Vec<i64> {
        self.shape
            .iter()
            .zip(&self.min)
            .map(|(&extent, &min)| {
                let index = (position % extent.max(1)) as i64 + min;
                position /= extent.max(1);
                index
            })
            .collect()
    }

    /// Reads a file. It must hold an image of this type and shape: an image with fewer bits is widened if the
    /// type holds its values, and dimensions of extent 1 may be left out at the end.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged or of an unknown format, or has another shape or values that do not fit.
    pub fn read(path: &Path, element: Element, shape: &[usize]) -> Result<Self, Diagnostic> {
        if ending(path) == "hex" {
            return hex::read(path, element, shape);
        }
        let found = Self::read_any(path)?;
        let shown = path.display();
        if trimmed(&found.shape) != trimmed(shape) {
            let message = format!("`{shown}` holds an image of shape {:?}; expected {shape:?}", found.shape);
            return Err(Diagnostic::new(message).with_help(
                "give an image of that size, or the program the shape of this one; innermost dimension first: [width, height]",
            ));
        }
        let of = found.element();
        if of == element {
            return Ok(Self::of(shape, found.values));
        }
        if of.has_fraction() || element.has_fraction() {
            let message = format!("`{shown}` holds {}, not {}", of.name(), element.name());
            return Err(Diagnostic::new(message)
                .with_help("numbers with a fraction come as words in a `.hex` file, or in a `.npy` file: bf16 of the type `<V2`, f16 of `<f2`"));
        }
        if let Some((position, value)) = found.values.iter().enumerate().find(|(_, value)| !element.holds(*value)) {
            let message = format!(
                "`{shown}` has the value {value} at {:?}, which {} does not hold",
                found.indices(position),
                element.name()
            );
            return Err(Diagnostic::new(message).with_help(format!(
                "{} holds {} to {}",
                element.name(),
                element.min(),
                element.max()
            )));
        }
        Self::from_values(element, shape, found.values.iter())
    }

    /// Reads a file whose format says type and shape: all but `.hex`.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged or of an unknown format.
    pub fn read_any(path: &Path) -> Result<Self, Diagnostic> {
        match ending(path).as_str() {
            "npy" => npy::read(path),
            "pgm" | "ppm" => netpbm::read(path),
            "png" => png_file::read(path),
            "hex" => Err(Diagnostic::new(format!("`{}` does not say the shape of its image", path.display()))),
            _ => Err(unknown_format(path)),
        }
    }

    /// Whether a file of this name can hold an image of this type and shape: to know before there is one.
    ///
    /// # Errors
    /// If the format is unknown or cannot hold the image.
    pub fn check_writable(path: &Path, element: Element, shape: &[usize]) -> Result<(), Diagnostic> {
        match ending(path).as_str() {
            "npy" | "hex" => Ok(()),
            "pgm" | "ppm" => netpbm::map_picture(element, shape, path).map(|_| ()),
            "png" => netpbm::picture(element, shape, path).map(|_| ()),
            _ => Err(unknown_format(path)),
        }
    }

    /// Writes a file; an existing one is replaced as a whole.
    ///
    /// # Errors
    /// If the format is unknown or cannot hold the image, or the operating system refuses.
    pub fn write(&self, path: &Path) -> Result<(), Diagnostic> {
        let contents = match ending(path).as_str() {
            "npy" => npy::format(self),
            "pgm" | "ppm" => netpbm::format(self, path)?,
            "png" => png_file::format(self, path)?,
            "hex" => hex::format(self),
            _ => return Err(unknown_format(path)),
        };
        write_file(path, &contents)
    }
}

/// The number of elements, unless there are too many.
pub(crate) fn count(shape: &[usize]) -> Option<usize> {
    let count = shape.iter().try_fold(1_u64, |count, &extent| count.checked_mul(extent as u64))?;
    (count <= LARGEST_IMAGE).then_some(count as usize)
}

pub(crate) fn too_large(shape: &[usize]) -> Diagnostic {
    Diagnostic::new(format!("an image of shape {shape:?} is too large"))
        .with_help(format!("an image has at most {LARGEST_IMAGE} elements"))
}

fn trimmed(shape: &[usize]) -> &[usize] {
    let end = shape.iter().rposition(|&extent| extent != 1).map_or(0, |last| last + 1);
    &shape[..end]
}

pub(crate) fn ending(path: &Path) -> String {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase()
}

fn unknown_format(path: &Path) -> Diagnostic {
    Diagnostic::new(format!("`{}` does not end in the name of a known format", path.display()))
        .with_help("images are `.npy`, `.pgm`, `.ppm`, `.png` or `.hex` files")
}
