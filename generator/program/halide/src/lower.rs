//! From the Funcs of a pipeline to a plan: calls of Funcs that no array holds become their values.

mod calls;
mod functions;
mod stages;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pushmem_float::Function;
use pushmem_nest::syntax::HIGHEST_TREE;
use pushmem_nest::{Binary, Span, Type, Unary};

use crate::floats::{Floats, constant, greatest, narrowed, of_another_scale, shown};
use crate::functions::{Named, named};
use crate::loops::Loops;
use crate::plan::{Array, Plan, Stage, Storage, Term};
use crate::print::{Names, variable};
use crate::sizes::Sizes;
use crate::syntax::{Call, Called, Constants, Element, Expression, Func, Kind, Pipeline};
use crate::value::{Value, all_loads};
use crate::{Problem, Result};

/// The deepest nesting of calls and operators, so that no walk exhausts the stack.
const DEEPEST: usize = 1500;

/// The most operations that a reduction becomes which no array holds: they depend on one another.
const MOST_UNROLLED: i64 = HIGHEST_TREE as i64;

/// The most iterations of an update that become parts of one value of a tuple.
const MOST_COPIES: i64 = 64;

/// The most entries of a table, as in nests.
pub(crate) const MOST_ENTRIES: i64 = 1 << 16;

/// Functions of Halide that take values of all types.
const OF_ALL_TYPES: [&str; 3] = ["if_then_else", "mux", "select"];

/// The meaning of names in a definition.
type Scope = HashMap<String, Term>;

/// The values so far of an element of a Func that no array holds, while its updates are computed.
struct Expansion {
    func: usize,
    point: Vec<Term>,
    values: Vec<Term>,
    /// Whether an array holds the Func, and whether another element of it was read then.
    is_stored: bool,
    is_mixed: bool,
}

/// The making of a plan.
pub(crate) struct Lowering<'a> {
    pipeline: &'a Pipeline,
    names: &'a Names,
    sizes: &'a Sizes<'a>,
    loops: Loops,
    /// Funcs that no array may hold.
    held: &'a BTreeSet<usize>,
    /// Values of Funcs, by their numbers, of which arrays hold all 32 bits.
    wide: &'a BTreeSet<(usize, usize)>,
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
    /// Whether the stage that is made has loops of a reduction.
    is_reduction: bool,
    /// The stages that copy accumulators to outputs.
    copies: Vec<Stage>,
    depth: usize,
}

