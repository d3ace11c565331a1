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

    /// Whether it is an entry of a table.
    pub fn is_entry(&self) -> bool {
        matches!(self, Element::Table { .. })
    }
}

/// The loads of values: elements, and entries of tables.
pub(crate) trait Load: Clone {
    /// The indices that are values.
    fn values(&self) -> &[Rc<Value<Self>>];
}

impl Load for Element {
    /// Those that data choose.
    fn values(&self) -> &[Rc<Value<Self>>] {
        match self {
            Element::Array { .. } => &[],
            Element::Table { index, .. } => std::slice::from_ref(index),
            Element::Chosen { indices, .. } => indices,
        }
    }
}

/// All loads of values, those of indices too, each once and before those of its indices.
pub(crate) fn all_loads<'a, L: Load>(values: impl IntoIterator<Item = &'a Rc<Value<L>>>) -> Vec<&'a L> {
    fn add<'a, L: Load>(value: &'a Value<L>, seen: &mut HashSet<*const Value<L>>, loads: &mut Vec<&'a L>) {
        if seen.insert(value) {
            loads.extend(value.as_load());
            value.sources().into_iter().for_each(|source| add(source, seen, loads));
        }
    }
    let (mut seen, mut loads) = (HashSet::new(), Vec::new());
    values.into_iter().for_each(|value| add(value, &mut seen, &mut loads));
    loads
}

impl<L: Load> Value<L> {
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

    /// The load, if it is one.
    fn as_load(&self) -> Option<&L> {
        match self {
            Value::Load(load) => Some(load),
            _ => None,
        }
    }

    /// The values that it is computed of: operands, and of a load the indices.
    pub fn sources(&self) -> Vec<&Rc<Self>> {
        self.as_load().map_or_else(|| self.operands(), |load| load.values().iter().collect())
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
            Value::Binary(operator, left, right) => Value::Binary(*operator, operand(left), operand(right)),
            Value::Select(condition, then, otherwise) => {
                Value::Select(operand(condition), operand(then), operand(otherwise))
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

    /// All loads but those for indices, in the order of the text.
    pub fn loads(&self) -> impl Iterator<Item = &L> {
        self.parts().into_iter().filter_map(Self::as_load)
    }

    /// Whether it depends on variables only.
    pub fn is_known(&self) -> bool {
        self.loads().next().is_none()
    }

    /// Each part once, however often it is used, operands before what is computed of them; no parts of indices.
    pub fn parts(&self) -> Vec<&Self> {
        let mut parts = Vec::new();
        self.add_parts(&mut HashSet::new(), &mut parts);
        parts
    }

    /// Adds the parts that were not `seen`.
    pub fn add_parts<'a>(&'a self, seen: &mut HashSet<*const Self>, parts: &mut Vec<&'a Self>) {
        if seen.insert(self) {
            self.operands().into_iter().for_each(|operand| operand.add_parts(seen, parts));
            parts.push(self);
        }
    }

    /// The variables outside of loads.
    pub fn own_variables(&self) -> BTreeSet<Variable> {
        self.parts().into_iter().filter_map(Self::as_variable).collect()
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

impl<'a, L: Load> Evaluator<'a, L> {
    pub fn new(value: &'a Value<L>) -> Self {
        let mut parts = Vec::new();
        let mut places: HashMap<*const Value<L>, usize> = HashMap::new();
        for part in value.parts() {
            let mut operands = [0; 3];
            for (place, operand) in operands.iter_mut().zip(part.operands()) {
                *place = places[&Rc::as_ptr(operand)];
            }
            places.insert(part, parts.len());
            parts.push((part, operands));
        }
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
