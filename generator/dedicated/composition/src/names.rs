//! Identifiers that are unique and no keywords.

use std::collections::HashSet;

use itertools::Itertools;
use pushmem_systemverilog::is_keyword;

/// The identifiers of a scope.
///
/// Names of programs are identifiers already, but some are keywords of SystemVerilog, as `input` is, and some could
/// be wanted twice. [`Names::claim`] is the one place that decides what they become.
#[derive(Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// A scope in which some names are taken.
    pub fn with(taken: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Names { taken: taken.into_iter().map(Into::into).collect() }
    }

    /// Takes a name: the wanted one, or if that is a keyword or taken, it with its kind and if need be a number behind.
    pub fn claim(&mut self, wanted: &str, kind: &str) -> String {
        self.claim_stem(wanted, kind, &[""])
    }

    /// Takes a stem and with it a name for each suffix, as [`Names::claim`].
    pub fn claim_stem(&mut self, wanted: &str, kind: &str, suffixes: &[&str]) -> String {
        let wanted = identifier(wanted);
        let numbered = (2..).map(|number| format!("{wanted}_{kind}_{number}"));
        let free = |stem: &String| {
            suffixes.iter().all(|suffix| {
                let name = format!("{stem}{suffix}");
                !self.taken.contains(&name) && !is_keyword(&name)
            })
        };
        let mut candidates = [wanted.clone(), format!("{wanted}_{kind}")].into_iter().chain(numbered);
        let stem = candidates.find(free).expect("numbers do not end");
        self.taken.extend(suffixes.iter().map(|suffix| format!("{stem}{suffix}")));
        stem
    }
}

/// The text as an identifier: other characters become single underscores. Verilator has a meaning for double ones.
fn identifier(text: &str) -> String {
    let parts = text.split(|character: char| !character.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let joined = parts.collect_vec().join("_");
    match joined.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => joined,
        Some(_) => format!("n_{joined}"),
        None => "unnamed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_and_taken_names_are_avoided() {
        let mut names = Names::with(["clk"]);
        assert_eq!(names.claim("blur", "word"), "blur");
        assert_eq!(names.claim("input", "word"), "input_word");
        assert_eq!(names.claim("clk", "word"), "clk_word");
        assert_eq!(names.claim("blur", "word"), "blur_word");
        assert_eq!(names.claim("blur", "word"), "blur_word_2");
        assert_eq!(names.claim("blur", "word"), "blur_word_3");
    }

    #[test]
    fn a_stem_is_free_with_all_suffixes() {
        let mut names = Names::with(["config_write_data"]);
        let suffixes = ["_valid", "_data"];
        assert_eq!(names.claim_stem("input", "stream", &suffixes), "input");
        assert_eq!(names.claim_stem("config_write", "stream", &suffixes), "config_write_stream");
        assert_eq!(names.claim("input_data", "word"), "input_data_word");
    }

    #[test]
    fn other_characters_are_replaced() {
        let mut names = Names::default();
        assert_eq!(names.claim("_a__b.0", "word"), "a_b_0");
        assert_eq!(names.claim("3x3", "word"), "n_3x3");
        assert_eq!(names.claim("", "word"), "unnamed");
    }
}
