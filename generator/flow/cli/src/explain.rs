//! `pushmem explain`.

use clap::Args;
use itertools::Itertools;
use pushmem_files::{Code, Diagnostic};

use crate::output;

/// The chapter of the book that explains all codes.
const CHAPTER: &str = include_str!("../../../../docs/src/errors.md");

#[derive(Args)]
pub struct Explain {
    /// Code of an error, such as E0102.
    code: String,
}

impl Explain {
    pub fn run(&self) -> Result<(), Diagnostic> {
        let wanted = self.code.to_uppercase();
        let Some(code) = Code::ALL.iter().find(|code| code.name() == wanted) else {
            let help = format!("the codes are {}", Code::ALL.iter().join(", "));
            return Err(Diagnostic::new(format!("there is no error `{}`", self.code)).with_help(help));
        };
        output::print(&explanation(*code).unwrap_or_default())
    }
}

/// The part of the chapter about a code: from a paragraph that begins with it, or from the heading before a line that names it
/// alone, to the next.
fn explanation(code: Code) -> Option<String> {
    let of_paragraph = format!("**{code}. ");
    let of_section = format!("Code {code}.");
    let lines = CHAPTER.lines().collect_vec();
    let start = lines.iter().position(|line| line.starts_with(&of_paragraph) || line.starts_with(&of_section))?;
    let is_section = lines[start].starts_with(&of_section);
    let heading = if is_section { lines[..start].iter().rposition(|line| line.starts_with("## "))? } else { start };
    let ends = |line: &str| line.starts_with("## ") || !is_section && line.starts_with("**E");
    let end = lines[start + 1..].iter().position(|line| ends(line)).map_or(lines.len(), |length| start + 1 + length);
    Some(lines[heading..end].join("\n").trim_end().to_owned() + "\n")
}

#[cfg(test)]
mod tests {
    use pushmem_files::Code;

    use super::{CHAPTER, explanation};

    #[test]
    fn the_book_explains_each_code() {
        for code in Code::ALL {
            let text = explanation(*code).unwrap_or_else(|| panic!("errors.md does not explain {code}"));
            assert_eq!(text.matches(code.name()).count(), 1, "{text}");
            assert!(text.len() > 80, "{text}");
        }
        let known = |line: &&str| line.starts_with("**E0") || line.starts_with("Code E0");
        assert_eq!(CHAPTER.lines().filter(known).count(), Code::ALL.len());
    }
}
