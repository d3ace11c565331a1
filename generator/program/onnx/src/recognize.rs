//! From the nodes of an ONNX graph to a network of integers.
//!
//! A node that computes real numbers waits until they are quantized; only then hardware for it is known, since it computes the
//! integers of the result from those of its operands.

use std::collections::HashMap;

use itertools::Itertools;
use pushmem_nest::Type;

use crate::addition::{Quantization, RealSum};
use crate::attributes::Attributes;
use crate::constant::Constant;
use crate::fault::{Fault, Result};
use crate::model::{Declaration, Graph, Model, Node, elements};
use crate::names::Names;
use crate::network::{Layer, LayerOperation, Network, Tensor};
use crate::products;
use crate::requantization::Rounding;
use crate::values::{ALL, Operation, Pending, Products, Value, View, Weights, integers};

/// The versions of operators that are read.
const VERSIONS: std::ops::RangeInclusive<i64> = 10..=23;

/// All operators that are read, for messages.
const OPERATORS: &str = "QuantizeLinear, DequantizeLinear, Conv, Gemm, MatMul, QLinearConv, QLinearMatMul, Add, Relu, Clip, LeakyRelu, \
    Sigmoid, HardSigmoid, HardSwish, Tanh, MaxPool, GlobalAveragePool, ReduceMean, Flatten, Reshape, Squeeze, Unsqueeze, Identity, \
    Dropout and Constant";

/// How to make a network of integers from one of real numbers.
pub(crate) const QUANTIZE: &str = "quantize the network: `onnxruntime.quantization.quantize_static(model, quantized, calibration, \
    quant_format=QuantFormat.QDQ)`; for a network of TensorFlow Lite, the converter with representative data, and then tf2onnx";

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
    let mut recognizer = Recognizer {
        values: HashMap::new(),
        network: Network {
            name: String::new(),
            names: Names::default(),
            tensors: Vec::new(),
            inputs: Vec::new(),
            layers: Vec::new(),
            outputs: Vec::new(),
        },
    };
    recognizer.network.name = recognizer.network.names.take(name);
    for tensor in &graph.initializers {
        let constant =
            Constant::of(tensor).map_err(|fault| Fault::new(format!("the constant `{}` {fault}", tensor.name)))?;
        recognizer.values.insert(tensor.name.clone(), Value::Constant(constant));
    }
    for input in graph.inputs.iter().filter(|input| !graph.initializers.iter().any(|tensor| tensor.name == input.name))
    {
        recognizer.input(input)?;
    }
    for (number, node) in graph.nodes.iter().enumerate() {
        recognizer.node(node).map_err(|fault| Fault { node: Some(number), ..fault })?;
    }
    for output in &graph.outputs {
        recognizer.output(&output.name)?;
    }
    Ok(recognizer.network)
}

pub(crate) struct Recognizer {
    values: HashMap<String, Value>,
    network: Network,
}

impl Recognizer {
    fn tensor(&mut self, name: &str, element: Type, shape: [i64; 3]) -> usize {
        let name = self.network.names.take(name);
        self.network.tensors.push(Tensor { name, element, shape });
        self.network.tensors.len() - 1
    }

    fn input(&mut self, input: &Declaration) -> Result<()> {
        let tensor = input.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
        let shape = tensor.and_then(|tensor| tensor.shape.as_ref()).map(|shape| &shape.dimensions);
        let (Some(tensor), Some(dimensions)) = (tensor, shape) else {
            return Err(Fault::new(format!("the input `{}` has no shape", input.name)));
        };
        // A name for the number of images: there is one at a time.
        let extents = dimensions.iter().enumerate().map(|(number, dimension)| match dimension.extent {
            None if number == 0 => Some(1),
            extent => extent.filter(|extent| (1..=1 << 16).contains(extent)),
        });
        let refused = || {
            let shown = dimensions.iter().map(|dimension| match (&dimension.name, dimension.extent) {
                (_, Some(extent)) => extent.to_string(),
                (Some(name), None) => name.clone(),
                (None, None) => "?".to_owned(),
            });
            let message = format!("the input `{}` has the shape [{}]", input.name, { shown }.join(", "));
            Fault::new(message)
                .with_help("give it one image of a known size: `onnxruntime.tools.make_dynamic_shape_fixed` does")
        };
        let extents: Vec<i64> = extents.collect::<Option<_>>().ok_or_else(refused)?;
        let shape = natural(&extents).ok_or_else(refused)?;
        let element = match tensor.element {
            elements::FLOAT => {
                let value = Value::Input { name: input.name.clone(), shape: extents };
                self.values.insert(input.name.clone(), value);
                return Ok(());
            }
            elements::UINT8 => Type::U8,
            elements::INT8 => Type::I8,
            other => {
                let message =
                    format!("the input `{}` has elements of type {other}; float, uint8 and int8 are read", input.name);
                return Err(Fault::new(message));
            }
        };
        let tensor = self.tensor(&input.name, element, shape);
        self.network.inputs.push(tensor);
        self.values.insert(input.name.clone(), Value::Integers(View { tensor, shape: extents }));
        Ok(())
    }

