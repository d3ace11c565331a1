//! From a network of integers to a program of loop nests, a nest for each step of a layer.

use std::collections::{BTreeMap, BTreeSet};

use itertools::{Itertools, iproduct};
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_nest::{ArrayKind, Checked, LoopBuilder, OperationBuilder, Policy, ProgramBuilder, Type};

use crate::expressions::{Expression, Values, rounded, sum};
use crate::lanes::{Allocation, Lanes};
use crate::names::{IMAGE, Names};
use crate::network::{Convolution, Layer, LayerOperation, Move, Network, Operand, Tensor, Window};
use crate::requantization::Requantization;

/// A loop: its variable, its iterations, and how many of them run at once.
type Loop<'a> = (&'a str, i64, i64);

/// The program of a network with these lanes for so many images, and the images of its inputs that are constants of the network.
///
/// # Errors
/// As [`ProgramBuilder::build`].
pub(crate) fn emitted(
    network: &Network,
    lanes: &Allocation,
    batch: u32,
) -> Result<(Checked, BTreeMap<String, Image>), Diagnostic> {
    let (program, names) = (ProgramBuilder::new(&network.name), network.names.clone());
    let (kept, images) = (BTreeMap::new(), BTreeMap::new());
    let mut emitter = Emitter { network, lanes, batch: batch.into(), program, names, kept, images };
    emitter.program.set_schedule(Policy::Dnn);
    emitter.tensors();
    for (number, layer) in network.layers.iter().enumerate() {
        emitter.layer(number, layer);
    }
    if batch > 1 {
        let outer = network.inputs.iter().chain(&network.outputs).map(|tensor| network.tensors[*tensor].name.as_str());
        let outer: BTreeSet<&str> = outer.collect();
        emitter.program.repeat(IMAGE, batch.into(), |array| outer.contains(array));
    }
    Ok((emitter.program.build()?, emitter.images))
}

struct Emitter<'a> {
    network: &'a Network,
    lanes: &'a Allocation,
    /// Runs of the network.
    batch: i64,
    program: ProgramBuilder,
    names: Names,
    /// The arrays in which inputs are kept, by the number of the tensor.
    kept: BTreeMap<usize, String>,
    images: BTreeMap<String, Image>,
}

