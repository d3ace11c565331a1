//! Operators that move elements. A part of a tensor is read where it is, without a copy.

use crate::fault::{Fault, Result};
use crate::network::{LARGEST_EXTENT, LayerOperation, Move, tensor_size};
use crate::tflite::products::range;
use crate::tflite::recognize::{Recognizer, Value, View, dimension, natural};
use crate::tflite::schema::{Graph, Node, elements};

/// Where the part of a node `SLICE` or `STRIDED_SLICE` begins and ends along each dimension of the file, and its step.
pub(crate) fn ends(graph: &Graph, node: &Node) -> Result<Vec<(i64, i64, i64)>> {
    let tensor = |number: usize| node.inputs.get(number).and_then(|tensor| graph.tensor(*tensor));
    let operand = |number: usize| {
        let tensor = tensor(number).ok_or_else(|| Fault::new(format!("{} has no operand {number}", node.operator)))?;
        tensor.constant(elements::INT32)
    };
    let shape = tensor(0).map(|tensor| tensor.shape.clone()).unwrap_or_default();
    let (begin, end) = (operand(1)?, operand(2)?);
    let is_strided = node.operator == "STRIDED_SLICE";
    let steps = if is_strided { operand(3)? } else { vec![1; shape.len()] };
    for (option, name) in [(2, "ellipsis_mask"), (3, "new_axis_mask"), (4, "shrink_axis_mask")] {
        if is_strided && node.integer(option, 0)? != 0 {
            return Err(
                Fault::new(format!("STRIDED_SLICE with {name} is not read")).with_help("reshape the part instead")
            );
        }
    }
    if [begin.len(), end.len(), steps.len()] != [shape.len(); 3] || natural(&shape).is_none() {
        return Err(Fault::new(format!("{} from {begin:?} to {end:?} of the shape {shape:?}", node.operator)));
    }
    let is_masked = |option: usize, axis: usize| -> Result<bool> {
        Ok(is_strided && axis < 32 && node.integer(option, 0)? >> axis & 1 == 1)
    };
    let of_axis = |(axis, extent): (usize, i64)| {
        let at = |place: i64| (if place < 0 { place + extent } else { place }).clamp(0, extent);
        let first = if is_masked(0, axis)? { 0 } else { at(begin[axis]) };
        let behind = match end[axis] {
            _ if is_masked(1, axis)? => extent,
            -1 if !is_strided => extent,
            size if !is_strided => at(first + size.max(0)),
            place => at(place),
        };
        if first >= behind || !(1..=LARGEST_EXTENT).contains(&steps[axis]) {
            let message = format!("{} from {first} to {behind} of {extent} elements by {}", node.operator, steps[axis]);
            return Err(Fault::new(message).with_help("some elements, by steps of 1 or more"));
        }
        Ok((first, behind, steps[axis]))
    };
    shape.iter().copied().enumerate().map(of_axis).collect()
}

