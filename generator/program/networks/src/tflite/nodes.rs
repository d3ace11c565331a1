//! Operators that sum no products with constants.

use itertools::Itertools;

use crate::addition::Sum;
use crate::fault::{Fault, Result};
use crate::multiplier::Multiplier;
use crate::network::{LARGEST_WINDOW, LayerOperation, Operand, Quantization, integers};
use crate::requantization::{Rounding, Scaling};
use crate::tflite::functions::Limited;
use crate::tflite::products::{range, windows};
use crate::tflite::recognize::{Recognizer, View};
use crate::tflite::schema::{Node, elements};

/// The bits by which operands of a sum are shifted to the left before they are multiplied.
const LEFT_SHIFT: i64 = 20;

/// The number by which integers of a scale are multiplied to become those of another one.
fn ratio(from: Quantization, to: Quantization) -> Multiplier {
    Multiplier::of_real(f64::from(from.scale) / f64::from(to.scale))
}

impl Recognizer<'_> {
    /// The greatest element of each window.
    pub fn maximum(&mut self, node: &Node) -> Result<()> {
        let (View { operand, .. }, of, mut window) = self.pooled(node)?;
        let [columns, rows] = window.extent;
        if columns * rows > LARGEST_WINDOW || range(node, 5, of)? != of.ends() {
            let fault = Fault::new(format!("{} with a window of {rows} by {columns} is not read", node.operator));
            return Err(fault.with_help("at most 256 elements, and no function behind it"));
        }
        window.outside = of.element.min();
        if window.outside().is_some() {
            let name = self.operand(node, 0)?.short_name().to_owned();
            window.input = self.isolated(window.input, &name)?;
        }
        self.layer(node, windows(&window, operand.extent[0])?, LayerOperation::Maximum(window))
    }

    /// The means of all pixels.
    pub fn mean(&mut self, node: &Node) -> Result<()> {
        let (View { operand, shape }, of) = self.image_of(node, 0)?;
        let axes = self.operand(node, 1)?.constant(elements::INT32)?;
        let rank = shape.len() as i64;
        let axes = axes.iter().map(|axis| if *axis < 0 { axis + rank } else { *axis }).sorted().collect_vec();
        if !axes.iter().copied().eq(1..rank - 1) {
            let fault = Fault::new(format!("MEAN along the dimensions {axes:?} of {rank} is not read"));
            return Err(fault.with_help("a mean is that of all rows and columns"));
        }
        let to = self.result(node, 0)?.quantization()?;
        let [channels, width, height] = operand.extent;
        let scaling = Scaling::Fixed(vec![ratio(of, to).shared(width * height)]);
        let rounding = Rounding { scaling, range: to.ends(), zero_point: to.zero_point };
        self.layer(node, [channels, 1, 1], LayerOperation::mean(operand, of, &rounding)?)
    }

    /// Two operands, with the extents of their result: one of extent 1 along a dimension has the same element everywhere.
    fn pair(&mut self, node: &Node) -> Result<([Operand; 2], [Quantization; 2], [i64; 3])> {
        let ((one, of_one), (other, of_other)) = (self.image_of(node, 0)?, self.image_of(node, 1)?);
        let extents = [one.operand.extent, other.operand.extent];
        let fits = |dimension: &usize| {
            let [one, other] = extents.map(|extent| extent[*dimension]);
            one == other || one.min(other) == 1
        };
        if one.shape.len() != other.shape.len() || !(0..3).all(|dimension| fits(&dimension)) {
            return Err(Fault::new(format!("operands of the shapes {:?} and {:?}", one.shape, other.shape)));
        }
        let extent = [0, 1, 2].map(|dimension: usize| extents[0][dimension].max(extents[1][dimension]));
        Ok(([one.operand, other.operand], [of_one, of_other], extent))
    }

    /// A node `ADD` or `SUB`.
    pub fn sum(&mut self, node: &Node) -> Result<()> {
        let (operands, of, extent) = self.pair(node)?;
        let to = self.result(node, 0)?.quantization()?;
        let range = range(node, 0, to)?;
        let sign = if node.operator == "SUB" { -1 } else { 1 };
        // Operands become parts of twice the greater scale, and their sum is one of the result.
        let twice = 2.0 * f64::from(of[0].scale.max(of[1].scale));
        let parts = of.map(|of| Multiplier::of_real(f64::from(of.scale) / twice));
        let all = Multiplier::of_real(twice / (f64::from(1 << LEFT_SHIFT) * f64::from(to.scale)));
        if !all.takes(1 << 30) {
            return Err(Fault::new(format!("{} of scales far above that of the result", node.operator)));
        }
        let function = |integers: [i64; 2]| {
            let part = |number: usize| parts[number].of((integers[number] - of[number].zero_point) << LEFT_SHIFT);
            (all.of(part(0) + sign * part(1)) + to.zero_point).clamp(range.0, range.1)
        };
        let ratios = of.map(|of| f64::from(of.scale) / f64::from(to.scale));
        let sum = Sum {
            elements: of.map(|of| of.element),
            zero_points: of.map(|of| of.zero_point),
            ratios: [ratios[0], sign as f64 * ratios[1]],
            is_double: operands[0] == operands[1],
            range,
            zero_point: to.zero_point,
            first_zero_point: 0,
        };
        let addition = sum.in_integers(function)?;
        self.layer(node, extent, LayerOperation::Addition { operands, addition })
    }

    /// A node `MUL`.
    pub fn product(&mut self, node: &Node) -> Result<()> {
        let (operands, of, extent) = self.pair(node)?;
        let to = self.result(node, 0)?.quantization()?;
        let scale = f64::from(of[0].scale) * f64::from(of[1].scale) / f64::from(to.scale);
        let scaling = Scaling::Fixed(vec![Multiplier::of_real(scale)]);
        let rounding = Rounding { scaling, range: range(node, 0, to)?, zero_point: to.zero_point };
        let operands = [(operands[0], of[0]), (operands[1], of[1])];
        self.layer(node, extent, LayerOperation::product(operands, &rounding)?)
    }

    /// A function of each element.
    pub fn function(&mut self, node: &Node) -> Result<()> {
        let (View { operand, .. }, of) = self.image_of(node, 0)?;
        let to = self.result(node, 0)?.quantization()?;
        let limited = |function: Limited, scale: f32, zero_point: i64| {
            if (to.scale, to.zero_point) != (scale, zero_point) {
                let message =
                    format!("{} to the scale {} and the zero point {}", node.operator, to.scale, to.zero_point);
                return Err(Fault::new(message)
                    .with_help(format!("it gives int8 of the scale {scale} and the zero point {zero_point}")));
            }
            Ok(integers(of.element).map(|integer| function.of(integer - of.zero_point, of.scale)).collect_vec())
        };
        let rescaled = |below: Multiplier, (least, most): (i64, i64)| {
            if ![below, ratio(of, to)].iter().all(|multiplier| multiplier.takes(1 << 8)) {
                return Err(Fault::new(format!("{} of a scale far above that of the result", node.operator)));
            }
            let result = |integer: i64| {
                let multiplier = if integer < of.zero_point { below } else { ratio(of, to) };
                (multiplier.of(integer - of.zero_point) + to.zero_point).clamp(least, most)
            };
            Ok(integers(of.element).map(result).collect_vec())
        };
        let whole = to.ends();
        let results = match node.operator.as_str() {
            "LOGISTIC" => limited(Limited::Logistic, 1.0 / 256.0, -128)?,
            "TANH" => limited(Limited::Tangent, 1.0 / 128.0, 0)?,
            "RELU" => rescaled(ratio(of, to), (to.zero_point, whole.1))?,
            "RELU6" if of == to => {
                let six = (6.0 / of.scale).round() as i64;
                rescaled(ratio(of, to), (of.zero_point, six.saturating_add(of.zero_point).min(whole.1)))?
            }
            "RELU6" => return Err(Fault::new("RELU6 to another quantization is not read")),
            "LEAKY_RELU" => {
                let alpha = node.options.map_or(Ok(0.0), |options| options.real(0))?;
                if alpha.is_nan() || alpha < 0.0 {
                    return Err(Fault::new(format!("LEAKY_RELU with alpha = {alpha} is not read"))
                        .with_help("it is not below 0"));
                }
                rescaled(Multiplier::of_real(f64::from(of.scale) * f64::from(alpha) / f64::from(to.scale)), whole)?
            }
            _ => rescaled(ratio(of, to), whole)?,
        };
        self.layer(node, operand.extent, LayerOperation::Function { input: operand, results })
    }
}
