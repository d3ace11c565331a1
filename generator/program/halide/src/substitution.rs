//! Terms with other parts.

use std::collections::HashMap;
use std::rc::Rc;

use pushmem_nest::{Binary, Type};

use crate::intern::Interner;
use crate::plan::{Plan, Point, Stage, Term};
use crate::value::{Value, Variable};

/// The stage with these terms in the place of variables. Entries of tables at constant indices are numbers.
pub(crate) fn with_variables(plan: &Plan, stage: &Stage, variables: HashMap<Variable, Term>) -> Stage {
    let Plan { terms, arrays, .. } = plan;
    let load = |_: &Point, point: Point, loaded| {
        Some(match arrays[point.array].entry(&point.indices) {
            Some(entry) => terms.number(entry, loaded),
            None => terms.load(point, loaded),
        })
    };
    let mut stage = stage.clone();
    Substitution::new(terms, variables, load).within(&mut stage);
    stage
}

/// Terms with other terms in the place of variables, and with other loads.
pub(crate) struct Substitution<'a, L> {
    terms: &'a Interner,
    variables: HashMap<Variable, Term>,
    /// Multiples of variables: each with its factor.
    multiples: HashMap<Variable, (i64, Term)>,
    /// The term in the place of a load, as it was and with its indices substituted, and of its type; nothing, if there is none.
    load: L,
    known: HashMap<usize, Option<Term>>,
}

impl<'a, L: FnMut(&Point, Point, Type) -> Option<Term>> Substitution<'a, L> {
    pub fn new(terms: &'a Interner, variables: HashMap<Variable, Term>, load: L) -> Self {
        Self { terms, variables, multiples: HashMap::new(), load, known: HashMap::new() }
    }

    /// The same with these terms in the place of multiples of variables, each with its factor.
    pub fn with_multiples(self, multiples: HashMap<Variable, (i64, Term)>) -> Self {
        Self { multiples, ..self }
    }

    /// The term with these parts; nothing, if a load has none.
    pub fn of(&mut self, term: &Term) -> Option<Term> {
        let place = Rc::as_ptr(term) as usize;
        if let Some(known) = self.known.get(&place) {
            return known.clone();
        }
        let new = self.anew(term);
        self.known.insert(place, new.clone());
        new
    }

    fn anew(&mut self, term: &Term) -> Option<Term> {
        Some(match &**term {
            Value::Number(..) => term.clone(),
            Value::Variable(variable) => self.variables.get(variable).unwrap_or(term).clone(),
            Value::Load(point) => {
                let indices = point.indices.iter().map(|index| self.of(index)).collect::<Option<_>>()?;
                let loaded = self.terms.type_of(term);
                (self.load)(point, Point { indices, ..point.clone() }, loaded)?
            }
            Value::Binary(Binary::Multiply, left, right) if let Some(multiple) = self.multiple(left, right) => multiple,
            other => {
                let mut is_whole = true;
                let new = other.with(|operand| {
                    let new = self.of(operand);
                    is_whole &= new.is_some();
                    new.unwrap_or_else(|| operand.clone())
                });
                is_whole.then(|| self.terms.made(new))?
            }
        })
    }

    /// Puts these parts into the terms of a stage; a term of which a load has none stays as it is.
    pub fn within(&mut self, stage: &mut Stage) {
        for term in stage.targets.iter_mut().chain(stage.values.iter_mut().flatten()) {
            if let Some(new) = self.of(term) {
                *term = new;
            }
        }
    }

    /// The product of a variable and a multiple of its factor.
    fn multiple(&self, left: &Term, right: &Term) -> Option<Term> {
        let ((Value::Variable(variable), Value::Number(by, of)) | (Value::Number(by, of), Value::Variable(variable))) =
            (&**left, &**right)
        else {
            return None;
        };
        let (factor, multiple) = self.multiples.get(variable).filter(|(factor, _)| by % factor == 0)?;
        let by = self.terms.number(by / factor, *of);
        Some(self.terms.binary(Binary::Multiply, multiple.clone(), by))
    }
}
