//! The definitions of Funcs as stages, with their loops and copies.

use std::collections::HashMap;
use std::rc::Rc;

use pushmem_nest::{Binary, Span, Type};

use super::{Expansion, Lowering, MOST_COPIES, MOST_UNROLLED, Scope};
use crate::floats::operation;
use crate::held::unrolled;
use crate::loops::{Order, summing_order};
use crate::plan::{Array, Loop, Point, Stage, Storage, Term, Unroll};
use crate::print::variable;
use crate::syntax::{Call, Called, Definition, Expression, Func, Kind};
use crate::value::{Value, Variable, all_loads};
use crate::{Problem, Result};

impl<'a> Lowering<'a> {
    /// The definitions of a Func, as stages.
    pub(super) fn stages(&mut self, number: usize) -> Result<()> {
        let func = self.func(number);
        let Some(first) = &func.definition else {
            return Err(Problem::new(func.span, format!("`{}` is an extern function", self.names.shown(&func.name)))
                .with_help("only what Halide defines has hardware: write it as a Func, or compute it on the CPU"));
        };
        for name in &func.schedule.ignored {
            self.note(func.span, name);
        }
        if self.is_one_definition(func)? {
            return self.whole_stage(number, first);
        }
        self.stage(number, first, false)?;
        for update in &func.updates {
            self.stage(number, update, true)?;
        }
        Ok(())
    }

    /// Whether an output is written again by its updates, which no output can be.
    pub(super) fn accumulates(&mut self, number: usize) -> Result<bool> {
        let func = self.func(number);
        Ok(!func.updates.is_empty() && !self.is_one_definition(func)?)
    }

    /// Lets a buffer hold an output, and copies it when it is complete.
    pub(super) fn accumulated(&mut self, number: usize) -> Result<()> {
        let func = self.func(number);
        let buffers = self.arrays_of(number, Storage::Buffer)?;
        let (mut scope, mut of_name) = (Scope::new(), HashMap::new());
        for (dimension, argument) in func.arguments.iter().enumerate() {
            self.variable(argument, None, Some(dimension), &mut scope, &mut of_name);
        }
        let targets: Vec<Term> = func.arguments.iter().map(|argument| scope[argument].clone()).collect();
        let (mut arrays, mut values) = (Vec::new(), Vec::new());
        let said = self.sizes.output(func)?;
        for buffer in buffers {
            values.push(Some(self.load(buffer, targets.clone(), func.span)));
            let held = &mut self.plan.arrays[buffer];
            let output = Array { storage: Storage::Output, said: Some(said.clone()), ..held.like(held.name.clone()) };
            held.name.push_str("_so_far");
            arrays.push(self.plan.arrays.len());
            self.plan.arrays.push(output);
        }
        let loops =
            in_loops(&of_name, self.loops.order(func.definition.as_ref().unwrap_or(&func.updates[0]), func).0, func);
        let Some(first) = arrays.first() else {
            return Err(Problem::new(func.span, format!("`{}` has no value", self.names.shown(&func.name))));
        };
        let span = self.plan.arrays[*first].span;
        // It belongs to no Func.
        let func = usize::MAX - number;
        self.copies.push(Stage { func, arrays, targets, values, loops, updates: false, span });
        Ok(())
    }

    /// Whether all updates of a Func become parts of its value.
    fn is_one_definition(&mut self, func: &Func) -> Result<bool> {
        let is_sum = func.types.len() == 1 && func.updates.iter().all(|update| is_sum(update, &func.name));
        Ok(!is_sum && self.is_element_wise(func)?)
    }

    /// Whether all updates of a Func are of the element of its variables, with reductions that are wholly unrolled.
    pub(super) fn is_element_wise(&mut self, func: &Func) -> Result<bool> {
        let mut copies = 1_i64;
        for update in &func.updates {
            let mut own = func.arguments.iter().zip(&update.arguments);
            if !own.all(|(name, argument)| matches!(&argument.kind, Kind::Variable(found) if found == name)) {
                return Ok(false);
            }
            let (order, _) = self.loops.order(update, func);
            for reduction in &update.domain {
                let (low, high) = self.range(&reduction.least, &reduction.extent)?;
                let unroll =
                    order.iter().find(|each| each.name == reduction.name).map_or(Unroll::By(1), |each| each.unroll);
                if unrolled(unroll, high - low + 1) <= high - low {
                    return Ok(false);
                }
                copies = copies.saturating_mul(high - low + 1);
            }
        }
        Ok(!func.updates.is_empty() && copies <= MOST_COPIES)
    }

