//! Values that are kept once, however often they are computed: two that are equal are one.
//!
//! A file has each operand as often as it is used, and inlining copies whole Funcs. Kept once, eight steps of a square root that each use
//! the one before three times are eight values, not 3^8.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use pushmem_nest::{Binary, Type, Unary};

use crate::plan::{Point, Term};
use crate::value::Value;

/// The structure of a value; its operands by their places in memory, as they are kept once themselves.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Number(i64, Type),
    Variable(usize),
    Load(usize, Vec<usize>),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    Select([usize; 3]),
    Cast(Type, usize),
}

/// All values that were made.
#[derive(Default)]
pub(crate) struct Interner {
    known: RefCell<HashMap<Key, Term>>,
    /// The types of those that are kept.
    types: RefCell<HashMap<usize, Type>>,
}

fn place(value: &Term) -> usize {
    Rc::as_ptr(value) as usize
}

impl Interner {
    /// The type of a value that is kept.
    pub fn type_of(&self, value: &Term) -> Type {
        self.types.borrow().get(&place(value)).copied().unwrap_or(Type::I32)
    }

    pub fn number(&self, value: i64, of: Type) -> Term {
        self.keep(Value::Number(of.wrap(value), of), of)
    }

    pub fn variable(&self, variable: usize) -> Term {
        self.keep(Value::Variable(variable), Type::I32)
    }

    pub fn load(&self, point: Point, of: Type) -> Term {
        self.keep(Value::Load(point), of)
    }

    pub fn unary(&self, operator: Unary, of: Term) -> Term {
        let operand = self.type_of(&of);
        let result = operator.result(operand);
        match &*of {
            Value::Number(value, _) => self.number(operator.apply(operand, *value), result),
            _ => self.keep(Value::Unary(operator, of), result),
        }
    }

    pub fn binary(&self, operator: Binary, left: Term, right: Term) -> Term {
        let operands = self.type_of(&left);
        let result = operator.result(operands);
        let is_one = |word: i64| matches!(operator, Binary::FloatMultiply(format) if word == i64::from(format.one()));
        let is_logical = matches!(operator, Binary::And | Binary::Or);
        match (&*left, &*right) {
            (Value::Number(one, _), Value::Number(other, _)) => {
                let value = operator.apply(operands, *one, *other);
                self.number(value, result)
            }
            // As Halide leaves them away.
            (_, Value::Number(0, _)) if matches!(operator, Binary::Add | Binary::Subtract) => left,
            (Value::Number(0, _), _) if operator == Binary::Add => right,
            (_, Value::Number(1, _))
                if matches!(operator, Binary::Multiply | Binary::Divide) && result != Type::Bool =>
            {
                left
            }
            (Value::Number(1, _), _) if operator == Binary::Multiply => right,
            (_, Value::Number(word, _)) if is_one(*word) => left,
            (Value::Number(word, _), _) if is_one(*word) => right,
            (Value::Number(truth, Type::Bool), _) | (_, Value::Number(truth, Type::Bool)) if is_logical => {
                let (constant, other) = if left.as_number().is_some() { (&left, &right) } else { (&right, &left) };
                let is_neutral = (*truth != 0) == (operator == Binary::And);
                if is_neutral { other } else { constant }.clone()
            }
            _ => self.keep(Value::Binary(operator, left, right), result),
        }
    }

    pub fn select(&self, condition: Term, then: Term, otherwise: Term) -> Term {
        let result = self.type_of(&then);
        match *condition {
            Value::Number(0, _) => otherwise,
            Value::Number(..) => then,
            _ if Rc::ptr_eq(&then, &otherwise) => then,
            Value::Binary(Binary::Less | Binary::LessEqual, ref left, ref right)
                if Rc::ptr_eq(left, &otherwise) && Rc::ptr_eq(right, &then) =>
            {
                self.binary(Binary::Maximum, otherwise, then)
            }
            Value::Binary(Binary::Less | Binary::LessEqual, ref left, ref right)
                if Rc::ptr_eq(left, &then) && Rc::ptr_eq(right, &otherwise) =>
            {
                self.binary(Binary::Minimum, then, otherwise)
            }
            _ => self.keep(Value::Select(condition, then, otherwise), result),
        }
    }

    pub fn cast(&self, to: Type, of: Term) -> Term {
        match &*of {
            _ if self.type_of(&of) == to => of,
            Value::Number(value, from) => self.number(from.cast(to, *value), to),
            _ => self.keep(Value::Cast(to, of), to),
        }
    }

    /// The value of operands that are kept, which is none of a load.
    pub fn made(&self, value: Value<Point>) -> Term {
        match value {
            Value::Number(number, of) => self.number(number, of),
            Value::Variable(variable) => self.variable(variable),
            Value::Load(_) => unreachable!("loads are made with their type"),
            Value::Unary(operator, of) => self.unary(operator, of),
            Value::Binary(operator, left, right) => self.binary(operator, left, right),
            Value::Select(condition, then, otherwise) => self.select(condition, then, otherwise),
            Value::Cast(to, of) => self.cast(to, of),
        }
    }

    fn keep(&self, value: Value<Point>, of: Type) -> Term {
        let key = match &value {
            Value::Number(number, of) => Key::Number(*number, *of),
            Value::Variable(variable) => Key::Variable(*variable),
            Value::Load(point) => Key::Load(point.array, point.indices.iter().map(place).collect()),
            Value::Unary(operator, of) => Key::Unary(*operator, place(of)),
            Value::Binary(operator, left, right) => Key::Binary(*operator, place(left), place(right)),
            Value::Select(condition, then, otherwise) => Key::Select([condition, then, otherwise].map(place)),
            Value::Cast(to, of) => Key::Cast(*to, place(of)),
        };
        let make = || {
            let value = Rc::new(value);
            self.types.borrow_mut().insert(place(&value), of);
            value
        };
        self.known.borrow_mut().entry(key).or_insert_with(make).clone()
    }
}
