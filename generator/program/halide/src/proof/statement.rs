//! A statement as steps. Nothing here is inferred: flat addresses stay as they are.

use std::collections::HashMap;
use std::rc::Rc;

use pushmem_nest::{Binary, Type, Unary};

use super::machine::{Code, Script, Step, Store, UNKNOWN, Word};
use crate::intrinsics::intrinsic;
use crate::syntax::{Expression, ExpressionKind, Statement, StatementKind};
use crate::value::Value;

/// The steps of a statement. `known` are the names and types of arguments and constants, which are the first memories.
pub(crate) fn script<'a>(body: &[Statement<'a>], known: &[(&'a str, Type)]) -> Script {
    let mut reader = Reader {
        memories: known.iter().map(|(_, element)| *element).collect(),
        by_name: known.iter().enumerate().map(|(memory, (name, _))| (*name, memory)).collect(),
        names: HashMap::new(),
        depth: 0,
        deepest: 0,
    };
    let steps = reader.block(body);
    Script { steps, memories: reader.memories.len(), depth: reader.deepest }
}

struct Reader<'a> {
    /// The types of the elements of all memories.
    memories: Vec<Type>,
    by_name: HashMap<&'a str, usize>,
    /// The meanings of names, the innermost last.
    names: HashMap<&'a str, Vec<Rc<Value<Word>>>>,
    /// How many loops are around.
    depth: usize,
    deepest: usize,
}

impl<'a> Reader<'a> {
    fn block(&mut self, statements: &[Statement<'a>]) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut named = Vec::new();
        for statement in statements {
            match &statement.kind {
                StatementKind::Produce { body, .. } | StatementKind::Consume { body } => {
                    steps.append(&mut self.block(body));
                }
                StatementKind::Let { name, value } => {
                    let value = self.value(value);
                    let meaning = self.kept(value, &mut steps);
                    self.names.entry(name).or_default().push(meaning);
                    named.push(*name);
                }
                StatementKind::Allocate { name, element, extents } => {
                    let extents = extents.iter().map(|extent| self.code(extent)).collect();
                    let memory = self.memory(*element);
                    self.by_name.insert(name, memory);
                    steps.push(Step::Allocate { memory, extents });
                }
                StatementKind::For { variable, first, extent, body, .. } => {
                    let (first, extent) = (self.code(first), self.code(extent));
                    self.names.entry(variable).or_default().push(Rc::new(Value::Variable(self.depth)));
                    self.depth += 1;
                    self.deepest = self.deepest.max(self.depth);
                    let body = self.block(body);
                    self.depth -= 1;
                    self.forget(variable);
                    steps.push(Step::Loop { first, extent, body });
                }
                StatementKind::If { condition, then, otherwise } => {
                    let condition = self.code(condition);
                    let then = self.block(then);
                    steps.push(Step::If { condition, then, otherwise: self.block(otherwise) });
                }
                StatementKind::Store { array, index, value } => {
                    let (address, value) = (self.code(index), self.code(value));
                    if let Some(&memory) = self.by_name.get(array) {
                        steps.push(Step::Store(Store { memory, address, value }));
                    }
                }
            }
        }
        named.into_iter().for_each(|name| self.forget(name));
        steps
    }

    fn forget(&mut self, name: &str) {
        if let Some(meanings) = self.names.get_mut(name) {
            meanings.pop();
        }
    }

    fn memory(&mut self, element: Type) -> usize {
        self.memories.push(element);
        self.memories.len() - 1
    }

    /// A value that a name stands for. Elements that it loads may change before it is used: then it is kept in a memory.
    fn kept(&mut self, value: Rc<Value<Word>>, steps: &mut Vec<Step>) -> Rc<Value<Word>> {
        let mut loads = Vec::new();
        value.loads(&mut loads);
        let element = value.value_type(&|word: &Word| Some(word.element));
        let (false, Some(element)) = (loads.is_empty(), element) else { return value };
        let memory = self.memory(element);
        let first = Value::number(0);
        steps.push(Step::Store(Store { memory, address: Code::new(&first), value: Code::new(&value) }));
        Rc::new(Value::Load(Word { memory, element, address: first }))
    }

    fn code(&mut self, expression: &Expression<'a>) -> Code {
        Code::new(&self.value(expression))
    }

    /// The value of an expression; unknown, if it has none, as it may never be used.
    fn value(&mut self, expression: &Expression<'a>) -> Rc<Value<Word>> {
        self.known(expression).unwrap_or_else(|| Rc::new(Value::Number(UNKNOWN, Type::I32)))
    }

    fn known(&mut self, expression: &Expression<'a>) -> Option<Rc<Value<Word>>> {
        Some(Rc::new(match &expression.kind {
            ExpressionKind::Number(value, element) => Value::Number(*value, *element),
            ExpressionKind::Name(name) => return self.names.get(name)?.last().cloned(),
            ExpressionKind::Element(name, index) => {
                let (memory, address) = (*self.by_name.get(name)?, self.value(index));
                Value::Load(Word { memory, element: self.memories[memory], address })
            }
            ExpressionKind::Binary(operator, left, right) => {
                let left = self.value(left);
                Value::Binary(*operator, left, self.value(right))
            }
            ExpressionKind::Not(operand) => Value::Unary(Unary::Not, self.value(operand)),
            ExpressionKind::Negate(operand) => Value::Unary(Unary::Negate, self.value(operand)),
            ExpressionKind::Cast(Type::Bool, operand) => return Some(truth(self.value(operand))),
            ExpressionKind::Cast(element, operand) => Value::Cast(*element, self.value(operand)),
            ExpressionKind::Call { name, value, arguments } => {
                let arguments: Vec<_> = arguments.iter().map(|argument| self.value(argument)).collect();
                return intrinsic(name, *value, &arguments, expression.span, &|word: &Word| Some(word.element)).ok();
            }
            ExpressionKind::Let { name, value, body } => {
                let value = self.value(value);
                self.names.entry(name).or_default().push(value);
                let body = self.value(body);
                self.forget(name);
                return Some(body);
            }
        }))
    }
}

/// The lowest bit of a number as a truth value, by the comparison that nests have for it: what it gives depends on the order of
/// numbers.
fn truth(value: Rc<Value<Word>>) -> Rc<Value<Word>> {
    match value.value_type(&|word: &Word| Some(word.element)) {
        Some(Type::Bool) | None => value,
        Some(of) => {
            let number = |number| Rc::new(Value::Number(number, of));
            Value::binary(Binary::NotEqual, Value::binary(Binary::And, value, number(1)), number(0))
        }
    }
}
