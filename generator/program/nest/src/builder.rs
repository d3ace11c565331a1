//! Building programs in Rust.

use std::collections::HashMap;
use std::fmt::{Display, Formatter, Write};

use pushmem_files::{Code, Diagnostic};

use crate::lexer::{Token, tokens};
use crate::parser;
use crate::program::{Array, ArrayKind, Policy, Table};
use crate::resolve::Checked;
use crate::source::{Language, PlacedText, SourceText, Span};
use crate::syntax::{Declared, Header, Name, NodeSyntax, Places, ProgramSyntax};
use crate::types::Type;

/// Builds a program from loops, operations, loads and stores.
///
/// The program is checked as any other; problems point into a text of its declarations, loops and statements.
///
/// ```
/// use pushmem_nest::{ProgramBuilder, Type};
///
/// let mut program = ProgramBuilder::new("brighten_blur");
/// program.add_input("input", Type::U16, &[64, 64]);
/// program.add_buffer("brighten", Type::U16, &[64, 64]);
/// program.add_output("blur", Type::U16, &[63, 63]);
/// program.define_function("brighten_kernel", &["a"], "a * 2");
/// program.define_function("blur_kernel", &["a", "b", "c", "d"], "(a + b + c + d) / 4");
///
/// let x = program.add_loop("y", 0, 64).add_loop("x", 0, 64);
/// let operation = x.add_op("double");
/// operation.add_function("brighten_kernel").add_load("input", &["x", "y"]).add_store("brighten", &["x", "y"]);
///
/// let x = program.add_loop("y", 0, 63).add_loop("x", 0, 63);
/// let operation = x.add_op("average").add_function("blur_kernel");
/// operation.add_load("brighten", &["x", "y"]).add_load("brighten", &["x + 1", "y"]);
/// operation.add_load("brighten", &["x", "y + 1"]).add_load("brighten", &["x + 1", "y + 1"]);
/// operation.add_store("blur", &["x", "y"]);
///
/// let program = program.build().unwrap().program;
/// assert_eq!(program.operations()[1].1.name, "average");
/// ```
#[derive(Clone, Debug)]
pub struct ProgramBuilder {
    name: String,
    schedule: Option<Policy>,
    arrays: Vec<Declared<'static, Array>>,
    tables: Vec<Declared<'static, Table>>,
    /// The names of arrays and tables, a line each.
    declared: String,
    functions: HashMap<String, Function>,
    nest: LoopBuilder,
    /// How many loops at the start [`Self::repeat`] leaves alone.
    once: usize,
}

#[derive(Clone, Debug)]
struct Function {
    parameters: Vec<String>,
    /// Named values, each with those before it.
    values: Vec<(String, String)>,
    body: String,
}

/// Builds what is in a loop.
#[derive(Clone, Debug, Default)]
pub struct LoopBuilder {
    variable: String,
    min: i64,
    extent: i64,
    unroll: Option<i64>,
    children: Vec<Child>,
}

#[derive(Clone, Debug)]
enum Child {
    Loop(LoopBuilder),
    Operation(OperationBuilder),
}

/// Builds an operation.
#[derive(Clone, Debug, Default)]
pub struct OperationBuilder {
    name: String,
    function: Option<String>,
    loads: Vec<Element>,
    /// The element that is stored, and the operator.
    store: Option<(Element, &'static str)>,
}

/// An element of an array, and the value in its place outside of the array.
#[derive(Clone, Debug)]
struct Element {
    array: String,
    indices: Vec<String>,
    outside: Option<i64>,
}

impl Element {
    fn of(array: &str, indices: &[&str], outside: Option<i64>) -> Self {
        let indices = indices.iter().map(|&index| index.to_owned()).collect();
        Element { array: array.to_owned(), indices, outside }
    }
}

impl Display for Element {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Element { array, indices, outside } = self;
        let indices = indices.join(", ");
        match outside {
            Some(value) => write!(formatter, "outside({array}[{indices}], {value})"),
            None => write!(formatter, "{array}[{indices}]"),
        }
    }
}

