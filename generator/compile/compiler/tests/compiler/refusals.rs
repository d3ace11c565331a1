//! Refusals for limits of memories: at a place, in the words of the program.

use itertools::Itertools;
use pushmem_assembly::{Constraints, Delivery, check_inputs};
use pushmem_compiler::{CompileError, CompileStage, Compiled, plan};
use pushmem_files::Document;
use pushmem_mapping::map;
use pushmem_nest::{Policy, Program};
use pushmem_realization::Report;

use crate::common::{app, apps, compare, compiled, program, spec, target, try_compile};

/// A delay that is longer than the controllers of `amber` count, and not those of `amber_long`.
#[test]
fn a_long_delay_is_refused_at_its_statement() {
    let long = program(
        "name: long
inputs: {i: {type: u16, shape: [512, 200]}}
outputs: {a: {type: u16, shape: [512, 60]}}
buffers: {s: {type: u16, shape: [512, 200]}}
nest:
  - for y in 0..200:
    - for x in 0..512:
      - s[x, y] = i[x, y] * 3
  - for y in 0..60:
    - for x in 0..512:
      - a[x, y] = s[x, y] + s[x, y+140]
",
    );
    let error = try_compile(long.clone(), "amber").unwrap_err();
    assert!(matches!(error, CompileError::Unmapped { .. }), "{error:?}");
    assert!(
        error.to_string().starts_with("`s` cannot be delayed by 71680 cycles in memory tiles of `amber`"),
        "{error}"
    );
    assert_eq!(error.diagnostic().location().map(|(_, line, _)| line), Some(8));
    compiled(long, "amber_long");
}

/// That two statements write an array of a tile with one input is said at the second, with the line of the first, and before
/// any schedule is tried. Sums of numbers with a fraction have no other order, in which registers could keep them.
#[test]
fn too_few_inputs_are_told_by_lines() {
    let sums = program(
        "name: sums
schedule: dnn
inputs: {input: {type: bf16, shape: [8, 6]}}
outputs: {output: {type: bf16, shape: [8]}}
buffers: {sums: {type: bf16, shape: [8]}}
nest:
  - for x in 0..8:
    - sums[x] = 0.0
  - for y in 0..6:
    - for x in 0..8:
      - sums[x] += input[x, y]
  - for x in 0..8:
    - output[x] = sums[x]
",
    );
    let error = try_compile(sums, "fetch2").unwrap_err();
    assert_eq!(
        error.to_string(),
        "a tile of `sums` needs 2 inputs, and `fetch2` tiles have 1: the iterations of `y` update in memory what the \
         statement in line 8 writes"
    );
    assert_eq!(error.diagnostic().location().map(|(_, line, _)| line), Some(11));
    compiled(app("matmul"), "fetch2");
}

/// A memory that is refused for its inputs before the search has no mapping: neither in the schedules for a wide-fetch tile
/// nor in those for a dual-port tile. Of a program in four.
#[test]
fn memories_with_too_few_inputs_have_no_mapping() {
    check_inputs_of_each(4, 25);
}

#[test]
#[ignore = "takes a minute"]
fn all_memories_with_too_few_inputs_have_no_mapping() {
    check_inputs_of_each(1, 100);
}

/// Checks one in so many programs, in which more than so many memories are refused.
fn check_inputs_of_each(programs: usize, least: usize) {
    let tiles = ["fetch2", "one_in_one_out", "one_in_three_out"].map(spec);
    let mut refused = 0;
    let coarse = apps().into_iter().map(|name| app(&name)).filter(|program| program.policy() == Policy::Dnn);
    for (program, scheduled_for) in coarse.step_by(programs).cartesian_product(["amber", "dual_port"]) {
        let hardware = target(spec(scheduled_for));
        let compiled = plan(program, &hardware, &Constraints::default(), Delivery::default(), &|_| {});
        let Ok(Compiled { program, extraction, datapaths, graph, .. }) = compiled else { continue };
        for tile in &tiles {
            let target = hardware.clone().with_memory(tile.clone());
            let Err(error) = check_inputs(&program, &extraction, &datapaths, &target) else {
                continue;
            };
            let kept = graph.arrays.iter().find(|kept| Some(kept.array) == error.array());
            let kept = kept.expect("an array that is refused is kept");
            assert!(map(&kept.buffer, tile).is_err(), "{} of {} on {}", kept.buffer.name, program.name, tile.name);
            refused += 1;
        }
    }
    assert!(refused > least, "{refused}");
}

