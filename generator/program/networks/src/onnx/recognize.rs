//! From the nodes of an ONNX graph to a network of integers.
//!
//! A node that computes real numbers waits until they are quantized; only then hardware for it is known, since it computes the
//! integers of the result from those of its operands.

use std::collections::{HashMap, HashSet};

use itertools::Itertools;
use pushmem_nest::Type;

use crate::fault::{Fault, Result};
use crate::network::{LayerOperation, Network, NetworkBuilder, Operand, Quantization, Tensor, integers};
use crate::onnx::attributes::Attributes;
use crate::onnx::constant::Constant;
use crate::onnx::model::{Graph, Model, Node, elements};
use crate::onnx::moves;
use crate::onnx::products;
use crate::onnx::values::{ALL, Operation, Pending, Products, Value, View, Weights};
use crate::requantization::{Rounding, Scaling};

/// The versions of operators that are read.
const VERSIONS: std::ops::RangeInclusive<i64> = 10..=23;

/// Operators of real numbers and of shapes that are read, for messages.
const OF_REALS: &str = "QuantizeLinear, DequantizeLinear, Conv, Gemm, MatMul, Add, Sub, Mul, GlobalAveragePool, Relu, Clip, \
    LeakyRelu, Sigmoid, HardSigmoid, HardSwish, Tanh, MaxPool, Concat, Pad, Resize, Slice, Split, Transpose, Flatten, Reshape, \
    Squeeze, Unsqueeze, Identity, Dropout, Constant";

/// Operators whose operands are integers, each with a scale and a zero point: of the standard, and of onnxruntime.
const OF_INTEGERS: [&str; 9] = [
    "QLinearConv",
    "QLinearMatMul",
    "QGemm",
    "QLinearAdd",
    "QLinearMul",
    "QLinearConcat",
    "QLinearGlobalAveragePool",
    "QLinearSigmoid",
    "QLinearLeakyRelu",
];

/// Those of [`OF_INTEGERS`] that the standard has.
const OF_STANDARD: [&str; 2] = ["QLinearConv", "QLinearMatMul"];

/// How to make a network of integers from one of real numbers.
pub(crate) const QUANTIZE: &str = "quantize the network: `onnxruntime.quantization.quantize_static(model, quantized, calibration, \
    quant_format=QuantFormat.QDQ)`";

/// The network of a model, which is named like this.
///
/// # Errors
/// The first node that hardware does not have, and what is wrong with the file as a whole.
pub(crate) fn recognized(name: &str, model: &Model, graph: &Graph) -> Result<Network> {
    let operators = model.operator_sets.iter().find(|set| set.domain.is_empty() || set.domain == "ai.onnx");
    if let Some(set) = operators.filter(|set| !VERSIONS.contains(&set.version)) {
        let (version, first, last) = (set.version, VERSIONS.start(), VERSIONS.end());
        return Err(Fault::new(format!("the file has version {version} of the operators; {first} to {last} are read"))
            .with_help("`onnx.version_converter.convert_version` changes it"));
    }
    let constants: HashSet<&str> = graph.initializers.iter().map(|tensor| tensor.name.as_str()).collect();
    let inputs = graph.inputs.iter().filter(|input| !constants.contains(input.name.as_str()));
    let interface = inputs.clone().chain(&graph.outputs).map(|each| each.name.as_str());
    let built = NetworkBuilder::new(name, interface);
    let mut recognizer = Recognizer { values: HashMap::new(), quantized_inputs: HashMap::new(), built };
    for tensor in &graph.initializers {
        let value = Constant::of(tensor).map_or_else(Value::Unread, Value::Constant);
        recognizer.values.insert(tensor.name.clone(), value);
    }
    for input in inputs {
        recognizer.input(input)?;
    }
    for (number, node) in graph.nodes.iter().enumerate() {
        recognizer.node(node).map_err(|fault| Fault { node: Some(number), ..fault })?;
    }
    for output in &graph.outputs {
        recognizer.output(&output.name)?;
    }
    Ok(recognizer.built.network)
}