    /// The last values of a Func as one definition: its updates are parts of the value.
    pub(super) fn whole_stage(&mut self, number: usize, first: &'a Definition) -> Result<()> {
        self.is_reduction = false;
        let func = self.func(number);
        let (order, _) = self.loops.order(first, func);
        let (mut scope, mut of_name) = (Scope::new(), HashMap::new());
        for (dimension, argument) in func.arguments.iter().enumerate() {
            self.variable(argument, None, Some(dimension), &mut scope, &mut of_name);
        }
        let targets: Vec<Term> = func.arguments.iter().map(|argument| scope[argument].clone()).collect();
        let mut values = Vec::new();
        // The parts of the value are in the order of the reduction domain.
        let in_order = |update: &Definition| {
            let names = update.domain.iter().rev().map(|reduction| reduction.name.as_str());
            summing_order(update)
                .is_some_and(|order| names.filter(|name| order.contains(name)).eq(order.iter().copied()))
        };
        if let Some(update) = func.updates.iter().find(|update| func.has_numbers() && !in_order(update)) {
            return Err(mixed(update));
        }
        for value in 0..func.types.len() {
            values.push(Some(self.inlined(number, value, targets.clone(), first.span)?));
        }
        let (arrays, loops) = (self.stored[&number].clone(), in_loops(&of_name, order, func));
        self.plan.stages.push(Stage { func: number, arrays, targets, values, loops, updates: false, span: first.span });
        Ok(())
    }

    pub(super) fn note(&mut self, span: Span, directive: &str) {
        self.plan.notes.push((span, format!("`{directive}` is for processors, and has no meaning for hardware")));
    }

    pub(super) fn stage(&mut self, number: usize, definition: &'a Definition, updates: bool) -> Result<()> {
        // Copies of an update that reads other elements of its Func are executed one after the other.
        if !self.stage_of(number, definition, updates, true)? {
            self.stage_of(number, definition, updates, false)?;
        }
        Ok(())
    }