impl Emitter<'_> {
    /// Declares the arrays of tensors with their rows before the first run, and keeps those that come from outside.
    fn tensors(&mut self) {
        for (number, tensor) in self.network.tensors.iter().enumerate() {
            let kind = match number {
                number if self.network.inputs.contains(&number) => ArrayKind::Input,
                number if self.network.outputs.contains(&number) => ArrayKind::Output,
                _ => ArrayKind::Buffer,
            };
            let shape = if kind == ArrayKind::Input { tensor.shape } else { self.shape(tensor) };
            self.program.add_array(kind, &tensor.name, tensor.element, &shape, &[]);
            if kind == ArrayKind::Input {
                let kept = self.names.take(&format!("{}_kept", tensor.name));
                self.kept.insert(number, kept.clone());
                self.program.add_buffer(&kept, tensor.element, &self.shape(tensor));
            }
            if let Some(past) = tensor.past {
                let (shape, array) = ([tensor.shape[0], tensor.shape[1], past.rows], self.array(number));
                let (loops, pixel) = pixels(shape, self.lanes.keeping_up(shape));
                let name = self.names.take(&format!("{}_past", tensor.name));
                let operation = self.operation(&name, &loops, &[], Expression::of(past.initial.to_string()));
                operation.add_store(&array, &pixel);
            }
        }
        self.program.keep_once();
        for (number, kept) in self.kept.clone() {
            let tensor = &self.network.tensors[number];
            let (loops, pixel) = pixels(tensor.shape, self.lanes.keeping_up(tensor.shape));
            let to = self.pixel(&Operand::of(number, tensor.shape), &pixel);
            let operation = self.operation(&kept, &loops, &["a"], Expression::of("a"));
            operation.add_load(&tensor.name, &pixel).add_store(&kept, &texts(&to));
        }
    }

    /// The shape of the array of a tensor, which has the rows of all runs behind each other where those of earlier runs are read.
    fn shape(&self, tensor: &Tensor) -> [i64; 3] {
        let [channels, width, height] = tensor.shape;
        [channels, width, tensor.past.map_or(height, |past| past.rows + height * self.batch)]
    }

    /// The array in which a tensor is read.
    fn array(&self, tensor: usize) -> String {
        self.kept.get(&tensor).unwrap_or(&self.network.tensors[tensor].name).clone()
    }

    /// The indices of an element of an operand: of each dimension the loops, each with a factor, and a constant.
    fn indices(&self, operand: &Operand, of: [(&[(i64, &str)], i64); 3]) -> [String; 3] {
        let Tensor { shape, past, .. } = &self.network.tensors[operand.tensor];
        let index = |dimension: usize| {
            let (mut loops, first) = (of[dimension].0.to_vec(), of[dimension].1 + operand.from[dimension]);
            match past {
                Some(past) if dimension == 2 => {
                    loops.extend((self.batch > 1).then_some((shape[2], IMAGE)));
                    affine(&loops, first + past.rows)
                }
                _ => affine(&loops, first),
            }
        };
        [index(0), index(1), index(2)]
    }

    /// The indices of an element of an operand; a dimension of extent 1 has the same element everywhere.
    fn pixel(&self, operand: &Operand, pixel: &[&str; 3]) -> [String; 3] {
        let index = |dimension: usize| if operand.extent[dimension] > 1 { pixel[dimension] } else { "0" };
        let [channel, column, row] = [0, 1, 2].map(|dimension| [(1, index(dimension))]);
        self.indices(operand, [(&channel, 0), (&column, 0), (&row, 0)])
    }

    /// The indices of an element of a window, of a channel and at a column and a row of it.
    fn element(&self, window: &Window, channel: &str, pixel: &[&str; 3], offsets: [&str; 2]) -> [String; 3] {
        let along = |axis: usize| [(window.stride[axis], pixel[axis + 1]), (window.dilation[axis], offsets[axis])];
        let ([column, row], [left, above]) = ([along(0), along(1)], window.before);
        self.indices(&window.input, [(&[(1, channel)], 0), (&column, -left), (&row, -above)])
    }

    /// The output of a layer as an operand.
    fn output(&self, layer: &Layer) -> Operand {
        Operand::of(layer.output, self.network.tensors[layer.output].shape)
    }

    /// Adds an operation in nested loops, with a function of its own of these loads.
    fn operation(
        &mut self,
        name: &str,
        loops: &[Loop],
        loads: &[&str],
        Expression { values, body }: Expression,
    ) -> &mut OperationBuilder {
        self.program.define_function_of_values(name, loads, values, &body);
        nest(&mut self.program, loops).add_op(name).add_function(name)
    }

    fn layer(&mut self, number: usize, layer: &Layer) {
        let output = &self.network.tensors[layer.output];
        let (loops, pixel) = pixels(output.shape, self.lanes.keeping_up(output.shape));
        let to = self.pixel(&self.output(layer), &pixel);
        match &layer.operation {
            LayerOperation::Convolution(convolution) => {
                let sums = self.convolved(number, layer, convolution);
                self.requantized(layer, &sums, &convolution.requantization);
            }
            LayerOperation::Mean { input, requantization, bias } => {
                let (sums, array) = (self.sums(layer), self.array(input.tensor));
                let first = self.names.take(&format!("{sums}_first"));
                self.operation(&first, &loops, &[], Expression::of(bias.to_string())).add_store(&sums, &pixel);
                let (loops, of_input) = pixels(input.extent, self.lanes.keeping_up(input.extent));
                let of_input = self.pixel(input, &of_input);
                let operation = self.operation(&sums, &loops, &["a"], Expression::of("(a as i32)"));
                operation.add_load(&array, &texts(&of_input)).add_reduction(&sums, &pixel);
                self.requantized(layer, &sums, requantization);
            }
            LayerOperation::Maximum(window) => {
                let array = self.array(window.input.tensor);
                let taps = iproduct!(0..window.extent[1], 0..window.extent[0]).collect_vec();
                let names = (0..taps.len()).map(|tap| format!("a{tap}")).collect_vec();
                let loads = names.iter().map(String::as_str).collect_vec();
                let at = |(row, column): (i64, i64)| {
                    let offsets = [column, row].map(|tap| tap.to_string());
                    self.element(window, pixel[0], &pixel, [&offsets[0], &offsets[1]])
                };
                let places = taps.into_iter().map(at).collect_vec();
                let operation = self.operation(&layer.name, &loops, &loads, Expression::of(greatest(names.clone())));
                for at in places {
                    load(operation, &array, &at, window.outside());
                }
                operation.add_store(&output.name, &texts(&to));
            }
            LayerOperation::Addition { operands, addition } => {
                let sum = sum(addition, output.element, Values::new(&self.names));
                self.paired(&layer.name, *operands, (&output.name, &to), output.shape, sum);
            }
            LayerOperation::Product { operands, zero_points, requantization } => {
                let product = format!("((a as i32) - {}) * ((b as i32) - {})", zero_points[0], zero_points[1]);
                let sums = self.sums(layer);
                let to = pixel.map(str::to_owned);
                self.paired(&sums, *operands, (&sums, &to), output.shape, Expression::of(product));
                self.requantized(layer, &sums, requantization);
            }
            LayerOperation::Moves(moves) => moves.iter().for_each(|part| self.moved(layer, part)),
            LayerOperation::Function { input, results } => {
                let (table, array) = (self.names.take(&format!("{}_table", layer.name)), self.array(input.tensor));
                self.program.add_table(&table, output.element, results);
                let least = self.network.tensors[input.tensor].element.min();
                let body = if least == 0 { format!("{table}[a]") } else { format!("{table}[(a as i16) + {}]", -least) };
                let from = self.pixel(input, &pixel);
                let operation = self.operation(&layer.name, &loops, &["a"], Expression::of(body));
                operation.add_load(&array, &texts(&from)).add_store(&output.name, &texts(&to));
            }
        }
    }

    /// An operation of two operands, element by element, whose results of this shape an array gets.
    fn paired(
        &mut self,
        name: &str,
        operands: [Operand; 2],
        (array, to): (&str, &[String; 3]),
        shape: [i64; 3],
        number: Expression,
    ) {
        let (loops, pixel) = pixels(shape, self.lanes.keeping_up(shape));
        let [one, other] = operands.map(|input| (self.array(input.tensor), self.pixel(&input, &pixel)));
        let operation = self.operation(name, &loops, &["a", "b"], number);
        operation.add_load(&one.0, &texts(&one.1)).add_load(&other.0, &texts(&other.1)).add_store(array, &texts(to));
    }

    /// A copy of a part of a tensor.
    fn moved(&mut self, layer: &Layer, part: &Move) {
        let (loops, pixel) = pixels(part.extent, self.lanes.keeping_up(part.extent));
        let names = ["q", "u", "v"];
        let copy = |dimension: usize| (names[dimension], part.copies[dimension], 1);
        let loops = [loops[0], copy(2), loops[1], copy(1), loops[2], copy(0)];
        let (mut from, mut to) = ([[(0, "0")]; 3], [[(0, "0"); 2]; 3]);
        let mut first = [0; 3];
        for (dimension, copy) in names.into_iter().enumerate() {
            let copy = if part.copies[dimension] > 1 { copy } else { "0" };
            from[part.axes[dimension]] = [(part.step[dimension], pixel[dimension])];
            first[part.axes[dimension]] = part.from[dimension];
            to[dimension] = [(part.copies[dimension], pixel[dimension]), (1, copy)];
        }
        let of_input = Operand::of(part.input, self.network.tensors[part.input].shape);
        let from = self.indices(&of_input, [0, 1, 2].map(|dimension| (&from[dimension][..], first[dimension])));
        let to = [0, 1, 2].map(|dimension| (&to[dimension][..], part.to[dimension]));
        let to = self.indices(&self.output(layer), to);
        let (array, output) = (self.array(part.input), self.network.tensors[layer.output].name.clone());
        let name = self.names.take(&format!("{}_move", layer.name));
        let operation = self.operation(&name, &loops, &["a"], Expression::of("a"));
        load(operation, &array, &from, part.outside);
        operation.add_store(&output, &texts(&to));
    }

    /// The sums of a convolution, which begin with its bias: the array that they are in.
    fn convolved(&mut self, number: usize, layer: &Layer, convolution: &Convolution) -> String {
        let Convolution { window, channels, bias, .. } = convolution;
        let shape = self.network.tensors[layer.output].shape;
        let axes = Axes::of(convolution);
        let lanes = self.lanes.of_layer(number);
        let weights = self.weights(layer, &axes, &convolution.weights);
        let first = self.constant(&layer.name, "bias", Type::I32, &[*channels], bias.clone());
        let sums = self.sums(layer);
        let (loops, pixel) = pixels(shape, lanes.results);
        let operation = self.operation(&first, &loops, &["a"], Expression::of("a"));
        operation.add_load(&first, &pixel[..1]).add_store(&sums, &pixel);
        let offsets = [axes.column.index(), axes.row.index()];
        let at = self.element(window, &axes.channel_of_input(), &pixel, offsets);
        let array = self.array(window.input.tensor);
        let product = Expression::of("(a as i32) * (b as i32)");
        let operation = self.operation(&sums, &axes.loops(shape, lanes), &["a", "b"], product);
        operation.add_load(&weights, &axes.of_weights().iter().map(Axis::index).collect_vec());
        load(operation, &array, &at, window.outside());
        operation.add_reduction(&sums, &[&axes.channel_of_result(), pixel[1], pixel[2]]);
        sums
    }

    /// Declares the weights of a convolution: a loop over the taps of the window outside, and one over the channels inside.
    fn weights(&mut self, layer: &Layer, axes: &Axes, values: &[i64]) -> String {
        let elements = [Type::I8, Type::U8, Type::I16];
        let holding = elements.into_iter().find(|element| values.iter().all(|value| element.holds(*value)));
        let taps = (axes.column.extent * axes.row.extent) as usize;
        let ordered = (0..taps).flat_map(|tap| values.iter().skip(tap).step_by(taps)).copied().collect();
        let extents = axes.of_weights().iter().map(|axis| axis.extent).collect_vec();
        self.constant(&layer.name, "weights", holding.unwrap_or(Type::I32), &extents, ordered)
    }

    /// Declares the array of the sums of a layer.
    fn sums(&mut self, layer: &Layer) -> String {
        let sums = self.names.take(&format!("{}_sums", layer.name));
        self.program.add_buffer(&sums, Type::I32, &self.network.tensors[layer.output].shape);
        sums
    }

    /// The integers of sums.
    fn requantized(&mut self, layer: &Layer, sums: &str, requantization: &Requantization) {
        let output = &self.network.tensors[layer.output];
        let (loops, pixel) = pixels(output.shape, self.lanes.keeping_up(output.shape));
        let mut of_channel = |name: String, numbers: &[i64]| match numbers {
            [one] => one.to_string(),
            _ => {
                let table = self.names.take(&format!("{}_{name}", layer.name));
                self.program.add_table(&table, Type::I16, numbers);
                format!("({table}[{}] as i32)", pixel[0])
            }
        };
        let away = &requantization.away;
        let away = (!away.is_empty()).then(|| of_channel("away".to_owned(), away));
        let factor = |(number, factors): (usize, &Vec<i64>)| of_channel(format!("factor{number}"), factors);
        let factors = requantization.parts.iter().enumerate().map(factor).collect_vec();
        let rounded = rounded(requantization, &factors, away.as_deref(), output.element, Values::new(&self.names));
        let to = self.pixel(&self.output(layer), &pixel);
        let operation = self.operation(&layer.name, &loops, &["a"], rounded);
        operation.add_load(sums, &pixel).add_store(&output.name, &texts(&to));
    }

    /// Declares an input that is a constant of the network, and keeps its image: the name of the array.
    fn constant(&mut self, layer: &str, part: &str, element: Type, shape: &[i64], values: Vec<i64>) -> String {
        let name = self.names.take(&format!("{layer}_{part}"));
        self.program.add_input(&name, element, shape);
        let shape = shape.iter().map(|extent| *extent as usize).collect_vec();
        let element = element.element().expect("constants have elements of memories");
        let image = Image::from_values(element, &shape, values).expect("constants have as many values as their shape");
        self.images.insert(name.clone(), image);
        name
    }
}

