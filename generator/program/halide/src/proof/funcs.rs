//! The elements of Funcs as Halide defines them, each where it is asked for, and once.
//!
//! An update is executed for all its iterations at once, in lexicographic order, for the elements that have the same indices along the
//! variables of the Func: Halide lets an update read its own Func at these indices only.

use std::rc::Rc;

use foldhash::{HashMap, HashMapExt};
use pushmem_nest::{Binary, Type};

use super::functions::{called, power};
use super::meaning::{Defined, Meaning, Node};
use super::scalar::{Arithmetic, Found, Scalar, Stop, of_integers, of_numbers};
use super::worlds::World;
use crate::floats::greatest;
use crate::syntax::{Element, Pipeline, TypeCode};

/// The deepest nesting of calls and operators.
pub(crate) const DEEPEST: usize = 10_000;

/// How many operations a look at an element counts as.
const LOOK: u64 = 8;

/// The values of an element.
type Values = Rc<[Found]>;

type Indices = Box<[i64]>;

/// The elements that an update stores.
#[derive(Debug, Default)]
struct Written {
    elements: HashMap<Indices, Vec<Found>>,
    /// Whether an element is stored of which it is open which one it is.
    is_open: bool,
}

/// An update while it is executed.
#[derive(Debug)]
struct Running {
    func: usize,
    update: usize,
    /// The indices along variables of the Func.
    along: Indices,
    written: Written,
}

/// The variables of a definition, and how it computes.
struct Frame {
    variables: Vec<Scalar>,
    arithmetic: Arithmetic,
    /// The update that it is an iteration of.
    running: Option<usize>,
}

/// The evaluation of a pipeline of images.
pub(crate) struct Evaluation<'a> {
    pipeline: &'a Pipeline,
    defined: &'a [Defined],
    world: &'a World,
    /// How many operations may still be executed.
    pub allowed: u64,
    depth: usize,
    /// The elements after so many updates of a Func.
    elements: HashMap<(usize, usize, Arithmetic), HashMap<Indices, Values>>,
    written: HashMap<(usize, usize), HashMap<Indices, Rc<Written>>>,
    running: Vec<Running>,
}

impl<'a> Evaluation<'a> {
    pub fn new(pipeline: &'a Pipeline, defined: &'a [Defined], world: &'a World) -> Self {
        Self {
            pipeline,
            defined,
            world,
            allowed: 0,
            depth: 0,
            elements: HashMap::new(),
            written: HashMap::new(),
            running: Vec::new(),
        }
    }

    /// A value of an element of a Func after all its updates.
    pub fn value(&mut self, func: usize, value: usize, indices: &[i64], arithmetic: Arithmetic) -> Found {
        let values = self.after(func, self.defined[func].updates.len(), indices, arithmetic)?;
        values.get(value).copied().unwrap_or(Err(Stop::Open))
    }

    /// The values of an element after so many updates.
    fn after(&mut self, func: usize, updates: usize, indices: &[i64], arithmetic: Arithmetic) -> Found<Values> {
        self.charge(LOOK)?;
        let key = (func, updates, arithmetic);
        if let Some(found) = self.elements.get(&key).and_then(|elements| elements.get(indices)) {
            return Ok(found.clone());
        }
        let found: Values = match updates.checked_sub(1) {
            None => self.first(func, indices, arithmetic)?,
            Some(update) => {
                let meaning = &self.defined[func].updates[update];
                let (along, other) = parted(meaning, indices);
                let written = self.written(func, update, along, arithmetic)?;
                match written.elements.get(&other) {
                    _ if written.is_open => vec![Err(Stop::Open); meaning.values.len()].into(),
                    Some(values) => values.clone().into(),
                    None => self.after(func, update, indices, arithmetic)?,
                }
            }
        };
        self.elements.entry(key).or_default().insert(indices.into(), found.clone());
        Ok(found)
    }

