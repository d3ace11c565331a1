//! Identifiers in generated text.

/// The wanted name if it is free, or else with the first number behind for which it is.
///
/// ```
/// use pushmem_files::free_name;
///
/// assert_eq!(free_name("sum", 2, |name| !["sum", "sum_2"].contains(&name.as_str())), "sum_3");
/// ```
pub fn free_name(wanted: &str, first_number: u32, is_free: impl FnMut(&String) -> bool) -> String {
    let numbered = (first_number..).map(|number| format!("{wanted}_{number}"));
    std::iter::once(wanted.to_owned()).chain(numbered).find(is_free).expect("numbers do not end")
}

/// The text with other names in place of some of its identifiers; only whole identifiers count. The name of a file, an identifier
/// with an ending such as `.h`, stays as it is, but for SystemVerilog, whose files have the names of modules.
///
/// ```
/// use pushmem_files::replace_identifiers;
///
/// let renamed = replace_identifiers("a_b a b.a a.h a.sv", |name| (name == "a").then(|| "x".to_owned()));
/// assert_eq!(renamed, "a_b x b.x a.h x.sv");
/// ```
pub fn replace_identifiers(text: &str, other: impl Fn(&str) -> Option<String>) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (identifier, behind) = from.split_at(from.find(|character| !is_part(character)).unwrap_or(from.len()));
        let is_file =
            ENDINGS.iter().any(|ending| behind.strip_prefix(ending).is_some_and(|behind| !behind.starts_with(is_part)));
        replaced.push_str(before);
        match other(identifier).filter(|_| !is_file) {
            Some(other) => replaced.push_str(&other),
            None => replaced.push_str(identifier),
        }
        rest = behind;
    }
    replaced.push_str(rest);
    replaced
}

/// Endings of files that generated text names, and whose names are not those of modules.
const ENDINGS: [&str; 10] = [".h", ".fst", ".gtkw", ".sucl", ".sdc", ".core", ".mk", ".xml", ".yaml", ".rdl"];
