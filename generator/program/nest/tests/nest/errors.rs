//! Refused programs: the place and the reason.

use pushmem_files::{Diagnostic, Document};
use pushmem_nest::{Checked, Program};

fn read(text: &str) -> Result<Checked, Diagnostic> {
    Program::from_document(&Document::parse("p.yaml", text)?)
}

/// A program of two loops around this statement.
fn with_statement(statement: &str) -> String {
    format!(
        "name: p
inputs: {{input: {{type: u16, shape: [64, 64]}}, signed: {{type: i16, shape: [64, 64]}}}}
outputs: {{output: {{type: u16, shape: [64, 64]}}}}
tables: {{curve: {{type: u16, values: [1, 2, 3]}}}}
nest:
  - for y in 0..64:
    - for x in 0..64:
      - {statement}
"
    )
}

/// The problems of this statement: the offending text and the message.
fn problems(text: &str) -> Vec<(String, String)> {
    match read(text) {
        Ok(checked) => checked.warnings.iter().map(described).collect(),
        Err(first) => {
            let others: Vec<_> = first.related().iter().map(described).collect();
            [described(&first)].into_iter().chain(others).collect()
        }
    }
}

fn described(problem: &Diagnostic) -> (String, String) {
    (problem.offending_text().unwrap_or_default().to_owned(), problem.message().to_owned())
}

