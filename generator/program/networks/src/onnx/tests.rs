//! Files that are read, and files that are refused.

use itertools::Itertools;
use proptest::prelude::*;
use prost::Message;
use pushmem_images::{Element, Image};
use pushmem_nest::ArrayKind;

use crate::onnx::model::{Attribute, Dimension, Graph, Model, Node, Tensor};
use crate::{Choices, import};

/// A network with all kinds of layers, as onnxruntime quantized it.
const RESIDUAL: &[u8] = include_bytes!("../../../../../apps/networks/residual.onnx");

/// What onnxruntime 1.32 gives for [`image`].
const SCORES: [i64; 10] = [-15, 28, 35, -114, -61, 22, 95, 52, -16, 85];

fn image() -> Image {
    let values = (0..3 * 16 * 16).map(|place| (place * 89 + place * place % 61) % 256 - 128);
    Image::from_values(Element::I8, &[3, 16, 16], values).unwrap()
}

/// So many multipliers, and one image.
fn with(multipliers: u64) -> Choices {
    Choices { multipliers, ..Choices::default() }
}

/// The scores of an image, for so many multipliers.
fn scores(bytes: &[u8], multipliers: u64) -> Vec<i64> {
    let imported = import("residual.onnx", bytes, with(multipliers)).unwrap();
    let mut inputs = imported.constants;
    inputs.insert("image".to_owned(), image());
    imported.checked.program.run(&inputs).unwrap()["scores"].values().to_vec()
}

#[test]
fn words_are_those_of_onnxruntime() {
    for multipliers in [1, 32, 10_000] {
        assert_eq!(scores(RESIDUAL, multipliers), SCORES, "{multipliers}");
    }
}

#[test]
fn images_of_a_batch_have_their_own_words() {
    let imported = import("residual.onnx", RESIDUAL, Choices { batch: 3, ..Choices::default() }).unwrap();
    let mut inputs = imported.constants;
    let other = vec![5; 3 * 16 * 16];
    let images = [image().values().to_vec(), other, image().values().to_vec()].concat();
    inputs.insert("image".to_owned(), Image::from_values(Element::I8, &[3, 16, 16, 3], images).unwrap());
    let outputs = imported.checked.program.run(&inputs).unwrap();
    let scores = outputs["scores"].values().to_vec();
    let [first, second, third] = [0, 1, 2].map(|number| &scores[10 * number..10 * (number + 1)]);
    assert!(first == SCORES && third == SCORES && second != SCORES, "{outputs:?}");
}

#[test]
fn more_multipliers_go_to_the_busiest_layer() {
    let lanes = |multipliers: u64| {
        let program = import("residual.onnx", RESIDUAL, with(multipliers)).unwrap().checked.program;
        let sums = program.operations().into_iter().filter(|(_, operation)| operation.name.ends_with("_sums"));
        sums.map(|(loops, _)| loops.iter().map(|each| each.unroll).product::<i64>()).collect_vec()
    };
    // The mean is a sum as well, and takes no multiplier.
    assert_eq!(lanes(1), [1; 6]);
    assert!(lanes(40).iter().sum::<i64>() <= 41);
    // Products of a layer: 3 x 8 x 9 x 16 x 16, 8 x 9 x 8 x 8, 8 x 8 x 9 x 8 x 8, 8 x 16 x 9 x 4 x 4, none, and 16 x 10.
    assert_eq!(lanes(40), [12, 2, 16, 8, 1, 1]);
}