    fn output(&mut self, name: &str) -> Result<()> {
        let tensor = match self.values.get(name) {
            Some(Value::Integers(view) | Value::Reals(view, _)) => view.tensor,
            Some(Value::Pending(_)) => {
                return Err(Fault::new(format!("the output `{name}` is not quantized")).with_help(QUANTIZE));
            }
            _ => return Err(Fault::new(format!("no node gives the output `{name}`"))),
        };
        if self.network.inputs.contains(&tensor) || self.network.outputs.contains(&tensor) {
            return Err(Fault::new(format!("the output `{name}` is an input, or another output")));
        }
        self.network.outputs.push(tensor);
        // Under the name that users know.
        let name = self.network.names.take(name);
        if let Some(layer) = self.network.layers.iter_mut().find(|layer| layer.output == tensor) {
            layer.name.clone_from(&name);
        }
        self.network.tensors[tensor].name = name;
        Ok(())
    }

    fn node(&mut self, node: &Node) -> Result<()> {
        if !matches!(node.domain.as_str(), "" | "ai.onnx") {
            return Err(Fault::new(format!("`{}` of `{}` is not read", node.operator, node.domain))
                .with_help(format!("{OPERATORS} are")));
        }
        let value = match node.operator.as_str() {
            "Constant" => {
                let tensor = node.attributes.iter().find(|attribute| attribute.name == "value");
                let tensor = tensor.and_then(|attribute| attribute.tensor.as_ref());
                let tensor = tensor.ok_or_else(|| Fault::new("Constant without a tensor is not read"))?;
                Value::Constant(Constant::of(tensor).map_err(|fault| Fault::new(format!("the constant {fault}")))?)
            }
            "QuantizeLinear" => {
                Attributes::of(node, &["axis", "saturate", "output_dtype", "block_size", "precision"])?;
                let quantization = self.quantization(node, 1)?;
                // The name of the real numbers: quantizers make those of integers from it.
                Value::Integers(self.quantized(self.operand(node, 0)?.clone(), quantization, &node.inputs[0])?)
            }
            "DequantizeLinear" => self.dequantized(node)?,
            "Conv" => Value::Pending(products::convolution(self, node)?),
            "Gemm" | "MatMul" => Value::Pending(products::matrix(self, node)?),
            "QLinearConv" | "QLinearMatMul" => {
                let (pending, at) = products::of_integers(self, node)?;
                let quantization = self.quantization(node, at)?;
                Value::Integers(self.quantized(Value::Pending(pending), quantization, output(node)?)?)
            }
            "Add" => self.addition(node)?,
            "Relu" => self.clipped(node, (0.0, f32::INFINITY))?,
            "Clip" => {
                let attributes = Attributes::of(node, &["min", "max"])?;
                let end = |number: usize, name: &str, default: f32| match node
                    .inputs
                    .get(number)
                    .filter(|name| !name.is_empty())
                {
                    Some(_) => self.real(node, number),
                    None => Ok(attributes.real(name, default)),
                };
                let ends = (end(1, "min", ALL.0)?, end(2, "max", ALL.1)?);
                if ends.0 > ends.1 || ends.0.is_nan() || ends.1.is_nan() {
                    return Err(Fault::new(format!("Clip between {} and {}", ends.0, ends.1)));
                }
                self.clipped(node, ends)?
            }
            "LeakyRelu" => {
                let alpha = Attributes::of(node, &["alpha"])?.real("alpha", 0.01);
                self.function(node, &|real| if real < 0.0 { alpha * real } else { real })?
            }
            "Sigmoid" => self.function(node, &|real| 1.0 / (1.0 + (-real).exp()))?,
            "Tanh" => self.function(node, &f32::tanh)?,
            "HardSigmoid" => {
                let attributes = Attributes::of(node, &["alpha", "beta"])?;
                let (alpha, beta) = (attributes.real("alpha", 0.2), attributes.real("beta", 0.5));
                self.function(node, &|real| (alpha * real + beta).clamp(0.0, 1.0))?
            }
            "HardSwish" => self.function(node, &|real| real * (real / 6.0 + 0.5).clamp(0.0, 1.0))?,
            "MaxPool" => self.maximum(node)?,
            "GlobalAveragePool" | "ReduceMean" => self.mean(node)?,
            "Identity" | "Dropout" => self.operand(node, 0)?.clone(),
            "Flatten" | "Reshape" | "Squeeze" | "Unsqueeze" => self.reshaped(node)?,
            "Softmax" | "LogSoftmax" | "ArgMax" => {
                let help = format!(
                    "let the graph end at `{}`, and the host compute it",
                    node.inputs.first().map_or("", String::as_str)
                );
                return Err(Fault::new(format!("`{}` is not read", node.operator)).with_help(help));
            }
            other => return Err(Fault::new(format!("`{other}` is not read")).with_help(format!("{OPERATORS} are"))),
        };
        self.values.insert(output(node)?.to_owned(), value);
        Ok(())
    }