    /// Adds the stage of a definition, whose copies may be parts of one value; gives whether they can.
    pub(super) fn stage_of(
        &mut self,
        number: usize,
        definition: &'a Definition,
        updates: bool,
        copied: bool,
    ) -> Result<bool> {
        let func = self.func(number);
        if definition.specializations > 0 {
            self.note(definition.span, "specialize");
        }
        if func.has_numbers() && summing_order(definition).is_none() {
            return Err(mixed(definition));
        }
        let (mut order, ignored) = self.loops.order(definition, func);
        for directive in ignored {
            self.note(definition.span, directive);
        }
        let mut scope = Scope::new();
        let mut of_name: HashMap<&str, (usize, Option<usize>)> = HashMap::new();
        for (dimension, argument) in func.arguments.iter().enumerate() {
            let here = &definition.arguments.get(dimension).map(|argument| &argument.kind);
            // A variable of an update that is in no argument of it has no loop.
            if matches!(here, Some(Kind::Variable(name)) if name == argument) {
                self.variable(argument, None, Some(dimension), &mut scope, &mut of_name);
            }
        }
        let mut copies: Vec<(&str, Vec<Term>)> = Vec::new();
        let mut apart: Vec<(Variable, i64)> = Vec::new();
        let is_rolled = |each: &Order, (low, high): (i64, i64)| unrolled(each.unroll, high - low + 1) <= high - low;
        let mut any_rolled = false;
        let mut ranges = Vec::new();
        for reduction in &definition.domain {
            let range = self.range(&reduction.least, &reduction.extent)?;
            any_rolled |=
                order.iter().find(|each| each.name == reduction.name).is_none_or(|each| is_rolled(each, range));
            ranges.push(range);
        }
        for (reduction, range) in definition.domain.iter().zip(ranges) {
            let unroll = order.iter_mut().find(|each| each.name == reduction.name).map(|each| &mut each.unroll);
            // Copies that add numbers one after the other are copies of a loop.
            let factor =
                unroll.filter(|_| any_rolled && !func.has_numbers()).map_or(1, |unroll| divided(unroll, range));
            self.variable(&reduction.name, Some(range), None, &mut scope, &mut of_name);
            if factor > 1 && copied {
                copies.push((&reduction.name, self.in_copies(of_name[reduction.name.as_str()].0, range, factor)));
            } else if factor > 1 {
                apart.push((of_name[reduction.name.as_str()].0, factor));
            }
        }
        let copied_variables: Vec<&str> = copies.iter().map(|(name, _)| *name).collect();
        if !are_one_value(definition, &func.name, &order, &copied_variables) {
            return Ok(false);
        }
        self.is_reduction = any_rolled;
        let arrays = self.stored[&number].clone();
        let targets = self.terms(&definition.arguments, &scope, number)?;
        if !copies.is_empty() && all_loads(&targets).into_iter().any(|point| arrays.contains(&point.array)) {
            return Ok(false);
        }
        let Some(mut values) = self.copied(number, definition, &targets, &scope, &copies)? else { return Ok(false) };
        if values.len() != arrays.len() || targets.len() != func.arguments.len() {
            return Err(Problem::new(
                definition.span,
                "a definition has another number of values or arguments than its Func",
            ));
        }
        if let Some(predicate) = definition.predicate.as_ref().filter(|_| copies.is_empty()) {
            let condition = self.term(predicate, &scope, number)?;
            for (value, array) in values.iter_mut().zip(&arrays) {
                let before = self.load(*array, targets.clone(), definition.span);
                *value = value.take().map(|value| self.plan.terms.select(condition.clone(), value, before));
            }
        }
        let loops = in_loops(&of_name, order, func);
        let mut stage = Stage { func: number, arrays, targets, values, loops, updates, span: definition.span };
        self.unroll_apart(&mut stage, apart);
        self.plan.stages.push(stage);
        Ok(true)
    }

    /// Unrolls loops of an update by these factors where their copies use no elements of each other; a note says where they do.
    fn unroll_apart(&mut self, stage: &mut Stage, apart: Vec<(Variable, i64)>) {
        for (variable, factor) in apart {
            if are_apart(stage, variable) {
                let own = stage.loops.iter_mut().filter(|each| each.variable == variable);
                own.for_each(|each| each.unroll = Unroll::By(factor));
            } else {
                let name = &self.plan.variables[variable].0;
                let note = format!("`{name}` is not unrolled: copies of it may use elements of each other");
                self.plan.notes.push((stage.span, note));
            }
        }
    }

    /// Adds a variable of a definition.
    pub(super) fn variable(
        &mut self,
        name: &'a str,
        range: Option<(i64, i64)>,
        dimension: Option<usize>,
        scope: &mut Scope,
        of_name: &mut HashMap<&'a str, (usize, Option<usize>)>,
    ) {
        let number = self.plan.variables.len();
        self.plan.variables.push((variable(name), range));
        scope.insert(name.to_owned(), self.plan.terms.variable(number));
        of_name.insert(name, (number, dimension));
    }

    /// Lets a variable of a reduction count blocks of so many values: the values of one block.
    pub(super) fn in_copies(&mut self, variable: usize, (low, high): (i64, i64), factor: i64) -> Vec<Term> {
        self.plan.variables[variable].1 = Some((0, (high - low + 1) / factor - 1));
        let terms = &self.plan.terms;
        let block = terms.binary(Binary::Multiply, terms.variable(variable), terms.number(factor, Type::I32));
        let place = |place| terms.binary(Binary::Add, block.clone(), terms.number(low + place, Type::I32));
        (0..factor).map(place).collect()
    }

