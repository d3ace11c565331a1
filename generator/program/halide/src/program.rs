//! The stores of a program: statements with their loops, where all names are looked up.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use itertools::Itertools;
use pushmem_nest::{Binary, LARGEST_ARRAY, Span, Type, Unary};

use crate::declarations::Declaration;
use crate::fault::{Fault, Result};
use crate::fit::{MOST_VALUES, constant_of, only_variable};
use crate::intrinsics::intrinsic;
use crate::syntax::{Expression, ExpressionKind, Module, Statement, StatementKind};
use crate::tuples::overtaken;
use crate::value::{Evaluator, Flat, Place, Value, Variable};

/// The most stores after unrolling.
const MOST_STORES: usize = 20_000;

/// The most iterations of unrolled loops in all, whether they store or not.
const MOST_UNROLLED: usize = 200_000;

/// The most operations of one expression, counted without the sharing of `let`.
const LARGEST_EXPRESSION: usize = 100_000;

/// The most operations of what a `let` names, to be repeated wherever the name is used.
const LARGEST_REPEATED: usize = 100;

/// The same for what has 32 bits, and would have to be computed twice, once for each half.
const LARGEST_WIDE_REPEATED: usize = 400;

/// The most parts of a loop in which loops within have different numbers of iterations.
const MOST_PARTS: usize = 128;

/// The stores of a program, in the order of their execution.
#[derive(Clone, Debug)]
pub(crate) struct Stores<'a> {
    pub arrays: Vec<Array<'a>>,
    pub variables: Vec<VariableInfo<'a>>,
    pub stores: Vec<Store>,
}

#[derive(Clone, Debug)]
pub(crate) struct Array<'a> {
    pub name: &'a str,
    pub span: Span,
    /// Whether it comes from outside or goes outside.
    pub is_argument: bool,
    /// The type of the elements, if the text says it.
    pub element: Option<Type>,
    /// The entries of a buffer of constants.
    pub entries: Option<Vec<i64>>,
    /// The extents of each allocation, innermost first: the allocations of one name are the same array in different
    /// places, and may differ in size.
    pub sites: Vec<Option<Vec<i64>>>,
    /// How many loops are around the last allocation.
    allocated: usize,
    /// Where the last allocation is in the text.
    allocation: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct VariableInfo<'a> {
    /// The name of the loop.
    pub name: &'a str,
    /// The least and the greatest value.
    pub range: (i64, i64),
}

#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub array: usize,
    /// Which allocation of the array.
    pub site: usize,
    /// The loops around, outermost first.
    pub loops: Vec<Variable>,
    /// How many of them are around the `produce` of the array.
    pub outer: usize,
    /// How many of them are around its allocation.
    pub allocated: usize,
    /// Where the allocation is in the text: what is read in parts or unrolled has several for one place.
    pub allocation: Span,
    /// The `produce` of the array.
    pub production: Production,
    /// The ranges of all variables, as far as conditions around limit them.
    pub ranges: Vec<(i64, i64)>,
    pub address: Rc<Value<Flat>>,
    pub value: Rc<Value<Flat>>,
    pub span: Span,
}

/// A `produce`, each time that it is read: several times in parts of a loop, or if it is unrolled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Production {
    pub number: usize,
    /// Where it begins in the text.
    pub place: usize,
}

