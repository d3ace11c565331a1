//! The definitions of a pipeline with their names looked up. Nothing is decided here: an expression stays as it was written.

use std::collections::{HashMap, HashSet};

use pushmem_nest::Binary;

use super::scalar::{Arithmetic, Scalar, limits};
use crate::floats::Floats;
use crate::sizes::Sizes;
use crate::syntax::{Call, Called, Definition, Element, Expression, Func, Kind, Level, SplitKind, TypeCode};

/// An expression. Variables, reductions and names of values have places in the frame of the definition.
#[derive(Debug)]
pub(crate) enum Node {
    Value(Scalar),
    Variable(usize),
    Let(usize, Box<[Node; 2]>),
    Cast(Element, Box<Node>),
    Binary {
        operator: Binary,
        of: Element,
        operands: Box<[Node; 2]>,
    },
    Not(Box<Node>),
    Select(Box<[Node; 3]>),
    /// The value that the first one numbers, or the last.
    Choice(Vec<Node>),
    Func {
        func: usize,
        value: usize,
        arguments: Vec<Node>,
        /// Whether data choose the element.
        is_by_data: bool,
    },
    /// An element of the Func that is defined.
    Own {
        value: usize,
        arguments: Vec<Node>,
    },
    /// A pixel of the parameter of this number.
    Pixel {
        parameter: usize,
        arguments: Vec<Node>,
    },
    /// An entry of the buffer of this number.
    Entry {
        buffer: usize,
        arguments: Vec<Node>,
    },
    Call {
        name: String,
        arguments: Vec<(Node, Element)>,
        result: Element,
    },
    /// Halide leaves the value open.
    Undefined,
}

/// A definition.
#[derive(Debug)]
pub(crate) struct Meaning {
    /// How many places a frame has.
    pub places: usize,
    pub predicate: Option<Node>,
    pub values: Vec<Node>,
    pub arguments: Vec<Node>,
    /// Of each dimension, whether its index is the variable of the Func.
    pub is_pure: Vec<bool>,
    /// The reductions, outermost first: place, least value and number of values.
    pub domain: Vec<(usize, Node, Node)>,
}

/// A Func.
#[derive(Debug)]
pub(crate) struct Defined {
    pub first: Option<Meaning>,
    pub updates: Vec<Meaning>,
    /// Whether its values depend on its one variable only, and are kept: they are computed before there is hardware, if they are numbers
    /// or data choose among them.
    pub is_table: bool,
}

/// All Funcs of a pipeline.
pub(crate) fn meanings(sizes: &Sizes) -> Vec<Defined> {
    let funcs = &sizes.pipeline.funcs;
    let numbers: HashMap<&str, usize> =
        funcs.iter().enumerate().map(|(number, func)| (func.name.as_str(), number)).collect();
    let of = |func: &Func| {
        let meaning =
            |definition: &Definition, is_first: bool| Reader::new(sizes, &numbers, func).meaning(definition, is_first);
        let first = func.definition.as_ref().map(|definition| meaning(definition, true));
        let updates: Vec<Meaning> = func.updates.iter().map(|update| meaning(update, false)).collect();
        Defined { first, updates, is_table: false }
    };
    let mut defined: Vec<Defined> = funcs.iter().map(of).collect();
    let mut known = vec![None; funcs.len()];
    let is_free: Vec<bool> =
        (0..funcs.len()).map(|func| depends_on_variables_only(func, &defined, &mut known)).collect();
    for (number, func) in funcs.iter().enumerate() {
        let is_kept = func.arguments.len() == 1 && func.schedule.compute != Level::Inlined;
        let Defined { first, updates, is_table } = &mut defined[number];
        *is_table = is_kept && is_free[number];
        for meaning in first.iter_mut().chain(updates) {
            let nodes = meaning.values.iter_mut().chain(&mut meaning.arguments).chain(&mut meaning.predicate);
            nodes.for_each(|node| _ = node.marked(&is_free, &mut HashSet::new()));
        }
    }
    defined
}

