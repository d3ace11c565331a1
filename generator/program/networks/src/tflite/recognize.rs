//! From the operators of a file of TensorFlow Lite to a network of integers.

use std::collections::BTreeMap;

use pushmem_nest::Type;

use crate::chunks;
use crate::fault::{Fault, Result};
use crate::network::{
    LARGEST_EXTENT, LayerOperation, Move, Network, NetworkBuilder, Operand, Quantization, tensor_size,
};
use crate::tflite::flatbuffer::Damaged;
use crate::tflite::schema::{Graph, Model, Node, Tensor, elements};
use crate::tflite::states::States;

/// Operators that are read, for messages.
const READ: &str = "CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, ADD, SUB, MUL, AVERAGE_POOL_2D, MAX_POOL_2D, MEAN, CONCATENATION, SPLIT, \
    SPLIT_V, SLICE, STRIDED_SLICE, PAD, RESHAPE, SQUEEZE, EXPAND_DIMS, RELU, RELU6, LEAKY_RELU, LOGISTIC, TANH, QUANTIZE, CALL_ONCE, \
    VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE are";

/// Operators of integers with and without sign.
const OF_ANY: [&str; 8] =
    ["QUANTIZE", "CONCATENATION", "SPLIT", "SPLIT_V", "STRIDED_SLICE", "RESHAPE", "SQUEEZE", "EXPAND_DIMS"];

/// How to make a network of integers from one of real numbers.
pub(crate) const QUANTIZE: &str = "convert it with `optimizations = [tf.lite.Optimize.DEFAULT]`, a `representative_dataset`, \
    `supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]`, and int8 as `inference_input_type` and `inference_output_type`";

/// The network of a file, which is named like this.
///
/// # Errors
/// The first node that hardware does not have, and what is wrong with the file as a whole.
pub(crate) fn recognized(name: &str, model: &Model, graph: &Graph) -> Result<Network> {
    let interface = graph.inputs.iter().chain(&graph.outputs).filter_map(|number| graph.tensor(*number));
    let built = NetworkBuilder::new(name, interface.map(|tensor| tensor.name.as_str()));
    let (values, states) = (BTreeMap::new(), States::of(graph));
    let mut recognizer = Recognizer { model, graph, built, values, states };
    for number in &graph.inputs {
        recognizer.input(*number)?;
    }
    for (number, node) in graph.nodes.iter().enumerate() {
        recognizer.node(node).map_err(|fault| Fault { node: Some(number), ..fault })?;
    }
    recognizer.finished()?;
    for number in &graph.outputs {
        recognizer.output(*number)?;
    }
    Ok(recognizer.built.network)
}

pub(crate) struct Recognizer<'a> {
    pub model: &'a Model<'a>,
    pub graph: &'a Graph<'a>,
    pub built: NetworkBuilder,
    /// The values of tensors of the file, by their numbers.
    pub values: BTreeMap<i64, Value>,
    pub states: States,
}

/// The value of a tensor of the file.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    View(View),
    /// A state, by its name.
    State(String),
    /// The elements of a state whose rows are those before the rows of another tensor.
    Past,
}

/// Integers under a shape of the file.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub operand: Operand,
    /// Outermost dimension first.
    pub shape: Vec<i64>,
}

impl From<Damaged> for Fault {
    fn from(_: Damaged) -> Fault {
        Fault::new("the options of the operator are damaged")
    }
}

impl<'a> Graph<'a> {
    /// A tensor by its number.
    pub fn tensor(&self, number: i64) -> Option<&Tensor<'a>> {
        usize::try_from(number).ok().and_then(|number| self.tensors.get(number))
    }
}

