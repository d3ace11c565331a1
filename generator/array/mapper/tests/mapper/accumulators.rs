//! Running sums and the like, in accumulated operands.

use pushmem_bitstream::decode;
use pushmem_fabric::TileKind;
use pushmem_files::Document;
use pushmem_mapper::{ArrayTarget, execute};
use pushmem_nest::Program;
use pushmem_netlist::Core;
use pushmem_pe::Mode;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::{array, mapped};

/// A program over an image of 20 × 12 pixels, with this value of a pixel.
fn recurrent(value: &str) -> Program {
    let text = format!(
        "
name: recurrent
schedule: stencil
inputs: {{input: {{type: i16, shape: [21, 12]}}}}
outputs: {{output: {{type: i16, shape: [20, 12]}}}}
nest:
  - for y in 0..12:
    - for x in 0..20:
      - output[x, y] = {value}
"
    );
    Program::from_document(&Document::parse("program.yaml", text).unwrap()).unwrap().program
}

/// The elements of a program on an array, those that accumulate, and its cycles; its images in the model are those of the interpreter.
fn figures(program: &Program, target: &ArrayTarget) -> (usize, usize, u64) {
    let (compiled, mapped) = mapped(program, target).unwrap_or_else(|error| panic!("{error:?}"));
    let images = compiled.program.random_inputs(&mut ChaCha8Rng::seed_from_u64(1));
    let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).unwrap();
    let found = execute(&mapped, &configuration, &compiled, target, &images).unwrap();
    assert_eq!(found.outputs, compiled.source.run(&images).unwrap());
    let netlist = &mapped.lowered.netlist;
    let accumulates =
        |core: &Core| matches!(core, Core::Pe(pe) if pe.words.iter().any(|of| of.mode == Mode::Accumulated));
    let accumulating = netlist.cells.iter().filter(|cell| accumulates(&cell.core)).count();
    (netlist.count(TileKind::Pe), accumulating, compiled.graph.length)
}

/// A loop of one operation takes an element and a cycle, whatever its first value; one that no operand can accumulate takes a cycle for
/// each of its elements.
#[test]
fn results_accumulate_in_one_element() {
    let target = ArrayTarget::new(array("amber"));
    for (value, elements, accumulating, interval) in [
        ("input[x, y] + outside(output[x-1, y], 0)", 1, 1, 1),
        ("outside(output[x-1, y], 7) + input[x, y]", 1, 1, 1),
        ("input[x, y] * outside(output[x-1, y], 1)", 1, 1, 1),
        ("max(input[x, y], outside(output[x-1, y], -32768))", 1, 1, 1),
        ("min(outside(output[x-1, y], 32767), input[x, y])", 1, 1, 1),
        ("input[x, y] ^ outside(output[x-1, y], 5)", 1, 1, 1),
        // The sum before comes last, whatever the order of the terms.
        ("outside(output[x-1, y], 0) + input[x, y] + input[x+1, y] * 3", 3, 1, 1),
        // The word before is not the first operand, which cannot accumulate.
        ("outside(output[x-1, y], 0) - input[x, y]", 2, 0, 2),
        ("input[x, y] - outside(output[x-1, y], 0)", 1, 1, 1),
        // The word before is used twice, or comes from further back.
        ("input[x, y] + 3 * outside(output[x-1, y], 0)", 3, 0, 4),
        ("input[x, y] + outside(output[x-2, y], 0)", 2, 0, 1),
    ] {
        let (found_elements, found_accumulating, cycles) = figures(&recurrent(value), &target);
        let pixels = 20 * 12;
        let found_interval = cycles / pixels;
        assert_eq!(
            (found_elements, found_accumulating, found_interval),
            (elements, accumulating, interval),
            "{value}: {cycles} cycles"
        );
    }
}

/// Where the accumulated operand is the third, sums are those of three words, and products are added in the same element.
#[test]
fn sums_accumulate_in_the_third_operand() {
    let target = ArrayTarget::new(array("lean"));
    for (value, elements) in [
        ("input[x, y] + outside(output[x-1, y], 0)", 1),
        ("input[x, y] * input[x+1, y] + outside(output[x-1, y], 2)", 1),
        ("input[x, y] + input[x+1, y] + outside(output[x-1, y], 2)", 1),
    ] {
        let (found_elements, accumulating, cycles) = figures(&recurrent(value), &target);
        assert_eq!((found_elements, accumulating, cycles / 240), (elements, 1, 1), "{value}: {cycles} cycles");
    }
}
