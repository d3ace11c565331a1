//! The proof that a program whose sums stay in registers computes what the program says.
//!
//! Of each reduction that is divided, the loops that add and the statement that takes the last sum are put together again: all that is
//! added in all iterations must be what the reduction adds, or joins by another operator, and no statement may come between that would see or change a value.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use itertools::Itertools;
use pushmem_nest::{
    Access, AffineIndex, Binary, Expression, ExpressionKind, Index, Load, Loop, Operation, Part, Program, Type,
};

use crate::error::{PartError, require};

/// An operation with the loops around it, outermost first.
type Placed<'a> = (Vec<&'a Loop>, &'a Operation);

/// Proves that `divided`, which has running sums after the arrays of `source`, computes the same outputs.
///
/// # Errors
/// The first operation that does not compute its part.
pub fn prove_sums(source: &Program, divided: &Program) -> Result<(), PartError> {
    let (old, new) = (source.operations(), divided.operations());
    let whole = || "the program".to_owned();
    let count = source.arrays.len();
    require(divided.arrays.len() >= count && divided.tables == source.tables, whole, "arrays or tables are missing")?;
    let same = source.arrays.iter().zip(&divided.arrays).all(|(one, other)| {
        (&one.name, one.kind, one.element, &one.shape, &one.min)
            == (&other.name, other.kind, other.element, &other.shape, &other.min)
    });
    require(same, whole, "an array is another")?;
    let takes_sum =
        |(_, of): &&Placed| of.target.array < count && of.loads.iter().any(|load| load.access.array >= count);
    let takers = new.iter().filter(takes_sum).collect_vec();
    let mut gone = BTreeSet::new();
    for taker in &takers {
        let name = || taker.1.name.clone();
        let sum = Sum { source: &old, divided: &new, count }.of(taker);
        let replaced = sum.map_err(|reason| PartError { part: name(), reason: reason.to_owned() })?;
        gone.extend(replaced);
    }
    // All other statements are those of the program, in its order.
    let kept = old.iter().filter(|(_, of)| !gone.contains(of.name.as_str()));
    let is_other = |(_, of): &&Placed| of.target.array < count && !takers.iter().any(|taker| taker.1.name == of.name);
    let others = new.iter().filter(is_other);
    for pair in kept.zip_longest(others) {
        let same = pair.both().is_some_and(|(one, other)| one.1 == other.1 && headers(&one.0) == headers(&other.0));
        require(same, whole, "a statement is another, or stands elsewhere")?;
    }
    Ok(())
}

/// The bounds of loops.
fn headers(loops: &[&Loop]) -> Vec<(String, i64, i64, i64)> {
    loops.iter().map(|level| (level.variable.clone(), level.min, level.extent, level.unroll)).collect()
}

/// The search for what a divided reduction was.
struct Sum<'a> {
    source: &'a [Placed<'a>],
    divided: &'a [Placed<'a>],
    /// How many arrays the program has without running sums.
    count: usize,
}

/// A running sum as a whole: the loops that add, outermost first, what they add, and where it begins.
struct Whole<'a> {
    loops: Vec<&'a Loop>,
    writers: Vec<&'a Operation>,
    addends: Vec<String>,
    first: i64,
}

