//! Nodes that move elements: parts of tensors, tensors that are joined, other orders, borders, and repeated elements.

use itertools::Itertools;

use crate::attributes::Attributes;
use crate::fault::{Fault, Result};
use crate::model::Node;
use crate::network::{LayerOperation, Move};
use crate::recognize::{Recognizer, natural};
use crate::values::{ALL, Operation, Pending, Quantization, Value, View, integers};

/// Operators of one tensor that move its elements.
pub(crate) const OF_ONE: [&str; 5] = ["Pad", "Resize", "Slice", "Split", "Transpose"];

/// The dimension of tensors for each dimension of an image of the file: channels, rows, and columns.
const DIMENSIONS: [usize; 4] = [0, 0, 2, 1];

/// The largest pad, step and factor along a dimension.
const LARGEST: i64 = 1 << 16;

/// Which nearest element of nodes `Resize` is the one at the place that is divided by the factor.
const NEAREST: [(&str, &str); 5] = [
    ("asymmetric", "floor"),
    ("half_pixel", "round_prefer_floor"),
    ("half_pixel", "round_prefer_ceil"),
    ("pytorch_half_pixel", "round_prefer_floor"),
    ("pytorch_half_pixel", "round_prefer_ceil"),
];

impl Recognizer {
    /// The values of a node that moves elements of one tensor, for each of its results.
    pub fn moved(&mut self, node: &Node) -> Result<Vec<Value>> {
        let (view, of) = self.held(node)?;
        let (rank, whole) = (view.shape.len(), Move::of(view.tensor, self.extents(&view, node)?));
        let moves = match node.operator.as_str() {
            "Pad" => vec![self.padded(node, rank, whole, of)?],
            "Resize" => vec![self.resized(node, &view, whole)?],
            "Slice" => vec![self.sliced(node, rank, whole)?],
            "Split" => self.split(node, rank, &whole)?,
            _ => vec![transposed(node, rank, whole)?],
        };
        let mut values = Vec::new();
        for (name, part) in node.outputs.iter().zip(moves) {
            let view = match part == whole {
                true => view.clone(),
                false => {
                    let extents = [0, 1, 2].map(|dimension| part.extent[dimension] * part.copies[dimension]);
                    let element = self.tensor_of(&view).element;
                    let layer = (extents, LayerOperation::Moves(vec![part]));
                    self.added(name, element, layer, in_file(extents, rank))?
                }
            };
            values.push(of.map_or_else(|| Value::Integers(view.clone()), |of| Value::Reals(view.clone(), of)));
        }
        Ok(values)
    }

    /// Tensors that are joined along a dimension.
    pub fn joined(&self, node: &Node, parts: &[(View, Quantization)]) -> Result<Pending> {
        let Some((first, _)) = parts.first() else { return Err(Fault::new("Concat of no tensors")) };
        let rank = first.shape.len();
        let mut extents = self.extents(first, node)?;
        let axis = Attributes::of(node, &["axis"])?.integer("axis", 0);
        let dimension = dimension(node, rank, axis)?;
        for (view, _) in &parts[1..] {
            let own = self.extents(view, node)?;
            if view.shape.len() != rank || (0..3).any(|other| other != dimension && own[other] != extents[other]) {
                let shapes = (&first.shape, &view.shape);
                return Err(Fault::new(format!("operands of the shapes {:?} and {:?}", shapes.0, shapes.1)));
            }
            extents[dimension] += own[dimension];
        }
        let parts = parts.iter().map(|(view, of)| (view.tensor, *of)).collect();
        let ends = ALL;
        Ok(Pending { operation: Operation::Join { parts, dimension }, shape: in_file(extents, rank), ends })
    }

    /// The layer that joins tensors, once their integers are those of the result, between ends.
    pub fn join(
        &mut self,
        (parts, dimension): (Vec<(usize, Quantization)>, usize),
        (to, ends): (Quantization, (f32, f32)),
        name: &str,
    ) -> Result<([i64; 3], LayerOperation)> {
        let mut moves: Vec<Move> = Vec::new();
        for (number, (input, of)) in parts.into_iter().enumerate() {
            let shape = self.network.tensors[input].shape;
            let input = if of == to && ends == ALL {
                input
            } else {
                let values = integers(of.element).map(|integer| of.real(integer)).collect();
                let operation = Operation::Function { input, values };
                let pending = Pending { operation, shape: in_file(shape, 4), ends };
                self.quantized(Value::Pending(pending), to, &format!("{name}_{number}"))?.tensor
            };
            let mut part = Move::of(input, shape);
            part.to[dimension] = moves.last().map_or(0, |last| last.to[dimension] + last.extent[dimension]);
            moves.push(part);
        }
        let mut extents = moves[0].extent;
        extents[dimension] = moves.iter().map(|part| part.extent[dimension]).sum();
        Ok((extents, LayerOperation::Moves(moves)))
    }

