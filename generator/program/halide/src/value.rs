//! Expressions with their names looked up: what stores write and where.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use pushmem_nest::{Binary, Index, Span, Type, Unary};

/// A loop variable, or a coordinate that takes the place of some: a number, unique in the whole program.
pub(crate) type Variable = usize;

/// An expression. The kind of its loads depends on the stage: flat addresses first, elements of arrays later.
#[derive(Clone, Debug)]
pub(crate) enum Value<L> {
    Number(i64, Type),
    /// Of type i32.
    Variable(Variable),
    Load(L),
    Unary(Unary, Rc<Value<L>>),
    Binary(Binary, Rc<Value<L>>, Rc<Value<L>>),
    Select(Rc<Value<L>>, Rc<Value<L>>, Rc<Value<L>>),
    Cast(Type, Rc<Value<L>>),
}

/// A load of an element, or of an entry of a table.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    Array {
        array: usize,
        indices: Vec<Index>,
        /// The value where the indices lie outside of the array.
        outside: Option<i64>,
        span: Span,
    },
    Table {
        table: usize,
        index: Rc<Value<Element>>,
    },
    /// Of an array, by indices that depend on data.
    Chosen {
        array: usize,
        indices: Vec<Rc<Value<Element>>>,
        span: Span,
    },
}

impl Element {
    /// The element of an array that has these indices.
    pub fn new(array: usize, indices: Vec<Index>, span: Span) -> Self {
        Element::Array { array, indices, outside: None, span }
    }

    /// The array or the table.
    pub fn array(&self) -> usize {
        match self {
            Element::Array { array, .. } | Element::Table { table: array, .. } | Element::Chosen { array, .. } => {
                *array
            }
        }
    }

    /// The indices, unless data choose them.
    pub fn indices(&self) -> &[Index] {
        match self {
            Element::Array { indices, .. } => indices,
            Element::Table { .. } | Element::Chosen { .. } => &[],
        }
    }

    /// The indices that are values, as data choose them.
    pub fn values(&self) -> &[Rc<Value<Element>>] {
        match self {
            Element::Array { .. } => &[],
            Element::Table { index, .. } => std::slice::from_ref(index),
            Element::Chosen { indices, .. } => indices,
        }
    }

    /// All loads from arrays for its indices, each once.
    pub fn loads_of_indices(&self) -> Vec<(usize, &[Index])> {
        let (mut seen, mut loads) = (HashSet::new(), Vec::new());
        self.values().iter().for_each(|index| index.visit_all(&mut seen, &mut |part| loads.extend(part.array_load())));
        loads
    }
}

impl Value<Element> {
    /// All loads from arrays, those of indices too, in the order of the text: each array with its indices, unless data choose them.
    pub fn array_loads(&self) -> Vec<(usize, &[Index])> {
        let mut loads = Vec::new();
        self.visit_all(&mut HashSet::new(), &mut |part| loads.extend(part.array_load()));
        loads
    }

    fn array_load(&self) -> Option<(usize, &[Index])> {
        match self {
            Value::Load(load @ (Element::Array { array, .. } | Element::Chosen { array, .. })) => {
                Some((*array, load.indices()))
            }
            _ => None,
        }
    }

    /// The values that it is computed of: operands, and of a load the indices.
    pub fn parts(&self) -> Vec<&Rc<Self>> {
        match self {
            Value::Load(load) => load.values().iter().collect(),
            other => other.operands(),
        }
    }

    /// Shows each part once, those of indices too: operands before what is computed of them, a load before its indices.
    pub fn visit_all<'a>(&'a self, seen: &mut HashSet<*const Self>, show: &mut impl FnMut(&'a Self)) {
        if !seen.insert(self) {
            return;
        }
        let is_load = matches!(self, Value::Load(_));
        if is_load {
            show(self);
        }
        self.parts().into_iter().for_each(|part| part.visit_all(seen, show));
        if !is_load {
            show(self);
        }
    }
}

impl<L: Clone> Value<L> {
    pub fn number(value: i64) -> Rc<Self> {
        Rc::new(Value::Number(value, Type::I32))
    }

