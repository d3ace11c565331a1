//! The types of arguments, which Halide does not print: they follow from what elements are used with.

use std::collections::{HashMap, HashSet};

use pushmem_nest::{Type, Unary};

use crate::fault::{Fault, Result};
use crate::program::Stores;
use crate::value::{Flat, Value};

/// The types of the elements of all arrays.
pub(crate) fn infer(program: &Stores) -> Result<Vec<Type>> {
    let mut types: Vec<Option<Type>> = program.arrays.iter().map(|array| array.element).collect();
    loop {
        let before = types.iter().flatten().count();
        for store in &program.stores {
            let mut parts = Parts { types: &mut types, known: HashMap::new(), told: HashSet::new() };
            let stored = parts.of(&store.value);
            parts.set(store.array, stored);
            let wanted = parts.types[store.array];
            parts.push(&store.value, wanted);
        }
        if types.iter().flatten().count() == before {
            break;
        }
    }
    let known = program.arrays.iter().zip(types).map(|(array, element)| {
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

/// The parts of a stored value, which it may share: each is looked at once. Types that become known later count for the
/// next round.
struct Parts<'a> {
    /// The types of the elements of all arrays.
    types: &'a mut [Option<Type>],
    /// The types of parts.
    known: HashMap<*const Value<Flat>, Option<Type>>,
    /// Parts that were told their type.
    told: HashSet<(*const Value<Flat>, Option<Type>)>,
}

impl Parts<'_> {
    fn of(&mut self, value: &Value<Flat>) -> Option<Type> {
        let Parts { types, known, .. } = self;
        value.known_type(&|load: &Flat| types[load.array], known)
    }

    fn set(&mut self, array: usize, element: Option<Type>) {
        if self.types[array].is_none() {
            self.types[array] = element;
        }
    }

    /// Tells the loads of a value which type it has, as far as that is known.
    fn push(&mut self, value: &Value<Flat>, wanted: Option<Type>) {
        if !self.told.insert((std::ptr::from_ref(value), wanted)) {
            return;
        }
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
