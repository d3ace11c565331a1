//! A pipeline as Halide has it: Funcs as they were written, and their schedules.

use std::collections::BTreeSet;
use std::fmt;

use pushmem_float::Format;
use pushmem_nest::{Binary, Span, Type};

#[derive(Debug)]
pub(crate) struct Pipeline {
    /// The format of all its numbers with a fraction in hardware.
    pub format: Format,
    pub funcs: Vec<Func>,
    /// The names of the Funcs that are computed for others.
    pub outputs: Vec<String>,
    /// The names of all Funcs, which wrappers are numbered by.
    pub names: Vec<String>,
    pub parameters: Vec<Parameter>,
    pub buffers: Vec<Constants>,
}

#[derive(Debug)]
pub(crate) struct Func {
    pub name: String,
    pub types: Vec<Element>,
    pub arguments: Vec<String>,
    pub schedule: FuncSchedule,
    /// The first definition; extern functions have none.
    pub definition: Option<Definition>,
    pub updates: Vec<Definition>,
    /// The names of the parameters that have the sizes of its values, if it is an output.
    pub buffers: Vec<String>,
    /// The function that computes it elsewhere, if one does.
    pub extern_name: String,
    /// Where the Func begins in the text.
    pub span: Span,
}

/// A definition of a Func: its values, and at which elements.
#[derive(Debug)]
pub(crate) struct Definition {
    pub predicate: Option<Expression>,
    pub values: Vec<Expression>,
    pub arguments: Vec<Expression>,
    pub domain: Vec<Reduction>,
    pub splits: Vec<Split>,
    /// The loops, innermost first.
    pub loops: Vec<Dimension>,
    /// How many specializations there are.
    pub specializations: usize,
    pub span: Span,
}

/// A variable of a reduction.
#[derive(Debug)]
pub(crate) struct Reduction {
    pub name: String,
    pub least: Expression,
    pub extent: Expression,
}

/// The loops that a `split`, `rename`, `fuse` or a purification of a variable makes.
#[derive(Debug)]
pub(crate) struct Split {
    pub kind: SplitKind,
    pub old: String,
    pub outer: String,
    pub inner: String,
    pub factor: Option<Expression>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitKind {
    Split,
    Rename,
    Fuse,
    Purify,
}

/// A loop of a definition.
#[derive(Debug)]
pub(crate) struct Dimension {
    pub name: String,
    pub execution: Execution,
}

/// How the iterations of a loop are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Execution {
    Serial,
    Unrolled,
    Parallel,
    Vectorized,
    /// On a GPU.
    Elsewhere,
}

/// The schedule of a Func as a whole.
#[derive(Debug)]
pub(crate) struct FuncSchedule {
    /// Where it is computed.
    pub compute: Level,
    pub store: Level,
    pub bounds: Vec<Bound>,
    pub estimates: Vec<Bound>,
    /// The Funcs to read in its place: in which Func, or in all others, and the number of the wrapper.
    pub wrappers: Vec<(String, usize)>,
    /// Its directives for processors, by their names in Halide.
    pub ignored: Vec<&'static str>,
}

/// A loop level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Inlined,
    Root,
    At { func: String, variable: String },
}

/// The size of a dimension.
#[derive(Debug)]
pub(crate) struct Bound {
    pub variable: String,
    pub least: Option<Expression>,
    pub extent: Option<Expression>,
}

/// An image or a number from outside.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub is_buffer: bool,
    pub element: Element,
    pub dimensions: usize,
    /// Of each dimension, the least index and the extent, and what they are estimated to be.
    pub constraints: Vec<Constraint>,
    pub span: Span,
}

/// The bounds of a dimension of an image.
#[derive(Debug, Default)]
pub(crate) struct Constraint {
    pub least: Option<Expression>,
    pub extent: Option<Expression>,
    pub least_estimate: Option<Expression>,
    pub extent_estimate: Option<Expression>,
}

/// A buffer of constants.
#[derive(Debug)]
pub(crate) struct Constants {
    pub name: String,
    pub element: Element,
    /// Of each dimension, the least index and the extent.
    pub shape: Vec<(i64, i64)>,
    /// The entries, innermost dimension first.
    pub entries: Vec<i64>,
    pub span: Span,
}

/// The type of elements and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub code: TypeCode,
    pub bits: u8,
    pub lanes: i32,
    /// The format of numbers with a fraction in hardware: one for all of a pipeline.
    pub format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeCode {
    Int,
    Unsigned,
    Float,
    Handle,
    BFloat,
}

impl Element {
    /// Truth values.
    pub const BOOL: Self = Self { code: TypeCode::Unsigned, bits: 1, lanes: 1, format: Format::Bfloat16 };
    /// Integers of 32 bits with sign, as variables are.
    pub const INT32: Self = Self { code: TypeCode::Int, bits: 32, lanes: 1, format: Format::Bfloat16 };

    /// Whether values are numbers with a fraction.
    pub fn is_number(self) -> bool {
        matches!(self.code, TypeCode::Float | TypeCode::BFloat)
    }