impl ProgramBuilder {
    /// An empty program.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            schedule: None,
            arrays: Vec::new(),
            tables: Vec::new(),
            declared: String::new(),
            functions: HashMap::new(),
            nest: LoopBuilder::default(),
            once: 0,
        }
    }

    /// Says how to schedule the program.
    pub fn set_schedule(&mut self, schedule: Policy) -> &mut Self {
        self.schedule = Some(schedule);
        self
    }

    /// Declares an array whose least indices are `min`, or 0 where there are none.
    pub fn add_array(&mut self, kind: ArrayKind, name: &str, element: Type, shape: &[i64], min: &[i64]) -> &mut Self {
        let min = if min.is_empty() { vec![0; shape.len()] } else { min.to_vec() };
        let span = add_line(&mut self.declared, name);
        let array = Array::buffer(name.to_owned(), element, min, shape.to_vec(), span);
        self.arrays.push(Declared::new(Array { kind, ..array }, span));
        self
    }

    /// Declares an input.
    pub fn add_input(&mut self, name: &str, element: Type, shape: &[i64]) -> &mut Self {
        self.add_array(ArrayKind::Input, name, element, shape, &[])
    }

    /// Declares an output.
    pub fn add_output(&mut self, name: &str, element: Type, shape: &[i64]) -> &mut Self {
        self.add_array(ArrayKind::Output, name, element, shape, &[])
    }

    /// Declares a buffer.
    pub fn add_buffer(&mut self, name: &str, element: Type, shape: &[i64]) -> &mut Self {
        self.add_array(ArrayKind::Buffer, name, element, shape, &[])
    }

    /// Declares a table of constants.
    pub fn add_table(&mut self, name: &str, element: Type, values: &[i64]) -> &mut Self {
        let span = add_line(&mut self.declared, name);
        let (name, values) = (name.to_owned(), values.to_vec());
        self.tables.push(Declared::new(Table { name, element, values, function: None, span }, span));
        self
    }

    /// Defines what operations compute: an expression of parameters, which stand for the loads in their order. Loop
    /// variables and tables can be used, too.
    pub fn define_function(&mut self, name: &str, parameters: &[&str], body: &str) -> &mut Self {
        self.define_function_of_values(name, parameters, Vec::new(), body)
    }

    /// Defines what operations compute as [`Self::define_function`], by named values: each of parameters and the values before it.
    pub fn define_function_of_values(
        &mut self,
        name: &str,
        parameters: &[&str],
        values: Vec<(String, String)>,
        body: &str,
    ) -> &mut Self {
        let parameters = parameters.iter().map(|&parameter| parameter.to_owned()).collect();
        self.functions.insert(name.to_owned(), Function { parameters, values, body: body.to_owned() });
        self
    }

    /// Adds a loop that runs `extent` times from `min` on, and returns it.
    pub fn add_loop(&mut self, variable: &str, min: i64, extent: i64) -> &mut LoopBuilder {
        self.nest.add_loop(variable, min, extent)
    }

    /// Lets all loops so far be executed once, before what [`Self::repeat`] is called for later.
    pub fn keep_once(&mut self) -> &mut Self {
        self.once = self.nest.children.len();
        self
    }

    /// Executes all loops so far, but those of [`Self::keep_once`], `extent` times, in a loop around them. Of some arrays each time has elements of its own: they have one more
    /// dimension, the outermost, with the variable as its index.
    pub fn repeat(&mut self, variable: &str, extent: i64, is_own: impl Fn(&str) -> bool) -> &mut Self {
        for array in self.arrays.iter_mut().map(|declared| &mut declared.what).filter(|array| is_own(&array.name)) {
            array.shape.push(extent);
            array.min.push(0);
        }
        self.nest.add_index(variable, &is_own);
        let repeated = self.nest.children.split_off(self.once);
        self.add_loop(variable, 0, extent).children = repeated;
        self
    }

    /// The program.
    ///
    /// # Errors
    /// As [`Program::read`](crate::Program::read), and if an operation has no store or function, or another number of loads than its function
    /// has parameters.
    pub fn build(&self) -> Result<Checked, Diagnostic> {
        let (mut text, mut operations) = (self.declared.clone(), Vec::new());
        let places = Places::one(add_line(&mut text, &self.name));
        let nest = self.nodes(&self.nest, &mut text, &mut operations)?;
        let source = SourceText::new(&format!("{} (built)", self.name), &text, Language::Nest);
        let Self { name, schedule, arrays, tables, .. } = self.clone();
        let syntax = ProgramSyntax { name, schedule, arrays, tables, nest, places };
        let mut checked = syntax.resolve(source).map_err(|problem| problem.or_code(Code::Program))?;
        for (operation, built) in checked.program.operations_mut().into_iter().zip(operations) {
            operation.name = built.name.clone();
            operation.function = built.function.clone();
        }
        Ok(checked)
    }

    fn nodes<'a>(
        &self,
        parent: &'a LoopBuilder,
        text: &mut String,
        operations: &mut Vec<&'a OperationBuilder>,
    ) -> Result<Vec<NodeSyntax>, Diagnostic> {
        let mut nodes = Vec::new();
        for child in &parent.children {
            nodes.push(match child {
                Child::Loop(inner) => {
                    let LoopBuilder { variable, min, extent, unroll, .. } = inner;
                    let end = min.saturating_add(*extent);
                    let span = add_line(text, &format!("for {variable} in {min}..{end}"));
                    let header = Header::new(variable, *min..end, *unroll, span);
                    NodeSyntax::Loop(header, self.nodes(inner, text, operations)?)
                }
                Child::Operation(operation) => {
                    if operations.iter().any(|other| other.name == operation.name) {
                        return Err(Diagnostic::new(format!("two operations are named `{}`", operation.name)));
                    }
                    operations.push(operation);
                    let (named, statement) = self.statement(operation)?;
                    let mut values = Vec::new();
                    let mut add_value = |(name, value): &(String, String)| {
                        let span = add_line(text, value);
                        let syntax = parser::value(&PlacedText::new(value, text, span), &[], &values)?;
                        values.push((Name { text: name.clone(), span }, syntax));
                        Ok(())
                    };
                    let added = named.iter().try_for_each(&mut add_value);
                    let span = add_line(text, &statement);
                    let placed = PlacedText::new(&statement, text, span);
                    let statement = added.and_then(|()| parser::statement(&placed, &[], values, None));
                    statement.map_or_else(NodeSyntax::Wrong, NodeSyntax::Statement)
                }
            });
        }
        Ok(nodes)
    }

    /// The named values of an operation, and its statement.
    fn statement(&self, operation: &OperationBuilder) -> Result<(Vec<(String, String)>, String), Diagnostic> {
        let refuse = |reason: String| Diagnostic::new(format!("the operation `{}` {reason}", operation.name));
        let Some((stored, operator)) = &operation.store else {
            return Err(refuse("has no store".to_owned()).with_help("call `add_store` or `add_reduction`"));
        };
        let Some(name) = &operation.function else {
            return Err(refuse("has no function".to_owned()).with_help("call `add_function`"));
        };
        let Some(function) = self.functions.get(name) else {
            return Err(
                refuse(format!("uses the function `{name}`, which is not defined")).with_help("call `define_function`")
            );
        };
        if function.parameters.len() != operation.loads.len() {
            return Err(refuse(format!(
                "has {} loads, but its function `{name}` has {} parameters",
                operation.loads.len(),
                function.parameters.len()
            )));
        }
        let loads: Vec<String> = operation.loads.iter().map(Element::to_string).collect();
        let of_loads = |text: &str| substitute(text, &function.parameters, &loads);
        let value = |(name, value): &(String, String)| Ok((name.clone(), of_loads(value)?));
        let values = function.values.iter().map(value).collect::<Result<_, Diagnostic>>()?;
        Ok((values, format!("{stored} {operator} {}", of_loads(&function.body)?)))
    }
}

