//! Words that wait for the reads of them, in held operands.

use pushmem_affine::Affine;
use pushmem_assembly::{Constraints, Delivery};
use pushmem_bitstream::{Configuration, decode};
use pushmem_compiler::plan;
use pushmem_fabric::{Layer, TileKind};
use pushmem_files::Document;
use pushmem_mapper::{ArrayTarget, Sharing, lower, reference};
use pushmem_nest::Program;
use pushmem_netlist::{Core, Lane, Machine, Netlist, Run};
use pushmem_pe::{Mode, Numbers};
use pushmem_programs::random_program_with_parameters;
use pushmem_resources::Meaning;
use pushmem_validation::validate;

use crate::common::{app, array, beside, compiled, is_right, mapped};

fn program(text: &str) -> Program {
    Program::from_document(&Document::parse("program.yaml", text).unwrap())
        .unwrap_or_else(|error| panic!("{error:?}\n{text}"))
        .program
}

/// A program over an image of 40 × 24 pixels, with these parameters and this value of a pixel.
fn parametric(parameters: &str, value: &str) -> Program {
    program(&format!(
        "
name: parametric
schedule: stencil
inputs: {{input: {{type: u16, shape: [40, 24]}}, {parameters}}}
outputs: {{output: {{type: u16, shape: [38, 22]}}}}
nest:
  - for y in 0..22:
    - for x in 0..38:
      - output[x, y] = {value}
"
    ))
}

/// The terms of a sum.
fn sum(terms: impl IntoIterator<Item = String>) -> String {
    terms.into_iter().collect::<Vec<_>>().join(" + ")
}

/// Words wait in operands that read them: a parameter takes an element of its own only where many read it, where an element reads
/// two, or where a loop chooses.
#[test]
fn parameters_wait_in_operands() {
    let target = ArrayTarget::new(array("amber"));
    let window = || (0..3).flat_map(|y| (0..3).map(move |x| (x, y)));
    let filter = sum(window().map(|(x, y)| format!("input[x + {x}, y + {y}] * w[{x}, {y}]")));
    let many = sum(window().map(|(x, y)| format!("input[x + {x}, y + {y}] * gain[0]")));
    // Words that come one after the other: one predicate, from which the enable is handed on.
    let line = sum((0..14).map(|x| format!("input[x, y] * gain[{x}]")));
    for (parameters, value, elements, memories) in [
        ("gain: {type: u16, shape: [1]}", "input[x, y] * gain[0]", 1, 1),
        ("gain: {type: i8, shape: [2]}", "input[x, y] * (gain[1] as u16)", 1, 1),
        ("gain: {type: u16, shape: [2]}", "input[x, y] + gain[0] * gain[1]", 3, 1),
        ("w: {type: u16, shape: [3, 3]}", &filter, 17, 3),
        ("gain: {type: u16, shape: [1]}", &many, 18, 1),
        ("gain: {type: u16, shape: [14]}", &line, 27, 1),
        ("gain: {type: u16, shape: [24]}", "input[x, y] * gain[y]", 1, 1),
        ("gain: {type: u16, shape: [24]}", "input[x, y] * gain[y + 2] + gain[y]", 4, 3),
        ("gain: {type: u16, shape: [22]}", "input[x, y] * gain[clamp(y - 1, 0, 21)]", 2, 2),
        ("gain: {type: u16, shape: [22]}", "input[x, y] * outside(gain[y - 1], 7)", 2, 2),
    ] {
        let (compiled, mapped) =
            mapped(&parametric(parameters, value), &target).unwrap_or_else(|error| panic!("{value}: {error:?}"));
        let count = |kind| mapped.lowered.netlist.count(kind);
        assert_eq!((count(TileKind::Pe), count(TileKind::Memory)), (elements, memories), "{value}");
        let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).unwrap();
        assert!(is_right(&compiled, &mapped, &configuration, &target), "{value}");
        // The netlist is a text that can be read back.
        let text = Document::parse("netlist.yaml", mapped.lowered.netlist.to_yaml(&target.spec)).unwrap();
        assert_eq!(Netlist::from_document(&text, &target.spec).unwrap(), mapped.lowered.netlist);
    }
}

