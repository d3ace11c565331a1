//! Constants of a network.

use pushmem_nest::LARGEST_ARRAY;

use crate::chunks;
use crate::onnx::model::{Tensor, elements};

/// A constant: a tensor of integers, or of real numbers.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    /// Outermost dimension first; none of a scalar.
    pub shape: Vec<i64>,
    /// The type of its elements, as a number of the format.
    pub element: i32,
    pub values: Values,
}

/// The elements of a constant, the last dimension innermost.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    Integers(Vec<i64>),
    Reals(Vec<f32>),
}

impl Constant {
    /// Reads a tensor.
    ///
    /// # Errors
    /// The fault of the tensor, as the rest of a sentence about it.
    pub fn of(tensor: &Tensor) -> Result<Constant, String> {
        let size = tensor.shape.iter().try_fold(1_i64, |size, extent| {
            size.checked_mul(*extent).filter(|size| *extent >= 0 && *size <= LARGEST_ARRAY)
        });
        let Some(size) = size else {
            return Err(format!("has the shape {:?}; at most {LARGEST_ARRAY} elements are read", tensor.shape));
        };
        if tensor.location != 0 {
            return Err("is in another file: save the model with its data inside".to_owned());
        }
        let integers = |bytes: &dyn Fn() -> Vec<i64>, listed: Vec<i64>| {
            Values::Integers(if tensor.bytes.is_empty() { listed } else { bytes() })
        };
        let small = || tensor.small_integers.iter().map(|value| i64::from(*value)).collect();
        let values = match tensor.element {
            elements::FLOAT if tensor.bytes.is_empty() => Values::Reals(tensor.reals.clone()),
            elements::FLOAT => Values::Reals(chunks(&tensor.bytes).map(f32::from_le_bytes).collect()),
            elements::UINT8 => integers(&|| tensor.bytes.iter().map(|byte| i64::from(*byte)).collect(), small()),
            elements::INT8 => integers(&|| tensor.bytes.iter().map(|byte| i64::from(*byte as i8)).collect(), small()),
            elements::INT32 => {
                let words = || chunks(&tensor.bytes).map(|bytes| i64::from(i32::from_le_bytes(bytes))).collect();
                integers(&words, small())
            }
            elements::INT64 => {
                integers(&|| chunks(&tensor.bytes).map(i64::from_le_bytes).collect(), tensor.integers.clone())
            }
            other => return Err(format!("has elements of type {other}; float, uint8, int8, int32 and int64 are read")),
        };
        let found = match &values {
            Values::Integers(values) => values.len(),
            Values::Reals(values) => values.len(),
        };
        if found as i64 != size {
            return Err(format!("has {found} values, and its shape {:?} needs {size}", tensor.shape));
        }
        let bounds = match tensor.element {
            elements::UINT8 => 0..=255,
            elements::INT8 => -128..=127,
            _ => i64::MIN..=i64::MAX,
        };
        match &values {
            Values::Integers(integers) if integers.iter().any(|value| !bounds.contains(value)) => {
                Err("has a value beyond its type".to_owned())
            }
            _ => Ok(Constant { shape: tensor.shape.clone(), element: tensor.element, values }),
        }
    }

    /// Its integers, if it has some.
    pub fn integers(&self) -> Option<&[i64]> {
        match &self.values {
            Values::Integers(values) => Some(values),
            Values::Reals(_) => None,
        }
    }

    /// Its integers, if it has some of at most 32 bits, as networks compute with.
    pub fn small_integers(&self) -> Option<&[i64]> {
        self.integers().filter(|_| self.element != elements::INT64)
    }

    /// Its real numbers, if it has some.
    pub fn reals(&self) -> Option<&[f32]> {
        match &self.values {
            Values::Reals(values) => Some(values),
            Values::Integers(_) => None,
        }
    }
}
