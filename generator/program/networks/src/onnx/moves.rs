//! Nodes that move elements: parts of tensors, tensors that are joined, other orders, borders, and repeated elements.

use itertools::Itertools;

use crate::fault::{Fault, Result};
use crate::network::{LARGEST_EXTENT, LayerOperation, Move, Operand, Quantization};
use crate::onnx::attributes::Attributes;
use crate::onnx::constant::{Constant, Values};
use crate::onnx::model::Node;
use crate::onnx::nodes::of_each;
use crate::onnx::recognize::{Recognizer, natural};
use crate::onnx::values::{ALL, Operation, Pending, Value, View};

/// Operators of one tensor that move its elements.
pub(crate) const OF_ONE: [&str; 5] = ["Pad", "Resize", "Slice", "Split", "Transpose"];

/// The dimension of tensors for each dimension of an image of the file: channels, rows, and columns.
const DIMENSIONS: [usize; 4] = [0, 0, 2, 1];

impl Recognizer {
    /// Reads a node that moves elements of one tensor, to one result or several.
    pub fn moved(&mut self, node: &Node) -> Result<()> {
        let (view, of) = self.held(node)?;
        let (rank, whole) = (view.shape.len(), Move::of(Operand::of(view.tensor, self.extents(&view, node)?)));
        let moves = match node.operator.as_str() {
            "Pad" => vec![self.padded(node, rank, whole, of)?],
            "Resize" => vec![self.resized(node, &view, whole)?],
            "Slice" => vec![self.sliced(node, rank, whole)?],
            "Split" => self.split(node, rank, &whole)?,
            _ => vec![transposed(node, rank, whole)?],
        };
        for (name, part) in node.outputs.iter().zip(moves) {
            let mut view = view.clone();
            if part != whole {
                let extents = [0, 1, 2].map(|dimension| part.extent[dimension] * part.copies[dimension]);
                let (element, layer) = (self.tensor_of(&view).element, LayerOperation::Moves(vec![part]));
                view = self.added(name, element, (extents, layer), in_file(extents, rank))?;
            }
            self.give(name, if let Some(of) = of { Value::Reals(view, of) } else { Value::Integers(view) })?;
        }
        Ok(())
    }

    /// Tensors that are joined along a dimension.
    pub fn joined(&self, node: &Node, parts: &[(&View, Quantization)]) -> Result<Pending> {
        let Some((first, _)) = parts.first() else { return Err(Fault::new("Concat of no tensors")) };
        let rank = first.shape.len();
        let mut extents = self.extents(first, node)?;
        let axis = Attributes::of(node, &["axis"])?.integer("axis", 0);
        let dimension = dimension(node, rank, axis)?;
        for (view, _) in &parts[1..] {
            let own = self.extents(view, node)?;
            if view.shape.len() != rank || (0..3).any(|other| other != dimension && own[other] != extents[other]) {
                return Err(Fault::new(format!("operands of the shapes {:?} and {:?}", first.shape, view.shape)));
            }
            extents[dimension] += own[dimension];
        }
        let parts = parts.iter().map(|(view, of)| (view.tensor, *of)).collect();
        Ok(Pending { operation: Operation::Join(parts, dimension), shape: in_file(extents, rank), ends: ALL })
    }