impl<'a> Sum<'a> {
    /// Checks a statement that takes a sum. Gives the names of the operations of the program that it stands for.
    fn of(&self, (loops, taker): &Placed<'a>) -> Result<Vec<&'a str>, &'static str> {
        let place =
            self.source.iter().position(|(_, of)| of.name == taker.name).ok_or("the program has no such sum")?;
        let (all, update) = &self.source[place];
        let depth = loops.len();
        let operator = update.reduction.ok_or("it is no reduction")?;
        let identity = identity(operator, update.expression.value);
        if all.len() <= depth
            || headers(&all[..depth]) != headers(loops)
            || taker.reduction.is_some_and(|of| of != operator)
            || !same_element(&update.target, &taker.target)
            || (depth..all.len()).any(|level| !update.merges(level))
        {
            return Err("it is no sum over these loops");
        }
        let (load, rest) = self.without_sum(taker, operator).ok_or("it takes more than one sum")?;
        let whole = self.whole(loops, load, (operator, identity)).ok_or("the running sum is none")?;
        self.check_addends(&all[depth..], depth, (update, operator), &whole)?;
        let first = self.source[..place].iter().rposition(|(_, of)| uses(of, update.target.array));
        let first = first.filter(|_| taker.reduction.is_none());
        let begins = first.map(|first| &self.source[first]);
        match begins {
            // The element has its old value, to which a sum as a whole may be added.
            None if identity.is_some_and(|identity| taker.reduction.is_some() && whole.first == identity)
                && rest.is_empty() => {}
            Some((around, begins))
                if pointers(around) == pointers(&all[..depth])
                    && same_element(&begins.target, &update.target)
                    && begins.reduction.is_none() =>
            {
                let expected = match begins.expression.kind {
                    ExpressionKind::Constant(number) if rest.is_empty() => whole.first == number,
                    _ => {
                        identity.is_some_and(|identity| whole.first == identity)
                            && terms(begins, operator, AS_WRITTEN) == rest
                    }
                };
                if !expected {
                    return Err("it begins with another value");
                }
            }
            _ => return Err("it begins with another value"),
        }
        self.check_between(first, place, depth)?;
        self.check_position(place, loops, taker, &whole)?;
        let names = begins.map(|(_, begins)| begins.name.as_str());
        Ok(names.into_iter().chain([update.name.as_str()]).collect())
    }

    /// The only load of a running sum, and the other terms.
    fn without_sum(&self, taker: &'a Operation, operator: Binary) -> Option<(&'a Load, Vec<String>)> {
        let is_sum = |load: &&Load| load.access.array >= self.count;
        let load = taker.loads.iter().filter(is_sum).exactly_one().ok()?;
        let mut rest = terms(taker, operator, AS_WRITTEN);
        let own = load_term(taker, taker.loads.iter().position(|of| of == load)?, &[]);
        rest.remove(rest.iter().position(|term| *term == own)?);
        Some((load, rest))
    }

