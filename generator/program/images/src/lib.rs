//! Arrays of integers, and the files that hold them.
//!
//! An [`Image`] has any number of dimensions; dimension 0 is the innermost, the one whose neighbours lie beside each other
//! in memory. [`Image::read`] and [`Image::write`] choose the format by the ending of the file: `.npy`, `.pgm`, `.ppm`,
//! `.png` or `.hex`.

mod bytes;
mod element;
mod hex;
mod image;
mod netpbm;
mod npy;
mod png_file;
mod values;

pub use element::Element;
pub use image::{Image, LARGEST_IMAGE};
pub use values::Values;
