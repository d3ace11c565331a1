//! A network of integers: what hardware computes of it, without the real numbers around.

use std::collections::HashMap;

use itertools::{Itertools, iproduct};
use pushmem_nest::{LARGEST_ARRAY, Type};

use crate::addition::Addition;
use crate::fault::{Fault, Result};
use crate::names::Names;
use crate::requantization::{Requantization, Rounding, requantized};

/// The largest extent, pad and step along a dimension.
pub(crate) const LARGEST_EXTENT: i64 = 1 << 16;

/// The most elements of a window whose greatest is taken.
pub(crate) const LARGEST_WINDOW: i64 = 256;

/// The elements of a tensor of this shape, if they have a number of 64 bits.
pub(crate) fn tensor_size(shape: &[i64]) -> Option<i64> {
    shape.iter().try_fold(1_i64, |size, extent| size.checked_mul(*extent))
}

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

impl Network {
    /// Whether outside of a tensor another number is read.
    pub fn is_read_outside(&self, tensor: usize) -> bool {
        self.layers.iter().any(|layer| match &layer.operation {
            LayerOperation::Convolution(Convolution { window, .. }) | LayerOperation::Maximum(window) => {
                window.input.tensor == tensor && window.outside().is_some()
            }
            LayerOperation::Moves(moves) => moves.iter().any(|part| part.input == tensor && part.outside.is_some()),
            _ => false,
        })
    }
}

/// A tensor of integers of 8 bits, of one image.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    /// The name of its array.
    pub name: String,
    pub element: Type,
    /// Channels, width and height. A vector has channels only.
    pub shape: [i64; 3],
    /// The rows of earlier runs that are read beside those of this one.
    pub past: Option<Past>,
}

/// Rows of a tensor before those of a run: the last ones of the runs before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Past {
    pub rows: i64,
    /// Their elements before the first run.
    pub initial: i64,
}

/// A part of a tensor that a layer takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Operand {
    pub tensor: usize,
    /// The first channel, column and row; rows below 0 are those of the past.
    pub from: [i64; 3],
    /// Channels, width and height.
    pub extent: [i64; 3],
}

impl Operand {
    /// The whole of a tensor of this shape.
    pub fn of(tensor: usize, shape: [i64; 3]) -> Operand {
        Operand { tensor, from: [0; 3], extent: shape }
    }
}

/// Adds tensors and layers to a network.
#[derive(Clone, Debug)]
pub(crate) struct NetworkBuilder {
    pub network: Network,
    /// The words of inputs and outputs that have no tensor yet, by their names in the file: users know them.
    pub words: HashMap<String, String>,
}

