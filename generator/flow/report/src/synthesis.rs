//! Results of synthesis in a page that was written before.

use serde_json::{Value, json};

/// The block of a page that keeps them, a list of objects.
const BLOCK: &str = "<script type=\"application/json\" id=\"synthesis\">";

/// The block with the contents.
const CONTENTS: &str = "<script type=\"application/json\" id=\"contents\">";

const END: &str = "</script>";

/// The subject of a synthesis.
#[derive(Clone, Copy, Debug)]
pub enum Synthesized<'a> {
    /// A program, as the compiler understood it.
    Program(&'a str),
    /// A tile or an array, by the digest of its specification.
    Specification(&'a str),
}

/// Whether a page is of the subject of a synthesis.
///
/// # Errors
/// Why it is not.
pub fn check_synthesis(page: &str, of: &Synthesized) -> Result<(), &'static str> {
    let contents = block(page, CONTENTS).and_then(|(_, text, _)| serde_json::from_str::<Value>(text).ok());
    let contents = contents.ok_or("it is no report of this version of pushmem")?;
    match of {
        Synthesized::Program(text) if contents["program"] != *text => Err("its program is another one"),
        Synthesized::Program(_) if !contents["array"].is_null() => Err("its program runs on an array"),
        Synthesized::Program(_) => Ok(()),
        Synthesized::Specification(digest) => {
            let specs = contents["specs"].as_array().into_iter().flatten().chain([&contents["array"]]);
            let is_used = specs.into_iter().any(|spec| spec["digest"] == **digest);
            if is_used { Ok(()) } else { Err("it has no such tile or array") }
        }
    }
}

/// A page with the results of a command, in place of those that the same command had before. Nothing, if it is no page.
pub fn add_synthesis(page: &str, command: &str, found: Value) -> Option<String> {
    let (before, text, behind) = block(page, BLOCK)?;
    let mut results: Vec<Value> = serde_json::from_str(text).ok()?;
    results.retain(|result| result["command"] != command);
    results.push(json!({"command": command, "found": found}));
    let results = serde_json::to_string(&results).expect("results are values").replace('<', "\\u003c");
    Some(format!("{before}{results}{behind}"))
}

/// A page before, within and behind the text of a block.
fn block<'a>(page: &'a str, start: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let begin = page.find(start)? + start.len();
    let end = begin + page[begin..].find(END)?;
    Some((&page[..begin], &page[begin..end], &page[end..]))
}