    /// The values of an element by the first definition.
    fn first(&mut self, func: usize, indices: &[i64], arithmetic: Arithmetic) -> Found<Values> {
        let Some(meaning) = &self.defined[func].first else { return Err(Stop::Open) };
        let mut frame = Frame { variables: vec![Scalar::Integer(0); meaning.places], arithmetic, running: None };
        for (place, index) in frame.variables.iter_mut().zip(indices) {
            *place = Scalar::Integer(*index);
        }
        self.values(meaning, &mut frame).map(Into::into)
    }

    /// The values of a definition. That one of them is open is no reason to stop.
    fn values(&mut self, meaning: &'a Meaning, frame: &mut Frame) -> Found<Vec<Found>> {
        let mut values = Vec::with_capacity(meaning.values.len());
        for value in &meaning.values {
            values.push(open(self.node(value, frame))?);
        }
        Ok(values)
    }

    /// The elements that an update stores along these indices.
    fn written(&mut self, func: usize, update: usize, along: Indices, arithmetic: Arithmetic) -> Found<Rc<Written>> {
        if let Some(found) = self.written.get(&(func, update)).and_then(|written| written.get(&along)) {
            return Ok(found.clone());
        }
        let meaning = &self.defined[func].updates[update];
        let running = self.running.len();
        let mut frame =
            Frame { variables: vec![Scalar::Integer(0); meaning.places], arithmetic, running: Some(running) };
        let pure = meaning.is_pure.iter().enumerate().filter(|(_, is_pure)| **is_pure);
        for ((dimension, _), index) in pure.zip(&along) {
            frame.variables[dimension] = Scalar::Integer(*index);
        }
        self.running.push(Running { func, update, along: along.clone(), written: Written::default() });
        self.iterations(meaning, 0, &mut frame)?;
        let written = Rc::new(self.running.pop().map(|running| running.written).unwrap_or_default());
        self.written.entry((func, update)).or_default().insert(along, written.clone());
        Ok(written)
    }

    /// All iterations of the reductions from this one on.
    fn iterations(&mut self, meaning: &'a Meaning, depth: usize, frame: &mut Frame) -> Found<()> {
        let Some((place, least, extent)) = meaning.domain.get(depth) else { return self.iteration(meaning, frame) };
        let (least, extent) = (self.node(least, frame)?.integer()?, self.node(extent, frame)?.integer()?);
        for at in least..least + extent {
            frame.variables[*place] = Scalar::Integer(at);
            self.iterations(meaning, depth + 1, frame)?;
        }
        Ok(())
    }

    fn iteration(&mut self, meaning: &'a Meaning, frame: &mut Frame) -> Found<()> {
        let here = frame.running.unwrap_or_default();
        let mut indices = Vec::with_capacity(meaning.arguments.len());
        for argument in &meaning.arguments {
            match open(self.node(argument, frame).and_then(Scalar::integer))? {
                Ok(index) => indices.push(index),
                Err(_) => {
                    self.running[here].written.is_open = true;
                    return Ok(());
                }
            }
        }
        let is_stored = match &meaning.predicate {
            Some(predicate) => open(self.node(predicate, frame).and_then(Scalar::integer))?,
            None => Ok(1),
        };
        if is_stored == Ok(0) {
            return Ok(());
        }
        let mut values = match is_stored {
            Ok(_) => self.values(meaning, frame)?,
            Err(open) => vec![Err(open); meaning.values.len()],
        };
        for (place, value) in values.iter_mut().enumerate() {
            if matches!(meaning.values[place], Node::Undefined) {
                *value = open(self.own(here, place, &indices, frame.arithmetic))?;
            }
        }
        let (_, other) = parted(meaning, &indices);
        self.running[here].written.elements.insert(other, values);
        Ok(())
    }

    /// An element of the Func that is updated.
    fn own(&mut self, running: usize, value: usize, indices: &[i64], arithmetic: Arithmetic) -> Found {
        let Running { func, update, along, written } = self.running.get(running).ok_or(Stop::Open)?;
        let (func, update) = (*func, *update);
        let (own, other) = parted(&self.defined[func].updates[update], indices);
        if own != *along || written.is_open {
            return Err(Stop::Open);
        }
        if let Some(values) = written.elements.get(&other) {
            return values.get(value).copied().unwrap_or(Err(Stop::Open));
        }
        self.after(func, update, indices, arithmetic)?.get(value).copied().unwrap_or(Err(Stop::Open))
    }

