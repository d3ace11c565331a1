//! Reading a program, and checking what does not need the whole of it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::Path;

use itertools::Itertools;
use pushmem_affine::{LARGEST_BOUND, MOST_ITERATIONS};
use pushmem_files::{Code, Diagnostic, Document, FieldPath};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::bound::constant;
use crate::check::check;
use crate::program::{Array, ArrayKind, Level, Loop, Node, Operation, Policy, Program, Share, Table, ranges};
use crate::reductions::recognize;
use crate::resolve::{Scope, operation};
use crate::source::{Language, PlacedText, Problem, SourceText, Span};
use crate::syntax::{self, Name, RESERVED, Syntax};
use crate::types::Type;

/// The most elements of an array: 2^26, as those of an image.
pub const LARGEST_ARRAY: i64 = pushmem_images::LARGEST_IMAGE as i64;

/// The most elements of all arrays together: 2^32. A raster scan is compiled without memory for them.
pub const LARGEST_PROGRAM: i64 = 1 << 32;

/// The most elements of all arrays together of a program that is run: 2^28.
pub const LARGEST_RUN: i64 = 1 << 28;

/// The most entries of a table: 2^16.
pub const LARGEST_TABLE: usize = 1 << 16;

/// The most dimensions of an array.
pub const MOST_DIMENSIONS: usize = 8;

/// The most operations of a program.
pub const MOST_OPERATIONS: usize = 4096;

/// The most problems that are reported at once.
const MOST_PROBLEMS: usize = 20;

/// A program that passed all checks.
#[derive(Debug)]
pub struct Checked {
    /// The program.
    pub program: Program,
    /// Warnings about text that is allowed, but probably a mistake.
    pub warnings: Vec<Diagnostic>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramFile {
    name: String,
    #[serde(default)]
    schedule: Option<Policy>,
    #[serde(default)]
    inputs: Ordered<ArrayFile>,
    outputs: Ordered<ArrayFile>,
    #[serde(default)]
    buffers: Ordered<ArrayFile>,
    #[serde(default)]
    tables: Ordered<TableFile>,
    nest: Nodes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArrayFile {
    #[serde(rename = "type")]
    type_name: String,
    shape: Vec<i64>,
    #[serde(default)]
    min: Option<Vec<i64>>,
    #[serde(default)]
    level: Option<Level>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    #[serde(rename = "type")]
    type_name: String,
    values: Vec<Entry>,
}

/// An entry of a table.
#[derive(Clone, Copy)]
enum Entry {
    Integer(i64),
    /// A number with a fraction, or beyond integers.
    Number(f64),
}

impl Entry {
    /// The value of this type, if the type has it.
    fn value(self, element: Type) -> Option<i64> {
        let number = match self {
            Entry::Integer(number) if element.format().is_none() => return element.holds(number).then_some(number),
            Entry::Integer(number) => number as f64,
            Entry::Number(number) => number,
        };
        let format = element.format()?;
        let word = format.from_f64(number);
        format.is_finite(word).then_some(word.into())
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Integer(number) => number.fmt(formatter),
            Entry::Number(number) => number.fmt(formatter),
        }
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;
        impl Visitor<'_> for EntryVisitor {
            type Value = Entry;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Entry, E> {
                Ok(Entry::Integer(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Entry, E> {
                Ok(i64::try_from(number).map_or(Entry::Number(number as f64), Entry::Integer))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Entry, E> {
                Ok(Entry::Number(number))
            }
        }
        deserializer.deserialize_any(EntryVisitor)
    }
}

/// A mapping in the order of the file.
struct Ordered<T>(Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Ordered<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a mapping from names to their contents")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(Entries(std::marker::PhantomData))
    }
}

/// A statement, or loop headers with what is below them. A statement with something to say about it looks like a header.
enum NodeFile {
    Statement(String),
    Loops(Vec<(String, Body)>),
}

impl<'de> Deserialize<'de> for NodeFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodeVisitor;
        impl<'de> Visitor<'de> for NodeVisitor {
            type Value = NodeFile;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a statement or a loop")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<NodeFile, E> {
                Ok(NodeFile::Statement(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NodeFile, A::Error> {
                let mut loops = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    loops.push(entry);
                }
                Ok(NodeFile::Loops(loops))
            }
        }
        deserializer.deserialize_any(NodeVisitor)
    }
}

/// The name of a list of loops and statements in messages.
const NODES: &str = "a list of loops and statements, each after a dash";

/// Loops and statements.
struct Nodes(Vec<NodeFile>);

impl<'de> Deserialize<'de> for Nodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodesVisitor;
        impl<'de> Visitor<'de> for NodesVisitor {
            type Value = Nodes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(NODES)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Nodes, A::Error> {
                let mut nodes = Vec::new();
                while let Some(node) = sequence.next_element()? {
                    nodes.push(node);
                }
                Ok(Nodes(nodes))
            }
        }
        deserializer.deserialize_any(NodesVisitor)
    }
}