    /// The running sum whose last one is loaded in these loops, by an operator with this identity.
    fn whole(&self, around: &[&'a Loop], load: &Load, by: (Binary, Option<i64>)) -> Option<Whole<'a>> {
        let mut writers = self.divided.iter().filter(|(_, of)| of.target.array == load.access.array);
        let ((loops, writer), None) = (writers.next()?, writers.next()) else { return None };
        let readers = self.divided.iter().flat_map(|(_, of)| &of.loads);
        let variable = around.len();
        let inner = *loops.get(variable).filter(|_| loops.len() == variable + 1)?;
        if headers(&loops[..variable]) != headers(around) {
            return None;
        }
        // One element for each iteration of all loops, of which the one before is read.
        let outer = (0..variable).rev().map(Index::variable).collect_vec();
        let at = |index: Index| std::iter::once(index).chain(outer.clone()).collect_vec();
        let before = Index::variable(variable).plus(&Index::constant(-1), 1)?;
        let own = writer.loads.iter().position(|of| of.access.array == writer.target.array)?;
        let right = inner.unroll == 1
            && writer.reduction.is_none()
            && readers.filter(|of| of.access.array == writer.target.array).count() == 2
            && writer.target.indices == at(Index::variable(variable))
            && writer.loads[own].access.indices == at(before)
            && load.outside.is_none()
            && load.access.indices == at(Index::constant(inner.max()));
        let first = writer.loads[own].outside.filter(|_| right)?;
        let own_term = load_term(writer, own, &[]);
        let addends = match by.1 {
            None => terms_in_order(writer, &own_term)?,
            Some(_) => {
                let mut addends = terms(writer, by.0, AS_WRITTEN);
                addends.remove(addends.iter().position(|term| *term == own_term)?);
                addends
            }
        };
        // Sums of sums: the inner one alone is added.
        if let Some((number, load)) = self.nested(writer, own) {
            let within = self.whole(loops, load, by).filter(|within| by.1 == Some(within.first))?;
            if addends != [load_term(writer, number, &[])] {
                return None;
            }
            let loops = std::iter::once(inner).chain(within.loops).collect();
            let writers = std::iter::once(*writer).chain(within.writers).collect();
            return Some(Whole { loops, writers, addends: within.addends, first });
        }
        Some(Whole { loops: vec![inner], writers: vec![*writer], addends, first })
    }

    /// The running sum that a running sum adds, with the number of the load.
    fn nested(&self, writer: &'a Operation, own: usize) -> Option<(usize, &'a Load)> {
        let mut others = writer.loads.iter().enumerate().filter(|(number, _)| *number != own);
        others.find(|(_, load)| load.access.array >= self.count)
    }

    /// Checks that the loops of a sum add what all copies of the update add in its loops.
    fn check_addends(
        &self,
        levels: &[&Loop],
        depth: usize,
        (update, operator): (&Operation, Binary),
        whole: &Whole,
    ) -> Result<(), &'static str> {
        let mut adding = whole.loops.iter();
        // Copies are added in each turn of the loop inside of which they are.
        if ordered(update) && levels.first().is_none_or(|level| level.unroll == level.extent) {
            return Err("it adds in another order");
        }
        let (mut places, mut next) = (Vec::new(), depth);
        for level in levels {
            if level.unroll == level.extent {
                let numbers = level.min..level.min + level.extent;
                places.push(numbers.map(|number| Some(Index::constant(number))).collect_vec());
                continue;
            }
            let runs = adding.next().ok_or("a loop that adds is missing")?;
            let least = if level.unroll > 1 { 0 } else { level.min };
            if (runs.min, runs.extent) != (least, level.extent / level.unroll) {
                return Err("a loop that adds has other bounds");
            }
            let variable = Index::variable(next);
            next += 1;
            places.push(match level.unroll {
                1 => vec![Some(variable)],
                unroll => {
                    let lane = |lane: i64| Index::constant(level.min + lane).plus(&variable, unroll);
                    (0..unroll).map(lane).collect()
                }
            });
        }
        if adding.next().is_some() {
            return Err("a loop adds more than once");
        }
        let copies = places.into_iter().multi_cartesian_product();
        let copies = copies.map(|copy| Some(numbered(depth, copy.into_iter().collect::<Option<_>>()?)));
        let copies = copies.collect::<Option<Vec<_>>>().ok_or("an index is too large")?;
        if terms(update, operator, &copies) == whole.addends { Ok(()) } else { Err("it adds other values") }
    }

    /// Checks that the loops of a sum are where the reduction was, or behind what was in its loop.
    fn check_position(
        &self,
        place: usize,
        loops: &[&Loop],
        taker: &Operation,
        whole: &Whole,
    ) -> Result<(), &'static str> {
        let position = |name: &str| self.divided.iter().position(|(_, of)| of.name == name);
        let outermost = self.source[place].0[loops.len()];
        let inside = |(loops_of, _): &Placed| loops_of.get(loops.len()).is_some_and(|of| std::ptr::eq(*of, outermost));
        let end = self.source.iter().rposition(inside).ok_or("its loop is missing")?;
        let last = position(&taker.name).ok_or("it is missing")?;
        for writer in &whole.writers {
            let at = position(&writer.name).ok_or("a loop that adds is missing")?;
            let around = &self.divided[at].0;
            let others =
                self.source.iter().enumerate().filter_map(|(number, (_, of))| Some((number, position(&of.name)?)));
            // Another sum of the same loop stands behind it, too.
            let is_sum = |at: usize| self.divided[at].1.loads.iter().any(|load| load.access.array >= self.count);
            let others =
                others.filter(|(number, at)| *number != place && !(*number <= end && is_sum(*at))).collect_vec();
            let right = at < last
                && pointers(&around[..loops.len()]) == pointers(loops)
                && others.iter().all(|(number, other)| if *number <= end { *other < at } else { *other > last });
            if !right {
                return Err("its loops stand elsewhere");
            }
        }
        Ok(())
    }