/// Statements, the text that is pointed at, and what is said.
const STATEMENTS: &[(&str, &str, &str)] = &[
    ("output[x, y] = inptu[x, y]", "inptu", "unknown array or table `inptu`"),
    ("output[x, z] = input[x, y]", "z", "unknown loop variable `z`"),
    ("outptu[x, y] = input[x, y]", "outptu", "unknown array `outptu`"),
    ("output[x, y] = input[x]", "input[x]", "`input` has 2 dimensions, but 1 index is given"),
    (
        "output[x, y] = input[x, y] + signed[x, y]",
        "input[x, y] + signed[x, y]",
        "`+` takes two values of one type, found u16 and i16",
    ),
    ("output[x, y] = signed[x, y]", "signed[x, y]", "`output` is u16, but the value is i16"),
    ("output[x, y] = input[x, y] + x", "x", "`+` takes two values of one type, found u16 and i32"),
    ("output[x, y] = input[x, y] == 1", "input[x, y] == 1", "`output` is u16, but the value is bool"),
    (
        "output[x, y] = input[x, y] + (1 < 2)",
        "input[x, y] + (1 < 2)",
        "`+` takes two values of one type, found u16 and bool",
    ),
    ("output[x, y] = input[x, y] * 70000", "70000", "70000 does not fit u16 and becomes 4464"),
    ("output[x, y] = input[x, y] + 1: {share: 3x}", "3x", "`3x` cannot be the name of a compute unit"),
    ("output[x, y] = inptu[x, y] + 1: {share: sum}", "inptu", "unknown array or table `inptu`"),
    ("output[x, y] = a: {where: {a: 'inptu[x, y]'}}", "inptu", "unknown array or table `inptu`"),
    ("output[x, y] = value: {where: {valeu: 'input[x, y]'}}", "value", "unknown name `value`"),
    ("output[x, y] = 1: {where: {a: 'input[x, y]'}}", "a", "the value `a` is never used"),
    ("output[x, y] = x: {where: {x: 'input[x, y]'}}", "x", "`x` is an array, a table or a loop variable already"),
    (
        "output[x, y] = 1: {where: {min: 'input[x, y]'}}",
        "min",
        "`min` is a word of the language and cannot be the name of a value",
    ),
    ("output[x, y] = a: {where: {a: 'input[x, y]', 'a': 1}}", "'a'", "the key `a` stands here twice"),
    ("output[x, y] = 1: {where: {3x: 'input[x, y]'}}", "3x", "`3x` cannot be the name of a value"),
    ("output[x, y] = b: {where: {b: a, a: 'input[x, y]'}}", "a", "unknown name `a`"),
    (
        "output[x, y] = a + 1: {where: {a: 'input[x, y] < 3'}}",
        "a + 1",
        "`+` takes two values of one type, found bool and a number",
    ),
    ("output[x, y] = input[a, y]: {where: {a: x}}", "a", "the value `a` cannot stand in an index"),
    ("output[x, y] = outside(input[a + 1, y], 0): {where: {a: x}}", "a", "the value `a` cannot stand in an index"),
    ("output[x, y] = sel(a, 1, 2): {where: {a: 'input[x, y]'}}", "a", "expected a truth value, found u16"),
    ("output[x, y] = input[x, y] + a: {where: {a: 70000}}", "a", "70000 does not fit u16 and becomes 4464"),
    ("output[x, y] = -1", "-1", "-1 does not fit u16 and becomes 65535"),
    ("output[x, y] = input[x, y] / 0", "0", "division by 0 gives 0"),
    ("output[x, y] = input[x, y] >> 16", "16", "a shift by 16 of a value of 16 bits"),
    (
        "output[x, y] = input[x+1, y]",
        "input[x+1, y]",
        "`input` is read outside: index 0 is 64 at x = 63, y = 0, but goes from 0 to 63",
    ),
    (
        "output[x, y] = input[x, y-1]",
        "input[x, y-1]",
        "`input` is read outside: index 1 is -1 at x = 0, y = 0, but goes from 0 to 63",
    ),
    (
        "output[x+1, y] = input[x, y]",
        "output[x+1, y]",
        "`output` is written outside: index 0 is 64 at x = 63, y = 0, but goes from 0 to 63",
    ),
    (
        "output[x, y] = input[63 - x/2 - y, y]",
        "input[63 - x/2 - y, y]",
        "`input` is read outside: index 0 is -1 at x = 2, y = 63, but goes from 0 to 63",
    ),
    (
        "output[x, y] = input[input[x, y], y]",
        "input[x, y]",
        "index 0 of `input` may be from 0 to 65535; it goes from 0 to 63",
    ),
    (
        "output[x, y] = outside(input[input[x, y], y], 3)",
        "input[x, y]",
        "this cannot be an index of an array: it depends on data, on `input`",
    ),
    (
        "output[x, y] = outside(input[curve[x], y], 3)",
        "curve[x]",
        "this cannot be an index of an array: it depends on data, on `curve`",
    ),
    ("output[x, y] = input[x*y, y]", "x*y", "this cannot be an index of an array: two loop variables are multiplied"),
    (
        "output[x, y] = input[x / y, y]",
        "x / y",
        "this cannot be an index of an array: the divisor is not a positive constant",
    ),
    ("output[x, y] = input[x & 1, y]", "x & 1", "this cannot be an index of an array: `&` is not affine"),
    (
        "output[x, y] = input[x as u16, y]",
        "x as u16",
        "this cannot be an index of an array: indices have no width, so that there is nothing to cast",
    ),
    ("output[x, y] = input[clamp(x, 63, 0), y]", "clamp(x, 63, 0)", "nothing is from 63 to 0"),
    ("output[x, y] = input[clamp(x, 0), y]", "clamp(x, 0)", "`clamp` takes 3 arguments, not 2"),
    ("output[x, y] = input[abs(x), y]", "abs", "`abs` cannot be used in an index of an array"),
    ("output[x, y] = input[99999999999, y]", "99999999999", "`99999999999` is too large"),
    ("output[x, y] = input[100000000 * x, y]", "100000000", "this index becomes too large or too complicated"),
    (
        "output[x, y] = curve[input[x, y]]",
        "input[x, y]",
        "the index of the table `curve` may be from 0 to 65535; it has entries 0 to 2",
    ),
    ("output[x, y] = curve[3]", "3", "the index of the table `curve` is 3; it has entries 0 to 2"),
    ("output[x, y] = curve[0, 1]", "curve[0, 1]", "a table has one index, not 2"),
    ("output[x, y] = curve", "curve", "`curve` needs indices"),
    ("output[x, y] = curve(1)", "curve(1)", "`curve` is not a function"),
    ("output[x, y] = clmap(input[x, y], 0, 1)", "clmap", "unknown function `clmap`"),
    ("output[x, y] = min(input[x, y])", "min(input[x, y])", "`min` takes 2 arguments, not 1"),
    ("output[x, y] = sel(input[x, y], 1, 2)", "input[x, y]", "expected a truth value, found u16"),
    ("output[x, y] = mirror(input[x, y], 0, 1)", "mirror", "`mirror` reflects the index of an array, not a value"),
    ("output[x, y] = outside(1, 2)", "1", "expected an element of an array"),
    ("output[x, y] = outside(input[x-1, y], input[x, y])", "input[x, y]", "expected a constant of type u16"),
    ("output[x, y] = input[x, y] as bool as u16", "input[x, y] as bool", "a number cannot be cast to a truth value"),
    ("output[x, y] = input[x, y] as f32", "f32", "expected a type, found `f32`"),
    ("output[x, y] = (input[x, y] < 1 < 2) as u16", "<", "comparisons cannot be chained"),
    ("output[x, y] = (input[x, y] && input[x, y]) as u16", "input[x, y]", "expected a truth value, found u16"),
    ("output[x, y] = !(input[x, y] < 3)", "!(input[x, y] < 3)", "`output` is u16, but the value is bool"),
    ("output[x, y] = input[x, y] + ", "", "expected an operand, found the end"),
    ("output[x, y] = input[x, y] $ 2", "$", "unexpected character `$`"),
    ("output[x, y] = (input[x, y]", "", "expected an operator or `)`, found the end"),
    ("output[x, y] = input[x, y] input[x, y]", "input", "expected an operator or the end, found `input`"),
    ("output[x, y] input[x, y]", "input", "expected `=` or `+=`, found `input`"),
    ("output[x, y] *= 2", "*=", "expected `=` or `+=`, found `*=`"),
    ("output[x, y] += 2", "output[x, y]", "`output[0, 0]` is read before it is written at x = 0, y = 0"),
    ("output[x, y] = output[x, y]", "output[x, y]", "`output[0, 0]` is read before it is written at x = 0, y = 0"),
    (
        "output[x, y] = output[x, y] + input[x, y]",
        "output[x, y]",
        "`output[0, 0]` is read before it is written at x = 0, y = 0",
    ),
    ("input[x, y] = 1", "input", "the input `input` cannot be written"),
    ("curve[x] = 1", "curve", "`curve` is a table of constants and cannot be written"),
    ("output[x, y] = input[x, y] * 0.5", "input[x, y] * 0.5", "`*` takes two values of one type, found u16 and bf16"),
    ("output[x, y] = input[x, y] * 0.5f", "0.5f", "`0.5f` is not a number"),
    ("output[x, y] = input[x, y] * 3bf16", "3bf16", "`3bf16` is not an integer"),
    (
        "output[x, y] = (1.0 * 400000000000000000000000000000000000000.0) as u16",
        "400000000000000000000000000000000000000.0",
        "`400000000000000000000000000000000000000.0` is too large",
    ),
    (
        "output[x, y] = (200000000000000000000000000000000000000.0 * 2) as u16",
        "(200000000000000000000000000000000000000.0 * 2)",
        "this constant is beyond the numbers of bf16",
    ),
    (
        "output[x, y] = (input[x, y] as bf16) as i32 as u16",
        "(input[x, y] as bf16) as i32",
        "bf16 cannot be cast to i32",
    ),
    ("output[x, y] = (x as bf16) as u16", "(x as bf16)", "an integer of 32 bits cannot be cast to bf16"),
    ("output[x, y] = (input[x, y] as bf16 % 2) as u16", "(input[x, y] as bf16 % 2)", "`%` takes integers, not bf16"),
    ("output[x, y] = (input[x, y] as bf16 << 1) as u16", "(input[x, y] as bf16 << 1)", "`<<` takes integers, not bf16"),
    ("output[x, y] = (input[x, y] as bf16 & 1) as u16", "(input[x, y] as bf16 & 1)", "`&` takes integers, not bf16"),
    (
        "output[x, y] = (!(input[x, y] as bf16)) as u16",
        "(!(input[x, y] as bf16))",
        "`!` takes integers and truth values, not bf16",
    ),
    ("output[x, y] = (input[x, y] as bf16 / 3) as u16", "3", "bf16 is divided by powers of two only"),
    ("output[x, y] = (1 / (input[x, y] as bf16)) as u16", "(input[x, y] as bf16)", "bf16 is divided by constants only"),
    ("output[x, y] = sqrt(input[x, y]) as u16", "input[x, y]", "`sqrt` takes a number of bf16 or f16, not u16"),
    ("output[x, y] = exp(100) as u16", "exp(100)", "this constant is beyond the numbers of bf16"),
    (
        "output[x, y] = input[x, y] * 0.5f16",
        "input[x, y] * 0.5f16",
        "`*` takes two values of one type, found u16 and f16",
    ),
    ("output[x, y] = input[x, y] * 3f16", "3f16", "`3f16` is not an integer"),
    ("output[x, y] = (65520.0f16) as u16", "65520.0f16", "`65520.0f16` is too large"),
    ("output[x, y] = (input[x, y] as f16 + 65520.0) as u16", "65520.0", "this constant is beyond the numbers of f16"),
    ("output[x, y] = (input[x, y] as f16 + 65520) as u16", "65520", "this constant is beyond the numbers of f16"),
    ("output[x, y] = (65520 as f16) as u16", "(65520 as f16)", "this constant is beyond the numbers of f16"),
    (
        "output[x, y] = ((input[x, y] as f16) as bf16) as u16",
        "((input[x, y] as f16) as bf16)",
        "f16 cannot be cast to bf16",
    ),
    ("output[x, y] = (input[x, y] as f16) as i32 as u16", "(input[x, y] as f16) as i32", "f16 cannot be cast to i32"),
    ("output[x, y] = (x as f16) as u16", "(x as f16)", "an integer of 32 bits cannot be cast to f16"),
    ("output[x, y] = (input[x, y] as f16 % 2) as u16", "(input[x, y] as f16 % 2)", "`%` takes integers, not f16"),
    ("output[x, y] = (input[x, y] as f16 / 3) as u16", "3", "f16 is divided by powers of two only"),
    ("output[x, y] = sin(input[x, y] as f16) as u16", "sin(input[x, y] as f16)", "`sin` of f16 is not supported"),
    ("output[x, y] = exp(12.0f16) as u16", "exp(12.0f16)", "this constant is beyond the numbers of f16"),
    ("output[x, y] = curve[input[x, y] as f16]", "input[x, y] as f16", "the index of a table is an integer, not f16"),
    ("output[x, y] = exp(1, 2) as u16", "exp(1, 2)", "`exp` takes 1 argument, not 2"),
    (
        "output[x, y] = curve[input[x, y] as bf16]",
        "input[x, y] as bf16",
        "the index of a table is an integer, not bf16",
    ),
    ("output[x, y] = input[x + 0.5, y]", "0.5", "this cannot be an index of an array: it has a fraction"),
    ("output[x, y] = input[y][x]", "[", "expected an operator, found `[`"),
    ("output[x, y] = (x > 3) ? 1 : input[x, y]", "?", "unexpected character `?`"),
    ("output[x, y] = 12abc", "12abc", "`12abc` is not an integer"),
    ("output[x, y] = 0x", "0x", "`0x` is not an integer"),
    ("output[x, y] = 99999999999", "99999999999", "`99999999999` is too large"),
    ("output[2*(x/2), y] = input[x, y]", "output", "`output[1, 0]` is never written"),
    ("output = 3", "=", "expected `[`, found `=`"),
    ("3 = output[x, y]", "3", "expected the name of an array, found `3`"),
    ("for z in 0..3", "for", "a loop without a body"),
    ("output[x, y] = if", "if", "unknown name `if`"),
];

