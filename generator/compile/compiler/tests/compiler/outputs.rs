//! Streams of outputs.

use crate::common::{compare, compiled, program};

/// Several loops may index a dimension of an output, be it in the order of memory or not, and be there one scan or nests.
#[test]
fn several_loops_index_a_dimension_of_an_output() {
    let nests = [
        ("[48]", "for y in 0..12", "for x in 0..4", "o[4*y + x] = i[y]"),
        ("[48]", "for x in 0..4", "for y in 0..12", "o[4*y + x] = i[y]"),
        ("[48]", "for y in 0..12", "for x in 0..4", "o[47 - 4*y - x] = i[x] + i[y]"),
        ("[8, 12]", "for y in 0..12", "for k in 0..2:\n      - for x in 0..4", "  o[2*x + k, y] = i[y] * 3"),
    ];
    for (shape, outer, inner, statement) in nests {
        let text = format!(
            "name: several
inputs: {{i: {{type: u16, shape: [12]}}}}
outputs: {{o: {{type: u16, shape: {shape}}}}}
nest:
  - {outer}:
    - {inner}:
      {}- {}
",
            if statement.starts_with(' ') { "  " } else { "" },
            statement.trim()
        );
        for tile in ["amber", "dual_port"] {
            compare(&compiled(program(&text), tile));
        }
    }
}