/// The search ends after so many schedules, and the message names the number.
#[test]
fn a_long_search_is_given_up() {
    let (target, delivery) = (target(spec("onyx")), Delivery { holds: false, ..Delivery::default() });
    let refused = plan(app("resnet_tiled_small"), &target, &Constraints::default(), delivery, &|_| {});
    let error = refused.unwrap_err().to_string();
    assert!(error.ends_with("\n  and so with 12 schedules, after which no other was tried"), "{error}");
    assert!(!error.contains("_read_") && error.lines().count() <= 7, "{error}");
}

/// Updates of one element wait for the memory, in the baseline as in the accelerator.
#[test]
fn a_sum_of_one_element_is_no_slower_than_one_stage_after_the_other() {
    let sum = program(
        "name: sum
schedule: dnn
inputs: {i: {type: i16, shape: [30, 30]}}
outputs: {total: {type: i16, shape: [1]}}
buffers: {s: {type: i16, shape: [1]}}
nest:
  - for x in 0..1:
    - s[x] = 0
  - for x in 0..1:
    - for c in 0..30:
      - for d in 0..30:
        - s[x] += i[d, c]
  - for x in 0..1:
    - total[x] = s[x]
",
    );
    for tile in ["amber", "dual_port"] {
        let found = compiled(sum.clone(), tile);
        assert!(found.accelerator.length <= found.sequential_cycles(), "{tile}: {}", found.accelerator.length);
        assert!(found.warnings().is_empty());
    }
}

/// Padded to whole fetches, rows of two channels take twice as long.
#[test]
fn a_pipeline_is_no_slower_than_one_stage_after_the_other() {
    for tile in ["amber", "fetch8"] {
        let found = compiled(app("mobilenet_small"), tile);
        assert!(found.accelerator.length < found.sequential_cycles(), "{tile}: {}", found.accelerator.length);
        assert!(found.warnings().is_empty());
        compare(&found);
    }
}

/// A schedule that is no pipeline is reported as such: its cycles are those of one stage after the other.
#[test]
fn one_stage_after_the_other_is_reported() {
    let mut found = compiled(app("transpose"), "amber");
    let plan = found.compiled.coarse.as_mut().expect("a coarse pipeline");
    plan.coarse = None;
    found.accelerator.length = found.sequential_cycles();
    found.compiled.graph.length = found.accelerator.length;
    let report = Report::of(&found);
    let line = format!("{}, one stage after the other: a pipeline would take longer", found.sequential_cycles());
    assert!(report.in_sequence && report.to_string().contains(&line), "{report}");
    assert!(CompileStage::Schedule.text(&found).ends_with("one stage after the other, faster than a pipeline\n"));
}

/// Rows are twice as many, and only half of each is read: the scan has both the longer rows and the more rows.
#[test]
fn a_scan_slower_than_its_stages_is_warned_of() {
    let text = "
name: skips
inputs: {input: {type: u16, shape: [56, 19]}}
outputs: {output: {type: u16, shape: [26, 38]}}
nest:
  - for y in 0..38:
    - for x in 0..26:
      - output[x, y] = input[2*x + 3, y/2]
";
    for tile in ["amber", "dual_port"] {
        let compiled = compiled(program(text), tile);
        assert!(compiled.accelerator.length > compiled.sequential_cycles());
        let warnings = compiled.warnings();
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        let expected = format!(
            "`skips` takes {} cycles; one stage after the other would take {}, but all stages follow one scan",
            compiled.accelerator.length,
            compiled.sequential_cycles()
        );
        assert_eq!(warning.message(), expected);
        assert!(warning.help().unwrap().contains("a stage of another rate"));
    }
}

/// A permutation by a table writes each element once.
#[test]
fn elements_that_a_table_chooses_are_written() {
    let scatter = |order: &str| {
        format!(
            "name: scatter\ninputs: {{a: {{type: u16, shape: [4]}}}}\noutputs: {{o: {{type: u16, shape: [4]}}}}\nbuffers: {{m: {{type: u16, \
             shape: [4]}}}}\ntables: {{order: {{type: u16, values: {order}}}}}\nnest:\n  - for x in 0..4:\n    - m[order[x]] = a[x]\n  \
             - for x in 0..4:\n    - o[x] = m[x] + 1\n"
        )
    };
    for tile in ["amber", "dual_port"] {
        compare(&compiled(program(&scatter("[2, 0, 3, 1]")), tile));
    }
    let read = |order: &str| Program::from_document(&Document::parse("scatter.yaml", scatter(order)).unwrap());
    assert!(read("[2, 0, 3, 1]").unwrap().warnings.is_empty());
    let error = read("[2, 0, 3, 3]").unwrap_err();
    assert_eq!(error.message(), "`m[1]` is read before it is written at x = 1");
}

