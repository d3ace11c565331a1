//! Parameters that come at run time: words that loops read again and again wait in hold registers, or in a memory.

use pushmem_assembly::{Constraints, Delivery};
use pushmem_compiler::plan;
use pushmem_realization::{Dedicated, Report};

use crate::common::{compare, compiled, program, spec, target, try_compile};

/// A program over an image of 40 × 24 pixels, with these parameters and this value of a pixel.
fn parametric(policy: &str, parameters: &str, value: &str) -> String {
    format!(
        "
name: parametric{policy}
inputs: {{input: {{type: u16, shape: [40, 24]}}, {parameters}}}
outputs: {{output: {{type: u16, shape: [38, 22]}}}}
nest:
  - for y in 0..22:
    - for x in 0..38:
      - output[x, y] = {value}
"
    )
}

fn checked(text: &str, tile: &str) -> Dedicated {
    let compiled = compiled(program(text), tile);
    compare(&compiled);
    compiled
}

/// As many hold registers as words are wanted at once, whatever the tile, and nothing that grows with the image.
#[test]
fn parameters_wait_in_registers() {
    let weights = "input[x, y] * weights[0, 0] + input[x + 1, y + 1] * weights[1, 1] - weights[2, 0] + weights[0, 0]";
    for (parameters, value, registers) in [
        ("gain: {type: u16, shape: [1]}", "input[x, y] * gain[0]", 1),
        ("gain: {type: i8, shape: [2]}", "input[x, y] * (gain[1] as u16)", 1),
        ("weights: {type: u16, shape: [3, 3]}", weights, 3),
        ("gain: {type: u16, shape: [24]}", "input[x, y] * gain[y]", 1),
        // Two rows apart: the later one takes the word that the earlier one has had, before the next comes.
        ("gain: {type: u16, shape: [24]}", "input[x, y] * gain[y + 2] + gain[y]", 3),
        // The register of a boundary is loaded with one of two words, or with the constant outside.
        ("gain: {type: u16, shape: [22]}", "input[x, y] * gain[clamp(y - 1, 0, 21)]", 2),
        ("gain: {type: u16, shape: [22]}", "input[x, y] * outside(gain[y - 1], 7)", 1),
    ] {
        for tile in ["amber", "dual_port", "small"] {
            let compiled = checked(&parametric("", parameters, value), tile);
            let report = Report::of(&compiled);
            assert_eq!(report.hold_registers, registers, "{value} on {tile}\n{}", compiled.graph);
            assert!(report.shift_register_words <= 2, "{value} on {tile}: {}", report.shift_register_words);
        }
    }
}

/// Words that each row reads again are written once: in one memory, or in a register each if they are few.
#[test]
fn words_of_columns_are_written_once() {
    let column =
        |words: u32| parametric("", &format!("gain: {{type: u16, shape: [{words}]}}"), "input[x, y] * gain[x]");
    for tile in ["amber", "dual_port", "small", "quad_port"] {
        let report = Report::of(&checked(&column(38), tile));
        assert_eq!((report.memory_tiles, report.sram_words, report.hold_registers), (1, 38, 0), "{tile}");
    }
    let colours = "
name: colours
inputs: {input: {type: u8, shape: [3, 10, 6]}, gain: {type: i8, shape: [3]}}
outputs: {output: {type: i16, shape: [3, 10, 6]}}
nest:
  - for y in 0..6:
    - for x in 0..10:
      - for c in 0..3:
        - output[c, x, y] = (input[c, x, y] as i16) * (gain[c] as i16)
";
    let report = Report::of(&checked(colours, "amber"));
    assert_eq!((report.memory_tiles, report.hold_registers), (0, 3));
}

/// A target without such registers delays the words of a few rows, and refuses more.
#[test]
fn targets_may_have_no_hold_registers() {
    let without_holds = |text: &str| {
        let delivery = Delivery { holds: false, ..Delivery::default() };
        let planned = plan(program(text), &target(spec("amber")), &Constraints::default(), delivery, &|_| {});
        planned.and_then(Dedicated::of)
    };
    let text = parametric("", "gain: {type: u16, shape: [1]}", "input[x, y] * gain[0]");
    let compiled = without_holds(&text);
    let report = Report::of(&compiled.unwrap_or_else(|error| panic!("{error:?}")));
    assert!((report.hold_registers, report.shift_register_words > 100) == (0, true));
    let large = text.replace("40, 24", "400, 24").replace("38, 22", "380, 22").replace("0..38", "0..380");
    let scan = large.replace("nest:", "schedule: stencil\nnest:");
    let refused = without_holds(&scan);
    assert!(refused.is_err_and(|error| error.to_string().contains("needs another delay")));
    assert!(try_compile(program(&large), "amber").is_ok());
}

/// A sum of parameters is computed once. In a pipeline of loop nests it waits in a register as well, in place of a memory.
#[test]
fn a_word_that_is_computed_once_waits() {
    for policy in ["", "\nschedule: dnn"] {
        let text = parametric(policy, "p: {type: u16, shape: [2]}", "input[x, y] * total[0]");
        let text = text
            .replace("nest:\n", "buffers: {total: {type: u16, shape: [1]}}\nnest:\n  - total[0] = p[0] + 3 * p[1]\n");
        for tile in ["amber", "dual_port"] {
            let report = Report::of(&checked(&text, tile));
            assert!(report.hold_registers > 0, "{tile}{policy}");
            assert_eq!(report.memory_tiles, 0, "{tile}{policy}");
        }
    }
}

/// Words of coarse pipelines that several stages write stay in memories; constants among parameters are constants.
#[test]
fn parameters_with_several_writers_are_kept() {
    let nest = |writers: &str, value: &str| {
        format!(
            "
name: written
schedule: dnn
inputs: {{input: {{type: u16, shape: [16]}}, p: {{type: u16, shape: [8]}}}}
outputs: {{output: {{type: u16, shape: [16]}}}}
buffers: {{s: {{type: u16, shape: [8]}}, g: {{type: u16, shape: [8]}}}}
nest:
{writers}
  - for x in 0..16:
    - output[x] = {value}
"
        )
    };
    for (writers, value, registers) in [
        // One for the word that the second stage copies.
        ("  - for n in 0..8:\n    - s[n] = p[n]\n  - s[1] = p[2]", "input[x] * s[1]", 1),
        (
            "  - for n in 0..4:\n    - s[n] = p[n] + 3\n  - for n in 0..4:\n    - s[n + 4] = 7",
            "input[x] * s[6] - s[4]",
            0,
        ),
        ("  - for n in 0..8:\n    - s[n] = 7\n  - for n in 0..8:\n    - g[n] = s[n]", "input[x] * g[6] - g[0]", 0),
        ("  - for n in 0..8:\n    - s[n] = p[n] + 3", "input[x] * s[6] - s[4]", 2),
    ] {
        let compiled = checked(&nest(writers, value), "amber");
        assert_eq!(Report::of(&compiled).hold_registers, registers, "{writers}\n{}", compiled.graph);
    }
}
