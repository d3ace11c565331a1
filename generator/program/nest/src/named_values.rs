//! The values of a statement that have names where it is written: which ones, and how YAML has them.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The fewest operators of a value that has a name, as several others compute with it.
const FEWEST_OPERATORS: usize = 3;

/// The most levels in which the operators of a value nest that has no name. A level takes two of the parser at most.
const DEEPEST: usize = 20;

/// The longest statement, in bytes, that is a key of YAML without a mark: such a key has 1,024 characters at most.
const LONGEST_KEY: usize = 1000;

/// How a value is written: with so many operators, and so many one within the other. One with a name has neither.
#[derive(Clone, Copy, Default)]
struct Shown {
    operators: usize,
    levels: usize,
}

/// The parts of values that have names: operands of several others that are more than a few operators, and those in which operators nest
/// deeply. Those that others are computed with come first.
///
/// A part is told from others by its `key`. `levels` are those of the parser from a part to its operand at a place. If `fewest` operators
/// are not needed to write all out, each as often as it is used, operands of several others have no names.
pub fn named_values<T: Copy, K: Eq + Hash>(
    roots: impl IntoIterator<Item = T>,
    key: impl Fn(T) -> K,
    operands: impl Fn(T) -> Vec<T>,
    levels: impl Fn(T, usize, T) -> usize,
    fewest: u64,
) -> Vec<T> {
    let (mut parts, mut known) = (Vec::new(), HashSet::new());
    let roots: Vec<T> = roots.into_iter().collect();
    roots.iter().for_each(|root| add_parts(*root, &key, &operands, &mut known, &mut parts));
    // How many others compute with each part, and its operators as often as they are used.
    let (mut uses, mut written_out) = (HashMap::<K, usize>::new(), HashMap::<K, u64>::new());
    for part in &parts {
        let mut operators = u64::from(!operands(*part).is_empty());
        for operand in operands(*part) {
            operators = operators.saturating_add(written_out[&key(operand)]);
            *uses.entry(key(operand)).or_default() += 1;
        }
        written_out.insert(key(*part), operators);
    }
    let of_statement: HashSet<K> = roots.iter().map(|root| key(*root)).collect();
    let is_long = roots.into_iter().fold(0, |sum: u64, root| sum.saturating_add(written_out[&key(root)])) >= fewest;
    let mut shown: HashMap<K, Shown> = HashMap::new();
    let mut named = Vec::new();
    for part in parts {
        let mut of = Shown { operators: usize::from(!operands(part).is_empty()), levels: 0 };
        for (place, operand) in operands(part).into_iter().enumerate() {
            let Shown { operators, levels: within } = shown[&key(operand)];
            of.operators += operators;
            of.levels = of.levels.max(within + levels(part, place, operand));
        }
        let is_shared = uses.get(&key(part)).is_some_and(|uses| *uses > 1);
        // The statement writes its own value: no name reads that.
        let is_deep = of.levels > DEEPEST && !of_statement.contains(&key(part));
        if is_long && is_shared && of.operators >= FEWEST_OPERATORS || is_deep {
            named.push(part);
            of = Shown::default();
        }
        shown.insert(key(part), of);
    }
    named
}

fn add_parts<T: Copy, K: Eq + Hash>(
    of: T,
    key: &impl Fn(T) -> K,
    operands: &impl Fn(T) -> Vec<T>,
    known: &mut HashSet<K>,
    parts: &mut Vec<T>,
) {
    if known.insert(key(of)) {
        operands(of).into_iter().for_each(|operand| add_parts(operand, key, operands, known, parts));
        parts.push(of);
    }
}

/// Names for values: `v1`, `v2` and so on, but for those that something else has.
pub fn value_names<'a>(taken: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = String> {
    let taken: HashSet<&str> = taken.into_iter().collect();
    (1..).map(|number| format!("v{number}")).filter(move |name| !taken.contains(name.as_str()))
}

/// A statement as an element of a list in YAML, with the compute unit that it shares and the values that it names, behind a dash with this
/// indent.
pub(crate) fn statement_in_yaml(
    statement: &str,
    share: Option<&str>,
    values: &[(String, String)],
    indent: usize,
) -> String {
    let share = share.map(|unit| format!("share: {unit}"));
    let attributes = match (share, values) {
        (None, []) => return format!("- {statement}"),
        (Some(share), []) => format!(" {{{share}}}"),
        (share, values) => {
            let values = values.iter().map(|(name, value)| format!("  {name}: {}", in_quotes(value)));
            let lines = share.into_iter().chain(["where:".to_owned()]).chain(values);
            lines.map(|line| format!("\n{:1$}{line}", "", indent + 6)).collect()
        }
    };
    match statement.len() > LONGEST_KEY {
        true => format!("- ? {statement}\n{:1$}:{attributes}", "", indent + 2),
        false => format!("- {statement}:{attributes}"),
    }
}

/// A value in quotes, unless YAML takes it as the text that it is.
fn in_quotes(value: &str) -> String {
    let is_plain = value.starts_with(|first: char| first.is_ascii_alphabetic() || first == '(');
    if is_plain { value.to_owned() } else { format!("\"{value}\"") }
}
