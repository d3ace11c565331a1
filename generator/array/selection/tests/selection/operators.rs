//! Every operator on every type, with extremes.

use itertools::Itertools;
use pushmem_nest::Type;
use pushmem_pe::{Numbers, PeSpec};

use crate::common::{compare, pe, read, selected};

/// A program of one operation on two inputs.
fn program(expression: &str, left: Type, right: Type, result: Type) -> String {
    let [left, right, result] = [left, right, result].map(Type::name);
    format!(
        "
name: operator
inputs:
  a: {{type: {left}, shape: [400]}}
  b: {{type: {right}, shape: [400]}}
outputs:
  o: {{type: {result}, shape: [400]}}
nest:
  - for x in 0..400:
    - 'o[x] = {expression}'
"
    )
}

const OPERATORS: [&str; 12] = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "<"];
const NARROW: [Type; 4] = [Type::U8, Type::I8, Type::U16, Type::I16];

/// Compares an expression that must be selected.
fn check(expression: &str, left: Type, right: Type, result: Type, spec: &PeSpec) {
    let program = read(&program(expression, left, right, result));
    let cells = selected(&program, spec);
    assert!(cells.iter().all(Result::is_ok), "{expression} of {}: {cells:?}", left.name());
    for seed in 0..3 {
        assert_eq!(compare(&program, spec, seed), 400, "{expression}");
    }
}

fn specs() -> Vec<PeSpec> {
    ["amber_pe", "largest_pe"].map(pe).into()
}

#[test]
fn operators_of_words_compute_what_the_interpreter_does() {
    for (spec, value) in specs().into_iter().cartesian_product(NARROW) {
        for operator in OPERATORS {
            let cast = if ["==", "<"].contains(&operator) { format!(" as {}", value.name()) } else { String::new() };
            check(&format!("(a[x] {operator} b[x]){cast}"), value, value, value, &spec);
        }
        for unary in ["abs(a[x])", "(-a[x])", "(!a[x])", "min(a[x], b[x])", "max(a[x], b[x])", "absd(a[x], b[x])"] {
            check(&format!("{unary} as {}", value.name()), value, value, value, &spec);
        }
        for comparison in ["!=", "<=", ">", ">="] {
            check(
                &format!("sel(a[x] {comparison} b[x], a[x], b[x] + (1 as {}))", value.name()),
                value,
                value,
                value,
                &spec,
            );
        }
    }
}

#[test]
fn operators_of_pairs_of_words_compute_what_the_interpreter_does() {
    for (spec, (wide, narrow)) in
        specs().into_iter().cartesian_product([Type::U32, Type::I32].into_iter().cartesian_product(NARROW))
    {
        let wide = wide.name();
        // A value that uses all 32 bits, and one that uses 16.
        let a = format!("((a[x] as {wide}) * (b[x] as {wide}) + (b[x] as {wide}) * (70001 as {wide}))");
        let b = format!("(b[x] as {wide})");
        for operator in ["+", "-", "*", "&", "|", "^"] {
            for shift in [0, 5, 8, 16, 21] {
                let expression = format!("(({a} {operator} {b}) >> ({shift} as {wide})) as {}", narrow.name());
                check(&expression, narrow, narrow, narrow, &spec);
            }
        }
        for expression in [
            format!("({a} << (3 as {wide})) >> (16 as {wide})"),
            format!("({a} << (19 as {wide})) >> (16 as {wide})"),
            format!("{a} / (4096 as {wide})"),
            format!("{a} % (65536 as {wide})"),
            format!("sel({a} < {b} * {b}, {a}, {b})"),
            format!("sel({a} <= {b}, {b}, {a} >> (16 as {wide}))"),
            format!("sel({a} == {b}, {b}, {a} >> (16 as {wide}))"),
            format!("min({a}, {b} - (5 as {wide}))"),
            format!("max({a}, {b} - (5 as {wide})) >> (9 as {wide})"),
            format!("(!{a}) >> (16 as {wide})"),
            format!("(-{a}) >> (16 as {wide})"),
        ] {
            check(&format!("({expression}) as {}", narrow.name()), narrow, narrow, narrow, &spec);
        }
        let unsigned = format!("abs({a}) >> (7 as {})", if wide == "i32" { "u32" } else { wide });
        check(&format!("({unsigned}) as {}", narrow.name()), narrow, narrow, narrow, &spec);
        let distance = format!("absd({a}, {b}) >> (13 as {})", if wide == "i32" { "u32" } else { wide });
        check(&format!("({distance}) as {}", narrow.name()), narrow, narrow, narrow, &spec);
    }
}

