use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use pushmem_files::Document;
use pushmem_images::Image;
use pushmem_nest::{Checked, Type};

use super::*;
use crate::emit::Emitted;
use crate::{Read, import, import_within};

const ONLY_SAMPLES: Limits = Limits { whole: 0, ..LIMITS };

fn texts(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.is_file());
    files.sort();
    let name = |file: &Path| file.file_stem().unwrap().to_string_lossy().into_owned();
    files.iter().map(|file| (name(file), std::fs::read_to_string(file).unwrap())).collect()
}

fn statements() -> Vec<(String, String)> {
    texts("tests/statements")
}

/// Gives each statement with the nest that is made of it to `check`.
fn each_nest(texts: impl IntoIterator<Item = (String, String)>, mut check: impl FnMut(&str, &Statement, &Emitted)) {
    for (name, text) in texts {
        let read = Read::new(&text).unwrap();
        let inferred = Inferred::new(&read.program).unwrap();
        let emitted = inferred.emitted(&name, None, &mut { crate::turns::MOST_OF_ALL }).unwrap();
        let Emitted { names, boundaries, .. } = &emitted;
        let statement = Statement { module: &read.module, inferred: &inferred, names, boundaries, seed: read.seed };
        check(&name, &statement, &emitted);
    }
}

/// A nest, random images for it, and what it computes of them.
fn example(emitted: &Emitted) -> (Program, BTreeMap<String, Image>, BTreeMap<String, Image>) {
    let program = program(&emitted.text).unwrap();
    let inputs = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(3));
    let expected = program.run(&inputs).unwrap();
    (program, inputs, expected)
}

fn program(text: &str) -> Option<Program> {
    let Checked { program, .. } = Program::from_document(&Document::parse("test.yaml", text).ok()?).ok()?;
    Some(program)
}

/// The values of elements in the only world.
fn of_first_world(memory: &[i64]) -> Vec<i64> {
    memory.iter().step_by(2).copied().collect()
}

/// The steps of a nest compute what the interpreter of nests computes.
#[test]
fn steps_of_nests_are_the_nests() {
    let mut compared = 0;
    for (name, text) in texts("../../../apps") {
        let program = program(&text).unwrap();
        // Of Halide's programs none has them.
        if program.arrays.iter().any(|array| array.element == Type::Bf16) {
            continue;
        }
        let worlds = &worlds::worlds(&BTreeSet::new())[..1];
        let inputs: BTreeMap<&str, Vec<i64>> = worlds::images(&program, worlds, &BTreeSet::new());
        let image = |(name, values): (&&str, &Vec<i64>)| {
            let array = program.array(name).unwrap();
            let shape: Vec<usize> = array.shape.iter().map(|&extent| extent as usize).collect();
            let image = Image::from_values(array.element.element().unwrap(), &shape, of_first_world(values)).unwrap();
            ((*name).to_owned(), image.with_min(&array.min))
        };
        let arrays = program.arrays.iter().map(|array| inputs.get(array.name.as_str()).cloned().unwrap_or_default());
        let memories = arrays
            .chain(program.tables.iter().map(|table| table.values.iter().flat_map(|value| [*value, 0]).collect()))
            .collect();
        let execution = Execution { script: nest::script(&program), worlds, memories };
        let Ok(found) = execution.whole(1 << 21) else { continue };
        for (output, image) in program.run(&inputs.iter().map(image).collect()).unwrap() {
            let number = program.arrays.iter().position(|array| array.name == output).unwrap();
            let found = of_first_world(&found[number]);
            assert_eq!(found, image.values(), "{name}: {output}");
            // Where data choose elements, a part of them has no slice.
            if program.arrays.iter().any(|array| array.random_access) {
                continue;
            }
            let samples: Vec<(usize, i64)> = (0..10).map(|place| (number, place * 7 % found.len() as i64)).collect();
            let part = execution.part(&samples, &mut { LIMITS.samples }).unwrap();
            let part = of_first_world(&part[number]);
            assert!(samples.iter().all(|&(_, at)| part[at as usize] == found[at as usize]), "{name}");
        }
        compared += 1;
    }
    assert!(compared > 25, "only {compared} programs");
}

/// Samples need less than everything, and agree.
#[test]
fn samples_are_what_all_of_it_gives() {
    each_nest(statements(), |name, statement, emitted| {
        let nest = program(&emitted.text).unwrap();
        let compared = |limits| prove(statement, &nest, limits).unwrap();
        assert_eq!(compared(LIMITS), Compared::Everything, "{name}");
        assert_eq!(compared(ONLY_SAMPLES), Compared::Samples { missed: Vec::new() }, "{name}");
    });
}