fn add_line(text: &mut String, line: &str) -> Span {
    let start = text.len();
    text.push_str(line);
    let end = text.len();
    text.push('\n');
    Span { start, end }
}

/// The text with arguments in the place of parameters.
fn substitute(body: &str, parameters: &[String], arguments: &[String]) -> Result<String, Diagnostic> {
    let placed = PlacedText::new(body, body, Span { start: 0, end: body.len() });
    let tokens = tokens(&placed).map_err(|problem| {
        Diagnostic::new(problem.message).at("function", body, problem.span.start..problem.span.end)
    })?;
    let mut text = String::new();
    let mut copied = 0;
    for (token, span) in tokens {
        let Token::Name(name) = token else {
            continue;
        };
        if let Some(place) = parameters.iter().position(|parameter| *parameter == name) {
            let written = write!(text, "{}{}", &body[copied..span.start], arguments[place]);
            assert!(written.is_ok(), "writing to a string does not fail");
            copied = span.end;
        }
    }
    Ok(text + &body[copied..])
}

impl LoopBuilder {
    /// Adds an index to the elements of some arrays.
    fn add_index(&mut self, variable: &str, is_own: &impl Fn(&str) -> bool) {
        for child in &mut self.children {
            match child {
                Child::Loop(inner) => inner.add_index(variable, is_own),
                Child::Operation(OperationBuilder { loads, store, .. }) => {
                    let elements = loads.iter_mut().chain(store.as_mut().map(|(stored, _)| stored));
                    let own = elements.filter(|element| is_own(&element.array));
                    own.for_each(|element| element.indices.push(variable.to_owned()));
                }
            }
        }
    }