#[test]
fn statements_are_refused_where_they_are_wrong() {
    for (statement, text, message) in STATEMENTS {
        let found = problems(&with_statement(statement));
        assert!(found.contains(&((*text).to_owned(), (*message).to_owned())), "{statement}\n{found:#?}");
    }
}

#[test]
fn words_of_other_languages_have_an_answer() {
    for (statement, line) in [
        ("if (x > 3) output[x, y] = 1", "`sel(condition, a, b)`"),
        ("output[x, y] = input[x, y] if x > 3 else 0", "`sel(condition, a, b)`"),
        ("output[x, y] = if x > 3 { 1 } else { 2 }", "`sel(condition, a, b)`"),
        ("let t = input[x, y]", "`where: {t: b[x] + 1}`"),
        ("t = input[x, y]", "`where: {t: b[x] + 1}`"),
        ("output[y][x] = input[x, y]", "`image[x, y]`"),
        ("output[x, y] = input[y][x]", "`image[x, y]`"),
        ("output[x, y] = input[x, y] ** 2", "`a[x] * a[x]`"),
        ("output[x, y] = input[x, y] // 2", "`a / b`, rounded down"),
        ("output[x, y] = sel(x < 4 and y < 4, input[x, y], 0)", "`a && b`"),
        ("output[x, y] = sel(not (x < 4), input[x, y], 0)", "`!a`"),
        ("output[x, y] = input[x, y] + if", "`sel(condition, a, b)`"),
        ("output[x, y] = input[x, y] * 0.5", "`a[x] / 2`, 0.5 of it"),
        ("output[x, y] = 0.75 * input[x, y]", "`a[x] * 3 / 4`, 0.75 of it"),
        ("output[x, y] = input[x, y] * 0.299", "`a[x] * 77 / 256`, about 0.299 of it"),
        ("output[x, y] = input[x, y] * 2.0", "`a[x] * 2`, 2 of it"),
        ("output[x, y] = input[x, y] + 0.5", "`a[x] as bf16`"),
        ("for z in 0..=3:\n        - output[x, y] = 1", "`0..64` runs 64 times"),
        ("for z in 0..8:2:\n        - output[x, y] = 1", "`for x in 0..64 step 2:`"),
        ("for z in range(8):\n        - output[x, y] = 1", "`for x in 0..64 step 2 unroll 4:`"),
        ("if x < 3:\n        - output[x, y] = 1", "`sel(condition, a, b)`"),
    ] {
        let first = read(&with_statement(statement)).expect_err(statement);
        let help = first.help().unwrap_or_default();
        assert!(help.contains(line), "{statement}\n{}\n{help}", first.message());
    }
}