/// A depthwise and a pointwise convolution whose weights come at run time.
#[test]
fn weights_of_a_network_wait_in_its_multiplications() {
    let amber = array("amber");
    let lowered = lower(&compiled(app("mobilenet"), &amber), &amber, Sharing::Shared).unwrap();
    assert_eq!((lowered.netlist.count(TileKind::Pe), lowered.netlist.count(TileKind::Memory)), (89, 4));
    let is_held = |core: &Core| matches!(core, Core::Pe(pe) if pe.words.iter().any(|word| word.mode == Mode::Held));
    assert_eq!(lowered.netlist.cells.iter().filter(|cell| is_held(&cell.core)).count(), 48);
}

/// Random programs whose parameters come at run time, in the model of the array against the interpreter.
fn check_random(seeds: std::ops::Range<u64>) {
    let target = ArrayTarget::new(array("amber"));
    let count = seeds.clone().count();
    let mut refused = 0;
    for seed in seeds {
        let program = program(&random_program_with_parameters(seed));
        match mapped(&program, &target) {
            Ok((compiled, mapped)) => {
                let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).unwrap();
                assert!(is_right(&compiled, &mapped, &configuration, &target), "{seed}");
            }
            // Some need more tiles than there are, and some have no schedule in hardware of their own either.
            Err(error) => {
                let needs_more = error.to_string().contains("tiles, the array `amber` has");
                let (target, constraints) = (beside(), Constraints::default());
                let is_program = || plan(program, &target, &constraints, Delivery::default(), &|_| {}).is_err();
                assert!(needs_more || is_program(), "{seed}: {error:?}");
                refused += 1;
            }
        }
    }
    assert!(refused * 5 < count, "{refused} of {count} are refused");
}

#[test]
fn random_programs_with_parameters_compute_what_they_say() {
    check_random(5..11);
}

/// Ways to a memory that differ by an odd number of cycles: an element that passes the word on takes one.
#[test]
fn an_element_passes_a_word_on_where_ways_differ_by_an_odd_number_of_cycles() {
    let target = ArrayTarget::new(array("amber"));
    let (compiled, mapped) = mapped(&program(&random_program_with_parameters(104)), &target).unwrap();
    assert!(mapped.lowered.netlist.cells.iter().any(|cell| cell.name.ends_with("_passed")));
    let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).unwrap();
    assert!(is_right(&compiled, &mapped, &configuration, &target));
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_with_parameters_compute_what_they_say() {
    check_random(11..311);
}

/// An array whose elements hold no words says so, and names the parameter.
#[test]
fn an_array_without_held_operands_is_told() {
    let target = ArrayTarget::new(array("tracks_3"));
    let text = "
name: parametric
schedule: stencil
inputs: {input: {type: u16, shape: [400, 24]}, gain: {type: u16, shape: [1]}}
outputs: {output: {type: u16, shape: [400, 24]}}
nest:
  - for y in 0..24:
    - for x in 0..400:
      - output[x, y] = input[x, y] * gain[0]
";
    let error = mapped(&program(text), &target).unwrap_err();
    assert!(
        error.to_string().contains("`gain` waits for its readers, and operands of `image_pe` hold no words"),
        "{error}"
    );
    assert!(error.location().is_some() && error.help().is_some_and(|help| help.contains("held_operands: true")));
}

