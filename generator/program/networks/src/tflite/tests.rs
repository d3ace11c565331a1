//! Files that are read, and files that are refused.

use itertools::Itertools;
use proptest::prelude::*;
use pushmem_images::{Element, Image};
use pushmem_nest::Program;

use crate::tflite::flatbuffer::Buffer;
use crate::tflite::recognize::recognized;
use crate::tflite::schema::{Graph, IDENTIFIER, Model, Node};
use crate::{Choices, import};

/// A network with states, as `scripts/networks/lite.py` writes it.
const STREAMING: &[u8] = include_bytes!("../../../../../apps/networks/streaming.tflite");

/// The steps of a run, and what TensorFlow Lite for Microcontrollers gives for each of them.
const STEPS: usize = 10;
const SCORES: [[i64; 3]; STEPS] = [
    [200, 3, 99],
    [115, 0, 255],
    [154, 1, 255],
    [245, 108, 255],
    [191, 0, 255],
    [93, 1, 255],
    [99, 0, 255],
    [241, 4, 255],
    [205, 13, 255],
    [172, 27, 255],
];

fn features() -> Vec<i64> {
    (0..STEPS as i64 * 16).map(|place| (place * 89 + place * place % 61) % 256 - 128).collect()
}

/// The scores of the steps of one run.
fn scores(file: &[u8], features: &[i64], multipliers: u64) -> Vec<i64> {
    let steps = features.len() / 16;
    let imported = import("streaming.tflite", file, Choices { multipliers, batch: steps as u32 }).unwrap();
    assert!(imported.checked.warnings.is_empty(), "{:?}", imported.checked.warnings);
    let mut inputs = imported.constants;
    let shape = [8, 1, 2, steps];
    let shape = if steps > 1 { &shape[..] } else { &shape[..3] };
    inputs.insert("features".to_owned(), Image::from_values(Element::I8, shape, features.to_vec()).unwrap());
    let program: Program = imported.checked.program;
    program.run(&inputs).unwrap()["scores"].values().to_vec()
}

#[test]
fn words_of_all_steps_are_those_of_the_interpreter() {
    for multipliers in [1, 20, 10_000] {
        assert_eq!(scores(STREAMING, &features(), multipliers), SCORES.concat(), "{multipliers}");
    }
    assert_eq!(scores(STREAMING, &features()[..16], 20), SCORES[0]);
}

#[test]
fn many_steps_keep_as_many_rows_as_few() {
    let values = features().repeat(4);
    let later = scores(STREAMING, &values, 20);
    // All states are full after eight steps, and none is of an earlier one.
    assert_eq!(later[30 + 3 * 8..60], later[60 + 3 * 8..90]);
}

/// The message about a network with a change, the place of its node, and the help.
fn refusal(change: impl FnOnce(&mut Model)) -> (String, Option<usize>, String) {
    let buffer = Buffer::new(STREAMING, IDENTIFIER).unwrap();
    let mut model = Model::of(&buffer).unwrap();
    change(&mut model);
    let fault = recognized("streaming", &model, &model.graphs[0]).unwrap_err();
    (fault.message, fault.node, fault.help.unwrap_or_default())
}

/// The first node with this operator.
fn node<'a, 'b>(graph: &'b mut Graph<'a>, operator: &str) -> &'b mut Node<'a> {
    graph.nodes.iter_mut().find(|node| node.operator == operator).unwrap()
}

/// Changes an operand, or with `None` in its place the result, of the first node with an operator.
fn tensor(
    model: &mut Model,
    operator: &str,
    operand: Option<usize>,
    change: impl FnOnce(&mut crate::tflite::schema::Tensor),
) {
    let graph = &mut model.graphs[0];
    let node = node(graph, operator);
    let number = operand.map_or(node.outputs[0], |operand| node.inputs[operand]);
    change(&mut graph.tensors[number as usize]);
}

type Change = fn(&mut Model);

/// Checks that a changed network is refused at the node of this operator, with these parts of the message and of the help.
fn check_refusals(cases: &[(Change, &str, &str, &str)]) {
    for &(change, operator, message, help) in cases {
        let mut operators = Vec::new();
        let (found, place, found_help) = refusal(|model| {
            change(model);
            operators = model.graphs[0].nodes.iter().map(|node| node.operator.clone()).collect_vec();
        });
        assert!(found.contains(message) && found_help.contains(help), "{found}\n{found_help}");
        assert!(operator.is_empty() == place.is_none() || message.is_empty(), "{found}: {place:?}");
        assert!(place.is_none_or(|place| message.is_empty() || operators[place] == operator), "{found}");
    }
}

