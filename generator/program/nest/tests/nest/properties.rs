//! Arbitrary text does not panic, and what is printed means the same.

use std::collections::BTreeMap;

use proptest::prelude::*;
use pushmem_affine::Affine;
use pushmem_files::{Diagnostic, Document};
use pushmem_images::Image;
use pushmem_nest::{Checked, Observer, Policy, Program, ProgramBuilder, Type};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::random_inputs;

fn read(text: &str) -> Result<Checked, Diagnostic> {
    Program::from_document(&Document::parse("p.yaml", text)?)
}

/// A program that computes this expression of type u16 from the arrays `a` of u16 and `b` of i16.
fn with_expression(expression: &str) -> String {
    format!(
        "name: p
inputs: {{a: {{type: u16, shape: [8, 4]}}, b: {{type: i16, shape: [8, 4]}}, c: {{type: u8, shape: [8, 4]}}}}
outputs: {{o: {{type: u16, shape: [8, 4]}}}}
tables: {{t: {{type: u16, values: [5, 6, 7, 8]}}}}
nest:
  - for y in 0..4:
    - for x in 0..8:
      - 'o[x, y] = {expression}'
"
    )
}

/// Pieces of statements in any order.
fn soup() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "a",
        "b",
        "o",
        "t",
        "x",
        "y",
        "z",
        "[",
        "]",
        "(",
        ")",
        ",",
        "=",
        "+=",
        "+",
        "-",
        "*",
        "/",
        "%",
        "<<",
        ">>",
        "&",
        "|",
        "^",
        "!",
        "==",
        "<",
        ">=",
        "&&",
        "||",
        "as",
        "u16",
        "i16",
        "i32",
        "bool",
        "0",
        "1",
        "3u16",
        "0x7f",
        "65536",
        "4294967295",
        "min",
        "clamp",
        "sel",
        "abs",
        "absd",
        "outside",
        "mirror",
        "true",
        "..",
        "for",
        "in",
        "a[x, y]",
        "b[x, y]",
        "o[x, y] =",
        "t[x]",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..25).prop_map(|pieces| pieces.join(" "))
}