    /// An operand of a node.
    pub fn operand(&self, node: &Node, number: usize) -> Result<&Value> {
        let name = node.inputs.get(number).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| Fault::new(format!("{} has no operand {number}", node.operator)))?;
        self.values.get(name).ok_or_else(|| Fault::new(format!("no node before it gives `{name}`")))
    }

    /// An operand that is a constant.
    pub fn constant(&self, node: &Node, number: usize) -> Result<&Constant> {
        match self.operand(node, number)? {
            Value::Constant(constant) => Ok(constant),
            _ => Err(Fault::new(format!("`{}` is no constant", node.inputs[number]))
                .with_help("fold the constants of the network, as onnxruntime does when it writes an optimized model")),
        }
    }

    fn real(&self, node: &Node, number: usize) -> Result<f32> {
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

    /// The quantization of all elements of a tensor, from this operand on.
    fn quantization(&self, node: &Node, number: usize) -> Result<Quantization> {
        let has_zero_point = node.inputs.get(number + 1).is_some_and(|name| !name.is_empty());
        match self.scales(node, number)? {
            (scales, zero_points, element) if scales.len() == 1 && (element.is_some() || !has_zero_point) => {
                Ok(Quantization { element: element.unwrap_or(Type::U8), scale: scales[0], zero_point: zero_points[0] })
            }
            _ => Err(Fault::new(format!("`{}` is not one scale for integers of 8 bits", node.inputs[number]))),
        }
    }

    fn dequantized(&self, node: &Node) -> Result<Value> {
        let attributes = Attributes::of(node, &["axis", "block_size", "output_dtype"])?;
        attributes.expect("block_size", 0)?;
        let (scales, zero_points, _) = self.scales(node, 1)?;
        match self.operand(node, 0)? {
            Value::Integers(view) if scales.len() == 1 => {
                let element = self.tensor_of(view).element;
                let quantization = Quantization { element, scale: scales[0], zero_point: zero_points[0] };
                if !(element.min()..=element.max()).contains(&quantization.zero_point) {
                    return Err(Fault::new(format!("the zero point {} is beyond {}", zero_points[0], element.name())));
                }
                Ok(Value::Reals(view.clone(), quantization))
            }
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
            _ => Err(Fault::new(format!("`{}` are no integers with one scale", node.inputs[0]))),
        }
    }

    /// The tensor of a view.
    pub fn tensor_of(&self, view: &View) -> &Tensor {
        &self.network.tensors[view.tensor]
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
    fn quantized(&mut self, value: Value, to: Quantization, name: &str) -> Result<View> {
        if !(to.element.min()..=to.element.max()).contains(&to.zero_point) {
            return Err(Fault::new(format!("the zero point {} is beyond {}", to.zero_point, to.element.name())));
        }
        match value {
            Value::Input { name, shape } => {
                let extents = natural(&shape).expect("shapes of inputs were looked at");
                let tensor = self.tensor(&name, to.element, extents);
                self.network.inputs.push(tensor);
                Ok(View { tensor, shape })
            }
            Value::Reals(view, from) if from == to => Ok(view),
            Value::Reals(view, from) => {
                let values = integers(from.element).map(|integer| from.real(integer)).collect();
                let operation = Operation::Function { input: view.tensor, values };
                self.computed(Pending { operation, shape: view.shape, ends: ALL }, to, name)
            }
            Value::Pending(pending) => self.computed(pending, to, name),
            Value::Constant(_) | Value::Weights(_) => {
                Err(Fault::new("a constant is quantized").with_help("fold the constants of the network"))
            }
            Value::Integers(_) => Err(Fault::new("integers are quantized")),
        }
    }

    /// Adds the layer of a computation.
    fn computed(&mut self, pending: Pending, to: Quantization, name: &str) -> Result<View> {
        let Pending { operation, shape, ends } = pending;
        let range = (to.integer(ends.0), to.integer(ends.1));
        let input = operation.input();
        let [channels, width, height] = self.network.tensors[input].shape;
        let (extents, layer) = match operation {
            Operation::Convolution(products) => {
                let of = self.network.tensors[products.window.input].element;
                let convolution = products::with_integers(products, of, to, range)?;
                let [columns, rows] = windows(&convolution.window, [channels, width, height])?;
                ([convolution.channels, columns, rows], LayerOperation::Convolution(convolution))
            }
            Operation::Mean { input, of } => {
                let pixels = width * height;
                let scale = of.scale / (to.scale * pixels as f32);
                let sums = (pixels * (of.element.min() - of.zero_point), pixels * (of.element.max() - of.zero_point));
                let rounding = Rounding { scales: vec![scale], range, zero_point: to.zero_point };
                let requantization =
                    rounding.in_integers(&[sums]).map_err(|found| products::unrounded(&rounding, found))?;
                let bias = -pixels * of.zero_point;
                ([channels, 1, 1], LayerOperation::Mean { input, requantization, bias })
            }
            Operation::Maximum { window, of } => {
                let [columns, rows] = windows(&window, [channels, width, height])?;
                let extents = [channels, columns, rows];
                if of != to || ends != ALL {
                    let name = format!("{name}_maximum");
                    let view = self.added(&name, of.element, (extents, LayerOperation::Maximum(window)), shape);
                    let values = integers(of.element).map(|integer| of.real(integer)).collect();
                    let operation = Operation::Function { input: view.tensor, values };
                    return self.computed(Pending { operation, shape: view.shape, ends }, to, &name);
                }
                (extents, LayerOperation::Maximum(window))
            }
            Operation::Addition([(one, of_one), (other, of_other)]) => {
                let sum = RealSum { operands: [of_one, of_other], result: to, ends };
                let addition = sum.in_integers().map_err(|pairs| {
                    Fault::new(format!(
                        "the sum differs from any form in integers for {pairs} pairs of operands; at most 8 may"
                    ))
                })?;
                ([channels, width, height], LayerOperation::Addition { operands: [one, other], addition })
            }
            Operation::Function { input, values } => {
                let results = values.iter().map(|value| to.integer(value.clamp(ends.0, ends.1))).collect();
                ([channels, width, height], LayerOperation::Function { input, results })
            }
        };
        Ok(self.added(name, to.element, (extents, layer), shape))
    }

    pub fn added(
        &mut self,
        name: &str,
        element: Type,
        (extents, operation): ([i64; 3], LayerOperation),
        shape: Vec<i64>,
    ) -> View {
        let output = self.tensor(name, element, extents);
        let name = self.network.tensors[output].name.clone();
        self.network.layers.push(Layer { name, output, operation });
        View { tensor: output, shape }
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
            Operation::Convolution(Products { window, .. }) | Operation::Maximum { window, .. } => window.input,
            Operation::Mean { input, .. }
            | Operation::Function { input, .. }
            | Operation::Addition([(input, _), _]) => *input,
        }
    }
}

/// Channels, width and height of a shape of the file, if it is one image or vector.
fn natural(shape: &[i64]) -> Option<[i64; 3]> {
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

/// The number of windows over a tensor.
pub(crate) fn windows(window: &crate::network::Window, shape: [i64; 3]) -> Result<[i64; 2]> {
    window.windows(shape).ok_or_else(|| Fault::new("the window is larger than the tensor"))
}