    /// Checks that between the first value of a sum and the end of its loops no other statement uses the array, or writes what the
    /// statements read that are moved behind the loops; but for elements that later iterations leave as they are.
    fn check_between(&self, first: Option<usize>, place: usize, depth: usize) -> Result<(), &'static str> {
        let (all, update) = &self.source[place];
        let outermost = all[depth];
        let inside = |(loops, _): &Placed| loops.get(depth).is_some_and(|level| std::ptr::eq(*level, outermost));
        let end = self.source.iter().rposition(inside).ok_or("its loop is missing")?;
        let begin = first.unwrap_or_else(|| self.source.iter().position(inside).unwrap_or(place));
        for (number, (loops, other)) in self.source.iter().enumerate().take(end + 1).skip(begin) {
            if number == place || Some(number) == first {
                continue;
            }
            if uses(other, update.target.array) {
                return Err("another statement uses its element meanwhile");
            }
            let writes = |load: &&Load| load.access.array == other.target.array;
            if first.is_some_and(|first| self.source[first].1.loads.iter().any(|load| writes(&load))) {
                return Err("its first value changes meanwhile");
            }
            let in_loop = inside(&(loops.clone(), other));
            for load in update.loads.iter().filter(writes).filter(|_| in_loop) {
                // Each iteration of all loops that both share writes an element of its own, above the read.
                let shared = loops.iter().zip(all).take_while(|(one, other)| std::ptr::eq(**one, **other)).count();
                let own = (depth..shared).all(|level| load.access.follows(level)) && shared == loops.len();
                let plain =
                    load.access.indices.iter().all(|index| index.as_affine().is_some_and(|of| of.terms.len() <= 1));
                if number > place || !own || !plain || load.access.indices != other.target.indices {
                    return Err("what it adds changes meanwhile");
                }
            }
        }
        Ok(())
    }
}

/// Whether the order in which an operation adds matters.
fn ordered(operation: &Operation) -> bool {
    operation.expression.value.sums_in_order()
}

/// The terms that are added to a first one, in their order, each as [`Values::term`] says it; nothing if the sum begins otherwise.
fn terms_in_order(operation: &Operation, first: &str) -> Option<Vec<String>> {
    let mut values = Values::new(operation, &[]);
    let (mut sum, mut found) = (&operation.expression, Vec::new());
    while values.term(sum) != first {
        let ExpressionKind::Binary { operator: Binary::FloatAdd(_), left, right } = &sum.kind else { return None };
        found.push(values.term(right));
        sum = left;
    }
    found.reverse();
    Some(found)
}

/// The identities of loops.
fn pointers(loops: &[&Loop]) -> Vec<*const Loop> {
    loops.iter().map(|level| std::ptr::from_ref(*level)).collect()
}

fn same_element(one: &Access, other: &Access) -> bool {
    (one.array, &one.indices) == (other.array, &other.indices)
}

fn uses(operation: &Operation, array: usize) -> bool {
    operation.target.array == array || operation.loads.iter().any(|load| load.access.array == array)
}

/// Indices in place of the variables from `first` on.
fn numbered(first: usize, indices: Vec<Index>) -> Vec<(usize, Index)> {
    indices.into_iter().enumerate().map(|(place, index)| (first + place, index)).collect()
}

/// The number that changes no value when it is joined with it, of operators whose operands may change places.
fn identity(operator: Binary, of: Type) -> Option<i64> {
    match operator {
        Binary::Add | Binary::Or | Binary::Xor => Some(0),
        Binary::Multiply => Some(1),
        Binary::And if of.is_signed() => Some(-1),
        Binary::And | Binary::Minimum => Some(of.max()),
        Binary::Maximum => Some(of.min()),
        _ => None,
    }
}

/// One copy of an operation, with its own variables.
const AS_WRITTEN: &[Vec<(usize, Index)>] = &[Vec::new()];