    /// Whether an integer is a value of the type. Those of 64 bits without sign are here by their bits.
    pub fn holds(self, number: i64) -> bool {
        match self.code {
            TypeCode::Int => (1..=64).contains(&self.bits) && matches!(number >> (self.bits - 1), 0 | -1),
            TypeCode::Unsigned => self.bits == 64 || self.bits < 64 && number >> self.bits == 0,
            TypeCode::Float | TypeCode::BFloat | TypeCode::Handle => false,
        }
    }

    /// The value of the type that is nearest to a number with a fraction, as the pipeline has it; nothing for types without such values.
    pub fn nearest(self, number: f64) -> Option<f64> {
        match (self.written(), self.code, self.bits) {
            (Some(format), ..) => Some(format.to_f64(format.from_f64(number))),
            (_, TypeCode::Float, 32) => Some(f64::from(number as f32)),
            (_, TypeCode::Float, 64) => Some(number),
            _ => None,
        }
    }

    /// Whether a number with a fraction is a value of the type.
    pub fn holds_number(self, number: f64) -> bool {
        self.nearest(number).is_some_and(|nearest| nearest == number || number.is_nan())
    }

    /// Numbers of a format.
    pub fn of_format(format: Format) -> Self {
        let code = if format == Format::Bfloat16 { TypeCode::BFloat } else { TypeCode::Float };
        Self { code, bits: 16, lanes: 1, format }
    }

    /// Whether these are numbers of this format, and not those that become ones.
    pub fn is_exactly(self, format: Format) -> bool {
        let Self { code, bits, .. } = Self::of_format(format);
        (self.code, self.bits) == (code, bits)
    }

    /// The format of hardware that these numbers are of as the pipeline has them, if they are of one.
    pub fn written(self) -> Option<Format> {
        Format::ALL.into_iter().find(|format| self.is_exactly(*format))
    }

    /// The type in nests, if there is one. All numbers with a fraction are of one format there.
    pub fn value(self) -> Option<Type> {
        match (self.code, self.bits, self.lanes) {
            (TypeCode::Unsigned, 1, 1) => Some(Type::Bool),
            (TypeCode::Unsigned, 8, 1) => Some(Type::U8),
            (TypeCode::Unsigned, 16, 1) => Some(Type::U16),
            (TypeCode::Unsigned, 32, 1) => Some(Type::U32),
            (TypeCode::Int, 8, 1) => Some(Type::I8),
            (TypeCode::Int, 16, 1) => Some(Type::I16),
            (TypeCode::Int, 32, 1) => Some(Type::I32),
            (TypeCode::BFloat | TypeCode::Float, _, 1) => Some(Type::of_format(self.format)),
            _ => None,
        }
    }
}

impl Element {
    /// The entry of constants that has these bits: of a number with a fraction, the word of the nearest number of the format.
    pub fn word(self, bits: i64) -> i64 {
        let number = match (self.written(), self.code, self.bits) {
            (Some(written), ..) if written == self.format => return bits,
            (Some(written), ..) => written.to_f64(bits as u16),
            (_, TypeCode::Float, 32) => f32::from_bits(bits as u32).into(),
            (_, TypeCode::Float, 64) => f64::from_bits(bits as u64),
            _ => return bits,
        };
        self.format.from_f64(number).into()
    }
}

impl fmt::Display for Element {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = match self.code {
            TypeCode::Int => "int",
            TypeCode::Unsigned if self.bits == 1 => return formatter.write_str("bool"),
            TypeCode::Unsigned => "uint",
            TypeCode::Float => "float",
            TypeCode::Handle => return formatter.write_str("handle"),
            TypeCode::BFloat => "bfloat",
        };
        write!(formatter, "{code}{}", self.bits)?;
        if self.lanes != 1 { write!(formatter, "x{}", self.lanes) } else { Ok(()) }
    }
}