    /// The layer that joins tensors, once their integers are those of the result, between ends.
    pub fn join(
        &mut self,
        (parts, dimension): (Vec<(usize, Quantization)>, usize),
        (to, ends): (Quantization, (f32, f32)),
        name: &str,
    ) -> Result<([i64; 3], LayerOperation)> {
        let (mut moves, mut end) = (Vec::new(), 0);
        for (number, (input, of)) in parts.into_iter().enumerate() {
            let shape = self.built.network.tensors[input].shape;
            let mut part = Move::of(Operand::of(input, shape));
            if of != to || ends != ALL {
                let pending = of_each(&View { tensor: input, shape: in_file(shape, 4) }, of, &|real| real);
                let pending = Value::Pending(Pending { ends, ..pending });
                part.input = self.quantized(pending, to, &format!("{name}_{number}"))?.tensor;
            }
            part.to[dimension] = end;
            end += shape[dimension];
            moves.push(part);
        }
        let mut extents = moves[0].extent;
        extents[dimension] = end;
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
        if !is_given(node, number) {
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
        if pads.len() != 2 * axes.len() || pads.iter().any(|pad| !(0..=LARGEST_EXTENT).contains(pad)) {
            return Err(attributes.refuse("pads", pads).with_help("pads are 0 or more, two for each dimension"));
        }
        for (axis, (before, after)) in axes.iter().zip(pads.iter().zip(&pads[axes.len()..])) {
            if (*before, *after) != (0, 0) {
                let dimension = dimension(node, rank, *axis)?;
                part.from[dimension] -= before;
                part.extent[dimension] += before + after;
            }
        }
        // Integers without a scale stand for themselves.
        let element = self.built.network.tensors[part.input].element;
        let of = of.unwrap_or(Quantization { element, scale: 1.0, zero_point: 0 });
        let real = match self.operand(node, 2) {
            _ if !is_given(node, 2) => attributes.real("value", 0.0),
            Ok(Value::Weights(own)) if own.integers.len() == 1 => own.centered()[0] as f32 * own.scales[0],
            Ok(Value::Constant(Constant { values: Values::Integers(own), .. })) if own.len() == 1 => own[0] as f32,
            _ => self.real(node, 2)?,
        };
        part.outside = Some(of.integer(real));
        if part.outside.map(|integer| of.real(integer)) != Some(real) {
            let fault = Fault::new(format!("Pad with the constant {real} is not read"));
            return Err(fault.with_help("the constant is 0, or a number that has an integer of the input"));
        }
        Ok(part)
    }

    fn resized(&self, node: &Node, view: &View, mut part: Move) -> Result<Move> {
        let known = ["coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value"];
        let attributes = Attributes::of(node, &[&known[..], &["mode", "nearest_mode"]].concat())?;
        attributes.expect_text("mode", "nearest")?;
        // Version 10 has no attributes of places, and no regions.
        if node.inputs.len() > 2 {
            let places = attributes.text(known[0], "half_pixel");
            let rounding = attributes.text("nearest_mode", "round_prefer_floor");
            let is_half = places.ends_with("half_pixel") && rounding.starts_with("round_prefer");
            if !is_half && (places.as_str(), rounding.as_str()) != ("asymmetric", "floor") {
                let help = "`half_pixel` with `round_prefer_floor` and `asymmetric` with `floor` are read";
                return Err(attributes.refuse(known[0], (places, rounding)).with_help(help));
            }
        }
        let factors: Vec<f64> = match self.listed(node, 3, "")? {
            Some(sizes) => sizes.iter().zip(&view.shape).map(|(size, extent)| *size as f64 / *extent as f64).collect(),
            None => {
                let scales = self.constant(node, node.inputs.len().min(3) - 1)?.reals().unwrap_or_default();
                scales.iter().map(|scale| f64::from(*scale)).collect()
            }
        };
        let is_read = |factor: &f64| factor.fract() == 0.0 && (1.0..=LARGEST_EXTENT as f64).contains(factor);
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
            if !(1..=LARGEST_EXTENT).contains(&step) {
                return Err(
                    Fault::new(format!("Slice with the step {step} is not read")).with_help("steps are 1 or more")
                );
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
        let fits = sizes.iter().all(|size| (1..=extent).contains(size)) && sizes.iter().sum::<i64>() == extent;
        if sizes.len() as i64 != count || !fits {
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

/// Whether a node has an optional operand.
fn is_given(node: &Node, number: usize) -> bool {
    node.inputs.get(number).is_some_and(|name| !name.is_empty())
}

/// The shape in the file of a tensor.
fn in_file([channels, width, height]: [i64; 3], rank: usize) -> Vec<i64> {
    if rank == 2 { vec![1, channels] } else { vec![1, channels, height, width] }
}
