//! Random expressions.

use proptest::prelude::*;
use pushmem_nest::Type;

/// A program of one operation, whose expression this is.
pub fn program(expression: &str, result: Type) -> String {
    let result = result.name();
    format!(
        "
name: random
inputs:
  a: {{type: u16, shape: [8, 4]}}
  b: {{type: i16, shape: [8, 4]}}
  c: {{type: u8, shape: [8, 4]}}
  d: {{type: i8, shape: [8, 4]}}
  e: {{type: u32, shape: [8, 4]}}
  f: {{type: i32, shape: [8, 4]}}
  g: {{type: bf16, shape: [8, 4]}}
  h: {{type: f16, shape: [8, 4]}}
outputs:
  o: {{type: {result}, shape: [8, 4]}}
tables:
  t: {{type: u16, values: [6, 65535, 0, 300]}}
  s: {{type: i8, values: [-128, 127, 0, 3, 5, 7, 9, -1, -2, -3, 11]}}
nest:
  - for y in 0..4:
    - for x in 0..8:
      - 'o[x, y] = ({expression}) as {result}'
"
    )
}

/// An expression of numbers of bfloat16, with numbers of this type in their place.
pub fn of_numbers(expression: &str, value: Type) -> String {
    match value {
        Type::F16 => expression.replace("g[", "h[").replace("bf16", "f16"),
        _ => expression.to_owned(),
    }
}

/// Expressions of arrays, variables and tables of [`program`], with their types.
pub fn expression() -> impl Strategy<Value = (String, Type)> {
    let index = prop::sample::select(vec!["x, y", "7 - x, 3 - y", "x/2, y", "x%3, y/2"]);
    let array = |name: &'static str, value: Type| {
        index.clone().prop_map(move |index| (format!("{name}[{index}]"), value)).boxed()
    };
    let number = prop_oneof![-9_i64..40, -40000_i64..70000, Just(1 << 15), Just(-(1 << 31)), any::<i64>()];
    let types = prop::sample::select(Type::ALL.into_iter().filter(|of| of.is_integer()).collect::<Vec<_>>());
    let leaf = prop_oneof![
        3 => array("a", Type::U16),
        3 => array("b", Type::I16),
        2 => array("c", Type::U8),
        2 => array("d", Type::I8),
        1 => array("e", Type::U32),
        1 => array("f", Type::I32),
        2 => (number.clone(), types.clone())
            .prop_map(|(number, value)| (format!("({} as {})", Type::I32.wrap(number), value.name()), value)),
        1 => prop::sample::select(vec!["x", "y"]).prop_map(|name| (name.to_owned(), Type::I32)),
    ];
    leaf.prop_recursive(5, 40, 3, move |inner| {
        let operators = ["+", "+", "-", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"];
        let comparisons = ["==", "!=", "<", "<=", ">", ">="];
        let cast = |text: &str, value: Type| format!("({text} as {})", value.name());
        prop_oneof![
            4 => (inner.clone(), inner.clone(), prop::sample::select(operators.to_vec())).prop_map(
                move |((left, value), (right, _), operator)| {
                    (format!("({left} {operator} {})", cast(&right, value)), value)
                }
            ),
            3 => (inner.clone(), number.clone(), prop::sample::select(operators.to_vec()), any::<bool>()).prop_map(
                |((left, value), number, operator, first)| {
                    let number = format!("({} as {})", Type::I32.wrap(number), value.name());
                    match first {
                        true => (format!("({number} {operator} {left})"), value),
                        false => (format!("({left} {operator} {number})"), value),
                    }
                }
            ),
            // A sum of multiples.
            2 => (prop::collection::vec((inner.clone(), -300_i64..300), 2..6), prop::sample::select(vec!["+", "-"]))
                .prop_map(move |(terms, sign)| {
                    let value = terms[0].0.1;
                    let term = |((text, _), factor): &((String, Type), i64)| {
                        format!("{} * ({factor} as {})", cast(text, value), value.name())
                    };
                    let terms: Vec<String> = terms.iter().map(term).collect();
                    (format!("({})", terms.join(&format!(" {sign} "))), value)
                }),
            1 => (prop::collection::vec(inner.clone(), 2..6), prop::sample::select(vec!["min", "max"])).prop_map(
                move |(operands, function)| {
                    let value = operands[0].1;
                    let join = |left: String, (right, _): &(String, Type)| {
                        format!("{function}({left}, {})", cast(right, value))
                    };
                    (operands[1..].iter().fold(operands[0].0.clone(), join), value)
                }
            ),
            1 => (inner.clone(), prop::sample::select(vec!["min", "max", "absd"]), inner.clone()).prop_map(
                move |((left, value), function, (right, _))| {
                    let result = if function == "absd" { value.unsigned() } else { value };
                    (format!("{function}({left}, {})", cast(&right, value)), result)
                }
            ),
            1 => (inner.clone(), prop::sample::select(comparisons.to_vec()), inner.clone(), inner.clone()).prop_map(
                move |((left, value), comparison, (right, _), (other, _))| {
                    let condition = format!("{left} {comparison} {}", cast(&right, value));
                    (format!("sel({condition} && !({left} == 7), {}, {left})", cast(&other, value)), value)
                }
            ),
            1 => (inner.clone(), inner.clone(), prop::sample::select(vec!["||", "&&", "|", "^", "==", "!="])).prop_map(
                move |((left, value), (right, other), operator)| {
                    (format!("((({left} > 3) {operator} ({right} <= ({left} as {}))) as {})", other.name(), value.name()),
                        value)
                }
            ),
            1 => (inner.clone(), types.clone()).prop_map(move |((text, _), value)| (cast(&text, value), value)),
            1 => inner.clone().prop_map(|(operand, value)| (format!("abs({operand})"), value.unsigned())),
            1 => inner.clone().prop_map(|(operand, value)| (format!("(-{operand})"), value)),
            1 => inner.clone().prop_map(|(operand, value)| (format!("(!{operand})"), value)),
            1 => inner.clone().prop_map(|(operand, _)| (format!("t[{operand} as u8 & 3]"), Type::U16)),
            1 => inner.prop_map(|(operand, _)| (format!("s[clamp({operand} as i16, 0, 10)]"), Type::I8)),
        ]
    })
}
