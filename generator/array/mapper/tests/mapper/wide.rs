//! Operations of values that take two words.

use pushmem_bitstream::decode;
use pushmem_fabric::TileKind;
use pushmem_files::Document;
use pushmem_mapper::ArrayTarget;
use pushmem_nest::Program;

use crate::common::{array, is_right, mapped};

/// A program over two images, with this value of a pixel.
fn program(value: &str) -> Program {
    let text = format!(
        "name: wide
inputs: {{a: {{type: u16, shape: [34, 18]}}, b: {{type: u16, shape: [34, 18]}}}}
outputs: {{output: {{type: u16, shape: [32, 16]}}}}
nest:
  - for y in 0..16:
    - for x in 0..32:
      - 'output[x, y] = ({value}) as u16'
"
    );
    Program::from_document(&Document::parse("wide.yaml", text).unwrap()).unwrap().program
}

/// Quotients and shifts of sums and products of words, with the elements that they take. A mean of nine words is eight sums of two
/// elements and a quotient of seven.
#[test]
fn quotients_and_shifts_of_two_words_are_on_arrays() {
    let window = (0..3).flat_map(|y| (0..3).map(move |x| format!("(a[x + {x}, y + {y}] as u32)")));
    let sum = window.collect::<Vec<_>>().join(" + ");
    let product = "(a[x, y] as u32) * (b[x, y] as u32)";
    for (name, value, elements) in [
        ("amber", format!("({sum}) / 9"), 23),
        ("amber", format!("({sum}) % 9"), 25),
        ("lean", format!("({sum}) / 9"), 22),
        ("amber", format!("({product}) / 600"), 15),
        ("amber", format!("({product}) >> (b[x, y] as u32 % 32)"), 10),
        ("amber", format!("({sum}) / ((b[x, y] % 16 + 1) as u32)"), 99),
    ] {
        let target = ArrayTarget::new(array(name));
        let (compiled, mapped) = mapped(&program(&value), &target).unwrap_or_else(|error| panic!("{value}: {error:?}"));
        assert_eq!(mapped.lowered.netlist.count(TileKind::Pe), elements, "{value} on {name}");
        let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).unwrap();
        assert!(is_right(&compiled, &mapped, &configuration, &target), "{value} on {name}");
    }
}
