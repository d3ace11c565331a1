//! Faults planted in bitstreams.

use pushmem_assembly::Constraints;
use pushmem_bitstream::Configuration;
use pushmem_cells::Cells;
use pushmem_fabric::{Direction, Layer, Place, TileKind};
use pushmem_files::Document;
use pushmem_mapper::{ArrayTarget, Edited, compile_for, execute, reference};
use pushmem_nest::Program;
use pushmem_resources::Meaning;
use pushmem_routing::Options;
use pushmem_validation::{Invalid, validate};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{app, array, beside, mapped};

/// A configuration with one value changed, and the name of that; nothing where a value is not in use.
fn planted(
    configuration: &Configuration,
    target: &ArrayTarget,
    number: usize,
    random: &mut ChaCha8Rng,
) -> (Configuration, String) {
    let mut wrong = configuration.clone();
    let places: Vec<_> = configuration.tiles.keys().copied().collect();
    let place = places[number % places.len()];
    let layout = target.graph.layout(target.graph.kind(place).unwrap());
    let tile = wrong.tiles.get_mut(&place).unwrap();
    if let Some(memory) = tile.memory.as_mut().filter(|_| random.random_bool(0.7)) {
        if !memory.contents.is_empty() && random.random_bool(0.5) {
            let words = memory.contents.len();
            let word = random.random_range(0..words);
            memory.contents[word] ^= 1;
            return (wrong, format!("{place}: word {word}"));
        }
        let controllers = memory.controllers.len();
        let (name, controller) = memory.controllers.iter_mut().nth(random.random_range(0..controllers)).unwrap();
        let levels = controller.extent.len();
        let name = format!("{place}: {name}");
        match random.random_range(0..3) {
            0 => controller.cycle.start += 1,
            1 if levels > 0 => controller.extent[0] = controller.extent[0].max(2) - 1,
            _ if levels > 0 => controller.cycle.stride[levels - 1] += 1,
            _ => controller.cycle.start += 2,
        }
        return (wrong, name);
    }
    let used: Vec<usize> = (0..tile.fields.len()).filter(|field| tile.fields[*field] != 0).collect();
    let Some(&field) = used.get(random.random_range(0..used.len().max(1))) else { return (wrong, String::new()) };
    let bits = layout.fields[field].bits;
    tile.fields[field] ^= 1 << random.random_range(0..bits);
    (wrong, format!("{place}: {}", layout.fields[field].meaning.name()))
}

/// Every fault that changes a word that leaves is found, before the model runs.
#[test]
fn planted_faults_are_found() {
    let target = ArrayTarget::new(array("amber"));
    let random = &mut ChaCha8Rng::seed_from_u64(7);
    let (mut found, mut harmless) = (0, 0);
    for name in ["gaussian", "rom", "bc_const", "up_sample"] {
        let (compiled, mapped) = mapped(&app(name), &target).unwrap_or_else(|error| panic!("{error:?}"));
        assert!(mapped.proof.skipped > 0, "no period of {name} repeats");
        let images = compiled.program.random_inputs(random);
        let expected = compiled.source.run(&images).unwrap();
        for number in 0..60 {
            let (wrong, what) = planted(&mapped.configuration, &target, number, random);
            // Some values do not fit their registers: they never become a bitstream.
            let Ok(bitstream) = wrong.encode(&target.spec, &target.graph) else { continue };
            let (operations, site) = (&mapped.lowered.operations, mapped.site());
            let verdict: Result<_, Invalid> =
                validate(reference(&compiled), operations, &target.spec, &target.graph, &bitstream, &site);
            if verdict.is_err() {
                found += 1;
                continue;
            }
            harmless += 1;
            let run = execute(&mapped, &wrong, &compiled, &target, &images);
            let run = run.unwrap_or_else(|error| panic!("{name}: {what} is not found: {error:?}"));
            assert!(run.outputs == expected, "{name}: {what} is not found");
        }
    }
    assert!(found >= 150, "{found} faults were found, {harmless} are harmless");
}

