//! Nodes whose operands are integers, each followed by a scale and a zero point.

use pushmem_nest::Type;

use crate::fault::{Fault, Result};
use crate::network::Quantization;
use crate::onnx::attributes::Attributes;
use crate::onnx::model::Node;
use crate::onnx::nodes::of_each;
use crate::onnx::products;
use crate::onnx::recognize::{Recognizer, leaky, output, sigmoid};
use crate::onnx::values::{Value, View};

impl Recognizer {
    /// An operand of integers, followed by what they stand for.
    pub fn integers(&self, node: &Node, number: usize) -> Result<(View, Quantization)> {
        let Value::Integers(view) = self.operand(node, number)? else {
            return Err(Fault::new(format!("`{}` are no integers", node.inputs[number])));
        };
        let element = self.tensor_of(view).element;
        let quantization = self.quantization(node, number + 1, element)?;
        if quantization.element != element {
            return Err(Fault::new(format!("the zero point of `{}` is of another type", node.inputs[number])));
        }
        Ok((view.clone(), quantization))
    }

    /// The integers of such a node.
    pub fn of_integers(&mut self, node: &Node) -> Result<Value> {
        // The number of the operand from which on the result is quantized.
        let (pending, result) = match node.operator.as_str() {
            "QLinearAdd" | "QLinearMul" => (self.pair(node, &[self.integers(node, 0)?, self.integers(node, 3)?])?, 6),
            "QLinearConcat" => {
                let parts = (2..node.inputs.len()).step_by(3).map(|number| self.integers(node, number));
                let parts = parts.collect::<Result<Vec<_>>>()?;
                (self.joined(node, &parts.iter().map(|(view, of)| (view, *of)).collect::<Vec<_>>())?, 0)
            }
            "QLinearGlobalAveragePool" => {
                Attributes::of(node, &["channels_last"])?.expect("channels_last", 0)?;
                (self.mean(node, self.integers(node, 0)?)?, 3)
            }
            "QLinearSigmoid" => {
                let (view, of) = self.integers(node, 0)?;
                (of_each(&view, of, &sigmoid), 3)
            }
            "QLinearLeakyRelu" => {
                let alpha = Attributes::of(node, &["alpha"])?.real("alpha", 0.01);
                let (view, of) = self.integers(node, 0)?;
                (of_each(&view, of, &|real| leaky(alpha, real)), 3)
            }
            _ => products::of_integers(self, node)?,
        };
        let quantization = self.quantization(node, result, Type::U8)?;
        Ok(Value::Integers(self.quantized(Value::Pending(pending), quantization, output(node)?)?))
    }
}