#[test]
fn names_of_files_become_words_that_nothing_else_has() {
    // The image and the first layer are named like a loop, a word of the language, and an array of another layer.
    for (name, like) in [("x", "relu_1_sums"), ("for", "image"), ("1/ü", "v1"), ("a", "b")] {
        let bytes = changed(|graph| {
            let mut renamed = |old: &str, new: &str| {
                graph.inputs.iter_mut().filter(|each| each.name == old).for_each(|each| each.name = new.to_owned());
                let names = graph.nodes.iter_mut().flat_map(|node| node.inputs.iter_mut().chain(&mut node.outputs));
                names.filter(|each| each.as_str() == old).for_each(|each| *each = new.to_owned());
            };
            renamed("image", name);
            renamed("relu_4", like);
        });
        let imported = import("residual.onnx", &bytes, with(16)).unwrap();
        let program = imported.checked.program;
        let mut inputs = imported.constants;
        let [of_image] = program
            .arrays_of(ArrayKind::Input)
            .filter(|input| !inputs.contains_key(&input.name))
            .collect_array()
            .unwrap();
        inputs.insert(of_image.name.clone(), image());
        assert_eq!(program.run(&inputs).unwrap()["scores"].values().to_vec(), SCORES);
    }
}

/// The network with a change of its graph.
fn changed(change: impl FnOnce(&mut Graph)) -> Vec<u8> {
    let mut model = Model::decode(RESIDUAL).unwrap();
    change(model.graph.as_mut().unwrap());
    model.encode_to_vec()
}

/// The node with this operator.
fn node<'a>(graph: &'a mut Graph, operator: &str) -> &'a mut Node {
    graph.nodes.iter_mut().find(|node| node.operator == operator).unwrap()
}

/// The message about a changed network, and the node that it points at.
fn refusal(change: impl FnOnce(&mut Graph)) -> (String, String) {
    let diagnostic = import("residual.onnx", &changed(change), with(16)).map(|_| ()).unwrap_err();
    let place = diagnostic.offending_text().unwrap_or_default();
    (diagnostic.message().to_owned(), place.split_once(':').map_or("", |(name, _)| name).to_owned())
}

#[test]
fn networks_that_hardware_does_not_have_are_refused_at_a_node() {
    type Change = fn(&mut Graph);
    let cases: [(Change, &str, &str); 18] = [
        (
            |graph| integers(graph, "MaxPool", "kernel_shape", &[17, 16]),
            "MaxPool with kernel_shape = [17, 16] is not read",
            "maxpool_2",
        ),
        (
            |graph| integers(graph, "MaxPool", "pads", &[2, 0, 0, 0]),
            "MaxPool with pads = [[0, 2], [0, 0]] is not read",
            "maxpool_2",
        ),
        (
            |graph| {
                extent(graph, 2, Some(1 << 16));
                extent(graph, 3, Some(1 << 16));
            },
            "`image` has the shape [3, 65536, 65536]; a tensor has at most 67108864 elements",
            "image_QuantizeLinear",
        ),
        (|graph| node(graph, "MaxPool").operator = "LpPool".to_owned(), "`LpPool` is not read", "maxpool_2"),
        (|graph| node(graph, "MaxPool").operator = "AveragePool".to_owned(), "`AveragePool` is not read", "maxpool_2"),
        (|graph| node(graph, "Flatten").operator = "Softmax".to_owned(), "`Softmax` is not read", "flatten_11"),
        (|graph| node(graph, "Add").domain = "mine".to_owned(), "`Add` of `mine` is not read", "add_6"),
        (
            |graph| graph.initializers.retain(|each| each.name != "relu_1_scale"),
            "no node before it gives `relu_1_scale`",
            "relu_1_QuantizeLinear",
        ),
        (
            |graph| set(graph, "relu_1_scale", &0_f32.to_le_bytes()),
            "the scale `relu_1_scale` is 0",
            "relu_1_QuantizeLinear",
        ),
        (
            |graph| set(graph, "relu_1_scale", &f32::NAN.to_le_bytes()),
            "the scale `relu_1_scale` is NaN",
            "relu_1_QuantizeLinear",
        ),
        (
            |graph| set(graph, "relu_1_scale", &[0; 8]),
            "the constant `relu_1_scale` has 2 values, and its shape [] needs 1",
            "relu_1_QuantizeLinear",
        ),
        (
            |graph| integer(graph, "Conv", "group", 5),
            "weights of the shape [8, 3, 3, 3] in 5 groups for 3 channels",
            "conv_0",
        ),
        (|graph| integer(graph, "MaxPool", "ceil_mode", 1), "MaxPool with ceil_mode = 1 is not read", "maxpool_2"),
        (|graph| integer(graph, "Conv", "speed", 1), "the attribute `speed` of Conv is not known", "conv_0"),
        (|graph| integer(graph, "Gemm", "transB", 0), "a matrix of 10 by 16 for the shape [1, 16]", "scores"),
        (|graph| extent(graph, 2, None), "the input `image` has the shape [1, 3, ?, 16]", ""),
        (|graph| extent(graph, 2, Some(1 << 40)), "the input `image` has the shape [1, 3, 1099511627776, 16]", ""),
        (
            |graph| graph.nodes.retain(|node| !node.operator.starts_with("Quantize")),
            "no node before it gives `image_QuantizeLinear_Output`",
            "image_DequantizeLinear",
        ),
    ];
    for (change, message, place) in cases {
        let (found, at) = refusal(change);
        assert_eq!((found.as_str(), at.as_str()), (message, place));
    }
}

