//! Operators that sum products with constants.

use itertools::{Itertools, iproduct};
use pushmem_nest::Type;

use crate::fault::{Fault, Result};
use crate::multiplier::Multiplier;
use crate::network::{Convolution, LARGEST_EXTENT, LayerOperation, Operand, Quantization, Window};
use crate::requantization::{Rounding, Scaling};
use crate::tflite::recognize::{Recognizer, View};
use crate::tflite::schema::{Node, elements};

/// The ends of the result of a layer with a function behind it.
pub(crate) fn range(node: &Node, option: usize, of: Quantization) -> Result<(i64, i64)> {
    let (least, most) = of.ends();
    let integer = |real: f32| of.zero_point + ((real / of.scale).round() as i64).clamp(-LARGEST_EXTENT, LARGEST_EXTENT);
    match node.byte(option)? {
        0 => Ok((least, most)),
        1 => Ok((integer(0.0).max(least), most)),
        2 => Ok((integer(-1.0).max(least), integer(1.0).min(most))),
        3 => Ok((integer(0.0).max(least), integer(6.0).min(most))),
        other => {
            let fault = Fault::new(format!("{} with fused_activation_function = {other} is not read", node.operator));
            Err(fault.with_help("0 is none, 1 RELU, 2 RELU_N1_TO_1 and 3 RELU6"))
        }
    }
}

/// A window of this extent over an operand. The first option says what is around it, the next two are the steps from a window to the
/// next, and from this one on, if there is one, those within a window; columns first.
pub(crate) fn window(
    node: &Node,
    input: Operand,
    extent: [i64; 2],
    dilation: Option<usize>,
    outside: i64,
) -> Result<Window> {
    let pair = |first: usize, name: &str| -> Result<[i64; 2]> {
        let pair = [node.integer(first, 1)?, node.integer(first + 1, 1)?];
        let fault = || Fault::new(format!("{} with {name} = {pair:?} is not read", node.operator));
        pair.iter().all(|value| (1..=LARGEST_EXTENT).contains(value)).then_some(pair).ok_or_else(fault)
    };
    let stride = pair(1, "strides")?;
    let dilation = dilation.map_or(Ok([1, 1]), |first| pair(first, "dilations"))?;
    if extent.iter().any(|extent| !(1..=LARGEST_EXTENT).contains(extent)) || extent[0] * extent[1] > LARGEST_EXTENT {
        return Err(Fault::new(format!("{} with a window of {extent:?} is not read", node.operator)));
    }
    let window = Window { extent, stride, dilation, ..Window::whole(input, outside) };
    // The first kind of padding is SAME.
    let all = if node.byte(0) == Ok(0) { window.pads_of_same() } else { [0, 0] };
    let before = all.map(|pads| pads / 2);
    let after = [all[0] - before[0], all[1] - before[1]];
    Ok(Window { before, after, ..window })
}

/// The number of windows, with the channels of the result.
pub(crate) fn windows(window: &Window, channels: i64) -> Result<[i64; 3]> {
    let windows = window.windows()?;
    Ok([channels, windows[0], windows[1]])
}