pub(crate) struct Recognizer {
    pub values: HashMap<String, Value>,
    /// How integers stand for the numbers of inputs, by their names in the file, and these integers.
    quantized_inputs: HashMap<String, (Quantization, View)>,
    pub built: NetworkBuilder,
}

impl Recognizer {
    fn node(&mut self, node: &Node) -> Result<()> {
        let operator = node.operator.as_str();
        let is_of_standard = !OF_INTEGERS.contains(&operator) || OF_STANDARD.contains(&operator);
        let domains: &[&str] = if is_of_standard { &["", "ai.onnx"] } else { &["com.microsoft"] };
        if !domains.contains(&node.domain.as_str()) {
            let message = format!("`{operator}` of `{}` is not read", node.domain);
            return Err(Fault::new(message).with_help(operators()));
        }
        if moves::OF_ONE.contains(&operator) {
            return self.moved(node);
        }
        let value = match operator {
            "Constant" => {
                let tensor = node.attributes.iter().find(|attribute| attribute.name == "value");
                let tensor = tensor.and_then(|attribute| attribute.tensor.as_ref());
                let tensor = tensor.ok_or_else(|| Fault::new("Constant without a tensor is not read"))?;
                Value::Constant(Constant::of(tensor).map_err(|fault| Fault::new(format!("the constant {fault}")))?)
            }
            "QuantizeLinear" => {
                let attributes =
                    Attributes::of(node, &["axis", "saturate", "output_dtype", "block_size", "precision"])?;
                attributes.expect("block_size", 0)?;
                attributes.expect("precision", 0)?;
                let quantization = self.quantization(node, 1, Type::U8)?;
                let number = if quantization.element == Type::U8 { elements::UINT8 } else { elements::INT8 };
                if ![0, i64::from(number)].contains(&attributes.integer("output_dtype", 0)) {
                    return Err(attributes.refuse("output_dtype", attributes.integer("output_dtype", 0)));
                }
                // The name of the real numbers: quantizers make those of integers from it.
                Value::Integers(self.quantized(self.operand(node, 0)?.clone(), quantization, &node.inputs[0])?)
            }
            "DequantizeLinear" => self.dequantized(node)?,
            "Conv" => Value::Pending(products::convolution(self, node)?),
            "Gemm" | "MatMul" => Value::Pending(products::matrix(self, node)?),
            operator if OF_INTEGERS.contains(&operator) => self.of_integers(node)?,
            "Add" | "Mul" | "Sub" => {
                let [one, other] = [0, 1].map(|number| self.reals(node, number));
                Value::Pending(self.pair(node, &[one?, other?])?)
            }
            "Concat" => {
                let parts: Vec<_> = (0..node.inputs.len()).map(|number| self.reals(node, number)).try_collect()?;
                Value::Pending(self.joined(node, &parts)?)
            }
            "Relu" => self.clipped(node, (0.0, f32::INFINITY))?,
            "Clip" => self.clip(node)?,
            "LeakyRelu" => {
                let alpha = Attributes::of(node, &["alpha"])?.real("alpha", 0.01);
                self.function(node, &|real| leaky(alpha, real))?
            }
            "Sigmoid" => self.function(node, &sigmoid)?,
            "Tanh" => self.function(node, &f32::tanh)?,
            "HardSigmoid" => {
                let attributes = Attributes::of(node, &["alpha", "beta"])?;
                let (alpha, beta) = (attributes.real("alpha", 0.2), attributes.real("beta", 0.5));
                self.function(node, &|real| (alpha * real + beta).clamp(0.0, 1.0))?
            }
            "HardSwish" => self.function(node, &|real| real * (real / 6.0 + 0.5).clamp(0.0, 1.0))?,
            "MaxPool" => self.maximum(node)?,
            "GlobalAveragePool" => {
                Attributes::of(node, &[])?;
                let (view, of) = self.reals(node, 0)?;
                Value::Pending(self.mean(node, (view.clone(), of))?)
            }
            "Identity" | "Dropout" => self.operand(node, 0)?.clone(),
            "Flatten" | "Reshape" | "Squeeze" | "Unsqueeze" => self.reshaped(node)?,
            "AveragePool" => {
                let help = "the order of onnxruntime's sums matters for its words; a `Conv` with groups and equal weights is read";
                return Err(Fault::new("`AveragePool` is not read").with_help(help));
            }
            "Softmax" | "LogSoftmax" | "ArgMax" => {
                let help = format!(
                    "let the graph end at `{}`, and the host compute it",
                    node.inputs.first().map_or("", String::as_str)
                );
                return Err(Fault::new(format!("`{}` is not read", node.operator)).with_help(help));
            }
            other => return Err(Fault::new(format!("`{other}` is not read")).with_help(operators())),
        };
        self.give(output(node)?, value)
    }

