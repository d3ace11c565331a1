//! From the Funcs of a pipeline to a plan: calls of Funcs that no array holds become their values.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use pushmem_nest::{Span, Type, Unary};

use super::interval::Intervals;
use super::loops::{self, Order};
use super::plan::{Array, Loop, Plan, Point, Stage, Storage, Term, Unroll};
use super::print::{Names, variable};
use super::sizes::Sizes;
use super::syntax::{Call, Called, Constants, Definition, Element, Expression, Func, Kind, Level, Pipeline, TypeCode};
use crate::fault::{Fault, Result};
use crate::intrinsics::intrinsic;
use crate::value::{Evaluator, Place, Value};

/// The deepest nesting of calls and operators, so that no walk exhausts the stack.
const DEEPEST: usize = 1500;

/// The most operations that a reduction becomes which no array holds.
const MOST_UNROLLED: i64 = 1 << 12;

/// The most entries of a table, as in nests.
const MOST_ENTRIES: i64 = 1 << 16;

/// What names stand for in a definition.
type Scope = HashMap<String, Term>;

/// The values so far of an element of a Func that no array holds, while its updates are computed.
struct Expansion {
    func: usize,
    point: Vec<Term>,
    values: Vec<Term>,
}

/// The making of a plan.
pub(crate) struct Lowering<'a> {
    pipeline: &'a Pipeline,
    names: &'a Names,
    sizes: &'a Sizes<'a>,
    /// Funcs that no array may hold.
    held: &'a BTreeSet<usize>,
    funcs: HashMap<&'a str, usize>,
    plan: Plan,
    /// The arrays of Funcs.
    stored: BTreeMap<usize, Vec<usize>>,
    /// Images, constants and tables, by name.
    others: HashMap<String, usize>,
    /// Funcs whose stages are still to be made.
    pending: Vec<usize>,
    inlined: HashMap<(usize, usize, Vec<usize>), Term>,
    expansions: Vec<Expansion>,
    is_free: HashMap<usize, bool>,
    depth: usize,
}

impl<'a> Lowering<'a> {
    /// The plan of a pipeline in which no array holds the Funcs `held`.
    pub fn plan(sizes: &'a Sizes<'a>, held: &'a BTreeSet<usize>) -> Result<Plan> {
        let (pipeline, names) = (sizes.pipeline, sizes.names);
        let funcs: HashMap<&str, usize> =
            pipeline.funcs.iter().enumerate().map(|(number, func)| (func.name.as_str(), number)).collect();
        let mut lowering = Self {
            pipeline,
            names,
            sizes,
            held,
            funcs,
            plan: Plan::default(),
            stored: BTreeMap::new(),
            others: HashMap::new(),
            pending: Vec::new(),
            inlined: HashMap::new(),
            expansions: Vec::new(),
            is_free: HashMap::new(),
            depth: 0,
        };
        for output in &pipeline.outputs {
            let number = lowering.funcs.get(output.as_str()).copied();
            let number = number.ok_or_else(|| Fault::new(Span::default(), format!("the output `{output}` is no Func")))?;
            lowering.arrays_of(number, Storage::Output)?;
        }
        while let Some(func) = lowering.pending.pop() {
            lowering.stages(func)?;
        }
        lowering.in_order()?;
        Ok(lowering.plan)
    }

