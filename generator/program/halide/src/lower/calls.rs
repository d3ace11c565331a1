//! Calls of Funcs: elements of their arrays, their values, or entries of tables.

use std::rc::Rc;

use pushmem_nest::{Binary, Span, Type};

use super::{Expansion, Lowering, MOST_ENTRIES, MOST_UNROLLED, Scope, finite, type_of};
use crate::known::Evaluation;
use crate::loops::Loops;
use crate::plan::{Array, Storage, Term};
use crate::syntax::{Called, Definition, Expression, Kind, Level};
use crate::value::Evaluator;
use crate::{Problem, Result};

impl Lowering<'_> {
    /// The Func that is called by this name in a Func: it may have a wrapper.
    pub(super) fn callee(&self, name: &str, within: usize, span: Span) -> Result<usize> {
        let unknown = || Problem::new(span, format!("unknown Func `{}`", self.names.shown(name)));
        let number = *self.funcs.get(name).ok_or_else(unknown)?;
        let wrappers = &self.func(number).schedule.wrappers;
        let of = |place: usize| self.pipeline.names.get(place).and_then(|name| self.funcs.get(name.as_str())).copied();
        if wrappers.iter().any(|(_, wrapper)| of(*wrapper) == Some(within)) {
            return Ok(number);
        }
        let here = self.pipeline.funcs.get(within).map(|func| func.name.as_str());
        let own = wrappers.iter().find(|(reader, _)| Some(reader.as_str()) == here);
        let wrapper = own.or_else(|| wrappers.iter().find(|(reader, _)| reader.is_empty()));
        match wrapper {
            Some((_, wrapper)) => of(*wrapper).ok_or_else(unknown),
            None => Ok(number),
        }
    }

    /// An element of a Func: of its array, or its value.
    pub(super) fn func_call(&mut self, number: usize, value: usize, point: Vec<Term>, span: Span) -> Result<Term> {
        let func = self.func(number);
        if value >= func.types.len() || point.len() != func.arguments.len() {
            return Err(Problem::new(span, "a Func is called with another number of arguments than it has"));
        }
        if let Some(expansion) = self.expansions.iter_mut().rev().find(|expansion| expansion.func == number) {
            let is_same = expansion.point.iter().zip(&point).all(|(one, other)| Rc::ptr_eq(one, other));
            expansion.is_mixed |= !is_same;
            match (is_same, expansion.is_stored) {
                (true, _) => return Ok(expansion.values[value].clone()),
                (false, true) => {}
                (false, false) => return Err(self.not_held(number, span)),
            }
        }
        let is_pure = func.updates.is_empty() && func.definition.is_some();
        // Where arrays are kept, addresses are sums of variables: what has others is copied to an array before.
        let is_kept = match self.loops {
            Loops::Kept | Loops::Gathered => true,
            Loops::LookedUp => false,
            Loops::Scheduled | Loops::Raster | Loops::Unrolled => self.is_reduction,
        };
        let is_copied = is_kept && is_pure && !self.held.contains(&number) && self.is_bent(number, 0);
        let is_stored = is_copied || self.stored.contains_key(&number);
        if !is_stored
            && (self.held.contains(&number)
                || (is_pure && (func.schedule.compute == Level::Inlined || self.is_free(number))))
        {
            if func.schedule.compute != Level::Inlined
                && !self.held.contains(&number)
                && let Some(table) = self.table(number, value, &point)?
            {
                return Ok(self.load(table, point, span));
            }
            return self.inlined(number, value, point, span);
        }
        let arrays = self.arrays_of(number, Storage::Buffer)?;
        Ok(self.load(arrays[value], point, span))
    }

    pub(super) fn not_held(&self, number: usize, span: Span) -> Problem {
        let func = self.func(number);
        let name = self.names.shown(&func.name);
        let of = func.types.first().map_or(String::new(), ToString::to_string);
        Problem::new(
            span,
            format!("`{name}` of type {of} is no part of what reads it: its updates take other elements"),
        )
        .with_help("let its updates read and write the element of its own variables only")
    }

    /// The value of a Func that no array holds.
    pub(super) fn inlined(&mut self, number: usize, value: usize, point: Vec<Term>, span: Span) -> Result<Term> {
        let key = (number, value, point.iter().map(|term| Rc::as_ptr(term) as usize).collect::<Vec<_>>());
        if let Some(term) = self.inlined.get(&key) {
            return Ok(term.clone());
        }
        let func = self.func(number);
        let Some(definition) = &func.definition else {
            return Err(Problem::new(func.span, format!("`{}` is an extern function", self.names.shown(&func.name))));
        };
        let scope: Scope = func.arguments.iter().cloned().zip(point.iter().cloned()).collect();
        if func.updates.is_empty() {
            let Some(of) = definition.values.get(value) else {
                return Err(Problem::new(span, "a value of a tuple that it does not have"));
            };
            let term = self.term(of, &scope, number)?;
            self.inlined.insert(key, term.clone());
            return Ok(term);
        }
        let values = self.terms(&definition.values, &scope, number)?;
        self.expansions.push(Expansion { func: number, point, values, is_stored: false, is_mixed: false });
        for update in &func.updates {
            self.expanded(number, update, &scope)?;
        }
        let expansion = self.expansions.pop().map(|expansion| expansion.values).unwrap_or_default();
        let term = expansion.get(value).cloned().ok_or_else(|| self.not_held(number, span))?;
        self.inlined.insert(key, term.clone());
        Ok(term)
    }

    /// Computes an update of the element that is expanded, for all values of its reduction.
    pub(super) fn expanded(&mut self, number: usize, update: &Definition, scope: &Scope) -> Result<()> {
        let own = self.func(number).arguments.iter().zip(&update.arguments);
        if let Some((_, other)) =
            { own }.find(|(name, argument)| !matches!(&argument.kind, Kind::Variable(found) if found == *name))
        {
            return Err(self.not_held(number, other.span));
        }
        let mut ranges = Vec::new();
        for reduction in &update.domain {
            ranges.push((reduction.name.clone(), self.range(&reduction.least, &reduction.extent)?));
        }
        let count = ranges.iter().fold(1_i64, |count, (_, (low, high))| count.saturating_mul(high - low + 1));
        if count > MOST_UNROLLED {
            return Err(self.not_held(number, update.span));
        }
        for step in 0..count {
            let (mut rest, mut inner) = (step, scope.clone());
            for (name, (low, high)) in &ranges {
                inner.insert(name.clone(), self.plan.terms.number(low + rest % (high - low + 1), Type::I32));
                rest /= high - low + 1;
            }
            self.update_once(number, update, &inner)?;
        }
        Ok(())
    }

    /// The table of a Func of its variable only, if it is looked up by data.
    pub(super) fn table(&mut self, number: usize, value: usize, point: &[Term]) -> Result<Option<usize>> {
        let func = self.func(number);
        let [index] = point else { return Ok(None) };
        // Functions of numbers have tables themselves: a table of the values is no larger, and nearer to them.
        let has_numbers = func.has_numbers();
        if index.is_known() && !has_numbers {
            return Ok(None);
        }
        let (low, high) = self.interval(index);
        let whole = self.plan.variables.len();
        if high - low >= MOST_ENTRIES {
            return Ok(None);
        }
        let of = type_of(func.types[value], func.span)?;
        let evaluation = Evaluation::new(self.pipeline, &self.funcs);
        let known = |index: i64| evaluation.of(number, value, &[index], 0).map(|known| known.entry(of));
        // Functions that are not known there may be computed as nests do it.
        let entries = match (low..=high).map(known).collect::<Option<Vec<i64>>>() {
            Some(entries) => entries,
            None => {
                self.plan.variables.push((String::new(), Some((low, high))));
                let at = self.plan.terms.variable(whole);
                let term = self.inlined(number, value, vec![at], func.span)?;
                let evaluator = Evaluator::new(&*term);
                let entry = |index: i64| evaluator.evaluate(&|variable| (variable == whole).then_some(index));
                let Some(entries) = (low..=high).map(entry).collect() else { return Ok(None) };
                entries
            }
        };
        let name = self.names.shown(&func.name).to_owned();
        finite(of, &entries, func.span)?;
        let key = format!("{}.{value} from {low} to {high}", func.name);
        Ok(Some(self.other(&key, || Array::constants(name, of, entries, vec![(low, high)], func.span))))
    }

    /// Whether a Func reads another one or an image by an index that is limited or chosen, as boundary conditions do.
    fn is_bent(&self, number: usize, depth: usize) -> bool {
        let func = self.func(number);
        // No chain of boundary conditions is as long.
        if depth > 8 || !func.updates.is_empty() {
            return false;
        }
        let values = func.definition.iter().flat_map(|definition| &definition.values);
        values.flat_map(Expression::parts).any(|part| {
            let Kind::Call(call) = &part.kind else { return false };
            let inner = self.funcs.get(call.name.as_str()).filter(|_| call.called == Called::Func);
            matches!(call.called, Called::Func | Called::Image) && call.arguments.iter().any(is_limited)
                || inner.is_some_and(|inner| {
                    self.func(*inner).schedule.compute == Level::Inlined && self.is_bent(*inner, depth + 1)
                })
        })
    }

    /// Whether a Func depends on its variables only.
    pub(super) fn is_free(&mut self, number: usize) -> bool {
        if let Some(known) = self.is_free.get(&number) {
            return *known;
        }
        // One that calls itself is none.
        self.is_free.insert(number, false);
        let func = self.func(number);
        let values = func.definition.iter().flat_map(|definition| &definition.values);
        let free =
            func.updates.is_empty() && func.definition.is_some() && { values }.all(|value| self.is_free_value(value));
        self.is_free.insert(number, free);
        free
    }

    pub(super) fn is_free_value(&mut self, value: &Expression) -> bool {
        let is_parameter = |name: &str| self.pipeline.parameters.iter().any(|each| each.name == name);
        let is_free = match &value.kind {
            Kind::Variable(name) => !is_parameter(name),
            Kind::Call(call) => match call.called {
                Called::Image => !is_parameter(&call.name),
                Called::Func => self.funcs.get(call.name.as_str()).copied().is_some_and(|func| self.is_free(func)),
                Called::Intrinsic | Called::Extern => true,
            },
            _ => true,
        };
        is_free && value.operands().iter().all(|operand| self.is_free_value(operand))
    }
}

/// Whether an index is limited, or chosen by a condition.
fn is_limited(index: &Expression) -> bool {
    use Binary::{Maximum, Minimum, Modulo};
    let is_limit = |kind: &Kind| matches!(kind, Kind::Select(_) | Kind::Binary(Minimum | Maximum | Modulo, _));
    index.parts().into_iter().any(|part| is_limit(&part.kind))
}