impl<'a> Lowering<'a> {
    /// The plan of a pipeline in which no array holds the Funcs `held`, and arrays hold all 32 bits of the values `wide` of Funcs.
    pub fn plan(
        sizes: &'a Sizes<'a>,
        loops: Loops,
        held: &'a BTreeSet<usize>,
        wide: &'a BTreeSet<(usize, usize)>,
    ) -> Result<Plan> {
        let (pipeline, names) = (sizes.pipeline, sizes.names);
        let funcs: HashMap<&str, usize> =
            pipeline.funcs.iter().enumerate().map(|(number, func)| (func.name.as_str(), number)).collect();
        let mut lowering = Self {
            pipeline,
            names,
            sizes,
            loops,
            held,
            wide,
            funcs,
            plan: Plan::default(),
            stored: BTreeMap::new(),
            others: HashMap::new(),
            pending: Vec::new(),
            inlined: HashMap::new(),
            expansions: Vec::new(),
            is_free: HashMap::new(),
            is_reduction: false,
            copies: Vec::new(),
            depth: 0,
        };
        for output in &pipeline.outputs {
            let number = lowering.funcs.get(output.as_str()).copied();
            let number =
                number.ok_or_else(|| Problem::new(Span::default(), format!("the output `{output}` is no Func")))?;
            match lowering.accumulates(number)? {
                true => lowering.accumulated(number)?,
                false => _ = lowering.arrays_of(number, Storage::Output)?,
            }
        }
        while let Some(func) = lowering.pending.pop() {
            lowering.stages(func)?;
        }
        lowering.in_order()?;
        lowering.plan.stages.append(&mut lowering.copies);
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
            let is_wide = self.wide.contains(&(number, place));
            self.plan.arrays.push(Array { name, storage: storage.clone(), value, is_wide, dimensions, said, span });
        }
        self.stored.insert(number, arrays.clone());
        self.pending.push(number);
        Ok(arrays)
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
            return Err(Problem::new(expression.span, format!("an expression is deeper than {DEEPEST} operations"))
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
            Kind::Real(number, element) => {
                type_of(*element, span)?;
                let format = self.pipeline.format;
                let number = match self.sizes.floats {
                    Floats::Exact => *number,
                    Floats::Narrowed(format) => narrowed(format, *number, span)?,
                };
                self.plan.terms.real(format, number)
            }
            Kind::Text(_) => return Err(Problem::new(span, "a text is no value")),
            Kind::Cast(to, of) | Kind::Reinterpret(to, of) => {
                let to = type_of(*to, span)?;
                let of = self.term(of, scope, within)?;
                let from = self.plan.terms.type_of(&of);
                if matches!(expression.kind, Kind::Reinterpret(..))
                    && from != to
                    && from.format().or(to.format()).is_some()
                {
                    return Err(Problem::new(span, "the bits of a number are taken as those of another type")
                        .with_help("no operation of hardware computes with them: use `exp`, `log` and `pow`, and none of the `fast_` functions with bits"));
                }
                self.plan.terms.number_cast(to, of)
            }
            Kind::Binary(operator, operands) => {
                let [left, right] = &**operands;
                let (one, other) = (self.term(left, scope, within)?, self.term(right, scope, within)?);
                let types = [&one, &other].map(|term| self.plan.terms.type_of(term));
                if types[0] != types[1] || (types[0] == Type::Bool && !operator.takes_bool()) {
                    let message = format!("`{}` of {} and {}", operator.symbol(), types[0].name(), types[1].name());
                    return Err(Problem::new(span, message));
                }
                if types[0].format().is_some() {
                    self.check_divisor(*operator, right, &other, span)?;
                    return self.plan.terms.of_numbers(*operator, one, other).ok_or_else(|| {
                        Problem::new(span, format!("`{}` of numbers with a fraction", operator.symbol()))
                            .with_help("cast them to integers before")
                    });
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
            Kind::Other(what) => return Err(Problem::new(span, *what).with_help("write the pipeline without vectors")),
        };
        Ok(term)
    }

    /// Refuses a narrowed quotient or remainder by a constant whose reciprocal is infinite.
    fn check_divisor(&self, operator: Binary, divisor: &Expression, term: &Term, span: Span) -> Result<()> {
        let (Floats::Narrowed(format), Binary::Divide | Binary::Modulo, Value::Number(word, _)) =
            (self.sizes.floats, operator, &**term)
        else {
            return Ok(());
        };
        let near = format.to_f64(*word as u16);
        if format.is_finite(format.from_f64(1.0 / near)) {
            return Ok(());
        }
        let written = shown(constant(divisor).unwrap_or(near));
        let message = format!("the reciprocal of the divisor {written} is beyond the numbers of {format}");
        Err(Problem::new(span, message).with_help(format!(
            "hardware multiplies by the reciprocal, which is at most {}: {}",
            shown(greatest(format)),
            of_another_scale(format)
        )))
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
            return Err(Problem::new(parts[2].span, "`select` of values of two types"));
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
                true => Err(Problem::new(span, format!("the size of `{shown}` is not known here"))
                    .with_help(format!(
                        "Halide does not write it: give the boundary condition the bounds, or add the lines `// pushmem` and \
                         `// {shown}: 64, 64` to the end of the file"
                    ))),
                false => Err(Problem::new(span, format!("unknown variable `{}`", variable(name)))),
            };
        };
        // A number from outside is an input of one element.
        let value = type_of(parameter.element, parameter.span)?;
        let shown = self.names.shown(name).to_owned();
        let number = self.other(name, || Array::input(shown, value, 1, Some(vec![(0, 0)]), parameter.span));
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
        match self.plan.arrays[array].entry(&indices) {
            Some(entry) => self.plan.terms.number(entry, self.plan.arrays[array].value),
            None => self.plan.load(array, &indices, span),
        }
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
                    return Err(Problem::new(
                        span,
                        "an image is read with another number of indices than it has dimensions",
                    ));
                }
                Ok(self.load(array, arguments, span))
            }
            Called::Intrinsic | Called::Extern => self.function(call, span, scope, within),
        }
    }

    /// Says of a function that its results may be neighbours of Halide's.
    fn tell_of_neighbours(&mut self, name: &str, span: Span) {
        if let Some(Named::Function(function)) = named(name)
            && ![Function::SquareRoot, Function::HyperbolicTangent].contains(&function)
        {
            let message =
                format!("`{name}` of {} may be a neighbour of the number that Halide computes", self.pipeline.format);
            if self.plan.notes.iter().all(|(other, _)| *other != span) {
                self.plan.notes.push((span, message));
            }
        }
    }

    /// The array of an image or of constants.
    fn image(&mut self, name: &str, span: Span) -> Result<usize> {
        if let Some(parameter) = self.pipeline.parameters.iter().find(|each| each.is_buffer && each.name == name) {
            let value = type_of(parameter.element, parameter.span)?;
            let shown = self.names.shown(name).to_owned();
            let said = self.sizes.image(parameter);
            let (dimensions, span) = (parameter.dimensions, parameter.span);
            return Ok(self.other(name, || Array::input(shown, value, dimensions, said, span)));
        }
        let Some(buffer) = self.pipeline.buffers.iter().find(|each| each.name == name) else {
            return Err(Problem::new(span, format!("unknown image `{}`", self.names.shown(name))));
        };
        let value = type_of(buffer.element, buffer.span)?;
        let shown = self.names.shown(name).to_owned();
        let Constants { entries, shape, span, .. } = buffer;
        let said = shape.iter().map(|(least, extent)| (*least, least + extent - 1)).collect();
        let entry = |entry: &i64| value.wrap(buffer.element.word(*entry));
        let entries: Vec<i64> = entries.iter().map(entry).collect();
        finite(value, &entries, *span)?;
        Ok(self.other(name, || Array::constants(shown, value, entries, said, *span)))
    }

    /// Puts the stages into an order in which each Func comes after all that it reads.
    fn in_order(&mut self) -> Result<()> {
        let of_array: HashMap<usize, usize> =
            self.stored.iter().flat_map(|(func, arrays)| arrays.iter().map(|array| (*array, *func))).collect();
        let mut needs: BTreeMap<usize, BTreeSet<usize>> =
            self.stored.keys().map(|func| (*func, BTreeSet::new())).collect();
        for stage in &self.plan.stages {
            let entry = needs.entry(stage.func).or_default();
            let loaded = all_loads(stage.terms()).into_iter().filter_map(|point| of_array.get(&point.array));
            entry.extend(loaded.filter(|func| **func != stage.func));
        }
        let mut stages = std::mem::take(&mut self.plan.stages);
        while !needs.is_empty() {
            let Some(next) = needs.iter().find(|(_, needed)| needed.is_empty()).map(|(func, _)| *func) else {
                let func = needs.keys().next().map_or(Span::default(), |func| self.func(*func).span);
                return Err(Problem::new(func, "Funcs depend on each other in a circle"));
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

/// Refuses constants that no program can have.
fn finite(of: Type, entries: &[i64], span: Span) -> Result<()> {
    match of.format().filter(|format| !entries.iter().all(|entry| format.is_finite(*entry as u16))) {
        Some(format) => Err(Problem::new(span, format!("an entry of these constants is no finite number of {format}"))
            .with_help(format!("the greatest number is {}: scale the values", shown(greatest(format))))),
        None => Ok(()),
    }
}

fn type_of(element: Element, span: Span) -> Result<Type> {
    element.value().ok_or_else(|| wrong_type(element, span))
}

fn wrong_type(element: Element, span: Span) -> Problem {
    Problem::new(span, format!("the type `{element}`")).with_help("values have 8, 16 or 32 bits")
}