#[test]
fn quotients_and_shifts_of_pairs_of_words_compute_what_the_interpreter_does() {
    for (spec, (wide, narrow)) in
        specs().into_iter().cartesian_product([Type::U32, Type::I32].into_iter().cartesian_product(NARROW))
    {
        let divisors = [3_i64, 9, 600, 1000, 65_535, 65_536, 70_001, 16_777_216, 2_147_483_647];
        let divisors = divisors.into_iter().flat_map(|size| [size, -size]).filter(|divisor| wide.holds(*divisor));
        let wide = wide.name();
        // A value that uses all 32 bits, and one that uses 16.
        let a = format!("((a[x] as {wide}) * (b[x] as {wide}) + (b[x] as {wide}) * (70001 as {wide}))");
        let b = format!("(b[x] as {wide})");
        let by_constants = divisors
            .flat_map(|divisor| [format!("{a} / ({divisor} as {wide})"), format!("{a} % ({divisor} as {wide})")]);
        // By a value of a word, by one that may have more, and by few bits.
        let values = [b.clone(), format!("({b} * {b})"), format!("(a[x] as {wide} & (63 as {wide}))")];
        let by_values = values.iter().cartesian_product(["/", "%", "<<", ">>"]);
        let by_values = by_values.map(|(value, operator)| format!("{a} {operator} {value}"));
        for expression in by_constants.chain(by_values).chain([format!("{b} << (a[x] as {wide} & (31 as {wide}))")]) {
            for part in [0, 16] {
                let expression = format!("(({expression}) >> ({part} as {wide})) as {}", narrow.name());
                check(&expression, narrow, narrow, narrow, &spec);
            }
        }
    }
}

#[test]
fn quotients_by_constants_are_exact() {
    let spec = pe("amber_pe");
    for value in NARROW {
        for divisor in [2_i64, 3, 5, 6, 7, 9, 10, 11, 25, 60, 100, 119, 127, 255, 641, 1000, 32767, 40000, 65535] {
            for divisor in [divisor, -divisor].into_iter().filter(|divisor| value.holds(*divisor)) {
                let divisor = format!("({divisor} as {})", value.name());
                check(&format!("a[x] / {divisor}"), value, value, value, &spec);
                check(&format!("a[x] % {divisor}"), value, value, value, &spec);
            }
        }
    }
}

#[test]
fn quotients_by_constants_are_exact_for_all_words() {
    let spec = pe("amber_pe");
    for divisor in [3, 7, 641, 40000] {
        let text = program(&format!("a[x] / {divisor}"), Type::U16, Type::U16, Type::U16);
        let cells = selected(&read(&text), &spec).remove(0).unwrap();
        for word in 0..=0xffff {
            assert_eq!(
                cells.evaluate(&Numbers { word_bits: 16 }, &[word], &[0], |_, _| 0),
                [word / divisor],
                "{word} / {divisor}"
            );
        }
    }
}

#[test]
fn truth_values_share_tables() {
    let spec = pe("amber_pe");
    let expression = "sel((a[x] < b[x] && a[x] != 7) || !(b[x] == 3), a[x], b[x])";
    let program = read(&program(expression, Type::U16, Type::U16, Type::U16));
    let cells = selected(&program, &spec).remove(0).unwrap();
    // Three comparisons, a table of their three bits, a selection.
    assert_eq!(cells.cells.len(), 5, "{cells:#?}");
    assert_eq!(compare(&program, &spec, 1), 400);
}

/// Eight products take an element each, and the sum of two rows and a word one more. A tree would take 11.
#[test]
fn products_are_added_in_rows() {
    let lean = pe("lean_pe");
    let products = (0..8).map(|number| format!("a[x] * b[{number}]"));
    let expression = products.chain(["a[9]".to_owned()]).join(" + ");
    let program = read(&program(&expression, Type::U16, Type::U16, Type::U16));
    assert_eq!(selected(&program, &lean)[0].as_ref().unwrap().cells.len(), 9, "{expression}");
    assert_eq!(compare(&program, &lean, 1), 400);
}

#[test]
fn two_operations_become_one_where_the_processing_element_has_it() {
    let largest = pe("largest_pe");
    for (expression, cells) in [
        ("a[x] * b[x] + (5 as u16)", 1),
        ("a[x] + b[x] + (a[x] >> (3 as u16))", 2),
        ("max(min(a[x], b[x]), (9 as u16))", 1),
        ("absd(a[x], b[x])", 1),
    ] {
        let program = read(&program(expression, Type::U16, Type::U16, Type::U16));
        assert_eq!(selected(&program, &largest)[0].as_ref().unwrap().cells.len(), cells, "{expression}");
        assert_eq!(compare(&program, &largest, 1), 400);
    }
}