impl NetworkBuilder {
    /// A network that is named like this, with these names of inputs and outputs.
    pub fn new<'a>(name: &str, interface: impl Iterator<Item = &'a str>) -> NetworkBuilder {
        let mut names = Names::default();
        let words = interface.map(|each| (each.to_owned(), names.take(each))).collect();
        let name = Names::default().take(name);
        let (tensors, inputs, layers, outputs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        NetworkBuilder { network: Network { name, names, tensors, inputs, layers, outputs }, words }
    }

    /// Adds a tensor.
    ///
    /// # Errors
    /// Where it has too many elements.
    pub fn tensor(&mut self, name: &str, element: Type, shape: [i64; 3]) -> Result<usize> {
        if tensor_size(&shape).is_none_or(|size| size > LARGEST_ARRAY) {
            let message = format!("`{name}` has the shape {shape:?}; a tensor has at most {LARGEST_ARRAY} elements");
            return Err(Fault::new(message));
        }
        let name = self.words.remove(name).unwrap_or_else(|| self.network.names.take(name));
        self.network.tensors.push(Tensor { name, element, shape, past: None });
        Ok(self.network.tensors.len() - 1)
    }

    /// Adds a layer, and the tensor that it gives.
    ///
    /// # Errors
    /// As [`Self::tensor`].
    pub fn layer(&mut self, name: &str, element: Type, shape: [i64; 3], operation: LayerOperation) -> Result<usize> {
        let output = self.tensor(name, element, shape)?;
        let name = self.network.tensors[output].name.clone();
        self.network.layers.push(Layer { name, output, operation });
        Ok(output)
    }

    /// Lets a tensor go outside, under its name in the file where it has one there.
    pub fn output(&mut self, name: &str, tensor: usize) {
        self.network.outputs.push(tensor);
        if let Some(word) = self.words.remove(name) {
            if let Some(layer) = self.network.layers.iter_mut().find(|layer| layer.output == tensor) {
                layer.name.clone_from(&word);
            }
            self.network.tensors[tensor].name = word;
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// The name of what it adds to arrays.
    pub name: String,
    /// The tensor that it gives.
    pub output: usize,
    pub operation: LayerOperation,
}

#[derive(Clone, Debug)]
pub(crate) enum LayerOperation {
    /// Sums of products of a window with weights.
    Convolution(Convolution),
    /// Sums of all pixels of a channel.
    Mean { input: Operand, requantization: Requantization, bias: i64 },
    /// The greatest element of a window.
    Maximum(Window),
    /// The product of two tensors, element by element, without their zero points.
    Product { operands: [Operand; 2], zero_points: [i64; 2], requantization: Requantization },
    /// The sum of two tensors, or their difference, element by element.
    Addition { operands: [Operand; 2], addition: Addition },
    /// Copies of parts of tensors, each to a place of its own.
    Moves(Vec<Move>),
    /// A function of each element: the results for all integers of its type, the least first.
    Function { input: Operand, results: Vec<i64> },
}

impl LayerOperation {
    /// Sums of all pixels of each channel of integers, each less its zero point, which are rounded like this.
    ///
    /// # Errors
    /// As [`requantized`].
    pub fn mean(input: Operand, of: Quantization, rounding: &Rounding) -> Result<LayerOperation> {
        let pixels = input.extent[1] * input.extent[2];
        let (least, most) = of.centered();
        let requantization = requantized(rounding, &[(pixels * least, pixels * most)])?;
        Ok(LayerOperation::Mean { input, requantization, bias: -pixels * of.zero_point })
    }

    /// The product of two tensors of integers, each less its zero point, which is rounded like this.
    ///
    /// # Errors
    /// As [`requantized`].
    pub fn product(operands: [(Operand, Quantization); 2], rounding: &Rounding) -> Result<LayerOperation> {
        let [one, other] = operands.map(|(_, of)| <[i64; 2]>::from(of.centered()));
        let corners = iproduct!(one, other).map(|(one, other)| one * other);
        let products = corners.minmax().into_option().unwrap_or_default();
        let requantization = requantized(rounding, &[products])?;
        let zero_points = operands.map(|(_, of)| of.zero_point);
        Ok(LayerOperation::Product { operands: operands.map(|(operand, _)| operand), zero_points, requantization })
    }
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
    /// An operand as it is.
    pub fn of(operand: Operand) -> Move {
        let Operand { tensor, from, extent } = operand;
        let ones = [1; 3];
        Move { input: tensor, extent, copies: ones, to: [0; 3], axes: [0, 1, 2], from, step: ones, outside: None }
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
    /// A convolution of integers of this type, each less the one outside of the window.
    ///
    /// # Errors
    /// As [`requantized`], and where a bias leaves 32 bits.
    pub fn of(
        window: Window,
        groups: i64,
        weights: Vec<i64>,
        bias: &[i64],
        element: Type,
        rounding: &Rounding,
    ) -> Result<Convolution> {
        let (channels, zero_point) = (bias.len(), window.outside);
        let each = weights.len() / channels;
        // A sum has the least element where the weight is below 0, or the greatest.
        let (least, most) = (element.min() - zero_point, element.max() - zero_point);
        let ends = |(weights, bias): (&[i64], &i64)| {
            let above: i64 = weights.iter().filter(|weight| **weight > 0).sum();
            let below: i64 = weights.iter().filter(|weight| **weight < 0).sum();
            (bias + above * least + below * most, bias + above * most + below * least)
        };
        let sums: Vec<(i64, i64)> = weights.chunks(each).zip(bias).map(ends).collect();
        let requantization = requantized(rounding, &sums)?;
        let all = weights.chunks(each).map(|weights| zero_point * weights.iter().sum::<i64>());
        let bias: Vec<i64> = bias.iter().zip(all).map(|(bias, all)| bias - all).collect();
        if let Some(bias) = bias.iter().find(|bias| i32::try_from(**bias).is_err()) {
            return Err(Fault::new(format!("the bias {bias}, with the zero point of the input, leaves 32 bits")));
        }
        Ok(Convolution { window, groups, channels: channels as i64, weights, bias, requantization })
    }

    /// Whether each channel of the input has a sum of its own.
    pub fn is_depthwise(&self) -> bool {
        self.groups > 1 && self.groups == self.window.input.extent[0] && self.channels == self.groups
    }
}

/// A window that moves over a tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub input: Operand,
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
    /// The whole of an operand as one window.
    pub fn whole(input: Operand, outside: i64) -> Window {
        let [_, width, height] = input.extent;
        let (ones, zeros) = ([1; 2], [0; 2]);
        Window { input, extent: [width, height], stride: ones, dilation: ones, before: zeros, after: zeros, outside }
    }

    /// The columns and rows around its operand with which each multiple of its steps has a window.
    pub fn pads_of_same(&self) -> [i64; 2] {
        [0, 1].map(|axis| {
            let (extent, stride) = (self.input.extent[axis + 1], self.stride[axis]);
            let windows = (extent + stride - 1) / stride;
            let covered = (windows - 1) * stride + (self.extent[axis] - 1) * self.dilation[axis] + 1;
            (covered - extent).max(0)
        })
    }

    /// The number of windows along columns and rows.
    ///
    /// # Errors
    /// Where there is none.
    pub fn windows(&self) -> Result<[i64; 2]> {
        let shape = self.input.extent;
        let along = |axis: usize| {
            let covered = (self.extent[axis] - 1).checked_mul(self.dilation[axis])?.checked_add(1)?;
            let extended = shape[axis + 1].checked_add(self.before[axis])?.checked_add(self.after[axis])?;
            (extended >= covered).then(|| (extended - covered) / self.stride[axis] + 1)
        };
        let windows = along(0).zip(along(1)).ok_or_else(|| Fault::new("the window is larger than the tensor"))?;
        Ok(windows.into())
    }

    /// The element outside of the tensor, if some window goes beyond it.
    pub fn outside(&self) -> Option<i64> {
        (self.before != [0, 0] || self.after != [0, 0]).then_some(self.outside)
    }
}

/// How integers stand for real numbers: the real number is the integer less the zero point, times the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantization {
    pub element: Type,
    pub scale: f32,
    pub zero_point: i64,
}

impl Quantization {
    /// The least and the greatest integer.
    pub fn ends(&self) -> (i64, i64) {
        (self.element.min(), self.element.max())
    }

    /// The same less the zero point.
    pub fn centered(&self) -> (i64, i64) {
        (self.element.min() - self.zero_point, self.element.max() - self.zero_point)
    }

    /// The real number of an integer.
    pub fn real(&self, integer: i64) -> f32 {
        (integer - self.zero_point) as f32 * self.scale
    }

    /// The integer of a real number, which is within the type.
    pub fn integer(&self, real: f32) -> i64 {
        let (least, most) = self.ends();
        let rounded = (real / self.scale).round_ties_even();
        // Far numbers have no integer of 64 bits.
        let near = rounded.clamp(-(1 << 20) as f32, (1 << 20) as f32) as i64;
        (near + self.zero_point).clamp(least, most)
    }
}

/// All integers of a type, the least first.
pub(crate) fn integers(element: Type) -> impl Iterator<Item = i64> {
    element.min()..=element.max()
}
