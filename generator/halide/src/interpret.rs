//! The oracle of the tests: the statement executed as it stands, on flat buffers.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use pushmem_images::Image;
use pushmem_nest::{Program, Type};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::intrinsics::intrinsic;
use crate::syntax::{Expression, ExpressionKind, Module, Statement, StatementKind};
use crate::value::Value;
use crate::{declarations, import, parser, program, shapes, types};

/// Executes a statement; nothing if it reads what is not there, or takes too long.
struct Machine<'a> {
    memories: HashMap<&'a str, (Type, Vec<Option<i64>>)>,
    names: HashMap<&'a str, Vec<(i64, Type)>>,
    steps: u64,
}

const MOST_STEPS: u64 = 3_000_000;

impl<'a> Machine<'a> {
    fn block(&mut self, statements: &[Statement<'a>]) -> Option<()> {
        let mut named = Vec::new();
        for statement in statements {
            match &statement.kind {
                StatementKind::Produce { body, .. } | StatementKind::Consume { body } => self.block(body)?,
                StatementKind::Let { name, value } => {
                    // What cannot be computed may never be used.
                    let value = self.value(value).unwrap_or((0, Type::I32));
                    self.names.entry(name).or_default().push(value);
                    named.push(*name);
                }
                StatementKind::Allocate { name, element, extents } => {
                    let size: i64 = extents
                        .iter()
                        .map(|extent| self.value(extent).map(|value| value.0))
                        .product::<Option<i64>>()?;
                    self.memories.insert(name, (*element, vec![None; usize::try_from(size).ok()?]));
                }
                StatementKind::For { variable, first, extent, body, .. } => {
                    let (first, extent) = (self.value(first)?.0, self.value(extent)?.0);
                    for at in first..first + extent {
                        self.names.entry(variable).or_default().push((at, Type::I32));
                        self.block(body)?;
                        self.names.get_mut(variable)?.pop();
                    }
                }
                StatementKind::If { condition, then, otherwise } => {
                    let body = if self.value(condition)?.0 != 0 { then } else { otherwise };
                    self.block(body)?;
                }
                StatementKind::Store { array, index, value } => {
                    self.steps += 1;
                    if self.steps > MOST_STEPS {
                        return None;
                    }
                    let (index, value) = (usize::try_from(self.value(index)?.0).ok()?, self.value(value)?.0);
                    *self.memories.get_mut(array)?.1.get_mut(index)? = Some(value);
                }
            }
        }
        for name in named {
            self.names.get_mut(name)?.pop();
        }
        Some(())
    }

    fn value(&mut self, expression: &Expression<'a>) -> Option<(i64, Type)> {
        Some(match &expression.kind {
            ExpressionKind::Number(value, element) => (*value, *element),
            ExpressionKind::Name(name) => *self.names.get(name)?.last()?,
            ExpressionKind::Element(array, index) => {
                let index = usize::try_from(self.value(index)?.0).ok()?;
                let (element, memory) = self.memories.get(array)?;
                ((*memory.get(index)?)?, *element)
            }
            ExpressionKind::Binary(operator, left, right) => {
                let ((left, element), (right, _)) = (self.value(left)?, self.value(right)?);
                (operator.apply(element, left, right), operator.result(element))
            }
            ExpressionKind::Not(operand) => {
                let (value, element) = self.value(operand)?;
                (element.wrap(!value), element)
            }
            ExpressionKind::Negate(operand) => {
                let (value, element) = self.value(operand)?;
                (element.wrap(-value), element)
            }
            ExpressionKind::Cast(element, operand) => (element.wrap(self.value(operand)?.0), *element),
            ExpressionKind::Call { name: "select", arguments, .. } => {
                let condition = self.value(&arguments[0])?.0;
                self.value(&arguments[if condition != 0 { 1 } else { 2 }])?
            }
            ExpressionKind::Call { name, value, arguments } => {
                let arguments = arguments.iter().map(|argument| {
                    let (value, element) = self.value(argument)?;
                    Some(Rc::new(Value::<()>::Number(value, element)))
                });
                let arguments: Vec<_> = arguments.collect::<Option<_>>()?;
                let result = intrinsic(name, *value, &arguments, expression.span, &|()| None).ok()?;
                (result.evaluate(&|_| None)?, result.value_type(&|()| None)?)
            }
            ExpressionKind::Let { name, value, body } => {
                let value = self.value(value)?;
                self.names.entry(name).or_default().push(value);
                let result = self.value(body);
                self.names.get_mut(name)?.pop();
                result?
            }
        })
    }
}

/// The outputs of a statement, by their names in Halide.
fn execute(
    text: &str,
    imported: &Program,
    inputs: &BTreeMap<String, Image>,
) -> Option<BTreeMap<String, Vec<Option<i64>>>> {
    let declared = declarations::declarations(text).ok()?;
    let module: Module = parser::parse(text).ok()?;
    let stores = program::stores(&module, &declared).ok()?;
    let types = types::infer(&stores).ok()?;
    let shapes = shapes::shapes(&stores).ok()?;
    let mut machine = Machine { memories: HashMap::new(), names: HashMap::new(), steps: 0 };
    let stem = |name: &str| name.split('$').next().unwrap_or(name).to_owned();
    for (number, array) in stores.arrays.iter().enumerate().filter(|(_, array)| array.is_argument) {
        let size: i64 = shapes[number][0].iter().product();
        let values = match inputs.get(&stem(array.name)) {
            Some(image) => image.values().iter().map(|value| Some(*value)).collect(),
            None => vec![None; size as usize],
        };
        machine.memories.insert(array.name, (types[number], values));
    }
    machine.block(&module.body)?;
    let outputs = stores.arrays.iter().map(|array| (stem(array.name), array.name));
    let outputs = outputs.filter(|(stem, _)| imported.array(stem).is_some() && !inputs.contains_key(stem));
    Some(outputs.filter_map(|(stem, name)| Some((stem, machine.memories.get(name)?.1.clone()))).collect())
}

/// Whether the statement was accepted, in which case it computes what its nest does.
fn agrees(text: &str) -> bool {
    let Ok(checked) = import("test.stmt", text) else { return false };
    let program = checked.program;
    let inputs = program.random_inputs(&mut ChaCha8Rng::seed_from_u64(7));
    let Some(expected) = execute(text, &program, &inputs) else { return false };
    let found = program.run(&inputs).unwrap();
    for (name, image) in &found {
        let values: Vec<i64> = image.values().to_vec();
        let expected: Vec<i64> = expected[name].iter().map(|value| value.unwrap_or(i64::MIN)).collect();
        assert_eq!(values, expected, "{name} of\n{text}\n{program}");
    }
    true
}

fn statements() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/statements");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

#[test]
fn nests_compute_what_statements_compute() {
    for text in statements() {
        assert!(agrees(&text), "{text}");
    }
}

/// The places of the numbers in a text, behind its declarations.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let start = text.find("produce").unwrap_or(0);
    let tokens = crate::lexer::tokens(text).unwrap();
    let integers =
        tokens.iter().filter(|(token, span)| matches!(token, crate::lexer::Token::Integer(_)) && span.start > start);
    integers.map(|(_, span)| span.start..span.end).collect()
}

fn changed() -> impl Strategy<Value = String> {
    let small: Vec<String> = statements().into_iter().filter(|text| text.len() < 4000).collect();
    let edits = prop::collection::vec((any::<prop::sample::Index>(), -2..=2_i64), 1..4);
    (prop::sample::select(small), edits).prop_map(|(mut text, edits)| {
        for (place, by) in edits {
            let numbers = numbers(&text);
            let range = numbers[place.index(numbers.len())].clone();
            let value: i64 = text[range.clone()].parse().unwrap();
            text.replace_range(range, &(value + by).max(0).to_string());
        }
        text
    })
}

/// Of statements that Halide would not print, too: what is accepted is computed.
#[test]
fn what_is_accepted_is_computed() {
    let mut runner = TestRunner::deterministic();
    let texts = (0..120).map(|_| changed().new_tree(&mut runner).unwrap().current());
    let accepted = texts.filter(|text| agrees(text)).count();
    assert!(accepted >= 24, "only {accepted} were accepted");
}