    fn func(&self, number: usize) -> &'a Func {
        &self.pipeline.funcs[number]
    }

    /// The arrays of a Func that has arrays.
    fn arrays_of(&mut self, number: usize, storage: Storage) -> Result<Vec<usize>> {
        if let Some(arrays) = self.stored.get(&number) {
            return Ok(arrays.clone());
        }
        let func = self.func(number);
        let shown = self.names.shown(&func.name);
        let mut arrays = Vec::new();
        for (place, element) in func.types.iter().enumerate() {
            let name = if func.types.len() == 1 { shown.to_owned() } else { format!("{shown}_{place}") };
            let value = type_of(*element, func.span)?;
            arrays.push(self.plan.arrays.len());
            let (dimensions, span) = (func.arguments.len(), func.span);
            let said = if storage == Storage::Output { Some(self.sizes.output(func)?) } else { self.sizes.bound(func) };
            self.plan.arrays.push(Array { name, storage: storage.clone(), value, dimensions, said, span });
        }
        self.stored.insert(number, arrays.clone());
        self.pending.push(number);
        Ok(arrays)
    }

    /// The definitions of a Func, as stages.
    fn stages(&mut self, number: usize) -> Result<()> {
        let func = self.func(number);
        let Some(first) = &func.definition else {
            return Err(Fault::new(func.span, format!("`{}` is an extern function", self.names.shown(&func.name)))
                .with_help("only what Halide defines has hardware: write it as a Func, or compute it on the CPU"));
        };
        for name in &func.schedule.ignored {
            self.note(func.span, name);
        }
        self.stage(number, first, false)?;
        for update in &func.updates {
            self.stage(number, update, true)?;
        }
        Ok(())
    }

    fn note(&mut self, span: Span, directive: &str) {
        self.plan.notes.push((span, format!("`{directive}` is for processors, and has no meaning for hardware")));
    }

    fn stage(&mut self, number: usize, definition: &'a Definition, updates: bool) -> Result<()> {
        let func = self.func(number);
        if definition.specializations > 0 {
            self.note(definition.span, "specialize");
        }
        let (order, ignored) = loops::order(definition);
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
        for reduction in &definition.domain {
            let range = self.range(&reduction.least, &reduction.extent)?;
            self.variable(&reduction.name, Some(range), None, &mut scope, &mut of_name);
        }
        let arrays = self.stored[&number].clone();
        let targets = self.terms(&definition.arguments, &scope, number)?;
        let mut values = Vec::new();
        for value in &definition.values {
            values.push(self.defined(value, &scope, number)?);
        }
        if values.len() != arrays.len() || targets.len() != func.arguments.len() {
            return Err(Fault::new(definition.span, "a definition has another number of values or arguments than its Func"));
        }
        if let Some(predicate) = &definition.predicate {
            let condition = self.term(predicate, &scope, number)?;
            for (value, array) in values.iter_mut().zip(&arrays) {
                let before = self.load(*array, targets.clone(), definition.span);
                *value = value.take().map(|value| self.plan.terms.select(condition.clone(), value, before));
            }
        }
        let loops = in_loops(&of_name, order);
        self.plan.stages.push(Stage {
            func: number,
            arrays,
            targets,
            values,
            loops,
            updates,
            span: definition.span,
        });
        Ok(())
    }

    /// Adds a variable of a definition.
    fn variable(
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

    /// The values of a variable of a reduction.
    fn range(&mut self, least: &Expression, extent: &Expression) -> Result<(i64, i64)> {
        let of = |each: &Expression, term: Term| match &*term {
            Value::Number(number, _) => Ok(*number),
            _ => Err(Fault::new(each.span, "the size of a reduction domain is not constant")
                .with_help("hardware is made for one size: write a number, or set the bounds of the image that it depends on")),
        };
        let scope = Scope::new();
        let term = self.term(least, &scope, usize::MAX)?;
        let first = of(least, term)?;
        let term = self.term(extent, &scope, usize::MAX)?;
        match of(extent, term)? {
            extent @ 1.. => Ok((first, first + extent - 1)),
            count => Err(Fault::new(extent.span, format!("a reduction domain has {count} elements along a dimension"))),
        }
    }

    fn terms(&mut self, expressions: &[Expression], scope: &Scope, within: usize) -> Result<Vec<Term>> {
        expressions.iter().map(|each| self.term(each, scope, within)).collect()
    }

    /// The value, unless it is one that is not defined.
    fn defined(&mut self, value: &Expression, scope: &Scope, within: usize) -> Result<Option<Term>> {
        match &value.kind {
            Kind::Call(call) if call.called == Called::Intrinsic && call.name == "undef" => Ok(None),
            _ => self.term(value, scope, within).map(Some),
        }
    }

    /// An expression of the Func `within`.
    fn term(&mut self, expression: &Expression, scope: &Scope, within: usize) -> Result<Term> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::new(expression.span, format!("an expression is deeper than {DEEPEST} operations"))
                .with_help("compute some of the Funcs that it calls by `compute_root`"));
        }
        let term = self.shallow(expression, scope, within);
        self.depth -= 1;
        term
    }

    fn shallow(&mut self, expression: &Expression, scope: &Scope, within: usize) -> Result<Term> {
        let span = expression.span;
        let term = match &expression.kind {
            Kind::Integer(number, element) => self.plan.terms.number(*number, type_of(*element, span)?),
            Kind::Real(_, element) => return Err(wrong_type(*element, span)),
            Kind::Text(_) => return Err(Fault::new(span, "a text is no value")),
            Kind::Cast(to, of) | Kind::Reinterpret(to, of) => {
                let to = type_of(*to, span)?;
                let of = self.term(of, scope, within)?;
                self.plan.terms.cast(to, of)
            }
            Kind::Binary(operator, left, right) => {
                let (one, other) = (self.term(left, scope, within)?, self.term(right, scope, within)?);
                let types = [&one, &other].map(|term| self.plan.terms.type_of(term));
                if types[0] != types[1] || (types[0] == Type::Bool && !operator.takes_bool()) {
                    let message = format!("`{}` of {} and {}", operator.symbol(), types[0].name(), types[1].name());
                    return Err(Fault::new(span, message));
                }
                self.plan.terms.binary(*operator, one, other)
            }
            Kind::Not(of) => {
                let of = self.term(of, scope, within)?;
                self.plan.terms.unary(Unary::Not, of)
            }
            Kind::Select(parts) => self.select(parts, scope, within)?,
            Kind::Let(name, parts) => {
                let value = self.term(&parts[0], scope, within)?;
                let mut inner = scope.clone();
                inner.insert(name.clone(), value);
                self.term(&parts[1], &inner, within)?
            }
            Kind::Variable(name) => match scope.get(name) {
                Some(term) => term.clone(),
                None => self.free_variable(name, span)?,
            },
            Kind::Call(call) => self.call(call, span, scope, within)?,
            Kind::Other(what) => return Err(Fault::new(span, *what).with_help("write the pipeline without vectors")),
        };
        Ok(term)
    }

    /// A choice; of one that is known already, the other value is not looked at.
    fn select(&mut self, parts: &[Expression; 3], scope: &Scope, within: usize) -> Result<Term> {
        let condition = self.term(&parts[0], scope, within)?;
        if let Value::Number(truth, _) = *condition {
            return self.term(&parts[if truth != 0 { 1 } else { 2 }], scope, within);
        }
        let then = self.term(&parts[1], scope, within)?;
        let otherwise = self.term(&parts[2], scope, within)?;
        if self.plan.terms.type_of(&then) != self.plan.terms.type_of(&otherwise) {
            return Err(Fault::new(parts[2].span, "`select` of values of two types"));
        }
        Ok(self.plan.terms.select(condition, then, otherwise))
    }

    /// A variable that no definition has: the size of an image, or a parameter.
    fn free_variable(&mut self, name: &str, span: Span) -> Result<Term> {
        if let Some(number) = self.sizes.named(name) {
            return Ok(self.plan.terms.number(number, Type::I32));
        }
        let Some(parameter) = self.pipeline.parameters.iter().find(|each| each.name == name) else {
            let image = name.split('.').next().unwrap_or(name);
            let shown = self.names.shown(image);
            return match self.pipeline.parameters.iter().any(|each| each.name == image) {
                true => Err(Fault::new(span, format!("the size of `{shown}` is not known here"))
                    .with_help(format!(
                        "Halide does not write it: give the boundary condition the bounds, or add the lines `// pushmem` and \
                         `// {shown}: 64, 64` to the end of the file"
                    ))),
                false => Err(Fault::new(span, format!("unknown variable `{}`", variable(name)))),
            };
        };
        // A number from outside is an input of one element.
        let value = type_of(parameter.element, parameter.span)?;
        if value.element().is_none() && value != Type::Bool {
            let message = format!("`{}` is of type {}: memories hold 8 or 16 bits", self.names.shown(name), value.name());
            return Err(Fault::new(parameter.span, message).with_help("make it of 16 bits, and cast it where it is used"));
        }
        let shown = self.names.shown(name).to_owned();
        let number = self.other(name, || Array {
            name: shown,
            storage: Storage::Input,
            value,
            dimensions: 1,
            said: Some(vec![(0, 0)]),
            span: parameter.span,
        });
        let zero = self.plan.terms.number(0, Type::I32);
        Ok(self.load(number, vec![zero], span))
    }

    fn other(&mut self, name: &str, array: impl FnOnce() -> Array) -> usize {
        if let Some(number) = self.others.get(name) {
            return *number;
        }
        self.plan.arrays.push(array());
        self.others.insert(name.to_owned(), self.plan.arrays.len() - 1);
        self.plan.arrays.len() - 1
    }

    /// An element of an array, as a value of the Func.
    fn load(&mut self, array: usize, indices: Vec<Term>, span: Span) -> Term {
        let (value, loaded) = (self.plan.arrays[array].value, self.plan.arrays[array].loaded());
        let load = self.plan.terms.load(Point { array, indices, place: Place(span) }, loaded);
        self.plan.terms.cast(value, load)
    }

    fn call(&mut self, call: &Call, span: Span, scope: &Scope, within: usize) -> Result<Term> {
        match call.called {
            Called::Func => {
                let number = self.callee(&call.name, within, span)?;
                let arguments = self.terms(&call.arguments, scope, within)?;
                self.func_call(number, call.value, arguments, span)
            }
            Called::Image => {
                let arguments = self.terms(&call.arguments, scope, within)?;
                let array = self.image(&call.name, span)?;
                if self.plan.arrays[array].dimensions != arguments.len() {
                    return Err(Fault::new(span, "an image is read with another number of indices than it has dimensions"));
                }
                Ok(self.load(array, arguments, span))
            }
            Called::Intrinsic | Called::Extern => self.function(call, span, scope, within),
        }
    }

    /// A function of Halide's integers.
    fn function(&mut self, call: &Call, span: Span, scope: &Scope, within: usize) -> Result<Term> {
        if call.name == "return_second" && call.arguments.len() == 2 {
            return self.term(&call.arguments[1], scope, within);
        }
        let value = type_of(call.element, span)?;
        let arguments = self.terms(&call.arguments, scope, within)?;
        let arrays = &self.plan.arrays;
        let of_load = |point: &Point| Some(arrays[point.array].loaded());
        let made = intrinsic(&call.name, Some(value), &arguments, span, &of_load)?;
        Ok(self.plan.terms.kept(&made))
    }

    /// The array of an image or of constants.
    fn image(&mut self, name: &str, span: Span) -> Result<usize> {
        if let Some(parameter) = self.pipeline.parameters.iter().find(|each| each.is_buffer && each.name == name) {
            let value = type_of(parameter.element, parameter.span)?;
            let shown = self.names.shown(name).to_owned();
            let said = self.sizes.image(parameter);
            let (dimensions, span) = (parameter.dimensions, parameter.span);
            return Ok(self.other(name, || Array { name: shown, storage: Storage::Input, value, dimensions, said, span }));
        }
        let Some(buffer) = self.pipeline.buffers.iter().find(|each| each.name == name) else {
            return Err(Fault::new(span, format!("unknown image `{}`", self.names.shown(name))));
        };
        let value = type_of(buffer.element, buffer.span)?;
        let shown = self.names.shown(name).to_owned();
        let Constants { entries, shape, span, .. } = buffer;
        let said = shape.iter().map(|(least, extent)| (*least, least + extent - 1)).collect();
        let storage = Storage::Constants(Rc::new(entries.iter().map(|entry| value.wrap(*entry)).collect()));
        Ok(self.other(name, || Array { name: shown, storage, value, dimensions: shape.len(), said: Some(said), span: *span }))
    }

    /// The Func that is called by this name in a Func: it may have a wrapper.
    fn callee(&self, name: &str, within: usize, span: Span) -> Result<usize> {
        let unknown = || Fault::new(span, format!("unknown Func `{}`", self.names.shown(name)));
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
    fn func_call(&mut self, number: usize, value: usize, point: Vec<Term>, span: Span) -> Result<Term> {
        let func = self.func(number);
        if value >= func.types.len() || point.len() != func.arguments.len() {
            return Err(Fault::new(span, "a Func is called with another number of arguments than it has"));
        }
        if let Some(expansion) = self.expansions.iter().rev().find(|expansion| expansion.func == number) {
            return match expansion.point.iter().zip(&point).all(|(one, other)| Rc::ptr_eq(one, other)) {
                true => Ok(expansion.values[value].clone()),
                false => Err(self.not_held(number, span)),
            };
        }
        let is_stored = self.stored.contains_key(&number);
        let is_pure = func.updates.is_empty() && func.definition.is_some();
        if !is_stored && (self.held.contains(&number) || (is_pure && (func.schedule.compute == Level::Inlined || self.is_free(number)))) {
            if func.schedule.compute != Level::Inlined && !self.held.contains(&number) {
                if let Some(table) = self.table(number, value, &point)? {
                    return Ok(self.load(table, point, span));
                }
            }
            return self.inlined(number, value, point, span);
        }
        let arrays = self.arrays_of(number, Storage::Buffer)?;
        Ok(self.load(arrays[value], point, span))
    }

    fn not_held(&self, number: usize, span: Span) -> Fault {
        let func = self.func(number);
        let name = self.names.shown(&func.name);
        let of = func.types.first().map_or(String::new(), ToString::to_string);
        Fault::new(span, format!("`{name}` is of type {of}: memories hold 8 or 16 bits"))
            .with_help("narrow it to 16 bits, or let its updates read and write the element of its own variables only")
    }

    /// The value of a Func that no array holds.
    fn inlined(&mut self, number: usize, value: usize, point: Vec<Term>, span: Span) -> Result<Term> {
        let key = (number, value, point.iter().map(|term| Rc::as_ptr(term) as usize).collect::<Vec<_>>());
        if let Some(term) = self.inlined.get(&key) {
            return Ok(term.clone());
        }
        let func = self.func(number);
        let Some(definition) = &func.definition else {
            return Err(Fault::new(func.span, format!("`{}` is an extern function", self.names.shown(&func.name))));
        };
        let scope: Scope = func.arguments.iter().cloned().zip(point.iter().cloned()).collect();
        if func.updates.is_empty() {
            let Some(of) = definition.values.get(value) else {
                return Err(Fault::new(span, "a value of a tuple that it does not have"));
            };
            let term = self.term(of, &scope, number)?;
            self.inlined.insert(key, term.clone());
            return Ok(term);
        }
        let values = self.terms(&definition.values, &scope, number)?;
        self.expansions.push(Expansion { func: number, point, values });
        for update in &func.updates {
            self.expanded(number, update, &scope)?;
        }
        let expansion = self.expansions.pop().map(|expansion| expansion.values).unwrap_or_default();
        let term = expansion.get(value).cloned().ok_or_else(|| self.not_held(number, span))?;
        self.inlined.insert(key, term.clone());
        Ok(term)
    }

    /// Computes an update of the element that is expanded, for all values of its reduction.
    fn expanded(&mut self, number: usize, update: &Definition, scope: &Scope) -> Result<()> {
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
            let mut values = self.terms(&update.values, &inner, number)?;
            if let Some(predicate) = &update.predicate {
                let condition = self.term(predicate, &inner, number)?;
                let before = self.expansions.last().map(|expansion| expansion.values.clone()).unwrap_or_default();
                for (value, before) in values.iter_mut().zip(before) {
                    *value = self.plan.terms.select(condition.clone(), value.clone(), before);
                }
            }
            if let Some(expansion) = self.expansions.last_mut() {
                expansion.values = values;
            }
        }
        Ok(())
    }

    /// The table of a Func of its variable only, if it is looked up by data.
    fn table(&mut self, number: usize, value: usize, point: &[Term]) -> Result<Option<usize>> {
        let func = self.func(number);
        let [index] = point else { return Ok(None) };
        let mut loads = Vec::new();
        index.loads(&mut loads);
        if loads.is_empty() {
            return Ok(None);
        }
        let arrays = &self.plan.arrays;
        let of_array = |array: usize| {
            let of = arrays[array].loaded();
            ((of.min(), of.max()), of)
        };
        let (low, high) = Intervals::new(&|_| (Type::I32.min(), Type::I32.max()), &of_array).of(index);
        let whole = self.plan.variables.len();
        if high - low >= MOST_ENTRIES {
            return Ok(None);
        }
        self.plan.variables.push((String::new(), Some((low, high))));
        let at = self.plan.terms.variable(whole);
        let term = self.inlined(number, value, vec![at], func.span)?;
        let evaluator = Evaluator::new(&*term);
        let entries: Option<Vec<i64>> =
            (low..=high).map(|entry| evaluator.evaluate(&|variable| (variable == whole).then_some(entry))).collect();
        let Some(entries) = entries else { return Ok(None) };
        let of = type_of(func.types[value], func.span)?;
        let name = self.names.shown(&func.name).to_owned();
        let storage = Storage::Constants(Rc::new(entries));
        let span = func.span;
        let key = format!("{}.{value}", func.name);
        Ok(Some(self.other(&key, || Array { name, storage, value: of, dimensions: 1, said: Some(vec![(low, high)]), span })))
    }

    /// Whether a Func depends on its variables only.
    fn is_free(&mut self, number: usize) -> bool {
        if let Some(known) = self.is_free.get(&number) {
            return *known;
        }
        // One that calls itself is none.
        self.is_free.insert(number, false);
        let func = self.func(number);
        let values = func.definition.iter().flat_map(|definition| &definition.values);
        let free = func.updates.is_empty() && func.definition.is_some() && { values }.all(|value| self.is_free_value(value));
        self.is_free.insert(number, free);
        free
    }

    fn is_free_value(&mut self, value: &Expression) -> bool {
        match &value.kind {
            Kind::Integer(..) | Kind::Real(..) | Kind::Text(_) | Kind::Other(_) => true,
            Kind::Variable(name) => !self.pipeline.parameters.iter().any(|parameter| &parameter.name == name),
            Kind::Cast(_, of) | Kind::Reinterpret(_, of) | Kind::Not(of) => self.is_free_value(of),
            Kind::Binary(_, left, right) => self.is_free_value(left) && self.is_free_value(right),
            Kind::Select(parts) => parts.iter().all(|part| self.is_free_value(part)),
            Kind::Let(_, parts) => parts.iter().all(|part| self.is_free_value(part)),
            Kind::Call(call) => {
                let callee = match call.called {
                    Called::Image => !self.pipeline.parameters.iter().any(|each| each.name == call.name),
                    Called::Func => self.funcs.get(call.name.as_str()).copied().is_some_and(|func| self.is_free(func)),
                    Called::Intrinsic | Called::Extern => true,
                };
                callee && call.arguments.iter().all(|argument| self.is_free_value(argument))
            }
        }
    }

    /// Puts the stages into an order in which each Func comes after all that it reads.
    fn in_order(&mut self) -> Result<()> {
        let of_array: HashMap<usize, usize> =
            self.stored.iter().flat_map(|(func, arrays)| arrays.iter().map(|array| (*array, *func))).collect();
        let mut needs: BTreeMap<usize, BTreeSet<usize>> = self.stored.keys().map(|func| (*func, BTreeSet::new())).collect();
        for stage in &self.plan.stages {
            let entry = needs.entry(stage.func).or_default();
            for array in super::walk::arrays_of(stage) {
                entry.extend(of_array.get(&array).filter(|func| **func != stage.func));
            }
        }
        let mut stages = std::mem::take(&mut self.plan.stages);
        while !needs.is_empty() {
            let Some(next) = needs.iter().find(|(_, needed)| needed.is_empty()).map(|(func, _)| *func) else {
                let func = needs.keys().next().map_or(Span::default(), |func| self.func(*func).span);
                return Err(Fault::new(func, "Funcs depend on each other in a circle"));
            };
            needs.remove(&next);
            needs.values_mut().for_each(|needed| _ = needed.remove(&next));
            let (these, others): (Vec<Stage>, Vec<Stage>) = stages.into_iter().partition(|stage| stage.func == next);
            self.plan.stages.extend(these);
            stages = others;
        }
        Ok(())
    }
}

/// The loops of the variables of a definition, in this order.
fn in_loops(of_name: &HashMap<&str, (usize, Option<usize>)>, order: Vec<Order>) -> Vec<Loop> {
    let known = order.into_iter().filter_map(|Order { name, unroll }| {
        let (variable, dimension) = *of_name.get(name.as_str())?;
        Some(Loop { variable, dimension, unroll })
    });
    let mut loops: Vec<Loop> = known.collect();
    // What the schedule does not name is outermost, by number.
    let mut others: Vec<&(usize, Option<usize>)> = of_name.values().collect();
    others.sort();
    for &(variable, dimension) in others {
        if loops.iter().all(|each| each.variable != variable) {
            loops.insert(0, Loop { variable, dimension, unroll: Unroll::By(1) });
        }
    }
    loops
}

fn type_of(element: Element, span: Span) -> Result<Type> {
    element.value().ok_or_else(|| wrong_type(element, span))
}

fn wrong_type(element: Element, span: Span) -> Fault {
    let help = match element.code {
        TypeCode::Float | TypeCode::BFloat => "there is no floating point: scale to integers",
        _ => "values have 8, 16 or 32 bits",
    };
    Fault::new(span, format!("the type `{element}`")).with_help(help)
}
