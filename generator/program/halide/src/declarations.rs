//! Declarations of arguments, which Halide does not print: lines `// name: type[shape]` at the top.

use pushmem_nest::{LARGEST_ARRAY, Policy, Span, Type};

use crate::fault::{Fault, Result};
use crate::lexer::NO_NUMBERS;

/// `// input: u16[64, 64]`, or of constants `// curve: u8[4] = 0, 1, 4, 9`.
#[derive(Debug)]
pub(crate) struct Declaration<'a> {
    pub name: &'a str,
    pub element: Type,
    /// Innermost first.
    pub shape: Vec<i64>,
    pub entries: Option<Vec<i64>>,
}

impl<'a> Declaration<'a> {
    /// The declaration of an argument. Halide adds a number to a name that it has given before in the same process.
    pub fn find<'b>(declarations: &'b [Declaration<'a>], name: &str) -> Option<&'b Declaration<'a>> {
        let stem = name.split('$').next().unwrap_or(name);
        let named = |wanted: &str| declarations.iter().find(|declaration| declaration.name == wanted);
        named(name).or_else(|| named(stem))
    }
}

/// The lines before the program: comments, each with its place.
fn comments(text: &str) -> impl Iterator<Item = (&str, Span)> {
    let lines = text.split_inclusive('\n').scan(0, |start, line| {
        let span = Span { start: *start, end: *start + line.trim_end().len() };
        *start += line.len();
        Some((line.trim(), span))
    });
    let lines = lines.take_while(|(line, _)| line.is_empty() || line.starts_with("//"));
    lines.filter_map(|(line, span)| Some((line.strip_prefix("//")?, span)))
}

/// How the program is to be scheduled, if a line `// schedule: dnn` says so.
pub(crate) fn schedule(text: &str) -> Result<Option<Policy>> {
    let said = |(comment, span): (&str, Span)| {
        let said = comment.trim().strip_prefix("schedule:")?.trim();
        // An argument may have that name, too.
        (!said.contains('[')).then(|| (said.to_owned(), span))
    };
    let Some((said, span)) = comments(text).find_map(said) else { return Ok(None) };
    match [Policy::Dnn, Policy::Stencil].into_iter().find(|schedule| schedule.name() == said) {
        Some(schedule) => Ok(Some(schedule)),
        None => Err(Fault::new(span, format!("unknown schedule `{said}`")).with_help("write `dnn` or `stencil`")),
    }
}

/// The declarations before the first line of the program. Comments of another form say nothing.
pub(crate) fn declarations(text: &str) -> Result<Vec<Declaration<'_>>> {
    let mut found = Vec::new();
    for (comment, span) in comments(text) {
        if let Some((name, contents)) = comment.split_once(':')
            && let Some((element, rest)) = contents.split_once('[')
            && let Some(element) = element_type(element.trim(), span)?
        {
            found.push(declaration(name.trim(), element, rest).ok_or_else(|| {
                Fault::new(span, "this declaration cannot be read")
                    .with_help("write `// input: u16[64, 64]`, or of constants `// curve: u8[4] = 0, 1, 4, 9`")
            })?);
        }
    }
    Ok(found)
}

/// The type of this name; nothing if it is none, so that the line is a comment.
fn element_type(name: &str, span: Span) -> Result<Option<Type>> {
    let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let help = match (Type::from_name(name), stem) {
        (Some(Type::Bool), _) | (None, "u" | "uint") if matches!(name, "bool" | "u1" | "uint1") => {
            "Halide keeps truth values in bytes: write `u8`"
        }
        (Some(element), _) => return Ok(Some(element)),
        (None, _) if stem == name => return Ok(None),
        (None, "f" | "float" | "bfloat") => NO_NUMBERS,
        (None, "u" | "i" | "s" | "uint" | "int" | "sint") => "memories hold u8, i8, u16, i16, u32 and i32",
        (None, _) => return Ok(None),
    };
    Err(Fault::new(span, format!("the type `{name}`")).with_help(help))
}

fn declaration<'a>(name: &'a str, element: Type, rest: &str) -> Option<Declaration<'a>> {
    let numbers = |list: &str| list.split(',').map(|number| number.trim().parse().ok()).collect::<Option<Vec<i64>>>();
    let (shape, rest) = rest.split_once(']')?;
    let shape = numbers(shape)?;
    let entries = match rest.trim() {
        "" => None,
        assigned => Some(numbers(assigned.strip_prefix('=')?)?),
    };
    let size = shape.iter().try_fold(1_i64, |size, extent| size.checked_mul(*extent).filter(|_| *extent > 0));
    let size = size.filter(|size| *size <= LARGEST_ARRAY)?;
    let complete = entries
        .as_ref()
        .is_none_or(|entries| entries.len() as i64 == size && entries.iter().all(|entry| element.holds(*entry)));
    complete.then_some(Declaration { name, element, shape, entries })
}