/// Finds the stores of a program.
pub(crate) fn stores<'a>(module: &Module<'a>, declarations: &[Declaration<'a>]) -> Result<Stores<'a>> {
    let mut reader = Reader {
        found: Stores { arrays: Vec::new(), variables: Vec::new(), stores: Vec::new() },
        names: HashMap::new(),
        by_name: HashMap::new(),
        versions: HashMap::new(),
        kept: HashMap::new(),
        loops: Vec::new(),
        ranges: Vec::new(),
        produces: Vec::new(),
        productions: 0,
        unrolled: 0,
    };
    for &(name, span) in &module.arguments {
        reader.declare(name, span, true, declarations);
    }
    for &(name, span) in &module.constants {
        let array = reader.declare(name, span, false, declarations);
        if reader.found.arrays[array].entries.is_none() {
            return Err(Fault::new(span, format!("the constants of `{name}` are not printed")).with_help(format!(
                "say them in a line `// {name}: u16[4] = 1, 2, 3, 4` at the top, or compute them by a Func"
            )));
        }
    }
    match reader.block(&module.body) {
        Ok(()) => Ok(reader.found.needed()),
        Err(Stop::Fault(fault)) => Err(fault),
        Err(Stop::Divide { .. }) => unreachable!("only loops around are divided, and they read their parts"),
    }
}

impl Stores<'_> {
    /// The program without stores on which no output depends, as those that count the rows of a folded array for checks.
    fn needed(mut self) -> Self {
        let mut is_needed: Vec<bool> = self.arrays.iter().map(|array| array.is_argument).collect();
        loop {
            let before = is_needed.clone();
            for store in self.stores.iter().filter(|store| before[store.array]) {
                let mut arrays = BTreeSet::new();
                loaded(&store.value, &mut arrays);
                arrays.into_iter().for_each(|array| is_needed[array] = true);
            }
            if is_needed == before {
                break;
            }
        }
        self.stores.retain(|store| is_needed[store.array]);
        self
    }

    /// The program with an array of its own for each place where an array is produced; nothing if there is one place, or if
    /// it is an argument. A load is of what was produced last above it.
    pub fn apart(&self, array: usize) -> Option<Self> {
        if self.arrays[array].is_argument {
            return None;
        }
        let mut apart = self.clone();
        let (mut latest, mut before): (usize, Option<&Store>) = (array, None);
        for (store, old) in apart.stores.iter_mut().zip(&self.stores) {
            if old.array == array {
                if before.is_some_and(|before| !old.is_beside(before)) {
                    latest = apart.arrays.len();
                    apart.arrays.push(self.arrays[array].clone());
                }
                store.array = latest;
                before = Some(old);
            }
            let mut arrays = BTreeSet::new();
            loaded(&old.value, &mut arrays);
            if arrays.contains(&array) {
                store.value = Renaming { from: array, to: latest, renamed: HashMap::new() }.value(&old.value);
            }
        }
        (latest != array).then_some(apart)
    }
}

impl Store {
    /// Whether two stores of an array are in the same `produce`, in the same iterations.
    pub fn is_beside(&self, other: &Store) -> bool {
        let around = &self.loops[..self.outer];
        let at_once = |each: &Variable| {
            let (one, other) = (self.ranges[*each], other.ranges[*each]);
            one.0 <= other.1 && other.0 <= one.1
        };
        (self.site, around) == (other.site, &other.loops[..other.outer]) && around.iter().all(at_once)
    }
}

/// Adds the arrays that a value depends on.
pub(crate) fn loaded(value: &Value<Flat>, arrays: &mut BTreeSet<usize>) {
    all_loads(value).into_iter().for_each(|load| _ = arrays.insert(load.array));
}

/// All loads, those in addresses too: each part of the value is seen once, however often it is used.
pub(crate) fn all_loads(value: &Value<Flat>) -> Vec<&Flat> {
    let (mut seen, mut found): (_, Vec<&Flat>) = (HashSet::new(), Vec::new());
    let mut add = |value, found: &mut Vec<_>| {
        Value::visit(value, &mut seen, &mut |part| {
            if let Value::Load(load) = part {
                found.push(load);
            }
        });
    };
    add(value, &mut found);
    let mut place = 0;
    while let Some(load) = found.get(place) {
        add(&load.address, &mut found);
        place += 1;
    }
    found
}

/// Makes loads of one array those of another. Parts that are shared stay so.
struct Renaming {
    from: usize,
    to: usize,
    renamed: HashMap<*const Value<Flat>, Rc<Value<Flat>>>,
}

impl Renaming {
    fn value(&mut self, value: &Rc<Value<Flat>>) -> Rc<Value<Flat>> {
        if let Some(renamed) = self.renamed.get(&Rc::as_ptr(value)) {
            return renamed.clone();
        }
        let renamed = match &**value {
            Value::Number(..) | Value::Variable(_) => value.clone(),
            Value::Load(Flat { array, address, place }) => {
                let array = if *array == self.from { self.to } else { *array };
                Rc::new(Value::Load(Flat { array, address: self.value(address), place: *place }))
            }
            other => Rc::new(other.with(|operand| self.value(operand))),
        };
        self.renamed.insert(Rc::as_ptr(value), renamed.clone());
        renamed
    }
}