/// The operands that copies of an operation join by an operator, each as a text that is the same for the same value, with the number of
/// times where it is not one. Each copy has indices in place of variables. Operands whose order matters are in the order of the copies.
fn terms(operation: &Operation, operator: Binary, copies: &[Vec<(usize, Index)>]) -> Vec<String> {
    let expression = &operation.expression;
    // A value that is joined in the order of the program is one operand, whatever it is made of.
    if identity(operator, expression.value).is_none() {
        return copies.iter().map(|places| Values::new(operation, places).term(expression)).collect();
    }
    // So is one that is used several times.
    let shared = expression.shared_parts();
    let (mut found, mut sum) = (BTreeMap::<String, usize>::new(), BTreeMap::new());
    for places in copies {
        let mut values = Values::new(operation, places);
        let mut open = vec![expression];
        while let Some(of) = open.pop() {
            match &of.kind {
                ExpressionKind::Binary { operator: by, left, right }
                    if *by == operator && of.value == expression.value && !shared.contains(&Part(of)) =>
                {
                    open.extend([&**left, &**right]);
                }
                _ => match values.affine(of) {
                    // Functions of loop variables are one term of a sum, however they are written.
                    Some(affine) if operator == Binary::Add => {
                        let factors = affine.terms.iter().map(|&(variable, factor)| (Some(variable), factor));
                        for (variable, factor) in factors.chain([(None, affine.constant)]) {
                            let factor = of.value.wrap(sum.get(&variable).unwrap_or(&0) + factor);
                            sum.insert(variable, factor);
                        }
                    }
                    _ => *found.entry(values.term(of)).or_default() += 1,
                },
            }
        }
    }
    let text = |(term, times): (String, usize)| if times == 1 { term } else { format!("{times} times {term}") };
    let mut found: Vec<String> = found.into_iter().map(text).collect();
    sum.retain(|_, factor| *factor != 0);
    if !sum.is_empty() {
        found.push(format!("{sum:?}"));
    }
    found.sort_unstable();
    found
}

/// An affine function as a text.
fn affine_text(AffineIndex { constant, terms }: &AffineIndex) -> String {
    format!("{constant}+{terms:?}")
}

/// The values of an operation with indices in place of variables.
struct Values<'a> {
    operation: &'a Operation,
    places: &'a [(usize, Index)],
    affine: HashMap<Part<'a>, Option<AffineIndex>>,
}

/// The lines of a term: one for each different value in it, with the numbers of those that it is computed with.
#[derive(Default)]
struct Lines<'a> {
    lines: Vec<String>,
    numbers: HashMap<String, usize>,
    known: HashMap<Part<'a>, usize>,
}

impl<'a> Values<'a> {
    fn new(operation: &'a Operation, places: &'a [(usize, Index)]) -> Self {
        Self { operation, places, affine: HashMap::new() }
    }

    /// A value as a text, which has each value that it is computed with once, and is the same for values that are computed alike.
    fn term(&mut self, of: &'a Expression) -> String {
        let mut lines = Lines::default();
        self.number(of, &mut lines);
        lines.lines.join("; ")
    }

    /// The number of the line of a value.
    fn number(&mut self, of: &'a Expression, lines: &mut Lines<'a>) -> usize {
        if let Some(known) = lines.known.get(&Part(of)) {
            return *known;
        }
        let line = match self.affine(of) {
            Some(affine) => affine_text(&affine),
            None => self.line(of, lines),
        };
        let next = lines.lines.len();
        let number = *lines.numbers.entry(line.clone()).or_insert(next);
        if number == next {
            lines.lines.push(line);
        }
        lines.known.insert(Part(of), number);
        number
    }

    fn line(&mut self, of: &'a Expression, lines: &mut Lines<'a>) -> String {
        let operands: Vec<usize> = of.operands().into_iter().map(|operand| self.number(operand, lines)).collect();
        let what = match &of.kind {
            ExpressionKind::Load(load) => return load_term(self.operation, *load, self.places),
            ExpressionKind::Constant(number) => format!("{number}"),
            ExpressionKind::Variable(_) => "a variable beyond its range".to_owned(),
            ExpressionKind::Lookup { table, .. } => format!("table {table}"),
            ExpressionKind::Unary { operator, .. } => format!("{operator:?}"),
            ExpressionKind::Binary { operator, .. } => format!("{operator:?}"),
            ExpressionKind::Select { .. } => "select".to_owned(),
            ExpressionKind::Cast(_) => "cast".to_owned(),
        };
        format!("{:?} {what} {operands:?}", of.value)
    }

    /// An expression of loop variables as one affine function, if it is one.
    fn affine(&mut self, of: &'a Expression) -> Option<AffineIndex> {
        if of.value != Type::I32 {
            return None;
        }
        if let Some(known) = self.affine.get(&Part(of)) {
            return known.clone();
        }
        let found = self.affine_of(of).and_then(|index| index.as_affine().cloned());
        self.affine.insert(Part(of), found.clone());
        found
    }

