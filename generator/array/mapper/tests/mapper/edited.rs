//! Stages that a person edited.

use pushmem_bitstream::Configuration;
use pushmem_compiler::{CompileStage, Compiled};
use pushmem_configuration::Configuration as MemoryConfiguration;
use pushmem_fabric::{Direction, Place, TileKind};
use pushmem_files::{Diagnostic, Document};
use pushmem_mapper::{ArrayTarget, Edited, Mapped, Report};
use pushmem_nest::Program;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::common::{app, array, built};

fn mirrored(target: &ArrayTarget, edited: &Edited) -> Result<(Compiled, Mapped), Diagnostic> {
    built(&app("bc_mirror"), target, edited)
}

fn document(text: &str) -> Document {
    Document::parse("edited.yaml", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The texts of a netlist, its placement and its routing.
fn texts(target: &ArrayTarget, mapped: &Mapped) -> [String; 3] {
    let (netlist, implementation) = (&mapped.lowered.netlist, &mapped.implementation);
    [
        netlist.to_yaml(&target.spec),
        implementation.placement.to_yaml(netlist, &target.spec),
        implementation.routing.to_yaml(netlist, &target.spec, &target.graph),
    ]
}

#[test]
fn stages_are_read_back_and_proven() {
    let target = ArrayTarget::new(array("amber"));
    let (_, mapped) = mirrored(&target, &Edited::default()).unwrap();
    let [netlist, placement, routing] = texts(&target, &mapped);
    let all = Edited {
        graph: None,
        netlist: Some(document(&netlist)),
        placement: Some(document(&placement)),
        routing: Some(document(&routing)),
        configuration: None,
    };
    let of_places = Edited { placement: Some(document(&placement)), ..Edited::default() };
    let of_configuration = Edited {
        placement: Some(document(&placement)),
        configuration: Some(mapped.configuration.clone()),
        ..Edited::default()
    };
    for edited in [all, of_places, of_configuration] {
        let (_, again) = mirrored(&target, &edited).unwrap();
        assert_eq!(again.bitstream, mapped.bitstream);
        assert_eq!(again.lowered, mapped.lowered);
    }
}

#[test]
fn an_edited_placement_has_other_routes() {
    let target = ArrayTarget::new(array("amber"));
    let (_, mapped) = mirrored(&target, &Edited::default()).unwrap();
    let [_, placement, _] = texts(&target, &mapped);
    // The output goes to a tile far from all others.
    let lines = placement.lines().map(|line| match line.trim_start().starts_with("output: io_") {
        true => "  output: io_31_0".to_owned(),
        false => line.to_owned(),
    });
    let moved = lines.collect::<Vec<_>>().join("\n") + "\n";
    assert_ne!(moved, placement);
    let (_, again) = mirrored(&target, &Edited { placement: Some(document(&moved)), ..Edited::default() }).unwrap();
    let output = again.lowered.outputs[0][0];
    assert_eq!(again.place(output).column, 31);
    assert_ne!(again.bitstream, mapped.bitstream);
}

#[test]
fn an_edit_that_changes_the_program_is_refused() {
    let target = ArrayTarget::new(array("amber"));
    let (_, mapped) = mirrored(&target, &Edited::default()).unwrap();
    let [netlist, placement, _] = texts(&target, &mapped);
    let changed = |from: &str, to: &str| {
        assert!(netlist.contains(from), "{netlist}");
        Some(document(&netlist.replacen(from, to, 1)))
    };
    let bit = netlist.lines().find(|line| line.contains("predicate: {extent: [64]")).expect("a bit of the border");
    for (edited, message) in [
        (Edited { netlist: changed("operation: add", "operation: subtract"), ..Edited::default() }, "is wrong"),
        (Edited { netlist: changed(bit, &bit.replace("[64]", "[63]")), ..Edited::default() }, "is wrong"),
        (Edited { netlist: changed("netlist: bc_mirror", "netlist: other"), ..Edited::default() }, "is for `other`"),
        (Edited { netlist: changed("name: input,", "name: inlet,"), ..Edited::default() }, "there is no cell `input`"),
        (
            Edited { routing: Some(document(&placement)), ..Edited::default() },
            "routes belong to places, which are not given",
        ),
    ] {
        let error = format!("{:?}", mirrored(&target, &edited).map(|_| ()).unwrap_err());
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn words_of_another_width_are_refused() {
    let error = mirrored(&ArrayTarget::new(array("word32")), &Edited::default()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("words of `word32` have 32 bits"), "{error}");
}

/// Netlists have no register files, so that a bitstream with one in use is none.
#[test]
fn a_register_file_in_use_is_refused() {
    let target = ArrayTarget::new(array("onyx"));
    let (_, mapped) = mirrored(&target, &Edited::default()).unwrap();
    let mut configuration = mapped.configuration.clone();
    let is_pe = |place: &&Place| target.graph.kind(**place) == Some(TileKind::Pe);
    let place = *configuration.tiles.keys().find(is_pe).unwrap();
    let pond = document(
        "tile: pond\ncontrollers: {rf2out_0: {extent: [2], cycle: {start: 0, stride: [1]}, register_file: {start: 0, stride: [1]}}}\n",
    );
    let memory = MemoryConfiguration::from_document(&pond, target.spec.register_file.as_ref().unwrap()).unwrap();
    configuration.tiles.get_mut(&place).unwrap().memory = Some(memory);
    let [_, placement, _] = texts(&target, &mapped);
    let edited =
        Edited { placement: Some(document(&placement)), configuration: Some(configuration), ..Edited::default() };
    let error = mirrored(&target, &edited).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("the register file of pe_"), "{error}");
}

/// A beat that nothing sends or takes would hold time for all: streams are those of the program alone.
#[test]
fn a_stream_that_the_program_does_not_have_is_refused() {
    let target = ArrayTarget::new(array("amber"));
    let (_, mapped) = mirrored(&target, &Edited::default()).unwrap();
    let [_, placement, _] = texts(&target, &mapped);
    let layout = target.graph.layout(TileKind::Io);
    let beats = document("{extent: [20], cycle: {start: 0, stride: [1]}}").deserialize().unwrap();
    let streams = mapped.site().streams();
    for direction in Direction::ALL {
        let is_free = |place: &Place| place.row == 0 && !streams.contains(&(*place, direction));
        let place = target.spec.places().find(is_free).unwrap();
        let mut configuration = mapped.configuration.clone();
        let tile = configuration.tile_mut(&target.graph, place);
        tile.set_stream(&target.spec, layout, direction, &beats).unwrap_or_else(|_| panic!("a short schedule"));
        let edited =
            Edited { placement: Some(document(&placement)), configuration: Some(configuration), ..Edited::default() };
        let error = mirrored(&target, &edited).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(direction.stream()), "{error}");
        assert!(error.to_string().contains("which the program does not have"), "{error}");
    }
}

/// The cells of this program are those of a schedule with more cycles for routes than the first one.
#[test]
fn a_placement_of_a_later_schedule_is_read_back() {
    let text = "
name: later
inputs: {input: {type: i8, shape: [10, 5]}, weights: {type: u16, shape: [4]}}
outputs: {output: {type: u8, shape: [8, 3]}}
buffers: {kept: {type: u16, shape: [4]}, sums: {type: u8, shape: [8, 3]}}
nest:
  - for i in 0..4 unroll 4:
    - kept[i] = weights[i]
  - for y in 0..3:
    - for x in 0..8:
      - sums[x, y] = 0
  - for k in 0..3:
    - for y in 0..3:
      - for x in 0..8:
        - sums[x, y] += ((input[x+k, y] as u16) * (kept[3] as u16)) as u8
  - for y in 0..3:
    - for x in 0..8:
      - output[x, y] = sums[x, y] + ((clamp((input[x+1, y] as u16), (kept[3] as u16), 100)) as u8)
";
    let program = Program::from_document(&document(text)).unwrap().program;
    let target = ArrayTarget::new(array("amber"));
    let mapped = |edited: &Edited| built(&program, &target, edited);
    let (_, first) = mapped(&Edited::default()).unwrap();
    let [_, placement, _] = texts(&target, &first);
    let edited = Edited { placement: Some(document(&placement)), ..Edited::default() };
    let (_, again) = mapped(&edited).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(again.bitstream, first.bitstream);
}

/// A recurrence takes a schedule with cycles for its routes. With a wrong configuration, the proof that failed for that schedule is
/// the reason, and not that a later one lacks the cells of the placement.
#[test]
fn the_failed_proof_is_the_reason_for_a_recurrence() {
    let target = ArrayTarget::new(array("amber"));
    let program = app("prefix_sum");
    let mapped = |edited: &Edited| built(&program, &target, edited);
    let (_, right) = mapped(&Edited::default()).unwrap();
    let [_, placement, _] = texts(&target, &right);
    let mut configuration = right.configuration.clone();
    let changed = configuration.tiles.values_mut().filter_map(|tile| tile.memory.as_mut());
    let controller = changed.flat_map(|memory| memory.controllers.values_mut()).find(|of| !of.extent.is_empty());
    let io = right.site().outputs[0][0];
    match controller {
        Some(controller) => controller.cycle.start += 1,
        None => {
            let direction = Direction::Out;
            let layout = target.graph.layout(TileKind::Io);
            let tile = configuration.tile_mut(&target.graph, io);
            let mut beats = tile.stream(&target.spec, layout, direction).unwrap();
            beats.cycle.start += 1;
            tile.set_stream(&target.spec, layout, direction, &beats).unwrap_or_else(|_| panic!("one cycle later"));
        }
    }
    let placement = Some(document(&placement));
    let edited = Edited { placement, configuration: Some(configuration), ..Edited::default() };
    let error = mapped(&edited).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("the bitstream of `prefix_sum` is wrong"), "{error}");
}

#[test]
fn an_application_graph_is_read_back() {
    let target = ArrayTarget::new(array("amber"));
    let (compiled, mapped) = mirrored(&target, &Edited::default()).unwrap();
    let graph = CompileStage::Graph.text(&compiled);
    let (_, again) = mirrored(&target, &Edited { graph: Some(document(&graph)), ..Edited::default() }).unwrap();
    assert_eq!(again.bitstream, mapped.bitstream);
}

/// The beats of a stream that begin too late for its controller: the array of the program, and the widths.
#[test]
fn a_stream_that_starts_too_late_is_refused_at_its_array() {
    let target = ArrayTarget::new(array("amber"));
    let refused = crate::common::mapped(&app("polybench_seidel_2d"), &target).map(|_| ()).unwrap_err();
    let text = format!("{refused:?}");
    assert!(text.contains("is not from 0 to 65535"), "{text}");
    assert!(text.contains("starts of 16 bits"), "{text}");
    assert!(text.contains("polybench_seidel_2d.yaml"), "{text}");
}

/// A recurrence whose routes take cycles that dedicated hardware does not need: the report says so.
#[test]
fn the_cycles_of_dedicated_hardware_are_reported() {
    let target = ArrayTarget::new(array("amber"));
    let (compiled, mapped) = crate::common::mapped(&app("iir_rows"), &target).unwrap();
    let report = Report::of(&compiled, &mapped, &target);
    assert!(report.dedicated_cycles < report.schedule_cycles, "{report}");
    assert!(report.to_string().contains("of dedicated hardware"), "{report}");
}

/// Numbers at the limits of types and of the language, in place of any number of a stage, are read or refused.
#[test]
fn no_number_of_a_stage_panics() {
    let numbers = ["-1", "65536", "4294967295", "9223372036854775807", "-9223372036854775808"];
    let target = ArrayTarget::new(array("amber"));
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    for name in ["bc_mirror", "gaussian"] {
        let program = app(name);
        let (_, mapped) = crate::common::mapped(&program, &target).unwrap();
        let [netlist, placement, routing] = texts(&target, &mapped);
        let configuration = mapped.configuration.to_yaml(&target.spec, &target.graph);
        for (stage, text) in [&netlist, &placement, &routing, &configuration].into_iter().enumerate() {
            let is_start = |place: &usize| !text[..*place].ends_with(|before: char| before.is_ascii_alphanumeric());
            let digits = text.match_indices(|letter: char| letter.is_ascii_digit()).map(|(place, _)| place);
            let starts: Vec<usize> = digits.filter(is_start).collect();
            for _ in 0..20 {
                let start = *starts.choose(random).unwrap();
                let rest = text[start..].trim_start_matches(|letter: char| letter.is_ascii_digit());
                let edited = format!("{}{}{rest}", &text[..start], numbers.choose(random).unwrap());
                let Ok(edited) = Document::parse("edited.yaml", &edited) else { continue };
                let placement = || Some(document(&placement));
                let edited = match stage {
                    0 => Edited { netlist: Some(edited), ..Edited::default() },
                    1 => Edited { placement: Some(edited), ..Edited::default() },
                    2 => Edited { placement: placement(), routing: Some(edited), ..Edited::default() },
                    _ => match Configuration::from_document(&edited, &target.spec, &target.graph) {
                        Ok(configuration) => {
                            Edited { placement: placement(), configuration: Some(configuration), ..Edited::default() }
                        }
                        Err(refused) => {
                            assert!(refused.location().is_some(), "{refused:?}");
                            continue;
                        }
                    },
                };
                let _ = built(&program, &target, &edited);
            }
        }
    }
}
