//! Programs as the command line names them: `PROGRAM`, or `PROGRAM:COUNT` for so many copies side by side.

use std::path::{Path, PathBuf};

use itertools::Itertools;
use pushmem_files::Diagnostic;
use pushmem_nest::Program;

use crate::application::program::{self, Reading};

/// The programs of the command line, in its order, and the file of each. Copies of a file, by its count or because it is named
/// again, are `NAME_1`, `NAME_2` and so on.
///
/// # Errors
/// A count that is none, and those of [`program::read`].
pub fn read(named: &[PathBuf], reading: Reading) -> Result<Vec<Program>, Diagnostic> {
    let counted: Vec<(PathBuf, usize)> = named.iter().map(|path| counted(path)).try_collect()?;
    let mut programs = Vec::new();
    let mut numbers = vec![0; counted.len()];
    for (path, count) in &counted {
        let of_file = counted.iter().filter(|(other, _)| other == path);
        let copies: usize = of_file.map(|(_, count)| count).sum();
        let first = counted.iter().position(|(other, _)| other == path).expect("the file is among them");
        let program = program::read(path, reading)?;
        for _ in 0..*count {
            numbers[first] += 1;
            let name = match copies {
                1 => program.name.clone(),
                _ => format!("{}_{}", program.name, numbers[first]),
            };
            programs.push(Program { name, ..program.clone() });
        }
    }
    Ok(programs)
}

/// The name of all programs that [`read`] gives: copies that are side by side are `NAME_xCOUNT`.
///
/// # Errors
/// As [`read`].
pub fn name_of_all(named: &[PathBuf], programs: &[Program]) -> Result<String, Diagnostic> {
    let mut rest = programs.iter();
    let mut of_file = |path: &PathBuf| {
        let (_, count) = counted(path)?;
        let copies = rest.by_ref().take(count).collect_vec();
        let name = copies[0].name.as_str();
        Ok(match (count, name.rsplit_once('_')) {
            (2.., Some((name, _))) => format!("{name}_x{count}"),
            _ => name.to_owned(),
        })
    };
    Ok(named.iter().map(&mut of_file).collect::<Result<Vec<_>, Diagnostic>>()?.join("_"))
}

/// The file of a program, without the number of its copies.
///
/// # Errors
/// As [`read`].
pub fn file(named: &Path) -> Result<PathBuf, Diagnostic> {
    counted(named).map(|(path, _)| path)
}

/// A file, and the number of its copies.
fn counted(named: &Path) -> Result<(PathBuf, usize), Diagnostic> {
    let parts = named.to_str().and_then(|text| text.rsplit_once(':'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((path, count)) = parts.filter(|(_, count)| is_number(count) && !named.exists()) else {
        return Ok((named.to_owned(), 1));
    };
    match count.parse() {
        Ok(count @ 1..=MOST_COPIES) => Ok((path.into(), count)),
        _ => {
            let refused = Diagnostic::new(format!("`{}` has {count} copies of `{path}`", named.display()));
            Err(refused.with_help(format!("write a number of copies from 1 to {MOST_COPIES} behind the colon")))
        }
    }
}

/// The most copies of a program: each takes a column at least, and arrays have at most 255.
const MOST_COPIES: usize = 255;
