//! The values of an ONNX graph, between its nodes: integers, and real numbers that stand for integers.

use crate::network::{Quantization, Window};
use crate::onnx::constant::Constant;

/// Ends between which all numbers are.
pub(crate) const ALL: (f32, f32) = (f32::NEG_INFINITY, f32::INFINITY);

#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// An initializer.
    Constant(Constant),
    /// An initializer that is not read, with the rest of a sentence about it.
    Unread(String),
    /// Real numbers that come from outside: integers stand for them once they are quantized. Outermost dimension first.
    Input { name: String, shape: Vec<i64> },
    /// Integers.
    Integers(View),
    /// Real numbers for which integers stand.
    Reals(View, Quantization),
    /// Real constants for which integers stand, each channel with a scale and a zero point, or all with one.
    Weights(Weights),
    /// Real numbers for which no integers stand yet.
    Pending(Pending),
}

/// A tensor under a shape of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    /// The number of the tensor.
    pub tensor: usize,
    /// Outermost dimension first: that of the images, 1, and the channels come first.
    pub shape: Vec<i64>,
}

/// Constants of integers, with what they stand for.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// Outermost dimension first.
    pub shape: Vec<i64>,
    pub integers: Vec<i64>,
    /// One, or one of each index of the axis.
    pub scales: Vec<f32>,
    pub zero_points: Vec<i64>,
    pub axis: usize,
}

impl Weights {
    /// The integers less their zero points.
    pub fn centered(&self) -> Vec<i64> {
        let inner = self.shape.iter().skip(self.axis + 1).product::<i64>().max(1) as usize;
        let zero_point = |number: usize| self.zero_points[number / inner % self.zero_points.len()];
        self.integers.iter().enumerate().map(|(number, integer)| integer - zero_point(number)).collect()
    }
}

/// Real numbers that a node computes, before they are quantized.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub operation: Operation,
    /// Outermost dimension first.
    pub shape: Vec<i64>,
    /// The numbers are moved between these.
    pub ends: (f32, f32),
}

/// A computation of real numbers for which integers stand.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Convolution(Products),
    Mean {
        input: usize,
        of: Quantization,
    },
    Maximum {
        window: Window,
        of: Quantization,
    },
    /// Tensors that are joined along a dimension of theirs.
    Join(Vec<(usize, Quantization)>, usize),
    /// A number of two, element by element; an operand of extent 1 along a dimension has the same element everywhere.
    Pair([(usize, Quantization); 2], Pairing),
    /// A function of each element: its values for all integers of the type, the least first.
    Function {
        input: usize,
        values: Vec<f32>,
    },
}

/// How two numbers become one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pairing {
    Sum,
    Difference,
    Product,
}

/// Sums of products with constants.
#[derive(Clone, Debug)]
pub(crate) struct Products {
    pub window: Window,
    pub groups: i64,

    /// By column and row of the window, channel within the group, and channel of the result; the first is innermost.
    pub weights: Vec<i64>,
    /// The first value of the sums of each channel.
    pub bias: Vec<i64>,
    /// By which the sums of all channels, or of each, are multiplied.
    pub scales: Vec<f32>,
}
