//! Reading programs from YAML.

mod document;
mod nodes;

use std::path::Path;

use pushmem_files::{Code, Diagnostic, Document};

use crate::bound::constant;
use crate::parser::{self, Known, refuse_known};
use crate::program::{Array, ArrayKind, Program, Table};
use crate::resolve::{Checked, Scope, check_name};
use crate::source::{Language, PlacedText, Problem, SourceText};
use crate::syntax::{Declared, Kind, Name, Places, ProgramSyntax, Syntax};
use crate::types::Type;
use document::{ArrayFile, ExpressionFile, Ordered, ProgramFile, TableFile};

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
        let source = SourceText::new(document.name(), document.text(), Language::Nest);
        let syntax = syntax(document).map_err(|problem| problem.or_code(Code::Program))?;
        syntax.resolve(source).map_err(|problem| problem.or_code(Code::Program))
    }
}

/// The tree of a document.
pub(crate) fn syntax(document: &Document) -> Result<ProgramSyntax<'_>, Diagnostic> {
    let file: ProgramFile = document.deserialize()?;
    let places = Places::of(document);
    let known = constants(&file.constants, document, &places.field("constants"))
        .map_err(|problem| SourceText::new(document.name(), document.text(), Language::Nest).locate(problem))?;
    let mut arrays = Vec::new();
    for (section, kind, declared) in [
        ("inputs", ArrayKind::Input, file.inputs),
        ("outputs", ArrayKind::Output, file.outputs),
        ("buffers", ArrayKind::Buffer, file.buffers),
    ] {
        let places = places.field(section);
        let read = |(name, file): (String, _)| array(kind, file, document, places.field(&name), name, &known);
        arrays.extend(declared.0.into_iter().map(read));
    }
    let of_tables = places.field("tables");
    let tables = file.tables.0.into_iter().map(|(name, file)| table(&file, of_tables.field(&name), name, &known));
    let (tables, nest) = (tables.collect(), nodes::nodes(&file.nest.0, document, &places.field("nest"), &known));
    Ok(ProgramSyntax { name: file.name, schedule: file.schedule, arrays, tables, nest, places })
}

/// The constants that the program has names for, each computed with those before it.
fn constants(
    declared: &Ordered<ExpressionFile>,
    document: &Document,
    places: &Places,
) -> Result<Vec<(Name, Syntax)>, Problem> {
    let mut known: Vec<(Name, Syntax)> = Vec::new();
    for (name, text) in &declared.0 {
        let places = places.field(name);
        let name = Name { text: name.clone(), span: places.key() };
        check_name(&name.text, name.span)?;
        refuse_known(&name, &known)?;
        let value = number(text, document, &places, &known, "the constant")?;
        known.push((name, Syntax::new(Kind::Integer(value, None), places.value())));
    }
    Ok(known)
}

/// The integer that an expression of constants has.
fn number(
    text: &ExpressionFile,
    document: &Document,
    places: &Places,
    known: Known,
    what: &str,
) -> Result<i64, Problem> {
    let placed = PlacedText::new(&text.0, document.text(), places.value());
    let scope = Scope { arrays: &[], tables: &[], variables: &[], ranges: &[] };
    constant(scope, &parser::value(&placed, known, &[])?, what)
}

fn array<'a>(
    kind: ArrayKind,
    file: ArrayFile,
    document: &Document,
    places: Places<'a>,
    name: String,
    known: Known,
) -> Declared<'a, Array> {
    let (element, mut wrong) = element(&file.type_name, &places);
    let span = places.key();
    wrong = wrong.or(refuse_known(&Name { text: name.clone(), span }, known).err());
    let mut numbers = |texts: &[ExpressionFile], field: &str, what: &str| -> Vec<i64> {
        let places = places.field(field);
        let numbers = texts.iter().enumerate().map(|(place, text)| {
            number(text, document, &places.element(place), known, what).unwrap_or_else(|problem| {
                wrong.get_or_insert(problem);
                1
            })
        });
        numbers.collect()
    };
    let shape = numbers(&file.shape, "shape", "the extent");
    let min = file.min.map_or_else(|| vec![0; shape.len()], |min| numbers(&min, "min", "the least index"));
    let what = Array { name, kind, element, shape, min, level: file.level, random_access: false, span };
    Declared { what, wrong, places }
}

fn table<'a>(file: &TableFile, places: Places<'a>, name: String, known: Known) -> Declared<'a, Table> {
    let (element, mut wrong) = element(&file.type_name, &places);
    wrong = wrong.or(refuse_known(&Name { text: name.clone(), span: places.key() }, known).err());
    let values = file.values.iter().map(|entry| entry.value(element));
    if let Some(place) = values.clone().position(|value| wrong.is_none() && value.is_none()) {
        let message = format!("{} does not fit {}", file.values[place], element.name());
        let problem = Problem::new(places.field("values").element(place).value(), message);
        wrong = Some(problem.with_help(match element.format() {
            Some(format) => format!(
                "the largest number of {} is {}",
                format.name(),
                format.to_decimal(format.largest()).unwrap_or_default()
            ),
            None => format!("it holds {} to {}", element.min(), element.max()),
        }));
    }
    let values = values.map(Option::unwrap_or_default).collect();
    Declared { what: Table { name, element, values, function: None, span: places.key() }, wrong, places }
}

/// The type of the elements of an array or a table, or some type and what is wrong, where there is none of this name.
fn element(name: &str, places: &Places) -> (Type, Option<Problem>) {
    let problem = |message: String| Problem::new(places.field("type").value(), message);
    match Type::of_name(name) {
        Some(element) if Type::ELEMENTS.contains(&element) => (element, None),
        Some(element) => {
            let help = "arrays and tables hold u8, i8, u16, i16, u32, i32, bf16 or f16";
            (element, Some(problem(format!("{name} exists only within expressions")).with_help(help)))
        }
        None => {
            let help = Type::instead_of(name, Type::ELEMENTS);
            (Type::U16, Some(problem(format!("unknown type `{}`", name.escape_debug())).with_help(help)))
        }
    }
}
