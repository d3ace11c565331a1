//! Paths of keys and indices into a document.

use std::fmt;

/// A path of keys and indices into a YAML document, such as
/// `controllers.in2agg_0.cycle.stride[1]`.
///
/// ```
/// use pushmem_files::FieldPath;
///
/// let cycle = FieldPath::root().key("controllers").key("in2agg_0").key("cycle");
/// let stride = cycle.key("stride").index(1);
/// assert_eq!(stride.to_string(), "controllers.in2agg_0.cycle.stride[1]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldPath {
    steps: Vec<Step>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// To the value of this key of a mapping.
    Key(String),
    /// To this element of a list, counted from 0.
    Index(usize),
}

impl FieldPath {
    /// The path of the whole document.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path of the value of `key` in the mapping at this path.
    pub fn key(&self, key: &str) -> FieldPath {
        self.with(Step::Key(key.to_owned()))
    }

    /// The path of element `index`, counted from 0, of the list at this path.
    pub fn index(&self, index: usize) -> FieldPath {
        self.with(Step::Index(index))
    }

    /// The path of a value at `inner`, where this is the path of what `inner` begins at.
    pub fn join(&self, inner: &FieldPath) -> FieldPath {
        FieldPath { steps: [self.steps.as_slice(), &inner.steps].concat() }
    }

    fn with(&self, step: Step) -> FieldPath {
        let mut steps = self.steps.clone();
        steps.push(step);
        FieldPath { steps }
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }
}

/// Keys are joined by dots and indices stand in brackets; a key with other characters than
/// letters, digits, `_` and `-` stands in quotes. The root is `(top level)`.
impl fmt::Display for FieldPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return formatter.write_str("(top level)");
        }
        for (position, step) in self.steps.iter().enumerate() {
            match step {
                Step::Index(index) => write!(formatter, "[{index}]")?,
                Step::Key(key) => {
                    if position > 0 {
                        formatter.write_str(".")?;
                    }
                    if is_simple(key) {
                        formatter.write_str(key)?;
                    } else {
                        write!(formatter, "{key:?}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_simple(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::FieldPath;

    #[test]
    fn displays_keys_and_indices() {
        let root = FieldPath::root();
        assert_eq!(root.to_string(), "(top level)");
        assert_eq!(root.index(2).key("a").index(0).to_string(), "[2].a[0]");
        assert_eq!(root.key("a.b").key("").to_string(), r#""a.b"."""#);
        assert_eq!(root.key("a").join(&root.index(1).key("b")).to_string(), "a[1].b");
    }
}
