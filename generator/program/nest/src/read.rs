//! Reading programs from YAML.

mod document;
mod nodes;

use std::path::Path;

use pushmem_files::{Code, Diagnostic, Document};

use crate::program::{Array, ArrayKind, Program, Table};
use crate::resolve::Checked;
use crate::source::{Language, Problem, SourceText};
use crate::syntax::{Declared, Places, ProgramSyntax};
use crate::types::Type;
use document::{ArrayFile, ProgramFile, TableFile};

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
        syntax(document)?.resolve(source).map_err(|problem| problem.or_code(Code::Program))
    }
}

/// The tree of a document.
pub(crate) fn syntax(document: &Document) -> Result<ProgramSyntax<'_>, Diagnostic> {
    let file: ProgramFile = document.deserialize()?;
    let places = Places::of(document);
    let mut arrays = Vec::new();
    for (section, kind, declared) in [
        ("inputs", ArrayKind::Input, file.inputs),
        ("outputs", ArrayKind::Output, file.outputs),
        ("buffers", ArrayKind::Buffer, file.buffers),
    ] {
        let places = places.field(section);
        arrays.extend(declared.0.into_iter().map(|(name, file)| array(kind, file, places.field(&name), name)));
    }
    let of_tables = places.field("tables");
    let tables = file.tables.0.into_iter().map(|(name, file)| table(&file, of_tables.field(&name), name));
    let (tables, nest) = (tables.collect(), nodes::nodes(&file.nest.0, document, &places.field("nest")));
    Ok(ProgramSyntax { name: file.name, schedule: file.schedule, arrays, tables, nest, places })
}

fn array(kind: ArrayKind, file: ArrayFile, places: Places<'_>, name: String) -> Declared<'_, Array> {
    let (element, wrong) = element(&file.type_name, &places);
    let ArrayFile { shape, level, .. } = file;
    let min = file.min.unwrap_or_else(|| vec![0; shape.len()]);
    let what = Array { name, kind, element, shape, min, level, random_access: false, span: places.key() };
    Declared { what, wrong, places }
}

fn table<'a>(file: &TableFile, places: Places<'a>, name: String) -> Declared<'a, Table> {
    let (element, mut wrong) = element(&file.type_name, &places);
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
