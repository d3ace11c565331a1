//! Nodes that sum products with constants.

use pushmem_nest::Type;

use crate::fault::{Fault, Result};
use crate::network::{Convolution, LayerOperation, Operand, Quantization, Tensor, Window};
use crate::onnx::attributes::Attributes;
use crate::onnx::model::Node;
use crate::onnx::recognize::{QUANTIZE, Recognizer};
use crate::onnx::values::{ALL, Operation, Pending, Products, Value, View, Weights};
use crate::requantization::{Rounding, Scaling};

/// How far the scale of a bias may be from that of the sums, as a part of it.
const BIAS_TOLERANCE: f32 = 1e-3;

/// The operands of a sum of products.
struct Operands<'a> {
    view: &'a View,
    scale: f32,
    zero_point: i64,
    weights: Weights,
    bias: Option<Vec<i64>>,
}

/// A node `Conv` between dequantized operands.
pub(crate) fn convolution(of: &Recognizer, node: &Node) -> Result<Pending> {
    convolved(of, node, &operands(of, node)?)
}

/// A node `Gemm` or `MatMul` between dequantized operands.
pub(crate) fn matrix(of: &Recognizer, node: &Node) -> Result<Pending> {
    multiplied(of, node, operands(of, node)?)
}

/// A node `QLinearConv`, `QLinearMatMul` or `QGemm`, with the number of the operand from which on its result is quantized.
pub(crate) fn of_integers(of: &Recognizer, node: &Node) -> Result<(Pending, usize)> {
    let (view, quantization) = of.integers(node, 0)?;
    let constant = of.constant(node, 3)?;
    let Some(integers) = constant.small_integers() else {
        return Err(Fault::new(format!("`{}` are no integers of 8 bits", node.inputs[3])));
    };
    let is_convolution = node.operator == "QLinearConv";
    // Where the bias is, where the quantization of the result, and the dimension of its channels in the weights.
    let (of_bias, result, axis) = match node.operator.as_str() {
        "QLinearConv" => (Some(8), 6, 0),
        "QGemm" => (Some(6), 7, usize::from(!is_transposed(node)?)),
        _ => (None, 6, 1),
    };
    let (scales, zero_points, _) = of.scales(node, 4)?;
    let weights = Weights { shape: constant.shape.clone(), integers: integers.to_vec(), scales, zero_points, axis };
    let bias = match of_bias.filter(|number| node.inputs.get(*number).is_some_and(|name| !name.is_empty())) {
        Some(number) => {
            let integers = of.constant(node, number)?.small_integers();
            let integers = integers.ok_or_else(|| Fault::new(format!("`{}` are no integers", node.inputs[number])))?;
            Some(integers.to_vec())
        }
        None => None,
    };
    let Quantization { scale, zero_point, .. } = quantization;
    let operands = Operands { view: &view, scale, zero_point, weights, bias };
    Ok((if is_convolution { convolved(of, node, &operands)? } else { multiplied(of, node, operands)? }, result))
}

/// Whether the channels of the result are the first dimension of a matrix.
fn is_transposed(node: &Node) -> Result<bool> {
    Ok(Attributes::of(node, &["alpha", "beta", "transA", "transB"])?.integer("transB", 0) == 1)
}

/// The dequantized operands of a node.
fn operands<'a>(of: &'a Recognizer, node: &Node) -> Result<Operands<'a>> {
    let (view, quantization) = of.reals(node, 0)?;
    let Value::Weights(weights) = of.operand(node, 1)? else {
        let fault = Fault::new(format!("`{}` are no constants of 8 bits that are dequantized", node.inputs[1]));
        return Err(fault.with_help(QUANTIZE));
    };
    let bias = match node.inputs.get(2).filter(|name| !name.is_empty()) {
        None => None,
        Some(name) => match of.operand(node, 2)? {
            Value::Weights(bias) if bias.scales.len() == 1 || bias.scales.len() == bias.integers.len() => {
                let own = |channel: usize, scales: &[f32]| scales[channel.min(scales.len() - 1)];
                let differs = |channel: &usize| {
                    let sum = quantization.scale * own(*channel, &weights.scales);
                    (own(*channel, &bias.scales) - sum).abs() > BIAS_TOLERANCE * sum
                };
                if let Some(channel) = (0..bias.integers.len()).find(differs) {
                    let message = format!("the bias `{name}` has another scale than the sums of channel {channel}");
                    return Err(
                        Fault::new(message).with_help("its scale is that of the input times that of the weights")
                    );
                }
                Some(bias.centered())
            }
            _ => {
                return Err(
                    Fault::new(format!("the bias `{name}` is not dequantized from integers")).with_help(QUANTIZE)
                );
            }
        },
    };
    let (scale, zero_point) = (quantization.scale, quantization.zero_point);
    Ok(Operands { view, scale, zero_point, weights: weights.clone(), bias })
}