#[test]
fn nodes_that_hardware_does_not_have_are_refused() {
    check_refusals(&[
        (
            |model| node(&mut model.graphs[0], "CONV_2D").operator = "SVDF".to_owned(),
            "SVDF",
            "`SVDF` is not read",
            "CONV_2D, DEPTHWISE",
        ),
        (
            |model| node(&mut model.graphs[0], "LOGISTIC").operator = "SOFTMAX".to_owned(),
            "SOFTMAX",
            "`SOFTMAX` is not read",
            "let the graph end at",
        ),
        (
            |model| tensor(model, "CONV_2D", Some(1), |tensor| tensor.zero_points[0] = 3),
            "CONV_2D",
            "weights of the zero points [3, 0",
            "weights have the zero point 0",
        ),
        (
            |model| tensor(model, "CONV_2D", Some(1), |tensor| tensor.data = &[]),
            "CONV_2D",
            "is no constant of int8 of the shape [16, 5, 1, 8]",
            "constants of int8",
        ),
        (
            |model| tensor(model, "CONV_2D", Some(1), |tensor| tensor.axis = 1),
            "CONV_2D",
            "16 scales along dimension 1 for 16 channels",
            "along dimension 0",
        ),
        (
            |model| tensor(model, "CONV_2D", None, |tensor| tensor.scales = vec![f32::NAN]),
            "CONV_2D",
            "has the scales [NaN] and the zero points [-128]",
            "one scale above 0",
        ),
        (
            |model| tensor(model, "CONV_2D", None, |tensor| tensor.shape = vec![1, 2, 1, 16]),
            "CONV_2D",
            "has the shape [1, 2, 1, 16], and [1, 1, 1, 16] is computed",
            "",
        ),
        (
            |model| tensor(model, "LOGISTIC", None, |tensor| tensor.zero_points = vec![0]),
            "LOGISTIC",
            "LOGISTIC to the scale 0.00390625 and the zero point 0",
            "zero point -128",
        ),
        (|model| node(&mut model.graphs[0], "CONCATENATION").inputs.clear(), "ASSIGN_VARIABLE", "", ""),
    ]);
}

#[test]
fn inputs_and_states_that_hardware_does_not_have_are_refused() {
    check_refusals(&[
        (
            |model| model.graphs[0].tensors[0].element = 0,
            "",
            "`features` has elements of float32; int8 is read",
            "representative_dataset",
        ),
        (
            |model| model.graphs[0].tensors[0].signature = vec![1, -1, 8],
            "",
            "the input `features` has the shape [1, -1, 8]",
            "of a known size",
        ),
        (
            |model| model.graphs[0].tensors[0].shape = vec![4, 2, 8],
            "",
            "the input `features` has the shape [4, 2, 8]",
            "one image",
        ),
        (
            |model| model.graphs[1].nodes.clear(),
            "CONCATENATION",
            "the state `first` has no elements to begin with",
            "CALL_ONCE",
        ),
        (
            |model| model.graphs[0].nodes.retain(|node| node.operator != "ASSIGN_VARIABLE"),
            "",
            "the state `first` is read, and never assigned",
            "",
        ),
    ]);
}

#[test]
fn other_files_are_refused() {
    for (bytes, message) in [
        (&b"name: streaming"[..], "is no file of TensorFlow Lite"),
        (&[], "is no file of TensorFlow Lite"),
        (&STREAMING[..STREAMING.len() / 2], "is damaged: it points beyond itself"),
    ] {
        let refused = import("streaming.tflite", bytes, Choices::default()).map(|_| ()).unwrap_err();
        assert!(refused.message().contains(message), "{refused:?}");
    }
}

/// Reads a file with changed bytes, of which the last may be missing.
fn read_damaged(changes: &[(usize, u8)], end: usize) {
    let mut bytes = STREAMING.to_vec();
    for (place, byte) in changes {
        bytes[*place] = *byte;
    }
    bytes.truncate(end);
    let _ = import("streaming.tflite", &bytes, Choices::default());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Whatever happens to a file, reading it ends with a program or a message.
    #[test]
    fn damaged_files_are_read_or_refused(
        changes in prop::collection::vec((0..STREAMING.len(), any::<u8>()), 0..6), end in STREAMING.len() / 8..3 * STREAMING.len(),
    ) {
        read_damaged(&changes, end);
    }

    /// Offsets and lengths are integers of a few bits.
    #[test]
    fn files_with_changed_offsets_are_read_or_refused(places in prop::collection::vec((0..STREAMING.len() / 4, 0..64_u8), 1..4)) {
        let changes = places.iter().map(|(place, byte)| (4 * place, *byte)).collect_vec();
        read_damaged(&changes, STREAMING.len());
    }
}

#[test]
#[ignore = "it takes minutes"]
fn ten_thousand_damaged_files_are_read_or_refused() {
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..10_000 {
        let changes = (0..random(6)).map(|_| (random(STREAMING.len()), random(256) as u8)).collect_vec();
        let end = if random(4) == 0 { random(STREAMING.len()) } else { STREAMING.len() };
        read_damaged(&changes, end);
    }
}