/// Expressions with their types.
fn expression() -> impl Strategy<Value = (String, Type)> {
    let index = prop::sample::select(vec![
        "x, y",
        "7 - x, 3 - y",
        "x/2, y",
        "x%3, y/2",
        "clamp(x-1, 0, 7), y",
        "mirror(x+2, 0, 7), mirror(y-1, 0, 3)",
        "2*y, x/2",
    ]);
    let leaf = prop_oneof![
        index.clone().prop_map(|index| (format!("a[{index}]"), Type::U16)),
        index.clone().prop_map(|index| (format!("b[{index}]"), Type::I16)),
        index.clone().prop_map(|index| (format!("c[{index}]"), Type::U8)),
        index.prop_map(|index| (format!("outside(b[{}], -1)", index.replacen('x', "x-2", 1)), Type::I16)),
        (-40000_i64..70000).prop_map(|number| (format!("({number} as i16)"), Type::I16)),
        Just(("x".to_owned(), Type::I32)),
        (0_i64..256).prop_map(|number| (format!("{number}u8"), Type::U8)),
    ];
    leaf.prop_recursive(4, 40, 3, |inner| {
        let operators = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"];
        let comparisons = ["==", "!=", "<", "<=", ">", ">="];
        let cast = |text: &str, value: Type| format!("({text} as {})", value.name());
        prop_oneof![
            (inner.clone(), inner.clone(), prop::sample::select(operators.to_vec())).prop_map(
                move |((left, value), (right, _), operator)| {
                    (format!("({left} {operator} {})", cast(&right, value)), value)
                }
            ),
            (inner.clone(), -9_i64..99, prop::sample::select(operators.to_vec()))
                .prop_map(|((left, value), number, operator)| { (format!("({left} {operator} {number})"), value) }),
            (inner.clone(), prop::sample::select(vec!["min", "max", "absd"]), inner.clone()).prop_map(
                move |((left, value), function, (right, _))| {
                    let result = if function == "absd" { value.unsigned() } else { value };
                    (format!("{function}({left}, {})", cast(&right, value)), result)
                }
            ),
            (inner.clone(), prop::sample::select(comparisons.to_vec()), inner.clone(), inner.clone()).prop_map(
                move |((left, value), comparison, (right, _), (other, _))| {
                    let condition = format!("{left} {comparison} {}", cast(&right, value));
                    (format!("sel({condition} && !({left} == 7), {}, {left})", cast(&other, value)), value)
                }
            ),
            (inner.clone(), 0_i64..9).prop_map(|((operand, value), number)| {
                (format!("(sel({operand} > 3, {number}, 1) as {})", value.name()), value)
            }),
            inner.clone().prop_map(|(operand, value)| (format!("abs({operand})"), value.unsigned())),
            inner.clone().prop_map(|(operand, value)| (format!("(-{operand})"), value)),
            inner.clone().prop_map(|(operand, value)| (format!("(!{operand})"), value)),
            inner.prop_map(|(operand, _)| (format!("t[clamp({operand} as i32, 0, 3)]"), Type::U16)),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text: String, soup in soup(), header in soup()) {
        let quoted = format!("{:?}", text);
        let _ = read(&with_expression("1").replace("'o[x, y] = 1'", &quoted));
        let _ = read(&with_expression("1").replace("'o[x, y] = 1'", &format!("'{soup}'")));
        let _ = read(&with_expression(&soup));
        let _ = read(&with_expression("1").replace("for x in 0..8", &format!("'for x in {header}'")));
        let _ = read(&text);
    }

    #[test]
    fn printed_programs_mean_the_same((expression, _) in expression(), seed: u64) {
        let program = read(&with_expression(&format!("({expression}) as u16"))).unwrap().program;
        let text = program.to_string();
        let again = read(&text).unwrap_or_else(|problem| panic!("{problem:?}\n{text}")).program;
        prop_assert_eq!(again.to_string(), text);
        let inputs = random_inputs(&program, seed, 65535);
        prop_assert_eq!(program.run(&inputs).unwrap(), again.run(&inputs).unwrap());
    }

    #[test]
    fn named_values_mean_what_they_stand_for((first, of_first) in expression(), (second, of_second) in expression(), seed: u64) {
        let [one, other] = [of_first, of_second].map(|of| of.name());
        let joined = |v: &str, w: &str| format!("sel({v} > 5, {v} + ({w} as {one}), {v} ^ ({w} as {one})) as u16 + ({w} as u16)");
        let within = |v: &str| format!("absd({second}, (({v} - 3) ^ {v}) as {other})");
        let whole = with_expression(&joined(&format!("({first})"), &format!("({})", within(&format!("({first})")))));
        let named = with_expression(&joined("v", "w"));
        let named = named.trim_end().to_owned()
            + &format!(":\n          where:\n            v: '{first}'\n            w: '{}'\n", within("v"));
        let (Ok(whole), named) = (read(&whole), read(&named)) else { return Err(TestCaseError::reject("too deep")) };
        let (whole, named) = (whole.program, named.map_err(|problem| TestCaseError::fail(format!("{problem:?}")))?.program);
        let inputs = random_inputs(&whole, seed, 65535);
        prop_assert_eq!(whole.run(&inputs).unwrap(), named.run(&inputs).unwrap());
        let text = named.to_string();
        let again = read(&text).unwrap_or_else(|problem| panic!("{problem:?}\n{text}")).program;
        prop_assert_eq!(again.to_string(), text);
        prop_assert_eq!(named.run(&inputs).unwrap(), again.run(&inputs).unwrap());
    }
}

/// A value that takes as many steps as names, each of which uses the one before twice.
#[test]
fn values_are_computed_once_however_often_they_are_used() {
    let step = |number: usize| format!("            v{number}: sel(v{0} > 77, v{0} + v{0}, v{0} ^ 3)\n", number - 1);
    let steps: String = (1..64).map(step).collect();
    let text =
        with_expression("v63").trim_end().to_owned() + ":\n          where:\n            v0: 'a[x, y]'\n" + &steps;
    let program = read(&text).unwrap().program;
    let inputs = random_inputs(&program, 3, 65535);
    let of = |value: i64| (1..64).fold(value, |v, _| if v > 77 { (v + v) & 0xffff } else { v ^ 3 });
    let expected: Vec<i64> = inputs["a"].values().iter().map(of).collect();
    assert_eq!(program.run(&inputs).unwrap()["o"].values().to_vec(), expected);
    assert_eq!(read(&program.to_string()).unwrap().program.run(&inputs).unwrap()["o"].values().to_vec(), expected);
    // Keys of YAML that are long have a mark.
    let sum = vec!["a[7 - x, 3 - y]"; 130].join(" + ");
    let long = text.replace("= v63'", "= v63 + sum'") + &format!("            sum: {sum}\n");
    let long = read(&long).unwrap().program;
    let printed = long.to_string();
    assert!(printed.contains("- ? o[x, y] = sel("), "{printed}");
    assert_eq!(read(&printed).unwrap().program.run(&inputs).unwrap(), long.run(&inputs).unwrap());
    // Elements that data choose, each by the one before; values that nest deeply, without any that is used twice.
    for step in ["a[(v & 7) as i32, ((v >> 3) & 3) as i32]", "max(77, (v - 1) as i16 as u16) ^ 3"] {
        let steps: String = (1..41)
            .map(|number| format!("            v{number}: {}\n", step.replace('v', &format!("v{}", number - 1))))
            .collect();
        let text = with_expression("v40 + (v39 >> 1)").trim_end().to_owned()
            + ":\n          where:\n            v0: 'a[x, y]'\n"
            + &steps;
        let program = read(&text).unwrap().program;
        let printed = program.to_string();
        assert!(printed.len() < 10_000, "{printed}");
        assert_eq!(read(&printed).unwrap().program.run(&inputs).unwrap(), program.run(&inputs).unwrap());
    }
    // A chain of one operator that joins values with themselves is no reduction, and is not written out.
    let doubled: String =
        (1..64).map(|number| format!("            v{number}: v{0} + v{0} + 1\n", number - 1)).collect();
    let doubled = text.replace(&steps, &doubled);
    assert!(read(&doubled).unwrap().program.to_string().len() < 10_000);
}

#[test]
fn numbers_of_yaml_are_values() {
    for (number, expected) in [("3", 3), ("0x1f", 31), ("'7'", 7), ("0.00001", 0), ("2.5", 2)] {
        let text =
            with_expression("(n as u16)").trim_end().to_owned() + &format!(":\n          where: {{n: {number}}}\n");
        let program = read(&text).unwrap_or_else(|problem| panic!("{number}: {problem:?}")).program;
        let inputs = random_inputs(&program, 1, 65535);
        assert!(program.run(&inputs).unwrap()["o"].values().iter().all(|value| value == expected), "{number}");
    }
    let truth = with_expression("sel(n, 5, 6)").trim_end().to_owned() + ":\n          where: {n: true}\n";
    let program = read(&truth).unwrap().program;
    assert_eq!(program.run(&random_inputs(&program, 1, 65535)).unwrap()["o"].values().at(0), 5);
}

/// An element that only an unused value reads is not read.
#[test]
fn unused_values_read_nothing() {
    let text = with_expression("a[x, y] + m").trim_end().to_owned()
        + ":\n          where: {k: 'a[7 - x, y]', l: 'k + b[x, y] as u16', m: 3}\n";
    let checked = read(&text).unwrap();
    let found: Vec<&str> = checked.warnings.iter().map(Diagnostic::message).collect();
    assert!(
        found.contains(&"the value `k` is never used") && found.contains(&"the value `l` is never used"),
        "{found:?}"
    );
    assert!(found.contains(&"the input `b` is never used"), "{found:?}");
    assert_eq!(checked.program.operations()[0].1.loads.len(), 1);
}

#[test]
fn literals_take_types_from_what_is_around() {
    let value = |expression: &str| {
        let program = read(&with_expression(expression)).unwrap_or_else(|problem| panic!("{problem:?}")).program;
        let inputs = random_inputs(&program, 0, 0);
        (
            program.to_string().lines().last().unwrap().trim().to_owned(),
            program.run(&inputs).unwrap()["o"].values().at(9),
        )
    };
    for (expression, printed, expected) in [
        ("a[x, y] + 2 * 3", "a[x, y] + 6", 6),
        ("2 - 3 + a[x, y]", "65535 + a[x, y]", 65535),
        ("sel(a[x, y] == 0, 1, 2)", "sel(a[x, y] == 0, 1, 2)", 1),
        ("sel(a[x, y] == 0, 1, 2) as u16", "sel(a[x, y] == 0, 1, 2) as u16", 1),
        ("sel(a[x, y] == 0, sel(x == 1, 3, 4), 2)", "sel(a[x, y] == 0, sel(x == 1, 3, 4), 2)", 3),
        ("(sel(x == 1, 3i16, 4i16) - 5) as u16", "(sel(x == 1, 3i16, 4i16) - 5i16) as u16", 65534),
        ("-sel(x == 1, 3u16, 4)", "-sel(x == 1, 3u16, 4u16)", 65533),
        ("sel(a[x, y] == 0, 300u16, 2u16) as u8 as u16", "sel(a[x, y] == 0, 300u16, 2u16) as u8 as u16", 44),
        ("-1i16 as u16", "65535", 65535),
        ("(b[x, y] - 1) as u16 >> 1", "(b[x, y] - 1) as u16 >> 1", 32767),
        ("((b[x, y] - 2) >> 1) as u16", "(b[x, y] - 2 >> 1) as u16", 65535),
        ("1 << a[x, y]", "1 << a[x, y]", 1),
        ("x as u16 * 10 + y as u16", "x as u16 * 10 + y as u16", 11),
        ("(x * 1000000) as u16", "(x * 1000000) as u16", 16960),
        ("abs(b[x, y] - 5)", "abs(b[x, y] - 5)", 5),
        ("!a[x, y]", "!a[x, y]", 65535),
        ("(a[x, y] < 1 && true || false) as u16", "(a[x, y] < 1 && true || false) as u16", 1),
        ("t[1]", "6", 6),
        ("t[x % 4]", "t[x % 4]", 6),
        ("10 - 4 - 3", "3", 3),
        ("a[x, y] - (a[x, y] - 3)", "a[x, y] - (a[x, y] - 3)", 3),
        ("7 & 3 | 8 ^ 1 << 1 + 1", "15", 15),
        ("clamp(a[x, y], 3, 9)", "max(min(a[x, y], 9), 3)", 3),
        ("outside(a[x - 5, y], 77)", "outside(a[x - 5, y], 77)", 77),
    ] {
        let (found, number) = value(expression);
        assert_eq!(found, format!("- o[x, y] = {printed}"), "{expression}");
        assert_eq!(number, expected, "{expression}");
    }
}

#[test]
fn the_interpreter_explains_what_it_refuses() {
    let program = read(&with_expression("t[a[x, y]]")).unwrap().program;
    let mut inputs = random_inputs(&program, 0, 0);
    inputs.get_mut("a").unwrap().set(&[2, 1], 4);
    let problem = program.run(&inputs).unwrap_err();
    assert_eq!(problem.message(), "entry 4 of the table `t`, which has 0 to 3, at x = 2, y = 1");
    assert_eq!(problem.offending_text(), Some("o[x, y] = t[a[x, y]]"));

    let wrong = inputs["a"].clone();
    inputs.insert("a".to_owned(), Image::new(wrong.element(), &[4, 8]));
    let problem = program.run(&inputs).unwrap_err();
    assert_eq!(problem.message(), "the image for `a` has shape [4, 8], not [8, 4]");
    inputs.remove("a");
    assert_eq!(program.run(&inputs).unwrap_err().message(), "no image is given for the input `a`");
}

#[test]
fn a_seed_names_inputs_of_all_values() {
    let text = with_expression("a[x, y]");
    let program = read(&text.replace("u8, shape: [8, 4]", "i8, shape: [64, 64], min: [-3, 5]")).unwrap().program;
    let inputs = |seed| program.random_inputs(&mut ChaCha8Rng::seed_from_u64(seed));
    assert_eq!(inputs(1), inputs(1));
    assert_ne!(inputs(1), inputs(2));
    let image = &inputs(1)["c"];
    assert_eq!((image.shape(), image.min()), (&[64, 64][..], &[-3, 5][..]));
    let values = image.values();
    assert_eq!((values.iter().min(), values.iter().max()), (Some(-128), Some(127)));
}

#[test]
fn observers_see_loads_and_stores() {
    struct Log(Vec<String>);
    impl Observer for Log {
        fn executed(&mut self, operation: usize, variables: &[i64], loads: &[i64], stored: i64) {
            self.0.push(format!("{operation} {variables:?} {loads:?} {stored}"));
        }
    }
    let text = "name: p\ninputs: {a: {type: u16, shape: [2]}}\noutputs: {o: {type: u16, shape: [1]}}\nnest:\n  \
                - o[0] = 10\n  - for x in 0..2:\n    - o[0] += 2 * a[x]\n";
    let program = read(text).unwrap().program;
    let inputs = BTreeMap::from([("a".to_owned(), random_inputs(&program, 3, 9)["a"].clone())]);
    let (first, second) = (inputs["a"].values().at(0), inputs["a"].values().at(1));
    let mut log = Log(Vec::new());
    program.run_observed(&inputs, &mut log).unwrap();
    let sum = 10 + 2 * first;
    assert_eq!(
        log.0,
        [
            "0 [] [] 10".to_owned(),
            format!("1 [0] [{first}, 10] {sum}"),
            format!("1 [1] [{second}, {sum}] {}", sum + 2 * second)
        ]
    );
    let names: Vec<_> = program.operations().iter().map(|(_, operation)| operation.name.clone()).collect();
    assert_eq!(names, ["o_0", "o_1"]);
}

#[test]
fn built_programs_are_those_that_are_read() {
    let mut builder = ProgramBuilder::new("reduce");
    builder.set_schedule(Policy::Dnn);
    builder.add_input("a", Type::U16, &[6, 4]).add_output("o", Type::U16, &[4]).add_table("t", Type::U16, &[1, 2, 3]);
    builder.define_function("zero", &[], "0").define_function("weigh", &["value"], "value * t[x % 3]");
    let y = builder.add_loop("y", 0, 4);
    y.add_op("start").add_function("zero").add_store("o", &["y"]);
    let x = y.add_loop("x", -2, 6).unroll(2);
    x.add_op("add").add_function("weigh").add_load_or("a", &["x", "y"], 7).add_reduction("o", &["y"]);
    let built = builder.build().unwrap().program;
    assert_eq!(
        built.to_string(),
        "name: reduce
schedule: dnn
inputs:
  a: {type: u16, shape: [6, 4]}
outputs:
  o: {type: u16, shape: [4]}
tables:
  t:
    type: u16
    values: [1, 2, 3]
nest:
  - for y in 0..4:
    - o[y] = 0
    - for x in -2..4 unroll 2:
      - o[y] += outside(a[x, y], 7) * t[x % 3]
"
    );
    let operations = built.operations();
    assert_eq!(operations[1].1.name, "add");
    assert_eq!(operations[1].1.function.as_deref(), Some("weigh"));
    let index = operations[1].1.loads[0].access.indices[0].as_affine().map(|affine| affine.over(2));
    assert_eq!(index, Some(Affine { start: 0, stride: vec![1, 0] }));

    let mut wrong = ProgramBuilder::new("wrong");
    wrong.add_output("o", Type::U16, &[4]);
    let problem = |builder: &ProgramBuilder| builder.build().unwrap_err().message().to_owned();
    wrong.add_loop("x", 0, 4).add_op("nothing");
    assert_eq!(problem(&wrong), "the operation `nothing` has no store");
    let mut wrong = ProgramBuilder::new("wrong");
    wrong.add_loop("x", 0, 4).add_op("op").add_function("f").add_store("o", &["x"]);
    assert_eq!(problem(&wrong), "the operation `op` uses the function `f`, which is not defined");
    wrong.define_function("f", &["a"], "a");
    assert_eq!(problem(&wrong), "the operation `op` has 0 loads, but its function `f` has 1 parameters");
    wrong.define_function("f", &[], "inptu[x]");
    wrong.add_output("o", Type::U16, &[4]).add_input("input", Type::U16, &[4]);
    assert_eq!(problem(&wrong), "unknown array or table `inptu`");
}

#[test]
fn what_a_statement_writes_has_no_name() {
    // Parts that nest deeply have names.
    for levels in 10..50 {
        let deep = (0..levels).fold("a[x, y]".to_owned(), |deep, level| format!("({level} - {deep})"));
        let printed = read(&with_expression(&deep)).unwrap().program.to_string();
        let warnings = read(&printed).unwrap().warnings;
        assert!(!warnings.iter().any(|warning| warning.message().starts_with("the value")), "{printed}");
    }
}