/// Statements that only pass on words of their own earlier iterations, or of those below.
#[test]
fn copies_of_earlier_results_have_registers() {
    let own = "  - for y in 0..7:\n    - o[y] = outside(o[y-1], 1)\n";
    let exchanged = "  - for y in 0..7:\n    - b[y] = outside(o[y-1], 3) + a[y]\n    - o[y] = b[y]\n";
    let below = "  - for y in 0..7:\n    - b[y] = outside(o[y-1], 5)\n    - o[y] = b[y]\n";
    for nest in [own, exchanged, below] {
        let text = format!(
            "name: v\ninputs: {{a: {{type: u16, shape: [7]}}}}\noutputs: {{o: {{type: u16, shape: [7]}}}}\nbuffers: {{b: {{type: u16, shape: \
             [7]}}}}\nnest:\n{nest}"
        );
        for tile in ["amber", "dual_port"] {
            let compiled = compiled(program(&text), tile);
            compare(&compiled);
            // The register of the sum, or of the first copy, is enough.
            assert!(compiled.recurrence.as_ref().is_none_or(|of| of.interval == 1), "{nest}");
        }
    }
}

/// Who follows the help has a program that builds.
#[test]
fn a_divided_index_of_a_kept_array_is_a_divided_loop() {
    let enlarged = |loops: &str, statement: &str| {
        format!(
            "name: nearest\nschedule: dnn\ninputs: {{a: {{type: i8, shape: [8, 8]}}}}\noutputs: {{o: {{type: i8, shape: [16, 16]}}}}\nbuffers: \
             {{m: {{type: i8, shape: [8, 8]}}, up: {{type: i8, shape: [16, 16]}}}}\nnest:\n  - for y in 0..8:\n    - for x in 0..8:\n      \
             - m[x, y] = a[x, y]\n{loops}{statement}  - for y in 0..16:\n    - for x in 0..16:\n      - o[x, y] = up[x, y] + 1\n"
        )
    };
    let quotients = enlarged("  - for y in 0..16:\n    - for x in 0..16:\n", "      - up[x, y] = m[x/2, y/2]\n");
    // A random-access memory serves both; arrays have none.
    compare(&compiled(program(&quotients), "amber"));
    let plan = |program| plan(program, &target(spec("amber")), &Constraints::default(), Delivery::default(), &|_| {});
    let error = plan(program(&quotients)).map(|_| ()).unwrap_err();
    let help = error.diagnostic().help().unwrap_or_default();
    let expected = "divide the loop `x` in place of its index: `for x in 0..8:`, and in it `for x_2 in 0..2:`, with `2*x + x_2` for what \
                    `x` was, and `x` for `x/2`";
    assert_eq!(help, expected);
    let loops = "  - for y in 0..8:\n    - for y_2 in 0..2:\n      - for x in 0..8:\n        - for x_2 in 0..2:\n";
    let followed = enlarged(loops, "          - up[2*x + x_2, 2*y + y_2] = m[x, y]\n");
    for tile in ["amber", "dual_port"] {
        compare(&compiled(program(&followed), tile));
    }
}

/// Where no schedule serves a program that names none, each says why. A random-access memory serves it, but none has so many elements.
#[test]
fn both_schedules_say_why_they_refuse() {
    let paths = |width: usize, height: usize| {
        program(&format!(
            "name: paths
inputs: {{energy: {{type: u8, shape: [{width}, {height}]}}}}
outputs: {{o: {{type: u16, shape: [{width}, {height}]}}}}
buffers: {{p: {{type: u16, shape: [{width}, {height}]}}}}
nest:
  - for y in 0..{height}:
    - for x in 0..{width}:
      - p[x, y] = energy[x, y] as u16
  - for y in 1..{height}:
    - for x in 0..{width}:
      - p[x, y] = (energy[x, y] as u16) + min(p[clamp(x-1, 0, {}), y-1], p[x, y-1])
  - for y in 0..{height}:
    - for x in 0..{width}:
      - o[x, y] = p[x, y]
",
            width - 1
        ))
    };
    compare(&compiled(paths(48, 32), "amber"));
    let shown = format!("{:?}", try_compile(paths(480, 320), "amber").unwrap_err().diagnostic());
    for message in ["overwrites elements of `p`", "of its earlier iterations at an index that has"] {
        assert!(shown.contains(message), "{shown}");
    }
}
