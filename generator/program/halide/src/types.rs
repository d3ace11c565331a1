//! The types of arguments, which Halide does not print: they follow from what elements are used with.

use pushmem_nest::{Type, Unary};

use crate::fault::{Fault, Result};
use crate::program::Stores;
use crate::value::{Flat, Value};

/// The types of the elements of all arrays.
pub(crate) fn infer(program: &Stores) -> Result<Vec<Type>> {
    let mut types = Types(program.arrays.iter().map(|array| array.element).collect());
    loop {
        let before = types.0.iter().flatten().count();
        for store in &program.stores {
            let stored = types.of(&store.value);
            types.set(store.array, stored);
            types.push(&store.value, types.0[store.array]);
        }
        if types.0.iter().flatten().count() == before {
            break;
        }
    }
    let known = program.arrays.iter().zip(types.0).map(|(array, element)| {
        element.ok_or_else(|| {
            Fault::new(array.span, format!("the type of `{}` does not follow from what it is used with", array.name))
                .with_help(format!(
                    "declare it at the top of the file: `// {}: u16[64, 64]`",
                    array.name.split('$').next().unwrap_or(array.name)
                ))
        })
    });
    known.collect()
}

struct Types(Vec<Option<Type>>);

impl Types {
    fn of(&self, value: &Value<Flat>) -> Option<Type> {
        value.value_type(&|load: &Flat| self.0[load.array])
    }

    fn set(&mut self, array: usize, element: Option<Type>) {
        if self.0[array].is_none() {
            self.0[array] = element;
        }
    }

    /// Tells the loads of a value which type it has, as far as that is known.
    fn push(&mut self, value: &Value<Flat>, wanted: Option<Type>) {
        match value {
            Value::Number(..) | Value::Variable(_) => {}
            Value::Load(load) => {
                self.set(load.array, wanted);
                self.push(&load.address, Some(Type::I32));
            }
            Value::Unary(Unary::Absolute, operand) | Value::Cast(_, operand) => self.push(operand, None),
            Value::Unary(_, operand) => self.push(operand, wanted),
            Value::Binary(operator, left, right) => {
                let same = operator.result(Type::I16) == Type::I16;
                let of_operands = self.of(left).or_else(|| self.of(right)).or(if same { wanted } else { None });
                self.push(left, of_operands);
                self.push(right, of_operands);
            }
            Value::Select(condition, then, otherwise) => {
                self.push(condition, Some(Type::Bool));
                let wanted = wanted.or_else(|| self.of(then)).or_else(|| self.of(otherwise));
                self.push(then, wanted);
                self.push(otherwise, wanted);
            }
        }
    }
}