    pub fn binary(operator: Binary, left: Rc<Self>, right: Rc<Self>) -> Rc<Self> {
        Rc::new(Value::Binary(operator, left, right))
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<i64> {
        match self {
            Value::Number(number, _) => Some(*number),
            _ => None,
        }
    }

    /// The variable, if it is one.
    pub fn as_variable(&self) -> Option<Variable> {
        match self {
            Value::Variable(variable) => Some(*variable),
            _ => None,
        }
    }

    pub fn operands(&self) -> Vec<&Rc<Self>> {
        match self {
            Value::Number(..) | Value::Variable(_) | Value::Load(_) => Vec::new(),
            Value::Unary(_, operand) | Value::Cast(_, operand) => vec![operand],
            Value::Binary(_, left, right) => vec![left, right],
            Value::Select(condition, then, otherwise) => vec![condition, then, otherwise],
        }
    }

    /// The same operator on other operands, in the order of [`Value::operands`].
    pub fn with(&self, mut operand: impl FnMut(&Rc<Self>) -> Rc<Self>) -> Self {
        match self {
            Value::Number(..) | Value::Variable(_) | Value::Load(_) => self.clone(),
            Value::Unary(operator, inner) => Value::Unary(*operator, operand(inner)),
            Value::Cast(value, inner) => Value::Cast(*value, operand(inner)),
            Value::Binary(operator, left, right) => {
                let left = operand(left);
                Value::Binary(*operator, left, operand(right))
            }
            Value::Select(condition, then, otherwise) => {
                let condition = operand(condition);
                let then = operand(then);
                Value::Select(condition, then, operand(otherwise))
            }
        }
    }

    /// Whether this is a number with a fraction, of which the value is a word, and no integer. Of a load it is not known.
    pub fn is_number(&self) -> bool {
        self.is_number_but(&mut HashSet::new())
    }

    /// The same where some parts are known to be none, or not known to be one.
    fn is_number_but(&self, others: &mut HashSet<*const Self>) -> bool {
        match self {
            Value::Number(_, of) | Value::Cast(of, _) => of.format().is_some(),
            Value::Variable(_) | Value::Load(_) => false,
            Value::Unary(operator, _) => {
                matches!(operator, Unary::FloatNegate(_) | Unary::FloatAbsolute(_) | Unary::FloatFunction(..))
            }
            Value::Binary(operator, ..) => operator.is_of_numbers() && !operator.is_comparison(),
            Value::Select(_, then, otherwise) => {
                others.insert(self) && (then.is_number_but(others) || otherwise.is_number_but(others))
            }
        }
    }

    /// All loads, in the order of the text.
    pub fn loads(&self) -> Vec<&L> {
        let mut found = Vec::new();
        self.visit(&mut HashSet::new(), &mut |part| {
            if let Value::Load(load) = part {
                found.push(load);
            }
        });
        found
    }

    /// Whether it depends on variables only.
    pub fn is_known(&self) -> bool {
        self.loads().is_empty()
    }

    /// Shows each part of the value once, however often it is used; operands before what is computed of them.
    pub fn visit<'a>(&'a self, seen: &mut HashSet<*const Self>, show: &mut impl FnMut(&'a Self)) {
        if seen.insert(self) {
            self.operands().into_iter().for_each(|operand| operand.visit(seen, show));
            show(self);
        }
    }

    /// The variables outside of loads.
    pub fn own_variables(&self) -> BTreeSet<Variable> {
        let mut found = BTreeSet::new();
        self.visit(&mut HashSet::new(), &mut |part| {
            if let Value::Variable(variable) = part {
                found.insert(*variable);
            }
        });
        found
    }

    /// The type, where `load` gives those of loads. Operands are of one type.
    pub fn value_type(&self, load: &impl Fn(&L) -> Type) -> Type {
        match self {
            Value::Number(_, value) | Value::Cast(value, _) => *value,
            Value::Variable(_) => Type::I32,
            Value::Load(of) => load(of),
            Value::Unary(operator, operand) => operator.result(operand.value_type(load)),
            Value::Binary(operator, left, _) => operator.result(left.value_type(load)),
            Value::Select(_, then, _) => then.value_type(load),
        }
    }

    /// The value, if no load is needed for it.
    pub fn evaluate(&self, variable: &impl Fn(Variable) -> Option<i64>) -> Option<i64> {
        Evaluator::new(self).evaluate(variable)
    }
}

/// A value that is computed for many values of its variables: its parts in an order in which each comes after its operands, and is
/// computed once, however often it is used.
pub(crate) struct Evaluator<'a, L> {
    /// Each with the places of its operands.
    parts: Vec<(&'a Value<L>, [usize; 3])>,
    values: RefCell<Vec<Option<(i64, Type)>>>,
}

impl<'a, L: Clone> Evaluator<'a, L> {
    pub fn new(value: &'a Value<L>) -> Self {
        let mut parts = Vec::new();
        let mut places: HashMap<*const Value<L>, usize> = HashMap::new();
        value.visit(&mut HashSet::new(), &mut |part| {
            let mut operands = [0; 3];
            for (place, operand) in operands.iter_mut().zip(part.operands()) {
                *place = places[&Rc::as_ptr(operand)];
            }
            places.insert(part, parts.len());
            parts.push((part, operands));
        });
        Self { values: RefCell::new(vec![None; parts.len()]), parts }
    }

    /// The value, if no load is needed for it.
    pub fn evaluate(&self, variable: &impl Fn(Variable) -> Option<i64>) -> Option<i64> {
        let mut values = self.values.borrow_mut();
        for (place, (part, [first, second, third])) in self.parts.iter().enumerate() {
            values[place] = match part {
                Value::Number(value, of) => Some((*value, *of)),
                Value::Variable(which) => variable(*which).map(|value| (value, Type::I32)),
                Value::Load(_) => None,
                Value::Unary(operator, _) => {
                    values[*first].map(|(value, of)| (operator.apply(of, value), operator.result(of)))
                }
                Value::Binary(operator, ..) => values[*first]
                    .zip(values[*second])
                    .map(|((left, of), (right, _))| (operator.apply(of, left, right), operator.result(of))),
                Value::Select(..) => {
                    values[*first].and_then(|(condition, _)| values[if condition != 0 { *second } else { *third }])
                }
                Value::Cast(to, _) => values[*first].map(|(value, of)| (of.cast(*to, value), *to)),
            };
        }
        values.last().copied().flatten().map(|(value, _)| value)
    }
}