    /// The values of a definition, of all copies one after the other; nothing, if copies read other elements of the Func.
    pub(super) fn copied(
        &mut self,
        number: usize,
        definition: &Definition,
        targets: &[Term],
        scope: &Scope,
        copies: &[(&str, Vec<Term>)],
    ) -> Result<Option<Vec<Option<Term>>>> {
        if copies.is_empty() {
            let values = definition.values.iter().map(|value| self.defined(value, scope, number));
            return values.collect::<Result<_>>().map(Some);
        }
        let arrays = self.stored[&number].clone();
        let values = arrays.iter().map(|array| self.load(*array, targets.to_vec(), definition.span)).collect();
        let point = targets.to_vec();
        self.expansions.push(Expansion { func: number, point, values, is_stored: true, is_mixed: false });
        let count: usize = copies.iter().map(|(_, terms)| terms.len()).product();
        if count as i64 > MOST_UNROLLED {
            return Err(Problem::new(definition.span, format!("{count} copies of an update")).with_help("unroll less"));
        }
        for step in 0..count {
            let (mut rest, mut inner) = (step, scope.clone());
            for (name, terms) in copies {
                inner.insert((*name).to_owned(), terms[rest % terms.len()].clone());
                rest /= terms.len();
            }
            self.update_once(number, definition, &inner)?;
        }
        let expansion = self.expansions.pop();
        Ok(expansion
            .filter(|expansion| !expansion.is_mixed)
            .map(|expansion| expansion.values.into_iter().map(Some).collect()))
    }

    /// Computes the values of the element that is expanded after an update.
    pub(super) fn update_once(&mut self, number: usize, update: &Definition, scope: &Scope) -> Result<()> {
        let mut values = self.terms(&update.values, scope, number)?;
        if let Some(predicate) = &update.predicate {
            let condition = self.term(predicate, scope, number)?;
            let before = self.expansions.last().map(|expansion| expansion.values.clone()).unwrap_or_default();
            for (value, before) in values.iter_mut().zip(before) {
                *value = self.plan.terms.select(condition.clone(), value.clone(), before);
            }
        }
        if let Some(expansion) = self.expansions.last_mut() {
            expansion.values = values;
        }
        Ok(())
    }

    /// The values of a variable of a reduction.
    pub(super) fn range(&mut self, least: &Expression, extent: &Expression) -> Result<(i64, i64)> {
        let of = |each: &Expression, term: Term| match &*term {
            Value::Number(number, _) => Ok(*number),
            _ => Err(Problem::new(each.span, "the size of a reduction domain is not constant").with_help(
                "hardware is made for one size: write a number, or set the bounds of the image that it depends on",
            )),
        };
        let scope = Scope::new();
        let term = self.term(least, &scope, usize::MAX)?;
        let first = of(least, term)?;
        let term = self.term(extent, &scope, usize::MAX)?;
        match of(extent, term)? {
            extent @ 1.. => Ok((first, first + extent - 1)),
            count => {
                Err(Problem::new(extent.span, format!("a reduction domain has {count} elements along a dimension")))
            }
        }
    }
}

/// The call of the Func of this name that an expression is, if it is one.
fn own_call<'e>(term: &'e Expression, name: &str) -> Option<&'e Call> {
    match &term.kind {
        Kind::Call(call) if call.called == Called::Func && call.name == name => Some(call),
        _ => None,
    }
}

/// Whether the copies of an update for the values of these variables of its reduction are parts of one value.
fn are_one_value(definition: &Definition, func: &str, order: &[Order], copied: &[&str]) -> bool {
    // Copies that store different elements are no parts of one value.
    let stores_by = |name: &str| {
        let mut parts = definition.arguments.iter().flat_map(Expression::parts);
        parts.any(|part| matches!(&part.kind, Kind::Variable(found) if found == name))
    };
    // They are executed one after the other, as the innermost loop is.
    let innermost = order.iter().rfind(|each| definition.domain.iter().any(|reduction| reduction.name == each.name));
    let are_innermost = matches!((copied, innermost), ([name], Some(each)) if each.name == *name);
    let is_in_order = copied.is_empty() || are_innermost || commutes(definition, func);
    is_in_order && !copied.iter().any(|name| stores_by(name))
}