    /// Adds a loop that runs `extent` times from `min` on, and returns it.
    pub fn add_loop(&mut self, variable: &str, min: i64, extent: i64) -> &mut LoopBuilder {
        let inner = LoopBuilder { variable: variable.to_owned(), min, extent, ..LoopBuilder::default() };
        self.children.push(Child::Loop(inner));
        match self.children.last_mut() {
            Some(Child::Loop(inner)) => inner,
            _ => unreachable!("a loop was just added"),
        }
    }

    /// Executes this many successive iterations at once.
    pub fn unroll(&mut self, factor: i64) -> &mut Self {
        self.unroll = Some(factor);
        self
    }

    /// Adds an operation and returns it. Names of operations are unique in the program.
    pub fn add_op(&mut self, name: &str) -> &mut OperationBuilder {
        let operation = OperationBuilder { name: name.to_owned(), ..OperationBuilder::default() };
        self.children.push(Child::Operation(operation));
        match self.children.last_mut() {
            Some(Child::Operation(operation)) => operation,
            _ => unreachable!("an operation was just added"),
        }
    }
}

impl OperationBuilder {
    /// Says which function computes the value from the loads. Operations of one function may share hardware.
    pub fn add_function(&mut self, name: &str) -> &mut Self {
        self.function = Some(name.to_owned());
        self
    }

    /// Adds a load: the next parameter of the function.
    pub fn add_load(&mut self, array: &str, indices: &[&str]) -> &mut Self {
        self.loads.push(Element::of(array, indices, None));
        self
    }

    /// Adds a load with a value for indices outside of the array.
    pub fn add_load_or(&mut self, array: &str, indices: &[&str], outside: i64) -> &mut Self {
        self.loads.push(Element::of(array, indices, Some(outside)));
        self
    }

    /// Says where the value is stored.
    pub fn add_store(&mut self, array: &str, indices: &[&str]) -> &mut Self {
        self.store = Some((Element::of(array, indices, None), "="));
        self
    }

    /// Says to which element the value is added.
    pub fn add_reduction(&mut self, array: &str, indices: &[&str]) -> &mut Self {
        self.store = Some((Element::of(array, indices, None), "+="));
        self
    }
}