/// Faults in each held operand and in its enable: the proof finds all that change an image.
#[test]
fn faults_of_held_operands_are_found() {
    let target = ArrayTarget::new(array("amber"));
    let layout = target.graph.layout(TileKind::Pe);
    let field = |meaning: Meaning| layout.field(meaning).unwrap();
    let enable = field(Meaning::Mode { layer: Layer::Bit, operand: 2 });
    let (mut found, mut harmless) = (0, 0);
    for (parameters, value) in [
        ("gain: {type: u16, shape: [1]}", "input[x, y] * gain[0]"),
        ("gain: {type: u16, shape: [24]}", "input[x, y] * gain[y + 2] + gain[y]"),
        (
            "gain: {type: u16, shape: [7]}",
            "input[x, y] * gain[0] + input[x + 1, y] * gain[1] + input[x, y + 1] * gain[5] + input[x, y + 2] * gain[6]",
        ),
    ] {
        let (compiled, mapped) = mapped(&parametric(parameters, value), &target).unwrap();
        let mut faults: Vec<(Configuration, String)> = Vec::new();
        for (place, tile) in &mapped.configuration.tiles {
            let mut plant = |what: &str, change: &dyn Fn(&mut pushmem_bitstream::TileConfiguration)| {
                let mut wrong = mapped.configuration.clone();
                change(wrong.tiles.get_mut(place).unwrap());
                faults.push((wrong, format!("{place}: {what}")));
            };
            if let Some(memory) = &tile.memory
                && memory.controllers.contains_key("stencil_valid")
            {
                for by in [-1, 1] {
                    plant("predicate early or late", &|tile| {
                        let memory = tile.memory.as_mut().unwrap();
                        memory.controllers.get_mut("stencil_valid").unwrap().cycle.start += by;
                    });
                }
            }
            if target.graph.kind(*place) != Some(TileKind::Pe) {
                continue;
            }
            let held = (0..2).find(|&operand| tile.mode(layout, Layer::Word, operand) == Mode::Held);
            let Some(operand) = held else { continue };
            let mode = field(Meaning::Mode { layer: Layer::Word, operand });
            for number in 0..3 {
                plant("mode of the word", &|tile| tile.fields[mode] = number);
            }
            // The enable as a constant, a cycle early or late, and of no mode; not connected; and of the wrong constant.
            for number in (0..4).filter(|number| *number != tile.fields[enable]) {
                plant("mode of the enable", &|tile| tile.fields[enable] = number);
            }
            let connection = field(Meaning::Connection { layer: Layer::Bit, port: 2 });
            plant("no enable", &|tile| tile.fields[connection] = 0);
            let constant = field(Meaning::Constant { layer: Layer::Bit, operand: 2 });
            plant("always enabled", &|tile| (tile.fields[enable], tile.fields[constant]) = (0, 1));
            let (table, is_handed_on) = (field(Meaning::Lut), tile.value(layout, Meaning::LutSelected) != 0);
            if is_handed_on {
                plant("another table", &|tile| tile.fields[table] = 0x0f);
            }
        }
        for (wrong, what) in faults {
            // Some values do not fit their registers: they never become a bitstream.
            let Ok(bitstream) = wrong.encode(&target.spec, &target.graph) else { continue };
            let (operations, site) = (&mapped.lowered.operations, mapped.site());
            match validate(reference(&compiled), operations, &target.spec, &target.graph, &bitstream, &site) {
                Err(_) => found += 1,
                Ok(_) => {
                    harmless += 1;
                    assert!(is_right(&compiled, &mapped, &wrong, &target), "{value}: {what} is not found");
                }
            }
        }
    }
    assert!(found >= 60 && harmless * 10 < found, "{found} faults were found, {harmless} are harmless");
}

/// Sums in an operand that accumulates: each enable starts one with the constant.
#[test]
fn results_accumulate() {
    let text = "
netlist: sums
array: network
cells:
  - {name: input, stream: input}
  - {name: starts, predicate: {extent: [4], cycle: {start: 3, stride: [5]}}}
  - {name: sum, operation: multiply_add, constants: {b: 1, c: 100}, modes: {c: accumulated}}
  - {name: output, stream: output}
nets:
  - {layer: word, from: input.data, to: [{input: sum.a, cycles: 0}]}
  - {layer: bit, from: starts.stencil_valid, to: [{input: sum.f, cycles: 0}]}
  - {layer: word, from: sum.result, to: [{input: output.data, cycles: 0}]}
";
    let array =
        "name: network\nkind: array\ncolumns: 4\nrows: 4\npe: network_pe\nmemory: {tile: small_rom, every: 4}\n";
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../constraints");
    let document = Document::parse("array.yaml", array).unwrap();
    let spec = pushmem_fabric::ArraySpec::from_document(&document, &pushmem_fabric::Folder(folder)).unwrap();
    let netlist = Netlist::from_document(&Document::parse("netlist.yaml", text).unwrap(), &spec).unwrap();
    let again = Document::parse("netlist.yaml", netlist.to_yaml(&spec)).unwrap();
    assert_eq!(Netlist::from_document(&again, &spec).unwrap(), netlist);
    let machine = Machine::new(&netlist, &spec, Numbers { word_bits: 16 });
    let cycle = Affine { start: 3, stride: vec![1] };
    let lane = |cell: usize| Lane { cell: cell.into(), extent: [20].into(), cycle: cycle.clone() };
    let words: Vec<u32> = (1..=20).collect();
    let expected: Vec<u32> =
        words.chunks(5).flat_map(|run| (1..=run.len()).map(|count| 100 + run[..count].iter().sum::<u32>())).collect();
    let (entering, leaving) = ([lane(0)], [lane(3)]);
    let mut run = Run::new(machine, &entering, &leaving, &[]);
    run.execute(run.length(), &|_, number| words[number]);
    assert_eq!(run.left, [expected]);
}