/// The pooling becomes another operator, with constants of integers behind its first operand; none where one is empty.
fn replaced(graph: &mut Graph, operator: &str, constants: &[&[i64]], attributes: &[(&str, i64, &[i64])]) {
    let node = node(graph, "MaxPool");
    operator.clone_into(&mut node.operator);
    let attribute = |&(name, integer, integers): &(&str, i64, &[i64])| Attribute {
        name: name.to_owned(),
        integer,
        integers: integers.to_vec(),
        ..Attribute::default()
    };
    node.attributes = attributes.iter().map(attribute).collect();
    let names = (0..constants.len()).map(|number| format!("given_{number}")).collect_vec();
    let given = names.iter().zip(constants).map(|(name, values)| if values.is_empty() { "" } else { name }.to_owned());
    node.inputs.extend(given);
    for (name, values) in names.into_iter().zip(constants) {
        let (shape, integers) = (vec![values.len() as i64], values.to_vec());
        graph.initializers.push(Tensor { name, shape, integers, element: 7, ..Tensor::default() });
    }
}

#[test]
fn moves_that_hardware_does_not_have_are_refused_at_their_node() {
    type Change = fn(&mut Graph);
    let cases: [(Change, &str); 11] = [
        (|graph| replaced(graph, "Concat", &[], &[]), "Concat along dimension 0 of 4 is not read"),
        (|graph| replaced(graph, "Split", &[], &[("axis", 7, &[])]), "Split along dimension 7 of 4 is not read"),
        (|graph| replaced(graph, "Split", &[&[3]], &[("axis", 1, &[])]), "Split of 8 elements into 1 tensors of [3]"),
        (|graph| replaced(graph, "Slice", &[&[0], &[1], &[2], &[-1]], &[]), "Slice with the step -1 is not read"),
        (|graph| replaced(graph, "Slice", &[&[9], &[3], &[2]], &[]), "Slice from 9 to 3 of 16 elements is empty"),
        (|graph| replaced(graph, "Slice", &[&[0], &[1]], &[]), "Slice along dimension 0 of 4 is not read"),
        (
            |graph| replaced(graph, "Transpose", &[], &[("perm", 0, &[1, 0, 2, 3])]),
            "Transpose with perm = [1, 0, 2, 3] is not read",
        ),
        (|graph| replaced(graph, "Pad", &[&[0, -1]], &[]), "Pad with pads = [0, -1] is not read"),
        (|graph| replaced(graph, "Pad", &[&[1, 0, 0, 0, 0, 0, 0, 0]], &[]), "Pad along dimension 0 of 4 is not read"),
        (
            |graph| replaced(graph, "Resize", &[&[], &[], &[1, 8, 24, 16]], &[]),
            "Resize by [1.0, 1.0, 1.5, 1.0] is not read",
        ),
        (
            |graph| {
                replaced(graph, "Resize", &[&[], &[], &[1, 8, 32, 16]], &[("mode", 0, &[])]);
                node(graph, "Resize").attributes[0].text = b"linear".to_vec();
            },
            "Resize with mode = \"linear\" is not read",
        ),
    ];
    for (change, message) in cases {
        assert_eq!(refusal(change), (message.to_owned(), "maxpool_2".to_owned()));
    }
}