/// A loop of a sum of products, and a dimension of its weights.
#[derive(Clone, Copy)]
struct Axis {
    variable: &'static str,
    extent: i64,
}

impl Axis {
    /// Its index: a loop of one iteration is left out.
    fn index(&self) -> &'static str {
        if self.extent > 1 { self.variable } else { "0" }
    }
}

/// The loops of a sum of products beside those of pixels.
struct Axes {
    /// Channels of the input, within a group.
    channel: Axis,
    /// Channels of the result, within a group.
    result: Axis,
    group: Axis,
    column: Axis,
    row: Axis,
}

impl Axes {
    fn of(convolution: &Convolution) -> Axes {
        // Where each channel has a sum of its own, groups are channels.
        let [result, group] = if convolution.is_depthwise() { ["q", "k"] } else { ["k", "g"] };
        let axis = |variable: &'static str, extent: i64| Axis { variable, extent };
        let Convolution { groups, window, .. } = convolution;
        Axes {
            channel: axis("c", window.input.extent[0] / groups),
            result: axis(result, convolution.channels / groups),
            group: axis(group, *groups),
            column: axis("u", window.extent[0]),
            row: axis("v", window.extent[1]),
        }
    }

    /// The dimensions of weights, without those of one element.
    fn of_weights(&self) -> Vec<Axis> {
        let all = [self.channel, self.result, self.group, self.column, self.row];
        let several = all.into_iter().filter(|axis| axis.extent > 1).collect_vec();
        if several.is_empty() { vec![self.channel] } else { several }
    }