/// A reciprocal that is too small by one gives another quotient of few operands only, which are among those that are compared.
#[test]
fn wrong_reciprocals_are_found() {
    let target = ArrayTarget::new(array("amber"));
    let (program, options) = (app("unsharp"), Options::default());
    let (compiled, mapped) =
        compile_for(&program, &target, &beside(), &Constraints::default(), &Edited::default(), options, &|_| ())
            .unwrap();
    let validated = |cells: &[Cells]| {
        let site = mapped.site();
        validate(reference(&compiled), cells, &target.spec, &target.graph, &mapped.bitstream, &site)
    };
    validated(&mapped.lowered.operations).unwrap();
    let divides = mapped.lowered.operations.iter().position(|cells| !cells.tables.is_empty()).unwrap();
    for divisor in [0, 255] {
        let mut wrong = mapped.lowered.operations.clone();
        wrong[divides].tables[0][divisor] -= 1;
        let verdict = validated(&wrong);
        assert!(matches!(verdict, Err(Invalid::Operation { .. })), "{divisor}: {verdict:?}");
    }
}

/// Values of fields that mean nothing are refused: opcodes of no operation, and modes that an operand does not have.
#[test]
fn undefined_values_are_refused() {
    let target = ArrayTarget::new(array("amber"));
    let (program, options) = (app("gaussian"), Options::default());
    let (compiled, mapped) =
        compile_for(&program, &target, &beside(), &Constraints::default(), &Edited::default(), options, &|_| ())
            .unwrap();
    let layout = target.graph.layout(TileKind::Pe);
    for (meaning, expected) in [
        (Meaning::Operation, "is that of no operation"),
        (Meaning::Mode { layer: Layer::Bit, operand: 0 }, "the bit operand 0 has no mode 7"),
    ] {
        let field = layout.field(meaning).unwrap();
        let mut wrong = mapped.configuration.clone();
        let is_pe = |place: &Place| target.graph.kind(*place) == Some(TileKind::Pe);
        let (_, tile) = wrong.tiles.iter_mut().find(|(place, _)| is_pe(place)).unwrap();
        tile.fields[field] = (1 << layout.fields[field].bits) - 1;
        let bitstream = wrong.encode(&target.spec, &target.graph).unwrap();
        let (cells, site) = (&mapped.lowered.operations, mapped.site());
        let verdict = validate(reference(&compiled), cells, &target.spec, &target.graph, &bitstream, &site);
        let message = verdict.unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// Rows of `t`, of which the first one has a statement of its own, and longer rows beside them.
const ROWS: &str = "
name: rows
inputs: {a: {type: u16, shape: [200, 100]}, b: {type: u16, shape: [400, 100]}}
outputs: {o: {type: u16, shape: [200, 100]}, p: {type: u16, shape: [400, 100]}}
buffers: {t: {type: u16, shape: [200, 100]}}
nest:
  - for x in 0..200:
    - t[x, 0] = a[x, 0] + 5
  - for y in 1..100:
    - for x in 0..200:
      - t[x, y] = a[x, y] + 3
  - for y in 0..100:
    - for x in 0..200:
      - o[x, y] = t[x, y] ^ 1
  - for y in 0..100:
    - for x in 0..400:
      - p[x, y] = b[x, y] + 1
";

/// A netlist that starts a row later than the program repeats its first row where that of the program has ended: no period of both hides it.
#[test]
fn a_first_row_that_does_not_end_is_found() {
    let target = ArrayTarget::new(array("amber"));
    let program = Program::from_document(&Document::parse("rows.yaml", ROWS).unwrap()).unwrap().program;
    let (compiled, mapped) = mapped(&program, &target).unwrap();
    let site = mapped.site();
    let verdict = |later: i64, first_row: (u64, i64)| {
        let mut edited = mapped.configuration.clone();
        let lanes = [(site.inputs[0][0], Direction::In), (site.outputs[0][0], Direction::Out)];
        let layout = target.graph.layout(TileKind::Io);
        for (place, direction) in lanes {
            let tile = edited.tiles.get_mut(&place).unwrap();
            let mut beats = tile.stream(&target.spec, layout, direction).unwrap();
            beats.cycle.start += later;
            tile.set_stream(&target.spec, layout, direction, &beats).unwrap();
        }
        let memories = edited.tiles.values_mut().filter_map(|tile| tile.memory.as_mut());
        for controller in memories.flat_map(|memory| memory.controllers.values_mut()) {
            (controller.extent[0], controller.cycle.start) = (first_row.0, controller.cycle.start + first_row.1);
        }
        let bitstream = edited.encode(&target.spec, &target.graph).unwrap();
        validate(reference(&compiled), &mapped.lowered.operations, &target.spec, &target.graph, &bitstream, &site)
    };
    assert!(verdict(300, (200, 300)).is_ok_and(|proof| proof.skipped > 0));
    for length in [38_942, 35_000, 600] {
        let wrong = verdict(300, (length, 158));
        assert!(matches!(wrong, Err(Invalid::Word { .. })), "{length}: {wrong:?}");
    }
}