/// An expression, and where it is in the text of the pipeline.
#[derive(Debug)]
pub(crate) struct Expression {
    pub kind: Kind,
    pub span: Span,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Integer(i64, Element),
    Real(f64, Element),
    Text(String),
    Cast(Element, Box<Expression>),
    /// The same bits as another type.
    Reinterpret(Element, Box<Expression>),
    Binary(Binary, Box<[Expression; 2]>),
    Not(Box<Expression>),
    Select(Box<[Expression; 3]>),
    /// `let name = value in body`
    Let(String, Box<[Expression; 2]>),
    Call(Call),
    Variable(String),
    /// An expression that no front end has, by its name.
    Other(&'static str),
}

/// A call of a Func, an image or a function.
#[derive(Debug)]
pub(crate) struct Call {
    pub name: String,
    pub arguments: Vec<Expression>,
    pub called: Called,
    /// Which of the values of a tuple.
    pub value: usize,
    pub element: Element,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    Image,
    Func,
    Intrinsic,
    Extern,
}

/// The variable of a Func without dimensions, which has one element.
const ONLY: &str = "_0";

impl Pipeline {
    /// Gives Funcs without dimensions one, as arrays have at least one.
    pub fn give_dimensions(&mut self) {
        let is_single = |func: &&Func| func.arguments.is_empty();
        let single: BTreeSet<String> = self.funcs.iter().filter(is_single).map(|func| func.name.clone()).collect();
        for func in &mut self.funcs {
            let name = func.name.clone();
            func.definition.iter_mut().chain(&mut func.updates).for_each(|definition| definition.index(&name, &single));
            if single.contains(&name) {
                func.arguments.push(ONLY.to_owned());
                let [least, extent] = [0, 1].map(|number| Some(Expression::new(Kind::Integer(number, Element::INT32))));
                func.schedule.bounds.push(Bound { variable: ONLY.to_owned(), least, extent });
            }
        }
    }
}

impl Definition {
    /// Indexes elements of these Funcs, in a definition of the Func of a name: its own by the variable.
    fn index(&mut self, name: &str, single: &BTreeSet<String>) {
        let index = |of: &str, span| {
            let kind = if of == name { Kind::Variable(ONLY.to_owned()) } else { Kind::Integer(0, Element::INT32) };
            Expression { kind, span }
        };
        let mut index_call = |call: &mut Call| {
            if call.called == Called::Func && single.contains(&call.name) {
                call.arguments.push(index(&call.name, Span::default()));
            }
        };
        let domain = self.domain.iter_mut().flat_map(|of| [&mut of.least, &mut of.extent]);
        let own = self.predicate.iter_mut().chain(&mut self.values).chain(&mut self.arguments);
        own.chain(domain).for_each(|part| part.change_calls(&mut index_call));
        if single.contains(name) {
            self.arguments.push(index(name, self.span));
        }
    }
}

impl Func {
    /// Whether values are numbers with a fraction, whose sums depend on their order.
    pub fn has_numbers(&self) -> bool {
        self.types.iter().any(|element| element.is_number())
    }
}

impl Expression {
    pub fn new(kind: Kind) -> Self {
        Self { kind, span: Span::default() }
    }

    /// The expressions that it is computed of, in the order of the text.
    pub fn operands(&self) -> &[Expression] {
        match &self.kind {
            Kind::Integer(..) | Kind::Real(..) | Kind::Text(_) | Kind::Variable(_) | Kind::Other(_) => &[],
            Kind::Cast(_, of) | Kind::Reinterpret(_, of) | Kind::Not(of) => std::slice::from_ref(of),
            Kind::Binary(_, parts) | Kind::Let(_, parts) => &parts[..],
            Kind::Select(parts) => &parts[..],
            Kind::Call(call) => &call.arguments,
        }
    }

    /// The same, to change them.
    pub fn operands_mut(&mut self) -> &mut [Expression] {
        match &mut self.kind {
            Kind::Integer(..) | Kind::Real(..) | Kind::Text(_) | Kind::Variable(_) | Kind::Other(_) => &mut [],
            Kind::Cast(_, of) | Kind::Reinterpret(_, of) | Kind::Not(of) => std::slice::from_mut(of),
            Kind::Binary(_, parts) | Kind::Let(_, parts) => &mut parts[..],
            Kind::Select(parts) => &mut parts[..],
            Kind::Call(call) => &mut call.arguments,
        }
    }

    /// The expression and all its parts, each before its operands.
    pub fn parts(&self) -> Vec<&Expression> {
        let mut parts = Vec::new();
        self.add_parts(&mut parts);
        parts
    }

    fn add_parts<'a>(&'a self, parts: &mut Vec<&'a Expression>) {
        parts.push(self);
        self.operands().iter().for_each(|operand| operand.add_parts(parts));
    }

    /// Changes the calls in the expression, and in their arguments.
    fn change_calls(&mut self, change: &mut impl FnMut(&mut Call)) {
        if let Kind::Call(call) = &mut self.kind {
            change(call);
        }
        self.operands_mut().iter_mut().for_each(|operand| operand.change_calls(change));
    }

    /// The type of the value. Names have those that `named` gives; the others are integers.
    pub fn element(&self, named: &dyn Fn(&str) -> Option<Element>) -> Element {
        match &self.kind {
            Kind::Integer(_, element)
            | Kind::Real(_, element)
            | Kind::Cast(element, _)
            | Kind::Reinterpret(element, _) => *element,
            Kind::Binary(operator, operands) if !operator.is_comparison() => operands[0].element(named),
            Kind::Select(parts) => parts[1].element(named),
            Kind::Let(name, parts) => {
                let value = parts[0].element(named);
                parts[1].element(&|other| if other == name { Some(value) } else { named(other) })
            }
            Kind::Call(call) => call.element,
            Kind::Variable(name) => named(name).unwrap_or(Element::INT32),
            Kind::Binary(..) | Kind::Not(_) | Kind::Text(_) | Kind::Other(_) => Element::BOOL,
        }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<i64> {
        match &self.kind {
            Kind::Integer(number, _) => Some(*number),
            Kind::Cast(_, of) => of.number(),
            _ => None,
        }
    }
}