impl Tensor<'_> {
    /// The type of its elements.
    ///
    /// # Errors
    /// Where it is none of integers of 8 bits.
    pub fn type_of(&self) -> Result<Type> {
        match self.element {
            elements::INT8 => Ok(Type::I8),
            elements::UINT8 => Ok(Type::U8),
            other => {
                let name = usize::try_from(other).ok().and_then(|other| elements::NAMES.get(other));
                let message =
                    format!("`{}` has elements of {}; int8 is read", self.name, name.unwrap_or(&"another type"));
                Err(Fault::new(message).with_help(QUANTIZE))
            }
        }
    }

    /// How its integers stand for numbers.
    ///
    /// # Errors
    /// Where they have several scales, or none.
    pub fn quantization(&self) -> Result<Quantization> {
        let element = self.type_of()?;
        match (self.scales.as_slice(), self.zero_points.as_slice()) {
            (&[scale], &[zero_point]) if scale.is_normal() && scale > 0.0 && element.holds(zero_point) => {
                Ok(Quantization { element, scale, zero_point })
            }
            (scales, zero_points) => {
                let message = format!("`{}` has the scales {scales:?} and the zero points {zero_points:?}", self.name);
                Err(Fault::new(message)
                    .with_help("its integers have one scale above 0 and one zero point of their type"))
            }
        }
    }

    /// The integers of a constant of this type.
    ///
    /// # Errors
    /// Where it is none, or has another number of elements than its shape.
    pub fn constant(&self, element: i64) -> Result<Vec<i64>> {
        let integers: Vec<i64> = match element {
            elements::INT8 => self.data.iter().map(|byte| i64::from(*byte as i8)).collect(),
            _ => chunks(self.data).map(|bytes| i64::from(i32::from_le_bytes(bytes))).collect(),
        };
        if self.element != element
            || self.data.is_empty()
            || tensor_size(&self.shape) != i64::try_from(integers.len()).ok()
        {
            let kind = elements::NAMES[element as usize];
            let message = format!("`{}` is no constant of {kind} of the shape {:?}", self.name, self.shape);
            return Err(Fault::new(message).with_help("weights are constants of int8, sizes and a bias of int32"));
        }
        Ok(integers)
    }

    /// A short name: that of the last of the operators that were made one.
    pub fn short_name(&self) -> &str {
        self.name.rsplit(';').next().unwrap_or_default()
    }
}

