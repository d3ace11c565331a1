//! From a network of integers to a program of loop nests, a nest for each step of a layer.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_images::Image;
use pushmem_nest::{ArrayKind, Checked, LoopBuilder, Policy, ProgramBuilder, Type};

use crate::addition::Addition;
use crate::lanes::Allocation;
use crate::network::{Convolution, Layer, LayerOperation, Network, Window};
use crate::requantization::{Requantization, Ties};

/// A loop: its variable, its iterations, and how many of them run at once.
type Loop<'a> = (&'a str, i64, i64);

/// The program of a network with these lanes, and the images of its inputs that are constants of the network.
///
/// # Errors
/// As [`ProgramBuilder::build`].
pub(crate) fn emitted(network: &Network, lanes: &Allocation) -> Result<(Checked, BTreeMap<String, Image>), Diagnostic> {
    let mut emitter = Emitter { network, lanes, program: ProgramBuilder::new(&network.name), images: BTreeMap::new() };
    emitter.program.set_schedule(Policy::Dnn);
    emitter.tensors();
    for (number, layer) in network.layers.iter().enumerate() {
        emitter.layer(number, layer);
    }
    Ok((emitter.program.build()?, emitter.images))
}

struct Emitter<'a> {
    network: &'a Network,
    lanes: &'a Allocation,
    program: ProgramBuilder,
    images: BTreeMap<String, Image>,
}