/// Whether the values of a Func depend on no image, and none of them is updated.
fn depends_on_variables_only(func: usize, defined: &[Defined], known: &mut [Option<bool>]) -> bool {
    if let Some(found) = known[func] {
        return found;
    }
    known[func] = Some(false);
    let Defined { first, updates, .. } = &defined[func];
    let is_free = updates.is_empty()
        && first.as_ref().is_some_and(|first| {
            let mut called = Vec::new();
            let values = first.values.iter().all(|value| value.reads_no_image(&mut called));
            values && called.into_iter().all(|func| depends_on_variables_only(func, defined, known))
        });
    known[func] = Some(is_free);
    is_free
}

impl Node {
    fn reads_no_image(&self, called: &mut Vec<usize>) -> bool {
        let mut all = |nodes: &[Node]| nodes.iter().all(|node| node.reads_no_image(called));
        match self {
            Node::Value(_) | Node::Variable(_) | Node::Undefined => true,
            Node::Let(_, nodes) | Node::Binary { operands: nodes, .. } => all(&nodes[..]),
            Node::Cast(_, of) | Node::Not(of) => of.reads_no_image(called),
            Node::Select(nodes) => all(&nodes[..]),
            Node::Choice(nodes) | Node::Entry { arguments: nodes, .. } => all(nodes),
            Node::Func { func, arguments, .. } => {
                let found = all(arguments);
                called.push(*func);
                found
            }
            Node::Call { arguments, .. } => arguments.iter().all(|(node, _)| node.reads_no_image(called)),
            Node::Own { .. } | Node::Pixel { .. } => false,
        }
    }

    /// Notes of the calls of Funcs in it whether data choose the element, and tells whether it depends on data itself. Names of such values
    /// have the places `named`.
    fn marked(&mut self, is_free: &[bool], named: &mut HashSet<usize>) -> bool {
        let mut any = |nodes: &mut [Node]| nodes.iter_mut().fold(false, |any, node| node.marked(is_free, named) | any);
        match self {
            Node::Value(_) | Node::Undefined => false,
            Node::Variable(place) => named.contains(place),
            Node::Let(place, nodes) => {
                if nodes[0].marked(is_free, named) {
                    named.insert(*place);
                }
                nodes[1].marked(is_free, named)
            }
            Node::Binary { operands: nodes, .. } => any(&mut nodes[..]),
            Node::Cast(_, of) | Node::Not(of) => of.marked(is_free, named),
            Node::Select(nodes) => any(&mut nodes[..]),
            Node::Choice(nodes) => any(nodes),
            Node::Func { func, arguments, is_by_data, .. } => {
                *is_by_data = any(arguments);
                *is_by_data || !is_free[*func]
            }
            Node::Call { arguments, .. } => {
                arguments.iter_mut().fold(false, |any, (node, _)| node.marked(is_free, named) | any)
            }
            Node::Own { arguments, .. } | Node::Pixel { arguments, .. } | Node::Entry { arguments, .. } => {
                any(arguments);
                true
            }
        }
    }

    /// The number that it is.
    pub fn constant(&self) -> Option<f64> {
        match self {
            Node::Value(Scalar::Number(number)) => Some(*number),
            Node::Value(Scalar::Integer(integer)) => Some(*integer as f64),
            Node::Cast(to, of) if to.is_number() => of.constant(),
            _ => None,
        }
    }
}

struct Reader<'a> {
    sizes: &'a Sizes<'a>,
    numbers: &'a HashMap<&'a str, usize>,
    func: &'a Func,
    /// The places of names, with their types.
    scope: HashMap<&'a str, (usize, Element)>,
    places: usize,
}

impl<'a> Reader<'a> {
    fn new(sizes: &'a Sizes<'a>, numbers: &'a HashMap<&'a str, usize>, func: &'a Func) -> Self {
        Self { sizes, numbers, func, scope: HashMap::new(), places: 0 }
    }

    fn name(&mut self, name: &'a str, element: Element) -> usize {
        self.scope.insert(name, (self.places, element));
        self.places += 1;
        self.places - 1
    }

