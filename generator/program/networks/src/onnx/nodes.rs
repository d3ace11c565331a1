//! Nodes that sum no products.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use crate::fault::{Fault, Result};
use crate::network::{LARGEST_WINDOW, LayerOperation, Quantization, Tensor, integers, tensor_size};
use crate::onnx::attributes::Attributes;
use crate::onnx::model::Node;
use crate::onnx::products;
use crate::onnx::recognize::{QUANTIZE, Recognizer, natural, output};
use crate::onnx::sums::RealSum;
use crate::onnx::values::{ALL, Operation, Pairing, Pending, Value, View};

impl Recognizer {
    /// A number of two tensors, element by element.
    pub fn pair(&self, node: &Node, operands: &[(impl Borrow<View>, Quantization); 2]) -> Result<Pending> {
        let [(one, of_one), (other, of_other)] = operands.each_ref().map(|(view, of)| (view.borrow(), *of));
        let extents = [one, other].map(|view| self.tensor_of(view).shape);
        let is_image = [one, other].iter().zip(extents).all(|(view, extents)| natural(&view.shape) == Some(extents));
        let fits = |(one, other): (&i64, &i64)| one == other || [one, other].contains(&&1);
        let is_repeated =
            is_image && one.shape.len() == other.shape.len() && one.shape.iter().zip(&other.shape).all(fits);
        if !is_repeated && (one.shape != other.shape || extents[0] != extents[1]) {
            return Err(Fault::new(format!("operands of the shapes {:?} and {:?}", one.shape, other.shape)));
        }
        let shape = one.shape.iter().zip(&other.shape).map(|(one, other)| *one.max(other)).collect();
        let pairing = match node.operator.as_str() {
            "Add" | "QLinearAdd" => Pairing::Sum,
            "Sub" => Pairing::Difference,
            _ => Pairing::Product,
        };
        let operation = Operation::Pair([(one.tensor, of_one), (other.tensor, of_other)], pairing);
        Ok(Pending { operation, shape, ends: ALL })
    }

    /// The layer of a number of two tensors.
    pub fn paired(
        &self,
        operands: [(usize, Quantization); 2],
        pairing: Pairing,
        (to, ends): (Quantization, (f32, f32)),
    ) -> Result<LayerOperation> {
        if pairing == Pairing::Product {
            return products::of_pair(operands.map(|(input, of)| (self.whole(input), of)), to, ends);
        }
        let ([one, other], of) = (operands.map(|(input, _)| input), operands.map(|(_, of)| of));
        let is_difference = pairing == Pairing::Difference;
        let sum = RealSum { operands: of, result: to, ends, is_difference, is_double: one == other };
        let addition = sum.in_integers()?;
        Ok(LayerOperation::Addition { operands: [one, other].map(|input| self.whole(input)), addition })
    }

    /// Numbers between the ends of a node.
    pub fn clip(&self, node: &Node) -> Result<Value> {
        let attributes = Attributes::of(node, &["min", "max"])?;
        let end =
            |number: usize, name: &str, default: f32| match node.inputs.get(number).filter(|name| !name.is_empty()) {
                Some(_) => self.real(node, number),
                None => Ok(attributes.real(name, default)),
            };
        let ends = (end(1, "min", ALL.0)?, end(2, "max", ALL.1)?);
        if ends.0 > ends.1 || ends.0.is_nan() || ends.1.is_nan() {
            return Err(Fault::new(format!("Clip between {} and {}", ends.0, ends.1)));
        }
        self.clipped(node, ends)
    }

    /// Numbers between two ends.
    pub fn clipped(&self, node: &Node, ends: (f32, f32)) -> Result<Value> {
        match self.operand(node, 0)? {
            Value::Pending(pending) => {
                let ends = (pending.ends.0.clamp(ends.0, ends.1), pending.ends.1.clamp(ends.0, ends.1));
                Ok(Value::Pending(Pending { ends, ..pending.clone() }))
            }
            _ => self.function(node, &|real| real.clamp(ends.0, ends.1)),
        }
    }

    /// A function of each number.
    pub fn function(&self, node: &Node, of: &dyn Fn(f32) -> f32) -> Result<Value> {
        if let Value::Pending(Pending { operation: Operation::Function { input, values }, shape, ends }) =
            self.operand(node, 0)?
        {
            let values = values.iter().map(|value| of(value.clamp(ends.0, ends.1))).collect();
            let operation = Operation::Function { input: *input, values };
            return Ok(Value::Pending(Pending { operation, shape: shape.clone(), ends: ALL }));
        }
        let (view, quantization) = self.reals(node, 0)?;
        Ok(Value::Pending(of_each(view, quantization, of)))
    }