/// Replaces one part of a program, and tells the text pointed at and the message.
fn changed(from: &str, to: &str) -> Vec<(String, String)> {
    const GOOD: &str = "name: p
inputs:
  input: {type: u16, shape: [64, 64]}
outputs:
  output: {type: u16, shape: [8, 8], min: [-1, 0]}
buffers:
  middle: {type: u16, shape: [8, 8]}
tables:
  curve: {type: u8, values: [1, 2, 3]}
nest:
  - for y in 0..8:
    - for x in 0..8 unroll 2:
      - middle[x, y] = input[x, y]
  - for y in 0..8:
    - for x in -1..7:
      - output[x, y] = middle[x+1, y] + curve[1] as u16
";
    let text = GOOD.replacen(from, to, 1);
    assert_ne!(text, GOOD, "{from} is in the program");
    problems(&text)
}

#[test]
fn declarations_and_loops_are_refused_where_they_are_wrong() {
    for (from, to, text, message) in [
        ("name: p", "name: 1p", "1p", "`1p` cannot be the name of a program"),
        ("name: p", "schedule: best", "best", "unknown value `best`"),
        ("outputs:", "outptus:", "outptus", "unknown key `outptus`"),
        ("type: u16", "type: f32", "f32", "unknown type `f32`"),
        ("type: u16", "type: bool", "bool", "bool exists only within expressions"),
        ("shape: [64, 64]", "shape: [64, 0]", "0", "0 elements in dimension 1"),
        ("shape: [64, 64]", "shape: [-3, 64]", "-3", "-3 elements in dimension 0"),
        ("shape: [64, 64]", "shape: []", "[]", "an array has 1 to 8 dimensions, not 0"),
        ("shape: [64, 64]", "shape: [65536, 65536]", "[65536, 65536]", "an array has at most 67108864 elements"),
        ("shape: [64, 64]", "shape: [99999999, 1]", "99999999", "99999999 elements in dimension 0"),
        ("min: [-1, 0]", "min: [0]", "[0]", "1 least indices for 2 dimensions"),
        ("min: [-1, 0]", "min: [0, 99999999]", "99999999", "indices are from -16777216 to 16777216"),
        ("  input:", "  for:", "for", "`for` is a word of the language and cannot be a name"),
        ("  input:", "  in-put:", "in-put", "`in-put` cannot be a name"),
        ("  middle:", "  input:", "input", "`input` is declared twice"),
        ("values: [1, 2, 3]", "values: [1, 256]", "256", "256 does not fit u8"),
        ("values: [1, 2, 3]", "values: []", "[]", "a table has 1 to 65536 entries, not 0"),
        ("x in 0..8", "y in 0..8", "y", "a loop around has the variable `y` already"),
        ("x in 0..8", "input in 0..8", "input", "`input` is an array or table already"),
        ("x in 0..8", "x in 0..0", "0..0", "the loop from 0 to 0 never runs"),
        ("x in 0..8", "x in 8..2*3", "8..2*3", "the loop from 8 to 6 never runs"),
        ("x in 0..8", "x in 0..y", "y", "the end of the loop depends on the loop variable `y`"),
        ("x in 0..8", "x in y+1..8", "y", "the start of the loop depends on the loop variable `y`"),
        ("x in 0..8", "x in 0..input[0, y]", "y", "the end of the loop depends on the loop variable `y`"),
        ("x in 0..8", "x in 0..input[0, 0]", "input", "the end of the loop depends on data, on `input`"),
        ("x in 0..8", "x in 0..width", "width", "the end of the loop is not constant: there is no `width`"),
        ("x in 0..8", "x in first..8", "first", "the start of the loop is not constant: there is no `first`"),
        ("x in 0..8", "x in 0..input", "input", "the end of the loop depends on data, on `input`"),
        ("x in 0..8", "x in 0..4 + curve", "curve", "the end of the loop depends on data, on `curve`"),
        ("unroll 2", "unroll lanes", "lanes", "the factor of `unroll` is not constant: there is no `lanes`"),
        ("x in 0..8", "x in 0..8 & 12", "8 & 12", "the end of the loop cannot be computed with `&`"),
        ("x in 0..8", "x in 0..8 as u16", "8 as u16", "the end of the loop cannot be computed with a cast"),
        ("x in 0..8", "x in 0..abs(8)", "abs", "the end of the loop cannot be computed with `abs`"),
        ("x in 0..8", "x in 0..8/0", "0", "the end of the loop is divided by 0"),
        (
            "x in 0..8",
            "x in 0..4000000000*4000000000",
            "4000000000*4000000000",
            "the end of the loop becomes too large",
        ),
        ("x in 0..8", "x in 0..20000000", "20000000", "20000000 is too large for a bound"),
        ("x in 0..8", "x 0..8", "0", "expected `in`, found `0`"),
        ("x in 0..8", "x in 0,8", ",", "expected `..`, found `,`"),
        ("x in 0..8", "min in 0..8", "min", "expected the loop variable, found `min`"),
        ("x in 0..8", "x in 0..8 step 0", "0", "a step of 0"),
        ("x in 0..8", "x in 0..8 step -1", "-1", "a step of -1"),
        ("x in 0..8", "x in 0..8 step y", "y", "the step of the loop depends on the loop variable `y`"),
        ("x in 0..8 unroll 2", "x in 0..8 unroll 2 step 2", "step", "expected an operator or the end, found `step`"),
        ("name: p", "name: p\nconstants: {W: 8, V: X}", "X", "the constant is not constant: there is no `X`"),
        ("name: p", "name: p\nconstants: {W: 0.5}", "0.5", "the constant cannot be computed with a fraction"),
        ("name: p", "name: p\nconstants: {min: 8}", "min", "`min` is a word of the language and cannot be a name"),
        ("name: p", "name: p\nconstants: {3w: 8}", "3w", "`3w` cannot be a name"),
        ("name: p", "name: p\nconstants: {W: 8, W: 9}", "W", "the key `W` stands here twice"),
        ("name: p", "name: p\nconstants: {input: 8}", "input", "`input` has a meaning already"),
        ("name: p", "name: p\nconstants: {curve: 8}", "curve", "`curve` has a meaning already"),
        ("name: p", "name: p\nconstants: {y: 8}", "y", "`y` has a meaning already"),
        ("shape: [64, 64]", "shape: [64, H]", "H", "the extent is not constant: there is no `H`"),
        ("shape: [64, 64]", "shape: [64, 1.5]", "1.5", "the extent cannot be computed with a fraction"),
        ("unroll 2", "unroll 3", "3", "`unroll 3` does not divide the 8 iterations"),
        ("unroll 2", "unroll 0", "0", "`unroll 0` does not divide the 8 iterations"),
        ("unroll 2", "unrol 2", "unrol", "expected an operator or the end, found `unrol`"),
        ("- middle[x, y] = input[x, y]", "  []", "for x in 0..8 unroll 2", "this loop does nothing"),
        (
            "- middle[x, y] = input[x, y]",
            "  3",
            "3",
            "expected a list of loops and statements, each after a dash, found `3`",
        ),
        ("- middle[x, y] = input[x, y]", "", "for x in 0..8 unroll 2", "the key `for x in 0..8 unroll 2` has no value"),
        (
            "- middle[x, y] = input[x, y]",
            "  middle[x, y] = input[x, y]",
            "middle[x, y] = input[x, y]",
            "expected a list of loops and statements, each after a dash, found `middle[x, y] = input[x, y]`",
        ),
        ("- middle[x, y] = input[x, y]", "- 3", "3", "expected a statement or a loop, found `3`"),
        ("for x in -1..7", "for x in -1..6", "output", "`output[6, 0]` is never written"),
        (
            "x in 0..8 unroll 2",
            "x in 0..7",
            "middle[x+1, y]",
            "`middle[7, 0]` is read before it is written at x = 6, y = 0",
        ),
        ("middle[x+1, y] + ", "", "middle", "the buffer `middle` is written but never read"),
        ("middle[x+1, y] + ", "", "input", "no output depends on the input `input`"),
        ("curve[1] as u16", "1", "curve", "the table `curve` is never used"),
        (
            "middle: {type: u16, shape: [8, 8]}",
            "middle: {type: u16, shape: [9, 8]}",
            "middle",
            "`middle[8, 0]` is never written",
        ),
    ] {
        let found = changed(from, to);
        assert!(found.contains(&(text.to_owned(), message.to_owned())), "{to}\n{found:#?}");
    }
}