    fn meaning(mut self, definition: &'a Definition, is_first: bool) -> Meaning {
        let func = self.func;
        for argument in &func.arguments {
            self.name(argument, Element::INT32);
        }
        let ranges: Vec<(Node, Node)> =
            definition.domain.iter().map(|each| (self.node(&each.least), self.node(&each.extent))).collect();
        let names = definition.domain.iter().map(|each| self.name(&each.name, Element::INT32));
        let mut domain: Vec<(usize, Node, Node)> = names
            .collect::<Vec<_>>()
            .into_iter()
            .zip(ranges)
            .map(|(place, (least, extent))| (place, least, extent))
            .collect();
        // The first reduction is the innermost one. Sums of numbers depend on the order, which is that of the loops then.
        domain.reverse();
        if func.has_numbers() {
            let order = order_of_loops(definition);
            let place = |name: &usize| {
                order.iter().position(|each| self.scope.get(each).is_some_and(|(place, _)| place == name))
            };
            domain.sort_by_key(|(name, ..)| place(name));
        }
        let is_reduced = |name: &str| definition.domain.iter().any(|each| each.name == name);
        let is_pure = func.arguments.iter().enumerate().map(|(dimension, name)| {
            match definition.arguments.get(dimension).map(|index| &index.kind) {
                Some(Kind::Variable(found)) => found == name && !is_reduced(name),
                _ => is_first,
            }
        });
        let is_pure = is_pure.collect();
        Meaning {
            predicate: definition.predicate.as_ref().map(|predicate| self.node(predicate)),
            values: self.nodes(&definition.values),
            arguments: self.nodes(&definition.arguments),
            is_pure,
            domain,
            places: self.places,
        }
    }

    fn nodes(&mut self, expressions: &'a [Expression]) -> Vec<Node> {
        expressions.iter().map(|each| self.node(each)).collect()
    }

    fn boxed(&mut self, expression: &'a Expression) -> Box<Node> {
        Box::new(self.node(expression))
    }

    /// The type of an expression.
    fn element(&self, expression: &Expression) -> Element {
        let parameters = &self.sizes.pipeline.parameters;
        expression.element(&|name| match self.scope.get(name) {
            Some((_, element)) => Some(*element),
            None => self.parameter(name).map(|parameter| parameters[parameter].element),
        })
    }

    fn restore(&mut self, name: &'a str, before: Option<(usize, Element)>) {
        match before {
            Some(before) => self.scope.insert(name, before),
            None => self.scope.remove(name),
        };
    }

    fn parameter(&self, name: &str) -> Option<usize> {
        self.sizes.pipeline.parameters.iter().position(|parameter| parameter.name == name)
    }

    fn node(&mut self, expression: &'a Expression) -> Node {
        match &expression.kind {
            Kind::Integer(value, _) => Node::Value(Scalar::Integer(*value)),
            Kind::Real(value, _) => Node::Value(Scalar::Number(*value)),
            Kind::Text(_) | Kind::Other(_) => Node::Undefined,
            Kind::Cast(to, of) | Kind::Reinterpret(to, of) => Node::Cast(*to, self.boxed(of)),
            Kind::Binary(operator, parts) => {
                let (of, operands) = (self.element(&parts[0]), [self.node(&parts[0]), self.node(&parts[1])]);
                Node::Binary { operator: *operator, of, operands: Box::new(operands) }
            }
            Kind::Not(of) => Node::Not(self.boxed(of)),
            Kind::Select(parts) => {
                Node::Select(Box::new([self.node(&parts[0]), self.node(&parts[1]), self.node(&parts[2])]))
            }
            Kind::Let(name, parts) => {
                let (value, element) = (self.node(&parts[0]), self.element(&parts[0]));
                let before = self.scope.get(name.as_str()).copied();
                let place = self.name(name, element);
                let body = self.node(&parts[1]);
                self.restore(name, before);
                Node::Let(place, Box::new([value, body]))
            }
            Kind::Variable(name) => match (self.scope.get(name.as_str()), self.sizes.named(name), self.parameter(name))
            {
                (Some((place, _)), ..) => Node::Variable(*place),
                (_, Some(size), _) => Node::Value(Scalar::Integer(size)),
                (.., Some(parameter)) => Node::Pixel { parameter, arguments: vec![Node::Value(Scalar::Integer(0))] },
                _ => Node::Undefined,
            },
            Kind::Call(call) => self.call(call),
        }
    }