    /// Gives a name its value.
    pub fn give(&mut self, name: &str, value: Value) -> Result<()> {
        match self.values.insert(name.to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(Fault::new(format!("`{name}` has two values"))),
        }
    }

    /// An operand of a node.
    pub fn operand(&self, node: &Node, number: usize) -> Result<&Value> {
        let name = node.inputs.get(number).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| Fault::new(format!("{} has no operand {number}", node.operator)))?;
        match self.values.get(name) {
            None => Err(Fault::new(format!("no node before it gives `{name}`"))),
            Some(Value::Unread(fault)) => Err(Fault::new(format!("the constant `{name}` {fault}"))),
            Some(value) => Ok(value),
        }
    }

    /// An operand that is a constant.
    pub fn constant(&self, node: &Node, number: usize) -> Result<&Constant> {
        match self.operand(node, number)? {
            Value::Constant(constant) => Ok(constant),
            _ => Err(Fault::new(format!("`{}` is no constant", node.inputs[number]))
                .with_help("fold the constants of the network, as onnxruntime does when it writes an optimized model")),
        }
    }

    /// An operand that is one constant number.
    pub fn real(&self, node: &Node, number: usize) -> Result<f32> {
        match self.constant(node, number)?.reals() {
            Some(&[real]) => Ok(real),
            _ => Err(Fault::new(format!("`{}` is not one number", node.inputs[number]))),
        }
    }

    /// The scales and zero points of a node, from this operand on.
    ///
    /// # Errors
    /// Names a scale that is not above 0, and a zero point beyond its type.
    pub fn scales(&self, node: &Node, number: usize) -> Result<(Vec<f32>, Vec<i64>, Option<Type>)> {
        let scales = self.constant(node, number)?.reals().map(<[f32]>::to_vec).unwrap_or_default();
        match scales.iter().find(|scale| !(scale.is_normal() && **scale > 0.0)) {
            Some(scale) => return Err(Fault::new(format!("the scale `{}` is {scale}", node.inputs[number]))),
            None if scales.is_empty() => {
                return Err(Fault::new(format!("the scale `{}` has no numbers", node.inputs[number])));
            }
            None => {}
        }
        if node.inputs.get(number + 1).is_none_or(String::is_empty) {
            return Ok((scales, vec![0], None));
        }
        let constant = self.constant(node, number + 1)?;
        let element = match constant.element {
            elements::UINT8 => Some(Type::U8),
            elements::INT8 => Some(Type::I8),
            _ => None,
        };
        match constant.small_integers() {
            Some(zero_points) if [1, scales.len()].contains(&zero_points.len()) => {
                Ok((scales, zero_points.to_vec(), element))
            }
            _ => Err(Fault::new(format!(
                "the zero point `{}` has not as many numbers as the scale",
                node.inputs[number + 1]
            ))),
        }
    }

    /// The quantization of all elements of a tensor, from this operand on: of this type where there is no zero point, which has one.
    pub fn quantization(&self, node: &Node, number: usize, default: Type) -> Result<Quantization> {
        let has_zero_point = node.inputs.get(number + 1).is_some_and(|name| !name.is_empty());
        match self.scales(node, number)? {
            (scales, zero_points, element) if scales.len() == 1 && (element.is_some() || !has_zero_point) => {
                Ok(Quantization { element: element.unwrap_or(default), scale: scales[0], zero_point: zero_points[0] })
            }
            _ => Err(Fault::new(format!("`{}` is not one scale for integers of 8 bits", node.inputs[number]))),
        }
    }

    fn dequantized(&self, node: &Node) -> Result<Value> {
        let attributes = Attributes::of(node, &["axis", "block_size", "output_dtype"])?;
        attributes.expect("block_size", 0)?;
        let (scales, zero_points, _) = self.scales(node, 1)?;
        match self.operand(node, 0)? {
            Value::Integers(_) => self.integers(node, 0).map(|(view, of)| Value::Reals(view, of)),
            Value::Constant(constant) if constant.small_integers().is_some() => {
                let (shape, integers) = (&constant.shape, constant.small_integers().unwrap_or_default());
                let axis = if scales.len() == 1 { 0 } else { attributes.integer("axis", 1) };
                let axis = if axis < 0 { axis + shape.len() as i64 } else { axis };
                let extent = usize::try_from(axis).ok().and_then(|axis| shape.get(axis).copied());
                if scales.len() > 1 && extent != Some(scales.len() as i64) {
                    return Err(Fault::new(format!(
                        "{} scales for the shape {shape:?} along dimension {axis}",
                        scales.len()
                    )));
                }
                let (shape, integers, axis) = (shape.clone(), integers.to_vec(), axis as usize);
                Ok(Value::Weights(Weights { shape, integers, scales, zero_points, axis }))
            }
            _ => Err(Fault::new(format!("`{}` are no integers", node.inputs[0]))),
        }
    }

    /// The tensor of a view.
    pub fn tensor_of(&self, view: &View) -> &Tensor {
        &self.built.network.tensors[view.tensor]
    }

    /// The whole of a tensor.
    pub fn whole(&self, tensor: usize) -> Operand {
        Operand::of(tensor, self.built.network.tensors[tensor].shape)
    }

    /// An operand of integers with what they stand for.
    ///
    /// # Errors
    /// When it is something else, as real numbers without integers.
    pub fn reals(&self, node: &Node, number: usize) -> Result<(&View, Quantization)> {
        match self.operand(node, number)? {
            Value::Reals(view, quantization) => Ok((view, *quantization)),
            _ => Err(Fault::new(format!("`{}` has no integers that stand for its numbers", node.inputs[number]))
                .with_help(QUANTIZE)),
        }
    }

    /// The integers that stand for numbers, which get this name.
    pub fn quantized(&mut self, value: Value, to: Quantization, name: &str) -> Result<View> {
        match value {
            Value::Input { name, shape } => {
                match self.quantized_inputs.get(&name) {
                    Some((own, view)) if *own == to => return Ok(view.clone()),
                    Some(_) => return Err(Fault::new(format!("the input `{name}` has two quantizations"))),
                    None => {}
                }
                let extents = natural(&shape).expect("shapes of inputs were looked at");
                let tensor = self.built.tensor(&name, to.element, extents)?;
                self.built.network.inputs.push(tensor);
                let view = View { tensor, shape };
                self.quantized_inputs.insert(name, (to, view.clone()));
                Ok(view)
            }
            Value::Reals(view, from) if from == to => Ok(view),
            Value::Reals(view, from) => {
                let values = integers(from.element).map(|integer| from.real(integer)).collect();
                let operation = Operation::Function { input: view.tensor, values };
                self.computed(Pending { operation, shape: view.shape, ends: ALL }, to, name)
            }
            Value::Pending(pending) => self.computed(pending, to, name),
            Value::Constant(_) | Value::Weights(_) | Value::Unread(_) => {
                Err(Fault::new("a constant is quantized").with_help("fold the constants of the network"))
            }
            Value::Integers(_) => Err(Fault::new("integers are quantized")),
        }
    }

    /// Adds the layer of a computation.
    fn computed(&mut self, pending: Pending, to: Quantization, name: &str) -> Result<View> {
        let Pending { operation, shape, ends } = pending;
        let range = (to.integer(ends.0), to.integer(ends.1));
        let input = self.built.network.tensors[operation.input()].shape;
        let [channels, width, height] = input;
        let (extents, layer) = match operation {
            Operation::Convolution(products) => {
                let of = self.built.network.tensors[products.window.input.tensor].element;
                let convolution = products::with_integers(products, of, to, range)?;
                let [columns, rows] = convolution.window.windows()?;
                ([convolution.channels, columns, rows], LayerOperation::Convolution(convolution))
            }
            Operation::Mean { input: of_mean, of } => {
                let pixels = width * height;
                let scale = of.scale / (to.scale * pixels as f32);
                let scaling = Scaling::Real { scales: vec![scale], adds_first: false };
                let rounding = Rounding { scaling, range, zero_point: to.zero_point };
                ([channels, 1, 1], LayerOperation::mean(Operand::of(of_mean, input), of, &rounding)?)
            }
            Operation::Maximum { window, of } => {
                let [columns, rows] = window.windows()?;
                let extents = [channels, columns, rows];
                if of != to || ends != ALL {
                    let layer = (extents, LayerOperation::Maximum(window));
                    let view = self.added(&format!("{name}_maximum"), of.element, layer, shape)?;
                    let values = integers(of.element).map(|integer| of.real(integer)).collect();
                    let operation = Operation::Function { input: view.tensor, values };
                    return self.computed(Pending { operation, shape: view.shape, ends }, to, name);
                }
                (extents, LayerOperation::Maximum(window))
            }
            Operation::Join(parts, dimension) => self.join((parts, dimension), (to, ends), name)?,
            Operation::Pair(operands, pairing) => {
                let [one, other] = operands.map(|(input, _)| self.built.network.tensors[input].shape);
                let extents = [0, 1, 2].map(|dimension| one[dimension].max(other[dimension]));
                (extents, self.paired(operands, pairing, (to, ends))?)
            }
            Operation::Function { input: of_each, values } => {
                let results = values.iter().map(|value| to.integer(value.clamp(ends.0, ends.1))).collect();
                (input, LayerOperation::Function { input: Operand::of(of_each, input), results })
            }
        };
        self.added(name, to.element, (extents, layer), shape)
    }

    pub fn added(
        &mut self,
        name: &str,
        element: Type,
        (extents, operation): ([i64; 3], LayerOperation),
        shape: Vec<i64>,
    ) -> Result<View> {
        Ok(View { tensor: self.built.layer(name, element, extents, operation)?, shape })
    }

    /// The tensor of a view that is an image.
    ///
    /// # Errors
    /// When it has another shape.
    pub fn image(&self, view: &View, node: &Node) -> Result<&Tensor> {
        let tensor = self.tensor_of(view);
        let is_image = view.shape.len() == 4 && natural(&view.shape) == Some(tensor.shape);
        is_image
            .then_some(tensor)
            .ok_or_else(|| Fault::new(format!("{} of the shape {:?} is not read", node.operator, view.shape)))
    }
}