#[test]
fn several_problems_are_reported_at_once() {
    let text = with_statement("output[x, y] = 1 +\n      - output[x] = 2\n      - nothing[x] = 3");
    let messages: Vec<String> = problems(&text).into_iter().map(|(_, message)| message).collect();
    assert_eq!(
        messages,
        [
            "expected an operand, found the end",
            "`output` has 2 dimensions, but 1 index is given",
            "unknown array `nothing`"
        ]
    );
}

#[test]
fn places_are_right_in_folded_and_quoted_text() {
    let folded = with_statement("output[x, y] = input[x, y] +\n          inptu[x, y]");
    let problem = read(&folded).unwrap_err();
    assert_eq!(problem.location(), Some(("p.yaml".to_owned(), 9, 11)));
    assert_eq!(problem.offending_text(), Some("inptu"));
    assert_eq!(problem.help(), Some("did you mean `input`?"));

    let quoted = with_statement("\"output[x, y] = inptu[x, y]\"");
    let problem = read(&quoted).unwrap_err();
    assert_eq!(problem.location(), Some(("p.yaml".to_owned(), 8, 25)));
    assert_eq!(problem.offending_text(), Some("inptu"));
}

#[test]
fn reads_before_writes_are_found_in_all_orders() {
    let with_nest = |nest: &str| {
        let head = "name: p\noutputs: {o: {type: u16, shape: [8]}}\nbuffers: {b: {type: u16, shape: [8]}}\nnest:\n";
        problems(&format!("{head}{nest}"))
    };
    // A loop that carries a value from one iteration to the next.
    let carried = "  - b[0] = 1\n  - for x in 0..7:\n    - b[x+1] = b[x] + 1\n  - for x in 0..8:\n    - o[x] = b[x]\n";
    assert_eq!(with_nest(carried), []);
    let uninitialized = carried.replace("  - b[0] = 1\n", "");
    assert_eq!(with_nest(&uninitialized)[0].1, "`b[0]` is read before it is written at x = 0");
    // A tile loop around writer and reader.
    let tiled = "  - for t in 0..4:\n    - for x in 0..2:\n      - b[2*t + x] = x as u16\n    - for x in 0..2:\n      - o[2*t + x] = b[2*t + 1 - x]\n";
    assert_eq!(with_nest(tiled), []);
    let ahead = tiled.replace("b[2*t + 1 - x]", "b[clamp(2*t + 1 + x, 0, 7)]");
    assert_eq!(with_nest(&ahead)[0].1, "`b[2]` is read before it is written at x = 1, t = 0");
    // Even and odd elements from two operations.
    let halves = "  - for x in 0..4:\n    - b[2*x] = 1\n    - b[2*x + 1] = 2\n  - for x in 0..8:\n    - o[x] = b[x]\n";
    assert_eq!(with_nest(halves), []);
    let half = halves.replace("    - b[2*x + 1] = 2\n", "");
    assert_eq!(with_nest(&half)[0].1, "`b[1]` is read before it is written at x = 1");
}