    fn charge(&mut self, operations: u64) -> Found<()> {
        self.allowed = self.allowed.checked_sub(operations).ok_or(Stop::Exhausted)?;
        Ok(())
    }

    fn integers(&mut self, nodes: &'a [Node], frame: &mut Frame) -> Found<Vec<i64>> {
        nodes.iter().map(|node| self.node(node, frame)?.integer()).collect()
    }

    fn node(&mut self, node: &'a Node, frame: &mut Frame) -> Found {
        self.charge(1)?;
        if self.depth >= DEEPEST {
            return Err(Stop::Exhausted);
        }
        self.depth += 1;
        let found = self.inner(node, frame);
        self.depth -= 1;
        found
    }

    fn inner(&mut self, node: &'a Node, frame: &mut Frame) -> Found {
        match node {
            Node::Value(Scalar::Number(number)) if frame.arithmetic == Arithmetic::Narrowed => {
                let format = self.pipeline.format;
                // Extremes begin with infinite numbers, which programs do not have.
                let number = if number.is_infinite() { greatest(format).copysign(*number) } else { *number };
                Ok(Scalar::Number(format.to_f64(format.from_f64(number))))
            }
            Node::Value(value) => Ok(*value),
            Node::Variable(place) => frame.variables.get(*place).copied().ok_or(Stop::Open),
            Node::Let(place, parts) => {
                frame.variables[*place] = self.node(&parts[0], frame)?;
                self.node(&parts[1], frame)
            }
            Node::Cast(to, of) => self.node(of, frame)?.cast(*to, frame.arithmetic),
            Node::Binary { operator, of, operands } => self.binary(*operator, *of, operands, frame),
            Node::Not(of) => Ok(Scalar::Integer(1 - self.node(of, frame)?.integer()?)),
            Node::Select(parts) => {
                let truth = self.node(&parts[0], frame)?.integer()?;
                self.node(&parts[if truth != 0 { 1 } else { 2 }], frame)
            }
            Node::Choice(nodes) => {
                let which = self.node(&nodes[0], frame)?.integer()?;
                let values = &nodes[1..];
                let chosen = usize::try_from(which).ok().and_then(|which| values.get(which)).or(values.last());
                self.node(chosen.ok_or(Stop::Open)?, frame)
            }
            Node::Func { func, value, arguments, is_by_data } => {
                let indices = self.integers(arguments, frame)?;
                let is_table =
                    self.defined[*func].is_table && (*is_by_data || self.pipeline.funcs[*func].has_numbers());
                if is_table && frame.arithmetic != Arithmetic::OfTables {
                    let found = self.value(*func, *value, &indices, Arithmetic::OfTables);
                    if found != Err(Stop::Foreign) {
                        let word = Element::of_format(self.pipeline.format);
                        let element = self.pipeline.funcs[*func].types.get(*value).ok_or(Stop::Open)?;
                        return if element.is_number() { found?.cast(word, Arithmetic::Written) } else { found };
                    }
                }
                self.value(*func, *value, &indices, frame.arithmetic)
            }
            Node::Own { value, arguments } => {
                let indices = self.integers(arguments, frame)?;
                self.own(frame.running.ok_or(Stop::Open)?, *value, &indices, frame.arithmetic)
            }
            Node::Pixel { parameter, arguments } => {
                let indices = self.integers(arguments, frame)?;
                let element = self.pipeline.parameters[*parameter].element;
                // Truth values are bytes, of which the lowest bit counts.
                let of = element.value().ok_or(Stop::Open)?;
                let of = if of == Type::Bool { Type::U8 } else { of };
                let word = self.world.pixel(*parameter, of, &indices);
                match element.is_number() {
                    true => Ok(Scalar::Number(element.format.to_f64(word as u16))),
                    false => Scalar::Integer(word).cast(element, frame.arithmetic),
                }
            }
            Node::Entry { buffer, arguments } => {
                let indices = self.integers(arguments, frame)?;
                self.entry(*buffer, &indices, frame.arithmetic)
            }
            Node::Call { name, arguments, result } => self.call(name, arguments, *result, frame),
            Node::Undefined => Err(Stop::Open),
        }
    }

