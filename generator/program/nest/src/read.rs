//! Reading a program, and checking what does not need the whole of it.

mod document;
mod nests;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use itertools::Itertools;
use pushmem_affine::LARGEST_BOUND;
use pushmem_files::{Code, Diagnostic, Document, FieldPath};

use crate::check::check;
use crate::program::{Array, ArrayKind, Policy, Program, Table};
use crate::reductions::recognize;
use crate::source::{Language, Problem, SourceText, Span};
use crate::syntax::RESERVED;
use crate::types::Type;
use document::{ArrayFile, ProgramFile, TableFile};
use nests::NestScope;

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
