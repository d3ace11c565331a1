//! Values, indices and statements of blocks in the syntax of nests.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use pushmem_nest::syntax::{Name, Statement, Syntax};
use pushmem_nest::{Binary, Index, Piece, Span, Type, Unary, named_values, value_names};

use crate::value::{Element, Load, Value, Variable};

/// Letters, digits and `_`, beginning with none of the digits.
pub(crate) fn identifier(name: &str) -> String {
    let allowed = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
    let name: String = name.chars().map(allowed).collect();
    if name.starts_with(|first: char| first.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

/// The fewest operators of a statement in which some values have names, were all of them written out.
const FEWEST_IN_STATEMENT: u64 = 256;

/// Writes the statements of a block.
#[derive(Clone)]
pub(crate) struct Writer<'a> {
    /// The names and the types of all arrays.
    pub names: &'a [String],
    pub types: &'a [Type],
    /// The names of the variables that have loops; the others have one value.
    pub variables: BTreeMap<Variable, String>,
    pub ranges: Vec<(i64, i64)>,
    /// The values that have names, as these.
    pub values: HashMap<*const Value<Element>, Syntax>,
    /// The place of the block.
    pub span: Span,
}

impl Writer<'_> {
    /// The statement that stores a value in an element: as a reduction, where the value is a sum that the element is a term of.
    pub fn statement(&self, element: &Element, value: &Rc<Value<Element>>, updates: bool) -> Statement {
        let roots = element.values().iter().chain([value]);
        let levels = |of: &Rc<Value<Element>>, _: usize, operand: &Rc<Value<Element>>| levels_to(of, operand);
        let parts = named_values(roots, Rc::as_ptr, |part| part.sources(), levels, FEWEST_IN_STATEMENT);
        let names = value_names(self.names.iter().chain(self.variables.values()).map(String::as_str));
        let mut writer = self.clone();
        let mut values = Vec::new();
        for (part, text) in parts.into_iter().zip(names) {
            let value = writer.value(part);
            writer.values.insert(Rc::as_ptr(part), Syntax::named(&text, &value, self.span));
            values.push((Name { text, span: self.span }, value));
        }
        let target = writer.load(element);
        let added = updates.then(|| writer.added(element, &target, value)).flatten();
        let statement = Statement {
            target,
            reduce: added.is_some(),
            value: added.unwrap_or_else(|| writer.value(value)),
            values,
            share: None,
            span: self.span,
        };
        // A reduction is without the element itself, which may have been the only part with a name.
        statement.without_unused_values()
    }

    /// The value that is added to an element, if the value that it stores is a sum with it.
    fn added(&self, element: &Element, target: &Syntax, value: &Rc<Value<Element>>) -> Option<Syntax> {
        let is_target = |value: &Value<Element>| match value {
            Value::Load(load) => load.array() == element.array() && self.load(load) == *target,
            _ => false,
        };
        let contains_target = |value: &Rc<Value<Element>>| value.parts().into_iter().any(is_target);
        if let Value::Binary(Binary::FloatAdd(_), left, right) = &**value {
            // Sums of numbers depend on their order: only one number is added.
            let added = [(left, right), (right, left)].into_iter().find(|(one, _)| is_target(one));
            return added.filter(|(_, added)| !contains_target(added)).map(|(_, added)| self.value(added));
        }
        let mut terms = Vec::new();
        self.sum_terms(value, false, &mut terms);
        let place = terms.iter().position(|(term, negative)| is_target(term) && !negative)?;
        terms.remove(place);
        let is_free = !terms.is_empty() && !terms.iter().any(|(term, _)| contains_target(term));
        is_free.then(|| self.sum(&terms))
    }

    /// The terms of a sum with their signs.
    fn sum_terms<'a>(
        &self,
        value: &'a Rc<Value<Element>>,
        negative: bool,
        found: &mut Vec<(&'a Rc<Value<Element>>, bool)>,
    ) {
        match &**value {
            _ if self.values.contains_key(&Rc::as_ptr(value)) => found.push((value, negative)),
            Value::Binary(Binary::Add, left, right) => {
                self.sum_terms(left, negative, found);
                self.sum_terms(right, negative, found);
            }
            Value::Binary(Binary::Subtract, left, right) => {
                self.sum_terms(left, negative, found);
                self.sum_terms(right, !negative, found);
            }
            _ => found.push((value, negative)),
        }
    }

    fn variable(&self, variable: Variable) -> Syntax {
        match self.variables.get(&variable) {
            Some(name) => Syntax::variable(name, self.span),
            None => self.number(self.ranges[variable].0),
        }
    }

    fn number(&self, number: i64) -> Syntax {
        Syntax::constant(number, Type::I32, self.span)
    }

    fn binary(&self, operator: Binary, left: Syntax, right: Syntax) -> Syntax {
        Syntax::binary(operator, left, right, self.span)
    }

    fn indices(&self, element: &Element) -> Vec<Syntax> {
        let known = element.indices().iter().map(|index| self.index(index));
        known.chain(element.values().iter().map(|index| self.value(index))).collect()
    }

    fn load(&self, load: &Element) -> Syntax {
        let array = load.array();
        let element = Syntax::element(&self.names[array], self.indices(load), self.span);
        match load {
            Element::Array { outside: Some(outside), .. } => {
                let outside = Syntax::constant(*outside, self.types[array], self.span);
                Syntax::call("outside", vec![element, outside], self.span)
            }
            _ => element,
        }
    }

    fn index(&self, index: &Index) -> Syntax {
        let affine = index.affine.terms.iter().rev().map(|&(variable, factor)| (factor, self.variable(variable)));
        let pieces = index.pieces.iter().map(|(factor, piece)| (*factor, self.piece(piece)));
        let terms = affine.chain(pieces);
        let terms = terms.map(|(factor, of)| self.binary(Binary::Multiply, self.number(factor), of));
        let constant = (index.affine.constant != 0).then(|| self.number(index.affine.constant));
        let sum = terms.chain(constant).reduce(|sum, term| self.binary(Binary::Add, sum, term));
        sum.unwrap_or_else(|| self.number(0))
    }

    fn piece(&self, piece: &Piece) -> Syntax {
        let of = self.index(piece.of());
        let limited = |name: &str, of, low: i64, high: i64| {
            Syntax::call(name, vec![of, self.number(low), self.number(high)], self.span)
        };
        match piece {
            Piece::Quotient { by, .. } => self.binary(Binary::Divide, of, self.number(*by)),
            Piece::Remainder { by, .. } => self.binary(Binary::Modulo, of, self.number(*by)),
            Piece::Clamp { low, high, .. } => limited("clamp", of, *low, *high),
            Piece::Mirror { low, high, .. } => limited("mirror", of, *low, *high),
        }
    }

    /// A sum, which begins with what is added, if anything is.
    fn sum(&self, terms: &[(&Rc<Value<Element>>, bool)]) -> Syntax {
        let first = terms.iter().position(|(_, negative)| !negative).unwrap_or(0);
        let value = |place: usize| self.value(terms[place].0);
        let begin = match terms[first].1 {
            true => self.unary(Unary::Negate, value(first)),
            false => value(first),
        };
        (0..terms.len()).filter(|place| *place != first).fold(begin, |sum, place| {
            let operator = if terms[place].1 { Binary::Subtract } else { Binary::Add };
            self.binary(operator, sum, value(place))
        })
    }

    fn unary(&self, operator: Unary, operand: Syntax) -> Syntax {
        Syntax::unary(operator, operand, self.span).expect("values have casts")
    }

    fn value(&self, value: &Rc<Value<Element>>) -> Syntax {
        if let Some(name) = self.values.get(&Rc::as_ptr(value)) {
            return name.clone();
        }
        match &**value {
            Value::Number(number, of) => Syntax::constant(*number, *of, self.span),
            Value::Variable(variable) => self.variable(*variable),
            Value::Load(load) => self.load(load),
            Value::Unary(operator, operand) => self.unary(*operator, self.value(operand)),
            // Halide keeps truth values in bytes, and takes the lowest bit of what becomes one.
            Value::Cast(Type::Bool, operand) => match operand.value_type(&|load: &Element| self.types[load.array()]) {
                Type::Bool => self.value(operand),
                of => {
                    let number = |number: i64| Syntax::constant(number, of, self.span);
                    let bit = self.binary(Binary::And, self.value(operand), number(1));
                    self.binary(Binary::NotEqual, bit, number(0))
                }
            },
            Value::Cast(to, operand) => self.value(operand).cast(*to, self.span),
            Value::Select(condition, then, otherwise) => {
                let parts = [condition, then, otherwise].map(|part| self.value(part));
                Syntax::call("sel", parts.into(), self.span)
            }
            Value::Binary(Binary::Add | Binary::Subtract, ..) => {
                let mut terms = Vec::new();
                self.sum_terms(value, false, &mut terms);
                self.sum(&terms)
            }
            Value::Binary(operator @ (Binary::And | Binary::Or), ..) => {
                let mut operands = Vec::new();
                self.chain(*operator, value, &mut operands);
                let operands = operands.into_iter().map(|operand| self.value(operand));
                let chain = operands.reduce(|chain, operand| self.binary(*operator, chain, operand));
                chain.expect("a chain has operands")
            }
            Value::Binary(operator, left, right) => self.binary(*operator, self.value(left), self.value(right)),
        }
    }

    /// The operands of a chain of one operator.
    fn chain<'a>(&self, wanted: Binary, value: &'a Rc<Value<Element>>, found: &mut Vec<&'a Rc<Value<Element>>>) {
        match &**value {
            _ if self.values.contains_key(&Rc::as_ptr(value)) => found.push(value),
            Value::Binary(operator, left, right) if *operator == wanted => {
                self.chain(wanted, left, found);
                self.chain(wanted, right, found);
            }
            _ => found.push(value),
        }
    }
}

/// The levels of parentheses, brackets and signs from a value to an operand: none within the chain of an operator.
fn levels_to(of: &Value<Element>, operand: &Value<Element>) -> usize {
    use Binary::{Add, And, Or, Subtract};
    match (of, operand) {
        (Value::Binary(Add | Subtract, ..), Value::Binary(Add | Subtract, ..)) => 0,
        (Value::Binary(one @ (And | Or), ..), Value::Binary(other, ..)) if one == other => 0,
        (Value::Unary(..) | Value::Cast(Type::Bool, _), _) => 2,
        _ => 1,
    }
}
