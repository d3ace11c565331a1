//! Values, indices and statements as the text of nests.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use itertools::Itertools;
use pushmem_nest::{Binary, Index, Piece, Type, Unary, named_values, value_names};

use crate::value::{Element, Value, Variable};

/// Letters, digits and `_`, beginning with none of the digits.
pub(crate) fn identifier(name: &str) -> String {
    let allowed = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
    let name: String = name.chars().map(allowed).collect();
    if name.starts_with(|first: char| first.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

/// The fewest operators of a statement in which some values have names, were all of them written out.
const FEWEST_IN_STATEMENT: u64 = 256;

/// The printer of a definition.
#[derive(Clone)]
pub(crate) struct Printer<'a> {
    /// The names and the types of all arrays.
    pub names: &'a [String],
    pub types: &'a [Type],
    /// The names of the variables that have loops; the others have one value.
    pub variables: BTreeMap<Variable, String>,
    pub ranges: Vec<(i64, i64)>,
    /// The names of values.
    pub values: HashMap<*const Value<Element>, String>,
}

impl Printer<'_> {
    /// The statement that stores a value in an element, and the values that it names, each computed with those before it.
    pub fn statement(
        &self,
        element: &Element,
        value: &Rc<Value<Element>>,
        updates: bool,
    ) -> (String, Vec<(String, String)>) {
        let roots = element.values().iter().chain([value]);
        let levels = |of: &Rc<Value<Element>>, _: usize, operand: &Rc<Value<Element>>| levels_to(of, operand);
        let parts = named_values(roots, Rc::as_ptr, |part| part.parts(), levels, FEWEST_IN_STATEMENT);
        if parts.is_empty() {
            return (self.assignment(element, value, updates), Vec::new());
        }
        let names = value_names(self.names.iter().chain(self.variables.values()).map(String::as_str));
        let mut printer = self.clone();
        let mut values = Vec::new();
        for (part, name) in parts.into_iter().zip(names) {
            values.push((name.clone(), printer.value(part)));
            printer.values.insert(Rc::as_ptr(part), name);
        }
        let statement = printer.assignment(element, value, updates);
        // A reduction is without the element itself, which may have been the only part with a name.
        let mut used: HashSet<String> = words(&statement);
        let mut kept = Vec::new();
        for (name, value) in values.into_iter().rev() {
            if used.contains(&name) {
                used.extend(words(&value));
                kept.push((name, value));
            }
        }
        kept.reverse();
        (statement, kept)
    }

    /// The statement that stores a value in an element: as a reduction, where the value is a sum that the element is a term of.
    fn assignment(&self, element: &Element, value: &Rc<Value<Element>>, updates: bool) -> String {
        let target = self.load(element);
        let is_target = |value: &Value<Element>| match value {
            Value::Load(load) => load.array() == element.array() && self.load(load) == target,
            _ => false,
        };
        let contains_target = |value: &Rc<Value<Element>>| {
            let mut found = false;
            value.visit(&mut HashSet::new(), &mut |part| found |= is_target(part));
            found
        };
        let mut terms = Vec::new();
        self.sum_terms(value, false, &mut terms);
        if let Value::Binary(Binary::FloatAdd(_), left, right) = &**value
            && updates
        {
            // Sums of numbers depend on their order: only one number is added.
            let added =
                [(left, right), (right, left)].into_iter().find(|(one, _)| is_target(one)).map(|(_, other)| other);
            if let Some(added) = added.filter(|added| !contains_target(added)) {
                return format!("{target} += {}", self.value(added));
            }
        }
        let added = terms.iter().position(|(term, negative)| is_target(term) && !negative);
        let statement = match added {
            Some(place) if updates && terms.len() > 1 => {
                terms.remove(place);
                let count = terms.iter().filter(|(term, _)| contains_target(term)).count();
                (count == 0).then(|| format!("{target} += {}", self.sum(&terms)))
            }
            _ => None,
        };
        statement.unwrap_or_else(|| format!("{target} = {}", self.value(value)))
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

    fn value_type(&self, value: &Value<Element>) -> Type {
        let load = |load: &Element| match load {
            Element::Array { array, .. } => Some(self.types[*array]),
            Element::Table { table, .. } => Some(self.types[*table]),
            Element::Chosen { array, .. } => Some(self.types[*array]),
        };
        value.value_type(&load).unwrap_or(Type::I32)
    }

    fn variable(&self, variable: Variable) -> String {
        match self.variables.get(&variable) {
            Some(name) => name.clone(),
            None => self.ranges[variable].0.to_string(),
        }
    }

    fn element(&self, array: usize, indices: &[Index]) -> String {
        let indices = indices.iter().map(|index| self.index(index));
        format!("{}[{}]", self.names[array], { indices }.join(", "))
    }

    fn load(&self, load: &Element) -> String {
        match load {
            Element::Array { array, indices, outside, .. } => {
                let element = self.element(*array, indices);
                match outside {
                    Some(outside) => format!("outside({element}, {})", self.types[*array].text(*outside)),
                    None => element,
                }
            }
            Element::Table { table, index } => format!("{}[{}]", self.names[*table], self.value(index)),
            Element::Chosen { array, indices, .. } => {
                format!("{}[{}]", self.names[*array], indices.iter().map(|index| self.value(index)).join(", "))
            }
        }
    }

    fn index(&self, index: &Index) -> String {
        let mut terms: Vec<String> = Vec::new();
        for &(variable, factor) in index.affine.terms.iter().rev() {
            terms.push(format!("{factor} * {}", self.variable(variable)));
        }
        for (factor, piece) in &index.pieces {
            let of = self.index(piece.of());
            terms.push(match piece {
                Piece::Quotient { by, .. } => format!("{factor} * (({of}) / {by})"),
                Piece::Remainder { by, .. } => format!("{factor} * (({of}) % {by})"),
                Piece::Clamp { low, high, .. } => format!("{factor} * clamp({of}, {low}, {high})"),
                Piece::Mirror { low, high, .. } => format!("{factor} * mirror({of}, {low}, {high})"),
            });
        }
        if index.affine.constant != 0 || terms.is_empty() {
            terms.push(index.affine.constant.to_string());
        }
        terms.join(" + ")
    }

    fn sum(&self, terms: &[(&Rc<Value<Element>>, bool)]) -> String {
        let mut text = String::new();
        // A sum begins with what is added, if anything is.
        let first = terms.iter().position(|(_, negative)| !negative).unwrap_or(0);
        let order = [first].into_iter().chain((0..terms.len()).filter(|place| *place != first));
        for place in order {
            let (term, negative) = &terms[place];
            text.push_str(match (text.is_empty(), negative) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            });
            text.push_str(&self.operand(term));
        }
        text
    }

    /// A value, in parentheses if it is an operator.
    fn operand(&self, value: &Rc<Value<Element>>) -> String {
        let text = self.value(value);
        match &**value {
            _ if self.values.contains_key(&Rc::as_ptr(value)) => text,
            Value::Binary(operator, ..) if operator.precedence().is_some() => format!("({text})"),
            Value::Unary(Unary::Negate | Unary::Not | Unary::FloatNegate(_), _) | Value::Cast(..) => {
                format!("({text})")
            }
            _ => text,
        }
    }

    fn value(&self, value: &Rc<Value<Element>>) -> String {
        if let Some(name) = self.values.get(&Rc::as_ptr(value)) {
            return name.clone();
        }
        match &**value {
            Value::Number(number, Type::Bool) => (*number != 0).to_string(),
            Value::Number(number, Type::Bf16) => Type::Bf16.text(*number),
            Value::Number(number, Type::F16) => format!("{}{}", Type::F16.text(*number), Type::F16.name()),
            Value::Number(number, of) => format!("{number}{}", of.name()),
            Value::Variable(variable) => match self.variables.get(variable) {
                Some(name) => name.clone(),
                None => format!("{}i32", self.ranges[*variable].0),
            },
            Value::Load(load) => self.load(load),
            Value::Unary(Unary::Negate | Unary::FloatNegate(_), operand) => format!("-{}", self.operand(operand)),
            Value::Unary(Unary::Not, operand) => format!("!{}", self.operand(operand)),
            Value::Unary(Unary::Absolute | Unary::FloatAbsolute(_), operand) => format!("abs({})", self.value(operand)),
            Value::Unary(Unary::FloatFunction(_, function), operand) => {
                format!("{}({})", function.name(), self.value(operand))
            }
            Value::Unary(Unary::FloatFromInteger(_) | Unary::FloatToInteger(_), _) => {
                unreachable!("expressions have casts")
            }
            // Halide keeps truth values in bytes, and takes the lowest bit of what becomes one.
            Value::Cast(Type::Bool, operand) => match self.value_type(operand) {
                Type::Bool => self.value(operand),
                _ => format!("({} & 1) != 0", self.operand(operand)),
            },
            Value::Cast(to, operand) => format!("{} as {}", self.operand(operand), to.name()),
            Value::Select(condition, then, otherwise) => {
                format!("sel({}, {}, {})", self.value(condition), self.value(then), self.value(otherwise))
            }
            Value::Binary(Binary::Add | Binary::Subtract, ..) => {
                let mut terms = Vec::new();
                self.sum_terms(value, false, &mut terms);
                self.sum(&terms)
            }
            Value::Binary(operator @ (Binary::And | Binary::Or), ..) => {
                let symbol = match (self.value_type(value), operator) {
                    (Type::Bool, Binary::And) => " && ",
                    (Type::Bool, _) => " || ",
                    (_, Binary::And) => " & ",
                    _ => " | ",
                };
                let mut operands = Vec::new();
                self.chain(*operator, value, &mut operands);
                operands.into_iter().map(|operand| self.operand(operand)).join(symbol)
            }
            Value::Binary(operator, left, right) => match operator.precedence() {
                Some(_) => format!("{} {} {}", self.operand(left), operator.symbol(), self.operand(right)),
                None => format!("{}({}, {})", operator.symbol(), self.value(left), self.value(right)),
            },
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

/// The words of a text, among which are all names in it.
fn words(text: &str) -> HashSet<String> {
    text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_').map(str::to_owned).collect()
}
