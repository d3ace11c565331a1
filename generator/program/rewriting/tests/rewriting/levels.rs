//! Copies between levels of the memory hierarchy: where they are, and that they change nothing of what is computed.

use pushmem_files::Document;
use pushmem_nest::{ArrayKind, Level, Program};
use pushmem_rewriting::with_copies;

use crate::common::{app, program, transformed};

/// Checks that copies change nothing, and that what they made is a program that is as it is; returns it as text.
fn copied(program: &Program) -> String {
    let (copied, again) = transformed(program, |program| with_copies(program).0);
    let text = copied.to_string();
    let name = |program: &Program| -> Vec<String> {
        program.operations().into_iter().map(|(_, operation)| operation.name.clone()).collect()
    };
    assert_eq!(name(&again), name(&copied), "{text}");
    assert_eq!(with_copies(again).0.to_string(), text);
    text
}

#[test]
fn whole_arrays_are_copied_before_and_after() {
    let text = "name: shift
inputs:
  a: {type: i16, shape: [8, 6], min: [-1, 2], level: global_buffer}
  b: {type: u8, shape: [8], level: register_file}
outputs:
  i0: {type: i16, shape: [4, 6], level: memory}
nest:
  - for y in 0..6:
    - for x in 0..4 unroll 2:
      - i0[x, y] = a[2*x, y + 2] + (b[x] as i16) - a[x - 1, 7 - y]
";
    let right = "name: shift
inputs:
  a: {type: i16, shape: [8, 6], min: [-1, 2]}
  b: {type: u8, shape: [8]}
outputs:
  i0: {type: i16, shape: [4, 6]}
buffers:
  b_register_file: {type: u8, shape: [8], level: register_file}
  a_global_buffer: {type: i16, shape: [8, 6], min: [-1, 2], level: global_buffer}
  i0_memory: {type: i16, shape: [4, 6], level: memory}
nest:
  - for i1 in 2..8:
    - for i0_1 in -1..7 unroll 2:
      - a_global_buffer[i0_1, i1] = a[i0_1, i1]
  - for i0_1 in 0..8 unroll 2:
    - b_register_file[i0_1] = b[i0_1]
  - for y in 0..6:
    - for x in 0..4 unroll 2:
      - i0_memory[x, y] = a_global_buffer[2*x, y + 2] + b_register_file[x] as i16 - a_global_buffer[x - 1, -y + 7]
  - for i1 in 0..6:
    - for i0_1 in 0..4 unroll 2:
      - i0[i0_1, i1] = i0_memory[i0_1, i1]
";
    assert_eq!(copied(&program(text)), right);
}

/// Images come one by one; what several of them share is copied once.
#[test]
fn loops_through_an_array_have_the_copy_inside() {
    let text = "name: images
inputs:
  image: {type: u16, shape: [6, 4, 3], level: global_buffer}
  gain: {type: u16, shape: [3, 3], level: global_buffer}
outputs:
  output: {type: u16, shape: [6, 4, 3], level: global_buffer}
buffers:
  tile: {type: u16, shape: [3, 4]}
nest:
  - for n in 0..3:
    - for t in 0..2:
      - for y in 0..4:
        - for x in 0..3:
          - tile[x, y] = image[3*t+x, 3 - y, n]
      - for y in 0..4:
        - for x in 0..3:
          - output[3*t+x, y, n] = tile[x, 3 - y] * gain[x, 2 - n]
";
    let text = copied(&program(text));
    let nest = &text[text.find("nest:").unwrap()..];
    let expected = "nest:
  - for i1 in 0..3:
    - for i0 in 0..3:
      - gain_global_buffer[i0, i1] = gain[i0, i1]
  - for n in 0..3:
    - for i1 in 0..4:
      - for i0 in 0..6:
        - image_global_buffer[i0, i1] = image[i0, i1, n]
    - for t in 0..2:
      - for y in 0..4:
        - for x in 0..3:
          - tile[x, y] = image_global_buffer[x + 3*t, -y + 3]
      - for y in 0..4:
        - for x in 0..3:
          - output_global_buffer[x + 3*t, y] = tile[x, -y + 3] * gain_global_buffer[x, -n + 2]
    - for i1 in 0..4:
      - for i0 in 0..6:
        - output[i0, i1, n] = output_global_buffer[i0, i1]
";
    assert_eq!(nest, expected);
}

#[test]
fn all_inputs_and_outputs_can_be_at_a_level() {
    for name in ["resnet_tiny", "gpyr_tiled", "gaussian_unroll4", "bc_mirror", "unsharp", "cnn", "mobilenet_small"] {
        for level in Level::ALL {
            let mut program = app(name);
            for array in program.arrays.iter_mut().filter(|array| array.kind != ArrayKind::Buffer) {
                array.level = Some(level);
            }
            copied(&program);
        }
    }
}

#[test]
fn levels_that_make_no_sense_are_refused() {
    let refused = |schedule: &str, level: &str| {
        let text = format!(
            "name: p\n{schedule}inputs: {{a: {{type: u8, shape: [4], level: {level}}}}}\noutputs: {{b: {{type: u8, shape: \
             [4]}}}}\nnest:\n  - for x in 0..4:\n    - b[x] = a[x]\n"
        );
        let document = Document::parse("p.yaml", text).unwrap();
        let error = Program::from_document(&document).unwrap_err();
        (error.message().to_owned(), error.offending_text().unwrap_or_default().to_owned())
    };
    let (message, place) = refused("schedule: stencil\n", "memory");
    assert_eq!((message.as_str(), place.as_str()), ("an image pipeline keeps no array, so none has a level", "memory"));
    let (message, place) = refused("", "globalbuffer");
    assert!(message.contains("globalbuffer") && place == "globalbuffer", "{message} at {place}");
}