    /// The greatest number of each window.
    pub fn maximum(&mut self, node: &Node) -> Result<Value> {
        let known = ["auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"];
        let attributes = Attributes::of(node, &known)?;
        attributes.expect("ceil_mode", 0)?;
        let (view, of) = self.held(node)?;
        let Tensor { element, shape: extents, .. } = *self.image(&view, node)?;
        let window = attributes.window(view.tensor, extents, None, element.min())?;
        let [columns, rows] = window.extent;
        if columns * rows > LARGEST_WINDOW {
            return Err(attributes.refuse("kernel_shape", [rows, columns]));
        }
        // A window that is all outside has no greatest element.
        if (0..2)
            .any(|axis| window.before[axis].max(window.after[axis]) > (window.extent[axis] - 1) * window.dilation[axis])
        {
            return Err(attributes.refuse("pads", [window.before, window.after]));
        }
        let [columns, rows] = window.windows()?;
        let shape = vec![1, extents[0], rows, columns];
        Ok(match of {
            Some(of) => Value::Pending(Pending { operation: Operation::Maximum { window, of }, shape, ends: ALL }),
            None => {
                let layer = ([extents[0], columns, rows], LayerOperation::Maximum(window));
                Value::Integers(self.added(output(node)?, element, layer, shape)?)
            }
        })
    }

    /// The means of all pixels.
    pub fn mean(&self, node: &Node, (view, of): (View, Quantization)) -> Result<Pending> {
        let [channels, ..] = self.image(&view, node)?.shape;
        Ok(Pending { operation: Operation::Mean { input: view.tensor, of }, shape: vec![1, channels, 1, 1], ends: ALL })
    }

    /// The same elements under another shape.
    pub fn reshaped(&self, node: &Node) -> Result<Value> {
        let mut value = self.operand(node, 0)?.clone();
        let shape = match &mut value {
            Value::Integers(view) | Value::Reals(view, _) => &mut view.shape,
            Value::Pending(pending) => &mut pending.shape,
            _ => {
                return Err(
                    Fault::new(format!("`{}` is a constant, or not quantized", node.inputs[0])).with_help(QUANTIZE)
                );
            }
        };
        let attributes = Attributes::of(node, &["axes", "axis", "allowzero"])?;
        let size: i64 = shape.iter().product();
        let listed = || -> Result<Vec<i64>> {
            match node.inputs.get(1).filter(|name| !name.is_empty()) {
                Some(_) => Ok(self.constant(node, 1)?.integers().unwrap_or_default().to_vec()),
                None => Ok(attributes.integers("axes").unwrap_or_default().to_vec()),
            }
        };
        *shape = match node.operator.as_str() {
            "Flatten" => {
                attributes.expect("axis", 1)?;
                vec![1, size]
            }
            "Reshape" => {
                attributes.expect("allowzero", 0)?;
                let listed = listed()?;
                let kept = |(number, extent): (usize, &i64)| {
                    if *extent == 0 { shape.get(number).copied().unwrap_or(1) } else { *extent }
                };
                let extents: Vec<i64> = listed.iter().enumerate().map(kept).collect();
                let known: Vec<i64> = extents.iter().copied().filter(|extent| *extent != -1).collect();
                let rest = tensor_size(&known).filter(|known| *known > 0).map(|known| size / known);
                extents.iter().map(|extent| if *extent == -1 { rest.unwrap_or(0) } else { *extent }).collect()
            }
            "Squeeze" => {
                let rank = shape.len() as i64;
                let axes: Vec<i64> = listed()?.iter().map(|axis| if *axis < 0 { axis + rank } else { *axis }).collect();
                let is_kept = |number: usize, extent: i64| match axes.is_empty() {
                    true => extent != 1 || number == 0,
                    false => !axes.contains(&(number as i64)),
                };
                shape
                    .iter()
                    .enumerate()
                    .filter(|(number, extent)| is_kept(*number, **extent))
                    .map(|(_, extent)| *extent)
                    .collect()
            }
            _ => {
                let axes = listed()?;
                let rank = (shape.len() + axes.len()) as i64;
                let axes: BTreeSet<i64> = axes.iter().map(|axis| if *axis < 0 { axis + rank } else { *axis }).collect();
                let mut rest = shape.iter();
                (0..rank)
                    .map(|number| if axes.contains(&number) { 1 } else { rest.next().copied().unwrap_or(0) })
                    .collect()
            }
        };
        if shape.first() != Some(&1) || tensor_size(shape) != Some(size) {
            return Err(Fault::new(format!(
                "{} to the shape {shape:?} is not read: the first dimension is that of one image",
                node.operator
            )));
        }
        Ok(value)
    }
}

/// A function of each number for which integers stand.
pub(crate) fn of_each(view: &View, quantization: Quantization, of: &dyn Fn(f32) -> f32) -> Pending {
    let values = integers(quantization.element).map(|integer| of(quantization.real(integer))).collect();
    Pending { operation: Operation::Function { input: view.tensor, values }, shape: view.shape.clone(), ends: ALL }
}