#[test]
fn deep_expressions_are_refused_not_overflowed() {
    for (statement, message) in [
        (format!("output[x, y] = {}1{}", "(".repeat(5000), ")".repeat(5000)), "nested deeper than 50 parentheses"),
        (format!("output[x, y] = {}1", "-".repeat(5000)), "nested deeper than 50 parentheses"),
        (
            format!("output[x, y] = input[x, y]{}", " + 1".repeat(5000)),
            "more than 300 operations depend on one another",
        ),
        (format!("output[x, y] = input[x{}, y]", "/2".repeat(5000)), "more than 300 operations depend on one another"),
    ] {
        let found = problems(&with_statement(&statement));
        assert_eq!(found[0].1, message);
    }
    // Names do not make a tree lower.
    let values = (1..400).map(|number| format!("a{number}: a{} + a{}", number - 1, number - 1)).collect::<Vec<_>>();
    let named = format!("output[x, y] = a399: {{where: {{a0: 'input[x, y]', {}}}}}", values.join(", "));
    assert_eq!(problems(&with_statement(&named))[0].1, "more than 300 operations depend on one another");
    // As deep as allowed.
    let deep = format!("output[x, y] = {}input[x, y]{}", "max(1, ".repeat(49), ")".repeat(49));
    assert_eq!(problems(&with_statement(&deep)).len(), 2, "only warnings of unused declarations");
    let long = format!("output[x, y] = input[x, y]{}", " + 1".repeat(298));
    let checked = read(&with_statement(&long)).unwrap();
    assert!(checked.program.to_string().ends_with(" + 1\n"));
}

