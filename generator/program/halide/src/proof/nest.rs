//! A nest as steps.

use std::rc::Rc;

use pushmem_nest::{Access, Binary, Expression, ExpressionKind, Load, Node, Operation, Program, Type};

use super::machine::{Code, Script, Step, Store, Word};
use crate::rebuild::value_of;
use crate::value::Value;

/// The steps of a nest. The first memories are its arrays, and then come its tables.
pub(crate) fn script(program: &Program) -> Script {
    let depth = program.operations().iter().map(|(loops, _)| loops.len()).max().unwrap_or(0);
    let memories = program.arrays.len() + program.tables.len();
    let sizes = program.arrays.iter().enumerate();
    let allocations =
        sizes.map(|(memory, array)| Step::Allocate { memory, extents: vec![number(array.size() as i64)] });
    let is_kept = |step: &Step| matches!(step, Step::Allocate { memory, .. } if program.arrays[*memory].kind != pushmem_nest::ArrayKind::Input);
    let mut steps: Vec<Step> = allocations.filter(is_kept).collect();
    steps.extend(program.nest.iter().map(|node| step(program, node)));
    Script { steps, memories, depth }
}

fn number(value: i64) -> Code {
    Code::new(&Value::number(value))
}

fn step(program: &Program, node: &Node) -> Step {
    match node {
        Node::Loop(each) => Step::Loop {
            first: number(each.min),
            extent: number(each.extent),
            body: each.body.iter().map(|node| step(program, node)).collect(),
        },
        Node::Operation(operation) => {
            let reader = Reader { program, operation };
            let mut value = reader.value(&operation.expression);
            if let Some(operator) = operation.reduction {
                value = Value::binary(operator, reader.element(&operation.target), value);
            }
            let (address, value) = (Code::new(&reader.address(&operation.target)), Code::new(&value));
            Step::Store(Store { memory: operation.target.array, address, value })
        }
    }
}

struct Reader<'a> {
    program: &'a Program,
    operation: &'a Operation,
}

impl Reader<'_> {
    /// The flat address of an element.
    fn address(&self, access: &Access) -> Rc<Value<Word>> {
        let array = &self.program.arrays[access.array];
        let places: Vec<Rc<Value<Word>>> = match &access.computed {
            Some(indices) => indices.iter().map(|index| self.value(index)).collect(),
            None => access.indices.iter().map(value_of).collect(),
        };
        let mut stride = 1;
        let mut sum = Value::number(0);
        for ((index, min), extent) in places.into_iter().zip(&array.min).zip(&array.shape) {
            let place = Value::binary(Binary::Subtract, index, Value::number(*min));
            sum = Value::binary(Binary::Add, sum, Value::binary(Binary::Multiply, place, Value::number(stride)));
            stride *= extent;
        }
        sum
    }

    fn element(&self, access: &Access) -> Rc<Value<Word>> {
        let element = self.program.arrays[access.array].element;
        Rc::new(Value::Load(Word { memory: access.array, element, address: self.address(access) }))
    }

    fn load(&self, load: &Load) -> Rc<Value<Word>> {
        let element = self.element(&load.access);
        let Some(outside) = load.outside else { return element };
        let array = &self.program.arrays[load.access.array];
        let mut inside = Rc::new(Value::Number(1, Type::Bool));
        for (dimension, index) in load.access.indices.iter().enumerate() {
            let index = value_of(index);
            let low = Value::binary(Binary::GreaterEqual, index.clone(), Value::number(array.min[dimension]));
            let high = Value::binary(Binary::LessEqual, index, Value::number(array.max(dimension)));
            inside = Value::binary(Binary::And, inside, Value::binary(Binary::And, low, high));
        }
        Rc::new(Value::Select(inside, element, Rc::new(Value::Number(outside, array.element))))
    }

    fn value(&self, expression: &Expression) -> Rc<Value<Word>> {
        Rc::new(match &expression.kind {
            ExpressionKind::Constant(value) => Value::Number(*value, expression.value),
            ExpressionKind::Variable(variable) => Value::Variable(*variable),
            ExpressionKind::Load(load) => return self.load(&self.operation.loads[*load]),
            ExpressionKind::Lookup { table, index } => {
                let (memory, element) = (self.program.arrays.len() + table, self.program.tables[*table].element);
                Value::Load(Word { memory, element, address: self.value(index) })
            }
            ExpressionKind::Unary { operator, operand } => Value::Unary(*operator, self.value(operand)),
            ExpressionKind::Binary { operator, left, right } => {
                Value::Binary(*operator, self.value(left), self.value(right))
            }
            ExpressionKind::Select { condition, then, otherwise } => {
                Value::Select(self.value(condition), self.value(then), self.value(otherwise))
            }
            ExpressionKind::Cast(operand) => Value::Cast(expression.value, self.value(operand)),
        })
    }
}