    /// All loops, for a result of this shape.
    fn loops(&self, [_, width, height]: [i64; 3], lanes: Lanes) -> [Loop<'static>; 7] {
        let of = |axis: Axis, lanes: i64| (axis.variable, axis.extent, lanes);
        let [of_group, of_result] = if self.group.variable == "k" { [lanes.results, 1] } else { [1, lanes.results] };
        let pixels = [("y", height, 1), ("x", width, 1)];
        let [row, column] = [of(self.row, 1), of(self.column, 1)];
        let channels = [of(self.group, of_group), of(self.result, of_result), of(self.channel, lanes.terms)];
        [row, column, pixels[0], pixels[1], channels[0], channels[1], channels[2]]
    }

    /// The channel of the result.
    fn channel_of_result(&self) -> String {
        affine(&[(1, self.result.index()), (self.result.extent, self.group.index())], 0)
    }

    /// The channel of the input.
    fn channel_of_input(&self) -> String {
        affine(&[(1, self.channel.index()), (self.channel.extent, self.group.index())], 0)
    }
}

/// The greatest of these values, with as few operators one within the other as there can be.
fn greatest(mut values: Vec<String>) -> String {
    while values.len() > 1 {
        let pair = |pair: &[String]| match pair {
            [one, other] => format!("max({one}, {other})"),
            rest => rest.concat(),
        };
        values = values.chunks(2).map(pair).collect();
    }
    values.concat()
}