    /// The first operand of a node: integers, or real numbers for which integers stand.
    pub fn held(&self, node: &Node) -> Result<(View, Option<Quantization>)> {
        match self.operand(node, 0)? {
            Value::Integers(view) => Ok((view.clone(), None)),
            _ => self.reals(node, 0).map(|(view, of)| (view.clone(), Some(of))),
        }
    }

    /// The extents of a tensor under its own shape.
    fn extents(&self, view: &View, node: &Node) -> Result<[i64; 3]> {
        natural(&view.shape).filter(|extents| *extents == self.tensor_of(view).shape).ok_or_else(|| {
            let message = format!("{} of the shape {:?} is not read", node.operator, view.shape);
            Fault::new(message).with_help("it takes an image or a vector that is not flattened or reshaped before")
        })
    }

    /// Integers of a constant operand, or of the attribute in its place; nothing where there are none.
    fn listed<'a>(&'a self, node: &'a Node, number: usize, attribute: &str) -> Result<Option<&'a [i64]>> {
        if node.inputs.get(number).is_none_or(String::is_empty) {
            let found = node.attributes.iter().find(|each| each.name == attribute);
            return Ok(found.map(|each| each.integers.as_slice()));
        }
        let integers = self.constant(node, number)?.integers();
        integers.map(Some).ok_or_else(|| Fault::new(format!("`{}` are no integers", node.inputs[number])))
    }

    fn padded(&self, node: &Node, rank: usize, mut part: Move, of: Option<Quantization>) -> Result<Move> {
        let attributes = Attributes::of(node, &["mode", "pads", "value"])?;
        attributes.expect_text("mode", "constant")?;
        let pads = self.listed(node, 1, "pads")?.unwrap_or_default();
        let axes = self.listed(node, 3, "")?.map_or_else(|| (0..rank as i64).collect(), <[i64]>::to_vec);
        if pads.len() != 2 * axes.len() || pads.iter().any(|pad| !(0..=LARGEST).contains(pad)) {
            return Err(attributes.refuse("pads", pads).with_help("pads are 0 or more, two for each dimension"));
        }
        for (axis, (before, after)) in axes.iter().zip(pads.iter().zip(&pads[axes.len()..])) {
            if (*before, *after) != (0, 0) {
                let dimension = dimension(node, rank, *axis)?;
                part.from[dimension] -= before;
                part.extent[dimension] += before + after;
            }
        }
        let value =
            if node.inputs.get(2).is_some_and(|name| !name.is_empty()) { Some(self.operand(node, 2)?) } else { None };
        let element = self.network.tensors[part.input].element;
        let refused = |value: &dyn std::fmt::Display| {
            let fault = Fault::new(format!("Pad with the constant {value} is not read"));
            fault.with_help("the constant is 0, or a number that has an integer of the input")
        };
        let Some(of) = of else {
            let integer = value.map(|_| self.constant(node, 2)).transpose()?.map_or(Some(&[0][..]), |it| it.integers());
            let held = integer.filter(|integers| integers.len() == 1 && element.holds(integers[0]));
            part.outside = held.ok_or_else(|| refused(&node.inputs[2]))?[0];
            return Ok(part);
        };
        let real = match value {
            None => attributes.real("value", 0.0),
            Some(Value::Weights(weights)) if weights.integers.len() == 1 => {
                weights.centered()[0] as f32 * weights.scales[0]
            }
            Some(_) => self.real(node, 2)?,
        };
        part.outside = of.integer(real);
        if of.real(part.outside) == real { Ok(part) } else { Err(refused(&real)) }
    }

    fn resized(&self, node: &Node, view: &View, mut part: Move) -> Result<Move> {
        let known = ["coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value"];
        let attributes = Attributes::of(node, &[&known[..], &["mode", "nearest_mode"]].concat())?;
        attributes.expect_text("mode", "nearest")?;
        // Version 10 has no attributes of places, and no regions.
        if node.inputs.len() > 2 {
            let places = attributes.text(known[0], "half_pixel");
            let rounding = attributes.text("nearest_mode", "round_prefer_floor");
            if !NEAREST.contains(&(&places, &rounding)) {
                let help = NEAREST.iter().map(|(places, rounding)| format!("{places} with {rounding}")).join(", ");
                return Err(attributes.refuse(known[0], (places, rounding)).with_help(format!("{help} are read")));
            }
        }
        let scales = if node.inputs.len() > 2 { 2 } else { 1 };
        let has_sizes = node.inputs.get(3).is_some_and(|name| !name.is_empty());
        let factors: Vec<f64> = if has_sizes {
            let sizes = self.listed(node, 3, "")?.unwrap_or_default();
            sizes.iter().zip(&view.shape).map(|(size, extent)| *size as f64 / *extent as f64).collect()
        } else {
            self.constant(node, scales)?.reals().unwrap_or_default().iter().map(|scale| f64::from(*scale)).collect()
        };
        let is_read = |factor: &f64| factor.fract() == 0.0 && (1.0..=LARGEST as f64).contains(factor);
        if factors.len() != view.shape.len() || factors[0] != 1.0 || !factors.iter().all(is_read) {
            let message = format!("Resize by {factors:?} is not read");
            return Err(Fault::new(message).with_help("factors are integers, and that of the images is 1"));
        }
        for (axis, factor) in factors.iter().enumerate().skip(1) {
            part.copies[dimension(node, view.shape.len(), axis as i64)?] = *factor as i64;
        }
        Ok(part)
    }

