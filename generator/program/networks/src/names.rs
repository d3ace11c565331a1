//! Names of the language of nests for names of a file.

use std::collections::BTreeSet;

use pushmem_files::free_name;
use pushmem_nest::is_reserved;

/// The variable of the loop over images.
pub(crate) const IMAGE: &str = "n";

/// The variables of loops, which arrays cannot have as names.
const VARIABLES: [&str; 9] = ["c", "g", "k", IMAGE, "q", "u", "v", "x", "y"];

/// The names that are taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// A word of the language for a name of the file, which nothing else has: it is taken from now on.
    pub fn take(&mut self, name: &str) -> String {
        let word: String =
            name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
        let is_word = word.starts_with(|letter: char| letter.is_ascii_alphabetic());
        // What YAML reads as nothing is no key.
        let is_null = |word: &str| word.eq_ignore_ascii_case("null");
        let is_variable = |word: &String| VARIABLES.contains(&word.as_str());
        let word = if is_word { word } else { format!("n{word}") };
        let free = free_name(&word, 1, |word| {
            !is_reserved(word) && !is_null(word) && !is_variable(word) && !self.taken.contains(word)
        });
        self.taken.insert(free.clone());
        free
    }

    /// All names that are taken.
    pub fn taken(&self) -> impl Iterator<Item = &str> {
        self.taken.iter().map(String::as_str)
    }
}
