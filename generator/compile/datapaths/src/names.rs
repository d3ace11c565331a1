//! Names in SystemVerilog.

use std::collections::HashSet;

use pushmem_files::free_name;
use pushmem_systemverilog::KEYWORDS;

/// The names of the ports that every kernel has.
const PORTS: [&str; 5] = ["clk_i", "step_i", "result_o", "index", "row"];

/// The longest name that is made of an access.
const LONGEST: usize = 48;

/// The names of a module, each given once.
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Only the keywords and the ports of every kernel are taken.
    pub fn new() -> Self {
        Self { taken: KEYWORDS.into_iter().chain(PORTS).map(str::to_owned).collect() }
    }

    /// This name, or one with a number if it is taken.
    pub fn unique(&mut self, wanted: &str) -> String {
        let free = free_name(wanted, 2, |name| !self.taken.contains(name));
        self.taken.insert(free.clone());
        free
    }

    /// A port of this name, or with a number if that is taken, and behind it the direction.
    pub fn unique_port(&mut self, wanted: &str, direction: &str) -> String {
        format!("{}{direction}", self.unique(wanted))
    }

    /// `stem_1`, `stem_2` and so on.
    pub fn numbered(&mut self, stem: &str) -> String {
        let free = (1..).map(|number| format!("{stem}_{number}")).find(|name| !self.taken.contains(name));
        let free = free.expect("there are always more numbers");
        self.taken.insert(free.clone());
        free
    }
}

/// An access in letters: `blur[x + 1, 2*y]` is `blur_x_plus_1_2y`. Nothing if that would be too long.
pub(crate) fn of_access(access: &str) -> Option<String> {
    let spelled = access.replace('+', " plus ").replace('/', " over ").replace('%', " mod ").replace('-', " minus ");
    let spelled = identifier(&spelled.replace('*', ""));
    (spelled.len() <= LONGEST).then_some(spelled)
}

/// The text with everything that names must not have replaced by single underscores.
pub(crate) fn identifier(text: &str) -> String {
    let mut name = String::new();
    for letter in text.chars() {
        match letter.is_ascii_alphanumeric() {
            true => name.push(letter),
            false if letter == '_' || !name.ends_with('_') => name.push('_'),
            false => {}
        }
    }
    let name = name.trim_end_matches('_');
    if name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        name.to_owned()
    } else {
        format!("n{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, identifier, of_access};

    #[test]
    fn accesses_become_names() {
        assert_eq!(of_access("blur[x + 1, 2*y]").unwrap(), "blur_x_plus_1_2y");
        assert_eq!(of_access("a[-3, x - 1, (x/2)]").unwrap(), "a_minus_3_x_minus_1_x_over_2");
        assert_eq!(of_access("scalar[]").unwrap(), "scalar");
        assert_eq!(of_access(&"long".repeat(20)), None);
        assert_eq!(identifier("3 größe"), "n3_gr_e");
    }

    #[test]
    fn names_are_given_once() {
        let mut names = Names::new();
        assert_eq!(names.unique("input"), "input_2");
        assert_eq!(names.unique("x"), "x");
        assert_eq!(names.unique("x"), "x_2");
        assert_eq!(names.numbered("x"), "x_1");
        assert_eq!(names.numbered("x"), "x_3");
    }
}