impl Operation {
    /// The first tensor that it takes.
    fn input(&self) -> usize {
        match self {
            Operation::Convolution(Products { window, .. }) | Operation::Maximum { window, .. } => window.input.tensor,
            Operation::Mean { input, .. } | Operation::Function { input, .. } | Operation::Pair([(input, _), _], _) => {
                *input
            }
            Operation::Join(parts, _) => parts[0].0,
        }
    }
}

/// All operators that are read, for messages.
fn operators() -> String {
    format!("{OF_REALS}, {} are", OF_INTEGERS.join(", "))
}

/// The logistic function.
pub(crate) fn sigmoid(real: f32) -> f32 {
    1.0 / (1.0 + (-real).exp())
}

/// Numbers below 0 times a factor.
pub(crate) fn leaky(alpha: f32, real: f32) -> f32 {
    if real < 0.0 { alpha * real } else { real }
}

/// Channels, width and height of a shape of the file, if it is one image or vector.
pub(crate) fn natural(shape: &[i64]) -> Option<[i64; 3]> {
    match *shape {
        [1, channels, height, width] => Some([channels, width, height]),
        [1, channels] => Some([channels, 1, 1]),
        _ => None,
    }
}

/// The name of what a node gives.
pub(crate) fn output(node: &Node) -> Result<&str> {
    match node.outputs.iter().filter(|name| !name.is_empty()).collect_vec().as_slice() {
        [name] => Ok(name),
        _ => Err(Fault::new(format!("{} with {} results is not read", node.operator, node.outputs.len()))),
    }
}