impl Recognizer<'_> {
    fn input(&mut self, number: i64) -> Result<()> {
        let tensor = self.graph.tensor(number).ok_or_else(|| Fault::new(format!("no tensor is the input {number}")))?;
        let element = tensor.type_of()?;
        let refused = || {
            let known = if tensor.signature.is_empty() { &tensor.shape } else { &tensor.signature };
            let message = format!("the input `{}` has the shape {known:?}", tensor.name);
            Fault::new(message).with_help(
                "it is one image or step of a known size: [1, rows, columns, channels], or without some of these",
            )
        };
        // The number of images may be open: each layer is that of one.
        if tensor.signature.iter().skip(1).any(|extent| *extent < 0) {
            return Err(refused());
        }
        let shape = natural(&tensor.shape).ok_or_else(refused)?;
        let input = self.built.tensor(&tensor.name, element, shape)?;
        self.built.network.inputs.push(input);
        let view = View { operand: Operand::of(input, shape), shape: tensor.shape.clone() };
        self.values.insert(number, Value::View(view));
        Ok(())
    }

    fn output(&mut self, number: i64) -> Result<()> {
        let name = self.graph.tensor(number).map_or_else(String::new, |tensor| tensor.name.clone());
        let Some(Value::View(view)) = self.values.get(&number).cloned() else {
            return Err(Fault::new(format!("no operator gives the output `{name}`")));
        };
        let view = self.image(&view, &name)?;
        let network = &self.built.network;
        let is_own = |tensor: usize| {
            network.tensors[tensor].past.is_none()
                && !network.inputs.contains(&tensor)
                && !network.outputs.contains(&tensor)
        };
        let tensor = match self.whole(view.operand).filter(|tensor| is_own(*tensor)) {
            Some(tensor) => tensor,
            None => self.copied(view.operand, &name)?,
        };
        self.built.output(&name, tensor);
        Ok(())
    }

    fn node(&mut self, node: &Node) -> Result<()> {
        let is_u8 = |number: &&i64| self.graph.tensor(**number).is_some_and(|tensor| tensor.element == elements::UINT8);
        if !OF_ANY.contains(&node.operator.as_str()) && node.inputs.iter().chain(&node.outputs).any(|each| is_u8(&each))
        {
            let fault = Fault::new(format!("{} of uint8 is not read", node.operator));
            return Err(fault.with_help("it takes and gives int8, which QUANTIZE makes of uint8"));
        }
        match node.operator.as_str() {
            "CALL_ONCE" => self.called_once(node),
            "VAR_HANDLE" => self.handle(node),
            "READ_VARIABLE" => self.state_read(node),
            "ASSIGN_VARIABLE" => self.state_assigned(node),
            "CONV_2D" | "DEPTHWISE_CONV_2D" => self.convolution(node),
            "FULLY_CONNECTED" => self.fully_connected(node),
            "AVERAGE_POOL_2D" => self.average(node),
            "MAX_POOL_2D" => self.maximum(node),
            "MEAN" => self.mean(node),
            "ADD" | "SUB" => self.sum(node),
            "MUL" => self.product(node),
            "CONCATENATION" => self.joined(node),
            "SPLIT" | "SPLIT_V" => self.split(node),
            "SLICE" | "STRIDED_SLICE" => self.sliced(node),
            "PAD" => self.padded(node),
            "RESHAPE" | "SQUEEZE" | "EXPAND_DIMS" => self.reshaped(node),
            "RELU" | "RELU6" | "LEAKY_RELU" | "LOGISTIC" | "TANH" | "QUANTIZE" => self.function(node),
            "SOFTMAX" | "LOG_SOFTMAX" | "ARG_MAX" | "DEQUANTIZE" => {
                let operand = self.operand(node, 0).map_or("", |tensor| tensor.name.as_str());
                let help = format!("let the graph end at `{operand}`, and the host compute it");
                Err(Fault::new(format!("`{}` is not read", node.operator)).with_help(help))
            }
            other => Err(Fault::new(format!("`{other}` is not read")).with_help(READ)),
        }
    }

    /// A tensor that a node takes.
    pub fn operand(&self, node: &Node, number: usize) -> Result<&Tensor<'_>> {
        let tensor = node.inputs.get(number).and_then(|number| self.graph.tensor(*number));
        tensor.ok_or_else(|| Fault::new(format!("{} has no operand {number}", node.operator)))
    }

    /// A tensor that a node gives.
    pub fn result(&self, node: &Node, number: usize) -> Result<&Tensor<'_>> {
        let tensor = node.outputs.get(number).and_then(|number| self.graph.tensor(*number));
        tensor.ok_or_else(|| Fault::new(format!("{} has no result {number}", node.operator)))
    }

    /// The integers that a node takes, with what they stand for.
    pub fn view(&self, node: &Node, number: usize) -> Result<(View, Quantization)> {
        let tensor = self.operand(node, number)?;
        match self.values.get(&node.inputs[number]) {
            Some(Value::View(view)) => Ok((view.clone(), tensor.quantization()?)),
            _ if !tensor.data.is_empty() => {
                let message = format!("{} of the constant `{}` is not read", node.operator, tensor.name);
                Err(Fault::new(message).with_help("fold the constant into the layer before or behind"))
            }
            _ => Err(Fault::new(format!("no operator before it gives `{}`", tensor.name))),
        }
    }

    /// The integers that a node takes, as an image.
    ///
    /// # Errors
    /// As [`Self::image`].
    pub fn image_of(&mut self, node: &Node, number: usize) -> Result<(View, Quantization)> {
        let (view, of) = self.view(node, number)?;
        let name = self.operand(node, number)?.short_name().to_owned();
        Ok((self.image(&view, &name)?, of))
    }

    /// A view whose extents are those of its shape: dimensions of extent 1 may come between others.
    ///
    /// # Errors
    /// Where other dimensions were joined or divided.
    pub fn image(&mut self, view: &View, name: &str) -> Result<View> {
        let View { operand, shape } = view;
        let refused = || {
            let message = format!(
                "`{name}` of the shape {shape:?} is the reshaped [1, rows, columns, channels] {:?}",
                operand.extent
            );
            Fault::new(message).with_help("only FULLY_CONNECTED takes a tensor whose dimensions were joined")
        };
        let extent = natural(shape).ok_or_else(refused)?;
        if extent == operand.extent {
            return Ok(view.clone());
        }
        // The dimensions of more than one element, and then the others.
        let ordered = |extent: [i64; 3]| {
            let mut dimensions = [0, 1, 2];
            dimensions.sort_by_key(|dimension| extent[*dimension] == 1);
            dimensions
        };
        let mut part = Move::of(Operand::of(operand.tensor, extent));
        for (to, from) in ordered(extent).into_iter().zip(ordered(operand.extent)) {
            if extent[to] != operand.extent[from] {
                return Err(refused());
            }
            (part.axes[to], part.from[to]) = (from, operand.from[from]);
        }
        let tensor = self.moved(vec![part], extent, name)?;
        Ok(View { operand: Operand::of(tensor, extent), shape: shape.clone() })
    }

    /// The tensor of an operand that is the whole of it.
    pub fn whole(&self, operand: Operand) -> Option<usize> {
        let tensor = operand.tensor;
        (operand == Operand::of(tensor, self.built.network.tensors[tensor].shape)).then_some(tensor)
    }

    /// Adds the layer that moves parts to a tensor of this shape.
    pub fn moved(&mut self, moves: Vec<Move>, extent: [i64; 3], name: &str) -> Result<usize> {
        let element = self.built.network.tensors[moves[0].input].element;
        self.built.layer(name, element, extent, LayerOperation::Moves(moves))
    }

    /// A copy of an operand, as a tensor of its own.
    pub fn copied(&mut self, operand: Operand, name: &str) -> Result<usize> {
        self.moved(vec![Move::of(operand)], operand.extent, name)
    }

    /// An operand with nothing around it that is read: outside of it may be another number.
    pub fn isolated(&mut self, operand: Operand, name: &str) -> Result<Operand> {
        match self.whole(operand).filter(|tensor| self.built.network.tensors[*tensor].past.is_none()) {
            Some(_) => Ok(operand),
            None => Ok(Operand::of(self.copied(operand, name)?, operand.extent)),
        }
    }

    /// Gives a result of a node its value.
    ///
    /// # Errors
    /// Where the file says that it has another shape.
    pub fn give(&mut self, node: &Node, number: usize, operand: Operand) -> Result<()> {
        let tensor = self.result(node, number)?;
        let shape = tensor.shape.clone();
        if natural(&shape) != Some(operand.extent) {
            let [channels, columns, rows] = operand.extent;
            let message = format!(
                "`{}` has the shape {shape:?}, and [1, {rows}, {columns}, {channels}] is computed",
                tensor.name
            );
            return Err(Fault::new(message));
        }
        self.values.insert(node.outputs[number], Value::View(View { operand, shape }));
        Ok(())
    }

    /// Adds the layer of the first result of a node.
    pub fn layer(&mut self, node: &Node, extent: [i64; 3], operation: LayerOperation) -> Result<()> {
        let tensor = self.result(node, 0)?;
        let (name, element) = (self.name_of(tensor), tensor.type_of()?);
        let output = self.built.layer(&name, element, extent, operation)?;
        self.give(node, 0, Operand::of(output, extent))
    }

    /// The name of a tensor: of one that goes outside its own, of others a short one.
    pub fn name_of(&self, tensor: &Tensor) -> String {
        if self.built.words.contains_key(&tensor.name) { &tensor.name } else { tensor.short_name() }.to_owned()
    }
}

/// Channels, width and height of a shape of the file, if it is that of one image: without columns, or without rows, too.
pub(crate) fn natural(shape: &[i64]) -> Option<[i64; 3]> {
    let extent = match *shape {
        [1, height, width, channels] => [channels, width, height],
        [1, height, channels] => [channels, 1, height],
        [1, channels] | [channels] => [channels, 1, 1],
        _ => return None,
    };
    extent.iter().all(|extent| (1..=LARGEST_EXTENT).contains(extent)).then_some(extent)
}

/// The dimension of tensors for one of a shape of the file; below 0 from its end.
///
/// # Errors
/// Where it is none, or that of the images.
pub(crate) fn dimension(node: &Node, rank: usize, axis: i64) -> Result<usize> {
    let axis = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    let dimensions: &[usize] = match rank {
        4 => &[2, 1, 0],
        3 => &[2, 0],
        _ => &[0],
    };
    let found = usize::try_from(axis - 1).ok().and_then(|axis| dimensions.get(axis));
    found.copied().ok_or_else(|| {
        let message = format!("{} along dimension {axis} of {rank} is not read", node.operator);
        Fault::new(message)
            .with_help(format!("dimensions 1 to {} are read; the first, 0, is that of images", rank.max(2) - 1))
    })
}