#[test]
fn bounds_are_constant_expressions() {
    for bound in ["8", "2*4", "-(-8)", "min(9, 4 + 4)", "max(8, -1)", "clamp(17/2, 0, 63)", "16 % 9 + 1"] {
        let found = changed("x in 0..8 unroll 2", &format!("x in 0..{bound} unroll 4 / 2"));
        assert!(found.iter().all(|(text, _)| text == "curve"), "only the warning that was there: {found:?}");
    }
}

#[test]
fn floating_point_is_not_mistaken_for_an_integer_type() {
    let help = |text: &str| read(text).unwrap_err().help().unwrap_or_default().to_owned();
    let good = with_statement("output[x, y] = input[x, y]");
    let list = "the types here are u8, i8, u16, i16, u32, i32, bf16, f16";
    for name in ["f32", "F16", "bfloat16", "float", "float32", "double"] {
        let text = good.replacen("type: u16", &format!("type: {name}"), 1);
        let help = help(&text);
        assert!(help.starts_with("the floating point here is bf16 and f16") && help.ends_with(list), "{name}: {help}");
        // Nothing follows from a type that does not exist.
        assert_eq!(problems(&text).len(), 1);
    }
    for name in ["u17", "foo"] {
        assert!(!help(&good.replacen("type: u16", &format!("type: {name}"), 1)).contains("floating point"));
    }
    assert_eq!(help(&good.replacen("type: u16", "type: u17", 1)), format!("did you mean `u16`? {list}"));
    let cast = help(&with_statement("output[x, y] = (input[x, y] as f32) as u16"));
    assert!(cast.starts_with("the floating point here is bf16 and f16") && cast.ends_with("i32, bf16, f16"), "{cast}");
}

/// A warning says what to do about it, whichever of two things was meant.
#[test]
fn warnings_of_what_is_unused_say_what_to_do() {
    let declared = with_statement("output[x, y] = input[x, y]")
        .replace("tables:", "buffers: {spare: {type: u16, shape: [64, 64]}}\ntables:");
    let dead = declared.replace("      - output", "      - spare[x, y] = input[x, y]\n      - output");
    let behind = dead.replace("      - output", "      - more[x, y] = spare[x, y]\n      - output");
    let behind = behind.replace("buffers: {", "buffers: {more: {type: u16, shape: [64, 64]}, ");
    for (text, message, help) in [
        (&declared, "the buffer `spare` is never used", "remove it, or use it in the nest"),
        (&declared, "the table `curve` is never used", "remove it, or use it in the nest"),
        (
            &dead,
            "the buffer `spare` is written but never read",
            "remove it and the statements that write it, or read it",
        ),
        (
            &behind,
            "no output depends on the buffer `spare`",
            "what is computed from it goes nowhere: remove it and that, or let an output depend on it",
        ),
    ] {
        let warnings = read(text).unwrap().warnings;
        let found = warnings.iter().find(|warning| warning.message() == message);
        assert_eq!(found.and_then(Diagnostic::help), Some(help), "{warnings:?}");
    }
}