    fn binary(&mut self, operator: Binary, of: Element, operands: &'a [Node; 2], frame: &mut Frame) -> Found {
        let one = self.node(&operands[0], frame)?;
        // Where the first operand decides, the other one may be open.
        match (operator, one) {
            (Binary::And, Scalar::Integer(0)) | (Binary::Or, Scalar::Integer(1)) if of == Element::BOOL => {
                return Ok(one);
            }
            _ => {}
        }
        match (one, self.node(&operands[1], frame)?) {
            (Scalar::Integer(left), Scalar::Integer(right)) => {
                of_integers(operator, of, left, right).map(Scalar::Integer)
            }
            (Scalar::Number(left), Scalar::Number(right)) => {
                let is_positive = operands[1].constant().is_some_and(|number| number > 0.0);
                of_numbers(operator, of, (left, right), frame.arithmetic, is_positive)
            }
            _ => Err(Stop::Open),
        }
    }

    fn call(&mut self, name: &str, arguments: &'a [(Node, Element)], result: Element, frame: &mut Frame) -> Found {
        let mut values = Vec::with_capacity(arguments.len());
        for (argument, element) in arguments {
            values.push((self.node(argument, frame)?, *element));
        }
        let exponent = || arguments.get(1)?.0.constant();
        if let (true, Some(exponent), Some((Scalar::Number(base), _))) =
            (name.starts_with("pow") && frame.arithmetic != Arithmetic::OfTables, exponent(), values.first())
            && let Some(found) = power(*base, exponent, result, frame.arithmetic)
        {
            return found.map(Scalar::Number);
        }
        if name == "strict_mod"
            && let ([(Scalar::Number(left), of), (Scalar::Number(right), _)], [_, (divisor, _)]) =
                (&values[..], arguments)
        {
            let is_positive = divisor.constant().is_some_and(|number| number > 0.0);
            return of_numbers(Binary::Modulo, *of, (*left, *right), frame.arithmetic, is_positive);
        }
        called(name, &values, result, frame.arithmetic)
    }

    fn entry(&self, buffer: usize, indices: &[i64], arithmetic: Arithmetic) -> Found {
        let buffer = &self.pipeline.buffers[buffer];
        let (mut place, mut stride) = (0, 1);
        for (index, (least, extent)) in indices.iter().zip(&buffer.shape) {
            if !(*least..least + extent).contains(index) {
                return Err(Stop::Open);
            }
            place += (index - least) * stride;
            stride *= extent;
        }
        let entry = usize::try_from(place).ok().and_then(|place| buffer.entries.get(place)).ok_or(Stop::Open)?;
        let element = buffer.element;
        let single = Element { code: TypeCode::Float, bits: 32, lanes: 1, format: element.format };
        match (element.code, arithmetic) {
            _ if !element.is_number() => Scalar::Integer(*entry).cast(element, arithmetic),
            (TypeCode::Float, Arithmetic::OfTables) if element.bits == 32 => {
                Ok(Scalar::Number(f32::from_bits(*entry as u32).into()))
            }
            _ => Scalar::Number(element.format.to_f64(element.word(*entry) as u16)).cast(single, Arithmetic::Written),
        }
    }
}

/// A value that may be open; another reason to stop remains one.
fn open<T>(found: Found<T>) -> Found<Found<T>> {
    match found {
        Err(Stop::Open) => Ok(Err(Stop::Open)),
        Err(stop) => Err(stop),
        Ok(value) => Ok(Ok(value)),
    }
}

/// The indices of an element along variables of the Func, and the others.
fn parted(meaning: &Meaning, indices: &[i64]) -> (Indices, Indices) {
    let part = |wanted: bool| {
        indices
            .iter()
            .zip(&meaning.is_pure)
            .filter(|(_, is_pure)| **is_pure == wanted)
            .map(|(index, _)| *index)
            .collect()
    };
    (part(true), part(false))
}