/// Why reading stops.
enum Stop {
    Fault(Fault),
    /// The body of a loop is not the same in all of its iterations: it is read again for each of these parts.
    Divide {
        variable: Variable,
        parts: Vec<(i64, i64)>,
    },
}

/// The values of an expression in the iterations of a loop.
enum Parts {
    /// The same in all.
    Same(i64),
    /// The same in each of several parts.
    Divide { variable: Variable, parts: Vec<(i64, i64)> },
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Stop::Fault(fault)
    }
}

struct Reader<'a> {
    found: Stores<'a>,
    /// The meanings of names, the innermost last.
    names: HashMap<&'a str, Vec<Rc<Value<Flat>>>>,
    by_name: HashMap<&'a str, usize>,
    /// Arrays that stand for others after an update of a tuple, by the array, the stage of the Func, and how many updates
    /// were before in the same braces.
    versions: HashMap<(&'a str, &'a str, usize), usize>,
    /// The arrays that keep the values of names, by the places of these.
    kept: HashMap<(usize, usize), usize>,
    loops: Vec<Variable>,
    ranges: Vec<(i64, i64)>,
    /// The arrays that are being produced, each with the number of loops around.
    produces: Vec<(&'a str, usize, Production)>,
    /// How many productions there were.
    productions: usize,
    /// Iterations of unrolled loops so far.
    unrolled: usize,
}