/// The attributes of a statement.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attributes {
    /// The compute unit that it shares.
    #[serde(default)]
    share: Option<String>,
    /// The values that it names, each computed with those before it.
    #[serde(default, rename = "where")]
    values: Ordered<ExpressionFile>,
}

/// An expression: text, or a scalar of YAML that is one in the language, too.
struct ExpressionFile(String);

impl<'de> Deserialize<'de> for ExpressionFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ExpressionVisitor;
        impl Visitor<'_> for ExpressionVisitor {
            type Value = ExpressionFile;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an expression")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ExpressionFile, E> {
                Ok(ExpressionFile(text.to_owned()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<ExpressionFile, E> {
                Ok(ExpressionFile(number.to_string()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<ExpressionFile, E> {
                Ok(ExpressionFile(number.to_string()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<ExpressionFile, E> {
                // The language has a point, and no exponents.
                let text = number.to_string();
                Ok(ExpressionFile(if text.contains('.') { text } else { format!("{text}.0") }))
            }

            fn visit_bool<E: Error>(self, truth: bool) -> Result<ExpressionFile, E> {
                Ok(ExpressionFile(truth.to_string()))
            }
        }
        deserializer.deserialize_any(ExpressionVisitor)
    }
}

/// The value below a loop header.
enum Body {
    Nodes(Vec<NodeFile>),
    /// The attributes of a statement.
    Attributes(Attributes),
    /// Text, which is not allowed. But mostly then the header is none: a colon and a space in a statement make it a mapping.
    Text(String),
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BodyVisitor;
        impl<'de> Visitor<'de> for BodyVisitor {
            type Value = Body;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(NODES)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Body, A::Error> {
                Nodes::deserialize(SeqAccessDeserializer::new(sequence)).map(|Nodes(nodes)| Body::Nodes(nodes))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Body, A::Error> {
                Attributes::deserialize(MapAccessDeserializer::new(map)).map(Body::Attributes)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Body, E> {
                Ok(Body::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(BodyVisitor)
    }
}

impl Program {
    /// Reads a program from a file and checks it.
    ///
    /// # Errors
    /// Located messages, the first with the others as related ones: when the file cannot be read or is not YAML, when a
    /// statement is not of the language or cannot be mapped to hardware, when names, types or numbers of indices are
    /// wrong, when indices lie outside, and when elements are read that were never written.
    pub fn read(path: &Path) -> Result<Checked, Diagnostic> {
        Self::from_document(&Document::read(path)?)
    }

    /// Reads a program from a document, as [`Program::read`].
    ///
    /// # Errors
    /// As [`Program::read`].
    pub fn from_document(document: &Document) -> Result<Checked, Diagnostic> {
        let (program, problems, warnings) = read_unchecked(document)?;
        checked(program, problems, warnings).map_err(|problem| problem.or_code(Code::Program))
    }
}

/// Checks what needs the whole of a program.
pub(crate) fn checked(
    program: Program,
    mut problems: Vec<Problem>,
    mut warnings: Vec<Problem>,
) -> Result<Checked, Diagnostic> {
    if problems.is_empty() {
        check(&program, &mut problems, &mut warnings);
    }
    problems.truncate(MOST_PROBLEMS);
    warnings.truncate(MOST_PROBLEMS);
    let located =
        |list: Vec<Problem>| list.into_iter().map(|problem| program.source.locate(problem)).collect::<Vec<_>>();
    let (mut problems, warnings) = (located(problems), located(warnings));
    if problems.is_empty() {
        let warnings = warnings.into_iter().map(Diagnostic::as_warning).collect();
        return Ok(Checked { program, warnings });
    }
    let others = problems.split_off(1);
    Err(problems.remove(0).with_related(others))
}

/// Reads a program with what is wrong and what is probably not meant, except for what needs the whole program to be found.
pub(crate) fn read_unchecked(document: &Document) -> Result<(Program, Vec<Problem>, Vec<Problem>), Diagnostic> {
    let file: ProgramFile = document.deserialize()?;
    let source = SourceText::new(document.name(), document.text(), Language::Nest);
    let mut reader =
        Reader { document, problems: Vec::new(), warnings: Vec::new(), operations: 0, has_unknown_type: false };
    let program = reader.program(&file, source);
    Ok((program, reader.problems, reader.warnings))
}

struct Reader<'a> {
    document: &'a Document,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    operations: usize,
    /// Whether an array or a table has a type that does not exist. Then nothing can be said of what is done with it.
    has_unknown_type: bool,
}

impl Reader<'_> {
    fn program(&mut self, file: &ProgramFile, source: SourceText) -> Program {
        let root = FieldPath::root();
        let mut arrays = Vec::new();
        for (section, kind, declared) in [
            ("inputs", ArrayKind::Input, &file.inputs),
            ("outputs", ArrayKind::Output, &file.outputs),
            ("buffers", ArrayKind::Buffer, &file.buffers),
        ] {
            for (name, array) in &declared.0 {
                let path = root.key(section).key(name);
                if array.level.is_some() && file.schedule == Some(Policy::Stencil) {
                    let span = self.value_span(&path.key("level"));
                    let problem = Problem::new(span, "an image pipeline keeps no array, so none has a level");
                    self.problems.push(problem.with_help("remove `level`, or `schedule: stencil`"));
                }
                arrays.push(self.array(name, array, kind, &path));
            }
        }
        self.problems.extend(too_many_elements(&arrays, LARGEST_PROGRAM));
        let tables = file.tables.0.iter().map(|(name, table)| self.table(name, table, &root.key("tables").key(name)));
        let tables: Vec<Table> = tables.collect();
        self.check_names(&file.name, &arrays, &tables);
        if file.outputs.0.is_empty() {
            let span = self.value_span(&root.key("outputs"));
            self.problems.push(Problem::new(span, "a program needs an output"));
        }
        let mut scope = NestScope { arrays: &arrays, tables: &tables, loops: Vec::new() };
        let nest = match self.has_unknown_type {
            true => Vec::new(),
            false => self.nodes(&file.nest.0, &root.key("nest"), &mut scope),
        };
        if nest.is_empty() && self.problems.is_empty() {
            let span = self.value_span(&root.key("nest"));
            self.problems.push(Problem::new(span, "the program does nothing"));
        }
        let mut program = Program { name: file.name.clone(), schedule: file.schedule, arrays, tables, nest, source };
        program.mark_random_access();
        add_tables_of_functions(&mut program);
        number_operations(&mut program);
        recognize(&mut program);
        program
    }

    fn array(&mut self, name: &str, file: &ArrayFile, kind: ArrayKind, path: &FieldPath) -> Array {
        let span = self.key_span(path);
        let element = self.element(&file.type_name, path);
        let shape_path = path.key("shape");
        if file.shape.is_empty() || file.shape.len() > MOST_DIMENSIONS {
            let message = format!("an array has 1 to {MOST_DIMENSIONS} dimensions, not {}", file.shape.len());
            self.refuse(&shape_path, message);
        }
        let wrong = file.shape.iter().position(|&extent| !(1..=LARGEST_ARRAY).contains(&extent));
        let size = file.shape.iter().try_fold(1_i64, |size, &extent| size.checked_mul(extent));
        if let Some(dimension) = wrong {
            let message = format!("{} elements in dimension {dimension}", file.shape[dimension]);
            let problem = Problem::new(self.value_span(&shape_path.index(dimension)), message);
            self.problems.push(problem.with_help(format!("every dimension has 1 to {LARGEST_ARRAY} elements")));
        } else if size.is_none_or(|size| size > LARGEST_ARRAY) {
            self.refuse(&shape_path, format!("an array has at most {LARGEST_ARRAY} elements"));
        }
        let mut min = file.min.clone().unwrap_or_else(|| vec![0; file.shape.len()]);
        if min.len() != file.shape.len() {
            let message = format!("{} least indices for {} dimensions", min.len(), file.shape.len());
            self.refuse(&path.key("min"), message);
            min.resize(file.shape.len(), 0);
        }
        if let Some(dimension) = min.iter().position(|min| min.abs() > LARGEST_BOUND) {
            let path = path.key("min").index(dimension);
            self.refuse(&path, format!("indices are from -{LARGEST_BOUND} to {LARGEST_BOUND}"));
        }
        let (name, shape, level) = (name.to_owned(), file.shape.clone(), file.level);
        Array { name, kind, element, shape, min, level, random_access: false, span }
    }

    fn table(&mut self, name: &str, file: &TableFile, path: &FieldPath) -> Table {
        let element = self.element(&file.type_name, path);
        let values_path = path.key("values");
        if file.values.is_empty() || file.values.len() > LARGEST_TABLE {
            self.refuse(&values_path, format!("a table has 1 to {LARGEST_TABLE} entries, not {}", file.values.len()));
        }
        let values = file.values.iter().map(|entry| entry.value(element));
        if let Some(place) = values.clone().position(|value| !self.has_unknown_type && value.is_none()) {
            let message = format!("{} does not fit {}", file.values[place], element.name());
            let problem = Problem::new(self.value_span(&values_path.index(place)), message);
            self.problems.push(problem.with_help(match element.format() {
                Some(format) => format!(
                    "the largest number of {} is {}",
                    format.name(),
                    format.to_decimal(format.largest()).unwrap_or_default()
                ),
                None => format!("it holds {} to {}", element.min(), element.max()),
            }));
        }
        let values = values.map(Option::unwrap_or_default).collect();
        Table { name: name.to_owned(), element, values, function: None, span: self.key_span(path) }
    }

    /// The type of the elements of an array or a table; some type where there is none of this name.
    fn element(&mut self, name: &str, path: &FieldPath) -> Type {
        let span = self.value_span(&path.key("type"));
        let problem = match Type::from_name(name) {
            Some(element) if Type::ELEMENTS.contains(&element) => return element,
            Some(_) => Problem::new(span, format!("{name} exists only within expressions"))
                .with_help("arrays and tables hold u8, i8, u16, i16, u32, i32, bf16 or f16"),
            None => {
                self.has_unknown_type = true;
                Problem::new(span, format!("unknown type `{}`", name.escape_debug()))
                    .with_help(Type::instead_of(name, Type::ELEMENTS))
            }
        };
        self.problems.push(problem);
        Type::from_name(name).unwrap_or(Type::U16)
    }

    fn check_names(&mut self, program: &str, arrays: &[Array], tables: &[Table]) {
        if !is_name(program) {
            let message = format!("`{}` cannot be the name of a program", program.escape_debug());
            let problem = Problem::new(self.value_span(&FieldPath::root().key("name")), message);
            self.problems.push(problem.with_help(NAMES));
        }
        let declared = arrays.iter().map(|array| (&array.name, array.span));
        let declared = declared.chain(tables.iter().map(|table| (&table.name, table.span)));
        let mut known: Vec<&str> = Vec::new();
        for (name, span) in declared {
            let problem = if !is_name(name) {
                let message = format!("`{}` cannot be a name", name.escape_debug());
                Problem::new(span, message).with_help(NAMES)
            } else if RESERVED.contains(&name.as_str()) {
                Problem::new(span, format!("`{name}` is a word of the language and cannot be a name"))
            } else if known.contains(&name.as_str()) {
                Problem::new(span, format!("`{name}` is declared twice")).with_help("rename one of the two")
            } else {
                known.push(name);
                continue;
            };
            self.problems.push(problem);
        }
    }

    fn nodes(&mut self, files: &[NodeFile], path: &FieldPath, scope: &mut NestScope) -> Vec<Node> {
        let mut nodes = Vec::new();
        for (place, file) in files.iter().enumerate() {
            let path = path.index(place);
            if self.problems.len() >= MOST_PROBLEMS {
                break;
            }
            match file {
                NodeFile::Statement(text) => {
                    nodes.extend(self.statement(text, Vec::new(), None, self.value_span(&path), scope));
                }
                NodeFile::Loops(loops) => {
                    if let Some((second, _)) = loops.get(1) {
                        let span = self.key_span(&path.key(second));
                        let problem = Problem::new(span, "a second loop in one element of the list");
                        self.problems.push(problem.with_help("put a dash before each loop: `- for …:`"));
                    }
                    for (header, body) in loops.iter().take(1) {
                        let path = path.key(header);
                        nodes.extend(match body {
                            Body::Attributes(attributes) => self.attributed_statement(header, attributes, &path, scope),
                            _ => self.loop_node(header, body, &path, scope),
                        });
                    }
                }
            }
        }
        nodes
    }

    /// A statement with attributes.
    fn attributed_statement(
        &mut self,
        text: &str,
        attributes: &Attributes,
        path: &FieldPath,
        scope: &NestScope,
    ) -> Option<Node> {
        let share = attributes.share.as_ref().map(|unit| {
            let span = self.value_span(&path.key("share"));
            if !is_name(unit) {
                let message = format!("`{}` cannot be the name of a compute unit", unit.escape_debug());
                self.problems.push(Problem::new(span, message).with_help(NAMES));
            }
            Share { name: unit.to_owned(), span }
        });
        let mut values = Vec::new();
        for (name, ExpressionFile(text)) in &attributes.values.0 {
            let path = path.key("where").key(name);
            let span = self.key_span(&path);
            if !is_name(name) {
                let message = format!("`{}` cannot be the name of a value", name.escape_debug());
                self.problems.push(Problem::new(span, message).with_help(NAMES));
                return None;
            }
            let placed = PlacedText::new(text, self.document.text(), self.value_span(&path));
            match syntax::value(&placed, &values) {
                Ok(value) => values.push((Name { text: name.clone(), span }, value)),
                Err(problem) => {
                    self.problems.push(problem);
                    return None;
                }
            }
        }
        self.statement(text, values, share, self.key_span(path), scope)
    }

    fn statement(
        &mut self,
        text: &str,
        values: Vec<(Name, Syntax)>,
        share: Option<Share>,
        span: Span,
        scope: &NestScope,
    ) -> Option<Node> {
        self.operations += 1;
        if self.operations > MOST_OPERATIONS {
            if self.operations == MOST_OPERATIONS + 1 {
                self.problems.push(Problem::new(span, format!("a program has at most {MOST_OPERATIONS} operations")));
            }
            return None;
        }
        let placed = PlacedText::new(text, self.document.text(), span);
        let variables: Vec<String> = scope.loops.iter().map(|each| each.variable.clone()).collect();
        let ranges = ranges(&scope.loops);
        let scope = Scope { arrays: scope.arrays, tables: scope.tables, variables: &variables, ranges: &ranges };
        let warnings = &mut self.warnings;
        match syntax::statement(&placed, values).and_then(|statement| operation(scope, &statement, warnings)) {
            Ok(operation) => Some(Node::Operation(Box::new(Operation { share, ..operation }))),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    fn loop_node(&mut self, header: &str, body: &Body, path: &FieldPath, scope: &mut NestScope) -> Option<Node> {
        let placed = PlacedText::new(header, self.document.text(), self.key_span(path));
        let each = match self.loop_header(&placed, scope) {
            Ok(each) => each,
            Err(problem) => {
                self.problems.push(problem);
                return None;
            }
        };
        let body = match body {
            Body::Nodes(nodes) => nodes.as_slice(),
            Body::Attributes(_) => unreachable!("a loop has no attributes"),
            Body::Text(text) => {
                let message = format!("expected {NODES}, found `{text}`");
                let problem = Problem::new(self.value_span(path), message);
                self.problems.push(problem.with_help("put a dash before it: `- …`"));
                return None;
            }
        };
        if body.is_empty() {
            let span = each.span;
            let help = "put statements or loops below, each after a dash that is indented further";
            self.problems.push(Problem::new(span, "this loop does nothing").with_help(help));
        }
        scope.loops.push(each);
        let nodes = self.nodes(body, path, scope);
        let mut each = scope.loops.pop()?;
        each.body = nodes;
        Some(Node::Loop(each))
    }

    fn loop_header(&mut self, placed: &PlacedText, scope: &NestScope) -> Result<Loop, Problem> {
        let header = syntax::header(placed)?;
        let variables: Vec<String> = scope.loops.iter().map(|each| each.variable.clone()).collect();
        let ranges = ranges(&scope.loops);
        let names = Scope { arrays: scope.arrays, tables: scope.tables, variables: &variables, ranges: &ranges };
        let variable = header.variable.text.clone();
        if variables.contains(&variable) {
            return Err(Problem::new(
                header.variable.span,
                format!("a loop around has the variable `{variable}` already"),
            )
            .with_help("rename one of the two"));
        }
        let declared = scope.arrays.iter().map(|array| &array.name).chain(scope.tables.iter().map(|table| &table.name));
        if declared.into_iter().any(|name| *name == variable) {
            return Err(Problem::new(header.variable.span, format!("`{variable}` is an array or table already"))
                .with_help("rename the loop variable"));
        }
        let min = constant(names, &header.start, "the start of the loop")?;
        let end = constant(names, &header.end, "the end of the loop")?;
        for (bound, syntax) in [(min, &header.start), (end, &header.end)] {
            if bound.abs() > LARGEST_BOUND {
                return Err(Problem::new(syntax.span, format!("{bound} is too large for a bound"))
                    .with_help(format!("bounds are from -{LARGEST_BOUND} to {LARGEST_BOUND}")));
            }
        }
        let extent = end - min;
        if extent <= 0 {
            let message = format!("the loop from {min} to {end} never runs");
            return Err(Problem::new(header.start.span.to(header.end.span), message)
                .with_help("the end is not part of the loop: `0..64` runs 64 times"));
        }
        let iterations = scope.loops.iter().try_fold(extent, |product, each| product.checked_mul(each.extent));
        if iterations.is_none_or(|iterations| iterations > MOST_ITERATIONS) {
            return Err(Problem::new(
                header.span,
                format!("with the loops around, more than {MOST_ITERATIONS} iterations"),
            ));
        }
        let unroll = match &header.unroll {
            None => 1,
            Some(syntax) => {
                let factor = constant(names, syntax, "the factor of `unroll`")?;
                if factor < 1 || extent % factor != 0 {
                    let message = format!("`unroll {factor}` does not divide the {extent} iterations");
                    return Err(Problem::new(syntax.span, message)
                        .with_help("the copies share the iterations equally: choose a divisor"));
                }
                factor
            }
        };
        Ok(Loop { variable, min, extent, unroll, body: Vec::new(), span: header.span })
    }

    fn refuse(&mut self, path: &FieldPath, message: String) {
        let span = self.value_span(path);
        self.problems.push(Problem::new(span, message));
    }

    fn value_span(&self, path: &FieldPath) -> Span {
        self.span_of(&self.document.error(path, ""))
    }

    fn key_span(&self, path: &FieldPath) -> Span {
        self.span_of(&self.document.error_at_key(path, ""))
    }

    /// Where the text of a diagnostic is: it is a part of the document's own text.
    fn span_of(&self, diagnostic: &Diagnostic) -> Span {
        let text = diagnostic.offending_text().unwrap_or_default();
        let start = text.as_ptr().addr().wrapping_sub(self.document.text().as_ptr().addr());
        Span { start, end: start + text.len() }
    }
}

/// The characters of names.
const NAMES: &str = "names consist of letters, digits and `_`, and start with none of the digits";

/// Whether a text can be a name.
fn is_name(text: &str) -> bool {
    !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// The names that statements at a place of the nest can use.
struct NestScope<'a> {
    arrays: &'a [Array],
    tables: &'a [Table],
    /// The loops around, outermost first, without their bodies.
    loops: Vec<Loop>,
}

/// The first array with which all arrays together have more elements than that.
pub(crate) fn too_many_elements(arrays: &[Array], most: i64) -> Option<Problem> {
    let mut total = 0;
    let array = arrays.iter().find(|array| {
        // Arrays that are too large by themselves have been refused.
        let extents = array.shape.iter().map(|extent| (*extent).clamp(1, LARGEST_ARRAY));
        total += extents.fold(1, i64::saturating_mul).min(LARGEST_ARRAY);
        total > most
    })?;
    let message = format!("with `{}` the arrays have more than {most} elements together", array.name);
    Some(Problem::new(array.span, message))
}

/// Adds the tables of the functions of numbers that operations call, large ones in parts, behind those that the program declares.
fn add_tables_of_functions(program: &mut Program) {
    let mut called = BTreeSet::new();
    for (_, operation) in program.operations() {
        let computed = operation.accesses().filter_map(|access| access.computed.as_ref()).flatten();
        computed.chain([&operation.expression]).for_each(|expression| expression.functions(&mut called));
    }
    for (format, function) in called {
        for (part, words) in function.tables(format).into_iter().enumerate() {
            let suffix = if part == 0 { String::new() } else { format!("_{part}") };
            let name = program.unused_name(&format!("{}_of_{}{suffix}", function.name(), format.name()), &[]);
            let values = words.into_iter().map(i64::from).collect();
            let (element, span) = (Type::U16, Span::default());
            program.tables.push(Table { name, element, values, function: Some((format, function)), span });
        }
    }
}

/// Makes the names of operations unique: those of a target with several are numbered.
fn number_operations(program: &mut Program) {
    let taken: HashSet<String> = program.arrays.iter().map(|array| array.name.clone()).collect();
    let mut operations = program.operations_mut();
    let counts = operations.iter().map(|operation| operation.name.clone()).counts();
    let mut next: HashMap<String, usize> = HashMap::new();
    for operation in &mut operations {
        if counts[&operation.name] > 1 {
            let number = next.entry(operation.name.clone()).or_default();
            let name = loop {
                let candidate = format!("{}_{number}", operation.name);
                *number += 1;
                if !taken.contains(&candidate) {
                    break candidate;
                }
            };
            operation.name = name;
        }
    }
}