/// The places of the numbers in a text from `start` on; digits in names are none.
fn numbers(text: &str, start: usize) -> Vec<std::ops::Range<usize>> {
    let digit = |place: &usize| text.as_bytes()[*place].is_ascii_digit();
    let word = |place: usize| text.as_bytes()[place].is_ascii_alphanumeric() || b"_$".contains(&text.as_bytes()[place]);
    let first = |place: &usize| digit(place) && !word(place - 1);
    let end = |place: usize| (place..).find(|end| !digit(end)).unwrap_or(place);
    (start..text.len()).filter(first).map(|place| place..end(place)).filter(|range| !word(range.end)).collect()
}

/// The text with some of its numbers a little larger or smaller.
fn changed(texts: Vec<(String, usize)>) -> impl Strategy<Value = String> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), -2..=2_i64), 1..4);
    (prop::sample::select(texts), edits).prop_map(|((mut text, start), edits)| {
        for (place, by) in edits {
            let numbers = numbers(&text, start);
            let range = numbers[place.index(numbers.len())].clone();
            let value: i64 = text[range.clone()].parse().unwrap();
            text.replace_range(range, &(value + by).max(0).to_string());
        }
        text
    })
}

/// Of statements that Halide would not print, too: what is understood is understood rightly.
#[test]
fn what_is_accepted_is_computed() {
    let small = statements().into_iter().map(|(_, text)| text).filter(|text| text.len() < 4000);
    let small: Vec<(String, usize)> = small.map(|text| (text.clone(), text.find("produce").unwrap())).collect();
    let strategy = changed(small);
    let mut runner = TestRunner::deterministic();
    let mut accepted = 0;
    for _ in 0..200 {
        let text = strategy.new_tree(&mut runner).unwrap().current();
        match import("test.stmt", &text) {
            Ok(_) => accepted += 1,
            Err(problem) => assert!(!problem.message().contains("random images"), "{problem:?}\n{text}"),
        }
    }
    assert!(accepted >= 40, "only {accepted} were accepted");
}

/// An import that is wrong is found out: a nest of other numbers that gives other pixels.
#[test]
fn wrong_imports_are_found() {
    let (mut runner, mut wrong, mut by_samples) = (TestRunner::deterministic(), 0, 0);
    let small = statements().into_iter().filter(|(_, text)| text.len() < 4000);
    each_nest(small, |_, statement, emitted| {
        let (_, inputs, expected) = example(emitted);
        let strategy = changed(vec![(emitted.text.clone(), emitted.text.find("nest:").unwrap())]);
        for _ in 0..20 {
            let text = strategy.new_tree(&mut runner).unwrap().current();
            let Some(nest) = program(&text) else { continue };
            if nest.run(&inputs).is_ok_and(|found| found != expected) {
                let problem = prove(statement, &nest, LIMITS).expect_err(&text);
                assert!(problem.message.starts_with("on random images"), "{}", problem.message);
                wrong += 1;
                by_samples += usize::from(prove(statement, &nest, ONLY_SAMPLES).is_err());
            }
        }
    });
    assert!(wrong >= 40 && 4 * by_samples >= 3 * wrong, "{by_samples} of {wrong} by samples");
}

/// A fault that shows for one value of a pixel among thousands is found, too.
#[test]
fn what_random_images_do_not_show_is_found() {
    for (image, shown) in [
        ("u16", "select(max(TAP, input[x]) == (uint16)65535, (uint16)1, (uint16)0)"),
        ("u16", "select(max(TAP, max(input[x], (uint16)7)) == (uint16)1000, input[x], (uint16)3)"),
        ("u16", "select((uint16)60000 < (uint16)absd(TAP, input[x]), (uint16)1, (uint16)0)"),
        ("u16", "uint16(uint32(TAP) / (uint32)65535)"),
        ("i16", "select(((int16)-300 <= TAP) && (TAP < (int16)-299), (int16)1, (int16)0)"),
        ("u16", "curve[min(int32(TAP), 3)]"),
    ] {
        let (right, wrong) = ("x + 4", "x + 3");
        let text = format!(
            "// input: {image}[64]
// output: {image}[60]
// curve: u16[4] = 1, 1, 1, 0
module name=rare, target=x86-64
const buffer curve
external_plus_metadata func rare (input, output) {{
produce output {{
 for (x, 0, 60) {{
  output[x] = {}
 }}
}}
}}
",
            shown.replace("TAP", &format!("input[{right}]"))
        );
        each_nest([("rare".to_owned(), text)], |_, statement, emitted| {
            assert_eq!(emitted.text.matches(right).count(), shown.matches("TAP").count(), "{}", emitted.text);
            for limits in [LIMITS, ONLY_SAMPLES] {
                assert!(prove(statement, &program(&emitted.text).unwrap(), limits).is_ok(), "{shown}");
                let wrong = program(&emitted.text.replace(right, wrong)).unwrap();
                assert!(prove(statement, &wrong, limits).is_err(), "{shown}");
            }
        });
    }
}