impl Recognizer<'_> {
    /// Tensors that are joined along a dimension.
    pub fn joined(&mut self, node: &Node) -> Result<()> {
        if let Some(joined) = self.joined_past(node)? {
            return self.give(node, 0, joined);
        }
        let to = self.result(node, 0)?.quantization()?;
        let rank = self.result(node, 0)?.shape.len();
        let dimension = dimension(node, rank, node.integer(0, 0)?)?;
        if range(node, 1, to)? != to.ends() {
            return Err(Fault::new("CONCATENATION with a function is not read"));
        }
        let (mut moves, mut extent, mut end) = (Vec::<Move>::new(), [0; 3], 0);
        for number in 0..node.inputs.len() {
            let (View { operand, .. }, of) = self.image_of(node, number)?;
            let is_one =
                (0..3).all(|other| other == dimension || number == 0 || operand.extent[other] == extent[other]);
            if of != to || !is_one {
                let help =
                    "convert it again: operands have the scale and the zero point of the result, and its other extents";
                return Err(Fault::new(format!("CONCATENATION of operand {number} is not read")).with_help(help));
            }
            let mut part = Move::of(operand);
            part.to[dimension] = end;
            end += operand.extent[dimension];
            extent = operand.extent;
            moves.push(part);
        }
        extent[dimension] = end;
        self.layer(node, extent, LayerOperation::Moves(moves))
    }

    /// Parts of a tensor along a dimension.
    pub fn split(&mut self, node: &Node) -> Result<()> {
        let (data, axis) = if node.operator == "SPLIT" { (1, 0) } else { (0, 2) };
        let (View { operand, shape }, _) = self.image_of(node, data)?;
        let axis = self.operand(node, axis)?.constant(elements::INT32)?;
        let &[axis] = axis.as_slice() else { return Err(Fault::new("one dimension is split")) };
        let dimension = dimension(node, shape.len(), axis)?;
        let mut part = operand;
        for number in 0..node.outputs.len() {
            let extent = natural(&self.result(node, number)?.shape).map_or(0, |extent| extent[dimension]);
            part.extent[dimension] = extent;
            if part.from[dimension] + extent > operand.from[dimension] + operand.extent[dimension] {
                return Err(Fault::new(format!("{} has results that are more than the tensor", node.operator)));
            }
            self.give(node, number, part)?;
            part.from[dimension] += extent;
        }
        Ok(())
    }

    /// A part of a tensor.
    pub fn sliced(&mut self, node: &Node) -> Result<()> {
        let (View { operand, shape }, _) = self.image_of(node, 0)?;
        let ends = ends(self.graph, node)?;
        let (mut part, mut step) = (operand, [1; 3]);
        for (axis, (first, end, by)) in ends.into_iter().enumerate() {
            if (first, end, by) != (0, shape[axis], 1) {
                let dimension = dimension(node, shape.len(), axis as i64)?;
                part.from[dimension] += first;
                part.extent[dimension] = (end - first + by - 1) / by;
                step[dimension] = by;
            }
        }
        if step == [1; 3] {
            return self.give(node, 0, part);
        }
        let moves = vec![Move { step, ..Move::of(part) }];
        self.layer(node, part.extent, LayerOperation::Moves(moves))
    }

    /// A tensor with elements around it.
    pub fn padded(&mut self, node: &Node) -> Result<()> {
        let (View { operand, shape }, of) = self.image_of(node, 0)?;
        let pads = self.operand(node, 1)?.constant(elements::INT32)?;
        if pads.len() != 2 * shape.len() || pads.iter().any(|pad| !(0..=LARGEST_EXTENT).contains(pad)) {
            return Err(Fault::new(format!("{} by {pads:?} is not read", node.operator)));
        }
        let name = self.operand(node, 0)?.short_name().to_owned();
        let operand = self.isolated(operand, &name)?;
        let mut part = Move { outside: Some(of.zero_point), ..Move::of(operand) };
        for (axis, pads) in pads.chunks(2).enumerate().filter(|(_, pads)| *pads != [0, 0]) {
            let dimension = dimension(node, shape.len(), axis as i64)?;
            part.from[dimension] -= pads[0];
            part.extent[dimension] += pads[0] + pads[1];
        }
        self.layer(node, part.extent, LayerOperation::Moves(vec![part]))
    }

    /// The same elements under another shape.
    pub fn reshaped(&mut self, node: &Node) -> Result<()> {
        let (View { operand, .. }, _) = self.view(node, 0)?;
        let tensor = self.result(node, 0)?;
        let shape = tensor.shape.clone();
        if shape.first() != Some(&1) || tensor_size(&shape) != tensor_size(&operand.extent) {
            let fault = Fault::new(format!("{} to the shape {shape:?} is not read", node.operator));
            return Err(fault.with_help("the first dimension is that of one image"));
        }
        self.values.insert(node.outputs[0], Value::View(View { operand, shape }));
        Ok(())
    }
}