/// Elements outside of an array are none that must be written, in a loop over images as well: of too many accesses to go through.
#[test]
fn reads_beyond_edges_in_a_loop_over_images_are_of_written_elements() {
    let text = "name: images
inputs: {i: {type: u8, shape: [64, 64, 256]}}
outputs: {o: {type: u8, shape: [64, 64, 256]}}
buffers: {b: {type: u8, shape: [64, 64]}}
nest:
  - for n in 0..256:
    - for y in 0..64:
      - for x in 0..64:
        - b[x, y] = i[x, y, n]
    - for y in 0..64:
      - for x in 0..64:
        - o[x, y, n] = max(outside(b[x-1, y], 0), max(outside(b[x+1, y], 0), b[x, y]))
";
    let checked = read(text).unwrap();
    assert!(checked.warnings.is_empty(), "{:?}", checked.warnings);
    let moved = text.replace("b: {type: u8, shape: [64, 64]}", "b: {type: u8, shape: [64, 64, 256]}");
    let moved = moved.replace("b[x, y] =", "b[x, y, n] =").replace(", b[x, y])", ", b[x, y, n])");
    let moved = moved.replace("b[x-1, y]", "b[x-1, y, n]").replace("b[x+1, y]", "b[x+1, y, n+1]");
    let warnings = read(&moved).unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.message().starts_with("it is not known")), "{warnings:?}");
}

/// Syntax of other languages.
#[test]
fn other_languages_are_helped() {
    let loop_help = "a loop is written `for x in 0..64:` or `for x in 0..64 step 2 unroll 4:`";
    let good = with_statement("output[x, y] = input[x, y]");
    for (from, to, help) in [
        ("= input[x, y]", "= input[y][x]", "all indices stand in one pair of brackets, innermost first: `image[x, y]`"),
        ("= input[x, y]", "= (x > 3) ? 1 : input[x, y]", "a choice is written `sel(condition, a, b)`"),
        ("= input[x, y]", "= input[column, y]", "the variables of the loops around are `y`, `x`"),
        ("= input[x, y]", "= input[xx, y]", "did you mean `x`?"),
        (
            "= input[x, y]",
            "= if x > 3: input[x, y]",
            "a colon and a space make a loop of a line; statements have none: a choice is `sel(condition, a, b)`",
        ),
        ("= input[x, y]", "= clamp(input[x, y], 3)", "write `clamp(a, low, high)`"),
        ("= input[x, y]", "= outside(input[x-1, y])", "write `outside(array[…], value)`"),
        ("= input[x, y]", "= input[clamp(x, y, 63), y]", "write numbers, as in `clamp(x, 0, 63)`"),
        ("= input[x, y]", "= input[min(x, y), y]", "limit a loop variable by a number, as in `min(x, 63)`"),
        ("output[x, y] =", "output[x, y] +=", "`+=` adds to what is there: write a first value to it above"),
        ("for x in 0..64", "for (x = 0; x < 64; x++)", loop_help),
        ("for x in 0..64", "for x in range(64)", loop_help),
        ("for x in 0..64", "x in 0..64", loop_help),
    ] {
        let text = good.replacen(from, to, 1);
        assert_eq!(read(&text).unwrap_err().help(), Some(help), "{to}");
    }
}

#[test]
fn a_program_too_large_to_run_says_so() {
    let shape = "{type: u8, shape: [8192, 8192]}";
    let buffers: String = (1..5).map(|number| format!("  b{number}: {shape}\n")).collect();
    let copy = |from: &str, to: &str| {
        format!("  - for y in 0..8192:\n    - for x in 0..8192:\n      - {to}[x, y] = {from}[x, y]\n")
    };
    let names = ["input", "b1", "b2", "b3", "b4", "output"];
    let nest: String = names.windows(2).map(|pair| copy(pair[0], pair[1])).collect();
    let text =
        format!("name: p\ninputs: {{input: {shape}}}\noutputs: {{output: {shape}}}\nbuffers:\n{buffers}nest:\n{nest}");
    let document = Document::parse("p.yaml", &text).unwrap();
    let program = Program::from_document(&document).unwrap().program;
    let error = program.run(&std::collections::BTreeMap::new()).unwrap_err().to_string();
    assert!(error.contains("with `b3` the arrays have more than 268435456 elements together"), "{error}");
}
