//! From the tree of a program to the program: declarations, and all that is checked of it.

use std::collections::{BTreeSet, HashMap, HashSet};

use itertools::Itertools;
use pushmem_affine::LARGEST_BOUND;
use pushmem_files::Diagnostic;

use crate::check::check;
use crate::parser::is_reserved;
use crate::program::{Array, ArrayKind, Policy, Program, Table};
use crate::reductions::recognize;
use crate::source::{Problem, SourceText, Span};
use crate::syntax::{Declared, Places, ProgramSyntax};
use crate::types::Type;

use super::nests::NestScope;

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
pub(super) const MOST_PROBLEMS: usize = 20;

/// A program that passed all checks.
#[derive(Debug)]
pub struct Checked {
    /// The program.
    pub program: Program,
    /// Warnings about text that is allowed, but probably a mistake.
    pub warnings: Vec<Diagnostic>,
}

impl ProgramSyntax<'_> {
    /// The program, which is checked as any other. Messages point into this text.
    ///
    /// # Errors
    /// As [`Program::read`], of what is wrong with the program itself.
    pub fn resolve(self, source: SourceText) -> Result<Checked, Diagnostic> {
        let (program, problems, warnings) = resolved(&self, source);
        checked(program, problems, warnings)
    }
}

/// Checks what needs the whole of a program.
fn checked(program: Program, mut problems: Vec<Problem>, mut warnings: Vec<Problem>) -> Result<Checked, Diagnostic> {
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

/// A program with what is wrong and what is probably not meant, except for what needs the whole program to be found.
pub(crate) fn resolved(syntax: &ProgramSyntax, source: SourceText) -> (Program, Vec<Problem>, Vec<Problem>) {
    let mut resolver = ProgramResolver::default();
    let program = resolver.program(syntax, source);
    (program, resolver.problems, resolver.warnings)
}

#[derive(Default)]
pub(super) struct ProgramResolver {
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
    pub operations: usize,
}

impl ProgramResolver {
    fn program(&mut self, syntax: &ProgramSyntax, source: SourceText) -> Program {
        let mut arrays = Vec::new();
        for array in &syntax.arrays {
            if array.what.level.is_some() && syntax.schedule == Some(Policy::Stencil) {
                let span = array.places.field("level").value();
                let problem = Problem::new(span, "an image pipeline keeps no array, so none has a level");
                self.problems.push(problem.with_help("remove `level`, or `schedule: stencil`"));
            }
            arrays.push(self.array(array));
        }
        arrays.sort_by_key(|array| array.kind);
        self.problems.extend(too_many_elements(&arrays, LARGEST_PROGRAM));
        let tables: Vec<Table> = syntax.tables.iter().map(|table| self.table(table)).collect();
        self.check_names(syntax, &arrays, &tables);
        if arrays.iter().all(|array| array.kind != ArrayKind::Output) {
            self.refuse(&syntax.places.field("outputs"), "a program needs an output".to_owned());
        }
        let mut scope = NestScope { arrays: &arrays, tables: &tables, loops: Vec::new() };
        let of_arrays = syntax.arrays.iter().filter_map(|array| array.wrong.as_ref());
        let wrong = of_arrays.chain(syntax.tables.iter().filter_map(|table| table.wrong.as_ref())).next();
        let nest = wrong.map_or_else(|| self.nodes(&syntax.nest, &mut scope), |_| Vec::new());
        if nest.is_empty() && self.problems.is_empty() {
            self.refuse(&syntax.places.field("nest"), "the program does nothing".to_owned());
        }
        let mut program =
            Program { name: syntax.name.clone(), schedule: syntax.schedule, arrays, tables, nest, source };
        program.mark_random_access();
        add_tables_of_functions(&mut program);
        number_operations(&mut program);
        recognize(&mut program);
        program
    }

    fn array(&mut self, declared: &Declared<Array>) -> Array {
        let Declared { what, wrong, places } = declared;
        self.problems.extend(wrong.clone());
        let (mut array, of_shape) = (what.clone(), places.field("shape"));
        let shape = &array.shape;
        if shape.is_empty() || shape.len() > MOST_DIMENSIONS {
            self.refuse(&of_shape, format!("an array has 1 to {MOST_DIMENSIONS} dimensions, not {}", shape.len()));
        }
        let wrong = shape.iter().position(|&extent| !(1..=LARGEST_ARRAY).contains(&extent));
        let size = shape.iter().try_fold(1_i64, |size, &extent| size.checked_mul(extent));
        if let Some(dimension) = wrong {
            let message = format!("{} elements in dimension {dimension}", shape[dimension]);
            let problem = Problem::new(of_shape.element(dimension).value(), message);
            self.problems.push(problem.with_help(format!("every dimension has 1 to {LARGEST_ARRAY} elements")));
        } else if size.is_none_or(|size| size > LARGEST_ARRAY) {
            self.refuse(&of_shape, format!("an array has at most {LARGEST_ARRAY} elements"));
        }
        let of_min = places.field("min");
        if array.min.len() != shape.len() {
            self.refuse(&of_min, format!("{} least indices for {} dimensions", array.min.len(), shape.len()));
            array.min.resize(shape.len(), 0);
        }
        if let Some(dimension) = array.min.iter().position(|min| min.abs() > LARGEST_BOUND) {
            self.refuse(&of_min.element(dimension), format!("indices are from -{LARGEST_BOUND} to {LARGEST_BOUND}"));
        }
        array
    }

    fn table(&mut self, declared: &Declared<Table>) -> Table {
        let (table, entries) = (declared.what.clone(), declared.what.values.len());
        if entries == 0 || entries > LARGEST_TABLE {
            let message = format!("a table has 1 to {LARGEST_TABLE} entries, not {entries}");
            self.refuse(&declared.places.field("values"), message);
        }
        self.problems.extend(declared.wrong.clone());
        table
    }

    fn check_names(&mut self, program: &ProgramSyntax, arrays: &[Array], tables: &[Table]) {
        if !is_name(&program.name) {
            let span = program.places.field("name").value();
            self.problems.push(not_a_name(&program.name, "the name of a program", span));
        }
        let declared = arrays.iter().map(|array| (&array.name, array.span));
        let declared = declared.chain(tables.iter().map(|table| (&table.name, table.span)));
        let mut known: Vec<&str> = Vec::new();
        for (name, span) in declared {
            let problem = check_name(name, span).err().or_else(|| {
                let is_known = known.contains(&name.as_str());
                let problem = || Problem::new(span, format!("`{name}` is declared twice"));
                is_known.then(|| problem().with_help("rename one of the two"))
            });
            match problem {
                Some(problem) => self.problems.push(problem),
                None => known.push(name),
            }
        }
    }

    fn refuse(&mut self, places: &Places, message: String) {
        self.problems.push(Problem::new(places.value(), message));
    }
}

/// Refuses what cannot be the name of an array, a table or a constant.
pub(crate) fn check_name(name: &str, span: Span) -> Result<(), Problem> {
    if !is_name(name) {
        return Err(not_a_name(name, "a name", span));
    }
    if is_reserved(name) {
        return Err(Problem::new(span, format!("`{name}` is a word of the language and cannot be a name")));
    }
    Ok(())
}

/// The problem with a text that cannot be such a name.
pub(super) fn not_a_name(text: &str, what: &str, span: Span) -> Problem {
    Problem::new(span, format!("`{}` cannot be {what}", text.escape_debug()))
        .with_help("names consist of letters, digits and `_`, and start with none of the digits")
}

/// Whether a text can be a name.
pub(super) fn is_name(text: &str) -> bool {
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