/// Adds nested loops, without those of one iteration, and gives the innermost.
fn nest<'a>(program: &'a mut ProgramBuilder, loops: &[Loop]) -> &'a mut LoopBuilder {
    let several = loops.iter().filter(|(_, extent, _)| *extent > 1).collect_vec();
    let (first, rest) = several.split_first().map_or((&loops[0], [].as_slice()), |(first, rest)| (*first, rest));
    let unrolled = |at: &mut LoopBuilder, lanes: i64| {
        if lanes > 1 {
            at.unroll(lanes);
        }
    };
    let mut at = program.add_loop(first.0, 0, first.1);
    unrolled(at, first.2);
    for (variable, extent, lanes) in rest {
        at = at.add_loop(variable, 0, *extent);
        unrolled(at, *lanes);
    }
    at
}

/// The loops over all elements of a tensor, so many channels at once, and the indices of an element.
fn pixels([channels, width, height]: [i64; 3], lanes: i64) -> ([Loop<'static>; 3], [&'static str; 3]) {
    let index = |name: &'static str, extent: i64| if extent > 1 { name } else { "0" };
    (
        [("y", height, 1), ("x", width, 1), ("k", channels, lanes)],
        [index("k", channels), index("x", width), index("y", height)],
    )
}

/// Indices as an operation takes them.
fn texts(indices: &[String; 3]) -> [&str; 3] {
    indices.each_ref().map(String::as_str)
}

/// A sum of products of numbers with variables, or with numbers.
fn affine(terms: &[(i64, &str)], constant: i64) -> String {
    let number = |text: &str| text.parse::<i64>().ok();
    let constant: i64 = constant + terms.iter().filter_map(|(factor, text)| Some(factor * number(text)?)).sum::<i64>();
    let variables = terms.iter().filter(|(_, text)| number(text).is_none());
    let variables = variables
        .map(|(factor, text)| if *factor == 1 { (*text).to_owned() } else { format!("{factor} * {text}") })
        .join(" + ");
    match (variables.is_empty(), constant) {
        (true, _) => constant.to_string(),
        (false, 0) => variables,
        (false, 1..) => format!("{variables} + {constant}"),
        (false, _) => format!("{variables} - {}", -constant),
    }
}

/// Adds a load of an element, which may be this one outside of the array.
fn load(operation: &mut OperationBuilder, array: &str, indices: &[String; 3], outside: Option<i64>) {
    let indices = texts(indices);
    match outside {
        Some(outside) => operation.add_load_or(array, &indices, outside),
        None => operation.add_load(array, &indices),
    };
}