fn convolved(of: &Recognizer, node: &Node, operands: &Operands) -> Result<Pending> {
    let attributes = Attributes::of(node, &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"])?;
    let Tensor { shape, .. } = *of.image(operands.view, node)?;
    let groups = attributes.integer("group", 1);
    let [channels, within, rows, columns] = *operands.weights.shape.as_slice() else {
        return Err(Fault::new(format!("weights of the shape {:?} are not read", operands.weights.shape)));
    };
    if operands.weights.scales.len() > 1 && operands.weights.axis != 0 {
        return Err(Fault::new("scales along another dimension than that of the result"));
    }
    let is_empty = operands.weights.shape.contains(&0);
    if is_empty || groups < 1 || within.checked_mul(groups) != Some(shape[0]) || channels % groups != 0 {
        let message =
            format!("weights of the shape {:?} in {groups} groups for {} channels", operands.weights.shape, shape[0]);
        return Err(Fault::new(message));
    }
    let window = attributes.window(operands.view.tensor, shape, Some([columns, rows]), operands.zero_point)?;
    let [along, across] = window.windows()?;
    summed(operands, window, groups, operands.weights.centered(), vec![1, channels, across, along])
}

fn multiplied(of: &Recognizer, node: &Node, operands: Operands) -> Result<Pending> {
    let attributes = Attributes::of(node, &["alpha", "beta", "transA", "transB"])?;
    for (name, value) in ["alpha", "beta"].map(|name| (name, attributes.real(name, 1.0))) {
        if value != 1.0 {
            return Err(attributes.refuse(name, value));
        }
    }
    attributes.expect("transA", 0)?;
    let is_transposed = is_transposed(node)?;
    let [one, other] = *operands.weights.shape.as_slice() else {
        return Err(Fault::new(format!("weights of the shape {:?} are not read", operands.weights.shape)));
    };
    let (channels, terms) = if is_transposed { (one, other) } else { (other, one) };
    if operands.view.shape != [1, terms] || operands.weights.shape.contains(&0) {
        let message = format!("a matrix of {terms} by {channels} for the shape {:?}", operands.view.shape);
        return Err(Fault::new(message));
    }
    if operands.weights.scales.len() > 1 && operands.weights.axis != usize::from(!is_transposed) {
        return Err(Fault::new("scales along another dimension than that of the result"));
    }
    let centered = operands.weights.centered();
    let weight = |channel: i64, term: i64| {
        centered[if is_transposed { channel * terms + term } else { term * channels + channel } as usize]
    };
    let weights = (0..channels).flat_map(|channel| (0..terms).map(move |term| (channel, term)));
    let weights = weights.map(|(channel, term)| weight(channel, term)).collect();
    // A vector is the elements of its tensor in the order of the file, so that its window is the whole tensor.
    let window = Window::whole(of.whole(operands.view.tensor), operands.zero_point);
    summed(&operands, window, 1, weights, vec![1, channels])
}

fn summed(operands: &Operands, window: Window, groups: i64, weights: Vec<i64>, shape: Vec<i64>) -> Result<Pending> {
    let channels = shape[1];
    let bias = operands.bias.clone().unwrap_or_else(|| vec![0; channels as usize]);
    if bias.len() as i64 != channels {
        return Err(Fault::new(format!("a bias of {} numbers for {channels} channels", bias.len())));
    }
    let scales = &operands.weights.scales;
    if ![1, channels].contains(&(scales.len() as i64)) {
        return Err(Fault::new(format!("{} scales for {channels} channels", scales.len())));
    }
    let scales = scales.iter().map(|scale| operands.scale * scale).collect();
    let products = Products { window, groups, weights, bias, scales };
    Ok(Pending { operation: Operation::Convolution(products), shape, ends: ALL })
}

/// A convolution in integers.
pub(crate) fn with_integers(products: Products, of: Type, to: Quantization, range: (i64, i64)) -> Result<Convolution> {
    let Products { window, groups, weights, bias, scales } = products;
    let scaling = Scaling::Real { scales: scales.iter().map(|scale| scale / to.scale).collect(), adds_first: false };
    Convolution::of(window, groups, weights, &bias, of, &Rounding { scaling, range, zero_point: to.zero_point })
}

/// The layer that multiplies two tensors. onnxruntime makes one operator of the product of integers of one type, nothing in between.
pub(crate) fn of_pair(
    operands: [(Operand, Quantization); 2],
    to: Quantization,
    ends: (f32, f32),
) -> Result<LayerOperation> {
    let [(_, one), (_, other)] = operands;
    if ends != ALL || [one.element, other.element] != [to.element; 2] {
        let help = "quantize the product itself, to the type of its operands, which have one type";
        return Err(Fault::new("a product with another function or type before it is quantized").with_help(help));
    }
    let scaling = Scaling::Real { scales: vec![one.scale * other.scale / to.scale], adds_first: true };
    LayerOperation::product(operands, &Rounding { scaling, range: to.ends(), zero_point: to.zero_point })
}