impl Recognizer<'_> {
    /// A node `CONV_2D` or `DEPTHWISE_CONV_2D`.
    pub fn convolution(&mut self, node: &Node) -> Result<()> {
        let (View { operand, .. }, of) = self.image_of(node, 0)?;
        let weights = self.operand(node, 1)?;
        let is_depthwise = node.operator == "DEPTHWISE_CONV_2D";
        let (activation, axis) = if is_depthwise { (4, 3) } else { (3, 0) };
        // Rows, columns, and the outermost and the innermost dimension.
        let &[outer, rows, columns, inner] = weights.shape.as_slice() else {
            return Err(Fault::new(format!("weights of the shape {:?} are not read", weights.shape)));
        };
        let (channels, within) = if is_depthwise { (inner, outer) } else { (outer, inner) };
        let whole = operand.extent[0];
        if weights.shape.iter().any(|extent| *extent < 1) || whole % within != 0 || channels % (whole / within) != 0 {
            return Err(Fault::new(format!("weights of the shape {:?} for {whole} channels", weights.shape)));
        }
        let integers = weights.constant(elements::INT8)?;
        let place = |(channel, term, row, column): (i64, i64, i64, i64)| match is_depthwise {
            true => (row * columns + column) * channels + channel,
            false => ((channel * rows + row) * columns + column) * within + term,
        };
        let ordered = iproduct!(0..channels, 0..within, 0..rows, 0..columns).map(place);
        let ordered = ordered.map(|place| integers[place as usize]).collect();
        let name = self.operand(node, 0)?.short_name().to_owned();
        let window = window(node, operand, [columns, rows], Some(activation + 1), of.zero_point)?;
        self.summed(node, (window, of), (whole / within, channels), (ordered, axis), (activation, &name))
    }

    /// A node `FULLY_CONNECTED`: its window is the whole tensor.
    pub fn fully_connected(&mut self, node: &Node) -> Result<()> {
        let (View { operand, .. }, of) = self.view(node, 0)?;
        let weights = self.operand(node, 1)?;
        let [channels, width, height] = operand.extent;
        let &[results, terms] = weights.shape.as_slice() else {
            return Err(Fault::new(format!("weights of the shape {:?} are not read", weights.shape)));
        };
        if terms != channels * width * height || results < 1 || node.byte(1)? != 0 {
            let message = format!("a matrix of {results} by {terms} for {} elements", channels * width * height);
            return Err(Fault::new(message).with_help("one vector is multiplied, by weights in the default format"));
        }
        let integers = weights.constant(elements::INT8)?;
        let place = |(result, channel, row, column)| result * terms + (row * width + column) * channels + channel;
        let ordered = iproduct!(0..results, 0..channels, 0..height, 0..width).map(place);
        let ordered = ordered.map(|place| integers[place as usize]).collect();
        let window = Window::whole(operand, of.zero_point);
        self.summed(node, (window, of), (1, results), (ordered, 0), (0, ""))
    }

    /// The layer of sums of products, whose weights have scales along an axis.
    fn summed(
        &mut self,
        node: &Node,
        (mut window, of): (Window, Quantization),
        (groups, channels): (i64, i64),
        (ordered, axis): (Vec<i64>, i64),
        (activation, name): (usize, &str),
    ) -> Result<()> {
        let (weights, to) = (self.operand(node, 1)?, self.result(node, 0)?.quantization()?);
        let count = weights.scales.len() as i64;
        if ![1, channels].contains(&count) || (count > 1 && weights.axis != axis) {
            let message = format!("{count} scales along dimension {} for {channels} channels", weights.axis);
            return Err(Fault::new(message).with_help(format!("one for all, or one of each along dimension {axis}")));
        }
        let is_scale = |scale: &f32| scale.is_normal() && *scale > 0.0;
        if weights.zero_points.iter().any(|zero| *zero != 0) || !weights.scales.iter().all(is_scale) {
            let message =
                format!("weights of the zero points {:?} and scales {:?}", weights.zero_points, weights.scales);
            return Err(Fault::new(message).with_help("weights have the zero point 0 and scales above 0"));
        }
        let bias = match node.inputs.get(2) {
            Some(0..) => self.operand(node, 2)?.constant(elements::INT32)?,
            _ => vec![0; channels as usize],
        };
        if bias.len() as i64 != channels {
            return Err(Fault::new(format!("a bias of {} numbers for {channels} channels", bias.len())));
        }
        // A scale of all weights of a matrix is multiplied in 32 bits.
        let product = |scale: &f32| match node.operator.as_str() {
            "FULLY_CONNECTED" if count == 1 => f64::from(of.scale * scale),
            _ => f64::from(of.scale) * f64::from(*scale),
        };
        let scales = weights.scales.iter().map(|scale| Multiplier::of_real(product(scale) / f64::from(to.scale)));
        let scaling = Scaling::Fixed(scales.collect_vec());
        let rounding = Rounding { scaling, range: range(node, activation, to)?, zero_point: to.zero_point };
        if window.outside().is_some() {
            window.input = self.isolated(window.input, name)?;
        }
        let convolution = Convolution::of(window, groups, ordered, &bias, Type::I8, &rounding)?;
        let extent = windows(&convolution.window, channels)?;
        self.layer(node, extent, LayerOperation::Convolution(convolution))
    }

    /// A node `AVERAGE_POOL_2D`: sums of windows that are within the tensor.
    pub fn average(&mut self, node: &Node) -> Result<()> {
        let (View { operand, .. }, of, window) = self.pooled(node)?;
        let [columns, rows] = window.extent;
        if window.outside().is_some() {
            let fault = Fault::new(format!("{} with windows beyond the tensor is not read", node.operator));
            return Err(fault.with_help("the padding VALID, or windows that end with the tensor"));
        }
        let rounding =
            Rounding { scaling: Scaling::Quotient(columns * rows), range: range(node, 5, of)?, zero_point: 0 };
        let channels = operand.extent[0];
        let weights = vec![1; (channels * columns * rows) as usize];
        let convolution =
            Convolution::of(window, channels, weights, &vec![0; channels as usize], of.element, &rounding)?;
        self.layer(node, windows(&window, channels)?, LayerOperation::Convolution(convolution))
    }

    /// The window of a node over integers that stay what they are.
    pub fn pooled(&mut self, node: &Node) -> Result<(View, Quantization, Window)> {
        let (view, of) = self.image_of(node, 0)?;
        if self.result(node, 0)?.quantization()? != of {
            return Err(Fault::new(format!("{} to another quantization is not read", node.operator)));
        }
        let window = window(node, view.operand, [node.integer(3, 0)?, node.integer(4, 0)?], None, 0)?;
        Ok((view, of, window))
    }
}