impl<'a> Reader<'a> {
    fn declare(&mut self, name: &'a str, span: Span, is_argument: bool, declarations: &[Declaration<'a>]) -> usize {
        let declaration = Declaration::find(declarations, name);
        self.found.arrays.push(Array {
            name,
            span,
            is_argument,
            element: declaration.map(|declaration| declaration.element),
            entries: declaration.and_then(|declaration| declaration.entries.clone()),
            sites: vec![declaration.map(|declaration| declaration.shape.clone())],
            allocated: 0,
            allocation: span,
        });
        self.by_name.insert(name, self.found.arrays.len() - 1);
        self.found.arrays.len() - 1
    }

    /// A list of statements. Names last until its end.
    fn block(&mut self, statements: &[Statement<'a>]) -> Result<(), Stop> {
        let mut named = Vec::new();
        let overtaken = overtaken(statements);
        let mut updates: HashMap<&str, usize> = HashMap::new();
        for array in &overtaken {
            self.start_stage(array);
        }
        let outcome = statements.iter().try_for_each(|statement| match &statement.kind {
            StatementKind::Store { array, index, value } if overtaken.contains(array) => {
                let update = updates.entry(array).or_default();
                *update += 1;
                Ok(self.updated(array, *update, [index, value], statement.span)?)
            }
            StatementKind::Let { name, value } => {
                let value = self.value(value)?;
                let meaning = self.kept(name, value, statement.span);
                self.names.entry(name).or_default().push(meaning);
                named.push(*name);
                Ok(())
            }
            _ => self.statement(statement),
        });
        for name in named {
            self.forget(name);
        }
        outcome
    }

    /// The stage of a Func that is being computed: `f.s1` of a loop `f.s1.x`.
    fn stage(&self) -> &'a str {
        let name = self.loops.last().map_or("", |variable| self.found.variables[*variable].name);
        let parts = name.match_indices(".s").map(|(start, _)| start + 2);
        let digits =
            |start: usize| name[start..].find(|each: char| !each.is_ascii_digit()).unwrap_or(name.len() - start);
        let end = { parts }.find(|start| digits(*start) > 0).map_or(0, |start| start + digits(start));
        &name[..end]
    }

    /// Makes the names of a Func's arrays mean those before all of its updates.
    fn start_func(&mut self, func: &str) {
        let updated: Vec<&'a str> =
            self.versions.keys().map(|(name, ..)| *name).filter(|name| is_of(name, func)).collect();
        for name in updated {
            self.by_name.extend(self.original(name).map(|original| (name, original)));
        }
    }

    /// Makes a name mean the array from before the stage, as another part of its loops may have updated it.
    fn start_stage(&mut self, name: &'a str) {
        let stage = self.stage();
        if let Some(&current) = self.by_name.get(name) {
            let before = *self.versions.entry((name, stage, 0)).or_insert(current);
            self.by_name.insert(name, before);
        }
    }

    /// A store of a tuple's update, before which something is read that is used later: it is to an array of its own, which the
    /// name means from here on.
    fn updated(
        &mut self,
        name: &'a str,
        update: usize,
        [index, value]: [&Expression<'a>; 2],
        span: Span,
    ) -> Result<()> {
        let before = self.array(name, span)?;
        let mut variables = BTreeSet::new();
        self.value(index)?.own_variables(&mut variables);
        let again = |each: &&Variable| !variables.contains(each) && self.ranges[**each].0 < self.ranges[**each].1;
        if let Some(reduction) = self.loops[self.produced(name).map_or(0, |(outer, _)| outer)..].iter().find(again) {
            let reduction = self.found.variables[*reduction].name;
            return Err(Fault::new(
                span,
                format!("the loop `{reduction}` updates the values of a tuple from each other"),
            )
            .with_help("unroll the loop of the update"));
        }
        let original = self.original(name).unwrap_or(before);
        if self.found.arrays[original].is_argument {
            return Err(Fault::new(span, "the values of a tuple that is an output are updated from each other")
                .with_help("let the output read a Func with the tuple"));
        }
        let (stage, next) = (self.stage(), self.found.arrays.len());
        let after = *self.versions.entry((name, stage, update)).or_insert(next);
        let array = self.found.arrays[original].clone();
        match self.found.arrays.get_mut(after) {
            Some(known) => *known = array,
            None => self.found.arrays.push(array),
        }
        self.store(after, name, [index, value], span)?;
        self.by_name.insert(name, after);
        Ok(())
    }

    /// The array of a name, whatever updates stand for it now.
    fn original(&self, name: &str) -> Option<usize> {
        self.found.arrays.iter().position(|array| array.name == name)
    }

    fn forget(&mut self, name: &str) {
        if let Some(meanings) = self.names.get_mut(name) {
            meanings.pop();
        }
    }

    fn statement(&mut self, statement: &Statement<'a>) -> Result<(), Stop> {
        match &statement.kind {
            StatementKind::Produce { name, body } => {
                self.productions += 1;
                let production = Production { number: self.productions, place: statement.span.start };
                self.produces.push((name, self.loops.len(), production));
                self.start_func(name);
                let outcome = self.block(body);
                self.produces.pop();
                outcome
            }
            StatementKind::Consume { body } => self.block(body),
            StatementKind::Let { .. } => Ok(()),
            StatementKind::Allocate { name, element, extents } => {
                self.allocate(name, *element, extents, statement.span)
            }
            StatementKind::For { variable, first, extent, unrolled, body } => {
                self.for_loop(variable, [first, extent], *unrolled, body)
            }
            StatementKind::If { condition, then, otherwise } => self.choice(condition, then, otherwise),
            StatementKind::Store { array, index, value } => {
                let number = self.array(array, statement.span)?;
                Ok(self.store(number, array, [index, value], statement.span)?)
            }
        }
    }

    /// A value that is the same in all iterations of the loops around. Where it changes in a few steps along one of them, that
    /// loop is read in parts.
    fn constant(&mut self, expression: &Expression<'a>, what: &str) -> Result<i64, Stop> {
        let value = self.value(expression)?;
        if let Some(value) = constant_of(&value, &self.ranges) {
            return Ok(value);
        }
        let refuse = || {
            let fault = Fault::new(expression.span, format!("{what} is not constant"));
            fault.with_help("give the bounds and strides of all buffers, so that every loop runs over a box")
        };
        match self.parts(&value).ok_or_else(refuse)? {
            Parts::Same(value) => Ok(value),
            Parts::Divide { variable, parts } => Err(Stop::Divide { variable, parts }),
        }
    }

    /// The parts of a loop around in which a value is constant; nothing if there are too many.
    fn parts(&self, value: &Rc<Value<Flat>>) -> Option<Parts> {
        let mut variables = BTreeSet::new();
        value.own_variables(&mut variables);
        variables.retain(|variable| self.ranges[*variable].0 < self.ranges[*variable].1);
        let variable = *variables.first()?;
        let (first, last) = self.ranges[variable];
        if last - first >= MOST_VALUES {
            return None;
        }
        // Of several loops, the outermost is divided into its iterations, and then the next.
        let mut parts: Vec<(Option<i64>, (i64, i64))> = Vec::new();
        let evaluator = Evaluator::new(value);
        for at in first..=last {
            let point = |which: Variable| Some(if which == variable { at } else { self.ranges[which].0 });
            let here = if variables.len() == 1 { Some(evaluator.evaluate(&point)?) } else { None };
            let count = parts.len();
            match parts.last_mut() {
                Some((same, part)) if here.is_some() && *same == here => part.1 = at,
                _ if count == MOST_PARTS => return None,
                _ => parts.push((here, (at, at))),
            }
        }
        match parts.as_slice() {
            [(Some(value), _)] => Some(Parts::Same(*value)),
            _ => Some(Parts::Divide { variable, parts: parts.into_iter().map(|(_, part)| part).collect() }),
        }
    }

    fn allocate(&mut self, name: &'a str, element: Type, extents: &[Expression<'a>], span: Span) -> Result<(), Stop> {
        let extents = extents.iter().map(|extent| self.constant(extent, "the size of the allocation"));
        let extents: Vec<i64> = extents.collect::<Result<_, Stop>>()?;
        let size = extents.iter().try_fold(1_i64, |size, extent| size.checked_mul(*extent).filter(|_| *extent > 0));
        if size.is_none_or(|size| size > LARGEST_ARRAY) {
            return Err(Fault::new(span, format!("an allocation of {} elements", extents.iter().join(" × ")))
                .with_help(format!("an array has 1 to {LARGEST_ARRAY} elements"))
                .into());
        }
        match self.original(name) {
            Some(array) if !self.found.arrays[array].is_argument => {
                self.by_name.insert(name, array);
                self.found.arrays[array].sites.push(Some(extents));
                self.found.arrays[array].allocated = self.loops.len();
                self.found.arrays[array].allocation = span;
            }
            _ => {
                self.by_name.insert(name, self.found.arrays.len());
                self.found.arrays.push(Array {
                    name,
                    span,
                    is_argument: false,
                    element: Some(element),
                    entries: None,
                    sites: vec![Some(extents)],
                    allocated: self.loops.len(),
                    allocation: span,
                });
            }
        }
        Ok(())
    }

    fn for_loop(
        &mut self,
        name: &'a str,
        bounds: [&Expression<'a>; 2],
        unrolled: bool,
        body: &[Statement<'a>],
    ) -> Result<(), Stop> {
        let first = self.value(bounds[0])?;
        let extent = self.constant(bounds[1], "the number of iterations")?;
        if extent <= 0 {
            return Ok(());
        }
        if unrolled {
            return (0..extent).try_for_each(|step| {
                if self.unrolled == MOST_UNROLLED {
                    let message = format!("more than {MOST_UNROLLED} iterations are unrolled");
                    return Err(Fault::new(bounds[1].span, message).with_help("unroll less").into());
                }
                self.unrolled += 1;
                let value = Value::binary(Binary::Add, first.clone(), Value::number(step));
                self.named_block(name, value, body)
            });
        }
        let variable = self.found.variables.len();
        let start = constant_of(&first, &self.ranges);
        let (range, meaning) = match start {
            Some(start) => ((start, start.saturating_add(extent - 1)), Rc::new(Value::Variable(variable))),
            // The first iteration depends on the loops around: count from 0.
            None => ((0, extent - 1), Value::binary(Binary::Add, first, Rc::new(Value::Variable(variable)))),
        };
        self.found.variables.push(VariableInfo { name, range });
        self.ranges.push(range);
        self.loops.push(variable);
        let outcome = self.iterations(name, variable, &meaning, body);
        self.loops.pop();
        self.ranges[variable] = range;
        outcome
    }

    /// Reads the body of a loop, in parts of its iterations if need be.
    fn iterations(
        &mut self,
        name: &'a str,
        variable: Variable,
        meaning: &Rc<Value<Flat>>,
        body: &[Statement<'a>],
    ) -> Result<(), Stop> {
        let (stores, loops) = (self.found.stores.len(), self.loops.len());
        match self.named_block(name, meaning.clone(), body) {
            Err(Stop::Divide { variable: divided, parts }) if divided == variable => {
                self.found.stores.truncate(stores);
                self.loops.truncate(loops);
                parts.into_iter().try_for_each(|part| {
                    self.ranges[variable] = part;
                    self.iterations(name, variable, meaning, body)
                })
            }
            outcome => outcome,
        }
    }

    /// Reads the statements in braces, where a name has a meaning.
    fn named_block(&mut self, name: &'a str, meaning: Rc<Value<Flat>>, body: &[Statement<'a>]) -> Result<(), Stop> {
        self.names.entry(name).or_default().push(meaning);
        let outcome = self.block(body);
        self.forget(name);
        outcome
    }

    fn choice(
        &mut self,
        condition: &Expression<'a>,
        then: &[Statement<'a>],
        otherwise: &[Statement<'a>],
    ) -> Result<(), Stop> {
        let value = self.value(condition)?;
        let refuse = || {
            Fault::new(condition.span, "this condition does not choose a part of a loop's iterations")
                .with_help("conditions compare a loop variable with a constant, so that statements run over boxes")
        };
        let opposite = Rc::new(Value::Unary(Unary::Not, value.clone()));
        for (condition, body) in [(value, then), (opposite, otherwise)] {
            if body.is_empty() {
                continue;
            }
            let before = self.ranges.clone();
            let holds = match self.limit(&condition) {
                Some(holds) => holds,
                // That of each second iteration chooses between iterations.
                None => {
                    self.ranges.copy_from_slice(&before);
                    match self.parts(&condition).ok_or_else(refuse)? {
                        Parts::Same(value) => value != 0,
                        Parts::Divide { variable, parts } => return Err(Stop::Divide { variable, parts }),
                    }
                }
            };
            let outcome = if holds { self.block(body) } else { Ok(()) };
            // Loops within have added theirs.
            self.ranges[..before.len()].copy_from_slice(&before);
            outcome?;
        }
        Ok(())
    }

    /// Limits the ranges of variables to where the condition is true, and says whether it ever is; nothing if that is no
    /// range.
    fn limit(&mut self, condition: &Rc<Value<Flat>>) -> Option<bool> {
        if let Some([one, other]) = both(condition) {
            return Some(self.limit(&one)? && self.limit(&other)?);
        }
        if let Some(value) = constant_of(condition, &self.ranges) {
            return Some(value != 0);
        }
        let variable = only_variable(condition)?;
        let (first, last) = self.ranges[variable];
        if last - first >= MOST_VALUES {
            return None;
        }
        let evaluator = Evaluator::new(condition);
        let holds = |value: i64| evaluator.evaluate(&|_| Some(value)).map(|truth| truth != 0);
        let truths: Vec<bool> = (first..=last).map(holds).collect::<Option<_>>()?;
        let Some(start) = truths.iter().position(|truth| *truth) else { return Some(false) };
        let end = truths.iter().rposition(|truth| *truth)?;
        if !truths[start..=end].iter().all(|truth| *truth) {
            return None;
        }
        self.ranges[variable] = (first + start as i64, first + end as i64);
        Some(true)
    }

    /// How many loops are around what produces an array, and which production that is, if any.
    fn produced(&self, array: &str) -> Option<(usize, Production)> {
        let (_, outer, production) = self.produces.iter().rev().find(|(func, ..)| is_of(array, func))?;
        Some((*outer, *production))
    }

    /// A store to an array of a name.
    fn store(&mut self, array: usize, name: &'a str, [index, value]: [&Expression<'a>; 2], span: Span) -> Result<()> {
        if self.found.stores.len() == MOST_STORES {
            return Err(Fault::new(span, format!("more than {MOST_STORES} stores")).with_help("unroll less"));
        }
        let address = self.value(index)?;
        let value = self.value(value)?;
        if is_too_large(&value) {
            return Err(Fault::new(span, format!("an expression of more than {LARGEST_EXPRESSION} operations"))
                .with_help("compute some of the Funcs that are inlined here by `compute_root` or `compute_at`"));
        }
        let (outer, production) = self.produced(name).unwrap_or_default();
        self.found.stores.push(Store {
            array,
            site: self.found.arrays[array].sites.len() - 1,
            loops: self.loops.clone(),
            outer,
            allocated: self.found.arrays[array].allocated,
            allocation: self.found.arrays[array].allocation,
            production,
            ranges: self.ranges.clone(),
            address,
            value,
            span,
        });
        Ok(())
    }

    /// A value that a name stands for. If it has many operations, it becomes a Func of its own, which is computed here: each use
    /// of the name would repeat them, and names of names would do so again and again. Of 32 bits each half becomes a Func. Without data a value is an index, which is repeated.
    fn kept(&mut self, name: &'a str, value: Rc<Value<Flat>>, span: Span) -> Rc<Value<Flat>> {
        if !is_larger(&value, LARGEST_REPEATED) || all_loads(&value).is_empty() {
            return value;
        }
        let of = value.value_type(&|load: &Flat| self.found.arrays[load.array].element);
        match of {
            Some(Type::Bool) => {
                let number = |number| Rc::new(Value::Number(number, Type::U8));
                let stored = Rc::new(Value::Select(value, number(1), number(0)));
                Value::binary(Binary::NotEqual, self.func(name, Type::U8, stored, span, 0), number(0))
            }
            Some(wide @ (Type::I32 | Type::U32)) if is_larger(&value, LARGEST_WIDE_REPEATED) => {
                let half = Rc::new(Value::Number(16, wide));
                let element = if wide.is_signed() { Type::I16 } else { Type::U16 };
                let high = Value::binary(Binary::ShiftRight, value.clone(), half.clone());
                let high = self.func(name, element, Rc::new(Value::Cast(element, high)), span, 1);
                let low = self.func(name, Type::U16, Rc::new(Value::Cast(Type::U16, value)), span, 0);
                let [high, low] = [high, low].map(|part| Rc::new(Value::Cast(wide, part)));
                Value::binary(Binary::Or, Value::binary(Binary::ShiftLeft, high, half), low)
            }
            Some(element) if element.words().len() == 1 => self.func(name, element, value, span, 0),
            _ => value,
        }
    }

    /// Stores a value that a name stands for, or one of its parts, in a Func that exists for this iteration of the loops around:
    /// its only element.
    fn func(
        &mut self,
        name: &'a str,
        element: Type,
        value: Rc<Value<Flat>>,
        span: Span,
        part: usize,
    ) -> Rc<Value<Flat>> {
        let depth = self.loops.len();
        let array = *self.kept.entry((span.start, part)).or_insert(self.found.arrays.len());
        match self.found.arrays.get_mut(array) {
            Some(known) => known.sites.push(Some(vec![1])),
            None => self.found.arrays.push(Array {
                name,
                span,
                is_argument: false,
                element: Some(element),
                entries: None,
                sites: vec![Some(vec![1])],
                allocated: depth,
                allocation: span,
            }),
        }
        self.productions += 1;
        self.found.stores.push(Store {
            array,
            site: self.found.arrays[array].sites.len() - 1,
            loops: self.loops.clone(),
            outer: depth,
            allocated: depth,
            allocation: span,
            production: Production { number: self.productions, place: span.start },
            ranges: self.ranges.clone(),
            address: Value::number(0),
            value,
            span,
        });
        Rc::new(Value::Load(Flat { array, address: Value::number(0), place: Place(span) }))
    }

    fn array(&self, name: &str, span: Span) -> Result<usize> {
        self.by_name.get(name).copied().ok_or_else(|| Fault::new(span, format!("unknown buffer `{name}`")))
    }

    fn value(&mut self, expression: &Expression<'a>) -> Result<Rc<Value<Flat>>> {
        if let ExpressionKind::Let { name, value, body } = &expression.kind {
            let value = self.value(value)?;
            let meaning = self.kept(name, value, expression.span);
            self.names.entry(name).or_default().push(meaning);
            let body = self.value(body)?;
            self.forget(name);
            return Ok(body);
        }
        let span = expression.span;
        Ok(Rc::new(match &expression.kind {
            ExpressionKind::Number(value, element) => Value::Number(*value, *element),
            ExpressionKind::Name(name) => return self.name(name, span),
            ExpressionKind::Element(name, index) => {
                let array = self.array(name, span)?;
                let address = self.value(index)?;
                match self.entry(array, &address) {
                    Some(number) => number,
                    None => Value::Load(Flat { array, address, place: Place(span) }),
                }
            }
            ExpressionKind::Binary(operator, left, right) => {
                let left = self.value(left)?;
                Value::Binary(*operator, left, self.value(right)?)
            }
            ExpressionKind::Not(operand) => Value::Unary(Unary::Not, self.value(operand)?),
            ExpressionKind::Negate(operand) => Value::Unary(Unary::Negate, self.value(operand)?),
            ExpressionKind::Cast(element, operand) => Value::Cast(*element, self.value(operand)?),
            ExpressionKind::Call { name, value, arguments } => {
                let arguments: Vec<_> = arguments.iter().map(|argument| self.value(argument)).collect::<Result<_>>()?;
                let arrays = &self.found.arrays;
                return intrinsic(name, *value, &arguments, span, &|load: &Flat| arrays[load.array].element);
            }
            ExpressionKind::Let { .. } => unreachable!("treated above"),
        }))
    }

    /// The entry of a buffer of constants at an address that is constant.
    fn entry(&self, array: usize, address: &Value<Flat>) -> Option<Value<Flat>> {
        let Array { entries, element, .. } = &self.found.arrays[array];
        let (entries, at) = (entries.as_ref()?, constant_of(address, &self.ranges)?);
        Some(Value::Number(*entries.get(usize::try_from(at).ok()?)?, (*element)?))
    }

    fn name(&self, name: &str, span: Span) -> Result<Rc<Value<Flat>>> {
        if let Some(meaning) = self.names.get(name).and_then(|meanings| meanings.last()) {
            return Ok(meaning.clone());
        }
        Err(match self.by_name.get(name) {
            Some(&array) if self.found.arrays[array].is_argument => Fault::new(span, format!("`{name}` is a number"))
                .with_help("hardware is made for one value: write a constant in the place of the parameter"),
            Some(_) => Fault::new(span, format!("`{name}` is a buffer")).with_help("there are no pointers"),
            None => Fault::new(span, format!("unknown name `{name}`"))
                .with_help("the text must be all that Halide prints for a pipeline whose buffers have fixed bounds"),
        })
    }
}

/// Whether an array is that of a Func, or of one of its values if it is a tuple: `f.0` and `f.1` of `f`.
fn is_of(array: &str, func: &str) -> bool {
    let value = array.strip_prefix(func).and_then(|rest| rest.strip_prefix('.'));
    array == func || value.is_some_and(|value| !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Two conditions that hold where this one does: the sides of `&&`, or those of a bound for the smaller or the larger of two.
fn both(condition: &Rc<Value<Flat>>) -> Option<[Rc<Value<Flat>>; 2]> {
    let Value::Binary(operator, left, right) = &**condition else { return None };
    if *operator == Binary::And {
        return Some([left.clone(), right.clone()]);
    }
    if !matches!(operator, Binary::Less | Binary::LessEqual) {
        return None;
    }
    match (&**left, &**right) {
        (_, Value::Binary(Binary::Minimum, one, other)) => {
            Some([one, other].map(|each| Value::binary(*operator, left.clone(), each.clone())))
        }
        (Value::Binary(Binary::Maximum, one, other), _) => {
            Some([one, other].map(|each| Value::binary(*operator, each.clone(), right.clone())))
        }
        _ => None,
    }
}

/// Whether an expression has too many operations.
pub(crate) fn is_too_large(value: &Value<Flat>) -> bool {
    is_larger(value, LARGEST_EXPRESSION)
}

/// Whether an expression has so many operations, counted without sharing.
fn is_larger(value: &Value<Flat>, limit: usize) -> bool {
    let mut size = 0;
    count(value, limit, &mut size);
    size >= limit
}

/// Counts operations, up to a limit.
fn count(value: &Value<Flat>, limit: usize, size: &mut usize) {
    *size += 1;
    for operand in value.operands() {
        if *size < limit {
            count(operand, limit, size);
        }
    }
}