    fn sliced(&self, node: &Node, rank: usize, mut part: Move) -> Result<Move> {
        Attributes::of(node, &[])?;
        let starts = self.listed(node, 1, "")?.unwrap_or_default();
        let ends = self.listed(node, 2, "")?.unwrap_or_default();
        let axes = self.listed(node, 3, "")?.map_or_else(|| (0..starts.len() as i64).collect(), <[i64]>::to_vec);
        let steps = self.listed(node, 4, "")?.map_or_else(|| vec![1; starts.len()], <[i64]>::to_vec);
        if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
            return Err(Fault::new(format!("Slice with {} starts and {} ends", starts.len(), ends.len())));
        }
        for (number, axis) in axes.iter().enumerate() {
            let dimension = dimension(node, rank, *axis)?;
            let (extent, step) = (part.extent[dimension], steps[number]);
            if !(1..=LARGEST).contains(&step) {
                let message = format!("Slice with the step {step} is not read");
                return Err(Fault::new(message).with_help("steps are 1 or more"));
            }
            let at = |place: i64| (if place < 0 { place + extent } else { place }).clamp(0, extent);
            let (first, end) = (at(starts[number]), at(ends[number]));
            if first >= end {
                return Err(Fault::new(format!("Slice from {first} to {end} of {extent} elements is empty")));
            }
            part.from[dimension] = first;
            part.step[dimension] = step;
            part.extent[dimension] = (end - first + step - 1) / step;
        }
        Ok(part)
    }

    fn split(&self, node: &Node, rank: usize, whole: &Move) -> Result<Vec<Move>> {
        let attributes = Attributes::of(node, &["axis", "num_outputs", "split"])?;
        let dimension = dimension(node, rank, attributes.integer("axis", 0))?;
        let (extent, count) = (whole.extent[dimension], node.outputs.len() as i64);
        attributes.expect("num_outputs", count)?;
        let each = (extent + count - 1) / count.max(1);
        let equal = || (0..count).map(|number| (extent - number * each).min(each)).collect();
        let sizes = self.listed(node, 1, "split")?.map_or_else(equal, <[i64]>::to_vec);
        let sum = sizes.iter().try_fold(0_i64, |sum, size| sum.checked_add(*size));
        if sizes.len() as i64 != count || sizes.iter().any(|size| *size < 1) || sum != Some(extent) {
            return Err(Fault::new(format!("Split of {extent} elements into {count} tensors of {sizes:?}")));
        }
        let firsts = sizes.iter().scan(0, |sum, size| Some(std::mem::replace(sum, *sum + size)));
        let part = |(first, size): (i64, &i64)| {
            let mut part = *whole;
            (part.from[dimension], part.extent[dimension]) = (first, *size);
            part
        };
        Ok(firsts.zip(&sizes).map(part).collect())
    }
}

fn transposed(node: &Node, rank: usize, whole: Move) -> Result<Move> {
    let attributes = Attributes::of(node, &["perm"])?;
    let order = attributes.integers("perm").map_or_else(|| (0..rank as i64).rev().collect(), <[i64]>::to_vec);
    if order.first() != Some(&0) || !order.iter().copied().sorted().eq(0..rank as i64) {
        return Err(attributes.refuse("perm", order).with_help("the first dimension, that of images, stays the first"));
    }
    let mut part = whole;
    for (axis, of_input) in order.iter().enumerate().skip(1) {
        let of_input = dimension(node, rank, *of_input)?;
        part.axes[DIMENSIONS[axis]] = of_input;
        part.extent[DIMENSIONS[axis]] = whole.extent[of_input];
    }
    Ok(part)
}

/// The dimension of a tensor for one of the file.
fn dimension(node: &Node, rank: usize, axis: i64) -> Result<usize> {
    let from_start = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    match usize::try_from(from_start) {
        Ok(axis @ 1..) if axis < rank => Ok(DIMENSIONS[axis]),
        _ => Err(Fault::new(format!("{} along dimension {axis} of {rank} is not read", node.operator))
            .with_help(format!("dimensions 1 to {} are read; the first, 0, is that of images", rank - 1))),
    }
}

/// The shape in the file of a tensor.
fn in_file([channels, width, height]: [i64; 3], rank: usize) -> Vec<i64> {
    if rank == 2 { vec![1, channels] } else { vec![1, channels, height, width] }
}