/// Faults in one row or column of the image, or where a tile begins or ends, are found by samples.
#[test]
fn faults_at_edges_are_found_by_samples() {
    let mut found = 0;
    each_nest(statements(), |name, statement, emitted| {
        let (right, inputs, expected) = example(emitted);
        let output = right.arrays.iter().find(|array| array.kind == ArrayKind::Output).unwrap();
        let start = emitted.text.rfind(&format!("- {}[", output.name)).unwrap();
        let Some((target, value)) = emitted.text[start..].trim_end().split_once(" = ") else { return };
        let indices = target.split_once('[').unwrap().1.trim_end_matches(']').split(", ");
        // The extents of the tiles.
        let tile = match name {
            "gaussian_tiled" => Some(31),
            "harris_tiled" => Some(29),
            "laplacian_pyramid_tiled" => Some(32),
            _ => None,
        };
        for (index, extent) in indices.zip(&output.shape) {
            for at in
                [0, 1, extent - 2, extent - 1].into_iter().chain(tile.into_iter().flat_map(|tile| [tile - 1, tile]))
            {
                let wrong =
                    format!("{}{target} = sel({index} == {at}, ({value}) ^ 1, {value})\n", &emitted.text[..start]);
                let nest = program(&wrong).unwrap_or_else(|| panic!("{wrong}"));
                // Where the last operation writes each second row, it does not write all of these.
                if nest.run(&inputs).unwrap() != expected {
                    assert!(prove(statement, &nest, ONLY_SAMPLES).is_err(), "{name}: {index} = {at}");
                    found += 1;
                }
            }
        }
    });
    assert!(found >= 60, "only {found} faults");
}

/// A fault at the end of a definition is found by samples where the output shows it, through any index.
#[test]
fn faults_at_edges_of_inner_definitions_are_found_by_samples() {
    for row in ["y*4 + 4000", "10236 - y*4", "(y/2)*4 + 4000"] {
        let text = format!(
            "// input: u8[4, 2560]
// output: u8[4, 1560]
module name=inner, target=x86-64
external_plus_metadata func inner (input, output) {{
allocate f[uint8 * 4 * 2560]
allocate g[uint8 * 4 * 2560]
produce f {{
 for (y, 0, 2560) {{
  for (x, 0, 4) {{
   f[x + y*4] = input[x + y*4]
  }}
 }}
 for (x, 0, 4) {{
  f[x + 5200] = (uint8)7
 }}
}}
produce g {{
 for (y, 0, 2560) {{
  for (x, 0, 4) {{
   g[x + y*4] = f[x + y*4] + (uint8)1
  }}
 }}
}}
produce output {{
 for (y, 0, 1560) {{
  for (x, 0, 4) {{
   output[x + y*4] = g[x + {row}]
  }}
 }}
}}
free g
free f
}}
"
        );
        each_nest([("inner".to_owned(), text)], |_, statement, emitted| {
            let (right, wrong) = ("<= 1300i32", "<= 1301i32");
            assert_eq!(emitted.text.matches(right).count(), 1, "{}", emitted.text);
            assert!(prove(statement, &program(&emitted.text).unwrap(), ONLY_SAMPLES).is_ok());
            assert!(prove(statement, &program(&emitted.text.replace(right, wrong)).unwrap(), ONLY_SAMPLES).is_err());
        });
    }
}

/// The random samples leave no wide strip of any dimension out, and edges of all dimensions meet.
#[test]
fn samples_are_everywhere() {
    let shape = [640, 1280];
    let edges = vec![[(100, 100)].into(), [(200, 200), (7, 300)].into()];
    let places = samples::samples(&shape, &edges, &mut ChaCha8Rng::seed_from_u64(1));
    for (dimension, extent) in shape.iter().enumerate() {
        let at = |place: &i64| [place % shape[0], place / shape[0]][dimension];
        for start in (0..*extent).step_by(*extent as usize / 64) {
            assert!(
                places.iter().any(|place| (start..start + extent / 64).contains(&at(place))),
                "{dimension} {start}"
            );
        }
    }
    assert!(places.contains(&(100 + 200 * shape[0])) && places.contains(&(100 + 300 * shape[0])));
}

/// An inference from the text is taken with a warning if nothing can be compared; a guess at its parts is not.
#[test]
fn guesses_are_compared() {
    let import = |name: &str, limits| {
        let mut found = texts("tests/found").into_iter().chain(statements());
        let (_, text) = found.find(|(file, _)| file == name).unwrap();
        import_within(&format!("{name}.stmt"), &text, limits, |_| {})
    };
    let nothing = Limits { whole: 0, samples: 0 };
    let checked = import("gaussian_sliding", nothing).unwrap();
    assert!(checked.warnings[0].message().starts_with("`output` was not compared"), "{:?}", checked.warnings);
    assert!(import("gaussian_sliding", ONLY_SAMPLES).unwrap().warnings.is_empty());
    assert!(import("places_apart", ONLY_SAMPLES).unwrap().warnings.is_empty());
    let problem = import("places_apart", nothing).unwrap_err();
    assert_eq!(problem.message(), "it is not known which elements of the Func these are");
}