    fn call(&mut self, call: &'a Call) -> Node {
        let arguments = self.nodes(&call.arguments);
        match call.called {
            Called::Func if call.name == self.func.name => Node::Own { value: call.value, arguments },
            Called::Func => match self.numbers.get(call.name.as_str()) {
                Some(func) => Node::Func { func: *func, value: call.value, arguments, is_by_data: false },
                None => Node::Undefined,
            },
            Called::Image => {
                let buffer = || self.sizes.pipeline.buffers.iter().position(|buffer| buffer.name == call.name);
                match (self.parameter(&call.name), buffer()) {
                    (Some(parameter), _) => Node::Pixel { parameter, arguments },
                    (None, Some(buffer)) => Node::Entry { buffer, arguments },
                    (None, None) => Node::Undefined,
                }
            }
            Called::Intrinsic | Called::Extern => self.function(call, arguments),
        }
    }

    fn function(&mut self, call: &'a Call, mut arguments: Vec<Node>) -> Node {
        let mut types: Vec<Element> = call.arguments.iter().map(|each| self.element(each)).collect();
        match (call.name.as_str(), &mut arguments[..]) {
            ("undef", _) => return Node::Undefined,
            ("return_second", [_, _]) => return arguments.remove(1),
            ("mux", [_, _, ..]) => return Node::Choice(arguments),
            ("select" | "if_then_else", [_, _] | [_, _, _]) => {
                arguments.push(Node::Undefined);
                let parts = <[Node; 3]>::try_from(arguments.into_iter().take(3).collect::<Vec<_>>());
                return parts.map_or(Node::Undefined, |parts| Node::Select(Box::new(parts)));
            }
            // A weight with a fraction is an integer, too: a part of the greatest one.
            ("lerp", [_, _, weight @ Node::Value(Scalar::Number(_))]) if !call.element.is_number() => {
                types[2] = Element { code: TypeCode::Unsigned, ..call.element };
                let (least, greatest) = limits(types[2]);
                let part = greatest as f32 * weight.constant().unwrap_or_default() as f32;
                *weight = Node::Value(Scalar::Integer((part as i128).clamp(least, greatest) as i64));
            }
            _ => {}
        }
        let arguments = arguments.into_iter().zip(types).collect();
        Node::Call { name: call.name.clone(), arguments, result: call.element }
    }
}

/// The variables of a definition as its loops go through them, outermost first. A variable is where its first part is.
fn order_of_loops(definition: &Definition) -> Vec<&str> {
    let mut parts: HashMap<&str, Vec<&str>> = HashMap::new();
    for split in &definition.splits {
        let (old, outer, inner) = (split.old.as_str(), split.outer.as_str(), split.inner.as_str());
        let mut taken = |name: &'_ str| parts.remove(name);
        match split.kind {
            SplitKind::Split => {
                let whole = taken(old).unwrap_or_else(|| vec![old]);
                parts.extend([(outer, whole.clone()), (inner, whole)]);
            }
            SplitKind::Rename | SplitKind::Purify => {
                let whole = taken(old).unwrap_or_else(|| vec![old]);
                parts.insert(outer, whole);
            }
            SplitKind::Fuse => {
                let around = taken(outer).unwrap_or_else(|| vec![outer]);
                let within = taken(inner).unwrap_or_else(|| vec![inner]);
                parts.insert(old, [around, within].concat());
            }
        }
    }
    let loops = definition.loops.iter().rev();
    loops.flat_map(|each| parts.remove(each.name.as_str()).unwrap_or_else(|| vec![each.name.as_str()])).collect()
}

/// How the numbers of a pipeline are computed.
pub(crate) fn arithmetic(floats: Floats) -> Arithmetic {
    match floats {
        Floats::Exact => Arithmetic::Written,
        Floats::Narrowed(_) => Arithmetic::Narrowed,
    }
}