/// Whether the iterations of a variable store elements that none of them reads: each goes along a dimension, and all that is read of other
/// elements is so far away along another.
fn are_apart(stage: &Stage, variable: Variable) -> bool {
    let is_moved = |(index, target): (&Term, &Term)| {
        matches!(&**index, Value::Binary(Binary::Add | Binary::Subtract, from, by)
            if Rc::ptr_eq(from, target) && by.as_number().is_some_and(|by| by != 0))
            && !target.own_variables().contains(&variable)
    };
    let is_own = |point: &Point| point.indices.iter().zip(&stage.targets).all(|(one, other)| Rc::ptr_eq(one, other));
    let are_other = |point: &Point| is_own(point) || point.indices.iter().zip(&stage.targets).any(is_moved);
    stage.targets.iter().any(|target| target.as_variable() == Some(variable))
        && stage.loads_of(&stage.arrays).all(are_other)
}

/// Whether an update gives the same in any order of its iterations: each value is joined with others by an operator.
fn commutes(update: &Definition, name: &str) -> bool {
    let is_free = |term: &Expression| term.parts().into_iter().all(|part| own_call(part, name).is_none());
    let is_own = |term: &Expression, value: usize| own_call(term, name).is_some_and(|call| call.value == value);
    let joins = |(place, value): (usize, &Expression)| match operation(value) {
        Some((Binary::Add | Binary::Minimum | Binary::Maximum, left, right)) => {
            is_own(left, place) && is_free(right) || is_own(right, place) && is_free(left)
        }
        _ => false,
    };
    update.values.iter().enumerate().all(joins) && update.predicate.iter().all(is_free)
}

/// Whether an update adds to what was there before: copies of it are one sum.
fn is_sum(update: &Definition, name: &str) -> bool {
    let is_own = |term: &Expression| own_call(term, name).is_some();
    update.values.iter().all(|value| match operation(value) {
        Some((Binary::Add, left, right)) => is_own(left) || is_own(right),
        _ => false,
    })
}

/// The message about a definition whose loops add numbers in an order that the loops of its variables have not.
fn mixed(definition: &Definition) -> Problem {
    Problem::new(definition.span, "the loops of the schedule add numbers in another order than one loop for each variable of the reduction")
        .with_help(
            "the sum depends on the order: keep the parts of a variable within each other, or make parts of the sum a Func of their own by `rfactor`",
        )
}

/// The factor by which a reduction is unrolled; its loop is not then.
fn divided(unroll: &mut Unroll, (low, high): (i64, i64)) -> i64 {
    let factor = unrolled(*unroll, high - low + 1);
    *unroll = Unroll::By(1);
    factor
}

/// The loops of the variables of a definition of a Func, in this order; reductions that are wholly unrolled are innermost, unless that
/// changes the order of sums of numbers.
fn in_loops(of_name: &HashMap<&str, (usize, Option<usize>)>, order: Vec<Order>, func: &Func) -> Vec<Loop> {
    let known = order.into_iter().filter_map(|Order { name, unroll }| {
        let (variable, dimension) = *of_name.get(name.as_str())?;
        Some(Loop { variable, dimension, unroll, is_reversed: false })
    });
    let mut loops: Vec<Loop> = known.collect();
    // Dimensions that the schedule does not name are outermost, by number.
    let mut others: Vec<&(usize, Option<usize>)> = of_name.values().collect();
    others.sort();
    for &(variable, dimension) in others {
        if loops.iter().all(|each| each.variable != variable) {
            loops.insert(0, Loop { variable, dimension, unroll: Unroll::By(1), is_reversed: false });
        }
    }
    let is_whole = |each: &Loop| each.dimension.is_none() && each.unroll == Unroll::Whole;
    let is_rolled = |each: &Loop| each.dimension.is_none() && each.unroll != Unroll::Whole;
    let kept = match func.has_numbers() {
        true => loops.iter().rposition(is_rolled).map_or(0, |last| last + 1),
        false => 0,
    };
    let kept: Vec<Variable> = loops[..kept].iter().map(|each| each.variable).collect();
    loops.sort_by_key(|each| is_whole(each) && !kept.contains(&each.variable));
    loops
}