#[test]
fn sums_become_differences_and_products() {
    let changed = |operator: &str| changed(|graph| operator.clone_into(&mut node(graph, "Add").operator));
    assert!(["Sub", "Mul"].iter().all(|operator| scores(&changed(operator), 16) != SCORES));
}

fn set(graph: &mut Graph, name: &str, bytes: &[u8]) {
    graph.initializers.iter_mut().find(|tensor| tensor.name == name).unwrap().bytes = bytes.to_vec();
}

fn integer(graph: &mut Graph, operator: &str, name: &str, value: i64) {
    let attributes = &mut node(graph, operator).attributes;
    attributes.retain(|attribute| attribute.name != name);
    attributes.push(Attribute { name: name.to_owned(), integer: value, ..Attribute::default() });
}

fn integers(graph: &mut Graph, operator: &str, name: &str, values: &[i64]) {
    let attributes = &mut node(graph, operator).attributes;
    attributes.retain(|attribute| attribute.name != name);
    attributes.push(Attribute { name: name.to_owned(), integers: values.to_vec(), ..Attribute::default() });
}

fn extent(graph: &mut Graph, dimension: usize, extent: Option<i64>) {
    let kind = graph.inputs[0].kind.as_mut().unwrap().tensor.as_mut().unwrap();
    kind.shape.as_mut().unwrap().dimensions[dimension] = Dimension { extent, name: None };
}

#[test]
fn real_numbers_are_refused_with_the_way_to_quantize_them() {
    let real = changed(|graph| {
        // The first convolution takes the image as it is.
        node(graph, "Conv").inputs[0] = "image".to_owned();
    });
    let diagnostic = import("residual.onnx", &real, with(16)).map(|_| ()).unwrap_err();
    assert_eq!(diagnostic.message(), "`image` has no integers that stand for its numbers");
    assert!(diagnostic.help().unwrap().contains("quantize_static"));
}

#[test]
fn other_files_are_refused() {
    for bytes in [&b"name: residual"[..], &RESIDUAL[..RESIDUAL.len() / 2], &[]] {
        let message = import("residual.onnx", bytes, with(16)).map(|_| ()).unwrap_err();
        assert!(message.message().contains("`residual.onnx`"), "{message:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Whatever happens to a file, reading it ends with a program or a message.
    #[test]
    fn damaged_files_are_read_or_refused(
        changes in prop::collection::vec((0..RESIDUAL.len(), any::<u8>()), 1..6), end in 0..4 * RESIDUAL.len(),
    ) {
        let mut bytes = RESIDUAL.to_vec();
        for (place, byte) in changes {
            bytes[place] = byte;
        }
        bytes.truncate(end.max(RESIDUAL.len() / 8));
        let _ = import("residual.onnx", &bytes, with(16));
    }

    /// Whatever the operands and attributes of a node that moves elements are, it is read or refused.
    #[test]
    fn nodes_with_any_operands_are_read_or_refused(
        operator in prop::sample::select(vec!["Concat", "Pad", "Resize", "Slice", "Split", "Transpose"]),
        constants in prop::collection::vec(prop::collection::vec(any_integer(), 0..9), 0..5),
        axis in any_integer(), order in prop::collection::vec(-1_i64..5, 0..5),
    ) {
        let attributes: &[(&str, i64, &[i64])] = match operator {
            "Concat" | "Split" => &[("axis", axis, &[])],
            "Transpose" => &[("perm", 0, &order)],
            _ => &[],
        };
        let constants = constants.iter().map(Vec::as_slice).collect_vec();
        let _ = import("residual.onnx", &changed(|graph| replaced(graph, operator, &constants, attributes)), with(16));
    }
}

/// Mostly small integers, and the ends of their type.
fn any_integer() -> impl Strategy<Value = i64> {
    prop_oneof![8 => -3_i64..20, 1 => Just(i64::MIN), 1 => Just(i64::MAX)]
}