    fn affine_of(&mut self, of: &'a Expression) -> Option<Index> {
        let mut index = |of: &'a Expression| self.affine(of).map(|affine| Index { affine, pieces: Vec::new() });
        match &of.kind {
            ExpressionKind::Constant(number) => Some(Index::constant(*number)),
            ExpressionKind::Variable(variable) => {
                let placed = self.places.iter().find(|(place, _)| place == variable);
                Some(placed.map_or_else(|| Index::variable(*variable), |(_, index)| index.clone()))
            }
            ExpressionKind::Binary { operator: Binary::Add, left, right } => index(left)?.plus(&index(right)?, 1),
            ExpressionKind::Binary { operator: Binary::Multiply, left, right } => {
                let (left, right) = (index(left)?, index(right)?);
                match (left.as_constant(), right.as_constant()) {
                    (Some(factor), _) => right.times(factor),
                    (_, Some(factor)) => left.times(factor),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// A load as a term.
fn load_term(operation: &Operation, load: usize, places: &[(usize, Index)]) -> String {
    let Load { access, outside } = &operation.loads[load];
    format!("{}{:?} {outside:?}", access.array, substituted(access, places))
}

/// The indices of an access with others in place of variables; nothing where one becomes too large.
fn substituted(access: &Access, places: &[(usize, Index)]) -> Option<Vec<Index>> {
    let index = |index: &Index| {
        // From the outermost on: what stands in the place of a variable has none with a greater number.
        places.iter().try_fold(index.clone(), |index, (variable, by)| index.substituted(*variable, by))
    };
    access.indices.iter().map(index).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pushmem_files::Document;
    use pushmem_nest::Node;
    use pushmem_rewriting::with_accumulators;

    use super::*;

    /// A product of matrices that begins with another one, over a loop of two lanes and one inside, and the sum of what it reads.
    const PRODUCT: &str = "
name: product
schedule: dnn
inputs:
  a: {type: i16, shape: [8, 3, 5]}
  b: {type: i16, shape: [8, 6]}
  c: {type: i16, shape: [6, 5]}
outputs: {output: {type: i16, shape: [6, 5]}, weight: {type: i16, shape: [6, 5]}}
nest:
  - for i in 0..5:
    - for j in 0..6:
      - weight[j, i] = 7
      - output[j, i] = 2 * c[j, i]
      - for l in 0..3:
        - for k in 0..8 unroll 2:
          - output[j, i] += a[k, l, i] * b[k, j] + (k as i16)
      - for k in 0..8:
        - weight[j, i] += b[k, j]
";

    /// The same in 32 bits, where a term is a loop variable as it is, with a factor, and beside another one and a constant.
    fn with_bare_variables() -> String {
        let text = PRODUCT.replace("i16", "i32").replace("(k as i32)", "k");
        let text = text.replace("2 * c[j, i]", "j + 3").replace("  c: {type: i32, shape: [6, 5]}\n", "");
        text.replace("weight[j, i] += b[k, j]", "weight[j, i] += 2*k - 1*i + b[k, j] + i + 70000000")
    }

    /// The same with extremes and products of all in place of sums.
    fn with_other_operators() -> String {
        let largest = "output[j, i] = max(output[j, i], a[k, l, i] * b[k, j] + (k as i16))";
        let text = PRODUCT.replace("output[j, i] += a[k, l, i] * b[k, j] + (k as i16)", largest);
        text.replace("weight[j, i] += b[k, j]", "weight[j, i] = b[k, j] * weight[j, i]")
    }

    fn divided(text: &str) -> (Program, Program) {
        let program = Program::from_document(&Document::parse("product.yaml", text).unwrap()).unwrap().program;
        let divided = with_accumulators(program.clone(), |_| true);
        assert_eq!(divided.arrays.len(), program.arrays.len() + 3);
        (program, divided)
    }

    fn operations(nodes: &mut [Node]) -> Vec<&mut Operation> {
        let mut found = Vec::new();
        for node in nodes {
            match node {
                Node::Operation(operation) => found.push(operation.as_mut()),
                Node::Loop(inner) => found.extend(operations(&mut inner.body)),
            }
        }
        found
    }

    #[test]
    fn divided_sums_are_those_of_the_program() {
        for text in [PRODUCT, &with_bare_variables(), &with_other_operators()] {
            let (program, divided) = divided(text);
            assert_eq!(prove_sums(&program, &divided).map_err(|error| error.to_string()), Ok(()));
        }
    }

    /// Each constant, each index and each bound of a loop is one more; each statement is gone, or each loop.
    #[test]
    fn other_sums_are_refused() {
        for text in [PRODUCT, &with_bare_variables(), &with_other_operators()] {
            let (program, divided) = divided(text);
            each_change_is_refused(&program, &divided);
        }
    }

    fn each_change_is_refused(program: &Program, divided: &Program) {
        let is_refused = |change: &dyn Fn(&mut Program)| {
            let mut changed = divided.clone();
            change(&mut changed);
            assert_ne!(changed, *divided);
            prove_sums(program, &changed).is_err()
        };
        let count = divided.operations().len();
        for number in 0..count {
            let loads = divided.operations()[number].1.loads.len();
            for load in 0..loads {
                assert!(is_refused(&|of| {
                    let outside = &mut operations(&mut of.nest)[number].loads[load].outside;
                    *outside = Some(outside.unwrap_or(0) + 1);
                }));
                let indices = divided.operations()[number].1.loads[load].access.indices.len();
                for index in 0..indices {
                    assert!(is_refused(&|of| {
                        operations(&mut of.nest)[number].loads[load].access.indices[index].affine.constant += 1;
                    }));
                }
            }
            assert!(is_refused(&|of| operations(&mut of.nest)[number].target.indices[0].affine.constant += 1));
            for reduction in [None, Some(Binary::Add), Some(Binary::Multiply), Some(Binary::Maximum)] {
                if divided.operations()[number].1.reduction != reduction {
                    assert!(is_refused(&|of| operations(&mut of.nest)[number].reduction = reduction));
                }
            }
            // A number more, and each element once more.
            for more in [ExpressionKind::Constant(1)].into_iter().chain((0..loads).map(ExpressionKind::Load)) {
                assert!(is_refused(&|of| {
                    let expression = &mut operations(&mut of.nest)[number].expression;
                    let value = expression.value;
                    let more = Expression { kind: more.clone(), ..expression.clone() };
                    let (left, right) = (Arc::new(expression.clone()), Arc::new(more));
                    *expression = Expression {
                        kind: ExpressionKind::Binary { operator: Binary::Add, left, right },
                        value,
                        span: expression.span,
                    };
                }));
            }
        }
        // Nodes of each body, by the path of places that leads there.
        let places = paths(&divided.nest, &[]);
        for path in &places {
            assert!(is_refused(&|of| drop(body(&mut of.nest, path).remove(path[path.len() - 1]))), "{path:?}");
            assert!(
                !matches!(at(&divided.nest, path), Node::Loop(_))
                    || is_refused(&|of| {
                        let Node::Loop(inner) = &mut body(&mut of.nest, path)[path[path.len() - 1]] else {
                            unreachable!()
                        };
                        inner.extent += 1;
                    })
            );
        }
    }

    /// The same of bfloat16 numbers, which begins with a constant, in two lanes.
    const NUMBERS: &str = "
name: product
schedule: dnn
inputs: {a: {type: bf16, shape: [8, 5]}, b: {type: bf16, shape: [8, 6]}}
outputs: {output: {type: bf16, shape: [6, 5]}}
nest:
  - for i in 0..5:
    - for j in 0..6:
      - output[j, i] = 0.5
      - for k in 0..8 unroll 2:
        - output[j, i] += a[k, i] * b[k, j]
";

    fn read(text: &str) -> Program {
        Program::from_document(&Document::parse("product.yaml", text).unwrap()).unwrap().program
    }

    /// A sum of values that are each used twice by the next one, which a text of all of them would not end with.
    #[test]
    fn values_are_told_apart_however_often_they_are_used() {
        let program = |steps: usize, step: &str| {
            let values = (1..=steps)
                .map(|number| format!("            v{number}: {}\n", step.replace('v', &format!("v{}", number - 1))));
            read(&format!(
                "
name: named
schedule: dnn
inputs: {{a: {{type: u16, shape: [8, 3]}}}}
outputs: {{output: {{type: u16, shape: [3]}}}}
nest:
  - for j in 0..3:
    - output[j] = 3
    - for k in 0..8 unroll 2:
      - output[j] += v{steps} + v{steps}:
          where:
            v0: a[k, j] + (k as u16)
{}",
                values.collect::<String>()
            ))
        };
        let divided = with_accumulators(program(40, "v ^ v << 1"), |_| true);
        assert_eq!(prove_sums(&program(40, "v ^ v << 1"), &divided).map_err(|error| error.to_string()), Ok(()));
        for other in [program(39, "v ^ v << 1"), program(40, "v << 1 ^ v"), program(40, "v + v")] {
            assert_eq!(prove_sums(&other, &divided).unwrap_err().reason, "it adds other values");
        }
        let often = program(100, "v + v");
        assert_eq!(
            prove_sums(&often, &with_accumulators(often.clone(), |_| true)).map_err(|error| error.to_string()),
            Ok(())
        );
    }

    #[test]
    fn sums_of_numbers_keep_their_order() {
        let program = read(NUMBERS);
        let divided = with_accumulators(program.clone(), |_| true);
        assert_eq!(divided.arrays.len(), program.arrays.len() + 1);
        assert_eq!(prove_sums(&program, &divided).map_err(|error| error.to_string()), Ok(()));
        let mut changed = divided.clone();
        let expression = &mut operations(&mut changed.nest)[0].expression;
        let ExpressionKind::Binary { left, right, .. } = &mut expression.kind else { unreachable!("it adds") };
        let ExpressionKind::Binary { right: first, .. } = &mut Arc::make_mut(left).kind else {
            unreachable!("it adds twice")
        };
        std::mem::swap(first, right);
        assert_eq!(prove_sums(&program, &changed).unwrap_err().reason, "it adds other values");
        let other = read(&NUMBERS.replace("bf16", "i16").replace("0.5", "3"));
        assert!(prove_sums(&other, &divided).is_err());
    }

    #[test]
    fn sums_of_numbers_that_begin_otherwise_stay_as_they_are() {
        for (from, to) in [
            ("= 0.5", "= a[0, i]"),
            (
                "      - output[j, i] = 0.5\n      - for k",
                "      - output[j, i] = 0.5\n    - for j in 0..6:\n      - for k",
            ),
            ("for k in 0..8 unroll 2:", "for k in 0..8:\n        - for l in 0..3:"),
        ] {
            let text = NUMBERS.replace(from, to);
            let text = if to.contains("for l") { text.replace("        - output", "          - output") } else { text };
            let program = read(&text);
            assert_eq!(with_accumulators(program.clone(), |_| true).arrays.len(), program.arrays.len(), "{text}");
        }
    }

    fn paths(nodes: &[Node], before: &[usize]) -> Vec<Vec<usize>> {
        let of_node = |(place, node): (usize, &Node)| {
            let path = before.iter().copied().chain([place]).collect_vec();
            let inner = match node {
                Node::Loop(inner) => paths(&inner.body, &path),
                Node::Operation(_) => Vec::new(),
            };
            std::iter::once(path).chain(inner).collect_vec()
        };
        nodes.iter().enumerate().flat_map(of_node).collect()
    }

    fn at<'a>(nodes: &'a [Node], path: &[usize]) -> &'a Node {
        match (&nodes[path[0]], &path[1..]) {
            (node, []) => node,
            (Node::Loop(inner), rest) => at(&inner.body, rest),
            _ => unreachable!("a path goes through loops"),
        }
    }

    fn body<'a>(nodes: &'a mut Vec<Node>, path: &[usize]) -> &'a mut Vec<Node> {
        match path {
            [_] => nodes,
            [place, rest @ ..] => match &mut nodes[*place] {
                Node::Loop(inner) => body(&mut inner.body, rest),
                Node::Operation(_) => unreachable!("a path goes through loops"),
            },
            [] => unreachable!("a path has a place"),
        }
    }
}