impl Emitter<'_> {
    /// Declares the arrays of tensors, and keeps those that come from outside.
    fn tensors(&mut self) {
        for (number, tensor) in self.network.tensors.iter().enumerate() {
            let kind = match number {
                number if self.network.inputs.contains(&number) => ArrayKind::Input,
                number if self.network.outputs.contains(&number) => ArrayKind::Output,
                _ => ArrayKind::Buffer,
            };
            self.program.add_array(kind, &tensor.name, tensor.element, &tensor.shape, &[]);
            if kind == ArrayKind::Input {
                let kept = self.kept(number);
                self.program.add_buffer(&kept, tensor.element, &tensor.shape);
                self.program.define_function(&kept, &["a"], "a");
                let (loops, pixel) = pixels(tensor.shape, self.lanes.keeping_up(tensor.shape));
                let operation = nest(&mut self.program, &loops).add_op(&kept).add_function(&kept);
                operation.add_load(&tensor.name, &pixel).add_store(&kept, &pixel);
            }
        }
    }

    /// The array in which a tensor is read.
    fn kept(&self, tensor: usize) -> String {
        let name = &self.network.tensors[tensor].name;
        if self.network.inputs.contains(&tensor) { format!("{name}_kept") } else { name.clone() }
    }

    fn layer(&mut self, number: usize, layer: &Layer) {
        let output = &self.network.tensors[layer.output];
        let (loops, pixel) = pixels(output.shape, self.lanes.keeping_up(output.shape));
        match &layer.operation {
            LayerOperation::Convolution(convolution) => {
                self.sums(number, layer, convolution);
                self.requantized(layer, &convolution.requantization);
            }
            LayerOperation::Mean { input, requantization, bias } => {
                let (sums, kept) = (format!("{}_sums", layer.name), self.kept(*input));
                self.program.add_buffer(&sums, Type::I32, &output.shape);
                let first = format!("{sums}_first");
                self.program.define_function(&first, &[], &bias.to_string());
                nest(&mut self.program, &loops).add_op(&first).add_function(&first).add_store(&sums, &pixel);
                let shape = self.network.tensors[*input].shape;
                let (loops, of_input) = pixels(shape, self.lanes.keeping_up(shape));
                self.program.define_function(&sums, &["a"], "(a as i32)");
                let operation = nest(&mut self.program, &loops).add_op(&sums).add_function(&sums);
                operation.add_load(&kept, &of_input).add_reduction(&sums, &pixel);
                self.requantized(layer, requantization);
            }
            LayerOperation::Maximum(window) => {
                let kept = self.kept(window.input);
                let taps = itertools::iproduct!(0..window.extent[1], 0..window.extent[0]).collect_vec();
                let names = (0..taps.len()).map(|tap| format!("a{tap}")).collect_vec();
                let greatest =
                    names.iter().cloned().reduce(|one, other| format!("max({one}, {other})")).unwrap_or_default();
                self.program.define_function(&layer.name, &names.iter().map(String::as_str).collect_vec(), &greatest);
                let operation = nest(&mut self.program, &loops).add_op(&layer.name).add_function(&layer.name);
                for (row, column) in taps {
                    let offsets = [column, row].map(|tap| tap.to_string());
                    let at = element(pixel[0], window, &pixel, [&offsets[0], &offsets[1]]);
                    load(operation, &kept, &at, window);
                }
                operation.add_store(&output.name, &pixel);
            }
            LayerOperation::Addition { operands, addition } => {
                let [one, other] = operands.map(|operand| self.kept(operand));
                let (values, body) = sum(addition, output.element, self.values());
                self.program.define_function_of_values(&layer.name, &["a", "b"], values, &body);
                let operation = nest(&mut self.program, &loops).add_op(&layer.name).add_function(&layer.name);
                operation.add_load(&one, &pixel).add_load(&other, &pixel).add_store(&output.name, &pixel);
            }
            LayerOperation::Function { input, results } => {
                let (table, kept) = (format!("{}_table", layer.name), self.kept(*input));
                self.program.add_table(&table, output.element, results);
                let least = self.network.tensors[*input].element.min();
                let body = if least == 0 { format!("{table}[a]") } else { format!("{table}[(a as i16) + {}]", -least) };
                self.program.define_function(&layer.name, &["a"], &body);
                let operation = nest(&mut self.program, &loops).add_op(&layer.name).add_function(&layer.name);
                operation.add_load(&kept, &pixel).add_store(&output.name, &pixel);
            }
        }
    }

    /// The sums of a convolution, which begin with its bias.
    fn sums(&mut self, number: usize, layer: &Layer, convolution: &Convolution) {
        let Convolution { window, groups, channels, weights: values, bias, .. } = convolution;
        let [of_input, ..] = self.network.tensors[window.input].shape;
        let shape @ [_, width, height] = self.network.tensors[layer.output].shape;
        let [sums, weights, first] = ["sums", "weights", "bias"].map(|part| format!("{}_{part}", layer.name));
        let kept = self.kept(window.input);
        let lanes = self.lanes.of_layer(number);
        let (within, of_group) = (of_input / groups, channels / groups);
        // Where each channel has a sum of its own, groups are channels.
        let is_depthwise = convolution.is_depthwise(of_input);
        let ((group, group_lanes), result_lanes) =
            if is_depthwise { (("k", lanes.results), 1) } else { (("g", 1), lanes.results) };
        let result = if is_depthwise { "q" } else { "k" };
        let [columns, rows] = window.extent;
        let extents = [("c", within), (result, of_group), (group, *groups), ("u", columns), ("v", rows)];
        // Loops of one iteration are left out, and so are dimensions of one element.
        let along = extents.iter().filter(|(_, extent)| *extent > 1).collect_vec();
        let along = if along.is_empty() { vec![&extents[0]] } else { along };
        let element_of_weights = [Type::I8, Type::U8, Type::I16]
            .into_iter()
            .find(|element| values.iter().all(|value| element.holds(*value)));
        let element_of_weights = element_of_weights.unwrap_or(Type::I32);
        let extents_of_weights = along.iter().map(|(_, extent)| *extent).collect_vec();
        self.program.add_input(&weights, element_of_weights, &extents_of_weights);
        let mut ordered = vec![0; values.len()];
        for (number, value) in values.iter().enumerate() {
            let number = number as i64;
            let (column, row, rest) = (number % columns, number / columns % rows, number / (columns * rows));
            let (channel, of_all) = (rest % within, rest / within);
            let (of_result, of_groups) = (of_all % of_group, of_all / of_group);
            let place =
                [(column, columns), (row, rows)].iter().rev().fold(0, |place, (index, extent)| place * extent + index);
            let place = [(channel, within), (of_result, of_group), (of_groups, *groups)]
                .iter()
                .rev()
                .fold(place, |place, (index, extent)| place * extent + index);
            ordered[place as usize] = *value;
        }
        self.constant(&weights, element_of_weights, &extents_of_weights, ordered);
        self.program.add_input(&first, Type::I32, &[*channels]);
        self.constant(&first, Type::I32, &[*channels], bias.clone());
        self.program.add_buffer(&sums, Type::I32, &shape);
        let (loops, pixel) = pixels(shape, lanes.results);
        self.program.define_function(&first, &["a"], "a");
        let operation = nest(&mut self.program, &loops).add_op(&first).add_function(&first);
        operation.add_load(&first, &pixel[..1]).add_store(&sums, &pixel);
        let loops = [
            ("v", rows, 1),
            ("u", columns, 1),
            ("y", height, 1),
            ("x", width, 1),
            (group, *groups, group_lanes),
            (result, of_group, result_lanes),
            ("c", within, lanes.terms),
        ];
        self.program.define_function(&sums, &["a", "b"], "(a as i32) * (b as i32)");
        let index = |name: &'static str, extent: i64| if extent > 1 { name } else { "0" };
        let [column, row] = [index("u", columns), index("v", rows)];
        let of_group_text = affine(&[(1, index(result, of_group)), (of_group, index(group, *groups))], 0);
        let channel = affine(&[(1, index("c", within)), (within, index(group, *groups))], 0);
        let operation = nest(&mut self.program, &loops).add_op(&sums).add_function(&sums);
        let of_weights = along.iter().map(|(name, extent)| index(name, *extent)).collect_vec();
        operation.add_load(&weights, &of_weights);
        load(operation, &kept, &element(&channel, window, &pixel, [column, row]), window);
        operation.add_reduction(&sums, &[&of_group_text, pixel[1], pixel[2]]);
    }

    /// The integers of sums.
    fn requantized(&mut self, layer: &Layer, requantization: &Requantization) {
        let output = &self.network.tensors[layer.output];
        let (loops, pixel) = pixels(output.shape, self.lanes.keeping_up(output.shape));
        let factor = |(number, factors): (usize, &Vec<i64>)| match factors.as_slice() {
            [one] => one.to_string(),
            _ => {
                let table = format!("{}_factor{number}", layer.name);
                self.program.add_table(&table, Type::I16, factors);
                format!("({table}[{}] as i32)", pixel[0])
            }
        };
        let factors = requantization.parts.iter().enumerate().map(factor).collect_vec();
        let (values, body) = rounded(requantization, &factors, output.element, self.values());
        self.program.define_function_of_values(&layer.name, &["a"], values, &body);
        let operation = nest(&mut self.program, &loops).add_op(&layer.name).add_function(&layer.name);
        operation.add_load(&format!("{}_sums", layer.name), &pixel).add_store(&output.name, &pixel);
    }

    /// Names for values of statements.
    fn values(&self) -> Values<impl Iterator<Item = String> + use<'_>> {
        // All other names have an underscore.
        let names = pushmem_nest::value_names(self.network.tensors.iter().map(|tensor| tensor.name.as_str()));
        Values { names, named: Vec::new() }
    }

    /// The image of an input that is a constant of the network.
    fn constant(&mut self, name: &str, element: Type, shape: &[i64], values: Vec<i64>) {
        let shape = shape.iter().map(|extent| *extent as usize).collect_vec();
        let element = element.element().expect("constants have elements of memories");
        let image = Image::from_values(element, &shape, values).expect("constants have as many values as their shape");
        self.images.insert(name.to_owned(), image);
    }
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

