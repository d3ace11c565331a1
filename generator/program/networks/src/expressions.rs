//! Values of statements, as texts of the language of nests.

use itertools::Itertools;
use pushmem_nest::{Type, value_names};

use crate::addition::Addition;
use crate::names::Names;
use crate::requantization::{Requantization, Ties};

/// The most named values of a statement: a sum, a product for each part of a factor, and five for ties.
const MOST: usize = 64;

/// A function of loads.
pub(crate) struct Expression {
    /// Named values, each with those before it.
    pub values: Vec<(String, String)>,
    pub body: String,
}

impl Expression {
    /// An expression without named values.
    pub fn of(body: impl Into<String>) -> Expression {
        Expression { values: Vec::new(), body: body.into() }
    }
}

/// Values of a statement, each with a name.
pub(crate) struct Values {
    names: std::vec::IntoIter<String>,
    named: Vec<(String, String)>,
}

impl Values {
    /// With names that nothing else has.
    pub fn new(names: &Names) -> Values {
        Values { names: value_names(names.taken()).take(MOST).collect_vec().into_iter(), named: Vec::new() }
    }

    /// Names a value.
    fn add(&mut self, value: String) -> String {
        let name = self.names.next().expect("a statement has fewer values");
        self.named.push((name.clone(), value));
        name
    }

    /// The offset of [`Ties`] for a product above an integer.
    fn tie(&mut self, ties: &Ties, integer: &str) -> String {
        let zero = ties.zero_point;
        let integer = if zero == 0 { integer.to_owned() } else { self.add(format!("{integer} + {zero}")) };
        let size = self.add(format!("max({integer}, -1 - {integer})"));
        let distance = ties.distances.iter().rev().fold(String::new(), |rest, (least, distance)| match rest.as_str() {
            "" => distance.to_string(),
            _ => format!("sel({size} >= {least}, {distance}, {rest})"),
        });
        // The type of numbers alone is that of what they are used with.
        let distance = self.add(format!("({distance}) as i32"));
        format!("sel(({integer} & 1) == 1, {distance} + 1, -{distance})")
    }
}

/// The integer of the sum `a`, in operators of nests. `away` is added to its product away from 0.
pub(crate) fn rounded(
    requantization: &Requantization,
    factors: &[String],
    away: Option<&str>,
    element: Type,
    mut values: Values,
) -> Expression {
    let Requantization { ends, part_bits, range, zero_point, ties, .. } = requantization;
    let sum = values.add(format!("clamp(a, {}, {})", ends.0, ends.1));
    let products = factors.iter().map(|factor| values.add(format!("{sum} * {factor}"))).collect_vec();
    let shifted = |offsets: &[String]| {
        let last = products.len() - 1;
        products.iter().zip(offsets).enumerate().fold(String::new(), |carried, (number, (product, offset))| {
            let bits = if number == last { requantization.last_shift() } else { *part_bits };
            let terms = [product, offset, &carried].into_iter().filter(|term| !matches!(term.as_str(), "" | "0"));
            format!("(({}) >> {bits})", { terms }.join(" + "))
        })
    };
    let mut offsets = requantization.offsets().iter().map(i64::to_string).collect_vec();
    if let Some(ties) = ties {
        let below = values.add(shifted(&vec!["0".to_owned(); offsets.len()]));
        offsets[0] = format!("{} + {}", offsets[0], values.tie(ties, &below));
    }
    if let (Some(away), Some(last)) = (away, offsets.last_mut()) {
        let away = values.add(away.to_owned());
        *last += &if ends.0 < 0 { format!(" + sel({sum} < 0, -{away}, {away})") } else { format!(" + {away}") };
    }
    let body = format!("(clamp({}, {}, {}) + {zero_point}) as {}", shifted(&offsets), range.0, range.1, element.name());
    Expression { values: values.named, body }
}

/// The sum of the integers `a` and `b`, in operators of nests.
pub(crate) fn sum(addition: &Addition, element: Type, mut values: Values) -> Expression {
    let Addition { zero_points, factors, shift, ties, is_away, range, zero_point, exceptions } = addition;
    let [one, other] = [0, 1]
        .map(|number| format!("(({} as i32) - {}) * {}", ["a", "b"][number], zero_points[number], factors[number]));
    let sum = values.add(format!("{one} + {other}"));
    let tie = ties.as_ref().map_or_else(String::new, |ties| {
        let below = values.add(format!("{sum} >> {shift}"));
        format!(" + {}", values.tie(ties, &below))
    });
    let offset = addition.offset();
    let offset = if *is_away { format!("sel({sum} < 0, {}, {offset})", offset - 1) } else { offset.to_string() };
    let form = format!("(({sum} + {offset}{tie}) >> {shift}) + {zero_point}");
    let form = format!("clamp({form}, {}, {})", range.0, range.1);
    let result = exceptions
        .iter()
        .fold(form, |form, ([one, other], result)| format!("sel(a == {one} && b == {other}, {result}, {form})"));
    Expression { values: values.named, body: format!("({result}) as {}", element.name()) }
}
