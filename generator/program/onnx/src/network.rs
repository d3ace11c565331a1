//! A network of integers: what hardware computes of it, without the real numbers around.

use pushmem_nest::Type;

use crate::addition::Addition;
use crate::names::Names;
use crate::requantization::Requantization;

/// A network. Each layer takes what earlier ones give, or the input.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    /// A word of the language of nests.
    pub name: String,
    /// The names of the network, and of its tensors.
    pub names: Names,
    /// Tensors, by their numbers.
    pub tensors: Vec<Tensor>,
    /// The tensors that come from outside.
    pub inputs: Vec<usize>,
    pub layers: Vec<Layer>,
    /// The tensors that go outside.
    pub outputs: Vec<usize>,
}

/// A tensor of integers of 8 bits, of one image.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    /// The name of its array.
    pub name: String,
    pub element: Type,
    /// Channels, width and height. A vector has channels only.
    pub shape: [i64; 3],
}

/// A layer.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// The name of what it adds to arrays.
    pub name: String,
    /// The tensor that it gives.
    pub output: usize,
    pub operation: LayerOperation,
}

/// The operation of a layer.
#[derive(Clone, Debug)]
pub(crate) enum LayerOperation {
    /// Sums of products of a window with weights.
    Convolution(Convolution),
    /// Sums of all pixels of a channel.
    Mean { input: usize, requantization: Requantization, bias: i64 },
    /// The greatest element of a window.
    Maximum(Window),
    /// The product of two tensors, element by element, without their zero points.
    Product { operands: [usize; 2], zero_points: [i64; 2], requantization: Requantization },
    /// The sum of two tensors, or their difference, element by element.
    Addition { operands: [usize; 2], addition: Addition },
    /// Copies of parts of tensors, each to a place of its own.
    Moves(Vec<Move>),
    /// A function of each element: the results for all integers of its type, the least first.
    Function { input: usize, results: Vec<i64> },
}

/// A copy of a part of a tensor. Along each dimension of the result, it has an element of the input, so often, and then the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Move {
    pub input: usize,
    /// Elements of the input along each dimension of the result.
    pub extent: [i64; 3],
    /// How often each of them is there, one behind the other.
    pub copies: [i64; 3],
    /// The first place in the result.
    pub to: [i64; 3],
    /// The dimension of the input for each of the result.
    pub axes: [usize; 3],
    /// The first place in the input, by dimension of the result; before its start where it is below 0.
    pub from: [i64; 3],
    /// From an element of the input to the next, by dimension of the result.
    pub step: [i64; 3],
    /// The element outside of the input, if it has some.
    pub outside: Option<i64>,
}

impl Move {
    /// The whole of a tensor of this shape.
    pub fn of(input: usize, extent: [i64; 3]) -> Move {
        let (ones, zeros) = ([1; 3], [0; 3]);
        Move { input, extent, copies: ones, to: zeros, axes: [0, 1, 2], from: zeros, step: ones, outside: None }
    }
}

/// A convolution, with or without a window.
#[derive(Clone, Debug)]
pub(crate) struct Convolution {
    pub window: Window,
    /// Channels are in so many groups.
    pub groups: i64,
    /// Channels of the result.
    pub channels: i64,
    /// By column and row of the window, channel within the group, and channel of the result; the first is innermost.
    pub weights: Vec<i64>,
    /// The first value of the sums of each channel.
    pub bias: Vec<i64>,
    pub requantization: Requantization,
}

impl Convolution {
    /// Whether each channel of an input with so many has a sum of its own.
    pub fn is_depthwise(&self, channels: i64) -> bool {
        self.groups > 1 && self.groups == channels && self.channels == channels
    }
}

/// A window that moves over a tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub input: usize,
    /// Columns and rows.
    pub extent: [i64; 2],
    /// From a window to the next.
    pub stride: [i64; 2],
    /// From a column and a row of the window to the next.
    pub dilation: [i64; 2],
    /// Columns and rows before the tensor.
    pub before: [i64; 2],
    /// Columns and rows behind it.
    pub after: [i64; 2],
    /// The element outside of the tensor.
    pub outside: i64,
}

impl Window {
    /// The number of windows along columns and rows of a tensor of this shape, if there is one.
    pub fn windows(&self, shape: [i64; 3]) -> Option<[i64; 2]> {
        let along = |axis: usize| {
            let covered = (self.extent[axis] - 1).checked_mul(self.dilation[axis])?.checked_add(1)?;
            let extended = shape[axis + 1].checked_add(self.before[axis])?.checked_add(self.after[axis])?;
            (extended >= covered).then(|| (extended - covered) / self.stride[axis] + 1)
        };
        Some([along(0)?, along(1)?])
    }

    /// The element outside of the tensor, if some window goes beyond it.
    pub fn outside(&self) -> Option<i64> {
        (self.before != [0, 0] || self.after != [0, 0]).then_some(self.outside)
    }
}