/// The indices of an element of a window, at a column and a row of it.
fn element(channel: &str, window: &Window, pixel: &[&str; 3], offsets: [&str; 2]) -> [String; 3] {
    let along = |axis: usize| {
        affine(&[(window.stride[axis], pixel[axis + 1]), (window.dilation[axis], offsets[axis])], -window.before[axis])
    };
    [channel.to_owned(), along(0), along(1)]
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

/// Adds a load of an element of a window.
fn load(operation: &mut pushmem_nest::OperationBuilder, array: &str, indices: &[String; 3], window: &Window) {
    let indices = indices.each_ref().map(String::as_str);
    match window.leaves() {
        true => operation.add_load_or(array, &indices, window.outside),
        false => operation.add_load(array, &indices),
    };
}

/// Values of a statement, each with a name.
struct Values<Names> {
    names: Names,
    named: Vec<(String, String)>,
}

impl<Names: Iterator<Item = String>> Values<Names> {
    /// Names a value.
    fn add(&mut self, value: String) -> String {
        let name = self.names.next().expect("there are more names than values");
        self.named.push((name.clone(), value));
        name
    }

    /// What is added to a product above an integer.
    fn tie(&mut self, ties: &Ties, integer: &str) -> String {
        let size = self.add(format!("max({integer}, -1 - {integer})"));
        let distance = ties.distances.iter().rev().fold(String::new(), |rest, (least, distance)| match rest.as_str() {
            "" => distance.to_string(),
            _ => format!("sel({size} >= {least}, {distance}, {rest})"),
        });
        // The type of numbers alone is that of what they are used with.
        let distance = self.add(format!("({distance}) as i32"));
        format!("sel(({integer} & 1) == 1, {distance} + 1, -{distance})")
    }
}

/// The integer of the sum `a`, in operators of nests: named values, and one of these.
fn rounded(
    requantization: &Requantization,
    factors: &[String],
    element: Type,
    mut values: Values<impl Iterator<Item = String>>,
) -> (Vec<(String, String)>, String) {
    let Requantization { ends, part_bits, range, zero_point, ties, .. } = requantization;
    let sum = values.add(format!("clamp(a, {}, {})", ends.0, ends.1));
    let products = factors.iter().map(|factor| values.add(format!("{sum} * {factor}"))).collect_vec();
    let shifted = |offsets: &[String]| {
        let last = products.len() - 1;
        products.iter().zip(offsets).enumerate().fold(String::new(), |carried, (number, (product, offset))| {
            let bits = if number == last { requantization.last_shift() } else { *part_bits };
            let terms = [product, offset, &carried].into_iter().filter(|term| !matches!(term.as_str(), "" | "0"));
            format!("(({}) >> {bits})", { terms }.join(" + "))
        })
    };
    let mut offsets = requantization.offsets().iter().map(i64::to_string).collect_vec();
    if let Some(ties) = ties {
        let below = values.add(shifted(&vec!["0".to_owned(); offsets.len()]));
        offsets[0] = format!("{} + {}", offsets[0], values.tie(ties, &below));
    }
    let body = format!("(clamp({}, {}, {}) + {zero_point}) as {}", shifted(&offsets), range.0, range.1, element.name());
    (values.named, body)
}

/// The sum of the integers `a` and `b`, in operators of nests: named values, and one of these.
fn sum(
    addition: &Addition,
    element: Type,
    mut values: Values<impl Iterator<Item = String>>,
) -> (Vec<(String, String)>, String) {
    let Addition { zero_points, factors, shift, ties, range, zero_point, exceptions } = addition;
    let [one, other] = [0, 1]
        .map(|number| format!("(({} as i32) - {}) * {}", ["a", "b"][number], zero_points[number], factors[number]));
    let sum = values.add(format!("{one} + {other}"));
    let tie = ties.as_ref().map_or_else(String::new, |ties| {
        let below = values.add(format!("{sum} >> {shift}"));
        format!(" + {}", values.tie(ties, &below))
    });
    let form = format!("(({sum} + {}{tie}) >> {shift}) + {zero_point}", addition.offset());
    let form = format!("clamp({form}, {}, {})", range.0, range.1);
    let result = exceptions
        .iter()
        .fold(form, |form, ([one, other], result)| format!("sel(a == {one} && b == {other}, {result}, {form})"));
    (values.named, format!("({result}) as {}", element.name()))
}
